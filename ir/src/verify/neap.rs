//! Rules 12 to 15: neap's own operations.

use super::Verifier;
use super::symbols::Symbols;
use crate::attr::Attr;
use crate::module::{BlockId, OpId, ValueId};
use crate::types::{Sign, Ty, Type};

impl Verifier<'_> {
    /// Checks one operation if it is one of neap's own.
    pub(super) fn neap(&mut self, op: OpId, symbols: &Symbols<'_>) {
        match self.module.op_name(op) {
            "neap.arena" => {
                self.declaration(op);
                self.optional(op, "size", Self::not_negative);
                self.optional(op, "align", |verifier, op, key, value| verifier.alignment(op, key, value));
                self.optional(op, "memory_space", Self::not_negative);
            }
            "neap.var" => {
                self.declaration(op);
                if !matches!(self.module.attr(op, "type"), Some(Attr::Type(_))) {
                    self.error(op, "needs `type`, the type of the variable");
                }
            }
            "neap.class" => {
                self.declaration(op);
                match self.module.attr(op, "limit").and_then(Attr::as_i64) {
                    Some(1..) => {}
                    _ => {
                        self.error(op, "needs `limit`, how many values may be live at once, at least 1");
                    }
                }
            }
            "neap.read" | "neap.write" | "neap.handle" => self.state(op, symbols),
            "neap.fused" => self.fused(op),
            "neap.yield" => self.yield_op(op),
            "neap.if" => self.if_op(op),
            "neap.while" => self.while_op(op),
            "neap.for" => self.for_op(op),
            _ => {}
        }
    }

    fn declaration(&mut self, op: OpId) {
        let module = self.module;
        if module.parent_op(op).is_none_or(|parent| module.op_name(parent) != "builtin.module") {
            self.error(op, "must stand in a module");
        }
        if module.sym_name(op).is_none_or(str::is_empty) {
            self.error(op, "needs a name, `sym_name`");
        }
        if module.operands(op).len() > 0 || !module.results(op).is_empty() {
            self.error(op, "has no operands and no results");
        }
    }

    fn optional(&mut self, op: OpId, key: &str, check: impl Fn(&mut Self, OpId, &str, &Attr)) {
        if let Some(value) = self.module.attr(op, key) {
            check(self, op, key, value);
        }
    }

    fn not_negative(&mut self, op: OpId, key: &str, value: &Attr) {
        if value.as_i64().is_none_or(|value| value < 0) {
            self.error(op, format!("`{key}` must be an integer, at least 0"));
        }
    }

    // ---- state --------------------------------------------------------------------------------------

    fn state(&mut self, op: OpId, symbols: &Symbols<'_>) {
        let module = self.module;
        let Some(attr) = module.attr(op, "var") else {
            self.error(op, "needs `var`, the variable");
            return;
        };
        let Some(var) = self.declared(op, "var", attr, "neap.var", symbols) else { return };
        let Some(Attr::Type(ty)) = module.attr(var, "type") else { return };
        match module.op_name(op) {
            "neap.read" => {
                let results = self.data_result_types(op);
                self.expect_types(op, "the results", &results, "the variable", &[*ty]);
            }
            "neap.write" => {
                let operands = self.data_operand_types(op);
                self.expect_types(op, "the operands", &operands, "the variable", &[*ty]);
            }
            _ => {}
        }
    }

    // ---- bodies -------------------------------------------------------------------------------------

    fn fused(&mut self, op: OpId) {
        let module = self.module;
        let [body] = module.region_blocks(op, 0) else {
            self.error(op, "must have one region of one block");
            return;
        };
        if module.op_regions(op).len() != 1 {
            self.error(op, "must have one region of one block");
        }
        let args = self.types_of(module.block_args(*body).iter().copied());
        let operands = self.data_operand_types(op);
        self.expect_types(op, "the block's arguments", &args, "the list of operands", &operands);
        self.yields(op, *body);
        for inner in module.walk(op) {
            if let Some(value) = module.operands(inner).find(|value| !self.stands_in(*value, op)) {
                let name = self.value_name(value);
                self.error(inner, format!("the body of `neap.fused` reads `{name}` from outside")).help =
                    Some("pass it as an operand".to_owned());
            }
        }
    }

    /// Whether a value is defined in the regions of an operation. Bodies of fused operations nest little.
    fn stands_in(&self, value: ValueId, op: OpId) -> bool {
        let module = self.module;
        let block = match module.value(value).def() {
            crate::module::Def::Arg(block, _) => Some(block),
            crate::module::Def::Result(def, _) => module.parent_block(def),
        };
        let mut around = block.map(|block| module.region_op(module.block_region(block)));
        while let Some(outer) = around {
            if outer == op {
                return true;
            }
            around = module.parent_op(outer);
        }
        false
    }

    /// `neap.yield` of a body gives the operation's data results.
    fn yields(&mut self, op: OpId, body: BlockId) {
        let module = self.module;
        let wanted = self.data_result_types(op);
        match module.terminator(body).filter(|last| module.op_name(*last) == "neap.yield") {
            Some(last) => {
                let found = self.data_operand_types(last);
                self.expect_types(last, "the yielded values", &found, "the operation", &wanted);
            }
            None if wanted.is_empty() && module.op_name(op) != "neap.fused" => {}
            None => {
                self.error(op, "the body must end in `neap.yield`");
            }
        }
    }

    fn yield_op(&mut self, op: OpId) {
        let module = self.module;
        if !module.parent_op(op).is_some_and(|parent| module.op_name(parent).starts_with("neap.")) {
            self.error(op, "must stand in the body of one of neap's own operations");
        }
        if !module.results(op).is_empty() {
            self.error(op, "has no results");
        }
    }

    fn if_op(&mut self, op: OpId) {
        let module = self.module;
        let operands = self.data_operand_types(op);
        if !operands.first().is_some_and(|ty| self.is_truth(*ty)) {
            self.error(op, "operand 0 decides: it must be `i1` or a tensor of one `i1`");
        }
        let regions = module.op_regions(op).len();
        if regions > 2 || (regions == 1 && !module.data_results(op).is_empty()) {
            self.error(op, "has one region or two; with results, two");
        }
        for at in 0..regions {
            self.body(op, at, 0, operands.get(1..).unwrap_or(&[]), true);
        }
    }

    fn while_op(&mut self, op: OpId) {
        let module = self.module;
        let operands = self.data_operand_types(op);
        let results = self.data_result_types(op);
        self.expect_types(op, "the results", &results, "the list of operands", &operands);
        match module.op_regions(op).len() {
            0 => return,
            2 => {}
            _ => {
                self.error(op, "has two regions: the condition and the body");
                return;
            }
        }
        self.body(op, 1, 0, &operands, true);
        self.body(op, 0, 0, &operands, false);
        let decides = module.region_blocks(op, 0).first().and_then(|block| module.terminator(*block));
        let given =
            decides.filter(|last| module.op_name(*last) == "neap.yield").map(|last| self.data_operand_types(last));
        if !matches!(given.as_deref(), Some([ty]) if self.is_truth(*ty)) {
            self.error(op, "the condition must yield one value, `i1` or a tensor of one `i1`");
        }
    }

    fn for_op(&mut self, op: OpId) {
        let operands = self.data_operand_types(op);
        let Some((_, carried)) = operands.split_first() else {
            self.error(op, "operand 0 is the number of trips");
            return;
        };
        let results = self.data_result_types(op);
        self.expect_types(op, "the results", &results, "the list of operands after the first", carried);
        match self.module.op_regions(op).len() {
            0 => {}
            1 => self.body(op, 0, 1, carried, true),
            _ => {
                self.error(op, "has one region, the body");
            }
        }
    }

    /// A body with one block: its arguments after `lead` of its own are the values bound, or none where it reads them from outside.
    fn body(&mut self, op: OpId, region: usize, lead: usize, bound: &[Ty], yields: bool) {
        let [block] = self.module.region_blocks(op, region) else {
            self.error(op, format!("region {region} must have one block"));
            return;
        };
        let args = self.types_of(self.module.block_args(*block).iter().copied());
        let args: Vec<Ty> = args.into_iter().filter(|ty| !self.is_token_ty(*ty)).collect();
        let captures = args.is_empty() && self.module.op_name(op) == "neap.if";
        if !captures {
            let own = args.get(lead..).unwrap_or(&[]).to_vec();
            self.expect_types(op, &format!("the arguments of region {region}"), &own, "the list of operands", bound);
        }
        if yields {
            self.yields(op, *block);
        }
    }

    pub(super) fn is_token_ty(&self, ty: Ty) -> bool {
        matches!(self.module.ty(ty), Type::Dialect(text) if &**text == "neap.token")
    }

    /// `i1` or a tensor of it with one element.
    fn is_truth(&self, ty: Ty) -> bool {
        match self.module.ty(ty) {
            Type::Integer { width: 1, sign: Sign::None } => true,
            Type::Tensor { shape, elem, .. } => {
                let one = shape.as_ref().is_none_or(|shape| {
                    shape.iter().all(|dim| matches!(dim, crate::types::Dim::Known(1) | crate::types::Dim::Dynamic))
                });
                one && self.is_truth(*elem)
            }
            _ => false,
        }
    }
}
