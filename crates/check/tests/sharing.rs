//! Bytes that a plan says are shared: what neither a fact nor the source permits is refused, read by anybody or not, and so is what would share a byte.

mod common;

use common::{accepted, refused};
use neap_check::Violation;

fn unpermitted(attribute: &str) -> impl Fn(&Violation) -> bool {
    move |v| matches!(v, Violation::Unpermitted { attribute: found, .. } if *found == attribute)
}

/// A call whose result nobody reads, with what it says in the source and in the plan.
fn call(said: &str, planned: &str) -> [String; 2] {
    let text = |plan: bool, call: &str| {
        let at = |offset: &str| if plan { format!(", neap.offsets = array<i64: {offset}>") } else { String::new() };
        let arg = if plan { " {neap.offset = 0 : i64}" } else { "" };
        let numbers = |peak: u32, bytes: u32| match plan {
            true => format!(" attributes {{neap.peak = {peak} : i64, neap.arena_bytes = {bytes} : i64}}"),
            false => String::new(),
        };
        let scratch = ", neap.callee_bytes = 8 : i64, neap.scratch = 8 : i64, neap.scratch_offset = 8 : i64";
        let scratch = if plan { scratch } else { "" };
        format!(
            r#"
func.func @callee(%x: tensor<4xi8>{arg}) -> tensor<4xi8>{} {{
  %r = "neap.opaque"(%x) {{kind = "g"{}}} : (tensor<4xi8>) -> tensor<4xi8>
  return %r : tensor<4xi8>
}}
func.func @main(%x: tensor<4xi8>{arg}) -> tensor<4xi8>{} {{
  %a = "neap.opaque"(%x) {{kind = "f"{}}} : (tensor<4xi8>) -> tensor<4xi8>
  %b = "neap.call"(%a) {{callee = @callee{scratch}{call}}} : (tensor<4xi8>) -> tensor<4xi8>
  %c = "neap.opaque"(%a) {{kind = "h"{}}} : (tensor<4xi8>) -> tensor<4xi8>
  return %c : tensor<4xi8>
}}"#,
            numbers(8, 8),
            at("4"),
            numbers(if call.contains("neap.view") { 12 } else { 16 }, 16),
            at("4"),
            at("0"),
        )
    };
    [text(false, said), text(true, planned)]
}

const VIEW: &str = ", neap.view = [{result = 0, operand = 0, byte_offset = 0}]";

#[test]
fn a_call_is_no_view_because_the_plan_says_so() {
    let planned = format!("{VIEW}, neap.offsets = array<i64: 4>");
    let [source, plan] = call("", &planned);
    refused(&source, &plan, unpermitted("neap.view"));
    // What the source says of the same call is so.
    let [source, plan] = call(VIEW, &planned);
    accepted(&source, &plan);
    // Bytes of its own.
    let [source, plan] = call("", ", neap.offsets = array<i64: 0>");
    accepted(&source, &plan);
}

/// An operation that nobody knows and nobody reads, on `%x` and `%a`, with what it says in the source and in the plan.
fn unread(name: &str, said: &str, planned: &str) -> [String; 2] {
    let text = |arg: &str, numbers: &str, a: &str, said: &str, c: &str| {
        format!(
            r#"
func.func @main(%x: tensor<4xi8>{arg}) -> tensor<4xi8>{numbers} {{
  %a = "neap.opaque"(%x) {{kind = "f"{a}}} : (tensor<4xi8>) -> tensor<4xi8>
  %b = "{name}"(%x, %a) {{axis = 0 : i32{said}}} : (tensor<4xi8>, tensor<4xi8>) -> tensor<8xi8>
  %c = "neap.opaque"(%a) {{kind = "h"{c}}} : (tensor<4xi8>) -> tensor<4xi8>
  return %c : tensor<4xi8>
}}"#
        )
    };
    let numbers = " attributes {neap.peak = 12 : i64, neap.arena_bytes = 12 : i64}";
    let planned = format!("{planned}, neap.offsets = array<i64: 0>");
    let [a, c] = ["4", "8"].map(|at| format!(", neap.offsets = array<i64: {at}>"));
    [text("", "", "", said, ""), text(" {neap.offset = 8 : i64}", numbers, &a, &planned, &c)]
}

#[test]
fn a_part_is_none_because_the_plan_says_so() {
    let may = ", neap.may_place = [{operand = 1, byte_offset = 4}]";
    let does = ", neap.place = [{operand = 1, byte_offset = 4}]";
    let both = format!("{may}{does}");
    for planned in [does, both.as_str()] {
        let [source, plan] = unread("neap.opaque", "", planned);
        refused(&source, &plan, unpermitted("neap.place"));
    }
    let [source, plan] = unread("neap.opaque", may, &both);
    accepted(&source, &plan);
    // A join is one, whatever the source says.
    let [source, plan] = unread("tfl.concatenation", "", does);
    accepted(&source, &plan);
    // Said of another part.
    let [source, plan] = unread("neap.opaque", &may.replace("operand = 1", "operand = 0"), &both);
    refused(&source, &plan, unpermitted("neap.place"));
}

#[test]
fn what_lies_in_no_arena_shares_no_bytes_of_one() {
    let text = |arg: &str, numbers: &str, a: &str, b: &str| {
        format!(
            r#"
func.func @main(%p: tensor<i1>{}, %x: tensor<4xi8>{arg}) -> (tensor<4xi8> {{neap.io = "external"}}){numbers} {{
  %a = "tfl.abs"(%x) {{kind = "f"{a}}} : (tensor<4xi8>) -> tensor<4xi8>
  %b = "tfl.abs"(%a) {{kind = "g"{b}}} : (tensor<4xi8>) -> tensor<4xi8>
  return %b : tensor<4xi8>
}}"#,
            if arg.is_empty() { "" } else { " {neap.offset = 8 : i64}" },
        )
    };
    let numbers = " attributes {neap.peak = 9 : i64, neap.arena_bytes = 9 : i64}";
    let plan = |said: &str| text(" {neap.offset = 0 : i64}", numbers, ", neap.offsets = array<i64: 4>", said);
    let source = text("", "", "", "");
    accepted(&source, &plan(", neap.offsets = array<i64: -1>"));
    let over = ", neap.offsets = array<i64: -1>, neap.inplace = [{result = 0, operand = 0}]";
    refused(&source, &plan(over), |v| {
        matches!(v, Violation::Elsewhere { attribute: "neap.inplace", expected: None, .. })
    });
}

#[test]
fn what_lies_in_no_arena_is_handed_over_by_nobody() {
    let text = |p: &str, x: &str, numbers: &str, a: &str, hands: &str, b: &str| {
        format!(
            r#"
func.func @main(%p: tensor<i1>{p}, %x: tensor<4xi8>{x}) -> (tensor<4xi8> {{neap.io = "external"}}){numbers} {{
  %b = "neap.if"(%p) ({{
    %a = "neap.opaque"(%x) {{kind = "f"{a}}} : (tensor<4xi8>) -> tensor<4xi8>
    "neap.yield"(%a) {{{hands}}} : (tensor<4xi8>) -> ()
  }}, {{
    "neap.yield"(%x) : (tensor<4xi8>) -> ()
  }}) {{kind = "g"{b}}} : (tensor<i1>) -> tensor<4xi8>
  return %b : tensor<4xi8>
}}"#
        )
    };
    let numbers = " attributes {neap.peak = 8 : i64, neap.arena_bytes = 9 : i64}";
    let at = |offset: i32| format!(" {{neap.offset = {offset} : i64}}");
    let plan = |hands: &str| {
        let offsets = [", neap.offsets = array<i64: 4>", ", neap.offsets = array<i64: -1>"];
        text(&at(8), &at(0), numbers, offsets[0], hands, offsets[1])
    };
    let source = text("", "", "", "", "", "");
    accepted(&source, &plan(""));
    refused(&source, &plan("neap.handed = array<i64: 0>"), |v| {
        matches!(v, Violation::Elsewhere { attribute: "neap.handed", expected: None, .. })
    });
}

/// A result in the caller's memory is written there: were it bytes of the arena, the caller would find nothing.
#[test]
fn what_the_caller_gets_is_no_view() {
    let text = |arg: &str, numbers: &str, a: &str, io: &str, said: &str| {
        format!(
            r#"
func.func @main(%x: tensor<4xi8>{arg}) -> (tensor<2x2xi8> {{{io}}}){numbers} {{
  %a = "neap.opaque"(%x) {{kind = "f"{a}}} : (tensor<4xi8>) -> tensor<4xi8>
  %r = "tfl.reshape"(%a) {{n = 0{said}}} : (tensor<4xi8>) -> tensor<2x2xi8>
  return %r : tensor<2x2xi8>
}}"#
        )
    };
    let numbers = " attributes {neap.peak = 8 : i64, neap.arena_bytes = 8 : i64}";
    let at = ", neap.offsets = array<i64: 4>";
    let plan = |io: &str, offset: &str, view: &str| {
        let said = format!(", neap.offsets = array<i64: {offset}>{view}");
        text(" {neap.offset = 0 : i64}", numbers, at, io, &said)
    };
    let external = "neap.io = \"external\"";
    let source = text("", "", "", external, "");
    accepted(&source, &plan(external, "-1", ""));
    for offset in ["4", "-1"] {
        refused(&source, &plan(external, offset, VIEW), |v| matches!(v, Violation::NotTheCallers { .. }));
    }
    // A result in the arena may be one, and so may what the source itself calls a view.
    accepted(&text("", "", "", "", ""), &plan("", "4", VIEW));
    accepted(&text("", "", "", external, VIEW), &plan(external, "4", VIEW));
}

/// Of two equal operations on one value only one is a view of it. The other writes what it computes, read or not, and must not do so there.
#[test]
fn of_two_equal_operations_only_the_one_is_a_view_that_says_so() {
    let text = |plan: bool, said: [&str; 2], at: [u32; 2]| {
        let place = |offset: u32| if plan { format!(", neap.offsets = array<i64: {offset}>") } else { String::new() };
        let (arg, numbers) = match plan {
            true => (" {neap.offset = 4 : i64}", " attributes {neap.peak = 12 : i64, neap.arena_bytes = 12 : i64}"),
            false => ("", ""),
        };
        format!(
            r#"
func.func @main(%x: tensor<4xi8>{arg}) -> tensor<4xi8>{numbers} {{
  %a = "neap.opaque"(%x) {{kind = "f"{}}} : (tensor<4xi8>) -> tensor<4xi8>
  %b = "neap.opaque"(%a) {{kind = "g"{}{}}} : (tensor<4xi8>) -> tensor<4xi8>
  %c = "neap.opaque"(%a) {{kind = "g"{}{}}} : (tensor<4xi8>) -> tensor<4xi8>
  %d = "neap.opaque"(%a, %b) {{kind = "h"{}}} : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  return %d : tensor<4xi8>
}}"#,
            place(0),
            said[0],
            place(at[0]),
            said[1],
            place(at[1]),
            place(8),
        )
    };
    let wrong = |source: &str, plan: &str| {
        let found = common::judge(source, plan).violations;
        found.into_iter().filter(|v| !v.is_figure()).collect::<Vec<_>>()
    };
    let source = text(false, [VIEW, ""], [0, 0]);
    assert_eq!(wrong(&source, &text(true, [VIEW, ""], [0, 4])), []);
    refused(&source, &text(true, [VIEW, VIEW], [0, 0]), unpermitted("neap.view"));
    // Where both say so, both are.
    let source = text(false, [VIEW, VIEW], [0, 0]);
    assert_eq!(wrong(&source, &text(true, [VIEW, VIEW], [0, 0])), []);
}

/// Two parts of so many elements of four bits each, joined, and one of them written straight into the whole.
fn joined(elements: [u32; 2], placed: usize) -> [String; 2] {
    let [first, second] = elements;
    let bytes = |count: u32| (count * 4).div_ceil(8);
    let whole = first + second;
    let text = |plan: bool| {
        let at = |offset: u32| if plan { format!(", neap.offsets = array<i64: {offset}>") } else { String::new() };
        let (arg, numbers) = match plan {
            true => (" {neap.offset = 0 : i64}", " attributes {neap.peak = 0 : i64, neap.arena_bytes = 0 : i64}"),
            false => ("", ""),
        };
        // The whole lies at 32, what is not placed at 64.
        let begins = [0, first * 4 / 8];
        let offsets = [0, 1].map(|part| if part == placed { 32 + begins[part] } else { 64 });
        let place = match plan {
            true => format!(", neap.place = [{{operand = {placed}, byte_offset = {}}}]", begins[placed]),
            false => String::new(),
        };
        assert!(bytes(whole) <= 32);
        format!(
            r#"
func.func @main(%x: tensor<4xi8>{arg}) -> tensor<{whole}xi4>{numbers} {{
  %a = "neap.opaque"(%x) {{kind = "a"{}}} : (tensor<4xi8>) -> tensor<{first}xi4>
  %b = "neap.opaque"(%x) {{kind = "b"{}}} : (tensor<4xi8>) -> tensor<{second}xi4>
  %c = "tfl.concatenation"(%a, %b) {{axis = 0 : i32, fused_activation_function = "NONE"{}{place}}} : (tensor<{first}xi4>, tensor<{second}xi4>) -> tensor<{whole}xi4>
  return %c : tensor<{whole}xi4>
}}"#,
            at(offsets[0]),
            at(offsets[1]),
            at(32),
        )
    };
    [text(false), text(true)]
}

/// Whether nothing but figures is wrong.
fn right([source, plan]: &[String; 2]) -> bool {
    common::judge(source, plan).violations.iter().all(Violation::is_figure)
}

#[test]
fn a_part_that_ends_within_a_byte_is_not_placed() {
    let [source, plan] = joined([5, 5], 0);
    refused(&source, &plan, |v| matches!(v, Violation::PartialByte { first: 0, end: 3, .. }));
    // It ends the whole, or whole bytes.
    assert!(right(&joined([4, 5], 1)));
    assert!(right(&joined([4, 5], 0)));
    assert!(right(&joined([6, 4], 0)));
    let [source, plan] = joined([5, 4], 0);
    refused(&source, &plan, |v| matches!(v, Violation::PartialByte { .. }));
}

/// The first elements of a value of four bits each are copied twice, the second time to where they came from.
fn copied_back(elements: u32) -> [String; 2] {
    let text = |plan: bool| {
        let at = |offset: u32| if plan { format!(", neap.offsets = array<i64: {offset}>") } else { String::new() };
        let (arg, numbers) = match plan {
            true => (" {neap.offset = 0 : i64}", " attributes {neap.peak = 0 : i64, neap.arena_bytes = 0 : i64}"),
            false => ("", ""),
        };
        let size = format!("array<i64: {elements}>");
        format!(
            r#"
func.func @main(%x: tensor<4xi8>{arg}) -> (tensor<10xi4>, tensor<1x{elements}xi4>){numbers} {{
  %w = "neap.opaque"(%x) {{kind = "w"{}}} : (tensor<4xi8>) -> tensor<10xi4>
  %v = "stablehlo.slice"(%w) {{start_indices = array<i64: 0>, limit_indices = {size}, strides = array<i64: 1>{}}} : (tensor<10xi4>) -> tensor<{elements}xi4>
  %u = "stablehlo.reshape"(%v) {{tag = 1{}}} : (tensor<{elements}xi4>) -> tensor<1x{elements}xi4>
  return %w, %u : tensor<10xi4>, tensor<1x{elements}xi4>
}}"#,
            at(32),
            at(48),
            at(32),
        )
    };
    [text(false), text(true)]
}

#[test]
fn whole_bytes_are_written() {
    // Four elements are two bytes, and they hold what they held; the third byte of five holds one more element of the whole.
    assert!(right(&copied_back(4)));
    let [source, plan] = copied_back(5);
    refused(&source, &plan, |v| matches!(v, Violation::Overwritten { .. }));
}
