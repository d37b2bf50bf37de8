//! Storages that can change places: rows of a tiled product, columns, weights of equal layers.
//!
//! Two storages of one size are alike if some permutation of the tasks exchanges them and leaves every other storage, and what comes before what, as it is. Then a set of
//! tasks and its image need the same bytes from there on. A set is replaced by the image in which storages that are alike stand in the order of how far they
//! are; where that leaves ties, images of one set are told apart, which costs time and nothing else.

use super::Turns;
use std::collections::BTreeMap;

/// Only so many storages are compared with each other.
const MOST: usize = 256;

/// A storage with the permutation of tasks that exchanges it with the first of its class.
type Exchange = (u32, Vec<u32>);

/// The exchanges that were found.
#[derive(Debug, Default)]
pub(super) struct Alike {
    /// Per class, its first storage and the others.
    classes: Vec<(u32, Vec<Exchange>)>,
    /// Permutations of tasks that exchange two storages of a class each, enough to make every other one.
    neighbours: Vec<Vec<u32>>,
    /// Tasks of each storage, and storages of each task.
    tasks: Vec<Vec<u32>>,
    storages: Vec<Vec<u32>>,
}

/// What a task does: the storages that it starts, and those that need it.
type Signature = (Vec<u32>, Vec<u32>);

impl Alike {
    pub(super) fn new(small: &Turns, end: u64, spent: &mut u64) -> Alike {
        let mut alike = Alike::default();
        let signatures = signatures(small);
        if small.size.len() > MOST {
            alike.storages = signatures.into_iter().map(|(_, needs)| needs).collect();
            return alike;
        }
        let mut by_signature: BTreeMap<&Signature, Vec<u32>> = BTreeMap::new();
        for (task, signature) in signatures.iter().enumerate() {
            by_signature.entry(signature).or_default().push(task as u32);
        }
        let kind =
            |s: usize| (small.size[s], small.starts[s].len(), small.needs[s].len(), small.open[s], small.kept[s]);
        for s in 0..small.size.len() {
            let mut found = None;
            for (at, (first, _)) in alike.classes.iter().enumerate() {
                let first = *first as usize;
                if kind(first) == kind(s) && *spent <= end {
                    *spent += small.tasks as u64 / 2;
                    let exchange = exchange(small, &by_signature, first as u32, s as u32);
                    found = exchange.map(|exchange| (at, exchange));
                    if found.is_some() {
                        break;
                    }
                }
            }
            match found {
                Some((at, exchange)) => alike.classes[at].1.push((s as u32, exchange)),
                None => alike.classes.push((s as u32, Vec::new())),
            }
        }
        alike.classes.retain(|(_, others)| !others.is_empty());
        for (_, others) in &alike.classes {
            alike.neighbours.push(others[0].1.clone());
            let through =
                |one: &[u32], other: &[u32]| one.iter().map(|&task| other[task as usize]).collect::<Vec<u32>>();
            let pairs = others.windows(2).map(|pair| through(&through(&pair[0].1, &pair[1].1), &pair[0].1));
            alike.neighbours.extend(pairs);
        }
        alike.tasks = small.needs.clone();
        alike.storages = signatures.into_iter().map(|(_, needs)| needs).collect();
        alike
    }

    /// The image of a set that stands for it.
    pub(super) fn canonical(&self, mut set: Vec<u64>, spent: &mut u64) -> Vec<u64> {
        if self.classes.is_empty() {
            return set;
        }
        let keys = self.keys(&set);
        for (first, others) in &self.classes {
            // Places of the class hold storages; the exchanges move what is in two places.
            let mut held: Vec<(u32, u64)> =
                std::iter::once(first).chain(others.iter().map(|(s, _)| s)).map(|&s| keys[s as usize]).collect();
            for place in 0..held.len() {
                let least = (place..held.len()).min_by_key(|&at| (held[at], at)).unwrap_or(place);
                if held[least] != held[place] {
                    held.swap(place, least);
                    swap(&mut set, others, place, least);
                    *spent += set.len() as u64 * 4;
                }
            }
        }
        set
    }

    /// Per task, one that stands for it: with either of them the set becomes the same but for exchanges.
    pub(super) fn orbits(&self, set: &[u64], spent: &mut u64) -> Vec<u32> {
        let has = |task: u32| set[task as usize / 64] >> (task % 64) & 1;
        let mut stands: Vec<u32> = (0..self.storages.len() as u32).collect();
        for to in &self.neighbours {
            *spent += to.len() as u64 / 16;
            if to.iter().enumerate().all(|(task, &image)| has(task as u32) == has(image)) {
                to.iter().enumerate().for_each(|(task, &image)| join(&mut stands, task as u32, image));
            }
        }
        (0..stands.len() as u32).map(|task| root(&mut stands, task)).collect()
    }

    /// How far each storage is: how many of its tasks have run, and how far the other storages of these are.
    fn keys(&self, set: &[u64]) -> Vec<(u32, u64)> {
        let has = |task: u32| set[task as usize / 64] >> (task % 64) & 1 == 1;
        let counts: Vec<u32> =
            self.tasks.iter().map(|row| row.iter().filter(|&&task| has(task)).count() as u32).collect();
        let of_task = |task: &u32| {
            let others = self.storages[*task as usize].iter();
            others.map(|&s| mixed(u64::from(counts[s as usize]) + 1)).fold(0u64, u64::wrapping_add)
        };
        let around = |row: &Vec<u32>| {
            row.iter().filter(|&&task| has(task)).map(|task| mixed(of_task(task))).fold(0u64, u64::wrapping_add)
        };
        counts.iter().copied().zip(self.tasks.iter().map(around)).collect()
    }
}

fn join(stands: &mut [u32], one: u32, other: u32) {
    let (one, other) = (root(stands, one), root(stands, other));
    stands[one.max(other) as usize] = one.min(other);
}

fn root(stands: &mut [u32], mut task: u32) -> u32 {
    while stands[task as usize] != task {
        stands[task as usize] = stands[stands[task as usize] as usize];
        task = stands[task as usize];
    }
    task
}

/// Exchanges what is in two places of a class; place 0 is the first storage's.
fn swap(set: &mut Vec<u64>, others: &[Exchange], one: usize, other: usize) {
    let through = |set: &mut Vec<u64>, place: usize| {
        if place > 0 {
            let mut image = vec![0u64; set.len()];
            for (task, &to) in others[place - 1].1.iter().enumerate() {
                image[to as usize / 64] |= (set[task / 64] >> (task % 64) & 1) << (to % 64);
            }
            *set = image;
        }
    };
    through(set, one);
    through(set, other);
    if one > 0 {
        through(set, one);
    }
}

fn signatures(small: &Turns) -> Vec<Signature> {
    let mut found: Vec<Signature> = vec![Default::default(); small.tasks];
    for s in 0..small.size.len() {
        small.starts[s].iter().for_each(|&task| found[task as usize].0.push(s as u32));
        small.needs[s].iter().for_each(|&task| found[task as usize].1.push(s as u32));
    }
    found
}

/// The permutation of the tasks that exchanges two storages and nothing else.
fn exchange(small: &Turns, by_signature: &BTreeMap<&Signature, Vec<u32>>, one: u32, other: u32) -> Option<Vec<u32>> {
    let image = |list: &[u32]| {
        let swapped = |s: &u32| {
            if *s == one {
                other
            } else if *s == other {
                one
            } else {
                *s
            }
        };
        let mut list: Vec<u32> = list.iter().map(swapped).collect();
        list.sort_unstable();
        list
    };
    let mut to = vec![0u32; small.tasks];
    for (signature, tasks) in by_signature {
        let images = by_signature.get(&(image(&signature.0), image(&signature.1)))?;
        if images.len() != tasks.len() {
            return None;
        }
        tasks.iter().zip(images).for_each(|(task, image)| to[*task as usize] = *image);
    }
    let kept = |task: usize| {
        let mut row: Vec<u32> = small.preds[task].iter().map(|&before| to[before as usize]).collect();
        row.sort_unstable();
        row == small.preds[to[task] as usize]
    };
    (0..small.tasks).all(kept).then_some(to)
}

/// SplitMix64.
fn mixed(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
