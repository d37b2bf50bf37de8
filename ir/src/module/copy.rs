//! Copies of operations, bodies included.

use super::{BlockId, Module, OpId, ValueId};
use rustc_hash::FxHashMap;

impl Module {
    /// A detached copy of an operation with all it holds. It reads what the original reads from around it, and its own values and blocks where the
    /// original reads its own; attributes, types, names and places are the original's. Iterative: nesting depth costs no stack.
    pub fn copy(&mut self, op: OpId) -> OpId {
        let mut made = Copies::default();
        let root = self.copy_shell(op, &mut made);
        let mut open = vec![(op, root)];
        while let Some((from, to)) = open.pop() {
            let regions = self.ops[from].regions.clone();
            for region in regions {
                let new = self.add_region(to);
                let blocks = self.regions[region].blocks.clone();
                // All blocks of a region before their contents: branches lead forward too.
                let pairs: Vec<(BlockId, BlockId)> =
                    blocks.into_iter().map(|block| (block, self.copy_block(block, new, &mut made))).collect();
                for (block, twin) in pairs {
                    for inner in self.block_ops(block).collect::<Vec<_>>() {
                        let copy = self.copy_shell(inner, &mut made);
                        self.append(twin, copy);
                        open.push((inner, copy));
                    }
                }
            }
        }
        for (from, to) in made.ops.clone() {
            for value in self.operands(from).collect::<Vec<_>>() {
                self.push_operand(to, made.values.get(&value).copied().unwrap_or(value));
            }
            let successors = self.ops[from].successors.clone();
            for block in successors {
                self.push_successor(to, made.blocks.get(&block).copied().unwrap_or(block));
            }
        }
        root
    }

    /// A copy without operands, successors and bodies.
    fn copy_shell(&mut self, op: OpId, made: &mut Copies) -> OpId {
        let old = &self.ops[op];
        let mut new = super::Op::bare(old.name);
        (new.attrs, new.props) = (old.attrs.clone(), old.props.clone());
        (new.loc, new.span) = (old.loc.clone(), old.span);
        let results = old.results.to_vec();
        self.changes += 1;
        let copy = self.ops.alloc(new);
        for value in results {
            let (ty, name) = (self.values[value].ty, self.values[value].name);
            let twin = self.push_result(copy, ty);
            self.values[twin].name = name;
            made.values.insert(value, twin);
        }
        made.ops.push((op, copy));
        copy
    }

    fn copy_block(&mut self, block: BlockId, region: super::RegionId, made: &mut Copies) -> BlockId {
        let args = self.blocks[block].args.clone();
        let types: Vec<_> = args.iter().map(|arg| self.values[*arg].ty).collect();
        let twin = self.add_block(region, &types);
        self.blocks[twin].label = self.blocks[block].label;
        for (arg, new) in args.into_iter().zip(self.blocks[twin].args.clone()) {
            (self.values[new].name, self.values[new].loc) = (self.values[arg].name, self.values[arg].loc.clone());
            made.values.insert(arg, new);
        }
        made.blocks.insert(block, twin);
        twin
    }
}

/// What was copied to what.
#[derive(Default)]
struct Copies {
    ops: Vec<(OpId, OpId)>,
    values: FxHashMap<ValueId, ValueId>,
    blocks: FxHashMap<BlockId, BlockId>,
}

#[cfg(test)]
mod tests {
    use crate::{parse, print, print::PrintOptions, verify};

    #[test]
    fn a_copy_has_bodies_and_values_of_its_own() {
        let text = "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n  %b = \"neap.fused\"(%a) ({\n  ^bb0(%x: tensor<4xf32>):\n    \
                    %y = \"tosa.exp\"(%x) : (tensor<4xf32>) -> tensor<4xf32>\n    \
                    %z = \"my.loop\"(%y) ({\n      \"my.br\"(%y)[^bb2] : (tensor<4xf32>) -> ()\n    ^bb2:\n      \"my.end\"() : () -> ()\n    }) : (tensor<4xf32>) -> tensor<4xf32>\n    \
                    \"neap.yield\"(%z) : (tensor<4xf32>) -> ()\n  }) {k = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>\n  return %b : tensor<4xf32>\n}\n";
        let mut module = parse(text).unwrap_or_else(|errors| panic!("{errors:?}"));
        let func = module.functions()[0];
        let block = module.entry(func).expect("it has a body");
        let op = module.block_ops(block).next().expect("one operation");
        let before = module.walk(op).len();
        let twin = module.copy(op);
        module.insert_after(op, twin);
        let (old, new) = (module.results(op)[0], module.results(twin)[0]);
        module.replace_uses(old, new);
        verify(&module).unwrap_or_else(|errors| panic!("{errors:?}"));
        assert_eq!(module.walk(twin).len(), before);
        // The copy stands alone: without the original it is all there is.
        module.erase(op);
        verify(&module).unwrap_or_else(|errors| panic!("{errors:?}"));
        let options = PrintOptions::default();
        assert_eq!(
            print(&module, &options),
            print(&parse(text).unwrap_or_else(|errors| panic!("{errors:?}")), &options)
        );
    }
}
