//! Why the operations of an NPU graph stand where they do: the kinds of its dependencies, and what ties the one at the peak.

use super::Npu;
use neap_import::npu::graph::NodeId;
use neap_import::npu::hazards::{Dependency, Reason};
use neap_ir::diag::{Diagnostic, Severity};
use neap_ir::{Attr, Module};

/// More neighbours of a node are counted, not shown.
const MOST: usize = 6;

/// Kinds of dependency, as messages count them.
const KINDS: [&str; 6] = [
    "edges of the file",
    "of an allocation before use",
    "of a write after a write",
    "of a read after a write",
    "of a write after a read",
    "of a use before release",
];

impl Npu {
    /// Remarks about the dependencies of a plan of this graph that needs the most at `step`.
    pub fn remarks(&self, planned: &Module, step: Option<u32>) -> Vec<Diagnostic> {
        let mut counts = [0usize; KINDS.len()];
        self.program.dependencies.iter().for_each(|one| counts[kind(one.reason)] += 1);
        let all: Vec<String> = counts.iter().zip(KINDS).map(|(count, kind)| format!("{count} {kind}")).collect();
        let node = step.and_then(|step| self.at(planned, step));
        let span = node.or(self.program.order.first().copied()).map(|node| self.graph.nodes[node.index()].span);
        let span = span.unwrap_or_default();
        let total = Diagnostic::new(
            Severity::Remark,
            span,
            format!("{} dependencies: {}", self.program.dependencies.len(), all.join(", ")),
        )
        .note(format!(
            "{} pairs of operations are kept in order by edges of the file alone: no buffer that both touch says so",
            self.program.tokens.len()
        ));
        std::iter::once(total).chain(node.map(|node| self.neighbours(node))).collect()
    }

    /// What a node waits for, and what waits for it.
    fn neighbours(&self, node: NodeId) -> Diagnostic {
        let (graph, list) = (&self.graph, &self.program.dependencies);
        let span = graph.nodes[node.index()].span;
        let mut remark = Diagnostic::new(Severity::Remark, span, format!("at the peak runs {}", graph.name(node)));
        // An edge of the file often says what a buffer says, too: then the buffer is named.
        let told = |one: &&Dependency| {
            let same = |other: &Dependency| (other.first, other.then) == (one.first, one.then);
            one.reason != Reason::Given || !list.iter().any(|other| same(other) && other.reason != Reason::Given)
        };
        let before: Vec<&Dependency> = list.iter().filter(|one| one.then == node).filter(told).collect();
        let after: Vec<&Dependency> = list.iter().filter(|one| one.first == node).filter(told).collect();
        for one in before.iter().take(MOST) {
            remark = remark.note(format!("it comes after {}: {}", graph.name(one.first), one.reason.text(graph)));
        }
        for one in after.iter().take(MOST) {
            let name = graph.name(one.then);
            remark = remark.note(format!("{name} comes after it: {}", one.reason.text(graph)));
        }
        let more = before.len().saturating_sub(MOST) + after.len().saturating_sub(MOST);
        if more > 0 {
            remark = remark.note(format!("and {more} more"));
        }
        remark
    }

    /// The node that runs at a step of a plan.
    fn at(&self, planned: &Module, step: u32) -> Option<NodeId> {
        let block = planned.entry(*planned.functions().first()?)?;
        let id = |op| planned.attr(op, "npu.id").and_then(Attr::as_i64).and_then(|id| u32::try_from(id).ok());
        let id = planned.block_ops(block).filter_map(id).nth(step as usize)?;
        let at = self.graph.nodes.binary_search_by_key(&id, |node| node.id).ok()?;
        Some(NodeId(at as u32))
    }
}

fn kind(reason: Reason) -> usize {
    match reason {
        Reason::Given => 0,
        Reason::Allocation(_) => 1,
        Reason::WriteAfterWrite(_) => 2,
        Reason::ReadAfterWrite(_) => 3,
        Reason::WriteAfterRead(_) => 4,
        Reason::Release(_) => 5,
    }
}
