//! Bytes per step, and who holds them where they are most.
//!
//! Counts storages that take arena bytes, scratch included, each once per step of its live range; resident, external and state bytes
//! are not counted. Without steps the arguments count in "step 0". Linear time.

use super::names::value_name;
use super::storage::{StorageId, Storages};
use super::timeline::Timeline;
use super::values::Values;
use neap_ir::Module;
use neap_ir::diag::Diagnostic;

/// What a function holds while it runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Profile {
    /// Bytes held during each step.
    pub bytes: Vec<u64>,
    /// The most bytes held in a step.
    pub peak: u64,
    /// The first step that holds them.
    pub step: u32,
}

impl Profile {
    /// Adds up.
    ///
    /// # Errors
    /// A sum above 2^63-1 bytes, naming the largest storage.
    pub fn new(
        module: &Module,
        timeline: &Timeline<'_>,
        values: &Values,
        storages: &Storages,
    ) -> Result<Profile, Diagnostic> {
        let mut change = vec![0i128; timeline.end() as usize + 1];
        for (_, storage) in storages.in_arena() {
            change[storage.live.begin as usize] += i128::from(storage.size);
            change[storage.live.end as usize] -= i128::from(storage.size);
        }
        let mut held = 0i128;
        let mut bytes = Vec::with_capacity(change.len());
        for change in &change[..change.len() - 1] {
            held += change;
            let step = i64::try_from(held).map_err(|_| too_much(module, timeline, values, storages, bytes.len()))?;
            bytes.push(step as u64);
        }
        let (peak, step) = bytes.iter().enumerate().map(|(step, bytes)| (*bytes, step as u32)).fold((0, 0), most);
        Ok(Profile { bytes, peak, step })
    }
}

fn most(best: (u64, u32), next: (u64, u32)) -> (u64, u32) {
    if next.0 > best.0 { next } else { best }
}

/// The storages that hold bytes during a step, largest first.
pub fn holders(storages: &Storages, step: u32) -> Vec<StorageId> {
    let mut found: Vec<StorageId> =
        storages.in_arena().filter(|(_, storage)| storage.live.contains(step)).map(|(id, _)| id).collect();
    found.sort_by_key(|id| std::cmp::Reverse(storages.get(*id).size));
    found
}

/// What people call a storage: the names of its members, or whose scratch it is.
pub fn storage_name(module: &Module, values: &Values, storages: &Storages, storage: StorageId) -> String {
    let storage = storages.get(storage);
    if let Some(op) = storage.scratch_of {
        return format!("scratch of {}", super::names::op_name(module, op));
    }
    let names: Vec<String> =
        storage.members.iter().take(4).map(|member| value_name(module, values.info(member.slot).value)).collect();
    let more = if storage.members.len() > 4 { " = .." } else { "" };
    names.join(" = ") + more
}

fn too_much(module: &Module, timeline: &Timeline<'_>, values: &Values, storages: &Storages, step: usize) -> Diagnostic {
    let largest = holders(storages, step as u32).into_iter().next();
    let name = largest.map_or_else(String::new, |id| {
        format!("; the largest is {} with {}", storage_name(module, values, storages, id), storages.get(id).size)
    });
    Diagnostic::error(
        module.op(timeline.func).span,
        format!("byte size overflows: more than 2^63-1 bytes are live at step {step}{name}"),
    )
}
