//! A table to fill in: one conservative row per unknown op, under an explanation of every key.

use std::fmt::Write;

use super::{Key, Role, Rule, Run};

/// Rows for the ops `names` that say nothing more than an absent row would, for a user to fill in.
/// The text is a table that [`super::Facts::add_table`] reads.
#[must_use]
pub fn stub<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let mut text = header();
    for name in names {
        let quoted = toml::Value::String(name.to_owned());
        // Writing to a string cannot fail.
        let _ = write!(text, "\n[[op]]\nname = {quoted}\nrole = \"other\"\neffects = \"unknown\"\n");
    }
    text
}

fn header() -> String {
    let roles: Vec<&str> = Role::ALL.iter().map(|role| role.as_str()).collect();
    let rules: Vec<&str> = Rule::ALL.iter().map(|rule| rule.as_str()).collect();
    let runs: Vec<&str> = Run::ALL.iter().map(|run| run.as_str()).collect();
    let params: Vec<&str> = Key::ALL.iter().map(|key| key.as_str()).collect();
    let mut text = HELP.replace("{rules}", &rules.join(", ")).replace("{runs}", &runs.join(", "));
    text = text.replace("{roles}", &wrapped(&roles)).replace("{params}", &wrapped(&params));
    text
}

fn wrapped(words: &[&str]) -> String {
    let lines: Vec<String> = words.chunks(8).map(|line| format!("#   {}", line.join(", "))).collect();
    lines.join(",\n")
}

const HELP: &str = "\
# Facts about ops that no table knows. As they stand, the rows change nothing: such an op may do
# anything and shares no bytes. Fill in what is true of the kernels and pass this file with --dialect.
# Operands and results are counted from 0, tokens not counted. A key that is left out is conservative.
#
# name            the op, or a list of ops that share the row.
# role            what the op does; `opaque` for a pure function of its operands:
{roles}
# effects         \"none\", \"unknown\" (anything), or a list: [{write = \"rng\"}, {read = {attr = \"var\"}},
#                 {write = {handle = 0}}, {write = {memory = 1}}]; resources are rng, io, stats, all, outs, the variable
#                 named by an attribute, behind a handle operand, or the buffer behind a memref operand.
# inplace         which result may overwrite which operand: [{result = 0, operands = \"0..2\", rule = \"lockstep\"}],
#                 or a rule alone: result 0 over any operand. Rules: {rules}.
# views           which result lies inside which operand, by role: [{results = 0, operand = 0}].
# shape_operands  operands that are shapes or indices and take no arena bytes: 1, \"1..\", [0, 2].
# body            how regions or called functions run: {run = \"loop\", callees = [\"cond\", \"body\"], args = \"0..\", cond = 0};
#                 run is one of {runs}.
# when            the row holds only for ops with few operands or results: {max_operands = 2}, {max_results = 1}.
# Parameters of a role: {attr = \"axis\"}, {operand = 1}, {default = 0}; of several, the first that the op has counts:
{params}
";
