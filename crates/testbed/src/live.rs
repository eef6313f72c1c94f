//! The controller: starts the agents, runs the emulator between them, collects what they wrote down.

use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use chronoseal_core::{Duration, NodeId, PortId, Ppm, SimTime};
use chronoseal_media::medium::{Attachment, Medium};
use chronoseal_results::{RunRows, StallRow};
use serde::Serialize;

use crate::can;
use crate::clock::{RunClock, SPIN, is_ready, monotonic_ns, readable};
use crate::emulator::{self, EmulatorConfig, EmulatorLog, Wire};
use crate::end::End;
use crate::error::LiveError;
use crate::join;
use crate::log::AgentLog;
use crate::message::{self, AgentFacts, FromAgent, Link, Setup, ToAgent};
use crate::sentinel;
use crate::sys;
use crate::traffic::Traffic;

/// Emulator and agents have one priority and give way to each other wherever they wait: on a shared processor nobody
/// spins while another has something to do, and nobody is interrupted while what it computes is being measured.
const RUN_FIFO: i32 = 50;
/// Above everything it watches, so that it only notices what the host does.
const SENTINEL_FIFO: i32 = 70;

/// From arming to the run's start; every agent has to be waiting by then.
const LEAD: Duration = Duration::from_ms(50);

/// How long an agent may take to answer when nothing but computing is between.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(30);

/// The controller looks at its stop flag this often.
const LOOK_EVERY: Duration = Duration::from_ms(10);

/// A live run.
#[derive(Clone, Debug)]
pub struct LiveConfig {
    /// Every station and attacker.
    pub agents: Vec<AgentConfig>,
    /// Handed to the [`crate::NodeFactory`] of every agent as it is.
    pub node_config: Vec<u8>,
    /// From start to stop.
    pub duration: Duration,
    /// How long frames that are on their way may still take after that.
    pub drain: Duration,
    /// Keep every frame's bytes as the switch saw them.
    pub capture: bool,
    /// A wake-up later than this is a stall.
    pub stall_threshold: Duration,
    /// Ask for `SCHED_FIFO`; without it the kernel's time slices show in every figure.
    pub fifo: bool,
    /// On which processors.
    pub placement: Placement,
    /// How to start an agent; `None`: this executable with the one argument `agent`.
    pub agent_command: Option<AgentCommand>,
    /// What the agents' ports are.
    pub link: AgentLink,
}

/// What lies between an agent and the medium.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AgentLink {
    /// Ethernet frames over TAP interfaces, each agent in a network namespace of its own.
    Ethernet,
    /// CAN frames, in the layout of [`chronoseal_wire::can::layout`], over socket pairs: no namespace, no interface, no
    /// privilege.
    CanBus,
    /// A CAN interface of the kernel takes the place of the medium; each agent has it for its only port. Rows come from
    /// the listener that [`crate::can::run_can`] adds.
    CanInterface(String),
}

/// A station or an attacker.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AgentConfig {
    /// Its number in the plan.
    pub node: NodeId,
    /// How many ports it has, from 0.
    pub ports: u16,
    /// What its clock shows when the run starts.
    pub offset: Duration,
    /// How much too fast its clock runs.
    pub drift: Ppm,
    /// Frames it sends after telling an attack are part of the attack; what it hears is no delivery.
    pub is_attacker: bool,
    /// Its only port is this interface instead of a wire of the emulator: a cable to another station. Needs root.
    pub existing: Option<ExistingInterface>,
}

/// A network interface that is there already.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExistingInterface {
    /// Network namespace it is in, as `ip netns` names it.
    pub namespace: String,
    /// Its name there.
    pub interface: String,
}

/// Program and arguments of an agent process. It has to end up in [`crate::agent_main`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AgentCommand {
    /// The executable.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
}

/// Where emulator and agents run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Placement {
    /// All on one processor, the last one allowed: waking a thread of another processor costs 10..13 us on a virtual
    /// machine, on the same one 3..5 us.
    OneProcessor,
    /// The emulator on the last processor, the agents on the others in turn.
    Apart,
    /// Wherever the kernel likes. Latencies may then jump in the middle of a run.
    Free,
}

impl LiveConfig {
    /// A run of `agents` for `duration` with what suits most hosts.
    pub fn new(agents: Vec<AgentConfig>, node_config: Vec<u8>, duration: Duration) -> Self {
        Self {
            agents,
            node_config,
            duration,
            drain: Duration::from_ms(50),
            capture: false,
            stall_threshold: Duration::from_ms(1),
            fifo: true,
            placement: Placement::OneProcessor,
            agent_command: None,
            link: AgentLink::Ethernet,
        }
    }
}

impl AgentConfig {
    /// A station with one port and a perfect clock.
    pub fn new(node: NodeId) -> Self {
        Self { node, ports: 1, offset: Duration::ZERO, drift: Ppm(0), is_attacker: false, existing: None }
    }
}

/// What a live run left behind.
#[derive(Clone, Debug)]
pub struct LiveOutcome {
    /// As the simulator's.
    pub rows: RunRows,
    /// What the host granted.
    pub host: LiveHost,
    /// Each agent's frames, in the order of [`LiveConfig::agents`].
    pub counts: Vec<AgentCounts>,
    /// What a reader of the results has to know.
    pub warnings: Vec<String>,
}

/// What the host granted a run.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct LiveHost {
    /// The emulator ran as `SCHED_FIFO`.
    pub emulator_fifo: bool,
    /// The emulator's processor, if it was kept on one.
    pub emulator_cpu: Option<usize>,
    /// What each agent got.
    pub agents: Vec<AgentFacts>,
    /// Processors this process may use.
    pub cpus: usize,
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

/// Runs the agents with `medium` between them. Blocks for the run's duration; `stop` ends it early with what there is.
///
/// # Errors
/// [`LiveError`]; the refusals of the host say what to do about them.
pub fn run(
    config: &LiveConfig,
    medium: &mut (dyn Medium + Send),
    traffic: &dyn Traffic,
    stop: &AtomicBool,
) -> Result<LiveOutcome, LiveError> {
    run_with(config, Vec::new(), medium, traffic, stop)
}

/// [`run`] with further wires on the medium, which lead to no agent.
pub(crate) fn run_with(
    config: &LiveConfig,
    guests: Vec<Wire>,
    medium: &mut (dyn Medium + Send),
    traffic: &dyn Traffic,
    stop: &AtomicBool,
) -> Result<LiveOutcome, LiveError> {
    check(config)?;
    let cpus = sys::allowed_cpus();
    let emulator_cpu = if config.placement == Placement::Free { None } else { cpus.last().copied() };
    let mut agents = Vec::new();
    for (index, agent) in config.agents.iter().enumerate() {
        let cpu = match config.placement {
            Placement::OneProcessor => emulator_cpu,
            Placement::Apart => cpus[..cpus.len().saturating_sub(1).max(1)].iter().cycle().nth(index).copied(),
            Placement::Free => None,
        };
        let is_told = |port| {
            matches!(config.link, AgentLink::CanInterface(_))
                || medium.tells_transmitted(Attachment { node: agent.node, port: PortId(port) })
        };
        let tells_transmitted = (0..agent.ports).map(is_told).collect();
        agents.push(Agent::start(config, agent.clone(), cpu, Start::Run { tells_transmitted })?);
    }
    let mut wires = Vec::new();
    for agent in &mut agents {
        for (port, end) in agent.await_ready()?.into_iter().enumerate() {
            let attachment = Attachment { node: agent.config.node, port: PortId(port as u16) };
            let end = if config.link == AgentLink::Ethernet { End::Tap(end) } else { End::Station(end) };
            wires.push(Wire { attachment, end });
        }
    }
    wires.extend(guests);
    let clock = RunClock { epoch_ns: monotonic_ns() + LEAD.as_ns(), shares_processor: false };
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
    let logs: Vec<Option<AgentLog>> = agents.iter_mut().map(Agent::collect).collect();
    let host = LiveHost {
        emulator_fifo,
        emulator_cpu,
        agents: agents.iter().filter_map(|agent| agent.facts).collect(),
        cpus: cpus.len(),
    };
    let outcome = outcome_of(config, &wires, emulated, stalls, &logs, traffic, host, interrupted);
    match agents.iter().find_map(|agent| Some((agent.config.node, agent.lost.clone()?))) {
        None => Ok(outcome),
        Some((node, reason)) => {
            let mut partial = Box::new(outcome);
            partial.rows.interrupted = true;
            Err(LiveError::AgentLost { node, reason, partial })
        }
    }
}

/// Sets up one agent as a run would, and lets it go.
pub(crate) fn trial(config: &LiveConfig) -> Result<AgentFacts, LiveError> {
    let mut agent = Agent::start(config, AgentConfig::new(NodeId(0)), None, Start::Trial)?;
    agent.await_facts()
}

fn check(config: &LiveConfig) -> Result<(), LiveError> {
    let wrong = |text: String| Err(LiveError::Configuration(text));
    if config.duration <= Duration::ZERO {
        return wrong(format!("a live run needs a duration above zero, not {}", config.duration));
    }
    for (index, agent) in config.agents.iter().enumerate() {
        if !(1..=16).contains(&agent.ports) {
            return wrong(format!("node {} has {} ports; 1 to 16 can be run live", agent.node.0, agent.ports));
        }
        if agent.existing.is_some() && config.link != AgentLink::Ethernet {
            return wrong(format!("node {} has a network interface, but the medium is a CAN bus", agent.node.0));
        }
        let has_one = agent.existing.is_some() || matches!(config.link, AgentLink::CanInterface(_));
        if has_one && agent.ports != 1 {
            return wrong(format!("node {} has {} ports, but one interface", agent.node.0, agent.ports));
        }
        if config.agents[..index].iter().any(|other| other.node == agent.node) {
            return wrong(format!("node {} is there twice", agent.node.0));
        }
    }
    Ok(())
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
fn supervise(clock: RunClock, mut end: SimTime, drain: Duration, agents: &mut [Agent], stop: &AtomicBool) -> bool {
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

/// An agent's process and what is known of it. Dropping it ends the process.
struct Agent {
    config: AgentConfig,
    link: AgentLink,
    child: Child,
    socket: UnixStream,
    facts: Option<AgentFacts>,
    /// Why it ended before its time.
    lost: Option<String>,
}

/// What an agent is started for.
enum Start {
    /// Only to see what the host grants.
    Trial,
    /// A run; by port, what carries its frames says, or does not say, when they have left.
    Run { tells_transmitted: Vec<bool> },
}

impl Agent {
    fn start(config: &LiveConfig, agent: AgentConfig, cpu: Option<usize>, start: Start) -> Result<Self, LiveError> {
        let (ours, theirs) = UnixStream::pair().map_err(LiveError::Start)?;
        let mut command = match &config.agent_command {
            Some(AgentCommand { program, arguments }) => {
                let mut command = Command::new(program);
                command.args(arguments);
                command
            }
            None => {
                let mut command = Command::new(std::env::current_exe().map_err(LiveError::Start)?);
                command.arg("agent");
                command
            }
        };
        // A process group of its own: Ctrl-C at the terminal is the controller's to handle.
        let link = match (&agent.existing, &config.link) {
            (Some(ExistingInterface { namespace, interface }), _) => {
                Link::Existing { namespace: namespace.clone(), interface: interface.clone() }
            }
            (None, AgentLink::Ethernet) => Link::Tap,
            (None, AgentLink::CanBus) => Link::Pair,
            (None, AgentLink::CanInterface(interface)) => Link::Can { interface: interface.clone() },
        };
        let setup = ToAgent::Setup(Setup {
            node: agent.node.0,
            ports: agent.ports,
            link,
            offset_ps: agent.offset.as_ps(),
            drift_ppb: agent.drift.0,
            cpu,
            fifo: config.fifo.then_some(RUN_FIFO),
            is_trial: matches!(start, Start::Trial),
            tells_transmitted: match start {
                Start::Trial => Vec::new(),
                Start::Run { tells_transmitted } => tells_transmitted,
            },
            config: config.node_config.clone(),
        });
        let child = command
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(LiveError::Start)?;
        ours.set_read_timeout(Some(PATIENCE)).map_err(LiveError::Start)?;
        let link = config.link.clone();
        let mut started = Self { config: agent, link, child, socket: ours, facts: None, lost: None };
        started.tell(&setup);
        Ok(started)
    }

    /// Waits until the agent is set up and returns the emulator's ends of its wires.
    fn await_ready(&mut self) -> Result<Vec<OwnedFd>, LiveError> {
        self.facts = Some(self.await_facts()?);
        let ends = sys::receive_descriptors(&self.socket).map_err(LiveError::Start)?;
        let has_own = self.config.existing.is_some() || matches!(self.link, AgentLink::CanInterface(_));
        let expected = if has_own { 0 } else { usize::from(self.config.ports) };
        if ends.len() == expected {
            return Ok(ends);
        }
        let text = format!("node {} handed over {} of {expected} wires", self.config.node.0, ends.len());
        Err(LiveError::Start(std::io::Error::other(text)))
    }

    fn await_facts(&mut self) -> Result<AgentFacts, LiveError> {
        match message::receive(&self.socket) {
            Ok(FromAgent::Ready(facts)) => Ok(facts),
            Ok(FromAgent::Failed { step, reason }) => Err(LiveError::of_step(&self.config, &self.link, step, reason)),
            Ok(FromAgent::Log(_)) => Err(LiveError::Start(std::io::Error::other("the agent answered out of turn"))),
            Err(error) => {
                let text = format!("the agent of node {} does not answer ({error})", self.config.node.0);
                Err(LiveError::Start(std::io::Error::other(text)))
            }
        }
    }

    /// Says something; an agent that is gone shows when it is listened to.
    fn tell(&mut self, what: &ToAgent) {
        if self.lost.is_none() && message::send(&self.socket, what).is_err() {
            self.lost = Some(self.ending());
        }
    }

    /// An agent that speaks during the run has failed.
    fn hear_early(&mut self) {
        self.lost = Some(match message::receive(&self.socket) {
            Ok(FromAgent::Failed { reason, .. }) => reason,
            Ok(_) => "it answered out of turn".into(),
            Err(_) => self.ending(),
        });
    }

    fn collect(&mut self) -> Option<AgentLog> {
        if self.lost.is_some() {
            return None;
        }
        match message::receive(&self.socket) {
            Ok(FromAgent::Log(log)) => {
                // It ends by itself after this; should it not, dropping it ends it.
                return Some(log);
            }
            Ok(FromAgent::Failed { reason, .. }) => self.lost = Some(reason),
            Ok(FromAgent::Ready(_)) => self.lost = Some("it answered out of turn".into()),
            Err(_) => self.lost = Some(self.ending()),
        }
        None
    }

    /// How the process ended, in words.
    fn ending(&mut self) -> String {
        // The socket closes a moment before the process is gone.
        for _ in 0..50 {
            if let Ok(Some(status)) = self.child.try_wait() {
                return status.to_string();
            }
            thread::sleep(std::time::Duration::from_millis(2));
        }
        "it closed its socket".into()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // Closing the socket alone would end it too, but only when it next looks.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[expect(clippy::too_many_arguments, reason = "everything a run knows comes together here, once")]
fn outcome_of(
    config: &LiveConfig,
    wires: &[Wire],
    mut emulated: EmulatorLog,
    stalls: Vec<StallRow>,
    logs: &[Option<AgentLog>],
    traffic: &dyn Traffic,
    host: LiveHost,
    interrupted: bool,
) -> LiveOutcome {
    emulated.stalls.extend(stalls);
    emulated.stalls.sort_by_key(|stall| stall.time);
    let join = match config.link {
        AgentLink::Ethernet | AgentLink::CanBus => join::join,
        AgentLink::CanInterface(_) => can::join::join,
    };
    let mut joined = join(&config.agents, wires, emulated, logs, traffic);
    joined.rows.interrupted = interrupted;
    let mut warnings = joined.warnings;
    if !host.emulator_fifo && config.fifo {
        warnings.push("SCHED_FIFO was not granted: expect wake-ups milliseconds late when the host is busy".into());
    }
    LiveOutcome { rows: joined.rows, host, counts: joined.counts, warnings }
}
