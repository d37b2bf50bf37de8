//! `neap opt`: passes on a module, with the manners of `mlir-opt`. The product is the module on the standard output; all else goes to the
//! error stream.

use crate::buckets;
use crate::cli::{DimFlag, Opt, SummaryKind};
use crate::drive::{self, Job, Planned, Reproducer, Setup};
use crate::exit::{Exit, Failure};
use crate::input::{self, Input, Kind};
use crate::outputs::{self, Output, Reads};
use crate::progress::Progress;
use crate::report::{self, Source};
use crate::streams::Streams;
use crate::summary::{self, Look, Summary};
use crate::weights;
use crate::writers::{self, Asked, With, Writer};
use crate::{proofs, reproducer, stub};
use neap_ir::Module;
use neap_ir::diag::Diagnostic;
use neap_ir::diag::expected::check_expected;
use neap_ir::parse::{Chunk, split_input};
use neap_ir::print::{PrintOptions, print};
use neap_passes::pass::PassInfo;
use neap_passes::pipeline::{Pipeline, Step};
use neap_passes::registry::{PASSES, PIPELINES};
use std::fmt::Write;

/// Runs the verb.
///
/// # Errors
/// What is wrong, when it is not about a place in the input; the rest has been said.
pub(crate) fn run(request: &Opt, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
    if request.list_passes {
        return streams.deliver(&list_passes());
    }
    let pipeline = if request.run_reproducer { None } else { Some(pipeline(request)?) };
    let common = &request.common;
    let written: Vec<_> =
        [&request.output, &common.summary_file, &common.dialect_stub, &common.certificate, &request.reproducer]
            .into_iter()
            .flatten()
            .cloned()
            .collect();
    let mut reads: Vec<Reads<'_>> = vec![(&common.input, "the input")];
    reads.extend(common.source.files());
    outputs::prepare(&reads, &written)?;
    let input = Input::read(&common.input, streams)?;
    weights::spare(&input, &written)?;
    let setup = Setup::new(&common.source, input.kind.profile())?;
    let text = String::from_utf8_lossy(input.text());
    let whole = [Chunk { text: &text, offset: 0, line: 0 }];
    let chunks = if request.split_input { split_input(&text) } else { whole.to_vec() };
    let writer = request.output.as_deref().and_then(Writer::of);
    match writer {
        Some(Writer::Mlir) | None => {}
        Some(_) if chunks.len() > 1 => return Err(several()),
        Some(writer) => {
            let buckets = common.buckets.is_some();
            writers::possible(&[writer], Asked { model: None, spills: false, buckets, offsets: None })?;
        }
    }
    if input.is_empty() && common.summary != SummaryKind::Json {
        streams.say(&format!("warning: {} is empty\n", input.name));
    }
    let mut done = Done::default();
    for chunk in &chunks {
        let source = Source { name: &input.name, text: chunk.text.as_bytes(), line: chunk.line };
        let bytes = if input.kind == Kind::Text && request.split_input { source.text } else { &input.bytes };
        let outcome = one(request, pipeline.as_ref(), &setup, &input, bytes, streams);
        done.add(request, source, outcome, streams);
    }
    // Nothing is half written: with one bad module there is no output.
    if done.exit != Exit::Done {
        // But for figures that say why, where JSON goes to a file; the error stream has been told.
        if let Some(path) = common.summary_file.as_ref().filter(|_| common.summary == SummaryKind::Json) {
            let text: String = done.missed.iter().map(summary::json).collect();
            let output = Output { path: path.clone(), bytes: text.into_bytes() };
            outputs::write_all(&if done.missed.is_empty() { Vec::new() } else { vec![output] })?;
        }
        return Ok(done.exit);
    }
    finish(request, &setup, &done, streams)
}

/// What came of the modules of an input.
#[derive(Default)]
struct Done {
    exit: Exit,
    planned: Vec<Planned>,
    /// Of plans that do not keep a budget.
    missed: Vec<Summary>,
}

impl Done {
    fn add(&mut self, request: &Opt, source: Source<'_>, outcome: Result<Planned, Failure>, streams: &mut Streams<'_>) {
        let (diagnostics, exit, planned) = match outcome {
            Ok(planned) => (planned.remarks.clone(), Exit::Done, Some(planned)),
            Err(failure) => {
                self.missed.extend(failure.missed.map(|summary| *summary));
                (failure.diagnostics, failure.exit, None)
            }
        };
        let shown: Vec<Diagnostic> =
            diagnostics.into_iter().filter(|diagnostic| drive::is_shown(diagnostic, &request.common)).collect();
        if request.verify_diagnostics {
            let text = String::from_utf8_lossy(source.text);
            let wrong = check_expected(&text, &shown);
            streams.say(&report::text(&wrong, source, streams.colour_err));
            self.exit = self.exit.max(if wrong.is_empty() { Exit::Done } else { Exit::Input });
        } else {
            streams.say(&report::text(&shown, source, streams.colour_err));
            self.exit = self.exit.max(exit);
        }
        self.planned.extend(planned);
    }
}

fn one(
    request: &Opt,
    pipeline: Option<&Pipeline>,
    setup: &Setup,
    input: &Input,
    bytes: &[u8],
    streams: &mut Streams<'_>,
) -> Result<Planned, Failure> {
    let module = input::read(input.kind, &input.name, bytes, &request.common.source.dims)?;
    let reproduced = match pipeline {
        Some(_) => None,
        None => Some(from_reproducer(&module)?),
    };
    let pipeline = pipeline.or(reproduced.as_ref()).unwrap_or_else(|| unreachable!("one of the two is there"));
    if request.dump_pipeline {
        streams.say(&format!("Pass Manager with {} passes:\n{pipeline}\n", pipeline.steps().count()));
    }
    let common = &request.common;
    let job = Job {
        name: &input.name,
        common,
        setup,
        pipeline,
        default_pipeline: common.pipeline.is_none() && request.passes.is_empty() && !request.run_reproducer,
        print_ir: &request.print_ir,
        options: options(request),
        reproducer: request.reproducer.clone().map_or(Reproducer::OnBug, Reproducer::At),
        draw: common.draws() || request.output.as_deref().and_then(Writer::of).is_some_and(Writer::draws),
    };
    let progress = Progress::new(&mut *streams.err, streams.progress, common.time_limit);
    let again = |module: &Module, dims: &[DimFlag]| match input.kind.takes(&common.source.dims, dims) {
        true => input::read(input.kind, &input.name, bytes, dims),
        false => Ok(module.clone()),
    };
    buckets::run(&job, module, again, &progress)
}

fn options(request: &Opt) -> PrintOptions {
    PrintOptions { generic: request.generic, ..PrintOptions::default() }
}

fn pipeline(request: &Opt) -> Result<Pipeline, Failure> {
    let parsed = match (&request.common.pipeline, request.passes.as_slice()) {
        (Some(text), _) => Pipeline::parse(text),
        (None, []) => Pipeline::parse("plan"),
        (None, flags) => {
            let steps = flags.iter().map(|(name, options)| Step::parse(name, options)).collect::<Result<Vec<_>, _>>();
            steps.map(|steps| Pipeline::of(steps.into_iter().flatten().collect()))
        }
    };
    parsed.map_err(|error| Failure::pipeline(&error))
}

fn from_reproducer(module: &neap_ir::Module) -> Result<Pipeline, Failure> {
    let Some(text) = reproducer::pipeline(module) else {
        return Err(Failure::input("the input holds no reproducer: its resources have no `mlir_reproducer`"));
    };
    Pipeline::parse(&text).map_err(|error| Failure::new(Exit::Input, vec![error.diagnostic()]))
}

/// Writes what was asked for, where it was asked for.
fn finish(request: &Opt, setup: &Setup, done: &Done, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
    let common = &request.common;
    let options = options(request);
    let mut files = Vec::new();
    let mut product = String::new();
    let modules = done.planned.iter().flat_map(drive::Planned::modules);
    let printed: Vec<String> = modules.map(|module| print(module, &options)).collect();
    match &request.output {
        None => product = printed.join("// -----\n"),
        Some(path) => {
            let bytes = match (Writer::of(path), done.planned.as_slice()) {
                (None | Some(Writer::Mlir), _) => printed.join("// -----\n").into_bytes(),
                (Some(writer), [planned]) => {
                    writers::write(writer, path, planned, With { options, ..With::default() })?
                }
                (Some(_), _) => return Err(several()),
            };
            files.push(Output { path: path.clone(), bytes });
        }
    }
    files.extend(stub::file(common, setup, done.planned.iter().map(|planned| &planned.module)));
    let (certificates, missing) = proofs::file(common, &done.planned);
    files.extend(certificates);
    missing.iter().for_each(|warning| streams.say(&format!("warning: {}\n", warning.message)));
    let mut summaries = String::new();
    for planned in &done.planned {
        let look = match common.summary_file {
            Some(_) => Look::PLAIN,
            None => Look { colour: streams.colour_err, width: streams.width },
        };
        summaries += &writers::summary(common.summary, planned, look);
        // JSON is all that the stream carries.
        if common.summary != SummaryKind::Json || common.summary_file.is_some() {
            streams.say(&planned.said);
        }
    }
    match &common.summary_file {
        Some(path) => files.push(Output { path: path.clone(), bytes: summaries.into_bytes() }),
        None => streams.say(&summaries),
    }
    outputs::write_all(&files)?;
    streams.deliver(&product)
}

fn several() -> Failure {
    Failure::usage("only modules as text can go to one file together").help("write `.mlir`, or one module at a time")
}

/// `--list-passes`.
fn list_passes() -> String {
    let mut out = String::from("Available passes:\n");
    let option = |out: &mut String, info: &PassInfo| {
        for option in info.options {
            let default =
                if option.default.is_empty() { String::new() } else { format!(" (default: {})", option.default) };
            let _ = writeln!(out, "    {:<22} {}{default}", option.name, option.summary);
        }
    };
    for info in PASSES {
        let _ = writeln!(out, "  --{:<24} {}", info.name, info.summary);
        option(&mut out, info);
    }
    out.push_str("Pipelines:\n");
    for pipeline in PIPELINES {
        let _ = writeln!(out, "  --{:<24} {}\n    = {}", pipeline.name, pipeline.summary, pipeline.passes);
    }
    out
}
