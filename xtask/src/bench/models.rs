//! What real models need: by LiteRT's own planner, by TFLite Micro's, by neap for LiteRT, and by neap for an ideal runtime; and which kind
//! of decision brought how much.
//!
//! LiteRT's figure is the arena that it really allocated for the first subgraph with reference kernels, TFLite Micro's the head of its arena.
//! `floor` is the bound that is proved for every order of the graph that neap plans; `*` marks a peak that is that bound.

use crate::conformance::{field, first, plan, shared, table};
use crate::{Outcome, sh};
use serde_json::Value;

/// The kinds of decisions, as the summary has them, with short names.
const SAVED: [(&str, &str); 6] = [
    ("fuse", "fuse"),
    ("views", "views"),
    ("in_place", "in place"),
    ("placement", "placed"),
    ("order", "order"),
    ("packing", "packing"),
];

pub(super) fn run() -> Outcome {
    let shared = shared()?;
    let folder = sh::scratch("bench/models")?;
    let rows = table(&shared.join("models/manifest.csv"))?;
    for profile in ["tflite", "none"] {
        println!("-- --profile {profile}");
        println!(
            "{:<36} {:>11} {:>11} {:>11} {:>11} {:>7}  saved",
            "model", "LiteRT", "TFLM head", "floor", "neap", "ratio"
        );
        let mut ratios = Vec::new();
        let (mut above, mut below) = (Vec::new(), 0);
        for row in rows.iter().filter(|row| field(row, "file").ends_with(".tflite")) {
            let Ok(litert) = field(row, "litert_ref_arena").parse::<u64>() else { continue };
            let file = field(row, "file");
            let out = folder.join(format!("{file}.{profile}.mlir"));
            let summary = plan(&shared.join("models").join(file), &out, &["--profile", profile])?;
            let (arena, peak, bound) =
                (first(&summary, "arena"), first(&summary, "peak"), first(&summary, "lower_bound"));
            let ratio = arena as f64 / litert as f64;
            let head = match field(row, "tflm_head") {
                "" => "-",
                head => head,
            };
            let proved = if peak == bound { "*" } else { " " };
            println!(
                "{file:<36} {litert:>11} {head:>11} {bound:>10}{proved} {arena:>11} {ratio:>7.3}  {}",
                saved(&summary["functions"][0]["saved"])
            );
            ratios.push(ratio);
            if arena > litert {
                above.push(file.to_owned());
            }
            below += usize::from(arena < litert && litert > 100_000);
        }
        let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len().max(1) as f64).exp();
        println!(
            "{} models: geometric mean of neap / LiteRT {mean:.4}; below on {below} of those above 100,000 bytes; above on {}",
            ratios.len(),
            if above.is_empty() { "none".to_owned() } else { above.join(", ") }
        );
    }
    Ok(())
}

/// The parts that are not 0.
fn saved(parts: &Value) -> String {
    let part = |(key, name): &(&str, &str)| {
        let bytes = parts[*key].as_i64().filter(|bytes| *bytes != 0)?;
        Some(format!("{name} {bytes}"))
    };
    let parts: Vec<String> = SAVED.iter().filter_map(part).collect();
    if parts.is_empty() { "-".to_owned() } else { parts.join(", ") }
}
