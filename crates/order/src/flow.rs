//! Maximum flow by Dinic's algorithm, iterative, with buffers that are reused from call to call.
//!
//! Capacities are bytes; [`UNLIMITED`] stands for no limit. The caller guarantees that no path is unlimited from end to end.

/// No limit. Sums of sizes stay below it because all sizes add up to at most 2^63-1 and flows never exceed that sum.
pub(crate) const UNLIMITED: i64 = i64::MAX;

/// The source and the sink of every network.
pub(crate) const SOURCE: u32 = 0;
/// See [`SOURCE`].
pub(crate) const SINK: u32 = 1;

/// A network, built edge by edge.
#[derive(Debug)]
pub(crate) struct Network {
    head: Vec<u32>,
    next: Vec<u32>,
    to: Vec<u32>,
    residual: Vec<i64>,
    level: Vec<u32>,
    current: Vec<u32>,
    queue: Vec<u32>,
    path: Vec<u32>,
    /// Arcs looked at since the network object was made.
    pub(crate) scanned: u64,
    /// Arcs that a run may look at; one that needs more ends with a flow that is not maximum.
    pub(crate) limit: u64,
}

impl Default for Network {
    fn default() -> Network {
        Network {
            head: Vec::new(),
            next: Vec::new(),
            to: Vec::new(),
            residual: Vec::new(),
            level: Vec::new(),
            current: Vec::new(),
            queue: Vec::new(),
            path: Vec::new(),
            scanned: 0,
            limit: u64::MAX,
        }
    }
}

const END: u32 = u32::MAX;

impl Network {
    /// Forgets all edges and has just source and sink.
    pub(crate) fn clear(&mut self) {
        self.head.clear();
        self.head.extend([END, END]);
        self.next.clear();
        self.to.clear();
        self.residual.clear();
    }

    /// A new node.
    pub(crate) fn node(&mut self) -> u32 {
        self.head.push(END);
        self.head.len() as u32 - 1
    }

    /// A new edge; returns its number.
    pub(crate) fn edge(&mut self, from: u32, to: u32, capacity: i64) -> u32 {
        let e = self.to.len() as u32;
        for (a, b, c) in [(from, to, capacity), (to, from, 0)] {
            self.next.push(self.head[a as usize]);
            self.head[a as usize] = self.to.len() as u32;
            self.to.push(b);
            self.residual.push(c);
        }
        e
    }

    /// What edge `e` carries after [`Network::run`].
    pub(crate) fn carried(&self, e: u32) -> i64 {
        self.residual[e as usize + 1]
    }

    /// The value of a maximum flow (or of a smaller one, where the limit was met).
    pub(crate) fn run(&mut self) -> i64 {
        let mut value = 0;
        let end = self.scanned.saturating_add(self.limit);
        while self.scanned < end && self.levels() {
            self.current.clear();
            self.current.extend_from_slice(&self.head);
            value += self.blocking(end);
        }
        value
    }

    /// Breadth-first levels from the source; whether the sink was reached.
    fn levels(&mut self) -> bool {
        self.level.clear();
        self.level.resize(self.head.len(), END);
        self.level[SOURCE as usize] = 0;
        self.queue.clear();
        self.queue.push(SOURCE);
        let mut at = 0;
        while at < self.queue.len() {
            let u = self.queue[at] as usize;
            at += 1;
            let mut e = self.head[u];
            while e != END {
                let w = self.to[e as usize];
                if self.residual[e as usize] > 0 && self.level[w as usize] == END {
                    self.level[w as usize] = self.level[u] + 1;
                    self.queue.push(w);
                }
                e = self.next[e as usize];
                self.scanned += 1;
            }
        }
        self.level[SINK as usize] != END
    }

    fn blocking(&mut self, end: u64) -> i64 {
        let mut value = 0;
        self.path.clear();
        let mut u = SOURCE;
        loop {
            if u == SINK {
                let bottleneck = self.path.iter().map(|&e| self.residual[e as usize]).min().unwrap_or(0);
                value += bottleneck;
                let mut first_full = 0;
                for (k, &e) in self.path.iter().enumerate().rev() {
                    if self.residual[e as usize] != UNLIMITED {
                        self.residual[e as usize] -= bottleneck;
                    }
                    if self.residual[e as usize ^ 1] != UNLIMITED {
                        self.residual[e as usize ^ 1] += bottleneck;
                    }
                    if self.residual[e as usize] == 0 {
                        first_full = k;
                    }
                }
                if self.scanned >= end {
                    return value;
                }
                // Go on from the tail of the first edge that is full.
                self.path.truncate(first_full + 1);
                let Some(e) = self.path.pop() else { return value };
                u = self.to[e as usize ^ 1];
                continue;
            }
            if let Some(e) = self.advance(u) {
                self.path.push(e);
                u = self.to[e as usize];
            } else {
                let Some(e) = self.path.pop() else { return value };
                u = self.to[e as usize ^ 1];
                self.current[u as usize] = self.next[self.current[u as usize] as usize];
            }
        }
    }

    fn advance(&mut self, u: u32) -> Option<u32> {
        while self.current[u as usize] != END {
            let e = self.current[u as usize];
            let w = self.to[e as usize];
            self.scanned += 1;
            if self.residual[e as usize] > 0 && self.level[w as usize] == self.level[u as usize] + 1 {
                return Some(e);
            }
            self.current[u as usize] = self.next[e as usize];
        }
        None
    }

    /// After [`Network::run`]: nodes that the source still reaches (the smallest source side of a minimum cut).
    pub(crate) fn source_side(&self, node: u32) -> bool {
        self.level[node as usize] != END
    }

    /// After [`Network::run`]: marks nodes that still reach the sink (the largest source side is the rest).
    pub(crate) fn sink_side(&mut self) -> Vec<bool> {
        let mut reaches = vec![false; self.head.len()];
        reaches[SINK as usize] = true;
        self.queue.clear();
        self.queue.push(SINK);
        let mut at = 0;
        while at < self.queue.len() {
            let u = self.queue[at] as usize;
            at += 1;
            let mut e = self.head[u];
            while e != END {
                let w = self.to[e as usize];
                if self.residual[e as usize ^ 1] > 0 && !reaches[w as usize] {
                    reaches[w as usize] = true;
                    self.queue.push(w);
                }
                e = self.next[e as usize];
            }
        }
        reaches
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_paths_and_a_detour() {
        let mut g = Network::default();
        g.clear();
        let (a, b) = (g.node(), g.node());
        let sa = g.edge(SOURCE, a, 10);
        g.edge(SOURCE, b, 4);
        g.edge(a, b, UNLIMITED);
        g.edge(a, SINK, 3);
        g.edge(b, SINK, 8);
        assert_eq!(g.run(), 11);
        assert!(g.carried(sa) <= 10);
        assert!(g.source_side(a) && !g.source_side(SINK));
    }
}
