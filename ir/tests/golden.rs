//! Text next to what comes of it: every file of `testdata` prints to a fixed point, and `testdata/diagnostics` shows how errors look.

use neap_ir::diag::render::{Source, render};
use neap_ir::parse::split_input;
use neap_ir::{PrintOptions, parse, print, verify};
use std::path::{Path, PathBuf};

fn mlir_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            mlir_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "mlir") {
            found.push(path);
        }
    }
}

#[test]
fn all_test_data_prints_to_a_fixed_point() {
    let mut files = Vec::new();
    mlir_files(&PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../testdata"), &mut files);
    let mut read = 0;
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a text file");
        for chunk in split_input(&text) {
            let Ok(module) = parse(chunk.text) else {
                // These are there to be refused.
                let broken = file.parent().is_some_and(|folder| folder.ends_with("cases/H34"));
                let known = broken || file.components().any(|part| part.as_os_str() == "diagnostics");
                assert!(known, "{}", file.display());
                continue;
            };
            read += 1;
            let printed = print(&module, &PrintOptions::default());
            let generic = print(&module, &PrintOptions { generic: true, locs: true });
            for text in [&printed, &generic] {
                let again = parse(text).unwrap_or_else(|errors| panic!("{}: {errors:#?}\n{text}", file.display()));
                assert_eq!(print(&again, &PrintOptions::default()), printed, "{}", file.display());
            }
        }
    }
    assert!(read > 50, "{read}");
}

#[test]
fn diagnostics() {
    insta::glob!("../../testdata", "diagnostics/*.mlir", |path| {
        let text = std::fs::read_to_string(path).expect("a text file");
        let errors = match parse(&text) {
            Err(errors) => errors,
            Ok(module) => verify(&module).expect_err("the file is wrong somewhere"),
        };
        let name = path.file_name().and_then(|name| name.to_str()).expect("the name is text");
        let shown = render(&errors, &Source { name, text: text.as_bytes(), line: 0 }, false);
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path(path.parent().expect("the file is in a folder"));
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.remove_snapshot_suffix();
        settings.remove_input_file();
        settings.bind(|| insta::assert_snapshot!(name, shown));
    });
}
