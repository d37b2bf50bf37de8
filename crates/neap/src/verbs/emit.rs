//! `neap emit PLANNED -o OUT`: a plan that is there already becomes files.
//!
//! The plan may come from anywhere: it is executed and compared like one of our own before anything is written, with itself, and where it goes
//! into a model file with that model.

use crate::buckets;
use crate::cli::{DimFlag, Emit, PrintIr};
use crate::drive::{self, Job, Planned, Reproducer, Setup};
use crate::exit::{Exit, Failure};
use crate::input::{self, Input, Kind};
use crate::outputs::{self, Output, Reads};
use crate::progress::Progress;
use crate::report::{self, Source};
use crate::runtime_order;
use crate::streams::Streams;
use crate::summary::Check;
use crate::template::Template;
use crate::weights;
use crate::writers::{self, Asked, With, Writer};
use neap_ir::Module;
use neap_ir::parse::{Chunk, split_input};
use neap_ir::print::PrintOptions;
use neap_passes::pipeline::Pipeline;

/// Runs the verb.
///
/// # Errors
/// What is wrong, when it is not about a place in the plan; the rest has been said.
pub(crate) fn run(request: &Emit, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
    let common = &request.common;
    let writers: Vec<Writer> =
        request.outputs.iter().map(|path| Writer::choose(path, request.to.as_deref())).collect::<Result<_, _>>()?;
    let mut reads: Vec<Reads<'_>> = vec![(&common.input, "the input")];
    reads.extend(request.template.iter().map(|path| (path.as_path(), "the template")));
    reads.extend(common.source.files());
    outputs::prepare(&reads, &request.outputs)?;
    let input = Input::read(&common.input, streams)?;
    let file = request.template.as_ref().map(|path| Input::read(path, streams)).transpose()?;
    file.iter().try_for_each(|file| weights::spare(file, &request.outputs))?;
    let text = String::from_utf8_lossy(input.text());
    let parts = parts(&input, &text);
    let asked = Asked { model: file.as_ref(), spills: false, buckets: parts.len() > 1, offsets: request.offsets };
    writers::possible(&writers, asked)?;
    let mut modules = Vec::new();
    for part in &parts {
        let module = match parts.len() {
            1 => input.module(&common.source.dims),
            _ => input::read(input.kind, &input.name, part.text, &common.source.dims),
        };
        match module {
            Ok(module) => modules.push(module),
            Err(failure) => return Ok(said(&failure, *part, streams)),
        }
    }
    let ranges = ranges(&input, &modules)?;
    let by_kind = file.as_ref().map_or(Kind::Text, |file| file.kind).profile();
    let recorded = modules.first().and_then(drive::recorded).map(str::to_owned);
    let setup = Setup::new(&common.source, recorded.as_deref().unwrap_or(by_kind))?;
    let offsets = writers::offsets(request.offsets, &setup.name)?;
    let draw = writers.iter().any(|writer| writer.draws());
    let mut plans = Vec::new();
    for (part, module) in parts.iter().zip(modules) {
        match planned(request, &input, module, &setup, draw, streams) {
            Ok(planned) => plans.push(planned),
            Err(failure) => return Ok(said(&failure, *part, streams)),
        }
    }
    let template = file.map(|file| Template::new(file, &common.source, &setup)).transpose()?;
    for planned in &plans {
        if let Some(template) = &template {
            template.is_of(&planned.module)?;
            drive::accepted(template.source(), &planned.module, &setup, false)?;
        }
    }
    let Some(mut planned) = whole(plans, &ranges, &setup) else {
        return Err(Failure::input(format!("`{}` holds no plan", input.name)));
    };
    let found = runtime_order::report(template.as_ref(), &mut planned, &setup);
    let node_order = found.as_ref().map(|found| found.order.as_slice());
    let with = With { options: PrintOptions::default(), template: template.as_ref(), node_order, offsets };
    let mut files = Vec::new();
    for (path, writer) in request.outputs.iter().zip(writers) {
        let moved =
            template.as_ref().filter(|_| writer.is_model()).and_then(|file| weights::missing(&file.input, path));
        let source = Source { name: "", text: &[], line: 0 };
        streams.say(&report::text(moved.as_slice(), source, streams.colour_err));
        files.push(Output { path: path.clone(), bytes: writers::write(writer, path, &planned, with)? });
    }
    outputs::deliver(files, streams)
}

/// The modules of the file as text.
fn parts<'a>(input: &'a Input, text: &'a str) -> Vec<Source<'a>> {
    let chunks = split_input(text);
    if chunks.len() == 1 {
        return vec![Source { name: &input.name, text: input.text(), line: 0 }];
    }
    let part = |chunk: Chunk<'a>| Source { name: &input.name, text: chunk.text.as_bytes(), line: chunk.line };
    chunks.into_iter().map(part).collect()
}

/// Says what is wrong with a part of the file.
fn said(failure: &Failure, part: Source<'_>, streams: &mut Streams<'_>) -> Exit {
    streams.say(&report::text(&failure.diagnostics, part, streams.colour_err));
    failure.exit
}

/// The ranges of sizes that several plans are for, where there are several.
///
/// # Errors
/// They are not plans of one graph for ranges that follow each other: an output holds one, and which one is not said.
fn ranges(input: &Input, modules: &[Module]) -> Result<Vec<DimFlag>, Failure> {
    if modules.len() == 1 {
        return Ok(Vec::new());
    }
    let ranges: Option<Vec<DimFlag>> = modules.iter().map(buckets::range).collect();
    let Some(ranges) = ranges else {
        let plans = modules.len();
        return Err(Failure::input(format!("`{}` holds {plans} plans, and an output holds one", input.name))
            .note("`neap plan --share-arena` writes the plans of all models into one `.mlir`, each its own module")
            .help("cut the file at its `// -----` lines and give the part that is meant"));
    };
    buckets::follow(&ranges)?;
    Ok(ranges)
}

/// The plan of the file, or those of all ranges as one.
fn whole(mut plans: Vec<Planned>, ranges: &[DimFlag], setup: &Setup) -> Option<Planned> {
    let Some(first) = ranges.first() else { return plans.pop() };
    let runs = ranges.iter().zip(plans).map(|(range, planned)| (range.low, range.high, planned)).collect();
    buckets::joined(runs, &first.name, setup.profile.own_arena_per_function)
}

/// The plan, checked against the graph that it holds itself, with its figures.
fn planned(
    request: &Emit,
    input: &Input,
    module: Module,
    setup: &Setup,
    draw: bool,
    streams: &mut Streams<'_>,
) -> Result<Planned, Failure> {
    if !crate::apply::is_planned(&module) {
        return Err(Failure::input(format!("`{}` holds no plan", input.name))
            .help("`neap plan FILE -o PLANNED.mlir` makes one, `neap plan FILE -o report.html` draws it at once"));
    }
    let pipeline = Pipeline::of(Vec::new());
    let job = Job {
        name: &input.name,
        common: &request.common,
        setup,
        pipeline: &pipeline,
        default_pipeline: false,
        print_ir: &PrintIr::default(),
        options: PrintOptions::default(),
        reproducer: Reproducer::OnBug,
        draw,
    };
    let progress = Progress::new(&mut *streams.err, streams.progress, None);
    let mut planned = drive::run(&job, module, &progress)?;
    // The graph that the plan holds stands in the planned order: it has another fingerprint than the one that was planned.
    drive::accepted(&planned.module, &planned.module, setup, true)?;
    if let Some(summary) = &mut planned.summary {
        summary.check = Check::Passed;
    }
    Ok(planned)
}
