//! What became of each attack.

use std::collections::BTreeMap;

use chronoseal_core::{AttackKind, EventKind, NodeId, SimTime, StoppedBy, StreamId};

use super::AttackSummary;
use crate::{EventRow, FrameRow, Outcome, RunMeta, ThreatMeta, ThreatenedMeta};

/// Attacks by kind, attacker and stream.
#[derive(Default)]
pub(crate) struct Attacked {
    found: BTreeMap<(AttackKind, NodeId, StreamId), AttackSummary>,
    /// Who claimed to be the best clock, and when last.
    rogues: BTreeMap<NodeId, SimTime>,
    /// When somebody took another node for its grandmaster, and which.
    grandmasters: Vec<(SimTime, NodeId)>,
}

impl Attacked {
    fn entry(
        &mut self,
        meta: &RunMeta,
        (attack, attacker, stream): (AttackKind, NodeId, StreamId),
    ) -> &mut AttackSummary {
        self.found.entry((attack, attacker, stream)).or_insert_with(|| {
            let is_made_up = matches!(attack, AttackKind::Spoof | AttackKind::Replay);
            let mut own = meta.threats.iter().filter(|threat| threat.attacker == attacker.0 && threat.stream.is_none());
            let named = own.next().map(|threat| threat.attack.clone());
            AttackSummary {
                // What makes up or repeats frames of no stream has a name of its own, as on the exchange of keys.
                attack: named
                    .filter(|_| stream == StreamId::NONE && is_made_up)
                    .unwrap_or_else(|| attack.name().into()),
                ..AttackSummary::none(meta, attacker, stream)
            }
        })
    }

    pub(crate) fn event(&mut self, meta: &RunMeta, row: &EventRow) {
        match row.event.kind {
            EventKind::Attacked(attack) => {
                self.entry(meta, (attack, row.node, row.event.stream)).attempts += 1;
                if attack == AttackKind::RogueGrandmaster {
                    self.rogues.insert(row.node, row.time);
                }
            }
            EventKind::GrandmasterChanged => {
                let other = u16::try_from(row.event.sequence).map(NodeId).ok().filter(|other| *other != row.node);
                self.grandmasters.extend(other.map(|other| (row.time, other)));
            }
            _ => {}
        }
    }

    pub(crate) fn frame(&mut self, meta: &RunMeta, row: &FrameRow) {
        let Some(attack) = row.attack else { return };
        let summary = self.entry(meta, (attack, row.sender, row.stream));
        *match row.outcome {
            Outcome::Delivered | Outcome::Late => &mut summary.accepted,
            Outcome::Missing | Outcome::Unaccounted => &mut summary.in_flight,
            Outcome::Discarded(reason) => match reason.stopped_by() {
                StoppedBy::Format => &mut summary.stopped_by_format,
                StoppedBy::Schedule => &mut summary.stopped_by_schedule,
                StoppedBy::Tag => &mut summary.stopped_by_tag,
                StoppedBy::Freshness => &mut summary.stopped_by_freshness,
                StoppedBy::Capacity => &mut summary.stopped_by_capacity,
            },
        } += 1;
    }

    pub(crate) fn finish(mut self, meta: &RunMeta) -> Vec<AttackSummary> {
        // Who takes a node for its grandmaster that claims to be the best clock has accepted that.
        for (time, rogue) in std::mem::take(&mut self.grandmasters) {
            if self.rogues.get(&rogue).is_some_and(|since| time >= *since) {
                self.entry(meta, (AttackKind::RogueGrandmaster, rogue, StreamId::NONE)).accepted += 1;
            }
        }
        let mut attacks: Vec<_> = self.found.into_values().collect();
        for attack in attacks.iter_mut().filter(|attack| attack.attempts == 0) {
            // A trace without events: every copy is all there is to count.
            attack.attempts = attack.stopped() + attack.in_flight + attack.accepted;
        }
        attacks.extend(never_made(meta, &attacks));
        attacks
    }
}

/// What attackers were to do and did not, not once.
fn never_made(meta: &RunMeta, made: &[AttackSummary]) -> Vec<AttackSummary> {
    let of_threat = |threat: &ThreatMeta| {
        let stream = threat.stream.map_or(StreamId::NONE, StreamId);
        let was_made = |attack: &AttackSummary| {
            let is_on = threat.stream.is_none() || attack.stream == meta.stream_name(stream.0);
            attack.attack == threat.attack && attack.attacker == meta.node_name(threat.attacker) && is_on
        };
        (!made.iter().any(was_made)).then(|| AttackSummary {
            attack: threat.attack.clone(),
            ..AttackSummary::none(meta, NodeId(threat.attacker), stream)
        })
    };
    let mut never: Vec<AttackSummary> = Vec::new();
    for attack in meta.threats.iter().filter_map(of_threat) {
        if !never.contains(&attack) {
            never.push(attack);
        }
    }
    never
}

impl AttackSummary {
    /// Nothing yet of what an attacker does to a stream.
    fn none(meta: &RunMeta, attacker: NodeId, stream: StreamId) -> Self {
        let target = meta.streams.get(stream.index());
        let mut own =
            meta.threats.iter().filter(|threat| (threat.attacker, threat.stream) == (attacker.0, Some(stream.0)));
        let there = own.next().and_then(|threat| threat.protection);
        // An attacker in a gateway, and any of an older record.
        let on_way = ThreatenedMeta {
            authenticated: target.is_some_and(|target| target.authenticated),
            replayable: target.is_none_or(|target| target.replayable),
            ..ThreatenedMeta::default()
        };
        let ThreatenedMeta { authenticated, replayable, guessed_bits, by_segment } = there.unwrap_or(on_way);
        Self {
            attack: String::new(),
            attacker: meta.node_name(attacker.0),
            stream: meta.stream_name(stream.0),
            authenticated,
            is_opened_on_way: there.is_none() && target.is_some_and(|target| target.is_opened_on_way),
            replayable,
            guessed_bits,
            by_segment,
            attempts: 0,
            stopped_by_format: 0,
            stopped_by_schedule: 0,
            stopped_by_tag: 0,
            stopped_by_freshness: 0,
            stopped_by_capacity: 0,
            in_flight: 0,
            accepted: 0,
        }
    }
}
