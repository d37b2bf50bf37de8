//! What the command line refuses: contradictions, flags that do nothing, outputs that would destroy what is read. All of it before any work.

#[path = "../../import/tests/onnx/message.rs"]
#[allow(dead_code, reason = "the reader's tests use all of it")]
mod message;
mod program;

use message::{Graph, external, node, value};
use program::neap;
use std::fs;
use std::path::Path;

const SMALL: &str = "func.func @main(%x: tensor<?x8xi8> {neap.dims = [\"N\"]}) -> tensor<16xi8> {
  %a = \"neap.opaque\"(%x) {neap.name = \"first\"} : (tensor<?x8xi8>) -> tensor<32xi8>
  %b = \"neap.opaque\"(%a) : (tensor<32xi8>) -> tensor<16xi8>
  return %b : tensor<16xi8>
}
";

/// A model whose weights are in `w.bin`, which is there.
fn model() -> Vec<u8> {
    Graph {
        nodes: vec![node("Add", &["x", "w"], &["y"]), node("Relu", &["y"], &["z"])],
        constants: vec![external("w", &[4], "w.bin")],
        inputs: vec![value("x", 1, &["4"])],
        outputs: vec![value("z", 1, &["4"])],
        ..Graph::default()
    }
    .file(17)
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).expect("written");
    write("in.mlir", SMALL.as_bytes());
    write("m.onnx", &model());
    write("w.bin", b"the weights");
    write("t.csv", b"id,lower,upper,size\na,0,2,5\nb,1,3,5\n");
    write("r.csv", b"id,lower,upper,size,region\na,0,2,5,FAST\nb,1,3,5,SLWO\n");
    write("s.csv", b"op,bytes\nfirst,8\n%a,16\n");
    write("twice.csv", b"first,8\nfirst,16\n");
    folder
}

/// Every run is refused as wrong usage, says so, and leaves the folder as it was.
fn refused(cases: &[(&[&str], &[&str])]) {
    let folder = folder();
    let before = listing(folder.path());
    for (args, says) in cases {
        let (code, out, err) = neap(folder.path(), args);
        assert!(code == 2 && out.is_empty(), "{args:?}: {code}\n{out}{err}");
        for part in *says {
            assert!(err.contains(part), "{args:?}: no `{part}` in\n{err}");
        }
        assert!(!err.contains("--> \n") && !err.contains(".part"), "{err}");
        assert_eq!(listing(folder.path()), before, "{args:?}");
    }
}

/// Names and contents.
fn listing(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found: Vec<_> = fs::read_dir(folder)
        .expect("the folder")
        .map(|entry| entry.expect("an entry").path())
        .map(|path| (path.display().to_string(), fs::read(&path).unwrap_or_default()))
        .collect();
    found.sort();
    found
}

#[test]
fn what_is_said_of_one_thing_is_said_once() {
    refused(&[
        (&["pack", "t.csv", "--arena", "x=10", "--arena", "x=10"], &["`--arena x=10` and `--arena x=10`"]),
        (&["plan", "in.mlir", "--arena", "x=1K", "--arena", "@x=2K"], &["`--arena x=1K` and `--arena @x=2K`"]),
        (&["opt", "in.mlir", "--budget", "1K", "--budget=2K"], &["`--budget 1K` and `--budget 2K`"]),
        (&["opt", "in.mlir", "--budget=@a=1", "--budget=@a=2"], &["@a=1", "@a=2"]),
        (&["opt", "in.mlir", "--pin", "first@0", "--pin", "first@64"], &["first@0", "first@64"]),
        (&["opt", "in.mlir", "--dim=N=8", "--pin", "first@0", "--pin", "%a@64"], &["--pin first@0", "--pin %a@64"]),
        (&["opt", "in.mlir", "--keep", "first", "--keep", "first"], &["--keep first"]),
        (&["opt", "in.mlir", "--dim=N=8", "--keep", "first", "--keep", "%a"], &["--keep first", "--keep %a"]),
        (&["plan", "in.mlir", "--external", "%x", "--external", "%x"], &["--external %x"]),
        (&["plan", "in.mlir", "--dim", "N=8", "--dim", "N=9"], &["`--dim N=8` and `--dim N=9`"]),
        (&["check", "in.mlir", "in.mlir", "--dim", "N=8", "--dim", "N=9"], &["`--dim N=8` and `--dim N=9`"]),
        (&["import", "m.onnx", "--dim", "N=8", "--dim", "N=9"], &["`--dim N=8` and `--dim N=9`"]),
        (&["plan", "in.mlir", "--reuse=auto", "--reuse=never"], &["auto", "never"]),
        (&["plan", "in.mlir", "--dim=N=8", "--reuse=first=auto", "--reuse=%a=must"], &["first=auto", "%a=must"]),
        (&["plan", "in.mlir", "--dialect=s.csv", "--dialect=s.csv"], &["--dialect s.csv"]),
        (&["plan", "in.mlir", "--assume-pure=a", "--assume-pure=a"], &["--assume-pure a"]),
        (&["plan", "in.mlir", "--dim=N=8", "--scratch=s.csv"], &["s.csv:2: first", "s.csv:3: %a"]),
        (&["plan", "in.mlir", "--dim=N=8", "--scratch=twice.csv"], &["twice.csv:2", "line 1"]),
        (&["check", "-", "-"], &["can be read once"]),
    ]);
}

#[test]
fn contradictions_are_no_choice_of_ours() {
    refused(&[
        (&["plan", "in.mlir", "--dim=N=8", "--external=%x", "--keep=%x"], &["--external %x", "--keep %x"]),
        (&["plan", "in.mlir", "--dim=N=8", "--external=%x", "--pin=%x@0"], &["--external %x", "--pin %x@0"]),
        (&["plan", "in.mlir", "--no-reuse", "--reuse=auto"], &["--no-reuse", "--reuse auto"]),
        (&["plan", "in.mlir", "--no-reuse", "--reuse=first=must"], &["--no-reuse", "first=must"]),
        (&["plan", "in.mlir", "--summary=none", "--summary-file=s"], &["--summary-file"]),
        (&["plan", "in.mlir", "--dim=N=1..9", "--buckets=N=4,8"], &["`--dim N=1..9`", "`--buckets N=4,8`"]),
        (&["plan", "in.mlir", "--to=csv"], &["--output"]),
        (&["plan", "in.mlir", "--offsets"], &["none is asked for"]),
        (&["opt", "in.mlir", "--run-reproducer", "--dce"], &["--run-reproducer"]),
        (&["opt", "in.mlir", "--run-reproducer", "--pass-pipeline=dce"], &["--run-reproducer"]),
        (&["plan", "in.mlir", "--objective=traffic", "--dim=N=8"], &["`--dim` has no meaning"]),
        (&["plan", "in.mlir", "m.onnx", "--share-arena", "--certificate=c"], &["`--certificate` has no meaning"]),
        (&["plan", "in.mlir", "--concurrent=2", "--mlir-timing"], &["`--mlir-timing` has no meaning"]),
        (&["pack", "r.csv"], &["FAST, SLWO", "--arena FAST=SIZE --arena SLWO=SIZE"]),
        (&["pack", "r.csv", "--arena=FAST=99"], &["line 3", "`SLWO` is not declared", "--arena NAME=SIZE"]),
        (&["pack", "r.csv", "--capacity=99"], &["line 2", "`FAST` is not declared"]),
    ]);
    // What says the same twice over, or only less, is no contradiction.
    let folder = folder();
    for args in [
        &["plan", "in.mlir", "--dim=N=8", "--keep=first", "--pin=first@64"][..],
        &["plan", "in.mlir", "--dim=N=8", "--no-reuse", "--reuse=never"],
        &["plan", "in.mlir", "--dim=N=2..8", "--buckets=N=4,8"],
        &["pack", "r.csv", "--arena=FAST=99", "--arena=SLWO=99"],
    ] {
        let (code, _, err) = neap(folder.path(), args);
        assert_eq!(code, 0, "{args:?}: {err}");
    }
}

#[test]
fn no_output_is_a_file_that_is_read() {
    let folder = folder();
    fs::create_dir(folder.path().join("x")).expect("a folder");
    fs::hard_link(folder.path().join("w.bin"), folder.path().join("hard")).expect("a link");
    #[cfg(unix)]
    std::os::unix::fs::symlink("w.bin", folder.path().join("soft")).expect("a link");
    #[cfg(unix)]
    std::os::unix::fs::symlink(".", folder.path().join("loop")).expect("a link");
    let (code, _, err) = neap(folder.path(), &["plan", "m.onnx", "-o", "plan.mlir"]);
    assert_eq!(code, 0, "{err}");
    let before = listing(folder.path());
    // The model, its weights, the plan, tables: with every flag that writes, however the file is spelled.
    for name in ["m.onnx", "w.bin", "./w.bin", "x/../w.bin", "hard", "soft", "loop/w.bin", "loop/x/../soft"] {
        for args in [
            &["plan", "m.onnx", "--to=onnx", "-o"][..],
            &["plan", "m.onnx", "--to=csv", "-o"],
            &["plan", "m.onnx", "--to=json", "-o"],
            &["plan", "m.onnx", "--certificate"],
            &["plan", "m.onnx", "--summary-file"],
            &["plan", "m.onnx", "--dialect-stub"],
            &["plan", "m.onnx", "in.mlir", "--share-arena", "--dim=N=8", "--to=json", "-o"],
            &["plan", "m.onnx", "--concurrent=2", "--summary-file"],
            &["opt", "m.onnx", "-o"],
            &["opt", "m.onnx", "--certificate"],
            &["opt", "m.onnx", "--mlir-pass-pipeline-crash-reproducer"],
            &["emit", "plan.mlir", "--template=m.onnx", "--to=onnx", "-o"],
            &["import", "m.onnx", "-o"],
        ] {
            let args = [args, &[name]].concat();
            let (code, out, err) = neap(folder.path(), &args);
            assert!(code == 2 && out.is_empty() && err.contains("never changed"), "{args:?}: {code}\n{out}{err}");
            assert_eq!(listing(folder.path()), before, "{args:?}");
        }
    }
    for (args, says) in [
        (&["plan", "in.mlir", "--scratch=s.csv", "-o", "x/../s.csv"][..], "the table of scratch"),
        (&["plan", "in.mlir", "--dialect=f.csv", "-o", "./f.csv"], "a table that is read"),
        (&["plan", "in.mlir", "--profile=./p.json", "-o", "p.json"], "the profile"),
        (&["pack", "t.csv", "-o", "x/../t.csv"], "the input"),
        (&["plan", "in.mlir", "-o", "a.csv", "--summary-file", "x/../a.csv"], "written twice"),
        (&["plan", "in.mlir", "-o", "a.csv", "-o", "loop/a.csv"], "written twice"),
    ] {
        let (code, _, err) = neap(folder.path(), args);
        assert!(code == 2 && err.contains(says), "{args:?}: {code}\n{err}");
        assert_eq!(listing(folder.path()), before, "{args:?}");
    }
}

/// A file that the model refers to is not written over even where it is missing: it may come later.
#[test]
fn weights_that_are_not_there_yet_have_their_place() {
    let folder = folder();
    fs::remove_file(folder.path().join("w.bin")).expect("it was there");
    let (code, _, err) = neap(folder.path(), &["plan", "m.onnx", "--to=csv", "-o", "./w.bin"]);
    assert!(code == 2 && err.contains("a file with tensors of `m.onnx`"), "{err}");
}

#[test]
fn a_model_that_moves_away_from_its_weights_says_so() {
    let folder = folder();
    fs::create_dir(folder.path().join("x")).expect("a folder");
    let plan = |out: &str| neap(folder.path(), &["plan", "m.onnx", "-o", out, "-o", "plan.mlir"]);
    let (code, _, err) = plan("out.onnx");
    assert_eq!((code, err.as_str()), (0, ""));
    let (code, _, err) = plan("x/out.onnx");
    assert!(code == 0 && err.contains("warning: `x/out.onnx` takes tensors from `w.bin`"), "{err}");
    assert!(err.contains("cp ./w.bin x/w.bin"), "{err}");
    let (code, _, err) = neap(folder.path(), &["emit", "plan.mlir", "--template=m.onnx", "-o", "x/out.onnx"]);
    assert!(code == 0 && err.contains("not beside it"), "{err}");
    fs::write(folder.path().join("x/w.bin"), "another").expect("written");
    assert!(plan("x/out.onnx").2.contains("not beside it"), "another file of the name is not the weights");
    fs::copy(folder.path().join("w.bin"), folder.path().join("x/w.bin")).expect("copied");
    assert_eq!(plan("x/out.onnx").2, "");
}

/// What is certain to be refused is refused at once: this graph takes longer than the time there is.
#[test]
fn what_will_be_refused_is_refused_before_the_work() {
    let folder = folder();
    let ops: String = (0..20_000)
        .map(|at| format!("  %v{} = \"neap.opaque\"(%v{at}) : (tensor<8xi8>) -> tensor<8xi8>\n", at + 1))
        .collect();
    fs::write(folder.path().join("big.mlir"), format!("func.func @main(%v0: tensor<8xi8>) {{\n{ops}  return\n}}\n"))
        .expect("written");
    let before = listing(folder.path());
    for (args, says) in [
        (&["-o", "no/out.mlir"][..], "there is no folder `no`"),
        (&["--certificate=no/c"], "cannot write `no/c`"),
        (&["-o", "."], "it is a folder"),
        (&["--summary-file", "."], "it is a folder"),
        (&["-o", "x.memory"], "--objective traffic"),
        (&["-o", "x.schedule"], "no NPU model is given"),
        (&["-o", "x.tflite"], "--template"),
        (&["--template=m.onnx", "-o", "x.tflite"], "`m.onnx` is no TFLite model"),
        (&["--objective=makespan", "-o", "x.schedule"], "is no NPU graph"),
        (&["--budget=@sram=1K"], "there are: @arena"),
        (&["--buckets=N=1,2"], "`--buckets N`: there is no dimension of this name"),
        (&["--concurrent=2", "--to=csv", "-o", "o.csv"], "`o.csv`: this writer knows one model, and `--concurrent`"),
        (&["-o", "x.h", "--offsets"], "`--offsets` is about a `.tflite`"),
    ] {
        let args = [&["plan", "big.mlir", "--mlir-timing"][..], args].concat();
        let args: Vec<&str> = match args.iter().any(|arg| arg.starts_with("--concurrent") || arg.starts_with("--obj")) {
            true => args.into_iter().filter(|arg| *arg != "--mlir-timing").collect(),
            false => args,
        };
        let (code, out, err) = neap(folder.path(), &args);
        assert!(code == 2 && out.is_empty() && err.contains(says), "{args:?}: {code}\n{out}{err}");
        assert!(!err.contains("execution time") && err.lines().count() < 8, "{err}");
        assert_eq!(listing(folder.path()), before, "{args:?}");
    }
}

#[test]
fn there_is_nothing_to_plan_in_nothing() {
    let folder = folder();
    fs::write(folder.path().join("bare.mlir"), "module {\n}\n").expect("written");
    for (args, says) in [
        (&["plan", "-"][..], "`<stdin>` is empty: there is nothing to plan"),
        (&["plan", "-", "--concurrent=2"], "`<stdin>` is empty"),
        (&["plan", "bare.mlir"], "`bare.mlir` has no function with a body"),
        (&["emit", "-", "-o", "x.csv"], "`<stdin>` holds no plan"),
    ] {
        let (code, out, err) = neap(folder.path(), args);
        assert!(code == 1 && out.is_empty() && err.contains(says), "{args:?}: {code}\n{err}");
    }
    let (code, _, err) = neap(folder.path(), &["opt", "-"]);
    assert!(code == 0 && err.contains("<stdin> is empty"), "{err}");
}

#[cfg(unix)]
#[test]
fn what_has_no_end_is_read_up_to_a_limit() {
    let folder = folder();
    let file = fs::File::create(folder.path().join("holes.mlir")).expect("a file");
    file.set_len(1 << 40).expect("a file of holes");
    for (args, code, says) in [
        (&["plan", "holes.mlir"][..], 1, "`holes.mlir`: it is larger than 8.00 GiB"),
        (&["plan", "in.mlir", "--dialect=/dev/zero"], 2, "`/dev/zero`: it is larger than 256 MiB"),
        (&["pack", "/dev/zero"], 1, "`/dev/zero`: it is larger than 1.00 GiB"),
    ] {
        let (found, out, err) = neap(folder.path(), args);
        assert!(found == code && out.is_empty() && err.contains(says), "{args:?}: {found}\n{err}");
    }
}

/// What is protected from writing is not replaced either, and nothing else of the run is written.
#[cfg(unix)]
#[test]
fn a_file_that_is_protected_is_left_alone() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    let folder = folder();
    let set = |name: &str, mode: u32| {
        let permissions = fs::Permissions::from_mode(mode);
        fs::set_permissions(folder.path().join(name), permissions).expect("the mode is set");
    };
    fs::write(folder.path().join("kept.csv"), "kept").expect("written");
    fs::write(folder.path().join("open.csv"), "open").expect("written");
    set("kept.csv", 0o444);
    set("open.csv", 0o666);
    set("", 0o777);
    // For who may do everything no file is protected: then somebody else runs it, from a place that all can reach.
    let program = folder.path().join("neap");
    fs::copy(env!("CARGO_BIN_EXE_neap"), &program).expect("copied");
    set("neap", 0o755);
    let mut command = std::process::Command::new(&program);
    if fs::File::options().append(true).open(folder.path().join("kept.csv")).is_ok() {
        command.uid(65534).gid(65534);
    }
    let args = ["plan", "in.mlir", "--dim=N=8", "-o", "open.csv", "-o", "kept.csv"];
    let output = command.args(args).current_dir(folder.path()).output().expect("the binary runs");
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && output.stdout.is_empty(), "{err}");
    assert!(err.contains("cannot write `kept.csv`: ") && err.contains("make the file writable"), "{err}");
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect("there");
    assert_eq!((read("kept.csv"), read("open.csv")), ("kept".to_owned(), "open".to_owned()));
    set("kept.csv", 0o644);
    set("kept.csv", 0o666);
    let output = command.output().expect("the binary runs");
    assert!(output.status.success() && read("kept.csv") != "kept", "{}", String::from_utf8_lossy(&output.stderr));
}

/// Sizes beyond all sizes are said with the value and its size.
#[test]
fn what_is_too_large_is_named_with_its_size() {
    let folder = folder();
    let text = |dim: &str, element: &str| {
        let ty = format!("tensor<{dim}x{element}>");
        format!(
            "func.func @main(%x: {ty}) -> {ty} {{\n  %a = \"neap.opaque\"(%x) : ({ty}) -> {ty}\n  \
             %b = \"neap.opaque\"(%a) : ({ty}) -> {ty}\n  return %b : {ty}\n}}\n"
        )
    };
    let third = "3074457345618258603";
    for (text, says) in [
        (
            text("4611686018427387904", "f32"),
            "a value is too large: %x: byte size overflows in tensor<4611686018427387904xf32>",
        ),
        (text("4611686018427387904", "i8"), "the largest is %x with 4611686018427387904"),
        (text(third, "i8"), "the largest is %x with 3074457345618258603"),
    ] {
        fs::write(folder.path().join("huge.mlir"), &text).expect("written");
        for more in [&[][..], &["--no-reuse"], &["--arena=a=1K:64"], &["--profile=tflite"]] {
            let (code, out, err) = neap(folder.path(), &[&["plan", "huge.mlir"], more].concat());
            let refused = code == 1 && out.is_empty() && err.contains("huge.mlir:1:1");
            assert!(refused && err.contains("2^63-1 bytes") && err.contains(says), "{more:?}: {code}\n{out}{err}");
        }
    }
    fs::write(folder.path().join("half.mlir"), text("1152921504606846976", "i8")).expect("written");
    let args = ["plan", "half.mlir", "half.mlir", "--share-arena"];
    let (code, _, err) = neap(folder.path(), &args);
    assert_eq!(code, 0, "{err}");
    let args = ["plan", "half.mlir", "--concurrent=4"];
    let (code, _, err) = neap(folder.path(), &args);
    assert!(code == 1 && err.contains("2,305,843,009,213,693,952 B beside 6,917,529,027,641,081,856 B"), "{err}");
    fs::write(folder.path().join("t.csv"), "id,lower,upper,size\na,0,2,5\nb,1,3,9223372036854775807\n")
        .expect("written");
    let (code, _, err) = neap(folder.path(), &["pack", "t.csv"]);
    assert!(code == 1 && err.contains("the largest is `b`: 9223372036854775807"), "{err}");
}

/// Every dimension that has to be bounded is said, with a value that has it; further values that lack nothing else are counted.
#[test]
fn what_has_to_be_bounded_is_said_once() {
    let folder = folder();
    let named: String = (0..40)
        .map(|at| {
            let ty = "tensor<?x?xi8>";
            format!("  %v{} = \"neap.opaque\"(%v{at}) {{neap.dims = [\"N\", \"M\"]}} : ({ty}) -> {ty}\n", at + 1)
        })
        .collect();
    let text = format!(
        "module attributes {{neap.bounds = {{M = [1, 8]}}}} {{\nfunc.func @main(%v0: tensor<?x?xi8> {{neap.dims = [\"N\", \"M\"]}}, %y: tensor<?x4xi8>) {{\n\
         {named}  %z = \"neap.opaque\"(%v40) {{neap.dims = [\"K\"]}} : (tensor<?x?xi8>) -> tensor<?xi8>\n  return\n}}\n}}\n"
    );
    fs::write(folder.path().join("open.mlir"), text).expect("written");
    let (code, _, err) = neap(folder.path(), &["plan", "open.mlir"]);
    assert!(code == 1 && err.contains("the sizes of 43 values are not known"), "{err}");
    for part in
        ["no upper bound of %v0.0 (`N`)", "no upper bound of %y.0\n", "no upper bound of %z.0 (`K`)", "40 more values"]
    {
        assert!(err.contains(part), "no `{part}` in\n{err}");
    }
    assert_eq!(err.matches("no upper bound of").count(), 3, "{err}");
    assert!(err.contains("`K` (1), `N` (41)") && err.contains("`--dim K=1..MAX`"), "{err}");
    let (code, _, err) = neap(folder.path(), &["plan", "open.mlir", "--dim=N=1..4", "--dim=K=1..4", "--dim=%y.0=1..4"]);
    assert_eq!(code, 0, "{err}");
}

#[test]
fn arenas_that_are_too_small_say_what_would_help() {
    let folder = folder();
    let run = |arenas: &[&str]| neap(folder.path(), &[&["plan", "in.mlir", "--dim=N=8"][..], arenas].concat());
    for (arenas, help) in [
        (
            &["--arena", "fast=40", "--arena", "slow=40"][..],
            "would help: @slow of 64 B, 24 more than it has, with the others",
        ),
        (&["--arena", "only=90"], "would help: @only of 96 B, 6 more than it has\n"),
    ] {
        let (code, out, err) = run(arenas);
        assert!(code == 3 && out.is_empty() && err.contains(help), "{arenas:?}: {code} {err}");
    }
    // What is foretold is enough.
    assert_eq!(run(&["--arena", "fast=40", "--arena", "slow=64"]).0, 0);
    assert_eq!(run(&["--arena", "only=96"]).0, 0);
}

#[test]
fn offsets_that_a_runtime_does_not_take_are_warned_of() {
    let folder = folder();
    let run = |method: &str, profile: &str| {
        let passes = format!("--pass-pipeline=lock-effects,reorder,assign-offsets{{method={method}}}");
        neap(folder.path(), &["plan", "in.mlir", "--dim=N=8", &passes, "--profile", profile])
    };
    let (code, _, err) = run("search", "tflite");
    let says =
        "warning: `assign-offsets{method=search}`: with profile `tflite` the runtime places everything by itself";
    assert!(code == 0 && err.contains(says), "{code} {err}");
    for (method, profile) in [("auto", "tflite"), ("litert", "tflite"), ("search", "tflm"), ("search", "none")] {
        let (code, _, err) = run(method, profile);
        assert!(code == 0 && err.is_empty(), "{method} {profile}: {code} {err}");
    }
}

#[test]
fn one_header_or_table_is_of_one_plan() {
    let folder = folder();
    let (code, _, err) = neap(folder.path(), &["plan", "in.mlir", "--buckets", "N=4,8", "-o", "b.csv"]);
    assert_eq!(code, 0, "{err}");
    let (code, _, err) = neap(folder.path(), &["check", "in.mlir", "b.csv"]);
    let says = "b.csv:2: `main[N=1..4]` is one of several plans, for a range of sizes each";
    assert!(code == 1 && err.contains(says) && err.contains("check the `.mlir`"), "{code} {err}");
    fs::write(folder.path().join("b.csv"), "function,value,offset\nother,%a,0\n").expect("written");
    let (code, _, err) = neap(folder.path(), &["check", "in.mlir", "b.csv", "--dim=N=8"]);
    assert!(code == 1 && err.contains("b.csv:2: there is no function `other` in the source"), "{code} {err}");
    let (code, _, err) = neap(folder.path(), &["plan", "m.onnx", "m.onnx", "--share-arena", "-o", "b.h"]);
    assert!(code == 2 && err.contains("a C header holds one model"), "{code} {err}");
}
