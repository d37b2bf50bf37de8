//! `neap plan`: the summary is the product, on the standard output; the plan goes to files, by their extension.

use crate::buckets;
use crate::cli::{Objective, Plan, PrintIr, SummaryKind};
use crate::drive::{self, Job, Planned, Reproducer, Setup};
use crate::exit::{Exit, Failure};
use crate::input::{Input, Kind};
use crate::npu::Npu;
use crate::outputs::{self, Output};
use crate::prices;
use crate::progress::Progress;
use crate::proofs;
use crate::report::{self, Source};
use crate::runtime_order;
use crate::streams::Streams;
use crate::stub;
use crate::template::Template;
use crate::together;
use crate::writers::{self, With, Writer};
use neap_ir::diag::Diagnostic;
use neap_ir::print::PrintOptions;
use neap_passes::pipeline::Pipeline;
use std::path::PathBuf;

/// Runs the verb.
///
/// # Errors
/// What is wrong, when it is not about a place in the input; the rest has been said.
pub(crate) fn run(request: &Plan, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
    if request.share_arena || request.concurrent.is_some() || !request.others.is_empty() {
        return together::run(request, streams);
    }
    let common = &request.common;
    let writers: Vec<Writer> =
        request.outputs.iter().map(|path| Writer::choose(path, request.to.as_deref())).collect::<Result<_, _>>()?;
    let written: Vec<_> = request
        .outputs
        .iter()
        .chain(&common.summary_file)
        .chain(&common.dialect_stub)
        .chain(&common.certificate)
        .cloned()
        .collect();
    let read: Vec<_> = std::iter::once(&common.input).chain(&request.template).map(PathBuf::as_path).collect();
    outputs::distinct(&read, &written)?;
    let text = common.pipeline.as_deref().unwrap_or("plan");
    let pipeline = Pipeline::parse(text).map_err(|error| Failure::new(Exit::Usage, vec![error.diagnostic()]))?;
    let input = Input::read(&common.input, streams)?;
    let source = Source { name: &input.name, text: input.text(), line: 0 };
    if request.objective != Objective::Peak {
        return spilled(request, &input, &writers, source, streams);
    }
    let setup = Setup::new(&common.source, input.kind.profile())?;
    let offsets = writers::offsets(request.offsets, &setup.name)?;
    let options = PrintOptions::default();
    let outcome = input.module(&common.source.dims).and_then(|module| {
        let job = Job {
            name: &input.name,
            common,
            setup: &setup,
            pipeline: &pipeline,
            default_pipeline: common.pipeline.is_none(),
            print_ir: &PrintIr::default(),
            options,
            reproducer: Reproducer::OnBug,
        };
        let progress = Progress::new(&mut *streams.err, streams.progress, common.time_limit);
        let flags = &common.source;
        let priced = !(flags.keep.is_empty() && flags.pins.is_empty() && flags.external.is_empty());
        let before = priced.then(|| module.clone());
        let mut planned = buckets::run(&job, module, &progress)?;
        // What a limit cut short says nothing of prices.
        if let (Some(before), Some(summary), false) = (&before, &mut planned.summary, progress.limit_hit()) {
            prices::add(&job, before, summary)?;
        }
        Ok(planned)
    });
    let colour = streams.colour_err;
    let mut planned = match outcome {
        Ok(planned) => planned,
        Err(failure) => {
            streams.say(&report::text(&failure.diagnostics, source, colour));
            return Ok(failure.exit);
        }
    };
    let shown = planned.remarks.iter().filter(|remark| drive::is_shown(remark, common));
    let shown: Vec<Diagnostic> = shown.cloned().collect();
    streams.say(&report::text(&shown, source, colour));
    streams.say(&planned.said);
    let template = template(request, &input, &writers, &setup, &planned, streams)?;
    let found = runtime_order::report(template.as_ref(), &mut planned, &setup);
    if let Some(advice) = found.as_ref().and_then(|found| runtime_order::advice(&found.peaks)) {
        streams.say(&report::text(&[advice], source, colour));
    }
    let node_order = found.as_ref().map(|found| found.order.as_slice());
    let with = With { options, template: template.as_ref(), node_order, offsets };
    let mut files = Vec::new();
    for (path, writer) in request.outputs.iter().zip(writers) {
        files.push(Output { path: path.clone(), bytes: writers::write(writer, &planned, with)? });
    }
    files.extend(stub::file(common, &setup, std::iter::once(&planned.module)));
    let (certificates, missing) = proofs::file(common, std::slice::from_ref(&planned));
    files.extend(certificates);
    streams.say(&report::text(&missing, source, colour));
    let bold = streams.colour_out && common.summary_file.is_none();
    let mut summary = writers::summary(common.summary, &planned, bold);
    if planned.summary.is_none() && common.summary != SummaryKind::None {
        return Err(Failure::usage("the pipeline makes no plan: there is nothing to summarise")
            .help("add `assign-offsets` to it, or use `neap opt`"));
    }
    if let Some(path) = &common.summary_file {
        files.push(Output { path: path.clone(), bytes: std::mem::take(&mut summary).into_bytes() });
    }
    outputs::write_all(&files)?;
    streams.deliver(&summary)
}

/// A plan with spills for an NPU graph.
fn spilled(
    request: &Plan,
    input: &Input,
    writers: &[Writer],
    source: Source<'_>,
    streams: &mut Streams<'_>,
) -> Result<Exit, Failure> {
    if let Some(flag) = ignored(request) {
        let failure =
            Failure::usage(format!("`{flag}` has no meaning with `--objective {}`", request.objective.name()));
        return Err(failure.note("the memories and their sizes are those of the NPU"));
    }
    if input.kind != Kind::Npu {
        let failure = Failure::usage(format!("`{}` is no NPU graph", input.name));
        return Err(failure.note("only NPU graphs have memories to spill from and pipes to run on"));
    }
    let judged = Npu::read(&input.bytes).and_then(|npu| npu.spilled(request.objective).map(|judged| (npu, judged)));
    let (npu, judged) = match judged {
        Ok(judged) => judged,
        Err(failure) => {
            streams.say(&report::text(&failure.diagnostics, source, streams.colour_err));
            return Ok(failure.exit);
        }
    };
    let mut files = Vec::new();
    for (path, writer) in request.outputs.iter().zip(writers) {
        files.push(Output { path: path.clone(), bytes: writers::npu_file(*writer, &npu, &judged)? });
    }
    let mut summary = match request.common.summary {
        SummaryKind::None => String::new(),
        SummaryKind::Json => npu.json(&input.name, request.objective, &judged),
        SummaryKind::Text | SummaryKind::Full => npu.text(&input.name, request.objective, &judged),
    };
    if let Some(path) = &request.common.summary_file {
        files.push(Output { path: path.clone(), bytes: std::mem::take(&mut summary).into_bytes() });
    }
    outputs::write_all(&files)?;
    streams.deliver(&summary)
}

/// A flag that a plan with spills could not honour.
fn ignored(request: &Plan) -> Option<&'static str> {
    let (common, source) = (&request.common, &request.common.source);
    let given = [
        ("--pass-pipeline", common.pipeline.is_some()),
        ("--budget", !common.budgets.is_empty()),
        ("--time-limit", common.time_limit.is_some()),
        ("--no-check", common.no_check),
        ("--template", request.template.is_some()),
        ("--profile", source.profile.is_some()),
        ("--arena", !source.arenas.is_empty()),
        ("--keep", !source.keep.is_empty()),
        ("--pin", !source.pins.is_empty()),
        ("--external", !source.external.is_empty()),
        ("--no-reuse", source.no_reuse),
    ];
    given.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
}

/// The model file that the plan goes into, where a writer asks for one: the one that is named, else the input.
fn template(
    request: &Plan,
    input: &Input,
    writers: &[Writer],
    setup: &Setup,
    planned: &Planned,
    streams: &mut Streams<'_>,
) -> Result<Option<Template>, Failure> {
    let needed = writers.iter().any(|writer| writer.needs_template());
    let resorted = input.kind == Kind::Onnx && setup.profile.resorts && planned.summary.is_some();
    if !resorted && !needed {
        return Ok(None);
    }
    let file = match &request.template {
        Some(path) => Input::read(path, streams)?,
        None if input.kind == Kind::Text => return Ok(None),
        None => input.clone(),
    };
    let template = Template::new(file, &request.common.source, setup)?;
    template.is_of(&planned.module)?;
    Ok(Some(template))
}
