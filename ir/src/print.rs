//! The printer: a [`Module`] to text that MLIR's own tools accept.
//!
//! print(parse(x)) is a fixed point, and equal to `mlir-opt --mlir-print-local-scope` up to SSA names, labels and sugar. Aliases are
//! expanded; a location is printed where one is known. `names` gives every value and block a name, `attrs` prints attributes, types and
//! locations, `ops` everything else.

mod attrs;
mod names;
mod normalise;
mod ops;
mod reserve;

use crate::attr::Attr;
use crate::module::Module;
use crate::types::Ty;

pub(crate) use attrs::quoted;
pub use normalise::normalise_ssa;

/// How to print.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PrintOptions {
    /// Everything in generic form, as `mlir-opt --mlir-print-op-generic`.
    pub generic: bool,
    /// Print locations that are known.
    pub locs: bool,
}

impl Default for PrintOptions {
    fn default() -> Self {
        PrintOptions { generic: false, locs: true }
    }
}

/// Prints a module; the text ends with a line break.
pub fn print(module: &Module, options: &PrintOptions) -> String {
    let mut out = String::new();
    ops::Printer::new(module, *options, &mut out).module();
    out
}

/// Prints a type.
pub fn ty_text(module: &Module, ty: Ty) -> String {
    let mut out = String::new();
    attrs::ty(module, ty, &mut out);
    out
}

/// Prints an attribute as it stands in a dictionary.
pub fn attr_text(module: &Module, attr: &Attr) -> String {
    let mut out = String::new();
    attrs::attr(module, attr, false, &mut out);
    out
}

/// The names of all values as the printer writes them, `%x` or `%x#1`; indexed by the raw id. Values that stand nowhere have none.
pub fn value_names(module: &Module) -> Vec<String> {
    let names = names::Names::of(module);
    let name = |at: usize| names.value_text(module, at);
    (0..module.value_count()).map(name).collect()
}
