//! Families of buffers of any size, as plans of networks have them.

use neap_pack::Item;

/// The names of the families.
pub(crate) const KINDS: [&str; 3] = ["inf", "train", "llm"];

/// Inference (one buffer an op, skips and long skips), training (activations kept until the mirrored op), decoder
/// (equal layers and caches that live to the end).
pub(crate) fn family(kind: &str, n: u64, seed: u64) -> Result<Vec<Item>, String> {
    let mut random = Random(seed);
    let mut items = Vec::new();
    match kind {
        "inf" => (0..n).for_each(|t| {
            let length = match random.real() {
                p if p < 0.84 => 1 + random.below(3),
                p if p < 0.96 => 4 + random.below(37),
                p if p < 0.99 => 40 + random.below(361),
                _ => 400 + random.below((n / 20).max(1)),
            };
            items.push(Item::new(t, (t + 1 + length).min(n + 1), random.size()));
        }),
        "train" => (0..n).for_each(|t| {
            let half = n / 2;
            let kept = t < half && random.real() < 0.45;
            let end = if kept { (n - t).max(t + 1) } else { t + 2 + random.below(4) };
            items.push(Item::new(t, end.min(n + 1), random.size()));
        }),
        "llm" => {
            let sizes = [2_097_152, 6_291_456, 8_388_608, 524_288, 65_536, 2_097_152];
            let (layers, end) = (n / 12, n / 12 * 12 + 1);
            (0..layers * 12).for_each(|t| {
                let life = match t % 12 {
                    0 => 12,
                    3 => end - t,
                    6 => 7,
                    k => 1 + k % 3,
                };
                items.push(Item::new(t, (t + 1 + life).min(end), sizes[(t % 6) as usize]));
            });
        }
        _ => return Err(format!("no family `{kind}`: inf, train or llm")),
    }
    Ok(items)
}

/// A small generator (SplitMix64), so that families need no crate.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    }

    fn real(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn size(&mut self) -> u64 {
        let bytes = 2_f64.powf(8.0 + 14.0 * self.real()) as u64;
        bytes / 64 * 64
    }
}
