//! Readers of model files: bytes in, a [`Module`] out.
//!
//! Readers keep the model's own names, carry constants by type and name without their bytes, and never trust the file: every
//! index and length is checked, errors name the subgraph, the tensor or the operator, and several are told in one run.

pub mod contents;
pub mod npu;
pub mod onnx;
pub mod tflite;

use neap_ir::Module;
use neap_ir::diag::Diagnostic;
use std::collections::BTreeSet;

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

/// Reads a `.tflite` file with its contents named by what they are; see [`contents`].
///
/// # Errors
/// All that is wrong in the file, each with its subgraph, tensor or operator.
pub fn read_tflite_named(bytes: &[u8], naming: &mut dyn contents::Naming) -> Result<Module, Vec<Diagnostic>> {
    let mut module = read_tflite(bytes)?;
    tflite::contents::name(bytes, &mut module, naming).map_err(|broken| {
        vec![Diagnostic::error(neap_ir::Span::default(), format!("malformed TFLite file: {broken}"))]
    })?;
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

/// The files that hold bytes of a TFLite or ONNX model's tensors, as the model names them: relative to the folder that it lies in.
pub fn external_files(bytes: &[u8]) -> BTreeSet<String> {
    if is_tflite(bytes) { tflite::model::external_files(bytes) } else { onnx::external_files(bytes) }
}

/// Reads an `.onnx` file with its contents named by what they are; see [`contents`].
///
/// # Errors
/// All that is wrong in the file, each with its graph, node or value.
pub fn read_onnx_named(
    bytes: &[u8],
    dims: &[(String, u64, u64)],
    naming: &mut dyn contents::Naming,
) -> Result<Module, Vec<Diagnostic>> {
    let module = onnx::read_named(bytes, dims, naming)?;
    neap_ir::verify::verify(&module)?;
    Ok(module)
}

/// Whether the bytes begin as a JSON object does. MLIR text begins with a brace only in `{-#`.
pub fn is_json(bytes: &[u8]) -> bool {
    let mut seen = bytes.iter().filter(|byte| !byte.is_ascii_whitespace());
    seen.next() == Some(&b'{') && matches!(seen.next(), Some(b'"' | b'}'))
}

/// Reads an NPU graph; see [`npu`] for what becomes of it.
///
/// # Errors
/// All that is wrong in the file, each with its node and its place.
pub fn read_npu(bytes: &[u8]) -> Result<Module, Vec<Diagnostic>> {
    let graph = npu::graph::read(bytes)?;
    let program = npu::hazards::program(&graph)?;
    let module = npu::build::module(&graph, &program);
    neap_ir::verify::verify(&module)?;
    Ok(module)
}
