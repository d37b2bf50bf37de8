//! DenseNet-121 as text: every layer's features are joined to all before them. The parts are written straight into their wholes, wholes into
//! larger wholes, and the peak is proved for the graph after fusion.

use neap_check::{Options, check};
use neap_ir::facts::Facts;
use neap_ir::{Attr, Module, OpId, parse, plan};
use neap_passes::pipeline::{Pipeline, Quiet, Run, run};
use neap_passes::profile::Profile;
use std::fmt::Write;

/// Channels that a layer adds.
const GROWTH: u64 = 32;
/// Layers of the blocks.
const BLOCKS: [u64; 4] = [6, 12, 24, 16];

#[derive(Clone)]
struct Value {
    name: String,
    dims: Vec<u64>,
}

impl Value {
    fn ty(&self) -> String {
        format!("tensor<{}xf32>", self.dims.iter().map(u64::to_string).collect::<Vec<_>>().join("x"))
    }
}

struct Net {
    text: String,
    count: usize,
    /// What the concatenations ask for.
    reuse: &'static str,
}

impl Net {
    fn op(&mut self, name: &str, operands: &[&Value], attrs: &str, dims: Vec<u64>) -> Value {
        self.count += 1;
        let value = Value { name: format!("%v{}", self.count), dims };
        let names: Vec<&str> = operands.iter().map(|value| value.name.as_str()).collect();
        let types: Vec<String> = operands.iter().map(|value| value.ty()).collect();
        writeln!(
            self.text,
            "  {} = \"{name}\"({}) {{{attrs}}} : ({}) -> {}",
            value.name,
            names.join(", "),
            types.join(", "),
            value.ty()
        )
        .expect("strings can be written");
        value
    }

    fn weights(&mut self, dims: Vec<u64>) -> Value {
        let ty = Value { name: String::new(), dims: dims.clone() }.ty();
        let name = format!("neap.name = \"w{}\", value = dense_resource<__elided__> : {ty}", self.count);
        self.op("onnx.Constant", &[], &name, dims)
    }

    fn normalised(&mut self, x: &Value) -> Value {
        let parameters: Vec<Value> = (0..4).map(|_| self.weights(vec![x.dims[1]])).collect();
        let operands: Vec<&Value> = std::iter::once(x).chain(&parameters).collect();
        let normal = self.op("onnx.BatchNormalizationInferenceMode", &operands, "", x.dims.clone());
        self.op("onnx.Relu", &[&normal], "", normal.dims.clone())
    }

    fn conv(&mut self, x: &Value, channels: u64, kernel: u64, stride: u64) -> Value {
        let (w, b) = (self.weights(vec![channels, x.dims[1], kernel, kernel]), self.weights(vec![channels]));
        self.op("onnx.Conv", &[x, &w, &b], "", vec![1, channels, x.dims[2] / stride, x.dims[3] / stride])
    }

    fn pool(&mut self, x: &Value) -> Value {
        self.op("onnx.AveragePool", &[x], "", vec![1, x.dims[1], x.dims[2] / 2, x.dims[3] / 2])
    }

    fn join(&mut self, x: &Value, y: &Value) -> Value {
        let mut dims = x.dims.clone();
        dims[1] += y.dims[1];
        let attrs = format!("axis = 1 : si64, neap.reuse = \"{}\"", self.reuse);
        self.op("onnx.Concat", &[x, y], &attrs, dims)
    }

    fn densenet121(reuse: &'static str) -> String {
        let mut net = Net { text: String::new(), count: 0, reuse };
        let x = Value { name: "%x".to_owned(), dims: vec![1, 3, 224, 224] };
        let first = net.conv(&x, 64, 7, 2);
        let first = net.normalised(&first);
        let mut y = net.pool(&first);
        for (block, layers) in BLOCKS.into_iter().enumerate() {
            for _ in 0..layers {
                let inner = net.normalised(&y);
                let inner = net.conv(&inner, 4 * GROWTH, 1, 1);
                let inner = net.normalised(&inner);
                let new = net.conv(&inner, GROWTH, 3, 1);
                y = net.join(&y, &new);
            }
            y = net.normalised(&y);
            if block < BLOCKS.len() - 1 {
                let half = net.conv(&y, y.dims[1] / 2, 1, 1);
                y = net.pool(&half);
            }
        }
        let (body, results) = (net.text, y.ty());
        format!("func.func @main(%x: {}) -> {results} {{\n{body}  return {} : {results}\n}}\n", x.ty(), y.name)
    }
}

fn planned(text: &str) -> Module {
    let (facts, profile) = (Facts::builtin(), Profile::builtin("none").expect("embedded"));
    let source = parse(text).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let mut module = source.clone();
    let pipeline = Pipeline::parse("plan").expect("it is in the registry");
    let settings = Run { facts: &facts, profile: &profile, stop: &|| false, verify_each: true };
    run(&mut module, &pipeline, settings, &mut Quiet).unwrap_or_else(|error| panic!("{error}"));
    let report = check(&source, &module, &facts, &Options::default());
    assert!(report.accepted(), "{:#?}", report.diagnostics());
    module
}

/// Operands that concatenations copy, and how many concatenations there are.
fn copies(module: &Module) -> (usize, usize) {
    let func = module.functions()[0];
    let joins: Vec<OpId> = module.walk(func).into_iter().filter(|op| module.op_name(*op) == "onnx.Concat").collect();
    let copied = joins.iter().map(|op| module.operands(*op).len() - module.places(*op, plan::PLACE).len());
    (copied.sum(), joins.len())
}

fn number(module: &Module, key: &str) -> i64 {
    module.attr(module.functions()[0], key).and_then(Attr::as_i64).expect("it is planned")
}

#[test]
fn no_concatenation_copies_where_that_is_asked_for_and_the_peak_is_proved() {
    let module = planned(&Net::densenet121("must"));
    assert_eq!(copies(&module), (0, 58));
    let proof = module.attr(module.functions()[0], plan::PROOF).and_then(Attr::as_str);
    assert_eq!((number(&module, plan::PEAK), proof), (number(&module, plan::LOWER_BOUND), Some("certified")));
    assert_eq!(number(&module, plan::ARENA_BYTES), number(&module, plan::PEAK));
}

#[test]
fn left_alone_it_copies_only_where_that_saves_bytes() {
    let (asked, free) = (planned(&Net::densenet121("must")), planned(&Net::densenet121("auto")));
    let (copied, joins) = copies(&free);
    // The last concatenation of the first block: while its part is made, the peak is there, and the whole would be larger than its parts so far.
    assert_eq!((copied, joins), (2, 58));
    assert!(number(&free, plan::PEAK) < number(&asked, plan::PEAK));
    let proof = free.attr(free.functions()[0], plan::PROOF).and_then(Attr::as_str);
    assert_eq!((number(&free, plan::PEAK), proof), (number(&free, plan::LOWER_BOUND), Some("certified")));
}
