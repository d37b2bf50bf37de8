//! The types of MLIR's `quant` dialect in normal form: `!quant.uniform<i8:f32, 0.5:0>` is `!quant.uniform<i8:f32, 5.000000e-01>`.
//!
//! Scales print as doubles, a zero point of 0 and the whole range of the storage type are not spelled out. What has another form
//! stays as it is. Source: MLIR `QuantDialect` `TypeParser.cpp`, LLVM 22.

use crate::float::f64_text;

/// The normal form of the text after `!`, if it is a type of the dialect that is understood.
pub(super) fn normal_form(text: &str) -> Option<String> {
    let (kind, body) = text.strip_prefix("quant.")?.split_once('<')?;
    let mut reader = Reader { rest: body.strip_suffix('>')?, out: format!("quant.{kind}<") };
    match kind {
        "uniform" => {
            reader.storage()?;
            reader.mark(':')?;
            reader.word()?;
            reader.scales()?;
        }
        "any" => {
            reader.storage()?;
            if reader.mark(':').is_some() {
                reader.word()?;
            }
        }
        "calibrated" => {
            reader.word()?;
            reader.mark('<')?;
            reader.float()?;
            reader.mark(':')?;
            reader.float()?;
            reader.mark('>')?;
        }
        _ => return None,
    }
    reader.rest.trim().is_empty().then(|| reader.out + ">")
}

struct Reader<'a> {
    rest: &'a str,
    out: String,
}

impl<'a> Reader<'a> {
    /// Takes a mark and writes it.
    fn mark(&mut self, mark: char) -> Option<()> {
        self.skip(mark)?;
        self.out.push(mark);
        Some(())
    }

    /// Takes a mark.
    fn skip(&mut self, mark: char) -> Option<()> {
        self.rest = self.rest.trim_start().strip_prefix(mark)?;
        Some(())
    }

    fn take(&mut self, belongs: impl Fn(char) -> bool) -> Option<&'a str> {
        let text = self.rest.trim_start();
        let end = text.find(|letter| !belongs(letter)).unwrap_or(text.len());
        self.rest = &text[end..];
        (end > 0).then(|| &text[..end])
    }

    fn word(&mut self) -> Option<&'a str> {
        let word = self.take(|letter| letter.is_ascii_alphanumeric())?;
        self.out.push_str(word);
        Some(word)
    }

    fn int(&mut self) -> Option<i64> {
        self.take(|letter| letter.is_ascii_digit() || letter == '-')?.parse().ok()
    }

    fn float(&mut self) -> Option<()> {
        let text = self.take(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '+'))?;
        let value: f64 = if text.contains('.') { text.parse().ok()? } else { return None };
        self.out.push_str(&f64_text(value));
        Some(())
    }

    /// `i8`, `u8<0:100>`.
    fn storage(&mut self) -> Option<()> {
        let word = self.word()?;
        let (unsigned, width) = match (word.strip_prefix('u'), word.strip_prefix('i')) {
            (Some(width), _) => (true, width.parse::<u32>().ok()?),
            (_, Some(width)) => (false, width.parse::<u32>().ok()?),
            _ => return None,
        };
        if !(1..=32).contains(&width) {
            return None;
        }
        if self.skip('<').is_some() {
            let low = self.int()?;
            self.skip(':')?;
            let high = self.int()?;
            self.skip('>')?;
            let whole = if unsigned { (0, (1 << width) - 1) } else { (-(1 << (width - 1)), (1 << (width - 1)) - 1) };
            if (low, high) != whole {
                self.out.push_str(&format!("<{low}:{high}>"));
            }
        }
        Some(())
    }

    /// `, 0.5:3`, `:1, {0.5, 0.25:3}` per axis, `:{0:1, 1:2}, {{..}}` per block.
    fn scales(&mut self) -> Option<()> {
        let mut per_block = false;
        if self.mark(':').is_some() {
            per_block = self.skip('{').is_some();
            if per_block { self.block_sizes()? } else { self.axis()? }
        }
        self.skip(',')?;
        self.out.push_str(", ");
        self.list(if per_block { ", " } else { "," }, 0)
    }

    fn axis(&mut self) -> Option<()> {
        let axis = self.int()?;
        self.out.push_str(&axis.to_string());
        Some(())
    }

    fn block_sizes(&mut self) -> Option<()> {
        self.out.push('{');
        loop {
            self.axis()?;
            self.mark(':')?;
            self.axis()?;
            if self.skip(',').is_none() {
                break;
            }
            self.out.push_str(", ");
        }
        self.mark('}')
    }

    /// A scale with its zero point, or a list of such in braces; the nesting is that of a tensor's shape.
    fn list(&mut self, separator: &str, depth: u32) -> Option<()> {
        if self.skip('{').is_none() {
            self.float()?;
            let zero = if self.skip(':').is_some() { self.int()? } else { 0 };
            if zero != 0 {
                self.out.push_str(&format!(":{zero}"));
            }
            return Some(());
        }
        if depth > 64 {
            return None;
        }
        self.out.push('{');
        loop {
            self.list(separator, depth + 1)?;
            if self.skip(',').is_none() {
                break;
            }
            self.out.push_str(separator);
        }
        self.mark('}')
    }
}
