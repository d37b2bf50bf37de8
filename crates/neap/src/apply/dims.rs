//! Dynamic dimensions: bounds from flags, and leaving out what has none.

use super::names::Names;
use crate::cli::DimFlag;
use crate::exit::Failure;
use neap_ir::size::SizeError;
use neap_ir::{Attr, Def, Module, OpId, ValueId};
use neap_passes::analysis::names::value_name;
use neap_passes::suggest::closest;
use std::collections::BTreeSet;

const BOUNDS: &str = "neap.bounds";
const DIMS: &str = "neap.dims";
const BYTES: &str = "neap.bytes";

/// Bounds a named dimension, or an axis of a value, which then gets a name; returns the name.
pub(super) fn bound(module: &mut Module, names: &Names, flag: &DimFlag) -> Result<String, Failure> {
    let known = named(module);
    let name = match find(module, names, &known, "--dim", &flag.name)? {
        None => flag.name.clone(),
        Some((value, axis)) => name_axis(module, value, axis, &flag.name, &known),
    };
    let range = module.i64s_attr(vec![flag.low as i64, flag.high as i64]);
    let mut bounds = match module.remove_attr(module.top(), BOUNDS) {
        Some(Attr::Dict(bounds)) => bounds,
        _ => Vec::new(),
    };
    let key = module.intern(&name);
    bounds.retain(|(other, _)| *other != key);
    let at = bounds.partition_point(|(other, _)| module.text(*other) < name.as_str());
    bounds.insert(at, (key, range));
    module.set_attr(module.top(), BOUNDS, Attr::Dict(bounds));
    Ok(name)
}

/// The bounds that a module states.
pub(crate) fn stated(module: &Module) -> Vec<DimFlag> {
    let Some(Attr::Dict(bounds)) = module.attr(module.top(), BOUNDS) else { return Vec::new() };
    let range = |range: &Attr| {
        let range: Vec<u64> = range.as_i64s()?.into_iter().map(u64::try_from).collect::<Result<_, _>>().ok()?;
        <[u64; 2]>::try_from(range).ok()
    };
    let all = bounds.iter().filter_map(|(name, bound)| Some((module.text(*name).to_owned(), range(bound)?)));
    all.map(|(name, [low, high])| DimFlag { name, low, high }).collect()
}

/// Whether an argument of a function has a dimension of a name.
pub(crate) fn of_arguments(module: &Module, name: &str) -> bool {
    let has = |attr: &Attr| matches!(attr, Attr::Array(list) if list.iter().any(|dim| dim.as_str() == Some(name)));
    let mut functions = module.functions().into_iter();
    functions.any(|func| (0..module.func_args(func).len()).any(|at| module.arg_attr(func, at, DIMS).is_some_and(has)))
}

/// Whether there is a dimension of a name.
///
/// # Errors
/// There is none.
pub(crate) fn there(module: &Module, flag: &str, name: &str) -> Result<(), Failure> {
    find(module, &Names::of(module), &named(module), flag, name).map(drop)
}

/// The dimension of a name: none for a named one, else a dynamic axis of a value.
fn find(
    module: &Module,
    names: &Names,
    known: &BTreeSet<String>,
    flag: &str,
    name: &str,
) -> Result<Option<(ValueId, usize)>, Failure> {
    if known.contains(name) {
        return Ok(None);
    }
    let axis = name.rsplit_once('.').and_then(|(value, axis)| Some((value, axis.parse::<usize>().ok()?)));
    let Some((value, axis)) = axis.and_then(|(value, axis)| Some((names.get(value)?, axis))) else {
        return Err(unknown(flag, name, known));
    };
    let dynamic = module.dynamic_axes(value);
    if dynamic.contains(&axis) {
        return Ok(Some((value, axis)));
    }
    let failure = Failure::usage(format!("`{flag} {name}`: axis {axis} of the value is not dynamic"));
    let axes: Vec<String> = dynamic.iter().map(usize::to_string).collect();
    Err(if axes.is_empty() { failure } else { failure.help(format!("dynamic axes: {}", axes.join(", "))) })
}

fn unknown(flag: &str, name: &str, known: &BTreeSet<String>) -> Failure {
    let failure = Failure::usage(format!("`{flag} {name}`: there is no dimension of this name"));
    if let Some(close) = closest(name, known.iter().map(String::as_str)) {
        return failure.help(format!("did you mean `{close}`?"));
    }
    let listed: Vec<String> = known.iter().take(8).map(|name| format!("`{name}`")).collect();
    let failure = match listed.is_empty() {
        true => failure.note("no dimension has a name here"),
        false => failure.note(format!("there are: {}", listed.join(", "))),
    };
    failure.help("an unnamed dimension is `VALUE.AXIS`, with the axis from 0")
}

/// Names of dimensions in the module.
fn named(module: &Module) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut add = |attr: Option<&Attr>| {
        if let Some(Attr::Array(list)) = attr {
            found.extend(list.iter().filter_map(Attr::as_str).filter(|name| !name.is_empty()).map(str::to_owned));
        }
    };
    for func in module.functions() {
        (0..module.func_args(func).len()).for_each(|index| add(module.arg_attr(func, index, DIMS)));
    }
    module.walk(module.top()).into_iter().for_each(|op| add(module.attr(op, DIMS)));
    if let Some(Attr::Dict(bounds)) = module.attr(module.top(), BOUNDS) {
        found.extend(bounds.iter().map(|(name, _)| module.text(*name).to_owned()));
    }
    found
}

/// Gives an axis a name: `neap.dims` runs over the `?` of the argument, or of all data results in order.
fn name_axis(module: &mut Module, value: ValueId, axis: usize, asked: &str, known: &BTreeSet<String>) -> String {
    let at = module.dynamic_axes(value).iter().take_while(|other| **other != axis).count();
    let (values, current) = match module.value(value).def() {
        Def::Result(op, _) => (module.data_results(op).to_vec(), module.attr(op, DIMS).cloned()),
        Def::Arg(block, index) => {
            let func = module.region_op(module.block_region(block));
            (vec![value], module.arg_attr(func, index as usize, DIMS).cloned())
        }
    };
    let before: usize =
        values.iter().take_while(|other| **other != value).map(|other| module.dynamic_axes(*other).len()).sum();
    let total: usize = values.iter().map(|other| module.dynamic_axes(*other).len()).sum();
    let mut list = match current {
        Some(Attr::Array(list)) => list,
        _ => Vec::new(),
    };
    list.resize(total, Attr::str(""));
    let name = match list[before + at].as_str() {
        Some(name) if !name.is_empty() => name.to_owned(),
        _ => fresh(asked, known),
    };
    list[before + at] = Attr::str(&name);
    super::set(module, value, DIMS, Attr::Array(list));
    name
}

/// A name that is an identifier of MLIR and new.
fn fresh(asked: &str, known: &BTreeSet<String>) -> String {
    let clean: String = asked.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let base = format!("dim_{}", clean.trim_start_matches('_'));
    let names = std::iter::once(base.clone()).chain((1u64..).map(|number| format!("{base}_{number}")));
    names.into_iter().find(|name| !known.contains(name)).unwrap_or(base)
}

/// Values whose size is not known take no bytes; returns what they are called.
pub(super) fn exclude(module: &mut Module, functions: &[OpId]) -> Vec<(String, String)> {
    let mut excluded = Vec::new();
    for func in functions {
        let function = module.sym_name(*func).unwrap_or_default().to_owned();
        for index in 0..module.func_args(*func).len() {
            let value = module.func_args(*func)[index];
            if unbounded(module, value) {
                excluded.push((function.clone(), value_name(module, value)));
                let none = module.i64s_attr(vec![0]);
                module.set_arg_attr(*func, index, BYTES, Some(none));
            }
        }
        for op in module.walk(*func) {
            let results = module.data_results(op).to_vec();
            if results.iter().any(|value| unbounded(module, *value)) {
                let named =
                    results.iter().filter(|value| unbounded(module, **value)).map(|value| value_name(module, *value));
                excluded.extend(named.map(|name| (function.clone(), name)));
                let bytes = results.iter().map(|value| module.value_bytes(*value).unwrap_or(0) as i64).collect();
                let bytes = module.i64s_attr(bytes);
                module.set_attr(op, BYTES, bytes);
            }
        }
    }
    excluded
}

fn unbounded(module: &Module, value: ValueId) -> bool {
    matches!(module.value_bytes(value), Err(SizeError::Dynamic(_) | SizeError::Unranked))
}
