//! Per law an example and a near miss.

use super::body::{Body, Sizes, start};

/// What a case makes of sizes: a function, and how many operations of it are left besides constants and unknown functions.
pub(super) type Case = fn(Sizes) -> (String, usize);

/// Per law: its name, the example, the near miss.
pub(super) const CASES: &[(&str, Case, Case)] = &[
    (
        "same-form",
        |s| {
            let (mut body, x) = start(s);
            let v = body.reshape(&x, &[s.a, s.b, s.c]);
            (body.end(&[v]), 0)
        },
        |s| {
            let (mut body, x) = start(s);
            let v = body.op("stablehlo.bitcast_convert", &[&x], "", &[s.a, s.b, s.c], "f32");
            (body.end(&[v]), 1)
        },
    ),
    (
        "bits-of-bits",
        |s| {
            let (mut body, x) = start(s);
            let flat = body.reshape(&x, &[s.a * s.b * s.c]);
            let v = body.reshape(&flat, &[s.a, s.b, s.c]);
            (body.end(&[v]), 0)
        },
        |s| {
            let (mut body, x) = start(s);
            let flat = body.reshape(&x, &[s.a * s.b * s.c]);
            let sorted = body.op("stablehlo.sort", &[&flat], "", &flat.dims.clone(), "i32");
            let v = body.reshape(&sorted, &[s.a, s.b, s.c]);
            (body.end(&[v]), 3)
        },
    ),
    (
        "perm-of-perm",
        |s| {
            let (mut body, x) = start(s);
            let t = body.turn(&x, &[2, 0, 1]);
            let v = body.turn(&t, &[1, 2, 0]);
            (body.end(&[v]), 0)
        },
        |s| {
            let (mut body, x) = start(s);
            let t = body.turn(&x, &[2, 0, 1]);
            let v = body.turn(&t, &[2, 0, 1]);
            (body.end(&[v]), 1)
        },
    ),
    (
        "perm-of-units",
        |s| {
            let mut body = Body::default();
            let x = body.arg(&[s.a, 1, s.c], "i32");
            let t = body.turn(&x, &[1, 0, 2]);
            let v = body.reshape(&t, &[s.a, 1, s.c]);
            (body.end(&[v]), 0)
        },
        |s| {
            let mut body = Body::default();
            let x = body.arg(&[s.a, 2, s.c], "i32");
            let t = body.turn(&x, &[1, 0, 2]);
            let v = body.reshape(&t, &[s.a, 2, s.c]);
            (body.end(&[v]), 2)
        },
    ),
    (
        "cut-of-all",
        |s| {
            let (mut body, x) = start(s);
            let v = body.slice(&x, &[(0, s.a, 1), (0, s.b, 1), (0, s.c, 1)]);
            (body.end(&[v]), 0)
        },
        |s| {
            let (mut body, x) = start(s);
            let v = body.slice(&x, &[(0, s.a, 1), (0, s.b, 1), (1, s.c, 1)]);
            (body.end(&[v]), 1)
        },
    ),
    (
        "cut-of-cut",
        |s| {
            let (mut body, x) = start(s);
            let t = body.slice(&x, &[(0, s.a, 1), (0, s.b, 1), (1, s.c, 2)]);
            let v = body.slice(&t, &[(0, s.a, 1), (1, s.b, 1), (1, t.dims[2], 1)]);
            (body.end(&[v]), 1)
        },
        |s| {
            let (mut body, x) = start(s);
            let t = body.slice(&x, &[(0, s.a, 1), (0, s.b, 1), (1, s.c, 2)]);
            let v = body.slice(&t, &[(0, s.a, 1), (1, s.b, 1), (1, t.dims[2], 1)]);
            // Read elsewhere, the first one is needed in any case.
            (body.end(&[v, t]), 2)
        },
    ),
    (
        "cut-of-perm",
        |s| {
            let (mut body, x) = start(s);
            let t = body.turn(&x, &[2, 0, 1]);
            let t = body.slice(&t, &[(1, s.c, 1), (0, s.a, 1), (1, s.b, 1)]);
            let v = body.turn(&t, &[1, 2, 0]);
            (body.end(&[v]), 1)
        },
        |s| {
            let (mut body, x) = start(s);
            let t = body.turn(&x, &[2, 0, 1]);
            let t = body.slice(&t, &[(1, s.c, 1), (0, s.a, 1), (1, s.b, 1)]);
            let v = body.turn(&t, &[2, 0, 1]);
            (body.end(&[v]), 2)
        },
    ),
    (
        "cut-of-pad",
        |s| {
            let (mut body, x) = start(s);
            let p = body.pad(&x, &[1, 2, 0], &[0, 1, 0]);
            let v = body.slice(&p, &[(1, 1 + s.a, 1), (2, 2 + s.b, 1), (0, s.c, 1)]);
            (body.end(&[v]), 0)
        },
        |s| {
            let (mut body, x) = start(s);
            let p = body.pad(&x, &[1, 2, 0], &[0, 1, 0]);
            let v = body.slice(&p, &[(1, 1 + s.a, 1), (1, 1 + s.b, 1), (0, s.c, 1)]);
            (body.end(&[v]), 2)
        },
    ),
    (
        "pad-of-none",
        |s| {
            let (mut body, x) = start(s);
            let v = body.pad(&x, &[0, 0, 0], &[0, 0, 0]);
            (body.end(&[v]), 0)
        },
        |s| {
            let (mut body, x) = start(s);
            let v = body.pad(&x, &[0, 0, 0], &[0, 1, 0]);
            (body.end(&[v]), 1)
        },
    ),
    (
        "spread-of-same",
        |s| {
            let (mut body, x) = start(s);
            let v = body.spread(&x, &[0, 1, 2], &[s.a, s.b, s.c]);
            (body.end(&[v]), 0)
        },
        |s| {
            let mut body = Body::default();
            let x = body.arg(&[s.a, 1, s.c], "i32");
            let v = body.spread(&x, &[0, 1, 2], &[s.a, s.b, s.c]);
            (body.end(&[v]), 1)
        },
    ),
    (
        "spread-of-spread",
        |s| {
            let mut body = Body::default();
            let x = body.arg(&[s.c], "i32");
            let t = body.spread(&x, &[1], &[s.b, s.c]);
            let v = body.spread(&t, &[1, 2], &[s.a, s.b, s.c]);
            (body.end(&[v]), 1)
        },
        |s| {
            let mut body = Body::default();
            let x = body.arg(&[s.c], "i32");
            let t = body.spread(&x, &[1], &[s.b, s.c]);
            let t = body.op("stablehlo.sort", &[&t], "", &t.dims.clone(), "i32");
            let v = body.spread(&t, &[1, 2], &[s.a, s.b, s.c]);
            (body.end(&[v]), 3)
        },
    ),
    (
        "join-of-one",
        |s| {
            let (mut body, x) = start(s);
            let v = body.concat(&[&x], 1);
            (body.end(&[v]), 0)
        },
        |s| {
            let (mut body, x) = start(s);
            let v = body.concat(&[&x, &x], 1);
            (body.end(&[v]), 1)
        },
    ),
    (
        "join-of-cuts",
        |s| {
            let (mut body, x) = start(s);
            let a = body.slice(&x, &[(0, s.a, 1), (0, 2, 1), (0, s.c, 1)]);
            let b = body.slice(&x, &[(0, s.a, 1), (2, s.b, 1), (0, s.c, 1)]);
            let v = body.concat(&[&a, &b], 1);
            (body.end(&[v]), 0)
        },
        |s| {
            let (mut body, x) = start(s);
            let a = body.slice(&x, &[(0, s.a, 1), (0, 2, 1), (0, s.c, 1)]);
            let b = body.slice(&x, &[(0, s.a, 1), (2, s.b, 1), (0, s.c, 1)]);
            let v = body.concat(&[&b, &a], 1);
            (body.end(&[v]), 3)
        },
    ),
    (
        "cut-of-join",
        |s| {
            let (mut body, x) = start(s);
            let y = body.arg(&[s.a, s.b + 1, s.c], "i32");
            let j = body.concat(&[&x, &y], 1);
            let v = body.slice(&j, &[(0, s.a, 1), (s.b, 2 * s.b + 1, 1), (0, s.c, 1)]);
            (body.end(&[v]), 0)
        },
        |s| {
            let (mut body, x) = start(s);
            let y = body.arg(&[s.a, s.b + 1, s.c], "i32");
            let j = body.concat(&[&x, &y], 1);
            let v = body.slice(&j, &[(0, s.a, 1), (s.b - 1, 2 * s.b, 1), (0, s.c, 1)]);
            (body.end(&[v]), 2)
        },
    ),
    (
        "map-of-perm",
        |s| {
            let (mut body, x) = start(s);
            let t = body.turn(&x, &[2, 0, 1]);
            let e = body.unary("stablehlo.abs", &t);
            let v = body.turn(&e, &[1, 2, 0]);
            (body.end(&[v]), 1)
        },
        |s| {
            let (mut body, x) = start(s);
            let t = body.turn(&x, &[2, 0, 1]);
            let e = body.op("onnx.Softmax", &[&t], "axis = 1 : si64", &t.dims.clone(), "i32");
            let v = body.turn(&e, &[1, 2, 0]);
            (body.end(&[v]), 3)
        },
    ),
    (
        "bits-of-map",
        |s| {
            let (mut body, x) = start(s);
            let t = body.reshape(&x, &[s.a * s.b, s.c]);
            let e = body.unary("stablehlo.abs", &t);
            let v = body.reshape(&e, &[s.a, s.b, s.c]);
            (body.end(&[v]), 1)
        },
        |s| {
            let (mut body, x) = start(s);
            let t = body.op("stablehlo.bitcast_convert", &[&x], "", &[s.a, s.b, s.c], "f32");
            let e = body.unary("stablehlo.abs", &t);
            let v = body.op("stablehlo.bitcast_convert", &[&e], "", &[s.a, s.b, s.c], "i32");
            (body.end(&[v]), 3)
        },
    ),
    (
        "cut-of-map",
        |s| {
            let (mut body, x) = start(s);
            let first = body.slice(&x, &[(0, s.a, 1), (0, s.b, 1), (0, 2, 1)]);
            let e = body.unary("stablehlo.abs", &x);
            let v = body.slice(&e, &[(0, s.a, 1), (0, s.b, 1), (0, 2, 1)]);
            (body.end(&[v, first]), 2)
        },
        |s| {
            let (mut body, x) = start(s);
            let first = body.slice(&x, &[(0, s.a, 1), (0, s.b, 1), (0, 2, 1)]);
            let e = body.op("onnx.Softmax", &[&x], "axis = 2 : si64", &x.dims.clone(), "i32");
            let v = body.slice(&e, &[(0, s.a, 1), (0, s.b, 1), (0, 2, 1)]);
            (body.end(&[v, first]), 3)
        },
    ),
    (
        "quantize-of-dequantize",
        |s| {
            let mut body = Body::default();
            let x = body.arg(&[s.a, s.b], "!quant.uniform<i8:f32, 0.25:3>");
            let t = body.op("tfl.dequantize", &[&x], "", &[s.a, s.b], "f32");
            let v = body.op("tfl.quantize", &[&t], "", &[s.a, s.b], "!quant.uniform<i8:f32, 0.25:3>");
            (body.end(&[v]), 0)
        },
        |s| {
            let mut body = Body::default();
            let x = body.arg(&[s.a, s.b], "!quant.uniform<i8:f32, 0.25:3>");
            let t = body.op("tfl.dequantize", &[&x], "", &[s.a, s.b], "f32");
            let v = body.op("tfl.quantize", &[&t], "", &[s.a, s.b], "!quant.uniform<i8:f32, 0.25:4>");
            (body.end(&[v]), 2)
        },
    ),
    (
        "neutral-operand",
        |s| {
            let mut body = Body::default();
            let x = body.arg(&[s.a, s.b], "i32");
            let value = format!("value = dense<0> : tensor<{}x{}xi32>", s.a, s.b);
            let zero = body.op("stablehlo.constant", &[], &value, &[s.a, s.b], "i32");
            let v = body.op("stablehlo.subtract", &[&x, &zero], "", &[s.a, s.b], "i32");
            (body.end(&[v]), 0)
        },
        |s| {
            let mut body = Body::default();
            let x = body.arg(&[s.a, s.b], "i32");
            let value = format!("value = dense<0> : tensor<{}x{}xi32>", s.a, s.b);
            let zero = body.op("stablehlo.constant", &[], &value, &[s.a, s.b], "i32");
            let v = body.op("stablehlo.subtract", &[&zero, &x], "", &[s.a, s.b], "i32");
            (body.end(&[v]), 1)
        },
    ),
];
