//! Output files: whole or not at all.
//!
//! Every file is staged beside its target under a name of its own and renamed into place once all files of the run are complete. A
//! run that fails leaves the targets as they were; one that is interrupted removes what it staged. What is no regular file (a
//! pipe, `/dev/null`) is written to directly: renaming over it would replace it.

use crate::exit::Failure;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use tempfile::{NamedTempFile, TempPath};

/// Staged files of this process, removed when it is interrupted.
static STAGED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A file to write.
pub struct Output {
    /// Where.
    pub path: PathBuf,
    /// What.
    pub bytes: Vec<u8>,
}

/// Writes all files, or none.
///
/// # Errors
/// The file that could not be written, and why.
pub fn write_all(outputs: &[Output]) -> Result<(), Failure> {
    let mut staged = Vec::new();
    for output in outputs {
        staged.push(stage(output).map_err(|error| cannot_write(&output.path, &error))?);
    }
    for (output, staged) in outputs.iter().zip(staged) {
        finish(output, staged).map_err(|error| cannot_write(&output.path, &error))?;
    }
    Ok(())
}

/// Refuses outputs that are the input or each other: the input is never changed.
///
/// # Errors
/// The output in question.
pub fn distinct(inputs: &[&Path], outputs: &[PathBuf]) -> Result<(), Failure> {
    for (at, output) in outputs.iter().enumerate() {
        if inputs.iter().any(|input| same(input, output)) {
            let message = format!("`{}` is the input, and the input is never changed", output.display());
            return Err(Failure::usage(message).help("give `-o` another name"));
        }
        if outputs[..at].iter().any(|other| same(other, output)) {
            return Err(Failure::usage(format!("`{}` is written twice", output.display())));
        }
    }
    Ok(())
}

/// Removes staged files when the process is told to end, and ends it with the shell's code for an interrupt.
pub fn remove_staged_on_interrupt() {
    // The only error is a handler that is set already: then that one does the work.
    let set = ctrlc::try_set_handler(|| {
        if let Ok(staged) = STAGED.lock() {
            for path in staged.iter() {
                drop(fs::remove_file(path));
            }
        }
        std::process::exit(130);
    });
    drop(set);
}

/// A complete file beside its target, or none where the target is written to directly.
struct Staged(Option<(TempPath, PathBuf)>);

fn stage(output: &Output) -> std::io::Result<Staged> {
    // A link stays a link: the file behind it is replaced.
    let target = fs::canonicalize(&output.path).unwrap_or_else(|_| output.path.clone());
    let permissions = match fs::metadata(&target) {
        Ok(meta) if !meta.is_file() => return Ok(Staged(None)),
        Ok(meta) => Some(meta.permissions()),
        Err(_) => None,
    };
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let file = {
        // Held while the file comes to be, so that an interrupt never misses it.
        let mut staged = STAGED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let file = create(folder)?;
        staged.push(file.path().to_owned());
        file
    };
    let (mut handle, path) = file.into_parts();
    handle.write_all(&output.bytes)?;
    handle.sync_all()?;
    if let Some(permissions) = permissions {
        fs::set_permissions(&path, permissions)?;
    }
    Ok(Staged(Some((path, target))))
}

/// A new file with the permissions that any new file of the user has.
fn create(folder: &Path) -> std::io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".neap-").suffix(".part");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

fn finish(output: &Output, staged: Staged) -> std::io::Result<()> {
    let Some((path, target)) = staged.0 else {
        return File::options().write(true).open(&output.path)?.write_all(&output.bytes);
    };
    let name = path.to_path_buf();
    path.persist(target)?;
    if let Ok(mut staged) = STAGED.lock() {
        staged.retain(|other| *other != name);
    }
    Ok(())
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("cannot write `{}`: {error}", path.display()))
}

fn same(a: &Path, b: &Path) -> bool {
    a == b || matches!((fs::canonicalize(a), fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(path: PathBuf) -> Output {
        Output { path, bytes: b"plan".to_vec() }
    }

    #[test]
    fn one_bad_target_leaves_the_others_untouched() {
        let folder = tempfile::tempdir().unwrap();
        let good = folder.path().join("good");
        fs::write(&good, "old").unwrap();
        let bad = folder.path().join("missing/bad");
        assert!(write_all(&[output(good.clone()), output(bad)]).is_err());
        assert_eq!(fs::read(&good).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "something staged was left behind");
    }

    #[test]
    fn files_keep_their_mode_and_links_their_target() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&file, &link).unwrap();
        write_all(&[output(link.clone())]).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"plan");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[test]
    fn the_input_is_no_output() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "old").unwrap();
        let around = folder.path().join(".").join("file");
        assert!(distinct(&[&file], &[around]).is_err());
        assert!(distinct(&[], &["a".into(), "a".into()]).is_err());
        assert!(distinct(&[&file], &["a".into(), "b".into()]).is_ok());
    }
}
