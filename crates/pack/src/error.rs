//! What a problem or a solution can have wrong, as data: one variant per broken rule.

use std::fmt;

use crate::problem::{ItemId, RegionId, Span};

/// A rule of the problem's data that is broken. Items are named by id; [`ProblemError::message`]
/// puts a caller's own names in their place.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each field is named after what it holds, and the variant says the rest")]
pub enum ProblemError {
    /// More items, gaps or regions than a 32-bit id can name.
    TooMany { count: usize, limit: usize },
    /// A live range ends before it begins, or ends above `2^63 - 1`.
    BadLive { item: ItemId, live: Span },
    /// A size is above `2^63 - 1` bytes.
    SizeOverflows { item: ItemId, bytes: u64 },
    /// An alignment is 0 or above `2^63 - 1`.
    BadAlign { item: ItemId, align: u64 },
    /// The least common multiple of an item's and the regions' alignments is above `2^63 - 1`.
    AlignOverflows { item: ItemId, align: u64 },
    /// A region's alignment is 0 or above `2^63 - 1`.
    BadRegionAlign { region: RegionId, align: u64 },
    /// A region's capacity is above `2^63 - 1` bytes.
    CapacityOverflows { region: RegionId, bytes: u64 },
    /// A fixed offset plus the size is above `2^63 - 1`.
    FixedOverflows { item: ItemId, offset: u64 },
    /// A fixed offset is not a multiple of the item's alignment.
    FixedMisaligned { item: ItemId, offset: u64, align: u64 },
    /// A region that does not exist is named, by an item or by the caller.
    NoSuchRegion { item: Option<ItemId>, region: RegionId, count: usize },
    /// An item names a region twice.
    RegionTwice { item: ItemId, region: RegionId },
    /// A gap leaves the live range.
    GapOutside { item: ItemId, gap: Span, live: Span },
    /// A gap's window leaves the item.
    WindowOutside { item: ItemId, window: Span, size: u64 },
    /// Two gaps of an item overlap.
    GapsOverlap { item: ItemId, first: Span, second: Span },
    /// A relation names an item that does not exist.
    NoSuchItem { item: ItemId, count: usize },
    /// A relation names the same item twice.
    SelfRelation { item: ItemId },
    /// The sizes, alignments and distances together are too large to compute with; the largest item, where there is one, and its size.
    TotalOverflows { largest: Option<ItemId>, bytes: u64 },
    /// Fixed distances or fixed offsets put an item in two places.
    DistanceContradicts { item: ItemId, first: i64, second: i64 },
    /// Items at a fixed distance ask for alignments that no offset satisfies together.
    AlignContradicts { item: ItemId, align: u64 },
    /// Items at a fixed distance have no region in common.
    NoCommonRegion { item: ItemId },
}

impl ProblemError {
    /// The message with items named by `name`.
    pub fn message(&self, name: &dyn Fn(ItemId) -> String) -> String {
        use ProblemError as E;
        match self {
            E::TooMany { count, limit } => {
                format!("{count} items, gaps or regions are more than {limit}")
            }
            E::BadLive { item, live } => {
                format!("{}: live range [{}, {}) is not a range of steps", name(*item), live.begin, live.end)
            }
            E::SizeOverflows { item, bytes } => {
                format!("{}: size {bytes} overflows (at most 2^63 - 1 bytes)", name(*item))
            }
            E::BadAlign { item, align } => format!("{}: alignment {align} is not between 1 and 2^63 - 1", name(*item)),
            E::AlignOverflows { item, align } => {
                format!("{}: alignment {align} and the region's have a common multiple that overflows", name(*item))
            }
            E::BadRegionAlign { region, align } => {
                format!("{region}: alignment {align} is not between 1 and 2^63 - 1")
            }
            E::CapacityOverflows { region, bytes } => {
                format!("{region}: capacity {bytes} overflows (at most 2^63 - 1 bytes)")
            }
            E::FixedOverflows { item, offset } => {
                format!("{}: fixed offset {offset} plus size overflows", name(*item))
            }
            E::FixedMisaligned { item, offset, align } => {
                format!("{}: fixed offset {offset} is not a multiple of alignment {align}", name(*item))
            }
            E::NoSuchRegion { item: Some(item), region, count } => {
                format!("{}: {region} does not exist (there are {count})", name(*item))
            }
            E::NoSuchRegion { item: None, region, count } => format!("{region} does not exist (there are {count})"),
            E::RegionTwice { item, region } => format!("{}: {region} is listed twice", name(*item)),
            E::GapOutside { item, gap, live } => {
                let (b, e) = (gap.begin, gap.end);
                format!("{}: gap [{b}, {e}) is not inside the live range [{}, {})", name(*item), live.begin, live.end)
            }
            E::WindowOutside { item, window, size } => {
                format!(
                    "{}: window [{}, {}) is not inside the item's {size} bytes",
                    name(*item),
                    window.begin,
                    window.end
                )
            }
            E::GapsOverlap { item, first, second } => {
                let (a, b, c, d) = (first.begin, first.end, second.begin, second.end);
                format!("{}: gaps [{a}, {b}) and [{c}, {d}) overlap", name(*item))
            }
            E::NoSuchItem { item, count } => format!("a relation names {item} of {count}"),
            E::SelfRelation { item } => format!("{}: a relation with itself", name(*item)),
            E::TotalOverflows { largest, bytes } => {
                let largest =
                    largest.map_or_else(String::new, |item| format!("; the largest is {}: {bytes}", name(item)));
                format!("the sizes, alignments and distances together overflow (at most 2^63 - 1 bytes){largest}")
            }
            E::DistanceContradicts { item, first, second } => {
                format!("{}: fixed offsets or distances put it at {first} and at {second}", name(*item))
            }
            E::AlignContradicts { item, align } => {
                format!(
                    "{}: no offset satisfies alignment {align} together with its fixed distances and offsets",
                    name(*item)
                )
            }
            E::NoCommonRegion { item } => {
                format!("{}: no region is allowed for all items at a fixed distance from it", name(*item))
            }
        }
    }
}

impl fmt::Display for ProblemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message(&|id| id.to_string()))
    }
}

impl std::error::Error for ProblemError {}

/// A rule that a solution breaks, found by [`crate::validate()`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each field is named after what it holds, and the variant says the rest")]
pub enum Violation {
    /// The solution does not have exactly one place per item.
    WrongCount { places: usize, items: usize },
    /// A region that does not exist.
    NoSuchRegion { item: ItemId, region: RegionId },
    /// A region that the item may not lie in.
    RegionNotAllowed { item: ItemId, region: RegionId },
    /// An offset that is not a multiple of the item's or the region's alignment.
    Misaligned { item: ItemId, offset: u64, align: u64 },
    /// An offset other than the fixed one.
    NotFixed { item: ItemId, offset: u64, fixed: u64 },
    /// The end lies behind the region's capacity, or overflows.
    OverCapacity { item: ItemId, offset: u64, size: u64, capacity: u64 },
    /// Two items hold the same byte at `step`.
    Overlap { first: ItemId, second: ItemId, step: u64 },
    /// Two items that must not share a byte do.
    Shared { first: ItemId, second: ItemId },
    /// Two items at a fixed distance are not, or lie in two regions.
    WrongDistance { first: ItemId, second: ItemId, bytes: i64 },
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use Violation as V;
        match self {
            V::WrongCount { places, items } => write!(f, "{places} places for {items} items"),
            V::NoSuchRegion { item, region } => write!(f, "{item}: {region} does not exist"),
            V::RegionNotAllowed { item, region } => write!(f, "{item}: not allowed in {region}"),
            V::Misaligned { item, offset, align } => write!(f, "{item}: offset {offset} is not a multiple of {align}"),
            V::NotFixed { item, offset, fixed } => write!(f, "{item}: offset {offset}, fixed at {fixed}"),
            V::OverCapacity { item, offset, size, capacity } => {
                write!(f, "{item}: offset {offset} and size {size} exceed the capacity {capacity}")
            }
            V::Overlap { first, second, step } => write!(f, "{first} and {second} hold the same byte at step {step}"),
            V::Shared { first, second } => {
                write!(f, "{first} and {second} must not share bytes and do")
            }
            V::WrongDistance { first, second, bytes } => {
                write!(f, "{second} does not lie {bytes} bytes behind {first}")
            }
        }
    }
}

impl std::error::Error for Violation {}
