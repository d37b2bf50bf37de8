//! State and effects: the version of every resource, and what variables hold.
//!
//! Every write of a resource gives it a new version, named by the old one and by what was written; a reader depends on the version it
//! finds. So equal values and equal last versions mean that each reader saw the same writes and each resource the same sequence of them: reads
//! may have passed reads, nothing has passed a write. An operation that may touch anything writes all resources at once.
//!
//! Bodies run on frames: a branch on a frame over the state before it, which are then merged under the name of the condition; a
//! loop body on a frame in which whatever the loop may write has a name of its own ("at the start of some trip").

use crate::hash::Mix;
use crate::rope::{Bits, Rope};
use neap_ir::OpId;
use std::collections::{BTreeMap, BTreeSet};

/// What is known of one resource.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Entry {
    version: u128,
    /// The content, if it was written as a whole.
    content: Option<Rope>,
    written: bool,
}

#[derive(Default)]
struct Frame {
    /// The loop whose body runs on this frame, or the body among others.
    trip: Option<Trip>,
    /// The version of everything that is not in `entries`, once an operation touched all.
    all: Option<u128>,
    entries: BTreeMap<u128, Entry>,
}

/// Some trip of a loop, or one of several bodies at the same time: what may be written by other trips or bodies has, when it begins, a content
/// that nothing is known of.
pub(crate) struct Trip {
    /// The operation's name.
    pub(crate) key: u128,
    /// What the others may write; none: anything.
    pub(crate) writes: Option<BTreeSet<u128>>,
}

/// A write, for explanations.
pub(crate) struct Event {
    /// None: all of them.
    pub(crate) resource: Option<u128>,
    pub(crate) op: OpId,
    pub(crate) what: u128,
}

/// The state of a run.
pub(crate) struct State {
    frames: Vec<Frame>,
    pub(crate) events: Vec<Event>,
    /// What resources are called.
    pub(crate) names: BTreeMap<u128, String>,
}

fn named(tag: &str, words: &[u128]) -> u128 {
    let mut mix = Mix::new(tag);
    words.iter().for_each(|word| mix.wide(*word));
    mix.done()
}

impl State {
    pub(crate) fn new() -> State {
        State { frames: vec![Frame::default()], events: Vec::new(), names: BTreeMap::new() }
    }

    fn find(&mut self, resource: u128, top: usize) -> Entry {
        if let Some(entry) = self.frames[top].entries.get(&resource) {
            return entry.clone();
        }
        if let Some(all) = self.frames[top].all {
            return Entry { version: named("derived", &[all, resource]), content: None, written: true };
        }
        if top == 0 {
            return Entry { version: named("initial", &[resource]), content: None, written: false };
        }
        let mut entry = self.find(resource, top - 1);
        if let Some(trip) = &self.frames[top].trip
            && trip.writes.as_ref().is_none_or(|writes| writes.contains(&resource))
        {
            let version = named("trip", &[trip.key, entry.version]);
            entry = Entry { version, content: None, written: false };
        }
        entry.written = false;
        entry
    }

    /// The version of a resource.
    pub(crate) fn version(&mut self, resource: u128) -> u128 {
        let top = self.frames.len() - 1;
        self.find(resource, top).version
    }

    /// What a variable holds.
    pub(crate) fn content(&mut self, resource: u128, bits: Bits) -> Rope {
        let top = self.frames.len() - 1;
        let entry = self.find(resource, top);
        match entry.content {
            Some(rope) if rope.len == bits => rope,
            _ => Rope::of(named("content", &[entry.version]), bits),
        }
    }

    /// A write.
    pub(crate) fn write(&mut self, resource: u128, op: OpId, what: u128, content: Option<Rope>) {
        let version = named("write", &[self.version(resource), what]);
        let top = self.frames.last_mut().expect("a state has a frame");
        top.entries.insert(resource, Entry { version, content, written: true });
        self.events.push(Event { resource: Some(resource), op, what });
    }

    /// The version of everything at once.
    pub(crate) fn everything(&self) -> u128 {
        let mut mix = Mix::new("everything");
        for frame in &self.frames {
            mix.wide(frame.trip.as_ref().map_or(0, |trip| trip.key));
            mix.wide(frame.all.unwrap_or_default());
            for (resource, entry) in frame.entries.iter().filter(|(_, entry)| entry.written) {
                mix.wide(*resource);
                mix.wide(entry.version);
            }
        }
        mix.done()
    }

    /// A write of everything.
    pub(crate) fn write_all(&mut self, op: OpId, what: u128) {
        let all = named("write all", &[self.everything(), what]);
        let top = self.frames.last_mut().expect("a state has a frame");
        top.all = Some(all);
        top.entries.clear();
        self.events.push(Event { resource: None, op, what });
    }

    /// Begins a body; with `trip`, one that is not the only one to write.
    pub(crate) fn enter(&mut self, trip: Option<Trip>) {
        self.frames.push(Frame { trip, ..Frame::default() });
    }

    /// Ends a body and hands back what it did.
    pub(crate) fn leave(&mut self) -> Done {
        let frame = self.frames.pop().expect("a body was entered");
        Done { all: frame.all, entries: frame.entries.into_iter().filter(|(_, entry)| entry.written).collect() }
    }

    /// Goes on after bodies of which one ran, or one any number of times: what any of them wrote gets a version named by all.
    pub(crate) fn merge(&mut self, op: OpId, what: u128, bodies: &[Done]) {
        if bodies.iter().any(|body| body.all.is_some()) {
            let mut mix = Mix::new("merged");
            mix.wide(what);
            for body in bodies {
                mix.wide(body.all.unwrap_or_default());
                body.entries.iter().for_each(|(resource, entry)| {
                    mix.wide(*resource);
                    mix.wide(entry.version);
                });
            }
            return self.write_all(op, mix.done());
        }
        let touched: BTreeSet<u128> = bodies.iter().flat_map(|body| body.entries.keys().copied()).collect();
        for resource in touched {
            let mut mix = Mix::new("merged");
            mix.wide(what);
            for body in bodies {
                mix.wide(body.entries.get(&resource).map_or(0, |entry| entry.version));
            }
            self.write(resource, op, mix.done(), None);
        }
    }

    /// Goes on after a body that ran once.
    pub(crate) fn commit(&mut self, body: Done) {
        let top = self.frames.last_mut().expect("a state has a frame");
        if body.all.is_some() {
            top.all = body.all;
            top.entries.clear();
        }
        top.entries.extend(body.entries);
    }

    /// Versions of all that was written.
    pub(crate) fn last(&self) -> (Option<u128>, BTreeMap<u128, u128>) {
        let frame = &self.frames[0];
        let written = frame.entries.iter().filter(|(_, entry)| entry.written);
        (frame.all, written.map(|(resource, entry)| (*resource, entry.version)).collect())
    }
}

/// What a body did.
pub(crate) struct Done {
    all: Option<u128>,
    entries: BTreeMap<u128, Entry>,
}
