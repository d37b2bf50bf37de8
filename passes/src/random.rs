//! Numbers from a seed: the same on every machine.

/// A number below `end` (SplitMix64). Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014).
pub(crate) fn below(state: &mut u64, end: usize) -> usize {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) % end.max(1) as u64) as usize
}
