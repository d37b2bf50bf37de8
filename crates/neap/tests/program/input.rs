//! The program with something on its standard input and in its folder.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const NEAP: &str = env!("CARGO_BIN_EXE_neap");

/// A module that has a plan.
pub(crate) const GOOD: &str = "func.func @main(%x: tensor<64xi8>) -> tensor<16xi8> {
  %a = \"neap.opaque\"(%x) {neap.name = \"first\"} : (tensor<64xi8>) -> tensor<32xi8>
  %b = \"neap.opaque\"(%x) : (tensor<64xi8>) -> tensor<16xi8>
  %c = \"neap.opaque\"(%a, %b) : (tensor<32xi8>, tensor<16xi8>) -> tensor<16xi8>
  return %c : tensor<16xi8>
}
";

pub(crate) fn program(program: &str, folder: &Path, args: &[&str], input: &str) -> Output {
    let mut child = Command::new(program)
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut stdin = child.stdin.take().expect("piped");
    // A run that fails early does not read its input.
    drop(stdin.write_all(input.as_bytes()));
    drop(stdin);
    child.wait_with_output().expect("the binary ends")
}

/// A run in `folder` with `in.mlir` in it, and what it said.
pub(crate) fn neap_in(folder: &Path, args: &[&str], input: &str) -> (i32, String, String) {
    std::fs::write(folder.join("in.mlir"), input).expect("the input is written");
    let output = program(NEAP, folder, args, input);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("all output is text");
    (output.status.code().expect("no signal"), text(&output.stdout), text(&output.stderr))
}
