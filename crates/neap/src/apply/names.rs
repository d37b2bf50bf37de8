//! What a flag calls a value: the model's own name, or the SSA name with `%` (and `#1` for a further result).
//!
//! A name that several values have is refused, since a flag that hits the wrong one is worse than none; `@function/NAME` says which
//! function is meant.

use crate::exit::Failure;
use neap_ir::facts::{Facts, Run};
use neap_ir::loc::Loc;
use neap_ir::{Attr, Def, Module, OpId, ValueId};
use neap_passes::callees::facts_of;
use neap_passes::suggest::closest;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// All names of values in a module.
pub(crate) struct Names(BTreeMap<String, Vec<ValueId>>);

impl Names {
    /// Finds all names of arguments and results.
    pub(super) fn of(module: &Module) -> Names {
        Names::collect(module, None)
    }

    /// The same with the arguments of bodies, without what is made inside of kernels: that lies nowhere, and of a fused operation the last one inside
    /// has the name of its result.
    pub(crate) fn of_placed(module: &Module, facts: &Facts) -> Names {
        Names::collect(module, Some(facts))
    }

    fn collect(module: &Module, placed: Option<&Facts>) -> Names {
        let mut names = Names(BTreeMap::new());
        let mut inside: FxHashSet<OpId> = FxHashSet::default();
        for func in module.functions() {
            let prefix = format!("@{}/", module.sym_name(func).unwrap_or_default());
            let mut values = module.func_args(func).to_vec();
            for op in module.walk(func) {
                let within = module.parent_op(op).is_some_and(|around| inside.contains(&around));
                if within || placed.is_some_and(|facts| facts_of(module, facts, op).body.run == Run::Kernel) {
                    inside.insert(op);
                }
                if within {
                    continue;
                }
                values.extend_from_slice(module.data_results(op));
                let bodies = placed.is_some() && !inside.contains(&op);
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

    /// Of the values that share a name with others of their function, as values of different bodies may: which one each is, in the order of the source.
    /// Names are the model's where `modelled`, else SSA names.
    pub(crate) fn twins(&self, module: &Module, modelled: bool) -> FxHashMap<ValueId, usize> {
        let shared = self.0.iter().filter(|(name, values)| name.starts_with('@') && values.len() > 1);
        let own = |value: &ValueId| match model_name(module, *value).filter(|_| modelled) {
            Some(name) => Some(name),
            None => ssa_name(module, *value),
        };
        let lists = shared.filter_map(|(full, values)| {
            let (_, name) = full.split_once('/')?;
            let all = values.iter().all(|value| own(value).as_deref() == Some(name));
            in_order(module, values).filter(|_| all)
        });
        lists.flat_map(|values| values.into_iter().enumerate().map(|(at, value)| (value, at))).collect()
    }

    /// The value of a name that several have, by its number in the order of the source.
    pub(crate) fn twin(&self, module: &Module, name: &str, number: usize) -> Option<ValueId> {
        in_order(module, self.0.get(name)?)?.get(number).copied()
    }

    /// The value that a name stands for, if there is exactly one.
    pub(super) fn get(&self, name: &str) -> Option<ValueId> {
        match self.0.get(name).or_else(|| self.0.get(&format!("%{name}"))).map(Vec::as_slice) {
            Some([value]) => Some(*value),
            _ => None,
        }
    }
}

/// Values in the order of the source; none where nothing tells them apart.
fn in_order(module: &Module, values: &[ValueId]) -> Option<Vec<ValueId>> {
    let mut keyed: Vec<_> = values.iter().map(|value| (source_path(module, *value), *value)).collect();
    keyed.sort();
    let apart = keyed.windows(2).all(|pair| pair[0].0 != pair[1].0);
    apart.then(|| keyed.into_iter().map(|(_, value)| value).collect())
}

/// Where a value stands in the source, from the function down, whatever order a plan runs in: each operation by its place in the text or in
/// the file and by what it makes, with the number of the region in it; at the end the number of the result or of the block's argument.
fn source_path(module: &Module, value: ValueId) -> Vec<(u32, String, String, usize)> {
    let step = |op: OpId, number: usize| {
        let made = module.results(op).first().and_then(|value| model_name(module, *value));
        let place = match &module.op(op).loc {
            Loc::File(place) => place.to_string(),
            _ => String::new(),
        };
        (module.op(op).span.start, place, made.unwrap_or_default(), number)
    };
    let (mut path, mut inner) = match module.value(value).def() {
        Def::Result(op, index) => (vec![step(op, index as usize)], module.parent_block(op)),
        Def::Arg(block, index) => (vec![(0, String::new(), String::new(), index as usize)], Some(block)),
    };
    while let Some(block) = inner {
        let region = module.block_region(block);
        let op = module.region_op(region);
        path.push(step(op, module.op_regions(op).iter().position(|other| *other == region).unwrap_or(0)));
        inner = module.parent_block(op);
    }
    path.reverse();
    path
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
