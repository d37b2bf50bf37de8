//! A 128-bit hash that names contents.
//!
//! Two contents are taken as equal when their hashes are. Sound up to a collision: with `n` contents the chance is about
//! `n^2 / 2^129`, below 10^-26 for a million. The hash depends on what is fed alone, so it is the same in two modules.

/// A hash in the making: two 64-bit lanes, each a bijection of its state per word (as in MurmurHash3).
#[derive(Clone, Copy)]
pub(crate) struct Mix(u64, u64);

const K1: u64 = 0x87c3_7b91_1142_53d5;
const K2: u64 = 0x4cf5_ad43_2745_937f;

impl Mix {
    /// A hash that starts with a tag, so that different kinds of things never meet.
    pub(crate) fn new(tag: &str) -> Mix {
        let mut mix = Mix(0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f);
        mix.text(tag);
        mix
    }

    /// Feeds a word.
    pub(crate) fn word(&mut self, word: u64) {
        let a = word.wrapping_mul(K1).rotate_left(31).wrapping_mul(K2);
        self.0 = (self.0 ^ a).rotate_left(27).wrapping_add(self.1).wrapping_mul(5).wrapping_add(0x52dc_e729);
        let b = word.wrapping_add(0x6a09_e667).wrapping_mul(K2).rotate_left(33).wrapping_mul(K1);
        self.1 = (self.1 ^ b).rotate_left(31).wrapping_add(self.0).wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }

    /// Feeds a 128-bit number.
    pub(crate) fn wide(&mut self, wide: u128) {
        self.word(wide as u64);
        self.word((wide >> 64) as u64);
    }

    /// Feeds a signed 128-bit number.
    pub(crate) fn int(&mut self, int: i128) {
        self.wide(int as u128);
    }

    /// Feeds bytes with their length.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.word(u64::from_le_bytes(word));
        }
    }

    /// Feeds text with its length.
    pub(crate) fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// The hash.
    pub(crate) fn done(self) -> u128 {
        let (mut a, mut b) = (self.0, self.1);
        a = a.wrapping_add(b);
        b = b.wrapping_add(a);
        (a, b) = (finish(a), finish(b));
        a = a.wrapping_add(b);
        b = b.wrapping_add(a);
        u128::from(a) << 64 | u128::from(b)
    }
}

fn finish(mut word: u64) -> u64 {
    word ^= word >> 33;
    word = word.wrapping_mul(0xff51_afd7_ed55_8ccd);
    word ^= word >> 33;
    word = word.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    word ^ (word >> 33)
}

#[cfg(test)]
mod tests {
    use super::Mix;

    #[test]
    fn words_and_their_order_count() {
        let hash = |words: &[u64]| {
            let mut mix = Mix::new("t");
            words.iter().for_each(|word| mix.word(*word));
            mix.done()
        };
        let all = [hash(&[]), hash(&[0]), hash(&[0, 0]), hash(&[1, 2]), hash(&[2, 1]), hash(&[u64::MAX, 1])];
        for (at, one) in all.iter().enumerate() {
            assert!(all[at + 1..].iter().all(|other| other != one));
        }
    }

    #[test]
    fn a_flipped_bit_changes_both_halves() {
        for bit in 0..64 {
            let mut mix = Mix::new("t");
            mix.word(1 << bit);
            let mut plain = Mix::new("t");
            plain.word(0);
            let delta = mix.done() ^ plain.done();
            assert!((delta as u64).count_ones() > 10 && ((delta >> 64) as u64).count_ones() > 10);
        }
    }
}
