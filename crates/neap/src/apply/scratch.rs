//! `--scratch FILE.csv`: what the runtime's kernels need during their own step, measured or known otherwise, one operation a line.
//!
//! Columns `op` (the model's name of a result, an SSA name, or a kind such as `tfl.svdf` for all of that kind) and `bytes`. A name with a comma
//! stands in quotes.

use super::names::Names;
use super::once::Once;
use crate::exit::Failure;
use neap_ir::{Module, OpId, plan};
use std::collections::BTreeMap;
use std::path::Path;

/// Writes the bytes of a table to the operations that it names. What is said of one operation counts more than what is said of its kind.
pub(super) fn write(module: &mut Module, names: &Names, file: &Path) -> Result<(), Failure> {
    let (mut kinds, mut single) = (Vec::new(), Vec::new());
    let mut said = Once::default();
    for row in rows(file)? {
        let ops = kind(module, &row.name);
        if !ops.is_empty() {
            kinds.push((ops, row.bytes));
            continue;
        }
        let made = module.defining_op(names.find(module, "--scratch", &row.name)?);
        let made = made.ok_or_else(|| {
            Failure::usage(format!("{}: `{}` is an argument, which no operation makes", row.place, row.name))
        })?;
        said.take(made, format!("{}: {}", row.place, row.name))?;
        single.push((vec![made], row.bytes));
    }
    for (ops, bytes) in kinds.into_iter().chain(single) {
        for op in ops {
            let bytes = module.i64_attr(bytes);
            module.set_attr(op, plan::SCRATCH, bytes);
        }
    }
    Ok(())
}

/// A line of the table.
struct Row {
    place: String,
    name: String,
    bytes: i64,
}

/// The lines behind the header, each about another name.
fn rows(file: &Path) -> Result<Vec<Row>, Failure> {
    let text = crate::input::text(file)?;
    let mut rows: Vec<Row> = Vec::new();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let place = format!("{}:{}", file.display(), number + 1);
        let wrong = |what: &str| Failure::usage(format!("{place}: {what}"));
        let (name, bytes) = fields(line.trim()).ok_or_else(|| wrong("expected `op,bytes`"))?;
        if number == 0 && (name.as_str(), bytes) == ("op", "bytes") {
            continue;
        }
        let bytes = bytes.trim().parse::<u64>().ok().and_then(|bytes| i64::try_from(bytes).ok());
        let bytes = bytes.ok_or_else(|| wrong("the bytes are no number from 0 to 2^63-1"))?;
        if let Some(before) = seen.insert(name.clone(), number + 1) {
            return Err(wrong(&format!("`{name}` is in line {before} already")));
        }
        rows.push(Row { place, name, bytes });
    }
    Ok(rows)
}

/// All operations of a kind.
fn kind(module: &Module, name: &str) -> Vec<OpId> {
    let all = module.functions().into_iter().flat_map(|func| module.walk(func));
    all.filter(|op| module.op_name(*op) == name).collect()
}

/// Name and bytes of a line.
fn fields(line: &str) -> Option<(String, &str)> {
    let Some(quoted) = line.strip_prefix('"') else {
        let (name, bytes) = line.rsplit_once(',')?;
        return Some((name.trim().to_owned(), bytes));
    };
    let end = quoted.rfind('"')?;
    Some((quoted[..end].replace("\"\"", "\""), quoted[end + 1..].trim_start().strip_prefix(',')?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_a_name_and_bytes() {
        assert_eq!(fields("conv,12"), Some(("conv".into(), "12")));
        assert_eq!(fields("\"a,\"\"b\"\"\",7"), Some(("a,\"b\"".into(), "7")));
        assert_eq!(fields("a;b:0,c, 7"), Some(("a;b:0,c".into(), " 7")));
        assert_eq!(fields("conv"), None);
        assert_eq!(fields("\"conv,12"), None);
    }
}
