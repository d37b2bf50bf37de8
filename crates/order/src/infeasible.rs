//! Why no order can satisfy the classes: an op that alone touches more than is allowed.
//!
//! Sound because all storages that an op touches are live during its step; every candidate of the op that could make two of them one is granted.

use crate::ids::{ClassId, OpId, StorageId};
use crate::problem::Problem;
use crate::solution::{InfeasibleProof, Options};

/// The first op that no order can run.
pub(crate) fn alone(problem: &Problem, options: &Options) -> Option<InfeasibleProof> {
    let spec = &problem.spec;
    if spec.classes.is_empty() {
        return None;
    }
    let mut touched: Vec<Vec<u32>> = vec![Vec::new(); problem.ops()];
    for (i, s) in spec.storages.iter().enumerate().filter(|(_, s)| s.class.is_some()) {
        for op in s.writers.iter().chain(&s.readers) {
            touched[op.index()].push(problem.rep[i]);
        }
    }
    let mut spared = vec![(0u64, 0u64); problem.ops()];
    let mut grant = |op: OpId, s: StorageId| {
        let spared = &mut spared[op.index()];
        *spared = (spared.0 + 1, spared.1.saturating_add(spec.storages[problem.rep[s.index()] as usize].size));
    };
    let open = |allowed: bool, required: bool| allowed || required;
    spec.in_place.iter().filter(|c| open(options.in_place, c.required)).for_each(|c| grant(c.op, c.operand));
    spec.placement.iter().filter(|c| open(options.placement, c.required)).for_each(|c| grant(c.op, c.part));
    for (v, list) in touched.iter_mut().enumerate() {
        list.sort_unstable();
        list.dedup();
        for (c, class) in spec.classes.iter().enumerate() {
            let id = ClassId(c as u32);
            let members: Vec<u32> =
                list.iter().copied().filter(|&s| spec.storages[s as usize].class == Some(id)).collect();
            let bytes: u64 = members.iter().map(|&s| spec.storages[s as usize].size).sum();
            let many = class.limit.is_some_and(|l| members.len() as u64 > u64::from(l) + spared[v].0);
            let large = class.capacity.is_some_and(|b| bytes > b.saturating_add(spared[v].1));
            if many || large {
                let storages = members.into_iter().map(StorageId).collect();
                return Some(InfeasibleProof::Op { op: OpId(v as u32), class: id, storages });
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::weights_first;
    use crate::problem::Class;

    #[test]
    fn two_weights_at_one_op_do_not_fit_one_slot() {
        let mut spec = weights_first().spec().clone();
        spec.classes = vec![Class { limit: Some(1), capacity: None }];
        spec.storages[1].class = Some(ClassId(0));
        spec.storages[2].class = Some(ClassId(0));
        let p = Problem::new(spec.clone()).expect("legal");
        assert_eq!(alone(&p, &Options::default()), None);
        spec.storages[2].readers.push(OpId(2));
        let p = Problem::new(spec).expect("legal");
        let storages = vec![StorageId(1), StorageId(2)];
        let proof = InfeasibleProof::Op { op: OpId(2), class: ClassId(0), storages };
        assert_eq!(alone(&p, &Options::default()), Some(proof));
    }
}
