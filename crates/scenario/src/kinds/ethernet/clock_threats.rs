//! Attacks on the clocks of an Ethernet segment: who can do what where.

use chronoseal_core::{Duration, NodeId};
use chronoseal_plan::{
    AttackPlace, ClockThreat, ClusterPlan, EthernetSegment, GrandmasterQuality, RogueGrandmaster, TimeAwarePlan,
};

use super::threats::line_rate;
use crate::kinds::{Context, ThreatRequest};
use crate::problem::Code;
use crate::shape::shortened;

/// Checks an attack. Gives the distance of its attempts, if it makes any.
pub(super) fn resolve(
    request: &ThreatRequest<'_>,
    segment: &EthernetSegment,
    threat: ClockThreat,
    context: &mut Context<'_>,
) -> Option<Duration> {
    let name = shortened(request.name);
    let (clocks, cluster) = (segment.time_aware.as_ref(), segment.cluster.as_ref());
    if clocks.is_none() && cluster.is_none() {
        context.report(
            Code::ThreatPlace,
            &request.at("kind"),
            format!(
                "`{name}` attacks clocks that a protocol keeps together, and those of `{}` follow the beacon of a switch, or are ideal",
                request.segment.name
            ),
            "no such clocks",
            "write `sync = { gptp = { … } }` or `sync = { as6802 = { … } }` for the segment, or attack another one",
        );
        return None;
    }
    match threat {
        ClockThreat::RogueGrandmaster(rogue) => {
            match clocks {
                Some(clocks) => rogue_grandmaster(request, clocks, rogue, context),
                None => no_grandmaster(request, context),
            }
            None
        }
        ClockThreat::ForgedTime { offset, of } => {
            let in_the_name_of = in_whose_name(request, of, context)?;
            cluster.into_iter().for_each(|cluster| of_cluster(request, cluster, (in_the_name_of, offset), context));
            let of_protocol = clocks.map_or(segment.integration_cycle, |clocks| clocks.sync_interval());
            // On a link it goes by the control frames that pass, else by itself.
            let goes_by_frames = cluster.is_some() && matches!(request.place, AttackPlace::OnLink(..));
            Some(if goes_by_frames { line_rate(request, segment) } else { of_protocol })
        }
        ClockThreat::AlteredTime { offset } => {
            let AttackPlace::OnLink(_, node) = request.place else {
                context.report(
                    Code::ThreatPlace,
                    &request.at("at"),
                    format!("`{name}` changes messages on their way, and none pass there"),
                    "not on a link",
                    "write `at = { link = \"…\" }` with the node whose messages it changes, or `kind = { forged_time = { … } }`",
                );
                return None;
            };
            cluster.into_iter().for_each(|cluster| of_cluster(request, cluster, (node, offset), context));
            Some(line_rate(request, segment))
        }
    }
}

fn no_grandmaster(request: &ThreatRequest<'_>, context: &mut Context<'_>) {
    context.report(
        Code::ThreatPlace,
        &request.at("kind"),
        format!(
            "`{}` is a grandmaster, and the clocks of `{}` have none: in SAE AS6802 the masters agree on the time",
            shortened(request.name),
            request.segment.name
        ),
        "has no grandmaster",
        "write `kind = { altered_time = { offset = \"…\" } }` on the link of a synchronisation master",
    );
}

/// Whether a node can be the grandmaster by what it claims.
fn rogue_grandmaster(
    request: &ThreatRequest<'_>,
    clocks: &TimeAwarePlan,
    rogue: RogueGrandmaster,
    context: &mut Context<'_>,
) {
    let name = shortened(request.name);
    let AttackPlace::AtNode(node) = request.place else {
        context.report(
            Code::ThreatPlace,
            &request.at("at"),
            format!("`{name}` is a node of the segment that claims to be the best clock"),
            "is no node",
            "write `at = { node = \"…\" }` with a node of the segment",
        );
        return;
    };
    let key = |quality: &GrandmasterQuality| (quality.priority1, quality.clock_class);
    let others = clocks.stations.iter().filter(|(other, _)| **other != node).map(|(_, quality)| quality);
    let best = others.chain(clocks.bridges.iter().map(|(quality, _)| quality)).map(key).min();
    let claimed = (rogue.priority1, rogue.clock_class);
    if let Some(best) = best.filter(|best| claimed >= *best || rogue.priority1 == 255) {
        context.report(
            Code::ThreatPlace,
            &request.at("kind"),
            format!(
                "`{name}` would claim a `priority1` of {} and a clock class of {}, and another system has {} and {}: nobody would follow \
                 it (IEEE 802.1AS-2020 §10.3.2)",
                claimed.0, claimed.1, best.0, best.1
            ),
            "not the best clock",
            format!("write a `priority1` below {}", best.0.max(1)),
        );
    }
}

/// In whose name messages are made up.
fn in_whose_name(request: &ThreatRequest<'_>, of: Option<NodeId>, context: &mut Context<'_>) -> Option<NodeId> {
    let name = shortened(request.name);
    match (request.place, of) {
        (AttackPlace::OnLink(_, node), None) => Some(node),
        (AttackPlace::OnSegment(on), Some(node)) => {
            let is_on_it = request.nodes[node.index()].interfaces.contains(&on);
            if !is_on_it {
                context.report(
                    Code::ThreatPlace,
                    &request.at("kind"),
                    format!(
                        "`{name}` would use the name of `{}`, which is not on `{}`",
                        shortened(&request.nodes[node.index()].name),
                        request.segment.name
                    ),
                    "is elsewhere",
                    "write `of` with a node of the segment",
                );
            }
            is_on_it.then_some(node)
        }
        (AttackPlace::OnLink(_, node), Some(_)) => {
            context.report(
                Code::ThreatPlace,
                &request.at("kind"),
                format!(
                    "`{name}` sits on the link of `{}`, where only messages in the name of that node can come from",
                    shortened(&request.nodes[node.index()].name)
                ),
                "another name",
                "leave `of` out, or attack from a port of its own: `at = { segment = \"…\" }`",
            );
            None
        }
        (AttackPlace::OnSegment(_), None) => {
            context.report(
                Code::MissingKey,
                &request.at("kind"),
                format!("`{name}` has a port of its own and does not say in whose name it makes up messages"),
                "`of` is missing",
                "add `of = \"…\"` with a node of the segment",
            );
            None
        }
        (AttackPlace::AtNode(_), _) => {
            context.report(
                Code::ThreatPlace,
                &request.at("at"),
                format!("`{name}` makes up messages of others, which is not done in a node"),
                "in a node",
                "write `at = { link = \"…\" }` or `at = { segment = \"…\" }`, or `kind = { rogue_grandmaster = { … } }`",
            );
            None
        }
    }
}

/// Control frames are sent by synchronisation masters, and say how old they are.
fn of_cluster(
    request: &ThreatRequest<'_>,
    cluster: &ClusterPlan,
    (node, offset): (NodeId, Duration),
    context: &mut Context<'_>,
) {
    let name = shortened(request.name);
    if !cluster.masters.contains(&node) {
        let known = cluster.masters.iter().map(|master| request.nodes[master.index()].name.as_str());
        let named = known.map(|name| format!("`{}`", shortened(name))).collect::<Vec<_>>().join(", ");
        context.report(
            Code::ThreatPlace,
            &request.at("kind"),
            format!(
                "`{}` is no synchronisation master: it sends no control frames, and `{name}` has none to work with",
                shortened(&request.nodes[node.index()].name)
            ),
            "no control frames",
            format!("name one of the masters: {named}"),
        );
    }
    if offset <= Duration::ZERO {
        context.report(
            Code::OutOfRange,
            &request.at("kind"),
            format!(
                "`{name}` moves a clock of SAE AS6802 by making a control frame older than it is, and no frame is younger than new: \
                 {offset} cannot be told"
            ),
            "not above 0s",
            "write an `offset` above 0s, or `kind = { delay = { by = \"…\" } }`, which makes clocks late",
        );
    }
}
