//! The wheel: built by maturin, installed by pip into an environment of its own, and its `neap` plans a model.

use super::Tally;
use crate::{Outcome, sh};
use std::path::PathBuf;

/// From PyPI.
const PACKAGE: &str = "maturin>=1.9,<2";

/// Installs maturin beside the other packages.
pub(super) fn install() -> Outcome {
    if present().is_ok() {
        return Ok(());
    }
    let pip = sh::scratch("conformance")?.join("venv/bin/pip");
    sh::run(&mut sh::program(pip, ["install", "--quiet", "--disable-pip-version-check", PACKAGE]))
}

fn maturin() -> Result<PathBuf, String> {
    Ok(sh::scratch("conformance")?.join("venv/bin/maturin"))
}

fn present() -> Outcome {
    sh::stdout(&mut sh::program(maturin()?, ["--version"]))
        .map(drop)
        .map_err(|why| format!("{why}\nget maturin with `cargo xtask conformance --install`"))
}

pub(super) fn run(tally: &mut Tally) -> Outcome {
    present()?;
    tally.add("the wheel plans a model", tried());
    Ok(())
}

fn tried() -> Outcome {
    let folder = sh::scratch("conformance/wheel")?;
    for old in sh::files(&folder, "whl")? {
        std::fs::remove_file(&old).map_err(|error| format!("{}: {error}", old.display()))?;
    }
    // The profile of the tests: what is tried is the packaging.
    let args = ["build", "--profile", "dev", "--auditwheel", "skip", "--out"];
    sh::stdout(sh::program(maturin()?, args).arg(&folder))?;
    let wheels = sh::files(&folder, "whl")?;
    let [wheel] = wheels.as_slice() else { return Err(format!("maturin made {} wheels", wheels.len())) };
    let venv = folder.join("venv");
    sh::stdout(&mut sh::program("python3", ["-m".as_ref(), "venv".as_ref(), "--clear".as_ref(), venv.as_os_str()]))?;
    let pip = ["install", "--quiet", "--disable-pip-version-check", "--no-index"];
    sh::stdout(sh::program(venv.join("bin/pip"), pip).arg(wheel))?;
    let said = sh::stdout(&mut sh::program(venv.join("bin/neap"), ["--version"]))?;
    if said.trim() != format!("neap {}", env!("CARGO_PKG_VERSION")) {
        return Err(format!("`neap --version` of the wheel says {said}"));
    }
    let model = sh::root().join("testdata/tflite/tflm_micro_speech_quantized.tflite");
    let out = folder.join("planned.tflite");
    let args = ["plan".as_ref(), model.as_os_str(), "-o".as_ref(), out.as_os_str()];
    let summary = sh::stdout(&mut sh::program(venv.join("bin/neap"), args))?;
    if summary.contains("checked") && out.is_file() {
        Ok(())
    } else {
        Err(format!("the wheel's `neap plan` says {summary}"))
    }
}
