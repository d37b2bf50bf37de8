//! What can be wrong with a plan: one variant per broken rule, with the names, bytes and steps that a person needs.

use neap_ir::Span;
use neap_ir::diag::Diagnostic;

/// Bytes `[start, end)` of an arena.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Range {
    /// The arena's name.
    pub arena: String,
    /// First byte.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
}

impl std::fmt::Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "bytes [{}, {}) of {}", self.start, self.end, self.arena)
    }
}

/// Who wrote last to some bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Writer {
    /// The value whose bytes they are now; none where nothing was written, or only scratch, or different things on different paths.
    pub value: Option<String>,
    /// The operation that wrote them.
    pub op: Option<String>,
    /// Its step.
    pub step: u32,
    /// All bytes of that value.
    pub home: Option<Range>,
}

/// A broken rule.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(
    missing_docs,
    reason = "fields say what they are: names of functions, operations and values, bytes, steps, spans"
)]
pub enum Violation {
    /// The planned module has no such function, or one more, or with another number of arguments or results.
    Functions { function: String, what: &'static str, span: Span },
    /// The plan was made for another graph.
    Fingerprint { function: String, plan: String, source: String, span: Span },
    /// A function with several blocks, or none.
    Unstructured { function: String, span: Span },
    /// Bodies are nested too deeply to be run.
    TooDeep { function: String, op: String, limit: usize, span: Span },
    /// A value is read before it is computed.
    Undefined { function: String, op: String, value: String, span: Span },
    /// Functions call each other in a circle.
    CallCycle { functions: Vec<String>, span: Span },
    /// A result of the function is not what the source computes. `culprit`: the first operation that computes something else, in a clause.
    Result { function: String, index: usize, source: String, planned: String, culprit: Option<String>, span: Span },
    /// A value that is to be kept is not, or has another content.
    Kept { function: String, value: String, span: Span },
    /// A buffer of the caller ends up with other content.
    Buffer { function: String, value: String, culprit: Option<String>, span: Span },
    /// Writes of a resource are lost, added, changed or in another order. The first that differ, on both sides.
    Effects { function: String, resource: String, source: Option<String>, planned: Option<String>, span: Span },
    /// A token says that one operation runs before another, and it does not.
    Order { function: String, first: String, then: String, span: Span },
    /// Nothing is planned.
    NoPlan { function: String, span: Span },
    /// A value that takes bytes has no offset.
    NotPlanned { function: String, value: String, op: Option<String>, bytes: u64, span: Span },
    /// A value that takes no arena bytes has an offset.
    NeedsNone { function: String, value: String, why: &'static str, offset: i64, span: Span },
    /// A value's size is not known.
    Unsized { function: String, value: String, why: String, span: Span },
    /// A value's size is known, and is more than sizes may be.
    TooLarge { function: String, value: String, why: String, span: Span },
    /// A plan attribute has a form or a length that it must not have.
    Malformed { function: String, op: String, attribute: &'static str, why: String, span: Span },
    /// An arena that is not declared.
    UnknownArena { function: String, value: String, arena: String, span: Span },
    /// An offset that is not a multiple of what the arena or an operation asks.
    Alignment { function: String, value: String, asked_by: String, range: Range, align: u64, span: Span },
    /// Bytes beyond the arena's capacity.
    Capacity { function: String, value: String, range: Range, capacity: u64, span: Span },
    /// A pinned value lies elsewhere.
    Pin { function: String, value: String, range: Range, pin: u64, span: Span },
    /// More live storages of a class than its limit.
    Class { function: String, class: String, limit: u64, step: u32, values: Vec<String>, span: Span },
    /// Within one operation, a result or scratch shares bytes with something that it must not share with.
    Overlap {
        function: String,
        op: String,
        step: u32,
        written: String,
        other: String,
        range: Range,
        why: String,
        span: Span,
    },
    /// Bytes that are read are not what was written there: who overwrote what.
    Overwritten {
        function: String,
        value: String,
        /// All bytes of the value.
        home: Range,
        reader: String,
        step: u32,
        range: Range,
        by: Writer,
        span: Span,
    },
    /// A view's bytes are not the operation's result.
    View { function: String, op: String, step: u32, value: String, operand: String, byte_offset: u64, span: Span },
    /// An operand that is declared as a part of the result is not what the result holds there.
    Part { function: String, op: String, step: u32, operand: String, byte_offset: u64, span: Span },
    /// An in-place pair, a view or a part does not lie where it is declared.
    Elsewhere {
        function: String,
        op: String,
        attribute: &'static str,
        value: String,
        range: Range,
        expected: Option<u64>,
        span: Span,
    },
    /// A part that ends within a byte of the result, or has padding over what follows it there.
    PartialByte { function: String, op: String, step: u32, operand: String, first: u64, end: u64, span: Span },
    /// A view or a part that neither a fact nor the source permits.
    Unpermitted { function: String, op: String, attribute: &'static str, value: String, span: Span },
    /// A result that lies in the caller's memory is said to lie in an operand.
    NotTheCallers { function: String, op: String, value: String, span: Span },
    /// An in-place pair that nothing permits.
    InPlace { function: String, op: String, result: String, operand: String, why: String, span: Span },
    /// A view of a variable is read after the variable was written.
    StaleView { function: String, reader: String, step: u32, value: String, resource: String, span: Span },
    /// A view of a variable is read by an operation that may write the variable before it has read it.
    OwnState { function: String, op: String, value: String, resource: String, span: Span },
    /// Bodies that run at the same time share bytes.
    Parallel { function: String, op: String, one: String, other: String, range: Range, span: Span },
    /// Bytes are written while work that touches them goes on.
    Busy { function: String, op: String, step: u32, started_by: String, range: Range, span: Span },
    /// An operation stands apart from its group.
    Group { function: String, group: String, op: String, span: Span },
    /// Something that the source asks of a plan is lost, added or changed.
    Demand { function: String, what: String, attribute: &'static str, span: Span },
    /// A call's scratch has less room for its callee than the callee's plan needs.
    CalleeArena { function: String, op: String, callee: String, room: u64, needed: u64, span: Span },
    /// A number that the plan states is not what is recomputed.
    Number { function: String, attribute: &'static str, stated: Option<i64>, actual: u64, span: Span },
    /// The steps that the plan states for a result's own life are not what is recomputed; without a value, the list has another length than results.
    Live {
        function: String,
        op: String,
        value: Option<String>,
        stated: Option<(i64, i64)>,
        actual: Option<(i64, i64)>,
        span: Span,
    },
    /// A stated bound is above the peak, or is not proved by a certificate that says so.
    Bound { function: String, why: String, span: Span },
    /// A certificate that does not hold.
    Certificate { function: String, why: String, span: Span },
}

impl Violation {
    /// Whether only a figure is wrong that the plan states about itself, not what it does.
    pub fn is_figure(&self) -> bool {
        matches!(self, Violation::Number { .. } | Violation::Bound { .. } | Violation::Certificate { .. })
    }

    /// The violation as a message, with the next thing to try.
    pub fn diagnostic(&self) -> Diagnostic {
        let (message, span) = self.message();
        let mut diagnostic = Diagnostic::error(span, message);
        diagnostic.notes.extend(self.note());
        match self.help() {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        }
    }

    /// Where the two values of a conflict lie.
    fn note(&self) -> Option<String> {
        match self {
            Violation::Overwritten {
                value,
                home,
                step,
                by: Writer { value: Some(other), step: written, home: Some(bytes), .. },
                ..
            } => Some(format!(
                "{value} has {home} and is read at step {step}; {other} has {bytes} and is written at step {written}"
            )),
            _ => None,
        }
    }

    fn message(&self) -> (String, Span) {
        use Violation::*;
        match self {
            Functions { function, what, span } => (format!("function {function}: {what}"), *span),
            Fingerprint { function, plan, source, span } => (
                format!(
                    "the plan of {function} was made for another graph: it carries fingerprint {plan}, the source has {source}"
                ),
                *span,
            ),
            OwnState { function, op, value, resource, span } => (
                format!("{op} in {function} reads {value}, a view of {resource}, and may write {resource} before that"),
                *span,
            ),
            Unstructured { function, span } => (format!("{function} has a body that is not exactly one block"), *span),
            TooDeep { function, op, limit, span } => {
                (format!("{op} in {function} is nested more than {limit} bodies deep"), *span)
            }
            Undefined { function, op, value, span } => {
                (format!("{op} in {function} reads {value} before it is computed"), *span)
            }
            CallCycle { functions, span } => {
                (format!("functions call each other in a circle: {}", functions.join(" -> ")), *span)
            }
            Result { function, index, source, planned, culprit, span } => {
                let culprit = culprit.as_ref().map_or(String::new(), |culprit| format!("; {culprit}"));
                (
                    format!(
                        "result {index} of {function}: the plan returns {planned}, which is not what the source computes as {source}{culprit}"
                    ),
                    *span,
                )
            }
            Kept { function, value, span } => {
                (format!("{value} is to be kept, but {function} keeps no such value with its content"), *span)
            }
            Buffer { function, value, culprit, span } => {
                let culprit = culprit.as_ref().map_or(String::new(), |culprit| format!("; {culprit}"));
                (
                    format!("buffer {value} of {function} ends up with another content than in the source{culprit}"),
                    *span,
                )
            }
            Effects { function, resource, source, planned, span } => {
                let side = |op: &Option<String>| op.clone().unwrap_or_else(|| "nothing".to_owned());
                (
                    format!(
                        "effects on {resource} in {function} differ: where the source has {}, the plan has {}",
                        side(source),
                        side(planned)
                    ),
                    *span,
                )
            }
            Order { function, first, then, span } => {
                (format!("{then} runs before {first} in {function}, though a token says after"), *span)
            }
            NoPlan { function, span } => (format!("{function} has no plan"), *span),
            NotPlanned { function, value, op, bytes, span } => {
                let op = op.as_ref().map_or(String::new(), |op| format!(" of {op}"));
                (format!("{value}{op} in {function} takes {bytes} bytes and has no offset"), *span)
            }
            NeedsNone { function, value, why, offset, span } => {
                (format!("{value} in {function} has offset {offset}, but {why}"), *span)
            }
            TooLarge { function, value, why, span } => {
                (format!("{value} in {function} is too large: {why}; sizes are at most 2^63-1 bytes"), *span)
            }
            Unsized { function, value, why, span } => {
                (format!("{value} in {function} has no known size: {why}"), *span)
            }
            Malformed { function, op, attribute, why, span } => {
                (format!("`{attribute}` on {op} in {function}: {why}"), *span)
            }
            UnknownArena { function, value, arena, span } => {
                (format!("{value} in {function} lies in @{arena}, which is not declared"), *span)
            }
            Alignment { function, value, asked_by, range, align, span } => (
                format!("{value} in {function} lies at {range}, not at a multiple of {align} as {asked_by} asks"),
                *span,
            ),
            Capacity { function, value, range, capacity, span } => {
                (format!("{value} in {function} lies at {range}, beyond its {capacity} bytes"), *span)
            }
            Pin { function, value, range, pin, span } => {
                (format!("{value} in {function} lies at {range}, but is pinned at {pin}"), *span)
            }
            Class { function, class, limit, step, values, span } => (
                format!(
                    "class `{class}` holds at most {limit} live storages, but at step {step} of {function} {} are live: {}",
                    values.len(),
                    values.join(", ")
                ),
                *span,
            ),
            Overlap { function, op, step, written, other, range, why, span } => {
                (format!("at step {step} of {function}, {op} writes {written} over {other} ({range}): {why}"), *span)
            }
            Overwritten { function, value, home: _, reader, step, range, by, span } => {
                let by = match (&by.value, &by.op) {
                    (Some(value), Some(op)) => format!("overwritten by {value} of {op} at step {}", by.step),
                    (None, Some(op)) => {
                        format!("overwritten by the scratch of {op} at step {}, or on one of its paths", by.step)
                    }
                    (Some(value), None) => format!("overwritten by {value}"),
                    (None, None) => "never written".to_owned(),
                };
                (
                    format!(
                        "at step {step} of {function}, {reader} reads {value}, but {range} no longer hold it: {by}"
                    ),
                    *span,
                )
            }
            View { function, op, step, value, operand, byte_offset, span } => (
                format!(
                    "at step {step} of {function}, {op} declares {value} a view of {operand} from byte {byte_offset}, but these bytes are not its result"
                ),
                *span,
            ),
            Part { function, op, step, operand, byte_offset, span } => (
                format!(
                    "at step {step} of {function}, {op} declares {operand} a part of its result at byte {byte_offset}, but the result holds something else there"
                ),
                *span,
            ),
            PartialByte { function, op, step, operand, first, end, span } => (
                format!(
                    "at step {step} of {function}, {op} declares {operand} a part of its result, but its bytes [{first}, {end}) there hold more than that"
                ),
                *span,
            ),
            Unpermitted { function, op, attribute, value, span } => (
                format!(
                    "`{attribute}` on {op} in {function}: neither a fact nor the source says that {value} may share bytes"
                ),
                *span,
            ),
            NotTheCallers { function, op, value, span } => (
                format!(
                    "`neap.view` on {op} in {function}: {value} lies in the caller's memory, and would never be written there"
                ),
                *span,
            ),
            Elsewhere { function, op, attribute, value, range, expected, span } => {
                let expected = expected.map_or("is in no arena".to_owned(), |at| format!("would be at {at}"));
                (
                    format!(
                        "`{attribute}` on {op} in {function}: {value} lies at {range}, but what it shares bytes with {expected}"
                    ),
                    *span,
                )
            }
            InPlace { function, op, result, operand, why, span } => {
                (format!("{op} in {function} must not write {result} over {operand}: {why}"), *span)
            }
            StaleView { function, reader, step, value, resource, span } => (
                format!(
                    "at step {step} of {function}, {reader} reads {value}, a view of {resource}, which has been written since"
                ),
                *span,
            ),
            Parallel { function, op, one, other, range, span } => (
                format!("bodies of {op} in {function} run at the same time, but {one} and {other} share {range}"),
                *span,
            ),
            Busy { function, op, step, started_by, range, span } => {
                (format!("at step {step} of {function}, {op} writes {range}, which {started_by} still works on"), *span)
            }
            Group { function, group, op, span } => {
                (format!("{op} in {function} stands apart from its group `{group}`"), *span)
            }
            Demand { function, what, attribute, span } => {
                (format!("`{attribute}` of {what} in {function} is not what the source asks"), *span)
            }
            CalleeArena { function, op, callee, room, needed, span } => (
                format!("{op} in {function} keeps {room} bytes for @{callee}, which needs an arena of {needed}"),
                *span,
            ),
            Number { function, attribute, stated, actual, span } => match stated {
                Some(stated) => {
                    (format!("`{attribute}` of {function} is {stated}, but it is {actual} when recomputed"), *span)
                }
                None => (format!("`{attribute}` of {function} is missing; it is {actual}"), *span),
            },
            Live { function, op, value: Some(value), stated: Some(stated), actual: Some(actual), span } => (
                format!(
                    "`neap.live` of {value} in {function} is [{}, {}), but {op} makes it for [{}, {})",
                    stated.0, stated.1, actual.0, actual.1
                ),
                *span,
            ),
            Live { function, op, span, .. } => {
                (format!("`neap.live` on {op} in {function}: one pair of steps per data result is needed"), *span)
            }
            Bound { function, why, span } => (format!("the lower bound of {function} does not hold: {why}"), *span),
            Certificate { function, why, span } => {
                (format!("the certificate of {function} does not hold: {why}"), *span)
            }
        }
    }

    fn help(&self) -> Option<String> {
        use Violation::*;
        let help = match self {
            Fingerprint { .. } => {
                "plan this graph again, or see with `--ignore-fingerprint` what the plan would do to it"
            }
            NoPlan { .. } => {
                "`neap plan FILE -o PLANNED.mlir` makes one; with passes of your own, `assign-offsets` comes last"
            }
            Unstructured { .. } => {
                "use structured control flow: `neap.if`, `neap.while`, `neap.for`, or a dialect's own"
            }
            TooLarge { .. } => "split the value, or say with `neap.bytes` what it takes",
            Unsized { .. } => "give a bound with `--dim`, or a size with `neap.bytes`",
            NotPlanned { .. } | Number { .. } | Live { .. } => {
                "run `assign-offsets` after the last change of the module"
            }
            Capacity { .. } => "give the arena more bytes, or let the packer search longer",
            NotTheCallers { .. } => "let the operation copy: leave the view out",
            Overlap { .. } | InPlace { .. } | Unpermitted { .. } | PartialByte { .. } => {
                "give the result bytes of its own, or state in the facts what the kernel permits"
            }
            Overwritten { .. } => "move one of the two: both live at this step",
            Undefined { .. } | Order { .. } => "run `lock-effects` before `reorder`",
            CalleeArena { .. } => "plan callees before callers",
            Busy { .. } => "await the work first, or give the result other bytes",
            Demand { .. } => "a pass may add to a plan, but must not take off what the input says of memory",
            CallCycle { .. } => "inline one of them: a plan needs calls that end",
            _ => return None,
        };
        Some(help.to_owned())
    }
}
