//! Floats as MLIR prints them.
//!
//! Six digits and a zero in exponent form where they give the value back, else as many digits as the format needs to be exact, laid out as
//! LLVM's `APFloat::toString` does; not-a-number and infinities as the bits in hexadecimal.
//! Source: MLIR `AsmPrinter.cpp` (`printFloatValue`), LLVM 22.

use crate::attr::Attr;
use crate::module::Module;

impl Module {
    /// `value : f32`.
    pub fn f32_attr(&mut self, value: f32) -> Attr {
        let ty = self.intern_ty(crate::types::Type::Float("f32"));
        Attr::Float { text: f32_text(value).into(), ty }
    }
}

/// MLIR's text of a single-precision float.
pub fn f32_text(value: f32) -> String {
    let short = exponent_form(&format!("{value:.5e}"));
    if value.is_finite() && short.parse() == Ok(value) {
        return short;
    }
    let exact = if value.is_finite() { exact(&format!("{value:.8e}"), 9) } else { None };
    exact.unwrap_or_else(|| format!("0x{:08X}", value.to_bits()))
}

/// MLIR's text of a double-precision float.
pub fn f64_text(value: f64) -> String {
    let short = exponent_form(&format!("{value:.5e}"));
    if value.is_finite() && short.parse() == Ok(value) {
        return short;
    }
    let exact = if value.is_finite() { exact(&format!("{value:.16e}"), 17) } else { None };
    exact.unwrap_or_else(|| format!("0x{:016X}", value.to_bits()))
}

/// Rust's `1.50000e-7` as MLIR's `1.500000e-07`; what is not finite stays as it is.
fn exponent_form(text: &str) -> String {
    let Some((digits, exponent)) = split(text) else { return text.to_owned() };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}0e{sign}{:02}", exponent.abs())
}

/// The layout of `APFloat::toString`: plain where at most three zeros pad the digits and they stay within the precision, else
/// `1.25E-7`. `None` for a plain number without a fraction, which MLIR does not print in digits.
fn exact(text: &str, precision: i32) -> Option<String> {
    let (digits, exponent) = split(text)?;
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |rest| ("-", rest));
    let digits: String = digits.chars().filter(|c| *c != '.').collect();
    let digits = digits.trim_end_matches('0');
    let count = digits.len() as i32;
    let padding = exponent + 1 - count;
    let is_scientific = if padding >= 0 { padding > 3 || count + padding > precision } else { exponent < -3 };
    if is_scientific {
        let (first, rest) = digits.split_at(1);
        let rest = if rest.is_empty() { "0" } else { rest };
        let exponent_sign = if exponent < 0 { '-' } else { '+' };
        return Some(format!("{sign}{first}.{rest}E{exponent_sign}{}", exponent.abs()));
    }
    if padding >= 0 {
        return None;
    }
    if exponent < 0 {
        return Some(format!("{sign}0.{}{digits}", "0".repeat((-exponent - 1) as usize)));
    }
    let (whole, rest) = digits.split_at((exponent + 1) as usize);
    Some(format!("{sign}{whole}.{rest}"))
}

fn split(text: &str) -> Option<(&str, i32)> {
    let (digits, exponent) = text.split_once('e')?;
    Some((digits, exponent.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each as `mlir-opt` 22 prints it.
    #[test]
    fn floats_print_as_in_mlir() {
        assert_eq!(f32_text(0.0), "0.000000e+00");
        assert_eq!(f32_text(-0.5), "-5.000000e-01");
        assert_eq!(f32_text(0.1), "1.000000e-01");
        assert_eq!(f32_text(0.007_843_138), "0.00784313772");
        assert_eq!(f32_text(1.234_567_9e-5), "1.23456794E-5");
        assert_eq!(f32_text(1.234_567_9e-4), "1.2345679E-4");
        assert_eq!(f32_text(16_777_216.0), "0x4B800000");
        assert_eq!(f32_text(123_456.79), "123456.789");
        assert_eq!(f32_text(1_234_567_936.0), "1.23456794E+9");
        assert_eq!(f32_text(f32::MAX), "3.40282347E+38");
        assert_eq!(f64_text(123_456_789_012_345_680.0), "1.2345678901234568E+17");
        assert_eq!(f32_text(f32::INFINITY), "0x7F800000");
        assert_eq!(f64_text(0.1 + 0.2), "0.30000000000000004");
    }
}
