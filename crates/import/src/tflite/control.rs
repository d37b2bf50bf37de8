//! The metadata `model_control_dependencies`: pairs of operators of which the first must run before the second, by their numbers.
//!
//! Format: unsigned integers in groups of seven bits, lowest first, the high bit set in all but the last; the version, 1; the number of
//! subgraphs; for each the number of pairs, then the pairs, as signed integers with the sign in the lowest bit. Source:
//! `tensorflow/compiler/mlir/lite/experimental/remat/metadata_util.cc`.

/// The name of the entry.
pub const NAME: &str = "model_control_dependencies";

/// The version of the format.
pub const VERSION: u32 = 1;

/// Pairs of operators by subgraph.
pub type Pairs = Vec<Vec<(i32, i32)>>;

/// Reads the pairs; none if the bytes are cut short, go on after the end, or have another version.
pub fn parse(bytes: &[u8]) -> Option<Pairs> {
    let mut rest = bytes.iter();
    let mut number = || -> Option<u32> {
        let mut value = 0u32;
        for shift in (0..).step_by(7) {
            let byte = u32::from(*rest.next()?);
            value |= (byte & 0x7f).checked_mul(1u32.checked_shl(shift)?)?;
            if byte < 0x80 {
                break;
            }
        }
        Some(value)
    };
    let signed = |value: u32| if value & 1 == 1 { -((value >> 1) as i32) - 1 } else { (value >> 1) as i32 };
    if number()? != VERSION {
        return None;
    }
    let mut pairs = Vec::new();
    for _ in 0..number()? {
        let mut graph = Vec::new();
        for _ in 0..number()? {
            graph.push((signed(number()?), signed(number()?)));
        }
        pairs.push(graph);
    }
    rest.next().is_none().then_some(pairs)
}

/// The pairs of one subgraph as numbers of its `count` operators, sorted, each once.
///
/// # Errors
/// A pair that names no operator, or whose first operator the file lists after the second.
pub(crate) fn resolve(pairs: &[(i32, i32)], count: usize) -> Result<Vec<(usize, usize)>, String> {
    let mut found = Vec::with_capacity(pairs.len());
    for (first, then) in pairs {
        let number = |index: &i32| usize::try_from(*index).ok().filter(|index| *index < count);
        match (number(first), number(then)) {
            (Some(first), Some(then)) if first < then => found.push((first, then)),
            (Some(first), Some(then)) => {
                return Err(format!("operator {first} must run before operator {then}, but does not come before it"));
            }
            _ => return Err(format!("of operators {first} and {then} one is none of its {count}")),
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}
