//! NPU graphs: plans with spills, and what the writers of schedules are given.
//!
//! A plan is judged by a replay of its ids on the graph as read, which knows nothing of how the plan was made; one that breaks a rule is not
//! written.

mod remarks;

use crate::cli::Objective;
use crate::exit::{Exit, Failure};
use neap_import::npu::graph::{self, BufferId, Graph, Kind};
use neap_import::npu::hazards::{self, Program};
use neap_import::npu::pools::POOLS;
use neap_import::npu::replay::{self, IN_PIPE, OUT_PIPE, Outcome, Plan, Rules};
use neap_ir::diag::Diagnostic;
use neap_ir::{Module, Span};
use std::collections::BTreeMap;

/// A graph with what follows from it.
pub struct Npu {
    /// The graph.
    pub graph: Graph,
    /// Its hazards.
    pub program: Program,
}

/// A plan that the replay accepts.
pub struct Judged {
    /// The ids.
    pub plan: Plan,
    /// What they need.
    pub outcome: Outcome,
}

impl Npu {
    /// Reads a graph.
    ///
    /// # Errors
    /// All that is wrong with the file.
    pub fn read(bytes: &[u8]) -> Result<Npu, Failure> {
        let wrong = |diagnostics| Failure::new(Exit::Input, diagnostics);
        let graph = graph::read(bytes).map_err(wrong)?;
        let program = hazards::program(&graph).map_err(wrong)?;
        Ok(Npu { graph, program })
    }

    /// The order of a planned module.
    ///
    /// # Errors
    /// The module was not read from this graph, or the replay refuses its order.
    pub fn order(&self, planned: &Module) -> Result<Judged, Failure> {
        let schedule = neap_emit::npu::schedule(planned).map_err(|error| Failure::new(Exit::Input, vec![error]))?;
        self.judge(Plan { schedule, ..Plan::default() }, Rules::Order)
    }

    /// A plan within the capacities.
    ///
    /// # Errors
    /// An operation touches more than a memory holds, no places are found, or the replay refuses the plan.
    pub fn spilled(&self, objective: Objective) -> Result<Judged, Failure> {
        let (problem, nodes) = self.problem();
        let objective = match objective {
            Objective::Makespan => neap_spill::Objective::Makespan,
            _ => neap_spill::Objective::Traffic,
        };
        let options = neap_spill::Options { objective, ..neap_spill::Options::default() };
        let plan = neap_spill::solve(&problem, &[], &options).map_err(|failure| self.unmet(&failure, &nodes))?;
        let judged = self.judge(self.ids(&plan, &nodes), Rules::Memory)?;
        if (judged.outcome.traffic, judged.outcome.makespan) != (plan.traffic, plan.makespan) {
            let message = "the replay finds another traffic or another makespan than the plan claims";
            return Err(Failure::new(Exit::Bug, vec![Diagnostic::error(Span::default(), message)]));
        }
        Ok(judged)
    }

    fn judge(&self, plan: Plan, rules: Rules) -> Result<Judged, Failure> {
        match replay::replay(&self.graph, &self.program, &plan, rules) {
            Ok(outcome) => Ok(Judged { plan, outcome }),
            Err(broken) => {
                let mut all =
                    vec![Diagnostic::error(Span::default(), "the replay refuses the schedule; it is not written")];
                all.extend(
                    broken.iter().map(|one| Diagnostic::error(Span::default(), one.text(&self.graph).to_string())),
                );
                Err(Failure::new(Exit::Bug, all))
            }
        }
    }

    /// A demand that cannot be met, by the names of the file.
    fn unmet(&self, failure: &neap_spill::Failure, nodes: &[graph::NodeId]) -> Failure {
        let diagnostic = match failure {
            neap_spill::Failure::Problem(neap_spill::ProblemError::NeverFits { op, pool, bytes }) => {
                let (node, pool) = (nodes[op.index()], &POOLS[pool.index()]);
                let name = self.graph.name(node);
                let message = format!("{name} touches {bytes} bytes of {}, which holds {}", pool.name, pool.capacity);
                Diagnostic::error(self.graph.nodes[node.index()].span, message)
            }
            neap_spill::Failure::NoPlace { pool } => {
                let pool = &POOLS[pool.index()];
                let message =
                    format!("no places were found in the {} bytes of {}; there may be some", pool.capacity, pool.name);
                Diagnostic::error(Span::default(), message)
            }
            neap_spill::Failure::Problem(error) => Diagnostic::error(Span::default(), error.to_string()),
        };
        Failure::new(Exit::Demand, vec![diagnostic.unmet()])
    }

    /// The solver's problem, and the node of each of its operations.
    fn problem(&self) -> (neap_spill::Problem, Vec<graph::NodeId>) {
        let (graph, program) = (&self.graph, &self.program);
        let mut pipes: BTreeMap<&str, u32> = BTreeMap::from([(IN_PIPE, 0), (OUT_PIPE, 1)]);
        let mut nodes = Vec::new();
        let mut at = vec![None; graph.nodes.len()];
        let mut ops = Vec::new();
        for node in &program.order {
            let Kind::Op { pipe, cycles, .. } = &graph.nodes[node.index()].kind else { continue };
            let next = pipes.len() as u32;
            let pipe = *pipes.entry(pipe).or_insert(next);
            at[node.index()] = Some(neap_spill::OpId(ops.len() as u32));
            let touches =
                program.accesses[node.index()].iter().map(|(buffer, _)| neap_spill::BufferId(buffer.0)).collect();
            ops.push(neap_spill::Op { pipe, cycles: *cycles, touches });
            nodes.push(*node);
        }
        let pairs = program.dependencies.iter().map(|one| (one.first, one.then)).chain(program.tokens.iter().copied());
        let pairs = pairs.filter_map(|(first, then)| Some((at[first.index()]?, at[then.index()]?)));
        let mut deps: Vec<_> = pairs.collect();
        deps.sort_unstable();
        deps.dedup();
        let backed = replay::backed(graph, program);
        let buffer = |(buffer, backed): (&graph::Buffer, bool)| neap_spill::Buffer {
            size: buffer.size,
            pool: neap_spill::PoolId(buffer.pool.0.into()),
            backed,
        };
        let problem = neap_spill::Problem {
            ops,
            deps,
            buffers: graph.buffers.iter().zip(backed).map(buffer).collect(),
            pools: POOLS.map(|pool| neap_spill::Pool { capacity: pool.capacity, local: !pool.counted }).to_vec(),
            in_pipe: 0,
            out_pipe: 1,
        };
        (problem, nodes)
    }

    /// A plan by the ids of the file: `ALLOC` and `FREE` as close as can be, buffers that nothing touches first.
    fn ids(&self, plan: &neap_spill::Plan, nodes: &[graph::NodeId]) -> Plan {
        let (graph, program) = (&self.graph, &self.program);
        let id = |node: graph::NodeId| graph.nodes[node.index()].id;
        let first_spill = graph.nodes.last().map_or(0, |node| node.id.saturating_add(1));
        let mut left: Vec<usize> = program.users.iter().map(Vec::len).collect();
        let mut seen = vec![false; left.len()];
        let mut schedule = Vec::new();
        for buffer in graph.buffers.iter().zip(&left).filter(|(_, left)| **left == 0).map(|(buffer, _)| buffer) {
            schedule.extend([id(buffer.alloc), id(buffer.free)]);
        }
        for event in &plan.events {
            match event {
                neap_spill::Event::Out(spill) => schedule.push(first_spill.saturating_add(2 * spill)),
                neap_spill::Event::In(spill) => schedule.push(first_spill.saturating_add(2 * spill + 1)),
                neap_spill::Event::Op(op) => {
                    let node = nodes[op.index()];
                    let touched = || program.accesses[node.index()].iter().map(|(buffer, _)| buffer.index());
                    for buffer in touched().filter(|buffer| !std::mem::replace(&mut seen[*buffer], true)) {
                        schedule.push(id(graph.buffers[buffer].alloc));
                    }
                    schedule.push(id(node));
                    for buffer in touched() {
                        left[buffer] -= 1;
                        if left[buffer] == 0 {
                            schedule.push(id(graph.buffers[buffer].free));
                        }
                    }
                }
            }
        }
        let spills = plan.spills.iter().map(|spill| (BufferId(spill.buffer.0), spill.offset)).collect();
        Plan { schedule, offsets: plan.offsets.clone(), spills }
    }

    /// What a plan with spills needs, for people.
    pub fn text(&self, name: &str, objective: Objective, judged: &Judged) -> String {
        let number = |value: u64| crate::size::grouped(value.into());
        let ops = self.graph.nodes.iter().filter(|node| matches!(node.kind, Kind::Op { .. })).count() as u64;
        let outcome = &judged.outcome;
        let mut text = format!(
            "{name}: {} ops, {} buffers, least {}, replayed\n",
            number(ops),
            number(self.graph.buffers.len() as u64),
            objective.name()
        );
        let spills = judged.plan.spills.len() as u64;
        text += &format!("  traffic   {} B in {} spills\n", number(outcome.traffic), number(spills));
        text += &format!("  cycles    {}\n", number(outcome.makespan));
        let used = POOLS.iter().zip(outcome.peaks).filter(|(_, peak)| *peak > 0);
        let used: Vec<String> =
            used.map(|(pool, peak)| format!("{} {} of {}", pool.name, number(peak), number(pool.capacity))).collect();
        text + &format!("  resident  {} B\n", used.join(", "))
    }

    /// What a plan with spills needs, for scripts.
    pub fn json(&self, name: &str, objective: Objective, judged: &Judged) -> String {
        let outcome = &judged.outcome;
        let pools = POOLS
            .iter()
            .zip(outcome.peaks)
            .map(|(pool, peak)| serde_json::json!({"name": pool.name, "capacity": pool.capacity, "peak": peak}));
        let value = serde_json::json!({
            "version": 1,
            "neap": env!("CARGO_PKG_VERSION"),
            "input": name,
            "check": "passed",
            "objective": objective.name(),
            "traffic": outcome.traffic,
            "spills": judged.plan.spills.len(),
            "makespan": outcome.makespan,
            "pools": pools.collect::<Vec<_>>(),
        });
        format!("{value:#}\n")
    }
}
