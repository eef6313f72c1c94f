//! A plan on real sockets and processes.

use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use chronoseal_analysis::Infeasible;
use chronoseal_catalog::{BuildOptions, Describer, attachments, node_ids};
use chronoseal_core::{Duration, Node, NodeId, Ppm};
use chronoseal_results::Engine;
use chronoseal_scenario::plan::{ClockPlan, Fidelity, Plan, Sync};
use chronoseal_testbed::{AgentCommand, AgentConfig, FactoryError, LiveConfig, LiveError, LiveOutcome, Placement};
use serde::{Deserialize, Serialize};

use crate::record::PlanTraffic;
use crate::scenario::Sources;
use crate::{AnyScenario, Run, Scenario, describe};

/// Frames of a live run are made ready this much before their slot, so that waking up is no part of their lateness.
const LEAD: Duration = Duration::from_us(150);

/// How to run live.
#[derive(Clone, Debug, Default)]
pub struct LiveOptions {
    /// Keep every frame's bytes for a capture file.
    pub capture: bool,
    /// Do without `SCHED_FIFO` even where it is granted.
    pub no_fifo: bool,
    /// On which processors; `None`: all on one.
    pub placement: Option<Placement>,
    /// How to start an agent; `None`: this executable with the one argument `agent`.
    pub agent_command: Option<AgentCommand>,
}

/// Why a plan cannot be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeasureError {
    /// There is no schedule.
    #[error("{0}")]
    Infeasible(#[from] Box<Infeasible>),
    /// Live frames have bytes.
    #[error("fidelity \"timing\" has no bytes to send; write fidelity = \"bytes\", or use --engine sim")]
    NoBytes,
    /// Live clocks have to be told the time.
    #[error("sync = \"ideal\" exists only in the simulator; write sync = \"beacon\", or use --engine sim")]
    NoBeacon,
    /// The host refuses, or something broke.
    #[error(transparent)]
    Live(#[from] LiveError),
}

/// What an agent builds its node from.
#[derive(Serialize, Deserialize)]
pub(crate) struct NodeConfig {
    pub(crate) sources: Sources,
    pub(crate) lead_ps: i64,
}

/// Runs a scenario live: every station a process, every frame a real one. `stop` ends it early with what there is.
///
/// # Errors
/// [`MeasureError`]; a host's refusal says what to do about it.
///
/// # Panics
/// Never: what is handed to the agents has only text keys and plain values.
pub fn measure(scenario: &Scenario, options: &LiveOptions, stop: &AtomicBool) -> Result<Run, MeasureError> {
    let plan = &scenario.plan;
    if plan.fidelity == Fidelity::Timing {
        return Err(MeasureError::NoBytes);
    }
    if plan.network.sync == Sync::Ideal {
        return Err(MeasureError::NoBeacon);
    }
    let schedule = scenario.schedule()?;
    let node_config = NodeConfig { sources: scenario.sources.clone(), lead_ps: LEAD.as_ps() };
    let node_config = serde_json::to_vec(&node_config).expect("text keys and plain values only");
    let mut config = LiveConfig::new(agents(plan), node_config, plan.duration);
    config.capture = options.capture;
    config.fifo = !options.no_fifo;
    config.placement = options.placement.unwrap_or(Placement::OneProcessor);
    config.agent_command.clone_from(&options.agent_command);

    let mut star = chronoseal_catalog::star(plan, &schedule);
    let traffic = PlanTraffic::new(plan, Describer::new(plan, &schedule));
    let outcome = chronoseal_testbed::run(&config, &mut star, &traffic, stop)?;

    let mut meta = describe(plan, &schedule, Engine::Live);
    meta.clock_source = "CLOCK_MONOTONIC; arrivals at stations by the kernel's receive stamp".into();
    meta.host = host_facts(&outcome);
    meta.warnings.extend(outcome.warnings.iter().cloned());
    Ok(Run::new(meta, outcome.rows))
}

/// The life of an agent process, for binaries whose [`LiveOptions::agent_command`] ends up in them.
pub fn agent_main() -> ExitCode {
    chronoseal_testbed::agent_main(build)
}

fn build(config: &[u8], id: NodeId) -> Result<Box<dyn Node>, FactoryError> {
    let config: NodeConfig = serde_json::from_slice(config).map_err(|error| error.to_string())?;
    match config.sources.any().map_err(|problems| problems.render())? {
        AnyScenario::Ethernet(scenario) => {
            let schedule = scenario.schedule().map_err(|infeasible| infeasible.to_string())?;
            let options = BuildOptions { lead: Duration::from_ps(config.lead_ps) };
            Ok(chronoseal_catalog::node(&scenario.plan, &schedule, id, options))
        }
        AnyScenario::Can(scenario) => Ok(chronoseal_catalog::can::node(&scenario.plan, id)?),
    }
}

fn agents(plan: &Plan) -> Vec<AgentConfig> {
    node_ids(plan)
        .map(|id| {
            let clock = plan.nodes.get(id.index()).map(|node| node.clock);
            let ClockPlan { offset, drift } = clock.unwrap_or(ClockPlan { offset: Duration::ZERO, drift: Ppm(0) });
            AgentConfig {
                ports: attachments(plan, id).len() as u16,
                offset,
                drift,
                is_attacker: id.index() >= plan.nodes.len(),
                ..AgentConfig::new(id)
            }
        })
        .collect()
}

pub(crate) fn host_facts(outcome: &LiveOutcome) -> Vec<(String, String)> {
    let host = &outcome.host;
    let cpu = host.emulator_cpu.map_or_else(|| "any".into(), |cpu| cpu.to_string());
    let sum = |count: fn(&chronoseal_testbed::AgentCounts) -> u64| outcome.counts.iter().map(count).sum::<u64>();
    vec![
        ("emulator".into(), format!("processor {cpu}, {}", scheduling(host.emulator_fifo))),
        ("processors".into(), host.cpus.to_string()),
        ("frames handed over by stations".into(), sum(|counts| counts.sent).to_string()),
        ("of these never seen by the emulator".into(), sum(|counts| counts.lost).to_string()),
        ("frames written to stations".into(), sum(|counts| counts.written).to_string()),
        ("of these never seen by the station".into(), sum(|counts| counts.unread).to_string()),
    ]
}

fn scheduling(fifo: bool) -> &'static str {
    if fifo { "SCHED_FIFO" } else { "SCHED_OTHER: the kernel's time slices show in every figure" }
}
