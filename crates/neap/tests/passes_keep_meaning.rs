//! The passes that rewrite keep the meaning of random modules, whichever of them run: the independent checker compares both. Once
//! effects are locked, any order that SSA allows has to mean the same as well. Then every subset is planned, too, and the plan run
//! through its bytes.
//!
//! The modules are made of what the passes act on: movements of elements that may cancel, elementwise chains, heavy operations, joins,
//! splits, variables read as copies and as views, branches. The sequence of random numbers is part of the test.

#[path = "support/rng.rs"]
mod rng;

use neap_check::{Options, check, check_semantics};
use neap_ir::facts::Facts;
use neap_ir::verify::verify;
use neap_ir::{BlockId, Module, OpId, PrintOptions, parse, print};
use neap_passes::locks::Flow;
use neap_passes::pipeline::{PassReport, Pipeline, Quiet, Run, run};
use neap_passes::profile::Profile;
use rng::Rng;
use std::collections::BTreeMap;
use std::fmt::Write;

const PASSES: [&str; 5] = ["fuse", "canonicalize-views", "lock-effects", "dce", "cse"];
const MODULES: u64 = 600;

#[test]
fn every_subset_of_passes_keeps_the_meaning() {
    let mut did: BTreeMap<String, u32> = BTreeMap::new();
    for seed in 1..=MODULES {
        let text = Program::random(seed).text;
        let source = parse(&text).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"));
        verify(&source).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"));
        for subset in subsets(seed) {
            let mut reports = transform(&source, &subset, &text);
            // Where a view of state is read after a write, the listed order is none until the locks say which comes first.
            if subset.contains("lock-effects") {
                reports.extend(plan(&source, &subset, &text));
            }
            for report in reports {
                for (key, count) in report.stats {
                    *did.entry(format!("{} {key}", report.name)).or_default() += u32::from(count > 0);
                }
            }
        }
    }
    // What never happened was not tested.
    let often = [
        "canonicalize-views in-place",
        "canonicalize-views placed",
        "canonicalize-views views",
        "cse erased",
        "dce erased",
        "fuse cancelled",
        "fuse composed",
        "fuse fused",
        "lock-effects copied",
        "lock-effects edges",
        "lock-effects moved",
        "reorder in-place",
        "reorder placed",
    ];
    for key in often {
        assert!(did.get(key).is_some_and(|count| *count >= 20), "`{key}` happened too rarely: {did:#?}");
    }
}

/// All passes in order, those of a plan, the locks alone, `cse` before anything else makes equal operations one, and two other subsets.
fn subsets(seed: u64) -> Vec<String> {
    let subset = |mask: u64| {
        let chosen = PASSES.iter().enumerate().filter(|(at, _)| mask >> at & 1 == 1).map(|(_, pass)| *pass);
        chosen.collect::<Vec<_>>().join(",")
    };
    vec![subset(31), subset(7), subset(4), subset(16), subset(seed % 31), subset(seed / 31 % 31)]
}

/// The module after a pipeline, and what the passes report.
fn through(source: &Module, passes: &str, facts: &Facts, text: &str) -> (Module, Vec<PassReport>) {
    let profile = Profile::builtin("none").expect("embedded");
    let mut module = source.clone();
    let pipeline = Pipeline::parse(passes).unwrap_or_else(|error| panic!("{error}"));
    let settings = Run { facts, profile: &profile, stop: &|| false, verify_each: true };
    let reports =
        run(&mut module, &pipeline, settings, &mut Quiet).unwrap_or_else(|error| panic!("{passes}: {error}\n{text}"));
    let printed = print(&module, &PrintOptions::default());
    verify(&module).unwrap_or_else(|errors| panic!("{passes}: {errors:#?}\n{text}\n{printed}"));
    (module, reports)
}

/// The plan after some passes, right in its bytes.
fn plan(source: &Module, passes: &str, text: &str) -> Vec<PassReport> {
    let facts = Facts::builtin();
    let passes = [passes, "reorder,assign-offsets"]
        .iter()
        .filter(|part| !part.is_empty())
        .copied()
        .collect::<Vec<_>>()
        .join(",");
    let (module, reports) = through(source, &passes, &facts, text);
    let report = check(source, &module, &facts, &Options::default());
    let printed = || print(&module, &PrintOptions::default());
    assert!(report.accepted(), "{passes}: {:#?}\n{text}\n{}", report.diagnostics(), printed());
    reports
}

fn transform(source: &Module, passes: &str, text: &str) -> Vec<PassReport> {
    let facts = Facts::builtin();
    let (mut module, reports) = through(source, passes, &facts, text);
    let printed = print(&module, &PrintOptions::default());
    let report = check_semantics(source, &module, &facts);
    assert!(report.accepted(), "{passes}: {:#?}\n{text}\n{printed}", report.diagnostics());
    if passes.ends_with("lock-effects") {
        for seed in 1..4 {
            shuffle(&mut module, seed);
            let printed = print(&module, &PrintOptions::default());
            verify(&module).unwrap_or_else(|errors| panic!("{errors:#?}\n{printed}"));
            let report = check_semantics(source, &module, &facts);
            assert!(report.accepted(), "shuffled: {:#?}\n{text}\n{printed}", report.diagnostics());
        }
    }
    reports
}

/// Puts the operations of each block into a random order in which values come before their readers.
fn shuffle(module: &mut Module, seed: u64) {
    let mut random = Program { text: String::new(), random: Rng(seed), values: Vec::new(), count: 0 };
    for func in module.functions() {
        let flow = Flow::of(module, func);
        let owners: Vec<OpId> = std::iter::once(func).chain(module.walk(func)).collect();
        let regions = owners.iter().flat_map(|op| module.op_regions(*op));
        for block in regions.flat_map(|region| module.blocks(*region).to_vec()).collect::<Vec<BlockId>>() {
            let mut rest: Vec<OpId> = module.block_ops(block).collect();
            let end = rest.pop();
            let mut order = Vec::new();
            while !rest.is_empty() {
                let ready = |op: &OpId| flow.read_by(*op).iter().all(|from| !rest.contains(from));
                let ready: Vec<usize> = (0..rest.len()).filter(|at| ready(&rest[*at])).collect();
                order.push(rest.remove(ready[random.below(ready.len())]));
            }
            order.extend(end);
            module.set_block_order(block, &order);
        }
    }
}

/// Whether the result of a branch may lie over its condition is no question of these passes: the condition stays.
const CONDITION: &str = "{neap.io = \"held\"}";

/// A program as text.
struct Program {
    text: String,
    random: Rng,
    values: Vec<Value>,
    count: usize,
}

#[derive(Clone)]
struct Value {
    name: String,
    dims: Vec<usize>,
    elem: &'static str,
}

impl Value {
    fn ty(&self) -> String {
        let dims: String = self.dims.iter().map(|size| format!("{size}x")).collect();
        format!("tensor<{dims}{}>", self.elem)
    }

    fn elements(&self) -> usize {
        self.dims.iter().product()
    }
}

impl Program {
    fn random(seed: u64) -> Program {
        let mut program = Program { text: String::new(), random: Rng(seed), values: Vec::new(), count: 0 };
        for name in ["h", "g"] {
            program.line(&format!("\"neap.var\"() {{sym_name = \"{name}\", type = tensor<2x3x4xf32>}} : () -> ()"));
        }
        for (name, dims) in [("x", vec![2, 3, 4]), ("y", vec![2, 3, 4]), ("m", vec![1, 4, 4])] {
            program.values.push(Value { name: format!("%{name}"), dims, elem: "f32" });
        }
        let args: Vec<String> = program.values.iter().map(|value| format!("{}: {}", value.name, value.ty())).collect();
        program.values.push(Value { name: "%p".into(), dims: vec![], elem: "i1" });
        let lines = std::mem::take(&mut program.text);
        for _ in 0..5 + program.below(14) {
            program.step();
        }
        let mut results = Vec::new();
        for _ in 0..1 + program.below(3) {
            results.push(program.pick(|_| true));
        }
        let names: Vec<String> = results.iter().map(|value| value.name.clone()).collect();
        let types: Vec<String> = results.iter().map(Value::ty).collect();
        let (names, types, args) = (names.join(", "), types.join(", "), args.join(", "));
        let body = std::mem::take(&mut program.text);
        program.text = format!(
            "{lines}func.func @main({args}, %p: tensor<i1> {CONDITION}) -> ({types}) {{\n{body}  return {names} : {types}\n}}\n"
        );
        program
    }

    fn line(&mut self, line: &str) {
        writeln!(self.text, "  {line}").expect("strings can be written");
    }

    fn below(&mut self, bound: usize) -> usize {
        self.random.below(bound)
    }

    /// One of the recent values that fit; the first argument always may.
    fn pick(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        let fitting: Vec<Value> =
            self.values.iter().rev().filter(|value| value.elem != "i1" && fits(value)).take(5).cloned().collect();
        if fitting.is_empty() { self.values[0].clone() } else { fitting[self.below(fitting.len())].clone() }
    }

    /// An operation of one result.
    fn op(&mut self, name: &str, operands: &[&Value], attrs: &str, dims: Vec<usize>, elem: &'static str) -> Value {
        self.count += 1;
        let result = Value { name: format!("%v{}", self.count), dims, elem };
        let names: Vec<&str> = operands.iter().map(|value| value.name.as_str()).collect();
        let types: Vec<String> = operands.iter().map(|value| value.ty()).collect();
        let line = format!(
            "{} = \"{name}\"({}){attrs} : ({}) -> {}",
            result.name,
            names.join(", "),
            types.join(", "),
            result.ty()
        );
        self.line(&line);
        self.values.push(result.clone());
        result
    }

    /// A constant that no later operation reads as data.
    fn constant(&mut self, values: &[usize]) -> Value {
        let attrs = format!(" {{value = dense<{values:?}> : tensor<{}xi32>}}", values.len());
        let made = self.op("tfl.pseudo_const", &[], &attrs, vec![values.len()], "i32");
        self.values.pop();
        made
    }

    fn step(&mut self) {
        match self.below(20) {
            0..=2 => {
                let x = self.pick(|_| true);
                let name = ["tfl.relu", "tfl.abs", "tfl.neg"][self.below(3)];
                self.op(name, &[&x], "", x.dims.clone(), x.elem);
            }
            3..=4 => self.binary(),
            5 => {
                let x = self.pick(|_| true);
                let elem = ["f32", "i8", "i32"][self.below(3)];
                self.op("tfl.cast", &[&x], "", x.dims.clone(), elem);
            }
            6..=7 => self.reshape(),
            8..=9 => self.transpose(),
            10 => self.slice(),
            11 => self.concat(),
            12 => {
                let x = self.pick(|value| value.dims.len() == 3 && value.elem == "f32");
                let row = [x.dims[0], x.dims[1], 5];
                let w = self.op("tfl.pseudo_const", &[], " {value = dense<1.0> : tensor<5x4xf32>}", vec![5, 4], "f32");
                self.values.pop();
                let made = self.op("tfl.fully_connected", &[&x, &w], "", row.to_vec(), "f32");
                self.op("tfl.relu", &[&made], "", made.dims.clone(), "f32");
            }
            13 => {
                let x = self.pick(|_| true);
                let made = self.op("neap.opaque", &[&x], "", x.dims.clone(), x.elem);
                self.op("neap.opaque", &[&made], " {kind = \"f\"}", made.dims.clone(), made.elem);
            }
            14..=17 => self.state(),
            18 => self.branch(),
            _ => {
                let x = self.pick(|value| !value.dims.is_empty());
                self.op("tfl.softmax", &[&x], " {beta = 1.0 : f32}", x.dims.clone(), x.elem);
            }
        }
    }

    fn binary(&mut self) {
        let x = self.pick(|_| true);
        let last = x.dims.last().copied();
        let y = self.pick(|value| {
            value.elem == x.elem
                && (value.dims == x.dims || value.dims.len() == 1 && value.dims.last().copied() == last)
        });
        let y = if y.elem == x.elem && (y.dims == x.dims || y.dims.len() == 1 && y.dims.last().copied() == last) {
            y
        } else {
            x.clone()
        };
        let name = ["tfl.add", "tfl.sub", "tfl.mul"][self.below(3)];
        self.op(name, &[&x, &y], "", x.dims.clone(), x.elem);
    }

    fn reshape(&mut self) {
        let x = self.pick(|_| true);
        let n = x.elements();
        let mut forms = vec![vec![n], vec![1, n], x.dims.clone()];
        forms.extend(n.is_multiple_of(4).then(|| vec![n / 4, 4]));
        forms.extend((n == 24).then(|| vec![2, 3, 4]));
        let dims = forms[self.below(forms.len())].clone();
        let shape = self.constant(&dims);
        self.op("tfl.reshape", &[&x, &shape], "", dims, x.elem);
    }

    fn transpose(&mut self) {
        let x = self.pick(|value| value.dims.len() > 1);
        let rank = x.dims.len();
        let mut perm: Vec<usize> = (0..rank).collect();
        for at in (1..rank).rev() {
            let other = self.below(at + 1);
            perm.swap(at, other);
        }
        let dims: Vec<usize> = perm.iter().map(|axis| x.dims[*axis]).collect();
        if self.below(2) == 0 {
            let order = self.constant(&perm);
            self.op("tfl.transpose", &[&x, &order], "", dims, x.elem);
        } else {
            self.op("onnx.Transpose", &[&x], &format!(" {{perm = {perm:?}}}"), dims, x.elem);
        }
    }

    fn slice(&mut self) {
        let x = self.pick(|value| !value.dims.is_empty());
        let axis = self.below(x.dims.len().min(2));
        let (mut start, mut size) = (vec![0; x.dims.len()], x.dims.clone());
        let len = 1 + self.below(size[axis]);
        start[axis] = self.below(size[axis] - len + 1);
        size[axis] = len;
        let (from, extent) = (self.constant(&start), self.constant(&size));
        self.op("tfl.slice", &[&x, &from, &extent], "", size, x.elem);
    }

    fn concat(&mut self) {
        let x = self.pick(|value| !value.dims.is_empty() && value.dims[0] < 9);
        let other = self.pick(|value| value.dims == x.dims && value.elem == x.elem);
        let other = if other.dims == x.dims && other.elem == x.elem { other } else { x.clone() };
        let a = self.op("tfl.neg", &[&x], "", x.dims.clone(), x.elem);
        let axis = self.below(x.dims.len().min(2));
        let parts: Vec<&Value> = if self.below(5) == 0 { vec![&a] } else { vec![&a, &other] };
        let mut dims = x.dims.clone();
        dims[axis] *= parts.len();
        let activation = ["NONE", "NONE", "NONE", "RELU"][self.below(4)];
        let attrs = format!(" {{axis = {axis} : i32, fused_activation_function = \"{activation}\"}}");
        self.op("tfl.concatenation", &parts, &attrs, dims, x.elem);
    }

    fn state(&mut self) {
        let name = ["h", "g"][self.below(2)];
        match self.below(4) {
            0 | 1 => {
                let x = self.pick(|value| value.dims == [2, 3, 4] && value.elem == "f32");
                let x = if x.dims == [2, 3, 4] && x.elem == "f32" { x } else { self.values[0].clone() };
                self.line(&format!("\"neap.write\"({}) {{var = @{name}}} : ({}) -> ()", x.name, x.ty()));
            }
            2 => drop(self.op("neap.read", &[], &format!(" {{var = @{name}}}"), vec![2, 3, 4], "f32")),
            _ => drop(self.op("neap.read", &[], &format!(" {{alias, var = @{name}}}"), vec![2, 3, 4], "f32")),
        }
    }

    /// A branch that computes and may write; what it makes stays inside.
    fn branch(&mut self) {
        let x = self.pick(|_| true);
        self.count += 1;
        let (result, ty) = (format!("%v{}", self.count), x.ty());
        self.line(&format!("{result} = \"neap.if\"(%p) ({{"));
        let outer = self.values.len();
        let made = self.op("tfl.relu", &[&x], "", x.dims.clone(), x.elem);
        let made = self.op("tfl.exp", &[&made], "", x.dims.clone(), x.elem);
        if self.below(2) == 0 {
            self.state();
        }
        self.line(&format!("\"neap.yield\"({}) : ({ty}) -> ()", made.name));
        self.values.truncate(outer);
        self.line("}, {");
        self.line(&format!("\"neap.yield\"({}) : ({ty}) -> ()", x.name));
        self.line(&format!("}}) : (tensor<i1>) -> {ty}"));
        self.values.push(Value { name: result, ..x });
    }
}
