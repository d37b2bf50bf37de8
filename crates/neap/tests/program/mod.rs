//! The program in a folder: its exit code, and what it says on its two streams.

use std::path::Path;
use std::process::{Command, Stdio};

/// A run without input.
pub(crate) fn neap(folder: &Path, args: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_neap"));
    let output = command.args(args).current_dir(folder).stdin(Stdio::null()).output().expect("the binary runs");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("all output is text");
    (output.status.code().expect("no signal"), text(&output.stdout), text(&output.stderr))
}
