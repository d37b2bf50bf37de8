//! The best set of in-place pairs of one op: each result over one operand, each operand under one result.
//!
//! A pair joins storages of equal size, so every connected part of the bipartite graph has one weight and a maximum-cardinality matching
//! (augmenting paths) has maximum bytes.

use crate::model::Pair;

/// A maximum matching of `pairs`, in their order.
pub(crate) fn best(pairs: &[Pair]) -> Vec<Pair> {
    match pairs {
        [] => Vec::new(),
        [p] => vec![*p],
        _ => augmented(pairs),
    }
}

fn augmented(pairs: &[Pair]) -> Vec<Pair> {
    let mut born: Vec<u32> = pairs.iter().map(|p| p.born).collect();
    let mut dying: Vec<u32> = pairs.iter().map(|p| p.dying).collect();
    born.sort_unstable();
    born.dedup();
    dying.sort_unstable();
    dying.dedup();
    let at = |list: &[u32], x: u32| list.binary_search(&x).unwrap_or(0);
    // The pair by which each result, and each operand, is matched.
    let mut by_born: Vec<Option<usize>> = vec![None; born.len()];
    let mut by_dying: Vec<Option<usize>> = vec![None; dying.len()];
    for root in 0..born.len() {
        // Breadth-first over alternating paths; `from[d]` is the pair that reached operand `d`.
        let mut from: Vec<Option<usize>> = vec![None; dying.len()];
        let mut queue = vec![root];
        let mut head = 0;
        let mut free = None;
        while head < queue.len() && free.is_none() {
            let b = queue[head];
            head += 1;
            for (k, p) in pairs.iter().enumerate().filter(|(_, p)| p.born == born[b]) {
                let d = at(&dying, p.dying);
                if from[d].is_some() {
                    continue;
                }
                from[d] = Some(k);
                match by_dying[d] {
                    None => {
                        free = Some(d);
                        break;
                    }
                    Some(k) => queue.push(at(&born, pairs[k].born)),
                }
            }
        }
        while let Some(d) = free {
            let Some(k) = from[d] else { break };
            let b = at(&born, pairs[k].born);
            free = by_born[b].map(|old| at(&dying, pairs[old].dying));
            by_born[b] = Some(k);
            by_dying[d] = Some(k);
        }
    }
    let mut chosen: Vec<usize> = by_born.into_iter().flatten().collect();
    chosen.sort_unstable();
    chosen.into_iter().map(|k| pairs[k]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(born: u32, dying: u32) -> Pair {
        Pair { born, dying, bytes: 8, candidate: born * 10 + dying }
    }

    #[test]
    fn augments_past_a_greedy_choice() {
        let got = best(&[pair(0, 5), pair(0, 6), pair(1, 5)]);
        assert_eq!(got, [pair(0, 6), pair(1, 5)]);
    }

    #[test]
    fn one_operand_serves_one_result() {
        assert_eq!(best(&[pair(0, 5), pair(1, 5)]).len(), 1);
    }
}
