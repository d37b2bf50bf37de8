//! Files beside a model that hold bytes of its tensors: never written over, and missed where a model is written without them.

use crate::exit::Failure;
use crate::input::Input;
use crate::outputs;
use neap_ir::Span;
use neap_ir::diag::{Diagnostic, Severity};
use std::path::{Path, PathBuf};

/// So many files are named in a message.
const NAMED: usize = 3;

/// Refuses outputs that are a file which the model refers to, whether it is there or not.
///
/// # Errors
/// The output in question.
pub fn spare(input: &Input, outputs: &[PathBuf]) -> Result<(), Failure> {
    let what = format!("a file with tensors of `{}`", input.name);
    for file in input.external() {
        let path = input.folder.join(file);
        outputs.iter().try_for_each(|output| outputs::spare(&[(&path, &what)], output))?;
    }
    Ok(())
}

/// What to say of a model that is written to a place from which it does not find its tensors.
pub fn missing(model: &Input, output: &Path) -> Option<Diagnostic> {
    let here = outputs::folder(output);
    let length = |path: &Path| std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file).map(|meta| meta.len());
    let lost = |file: &String| {
        let (old, new) = (model.folder.join(file), here.join(file));
        // A copy is as good as the file itself; what is absent on both sides is only missed where the model moves.
        match (length(&old), length(&new)) {
            (Some(old), Some(new)) => old != new,
            (_, None) => !outputs::same(&model.folder, here),
            (None, Some(_)) => false,
        }
    };
    let lost: Vec<String> = model.external().into_iter().filter(lost).collect();
    let first = lost.first()?;
    let more = lost.len().saturating_sub(NAMED);
    let named: Vec<String> = lost.iter().take(NAMED).map(|file| format!("`{file}`")).collect();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let message = format!(
        "`{}` takes tensors from {}{more}, and that is not beside it: no runtime can load the model so",
        output.display(),
        named.join(", ")
    );
    let (from, to) = (model.folder.join(first), here.join(first));
    let help = format!("copy or link what is missing, as in `cp {} {}`", from.display(), to.display());
    Some(Diagnostic::new(Severity::Warning, Span::default(), message).help(help))
}
