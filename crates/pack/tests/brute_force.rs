//! The solver against every assignment of offsets, on small random problems that mix all kinds of constraints.
//!
//! The oracle knows no theory: it tries every offset of every item in every allowed region, with nothing but the
//! pairwise definition to prune, so it cannot share a mistake about canonical packings. `NEAP_PACK_ROUNDS` sets the
//! number of random problems (20,000 for a full run).

use std::io::Write as _;

use neap_pack::{
    Distance, Gap, Goal, Item, ItemId, Options, Place, Problem, Proof, Region, RegionId, Solution, Span, Verdict,
    solve, sweep, validate,
};

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (x ^ (x >> 31)) % n
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

fn rounds() -> u64 {
    std::env::var("NEAP_PACK_ROUNDS").map_or(1_500, |text| text.parse().expect("NEAP_PACK_ROUNDS is a number"))
}

/// Steps times bytes that an item holds, from the definition.
fn holds(item: &Item, step: u64, byte: u64) -> bool {
    let live = (item.live.begin..item.live.end).contains(&step) && byte < item.size;
    let gap = item.gaps.iter().find(|gap| (gap.steps.begin..gap.steps.end).contains(&step));
    live && gap.is_none_or(|gap| gap.window.is_some_and(|window| (window.begin..window.end).contains(&byte)))
}

/// Whether the items collide, by looking at every step and byte.
fn collide(a: &Item, a_at: u64, b: &Item, b_at: u64) -> bool {
    let bytes = a_at.max(b_at)..(a_at + a.size).min(b_at + b.size);
    let steps = a.live.begin.max(b.live.begin)..a.live.end.min(b.live.end);
    bytes.clone().any(|byte| steps.clone().any(|step| holds(a, step, byte - a_at) && holds(b, step, byte - b_at)))
}

/// Places that the oracle tries before it gives a problem up: some two of a thousand have too many.
const PATIENCE: u64 = 30_000_000;

/// The oracle gave up.
struct TooMany;

/// Whether there is a solution in which every region stays within `room`.
fn oracle(problem: &Problem, room: &[u64]) -> Result<bool, TooMany> {
    extend(problem, room, &mut Vec::new(), &mut PATIENCE.clone())
}

fn extend(problem: &Problem, room: &[u64], places: &mut Vec<Place>, left: &mut u64) -> Result<bool, TooMany> {
    let index = places.len();
    let Some(item) = problem.items().get(index) else { return Ok(true) };
    for region in problem.allowed_regions(ItemId(index as u32)) {
        let last = room[region.index()].checked_sub(item.size);
        for offset in 0..last.map_or(0, |last| last + 1) {
            *left = left.checked_sub(1).ok_or(TooMany)?;
            places.push(Place { region, offset });
            if permitted(problem, places) && extend(problem, room, places, left)? {
                return Ok(true);
            }
            places.pop();
        }
    }
    Ok(false)
}

fn permitted(problem: &Problem, places: &[Place]) -> bool {
    let index = places.len() - 1;
    let (item, place) = (&problem.items()[index], places[index]);
    let align = |align: u64| place.offset.is_multiple_of(align);
    let alone = align(item.align)
        && align(problem.regions()[place.region.index()].align)
        && item.fixed.is_none_or(|at| at == place.offset);
    alone
        && (0..index).all(|other| {
            let (one, at) = (&problem.items()[other], places[other]);
            let ids = [ItemId(other as u32), ItemId(index as u32)];
            let apart = problem.apart().iter().any(|&(a, b)| ids == [a, b] || ids == [b, a]);
            let shared = at.offset.max(place.offset) < (at.offset + one.size).min(place.offset + item.size);
            let same = at.region == place.region;
            let distance = problem.distances().iter().all(|d| match ids {
                [a, b] if (a, b) == (d.first, d.second) => same && place.offset as i64 - at.offset as i64 == d.bytes,
                [a, b] if (b, a) == (d.first, d.second) => same && at.offset as i64 - place.offset as i64 == d.bytes,
                _ => true,
            });
            distance && !(same && (collide(one, at.offset, item, place.offset) || apart && shared))
        })
}

/// What a random problem contains.
#[derive(Clone, Copy, Debug, Default)]
struct Kinds {
    gaps: bool,
    windows: bool,
    fixed: bool,
    aligned: bool,
    /// All items are aligned alike, to more than a byte.
    alike: bool,
    distances: bool,
    apart: bool,
    regions: bool,
    empty: bool,
}

fn random_item(random: &mut Random, kinds: Kinds, most: u64) -> Item {
    let begin = random.below(6);
    let mut item = Item::new(begin, begin + 1 + random.below(5), 1 + random.below(most));
    if kinds.empty && random.chance(20) {
        item.size = 0;
    }
    if (kinds.gaps || kinds.windows) && item.live.len() >= 2 && item.size > 0 && random.chance(70) {
        let from = item.live.begin + random.below(item.live.len());
        let to = from + 1 + random.below(item.live.end - from);
        let low = random.below(item.size);
        let window =
            (kinds.windows && random.chance(80)).then(|| Span::new(low, low + random.below(item.size - low + 1)));
        item.gaps.push(Gap { steps: Span::new(from, to), window });
    }
    if kinds.aligned && random.chance(60) {
        item.align = [1, 2, 3, 4][random.below(4) as usize];
    }
    if kinds.fixed && random.chance(25) {
        item.fixed = Some(random.below(5) * item.align);
    }
    item
}

fn random_problem(random: &mut Random, kinds: Kinds) -> Option<Problem> {
    // The oracle takes time exponential in the items and in their bytes: seven and eight are small.
    let count =
        if random.chance(5) { 7 + random.below(2) } else { 2 + random.below(if kinds.regions { 4 } else { 5 }) };
    let most = if count > 6 { 2 } else { 5 };
    let mut items: Vec<Item> = (0..count).map(|_| random_item(random, kinds, most)).collect();
    if kinds.alike {
        let align = 2 + random.below(3);
        items.iter_mut().for_each(|item| (item.align, item.fixed) = (align, None));
    }
    let pair = |random: &mut Random| (ItemId(random.below(count) as u32), ItemId(random.below(count) as u32));
    let mut distances = Vec::new();
    let mut apart = Vec::new();
    if kinds.distances && random.chance(70) {
        let (first, second) = pair(random);
        distances.push(Distance { first, second, bytes: random.below(7) as i64 - 3 });
    }
    if kinds.apart && random.chance(70) {
        apart.push(pair(random));
    }
    let mut regions = vec![Region { capacity: None, align: if kinds.aligned && random.chance(30) { 2 } else { 1 } }];
    if kinds.regions {
        regions[0].capacity = Some(2 + random.below(7));
        regions.push(Region { capacity: Some(2 + random.below(7)), align: 1 });
        for item in &mut items {
            if random.chance(30) {
                item.regions = vec![RegionId(random.below(2) as u32)];
            }
        }
    }
    Problem::new(items, regions, distances, apart).ok()
}

/// Every column of `height` bytes is full; feasible at the floor only by luck.
fn full_columns(random: &mut Random) -> Problem {
    let height = 8;
    loop {
        let mut items = Vec::new();
        let mut free: Vec<(u64, u64)> = vec![(0, height)]; // (bytes end at step, bytes)
        for step in 0..8 {
            let room: u64 = free.iter().filter(|(end, _)| *end <= step).map(|(_, bytes)| bytes).sum();
            free.retain(|(end, _)| *end > step);
            let mut left = room;
            while left > 0 {
                let size = 1 + random.below(left);
                let end = (step + 1 + random.below(3)).min(8);
                items.push(Item::new(step, end, size));
                free.push((end, size));
                left -= size;
            }
        }
        if (9..=13).contains(&items.len()) {
            return Problem::from_items(items).expect("valid");
        }
    }
}

/// The least height of a problem with one region, by the oracle. `found` is a height that a checked solution has, `floor` the most
/// bytes held at one step; without a solution a single look at a roomy region decides.
fn least_height(problem: &Problem, found: Option<u64>, floor: u64) -> Result<Option<u64>, TooMany> {
    let Some(height) = found else { return Ok(oracle(problem, &[ROOMY])?.then_some(ROOMY)) };
    for room in floor..=height {
        if oracle(problem, &[room])? {
            return Ok(Some(room));
        }
    }
    Ok(None)
}

/// Bytes enough for whatever the random problems can ask, in nearly all cases.
const ROOMY: u64 = 26;

/// Solves and compares; returns whether the optimum is above the floor.
fn compare(problem: &Problem, floor: u64) -> Result<bool, TooMany> {
    let options = Options { node_limit: 3_000_000, ..Options::default() };
    let outcome = solve(problem, &options, &mut |_| false);
    if let Some(solution) = &outcome.solution {
        assert_eq!(validate(problem, solution), Ok(()), "{problem:?}");
    }
    Ok(match least_height(problem, outcome.height(), floor)? {
        Some(least) => {
            assert_eq!(outcome.height(), Some(least), "{problem:?}");
            assert_eq!((outcome.proof, outcome.lower_bound), (Proof::Optimal, least), "{problem:?}");
            if least > 0 {
                refuses_below(problem, least);
            }
            least > floor
        }
        None => {
            assert!(
                outcome.solution.is_none() || matches!(outcome.verdict, Verdict::ProvedInfeasible(_)),
                "{problem:?} {outcome:?}"
            );
            false
        }
    })
}

/// With one byte less than the optimum the answer is a proof that nothing fits.
fn refuses_below(problem: &Problem, least: u64) {
    let options = Options { node_limit: 3_000_000, goal: Goal::Fit, ..Options::default() };
    let tight = problem.clone().with_capacity(RegionId(0), Some(least - 1)).expect("valid");
    let outcome = solve(&tight, &options, &mut |_| false);
    assert!(matches!(outcome.verdict, Verdict::ProvedInfeasible(_)), "{tight:?} {outcome:?}");
    let exact = problem.clone().with_capacity(RegionId(0), Some(least)).expect("valid");
    let outcome = solve(&exact, &options, &mut |_| false);
    assert_eq!(outcome.verdict, Verdict::Fits, "{exact:?}");
    assert_eq!(validate(&exact, &outcome.solution.expect("fits")), Ok(()));
}

#[test]
fn agrees_with_every_assignment_of_offsets() {
    let mut random = Random(1);
    let (mut seen, mut above, mut refused, mut given_up) = (0, 0, 0, 0);
    for round in 0..rounds() {
        let bit = |bit: u64| round % 4 == 3 || round / 4 % 8 == bit;
        let kinds = Kinds {
            gaps: bit(0),
            windows: bit(1),
            fixed: bit(2),
            aligned: bit(3),
            distances: bit(4),
            apart: bit(5),
            regions: false,
            empty: bit(6),
            // Never together with the rest: alone, such a problem is a plain one with sizes that are no multiples.
            alike: round % 4 != 3 && bit(7),
        };
        match random_problem(&mut random, kinds) {
            None => refused += 1,
            Some(problem) => match compare(&problem, plain_floor(&problem)) {
                Ok(is_above) => (seen, above) = (seen + 1, above + u64::from(is_above)),
                Err(TooMany) => given_up += 1,
            },
        }
    }
    let mut out = std::io::stdout().lock();
    let others = format!("{refused} without a meaning, {given_up} too large for the oracle");
    writeln!(out, "{seen} problems, {above} with an optimum above the load, {others}").expect("written");
    assert!(seen > rounds() / 2 && above > rounds() / 100 && given_up < 3 + rounds() / 300);
}

fn plain_floor(problem: &Problem) -> u64 {
    let bytes = |item: &Item, step: u64| (0..item.size).filter(|&byte| holds(item, step, byte)).count() as u64;
    (0..12).map(|step| problem.items().iter().map(|item| bytes(item, step)).sum()).max().unwrap_or(0)
}

#[test]
fn full_columns_are_settled_either_way() {
    let mut random = Random(2);
    let (mut above, mut given_up) = (0, 0);
    for _ in 0..rounds() / 2 {
        let problem = full_columns(&mut random);
        match compare(&problem, plain_floor(&problem)) {
            Ok(is_above) => above += u64::from(is_above),
            Err(TooMany) => given_up += 1,
        }
    }
    let mut out = std::io::stdout().lock();
    let others = format!("{given_up} too large for the oracle");
    writeln!(out, "{} full columns, {above} infeasible at the floor, {others}", rounds() / 2).expect("written");
    assert!(above > 0, "the family must contain infeasible problems");
    assert!(given_up < 3 + rounds() / 300);
}

#[test]
fn several_regions_are_filled_or_refused_as_the_oracle_says() {
    let mut random = Random(3);
    let (mut fits, mut refused, mut given_up) = (0, 0, 0);
    for _ in 0..rounds() {
        let kinds = Kinds {
            regions: true,
            gaps: true,
            aligned: true,
            windows: true,
            apart: true,
            distances: true,
            ..Kinds::default()
        };
        let Some(problem) = random_problem(&mut random, kinds) else { continue };
        let room: Vec<u64> = problem.regions().iter().map(|region| region.capacity.expect("given")).collect();
        let outcome = solve(&problem, &Options { node_limit: 1_000_000, ..Options::default() }, &mut |_| false);
        let Ok(is_solved) = oracle(&problem, &room) else {
            given_up += 1;
            continue;
        };
        if is_solved {
            assert_eq!(outcome.verdict, Verdict::Fits, "{problem:?}");
            assert_eq!(validate(&problem, &outcome.solution.expect("fits")), Ok(()), "{problem:?}");
            fits += 1;
        } else {
            assert!(matches!(outcome.verdict, Verdict::ProvedInfeasible(_)), "{problem:?} {outcome:?}");
            refused += 1;
        }
    }
    let others = format!("{given_up} too large for the oracle");
    writeln!(std::io::stdout().lock(), "{fits} fit, {refused} do not, {others}").expect("written");
    assert!(fits > 0 && refused > 0 && given_up < 3 + rounds() / 300);
}

#[test]
fn the_validator_refuses_every_corrupted_solution() {
    let mut random = Random(4);
    let mut corrupted = 0;
    for _ in 0..rounds() {
        let kinds = Kinds {
            gaps: true,
            windows: true,
            aligned: true,
            apart: true,
            distances: true,
            fixed: true,
            ..Kinds::default()
        };
        let Some(problem) = random_problem(&mut random, kinds) else { continue };
        let outcome = solve(&problem, &Options::default(), &mut |_| false);
        let Some(solution) = outcome.solution.filter(|_| outcome.verdict == Verdict::Fits) else { continue };
        let index = random.below(problem.items().len() as u64) as usize;
        let mut places = solution.places.clone();
        places[index].offset = random.below(12);
        // The oracle's definition says whether the change broke anything.
        let right = (1..=places.len()).all(|count| permitted(&problem, &places[..count]));
        let solution = Solution { places };
        let verdict = validate(&problem, &solution);
        assert_eq!(sweep(&problem, &solution).is_ok(), right, "{problem:?} {verdict:?}");
        assert_eq!(verdict.is_ok(), right, "{problem:?} {verdict:?}");
        corrupted += u64::from(!right);
    }
    writeln!(std::io::stdout().lock(), "{corrupted} corrupted solutions refused").expect("written");
    assert!(corrupted > rounds() / 4);
}
