//! Orders of real `.tflite` models for LiteRT, order alone: views and in-place as that runtime has them, nothing fused.

use crate::conformance::{first, plan, shared};
use crate::{Outcome, sh};

/// All passes of `plan` but the one that rewrites.
const PASSES: &str = "--pass-pipeline=canonicalize-views,lock-effects,reorder,assign-offsets";

/// One line per model of the shared folder: the peak in the order of the file and in ours, and whether ours is proved.
pub(crate) fn models() -> Outcome {
    println!("-- .tflite models, profile tflite, nothing fused");
    let Ok(folder) = shared() else {
        println!("no models: name their folder in NEAP_SHARED");
        return Ok(());
    };
    println!(
        "{:36} {:>6} {:>12} {:>12} {:>7} {:>7} {:>7}",
        "model", "ops", "as given", "peak", "file x", "gap %", "proof"
    );
    let (mut all, mut proved) = (0, 0);
    for file in sh::files(&folder.join("models"), "tflite")? {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let out = sh::scratch("bench")?.join("model.mlir");
        let summary = match plan(&file, &out, &["--profile=tflite", PASSES, "--no-check"]) {
            Ok(summary) => summary,
            Err(error) => {
                println!("{name:36} {error}");
                continue;
            }
        };
        let function = &summary["functions"][0];
        let (peak, bound) = (first(&summary, "peak"), first(&summary, "lower_bound"));
        let given = function["source"]["peak"].as_u64().unwrap_or(0);
        let by = function["plan"]["proof_by"].as_str();
        let optimal = function["plan"]["order_proof"].as_str() == Some("optimal");
        all += 1;
        proved += u32::from(optimal);
        println!(
            "{name:36} {:>6} {given:>12} {peak:>12} {:>7.3} {:>7.2} {:>7}",
            function["ops"].as_u64().unwrap_or(0),
            given as f64 / peak.max(1) as f64,
            peak.saturating_sub(bound) as f64 / bound.max(1) as f64 * 100.0,
            if optimal { by.unwrap_or("floor") } else { "none" },
        );
    }
    println!("{all} models, {proved} proved optimal");
    Ok(())
}
