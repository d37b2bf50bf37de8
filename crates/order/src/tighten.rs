//! Sinks ops towards their first reader, and hoists ops that free bytes, within a given order.
//!
//! An op that raises the live bytes is put off until just before its first successor; one that does not raise them runs as soon as it can. Ops that
//! depend on constants alone (dequantized weights) thus end up next to their first reader. Neither can be relied upon to
//! help, since what an op frees depends on who else still reads: the caller keeps the better order. Linear per pass.

use crate::model::Model;
use crate::replay::Run;

/// Puts every op whose net change is positive directly before its first successor.
pub(crate) fn sink(model: &Model, order: &[u32]) -> Vec<u32> {
    let net = nets(model, order);
    let n = model.n;
    let mut position = vec![0u32; n];
    for (k, &v) in order.iter().enumerate() {
        position[v as usize] = k as u32;
    }
    // Walk backwards: a sunk op joins the list of its first successor and is emitted right before it.
    let mut before: Vec<Vec<u32>> = vec![Vec::new(); n];
    let mut stays = vec![true; n];
    for (k, &v) in order.iter().enumerate().rev() {
        let first = model.succs.row(v as usize).iter().min_by_key(|&&w| position[w as usize]);
        if let Some(&w) = first.filter(|_| net[k] > 0) {
            before[w as usize].push(v);
            stays[v as usize] = false;
            // Its own position is now that of the successor, for those that wait for it.
            position[v as usize] = position[w as usize];
        }
    }
    let mut out = Vec::with_capacity(n);
    let mut stack: Vec<(u32, bool)> = Vec::new();
    for &v in order.iter().filter(|&&v| stays[v as usize]) {
        stack.push((v, false));
        while let Some((v, entered)) = stack.pop() {
            if entered {
                out.push(v);
                continue;
            }
            stack.push((v, true));
            // Pushed latest first while walking backwards: popping the last emits the earliest first.
            stack.extend(before[v as usize].iter().map(|&u| (u, false)));
        }
    }
    out
}

/// Net change of each step.
fn nets(model: &Model, order: &[u32]) -> Vec<i64> {
    let mut run = Run::new(model);
    order
        .iter()
        .map(|&v| {
            let before = run.live;
            run.step(v as usize);
            run.live - before
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn dequantized_weights_are_made_when_they_are_read() {
        let p = fixtures::weights_first();
        let m = crate::model::build(&p, &Default::default(), |_| true);
        assert_eq!(crate::replay::peak(&m, &[0, 1, 2, 3]), Some(10 + 100 + 100 + 10));
        let sunk = sink(&m, &[0, 1, 2, 3]);
        assert_eq!(sunk, [0, 2, 1, 3]);
        assert_eq!(crate::replay::peak(&m, &sunk), Some(10 + 100 + 10));
    }
}
