//! Broken files from a good one: cut, with a bit flipped, with numbers overwritten, with a piece copied elsewhere.

/// The files of a round each, the same on every machine.
pub(crate) fn broken(good: &[u8], rounds: usize) -> impl Iterator<Item = Vec<u8>> {
    let mut seed = 0x6e65_6170;
    (0..rounds).map(move |round| {
        let mut bytes = good.to_vec();
        match round % 4 {
            0 => bytes.truncate(below(&mut seed, good.len())),
            1 => bytes[below(&mut seed, good.len())] ^= 1 << below(&mut seed, 8),
            2 => {
                let at = below(&mut seed, good.len() - 4);
                let value = [u32::MAX, 0x7fff_ffff, 0x8000_0000, 1 << 20, 0][below(&mut seed, 5)];
                bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
            }
            _ => {
                let (from, to) = (below(&mut seed, good.len()), below(&mut seed, good.len()));
                let len = below(&mut seed, 32).min(good.len() - from.max(to));
                bytes.copy_within(from..from + len, to);
            }
        }
        bytes
    })
}

/// A number below `end` (Marsaglia's xorshift).
fn below(state: &mut u64, end: usize) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state as usize % end
}
