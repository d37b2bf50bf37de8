//! The skyline with an undo trail, and what follows from a placement or a closed cell.

use crate::plain::Plain;

/// One change, with what undoes it.
#[derive(Clone, Copy, Debug)]
enum Change {
    Put { item: u32 },
    Least { item: u32, before: u64 },
    Raise { cell: u32, before: u64 },
    Close { cell: u32 },
}

/// The partial packing. Cells are sections.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) from: Vec<u32>,
    pub(super) to: Vec<u32>,
    pub(super) size: Vec<u64>,
    /// Up to which unit an item may reach, and the highest of these over each cell.
    pub(super) limit: Vec<u64>,
    pub(super) top: Vec<u64>,
    pub(super) ground: Vec<u64>,
    /// Units of waiting items over each cell.
    pub(super) waiting: Vec<u64>,
    pub(super) closed: Vec<bool>,
    pub(super) placed: Vec<bool>,
    pub(super) offset: Vec<u64>,
    pub(super) least: Vec<u64>,
    /// Waiting items that cover a cell and the next one.
    pub(super) crossing: Vec<u32>,
    /// Items that begin at, and end before, a cell.
    pub(super) starts: Lists,
    pub(super) ends: Lists,
    cover: Lists,
    /// Pairs that share a section.
    neighbours: Lists,
    /// An item over the cell that kept it alive last time: looked at first.
    witness: Vec<u32>,
    trail: Vec<Change>,
    /// The hash of each cell's ground, closedness, and of the waiting items that begin there.
    pub(super) code: Vec<u128>,
    item_code: Vec<u128>,
}

/// Lists of ids, one after another in memory.
#[derive(Clone, Debug)]
pub(super) struct Lists {
    first: Vec<u32>,
    ids: Vec<u32>,
}

impl Lists {
    /// Groups `pairs` of (list, id) into `count` lists; ids keep their order.
    fn new(count: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Lists {
        let mut first = vec![0; count + 1];
        pairs.clone().for_each(|(list, _)| first[list as usize + 1] += 1);
        for list in 0..count {
            first[list + 1] += first[list];
        }
        let mut ids = vec![0; first[count] as usize];
        let mut next = first.clone();
        for (list, id) in pairs {
            ids[next[list as usize] as usize] = id;
            next[list as usize] += 1;
        }
        Lists { first, ids }
    }

    /// The range of places of a list, for loops that change the rest of the state.
    fn range(&self, list: usize) -> std::ops::Range<usize> {
        self.first[list] as usize..self.first[list + 1] as usize
    }

    pub(super) fn of(&self, list: usize) -> &[u32] {
        &self.ids[self.range(list)]
    }
}

impl State {
    pub(super) fn new(plain: &Plain) -> State {
        let (items, cells) = (plain.len(), plain.sections.count());
        let ids = 0..items as u32;
        let covers = |id: u32| plain.from[id as usize]..plain.to[id as usize];
        let cover = Lists::new(cells, ids.clone().flat_map(|id| covers(id).map(move |cell| (cell, id))));
        let starts = Lists::new(cells + 1, ids.clone().map(|id| (plain.from[id as usize], id)));
        let ends = Lists::new(cells + 1, ids.clone().map(|id| (plain.to[id as usize], id)));
        let mut crossing = vec![0; cells];
        ids.clone().for_each(|id| {
            (plain.from[id as usize]..plain.to[id as usize] - 1).for_each(|cell| crossing[cell as usize] += 1)
        });
        // Two items share a section exactly when one of them covers the other's first cell.
        let meets = ids.flat_map(|id| {
            let others = cover.of(plain.from[id as usize] as usize).iter().copied();
            let earlier = move |other: &u32| (plain.from[*other as usize], *other) < (plain.from[id as usize], id);
            others.filter(earlier).flat_map(move |other| [(id, other), (other, id)])
        });
        let neighbours = Lists::new(items, meets.clone());
        let mut state = State {
            from: plain.from.clone(),
            to: plain.to.clone(),
            size: plain.size.clone(),
            limit: vec![0; items],
            top: vec![0; cells],
            ground: vec![0; cells],
            waiting: plain.load.clone(),
            closed: vec![false; cells],
            placed: vec![false; items],
            offset: vec![0; items],
            least: vec![0; items],
            crossing,
            starts,
            ends,
            neighbours,
            witness: (0..cells).map(|cell| cover.of(cell)[0]).collect(),
            cover,
            trail: Vec::new(),
            code: vec![0; cells],
            item_code: (0..items as u64).map(|id| mix(id + 1, 0x51)).collect(),
        };
        (0..cells).for_each(|cell| state.code[cell] = state.cell_code(cell));
        (0..items).for_each(|id| {
            state.code[state.from[id] as usize] = state.code[state.from[id] as usize].wrapping_add(state.item_code[id])
        });
        state
    }

    fn cell_code(&self, cell: usize) -> u128 {
        mix(self.ground[cell] << 1 | u64::from(self.closed[cell]), cell as u64 + 0x1000)
    }

    /// Applies `change` to a cell and keeps its code right.
    fn recode(&mut self, cell: usize, change: impl FnOnce(&mut Self)) {
        let before = self.cell_code(cell);
        change(self);
        self.code[cell] = self.code[cell].wrapping_sub(before).wrapping_add(self.cell_code(cell));
    }

    /// How many items share a section with `item`.
    pub(super) fn degree(&self, item: usize) -> u64 {
        self.neighbours.range(item).len() as u64
    }

    pub(super) fn mark(&self) -> usize {
        self.trail.len()
    }

    pub(super) fn undo(&mut self, mark: usize) {
        while self.trail.len() > mark {
            match self.trail.pop() {
                Some(Change::Put { item }) => self.unput(item as usize),
                Some(Change::Least { item, before }) => self.least[item as usize] = before,
                Some(Change::Raise { cell, before }) => self.recode(cell as usize, |s| {
                    s.ground[cell as usize] = before;
                    s.closed[cell as usize] = true;
                }),
                Some(Change::Close { cell }) => self.recode(cell as usize, |s| s.closed[cell as usize] = false),
                None => return,
            }
        }
    }

    fn unput(&mut self, item: usize) {
        let (level, size) = (self.offset[item], self.size[item]);
        let (from, to) = (self.from[item] as usize, self.to[item] as usize);
        self.placed[item] = false;
        self.code[from] = self.code[from].wrapping_add(self.item_code[item]);
        for cell in from..to {
            self.recode(cell, |s| s.ground[cell] = level);
            self.waiting[cell] += size;
            self.crossing[cell] += u32::from(cell + 1 < to);
        }
    }

    /// Puts `item` on its flat ground; `false` when a section dies.
    pub(super) fn put(&mut self, item: usize) -> bool {
        let (from, to) = (self.from[item] as usize, self.to[item] as usize);
        let (level, size) = (self.ground[from], self.size[item]);
        if level + size > self.limit[item] {
            return false;
        }
        self.placed[item] = true;
        self.offset[item] = level;
        self.trail.push(Change::Put { item: item as u32 });
        self.code[from] = self.code[from].wrapping_sub(self.item_code[item]);
        for cell in from..to {
            self.recode(cell, |s| s.ground[cell] = level + size);
            self.waiting[cell] -= size;
            self.crossing[cell] -= u32::from(cell + 1 < to);
        }
        let others = self.neighbours.range(item);
        let mut touched = Touched::default();
        for place in others {
            let other = self.neighbours.ids[place];
            self.lift(other, level + size, &mut touched);
        }
        self.alive(touched)
    }

    /// Everything that waits over `cell` begins at `level` or above; `false` when a section dies.
    pub(super) fn lift_over(&mut self, cells: std::ops::Range<usize>, level: u64) -> bool {
        let mut touched = Touched::default();
        for cell in cells {
            for place in self.cover.range(cell) {
                let item = self.cover.ids[place];
                self.lift(item, level, &mut touched);
            }
        }
        self.alive(touched)
    }

    fn lift(&mut self, item: u32, level: u64, touched: &mut Touched) {
        let index = item as usize;
        if !self.placed[index] && self.least[index] < level {
            self.trail.push(Change::Least { item, before: self.least[index] });
            self.least[index] = level;
            touched.from = touched.from.min(self.from[index] as usize);
            touched.to = touched.to.max(self.to[index] as usize);
        }
    }

    /// Whether every touched section can still hold what waits over it: some waiting item begins low enough.
    fn alive(&mut self, touched: Touched) -> bool {
        for cell in touched.from..touched.to.max(touched.from) {
            if self.waiting[cell] == 0 {
                continue;
            }
            let Some(limit) =
                self.top[cell].checked_sub(self.waiting[cell]).filter(|&limit| self.ground[cell] <= limit)
            else {
                return false;
            };
            let low = |item: u32| !self.placed[item as usize] && self.least[item as usize] <= limit;
            if low(self.witness[cell]) {
                continue;
            }
            match self.cover.of(cell).iter().copied().find(|&item| low(item)) {
                Some(item) => self.witness[cell] = item,
                None => {
                    return false;
                }
            }
        }
        true
    }

    pub(super) fn close(&mut self, cell: usize) {
        self.recode(cell, |s| s.closed[cell] = true);
        self.trail.push(Change::Close { cell: cell as u32 });
    }

    /// Raises runs inside `[first, last)` whose cells are all closed, until none is left; `false` when that proves failure.
    pub(super) fn settle(&mut self, first: usize, last: usize) -> bool {
        let mut cell = first;
        while cell < last {
            if !self.closed[cell] {
                cell += 1;
                continue;
            }
            let level = self.ground[cell];
            let (mut from, mut to) = (cell, cell + 1);
            while from > first && self.closed[from - 1] && self.ground[from - 1] == level {
                from -= 1;
            }
            while to < last && self.closed[to] && self.ground[to] == level {
                to += 1;
            }
            let left = if from > first { self.ground[from - 1] } else { u64::MAX };
            let right = if to < last { self.ground[to] } else { u64::MAX };
            let rim = left.min(right);
            if rim <= level {
                cell = to;
                continue;
            }
            if rim == u64::MAX || self.fits_hole(from, to, rim - level) || !self.raise(from, to, rim) {
                return false;
            }
            cell = from.saturating_sub(1).max(first);
        }
        true
    }

    /// Whether a waiting item lies inside the cells and is not higher than `hole`.
    fn fits_hole(&self, from: usize, to: usize, hole: u64) -> bool {
        let fits = |item: &u32| {
            let index = *item as usize;
            !self.placed[index] && self.to[index] as usize <= to && self.size[index] <= hole
        };
        (from..to).any(|cell| self.starts.of(cell).iter().any(fits))
    }

    fn raise(&mut self, from: usize, to: usize, rim: u64) -> bool {
        for cell in from..to {
            self.trail.push(Change::Raise { cell: cell as u32, before: self.ground[cell] });
            self.recode(cell, |s| {
                s.ground[cell] = rim;
                s.closed[cell] = false;
            });
            if self.waiting[cell] > 0 && rim + self.waiting[cell] > self.top[cell] {
                return false;
            }
        }
        self.lift_over(from..to, rim)
    }
}

struct Touched {
    from: usize,
    to: usize,
}

impl Default for Touched {
    fn default() -> Self {
        Touched { from: usize::MAX, to: 0 }
    }
}

/// Two words scrambled into a 128-bit code.
fn mix(a: u64, b: u64) -> u128 {
    let scramble = |mut x: u64| {
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    };
    let low = scramble(a.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(scramble(b)));
    let high = scramble(low ^ a.rotate_left(32).wrapping_add(b.wrapping_mul(0xD6E8_FEB8_6659_FD93)));
    u128::from(high) << 64 | u128::from(low)
}
