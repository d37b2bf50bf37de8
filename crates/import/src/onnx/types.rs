//! Types: ONNX's enumeration of element types as MLIR's types, and what is known of a value as a type.

use super::fact::{Fact, TensorFact};
use super::size::Size;
use neap_ir::{Dim, Module, Sign, Ty, Type, types};

/// The element type's name in the schema. Source: `TensorProto.DataType` in onnx.proto.
pub(super) fn elem_name(number: i64) -> String {
    const NAMES: [&str; 27] = [
        "UNDEFINED",
        "FLOAT",
        "UINT8",
        "INT8",
        "UINT16",
        "INT16",
        "INT32",
        "INT64",
        "STRING",
        "BOOL",
        "FLOAT16",
        "DOUBLE",
        "UINT32",
        "UINT64",
        "COMPLEX64",
        "COMPLEX128",
        "BFLOAT16",
        "FLOAT8E4M3FN",
        "FLOAT8E4M3FNUZ",
        "FLOAT8E5M2",
        "FLOAT8E5M2FNUZ",
        "UINT4",
        "INT4",
        "FLOAT4E2M1",
        "FLOAT8E8M0",
        "UINT2",
        "INT2",
    ];
    let name = usize::try_from(number).ok().and_then(|number| NAMES.get(number));
    name.map_or_else(|| format!("number {number}"), |name| (*name).to_owned())
}

/// The element type as a type; one that is not known has a type of unknown size.
pub(super) fn element(module: &mut Module, number: i64) -> Ty {
    let int = |width, sign| Type::Integer { width, sign };
    let float = |keyword| types::float(keyword).unwrap_or(Type::None);
    let complex = |module: &mut Module, keyword| {
        let elem = module.intern_ty(types::float(keyword).unwrap_or(Type::None));
        Type::Complex(elem)
    };
    let ty = match number {
        1 => float("f32"),
        2 => int(8, Sign::Unsigned),
        3 => int(8, Sign::None),
        4 => int(16, Sign::Unsigned),
        5 => int(16, Sign::None),
        6 => int(32, Sign::None),
        7 => int(64, Sign::None),
        8 => Type::Dialect("onnx.String".into()),
        9 => int(1, Sign::None),
        10 => float("f16"),
        11 => float("f64"),
        12 => int(32, Sign::Unsigned),
        13 => int(64, Sign::Unsigned),
        14 => complex(module, "f32"),
        15 => complex(module, "f64"),
        16 => float("bf16"),
        17 => float("f8E4M3FN"),
        18 => float("f8E4M3FNUZ"),
        19 => float("f8E5M2"),
        20 => float("f8E5M2FNUZ"),
        21 => int(4, Sign::Unsigned),
        22 => int(4, Sign::None),
        23 => float("f4E2M1FN"),
        24 => float("f8E8M0FNU"),
        25 => int(2, Sign::Unsigned),
        26 => int(2, Sign::None),
        _ => Type::Dialect("onnx.Unknown".into()),
    };
    module.intern_ty(ty)
}

/// The type of a value.
pub(super) fn of(module: &mut Module, fact: &Fact) -> Ty {
    let ty = match fact {
        Fact::Tensor(tensor) => return tensor_ty(module, tensor),
        Fact::Unknown => return tensor_ty(module, &TensorFact::default()),
        Fact::Sequence(of) => Type::Dialect(format!("onnx.Seq<{}>", inner(module, of)).into()),
        Fact::Optional(of) => Type::Dialect(format!("onnx.Opt<{}>", inner(module, of)).into()),
        Fact::Other(name) => Type::Dialect(format!("onnx.{name}").into()),
    };
    module.intern_ty(ty)
}

fn tensor_ty(module: &mut Module, tensor: &TensorFact) -> Ty {
    let elem = element(module, tensor.elem);
    let dim = |dim: &Option<Size>| match known(dim.as_ref()) {
        Some(size) => Dim::Known(size),
        None => Dim::Dynamic,
    };
    let shape = tensor.dims.as_ref().map(|dims| dims.iter().map(dim).collect());
    module.intern_ty(Type::Tensor { shape, elem, encoding: None })
}

/// A size that is a number.
pub(super) fn known(size: Option<&Size>) -> Option<u64> {
    u64::try_from(size?.known()?).ok()
}

/// The type inside a sequence or an optional value as text; what is unknown there is `none`.
fn inner(module: &mut Module, fact: &Fact) -> String {
    match fact {
        Fact::Tensor(TensorFact { elem, dims: Some(dims), .. }) => {
            let ty = element(module, *elem);
            let elem = match module.ty(ty) {
                Type::Integer { width, sign: Sign::Unsigned } => format!("ui{width}"),
                Type::Integer { width, .. } => format!("i{width}"),
                Type::Float(name) => (*name).to_owned(),
                _ => return "none".to_owned(),
            };
            let dim = |dim: &Option<Size>| known(dim.as_ref()).map_or("?".to_owned(), |size| size.to_string());
            let dims: Vec<String> = dims.iter().map(dim).chain([elem]).collect();
            format!("tensor<{}>", dims.join("x"))
        }
        Fact::Sequence(of) => format!("!onnx.Seq<{}>", inner(module, of)),
        Fact::Optional(of) => format!("!onnx.Opt<{}>", inner(module, of)),
        _ => "none".to_owned(),
    }
}
