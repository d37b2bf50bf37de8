//! Output files: whole or not at all.
//!
//! Every file is staged beside its target under a name of its own and renamed into place once all files of the run are complete. A
//! run that fails leaves the targets as they were; one that is interrupted removes what it staged. What is no regular file (a
//! pipe, `/dev/null`) is written to directly: renaming over it would replace it. A file that is protected from writing is not replaced.

use crate::exit::{Exit, Failure};
use crate::streams::Streams;
use std::fs::{self, File};
use std::io::{IsTerminal, Write};
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

/// Whether an output is the standard output.
pub fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// Writes all files, or none, and then what goes to the standard output.
///
/// # Errors
/// The file that could not be written, and why.
pub fn deliver(outputs: Vec<Output>, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
    let (out, files): (Vec<Output>, Vec<Output>) = outputs.into_iter().partition(|output| is_stdout(&output.path));
    write_all(&files)?;
    out.iter().try_fold(Exit::Done, |_, output| streams.deliver_bytes(&output.bytes))
}

/// A file that a run reads, and what it is to the run.
pub type Reads<'a> = (&'a Path, &'a str);

/// Looks at all outputs before any work begins: none may be what is read, or another output, and each must be possible.
///
/// # Errors
/// The output in question.
pub fn prepare(reads: &[Reads<'_>], outputs: &[PathBuf]) -> Result<(), Failure> {
    let (out, files): (Vec<&PathBuf>, Vec<&PathBuf>) = outputs.iter().partition(|output| is_stdout(output));
    if out.len() > 1 {
        return Err(Failure::usage("the standard output, `-`, is written twice")
            .help("give each output but one the name of a file"));
    }
    let outputs = files;
    for (at, output) in outputs.iter().enumerate() {
        spare(reads, output)?;
        if let Some(other) = outputs[..at].iter().find(|other| same(other, output)) {
            let (other, output) = (other.display(), output.display());
            return Err(Failure::usage(format!("`{other}` and `{output}` are one file, and it is written twice"))
                .help("give each output a name of its own"));
        }
    }
    outputs.into_iter().try_for_each(|output| possible(output))
}

/// Refuses an output that is a file which is read: what is read is never changed.
///
/// # Errors
/// The output.
pub fn spare(reads: &[Reads<'_>], output: &Path) -> Result<(), Failure> {
    let Some((path, what)) = reads.iter().find(|(path, _)| same(path, output)) else { return Ok(()) };
    let spelled = if *path == output { String::new() } else { format!(", `{}`", path.display()) };
    let message = format!("`{}` is {what}{spelled}, which is never changed", output.display());
    Err(Failure::usage(message).help("give the output another name"))
}

/// Whether a file can be written at all: what is refused is refused before the work.
fn possible(output: &Path) -> Result<(), Failure> {
    let target = fs::canonicalize(output).unwrap_or_else(|_| output.to_owned());
    match fs::metadata(&target) {
        Ok(meta) if meta.is_dir() => {
            return Err(Failure::usage(format!("cannot write `{}`: it is a folder", output.display())));
        }
        Ok(meta) if !meta.is_file() => return Ok(()),
        // Renaming over it would do: but what is protected from being written stays as it is, as compilers have it.
        Ok(_) => drop(File::options().write(true).open(&target).map_err(|error| protected(output, &error))?),
        Err(_) => {}
    }
    // A name of a file that is there and then gone: neither a failed nor an interrupted run leaves it.
    let mut staged = STAGED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let probe = create(folder(&target)).map_err(|error| cannot_write(output, &error))?;
    staged.push(probe.path().to_owned());
    drop(probe);
    staged.pop();
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
        // The shell's next line begins behind what was going on.
        let mut err = std::io::stderr();
        if err.is_terminal() {
            drop(err.write_all(b"\n"));
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
    let folder = folder(&target);
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

/// Says what the user wrote, not what the file is called until it is complete.
fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    let shown = path.display();
    let folder = folder(path);
    if !folder.is_dir() {
        let message = format!("cannot write `{shown}`: there is no folder `{}`", folder.display());
        return Failure::usage(message).help("make the folder first");
    }
    // The error of the staged file names that one.
    let plain = error.raw_os_error().map(std::io::Error::from_raw_os_error);
    let why = plain.map_or_else(|| error.kind().to_string(), |plain| plain.to_string());
    Failure::usage(format!("cannot write `{shown}`: {why}"))
}

/// A file is there, and may not be changed.
fn protected(path: &Path, error: &std::io::Error) -> Failure {
    cannot_write(path, error).help("make the file writable, or give the output another name")
}

/// The folder that a file is in, as far as its name says.
pub fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Whether two names mean one file: spelled alike, through links of both kinds, or where neither is there yet, the same name in the same folder.
pub fn same(a: &Path, b: &Path) -> bool {
    // What the standard input is read from has a name, too.
    let a = if a == Path::new("-") { Path::new("/dev/stdin") } else { a };
    a == b || one_file(a, b) || matches!((place(a), place(b)), (Some(a), Some(b)) if a == b)
}

/// Whether two files that are there are one. Nothing is opened: a pipe would wait for its other end.
fn one_file(a: &Path, b: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let number = |path: &Path| fs::metadata(path).ok().map(|meta| (meta.dev(), meta.ino()));
        number(a).is_some_and(|number_of_a| number(b) == Some(number_of_a))
    }
    #[cfg(not(unix))]
    {
        matches!((fs::canonicalize(a), fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
    }
}

/// Where a file that may not be there yet would lie.
fn place(path: &Path) -> Option<PathBuf> {
    Some(fs::canonicalize(folder(path)).ok()?.join(path.file_name()?))
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
    fn the_input_is_no_output_however_it_is_spelled() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let file = at("file");
        fs::write(&file, "old").unwrap();
        fs::create_dir(at("x")).unwrap();
        fs::hard_link(&file, at("hard")).unwrap();
        std::os::unix::fs::symlink(&file, at("soft")).unwrap();
        std::os::unix::fs::symlink(folder.path(), at("loop")).unwrap();
        for name in ["file", "./file", "x/../file", "hard", "soft", "loop/file", "loop/x/../soft"] {
            let failure = prepare(&[(&file, "the input")], &[at(name)]).expect_err(name);
            assert!(failure.diagnostics[0].message.contains("never changed"), "{name}");
            assert!(prepare(&[], &[file.clone(), at(name)]).is_err(), "{name} twice");
        }
        for (one, other) in [("new", "x/../new"), ("new", "loop/new"), ("x/new", "loop/x/new")] {
            assert!(prepare(&[], &[at(one), at(other)]).is_err(), "{one} {other}");
        }
        assert!(prepare(&[(&file, "the input")], &[at("a"), at("b"), at("x/a")]).is_ok());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 5, "the probe was left behind");
    }

    #[test]
    fn what_cannot_be_written_is_said_as_the_user_wrote_it() {
        let folder = tempfile::tempdir().unwrap();
        let message = |path: PathBuf| prepare(&[], &[path]).expect_err("refused").diagnostics[0].message.clone();
        let missing = message(folder.path().join("no/out.mlir"));
        assert!(missing.ends_with("no`") && missing.contains("out.mlir`: there is no folder"), "{missing}");
        assert!(!missing.contains(".part"), "{missing}");
        assert!(message(folder.path().to_owned()).contains("it is a folder"));
        fs::write(folder.path().join("file"), "").unwrap();
        assert!(message(folder.path().join("file/out")).contains("there is no folder"));
    }
}
