//! The binary `neap`.

use std::process::ExitCode;

fn main() -> ExitCode {
    neap::main(std::env::args_os())
}
