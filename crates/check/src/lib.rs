//! The independent checker: does a planned module do what the source does, in the bytes that it was given?
//!
//! It works from the two modules and the op facts alone and shares nothing with passes and solvers: steps, views, sizes of storages and live ranges
//! are its own. It asks a different question than they do, *what do these bytes hold*, by running both modules on uninterpreted
//! functions:
//!
//! - `eval.rs`, `elementwise.rs`, `moves.rs`: what one operation computes on symbolic contents (`rope.rs`), whatever their size;
//! - `exec.rs`, `state.rs`: a function, its bodies, its calls and its effects;
//! - `judge.rs`: the two runs agree in results, state and sequence of effects;
//! - `bytes.rs`, `memory.rs`, `overlap.rs`, `shared.rs`: the plan's run through its arenas reads at every step what was meant to be there;
//! - `asynchronous.rs`: nothing is written while somebody works on it;
//! - `homes.rs`, `live.rs`: offsets, alignment, capacities, classes, and the numbers that the plan states;
//! - `sizes.rs`: at which sizes of dynamic dimensions all this is done;
//! - `certificate.rs`, `network.rs`: proofs that no order needs less, verified without the solver.
//!
//! # What is counted
//!
//! Bytes of arenas and steps, both half-open. Every name in a message is the model's own where it has one.
//!
//! # Limits
//!
//! The checker never accepts what differs, but it can refuse what agrees: it knows few laws of values (`laws.rs`), and where data moves in more
//! pieces than it follows, it only knows that equal moves of equal data are equal.

mod asynchronous;
mod bytes;
mod calls;
mod canon;
mod certificate;
mod demands;
mod effects;
mod elementwise;
mod eval;
mod exec;
mod hash;
mod homes;
mod judge;
mod laws;
mod live;
mod memory;
mod moves;
mod names;
mod network;
mod overlap;
mod params;
mod rope;
mod shape;
mod shared;
mod sizes;
mod state;
mod violation;

pub use certificate::{Certificate, Edge, Node, Owner, SetFlow, Taken, VERSION};
pub use violation::{Range, Violation, Writer};

use calls::Calls;
use exec::Machine;
use judge::Side;
use neap_ir::diag::Diagnostic;
use neap_ir::facts::Facts;
use neap_ir::{Attr, Fingerprints, Module, OpId};
use sizes::Sizes;

/// What to check.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Judge a plan although its fingerprint says that it was made for another graph.
    pub ignore_fingerprint: bool,
    /// Compare meanings only; the planned module needs no plan.
    pub semantics_only: bool,
    /// The plan is offsets alone: it states no peak and no size of an arena.
    pub offsets_only: bool,
    /// Called functions have arenas of their own, so a caller's scratch need not hold them.
    pub callees_have_arenas: bool,
    /// How many threads the work may be shared among; what is found does not depend on it.
    pub threads: usize,
}

/// What the checker found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// Broken rules, in the order of functions and steps. None: the plan is right.
    pub violations: Vec<Violation>,
    /// Recomputed numbers of each function with a plan.
    pub functions: Vec<Numbers>,
}

/// What a function needs, recomputed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Numbers {
    /// The function's symbol, without `@`.
    pub function: String,
    /// Largest number of bytes live at one step, over all arenas.
    pub peak: u64,
    /// Sum over arenas of the largest end of a storage, in bytes.
    pub arena_bytes: u64,
    /// The largest alignment that an arena or an operation asks, in bytes.
    pub align: u64,
}

impl Report {
    /// Whether nothing is wrong.
    pub fn accepted(&self) -> bool {
        self.violations.is_empty()
    }

    /// The violations as messages.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        self.violations.iter().map(Violation::diagnostic).collect()
    }
}

/// Judges whether `planned` is a right plan of `source`.
pub fn check(source: &Module, planned: &Module, facts: &Facts, options: &Options) -> Report {
    let mut report = Report::default();
    let calls = Calls::of(source, facts).and_then(|source| Ok([source, Calls::of(planned, facts)?]));
    let calls = match calls {
        Ok(calls) => calls,
        Err(circle) => {
            report.violations.push(*circle);
            return report;
        }
    };
    let pairs = functions(source, planned, &mut report.violations);
    demands::declared(source, planned, &pairs, &mut report.violations);
    let mut fingerprints = Fingerprints::new(source);
    for (from, to) in pairs {
        let before = report.violations.len();
        if !options.ignore_fingerprint && !fingerprint(&mut fingerprints, planned, (from, to), &mut report) {
            continue;
        }
        for sizes in sizes::of(source, from, facts) {
            function(&calls, options, (from, to), &sizes, &mut report);
            // A false figure says nothing of what the plan does at another size.
            if report.violations[before..].iter().any(|violation| !violation.is_figure()) {
                break;
            }
        }
    }
    report
}

/// Judges whether `transformed` means the same as `source`; neither needs a plan.
pub fn check_semantics(source: &Module, transformed: &Module, facts: &Facts) -> Report {
    let options = Options { semantics_only: true, ignore_fingerprint: true, ..Options::default() };
    check(source, transformed, facts, &options)
}

/// Verifies a certificate against a planned module: the bytes that it proves for every order of its function.
///
/// # Errors
/// The rule that it breaks: another graph, a flow that is none, a set of candidates without a flow, or less than it claims.
pub fn verify(planned: &Module, facts: &Facts, certificate: &Certificate) -> Result<u64, Box<Violation>> {
    proved(&Calls::of(planned, facts)?, certificate)
}

/// Verifies certificates of a planned module, in their order, each as [`verify`] does; what functions call is looked at once for all.
pub fn verify_all(planned: &Module, facts: &Facts, certificates: &[Certificate]) -> Vec<Result<u64, Box<Violation>>> {
    match Calls::of(planned, facts) {
        Ok(calls) => certificates.iter().map(|certificate| proved(&calls, certificate)).collect(),
        Err(circle) => certificates.iter().map(|_| Err(circle.clone())).collect(),
    }
}

fn proved(calls: &Calls<'_>, certificate: &Certificate) -> Result<u64, Box<Violation>> {
    let (planned, name) = (calls.module, &certificate.function);
    let func = calls.func(name);
    let span = planned.op(func.unwrap_or(planned.top())).span;
    let fail = |why: String| Box::new(Violation::Certificate { function: format!("@{name}"), why, span });
    let func = func.ok_or_else(|| fail("there is no such function".to_owned()))?;
    let stamp = planned.attr(func, neap_ir::plan::FINGERPRINT).and_then(Attr::as_str);
    if stamp.is_some_and(|stamp| stamp != certificate.fingerprint) {
        return Err(fail("it was made for another graph".to_owned()));
    }
    let homes = homes::Homes::sized(calls, func, &sizes::UPPER);
    let network = network::Network::new(&homes).map_err(fail)?;
    let proved = network.proved(certificate).map_err(fail)?;
    if proved < certificate.lower_bound {
        return Err(fail(format!("it claims {} bytes and proves {proved}", certificate.lower_bound)));
    }
    Ok(proved)
}

/// The half-open steps for which the storage of each value with bytes in an arena is there, in all of some functions and whatever the plan states;
/// none where calls cannot be resolved, which the check itself refuses.
pub fn lives(planned: &Module, facts: &Facts, functions: &[OpId]) -> Vec<(neap_ir::ValueId, (u32, u32))> {
    let Ok(calls) = Calls::of(planned, facts) else { return Vec::new() };
    let homes = |func: &OpId| homes::Homes::new(&calls, *func, &sizes::UPPER);
    functions.iter().flat_map(|func| live::lives(&homes(func))).collect()
}

/// Whether the plan was made for this graph, as far as it says.
fn fingerprint(source: &mut Fingerprints<'_>, planned: &Module, (from, to): (OpId, OpId), report: &mut Report) -> bool {
    let Some(plan) = planned.attr(to, neap_ir::plan::FINGERPRINT).and_then(Attr::as_str) else { return true };
    let found = source.of(from);
    if plan == found {
        return true;
    }
    let (function, span) = (names::func(planned, to), planned.op(to).span);
    report.violations.push(Violation::Fingerprint { function, plan: plan.to_owned(), source: found, span });
    false
}

/// Functions of both modules by symbol.
fn functions(source: &Module, planned: &Module, out: &mut Vec<Violation>) -> Vec<(OpId, OpId)> {
    let by_name: std::collections::BTreeMap<&str, OpId> =
        planned.functions().into_iter().filter_map(|func| Some((planned.sym_name(func)?, func))).collect();
    let mut pairs = Vec::new();
    for func in source.functions() {
        let name = source.sym_name(func).unwrap_or_default();
        let mut wrong = |what, span| {
            out.push(Violation::Functions { function: format!("@{name}"), what, span });
        };
        match by_name.get(name) {
            None => wrong("it is not in the planned module", source.op(func).span),
            Some(other) if source.func_args(func).len() != planned.func_args(*other).len() => {
                wrong("it has another number of arguments than in the source", planned.op(*other).span);
            }
            Some(other) => pairs.push((func, *other)),
        }
    }
    let known: std::collections::BTreeSet<&str> =
        source.functions().into_iter().filter_map(|func| source.sym_name(func)).collect();
    for (name, func) in by_name {
        if !known.contains(name) {
            let (what, span) = ("it is not in the source", planned.op(func).span);
            out.push(Violation::Functions { function: format!("@{name}"), what, span });
        }
    }
    pairs
}

fn function(
    [source, planned]: &[Calls<'_>; 2],
    options: &Options,
    (from, to): (OpId, OpId),
    sizes: &Sizes,
    report: &mut Report,
) {
    let mut first = Machine::new([source, planned], from, sizes);
    first.eval.alike = first.eval.called_alike(from);
    let alike = first.eval.alike.clone();
    let homes = || (!options.semantics_only).then(|| homes::Homes::new(planned, to, sizes));
    let (expected, homes) = both(options.threads, || first.run(), homes);
    let Some(expected) = expected else {
        report.violations.append(&mut first.violations);
        return;
    };
    let mut second = Machine::new([planned, source], to, sizes);
    second.eval.alike = alike;
    second.eval.shares = Some(expected.shares.clone());
    if let Some(homes) = &homes {
        if !homes.planned {
            let function = homes.function();
            report.violations.push(Violation::NoPlan { function, span: planned.module.op(to).span });
            return;
        }
        report.violations.extend(homes.violations.iter().cloned());
        second.bytes = Some(bytes::Bytes::new(homes, &expected.permits, &expected.shares));
    }
    let judged = || {
        let mut violations = Vec::new();
        let homes = homes.as_ref().filter(|_| sizes.upper())?;
        let numbers = live::check(homes, options, &mut violations);
        Some((numbers, violations))
    };
    let (found, judged) = both(options.threads, || second.run(), judged);
    report.violations.append(&mut second.violations);
    if let Some(bytes) = &mut second.bytes {
        report.violations.append(&mut bytes.violations);
    }
    let Some(found) = found else { return };
    let source_side = Side::new(&first, source.module, from, &expected);
    judge::compare(&source_side, &Side::new(&second, planned.module, to, &found), &mut report.violations);
    if let Some((numbers, violations)) = judged {
        report.violations.extend(violations);
        report.functions.push(numbers);
    }
}

/// Two independent pieces of work, the first on a thread of its own if there may be two.
fn both<A: Send, B>(threads: usize, first: impl FnOnce() -> A + Send, second: impl FnOnce() -> B) -> (A, B) {
    if threads < 2 {
        return (first(), second());
    }
    std::thread::scope(|scope| {
        let first = scope.spawn(first);
        let second = second();
        let first = first.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (first, second)
    })
}
