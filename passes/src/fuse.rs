//! Makes tensors disappear: what cancels is not computed, what is read element by element right after is not stored.
//!
//! # Effect
//!
//! - Operations go where a law says that their value is there already, or made cheaper: reshapes, transposes, slices, concatenations, splits,
//!   pads and broadcasts that undo each other or become one, transposes that pass elementwise operations and meet, integers plus 0,
//!   numbers quantized again, equal operations ([`law`]). Found by equality saturation, picked by a cost on the graph of bytes made and work
//!   done ([`extract`]).
//! - A heavy operation (convolution, matrix product, pooling, reduction, resizing) and the elementwise ones after it, or elementwise ones
//!   alone, become one `neap.fused` with the operations as its body ([`group`]).
//!
//! The profile says which operations may be touched, or the profile that the option `target` names.
//!
//! # Soundness
//!
//! The laws hold for every content; what could make a value live longer is judged by the block's greedy peak and undone where that rises
//! ([`rewrite`]). Operations with effects, tokens, bodies or several results are opaque: no law looks into
//! them and no group takes them in. A group's values are read inside of it alone, so no computation is done twice and no cycle can close. Joining
//! that could raise the peak is judged by a greedy order of the block with and without it ([`judge`]).
//!
//! # Statistics
//!
//! - `cancelled`: operations whose value was there already.
//! - `composed`: operations that took over those before them, or moved past them.
//! - `fused`: operations made of several; `members`: those they were made of.
//! - `bytes`: bytes of values no longer made.
//! - `refused`: operations that stay apart from an elementwise reader, and blocks that fewer laws rewrite; each has a remark.

mod build;
mod extract;
mod group;
mod judge;
mod law;
mod make;
mod member;
mod movement;
mod problem;
mod rewrite;
mod simplify;
mod term;
mod translate;

use crate::callees::facts_of;
use crate::effects::FuncEffects;
use crate::locks::{Flow, blocks};
use crate::pass::{Context, OptionSpec, Options, Pass, PassInfo};
use crate::profile::{OpSet, Profile};
use judge::Verdict;
use member::Members;
use neap_ir::diag::Diagnostic;
use neap_ir::facts::Run;
use neap_ir::{BlockId, Module, OpId};
use rustc_hash::FxHashSet;

/// The line in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "fuse",
    summary: "cancel movements that undo each other, fuse elementwise operations into what comes before",
    options: &[OptionSpec {
        name: "target",
        summary: "the embedded profile that says what may be fused, instead of the one planned for",
        default: "",
    }],
    build: |options| Ok(Box::new(Fuse { set: set(options)? })),
};

struct Fuse {
    /// What may be fused, unless it is what the profile says.
    set: Option<OpSet>,
}

fn set(options: &Options) -> Result<Option<OpSet>, String> {
    let target: String = options.get(&INFO, "target")?;
    if target.is_empty() {
        return Ok(None);
    }
    let known = || Profile::names().collect::<Vec<_>>().join("`, `");
    let missing = || format!("option `target` of pass `fuse` cannot be `{target}`; there are `{}`", known());
    Profile::builtin(&target).map(|profile| Some(profile.fuse)).ok_or_else(missing)
}

impl Pass for Fuse {
    fn run(&self, module: &mut Module, func: OpId, cx: &mut Context<'_>) -> Result<bool, Diagnostic> {
        let set = self.set.as_ref().unwrap_or(&cx.profile.fuse).clone();
        if matches!(&set, OpSet::All(false)) {
            return Ok(false);
        }
        let blocks = plain_blocks(module, func, cx);
        let mut changed = false;
        let mut members = Members::of(module, func, &set, cx);
        changed |= rewrite::blocks(module, func, &blocks, &mut members, cx);
        // Erased operations are members no more; what stays has the same facts.
        let flow = Flow::of(module, func);
        let effects = cx.effects(module, func);
        for block in &blocks {
            changed |= group_block(module, *block, &members, &flow, &effects, cx);
        }
        Ok(changed)
    }
}

/// The blocks whose operations take steps: not the bodies of kernels.
fn plain_blocks(module: &Module, func: OpId, cx: &Context<'_>) -> Vec<BlockId> {
    let mut kernels: FxHashSet<OpId> = FxHashSet::default();
    for op in module.walk(func) {
        let within = module.parent_op(op).is_some_and(|around| kernels.contains(&around));
        if within || facts_of(module, cx.facts, op).body.run == Run::Kernel {
            kernels.insert(op);
        }
    }
    let owner = |block: &BlockId| module.region_op(module.block_region(*block));
    blocks(module, func).into_iter().filter(|block| !kernels.contains(&owner(block))).collect()
}

/// Fuses the groups of a block.
fn group_block(
    module: &mut Module,
    block: BlockId,
    members: &Members,
    flow: &Flow,
    effects: &FuncEffects,
    cx: &mut Context<'_>,
) -> bool {
    let (groups, refused) = {
        let outline = problem::Outline::of(module, block, flow, effects, cx);
        judge::groups(module, block, members, &outline, cx)
    };
    for (op, why) in &groups.apart {
        let (reader, why) = why.explain(module, *op);
        apart(module, *op, reader, &why, cx);
    }
    for (op, verdict) in refused {
        let Some(reader) = module.value(module.results(op)[0]).uses().iter().map(|usage| usage.op).min() else {
            continue;
        };
        let why = match verdict {
            Verdict::Raises(bytes) => format!("the peak would rise by {bytes} bytes"),
            Verdict::NotJudged => "whether the peak would rise was not judged".to_owned(),
        };
        apart(module, op, reader, &why, cx);
    }
    let lists = groups.lists(module, block);
    for (_, ops) in &lists {
        let inner = &ops[..ops.len() - 1];
        let bytes = inner.iter().filter_map(|op| module.value_bytes(module.results(*op)[0]).ok());
        cx.count("bytes", bytes.fold(0, u64::saturating_add));
        cx.count("members", ops.len() as u64);
        cx.count("fused", 1);
        build::fuse(module, ops);
    }
    !lists.is_empty()
}

fn apart(module: &Module, op: OpId, reader: OpId, why: &str, cx: &mut Context<'_>) {
    cx.count("refused", 1);
    let (name, reader) = (module.op_name(op), module.op_name(reader));
    cx.remark(module, op, format!("`{name}` is not fused into `{reader}`: {why}"));
}

/// The greedy's peak of a block as it stands, nothing fused; none if the problem cannot be stated.
pub(crate) fn greedy_peak(module: &Module, func: OpId, block: BlockId, cx: &Context<'_>) -> Option<u64> {
    let flow = Flow::of(module, func);
    let effects = cx.effects(module, func);
    problem::Outline::of(module, block, &flow, &effects, cx).peak(&group::Groups::default())
}
