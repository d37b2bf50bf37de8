//! An obvious planner: a random legal order, views, in-place and parts where they are plainly right, first fit.

use super::graph::{Graph, Io, Kind, Random};
use std::collections::HashMap;

/// A plan, value by value, so that a test can change any of it.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) order: Vec<usize>,
    /// Byte offset per value, -1 for none.
    pub(crate) offsets: Vec<i64>,
    /// Result value -> operand position and byte offset.
    pub(crate) views: HashMap<usize, (usize, usize)>,
    /// Node -> operand position overwritten by its first result.
    pub(crate) in_place: HashMap<usize, usize>,
    /// Node -> operand positions with byte offsets.
    pub(crate) places: HashMap<usize, Vec<(usize, usize)>>,
    pub(crate) scratch: HashMap<usize, i64>,
    pub(crate) peak: i64,
    pub(crate) arena: i64,
    pub(crate) align: usize,
    pub(crate) capacity: i64,
    pub(crate) class_limit: i64,
}

struct Storage {
    size: usize,
    begin: usize,
    end: usize,
    /// Values, with the byte at which they start.
    members: Vec<(usize, usize)>,
    pinned: bool,
}

impl Plan {
    pub(crate) fn new(graph: &Graph, rng: &mut Random) -> Plan {
        let mut plan = Plan {
            order: order(graph, rng),
            offsets: vec![-1; graph.values.len()],
            views: HashMap::new(),
            in_place: HashMap::new(),
            places: HashMap::new(),
            scratch: HashMap::new(),
            peak: 0,
            arena: 0,
            align: [1, 4][rng.below(2)],
            capacity: 0,
            class_limit: 0,
        };
        let steps = plan.order.len();
        let mut last = vec![0; graph.values.len()];
        for (step, node) in plan.order.iter().enumerate() {
            graph.nodes[*node].operands.iter().for_each(|value| last[*value] = step + 1);
        }
        let kept = graph.nodes.iter().filter(|node| node.keep).flat_map(|node| node.results.iter());
        for value in graph.returned.iter().chain(kept) {
            // One past the end, so that nothing overwrites it at the last step either.
            last[*value] = steps + 1;
        }
        let mut at: Vec<Option<(usize, usize)>> = vec![None; graph.values.len()];
        let mut storages: Vec<Option<Storage>> = Vec::new();
        for (arg, io) in graph.args.iter().enumerate().filter(|(_, io)| **io != Io::External) {
            let end = if *io == Io::Held { steps } else { last[arg] };
            let (size, held) = (graph.values[arg].size(), *io == Io::Held);
            at[arg] = Some((storages.len(), 0));
            let end = end.max(1);
            storages.push(Some(Storage { size, begin: 0, end, members: vec![(arg, 0)], pinned: held }));
        }
        for step in 0..steps {
            plan.step(graph, step, &last, &mut at, &mut storages, rng);
        }
        for node in &graph.nodes {
            for value in node.results.iter().filter(|_| node.keep) {
                if let Some((storage, _)) = at[*value] {
                    let storage = storages[storage].as_mut().expect("live");
                    storage.end = storage.end.max(steps + 1);
                }
            }
        }
        plan.fit(graph, storages, steps);
        plan
    }

    fn step(
        &mut self,
        graph: &Graph,
        step: usize,
        last: &[usize],
        at: &mut [Option<(usize, usize)>],
        storages: &mut Vec<Option<Storage>>,
        rng: &mut Random,
    ) {
        let id = self.order[step];
        let node = &graph.nodes[id];
        if self.view(graph, id, last, at, storages, rng) {
            return;
        }
        for (index, value) in node.results.iter().enumerate() {
            let (size, end) = (graph.values[*value].size(), last[*value].max(step + 1));
            if index == 0
                && let Some((operand, storage, byte)) = self.overwrite(graph, id, step, at, storages, rng)
            {
                self.in_place.insert(id, operand);
                let old = storages[storage].as_mut().expect("live");
                old.members.push((*value, byte));
                (old.end, old.size) = (old.end.max(end), old.size.max(byte + size));
                at[*value] = Some((storage, byte));
                continue;
            }
            let new = storages.len();
            let mut storage = Storage { size, begin: step, end, members: vec![(*value, 0)], pinned: false };
            if let Kind::Concat(0) = node.kind {
                self.parts(graph, id, new, &mut storage, at, storages, rng);
            }
            at[*value] = Some((new, 0));
            storages.push(Some(storage));
        }
    }

    fn view(
        &mut self,
        graph: &Graph,
        id: usize,
        last: &[usize],
        at: &mut [Option<(usize, usize)>],
        storages: &mut [Option<Storage>],
        rng: &mut Random,
    ) -> bool {
        let node = &graph.nodes[id];
        let bytes = |value: usize| graph.values[value].size();
        let starts: Vec<usize> = match node.kind {
            Kind::Reshape => vec![0],
            Kind::Slice { axis: 0, start } => {
                vec![start * graph.values[node.operands[0]].columns * graph.values[node.operands[0]].bytes]
            }
            Kind::Split(0) => vec![0, bytes(node.results[0])],
            _ => return false,
        };
        if rng.chance(35) {
            return false;
        }
        for (value, start) in node.results.iter().zip(starts) {
            self.views.insert(*value, (0, start));
            let Some((storage, byte)) = at[node.operands[0]] else { continue };
            let storage_ref = storages[storage].as_mut().expect("live");
            storage_ref.end = storage_ref.end.max(last[*value]);
            storage_ref.members.push((*value, byte + start));
            at[*value] = Some((storage, byte + start));
        }
        true
    }

    /// An operand that dies here and may be overwritten element by element.
    fn overwrite(
        &self,
        graph: &Graph,
        id: usize,
        step: usize,
        at: &[Option<(usize, usize)>],
        storages: &[Option<Storage>],
        rng: &mut Random,
    ) -> Option<(usize, usize, usize)> {
        let node = &graph.nodes[id];
        let result = graph.values[node.results[0]];
        let from = match &node.kind {
            Kind::Element(_) => 0,
            Kind::Fused { first, operands, .. } if matches!(**first, Kind::Opaque(_)) => *operands,
            Kind::Fused { .. } => 0,
            _ => return None,
        };
        for operand in from..node.operands.len() {
            let value = node.operands[operand];
            let t = graph.values[value];
            let Some((storage, byte)) = at[value] else { continue };
            let held = storages[storage].as_ref()?;
            let others = (0..node.operands.len()).filter(|other| *other != operand);
            let apart =
                others.into_iter().all(|other| at[node.operands[other]].is_none_or(|(other, _)| other != storage));
            let fits = (t.rows, t.columns) == (result.rows, result.columns) && t.bytes >= result.bytes;
            // Streams through a narrower or wider middle as well: only shapes matter.
            if fits && apart && held.end <= step + 1 && !held.pinned && rng.chance(80) {
                return Some((operand, storage, byte));
            }
        }
        None
    }

    #[expect(clippy::too_many_arguments, reason = "a test's planner")]
    fn parts(
        &mut self,
        graph: &Graph,
        id: usize,
        new: usize,
        whole: &mut Storage,
        at: &mut [Option<(usize, usize)>],
        storages: &mut [Option<Storage>],
        rng: &mut Random,
    ) {
        let node = &graph.nodes[id];
        let mut from = 0;
        for (position, value) in node.operands.iter().enumerate() {
            let (start, size) = (from, graph.values[*value].size());
            from += size;
            let twice = node.operands.iter().filter(|other| at[**other] == at[*value]).count() > 1;
            let Some((storage, 0)) = at[*value] else { continue };
            let part = storages[storage].as_ref().expect("live");
            let argument = part.members.iter().any(|(member, _)| *member < graph.args.len());
            if twice || argument || part.size != size || rng.chance(30) {
                continue;
            }
            let part = storages[storage].take().expect("live");
            for (member, byte) in part.members {
                at[member] = Some((new, start + byte));
                whole.members.push((member, start + byte));
            }
            (whole.begin, whole.end) = (whole.begin.min(part.begin), whole.end.max(part.end));
            self.places.entry(id).or_default().push((position, start));
        }
    }

    fn fit(&mut self, graph: &Graph, mut storages: Vec<Option<Storage>>, steps: usize) {
        storages.iter_mut().flatten().for_each(|storage| storage.end = storage.end.min(steps.max(1)));
        let mut placed: Vec<(usize, usize, usize, usize)> = Vec::new();
        let mut held = vec![0; steps.max(1) + 1];
        let align = self.align;
        let mut put = |begin: usize, end: usize, size: usize| {
            (begin..end).for_each(|step| held[step] += size as i64);
            let mut met: Vec<(usize, usize)> = placed
                .iter()
                .filter(|other| other.0 < end && begin < other.1)
                .map(|other| (other.2, other.3))
                .collect();
            met.sort_unstable();
            let mut offset = 0;
            for (start, stop) in met {
                if offset + size <= start {
                    break;
                }
                offset = offset.max(stop.next_multiple_of(align));
            }
            placed.push((begin, end, offset, offset + size));
            offset as i64
        };
        for storage in storages.iter().flatten() {
            let offset = put(storage.begin, storage.end, storage.size);
            for (member, byte) in &storage.members {
                let view = self.views.contains_key(member);
                self.offsets[*member] = if view { -1 } else { offset + *byte as i64 };
            }
        }
        for (step, id) in self.order.iter().enumerate().filter(|(_, id)| graph.nodes[**id].scratch > 0) {
            self.scratch.insert(*id, put(step, step + 1, graph.nodes[*id].scratch));
        }
        self.peak = held.iter().copied().max().unwrap_or(0);
        self.arena = placed.iter().map(|other| other.3 as i64).max().unwrap_or(0);
        self.capacity = self.arena;
        self.class_limit = class_limit(graph, &storages, steps);
    }

    /// The planned module.
    pub(crate) fn text(&self, graph: &Graph) -> String {
        let (align, capacity) = (self.align, self.capacity);
        let top = top(align, capacity, self.class_limit);
        let func = format!("neap.peak = {} : i64, neap.arena_bytes = {} : i64", self.peak, self.arena);
        let extra = |id: usize| {
            let node = &graph.nodes[id];
            let offsets: Vec<String> = node.results.iter().map(|value| self.offsets[*value].to_string()).collect();
            let mut out = format!(
                ", neap.offsets = array<i64{}{}>",
                if offsets.is_empty() { "" } else { ": " },
                offsets.join(", ")
            );
            let views: Vec<String> = (node.results.iter().enumerate())
                .filter_map(|(index, value)| {
                    let (operand, start) = self.views.get(value)?;
                    Some(format!("{{result = {index} : i64, operand = {operand} : i64, byte_offset = {start} : i64}}"))
                })
                .collect();
            if !views.is_empty() {
                out += &format!(", neap.view = [{}]", views.join(", "));
            }
            if let Some(operand) = self.in_place.get(&id) {
                out += &format!(", neap.inplace = [{{result = 0 : i64, operand = {operand} : i64}}]");
            }
            if let Some(places) = self.places.get(&id) {
                let place = |(operand, start): &(usize, usize)| {
                    format!("{{operand = {operand} : i64, byte_offset = {start} : i64}}")
                };
                out += &format!(", neap.place = [{}]", places.iter().map(place).collect::<Vec<_>>().join(", "));
            }
            if node.scratch > 0 {
                out += &format!(", neap.scratch_offset = {} : i64", self.scratch[&id]);
            }
            out
        };
        let arg = |at: usize| match self.offsets[at] {
            -1 => String::new(),
            offset => format!(", neap.offset = {offset} : i64"),
        };
        graph.text(&self.order, &top, &func, &extra, &arg)
    }
}

/// Declarations of the arena and the class.
pub(crate) fn top(align: usize, capacity: i64, limit: i64) -> String {
    format!(
        "\"neap.arena\"() {{sym_name = \"a\", align = {align} : i64, size = {capacity} : i64}} : () -> ()\n\"neap.class\"() {{sym_name = \"K\", limit = {limit} : i64}} : () -> ()"
    )
}

/// A random order that keeps data flow and the order of reads and writes of each variable.
fn order(graph: &Graph, rng: &mut Random) -> Vec<usize> {
    let count = graph.nodes.len();
    let touches = |node: usize| match graph.nodes[node].kind {
        Kind::Read(variable) => Some((variable, false)),
        Kind::Write(variable) => Some((variable, true)),
        _ => None,
    };
    let before = |a: usize, b: usize| {
        let flow = graph.nodes[a].results.iter().any(|value| graph.nodes[b].operands.contains(value));
        let state = match (touches(a), touches(b)) {
            (Some((x, p)), Some((y, q))) => a < b && x == y && (p || q),
            _ => false,
        };
        flow || state
    };
    let (mut out, mut left): (Vec<usize>, Vec<usize>) = (Vec::new(), (0..count).collect());
    while !left.is_empty() {
        let ready: Vec<usize> =
            left.iter().copied().filter(|b| !left.iter().any(|a| a != b && before(*a, *b))).collect();
        let pick = ready[rng.below(ready.len())];
        left.retain(|node| *node != pick);
        out.push(pick);
    }
    out
}

fn class_limit(graph: &Graph, storages: &[Option<Storage>], steps: usize) -> i64 {
    let classed = |value: usize| graph.nodes.iter().any(|node| node.class && node.results.contains(&value));
    let of_class: Vec<&Storage> =
        storages.iter().flatten().filter(|storage| storage.members.iter().any(|(value, _)| classed(*value))).collect();
    let live = |step: usize| of_class.iter().filter(|storage| storage.begin <= step && step < storage.end).count();
    (0..steps.max(1)).map(live).max().unwrap_or(0) as i64
}
