//! What a flag calls a value: the model's own name, or the SSA name with `%` (and `#1` for a further result).
//!
//! A name that several values have is refused, since a flag that hits the wrong one is worse than none; `@function/NAME` says which
//! function is meant.

use crate::exit::Failure;
use neap_ir::{Attr, Def, Module, ValueId};
use neap_passes::suggest::closest;
use std::collections::BTreeMap;

/// All names of values in a module.
pub(crate) struct Names(BTreeMap<String, Vec<ValueId>>);

impl Names {
    /// Finds all names of arguments and results.
    pub(super) fn of(module: &Module) -> Names {
        Names::collect(module, false)
    }

    /// The same with the arguments of bodies.
    pub(crate) fn with_bodies(module: &Module) -> Names {
        Names::collect(module, true)
    }

    fn collect(module: &Module, bodies: bool) -> Names {
        let mut names = Names(BTreeMap::new());
        for func in module.functions() {
            let prefix = format!("@{}/", module.sym_name(func).unwrap_or_default());
            let mut values = module.func_args(func).to_vec();
            for op in module.walk(func) {
                values.extend_from_slice(module.data_results(op));
                let blocks = module.op_regions(op).iter().filter(|_| bodies).flat_map(|region| module.blocks(*region));
                blocks.for_each(|block| values.extend_from_slice(module.block_args(*block)));
            }
            for value in values {
                let spellings = [model_name(module, value), ssa_name(module, value)];
                let spellings: Vec<String> = spellings.into_iter().flatten().collect();
                for name in spellings {
                    names.0.entry(format!("{prefix}{name}")).or_default().push(value);
                    names.0.entry(name).or_default().push(value);
                }
            }
        }
        names
    }

    /// The one value of a name that a flag gives.
    pub(super) fn find(&self, module: &Module, flag: &str, name: &str) -> Result<ValueId, Failure> {
        self.named(module, name).map_err(|(message, help)| {
            let failure = Failure::usage(format!("`{flag} {name}`: {message}"));
            match help {
                Some(help) => failure.help(help),
                None => failure,
            }
        })
    }

    /// The one value of a name; else why there is none, and what to try.
    pub(crate) fn named(&self, module: &Module, name: &str) -> Result<ValueId, (String, Option<String>)> {
        let sigil = match name.split_once('/') {
            Some((function, name)) if function.starts_with('@') => format!("{function}/%{name}"),
            _ => format!("%{name}"),
        };
        match self.0.get(name).or_else(|| self.0.get(&sigil)).map(Vec::as_slice) {
            Some([value]) => Ok(*value),
            Some(several) => {
                let places: Vec<String> = several.iter().map(|value| place(module, *value)).collect();
                let message = format!("{} values have this name: {}", several.len(), places.join(", "));
                Err((message, Some("use the SSA name, or `@function/NAME`".to_owned())))
            }
            None => {
                let help = match closest(name, self.0.keys().map(String::as_str)) {
                    Some(close) => format!("did you mean `{close}`?"),
                    None => "names are the model's own, or SSA names like `%3` and `%3#1`".to_owned(),
                };
                Err(("there is no value of this name".to_owned(), Some(help)))
            }
        }
    }

    /// The value that a name stands for, if there is exactly one.
    pub(super) fn get(&self, name: &str) -> Option<ValueId> {
        match self.0.get(name).or_else(|| self.0.get(&format!("%{name}"))).map(Vec::as_slice) {
            Some([value]) => Some(*value),
            _ => None,
        }
    }
}

fn place(module: &Module, value: ValueId) -> String {
    let mut around = match module.value(value).def() {
        Def::Result(op, _) => module.parent_op(op),
        Def::Arg(block, _) => Some(module.region_op(module.block_region(block))),
    };
    while let Some(op) = around.filter(|op| module.op_name(*op) != "func.func") {
        around = module.parent_op(op);
    }
    let func = around.and_then(|func| module.sym_name(func)).unwrap_or_default();
    format!("@{func}/{}", ssa_name(module, value).unwrap_or_default())
}

fn ssa_name(module: &Module, value: ValueId) -> Option<String> {
    let name = module.text(module.value(value).name?);
    Some(match module.value(value).def() {
        Def::Result(op, index) if module.results(op).len() > 1 => format!("%{name}#{index}"),
        _ => format!("%{name}"),
    })
}

fn model_name(module: &Module, value: ValueId) -> Option<String> {
    let attr = match module.value(value).def() {
        Def::Arg(block, index) => {
            let func = module.region_op(module.block_region(block));
            module.arg_attr(func, index as usize, "neap.name")?
        }
        Def::Result(op, index) => match module.attr(op, "neap.names") {
            Some(Attr::Array(names)) => names.get(index as usize)?,
            _ if module.data_results(op).len() == 1 => module.attr(op, "neap.name")?,
            _ => return None,
        },
    };
    attr.as_str().filter(|name| !name.is_empty()).map(str::to_owned)
}
