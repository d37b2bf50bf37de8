//! States from which classes let no order come to an end.
//!
//! Sound: take a set of full classes. Until some storage of one of them ends, all of them stay full: no storage starts there, and an op that touches one that has
//! not started cannot run. The first of their storages that ends has had all its users run, and with them all that they depend on, none of which was
//! such an op. So where each of these storages has a user that waits for such an op, none ever ends. A storage that may start over
//! another one needs no room: ops that wait for it alone are taken for ops that can run.

use crate::cursor::Cursor;
use crate::model::{Model, NONE};

/// Finds dead states; buffers are kept from call to call.
#[derive(Debug)]
pub(crate) struct Deadlock {
    /// When each op was last looked at.
    seen: Vec<u32>,
    now: u32,
    stack: Vec<u32>,
    /// Storages that may start over another one.
    paired: Vec<bool>,
    /// By class: whether it is full and none of its storages was found to end.
    stuck: Vec<bool>,
    /// Whether some op waits for a storage in a class that is stuck.
    waiting: bool,
    /// Ops looked at.
    pub(crate) scanned: u64,
}

impl Deadlock {
    /// For the states of one model.
    pub(crate) fn new(model: &Model) -> Deadlock {
        let (ops, storages) = if model.limits.is_empty() { (0, 0) } else { (model.n, model.size.len()) };
        let mut paired = vec![false; storages];
        if storages > 0 {
            model.pairs.iter().for_each(|pair| paired[pair.born as usize] = true);
        }
        let stuck = vec![false; model.limits.len()];
        Deadlock { seen: vec![0; ops], now: 0, stack: Vec::new(), paired, stuck, waiting: false, scanned: 0 }
    }

    /// Whether no order leads on to the end from where `cursor` stands.
    pub(crate) fn is_dead(&mut self, cursor: &Cursor<'_>) -> bool {
        let m = cursor.m;
        for (class, limit) in m.limits.iter().enumerate() {
            let (count, bytes) = cursor.class_live()[class];
            self.stuck[class] = count > 0 && (count >= limit.count || bytes >= limit.bytes);
        }
        // A class that empties may let the storages of another one end.
        loop {
            let stuck: Vec<usize> = (0..m.limits.len()).filter(|&class| self.stuck[class]).collect();
            self.waiting = false;
            let mut ends = |class: &usize| cursor.class_storages(*class).iter().any(|&s| self.may_end(cursor, s));
            let Some(class) = stuck.iter().copied().find(&mut ends) else {
                return self.waiting;
            };
            self.stuck[class] = false;
        }
    }

    /// Whether all users of a storage may run while every stuck class stays full.
    fn may_end(&mut self, cursor: &Cursor<'_>, storage: u32) -> bool {
        let m = cursor.m;
        if m.kept[storage as usize] {
            return false;
        }
        self.now += 1;
        self.stack.clear();
        self.stack.extend(m.users.row(storage as usize).iter().filter(|&&u| !cursor.is_done(u)));
        while let Some(v) = self.stack.pop() {
            if std::mem::replace(&mut self.seen[v as usize], self.now) == self.now {
                continue;
            }
            self.scanned += 1;
            if self.waits(cursor, v) {
                self.waiting = true;
                return false;
            }
            self.stack.extend(m.preds.row(v as usize).iter().filter(|&&p| !cursor.is_done(p)));
        }
        true
    }

    /// Whether `v` needs a storage that has not started, in a class that is stuck.
    fn waits(&self, cursor: &Cursor<'_>, v: u32) -> bool {
        let m = cursor.m;
        m.touch.row(v as usize).iter().any(|&s| {
            let class = m.class[s as usize];
            let room =
                || m.size[s as usize] == 0 && cursor.class_live()[class as usize].0 < m.limits[class as usize].count;
            class != NONE
                && self.stuck[class as usize]
                && !self.paired[s as usize]
                && cursor.starts(s as usize)
                && !room()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::storage;
    use crate::ids::ClassId;
    use crate::problem::{Class, Op, Problem, Spec};

    /// Two products, each of two operands; the left and the right operands share a slot each.
    fn products() -> Problem {
        let slot = |class: u32, writer: u32, reader: u32| crate::problem::Storage {
            class: Some(ClassId(class)),
            ..storage(0, &[writer], &[reader])
        };
        let storages = vec![slot(0, 0, 2), slot(1, 1, 2), slot(0, 3, 5), slot(1, 4, 5)];
        let classes = vec![Class { limit: Some(1), capacity: None }; 2];
        Problem::new(Spec { ops: vec![Op::default(); 6], storages, classes, ..Spec::default() }).expect("legal")
    }

    #[test]
    fn operands_of_different_products_block_each_other() {
        let p = products();
        let m = crate::model::build(&p, &Default::default(), |_| true);
        let mut deadlock = Deadlock::new(&m);
        let mut cursor = Cursor::new(&m, true);
        assert!(!deadlock.is_dead(&cursor));
        cursor.apply(0);
        assert!(!deadlock.is_dead(&cursor), "the other operand has a slot");
        cursor.apply(4);
        assert!(deadlock.is_dead(&cursor));
        cursor.undo(4);
        cursor.apply(1);
        assert!(!deadlock.is_dead(&cursor));
    }
}
