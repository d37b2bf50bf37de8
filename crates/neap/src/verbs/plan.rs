//! `neap plan`: the summary is the product, on the standard output; the plan goes to files, by their extension.

use crate::buckets;
use crate::cli::{Common, DimFlag, Objective, Plan, PrintIr, SummaryKind};
use crate::drive::{self, Job, Reproducer, Setup};
use crate::exit::{Exit, Failure};
use crate::input::{Input, Kind};
use crate::npu::Npu;
use crate::outputs::{self, Output, Reads};
use crate::prices;
use crate::progress::Progress;
use crate::proofs;
use crate::report::{self, Source};
use crate::runtime_order;
use crate::streams::Streams;
use crate::stub;
use crate::summary::{self, Look};
use crate::template::Template;
use crate::together;
use crate::weights;
use crate::writers::{self, Asked, With, Writer};
use neap_ir::Module;
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
    let mut reads: Vec<Reads<'_>> = vec![(&common.input, "the input")];
    reads.extend(request.template.iter().map(|path| (path.as_path(), "the template")));
    reads.extend(common.source.files());
    outputs::prepare(&reads, &written)?;
    one_product(common, &written)?;
    let text = match request.rematerialize {
        true => "plan-recompute",
        false => common.pipeline.as_deref().unwrap_or("plan"),
    };
    let pipeline = Pipeline::parse(text).map_err(|error| Failure::pipeline(&error))?;
    let input = Input::read(&common.input, streams)?;
    let named = request.template.as_ref().map(|path| Input::read(path, streams)).transpose()?;
    [Some(&input), named.as_ref()].into_iter().flatten().try_for_each(|file| weights::spare(file, &written))?;
    let model = named.as_ref().or(Some(&input).filter(|input| input.kind != Kind::Text));
    let spills = request.objective != Objective::Peak;
    if spills && input.kind != Kind::Npu {
        let failure =
            Failure::usage(format!("`--objective {}`: `{}` is no NPU graph", request.objective.name(), input.name));
        return Err(failure.note("only NPU graphs have memories to spill from and pipes to run on"));
    }
    let asked = Asked { model, spills, buckets: common.buckets.is_some(), offsets: request.offsets };
    writers::possible(&writers, asked)?;
    let source = Source { name: &input.name, text: input.text(), line: 0 };
    if spills {
        return spilled(request, &input, &writers, source, streams);
    }
    let setup = Setup::new(&common.source, input.kind.profile())?;
    let offsets = writers::offsets(request.offsets, &setup.name)?;
    let options = PrintOptions::default();
    let needed = writers.iter().any(|writer| writer.needs_template());
    let written_into = needed || (input.kind == Kind::Onnx && setup.profile.resorts);
    // The module as read, where its file is written into or plans of it are compared.
    let mut before = None;
    let outcome = input.module(&common.source.dims).and_then(|module| {
        holds_something(&input, &module)?;
        let job = Job {
            name: &input.name,
            common,
            setup: &setup,
            pipeline: &pipeline,
            default_pipeline: common.pipeline.is_none(),
            print_ir: &PrintIr::default(),
            options,
            reproducer: Reproducer::OnBug,
            draw: common.draws() || writers.iter().any(|writer| writer.draws()),
        };
        let progress = Progress::new(&mut *streams.err, streams.progress, common.time_limit);
        let flags = &common.source;
        let priced = !(flags.keep.is_empty() && flags.pins.is_empty() && flags.external.is_empty());
        let again = |module: &Module, dims: &[DimFlag]| input.again((module, &flags.dims), dims);
        before = match (priced || (written_into && input.kind != Kind::Npu), &common.buckets) {
            (false, _) => None,
            (true, None) => Some(module.clone()),
            (true, Some(_)) => Some(again(&module, &buckets::largest(common.clone()).source.dims)?),
        };
        let mut planned = buckets::run(&job, module, again, &progress)?;
        // What a limit cut short says nothing of prices.
        let limited = progress.limit_hit() || !priced;
        if let (Some(before), Some(summary), false) = (&before, &mut planned.summary, limited) {
            prices::add(&job, before, summary, &progress)?;
        }
        Ok(planned)
    });
    let colour = streams.colour_err;
    let mut planned = match outcome {
        Ok(planned) => planned,
        Err(failure) => {
            streams.say(&report::text(&failure.diagnostics, source, colour));
            return missed(common, &failure, streams);
        }
    };
    if common.remarks && input.kind == Kind::Npu {
        let step = planned.summary.as_ref().and_then(|summary| summary.functions.first()?.peak_step.as_ref());
        let step = step.map(|peak| peak.step);
        planned.remarks.extend(Npu::read(&input.bytes)?.remarks(&planned.module, step));
    }
    let shown = planned.remarks.iter().filter(|remark| drive::is_shown(remark, common));
    let shown: Vec<Diagnostic> = shown.cloned().collect();
    streams.say(&report::text(&shown, source, colour));
    streams.say(&planned.said);
    let wanted = needed || planned.summary.is_some();
    let template = match named {
        Some(file) if written_into && wanted => {
            let template = Template::new(file, &common.source, &setup)?;
            template.is_of(&planned.module)?;
            Some(template)
        }
        None if needed && input.kind == Kind::Npu => Some(Template::graph(input.clone())),
        None if wanted => {
            before.map(|module| Template::of(input.clone(), module, &common.source, &setup)).transpose()?
        }
        _ => None,
    };
    let found = {
        let progress = Progress::new(&mut *streams.err, streams.progress, None);
        progress.label("the runtime's own order".to_owned());
        runtime_order::report(template.as_ref(), &mut planned, &setup)
    };
    if let Some(advice) = found.as_ref().and_then(|found| runtime_order::advice(&found.peaks)) {
        streams.say(&report::text(&[advice], source, colour));
    }
    let node_order = found.as_ref().map(|found| found.order.as_slice());
    let with = With { options, template: template.as_ref(), node_order, offsets };
    let mut files = Vec::new();
    for (path, writer) in request.outputs.iter().zip(writers) {
        let moved =
            template.as_ref().filter(|_| writer.is_model()).and_then(|file| weights::missing(&file.input, path));
        streams.say(&report::text(moved.as_slice(), Source { name: "", text: &[], line: 0 }, colour));
        files.push(Output { path: path.clone(), bytes: writers::write(writer, path, &planned, with)? });
    }
    files.extend(stub::file(common, &setup, std::iter::once(&planned.module)));
    let (certificates, missing) = proofs::file(common, std::slice::from_ref(&planned));
    files.extend(certificates);
    streams.say(&report::text(&missing, source, colour));
    let look = match common.summary_file {
        Some(_) => Look::PLAIN,
        None => Look { colour: streams.colour_out, width: streams.width },
    };
    let mut summary = writers::summary(common.summary, &planned, look);
    if planned.summary.is_none() && common.summary != SummaryKind::None {
        return Err(Failure::usage("the pipeline makes no plan: there is nothing to summarise")
            .help("add `assign-offsets` to it, or use `neap opt`"));
    }
    if let Some(path) = &common.summary_file {
        files.push(Output { path: path.clone(), bytes: std::mem::take(&mut summary).into_bytes() });
    }
    outputs::deliver(files, streams)?;
    streams.deliver(&summary)
}

/// The figures of a plan that does not keep a budget, for scripts; people have been told.
fn missed(common: &Common, failure: &Failure, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
    let Some(summary) = failure.missed.as_ref().filter(|_| common.summary == SummaryKind::Json) else {
        return Ok(failure.exit);
    };
    let text = summary::json(summary);
    match &common.summary_file {
        Some(path) => outputs::write_all(&[Output { path: path.clone(), bytes: text.into_bytes() }])?,
        None => drop(streams.deliver(&text)?),
    }
    Ok(failure.exit)
}

/// Refuses to write the summary and something else to the standard output.
///
/// # Errors
/// Both would go there.
pub(crate) fn one_product(common: &Common, written: &[PathBuf]) -> Result<(), Failure> {
    let summary = common.summary != SummaryKind::None && common.summary_file.is_none();
    if summary && written.iter().any(|path| outputs::is_stdout(path)) {
        let failure = Failure::usage("`-` is the standard output, where the summary goes");
        return Err(failure.help("add `--summary=none`, or `--summary-file FILE` for the summary"));
    }
    Ok(())
}

/// A plan with spills for an NPU graph.
fn spilled(
    request: &Plan,
    input: &Input,
    writers: &[Writer],
    source: Source<'_>,
    streams: &mut Streams<'_>,
) -> Result<Exit, Failure> {
    let judged = {
        let progress = Progress::new(&mut *streams.err, streams.progress, None);
        progress.label(format!("spills for the least {}", request.objective.name()));
        Npu::read(&input.bytes).and_then(|npu| npu.spilled(request.objective).map(|judged| (npu, judged)))
    };
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
    outputs::deliver(files, streams)?;
    streams.deliver(&summary)
}

/// Whether there is anything to plan.
///
/// # Errors
/// There is nothing.
pub(crate) fn holds_something(input: &Input, module: &Module) -> Result<(), Failure> {
    if module.functions().iter().any(|func| module.entry(*func).is_some()) {
        return Ok(());
    }
    let what = if input.is_empty() { "is empty" } else { "has no function with a body" };
    Err(Failure::input(format!("`{}` {what}: there is nothing to plan", input.name)))
}
