//! Names of values and blocks for printing.
//!
//! A value keeps the name it has, unless that name is visible already; then `_0`, `_1`, .. is added, so that the new name is the
//! name of nothing else in the module. Values without a name get numbers above all numbers in their isolated region, block arguments `arg0`,
//! `arg1`, ... Consecutive results with the same name are a pack (`%x:2`, `%x#0`); so are consecutive results without one. Regions
//! of `builtin.module` and `func.func` see nothing from outside, hence start anew.
//!
//! The walk is in the order of the text, results after the regions of their operation, as the parser defines them. A value that is read
//! before it is defined owns its name in the whole isolated region: nothing between may take it.

use super::reserve::Reserved;
use crate::module::{BlockId, Module, OpId, RegionId, ValueId};
use crate::name::Name;
use crate::parse::{ISOLATED, is_suffix};
use rustc_hash::{FxHashMap, FxHashSet};

/// The text after `%` or `^`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Text {
    /// Stands nowhere.
    None,
    /// A name as it is.
    Kept(Name),
    /// A number.
    Number(u32),
    /// `arg` and a number.
    Arg(u32),
    /// A text of [`Names::fresh`].
    Fresh(u32),
}

/// How one value prints.
#[derive(Clone, Copy, Debug)]
pub(super) struct Printed {
    pub(super) text: Text,
    /// Place in the pack, and the pack's size: 1 for a value of its own.
    pub(super) number: u32,
    pub(super) count: u32,
}

/// Names of all values and blocks.
pub(super) struct Names {
    values: Vec<Printed>,
    blocks: FxHashMap<BlockId, Text>,
    /// Blocks that are branched to.
    targets: FxHashSet<BlockId>,
    fresh: Vec<String>,
}

impl Names {
    /// Names everything below the top.
    pub(super) fn of(module: &Module) -> Names {
        let nowhere = Printed { text: Text::None, number: 0, count: 1 };
        let values = vec![nowhere; module.value_count()];
        let (blocks, targets) = (FxHashMap::default(), FxHashSet::default());
        let mut namer = Namer {
            module,
            names: Names { values, blocks, targets, fresh: Vec::new() },
            visible: vec![0; module.names().len()],
            defined: vec![false; module.value_count()],
            isolations: 0,
            frame: Frame::default(),
            outer: Vec::new(),
            log: Vec::new(),
            copies: FxHashMap::default(),
            fresh_texts: FxHashSet::default(),
        };
        namer.walk();
        namer.names
    }

    /// How a value prints.
    pub(super) fn value(&self, value: ValueId) -> Printed {
        self.values[index(value)]
    }

    /// Appends a name.
    pub(super) fn append(&self, module: &Module, text: Text, out: &mut String) {
        match text {
            Text::None => out.push_str("<unknown>"),
            Text::Kept(name) => out.push_str(module.text(name)),
            Text::Number(number) => super::attrs::int(number, out),
            Text::Arg(number) => {
                out.push_str("arg");
                super::attrs::int(number, out);
            }
            Text::Fresh(at) => out.push_str(&self.fresh[at as usize]),
        }
    }

    /// The label of a block.
    pub(super) fn block(&self, block: BlockId) -> Text {
        self.blocks.get(&block).copied().unwrap_or(Text::None)
    }

    /// Whether a block is branched to.
    pub(super) fn is_target(&self, block: BlockId) -> bool {
        self.targets.contains(&block)
    }

    /// A value as an operand, by raw id; empty where it stands nowhere.
    pub(super) fn value_text(&self, module: &Module, at: usize) -> String {
        let printed = self.values[at];
        if printed.text == Text::None {
            return String::new();
        }
        let mut out = "%".to_owned();
        self.append(module, printed.text, &mut out);
        if printed.count > 1 {
            out.push('#');
            super::attrs::int(printed.number, &mut out);
        }
        out
    }
}

/// The raw id of a value.
pub(super) fn index(value: ValueId) -> usize {
    value.into_raw().into_u32() as usize
}

/// Whether the regions of an operation see nothing from outside.
pub(super) fn is_isolated(module: &Module, op: OpId) -> bool {
    !module.op_regions(op).is_empty() && ISOLATED.contains(&module.op_name(op))
}

/// Counters of one isolated region.
#[derive(Default)]
struct Frame {
    isolation: u32,
    reserved: Reserved,
}

struct Namer<'a> {
    module: &'a Module,
    names: Names,
    /// By name: the isolated region in which a value in sight has it.
    visible: Vec<u32>,
    /// Scratch of [`Reserved::of`].
    defined: Vec<bool>,
    isolations: u32,
    frame: Frame,
    outer: Vec<Frame>,
    /// What to restore in `visible`.
    log: Vec<(Name, u32)>,
    /// By name: how many fresh names were made from it.
    copies: FxHashMap<Name, u32>,
    fresh_texts: FxHashSet<String>,
}

/// A step of the walk, which keeps its own stack.
enum Step {
    Ops(Option<OpId>),
    Block(BlockId),
    Region(RegionId),
    /// Forgets the names since a place in the log.
    Close(usize),
    Results(OpId),
    LeaveIsolated,
}

impl Namer<'_> {
    fn walk(&mut self) {
        let module = self.module;
        let mut stack = Vec::new();
        self.enter(module.top(), &mut stack);
        while let Some(step) = stack.pop() {
            match step {
                Step::Ops(None) => {}
                Step::Ops(Some(op)) => {
                    stack.push(Step::Ops(module.op(op).next()));
                    self.names.targets.extend(module.successors(op));
                    if module.op_regions(op).is_empty() {
                        self.results(op);
                    } else {
                        self.enter(op, &mut stack);
                    }
                }
                Step::Block(block) => {
                    self.args(block);
                    stack.push(Step::Ops(module.block_ops(block).next()));
                }
                Step::Region(region) => {
                    stack.push(Step::Close(self.log.len()));
                    self.labels(region);
                    stack.extend(module.blocks(region).iter().rev().map(|block| Step::Block(*block)));
                }
                Step::Close(from) => {
                    while self.log.len() > from {
                        if let Some((name, before)) = self.log.pop() {
                            self.visible[name.index()] = before;
                        }
                    }
                }
                Step::Results(op) => self.results(op),
                Step::LeaveIsolated => self.frame = self.outer.pop().unwrap_or_default(),
            }
        }
    }

    /// Plans the walk of an operation with regions.
    fn enter(&mut self, op: OpId, stack: &mut Vec<Step>) {
        stack.push(Step::Results(op));
        if is_isolated(self.module, op) {
            stack.push(Step::LeaveIsolated);
            self.isolations += 1;
            let reserved = Reserved::of(self.module, op, &mut self.defined);
            let frame = Frame { isolation: self.isolations, reserved };
            self.outer.push(std::mem::replace(&mut self.frame, frame));
        }
        stack.extend(self.module.op_regions(op).iter().rev().map(|region| Step::Region(*region)));
    }

    fn args(&mut self, block: BlockId) {
        for value in self.module.block_args(block) {
            let text = match self.module.value(*value).name {
                Some(name) => self.claim(&[*value], name),
                None => Text::Arg(self.frame.reserved.arg()),
            };
            self.names.values[index(*value)] = Printed { text, number: 0, count: 1 };
        }
    }

    fn results(&mut self, op: OpId) {
        let results = self.module.results(op);
        let mut from = 0;
        while from < results.len() {
            let name = self.module.value(results[from]).name;
            let same = |value: &&ValueId| self.module.value(**value).name == name;
            let count = results[from..].iter().take_while(same).count();
            let text = match name {
                Some(name) => self.claim(&results[from..from + count], name),
                None => Text::Number(self.frame.reserved.number()),
            };
            for number in 0..count {
                let printed = Printed { text, number: number as u32, count: count as u32 };
                self.names.values[index(results[from + number])] = printed;
            }
            from += count;
        }
    }

    /// The name of a pack of values, or a fresh one if it is taken or cannot be written.
    fn claim(&mut self, values: &[ValueId], name: Name) -> Text {
        let text = self.module.text(name);
        let free = self.visible[name.index()] != self.frame.isolation && self.frame.reserved.allows(name, values);
        if free && is_suffix(text.as_bytes()) {
            self.log.push((name, self.visible[name.index()]));
            self.visible[name.index()] = self.frame.isolation;
            return Text::Kept(name);
        }
        self.fresh(name, free)
    }

    /// A name like `name` that nothing else in the module has.
    fn fresh(&mut self, name: Name, mut bare: bool) -> Text {
        let mut stem: String = self.module.text(name).chars().map(writable).collect();
        if !stem.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
            stem.insert(0, '_');
        }
        let copies = self.copies.entry(name).or_default();
        loop {
            let text = if bare { stem.clone() } else { format!("{stem}_{copies}") };
            *copies += u32::from(!bare);
            bare = false;
            if self.module.names().get(&text).is_none() && self.fresh_texts.insert(text.clone()) {
                self.names.fresh.push(text);
                return Text::Fresh(self.names.fresh.len() as u32 - 1);
            }
        }
    }

    /// Labels of a region's blocks: what they have, `bb0`, `bb1`, .. for the others.
    fn labels(&mut self, region: RegionId) {
        let blocks = self.module.blocks(region);
        let mut taken = FxHashSet::default();
        let mut plain = Vec::new();
        for block in blocks {
            match self.module.block(*block).label {
                Some(label) if is_suffix(self.module.text(label).as_bytes()) && taken.insert(label) => {
                    self.names.blocks.insert(*block, Text::Kept(label));
                }
                _ => plain.push(*block),
            }
        }
        let mut number = 0u32;
        for block in plain {
            let text = loop {
                let text = format!("bb{number}");
                number += 1;
                if self.module.names().get(&text).is_none_or(|name| !taken.contains(&name)) {
                    break text;
                }
            };
            self.names.fresh.push(text);
            self.names.blocks.insert(block, Text::Fresh(self.names.fresh.len() as u32 - 1));
        }
    }
}

fn writable(letter: char) -> char {
    if letter.is_ascii_alphanumeric() || matches!(letter, '$' | '.' | '_' | '-') { letter } else { '_' }
}
