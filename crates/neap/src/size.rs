//! Sizes as people write and read them: `256KiB`, `256K` and `262144` are the same number of bytes.
//!
//! `K`, `M` and `G` are powers of 1024, with or without `iB`: memories come in those. `KB` is refused, because half of its readers
//! take it for 1000 bytes.

/// Bytes of a size as written on the command line.
///
/// # Errors
/// What is wrong with the text, and what would be right.
pub fn parse(text: &str) -> Result<u64, String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let shift = match unit.trim_start() {
        "" | "B" => 0,
        "K" | "KiB" | "k" => 10,
        "M" | "MiB" => 20,
        "G" | "GiB" => 30,
        "KB" | "kB" | "MB" | "GB" => {
            return Err(format!("`{unit}` may mean 1000 or 1024: write `{}iB`", &unit[..1].to_uppercase()));
        }
        _ => return Err("sizes read `256KiB`, `256K` or `262144`".to_owned()),
    };
    let number: u64 = number.parse().map_err(|_| {
        if digits == 0 { "sizes read `256KiB`, `256K` or `262144`" } else { "larger than 2^63-1 bytes" }.to_owned()
    })?;
    let bytes = number.checked_mul(1 << shift).filter(|bytes| *bytes <= i64::MAX as u64);
    bytes.ok_or_else(|| "larger than 2^63-1 bytes".to_owned())
}

/// Digits in groups of three: `4,750,720`.
pub fn grouped(bytes: i128) -> String {
    let digits = bytes.unsigned_abs().to_string();
    let mut text = String::from(if bytes < 0 { "-" } else { "" });
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A size in the unit that a person would choose, three digits: `54 B`, `54.0 KiB`, `4.53 MiB`.
pub fn human(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    // 1023.95 would print as 1024 of the smaller unit.
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let digits = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    format!("{value:.digits$} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_spellings_are_one_size() {
        for text in ["262144", "256K", "256KiB", "256 KiB", "262144B"] {
            assert_eq!(parse(text), Ok(262_144), "{text}");
        }
        assert_eq!(parse("3G"), Ok(3 << 30));
        assert_eq!(parse("9223372036854775807"), Ok(i64::MAX as u64));
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for text in ["", "K", "-1", "1.5M", "1T", "9223372036854775808", "9007199254740992K", "1KB", "1 0"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn people_read_three_digits() {
        let shown: Vec<String> = [0, 1023, 1024, 55_296, 1_047_000, 4_750_720, 1 << 40].map(human).into();
        assert_eq!(shown, ["0 B", "1023 B", "1.00 KiB", "54.0 KiB", "1.00 MiB", "4.53 MiB", "1.00 TiB"]);
        assert_eq!([0, 999, 1000, 4_750_720, -1234].map(grouped), ["0", "999", "1,000", "4,750,720", "-1,234"]);
    }
}
