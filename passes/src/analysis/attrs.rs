//! Writing attributes only where they say something new, so that a pass that changes nothing touches nothing.

use neap_ir::{Attr, Module, OpId};

/// Sets an attribute; says whether that changed anything.
pub fn put(module: &mut Module, op: OpId, key: &str, value: Attr) -> bool {
    if module.attr(op, key) == Some(&value) {
        return false;
    }
    module.set_attr(op, key, value);
    true
}

/// Removes an attribute; says whether it was there.
pub fn remove(module: &mut Module, op: OpId, key: &str) -> bool {
    module.attr(op, key).is_some() && module.remove_attr(op, key).is_some()
}

/// Sets an attribute of a function's argument; says whether that changed anything.
pub fn put_arg(module: &mut Module, func: OpId, index: usize, key: &str, value: Attr) -> bool {
    if module.arg_attr(func, index, key) == Some(&value) {
        return false;
    }
    module.set_arg_attr(func, index, key, Some(value));
    true
}

/// Removes an attribute of a function's argument; says whether it was there.
pub fn remove_arg(module: &mut Module, func: OpId, index: usize, key: &str) -> bool {
    if module.arg_attr(func, index, key).is_none() {
        return false;
    }
    module.set_arg_attr(func, index, key, None);
    true
}
