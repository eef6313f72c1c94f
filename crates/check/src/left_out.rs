//! What the figures on paper leave out: attacks that nothing in them counts, and what comes by radio.

use chronoseal_core::NodeId;
use chronoseal_plan::{ClockThreat, Ethernet, Plan, SegmentId, ThreatKind, ThreatPlan};
use schemars::JsonSchema;
use serde::Serialize;

/// Something of a scenario that is not checked on paper.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct LeftOut {
    /// `attack`, `radio`, `middleware`, `recording` or `clocks`.
    pub(crate) kind: &'static str,
    /// As the scenario calls it.
    pub(crate) name: String,
    /// What is not checked, as it follows "not checked:".
    pub(crate) text: String,
}

/// The attacks of a plan that its bounds do not count, each with the segments on which it can be felt.
pub(crate) fn attacks(plan: &Plan) -> Vec<(LeftOut, Vec<SegmentId>)> {
    let open = plan.threats.iter().filter(|threat| !is_counted(plan, threat));
    let left_out = |threat: &ThreatPlan| {
        let by = plan.attackers.get(usize::from(threat.attacker)).map_or("", |attacker| attacker.name.as_str());
        let target = match threat.kind.target() {
            Some(stream) => format!("to `{}`", plan.streams[stream.index()].name),
            None => format!("to {}", aim(threat.kind)),
        };
        let text = format!("what `{}` by `{by}` ({}) does {target}", threat.name, threat.kind.name());
        (LeftOut { kind: "attack", name: threat.name.clone(), text }, felt_on(plan, threat))
    };
    open.map(left_out).collect()
}

const fn aim(kind: ThreatKind) -> &'static str {
    match kind {
        ThreatKind::OnExchange(_) => "the exchange of keys",
        ThreatKind::OnClocks(ClockThreat::RogueGrandmaster(_)) => "the choice of a grandmaster",
        ThreatKind::OnClocks(_) => "the clocks",
        _ => "all that is sent there",
    }
}

/// True for what the bounds of an Ethernet count: stations that babble, floods, and boxes that delay.
fn is_counted(plan: &Plan, threat: &ThreatPlan) -> bool {
    let place = plan.attackers.get(usize::from(threat.attacker)).and_then(|attacker| attacker.place.segment());
    let is_on_ethernet = place.is_some_and(|segment| Ethernet::of(plan, segment).is_some());
    is_on_ethernet && matches!(threat.kind, ThreatKind::Babble(_) | ThreatKind::Flood(_) | ThreatKind::Delay(..))
}

/// The segments that an attack reaches: those of the attacker and of its target, and all that gateways join to them.
fn felt_on(plan: &Plan, threat: &ThreatPlan) -> Vec<SegmentId> {
    let attacker = plan.attackers.get(usize::from(threat.attacker)).map(|attacker| attacker.place);
    let mut reached: Vec<SegmentId> = attacker.and_then(|place| place.segment()).into_iter().collect();
    if let Some(chronoseal_plan::AttackPlace::AtNode(node)) = attacker {
        reached.extend(interfaces(plan, node));
    }
    let target = threat.kind.target().map(|stream| &plan.streams[stream.index()]);
    reached.extend(target.into_iter().flat_map(|stream| stream.hops.iter().map(|hop| hop.segment)));
    reached.dedup();
    let mut next = 0;
    while let Some(segment) = reached.get(next).copied() {
        next += 1;
        for node in plan.nodes.iter().filter(|node| node.interfaces.contains(&segment)) {
            for other in &node.interfaces {
                if !reached.contains(other) {
                    reached.push(*other);
                }
            }
        }
    }
    reached
}

fn interfaces(plan: &Plan, node: NodeId) -> &[SegmentId] {
    plan.nodes.get(node.index()).map_or(&[], |node| &node.interfaces)
}
