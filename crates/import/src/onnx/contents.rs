//! Names of contents: the elements of a tensor in one form, however the file stores them.
//!
//! Source of the fields: onnx.proto, TensorProto and SparseTensorProto.

use super::wire::{Field, Malformed, Message, Value};
use crate::contents::Naming;

/// A tensor's elements.
pub(super) fn tensor(message: Message<'_>, naming: &mut dyn Naming) -> Result<String, Malformed> {
    let (mut elem, mut raw, mut external, mut elsewhere) = (0, None, External::default(), false);
    let mut lists: Vec<Field<'_>> = Vec::new();
    for field in message.fields() {
        let field = field?;
        match field.number {
            2 => elem = field.int()?,
            9 => raw = Some(field.message()?.bytes),
            4..=7 | 10 | 11 => lists.push(field),
            13 => external.entry(field.message()?)?,
            14 => elsewhere = field.int()? == 1,
            _ => {}
        }
    }
    if elsewhere {
        return Ok(naming.external(external.location, external.offset, external.length));
    }
    if let Some(raw) = raw {
        return Ok(naming.bytes(raw));
    }
    let mut bytes = Vec::new();
    for field in lists {
        listed(elem, field, &mut bytes)?;
    }
    Ok(naming.bytes(&bytes))
}

/// A sparse tensor's elements and their places.
pub(super) fn sparse(message: Message<'_>, naming: &mut dyn Naming) -> Result<String, Malformed> {
    let mut names = Vec::new();
    for field in message.fields() {
        let field = field?;
        if matches!(field.number, 1 | 2) {
            names.push(format!("{}:{}", field.number, tensor(field.message()?, naming)?));
        }
    }
    Ok(naming.bytes(names.join(" ").as_bytes()))
}

/// Where the bytes are.
#[derive(Default)]
struct External<'a> {
    location: &'a str,
    offset: u64,
    length: Option<u64>,
}

impl<'a> External<'a> {
    fn entry(&mut self, message: Message<'a>) -> Result<(), Malformed> {
        let (mut key, mut value) = ("", "");
        for field in message.fields() {
            let field = field?;
            match field.number {
                1 => key = field.text()?,
                2 => value = field.text()?,
                _ => {}
            }
        }
        let number = || {
            let what = format!("external data with the {key} `{}`", super::model::short(value));
            value.parse::<u64>().map_err(|_| Malformed { at: message.at, what })
        };
        match key {
            "location" => self.location = value,
            "offset" => self.offset = number()?,
            "length" => self.length = Some(number()?),
            _ => {}
        }
        Ok(())
    }
}

/// Numbers of a typed field as the little-endian bytes that they would be in `raw_data`.
fn listed(elem: i64, field: Field<'_>, bytes: &mut Vec<u8>) -> Result<(), Malformed> {
    match (field.number, field.value) {
        // Floats and doubles lie in the message as they would there.
        (4 | 10, Value::Bytes(list)) => bytes.extend_from_slice(list.bytes),
        (4, Value::Fixed32(bits)) => bytes.extend_from_slice(&bits.to_le_bytes()),
        (10, Value::Fixed64(bits)) => bytes.extend_from_slice(&bits.to_le_bytes()),
        (6, Value::Bytes(text)) => {
            bytes.extend_from_slice(&(text.bytes.len() as u64).to_le_bytes());
            bytes.extend_from_slice(text.bytes);
        }
        _ => {
            let mut list = Vec::new();
            field.ints(&mut list)?;
            let width = match elem {
                4 | 5 | 10 | 16 => 2,
                6 | 12 => 4,
                7 | 13 => 8,
                _ => 1,
            };
            for value in list {
                bytes.extend_from_slice(&value.to_le_bytes()[..width]);
            }
        }
    }
    Ok(())
}
