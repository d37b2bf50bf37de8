//! What is tried on every input: under libFuzzer (`fuzz_targets/`), and on stable Rust (`cargo xtask fuzz`).

use neap::exit::Exit;
use neap::streams::Streams;
use neap_ir::print::{PrintOptions, print};

/// Text never panics the parser, and what it accepts prints to a fixed point.
pub(super) fn parser(data: &[u8]) {
    neap_ir::parse::fuzz_parse(data);
}

/// No file panics the TFLite reader, and what it accepts is a valid module that reads back.
pub(super) fn tflite(data: &[u8]) {
    let Ok(module) = neap_import::read_tflite(data) else { return };
    if let Err(failure) = neap::drive::valid(&module) {
        panic!("the reader made an invalid module: {failure:?}");
    }
    let text = print(&module, &PrintOptions::default());
    if let Err(errors) = neap_ir::parse(&text) {
        panic!("what was printed cannot be read: {errors:?}\n{text}");
    }
}

/// No file panics the ONNX reader or the prediction of the runtime's order; what is accepted is a valid module that reads back, and a file that can be
/// written in that order.
pub(super) fn onnx(data: &[u8]) {
    use neap_emit::onnx::{outline, reordered, runtime};
    let Ok(module) = neap_import::read_onnx(data, &[("N".to_owned(), 1, 8)]) else { return };
    if let Err(failure) = neap::drive::valid(&module) {
        panic!("the reader made an invalid module: {failure:?}");
    }
    let text = print(&module, &PrintOptions::default());
    if let Err(errors) = neap_ir::parse(&text) {
        panic!("what was printed cannot be read: {errors:?}\n{text}");
    }
    let file = outline(data).unwrap_or_else(|errors| panic!("read once and not again: {errors:?}"));
    let order: Vec<usize> = (0..file.nodes.len()).collect();
    let order = runtime::complete(&file, &runtime::priority_order(&file, &order));
    if let Err(errors) = reordered(data, &order) {
        panic!("a legal order was refused: {errors:?}");
    }
    assert_eq!(runtime::default_order(&file, &order).len(), runtime::priority_order(&file, &order).len());
}

/// No file panics the NPU reader; what it accepts is a valid module whose own order the replay accepts, and where it is small, a plan with
/// spills that the replay accepts too.
pub(super) fn npu(data: &[u8]) {
    let Ok(module) = neap_import::read_npu(data) else { return };
    let Ok(npu) = neap::npu::Npu::read(data) else { panic!("one reader refuses what the other accepts") };
    let Ok(schedule) = neap_emit::npu::schedule(&module) else { return };
    let plan = neap_import::npu::replay::Plan { schedule, ..Default::default() };
    let rules = neap_import::npu::replay::Rules::Order;
    if let Err(broken) = neap_import::npu::replay::replay(&npu.graph, &npu.program, &plan, rules) {
        // The file's own order may not keep the classes; all else it keeps.
        let class = |one: &neap_import::npu::replay::Violation| {
            matches!(one, neap_import::npu::replay::Violation::Class { .. })
        };
        assert!(broken.iter().all(class), "{broken:?}");
    }
    if npu.graph.nodes.len() < 200
        && let Err(failure) = npu.spilled(neap::cli::Objective::Makespan)
    {
        assert!(failure.exit != Exit::Bug, "{failure:?}");
    }
}

/// No module breaks a pass or makes a plan that the checker refuses: the exit code of our own bugs is never seen.
pub(super) fn pipeline(data: &[u8]) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut input = data;
    let streams = &mut Streams {
        input: &mut input,
        out: &mut out,
        err: &mut err,
        colour_out: false,
        colour_err: false,
        width: 80,
        progress: false,
    };
    let exit = neap::run(["neap", "opt", "-"].map(Into::into), streams);
    assert!(exit != Exit::Bug, "{}", String::from_utf8_lossy(&err));
    assert!(exit == Exit::Done || out.is_empty(), "a run that failed printed something");
}
