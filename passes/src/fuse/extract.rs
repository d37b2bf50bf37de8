//! Picks one term per class: the cheapest graph, not the cheapest tree.
//!
//! A tree's cost counts a shared value once per reader, which is exponential and prefers the wrong terms; so the tree's cost only gives
//! a first, well-founded choice (Knuth 1977). Then each class with a choice is looked at again with exact costs: how much a term adds to what
//! is needed anyway, counted by reference counts as in technology mapping (exact local area, Mishchenko et al. 2007). A choice
//! that would close a cycle is none. Near-linear: a look costs what its own part of the graph costs, and looking for cycles has a limit.

use egg::Id;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// One way to get the value of a class.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    /// What it costs by itself: bytes made, bytes of work.
    pub(super) cost: u64,
    /// What it is built from.
    pub(super) children: Vec<Id>,
}

/// Per class the index of the choice taken. `choices` has canonical classes; of equal ones the first is taken.
pub(super) fn extract(choices: &FxHashMap<Id, Vec<Choice>>, roots: &[Id]) -> FxHashMap<Id, usize> {
    let picks = first(choices);
    let mut graph = Needed { choices, picked: FxHashMap::default(), count: FxHashMap::default() };
    graph.picked.extend(picks.iter().map(|(class, pick)| (*class, pick.choice)));
    graph.add(roots);
    let mut order: Vec<Id> = choices.iter().filter(|(_, list)| list.len() > 1).map(|(class, _)| *class).collect();
    order.sort_by_key(|class| picks.get(class).map(|pick| pick.rank));
    let mut effort = EFFORT.saturating_mul(choices.len());
    for class in order {
        if graph.count.get(&class).is_some_and(|count| *count > 0) {
            let best = graph.best(class, &mut effort);
            graph.picked.insert(class, best);
        }
    }
    graph.picked
}

/// Classes looked at per class, all in all, to see whether a choice would close a cycle.
const EFFORT: usize = 64;

#[derive(Clone, Copy)]
struct Pick {
    choice: usize,
    /// Classes are settled in this order; each is built from earlier ones.
    rank: u32,
}

/// The cheapest trees.
fn first(choices: &FxHashMap<Id, Vec<Choice>>) -> FxHashMap<Id, Pick> {
    let mut readers: FxHashMap<Id, Vec<(Id, usize)>> = FxHashMap::default();
    let mut open: FxHashMap<(Id, usize), (usize, u64)> = FxHashMap::default();
    let mut heap = BinaryHeap::new();
    let mut classes: Vec<Id> = choices.keys().copied().collect();
    classes.sort_unstable();
    for class in classes {
        for (at, choice) in choices[&class].iter().enumerate() {
            let mut children = choice.children.clone();
            children.sort_unstable();
            children.dedup();
            if children.is_empty() {
                heap.push(Reverse((choice.cost, class, at)));
            }
            open.insert((class, at), (children.len(), choice.cost));
            children.into_iter().for_each(|child| readers.entry(child).or_default().push((class, at)));
        }
    }
    let mut picks: FxHashMap<Id, Pick> = FxHashMap::default();
    while let Some(Reverse((cost, class, choice))) = heap.pop() {
        if picks.contains_key(&class) {
            continue;
        }
        picks.insert(class, Pick { choice, rank: picks.len() as u32 });
        for reader in readers.remove(&class).unwrap_or_default() {
            let Some((left, sum)) = open.get_mut(&reader) else { continue };
            *left -= 1;
            *sum = sum.saturating_add(cost);
            if *left == 0 {
                heap.push(Reverse((*sum, reader.0, reader.1)));
            }
        }
    }
    picks
}

/// The part of the graph that is needed.
struct Needed<'a> {
    choices: &'a FxHashMap<Id, Vec<Choice>>,
    picked: FxHashMap<Id, usize>,
    count: FxHashMap<Id, u32>,
}

impl<'a> Needed<'a> {
    fn choice(&self, class: Id) -> Option<&'a Choice> {
        self.choices.get(&class)?.get(*self.picked.get(&class)?)
    }

    /// Needs classes once more; returns what that adds.
    fn add(&mut self, classes: &[Id]) -> u64 {
        let mut sum = 0u64;
        let mut open = classes.to_vec();
        while let Some(class) = open.pop() {
            let count = self.count.entry(class).or_default();
            *count += 1;
            if *count == 1
                && let Some(choice) = self.choice(class)
            {
                sum = sum.saturating_add(choice.cost);
                open.extend(&choice.children);
            }
        }
        sum
    }

    /// Needs classes once less; returns what that saves.
    fn drop(&mut self, classes: &[Id]) -> u64 {
        let mut sum = 0u64;
        let mut open = classes.to_vec();
        while let Some(class) = open.pop() {
            let count = self.count.entry(class).or_default();
            *count = count.saturating_sub(1);
            if *count == 0
                && let Some(choice) = self.choice(class)
            {
                sum = sum.saturating_add(choice.cost);
                open.extend(&choice.children);
            }
        }
        sum
    }

    /// The choice that adds least to what the rest needs. Two choices are compared by the difference: one is needed before the other
    /// is given up, so that what both share is not walked.
    fn best(&mut self, class: Id, effort: &mut usize) -> usize {
        let list = &self.choices[&class];
        let mut best = self.picked[&class];
        for other in (0..list.len()).filter(|other| *other != self.picked[&class]).collect::<Vec<_>>() {
            if self.may_reach(&list[other].children, class, effort) {
                continue;
            }
            let added = self.add(&list[other].children).saturating_add(list[other].cost);
            let saved = self.drop(&list[best].children).saturating_add(list[best].cost);
            if (added, other) < (saved, best) {
                best = other;
            } else {
                self.add(&list[best].children);
                self.drop(&list[other].children);
            }
        }
        best
    }

    /// Whether `class` takes part in what classes are built from; true as well when looking has become too expensive.
    fn may_reach(&self, from: &[Id], class: Id, effort: &mut usize) -> bool {
        let mut seen: FxHashSet<Id> = FxHashSet::default();
        let mut open = from.to_vec();
        while let Some(next) = open.pop() {
            if next == class || *effort == 0 {
                return true;
            }
            *effort -= 1;
            match self.choice(next) {
                Some(choice) if seen.insert(next) => open.extend(&choice.children),
                Some(_) => {}
                // A class without any well-founded choice.
                None => return true,
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(cost: u64, children: &[usize]) -> Choice {
        Choice { cost, children: children.iter().map(|child| Id::from(*child)).collect() }
    }

    fn pick(classes: &[Vec<Choice>], roots: &[usize]) -> Vec<usize> {
        let choices = classes.iter().cloned().enumerate().map(|(class, list)| (Id::from(class), list)).collect();
        let roots: Vec<Id> = roots.iter().map(|root| Id::from(*root)).collect();
        let picked = extract(&choices, &roots);
        (0..classes.len()).map(|class| picked[&Id::from(class)]).collect()
    }

    #[test]
    fn what_is_needed_anyway_costs_nothing() {
        // Class 3 is 0 plus 4, or 1 at cost 5 when 1 is there for class 4 anyway: as a tree the first is cheaper.
        let classes = [
            vec![choice(1, &[])],
            vec![choice(9, &[])],
            vec![choice(4, &[0])],
            vec![choice(0, &[2]), choice(1, &[1])],
            vec![choice(1, &[3, 1])],
        ];
        assert_eq!(pick(&classes, &[4]), [0, 0, 0, 1, 0]);
        // Not where nobody else needs it.
        let mut alone = classes.to_vec();
        alone[4] = vec![choice(1, &[3])];
        assert_eq!(pick(&alone, &[4]), [0, 0, 0, 0, 0]);
    }

    #[test]
    fn no_choice_closes_a_cycle() {
        // Class 0 is itself again through class 1.
        let classes = [vec![choice(0, &[1]), choice(5, &[])], vec![choice(1, &[0])]];
        assert_eq!(pick(&classes, &[1]), [1, 0]);
    }

    #[test]
    fn a_ladder_of_shared_values_takes_no_exponential_time() {
        let mut classes = vec![vec![choice(1, &[])]];
        for rung in 1..5_000 {
            classes.push(vec![choice(2, &[rung - 1, rung - 1]), choice(1, &[rung - 1, rung - 1])]);
        }
        assert!(pick(&classes, &[4_999])[1..].iter().all(|at| *at == 1));
    }
}
