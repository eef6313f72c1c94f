//! What controller and agent say to each other: a length, then JSON. The agent speaks first, so that whoever dials learns why it is not
//! wanted before it says anything.

use std::collections::BTreeMap;

use chronoseal_scenario::Texts;
use chronoseal_testbed::AgentRecord;
use serde::{Deserialize, Serialize};

/// Counted up when messages change their meaning.
const PROTOCOL: u32 = 2;

/// What a program is built from. Two that differ may make different plans of one scenario.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub(crate) struct Build {
    /// Of the messages between controller and agent.
    pub(crate) protocol: u32,
    /// Of chronoseal.
    pub(crate) version: String,
    /// The commit, empty if unknown.
    pub(crate) commit: String,
}

impl Build {
    /// This program's.
    pub(crate) fn own() -> Self {
        let versions = chronoseal_runner::versions();
        let version = versions.into_iter().find(|(name, _)| name == "chronoseal").map(|(_, version)| version);
        Self { protocol: PROTOCOL, version: version.unwrap_or_default(), commit: chronoseal_runner::commit().into() }
    }

    /// For people.
    pub(crate) fn words(&self) -> String {
        format!("chronoseal {} (commit {}, protocol {})", self.version, self.commit, self.protocol)
    }
}

/// From the agent.
#[derive(Serialize, Deserialize, Debug)]
pub(crate) enum FromAgent {
    /// The first thing that is said.
    Welcome { build: Build, data: [u8; 4], facts: Vec<(String, String)> },
    /// It takes part in nothing of what was asked. The connection ends.
    Refused(String),
    /// The controller is of the same build.
    Accepted,
    /// Its station is set up.
    Ready { scenario_hash: String },
    /// The answer to [`ToAgent::Ask`].
    Answer { t1: i64, t2: i64, t3: i64 },
    /// The answer to [`ToAgent::AskPtp`], or why there is none.
    Ptp(Result<PtpAnswer, String>),
    /// Its station ended during the run.
    Lost(String),
    /// What its station wrote down.
    Record(Box<AgentRecord>),
}

/// The clock that an agent shows beside the one that the ptp4l of its host follows.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub(crate) struct PtpAnswer {
    /// The clock that is followed.
    pub(crate) grandmaster: String,
    /// What the agent's clock showed `[ns]`.
    pub(crate) shown_ns: i64,
    /// What the other showed then `[ns]`.
    pub(crate) grandmaster_ns: i64,
    /// More or less `[ns]`.
    pub(crate) uncertainty_ns: i64,
    /// It is the clock of the agent's host.
    pub(crate) is_own: bool,
}

/// From the controller.
#[derive(Serialize, Deserialize, Debug)]
pub(crate) enum ToAgent {
    /// Answers [`FromAgent::Welcome`].
    Hello { build: Build },
    /// Set a station up.
    Prepare(Box<Prepare>),
    /// What does your clock show? Also says that the controller is there.
    Ask { t1: i64 },
    /// What does the ptp4l of your host say? It takes a second.
    AskPtp,
    /// Begin at this time of the agent's clock `[ns]`.
    Arm { epoch_ns: i64 },
    /// Have the station stop at this time of the agent's clock `[ns]`, as all others do.
    Stop { at_ns: i64 },
    /// Send what the station wrote down.
    Finish,
}

/// Everything a station is made from.
#[derive(Serialize, Deserialize, Debug)]
pub(crate) struct Prepare {
    pub(crate) texts: Texts,
    /// Of the plan that the controller made of them.
    pub(crate) scenario_hash: String,
    /// The name of the station.
    pub(crate) node: String,
    /// The addresses of all stations, by name.
    pub(crate) addresses: BTreeMap<String, [u8; 4]>,
    /// Do without `SCHED_FIFO`.
    pub(crate) no_fifo: bool,
}
