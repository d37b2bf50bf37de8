//! A random legal order, the same for the same seed, for tests and baselines.

use crate::model::{Model, NONE};

/// A small generator (SplitMix64, Steele et al. 2014).
#[derive(Debug, Clone)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `end` (at least 1).
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

/// A random order that respects dependencies and groups (not classes).
pub(crate) fn order(model: &Model, seed: u64) -> Vec<u32> {
    let mut random = Random(seed);
    let mut left: Vec<u32> = (0..model.n).map(|v| model.preds.row(v).len() as u32).collect();
    let mut wait = vec![0u32; model.groups];
    for v in 0..model.n {
        let g = model.group[v];
        if g != NONE {
            wait[g as usize] += model.preds.row(v).iter().filter(|&&p| model.group[p as usize] != g).count() as u32;
        }
    }
    let mut size = vec![0u32; model.groups];
    for &g in model.group.iter().filter(|&&g| g != NONE) {
        size[g as usize] += 1;
    }
    let mut ready: Vec<u32> = (0..model.n as u32).filter(|&v| left[v as usize] == 0).collect();
    let mut order = Vec::with_capacity(model.n);
    let mut open = NONE;
    while order.len() < model.n {
        let may = |v: u32| {
            let g = model.group[v as usize];
            if open != NONE { g == open } else { g == NONE || wait[g as usize] == 0 }
        };
        let start = random.below(ready.len());
        let Some(at) = (0..ready.len()).map(|k| (start + k) % ready.len()).find(|&k| may(ready[k])) else {
            break;
        };
        let v = ready.swap_remove(at);
        order.push(v);
        let g = model.group[v as usize];
        if g != NONE {
            size[g as usize] -= 1;
            open = if size[g as usize] > 0 { g } else { NONE };
        }
        for &w in model.succs.row(v as usize) {
            left[w as usize] -= 1;
            let other = model.group[w as usize];
            if other != NONE && other != g {
                wait[other as usize] -= 1;
            }
            if left[w as usize] == 0 {
                ready.push(w);
            }
        }
    }
    order
}
