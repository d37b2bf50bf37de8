//! What people call values and operations: the model's own names where it has them, else what stands in the text.

use neap_ir::module::Def;
use neap_ir::{Attr, Module, OpId, ValueId};

/// The name of a value: the model's own, else its SSA name, else which result of what it is.
pub fn value_name(module: &Module, value: ValueId) -> String {
    let def = module.value(value).def();
    if let Some(name) = model_name(module, def) {
        return name;
    }
    let ssa = module.value(value).name.map(|name| module.text(name));
    match (ssa, def) {
        (Some(name), Def::Result(op, index)) if module.results(op).len() > 1 => format!("%{name}#{index}"),
        (Some(name), _) => format!("%{name}"),
        (None, Def::Result(op, index)) => format!("result {index} of `{}`", module.op_name(op)),
        (None, Def::Arg(_, index)) => format!("argument {index}"),
    }
}

/// The name of an operation: the model's own, else its kind with the first value that it makes.
pub fn op_name(module: &Module, op: OpId) -> String {
    let kind = module.op_name(op);
    if let Some(name) = module.attr(op, "neap.name").and_then(Attr::as_str).filter(|name| !name.is_empty()) {
        return format!("`{kind}` ({name})");
    }
    let named = |value: &&ValueId| {
        let value = module.value(**value);
        value.name.is_some() || model_name(module, value.def()).is_some()
    };
    let first = module.results(op).first().filter(named);
    match first {
        Some(value) => format!("`{kind}` ({})", value_name(module, *value)),
        None => format!("`{kind}`"),
    }
}

/// None, too, where the model's name is the empty one: nobody can call it by that.
fn model_name(module: &Module, def: Def) -> Option<String> {
    let name = match def {
        Def::Result(op, index) => match module.attr(op, "neap.names") {
            Some(Attr::Array(names)) => names.get(index as usize),
            _ => module.attr(op, "neap.name").filter(|_| module.data_results(op).len() == 1),
        },
        Def::Arg(block, index) => {
            let func = module.region_op(module.block_region(block));
            let entry = module.entry(func) == Some(block);
            if entry { module.arg_attr(func, index as usize, "neap.name") } else { None }
        }
    };
    name?.as_str().filter(|name| !name.is_empty()).map(str::to_owned)
}
