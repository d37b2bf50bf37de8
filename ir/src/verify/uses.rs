//! Rule 5: operands and use lists agree. A breach is a bug of the program, not of the input.

use super::Verifier;
use crate::module::{Def, OpId, ValueId};
use crate::table::{Table, value_number};

impl Verifier<'_> {
    /// Checks the use lists of all values of operations: the first one and all below it.
    pub(super) fn uses(&mut self, ops: &[OpId]) {
        let module = self.module;
        let mut read = Table::of_values(module, ops[0], 0usize);
        for op in ops {
            for value in module.operands(*op) {
                read[value_number(value)] += 1;
            }
        }
        for op in ops {
            for (at, value) in module.results(*op).iter().enumerate() {
                self.use_list(*op, *value, Def::Result(*op, at as u32), read[value_number(*value)]);
            }
            for region in module.op_regions(*op) {
                for block in module.blocks(*region) {
                    for (at, value) in module.block_args(*block).iter().enumerate() {
                        self.use_list(*op, *value, Def::Arg(*block, at as u32), read[value_number(*value)]);
                    }
                }
            }
        }
    }

    fn use_list(&mut self, op: OpId, value: ValueId, def: Def, read: usize) {
        let module = self.module;
        let uses = module.value(value).uses();
        let real =
            |op: OpId, at: u32| module.operand_count(op) > at as usize && module.operand(op, at as usize) == value;
        let wrong = uses.len() != read || uses.iter().any(|usage| !real(usage.op, usage.operand));
        if wrong || module.value(value).def() != def {
            let name = self.value_name(value);
            self.error(op, format!("the list of uses of `{name}` does not agree with the operands in the module"));
        }
    }
}
