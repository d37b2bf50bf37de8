//! Random problems for tests, the same on every machine.
#![allow(unreachable_pub, reason = "each test file is a crate of its own and uses a part")]

use neap_order::{InPlace, Op, OpId, Spec, Storage, StorageId};

/// Numbers, the same on every machine (SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// A random problem of `ops` ops: arguments, scratch, storages read by several or by nobody, kept ones, ones written in parts, view chains (a
/// dependency and one storage more read), tokens (edges), zero sizes, held storages, in-place candidates of equal size.
pub fn plain(random: &mut Random, ops: usize) -> Spec {
    let mut spec = Spec::default();
    for _ in 0..random.below(3) {
        let whole_run = random.chance(15);
        spec.storages.push(Storage { size: random.below(30) as u64, whole_run, ..Storage::default() });
    }
    let reach = 2 + random.below(8);
    for v in 0..ops as u32 {
        let op = OpId(v);
        let scratch = if random.chance(15) { random.below(20) as u64 } else { 0 };
        spec.ops.push(Op { scratch, cycles: 1 + random.below(9) as u64, ..Op::default() });
        let known = spec.storages.len();
        let mut reads: Vec<usize> = Vec::new();
        for _ in 0..random.below(4) {
            let back = random.below(reach.min(known.max(1)));
            reads.extend(known.checked_sub(back + 1));
        }
        reads.sort_unstable();
        reads.dedup();
        for &r in &reads {
            spec.storages[r].readers.push(op);
            // Written in parts: a reader follows every writer.
            let writers: Vec<OpId> = spec.storages[r].writers.iter().copied().filter(|w| *w != op).collect();
            if writers.len() > 1 {
                spec.deps.extend(writers.into_iter().map(|w| (w, op)));
            }
        }
        if v > 0 && random.chance(12) {
            spec.deps.push((OpId(random.below(v as usize) as u32), op));
        }
        results(&mut spec, random, op, &reads);
    }
    spec
}

fn results(spec: &mut Spec, random: &mut Random, op: OpId, reads: &[usize]) {
    if random.chance(8) {
        // Another part of a storage that nobody has read yet.
        let unread = |s: &Storage| s.readers.is_empty() && s.writers.len() == 1 && s.writers[0] != op && !s.live_out;
        if let Some(s) = spec.storages.iter_mut().rev().find(|s| unread(s)) {
            s.writers.push(op);
        }
    }
    for _ in 0..1 + usize::from(random.chance(20)) {
        let result = StorageId(spec.storages.len() as u32);
        let over = reads.first().copied().filter(|_| random.chance(35));
        let size = over.map_or_else(|| random.below(40) as u64, |x| spec.storages[x].size);
        let live_out = random.chance(8);
        spec.storages.push(Storage { size, writers: vec![op], live_out, ..Storage::default() });
        if let Some(x) = over {
            spec.in_place.push(InPlace { op, result, operand: StorageId(x as u32), required: false });
        }
    }
}
