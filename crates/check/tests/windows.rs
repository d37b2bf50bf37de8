//! Windows of buffers: a window is a name for bytes of its buffer, and what is read through it is what the buffer holds when it is read. When the window is
//! made does not matter, when it is read does.

mod common;

use common::{accepted, refused};
use neap_check::Violation;

/// A program of steps in some order: `s` and `t` store `%x` and `%z` in the buffer, `w` makes a window from row `row`, `r` reads it, `b` stores in it.
fn program(steps: &str, row: u32, plan: bool) -> String {
    let planned = |text: &str| if plan { text.to_owned() } else { String::new() };
    let mut out = format!(
        "func.func @main(%x: memref<4x6xf32> {{neap.io = \"external\"}}, %z: memref<4x6xf32> {{neap.io = \"external\"}}, \
         %y: memref<2x6xf32> {{neap.io = \"external\"}}, %o: memref<2x6xf32> {{neap.io = \"external\"}}){} {{\n\
         %a = \"memref.alloc\"() <{{operandSegmentSizes = array<i32: 0, 0>}}> {{{}}} : () -> memref<4x6xf32>\n",
        planned(" attributes {neap.peak = 96 : i64, neap.arena_bytes = 96 : i64}"),
        planned("neap.offsets = array<i64: 0>"),
    );
    let ty = format!("memref<2x6xf32, strided<[6, 1], offset: {}>>", 6 * row);
    for step in steps.chars() {
        out += &match step {
            's' => "\"memref.copy\"(%x, %a) : (memref<4x6xf32>, memref<4x6xf32>) -> ()\n".to_owned(),
            't' => "\"memref.copy\"(%z, %a) : (memref<4x6xf32>, memref<4x6xf32>) -> ()\n".to_owned(),
            'b' => format!("\"memref.copy\"(%y, %w) : (memref<2x6xf32>, {ty}) -> ()\n"),
            'r' => format!("\"memref.copy\"(%w, %o) : ({ty}, memref<2x6xf32>) -> ()\n"),
            _ => format!(
                "%w = \"memref.subview\"(%a) <{{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: {row}, 0>, \
                 static_sizes = array<i64: 2, 6>, static_strides = array<i64: 1, 1>}}> {{{}}} : (memref<4x6xf32>) -> {ty}\n",
                planned("neap.offsets = array<i64: OFFSET>, neap.view = [{byte_offset = OFFSET : i64, operand = 0 : i64, result = 0 : i64}]")
                    .replace("OFFSET", &(24 * row).to_string()),
            ),
        };
    }
    out + "return\n}\n"
}

fn other(violation: &Violation) -> bool {
    matches!(violation, Violation::Buffer { .. })
}

#[test]
fn when_a_window_is_made_does_not_matter() {
    for (source, plan) in
        [("wsr", "swr"), ("swr", "wsr"), ("wstr", "stwr"), ("wsbr", "swbr"), ("swbr", "wsbr"), ("stwr", "swtr")]
    {
        accepted(&program(source, 2, false), &program(plan, 2, true));
    }
}

#[test]
fn when_it_is_read_and_written_does() {
    for (source, plan) in [("wsr", "wrs"), ("wstr", "wsrt"), ("wstr", "wtsr"), ("wsbr", "wbsr"), ("wsbr", "wsrb")] {
        refused(&program(source, 2, false), &program(plan, 2, true), other);
    }
}

#[test]
fn windows_at_other_places_hold_something_else() {
    refused(&program("swr", 2, false), &program("swr", 1, true), other);
    refused(&program("wsr", 0, false), &program("swr", 2, true), other);
    refused(&program("swbr", 2, false), &program("swbr", 1, true), other);
}
