//! The three streams of a process, as values: so that a run can be driven by a test, and a reader that goes away ends us quietly.

use crate::exit::{Exit, Failure};
use std::io::{self, Read, Write};

/// Where a run reads and writes.
pub struct Streams<'a> {
    /// What `-` reads.
    pub input: &'a mut dyn Read,
    /// The product.
    pub out: &'a mut dyn Write,
    /// All else.
    pub err: &'a mut dyn Write,
    /// Whether `out` may hold colours.
    pub colour_out: bool,
    /// Whether `err` may hold colours.
    pub colour_err: bool,
    /// How many characters a line holds.
    pub width: usize,
    /// Whether a person watches `err`: a progress line may be drawn and erased there.
    pub progress: bool,
}

/// How many characters a line holds where there is no terminal.
pub const WIDTH: usize = 100;

impl Streams<'_> {
    /// Writes the product. That nobody reads any more is no error: `neap opt x.mlir | head`.
    ///
    /// # Errors
    /// Any other failure to write: a plan that did not arrive is not done.
    pub fn deliver(&mut self, text: &str) -> Result<Exit, Failure> {
        self.deliver_bytes(text.as_bytes())
    }

    /// Writes a product that may be no text.
    ///
    /// # Errors
    /// As [`Streams::deliver`].
    pub fn deliver_bytes(&mut self, bytes: &[u8]) -> Result<Exit, Failure> {
        match self.out.write_all(bytes).and_then(|()| self.out.flush()) {
            Ok(()) => Ok(Exit::Done),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::Done),
            Err(error) => Err(Failure::input(format!("cannot write the output: {error}"))),
        }
    }

    /// Writes beside the product. Failures are not reported: there is nowhere left to report them.
    pub fn say(&mut self, text: &str) {
        let written = self.err.write_all(text.as_bytes()).and_then(|()| self.err.flush());
        drop(written);
    }
}
