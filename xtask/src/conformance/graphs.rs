//! All ordering graphs: planned, checked, printed as `mlir-opt` does, and no peak above that of the order in the file.

use super::{Tally, checked, field, first, mlir, plan, table};
use crate::{Outcome, sh};
use std::path::Path;

pub(super) fn run(shared: &Path, tally: &mut Tally) -> Outcome {
    let folder = sh::scratch("conformance/graphs")?;
    println!("{:<28} {:>14} {:>14} {:>14} {:>14} {:>8}", "graph", "file order", "peak", "best known", "bound", "gap");
    for row in table(&shared.join("graphs/results.csv"))? {
        let graph = field(&row, "name");
        let out = folder.join(format!("{graph}.mlir"));
        let name = format!("graphs/{graph}");
        match plan(&shared.join(format!("graphs/{graph}.mlir")), &out, &[]) {
            Err(message) => tally.add(&name, Err(message)),
            Ok(summary) => {
                tally.add(&format!("{name} checked"), checked(&summary));
                let (peak, bound) = (first(&summary, "peak"), first(&summary, "lower_bound"));
                let (default, best) = (field(&row, "default"), field(&row, "best_known"));
                let gap = best.parse::<u64>().map_or(f64::NAN, |best| peak as f64 / best as f64);
                println!("{graph:<28} {default:>14} {peak:>14} {best:>14} {bound:>14} {gap:>8.4}");
                let worse = match default.parse::<u64>() {
                    Ok(default) if peak <= default => Ok(()),
                    _ => Err(format!("the peak is {peak}, file order has {default}")),
                };
                tally.add(&format!("{name} peak"), worse);
                tally.add(&format!("{name} as mlir-opt prints it"), mlir::same_print(&out));
            }
        }
    }
    Ok(())
}
