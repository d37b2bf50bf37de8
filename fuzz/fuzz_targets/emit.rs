//! Under libFuzzer: no module and no model file break a writer.
#![no_main]

#[path = "../bodies.rs"]
#[allow(dead_code, reason = "each target uses one of the bodies")]
mod bodies;

libfuzzer_sys::fuzz_target!(|data: &[u8]| bodies::emit(data));
