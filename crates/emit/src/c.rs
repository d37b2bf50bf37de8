//! C: a header with what firmware needs to lay tensors into one static arena.
//!
//! Per function and arena: its bytes and the alignment of its base; per value that lies in it: offset and bytes, by the model's own name. All names are
//! macros, so that the header can stand in any translation unit, in C from 99 on and in C++; where there is a plan for each of several ranges of sizes, one inline
//! function chooses among them. They begin with the header's own name, so that headers of several models can stand in one translation unit; what all headers
//! share is defined by the first one. `NEAP_ARENA_CHECK(array)` is a static
//! assertion that an array is large enough and, from C11 and C++11 on, aligned enough.

mod buckets;

use crate::error;
use neap_ir::diag::Diagnostic;
use neap_ir::{Attr, Def, Module, OpId, ValueId, plan};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Writes the header of a plan; of several modules, each the plan for a range of sizes, ascending ([`plan::BUCKET`]), with what chooses among them.
/// All names of the header begin with `NEAP_` and `name`, as a rule that of its file, with other characters than letters and digits replaced.
///
/// # Errors
/// A module holds no plan, or a size that is not known; several modules that are not ranges of one dimension.
pub fn write(modules: &[&Module], name: &str) -> Result<String, Vec<Diagnostic>> {
    let mut names = Names::default();
    let base = format!("NEAP_{}", upper(name));
    let own = names.unique(&format!("{base}_H"));
    let mut body = String::new();
    let example = match modules {
        [module] if module.attr(module.top(), plan::BUCKET).is_none() => {
            let sections = sections(module, &base, "")?;
            sections.iter().for_each(|section| section.print(&mut names, &mut body));
            sections.first().map(|section| section.prefix.clone())
        }
        _ => Some(buckets::print(modules, &base, &mut names, &mut body)?),
    };
    let mut out = String::new();
    // Of two headers by one name the second would be passed over in silence, and the numbers of the first taken for both.
    let guard = names.unique(&format!("{own}_{:016X}", hash(&body)));
    let _ = writeln!(out, "/* Made by neap: where every tensor lies. */\n#ifndef {guard}\n#define {guard}\n");
    let _ = writeln!(
        out,
        "#ifdef {own}\n#error \"two plans have headers of one name, {base}: write one of them to a file of another name\"\n#endif\n#define {own}\n"
    );
    let prefix = example.unwrap_or(base);
    let _ = writeln!(
        out,
        "/* NEAP_ARENA_CHECK(array, BYTES, ALIGN) refuses to compile where an array of the program is too small, or its base aligned less than\n \
         * the plan asks. Example:\n \
         *\n \
         *     NEAP_ALIGNAS({prefix}_ALIGN) static unsigned char arena[{prefix}_BYTES];\n \
         *     NEAP_ARENA_CHECK(arena, {prefix}_BYTES, {prefix}_ALIGN);\n \
         */"
    );
    let _ = writeln!(out, "{ASSERTION}{body}#endif /* {guard} */");
    Ok(out)
}

/// FNV-1a, the same on every machine.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// What the headers of all plans share.
const ASSERTION: &str = "\
#ifndef NEAP_ARENA_CHECK
#if defined(__cplusplus) && __cplusplus >= 201103L
#define NEAP_ALIGNAS(align) alignas(align)
#define NEAP_STATIC_ASSERT(condition, text) static_assert(condition, text)
#elif !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define NEAP_ALIGNAS(align) _Alignas(align)
#define NEAP_STATIC_ASSERT(condition, text) _Static_assert(condition, text)
#else
#if defined(__GNUC__)
#define NEAP_ALIGNAS(align) __attribute__((aligned(align)))
#endif
#define NEAP_STATIC_ASSERT(condition, text) extern char neap_static_assert[(condition) ? 1 : -1]
#endif
#if defined(__GNUC__)
#define NEAP_ARENA_CHECK(array, bytes, align) \\
    NEAP_STATIC_ASSERT(sizeof(array) >= (bytes) && __alignof__(array) >= (align), \"the arena is too small or its base not aligned\")
#else
#define NEAP_ARENA_CHECK(array, bytes, align) \\
    NEAP_STATIC_ASSERT(sizeof(array) >= (bytes), \"the arena is too small\")
#endif
#endif /* NEAP_ARENA_CHECK */

";

/// Alignment by the name of the arena.
fn arenas(module: &Module) -> BTreeMap<String, i64> {
    let ops = module.block_ops(module.body()).filter(|op| module.op_name(*op) == "neap.arena");
    let align = |op: OpId| module.attr(op, "align").and_then(Attr::as_i64).unwrap_or(1);
    ops.map(|op| (module.sym_name(op).unwrap_or_default().to_owned(), align(op))).collect()
}

/// A value in an arena.
struct Line {
    name: String,
    arena: Option<String>,
    offset: i64,
    bytes: u64,
    comment: String,
    /// Whether the module has a name for it, which another order does not change.
    named: bool,
}

/// What a header says of one function.
struct Section {
    /// All of its macros begin with it.
    prefix: String,
    name: String,
    fingerprint: String,
    bytes: u64,
    align: i64,
    /// Where the module has several: name, bytes and alignment of those that are used.
    arenas: Vec<(String, u64, i64)>,
    lines: Vec<Line>,
}

/// The functions of a planned module; `base` begins the prefix of each, `range` ends it.
fn sections(module: &Module, base: &str, range: &str) -> Result<Vec<Section>, Vec<Diagnostic>> {
    let functions: Vec<OpId> =
        module.functions().into_iter().filter(|func| module.attr(*func, plan::ARENA_BYTES).is_some()).collect();
    if functions.is_empty() {
        return Err(vec![error("no function of the module has a plan")]);
    }
    let aligns = arenas(module);
    let found = functions.into_iter().map(|func| section(module, func, &aligns, (base, range)));
    found.collect::<Result<_, String>>().map_err(|message| vec![error(message)])
}

fn section(
    module: &Module,
    func: OpId,
    aligns: &BTreeMap<String, i64>,
    (base, range): (&str, &str),
) -> Result<Section, String> {
    let name = module.sym_name(func).unwrap_or_default();
    let mut lines = lines(module, func)?;
    let bytes = module.attr(func, plan::ARENA_BYTES).and_then(Attr::as_i64).unwrap_or(0);
    let fingerprint = module.attr(func, plan::FINGERPRINT).and_then(Attr::as_str).unwrap_or("unknown");
    let used: BTreeSet<&String> = lines.iter().filter_map(|line| line.arena.as_ref()).collect();
    let end = |arena: &String| {
        let ends = lines.iter().filter(|line| line.arena.as_ref() == Some(arena));
        ends.map(|line| line.offset.max(0) as u64 + line.bytes).max().unwrap_or(0)
    };
    let align = |arena: &String| aligns.get(arena).copied().unwrap_or(1);
    // Of several that are declared, one that is used alone is told as well: another function, or another range, may use another one.
    let several = aligns.len() > 1;
    let arenas = used.into_iter().filter(|_| several).map(|arena| (arena.clone(), end(arena), align(arena))).collect();
    if aligns.len() <= 1 {
        lines.iter_mut().for_each(|line| line.arena = None);
    }
    Ok(Section {
        prefix: format!("{base}_{}{range}", identifier(name)),
        name: name.to_owned(),
        fingerprint: fingerprint.to_owned(),
        bytes: u64::try_from(bytes).unwrap_or(0),
        align: aligns.values().copied().chain(asked(module, func)).fold(1, lcm),
        arenas,
        lines,
    })
}

impl Section {
    fn print(&self, names: &mut Names, out: &mut String) {
        let prefix = &self.prefix;
        let _ = writeln!(out, "/* @{}, fingerprint {} */", comment(&self.name), comment(&self.fingerprint));
        names.define(out, &format!("{prefix}_BYTES"), &format!("{}u", self.bytes), "of the arena, all together");
        names.define(out, &format!("{prefix}_ALIGN"), &format!("{}u", self.align), "of the arena's base");
        for (arena, bytes, align) in &self.arenas {
            let prefix = format!("{prefix}_ARENA_{}", identifier(arena));
            names.define(out, &format!("{prefix}_BYTES"), &format!("{bytes}u"), "");
            names.define(out, &format!("{prefix}_ALIGN"), &format!("{align}u"), "");
        }
        for line in &self.lines {
            let prefix = format!("{prefix}_{}", identifier(&line.name));
            let arena = line.arena.as_ref().map(|arena| format!("@{arena}, ")).unwrap_or_default();
            let what = format!("{arena}{}", line.comment);
            names.define(out, &format!("{prefix}_OFFSET"), &format!("{}u", line.offset), &what);
            names.define(out, &format!("{prefix}_SIZE"), &format!("{}u", line.bytes), "");
        }
        out.push('\n');
    }
}

/// Alignments that operations ask for.
fn asked(module: &Module, func: OpId) -> Vec<i64> {
    module
        .walk(func)
        .into_iter()
        .filter_map(|op| module.attr(op, plan::ALIGN).and_then(Attr::as_i64))
        .filter(|align| *align > 0)
        .collect()
}

fn lcm(a: i64, b: i64) -> i64 {
    let (mut x, mut y) = (a, b.max(1));
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a / x).saturating_mul(b.max(1))
}

/// Everything of a function that lies in an arena, arguments first, then in the order of the plan.
fn lines(module: &Module, func: OpId) -> Result<Vec<Line>, String> {
    let mut lines = Vec::new();
    for (index, value) in module.func_args(func).iter().enumerate() {
        let get = |key| module.arg_attr(func, index, key);
        let Some(offset) = get(plan::OFFSET).and_then(Attr::as_i64).filter(|offset| *offset >= 0) else { continue };
        let name = get("neap.name").and_then(Attr::as_str).unwrap_or_default().to_owned();
        let arena = get(plan::ARENA).and_then(Attr::as_symbol).map(str::to_owned);
        lines.push(line(module, *value, name, format!("ARG{index}"), arena, offset, "argument")?);
    }
    for op in module.walk(func) {
        let offsets = module.attr(op, plan::OFFSETS).and_then(Attr::as_i64s).unwrap_or_default();
        let arenas = module.attr(op, plan::ARENA);
        for (index, value) in module.data_results(op).iter().enumerate() {
            let Some(offset) = offsets.get(index).copied().filter(|offset| *offset >= 0) else { continue };
            let name = match module.attr(op, "neap.names") {
                Some(Attr::Array(names)) => names.get(index).and_then(Attr::as_str),
                _ => module.attr(op, "neap.name").and_then(Attr::as_str).filter(|_| module.data_results(op).len() == 1),
            };
            let arena = match arenas {
                Some(Attr::Array(list)) => list.get(index).and_then(Attr::as_symbol),
                one => one.and_then(Attr::as_symbol),
            };
            let name = name.unwrap_or_default().to_owned();
            lines.push(line(
                module,
                *value,
                name,
                "VALUE".into(),
                arena.map(str::to_owned),
                offset,
                module.op_name(op),
            )?);
        }
        if let Some(offset) = module.attr(op, plan::SCRATCH_OFFSET).and_then(Attr::as_i64) {
            let arena = module.attr(op, plan::SCRATCH_ARENA).and_then(Attr::as_symbol).map(str::to_owned);
            let (bytes, comment) = (module.scratch_bytes(op), format!("scratch of {}", module.op_name(op)));
            lines.push(Line { name: "SCRATCH".into(), arena, offset, bytes, comment, named: false });
        }
    }
    Ok(lines)
}

fn line(
    module: &Module,
    value: ValueId,
    name: String,
    unnamed: String,
    arena: Option<String>,
    offset: i64,
    what: &str,
) -> Result<Line, String> {
    // A number is no name: it says where a value stands.
    let ssa = module.value(value).name.map(|name| module.text(name).to_owned());
    let ssa = ssa.filter(|name| !name.starts_with(|c: char| c.is_ascii_digit()));
    let number = match module.value(value).def() {
        Def::Result(_, index) if index > 0 => format!("_{index}"),
        _ => String::new(),
    };
    let model = name.clone();
    let named = !model.is_empty() || ssa.is_some() || matches!(module.value(value).def(), Def::Arg(..));
    let name = if name.is_empty() { ssa.map_or(unnamed, |ssa| format!("{ssa}{number}")) } else { name };
    let bytes = module.value_bytes(value).map_err(|error| format!("`{name}`: {error}"))?;
    let comment = if model.is_empty() { what.to_owned() } else { format!("{what} `{model}`") };
    Ok(Line { name, arena, offset, bytes, comment, named })
}

/// Upper case letters, digits and underscores, of a length that every compiler tells apart.
fn identifier(name: &str) -> String {
    let all: Vec<char> = upper(name).chars().collect();
    // The end of a model's name says more than its start.
    let kept: String = all[all.len().saturating_sub(40)..].iter().collect();
    if kept.is_empty() { "_".to_owned() } else { kept }
}

/// Upper case letters, digits and underscores; a letter beyond them is its number, so that names in other scripts stay apart.
fn upper(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        match c {
            _ if c.is_ascii_alphanumeric() => out.push(c.to_ascii_uppercase()),
            _ if c.is_alphanumeric() => out.push_str(&format!("U{:X}", u32::from(c))),
            _ => out.push('_'),
        }
    }
    out
}

/// Text that ends no comment, starts none and continues no line.
fn comment(text: &str) -> String {
    let plain = |c: char| if (' '..='~').contains(&c) && !matches!(c, '*' | '\\' | '?') { c } else { '.' };
    text.chars().take(120).map(plain).collect()
}

/// Macros that are taken.
#[derive(Default)]
struct Names(BTreeSet<String>);

impl Names {
    fn unique(&mut self, name: &str) -> String {
        let mut found = name.to_owned();
        let mut number = 1u64;
        while !self.0.insert(found.clone()) {
            number += 1;
            found = format!("{name}_{number}");
        }
        found
    }

    /// A line that defines a macro, with a comment where there is something to say.
    fn define(&mut self, out: &mut String, name: &str, value: &str, what: &str) {
        let _ = write!(out, "#define {} {value}", self.unique(name));
        if !what.is_empty() {
            let _ = write!(out, " /* {} */", comment(what));
        }
        out.push('\n');
    }
}
