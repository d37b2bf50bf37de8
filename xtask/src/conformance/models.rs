//! All `.tflite` models: planned, checked, printed as `mlir-opt` does, and no arena above LiteRT's own.
//!
//! LiteRT's figures are those of the first subgraph. Tensors that it allocates one by one outside of its arena (what a variable is read
//! into) are not in our plan either.

use super::{Tally, checked, field, first, mlir, plan, table};
use crate::{Outcome, sh};
use std::path::Path;

pub(super) fn run(shared: &Path, tally: &mut Tally) -> Outcome {
    let folder = sh::scratch("conformance/models")?;
    println!("{:<36} {:>12} {:>12} {:>12} {:>8}", "model", "arena", "peak", "LiteRT", "ratio");
    for row in table(&shared.join("models/manifest.csv"))? {
        let file = field(&row, "file");
        if !file.ends_with(".tflite") {
            continue;
        }
        let out = folder.join(file).with_extension("mlir");
        let name = format!("models/{file}");
        match plan(&shared.join("models").join(file), &out, &["--profile", "tflite"]) {
            Err(message) => tally.add(&name, Err(message)),
            Ok(summary) => {
                tally.add(&format!("{name} checked"), checked(&summary));
                let arena = first(&summary, "arena");
                let reference: Option<u64> = field(&row, "litert_ref_arena").parse().ok();
                let ratio = reference.map_or("-".to_owned(), |other| format!("{:.3}", arena as f64 / other as f64));
                let shown = reference.map_or("-".to_owned(), |other| other.to_string());
                println!("{file:<36} {arena:>12} {:>12} {shown:>12} {ratio:>8}", first(&summary, "peak"));
                if let Some(other) = reference {
                    let found = format!("the arena has {arena} bytes, LiteRT's has {other}");
                    tally.add(&format!("{name} arena"), if arena <= other { Ok(()) } else { Err(found) });
                }
                tally.add(&format!("{name} as mlir-opt prints it"), mlir::same_print(&out));
            }
        }
    }
    Ok(())
}
