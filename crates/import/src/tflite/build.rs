//! From a model's plain data to a module: one function per subgraph.

use super::model::{Graph, Model, Operator, Setting, Tensor, tensor_place};
use super::{schema, types};
use neap_ir::diag::Diagnostic;
use neap_ir::facts::{Facts, Resource};
use neap_ir::origin::origin;
use neap_ir::types::{Dim, Type};
use neap_ir::{Attr, BlockId, Module, OpId, OpSpec, Span, Ty, ValueId};
use std::collections::{BTreeMap, BTreeSet};

/// Builds the module.
///
/// # Errors
/// What a subgraph computes is wrong: a tensor is produced twice, read before it is produced, or not produced at all.
pub fn module(model: &Model) -> Result<Module, Vec<Diagnostic>> {
    let mut module = Module::new();
    let names = function_names(model);
    let facts = Facts::builtin();
    let mut errors = Vec::new();
    let variables = declare_variables(&mut module, model, &names);
    for index in 0..model.graphs.len() {
        let mut build = Builder {
            module: &mut module,
            model,
            facts: &facts,
            names: &names,
            variables: &variables,
            index,
            errors: &mut errors,
        };
        build.function();
    }
    if errors.is_empty() { Ok(module) } else { Err(errors) }
}

/// `main` for subgraph 0, each other one's own name where that is a new identifier, else `subgraph_N`.
fn function_names(model: &Model) -> Vec<String> {
    let mut taken = BTreeSet::from(["main".to_owned()]);
    let mut names = vec!["main".to_owned()];
    for (index, graph) in model.graphs.iter().enumerate().skip(1) {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.' || c == '$';
        let starts = graph.name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let own = (starts && graph.name.chars().all(is_plain) && graph.name.len() < 200).then(|| graph.name.clone());
        let mut name = own.filter(|name| !taken.contains(name)).unwrap_or_else(|| format!("subgraph_{index}"));
        while !taken.insert(name.clone()) {
            name.push('_');
        }
        names.push(name);
    }
    names
}

/// State: the symbol of each variable tensor by (subgraph, tensor), and those of resource variables, which are declared too.
struct Variables {
    tensors: BTreeMap<(usize, usize), String>,
}

fn declare_variables(module: &mut Module, model: &Model, names: &[String]) -> Variables {
    let mut variables = Variables { tensors: BTreeMap::new() };
    let mut declared: BTreeSet<String> = names.iter().cloned().collect();
    for (index, graph) in model.graphs.iter().enumerate() {
        for (number, tensor) in graph.tensors.iter().enumerate() {
            if tensor.is_variable && !model.is_constant(tensor) && !graph.inputs.contains(&number) {
                let symbol = unique(&mut declared, format!("{}.{}", names[index], tensor.name));
                declare(module, &symbol, tensor);
                variables.tensors.insert((index, number), symbol);
            }
        }
    }
    for (name, tensor) in resource_variables(model) {
        let symbol = unique(&mut declared, if name.is_empty() { "variable".to_owned() } else { name });
        declare(module, &symbol, tensor);
    }
    variables
}

/// Resource variables by the name of their handle, each with the first tensor that is read from or assigned to it.
fn resource_variables(model: &Model) -> Vec<(String, &Tensor)> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for graph in &model.graphs {
        let mut handles: BTreeMap<usize, String> = BTreeMap::new();
        for operator in &graph.operators {
            let name = schema::operator(model.codes[operator.code].builtin);
            let first = operator.inputs.first().copied().flatten();
            let content = match name {
                Some("var_handle") => {
                    if let Some(result) = operator.outputs.first() {
                        handles.insert(*result, handle_name(operator));
                    }
                    continue;
                }
                Some("read_variable") => operator.outputs.first().copied(),
                Some("assign_variable") => operator.inputs.get(1).copied().flatten(),
                _ => continue,
            };
            if let (Some(handle), Some(content)) = (first.and_then(|first| handles.get(&first)), content)
                && seen.insert(handle.clone())
            {
                found.push((handle.clone(), &graph.tensors[content]));
            }
        }
    }
    found
}

fn handle_name(operator: &Operator) -> String {
    let text = |key: &str| {
        operator.options.iter().find_map(|(name, setting)| match setting {
            Setting::Text(text) if *name == key => Some(text.as_str()),
            _ => None,
        })
    };
    let (container, shared) = (text("container").unwrap_or(""), text("shared_name").unwrap_or(""));
    if container.is_empty() { shared.to_owned() } else { format!("{container}/{shared}") }
}

fn unique(taken: &mut BTreeSet<String>, mut name: String) -> String {
    while !taken.insert(name.clone()) {
        name.push('_');
    }
    name
}

fn declare(module: &mut Module, symbol: &str, tensor: &Tensor) {
    let Some(ty) = types::tensor(module, tensor) else { return };
    let attrs = vec![("sym_name", Attr::str(symbol)), ("type", Attr::Type(ty))];
    let op = module.create(OpSpec { name: "neap.var", attrs, ..OpSpec::default() });
    let body = module.body();
    module.append(body, op);
}

/// Builds one function.
struct Builder<'a> {
    module: &'a mut Module,
    model: &'a Model,
    facts: &'a Facts,
    names: &'a [String],
    variables: &'a Variables,
    index: usize,
    errors: &'a mut Vec<Diagnostic>,
}

/// What is known about the tensors of a subgraph while it is built.
struct State {
    block: BlockId,
    values: Vec<Option<ValueId>>,
    tys: Vec<Ty>,
    /// The operator that produces each tensor.
    producers: Vec<Option<usize>>,
    no_value: Option<ValueId>,
    /// The operation of each operator so far.
    ops: Vec<OpId>,
}

impl Builder<'_> {
    fn function(&mut self) {
        let graph = &self.model.graphs[self.index];
        let Some(tys) = self.tensor_types(graph) else { return };
        let producers = self.producers(graph);
        let inputs: Vec<Ty> = graph.inputs.iter().map(|input| tys[*input]).collect();
        let outputs: Vec<Ty> = graph.outputs.iter().map(|output| tys[*output]).collect();
        let func = self.module.create_func(&self.names[self.index], &inputs, &outputs);
        let block = self.module.entry(func).expect("a function has a block");
        let values = vec![None; graph.tensors.len()];
        let mut state = State { block, values, tys, producers, no_value: None, ops: Vec::new() };
        for (position, input) in graph.inputs.iter().enumerate() {
            let name = Attr::str(&graph.tensors[*input].name);
            self.module.set_arg_attr(func, position, "neap.name", Some(name));
            if types::is_handle(&graph.tensors[*input]) {
                let bytes = self.module.i64s_attr(vec![4]);
                self.module.set_arg_attr(func, position, "neap.bytes", Some(bytes));
            }
            let value = self.module.block_args(block)[position];
            if graph.tensors[*input].name.is_empty() {
                self.number(value, *input);
            }
            state.values[*input] = Some(value);
        }
        for number in 0..graph.operators.len() {
            self.operator(graph, number, &mut state);
        }
        self.control(graph, &state);
        self.results(graph, &mut state);
    }

    /// A token from each operator to those that must wait for it.
    fn control(&mut self, graph: &Graph, state: &State) {
        let mut last: Option<(usize, ValueId)> = None;
        for (first, then) in &graph.control {
            let token = match last {
                Some((maker, token)) if maker == *first => token,
                _ => {
                    let ty = self.module.token_ty();
                    self.module.push_result(state.ops[*first], ty)
                }
            };
            last = Some((*first, token));
            self.module.push_operand(state.ops[*then], token);
        }
    }

    fn wrong(&mut self, what: String) -> &mut Diagnostic {
        self.errors.push(Diagnostic::error(Span::default(), what));
        self.errors.last_mut().expect("just pushed")
    }

    fn tensor_types(&mut self, graph: &Graph) -> Option<Vec<Ty>> {
        let before = self.errors.len();
        let mut tys = Vec::new();
        for (number, tensor) in graph.tensors.iter().enumerate() {
            match types::tensor(self.module, tensor) {
                Some(ty) => tys.push(ty),
                None => {
                    let place = tensor_place(self.index, number, tensor);
                    self.wrong(format!("{place}: element type {} is not known to this version", tensor.ty));
                }
            }
        }
        (self.errors.len() == before).then_some(tys)
    }

    /// Who produces each tensor; errors for tensors produced twice, or produced and given.
    fn producers(&mut self, graph: &Graph) -> Vec<Option<usize>> {
        let mut producers: Vec<Option<usize>> = vec![None; graph.tensors.len()];
        let mut is_input = vec![false; graph.tensors.len()];
        for input in &graph.inputs {
            if std::mem::replace(&mut is_input[*input], true) {
                let place = tensor_place(self.index, *input, &graph.tensors[*input]);
                self.wrong(format!("{place}: listed twice among the inputs"));
            }
        }
        for (number, operator) in graph.operators.iter().enumerate() {
            for output in &operator.outputs {
                let tensor = &graph.tensors[*output];
                let place = tensor_place(self.index, *output, tensor);
                if let Some(first) = producers[*output].replace(number) {
                    let what = format!("{place}: produced by operator {first} and by operator {number}");
                    self.wrong(what).help =
                        Some("a value has one producer: give each result a tensor of its own".into());
                } else if is_input[*output] {
                    self.wrong(format!("{place}: an input, but also produced by operator {number}"));
                } else if self.model.is_constant(tensor) {
                    self.wrong(format!("{place}: a constant, but also produced by operator {number}"));
                }
            }
        }
        producers
    }

    fn operator(&mut self, graph: &Graph, number: usize, state: &mut State) {
        let operator = &graph.operators[number];
        let code = &self.model.codes[operator.code];
        let name = match schema::operator(code.builtin) {
            Some(name) if code.builtin != schema::CUSTOM => format!("tfl.{name}"),
            _ => custom_name(&code.custom),
        };
        let mut operands = Vec::new();
        for (position, input) in operator.inputs.iter().enumerate() {
            let value = match input {
                None => Some(self.no_value(state)),
                Some(input) => self.read(graph, *input, number, &name, position, state),
            };
            operands.extend(value);
        }
        let results: Vec<Ty> = operator.outputs.iter().map(|output| state.tys[*output]).collect();
        let mut attrs: Vec<(&str, Attr)> = Vec::new();
        for (key, setting) in &operator.options {
            if let Some((key, attr)) = self.setting(key, setting) {
                attrs.push((key, attr));
            }
        }
        if code.builtin == schema::CUSTOM {
            attrs.push(("custom_code", Attr::str(&code.custom)));
        }
        if !operator.outputs.is_empty() {
            let names = operator.outputs.iter().map(|output| Attr::str(&graph.tensors[*output].name));
            attrs.push(("neap.names", Attr::Array(names.collect())));
        }
        // A handle that no `tfl.var_handle` makes (a hash table's) is an identifier of four bytes in the arena.
        if name != "tfl.var_handle" && operator.outputs.iter().any(|output| types::is_handle(&graph.tensors[*output])) {
            let bytes = |output: &usize| {
                let ty = state.tys[*output];
                if types::is_handle(&graph.tensors[*output]) { 4 } else { plain_bytes(self.module, ty) }
            };
            let bytes = operator.outputs.iter().map(bytes).collect();
            attrs.push(("neap.bytes", self.module.i64s_attr(bytes)));
        }
        let op = self.module.create(OpSpec {
            name: &name,
            operands: &operands,
            results: &results,
            attrs,
            loc: origin(&self.names[self.index], number),
        });
        self.module.append(state.block, op);
        if operator.outputs.iter().any(|output| graph.tensors[*output].name.is_empty()) {
            // Results of one operation have one name in text, and a number each.
            self.module.results(op).to_vec().into_iter().for_each(|value| self.number(value, operator.outputs[0]));
        }
        state.ops.push(op);
        for (position, output) in operator.outputs.iter().enumerate() {
            state.values[*output].get_or_insert(self.module.results(op)[position]);
        }
    }

    /// The value of a tensor that an operator reads.
    fn read(
        &mut self,
        graph: &Graph,
        tensor: usize,
        reader: usize,
        name: &str,
        position: usize,
        state: &mut State,
    ) -> Option<ValueId> {
        if let Some(symbol) = self.variables.tensors.get(&(self.index, tensor)) {
            let touches = |effect: &neap_ir::facts::Effect| effect.resource == Resource::Handle(position);
            let known = self.facts.get(name);
            let is_handle = known.is_none_or(|facts| facts.effects.iter().any(touches));
            let how = if is_handle { "neap.handle" } else { "neap.read" };
            return Some(self.variable(how, symbol, state.tys[tensor], state.block));
        }
        if let Some(value) = self.known(graph, tensor, state) {
            return Some(value);
        }
        let place = tensor_place(self.index, tensor, &graph.tensors[tensor]);
        match state.producers[tensor] {
            Some(producer) => {
                let what = format!("{place}: operator {reader} reads it before operator {producer} produces it");
                self.wrong(what).help =
                    Some("operators must be in an order in which every operand is there: a cycle has none".into());
            }
            None => {
                self.wrong(format!("{place}: operator {reader} reads it, but nothing produces it"));
            }
        }
        None
    }

    /// The value of a tensor that has one by now: an argument, a result, or a constant, which is made here.
    fn known(&mut self, graph: &Graph, tensor: usize, state: &mut State) -> Option<ValueId> {
        if state.values[tensor].is_none() && self.model.is_constant(&graph.tensors[tensor]) {
            let op = self.constant(&graph.tensors[tensor], state.tys[tensor]);
            self.module.append(state.block, op);
            let value = self.module.results(op)[0];
            // Its content stays in the file: the tensor's index tells it from others, also once it has been printed and read again.
            self.number(value, tensor);
            state.values[tensor] = Some(value);
        }
        state.values[tensor]
    }

    /// Calls a value by the index of its tensor, which is the same whatever the order and however often the text is printed and read.
    fn number(&mut self, value: ValueId, tensor: usize) {
        let name = self.module.intern(&format!("t{tensor}"));
        self.module.set_value_name(value, Some(name));
    }

    fn constant(&mut self, tensor: &Tensor, ty: Ty) -> OpId {
        let mut attrs = vec![("neap.names", Attr::Array(vec![Attr::str(&tensor.name)]))];
        if let Some(value) = small_integers(self.module, tensor, ty, self.model.buffers[tensor.buffer].value.as_deref())
        {
            attrs.push(("value", value));
        }
        self.module.create(OpSpec { name: "neap.constant", results: &[ty], attrs, ..OpSpec::default() })
    }

    fn variable(&mut self, how: &str, symbol: &str, ty: Ty, block: BlockId) -> ValueId {
        let attrs = vec![("var", Attr::symbol(symbol))];
        let op = self.module.create(OpSpec { name: how, results: &[ty], attrs, ..OpSpec::default() });
        self.module.append(block, op);
        self.module.results(op)[0]
    }

    /// The value that stands for operands that are not given, made once per function.
    fn no_value(&mut self, state: &mut State) -> ValueId {
        if let Some(value) = state.no_value {
            return value;
        }
        let none = self.module.intern_ty(Type::None);
        let attrs = vec![("value", Attr::Unit)];
        let op = self.module.create(OpSpec { name: "tfl.no_value", results: &[none], attrs, ..OpSpec::default() });
        self.module.append(state.block, op);
        *state.no_value.insert(self.module.results(op)[0])
    }

    fn results(&mut self, graph: &Graph, state: &mut State) {
        let mut operands = Vec::new();
        for output in &graph.outputs {
            let value = match self.variables.tensors.get(&(self.index, *output)) {
                Some(symbol) => Some(self.variable("neap.read", symbol, state.tys[*output], state.block)),
                None => self.known(graph, *output, state),
            };
            match value {
                Some(value) => operands.push(value),
                None => {
                    let place = tensor_place(self.index, *output, &graph.tensors[*output]);
                    self.wrong(format!("{place}: an output, but nothing produces it"));
                }
            }
        }
        let op = self.module.create(OpSpec { name: "func.return", operands: &operands, ..OpSpec::default() });
        self.module.append(state.block, op);
    }

    /// An option as an attribute; lists that are empty and texts that are empty are not written.
    fn setting<'k>(&mut self, key: &'k str, setting: &Setting) -> Option<(&'k str, Attr)> {
        let attr = match setting {
            Setting::Int { value, width } => Attr::Int { value: (*value).into(), ty: self.module.int_ty(*width) },
            Setting::Float(value) => self.module.f32_attr(*value),
            Setting::Bool(value) => Attr::Bool(*value),
            Setting::Text(text) if text.is_empty() => return None,
            Setting::Text(text) => Attr::str(text),
            Setting::Type(number) => Attr::Type(types::element(self.module, *number)?),
            Setting::Graph(index) => {
                let key = match key.strip_suffix("_subgraph_index").unwrap_or(key) {
                    "then" => "then_branch",
                    "else" => "else_branch",
                    "init" => "session_init_function",
                    "subgraph" => "callee",
                    other => key.get(..other.len()).unwrap_or(key),
                };
                return Some((key, Attr::symbol(&self.names[*index])));
            }
            Setting::Ints(values) if values.is_empty() => return None,
            Setting::Ints(values) => self.module.i64s_attr(values.clone()),
            Setting::Floats(values) => Attr::Array(values.iter().map(|value| self.module.f32_attr(*value)).collect()),
        };
        Some((key, attr))
    }
}

fn plain_bytes(module: &Module, ty: Ty) -> i64 {
    module.ty_bytes(ty, &mut |_| None).map_or(0, |bytes| bytes as i64)
}

/// `custom.NAME` with characters that no identifier has replaced; the exact name is in `custom_code`.
fn custom_name(code: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '$' || c == '.' { c } else { '_' };
    let name: String = code.chars().take(200).map(plain).collect();
    format!("custom.{}", if name.is_empty() { "unnamed" } else { &name })
}

/// The `dense<..>` of a constant of few integers; the data are little-endian.
fn small_integers(module: &mut Module, tensor: &Tensor, ty: Ty, bytes: Option<&[u8]>) -> Option<Attr> {
    let bytes = bytes?;
    let elements: u64 = match module.ty(ty) {
        Type::Tensor { shape: Some(shape), .. } => shape.iter().try_fold(1u64, |product, dim| match dim {
            Dim::Known(size) => product.checked_mul(*size),
            Dim::Dynamic => None,
        })?,
        _ => return None,
    };
    let values: Vec<i64> = match tensor.ty {
        2 => bytes.chunks_exact(4).map(|chunk| i32::from_le_bytes(chunk.try_into().expect("4 bytes")).into()).collect(),
        4 => bytes.chunks_exact(8).map(|chunk| i64::from_le_bytes(chunk.try_into().expect("8 bytes"))).collect(),
        _ => return None,
    };
    let is_plain = tensor.quant.is_none() && tensor.shape.len() <= 2;
    if !is_plain || values.len() as u64 != elements || elements == 0 {
        return None;
    }
    let list = |values: &[i64]| {
        let items: Vec<String> = values.iter().map(i64::to_string).collect();
        format!("[{}]", items.join(", "))
    };
    let is_splat = values.iter().all(|value| *value == values[0]);
    let text = match tensor.shape.len() {
        _ if is_splat => values[0].to_string(),
        1 => list(&values),
        _ => {
            let rows: Vec<String> = values.chunks(values.len() / tensor.shape[0] as usize).map(list).collect();
            format!("[{}]", rows.join(", "))
        }
    };
    Some(Attr::Elements { text: format!("dense<{text}>").into(), ty })
}
