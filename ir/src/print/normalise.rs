//! Printed text with SSA names and labels replaced by numbers in the order of their definition, so that two prints of one module can be
//! compared byte by byte. Works on the text alone: what it compares is not trusted to be parsed alike.

use crate::parse::is_suffix;
use rustc_hash::FxHashMap;

/// Replaces names of values by numbers, packs by their parts, labels by numbers; cuts comments after labels and blank lines.
pub fn normalise_ssa(text: &str) -> String {
    let mut state = Normaliser::default();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        state.line(line);
        state.out.push('\n');
    }
    state.out
}

#[derive(Default)]
struct Normaliser<'a> {
    values: FxHashMap<&'a str, u32>,
    next_value: u32,
    /// Names that were used before their definition.
    waiting: FxHashMap<&'a str, u32>,
    labels: FxHashMap<&'a str, (u32, bool)>,
    next_label: u32,
    out: String,
}

impl<'a> Normaliser<'a> {
    fn line(&mut self, line: &'a str) {
        let body = line.trim_start();
        self.out.push_str(&line[..line.len() - body.len()]);
        if body.starts_with("func.func") || body.starts_with("\"func.func\"") {
            self.labels.clear();
        }
        if let Some(label) = body.strip_prefix('^') {
            let cut = label.find(":  //").map_or(label.len(), |at| at + 1);
            let name = &label[..suffix_len(label)];
            let number = self.define_label(name);
            self.out.push_str(&format!("^{number}"));
            self.rest(&label[name.len()..cut]);
        } else if body.starts_with('%') {
            let split = body.find(" = ").unwrap_or(body.len());
            let groups: Vec<(&str, u32)> = body[..split].split(", ").map(group).collect();
            // Results are defined after the regions, but uses inside see none of them: any order gives the same numbers.
            let mut parts = Vec::new();
            for (name, count) in groups {
                let first = self.define(name, count);
                parts.extend((first..first + count).map(|number| format!("%{number}")));
            }
            self.out.push_str(&parts.join(", "));
            self.rest(&body[split..]);
        } else {
            self.rest(body);
        }
    }

    fn define(&mut self, name: &'a str, count: u32) -> u32 {
        let first = match self.waiting.remove(name) {
            Some(first) => first,
            None => {
                self.next_value += count.max(1);
                self.next_value - count.max(1)
            }
        };
        self.values.insert(name, first);
        first
    }

    fn define_label(&mut self, name: &'a str) -> u32 {
        match self.labels.get_mut(name) {
            Some((number, defined)) if !*defined => {
                *defined = true;
                *number
            }
            _ => {
                self.next_label += 1;
                self.labels.insert(name, (self.next_label, true));
                self.next_label
            }
        }
    }

    /// Text after the definitions of a line.
    fn rest(&mut self, text: &'a str) {
        let bytes = text.as_bytes();
        let mut at = 0;
        let mut from = 0;
        while at < bytes.len() {
            match bytes[at] {
                b'"' => at += string_len(&bytes[at..]),
                sigil @ (b'%' | b'^') if suffix_len(&text[at + 1..]) > 0 => {
                    self.out.push_str(&text[from..at]);
                    let name = &text[at + 1..][..suffix_len(&text[at + 1..])];
                    at += 1 + name.len();
                    at += if sigil == b'%' { self.value(name, &text[at..]) } else { self.label(name) };
                    from = at;
                }
                _ => at += 1,
            }
        }
        self.out.push_str(&text[from..]);
    }

    /// A value before `after`; returns how much of that belongs to it.
    fn value(&mut self, name: &'a str, after: &str) -> usize {
        let mut taken = 0;
        let number = if after.starts_with(": ") {
            self.define(name, 1)
        } else {
            let digits = after.strip_prefix('#').unwrap_or("");
            let digits = &digits[..digits.bytes().take_while(u8::is_ascii_digit).count()];
            taken = if digits.is_empty() { 0 } else { digits.len() + 1 };
            let first = match self.values.get(name).or_else(|| self.waiting.get(name)) {
                Some(first) => *first,
                // Room for a pack of any size.
                None => {
                    self.next_value += 1 << 16;
                    self.waiting.insert(name, self.next_value);
                    self.next_value
                }
            };
            first + digits.parse::<u32>().unwrap_or(0)
        };
        self.out.push_str(&format!("%{number}"));
        taken
    }

    fn label(&mut self, name: &'a str) -> usize {
        let next = self.next_label + 1;
        let (number, _) = *self.labels.entry(name).or_insert((next, false));
        self.next_label = self.next_label.max(number);
        self.out.push_str(&format!("^{number}"));
        0
    }
}

/// `%x:2` as the name and the number of results.
fn group(text: &str) -> (&str, u32) {
    let text = text.strip_prefix('%').unwrap_or(text);
    match text.split_once(':') {
        Some((name, count)) => (name, count.parse().unwrap_or(1)),
        None => (text, 1),
    }
}

fn suffix_len(text: &str) -> usize {
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'$' | b'.' | b'_' | b'-');
    let mut len = text.bytes().take_while(word).count();
    if text.starts_with(|first: char| first.is_ascii_digit()) {
        len = text.bytes().take_while(u8::is_ascii_digit).count();
    }
    if is_suffix(&text.as_bytes()[..len]) { len } else { 0 }
}

fn string_len(text: &[u8]) -> usize {
    let mut at = 1;
    while at < text.len() && text[at] != b'"' {
        at += 1 + usize::from(text[at] == b'\\');
    }
    (at + 1).min(text.len())
}
