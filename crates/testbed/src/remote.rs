//! A run over several hosts, from the side of this crate: the process of a station on its host, and what all of them wrote down made into
//! rows. Who starts it, and how hosts speak to each other, is for others to say.

use chronoseal_core::{Duration, SimTime};
use chronoseal_results::{RunRows, StallRow};
use serde::{Deserialize, Serialize};

use crate::clock::readable;
use crate::config::{AgentConfig, LiveConfig};
use crate::emulator::EmulatorLog;
use crate::error::LiveError;
use crate::join;
use crate::live::stalls_of;
use crate::log::{AgentLog, OfAnother};
use crate::message::{AgentFacts, ToAgent};
use crate::process::{AgentProcess, Enrolled};
use crate::traffic::Traffic;

/// `CLOCK_MONOTONIC` of this host `[ns]`.
pub fn monotonic_ns() -> i64 {
    crate::clock::monotonic_ns()
}

/// The process of one station. Dropping it ends the process; it also ends when this process does, however that is.
pub struct Worker(AgentProcess);

impl Worker {
    /// Starts the station that is the one agent of `config`, and waits until it is set up.
    ///
    /// # Errors
    /// [`LiveError`]: the host refuses its sockets, or its node cannot be built.
    pub fn start(config: &LiveConfig) -> Result<Self, LiveError> {
        let [agent] = &config.agents[..] else {
            let text = format!("{} stations for one process of a host", config.agents.len());
            return Err(LiveError::Configuration(text));
        };
        let is_told = vec![false; agent.ports.len()];
        let mut process = AgentProcess::start(config, vec![(agent.clone(), is_told)], &Enrolled::new(), None, false)?;
        process.await_ready()?;
        Ok(Self(process))
    }

    /// What the host granted it.
    pub fn facts(&self) -> Option<AgentFacts> {
        self.0.facts
    }

    /// Has it begin at `epoch_ns` of this host's `CLOCK_MONOTONIC`, and stop so long after.
    pub fn arm(&mut self, epoch_ns: i64, duration: Duration) {
        self.0.tell(&ToAgent::Arm { epoch_ns, duration_ps: duration.as_ps() });
    }

    /// Has it stop now; it still takes what is under way.
    pub fn stop(&mut self) {
        self.0.tell(&ToAgent::Stop);
    }

    /// Why it ended before its time, if it has. Does not wait.
    pub fn lost(&mut self) -> Option<&str> {
        use std::os::fd::AsFd;
        let mut descriptors = [readable(self.0.socket.as_fd())];
        let is_heard = nix::poll::poll(&mut descriptors, nix::poll::PollTimeout::ZERO).is_ok_and(|ready| ready > 0);
        if is_heard && self.0.lost.is_none() {
            self.0.hear_early();
        }
        self.0.lost.as_deref()
    }

    /// Ends it, and returns what it wrote down.
    ///
    /// # Errors
    /// Why it has nothing, in words.
    pub fn finish(mut self) -> Result<AgentRecord, WorkerLost> {
        self.0.tell(&ToAgent::Finish);
        let record = self.0.collect().and_then(|mut logs| logs.pop());
        record.map(AgentRecord).ok_or_else(|| WorkerLost(self.0.lost.take().unwrap_or_default()))
    }
}

/// Why the process of a station has left nothing.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("its process ended during the run: {0}")]
pub struct WorkerLost(pub String);

/// What a station wrote down, times counted from the start of its run.
#[derive(Clone, Default, Serialize, Deserialize, Debug)]
#[serde(transparent)]
pub struct AgentRecord(AgentLog);

impl AgentRecord {
    /// Refuses one of another scenario than that with this hash.
    ///
    /// # Errors
    /// Of which it is.
    pub fn refuse_another(&self, scenario_hash: &str) -> Result<(), OfAnother> {
        self.0.refuse_another(scenario_hash)
    }

    /// Says every time by another clock. Lengths of time stay as they are: what a clock is fast or slow is no more than an error of
    /// that share in them.
    pub fn tell_by(&mut self, clock: impl Fn(SimTime) -> SimTime) {
        self.0.tell_by(|at_ps| clock(SimTime::from_ps(at_ps)).as_ps());
    }
}

/// The rows of what stations on several hosts wrote down, each told by one clock for all, and what a reader has to know. `None` for a
/// station that was lost.
pub fn join_hosts(
    agents: &[AgentConfig],
    records: Vec<Option<AgentRecord>>,
    traffic: &dyn Traffic,
) -> (RunRows, Vec<String>) {
    let mut logs: Vec<Option<AgentLog>> = records.into_iter().map(|record| record.map(|record| record.0)).collect();
    let mut stalls: Vec<StallRow> = stalls_of(&logs).collect();
    stalls.sort_by_key(|stall| stall.time);
    let emulated = EmulatorLog { stalls, ..EmulatorLog::default() };
    let joined = join::join(agents, &[], emulated, &mut logs, traffic);
    (joined.rows, joined.warnings)
}
