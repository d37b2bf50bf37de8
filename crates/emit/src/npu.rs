//! NPU schedules: the ids of the graph's file in the order in which they run, and what is resident meanwhile.
//!
//! The schedule of a planned module is the order of its operations; a buffer's `ALLOC` stands right before the first operation that touches it and its `FREE`
//! right behind the last, which is what the plan's live ranges mean. All else is written from a plan of ids and what its replay found.

use crate::error;
use neap_import::npu::graph::Graph;
use neap_import::npu::pools::POOLS;
use neap_import::npu::replay::{Outcome, Plan};
use neap_ir::diag::Diagnostic;
use neap_ir::{Attr, Module, OpId, ValueId};
use rustc_hash::FxHashMap;
use std::fmt::Write;

/// The ids in the order in which a planned module runs them.
///
/// # Errors
/// The module was not read from an NPU graph.
pub fn schedule(module: &Module) -> Result<Vec<u32>, Diagnostic> {
    let funcs = module.functions();
    let [func] = funcs[..] else { return Err(error("an NPU graph is one function")) };
    let block = module.entry(func).ok_or_else(|| error("an NPU graph is one function with a body"))?;
    let ops: Vec<OpId> = module.block_ops(block).filter(|op| module.attr(*op, "npu.id").is_some()).collect();
    if ops.is_empty() {
        return Err(error("no operation has `npu.id`: the module was not read from an NPU graph"));
    }
    let mut buffers = Buffers::default();
    for (step, op) in ops.iter().enumerate() {
        buffers.touch(module, *op, step);
    }
    let mut frees: Vec<Vec<i64>> = vec![Vec::new(); ops.len()];
    for (first, last) in &buffers.order {
        frees[*last].push(*first);
    }
    let mut ids = Vec::new();
    for (op, frees) in ops.iter().zip(frees) {
        ids.extend(list(module, *op, "npu.alloc").into_iter().filter(|id| *id >= 0));
        if module.op_name(*op) != "npu.ALLOC" {
            ids.extend(module.attr(*op, "npu.id").and_then(Attr::as_i64));
        }
        ids.extend(frees);
    }
    ids.into_iter().map(|id| u32::try_from(id).map_err(|_| error(format!("`npu.id` {id} is no id")))).collect()
}

/// Buffers as their values say.
#[derive(Default)]
struct Buffers {
    /// By value: the buffer's place in `order`.
    of: FxHashMap<ValueId, usize>,
    /// By buffer: the id of its `FREE`, and the last step that touches it.
    order: Vec<(i64, usize)>,
}

impl Buffers {
    fn touch(&mut self, module: &Module, op: OpId, step: usize) {
        for value in module.data_operands(op) {
            if let Some(buffer) = self.of.get(&value) {
                self.order[*buffer].1 = step;
            }
        }
        let frees = list(module, op, "npu.free");
        for (at, value) in module.data_results(op).iter().enumerate() {
            match frees.get(at) {
                Some(free) if *free >= 0 => {
                    self.of.insert(*value, self.order.len());
                    self.order.push((*free, step));
                }
                _ => self.again(module, op, at, *value),
            }
        }
    }

    /// A buffer that is written again: the result stands for what the operand is.
    fn again(&mut self, module: &Module, op: OpId, result: usize, value: ValueId) {
        let pairs = module.in_places(op, neap_ir::plan::MAY_INPLACE);
        let pair = pairs.iter().find(|pair| pair.result as usize == result);
        let operand = pair.and_then(|pair| module.data_operand(op, pair.operand as usize));
        if let Some(buffer) = operand.and_then(|operand| self.of.get(&operand).copied()) {
            self.of.insert(value, buffer);
        }
    }
}

fn list(module: &Module, op: OpId, key: &str) -> Vec<i64> {
    module.attr(op, key).and_then(Attr::as_i64s).unwrap_or_default()
}

/// One id a line.
pub fn schedule_text(plan: &Plan) -> String {
    let mut text = String::new();
    for id in &plan.schedule {
        let _ = writeln!(text, "{id}");
    }
    text
}

/// By step: the id, and the bytes resident behind it by type.
pub fn steps_csv(plan: &Plan, outcome: &Outcome) -> String {
    let mut text = String::from("step,id,resident");
    POOLS.iter().for_each(|pool| text += &format!(",{}", pool.name));
    text.push('\n');
    for (step, (id, resident)) in plan.schedule.iter().zip(&outcome.resident).enumerate() {
        let counted: u64 = POOLS.iter().zip(resident).filter(|(pool, _)| pool.counted).map(|(_, bytes)| bytes).sum();
        let _ = write!(text, "{step},{id},{counted}");
        for bytes in resident {
            let _ = write!(text, ",{bytes}");
        }
        text.push('\n');
    }
    text
}

/// `BufId:Offset` a line: where each buffer is allocated.
pub fn memory_text(graph: &Graph, plan: &Plan) -> String {
    let mut text = String::new();
    for (buffer, offset) in graph.buffers.iter().zip(&plan.offsets) {
        let _ = writeln!(text, "{}:{offset}", buffer.id);
    }
    text
}

/// `BufId:Offset` a line and spill: where each one comes back.
pub fn spills_text(graph: &Graph, plan: &Plan) -> String {
    let mut text = String::new();
    for (buffer, offset) in &plan.spills {
        let _ = writeln!(text, "{}:{offset}", graph.buffers[buffer.index()].id);
    }
    text
}
