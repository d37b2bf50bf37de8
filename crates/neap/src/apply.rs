//! Flags and profile become attributes of the module, before the first pass.
//!
//! Everything that a plan depends on is then in the module: the passes, the checker, a second run and a reader of the printed file
//! see the same. The module after this step is the *source* that the checker compares with. What the input says itself wins over the
//! profile, and a flag wins over both.

mod arenas;
pub(crate) mod dims;
pub(crate) mod names;
mod once;
mod resident;
mod scratch;

use crate::cli::{PinFlag, ReuseFlag, SourceFlags};
use crate::exit::Failure;
use names::Names;
use neap_ir::facts::Facts;
use neap_ir::plan::{self, FINGERPRINT, IO};
use neap_ir::{Attr, Def, Fingerprints, Module, OpId, ValueId};
use neap_passes::profile::{Io, Profile};
use once::Once;

/// Values whose bytes stay from their birth to the end.
const KEEP: &str = "neap.keep";
/// Fixed offsets.
const PIN: &str = "neap.pin";
/// Whether bytes may be shared.
const REUSE: &str = "neap.reuse";

/// What was done that a summary has to say.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Applied {
    /// Values without a known size that take no bytes because the user said so, by function, without `@`.
    pub excluded: Vec<(String, String)>,
}

/// Writes flags and profile into a module.
///
/// # Errors
/// A flag names something that the module does not have, or bounds a dimension so that what is handed on does not fit into what it goes to.
pub fn apply(module: &mut Module, flags: &SourceFlags, profile: &Profile, facts: &Facts) -> Result<Applied, Failure> {
    let functions = module.functions();
    let names = Names::of(module);
    let mut dims = Once::default();
    for dim in &flags.dims {
        dims.take(dims::bound(module, &names, dim)?, format!("--dim {}", dim.name))?;
    }
    arenas::declare(module, &flags.arenas, profile);
    for func in &functions {
        owners(module, *func, profile);
        resident::mark(module, *func, facts, profile);
    }
    // A value in the caller's memory has no bytes of ours to keep or to place.
    let (mut kept, mut placed, mut outside) = (Once::default(), Once::default(), Once::default());
    for name in &flags.keep {
        let value = names.find(module, "--keep", name)?;
        kept.take(value, format!("--keep {name}"))?;
        keep(module, value);
    }
    for flag in &flags.pins {
        let value = names.find(module, "--pin", &flag.name)?;
        placed.take(value, format!("--pin {}@{}", flag.name, flag.offset))?;
        pin(module, value, flag);
    }
    for name in &flags.external {
        let (name, arena) = in_arena(module, name);
        let value = names.find(module, "--external", name)?;
        outside.take(value, format!("--external {name}"))?;
        kept.free(&value, &format!("--external {name}"))?;
        placed.free(&value, &format!("--external {name}"))?;
        external(module, value, name, arena)?;
    }
    if let Some(file) = &flags.scratch {
        scratch::write(module, &names, file)?;
    }
    let mut policies = Once::default();
    for flag in &flags.reuse {
        reuse(module, &names, &functions, flag, &mut policies)?;
    }
    if flags.no_reuse {
        for func in &functions {
            no_reuse(module, *func);
        }
    }
    let excluded = if flags.exclude_dynamic { dims::exclude(module, &functions) } else { Vec::new() };
    if !flags.dims.is_empty() {
        // With bounds, values may be larger than what they go to.
        crate::drive::valid(module)?;
    }
    Ok(Applied { excluded })
}

/// Writes what identifies each function's graph, as the checker will see it: after the flags, before any pass. One that is there speaks of the graph that an earlier run
/// started from.
pub fn fingerprint(module: &mut Module) {
    let mut fingerprints = Fingerprints::new(module);
    let unnamed: Vec<OpId> =
        module.functions().into_iter().filter(|func| module.attr(*func, FINGERPRINT).is_none()).collect();
    let found: Vec<(OpId, String)> = unnamed.into_iter().map(|func| (func, fingerprints.of(func))).collect();
    for (func, fingerprint) in found {
        module.set_attr(func, FINGERPRINT, Attr::str(&fingerprint));
    }
}

/// Who owns arguments and results, where the input does not say.
fn owners(module: &mut Module, func: OpId, profile: &Profile) {
    let counts = module.func_types(func).map(|(inputs, results)| (inputs.len(), results.len()));
    let (inputs, results) = counts.unwrap_or_default();
    for index in (0..inputs).filter(|_| profile.arguments != Io::Arena) {
        if module.arg_attr(func, index, IO).is_none() && !module.is_token(module.func_args(func)[index]) {
            module.set_arg_attr(func, index, IO, Some(Attr::str(profile.arguments.as_str())));
        }
    }
    for index in (0..results).filter(|_| profile.results != Io::Arena) {
        if module.result_attr(func, index, IO).is_none() {
            module.set_result_attr(func, index, IO, Some(Attr::str(profile.results.as_str())));
        }
    }
}

fn keep(module: &mut Module, value: ValueId) {
    set(module, value, KEEP, Attr::Unit);
}

/// Sets an attribute where a value is defined. On an operation with several results it means all of them.
fn set(module: &mut Module, value: ValueId, key: &str, attr: Attr) {
    match module.value(value).def() {
        Def::Result(op, _) => module.set_attr(op, key, attr),
        Def::Arg(block, index) => {
            let func = module.region_op(module.block_region(block));
            module.set_arg_attr(func, index as usize, key, Some(attr));
        }
    }
}

fn pin(module: &mut Module, value: ValueId, flag: &PinFlag) {
    let offset = flag.offset as i64;
    let offsets = match module.value(value).def() {
        Def::Arg(..) => vec![offset],
        Def::Result(op, index) => {
            let mut offsets = module.attr(op, PIN).and_then(Attr::as_i64s).unwrap_or_default();
            offsets.resize(module.data_results(op).len(), -1);
            offsets[index as usize] = offset;
            offsets
        }
    };
    let offsets = module.i64s_attr(offsets);
    set(module, value, PIN, offsets);
}

/// The value's name, and the arena that the caller's memory is in: `NAME@ARENA`, where such an arena is declared.
fn in_arena<'n>(module: &Module, name: &'n str) -> (&'n str, Option<&'n str>) {
    let declared = |arena: &str| module.symbol(arena).is_some_and(|op| module.op_name(op) == plan::ARENA);
    match name.rsplit_once('@') {
        Some((name, arena)) if !name.is_empty() && declared(arena) => (name, Some(arena)),
        _ => (name, None),
    }
}

fn external(module: &mut Module, value: ValueId, name: &str, arena: Option<&str>) -> Result<(), Failure> {
    let lies = arena.map(Attr::symbol);
    let mut found = false;
    if let Def::Arg(block, index) = module.value(value).def() {
        let func = module.region_op(module.block_region(block));
        if module.entry(func) == Some(block) && module.functions().contains(&func) {
            module.set_arg_attr(func, index as usize, IO, Some(Attr::str("external")));
            module.set_arg_attr(func, index as usize, plan::EXTERNAL_IN, lies.clone());
            found = true;
        }
    }
    let returns: Vec<(OpId, usize)> = module
        .value(value)
        .uses()
        .iter()
        .filter(|usage| module.op_name(usage.op) == "func.return")
        .filter_map(|usage| Some((module.parent_op(usage.op)?, usage.operand as usize)))
        .collect();
    for (func, index) in returns {
        module.set_result_attr(func, index, IO, Some(Attr::str("external")));
        module.set_result_attr(func, index, plan::EXTERNAL_IN, lies.clone());
        found = true;
    }
    let wrong = || {
        Failure::usage(format!("`--external {name}`: the value is neither an argument nor a result of its function"))
    };
    if found { Ok(()) } else { Err(wrong().help("`--keep` keeps a value in between readable to the end of the run")) }
}

/// The policy of a value, or of the run, which each function then has.
fn reuse(
    module: &mut Module,
    names: &Names,
    functions: &[OpId],
    flag: &ReuseFlag,
    policies: &mut Once<Def>,
) -> Result<(), Failure> {
    let policy = Attr::str(flag.policy);
    match &flag.name {
        Some(name) => {
            let value = names.find(module, "--reuse", name)?;
            // Results of one operation have one policy.
            let made = match module.value(value).def() {
                Def::Result(op, _) => Def::Result(op, 0),
                argument @ Def::Arg(..) => argument,
            };
            policies.take(made, format!("--reuse {name}={}", flag.policy))?;
            set(module, value, REUSE, policy);
        }
        None => functions.iter().for_each(|func| module.set_attr(*func, REUSE, policy.clone())),
    }
    Ok(())
}

/// No value may lie in the bytes of another one, at no time.
fn no_reuse(module: &mut Module, func: OpId) {
    for index in 0..module.func_args(func).len() {
        module.set_arg_attr(func, index, REUSE, Some(Attr::str("never")));
        module.set_arg_attr(func, index, KEEP, Some(Attr::Unit));
    }
    for op in module.walk(func) {
        if !module.data_results(op).is_empty() {
            module.set_attr(op, REUSE, Attr::str("never"));
            module.set_attr(op, KEEP, Attr::Unit);
        }
    }
}

/// Whether passes of an earlier run have changed a function: it carries the fingerprint of another graph.
pub fn is_begun(module: &Module) -> bool {
    let mut fingerprints = Fingerprints::new(module);
    let stamp = |func: OpId| module.attr(func, FINGERPRINT).and_then(Attr::as_str);
    module.functions().into_iter().any(|func| stamp(func).is_some_and(|stamp| stamp != fingerprints.of(func)))
}

/// Whether a module holds a plan already.
pub fn is_planned(module: &Module) -> bool {
    module.functions().iter().any(|func| module.attr(*func, plan::ARENA_BYTES).is_some())
}
