//! Rule 16: results that come out of bodies, for every operation that the embedded tables know. Without it a result would have no bytes
//! that anybody wrote, and a plan could give it any.
//!
//! `neap.if`, `neap.while`, `neap.for` and `neap.fused` have stricter rules of their own (13 and 15) for how many there are. Functions that are
//! called by name are looked at where they have a body in the module. A last operation that no table knows
//! counts as one that ends the body, where something must be handed on.

use super::Verifier;
use crate::attr::Attr;
use crate::facts::{Body, Role, Run};
use crate::module::{BlockId, Def, OpId, ValueId};
use crate::types::Ty;

impl Verifier<'_> {
    /// Checks one operation and what its bodies hand on.
    pub(super) fn bodies(&mut self, op: OpId) {
        let module = self.module;
        let name = module.op_name(op);
        let facts = self.facts.clone();
        let Some(row) = facts.get(name).filter(|row| row.body.run != Run::None) else { return };
        let stricter = matches!(name, "neap.if" | "neap.while" | "neap.for" | "neap.fused" | "neap.call" | "func.call");
        if row.body.run == Run::Kernel {
            return;
        }
        // Results of an asynchronous operation are not what its body yields, but promises of it.
        let promises = row.role == Role::AsyncStart;
        self.fitting(op, &row.body, promises);
        if stricter || promises {
            return;
        }
        let numbers = Numbers {
            bound: row.body.args.below(module.data_operand_count(op)).count(),
            results: module.data_results(op).len(),
        };
        if !module.op_regions(op).is_empty() {
            self.region_count(op, &row.body, numbers);
            for region in 0..module.op_regions(op).len() {
                self.body_region(op, &row.body, region, numbers);
            }
        } else if row.body.callees.is_empty() {
            self.region_count(op, &row.body, numbers);
        } else {
            self.called(op, &row.body, numbers);
        }
        if row.body.run == Run::Loop && numbers.results < numbers.bound {
            let Numbers { bound, results } = numbers;
            self.error(op, format!("has {}, but carries {}", counted(results, "result"), counted(bound, "value")));
        }
    }

    fn region_count(&mut self, op: OpId, body: &Body, numbers: Numbers) {
        let found = self.module.op_regions(op).len();
        if let Some(key) = &body.cases {
            let cases = self.module.attr(op, key).and_then(Attr::as_i64s);
            match cases.map(|cases| 1 + cases.len()) {
                Some(wanted) if wanted == found => {}
                Some(wanted) => {
                    let wanted = counted(wanted, "region");
                    let message =
                        format!("needs {wanted}, one for each of `{key}` and one for all others, has {found}");
                    self.error(op, message);
                }
                None => {
                    self.error(op, format!("needs `{key}`, a list with a number for each region but the first"));
                }
            }
            return;
        }
        let (least, most) = match body.run {
            Run::Loop => (1 + usize::from(body.cond.is_some()), 1 + usize::from(body.cond.is_some())),
            Run::Once => (1, 1),
            // Several bodies that run at the same time cannot all give the same results.
            Run::Parallel if numbers.results > 0 => (1, 1),
            Run::Branch if numbers.results > 0 => (body.regions.unwrap_or(1), body.regions.unwrap_or(usize::MAX)),
            _ => (0, body.regions.unwrap_or(usize::MAX)),
        };
        if (least..=most).contains(&found) {
            return;
        }
        let wanted = if found > most { most } else { least };
        let at = if least == most {
            ""
        } else if found > most {
            "at most "
        } else {
            "at least "
        };
        let why = if body.run == Run::Loop || numbers.results == 0 { "" } else { ", which its results come from" };
        self.error(op, format!("needs {at}{}{why}, has {found}", counted(wanted, "region")));
    }

    fn body_region(&mut self, op: OpId, body: &Body, region: usize, numbers: Numbers) {
        let module = self.module;
        let decides = body.cond == Some(region);
        let wanted = body.hands_on(decides, numbers);
        let Some(entry) = module.region_blocks(op, region).first() else {
            if wanted > 0 {
                self.error(op, format!("region {region} is empty, it must hand on {}", counted(wanted, "value")));
            }
            return;
        };
        // What goes into the trips of `onnx.Scan` is not in the tables.
        if body.run != Run::Loop || !body.args.is_empty() {
            let takes = if body.cond_forwards && !decides { numbers.results } else { numbers.bound };
            self.arguments(op, body, region, *entry, takes);
        }
        for block in module.region_blocks(op, region) {
            self.hands_on(op, region, *block, wanted);
        }
        self.sizes(op, body, region, *entry);
    }

    fn arguments(&mut self, op: OpId, body: &Body, region: usize, entry: BlockId, takes: usize) {
        let module = self.module;
        let found = module.block_args(entry).iter().filter(|arg| !module.is_token(**arg)).count();
        // A body that runs once may read from outside instead.
        let captures = found == 0 && body.run != Run::Loop;
        let wanted = body.lead + takes;
        if found != wanted && !captures {
            let (found, wanted) = (counted(found, "argument"), counted(wanted, "value"));
            self.error(op, format!("the block of region {region} has {found}, it is handed {wanted}"));
        }
    }

    /// The end of a block that leaves a region.
    fn hands_on(&mut self, op: OpId, region: usize, block: BlockId, wanted: usize) {
        let module = self.module;
        let (values, whose) = (counted(wanted, "value"), module.op_name(op));
        let Some(last) = module.terminator(block) else {
            if wanted > 0 {
                self.error(op, format!("region {region} must hand on {values} at its end, its block is empty"));
            }
            return;
        };
        if !module.successors(last).is_empty() {
            return;
        }
        let name = module.op_name(last);
        let ends = match self.facts.get(name) {
            Some(row) => row.role == Role::Yield,
            None => wanted > 0 && module.results(last).is_empty(),
        };
        let found = module.data_operand_count(last);
        if ends && found != wanted {
            let found = counted(found, "value");
            self.error(last, format!("hands on {found}, region {region} of `{whose}` must hand on {values}"));
        } else if !ends && wanted > 0 {
            let message =
                format!("stands at the end of region {region} of `{whose}`, which must hand on {values} there");
            let names = "an operation that ends a body: `scf.yield`, `stablehlo.return`, `tfl.yield`, ..";
            self.error(last, message).help = Some(format!("end the region in {names}"));
        }
    }

    /// What is handed on has as many bytes as what it goes to, where both are known: nobody converts it on the way.
    fn sizes(&mut self, op: OpId, body: &Body, region: usize, entry: BlockId) {
        let module = self.module;
        if body.reshapes {
            return;
        }
        let decides = body.cond == Some(region);
        let operands: Vec<ValueId> = module.data_operands(op).collect();
        let bound: Vec<ValueId> = body.args.below(operands.len()).map(|at| operands[at]).collect();
        let results = module.data_results(op);
        let first = !body.cond_forwards || decides;
        let args = module.block_args(entry).iter().skip(body.lead).copied();
        let arguments: Vec<(ValueId, ValueId)> =
            if first { bound.iter().copied().zip(args).collect() } else { results.iter().copied().zip(args).collect() };
        for (from, to) in arguments {
            self.same_bytes(op, from, to);
        }
        for block in module.region_blocks(op, region) {
            let Some(last) = module.terminator(*block).filter(|last| module.successors(*last).is_empty()) else {
                continue;
            };
            let ends = self.facts.get(module.op_name(last)).is_some_and(|row| row.role == Role::Yield);
            let lead = if body.cond_forwards { usize::from(decides) } else { body.yield_lead };
            let to: &[ValueId] = match (decides, body.cond_forwards) {
                (true, false) => &[],
                (false, true) => &bound,
                // What a loop gathers of every trip is larger than what one trip hands on.
                _ if body.run == Run::Loop && !body.cond_forwards => &results[..bound.len().min(results.len())],
                _ => results,
            };
            let handed: Vec<ValueId> = module.data_operands(last).skip(lead).collect();
            for (from, to) in handed.into_iter().zip(to).filter(|_| ends) {
                self.same_bytes(last, from, *to);
            }
        }
    }

    fn same_bytes(&mut self, op: OpId, from: ValueId, to: ValueId) {
        let module = self.module;
        let bytes = |value: ValueId| module.ty_bytes(module.value_ty(value), &mut |_| None).ok();
        if let (Some(own), Some(place)) = (bytes(from), bytes(to))
            && own != place
        {
            let (from, to) = (self.value_name(from), self.value_name(to));
            self.error(op, format!("hands {from}, {own} bytes, to {to}, {place} bytes"));
        }
    }

    /// What is handed on fits into what it goes to, by what operations and functions say of their results and arguments: at the bounds of named
    /// dimensions, and with the bytes that are given. A plan would be too small otherwise. Arguments of bodies say nothing and are as large as
    /// what is handed to them.
    fn fitting(&mut self, op: OpId, body: &Body, promises: bool) {
        let module = self.module;
        if body.reshapes {
            return;
        }
        let operands: Vec<ValueId> = module.data_operands(op).collect();
        let bound: Vec<ValueId> = body.args.below(operands.len()).map(|at| operands[at]).collect();
        let results = if promises { &[] } else { module.data_results(op) };
        let looped = body.run == Run::Loop;
        // What a loop gathers of every trip is larger than what one trip hands on.
        let results = if looped && !body.cond_forwards { &results[..bound.len().min(results.len())] } else { results };
        if looped && !body.cond_forwards {
            // There may be no trip.
            self.fit(op, op, &bound, results);
        }
        let here = module.op_regions(op).len();
        let named = if here == 0 { body.callees.len() } else { 0 };
        let funcs: Vec<Option<OpId>> = (0..named).map(|at| module.callee(op, &body.callees[at])).collect();
        let takes = |func: OpId| module.func_args(func).get(body.lead..).unwrap_or(&[]);
        for func in funcs.iter().flatten() {
            self.fit(op, op, &bound, takes(*func));
        }
        for at in 0..here.max(named) {
            let decides = body.cond == Some(at);
            let ends = match funcs.get(at) {
                Some(Some(func)) => module.ends(*func, 0),
                Some(None) => Vec::new(),
                None => module.ends(op, at),
            };
            let lead = if decides { 1 } else { body.yield_lead };
            for last in ends {
                let handed: Vec<ValueId> = module.data_operands(last).skip(lead).collect();
                if decides == body.cond_forwards {
                    self.fit(op, last, &handed, results);
                }
                // The next trip.
                for func in funcs.iter().flatten().filter(|_| looped && !decides) {
                    self.fit(op, last, &handed, takes(*func));
                }
            }
        }
    }

    /// Reports values that are larger than what they go to, at the operation that hands them on.
    fn fit(&mut self, around: OpId, op: OpId, handed: &[ValueId], places: &[ValueId]) {
        let module = self.module;
        for (from, to) in handed.iter().zip(places) {
            let (Ok(own), Ok(place)) = (module.value_bytes(*from), module.value_bytes(*to)) else { continue };
            let known =
                |value: ValueId| module.ty_bytes(module.value_ty(value), &mut |_| None) == module.value_bytes(value);
            // Bytes that are said to be none are not looked for; around regions, two types of known size are compared as such.
            if own <= place || place == 0 || (!module.op_regions(around).is_empty() && known(*from) && known(*to)) {
                continue;
            }
            let (at, whose) = match module.value(*to).def() {
                Def::Result(op, _) => (op, module.op_name(op).to_owned()),
                Def::Arg(block, _) => {
                    let func = module.region_op(module.block_region(block));
                    (func, format!("@{}", module.sym_name(func).unwrap_or_default()))
                }
            };
            let [from, to] = [*from, *to].map(|value| self.value_name(value));
            let (place_span, message) =
                (module.op(at).span, format!("{to} holds up to {place} bytes by what is said here"));
            let what = format!("hands {from}, up to {own} bytes, to {to} of `{whose}`, up to {place} bytes");
            let error = self.error(op, what);
            if at != op {
                error.related.push((place_span, message));
            }
            error.help = Some("name the larger dimension in `neap.dims`, or give the bytes in `neap.bytes`".to_owned());
        }
    }

    /// Functions that are called by name instead.
    fn called(&mut self, op: OpId, body: &Body, numbers: Numbers) {
        let module = self.module;
        for (at, key) in body.callees.iter().enumerate() {
            let name = module.attr(op, key).and_then(|attr| attr.as_symbol().or(attr.as_str()));
            let func = name.and_then(|name| module.symbol(name)).filter(|func| module.entry(*func).is_some());
            let Some((inputs, outputs)) = func.and_then(|func| module.func_types(func)) else { continue };
            let data = |types: &[Ty]| types.iter().filter(|ty| !self.is_token_ty(**ty)).count();
            let wanted = (numbers.bound, body.hands_on(body.cond == Some(at), numbers));
            let found = (data(inputs), data(outputs));
            if found != wanted {
                let [takes, gives, handed, given] =
                    [(found.0, "value"), (found.1, "value"), (wanted.0, "value"), (wanted.1, "value")]
                        .map(|(count, what)| counted(count, what));
                let name = name.unwrap_or_default();
                self.error(
                    op,
                    format!(
                        "`{key}` is handed {handed} and must give {given}, @{name} takes {takes} and gives {gives}"
                    ),
                );
            }
        }
    }
}

/// How many values an operation hands to its bodies, and how many it has as results.
#[derive(Clone, Copy)]
struct Numbers {
    bound: usize,
    results: usize,
}

impl Body {
    /// How many values a body hands on at its end.
    fn hands_on(&self, decides: bool, numbers: Numbers) -> usize {
        match (decides, self.cond_forwards) {
            (true, true) => 1 + numbers.results,
            (true, false) => 1,
            (false, true) => numbers.bound,
            (false, false) => self.yield_lead + numbers.results,
        }
    }
}

/// `1 value`, `2 values`.
fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
