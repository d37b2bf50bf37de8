//! Files beside a model that hold bytes of its tensors: what the file says of them, wherever a tensor can stand.
//!
//! Tensors are initializers, dense or sparse, of the main graph, of graphs inside nodes, of functions and of training, or attributes of
//! nodes. A message that cannot be read is passed over: the reader of the model is the one that complains.

use super::wire::Message;
use std::collections::BTreeSet;

/// What a message is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Model,
    Training,
    Function,
    Graph,
    Node,
    Attribute,
    Sparse,
    Tensor,
}

/// What the field of a message holds, if tensors can stand in it. Source of the numbers: onnx.proto, IR version 13.
fn inside(kind: Kind, field: u32) -> Option<Kind> {
    Some(match (kind, field) {
        (Kind::Model, 7) | (Kind::Training, 1 | 2) | (Kind::Attribute, 6 | 11) => Kind::Graph,
        (Kind::Model, 20) => Kind::Training,
        (Kind::Model, 25) => Kind::Function,
        (Kind::Graph, 1) | (Kind::Function, 7) => Kind::Node,
        (Kind::Node, 5) | (Kind::Function, 11) => Kind::Attribute,
        (Kind::Graph, 15) | (Kind::Attribute, 22 | 23) => Kind::Sparse,
        (Kind::Graph, 5) | (Kind::Attribute, 5 | 10) | (Kind::Sparse, 1 | 2) => Kind::Tensor,
        _ => return None,
    })
}

/// The locations that a file's tensors name: paths relative to the folder that the file lies in.
pub fn external_files(bytes: &[u8]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut waiting = vec![(Kind::Model, Message::file(bytes))];
    while let Some((kind, message)) = waiting.pop() {
        if kind == Kind::Tensor {
            found.extend(location(message).map(str::to_owned));
            continue;
        }
        for field in message.fields().map_while(Result::ok) {
            if let (Some(kind), Ok(message)) = (inside(kind, field.number), field.message()) {
                waiting.push((kind, message));
            }
        }
    }
    found
}

/// The file that holds a tensor's bytes, if they are elsewhere.
fn location(tensor: Message<'_>) -> Option<&str> {
    let (mut named, mut elsewhere) = (None, false);
    for field in tensor.fields().map_while(Result::ok) {
        match field.number {
            13 => {
                let entry = field.message().ok()?.fields().map_while(Result::ok);
                let texts: Vec<(u32, &str)> =
                    entry.filter_map(|field| Some((field.number, field.text().ok()?))).collect();
                let text = |number: u32| texts.iter().find(|(other, _)| *other == number).map(|(_, text)| *text);
                named = if text(1) == Some("location") { text(2) } else { named };
            }
            14 => elsewhere = field.int() == Ok(1),
            _ => {}
        }
    }
    named.filter(|name| elsewhere && !name.is_empty())
}
