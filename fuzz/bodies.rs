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

/// No module and no model file break a writer: what is written reads back, and where it holds offsets, they are good ones. The input is a model file
/// behind its length (four bytes, least first), then the text of a module that may be a plan of it.
pub(super) fn emit(data: &[u8]) {
    let Some((length, rest)) = data.split_first_chunk::<4>() else { return };
    let (template, text) = rest.split_at(rest.len().min(u32::from_le_bytes(*length) as usize));
    let Ok(planned) = neap_ir::parse::parse_bytes(text) else { return };
    if neap::drive::valid(&planned).is_err() {
        return;
    }
    if let Ok(header) = neap_emit::c::write(&[&planned], "plan") {
        assert!(header.is_ascii() && header.matches("/*").count() == header.matches("*/").count(), "{header}");
    }
    if let Ok(program) = neap_emit::memref::program(&planned) {
        assert!(neap::drive::valid(&program).is_ok(), "the program is not valid");
        let text = print(&program, &PrintOptions::default());
        assert!(neap_ir::parse(&text).is_ok(), "the program cannot be read:\n{text}");
    }
    if neap_import::is_tflite(template) {
        emit_tflite(template, &planned);
    } else if template.first() == Some(&b'{') {
        if let Ok(npu) = neap::npu::Npu::read(template) {
            let _ = npu.order(&planned);
        }
    } else if let Ok(file) = neap_emit::onnx::outline(template)
        && let Ok(order) = neap_emit::onnx::planned_order(&file, &planned)
    {
        let written = neap_emit::onnx::reordered(template, &order);
        let written = written.unwrap_or_else(|errors| panic!("the order of a plan was refused: {errors:?}"));
        assert_eq!(neap_emit::onnx::outline(&written).map(|file| file.nodes.len()).ok(), Some(file.nodes.len()));
    }
}

fn emit_tflite(template: &[u8], planned: &neap_ir::Module) {
    use neap_emit::tflite::{Options, read_offsets, write};
    let Ok(source) = neap_import::read_tflite(template) else { return };
    for offsets in [false, true] {
        let Ok(written) = write(template, &source, planned, Options { offsets }) else { continue };
        let module = neap_import::read_tflite(&written);
        let module = module.unwrap_or_else(|errors| panic!("what was written cannot be read: {errors:?}"));
        if offsets {
            let judged = read_offsets(&written, &module);
            assert!(judged.is_ok(), "offsets that were written are refused: {judged:?}");
        } else {
            assert_eq!(written.len(), template.len(), "an order changed the length");
        }
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
