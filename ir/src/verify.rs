//! The rules of the representation, checked on a whole module. Every pass leaves a module that obeys them.
//!
//! 1. **Modules**: `builtin.module` has one region of one block without arguments, no operands, no results; its discardable attributes have a
//!    dialect's prefix.
//! 2. **Functions**: `func.func` stands in a module, has a name and a function type, no operands and results; the arguments of its first block have the
//!    types of its inputs; `arg_attrs` and `res_attrs` have one dictionary per argument and result; attributes have a dialect's prefix.
//! 3. **Terminators**: a block of a function ends in `func.return` or in an operation with successors; these and `neap.yield` stand at the end of a block only.
//!    The first block of a region is no successor.
//! 4. **Returns**: `func.return` stands in `func.func` and returns values of the function's result types.
//! 5. **Uses**: every operand is recorded at its value exactly once, and nothing else is.
//! 6. **Dominance**: an operand is defined before it is read, in its region or in one around it, but not outside `builtin.module` or `func.func`. In
//!    graph regions ([`GRAPH_REGIONS`]) the order does not matter.
//! 7. **Symbols** have names that are not empty and unique in their module.
//! 8. **References** of calls, `neap.read`, `neap.write`, `neap.handle`, `neap.arena`, `neap.class` name a symbol of the right kind.
//! 9. **Calls**: `func.call` and `neap.call` have the data operands and results of their callee.
//! 10. **Tokens** come after all data, among operands, results and block arguments.
//! 11. **Plan attributes** have their form; lists run parallel to the data results; indices are in range; offsets are at least -1; live
//!     ranges are `0 <= begin < end`; a result has at most one view and one operand that it overwrites; a view lies inside its operand, a part
//!     inside the whole, and parts not in each other.
//! 12. **Declarations**: `neap.arena`, `neap.var`, `neap.class` stand in a module and have their attributes (sizes and limits not negative, alignments powers of two).
//! 13. **`neap.fused`** has one block whose arguments are its data operands, reads nothing from outside and yields its data results.
//! 14. **State**: `neap.read` gives and `neap.write` takes the type of the variable.
//! 15. **Region operations** `neap.if`, `neap.while`, `neap.for`: block arguments are bound to operands, bodies yield the results.
//! 16. **Results out of bodies**: any other operation that the embedded tables know to have bodies has as many as its results need; each takes as
//!     many values as it is handed, and ends in an operation that hands on as many as there are results. What bodies and called functions hand on,
//!     and what they are handed, is at most as large as what it goes to.
//!
//! All errors of a module are reported at once. The time is linear in the size of the module but for dominators of regions
//! with several blocks, where a logarithm comes in.

mod bodies;
mod dominance;
mod domtree;
mod neap;
mod plan;
mod structure;
mod symbols;
mod uses;

use crate::attr::Attr;
use crate::diag::Diagnostic;
use crate::facts::Facts;
use crate::module::{Module, OpId, ValueId};
use crate::print;
use crate::types::Ty;

pub use dominance::GRAPH_REGIONS;

/// Checks all rules; the errors are in the order of the text.
///
/// # Errors
/// All rules that are broken.
pub fn verify(module: &Module) -> Result<(), Vec<Diagnostic>> {
    below(module, module.top())
}

/// Checks the rules on one function of the module body: what a pass that works on it could have broken. What else is in the module costs nothing.
///
/// # Errors
/// All rules that are broken.
pub fn verify_function(module: &Module, func: OpId) -> Result<(), Vec<Diagnostic>> {
    below(module, func)
}

/// Checks an operation that reads nothing from outside, and all below it.
fn below(module: &Module, root: OpId) -> Result<(), Vec<Diagnostic>> {
    let mut verifier = Verifier { module, facts: Facts::builtin(), errors: Vec::new(), names: None };
    let mut ops = vec![root];
    ops.extend(module.walk(root));
    let symbols = symbols::Symbols::of(module);
    for op in &ops {
        verifier.structure(*op);
        verifier.plan(*op, &symbols);
        verifier.neap(*op, &symbols);
        verifier.bodies(*op);
    }
    verifier.symbols(&ops, &symbols);
    verifier.uses(&ops);
    verifier.dominance(root);
    verifier.errors.sort_by_key(|error| error.span.start);
    if verifier.errors.is_empty() { Ok(()) } else { Err(verifier.errors) }
}

struct Verifier<'a> {
    module: &'a Module,
    facts: Facts,
    errors: Vec<Diagnostic>,
    /// Printed names of values, made with the first error that needs one.
    names: Option<Vec<String>>,
}

impl<'a> Verifier<'a> {
    /// Reports that an operation breaks a rule.
    fn error(&mut self, op: OpId, message: impl std::fmt::Display) -> &mut Diagnostic {
        let message = format!("`{}`: {message}", self.module.op_name(op));
        let at = self.errors.len();
        self.errors.push(Diagnostic::error(self.module.op(op).span, message));
        &mut self.errors[at]
    }

    /// The printed name of a value.
    fn value_name(&mut self, value: ValueId) -> String {
        let names = self.names.get_or_insert_with(|| print::value_names(self.module));
        let name = names.get(value.into_raw().into_u32() as usize);
        name.filter(|name| !name.is_empty()).cloned().unwrap_or_else(|| "a value outside the module".to_owned())
    }

    /// Types as text, `(T, T)`.
    fn types(&self, types: &[Ty]) -> String {
        let list: Vec<String> = types.iter().map(|ty| print::ty_text(self.module, *ty)).collect();
        format!("({})", list.join(", "))
    }

    /// The types of values.
    fn types_of(&self, values: impl Iterator<Item = ValueId>) -> Vec<Ty> {
        values.map(|value| self.module.value_ty(value)).collect()
    }

    /// Reports two lists of types that should be equal.
    fn expect_types(&mut self, op: OpId, what: &str, found: &[Ty], wanted_what: &str, wanted: &[Ty]) {
        if found != wanted {
            let (found, wanted) = (self.types(found), self.types(wanted));
            self.error(op, format!("{what} have the types {found}, {wanted_what} has {wanted}"));
        }
    }

    /// Data results.
    fn data_result_types(&self, op: OpId) -> Vec<Ty> {
        self.types_of(self.module.data_results(op).iter().copied())
    }

    /// Data operands.
    fn data_operand_types(&self, op: OpId) -> Vec<Ty> {
        self.types_of(self.module.data_operands(op))
    }

    /// Reports keys of a dictionary without a dialect's prefix.
    fn prefixed(&mut self, op: OpId, what: &str, attrs: &[(crate::name::Name, Attr)]) {
        for (name, _) in attrs {
            let key = self.module.text(*name);
            if !key.contains('.') {
                self.error(op, format!("{what} `{key}` has no dialect's prefix"));
            }
        }
    }
}
