//! Certificates of a run: from the planner's terms into those that the checker reads, verified, and written with `--certificate`.
//!
//! A file has one certificate per line, one for each function whose bound rests on a flow.

use crate::cli::Common;
use crate::drive::Planned;
use crate::exit::{Exit, Failure};
use crate::outputs::Output;
use crate::size::grouped;
use neap_check::{Certificate, Edge, Node, Owner, SetFlow, Taken};
use neap_ir::diag::{Diagnostic, Severity};
use neap_ir::facts::{Facts, Role};
use neap_ir::{Attr, Def, Module, OpId, ValueId, plan};
use neap_passes::analysis::candidates::Pair;
use neap_passes::certificate as planner;
use neap_passes::pipeline::{PassReport, Pipeline};
use rustc_hash::FxHashMap;
use std::path::Path;

/// The certificates of a planned module, as its passes handed them out.
pub fn of(planned: &Module, facts: &Facts, reports: &[PassReport]) -> Vec<Certificate> {
    let (mut found, mut places) = (Vec::new(), FxHashMap::default());
    for certificate in reports.iter().flat_map(|report| &report.certificates) {
        let Some(func) = planned.symbol(&certificate.function) else { continue };
        let steps = steps(planned, facts, func);
        if let Some(certificate) = translated(planned, func, &steps, certificate) {
            // Of a function that was ordered twice, the last order is the plan's.
            let at = *places.entry(certificate.function.clone()).or_insert(found.len());
            match found.get_mut(at) {
                Some(older) => *older = certificate,
                None => found.push(certificate),
            }
        }
    }
    found
}

/// The certificates that hold for the planned module, and a warning for each other one: its bound is the solver's word alone then.
pub fn verified(
    planned: &Module,
    facts: &Facts,
    certificates: Vec<Certificate>,
) -> (Vec<Certificate>, Vec<Diagnostic>) {
    let (mut good, mut warnings) = (Vec::new(), Vec::new());
    let found = neap_check::verify_all(planned, facts, &certificates);
    for (certificate, found) in certificates.into_iter().zip(found) {
        match found {
            Ok(_) => good.push(certificate),
            Err(violation) => {
                let mut warning = violation.diagnostic();
                warning.severity = Severity::Warning;
                warnings.push(warning.help("the plan is checked and right; only this bound of it is not verified"));
            }
        }
    }
    (good, warnings)
}

/// The file of `--certificate`, and a warning for each function that has none.
pub fn file(common: &Common, planned: &[Planned]) -> (Option<Output>, Vec<Diagnostic>) {
    let Some(path) = common.certificate.clone() else { return (None, Vec::new()) };
    let (mut text, mut missing) = (String::new(), Vec::new());
    for planned in planned {
        for certificate in &planned.certificates {
            text += &format!("{}\n", certificate.to_json());
        }
        let bound = |certificate: &Certificate| (certificate.function.clone(), certificate.lower_bound);
        let proved: FxHashMap<String, u64> = planned.certificates.iter().map(bound).collect();
        let module = &planned.module;
        for func in module.functions() {
            let name = module.sym_name(func).unwrap_or_default();
            let Some(bound) = module.attr(func, plan::LOWER_BOUND).and_then(Attr::as_i64) else { continue };
            let message = match proved.get(name) {
                Some(proved) if i128::from(*proved) >= i128::from(bound) => continue,
                Some(proved) => {
                    format!("the certificate of @{name} proves {proved} bytes; that it takes {bound} rests on a search")
                }
                None => format!("no certificate for @{name}: no flow stands behind its bound of {bound} bytes"),
            };
            missing.push(Diagnostic::new(Severity::Warning, module.op(func).span, message));
        }
    }
    (Some(Output { path, bytes: text.into_bytes() }), missing)
}

/// A failure beside which the proof is written that was asked for: that nothing fits is what it is for.
pub fn beside(failure: Failure, common: &Common, pipeline: &Pipeline, planned: Planned) -> Failure {
    if planned.certificates.is_empty() {
        return failure;
    }
    let (Some(output), _) = file(common, &[planned]) else { return failure };
    let name = output.path.display().to_string();
    match crate::outputs::write_all(&[output]) {
        Ok(()) => failure.note(format!(
            "the proof is in {name}: `neap check {0} PLAN --certificate {name}` adds it up, for the PLAN of `neap opt {0} --pass-pipeline='{pipeline}'`",
            common.input.display()
        )),
        Err(error) => failure.note(format!("no proof is written: {}", error.diagnostics[0].message)),
    }
}

/// Certificates from a file, one per line.
///
/// # Errors
/// The line that is none, and why.
fn read(name: &str, text: &str) -> Result<Vec<Certificate>, Failure> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(at, line)| {
            Certificate::from_json(line)
                .map_err(|why| Failure::input(format!("{name}:{}: this is no certificate: {why}", at + 1)))
        })
        .collect()
}

/// What the certificates of a file prove of a planned module, a line each; and what other bounds rest on.
///
/// # Errors
/// The file holds none, one does not hold, or a function claims a certified bound that none of them proves.
pub fn hold(path: &Path, module: &Module, facts: &Facts) -> Result<String, Failure> {
    let (name, file) = (path.display(), crate::input::text(path)?);
    let certificates = read(&name.to_string(), &file)?;
    if certificates.is_empty() {
        return Err(Failure::input(format!("`{name}` holds no certificate"))
            .help("`neap plan` and `neap opt` write the certificates of a plan with `--certificate F`"));
    }
    let mut text = String::new();
    let mut proved: FxHashMap<&str, u64> = FxHashMap::default();
    for (certificate, found) in certificates.iter().zip(neap_check::verify_all(module, facts, &certificates)) {
        let bytes = found.map_err(|violation| violation.diagnostic())?;
        let function = certificate.function.as_str();
        let most = proved.entry(function).or_default();
        *most = bytes.max(*most);
        text += &format!(
            "@{function}: the certificate holds: no order of the planned graph needs less than {} B\n",
            grouped(bytes.into())
        );
    }
    let mut missing = Vec::new();
    for func in module.functions() {
        let function = module.sym_name(func).unwrap_or_default();
        let Some(bound) = module.attr(func, plan::LOWER_BOUND).and_then(Attr::as_i64) else { continue };
        let by = module.attr(func, plan::PROOF).and_then(Attr::as_str).unwrap_or("none");
        let (bytes, found) = (grouped(bound.into()), proved.get(function));
        match found {
            Some(found) if i128::from(*found) >= i128::from(bound) => {}
            _ if by != "certified" => {
                text += &format!("@{function}: that it needs {bytes} B rests on no certificate (proof: {by})\n");
            }
            found => {
                let what = match found {
                    Some(found) => format!("the certificates in `{name}` prove {} B", grouped((*found).into())),
                    None => format!("`{name}` has no certificate of it"),
                };
                let message = format!("@{function} claims a certified bound of {bytes} B, and {what}");
                missing.push(Diagnostic::error(module.op(func).span, message));
            }
        }
    }
    if missing.is_empty() { Ok(text) } else { Err(Failure::new(Exit::Input, missing)) }
}

/// Operations by their step, as the checker counts: in text order, without constants and the terminator.
fn steps(module: &Module, facts: &Facts, func: OpId) -> FxHashMap<OpId, u32> {
    let Some(block) = module.entry(func) else { return FxHashMap::default() };
    let last = module.terminator(block);
    let counts = |op: &OpId| {
        let row = facts.of(module.op_name(*op), module.data_operand_count(*op), module.data_results(*op).len());
        row.role != Role::Constant && Some(*op) != last
    };
    module.block_ops(block).filter(counts).zip(0..).collect()
}

fn translated(
    module: &Module,
    func: OpId,
    steps: &FxHashMap<OpId, u32>,
    certificate: &planner::Certificate,
) -> Option<Certificate> {
    let owner = |value: ValueId| match module.value(value).def() {
        Def::Arg(_, index) => Some(Owner::Arg(index)),
        Def::Result(op, index) => Some(Owner::Result(*steps.get(&op)?, index)),
    };
    let node = |node: planner::Node| {
        Some(match node {
            planner::Node::Source => Node::Source,
            planner::Node::Sink => Node::Sink,
            planner::Node::Op(op) => Node::Op(*steps.get(&op)?),
            planner::Node::In(value) => Node::In(owner(value)?),
            planner::Node::Out(value) => Node::Out(owner(value)?),
        })
    };
    let edge = |edge: &planner::Edge| {
        Some(Edge { from: node(edge.from)?, to: node(edge.to)?, capacity: edge.capacity, flow: edge.flow })
    };
    let taken = |pair: &Pair| match pair {
        Pair::InPlace(pair) => Taken::InPlace { result: pair.result, operand: pair.operand },
        Pair::Place(place) => Taken::Place { operand: place.operand },
    };
    let flow = |flow: &planner::SetFlow| {
        Some(SetFlow {
            taken: flow.taken.iter().map(taken).collect(),
            edges: flow.edges.iter().map(edge).collect::<Option<_>>()?,
        })
    };
    Some(Certificate {
        fingerprint: module.attr(func, plan::FINGERPRINT).and_then(Attr::as_str).unwrap_or_default().to_owned(),
        function: certificate.function.clone(),
        op: *steps.get(&certificate.op)?,
        lower_bound: certificate.bound,
        flows: certificate.flows.iter().map(flow).collect::<Option<_>>()?,
    })
}
