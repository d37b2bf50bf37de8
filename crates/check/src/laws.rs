//! The checker's own short list of laws that depend on values.
//!
//! Each holds bit for bit on every input, which the tests at the end show on the values where it could fail. Floating point is
//! taken as IEEE 754 with the payload of a NaN left open: `x + 0.0` is no identity (`-0.0 + 0.0` is `0.0`), `x - 0.0` and
//! `x * 1.0` are.

use crate::params::{Constants, known};
use crate::rope::Rope;
use neap_ir::{Module, OpId, Ty, Type};

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

/// Whether numbers of an element type, made real and quantized again by the same type, come back as they were: at most 16 bits of
/// `i8`, `u8`, .. in their full range, one scale, `f32` in between, and a scale far from the ends of what `f32` holds.
pub(crate) fn comes_back(module: &Module, elem: Ty) -> bool {
    let Type::Dialect(body) = module.ty(elem) else { return false };
    let inside = body.strip_prefix("quant.uniform<").and_then(|rest| rest.strip_suffix('>'));
    let Some((kind, scale)) = inside.and_then(|inside| inside.split_once(", ")) else { return false };
    let bits =
        kind.strip_suffix(":f32").and_then(|kind| kind.strip_prefix(['i', 'u'])).and_then(|bits| bits.parse().ok());
    let number = scale.split(':').next().and_then(|number| number.parse::<f64>().ok());
    matches!(bits, Some(1..=16)) && number.is_some_and(|scale| scale > 1e-30 && scale < 1e30)
}

#[cfg(test)]
mod tests {
    use super::{ADDS, COMMUTES, MULTIPLIES, SUBTRACTS};

    /// Dequantized and quantized again, every number of 16 bits comes back, under scales at both ends of what the law admits and in between.
    #[test]
    fn quantized_numbers_come_back() {
        let awkward = [1.0e-30f32 * 1.01, 9.9e29, 0.1, 1.0 / 3.0, 0.007_843_138, 123.456, f32::EPSILON, 1.999_999_9];
        for scale in awkward {
            for zero in [-128i32, 0, 3, 127] {
                for q in i32::from(i16::MIN)..=i32::from(i16::MAX) {
                    let real = (q - zero) as f32 * scale;
                    let again = (real / scale).round_ties_even() as i32 + zero;
                    assert_eq!(again, q, "scale {scale}, zero point {zero}");
                }
            }
        }
        // Why the scale has an upper bound.
        assert!(!(std::hint::black_box(30_000.0f32) * 3.0e38).is_finite());
    }

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
