//! Attributes, types and locations in MLIR's normal form.
//!
//! Recursion here goes as deep as the thing nests: what the parser made is limited, what passes and importers make is flat.

use crate::attr::Attr;
use crate::loc::Loc;
use crate::module::{Attrs, Module};
use crate::parse::is_bare;
use crate::types::{Dim, Sign, Ty, Type};
use std::fmt::Write;

/// Appends an integer.
pub(super) fn int(value: impl std::fmt::Display, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = write!(out, "{value}");
}

/// Appends a string in quotes: printable ASCII stays, the rest is `\XX`.
pub(crate) fn quoted(bytes: &[u8], out: &mut String) {
    out.push('"');
    for byte in bytes {
        match byte {
            b'\\' => out.push_str("\\\\"),
            b'"' => out.push_str("\\22"),
            0x20..0x7F => out.push(char::from(*byte)),
            _ => {
                let _ = write!(out, "\\{byte:02X}");
            }
        }
    }
    out.push('"');
}

/// Appends a key: bare where it can be.
pub(super) fn key(text: &str, out: &mut String) {
    if is_bare(text.as_bytes()) { out.push_str(text) } else { quoted(text.as_bytes(), out) }
}

/// Appends `@name`.
pub(super) fn symbol(name: &str, out: &mut String) {
    out.push('@');
    key(name, out);
}

fn comma_list<T>(items: &[T], out: &mut String, mut print: impl FnMut(&T, &mut String)) {
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        print(item, out);
    }
}

/// Appends an attribute. In an array (`elide`) the types `i64` and `f64` are not spelled out.
pub(super) fn attr(module: &Module, attr: &Attr, elide: bool, out: &mut String) {
    match attr {
        Attr::Unit => out.push_str("unit"),
        Attr::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Attr::Int { value, ty } => {
            int(value, out);
            if !(elide && is_i64(module, *ty)) {
                typed(module, *ty, out);
            }
        }
        Attr::Float { text, ty } => {
            out.push_str(text);
            let is_f64 = matches!(module.ty(*ty), Type::Float("f64"));
            if !(elide && is_f64 && !text.starts_with("0x")) {
                typed(module, *ty, out);
            }
        }
        Attr::Str(bytes) => quoted(bytes, out),
        Attr::TypedStr(bytes, ty) => {
            quoted(bytes, out);
            if !matches!(module.ty(*ty), Type::None) {
                typed(module, *ty, out);
            }
        }
        Attr::Array(items) => {
            out.push('[');
            comma_list(items, out, |item, out| self::attr(module, item, true, out));
            out.push(']');
        }
        Attr::Dict(items) => dict(module, items, out),
        Attr::Type(ty) => self::ty(module, *ty, out),
        Attr::Symbol { root, nested } => {
            symbol(root, out);
            for name in nested {
                out.push_str("::");
                symbol(name, out);
            }
        }
        Attr::DenseInts { elem, values } => {
            dense_array(module, *elem, values, out, |value, out| int(value, out));
        }
        Attr::DenseBools(values) => {
            out.push_str("array<i1");
            out.push_str(if values.is_empty() { "" } else { ": " });
            comma_list(values, out, |value, out| out.push_str(if *value { "true" } else { "false" }));
            out.push('>');
        }
        Attr::DenseFloats { elem, values } => {
            dense_array(module, *elem, values, out, |value, out| out.push_str(value));
        }
        Attr::Elements { text, ty } => {
            out.push_str(text);
            typed(module, *ty, out);
        }
        Attr::Loc(loc) => {
            out.push_str("loc(");
            loc_body(module, loc, out);
            out.push(')');
        }
        Attr::Text(text, ty) => {
            out.push_str(text);
            if let Some(ty) = ty.filter(|ty| !matches!(module.ty(*ty), Type::None)) {
                typed(module, ty, out);
            }
        }
    }
}

fn is_i64(module: &Module, ty: Ty) -> bool {
    matches!(module.ty(ty), Type::Integer { width: 64, sign: Sign::None })
}

fn typed(module: &Module, ty: Ty, out: &mut String) {
    out.push_str(" : ");
    self::ty(module, ty, out);
}

fn dense_array<T>(module: &Module, elem: Ty, values: &[T], out: &mut String, print: impl FnMut(&T, &mut String)) {
    out.push_str("array<");
    ty(module, elem, out);
    out.push_str(if values.is_empty() { "" } else { ": " });
    comma_list(values, out, print);
    out.push('>');
}

/// Appends `{key = value, unit_key}`.
pub(super) fn dict(module: &Module, items: &Attrs, out: &mut String) {
    out.push('{');
    comma_list(items, out, |(name, value), out| {
        key(module.text(*name), out);
        if *value != Attr::Unit {
            out.push_str(" = ");
            attr(module, value, false, out);
        }
    });
    out.push('}');
}

/// Appends a type.
pub(super) fn ty(module: &Module, ty: Ty, out: &mut String) {
    match module.ty(ty) {
        Type::Integer { width, sign } => {
            out.push_str(match sign {
                Sign::None => "i",
                Sign::Signed => "si",
                Sign::Unsigned => "ui",
            });
            int(width, out);
        }
        Type::Index => out.push_str("index"),
        Type::None => out.push_str("none"),
        Type::Float(keyword) => out.push_str(keyword),
        Type::Complex(elem) => {
            out.push_str("complex<");
            self::ty(module, *elem, out);
            out.push('>');
        }
        Type::Tuple(items) => {
            out.push_str("tuple<");
            comma_list(items, out, |item, out| self::ty(module, *item, out));
            out.push('>');
        }
        Type::Vector { shape, elem } => {
            out.push_str("vector<");
            for (size, scalable) in shape {
                let _ = if *scalable { write!(out, "[{size}]x") } else { write!(out, "{size}x") };
            }
            self::ty(module, *elem, out);
            out.push('>');
        }
        Type::Tensor { shape, elem, encoding } => {
            shaped("tensor<", module, shape, *elem, [encoding, &None], out);
        }
        Type::MemRef { shape, elem, layout, space } => {
            shaped("memref<", module, shape, *elem, [layout, space], out);
        }
        Type::Function { inputs, results } => signature(module, inputs, results, out),
        Type::Dialect(text) => {
            out.push('!');
            out.push_str(text);
        }
    }
}

fn shaped(
    keyword: &str,
    module: &Module,
    shape: &Option<Vec<Dim>>,
    elem: Ty,
    extra: [&Option<Box<Attr>>; 2],
    out: &mut String,
) {
    out.push_str(keyword);
    match shape {
        None => out.push_str("*x"),
        Some(dims) => {
            for dim in dims {
                match dim {
                    Dim::Known(size) => int(size, out),
                    Dim::Dynamic => out.push('?'),
                }
                out.push('x');
            }
        }
    }
    ty(module, elem, out);
    for attr in extra.into_iter().flatten() {
        out.push_str(", ");
        self::attr(module, attr, true, out);
    }
    out.push('>');
}

/// Appends `(T, ..) -> T` or `(T, ..) -> (T, ..)`.
pub(super) fn signature(module: &Module, inputs: &[Ty], results: &[Ty], out: &mut String) {
    out.push('(');
    comma_list(inputs, out, |input, out| ty(module, *input, out));
    out.push_str(") -> ");
    result_types(module, results, out);
}

/// Appends one type that is no function type as it is, else a list in brackets.
pub(super) fn result_types(module: &Module, results: &[Ty], out: &mut String) {
    match results {
        [one] if !matches!(module.ty(*one), Type::Function { .. }) => ty(module, *one, out),
        _ => {
            out.push('(');
            comma_list(results, out, |result, out| ty(module, *result, out));
            out.push(')');
        }
    }
}

/// Appends what stands between the brackets of `loc(..)`.
pub(super) fn loc_body(module: &Module, loc: &Loc, out: &mut String) {
    match loc {
        Loc::Unknown => out.push_str("unknown"),
        Loc::File(text) => out.push_str(text),
        Loc::Name(name, child) => {
            quoted(name.as_bytes(), out);
            if **child != Loc::Unknown {
                out.push('(');
                loc_body(module, child, out);
                out.push(')');
            }
        }
        Loc::Call(callee, caller) => {
            out.push_str("callsite(");
            loc_body(module, callee, out);
            out.push_str(" at ");
            loc_body(module, caller, out);
            out.push(')');
        }
        Loc::Fused(meta, list) => {
            out.push_str("fused");
            if let Some(meta) = meta {
                out.push('<');
                attr(module, meta, false, out);
                out.push('>');
            }
            out.push('[');
            comma_list(list, out, |loc, out| loc_body(module, loc, out));
            out.push(']');
        }
    }
}
