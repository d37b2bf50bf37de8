//! Where bytes lie: arenas, memory of a value's own, variables.

use crate::tensor::mix;
use std::collections::BTreeMap;

/// A place for a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// Bytes of an arena, from here on.
    Arena(usize, usize),
    /// Memory of its own, by the value's number, from here on.
    Own(u32, usize),
    /// The bytes of a variable, from here on.
    Variable(usize, usize),
}

impl Place {
    /// The same, some bytes further.
    pub(crate) fn after(self, bytes: usize) -> Place {
        match self {
            Place::Arena(arena, start) => Place::Arena(arena, start + bytes),
            Place::Own(value, start) => Place::Own(value, start + bytes),
            Place::Variable(at, start) => Place::Variable(at, start + bytes),
        }
    }
}

/// What lives from one run to the next.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct World {
    /// Names and bytes of variables.
    pub(crate) variables: Vec<(String, Vec<u8>)>,
    /// Draws so far.
    pub(crate) draws: u64,
    /// What went in and out.
    pub(crate) traffic: Vec<u64>,
    /// What operations of no known kind did.
    pub(crate) other: u64,
}

impl World {
    /// The world before the first run: every declared variable has a content of its own.
    pub(crate) fn of(declared: impl IntoIterator<Item = (String, usize)>) -> World {
        let mut world = World::default();
        for (name, size) in declared {
            world.variable(&name, size);
        }
        world
    }

    /// A variable by name; one that nobody has seen yet has a content of its own.
    pub(crate) fn variable(&mut self, name: &str, size: usize) -> usize {
        if let Some(at) = self.variables.iter().position(|(other, _)| other == name) {
            return at;
        }
        let tag = crate::tensor::mix_text(name);
        let bytes = (0..size as u64).map(|byte| mix([tag, byte, self.other]) as u8).collect();
        self.variables.push((name.to_owned(), bytes));
        self.variables.len() - 1
    }

    /// Everything at once.
    pub(crate) fn hash(&self) -> u64 {
        let mut words = vec![self.draws, self.other, self.traffic.len() as u64];
        words.extend(&self.traffic);
        let mut sorted: Vec<&(String, Vec<u8>)> = self.variables.iter().collect();
        sorted.sort();
        for (_, bytes) in sorted {
            words.extend(bytes.iter().map(|byte| u64::from(*byte)));
        }
        mix(words)
    }

    /// An operation that may do anything did something.
    pub(crate) fn anything(&mut self, key: u64) {
        self.other = mix([self.other, key]);
        for (name, bytes) in &mut self.variables {
            let tag = mix([crate::tensor::mix_text(name), self.other]);
            bytes.iter_mut().enumerate().for_each(|(at, byte)| *byte = mix([tag, at as u64]) as u8);
        }
    }

    /// What can be seen: the order in which variables were first used is nobody's business.
    pub(crate) fn seen(&self) -> World {
        let mut seen = self.clone();
        seen.variables.sort();
        seen
    }
}

/// The bytes of a run.
#[derive(Default)]
pub(crate) struct Memory {
    arenas: Vec<Vec<u8>>,
    own: BTreeMap<u32, Vec<u8>>,
    /// What lies where nothing was written; another one in each run.
    noise: u64,
}

impl Memory {
    pub(crate) fn new(noise: u64) -> Memory {
        Memory { noise, ..Memory::default() }
    }

    fn rubbish(&self, at: usize) -> u8 {
        mix([self.noise, at as u64]) as u8
    }

    pub(crate) fn read(&self, world: &World, place: Place, size: usize) -> Vec<u8> {
        let of = |bytes: Option<&[u8]>, start: usize| {
            let at = |byte| bytes.and_then(|bytes| bytes.get(byte).copied()).unwrap_or_else(|| self.rubbish(byte));
            (start..start + size).map(at).collect()
        };
        match place {
            Place::Arena(arena, start) => of(self.arenas.get(arena).map(Vec::as_slice), start),
            Place::Own(value, start) => of(self.own.get(&value).map(Vec::as_slice), start),
            Place::Variable(at, start) => of(world.variables.get(at).map(|(_, bytes)| bytes.as_slice()), start),
        }
    }

    /// Writes some bytes; `skip` says which of them are left alone.
    pub(crate) fn write(&mut self, world: &mut World, place: Place, bytes: &[u8], skip: &dyn Fn(usize) -> bool) {
        let noise = self.noise;
        let (target, start) = match place {
            Place::Arena(arena, start) => {
                if self.arenas.len() <= arena {
                    self.arenas.resize(arena + 1, Vec::new());
                }
                (&mut self.arenas[arena], start)
            }
            Place::Own(value, start) => (self.own.entry(value).or_default(), start),
            Place::Variable(at, start) => (&mut world.variables[at].1, start),
        };
        while target.len() < start + bytes.len() {
            target.push(mix([noise, target.len() as u64]) as u8);
        }
        for (at, byte) in bytes.iter().enumerate().filter(|(at, _)| !skip(*at)) {
            target[start + at] = *byte;
        }
    }

    /// Rubbish over some bytes.
    pub(crate) fn spoil(&mut self, world: &mut World, place: Place, size: usize, skip: &dyn Fn(usize) -> bool) {
        self.noise = mix([self.noise, 1]);
        let bytes: Vec<u8> = (0..size).map(|at| self.rubbish(at)).collect();
        self.write(world, place, &bytes, skip);
    }
}
