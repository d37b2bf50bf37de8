//! "Did you mean": the known name closest to a mistyped one.

/// The candidate most similar to `name`, if one is similar at all; the first of equal ones.
pub fn closest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // Jaro similarity above 0.7 is what clap calls close; names much longer than any candidate are not compared.
    let similar = |candidate: &'a str| (strsim::jaro(name, candidate), candidate);
    let close = candidates.filter(|_| name.len() <= 100).map(similar).filter(|(likeness, _)| *likeness > 0.7);
    let better = |best: (f64, &'a str), next: (f64, &'a str)| if next.0 > best.0 { next } else { best };
    close.reduce(better).map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn typing_errors_have_a_suggestion_and_other_words_have_none() {
        let names = ["fuse", "reorder", "assign-offsets"];
        assert_eq!(closest("reoder", names.into_iter()), Some("reorder"));
        assert_eq!(closest("assign_offset", names.into_iter()), Some("assign-offsets"));
        assert_eq!(closest("xyz", names.into_iter()), None);
        assert_eq!(closest(&"fuse".repeat(1000), names.into_iter()), None);
    }
}
