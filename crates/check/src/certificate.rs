//! Certificates: proofs that no order of a function needs less than so many bytes, as plain data and as JSON.
//!
//! ```json
//! {"version": 1, "fingerprint": "..", "function": "main", "op": 12, "claims": {"lower_bound": 4096},
//!  "flows": [{"taken": [{"result": 0, "operand": 1}, {"operand": 0}],
//!             "edges": [["source", "in:arg0", null, 64], ["in:arg0", "out:arg0", 64, 64], ["out:arg0", "op:7", null, 64]]}]}
//! ```
//!
//! Operations are named by their step in the *planned* function. A storage is named by the value that owns its bytes: `argI`, or `S.R` for
//! result `R` of the operation at step `S`; `in:` and `out:` are its two nodes. A capacity `null` is unlimited; it is for people, the checker computes its own.
//! `taken` lists candidates of `op`: with `result`, one over an operand; without, an operand that is a part of the result. `network.rs`
//! says what network the edges belong to and why a flow bounds every order.

use serde_json::{Map, Value, json};

/// The format that is read and written.
pub const VERSION: u64 = 1;

/// A proof that at least `lower_bound` bytes are held during one operation, whatever the order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Certificate {
    /// The fingerprint of the source function.
    pub fingerprint: String,
    /// The function, without `@`.
    pub function: String,
    /// The operation, by its step in the planned function.
    pub op: u32,
    /// The claim, in bytes.
    pub lower_bound: u64,
    /// One flow for each set of candidates of `op` that nothing larger contains, or for larger sets.
    pub flows: Vec<SetFlow>,
}

/// The flow for one set of candidates.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SetFlow {
    /// Candidates that are taken.
    pub taken: Vec<Taken>,
    /// Edges that carry flow.
    pub edges: Vec<Edge>,
}

/// A candidate, by positions among data results and data operands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Taken {
    /// The result overwrites the operand.
    InPlace {
        /// Which result.
        result: u32,
        /// Which operand.
        operand: u32,
    },
    /// The operand is written straight into the first result.
    Place {
        /// Which operand.
        operand: u32,
    },
}

/// The value that owns a storage's bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Owner {
    /// An argument of the function.
    Arg(u32),
    /// A result: step and position.
    Result(u32, u32),
}

/// A node of the network.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Node {
    /// All operations that must run before the certificate's.
    Source,
    /// The certificate's operation and all that must run after it.
    Sink,
    /// An operation that may run before or after, by its step.
    Op(u32),
    /// A storage has been started.
    In(Owner),
    /// A storage is still needed.
    Out(Owner),
}

/// An edge that carries flow.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Edge {
    /// Where it starts.
    pub from: Node,
    /// Where it ends.
    pub to: Node,
    /// Bytes; `None` is unlimited.
    pub capacity: Option<u64>,
    /// Bytes.
    pub flow: u64,
}

impl std::fmt::Display for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Owner::Arg(index) => write!(f, "arg{index}"),
            Owner::Result(step, index) => write!(f, "{step}.{index}"),
        }
    }
}

impl std::fmt::Display for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Node::Source => f.write_str("source"),
            Node::Sink => f.write_str("sink"),
            Node::Op(step) => write!(f, "op:{step}"),
            Node::In(owner) => write!(f, "in:{owner}"),
            Node::Out(owner) => write!(f, "out:{owner}"),
        }
    }
}

impl std::str::FromStr for Node {
    type Err = String;

    fn from_str(text: &str) -> Result<Node, String> {
        let bad = || format!("`{text}` is no node");
        let number = |text: &str| text.parse::<u32>().map_err(|_| bad());
        let owner = |text: &str| -> Result<Owner, String> {
            Ok(match text.strip_prefix("arg") {
                Some(index) => Owner::Arg(number(index)?),
                None => {
                    let (step, index) = text.split_once('.').ok_or_else(bad)?;
                    Owner::Result(number(step)?, number(index)?)
                }
            })
        };
        match text.split_once(':') {
            None if text == "source" => Ok(Node::Source),
            None if text == "sink" => Ok(Node::Sink),
            Some(("op", step)) => Ok(Node::Op(number(step)?)),
            Some(("in", name)) => Ok(Node::In(owner(name)?)),
            Some(("out", name)) => Ok(Node::Out(owner(name)?)),
            _ => Err(bad()),
        }
    }
}

impl Certificate {
    /// The certificate as JSON.
    pub fn to_json(&self) -> Value {
        let taken = |taken: &Taken| match taken {
            Taken::InPlace { result, operand } => json!({"result": result, "operand": operand}),
            Taken::Place { operand } => json!({"operand": operand}),
        };
        let edge = |edge: &Edge| json!([edge.from.to_string(), edge.to.to_string(), edge.capacity, edge.flow]);
        let flow = |flow: &SetFlow| {
            json!({
                "taken": flow.taken.iter().map(taken).collect::<Vec<Value>>(),
                "edges": flow.edges.iter().map(edge).collect::<Vec<Value>>(),
            })
        };
        json!({
            "version": VERSION,
            "fingerprint": self.fingerprint,
            "function": self.function,
            "op": self.op,
            "claims": {"lower_bound": self.lower_bound},
            "flows": self.flows.iter().map(flow).collect::<Vec<Value>>(),
        })
    }

    /// Reads a certificate.
    ///
    /// # Errors
    /// What is wrong with the text or its form.
    pub fn from_json(text: &str) -> Result<Certificate, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let top = value.as_object().ok_or("a certificate is an object")?;
        match number(top, "version")? {
            VERSION => {}
            other => return Err(format!("version {other} is not known, {VERSION} is")),
        }
        let claims = field(top, "claims")?.as_object().ok_or("`claims` is an object")?;
        Ok(Certificate {
            fingerprint: text_of(top, "fingerprint")?,
            function: text_of(top, "function")?,
            op: small(number(top, "op")?)?,
            lower_bound: number(claims, "lower_bound")?,
            flows: list(top, "flows")?.iter().map(read_flow).collect::<Result<_, String>>()?,
        })
    }
}

fn field<'v>(object: &'v Map<String, Value>, key: &str) -> Result<&'v Value, String> {
    object.get(key).ok_or_else(|| format!("`{key}` is missing"))
}

fn number(object: &Map<String, Value>, key: &str) -> Result<u64, String> {
    field(object, key)?.as_u64().ok_or_else(|| format!("`{key}` is a number, at least 0"))
}

fn text_of(object: &Map<String, Value>, key: &str) -> Result<String, String> {
    Ok(field(object, key)?.as_str().ok_or_else(|| format!("`{key}` is a string"))?.to_owned())
}

fn list<'v>(object: &'v Map<String, Value>, key: &str) -> Result<&'v Vec<Value>, String> {
    field(object, key)?.as_array().ok_or_else(|| format!("`{key}` is a list"))
}

fn small(number: u64) -> Result<u32, String> {
    u32::try_from(number).map_err(|_| format!("{number} is too large"))
}

fn read_flow(value: &Value) -> Result<SetFlow, String> {
    let object = value.as_object().ok_or("a flow is an object")?;
    let taken = |value: &Value| {
        let object = value.as_object().ok_or("a candidate is an object")?;
        let operand = small(number(object, "operand")?)?;
        match object.contains_key("result") {
            true => Ok(Taken::InPlace { result: small(number(object, "result")?)?, operand }),
            false => Ok(Taken::Place { operand }),
        }
    };
    let edge = |value: &Value| {
        let Some([from, to, capacity, flow]) = value.as_array().map(Vec::as_slice) else {
            return Err("an edge is `[from, to, capacity, flow]`".to_owned());
        };
        let node = |value: &Value| value.as_str().ok_or("a node is a string".to_owned())?.parse::<Node>();
        let flow = flow.as_u64().ok_or("a flow is a number, at least 0")?;
        Ok(Edge { from: node(from)?, to: node(to)?, capacity: capacity.as_u64(), flow })
    };
    Ok(SetFlow {
        taken: list(object, "taken")?.iter().map(taken).collect::<Result<_, String>>()?,
        edges: list(object, "edges")?.iter().map(edge).collect::<Result<_, String>>()?,
    })
}
