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
