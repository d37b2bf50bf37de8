//! Levels over positions: add to a range, ask for the most in a range. A segment tree; both take logarithmic time.

pub(crate) struct Levels {
    size: usize,
    most: Vec<i64>,
    add: Vec<i64>,
}

impl Levels {
    /// All levels 0.
    pub(crate) fn new(count: usize) -> Levels {
        let size = count.next_power_of_two().max(1);
        Levels { size, most: vec![0; 2 * size], add: vec![0; 2 * size] }
    }

    /// Adds to the positions `from..to`.
    pub(crate) fn add(&mut self, from: usize, to: usize, by: i64) {
        if from < to {
            self.walk(1, 0, self.size, from, to, by);
        }
    }

    fn walk(&mut self, node: usize, left: usize, right: usize, from: usize, to: usize, by: i64) {
        if from <= left && right <= to {
            self.most[node] += by;
            self.add[node] += by;
            return;
        }
        let middle = usize::midpoint(left, right);
        if from < middle {
            self.walk(2 * node, left, middle, from, to, by);
        }
        if to > middle {
            self.walk(2 * node + 1, middle, right, from, to, by);
        }
        self.most[node] = self.add[node] + self.most[2 * node].max(self.most[2 * node + 1]);
    }

    /// The most in the positions `from..to`; the least number for none.
    pub(crate) fn most(&self, from: usize, to: usize) -> i64 {
        if from < to { self.ask(1, 0, self.size, from, to) } else { i64::MIN }
    }

    fn ask(&self, node: usize, left: usize, right: usize, from: usize, to: usize) -> i64 {
        if from <= left && right <= to {
            return self.most[node];
        }
        let middle = usize::midpoint(left, right);
        let mut most = i64::MIN;
        if from < middle {
            most = most.max(self.ask(2 * node, left, middle, from, to));
        }
        if to > middle {
            most = most.max(self.ask(2 * node + 1, middle, right, from, to));
        }
        most.saturating_add(self.add[node])
    }

    /// The first position in `from..to` whose level is above `limit`.
    pub(crate) fn above(&self, from: usize, to: usize, limit: i64) -> Option<usize> {
        if from >= to || self.most(from, to) <= limit {
            return None;
        }
        let (mut low, mut high) = (from, to);
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            if self.most(low, middle) > limit { high = middle } else { low = middle }
        }
        Some(low)
    }
}
