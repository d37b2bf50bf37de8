//! Where an operation stood in a model file: the name of its graph and its index there, spelled as an MLIR location.
//!
//! `loc("main":12:0)` is operator 12 of the graph `main`. Readers of model files write it, writers find the file's own operators by it.
//! Locations take no part in what an operation computes: no pass, no fingerprint and no checker looks at them.

use crate::loc::Loc;
use crate::module::{Module, OpId};
use crate::print::quoted;

/// The location of entry `index` of the graph `graph`.
pub fn origin(graph: &str, index: usize) -> Loc {
    Loc::File(format!("{}:{index}:0", file(graph)).into())
}

fn file(graph: &str) -> String {
    let mut out = String::new();
    quoted(graph.as_bytes(), &mut out);
    out
}

impl Module {
    /// The index of an operation in the graph `graph` of the file that it was read from.
    pub fn origin(&self, op: OpId, graph: &str) -> Option<usize> {
        let Loc::File(text) = &self.op(op).loc else { return None };
        let rest = text.strip_prefix(file(graph).as_str())?;
        rest.strip_prefix(':')?.strip_suffix(":0")?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::module::OpSpec;
    use crate::print::{PrintOptions, print};

    #[test]
    fn an_origin_is_printed_and_read_back() {
        for graph in ["main", "a \"b\"\\ é", ""] {
            let mut module = Module::new();
            let op = module.create(OpSpec { name: "tfl.add", loc: origin(graph, 12), ..OpSpec::default() });
            let body = module.body();
            module.append(body, op);
            let text = print(&module, &PrintOptions::default());
            let again = crate::parse(&text).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
            let op = again.block_ops(again.body()).next().expect("one operation");
            assert_eq!(again.origin(op, graph), Some(12), "{text}");
            assert_eq!(again.origin(op, "other"), None);
        }
    }
}
