//! What operations and values are called in messages: the model's own names first.

use neap_ir::{Attr, Def, Module, OpId, ValueId};

/// An operation: its `neap.name`, else its kind with the first result.
pub(crate) fn op(module: &Module, op: OpId) -> String {
    let kind = module.op_name(op);
    if let Some(name) = module.attr(op, "neap.name").and_then(Attr::as_str).filter(|name| !name.is_empty()) {
        return format!("`{name}` ({kind})");
    }
    match module.results(op).first().and_then(|value| module.value(*value).name) {
        Some(name) => format!("`{kind}` (`%{}`)", module.text(name)),
        None => format!("`{kind}`"),
    }
}

/// A value: its `neap.names` entry, else its SSA name, else where it comes from.
pub(crate) fn value(module: &Module, value: ValueId) -> String {
    let given = match module.value(value).def() {
        Def::Result(op, index) => match module.attr(op, "neap.names") {
            Some(Attr::Array(list)) => list.get(index as usize).and_then(Attr::as_str),
            _ => None,
        },
        Def::Arg(block, index) => {
            let func = module.region_op(module.block_region(block));
            let entry = module.entry(func) == Some(block);
            if entry { module.arg_attr(func, index as usize, "neap.name").and_then(Attr::as_str) } else { None }
        }
    };
    let given = given.filter(|name| !name.is_empty());
    let ssa = module.value(value).name.map(|name| module.text(name));
    match (given, ssa) {
        (Some(given), Some(ssa)) if given != ssa => format!("`{given}` (`%{ssa}`)"),
        (Some(given), _) => format!("`{given}`"),
        (None, Some(ssa)) => match module.value(value).def() {
            Def::Result(op, index) if module.results(op).len() > 1 && index > 0 => format!("`%{ssa}` #{index}"),
            _ => format!("`%{ssa}`"),
        },
        (None, None) => match module.value(value).def() {
            Def::Result(def, index) => format!("result {index} of {}", op(module, def)),
            Def::Arg(_, index) => format!("argument {index}"),
        },
    }
}

/// A function's symbol.
pub(crate) fn func(module: &Module, func: OpId) -> String {
    format!("@{}", module.sym_name(func).unwrap_or("?"))
}
