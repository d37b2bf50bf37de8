//! Running other programs, and where things are.

use crate::Outcome;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The root of the clone.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// A folder of ours below `target`, made if it is missing.
pub(crate) fn scratch(name: &str) -> Result<PathBuf, String> {
    let folder = root().join("target").join(name);
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder)
}

/// Cargo with arguments, in the root of the clone.
pub(crate) fn cargo<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
    program(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()), args)
}

/// A program with arguments, in the root of the clone.
pub(crate) fn program<S: AsRef<OsStr>>(name: impl AsRef<OsStr>, args: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(name);
    command.args(args).current_dir(root());
    command
}

/// This program again, as `neap`.
pub(crate) fn neap<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Result<Command, String> {
    let this = std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    Ok(program(this, args))
}

/// Runs a program to its end; its output goes where ours goes.
pub(crate) fn run(command: &mut Command) -> Outcome {
    eprintln!("$ {}", shown(command));
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{}` ended with {status}", shown(command))),
        Err(error) => Err(format!("`{}`: {error}", shown(command))),
    }
}

/// Runs a program to its end and keeps what it says.
pub(crate) fn output(command: &mut Command) -> Result<Output, String> {
    command.output().map_err(|error| format!("`{}`: {error}", shown(command)))
}

/// The standard output of a program that has to succeed.
pub(crate) fn stdout(command: &mut Command) -> Result<String, String> {
    let output = output(command)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("`{}` ended with {}\n{}", shown(command), output.status, said.trim_end()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The text of a file.
pub(crate) fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Writes a file.
pub(crate) fn write(path: &Path, text: impl AsRef<[u8]>) -> Outcome {
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Files of a folder with an extension, sorted by name.
pub(crate) fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut found: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|ext| ext == extension)).collect();
    found.sort();
    Ok(found)
}

fn shown(command: &Command) -> String {
    let name = Path::new(command.get_program()).file_name().unwrap_or_default();
    let words = std::iter::once(name).chain(command.get_args());
    let text = words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ");
    if text.len() > 200 { format!("{} ..", text.chars().take(200).collect::<String>()) } else { text }
}
