//! `neap plan a b --share-arena`: several models in one arena.
//!
//! Models that run one after the other use the same bytes: the arena is that of the largest. With `--concurrent N` up to N of them run at
//! the same time, each in a slot of its own, and the slots are the N largest arenas, so that any N of them find one each: the j-th largest of any choice is at
//! most the j-th largest of all. One model alone with `--concurrent N` is N instances of it. State is each instance's own, always; constants of a
//! file are there once, however many instances read them.
//!
//! What is planned and checked is each model alone; a plan holds wherever its slot begins, since slots begin at multiples of the base alignment.

use crate::buckets;
use crate::cli::{Common, DimFlag, Plan, PrintIr, SummaryKind};
use crate::drive::{self, Job, Planned, Reproducer, Setup};
use crate::exit::{Exit, Failure};
use crate::input::Input;
use crate::outputs::{self, Output, Reads};
use crate::progress::Progress;
use crate::report::{self, Source};
use crate::size::grouped;
use crate::streams::Streams;
use crate::summary::{self, Look, Need, Summary};
use crate::verbs::plan;
use crate::weights;
use crate::writers::{self, Writer};
use neap_ir::diag::Diagnostic;
use neap_ir::print::PrintOptions;
use neap_ir::{Module, Span};
use neap_passes::pipeline::Pipeline;
use serde::Serialize;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Several models in one arena.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Together {
    /// Of this object.
    pub version: u32,
    /// Version of neap.
    pub neap: &'static str,
    /// How many models run at the same time.
    pub concurrent: u64,
    /// The arena and what else is there for the whole time.
    pub plan: Joint,
    /// Where the arenas of models that run at the same time begin, largest first; any model takes any slot that it fits into. Of several
    /// arenas, each has its own.
    pub slots: Vec<Slot>,
    /// In the order of the command line.
    pub models: Vec<Model>,
    /// The plan of each file alone.
    pub summaries: Vec<Summary>,
}

/// What all models need together.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Joint {
    /// Bytes that models share; of several arenas, all together.
    pub arena: u64,
    /// Of several arenas each; then the slots are there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arenas: Vec<Shared>,
    /// Bytes of state, of every instance its own.
    pub state: u64,
    /// Arena and state.
    pub total: u64,
    /// Bytes of constants, those of a file once.
    pub constants: u64,
    /// What the base of the arena has to be a multiple of.
    pub base_align: u64,
}

/// One of several arenas that models share.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Shared {
    /// Without `@`.
    pub name: String,
    /// Bytes of it.
    pub bytes: u64,
    /// As of the whole where there is one arena alone.
    pub slots: Vec<Slot>,
}

/// Bytes for one of the models that run at the same time.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Slot {
    /// From the start of the arena.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
}

/// One model, or one instance of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Model {
    /// The file.
    pub input: String,
    /// Bytes of its arena; of several, all together.
    pub arena: u64,
    /// Of several arenas each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arenas: Vec<Need>,
    /// Bytes of its state.
    pub state: u64,
    /// Where its state lies in the section that holds the state of all.
    pub state_offset: u64,
    /// Bytes of its constants.
    pub constants: u64,
}

/// A file with its plan.
struct Planning {
    path: PathBuf,
    planned: Planned,
    own_arenas: bool,
}

/// Runs the verb.
///
/// # Errors
/// What is wrong, when it is not about a place in an input; the rest has been said.
pub(crate) fn run(request: &Plan, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
    let common = &request.common;
    let listed = models(request)?;
    let writers: Vec<Writer> =
        request.outputs.iter().map(|path| Writer::choose(path, request.to.as_deref())).collect::<Result<_, _>>()?;
    let wrong = |writer: &Writer| !matches!(writer, Writer::Mlir | Writer::Json);
    if let Some(at) = writers.iter().position(wrong) {
        let several = if request.share_arena { "--share-arena" } else { "--concurrent" };
        let output = request.outputs[at].display();
        let help = match writers[at] {
            Writer::C => {
                "a C header holds one model: write one of each model's own plan, and the table of the `.json` (`slots`, `plan`) says how large their \
                 arena is and where each may begin in it"
            }
            _ => "write `.mlir` (all plans) or `.json` (all figures), or plan the models one at a time",
        };
        return Err(Failure::usage(format!("`{output}`: this writer knows one model, and `{several}` plans several"))
            .help(help));
    }
    let written: Vec<PathBuf> = request.outputs.iter().chain(&common.summary_file).cloned().collect();
    let mut reads: Vec<Reads<'_>> = listed.iter().map(|path| (path.as_path(), "an input")).collect();
    reads.extend(common.source.files());
    outputs::prepare(&reads, &written)?;
    plan::one_product(common, &written)?;
    let mut plans: Vec<Planning> = Vec::new();
    for path in &listed {
        if plans.iter().all(|plan| plan.path != *path) {
            match one(path, request, &written, streams)? {
                Ok(planning) => plans.push(planning),
                Err(exit) => return Ok(exit),
            }
        }
    }
    let together = join(&listed, &plans, request.concurrent.unwrap_or(1))?;
    budget(common, &together)?;
    capacities(&plans, &together)?;
    let json =
        || serde_json::to_string_pretty(&together).map(|text| text + "\n").map_err(|e| Failure::usage(e.to_string()));
    let mut files = Vec::new();
    for (path, writer) in request.outputs.iter().zip(writers) {
        let bytes = match writer {
            Writer::Json => json()?.into_bytes(),
            _ => {
                let texts = plans.iter().map(|plan| writers::modules(&plan.planned, PrintOptions::default()));
                texts.collect::<Vec<String>>().join("// -----\n").into_bytes()
            }
        };
        files.push(Output { path: path.clone(), bytes });
    }
    let mut said = match common.summary {
        SummaryKind::None => String::new(),
        SummaryKind::Json => json()?,
        SummaryKind::Text => text(&together),
        SummaryKind::Full => {
            let each = plans.iter().map(|plan| writers::summary(SummaryKind::Full, &plan.planned, Look::PLAIN));
            text(&together) + &each.collect::<String>()
        }
    };
    if let Some(path) = &common.summary_file {
        files.push(Output { path: path.clone(), bytes: std::mem::take(&mut said).into_bytes() });
    }
    outputs::deliver(files, streams)?;
    streams.deliver(&said)
}

/// The instances, in order.
fn models(request: &Plan) -> Result<Vec<PathBuf>, Failure> {
    let mut listed: Vec<PathBuf> = std::iter::once(&request.common.input).chain(&request.others).cloned().collect();
    if !request.share_arena && !request.others.is_empty() {
        return Err(Failure::usage("several models are given")
            .help("`--share-arena` plans them for one arena; without it, plan them one at a time"));
    }
    if let ([one], Some(count)) = (&listed[..], request.concurrent) {
        if count > MOST {
            return Err(Failure::usage(format!("`--concurrent {count}`: at most {MOST} instances are planned")));
        }
        listed = vec![one.clone(); count as usize];
    }
    match request.concurrent {
        Some(count) if count > listed.len() as u64 => Err(Failure::usage(format!(
            "`--concurrent {count}`: {} models are given, and each is one instance",
            listed.len()
        ))
        .help("name a model once for each instance")),
        _ => Ok(listed),
    }
}

/// The most instances of one model.
const MOST: u64 = 1 << 16;

/// Plans one file; what is wrong with it is said.
fn one(
    path: &Path,
    request: &Plan,
    written: &[PathBuf],
    streams: &mut Streams<'_>,
) -> Result<Result<Planning, Exit>, Failure> {
    // A budget is one of the whole.
    let common = Common { input: path.to_owned(), budgets: Vec::new(), ..request.common.clone() };
    let text = common.pipeline.as_deref().unwrap_or("plan");
    let pipeline = Pipeline::parse(text).map_err(|error| Failure::pipeline(&error))?;
    let input = Input::read(path, streams)?;
    weights::spare(&input, written)?;
    let source = Source { name: &input.name, text: input.text(), line: 0 };
    let setup = Setup::new(&common.source, input.kind.profile())?;
    let outcome = input.module(&common.source.dims).and_then(|module| {
        plan::holds_something(&input, &module)?;
        let job = Job {
            name: &input.name,
            common: &common,
            setup: &setup,
            pipeline: &pipeline,
            default_pipeline: common.pipeline.is_none(),
            print_ir: &PrintIr::default(),
            options: PrintOptions::default(),
            reproducer: Reproducer::OnBug,
            draw: request.common.draws(),
        };
        let progress = Progress::new(&mut *streams.err, streams.progress, common.time_limit);
        let again = |module: &Module, dims: &[DimFlag]| input.again((module, &common.source.dims), dims);
        buckets::run(&job, module, again, &progress)
    });
    let (shown, outcome) = match outcome {
        Ok(planned) => {
            let shown = planned.remarks.iter().filter(|remark| drive::is_shown(remark, &common)).cloned().collect();
            let own_arenas = setup.profile.own_arena_per_function;
            (shown, Ok(Planning { path: path.to_owned(), planned, own_arenas }))
        }
        Err(failure) => (failure.diagnostics, Err(failure.exit)),
    };
    streams.say(&report::text(&shown, source, streams.colour_err));
    Ok(outcome)
}

/// Puts the plans into one arena.
fn join(listed: &[PathBuf], plans: &[Planning], concurrent: u64) -> Result<Together, Failure> {
    let mut align = 1;
    let mut functions = plans.iter().filter_map(|plan| plan.planned.summary.as_ref()).flat_map(|all| &all.functions);
    let several = functions.any(|function| function.arenas.len() > 1);
    let mut summaries = Vec::new();
    let mut sizes = Vec::new();
    for plan in plans {
        let Some(summary) = &plan.planned.summary else {
            return Err(Failure::usage("the pipeline makes no plan").help("add `assign-offsets` to it"));
        };
        let most = |of: &dyn Fn(&summary::Function) -> u64| summary.functions.iter().map(of).max().unwrap_or(0);
        align = summary.functions.iter().map(|function| function.plan.base_align).fold(align, lcm);
        let own = plan.own_arenas;
        let (arena, mut arenas) = match &summary.buckets {
            Some(buckets) => (buckets.arena, buckets.arenas.clone()),
            None => (summary::arena(summary, own), summary::needs(&summary.functions, own)),
        };
        let (state, constants) = (most(&|function| function.bytes.state), most(&|function| function.bytes.constants));
        if let (true, true, Some(only)) = (several, arenas.is_empty(), &summary.functions.first()) {
            // Beside models with several arenas, one with one alone says which it is.
            arenas.extend(only.arenas.first().map(|only| Need { name: only.name.clone(), bytes: arena }));
        }
        sizes.push((arena, arenas, state, constants));
        summaries.push(summary.clone());
    }
    let total = |sum: u64, more: u64| {
        sum.checked_add(more).filter(|sum| *sum <= i64::MAX as u64).ok_or_else(|| {
            let (sum, more) = (grouped(sum.into()), grouped(more.into()));
            Failure::input(format!("the models need more than 2^63-1 bytes together: {more} B beside {sum} B"))
        })
    };
    let round = |bytes: u64| total(bytes, align - 1).map(|bytes| bytes / align * align);
    let (mut joint, mut models) = (Joint { base_align: align, ..Joint::default() }, Vec::new());
    for path in listed {
        let at = plans.iter().position(|plan| plan.path == *path).unwrap_or_default();
        let (arena, arenas, state, constants) = sizes[at].clone();
        let state_offset = round(joint.state)?;
        joint.state = if state > 0 { total(state_offset, state)? } else { joint.state };
        models.push(Model { input: path.display().to_string(), arena, arenas, state, state_offset, constants });
    }
    for (.., constants) in &sizes {
        joint.constants = total(joint.constants, *constants)?;
    }
    // The slots of an arena, and where the last one ends.
    let slots_of = |mut needs: Vec<u64>| {
        needs.sort_unstable_by(|a, b| b.cmp(a));
        let (mut slots, mut end) = (Vec::new(), 0);
        for size in needs.into_iter().take(usize::try_from(concurrent).unwrap_or(usize::MAX)) {
            let offset = round(end)?;
            end = total(offset, size)?;
            slots.push(Slot { offset, size });
        }
        Ok::<_, Failure>((slots, end))
    };
    let mut slots = Vec::new();
    if models.iter().any(|model| !model.arenas.is_empty()) {
        for need in summary::joined(models.iter().map(|model| model.arenas.clone()), u64::max) {
            let of = |model: &Model| model.arenas.iter().find(|own| own.name == need.name).map_or(0, |own| own.bytes);
            let (slots, bytes) = slots_of(models.iter().map(of).collect())?;
            joint.arena = total(joint.arena, bytes)?;
            joint.arenas.push(Shared { name: need.name, bytes, slots });
        }
    } else {
        (slots, joint.arena) = slots_of(models.iter().map(|model| model.arena).collect())?;
    }
    joint.total = total(joint.arena, joint.state)?;
    Ok(Together { version: 1, neap: env!("CARGO_PKG_VERSION"), concurrent, plan: joint, slots, models, summaries })
}

/// The least common multiple, or the larger one where that is beyond 64 bits.
fn lcm(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a.max(1), b.max(1));
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a.max(1) / x).checked_mul(b.max(1)).unwrap_or(a.max(b))
}

fn budget(common: &Common, together: &Together) -> Result<(), Failure> {
    for budget in &common.budgets {
        let needed = match &budget.arena {
            None => together.plan.arena,
            Some(name) => {
                let found = together.plan.arenas.iter().find(|arena| arena.name == *name);
                let missing = format!("`--budget @{name}=..`: the models share no arena of this name beside others");
                found.ok_or_else(|| Failure::usage(missing))?.bytes
            }
        };
        let of = budget.arena.as_ref().map_or_else(String::new, |name| format!(" of @{name}"));
        enough(needed, budget.bytes, [&of, "the budget is"])?;
    }
    Ok(())
}

/// Whether each arena is as large as what all models need of it together: alone each of them fits.
fn capacities(plans: &[Planning], together: &Together) -> Result<(), Failure> {
    let functions = plans.iter().filter_map(|plan| plan.planned.summary.as_ref()).flat_map(summary::all);
    for arena in functions.flat_map(|function| function.arenas) {
        let shared = together.plan.arenas.iter().find(|shared| shared.name == arena.name);
        let needed = shared.map_or(together.plan.arena, |shared| shared.bytes);
        if let Some(capacity) = arena.capacity {
            enough(needed, capacity, [&format!(" of @{}", arena.name), "the arena has"])
                .map_err(|failure| failure.help("give the arena more bytes, or let fewer run at the same time"))?;
        }
    }
    Ok(())
}

/// Refuses a need that is more than there is, in words: of what, and how it is said what there is.
fn enough(needed: u64, have: u64, [of, limit]: [&str; 2]) -> Result<(), Failure> {
    let Some(short) = needed.checked_sub(have).filter(|short| *short > 0) else { return Ok(()) };
    let [needed, have, short] = [needed, have, short].map(|bytes| grouped(bytes.into()));
    let message = format!("the models need {needed} B{of} together, {limit} {have} B: {short} B too many");
    Err(Failure::new(Exit::Demand, vec![Diagnostic::error(Span::default(), message)]))
}

/// The summary that a person reads.
fn text(together: &Together) -> String {
    let bytes = |bytes: u64| format!("{} B", grouped(bytes.into()));
    let plan = &together.plan;
    let how = match together.concurrent {
        1 => "one after the other".to_owned(),
        all if all == together.models.len() as u64 => "all at the same time".to_owned(),
        some => format!("{some} at the same time"),
    };
    let apart: i128 = together.models.iter().map(|model| i128::from(model.arena)).sum();
    let mut out = format!("{} models in one arena, {how}\n", together.models.len());
    let mut row = |label: &str, text: String| {
        let _ = writeln!(out, "  {label:<9} {text}");
    };
    let each = |needs: &mut dyn ExactSizeIterator<Item = (&str, u64, Option<u64>)>| match needs.len() {
        0 => String::new(),
        1 => format!(" in one arena: {}", summary::listed(needs)),
        count => format!(" in {count} arenas: {}", summary::listed(needs)),
    };
    let arenas = each(&mut plan.arenas.iter().map(|arena| (arena.name.as_str(), arena.bytes, None)));
    row("arena", format!("{}{arenas}; apart: {} B", bytes(plan.arena), grouped(apart)));
    row("state", format!("{}, every instance its own", bytes(plan.state)));
    row("total", format!("{}; base aligned to {}", bytes(plan.total), plan.base_align));
    for model in together.models.iter().take(8) {
        let arenas = each(&mut model.arenas.iter().map(|need| (need.name.as_str(), need.bytes, None)));
        row("model", format!("{}: arena {}{arenas}, state {}", model.input, bytes(model.arena), bytes(model.state)));
    }
    if together.models.len() > 8 {
        row("model", format!("and {} more", together.models.len() - 8));
    }
    row("besides", format!("not included: constants {}, those of a file once", bytes(plan.constants)));
    out
}
