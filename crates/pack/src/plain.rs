//! The plain problem: one region, one alignment, rectangles only.
//!
//! Nearly every plan is plain, and it is where size matters, so it has a representation of its own: ranges
//! of sections and sizes in *units*. A unit divides all sizes once these are rounded up to the alignment, so
//! every offset that a skyline makes is a multiple of the alignment. Zero-size items are left out; they go to 0.
//!
//! Rounding loses nothing: what an item has less than its units (its *slack*) only counts where it is the topmost, and
//! there a capacity in bytes says how many units it may reach up to ([`Plain::limits`]). Heights and bounds are in true bytes.

use crate::outcome::{Place, Solution};
use crate::problem::{Problem, RegionId, Span, gcd};
use crate::sections::Sections;

/// Items as ranges of sections and sizes in units.
#[derive(Clone, Debug)]
pub(crate) struct Plain {
    /// The item in the problem that each one is; ascending.
    pub(crate) items: Vec<u32>,
    pub(crate) from: Vec<u32>,
    pub(crate) to: Vec<u32>,
    pub(crate) size: Vec<u64>,
    /// Bytes that each item is smaller than its units.
    pub(crate) slack: Vec<u64>,
    /// Units live in each section.
    pub(crate) load: Vec<u64>,
    /// Bytes per unit.
    pub(crate) unit: u64,
    /// The largest load, in units.
    pub(crate) floor: u64,
    /// Bytes that each section needs at least.
    pub(crate) bound: Vec<u64>,
    /// No packing of the true sizes is lower, in bytes.
    pub(crate) lower_bound: u64,
    /// A step inside each section.
    pub(crate) sections: Sections,
}

impl Plain {
    /// The problem as a plain one, if it is: one region, one alignment, nothing fixed, no gaps, no relations.
    pub(crate) fn new(problem: &Problem) -> Option<Plain> {
        let [region] = problem.regions() else { return None };
        let items = problem.items();
        if !problem.distances().is_empty() || !problem.apart().is_empty() {
            return None;
        }
        let align = items.first().map_or(1, |item| item.align);
        if items.iter().any(|item| item.fixed.is_some() || !item.gaps.is_empty() || item.align != align) {
            return None;
        }
        let align = crate::problem::lcm(align, region.align)?;
        Some(Plain::with_align(problem, align))
    }

    /// All items with sizes rounded up to `align`; gaps, fixed offsets and relations are ignored.
    pub(crate) fn with_align(problem: &Problem, align: u64) -> Plain {
        let held = |id: &u32| problem.items()[*id as usize].size > 0 && !problem.items()[*id as usize].live.is_empty();
        let items: Vec<u32> = (0..problem.items().len() as u32).filter(held).collect();
        let spans: Vec<Span> = items.iter().map(|&id| problem.items()[id as usize].live).collect();
        let (sections, ranges) = Sections::new(&spans);
        let bytes: Vec<u64> = items.iter().map(|&id| problem.items()[id as usize].size).collect();
        let rounded = |bytes: u64| bytes.div_ceil(align) * align;
        let unit = bytes.iter().fold(0, |unit, &bytes| gcd(unit, rounded(bytes))).max(1);
        let size: Vec<u64> = bytes.iter().map(|&bytes| rounded(bytes) / unit).collect();
        let slack: Vec<u64> = bytes.iter().map(|&bytes| rounded(bytes) - bytes).collect();
        let plain = Plain::over(items, size, slack, unit, sections, ranges);
        // Items live in no step still lie somewhere.
        let largest = problem.items().iter().map(|item| item.size).max().unwrap_or(0);
        Plain { lower_bound: plain.lower_bound.max(largest), ..plain }
    }

    /// The same problem of `problem` over its finest sections.
    pub(crate) fn finest(&self, problem: &Problem) -> Plain {
        let spans: Vec<Span> = self.items.iter().map(|&id| problem.items()[id as usize].live).collect();
        let (sections, ranges) = Sections::finest(&spans);
        let plain = Plain::over(self.items.clone(), self.size.clone(), self.slack.clone(), self.unit, sections, ranges);
        Plain { lower_bound: self.lower_bound, ..plain }
    }

    /// Items over sections.
    fn over(
        items: Vec<u32>,
        size: Vec<u64>,
        slack: Vec<u64>,
        unit: u64,
        sections: Sections,
        ranges: Vec<(u32, u32)>,
    ) -> Plain {
        let (from, to): (Vec<u32>, Vec<u32>) = ranges.into_iter().unzip();
        let load = loads(&from, &to, &size, sections.count());
        let floor = load.iter().copied().max().unwrap_or(0);
        let bound = bound(&from, &to, &slack, &load, unit);
        let lower_bound = bound.iter().copied().max().unwrap_or(0);
        Plain { items, from, to, size, slack, load, unit, floor, bound, lower_bound, sections }
    }

    /// The problem of the items in `keep` (places in this one's lists, ascending) alone.
    pub(crate) fn subset(&self, keep: &[u32]) -> Plain {
        let pick = |list: &[u64]| -> Vec<u64> { keep.iter().map(|&id| list[id as usize]).collect() };
        let span = |&id: &u32| Span::new(u64::from(self.from[id as usize]), u64::from(self.to[id as usize]));
        let (sections, ranges) = Sections::new(&keep.iter().map(span).collect::<Vec<_>>());
        let items = keep.iter().map(|&id| self.items[id as usize]).collect();
        Plain::over(items, pick(&self.size), pick(&self.slack), self.unit, sections, ranges)
    }

    /// For a capacity in bytes: up to which unit each item may reach, and the highest such one in each section.
    ///
    /// An offset is a multiple of the unit, so `offset + true size <= capacity` is `offset + size <= (capacity + slack) / unit`
    /// in units.
    pub(crate) fn limits(&self, capacity: u64) -> (Vec<u64>, Vec<u64>) {
        let items = self.slack.iter().map(|slack| (capacity + slack) / self.unit).collect();
        let largest_slack = self.load.iter().zip(&self.bound).map(|(load, bound)| load * self.unit - bound);
        (items, largest_slack.map(|slack| (capacity + slack) / self.unit).collect())
    }

    /// What items are smaller than their units, each number once, ascending. A height is a number of units less one of these.
    pub(crate) fn slacks(&self) -> Vec<u64> {
        let mut slacks = self.slack.clone();
        slacks.sort_unstable();
        slacks.dedup();
        slacks
    }

    /// How many items there are.
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    /// How many pairs share a section: for each item, those live where it begins.
    pub(crate) fn pairs(&self) -> u64 {
        let ones = vec![1; self.len()];
        let counts = loads(&self.from, &self.to, &ones, self.sections.count());
        self.from.iter().map(|&from| counts[from as usize]).sum()
    }

    /// Offsets in units as a solution of `problem`.
    pub(crate) fn solution(&self, problem: &Problem, offsets: &[u64]) -> Solution {
        let mut places = vec![Place { region: RegionId(0), offset: 0 }; problem.items().len()];
        self.items.iter().zip(offsets).for_each(|(&id, offset)| places[id as usize].offset = offset * self.unit);
        Solution { places }
    }
}

/// The sum of sizes in each section.
pub(crate) fn loads(from: &[u32], to: &[u32], size: &[u64], sections: usize) -> Vec<u64> {
    let mut change = vec![0_i64; sections + 1];
    for ((&from, &to), &size) in from.iter().zip(to).zip(size) {
        change[from as usize] += size as i64;
        change[to as usize] -= size as i64;
    }
    let mut sum = 0;
    let mut add = |c: &i64| {
        sum += c;
        sum as u64
    };
    change[..sections].iter().map(&mut add).collect()
}

/// The load of each section in bytes, where the topmost item of a section need not be rounded: its least possible slack is the
/// largest of the section's, found by painting sections once, largest slack first.
fn bound(from: &[u32], to: &[u32], slack: &[u64], load: &[u64], unit: u64) -> Vec<u64> {
    let mut load: Vec<u64> = load.iter().map(|load| load * unit).collect();
    let slack = |id: &u32| slack[*id as usize];
    let mut order: Vec<u32> = (0..from.len() as u32).filter(|id| slack(id) > 0).collect();
    order.sort_by_key(|id| std::cmp::Reverse(slack(id)));
    let mut next: Vec<u32> = (0..=load.len() as u32).collect();
    for id in order {
        let mut section = unpainted(&mut next, from[id as usize]);
        while section < to[id as usize] {
            load[section as usize] -= slack(&id);
            next[section as usize] = section + 1;
            section = unpainted(&mut next, section);
        }
    }
    load
}

/// The first section at or after `section` that is not painted, with path halving.
pub(crate) fn unpainted(next: &mut [u32], mut section: u32) -> u32 {
    while next[section as usize] != section {
        next[section as usize] = next[next[section as usize] as usize];
        section = next[section as usize];
    }
    section
}
