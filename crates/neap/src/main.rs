//! The binary `neap`.
fn main() {}
