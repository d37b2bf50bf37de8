//! MiniMalloc's table: one storage a line, columns by name.
//!
//! | column | also called | meaning |
//! |---|---|---|
//! | `id` | `buffer`, `buffer_id` | a unique name |
//! | `lower`, `upper` | `begin` or `start`; `end` | live range, half-open |
//! | `size` | | bytes |
//! | `alignment` | | optional; empty is 1 |
//! | `gaps` | | optional: `a-b` or `a-b@lo:hi`, blank-separated; `lo:hi` are the bytes still held |
//! | `offset` | | optional: a fixed offset; empty is free |
//! | `hint` | | optional: an offset worth trying |
//! | `region` | | optional: names of regions, the most wanted first, blank-separated; empty is any |
//!
//! The end convention is explicit: `upper` is the first step behind. A column called `end` holds the *last* step
//! inside, as in MiniMalloc's older files, and so do all ends when the caller says [`Ends::Inclusive`].
//! The writer adds (or overwrites) `offset`, always writes half-open `lower,upper`, and writes `region` where
//! there are several regions. Fields hold no commas and no quotes.

use std::fmt::{self, Write as _};

use rustc_hash::FxHashMap;

use crate::error::ProblemError;
use crate::outcome::Solution;
use crate::problem::{Gap, Item, Problem, Region, RegionId, Span};

/// What the end of a range means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ends {
    /// Half-open, but for a column called `end`, which holds the last step.
    #[default]
    ByColumn,
    /// Every end is the last step inside.
    Inclusive,
}

/// A table as read: a problem and the names of its items.
#[derive(Clone, Debug)]
pub struct Table {
    /// The problem.
    pub problem: Problem,
    /// The name of each item.
    pub names: Vec<String>,
    /// The names of the regions.
    pub regions: Vec<String>,
    /// Whether the ends were read as the last step inside, not as the first behind.
    pub inclusive: bool,
}

/// What is wrong with a table, and in which line (counted from 1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableError {
    /// The line.
    pub line: usize,
    /// What is wrong there.
    pub message: String,
    /// Whether the table is right and names a region that is not among those which were given.
    pub unknown_region: bool,
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for TableError {}

/// Reads a table. `regions` are the named regions there are; with none, there is one, called `arena`, without capacity,
/// and regions that the table names are added in the order of their first mention.
///
/// # Errors
///
/// The first line that cannot be read, or the item whose data contradict each other.
pub fn read_csv(text: &str, ends: Ends, regions: &[(String, Region)]) -> Result<Table, TableError> {
    let mut lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    let (header, at) = lines.next().ok_or_else(|| error(1, "the table is empty: expected a header line"))?;
    let columns = Columns::new(header.trim_start_matches('\u{feff}'), at)?;
    let mut reader = Reader {
        columns,
        ends,
        open: regions.is_empty(),
        regions: Vec::new(),
        capacities: Vec::new(),
        by_name: FxHashMap::default(),
    };
    for (name, region) in regions {
        if reader.by_name.insert(name.clone(), RegionId(reader.regions.len() as u32)).is_some() {
            return Err(error(at, format!("region `{name}` is declared twice")));
        }
        reader.regions.push(name.clone());
        reader.capacities.push(*region);
    }
    let (mut items, mut names, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    let mut seen: FxHashMap<&str, usize> = FxHashMap::default();
    for (line, at) in lines {
        let (name, item) = reader.row(line, at)?;
        if let Some(before) = seen.insert(name, at) {
            return Err(error(at, format!("id `{name}` is already used in line {before}")));
        }
        items.push(item);
        names.push(name.to_owned());
        rows.push(at);
    }
    if reader.regions.is_empty() {
        reader.regions.push("arena".to_owned());
        reader.capacities.push(Region::default());
    }
    let inclusive = reader.inclusive();
    let problem = Problem::new(items, reader.capacities, Vec::new(), Vec::new()).map_err(|e| TableError {
        line: item_of(&e).and_then(|item| rows.get(item)).copied().unwrap_or(at),
        unknown_region: false,
        message: e.message(&|id| names.get(id.index()).map_or_else(|| id.to_string(), |name| format!("`{name}`"))),
    })?;
    Ok(Table { problem, names, regions: reader.regions, inclusive })
}

/// Writes `table` with the offsets of `solution`.
pub fn write_csv(table: &Table, solution: &Solution) -> String {
    let items = table.problem.items();
    let aligned = items.iter().any(|item| item.align != 1);
    let gaps = items.iter().any(|item| !item.gaps.is_empty());
    let hints = items.iter().any(|item| item.hint.is_some());
    let several = table.regions.len() > 1;
    let columns = [(aligned, ",alignment"), (gaps, ",gaps"), (hints, ",hint"), (several, ",region"), (true, ",offset")];
    let mut out = String::from("id,lower,upper,size");
    columns.iter().filter(|(on, _)| *on).for_each(|(_, name)| out.push_str(name));
    out.push('\n');
    for ((item, name), place) in items.iter().zip(&table.names).zip(&solution.places) {
        let mut row = format!("{name},{},{},{}", item.live.begin, item.live.end, item.size);
        if aligned {
            row.push_str(&format!(",{}", item.align));
        }
        if gaps {
            row.push(',');
            row.push_str(&item.gaps.iter().map(gap_text).collect::<Vec<_>>().join(" "));
        }
        if hints {
            row.push(',');
            row.push_str(&item.hint.map_or_else(String::new, |hint| hint.to_string()));
        }
        if several {
            row.push_str(&format!(",{}", table.regions[place.region.index()]));
        }
        let _ = writeln!(out, "{row},{}", place.offset);
    }
    out
}

fn gap_text(gap: &Gap) -> String {
    let window = gap.window.map_or_else(String::new, |w| format!("@{}:{}", w.begin, w.end));
    format!("{}-{}{window}", gap.steps.begin, gap.steps.end)
}

fn error(line: usize, message: impl Into<String>) -> TableError {
    TableError { line, message: message.into(), unknown_region: false }
}

fn item_of(error: &ProblemError) -> Option<usize> {
    use ProblemError as E;
    match error {
        E::BadLive { item, .. }
        | E::SizeOverflows { item, .. }
        | E::BadAlign { item, .. }
        | E::AlignOverflows { item, .. }
        | E::FixedOverflows { item, .. }
        | E::FixedMisaligned { item, .. }
        | E::RegionTwice { item, .. }
        | E::GapOutside { item, .. }
        | E::WindowOutside { item, .. }
        | E::GapsOverlap { item, .. }
        | E::AlignContradicts { item, .. } => Some(item.index()),
        _ => None,
    }
}

/// Where each column is.
struct Columns {
    count: usize,
    id: usize,
    lower: usize,
    upper: usize,
    size: usize,
    last_step: bool,
    alignment: Option<usize>,
    gaps: Option<usize>,
    offset: Option<usize>,
    hint: Option<usize>,
    region: Option<usize>,
}

impl Columns {
    fn new(header: &str, line: usize) -> Result<Columns, TableError> {
        let names: Vec<&str> = header.split(',').map(str::trim).collect();
        let known = |name: &str| match name {
            "buffer" | "buffer_id" => "id".to_owned(),
            "begin" | "start" => "lower".to_owned(),
            "end" => "upper".to_owned(),
            name => name.to_owned(),
        };
        let canonical: Vec<String> = names.iter().map(|name| known(name)).collect();
        for (place, name) in canonical.iter().enumerate() {
            if canonical[..place].contains(name) {
                return Err(error(line, format!("column `{name}` is there twice")));
            }
        }
        let find = |name: &str| canonical.iter().position(|other| other == name);
        let need = |name: &str| {
            find(name).ok_or_else(|| {
                error(line, format!("column `{name}` is missing; the header must name id, lower, upper, size"))
            })
        };
        Ok(Columns {
            count: names.len(),
            id: need("id")?,
            lower: need("lower")?,
            upper: need("upper")?,
            size: need("size")?,
            last_step: names.contains(&"end"),
            alignment: find("alignment"),
            gaps: find("gaps"),
            offset: find("offset"),
            hint: find("hint"),
            region: find("region"),
        })
    }
}

struct Reader {
    columns: Columns,
    ends: Ends,
    /// Regions may be added as the table names them.
    open: bool,
    regions: Vec<String>,
    capacities: Vec<Region>,
    by_name: FxHashMap<String, RegionId>,
}

impl Reader {
    fn row<'t>(&mut self, line: &'t str, at: usize) -> Result<(&'t str, Item), TableError> {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        let columns = &self.columns;
        if fields.len() != columns.count {
            return Err(error(at, format!("{} fields where the header has {}", fields.len(), columns.count)));
        }
        let optional = |column: Option<usize>| column.map(|index| fields[index]).filter(|text| !text.is_empty());
        let mut item = Item::new(
            number(fields[columns.lower], "lower", at)?,
            self.end(number(fields[columns.upper], "upper", at)?, at)?,
            number(fields[columns.size], "size", at)?,
        );
        item.align = optional(columns.alignment).map_or(Ok(1), |text| number(text, "alignment", at))?;
        item.fixed = optional(columns.offset).map(|text| number(text, "offset", at)).transpose()?;
        item.hint = optional(columns.hint).map(|text| number(text, "hint", at)).transpose()?;
        for text in optional(columns.gaps).unwrap_or("").split_whitespace() {
            item.gaps.push(self.gap(text, at)?);
        }
        let wishes = optional(columns.region).unwrap_or("");
        for name in wishes.split_whitespace() {
            let region = self.region(name, at)?;
            item.regions.push(region);
        }
        Ok((fields[self.columns.id], item))
    }

    fn inclusive(&self) -> bool {
        self.ends == Ends::Inclusive || self.columns.last_step
    }

    fn end(&self, end: u64, at: usize) -> Result<u64, TableError> {
        end.checked_add(u64::from(self.inclusive())).ok_or_else(|| error(at, "the end of a range overflows"))
    }

    fn gap(&self, text: &str, at: usize) -> Result<Gap, TableError> {
        let malformed = || error(at, format!("gap `{text}` is not of the form a-b or a-b@lo:hi"));
        let (steps, window) = text.split_once('@').map_or((text, None), |(steps, window)| (steps, Some(window)));
        let (begin, end) = steps.split_once('-').ok_or_else(malformed)?;
        let steps =
            Span::new(begin.parse().map_err(|_| malformed())?, self.end(end.parse().map_err(|_| malformed())?, at)?);
        let window = window.map(|window| {
            let (low, high) = window.split_once(':')?;
            Some(Span::new(low.parse().ok()?, high.parse().ok()?))
        });
        match window {
            Some(None) => Err(malformed()),
            window => Ok(Gap { steps, window: window.flatten() }),
        }
    }

    fn region(&mut self, name: &str, at: usize) -> Result<RegionId, TableError> {
        if let Some(&id) = self.by_name.get(name) {
            return Ok(id);
        }
        if !self.open {
            let message = format!("region `{name}` is not declared; there are {}", self.regions.join(", "));
            return Err(TableError { unknown_region: true, ..error(at, message) });
        }
        let id = RegionId(self.regions.len() as u32);
        self.by_name.insert(name.to_owned(), id);
        self.regions.push(name.to_owned());
        self.capacities.push(Region::default());
        Ok(id)
    }
}

fn number(text: &str, column: &str, line: usize) -> Result<u64, TableError> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(value) if digits => Ok(value),
        _ if digits => Err(error(line, format!("{column} `{text}` overflows (at most 2^63 - 1)"))),
        _ => Err(error(line, format!("{column} `{text}` is not a number of 0 or more"))),
    }
}
