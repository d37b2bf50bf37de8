//! Under libFuzzer: no file panics the NPU reader, and what it accepts is planned.
#![no_main]

#[path = "../bodies.rs"]
#[allow(dead_code, reason = "each target uses one of the bodies")]
mod bodies;

libfuzzer_sys::fuzz_target!(|data: &[u8]| bodies::npu(data));
