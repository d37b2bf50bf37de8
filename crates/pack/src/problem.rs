//! The packing problem: plain data, checked once, then read-only.
//!
//! An [`Item`] is a storage: it holds `size` bytes during a half-open range of steps. A [`Problem`]
//! is a list of items, the regions they may lie in, and relations between items. The constructor
//! refuses what has no meaning (reversed ranges, windows outside an item, relations that contradict
//! each other, sums above `2^63 - 1`), so solvers and validator work on data that adds up: no sum of
//! sizes, alignments and distances can overflow an `i64` afterwards.
//!
//! Whether a meaningful problem has a solution is not decided here.

use std::fmt;

use crate::error::ProblemError;
use crate::rigid;

/// The largest size or offset, in bytes.
pub const MAX_BYTES: u64 = i64::MAX as u64;

/// Names an item by its place in [`Problem::items`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemId(pub u32);

/// Names a region by its place in [`Problem::regions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegionId(pub u32);

impl ItemId {
    /// The place in [`Problem::items`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl RegionId {
    /// The place in [`Problem::regions`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for ItemId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "item {}", self.0)
    }
}

impl fmt::Display for RegionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "region {}", self.0)
    }
}

/// A half-open range `[begin, end)` of steps or bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The first step or byte inside.
    pub begin: u64,
    /// The first step or byte behind.
    pub end: u64,
}

impl Span {
    /// The range `[begin, end)`.
    pub fn new(begin: u64, end: u64) -> Self {
        Span { begin, end }
    }

    /// Whether no step or byte is inside.
    pub fn is_empty(self) -> bool {
        self.begin >= self.end
    }

    /// How many steps or bytes are inside.
    pub fn len(self) -> u64 {
        self.end.saturating_sub(self.begin)
    }
}

/// A part of the live range in which an item gives up its bytes, or all but a window of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Gap {
    /// The steps of the gap, inside the live range.
    pub steps: Span,
    /// The bytes still held during the gap, relative to the item's offset; `None` holds nothing.
    pub window: Option<Span>,
}

/// One storage to place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Item {
    /// The steps in which the bytes are held.
    pub live: Span,
    /// The size in bytes. Items of size 0 overlap nothing.
    pub size: u64,
    /// The offset is a multiple of this (at least 1).
    pub align: u64,
    /// The offset, where it is given.
    pub fixed: Option<u64>,
    /// Gaps in the live range; they do not overlap each other.
    pub gaps: Vec<Gap>,
    /// The allowed regions, the most wanted first; empty means all, in the problem's order.
    pub regions: Vec<RegionId>,
    /// An offset worth trying first, a wish only.
    pub hint: Option<u64>,
    /// Held for the whole run by rule rather than by use; only [`crate::Method::LiteRt`] reads it.
    pub held: bool,
    /// Storages of an earlier round are placed before those of a later one; only [`crate::Method::LiteRt`] reads it.
    pub round: u32,
}

impl Item {
    /// An item of `size` bytes in `[begin, end)` with no further wishes.
    pub fn new(begin: u64, end: u64, size: u64) -> Self {
        Item {
            live: Span::new(begin, end),
            size,
            align: 1,
            fixed: None,
            gaps: Vec::new(),
            regions: Vec::new(),
            hint: None,
            held: false,
            round: 0,
        }
    }
}

/// `offset(second) = offset(first) + bytes`, in the same region (parts of a concatenation).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Distance {
    /// The item measured from.
    pub first: ItemId,
    /// The item measured to.
    pub second: ItemId,
    /// The distance in bytes; may be negative.
    pub bytes: i64,
}

/// A piece of memory with its own addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Region {
    /// The bytes available; `None` is as many as needed.
    pub capacity: Option<u64>,
    /// All offsets in the region are multiples of this (at least 1).
    pub align: u64,
}

impl Default for Region {
    fn default() -> Self {
        Region { capacity: None, align: 1 }
    }
}

/// A problem that has passed the checks of [`Problem::new`].
#[derive(Clone, Debug)]
pub struct Problem {
    items: Vec<Item>,
    regions: Vec<Region>,
    distances: Vec<Distance>,
    apart: Vec<(ItemId, ItemId)>,
}

impl Problem {
    /// Checks the parts and puts them together. With no region given there is one, without capacity.
    ///
    /// # Errors
    ///
    /// The first rule that is broken, with the items that break it.
    pub fn new(
        items: Vec<Item>,
        regions: Vec<Region>,
        distances: Vec<Distance>,
        apart: Vec<(ItemId, ItemId)>,
    ) -> Result<Self, ProblemError> {
        let regions = if regions.is_empty() { vec![Region::default()] } else { regions };
        let problem = Problem { items, regions, distances, apart };
        check_counts(&problem)?;
        for (index, region) in problem.regions.iter().enumerate() {
            check_region(RegionId(index as u32), region)?;
        }
        for (index, item) in problem.items.iter().enumerate() {
            check_item(ItemId(index as u32), item, problem.regions.len())?;
        }
        check_relations(&problem)?;
        check_total(&problem)?;
        rigid::check(&problem)?;
        Ok(problem)
    }

    /// One region without capacity, and no relations.
    ///
    /// # Errors
    ///
    /// As [`Problem::new`].
    pub fn from_items(items: Vec<Item>) -> Result<Self, ProblemError> {
        Problem::new(items, Vec::new(), Vec::new(), Vec::new())
    }

    /// The same problem with `capacity` for the region `region`.
    ///
    /// # Errors
    ///
    /// The capacity is above `2^63 - 1`, or there is no such region.
    pub fn with_capacity(mut self, region: RegionId, capacity: Option<u64>) -> Result<Self, ProblemError> {
        let count = self.regions.len();
        let slot =
            self.regions.get_mut(region.index()).ok_or(ProblemError::NoSuchRegion { item: None, region, count })?;
        slot.capacity = capacity;
        check_region(region, slot)?;
        Ok(self)
    }

    /// The items; an [`ItemId`] is a place in this list.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// The regions; never empty.
    pub fn regions(&self) -> &[Region] {
        &self.regions
    }

    /// Pairs at a fixed distance.
    pub fn distances(&self) -> &[Distance] {
        &self.distances
    }

    /// Pairs whose bytes must not overlap even when they are never live together.
    pub fn apart(&self) -> &[(ItemId, ItemId)] {
        &self.apart
    }

    /// The alignment of `item` in `region`: the least common multiple of what both ask.
    pub fn align_in(&self, item: ItemId, region: RegionId) -> u64 {
        lcm(self.items[item.index()].align, self.regions[region.index()].align).unwrap_or(MAX_BYTES)
    }

    /// The regions `item` may lie in, the most wanted first.
    pub fn allowed_regions(&self, item: ItemId) -> Vec<RegionId> {
        let wanted = &self.items[item.index()].regions;
        if wanted.is_empty() { (0..self.regions.len() as u32).map(RegionId).collect() } else { wanted.clone() }
    }
}

/// The greatest common divisor; `gcd(0, x) = x`.
pub(crate) fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The least common multiple of two positive numbers, if it is at most `2^63 - 1`.
pub(crate) fn lcm(a: u64, b: u64) -> Option<u64> {
    (a / gcd(a, b)).checked_mul(b).filter(|&m| m <= MAX_BYTES)
}

fn check_counts(problem: &Problem) -> Result<(), ProblemError> {
    let limit = (u32::MAX / 4) as usize;
    let pieces = problem.items.iter().fold(problem.items.len(), |sum, item| sum.saturating_add(item.gaps.len()));
    if pieces > limit || problem.regions.len() > limit {
        return Err(ProblemError::TooMany { count: pieces.max(problem.regions.len()), limit });
    }
    Ok(())
}

fn check_region(id: RegionId, region: &Region) -> Result<(), ProblemError> {
    if region.align == 0 || region.align > MAX_BYTES {
        return Err(ProblemError::BadRegionAlign { region: id, align: region.align });
    }
    match region.capacity {
        Some(bytes) if bytes > MAX_BYTES => Err(ProblemError::CapacityOverflows { region: id, bytes }),
        _ => Ok(()),
    }
}

fn check_item(id: ItemId, item: &Item, regions: usize) -> Result<(), ProblemError> {
    if item.live.begin > item.live.end || item.live.end > MAX_BYTES {
        return Err(ProblemError::BadLive { item: id, live: item.live });
    }
    if item.size > MAX_BYTES {
        return Err(ProblemError::SizeOverflows { item: id, bytes: item.size });
    }
    if item.align == 0 || item.align > MAX_BYTES {
        return Err(ProblemError::BadAlign { item: id, align: item.align });
    }
    if let Some(offset) = item.fixed {
        if offset.checked_add(item.size).is_none_or(|end| end > MAX_BYTES) {
            return Err(ProblemError::FixedOverflows { item: id, offset });
        }
        if offset % item.align != 0 {
            return Err(ProblemError::FixedMisaligned { item: id, offset, align: item.align });
        }
    }
    for (place, &region) in item.regions.iter().enumerate() {
        if region.index() >= regions {
            return Err(ProblemError::NoSuchRegion { item: Some(id), region, count: regions });
        }
        if item.regions[..place].contains(&region) {
            return Err(ProblemError::RegionTwice { item: id, region });
        }
    }
    check_gaps(id, item)
}

fn check_gaps(id: ItemId, item: &Item) -> Result<(), ProblemError> {
    let mut steps: Vec<Span> = Vec::with_capacity(item.gaps.len());
    for gap in &item.gaps {
        let inside =
            gap.steps.begin <= gap.steps.end && gap.steps.begin >= item.live.begin && gap.steps.end <= item.live.end;
        if !inside {
            return Err(ProblemError::GapOutside { item: id, gap: gap.steps, live: item.live });
        }
        if let Some(window) = gap.window.filter(|w| w.begin > w.end || w.end > item.size) {
            return Err(ProblemError::WindowOutside { item: id, window, size: item.size });
        }
        steps.push(gap.steps);
    }
    steps.retain(|s| !s.is_empty());
    steps.sort_unstable();
    match steps.windows(2).find(|pair| pair[1].begin < pair[0].end) {
        Some(pair) => Err(ProblemError::GapsOverlap { item: id, first: pair[0], second: pair[1] }),
        None => Ok(()),
    }
}

fn check_relations(problem: &Problem) -> Result<(), ProblemError> {
    let count = problem.items.len();
    let ends = problem.distances.iter().map(|d| (d.first, d.second)).chain(problem.apart.iter().copied());
    for (first, second) in ends {
        if let Some(item) = [first, second].into_iter().find(|id| id.index() >= count) {
            return Err(ProblemError::NoSuchItem { item, count });
        }
        if first == second {
            return Err(ProblemError::SelfRelation { item: first });
        }
    }
    Ok(())
}

/// The error of sums that are beyond all sizes.
pub(crate) fn too_much(problem: &Problem) -> ProblemError {
    let largest = problem.items.iter().enumerate().rev().max_by_key(|(_, item)| item.size);
    let bytes = largest.map_or(0, |(_, item)| item.size);
    ProblemError::TotalOverflows { largest: largest.map(|(index, _)| ItemId(index as u32)), bytes }
}

/// No placement that a solver tries is higher than all fixed ends, items with their alignment, and
/// distances stacked on each other; that sum has to stay within an `i64`.
fn check_total(problem: &Problem) -> Result<(), ProblemError> {
    let too_much = too_much(problem);
    let region_align = problem.regions.iter().try_fold(1, |m, r| lcm(m, r.align)).ok_or(too_much.clone())?;
    let mut total: u64 = 0;
    let mut top: u64 = 0;
    for (index, item) in problem.items.iter().enumerate() {
        let overflow = ProblemError::AlignOverflows { item: ItemId(index as u32), align: item.align };
        let align = lcm(item.align, region_align).ok_or(overflow)?;
        top = top.max(item.fixed.unwrap_or(0) + item.size);
        let sum = total.checked_add(item.size).and_then(|t| t.checked_add(align));
        total = sum.filter(|&t| t <= MAX_BYTES).ok_or(too_much.clone())?;
    }
    for distance in &problem.distances {
        let sum = total.checked_add(distance.bytes.unsigned_abs());
        total = sum.filter(|&t| t <= MAX_BYTES).ok_or(too_much.clone())?;
    }
    let sum = total.checked_add(top).filter(|&t| t <= MAX_BYTES);
    sum.map(|_| ()).ok_or(too_much)
}
