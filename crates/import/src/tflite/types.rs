//! Types of tensors: TFLite's enumeration and quantization as MLIR's types.

use super::model::{Quant, Tensor};
use neap_ir::{Dim, Module, Sign, Ty, Type, types};

/// The element type by its number in the schema's `TensorType`. Source: schema.fbs.
pub(super) fn element(module: &mut Module, number: u8) -> Option<Ty> {
    let int = |width, sign| Some(Type::Integer { width, sign });
    let dialect = |body: &str| Some(Type::Dialect(body.into()));
    let complex = |module: &mut Module, keyword| {
        let elem = module.intern_ty(types::float(keyword)?);
        Some(Type::Complex(elem))
    };
    let ty = match number {
        0 => types::float("f32"),
        1 => types::float("f16"),
        2 => int(32, Sign::None),
        3 => int(8, Sign::Unsigned),
        4 => int(64, Sign::None),
        5 => dialect("tf_type.string"),
        6 => int(1, Sign::None),
        7 => int(16, Sign::None),
        8 => complex(module, "f32"),
        9 => int(8, Sign::None),
        10 => types::float("f64"),
        11 => complex(module, "f64"),
        12 => int(64, Sign::Unsigned),
        13 => dialect("tf_type.resource"),
        14 => dialect("tf_type.variant"),
        15 => int(32, Sign::Unsigned),
        16 => int(16, Sign::Unsigned),
        17 => int(4, Sign::None),
        18 => types::float("bf16"),
        _ => None,
    }?;
    Some(module.intern_ty(ty))
}

/// Whether a tensor holds a handle: an identifier of four bytes, as LiteRT has it.
pub(super) fn is_handle(tensor: &Tensor) -> bool {
    tensor.ty == 13
}

/// The type of a tensor; `None` if the number of its element type is unknown.
pub(super) fn tensor(module: &mut Module, tensor: &Tensor) -> Option<Ty> {
    let plain = element(module, tensor.ty)?;
    let elem = match &tensor.quant {
        Some(quant) => {
            quantized(quant, tensor).map(|body| module.intern_ty(Type::Dialect(body.into()))).unwrap_or(plain)
        }
        None => plain,
    };
    let dim = |size: &i32| u64::try_from(*size).map_or(Dim::Dynamic, Dim::Known);
    let shape = Some(tensor.shape.iter().map(dim).collect());
    Some(module.intern_ty(Type::Tensor { shape, elem, encoding: None }))
}

/// `quant.uniform<..>` in MLIR's normal form, or `None` where MLIR would refuse the parameters: then the storage type stands alone,
/// which has the same bytes. Source of the rules: MLIR `QuantTypes.cpp`, LLVM 22.
fn quantized(quant: &Quant, tensor: &Tensor) -> Option<String> {
    let (storage, low, high) = match tensor.ty {
        2 => ("i32", i64::from(i32::MIN), i64::from(i32::MAX)),
        3 => ("u8", 0, 255),
        7 => ("i16", -32768, 32767),
        9 => ("i8", -128, 127),
        16 => ("u16", 0, 65535),
        17 => ("i4", -8, 7),
        _ => return None,
    };
    let smallest = f64::from(f32::MIN_POSITIVE);
    let is_scale = |scale: &f32| scale.is_finite() && f64::from(*scale) >= smallest;
    if !quant.scales.iter().all(is_scale) {
        return None;
    }
    let zero_point = |index: usize| match quant.zero_points.len() {
        0 => Some(0),
        1 => Some(quant.zero_points[0]),
        _ => quant.zero_points.get(index).copied(),
    };
    let mut items = Vec::new();
    for (index, scale) in quant.scales.iter().enumerate() {
        let zero = zero_point(index).filter(|zero| (low..=high).contains(zero))?;
        let scale = neap_ir::float::f64_text(f64::from(*scale));
        items.push(if zero == 0 { scale } else { format!("{scale}:{zero}") });
    }
    if items.len() == 1 {
        return Some(format!("quant.uniform<{storage}:f32, {}>", items[0]));
    }
    let axis = usize::try_from(quant.axis).ok()?;
    let size = usize::try_from(*tensor.shape.get(axis)?).ok()?;
    (size == items.len()).then(|| format!("quant.uniform<{storage}:f32:{axis}, {{{}}}>", items.join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(ty: u8, shape: &[i32], quant: Quant) -> Tensor {
        let (name, shape, quant) = ("t".into(), shape.to_vec(), Some(quant));
        Tensor { name, shape, ty, buffer: 0, is_variable: false, is_external: false, quant }
    }

    #[test]
    fn quantized_types_are_in_normal_form() {
        let one = sample(9, &[4], Quant { scales: vec![0.5], zero_points: vec![-3], axis: 0 });
        assert_eq!(quantized(one.quant.as_ref().unwrap(), &one).unwrap(), "quant.uniform<i8:f32, 5.000000e-01:-3>");
        let axis = sample(9, &[2], Quant { scales: vec![0.5, 0.25], zero_points: vec![0], axis: 0 });
        let text = "quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>";
        assert_eq!(quantized(axis.quant.as_ref().unwrap(), &axis).unwrap(), text);
    }

    #[test]
    fn parameters_that_mlir_refuses_are_left_out() {
        for (scales, zero, axis) in
            [(vec![0.0], 0, 0), (vec![f32::NAN], 0, 0), (vec![1.0], 128, 0), (vec![1.0, 1.0], 0, 3)]
        {
            let tensor = sample(9, &[2], Quant { scales, zero_points: vec![zero], axis });
            assert_eq!(quantized(tensor.quant.as_ref().unwrap(), &tensor), None);
        }
    }
}
