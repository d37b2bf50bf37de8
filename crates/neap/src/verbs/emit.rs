//! `neap emit PLANNED -o OUT`: a plan that is there already becomes files.
//!
//! The plan may come from anywhere: it is executed and compared like one of our own before anything is written, with itself, and where it goes
//! into a model file with that model.

use crate::cli::{Emit, PrintIr};
use crate::drive::{self, Job, Planned, Reproducer, Setup};
use crate::exit::{Exit, Failure};
use crate::input::{Input, Kind};
use crate::outputs::{self, Output, Reads};
use crate::progress::Progress;
use crate::report::{self, Source};
use crate::runtime_order;
use crate::streams::Streams;
use crate::summary::Check;
use crate::template::Template;
use crate::weights;
use crate::writers::{self, Asked, With, Writer};
use neap_ir::parse::split_input;
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
    let asked = Asked { model: file.as_ref(), spills: false, buckets: false, offsets: request.offsets };
    writers::possible(&writers, asked)?;
    one(&input)?;
    let by_kind = file.as_ref().map_or(Kind::Text, |file| file.kind).profile();
    let recorded =
        input.module(&common.source.dims).ok().and_then(|module| drive::recorded(&module).map(str::to_owned));
    let setup = Setup::new(&common.source, recorded.as_deref().unwrap_or(by_kind))?;
    let offsets = writers::offsets(request.offsets, &setup.name)?;
    let draw = writers.iter().any(|writer| writer.draws());
    let mut planned = match planned(request, &input, &setup, draw, streams) {
        Ok(planned) => planned,
        Err(failure) => {
            let source = Source { name: &input.name, text: input.text(), line: 0 };
            streams.say(&report::text(&failure.diagnostics, source, streams.colour_err));
            return Ok(failure.exit);
        }
    };
    let template = file.map(|file| Template::new(file, &common.source, &setup)).transpose()?;
    if let Some(template) = &template {
        template.is_of(&planned.module)?;
        drive::accepted(template.source(), &planned.module, &setup, false)?;
    }
    let found = runtime_order::report(template.as_ref(), &mut planned, &setup);
    let node_order = found.as_ref().map(|found| found.order.as_slice());
    let with = With { options: PrintOptions::default(), template: template.as_ref(), node_order, offsets };
    let mut files = Vec::new();
    for (path, writer) in request.outputs.iter().zip(writers) {
        let moved =
            template.as_ref().filter(|_| writer.is_model()).and_then(|file| weights::missing(&file.input, path));
        let source = Source { name: "", text: &[], line: 0 };
        streams.say(&report::text(moved.as_slice(), source, streams.colour_err));
        files.push(Output { path: path.clone(), bytes: writers::write(writer, &planned, with)? });
    }
    outputs::deliver(files, streams)
}

/// Refuses a file of several plans: an output holds one, and which one is not said.
fn one(input: &Input) -> Result<(), Failure> {
    let text = String::from_utf8_lossy(input.text());
    let plans = split_input(&text).len();
    if input.kind != Kind::Text || plans == 1 {
        return Ok(());
    }
    Err(Failure::input(format!("`{}` holds {plans} plans, and an output of `neap emit` holds one", input.name))
        .note("plans for ranges of sizes (`--buckets`) and for models that share an arena go to one `.mlir` together, each its own module")
        .help("cut the file at its `// -----` lines and emit the part that is meant; `neap plan` writes `.json` and `.csv` of all at once"))
}

/// The plan, checked against the graph that it holds itself, with its figures.
fn planned(
    request: &Emit,
    input: &Input,
    setup: &Setup,
    draw: bool,
    streams: &mut Streams<'_>,
) -> Result<Planned, Failure> {
    let module = input.module(&request.common.source.dims)?;
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
