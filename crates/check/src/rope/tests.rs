//! Moves of ropes against moves of single bits.

use super::{Bits, Level, Rope, Seg, Wraps, level, same};

fn bits(rope: &Rope) -> Vec<(u128, Bits)> {
    let mut out = Vec::new();
    for run in rope.runs(1 << 20).expect("small") {
        out.extend((0..run.len).map(|at| (run.content, run.start + at)));
    }
    out
}

fn positions(levels: &[Level], start: Bits) -> Vec<Bits> {
    match levels {
        [] => vec![start],
        [outer, inner @ ..] => {
            (0..outer.count).flat_map(|round| positions(inner, start + round * outer.stride)).collect()
        }
    }
}

/// A small generator: xorshift, so that the test needs no crate.
fn next(state: &mut u64, below: u64) -> Bits {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state % below) as Bits
}

fn random_rope(state: &mut u64) -> Rope {
    let mut rope = Rope::default();
    for _ in 0..1 + next(state, 3) {
        let levels: Vec<Level> = (0..1 + next(state, 3)).map(|_| level(1 + next(state, 4), next(state, 7))).collect();
        rope.push(Seg::new(next(state, 2) as u128, next(state, 9), levels));
    }
    rope
}

/// Every move of ropes gives exactly the bits that moving single bits gives.
#[test]
fn moves_move_the_right_bits() {
    let (mut state, mut composed) = (88172645463325252, 0);
    for _ in 0..20_000 {
        let rope = random_rope(&mut state);
        let all = bits(&rope);
        assert_eq!(all.len() as Bits, rope.len);
        let from = next(&mut state, rope.len as u64);
        let to = from + 1 + next(&mut state, (rope.len - from) as u64);
        assert_eq!(bits(&rope.slice(from, to)), all[from as usize..to as usize]);
        let levels: Vec<Level> =
            (0..1 + next(&mut state, 3)).map(|_| level(1 + next(&mut state, 4), next(&mut state, 5))).collect();
        let reach: Bits = levels.iter().map(|level| (level.count - 1) * level.stride).sum();
        if reach >= rope.len {
            continue;
        }
        let start = next(&mut state, (rope.len - reach) as u64);
        let mut wraps = Wraps::default();
        let moved = rope.gather(start, levels.clone(), &mut wraps);
        let want: Vec<_> = positions(&levels, start).iter().map(|at| all[*at as usize]).collect();
        composed += usize::from(rope.segs.len() == 1 && rope.segs[0].levels.len() > 1);
        assert_eq!(bits(&moved), want, "{rope:?} through {start} {levels:?}");
    }
    assert!(composed > 1000, "{composed}");
}

#[test]
fn a_large_transpose_undone_costs_nothing() {
    let (rows, columns, bits) = (1 << 20, 1 << 12, 32);
    let mut wraps = Wraps::default();
    let mut two = Rope::of(7, rows * columns * bits / 2);
    two.append(&Rope::of(8, rows * columns * bits / 2));
    for rope in [Rope::of(7, rows * columns * bits), two] {
        let there = [level(columns, bits), level(rows, columns * bits), level(bits, 1)];
        let back = [level(rows, bits), level(columns, rows * bits), level(bits, 1)];
        let turned = rope.gather(0, there, &mut wraps);
        assert_eq!(turned.len, rope.len);
        assert!(!same(&turned, &rope, &wraps));
        assert_eq!(turned.gather(0, back, &mut wraps), rope);
    }
}

#[test]
fn wrapped_ropes_compare_by_what_they_hold() {
    let mut wraps = Wraps::default();
    let mut rope = Rope::of(1, 8);
    rope.append(&Rope::of(2, 8));
    let wrapped = rope.wrap(&mut wraps);
    assert!(same(&rope, &wrapped, &wraps));
    assert!(!same(&rope.slice(0, 8), &wrapped.slice(8, 16), &wraps));
}
