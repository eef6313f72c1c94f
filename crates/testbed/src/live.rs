//! The controller: starts the agents, runs the emulator between them, collects what they wrote down.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use chronoseal_core::{Duration, NodeId, SimTime};
use chronoseal_media::medium::{Attachment, Medium};
use chronoseal_results::{RunRows, StallRow};
use serde::Serialize;

use crate::clock::{RunClock, SPIN, is_ready, monotonic_ns, readable};
use crate::config::{AgentConfig, Home, LiveConfig, Placement, PortLink};
use crate::emulator::{self, EmulatorConfig, EmulatorLog, Wire};
use crate::end::End;
use crate::error::LiveError;
use crate::host::HostState;
use crate::join::connections::ConnectionFact;
use crate::join::{self, Carrier, Line};
use crate::log::{AgentLog, ProgramUsage};
use crate::message::{AgentFacts, ToAgent, Wires};
use crate::process::{self, AgentProcess, RUN_FIFO};
use crate::sentinel;
use crate::sys;
use crate::traffic::Traffic;

/// Above everything it watches, so that it only notices what the host does.
const SENTINEL_FIFO: i32 = 70;

/// From arming to the run's start; every agent has to be waiting by then.
const LEAD: Duration = Duration::from_ms(50);

/// The same where agents first connect to each other over what the emulator carries: long enough for a packet to be sent again once.
const LEAD_TO_CONNECT: Duration = Duration::from_ms(2_500);

/// The controller looks at its stop flag this often.
const LOOK_EVERY: Duration = Duration::from_ms(10);

/// What a live run left behind.
#[derive(Clone, Debug)]
pub struct LiveOutcome {
    /// As the simulator's.
    pub rows: RunRows,
    /// What the host granted.
    pub host: LiveHost,
    /// Each agent's frames, in the order of [`LiveConfig::agents`].
    pub counts: Vec<AgentCounts>,
    /// What became of the programs that nodes ran.
    pub programs: Vec<ProgramEnd>,
    /// What became of connections.
    pub connections: Vec<ConnectionFact>,
    /// What a reader of the results has to know.
    pub warnings: Vec<String>,
}

/// What became of a node's program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProgramEnd {
    /// Whose it is.
    pub node: NodeId,
    /// When it ended by itself; `None` if the run did.
    pub ended_at: Option<SimTime>,
    /// How, in words.
    pub how: String,
    /// It did not fail.
    pub is_well: bool,
    /// The last of what it printed, both of its outputs as they came.
    pub printed: String,
    /// What it took of its processor and of memory.
    pub usage: ProgramUsage,
}

/// What the host granted a run.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub struct LiveHost {
    /// The emulator ran as `SCHED_FIFO`.
    pub emulator_fifo: bool,
    /// The emulator's processor, if it was kept on one.
    pub emulator_cpu: Option<usize>,
    /// What each process of agents got.
    pub agents: Vec<AgentFacts>,
    /// Processors this process may use.
    pub cpus: usize,
    /// What figures depend on, when the run began.
    pub state: HostState,
}

/// Where an agent's frames went. `sent = read + lost` and `written = received + unread`.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Debug, Default)]
pub struct AgentCounts {
    /// The agent's node.
    pub node: u16,
    /// Handed to the kernel by the agent.
    pub sent: u64,
    /// Of these, read by the emulator.
    pub read: u64,
    /// Of these, never seen by the emulator.
    pub lost: u64,
    /// Read by the emulator, but sent by nobody: the kernel's own.
    pub foreign: u64,
    /// Refused by the kernel when the agent sent them.
    pub refused: u64,
    /// Written to the agent by the emulator.
    pub written: u64,
    /// Of these, received by the agent.
    pub received: u64,
    /// Of these, never seen by the agent.
    pub unread: u64,
}

/// Runs the agents and guests of `config` with `medium` between them. Blocks for the run's duration; `stop` ends it early
/// with what there is.
///
/// `medium` may be one network or a [`chronoseal_media::topology::Topology`] of several, of different kinds. What it does
/// not carry itself (cables and CAN interfaces of the kernel) may be a segment of it too, for its number in the rows, with
/// [`chronoseal_media::topology::Absent`] in its place.
///
/// On a CAN interface of the kernel a row's `arrived_at` is when the listener saw the frame, and `departed_at` is not known.
///
/// # Errors
/// [`LiveError`]; the refusals of the host say what to do about them.
pub fn run(
    config: &LiveConfig,
    medium: &mut (dyn Medium + Send),
    traffic: &dyn Traffic,
    stop: &AtomicBool,
) -> Result<LiveOutcome, LiveError> {
    config.check(medium)?;
    let guests = guests_of(config, medium)?;
    let cpus = sys::allowed_cpus();
    let emulator_cpu = if config.placement == Placement::Free { None } else { cpus.last().copied() };
    let mut agents = start_agents(config, medium, &cpus, emulator_cpu)?;
    let mut wires = Vec::new();
    for agent in &mut agents {
        let mut ends = agent.await_ready()?.into_iter();
        let members = agent.members.iter().flat_map(AgentConfig::attachments);
        let links: Vec<(Attachment, PortLink)> = members.map(|(at, link)| (at, link.clone())).collect();
        for (attachment, link) in links {
            let is_veth = agent.facts.is_some_and(|facts| facts.wires == Wires::Veth);
            let veth = |is_spoken| move |end: OwnedFd| End::Veth { socket: end.into(), is_spoken };
            let end = match link {
                PortLink::Tap if is_veth => ends.next().map(veth(false)),
                PortLink::Socket(_) if is_veth => ends.next().map(veth(true)),
                PortLink::Tap => ends.next().map(End::Tap),
                PortLink::Socket(_) => ends.next().map(End::Sockets),
                PortLink::Pair => ends.next().map(End::Station),
                PortLink::Host(_) | PortLink::Existing(_) | PortLink::CanInterface(_) => None,
            };
            let has_messages = end.as_ref().is_some_and(End::has_messages);
            let carrier = if has_messages { Carrier::Messages } else { Carrier::Emulator };
            let line = Line { attachment, segment: segment_of(medium, attachment), carrier };
            wires.extend(end.map(|end| Wire { line, end }));
        }
    }
    wires.extend(guests);
    let lead = if config.connects() { LEAD_TO_CONNECT } else { LEAD };
    let clock = RunClock { epoch_ns: monotonic_ns() + lead.as_ns(), shares_processor: false };
    for agent in &mut agents {
        agent.tell(&ToAgent::Arm { epoch_ns: clock.epoch_ns, duration_ps: config.duration.as_ps() });
    }
    let end = SimTime::ZERO + config.duration + config.drain;
    let mut emulation = EmulatorConfig {
        clock,
        traffic,
        // The controller ends it; this is only in case the controller itself is held up.
        until: end + Duration::from_s(5),
        stall_threshold: config.stall_threshold,
        capture: config.capture,
    };
    let state = HostState::read();
    let over = AtomicBool::new(false);
    let (emulated, stalls, emulator_fifo, interrupted) = thread::scope(|scope| {
        let emulator = scope.spawn(|| {
            let fifo = settle(config.fifo.then_some(RUN_FIFO), emulator_cpu);
            emulation.clock.shares_processor = fifo;
            (emulator::run(&emulation, &wires, medium, &over), fifo)
        });
        let sentinel = scope.spawn(|| {
            settle(config.fifo.then_some(SENTINEL_FIFO), emulator_cpu);
            sentinel::run(clock, config.stall_threshold, &over)
        });
        let interrupted = supervise(clock, end, config.drain, &mut agents, stop);
        over.store(true, Ordering::Relaxed);
        let (log, fifo) = emulator.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let stalls = sentinel.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (log, stalls, fifo, interrupted)
    });
    for agent in &mut agents {
        agent.tell(&ToAgent::Finish);
    }
    let mut logs = collect(config, &mut agents);
    let host = LiveHost {
        emulator_fifo,
        emulator_cpu,
        agents: agents.iter().filter_map(|agent| agent.facts).collect(),
        cpus: cpus.len(),
        state,
    };
    let outcome = outcome_of(config, &wires, emulated, stalls, &mut logs, traffic, host, interrupted);
    match agents.iter().find_map(|agent| Some((agent.first(), agent.name(), agent.lost.clone()?))) {
        None => Ok(outcome),
        Some((node, name, reason)) => {
            let mut partial = Box::new(outcome);
            partial.rows.interrupted = true;
            Err(LiveError::AgentLost { node, name, reason, partial })
        }
    }
}

/// The guests' wires. They are opened before any agent is started, so that what the host refuses costs no process.
fn guests_of(config: &LiveConfig, medium: &dyn Medium) -> Result<Vec<Wire>, LiveError> {
    let wire = |guest: &crate::can::Guest| {
        let (end, carrier) = guest.open()?;
        let attachment = guest.attachment;
        Ok(Wire { line: Line { attachment, segment: segment_of(medium, attachment), carrier }, end })
    };
    config.guests.iter().map(wire).collect()
}

/// The number of a port's segment in the rows; 0 for one that leads nowhere, where nothing is delivered.
fn segment_of(medium: &dyn Medium, attachment: Attachment) -> u16 {
    medium.segment_of(attachment).unwrap_or(0)
}

fn start_agents(
    config: &LiveConfig,
    medium: &dyn Medium,
    cpus: &[usize],
    emulator_cpu: Option<usize>,
) -> Result<Vec<AgentProcess>, LiveError> {
    let enrolled = process::enrol(config)?;
    // Nodes that share a process come first.
    let (shared, own): (Vec<&AgentConfig>, Vec<&AgentConfig>) =
        config.agents.iter().partition(|agent| agent.home == Home::Shared);
    let shared = Some(shared).filter(|shared| !shared.is_empty());
    let start = |(index, members): (usize, Vec<&AgentConfig>)| {
        let is_aside = members.iter().any(|member| member.home != Home::Own);
        let cpu = match config.placement {
            Placement::OneProcessor if !is_aside => emulator_cpu,
            Placement::OneProcessor | Placement::Apart => {
                cpus[..cpus.len().saturating_sub(1).max(1)].iter().cycle().nth(index).copied()
            }
            Placement::Free => None,
        };
        let member = |agent: &&AgentConfig| {
            let is_told = agent.attachments().map(|(at, link)| link.is_told(medium.tells_transmitted(at)));
            ((*agent).clone(), is_told.collect())
        };
        AgentProcess::start(config, members.iter().map(member).collect(), &enrolled, cpu, false)
    };
    shared.into_iter().chain(own.into_iter().map(|agent| vec![agent])).enumerate().map(start).collect()
}

/// What each agent wrote down, in the order of [`LiveConfig::agents`].
fn collect(config: &LiveConfig, agents: &mut [AgentProcess]) -> Vec<Option<AgentLog>> {
    let mut logs: Vec<Option<AgentLog>> = config.agents.iter().map(|_| None).collect();
    for process in agents {
        let Some(collected) = process.collect() else { continue };
        for (member, log) in process.members.iter().zip(collected) {
            let place = config.agents.iter().position(|agent| agent.node == member.node);
            if let Some(place) = place {
                logs[place] = Some(log);
            }
        }
    }
    logs
}

/// Sets up one agent as a run would, with a port of each kind that the agents of `config` have, and lets it go.
pub(crate) fn trial(config: &LiveConfig) -> Result<AgentFacts, LiveError> {
    let mut trial = AgentConfig::new(NodeId(0));
    let links = config.agents.iter().flat_map(|agent| &agent.ports);
    let mut ports: Vec<PortLink> = Vec::new();
    for link in links {
        if !ports.contains(link) {
            ports.push(link.clone());
        }
    }
    if !ports.is_empty() {
        trial.ports = ports;
    }
    let is_told = vec![false; trial.ports.len()];
    AgentProcess::start(config, vec![(trial, is_told)], &process::enrol(config)?, None, true)?.await_facts()
}

/// Scheduling of the calling thread. True if it is real-time now.
fn settle(fifo: Option<i32>, cpu: Option<usize>) -> bool {
    // What is not granted shows in the release errors; the facts of the run say so too.
    let _ = sys::tighten_timers();
    if let Some(cpu) = cpu {
        sys::pin_to(cpu);
    }
    fifo.is_some_and(sys::try_fifo)
}

/// Waits for the end of the run. True if it came early.
fn supervise(
    clock: RunClock,
    mut end: SimTime,
    drain: Duration,
    agents: &mut [AgentProcess],
    stop: &AtomicBool,
) -> bool {
    let mut stopped = false;
    loop {
        let now = clock.now();
        if now >= end {
            return stopped;
        }
        if !stopped && (stop.load(Ordering::Relaxed) || agents.iter().any(|agent| agent.lost.is_some())) {
            stopped = true;
            end = end.min(now + drain);
            for agent in agents.iter_mut() {
                agent.tell(&ToAgent::Stop);
            }
        }
        // This thread has time; it need not wake up to the microsecond.
        let look_at = end.min(now + LOOK_EVERY) + SPIN;
        let watched: Vec<usize> = (0..agents.len()).filter(|index| agents[*index].lost.is_none()).collect();
        let mut descriptors: Vec<_> = watched.iter().map(|index| readable(agents[*index].socket.as_fd())).collect();
        clock.poll_until(&mut descriptors, Some(look_at));
        let spoke: Vec<usize> =
            watched.iter().zip(&descriptors).filter(|(_, poll)| is_ready(poll)).map(|(index, _)| *index).collect();
        for index in spoke {
            agents[index].hear_early();
        }
    }
}

/// What an agent reports of stalls of its process.
pub(crate) fn stalls_of(logs: &[Option<AgentLog>]) -> impl Iterator<Item = StallRow> {
    let stall = |(at_ps, late_ps): &(i64, i64)| StallRow {
        time: SimTime::from_ps(*at_ps),
        duration: Duration::from_ps(*late_ps),
    };
    logs.iter().flatten().flat_map(|log| &log.stalls).map(stall)
}

#[expect(clippy::too_many_arguments, reason = "everything a run knows comes together here, once")]
fn outcome_of(
    config: &LiveConfig,
    wires: &[Wire],
    mut emulated: EmulatorLog,
    stalls: Vec<StallRow>,
    logs: &mut [Option<AgentLog>],
    traffic: &dyn Traffic,
    host: LiveHost,
    interrupted: bool,
) -> LiveOutcome {
    emulated.stalls.extend(stalls);
    emulated.stalls.extend(stalls_of(logs));
    emulated.stalls.sort_by_key(|stall| stall.time);
    let lines: Vec<&Line> = wires.iter().map(|wire| &wire.line).collect();
    let mut joined = join::join(&config.agents, &lines, emulated, logs, traffic);
    let logs = &*logs;
    joined.rows.interrupted = interrupted;
    let mut warnings = joined.warnings;
    if !host.emulator_fifo && config.fifo {
        warnings.push("SCHED_FIFO was not granted: expect wake-ups milliseconds late when the host is busy".into());
    }
    let programs = config.agents.iter().zip(logs).filter_map(|(agent, log)| {
        let record = log.as_ref()?.program.clone()?;
        let ended_at = record.ended_ps.map(SimTime::from_ps);
        let (how, is_well, printed, usage) = (record.how, record.is_well, record.printed, record.usage);
        Some(ProgramEnd { node: agent.node, ended_at, how, is_well, printed, usage })
    });
    let connections = join::connections::facts(&config.agents, logs);
    LiveOutcome { rows: joined.rows, host, counts: joined.counts, programs: programs.collect(), connections, warnings }
}
