//! What `check` says of plans, tables, models and certificates.

#[path = "program/input.rs"]
mod input;

use input::{GOOD, neap_in};
use serde_json::Value;
use std::path::Path;

/// A function whose least peak, 180 bytes, a flow proves.
fn certified(name: &str, kind: &str) -> String {
    format!(
        "func.func {name}(%x: tensor<80xi8>) -> tensor<80xi8> {{\n  \
         %a = \"neap.opaque\"(%x) {{kind = \"{kind}\"}} : (tensor<80xi8>) -> tensor<80xi8>\n  \
         %b = \"neap.opaque\"(%a) : (tensor<80xi8>) -> tensor<20xi8>\n  \
         %c = \"neap.opaque\"(%x) : (tensor<80xi8>) -> tensor<80xi8>\n  \
         %y = \"neap.opaque\"(%b, %c) : (tensor<20xi8>, tensor<80xi8>) -> tensor<80xi8>\n  \
         return %y : tensor<80xi8>\n}}\n"
    )
}

/// Proofs are written one per line, hold for their plan, and hold for nothing else.
#[test]
fn certificates() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let text = |kind: &str| certified("@main", kind);
    std::fs::write(path("a.mlir"), text("f")).expect("a file");
    std::fs::write(path("b.mlir"), text("g")).expect("a file");
    for name in ["a", "b"] {
        let (source, plan, proof) = (path(&format!("{name}.mlir")), path(&format!("{name}.out.mlir")), path(name));
        let (code, out, err) = neap_in(folder.path(), &["plan", &source, "-o", &plan, "--certificate", &proof], "");
        assert_eq!((code, err.as_str()), (0, ""), "{out}");
    }
    let check = |proof: &str| {
        neap_in(folder.path(), &["check", &path("a.mlir"), &path("a.out.mlir"), "--certificate", proof], "")
    };
    let (code, out, err) = check(&path("a"));
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("the certificate holds: no order of the planned graph needs less than 180 B"), "{out}");
    let (code, _, err) = check(&path("b"));
    assert!(code == 1 && err.contains("made for another graph"), "{err}");
    let right = std::fs::read_to_string(path("a")).expect("a certificate");
    let wrong = right.replace("\"lower_bound\":180", "\"lower_bound\":181");
    assert_ne!(right, wrong);
    std::fs::write(path("c"), wrong).expect("a file");
    let (code, _, err) = check(&path("c"));
    assert!(code == 1 && err.contains("181"), "{err}");
    std::fs::write(path("d"), "{}").expect("a file");
    let (code, _, err) = check(&path("d"));
    assert!(code == 1 && err.contains("d:1"), "{err}");
    // Nothing proves nothing.
    std::fs::write(path("e"), " \n\n").expect("a file");
    let (code, out, err) = check(&path("e"));
    assert!(code == 1 && out.is_empty() && err.contains("e` holds no certificate"), "{out}{err}");
}

/// What a plan claims for each function has to be proved for each.
#[test]
fn certificates_of_some_functions_are_not_enough() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = certified("@one", "f") + &certified("@two", "g");
    let args = ["plan", "in.mlir", "-o", "plan.mlir", "--certificate", "both"];
    assert_eq!(neap_in(folder.path(), &args, &source).0, 0);
    let check =
        |proof: &str| neap_in(folder.path(), &["check", "in.mlir", "plan.mlir", "--certificate", proof], &source);
    let (code, out, err) = check("both");
    assert!(code == 0 && out.matches("the certificate holds").count() == 2, "{out}{err}");
    let both = std::fs::read_to_string(folder.path().join("both")).expect("two certificates");
    let line = |at: usize| both.lines().nth(at).expect("a certificate").to_owned();
    std::fs::write(folder.path().join("some"), line(1)).expect("a file");
    let (code, out, err) = check("some");
    assert!(code == 1 && out.is_empty() && err.contains("claims a certified bound"), "{out}{err}");
    // One that claims less than the plan does.
    let mut less: Value = serde_json::from_str(&line(0)).expect("JSON");
    less["claims"]["lower_bound"] = Value::from(0);
    less["flows"][0]["edges"] = Value::Array(Vec::new());
    std::fs::write(folder.path().join("less"), format!("{less}\n{}", line(1))).expect("a file");
    let (code, _, err) = check("less");
    assert!(code == 1 && err.contains("prove"), "{err}");
}

#[test]
fn a_plan_of_a_model_is_judged_from_its_file() {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/tflite");
    let folder = tempfile::tempdir().expect("a folder");
    let mut seen = 0;
    for model in std::fs::read_dir(models).expect("the models").filter_map(|entry| Some(entry.ok()?.path())) {
        if model.extension().is_none_or(|extension| extension != "tflite") {
            continue;
        }
        let model = model.to_string_lossy();
        let (code, _, err) = neap_in(folder.path(), &["plan", &model, "-o", "plan.mlir"], "");
        assert_eq!(code, 0, "{model}: {err}");
        let (code, out, err) = neap_in(folder.path(), &["check", &model, "plan.mlir"], "");
        assert!(code == 0 && out.contains("accepted"), "{model}: {err}");
        let tables = ["plan", &model, "-o", "plan.csv", "-o", "plan.json"];
        assert_eq!(neap_in(folder.path(), &tables, "").0, 0, "{model}");
        for table in ["plan.csv", "plan.json"] {
            let (code, out, err) = neap_in(folder.path(), &["check", &model, table], "");
            assert!(code == 0 && out.contains("accepted"), "{model} {table}: {err}");
        }
        seen += 1;
    }
    assert!(seen >= 4, "{seen} models found");
}

/// A table of ours says in which order its plan runs: it is judged in that one, and each of its figures counts.
#[test]
fn our_own_tables_are_judged_in_the_order_of_their_plan() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/tflite/tflm_keyword_scrambled_8bit.tflite");
    let model = model.to_string_lossy();
    assert_eq!(neap_in(folder.path(), &["plan", &model, "-o", "plan.csv"], "").0, 0);
    let csv = std::fs::read_to_string(folder.path().join("plan.csv")).expect("written");
    let check = |text: String| {
        std::fs::write(folder.path().join("bad.csv"), text).expect("written");
        neap_in(folder.path(), &["check", &model, "bad.csv"], "")
    };
    assert_eq!(check(csv.clone()).0, 0);
    let lines: Vec<&str> = csv.lines().collect();
    let changed = |at: usize, column: usize, value: &str| {
        let mut fields: Vec<&str> = lines[at].split(',').collect();
        fields[column] = value;
        let line = fields.join(",");
        let all = lines.iter().enumerate().map(|(index, text)| if index == at { line.as_str() } else { *text });
        all.map(|line| format!("{line}\n")).collect::<String>()
    };
    let (code, _, err) = check(changed(3, 2, "9000"));
    assert!(code == 1 && err.contains("is said to live"), "{err}");
    let (code, _, err) = check(changed(3, 4, lines[2].split(',').nth(4).expect("an offset")));
    assert!(code == 1 && err.contains("over"), "{err}");
}

/// Values within a fused operation are not made, and a table of ours has no row for them: it is judged on the graph after fusion.
#[test]
fn our_own_tables_of_fused_graphs_are_judged() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = r#"func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %a = "tosa.exp"(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %b = "tosa.tanh"(%a) : (tensor<64xf32>) -> tensor<64xf32>
  %k = "tosa.const"() {values = dense<1> : tensor<8x8xi8>} : () -> tensor<8x8xi8>
  %s = "tosa.const_shape"() {values = dense<[64]> : tensor<1xindex>} : () -> !tosa.shape<1>
  %v = "tosa.reshape"(%k, %s) : (tensor<8x8xi8>, !tosa.shape<1>) -> tensor<64xi8>
  %c = "neap.opaque"(%b, %x, %v) : (tensor<64xf32>, tensor<64xf32>, tensor<64xi8>) -> tensor<64xf32>
  return %c : tensor<64xf32>
}
"#;
    assert_eq!(neap_in(folder.path(), &["plan", "in.mlir", "-o", "plan.csv", "-o", "plan.json"], source).0, 0);
    let csv = std::fs::read_to_string(folder.path().join("plan.csv")).expect("written");
    assert!(!csv.contains("%a"), "`tosa.exp` was not fused: {csv}");
    for table in ["plan.csv", "plan.json"] {
        let (code, out, err) = neap_in(folder.path(), &["check", "in.mlir", table], source);
        assert!(code == 0 && out.contains("after fusion, @main: accepted"), "{table}: {out}{err}");
    }
    // One that is wrong for both is refused for the graph as given.
    let lines: Vec<&str> = csv.lines().collect();
    let wrong = lines.iter().map(|line| if line.contains("%b") { line.replace("%b", "%a") } else { line.to_string() });
    std::fs::write(folder.path().join("bad.csv"), wrong.collect::<Vec<_>>().join("\n")).expect("written");
    let (code, out, err) = neap_in(folder.path(), &["check", "in.mlir", "bad.csv"], source);
    assert!(code == 1 && out.is_empty() && err.contains("error"), "{out}{err}");
}

/// Values of different bodies may have one name: tables say which one is meant.
#[test]
fn tables_tell_values_of_one_name_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = r#"func.func @main(%p: i1, %x: tensor<100xi8>) -> tensor<100xi8> {
  %b = "neap.if"(%p, %x) ({
  ^bb0(%u: tensor<100xi8>):
    %t = "neap.opaque"(%u) : (tensor<100xi8>) -> tensor<60xi8>
    %v = "neap.opaque"(%t) : (tensor<60xi8>) -> tensor<100xi8>
    "neap.yield"(%v) : (tensor<100xi8>) -> ()
  }, {
  ^bb0(%u: tensor<100xi8>):
    %t = "neap.opaque"(%u) : (tensor<100xi8>) -> tensor<30xi8>
    %v = "neap.opaque"(%u, %t) : (tensor<100xi8>, tensor<30xi8>) -> tensor<100xi8>
    "neap.yield"(%v) : (tensor<100xi8>) -> ()
  }) : (i1, tensor<100xi8>) -> tensor<100xi8>
  return %b : tensor<100xi8>
}
"#;
    assert_eq!(neap_in(folder.path(), &["plan", "in.mlir", "-o", "plan.csv", "-o", "plan.json"], source).0, 0);
    for table in ["plan.csv", "plan.json"] {
        let (code, out, err) = neap_in(folder.path(), &["check", "in.mlir", table], source);
        assert!(code == 0 && out.contains("@main: accepted"), "{table}: {out}{err}");
    }
    let csv = std::fs::read_to_string(folder.path().join("plan.csv")).expect("written");
    let swapped = csv.replace("~0", "~2").replace("~1", "~0").replace("~2", "~1");
    assert_ne!(csv, swapped);
    std::fs::write(folder.path().join("bad.csv"), swapped).expect("written");
    let (code, _, err) = neap_in(folder.path(), &["check", "in.mlir", "bad.csv"], source);
    assert!(code == 1 && err.contains("`%t` gets 30 bytes and has 60"), "{err}");
}

/// A fused operation in a body has the name of the last one in it.
#[test]
fn tables_of_fused_bodies_name_what_is_made() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = r#"func.func @main(%n: i64, %x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = "neap.for"(%n, %x) ({
  ^bb0(%arg0: i64, %arg1: tensor<64xf32>):
    %1 = "tosa.exp"(%arg1) {neap.names = ["e"]} : (tensor<64xf32>) -> tensor<64xf32>
    %2 = "tosa.tanh"(%1) {neap.names = ["t"]} : (tensor<64xf32>) -> tensor<64xf32>
    %3 = "neap.opaque"(%2, %arg1) {neap.names = ["o"]} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    "neap.yield"(%3) : (tensor<64xf32>) -> ()
  }) {neap.names = ["loop"]} : (i64, tensor<64xf32>) -> tensor<64xf32> loc("main":0:0)
  return %0 : tensor<64xf32>
}
"#;
    let plan = neap_in(folder.path(), &["plan", "in.mlir", "-o", "plan.csv", "-o", "plan.json"], source);
    assert_eq!(plan.0, 0, "{}", plan.2);
    let csv = std::fs::read_to_string(folder.path().join("plan.csv")).expect("written");
    assert!(csv.contains("neap.fused"), "`tosa.exp` was not fused: {csv}");
    for table in ["plan.csv", "plan.json"] {
        let (code, out, err) = neap_in(folder.path(), &["check", "in.mlir", table], source);
        assert!(code == 0 && out.contains("after fusion, @main: accepted"), "{table}: {out}{err}");
    }
}

/// Whatever we plan has tables that its source is judged by: bodies, called functions, nothing at all.
#[test]
fn tables_of_all_kinds_of_sources_are_accepted() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    for file in [
        "cases/H02/graph.mlir",
        "cases/H03/graph.mlir",
        "cases/H04/graph.mlir",
        "cases/H05/graph.mlir",
        "cases/H11/graph.mlir",
        "cases/H19/empty.mlir",
        "cases/H34/bodies.onnx",
        "cases/H34/names.mlir",
        "onnx/node_scan9_multi_state.onnx",
        "tflite/litert_call_once_mul.tflite",
        "tflite/litert_multi_subgraphs_while.tflite",
    ] {
        let source = data.join(file);
        let source = source.to_string_lossy();
        for table in ["plan.csv", "plan.json"] {
            let (code, out, err) = neap_in(folder.path(), &["plan", &source, "--profile", "none", "-o", table], "");
            assert_eq!(code, 0, "{file}: {out}{err}");
            let (code, out, err) = neap_in(folder.path(), &["check", &source, table, "--profile", "none"], "");
            assert!(code == 0 && out.contains("accepted"), "{file} by {table}: {out}{err}");
        }
    }
}

/// What a plan was made with stands in it: no flag has to be repeated, and one that says something else is told.
#[test]
fn a_plan_knows_its_profile() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/tflite/tflm_keyword_scrambled_8bit.tflite");
    let model = model.to_string_lossy();
    for (profile, file) in [("tflm", "plan.mlir"), ("none", "plan.mlir"), ("tflm", "plan.json")] {
        assert_eq!(neap_in(folder.path(), &["plan", &model, "--profile", profile, "-o", file], "").0, 0);
        let (code, out, err) = neap_in(folder.path(), &["check", &model, file], "");
        assert!(code == 0 && out.contains("accepted") && !out.contains("note"), "{profile} {file}: {out}{err}");
    }
    assert_eq!(neap_in(folder.path(), &["plan", &model, "--profile=tflm", "-o", "plan.mlir"], "").0, 0);
    let (code, _, err) = neap_in(folder.path(), &["check", &model, "plan.mlir", "--profile=tflite"], "");
    assert!(code == 1 && err.contains("made with `--profile tflm`, and is checked with `--profile tflite`"), "{err}");
}

/// An order alone has a bound too, and its certificate holds.
#[test]
fn an_order_without_offsets_has_its_certificate() {
    let folder = tempfile::tempdir().expect("a folder");
    let args = ["opt", "in.mlir", "--pass-pipeline=reorder", "-o", "out.mlir", "--certificate", "proof"];
    let (code, _, err) = neap_in(folder.path(), &args, &certified("@main", "f"));
    assert!(code == 0 && !err.contains("certificate"), "{err}");
    let proof = std::fs::read_to_string(folder.path().join("proof")).expect("a certificate");
    assert!(proof.contains("\"lower_bound\":180"), "{proof}");
}

/// A file with a plan for each range of sizes, or for each of several models, is checked plan by plan; what writes one plan says so.
#[test]
fn files_of_several_plans() {
    let source = "func.func @main(%x: tensor<?x4xi8> {neap.dims = [\"N\"]}) -> tensor<?x4xi8> {\n  \
                  %a = \"neap.opaque\"(%x) {neap.dims = [\"N\"]} : (tensor<?x4xi8>) -> tensor<?x4xi8>\n  \
                  %b = \"neap.opaque\"(%a) {neap.dims = [\"N\"]} : (tensor<?x4xi8>) -> tensor<?x4xi8>\n  \
                  return %b : tensor<?x4xi8>\n}\n";
    let folder = tempfile::tempdir().expect("a folder");
    let args = ["plan", "in.mlir", "--buckets=N=4,8,16", "-o", "buckets.mlir"];
    assert_eq!(neap_in(folder.path(), &args, source).0, 0);
    let check = |file: &str| neap_in(folder.path(), &["check", "in.mlir", file], source);
    let (code, out, err) = check("buckets.mlir");
    assert!(code == 0 && out.matches("accepted").count() == 3 && out.contains("N from 5 to 8"), "{out}{err}");
    let text = std::fs::read_to_string(folder.path().join("buckets.mlir")).expect("written");
    let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text).expect("written");
    let parts: Vec<&str> = text.split("// -----\n").collect();
    write("gap.mlir", [parts[0], parts[2]].join("// -----\n"));
    let (code, _, err) = check("gap.mlir");
    assert!(code == 1 && err.contains("does not follow the one from 1 to 4"), "{err}");
    let last = parts[2].replace("neap.arena_bytes = ", "neap.arena_bytes = 1");
    write("bad.mlir", [parts[0], parts[1], &last].join("// -----\n"));
    let (code, _, err) = check("bad.mlir");
    assert!(code == 1 && err.contains("neap.arena_bytes"), "{err}");
    let (code, _, err) = neap_in(folder.path(), &["emit", "gap.mlir", "-o", "out.csv"], source);
    assert!(code == 1 && err.contains("does not follow the one from 1 to 4"), "{err}");
    let (code, _, err) = neap_in(folder.path(), &["emit", "bad.mlir", "-o", "out.csv"], source);
    assert!(code == 1 && err.contains("neap.arena_bytes") && err.contains("--> bad.mlir:1"), "{err}");
    // All plans at once become what they become when they are made.
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("written");
    std::fs::create_dir(folder.path().join("later")).expect("a folder");
    let [made, later] = ["", "later/"].map(|at| ["h", "csv", "mlir"].map(|end| format!("{at}plan.{end}")));
    for (first, names) in
        [(["plan", "in.mlir", "--buckets=N=4,8,16"].as_slice(), &made), (&["emit", "buckets.mlir"], &later)]
    {
        let outputs = names.iter().flat_map(|name| ["-o", name]).collect::<Vec<&str>>();
        let (code, _, err) = neap_in(folder.path(), &[first, &outputs].concat(), source);
        assert_eq!(code, 0, "{err}");
    }
    for (made, later) in made.iter().zip(&later) {
        assert_eq!(read(made), read(later), "{made}");
    }
    let (code, _, err) = neap_in(folder.path(), &["emit", "buckets.mlir", "-o", "out.memref.mlir"], source);
    assert!(code == 2 && err.contains("not one for each bucket"), "{err}");
    // Two models in one arena: each has its plan there.
    std::fs::write(folder.path().join("other.mlir"), certified("@main", "f")).expect("written");
    std::fs::write(folder.path().join("good.mlir"), GOOD).expect("written");
    let args = ["plan", "other.mlir", "good.mlir", "--share-arena", "-o", "both.mlir"];
    assert_eq!(neap_in(folder.path(), &args, source).0, 0);
    for model in ["other.mlir", "good.mlir"] {
        let (code, out, err) = neap_in(folder.path(), &["check", model, "both.mlir"], source);
        assert!(code == 0 && out.contains("1 of 2 plans are for other graphs"), "{out}{err}");
    }
    let (code, _, err) = neap_in(folder.path(), &["report", "both.mlir", "-o", "out.html"], source);
    assert!(code == 1 && err.contains("holds 2 plans") && err.contains("give the part that is meant"), "{err}");
    let (code, _, err) = check("both.mlir");
    assert!(code == 1 && err.contains("none of the 2 plans"), "{err}");
}

/// A table lists what has bytes in the arena. Of two operations that have none, the one goes first whose operand is said to end first.
#[test]
fn a_table_says_when_readers_without_bytes_run() {
    let source = |order: [&str; 2]| {
        format!(
            "func.func @main(%x: tensor<64xi8>) -> (tensor<64xi8> {{neap.io = \"external\"}}, tensor<64xi8> {{neap.io = \"external\"}}, tensor<8xi8>) {{\n  \
             %a = \"neap.opaque\"(%x) : (tensor<64xi8>) -> tensor<64xi8>\n  \
             %c = \"neap.opaque\"(%x) : (tensor<64xi8>) -> tensor<4xi8>\n  {}\n  {}\n  \
             %b = \"neap.opaque\"(%c) : (tensor<4xi8>) -> tensor<128xi8>\n  \
             %d = \"neap.opaque\"(%b) : (tensor<128xi8>) -> tensor<8xi8>\n  \
             return %late, %early, %d : tensor<64xi8>, tensor<64xi8>, tensor<8xi8>\n}}\n",
            order[0], order[1]
        )
    };
    let late = "%late = \"neap.opaque\"(%c) : (tensor<4xi8>) -> tensor<64xi8>";
    let early = "%early = \"neap.opaque\"(%a) : (tensor<64xi8>) -> tensor<64xi8>";
    let folder = tempfile::tempdir().expect("a folder");
    let pipeline = "--pass-pipeline=canonicalize-views,lock-effects,reorder{order=input},assign-offsets";
    let (code, planned, err) = neap_in(folder.path(), &["opt", "in.mlir", pipeline], &source([early, late]));
    assert_eq!(code, 0, "{err}");
    std::fs::write(folder.path().join("plan.mlir"), planned).expect("written");
    for table in ["plan.csv", "plan.json"] {
        assert_eq!(neap_in(folder.path(), &["emit", "plan.mlir", "-o", table], "").0, 0);
        let (code, out, err) =
            neap_in(folder.path(), &["check", "in.mlir", table, "--ignore-fingerprint"], &source([late, early]));
        assert!(code == 0 && out.contains("accepted"), "{table}: {err}");
    }
    let table = std::fs::read_to_string(folder.path().join("plan.csv")).expect("written");
    let wrong = table.replace("1,0,3,64,64,main", "1,0,4,64,64,main");
    assert_ne!(table, wrong);
    std::fs::write(folder.path().join("plan.csv"), wrong).expect("written");
    let (code, _, err) = neap_in(folder.path(), &["check", "in.mlir", "plan.csv"], &source([early, late]));
    assert!(
        code == 1 && err.contains("the storage is said to live for the steps [0, 4), and lives for [0, 3)"),
        "{err}"
    );
}
