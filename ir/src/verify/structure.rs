//! Rules 1 to 4 and 10: modules, functions, terminators, returns, tokens.

use super::Verifier;
use crate::attr::Attr;
use crate::module::{BlockId, OpId, ValueId};

impl Verifier<'_> {
    /// Checks one operation and the blocks of its regions.
    pub(super) fn structure(&mut self, op: OpId) {
        match self.module.op_name(op) {
            "builtin.module" => self.module_op(op),
            "func.func" => self.func_op(op),
            "func.return" => self.return_op(op),
            _ => {}
        }
        self.tokens_last(op);
        self.last_only(op);
        for region in self.module.op_regions(op) {
            for block in self.module.blocks(*region) {
                self.block(op, *block);
            }
        }
    }

    fn module_op(&mut self, op: OpId) {
        let blocks = self.module.region_blocks(op, 0);
        let shaped = self.module.op_regions(op).len() == 1
            && matches!(blocks, [body] if self.module.block_args(*body).is_empty())
            && self.module.operands(op).len() == 0
            && self.module.results(op).is_empty();
        if !shaped {
            self.error(op, "must have one region of one block without arguments, no operands and no results");
        }
        self.prefixed(op, "the attribute", self.module.attrs(op));
    }

    fn func_op(&mut self, op: OpId) {
        let module = self.module;
        if module.parent_op(op).is_none_or(|parent| module.op_name(parent) != "builtin.module") {
            self.error(op, "must stand in a module");
        }
        if module.sym_name(op).is_none_or(str::is_empty) {
            self.error(op, "needs a name, `sym_name`");
        }
        if module.operands(op).len() > 0 || !module.results(op).is_empty() || module.op_regions(op).len() != 1 {
            self.error(op, "must have one region, no operands and no results");
        }
        let Some((inputs, results)) = module.func_types(op) else {
            self.error(op, "needs a function type, `function_type`");
            return;
        };
        if module.entry(op).is_some() {
            let args = self.types_of(module.func_args(op).iter().copied());
            self.expect_types(op, "the arguments of the first block", &args, "the function type", inputs);
        }
        self.indexed_attrs(op, "arg_attrs", "argument", inputs.len());
        self.indexed_attrs(op, "res_attrs", "result", results.len());
        self.prefixed(op, "the attribute", module.attrs(op));
    }

    fn indexed_attrs(&mut self, op: OpId, key: &str, what: &str, count: usize) {
        let Some(attr) = self.module.attr(op, key) else { return };
        let items = match attr {
            Attr::Array(items) if items.len() == count => items,
            _ => {
                self.error(op, format!("`{key}` must have one dictionary for each of the {count} {what}s"));
                return;
            }
        };
        for item in items {
            match item {
                Attr::Dict(dict) => self.prefixed(op, &format!("the {what} attribute"), dict),
                _ => {
                    self.error(op, format!("`{key}` must have one dictionary for each of the {count} {what}s"));
                    return;
                }
            }
        }
    }

    fn return_op(&mut self, op: OpId) {
        let module = self.module;
        if !module.results(op).is_empty() || !module.op_regions(op).is_empty() {
            self.error(op, "has no results and no regions");
        }
        let func = module.parent_op(op).filter(|parent| module.op_name(*parent) == "func.func");
        let Some(func) = func else {
            self.error(op, "must stand in `func.func`");
            return;
        };
        if let Some((_, results)) = module.func_types(func) {
            let returned = self.types_of(module.operands(op));
            self.expect_types(op, "the returned values", &returned, "the function", results);
        }
    }

    /// Operations that end a block stand nowhere else.
    fn last_only(&mut self, op: OpId) {
        let ends = matches!(self.module.op_name(op), "func.return" | "neap.yield");
        let branches = !self.module.successors(op).is_empty();
        if (ends || branches) && self.module.op(op).next().is_some() {
            self.error(op, "must be the last operation of its block");
        }
    }

    fn block(&mut self, parent: OpId, block: BlockId) {
        let module = self.module;
        if self.token_before_data(module.block_args(block).iter().copied()) {
            self.error(parent, "tokens must be the last arguments of a block");
        }
        if module.op_name(parent) == "func.func" {
            match module.terminator(block) {
                None => {
                    self.error(parent, "a block of a function must end in `func.return`; this one is empty");
                }
                Some(last) if module.op_name(last) != "func.return" && module.successors(last).is_empty() => {
                    self.error(last, "a block of a function must end in `func.return` or a branch");
                }
                Some(_) => {}
            }
        }
        let first = module.blocks(module.block_region(block))[0];
        if let Some(last) = module.terminator(block)
            && module.successors(last).contains(&first)
        {
            self.error(last, "the first block of a region cannot be branched to");
        }
    }

    fn tokens_last(&mut self, op: OpId) {
        if self.token_before_data(self.module.operands(op)) {
            self.error(op, "tokens must be the last operands");
        }
        if self.token_before_data(self.module.results(op).iter().copied()) {
            self.error(op, "tokens must be the last results");
        }
    }

    fn token_before_data(&self, values: impl Iterator<Item = ValueId>) -> bool {
        values.skip_while(|value| !self.module.is_token(*value)).any(|value| !self.module.is_token(value))
    }
}
