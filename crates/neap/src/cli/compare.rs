//! The command line of `neap compare`.

use super::{flags, one, required};
use crate::compare::Limit;
use clap::builder::PossibleValuesParser;
use clap::{ArgMatches, Command};
use std::path::PathBuf;

/// `neap compare`.
pub struct Compare {
    /// The summary before.
    pub old: PathBuf,
    /// The summary now.
    pub new: PathBuf,
    /// The growth that is allowed.
    pub max_growth: Growth,
    /// How the comparison is written.
    pub format: Format,
}

/// The growth that is allowed, and how it was written.
#[derive(Clone, Debug)]
pub struct Growth {
    /// How much.
    pub limit: Limit,
    /// As given.
    pub text: String,
}

/// How the comparison is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// For people.
    Text,
    /// For scripts.
    Json,
    /// For tables.
    Csv,
}

pub(super) fn command() -> Command {
    Command::new("compare")
        .about("Compares two summaries: what grew and why; exit code 3 where an arena or the state grew by more than is allowed")
        .after_help(format!(
            "Summaries are what `neap plan -o SUMMARY.json` writes. Functions are matched by name, and so are values. Limits in SIZE \
             and offsets are bytes: 4096, 4K or 4KiB.\n\n{}",
            super::EXITS
        ))
        .arg(flags::input("OLD").required(true).help("The summary before; `-` is the standard input"))
        .arg(flags::input("NEW").required(true).help("The summary now; `-` is the standard input"))
        .arg(
            flags::text("max-growth", "PERCENT%|SIZE", "Allows each arena, and the state beside it, to grow by so much [default: 0%]")
                .value_parser(growth)
                .default_value("0%")
                .hide_default_value(true),
        )
        .arg(
            flags::text("format", "FORMAT", "Writes text, json or csv [default: text]")
                .value_parser(PossibleValuesParser::new(["text", "json", "csv"]))
                .hide_possible_values(true),
        )
}

/// `1%`, `0.25%`, `4096`, `4KiB`.
fn growth(text: &str) -> Result<Growth, String> {
    let limit = match text.strip_suffix('%') {
        None => Limit::Bytes(crate::size::parse(text)?),
        Some(percent) => Limit::Millionths(millionths(percent).ok_or_else(|| {
            format!("`{text}`: a percentage has digits, at most four of them behind the point, as in 0.25%")
        })?),
    };
    Ok(Growth { limit, text: text.to_owned() })
}

fn millionths(percent: &str) -> Option<u64> {
    let (whole, part) = percent.split_once('.').unwrap_or((percent, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(part) || part.len() > 4 || percent.ends_with('.') {
        return None;
    }
    format!("{whole}{part:0<4}").parse().ok()
}

pub(super) fn read(matches: &ArgMatches) -> Compare {
    Compare {
        old: required(matches, "OLD"),
        new: required(matches, "NEW"),
        max_growth: one(matches, "max-growth").unwrap_or_else(|| unreachable!("it has a default")),
        format: match one::<String>(matches, "format").as_deref() {
            Some("json") => Format::Json,
            Some("csv") => Format::Csv,
            _ => Format::Text,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_exact() {
        let limit = |text: &str| growth(text).map(|growth| growth.limit);
        assert_eq!(limit("1%"), Ok(Limit::Millionths(10_000)));
        assert_eq!(limit("0.25%"), Ok(Limit::Millionths(2_500)));
        assert_eq!(limit("4K"), Ok(Limit::Bytes(4096)));
        for wrong in ["%", ".5%", "1.%", "-1%", "1e3%", "0.00001%", "x", "99999999999999999999%"] {
            assert!(limit(wrong).is_err(), "{wrong}");
        }
        let one = Limit::Millionths(10_000);
        assert!(!one.exceeded(1000, 1010) && one.exceeded(1000, 1011) && !one.exceeded(1000, 10));
        assert!(one.exceeded(0, 1) && !one.exceeded(0, 0) && !one.exceeded(u64::MAX, u64::MAX));
    }
}
