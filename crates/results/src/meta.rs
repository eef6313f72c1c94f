//! What a run was: everything a reader needs to judge its rows, and to repeat it.

use serde::{Deserialize, Serialize};

use crate::group::GroupMeta;

/// A name and its value, in the order a report shows them.
pub type Fact = (String, String);

/// One run, described by whoever started it. All times count from the start of the run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RunMeta {
    /// Name of the scenario.
    pub name: String,
    /// What the scenario is about, for a reader.
    pub description: String,
    /// XXH3-128 of all that the scenario was made from, hexadecimal: its text, its overrides and the files that it refers to.
    pub scenario_hash: String,
    /// XXH3-128 of the scenario's text alone, hexadecimal. Empty in runs that were stored before it was written down; these
    /// have no `overrides` and `files` either.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text_hash: String,
    /// What was set in place of what the text says, path and value, in the order in which it was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<Fact>,
    /// The files that the scenario refers to, by name, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileMeta>,
    /// How a live run was asked for, if not as usual, by the names of the options. No part of the scenario: that is the same when it
    /// is simulated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<Fact>,
    /// What carried the frames.
    pub engine: Engine,
    /// Seeds all chance of the run.
    pub seed: u64,
    /// How long the run was meant to last `[ns]`.
    pub duration_ns: i64,
    /// Of the host: processor, kernel, governor, load, privileges.
    pub host: Vec<Fact>,
    /// Where time stamps come from, such as `virtual` or `CLOCK_MONOTONIC`.
    pub clock_source: String,
    /// Of this program, the compiler and the libraries that matter.
    pub versions: Vec<Fact>,
    /// Commit this program was built from, empty if unknown.
    pub commit: String,
    /// What to check before trusting a result.
    pub warnings: Vec<String>,
    /// Wall clock at the start, as text; only where a wall clock was read.
    pub started: Option<String>,
    /// Stopped before its time; what is here is what there was.
    pub interrupted: bool,
    /// What of a live run broke down in the middle, in words: what was lost with it nobody can judge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
    /// Where the nodes of a run over several hosts were; empty for a run on one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostMeta>,
    /// Why something of the run could not be judged, each as a clause. What can be judged is all the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unchecked: Vec<String>,
    /// Streams at receivers of which it is not known how long messages took, while it is known which came.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmeasured: Vec<UnmeasuredMeta>,
    /// Fingerprint of the event trace, hexadecimal; simulated runs only.
    pub fingerprint: Option<String>,
    /// Nodes by identifier: stations, attackers, switch.
    pub nodes: Vec<NodeMeta>,
    /// Streams by identifier.
    pub streams: Vec<StreamMeta>,
    /// Segments by number: what frames travel on.
    pub segments: Vec<SegmentMeta>,
    /// What attackers were to do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub threats: Vec<ThreatMeta>,
    /// What became of the programs that nodes ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<ProgramMeta>,
    /// The group that comes to a key, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupMeta>,
}

/// What an attacker was to do.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ThreatMeta {
    /// As the scenario names this kind of attack.
    pub attack: String,
    /// Who does it: index into [`RunMeta::nodes`].
    pub attacker: u16,
    /// The stream that it aims at: index into [`RunMeta::streams`]; `None` for a kind that aims at none, or at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<u16>,
    /// What protects that stream where the attacker is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protection: Option<ThreatenedMeta>,
}

/// What protects a stream where it is attacked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ThreatenedMeta {
    /// It carries a tag that is checked.
    pub authenticated: bool,
    /// A recorded frame passes again.
    pub replayable: bool,
    /// Its tag, if it is so short that a forger guesses it `[bit]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guessed_bits: Option<u16>,
    /// The segment protects all its frames by itself, as stations of V2X sign theirs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_segment: bool,
}

/// A program of others that a node ran in a live run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProgramMeta {
    /// Whose it is: index into [`RunMeta::nodes`].
    pub node: u16,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// When it ended by itself, from the start of the run `[ns]`; `None` if the run did.
    pub ended_ns: Option<i64>,
    /// How it ended, in words.
    pub how: String,
    /// It did not fail.
    pub is_well: bool,
    /// The last of what it printed, both of its outputs as they came.
    pub printed: String,
    /// Processor time that it and all that it started took, the kernel's for them included `[ns]`; `None` if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processor_ns: Option<i64>,
    /// The most that each of its processes had in memory, in sum `[byte]`; `None` if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
    /// What it says of serializing messages, a row for each of its streams of which it says so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub serialized: Vec<SerializedMeta>,
}

/// What a program of others says of serializing the messages of a stream that it sends, or of deserializing those that it receives.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SerializedMeta {
    /// The stream: index into [`RunMeta::streams`].
    pub stream: u16,
    /// Of so many messages, the last ones.
    pub messages: u32,
    /// Half of them took at most so long `[ns]`.
    pub median_ns: u64,
}

/// The host of a node, in a run over several.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct HostMeta {
    /// The node: index into [`RunMeta::nodes`].
    pub node: u16,
    /// The agent there, as its certificate names it.
    pub agent: String,
    /// Where the controller reached it: address and port.
    pub control: String,
    /// The address from which it sent and at which it got messages.
    pub data: String,
    /// Of the host: kernel, scheduling.
    pub facts: Vec<Fact>,
    /// Its clock; `None` if it was not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<HostClock>,
    /// What says how its clock goes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clock_sources: Vec<ClockSource>,
    /// How these contradict each other, as a clause, if they do: no one-way latency can be told then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_dispute: Option<String>,
}

/// Something that says how a host's clock goes against the controller's.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ClockSource {
    /// What.
    pub name: String,
    /// By it, how much more the clock showed before the run `[ns]`.
    pub offset_ns: i64,
    /// What that may be wrong by `[ns]`.
    pub uncertainty_ns: i64,
    /// The times of the run are told by this one.
    pub is_used: bool,
}

/// A stream at a receiver of which nobody knows how long its messages took.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct UnmeasuredMeta {
    /// The stream: index into [`RunMeta::streams`].
    pub stream: u16,
    /// Index into [`RunMeta::nodes`].
    pub receiver: u16,
    /// What would have been judged, if anything `[ns]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_ns: Option<i64>,
    /// Why not, as a clause.
    pub why: String,
}

/// A host's clock against the controller's.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct HostClock {
    /// How much more it showed when the run began `[ns]`.
    pub offset_ns: i64,
    /// How much faster it ran, on average `[1e-9]`.
    pub drift_ppb: i64,
    /// What this may be wrong by, at any time of the run `[ns]`.
    pub uncertainty_ns: i64,
}

/// A file that a scenario refers to.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FileMeta {
    /// As the scenario refers to it, not where it was found.
    pub name: String,
    /// Its length `[byte]`.
    pub len: u64,
    /// XXH3-128 of its bytes, hexadecimal.
    pub hash: String,
}

/// What carried the frames of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// Virtual time: its numbers are simulated.
    Sim,
    /// The wall clock, sockets and processes: its numbers are measured.
    Live,
}

/// A node of the run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NodeMeta {
    /// As in the scenario.
    pub name: String,
    /// What it is.
    pub role: NodeRole,
    /// Of an attacker on a node's link, through whose hands all passes that the node sends: index of that node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_link_of: Option<u16>,
}

/// What a node is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NodeRole {
    /// An end system of the scenario.
    Station,
    /// An attacker.
    Attacker,
    /// A switch.
    Switch,
}

/// A stream of the run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StreamMeta {
    /// As in the scenario.
    pub name: String,
    /// Index into [`RunMeta::nodes`]; of several senders, the first one.
    pub sender: u16,
    /// The nodes that send it, if it is whoever of them has something to say: from the first to before the second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub senders: Option<(u16, u16)>,
    /// Indices into [`RunMeta::nodes`].
    pub receivers: Vec<u16>,
    /// The segments on its way, by number.
    pub segments: Vec<u16>,
    /// Its traffic class, as the kind of its first segment calls it.
    pub class: String,
    /// A frame of it can be late: it has a deadline, or a slot that says when it has to leave.
    pub is_judged: bool,
    /// A row knows the number that a frame's sender gave it; false where the receiver counts by itself.
    #[serde(default)]
    pub is_numbered: bool,
    /// A frame leaves in a slot of each period, whatever its application does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_due_each_period: bool,
    /// Several copies of each frame are sent, of which its receivers take one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_replicated: bool,
    /// A segment on its way loses frames by nature: a frame that does not arrive breaks nothing by that alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_lossy: bool,
    /// The stream whose messages tell the counters that its frames are checked with, as an index into [`RunMeta::streams`].
    /// Before the first of them nobody can check one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counters: Option<u16>,
    /// Losses that the scenario allows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowances: Vec<Allowance>,
    /// What makes its sender send, if it is another stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<TriggerMeta>,
    /// Distance of two frames `[ns]`; of an answer, of what it answers; in a closed loop, at least.
    pub period_ns: i64,
    /// Frame before protection, without checksum `[byte]`.
    pub frame_len: u32,
    /// Frame with protection, without checksum `[byte]`.
    pub secured_len: u32,
    /// Name of its protection.
    pub protection: String,
    /// A frame recorded earlier passes again.
    pub replayable: bool,
    /// Its frames carry a tag that is checked.
    pub authenticated: bool,
    /// Gateways on its way open it and seal it again, so they have its keys.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_opened_on_way: bool,
    /// What is known of each receiver before the run, in the order of [`Self::receivers`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ends: Vec<EndMeta>,
    /// A frame that takes longer from its sender to its receiver is late, if the stream has such a limit; the shortest of its
    /// receivers' `[ns]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_ns: Option<i64>,
    /// What analysis found to be the longest a frame can take, if it bounds the stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<BoundMeta>,
    /// Why analysis gives no bound, if it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unbounded: Option<String>,
}

/// What makes the sender of a stream send, as indices into [`RunMeta::streams`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TriggerMeta {
    /// A message of another stream came, and is answered.
    Answers {
        /// Which.
        stream: u16,
    },
    /// A closed loop: the answer to the message before came, or did not for so long.
    ClosedLoop {
        /// The stream of the answers.
        answer: u16,
        /// After this no answer is waited for `[ns]`.
        timeout_ns: i64,
    },
}

/// A stream at one of its receivers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct EndMeta {
    /// Index into [`RunMeta::nodes`].
    pub receiver: u16,
    /// A frame that takes longer is late `[ns]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_ns: Option<i64>,
    /// The longest that a frame can take, by analysis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<BoundMeta>,
    /// Why analysis gives no bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unbounded: Option<String>,
}

impl EndMeta {
    /// [`Self::bound`], all of it `[ns]`.
    pub fn bound_ns(&self) -> Option<i64> {
        self.bound.as_ref().map(|bound| bound.total_ns)
    }
}

/// So many frames of a stream may fail to arrive in time for a reason.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Allowance {
    /// As accounts name it: `late`, `missing`, `replaced`, `unaccounted`, `not-sent`, `overdue`, `withheld`, or why a frame was thrown away.
    pub reason: String,
    /// At most, over the whole run; one for each receiver of a frame.
    pub copies: u64,
}

/// The longest a frame of a stream can take from its sender to its receiver, by analysis.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BoundMeta {
    /// All of it `[ns]`.
    pub total_ns: i64,
    /// What of it each segment or gateway on the way takes, by name and in the order of the way `[ns]`. Empty if the bound
    /// is not divided.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<(String, i64)>,
}

/// A segment: what frames travel on between nodes that have an interface to it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SegmentMeta {
    /// As in the scenario.
    pub name: String,
    /// The name of its kind.
    pub kind: String,
    /// Link type of its frames in captures (the registry of tcpdump.org).
    pub link_type: u16,
    /// What a reader has to know of it, values with their units.
    pub properties: Vec<Fact>,
    /// The clocks it keeps together, if it keeps any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clocks: Option<ClockDomainMeta>,
    /// Who sends when on it, if that is fixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<ScheduleMeta>,
    /// Its links, if it has some.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinkMeta>,
    /// Who is on it if it has no links but one medium for all, as indices into [`RunMeta::nodes`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<u16>,
}

/// A full-duplex link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LinkMeta {
    /// What it joins, as indices into [`RunMeta::nodes`].
    pub ends: [u16; 2],
    /// What it carries in each direction `[bit/s]`.
    pub rate_bps: u64,
    /// When it fails, if it does `[ns]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fails_at_ns: Option<i64>,
}

/// The clocks that one segment keeps together.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ClockDomainMeta {
    /// Distance of two sync beacons `[ns]`.
    pub cycle_ns: i64,
    /// Whose clocks, as indices into [`RunMeta::nodes`].
    pub nodes: Vec<u16>,
    /// Of each of them, the streams of which frames can be late or lost because its clock is wrong, as indices into
    /// [`RunMeta::streams`]: no other stream goes by that clock. Empty if it is not known, or does not matter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependents: Vec<Vec<u16>>,
    /// They have so many integration cycles to join, if not as many as usual.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub startup_cycles: Option<i64>,
    /// No two of them may differ by more `[ns]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision_ns: Option<i64>,
    /// Switches of one of two networks in which a link fails, as indices into [`RunMeta::nodes`], each with the time from which on nobody
    /// relies on its clock `[ns]`: what is there comes over the other network.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spared: Vec<(u16, i64)>,
}

impl ClockDomainMeta {
    /// True if no frame goes by the clock of a node, whatever it shows.
    pub fn is_unused(&self, node: u16) -> bool {
        let place = self.nodes.iter().position(|known| *known == node);
        place.and_then(|place| self.dependents.get(place)).is_some_and(Vec::is_empty)
    }

    /// True if no frame goes by any of its clocks.
    pub fn is_idle(&self) -> bool {
        self.nodes.iter().all(|node| self.is_unused(*node))
    }
}

/// Who sends when on one segment.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ScheduleMeta {
    /// It repeats after this `[ns]`.
    pub cycle_ns: i64,
    /// Slots of one cycle, by start.
    pub slots: Vec<SlotMeta>,
    /// Where a slot's frame goes on to a receiver at another time, or for another one, than the slot says: behind several
    /// switches, or over links of different rates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deliveries: Vec<DeliveryMeta>,
    /// Task slots of one cycle, by start.
    pub tasks: Vec<TaskMeta>,
}

/// One frame's turn in the cluster cycle; times count from the start of the cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SlotMeta {
    /// Index into [`RunMeta::streams`].
    pub stream: u16,
    /// The first bit leaves the sender `[ns]`.
    pub start_ns: i64,
    /// Time on one wire `[ns]`.
    pub frame_time_ns: i64,
    /// The first switch passes the frame on `[ns]`.
    pub dispatch_ns: i64,
    /// Frame time and guard period have passed `[ns]`.
    pub end_ns: i64,
}

/// How the frame of a slot goes on to a receiver; times count from the start of the cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DeliveryMeta {
    /// Index into [`ScheduleMeta::slots`].
    pub slot: usize,
    /// The receiver, as an index into [`RunMeta::nodes`].
    pub node: u16,
    /// True for the copy over network B, of a stream that goes over both networks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_second: bool,
    /// Its switch passes the frame on `[ns]`.
    pub dispatch_ns: i64,
    /// Time on its wire `[ns]`.
    pub frame_time_ns: i64,
}

/// One run of a node's task in the cluster cycle; times count from the start of the cycle.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TaskMeta {
    /// Index into [`RunMeta::nodes`].
    pub node: u16,
    /// As in the scenario.
    pub name: String,
    /// When it may begin `[ns]`.
    pub start_ns: i64,
    /// Processor time reserved `[ns]`.
    pub length_ns: i64,
}

impl Engine {
    /// As shown to people and written to results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sim => "sim",
            Self::Live => "live",
        }
    }

    /// How its numbers were obtained: `simulated` or `measured`.
    pub const fn evidence(self) -> &'static str {
        match self {
            Self::Sim => "simulated",
            Self::Live => "measured",
        }
    }
}

impl StreamMeta {
    /// True if a node is one of those that send it.
    pub fn is_sent_by(&self, node: u16) -> bool {
        self.senders.map_or(node == self.sender, |(first, end)| (first..end).contains(&node))
    }

    /// A frame that takes longer to a receiver is late `[ns]`.
    pub fn deadline_of(&self, receiver: u16) -> Option<i64> {
        self.end(receiver).map_or(self.deadline_ns, |end| end.deadline_ns)
    }

    /// What is known of one of its receivers.
    pub fn end(&self, receiver: u16) -> Option<&EndMeta> {
        self.ends.iter().find(|end| end.receiver == receiver)
    }
}

/// Of more receivers than these only the first are named.
const NAMED_MAX: usize = 8;
const NAMED_FIRST: usize = 3;

impl RunMeta {
    /// An empty description of a run of `name`, to be filled in.
    pub fn new(name: impl Into<String>, engine: Engine, seed: u64) -> Self {
        Self {
            name: name.into(),
            description: String::new(),
            scenario_hash: String::new(),
            text_hash: String::new(),
            overrides: Vec::new(),
            files: Vec::new(),
            options: Vec::new(),
            engine,
            seed,
            duration_ns: 0,
            host: Vec::new(),
            clock_source: String::new(),
            versions: Vec::new(),
            commit: String::new(),
            warnings: Vec::new(),
            started: None,
            interrupted: false,
            lost: None,
            hosts: Vec::new(),
            unchecked: Vec::new(),
            unmeasured: Vec::new(),
            fingerprint: None,
            nodes: Vec::new(),
            streams: Vec::new(),
            segments: Vec::new(),
            threats: Vec::new(),
            programs: Vec::new(),
            group: None,
        }
    }

    /// True if the messages of a stream wait for answers, or are such answers: what would have waited before it was sent is in no latency.
    pub fn is_in_closed_loop(&self, stream: &StreamMeta) -> bool {
        match stream.trigger {
            Some(TriggerMeta::ClosedLoop { .. }) => true,
            Some(TriggerMeta::Answers { stream }) => self
                .streams
                .get(usize::from(stream))
                .is_some_and(|asked| matches!(asked.trigger, Some(TriggerMeta::ClosedLoop { .. }))),
            None => false,
        }
    }

    /// The name of a node, or its number if the run does not know it.
    pub fn node_name(&self, node: u16) -> String {
        match self.nodes.get(usize::from(node)) {
            Some(node) => node.name.clone(),
            None if node == chronoseal_core::NodeId::UNKNOWN.0 => "somebody unknown".into(),
            None => format!("node-{node}"),
        }
    }

    /// Who sends a stream, and to whom: all by name, unless they are too many to read.
    pub fn way_of(&self, stream: &StreamMeta) -> String {
        let sender = match (stream.senders, stream.segments.first()) {
            (Some((first, end)), Some(segment)) if end > first + 1 => format!("any of {}", self.segment_name(*segment)),
            _ => self.node_name(stream.sender),
        };
        let names = |nodes: &[u16]| nodes.iter().map(|node| self.node_name(*node)).collect::<Vec<_>>().join(", ");
        let receivers = match stream.receivers.get(..NAMED_FIRST) {
            Some(first) if stream.receivers.len() > NAMED_MAX => {
                format!("{} and {} others", names(first), stream.receivers.len() - NAMED_FIRST)
            }
            _ => names(&stream.receivers),
        };
        format!("{sender} \u{2192} {receivers}")
    }

    /// The name of a segment, or its number if the run does not know it.
    pub fn segment_name(&self, segment: u16) -> String {
        let known = self.segments.get(usize::from(segment));
        known.map_or_else(|| format!("segment-{segment}"), |segment| segment.name.clone())
    }

    /// The name of a stream, or its number if the run does not know it; `none` for bytes that belong to no stream.
    pub fn stream_name(&self, stream: u16) -> String {
        if stream == chronoseal_core::StreamId::NONE.0 {
            return "none".into();
        }
        self.streams.get(usize::from(stream)).map_or_else(|| format!("stream-{stream}"), |stream| stream.name.clone())
    }
}
