//! Tensors of a few elements, and the hash that every unknown function is.

/// Elements in row-major order, each in the low bits of a word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Tensor {
    pub(crate) dims: Vec<usize>,
    /// Bits of an element, at most 64.
    pub(crate) bits: usize,
    pub(crate) data: Vec<u64>,
}

/// A hash of words; what an operation computes of which nothing is known.
pub(crate) fn mix(words: impl IntoIterator<Item = u64>) -> u64 {
    let mut hash = 0x243f_6a88_85a3_08d3u64;
    for word in words {
        hash = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        hash ^= hash >> 32;
    }
    hash = hash.wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ (hash >> 33)
}

/// A hash of text.
pub(crate) fn mix_text(text: &str) -> u64 {
    mix(text.bytes().map(u64::from))
}

pub(crate) fn count(dims: &[usize]) -> usize {
    dims.iter().product()
}

fn mask(bits: usize) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

impl Tensor {
    /// Elements by a function of their index.
    pub(crate) fn by(dims: &[usize], bits: usize, element: impl Fn(usize) -> u64) -> Tensor {
        let data = (0..count(dims)).map(|at| element(at) & mask(bits)).collect();
        Tensor { dims: dims.to_vec(), bits, data }
    }

    /// Bytes as memory has them: sub-byte elements packed, little end first.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut out = vec![0; (self.data.len() * self.bits).div_ceil(8)];
        for (at, element) in self.data.iter().enumerate() {
            for bit in (0..self.bits).filter(|bit| element >> bit & 1 == 1) {
                let place = at * self.bits + bit;
                out[place / 8] |= 1 << (place % 8);
            }
        }
        out
    }

    /// The tensor that some bytes are.
    pub(crate) fn of(dims: &[usize], bits: usize, bytes: &[u8]) -> Tensor {
        let bit = |place: usize| u64::from(bytes.get(place / 8).copied().unwrap_or(0) >> (place % 8) & 1);
        let element = |at: usize| (0..bits).fold(0, |word, low| word | bit(at * bits + low) << low);
        let element_of_bytes = |at: usize| {
            (0..bits / 8).fold(0, |word, low| {
                word | u64::from(bytes.get(at * bits / 8 + low).copied().unwrap_or(0)) << (8 * low)
            })
        };
        Tensor::by(dims, bits, |at| if bits.is_multiple_of(8) { element_of_bytes(at) } else { element(at) })
    }

    /// Elements as signed numbers: the parameters of movements.
    pub(crate) fn numbers(&self) -> Vec<i64> {
        let shift = 64 - self.bits.clamp(1, 64);
        self.data.iter().map(|word| (word << shift) as i64 >> shift).collect()
    }

    /// The element at a position, if there is one.
    pub(crate) fn at(&self, position: &[usize]) -> Option<u64> {
        let inside = self.dims.len() == position.len() && self.dims.iter().zip(position).all(|(size, at)| at < size);
        if inside { self.data.get(index(&self.dims, position)).copied() } else { None }
    }

    /// A hash of everything.
    pub(crate) fn hash(&self) -> u64 {
        mix([self.bits as u64, self.data.len() as u64].into_iter().chain(self.data.iter().copied()))
    }

    /// The element that position `index` of a tensor of dimensions `to` reads, broadcast as in NumPy.
    pub(crate) fn broadcast(&self, to: &[usize], index: usize) -> u64 {
        let (mut rest, mut at, mut stride) = (index, 0, 1);
        for (back, size) in to.iter().rev().enumerate() {
            let here = rest % size;
            rest /= size;
            if let Some(own) = self.dims.len().checked_sub(back + 1).map(|axis| self.dims[axis]) {
                at += if own == 1 { 0 } else { here * stride };
                stride *= own;
            }
        }
        self.data.get(at).copied().unwrap_or(0)
    }
}

/// The position along each dimension.
pub(crate) fn position(dims: &[usize], index: usize) -> Vec<usize> {
    let mut rest = index;
    let mut out: Vec<usize> = dims.iter().rev().map(|size| (rest % size, rest /= size).0).collect();
    out.reverse();
    out
}

/// The index of a position.
pub(crate) fn index(dims: &[usize], position: &[usize]) -> usize {
    dims.iter().zip(position).fold(0, |at, (size, here)| at * size + here)
}
