//! Rules 8 and 11 for the attributes of a plan.

use super::Verifier;
use super::symbols::Symbols;
use crate::attr::Attr;
use crate::module::{Attrs, OpId, ValueId};
use crate::plan;

impl Verifier<'_> {
    /// Checks the plan attributes of one operation, and those of a function's arguments and results.
    pub(super) fn plan(&mut self, op: OpId, symbols: &Symbols<'_>) {
        let module = self.module;
        let props = module.props(op).into_iter().flatten();
        for (name, value) in props.chain(module.attrs(op)) {
            let key = module.text(*name);
            if key.starts_with("neap.") {
                self.op_attr(op, key, value, symbols);
            }
        }
        for (list, what) in [("arg_attrs", "argument"), ("res_attrs", "result")] {
            let Some(Attr::Array(items)) = module.attr(op, list) else { continue };
            for (at, item) in items.iter().enumerate() {
                if let Attr::Dict(dict) = item {
                    self.slot_attrs(op, &format!("{what} {at}"), dict, symbols);
                    if what == "argument"
                        && let Some(arg) = module.func_args(op).get(at)
                        && let Some(value) = module.arg_attr(op, at, "neap.dims")
                    {
                        self.dims(op, value, &[*arg]);
                    }
                }
            }
        }
        if module.attr(op, plan::SCRATCH_OFFSET).is_some() && module.attr(op, plan::SCRATCH).is_none() {
            self.error(op, "`neap.scratch_offset` without `neap.scratch`");
        }
    }

    fn op_attr(&mut self, op: OpId, key: &str, value: &Attr, symbols: &Symbols<'_>) {
        let results = self.module.data_results(op).len();
        match key {
            plan::OFFSETS | "neap.pin" => self.numbers(op, key, value, results, -1),
            "neap.bytes" => self.numbers(op, key, value, results, 0),
            plan::LIVE => self.live(op, value, results),
            plan::ARENA => self.arenas(op, key, value, results, symbols),
            "neap.class" => self.classes(op, value, results, symbols),
            plan::VIEW => self.records(op, key, value, &["byte_offset", "operand", "result"]),
            plan::INPLACE | plan::MAY_INPLACE => self.records(op, key, value, &["operand", "result"]),
            plan::HANDED => self.handed(op, value),
            plan::PLACE | plan::MAY_PLACE => self.records(op, key, value, &["byte_offset", "operand"]),
            plan::SCRATCH_ARENA => drop(self.declared(op, key, value, "neap.arena", symbols)),
            plan::ARG_OFFSETS => self.numbers(op, key, value, self.body_args(op), -1),
            plan::ARG_ARENAS => self.arenas(op, key, value, self.body_args(op), symbols),
            plan::SCRATCH
            | plan::SCRATCH_OFFSET
            | plan::CALLEE_BYTES
            | "neap.cycles"
            | plan::PEAK
            | plan::ARENA_BYTES
            | plan::LOWER_BOUND => self.number(op, key, value, 0),
            plan::ALIGN | plan::CALLEE_ALIGN => self.alignment(op, key, value),
            "neap.names" => self.strings(op, key, value, results, "data results"),
            "neap.dims" => self.dims(op, value, self.module.data_results(op)),
            "neap.bounds" | plan::BUCKET => self.bounds(op, value),
            _ => self.word(op, "", key, value),
        }
    }

    /// Attributes of an argument or a result.
    fn slot_attrs(&mut self, op: OpId, what: &str, dict: &Attrs, symbols: &Symbols<'_>) {
        for (name, value) in dict {
            let key = self.module.text(*name);
            match key {
                plan::OFFSET => self.number(op, key, value, -1),
                "neap.bytes" | "neap.pin" if value.as_i64().is_some() => self.number(op, key, value, 0),
                "neap.bytes" | "neap.pin" => self.numbers(op, key, value, 1, 0),
                plan::ARENA | plan::EXTERNAL_IN => self.arenas(op, key, value, 1, symbols),
                _ => self.word(op, &format!(" of {what}"), key, value),
            }
        }
    }

    /// Attributes that are one of a few words, a string, or nothing but there.
    fn word(&mut self, op: OpId, whose: &str, key: &str, value: &Attr) {
        let words: &[&str] = match key {
            plan::IO => &["arena", "held", "external"],
            plan::PROOF => &["certified", "search", "tree", "none"],
            "neap.reuse" => &["never", "auto", "warn", "must"],
            "neap.keep" | "neap.resident" => {
                if *value != Attr::Unit {
                    self.error(op, format!("`{key}`{whose} has no value"));
                }
                return;
            }
            "neap.group" | "neap.pipe" | "neap.name" | plan::FINGERPRINT | plan::PROFILE => &[],
            _ => return,
        };
        match value.as_str() {
            Some(text) if words.is_empty() || words.contains(&text) => {}
            Some(text) => {
                self.error(op, format!("`{key}`{whose} is \"{text}\", not one of {}", words.join(", ")));
            }
            None => {
                self.error(op, format!("`{key}`{whose} must be a string"));
            }
        }
    }

    /// Indices of results of the operation around, in ascending order.
    fn handed(&mut self, op: OpId, value: &Attr) {
        let around = self.module.parent_op(op).map_or(0, |around| self.module.data_results(around).len());
        let list = value.as_i64s();
        let fits = list.is_some_and(|list| {
            list.windows(2).all(|pair| pair[0] < pair[1]) && list.iter().all(|at| (0..around as i64).contains(at))
        });
        if !fits || self.module.op(op).next().is_some() {
            let message =
                "`neap.handed` lists, in ascending order, results of the operation around the body that this one ends";
            self.error(op, message);
        }
    }

    fn number(&mut self, op: OpId, key: &str, value: &Attr, least: i64) {
        match value.as_i64() {
            Some(number) if number >= least => {}
            Some(number) => {
                self.error(op, format!("`{key}` is {number}, less than {least}"));
            }
            None => {
                self.error(op, format!("`{key}` must be an integer"));
            }
        }
    }

    /// A power of two.
    pub(super) fn alignment(&mut self, op: OpId, key: &str, value: &Attr) {
        if !value.as_i64().is_some_and(|align| align > 0 && align & (align - 1) == 0) {
            self.error(op, format!("`{key}` must be a power of two"));
        }
    }

    fn numbers(&mut self, op: OpId, key: &str, value: &Attr, count: usize, least: i64) {
        let numbers = match value {
            Attr::DenseInts { values, .. } => values,
            _ => {
                self.error(op, format!("`{key}` must be `array<i64: ..>`"));
                return;
            }
        };
        if numbers.len() != count {
            self.error(op, format!("`{key}` has {} numbers for {count} {}", numbers.len(), slots(key)));
        }
        if let Some(number) = numbers.iter().find(|number| **number < least) {
            self.error(op, format!("`{key}` has {number}, less than {least}"));
        }
    }

    fn live(&mut self, op: OpId, value: &Attr, results: usize) {
        let Attr::DenseInts { values, .. } = value else {
            self.error(op, "`neap.live` must be `array<i64: ..>`");
            return;
        };
        if values.len() != 2 * results {
            self.error(
                op,
                format!("`neap.live` has {} numbers for {results} data results, two for each are needed", values.len()),
            );
        }
        if let Some(pair) = values.chunks_exact(2).find(|pair| pair[0] < 0 || pair[0] >= pair[1]) {
            self.error(
                op,
                format!(
                    "`neap.live` has [{}, {}): a live range begins at 0 or later and ends after that",
                    pair[0], pair[1]
                ),
            );
        }
    }

    /// How many arguments the bodies of an operation have.
    fn body_args(&self, op: OpId) -> usize {
        let blocks = self.module.op_regions(op).iter().flat_map(|region| self.module.blocks(*region));
        blocks.map(|block| self.module.block_args(*block).len()).sum()
    }

    /// One name for each `?`.
    fn dims(&mut self, op: OpId, value: &Attr, values: &[ValueId]) {
        let unknown: usize = values.iter().map(|value| self.module.dynamic_axes(*value).len()).sum();
        self.strings(op, "neap.dims", value, unknown, "dimensions `?`");
    }

    fn strings(&mut self, op: OpId, key: &str, value: &Attr, count: usize, what: &str) {
        match value {
            Attr::Array(items) if items.iter().all(|item| item.as_str().is_some()) => {
                if items.len() != count {
                    self.error(op, format!("`{key}` has {} strings for {count} {what}", items.len()));
                }
            }
            _ => {
                self.error(op, format!("`{key}` must be an array of strings"));
            }
        }
    }

    fn arenas(&mut self, op: OpId, key: &str, value: &Attr, count: usize, symbols: &Symbols<'_>) {
        let items = match value {
            Attr::Array(items) if items.len() == count => &items[..],
            Attr::Array(items) => {
                self.error(op, format!("`{key}` has {} symbols for {count} {}", items.len(), slots(key)));
                return;
            }
            one => std::slice::from_ref(one),
        };
        for item in items {
            self.declared(op, key, item, "neap.arena", symbols);
        }
    }

    fn classes(&mut self, op: OpId, value: &Attr, count: usize, symbols: &Symbols<'_>) {
        self.strings(op, "neap.class", value, count, "data results");
        let Attr::Array(items) = value else { return };
        for item in items.iter().filter(|item| item.as_str().is_some_and(|name| !name.is_empty())) {
            self.declared(op, "neap.class", item, "neap.class", symbols);
        }
    }

    /// A reference to a declaration of a kind.
    pub(super) fn declared(
        &mut self,
        op: OpId,
        key: &str,
        value: &Attr,
        kind: &str,
        symbols: &Symbols<'_>,
    ) -> Option<OpId> {
        let found = symbols.resolve(op, value).filter(|found| self.module.op_name(*found) == kind);
        if found.is_none() {
            let name = crate::print::attr_text(self.module, value);
            self.error(op, format!("`{key}` = {name} names no `{kind}`"));
        }
        found
    }

    /// `[{operand, result, byte_offset}]`, with the keys given.
    fn records(&mut self, op: OpId, key: &str, value: &Attr, keys: &[&str]) {
        let Attr::Array(items) = value else {
            self.error(op, format!("`{key}` must be an array of dictionaries"));
            return;
        };
        let results = self.module.data_results(op).len();
        let operands = self.module.data_operand_count(op);
        let mut seen = Vec::new();
        for item in items {
            let Some(record) = self.record(item, keys) else {
                self.error(op, format!("an entry of `{key}` must have the integers {}", keys.join(", ")));
                continue;
            };
            let limit = |at: usize| match keys[at] {
                "operand" => operands as i64,
                "result" => results as i64,
                _ => i64::MAX,
            };
            if let Some(at) = (0..keys.len()).find(|at| record[*at] < 0 || record[*at] >= limit(*at)) {
                self.error(op, format!("`{key}`: there is no {} {}", keys[at].replace('_', " "), record[at]));
                continue;
            }
            self.inside(op, key, &record);
            // A view or an overwriting result is one result's own; of candidates and places every pair is.
            let own = match key {
                plan::VIEW | plan::INPLACE => keys.iter().position(|key| *key == "result").map_or(0, |at| record[at]),
                plan::PLACE => keys.iter().position(|key| *key == "operand").map_or(0, |at| record[at]),
                _ => continue,
            };
            seen.push(own);
        }
        if matches!(key, plan::PLACE | plan::MAY_PLACE) {
            self.apart(op, key, items, keys);
        }
        seen.sort_unstable();
        if let Some(pair) = seen.windows(2).find(|pair| pair[0] == pair[1]) {
            self.error(
                op,
                format!("`{key}` names {} {} twice", if key == plan::PLACE { "operand" } else { "result" }, pair[0]),
            );
        }
        if matches!(key, plan::PLACE | plan::MAY_PLACE) && results == 0 && !items.is_empty() {
            self.error(op, format!("`{key}` on an operation without data results"));
        }
    }

    /// Parts of a whole do not lie in each other, as far as sizes are known.
    fn apart(&mut self, op: OpId, key: &str, items: &[Attr], keys: &[&str]) {
        let bytes = |operand: i64| {
            let value = self.module.data_operand(op, usize::try_from(operand).ok()?)?;
            let fixed = self.module.dynamic_axes(value).is_empty();
            self.module.value_bytes(value).ok().filter(|_| fixed)
        };
        let part = |item: &Attr| match self.record(item, keys).as_deref() {
            Some([offset, operand]) => Some((i128::from(*offset), i128::from(bytes(*operand)?))),
            _ => None,
        };
        let mut parts: Vec<(i128, i128)> = items.iter().filter_map(part).filter(|(_, bytes)| *bytes > 0).collect();
        parts.sort_unstable();
        parts.dedup();
        if let Some(pair) = parts.windows(2).find(|pair| pair[0].0 + pair[0].1 > pair[1].0) {
            let (first, second) = (pair[0], pair[1].0);
            self.error(
                op,
                format!("`{key}`: the {} bytes from byte {} on reach into the part at byte {second}", first.1, first.0),
            );
        }
    }

    /// A view lies inside its operand, and a part inside the whole, as far as sizes are known.
    fn inside(&mut self, op: OpId, key: &str, record: &[i64]) {
        let operand = |at: i64| self.module.data_operand(op, at as usize);
        let result = |at: i64| self.module.data_results(op).get(at as usize).copied();
        let (offset, inner, outer) = match (key, record) {
            (plan::VIEW, [offset, of, view]) => (*offset, result(*view), operand(*of)),
            (plan::PLACE | plan::MAY_PLACE, [offset, part]) => (*offset, operand(*part), result(0)),
            _ => return,
        };
        let bytes = |value: Option<ValueId>| {
            let value = value.filter(|value| self.module.dynamic_axes(*value).is_empty())?;
            self.module.value_bytes(value).ok()
        };
        if let Some((inner, outer)) = bytes(inner).zip(bytes(outer))
            && i128::from(offset) + i128::from(inner) > i128::from(outer)
        {
            self.error(
                op,
                format!("`{key}`: {inner} bytes from byte {offset} on do not lie inside the {outer} bytes around them"),
            );
        }
    }

    /// The integers of a dictionary; `byte_offset` may be left out.
    fn record(&self, item: &Attr, keys: &[&str]) -> Option<Vec<i64>> {
        let Attr::Dict(dict) = item else { return None };
        if dict.iter().any(|(name, _)| !keys.contains(&self.module.text(*name))) {
            return None;
        }
        let value = |key: &&str| match dict.iter().find(|(name, _)| self.module.text(*name) == *key) {
            Some((_, value)) => value.as_i64(),
            None => (*key == "byte_offset").then_some(0),
        };
        keys.iter().map(value).collect()
    }

    fn bounds(&mut self, op: OpId, value: &Attr) {
        let Attr::Dict(bounds) = value else {
            self.error(op, "`neap.bounds` must be a dictionary");
            return;
        };
        for (name, bound) in bounds {
            let pair = bound.as_i64().map(|one| vec![one, one]).or_else(|| bound.as_i64s());
            if !matches!(pair.as_deref(), Some([low, high]) if 0 <= *low && low <= high) {
                let name = self.module.text(*name);
                self.error(op, format!("`neap.bounds`: `{name}` must be `[low, high]` with 0 <= low <= high"));
            }
        }
    }
}

/// What the entries of a list stand for.
fn slots(key: &str) -> &'static str {
    if matches!(key, plan::ARG_OFFSETS | plan::ARG_ARENAS) { "arguments of its bodies" } else { "data results" }
}
