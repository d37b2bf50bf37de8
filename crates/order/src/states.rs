//! The states that an exact search has seen: bit sets in one arena, found by hash, compared bit by bit.

/// One state.
#[derive(Debug, Clone, Copy)]
struct State {
    parent: u32,
    seq: (u32, u32),
}

/// All states of a search, and how each was reached.
#[derive(Debug, Default)]
pub(crate) struct States {
    words: usize,
    bits: Vec<u64>,
    hashes: Vec<u64>,
    states: Vec<State>,
    seqs: Vec<u32>,
    slots: Vec<u32>,
}

const EMPTY: u32 = u32::MAX;

impl States {
    /// Forgets all states; the new ones have `words` words.
    pub(crate) fn reset(&mut self, words: usize) {
        self.words = words;
        self.bits.clear();
        self.hashes.clear();
        self.states.clear();
        self.seqs.clear();
        self.slots.clear();
        self.slots.resize(64, EMPTY);
    }

    pub(crate) fn len(&self) -> usize {
        self.states.len()
    }

    pub(crate) fn bits(&self, id: u32) -> &[u64] {
        &self.bits[id as usize * self.words..(id as usize + 1) * self.words]
    }

    /// Adds a state reached from `parent` by `seq`; `None` when it was there already.
    pub(crate) fn add(&mut self, bits: &[u64], hash: u64, parent: u32, seq: &[u32]) -> Option<u32> {
        if self.states.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let mut slot = self.slot(hash);
        while self.slots[slot] != EMPTY {
            let id = self.slots[slot];
            if self.hashes[id as usize] == hash && self.bits(id) == bits {
                return None;
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        let id = self.states.len() as u32;
        self.slots[slot] = id;
        self.bits.extend_from_slice(bits);
        self.hashes.push(hash);
        let start = self.seqs.len() as u32;
        self.seqs.extend_from_slice(seq);
        self.states.push(State { parent, seq: (start, self.seqs.len() as u32) });
        Some(id)
    }

    fn slot(&self, hash: u64) -> usize {
        (hash ^ (hash >> 32)) as usize & (self.slots.len() - 1)
    }

    fn grow(&mut self) {
        let size = self.slots.len() * 2;
        self.slots.clear();
        self.slots.resize(size, EMPTY);
        for id in 0..self.states.len() {
            let mut slot = self.slot(self.hashes[id]);
            while self.slots[slot] != EMPTY {
                slot = (slot + 1) & (size - 1);
            }
            self.slots[slot] = id as u32;
        }
    }

    /// Ops from the first state to `id`.
    pub(crate) fn path(&self, id: u32) -> Vec<u32> {
        let mut chain = Vec::new();
        let mut at = id;
        while at != EMPTY {
            chain.push(at);
            at = self.states[at as usize].parent;
        }
        let mut path = Vec::new();
        for &id in chain.iter().rev() {
            let (a, b) = self.states[id as usize].seq;
            path.extend_from_slice(&self.seqs[a as usize..b as usize]);
        }
        path
    }
}
