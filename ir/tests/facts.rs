//! The embedded tables of op facts: whole, right where it matters, and strict about what users write.

use neap_ir::facts::{Access, Facts, Key, Resource, Role, Rule, Run, stub};

#[test]
fn every_op_of_the_models_has_a_row() {
    let facts = Facts::builtin();
    for list in [include_str!("data/onnx_ops.txt"), include_str!("data/tfl_ops.txt"), include_str!("data/tosa_ops.txt")]
    {
        let missing: Vec<&str> =
            list.lines().filter(|name| !name.starts_with('#') && facts.get(name).is_none()).collect();
        assert_eq!(missing, Vec::<&str>::new());
    }
}

#[test]
fn an_op_in_no_table_may_do_anything() {
    let facts = Facts::builtin();
    assert!(facts.get("my.op").is_none());
    let row = facts.of("my.op", 2, 1);
    assert!(row.may_do_anything() && row.inplace.is_empty() && row.views.is_empty());
    let mut quick = facts.clone();
    quick.assume_pure("my");
    assert!(quick.of("my.op", 2, 1).is_pure());
    assert!(!facts.of("my.op", 2, 1).is_pure(), "only the copy was told");
}

#[test]
fn rows_say_what_kernels_do() {
    let facts = Facts::builtin();
    let row = |name: &str| facts.get(name).expect("a row");
    assert_eq!(row("tfl.add").inplace_rule(0, 1), Some(Rule::Lockstep));
    assert_eq!(row("tfl.softmax").inplace_rule(0, 0), Some(Rule::Rows));
    assert_eq!(row("math.fma").inplace_rule(0, 2), Some(Rule::Lockstep));
    assert!(
        row("math.sincos").is_pure() && row("math.sincos").inplace.is_empty(),
        "it writes twice what it reads once"
    );
    assert_eq!(row("onnx.Softmax").inplace_rule(0, 0), Some(Rule::Rows));
    assert_eq!(row("tfl.reshape").view_operand(0), Some(0));
    assert_eq!(row("tfl.split").view_operand(3), Some(1));
    assert!(row("tfl.split").shape_operands.contains(0));
    assert_eq!(row("tfl.transpose").param(Key::Perm).and_then(|param| param.operand), Some(1));
    let write = &row("tfl.assign_variable").effects[0];
    assert_eq!((write.access, &write.resource), (Access::Write, &Resource::Handle(0)));
    assert_eq!(row("tfl.while").body.run, Run::Loop);
    assert_eq!(row("tfl.while").body.cond, Some(0));
    assert_eq!(row("onnx.Loop").body.lead, 2);
    assert_eq!(row("neap.fused").body.run, Run::Kernel);
    assert!(!row("tfl.random_uniform").is_pure());
    assert!(row("tosa.custom").may_do_anything());
}

/// What kernels read after they have begun to write.
#[test]
fn no_row_lets_a_kernel_overwrite_what_it_still_reads() {
    let facts = Facts::builtin();
    let mut heavy = 0;
    for name in facts.names() {
        let Some(row) = facts.get(name) else { continue };
        let reads_apart = matches!(
            row.role,
            Role::Matmul
                | Role::Conv
                | Role::Pool
                | Role::Reduce
                | Role::Gather
                | Role::Resize
                | Role::Transpose
                | Role::Concat
                | Role::Pack
                | Role::Pad
                | Role::Broadcast
        );
        heavy += usize::from(reads_apart);
        assert!(!reads_apart || row.inplace.is_empty(), "{name}");
    }
    assert!(heavy > 100, "{heavy} rows looked at");
    // A sliding window, and a result that is cleared between two looks at the operand.
    for name in ["tfl.local_response_normalization", "onnx.Hardmax", "onnx.LRN"] {
        assert!(facts.get(name).expect(name).inplace.is_empty(), "{name}");
    }
}

/// Tables and per-channel parameters are read as wholes, whatever their shape.
#[test]
fn parameters_of_elementwise_ops_are_not_overwritten() {
    let facts = Facts::builtin();
    for (name, operand) in [
        ("tosa.table", 1),
        ("tosa.rescale", 1),
        ("onnx.Clip", 1),
        ("onnx.BatchNormalizationInferenceMode", 1),
        ("onnx.QuantizeLinear", 1),
        ("tfl.select", 0),
    ] {
        let row = facts.get(name).expect(name);
        assert_eq!(row.inplace_rule(0, operand), None, "{name}");
        assert!(!row.per_element(operand) && row.per_element(usize::from(operand == 0)), "{name}");
    }
}

#[test]
fn a_row_may_depend_on_how_many_operands_there_are() {
    let facts = Facts::builtin();
    assert_eq!(facts.of("onnx.Dropout", 1, 1).role, Role::Reshape);
    assert_eq!(facts.of("onnx.Dropout", 3, 1).role, Role::Random);
    assert_eq!(facts.of("onnx.Dropout", 1, 2).role, Role::Random);
    assert_eq!(facts.of("onnx.BatchNormalization", 5, 1).role, Role::Elementwise);
    assert_eq!(facts.of("onnx.BatchNormalization", 5, 3).role, Role::Opaque);
}

#[test]
fn a_users_row_replaces_ours() {
    let mut facts = Facts::builtin();
    let table = "[[op]]\nname = \"tfl.tanh\"\nrole = \"opaque\"\neffects = \"none\"\n";
    facts.add_table(table, "mine.toml").expect("a good table");
    assert!(facts.get("tfl.tanh").expect("a row").inplace.is_empty());
}

/// Each broken table with the line and a part of the message.
#[test]
fn broken_tables_are_refused_with_their_line() {
    let cases = [
        ("[[op]]\nname = \"a.b\"\n", 1, "needs `role`"),
        ("[[op]]\nrole = \"opaque\"\n", 1, "needs `name`"),
        ("[[op]]\nname = \"b\"\nrole = \"opaque\"\n", 2, "lacks its dialect"),
        ("[[op]]\nname = \"a.b\"\nrole = \"opaqe\"\n", 3, "is not one of"),
        ("[[op]]\nname = \"a.b\"\nrole = \"opaque\"\nefects = \"none\"\n", 4, "unknown key `efects`"),
        ("[[op]]\nname = \"a.b\"\nrole = \"opaque\"\neffects = \"pure\"\n", 4, "expected `\"none\"`"),
        ("[[op]]\nname = \"a.b\"\nrole = \"concat\"\neffects = \"none\"\n", 1, "needs `axis`"),
        ("[[op]]\nname = \"a.b\"\nrole = \"opaque\"\ninplace = \"elementwise\"\n", 4, "is not one of"),
        ("[[op]]\nname = \"a.b\"\nrole = \"opaque\"\nshape_operands = -1\n", 4, "from 0 up"),
        ("[[op]]\nname = [\"a.b\", \"a.b\"]\nrole = \"opaque\"\n", 2, "a second row"),
        ("[[op]\nname", 1, ""),
        ("x = 1\n", 1, "unknown key `x`"),
        ("[[op]]\nname = \"a.b\"\nrole = \"opaque\"\neffects = [{touch = \"rng\"}]\n", 4, "unknown key `touch`"),
        ("[[op]]\nname = \"a.b\"\nrole = \"opaque\"\neffects = [{write = \"disk\"}]\n", 4, "expected a resource"),
        ("[[op]]\nname = \"a.b\"\nrole = \"opaque\"\ninplace = [{operands = 0}]\n", 4, "needs `operands` and `rule`"),
        ("[[op]]\nname = \"a.b\"\nrole = \"opaque\"\nviews = [{results = 0}]\n", 4, "needs `operand`"),
        ("[[op]]\nname = \"a.b\"\nrole = \"opaque\"\nshape_operands = \"3..1\"\n", 4, "expected a position"),
        ("[[op]]\nname = \"a.b\"\nrole = \"opaque\"\naxis = 1\n", 4, "expected a table"),
        ("[[op]]\nname = \"a.b\"\nrole = \"opaque\"\naxis = {}\n", 4, "expected `{attr"),
        ("[[op]]\nname = \"a.b\"\nrole = \"opaque\"\naxis = {operand = 0}\n", 1, "holds the data"),
        ("[[op]]\nname = \"a.b\"\nrole = \"opaque\"\nbody = {run = \"twice\"}\n", 4, "`twice` is not one of"),
        ("[[op]]\nname = \"a.b\"\nrole = \"opaque\"\nbody = {args = 0}\n", 1, "does not run"),
        ("[[op]]\nname = \"a.b\"\nrole = \"opaque\"\nwhen = {min_operands = 1}\n", 4, "unknown key `min_operands`"),
        ("[[op]]\nname = \"a.b\"\nrole = \"call\"\n", 1, "needs `body`"),
        ("[[op]]\nname = \"a.b\"\nrole = \"read\"\neffects = \"none\"\n", 1, "needs an effect"),
    ];
    for (text, line, part) in cases {
        let mut facts = Facts::builtin();
        let error = facts.add_table(text, "t.toml").expect_err(text);
        assert_eq!(error.line, line, "{text}{error}");
        assert!(error.message.contains(part), "{error}");
        assert!(facts.get("a.b").is_none(), "nothing is added");
    }
}

#[test]
fn a_stub_reads_back_and_changes_nothing() {
    let mut facts = Facts::builtin();
    let text = stub(["my.op", "my.\"odd\""]);
    facts.add_table(&text, "stub.toml").expect("the stub reads back");
    assert_eq!(facts.of("my.op", 1, 1), Facts::builtin().of("my.op", 1, 1));
    assert_eq!(facts.get("my.\"odd\""), facts.get("my.op"));
    assert!(Key::ALL.iter().all(|key| text.contains(key.as_str())), "every parameter is named");
}
