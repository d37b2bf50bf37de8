//! Random modules as text: what the passes act on, in every mixture.
//!
//! A module has features (state, tokens, control flow, dynamic dimensions, calls), each chosen by the seed. Operations are picked by weight, many of
//! them as small patterns: a heavy operation and what follows it, a chain of views, parts made for a concatenation. The same seed gives the
//! same text on every machine.

mod bodies;
mod ops;
#[path = "../support/rng.rs"]
mod rng;

pub(crate) use rng::Rng;
use std::collections::BTreeSet;
use std::fmt::Write;

impl Rng {
    /// True in `percent` of all cases.
    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

/// A dimension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Size {
    Known(usize),
    /// `?`, by name.
    Named(&'static str),
}

/// A value that an operation may read.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub(crate) name: String,
    pub(crate) dims: Vec<Size>,
    pub(crate) elem: &'static str,
}

impl Value {
    pub(crate) fn ty(&self) -> String {
        ty(&self.dims, self.elem)
    }

    /// The dimensions, where all are known.
    pub(crate) fn known(&self) -> Option<Vec<usize>> {
        let known = |size: &Size| if let Size::Known(size) = size { Some(*size) } else { None };
        self.dims.iter().map(known).collect()
    }

    pub(crate) fn is(&self, other: &Value) -> bool {
        self.dims == other.dims && self.elem == other.elem
    }
}

pub(crate) fn ty(dims: &[Size], elem: &str) -> String {
    let size = |size: &Size| match size {
        Size::Known(size) => format!("{size}x"),
        Size::Named(_) => "?x".to_owned(),
    };
    format!("tensor<{}{elem}>", dims.iter().map(size).collect::<String>())
}

pub(crate) fn known(dims: &[usize]) -> Vec<Size> {
    dims.iter().map(|size| Size::Known(*size)).collect()
}

/// What a module has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Features {
    pub(crate) state: bool,
    pub(crate) tokens: bool,
    pub(crate) bodies: bool,
    pub(crate) dynamic: bool,
    pub(crate) calls: bool,
    pub(crate) arenas: bool,
}

/// Upper bound of the dynamic dimension.
pub(crate) const BOUND: usize = 5;

/// A module in the making.
pub(crate) struct Program {
    pub(crate) features: Features,
    rng: Rng,
    text: String,
    values: Vec<Value>,
    /// Names of values that something reads.
    read: BTreeSet<String>,
    tokens: Vec<String>,
    next: usize,
    depth: usize,
    /// Whether this is not the function that is called.
    main: bool,
    /// Operations that may still come.
    budget: usize,
}

/// The text of a module, with what it was made to have.
pub(crate) fn module(seed: u64) -> (String, Features) {
    let mut rng = Rng(seed.wrapping_mul(0xd6e8_feb8_6659_fd93));
    let features = Features {
        state: rng.chance(50),
        tokens: rng.chance(35),
        bodies: rng.chance(70),
        dynamic: rng.chance(50),
        calls: rng.chance(20),
        arenas: rng.chance(10),
    };
    let mut program = Program {
        features: Features { calls: features.calls && !features.arenas, ..features },
        rng,
        text: String::new(),
        values: Vec::new(),
        read: BTreeSet::new(),
        tokens: Vec::new(),
        next: 0,
        depth: 0,
        main: true,
        budget: 0,
    };
    let mut out = String::new();
    if features.state {
        for name in ["h", "g"] {
            let _ = writeln!(out, "\"neap.var\"() {{sym_name = \"{name}\", type = tensor<2x3x4xf32>}} : () -> ()");
        }
    }
    if features.arenas {
        out.push_str("\"neap.arena\"() {sym_name = \"fast\", size = 300 : i64, align = 4 : i64} : () -> ()\n");
        out.push_str("\"neap.arena\"() {sym_name = \"slow\", align = 8 : i64} : () -> ()\n");
    }
    if program.features.calls {
        out.push_str(&program.function("callee", 4));
    }
    out.push_str(&program.function("main", 9));
    if features.dynamic {
        let indented: String = out.lines().map(|line| format!("  {line}\n")).collect();
        out = format!("module attributes {{neap.bounds = {{N = [1, {BOUND}]}}}} {{\n{indented}}}\n");
    }
    (out, program.features)
}

impl Program {
    /// A function; the one that is called has one static argument and result.
    fn function(&mut self, name: &str, least: usize) -> String {
        let main = name == "main";
        self.main = main;
        self.values.clear();
        self.tokens.clear();
        let mut args = vec![("x", known(&[2, 3, 4]), "f32")];
        if main {
            args.push(("y", known(&[2, 3, 4]), "f32"));
            args.push(("m", known(&[1, 4, 4]), *self.rng.pick(&["f32", "i8"])));
        }
        if main && self.features.dynamic {
            args.push(("d", vec![Size::Named("N"), Size::Known(4)], "f32"));
            args.push(("e", vec![Size::Known(1), Size::Named("N")], "f32"));
        }
        let mut listed = Vec::new();
        for (name, dims, elem) in args {
            let value = Value { name: format!("%{name}"), dims, elem };
            let mut attrs = dim_names([&value]).into_iter().collect::<Vec<String>>();
            if main {
                attrs.extend(
                    ["neap.io = \"held\"", "neap.io = \"external\"", "", "", "", ""][self.rng.below(6)..][..1]
                        .iter()
                        .filter(|text| !text.is_empty())
                        .map(|text| (*text).to_owned()),
                );
            }
            let attrs = if attrs.is_empty() { String::new() } else { format!(" {{{}}}", attrs.join(", ")) };
            listed.push(format!("{}: {}{attrs}", value.name, value.ty()));
            self.values.push(value);
        }
        if main {
            // What decides stays readable: whether a result may lie over it is tested elsewhere.
            listed.push("%p: tensor<i1> {neap.io = \"held\"}, %n: tensor<i32> {neap.io = \"held\"}".to_owned());
        }
        self.budget = least + self.rng.below(if main { 18 } else { 5 });
        if main && self.features.tokens {
            self.token();
        }
        if main && self.rng.chance(25) {
            self.view_chain();
        }
        let body = main && self.features.bodies;
        let begin = if body { self.rng.below(self.budget) } else { 0 };
        while self.budget > 0 {
            if body && self.budget == begin {
                self.body();
            }
            self.step();
        }
        let results = self.results(main);
        let names: Vec<&str> = results.iter().map(|value| value.name.as_str()).collect();
        let types: Vec<String> = results.iter().map(Value::ty).collect();
        let body = std::mem::take(&mut self.text);
        let (listed, names, types) = (listed.join(", "), names.join(", "), types.join(", "));
        format!("func.func @{name}({listed}) -> ({types}) {{\n{body}  return {names} : {types}\n}}\n")
    }

    /// What nobody reads, and some more: an argument, or the same value twice, may be among them.
    fn results(&mut self, main: bool) -> Vec<Value> {
        if !main {
            let like = self.values[0].clone();
            return vec![self.near(|value| value.is(&like))];
        }
        let unread = self.values.iter().rev().filter(|value| !self.read.contains(&value.name));
        let mut results: Vec<Value> = unread.take(4).cloned().collect();
        let drop = self.rng.below(3).min(results.len().saturating_sub(1));
        results.truncate(results.len() - drop);
        if results.is_empty() || self.rng.chance(30) {
            results.push(self.near(|_| true));
        }
        if self.rng.chance(8) {
            results.push(self.values[0].clone());
        }
        results
    }

    fn line(&mut self, line: &str) {
        let indent = 2 * (self.depth + 1);
        let _ = writeln!(self.text, "{:indent$}{line}", "");
    }

    fn fresh(&mut self) -> String {
        self.next += 1;
        format!("%v{}", self.next)
    }

    /// One of the recent values that fit; the first argument always may.
    fn near(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        let fitting: Vec<&Value> = self.values.iter().rev().filter(|value| fits(value)).take(5).collect();
        if fitting.is_empty() { self.values[0].clone() } else { (*self.rng.pick(&fitting)).clone() }
    }

    /// One that fits, if there is one.
    fn find(&mut self, fits: impl Fn(&Value) -> bool) -> Option<Value> {
        let fitting: Vec<&Value> = self.values.iter().rev().filter(|value| fits(value)).take(5).collect();
        (!fitting.is_empty()).then(|| (*self.rng.pick(&fitting)).clone())
    }

    /// An operation of one result.
    fn op(&mut self, name: &str, operands: &[&Value], attrs: &[&str], dims: Vec<Size>, elem: &'static str) -> Value {
        let result = Value { name: self.fresh(), dims, elem };
        let mut attrs: Vec<String> = attrs.iter().map(|attr| (*attr).to_owned()).collect();
        attrs.extend(dim_names([&result]));
        attrs.sort();
        let attrs = if attrs.is_empty() { String::new() } else { format!(" {{{}}}", attrs.join(", ")) };
        self.read.extend(operands.iter().map(|value| value.name.clone()));
        let names: Vec<&str> = operands.iter().map(|value| value.name.as_str()).collect();
        let types: Vec<String> = operands.iter().map(|value| value.ty()).collect();
        let (names, types) = (names.join(", "), types.join(", "));
        self.line(&format!("{} = \"{name}\"({names}){attrs} : ({types}) -> {}", result.name, result.ty()));
        self.values.push(result.clone());
        self.budget = self.budget.saturating_sub(1);
        result
    }
}

/// `neap.dims` for the dynamic dimensions of values, if there are any.
fn dim_names<'a>(values: impl IntoIterator<Item = &'a Value>) -> Option<String> {
    let sizes = values.into_iter().flat_map(|value| &value.dims);
    let names = sizes.filter_map(|size| if let Size::Named(name) = size { Some(format!("\"{name}\"")) } else { None });
    let names: Vec<String> = names.collect();
    (!names.is_empty()).then(|| format!("neap.dims = [{}]", names.join(", ")))
}
