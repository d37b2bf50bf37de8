//! What the names in one isolated region rule out: numbers that are taken, and names that belong to a value read before its definition.

use super::names::{index, is_isolated};
use crate::module::{BlockId, Module, OpId, RegionId, ValueId};
use crate::name::Name;
use rustc_hash::FxHashMap;

/// Counters and owners of one isolated region.
#[derive(Default)]
pub(super) struct Reserved {
    next_number: u32,
    next_arg: u32,
    owners: FxHashMap<Name, ValueId>,
}

enum Step {
    Ops(Option<OpId>),
    Block(BlockId),
    Region(RegionId),
    Results(OpId),
}

impl Reserved {
    /// Of the regions of an isolated operation, isolated ones below it not included. `defined` says of each value of the module whether
    /// it was met; every value is defined in one isolated region, so the table serves all of them.
    pub(super) fn of(module: &Module, op: OpId, defined: &mut [bool]) -> Reserved {
        let mut reserved = Reserved::default();
        let mut stack: Vec<Step> = module.op_regions(op).iter().rev().map(|region| Step::Region(*region)).collect();
        while let Some(step) = stack.pop() {
            match step {
                Step::Ops(None) => {}
                Step::Ops(Some(op)) => {
                    stack.push(Step::Ops(module.op(op).next()));
                    reserved.reads(module, op, defined);
                    if module.op_regions(op).is_empty() || is_isolated(module, op) {
                        reserved.defines(module, module.results(op), defined);
                    } else {
                        stack.push(Step::Results(op));
                        stack.extend(module.op_regions(op).iter().rev().map(|region| Step::Region(*region)));
                    }
                }
                Step::Block(block) => {
                    reserved.defines(module, module.block_args(block), defined);
                    stack.push(Step::Ops(module.block_ops(block).next()));
                }
                Step::Region(region) => {
                    stack.extend(module.blocks(region).iter().rev().map(|block| Step::Block(*block)));
                }
                Step::Results(op) => reserved.defines(module, module.results(op), defined),
            }
        }
        reserved
    }

    /// The next free number.
    pub(super) fn number(&mut self) -> u32 {
        self.next_number += 1;
        self.next_number - 1
    }

    /// The next free number after `arg`.
    pub(super) fn arg(&mut self) -> u32 {
        self.next_arg += 1;
        self.next_arg - 1
    }

    /// Whether a pack of values may have a name.
    pub(super) fn allows(&self, name: Name, values: &[ValueId]) -> bool {
        self.owners.is_empty() || self.owners.get(&name).is_none_or(|owner| values.contains(owner))
    }

    fn reads(&mut self, module: &Module, op: OpId, defined: &[bool]) {
        for value in module.operands(op) {
            if !defined[index(value)]
                && let Some(name) = module.value(value).name
            {
                self.owners.entry(name).or_insert(value);
            }
        }
    }

    fn defines(&mut self, module: &Module, values: &[ValueId], defined: &mut [bool]) {
        for value in values {
            defined[index(*value)] = true;
            let Some(name) = module.value(*value).name else { continue };
            let text = module.text(name);
            if let Some(number) = number(text) {
                self.next_number = self.next_number.max(number + 1);
            } else if let Some(number) = text.strip_prefix("arg").and_then(number) {
                self.next_arg = self.next_arg.max(number + 1);
            }
        }
    }
}

/// A number that generated ones could reach.
fn number(text: &str) -> Option<u32> {
    if !text.bytes().next().is_some_and(|first| first.is_ascii_digit()) {
        return None;
    }
    text.parse().ok().filter(|number| *number < u32::MAX / 2)
}
