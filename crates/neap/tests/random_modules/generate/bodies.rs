//! Operations with bodies: branches, loops, bodies at the same time, calls; nested up to three deep.

use super::{Program, Value};

impl Program {
    pub(super) fn body(&mut self) {
        self.budget = self.budget.saturating_sub(1);
        match self.rng.below(10) {
            // What decides is an argument of the main function.
            _ if !self.main => self.conditional(),
            0..=3 => self.branch(),
            4..=6 => self.counted(),
            7..=8 => self.conditional(),
            _ if self.features.state => self.parallel(),
            _ => self.branch(),
        }
    }

    /// A static value: block arguments have no names for their dimensions.
    fn fixed(&mut self) -> Value {
        let still = |value: &Value| value.known().is_some();
        self.near(still)
    }

    /// The operations of a body, in which tokens begin anew, then a value of the wanted type.
    fn inside(&mut self, args: &[Value], want: &Value) -> Value {
        let (outer, tokens) = (self.values.len(), std::mem::take(&mut self.tokens));
        self.values.extend(args.iter().cloned());
        self.depth += 1;
        let budget = self.budget;
        self.budget = (1 + self.rng.below(4)).min(budget.max(1));
        let spent = self.budget;
        if self.depth < 3 && self.rng.chance(45) {
            self.body();
        }
        while self.budget > 0 {
            self.step();
        }
        self.budget = budget.saturating_sub(spent);
        let fits = |value: &Value| value.is(want);
        let recent = self.values[outer..].iter().rev().find(|value| fits(value)).cloned();
        let made = match recent {
            Some(value) => value,
            None => {
                let x = self.near(|value| value.elem == want.elem);
                self.op("neap.opaque", &[&x], &["kind = \"fit\""], want.dims.clone(), want.elem)
            }
        };
        self.depth -= 1;
        self.values.truncate(outer);
        self.tokens = tokens;
        made
    }

    fn yields(&mut self, values: &[&Value]) {
        let names: Vec<&str> = values.iter().map(|value| value.name.as_str()).collect();
        let types: Vec<String> = values.iter().map(|value| value.ty()).collect();
        self.depth += 1;
        self.line(&format!("\"neap.yield\"({}) : ({}) -> ()", names.join(", "), types.join(", ")));
        self.depth -= 1;
    }

    fn argument(&mut self, like: &Value) -> Value {
        Value { name: self.fresh(), ..like.clone() }
    }

    fn branch(&mut self) {
        let x = self.fixed();
        let (result, ty) = (self.fresh(), x.ty());
        let bound = self.rng.chance(60);
        let operands = if bound { format!("%p, {}", x.name) } else { "%p".to_owned() };
        self.line(&format!("{result} = \"neap.if\"({operands}) ({{"));
        for body in 0..2 {
            let args: Vec<Value> = if bound { vec![self.argument(&x)] } else { Vec::new() };
            if let Some(arg) = args.first() {
                self.line(&format!("^bb0({}: {ty}):", arg.name));
            }
            let short = body == 1 && self.rng.chance(25);
            let made = if short { args.first().unwrap_or(&x).clone() } else { self.inside(&args, &x) };
            self.yields(&[&made]);
            if body == 0 {
                self.line("}, {");
            }
        }
        let types = if bound { format!("tensor<i1>, {ty}") } else { "tensor<i1>".to_owned() };
        self.line(&format!("}}) : ({types}) -> {ty}"));
        self.values.push(Value { name: result, ..x });
    }

    /// One or two carried values, perhaps swapped.
    fn carried(&mut self) -> Vec<Value> {
        let x = self.fixed();
        let mut carried = vec![x.clone()];
        if self.rng.chance(50) {
            let other = self.find(|value| value.is(&x) && value.name != x.name);
            carried.push(other.unwrap_or(x));
        }
        carried
    }

    fn counted(&mut self) {
        let carried = self.carried();
        let results: Vec<String> = carried.iter().map(|_| self.fresh()).collect();
        let types: Vec<String> = carried.iter().map(Value::ty).collect();
        let names: Vec<&str> = carried.iter().map(|value| value.name.as_str()).collect();
        self.line(&format!("{} = \"neap.for\"(%n, {}) ({{", results.join(", "), names.join(", ")));
        let args: Vec<Value> = carried.iter().map(|value| self.argument(value)).collect();
        let index = self.fresh();
        let listed: Vec<String> = args.iter().map(|arg| format!("{}: {}", arg.name, arg.ty())).collect();
        self.line(&format!("^bb0({index}: i64, {}):", listed.join(", ")));
        self.trip(&args, &carried);
        let types = types.join(", ");
        self.line(&format!("}}) : (tensor<i32>, {types}) -> ({types})"));
        self.finish(results, carried);
    }

    fn trip(&mut self, args: &[Value], carried: &[Value]) {
        let first = self.inside(args, &carried[0]);
        let mut yields = vec![first];
        if carried.len() > 1 {
            yields.push(args[self.rng.below(2)].clone());
            if self.rng.chance(50) {
                yields.swap(0, 1);
            }
        }
        self.yields(&yields.iter().collect::<Vec<&Value>>());
    }

    fn finish(&mut self, results: Vec<String>, carried: Vec<Value>) {
        self.values.extend(results.into_iter().zip(carried).map(|(name, like)| Value { name, ..like }));
    }

    fn conditional(&mut self) {
        let carried = self.carried();
        let results: Vec<String> = carried.iter().map(|_| self.fresh()).collect();
        let types: Vec<String> = carried.iter().map(Value::ty).collect();
        let names: Vec<&str> = carried.iter().map(|value| value.name.as_str()).collect();
        self.line(&format!("{} = \"neap.while\"({}) ({{", results.join(", "), names.join(", ")));
        for body in 0..2 {
            let args: Vec<Value> = carried.iter().map(|value| self.argument(value)).collect();
            let listed: Vec<String> = args.iter().map(|arg| format!("{}: {}", arg.name, arg.ty())).collect();
            self.line(&format!("^bb0({}):", listed.join(", ")));
            if body == 0 {
                let x = args[self.rng.below(args.len())].clone();
                self.depth += 1;
                let shown =
                    if self.rng.chance(50) { self.op("tfl.exp", &[&x], &[], x.dims.clone(), x.elem) } else { x };
                let decides = self.op("neap.opaque", &[&shown], &["kind = \"test\""], Vec::new(), "i1");
                self.depth -= 1;
                self.values.retain(|value| value.name != decides.name && value.name != shown.name);
                self.yields(&[&decides]);
                self.line("}, {");
            } else {
                self.trip(&args, &carried);
            }
        }
        let types = types.join(", ");
        self.line(&format!("}}) : ({types}) -> ({types})"));
        self.finish(results, carried);
    }

    /// Two bodies at the same time, each of which writes a variable of its own.
    fn parallel(&mut self) {
        let want = Value { name: String::new(), dims: super::known(&[2, 3, 4]), elem: "f32" };
        self.line("\"neap.parallel\"() ({");
        for (at, variable) in ["h", "g"].into_iter().enumerate() {
            let x = self.near(|value| value.elem == "f32");
            let outer = self.values.len();
            self.depth += 1;
            let one = self.op("neap.opaque", &[&x], &["kind = \"par\""], want.dims.clone(), "f32");
            let two = self.op("tfl.exp", &[&one], &[], want.dims.clone(), "f32");
            self.line(&format!("\"neap.write\"({}) {{var = @{variable}}} : ({}) -> ()", two.name, two.ty()));
            self.line("\"neap.yield\"() : () -> ()");
            self.depth -= 1;
            self.values.truncate(outer);
            self.line(if at == 0 { "}, {" } else { "}) : () -> ()" });
        }
    }

    pub(super) fn call(&mut self) {
        let fits = |value: &Value| value.elem == "f32" && value.known().is_some_and(|dims| dims == [2, 3, 4]);
        let Some(x) = self.find(fits) else { return };
        self.op("neap.call", &[&x], &["callee = @callee"], x.dims.clone(), "f32");
    }
}
