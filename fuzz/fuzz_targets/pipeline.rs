//! Under libFuzzer: no module makes a plan that the checker refuses.
#![no_main]

#[path = "../bodies.rs"]
#[allow(dead_code, reason = "each target uses one of the bodies")]
mod bodies;

libfuzzer_sys::fuzz_target!(|data: &[u8]| bodies::pipeline(data));
