//! Golden tests: rewriting their snapshots and showing what that changed.

use crate::{Outcome, sh};
use std::path::Path;

/// Rewrites the snapshots of one pass, or of all, removes those whose input is gone, and shows the difference.
pub(crate) fn bless(pass: Option<&str>) -> Outcome {
    let testdata = sh::root().join("testdata");
    if let Some(pass) = pass.filter(|pass| !testdata.join(pass).is_dir()) {
        return Err(format!("there is no folder testdata/{pass}"));
    }
    remove_stale(&testdata)?;
    let mut test = sh::cargo(["test", "--workspace", "--quiet", "--test", "golden"]);
    test.env("INSTA_UPDATE", "always").env("INSTA_FORCE_PASS", "1");
    if let Some(pass) = pass {
        test.env("INSTA_GLOB_FILTER", format!("**/{pass}/*"));
    }
    sh::run(&mut test)?;
    sh::run(&mut sh::program("git", ["--no-pager", "diff", "--", "testdata"]))?;
    let new = sh::stdout(&mut sh::program("git", ["ls-files", "--others", "--exclude-standard", "testdata"]))?;
    for line in new.lines() {
        println!("new: {line}");
        if line.ends_with(".snap") {
            println!("{}", sh::read(&sh::root().join(line))?);
        }
    }
    Ok(())
}

fn remove_stale(testdata: &Path) -> Outcome {
    let entries = std::fs::read_dir(testdata).map_err(|error| format!("{}: {error}", testdata.display()))?;
    for folder in entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_dir()) {
        for snapshot in sh::files(&folder, "snap")? {
            if !snapshot.with_extension("").exists() {
                std::fs::remove_file(&snapshot).map_err(|error| format!("{}: {error}", snapshot.display()))?;
            }
        }
    }
    Ok(())
}
