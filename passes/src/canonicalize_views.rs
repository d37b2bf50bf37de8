//! Finds what can share bytes, and writes it down.
//!
//! # Effect
//!
//! - `neap.view` on operations whose results lie inside an operand: reshapes and their kin, transposes that move only unit dimensions,
//!   slices and splits whose elements are consecutive in the operand ([`view`]).
//! - `neap.may_inplace`: results that may overwrite an operand, elementwise and row by row ([`candidates`]), also of fused operations.
//! - `neap.may_place`: operands of a concatenation along its outermost dimension, which may be written straight into the result.
//!
//! Views are decided here; one that would keep a large whole alive for a small part is none where a copy lowers the peak ([`worth`]). The other two are candidates, of which `reorder` takes some. An operation that already has one of these
//! attributes, be it empty, keeps it as it is.
//!
//! # Soundness
//!
//! Facts must permit the sharing, the types must bear it out byte for byte, and the profile must be able to realise it. What decides
//! whether a candidate may be taken in an order (who reads the operand later, whose memory it is) is not asked here.
//!
//! # Statistics
//!
//! - `views`: results that became views.
//! - `in-place`, `placed`: candidates found.
//! - `refused`: what facts permit and something else forbids; each has a remark.

mod candidates;
mod fused;
mod handed;
mod view;
pub(crate) mod window;
mod worth;

use crate::analysis::candidates::{Reuse, policy};
use crate::callees::facts_of;
use crate::pass::{Context, Pass, PassInfo};
use neap_ir::diag::Diagnostic;
use neap_ir::facts::{Facts, OpFacts, Role, Run};
use neap_ir::plan::{self, View};
use neap_ir::{Attr, Module, OpId, ValueId};
use rustc_hash::FxHashSet;

/// The line in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "canonicalize-views",
    summary: "find views, in-place candidates and parts that may be written straight into a whole",
    options: &[],
    build: |_| Ok(Box::new(CanonicalizeViews)),
};

struct CanonicalizeViews;

impl Pass for CanonicalizeViews {
    fn run(&self, module: &mut Module, func: OpId, cx: &mut Context<'_>) -> Result<bool, Diagnostic> {
        let before = module.changes();
        let ops = operations(module, cx.facts, func);
        let returned = returned(module, func);
        let fresh: Vec<OpId> = ops.iter().copied().filter(|op| module.attr(*op, plan::VIEW).is_none()).collect();
        for op in &ops {
            views(module, *op, &returned, cx)?;
        }
        worth::give_up(module, func, &ops, &fresh, cx);
        cx.count("views", fresh.iter().map(|op| module.views(*op).len() as u64).sum());
        for op in &ops {
            candidates::in_place(module, *op, &returned, cx);
            candidates::placement(module, *op, &returned, cx);
        }
        Ok(module.changes() != before)
    }
}

/// The operations that take steps: not those inside of kernels.
fn operations(module: &Module, facts: &Facts, func: OpId) -> Vec<OpId> {
    let mut inside: FxHashSet<OpId> = FxHashSet::default();
    let mut found = Vec::new();
    for op in module.walk(func) {
        let kernel = facts_of(module, facts, op).body.run == Run::Kernel;
        let within = module.parent_op(op).is_some_and(|around| inside.contains(&around));
        if kernel || within {
            inside.insert(op);
        }
        if !within {
            found.push(op);
        }
    }
    found
}

/// What the function hands out.
struct Returned {
    values: FxHashSet<ValueId>,
    /// Those that lie in the caller's memory.
    external: FxHashSet<ValueId>,
}

fn returned(module: &Module, func: OpId) -> Returned {
    let terminator = module.entry(func).and_then(|block| module.terminator(block));
    let values: Vec<ValueId> = terminator.into_iter().flat_map(|op| module.data_operands(op)).collect();
    let external =
        |index: &usize| module.result_attr(func, *index, plan::IO).and_then(Attr::as_str) == Some("external");
    let external = (0..values.len()).filter(external).map(|index| values[index]).collect();
    Returned { values: values.into_iter().collect(), external }
}

/// Why facts' permission is not used, as the end of a sentence.
pub(crate) type Refusal = String;

/// Declares the results of an operation that are views.
fn views(module: &mut Module, op: OpId, returned: &Returned, cx: &mut Context<'_>) -> Result<(), Diagnostic> {
    let row = facts_of(module, cx.facts, op);
    if row.views.is_empty() || module.attr(op, plan::VIEW).is_some() {
        return Ok(());
    }
    let mut found = Vec::new();
    for (index, result) in module.data_results(op).to_vec().into_iter().enumerate() {
        let Some(operand) = row.view_operand(index) else { continue };
        let must = row.views.iter().any(|view| view.must && view.results.contains(index));
        let permitted = if must { Ok(()) } else { permitted(module, op, result, operand, returned, cx) };
        let placed = permitted.and_then(|()| view::byte_offset(module, cx.facts, op, row, index, operand));
        match placed.and_then(|at| handed::on(module, cx.facts, op, (result, operand), at).map(|()| at)) {
            Ok(byte_offset) => found.push(View { result: index as u32, operand: operand as u32, byte_offset }),
            Err(why) if must => return Err(windowed(module, op, &why)),
            Err(why) => refuse(module, op, &format!("is no view: {why}"), cx),
        }
    }
    module.set_views(op, &found);
    Ok(())
}

/// Whether the profile and the user allow result `result` to be a view of an operand.
fn permitted(
    module: &Module,
    op: OpId,
    result: ValueId,
    operand: usize,
    returned: &Returned,
    cx: &Context<'_>,
) -> Result<(), Refusal> {
    let profile = cx.profile;
    let operand = module.data_operand(op, operand).ok_or("it lacks the operand")?;
    let argument = module.defining_op(operand).is_none();
    let resident =
        module.defining_op(operand).is_some_and(|from| facts_of(module, cx.facts, from).role == Role::Constant);
    match () {
        () if !profile.views.contains(module.op_name(op)) => Err(format!("{} copies here", profile.title)),
        () if never(module, op) => Err("`neap.reuse` is \"never\"".to_owned()),
        () if asked(module, op) => Err("its place or class is given".to_owned()),
        () if returned.external.contains(&result) => Err("the result lies in the caller's memory".to_owned()),
        () if returned.values.contains(&result) && resident => {
            Err("a result of the function cannot be a constant".to_owned())
        }
        () if !profile.share_results && (returned.values.contains(&result) || returned.values.contains(&operand)) => {
            Err(format!("{} keeps the function's results apart", profile.title))
        }
        () if !profile.share_arguments && argument => {
            Err(format!("{} keeps the function's arguments apart", profile.title))
        }
        () => Ok(()),
    }
}

fn never(module: &Module, op: OpId) -> bool {
    policy(module, op) == Reuse::Never
}

/// Whether the user says where results lie, or counts them.
fn asked(module: &Module, op: OpId) -> bool {
    ["neap.pin", "neap.class"].iter().any(|key| module.attr(op, key).is_some())
}

fn refuse(module: &Module, op: OpId, what: &str, cx: &mut Context<'_>) {
    cx.count("refused", 1);
    cx.remark(module, op, format!("`{}` {what}", module.op_name(op)));
}

/// A window of a buffer is no buffer of its own, whatever happens: if it cannot be described, nothing can be planned.
fn windowed(module: &Module, op: OpId, why: &str) -> Diagnostic {
    let message = format!("`{}` is a window of its operand that cannot be described: {why}", module.op_name(op));
    Diagnostic::error(module.op(op).span, message)
        .help("give its place with `neap.view = [{result, operand, byte_offset}]`")
}

/// What a row permits, for those that look at one result.
fn row_of<'a>(module: &Module, cx: &Context<'a>, op: OpId) -> &'a OpFacts {
    facts_of(module, cx.facts, op)
}
