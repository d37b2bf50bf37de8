//! Budgets: how many bytes the plan may take at most. Not met is exit code 3, and says whether it can be met at all: an order fits but its offsets do
//! not, no order can (by a proof that names what must coexist), or neither is known.
//!
//! A budget of the whole is told to the ordering pass, whose search ends where it is settled.

use crate::cli::{Budget, Common};
use crate::drive::Setup;
use crate::exit::Failure;
use crate::size::grouped;
use crate::summary::{Function, ProofBy, Summary};
use neap_ir::diag::{Diagnostic, Severity};
use neap_ir::{Module, Span, ValueId};
use neap_passes::analysis::names::{op_name, value_name};
use neap_passes::assign_offsets::packer_of;
use neap_passes::certificate::Certificate;
use neap_passes::pass::Options;
use neap_passes::pipeline::{PassReport, Pipeline, Step};
use neap_passes::profile::Packer;
use neap_passes::suggest::closest;

/// So many values are named at most; the others are counted.
const MOST_NAMED: usize = 8;

/// The least budget of a whole function.
pub fn total(budgets: &[Budget]) -> Option<u64> {
    budgets.iter().filter(|budget| budget.arena.is_none()).map(|budget| budget.bytes).min()
}

/// The pipeline, with what the flags ask of its passes. The search for an order ends at the budget if it is `early`.
pub fn asked(pipeline: &Pipeline, common: &Common, early: bool) -> Pipeline {
    let budget = total(&common.budgets);
    let step = |step: &Step| {
        let orders = step.info().name == "reorder";
        if !orders && step.info().name != "rematerialize" {
            return step.clone();
        }
        let mut options: Options = step.options().clone();
        let budget = budget.filter(|_| early || !orders).map(|budget| ("budget", budget.to_string()));
        let prices = (orders && common.remarks).then(|| ("prices", "true".to_owned()));
        for (name, value) in budget.into_iter().chain(prices) {
            // What the pipeline says itself stands.
            options.0.entry(name.to_owned()).or_insert(value);
        }
        Step::new(step.info(), options).unwrap_or_else(|_| step.clone())
    };
    Pipeline { groups: pipeline.groups.iter().map(|group| group.iter().map(step).collect()).collect() }
}

/// Warns of a method of packing that is not the runtime's, where that places everything by itself.
pub fn not_heeded(pipeline: &Pipeline, setup: &Setup) -> Option<Diagnostic> {
    let own = packer_of(&setup.profile)?.to_string();
    let named = pipeline.steps().filter(|step| step.info().name == "assign-offsets").find_map(|step| {
        let method = step.options().0.get("method")?;
        (*method != own && method != "auto").then_some(method)
    })?;
    let message = format!(
        "`assign-offsets{{method={named}}}`: with profile `{}` the runtime places everything by itself, by the method `{own}`, and needs another \
         arena than this one",
        setup.name
    );
    let help = "leave `method` out to have the runtime's figure; --profile tflm is one of a runtime that takes offsets";
    Some(Diagnostic::new(Severity::Warning, Span::default(), message).help(help))
}

/// Whether a search ended at the budget of the whole though its plan does not keep it.
pub fn ended_early(budgets: &[Budget], summary: Option<&Summary>) -> bool {
    let (Some(budget), Some(summary)) = (total(budgets), summary) else { return false };
    summary.functions.iter().any(|function| function.plan.peak <= budget && budget < function.plan.arena)
}

/// A budget that a function does not keep.
pub struct Unmet {
    /// The function, without `@`.
    pub function: String,
    /// The arena, where the budget is one arena's.
    pub arena: Option<String>,
    /// Bytes that are there.
    pub budget: u64,
    /// Bytes that the plan takes.
    pub needed: u64,
    /// Bytes that every plan of the graph takes, as far as is known.
    pub floor: u64,
    /// What is needed, what is there, and what to try.
    pub diagnostic: Diagnostic,
}

/// The budgets that are not kept.
///
/// # Errors
/// There is no plan, or no arena of the name.
pub fn unmet(
    budgets: &[Budget],
    summary: Option<&Summary>,
    planned: &Module,
    reports: &[PassReport],
    packer: Packer,
) -> Result<Vec<Unmet>, Failure> {
    let mut unmet: Vec<Unmet> = Vec::new();
    for budget in budgets {
        let Some(summary) = summary else {
            return Err(Failure::usage("`--budget` needs a plan, and the pipeline makes none")
                .help("add `assign-offsets` to it"));
        };
        for function in &summary.functions {
            let mut certificates = reports.iter().rev().flat_map(|report| &report.certificates);
            let certificate = certificates.find(|certificate| certificate.function == function.name);
            unmet.extend(exceeded(budget, function, planned, certificate, packer)?);
        }
    }
    Ok(unmet)
}

/// Refuses budgets of arenas that the module does not declare; without a declaration there is one, called `arena`.
///
/// # Errors
/// There is no arena of the name.
pub fn known(budgets: &[Budget], module: &Module) -> Result<(), Failure> {
    let declared = module.block_ops(module.body()).filter(|op| module.op_name(*op) == "neap.arena");
    let mut names: Vec<&str> = declared.filter_map(|op| module.sym_name(op)).collect();
    if names.is_empty() {
        names.push("arena");
    }
    let asked = budgets.iter().filter_map(|budget| budget.arena.as_deref());
    match asked.into_iter().find(|name| !names.contains(name)) {
        Some(name) => Err(unknown(name, &names)),
        None => Ok(()),
    }
}

fn exceeded(
    budget: &Budget,
    function: &Function,
    planned: &Module,
    certificate: Option<&Certificate>,
    packer: Packer,
) -> Result<Option<Unmet>, Failure> {
    let plan = &function.plan;
    let (what, needed, floor) = match &budget.arena {
        None => ("the arena".to_owned(), plan.arena, plan.lower_bound),
        Some(name) => {
            let Some(arena) = function.arenas.iter().find(|arena| arena.name == *name) else {
                let names: Vec<&str> = function.arenas.iter().map(|arena| arena.name.as_str()).collect();
                return Err(unknown(name, &names));
            };
            // A bound on one of several arenas says nothing: what does not fit could lie in another one.
            (format!("arena @{name}"), arena.used, if function.arenas.len() == 1 { plan.lower_bound } else { 0 })
        }
    };
    if needed <= budget.bytes {
        return Ok(None);
    }
    let unmet = |diagnostic: Diagnostic| {
        let (function, arena, budget) = (function.name.clone(), budget.arena.clone(), budget.bytes);
        Ok(Some(Unmet { function, arena, budget, needed, floor, diagnostic }))
    };
    let have = grouped(budget.bytes.into());
    if floor > budget.bytes {
        let message = format!(
            "@{}: no plan can fit: floor {floor} > {} bytes available (short by {})",
            function.name,
            budget.bytes,
            floor - budget.bytes,
        );
        let diagnostic = Diagnostic::error(Span::default(), message);
        return unmet(match certificate.filter(|proof| proof.bound > budget.bytes && !proof.held.is_empty()) {
            Some(proof) => {
                let step = function.peak_step.as_ref();
                let step = step.map(|peak| format!("in this plan most is held at step {}, {}", peak.step, peak.op));
                let mut diagnostic = certified(diagnostic, planned, proof);
                diagnostic.notes.extend(step);
                diagnostic
            }
            None => held(diagnostic.note(proved(function)), function),
        });
    }
    let over = grouped((needed - budget.bytes).into());
    let message = format!(
        "@{}: {what} needs {} B, the budget is {have} B: {over} B too many",
        function.name,
        grouped(needed.into())
    );
    let diagnostic = Diagnostic::error(Span::default(), message).note(format!(
        "not found: the floor is {} B, {} B below this plan, so a better plan may exist",
        grouped(floor.into()),
        grouped(needed.saturating_sub(floor).into())
    ));
    if plan.peak <= budget.bytes && budget.arena.is_none() {
        let lost = format!(
            "an order fits, with a peak of {} B: what is lost between storages does not",
            grouped(plan.peak.into())
        );
        let help = match packer {
            Packer::Own => "give the search for offsets more work: assign-offsets{effort=N} in --pass-pipeline",
            // No search of ours decides what that loses.
            Packer::Litert | Packer::Tflm => {
                "the runtime's own packer loses them: only offsets of ours do better, where a runtime takes them, as with --profile tflm"
            }
        };
        return unmet(diagnostic.note(lost).help(help));
    }
    unmet(
        held(diagnostic, function)
            .help("search longer: reorder{effort=N} in --pass-pipeline; or leave arguments to the caller: --external"),
    )
}

/// What a function takes that was planned for a freer target, where that is less.
pub fn freer(unmet: &Unmet, twin: &Function, profile: &str) -> Option<String> {
    let needs = match &unmet.arena {
        Some(name) => twin.arenas.iter().find(|arena| arena.name == *name)?.used,
        None => twin.plan.arena,
    };
    let less = unmet.needed.checked_sub(needs).filter(|less| *less > 0)?;
    let fits = if needs <= unmet.budget { ", which fits" } else { "" };
    Some(format!(
        "a target where every kind of sharing is possible, `--profile {profile}`: {} B less, {} B then{fits}",
        grouped(less.into()),
        grouped(needs.into())
    ))
}

/// What a flow says must coexist.
fn certified(diagnostic: Diagnostic, module: &Module, proof: &Certificate) -> Diagnostic {
    let mut held = proof.held.clone();
    held.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    let left = held.len().saturating_sub(MOST_NAMED);
    let name = |(value, bytes): &(ValueId, u64)| format!("{} {bytes}", value_name(module, *value));
    let mut named: Vec<String> = held.iter().take(MOST_NAMED).map(name).collect();
    named.extend((left > 0).then(|| format!("{left} more")));
    let sum = held.iter().map(|(_, bytes)| *bytes).fold(0, u64::saturating_add);
    let rest = proof.bound.saturating_sub(sum);
    named.extend((rest > 0).then(|| format!("and of the others {rest} bytes at least, whichever the order")));
    diagnostic
        .note(format!(
            "proved infeasible (certified): in every order of the planned graph {} runs while these are held: {}",
            op_name(module, proof.op),
            named.join(", ")
        ))
        .help("make one of them smaller, split the operation, or leave arguments to the caller with `--external`")
}

fn proved(function: &Function) -> String {
    let by = match function.plan.proof_by {
        Some(ProofBy::Tree) => " (the graph is a tree)",
        Some(ProofBy::Flow) => " (certified)",
        Some(ProofBy::Search) | None => " (by search)",
    };
    format!(
        "proved infeasible{by}: no order of the planned graph needs less than {} B",
        grouped(function.plan.lower_bound.into())
    )
}

/// What stands at the peak, and what to try.
fn held(diagnostic: Diagnostic, function: &Function) -> Diagnostic {
    let Some(peak) = &function.peak_step else { return diagnostic };
    let largest = peak.storages.iter().take(MOST_NAMED).filter_map(|id| function.storages.get(*id as usize));
    let named: Vec<String> = largest
        .map(|storage| format!("{} ({} B)", storage.names.first().unwrap_or(&storage.op), grouped(storage.size.into())))
        .collect();
    let diagnostic = diagnostic.note(format!("at the peak, step {} ({}): {}", peak.step, peak.op, named.join(", ")));
    diagnostic.help("lower the resolution or the batch, split the op at the peak, or leave arguments to the caller with `--external`")
}

fn unknown(name: &str, names: &[&str]) -> Failure {
    let failure = Failure::usage(format!("`--budget @{name}`: there is no arena of this name"));
    match closest(name, names.iter().copied()) {
        Some(close) => failure.help(format!("did you mean `@{close}`?")),
        None => failure.help(format!("there are: @{}", names.join(", @"))),
    }
}
