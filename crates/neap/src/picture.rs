//! The summary as a picture: the same figures in the terms of those who draw.

use crate::summary::{self, Check, Function, Given, Proof, ProofBy, Summary};
use neap_report::{Arena, Figures, Kind, Pass, Picture, Storage};

/// What is drawn of a summary; of several buckets, the functions of all.
pub fn picture(summary: &Summary) -> Picture {
    Picture {
        input: summary.input.clone(),
        neap: summary.neap.to_owned(),
        profile: summary.profile.clone(),
        checked: summary.check == Check::Passed,
        not_included: summary.not_included.clone(),
        functions: summary::all(summary).into_iter().map(function).collect(),
        passes: summary.passes.iter().map(pass).collect(),
    }
}

fn pass(pass: &summary::Pass) -> Pass {
    Pass {
        name: pass.name.clone(),
        function: pass.function.clone(),
        changed: pass.changed,
        stats: pass.stats.iter().map(|(name, count)| (name.clone(), *count)).collect(),
    }
}

fn function(function: Function) -> neap_report::Function {
    let bytes = &function.bytes;
    neap_report::Function {
        figures: figures(&function),
        saved: function.saved.parts().to_vec(),
        arenas: function.arenas.iter().map(arena).collect(),
        storages: function.storages.iter().map(|storage| storage_of(storage, &function.arenas)).collect(),
        others: vec![
            ("constants", bytes.constants),
            ("state", bytes.state),
            ("external", bytes.external),
            ("sum of tensors", bytes.sum_of_tensors),
            ("largest scratch", bytes.scratch_max),
        ],
        graph: function.graph.unwrap_or_default(),
        name: function.name,
    }
}

fn figures(function: &Function) -> Figures {
    let (plan, peak) = (&function.plan, function.peak_step.as_ref());
    let by = match plan.proof_by {
        Some(ProofBy::Flow) => "proved by a flow",
        Some(ProofBy::Search) => "proved by search",
        Some(ProofBy::Tree) => "proved by the tree algorithm",
        None => "a bound",
    };
    let proof = match plan.order_proof {
        Proof::Optimal => format!("no order needs less, {by}"),
        Proof::Gap => format!("no order needs less than this, {by}"),
        Proof::None => "not known: no bound on other orders".to_owned(),
    };
    Figures {
        arena: plan.arena,
        peak: plan.peak,
        lower_bound: (plan.order_proof != Proof::None).then_some(plan.lower_bound),
        proof,
        source_peak: function.source.peak,
        source_is_plan: function.source.of == Given::Plan,
        source_step: function.source.step,
        source_op: function.source.op.clone(),
        peak_step: peak.map(|peak| peak.step),
        peak_op: peak.map(|peak| peak.op.clone()).unwrap_or_default(),
        at_peak: peak.map(|peak| peak.storages.clone()).unwrap_or_default(),
    }
}

fn arena(arena: &summary::Arena) -> Arena {
    let summary::Arena { name, used, peak, capacity, align } = arena.clone();
    Arena { name, used, peak, capacity, align }
}

fn storage_of(storage: &summary::Storage, arenas: &[summary::Arena]) -> Storage {
    let arena = arenas.iter().position(|arena| arena.name == storage.arena);
    Storage {
        kind: match storage.kind {
            summary::Kind::Argument => Kind::Argument,
            summary::Kind::Result => Kind::Result,
            summary::Kind::Temporary => Kind::Temporary,
            summary::Kind::Scratch => Kind::Scratch,
            summary::Kind::State => Kind::State,
        },
        arena: arena.unwrap_or(0) as u32,
        offset: storage.offset,
        size: storage.size,
        align: storage.align,
        live: storage.live,
        op: storage.op.clone(),
    }
}
