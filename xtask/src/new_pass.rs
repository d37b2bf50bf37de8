//! Makes a pass that works: one file, one line in the registry, one folder of golden tests with a near miss.
//!
//! Removing a pass is the same backwards: delete the file, the line and the folder.

use crate::{Outcome, golden, sh};
use neap_passes::registry::{PASSES, PIPELINES};
use std::path::Path;

/// Where new lines of the registry go.
const MARK: &str = "            // New passes go above this line.";

/// Makes the pass `name`.
pub(crate) fn make(name: &str) -> Outcome {
    valid(name)?;
    let snake = name.replace('-', "_");
    let root = sh::root();
    let (file, folder) = (root.join(format!("passes/src/{snake}.rs")), root.join("testdata").join(name));
    for path in [&file, &folder] {
        if path.exists() {
            return Err(format!("{} is there already", path.display()));
        }
    }
    let registry = root.join("passes/src/registry.rs");
    let text = sh::read(&registry)?;
    if !text.contains(MARK) {
        return Err(format!("{} has no line `{}`", registry.display(), MARK.trim()));
    }
    sh::write(&registry, text.replace(MARK, &format!("            {snake},\n{MARK}")))?;
    sh::write(&file, PASS.replace("@NAME@", name).replace("@TYPE@", &camel(name)))?;
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    sh::write(&folder.join("basic.mlir"), fires(name))?;
    sh::write(&folder.join("basic_not.mlir"), near_miss(name))?;
    // A long name may break a line of the template.
    sh::run(sh::program("rustfmt", ["--edition", "2024"]).arg(&file))?;
    golden::bless(Some(name))?;
    println!("\nmade {}\n     {}\n     one line in {}", shown(&file), shown(&folder), shown(&registry));
    println!("to remove it: delete the file, the folder and the line");
    Ok(())
}

fn shown(path: &Path) -> String {
    path.strip_prefix(sh::root()).unwrap_or(path).display().to_string()
}

/// Kebab-case, new, and free as a flag and as a module of Rust.
fn valid(name: &str) -> Outcome {
    const KEYWORDS: [&str; 14] =
        ["as", "box", "break", "const", "do", "else", "fn", "for", "if", "loop", "match", "mod", "move", "use"];
    let part =
        |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    if !name.starts_with(|first: char| first.is_ascii_lowercase()) || !name.split('-').all(part) || name.len() > 40 {
        return Err(format!("`{name}` is no name of a pass: kebab-case, like `fold-casts`"));
    }
    let known = PASSES.iter().map(|pass| pass.name).chain(PIPELINES.iter().map(|pipeline| pipeline.name));
    if known.into_iter().any(|known| known == name) {
        return Err(format!("there is a pass or a pipeline `{name}` already"));
    }
    let command = neap::cli::command();
    let opt = command.find_subcommand("opt");
    let flag = opt.is_some_and(|opt| opt.get_arguments().any(|arg| arg.get_long() == Some(name)));
    let module =
        ["pass", "pipeline", "registry", "profile", "callees", "suggest", "lib", "analysis", "help", "version"];
    if flag || KEYWORDS.contains(&name) || module.contains(&name) {
        return Err(format!("`{name}` is taken: by a flag of `neap opt`, a module of `passes`, or Rust"));
    }
    Ok(())
}

fn camel(name: &str) -> String {
    let capital = |part: &str| part[..1].to_uppercase() + &part[1..];
    name.split('-').map(capital).collect()
}

fn fires(name: &str) -> String {
    format!(
        r#"// RUN: --{name}
// An op with the mark loses it.
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
  %y = "neap.opaque"(%x) {{neap.mark}} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}}
"#
    )
}

fn near_miss(name: &str) -> String {
    format!(
        r#"// RUN: --{name}
// Another attribute of a similar name stays.
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
  %y = "neap.opaque"(%x) {{neap.marks}} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}}
"#
    )
}

/// A whole pass to start from: small, and it does something.
const PASS: &str = r#"//! `@NAME@`: removes the attribute `neap.mark` from operations.
//!
//! # Effect
//!
//! Operations of the function, nested ones included, lose `neap.mark`; nothing else changes.
//!
//! # Soundness
//!
//! Nothing reads the attribute: it is no part of an operation's meaning.
//!
//! # Statistics
//!
//! - `marks-removed`: operations that had the attribute.

use crate::pass::{Context, Pass, PassInfo};
use neap_ir::diag::Diagnostic;
use neap_ir::{Module, OpId};

/// The line of the registry.
pub static INFO: PassInfo = PassInfo {
    name: "@NAME@",
    summary: "removes the attribute `neap.mark`",
    options: &[],
    build: |_| Ok(Box::new(@TYPE@)),
};

struct @TYPE@;

impl Pass for @TYPE@ {
    fn run(&self, module: &mut Module, func: OpId, cx: &mut Context<'_>) -> Result<bool, Diagnostic> {
        let marked: Vec<OpId> = module.walk(func).into_iter().filter(|op| module.attr(*op, "neap.mark").is_some()).collect();
        for op in &marked {
            module.remove_attr(*op, "neap.mark");
        }
        cx.count("marks-removed", marked.len() as u64);
        Ok(!marked.is_empty())
    }
}
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kebab_case_new_and_free() {
        for bad in ["", "-", "a-", "A", "1a", "a_b", "a b", "../a", "keep", "for", "fuse", "plan", "registry"] {
            assert!(valid(bad).is_err(), "{bad}");
        }
        assert_eq!(valid("no-such-pass-yet"), Ok(()));
        assert_eq!(camel("fold-casts2"), "FoldCasts2");
    }
}
