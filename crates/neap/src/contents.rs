//! Contents of model files, named by their hash: two files hold the same where the names are the same.
//!
//! Data in files beside a model is hashed piece by piece, whatever its size. What is not there is named by where it should be, and told.

use neap_import::contents::Naming;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};

/// Names of the contents of one model.
pub struct Names {
    folders: Vec<PathBuf>,
    /// Files beside the model that could not be read as far as the model says.
    pub missing: BTreeSet<String>,
    /// Files that were not beside the model, but beside another one.
    pub elsewhere: BTreeSet<String>,
}

impl Names {
    /// For the first of some model files; data that are not beside it are looked for beside the others.
    pub fn of(models: &[&str]) -> Names {
        let folder = |model: &&str| Path::new(model).parent().unwrap_or(Path::new("")).to_owned();
        Names { folders: models.iter().map(folder).collect(), missing: BTreeSet::new(), elsewhere: BTreeSet::new() }
    }
}

impl Naming for Names {
    fn bytes(&mut self, bytes: &[u8]) -> String {
        text(Sha256::new_with_prefix(bytes))
    }

    fn external(&mut self, location: &str, offset: u64, length: Option<u64>) -> String {
        for (at, folder) in self.folders.iter().enumerate() {
            if let Ok(name) = read(folder, location, offset, length) {
                if at > 0 {
                    self.elsewhere.insert(location.to_owned());
                }
                return name;
            }
        }
        self.missing.insert(location.to_owned());
        format!("missing {location} {offset} {length:?}")
    }
}

fn text(hash: Sha256) -> String {
    hash.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The name of a part of a file.
fn read(folder: &Path, location: &str, offset: u64, length: Option<u64>) -> std::io::Result<String> {
    let path = Path::new(location);
    if location.is_empty() || !path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
        return Err(std::io::ErrorKind::NotFound.into());
    }
    let mut file = File::open(folder.join(path))?;
    file.seek(SeekFrom::Start(offset))?;
    let mut hash = Sha256::new();
    let read = std::io::copy(&mut file.take(length.unwrap_or(u64::MAX)), &mut hash)?;
    if length.is_some_and(|length| read < length) {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    Ok(text(hash))
}
