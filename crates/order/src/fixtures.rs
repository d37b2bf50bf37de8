//! Small problems for unit tests.

use crate::ids::OpId;
use crate::problem::{Op, Problem, Spec, Storage};

/// A storage by size, writers and readers.
pub(crate) fn storage(size: u64, writers: &[u32], readers: &[u32]) -> Storage {
    let ids = |list: &[u32]| list.iter().map(|&o| OpId(o)).collect();
    Storage { size, writers: ids(writers), readers: ids(readers), ..Storage::default() }
}

/// A result by size and writer.
pub(crate) fn result(size: u64, writer: u32) -> Storage {
    Storage { live_out: true, ..storage(size, &[writer], &[]) }
}

/// A problem of `ops` plain ops.
pub(crate) fn problem(ops: usize, storages: Vec<Storage>) -> Problem {
    let spec = Spec { ops: vec![Op::default(); ops], storages, ..Spec::default() };
    Problem::new(spec).expect("a legal problem")
}

/// Two weights computed from nothing (ops 0 and 1), read one after the other.
pub(crate) fn weights_first() -> Problem {
    problem(
        4,
        vec![
            storage(10, &[], &[2]),
            storage(100, &[0], &[2]),
            storage(100, &[1], &[3]),
            storage(10, &[2], &[3]),
            result(10, 3),
        ],
    )
}

/// A layered graph whose optimum lies above every flow bound, so that it has to be searched.
pub(crate) fn layers() -> Problem {
    let mut random = crate::shuffle::Random(5);
    let ops = 24;
    let mut storages: Vec<Storage> = (0..ops).map(|v| storage(1 + random.next() % 64, &[v], &[])).collect();
    for v in 6..ops {
        for _ in 0..2 {
            let from = (v / 6 - 1) * 6 + (random.next() % 6) as u32;
            storages[from as usize].readers.push(OpId(v));
        }
    }
    storages.iter_mut().for_each(|s| s.live_out = s.readers.is_empty());
    problem(ops as usize, storages)
}
