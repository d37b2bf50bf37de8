//! The page of a plan in headless Chromium, driven by Playwright (`tools/drive_report.py`): small models, several functions, several arenas, and a
//! hundred thousand storages, in light and dark, with the network off.

use super::Tally;
use crate::rng::Rng;
use crate::{Outcome, sh};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// From PyPI; drives the browser of the system.
const DRIVER: &str = "playwright==1.65.2";
/// Debian's package.
const BROWSER: &str = "chromium";
/// The most seconds that the largest page may take to open.
const SECONDS: &str = "2";

/// Pages: a name, a model, flags.
const PAGES: [(&str, &str, &[&str]); 4] = [
    ("small", "testdata/models/person_detect.mlir", &[]),
    ("nasnet", "testdata/models/nasnet_mobile.mlir", &[]),
    ("arenas", "testdata/models/person_detect.mlir", &["--arena=sram=48K:16", "--arena=dram=1M:16"]),
    ("functions", "testdata/tflite/litert_multi_subgraphs_while.tflite", &[]),
];

/// Installs the browser and its driver.
pub(super) fn install() -> Outcome {
    if browser().is_err() {
        sh::run(&mut sh::program("apt-get", ["update", "-q"]))?;
        // Without a font there is no text in a picture.
        let packages = ["install", "-yq", "--no-install-recommends", BROWSER, "fonts-dejavu-core"];
        sh::run(sh::program("apt-get", packages).env("DEBIAN_FRONTEND", "noninteractive"))?;
    }
    if driver().is_err() {
        let pip = sh::scratch("conformance")?.join("venv/bin/pip");
        sh::run(&mut sh::program(pip, ["install", "--quiet", "--disable-pip-version-check", DRIVER]))?;
    }
    Ok(())
}

fn python() -> Result<PathBuf, String> {
    Ok(sh::scratch("conformance")?.join("venv/bin/python"))
}

fn browser() -> Outcome {
    let program = std::env::var_os("NEAP_CHROMIUM").unwrap_or_else(|| "/usr/bin/chromium".into());
    sh::stdout(&mut sh::program(program, ["--version"])).map(drop).map_err(|why| {
        format!("{why}\nget it with `cargo xtask conformance --install` or `apt-get install {BROWSER}`, or name one in NEAP_CHROMIUM")
    })
}

fn driver() -> Outcome {
    sh::stdout(&mut sh::program(python()?, ["-c", "import playwright.sync_api"]))
        .map(drop)
        .map_err(|why| format!("{why}\nget Playwright with `cargo xtask conformance --install`"))
}

/// All pages, and the largest one's time.
pub(super) fn run(tally: &mut Tally) -> Outcome {
    browser()?;
    driver()?;
    let folder = sh::scratch("conformance/browser")?;
    for (name, model, flags) in PAGES {
        tally.add(&format!("the page of {name}"), page(&folder, name, &sh::root().join(model), flags, &[]));
    }
    let large = folder.join("large.mlir");
    sh::write(&large, generated(100_000))?;
    tally.add("the page of 100,000 storages", page(&folder, "large", &large, &["--no-check"], &["--seconds", SECONDS]));
    Ok(())
}

/// Plans, draws and drives.
fn page(folder: &Path, name: &str, model: &Path, flags: &[&str], more: &[&str]) -> Outcome {
    let file = |extension: &str| folder.join(format!("{name}.{extension}"));
    let (html, svg, json) = (file("html"), file("svg"), file("json"));
    let mut args: Vec<String> = vec!["plan".to_owned(), model.display().to_string(), "--summary=none".to_owned()];
    args.extend([&html, &svg, &json].iter().flat_map(|path| ["-o".to_owned(), path.display().to_string()]));
    args.extend(flags.iter().map(|flag| (*flag).to_owned()));
    sh::stdout(&mut sh::neap(&args)?)?;
    let script = sh::root().join("tools/drive_report.py");
    let mut command = sh::program(python()?, [script.as_os_str(), html.as_os_str(), json.as_os_str()]);
    let output = sh::output(command.arg("--svg").arg(svg).args(more))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    print!("{said}");
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{said}{}", String::from_utf8_lossy(&output.stderr))),
    }
}

/// A long chain with branches, as text: so many values of up to sixteen kilobytes.
fn generated(count: usize) -> String {
    let mut rng = Rng::new(5);
    let mut sizes = vec![4096u64];
    let mut text = String::from("func.func @main(%v0: tensor<4096xi8>) -> tensor<64xi8> {\n");
    for at in 1..count {
        let near = sizes.len().min(8);
        let mut reads = vec![at - 1, at - 1 - rng.below(near)];
        reads.dedup();
        let size = if at + 1 == count { 64 } else { 64 * (1 + rng.below(255) as u64) };
        let names: Vec<String> = reads.iter().map(|read| format!("%v{read}")).collect();
        let types: Vec<String> = reads.iter().map(|read| format!("tensor<{}xi8>", sizes[*read])).collect();
        let (names, types) = (names.join(", "), types.join(", "));
        let _ = writeln!(text, "  %v{at} = \"neap.opaque\"({names}) : ({types}) -> tensor<{size}xi8>");
        sizes.push(size);
    }
    let _ = writeln!(text, "  return %v{} : tensor<64xi8>\n}}", count - 1);
    text
}
