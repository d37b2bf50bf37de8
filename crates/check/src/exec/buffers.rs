//! Buffers and views of variables during a run.
//!
//! The rope of a buffer is its addresses; what it holds is looked up through them when it is read, so windows see what is written through other
//! windows. Where a window's place is not known, writing through it gives the whole buffer a name of its own.

use super::{Machine, raw};
use crate::effects::{self, Resolved, Touch};
use crate::hash::Mix;
use crate::names;
use crate::rope::{Bits, Rope, Seg};
use crate::violation::Violation;
use neap_ir::facts::{Access, OpFacts, Role};
use neap_ir::table::Table;
use neap_ir::{Module, OpId, ValueId};
use rustc_hash::FxHashMap;

/// What is known of buffers, by the name of their addresses.
#[derive(Default)]
pub(super) struct Buffers {
    /// What those hold that are allocated here.
    contents: FxHashMap<u128, Rope>,
    /// Windows whose place is not known, by the name of their addresses.
    windows: FxHashMap<u128, Window>,
    /// Those that operations hand out which do not say where they come from: what they hold is not followed.
    elsewhere: FxHashMap<u128, Rope>,
}

/// A window at a place that is not known.
#[derive(Clone, Copy)]
struct Window {
    /// The buffer.
    root: u128,
    /// Which of its bytes: a name of the operations that made the window and of all they were given but buffers. What the buffer held then
    /// is no part of it, nor is which buffer it is.
    shape: u128,
}

impl Machine<'_, '_> {
    /// A window of a buffer, whenever it is made: its addresses.
    pub(super) fn window(&mut self, op: OpId, row: &OpFacts, values: &[ValueId], operands: &[Rope]) -> Vec<Rope> {
        let m = self.module;
        let addresses: Vec<Rope> =
            values.iter().map(|value| self.env[raw(*value)].clone().unwrap_or_default()).collect();
        let given = |(value, rope): (&ValueId, &Rope)| match effects::is_buffer(m, *value) {
            true => Rope::default(),
            false => rope.clone(),
        };
        let given: Vec<Rope> = values.iter().zip(operands).map(given).collect();
        let mut shape = Mix::new("window");
        shape.wide(self.eval.key(op, &given, &[]));
        let mut root = 0;
        for seg in addresses.get(row.data_operand()).into_iter().flat_map(|rope| &rope.segs) {
            let of = self.buffers.windows.get(&seg.content).copied().unwrap_or(Window { root: seg.content, shape: 0 });
            root = of.root;
            shape.wide(of.shape);
            feed_place(&mut shape, seg);
        }
        let shape = shape.done();
        let mut name = Mix::new("window of");
        name.wide(root);
        name.wide(shape);
        let window = self.eval.subview(op, row, &addresses, name.done());
        if let Some(seg) = window.first().and_then(|rope| rope.segs.first())
            && !self.buffers.contents.contains_key(&seg.content)
        {
            self.buffers.windows.entry(seg.content).or_insert(Window { root, shape });
        }
        window
    }

    /// Makes a buffer that holds `content`; the rope of its addresses.
    pub(super) fn allocate(&mut self, value: ValueId, content: Rope) -> Rope {
        let mut mix = Mix::new("buffer");
        mix.word(raw(value) as u64);
        let name = mix.done();
        let addresses = Rope::of(name, content.len);
        self.buffers.contents.insert(name, content);
        addresses
    }

    /// The addresses of a buffer that the operation declares to lie in a buffer that it is given, in one piece.
    pub(super) fn declared_window(&self, op: OpId, result: usize, value: ValueId) -> Option<Rope> {
        let m = self.module;
        // What a window of a known kind is says its table, with and without a plan.
        if !effects::is_buffer(m, value) || self.eval.row(op).role == Role::Subview {
            return None;
        }
        let view = m.views(op).into_iter().find(|view| view.result as usize == result)?;
        let operand = m.data_operand(op, view.operand as usize).filter(|value| effects::is_buffer(m, *value))?;
        let addresses = self.env[raw(operand)].as_ref()?;
        let from = Bits::from(view.byte_offset) * 8;
        let to = from + self.eval.shapes.bits(value);
        (to <= addresses.len).then(|| addresses.slice(from, to))
    }

    /// Notes a buffer that is neither allocated here nor a window of one.
    pub(super) fn buffer_from_elsewhere(&mut self, value: ValueId, rope: &Rope) {
        let [seg, ..] = &rope.segs[..] else { return };
        let known = self.buffers.contents.contains_key(&seg.content) || self.buffers.windows.contains_key(&seg.content);
        if effects::is_buffer(self.module, value) && !known {
            self.buffers.elsewhere.entry(seg.content).or_insert_with(|| rope.clone());
        }
    }

    /// What a value holds now: of a buffer its content, of anything else the value.
    pub(crate) fn held(&mut self, value: ValueId) -> Rope {
        let rope = self.env[raw(value)].clone().unwrap_or_default();
        if !effects::is_buffer(self.module, value) {
            return rope;
        }
        let mut out = Rope::default();
        for seg in rope.segs {
            if let Some(buffer) = self.buffers.contents.get(&seg.content) {
                out.append(&buffer.gather(seg.start, seg.levels, &mut self.eval.wraps));
            } else if let Some((window, buffer)) = self.buffers.through(seg.content) {
                let mut mix = Mix::new("through a window");
                mix.wide(window.shape);
                feed_place(&mut mix, &seg);
                buffer.feed(&mut mix);
                out.append(&Rope::of(mix.done(), seg.len()));
            } else {
                out.push(seg);
            }
        }
        out
    }

    /// What memory holds where a body hands values out: of a window, the whole buffer.
    pub(super) fn whole(&self, handed: &[(ValueId, Rope)]) -> Vec<(ValueId, Rope)> {
        let view = Snapshot { module: self.module, env: &self.env, buffers: &self.buffers };
        let buffer = |value| effects::is_buffer(self.module, value);
        handed
            .iter()
            .map(|(value, rope)| (*value, if buffer(*value) { view.of(*value) } else { rope.clone() }))
            .collect()
    }

    /// Puts `content` where a buffer's addresses point. Where they do not run on, the whole buffer gets a name.
    pub(super) fn store(&mut self, op: OpId, value: ValueId, content: &Rope) {
        let addresses = self.env[raw(value)].clone().unwrap_or_default();
        for seg in &addresses.segs {
            let window = self.buffers.windows.get(&seg.content).copied();
            let name = window.map_or(seg.content, |window| window.root);
            let Some(old) = self.buffers.contents.get(&name).cloned() else {
                // A buffer from elsewhere: as if it were everything.
                self.state.write_all(op, content.hash());
                continue;
            };
            let flat = seg.levels.len() == 1 && seg.levels[0].stride == 1 && name == seg.content;
            let new = if flat && content.len == seg.len() && addresses.segs.len() == 1 {
                let mut new = if seg.start > 0 { old.slice(0, seg.start) } else { Rope::default() };
                new.append(content);
                let end = seg.start + content.len;
                if end < old.len {
                    new.append(&old.slice(end, old.len));
                }
                new
            } else {
                let mut mix = Mix::new("scattered");
                [&old, content].iter().for_each(|rope| rope.feed(&mut mix));
                mix.wide(window.map_or(0, |window| window.shape));
                addresses.segs.iter().for_each(|seg| feed_place(&mut mix, seg));
                Rope::of(mix.done(), old.len)
            };
            self.buffers.contents.insert(name, new);
        }
    }

    /// Remembers results that are views of variables, and views of such.
    pub(super) fn alias(&mut self, op: OpId, row: &OpFacts) {
        let m = self.module;
        let Some(bytes) = &self.bytes else { return };
        let read = bytes.homes.aliases(op, row);
        for value in m.data_results(op) {
            let bits = self.env[raw(*value)].as_ref().map_or(0, |rope| rope.len);
            let found = if read {
                let touched = effects::resolve(m, op, row, &[], &[], &mut self.state.names);
                touched.iter().find_map(|touch| match touch.resource {
                    Resolved::Named(variable) => Some((variable, 0, bits)),
                    _ => None,
                })
            } else {
                let view = bytes.homes.views.get(value);
                let from = view.and_then(|(operand, at)| Some((*self.aliases.get(operand)?, *at)));
                from.map(|((variable, start, whole), at)| (variable, start + Bits::from(at) * 8, whole))
            };
            if let Some(found) = found {
                self.aliases.insert(*value, found);
            }
        }
    }

    /// A view of a variable is what the variable holds now.
    pub(super) fn stale(&mut self, op: OpId, step: u32, values: &[ValueId]) {
        for value in values {
            let Some((variable, start, whole)) = self.aliases.get(value).copied() else { continue };
            let rope = self.env[raw(*value)].clone().unwrap_or_default();
            let now = self.state.content(variable, whole);
            if start + rope.len <= now.len
                && crate::rope::same(&now.slice(start, start + rope.len), &rope, &self.eval.wraps)
            {
                continue;
            }
            let m = self.module;
            let resource = self.state.names.get(&variable).cloned().unwrap_or_else(|| "a variable".to_owned());
            let (function, reader, span) = (names::func(m, self.func), names::op(m, op), m.op(op).span);
            let value = names::value(m, *value);
            self.violations.push(Violation::StaleView { function, reader, step, value, resource, span });
        }
    }

    /// An operation that may write a variable at any time reads no view of it; one that writes the view's own bytes there does.
    pub(super) fn own_state(&mut self, op: OpId, row: &OpFacts, values: &[ValueId], touched: &[Touch]) {
        for value in values.iter().filter(|_| row.role != Role::Write) {
            let Some((variable, ..)) = self.aliases.get(value).copied() else { continue };
            let hit = |touch: &&Touch| {
                let it = touch.resource == Resolved::All || touch.resource == Resolved::Named(variable);
                it && touch.access == Access::Write
            };
            if touched.iter().any(|touch| hit(&touch)) {
                let m = self.module;
                let resource = self.state.names.get(&variable).cloned().unwrap_or_else(|| "a variable".to_owned());
                let (function, op_name, span) = (names::func(m, self.func), names::op(m, op), m.op(op).span);
                let value = names::value(m, *value);
                self.violations.push(Violation::OwnState { function, op: op_name, value, resource, span });
            }
        }
    }

    pub(super) fn alloc(&mut self, op: OpId, operands: &[Rope], key: u128) -> Vec<Rope> {
        let m = self.module;
        let Some(value) = m.data_results(op).first().copied().filter(|value| effects::is_buffer(m, *value)) else {
            return self.eval.opaque(op, operands, key);
        };
        let content = Rope::of(effects::undefined(), self.eval.shapes.bits(value));
        vec![self.allocate(value, content)]
    }
}

/// What memory holds of each value: of a buffer, the whole buffer.
pub(super) struct Snapshot<'s> {
    pub(super) module: &'s Module,
    pub(super) env: &'s Table<Option<Rope>>,
    pub(super) buffers: &'s Buffers,
}

impl Snapshot<'_> {
    pub(super) fn of(&self, value: ValueId) -> Rope {
        let rope = self.env[raw(value)].clone().unwrap_or_default();
        let [seg, ..] = &rope.segs[..] else { return rope };
        if !effects::is_buffer(self.module, value) {
            return rope;
        }
        let name = self.buffers.windows.get(&seg.content).map_or(seg.content, |window| window.root);
        self.buffers.contents.get(&name).or_else(|| self.buffers.elsewhere.get(&name)).cloned().unwrap_or(rope)
    }
}

impl Buffers {
    /// The window of some addresses, and what its buffer holds now.
    fn through(&self, name: u128) -> Option<(&Window, &Rope)> {
        let window = self.windows.get(&name)?;
        Some((window, self.contents.get(&window.root)?))
    }
}

/// Which addresses of those of one name a piece is.
fn feed_place(mix: &mut Mix, seg: &Seg) {
    mix.int(seg.start);
    mix.word(seg.levels.len() as u64);
    for level in &seg.levels {
        mix.int(level.count);
        mix.int(level.stride);
    }
}
