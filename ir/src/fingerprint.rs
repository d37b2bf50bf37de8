//! What identifies a graph: a hash that a plan carries, so that it is not taken for the plan of another graph.
//!
//! Two functions have the same fingerprint when they have the same operations in the same order, wired in the same way, with the same types and
//! attributes, and call functions of which the same holds. Nothing else counts: not SSA names, labels, locations or the names of functions,
//! not the order of declarations, not where an attribute stands (`<{..}>` or `{..}`), and none of [`IGNORED`], which plans, profiles and
//! flags write. The hash is FNV-1a with 128 bits over bytes that do not depend on the machine.

use crate::attr::Attr;
use crate::module::{BlockId, Module, OpId, RegionId, ValueId};
use crate::name::Name;
use crate::plan;
use crate::print::{attr_text, ty_text};
use crate::types::Ty;
use rustc_hash::FxHashMap;

/// Attributes beyond [`plan::WRITTEN`] that do not count: names, and what profiles and flags write.
pub const IGNORED: &[&str] = &[
    "neap.name",
    "neap.names",
    "neap.keep",
    "neap.pin",
    "neap.reuse",
    "neap.resident",
    plan::IO,
    "sym_name",
    "sym_visibility",
];

/// Attributes that may name a function in a string.
const CALLEE_STRINGS: &[&str] = &["session_init_function", "then_branch", "else_branch", "cond", "body", "callee"];

/// The fingerprint of a function: 32 hexadecimal digits. For several functions of a module, [`Fingerprints`] looks at each once.
pub fn fingerprint(module: &Module, func: OpId) -> String {
    Fingerprints::new(module).of(func)
}

/// The fingerprints of a module's functions.
///
/// The hash of a function holds those of all that it refers to, which are made first; so a chain of calls costs one look at each
/// link. Where references form a circle, the one that closes it counts by how far it goes back.
pub struct Fingerprints<'a> {
    module: &'a Module,
    symbols: FxHashMap<&'a str, OpId>,
    types: FxHashMap<Ty, u128>,
    known: FxHashMap<OpId, u128>,
}

impl<'a> Fingerprints<'a> {
    /// Those of a module; nothing is looked at yet.
    pub fn new(module: &'a Module) -> Fingerprints<'a> {
        let symbols = module.block_ops(module.body()).filter_map(|op| Some((module.sym_name(op)?, op))).collect();
        Fingerprints { module, symbols, types: FxHashMap::default(), known: FxHashMap::default() }
    }

    /// The fingerprint of a function.
    pub fn of(&mut self, func: OpId) -> String {
        // Hashes in a circle hold for this function alone.
        let mut circles: FxHashMap<OpId, u128> = FxHashMap::default();
        // What is being hashed, and each time what waits for it; a symbol comes back once all that it refers to has been hashed.
        let (mut path, mut todo) = (Vec::new(), vec![(func, true)]);
        while let Some((op, first)) = todo.pop() {
            if first {
                if self.known.contains_key(&op) || circles.contains_key(&op) {
                    continue;
                }
                path.push(op);
            }
            let mut state = State::new(self, &circles, &path);
            state.op(op);
            let State { hash, types, missing, circle, .. } = state;
            self.types = types;
            if first && !missing.is_empty() {
                todo.push((op, false));
                todo.extend(missing.into_iter().map(|op| (op, true)));
                continue;
            }
            path.pop();
            if circle && op != func {
                circles.insert(op, hash);
            } else {
                self.known.insert(op, hash);
            }
        }
        format!("{:032x}", self.known[&func])
    }
}

const OFFSET_BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

fn mix(hash: u128, bytes: &[u8]) -> u128 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(PRIME))
}

/// One function, or another symbol, while it is hashed.
struct State<'a, 's> {
    module: &'a Module,
    symbols: &'s FxHashMap<&'a str, OpId>,
    known: &'s FxHashMap<OpId, u128>,
    circles: &'s FxHashMap<OpId, u128>,
    /// What is being hashed, last, and what waits for it.
    path: &'s [OpId],
    hash: u128,
    /// Values and blocks by the order in which they are first met.
    values: FxHashMap<ValueId, u64>,
    blocks: FxHashMap<BlockId, u64>,
    types: FxHashMap<Ty, u128>,
    /// What is referred to, in the order of first reference.
    numbers: FxHashMap<OpId, u64>,
    /// What has to be hashed first.
    missing: Vec<OpId>,
    /// Whether the hash depends on what waits for it.
    circle: bool,
}

impl<'a, 's> State<'a, 's> {
    fn new(all: &'s mut Fingerprints<'a>, circles: &'s FxHashMap<OpId, u128>, path: &'s [OpId]) -> State<'a, 's> {
        State {
            module: all.module,
            types: std::mem::take(&mut all.types),
            symbols: &all.symbols,
            known: &all.known,
            circles,
            path,
            hash: OFFSET_BASIS,
            values: FxHashMap::default(),
            blocks: FxHashMap::default(),
            numbers: FxHashMap::default(),
            missing: Vec::new(),
            circle: false,
        }
    }

    fn number(&mut self, number: u64) {
        self.hash = mix(self.hash, &number.to_le_bytes());
    }

    /// Text with its length, so that neighbours cannot run into each other.
    fn text(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.hash = mix(self.hash, bytes);
    }

    fn ty(&mut self, ty: Ty) {
        let module = self.module;
        let hash = *self.types.entry(ty).or_insert_with(|| mix(OFFSET_BASIS, ty_text(module, ty).as_bytes()));
        self.hash = mix(self.hash, &hash.to_le_bytes());
    }

    fn value(&mut self, value: ValueId) {
        let next = self.values.len() as u64;
        let number = *self.values.entry(value).or_insert(next);
        self.number(number);
    }

    fn block(&mut self, block: BlockId) {
        let next = self.blocks.len() as u64;
        let number = *self.blocks.entry(block).or_insert(next);
        self.number(number);
    }

    fn op(&mut self, op: OpId) {
        let module = self.module;
        self.text(module.op_name(op).as_bytes());
        self.number(module.operands(op).len() as u64);
        for value in module.operands(op) {
            self.value(value);
        }
        self.number(module.successors(op).len() as u64);
        for block in module.successors(op) {
            self.block(*block);
        }
        self.attrs(op);
        self.number(module.op_regions(op).len() as u64);
        for region in module.op_regions(op) {
            self.region(*region);
        }
        self.number(module.results(op).len() as u64);
        for value in module.results(op) {
            self.value(*value);
            self.ty(module.value_ty(*value));
        }
    }

    /// The regions of a function nest as deep as the parser allows.
    fn region(&mut self, region: RegionId) {
        let module = self.module;
        self.number(module.blocks(region).len() as u64);
        for block in module.blocks(region) {
            self.block(*block);
            self.number(module.block_args(*block).len() as u64);
            for value in module.block_args(*block) {
                self.value(*value);
                self.ty(module.value_ty(*value));
            }
            for op in module.block_ops(*block) {
                self.number(1);
                self.op(op);
            }
            self.number(0);
        }
    }

    // ---- attributes ---------------------------------------------------------------------------------

    fn attrs(&mut self, op: OpId) {
        let module = self.module;
        let all = module.props(op).into_iter().flatten().chain(module.attrs(op));
        let mut counted: Vec<&'a (Name, Attr)> = all.filter(|(name, _)| self.counts(*name)).collect();
        counted.sort_by(|a, b| module.text(a.0).cmp(module.text(b.0)));
        for (name, value) in counted {
            let key = module.text(*name);
            match value {
                Attr::Array(items) if matches!(key, "arg_attrs" | "res_attrs") => self.indexed(key, items),
                Attr::Str(bytes) if CALLEE_STRINGS.contains(&key) => {
                    self.text(key.as_bytes());
                    self.name(bytes);
                }
                Attr::Array(items) if key == "neap.class" => {
                    self.text(key.as_bytes());
                    for item in items {
                        self.name(item.as_str().unwrap_or("").as_bytes());
                    }
                }
                _ => {
                    self.text(key.as_bytes());
                    self.attr(value);
                }
            }
        }
        self.text(b"");
    }

    fn counts(&self, name: Name) -> bool {
        let key = self.module.text(name);
        !(plan::WRITTEN.contains(&key) || IGNORED.contains(&key))
    }

    /// Attributes of arguments or results: only those that have any that count.
    fn indexed(&mut self, key: &str, items: &'a [Attr]) {
        for (index, item) in items.iter().enumerate() {
            if let Attr::Dict(dict) = item
                && dict.iter().any(|(name, _)| self.counts(*name))
            {
                self.text(key.as_bytes());
                self.number(index as u64);
                self.attr(item);
            }
        }
    }

    fn attr(&mut self, attr: &'a Attr) {
        match attr {
            Attr::Dict(items) => {
                self.text(b"{");
                for (name, value) in items {
                    if self.counts(*name) {
                        self.text(self.module.text(*name).as_bytes());
                        self.attr(value);
                    }
                }
                self.text(b"}");
            }
            Attr::Array(items) => {
                self.text(b"[");
                self.number(items.len() as u64);
                items.iter().for_each(|item| self.attr(item));
            }
            Attr::Symbol { root, nested } if nested.is_empty() => self.name(root.as_bytes()),
            Attr::Loc(_) => {}
            other => self.text(attr_text(self.module, other).as_bytes()),
        }
    }

    /// The name of a symbol: where it is defined, what it stands for counts, and for a function that alone.
    fn name(&mut self, name: &[u8]) {
        let found = std::str::from_utf8(name).ok().and_then(|name| self.symbols.get(name).copied());
        let Some(op) = found else { return self.text(name) };
        let next = self.numbers.len() as u64;
        let number = *self.numbers.entry(op).or_insert(next);
        if self.module.op_name(op) != "func.func" {
            self.text(name);
        }
        self.number(number);
        if let Some(hash) = self.known.get(&op) {
            self.hash = mix(self.hash, &hash.to_le_bytes());
        } else if let Some(back) = self.path.iter().rev().position(|waits| *waits == op) {
            self.circle |= back > 0;
            self.text(b"circle");
            self.number(back as u64);
        } else if let Some(hash) = self.circles.get(&op) {
            self.circle = true;
            self.hash = mix(self.hash, &hash.to_le_bytes());
        } else if number == next {
            self.missing.push(op);
        }
    }
}
