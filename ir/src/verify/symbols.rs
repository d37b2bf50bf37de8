//! Rules 7 to 9: symbols, references, calls.

use super::Verifier;
use crate::attr::Attr;
use crate::module::{Module, OpId};
use rustc_hash::FxHashMap;

/// Attributes that name functions, by operation. A string stands for the symbol of that name.
const CALLEES: &[(&str, &[&str])] = &[
    ("func.call", &["callee"]),
    ("neap.call", &["callee"]),
    ("neap.if", &["then_branch", "else_branch"]),
    ("neap.while", &["cond", "body"]),
    ("neap.for", &["body"]),
    ("tfl.if", &["then_branch", "else_branch"]),
    ("tfl.while", &["cond", "body"]),
    ("tfl.call_once", &["session_init_function"]),
];

/// Symbols of all modules: of the top by its own index, of modules in it by module and name.
pub(super) struct Symbols<'a> {
    module: &'a Module,
    nested: FxHashMap<OpId, FxHashMap<&'a str, OpId>>,
}

impl<'a> Symbols<'a> {
    /// Of all operations of a module.
    pub(super) fn of(module: &'a Module) -> Symbols<'a> {
        let mut nested: FxHashMap<OpId, FxHashMap<&str, OpId>> = FxHashMap::default();
        for op in module.declared("builtin.module").iter().flat_map(|inner| module.walk(*inner)) {
            if let (Some(parent), Some(name)) = (symbol_parent(module, op), module.sym_name(op)) {
                nested.entry(parent).or_default().entry(name).or_insert(op);
            }
        }
        Symbols { module, nested }
    }

    /// The first operation of a name in a module.
    fn first(&self, table: OpId, name: &str) -> Option<OpId> {
        match table == self.module.top() {
            true => self.module.symbol(name),
            false => self.nested.get(&table)?.get(name).copied(),
        }
    }

    /// What a symbol reference of an operation means.
    pub(super) fn resolve(&self, from: OpId, attr: &Attr) -> Option<OpId> {
        let (root, nested) = match attr {
            Attr::Symbol { root, nested } => (&**root, &nested[..]),
            _ => (attr.as_str()?, &[][..]),
        };
        let mut table = from;
        while self.module.op_name(table) != "builtin.module" || table == from {
            table = self.module.parent_op(table)?;
        }
        let mut found = self.first(table, root)?;
        for name in nested {
            found = self.first(found, name)?;
        }
        Some(found)
    }
}

/// The module in whose body an operation stands.
fn symbol_parent(module: &Module, op: OpId) -> Option<OpId> {
    module.parent_op(op).filter(|parent| module.op_name(*parent) == "builtin.module")
}

impl Verifier<'_> {
    /// Checks names and callees of all operations.
    pub(super) fn symbols(&mut self, ops: &[OpId], symbols: &Symbols<'_>) {
        for op in ops {
            self.symbol(*op, symbols);
            let name = self.module.op_name(*op);
            if let Some((_, keys)) = CALLEES.iter().find(|(known, _)| *known == name) {
                self.callees(*op, keys, symbols);
            }
        }
    }

    fn symbol(&mut self, op: OpId, symbols: &Symbols<'_>) {
        let module = self.module;
        let Some(parent) = symbol_parent(module, op) else { return };
        match module.attr(op, "sym_name") {
            None => {}
            Some(attr) if attr.as_str().is_some_and(|name| !name.is_empty()) => {
                let name = attr.as_str().unwrap_or("");
                if let Some(first) = symbols.first(parent, name).filter(|first| *first != op) {
                    let place = module.op(first).span;
                    let error = self.error(op, format!("the symbol `@{name}` is defined twice"));
                    error.related.push((place, "defined here first".to_owned()));
                }
            }
            // A function without a name breaks rule 2.
            Some(_) if module.op_name(op) == "func.func" => {}
            Some(_) => {
                self.error(op, "`sym_name` must be a string that is not empty");
            }
        }
    }

    fn callees(&mut self, op: OpId, keys: &[&str], symbols: &Symbols<'_>) {
        let module = self.module;
        let mut named = 0;
        for key in keys {
            let Some(attr) = module.attr(op, key) else { continue };
            named += 1;
            match symbols.resolve(op, attr) {
                Some(callee) if module.op_name(callee) == "func.func" => {
                    if matches!(module.op_name(op), "func.call" | "neap.call") {
                        self.call_types(op, callee);
                    }
                }
                _ => {
                    let name = crate::print::attr_text(module, attr);
                    self.error(op, format!("`{key}` = {name} names no function"));
                }
            }
        }
        if named < keys.len() && module.op_regions(op).is_empty() {
            let missing: Vec<String> =
                keys.iter().filter(|key| module.attr(op, key).is_none()).map(|key| format!("`{key}`")).collect();
            self.error(op, format!("needs {}", missing.join(" and ")));
        }
    }

    fn call_types(&mut self, op: OpId, callee: OpId) {
        let Some((inputs, results)) = self.module.func_types(callee) else { return };
        let (operands, found) = (self.data_operand_types(op), self.data_result_types(op));
        self.expect_types(op, "the operands", &operands, "the callee", inputs);
        self.expect_types(op, "the results", &found, "the callee", results);
    }
}
