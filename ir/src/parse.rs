//! The parser: MLIR text to a [`Module`].
//!
//! Reads the generic form of any dialect and three sugars (`module`, `func.func`, `return`); aliases are expanded. A reader
//! of hostile text must end: nesting is limited ([`MAX_DEPTH`] levels, aliases included), and so is what aliases
//! expand to ([`MAX_EXPANSION`] bytes). After an error in an operation the parser goes on with the next one, so one run
//! shows several errors; it stops after [`MAX_ERRORS`].
//!
//! `lexer` makes tokens, `cursor` walks them, `types`, `attrs`, `numbers`, `elements`, `symbols` and `locs` read what their names say, `values`
//! knows which SSA names are visible, `ops`, `regions` and `sugar` read operations, `recover` finds the next operation after an error.

mod affine;
mod attrs;
mod cursor;
mod elements;
mod lexer;
mod locs;
mod numbers;
mod ops;
mod quant;
mod raw;
mod recover;
mod regions;
mod split;
mod sugar;
mod symbols;
mod top;
mod types;
mod values;

pub(crate) use lexer::{is_bare, is_suffix};
pub use split::{Chunk, split_input};
pub(crate) use values::ISOLATED;

use crate::diag::Diagnostic;
use crate::loc::Span;
use crate::module::Module;

/// Nesting of regions, attributes, types and locations together, what aliases bring along included.
pub const MAX_DEPTH: u32 = 256;
/// Bytes that all uses of aliases together may expand to, each use counted with at least 64.
pub const MAX_EXPANSION: u64 = 1 << 28;
/// Errors after which the rest of the text is not read.
pub const MAX_ERRORS: usize = 50;

/// Reads a module. On failure there is at least one error, in the order of the text.
pub fn parse(text: &str) -> Result<Module, Vec<Diagnostic>> {
    parse_bytes(text.as_bytes())
}

/// Reads a module from text whose strings may hold any byte.
pub fn parse_bytes(text: &[u8]) -> Result<Module, Vec<Diagnostic>> {
    if text.starts_with(b"ML\xefR") {
        let diagnostic = Diagnostic::error(Span::default(), "the input is MLIR bytecode, not text");
        return Err(vec![diagnostic.help(GENERIC_FORM)]);
    }
    if u32::try_from(text.len()).is_err() {
        let message = format!("the input has {} bytes; at most {} can be read", text.len(), u32::MAX);
        return Err(vec![Diagnostic::error(Span::default(), message)]);
    }
    cursor::Parser::new(text).file()
}

/// Entry of fuzzing: reads anything, prints what was read, and reads that again.
///
/// # Panics
/// When what was printed cannot be read, or prints differently: a bug.
pub fn fuzz_parse(data: &[u8]) {
    let Ok(module) = parse_bytes(data) else { return };
    let options = crate::print::PrintOptions::default();
    let printed = crate::print::print(&module, &options);
    let again = match parse(&printed) {
        Ok(again) => again,
        Err(errors) => panic!("what was printed cannot be read: {errors:?}\n{printed}"),
    };
    assert_eq!(printed, crate::print::print(&again, &options), "print(parse(x)) is no fixed point");
}

/// What to do with input in another form.
const GENERIC_FORM: &str =
    "convert it first: mlir-opt --mlir-print-op-generic --mlir-print-local-scope FILE | neap opt -";
