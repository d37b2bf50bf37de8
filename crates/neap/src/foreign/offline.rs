//! Offsets that a TFLite file holds for TFLite Micro, judged by what the tensors' bytes hold when the operators run in the file's order.
//!
//! The runtime reads the list whatever else is asked, so its profile says which kernels may write over an operand. What the list leaves to the
//! runtime lies apart from all else: there is always room behind. Subgraphs are judged one by one; that they keep out of each other's
//! way is looked at by the reader of the list.

use super::{Graph, Place, Places, with_candidates};
use crate::apply;
use crate::cli::SourceFlags;
use crate::drive::Setup;
use crate::exit::{Exit, Failure};
use crate::input::Input;
use neap_emit::tflite::{Head, read_offsets};
use neap_ir::facts::{Facts, Role};
use neap_ir::plan::IO;
use neap_ir::{Attr, Module, OpId, ValueId};
use neap_passes::callees::facts_of;
use neap_passes::pipeline::Run;
use neap_passes::profile::Profile;

/// The profile of the runtime that reads such lists.
const RUNTIME: &str = "tflm";
/// Bytes to which values are aligned that lie behind the list's.
const APART: u64 = 64;

/// What the tensors with an offset need; none if the file gives none.
///
/// # Errors
/// What is wrong with the list, or which bytes are overwritten while they are needed.
pub(crate) fn judged(input: &Input, flags: &SourceFlags, setup: &Setup) -> Result<Option<Head>, Failure> {
    let mut source = input.module(&flags.dims)?;
    let refused = |errors| Failure::new(Exit::Input, errors);
    let Some(offline) = read_offsets(&input.bytes, &source).map_err(refused)? else { return Ok(None) };
    let runtime = Profile::builtin(RUNTIME).filter(|_| Profile::builtin(&setup.name).is_some());
    let profile = runtime.as_ref().unwrap_or(&setup.profile);
    apply::apply(&mut source, flags, profile, &setup.facts)?;
    let run = Run { facts: &setup.facts, profile, stop: &|| false, verify_each: true };
    let mut planned = with_candidates(&source, run, Graph::Given)?;
    let mut places = Places::default();
    for (value, offset) in &offline.values {
        if let Some(offset) = *offset {
            places.values.insert(*value, Place { offset, arena: None });
        }
    }
    elsewhere(&source, &setup.facts, &mut places, offline.head.bytes);
    places.write(&source, &mut planned);
    let options = neap_check::Options {
        callees_have_arenas: true,
        ignore_fingerprint: true,
        offsets_only: true,
        ..neap_check::Options::default()
    };
    let report = neap_check::check(&source, &planned, &setup.facts, &options);
    if report.accepted() { Ok(Some(offline.head)) } else { Err(refused(report.diagnostics())) }
}

/// Room of their own for values that the list places nowhere.
fn elsewhere(module: &Module, facts: &Facts, places: &mut Places, mut end: u64) {
    let mut left: Vec<ValueId> = Vec::new();
    for func in module.functions() {
        for (index, arg) in module.func_args(func).iter().enumerate() {
            if module.arg_attr(func, index, IO).and_then(Attr::as_str) != Some("external") {
                left.push(*arg);
            }
        }
        let ops = module.walk(func).into_iter().filter(|op| takes_bytes(module, facts, *op));
        left.extend(ops.flat_map(|op| module.data_results(op)));
    }
    left.retain(|value| !places.values.contains_key(value));
    for value in left {
        let start = end.checked_next_multiple_of(APART).unwrap_or(end);
        places.values.insert(value, Place { offset: i64::try_from(start).unwrap_or(i64::MAX), arena: None });
        end = start.saturating_add(module.value_bytes(value).unwrap_or(0));
    }
}

/// Whether results of an operation may lie in the arena: constants, names of state and views of it do not.
fn takes_bytes(module: &Module, facts: &Facts, op: OpId) -> bool {
    let role = facts_of(module, facts, op).role;
    let resident = module.attr(op, "neap.resident").is_some() || module.attr(op, "alias").is_some();
    !matches!(role, Role::Constant | Role::Handle) && !resident
}
