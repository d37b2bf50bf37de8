//! Reads the text of a pipeline. A cursor over bytes; nesting is at most two deep, so nothing recurses.

use super::{NamedPipeline, Pipeline, PipelineError, Step};
use crate::pass::{Options, PassInfo};
use crate::suggest::closest;

/// The names that a pipeline may use.
pub(super) struct Known {
    pub(super) passes: &'static [&'static PassInfo],
    pub(super) pipelines: &'static [NamedPipeline],
}

/// Reads `builtin.module(func.func(a),func.func(b))`, or any of its inner levels alone.
pub(super) fn pipeline(text: &str, known: &Known) -> Result<Pipeline, PipelineError> {
    let mut cursor = Cursor { text, at: 0 };
    let module = cursor.eat("builtin.module(");
    let mut groups = Vec::new();
    let mut bare = Vec::new();
    cursor.space();
    let closed = |cursor: &Cursor<'_>| cursor.done() || module && cursor.peek() == Some(b')');
    while !closed(&cursor) {
        if cursor.eat("func.func(") {
            // Loose passes before a group run before it.
            groups.push(std::mem::take(&mut bare));
            groups.push(steps(&mut cursor, known)?);
            cursor.expect(")", "`,` or `)`")?;
        } else {
            bare.extend(step(&mut cursor, known)?);
        }
        if !cursor.eat(",") {
            break;
        }
        cursor.space();
        if cursor.done() || cursor.peek() == Some(b')') {
            return Err(cursor.error("a pass after `,`"));
        }
    }
    groups.push(bare);
    if module {
        cursor.expect(")", "`,` or `)`")?;
    }
    cursor.space();
    if !cursor.done() {
        return Err(cursor.error(if module { "the end" } else { "`,` or the end" }));
    }
    groups.retain(|group| !group.is_empty());
    Ok(Pipeline { groups })
}

/// Reads a name and the inside of its braces.
pub(super) fn flag(name: &str, options: &str, known: &Known) -> Result<Vec<Step>, PipelineError> {
    let mut cursor = Cursor { text: options, at: 0 };
    let given = self::options(&mut cursor)?;
    if !cursor.done() {
        return Err(cursor.error("an option `name=value`"));
    }
    named(name, given, known)
}

/// Whether an option's value needs no quotes.
pub(super) fn is_plain(value: &str) -> bool {
    !value.is_empty() && value.chars().all(plain)
}

fn plain(c: char) -> bool {
    !c.is_whitespace() && !matches!(c, '{' | '}' | '"' | '\'')
}

fn steps(cursor: &mut Cursor<'_>, known: &Known) -> Result<Vec<Step>, PipelineError> {
    let mut list = Vec::new();
    cursor.space();
    if cursor.peek() == Some(b')') {
        return Ok(list);
    }
    loop {
        list.extend(step(cursor, known)?);
        if !cursor.eat(",") {
            return Ok(list);
        }
    }
}

fn step(cursor: &mut Cursor<'_>, known: &Known) -> Result<Vec<Step>, PipelineError> {
    cursor.space();
    let name = cursor.word(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    if name.is_empty() {
        return Err(cursor.error("the name of a pass"));
    }
    let mut given = Options::default();
    if cursor.eat("{") {
        given = options(cursor)?;
        cursor.expect("}", "an option `name=value` or `}`")?;
    } else if cursor.peek() == Some(b'(') {
        return Err(cursor.error("`builtin.module` or `func.func` before `(`"));
    }
    named(name, given, known)
}

fn named(name: &str, given: Options, known: &Known) -> Result<Vec<Step>, PipelineError> {
    if let Some(info) = known.passes.iter().find(|info| info.name == name) {
        return Ok(vec![Step::new(info, given)?]);
    }
    let Some(found) = known.pipelines.iter().find(|pipeline| pipeline.name == name) else {
        let names = known.passes.iter().map(|info| info.name);
        let close = closest(name, names.chain(known.pipelines.iter().map(|pipeline| pipeline.name)));
        return Err(PipelineError::UnknownPass { name: name.to_owned(), close });
    };
    if let Some(option) = given.0.keys().next() {
        let (option, close, known) = (option.clone(), None, Vec::new());
        return Err(PipelineError::UnknownOption { pass: found.name, option, close, known });
    }
    // The text of a named pipeline names passes only, so that this is no recursion without end.
    let passes = Known { passes: known.passes, pipelines: &[] };
    Ok(pipeline(found.passes, &passes)?.groups.into_iter().flatten().collect())
}

/// `name=value other="two words" flag`: a name alone is true.
fn options(cursor: &mut Cursor<'_>) -> Result<Options, PipelineError> {
    let mut given = Options::default();
    loop {
        cursor.space();
        let name = cursor.word(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
        if name.is_empty() {
            return Ok(given);
        }
        let value = if cursor.eat("=") { value(cursor)? } else { "true" };
        if given.0.insert(name.to_owned(), value.to_owned()).is_some() {
            return Err(cursor.error(&format!("option `{name}` once")));
        }
    }
}

fn value<'a>(cursor: &mut Cursor<'a>) -> Result<&'a str, PipelineError> {
    let Some(quote @ (b'"' | b'\'')) = cursor.peek() else {
        let value = cursor.word(plain);
        return if value.is_empty() { Err(cursor.error("a value")) } else { Ok(value) };
    };
    cursor.at += 1;
    let value = cursor.word(|c| c != char::from(quote) && c != '"');
    if cursor.peek() != Some(quote) {
        return Err(cursor.error("the closing quote"));
    }
    cursor.at += 1;
    Ok(value)
}

struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn done(&self) -> bool {
        self.at == self.text.len()
    }

    fn peek(&self) -> Option<u8> {
        self.rest().bytes().next()
    }

    fn space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// The longest run of characters that fit.
    fn word(&mut self, fits: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !fits(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn eat(&mut self, text: &str) -> bool {
        self.space();
        let found = self.rest().starts_with(text);
        self.at += if found { text.len() } else { 0 };
        found
    }

    fn expect(&mut self, text: &str, expected: &str) -> Result<(), PipelineError> {
        if self.eat(text) { Ok(()) } else { Err(self.error(expected)) }
    }

    fn error(&self, expected: &str) -> PipelineError {
        PipelineError::Syntax { at: self.at, expected: expected.to_owned(), text: self.text.to_owned() }
    }
}

#[cfg(test)]
mod tests;
