//! What the source itself says that operations share, beyond the facts: results that lie in an operand, operands that are parts of the result.
//!
//! Said by the source it is what the operation means, also of one that nothing is known of. A plan cannot say so for it: what a view or a part of
//! the plan declares must be permitted by a fact, or be said of an equal use of the source.

use crate::hash::Mix;
use neap_ir::facts::{OpFacts, Role};
use neap_ir::plan::{self, Place, View};
use neap_ir::{Module, OpId};
use rustc_hash::FxHashMap;

/// What uses say of themselves: how many there are of each, and how many of them say so.
#[derive(Clone, Default)]
pub(crate) struct Shares {
    uses: FxHashMap<u128, u32>,
    said: FxHashMap<u128, u32>,
}

/// Adds what an operation says of the use `key`.
pub(crate) fn declare(m: &Module, op: OpId, key: u128, shares: &mut Shares) {
    *shares.uses.entry(key).or_default() += 1;
    let views = m.views(op).into_iter().map(|one| view(key, &one));
    let parts = m.places(op, plan::MAY_PLACE).into_iter().map(|one| part(key, &one));
    for name in views.chain(parts) {
        *shares.said.entry(name).or_default() += 1;
    }
}

impl Shares {
    /// Whether some use says so.
    pub(crate) fn contains(&self, name: u128) -> bool {
        self.said.contains_key(&name)
    }

    /// So many uses may say so; none where all do, since what is said of each holds for copies, too. Of two equal operations of which only one
    /// says so, the other one's kernel writes bytes of its own.
    pub(crate) fn most(&self, key: u128, name: u128) -> Option<u32> {
        let said = self.said.get(&name).copied().unwrap_or(0);
        let all = said > 0 && self.uses.get(&key) == Some(&said);
        (!all).then_some(said)
    }
}

/// The name of a view of a use.
pub(crate) fn view(key: u128, view: &View) -> u128 {
    name("view", key, [view.result.into(), view.operand.into(), view.byte_offset])
}

/// The name of a part of a use.
pub(crate) fn part(key: u128, place: &Place) -> u128 {
    name("part", key, [0, place.operand.into(), place.byte_offset])
}

fn name(tag: &str, key: u128, numbers: [u64; 3]) -> u128 {
    let mut mix = Mix::new(tag);
    mix.wide(key);
    numbers.into_iter().for_each(|number| mix.word(number));
    mix.done()
}

/// Whether a fact permits a view; that its bytes are the result is another question.
pub(crate) fn may_view(row: &OpFacts, view: &View) -> bool {
    let (result, operand) = (view.result as usize, view.operand as usize);
    let window = row.role == Role::Subview && operand == row.data_operand();
    window || row.view_operand(result) == Some(operand)
}

/// Whether a fact permits operands to be there before the operation runs: it only puts them one behind the other.
pub(crate) fn may_place(row: &OpFacts) -> bool {
    matches!(row.role, Role::Concat | Role::Pack)
}
