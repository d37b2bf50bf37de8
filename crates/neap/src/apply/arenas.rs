//! Arenas: what the flags declare, else what the input declares, else what the profile's alignment asks for.

use crate::cli::ArenaFlag;
use neap_ir::{Attr, Module, OpId, OpSpec};
use neap_passes::profile::Profile;

/// The name of the only arena where none is declared.
pub(super) const ONLY: &str = "arena";

pub(super) fn declare(module: &mut Module, flags: &[ArenaFlag], profile: &Profile) {
    let mut anchor = module.block_ops(module.body()).next();
    for flag in flags {
        let align = flag.align.unwrap_or(profile.align);
        match module.symbol(&flag.name).filter(|op| module.op_name(*op) == "neap.arena") {
            Some(op) => {
                let (size, align) = (module.i64_attr(flag.size as i64), module.i64_attr(align as i64));
                module.set_attr(op, "size", size);
                module.set_attr(op, "align", align);
            }
            None => insert(module, anchor, &flag.name, Some(flag.size), align),
        }
        anchor = anchor.or_else(|| module.block_ops(module.body()).next());
    }
    let declared = module.block_ops(module.body()).any(|op| module.op_name(op) == "neap.arena");
    if !declared && profile.align > 1 {
        insert(module, anchor, ONLY, None, profile.align);
    }
}

fn insert(module: &mut Module, anchor: Option<OpId>, name: &str, size: Option<u64>, align: u64) {
    let align = module.i64_attr(align as i64);
    let mut attrs = vec![("align", align), ("sym_name", Attr::str(name))];
    if let Some(size) = size {
        let size = module.i64_attr(size as i64);
        attrs.push(("size", size));
    }
    let op = module.create(OpSpec { name: "neap.arena", attrs, ..OpSpec::default() });
    match anchor {
        Some(anchor) => module.insert_before(anchor, op),
        None => {
            let body = module.body();
            module.append(body, op);
        }
    }
}
