//! A random module, its plans, and what they compute.

use crate::generate::{self, BOUND, Features};
use crate::kernels::{Dims, Kernels};
use crate::machine::{self, Seen};
use crate::memory::World;
use neap::apply;
use neap::cli::SourceFlags;
use neap_check::{Options, check};
use neap_ir::facts::Facts;
use neap_ir::{Attr, Module, OpId, PrintOptions, parse, print, verify};
use neap_passes::pipeline::{Pipeline, Quiet, Run, run};
use neap_passes::profile::Profile;
use std::collections::BTreeSet;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, Ordering};

/// Runtimes to plan for.
pub(crate) const PROFILES: [&str; 3] = ["none", "tflite", "tflm"];
/// Passes that a plan can do without, in the order of the pipeline.
const OPTIONAL: [&str; 7] =
    ["cse", "dce", "fuse", "canonicalize-views", "lock-effects", "rematerialize{effort=2000}", "reorder"];
/// All of them.
pub(crate) const FULL: &str =
    "cse,dce,fuse,canonicalize-views,lock-effects,rematerialize{effort=2000},reorder,assign-offsets";
/// Runs, one after the other, state carried over.
const RUNS: u64 = 3;

/// The subsets of the optional passes to plan a module with. In a long campaign these are all subsets of the passes that a plan is made by; the two small
/// ones before them run in all four combinations, by the seed. Else they are the full one and some that change with the seed, so that all are met.
pub(crate) fn subsets(seed: u64, profile: &str, cases: u64) -> Vec<String> {
    let all = 1u64 << OPTIONAL.len();
    let long = cases > 1000;
    let mut masks: Vec<u64> = match (profile, long) {
        ("none", true) => {
            let masks = (0..all / 4).map(|plan| (plan << 2) | (seed % 4));
            std::iter::once(all - 1).chain(masks).collect()
        }
        ("none", false) => vec![all - 1, seed * 7 % all, seed * 13 / 5 % all, seed * 29 / 3 % all],
        _ => vec![all - 1, seed * 11 % all],
    };
    let mut met = BTreeSet::new();
    masks.retain(|mask| met.insert(*mask));
    let names = |mask: u64| {
        if mask == all - 1 {
            return FULL.to_owned();
        }
        let chosen = OPTIONAL.iter().enumerate().filter(|(at, _)| mask >> at & 1 == 1).map(|(_, pass)| *pass);
        // Where a value lies is one thing, how tight another: the full pipeline searches long enough for all.
        chosen.chain(["assign-offsets{effort=200000}"]).collect::<Vec<&str>>().join(",")
    };
    masks.into_iter().map(names).collect()
}

/// Does something for every seed, on as many threads as there are processors, each with a tally of its own. Which seed fails first does not depend on
/// the threads.
///
/// # Panics
/// With what is said of the smallest seed that fails.
pub(crate) fn each_seed<T: Default + Send>(
    seeds: std::ops::Range<u64>,
    work: impl Fn(u64, &mut T) -> Result<(), String> + Sync,
) -> Vec<T> {
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    let (work, failed) = (&work, &AtomicU64::new(u64::MAX));
    let share = |thread: u64| {
        let (mut tally, mut failure) = (T::default(), None);
        for seed in (seeds.start + thread..seeds.end).step_by(threads as usize) {
            if failed.load(Ordering::Relaxed) < seed {
                break;
            }
            if let Err(why) = work(seed, &mut tally) {
                failed.fetch_min(seed, Ordering::Relaxed);
                failure = Some((seed, why));
                break;
            }
        }
        (tally, failure)
    };
    let share = &share;
    let ran: Vec<_> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|thread| scope.spawn(move || share(thread))).collect();
        running.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });
    let (tallies, failures): (Vec<T>, Vec<_>) = ran.into_iter().unzip();
    if let Some((seed, why)) = failures.into_iter().flatten().min() {
        panic!("seed {seed}, {why}");
    }
    tallies
}

/// Whether a module can be planned for a runtime: LiteRT's packer knows one arena without a limit.
pub(crate) fn fits(case: &Case, profile: &str) -> bool {
    profile != "tflite" || !case.features.arenas
}

/// A module as text.
pub(crate) fn text(module: &Module) -> String {
    print(module, &PrintOptions::default())
}

/// A random module.
pub(crate) struct Case {
    pub(crate) text: String,
    pub(crate) features: Features,
    pub(crate) module: Module,
}

impl Case {
    pub(crate) fn new(seed: u64) -> Case {
        let (text, features) = generate::module(seed);
        let module = parse(&text).unwrap_or_else(|errors| panic!("seed {seed}: {errors:#?}\n{text}"));
        verify(&module).unwrap_or_else(|errors| panic!("seed {seed}: {errors:#?}\n{text}"));
        Case { text, features, module }
    }

    /// The module as the planner and the checker get it.
    pub(crate) fn applied(&self, profile: &str) -> Applied {
        let sizes: &[usize] = if self.features.dynamic { &[BOUND, 1, 3] } else { &[1] };
        Applied::of(&self.module, profile, sizes.iter().map(|size| Dims::from([("N".to_owned(), *size)])).collect())
    }
}

/// A module with its profile.
pub(crate) struct Applied {
    pub(crate) source: Module,
    pub(crate) facts: Facts,
    profile: Profile,
    dims: Vec<Dims>,
}

/// What is seen of all runs at one size, and the world after them.
pub(crate) type Outcome = (Vec<Seen>, World);

pub(crate) fn main_function(module: &Module) -> OpId {
    let main = module.functions().into_iter().find(|func| module.sym_name(*func) == Some("main"));
    main.expect("every case has a main function")
}

impl Applied {
    /// A module as the planner and the checker get it, and the sizes to run it at.
    pub(crate) fn of(module: &Module, profile: &str, dims: Vec<Dims>) -> Applied {
        let facts = Facts::builtin();
        let profile = Profile::builtin(profile).expect("embedded");
        let mut source = module.clone();
        apply::apply(&mut source, &SourceFlags::default(), &profile, &facts)
            .unwrap_or_else(|failure| panic!("{:#?}\n{}", failure.diagnostics, text(module)));
        apply::fingerprint(&mut source);
        Applied { source, facts, profile, dims }
    }

    /// The plan that some passes make with the true facts.
    pub(crate) fn plan(&self, passes: &str) -> Result<Module, String> {
        self.plan_with(passes, &self.facts)
    }

    /// The plan that some passes make when they are told these facts.
    pub(crate) fn plan_with(&self, passes: &str, facts: &Facts) -> Result<Module, String> {
        let mut module = self.source.clone();
        let pipeline = Pipeline::parse(passes).map_err(|error| error.to_string())?;
        let settings = Run { facts, profile: &self.profile, stop: &|| false, verify_each: true };
        run(&mut module, &pipeline, settings, &mut Quiet).map_err(|error| error.to_string())?;
        Ok(module)
    }

    /// What the source computes.
    pub(crate) fn expected(&self) -> Vec<Outcome> {
        self.execute(&self.source, false)
    }

    /// Runs a module at all sizes, several times in a row.
    pub(crate) fn execute(&self, module: &Module, planned: bool) -> Vec<Outcome> {
        let func = main_function(module);
        let at = |dims: &Dims| {
            let kernels = Kernels { module, facts: &self.facts, dims };
            let declared = module.block_ops(module.body()).filter(|op| module.op_name(*op) == "neap.var");
            let mut world = World::of(declared.filter_map(|op| {
                let Some(Attr::Type(ty)) = module.attr(op, "type") else { return None };
                let size = module.ty_bytes(*ty, &mut |_| None).expect("variables have a size");
                Some((module.sym_name(op)?.to_owned(), size as usize))
            }));
            let seen = (0..RUNS).map(|run| {
                let inputs = machine::inputs(kernels, func, run);
                let own = self.profile.own_arena_per_function;
                machine::execute(kernels, &mut world, func, &inputs, planned, own, run)
            });
            let seen = seen.collect();
            (seen, world.seen())
        };
        self.dims.iter().map(at).collect()
    }

    /// What the checker says.
    pub(crate) fn check(&self, planned: &Module) -> neap_check::Report {
        let options = Options { callees_have_arenas: self.profile.own_arena_per_function, ..Options::default() };
        check(&self.source, planned, &self.facts, &options)
    }

    /// Whether a module that may be wrong computes what the source computes. One that asks a kernel for what makes no sense, an
    /// axis that there is none of, does not.
    pub(crate) fn same(&self, planned: &Module, expected: &[Outcome]) -> bool {
        let run = std::panic::AssertUnwindSafe(|| self.execute(planned, true));
        std::panic::catch_unwind(run).is_ok_and(|found| found == expected)
    }

    /// Whether a plan is accepted and computes what the source computes.
    pub(crate) fn judge(&self, planned: &Module, expected: &[Outcome]) -> Result<(), String> {
        let report = self.check(planned);
        if !report.accepted() {
            return Err(format!("the checker refuses it: {:#?}", report.diagnostics()));
        }
        let found = self.execute(planned, true);
        for (at, (want, have)) in expected.iter().zip(&found).enumerate() {
            for (run, (want, have)) in want.0.iter().zip(&have.0).enumerate() {
                if want != have {
                    return Err(format!("run {run} at sizes {:?} differs: {want:?}\n{have:?}", self.dims[at]));
                }
            }
            if want.1 != have.1 {
                return Err(format!(
                    "state or traffic differs at sizes {:?}: {:?}\n{:?}",
                    self.dims[at], want.1, have.1
                ));
            }
        }
        Ok(())
    }
}
