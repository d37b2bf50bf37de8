//! What would help where a plan does not keep its budget: each thing with what it brings and what it costs.
//!
//! What can be computed is: values computed again by making that plan, lock edges and kept values by asking the ordering solver without them, flags
//! by planning without them, another arena by packing both once more. Splitting an operation into tiles and smaller elements would be another
//! model: of these there are estimates, which say so. A time limit ends all of it.

mod arenas;
mod estimates;
mod room;

use crate::cli::{Common, SourceFlags};
use crate::demands::Unmet;
use crate::drive::{self, Job, Reproducer, Tried};
use crate::prices;
use crate::progress::Progress;
use crate::size::grouped;
use crate::summary::{Answer, Function, Help, HelpKind, Kind, Missed, Recomputing, Summary};
use neap_ir::Module;
use neap_passes::pipeline::{Pipeline, Step};
use neap_passes::priced::{self, Priced};

pub use room::{add as room, limited};

/// So many of a kind are named at most.
const MOST: usize = 6;
/// So many arguments and results are tried in the caller's memory.
const MOST_OUTSIDE: usize = 3;
const AGAIN: &str = "rematerialize";
const ORDER: &str = "reorder";

/// Says what would help with every demand that is not met, in its message and in the summary. `module` is what was planned, as it was before.
pub fn add(job: &Job<'_>, module: &Module, tried: &mut Tried, progress: &Progress<'_>) {
    let Some(summary) = tried.planned.summary.clone() else { return };
    let whole = tried.unmet.iter().any(|unmet| unmet.arena.is_none());
    let again = whole.then(|| recomputed(job, module, &summary, progress)).flatten();
    let prices = priced(job, module, tried, progress);
    let flags = flags(job, module, &summary, progress);
    let shared = shared(job, module, progress);
    progress.clear();
    let mut missed = Vec::new();
    for unmet in &mut tried.unmet {
        let Some(function) = summary.functions.iter().find(|function| function.name == unmet.function) else {
            continue;
        };
        let twin = |other: &Summary| other.functions.iter().find(|other| other.name == function.name).cloned();
        let mut helps = Vec::new();
        if unmet.arena.is_none() {
            let again = again.as_ref().and_then(twin);
            if let Some((again, found)) = again.as_ref().and_then(|twin| Some((twin, twin.recomputed.as_ref()?))) {
                unmet.diagnostic.notes.extend(told(unmet, again, found));
                helps.extend(values(unmet, again, found));
            }
            helps.extend(demands(unmet, function, &prices));
            helps.extend(shared.as_ref().and_then(twin).and_then(|twin| reuse(unmet, &twin)));
            helps.extend(outside(job, module, function, unmet, progress));
            helps.extend(flags.as_ref().and_then(twin).iter().flat_map(|twin| without(unmet, twin)));
        } else {
            helps.extend(arenas::other(unmet, function));
        }
        helps.extend(estimates::of(job, &tried.planned.module, function, unmet));
        helps.retain(|help| help.saves > 0);
        unmet.diagnostic.notes.extend(helps.iter().filter(|help| help.kind != HelpKind::Recompute).map(note));
        missed.push(Missed {
            function: unmet.function.clone(),
            arena: unmet.arena.clone(),
            budget: unmet.budget,
            needed: unmet.needed,
            floor: unmet.floor,
            missing: unmet.needed.saturating_sub(unmet.budget),
            answer: if unmet.floor > unmet.budget { Answer::Cannot } else { Answer::NotFound },
            helps,
        });
    }
    if let Some(summary) = &mut tried.planned.summary {
        summary.missed = missed;
    }
}

/// The plan with values computed again, if there is one: the one at hand where it was asked for.
fn recomputed(job: &Job<'_>, module: &Module, summary: &Summary, progress: &Progress<'_>) -> Option<Summary> {
    let has = |name: &str| job.pipeline.steps().any(|step| step.info().name == name);
    if has(AGAIN) {
        return Some(summary.clone());
    }
    if !has(ORDER) || !job.setup.profile.recomputes || progress.limit_hit() {
        return None;
    }
    progress.label("what computing values again would bring".to_owned());
    let pipeline = with_copies(job.pipeline)?;
    once_more(job, job.common.clone(), &pipeline, module, progress)?.planned.summary
}

/// The passes with one that computes values again before each that orders.
fn with_copies(pipeline: &Pipeline) -> Option<Pipeline> {
    let copies = Step::parse(AGAIN, "").ok()?;
    let group = |group: &Vec<Step>| {
        let before = |step: &Step| if step.info().name == ORDER { copies.clone() } else { Vec::new() };
        group.iter().flat_map(|step| before(step).into_iter().chain([step.clone()])).collect()
    };
    Some(Pipeline { groups: pipeline.groups.iter().map(group).collect() })
}

/// A run for its figures alone.
fn once_more(
    job: &Job<'_>,
    common: Common,
    pipeline: &Pipeline,
    module: &Module,
    progress: &Progress<'_>,
) -> Option<Tried> {
    let common = Common { no_check: true, trace_steps: false, timing: false, statistics: false, ..common };
    let job = Job { common: &common, pipeline, reproducer: Reproducer::Never, draw: false, ..*job };
    drive::tried(&job, module.clone(), progress).ok().filter(|_| !progress.limit_hit())
}

/// What lock edges and kept values cost at the peak. Where nothing is reused, that says all.
fn priced(job: &Job<'_>, module: &Module, tried: &Tried, progress: &Progress<'_>) -> Vec<Priced> {
    if job.common.source.no_reuse {
        return Vec::new();
    }
    if job.common.remarks || progress.limit_hit() {
        return tried.planned.prices.clone();
    }
    progress.label("what lock edges and kept values cost".to_owned());
    let common = Common { remarks: true, ..job.common.clone() };
    once_more(job, common, job.pipeline, module, progress).map_or(Vec::new(), |tried| tried.planned.prices)
}

/// The summary with the prices of the flags that hold bytes.
fn flags(job: &Job<'_>, module: &Module, summary: &Summary, progress: &Progress<'_>) -> Option<Summary> {
    let flags = &job.common.source;
    if (flags.keep.is_empty() && flags.pins.is_empty() && flags.external.is_empty()) || progress.limit_hit() {
        return None;
    }
    let mut priced = summary.clone();
    prices::add(job, module, &mut priced, progress).ok()?;
    Some(priced)
}

/// The plan in which values share bytes, where that was forbidden.
fn shared(job: &Job<'_>, module: &Module, progress: &Progress<'_>) -> Option<Summary> {
    if !job.common.source.no_reuse || progress.limit_hit() {
        return None;
    }
    progress.label("what --no-reuse costs".to_owned());
    let source = SourceFlags { no_reuse: false, ..job.common.source.clone() };
    once_more(job, Common { source, ..job.common.clone() }, job.pipeline, module, progress)?.planned.summary
}

/// What it is worth that values share bytes.
fn reuse(unmet: &Unmet, shared: &Function) -> Option<Help> {
    let needs = shared.plan.arena;
    let saves = unmet.needed.checked_sub(needs).filter(|saves| *saves > 0)?;
    Some(flag("give up --no-reuse".to_owned(), saves, needs, unmet))
}

/// Arguments and results that are held at the peak, in the caller's own memory: each by planning without it.
fn outside(job: &Job<'_>, module: &Module, function: &Function, unmet: &Unmet, progress: &Progress<'_>) -> Vec<Help> {
    let held = function.peak_step.iter().flat_map(|peak| &peak.storages).map(|id| &function.storages[*id as usize]);
    let lent = held.filter(|storage| matches!(storage.kind, Kind::Argument | Kind::Result));
    let mut helps = Vec::new();
    for name in lent.filter_map(|storage| storage.names.first().or(storage.values.first())).take(MOST_OUTSIDE) {
        if progress.limit_hit() {
            break;
        }
        progress.label(format!("what {name} in the caller's memory would bring"));
        let mut source = job.common.source.clone();
        source.external.push(name.clone());
        let common = Common { source, ..job.common.clone() };
        let other = once_more(job, common, job.pipeline, module, progress).and_then(|tried| tried.planned.summary);
        let twin = other.and_then(|other| other.functions.into_iter().find(|other| other.name == function.name));
        let Some(needs) = twin.map(|twin| twin.plan.arena) else { continue };
        if let Some(saves) = unmet.needed.checked_sub(needs).filter(|saves| *saves > 0) {
            let what = format!("leave {name} to the caller with `--external {name}`");
            helps.push(Help { kind: HelpKind::External, ..flag(what, saves, needs, unmet) });
        }
    }
    helps
}

/// A flag that could be left out.
fn flag(what: String, saves: u64, needs: u64, unmet: &Unmet) -> Help {
    let fits = needs <= unmet.budget;
    Help { kind: HelpKind::Flag, what, saves, needs, fits, price: None, unit: None, estimate: false }
}

/// All values that are worth it together, in words.
fn told(unmet: &Unmet, again: &Function, found: &Recomputing) -> Vec<String> {
    let own = |bytes: u64| grouped(bytes.into());
    let alone = format!("{} holds {} B by itself, whatever is computed again", found.floor_op, own(found.floor));
    let price = price(found);
    let least = again.plan.arena;
    vec![match (found.values.is_empty(), least <= unmet.budget) {
        (true, _) if found.floor > unmet.budget => format!("computing values again does not help: {alone}"),
        (true, _) => {
            "computing values again does not help: to make again what waits at the peak takes as many bytes, as far as was tried"
                .to_owned()
        }
        (false, true) => format!("computing values again fits: {} B with `--rematerialize`, for {price}", own(least)),
        (false, false) => {
            let why = if found.floor > unmet.budget { format!("; {alone}") } else { String::new() };
            format!("computing values again does not reach it: the least found is {} B, for {price}{why}", own(least))
        }
    }]
}

fn price(found: &Recomputing) -> String {
    let share = found.extra as f64 / found.work.max(1) as f64 * 100.0;
    format!("{} {} more ({share:.1} %)", grouped(found.extra.into()), found.unit)
}

/// The same as data, all together and one by one.
fn values(unmet: &Unmet, again: &Function, found: &Recomputing) -> Vec<Help> {
    if found.values.is_empty() {
        return Vec::new();
    }
    let help = |kind, what, saves, needs: u64, price| Help {
        kind,
        what,
        saves,
        needs,
        fits: needs <= unmet.budget,
        price: Some(price),
        unit: Some(found.unit.to_owned()),
        estimate: false,
    };
    let names: Vec<&str> = found.values.iter().map(|value| value.value.as_str()).collect();
    let (least, all) = (again.plan.arena, format!("compute again: {}", names.join(", ")));
    let mut helps = vec![help(HelpKind::Recompute, all, unmet.needed.saturating_sub(least), least, found.extra)];
    helps.extend(found.values.iter().take(MOST).map(|value| {
        let what = format!("{} ({} B) again before {}", value.value, grouped(value.bytes.into()), value.reader);
        help(HelpKind::RecomputeValue, what, value.before.saturating_sub(value.after), value.after, value.extra)
    }));
    helps
}

/// Lock edges and kept values, those that cost most first.
fn demands(unmet: &Unmet, function: &Function, prices: &[Priced]) -> Vec<Help> {
    let mut own: Vec<&Priced> = prices.iter().filter(|price| price.function == function.name).collect();
    own.sort_by_key(|price| std::cmp::Reverse(price.bytes));
    let help = |price: &&Priced| Help {
        kind: if price.kind == priced::Kind::Lock { HelpKind::Lock } else { HelpKind::Kept },
        what: format!("give up {}", price.what.replace('`', "")),
        saves: price.bytes,
        needs: price.peak,
        fits: price.peak <= unmet.budget,
        price: None,
        unit: None,
        estimate: false,
    };
    own.iter().take(MOST).map(help).collect()
}

/// Flags that hold bytes.
fn without(unmet: &Unmet, priced: &Function) -> Vec<Help> {
    let worth = priced.prices.iter().filter_map(|price| Some((price, u64::try_from(price.bytes).ok()?)));
    let help = |(price, saves): (&crate::summary::Price, u64)| {
        let what = format!("give up --{} {}", price.flag, price.value);
        flag(what, saves, unmet.needed.saturating_sub(saves), unmet)
    };
    worth.filter(|(_, saves)| *saves > 0).take(MOST).map(help).collect()
}

/// One thing in words.
fn note(help: &Help) -> String {
    let own = |bytes: u64| grouped(bytes.into());
    let about = if help.estimate { "estimate: " } else { "would help: " };
    let price = match (&help.price, &help.unit) {
        (Some(price), Some(unit)) => format!(" for {} {unit}", own(*price)),
        _ => String::new(),
    };
    let fits = if help.fits { ", which fits" } else { "" };
    if matches!(help.kind, HelpKind::Kept | HelpKind::Lock) {
        // Priced by the order alone: what else it would allow is not looked for.
        return format!(
            "{about}{}: at least {} B less, at most {} B then{fits}",
            help.what,
            own(help.saves),
            own(help.needs)
        );
    }
    format!("{about}{}: {} B less{price}, {} B then{fits}", help.what, own(help.saves), own(help.needs))
}
