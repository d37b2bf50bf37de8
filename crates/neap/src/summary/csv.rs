//! All storages as a table: the columns of the MiniMalloc benchmark first (`id,lower,upper,size,offset`), then ours.
//!
//! `lower` and `upper` are half-open steps. A field with a comma, a quote or a line break is quoted, as RFC 4180 says.

use super::Summary;
use std::fmt::Write;

/// The storages of all functions; ids are unique in the file.
pub fn csv(summary: &Summary) -> String {
    let mut out = String::from("id,lower,upper,size,offset,function,arena,align,kind,op,names,at,values,made\n");
    let mut id = 0u64;
    for function in &super::buckets::all(summary) {
        for storage in &function.storages {
            let offset = storage.offset.map_or(String::new(), |offset| offset.to_string());
            let kind = format!("{:?}", storage.kind).to_lowercase();
            let [lower, upper] = storage.live;
            let names = storage.names.join(" ");
            let at: Vec<String> = storage.at.iter().map(u64::to_string).collect();
            let (align, values) = (storage.align.to_string(), storage.values.join(" "));
            let (at, made) = (at.join(" "), storage.made.join(" "));
            let words = [&function.name, &storage.arena, &align, &kind, &storage.op, &names, &at, &values, &made]
                .map(|word| quoted(word));
            let _ = writeln!(out, "{id},{lower},{upper},{},{offset},{}", storage.size, words.join(","));
            id += 1;
        }
    }
    out
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}
