//! An agent's process as the controller sees it.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread;

use chronoseal_core::NodeId;

use crate::config::{AgentCommand, AgentConfig, LiveConfig, PortLink};
use crate::connection::channel::Credentials;
use crate::error::LiveError;
use crate::log::AgentLog;
use crate::message::{self, AgentFacts, FromAgent, MemberSetup, PortSetup, Setup, ToAgent};
use crate::sys;

/// Emulator and agents have one priority and give way to each other wherever they wait: on a shared processor nobody
/// spins while another has something to do, and nobody is interrupted while what it computes is being measured.
pub(crate) const RUN_FIFO: i32 = 50;

/// How long an agent may take to answer when nothing but computing is between.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(30);

/// The process of an agent, or of several that share one, and what is known of it. Dropping it ends the process.
pub(crate) struct AgentProcess {
    /// Its nodes.
    pub(crate) members: Vec<AgentConfig>,
    child: Child,
    pub(crate) socket: UnixStream,
    scenario_hash: String,
    pub(crate) facts: Option<AgentFacts>,
    /// Why it ended before its time.
    pub(crate) lost: Option<String>,
}

impl AgentProcess {
    /// Starts the program and tells it what to set up: each node with, by port, whether what carries its frames says when
    /// they have left. A trial only shows what the host grants.
    pub(crate) fn start(
        config: &LiveConfig,
        members: Vec<(AgentConfig, Vec<bool>)>,
        credentials: &Enrolled,
        cpu: Option<usize>,
        is_trial: bool,
    ) -> Result<Self, LiveError> {
        let (child, ours) = spawn(config)?;
        let port = |(link, is_told): (&PortLink, &bool)| PortSetup {
            link: link.clone(),
            credentials: secured(link).and_then(|own| credentials.get(&own)).cloned(),
            is_told: *is_told,
        };
        let member = |(agent, is_told): &(AgentConfig, Vec<bool>)| MemberSetup {
            node: agent.node.0,
            ports: agent.ports.iter().zip(is_told).map(port).collect(),
            offset_ps: agent.offset.as_ps(),
            drift_ppb: agent.drift.0,
            step_ps: agent.clock_step.map(|step| (step.after.as_ps(), step.by.as_ps())),
            program: agent.program.clone(),
        };
        let setup = ToAgent::Setup(Setup {
            members: members.iter().map(member).collect(),
            cpu,
            fifo: config.fifo.then_some(RUN_FIFO),
            stall_threshold_ps: config.stall_threshold.as_ps(),
            no_tun: config.no_tun,
            is_trial,
            config: config.node_config.clone(),
            scenario_hash: config.scenario_hash.clone(),
        });
        let members = members.into_iter().map(|(agent, _)| agent).collect();
        let scenario_hash = config.scenario_hash.clone();
        let mut started = Self { members, child, socket: ours, scenario_hash, facts: None, lost: None };
        started.tell(&setup);
        Ok(started)
    }

    /// Waits until the agent is set up and returns the emulator's ends of its wires, in the order of its nodes and
    /// their ports.
    pub(crate) fn await_ready(&mut self) -> Result<Vec<OwnedFd>, LiveError> {
        self.facts = Some(self.await_facts()?);
        let links = self.members.iter().flat_map(|member| &member.ports);
        let expected = links.filter(|link| link.is_wire()).count();
        let ends = sys::receive_descriptors(&self.socket, expected).map_err(LiveError::Start)?;
        if ends.len() == expected {
            return Ok(ends);
        }
        let text = format!("{} handed over {} of {expected} wires", self.name(), ends.len());
        Err(LiveError::Start(std::io::Error::other(text)))
    }

    /// The first of its nodes.
    pub(crate) fn first(&self) -> NodeId {
        self.members.first().map_or(NodeId(0), |member| member.node)
    }

    pub(crate) fn name(&self) -> String {
        let first = self.members.first().map_or("no node", |member| &member.name);
        match self.members.len() {
            0 | 1 => first.to_owned(),
            count => format!("{first} and {} others", count - 1),
        }
    }

    pub(crate) fn await_facts(&mut self) -> Result<AgentFacts, LiveError> {
        match message::receive(&self.socket) {
            Ok(FromAgent::Ready(facts)) => Ok(facts),
            Ok(FromAgent::Failed { step, reason }) => {
                Err(LiveError::of_step((self.first(), self.name()), step, reason))
            }
            Ok(FromAgent::Logs(_) | FromAgent::Enrolled(_)) => {
                Err(LiveError::Start(std::io::Error::other("the agent answered out of turn")))
            }
            Err(error) => {
                let text = format!("the agent of {} does not answer ({error})", self.name());
                Err(LiveError::Start(std::io::Error::other(text)))
            }
        }
    }

    /// Says something; an agent that is gone shows when it is listened to.
    pub(crate) fn tell(&mut self, what: &ToAgent) {
        if self.lost.is_none() && message::send(&self.socket, what).is_err() {
            self.lost = Some(self.ending());
        }
    }

    /// An agent that speaks during the run has failed.
    pub(crate) fn hear_early(&mut self) {
        self.lost = Some(match message::receive(&self.socket) {
            Ok(FromAgent::Failed { reason, .. }) => reason,
            Ok(_) => "it answered out of turn".into(),
            Err(_) => self.ending(),
        });
    }

    /// What its nodes wrote down, in their order; nothing of one that ended before its time.
    pub(crate) fn collect(&mut self) -> Option<Vec<AgentLog>> {
        if self.lost.is_some() {
            return None;
        }
        match message::receive(&self.socket) {
            // It ends by itself after this; should it not, dropping it ends it.
            Ok(FromAgent::Logs(logs)) if logs.len() == self.members.len() => {
                match logs.iter().try_for_each(|log| log.refuse_another(&self.scenario_hash)) {
                    Ok(()) => return Some(logs),
                    Err(other) => self.lost = Some(other.to_string()),
                }
            }
            Ok(FromAgent::Logs(logs)) => {
                self.lost = Some(format!("it sent {} logs of {} nodes", logs.len(), self.members.len()));
            }
            Ok(FromAgent::Failed { reason, .. }) => self.lost = Some(reason),
            Ok(FromAgent::Ready(_) | FromAgent::Enrolled(_)) => self.lost = Some("it answered out of turn".into()),
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

/// Starts the program of agents, with a socket to it as its standard input.
fn spawn(config: &LiveConfig) -> Result<(Child, UnixStream), LiveError> {
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
    ours.set_read_timeout(Some(PATIENCE)).map_err(LiveError::Start)?;
    // A process group of its own: Ctrl-C at the terminal is the controller's to handle.
    let child = command
        .stdin(OwnedFd::from(theirs))
        .stdout(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(LiveError::Start)?;
    Ok((child, ours))
}

/// What stations with secured connections show of themselves, by their addresses.
pub(crate) type Enrolled = BTreeMap<[u8; 4], Credentials>;

/// The address of a port that has secured connections.
fn secured(link: &PortLink) -> Option<[u8; 4]> {
    let PortLink::Socket(link) = link else { return None };
    link.connections.iter().any(|end| end.transport.is_secured()).then_some(link.address)
}

/// Has the program of agents make an authority for this run and what stations have of it, if some connections are secured. The process that
/// knows the authority's key ends with that.
pub(crate) fn enrol(config: &LiveConfig) -> Result<Enrolled, LiveError> {
    let of = |agent: &AgentConfig| agent.ports.iter().filter_map(secured).collect::<Vec<_>>();
    let addresses: Vec<[u8; 4]> = config.agents.iter().flat_map(of).collect();
    let Some(first) = config.agents.iter().find(|agent| !of(agent).is_empty()) else { return Ok(Enrolled::new()) };
    let (child, socket) = spawn(config)?;
    let members = vec![first.clone()];
    let scenario_hash = config.scenario_hash.clone();
    let mut process = AgentProcess { members, child, socket, scenario_hash, facts: None, lost: None };
    process.tell(&ToAgent::Enrol(addresses.clone()));
    match message::receive(&process.socket) {
        Ok(FromAgent::Enrolled(made)) if made.len() == addresses.len() => Ok(addresses.into_iter().zip(made).collect()),
        Ok(FromAgent::Failed { step, reason }) => {
            Err(LiveError::of_step((first.node, first.name.clone()), step, reason))
        }
        Ok(_) => Err(LiveError::Start(std::io::Error::other("the agent answered out of turn"))),
        Err(error) => Err(LiveError::Start(std::io::Error::other(format!("no agent made credentials ({error})")))),
    }
}

impl Drop for AgentProcess {
    fn drop(&mut self) {
        // Closing the socket alone would end it too, but only when it next looks.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
