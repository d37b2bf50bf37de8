//! Functions as text, of random shapes.

use std::fmt::Write;

/// Three different sizes from 3 on: dimensions of size 1 are another case, and equal ones hide mistakes.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    pub(super) a: u64,
    pub(super) b: u64,
    pub(super) c: u64,
}

impl Sizes {
    pub(super) fn random(seed: u64) -> Sizes {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) % 5
        };
        let a = 3 + next();
        let b = a + 1 + next();
        // Every other shape has a long innermost dimension: what a law moves is followed by structure, not by size.
        Sizes { a, b, c: (b + 1 + next()) * if seed.is_multiple_of(2) { 1 } else { 1_000 } }
    }
}

/// A function's text under construction; values have dimensions.
#[derive(Default)]
pub(super) struct Body {
    text: String,
    args: Vec<String>,
    count: usize,
}

#[derive(Clone)]
pub(super) struct Value {
    name: String,
    pub(super) dims: Vec<u64>,
    elem: &'static str,
}

impl Value {
    pub(super) fn ty(&self) -> String {
        let dims: String = self.dims.iter().map(|size| format!("{size}x")).collect();
        format!("tensor<{dims}{}>", self.elem)
    }
}

impl Body {
    pub(super) fn arg(&mut self, dims: &[u64], elem: &'static str) -> Value {
        let value = Value { name: format!("%x{}", self.args.len()), dims: dims.to_vec(), elem };
        self.args.push(format!("{}: {}", value.name, value.ty()));
        value
    }

    pub(super) fn op(
        &mut self,
        name: &str,
        operands: &[&Value],
        attrs: &str,
        dims: &[u64],
        elem: &'static str,
    ) -> Value {
        self.count += 1;
        let result = Value { name: format!("%v{}", self.count), dims: dims.to_vec(), elem };
        let names: Vec<&str> = operands.iter().map(|value| value.name.as_str()).collect();
        let types: Vec<String> = operands.iter().map(|value| value.ty()).collect();
        writeln!(
            self.text,
            "  {} = \"{name}\"({}) {{{attrs}}} : ({}) -> {}",
            result.name,
            names.join(", "),
            types.join(", "),
            result.ty()
        )
        .expect("strings can be written");
        result
    }

    pub(super) fn unary(&mut self, name: &str, x: &Value) -> Value {
        self.op(name, &[x], "", &x.dims.clone(), x.elem)
    }

    pub(super) fn reshape(&mut self, x: &Value, dims: &[u64]) -> Value {
        self.op("stablehlo.reshape", &[x], "", dims, x.elem)
    }

    pub(super) fn turn(&mut self, x: &Value, perm: &[usize]) -> Value {
        let dims: Vec<u64> = perm.iter().map(|axis| x.dims[*axis]).collect();
        let list = format!("{perm:?}");
        let attrs = format!("permutation = array<i64: {}>", list.trim_matches(['[', ']']));
        self.op("stablehlo.transpose", &[x], &attrs, &dims, x.elem)
    }

    /// From, to and step per dimension.
    pub(super) fn slice(&mut self, x: &Value, spans: &[(u64, u64, u64)]) -> Value {
        let list = |pick: fn(&(u64, u64, u64)) -> u64| {
            spans.iter().map(pick).map(|at| at.to_string()).collect::<Vec<_>>().join(", ")
        };
        let attrs = format!(
            "start_indices = array<i64: {}>, limit_indices = array<i64: {}>, strides = array<i64: {}>",
            list(|span| span.0),
            list(|span| span.1),
            list(|span| span.2)
        );
        let dims: Vec<u64> = spans.iter().map(|(from, to, step)| (to - from).div_ceil(*step)).collect();
        self.op("stablehlo.slice", &[x], &attrs, &dims, x.elem)
    }

    pub(super) fn concat(&mut self, parts: &[&Value], axis: usize) -> Value {
        let mut dims = parts[0].dims.clone();
        dims[axis] = parts.iter().map(|part| part.dims[axis]).sum();
        self.op("stablehlo.concatenate", parts, &format!("dimension = {axis} : i64"), &dims, parts[0].elem)
    }

    pub(super) fn pad(&mut self, x: &Value, low: &[u64], high: &[u64]) -> Value {
        let fill = self.op("stablehlo.constant", &[], "value = dense<7> : tensor<i32>", &[], "i32");
        let list = |values: &[u64]| values.iter().map(|at| at.to_string()).collect::<Vec<_>>().join(", ");
        let zeros = list(&vec![0; low.len()]);
        let attrs = format!(
            "edge_padding_low = array<i64: {}>, edge_padding_high = array<i64: {}>, interior_padding = array<i64: {zeros}>",
            list(low),
            list(high)
        );
        let dims: Vec<u64> = x.dims.iter().zip(low).zip(high).map(|((size, low), high)| size + low + high).collect();
        self.op("stablehlo.pad", &[x, &fill], &attrs, &dims, x.elem)
    }

    pub(super) fn spread(&mut self, x: &Value, onto: &[usize], dims: &[u64]) -> Value {
        let list = format!("{onto:?}");
        let attrs = format!("broadcast_dimensions = array<i64: {}>", list.trim_matches(['[', ']']));
        self.op("stablehlo.broadcast_in_dim", &[x], &attrs, dims, x.elem)
    }

    /// The function that hands out what an unknown function makes of some values.
    pub(super) fn end(mut self, results: &[Value]) -> String {
        let results: Vec<Value> = results.iter().map(|value| self.unary("neap.opaque", value)).collect();
        let names: Vec<&str> = results.iter().map(|value| value.name.as_str()).collect();
        let types: Vec<String> = results.iter().map(Value::ty).collect();
        let (names, types) = (names.join(", "), types.join(", "));
        format!(
            "func.func @main({}) -> ({types}) {{\n{}  return {names} : {types}\n}}\n",
            self.args.join(", "),
            self.text
        )
    }
}

pub(super) fn start(s: Sizes) -> (Body, Value) {
    let mut body = Body::default();
    let x = body.arg(&[s.a, s.b, s.c], "i32");
    (body, x)
}
