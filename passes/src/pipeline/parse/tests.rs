//! Every form that is read, and what is said about forms that are not.

use super::{Known, flag, pipeline};
use crate::pass::{Context, OptionSpec, Options, Pass, PassInfo};
use crate::pipeline::NamedPipeline;
use neap_ir::diag::Diagnostic;
use neap_ir::{Module, OpId};

struct Nothing;

impl Pass for Nothing {
    fn run(&self, _: &mut Module, _: OpId, _: &mut Context<'_>) -> Result<bool, Diagnostic> {
        Ok(false)
    }
}

fn build(options: &Options) -> Result<Box<dyn Pass>, String> {
    options.get::<u64>(&SORT, "effort")?;
    options.get::<bool>(&SORT, "in-place")?;
    Ok(Box::new(Nothing))
}

static SORT: PassInfo = PassInfo {
    name: "sort",
    summary: "",
    options: &[
        OptionSpec { name: "effort", summary: "", default: "1" },
        OptionSpec { name: "in-place", summary: "", default: "true" },
        OptionSpec { name: "text", summary: "", default: "" },
    ],
    build,
};
static FOLD: PassInfo = PassInfo { name: "fold", summary: "", options: &[], build: |_| Ok(Box::new(Nothing)) };
static BOTH: NamedPipeline = NamedPipeline { name: "both", summary: "", passes: "fold,sort{effort=7}" };
const KNOWN: Known = Known { passes: &[&SORT, &FOLD], pipelines: std::slice::from_ref(&BOTH) };

fn read(text: &str) -> String {
    match pipeline(text, &KNOWN) {
        Ok(found) => found.to_string(),
        Err(error) => format!("error: {error}"),
    }
}

#[test]
fn all_forms_print_as_the_full_form_which_reads_back() {
    for (text, printed) in [
        ("", "builtin.module()"),
        (" fold , sort ", "builtin.module(func.func(fold,sort))"),
        ("func.func(fold)", "builtin.module(func.func(fold))"),
        (
            "builtin.module(fold,func.func(sort),fold)",
            "builtin.module(func.func(fold),func.func(sort),func.func(fold))",
        ),
        (
            "builtin.module( func.func( fold , sort{ in-place=false effort=3 } ) )",
            "builtin.module(func.func(fold,sort{effort=3 in-place=false}))",
        ),
        ("sort{in-place}", "builtin.module(func.func(sort{in-place=true}))"),
        ("sort{text='two words'}", "builtin.module(func.func(sort{text=\"two words\"}))"),
        ("sort{text=\"it's {}\"}", "builtin.module(func.func(sort{text=\"it's {}\"}))"),
        ("sort{text=\"\"}", "builtin.module(func.func(sort{text=\"\"}))"),
        ("both,fold", "builtin.module(func.func(fold,sort{effort=7},fold))"),
        ("func.func()", "builtin.module()"),
    ] {
        assert_eq!(read(text), printed, "{text}");
        assert_eq!(read(printed), printed);
    }
}

#[test]
fn wrong_forms_say_what_is_right() {
    for (text, message) in [
        ("fold,", "pipeline `fold,`: expected a pass after `,` at byte 5"),
        ("fold sort", "pipeline `fold sort`: expected `,` or the end at byte 5"),
        ("builtin.module(fold", "pipeline `builtin.module(fold`: expected `,` or `)` at byte 19"),
        ("func.func(fold", "pipeline `func.func(fold`: expected `,` or `)` at byte 14"),
        ("func.func(fold))", "pipeline `func.func(fold))`: expected `,` or the end at byte 15"),
        ("builtin.module(fold)x", "pipeline `builtin.module(fold)x`: expected the end at byte 20"),
        ("scf.for(fold)", "pipeline `scf.for(fold)`: expected `builtin.module` or `func.func` before `(` at byte 7"),
        (
            "func.func(func.func(fold))",
            "pipeline `func.func(func.func(fold))`: expected `builtin.module` or `func.func` before `(` at byte 19",
        ),
        ("sort{effort=}", "pipeline `sort{effort=}`: expected a value at byte 12"),
        ("sort{effort=1 effort=2}", "pipeline `sort{effort=1 effort=2}`: expected option `effort` once at byte 22"),
        ("sort{text='a}", "pipeline `sort{text='a}`: expected the closing quote at byte 13"),
        ("sort{effort=1", "pipeline `sort{effort=1`: expected an option `name=value` or `}` at byte 13"),
        ("sort{é=1}", "pipeline `sort{é=1}`: expected an option `name=value` or `}` at byte 5"),
        ("漢", "pipeline `漢`: expected the name of a pass at byte 0"),
        ("fould", "there is no pass or pipeline `fould`; did you mean `fold`?"),
        ("zzz", "there is no pass or pipeline `zzz`"),
        ("fold{effort=1}", "pass `fold` has no option `effort`; it has none"),
        ("sort{efort=1}", "pass `sort` has no option `efort`; did you mean `effort`?"),
        ("sort{zz=1}", "pass `sort` has no option `zz`; it has `effort`, `in-place`, `text`"),
        ("sort{effort=many}", "option `effort` of pass `sort` cannot be `many`"),
        ("sort{effort=-1}", "option `effort` of pass `sort` cannot be `-1`"),
        ("both{effort=1}", "pass `both` has no option `effort`; it has none"),
    ] {
        assert_eq!(read(text), format!("error: {message}"), "{text}");
    }
}

#[test]
fn a_flag_has_the_inside_of_the_braces() {
    let print = |name, options| match flag(name, options, &KNOWN) {
        Ok(steps) => steps.iter().map(ToString::to_string).collect::<Vec<_>>().join(","),
        Err(error) => error.to_string(),
    };
    assert_eq!(print("sort", ""), "sort");
    assert_eq!(print("sort", "effort=2 in-place=false"), "sort{effort=2 in-place=false}");
    assert_eq!(print("both", ""), "fold,sort{effort=7}");
    assert_eq!(print("sort", "effort=2}"), "pipeline `effort=2}`: expected an option `name=value` at byte 8");
}
