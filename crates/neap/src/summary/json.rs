//! The object that scripts read.

use super::Summary;

/// The summary as JSON, one line per field of the outer objects.
pub fn json(summary: &Summary) -> String {
    let mut text = serde_json::to_string_pretty(summary).unwrap_or_else(|_| unreachable!("plain data has a JSON form"));
    text.push('\n');
    text
}
