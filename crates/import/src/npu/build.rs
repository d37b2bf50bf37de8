//! From a graph to a module: one function without arguments, one operation per operation of the file, in program order.
//!
//! - A buffer's first value is the result of the operation that touches it first; each later write makes a further value that must overwrite the one before
//!   (`neap.may_inplace` with `neap.reuse = "must"`), so all values of a buffer are one storage.
//! - `COPY_OUT` hands out its bytes: its result is a result of the function, in the caller's memory.
//! - Buffers that do not count where order alone is asked for have `neap.bytes` 0 and a class with a limit.
//! - `npu.id`, `npu.bufs`, `npu.alloc`, `npu.free` and `npu.pool` keep what the file calls things, parallel to the data results; -1 is none.

use super::graph::{BufferId, Graph, Kind, NodeId};
use super::hazards::{Access, Program};
use super::pools::{POOLS, Pool};
use neap_ir::types::{Dim, Type};
use neap_ir::{Attr, BlockId, Module, OpId, OpSpec, Ty, ValueId};
use rustc_hash::FxHashMap;

/// Operations with a name of their own in the table of op facts; all others are `npu.op` with `npu.name`.
const NAMED: [&str; 17] = [
    "COPY_IN", "COPY_OUT", "COPY", "MOVE", "MATMUL", "CONV", "CONV_ADD", "ADD", "SUB", "MUL", "MAX", "EXP", "REC",
    "ROWMAX", "ROWSUM", "COMPACT", "D2S",
];

/// Builds the module.
pub fn module(graph: &Graph, program: &Program) -> Module {
    let mut module = Module::new();
    let used = |pool: &Pool| graph.buffers.iter().any(|buffer| buffer.pool.pool() == pool);
    for (pool, limit) in POOLS.iter().filter(|pool| used(pool)).filter_map(|pool| Some((pool, pool.limit?))) {
        let attrs = vec![("sym_name", Attr::str(pool.name)), ("limit", module.i64_attr(limit.into()))];
        let op = module.create(OpSpec { name: "neap.class", attrs, ..OpSpec::default() });
        let body = module.body();
        module.append(body, op);
    }
    let mut tokens: FxHashMap<NodeId, Vec<NodeId>> = FxHashMap::default();
    for (first, then) in &program.tokens {
        tokens.entry(*then).or_default().push(*first);
    }
    let gives: rustc_hash::FxHashSet<NodeId> = program.tokens.iter().map(|(first, _)| *first).collect();
    let outs = |node: &&NodeId| &*graph.nodes[node.index()].op == "COPY_OUT";
    let sizes: Vec<u64> = program.order.iter().filter(outs).map(|node| out_bytes(graph, *node)).collect();
    let tys: Vec<Ty> = sizes.into_iter().map(|bytes| bytes_ty(&mut module, bytes)).collect();
    let func = module.create_func("main", &[], &tys);
    let external = module.dict_attr(vec![("neap.io", Attr::str("external"))]);
    if !tys.is_empty() {
        module.set_prop(func, "res_attrs", Attr::Array(vec![external; tys.len()]));
    }
    let block = module.entry(func).expect("a function has a block");
    let current = vec![None; graph.buffers.len()];
    let mut build = Build {
        graph,
        program,
        module,
        block,
        current,
        tokens,
        gives,
        token_of: FxHashMap::default(),
        results: Vec::new(),
    };
    for node in &program.order {
        match &graph.nodes[node.index()].kind {
            Kind::Op { .. } => build.operation(*node),
            Kind::Alloc(buffer) if program.users[buffer.index()].is_empty() => build.unused(*node, *buffer),
            _ => {}
        }
    }
    let Build { mut module, results, .. } = build;
    let op = module.create(OpSpec { name: "func.return", operands: &results, ..OpSpec::default() });
    module.append(block, op);
    module
}

fn out_bytes(graph: &Graph, node: NodeId) -> u64 {
    graph.bufs(node).iter().map(|buffer| graph.buffers[buffer.index()].size).fold(0, u64::saturating_add)
}

fn bytes_ty(module: &mut Module, bytes: u64) -> Ty {
    let element = module.int_ty(8);
    module.intern_ty(Type::Tensor {
        shape: Some([Dim::Known(bytes)].into_iter().collect()),
        elem: element,
        encoding: None,
    })
}

struct Build<'a> {
    graph: &'a Graph,
    program: &'a Program,
    module: Module,
    block: BlockId,
    /// By buffer: its value as it stands.
    current: Vec<Option<ValueId>>,
    /// By operation: which ones it must follow beyond data.
    tokens: FxHashMap<NodeId, Vec<NodeId>>,
    /// Operations that others must follow beyond data.
    gives: rustc_hash::FxHashSet<NodeId>,
    token_of: FxHashMap<NodeId, ValueId>,
    /// What the function returns.
    results: Vec<ValueId>,
}

/// What is said about each data result.
#[derive(Default)]
struct Columns {
    tys: Vec<Ty>,
    names: Vec<Attr>,
    bufs: Vec<i64>,
    allocs: Vec<i64>,
    frees: Vec<i64>,
    pools: Vec<Attr>,
    classes: Vec<Attr>,
    bytes: Vec<i64>,
    inplace: Vec<Attr>,
}

impl Build<'_> {
    fn operation(&mut self, node: NodeId) {
        let Kind::Op { pipe, cycles, .. } = &self.graph.nodes[node.index()].kind else { return };
        let (pipe, cycles) = (Attr::str(pipe), self.module.i64_attr(*cycles as i64));
        let mut operands = Vec::new();
        let mut columns = Columns::default();
        let mut made = Vec::new();
        let (graph, program) = (self.graph, self.program);
        for (buffer, access) in &program.accesses[node.index()] {
            let operand = self.current[buffer.index()];
            if *access == Access::Write {
                let (result, operand) = (columns.tys.len() as i64, operands.len() as i64);
                let pair = vec![("operand", self.module.i64_attr(operand)), ("result", self.module.i64_attr(result))];
                columns.inplace.push(self.module.dict_attr(pair));
            }
            if *access != Access::First {
                operands.extend(operand);
            }
            if *access != Access::Read {
                self.column(&mut columns, *buffer, *access == Access::First);
                made.push(*buffer);
            }
        }
        let is_out = &*graph.nodes[node.index()].op == "COPY_OUT";
        if is_out {
            self.out(&mut columns, out_bytes(graph, node));
        }
        let data = columns.tys.len();
        let before = self.tokens.remove(&node).unwrap_or_default();
        operands.extend(before.iter().filter_map(|first| self.token_of.get(first).copied()));
        let op = self.create(node, &operands, columns, vec![("neap.pipe", pipe), ("neap.cycles", cycles)]);
        let results = self.module.results(op).to_vec();
        for (buffer, value) in made.iter().zip(&results) {
            self.current[buffer.index()] = Some(*value);
        }
        if is_out {
            self.results.push(results[data - 1]);
        }
        if let Some(token) = results.get(data) {
            self.token_of.insert(node, *token);
        }
    }

    /// A buffer that nothing touches takes its bytes for a step of its own.
    fn unused(&mut self, node: NodeId, buffer: BufferId) {
        let mut columns = Columns::default();
        self.column(&mut columns, buffer, true);
        self.create(node, &[], columns, Vec::new());
    }

    fn column(&mut self, columns: &mut Columns, id: BufferId, first: bool) {
        let buffer = &self.graph.buffers[id.index()];
        let pool = buffer.pool.pool();
        let node = |node: NodeId| if first { i64::from(self.graph.nodes[node.index()].id) } else { -1 };
        columns.tys.push(bytes_ty(&mut self.module, buffer.size));
        columns.names.push(Attr::str(&format!("buffer {}", buffer.id)));
        columns.bufs.push(buffer.id.into());
        columns.allocs.push(node(buffer.alloc));
        columns.frees.push(node(buffer.free));
        columns.pools.push(Attr::str(pool.name));
        columns.classes.push(Attr::str(if pool.limit.is_some() { pool.name } else { "" }));
        columns.bytes.push(if pool.counted { buffer.size as i64 } else { 0 });
    }

    /// The bytes that `COPY_OUT` hands out.
    fn out(&mut self, columns: &mut Columns, bytes: u64) {
        columns.tys.push(bytes_ty(&mut self.module, bytes));
        columns.names.push(Attr::str("out"));
        for column in [&mut columns.bufs, &mut columns.allocs, &mut columns.frees] {
            column.push(-1);
        }
        columns.pools.push(Attr::str(""));
        columns.classes.push(Attr::str(""));
        columns.bytes.push(bytes as i64);
    }

    fn create(
        &mut self,
        node: NodeId,
        operands: &[ValueId],
        mut columns: Columns,
        mut attrs: Vec<(&'static str, Attr)>,
    ) -> OpId {
        let record = &self.graph.nodes[node.index()];
        let known = NAMED.contains(&&*record.op) || &*record.op == "ALLOC";
        let name = if known { format!("npu.{}", record.op) } else { "npu.op".to_owned() };
        if !known {
            attrs.push(("npu.name", Attr::str(&record.op)));
        }
        attrs.push(("npu.id", self.module.i64_attr(record.id.into())));
        if !columns.tys.is_empty() {
            attrs.push(("neap.names", Attr::Array(columns.names)));
            for (key, values) in
                [("npu.bufs", columns.bufs), ("npu.alloc", columns.allocs), ("npu.free", columns.frees)]
            {
                attrs.push((key, self.module.i64s_attr(values)));
            }
            let says = |list: &[Attr]| list.iter().any(|name| name.as_str() != Some(""));
            if says(&columns.classes) {
                attrs.push(("neap.class", Attr::Array(columns.classes)));
            }
            if says(&columns.pools) {
                attrs.push(("npu.pool", Attr::Array(columns.pools)));
            }
            if columns.bytes.contains(&0) {
                attrs.push(("neap.bytes", self.module.i64s_attr(columns.bytes)));
            }
        }
        if !columns.inplace.is_empty() {
            attrs.push(("neap.may_inplace", Attr::Array(columns.inplace)));
            attrs.push(("neap.reuse", Attr::str("must")));
        }
        if self.gives.contains(&node) {
            columns.tys.push(self.module.token_ty());
        }
        let op =
            self.module.create(OpSpec { name: &name, operands, results: &columns.tys, attrs, ..OpSpec::default() });
        self.module.set_place(op, neap_ir::Loc::default(), record.span);
        self.module.append(self.block, op);
        op
    }
}
