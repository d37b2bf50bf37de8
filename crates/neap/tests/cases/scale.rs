//! Graphs of any size, and whether the work on them grows with their size rather than with its square.
//!
//! Work is what builds with debug assertions count: looks at the module, pieces of memory, nodes of searches. Seconds are for the
//! bench.

use serde::Deserialize;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// A kind of graph, at two sizes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scale {
    kind: Kind,
    /// Operations, about.
    sizes: [u64; 2],
    /// The most that the work may grow by, where the size grows by 1.
    most: f64,
}

#[derive(Clone, Copy, Deserialize, Debug)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    /// Ten buffers, each passed on by operations that write into it.
    States,
    /// Ten variables, each read, written and read again as it was.
    Variables,
    /// A chain with connections that skip up to 50 operations.
    Chain,
    /// One small value with very many readers.
    Readers,
    /// Views of views.
    Views,
    /// Functions that call each other in a row.
    Calls,
    /// Loops, one in the other, that carry many values.
    Carried,
    /// A branch with many results.
    Branches,
}

/// Plans both sizes and compares.
pub(crate) fn measure(scale: &Scale, tmp: &Path) -> Result<(), String> {
    let [small, large] = scale.sizes;
    let (before, after) = (work(scale.kind, small, tmp)?, work(scale.kind, large, tmp)?);
    let growth = (after as f64 / before as f64) / (large as f64 / small as f64);
    if growth <= scale.most {
        return Ok(());
    }
    let kind = scale.kind;
    Err(format!(
        "{kind:?}: {before} at {small}, {after} at {large}: {growth:.2} per operation, {:.2} allowed",
        scale.most
    ))
}

/// The counted work of planning and checking a graph.
fn work(kind: Kind, size: u64, tmp: &Path) -> Result<u64, String> {
    let file = tmp.join("scale.mlir");
    std::fs::write(&file, graph(kind, size)).map_err(|error| error.to_string())?;
    let table = tmp.join("scale.toml");
    let row = "[[op]]\nname = \"test.mut\"\nrole = \"opaque\"\neffects = [{write = {memory = 0}}]\n";
    std::fs::write(&table, row).map_err(|error| error.to_string())?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_neap"));
    command.arg("plan").arg(&file).arg("--dialect").arg(&table);
    let output =
        command.args(["--summary=none", "--mlir-pass-statistics"]).output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("{kind:?} at {size}: {said}"));
    }
    let counted = |line: &str| {
        let (count, name) = line.trim().split_once(char::is_whitespace)?;
        matches!(name.trim(), "looks" | "nodes").then(|| count.parse::<u64>().ok()).flatten()
    };
    if !said.lines().any(|line| line.trim_end().ends_with(" looks")) {
        return Err("this build counts no work: run the tests in a build with debug assertions".to_owned());
    }
    Ok(said.lines().filter_map(counted).sum())
}

fn graph(kind: Kind, size: u64) -> String {
    let mut out = String::new();
    let ty = "tensor<64xi8>";
    let op = |to: &str, from: &str| format!("  %{to} = \"neap.opaque\"(%{from}) : ({ty}) -> {ty}\n");
    let view = "neap.view = [{result = 0 : i64, operand = 0 : i64, byte_offset = 0 : i64}]";
    match kind {
        Kind::States => {
            let args: Vec<String> = (0..10).map(|at| format!("%m{at}_0: memref<64xi8>")).collect();
            let _ = writeln!(out, "func.func @main({}) {{", args.join(", "));
            for state in 0..10 {
                for at in 0..size / 10 {
                    let _ = writeln!(
                        out,
                        "  %m{state}_{} = \"test.mut\"(%m{state}_{at}) {{{view}}} : (memref<64xi8>) -> memref<64xi8>",
                        at + 1
                    );
                }
            }
            out.push_str("  return\n}\n");
        }
        Kind::Variables => {
            for state in 0..10 {
                let _ = writeln!(out, "\"neap.var\"() {{sym_name = \"s{state}\", type = {ty}}} : () -> ()");
            }
            let _ = writeln!(out, "func.func @main(%x: {ty}) {{");
            for at in 0..size / 3 {
                let state = at % 10;
                let _ = writeln!(out, "  %a{at} = \"neap.read\"() {{alias, var = @s{state}}} : () -> {ty}");
                let _ = writeln!(out, "  \"neap.write\"(%x) {{var = @s{state}}} : ({ty}) -> ()");
                out += &op(&format!("b{at}"), &format!("a{at}"));
            }
            out.push_str("  return\n}\n");
        }
        Kind::Chain => {
            let _ = writeln!(out, "func.func @main(%v0: {ty}) -> {ty} {{");
            // Splitmix: the same graph on every machine.
            let mut seed = 0u64;
            for at in 1..=size {
                seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let draw = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40;
                if draw.is_multiple_of(5) && at > 51 {
                    let from = at - 2 - draw % 49;
                    let _ = writeln!(out, "  %v{at} = \"neap.opaque\"(%v{}, %v{from}) : ({ty}, {ty}) -> {ty}", at - 1);
                } else {
                    out += &op(&format!("v{at}"), &format!("v{}", at - 1));
                }
            }
            let _ = writeln!(out, "  return %v{size} : {ty}\n}}");
        }
        Kind::Readers => {
            let _ = writeln!(out, "func.func @main(%x: tensor<4xi8>) {{");
            for at in 0..size {
                let _ = writeln!(out, "  %r{at} = \"neap.opaque\"(%x) : (tensor<4xi8>) -> tensor<4xi8>");
            }
            out.push_str("  return\n}\n");
        }
        Kind::Views => {
            let _ = writeln!(out, "func.func @main(%x: {ty}) -> {ty} {{");
            out += &op("v0", "x");
            for at in 0..size {
                let _ = writeln!(out, "  %v{} = \"neap.opaque\"(%v{at}) {{{view}}} : ({ty}) -> {ty}", at + 1);
            }
            out += &op("y", &format!("v{size}"));
            let _ = writeln!(out, "  return %y : {ty}\n}}");
        }
        Kind::Calls => {
            for at in 0..size {
                let _ = writeln!(out, "func.func @f{at}(%x: {ty}) -> {ty} {{");
                match at {
                    0 => out += &op("y", "x"),
                    _ => {
                        let _ = writeln!(out, "  %y = \"neap.call\"(%x) {{callee = @f{}}} : ({ty}) -> {ty}", at - 1);
                    }
                }
                let _ = writeln!(out, "  return %y : {ty}\n}}");
            }
        }
        Kind::Carried => {
            let list = |name: &str| (0..size).map(|at| format!("%{name}{at}")).collect::<Vec<_>>().join(", ");
            let bound = |name: &str| (0..size).map(|at| format!("%{name}{at}: {ty}")).collect::<Vec<_>>().join(", ");
            let types = vec![ty; size as usize].join(", ");
            let _ = writeln!(out, "func.func @main(%n: i64, {}) -> ({types}) {{", bound("x"));
            let _ =
                writeln!(out, "  %r:{size} = \"neap.for\"(%n, {}) ({{\n  ^bb0(%i: i64, {}):", list("x"), bound("a"));
            let _ = writeln!(out, "  %s:{size} = \"neap.while\"({}) ({{\n  ^bb0({}):", list("a"), bound("p"));
            let _ = writeln!(
                out,
                "  %t = \"neap.opaque\"(%p0) : ({ty}) -> i1\n  \"neap.yield\"(%t) : (i1) -> ()\n  }}, {{"
            );
            let _ = writeln!(out, "  ^bb0({}):", bound("b"));
            (0..size).for_each(|at| out += &op(&format!("c{at}"), &format!("b{at}")));
            let _ = writeln!(out, "  \"neap.yield\"({}) : ({types}) -> ()\n  }}) : ({types}) -> ({types})", list("c"));
            (0..size).for_each(|at| out += &op(&format!("d{at}"), &format!("s#{at}")));
            let _ =
                writeln!(out, "  \"neap.yield\"({}) : ({types}) -> ()\n  }}) : (i64, {types}) -> ({types})", list("d"));
            let _ = writeln!(out, "  return {} : {types}\n}}", list("r#"));
        }
        Kind::Branches => {
            let list = |name: &str| (0..size).map(|at| format!("%{name}{at}")).collect::<Vec<_>>().join(", ");
            let types = vec![ty; size as usize].join(", ");
            let _ = writeln!(out, "func.func @main(%c: i1, %x: {ty}) -> ({types}) {{");
            let _ = writeln!(out, "  %r:{size} = \"neap.if\"(%c) ({{");
            for (at, name) in ["a", "b"].into_iter().enumerate() {
                out.push_str(if at == 0 { "" } else { "  }, {\n" });
                (0..size).for_each(|at| out += &op(&format!("{name}{at}"), "x"));
                let _ = writeln!(out, "  \"neap.yield\"({}) : ({types}) -> ()", list(name));
            }
            let _ = writeln!(out, "  }}) : (i1) -> ({types})\n  return {} : {types}\n}}", list("r#"));
        }
    }
    out
}
