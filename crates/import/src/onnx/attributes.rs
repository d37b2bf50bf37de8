//! Attributes of nodes as attributes of operations.

use super::fact::elem;
use super::model::{Attribute, Content, Node, Setting, Tensor};
use super::names::plain;
use super::wire::Malformed;
use super::{contents, types};
use crate::contents::{CONTENT, Naming};
use neap_ir::{Attr, Dim, Module, Ty, Type};

/// All attributes of a node but its graphs. `place` (graph and node) tells apart what only the file holds: operations never seem equal
/// by what cannot be seen here.
pub(super) fn of(
    module: &mut Module,
    node: &Node<'_>,
    place: (usize, usize),
    naming: &mut Option<&mut dyn Naming>,
) -> Result<Vec<(String, Attr)>, Malformed> {
    let mut attrs = Vec::new();
    if !node.is_standard() {
        attrs.push(("domain".to_owned(), Attr::str(node.domain)));
    }
    if node.is_standard() && node.op == "Constant" {
        let value = node.attributes.iter().find_map(|attribute| match (attribute.name, &attribute.setting) {
            ("value", Setting::Tensor(tensor)) => {
                let ty = tensor_ty(module, tensor);
                small_integers(tensor, ty)
            }
            ("value_int", Setting::Int(value)) => {
                let tensor = numbers(&[*value], Vec::new());
                let ty = tensor_ty(module, &tensor);
                small_integers(&tensor, ty)
            }
            ("value_ints", Setting::Ints(list)) => {
                let tensor = numbers(list, vec![list.len() as u64]);
                let ty = tensor_ty(module, &tensor);
                small_integers(&tensor, ty)
            }
            _ => None,
        });
        attrs.extend(value.map(|value| ("value".to_owned(), value)));
        for attribute in &node.attributes {
            attrs.extend(name_of(attribute, naming)?.map(|name| (CONTENT.to_owned(), Attr::str(&name))));
        }
        return Ok(attrs);
    }
    for (index, attribute) in node.attributes.iter().enumerate() {
        let in_file = match &attribute.setting {
            Setting::Tensor(_) | Setting::Other => name_of(attribute, naming)?,
            _ => None,
        };
        let in_file = || in_file.unwrap_or_else(|| format!("onnx_{}_{}_{index}", place.0, place.1));
        let attr = match &attribute.setting {
            Setting::Graph(_) => continue,
            Setting::Float(value) => module.f32_attr(*value),
            Setting::Int(value) => module.i64_attr(*value),
            Setting::Text(bytes) => Attr::Str((*bytes).into()),
            Setting::Ints(list) => module.i64s_attr(list.clone()),
            Setting::Floats(list) => Attr::Array(list.iter().map(|value| module.f32_attr(*value)).collect()),
            Setting::Texts(list) => Attr::Array(list.iter().map(|bytes| Attr::Str((*bytes).into())).collect()),
            Setting::Tensor(tensor) => {
                let ty = tensor_ty(module, tensor);
                let text = || format!("dense_resource<{}>", in_file());
                small_integers(tensor, ty)
                    .or_else(|| single_float(tensor, ty))
                    .unwrap_or_else(|| Attr::Elements { text: text().into(), ty })
            }
            Setting::Other => Attr::str(&in_file()),
        };
        attrs.push((key(attribute.name), attr));
    }
    Ok(attrs)
}

/// The name of what an attribute holds, where contents are named.
fn name_of(attribute: &Attribute<'_>, naming: &mut Option<&mut dyn Naming>) -> Result<Option<String>, Malformed> {
    let Some(naming) = naming else { return Ok(None) };
    match &attribute.setting {
        Setting::Tensor(tensor) => tensor_name(tensor, *naming),
        _ => Ok(Some(naming.bytes(attribute.message.bytes))),
    }
}

/// The name of a tensor's elements.
pub(super) fn tensor_name(tensor: &Tensor<'_>, naming: &mut dyn Naming) -> Result<Option<String>, Malformed> {
    let read = if tensor.is_sparse { contents::sparse } else { contents::tensor };
    tensor.message.map(|message| read(message, naming)).transpose()
}

/// A name that is a plain identifier and none of our own.
fn key(name: &str) -> String {
    let key = plain(name).replace('.', "_");
    if key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') { key } else { format!("_{key}") }
}

fn numbers(list: &[i64], dims: Vec<u64>) -> Tensor<'static> {
    let small = list.len() <= super::model::MAX_CONTENT;
    Tensor {
        name: "",
        elem: elem::I64,
        dims,
        content: small.then(|| Content::Ints(list.to_vec())),
        message: None,
        is_sparse: false,
    }
}

fn tensor_ty(module: &mut Module, tensor: &Tensor<'_>) -> Ty {
    let elem = types::element(module, tensor.elem);
    let shape = Some(tensor.dims.iter().map(|size| Dim::Known(*size)).collect());
    module.intern_ty(Type::Tensor { shape, elem, encoding: None })
}

/// `dense<..>` of a small constant of integers.
pub(super) fn small_integers(tensor: &Tensor<'_>, ty: Ty) -> Option<Attr> {
    let Some(Content::Ints(list)) = &tensor.content else { return None };
    let text = |value: &i64| match tensor.elem {
        elem::BOOL => (*value != 0).to_string(),
        _ => value.to_string(),
    };
    let items: Vec<String> = list.iter().map(text).collect();
    Some(Attr::Elements { text: format!("dense<{}>", nested(&items, &tensor.dims)).into(), ty })
}

/// `dense<..>` of a single float.
fn single_float(tensor: &Tensor<'_>, ty: Ty) -> Option<Attr> {
    match &tensor.content {
        Some(Content::Floats(list)) if list.len() == 1 && tensor.elem == elem::F32 => {
            let text = neap_ir::float::f32_text(list[0] as f32);
            Some(Attr::Elements { text: format!("dense<{text}>").into(), ty })
        }
        _ => None,
    }
}

/// Elements in brackets, as MLIR writes them: one alone where all are equal.
fn nested(items: &[String], dims: &[u64]) -> String {
    match items {
        [] => String::new(),
        [first, rest @ ..] if rest.iter().all(|item| item == first) => first.clone(),
        _ => {
            let mut parts: Vec<String> = items.to_vec();
            for dim in dims.iter().rev() {
                let len = usize::try_from(*dim).unwrap_or(1).max(1);
                parts = parts.chunks(len).map(|chunk| format!("[{}]", chunk.join(", "))).collect();
            }
            parts.concat()
        }
    }
}
