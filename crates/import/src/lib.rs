//! Readers of model files: bytes in, a [`Module`] out.
//!
//! Readers keep the model's own names, carry constants by type and name without their bytes, and never trust the file: every
//! index and length is checked, errors name the subgraph, the tensor or the operator, and several are told in one run.

pub mod onnx;
pub mod tflite;

use neap_ir::Module;
use neap_ir::diag::Diagnostic;

/// Whether the bytes are a TFLite flatbuffer: the file identifier `TFL3` at byte 4.
pub fn is_tflite(bytes: &[u8]) -> bool {
    bytes.get(4..8) == Some(b"TFL3")
}

/// Reads a `.tflite` file; see [`tflite`] for what becomes of it.
///
/// # Errors
/// All that is wrong in the file, each with its subgraph, tensor or operator.
pub fn read_tflite(bytes: &[u8]) -> Result<Module, Vec<Diagnostic>> {
    let model = tflite::model::read(bytes)?;
    let module = tflite::build::module(&model)?;
    // What the file leaves out (a loop without its body) is told by the rules of the representation.
    neap_ir::verify::verify(&module)?;
    Ok(module)
}

/// Whether the bytes are an ONNX model; see [`onnx::is_model`].
pub fn is_onnx(bytes: &[u8]) -> bool {
    onnx::is_model(bytes)
}

/// Reads an `.onnx` file; see [`onnx`] for what becomes of it. `dims` are sizes, at least and at most, of named dimensions.
///
/// # Errors
/// All that is wrong in the file, each with its graph, node or value.
pub fn read_onnx(bytes: &[u8], dims: &[(String, u64, u64)]) -> Result<Module, Vec<Diagnostic>> {
    let module = onnx::read(bytes, dims)?;
    // What the file leaves out (a loop without its body) is told by the rules of the representation.
    neap_ir::verify::verify(&module)?;
    Ok(module)
}
