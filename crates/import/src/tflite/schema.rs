//! What the TFLite schema says about operators and their options, as tables of text.

use std::sync::LazyLock;

/// How the bytes of an option field are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// One byte, signed.
    I8,
    /// Four bytes.
    I32,
    /// Four bytes, unsigned.
    U32,
    /// Eight bytes.
    I64,
    /// A float of four bytes.
    F32,
    /// One byte, 0 or 1.
    Bool,
    /// One byte, printed as one of these words.
    Word(&'static [&'static str]),
    /// One byte, a tensor type.
    Type,
    /// A string.
    Str,
    /// Four bytes, the index of a subgraph.
    Graph,
}

/// One field of an option table.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) slot: usize,
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) list: bool,
    pub(crate) default: i32,
}

const PADDING: &[&str] = &["SAME", "VALID"];
const ACTIVATION: &[&str] = &["NONE", "RELU", "RELU_N1_TO_1", "RELU6", "TANH", "SIGN_BIT"];
const MIRROR: &[&str] = &["REFLECT", "SYMMETRIC"];
const WEIGHTS: &[&str] = &["DEFAULT", "SHUFFLED4x16INT8"];
const LSTM: &[&str] = &["FULL", "BASIC"];

/// Number of the operator that stands for custom ones.
pub(crate) const CUSTOM: i32 = 32;

/// The TFL dialect's name of a builtin operator, without the dialect.
pub(crate) fn operator(code: i32) -> Option<&'static str> {
    static NAMES: LazyLock<Vec<Option<String>>> = LazyLock::new(|| {
        let mut names = Vec::new();
        for line in rows(include_str!("operators.txt")) {
            let (number, name) = line.split_once(' ').expect("number and name");
            let number: usize = number.parse().expect("a number");
            names.resize(number + 1, None);
            names[number] = Some(name.to_ascii_lowercase());
        }
        names
    });
    NAMES.get(usize::try_from(code).ok()?)?.as_deref()
}

/// The fields of an option table, by the union (1 or 2) and the number in it.
pub(crate) fn options(union: u8, number: u8) -> Option<&'static [Field]> {
    static TABLES: LazyLock<[Vec<Vec<Field>>; 2]> = LazyLock::new(|| {
        let mut tables = [Vec::new(), Vec::new()];
        let mut union = 0;
        for line in rows(include_str!("options.txt")) {
            if line == "---" {
                union = 1;
                continue;
            }
            let mut words = line.split_whitespace();
            let number: usize = words.next().expect("number").parse().expect("a number");
            let fields = words.skip(1).enumerate().filter_map(|(slot, word)| field(slot, word));
            tables[union].resize(number + 1, Vec::new());
            tables[union][number] = fields.collect();
        }
        tables
    });
    TABLES[usize::from(union) - 1].get(usize::from(number)).map(Vec::as_slice)
}

fn rows(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().filter(|line| !line.starts_with('#') && !line.is_empty())
}

fn field(slot: usize, word: &'static str) -> Option<Field> {
    let (name, rest) = word.split_once(':')?;
    let (kind, default) = rest.split_once('=').unwrap_or((rest, "0"));
    let inner = kind.strip_prefix('[').and_then(|kind| kind.strip_suffix(']'));
    let kind = match inner.unwrap_or(kind) {
        "i8" | "u8" => Kind::I8,
        "i32" => Kind::I32,
        "u32" => Kind::U32,
        "i64" => Kind::I64,
        "f32" => Kind::F32,
        "bool" => Kind::Bool,
        "padding" => Kind::Word(PADDING),
        "activation" => Kind::Word(ACTIVATION),
        "mirror" => Kind::Word(MIRROR),
        "weights" => Kind::Word(WEIGHTS),
        "lstm" => Kind::Word(LSTM),
        "type" => Kind::Type,
        "str" => Kind::Str,
        "graph" => Kind::Graph,
        other => unreachable!("kind `{other}` in the table of options"),
    };
    let default = default.parse().expect("a default");
    Some(Field { slot, name, kind, list: inner.is_some(), default })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_whole() {
        assert_eq!(operator(3), Some("conv_2d"));
        assert_eq!(operator(206), Some("stablehlo_composite"));
        assert_eq!(operator(9999), None);
        let conv = options(1, 1).expect("Conv2DOptions");
        assert_eq!((conv[4].name, conv[4].default, conv[4].slot), ("dilation_w_factor", 1, 4));
        let resize = options(1, 15).expect("ResizeBilinearOptions");
        assert_eq!((resize[0].name, resize[0].slot), ("align_corners", 2));
        assert!(options(2, 15).expect("StablehloWhileOptions").iter().all(|field| field.kind == Kind::Graph));
    }
}
