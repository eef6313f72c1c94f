//! What an agent writes down during a run, in memory set aside before it.

use chronoseal_core::{DiscardReason, Duration, Event, EventKind, FramePart, NodeId, SimTime, StreamId, Work};
use chronoseal_results::{EventRow, SerializedMeta, WorkRow};
use serde::{Deserialize, Serialize};

use crate::clock::RunClock;
use crate::connection::{ConnectionEnd, ConnectionHistory};

/// What was written down is of another scenario than the run.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("what it wrote down is of {}, and this run is of {}", named(is_of), named(run_is_of))]
pub struct OfAnother {
    is_of: String,
    run_is_of: String,
}

/// A scenario by its hash.
fn named(hash: &str) -> String {
    if hash.is_empty() { "no scenario".to_owned() } else { format!("scenario {hash}") }
}

/// An event: time `[ps]`, code, stream, sequence, value.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub(crate) struct EventRecord(i64, u16, u16, u64, i64);

/// A computation: begin `[ps]`, index of its operation, length `[byte]`, duration `[ps]`.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub(crate) struct WorkRecord(i64, u16, u32, i64);

/// A frame handed to the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub(crate) struct SentRecord {
    #[serde(rename = "t")]
    pub(crate) at_ps: i64,
    #[serde(rename = "p")]
    pub(crate) port: u16,
    #[serde(rename = "h")]
    pub(crate) hash: u64,
    #[serde(rename = "l")]
    pub(crate) len: u32,
    /// Code of the [`EventKind::Attacked`] told right before it.
    #[serde(rename = "a", default, skip_serializing_if = "Option::is_none")]
    pub(crate) attack: Option<u16>,
    /// The inputs it came from.
    #[serde(rename = "o", default, skip_serializing_if = "Records::is_empty")]
    pub(crate) origins: Records,
    /// What is in it, if that is PDUs of several streams.
    #[serde(rename = "c", default, skip_serializing_if = "Records::is_empty")]
    pub(crate) parts: Records,
}

/// A PDU in a frame that holds several: its stream, the input it came from, code of the attack on it.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub(crate) struct PartRecord(u16, Option<u64>, Option<u16>);

/// Where records that belong together are in one of the lists of an [`AgentLog`]: the first of them, how many.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Debug, Default)]
pub(crate) struct Records(u32, u32);

/// A frame the kernel handed over, with what the node said of it.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub(crate) struct ReceivedRecord {
    #[serde(rename = "t")]
    pub(crate) at_ps: i64,
    #[serde(rename = "p")]
    pub(crate) port: u16,
    #[serde(rename = "h")]
    pub(crate) hash: u64,
    #[serde(rename = "l")]
    pub(crate) len: u32,
    #[serde(rename = "e", default, skip_serializing_if = "Option::is_none")]
    pub(crate) verdict: Option<EventRecord>,
    /// All events of then, if more than one is a verdict: the frame held several PDUs.
    #[serde(rename = "v", default, skip_serializing_if = "Records::is_empty")]
    pub(crate) told: Records,
}

/// A message that no frame stands for, handed to the kernel for all its receivers, or refused for all of them.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub(crate) struct ConnectedSent {
    #[serde(rename = "t")]
    pub(crate) at_ps: i64,
    #[serde(rename = "i")]
    pub(crate) stream: u16,
    #[serde(rename = "n")]
    pub(crate) sequence: u64,
    #[serde(rename = "l")]
    pub(crate) len: u32,
    #[serde(rename = "r")]
    pub(crate) is_refused: bool,
}

/// What became of one end of a connection; times `[ps]`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub(crate) struct ConnectionRecord {
    pub(crate) config: ConnectionEnd,
    /// When it was dialled, if it was from here.
    pub(crate) dialled_ps: Option<i64>,
    /// When it was open to messages at this end.
    pub(crate) opened_ps: Option<i64>,
    /// When it broke before the run was over, and why.
    pub(crate) broken: Option<(i64, String)>,
}

impl ConnectionRecord {
    /// After the `end` of a run whoever is done first ends its connections.
    pub(crate) fn new(history: &ConnectionHistory, clock: RunClock, end: SimTime) -> Self {
        let at = |ns: i64| Duration::from_ns(ns - clock.epoch_ns).as_ps();
        let broken = history.broken.as_ref().map(|(ns, why)| (at(*ns), why.clone()));
        Self {
            config: history.config,
            dialled_ps: history.dialled_ns.map(at),
            opened_ps: history.opened_ns.map(at),
            broken: broken.filter(|(at_ps, _)| *at_ps < end.as_ps()),
        }
    }
}

/// What a program took, with all that it started.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, Debug)]
pub struct ProgramUsage {
    /// Processor time, its own and that of the kernel for it `[ps]`; `None` if a process ended of which nobody knows.
    pub processor_ps: Option<i64>,
    /// The most that its processes that lasted until the end of the run had in memory, each at its own time `[byte]`; `None` if it ended before.
    pub memory: Option<u64>,
    /// What it says of serializing messages.
    #[serde(default)]
    pub serialized: Vec<SerializedMeta>,
}

/// What became of a program.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub(crate) struct ProgramRecord {
    /// When it ended by itself `[ps]`; `None` if it was ended with the run.
    pub(crate) ended_ps: Option<i64>,
    /// How, in words: `exit status: 1`, or why it was not started.
    pub(crate) how: String,
    /// It did not fail.
    pub(crate) is_well: bool,
    /// What it printed last, both of its outputs as they came.
    pub(crate) printed: String,
    /// What it took of its processor and of memory.
    #[serde(default)]
    pub(crate) usage: ProgramUsage,
}

/// All an agent knows after a run.
#[derive(Clone, Default, Serialize, Deserialize, Debug)]
pub(crate) struct AgentLog {
    /// Of the scenario that it is of.
    #[serde(default)]
    pub(crate) scenario_hash: String,
    pub(crate) operations: Vec<String>,
    pub(crate) events: Vec<EventRecord>,
    pub(crate) work: Vec<WorkRecord>,
    pub(crate) sent: Vec<SentRecord>,
    /// Every frame the node was given: number `n` of its inputs is `received[n]`.
    pub(crate) received: Vec<ReceivedRecord>,
    /// Messages that no frame stands for, as they were sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) connected_sent: Vec<ConnectedSent>,
    /// Such messages as they came, by what the node said of them, each with its length `[byte]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) connected_received: Vec<(EventRecord, u32)>,
    /// What became of its program, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) program: Option<ProgramRecord>,
    /// What its program wrote down and nobody can use `[byte]`.
    #[serde(default)]
    pub(crate) bad_records: u64,
    /// What the node should have sent by the end of the run and has not: stream, when it was due `[ps]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) owed: Vec<(u16, i64)>,
    /// When its process should have run and did not: from when, and how much later it did `[ps]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) stalls: Vec<(i64, i64)>,
    /// Numbers of inputs; each sent frame has a range of them.
    origins: Vec<u64>,
    /// What is in sent frames that hold several PDUs.
    parts: Vec<PartRecord>,
    /// Frames the kernel refused to take.
    pub(crate) refused: u64,
    /// Frames the kernel dropped before the agent read them.
    pub(crate) dropped: u64,
    /// What came in at a port that is open to others and is no part of the run.
    #[serde(default)]
    pub(crate) strangers: u64,
    /// Its connections.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) connections: Vec<ConnectionRecord>,
    /// Connections of its streams that did not stand when the run began.
    #[serde(default)]
    pub(crate) unconnected: u64,
}

/// Identifies a frame's bytes.
pub(crate) fn hash_of(bytes: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(bytes)
}

impl Records {
    fn new(first: usize, len: usize) -> Self {
        // Beyond 2^32 of them no log fits into memory.
        let (Ok(first), Ok(len)) = (u32::try_from(first), u32::try_from(len)) else { return Self::default() };
        Self(first, len)
    }

    fn of<'r, T>(&self, all: &'r [T]) -> &'r [T] {
        let first = self.0 as usize;
        all.get(first..first + self.1 as usize).unwrap_or(&[])
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.1 == 0
    }
}

impl EventRecord {
    pub(crate) fn new(at: SimTime, event: &Event) -> Self {
        Self(at.as_ps(), event.kind.code(), event.stream.0, event.sequence, event.value)
    }

    pub(crate) fn at(&self) -> SimTime {
        SimTime::from_ps(self.0)
    }

    /// Says another time of it. What is told of a frame counts from when it was due, which stays as it is.
    pub(crate) fn move_to(&mut self, at_ps: i64) {
        const FROM_DUE: [u16; 3] = [EventKind::Sent.code(), EventKind::Delivered.code(), EventKind::Withheld.code()];
        if FROM_DUE.contains(&self.1) && self.4 != 0 {
            self.4 += at_ps - self.0;
        }
        self.0 = at_ps;
    }

    pub(crate) fn event(&self) -> Option<Event> {
        let kind = EventKind::from_code(self.1)?;
        Some(Event { kind, stream: StreamId(self.2), sequence: self.3, value: self.4 })
    }

    /// Whether this event says more of a received frame than `other`: a verdict before a remark, the first before the
    /// second.
    pub(crate) fn outranks(&self, other: Option<&Self>) -> bool {
        self.rank() > other.map_or(0, Self::rank)
    }

    /// True if it is the end of a PDU that the node got.
    pub(crate) fn is_verdict(&self) -> bool {
        self.rank() >= 3
    }

    fn rank(&self) -> u8 {
        const fn discarded(reason: DiscardReason) -> u16 {
            EventKind::Discarded(reason).code()
        }
        // By their codes, since to find the kind of a code is to go through all kinds.
        const SUPERSEDED: u16 = discarded(DiscardReason::Superseded);
        const FRAME_MISSING: u16 = discarded(DiscardReason::FrameMissing);
        const QUEUE_FULL: u16 = discarded(DiscardReason::QueueFull);
        // The lower byte of a code is the reason.
        const DETAIL: u16 = 0xff;
        const DISCARDED: u16 = discarded(DiscardReason::TooShort) & !DETAIL;
        const DELIVERED: u16 = EventKind::Delivered.code();
        const RELAYED: u16 = EventKind::Relayed.code();
        const TRANSFER_BEGAN: u16 = EventKind::TransferBegan.code();
        const CLOCK_CORRECTED: u16 = EventKind::ClockCorrected.code();
        const SYNC_ACQUIRED: u16 = EventKind::SyncAcquired.code();
        const BEACON_REJECTED: u16 = EventKind::BeaconRejected.code();
        const SYNC_LOST: u16 = EventKind::SyncLost.code();
        match self.1 {
            DELIVERED | RELAYED => 3,
            // What a gateway throws away of what it holds is another frame than the one it just got, and so is a message that has waited
            // too long for the rest of it.
            SUPERSEDED | FRAME_MISSING => 0,
            QUEUE_FULL => 2,
            TRANSFER_BEGAN | CLOCK_CORRECTED | SYNC_ACQUIRED | BEACON_REJECTED | SYNC_LOST => 1,
            code if code & !DETAIL == DISCARDED => 4,
            _ => 0,
        }
    }
}

impl AgentLog {
    /// An empty log with room for `records` of each kind, so that nothing is allocated while it matters.
    pub(crate) fn with_room(records: usize) -> Self {
        Self {
            scenario_hash: String::new(),
            operations: Vec::new(),
            events: Vec::with_capacity(records),
            work: Vec::with_capacity(records),
            sent: Vec::with_capacity(records),
            received: Vec::with_capacity(records),
            connected_sent: Vec::with_capacity(records),
            connected_received: Vec::with_capacity(records),
            program: None,
            bad_records: 0,
            owed: Vec::new(),
            stalls: Vec::new(),
            origins: Vec::with_capacity(records),
            parts: Vec::with_capacity(records),
            refused: 0,
            dropped: 0,
            strangers: 0,
            connections: Vec::new(),
            unconnected: 0,
        }
    }

    /// Refuses what was written down in a run of another scenario than that with this hash.
    pub(crate) fn refuse_another(&self, scenario_hash: &str) -> Result<(), OfAnother> {
        match self.scenario_hash == scenario_hash {
            true => Ok(()),
            false => Err(OfAnother { is_of: self.scenario_hash.clone(), run_is_of: scenario_hash.to_owned() }),
        }
    }

    /// Says every time by another clock. Lengths of time stay as they are.
    pub(crate) fn tell_by(&mut self, clock: impl Fn(i64) -> i64) {
        let tell = |at_ps: &mut i64| *at_ps = clock(*at_ps);
        self.events.iter_mut().for_each(|record| tell(&mut record.0));
        self.work.iter_mut().for_each(|record| tell(&mut record.0));
        self.sent.iter_mut().for_each(|record| tell(&mut record.at_ps));
        for received in &mut self.received {
            tell(&mut received.at_ps);
            received.verdict.iter_mut().for_each(|verdict| tell(&mut verdict.0));
        }
        self.connected_sent.iter_mut().for_each(|record| tell(&mut record.at_ps));
        self.connected_received.iter_mut().for_each(|(record, _)| tell(&mut record.0));
        self.owed.iter_mut().for_each(|(_, due_ps)| tell(due_ps));
        for connection in &mut self.connections {
            connection.dialled_ps.iter_mut().chain(&mut connection.opened_ps).for_each(tell);
            connection.broken.iter_mut().for_each(|(at_ps, _)| tell(at_ps));
        }
        self.stalls.iter_mut().for_each(|(from_ps, _)| tell(from_ps));
        self.program.iter_mut().filter_map(|program| program.ended_ps.as_mut()).for_each(tell);
    }

    pub(crate) fn add_work(&mut self, began: SimTime, work: &Work, duration: Duration) {
        let name = work.operation.0;
        let index = self.operations.iter().position(|known| known == name).unwrap_or_else(|| {
            self.operations.push(name.to_owned());
            self.operations.len() - 1
        });
        self.work.push(WorkRecord(began.as_ps(), index as u16, work.len, duration.as_ps()));
    }

    /// Keeps the numbers of the inputs that a frame came from.
    pub(crate) fn add_origins(&mut self, inputs: &[u64]) -> Records {
        let range = Records::new(self.origins.len(), inputs.len());
        self.origins.extend_from_slice(inputs);
        range
    }

    /// Keeps what is in a frame.
    pub(crate) fn add_parts(&mut self, parts: &[FramePart]) -> Records {
        let range = Records::new(self.parts.len(), parts.len());
        let code = |attack| EventKind::Attacked(attack).code();
        self.parts.extend(parts.iter().map(|part| PartRecord(part.stream.0, part.origin, part.attack.map(code))));
        range
    }

    /// What is in a frame.
    pub(crate) fn parts_of(&self, sent: &SentRecord) -> impl Iterator<Item = FramePart> + '_ {
        let part = |PartRecord(stream, origin, code): &PartRecord| FramePart {
            stream: StreamId(*stream),
            origin: *origin,
            attack: code.and_then(EventKind::from_code).and_then(|kind| match kind {
                EventKind::Attacked(attack) => Some(attack),
                _ => None,
            }),
        };
        sent.parts.of(&self.parts).iter().map(part)
    }

    /// The events from number `first` on, where a frame was looked at: the verdict on it, and all of them if there are several.
    pub(crate) fn verdicts_from(&self, first: usize) -> (Option<EventRecord>, Records) {
        let told = self.events.get(first..).unwrap_or(&[]);
        let mut verdict: Option<EventRecord> = None;
        for record in told {
            if record.outranks(verdict.as_ref()) {
                verdict = Some(*record);
            }
        }
        let several = told.iter().filter(|record| record.is_verdict()).count() > 1;
        (verdict, if several { Records::new(first, told.len()) } else { Records::default() })
    }

    /// Every verdict on what came in a frame.
    pub(crate) fn verdicts_of(&self, received: &ReceivedRecord) -> Vec<(SimTime, Event)> {
        let several = received.told.of(&self.events);
        let told = if several.is_empty() { received.verdict.as_slice() } else { several };
        let verdicts = told.iter().filter(|record| record.is_verdict());
        verdicts.filter_map(|record| Some((record.at(), record.event()?))).collect()
    }

    /// The numbers of the inputs that a frame came from.
    pub(crate) fn origins_of(&self, sent: &SentRecord) -> &[u64] {
        sent.origins.of(&self.origins)
    }

    /// Every event in its order.
    pub(crate) fn said(&self) -> impl Iterator<Item = Event> {
        self.events.iter().filter_map(EventRecord::event)
    }

    pub(crate) fn event_rows(&self, node: NodeId) -> impl Iterator<Item = EventRow> {
        self.events.iter().filter_map(move |record| Some(EventRow { time: record.at(), node, event: record.event()? }))
    }

    /// Rows of the work, with every operation's name kept once for the life of the process.
    pub(crate) fn work_rows(&self, node: NodeId, names: &mut OperationNames) -> Vec<WorkRow> {
        let names: Vec<&'static str> = self.operations.iter().map(|name| names.intern(name)).collect();
        let row = |record: &WorkRecord| {
            Some(WorkRow {
                time: SimTime::from_ps(record.0),
                node,
                operation: names.get(usize::from(record.1)).copied()?,
                len: record.2,
                duration: Duration::from_ps(record.3),
            })
        };
        self.work.iter().filter_map(row).collect()
    }
}

/// Names of operations that came from another process. Few and short, so they are kept for good.
#[derive(Default)]
pub(crate) struct OperationNames(Vec<&'static str>);

impl OperationNames {
    fn intern(&mut self, name: &str) -> &'static str {
        if let Some(known) = self.0.iter().find(|known| **known == name) {
            return known;
        }
        let kept: &'static str = Box::leak(name.to_owned().into_boxed_str());
        self.0.push(kept);
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoseal_core::DiscardReason;

    #[test]
    fn what_was_written_down_of_another_scenario_is_refused_by_its_hash() {
        let log = AgentLog { scenario_hash: "ab".into(), ..AgentLog::default() };
        assert_eq!(log.refuse_another("ab"), Ok(()));
        let why = log.refuse_another("cd").unwrap_err().to_string();
        assert_eq!(why, "what it wrote down is of scenario ab, and this run is of scenario cd");
        assert!(AgentLog::default().refuse_another("cd").unwrap_err().to_string().contains("of no scenario"));
    }

    #[test]
    fn a_discard_outranks_what_was_said_before_it() {
        let record = |kind| EventRecord::new(SimTime::ZERO, &Event::of(kind, StreamId(1), 0));
        let (delivered, discarded) =
            (record(EventKind::Delivered), record(EventKind::Discarded(DiscardReason::TagMismatch)));
        assert!(discarded.outranks(Some(&delivered)) && !delivered.outranks(Some(&discarded)));
        assert!(delivered.outranks(None) && !delivered.outranks(Some(&delivered)));
        assert!(!record(EventKind::TaskDone).outranks(None));
        let of_others = [DiscardReason::Superseded, DiscardReason::FrameMissing, DiscardReason::QueueFull];
        for kind in EventKind::all() {
            let is_end = if let EventKind::Discarded(reason) = kind {
                !of_others.contains(&reason)
            } else {
                matches!(kind, EventKind::Delivered | EventKind::Relayed)
            };
            assert_eq!(record(kind).is_verdict(), is_end, "{kind:?}");
        }
    }
}
