//! Which candidates may be taken together in a given order, and why not.
//!
//! Rules (the physical ones, so that no value is overwritten while someone needs it):
//! - in place: the op is the only writer of the result and the last to touch the operand *and everything that was placed inside it*;
//!   none of these is kept; an operand is overwritten by one result, a result overwrites one operand;
//! - placement: the op is the only writer of the whole; a part lies in one place; places in a whole do not overlap; whatever
//!   shares the part's bytes fits into the place; a placed part is nobody's in-place operand (its bytes are the whole's from then on), and a
//!   whole with placed parts is nobody's in-place result (its bytes are in use before its op runs);
//! - both: equal classes, and not one storage already.

use crate::error::{OrderError, Place, Refusal};
use crate::ids::{OpId, StorageId};
use crate::problem::Problem;
use crate::validate::{find, join};

/// Taken candidates, as sorted indices into the lists of [`crate::Spec`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Taken {
    /// Indices into [`crate::Spec::in_place`].
    pub in_place: Vec<usize>,
    /// Indices into [`crate::Spec::placement`].
    pub placement: Vec<usize>,
}

/// The representative (smallest id) of every storage, under the unions of the problem and `taken`.
pub fn merged(problem: &Problem, taken: &Taken) -> Vec<StorageId> {
    let mut rep = problem.rep.clone();
    for &i in &taken.in_place {
        let c = &problem.spec.in_place[i];
        join(&mut rep, c.result.0, c.operand.0);
    }
    for &i in &taken.placement {
        let c = &problem.spec.placement[i];
        join(&mut rep, c.part.0, c.whole.0);
    }
    (0..rep.len() as u32).map(|s| StorageId(find(&mut rep, s))).collect()
}

/// Why candidate `place` cannot join `taken` in `order`; [`Refusal::NotChosen`] when it could.
///
/// # Errors
/// `order` or `taken` is itself not valid.
pub fn refusal(problem: &Problem, order: &[OpId], taken: &Taken, place: Place) -> Result<Refusal, OrderError> {
    let position = crate::simulate::positions(problem, order)?;
    check(problem, &position, taken)?;
    let mut more = taken.clone();
    let (list, i) = match place {
        Place::InPlace(i) => (&mut more.in_place, i),
        Place::Placement(i) => (&mut more.placement, i),
        _ => return Err(OrderError::NoSuchCandidate { place }),
    };
    match list.binary_search(&i) {
        Ok(_) => return Err(OrderError::NoSuchCandidate { place }),
        Err(at) => list.insert(at, i),
    }
    match check(problem, &position, &more) {
        Ok(()) => Ok(Refusal::NotChosen),
        Err(OrderError::Candidate { why, .. }) => Ok(why),
        Err(other) => Err(other),
    }
}

/// Checks that `taken` can be had when each op runs at its `position`.
pub(crate) fn check(problem: &Problem, position: &[usize], taken: &Taken) -> Result<(), OrderError> {
    listed(problem, taken)?;
    if *taken == Taken::default() {
        return Ok(());
    }
    let bases = Bases::new(problem, taken)?;
    bases.cyclic(problem, taken)?;
    bases.overlap(problem)?;
    for &i in &taken.in_place {
        let refuse = |why| OrderError::Candidate { place: Place::InPlace(i), why };
        bases.in_place(problem, position, i).map_err(refuse)?;
    }
    for &i in &taken.placement {
        let refuse = |why| OrderError::Candidate { place: Place::Placement(i), why };
        bases.placement(problem, i).map_err(refuse)?;
    }
    Ok(())
}

fn listed(problem: &Problem, taken: &Taken) -> Result<(), OrderError> {
    let spec = &problem.spec;
    let sound = |list: &[usize], len: usize, place: fn(usize) -> Place| {
        for (k, &i) in list.iter().enumerate() {
            if i >= len || (k > 0 && list[k - 1] >= i) {
                return Err(OrderError::NoSuchCandidate { place: place(i) });
            }
        }
        Ok(())
    };
    sound(&taken.in_place, spec.in_place.len(), Place::InPlace)?;
    sound(&taken.placement, spec.placement.len(), Place::Placement)?;
    let missing = |list: &[usize], i: &usize| list.binary_search(i).is_err();
    let mut required = (0..spec.in_place.len()).filter(|&i| spec.in_place[i].required);
    if let Some(i) = required.find(|i| missing(&taken.in_place, i)) {
        return Err(OrderError::RequiredNotTaken { place: Place::InPlace(i) });
    }
    let mut required = (0..spec.placement.len()).filter(|&i| spec.placement[i].required);
    if let Some(i) = required.find(|i| missing(&taken.placement, i)) {
        return Err(OrderError::RequiredNotTaken { place: Place::Placement(i) });
    }
    Ok(())
}

/// Per base storage (union of the problem): what it is to the taken candidates.
struct Bases {
    rep: Vec<u32>,
    members: Vec<Vec<u32>>,
    operand_of: Vec<Option<usize>>,
    result_of: Vec<Option<usize>>,
    part_of: Vec<Option<usize>>,
    parts: Vec<Vec<usize>>,
    size: Vec<u64>,
}

impl Bases {
    fn new(problem: &Problem, taken: &Taken) -> Result<Bases, OrderError> {
        let n = problem.spec.storages.len();
        let mut b = Bases {
            rep: problem.rep.clone(),
            members: vec![Vec::new(); n],
            operand_of: vec![None; n],
            result_of: vec![None; n],
            part_of: vec![None; n],
            parts: vec![Vec::new(); n],
            size: vec![0; n],
        };
        for (s, storage) in problem.spec.storages.iter().enumerate() {
            let r = b.rep[s] as usize;
            b.members[r].push(s as u32);
            b.size[r] = b.size[r].max(storage.size);
        }
        for &i in &taken.in_place {
            let c = &problem.spec.in_place[i];
            let (x, r) = (b.base(c.operand), b.base(c.result));
            let place = Place::InPlace(i);
            b.class(problem, c.operand, c.result, place)?;
            claim(&mut b.operand_of[x], i, place, Place::InPlace)?;
            claim(&mut b.result_of[r], i, place, Place::InPlace)?;
        }
        for &i in &taken.placement {
            let c = &problem.spec.placement[i];
            let (p, w) = (b.base(c.part), b.base(c.whole));
            b.class(problem, c.part, c.whole, Place::Placement(i))?;
            claim(&mut b.part_of[p], i, Place::Placement(i), Place::Placement)?;
            b.parts[w].push(i);
        }
        Ok(b)
    }

    fn base(&self, s: StorageId) -> usize {
        self.rep[s.index()] as usize
    }

    fn class(&self, problem: &Problem, a: StorageId, b: StorageId, place: Place) -> Result<(), OrderError> {
        let why = if self.base(a) == self.base(b) {
            Refusal::SameStorage
        } else if problem.spec.storages[a.index()].class != problem.spec.storages[b.index()].class {
            Refusal::ClassesDiffer
        } else {
            return Ok(());
        };
        Err(OrderError::Candidate { place, why })
    }

    fn in_place(&self, problem: &Problem, position: &[usize], i: usize) -> Result<(), Refusal> {
        let c = &problem.spec.in_place[i];
        let (x, r) = (self.base(c.operand), self.base(c.result));
        self.sole_writer(problem, r, c.op)?;
        if let Some(&with) = self.parts[r].first() {
            return Err(Refusal::Conflict { with: Place::Placement(with) });
        }
        if let Some(with) = self.part_of[x] {
            return Err(Refusal::Conflict { with: Place::Placement(with) });
        }
        let mut stack = vec![x];
        while let Some(base) = stack.pop() {
            for &m in &self.members[base] {
                let s = &problem.spec.storages[m as usize];
                if s.live_out || s.whole_run {
                    return Err(Refusal::Kept { storage: StorageId(m) });
                }
                let mut touch = s.writers.iter().chain(&s.readers);
                let late = |o: &&OpId| **o != c.op && position[o.index()] >= position[c.op.index()];
                if let Some(&by) = touch.find(late) {
                    return Err(Refusal::TouchedLater { by });
                }
            }
            // Parts of parts: each part lies in one place and cycles were refused, so a base is visited once.
            stack.extend(self.parts[base].iter().map(|&p| self.base(problem.spec.placement[p].part)));
        }
        Ok(())
    }

    fn sole_writer(&self, problem: &Problem, base: usize, op: OpId) -> Result<(), Refusal> {
        for &m in &self.members[base] {
            let s = &problem.spec.storages[m as usize];
            if let Some(&other) = s.writers.iter().find(|&&w| w != op) {
                return Err(Refusal::OtherWriter { op: other });
            }
            // An argument has an unseen writer: the caller.
            if s.writers.is_empty() {
                return Err(Refusal::Kept { storage: StorageId(m) });
            }
        }
        Ok(())
    }

    fn placement(&self, problem: &Problem, i: usize) -> Result<(), Refusal> {
        let c = &problem.spec.placement[i];
        self.sole_writer(problem, self.base(c.whole), c.op)?;
        let room = problem.spec.storages[c.part.index()].size;
        // The part and everything it was written over lie in the part's place.
        let mut base = self.base(c.part);
        for _ in 0..=self.rep.len() {
            if self.size[base] > room {
                return Err(Refusal::LargerThanPlace { storage: StorageId(base as u32) });
            }
            match self.result_of[base] {
                Some(j) => base = self.base(problem.spec.in_place[j].operand),
                None => break,
            }
        }
        Ok(())
    }

    /// Refuses parts whose places in one whole overlap.
    fn overlap(&self, problem: &Problem) -> Result<(), OrderError> {
        let span = |i: usize| {
            let c = &problem.spec.placement[i];
            (c.offset, c.offset + problem.spec.storages[c.part.index()].size, i)
        };
        for parts in self.parts.iter().filter(|p| p.len() > 1) {
            let mut spans: Vec<_> = parts.iter().map(|&i| span(i)).filter(|s| s.0 < s.1).collect();
            spans.sort_unstable();
            if let Some(w) = spans.windows(2).find(|w| w[1].0 < w[0].1) {
                let (place, with) = (Place::Placement(w[1].2), Place::Placement(w[0].2));
                return Err(OrderError::Candidate { place, why: Refusal::Conflict { with } });
            }
        }
        Ok(())
    }

    /// Refuses taken candidates that join a storage with itself on a detour.
    fn cyclic(&self, problem: &Problem, taken: &Taken) -> Result<(), OrderError> {
        let mut rep = self.rep.clone();
        let pairs = taken.in_place.iter().map(|&i| {
            let c = &problem.spec.in_place[i];
            (c.operand, c.result, Place::InPlace(i))
        });
        let places = taken.placement.iter().map(|&i| {
            let c = &problem.spec.placement[i];
            (c.part, c.whole, Place::Placement(i))
        });
        for (a, b, place) in pairs.chain(places) {
            if find(&mut rep, a.0) == find(&mut rep, b.0) {
                return Err(OrderError::Candidate { place, why: Refusal::SameStorage });
            }
            join(&mut rep, a.0, b.0);
        }
        Ok(())
    }
}

fn claim(slot: &mut Option<usize>, i: usize, place: Place, other: fn(usize) -> Place) -> Result<(), OrderError> {
    match *slot {
        Some(j) => Err(OrderError::Candidate { place, why: Refusal::Conflict { with: other(j) } }),
        None => {
            *slot = Some(i);
            Ok(())
        }
    }
}
