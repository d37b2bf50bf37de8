//! The least live bytes over all downsets between two states, as a minimum cut (Lemma C of the ordering theory).
//!
//! Source side = run. A storage costs its size when it is started (some starter has run) and still needed (some user has not):
//! `starter -> In` unlimited, `In -> Out` of its size, `Out -> user` unlimited; `op -> predecessor` unlimited keeps
//! the source side closed. A storage with a sole starter needs no `In`: the edge `starter -> Out` has its size.

use crate::flow::{Network, SINK, SOURCE, UNLIMITED};
use crate::model::{Model, NONE};

/// Which side of the cut an op is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Run,
    NotRun,
    Free,
}

/// Edge endpoints in terms of the model, for certificates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Name {
    Source,
    Sink,
    Op(u32),
    In(u32),
    Out(u32),
}

/// Reusable buffers for cuts on one model.
#[derive(Debug)]
pub(crate) struct Cutter {
    pub(crate) net: Network,
    op_node: Vec<u32>,
    seen: Vec<bool>,
    touched: Vec<u32>,
    /// Flow edges with their names, kept only on request.
    pub(crate) named: Option<Vec<(Name, Name, i64, u32)>>,
    pub(crate) runs: u64,
}

/// Which parts of the network to leave out.
pub(crate) trait Rules {
    /// The storage has no nodes.
    fn skip(&self, _storage: usize) -> bool {
        false
    }
    /// Op `user` does not keep the storage alive.
    fn ignore(&self, _storage: usize, _user: u32) -> bool {
        false
    }
    /// What the storage costs.
    fn size(&self, model: &Model, storage: usize) -> i64 {
        model.size[storage]
    }
    /// Whether the storage outlives all ops.
    fn kept(&self, model: &Model, storage: usize) -> bool {
        model.kept[storage]
    }
}

/// The whole network.
pub(crate) struct Plain;
impl Rules for Plain {}

impl Cutter {
    pub(crate) fn new(model: &Model) -> Cutter {
        Cutter {
            net: Network::default(),
            op_node: vec![NONE; model.n],
            seen: vec![false; model.size.len()],
            touched: Vec::new(),
            named: None,
            runs: 0,
        }
    }

    /// The least of the live bytes of the storages that `free` ops touch, over all ways to run some of the `free` ops (closed
    /// under predecessors). The network stays for [`Cutter::smallest`] and [`Cutter::largest`].
    pub(crate) fn min(&mut self, m: &Model, free: &[u32], side: impl Fn(u32) -> Side, rules: &impl Rules) -> i64 {
        self.touched.clear();
        for &v in free {
            for &s in m.touch.row(v as usize) {
                if !std::mem::replace(&mut self.seen[s as usize], true) {
                    self.touched.push(s);
                }
            }
        }
        for &s in &self.touched {
            self.seen[s as usize] = false;
        }
        let touched = std::mem::take(&mut self.touched);
        let value = self.min_over(m, free, &touched, side, rules);
        self.touched = touched;
        value
    }

    /// The same for an explicit list of storages (a superset of the touched ones).
    pub(crate) fn min_over(
        &mut self,
        m: &Model,
        free: &[u32],
        storages: &[u32],
        side: impl Fn(u32) -> Side,
        rules: &impl Rules,
    ) -> i64 {
        self.net.clear();
        self.runs += 1;
        if let Some(named) = &mut self.named {
            named.clear();
        }
        for &v in free {
            self.op_node[v as usize] = self.net.node();
        }
        for &v in free {
            for &p in m.preds.row(v as usize) {
                if side(p) == Side::Free {
                    self.add(Name::Op(v), Name::Op(p), UNLIMITED, None);
                }
            }
        }
        for &s in storages {
            if !rules.skip(s as usize) {
                self.storage(m, s, &side, rules);
            }
        }
        self.net.run()
    }

    fn storage(&mut self, m: &Model, s: u32, side: &impl Fn(u32) -> Side, rules: &impl Rules) {
        let at = s as usize;
        let size = rules.size(m, at);
        let sole = m.writer[at];
        let started = match sole {
            NONE => m.open[at] || m.users.row(at).iter().any(|&u| side(u) == Side::Run),
            w => side(w) == Side::Run,
        };
        let may_start = started
            || match sole {
                NONE => m.users.row(at).iter().any(|&u| side(u) == Side::Free),
                w => side(w) == Side::Free,
            };
        let mut needed = rules.kept(m, at);
        let mut may_need = needed;
        for &u in m.users.row(at) {
            if !rules.ignore(at, u) {
                needed |= side(u) == Side::NotRun;
                may_need |= side(u) != Side::Run;
            }
        }
        if size == 0 || !may_start || !may_need {
            return;
        }
        let out = self.net.node();
        if started {
            self.add(Name::Source, Name::Out(s), size, Some((SOURCE, out)));
        } else if sole != NONE {
            self.add(Name::Op(sole), Name::Out(s), size, Some((self.op_node[sole as usize], out)));
        } else {
            let enter = self.net.node();
            self.add(Name::In(s), Name::Out(s), size, Some((enter, out)));
            for &u in m.users.row(at).iter().filter(|&&u| side(u) == Side::Free) {
                self.add(Name::Op(u), Name::In(s), UNLIMITED, Some((self.op_node[u as usize], enter)));
            }
        }
        if needed {
            self.add(Name::Out(s), Name::Sink, UNLIMITED, Some((out, SINK)));
        } else {
            for &u in m.users.row(at) {
                if side(u) == Side::Free && !rules.ignore(at, u) {
                    self.add(Name::Out(s), Name::Op(u), UNLIMITED, Some((out, self.op_node[u as usize])));
                }
            }
        }
    }

    fn add(&mut self, from: Name, to: Name, capacity: i64, nodes: Option<(u32, u32)>) {
        let (a, b) = nodes.unwrap_or_else(|| {
            let node = |name| match name {
                Name::Op(v) => self.op_node[v as usize],
                _ => SOURCE,
            };
            (node(from), node(to))
        });
        let e = self.net.edge(a, b, capacity);
        if let Some(named) = &mut self.named {
            named.push((from, to, capacity, e));
        }
    }

    /// Of `free`, the ops run in the smallest minimiser.
    pub(crate) fn smallest(&self, free: &[u32]) -> Vec<bool> {
        free.iter().map(|&v| self.net.source_side(self.op_node[v as usize])).collect()
    }

    /// Of `free`, the ops run in the largest minimiser.
    pub(crate) fn largest(&mut self, free: &[u32]) -> Vec<bool> {
        let sink = self.net.sink_side();
        free.iter().map(|&v| !sink[self.op_node[v as usize] as usize]).collect()
    }
}
