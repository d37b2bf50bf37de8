//! Writers of a plan, chosen by the longest known extension of a file or by name.

use crate::cli::SummaryKind;
use crate::drive::Planned;
use crate::exit::{Exit, Failure};
use crate::input::{Input, Kind};
use crate::npu::{Judged, Npu};
use crate::outputs;
use crate::picture::picture;
use crate::summary::{self, Look};
use crate::template::Template;
use neap_ir::print::{PrintOptions, print};
use neap_passes::profile::Profile;
use neap_passes::suggest::closest;
use std::path::Path;

/// What can be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Writer {
    /// The planned module as text.
    Mlir,
    /// The summary for scripts.
    Json,
    /// All storages as a table.
    Csv,
    /// The model file with its operators in the planned order.
    Tflite,
    /// The model file with its nodes in the order that suits the runtime best.
    Onnx,
    /// The ids of an NPU graph in the order in which they run.
    Schedule,
    /// The bytes resident behind each of them.
    Steps,
    /// Where the buffers of an NPU graph are allocated.
    Memory,
    /// Where they come back from spills.
    Spills,
    /// A header for C and C++: sizes, alignment, offsets.
    C,
    /// Bufferized MLIR in one arena.
    Memref,
    /// A page with the memory map.
    Html,
    /// The memory map for documents.
    Svg,
    /// Steps and storages for viewers of timelines.
    Trace,
}

/// Name, extensions and writer.
const WRITERS: &[(&str, &[&str], Writer)] = &[
    ("mlir", &["mlir"], Writer::Mlir),
    ("json", &["json"], Writer::Json),
    ("csv", &["csv"], Writer::Csv),
    ("tflite", &["tflite"], Writer::Tflite),
    ("onnx", &["onnx"], Writer::Onnx),
    ("schedule", &["schedule"], Writer::Schedule),
    ("steps", &["steps.csv"], Writer::Steps),
    ("memory", &["memory"], Writer::Memory),
    ("spills", &["spills"], Writer::Spills),
    ("c", &["h"], Writer::C),
    ("memref", &["memref.mlir"], Writer::Memref),
    ("html", &["html"], Writer::Html),
    ("svg", &["svg"], Writer::Svg),
    ("trace", &["trace.json"], Writer::Trace),
];

impl Writer {
    /// The writer of a file's extension; of several that fit, the longest one's.
    pub fn of(path: &Path) -> Option<Writer> {
        let name = path.file_name()?.to_str()?;
        let fits = |extension: &&str| name.strip_suffix(extension).is_some_and(|rest| rest.ends_with('.'));
        let all = WRITERS.iter().flat_map(|(_, extensions, writer)| extensions.iter().map(move |one| (*one, *writer)));
        all.filter(|(extension, _)| fits(extension))
            .max_by_key(|(extension, _)| extension.len())
            .map(|(_, writer)| writer)
    }

    /// The writer by name if one is named, else by the file's extension; a name without one (`-`, `/dev/null`) is text.
    ///
    /// # Errors
    /// There is none; says which there are.
    pub fn choose(path: &Path, name: Option<&str>) -> Result<Writer, Failure> {
        let names = || WRITERS.iter().map(|(name, ..)| *name);
        let there = format!("there are writers for: {}", names().collect::<Vec<_>>().join(", "));
        let Some(name) = name else {
            let missing = || {
                Failure::usage(format!("`{}`: no writer for files of this extension", path.display()))
                    .note(there)
                    .help("`--to` names a writer, whatever the extension")
            };
            let plain = path.extension().is_none().then_some(Writer::Mlir);
            return Writer::of(path).or(plain).ok_or_else(missing);
        };
        let found = WRITERS.iter().find(|(other, ..)| *other == name).map(|(.., writer)| *writer);
        found.ok_or_else(|| {
            let failure = Failure::usage(format!("there is no writer `{name}`")).note(there);
            match closest(name, names()) {
                Some(close) => failure.help(format!("did you mean `{close}`?")),
                None => failure,
            }
        })
    }

    /// Whether the plan goes into a model file.
    pub fn needs_template(self) -> bool {
        self.template().is_some()
    }

    /// Whether what is written is itself a model.
    pub fn is_model(self) -> bool {
        matches!(self, Writer::Tflite | Writer::Onnx)
    }

    /// Whether what is written is a picture.
    pub fn draws(self) -> bool {
        matches!(self, Writer::Html | Writer::Svg | Writer::Trace)
    }

    /// The kind of the file that the plan goes into, or is told in the terms of.
    fn template(self) -> Option<Kind> {
        match self {
            Writer::Tflite => Some(Kind::Tflite),
            Writer::Onnx => Some(Kind::Onnx),
            Writer::Schedule | Writer::Steps | Writer::Memory | Writer::Spills => Some(Kind::Npu),
            Writer::Mlir | Writer::Json | Writer::Csv | Writer::C | Writer::Memref => None,
            Writer::Html | Writer::Svg | Writer::Trace => None,
        }
    }
}

/// What is known of a run before its plan is made.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// The model file that the plan would go into.
    pub model: Option<&'a Input>,
    /// Whether the plan is one with spills.
    pub spills: bool,
    /// Whether there is a plan for each of several ranges of sizes.
    pub buckets: bool,
    /// Whether offsets are asked for by a flag.
    pub offsets: Option<bool>,
}

/// Refuses what cannot be written before there is a plan: nobody waits for a message that was certain.
///
/// # Errors
/// The first writer that would have nothing to write.
pub fn possible(writers: &[Writer], asked: Asked<'_>) -> Result<(), Failure> {
    for writer in writers {
        match writer.template() {
            Some(_) if matches!(writer, Writer::Memory | Writer::Spills) && !asked.spills => return Err(no_places()),
            None if asked.spills => return Err(spills_only()),
            None if asked.buckets && *writer == Writer::Memref => return Err(one_plan()),
            None => {}
            Some(_) if asked.buckets => return Err(one_plan()),
            Some(kind) => fits(asked.model, kind)?,
        }
    }
    if asked.offsets.is_some() && !writers.contains(&Writer::Tflite) {
        return Err(Failure::usage("`--offsets` is about a `.tflite` that is written, and none is asked for"));
    }
    Ok(())
}

/// Whether a model file is there and of a kind.
///
/// # Errors
/// It is not.
pub fn fits(model: Option<&Input>, kind: Kind) -> Result<(), Failure> {
    let name = kind.name();
    match model {
        Some(model) if model.kind == kind => Ok(()),
        Some(model) => Err(Failure::usage(format!("`{}` is no {name} model", model.name))),
        None => Err(Failure::usage(format!("no {name} model is given, and the plan goes into one"))
            .help("`--template` names the model file that the plan was made from")),
    }
}

fn one_plan() -> Failure {
    let failure = Failure::usage("a model, and a program in one arena, hold one plan, not one for each bucket");
    failure.help("write `.mlir`, `.h`, `.json`, `.csv` or a picture, or plan one size with `--dim`")
}

fn spills_only() -> Failure {
    let failure = Failure::usage("a plan with spills is written as schedule, steps, memory or spills");
    failure.help("`--summary-file` writes the summary; `--summary=json` is for scripts")
}

/// What a plan is written with.
#[derive(Clone, Copy, Default)]
pub struct With<'a> {
    /// How modules are printed.
    pub options: PrintOptions,
    /// The model file that the plan goes into.
    pub template: Option<&'a Template>,
    /// The order of its nodes, where the runtime's own order was looked at; else the plan's.
    pub node_order: Option<&'a [usize]>,
    /// Whether offsets go there too.
    pub offsets: bool,
}

/// Whether offsets go into the model file: if asked for, else where the profile's runtime reads them.
///
/// # Errors
/// The plan was made for a runtime that does not.
pub fn offsets(asked: Option<bool>, profile: &str) -> Result<bool, Failure> {
    let reads = profile == "tflm";
    if asked == Some(true) && !reads && Profile::builtin(profile).is_some() {
        let message =
            format!("`--offsets`: a plan with profile {profile} shares bytes in ways that TFLite Micro does not know");
        return Err(Failure::usage(message).help("add `--profile tflm`"));
    }
    Ok(asked.unwrap_or(reads))
}

/// A plan as a writer writes it to a file.
///
/// # Errors
/// The writer needs a plan or a model file, and there is none; or the plan cannot be written there.
pub fn write(writer: Writer, path: &Path, planned: &Planned, with: With<'_>) -> Result<Vec<u8>, Failure> {
    let needed = || {
        planned
            .summary
            .as_ref()
            .ok_or_else(|| Failure::usage("the pipeline makes no plan to write").help("add `assign-offsets` to it"))
    };
    if (writer.needs_template() || writer == Writer::Memref) && !planned.smaller.is_empty() {
        return Err(one_plan());
    }
    Ok(match writer {
        Writer::Mlir => modules(planned, with.options).into_bytes(),
        Writer::Json => summary::json(needed()?).into_bytes(),
        Writer::Csv => summary::csv(needed()?).into_bytes(),
        Writer::Html => neap_report::html::page(&picture(needed()?)).into_bytes(),
        Writer::Svg => neap_report::svg::map(&picture(needed()?)).into_bytes(),
        Writer::Trace => neap_report::trace::trace(&picture(needed()?)).into_bytes(),
        Writer::Memref => {
            needed()?;
            print(&neap_emit::memref::program(&planned.module).map_err(refused)?, &with.options).into_bytes()
        }
        Writer::C => {
            needed()?;
            let modules: Vec<_> = planned.modules().collect();
            neap_emit::c::write(&modules, &header_name(path)).map_err(refused)?.into_bytes()
        }
        Writer::Tflite => {
            let template = Template::wanted(with.template, Kind::Tflite)?;
            let options = neap_emit::tflite::Options { offsets: with.offsets };
            neap_emit::tflite::write(&template.input.bytes, template.source(), &planned.module, options)
                .map_err(refused)?
        }
        Writer::Onnx => {
            let template = Template::wanted(with.template, Kind::Onnx)?;
            let order = match with.node_order {
                Some(order) => order.to_vec(),
                None => neap_emit::onnx::outline(&template.input.bytes)
                    .and_then(|file| neap_emit::onnx::planned_order(&file, &planned.module))
                    .map_err(refused)?,
            };
            neap_emit::onnx::reordered(&template.input.bytes, &order).map_err(refused)?
        }
        Writer::Schedule | Writer::Steps => {
            let template = Template::wanted(with.template, Kind::Npu)?;
            let npu = Npu::read(&template.input.bytes)?;
            npu_file(writer, &npu, &npu.order(&planned.module)?)?
        }
        Writer::Memory | Writer::Spills => return Err(no_places()),
    })
}

/// What the names of a header begin with: its file's name without the extension.
fn header_name(path: &Path) -> String {
    let stem = path.file_stem().filter(|_| !outputs::is_stdout(path));
    stem.map_or_else(|| "plan".to_owned(), |stem| stem.to_string_lossy().into_owned())
}

/// A judged plan for an NPU graph as a writer writes it.
///
/// # Errors
/// The writer is of another kind, or the plan has no places.
pub fn npu_file(writer: Writer, npu: &Npu, judged: &Judged) -> Result<Vec<u8>, Failure> {
    use neap_emit::npu as emit;
    let (graph, plan) = (&npu.graph, &judged.plan);
    let text = match writer {
        Writer::Schedule => emit::schedule_text(plan),
        Writer::Steps => emit::steps_csv(plan, &judged.outcome),
        Writer::Memory | Writer::Spills if plan.offsets.is_empty() => return Err(no_places()),
        Writer::Memory => emit::memory_text(graph, plan),
        Writer::Spills => emit::spills_text(graph, plan),
        _ => return Err(spills_only()),
    };
    Ok(text.into_bytes())
}

fn no_places() -> Failure {
    let failure = Failure::usage("an order alone has no places and no spills");
    failure.help("`--objective traffic` or `--objective makespan` plans them")
}

/// The plan is not one of this file.
fn refused(diagnostics: Vec<neap_ir::diag::Diagnostic>) -> Failure {
    Failure::new(Exit::Input, diagnostics)
}

/// The module as text; of several buckets all of them, as `--split-input-file` reads them.
pub fn modules(planned: &Planned, options: PrintOptions) -> String {
    planned.modules().map(|module| print(module, &options)).collect::<Vec<String>>().join("// -----\n")
}

/// The summary in a form; empty without a plan.
pub fn summary(kind: SummaryKind, planned: &Planned, look: Look) -> String {
    match (&planned.summary, kind) {
        (None, _) | (_, SummaryKind::None) => String::new(),
        (Some(summary), SummaryKind::Text) => summary::ranges(summary) + &summary::text(summary, look.colour),
        (Some(summary), SummaryKind::Full) => summary::ranges(summary) + &summary::full(summary, look),
        (Some(summary), SummaryKind::Json) => summary::json(summary),
    }
}
