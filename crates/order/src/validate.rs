//! Checks a [`Spec`] and builds the [`Problem`].
//!
//! Checked: every index exists; all sizes (and all cycles) add up to at most 2^63-1; candidates match what their op reads and
//! writes; unions and required candidates join equal classes; the dependencies have no cycle, not even with groups
//! contracted; the input's order respects them. Linear time, no recursion.

use crate::csr::Csr;
use crate::error::{Place, ProblemError, Refusal};
use crate::ids::{GroupId, OpId, StorageId};
use crate::problem::{Problem, Spec, Storage};
use crate::topo;

const MOST: usize = 1 << 31;

pub(crate) fn problem(spec: Spec) -> Result<Problem, ProblemError> {
    counts(&spec)?;
    indices(&spec)?;
    sums(&spec)?;
    let rep = unions(&spec)?;
    candidates(&spec, &rep)?;
    let n = spec.ops.len();
    let given = given_edges(&spec);
    let succs = Csr::new(n, n, &given);
    if let Some(cycle) = topo::cycle(&succs) {
        return Err(ProblemError::Cycle { ops: ids(&cycle) });
    }
    if let Some(&(a, b)) = given.iter().find(|(a, b)| a > b) {
        return Err(ProblemError::InputOrder { first: OpId(a), then: OpId(b) });
    }
    let (succs, forward) = with_required(&spec, &rep, given, succs)?;
    let preds = succs.transpose(n);
    let group = groups(&spec)?;
    let adjacent = groups_adjacent(&group);
    let input_legal = forward && adjacent;
    let legal_order = if input_legal {
        (0..n as u32).collect()
    } else {
        topo::grouped_order(&preds, &succs, &group, spec.groups.len())
            .map_err(|ops| ProblemError::GroupCycle { ops: ids(&ops) })?
    };
    Ok(Problem { spec, rep, preds, succs, group, input_legal, legal_order })
}

fn ids(ops: &[u32]) -> Vec<OpId> {
    ops.iter().map(|&o| OpId(o)).collect()
}

fn counts(spec: &Spec) -> Result<(), ProblemError> {
    let edges: usize = spec.deps.len() + spec.storages.iter().map(|s| s.writers.len() + s.readers.len()).sum::<usize>();
    let most = [spec.ops.len(), spec.storages.len(), spec.in_place.len(), spec.placement.len(), edges];
    if most.iter().any(|&m| m >= MOST) { Err(ProblemError::TooLarge) } else { Ok(()) }
}

fn indices(spec: &Spec) -> Result<(), ProblemError> {
    let op = |place: Place, op: OpId| {
        if op.index() < spec.ops.len() { Ok(()) } else { Err(ProblemError::UnknownOp { place, op }) }
    };
    let storage = |place: Place, storage: StorageId| {
        if storage.index() < spec.storages.len() {
            Ok(())
        } else {
            Err(ProblemError::UnknownStorage { place, storage })
        }
    };
    for (i, s) in spec.storages.iter().enumerate() {
        let id = StorageId(i as u32);
        for &o in s.writers.iter().chain(&s.readers) {
            op(Place::Storage(id), o)?;
        }
        if let Some(class) = s.class.filter(|c| c.index() >= spec.classes.len()) {
            return Err(ProblemError::UnknownClass { storage: id, class });
        }
    }
    for (i, &(a, b)) in spec.deps.iter().enumerate() {
        op(Place::Dep(i), a)?;
        op(Place::Dep(i), b)?;
    }
    for (i, c) in spec.in_place.iter().enumerate() {
        op(Place::InPlace(i), c.op)?;
        storage(Place::InPlace(i), c.result)?;
        storage(Place::InPlace(i), c.operand)?;
    }
    for (i, c) in spec.placement.iter().enumerate() {
        op(Place::Placement(i), c.op)?;
        storage(Place::Placement(i), c.part)?;
        storage(Place::Placement(i), c.whole)?;
    }
    for (i, u) in spec.unions.iter().enumerate() {
        for &s in u {
            storage(Place::Union(i), s)?;
        }
    }
    for (i, g) in spec.groups.iter().enumerate() {
        for &o in g {
            op(Place::Group(i), o)?;
        }
    }
    Ok(())
}

fn sums(spec: &Spec) -> Result<(), ProblemError> {
    let limit = i64::MAX as u64;
    let mut total = spec.ops.iter().map(|o| o.scratch).max().unwrap_or(0);
    if total > limit {
        return Err(ProblemError::TooManyBytes { place: Place::Op(OpId(0)) });
    }
    for (i, s) in spec.storages.iter().enumerate() {
        total = match total.checked_add(s.size) {
            Some(t) if t <= limit => t,
            _ => {
                return Err(ProblemError::TooManyBytes { place: Place::Storage(StorageId(i as u32)) });
            }
        };
    }
    let mut cycles = 0u64;
    for (i, o) in spec.ops.iter().enumerate() {
        cycles = match cycles.checked_add(o.cycles) {
            Some(t) if t <= limit => t,
            _ => return Err(ProblemError::TooManyCycles { op: OpId(i as u32) }),
        };
    }
    Ok(())
}

/// Union-find over `spec.unions`; the representative is the smallest id.
fn unions(spec: &Spec) -> Result<Vec<u32>, ProblemError> {
    let mut rep: Vec<u32> = (0..spec.storages.len() as u32).collect();
    for (i, u) in spec.unions.iter().enumerate() {
        for pair in u.windows(2) {
            if spec.storages[pair[0].index()].class != spec.storages[pair[1].index()].class {
                return Err(ProblemError::ClassesDiffer { place: Place::Union(i) });
            }
            join(&mut rep, pair[0].0, pair[1].0);
        }
    }
    for s in 0..rep.len() as u32 {
        rep[s as usize] = find(&mut rep, s);
    }
    Ok(rep)
}

/// The representative of `s`, halving paths on the way.
pub(crate) fn find(rep: &mut [u32], mut s: u32) -> u32 {
    while rep[s as usize] != s {
        rep[s as usize] = rep[rep[s as usize] as usize];
        s = rep[s as usize];
    }
    s
}

/// Joins the sets of `a` and `b` under the smaller representative.
pub(crate) fn join(rep: &mut [u32], a: u32, b: u32) {
    let (a, b) = (find(rep, a), find(rep, b));
    rep[a.max(b) as usize] = a.min(b);
}

fn candidates(spec: &Spec, rep: &[u32]) -> Result<(), ProblemError> {
    let class = |s: StorageId| spec.storages[s.index()].class;
    for (i, c) in spec.in_place.iter().enumerate() {
        let place = Place::InPlace(i);
        let (result, operand) = (&spec.storages[c.result.index()], &spec.storages[c.operand.index()]);
        if !result.writers.contains(&c.op) || !operand.readers.contains(&c.op) {
            return Err(ProblemError::BadCandidate { place });
        }
        if c.required {
            let why = if rep[c.result.index()] == rep[c.operand.index()] {
                Some(Refusal::SameStorage)
            } else if class(c.result) != class(c.operand) {
                Some(Refusal::ClassesDiffer)
            } else {
                kept(operand, c.operand)
            };
            if let Some(why) = why {
                return Err(ProblemError::RequiredImpossible { place, why });
            }
        }
    }
    for (i, c) in spec.placement.iter().enumerate() {
        let place = Place::Placement(i);
        let (whole, part) = (&spec.storages[c.whole.index()], &spec.storages[c.part.index()]);
        if !whole.writers.contains(&c.op) || !part.readers.contains(&c.op) {
            return Err(ProblemError::BadCandidate { place });
        }
        if c.offset.checked_add(part.size).is_none_or(|end| end > whole.size) {
            return Err(ProblemError::PartOutside { candidate: i });
        }
    }
    Ok(())
}

fn kept(s: &Storage, id: StorageId) -> Option<Refusal> {
    (s.live_out || s.whole_run).then_some(Refusal::Kept { storage: id })
}

/// Explicit edges, and writer to reader of each storage with one writer.
fn given_edges(spec: &Spec) -> Vec<(u32, u32)> {
    let mut edges: Vec<(u32, u32)> = spec.deps.iter().map(|&(a, b)| (a.0, b.0)).collect();
    for s in &spec.storages {
        let Some(&w) = s.writers.first() else {
            continue;
        };
        if s.writers.iter().all(|&x| x == w) {
            edges.extend(s.readers.iter().filter(|&&r| r != w).map(|&r| (w.0, r.0)));
        }
    }
    edges
}

/// Adds "everyone else who touches the operand, then the op" for each required in-place candidate.
fn with_required(
    spec: &Spec,
    rep: &[u32],
    mut edges: Vec<(u32, u32)>,
    succs: Csr,
) -> Result<(Csr, bool), ProblemError> {
    if !spec.in_place.iter().any(|c| c.required) {
        return Ok((succs, true));
    }
    let n = spec.ops.len();
    let mut touch: Vec<(u32, u32)> = Vec::new();
    for (i, s) in spec.storages.iter().enumerate() {
        touch.extend(s.writers.iter().chain(&s.readers).map(|o| (rep[i], o.0)));
    }
    let touch = Csr::new(spec.storages.len(), n, &touch);
    let mut forward = true;
    let mut added: Vec<(u32, u32, usize)> = Vec::new();
    for (i, c) in spec.in_place.iter().enumerate().filter(|(_, c)| c.required) {
        for &o in touch.row(rep[c.operand.index()] as usize) {
            if o != c.op.0 {
                forward &= o < c.op.0;
                added.push((o, c.op.0, i));
            }
        }
    }
    edges.extend(added.iter().map(|&(a, b, _)| (a, b)));
    let succs = Csr::new(n, n, &edges);
    if let Some(cycle) = topo::cycle(&succs) {
        let on_cycle = |a: u32, b: u32| (0..cycle.len()).any(|k| cycle[k] == a && cycle[(k + 1) % cycle.len()] == b);
        let guilty = added.iter().find(|&&(a, b, _)| on_cycle(a, b));
        return Err(match guilty {
            Some(&(by, _, i)) => ProblemError::RequiredImpossible {
                place: Place::InPlace(i),
                why: Refusal::TouchedLater { by: OpId(by) },
            },
            None => ProblemError::Cycle { ops: ids(&cycle) },
        });
    }
    Ok((succs, forward))
}

fn groups(spec: &Spec) -> Result<Vec<u32>, ProblemError> {
    let mut group = vec![u32::MAX; spec.ops.len()];
    for (g, members) in spec.groups.iter().enumerate() {
        for &op in members {
            let slot = &mut group[op.index()];
            if *slot != u32::MAX && *slot != g as u32 {
                return Err(ProblemError::TwoGroups { op, group: GroupId(g as u32) });
            }
            *slot = g as u32;
        }
    }
    Ok(group)
}

/// Whether each group's members are neighbours in the order `0..n`.
fn groups_adjacent(group: &[u32]) -> bool {
    let mut closed = rustc_hash::FxHashSet::default();
    group.windows(2).all(|w| {
        if w[0] != w[1] && w[0] != u32::MAX {
            closed.insert(w[0]);
        }
        w[0] == w[1] || w[1] == u32::MAX || !closed.contains(&w[1])
    })
}
