//! Values of flags that have a form of their own.

use crate::size;
use neap_pack::Method;
use std::time::Duration;

/// `--arena sram=256KiB:64`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArenaFlag {
    /// Symbol name.
    pub name: String,
    /// Capacity in bytes.
    pub size: u64,
    /// Alignment in bytes of the storages in it; none: the profile's.
    pub align: Option<u64>,
}

/// `--budget 256KiB`, `--budget @sram=256KiB`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Budget {
    /// Of one arena; none: of the sum of all.
    pub arena: Option<String>,
    /// Bytes.
    pub bytes: u64,
}

/// `--pin NAME@OFFSET`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PinFlag {
    /// A value.
    pub name: String,
    /// Bytes from the start of the arena.
    pub offset: u64,
}

/// `--reuse warn`, `--reuse NAME=must`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReuseFlag {
    /// A value; none: the run.
    pub name: Option<String>,
    /// never, auto, warn or must.
    pub policy: &'static str,
}

/// `--dim N=1..512`, both ends included, or `--dim N=512`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DimFlag {
    /// A named dimension, or `VALUE.AXIS`.
    pub name: String,
    /// The least size.
    pub low: u64,
    /// The largest size.
    pub high: u64,
}

/// `--buckets N=64,128,256,512`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BucketsFlag {
    /// A named dimension, or `VALUE.AXIS`.
    pub name: String,
    /// The largest size of each bucket, ascending.
    pub sizes: Vec<u64>,
}

pub(super) fn buckets(text: &str) -> Result<BucketsFlag, String> {
    const FORM: &str = "buckets read `N=64,128,256`: sizes that ascend";
    let (name, list) = text.rsplit_once('=').filter(|(name, _)| !name.is_empty()).ok_or(FORM)?;
    let number = |text: &str| text.parse::<u64>().ok().filter(|size| *size <= i64::MAX as u64).ok_or(FORM);
    let sizes = list.split(',').map(number).collect::<Result<Vec<u64>, _>>()?;
    if !sizes.windows(2).all(|pair| pair[0] < pair[1]) {
        return Err(FORM.to_owned());
    }
    Ok(BucketsFlag { name: name.to_owned(), sizes })
}

pub(super) fn arena(text: &str) -> Result<ArenaFlag, String> {
    let (name, rest) = text.split_once('=').ok_or("arenas read `NAME=SIZE` or `NAME=SIZE:ALIGN`")?;
    let (bytes, align) = match rest.split_once(':') {
        Some((bytes, align)) => (bytes, Some(size::parse(align)?)),
        None => (rest, None),
    };
    let name = name.strip_prefix('@').unwrap_or(name);
    if name.is_empty() {
        return Err("an arena needs a name: `NAME=SIZE`".to_owned());
    }
    if let Some(align) = align.filter(|align| !align.is_power_of_two()) {
        return Err(format!("an alignment is a power of two, not {align}"));
    }
    Ok(ArenaFlag { name: name.to_owned(), size: size::parse(bytes)?, align })
}

pub(super) fn budget(text: &str) -> Result<Budget, String> {
    match text.strip_prefix('@') {
        Some(rest) => {
            let (name, bytes) = rest.split_once('=').ok_or("the budget of one arena reads `@NAME=SIZE`")?;
            Ok(Budget { arena: Some(name.to_owned()), bytes: size::parse(bytes)? })
        }
        None => Ok(Budget { arena: None, bytes: size::parse(text)? }),
    }
}

pub(super) fn pin(text: &str) -> Result<PinFlag, String> {
    // Names of tensors may hold an `@`: the last one separates.
    let (name, offset) = text.rsplit_once('@').filter(|(name, _)| !name.is_empty()).ok_or("pins read `NAME@OFFSET`")?;
    Ok(PinFlag { name: name.to_owned(), offset: size::parse(offset)? })
}

pub(super) fn reuse(text: &str) -> Result<ReuseFlag, String> {
    let (name, policy) = match text.rsplit_once('=') {
        Some((name, policy)) => (Some(name.to_owned()), policy),
        None => (None, text),
    };
    let known = ["never", "auto", "warn", "must"].into_iter().find(|known| *known == policy);
    let policy = known.ok_or("policies are never, auto, warn and must: `POLICY`, or `NAME=POLICY`")?;
    Ok(ReuseFlag { name, policy })
}

pub(super) fn dim(text: &str) -> Result<DimFlag, String> {
    const FORM: &str = "dimensions read `N=1..512`, or `VALUE.AXIS=1..512`";
    let (name, range) = text.rsplit_once('=').filter(|(name, _)| !name.is_empty()).ok_or(FORM)?;
    let number = |text: &str| match text.parse::<u64>() {
        Ok(number) if number <= i64::MAX as u64 => Ok(number),
        _ => Err(FORM.to_owned()),
    };
    let (low, high) = match range.split_once("..") {
        Some((low, high)) => (number(low)?, number(high.strip_prefix('=').unwrap_or(high))?),
        None => (number(range)?, number(range)?),
    };
    if low > high {
        return Err(format!("the range {low}..{high} is empty"));
    }
    Ok(DimFlag { name: name.to_owned(), low, high })
}

pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| *seconds >= 0.0);
    let limit = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    limit.ok_or_else(|| "a time limit is a number of seconds, at least 0".to_owned())
}

/// `--timeout 60s`, as MiniMalloc's users write it; none: as long as it takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Timeout(pub(super) Option<Duration>);

pub(super) fn timeout(text: &str) -> Result<Timeout, String> {
    if text == "inf" {
        return Ok(Timeout(None));
    }
    let units = [("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    let split = units.iter().find_map(|(unit, scale)| Some((text.strip_suffix(unit)?, scale)));
    let (number, scale) = split.unwrap_or((text, &1.0));
    let seconds = number.parse::<f64>().ok().filter(|number| *number >= 0.0).map(|number| number * scale);
    let limit = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    limit.map(|limit| Timeout(Some(limit))).ok_or_else(|| "durations read `500ms`, `60s`, `2m` or `inf`".to_owned())
}

pub(super) fn method(name: &str) -> Result<Method, String> {
    Method::named(name).ok_or_else(|| format!("methods are {}", Method::NAMES))
}

/// As many threads as there are processors.
pub(super) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

pub(super) fn threads(text: &str) -> Result<usize, String> {
    let count = text.parse().ok().filter(|count| *count > 0);
    count.ok_or_else(|| "a number of threads is at least 1".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arenas() {
        let sram = ArenaFlag { name: "sram".into(), size: 262_144, align: Some(64) };
        assert_eq!(arena("sram=256KiB:64"), Ok(sram.clone()));
        assert_eq!(arena("@sram=262144:64"), Ok(sram));
        for bad in ["sram", "=1K", "sram=1K:3", "sram=1K:0", "sram=x"] {
            assert!(arena(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn pins_and_dims_take_names_as_models_spell_them() {
        assert_eq!(pin("a@b;c:0@64"), Ok(PinFlag { name: "a@b;c:0".into(), offset: 64 }));
        assert_eq!(dim("x=y.0=1..512"), Ok(DimFlag { name: "x=y.0".into(), low: 1, high: 512 }));
        assert_eq!(dim("N=7"), Ok(DimFlag { name: "N".into(), low: 7, high: 7 }));
        for bad in ["N", "=1", "N=2..1", "N=-1..4", "N=1..", "N=9223372036854775808"] {
            assert!(dim(bad).is_err(), "{bad}");
        }
        assert!(pin("@4").is_err() && pin("x").is_err());
    }

    #[test]
    fn buckets_ascend() {
        assert_eq!(buckets("N=64,128"), Ok(BucketsFlag { name: "N".into(), sizes: vec![64, 128] }));
        assert_eq!(buckets("x=y.0=7"), Ok(BucketsFlag { name: "x=y.0".into(), sizes: vec![7] }));
        for bad in ["N", "N=", "=4", "N=4,4", "N=8,4", "N=4,", "N=-1", "N=9223372036854775808"] {
            assert!(buckets(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn policies() {
        assert_eq!(reuse("warn"), Ok(ReuseFlag { name: None, policy: "warn" }));
        assert_eq!(reuse("a=b:0=must"), Ok(ReuseFlag { name: Some("a=b:0".into()), policy: "must" }));
        assert!(reuse("maybe").is_err() && reuse("x=").is_err());
    }

    #[test]
    fn budgets_and_limits() {
        assert_eq!(budget("@sram=1K"), Ok(Budget { arena: Some("sram".into()), bytes: 1024 }));
        assert_eq!(budget("1K"), Ok(Budget { arena: None, bytes: 1024 }));
        assert!(budget("@sram").is_err());
        assert!(seconds("-1").is_err() && seconds("nan").is_err() && seconds("1e300").is_err());
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        for (text, millis) in [("60s", 60_000), ("1.5m", 90_000), ("250ms", 250), ("3", 3_000)] {
            assert_eq!(timeout(text), Ok(Timeout(Some(Duration::from_millis(millis)))), "{text}");
        }
        assert_eq!(timeout("inf"), Ok(Timeout(None)));
        assert!(timeout("s").is_err() && timeout("-1s").is_err() && timeout("1d").is_err());
    }
}
