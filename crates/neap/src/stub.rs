//! `--dialect-stub`: conservative rows for the operations that no table knows, to be filled in and read back with `--dialect`.

use crate::cli::Common;
use crate::drive::Setup;
use crate::outputs::Output;
use neap_ir::Module;
use neap_ir::facts::{Facts, stub};
use std::collections::BTreeSet;

/// The file, if it was asked for.
pub fn file<'m>(common: &Common, setup: &Setup, modules: impl Iterator<Item = &'m Module>) -> Option<Output> {
    let path = common.dialect_stub.clone()?;
    let mut names = BTreeSet::new();
    for module in modules {
        names.extend(unknown(module, &setup.facts));
    }
    Some(Output { path, bytes: stub(names.iter().map(String::as_str)).into_bytes() })
}

/// Names of operations in functions about which nothing is known, once per operation.
pub fn unknown(module: &Module, facts: &Facts) -> Vec<String> {
    let ops = module.functions().into_iter().flat_map(|func| module.walk(func));
    ops.map(|op| module.op_name(op)).filter(|name| facts.get(name).is_none()).map(str::to_owned).collect()
}
