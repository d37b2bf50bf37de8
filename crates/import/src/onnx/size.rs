//! Sizes of dimensions: polynomials over named dimensions.
//!
//! Exact where arithmetic is: `4*N / 4` is `N`, and `N - N` is 0, so that shapes that agree are seen to agree. What has no exact form
//! (a division with a rest, the larger of two) is a named dimension of its own whose name is the formula, with the bounds that follow from those
//! of its parts.

use std::collections::{BTreeMap, BTreeSet};

/// Terms of a polynomial; a longer one becomes an unknown size.
const MAX_TERMS: usize = 12;
/// Factors of a term.
const MAX_FACTORS: usize = 8;
/// Characters of a formula that serves as a name; a longer one is numbered.
const MAX_TEXT: usize = 120;
/// Characters of a name; a longer one is numbered.
const MAX_NAME: usize = 240;

/// A size: sorted terms, each a product of named dimensions (by number, sorted) and what it is multiplied with, never 0.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(super) struct Size(Vec<(Vec<u32>, i64)>);

/// Bounds of a size, both included.
pub(super) type Bounds = (i64, i64);

/// The named dimensions.
#[derive(Debug, Default)]
pub(super) struct Sizes {
    names: Vec<String>,
    bounds: Vec<Option<Bounds>>,
    by_name: BTreeMap<String, u32>,
    /// Numbers of long formulas, by what they are made of.
    long: BTreeMap<(&'static str, Size, Size), usize>,
    /// Numbers of long names.
    long_names: BTreeMap<String, usize>,
    /// Sizes that the user gave to names.
    given: BTreeMap<String, Bounds>,
    /// Names that were looked for and found among these.
    asked: BTreeSet<String>,
}

impl Size {
    /// A size that is known.
    pub(super) fn of(value: i64) -> Size {
        Size(if value == 0 { Vec::new() } else { vec![(Vec::new(), value)] })
    }

    /// The number, if it is known.
    pub(super) fn known(&self) -> Option<i64> {
        match &self.0[..] {
            [] => Some(0),
            [(factors, value)] if factors.is_empty() => Some(*value),
            _ => None,
        }
    }

    pub(super) fn plus(&self, other: &Size) -> Option<Size> {
        let mut terms: BTreeMap<Vec<u32>, i64> = self.0.iter().cloned().collect();
        for (factors, value) in &other.0 {
            let sum = terms.entry(factors.clone()).or_insert(0);
            *sum = sum.checked_add(*value)?;
        }
        Size::from(terms)
    }

    pub(super) fn times(&self, other: &Size) -> Option<Size> {
        let mut terms: BTreeMap<Vec<u32>, i64> = BTreeMap::new();
        for (left, a) in &self.0 {
            for (right, b) in &other.0 {
                let mut factors: Vec<u32> = left.iter().chain(right).copied().collect();
                factors.sort_unstable();
                let sum = terms.entry(factors).or_insert(0);
                *sum = sum.checked_add(a.checked_mul(*b)?)?;
            }
        }
        Size::from(terms)
    }

    pub(super) fn minus(&self, other: &Size) -> Option<Size> {
        self.plus(&other.times(&Size::of(-1))?)
    }

    /// The quotient, if the division has no rest whatever the names stand for.
    pub(super) fn exactly_over(&self, other: &Size) -> Option<Size> {
        let [(factors, value)] = &other.0[..] else { return None };
        let mut terms = Vec::new();
        for (left, a) in &self.0 {
            let mut left = left.clone();
            for factor in factors {
                let at = left.iter().position(|other| other == factor)?;
                left.remove(at);
            }
            if a.checked_rem(*value)? != 0 {
                return None;
            }
            terms.push((left, a.checked_div(*value)?));
        }
        Size::from(terms.into_iter().collect())
    }

    /// Whether it is a product of names with a number above 0, which is never negative.
    pub(super) fn is_product(&self) -> bool {
        matches!(&self.0[..], [(_, value)] if *value > 0)
    }

    fn from(terms: BTreeMap<Vec<u32>, i64>) -> Option<Size> {
        let terms: Vec<(Vec<u32>, i64)> = terms.into_iter().filter(|(_, value)| *value != 0).collect();
        let bearable = terms.len() <= MAX_TERMS && terms.iter().all(|(factors, _)| factors.len() <= MAX_FACTORS);
        bearable.then_some(Size(terms))
    }
}

impl Sizes {
    /// With what the user says about names.
    pub(super) fn new(given: BTreeMap<String, Bounds>) -> Sizes {
        Sizes { given, ..Sizes::default() }
    }

    /// Names that the user gave a size and that the model has.
    pub(super) fn used(&self) -> impl Iterator<Item = (String, Bounds)> + '_ {
        self.asked.iter().filter_map(|name| Some((name.clone(), *self.given.get(name)?)))
    }

    /// The one number that the user gave to a name.
    pub(super) fn fixed(&mut self, name: &str) -> Option<Size> {
        let (low, high) = *self.given.get(name)?;
        (low == high).then(|| self.name(name))
    }

    /// The named dimension, or its size where the user fixed it.
    pub(super) fn name(&mut self, name: &str) -> Size {
        if name.len() <= MAX_NAME || self.given.contains_key(name) {
            return self.named(name, None);
        }
        let next = self.long_names.len() + 1;
        let number = *self.long_names.entry(name.to_owned()).or_insert(next);
        self.named(&format!("dim_{number}"), None)
    }

    fn named(&mut self, name: &str, bounds: Option<Bounds>) -> Size {
        let given = self.given.get(name).copied();
        if given.is_some() && !self.asked.contains(name) {
            self.asked.insert(name.to_owned());
        }
        let bounds = given.or(bounds);
        if let Some((low, high)) = bounds
            && low == high
        {
            return Size::of(low);
        }
        let next = self.names.len() as u32;
        let number = *self.by_name.entry(name.to_owned()).or_insert(next);
        if number == next {
            self.names.push(name.to_owned());
            self.bounds.push(bounds);
        }
        Size(vec![(vec![number], 1)])
    }

    /// The quotient, rounded down, of a size that is not negative; `other` is above 0.
    pub(super) fn over(&mut self, size: &Size, other: &Size) -> Option<Size> {
        if let (Some(a), Some(b)) = (size.known(), other.known()) {
            return (b > 0).then(|| Size::of(a.div_euclid(b)));
        }
        if let Some(exact) = size.exactly_over(other) {
            return Some(exact);
        }
        let bounds = self.bounds(size).zip(self.bounds(other)).and_then(|((low, high), (least, most))| {
            (least > 0).then(|| {
                (
                    low.div_euclid(if low < 0 { least } else { most }),
                    high.div_euclid(if high < 0 { most } else { least }),
                )
            })
        });
        let text = format!("{} / {}", self.factor(size), self.factor(other));
        Some(self.formula(text, ("/", size, other), bounds))
    }

    /// The larger of two.
    pub(super) fn larger(&mut self, a: &Size, b: &Size) -> Option<Size> {
        self.extreme(a, b, "max", |a, b| a.max(b))
    }

    /// The smaller of two.
    pub(super) fn smaller(&mut self, a: &Size, b: &Size) -> Option<Size> {
        self.extreme(a, b, "min", |a, b| a.min(b))
    }

    fn extreme(&mut self, a: &Size, b: &Size, word: &'static str, of: fn(i64, i64) -> i64) -> Option<Size> {
        if a == b {
            return Some(a.clone());
        }
        let bounds = self.bounds(a).zip(self.bounds(b));
        let bounds = bounds.map(|(a, b)| (of(a.0, b.0), of(a.1, b.1)));
        if let (Some(a), Some(b)) = (a.known(), b.known()) {
            return Some(Size::of(of(a, b)));
        }
        let (first, second) = if a <= b { (a, b) } else { (b, a) };
        let text = format!("{word}({}, {})", self.text(first), self.text(second));
        Some(self.formula(text, (word, first, second), bounds))
    }

    /// Either of two, nobody knows which: what a branch hands out.
    pub(super) fn either(&mut self, a: &Size, b: &Size) -> Option<Size> {
        if a == b {
            return Some(a.clone());
        }
        let bounds = self.bounds(a).zip(self.bounds(b)).map(|(a, b)| (a.0.min(b.0), a.1.max(b.1)));
        let (first, second) = if a <= b { (a, b) } else { (b, a) };
        let text = format!("{} or {}", self.text(first), self.text(second));
        Some(self.formula(text, ("or", first, second), bounds))
    }

    /// The same, or a name for it where its formula is long: what is kept of a size stays small.
    pub(super) fn bearable(&mut self, size: Size) -> Size {
        let is_name = matches!(&size.0[..], [(factors, 1)] if factors.len() == 1);
        if is_name || size.known().is_some() || self.text(&size).len() <= MAX_TEXT {
            return size;
        }
        let bounds = self.bounds(&size);
        self.numbered(("", &size, &Size::of(0)), bounds)
    }

    fn formula(&mut self, text: String, parts: (&'static str, &Size, &Size), bounds: Option<Bounds>) -> Size {
        if text.len() <= MAX_TEXT { self.named(&text, bounds) } else { self.numbered(parts, bounds) }
    }

    fn numbered(&mut self, (word, a, b): (&'static str, &Size, &Size), bounds: Option<Bounds>) -> Size {
        let next = self.long.len() + 1;
        let number = *self.long.entry((word, a.clone(), b.clone())).or_insert(next);
        self.named(&format!("formula_{number}"), bounds)
    }

    /// Bounds, if all names have some.
    pub(super) fn bounds(&self, size: &Size) -> Option<Bounds> {
        let (mut low, mut high) = (0i64, 0i64);
        for (factors, value) in &size.0 {
            let (mut least, mut most) = (1i64, 1i64);
            for factor in factors {
                let (from, to) = self.bounds[*factor as usize]?;
                (least, most) = (least.checked_mul(from.max(0))?, most.checked_mul(to.max(0))?);
            }
            let (a, b) = (least.checked_mul(*value)?, most.checked_mul(*value)?);
            (low, high) = (low.checked_add(a.min(b))?, high.checked_add(a.max(b))?);
        }
        Some((low, high))
    }

    /// The formula.
    pub(super) fn text(&self, size: &Size) -> String {
        let mut out = String::new();
        for (factors, value) in size.0.iter().rev() {
            let names: Vec<&str> = factors.iter().map(|factor| self.names[*factor as usize].as_str()).collect();
            let sign = if *value < 0 { "- " } else { "+ " };
            if out.is_empty() {
                out.push_str(if *value < 0 { "-" } else { "" });
            } else {
                out.push(' ');
                out.push_str(sign);
            }
            let number = value.unsigned_abs();
            if number != 1 || names.is_empty() {
                out.push_str(&number.to_string());
                out.push_str(if names.is_empty() { "" } else { "*" });
            }
            let alone = size.0.len() == 1 && *value == 1 && names.len() == 1;
            // A name that is a formula keeps together.
            let together = |name: &&str| name.contains(' ') && !alone;
            let wrapped =
                names.iter().map(|name| if together(name) { format!("({name})") } else { (*name).to_owned() });
            out.push_str(&wrapped.collect::<Vec<String>>().join("*"));
        }
        if out.is_empty() { "0".to_owned() } else { out }
    }

    fn factor(&self, size: &Size) -> String {
        let text = self.text(size);
        if text.contains(' ') { format!("({text})") } else { text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes() -> Sizes {
        Sizes::new(BTreeMap::from([("N".to_owned(), (1, 8)), ("F".to_owned(), (3, 3))]))
    }

    #[test]
    fn arithmetic_is_exact_where_it_can_be() {
        let mut sizes = sizes();
        let (n, m, four) = (sizes.name("N"), sizes.name("M"), Size::of(4));
        assert_eq!(sizes.name("F").known(), Some(3));
        let product = n.times(&m).unwrap().times(&four).unwrap();
        assert_eq!(product.exactly_over(&m.times(&four).unwrap()), Some(n.clone()));
        assert_eq!(product.exactly_over(&Size::of(8)), None);
        assert_eq!(n.minus(&n).unwrap().known(), Some(0));
        assert_eq!(n.plus(&Size::of(3)).unwrap().minus(&n).unwrap().known(), Some(3));
        assert_eq!(Size::of(i64::MAX).plus(&Size::of(1)), None);
    }

    #[test]
    fn formulas_are_names_with_bounds() {
        let mut sizes = sizes();
        let n = sizes.name("N");
        let half = sizes.over(&n.minus(&Size::of(1)).unwrap(), &Size::of(2)).unwrap();
        assert_eq!((sizes.text(&half).as_str(), sizes.bounds(&half)), ("(N - 1) / 2", Some((0, 3))));
        assert_eq!(sizes.over(&n.minus(&Size::of(1)).unwrap(), &Size::of(2)), Some(half.clone()));
        let more = half.times(&Size::of(-3)).unwrap().plus(&Size::of(40)).unwrap();
        assert_eq!((sizes.text(&more).as_str(), sizes.bounds(&more)), ("-3*((N - 1) / 2) + 40", Some((31, 40))));
        let either = sizes.either(&Size::of(3), &Size::of(5)).unwrap();
        assert_eq!(sizes.bounds(&either), Some((3, 5)));
        assert_eq!(sizes.larger(&Size::of(3), &Size::of(5)).unwrap().known(), Some(5));
        let unknown = sizes.name("M");
        assert_eq!(sizes.bounds(&unknown), None);
    }
}
