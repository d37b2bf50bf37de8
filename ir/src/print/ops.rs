//! Operations, blocks and regions.

use super::PrintOptions;
use super::attrs::{self, dict, int, key, quoted, result_types, symbol, ty};
use super::names::{Names, Text};
use crate::attr::Attr;
use crate::loc::Loc;
use crate::module::{Attrs, BlockId, Module, OpId, RegionId, ValueId};
use crate::types::Ty;

/// What a function's sugar does not print among its attributes.
const FUNC_KEYS: &[&str] = &["arg_attrs", "function_type", "res_attrs", "sym_name", "sym_visibility"];

/// The state of one print.
pub(super) struct Printer<'a> {
    module: &'a Module,
    options: PrintOptions,
    names: Names,
    indent: usize,
    /// Whether the region that is being printed is the body of a function in custom form: only there MLIR reads `return`.
    in_func: bool,
    out: &'a mut String,
}

impl<'a> Printer<'a> {
    /// A printer that appends to a string.
    pub(super) fn new(module: &'a Module, options: PrintOptions, out: &'a mut String) -> Printer<'a> {
        Printer { module, options, names: Names::of(module), indent: 0, in_func: false, out }
    }

    /// Prints the top and the resources.
    pub(super) fn module(mut self) {
        self.op(self.module.top());
        self.out.push('\n');
        if let Some(resources) = &self.module.resources {
            self.out.push('\n');
            self.out.push_str(resources);
            self.out.push('\n');
        }
    }

    // ---- operations ---------------------------------------------------------------------------------

    fn op(&mut self, op: OpId) {
        self.results(op);
        let sugared = !self.options.generic && self.sugar(op);
        if !sugared {
            self.generic(op);
        }
        self.loc(&self.module.op(op).loc);
    }

    /// `%a, %b:2 = `.
    fn results(&mut self, op: OpId) {
        let results = self.module.results(op);
        let mut at = 0;
        while at < results.len() {
            let printed = self.names.value(results[at]);
            self.out.push_str(if at > 0 { ", %" } else { "%" });
            self.names.append(self.module, printed.text, self.out);
            if printed.count > 1 {
                self.out.push(':');
                int(printed.count, self.out);
            }
            at += printed.count as usize;
        }
        if !results.is_empty() {
            self.out.push_str(" = ");
        }
    }

    fn generic(&mut self, op: OpId) {
        let module = self.module;
        quoted(module.op_name(op).as_bytes(), self.out);
        self.out.push('(');
        self.operands(op);
        self.out.push(')');
        for (at, block) in module.successors(op).iter().enumerate() {
            self.out.push_str(if at == 0 { "[" } else { ", " });
            self.label(*block);
        }
        if !module.successors(op).is_empty() {
            self.out.push(']');
        }
        if let Some(props) = module.props(op) {
            self.out.push_str(" <");
            dict(module, props, self.out);
            self.out.push('>');
        }
        for (at, region) in module.op_regions(op).iter().enumerate() {
            self.out.push_str(if at == 0 { " (" } else { ", " });
            self.region(*region, true, false);
        }
        if !module.op_regions(op).is_empty() {
            self.out.push(')');
        }
        if !module.attrs(op).is_empty() {
            self.out.push(' ');
            dict(module, module.attrs(op), self.out);
        }
        self.out.push_str(" : (");
        self.types(module.operands(op));
        self.out.push_str(") -> ");
        match module.results(op) {
            [one] => result_types(module, &[module.value_ty(*one)], self.out),
            results => {
                self.out.push('(');
                self.types(results.iter().copied());
                self.out.push(')');
            }
        }
    }

    fn operands(&mut self, op: OpId) {
        for (at, value) in self.module.operands(op).enumerate() {
            if at > 0 {
                self.out.push_str(", ");
            }
            self.value(value);
        }
    }

    fn types(&mut self, values: impl Iterator<Item = ValueId>) {
        for (at, value) in values.enumerate() {
            if at > 0 {
                self.out.push_str(", ");
            }
            ty(self.module, self.module.value_ty(value), self.out);
        }
    }

    fn value(&mut self, value: ValueId) {
        let printed = self.names.value(value);
        self.out.push('%');
        self.names.append(self.module, printed.text, self.out);
        if printed.count > 1 {
            self.out.push('#');
            int(printed.number, self.out);
        }
    }

    fn label(&mut self, block: BlockId) {
        self.out.push('^');
        let text: Text = self.names.block(block);
        self.names.append(self.module, text, self.out);
    }

    fn loc(&mut self, loc: &Loc) {
        if self.options.locs && *loc != Loc::Unknown {
            self.out.push_str(" loc(");
            attrs::loc_body(self.module, loc, self.out);
            self.out.push(')');
        }
    }

    // ---- regions ------------------------------------------------------------------------------------

    /// `{ .. }`; `header` says whether the first block's arguments are printed, `func` whether it is the body of a function's sugar.
    fn region(&mut self, region: RegionId, header: bool, func: bool) {
        let outer = std::mem::replace(&mut self.in_func, func);
        self.out.push_str("{\n");
        for (at, block) in self.module.blocks(region).iter().enumerate() {
            let needed = at > 0
                || (header && !self.module.block_args(*block).is_empty())
                || (header && self.module.terminator(*block).is_none())
                || self.names.is_target(*block);
            self.block(*block, needed);
        }
        self.line_start();
        self.out.push('}');
        self.in_func = outer;
    }

    fn block(&mut self, block: BlockId, header: bool) {
        let module = self.module;
        if header {
            self.line_start();
            self.label(block);
            let args = module.block_args(block);
            for (at, arg) in args.iter().enumerate() {
                self.out.push_str(if at == 0 { "(" } else { ", " });
                self.typed_arg(*arg);
                self.loc(&module.value(*arg).loc);
            }
            self.out.push_str(if args.is_empty() { ":\n" } else { "):\n" });
        }
        self.indent += 2;
        for op in module.block_ops(block) {
            self.line_start();
            self.op(op);
            self.out.push('\n');
        }
        self.indent -= 2;
    }

    fn typed_arg(&mut self, arg: ValueId) {
        self.value(arg);
        self.out.push_str(": ");
        ty(self.module, self.module.value_ty(arg), self.out);
    }

    fn line_start(&mut self) {
        for _ in 0..self.indent {
            self.out.push(' ');
        }
    }

    // ---- sugar --------------------------------------------------------------------------------------

    /// Prints an operation in its custom form, if it has one and nothing would be lost.
    fn sugar(&mut self, op: OpId) -> bool {
        match self.module.op_name(op) {
            "builtin.module" if self.module_has_sugar(op) => self.module_op(op),
            "func.func" => match self.func_parts(op) {
                Some(parts) => self.func_op(op, &parts),
                None => return false,
            },
            "func.return" if self.return_has_sugar(op) => self.return_op(op),
            _ => return false,
        }
        true
    }

    fn bare(&self, op: OpId) -> bool {
        self.module.results(op).is_empty() && self.module.successors(op).is_empty()
    }

    fn return_has_sugar(&self, op: OpId) -> bool {
        self.in_func
            && self.bare(op)
            && self.module.op_regions(op).is_empty()
            && self.module.props(op).is_none_or(Vec::is_empty)
    }

    fn return_op(&mut self, op: OpId) {
        self.out.push_str("return");
        if !self.module.attrs(op).is_empty() {
            self.out.push(' ');
            dict(self.module, self.module.attrs(op), self.out);
        }
        if self.module.operands(op).len() == 0 {
            return;
        }
        self.out.push(' ');
        self.operands(op);
        self.out.push_str(" : ");
        self.types(self.module.operands(op));
    }

    fn module_has_sugar(&self, op: OpId) -> bool {
        let module = self.module;
        let known = |props: &Attrs| {
            props.iter().all(|(name, value)| match module.text(*name) {
                "sym_name" => value.as_str().is_some_and(|name| !name.is_empty()),
                "sym_visibility" => is_visibility(value),
                _ => false,
            })
        };
        self.bare(op)
            && module.operands(op).len() == 0
            && module.props(op).is_none_or(known)
            && module.op_regions(op).len() == 1
            && matches!(module.region_blocks(op, 0), [body] if module.block_args(*body).is_empty() && !self.names.is_target(*body))
            && !self.has_key(op, &["sym_name", "sym_visibility"])
    }

    /// Whether a discardable attribute has one of the keys.
    fn has_key(&self, op: OpId, keys: &[&str]) -> bool {
        self.module.attrs(op).iter().any(|(name, _)| keys.contains(&self.module.text(*name)))
    }

    fn module_op(&mut self, op: OpId) {
        self.out.push_str("module");
        self.visibility(op);
        if let Some(name) = self.module.sym_name(op) {
            self.out.push(' ');
            symbol(name, self.out);
        }
        if !self.module.attrs(op).is_empty() {
            self.out.push_str(" attributes ");
            dict(self.module, self.module.attrs(op), self.out);
        }
        self.out.push(' ');
        self.region(self.module.op_regions(op)[0], false, false);
    }

    fn visibility(&mut self, op: OpId) {
        if let Some(visibility) = self.module.attr(op, "sym_visibility").and_then(Attr::as_str) {
            self.out.push(' ');
            self.out.push_str(visibility);
        }
    }

    fn func_op(&mut self, op: OpId, parts: &FuncParts<'a>) {
        let module = self.module;
        self.out.push_str("func.func");
        self.visibility(op);
        self.out.push(' ');
        symbol(parts.name, self.out);
        self.out.push('(');
        let args = module.func_args(op);
        for (at, input) in parts.inputs.iter().enumerate() {
            if at > 0 {
                self.out.push_str(", ");
            }
            match args.get(at) {
                Some(arg) => self.typed_arg(*arg),
                None => ty(module, *input, self.out),
            }
            self.trailing_dict(parts.arg_attrs.and_then(|dicts| dicts.get(at)));
            if let Some(arg) = args.get(at) {
                self.loc(&module.value(*arg).loc);
            }
        }
        self.out.push(')');
        self.func_results(parts);
        self.func_attributes(op);
        if parts.has_body {
            self.out.push(' ');
            self.region(module.op_regions(op)[0], false, true);
        }
    }

    fn trailing_dict(&mut self, attr: Option<&Attr>) {
        if let Some(Attr::Dict(items)) = attr
            && !items.is_empty()
        {
            self.out.push(' ');
            dict(self.module, items, self.out);
        }
    }

    fn func_results(&mut self, parts: &FuncParts<'_>) {
        if parts.results.is_empty() {
            return;
        }
        self.out.push_str(" -> ");
        let plain = |attr: &Attr| matches!(attr, Attr::Dict(items) if items.is_empty());
        if parts.res_attrs.is_none_or(|dicts| dicts.iter().all(plain)) {
            result_types(self.module, parts.results, self.out);
            return;
        }
        for (at, result) in parts.results.iter().enumerate() {
            self.out.push_str(if at == 0 { "(" } else { ", " });
            ty(self.module, *result, self.out);
            self.trailing_dict(parts.res_attrs.and_then(|dicts| dicts.get(at)));
        }
        self.out.push(')');
    }

    /// `attributes {..}`: everything that has no place of its own, sorted.
    fn func_attributes(&mut self, op: OpId) {
        let module = self.module;
        let props = module.props(op).into_iter().flatten();
        let mut rest: Vec<_> =
            props.chain(module.attrs(op)).filter(|(name, _)| !FUNC_KEYS.contains(&module.text(*name))).collect();
        if rest.is_empty() {
            return;
        }
        rest.sort_by(|a, b| module.text(a.0).cmp(module.text(b.0)));
        self.out.push_str(" attributes {");
        for (at, (name, value)) in rest.into_iter().enumerate() {
            if at > 0 {
                self.out.push_str(", ");
            }
            key(module.text(*name), self.out);
            if *value != Attr::Unit {
                self.out.push_str(" = ");
                attrs::attr(module, value, false, self.out);
            }
        }
        self.out.push('}');
    }

    /// The parts of a function that can be printed in its custom form.
    fn func_parts(&self, op: OpId) -> Option<FuncParts<'a>> {
        let module = self.module;
        let (inputs, results) = module.func_types(op)?;
        let name = module.sym_name(op).filter(|name| !name.is_empty())?;
        let [region] = module.op_regions(op) else { return None };
        let has_body = !module.blocks(*region).is_empty();
        let args = module.func_args(op).iter().map(|arg| module.value_ty(*arg));
        let entry = module.entry(op);
        let entry_fits = match entry {
            Some(entry) => {
                args.eq(inputs.iter().copied()) && !self.names.is_target(entry) && module.terminator(entry).is_some()
            }
            None => true,
        };
        let inherent =
            module.props(op).is_none_or(|props| props.iter().all(|(name, _)| self.is_func_key(module.text(*name))));
        let visible = module.attr(op, "sym_visibility").is_none_or(is_visibility);
        let plain = self.bare(op)
            && module.operands(op).len() == 0
            && !self.has_key(op, FUNC_KEYS)
            && !self.has_key(op, &["no_inline"]);
        if !(entry_fits && inherent && visible && plain) {
            return None;
        }
        let arg_attrs = dicts(module.attr(op, "arg_attrs"), inputs.len())?;
        let res_attrs = dicts(module.attr(op, "res_attrs"), results.len())?;
        Some(FuncParts { name, inputs, results, arg_attrs, res_attrs, has_body })
    }

    fn is_func_key(&self, key: &str) -> bool {
        key == "no_inline" || FUNC_KEYS.contains(&key)
    }
}

/// What a function's custom form is made of.
struct FuncParts<'a> {
    name: &'a str,
    inputs: &'a [Ty],
    results: &'a [Ty],
    arg_attrs: Option<&'a [Attr]>,
    res_attrs: Option<&'a [Attr]>,
    has_body: bool,
}

fn is_visibility(value: &Attr) -> bool {
    matches!(value.as_str(), Some("public" | "private" | "nested")) && matches!(value, Attr::Str(_))
}

/// One dictionary per argument or result, or none at all; `None` if it is anything else.
fn dicts(attr: Option<&Attr>, count: usize) -> Option<Option<&[Attr]>> {
    match attr {
        None => Some(None),
        Some(Attr::Array(items)) if items.len() == count && items.iter().all(|item| matches!(item, Attr::Dict(_))) => {
            Some(Some(items))
        }
        _ => None,
    }
}
