//! All `.onnx` models: planned, checked, printed as `mlir-opt` does, written back, and run in ONNX Runtime: outputs equal, no more bytes asked for in the
//! order of the file, and the runtime's own order as predicted.

use super::{Tally, checked, field, first, mlir, plan, table};
use crate::{Outcome, sh};
use neap_emit::onnx::runtime::default_order;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// From PyPI, into the virtual environment of the comparisons.
const PACKAGES: [&str; 3] = ["onnx==1.23.2", "onnxruntime==1.32.0", "numpy==2.4.6"];

/// Sizes of named dimensions, where a model has some.
const DIMS: &[(&str, &[&str])] = &[
    ("bp_nmp", &["unk__749=1"]),
    ("gen_attn_decoder_loop", &["frames=64", "logits.11.1=12", "Looplogits_dim_1=12"]),
    ("magika", &["unk__214=1"]),
    ("ppocr_v2_cls", &["x.0=1", "x.2=48", "x.3=192"]),
    ("ppocr_v4_det", &["p2o.DynamicDimension.0=1", "p2o.DynamicDimension.1=640", "p2o.DynamicDimension.2=640"]),
    ("silero_vad", &["input.0=1", "input.1=576", "state.1=1", "sr=16000"]),
];

/// How many of the handed models have to need fewer bytes, in the order of the file.
const FALLING: usize = 2;
/// And this one among them.
const FALLS: &str = "gen_randwire_128.onnx";

fn python() -> Result<PathBuf, String> {
    Ok(sh::scratch("conformance")?.join("venv/bin/python"))
}

fn present() -> Outcome {
    let missing = |why: String| format!("{why}\nget ONNX Runtime with `cargo xtask conformance --install`");
    sh::stdout(&mut sh::program(python()?, ["-c", "import onnx, onnxruntime, numpy"])).map(drop).map_err(missing)
}

/// Puts ONNX Runtime into the virtual environment, which is made if it is missing.
pub(super) fn install() -> Outcome {
    if present().is_ok() {
        return Ok(());
    }
    let venv = sh::scratch("conformance")?.join("venv");
    if !venv.join("bin/pip").is_file() {
        sh::run(&mut sh::program("python3", ["-m".as_ref(), "venv".as_ref(), venv.as_os_str()]))?;
    }
    let flags = ["install", "--quiet", "--disable-pip-version-check"];
    sh::run(&mut sh::program(venv.join("bin/pip"), flags.into_iter().chain(PACKAGES)))
}

pub(super) fn run(shared: &Path, tally: &mut Tally) -> Outcome {
    present()?;
    let specs: Value = serde_json::from_str(&sh::read(&shared.join("models/shapes.json"))?)
        .map_err(|error| format!("shapes.json: {error}"))?;
    let (mut predicted, mut ran, mut fallen) = (0, 0, Vec::new());
    println!(
        "{:<28} {:>12} {:>12} {:>12} {:>12} {:>12}",
        "model", "peak", "file before", "after", "own before", "after"
    );
    for row in table(&shared.join("models/manifest.csv"))? {
        let file = field(&row, "file");
        let Some(stem) = file.strip_suffix(".onnx") else { continue };
        let folder = sh::scratch("conformance/onnx")?;
        let name = format!("models/{file}");
        match model(shared, &folder, stem, specs.get(file).unwrap_or(&Value::Null), tally) {
            Err(message) => tally.add(&name, Err(message)),
            Ok(run) => {
                tally.add(&format!("{name} outputs"), equal(&run.peer));
                let (before, after) = (bytes(&run.peer, "before", "file"), bytes(&run.peer, "after", "file"));
                let own = (bytes(&run.peer, "before", "default"), bytes(&run.peer, "after", "default"));
                println!("{file:<28} {:>12} {before:>12} {after:>12} {:>12} {:>12}", run.peak, own.0, own.1);
                let grew = || Err(format!("in the order of the file it asked for {before} bytes, now for {after}"));
                tally.add(&format!("{name} bytes"), if after <= before { Ok(()) } else { grew() });
                if after < before {
                    fallen.push(file.to_owned());
                }
                ran += 1;
                predicted += usize::from(run.predicted);
                if !run.predicted {
                    println!("{file}: the runtime's own order is not the predicted one");
                }
            }
        }
    }
    println!("own order predicted for {predicted} of {ran} models; fewer bytes for {}", fallen.join(", "));
    let right = if ran > 0 && predicted * 10 >= ran * 9 { Ok(()) } else { Err(format!("{predicted} of {ran}")) };
    tally.add("ONNX Runtime's own order predicted", right);
    let falls = fallen.len() >= FALLING && fallen.iter().any(|file| file == FALLS);
    tally.add("fewer bytes in the order of the file", if falls { Ok(()) } else { Err(format!("only for {fallen:?}")) });
    Ok(())
}

struct Run {
    peak: u64,
    peer: Value,
    predicted: bool,
}

/// Plans a model, writes it back, and runs both.
fn model(shared: &Path, folder: &Path, stem: &str, spec: &Value, tally: &mut Tally) -> Result<Run, String> {
    let source = shared.join(format!("models/{stem}.onnx"));
    // The runtime looks for external data beside the file, and writes beside it.
    let (before, after) = (folder.join(format!("{stem}.onnx")), folder.join(format!("{stem}.planned.onnx")));
    let copy = |from: &Path, to: &Path| {
        let bytes = std::fs::read(from).map_err(|error| format!("{}: {error}", from.display()))?;
        sh::write(to, bytes)
    };
    copy(&source, &before)?;
    let data = shared.join(format!("models/{stem}.onnx.data"));
    if data.is_file() {
        copy(&data, &folder.join(format!("{stem}.onnx.data")))?;
    }
    let text = folder.join(format!("{stem}.mlir"));
    let after_name = after.to_string_lossy().into_owned();
    let mut flags = vec!["-o", &after_name];
    let dims = DIMS.iter().find(|(name, _)| *name == stem).map_or(&[][..], |(_, dims)| dims);
    dims.iter().for_each(|dim| flags.extend(["--dim", dim]));
    let summary = plan(&before, &text, &flags)?;
    tally.add(&format!("models/{stem}.onnx checked"), checked(&summary));
    tally.add(&format!("models/{stem}.onnx as mlir-opt prints it"), mlir::same_print(&text));
    let script = sh::root().join("tools/onnx_peer.py");
    let spec = if spec.is_null() { "{}".to_owned() } else { spec.to_string() };
    let args = [script.as_os_str(), before.as_os_str(), after.as_os_str(), spec.as_ref()];
    let said = sh::stdout(&mut sh::program(python()?, args))?;
    let peer: Value = serde_json::from_str(said.trim()).map_err(|error| format!("the peer said no JSON: {error}"))?;
    let predicted = predicted(&before, &peer)?;
    Ok(Run { peak: first(&summary, "peak"), peer, predicted })
}

/// Whether the nodes ran in the order that is predicted for them; some nodes take no step of their own.
fn predicted(file: &Path, peer: &Value) -> Result<bool, String> {
    let bytes = std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let outline = neap_import::onnx::outline(&bytes).map_err(|errors| errors[0].message.clone())?;
    let list = peer["order"].as_array().ok_or("the peer said no order")?;
    let real: Vec<usize> =
        list.iter().filter_map(Value::as_u64).filter_map(|index| usize::try_from(index).ok()).collect();
    let given: Vec<usize> = (0..outline.nodes.len()).collect();
    let guess: Vec<usize> = default_order(&outline, &given).into_iter().filter(|index| real.contains(index)).collect();
    Ok(!real.is_empty() && guess == real)
}

fn equal(peer: &Value) -> Outcome {
    match peer["equal"].as_bool() {
        Some(true) => Ok(()),
        _ => Err("the outputs differ".to_owned()),
    }
}

fn bytes(peer: &Value, file: &str, order: &str) -> u64 {
    peer[file][order].as_u64().unwrap_or(u64::MAX)
}
