//! Decides where each storage lies in the arena.
//!
//! # Effect
//!
//! Every data result gets `neap.offsets` (bytes from the start of its arena, views and shared storages included, -1 for what takes no arena bytes) and
//! `neap.live`, arguments get `neap.offset`, operations with scratch `neap.scratch_offset`, operations with bodies `neap.arg_offsets`; with declared arenas
//! `neap.arena` says which. The function gets `neap.peak` and `neap.arena_bytes`. No operation moves.
//!
//! # Soundness
//!
//! Two storages whose live ranges share a step share no byte, each starts at a multiple of what all that touch it ask, and fixed offsets are
//! kept: the packing solver's own validator is asked once more before anything is written. What does not fit is an error, told apart by whether it
//! is proved that nothing fits.
//!
//! # Statistics
//!
//! - `storages`: storages that take arena bytes.
//! - `peak`: bytes live at the worst step.
//! - `arena`: bytes from the lowest to the highest, over all arenas.
//! - `arena-lower-bound`: no placement of these storages needs less.
//! - `arena-optimal`: 1 if `arena` is proved to be the least.
//! - `nodes`: effort spent by the solver.

mod misfit;
mod write;

use crate::analysis::Flow;
use crate::analysis::names::{op_name, value_name};
use crate::analysis::pack_problem::{Arena, Packing, arenas_of};
use crate::analysis::timeline::Kind;
use crate::analysis::values::{Home, Sharing};
use crate::pass::{Context, OptionSpec, Pass, PassInfo};
use crate::profile::{Packer, Profile};
use neap_ir::diag::Diagnostic;
use neap_ir::{Module, OpId};
use neap_pack::{Method, Outcome, Proof, Verdict};

/// The line in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "assign-offsets",
    summary: "place every storage in the arena",
    options: &[
        OptionSpec {
            name: "method",
            summary: "auto (the profile's packer, else search), or a method of the packing solver: search, portfolio, first-fit, best-fit, skyline, hill-climb, litert, tflm",
            default: "auto",
        },
        OptionSpec {
            name: "effort",
            summary: "most work of the search, in nodes times storages",
            default: "600000000",
        },
    ],
    build: |options| {
        let effort = options.get(&INFO, "effort")?;
        let method = options.get::<String>(&INFO, "method")?;
        let method = match method.as_str() {
            "auto" => None,
            name => Some(Method::named(name).ok_or_else(|| {
                format!("option `method` of pass `assign-offsets` cannot be `{name}`: auto, {}", Method::NAMES)
            })?),
        };
        Ok(Box::new(AssignOffsets { method, effort }))
    },
};

/// How a profile's runtime packs; `None` where it honours our offsets.
pub fn packer_of(profile: &Profile) -> Option<Method> {
    match profile.packer {
        Packer::Own => None,
        Packer::Litert => Some(Method::LiteRt),
        Packer::Tflm => Some(Method::Tflm),
    }
}

/// Fewer storages get no more nodes than this many do: what a million nodes do not settle stays open.
const FEW: u64 = 1_000;

struct AssignOffsets {
    method: Option<Method>,
    effort: u64,
}

impl Pass for AssignOffsets {
    fn run(&self, module: &mut Module, func: OpId, cx: &mut Context<'_>) -> Result<bool, Diagnostic> {
        planned_callees(module, func, cx)?;
        fresh_views(module, func, cx)?;
        let flow = Flow::new(module, func, cx.facts, cx.profile, Sharing::PLANNED)?;
        let arenas = arenas_of(module, func)?;
        let packing = Packing::new(module, &flow, &arenas, cx.profile)?;
        let method = self.method.or_else(|| packer_of(cx.profile)).unwrap_or(Method::Search);
        let nodes = self.effort / (packing.storages.len() as u64).max(FEW);
        let outcome = pack(&packing, method, nodes, cx.stop);
        if outcome.verdict != Verdict::Fits {
            return Err(misfit::explain(module, &flow, &packing, &arenas, method, &outcome));
        }
        let Some(solution) = &outcome.solution else {
            return Err(Diagnostic::error(module.op(func).span, "the packing solver gave no places"));
        };
        // Quadratic, so for tests: a plan of any size is judged by the checker.
        debug_assert!(packing.storages.len() > 2000 || neap_pack::validate(&packing.problem, solution).is_ok());
        count(cx, &flow, &packing, &outcome);
        unread(module, &flow, cx);
        let arena: u64 = outcome.heights.iter().sum();
        Ok(write::plan(module, &flow, &packing, &arenas, solution, arena))
    }
}

/// Packs with a method.
pub(crate) fn pack(packing: &Packing, method: Method, effort: u64, stop: &dyn Fn() -> bool) -> Outcome {
    let options = neap_pack::Options { method, node_limit: effort, ..neap_pack::Options::default() };
    neap_pack::solve(&packing.problem, &options, &mut |_| stop())
}

fn count(cx: &mut Context<'_>, flow: &Flow<'_>, packing: &Packing, outcome: &Outcome) {
    cx.count("storages", packing.storages.len() as u64);
    cx.count("peak", flow.profile.peak);
    cx.count("arena", outcome.heights.iter().sum());
    cx.count("arena-lower-bound", outcome.lower_bound);
    cx.count("arena-optimal", u64::from(outcome.proof == Proof::Optimal));
    cx.count("nodes", outcome.nodes);
}

/// A view of state holds what the variable held when it was read: no plan can keep that once the variable has been written.
fn fresh_views(module: &Module, func: OpId, cx: &Context<'_>) -> Result<(), Diagnostic> {
    let Some((reader, write, variable)) = crate::lock_effects::stale(module, func, cx) else { return Ok(()) };
    let (read, written) = (op_name(module, reader), op_name(module, write));
    let message = format!("{read} reads a view of @{variable} that {written} has written by then");
    Err(Diagnostic::error(module.op(reader).span, message)
        .help("run `lock-effects` first: it moves the write, or makes a copy of the view"))
}

/// Says which results nobody reads: they hold bytes during their own step all the same.
fn unread(module: &Module, flow: &Flow<'_>, cx: &mut Context<'_>) {
    for (_, entry) in flow.timeline.iter().filter(|(_, entry)| entry.kind == Kind::Step) {
        for value in module.data_results(entry.op) {
            let Some(slot) = flow.values.slot(*value).filter(|_| module.value(*value).uses().is_empty()) else {
                continue;
            };
            let (info, steps) = (flow.values.info(slot), flow.live.of(slot));
            let kept = flow.live.kept[info.owner.index()];
            if info.bytes == 0 || flow.values.home(slot) != Home::Arena || kept {
                continue;
            }
            let (name, op) = (value_name(module, *value), op_name(module, entry.op));
            let steps = format!("[{}, {})", steps.begin, steps.end);
            cx.remark(
                module,
                entry.op,
                format!("{name} is never read: {op} still needs its {} bytes in steps {steps}", info.bytes),
            );
        }
    }
}

/// Functions that run inside this one's arena must have a plan.
fn planned_callees(module: &Module, func: OpId, cx: &Context<'_>) -> Result<(), Diagnostic> {
    if cx.profile.own_arena_per_function {
        return Ok(());
    }
    for op in module.walk(func) {
        let facts = crate::callees::facts_of(module, cx.facts, op);
        if facts.body.callees.is_empty() {
            continue;
        }
        for callee in crate::callees::called_by(module, op, facts).into_iter().flatten() {
            if crate::analysis::scratch::arena_bytes(module, callee).is_none() {
                let name = module.sym_name(callee).unwrap_or("?");
                let message = format!("@{name} runs inside this function's arena and has no plan yet");
                return Err(
                    Diagnostic::error(module.op(op).span, message).help("run `assign-offsets` on the callee first")
                );
            }
        }
    }
    Ok(())
}

/// Names of the arenas as a message lists them.
fn arena_names(arenas: &[Arena]) -> String {
    let name = |arena: &Arena| match arena.capacity {
        Some(bytes) if arena.external > 0 => {
            format!("@{} ({bytes} bytes beside the caller's {})", arena.name, arena.external)
        }
        Some(bytes) => format!("@{} ({bytes} bytes)", arena.name),
        None => format!("@{}", arena.name),
    };
    arenas.iter().map(name).collect::<Vec<_>>().join(", ")
}
