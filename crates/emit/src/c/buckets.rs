//! A plan for each of several ranges of a dimension's sizes: which one a size has, one arena for all, and the offsets of each value by range.

use super::{Names, Section, comment, identifier, lcm, sections};
use crate::error;
use neap_ir::diag::Diagnostic;
use neap_ir::{Attr, Module, plan};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The plan of a range.
struct Range {
    dim: String,
    low: i64,
    high: i64,
    sections: Vec<Section>,
}

/// Prints the plans of all ranges, and what chooses among them; returns what the first function's macros begin with.
pub(super) fn print(
    modules: &[&Module],
    base: &str,
    names: &mut Names,
    out: &mut String,
) -> Result<String, Vec<Diagnostic>> {
    let ranges: Vec<Range> = modules.iter().map(|module| range(module, base)).collect::<Result<_, _>>()?;
    let ascending = |pair: &[Range]| pair[0].dim == pair[1].dim && pair[0].high < pair[1].low;
    if ranges.is_empty() || !ranges.windows(2).all(ascending) {
        return Err(vec![error("the plans are not for ranges of one dimension, ascending")]);
    }
    choice(&ranges, base, names, out);
    for range in &ranges {
        let _ = writeln!(out, "/* {} from {} to {} */", comment(&range.dim), range.low, range.high);
        range.sections.iter().for_each(|section| section.print(names, out));
    }
    for (at, section) in ranges[0].sections.iter().enumerate() {
        let all: Vec<&Section> = ranges.iter().filter_map(|range| range.sections.get(at)).collect();
        if all.len() != ranges.len() || all.iter().any(|other| other.name != section.name) {
            return Err(vec![error("the plans are not of the same functions")]);
        }
        tables(&all, base, names, out);
    }
    Ok(prefix(base, &ranges[0].sections[0]))
}

/// What the macros of a function in all ranges begin with.
fn prefix(base: &str, section: &Section) -> String {
    format!("{base}_{}", identifier(&section.name))
}

fn range(module: &Module, base: &str) -> Result<Range, Vec<Diagnostic>> {
    let wrong = || vec![error("one of several plans does not say for which sizes it is")];
    let Some(Attr::Dict(items)) = module.attr(module.top(), plan::BUCKET) else { return Err(wrong()) };
    let [(dim, bounds)] = &items[..] else { return Err(wrong()) };
    let (dim, bounds) = (module.text(*dim).to_owned(), bounds.as_i64s().unwrap_or_default());
    let [low, high] = bounds[..] else { return Err(wrong()) };
    if low < 0 || high < low {
        return Err(wrong());
    }
    let sections = sections(module, base, &format!("_{}_{high}", identifier(&dim)))?;
    Ok(Range { dim, low, high, sections })
}

/// The number of ranges, their bounds, and the function that finds the range of a size.
fn choice(ranges: &[Range], base: &str, names: &mut Names, out: &mut String) {
    let (first, last) = (&ranges[0], &ranges[ranges.len() - 1]);
    let (dim, bucket) = (comment(&first.dim), format!("{}_bucket", base.to_ascii_lowercase()));
    let _ = writeln!(
        out,
        "/* Plans by the size of {dim}; one arena holds each of them. {bucket}(size) is the number of the plan to take, an index into the\n \
         * tables below. For a size below {} or above {} it is {base}_BUCKETS: there is no plan; refuse the input, or plan another bucket. */",
        first.low, last.high
    );
    let list = |get: fn(&Range) -> i64| ranges.iter().map(|range| format!("{}u", get(range))).collect::<Vec<_>>();
    names.define(out, &format!("{base}_BUCKETS"), &format!("{}u", ranges.len()), "");
    names.define(out, &format!("{base}_BUCKETS_LOW"), &braced(&list(|range| range.low)), "the least size of each");
    names.define(out, &format!("{base}_BUCKETS_HIGH"), &braced(&list(|range| range.high)), "the largest size of each");
    let _ = writeln!(out, "static inline unsigned {bucket}(unsigned long size)\n{{");
    if first.low > 0 {
        let _ = writeln!(out, "    if (size < {}u) return {base}_BUCKETS;", first.low);
    }
    for (at, range) in ranges.iter().enumerate() {
        let _ = writeln!(out, "    if (size <= {}u) return {at}u;", range.high);
    }
    let _ = writeln!(out, "    return {base}_BUCKETS;\n}}\n");
}

/// One function in all ranges: what the arena needs for any of them, and initialisers of arrays by range.
fn tables(all: &[&Section], base: &str, names: &mut Names, out: &mut String) {
    let prefix = prefix(base, all[0]);
    let _ = writeln!(
        out,
        "/* @{}, by bucket: `static const unsigned long at[] = {prefix}_.._OFFSETS;` */",
        comment(&all[0].name)
    );
    let mut arenas: BTreeMap<&String, (u64, i64)> = BTreeMap::new();
    for (arena, bytes, align) in all.iter().flat_map(|section| &section.arenas) {
        let most = arenas.entry(arena).or_insert((0, 1));
        *most = (most.0.max(*bytes), lcm(most.1, *align));
    }
    let most = all.iter().map(|section| section.bytes).max().unwrap_or(0);
    // Of several arenas each has to hold what any range puts there.
    let bytes = arenas.values().map(|(bytes, _)| *bytes).fold(0, u64::saturating_add).max(most);
    let align = all.iter().map(|section| section.align).fold(1, lcm);
    names.define(out, &format!("{prefix}_BYTES"), &format!("{bytes}u"), "of an arena for all, all together");
    names.define(out, &format!("{prefix}_ALIGN"), &format!("{align}u"), "of its base");
    for (arena, (bytes, align)) in arenas {
        let prefix = format!("{prefix}_ARENA_{}", identifier(arena));
        names.define(out, &format!("{prefix}_BYTES"), &format!("{bytes}u"), "");
        names.define(out, &format!("{prefix}_ALIGN"), &format!("{align}u"), "");
    }
    let list: Vec<String> = all.iter().map(|section| format!("{}u", section.bytes)).collect();
    names.define(out, &format!("{prefix}_BUCKET_BYTES"), &braced(&list), "of the arena of each");
    for (name, places) in everywhere(all) {
        let prefix = format!("{prefix}_{name}");
        let list = |get: fn(&(i64, u64)) -> String| braced(&places.iter().map(get).collect::<Vec<_>>());
        names.define(out, &format!("{prefix}_OFFSETS"), &list(|(offset, _)| format!("{offset}u")), "");
        names.define(out, &format!("{prefix}_SIZES"), &list(|(_, bytes)| format!("{bytes}u")), "");
    }
    out.push('\n');
}

/// Offset and bytes by range, of values that have a place, and a name of their own, in each: another order gives what has no name other numbers.
fn everywhere(all: &[&Section]) -> Vec<(String, Vec<(i64, u64)>)> {
    let own = |section: &Section| {
        let mut found: BTreeMap<String, Option<(i64, u64)>> = BTreeMap::new();
        for line in &section.lines {
            let place = line.named.then_some((line.offset, line.bytes));
            found.entry(identifier(&line.name)).and_modify(|twice| *twice = None).or_insert(place);
        }
        found
    };
    let maps: Vec<BTreeMap<String, Option<(i64, u64)>>> = all.iter().map(|section| own(section)).collect();
    // A name that occurs twice in one of them has no place there.
    let places = |name: &String| maps.iter().map(|map| map.get(name).copied().flatten()).collect::<Option<Vec<_>>>();
    let names = all[0].lines.iter().map(|line| identifier(&line.name));
    names.filter_map(|name| places(&name).map(|places| (name, places))).collect()
}

fn braced(list: &[String]) -> String {
    format!("{{ {} }}", list.join(", "))
}
