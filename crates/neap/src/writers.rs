//! Writers of a plan, chosen by the extension of a file or by name.

use crate::cli::SummaryKind;
use crate::drive::Planned;
use crate::exit::Failure;
use crate::summary;
use neap_ir::print::{PrintOptions, print};
use neap_passes::suggest::closest;
use std::path::Path;

/// What can be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Writer {
    /// The planned module as text.
    Mlir,
    /// The summary for scripts.
    Json,
    /// All storages as a table.
    Csv,
}

/// Name (which is also the extension) and writer.
const WRITERS: [(&str, Writer); 3] = [("mlir", Writer::Mlir), ("json", Writer::Json), ("csv", Writer::Csv)];

impl Writer {
    /// The writer of a file's extension.
    pub fn of(path: &Path) -> Option<Writer> {
        let extension = path.extension()?.to_str()?;
        WRITERS.iter().find(|(name, _)| *name == extension).map(|(_, writer)| *writer)
    }

    /// The writer by name if one is named, else by the file's extension.
    ///
    /// # Errors
    /// There is none; says which there are.
    pub fn choose(path: &Path, name: Option<&str>) -> Result<Writer, Failure> {
        let names = || WRITERS.iter().map(|(name, _)| *name);
        let there = format!("there are writers for: {}", names().collect::<Vec<_>>().join(", "));
        let Some(name) = name else {
            let missing = || {
                Failure::usage(format!("`{}`: no writer for files of this extension", path.display()))
                    .note(there)
                    .help("`--to` names a writer, whatever the extension")
            };
            return Writer::of(path).ok_or_else(missing);
        };
        let found = WRITERS.iter().find(|(other, _)| *other == name).map(|(_, writer)| *writer);
        found.ok_or_else(|| {
            let failure = Failure::usage(format!("there is no writer `{name}`")).note(there);
            match closest(name, names()) {
                Some(close) => failure.help(format!("did you mean `{close}`?")),
                None => failure,
            }
        })
    }
}

/// A plan as a writer writes it.
///
/// # Errors
/// The writer needs a plan, and there is none.
pub fn write(writer: Writer, planned: &Planned, options: &PrintOptions) -> Result<Vec<u8>, Failure> {
    let needed = || {
        planned
            .summary
            .as_ref()
            .ok_or_else(|| Failure::usage("the pipeline makes no plan to write").help("add `assign-offsets` to it"))
    };
    Ok(match writer {
        Writer::Mlir => print(&planned.module, options).into_bytes(),
        Writer::Json => summary::json(needed()?).into_bytes(),
        Writer::Csv => summary::csv(needed()?).into_bytes(),
    })
}

/// The summary in a form; empty without a plan.
pub fn summary(kind: SummaryKind, planned: &Planned, bold: bool) -> String {
    match (&planned.summary, kind) {
        (None, _) | (_, SummaryKind::None) => String::new(),
        (Some(summary), SummaryKind::Text) => summary::text(summary, bold),
        (Some(summary), SummaryKind::Full) => summary::full(summary, bold),
        (Some(summary), SummaryKind::Json) => summary::json(summary),
    }
}
