//! Profiles: what a runtime can realise of a plan, as data.
//!
//! One TOML file per runtime in `profiles/`, embedded; users give their own with `--profile FILE`. A profile changes what is allowed, never
//! what is true: a plan for one runtime is a valid plan of the same graph for an ideal one.

use neap_ir::facts::{OpFacts, Role};
use neap_ir::{Module, OpId};
use serde::Deserialize;
use std::fmt;

/// The embedded profiles: name and text.
const BUILTIN: &[(&str, &str)] = &[
    ("none", include_str!("../../profiles/none.toml")),
    ("tflite", include_str!("../../profiles/tflite.toml")),
    ("tflm", include_str!("../../profiles/tflm.toml")),
    ("ort", include_str!("../../profiles/ort.toml")),
];

/// Where function arguments or results lie when the input does not say.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Io {
    /// In the arena while needed.
    Arena,
    /// In the arena for the whole run.
    Held,
    /// In the caller's memory.
    External,
}

impl Io {
    /// The spelling in `neap.io`.
    pub fn as_str(self) -> &'static str {
        match self {
            Io::Arena => "arena",
            Io::Held => "held",
            Io::External => "external",
        }
    }
}

/// Who decides offsets at run time, and so by which rule the plan packs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Packer {
    /// We do: the runtime honours offsets.
    Own,
    /// LiteRT's arena planner.
    Litert,
    /// TFLite Micro's greedy planner.
    Tflm,
}

/// A set of ops that a runtime can do something with.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(untagged)]
pub enum OpSet {
    /// `true`: every op whose facts allow it; `false`: none.
    All(bool),
    /// These ops, and nothing else.
    Only(Vec<String>),
}

impl OpSet {
    /// Whether the op is one of them.
    pub fn contains(&self, name: &str) -> bool {
        match self {
            OpSet::All(all) => *all,
            OpSet::Only(names) => names.iter().any(|other| other == name),
        }
    }
}

/// What a runtime can realise.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The runtime, for people.
    pub title: String,
    /// Where arguments lie by default.
    pub arguments: Io,
    /// Where function results lie by default.
    pub results: Io,
    /// Alignment of every storage in bytes, a power of two.
    pub align: u64,
    /// Whether ops run in the order of the plan.
    pub honours_order: bool,
    /// Whether the runtime sorts the operations of a model file in a way of its own, unless a session asks for the file's order.
    #[serde(default)]
    pub resorts: bool,
    /// By which rule offsets are chosen.
    pub packer: Packer,
    /// Ops that may be fused into one.
    pub fuse: OpSet,
    /// Ops whose results may be views of an operand.
    pub views: OpSet,
    /// Ops whose results may overwrite an operand.
    pub in_place: OpSet,
    /// In place needs a result of more bytes than this.
    pub in_place_above: u64,
    /// In place only where the op is the operand's one reader.
    pub in_place_single_reader: bool,
    /// Whether results of the function may overwrite an operand, be a view, or be viewed.
    pub share_results: bool,
    /// Whether arguments of the function may be overwritten or viewed.
    pub share_arguments: bool,
    /// Ops whose operands may be written straight into the result.
    pub placement: OpSet,
    /// Ops whose results stay resident, outside of the arena, when they depend on constants alone.
    pub resident: OpSet,
    /// Ops whose results stay resident whatever they depend on: the shape of an operand is known before the run.
    #[serde(default = "none")]
    pub resident_always: OpSet,
    /// Ops whose results the runtime allocates one by one, outside of the arena.
    #[serde(default = "none")]
    pub heap: OpSet,
    /// Whether it does so for every result whose shape an operand gives that is neither constant nor resident.
    #[serde(default)]
    pub heap_for_run_time_shapes: bool,
    /// Whether an operation that stands twice runs twice; else equal ones are made one, and computing a value again is not to be had.
    #[serde(default = "yes")]
    pub recomputes: bool,
    /// Whether a called function has an arena of its own, instead of a part of the caller's.
    pub own_arena_per_function: bool,
    /// What the number printed does not include, for people.
    pub not_included: Vec<String>,
}

fn yes() -> bool {
    true
}

fn none() -> OpSet {
    OpSet::All(false)
}

/// What is wrong in a profile.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProfileError {
    /// The file, as given by the caller.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for ProfileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.message)
    }
}

impl std::error::Error for ProfileError {}

impl Profile {
    /// Reads a profile.
    ///
    /// # Errors
    /// The first thing that is wrong, with its line.
    pub fn parse(text: &str, file: &str) -> Result<Profile, ProfileError> {
        let error = |at: usize, message: String| {
            let line = 1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count();
            ProfileError { file: file.to_owned(), line, message }
        };
        let profile: Profile = toml::from_str(text).map_err(|what| {
            let at = what.span().map_or(0, |span| span.start);
            error(at, what.message().to_owned())
        })?;
        if !profile.align.is_power_of_two() {
            let at = text.find("align").unwrap_or(0);
            return Err(error(at, format!("`align` is {}: it must be a power of two", profile.align)));
        }
        Ok(profile)
    }

    /// Whether the runtime allocates an operation's results by itself while it runs, given what of operands is known before the run.
    pub fn allocates(&self, module: &Module, op: OpId, row: &OpFacts, is_known: impl Fn(OpId) -> bool) -> bool {
        let shapes = row.shape_operands.below(module.data_operand_count(op));
        let known = |value| module.defining_op(value).is_some_and(&is_known);
        let mut given = shapes.filter_map(|at| module.data_operand(op, at));
        let computes = row.role != Role::Constant && !module.data_results(op).is_empty();
        let at_run_time = self.heap_for_run_time_shapes && given.any(|value| !known(value));
        computes && (at_run_time || self.heap.contains(module.op_name(op)))
    }

    /// An embedded profile by its name.
    pub fn builtin(name: &str) -> Option<Profile> {
        let (file, text) = BUILTIN.iter().find(|(other, _)| *other == name)?;
        match Profile::parse(text, file) {
            Ok(profile) => Some(profile),
            Err(error) => panic!("embedded profile: {error}"),
        }
    }

    /// Names of the embedded profiles.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILTIN.iter().map(|(name, _)| *name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedded_profiles_read() {
        for name in Profile::names() {
            assert!(Profile::builtin(name).is_some());
        }
        let litert = Profile::builtin("tflite").expect("embedded");
        assert_eq!((litert.align, litert.arguments, litert.packer), (64, Io::Held, Packer::Litert));
        assert!(litert.in_place.contains("tfl.add") && !litert.in_place.contains("tfl.relu"));
        assert!(!litert.fuse.contains("tfl.add"));
        assert!(litert.resident.contains("tfl.dequantize") && !litert.resident.contains("tfl.add"));
        let ort = Profile::builtin("ort").expect("embedded");
        assert!(ort.in_place.contains("onnx.Relu") && !ort.in_place.contains("onnx.Add"));
        assert!(!ort.share_results && !ort.in_place_single_reader);
        assert_eq!(Profile::builtin("nothing"), None);
    }

    #[test]
    fn broken_profiles_are_refused_with_their_line() {
        let good = include_str!("../../profiles/none.toml");
        let cases = [
            (good.replace("align = 1", "align = 3"), "power of two"),
            (good.replace("align = 1", "align = \"x\""), "invalid type"),
            (good.replace("honours_order", "honors_order"), "unknown field"),
            (good.replace("packer = \"own\"", "packer = \"best\""), "unknown variant"),
        ];
        for (text, part) in cases {
            let error = Profile::parse(&text, "p.toml").expect_err(part);
            assert!(error.message.contains(part) && error.line > 1, "{error}");
        }
    }
}
