//! Dimensions of arguments of bodies: what is handed to them has names.

use neap_ir::{Module, ValueId, parse, verify};

/// A function of `%x: tensor<?xi8>` with the dimension `N`, at most 8, and `%y` with `M`, at most 100; `%z` has none.
fn module(body: &str) -> Module {
    let text = format!(
        "module attributes {{neap.bounds = {{M = [1, 100], N = [1, 8]}}}} {{
         func.func @main(%c: i1, %n: i64, %x: tensor<?xi8> {{neap.dims = [\"N\"]}}, %y: tensor<?xi8> {{neap.dims = [\"M\"]}}, %z: tensor<?xi8>) {{
         {body}
         return
         }}
         }}"
    );
    let module = parse(&text).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    verify(&module).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    module
}

/// The names of the one dimension of every argument of a body, and its bytes.
fn arguments(body: &str) -> Vec<(String, Vec<String>, Option<u64>)> {
    let module = module(body);
    let func = module.functions()[0];
    let ops = module.walk(func).into_iter().flat_map(|op| module.op_regions(op).to_vec());
    let blocks = ops.flat_map(|region| module.blocks(region).to_vec());
    let values: Vec<ValueId> = blocks.flat_map(|block| module.block_args(block).to_vec()).collect();
    let dynamic = values.into_iter().filter(|value| !module.dynamic_axes(*value).is_empty());
    let seen = |value: ValueId| {
        let name = module.value(value).name.map(|name| module.text(name).to_owned()).unwrap_or_default();
        let names = module.dim_names(value)[0].iter().map(|name| (*name).to_owned()).collect();
        (name, names, module.value_bytes(value).ok())
    };
    dynamic.map(seen).collect()
}

fn named(name: &str, names: &[&str], bytes: Option<u64>) -> (String, Vec<String>, Option<u64>) {
    (name.to_owned(), names.iter().map(|name| (*name).to_owned()).collect(), bytes)
}

#[test]
fn a_branch_sees_what_it_is_handed() {
    let found = arguments(
        r#""neap.if"(%c, %x, %z) ({
           ^bb0(%a: tensor<?xi8>, %b: tensor<?xi8>):
             "neap.yield"() : () -> ()
           }) : (i1, tensor<?xi8>, tensor<?xi8>) -> ()"#,
    );
    assert_eq!(found, [named("a", &["N"], Some(8)), named("b", &[], None)]);
}

#[test]
fn a_loop_carries_what_it_starts_with_and_what_its_body_hands_on() {
    let loop_of = |start: &str, made: &str| {
        format!(
            r#"%r = "neap.for"(%n, %{start}) ({{
               ^bb0(%i: i64, %a: tensor<?xi8>):
                 %b = "neap.opaque"(%a) {{neap.dims = ["{made}"]}} : (tensor<?xi8>) -> tensor<?xi8>
                 "neap.yield"(%b) : (tensor<?xi8>) -> ()
               }}) : (i64, tensor<?xi8>) -> tensor<?xi8>"#
        )
    };
    assert_eq!(arguments(&loop_of("x", "N")), [named("a", &["N"], Some(8))]);
    // A later trip may be handed more than the first one.
    assert_eq!(arguments(&loop_of("x", "M")), [named("a", &["M", "N"], Some(100))]);
    assert_eq!(arguments(&loop_of("x", "K")), [named("a", &["K", "N"], None)]);
    assert_eq!(arguments(&loop_of("z", "N")), [named("a", &[], None)]);
    assert_eq!(arguments(&loop_of("x", "")), [named("a", &[], None)]);
}

#[test]
fn values_that_change_places_are_all_of_them() {
    let found = arguments(
        r#"%r:2 = "scf.while"(%x, %y) ({
           ^bb0(%a: tensor<?xi8>, %b: tensor<?xi8>):
             "scf.condition"(%c, %b, %a) : (i1, tensor<?xi8>, tensor<?xi8>) -> ()
           }, {
           ^bb0(%p: tensor<?xi8>, %q: tensor<?xi8>):
             %s = "neap.if"(%c, %p) ({
             ^bb0(%t: tensor<?xi8>):
               "neap.yield"(%t) : (tensor<?xi8>) -> ()
             }, {
             ^bb0(%t: tensor<?xi8>):
               "neap.yield"(%t) : (tensor<?xi8>) -> ()
             }) {neap.dims = ["M"]} : (i1, tensor<?xi8>) -> tensor<?xi8>
             "scf.yield"(%s, %q) : (tensor<?xi8>, tensor<?xi8>) -> ()
           }) : (tensor<?xi8>, tensor<?xi8>) -> (tensor<?xi8>, tensor<?xi8>)"#,
    );
    // `%a` is `%x` or `%s`; `%b` is `%y` or what `%a` was.
    let (both, bytes) = (["M", "N"], Some(100));
    assert_eq!(
        found,
        [
            named("a", &both, bytes),
            named("b", &both, bytes),
            named("p", &both, bytes),
            named("q", &both, bytes),
            named("t", &both, bytes),
            named("t", &both, bytes),
        ]
    );
}

#[test]
fn what_the_tables_do_not_say_has_no_name() {
    let found = arguments(
        r#""t.region"(%x) ({
           ^bb0(%a: tensor<?xi8>):
             "t.end"(%a) : (tensor<?xi8>) -> ()
           }) : (tensor<?xi8>) -> ()
           %r = "onnx.Scan"(%x) ({
           ^bb0(%a: tensor<?xi8>):
             "onnx.Yield"(%a) : (tensor<?xi8>) -> ()
           }) : (tensor<?xi8>) -> tensor<?xi8>"#,
    );
    assert_eq!(found, [named("a", &[], None), named("a", &[], None)]);
}
