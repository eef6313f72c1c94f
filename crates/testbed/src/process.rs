//! An agent's process as the controller sees it.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread;

use crate::config::{AgentCommand, AgentConfig, LiveConfig};
use crate::error::LiveError;
use crate::log::AgentLog;
use crate::message::{self, AgentFacts, FromAgent, PortSetup, Setup, ToAgent};
use crate::sys;

/// Emulator and agents have one priority and give way to each other wherever they wait: on a shared processor nobody
/// spins while another has something to do, and nobody is interrupted while what it computes is being measured.
pub(crate) const RUN_FIFO: i32 = 50;

/// How long an agent may take to answer when nothing but computing is between.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(30);

/// An agent's process and what is known of it. Dropping it ends the process.
pub(crate) struct AgentProcess {
    pub(crate) config: AgentConfig,
    child: Child,
    pub(crate) socket: UnixStream,
    pub(crate) facts: Option<AgentFacts>,
    /// Why it ended before its time.
    pub(crate) lost: Option<String>,
}

impl AgentProcess {
    /// Starts the program and tells it what to set up: by port in `is_told`, whether what carries its frames says when
    /// they have left. A trial only shows what the host grants.
    pub(crate) fn start(
        config: &LiveConfig,
        agent: AgentConfig,
        cpu: Option<usize>,
        is_told: Vec<bool>,
        is_trial: bool,
    ) -> Result<Self, LiveError> {
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
        let ports =
            agent.ports.iter().cloned().zip(is_told).map(|(link, is_told)| PortSetup { link, is_told }).collect();
        let setup = ToAgent::Setup(Setup {
            node: agent.node.0,
            ports,
            offset_ps: agent.offset.as_ps(),
            drift_ppb: agent.drift.0,
            cpu,
            fifo: config.fifo.then_some(RUN_FIFO),
            is_trial,
            config: config.node_config.clone(),
        });
        // A process group of its own: Ctrl-C at the terminal is the controller's to handle.
        let child = command
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(LiveError::Start)?;
        ours.set_read_timeout(Some(PATIENCE)).map_err(LiveError::Start)?;
        let mut started = Self { config: agent, child, socket: ours, facts: None, lost: None };
        started.tell(&setup);
        Ok(started)
    }

    /// Waits until the agent is set up and returns the emulator's ends of its wires, in the order of their ports.
    pub(crate) fn await_ready(&mut self) -> Result<Vec<OwnedFd>, LiveError> {
        self.facts = Some(self.await_facts()?);
        let ends = sys::receive_descriptors(&self.socket).map_err(LiveError::Start)?;
        let expected = self.config.ports.iter().filter(|link| link.is_wire()).count();
        if ends.len() == expected {
            return Ok(ends);
        }
        let text = format!("node {} handed over {} of {expected} wires", self.config.node.0, ends.len());
        Err(LiveError::Start(std::io::Error::other(text)))
    }

    pub(crate) fn await_facts(&mut self) -> Result<AgentFacts, LiveError> {
        match message::receive(&self.socket) {
            Ok(FromAgent::Ready(facts)) => Ok(facts),
            Ok(FromAgent::Failed { step, reason }) => Err(LiveError::of_step(self.config.node, step, reason)),
            Ok(FromAgent::Log(_)) => Err(LiveError::Start(std::io::Error::other("the agent answered out of turn"))),
            Err(error) => {
                let text = format!("the agent of node {} does not answer ({error})", self.config.node.0);
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

    pub(crate) fn collect(&mut self) -> Option<AgentLog> {
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

impl Drop for AgentProcess {
    fn drop(&mut self) {
        // Closing the socket alone would end it too, but only when it next looks.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
