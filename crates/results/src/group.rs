//! What a run amounts to beside its frames: the key that a group comes to.

use std::collections::BTreeMap;

use chronoseal_core::EventKind;
use serde::{Deserialize, Serialize};

use crate::{RunMeta, RunRows};

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
