//! The checker's own short list of laws that depend on values.
//!
//! Each holds bit for bit on every input, which the tests at the end show on the values where it could fail. Floating point is
//! taken as IEEE 754 with the payload of a NaN left open: `x + 0.0` is no identity (`-0.0 + 0.0` is `0.0`), `x - 0.0` and
//! `x * 1.0` are.

use crate::params::{Constants, known};
use crate::rope::Rope;
use neap_ir::{Module, OpId};

/// Operations whose two operands may change places.
const COMMUTES: &[&str] = &[
    "arith.addf",
    "arith.addi",
    "arith.andi",
    "arith.mulf",
    "arith.muli",
    "arith.ori",
    "arith.xori",
    "onnx.Add",
    "onnx.Mul",
    "stablehlo.add",
    "stablehlo.multiply",
    "tosa.add",
    "tosa.bitwise_and",
    "tosa.bitwise_or",
    "tosa.bitwise_xor",
    "tosa.logical_and",
    "tosa.logical_or",
    "tosa.logical_xor",
];

/// Integer additions: the neutral operand is 0.
const ADDS: &[&str] = &["arith.addi", "arith.ori", "arith.xori", "stablehlo.add", "tosa.add"];
/// Integer subtractions and shifts by 0 on the right.
const SUBTRACTS: &[&str] = &["arith.subi", "arith.shli", "stablehlo.subtract", "tosa.sub"];
/// Integer multiplications: the neutral operand is 1.
const MULTIPLIES: &[&str] = &["arith.muli", "stablehlo.multiply"];

/// Whether `op(a, b)` is `op(b, a)`.
pub(crate) fn commutes(name: &str) -> bool {
    COMMUTES.contains(&name)
}

/// The operand that the result equals, where the other one is a neutral constant.
pub(crate) fn identity(module: &Module, op: OpId, operands: &[Rope], constants: &Constants) -> Option<usize> {
    if constants.is_empty() || operands.len() != 2 {
        return None;
    }
    let all = |at: usize, neutral: i64| {
        known(&operands[at], constants).is_some_and(|list| !list.is_empty() && list.iter().all(|one| *one == neutral))
    };
    let name = module.op_name(op);
    if ADDS.contains(&name) {
        (0..2).find(|at| all(1 - at, 0))
    } else if MULTIPLIES.contains(&name) {
        (0..2).find(|at| all(1 - at, 1))
    } else {
        (SUBTRACTS.contains(&name) && all(1, 0)).then_some(0)
    }
}

#[cfg(test)]
mod tests {
    use super::{ADDS, COMMUTES, MULTIPLIES, SUBTRACTS};

    const BYTES: [i8; 7] = [i8::MIN, -2, -1, 0, 1, 2, i8::MAX];
    const FLOATS: [f32; 9] =
        [0.0, -0.0, 1.0, -1.5, f32::MAX, f32::MIN_POSITIVE, f32::INFINITY, f32::NEG_INFINITY, 1.0e-45];

    /// The neutral operands, on every value of eight bits, with the wrapping arithmetic that all these dialects have.
    #[test]
    fn neutral_operands_change_nothing() {
        let (zero, one) = (std::hint::black_box(0), std::hint::black_box(1));
        for x in i8::MIN..=i8::MAX {
            let kept = [x.wrapping_add(zero), x | zero, x ^ zero, x.wrapping_sub(zero), x << zero, x.wrapping_mul(one)];
            assert_eq!(kept, [x; 6]);
        }
        for name in ADDS.iter().chain(SUBTRACTS).chain(MULTIPLIES) {
            assert!(!name.ends_with('f'), "{name}: no neutral operand is known for floating point");
        }
    }

    /// What may change places, on values where it could fail: overflow, infinities, zeros of both signs.
    #[test]
    fn operands_change_places() {
        for (x, y) in BYTES.iter().flat_map(|x| BYTES.iter().map(move |y| (*x, *y))) {
            assert_eq!((x.wrapping_add(y), x.wrapping_mul(y)), (y.wrapping_add(x), y.wrapping_mul(x)));
            assert_eq!((x & y, x | y, x ^ y), (y & x, y | x, y ^ x));
        }
        for (x, y) in FLOATS.iter().flat_map(|x| FLOATS.iter().map(move |y| (*x, *y))) {
            let same = |a: f32, b: f32| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
            assert!(same(x + y, y + x) && same(x * y, y * x), "{x} {y}");
        }
        assert!(!COMMUTES.iter().any(|name| name.contains("sub") || name.contains("min") || name.contains("max")));
    }

    /// Why `x + 0.0` is not on the list.
    #[test]
    fn adding_zero_changes_the_negative_zero() {
        assert_ne!((-0.0f32 + 0.0).to_bits(), (-0.0f32).to_bits());
    }
}
