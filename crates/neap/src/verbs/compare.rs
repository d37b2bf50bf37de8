//! `neap compare OLD.json NEW.json`: what grew between two plans, and why; growth above the limit is a demand that is not met.

use crate::cli::{Compare, Format};
use crate::compare::read::Summary;
use crate::compare::{compare, render};
use crate::exit::{Exit, Failure};
use crate::streams::Streams;

/// Runs the verb.
///
/// # Errors
/// A file that is no summary, or one of several models beside one of one.
pub(crate) fn run(request: &Compare, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
    let (old, new) = (Summary::read(&request.old, streams)?, Summary::read(&request.new, streams)?);
    if old.joint != new.joint {
        let (one, other) = if old.joint { (&old.file, &new.file) } else { (&new.file, &old.file) };
        return Err(Failure::input(format!(
            "`{one}` is the summary of several models in one arena, `{other}` that of one model"
        ))
        .help("compare two that were made with `--share-arena`, or two that were not"));
    }
    let comparison = compare(&old, &new, (request.max_growth.limit, &request.max_growth.text));
    let text = match request.format {
        Format::Text => render::text(&comparison),
        Format::Json => render::json(&comparison),
        Format::Csv => render::csv(&comparison)?,
    };
    streams.deliver(&text)?;
    Ok(if comparison.grown.is_empty() { Exit::Done } else { Exit::Demand })
}
