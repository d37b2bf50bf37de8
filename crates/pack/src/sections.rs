//! Time, compressed to the steps that matter.
//!
//! Which ranges are live together is decided at steps where one begins just before one ends: every
//! other step's live set is contained in that of such a step. These are the *sections*, numbered in
//! time; a range becomes a half-open range of sections. Two ranges share a step exactly when they
//! share a section (a range always contains the section of the last begin before its end).

use crate::problem::Span;

/// The sections of a list of ranges.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sections {
    /// A step inside each section, ascending.
    pub(crate) steps: Vec<u64>,
}

impl Sections {
    /// The sections of the non-empty ranges among `spans`, and each range in sections (empty ranges become `(0, 0)`).
    pub(crate) fn new(spans: &[Span]) -> (Sections, Vec<(u32, u32)>) {
        Sections::cut(spans, false)
    }

    /// The same with a section between any two times at which something begins or ends, where something is live. Nothing more is decided by them, but a search that goes
    /// along them meets other choices.
    pub(crate) fn finest(spans: &[Span]) -> (Sections, Vec<(u32, u32)>) {
        Sections::cut(spans, true)
    }

    fn cut(spans: &[Span], everywhere: bool) -> (Sections, Vec<(u32, u32)>) {
        let times = Times::new(spans);
        let count = times.count();
        let mut begins = vec![0_u32; count + 1];
        let mut ends = vec![0_u32; count + 1];
        for span in spans.iter().filter(|span| !span.is_empty()) {
            begins[times.rank(span.begin)] += 1;
            ends[times.rank(span.end)] += 1;
        }
        let mut steps = Vec::new();
        let mut before = vec![0_u32; count + 1]; // sections strictly before a time
        let (mut begun, mut live) = (None, 0);
        for rank in 0..count {
            let cuts = everywhere && begins[rank] + ends[rank] > 0;
            if let Some(begin) = begun.filter(|_| ends[rank] > 0 || cuts) {
                steps.push(times.time(begin));
                begun = None;
            }
            live = live + begins[rank] - ends[rank];
            if begins[rank] > 0 || cuts && live > 0 {
                begun = Some(rank);
            }
            before[rank] = steps.len() as u32;
        }
        // A section pushed at an end lies before that end and, if its begin is later than another, after that.
        let ranges = spans.iter().map(|span| match span.is_empty() {
            true => (0, 0),
            false => (before[times.rank(span.begin)], before[times.rank(span.end)]),
        });
        let ranges = ranges.collect();
        (Sections { steps }, ranges)
    }

    /// The number of sections.
    pub(crate) fn count(&self) -> usize {
        self.steps.len()
    }
}

/// Maps times to small numbers: by subtraction where times are dense, else by their rank.
enum Times {
    Dense { first: u64, count: usize },
    Sparse(Vec<u64>),
}

impl Times {
    fn new(spans: &[Span]) -> Times {
        let filled = || spans.iter().filter(|span| !span.is_empty());
        let first = filled().map(|span| span.begin).min().unwrap_or(0);
        let last = filled().map(|span| span.end).max().unwrap_or(0);
        let width = last - first;
        if width < 8 * spans.len() as u64 + 64 {
            return Times::Dense { first, count: width as usize + 1 };
        }
        let mut times: Vec<u64> = filled().flat_map(|span| [span.begin, span.end]).collect();
        times.sort_unstable();
        times.dedup();
        Times::Sparse(times)
    }

    fn count(&self) -> usize {
        match self {
            Times::Dense { count, .. } => *count,
            Times::Sparse(times) => times.len(),
        }
    }

    fn rank(&self, time: u64) -> usize {
        match self {
            Times::Dense { first, .. } => (time - first) as usize,
            Times::Sparse(times) => times.partition_point(|&t| t < time),
        }
    }

    fn time(&self, rank: usize) -> u64 {
        match self {
            Times::Dense { first, .. } => first + rank as u64,
            Times::Sparse(times) => times[rank],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_share_a_section_exactly_when_they_share_a_step() {
        let mut seed = 7_u64;
        let mut next = |n: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % n
        };
        for round in 0..500 {
            let scale = if round % 2 == 0 { 1 } else { 1_000_003 };
            let spans: Vec<Span> = (0..1 + next(9))
                .map(|_| (next(12), next(5)))
                .map(|(b, l)| Span::new(b * scale, (b + l) * scale))
                .collect();
            for (sections, ranges) in [Sections::new(&spans), Sections::finest(&spans)] {
                for (a, &(a_lo, a_hi)) in spans.iter().zip(&ranges) {
                    assert_eq!(a.is_empty(), a_lo >= a_hi);
                    let inside =
                        (0..sections.count()).filter(|&s| a.begin <= sections.steps[s] && sections.steps[s] < a.end);
                    assert_eq!(inside.collect::<Vec<_>>(), (a_lo as usize..a_hi as usize).collect::<Vec<_>>());
                    for (b, &(b_lo, b_hi)) in spans.iter().zip(&ranges) {
                        let steps = a.begin.max(b.begin) < a.end.min(b.end);
                        assert_eq!(steps, a_lo.max(b_lo) < a_hi.min(b_hi), "{spans:?}");
                    }
                }
            }
        }
    }
}
