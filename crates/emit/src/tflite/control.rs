//! The metadata `model_control_dependencies` names operators by their numbers, so a new order of operators gives it new ones.
//! The format is told where it is read ([`neap_import::tflite::control`]).

use super::layout::Layout;
use crate::error;
use neap_import::tflite::control::{NAME, VERSION, parse};
use neap_ir::diag::Diagnostic;

/// Gives the pairs in a file the operators' new numbers.
///
/// # Errors
/// The metadata cannot be read, or the plan breaks one of the pairs.
pub(crate) fn renumber(out: &mut Vec<u8>, layout: &Layout, orders: &[Vec<usize>]) -> Result<(), Vec<Diagnostic>> {
    for entry in layout.metadata.iter().filter(|entry| entry.name == NAME) {
        let wrong = |what: &str| vec![error(format!("metadata `{NAME}`: {what}"))];
        let buffer = layout.buffers.get(entry.buffer).ok_or_else(|| wrong("its buffer is none of the model's"))?;
        let Some((field, vector)) = buffer.data.filter(|_| buffer.len > 0) else {
            return Err(wrong("its buffer is empty"));
        };
        let mut pairs = parse(&out[vector + 4..vector + 4 + buffer.len]).ok_or_else(|| wrong("malformed"))?;
        if pairs.len() > orders.len() {
            return Err(wrong("it speaks of more subgraphs than there are"));
        }
        for (graph, (pairs, order)) in pairs.iter_mut().zip(orders).enumerate() {
            let mut places = vec![0i32; order.len()];
            for (place, index) in order.iter().enumerate() {
                places[*index] = place as i32;
            }
            for pair in pairs {
                let place = |index: i32| usize::try_from(index).ok().and_then(|index| places.get(index)).copied();
                let (Some(first), Some(then)) = (place(pair.0), place(pair.1)) else {
                    return Err(wrong(&format!("subgraph {graph} has no operators {} and {}", pair.0, pair.1)));
                };
                if pair.0 < pair.1 && first >= then {
                    let what = format!(
                        "in subgraph {graph} operator {} must run before operator {}, and the plan has it the other way",
                        pair.0, pair.1
                    );
                    return Err(wrong(&what));
                }
                *pair = (first, then);
            }
        }
        let bytes = serialize(&pairs);
        if bytes.len() == buffer.len {
            out[vector + 4..vector + 4 + bytes.len()].copy_from_slice(&bytes);
        } else {
            append(out, field, &bytes).ok_or_else(|| wrong("the file is too large to be given more"))?;
        }
    }
    Ok(())
}

/// Puts a vector of bytes at the end of the file and lets a field point to it.
fn append(out: &mut Vec<u8>, field: usize, bytes: &[u8]) -> Option<()> {
    // Bytes of a buffer start at a multiple of 16, as the schema asks (`force_align`).
    let at = (out.len() + 4).checked_next_multiple_of(16)? - 4;
    let pointer = u32::try_from(at.checked_sub(field)?).ok()?;
    out.resize(at, 0);
    out.extend(u32::try_from(bytes.len()).ok()?.to_le_bytes());
    out.extend(bytes);
    out[field..field + 4].copy_from_slice(&pointer.to_le_bytes());
    Some(())
}

fn serialize(pairs: &[Vec<(i32, i32)>]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut number = |mut value: u32| {
        while value >= 0x80 {
            out.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        out.push(value as u8);
    };
    let signed = |value: i32| if value < 0 { (-(value + 1)) as u32 * 2 + 1 } else { value as u32 * 2 };
    number(VERSION);
    number(pairs.len() as u32);
    for graph in pairs {
        number(graph.len() as u32);
        for (first, then) in graph {
            number(signed(*first));
            number(signed(*then));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use neap_import::tflite::control::Pairs;

    #[test]
    fn pairs_are_read_as_they_were_written() {
        let cases: [Pairs; 3] =
            [vec![], vec![vec![(1, 2), (2, 300)], vec![]], vec![vec![(i32::MAX, i32::MIN), (-1, 0), (70_000, 5)]]];
        for pairs in cases {
            let bytes = serialize(&pairs);
            assert_eq!(parse(&bytes), Some(pairs));
            assert_eq!(parse(&bytes[..bytes.len() - 1]), None);
            assert_eq!(parse(&[bytes, vec![0]].concat()), None);
        }
        // One pair, 1 before 200: version, one subgraph, one pair, 2, 400 in two groups.
        assert_eq!(serialize(&[vec![(1, 200)]]), [1, 1, 1, 2, 0x90, 3]);
        assert_eq!(parse(&[2, 0]), None);
        assert_eq!(parse(&[1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]), None);
    }
}
