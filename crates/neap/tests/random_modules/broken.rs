//! Rules broken on purpose: the passes are told something false, the judges are not.
//!
//! Each row of facts is a rule under which passes act. Here the passes get a table in which one is wrong; what they then make must be
//! refused by the checker, and computes something else in at least one run.

/// What is false, and the table that says it.
pub(crate) const RULES: [(&str, &str); 9] = [
    (
        "a matrix product may overwrite its operand",
        r#"
[[op]]
name = "tfl.fully_connected"
role = "matmul"
effects = "none"
inplace = [{result = 0, operands = 0, rule = "exact"}]
"#,
    ),
    (
        "a transpose moves nothing",
        r#"
[[op]]
name = ["tfl.transpose", "onnx.Transpose"]
role = "reshape"
effects = "none"
shape_operands = 1
views = [{results = 0, operand = 0}]
"#,
    ),
    (
        "a read of a variable waits for nothing",
        r#"
[[op]]
name = "neap.read"
role = "opaque"
effects = "none"
"#,
    ),
    (
        "a write of a variable does nothing that matters",
        r#"
[[op]]
name = "neap.write"
role = "opaque"
effects = "none"
"#,
    ),
    (
        "an operation that nobody knows is pure",
        r#"
[[op]]
name = "odd.op"
role = "opaque"
effects = "none"
"#,
    ),
    (
        "parts lie one after the other whatever the axis",
        r#"
[[op]]
name = "tfl.concatenation"
role = "concat"
effects = "none"
axis = {default = 0}
"#,
    ),
    (
        "a softmax is elementwise",
        r#"
[[op]]
name = "tfl.softmax"
role = "elementwise"
effects = "none"
inplace = "lockstep"
"#,
    ),
    (
        "a loop runs once",
        r#"
[[op]]
name = "neap.for"
role = "for"
effects = "none"
body = {run = "once", callees = ["body"], args = "1..", lead = 1}

[[op]]
name = "neap.while"
role = "while"
effects = "none"
body = {run = "once", callees = ["cond", "body"], args = "0..", cond = 0}
"#,
    ),
    (
        "what goes out is seen by nobody",
        r#"
[[op]]
name = ["stablehlo.outfeed", "stablehlo.infeed"]
role = "opaque"
effects = "none"
"#,
    ),
];
