//! What became of each attack.

use std::collections::BTreeMap;

use chronoseal_core::{AttackKind, EventKind, NodeId, SimTime, StoppedBy, StreamId};

use super::AttackSummary;
use crate::{EventRow, Outcome, RunMeta, RunRows};

pub(super) fn attacks(meta: &RunMeta, rows: &RunRows) -> Vec<AttackSummary> {
    let mut found: BTreeMap<(AttackKind, NodeId, StreamId), AttackSummary> = BTreeMap::new();
    let mut entry = |attack: AttackKind, attacker: NodeId, stream: StreamId, add: &dyn Fn(&mut AttackSummary)| {
        let target = meta.streams.get(stream.index());
        add(found.entry((attack, attacker, stream)).or_insert_with(|| AttackSummary {
            attack: attack.name().into(),
            attacker: meta.node_name(attacker.0),
            stream: meta.stream_name(stream.0),
            authenticated: target.is_some_and(|target| target.authenticated),
            is_opened_on_way: target.is_some_and(|target| target.is_opened_on_way),
            replayable: target.is_none_or(|target| target.replayable),
            attempts: 0,
            stopped_by_format: 0,
            stopped_by_schedule: 0,
            stopped_by_tag: 0,
            stopped_by_freshness: 0,
            stopped_by_capacity: 0,
            unaccounted: 0,
            accepted: 0,
        }));
    };
    for row in &rows.events {
        if let EventKind::Attacked(attack) = row.event.kind {
            entry(attack, row.node, row.event.stream, &|summary| summary.attempts += 1);
        }
    }
    for row in &rows.frames {
        let Some(attack) = row.attack else { continue };
        entry(attack, row.sender, row.stream, &|summary| match row.outcome {
            Outcome::Delivered | Outcome::Late => summary.accepted += 1,
            Outcome::Missing | Outcome::Unaccounted => summary.unaccounted += 1,
            Outcome::Discarded(reason) => {
                *match reason.stopped_by() {
                    StoppedBy::Format => &mut summary.stopped_by_format,
                    StoppedBy::Schedule => &mut summary.stopped_by_schedule,
                    StoppedBy::Tag => &mut summary.stopped_by_tag,
                    StoppedBy::Freshness => &mut summary.stopped_by_freshness,
                    StoppedBy::Capacity => &mut summary.stopped_by_capacity,
                } += 1;
            }
        });
    }
    // Who takes a node for its grandmaster that claims to be the best clock has accepted that.
    let claims = |row: &&EventRow| row.event.kind == EventKind::Attacked(AttackKind::RogueGrandmaster);
    let rogues: BTreeMap<NodeId, SimTime> = rows.events.iter().filter(claims).map(|row| (row.node, row.time)).collect();
    for row in rows.events.iter().filter(|row| row.event.kind == EventKind::GrandmasterChanged) {
        let rogue = u16::try_from(row.event.sequence).map(NodeId).ok().filter(|rogue| *rogue != row.node);
        let since = rogue.and_then(|rogue| Some((rogue, *rogues.get(&rogue)?)));
        if let Some((rogue, _)) = since.filter(|(_, since)| row.time >= *since) {
            entry(AttackKind::RogueGrandmaster, rogue, StreamId::NONE, &|summary| summary.accepted += 1);
        }
    }
    let mut attacks: Vec<_> = found.into_values().collect();
    for attack in attacks.iter_mut().filter(|attack| attack.attempts == 0) {
        // A trace without events: every copy is all there is to count.
        attack.attempts = attack.stopped() + attack.unaccounted + attack.accepted;
    }
    attacks
}
