//! The values that occur in a table of op facts: positions, effects, permissions, bodies.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use crate::facts::{Access, Body, Effect, InPlace, Indices, OpFacts, Param, Resource, Rule, Run, View, ViewOf};

type Value<'a> = Spanned<DeValue<'a>>;

/// What is wrong, and where in the text.
pub(super) struct Failure {
    /// Byte range in the text.
    pub(super) span: Range<usize>,
    /// What is wrong, and what would be right.
    pub(super) message: String,
}

/// A failure at `value`.
pub(super) fn fail<T>(value: &Value<'_>, message: impl Into<String>) -> Result<T, Failure> {
    Err(Failure { span: value.span(), message: message.into() })
}

/// A failure at a key that is not one of `known`.
pub(super) fn unknown_key<T>(key: &Spanned<DeString<'_>>, known: &[&str]) -> Result<T, Failure> {
    let list = known.join("`, `");
    let message = format!("unknown key `{}`; known are `{list}`", key.get_ref());
    Err(Failure { span: key.span(), message })
}

/// A string.
pub(super) fn string<'v>(value: &'v Value<'_>) -> Result<&'v str, Failure> {
    match value.get_ref().as_str() {
        Some(text) => Ok(text),
        None => fail(value, format!("expected a string, found {}", kind(value))),
    }
}

/// A number that is not negative.
pub(super) fn count(value: &Value<'_>) -> Result<usize, Failure> {
    match usize::try_from(integer(value)?) {
        Ok(number) => Ok(number),
        Err(_) => fail(value, "expected a number from 0 up"),
    }
}

/// One of the spellings of `all`.
pub(super) fn one_of<T: Copy>(value: &Value<'_>, all: &[T], spell: fn(T) -> &'static str) -> Result<T, Failure> {
    let text = string(value)?;
    if let Some(&found) = all.iter().find(|&&item| spell(item) == text) {
        return Ok(found);
    }
    let list: Vec<&str> = all.iter().map(|&item| spell(item)).collect();
    fail(value, format!("`{text}` is not one of `{}`", list.join("`, `")))
}

/// Positions: `0`, `"1.."`, `"1..3"`, or a list of these.
pub(super) fn indices(value: &Value<'_>) -> Result<Indices, Failure> {
    let Some(list) = value.get_ref().as_array() else {
        return Ok(Indices::new(vec![range(value)?]));
    };
    Ok(Indices::new(list.iter().map(range).collect::<Result<_, _>>()?))
}

fn range(value: &Value<'_>) -> Result<Range<usize>, Failure> {
    if value.get_ref().is_integer() {
        let index = count(value)?;
        return Ok(index..index.saturating_add(1));
    }
    let text = value.get_ref().as_str().unwrap_or_default();
    let ends = text.split_once("..").and_then(|(start, end)| {
        let start: usize = start.parse().ok()?;
        let end = if end.is_empty() { usize::MAX } else { end.parse().ok()? };
        (start < end).then_some(start..end)
    });
    match ends {
        Some(range) => Ok(range),
        None => fail(value, "expected a position such as `0`, or a range: `\"1..\"`, `\"0..2\"`"),
    }
}

/// `"none"`, `"unknown"`, or a list such as `[{write = "rng"}, {read = {attr = "var"}}]`.
pub(super) fn effects(value: &Value<'_>) -> Result<Vec<Effect>, Failure> {
    match value.get_ref().as_str() {
        Some("none") => return Ok(Vec::new()),
        Some("unknown") => return Ok(OpFacts::unknown().effects),
        _ => {}
    }
    let Some(list) = value.get_ref().as_array() else {
        return fail(value, "expected `\"none\"`, `\"unknown\"` or a list of effects");
    };
    list.iter().map(effect).collect()
}

fn effect(value: &Value<'_>) -> Result<Effect, Failure> {
    let Some((key, inner)) = value.get_ref().as_table().and_then(single) else {
        return fail(value, "expected one effect: `{read = ..}` or `{write = ..}`");
    };
    let Some(access) = Access::from_name(key.get_ref()) else {
        return unknown_key(key, &["read", "write"]);
    };
    Ok(Effect { access, resource: resource(inner)? })
}

fn resource(value: &Value<'_>) -> Result<Resource, Failure> {
    const EXPECTED: &str = "expected a resource: `\"rng\"`, `\"io\"`, `\"stats\"`, `\"all\"`, `\"outs\"`, \
                            `{attr = \"..\"}`, `{handle = N}` or `{memory = N}`";
    if let Some(text) = value.get_ref().as_str() {
        return match text {
            "rng" => Ok(Resource::Rng),
            "io" => Ok(Resource::Io),
            "stats" => Ok(Resource::Stats),
            "all" => Ok(Resource::All),
            "outs" => Ok(Resource::Outs),
            _ => fail(value, EXPECTED),
        };
    }
    let Some((key, inner)) = value.get_ref().as_table().and_then(single) else {
        return fail(value, EXPECTED);
    };
    match key.get_ref().as_ref() {
        "attr" => Ok(Resource::Attr(string(inner)?.to_owned())),
        "handle" => Ok(Resource::Handle(count(inner)?)),
        "memory" => Ok(Resource::Memory(count(inner)?)),
        _ => unknown_key(key, &["attr", "handle", "memory"]),
    }
}

/// `"lockstep"` (result 0 over any operand), or a list of `{result, operands, rule}`.
pub(super) fn inplace(value: &Value<'_>) -> Result<Vec<InPlace>, Failure> {
    if value.get_ref().is_str() {
        let operands = Indices::new(std::iter::once(0..usize::MAX).collect());
        let rule = one_of(value, Rule::ALL, Rule::as_str)?;
        return Ok(vec![InPlace { result: 0, operands, rule }]);
    }
    let Some(list) = value.get_ref().as_array() else {
        return fail(value, "expected a rule, or a list of `{result = 0, operands = 0, rule = ..}`");
    };
    list.iter().map(permission).collect()
}

fn permission(value: &Value<'_>) -> Result<InPlace, Failure> {
    let (mut result, mut operands, mut rule) = (0, None, None);
    for (key, value) in fields(value)? {
        match key.get_ref().as_ref() {
            "result" => result = count(value)?,
            "operands" => operands = Some(indices(value)?),
            "rule" => rule = Some(one_of(value, Rule::ALL, Rule::as_str)?),
            _ => return unknown_key(key, &["result", "operands", "rule"]),
        }
    }
    match (operands, rule) {
        (Some(operands), Some(rule)) => Ok(InPlace { result, operands, rule }),
        _ => fail(value, "a permission needs `operands` and `rule`"),
    }
}

/// A list of `{results, operand, must}`; `results` is 0 and `must` false if not given.
pub(super) fn views(value: &Value<'_>) -> Result<Vec<View>, Failure> {
    let Some(list) = value.get_ref().as_array() else {
        return fail(value, "expected a list of `{results = 0, operand = 0}`");
    };
    list.iter().map(view).collect()
}

fn view(value: &Value<'_>) -> Result<View, Failure> {
    let mut view = View { results: Indices::one(0), operand: ViewOf::Same, must: false };
    let mut given = false;
    for (key, value) in fields(value)? {
        match key.get_ref().as_ref() {
            "results" => view.results = indices(value)?,
            "operand" if value.get_ref().as_str() == Some("same") => given = true,
            "operand" => {
                view.operand = ViewOf::At(count(value)?);
                given = true;
            }
            "must" => view.must = boolean(value)?,
            _ => return unknown_key(key, &["results", "operand", "must"]),
        }
    }
    if given { Ok(view) } else { fail(value, "a view needs `operand`: a position, or `\"same\"`") }
}

/// `{attr = "..", operand = N, default = N}`, at least one of them.
pub(super) fn param(value: &Value<'_>) -> Result<Param, Failure> {
    let mut param = Param::default();
    for (key, value) in fields(value)? {
        match key.get_ref().as_ref() {
            "operand" => param.operand = Some(count(value)?),
            "attr" => param.attr = Some(string(value)?.to_owned()),
            "default" => param.default = Some(integer(value)?),
            _ => return unknown_key(key, &["operand", "attr", "default"]),
        }
    }
    if param == Param::default() {
        return fail(value, "expected `{attr = \"..\"}`, `{operand = N}` or `{default = N}`");
    }
    Ok(param)
}

/// `{run, callees, args, lead, yield_lead, cond, cond_forwards}`; only `run` is needed.
pub(super) fn body(value: &Value<'_>) -> Result<Body, Failure> {
    let mut body = Body::NONE;
    for (key, value) in fields(value)? {
        match key.get_ref().as_ref() {
            "run" => body.run = one_of(value, Run::ALL, Run::as_str)?,
            "callees" => body.callees = strings(value)?,
            "args" => body.args = indices(value)?,
            "lead" => body.lead = count(value)?,
            "yield_lead" => body.yield_lead = count(value)?,
            "cond" => body.cond = Some(count(value)?),
            "cond_forwards" => body.cond_forwards = boolean(value)?,
            "regions" => body.regions = Some(count(value)?),
            "cases" => body.cases = Some(string(value)?.to_owned()),
            "reshapes" => body.reshapes = boolean(value)?,
            _ => {
                let known = [
                    "run",
                    "callees",
                    "args",
                    "lead",
                    "yield_lead",
                    "cond",
                    "cond_forwards",
                    "regions",
                    "cases",
                    "reshapes",
                ];
                return unknown_key(key, &known);
            }
        }
    }
    Ok(body)
}

fn strings(value: &Value<'_>) -> Result<Vec<String>, Failure> {
    let Some(list) = value.get_ref().as_array() else {
        return fail(value, "expected a list of strings");
    };
    list.iter().map(|item| Ok(string(item)?.to_owned())).collect()
}

fn fields<'v, 'a>(value: &'v Value<'a>) -> Result<&'v DeTable<'a>, Failure> {
    match value.get_ref().as_table() {
        Some(table) => Ok(table),
        None => fail(value, format!("expected a table `{{..}}`, found {}", kind(value))),
    }
}

fn single<'v, 'a>(table: &'v DeTable<'a>) -> Option<(&'v Spanned<DeString<'a>>, &'v Value<'a>)> {
    let mut entries = table.iter();
    let first = entries.next()?;
    entries.next().is_none().then_some(first)
}

fn boolean(value: &Value<'_>) -> Result<bool, Failure> {
    match value.get_ref().as_bool() {
        Some(flag) => Ok(flag),
        None => fail(value, "expected `true` or `false`"),
    }
}

fn integer(value: &Value<'_>) -> Result<i64, Failure> {
    let number = value.get_ref().as_integer();
    let parsed = number.and_then(|n| i64::from_str_radix(n.as_str(), n.radix()).ok());
    match parsed {
        Some(number) => Ok(number),
        None => fail(value, format!("expected a whole number, found {}", kind(value))),
    }
}

fn kind(value: &Value<'_>) -> &'static str {
    value.get_ref().type_str()
}
