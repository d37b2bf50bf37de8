//! The binary `neap-opt`: `neap opt`, for those whose fingers know `mlir-opt`.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args_os();
    let program = args.next().unwrap_or_default();
    neap::main([program, "opt".into()].into_iter().chain(args))
}
