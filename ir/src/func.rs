//! Functions: what `func.func` keeps in its attributes, by name.

use crate::attr::Attr;
use crate::module::{Attrs, Module, OpId, OpSpec, ValueId};
use crate::types::{Ty, Type};

impl Module {
    /// The symbol name of a function, a variable, an arena or any other symbol.
    pub fn sym_name(&self, op: OpId) -> Option<&str> {
        self.attr(op, "sym_name").and_then(Attr::as_str)
    }

    /// Makes an empty function at the end of the module body: one block with the arguments, no terminator.
    pub fn create_func(&mut self, name: &str, inputs: &[Ty], results: &[Ty]) -> OpId {
        let function = Type::Function { inputs: inputs.to_vec(), results: results.to_vec() };
        let function = self.intern_ty(function);
        let op = self.create(OpSpec { name: "func.func", ..OpSpec::default() });
        self.set_prop(op, "function_type", Attr::Type(function));
        self.set_prop(op, "sym_name", Attr::str(name));
        let region = self.add_region(op);
        self.add_block(region, inputs);
        let body = self.body();
        self.append(body, op);
        op
    }

    /// Arguments of a function.
    pub fn func_args(&self, func: OpId) -> &[ValueId] {
        self.entry(func).map_or(&[], |block| self.block_args(block))
    }

    /// Argument and result types of a function.
    pub fn func_types(&self, func: OpId) -> Option<(&[Ty], &[Ty])> {
        match self.attr(func, "function_type") {
            Some(Attr::Type(ty)) => match self.ty(*ty) {
                Type::Function { inputs, results } => Some((inputs, results)),
                _ => None,
            },
            _ => None,
        }
    }

    /// An attribute of argument `index`.
    pub fn arg_attr(&self, func: OpId, index: usize, key: &str) -> Option<&Attr> {
        self.indexed_attr(func, "arg_attrs", index, key)
    }

    /// An attribute of result `index`.
    pub fn result_attr(&self, func: OpId, index: usize, key: &str) -> Option<&Attr> {
        self.indexed_attr(func, "res_attrs", index, key)
    }

    /// Sets (or with `None` removes) an attribute of argument `index`.
    pub fn set_arg_attr(&mut self, func: OpId, index: usize, key: &str, value: Option<Attr>) {
        let count = self.func_types(func).map_or(0, |(inputs, _)| inputs.len());
        self.set_indexed_attr(func, "arg_attrs", count, index, key, value);
    }

    /// Sets (or with `None` removes) an attribute of result `index`.
    pub fn set_result_attr(&mut self, func: OpId, index: usize, key: &str, value: Option<Attr>) {
        let count = self.func_types(func).map_or(0, |(_, results)| results.len());
        self.set_indexed_attr(func, "res_attrs", count, index, key, value);
    }

    fn indexed_attr(&self, func: OpId, list: &str, index: usize, key: &str) -> Option<&Attr> {
        let Some(Attr::Array(dicts)) = self.attr(func, list) else { return None };
        let Some(Attr::Dict(dict)) = dicts.get(index) else { return None };
        let key = self.names().get(key)?;
        dict.iter().find(|(name, _)| *name == key).map(|(_, value)| value)
    }

    fn set_indexed_attr(&mut self, func: OpId, list: &str, count: usize, index: usize, key: &str, value: Option<Attr>) {
        let mut dicts = match self.remove_attr(func, list) {
            Some(Attr::Array(dicts)) => dicts,
            _ => Vec::new(),
        };
        dicts.resize(count.max(index + 1), Attr::Dict(Attrs::new()));
        if let Attr::Dict(dict) = &mut dicts[index] {
            let name = self.intern(key);
            dict.retain(|(old, _)| *old != name);
            if let Some(value) = value {
                let at = dict.partition_point(|(old, _)| self.text(*old) < key);
                dict.insert(at, (name, value));
            }
        }
        if dicts.iter().any(|dict| !matches!(dict, Attr::Dict(items) if items.is_empty())) {
            self.set_prop(func, list, Attr::Array(dicts));
        }
    }
}
