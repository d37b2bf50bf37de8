//! Writers: a planned module, and where needed the model file that it was read from, become a file that a runtime takes.
//!
//! - Plain data in, bytes out: nothing here opens a file, runs a pass or solves anything.
//! - A writer that starts from a model file changes what the plan decides and nothing else. It finds the file's own operators by where they
//!   stood ([`neap_ir::origin`]), and believes that no more than the plan's wiring confirms.
//! - What a writer made is read back and compared before it is handed out: a file that is wrong is no file.

pub mod c;
pub mod memref;
pub mod npu;
pub mod onnx;
pub mod order;
pub mod tflite;

use neap_ir::Span;
use neap_ir::diag::Diagnostic;

/// An error at no place in a text.
pub(crate) fn error(message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(Span::default(), message)
}
