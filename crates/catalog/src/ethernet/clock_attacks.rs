//! Attacks on the clocks of a segment, and boxes that delay all frames of a node.

use chronoseal_core::oscillator::RateDeviation;
use chronoseal_core::{Duration, NodeId, Oscillator, SimTime};
use chronoseal_nodes::attacker::{ClockAttack, ClockAttackKind, ForgedGrandmaster, ForgedMaster};
use chronoseal_nodes::time_aware::Rogue;
use chronoseal_plan::{AttackPlace, ClockThreat, Ethernet, ThreatKind, ThreatPlan, TimeAwarePlan};
use chronoseal_wire::gptp::{ClockQuality, SystemIdentity};
use chronoseal_wire::virtual_link;

/// An attack of an attacker at a place; `None` if it is one on a stream.
pub(super) fn of(view: Ethernet<'_>, threat: &ThreatPlan, place: AttackPlace) -> Option<ClockAttack> {
    let kind = match threat.kind {
        ThreatKind::Delay(None, by) => ClockAttackKind::Delay(by),
        ThreatKind::OnClocks(ClockThreat::AlteredTime { offset }) => ClockAttackKind::Alter(offset),
        ThreatKind::OnClocks(ClockThreat::ForgedTime { offset, of }) => forged(view, (offset, of), place)?,
        _ => return None,
    };
    Some(ClockAttack { kind, first: threat.start, every: threat.every, count: threat.count })
}

fn forged(view: Ethernet<'_>, (offset, of): (Duration, Option<NodeId>), place: AttackPlace) -> Option<ClockAttackKind> {
    let node = match (place, of) {
        (AttackPlace::OnLink(_, node), _) => node,
        (_, of) => of?,
    };
    let (network, source) = (view.segment, virtual_link::station_address(node));
    if let Some(clocks) = &network.time_aware {
        let quality = ClockQuality { class: 6, ..ClockQuality::default() };
        let system = SystemIdentity { priority1: 0, quality, priority2: 0, clock: TimeAwarePlan::clock_of(node) };
        let mut parameters = clocks.parameters;
        parameters.identity = system;
        return Some(ClockAttackKind::Claim(ForgedGrandmaster { parameters, source, offset }));
    }
    let cluster = network.cluster.as_ref()?;
    if matches!(place, AttackPlace::OnLink(..)) {
        return Some(ClockAttackKind::Precede(offset));
    }
    let master = cluster.masters.iter().position(|master| *master == node)?;
    let destination = virtual_link::critical_traffic_address(network.ct_marker, network.sync_id);
    let parameters = &cluster.parameters.cluster;
    Some(ClockAttackKind::Control(ForgedMaster {
        source,
        destination,
        membership: 1 << master,
        sync_priority: parameters.sync_priority,
        sync_domain: parameters.sync_domain,
        offset,
    }))
}

/// The node's own part in a claim to be a better grandmaster than it is.
pub(super) fn rogue(view: Ethernet<'_>, node: NodeId) -> Option<Rogue> {
    let plan = view.plan;
    let is_in_it =
        |threat: &&ThreatPlan| plan.attackers[usize::from(threat.attacker)].place == AttackPlace::AtNode(node);
    plan.threats.iter().filter(is_in_it).find_map(|threat| {
        let ThreatKind::OnClocks(ClockThreat::RogueGrandmaster(rogue)) = threat.kind else { return None };
        let clock = plan.nodes[node.index()].clock;
        Some(Rogue {
            from: Oscillator::new(clock.offset, clock.drift).local(SimTime::ZERO + threat.start),
            priority1: rogue.priority1,
            clock_class: rogue.clock_class,
            offset: rogue.offset,
            drift: RateDeviation::from_ppm(rogue.drift),
        })
    })
}
