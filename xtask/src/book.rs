//! The book in `docs` and the README: built, every command in them run and its output compared, the pass of the book compiled and tested.
//!
//! A command stands in a fenced block `console` behind `$ `; lines below it are what it prints, both streams together. A line `...` stands for any
//! lines; a command without such lines has to succeed and may print anything. The blocks of a page run one after another in one folder, which holds the
//! files of `docs/files` and, under the names that the pages use for the reader's own, small models of `testdata`.
//!
//! A picture in `docs/src/images` that a command draws, under the same name, has to be the one that is there.
//!
//! A block `rust,file=PATH` or `mlir,file=PATH` is written to PATH in a copy of this clone, where the developer's verbs run too, so that nothing here
//! changes.

use crate::{Outcome, sh};
use std::path::{Path, PathBuf};
use std::process::Command;

/// From crates.io.
const MDBOOK: &str = "0.5.4";
/// Commands that are run elsewhere, and where.
const ELSEWHERE: [(&str, &str); 2] =
    [("cargo xtask test", "CI runs it for itself"), ("cargo install --path crates/neap", "run once, before all pages")];
/// What the pages call the reader's own files, and what they are here.
const FILES: [(&str, &str); 6] = [
    ("model.tflite", "testdata/tflite/tflm_micro_speech_quantized.tflite"),
    ("a.tflite", "testdata/tflite/tflm_micro_speech_quantized.tflite"),
    ("b.tflite", "testdata/tflite/tflm_keyword_scrambled_8bit.tflite"),
    ("model.onnx", "testdata/onnx/node_scan9_multi_state.onnx"),
    ("npu.json", "testdata/npu/flash.json"),
    ("nasnet.mlir", "testdata/models/nasnet_mobile.mlir"),
];

/// A fenced block that is run or written.
enum Block {
    Command { line: usize, text: String, expected: Vec<String> },
    File { path: String, text: String },
}

fn mdbook() -> Result<PathBuf, String> {
    Ok(sh::scratch("conformance")?.join("mdbook/bin/mdbook"))
}

fn present() -> Outcome {
    sh::stdout(&mut sh::program(mdbook()?, ["--version"]))
        .map(drop)
        .map_err(|why| format!("{why}\nget mdBook with `cargo xtask conformance --install`"))
}

/// Installs mdBook below `target`.
pub(crate) fn install() -> Outcome {
    if present().is_ok() {
        return Ok(());
    }
    let root = sh::scratch("conformance")?.join("mdbook");
    let args = ["install", "mdbook", "--version", MDBOOK, "--locked", "--no-default-features", "--features", "search"];
    sh::run(sh::cargo(args).arg("--root").arg(root))
}

/// Builds the book and runs each page, or the one whose file has the stem `only`; `bless` writes what was printed into the pages instead of comparing.
/// Hands what came of each to `done`.
pub(crate) fn run(bless: bool, only: Option<&str>, done: &mut dyn FnMut(&str, Outcome)) -> Outcome {
    present()?;
    let html = sh::scratch("book")?.join("html");
    let docs = sh::root().join("docs");
    done("the book is built", built(&docs, &html));
    let bin = programs()?;
    let mut clone = None;
    let mut pages = vec![sh::root().join("README.md")];
    pages.extend(sh::files(&docs.join("src"), "md")?);
    if let Some(only) = only {
        pages.retain(|page| page.file_stem().is_some_and(|stem| stem == only));
        if pages.is_empty() {
            return Err(format!("there is no page docs/src/{only}.md"));
        }
    }
    for page in pages {
        let name = shown(&page);
        println!("{name}");
        done(&name, tried(&page, &bin, &mut clone, bless));
    }
    Ok(())
}

fn shown(page: &Path) -> String {
    page.strip_prefix(sh::root()).unwrap_or(page).display().to_string()
}

/// mdBook's own build, and what it does not look at: that every page is in the summary, and every local link leads somewhere.
fn built(docs: &Path, html: &Path) -> Outcome {
    sh::stdout(sh::program(mdbook()?, ["build"]).arg(docs).arg("--dest-dir").arg(html))?;
    let source = docs.join("src");
    let summary = sh::read(&source.join("SUMMARY.md"))?;
    for page in sh::files(&source, "md")? {
        let name = page.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name != "SUMMARY.md" && !summary.contains(&format!("({name})")) {
            return Err(format!("docs/src/{name} is not in SUMMARY.md"));
        }
        let text = sh::read(&page)?;
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = link.split('#').next().unwrap_or_default();
            if !file.is_empty() && !file.contains("://") && !source.join(file).exists() {
                return Err(format!("docs/src/{name} links to {link}, which is not there"));
            }
        }
    }
    Ok(())
}

/// A folder for the search path: `neap` installed as the README says, and LLVM's `mlir-opt` under its plain name.
fn programs() -> Result<PathBuf, String> {
    let root = sh::scratch("book/installed")?;
    sh::run(sh::cargo(["install", "--quiet", "--path", "crates/neap", "--locked", "--force", "--root"]).arg(&root))?;
    let bin = root.join("bin");
    let plain = bin.join("mlir-opt");
    if !plain.exists() {
        let found = sh::stdout(&mut sh::program("sh", ["-c", "command -v mlir-opt-22"]))
            .map_err(|_| "mlir-opt-22 is not there: `cargo xtask conformance --install` gets it")?;
        std::os::unix::fs::symlink(found.trim(), &plain).map_err(|error| format!("{}: {error}", plain.display()))?;
    }
    Ok(bin)
}

fn tried(page: &Path, bin: &Path, clone: &mut Option<PathBuf>, bless: bool) -> Outcome {
    let text = sh::read(page)?;
    let name = page.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut place = Place { bin, folder: prepared(&name, bin)?, clone };
    let mut printed = Vec::new();
    for block in &blocks(&text)? {
        match block {
            Block::File { path, text } => sh::write(&place.clone()?.join(path), text)?,
            Block::Command { line, text, expected } => {
                let at = format!("{}:{line}: `{text}`", shown(page));
                if let Some((_, why)) = ELSEWHERE.iter().find(|(start, _)| text.starts_with(start)) {
                    println!("  not here: {text} ({why})");
                    continue;
                }
                let got = place.output(text).map_err(|why| format!("{at}: {why}"))?;
                if !expected.is_empty() && !matches(expected, &got) {
                    if !bless {
                        return Err(format!("{at} prints\n{}", got.join("\n")));
                    }
                    printed.push((*line, expected.len(), got));
                }
            }
        }
    }
    for picture in sh::files(&sh::root().join("docs/src/images"), "svg")? {
        let drawn = place.folder.join(picture.file_name().unwrap_or_default());
        if drawn.exists() && sh::read(&drawn)? != sh::read(&picture)? {
            if !bless {
                return Err(format!("{} is not what a command of this page draws", shown(&picture)));
            }
            sh::write(&picture, sh::read(&drawn)?)?;
        }
    }
    if printed.is_empty() { Ok(()) } else { sh::write(page, blessed(&text, &printed)) }
}

/// The page with the lines below commands replaced; lines are counted from 1.
fn blessed(text: &str, printed: &[(usize, usize, Vec<String>)]) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    for (line, old, new) in printed.iter().rev() {
        lines.splice(*line..line + old, new.iter().map(String::as_str));
    }
    lines.join("\n") + "\n"
}

/// Where the commands of a page run.
struct Place<'a> {
    /// Comes first on the search path.
    bin: &'a Path,
    folder: PathBuf,
    /// A copy of this clone for all pages, made when something first changes one; `cargo` runs there from then on.
    clone: &'a mut Option<PathBuf>,
}

impl Place<'_> {
    fn clone(&mut self) -> Result<PathBuf, String> {
        if self.clone.is_none() {
            *self.clone = Some(copy()?);
        }
        self.clone.clone().ok_or_else(|| "there is no copy of this clone".to_owned())
    }

    /// What a command prints on both streams, line by line.
    fn output(&mut self, text: &str) -> Result<Vec<String>, String> {
        let verb = text.strip_prefix("cargo xtask ").and_then(|rest| rest.split(' ').next());
        let users = verb.is_some_and(|verb| neap::cli::command().find_subcommand(verb).is_some());
        let (script, folder) = match text.strip_prefix("cargo xtask ") {
            // This program is what `cargo xtask` would build.
            Some(rest) if users && self.clone.is_none() => (format!("'{}' {rest}", this()?.display()), sh::root()),
            Some(_) => (text.to_owned(), self.clone()?),
            None => (text.to_owned(), self.folder.clone()),
        };
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut paths = vec![self.bin.to_owned()];
        paths.extend(std::env::split_paths(&path));
        let path = std::env::join_paths(paths).map_err(|error| error.to_string())?;
        let mut command = Command::new("bash");
        command.args(["-o", "pipefail", "-c", &format!("exec 2>&1; {script}")]).current_dir(folder);
        command.env("PATH", path).env("NO_COLOR", "1").env_remove("COLUMNS");
        command.env("CARGO_TARGET_DIR", sh::scratch("book/target")?);
        let output = sh::output(&mut command)?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        if !output.status.success() {
            return Err(format!("ended with {}\n{}", output.status, said.trim_end()));
        }
        Ok(said.lines().map(|line| line.trim_end().to_owned()).collect())
    }
}

fn this() -> Result<PathBuf, String> {
    std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))
}

/// Whether lines are those that are expected; `...` stands for any.
fn matches(expected: &[String], got: &[String]) -> bool {
    match expected {
        [] => got.is_empty(),
        [any, rest @ ..] if any == "..." => (0..=got.len()).any(|skip| matches(rest, &got[skip..])),
        [line, rest @ ..] => got.first() == Some(line) && matches(rest, &got[1..]),
    }
}

/// An empty folder with the files that pages name.
fn prepared(name: &str, bin: &Path) -> Result<PathBuf, String> {
    let folder = fresh(name)?;
    let link = |from: PathBuf, to: &str| {
        let to = folder.join(to);
        std::os::unix::fs::symlink(&from, &to).map_err(|error| format!("{}: {error}", to.display()))
    };
    link(sh::root().join("testdata"), "testdata")?;
    let copied = |from: &Path, to: &str| {
        std::fs::copy(from, folder.join(to)).map(drop).map_err(|error| format!("{}: {error}", from.display()))
    };
    for (to, from) in FILES {
        copied(&sh::root().join(from), to)?;
    }
    for extension in ["mlir", "toml", "csv"] {
        for file in sh::files(&sh::root().join("docs/files"), extension)? {
            copied(&file, &file.file_name().unwrap_or_default().to_string_lossy())?;
        }
    }
    // What a run before this one has left.
    for summary in ["old.json", "new.json"] {
        let mut plan = Command::new(bin.join("neap"));
        plan.args(["plan", "model.tflite", "--summary=none", "-o", summary]).current_dir(&folder);
        sh::stdout(&mut plan)?;
    }
    Ok(folder)
}

/// A copy of this clone with what is not committed yet. Its files are new, so that nothing that was built of an earlier copy counts.
fn copy() -> Result<PathBuf, String> {
    let folder = fresh("clone")?;
    let script = format!(
        "git ls-files -z --cached --others --exclude-standard | xargs -0 -I@ sh -c 'test ! -f \"@\" || cp --parents \"@\" \"$0\"' '{0}' && cd '{0}' && git init -q && git add -A",
        folder.display()
    );
    sh::stdout(&mut sh::program("bash", ["-o", "pipefail", "-c", &script]))?;
    Ok(folder)
}

fn fresh(name: &str) -> Result<PathBuf, String> {
    let folder = sh::scratch("book/pages")?.join(name);
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder)
}

/// The blocks of a page that are run or written, in order.
fn blocks(text: &str) -> Result<Vec<Block>, String> {
    let mut found = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let Some(info) = line.strip_prefix("```").filter(|info| !info.is_empty()) else { continue };
        let mut body = Vec::new();
        loop {
            match lines.next() {
                Some((_, "```")) => break,
                Some((at, line)) => body.push((at + 1, line)),
                None => return Err(format!("line {}: the block does not end", at + 1)),
            }
        }
        if let Some((_, path)) = info.split_once(",file=") {
            let text = body.iter().map(|(_, line)| format!("{line}\n")).collect();
            found.push(Block::File { path: path.to_owned(), text });
        } else if info == "console" {
            for (line, text) in body {
                match (text.strip_prefix("$ "), found.last_mut()) {
                    (Some(text), _) => {
                        found.push(Block::Command { line, text: text.to_owned(), expected: Vec::new() });
                    }
                    (None, Some(Block::Command { expected, .. })) => expected.push(text.to_owned()),
                    (None, _) => return Err(format!("line {line}: output without a command")),
                }
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn dots_stand_for_any_lines() {
        assert!(matches(&lines("a\n...\nc"), &lines("a\nb\nb\nc")));
        assert!(matches(&lines("..."), &[]));
        assert!(!matches(&lines("a\n...\nc"), &lines("a\nb")));
        assert!(!matches(&lines("a"), &lines("a\nb")));
    }

    #[test]
    fn blocks_are_commands_with_output_and_files() {
        let text = "x\n```console\n$ one\nout\n$ two\n```\n```rust\nno\n```\n```rust,file=a/b.rs\nfn f() {}\n```\n";
        let found = blocks(text).unwrap();
        assert_eq!(found.len(), 3);
        assert!(matches!(&found[0], Block::Command { line: 3, expected, .. } if expected == &["out"]));
        assert!(matches!(&found[1], Block::Command { line: 5, expected, .. } if expected.is_empty()));
        assert!(matches!(&found[2], Block::File { path, text } if path == "a/b.rs" && text == "fn f() {}\n"));
        assert_eq!(
            blessed("```console\n$ one\nold\n$ two\n```\n", &[(2, 1, lines("new\nmore"))]),
            "```console\n$ one\nnew\nmore\n$ two\n```\n"
        );
    }
}
