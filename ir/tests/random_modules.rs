//! Modules made at random through the mutators: print -> parse -> print gives the same text, in both forms, and the same fingerprints.

use neap_ir::types::FLOATS;
use neap_ir::{
    Attr, BlockId, Dim, Loc, Module, OpSpec, PrintOptions, Sign, Ty, Type, ValueId, fingerprint, parse, print, verify,
};

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

struct Maker {
    module: Module,
    random: Random,
}

impl Maker {
    fn ty(&mut self, depth: usize) -> Ty {
        let ty = match self.random.below(if depth > 2 { 4 } else { 10 }) {
            0 => Type::Index,
            1 => Type::Float(FLOATS[self.random.below(FLOATS.len())].0),
            2 | 3 => {
                let sign = [Sign::None, Sign::Signed, Sign::Unsigned][self.random.below(3)];
                Type::Integer { width: [1, 4, 8, 32, 128][self.random.below(5)], sign }
            }
            4 | 5 => {
                let elem = self.ty(3);
                let ranked = self.random.chance(90);
                let shape = (0..self.random.below(4)).map(|_| match self.random.below(4) {
                    0 => Dim::Dynamic,
                    size => Dim::Known(size as u64 * 3),
                });
                let shape: Vec<Dim> = shape.collect();
                let encoding = self.random.chance(20).then(|| Box::new(self.attr(2)));
                Type::Tensor { shape: ranked.then_some(shape), elem, encoding }
            }
            6 => Type::Tuple((0..self.random.below(3)).map(|_| self.ty(depth + 1)).collect()),
            7 => Type::Function {
                inputs: (0..self.random.below(3)).map(|_| self.ty(depth + 1)).collect(),
                results: (0..self.random.below(3)).map(|_| self.ty(depth + 1)).collect(),
            },
            8 => Type::Dialect(["d.x", "d.y<a -> [b]>", "neap.token", "d<1 odd>"][self.random.below(4)].into()),
            _ => Type::Vector { shape: vec![(4, false), (2, true)], elem: self.ty(3) },
        };
        self.module.intern_ty(ty)
    }

    fn text(&mut self) -> String {
        ["a", "b.c", "odd key", "_", "q\"uo\\te", "tab\t", "ümlaut"][self.random.below(7)].to_owned()
    }

    fn attr(&mut self, depth: usize) -> Attr {
        match self.random.below(if depth > 2 { 6 } else { 11 }) {
            0 => Attr::Unit,
            1 => Attr::Bool(self.random.chance(50)),
            2 => self.module.i64_attr(self.random.below(1000) as i64 - 500),
            3 => Attr::str(&self.text()),
            4 => self.module.f32_attr((self.random.below(2000) as f32 - 1000.0) * 0.013),
            5 => Attr::Symbol { root: self.text().into(), nested: vec![self.text().into()] },
            6 => Attr::Array((0..self.random.below(4)).map(|_| self.attr(depth + 1)).collect()),
            7 => {
                let items: Vec<(String, Attr)> =
                    (0..self.random.below(4)).map(|_| (self.text(), self.attr(depth + 1))).collect();
                self.module.dict_attr(items.iter().map(|(key, value)| (&key[..], value.clone())).collect())
            }
            8 => Attr::Type(self.ty(depth + 1)),
            9 => {
                let count = self.random.below(3);
                let values = (0..count).map(|_| self.random.below(99) as i64 - 50).collect();
                self.module.i64s_attr(values)
            }
            _ => Attr::DenseBools(vec![true; self.random.below(3)]),
        }
    }

    fn loc(&mut self) -> Loc {
        match self.random.below(12) {
            0 => Loc::Name(self.text().into(), Box::new(self.loc())),
            1 => Loc::File("\"f\":1:2".into()),
            2 => Loc::Call(Box::new(Loc::File("\"f\":3:4".into())), Box::new(self.loc())),
            _ => Loc::Unknown,
        }
    }

    fn name(&mut self, value: ValueId) {
        if self.random.chance(60) {
            let name = ["x", "y", "7", "arg0", "a.b", "strange name", "0", "x_0"][self.random.below(8)];
            let name = self.module.intern(name);
            self.module.set_value_name(value, Some(name));
        }
    }

    /// Fills a block with operations that read from `scope`.
    fn block(&mut self, block: BlockId, scope: &[ValueId], depth: usize) {
        let mut scope = scope.to_vec();
        for value in self.module.block_args(block).to_vec() {
            self.name(value);
            scope.push(value);
        }
        for _ in 0..1 + self.random.below(6) {
            let operands: Vec<ValueId> = match scope.len() {
                0 => Vec::new(),
                count => (0..self.random.below(4)).map(|_| scope[self.random.below(count)]).collect(),
            };
            let results: Vec<Ty> = (0..self.random.below(4)).map(|_| self.ty(0)).collect();
            let attrs: Vec<(String, Attr)> = (0..self.random.below(3)).map(|_| (self.text(), self.attr(0))).collect();
            let attrs = attrs.iter().map(|(key, value)| (&key[..], value.clone())).collect();
            let loc = self.loc();
            let name = ["t.op", "other.op", "t.\"odd\" op"][self.random.below(3)];
            let op = self.module.create(OpSpec { name, operands: &operands, results: &results, attrs, loc });
            if self.random.chance(20) {
                let value = self.attr(0);
                self.module.set_prop(op, "inherent", value);
            }
            self.module.append(block, op);
            if depth < 3 && self.random.chance(25) {
                self.regions(op, &scope, depth);
            }
            let made = self.module.results(op).to_vec();
            for value in &made {
                self.name(*value);
            }
            scope.extend(made);
        }
    }

    fn regions(&mut self, op: neap_ir::OpId, scope: &[ValueId], depth: usize) {
        for _ in 0..1 + self.random.below(2) {
            let region = self.module.add_region(op);
            for _ in 0..self.random.below(3) {
                let args: Vec<Ty> = (0..self.random.below(3)).map(|_| self.ty(0)).collect();
                let block = self.module.add_block(region, &args);
                self.block(block, scope, depth + 1);
            }
        }
    }

    fn function(&mut self, name: &str) {
        let inputs: Vec<Ty> = (0..self.random.below(3)).map(|_| self.ty(0)).collect();
        let results: Vec<Ty> = inputs.iter().copied().filter(|_| self.random.chance(50)).collect();
        let func = self.module.create_func(name, &inputs, &results);
        let block = self.module.entry(func).expect("a new function has a body");
        for index in 0..inputs.len() {
            if self.random.chance(40) {
                self.module.set_arg_attr(func, index, "neap.io", Some(Attr::str("held")));
            }
        }
        self.block(block, &[], 0);
        let args = self.module.func_args(func).to_vec();
        let mut rest = results.iter().copied().peekable();
        let returned: Vec<ValueId> =
            args.into_iter().filter(|arg| rest.next_if_eq(&self.module.value_ty(*arg)).is_some()).collect();
        let last = self.module.create(OpSpec { name: "func.return", operands: &returned, ..OpSpec::default() });
        self.module.append(block, last);
    }
}

#[test]
fn print_and_parse_are_inverse() {
    for seed in 0..400 {
        let mut maker = Maker { module: Module::new(), random: Random(seed) };
        for index in 0..1 + maker.random.below(3) {
            maker.function(&format!("f{index}"));
        }
        let body = maker.module.body();
        maker.block(body, &[], 1);
        let module = maker.module;
        for options in [PrintOptions::default(), PrintOptions { generic: true, locs: true }] {
            let text = print(&module, &options);
            let again = parse(&text).unwrap_or_else(|errors| panic!("seed {seed}: {errors:#?}\n{text}"));
            assert_eq!(text, print(&again, &options), "seed {seed}");
            let (made, read) = (module.functions(), again.functions());
            assert_eq!(made.len(), read.len());
            for (made, read) in made.into_iter().zip(read) {
                assert_eq!(fingerprint(&module, made), fingerprint(&again, read), "seed {seed}");
            }
            let (made, read) = (rules(&module), rules(&again));
            assert_eq!(made, read, "seed {seed}\n{text}");
        }
    }
}

/// What the verifier says, without places.
fn rules(module: &Module) -> Vec<String> {
    let errors = verify(module).err().unwrap_or_default();
    let mut messages: Vec<String> = errors.into_iter().map(|error| error.message).collect();
    messages.sort();
    messages
}
