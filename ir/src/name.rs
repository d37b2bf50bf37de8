//! Interned strings: operation names, attribute keys, SSA names.
//!
//! A [`Name`] is valid in the [`Names`] that made it, that is, within one module. Two names are equal
//! exactly when their text is equal. The order of `Name` is the order of first interning, which
//! depends on the input alone; where text order matters (printing), compare the text.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

/// An interned string.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Name(u32);

impl Name {
    /// The position in the table: an index for tables over all names of a module.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The table behind [`Name`].
#[derive(Clone, Default, Debug)]
pub struct Names {
    set: IndexSet<Box<str>, FxBuildHasher>,
}

impl Names {
    /// The name of `text`, made if it is new.
    pub fn intern(&mut self, text: &str) -> Name {
        if let Some(index) = self.set.get_index_of(text) {
            return Name(index as u32);
        }
        Name(self.set.insert_full(text.into()).0 as u32)
    }

    /// The name of `text` if it has been interned.
    pub fn get(&self, text: &str) -> Option<Name> {
        self.set.get_index_of(text).map(|index| Name(index as u32))
    }

    /// How many names there are.
    pub(crate) fn len(&self) -> usize {
        self.set.len()
    }

    /// The text of a name.
    pub fn text(&self, name: Name) -> &str {
        &self.set[name.0 as usize]
    }
}
