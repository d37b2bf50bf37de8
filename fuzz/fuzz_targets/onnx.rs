//! Under libFuzzer: no file panics the ONNX reader, and what it accepts is valid.
#![no_main]

#[path = "../bodies.rs"]
#[allow(dead_code, reason = "each target uses one of the bodies")]
mod bodies;

libfuzzer_sys::fuzz_target!(|data: &[u8]| bodies::onnx(data));
