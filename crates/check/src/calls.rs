//! What the functions of a module run, found once for all of them: circles of calls, what a call may touch, how its arena is aligned.
//!
//! That a call is an unknown function of its operands and of what its callee touches is sound because each function is checked on its
//! own, by induction over the calls below it. A circle has no bottom: the checker, like the planner, refuses it.

use crate::effects::{self, Resolved, Touch, callees};
use crate::names;
use crate::violation::Violation;
use neap_ir::facts::{Access, Facts, Run};
use neap_ir::{Module, OpId};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A module with what its functions run.
pub(crate) struct Calls<'a> {
    pub(crate) module: &'a Module,
    pub(crate) facts: &'a Facts,
    by_name: FxHashMap<&'a str, OpId>,
    known: FxHashMap<OpId, Summary>,
    /// Names of the resources that functions touch.
    names: BTreeMap<u128, String>,
}

/// A function with all that it runs.
#[derive(Clone, Default)]
struct Summary {
    /// It may touch anything.
    all: bool,
    touched: BTreeMap<u128, Access>,
    align: u64,
}

impl<'a> Calls<'a> {
    /// Looks at every function once, callees first.
    ///
    /// # Errors
    /// The first circle of calls, as functions along it, the first one again at the end.
    pub(crate) fn of(module: &'a Module, facts: &'a Facts) -> Result<Calls<'a>, Box<Violation>> {
        let functions = module.functions();
        let by_name = functions.iter().filter_map(|func| Some((module.sym_name(*func)?, *func))).collect();
        let mut calls = Calls { module, facts, by_name, known: FxHashMap::default(), names: BTreeMap::new() };
        // On the path from the root, with its place there.
        let mut open: FxHashMap<OpId, usize> = FxHashMap::default();
        for root in &functions {
            let mut path: Vec<(OpId, Vec<OpId>)> = Vec::new();
            let mut enter = Some(*root).filter(|root| !calls.known.contains_key(root));
            loop {
                if let Some(func) = enter.take() {
                    open.insert(func, path.len());
                    path.push((func, calls.called(func)));
                }
                let Some((func, left)) = path.last_mut() else { break };
                let Some(next) = left.pop() else {
                    let func = *func;
                    let summary = calls.summary(func);
                    calls.known.insert(func, summary);
                    open.remove(&func);
                    path.pop();
                    continue;
                };
                match open.get(&next) {
                    Some(from) => {
                        let around = path[*from..].iter().map(|(func, _)| *func).chain([next]);
                        let functions = around.map(|func| names::func(module, func)).collect();
                        return Err(Box::new(Violation::CallCycle { functions, span: module.op(next).span }));
                    }
                    None if calls.known.contains_key(&next) => {}
                    None => enter = Some(next),
                }
            }
        }
        Ok(calls)
    }

    /// The function of a name that has a body.
    pub(crate) fn func(&self, name: &str) -> Option<OpId> {
        self.by_name.get(name).copied()
    }

    /// What the arena of a function must be aligned to: what its operations ask, and those of all it calls.
    pub(crate) fn align(&self, func: OpId) -> u64 {
        self.known.get(&func).map_or(1, |summary| summary.align)
    }

    /// What functions may touch, each resource once: all, where it cannot be told.
    pub(crate) fn touched(&self, functions: &[String], names: &mut BTreeMap<u128, String>) -> Vec<Touch> {
        let mut sum = Summary { all: functions.is_empty(), ..Summary::default() };
        functions.iter().for_each(|name| self.add(&mut sum, name));
        if sum.all {
            return vec![Touch { resource: Resolved::All, access: Access::Write }];
        }
        let touch = |(resource, access)| {
            if let Some(name) = self.names.get(&resource) {
                names.entry(resource).or_insert_with(|| name.clone());
            }
            Touch { resource: Resolved::Named(resource), access }
        };
        sum.touched.into_iter().map(touch).collect()
    }

    /// What calls of an operation by symbol may touch.
    pub(crate) fn touched_by(&self, op: OpId, names: &mut BTreeMap<u128, String>) -> Vec<Touch> {
        let row = effects::row(self.module, op, self.facts);
        self.touched(&callees(self.module, op, row), names)
    }

    /// The functions that operations of a function run by symbol.
    fn called(&self, func: OpId) -> Vec<OpId> {
        let ops = self.module.walk(func).into_iter();
        ops.flat_map(|op| self.by_symbol(op).unwrap_or_default()).filter_map(|name| self.func(&name)).collect()
    }

    /// The names of what an operation runs by symbol; none if it runs nothing so.
    fn by_symbol(&self, op: OpId) -> Option<Vec<String>> {
        let row = effects::row(self.module, op, self.facts);
        let runs = row.body.run != Run::None && self.module.op_regions(op).is_empty();
        runs.then(|| callees(self.module, op, row))
    }

    /// Adds what a function may touch; one without a body may touch anything.
    fn add(&self, sum: &mut Summary, name: &str) {
        let Some(other) = self.func(name).and_then(|func| self.known.get(&func)) else {
            sum.all = true;
            return;
        };
        sum.all |= other.all;
        for (resource, access) in &other.touched {
            let entry = sum.touched.entry(*resource).or_insert(*access);
            *entry = (*entry).max(*access);
        }
        sum.align = lcm(sum.align.max(1), other.align);
    }

    /// A function whose callees are known.
    fn summary(&mut self, func: OpId) -> Summary {
        let m = self.module;
        let mut sum = Summary { align: 1, ..Summary::default() };
        let mut seen = std::collections::BTreeSet::new();
        for op in m.walk(func) {
            let asked = m.attr(op, neap_ir::plan::ALIGN).and_then(neap_ir::Attr::as_i64).unwrap_or(1).max(1) as u64;
            sum.align = lcm(sum.align, asked);
            if let Some(called) = self.by_symbol(op) {
                sum.all |= called.is_empty();
                for name in called {
                    if seen.insert(name.clone()) {
                        self.add(&mut sum, &name);
                    }
                }
            }
            if matches!(m.op_name(op), "func.return" | "return") {
                continue;
            }
            let row = effects::row(m, op, self.facts);
            for (resource, access) in effects::of_body_op(m, op, row, self.facts, &mut self.names) {
                match resource {
                    Some(resource) => {
                        let entry = sum.touched.entry(resource).or_insert(access);
                        *entry = (*entry).max(access);
                    }
                    None => sum.all = true,
                }
            }
        }
        sum
    }
}

/// The least common multiple, or the larger one where that is beyond 64 bits.
fn lcm(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a / x.max(1)).checked_mul(b).unwrap_or(a.max(b))
}
