//! The network behind a certificate, rebuilt from the planned module alone, and the flow in it.
//!
//! # The claim
//! In whatever order the operations of the function run, and whatever candidates are taken, at least so many bytes are held while `v` runs.
//!
//! # The network of `v` and a set of candidates
//! Let `E` be the operations that must run before `v`, `F` be `v` and those that must run after it (by values, tokens and effects), and the
//! others be free. A *storage* is a value with bytes and all views of it; an operation *touches* it if it writes it or reads any of these.
//!
//! - Not in the network, but counted in full: the storages that `v` writes, its scratch, and storages that are there at every step (held
//!   arguments; arguments that are returned or kept). Of storages that candidates may join with such a one, directly or one after the other, only the
//!   largest that is there at every step counts; the others may lie in its bytes and are left out.
//! - Left out: arguments nobody touches; parts that the set puts into `v`'s result; parts that several operations could take.
//! - `In(s) -> Out(s)` has the capacity `size(s)`; all other edges are unlimited. `Source -> In(s)` if `s` is an argument or written in `E`,
//!   `Op(w) -> In(s)` if its writer `w` is free. `Out(s) -> Op(u)` for each free `u` that touches `s`; `Out(s) -> Sink` if some
//!   operation in `F` touches it, or it is returned or kept. `Op(u) -> Op(p)` if the free `u` must run after the free `p`.
//! - An operand that the set overwrites is not kept alive by `v` itself. A part that one operation `c` other than `v` could take is kept alive by `c` alone.
//!
//! # Why a flow bounds
//! Whatever has run before `v` in some order holds `E`, nothing of `F`, and with each operation what it depends on. So it cuts no unlimited edge, and it cuts
//! `In(s) -> Out(s)` exactly for storages that are started and still needed, all of which are held while `v` runs. By weak duality no flow is
//! larger than that cut.
//!
//! # What is verified
//! Every edge is an edge of the network, its flow fits, every node hands on what it gets, and each set of candidates that `v` can take is within a listed one (a larger set only
//! removes edges). Time and memory are linear in the module and the certificate.

use crate::certificate::{Certificate, Node, Owner, SetFlow, Taken};
use crate::effects::{self, Resolved};
use crate::homes::Homes;
use neap_ir::facts::{Access, Role, Run};
use neap_ir::{Attr, Def, OpId, ValueId, plan};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// More candidate sets than this, and one listed set has to contain all candidates.
const SETS: usize = 64;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Side {
    Before,
    Free,
    After,
}

#[derive(Debug, Default)]
struct Storage {
    size: u64,
    /// The step that writes it; none for arguments.
    writer: Option<u32>,
    /// Steps that touch it, the writer included.
    touched: FxHashSet<u32>,
    /// Held for the whole run.
    always: bool,
    /// Returned or kept.
    stays: bool,
    /// The operation that could take it as a part; `Err` for several.
    part_of: Option<Result<u32, ()>>,
    /// It may share bytes with one that is there at every step; whether it is the one of them that counts.
    joined: Option<bool>,
}

impl Storage {
    /// There at every step.
    fn there(&self) -> bool {
        self.always || self.writer.is_none() && self.stays
    }
}

/// The function as the network sees it.
pub(crate) struct Network<'a, 'b> {
    homes: &'b Homes<'a>,
    ops: Vec<OpId>,
    step: FxHashMap<OpId, u32>,
    before: Vec<Vec<u32>>,
    storages: BTreeMap<Owner, Storage>,
}

impl<'a, 'b> Network<'a, 'b> {
    /// Rebuilds it. An error says why the function has no network.
    pub(crate) fn new(homes: &'b Homes<'a>) -> Result<Network<'a, 'b>, String> {
        let m = homes.module;
        let block = m.entry(homes.func).ok_or("the function has no body")?;
        let mut network = Network {
            homes,
            ops: Vec::new(),
            step: FxHashMap::default(),
            before: Vec::new(),
            storages: BTreeMap::new(),
        };
        for op in m.block_ops(block) {
            let row = homes.row(op);
            let bodies = row.runs() != Run::Kernel && !m.op_regions(op).is_empty();
            if bodies && m.op_name(op) != "neap.fused" {
                return Err("certificates are for functions without nested bodies".to_owned());
            }
            if row.role != Role::Constant && op != m.terminator(block).unwrap_or(op) {
                network.step.insert(op, network.ops.len() as u32);
                network.ops.push(op);
            }
        }
        network.add_storages();
        network.add_dependencies();
        network.add_parts();
        network.add_joined();
        Ok(network)
    }

    fn owner(&self, value: ValueId) -> Option<Owner> {
        match self.homes.module.value(value).def() {
            Def::Result(op, index) => Some(Owner::Result(*self.step.get(&op)?, index)),
            Def::Arg(_, index) => Some(Owner::Arg(index)),
        }
    }

    /// The storage of a value, if it has bytes in an arena.
    fn storage(&self, value: ValueId) -> Option<Owner> {
        let root = self.homes.root(value);
        self.homes.of(root)?;
        self.owner(root)
    }

    fn add_storages(&mut self) {
        let m = self.homes.module;
        for (index, arg) in m.func_args(self.homes.func).iter().enumerate() {
            let attr = |key| m.arg_attr(self.homes.func, index, key);
            let held = attr(plan::IO).and_then(Attr::as_str) == Some("held");
            self.add_storage(*arg, None, held, attr("neap.keep").is_some());
        }
        for (step, op) in self.ops.clone().into_iter().enumerate() {
            let keep = m.attr(op, "neap.keep").is_some();
            for value in m.data_results(op) {
                self.add_storage(*value, Some(step as u32), false, keep);
            }
        }
        for (step, op) in self.ops.clone().into_iter().enumerate() {
            for value in m.data_operands(op) {
                if let Some(storage) = self.storage(value).and_then(|owner| self.storages.get_mut(&owner)) {
                    storage.touched.insert(step as u32);
                }
            }
        }
        let last = m.entry(self.homes.func).and_then(|block| m.terminator(block));
        for value in last.into_iter().flat_map(|last| m.data_operands(last)) {
            if let Some(storage) = self.storage(value).and_then(|owner| self.storages.get_mut(&owner)) {
                storage.stays = true;
            }
        }
    }

    fn add_storage(&mut self, value: ValueId, writer: Option<u32>, held: bool, kept: bool) {
        let root = self.homes.root(value);
        let (Some(home), Some(owner)) = (self.homes.of(root), self.owner(root)) else { return };
        let size = home.size;
        let storage = self.storages.entry(owner).or_default();
        storage.stays |= kept;
        if root == value {
            (storage.size, storage.writer) = (size, writer);
            storage.always |= held;
            storage.touched.extend(writer);
        }
    }

    /// What each operation must run after: makers of what it reads, tokens, and per resource the last write (and, for a write, the reads since).
    fn add_dependencies(&mut self) {
        let m = self.homes.module;
        let mut last: FxHashMap<u128, (Option<u32>, Vec<u32>)> = FxHashMap::default();
        let (mut all, mut looked): (Option<u32>, Vec<u32>) = (None, Vec::new());
        for (step, op) in self.ops.iter().enumerate() {
            let step = step as u32;
            let made = m.operands(*op).filter_map(|value| self.step.get(&m.defining_op(value)?).copied());
            let mut before: Vec<u32> = made.collect();
            for (resource, access) in effects::of_static(self.homes.calls, *op, self.homes.row(*op)) {
                before.extend(all);
                if access == Access::Write {
                    // Each write waits for each look at everything before it; leaving some of very many out is sound.
                    before.extend(looked.iter().copied().take(SETS));
                }
                let Resolved::Named(resource) = resource else {
                    let reads = |reads: &Vec<u32>| if access == Access::Write { reads.clone() } else { Vec::new() };
                    before.extend(last.values().flat_map(|(write, since)| write.iter().copied().chain(reads(since))));
                    if access == Access::Write {
                        (all, looked) = (Some(step), Vec::new());
                        last.clear();
                    } else {
                        looked.push(step);
                    }
                    continue;
                };
                let (write, reads) = last.entry(resource).or_default();
                before.extend(*write);
                if access == Access::Write {
                    before.append(reads);
                    *write = Some(step);
                } else {
                    reads.push(step);
                }
            }
            before.retain(|other| *other != step);
            before.sort_unstable();
            before.dedup();
            self.before.push(before);
        }
    }

    fn add_parts(&mut self) {
        for step in 0..self.ops.len() as u32 {
            for owner in self.parts(step) {
                let storage = self.storages.get_mut(&owner).expect("parts have storages");
                storage.part_of = Some(match storage.part_of {
                    None => Ok(step),
                    Some(Ok(other)) if other == step => Ok(step),
                    Some(_) => Err(()),
                });
            }
        }
    }

    /// Groups of storages that candidates may join, where one of them is there at every step.
    fn add_joined(&mut self) {
        let owners: Vec<Owner> = self.storages.keys().copied().collect();
        let at: FxHashMap<Owner, usize> = owners.iter().enumerate().map(|(at, owner)| (*owner, at)).collect();
        let mut others: Vec<Vec<usize>> = vec![Vec::new(); owners.len()];
        for step in 0..self.ops.len() as u32 {
            let whole = self.homes.module.data_results(self.ops[step as usize]).first();
            let whole = whole.and_then(|value| self.storage(*value));
            let parts = self.parts(step).into_iter().filter_map(|part| Some((whole?, part)));
            for (a, b) in parts.chain(self.overwrites(step)) {
                others[at[&a]].push(at[&b]);
                others[at[&b]].push(at[&a]);
            }
        }
        let mut seen = vec![false; owners.len()];
        for start in 0..owners.len() {
            let mut group = Vec::new();
            let mut todo = vec![start];
            while let Some(one) = todo.pop() {
                if !std::mem::replace(&mut seen[one], true) {
                    group.push(owners[one]);
                    todo.extend(&others[one]);
                }
            }
            group.sort_unstable();
            let there = group.iter().filter(|owner| self.storages[owner].there());
            let Some(largest) = there.rev().max_by_key(|owner| self.storages[owner].size).copied() else { continue };
            if group.len() > 1 {
                for owner in group {
                    self.storages.get_mut(&owner).expect("groups are of storages").joined = Some(owner == largest);
                }
            }
        }
    }

    /// Storages that an operation could take as parts of its result.
    fn parts(&self, step: u32) -> Vec<Owner> {
        let (m, op) = (self.homes.module, self.ops[step as usize]);
        let places = m.places(op, plan::MAY_PLACE).into_iter().chain(m.places(op, plan::PLACE));
        let whole = m.data_results(op).first().and_then(|value| self.storage(*value));
        let operands: Vec<ValueId> = m.data_operands(op).collect();
        let part = |place: plan::Place| self.storage(*operands.get(place.operand as usize)?);
        let mut parts: Vec<Owner> = places.filter_map(part).filter(|part| Some(*part) != whole).collect();
        parts.sort_unstable();
        parts.dedup();
        if whole.is_some() { parts } else { Vec::new() }
    }

    /// Storages that results of an operation could overwrite: result's storage, operand's storage. What no order permits is left
    /// out: bytes that stay, and bytes that another operand lies in without the same permission.
    fn overwrites(&self, step: u32) -> Vec<(Owner, Owner)> {
        let (m, op) = (self.homes.module, self.ops[step as usize]);
        let pairs = m.in_places(op, plan::MAY_INPLACE).into_iter().chain(m.in_places(op, plan::INPLACE));
        let pairs: Vec<plan::InPlace> = pairs.collect();
        let operands: Vec<ValueId> = m.data_operands(op).collect();
        let permitted: FxHashSet<(u32, u32)> = pairs.iter().map(|pair| (pair.result, pair.operand)).collect();
        let mut found = Vec::new();
        for pair in &pairs {
            let result = m.data_results(op).get(pair.result as usize).and_then(|value| self.storage(*value));
            let operand = operands.get(pair.operand as usize).and_then(|value| self.storage(*value));
            let (Some(result), Some(operand)) = (result, operand) else { continue };
            let storage = &self.storages[&operand];
            let shared = (0..operands.len() as u32).any(|other| {
                let value = operands[other as usize];
                self.storage(value) == Some(operand)
                    && value != operands[pair.operand as usize]
                    && !permitted.contains(&(pair.result, other))
            });
            if result != operand && !storage.always && !storage.stays && !shared {
                found.push((result, operand));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    fn sides(&self, v: u32) -> Vec<Side> {
        let mut sides = vec![Side::Free; self.ops.len()];
        let mut todo = self.before[v as usize].clone();
        while let Some(op) = todo.pop() {
            if std::mem::replace(&mut sides[op as usize], Side::Before) == Side::Free {
                todo.extend(&self.before[op as usize]);
            }
        }
        sides[v as usize] = Side::After;
        // Dependencies point backwards in the planned order, so one pass forwards finds all that must follow.
        for op in v as usize + 1..self.ops.len() {
            if self.before[op].iter().any(|before| sides[*before as usize] == Side::After) {
                sides[op] = Side::After;
            }
        }
        sides
    }

    /// Whether an operation must run after another, directly or through others.
    fn follows(&self, step: u32, before: u32) -> bool {
        if self.before[step as usize].binary_search(&before).is_ok() {
            return true;
        }
        let (mut todo, mut seen) = (vec![step], FxHashSet::default());
        while let Some(at) = todo.pop() {
            // Dependencies point backwards: what lies before the one that is looked for leads nowhere.
            let found = self.before[at as usize].iter().copied().filter(|other| *other >= before);
            for other in found {
                if other == before {
                    return true;
                }
                if seen.insert(other) {
                    todo.push(other);
                }
            }
        }
        false
    }

    /// The bytes that a certificate proves. An error says which rule it breaks.
    pub(crate) fn proved(&self, certificate: &Certificate) -> Result<u64, String> {
        let v = certificate.op;
        if v as usize >= self.ops.len() {
            return Err(format!("the function has no step {v}"));
        }
        let sides = self.sides(v);
        self.covers(v, &certificate.flows)?;
        let mut least: Option<u128> = None;
        for flow in &certificate.flows {
            let of_set = Set::new(self, v, &sides, &flow.taken);
            let bytes = of_set.constant() + of_set.value(flow)?;
            least = Some(least.map_or(bytes, |least| least.min(bytes)));
        }
        let least = least.ok_or("it lists no flow")?;
        u64::try_from(least).map_err(|_| "the flow is larger than any memory".to_owned())
    }

    /// Every set of candidates that `v` can take lies within a listed one.
    fn covers(&self, v: u32, flows: &[SetFlow]) -> Result<(), String> {
        let (parts, pairs) = (self.parts(v), self.overwrites(v));
        let listed: Vec<Chosen> = flows.iter().map(|flow| self.taken(v, &flow.taken)).collect();
        for set in maximal(&pairs) {
            let within = |(placed, over): &Chosen| {
                parts.iter().all(|part| placed.contains(part)) && set.iter().all(|pair| over.contains(pair))
            };
            if !listed.iter().any(within) {
                return Err(format!("no flow covers {} of the candidates of step {v}", set.len() + parts.len()));
            }
        }
        Ok(())
    }

    /// The storages of taken candidates: parts, and pairs of result and operand.
    fn taken(&self, v: u32, taken: &[Taken]) -> Chosen {
        let (m, op) = (self.homes.module, self.ops[v as usize]);
        let operands: Vec<ValueId> = m.data_operands(op).collect();
        let of = |value: Option<&ValueId>| value.and_then(|value| self.storage(*value));
        let (mut parts, mut pairs) = (FxHashSet::default(), FxHashSet::default());
        for one in taken {
            match one {
                Taken::Place { operand } => parts.extend(of(operands.get(*operand as usize))),
                Taken::InPlace { result, operand } => {
                    let result = of(m.data_results(op).get(*result as usize));
                    let operand = of(operands.get(*operand as usize));
                    pairs.extend(result.zip(operand));
                }
            }
        }
        (parts, pairs)
    }
}

/// Parts, and pairs of result and operand.
type Chosen = (FxHashSet<Owner>, FxHashSet<(Owner, Owner)>);

/// Sets of pairs that can be taken together (each result and each operand once) and that no larger one contains.
fn maximal(pairs: &[(Owner, Owner)]) -> Vec<Vec<(Owner, Owner)>> {
    let mut sets: Vec<Vec<(Owner, Owner)>> = vec![Vec::new()];
    let results: std::collections::BTreeSet<Owner> = pairs.iter().map(|(result, _)| *result).collect();
    for result in results {
        let mut next = Vec::new();
        for set in &sets {
            let free = pairs.iter().filter(|(r, o)| *r == result && !set.iter().any(|(_, used)| used == o));
            // Leaving the result without may free an operand for another one.
            next.push(set.clone());
            next.extend(free.map(|pair| [set.as_slice(), &[*pair]].concat()));
        }
        sets = next;
        if sets.len() > SETS {
            return vec![pairs.to_vec()];
        }
    }
    sets
}

/// The network for one set of candidates.
struct Set<'n, 'a, 'b> {
    network: &'n Network<'a, 'b>,
    v: u32,
    sides: &'n [Side],
    parts: FxHashSet<Owner>,
    overwritten: FxHashSet<Owner>,
}

impl<'n, 'a, 'b> Set<'n, 'a, 'b> {
    fn new(network: &'n Network<'a, 'b>, v: u32, sides: &'n [Side], taken: &[Taken]) -> Set<'n, 'a, 'b> {
        let (parts, pairs) = network.taken(v, taken);
        Set { network, v, sides, parts, overwritten: pairs.into_iter().map(|(_, operand)| operand).collect() }
    }

    /// Bytes outside of the network.
    fn constant(&self) -> u128 {
        let counted = self.network.storages.values().filter(|storage| self.counted(storage));
        let scratch = self.network.homes.module.scratch_bytes(self.network.ops[self.v as usize]);
        counted.map(|storage| u128::from(storage.size)).sum::<u128>() + u128::from(scratch)
    }

    fn counted(&self, storage: &Storage) -> bool {
        storage.joined.unwrap_or_else(|| storage.there() || storage.writer == Some(self.v))
    }

    /// A storage of the network.
    fn storage(&self, owner: Owner) -> Option<&Storage> {
        let storage = self.network.storages.get(&owner)?;
        let unused = storage.writer.is_none() && storage.touched.is_empty();
        let several = storage.part_of == Some(Err(()));
        let left_out = self.parts.contains(&owner) || several || unused || storage.joined.is_some();
        (!left_out && !self.counted(storage)).then_some(storage)
    }

    /// The only operation that keeps a part alive.
    fn only(&self, storage: &Storage) -> Option<u32> {
        storage.part_of.and_then(Result::ok).filter(|op| *op != self.v)
    }

    fn side(&self, step: u32) -> Option<Side> {
        self.sides.get(step as usize).copied()
    }

    fn keeps_alive(&self, owner: Owner, storage: &Storage, step: u32) -> bool {
        storage.touched.contains(&step)
            && self.only(storage).is_none_or(|only| only == step)
            && !(step == self.v && self.overwritten.contains(&owner))
    }

    /// The capacity of an edge; none if there is no such edge.
    fn capacity(&self, from: Node, to: Node) -> Option<u128> {
        let free = |step: u32| self.side(step) == Some(Side::Free);
        let is = match (from, to) {
            (Node::In(owner), Node::Out(other)) if owner == other => {
                return self.storage(owner).map(|storage| u128::from(storage.size));
            }
            (Node::Source, Node::In(owner)) => {
                let storage = self.storage(owner)?;
                storage.writer.is_none_or(|writer| self.side(writer) == Some(Side::Before))
            }
            (Node::Op(step), Node::In(owner)) => free(step) && self.storage(owner)?.writer == Some(step),
            (Node::Out(owner), Node::Op(step)) => free(step) && self.keeps_alive(owner, self.storage(owner)?, step),
            (Node::Out(owner), Node::Sink) => {
                let storage = self.storage(owner)?;
                let after =
                    |step: &u32| self.side(*step) == Some(Side::After) && self.keeps_alive(owner, storage, *step);
                storage.stays && self.only(storage).is_none() || storage.touched.iter().any(after)
            }
            (Node::Op(step), Node::Op(before)) => free(step) && free(before) && self.network.follows(step, before),
            _ => false,
        };
        is.then_some(u128::MAX)
    }

    /// The value of a flow, if it is one.
    fn value(&self, flow: &SetFlow) -> Result<u128, String> {
        let mut balance: FxHashMap<Node, (u128, u128)> = FxHashMap::default();
        let mut used: FxHashMap<(Node, Node), u128> = FxHashMap::default();
        for edge in &flow.edges {
            let (from, to) = (edge.from, edge.to);
            let capacity = self.capacity(from, to).ok_or_else(|| format!("there is no edge from {from} to {to}"))?;
            let total = used.entry((from, to)).or_default();
            *total += u128::from(edge.flow);
            if *total > capacity {
                return Err(format!("the edge from {from} to {to} carries {total} bytes, its capacity is {capacity}"));
            }
            if edge.capacity.map(u128::from) != (capacity != u128::MAX).then_some(capacity) {
                return Err(format!("the edge from {from} to {to} states another capacity than it has"));
            }
            balance.entry(from).or_default().1 += u128::from(edge.flow);
            balance.entry(to).or_default().0 += u128::from(edge.flow);
        }
        let ends = [Node::Source, Node::Sink];
        let mut nodes: Vec<_> = balance.iter().filter(|(node, _)| !ends.contains(node)).collect();
        nodes.sort_unstable();
        for (node, (enters, leaves)) in nodes {
            if enters != leaves {
                return Err(format!("{enters} bytes enter {node}, {leaves} leave it"));
            }
        }
        Ok(balance.get(&Node::Source).map_or(0, |(enters, leaves)| leaves - enters))
    }
}

#[cfg(test)]
mod tests;
