//! Random modules as text, from a seed.

mod rng;

pub(crate) use rng::Rng;
use std::fmt::Write;

/// A value that an operation may read.
#[derive(Clone)]
struct Value {
    name: String,
    shape: &'static str,
}

/// The shapes that values have: the same 64 elements in several forms, and two of them joined.
const SHAPES: [&str; 4] = ["8x8", "64", "4x16", "128"];

/// A function of about `ops` operations: elementwise chains after heavy ones, views, joins and windows, reads and writes of a variable, a branch,
/// operations of no known kind, scratch.
pub(crate) fn module(rng: &mut Rng, ops: usize) -> String {
    let mut out = String::from("\"neap.var\"() {sym_name = \"state\", type = tensor<64xf32>} : () -> ()\n");
    let args: Vec<Value> =
        (0..1 + rng.below(3)).map(|at| Value { name: format!("%arg{at}"), shape: SHAPES[at % 3] }).collect();
    let listed: Vec<String> =
        args.iter().map(|arg| format!("{}: tensor<{}xf32>{}", arg.name, arg.shape, io(rng))).collect();
    let mut body = Body { values: args, next: 0, text: String::new() };
    for _ in 0..ops {
        body.op(rng);
    }
    let last = body.values.len() - 1;
    let mut results: Vec<Value> =
        (0..1 + rng.below(2)).map(|_| body.values[last - rng.below((last + 1).min(4))].clone()).collect();
    results.dedup_by(|a, b| a.name == b.name);
    let types: Vec<String> = results.iter().map(|value| format!("tensor<{}xf32>", value.shape)).collect();
    let names: Vec<&str> = results.iter().map(|value| value.name.as_str()).collect();
    let _ = writeln!(out, "func.func @main({}) -> ({}) {{", listed.join(", "), types.join(", "));
    let _ = writeln!(out, "{}  return {} : {}\n}}", body.text, names.join(", "), types.join(", "));
    out
}

fn io(rng: &mut Rng) -> &'static str {
    [" {neap.io = \"held\"}", " {neap.io = \"external\"}", "", "", ""][rng.below(5)]
}

struct Body {
    values: Vec<Value>,
    next: usize,
    text: String,
}

impl Body {
    /// A recent value more often than an old one.
    fn pick(&self, rng: &mut Rng, shape: Option<&str>) -> Option<Value> {
        let fits: Vec<&Value> =
            self.values.iter().filter(|value| shape.is_none_or(|shape| value.shape == shape)).collect();
        let near = fits.len().min(1 + rng.below(6));
        (!fits.is_empty()).then(|| fits[fits.len() - 1 - rng.below(near)].clone())
    }

    fn fresh(&mut self, shape: &'static str) -> String {
        let name = format!("%v{}", self.next);
        self.next += 1;
        self.values.push(Value { name: name.clone(), shape });
        name
    }

    fn op(&mut self, rng: &mut Rng) {
        let shape = SHAPES[rng.below(3)];
        match rng.below(13) {
            0..=3 => self.elementwise(rng),
            4 => self.line(rng, shape, |_, a, ty| {
                format!("\"stablehlo.reshape\"({}) : (tensor<{}xf32>) -> {ty}", a.name, a.shape)
            }),
            5 => self.matmul(rng),
            6 => self.join(rng),
            7 => self.window(rng),
            8 => {
                let name = self.fresh("64");
                let _ = writeln!(self.text, "  {name} = \"neap.read\"() {{var = @state}} : () -> tensor<64xf32>");
            }
            9 => {
                if let Some(value) = self.pick(rng, Some("64")) {
                    let _ = writeln!(
                        self.text,
                        "  \"neap.write\"({}) {{var = @state}} : (tensor<64xf32>) -> ()",
                        value.name
                    );
                }
            }
            10 => self.branch(rng),
            11 => self.line(rng, shape, |rng, a, ty| {
                let scratch = 4 * rng.below(100);
                format!(
                    "\"neap.opaque\"({}) {{neap.scratch = {scratch} : i64}} : (tensor<{}xf32>) -> {ty}",
                    a.name, a.shape
                )
            }),
            _ => {
                self.line(rng, shape, |_, a, ty| format!("\"odd.op\"({}) : (tensor<{}xf32>) -> {ty}", a.name, a.shape))
            }
        }
    }

    /// An operation of one operand.
    fn line(&mut self, rng: &mut Rng, shape: &'static str, op: impl Fn(&mut Rng, &Value, &str) -> String) {
        let Some(operand) = self.pick(rng, None).filter(|value| value.shape != "128") else { return };
        let text = op(rng, &operand, &format!("tensor<{shape}xf32>"));
        let name = self.fresh(shape);
        let _ = writeln!(self.text, "  {name} = {text}");
    }

    fn elementwise(&mut self, rng: &mut Rng) {
        let Some(a) = self.pick(rng, None) else { return };
        let b = self.pick(rng, Some(a.shape)).unwrap_or_else(|| a.clone());
        let (name, ty) = (self.fresh(a.shape), format!("tensor<{}xf32>", a.shape));
        let _ = match rng.below(4) {
            0 => writeln!(self.text, "  {name} = \"stablehlo.add\"({}, {}) : ({ty}, {ty}) -> {ty}", a.name, b.name),
            1 => {
                writeln!(self.text, "  {name} = \"stablehlo.multiply\"({}, {}) : ({ty}, {ty}) -> {ty}", a.name, b.name)
            }
            2 => writeln!(self.text, "  {name} = \"stablehlo.tanh\"({}) : ({ty}) -> {ty}", a.name),
            _ => writeln!(self.text, "  {name} = \"stablehlo.abs\"({}) : ({ty}) -> {ty}", a.name),
        };
    }

    fn matmul(&mut self, rng: &mut Rng) {
        let (Some(a), Some(b)) = (self.pick(rng, Some("8x8")), self.pick(rng, Some("8x8"))) else { return };
        let name = self.fresh("8x8");
        let ty = "tensor<8x8xf32>";
        let _ = writeln!(self.text, "  {name} = \"tosa.matmul\"({}, {}) : ({ty}, {ty}) -> {ty}", a.name, b.name);
    }

    fn join(&mut self, rng: &mut Rng) {
        let (Some(a), Some(b)) = (self.pick(rng, Some("64")), self.pick(rng, Some("64"))) else { return };
        let name = self.fresh("128");
        let _ = writeln!(
            self.text,
            "  {name} = \"stablehlo.concatenate\"({}, {}) {{dimension = 0 : i64}} : (tensor<64xf32>, tensor<64xf32>) -> tensor<128xf32>",
            a.name, b.name
        );
    }

    fn window(&mut self, rng: &mut Rng) {
        let Some(a) = self.pick(rng, Some("128")) else { return };
        let (name, start) = (self.fresh("64"), rng.below(65));
        let _ = writeln!(
            self.text,
            "  {name} = \"stablehlo.slice\"({}) {{limit_indices = array<i64: {}>, start_indices = array<i64: {start}>, strides = array<i64: 1>}} : (tensor<128xf32>) -> tensor<64xf32>",
            a.name,
            start + 64
        );
    }

    fn branch(&mut self, rng: &mut Rng) {
        let (Some(a), Some(captured)) = (self.pick(rng, Some("64")), self.pick(rng, Some("64"))) else { return };
        let name = self.fresh("64");
        let ty = "tensor<64xf32>";
        let inner = name.trim_start_matches('%');
        let _ = writeln!(
            self.text,
            "  %p{inner} = \"neap.constant\"() : () -> i1\n  {name} = \"neap.if\"(%p{inner}, {}) ({{\n  ^bb0(%t{inner}: {ty}):\n    %s{inner} = \"stablehlo.tanh\"(%t{inner}) : ({ty}) -> {ty}\n    %u{inner} = \"stablehlo.add\"(%s{inner}, {}) : ({ty}, {ty}) -> {ty}\n    \"neap.yield\"(%u{inner}) : ({ty}) -> ()\n  }}, {{\n  ^bb0(%e{inner}: {ty}):\n    %w{inner} = \"stablehlo.abs\"(%e{inner}) : ({ty}) -> {ty}\n    \"neap.yield\"(%w{inner}) : ({ty}) -> ()\n  }}) : (i1, {ty}) -> {ty}",
            a.name, captured.name
        );
    }
}
