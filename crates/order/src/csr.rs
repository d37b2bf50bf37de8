//! Adjacency in compressed rows: one flat array of items and one of row starts.
//!
//! Sound because rows are sorted and free of duplicates, so that counting down over a row counts each
//! neighbour once. Linear in the number of pairs.

/// Rows of sorted, distinct `u32`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Csr {
    start: Vec<u32>,
    item: Vec<u32>,
}

impl Csr {
    /// Rows `0..rows` from `(row, item)` pairs in any order; items are below `items`.
    pub(crate) fn new(rows: usize, items: usize, pairs: &[(u32, u32)]) -> Csr {
        // Two counting passes (by item, then by row) leave each row sorted in linear time.
        let by_item = bucket(items, pairs.iter().map(|&(r, i)| (i, r)));
        let mut start = vec![0u32; rows + 1];
        for &(r, _) in pairs {
            start[r as usize + 1] += 1;
        }
        for r in 0..rows {
            start[r + 1] += start[r];
        }
        let mut next: Vec<u32> = start[..rows].to_vec();
        let mut item = vec![0u32; pairs.len()];
        for (i, r) in by_item {
            item[next[r as usize] as usize] = i;
            next[r as usize] += 1;
        }
        Csr { start, item }.dedup()
    }

    /// The items of row `r`.
    pub(crate) fn row(&self, r: usize) -> &[u32] {
        &self.item[self.start[r] as usize..self.start[r + 1] as usize]
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.start.len().saturating_sub(1)
    }

    /// The same pairs with rows and items exchanged.
    pub(crate) fn transpose(&self, items: usize) -> Csr {
        let pairs = self.pairs();
        let flipped: Vec<(u32, u32)> = pairs.iter().map(|&(r, i)| (i, r)).collect();
        Csr::new(items, self.rows(), &flipped)
    }

    /// All `(row, item)` pairs, by row.
    pub(crate) fn pairs(&self) -> Vec<(u32, u32)> {
        (0..self.rows()).flat_map(|r| self.row(r).iter().map(move |&i| (r as u32, i))).collect()
    }

    fn dedup(mut self) -> Csr {
        let rows = self.rows();
        let mut kept = 0usize;
        let mut begin = 0usize;
        for r in 0..rows {
            let end = self.start[r + 1] as usize;
            let row_start = kept;
            for k in begin..end {
                if kept == row_start || self.item[kept - 1] != self.item[k] {
                    self.item[kept] = self.item[k];
                    kept += 1;
                }
            }
            begin = end;
            self.start[r + 1] = kept as u32;
        }
        self.item.truncate(kept);
        self
    }
}

fn bucket(keys: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Vec<(u32, u32)> {
    let mut start = vec![0u32; keys + 1];
    let mut count = 0;
    for (k, _) in pairs.clone() {
        start[k as usize + 1] += 1;
        count += 1;
    }
    for k in 0..keys {
        start[k + 1] += start[k];
    }
    let mut out = vec![(0, 0); count];
    for (k, v) in pairs {
        let slot = &mut start[k as usize];
        out[*slot as usize] = (k, v);
        *slot += 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_and_distinct() {
        let c = Csr::new(3, 5, &[(2, 4), (0, 3), (0, 1), (0, 3), (2, 0)]);
        assert_eq!(c.row(0), [1, 3]);
        assert_eq!(c.row(1), [] as [u32; 0]);
        assert_eq!(c.row(2), [0, 4]);
        assert_eq!(c.transpose(5).row(3), [0]);
    }
}
