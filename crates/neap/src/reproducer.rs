//! Reproducers: a module together with the pipeline that went wrong on it, in one file that MLIR's own tool can also read.
//!
//! The pipeline stands where MLIR puts it, in the file's resources under `mlir_reproducer`; `neap opt --run-reproducer FILE` runs it. Flags
//! that are no part of the module (profile, op facts) stand in a comment on top.

use crate::cli::SourceFlags;
use neap_ir::Module;
use neap_ir::print::{PrintOptions, print};
use std::path::{Path, PathBuf};

const KEY: &str = "mlir_reproducer";

/// The text of a reproducer.
pub fn text(module: &Module, pipeline: &str, flags: &SourceFlags, profile: &str) -> String {
    let mut module = module.clone();
    let escaped = pipeline.replace('\\', "\\\\").replace('"', "\\22");
    let entry = format!("{KEY}: {{ pipeline: \"{escaped}\", disable_threading: true, verify_each: true }}");
    let old = module.resources.as_deref().unwrap_or_default();
    let old = without(old.trim_start_matches("{-#").trim_end_matches("#-}"));
    let inside = match old.split_once("external_resources: {") {
        Some((before, after)) => {
            let comma = if after.trim_start().starts_with('}') { "" } else { "," };
            format!("{before}external_resources: {{ {entry}{comma}{after}")
        }
        None if old.trim().is_empty() => format!("\n  external_resources: {{ {entry} }}\n"),
        None => format!("\n  external_resources: {{ {entry} }},{old}"),
    };
    module.resources = Some(format!("{{-#{inside}#-}}"));
    let mut again = vec![format!("--profile={profile}")];
    again.extend(flags.dialects.iter().map(|file| format!("--dialect={}", file.display())));
    again.extend(flags.assume_pure.iter().map(|dialect| format!("--assume-pure={dialect}")));
    format!("// neap opt --run-reproducer {} THIS_FILE\n{}", again.join(" "), print(&module, &PrintOptions::default()))
}

/// The resources without an older reproducer, so that a reproducer of a reproducer holds one pipeline.
fn without(resources: &str) -> String {
    let Some(at) = resources.find(KEY) else { return resources.to_owned() };
    let Some(end) = closing(&resources[at..]) else { return resources.to_owned() };
    let rest = resources[at + end + 1..].trim_start().trim_start_matches(',');
    let cleaned = format!("{}{rest}", &resources[..at]);
    if cleaned.replace(char::is_whitespace, "") == "external_resources:{}" { String::new() } else { cleaned }
}

/// Position of the first `}` outside of a string.
fn closing(text: &str) -> Option<usize> {
    let mut quoted = false;
    text.char_indices()
        .find(|(_, c)| {
            quoted ^= *c == '"';
            *c == '}' && !quoted
        })
        .map(|(at, _)| at)
}

/// The pipeline that a module's reproducer holds.
pub fn pipeline(module: &Module) -> Option<String> {
    let resources = module.resources.as_deref()?;
    let rest = &resources[resources.find(KEY)?..];
    let rest = rest[rest.find("pipeline:")? + "pipeline:".len()..].trim_start().strip_prefix('"')?;
    Some(rest[..rest.find('"')?].replace("\\22", "\"").replace("\\\\", "\\"))
}

/// Where a reproducer goes when the user named no place: the working directory, else the folder for temporary files.
pub fn place(function: &str) -> PathBuf {
    let clean: String = function.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).take(40).collect();
    let name = format!("neap-reproducer-{clean}.mlir");
    let here = Path::new(&name).to_owned();
    let writable = tempfile::tempfile_in(".").is_ok();
    if writable { here } else { std::env::temp_dir().join(name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OTHERS: [Option<&str>; 3] = [
        None,
        Some("{-#\n  dialect_resources: {\n    builtin: {\n      a: \"0x04000000\"\n    }\n  }\n#-}"),
        Some("{-# external_resources: { x: { y: true } } #-}"),
    ];

    #[test]
    fn what_is_written_is_read_also_beside_other_resources() {
        for before in OTHERS {
            let mut module = Module::new();
            module.resources = before.map(str::to_owned);
            let text = text(&module, "builtin.module(func.func(a{b=\"c d\"}))", &SourceFlags::default(), "none");
            let again = neap_ir::parse(&text).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
            assert_eq!(pipeline(&again).as_deref(), Some("builtin.module(func.func(a{b=\"c d\"}))"), "{text}");
            let twice = super::text(&again, "x", &SourceFlags::default(), "none");
            assert_eq!(pipeline(&neap_ir::parse(&twice).expect("read again")).as_deref(), Some("x"), "{twice}");
        }
    }
}
