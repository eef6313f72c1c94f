//! What a run on a CAN bus amounts to beside its messages: the load of the bus, and the group key.

use std::collections::BTreeMap;

use chronoseal_core::EventKind;
use serde::{Deserialize, Serialize};

use crate::{RunMeta, RunRows};

/// A CAN bus of a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BusMeta {
    /// Nominal `[bit/s]`.
    pub bit_rate: u64,
    /// In the data phase, if that is another `[bit/s]`.
    pub data_bit_rate: Option<u64>,
}

/// A group that comes to a key in a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct GroupMeta {
    /// Index into [`RunMeta::nodes`].
    pub orchestrator: u16,
    /// Indices into [`RunMeta::nodes`].
    pub members: Vec<u16>,
    /// Curve and signature.
    pub suite: String,
    /// The way to the key.
    pub scheme: String,
    /// `as-published` or `hardened`.
    pub profile: String,
    /// When it begins `[ns]`.
    pub start_ns: i64,
}

/// The use of a bus.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct BusSummary {
    /// Frames that reached all receivers.
    pub frames: u64,
    /// Attempts that an error ended.
    pub failed_attempts: u64,
    /// Times a frame lost against another and waited.
    pub lost_arbitrations: u64,
    /// Frames of key exchanges handed to the bus.
    pub key_frames: u64,
    /// Their data `[byte]`.
    pub key_bytes: u64,
    /// Share of the run in which the bus was used.
    pub load: f64,
    /// The same in the busiest window.
    pub load_max: f64,
    /// Length of a window `[ns]`.
    pub window_ns: i64,
    /// Time used in each window, from the start of the run `[ns]`.
    pub busy_by_window_ns: Vec<i64>,
}

/// The group key of a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct GroupSummary {
    /// Keys taken into use, in order.
    pub keys: Vec<KeySummary>,
    /// Exchanges that succeeded, as their parties told; each party and each listener tells.
    pub exchanges_done: u64,
    /// Exchanges given up, by reason.
    pub aborted: BTreeMap<String, u64>,
    /// Keys that did not come to be, by reason.
    pub refused: BTreeMap<String, u64>,
    /// Messages that were due and not sent, because there was no key to protect them with.
    pub withheld: u64,
}

/// One group key.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct KeySummary {
    /// Its epoch.
    pub epoch: u64,
    /// When each node took it into use `[ns]`, by index into [`RunMeta::nodes`].
    pub installed_ns: BTreeMap<u16, i64>,
}

impl KeySummary {
    /// When the last node had it `[ns]`.
    pub fn complete_ns(&self) -> i64 {
        self.installed_ns.values().copied().max().unwrap_or(0)
    }
}

impl GroupSummary {
    /// True if every member and the orchestrator took the first key into use.
    pub fn is_established(&self, group: &GroupMeta) -> bool {
        self.keys.first().is_some_and(|key| {
            group.members.iter().chain([&group.orchestrator]).all(|node| key.installed_ns.contains_key(node))
        })
    }

    /// From the start of the exchange to the last installation of the first key `[ns]`.
    pub fn established_after_ns(&self, group: &GroupMeta) -> Option<i64> {
        self.is_established(group).then(|| self.keys[0].complete_ns() - group.start_ns)
    }
}

pub(crate) fn bus(meta: &RunMeta, rows: &RunRows) -> Option<BusSummary> {
    let bus = rows.bus.as_ref()?;
    let share = |busy_ns: i64, of_ns: i64| busy_ns as f64 / of_ns.max(1) as f64;
    let window_ns = bus.window.as_ns();
    let busy_by_window_ns: Vec<i64> = bus.busy_by_window.iter().map(|busy| busy.as_ns()).collect();
    Some(BusSummary {
        frames: bus.frames,
        failed_attempts: bus.failed_attempts,
        lost_arbitrations: bus.lost_arbitrations,
        key_frames: bus.key_frames,
        key_bytes: bus.key_bytes,
        load: share(bus.busy.as_ns(), meta.duration_ns),
        load_max: busy_by_window_ns.iter().map(|busy_ns| share(*busy_ns, window_ns)).fold(0.0, f64::max),
        window_ns,
        busy_by_window_ns,
    })
}

pub(crate) fn group(meta: &RunMeta, rows: &RunRows) -> Option<GroupSummary> {
    meta.group.as_ref()?;
    let mut keys: BTreeMap<u64, KeySummary> = BTreeMap::new();
    let mut summary = GroupSummary {
        keys: Vec::new(),
        exchanges_done: 0,
        aborted: BTreeMap::new(),
        refused: BTreeMap::new(),
        withheld: 0,
    };
    for row in &rows.events {
        match row.event.kind {
            EventKind::KeyInstalled => {
                let epoch = row.event.sequence;
                let key = keys.entry(epoch).or_insert_with(|| KeySummary { epoch, installed_ns: BTreeMap::new() });
                key.installed_ns.entry(row.node.0).or_insert(row.time.since_zero().as_ns());
            }
            EventKind::ExchangeDone => summary.exchanges_done += 1,
            EventKind::ExchangeAborted(reason) => *summary.aborted.entry(reason.name().into()).or_default() += 1,
            EventKind::KeyRefused(reason) => *summary.refused.entry(reason.name().into()).or_default() += 1,
            EventKind::Withheld => summary.withheld += 1,
            _ => {}
        }
    }
    summary.keys = keys.into_values().collect();
    Some(summary)
}
