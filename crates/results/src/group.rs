//! What a run amounts to beside its frames: the key that a group comes to.

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_core::EventKind;
use serde::{Deserialize, Serialize};

use crate::RunMeta;
use crate::rows::EventRow;

/// A group that comes to a key in a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct GroupMeta {
    /// Index into [`RunMeta::nodes`].
    pub orchestrator: u16,
    /// Indices into [`RunMeta::nodes`], those that come in later included.
    pub members: Vec<u16>,
    /// Curve and signature.
    pub suite: String,
    /// The way to the key.
    pub scheme: String,
    /// `as-published` or `hardened`.
    pub profile: String,
    /// When it begins `[ns]`.
    pub start_ns: i64,
    /// Planned changes of the group, in time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ChangeMeta>,
}

/// A planned change of the group.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ChangeMeta {
    /// When it is asked for `[ns]`.
    pub at_ns: i64,
    /// Who is removed or comes in: index into [`RunMeta::nodes`].
    pub member: u16,
    /// Who else comes in with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<u16>,
    /// True if it comes in, back or for the first time.
    #[serde(rename = "returns")]
    pub admits: bool,
    /// True if it is removed for good.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub revokes: bool,
    /// True if it comes in for the first time.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub merges: bool,
}

impl ChangeMeta {
    /// Whom it concerns: indices into [`RunMeta::nodes`].
    pub fn members(&self) -> impl Iterator<Item = u16> {
        std::iter::once(self.member).chain(self.others.iter().copied())
    }
}

impl GroupMeta {
    /// The change with which a node comes in for the first time; `None` if it is in from the start, or never.
    pub fn merge_of(&self, node: u16) -> Option<&ChangeMeta> {
        self.changes.iter().find(|change| change.merges && change.members().any(|member| member == node))
    }

    /// The members that are in from the start.
    pub fn founders(&self) -> impl Iterator<Item = u16> {
        self.members.iter().copied().filter(|member| self.merge_of(*member).is_none())
    }
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
    /// What became of each planned change, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ChangeSummary>,
}

/// What became of a planned change of the group.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ChangeSummary {
    /// The epoch of the key that came of it; `None` if none did.
    pub epoch: Option<u64>,
    /// Why no key came of it, if the orchestrator said so before the end of the run.
    pub refused: Option<String>,
    /// Who was to take that key into use and did not: indices into [`RunMeta::nodes`].
    pub lacking: Vec<u16>,
    /// Of a removal: who still used a key that the removed member has, at the next change or at the end of the run.
    pub exposed: Vec<u16>,
    /// Of a removal: the removed member took the new key into use.
    pub kept_in: bool,
    /// Where somebody was to come in and the key that came of it is not everybody's: who went on with a key of before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holding: Vec<u16>,
}

impl ChangeSummary {
    /// True if everybody who was to has the new key, and nobody else.
    pub const fn held(&self) -> bool {
        self.epoch.is_some() && self.lacking.is_empty() && self.exposed.is_empty() && !self.kept_in
    }
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
    /// True if every member of the start and the orchestrator took the first key into use.
    pub fn is_established(&self, group: &GroupMeta) -> bool {
        self.keys.first().is_some_and(|key| {
            group.founders().chain([group.orchestrator]).all(|node| key.installed_ns.contains_key(&node))
        })
    }

    /// True if every planned change came about.
    pub fn changes_held(&self) -> bool {
        self.changes.iter().all(ChangeSummary::held)
    }

    /// From the start of the exchange to the last installation of the first key `[ns]`.
    pub fn established_after_ns(&self, group: &GroupMeta) -> Option<i64> {
        self.is_established(group).then(|| self.keys[0].complete_ns() - group.start_ns)
    }
}

/// What the group's members told of keys and exchanges.
#[derive(Default)]
pub(crate) struct Changes {
    /// What happened to keys.
    keys: Vec<EventRow>,
    exchanges_done: u64,
    aborted: BTreeMap<String, u64>,
    withheld: u64,
}

impl Changes {
    /// Takes in an event.
    pub(crate) fn event(&mut self, row: &EventRow) {
        match row.event.kind {
            EventKind::KeyInstalled | EventKind::KeyRefused(_) | EventKind::KeyWithdrawn => self.keys.push(*row),
            EventKind::ExchangeDone => self.exchanges_done += 1,
            EventKind::ExchangeAborted(reason) => *self.aborted.entry(reason.name().into()).or_default() += 1,
            EventKind::Withheld => self.withheld += 1,
            _ => {}
        }
    }
}

pub(crate) fn group(meta: &RunMeta, told: Changes) -> Option<GroupSummary> {
    let group = meta.group.as_ref()?;
    let mut keys: BTreeMap<u64, KeySummary> = BTreeMap::new();
    let mut refused: BTreeMap<String, u64> = BTreeMap::new();
    for row in &told.keys {
        match row.event.kind {
            EventKind::KeyInstalled => {
                let epoch = row.event.sequence;
                let key = keys.entry(epoch).or_insert_with(|| KeySummary { epoch, installed_ns: BTreeMap::new() });
                key.installed_ns.entry(row.node.0).or_insert(row.time.since_zero().as_ns());
            }
            EventKind::KeyRefused(reason) => *refused.entry(reason.name().into()).or_default() += 1,
            _ => {}
        }
    }
    Some(GroupSummary {
        keys: keys.into_values().collect(),
        exchanges_done: told.exchanges_done,
        aborted: told.aborted,
        refused,
        withheld: told.withheld,
        changes: judge(group, &told.keys),
    })
}

/// How an operation of the orchestrator ended.
#[derive(Clone, Copy)]
enum Ending {
    Installed(u64),
    Refused(&'static str),
}

/// What became of each planned change. The orchestrator does one thing after the other, and each ends with a key in use or
/// with none: the first key, then the changes.
fn judge(group: &GroupMeta, rows: &[EventRow]) -> Vec<ChangeSummary> {
    let mut events: Vec<_> = rows.iter().map(|row| (row.time.since_zero().as_ns(), row)).collect();
    events.sort_by_key(|(time, _)| *time);
    let ending = |row: &EventRow| match row.event.kind {
        EventKind::KeyInstalled => Some(Ending::Installed(row.event.sequence)),
        EventKind::KeyRefused(reason) => Some(Ending::Refused(reason.name())),
        _ => None,
    };
    let of_orchestrator = events.iter().filter(|(_, row)| row.node.0 == group.orchestrator);
    let endings: Vec<_> = of_orchestrator.filter_map(|(time, row)| Some((*time, ending(row)?))).collect();
    // The keys a node has taken into use until then.
    let keys_of = |node: u16, until: i64| {
        let is_its = move |entry: &&(i64, &EventRow)| {
            entry.0 < until && entry.1.node.0 == node && entry.1.event.kind == EventKind::KeyInstalled
        };
        events.iter().filter(is_its).map(|(_, row)| row.event.sequence)
    };
    let mut present: BTreeSet<u16> = group.founders().collect();
    let judged = group.changes.iter().enumerate().map(|(number, change)| {
        if change.admits {
            present.extend(change.members());
        } else {
            present.remove(&change.member);
        }
        let until = endings.get(number + 2).map_or(i64::MAX, |(time, _)| *time);
        let (epoch, refused) = match endings.get(number + 1) {
            Some((_, Ending::Installed(epoch))) => (Some(*epoch), None),
            Some((_, Ending::Refused(reason))) => (None, Some((*reason).to_owned())),
            None => (None, None),
        };
        let everybody = || std::iter::once(group.orchestrator).chain(present.iter().copied());
        let has_it = |node: u16| epoch.is_some_and(|epoch| keys_of(node, i64::MAX).any(|key| key == epoch));
        // The key a node had in use when the next change ended.
        let last_of = |node: u16| {
            let gave_up = |entry: &&(i64, &EventRow)| {
                entry.0 < until && entry.1.node.0 == node && entry.1.event.kind == EventKind::KeyWithdrawn
            };
            let given_up = events.iter().rfind(gave_up).map(|(_, row)| row.event.sequence);
            keys_of(node, until).next_back().filter(|last| given_up != Some(*last))
        };
        let uses_its =
            |node: &u16| last_of(*node).is_some_and(|last| keys_of(change.member, until).any(|key| key == last));
        let is_left = |node: &u16| !has_it(*node) && last_of(*node).is_some();
        ChangeSummary {
            epoch,
            refused,
            lacking: everybody().filter(|node| !has_it(*node)).collect(),
            exposed: everybody().filter(|node| !change.admits && uses_its(node)).collect(),
            kept_in: !change.admits && has_it(change.member),
            holding: everybody().filter(|node| change.admits && is_left(node)).collect(),
        }
    });
    judged.collect()
}

#[cfg(test)]
mod tests {
    use chronoseal_core::{AbortReason, Event, NodeId, SimTime, StreamId};

    use super::*;

    fn change(at_ns: i64, member: u16, admits: bool) -> ChangeMeta {
        ChangeMeta { at_ns, member, others: Vec::new(), admits, revokes: false, merges: false }
    }

    /// Orchestrator 0 with members 1 to 3, of whom 3 is removed and taken back.
    fn group() -> GroupMeta {
        GroupMeta {
            orchestrator: 0,
            members: vec![1, 2, 3],
            suite: String::new(),
            scheme: String::new(),
            profile: String::new(),
            start_ns: 0,
            changes: vec![change(1000, 3, false), change(2000, 3, true)],
        }
    }

    /// Who takes which key into use when, and of what the orchestrator makes no key.
    fn rows(installed: &[(i64, u16, u64)], refused: &[(i64, AbortReason)]) -> Vec<EventRow> {
        let row = |time: i64, node: u16, kind: EventKind, sequence: u64| EventRow {
            time: SimTime::ZERO + chronoseal_core::Duration::from_ns(time),
            node: NodeId(node),
            event: Event::of(kind, StreamId::NONE, sequence),
        };
        let keys = installed.iter().map(|(time, node, epoch)| row(*time, *node, EventKind::KeyInstalled, *epoch));
        let refusals = refused.iter().map(|(time, reason)| row(*time, 0, EventKind::KeyRefused(*reason), 0));
        keys.chain(refusals).collect()
    }

    const FIRST: [(i64, u16, u64); 4] = [(10, 0, 1), (11, 1, 1), (11, 2, 1), (11, 3, 1)];

    #[test]
    fn a_change_holds_when_everybody_who_should_has_the_key_and_nobody_else() {
        let second = [(1010, 0, 2), (1011, 1, 2), (1011, 2, 2)];
        let third = [(2010, 0, 3), (2011, 1, 3), (2012, 2, 3), (2013, 3, 3)];
        let all = [&FIRST[..], &second, &third].concat();
        let changes = judge(&group(), &rows(&all, &[]));
        assert!(changes.iter().all(ChangeSummary::held), "{changes:?}");
        assert_eq!([changes[0].epoch, changes[1].epoch], [Some(2), Some(3)]);
        // One that should does not.
        let changes = judge(&group(), &rows(&[&all[..5], &all[6..]].concat(), &[]));
        assert_eq!((&changes[0].lacking[..], &changes[0].exposed[..], changes[0].held()), (&[1][..], &[1][..], false));
        assert!(changes[1].held());
        // One that should not does.
        let changes = judge(&group(), &rows(&[&all[..], &[(1012, 3, 2)]].concat(), &[]));
        assert!(changes[0].kept_in && !changes[0].held());
    }

    #[test]
    fn a_refused_removal_leaves_all_exposed_until_there_is_a_new_key() {
        let third = [(2010, 0, 3), (2011, 1, 3), (2012, 2, 3), (2013, 3, 3)];
        let rows = rows(&[&FIRST[..], &third].concat(), &[(1500, AbortReason::ReadyMissing)]);
        let changes = judge(&group(), &rows);
        assert_eq!(changes[0].refused.as_deref(), Some("ready-missing"));
        assert_eq!((&changes[0].lacking[..], &changes[0].exposed[..]), (&[0, 1, 2][..], &[0, 1, 2][..]));
        assert!(!changes[0].held() && changes[1].held());
    }

    #[test]
    fn who_has_given_the_key_in_use_up_is_not_exposed_and_who_has_not_is() {
        let withdrawn = |time: i64, node: u16| EventRow {
            time: SimTime::ZERO + chronoseal_core::Duration::from_ns(time),
            node: NodeId(node),
            event: Event::of(EventKind::KeyWithdrawn, StreamId::NONE, 1),
        };
        let third = [(2010, 0, 3), (2011, 1, 3), (2012, 2, 3), (2013, 3, 3)];
        let mut rows = rows(&[&FIRST[..], &third].concat(), &[(1500, AbortReason::ReadyMissing)]);
        rows.extend([withdrawn(1501, 0), withdrawn(1502, 1)]);
        assert_eq!(judge(&group(), &rows)[0].exposed, [2]);
        // Too late: the next change has ended before.
        rows.push(withdrawn(2020, 2));
        assert_eq!(judge(&group(), &rows)[0].exposed, [2]);
        rows.push(withdrawn(1503, 2));
        assert!(judge(&group(), &rows)[0].exposed.is_empty());
    }

    #[test]
    fn what_had_not_ended_does_not_hold() {
        let changes = judge(&group(), &rows(&FIRST, &[]));
        assert!(changes.iter().all(|change| change.epoch.is_none() && change.refused.is_none() && !change.held()));
        // Who returns has nothing to lose.
        assert_eq!((changes[0].exposed.len(), changes[1].exposed.len()), (3, 0));
        assert_eq!((&changes[0].holding[..], &changes[1].holding[..]), (&[][..], &[0, 1, 2, 3][..]));
    }

    /// Members 2 and 3 come in together after the first key.
    #[test]
    fn who_comes_in_later_is_waited_for_from_then_on_and_who_goes_on_without_it_is_named() {
        let mut merging = group();
        merging.changes = vec![ChangeMeta { others: vec![3], merges: true, ..change(1000, 2, true) }];
        assert_eq!(merging.founders().collect::<Vec<_>>(), [1]);
        let first = [(10, 0, 1), (11, 1, 1)];
        let second = [(1010, 0, 2), (1011, 1, 2), (1012, 2, 2), (1013, 3, 2)];
        let held = judge(&merging, &rows(&[&first[..], &second].concat(), &[]));
        assert!(held[0].held() && held[0].holding.is_empty(), "{held:?}");
        // One of the two never has it, and a member of the start keeps the old one.
        let half = judge(&merging, &rows(&[&first[..], &[second[0], second[2]]].concat(), &[]));
        assert_eq!((&half[0].lacking[..], &half[0].holding[..], half[0].held()), (&[1, 3][..], &[1][..], false));
        // It comes to nothing, and the group goes on as it was.
        let refused = judge(&merging, &rows(&first, &[(1500, AbortReason::ReadyMissing)]));
        assert_eq!((&refused[0].holding[..], refused[0].held()), (&[0, 1][..], false));
        assert_eq!(refused[0].refused.as_deref(), Some("ready-missing"));
    }
}
