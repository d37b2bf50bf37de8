//! `--scratch FILE.csv`: what the runtime's kernels need during their own step, measured or known otherwise, one operation a line.
//!
//! Columns `op` (the model's name of a result, an SSA name, or a kind such as `tfl.svdf` for all of that kind) and `bytes`. A name with a comma
//! stands in quotes.

use super::names::Names;
use crate::exit::Failure;
use neap_ir::{Module, OpId, plan};
use std::path::Path;

/// Writes the bytes of a table to the operations that it names.
pub(super) fn write(module: &mut Module, names: &Names, file: &Path) -> Result<(), Failure> {
    let text = crate::drive::read_text(file)?;
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let wrong = |what: &str| Failure::usage(format!("{}:{}: {what}", file.display(), number + 1));
        let (name, bytes) = fields(line.trim()).ok_or_else(|| wrong("expected `op,bytes`"))?;
        if number == 0 && (name.as_str(), bytes) == ("op", "bytes") {
            continue;
        }
        let bytes = bytes.trim().parse::<u64>().ok().and_then(|bytes| i64::try_from(bytes).ok());
        let bytes = bytes.ok_or_else(|| wrong("the bytes are no number from 0 to 2^63-1"))?;
        let mut ops = kind(module, &name);
        if ops.is_empty() {
            let value = names.find(module, "--scratch", &name)?;
            ops.push(module.defining_op(value).ok_or_else(|| wrong("this is an argument, which no operation makes"))?);
        }
        for op in ops {
            let bytes = module.i64_attr(bytes);
            module.set_attr(op, plan::SCRATCH, bytes);
        }
    }
    Ok(())
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
