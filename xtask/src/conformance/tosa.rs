//! TOSA text of real models, made by a converter that is none of ours: it goes through unchanged, and in custom assembly it gives the
//! one diagnostic that helps.

use super::{Tally, checked, mlir, plan};
use crate::{Outcome, sh};
use std::path::{Path, PathBuf};

const CONVERTER: &str = "tosa-converter-for-tflite";
const VERSION: &str = "2026.2.0";
const MODELS: [&str; 3] = ["keras_mobilenet_v1_f32", "mp_hand_recrop", "gen_unet_128_f32"];

/// Makes a virtual environment with the converter.
pub(super) fn install() -> Outcome {
    if present().is_ok() {
        return Ok(());
    }
    let venv = sh::scratch("conformance")?.join("venv");
    sh::run(&mut sh::program("python3", ["-m".as_ref(), "venv".as_ref(), venv.as_os_str()]))?;
    let package = format!("{CONVERTER}=={VERSION}");
    sh::run(&mut sh::program(venv.join("bin/pip"), ["install", "--quiet", "--disable-pip-version-check", &package]))
}

fn converter() -> Result<PathBuf, String> {
    Ok(sh::scratch("conformance")?.join("venv/bin").join(CONVERTER))
}

fn present() -> Outcome {
    let path = converter()?;
    if path.is_file() {
        return Ok(());
    }
    Err(format!("{} is missing\nget it with `cargo xtask conformance --install`", path.display()))
}

pub(super) fn run(shared: &Path, tally: &mut Tally) -> Outcome {
    present()?;
    for model in MODELS {
        let (generic, custom) = convert(shared, model)?;
        let out = generic.with_extension("planned.mlir");
        match plan(&generic, &out, &[]) {
            Err(message) => tally.add(&format!("tosa/{model}"), Err(message)),
            Ok(summary) => {
                println!("{model:<36} {:>12} {:>12}", super::first(&summary, "arena"), super::first(&summary, "peak"));
                tally.add(&format!("tosa/{model} checked"), checked(&summary));
                tally.add(&format!("tosa/{model} as mlir-opt prints it"), mlir::same_print(&out));
            }
        }
        tally.add(&format!("tosa/{model} in custom assembly"), refused(&custom));
    }
    Ok(())
}

/// The model as TOSA in MLIR's bytecode.
pub(super) fn bytecode(source: &Path, folder: &Path, model: &str) -> Result<PathBuf, String> {
    let bytecode = folder.join(format!("{model}.mlirbc"));
    sh::stdout(&mut sh::program(
        converter()?,
        [source.as_os_str(), "--bytecode".as_ref(), "-o".as_ref(), bytecode.as_os_str()],
    ))?;
    Ok(bytecode)
}

/// The model as TOSA, in the generic form and in custom assembly.
fn convert(shared: &Path, model: &str) -> Result<(PathBuf, PathBuf), String> {
    let folder = sh::scratch("conformance/tosa")?;
    let bytecode = bytecode(&shared.join(format!("models/{model}.tflite")), &folder, model)?;
    let elide = ["--mlir-elide-elementsattrs-if-larger=16", "--mlir-elide-resource-strings-if-larger=16"];
    let print = |name: String, flags: &[&str]| {
        let path = folder.join(name);
        let text = sh::stdout(sh::program("mlir-opt-22", elide.iter().chain(flags)).arg(&bytecode))?;
        sh::write(&path, text).map(|()| path)
    };
    Ok((print(format!("{model}.mlir"), &["--mlir-print-op-generic"])?, print(format!("{model}.custom.mlir"), &[])?))
}

fn refused(custom: &Path) -> Outcome {
    let output = sh::output(&mut sh::neap(["opt".as_ref(), custom.as_os_str()])?)?;
    let said = String::from_utf8_lossy(&output.stderr);
    let errors = said.lines().filter(|line| line.starts_with("error")).count();
    let helps = said.contains("--mlir-print-op-generic");
    match output.status.code() {
        Some(1) if errors == 1 && helps && output.stdout.is_empty() => Ok(()),
        code => Err(format!("exit code {code:?}, {errors} errors, help: {helps}\n{said}")),
    }
}
