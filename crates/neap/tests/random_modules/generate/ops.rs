//! Operations without bodies, one by one and in small patterns.

use super::{Program, Size, Value, known};

impl Program {
    /// One operation, or a pattern of several.
    pub(super) fn step(&mut self) {
        match self.rng.below(38) {
            0..=2 => self.unary(),
            3..=4 => self.binary(),
            5 => self.cast(),
            6..=8 => self.view_chain(),
            9..=10 => self.transpose(),
            11..=12 => drop(self.slice(None)),
            13 => self.split(),
            14..=16 => self.concat(),
            17..=20 => self.heavy(),
            21 => self.lines(),
            22 => self.pad_or_pack(),
            23 => self.update(),
            24..=27 if self.features.state => self.state(),
            28..=29 if self.features.tokens => self.token(),
            30..=31 if self.features.bodies && self.depth < 2 => self.body(),
            32 if self.features.calls && self.main => self.call(),
            33 => self.odd(),
            34..=35 => self.view_chain(),
            36 => self.concat(),
            _ => self.sharing(),
        }
    }

    fn of(&mut self, name: &str, x: &Value) -> Value {
        self.op(name, &[x], &[], x.dims.clone(), x.elem)
    }

    fn unary(&mut self) {
        let x = self.near(|_| true);
        let name = *self.rng.pick(&["tfl.relu", "tfl.abs", "tfl.neg", "tfl.tanh", "stablehlo.logistic"]);
        self.of(name, &x);
    }

    fn binary(&mut self) {
        let x = self.near(|_| true);
        let last = x.dims.last().copied();
        let fits = |value: &Value| {
            value.elem == x.elem
                && (value.dims == x.dims || value.dims.len() == 1 && value.dims.last().copied() == last)
        };
        let y = self.find(fits).unwrap_or_else(|| x.clone());
        let name = *self.rng.pick(&["tfl.add", "tfl.sub", "tfl.mul", "stablehlo.add", "stablehlo.maximum"]);
        let attrs: &[&str] = match name.starts_with("tfl") && self.rng.chance(15) {
            true => &["fused_activation_function = \"RELU\""],
            false => &[],
        };
        // StableHLO broadcasts nothing by itself.
        let y = if name.starts_with("stablehlo") && !y.is(&x) { x.clone() } else { y };
        self.op(name, &[&x, &y], attrs, x.dims.clone(), x.elem);
    }

    fn cast(&mut self) {
        let x = self.near(|_| true);
        let kinds: Vec<&str> = ["f32", "i8", "i16", "i4"].into_iter().filter(|elem| *elem != x.elem).collect();
        let elem = *self.rng.pick(&kinds);
        self.op("tfl.cast", &[&x], &[], x.dims.clone(), elem);
    }

    /// A constant that no later operation reads as data.
    fn constant(&mut self, values: &[usize]) -> Value {
        let attr = format!("value = dense<{values:?}> : tensor<{}xi32>", values.len());
        let made = self.op("tfl.pseudo_const", &[], &[&attr], known(&[values.len()]), "i32");
        self.values.pop();
        self.budget += 1;
        made
    }

    fn reshape(&mut self, x: Option<Value>) -> Value {
        let x = x.unwrap_or_else(|| self.near(|value| value.known().is_some()));
        let Some(dims) = x.known() else { return self.of("tfl.neg", &x) };
        let n: usize = dims.iter().product();
        let mut forms = vec![vec![n], vec![1, n]];
        forms.extend(n.is_multiple_of(4).then(|| vec![n / 4, 4]));
        forms.extend((n == 24).then(|| vec![2, 3, 4]));
        forms.extend(n.is_multiple_of(6).then(|| vec![n / 6, 2, 3]));
        let dims = self.rng.pick(&forms).clone();
        if self.rng.chance(25) {
            return self.op("stablehlo.reshape", &[&x], &[], known(&dims), x.elem);
        }
        let shape = self.constant(&dims);
        self.op("tfl.reshape", &[&x, &shape], &[], known(&dims), x.elem)
    }

    /// Views of views, with readers of the owner in between.
    pub(super) fn view_chain(&mut self) {
        let x = self.near(|value| value.known().is_some());
        let made = if self.rng.chance(70) { self.of("neap.opaque", &x) } else { x };
        let first = self.reshape(Some(made.clone()));
        // Two reshapes in a row are one: a reader in between keeps both.
        let second = match self.rng.below(3) {
            0 => self.reshape(Some(first.clone())),
            _ => self.slice(Some(first.clone())),
        };
        if self.rng.chance(85) {
            self.op("neap.opaque", &[&first], &["kind = \"between\""], first.dims.clone(), first.elem);
        }
        if self.rng.chance(30) {
            self.of("tfl.relu", &made);
        }
        if self.rng.chance(90) {
            self.op("neap.opaque", &[&second], &["kind = \"r\""], second.dims.clone(), second.elem);
        }
    }

    fn transpose(&mut self) {
        let x = self.near(|value| value.dims.len() > 1);
        let rank = x.dims.len();
        let mut perm: Vec<usize> = (0..rank).collect();
        for at in (1..rank).rev() {
            let other = self.rng.below(at + 1);
            perm.swap(at, other);
        }
        let dims: Vec<Size> = perm.iter().map(|axis| x.dims[*axis]).collect();
        if self.rng.chance(50) {
            let order = self.constant(&perm);
            self.op("tfl.transpose", &[&x, &order], &[], dims, x.elem);
        } else {
            self.op("onnx.Transpose", &[&x], &[&format!("perm = {perm:?}")], dims, x.elem);
        }
    }

    /// A window along one axis whose size is known.
    fn slice(&mut self, x: Option<Value>) -> Value {
        let x = x.unwrap_or_else(|| self.near(|value| !value.dims.is_empty()));
        let axes: Vec<usize> = (0..x.dims.len()).filter(|axis| matches!(x.dims[*axis], Size::Known(_))).collect();
        let all_known = x.known();
        let axis = if self.rng.chance(70) { axes[0] } else { *self.rng.pick(&axes) };
        let Size::Known(size) = x.dims[axis] else { unreachable!("chosen among known ones") };
        let len = 1 + self.rng.below(size);
        let start = self.rng.below(size - len + 1);
        let mut dims = x.dims.clone();
        dims[axis] = Size::Known(len);
        // A start and a size per dimension: -1 takes all that follow.
        let begin: Vec<usize> = (0..dims.len()).map(|at| if at == axis { start } else { 0 }).collect();
        match all_known {
            Some(mut extent) => {
                extent[axis] = len;
                let (from, extent) = (self.constant(&begin), self.constant(&extent));
                self.op("tfl.slice", &[&x, &from, &extent], &[], dims, x.elem)
            }
            None => {
                let sizes: Vec<i64> = (0..dims.len()).map(|at| if at == axis { len as i64 } else { -1 }).collect();
                let attr = format!("value = dense<{sizes:?}> : tensor<{}xi32>", sizes.len());
                let extent = self.op("tfl.pseudo_const", &[], &[&attr], known(&[sizes.len()]), "i32");
                self.values.pop();
                let from = self.constant(&begin);
                self.op("tfl.slice", &[&x, &from, &extent], &[], dims, x.elem)
            }
        }
    }

    fn split(&mut self) {
        let even = |value: &Value| matches!(value.dims.first(), Some(Size::Known(size)) if size % 2 == 0);
        let Some(x) = self.find(even) else { return self.unary() };
        let Size::Known(size) = x.dims[0] else { return };
        let axis = "value = dense<0> : tensor<i32>";
        let axis = self.op("tfl.pseudo_const", &[], &[axis], Vec::new(), "i32");
        self.values.pop();
        let mut dims = x.dims.clone();
        dims[0] = Size::Known(size / 2);
        let (one, two) = (self.fresh(), self.fresh());
        let ty = super::ty(&dims, x.elem);
        let made = [one, two].map(|name| Value { name, dims: dims.clone(), elem: x.elem });
        let attrs = super::dim_names(&made).map_or(String::new(), |names| format!("{names}, "));
        self.line(&format!(
            "{}, {} = \"tfl.split\"({}, {}) {{{attrs}num_splits = 2 : i32}} : ({}, {}) -> ({ty}, {ty})",
            made[0].name,
            made[1].name,
            axis.name,
            x.name,
            axis.ty(),
            x.ty()
        ));
        self.values.extend(made);
        self.budget = self.budget.saturating_sub(1);
    }

    /// Parts that are made for it, or are there already, the same one twice among them; joins of joins.
    fn concat(&mut self) {
        let small = |value: &Value| matches!(value.dims.first(), Some(Size::Known(size)) if *size < 9);
        let x = self.near(small);
        let Some(Size::Known(size)) = x.dims.first().copied() else { return self.unary() };
        let inner = self.rng.chance(20) && x.dims.len() > 1 && matches!(x.dims[1], Size::Known(_));
        let mut parts = Vec::new();
        for _ in 0..2 + self.rng.below(2) {
            parts.push(match self.rng.below(8) {
                0..=3 => self.op("neap.opaque", &[&x], &["kind = \"part\""], x.dims.clone(), x.elem),
                4..=5 => self.of("tfl.tanh", &x),
                6 => self.find(|value| value.is(&x)).unwrap_or_else(|| x.clone()),
                _ => x.clone(),
            });
        }
        let axis = usize::from(inner);
        let mut dims = x.dims.clone();
        let Size::Known(along) = dims[axis] else { unreachable!("joined along a known axis") };
        dims[axis] = Size::Known(along * parts.len());
        let activation = if self.rng.chance(10) { "RELU" } else { "NONE" };
        let attrs = [format!("axis = {axis} : i32"), format!("fused_activation_function = \"{activation}\"")];
        let attrs: Vec<&str> = attrs.iter().map(String::as_str).collect();
        let operands: Vec<&Value> = parts.iter().collect();
        let made = self.op("tfl.concatenation", &operands, &attrs, dims, x.elem);
        if self.rng.chance(25) && size < 5 {
            let more = self.op("neap.opaque", &[&x], &["kind = \"more\""], x.dims.clone(), x.elem);
            let mut dims = made.dims.clone();
            if let (0, Size::Known(along)) = (axis, dims[0]) {
                dims[0] = Size::Known(along + size);
                let attrs = ["axis = 0 : i32", "fused_activation_function = \"NONE\""];
                self.op("tfl.concatenation", &[&made, &more], &attrs, dims, x.elem);
            }
        }
    }

    /// A heavy operation and what a runtime may fuse behind it.
    fn heavy(&mut self) {
        let four = |value: &Value| value.elem == "f32" && value.dims.last() == Some(&Size::Known(4));
        let x = self.near(four);
        if x.elem != "f32" || x.dims.last() != Some(&Size::Known(4)) {
            return self.unary();
        }
        let weights = "value = dense<1.0> : tensor<4x4xf32>";
        let w = self.op("tfl.pseudo_const", &[], &[weights], known(&[4, 4]), "f32");
        self.values.pop();
        let mut made = self.op("tfl.fully_connected", &[&x, &w], &[], x.dims.clone(), "f32");
        for _ in 0..self.rng.below(4) {
            let like = made.clone();
            made = match self.rng.below(4) {
                0 => self.of("tfl.relu", &made),
                1 => self.of("tfl.logistic", &made),
                _ => {
                    let other = self.find(|value| value.is(&like) && value.name != like.name);
                    let other = other.unwrap_or_else(|| made.clone());
                    self.op("tfl.add", &[&made, &other], &[], made.dims.clone(), "f32")
                }
            };
        }
    }

    fn lines(&mut self) {
        let x = self.near(|value| !value.dims.is_empty());
        let made = if self.rng.chance(60) { self.of("neap.opaque", &x) } else { x };
        self.op("tfl.softmax", &[&made], &["beta = 1.0 : f32"], made.dims.clone(), made.elem);
    }

    /// Elementwise operations on what nobody reads any more.
    fn sharing(&mut self) {
        let x = self.near(|_| true);
        let scratch = format!("neap.scratch = {} : i64", self.rng.below(40));
        let made = self.op("neap.opaque", &[&x], &[&scratch], x.dims.clone(), x.elem);
        let name = *self.rng.pick(&["tfl.exp", "tfl.neg", "tfl.square"]);
        let next = self.of(name, &made);
        match self.rng.below(3) {
            0 => drop(self.op("tfl.mul", &[&next, &next], &[], next.dims.clone(), next.elem)),
            1 => drop(self.op("tfl.add", &[&next, &made], &[], next.dims.clone(), next.elem)),
            _ => {
                let may = "neap.may_inplace = [{operand = 0 : i64, result = 0 : i64}]";
                drop(self.op("neap.opaque", &[&next], &["kind = \"own\"", may], next.dims.clone(), next.elem));
            }
        }
    }

    fn pad_or_pack(&mut self) {
        let x = self.near(|value| value.known().is_some_and(|dims| dims.len() == 2));
        let Some(dims) = x.known().filter(|dims| dims.len() == 2) else { return self.unary() };
        if self.rng.chance(50) {
            let y = self.of("neap.opaque", &x);
            let to = known(&[2, dims[0], dims[1]]);
            self.op("tfl.pack", &[&x, &y], &["axis = 0 : i32", "values_count = 2 : i32"], to, x.elem);
        } else {
            let attr = "value = dense<[[1, 0], [0, 0]]> : tensor<2x2xi32>";
            let pads = self.op("tfl.pseudo_const", &[], &[attr], known(&[2, 2]), "i32");
            self.values.pop();
            self.op("tfl.pad", &[&x, &pads], &[], known(&[dims[0] + 1, dims[1]]), x.elem);
        }
    }

    fn update(&mut self) {
        let flat = |value: &Value| value.elem == "f32" && value.known().is_some_and(|dims| dims == [2, 3, 4]);
        let Some(x) = self.find(flat) else { return self.unary() };
        let made = self.of("neap.opaque", &x);
        let part = self.op("neap.opaque", &[&x], &["kind = \"row\""], known(&[1, 3, 4]), "f32");
        let start = self.constant(&[1, 0, 0]);
        self.op("tfl.dynamic_update_slice", &[&made, &part, &start], &[], made.dims.clone(), "f32");
    }

    pub(super) fn state(&mut self) {
        let name = *self.rng.pick(&["h", "g"]);
        match self.rng.below(4) {
            0 | 1 => {
                let fits = |value: &Value| value.elem == "f32" && value.known().is_some_and(|dims| dims == [2, 3, 4]);
                let Some(x) = self.find(fits) else { return self.unary() };
                self.line(&format!("\"neap.write\"({}) {{var = @{name}}} : ({}) -> ()", x.name, x.ty()));
                self.budget = self.budget.saturating_sub(1);
            }
            2 => drop(self.op("neap.read", &[], &[&format!("var = @{name}")], known(&[2, 3, 4]), "f32")),
            _ => {
                let made = self.op("neap.read", &[], &["alias", &format!("var = @{name}")], known(&[2, 3, 4]), "f32");
                self.op("tfl.abs", &[&made], &[], made.dims.clone(), made.elem);
            }
        }
    }

    /// Data that goes in and out, in the order of a token.
    pub(super) fn token(&mut self) {
        let ty = "!stablehlo.token";
        let name = self.fresh();
        if self.tokens.is_empty() || self.rng.chance(20) {
            self.line(&format!("{name} = \"stablehlo.create_token\"() : () -> {ty}"));
        } else if self.tokens.len() > 1 && self.rng.chance(30) {
            let (a, b) = (self.rng.pick(&self.tokens).clone(), self.rng.pick(&self.tokens).clone());
            self.line(&format!("{name} = \"stablehlo.after_all\"({a}, {b}) : ({ty}, {ty}) -> {ty}"));
        } else {
            let last = self.tokens.len().saturating_sub(2);
            let token = self.rng.pick(&self.tokens[last..]).clone();
            let x = self.near(|_| true);
            let attr = format!("{{outfeed_config = \"{}\"}}", self.rng.below(3));
            if self.rng.chance(60) {
                self.line(&format!(
                    "{name} = \"stablehlo.outfeed\"({}, {token}) {attr} : ({}, {ty}) -> {ty}",
                    x.name,
                    x.ty()
                ));
            } else {
                let made = Value { name: self.fresh(), dims: known(&[2, 3, 4]), elem: "f32" };
                let to = made.ty();
                self.line(&format!("{}, {name} = \"stablehlo.infeed\"({token}) : ({ty}) -> ({to}, {ty})", made.name));
                self.values.push(made);
            }
        }
        self.tokens.push(name);
        self.budget = self.budget.saturating_sub(1);
    }

    /// Operations of no known kind, random numbers, what nobody reads.
    fn odd(&mut self) {
        let x = self.near(|_| true);
        match self.rng.below(3) {
            0 => drop(self.of("odd.op", &x)),
            1 => {
                let shape = self.constant(&[2, 3, 4]);
                self.op("tfl.random_uniform", &[&shape], &[], known(&[2, 3, 4]), "f32");
            }
            _ => {
                self.next += 1;
                let name = format!("neap.name = \"kept{}\"", self.next);
                let attrs: &[&str] = if self.depth == 0 { &["neap.keep", &name] } else { &[] };
                self.op("neap.opaque", &[&x], attrs, x.dims.clone(), x.elem);
            }
        }
    }
}
