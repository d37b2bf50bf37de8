//! Reads what a run starts from: a file or the standard input, a module as text or a model.
//!
//! The kind is told from the content: a model renamed is still a model. What has no end (a device, a pipe that is never closed) is read up to a
//! limit and refused there.

use crate::cli::DimFlag;
use crate::contents::Names;
use crate::exit::{Exit, Failure};
use crate::streams::Streams;
use neap_ir::Module;
use neap_ir::parse::parse_bytes;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The most bytes of a file whose size is known before it is read.
const MOST_OF_A_FILE: u64 = 8 << 30;
/// The most bytes of what has no size: the standard input, a pipe, a device.
const MOST_OF_A_STREAM: u64 = 1 << 30;
/// The most bytes of a table, a profile or a proof.
const MOST_OF_A_TABLE: u64 = 256 << 20;

/// What was read.
#[derive(Clone)]
pub struct Input {
    /// As given; `-` is called `<stdin>`.
    pub name: String,
    /// The folder that it lies in, from which a model names further files; the working directory for the standard input.
    pub folder: PathBuf,
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
            ("<stdin>".to_owned(), limited(&mut *streams.input, MOST_OF_A_STREAM))
        } else {
            (path.display().to_string(), whole(path, MOST_OF_A_FILE, MOST_OF_A_STREAM))
        };
        let bytes = bytes.map_err(|error| Failure::input(cannot_read(&name, &error)))?;
        let kind = kind(&name, &bytes);
        Ok(Input { name, folder: crate::outputs::folder(path).to_owned(), bytes, kind })
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.bytes.trim_ascii().is_empty()
    }

    /// The files that hold bytes of a model's tensors, as the model names them.
    pub fn external(&self) -> BTreeSet<String> {
        match self.kind {
            Kind::Tflite | Kind::Onnx => neap_import::external_files(&self.bytes),
            Kind::Text | Kind::Npu => BTreeSet::new(),
        }
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

    /// The same where it was read before, with these or other sizes.
    ///
    /// # Errors
    /// All that is wrong with the bytes.
    pub fn again(&self, before: (&Module, &[DimFlag]), dims: &[DimFlag]) -> Result<Module, Failure> {
        if self.kind.takes(before.1, dims) { self.module(dims) } else { Ok(before.0.clone()) }
    }
}

impl Kind {
    /// Whether a file has to be read again for other sizes: of these only shapes that are inferred know.
    pub fn takes(self, before: &[DimFlag], dims: &[DimFlag]) -> bool {
        self == Kind::Onnx && before != dims
    }
}

/// The text of a file that a flag names.
///
/// # Errors
/// It cannot be read.
pub fn text(path: &Path) -> Result<String, Failure> {
    let bytes = whole(path, MOST_OF_A_TABLE, MOST_OF_A_TABLE);
    as_text(&path.display().to_string(), bytes).map_err(Failure::usage)
}

/// The name and the text of an input; `-` is the standard input.
///
/// # Errors
/// It cannot be read.
pub fn named_text(path: &Path, streams: &mut Streams<'_>) -> Result<(String, String), Failure> {
    let (name, bytes) = if path == Path::new("-") {
        ("<stdin>".to_owned(), limited(&mut *streams.input, MOST_OF_A_TABLE))
    } else {
        (path.display().to_string(), whole(path, MOST_OF_A_TABLE, MOST_OF_A_TABLE))
    };
    let text = as_text(&name, bytes).map_err(Failure::input)?;
    Ok((name, text))
}

fn as_text(name: &str, bytes: io::Result<Vec<u8>>) -> Result<String, String> {
    let bytes = bytes.map_err(|error| cannot_read(name, &error))?;
    String::from_utf8(bytes).map_err(|_| format!("`{name}` is no text"))
}

/// A file's bytes, up to a limit: one where its size is known, another one where it may have no end.
fn whole(path: &Path, file: u64, stream: u64) -> io::Result<Vec<u8>> {
    let opened = File::open(path)?;
    let meta = opened.metadata()?;
    match meta.is_file() {
        // Known before a byte is read: a file with holes takes no memory.
        true if meta.len() > file => Err(too_large(file)),
        true => limited(opened, file),
        false => limited(opened, stream),
    }
}

fn limited(from: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = from.take(most + 1).read_to_end(&mut bytes)? as u64;
    if read > most { Err(too_large(most)) } else { Ok(bytes) }
}

fn too_large(most: u64) -> io::Error {
    let human = crate::size::human(most);
    io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {human}, the most that is read"))
}

fn cannot_read(name: &str, error: &io::Error) -> String {
    format!("cannot read `{name}`: {error}")
}

/// Reads a model with its contents named by what they are.
///
/// # Errors
/// All that is wrong with the bytes.
pub fn read_named(input: &Input, dims: &[DimFlag], names: &mut Names) -> Result<Module, Failure> {
    let module = match input.kind {
        Kind::Tflite => neap_import::read_tflite_named(&input.bytes, names),
        Kind::Onnx => neap_import::read_onnx_named(&input.bytes, &bounds(dims), names),
        Kind::Npu | Kind::Text => return input.module(dims),
    };
    module.map_err(|diagnostics| Failure::new(Exit::Input, diagnostics))
}

fn bounds(dims: &[DimFlag]) -> Vec<(String, u64, u64)> {
    dims.iter().map(|dim| (dim.name.clone(), dim.low, dim.high)).collect()
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
        Kind::Onnx => neap_import::read_onnx(bytes, &bounds(dims)),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_large_is_refused_before_or_at_the_limit() {
        assert_eq!(limited(&b"12345"[..], 5).expect("at the limit"), b"12345");
        let error = limited(io::repeat(0), 5).expect_err("without end");
        assert!(error.to_string().contains("larger than 5 B"), "{error}");
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("holes");
        File::create(&path).and_then(|file| file.set_len(MOST_OF_A_FILE + 1)).expect("a file of holes");
        let error = whole(&path, MOST_OF_A_FILE, 0).expect_err("too large");
        assert!(error.to_string().contains("8.00 GiB"), "{error}");
        assert!(whole(Path::new("/dev/zero"), MOST_OF_A_FILE, 4096).is_err());
    }
}
