//! Bufferized MLIR in one arena, in standard dialects alone: what `mlir-opt` lowers and `mlir-runner` runs.
//!
//! A planned `memref.alloc` becomes a `memref.view` at its offset in one `memref.alloc` of bytes at the function's entry; its `memref.dealloc` goes. Beside
//! each view stands a `memref.subview` of the same bytes, since that is what MLIR checks against the arena's bounds. All of neap's own attributes
//! go. Allocations without an offset, and those in another memory space than the arena's, stay as they are.
//!
//! What is written is to be lowered, not optimised: MLIR's alias analysis takes two views of one arena for the same bytes.

use crate::error;
use neap_ir::diag::Diagnostic;
use neap_ir::{Attr, Dim, Module, OpId, OpSpec, Ty, Type, ValueId, plan};
use std::collections::{BTreeMap, BTreeSet};

/// What the arena's base is aligned to at least, in bytes.
const ALIGN: i64 = 64;

/// The planned module as a program.
///
/// # Errors
/// Nothing in it is a buffer, or it holds operations that only a plan has.
pub fn program(planned: &Module) -> Result<Module, Vec<Diagnostic>> {
    let mut module = planned.clone();
    let declared: Vec<OpId> =
        module.block_ops(module.body()).filter(|op| module.op_name(*op) == "neap.arena").collect();
    if declared.len() > 1 {
        return Err(vec![error("the plan has several arenas, and the program is written with one")]);
    }
    let space = declared.first().and_then(|op| module.attr(*op, "memory_space")).cloned();
    let align = declared.first().and_then(|op| module.attr(*op, "align")).and_then(Attr::as_i64).unwrap_or(1);
    let mut views = 0;
    for func in module.functions() {
        views += function(&mut module, func, space.as_ref(), align.max(ALIGN))?;
    }
    if views == 0 {
        let none = error("no `memref.alloc` of the module has a place in an arena");
        return Err(vec![
            none.help("this writer takes bufferized MLIR: mlir-opt --one-shot-bufferize, then the generic form"),
        ]);
    }
    declared.into_iter().for_each(|op| module.erase(op));
    strip(&mut module);
    neap_ir::verify(&module).map(|()| module)
}

/// A planned allocation.
struct Buffer {
    op: OpId,
    offset: i64,
    bytes: u64,
}

fn function(module: &mut Module, func: OpId, space: Option<&Attr>, align: i64) -> Result<usize, Vec<Diagnostic>> {
    let (Some(entry), Some(arena)) = (module.entry(func), module.attr(func, plan::ARENA_BYTES).and_then(Attr::as_i64))
    else {
        return Ok(0);
    };
    let buffers = buffers(module, func, space)?;
    let Some(first) = module.block_ops(entry).next().filter(|_| !buffers.is_empty()) else { return Ok(0) };
    let end = buffers.iter().map(|buffer| buffer.offset as u64 + buffer.bytes).max().unwrap_or(0);
    if end > arena as u64 {
        return Err(vec![error(format!("a buffer ends at {end}, outside of the arena of {arena} bytes"))]);
    }
    let mut build = Builder { module, space: space.cloned(), arena, align };
    let arena = build.arena(first);
    let count = buffers.len();
    let mut roots: BTreeSet<ValueId> = BTreeSet::new();
    for buffer in &buffers {
        roots.insert(build.view(arena, buffer));
    }
    frees(module, func, &roots);
    Ok(count)
}

/// The allocations that the plan places, in the order in which they stand.
fn buffers(module: &Module, func: OpId, space: Option<&Attr>) -> Result<Vec<Buffer>, Vec<Diagnostic>> {
    let mut found = Vec::new();
    for op in module.walk(func).into_iter().filter(|op| module.op_name(*op) == "memref.alloc") {
        let offset =
            module.attr(op, plan::OFFSETS).and_then(Attr::as_i64s).and_then(|offsets| offsets.first().copied());
        let result = module.results(op)[0];
        let Type::MemRef { shape: Some(shape), layout: None, space: own, .. } = module.ty(module.value_ty(result))
        else {
            continue;
        };
        let is_static = shape.iter().all(|dim| matches!(dim, Dim::Known(_)));
        if own.as_deref() != space || !is_static {
            continue;
        }
        if let Some(offset) = offset.filter(|offset| *offset >= 0) {
            let bytes =
                module.value_bytes(result).map_err(|why| vec![error(format!("a buffer of the plan: {why}"))])?;
            found.push(Buffer { op, offset, bytes });
        }
    }
    Ok(found)
}

struct Builder<'a> {
    module: &'a mut Module,
    space: Option<Attr>,
    arena: i64,
    align: i64,
}

impl Builder<'_> {
    fn bytes(&mut self, count: u64, layout: Option<String>) -> Ty {
        let elem = self.module.int_ty(8);
        self.module.intern_ty(Type::MemRef {
            shape: Some(vec![Dim::Known(count)]),
            elem,
            layout: layout.map(|text| Box::new(Attr::Text(text.into(), None))),
            space: self.space.clone().map(Box::new),
        })
    }

    fn segments(&mut self, op: OpId, sizes: &[i64]) {
        let elem = self.module.int_ty(32);
        self.module.set_prop(op, "operandSegmentSizes", Attr::DenseInts { elem, values: sizes.to_vec() });
    }

    /// The arena, before the first operation of the function.
    fn arena(&mut self, first: OpId) -> ValueId {
        let ty = self.bytes(self.arena as u64, None);
        let op = self.module.create(OpSpec { name: "memref.alloc", results: &[ty], ..OpSpec::default() });
        let align = self.module.i64_attr(self.align);
        self.module.set_prop(op, "alignment", align);
        self.segments(op, &[0, 0]);
        self.module.insert_before(first, op);
        self.module.results(op)[0]
    }

    /// The view that stands for an allocation, and the window that MLIR checks.
    fn view(&mut self, arena: ValueId, buffer: &Buffer) -> ValueId {
        let index = self.module.intern_ty(Type::Index);
        let shift = self.module.create(OpSpec { name: "arith.constant", results: &[index], ..OpSpec::default() });
        self.module.set_prop(shift, "value", Attr::Int { value: buffer.offset.into(), ty: index });
        self.module.insert_before(buffer.op, shift);
        if buffer.bytes > 0 {
            let layout = format!("strided<[1], offset: {}>", buffer.offset).replace(", offset: 0>", ">");
            let ty = self.bytes(buffer.bytes, Some(layout));
            let window = self.module.create(OpSpec {
                name: "memref.subview",
                operands: &[arena],
                results: &[ty],
                ..OpSpec::default()
            });
            self.segments(window, &[1, 0, 0, 0]);
            let lists =
                [("static_offsets", buffer.offset), ("static_sizes", buffer.bytes as i64), ("static_strides", 1)];
            for (key, value) in lists {
                let list = self.module.i64s_attr(vec![value]);
                self.module.set_prop(window, key, list);
            }
            self.module.insert_before(buffer.op, window);
        }
        let old = self.module.results(buffer.op)[0];
        let (ty, name) = (self.module.value_ty(old), self.module.value(old).name);
        let shift = self.module.results(shift)[0];
        let view = self.module.create(OpSpec {
            name: "memref.view",
            operands: &[arena, shift],
            results: &[ty],
            ..OpSpec::default()
        });
        self.module.insert_before(buffer.op, view);
        let new = self.module.results(view)[0];
        self.module.replace_uses(old, new);
        self.module.erase(buffer.op);
        self.module.set_value_name(new, name);
        new
    }
}

/// Takes away what frees a buffer that lies in the arena now, under whatever name.
fn frees(module: &mut Module, func: OpId, roots: &BTreeSet<ValueId>) {
    let mut inside: BTreeMap<ValueId, bool> = roots.iter().map(|root| (*root, true)).collect();
    for op in module.walk(func) {
        let name = module.op_name(op);
        let from = module.operands(op).next().and_then(|value| inside.get(&value).copied()).unwrap_or(false);
        if name == "memref.dealloc" && from {
            module.erase(op);
        } else if from && name.starts_with("memref.") {
            let results = module.results(op).to_vec();
            inside.extend(results.into_iter().map(|value| (value, true)));
        }
    }
}

/// Removes everything that is neap's own.
fn strip(module: &mut Module) {
    for op in module.walk(module.top()) {
        let own: Vec<String> = module
            .attrs(op)
            .iter()
            .map(|(name, _)| module.text(*name).to_owned())
            .filter(|name| name.starts_with("neap."))
            .collect();
        for name in own {
            module.remove_attr(op, &name);
        }
    }
    for func in module.functions() {
        let (arguments, results) = module.func_types(func).map_or((0, 0), |(a, b)| (a.len(), b.len()));
        for index in 0..arguments {
            for name in own_keys(module, func, "arg_attrs", index) {
                module.set_arg_attr(func, index, &name, None);
            }
        }
        for index in 0..results {
            for name in own_keys(module, func, "res_attrs", index) {
                module.set_result_attr(func, index, &name, None);
            }
        }
    }
}

fn own_keys(module: &Module, func: OpId, list: &str, index: usize) -> Vec<String> {
    let Some(Attr::Array(items)) = module.attr(func, list) else { return Vec::new() };
    let Some(Attr::Dict(items)) = items.get(index) else { return Vec::new() };
    items.iter().map(|(name, _)| module.text(*name).to_owned()).filter(|name| name.starts_with("neap.")).collect()
}
