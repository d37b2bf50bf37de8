//! Whether a plan's operations are wired as the operators of the file that they claim to be.

use super::layout::{Buffer, Graph};
use crate::error;
use neap_ir::diag::Diagnostic;
use neap_ir::{Module, OpId, ValueId};
use std::collections::BTreeMap;

/// What stands behind a value of the plan.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Behind {
    /// A tensor that the graph is given or computes.
    Tensor(i32),
    /// A constant; the plan does not say which, but what it is called.
    Constant,
    /// The state of a variable tensor.
    State,
    /// An operand that is not given.
    Nothing,
}

/// Compares the operations of a function with the file: each reads and makes the tensors that its operator reads and makes.
///
/// # Errors
/// The first operation that does not, with both sides.
pub(crate) fn compare(
    module: &Module,
    func: OpId,
    order: &[(usize, OpId)],
    graph: &Graph,
    buffers: &[Buffer],
) -> Result<(), Vec<Diagnostic>> {
    let args = module.func_args(func);
    let mut values: BTreeMap<ValueId, i32> = BTreeMap::new();
    values.extend(args.iter().copied().zip(graph.inputs.iter().copied()));
    if args.len() != graph.inputs.len() {
        return Err(vec![error(format!("the plan has {} inputs, the file {}", args.len(), graph.inputs.len()))]);
    }
    let check = Check { module, graph, buffers };
    for (index, op) in order {
        let operator = &graph.operators[*index];
        let behind: Vec<Behind> = module.data_operands(*op).map(|value| check.behind(value, &values)).collect();
        let same = behind.len() == operator.inputs.len()
            && module
                .data_operands(*op)
                .zip(&behind)
                .zip(&operator.inputs)
                .all(|((value, behind), input)| check.fits(value, *behind, *input));
        let results = module.data_results(*op);
        if !same || results.len() != operator.outputs.len() {
            let name = module.op_name(*op);
            let what =
                format!("`{name}` is not wired as operator {index} of the file, which reads {:?}", operator.inputs);
            return Err(vec![error(what).help("was this plan made from another file?")]);
        }
        values.extend(results.iter().copied().zip(operator.outputs.iter().copied()));
    }
    Ok(())
}

struct Check<'a> {
    module: &'a Module,
    graph: &'a Graph,
    buffers: &'a [Buffer],
}

impl Check<'_> {
    fn behind(&self, value: ValueId, values: &BTreeMap<ValueId, i32>) -> Behind {
        if let Some(tensor) = values.get(&value) {
            return Behind::Tensor(*tensor);
        }
        match self.module.defining_op(value).map(|op| self.module.op_name(op)) {
            Some("tfl.no_value") => Behind::Nothing,
            Some("neap.read" | "neap.handle") => Behind::State,
            _ => Behind::Constant,
        }
    }

    fn fits(&self, value: ValueId, behind: Behind, input: i32) -> bool {
        let Some(tensor) = usize::try_from(input).ok().and_then(|input| self.graph.tensors.get(input)) else {
            return input == -1 && behind == Behind::Nothing;
        };
        match behind {
            Behind::Tensor(other) => other == input,
            Behind::State => tensor.is_variable,
            Behind::Nothing => false,
            Behind::Constant => {
                let is_filled = self.buffers.get(tensor.buffer).is_some_and(Buffer::is_filled);
                (is_filled || tensor.is_external)
                    && self.module.defining_op(value).is_some_and(|op| self.is_called(op, &tensor.name))
            }
        }
    }

    fn is_called(&self, op: OpId, name: &str) -> bool {
        match self.module.attr(op, "neap.names") {
            Some(neap_ir::Attr::Array(names)) => matches!(names.as_slice(), [one] if one.as_str() == Some(name)),
            _ => false,
        }
    }
}
