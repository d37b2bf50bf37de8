//! A small seeded generator: the same seed gives the same numbers on every machine.

/// SplitMix64. Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014).
pub(crate) struct Rng(u64);

impl Rng {
    /// A generator with a seed.
    pub(crate) fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    /// Any number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`, which is above 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}
