//! Random graphs for tests: a plain list of nodes on tensors of two dimensions, and their text.

use std::fmt::Write;

/// A small generator: xorshift.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// `tensor<rows x columns x i(8*bytes)>`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Tensor {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) bytes: usize,
}

impl Tensor {
    pub(crate) fn count(self) -> usize {
        self.rows * self.columns
    }

    pub(crate) fn size(self) -> usize {
        self.count() * self.bytes
    }

    fn text(self) -> String {
        format!("tensor<{}x{}xi{}>", self.rows, self.columns, 8 * self.bytes)
    }
}

/// What a node computes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// A function of the whole operands.
    Opaque(usize),
    /// A function of each element; the second operand may be broadcast.
    Element(usize),
    Reshape,
    Slice {
        axis: usize,
        start: usize,
    },
    Concat(usize),
    Split(usize),
    Transpose,
    Read(usize),
    Write(usize),
    /// `first` on the first `operands` operands, then `then` on its result and the operand after those, if `two`.
    Fused {
        first: Box<Kind>,
        operands: usize,
        then: usize,
        two: bool,
        middle: Tensor,
    },
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    pub(crate) operands: Vec<usize>,
    pub(crate) results: Vec<usize>,
    pub(crate) scratch: usize,
    pub(crate) class: bool,
    pub(crate) keep: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Io {
    Arena,
    Held,
    External,
}

/// Values are numbers; arguments come first.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    pub(crate) values: Vec<Tensor>,
    pub(crate) args: Vec<Io>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) returned: Vec<usize>,
}

/// The content of every variable.
pub(crate) const STATE: Tensor = Tensor { rows: 2, columns: 4, bytes: 1 };
pub(crate) const VARIABLES: usize = 2;

/// The facts of the test's own dialect.
pub(crate) const TABLE: &str = r#"
[[op]]
name = "t.opaque"
role = "opaque"
effects = "none"

[[op]]
name = "t.element"
role = "elementwise"
effects = "none"
inplace = [{result = 0, operands = "0..", rule = "lockstep"}]

[[op]]
name = "t.reshape"
role = "reshape"
effects = "none"
views = [{results = 0, operand = 0}]

[[op]]
name = "t.slice"
role = "slice"
effects = "none"
start = {attr = "start"}
size = {attr = "size"}
views = [{results = 0, operand = 0}]

[[op]]
name = "t.concat"
role = "concat"
effects = "none"
axis = {attr = "axis"}

[[op]]
name = "t.split"
role = "split"
effects = "none"
axis = {attr = "axis"}
views = [{results = "0..", operand = 0}]

[[op]]
name = "t.transpose"
role = "transpose"
effects = "none"
perm = {attr = "perm"}
views = [{results = 0, operand = 0}]
"#;

impl Graph {
    pub(crate) fn random(rng: &mut Random) -> Graph {
        let args = 1 + rng.below(3);
        let io = |rng: &mut Random| [Io::Arena, Io::Arena, Io::Held, Io::External][rng.below(4)];
        let mut graph = Graph {
            values: Vec::new(),
            args: (0..args).map(|_| io(rng)).collect(),
            nodes: Vec::new(),
            returned: Vec::new(),
        };
        for _ in 0..args {
            graph.values.push(Tensor { rows: 2, columns: 4, bytes: 1 + rng.below(2) });
        }
        for id in 0..4 + rng.below(12) {
            graph.grow(id, rng);
        }
        for _ in 0..1 + rng.below(3) {
            let value = graph.values.len() - 1 - rng.below(graph.values.len().min(5));
            graph.returned.push(value);
        }
        graph
    }

    fn push(&mut self, kind: Kind, operands: Vec<usize>, results: Vec<Tensor>, rng: &mut Random) {
        let first = self.values.len();
        let opaque = matches!(kind, Kind::Opaque(_));
        self.nodes.push(Node {
            kind,
            operands,
            results: (first..first + results.len()).collect(),
            scratch: if opaque && rng.chance(30) { 1 + rng.below(9) } else { 0 },
            class: opaque && rng.chance(40),
            keep: rng.chance(6) && !results.is_empty(),
        });
        self.values.extend(results);
    }

    fn grow(&mut self, id: usize, rng: &mut Random) {
        let recent = |graph: &Graph, rng: &mut Random| graph.values.len() - 1 - rng.below(graph.values.len().min(6));
        let a = recent(self, rng);
        let t = self.values[a];
        match rng.below(11) {
            0 | 1 => {
                let b = recent(self, rng);
                let results = 1 + rng.below(2);
                let shape = |rng: &mut Random| Tensor { rows: 2, columns: 4, bytes: 1 + rng.below(2) };
                let results = (0..results).map(|_| shape(rng)).collect();
                self.push(Kind::Opaque(id), vec![a, b], results, rng);
            }
            2 => self.push(Kind::Element(id), vec![a], vec![Tensor { bytes: 1 + rng.below(2), ..t }], rng),
            3 | 4 => {
                let fits = |b: usize, graph: &Graph| {
                    let u = graph.values[b];
                    (u.rows == t.rows || u.rows == 1) && (u.columns == t.columns || u.columns == 1)
                };
                let b = (0..self.values.len()).rev().filter(|b| fits(*b, self)).nth(rng.below(4)).unwrap_or(a);
                self.push(Kind::Element(id), vec![a, b], vec![t], rng);
            }
            5 => self.push(Kind::Reshape, vec![a], vec![Tensor { rows: t.columns, columns: t.rows, ..t }], rng),
            6 if t.rows > 1 && t.columns > 1 => {
                let axis = rng.below(2);
                let size = if axis == 0 { t.rows } else { t.columns };
                let start = rng.below(size);
                let part = 1 + rng.below(size - start);
                let result = if axis == 0 { Tensor { rows: part, ..t } } else { Tensor { columns: part, ..t } };
                self.push(Kind::Slice { axis, start }, vec![a], vec![result], rng);
            }
            7 => {
                let axis = rng.below(2);
                let fits = |b: usize, graph: &Graph| {
                    let u = graph.values[b];
                    u.bytes == t.bytes && if axis == 0 { u.columns == t.columns } else { u.rows == t.rows }
                };
                let b = (0..self.values.len()).rev().filter(|b| fits(*b, self)).nth(rng.below(4)).unwrap_or(a);
                let u = self.values[b];
                if t.count() + u.count() > 40 {
                    return;
                }
                let result = match axis {
                    0 => Tensor { rows: t.rows + u.rows, ..t },
                    _ => Tensor { columns: t.columns + u.columns, ..t },
                };
                self.push(Kind::Concat(axis), vec![a, b], vec![result], rng);
            }
            8 if t.rows.is_multiple_of(2) && t.columns.is_multiple_of(2) => {
                let axis = rng.below(2);
                let half =
                    if axis == 0 { Tensor { rows: t.rows / 2, ..t } } else { Tensor { columns: t.columns / 2, ..t } };
                self.push(Kind::Split(axis), vec![a], vec![half, half], rng);
            }
            9 => self.push(Kind::Transpose, vec![a], vec![Tensor { rows: t.columns, columns: t.rows, ..t }], rng),
            10 => match self.values.iter().rposition(|value| *value == STATE) {
                Some(value) if rng.chance(50) => self.push(Kind::Write(rng.below(VARIABLES)), vec![value], vec![], rng),
                _ => self.push(Kind::Read(rng.below(VARIABLES)), vec![], vec![STATE], rng),
            },
            _ => {}
        }
    }

    /// Fuses pairs of a node and an elementwise reader of its only result, some of them.
    pub(crate) fn fused(&self, rng: &mut Random) -> Graph {
        let mut graph = self.clone();
        let mut at = 0;
        while at < graph.nodes.len() {
            let Some((reader, two)) = graph.partner(at).filter(|_| rng.chance(60)) else {
                at += 1;
                continue;
            };
            let first = graph.nodes[at].clone();
            let then = graph.nodes[reader].clone();
            let Kind::Element(id) = then.kind else { unreachable!("partners are elementwise") };
            let node = &mut graph.nodes[reader];
            node.kind = Kind::Fused {
                first: Box::new(first.kind),
                operands: first.operands.len(),
                then: id,
                two,
                middle: self.values[first.results[0]],
            };
            node.operands = first.operands.iter().chain(&then.operands[1..]).copied().collect();
            node.scratch = 0;
            graph.nodes.remove(at);
        }
        graph
    }

    fn partner(&self, at: usize) -> Option<(usize, bool)> {
        let node = &self.nodes[at];
        let [result] = node.results[..] else { return None };
        let plain = matches!(node.kind, Kind::Opaque(_) | Kind::Element(_)) && node.scratch == 0 && !node.class;
        let readers: Vec<usize> =
            (0..self.nodes.len()).filter(|other| self.nodes[*other].operands.contains(&result)).collect();
        let [reader] = readers[..] else { return None };
        let other = &self.nodes[reader];
        let fits = matches!(other.kind, Kind::Element(_))
            && other.operands[0] == result
            && other.operands[1..].iter().all(|operand| *operand != result)
            && !node.keep
            && !self.returned.contains(&result);
        (plain && fits).then_some((reader, other.operands.len() > 1))
    }

    pub(crate) fn name(&self, value: usize) -> String {
        if value < self.args.len() { format!("%x{value}") } else { format!("%v{value}") }
    }

    /// The text of a module; `extra` gives more attributes of arguments, nodes and the function, `order` the nodes' order.
    pub(crate) fn text(
        &self,
        order: &[usize],
        top: &str,
        func: &str,
        extra: &dyn Fn(usize) -> String,
        arg: &dyn Fn(usize) -> String,
    ) -> String {
        let mut out = format!("{top}\n");
        for variable in 0..VARIABLES {
            let _ = writeln!(out, "\"neap.var\"() {{sym_name = \"s{variable}\", type = {}}} : () -> ()", STATE.text());
        }
        let args: Vec<String> = (0..self.args.len())
            .map(|at| {
                let io = match self.args[at] {
                    Io::Arena => "arena",
                    Io::Held => "held",
                    Io::External => "external",
                };
                format!("%x{at}: {} {{neap.io = \"{io}\"{}}}", self.values[at].text(), arg(at))
            })
            .collect();
        let types: Vec<String> = self.returned.iter().map(|value| self.values[*value].text()).collect();
        let _ =
            writeln!(out, "func.func @main({}) -> ({}) attributes {{{func}}} {{", args.join(", "), types.join(", "));
        for at in order {
            let _ = writeln!(out, "  {}", self.node_text(&self.nodes[*at], &extra(*at)));
        }
        let names: Vec<String> = self.returned.iter().map(|value| self.name(*value)).collect();
        let _ = writeln!(out, "  return {} : {}\n}}", names.join(", "), types.join(", "));
        out
    }

    fn node_text(&self, node: &Node, extra: &str) -> String {
        let tensors = |values: &[usize]| values.iter().map(|value| self.values[*value]).collect::<Vec<_>>();
        let (operands, results) = (tensors(&node.operands), tensors(&node.results));
        let mut attrs = attributes(&node.kind, &results);
        if node.keep {
            attrs += ", neap.keep";
        }
        if node.scratch > 0 {
            attrs += &format!(", neap.scratch = {} : i64", node.scratch);
        }
        if node.class {
            let list = vec!["\"K\""; node.results.len()];
            attrs += &format!(", neap.class = [{}]", list.join(", "));
        }
        let attrs = format!("{attrs}{extra}");
        let attrs = attrs.trim_start_matches(", ");
        let list = |values: &[usize]| values.iter().map(|value| self.name(*value)).collect::<Vec<_>>().join(", ");
        let left = if node.results.is_empty() { String::new() } else { format!("{} = ", list(&node.results)) };
        let types = |list: &[Tensor]| list.iter().map(|t| t.text()).collect::<Vec<_>>().join(", ");
        let region = body(&node.kind, &operands, &results);
        let (name, from, to) = (op_name(&node.kind), types(&operands), types(&results));
        format!("{left}\"{name}\"({}){region} {{{attrs}}} : ({from}) -> ({to})", list(&node.operands))
    }
}

fn op_name(kind: &Kind) -> &'static str {
    match kind {
        Kind::Opaque(_) => "t.opaque",
        Kind::Element(_) => "t.element",
        Kind::Reshape => "t.reshape",
        Kind::Slice { .. } => "t.slice",
        Kind::Concat(_) => "t.concat",
        Kind::Split(_) => "t.split",
        Kind::Transpose => "t.transpose",
        Kind::Read(_) => "neap.read",
        Kind::Write(_) => "neap.write",
        Kind::Fused { .. } => "neap.fused",
    }
}

fn attributes(kind: &Kind, results: &[Tensor]) -> String {
    match kind {
        Kind::Opaque(id) | Kind::Element(id) => format!("id = {id} : i64"),
        Kind::Slice { axis, start } => {
            let start = if *axis == 0 { [*start, 0] } else { [0, *start] };
            let size = [results[0].rows, results[0].columns];
            format!("start = array<i64: {}, {}>, size = array<i64: {}, {}>", start[0], start[1], size[0], size[1])
        }
        Kind::Concat(axis) | Kind::Split(axis) => format!("axis = {axis} : i64"),
        Kind::Transpose => "perm = array<i64: 1, 0>".to_owned(),
        Kind::Read(variable) | Kind::Write(variable) => format!("var = @s{variable}"),
        Kind::Reshape | Kind::Fused { .. } => String::new(),
    }
}

fn body(kind: &Kind, operands: &[Tensor], results: &[Tensor]) -> String {
    let Kind::Fused { first, operands: count, then, two, middle } = kind else { return String::new() };
    let typed: Vec<String> = operands.iter().enumerate().map(|(at, t)| format!("%a{at}: {}", t.text())).collect();
    let names: Vec<String> = (0..*count).map(|at| format!("%a{at}")).collect();
    let types: Vec<String> = operands[..*count].iter().map(|t| t.text()).collect();
    let (name, attrs) = (op_name(first), attributes(first, &[*middle]));
    let mut out = format!(" ({{\n  ^bb0({}):\n", typed.join(", "));
    let _ = writeln!(
        out,
        "    %m = \"{name}\"({}) {{{attrs}}} : ({}) -> {}",
        names.join(", "),
        types.join(", "),
        middle.text()
    );
    let (second, second_ty) = match two {
        true => (format!(", %a{count}"), format!(", {}", operands[*count].text())),
        false => (String::new(), String::new()),
    };
    let to = results[0].text();
    let _ = writeln!(
        out,
        "    %r = \"t.element\"(%m{second}) {{id = {then} : i64}} : ({}{second_ty}) -> {to}",
        middle.text()
    );
    let _ = write!(out, "    \"neap.yield\"(%r) : ({to}) -> ()\n  }})");
    out
}
