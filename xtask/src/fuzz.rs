//! Fuzzing on stable Rust: seeded mutation of what is in `testdata`, with the same bodies that `cargo fuzz` runs.
//!
//! A target runs in a process of its own with bounded memory. The input is written down before it is tried, so that whatever ends
//! the process (a panic, a stack overflow, an allocation without bound, a hang) leaves the input that did it.

#[path = "../../fuzz/bodies.rs"]
mod bodies;

use crate::rng::Rng;
use crate::{Outcome, sh};
use neap::exit::Exit;
use neap::streams::Streams;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// What there is to fuzz.
pub(crate) const NAMES: [&str; 6] = ["parser", "tflite", "onnx", "npu", "emit", "pipeline"];

/// The first argument of the process that tries inputs.
const CHILD: &str = "fuzzing";

/// No input of the sizes tried here takes this long on a loaded machine.
const HANG: Duration = Duration::from_secs(20);

/// Inputs that a run of one second tries at the most.
const SHORT_RUN: u64 = 250;

/// Address space of the process that tries inputs, in KiB.
const MEMORY: &str = "4194304";

/// Words that mutations of text insert.
const WORDS: [&str; 24] = [
    "%0",
    "%0#1",
    "^bb0",
    "@f",
    "->",
    "()",
    "{",
    "}",
    "<{",
    "}>",
    "tensor<?x4xf32>",
    "memref<4xi8>",
    "!neap.token",
    "9223372036854775807",
    "-1",
    "\"",
    "loc(",
    "dense<",
    "array<i64: -1>",
    "neap.view = [{operand = 0 : i64, result = 0 : i64}]",
    "neap.pin = array<i64: 3>",
    "neap.bytes = array<i64: 9223372036854775807>",
    "\"neap.read\"",
    "// -----",
];

/// Fuzzes a target for some seconds.
pub(crate) fn run(target: &str, seconds: u64, seed: u64) -> Outcome {
    let current = current(target)?;
    let (seconds, seed) = (seconds.to_string(), seed.to_string());
    child(&current, &[target, &seconds, &seed])
}

/// Runs one input.
pub(crate) fn one(target: &str, file: &Path) -> Outcome {
    let file = std::path::absolute(file).map_err(|error| format!("{}: {error}", file.display()))?;
    child(&file, &[target, &file.to_string_lossy()])
}

fn current(target: &str) -> Result<PathBuf, String> {
    Ok(sh::scratch(&format!("fuzz/{target}"))?.join("current"))
}

fn child(input: &Path, args: &[&str]) -> Outcome {
    let this = std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    let script = format!("ulimit -v {MEMORY}; exec \"$0\" \"$@\"");
    let mut command = sh::program("sh", ["-c", &script]);
    command.arg(this).arg(CHILD).args(args);
    let status = command.status().map_err(|error| format!("cannot run a shell: {error}"))?;
    if status.success() {
        return Ok(());
    }
    let kept = input.with_file_name(format!("found-{:016x}", hash(&std::fs::read(input).unwrap_or_default())));
    let kept = if std::fs::copy(input, &kept).is_ok() { kept } else { input.to_owned() };
    Err(format!("{status} on {0}; again: cargo xtask fuzz {1} {0}", kept.display(), args[0]))
}

/// Is this process one that tries inputs? Then it does, and this is its exit code.
pub(crate) fn child_main(args: &[OsString]) -> Option<ExitCode> {
    let args: Vec<&str> = args.iter().filter_map(|arg| arg.to_str()).collect();
    let outcome = match args.as_slice() {
        [_, CHILD, target, file] => {
            std::fs::read(file).map_err(|error| error.to_string()).map(|input| body(target)(&input))
        }
        [_, CHILD, target, seconds, seed] => {
            let (seconds, seed) = (seconds.parse().unwrap_or(1), seed.parse().unwrap_or(1));
            mutate_for(target, Duration::from_secs(seconds), seed)
        }
        _ => return None,
    };
    match outcome {
        Ok(()) => Some(ExitCode::SUCCESS),
        Err(message) => {
            eprintln!("fuzz: {message}");
            Some(ExitCode::FAILURE)
        }
    }
}

fn body(target: &str) -> fn(&[u8]) {
    match target {
        "parser" => bodies::parser,
        "tflite" => bodies::tflite,
        "onnx" => bodies::onnx,
        "npu" => bodies::npu,
        "emit" => bodies::emit,
        _ => bodies::pipeline,
    }
}

fn mutate_for(target: &str, time: Duration, seed: u64) -> Outcome {
    let seeds = corpus(target)?;
    let (body, current, mut rng) = (body(target), current(target)?, Rng::new(seed));
    let start = Instant::now();
    let mut tried = 0u64;
    // The run of the tests tries the same inputs on every machine that is not very slow; longer runs go on as long as asked.
    let most = if time <= Duration::from_secs(1) { SHORT_RUN } else { u64::MAX };
    while tried < seeds.len() as u64 || (tried < most && start.elapsed() < time) {
        // Every seed as it is first: a body that refuses good input would find nothing.
        let input = match seeds.get(tried as usize) {
            Some(seed) => seed.clone(),
            None if target == "emit" => mutated_pair(&seeds, &mut rng),
            None => mutated(&seeds, &mut rng, !is_binary(target)),
        };
        sh::write(&current, &input)?;
        let begin = Instant::now();
        body(&input);
        if begin.elapsed() > HANG {
            return Err(format!("{} s on one input", begin.elapsed().as_secs()));
        }
        tried += 1;
    }
    println!("fuzz {target}: {tried} inputs from {} seeds, nothing found", seeds.len());
    Ok(())
}

/// Whether a target takes model files, which are called by its name, and not text.
fn is_binary(target: &str) -> bool {
    matches!(target, "tflite" | "onnx")
}

/// Small files of `testdata`: mutations of large ones find little per second.
fn corpus(target: &str) -> Result<Vec<Vec<u8>>, String> {
    if target == "emit" {
        return plans();
    }
    let (extension, folder) = match target {
        "npu" => ("json", "testdata/npu"),
        _ if is_binary(target) => (target, "testdata"),
        _ => ("mlir", "testdata"),
    };
    let testdata = sh::root().join(folder);
    let mut folders = vec![testdata.clone()];
    let mut seeds = Vec::new();
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        paths.sort();
        folders.extend(paths.iter().filter(|path| path.is_dir()).cloned());
        for path in paths.iter().filter(|path| path.extension().is_some_and(|found| found == extension)) {
            let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
            seeds.extend((bytes.len() <= 1 << 16).then_some(bytes));
        }
    }
    if seeds.is_empty() { Err(format!("no .{extension} in {}", testdata.display())) } else { Ok(seeds) }
}

/// Models of `testdata` with their plans, and modules of it with theirs, behind no model at all.
fn plans() -> Result<Vec<Vec<u8>>, String> {
    let mut seeds = Vec::new();
    let models = [
        ("tflite", &["--profile=tflite"][..]),
        ("tflite", &["--profile=tflm"]),
        ("onnx", &[]),
        ("onnx", &["--dim=N=4"]),
        ("npu", &[]),
    ];
    for (target, flags) in models {
        for model in corpus(target)? {
            let Some(plan) = planned(&model, flags) else { continue };
            let length = u32::try_from(model.len()).unwrap_or(u32::MAX).to_le_bytes();
            seeds.push([&length[..], &model, &plan].concat());
        }
    }
    let modules = corpus("parser")?;
    let plans = modules.iter().filter(|module| module.len() < 1 << 12).filter_map(|module| planned(module, &[]));
    seeds.extend(plans.map(|plan| [&[0; 4][..], &plan].concat()));
    seeds.retain(|seed| seed.len() <= 1 << 16);
    if seeds.is_empty() { Err("nothing of testdata can be planned".to_owned()) } else { Ok(seeds) }
}

/// The plan of a file; none where there is none.
fn planned(file: &[u8], flags: &[&str]) -> Option<Vec<u8>> {
    let (mut out, mut err, mut input) = (Vec::new(), Vec::new(), file);
    let streams = &mut Streams {
        input: &mut input,
        out: &mut out,
        err: &mut err,
        colour_out: false,
        colour_err: false,
        progress: false,
        width: 80,
    };
    let args = ["neap", "opt", "-", "--summary=none"].into_iter().chain(flags.iter().copied());
    let exit = neap::run(args.map(Into::into), streams);
    (exit == Exit::Done).then_some(out)
}

/// A model and a plan, either or both changed; the length in front is that of the model.
fn mutated_pair(seeds: &[Vec<u8>], rng: &mut Rng) -> Vec<u8> {
    let parts = |seed: &[u8]| {
        let length = seed.first_chunk::<4>().map_or(0, |length| u32::from_le_bytes(*length) as usize);
        let rest = seed.get(4..).unwrap_or_default();
        let (model, plan) = rest.split_at(length.min(rest.len()));
        [model.to_vec(), plan.to_vec()]
    };
    let [mut model, mut plan] = parts(&seeds[rng.below(seeds.len())]);
    let both = rng.below(4);
    if both > 0 {
        plan = changed(plan, seeds, rng, true);
    }
    if both < 2 {
        model = changed(model, seeds, rng, false);
    }
    let length = u32::try_from(model.len()).unwrap_or(u32::MAX).to_le_bytes();
    [&length[..], &model, &plan].concat()
}

fn mutated(seeds: &[Vec<u8>], rng: &mut Rng, text: bool) -> Vec<u8> {
    let input = seeds[rng.below(seeds.len())].clone();
    changed(input, seeds, rng, text)
}

fn changed(mut input: Vec<u8>, seeds: &[Vec<u8>], rng: &mut Rng, text: bool) -> Vec<u8> {
    for _ in 0..=rng.below(6) {
        if text && rng.below(3) > 0 {
            mutate_lines(&mut input, rng);
        } else {
            mutate_bytes(&mut input, seeds, rng);
        }
    }
    input
}

/// Changes that often leave text readable: whole lines and words.
fn mutate_lines(input: &mut Vec<u8>, rng: &mut Rng) {
    let mut lines: Vec<Vec<u8>> = input.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let (a, b) = (rng.below(lines.len()), rng.below(lines.len()));
    match rng.below(5) {
        0 => drop(lines.remove(a)),
        1 => lines.swap(a, b),
        2 => lines.insert(b, lines[a].clone()),
        3 => {
            let blanks: Vec<usize> = (0..lines[a].len()).filter(|at| lines[a][*at] == b' ').collect();
            if !blanks.is_empty() {
                let at = blanks[rng.below(blanks.len())];
                let word = WORDS[rng.below(WORDS.len())];
                lines[a].splice(at..at, format!(" {word}").into_bytes());
            }
        }
        _ => {
            let digits: Vec<usize> = (0..lines[a].len()).filter(|at| lines[a][*at].is_ascii_digit()).collect();
            if !digits.is_empty() {
                lines[a][digits[rng.below(digits.len())]] = b'0' + rng.below(10) as u8;
            }
        }
    }
    *input = lines.join(&b'\n');
}

fn mutate_bytes(input: &mut Vec<u8>, seeds: &[Vec<u8>], rng: &mut Rng) {
    if input.is_empty() {
        input.push(rng.next() as u8);
        return;
    }
    let at = rng.below(input.len());
    let end = (at + 1 + rng.below(64)).min(input.len());
    match rng.below(6) {
        0 => input[at] ^= 1 << rng.below(8),
        1 => input[at] = rng.next() as u8,
        2 => drop(input.drain(at..end)),
        3 => {
            let part = input[at..end].to_vec();
            let to = rng.below(input.len());
            input.splice(to..to, part);
        }
        4 => {
            let value = [0u32, 1, 0x7fff_ffff, 0x8000_0000, u32::MAX, 0xffff][rng.below(6)];
            for (to, byte) in input[at..].iter_mut().zip(value.to_le_bytes()) {
                *to = byte;
            }
        }
        _ => {
            let other = &seeds[rng.below(seeds.len())];
            input.truncate(at);
            input.extend_from_slice(&other[rng.below(other.len().max(1)).min(other.len())..]);
            input.truncate(1 << 17);
        }
    }
}

/// FNV-1a: names the inputs that were found.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
