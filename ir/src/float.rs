//! Float literals as MLIR reads and prints them, for every float type it has.
//!
//! MLIR reads a decimal literal as a double and rounds it to the type (ties to even). It prints six decimal digits where
//! they read back as the same bits, else as many as the type needs, else the bits in hexadecimal. The digits come from
//! LLVM's `APFloat::toString`, which cuts the exact decimal expansion before it rounds half up: `0.7 : f32` prints as
//! `0.699999988`. That rule is repeated here digit for digit, since a printed constant must equal MLIR's own print.

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
    FORMATS[0].print(value.to_bits().into()).0
}

/// MLIR's text of a double-precision float.
pub fn f64_text(value: f64) -> String {
    FORMATS[1].print(value.to_bits().into()).0
}

/// What the bit patterns at the top of the range mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Top {
    /// Infinities and NaNs, as in IEEE 754.
    Ieee,
    /// One NaN: all bits but the sign set.
    NanAllOnes,
    /// One NaN: the sign bit alone; there is no negative zero.
    NanNegativeZero,
    /// Finite numbers only.
    Finite,
}

/// The layout of a float type. Source: LLVM 22, `APFloat.cpp`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Format {
    keyword: &'static str,
    /// Bits of a value, sign included where there is one.
    pub(crate) width: u32,
    /// Bits of the significand, the hidden one included.
    precision: u32,
    max_exp: i32,
    min_exp: i32,
    top: Top,
}

const fn format(keyword: &'static str, width: u32, precision: u32, max_exp: i32, min_exp: i32, top: Top) -> Format {
    Format { keyword, width, precision, max_exp, min_exp, top }
}

const FORMATS: &[Format] = &[
    format("f32", 32, 24, 127, -126, Top::Ieee),
    format("f64", 64, 53, 1023, -1022, Top::Ieee),
    format("f16", 16, 11, 15, -14, Top::Ieee),
    format("bf16", 16, 8, 127, -126, Top::Ieee),
    format("tf32", 19, 11, 127, -126, Top::Ieee),
    format("f128", 128, 113, 16383, -16382, Top::Ieee),
    format("f80", 80, 64, 16383, -16382, Top::Ieee),
    format("f8E5M2", 8, 3, 15, -14, Top::Ieee),
    format("f8E4M3", 8, 4, 7, -6, Top::Ieee),
    format("f8E3M4", 8, 5, 3, -2, Top::Ieee),
    format("f8E4M3FN", 8, 4, 8, -6, Top::NanAllOnes),
    format("f8E8M0FNU", 8, 1, 127, -127, Top::NanAllOnes),
    format("f8E5M2FNUZ", 8, 3, 15, -15, Top::NanNegativeZero),
    format("f8E4M3FNUZ", 8, 4, 7, -7, Top::NanNegativeZero),
    format("f8E4M3B11FNUZ", 8, 4, 4, -10, Top::NanNegativeZero),
    format("f6E3M2FN", 6, 3, 4, -2, Top::Finite),
    format("f6E2M3FN", 6, 4, 2, 0, Top::Finite),
    format("f4E2M1FN", 4, 2, 2, 0, Top::Finite),
];

/// The layout of a float type by its MLIR keyword.
pub(crate) fn of(keyword: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.keyword == keyword)
}

/// A bit pattern taken apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Number {
    Zero,
    /// `significand * 2^exp`.
    Finite(u128, i32),
    /// Infinity or NaN: MLIR prints both as bits.
    Special,
}

impl Format {
    /// `f8E8M0FNU` is a bare exponent: no sign, no zero, no fraction.
    fn bare_exponent(&self) -> bool {
        self.precision == 1
    }

    /// `f80` spells out the leading bit of its significand.
    fn explicit_lead(&self) -> bool {
        self.width == 80
    }

    fn fraction_bits(&self) -> u32 {
        if self.explicit_lead() { self.precision } else { self.precision - 1 }
    }

    fn sign_bit(&self) -> u128 {
        if self.bare_exponent() { 0 } else { 1 << (self.width - 1) }
    }

    fn magnitude_mask(&self) -> u128 {
        if self.bare_exponent() { 0xFF } else { self.sign_bit() - 1 }
    }

    /// The bits of the value nearest to `value`, as MLIR converts a decimal literal.
    pub(crate) fn encode(&self, value: f64) -> u128 {
        let sign = if value.is_sign_negative() { self.sign_bit() } else { 0 };
        let bits = value.to_bits() & (u64::MAX >> 1);
        let (fraction, exp) = (bits & ((1 << 52) - 1), (bits >> 52) as i32);
        if exp == 0x7FF {
            return sign | self.overflow();
        }
        let (significand, exp) = if exp == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exp - 1075) };
        if significand == 0 {
            return self.zero(sign);
        }
        match self.round(significand, exp) {
            0 => self.zero(sign),
            magnitude => sign | magnitude,
        }
    }

    fn zero(&self, sign: u128) -> u128 {
        match self.top {
            Top::NanNegativeZero => 0,
            _ => sign,
        }
    }

    fn overflow(&self) -> u128 {
        match self.top {
            Top::Ieee if self.explicit_lead() => 0x7FFF << 64 | 1 << 63,
            Top::Ieee => self.magnitude_mask() & !((1 << self.fraction_bits()) - 1),
            Top::NanAllOnes => self.magnitude_mask(),
            Top::NanNegativeZero => self.sign_bit(),
            Top::Finite => self.magnitude_mask(),
        }
    }

    /// Rounds `significand * 2^exp` to the format, ties to even; returns the magnitude's bits.
    fn round(&self, significand: u64, exp: i32) -> u128 {
        let lead = exp + 63 - significand.leading_zeros() as i32;
        let unit = lead.max(self.min_exp) - (self.precision as i32 - 1);
        let mut rounded = shift_even(u128::from(significand), unit - exp);
        let mut unit = unit;
        if rounded >> self.precision != 0 {
            rounded >>= 1;
            unit += 1;
        }
        let hidden = 1u128 << (self.precision - 1);
        if rounded < hidden {
            return rounded;
        }
        let top_exp = unit + self.precision as i32 - 1;
        let all_ones = !self.bare_exponent() && rounded == hidden | (hidden - 1);
        if top_exp > self.max_exp || (top_exp == self.max_exp && self.top == Top::NanAllOnes && all_ones) {
            return self.overflow();
        }
        if self.bare_exponent() {
            return (top_exp - self.min_exp) as u128;
        }
        let field = (top_exp - self.min_exp + 1) as u128;
        let fraction = if self.explicit_lead() { rounded } else { rounded & (hidden - 1) };
        field << self.fraction_bits() | fraction
    }

    fn decode(&self, bits: u128) -> Number {
        let magnitude = bits & self.magnitude_mask();
        let fraction_bits = self.fraction_bits();
        let (field, fraction) = (magnitude >> fraction_bits, magnitude & ((1u128 << fraction_bits) - 1));
        let special = match self.top {
            Top::Ieee => field == self.magnitude_mask() >> fraction_bits,
            Top::NanAllOnes => magnitude == self.magnitude_mask(),
            Top::NanNegativeZero => bits == self.sign_bit(),
            Top::Finite => false,
        };
        if special {
            return Number::Special;
        }
        let unit = self.min_exp - (self.precision as i32 - 1);
        if self.bare_exponent() {
            return Number::Finite(1, unit + field as i32);
        }
        let hidden = if field == 0 || self.explicit_lead() { 0 } else { 1u128 << fraction_bits };
        match fraction | hidden {
            0 => Number::Zero,
            significand => Number::Finite(significand, unit + (field as i32 - 1).max(0)),
        }
    }

    /// MLIR's print of a bit pattern, and whether it is the bits in hexadecimal.
    pub(crate) fn print(&self, bits: u128) -> (String, bool) {
        let sign = if bits & self.sign_bit() != 0 { "-" } else { "" };
        match self.decode(bits) {
            Number::Special => {}
            Number::Zero => return (format!("{sign}0.000000e+00"), false),
            // Beyond a double's range the decimal expansion has thousands of digits; the bits say the same.
            Number::Finite(_, exp) if !(-1200..=1100).contains(&exp) => {}
            Number::Finite(significand, exp) => {
                let expansion = Expansion::new(significand, exp);
                let short = scientific(sign, &expansion.digits(6));
                if self.reads_back(&short, bits, expansion.significant() <= 6) {
                    return (short, false);
                }
                let precision = 2 + self.precision as usize * 59 / 196;
                let long = shortest(sign, &expansion.digits(precision), precision);
                if long.contains('.') {
                    return (long, false);
                }
            }
        }
        (format!("0x{bits:X}"), true)
    }

    fn reads_back(&self, text: &str, bits: u128, exact: bool) -> bool {
        match self.keyword {
            "f32" => text.parse::<f32>().is_ok_and(|value| u128::from(value.to_bits()) == bits),
            "f80" | "f128" => exact,
            _ => text.parse::<f64>().is_ok_and(|value| self.encode(value) == bits),
        }
    }
}

/// `value / 2^by`, ties to even; `value * 2^-by` where `by` is negative.
fn shift_even(value: u128, by: i32) -> u128 {
    match by {
        ..=0 => value << -by,
        1..=127 => {
            let (kept, cut) = (value >> by, value & ((1 << by) - 1));
            let half = 1u128 << (by - 1);
            kept + u128::from(cut > half || (cut == half && kept & 1 == 1))
        }
        _ => 0,
    }
}

/// Decimal digits, most significant first, without trailing zeros, times `10^exp`.
struct Digits {
    digits: Vec<u8>,
    exp: i32,
}

/// The exact decimal expansion of a float.
struct Expansion {
    digits: Vec<u8>,
    exp: i32,
    /// Bits of the integer that the digits spell.
    bits: usize,
}

impl Expansion {
    fn new(significand: u128, exp: i32) -> Expansion {
        let zeros = significand.trailing_zeros();
        let (significand, exp) = (significand >> zeros, exp + zeros as i32);
        let mut number = Big::new(significand);
        // N * 2^-e = N * 5^e * 10^-e.
        for _ in 0..exp.unsigned_abs() / 13 {
            number.multiply(if exp > 0 { 1 << 13 } else { 5u32.pow(13) });
        }
        number.multiply(if exp > 0 { 2u32 } else { 5 }.pow(exp.unsigned_abs() % 13));
        let bits = number.bits();
        Expansion { digits: number.decimal(), exp: exp.min(0), bits }
    }

    /// How many digits there are without trailing zeros.
    fn significant(&self) -> usize {
        self.digits.len() - self.digits.iter().rev().take_while(|digit| **digit == 0).count()
    }

    /// At most `precision` digits, as `APFloat` finds them: first the integer is divided by the power of ten that
    /// brings it near the precision, then the rest is rounded half up.
    fn digits(&self, precision: usize) -> Digits {
        let needed = (precision * 196).div_ceil(59);
        let cut = self.bits.saturating_sub(needed) * 59 / 196;
        let mut digits = self.digits[..self.digits.len() - cut].to_vec();
        let mut exp = self.exp + cut as i32;
        if digits.len() > precision {
            exp += (digits.len() - precision) as i32;
            let up = digits[precision] >= 5;
            digits.truncate(precision);
            if up {
                exp += increment(&mut digits);
            }
        }
        while digits.len() > 1 && digits.last() == Some(&0) {
            digits.pop();
            exp += 1;
        }
        Digits { digits, exp }
    }
}

/// Adds one unit in the last place; nines are cut off. Returns by how much the exponent grows.
fn increment(digits: &mut Vec<u8>) -> i32 {
    let mut grown = 0;
    while digits.last() == Some(&9) {
        digits.pop();
        grown += 1;
    }
    match digits.last_mut() {
        Some(last) => *last += 1,
        None => digits.push(1),
    }
    grown
}

/// `1.500000e+00`: six digits after the point, an exponent of at least two.
fn scientific(sign: &str, number: &Digits) -> String {
    let exp = number.exp + number.digits.len() as i32 - 1;
    let mut text = format!("{sign}{}.", number.digits[0]);
    text.extend((1..7).map(|at| char::from(b'0' + number.digits.get(at).copied().unwrap_or(0))));
    text.push_str(&format!("e{}{:02}", if exp < 0 { '-' } else { '+' }, exp.abs()));
    text
}

/// `0.699999988`, `1.25E-8`: no padding beyond three zeros, no digits that are not known.
fn shortest(sign: &str, number: &Digits, precision: usize) -> String {
    let digits: String = number.digits.iter().map(|digit| char::from(b'0' + digit)).collect();
    let (count, exp) = (digits.len() as i32, number.exp);
    let lead = exp + count - 1;
    let scientific = match exp {
        0.. => exp > 3 || count + exp > precision as i32,
        _ => lead < -3,
    };
    if scientific {
        let rest = if count == 1 { "0" } else { &digits[1..] };
        return format!("{sign}{}.{rest}E{}{}", &digits[..1], if lead < 0 { '-' } else { '+' }, lead.abs());
    }
    match exp {
        0.. => format!("{sign}{digits}{}", "0".repeat(exp as usize)),
        _ if lead >= 0 => {
            let (whole, rest) = digits.split_at(lead as usize + 1);
            format!("{sign}{whole}.{rest}")
        }
        _ => format!("{sign}0.{}{digits}", "0".repeat((-lead - 1) as usize)),
    }
}

/// A natural number in limbs of 32 bits, least significant first.
struct Big(Vec<u32>);

impl Big {
    fn new(value: u128) -> Big {
        let mut limbs: Vec<u32> = (0..4).map(|at| (value >> (32 * at)) as u32).collect();
        while limbs.last() == Some(&0) {
            limbs.pop();
        }
        Big(limbs)
    }

    fn multiply(&mut self, by: u32) {
        let mut carry = 0u64;
        for limb in &mut self.0 {
            carry += u64::from(*limb) * u64::from(by);
            *limb = carry as u32;
            carry >>= 32;
        }
        if carry != 0 {
            self.0.push(carry as u32);
        }
    }

    fn bits(&self) -> usize {
        self.0.last().map_or(0, |top| 32 * self.0.len() - top.leading_zeros() as usize)
    }

    /// Decimal digits, most significant first.
    fn decimal(mut self) -> Vec<u8> {
        let mut reversed = Vec::new();
        while !self.0.is_empty() {
            let mut rest = 0u64;
            for limb in self.0.iter_mut().rev() {
                rest = rest << 32 | u64::from(*limb);
                *limb = (rest / 1_000_000_000) as u32;
                rest %= 1_000_000_000;
            }
            while self.0.last() == Some(&0) {
                self.0.pop();
            }
            for _ in 0..9 {
                reversed.push((rest % 10) as u8);
                rest /= 10;
            }
        }
        while reversed.last() == Some(&0) {
            reversed.pop();
        }
        reversed.reverse();
        reversed
    }
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
