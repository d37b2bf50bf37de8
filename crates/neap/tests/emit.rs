//! Plans as files: a model in the planned order, the same from a plan that was written before, offsets, a header that compilers take.

use std::path::Path;
use std::process::Command;

const NEAP: &str = env!("CARGO_BIN_EXE_neap");

fn model(name: &str) -> String {
    format!("{}/../../testdata/tflite/{name}.tflite", env!("CARGO_MANIFEST_DIR"))
}

fn neap(folder: &Path, args: &[&str]) -> (i32, String, String) {
    let output = Command::new(NEAP).args(args).current_dir(folder).output().expect("the binary runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().expect("no signal"), text(&output.stdout), text(&output.stderr))
}

fn done(folder: &Path, args: &[&str]) -> String {
    let (code, out, err) = neap(folder, args);
    assert_eq!(code, 0, "{args:?}\n{err}");
    out
}

#[test]
fn a_plan_becomes_the_same_model_at_once_or_later() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("later")).expect("a folder");
    for name in ["litert_multi_subgraphs_while", "litert_call_once_mul", "tflm_keyword_scrambled_8bit"] {
        for profile in ["--profile=tflite", "--profile=tflm"] {
            let model = model(name);
            done(folder.path(), &["plan", &model, profile, "-o", "at-once.tflite", "-o", "plan.mlir", "-o", "plan.h"]);
            done(
                folder.path(),
                &["emit", "plan.mlir", "--template", &model, profile, "-o", "later.tflite", "-o", "later/plan.h"],
            );
            let read = |name: &str| std::fs::read(folder.path().join(name)).expect("it was written");
            assert!(read("at-once.tflite") == read("later.tflite"), "{name} {profile}");
            assert!(read("plan.h") == read("later/plan.h"), "{name} {profile}");
            let said = done(folder.path(), &["check", &model, "at-once.tflite", profile]);
            assert!(said.contains("both compute the same"), "{said}");
            assert_eq!(said.contains("none over another"), profile == "--profile=tflm", "{said}");
            assert!(done(folder.path(), &["check", &model, "plan.mlir", profile]).contains("accepted"));
        }
    }
}

/// Where the offsets of a file for TFLite Micro stand in it: behind a version, the number of subgraphs and their own number.
fn offsets_at(file: &[u8]) -> (usize, Vec<i32>) {
    let word = |at: usize| i64::from(i32::from_le_bytes(file[at..at + 4].try_into().expect("four bytes")));
    let list = |at: &usize| {
        let count = word(*at + 12);
        count > 0 && word(*at) == 12 + 4 * count && word(*at + 4) == 1 && (1..50).contains(&word(*at + 8))
    };
    let at = (0..file.len() - 16).step_by(4).find(list).expect("a list") + 16;
    (at, (0..word(at - 4)).map(|index| word(at + 4 * index as usize) as i32).collect())
}

/// Offsets are judged by what they do to the bytes: every list that puts two tensors together that both hold something is refused.
#[test]
fn offsets_that_destroy_a_tensor_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = model("tflm_keyword_scrambled_8bit");
    done(folder.path(), &["plan", &source, "--profile=tflm", "-o", "good.tflite"]);
    let good = std::fs::read(folder.path().join("good.tflite")).expect("it was written");
    let (at, offsets) = offsets_at(&good);
    let check = |change: &dyn Fn(&mut Vec<i32>)| {
        let (mut file, mut list) = (good.clone(), offsets.clone());
        change(&mut list);
        file[at..at + 4 * list.len()]
            .copy_from_slice(&list.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>());
        std::fs::write(folder.path().join("bad.tflite"), file).expect("written");
        neap(folder.path(), &["check", &source, "bad.tflite"])
    };
    assert_eq!(check(&|_| ()).0, 0);
    let (code, _, err) = check(&|list| list.iter_mut().filter(|offset| **offset > 0).for_each(|offset| *offset = 0));
    assert!(code == 1 && err.contains("over"), "{err}");
    let (code, _, err) = check(&|list| list.iter_mut().for_each(|offset| *offset = 0));
    assert!(code == 1 && err.contains("it is a constant"), "{err}");
    // What the runtime places by itself is in nobody's way.
    assert_eq!(check(&|list| list.iter_mut().for_each(|offset| *offset = -1)).0, 0);
    // An operator writes over what it reads: no kernel but those that the profile names may do so.
    let model = neap_import::read_tflite(&good).expect("a model");
    let func = model.functions()[0];
    let fully = model.walk(func).into_iter().filter(|op| model.op_name(*op) == "tfl.fully_connected").count();
    let placed: Vec<usize> = (0..offsets.len()).filter(|index| offsets[*index] >= 0).collect();
    let refused = placed.windows(2).filter(|pair| check(&|list| list[pair[1]] = list[pair[0]]).0 == 1).count();
    assert!(fully > 0 && refused + 2 >= placed.len(), "{refused} of {}", placed.len());
}

/// A file with one bit of its weights changed computes something else.
#[test]
fn weights_are_compared() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = model("tflm_micro_speech_quantized");
    done(folder.path(), &["plan", &source, "-o", "good.tflite"]);
    assert_eq!(done(folder.path(), &["check", &source, "good.tflite"]), "accepted: both compute the same\n");
    let good = std::fs::read(folder.path().join("good.tflite")).expect("it was written");
    // Most of the file are the weights of its one large constant.
    for place in [good.len() / 2, good.len() * 2 / 3] {
        let mut bad = good.clone();
        bad[place] ^= 1;
        std::fs::write(folder.path().join("bad.tflite"), bad).expect("written");
        let (code, out, err) = neap(folder.path(), &["check", &source, "bad.tflite"]);
        assert!(code == 1 && out.is_empty() && err.contains("neap.constant"), "{out}{err}");
    }
}

#[test]
fn what_cannot_be_written_is_not_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let (one, other) = (model("litert_call_once_mul"), model("litert_multi_subgraphs_while"));
    done(folder.path(), &["plan", &one, "-o", "plan.mlir"]);
    let broken = std::fs::read_to_string(folder.path().join("plan.mlir")).expect("it was written");
    std::fs::write(folder.path().join("broken.mlir"), broken.replace("loc(\"main\":2:0)", "")).expect("written");
    std::fs::write(folder.path().join("cut.tflite"), &std::fs::read(&one).expect("there")[..900]).expect("written");
    for (args, code, part) in [
        (&["emit", "plan.mlir", "--template", &other, "-o", "out.tflite"][..], 1, "has the fingerprint"),
        (&["emit", "broken.mlir", "--template", &one, "-o", "out.tflite"], 1, "is no entry of graph `main`"),
        (&["emit", "plan.mlir", "--template", "cut.tflite", "-o", "out.tflite"], 1, "malformed"),
        (&["emit", "plan.mlir", "--template", &one, "-o", "out.tflite", "-o", "missing/out.h"], 2, "cannot write"),
        (&["emit", "plan.mlir", "-o", "out.tflite"], 2, "--template"),
        (&["emit", &one, "-o", "out.mlir"], 1, "holds no plan"),
        (&["plan", &one, "--offsets", "-o", "out.tflite"], 2, "--profile tflm"),
        (&["plan", &one, "--profile=none", "--offsets=true", "-o", "out.tflite"], 2, "--profile tflm"),
        (&["emit", "plan.mlir", "--template", &one, "-o", "plan.mlir"], 2, "is the input"),
    ] {
        let (found, out, err) = neap(folder.path(), args);
        assert!(found == code && err.contains(part) && out.is_empty(), "{args:?}: {found}\n{err}");
        assert!(!folder.path().join("out.tflite").exists(), "{args:?}");
    }
}

#[test]
fn scratch_comes_from_a_table() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = model("tflm_keyword_scrambled_8bit");
    std::fs::write(folder.path().join("scratch.csv"), "op,bytes\ntfl.svdf,512\n").expect("written");
    let args = ["plan", &model, "--profile=tflm", "--summary=json"];
    let arena = |more: &[&str]| {
        let summary: serde_json::Value =
            serde_json::from_str(&done(folder.path(), &[&args[..], more].concat())).expect("JSON");
        (summary["functions"][0]["plan"]["arena"].as_u64().expect("bytes"), summary["not_included"].to_string())
    };
    let (without, left_out) = arena(&[]);
    assert!(left_out.contains("kernel scratch (unknown)"), "{left_out}");
    let (with, left_out) = arena(&["--scratch", "scratch.csv"]);
    assert!(
        with > without && with >= 512 && !left_out.contains("kernel scratch (unknown)"),
        "{with} {without} {left_out}"
    );
    for (text, part) in
        [("op,bytes\nnothing,5\n", "no value of this name"), ("tfl.svdf,-1\n", "scratch.csv:1"), ("x\n", "op,bytes")]
    {
        std::fs::write(folder.path().join("scratch.csv"), text).expect("written");
        let (code, _, err) = neap(folder.path(), &[&args[..], &["--scratch", "scratch.csv"]].concat());
        assert!(code == 2 && err.contains(part), "{code} {err}");
    }
}

#[test]
fn the_header_compiles_as_c_and_as_cpp_and_its_assertion_bites() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["litert_multi_subgraphs_while", "tflm_keyword_scrambled_8bit", "tflm_micro_speech_quantized"] {
        done(folder.path(), &["plan", &model(name), "--profile=tflm", "-o", "plan.h"]);
        let good = "#include \"plan.h\"\nNEAP_ALIGNAS(NEAP_PLAN_MAIN_ALIGN) static unsigned char arena[NEAP_PLAN_MAIN_BYTES];\n\
                    NEAP_ARENA_CHECK(arena, NEAP_PLAN_MAIN_BYTES, NEAP_PLAN_MAIN_ALIGN);\nint main(void) { return arena[0]; }\n";
        let small = good.replace("[NEAP_PLAN_MAIN_BYTES]", "[NEAP_PLAN_MAIN_BYTES - 1]");
        let crooked = good.replace("NEAP_ALIGNAS(NEAP_PLAN_MAIN_ALIGN)", "__attribute__((aligned(2)))");
        let compile = |program: &str, language: &[&str], text: &str| {
            std::fs::write(folder.path().join("use.c"), text).expect("written");
            let flags = ["-Wall", "-Wextra", "-Werror", "-fsyntax-only", "use.c"];
            let mut command = Command::new(program);
            command.args(language).args(flags).current_dir(folder.path());
            command.output().unwrap_or_else(|error| panic!("{program} is needed: {error}"))
        };
        for (program, language) in
            [("gcc", &["-std=c11", "-pedantic"][..]), ("gcc", &["-std=c99"]), ("g++", &["-x", "c++", "-std=c++17"])]
        {
            let text = if language.contains(&"-std=c99") {
                &good.replace("NEAP_ALIGNAS(NEAP_PLAN_MAIN_ALIGN)", "__attribute__((aligned(16)))")
            } else {
                good
            };
            let output = compile(program, language, text);
            assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
            for wrong in [&small, &crooked] {
                assert!(!compile(program, language, wrong).status.success(), "{program} takes {wrong}");
            }
        }
    }
}

/// A function with one dimension that is not known, and values with and without names.
const DYNAMIC: &str = "func.func @main(%x: tensor<?x64xf32> {neap.dims = [\"N\"], neap.name = \"input\"}) -> tensor<?x64xf32> {\n  \
    %left = \"my.left\"(%x) {neap.dims = [\"N\"]} : (tensor<?x64xf32>) -> tensor<?x64xf32>\n  \
    %1 = \"my.right\"(%x) {neap.dims = [\"N\"]} : (tensor<?x64xf32>) -> tensor<?x64xf32>\n  \
    %2 = \"my.both\"(%left, %1) {neap.dims = [\"N\"], neap.name = \"out/sum\"} : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>\n  \
    return %2 : tensor<?x64xf32>\n}\n";

/// A plan for each range of sizes in one header: programs that choose by it compile, and find what the summary says.
#[test]
fn the_header_of_ranges_chooses_by_size() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("net.mlir"), DYNAMIC).expect("written");
    let args = ["plan", "net.mlir", "--assume-pure=my", "--buckets=N=64,128,512", "--arena=a=1G:32", "-o", "plan.h"];
    let summary: serde_json::Value =
        serde_json::from_str(&done(folder.path(), &[&args[..], &["--summary=json"]].concat())).expect("JSON");
    let arena = |at: usize| summary["buckets"]["table"][at]["arena"].as_u64().expect("bytes");
    let offset = |at: usize, name: &str| {
        let storages = summary["buckets"]["table"][at]["functions"][0]["storages"].as_array().expect("a list");
        let of = |storage: &&serde_json::Value| {
            let names = ["names", "values"].map(|key| storage[key].as_array().cloned().unwrap_or_default()).concat();
            names.iter().any(|other| other == name)
        };
        storages.iter().find(of).expect("a storage")["offset"].as_u64().expect("bytes")
    };
    let program = format!(
        "#include \"plan.h\"\nNEAP_ALIGNAS(NEAP_PLAN_MAIN_ALIGN) static unsigned char arena[NEAP_PLAN_MAIN_BYTES];\n\
         NEAP_ARENA_CHECK(arena, NEAP_PLAN_MAIN_BYTES, NEAP_PLAN_MAIN_ALIGN);\n\
         static const unsigned long low[] = NEAP_PLAN_BUCKETS_LOW, high[] = NEAP_PLAN_BUCKETS_HIGH, bytes[] = NEAP_PLAN_MAIN_BUCKET_BYTES;\n\
         static const unsigned long sum[] = NEAP_PLAN_MAIN_OUT_SUM_OFFSETS, left[] = NEAP_PLAN_MAIN_LEFT_OFFSETS, sizes[] = NEAP_PLAN_MAIN_LEFT_SIZES;\n\
         int main(void) {{\n\
           return !(arena[0] == 0 && NEAP_PLAN_BUCKETS == 3 && NEAP_PLAN_MAIN_ALIGN == 32 && low[0] == 1 && low[1] == 65 && high[2] == 512\n\
             && neap_plan_bucket(0) == NEAP_PLAN_BUCKETS && neap_plan_bucket(1) == 0 && neap_plan_bucket(64) == 0 && neap_plan_bucket(65) == 1\n\
             && neap_plan_bucket(512) == 2 && neap_plan_bucket(513) == NEAP_PLAN_BUCKETS && neap_plan_bucket(0ul - 1) == NEAP_PLAN_BUCKETS\n\
             && bytes[0] == {} && bytes[1] == {} && bytes[2] == {} && NEAP_PLAN_MAIN_BYTES == bytes[2]\n\
             && sum[0] == {} && sum[2] == {} && left[1] == {} && left[2] == {} && sizes[1] == 128 * 256\n\
             && NEAP_PLAN_MAIN_N_64_OUT_SUM_OFFSET == sum[0] && NEAP_PLAN_MAIN_N_128_LEFT_SIZE == sizes[1]);\n}}\n",
        arena(0),
        arena(1),
        arena(2),
        offset(0, "out/sum"),
        offset(2, "out/sum"),
        offset(1, "%left"),
        offset(2, "%left"),
    );
    std::fs::write(folder.path().join("use.c"), program).expect("written");
    for (program, language) in [
        ("gcc", &["-std=c11", "-pedantic"][..]),
        ("gcc", &["-std=c99", "-DNEAP_TEST"]),
        ("g++", &["-x", "c++", "-std=c++17"]),
        ("g++", &["-x", "c++", "-std=c++11"]),
    ] {
        if language.contains(&"-std=c99") {
            // No alignment by the language there.
            let text = std::fs::read_to_string(folder.path().join("use.c")).expect("written");
            let text = text.replace("NEAP_ALIGNAS(NEAP_PLAN_MAIN_ALIGN)", "__attribute__((aligned(32)))");
            std::fs::write(folder.path().join("use99.c"), text).expect("written");
        }
        let file = if language.contains(&"-std=c99") { "use99.c" } else { "use.c" };
        let mut command = Command::new(program);
        command.args(language).args(["-Wall", "-Wextra", "-Werror", "-o", "use", file]).current_dir(folder.path());
        let output = command.output().unwrap_or_else(|error| panic!("{program} is needed: {error}"));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(Command::new(folder.path().join("use")).status().expect("it runs").success(), "{language:?}");
    }
    // What has no name of its own has no table: in another order it would be another value.
    let header = std::fs::read_to_string(folder.path().join("plan.h")).expect("written");
    assert!(header.contains("NEAP_PLAN_MAIN_N_64_VALUE_OFFSET") && !header.contains("VALUE_OFFSETS"), "{header}");
    assert!(header.contains("below 1 or above 512"), "{header}");
    // Of two arenas the one range fills the first, the other range the second: all together is both.
    let apart =
        ["plan", "net.mlir", "--assume-pure=my", "--buckets=N=1,2", "--arena=a=300", "--arena=b=1M", "-o", "apart.h"];
    let summary: serde_json::Value =
        serde_json::from_str(&done(folder.path(), &[&apart[..], &["--summary=json"]].concat())).expect("JSON");
    let buckets = &summary["buckets"];
    assert_eq!(
        buckets["arena"],
        buckets["arenas"][0]["bytes"].as_u64().zip(buckets["arenas"][1]["bytes"].as_u64()).map_or(0, |(a, b)| a + b)
    );
    let header = std::fs::read_to_string(folder.path().join("apart.h")).expect("written");
    for (name, bytes) in [
        ("", &buckets["arena"]),
        ("_ARENA_A", &buckets["arenas"][0]["bytes"]),
        ("_ARENA_B", &buckets["arenas"][1]["bytes"]),
    ] {
        assert!(header.contains(&format!("#define NEAP_APART_MAIN{name}_BYTES {bytes}u")), "{name} {bytes}\n{header}");
    }
    assert!(buckets["arena"].as_u64() > buckets["table"][1]["arena"].as_u64(), "{buckets}");
    let (code, _, err) = neap(folder.path(), &[&args[..5], &["-o", "plan.memref.mlir"]].concat());
    assert!(code == 2 && err.contains("hold one plan"), "{err}");
}

/// Names begin with those of the headers: one program has as many models as it likes, in whatever order they are included.
#[test]
fn headers_of_several_models_stand_in_one_translation_unit() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("net.mlir"), DYNAMIC).expect("written");
    done(folder.path(), &["plan", &model("tflm_micro_speech_quantized"), "--profile=tflm", "-o", "2-words.v1.h"]);
    done(folder.path(), &["plan", &model("tflm_keyword_scrambled_8bit"), "--profile=tflm", "-o", "語.h"]);
    let ranges = |sizes: &str, header: &str| {
        done(folder.path(), &["plan", "net.mlir", "--assume-pure=my", "--buckets", sizes, "-o", header]);
    };
    ranges("N=64,128", "first.h");
    ranges("N=32", "second.h");
    let header = done(folder.path(), &["plan", &model("litert_call_once_mul"), "--to=c", "--summary=none", "-o", "-"]);
    std::fs::write(folder.path().join("dash.h"), header).expect("written");
    let names = ["NEAP_2_WORDS_V1_MAIN", "NEAP_U8A9E_MAIN", "NEAP_FIRST_MAIN", "NEAP_SECOND_MAIN", "NEAP_PLAN_MAIN"];
    let files = ["2-words.v1.h", "語.h", "first.h", "second.h", "dash.h", "first.h"];
    for files in [files.to_vec(), files.iter().rev().copied().collect()] {
        let includes: String = files.iter().map(|file| format!("#include \"{file}\"\n")).collect();
        let array = |name: &&str| {
            let at = name.to_lowercase();
            format!(
                "__attribute__((aligned(64))) static unsigned char {at}[{name}_BYTES];\nNEAP_ARENA_CHECK({at}, {name}_BYTES, {name}_ALIGN);\n"
            )
        };
        let arrays: String = names.iter().map(array).collect();
        let used: Vec<String> = names.iter().map(|name| format!("{}[0] == 0", name.to_lowercase())).collect();
        let text = format!(
            "{includes}{arrays}int main(void) {{\n  return !({} && neap_first_bucket(65) == 1 && neap_second_bucket(65) == NEAP_SECOND_BUCKETS\n    \
             && NEAP_FIRST_BUCKETS == 2 && NEAP_SECOND_BUCKETS == 1);\n}}\n",
            used.join(" && ")
        );
        std::fs::write(folder.path().join("use.c"), text).expect("written");
        for (program, language) in [
            ("gcc", &["-std=c11", "-pedantic"][..]),
            ("gcc", &["-std=c99"]),
            ("g++", &["-x", "c++", "-std=c++17"]),
            ("g++", &["-x", "c++", "-std=c++11"]),
        ] {
            let mut command = Command::new(program);
            let flags = ["-Wall", "-Wextra", "-Werror", "-o", "use", "use.c"];
            command.args(language).args(flags).current_dir(folder.path());
            let output = command.output().unwrap_or_else(|error| panic!("{program} is needed: {error}"));
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            assert!(Command::new(folder.path().join("use")).status().expect("it runs").success(), "{language:?}");
        }
    }
}

/// The second of two headers by one name is not passed over in silence; the same header again is.
#[test]
fn headers_of_one_name_are_told_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    for (at, name) in [
        ("a", "tflm_micro_speech_quantized"),
        ("b", "tflm_keyword_scrambled_8bit"),
        ("c", "tflm_micro_speech_quantized"),
    ] {
        std::fs::create_dir(folder.path().join(at)).expect("a folder");
        done(folder.path(), &["plan", &model(name), "--profile=tflm", "-o", &format!("{at}/net.h")]);
    }
    let compiled = |second: &str| {
        let text = format!("#include \"a/net.h\"\n#include \"{second}/net.h\"\nint main(void) {{ return 0; }}\n");
        std::fs::write(folder.path().join("use.c"), text).expect("written");
        let output =
            Command::new("gcc").args(["-Wall", "-Werror", "-o", "use", "use.c"]).current_dir(folder.path()).output();
        let output = output.unwrap_or_else(|error| panic!("gcc is needed: {error}"));
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for same in ["a", "c"] {
        assert!(compiled(same).0, "{}", compiled(same).1);
    }
    let (done, said) = compiled("b");
    assert!(!done && said.contains("two plans have headers of one name, NEAP_NET"), "{said}");
}

/// A tensor without a name is called by its index in the file, in text as well: what is printed and read again is the same.
#[test]
fn a_tensor_without_a_name_has_its_number() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut file = std::fs::read(model("tflm_micro_speech_quantized")).expect("there");
    for name in ["Reshape_1", "Relu", "labels_softmax"] {
        let text = [&(name.len() as u32).to_le_bytes()[..], name.as_bytes(), &[0]].concat();
        let at = file.windows(text.len()).position(|part| part == text).expect("the name of a tensor");
        file[at..at + 5].fill(0);
    }
    std::fs::write(folder.path().join("in.tflite"), file).expect("written");
    done(folder.path(), &["import", "in.tflite", "-o", "in.mlir"]);
    let names = |file: &str| -> Vec<serde_json::Value> {
        let out = done(folder.path(), &["plan", file, "--profile=tflite", "--summary=json"]);
        let summary: serde_json::Value = serde_json::from_str(&out).expect("JSON");
        let storages = summary["functions"][0]["storages"].as_array().expect("storages").clone();
        storages.iter().flat_map(|storage| storage["names"].as_array().cloned().unwrap_or_default()).collect()
    };
    assert_eq!(names("in.tflite"), ["%t3", "Reshape_2", "%t2", "add_1", "%t9"]);
    assert_eq!(names("in.mlir"), names("in.tflite"));
    let (_, out, err) = neap(folder.path(), &["plan", "in.tflite", "--remarks", "--keep=%t2", "-o", "out.tflite"]);
    assert!(out.contains(" %t3\n") && err.contains("%t3 (1960 bytes"), "{out}{err}");
    assert!(done(folder.path(), &["check", "in.tflite", "out.tflite"]).contains("both compute the same"));
    let none = "func.func @main(%x: tensor<64xi8> {neap.name = \"\"}) -> tensor<64xi8> {\n  \
                %0 = \"neap.opaque\"(%x) {neap.name = \"\"} : (tensor<64xi8>) -> tensor<64xi8>\n  return %0 : tensor<64xi8>\n}\n";
    std::fs::write(folder.path().join("none.mlir"), none).expect("written");
    let out = done(folder.path(), &["plan", "none.mlir"]);
    assert!(out.contains("neap.opaque (%0):") && out.contains("% %x\n") && out.contains("% %0\n"), "{out}");
}

#[test]
fn a_dash_is_the_standard_output() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = model("litert_call_once_mul");
    let raw =
        |args: &[&str]| Command::new(NEAP).args(args).current_dir(folder.path()).output().expect("the binary runs");
    done(folder.path(), &["plan", &model, "-o", "plan.mlir", "-o", "planned.tflite", "-o", "plan.h"]);
    let read = |name: &str| std::fs::read(folder.path().join(name)).expect("it was written");
    for (writer, file) in [("tflite", "planned.tflite"), ("c", "plan.h")] {
        let output = raw(&["emit", "plan.mlir", "--template", &model, "--to", writer, "-o", "-"]);
        assert!(output.status.success() && output.stdout == read(file), "{writer}");
        let output = raw(&["plan", &model, "--to", writer, "-o", "-", "--summary=none"]);
        assert!(output.status.success() && output.stdout == read(file), "{writer}");
    }
    let (code, out, err) = neap(folder.path(), &["plan", &model, "--to", "c", "-o", "-"]);
    assert!(code == 2 && out.is_empty() && err.contains("where the summary goes"), "{err}");
    let (code, _, err) = neap(folder.path(), &["emit", "plan.mlir", "--to", "c", "-o", "-", "-o", "-"]);
    assert!(code == 2 && err.contains("is written twice"), "{err}");
    assert!(!folder.path().join("-").exists());
}
