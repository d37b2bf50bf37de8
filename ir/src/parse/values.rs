//! SSA names: which value a `%name` means, and values that are used before they are defined.
//!
//! As in MLIR, a name is unique among those visible; a region's names are forgotten at its end; regions of `builtin.module` and
//! `func.func` see nothing of what surrounds them. A name that is used first waits for its definition up to the end of
//! the isolated region: whether the order is sound is for the verifier.

use super::cursor::{Parse, Parser};
use super::lexer::Token;
use crate::diag::Diagnostic;
use crate::loc::Span;
use crate::module::{BlockId, OpId, ValueId};
use crate::name::Name;
use crate::print;
use crate::types::Ty;
use rustc_hash::FxHashMap;

/// Operations whose regions see no values from outside.
pub(crate) const ISOLATED: &[&str] =
    &["builtin.module", "func.func", "gpu.func", "gpu.module", "llvm.func", "spirv.func"];

/// A use of a name: the name, the result number, the place.
#[derive(Clone, Copy, Debug)]
pub(super) struct UseRef {
    pub(super) name: Name,
    pub(super) number: u32,
    pub(super) span: Span,
}

/// What a name means.
#[derive(Clone, Copy, Debug)]
enum Meaning {
    Unknown,
    /// A block argument.
    Arg(ValueId),
    /// `count` results of an operation, from `first` on.
    Results {
        op: OpId,
        first: u32,
        count: u32,
    },
    /// Used, not yet defined: the head of the list of its result numbers in [`Scopes::waiting`].
    Waiting(u32),
}

/// A meaning, valid in one isolated region.
#[derive(Clone, Copy, Debug)]
struct Entry {
    isolation: u32,
    meaning: Meaning,
}

const NOTHING: Entry = Entry { isolation: u32::MAX, meaning: Meaning::Unknown };

/// A value that waits for its definition.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    number: u32,
    value: ValueId,
    span: Span,
    name: Name,
    next: Option<u32>,
    done: bool,
}

/// The names visible at a point of the text.
#[derive(Default)]
pub(super) struct Scopes {
    /// By name.
    entries: Vec<Entry>,
    isolation: u32,
    isolations: u32,
    /// What to restore at the end of the open regions.
    undo: Vec<(Name, Entry)>,
    /// What to restore at the end of the open isolated regions: entries of outer ones, hidden by a name that waits.
    hidden: Vec<(Name, Entry)>,
    waiting: Vec<Waiting>,
    /// The same by isolated region, name and result number.
    waiting_at: FxHashMap<(u32, Name, u32), u32>,
}

/// Marks the start of a region.
pub(super) struct ScopeMark {
    undo: usize,
    hidden: usize,
    isolation: u32,
    waiting: usize,
    isolated: bool,
}

impl Scopes {
    fn entry(&self, name: Name) -> Meaning {
        match self.entries.get(name.index()) {
            Some(entry) if entry.isolation == self.isolation => entry.meaning,
            _ => Meaning::Unknown,
        }
    }

    fn set(&mut self, name: Name, meaning: Meaning) -> Entry {
        if self.entries.len() <= name.index() {
            self.entries.resize((name.index() + 1).next_power_of_two(), NOTHING);
        }
        let entry = Entry { isolation: self.isolation, meaning };
        std::mem::replace(&mut self.entries[name.index()], entry)
    }
}

impl<'a> Parser<'a> {
    /// Opens a region.
    pub(super) fn open_scope(&mut self, isolated: bool) -> ScopeMark {
        let scopes = &mut self.scopes;
        let mark = ScopeMark {
            undo: scopes.undo.len(),
            hidden: scopes.hidden.len(),
            isolation: scopes.isolation,
            waiting: scopes.waiting.len(),
            isolated,
        };
        if isolated {
            scopes.isolations += 1;
            scopes.isolation = scopes.isolations;
        }
        mark
    }

    /// Closes a region: its names mean again what they meant before.
    pub(super) fn close_scope(&mut self, mark: ScopeMark) {
        if mark.isolated {
            self.report_waiting(mark.waiting);
        }
        let scopes = &mut self.scopes;
        while scopes.undo.len() > mark.undo {
            if let Some((name, entry)) = scopes.undo.pop() {
                scopes.entries[name.index()] = entry;
            }
        }
        while mark.isolated && scopes.hidden.len() > mark.hidden {
            if let Some((name, entry)) = scopes.hidden.pop() {
                scopes.entries[name.index()] = entry;
            }
        }
        scopes.isolation = mark.isolation;
    }

    /// Reports names that were used and never defined.
    pub(super) fn report_waiting(&mut self, from: usize) {
        let mut last = None;
        for at in from..self.scopes.waiting.len() {
            let waiting = self.scopes.waiting[at];
            if waiting.done || self.poisoned.contains(&waiting.name) || last == Some(waiting.name) || self.stopped {
                continue;
            }
            last = Some(waiting.name);
            let message = format!("the value `%{}` is not defined", self.module.text(waiting.name));
            let _ = self.error::<()>(waiting.span, message);
        }
        self.scopes.waiting.truncate(from);
    }

    /// The value a use means, which must have the type.
    pub(super) fn use_value(&mut self, used: UseRef, ty: Ty) -> Parse<ValueId> {
        let meaning = self.scopes.entry(used.name);
        let value = match meaning {
            Meaning::Arg(value) if used.number == 0 => value,
            Meaning::Results { op, first, count } if used.number < count => {
                self.module.results(op)[(first + used.number) as usize]
            }
            Meaning::Arg(_) => return self.no_such_result(used, 1),
            Meaning::Results { count, .. } => return self.no_such_result(used, count),
            Meaning::Unknown | Meaning::Waiting(_) => return self.wait(used, ty, meaning),
        };
        let has = self.module.value_ty(value);
        if has == ty {
            return Ok(value);
        }
        self.type_clash(used.span, used.name, ty, has)
    }

    fn no_such_result<T>(&mut self, used: UseRef, count: u32) -> Parse<T> {
        let name = self.module.text(used.name);
        let message = format!("`%{name}#{}` does not exist: `%{name}` has {count} results", used.number);
        self.error(used.span, message)
    }

    fn type_clash<T>(&mut self, span: Span, name: Name, used: Ty, has: Ty) -> Parse<T> {
        let name = self.module.text(name);
        let (used, has) = (print::ty_text(&self.module, used), print::ty_text(&self.module, has));
        let message = format!("`%{name}` is used as `{used}` but has type `{has}`");
        self.error(span, message)
    }

    /// The forward value of a use.
    fn wait(&mut self, used: UseRef, ty: Ty, meaning: Meaning) -> Parse<ValueId> {
        let head = match meaning {
            Meaning::Waiting(head) => Some(head),
            _ => None,
        };
        let key = (self.scopes.isolation, used.name, used.number);
        if let Some(index) = head.and_then(|_| self.scopes.waiting_at.get(&key)) {
            let value = self.scopes.waiting[*index as usize].value;
            let has = self.module.value_ty(value);
            if has == ty {
                return Ok(value);
            }
            return self.type_clash(used.span, used.name, ty, has);
        }
        let value = self.module.forward_value(ty);
        let waiting = Waiting { number: used.number, value, span: used.span, name: used.name, next: head, done: false };
        self.scopes.waiting.push(waiting);
        let head = self.scopes.waiting.len() as u32 - 1;
        self.scopes.waiting_at.insert(key, head);
        let before = self.scopes.set(used.name, Meaning::Waiting(head));
        if before.isolation != self.scopes.isolation {
            self.scopes.hidden.push((used.name, before));
        }
        Ok(value)
    }

    /// Adds the results of a group to an operation and gives the name its meaning.
    pub(super) fn define_results(&mut self, op: OpId, name: Name, span: Span, types: &[Ty]) -> Parse<()> {
        let first = self.module.results(op).len() as u32;
        let waiting = self.take_waiting(name, span)?;
        for (number, ty) in types.iter().enumerate() {
            let value = match self.forward(waiting, name, number as u32, *ty)? {
                Some(value) => {
                    self.module.adopt_result(op, value);
                    value
                }
                None => self.module.push_result(op, *ty),
            };
            self.module.set_value_name(value, Some(name));
        }
        self.close_waiting(waiting, name, types.len() as u32)?;
        self.define(name, Meaning::Results { op, first, count: types.len() as u32 });
        Ok(())
    }

    /// Adds an argument to a block and gives the name its meaning.
    pub(super) fn define_arg(&mut self, block: BlockId, name: Token, ty: Ty) -> Parse<ValueId> {
        let span = name.span();
        let name = self.value_name(name);
        let waiting = self.take_waiting(name, span)?;
        let value = match self.forward(waiting, name, 0, ty)? {
            Some(value) => {
                self.module.adopt_block_arg(block, value);
                value
            }
            None => self.module.push_block_arg(block, ty),
        };
        self.module.set_value_name(value, Some(name));
        self.close_waiting(waiting, name, 1)?;
        self.define(name, Meaning::Arg(value));
        Ok(value)
    }

    /// The name of a `%name` token.
    pub(super) fn value_name(&mut self, tok: Token) -> Name {
        let text = &self.ascii(tok)[1..];
        self.module.intern(text)
    }

    fn define(&mut self, name: Name, meaning: Meaning) {
        let mut before = self.scopes.set(name, meaning);
        if matches!(before.meaning, Meaning::Waiting(_)) && before.isolation == self.scopes.isolation {
            before = NOTHING;
        }
        self.scopes.undo.push((name, before));
    }

    /// The head of the list of values that wait for this name; an error if the name is taken.
    fn take_waiting(&mut self, name: Name, span: Span) -> Parse<Option<u32>> {
        let earlier = match self.scopes.entry(name) {
            Meaning::Unknown => return Ok(None),
            Meaning::Waiting(head) => return Ok(Some(head)),
            Meaning::Results { op, .. } => self.module.op(op).span,
            Meaning::Arg(_) => Span::default(),
        };
        let message = format!("the value `%{}` is defined twice", self.module.text(name));
        let mut diagnostic = Diagnostic::error(span, message);
        if !earlier.is_none() {
            diagnostic = diagnostic.related(earlier, "defined here first");
        }
        self.report(diagnostic)
    }

    /// The forward value of result `number`, if one waits; its type must be the result's.
    fn forward(&mut self, head: Option<u32>, name: Name, number: u32, ty: Ty) -> Parse<Option<ValueId>> {
        if head.is_none() {
            return Ok(None);
        }
        let key = (self.scopes.isolation, name, number);
        let Some(index) = self.scopes.waiting_at.remove(&key) else { return Ok(None) };
        let waiting = &mut self.scopes.waiting[index as usize];
        waiting.done = true;
        let (value, span) = (waiting.value, waiting.span);
        let used = self.module.value_ty(value);
        if used != ty {
            return self.type_clash(span, name, used, ty);
        }
        Ok(Some(value))
    }

    /// Reports uses of results that a definition does not have.
    fn close_waiting(&mut self, head: Option<u32>, name: Name, count: u32) -> Parse<()> {
        let mut at = head;
        while let Some(index) = at {
            let waiting = &mut self.scopes.waiting[index as usize];
            if !waiting.done {
                waiting.done = true;
                let used = UseRef { name, number: waiting.number, span: waiting.span };
                return self.no_such_result(used, count);
            }
            at = waiting.next;
        }
        Ok(())
    }
}
