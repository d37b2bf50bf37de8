//! Reads what a run starts from: a file or the standard input, a module as text or a model.
//!
//! The kind is told from the content: a model renamed is still a model.

use crate::cli::DimFlag;
use crate::exit::{Exit, Failure};
use crate::streams::Streams;
use neap_ir::Module;
use neap_ir::parse::parse_bytes;
use std::path::Path;

/// What was read.
#[derive(Clone)]
pub struct Input {
    /// As given; `-` is called `<stdin>`.
    pub name: String,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// What they are.
    pub kind: Kind,
}

/// What an input is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// MLIR text.
    Text,
    /// A TFLite flatbuffer.
    Tflite,
    /// An ONNX protobuf message.
    Onnx,
    /// An NPU graph in JSON.
    Npu,
}

impl Kind {
    /// The profile of the runtime that such models are made for.
    pub fn profile(self) -> &'static str {
        match self {
            Kind::Text | Kind::Npu => "none",
            Kind::Tflite => "tflite",
            Kind::Onnx => "ort",
        }
    }

    /// What such files are called.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Text => "text",
            Kind::Tflite => "TFLite",
            Kind::Onnx => "ONNX",
            Kind::Npu => "NPU",
        }
    }
}

impl Input {
    /// Reads a file, or the standard input for `-`.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read(path: &Path, streams: &mut Streams<'_>) -> Result<Input, Failure> {
        let (name, bytes) = if path == Path::new("-") {
            let mut bytes = Vec::new();
            ("<stdin>".to_owned(), streams.input.read_to_end(&mut bytes).map(|_| bytes))
        } else {
            (path.display().to_string(), std::fs::read(path))
        };
        let bytes = bytes.map_err(|error| Failure::input(format!("cannot read `{name}`: {error}")))?;
        let kind = kind(&name, &bytes);
        Ok(Input { name, bytes, kind })
    }

    /// The text, for excerpts in diagnostics; nothing for a model.
    pub fn text(&self) -> &[u8] {
        match self.kind {
            Kind::Text | Kind::Npu => &self.bytes,
            Kind::Tflite | Kind::Onnx => &[],
        }
    }

    /// The module; a model whose shapes depend on named dimensions is read at the sizes that are given to them.
    ///
    /// # Errors
    /// All that is wrong with the input.
    pub fn module(&self, dims: &[DimFlag]) -> Result<Module, Failure> {
        read(self.kind, &self.name, &self.bytes, dims)
    }
}

/// What the bytes are. A protobuf message has no mark of its own: what is called `.onnx` is taken for one, and told what is wrong with it.
fn kind(name: &str, bytes: &[u8]) -> Kind {
    if neap_import::is_tflite(bytes) {
        Kind::Tflite
    } else if Path::new(name).extension().is_some_and(|extension| extension == "onnx") || neap_import::is_onnx(bytes) {
        Kind::Onnx
    } else if Path::new(name).extension().is_some_and(|extension| extension == "json") || neap_import::is_json(bytes) {
        Kind::Npu
    } else {
        Kind::Text
    }
}

/// Reads a module of a kind.
///
/// # Errors
/// All that is wrong with the bytes.
pub fn read(kind: Kind, name: &str, bytes: &[u8], dims: &[DimFlag]) -> Result<Module, Failure> {
    let module = match kind {
        Kind::Tflite => neap_import::read_tflite(bytes),
        Kind::Onnx => {
            let dims: Vec<_> = dims.iter().map(|dim| (dim.name.clone(), dim.low, dim.high)).collect();
            neap_import::read_onnx(bytes, &dims)
        }
        Kind::Npu => neap_import::read_npu(bytes),
        Kind::Text => {
            if let Some(foreign) = foreign(name, bytes) {
                return Err(foreign);
            }
            parse_bytes(bytes)
        }
    };
    module.map_err(|diagnostics| Failure::new(Exit::Input, diagnostics))
}

/// Model files that no reader is there for.
fn foreign(name: &str, bytes: &[u8]) -> Option<Failure> {
    let extension = Path::new(name).extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    if extension == "tflite" {
        return Some(Failure::input(format!("`{name}` is no TFLite file: bytes 4 to 8 are not `TFL3`")));
    }
    let model = matches!(extension, "pb" | "pt" | "pth" | "h5" | "keras" | "safetensors");
    // Text never holds a zero byte; bytecode of MLIR has a diagnostic of the parser's own.
    let binary = bytes.iter().take(4096).any(|byte| *byte == 0) && !bytes.starts_with(b"ML\xefR");
    (model || binary).then(|| {
        let failure = Failure::input(format!(
            "`{name}` is neither MLIR text, nor a TFLite or ONNX model, nor an NPU graph, the kinds that can be read"
        ));
        failure.help("convert it to MLIR text in the generic form, to .tflite or to .onnx")
    })
}
