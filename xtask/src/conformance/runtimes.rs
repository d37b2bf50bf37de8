//! Emitted `.tflite` files in the runtimes themselves: LiteRT and TFLite Micro, measured by `tools/measure.py`.
//!
//! LiteRT: every model that it runs, in the planned order and in three random legal orders; all tensors that can be read are bit-equal over three
//! invocations, and the arena of the planned order is no larger than that of the file's. TFLite Micro: offsets are honoured, outputs are bit-equal, and the
//! head is no larger than with the runtime's own planner.

use super::{Tally, field, plan, table};
use crate::{Outcome, sh};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// From PyPI.
const PACKAGES: [&str; 3] = ["ai-edge-litert==2.3.0", "tflite-micro==0.dev20261023182759", "numpy==2.4.6"];

/// The most that LiteRT's arena may need in the planned order.
const LITERT_LIMITS: [(&str, u64); 3] = [
    ("keras_nasnet_mobile_f32.tflite", 4_300_000),
    ("gen_swiftcell_64_f32.tflite", 645_000),
    ("mp_hand_recrop.tflite", 1_970_000),
];

/// The most that TFLite Micro's head may need.
const TFLM_LIMITS: [(&str, u64); 1] = [("gen_swiftcell_64_int8.tflite", 147_456)];

/// What the reference kernels of TFLite Micro ask for, where it matters: `svdf_common.cc` asks for a number of four bytes per filter and per unit (64
/// of each here), `rfft.cc` for one of two bytes per point of the transform (512).
const SCRATCH: [(&str, &str); 2] = [
    ("tflm_keyword_scrambled_8bit.tflite", "op,bytes\ntfl.svdf,512\n"),
    ("tflm_audio_preprocessor_int8.tflite", "op,bytes\nsignal_rfft,1024\n"),
];

/// The model that shows that offsets are honoured, and where its result is put: far above everything.
const HONOURED: (&str, u64) = ("gen_swiftcell_64_int8.tflite", 1 << 20);

/// Installs the packages beside the converter.
pub(super) fn install() -> Outcome {
    if present().is_ok() {
        return Ok(());
    }
    let venv = sh::scratch("conformance")?.join("venv");
    sh::run(
        sh::program(venv.join("bin/pip"), ["install", "--quiet", "--disable-pip-version-check", "--pre"])
            .args(PACKAGES),
    )
}

fn python() -> Result<PathBuf, String> {
    Ok(sh::scratch("conformance")?.join("venv/bin/python"))
}

fn present() -> Outcome {
    let imports = "import ai_edge_litert.interpreter, tflite_micro, numpy";
    sh::stdout(&mut sh::program(python()?, ["-c", imports]))
        .map(drop)
        .map_err(|why| format!("{why}\nget LiteRT and TFLite Micro with `cargo xtask conformance --install`"))
}

pub(super) fn run(shared: &Path, tally: &mut Tally) -> Outcome {
    present()?;
    let folder = sh::scratch("conformance/runtimes")?;
    println!("{:<38} {:>8} {:>12} {:>12} {:>8}", "model", "runtime", "before", "after", "ratio");
    for row in table(&shared.join("models/manifest.csv"))? {
        let (file, source) = (field(&row, "file"), field(&row, "source"));
        if !file.ends_with(".tflite") {
            continue;
        }
        let model = shared.join("models").join(file);
        litert(&model, file, &folder, tally)?;
        // Weights behind the flatbuffer are taken for activations.
        if !source.contains("strip_tflite.py") {
            tflm(&model, file, &folder, tally)?;
        }
    }
    honoured(shared, &folder, tally)
}

/// What `tools/measure.py` says of a runtime; none if that does not run the model.
fn measure(runtime: &str, model: &Path, planned: &[PathBuf]) -> Result<Option<Value>, String> {
    let script = sh::root().join("tools/measure.py");
    let mut command = sh::program(python()?, [script.as_os_str(), model.as_os_str()]);
    command.args(planned).args(["--only", runtime, "--json"]);
    let output = sh::output(&mut command)?;
    let text = String::from_utf8_lossy(&output.stdout);
    let found: Value = serde_json::from_str(&text)
        .map_err(|error| format!("{error}: {text}{}", String::from_utf8_lossy(&output.stderr)))?;
    let found = found[runtime].clone();
    if found["before"].is_null() {
        println!("{:<38} {runtime:>8} not run: {}", name(model), found["error"].as_str().unwrap_or("no reason given"));
        return Ok(None);
    }
    Ok(Some(found))
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn litert(model: &Path, file: &str, folder: &Path, tally: &mut Tally) -> Outcome {
    let mut planned = Vec::new();
    for order in ["search", "seed=1", "seed=2", "seed=3"] {
        let out =
            folder.join(format!("{}.{}.tflite", file.trim_end_matches(".tflite"), order.replace("seed=", "seed")));
        let pipeline =
            format!("--pass-pipeline=canonicalize-views,lock-effects,reorder{{order=shuffle {order}}},assign-offsets");
        let flags: &[&str] = if order == "search" { &["--profile=tflite"] } else { &["--profile=tflite", &pipeline] };
        match plan(model, &out, flags) {
            Ok(_) => planned.push(out),
            Err(message) => tally.add(&format!("litert/{file} {order} is written"), Err(message)),
        }
    }
    let Some(found) = measure("litert", model, &planned)? else { return Ok(()) };
    let before = found["before"]["arena"].as_u64().unwrap_or(0);
    for (at, one) in found["planned"].as_array().into_iter().flatten().enumerate() {
        tally.add(&format!("litert/{} is the same", name(&planned[at])), same(one));
        if at == 0 {
            let limit = LITERT_LIMITS.iter().find(|(other, _)| *other == file).map_or(before, |(_, limit)| *limit);
            tally.add(
                &format!("litert/{file} arena"),
                within("litert", file, before, one["after"]["arena"].as_u64(), limit.min(before)),
            );
        }
    }
    Ok(())
}

fn tflm(model: &Path, file: &str, folder: &Path, tally: &mut Tally) -> Outcome {
    let out = folder.join(format!("{}.tflm.tflite", file.trim_end_matches(".tflite")));
    let mut flags = vec!["--profile=tflm".to_owned()];
    if let Some((_, rows)) = SCRATCH.iter().find(|(other, _)| *other == file) {
        let scratch = folder.join(format!("{file}.scratch.csv"));
        sh::write(&scratch, rows)?;
        flags.push(format!("--scratch={}", scratch.display()));
    }
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let written = plan(model, &out, &flags);
    let Some(found) = measure("tflm", model, std::slice::from_ref(&out))? else {
        // What the runtime does not run may still be planned for it; a refusal has its reason.
        return Ok(());
    };
    if let Err(message) = written {
        tally.add(&format!("tflm/{file} is written"), Err(message));
        return Ok(());
    }
    let one = &found["planned"][0];
    tally.add(&format!("tflm/{file} is the same"), same(one));
    let before = found["before"]["head"].as_u64().unwrap_or(0);
    let limit = TFLM_LIMITS.iter().find(|(other, _)| *other == file).map_or(before, |(_, limit)| *limit);
    tally.add(
        &format!("tflm/{file} head"),
        within("tflm", file, before, one["after"]["head"].as_u64(), limit.min(before)),
    );
    let checked =
        sh::stdout(&mut sh::neap(["check", &model.to_string_lossy(), &out.to_string_lossy(), "--profile=tflm"])?);
    tally.add(&format!("tflm/{file} is accepted by `check`"), checked.map(drop));
    Ok(())
}

/// The runtime believes the offsets: what is put far above everything makes the head that large.
fn honoured(shared: &Path, folder: &Path, tally: &mut Tally) -> Outcome {
    let (file, at) = HONOURED;
    let model = shared.join("models").join(file);
    let out = folder.join("honoured.tflite");
    let summary = plan(&model, &out, &["--profile=tflm"])?;
    let storages = summary["functions"][0]["storages"].as_array().cloned().unwrap_or_default();
    let result =
        storages.iter().find(|storage| storage["kind"] == "result").and_then(|storage| storage["names"][0].as_str());
    let pin = format!("--pin={}@{at}", result.unwrap_or_default());
    plan(&model, &out, &["--profile=tflm", &pin])?;
    let found =
        measure("tflm", &model, &[out])?.ok_or("the model that shows that offsets are honoured does not run")?;
    let head = found["planned"][0]["after"]["head"].as_u64().unwrap_or(0);
    let above = if head > at { Ok(()) } else { Err(format!("the head has {head} bytes, a result lies at {at}")) };
    tally.add(&format!("tflm/{file} offsets are honoured"), above.and_then(|()| same(&found["planned"][0])));
    Ok(())
}

fn same(one: &Value) -> Outcome {
    match one["error"].as_str() {
        None => Ok(()),
        Some(error) => Err(error.to_owned()),
    }
}

fn within(runtime: &str, file: &str, before: u64, after: Option<u64>, limit: u64) -> Outcome {
    let after = after.ok_or("there is no figure")?;
    println!("{file:<38} {runtime:>8} {before:>12} {after:>12} {:>8.3}", after as f64 / before.max(1) as f64);
    if after <= limit { Ok(()) } else { Err(format!("{after} bytes, {limit} are the most")) }
}
