//! `--split-input-file`: parts of a file between `// -----` lines.

/// One part of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chunk<'a> {
    /// The text of the part.
    pub text: &'a str,
    /// Its first byte in the file.
    pub offset: usize,
    /// Lines of the file before it.
    pub line: usize,
}

/// Splits a file at its `// -----` lines. A file without any is one part.
pub fn split_input(text: &str) -> Vec<Chunk<'_>> {
    let mut chunks = Vec::new();
    let (mut from, mut from_line) = (0, 0);
    let mut at = 0;
    for (line, content) in text.split_inclusive('\n').enumerate() {
        let end = at + content.len();
        if content.trim_end() == "// -----" {
            chunks.push(Chunk { text: &text[from..at], offset: from, line: from_line });
            (from, from_line) = (end, line + 1);
        }
        at = end;
    }
    chunks.push(Chunk { text: &text[from..], offset: from, line: from_line });
    chunks
}
