//! Under libFuzzer: text never panics the parser, and what it accepts prints to a fixed point.
#![no_main]

#[path = "../bodies.rs"]
#[allow(dead_code, reason = "each target uses one of the bodies")]
mod bodies;

libfuzzer_sys::fuzz_target!(|data: &[u8]| bodies::parser(data));
