//! Attacks on an Ethernet segment.

use super::plan::{EthernetHop, EthernetSegment};
use super::spec::EthernetThreatSpec;
use crate::kinds::{Context, ThreatParts, ThreatRequest};
use crate::plan::{AttackPlace, ThreatKind};
use crate::problem::Code;
use crate::shape::shortened;

/// An attack, checked.
pub(super) fn resolve(request: &ThreatRequest<'_>, context: &mut Context<'_>) -> Option<ThreatParts> {
    let spec: EthernetThreatSpec = request.table.read(context)?;
    let segment: &EthernetSegment = request.segment.facet()?;
    if request.kind.target().is_none() {
        context.report(
            Code::ThreatPlace,
            &request.at("kind"),
            format!("`{}` is no attack on an Ethernet segment", shortened(request.name)),
            "not possible there",
            "write `kind = \"spoof\"`, `\"tamper\"`, `\"replay\"` or `\"withhold\"`, or attack a segment of another kind",
        );
        return None;
    }
    place(request, context);
    let cycle = segment.cluster_cycle;
    let at = request.table.at("at_slot_offset");
    let at_slot_offset = context.within(&at, "the offset in the slot", spec.at_slot_offset.0, -cycle, cycle);
    Some(ThreatParts { attacker: attacker(request), at_slot_offset, facet: None })
}

/// Whether an attacker can do there what it does.
fn place(request: &ThreatRequest<'_>, context: &mut Context<'_>) {
    let (Some(stream), Some(hop)) = (request.stream, request.hop()) else { return };
    let target = shortened(&stream.name);
    let sender = &request.nodes[hop.from.index()].name;
    let there = format!("write `at = {{ link = \"{sender}\" }}`");
    let is_best_effort = hop.facet.get().is_none_or(|hop: &EthernetHop| hop.class.ct_id().is_none());
    if matches!(request.place, AttackPlace::OnSegment(_)) && is_best_effort {
        context.report(
            Code::ThreatWithoutSlot,
            &request.at("stream"),
            format!(
                "stream `{target}` is best effort; from a port of its own an attack is placed in the slot of its stream"
            ),
            "has no slot",
            format!("{there}, or name a time-triggered or rate-constrained stream"),
        );
    }
    let on_the_way = match request.kind {
        ThreatKind::Tamper(_) => Some((
            "changes frames on their way",
            "a port of its own lets an attacker send, not change what others send",
        )),
        ThreatKind::Withhold(_) => {
            Some(("keeps frames back", "a port of its own lets an attacker send, not keep back what others send"))
        }
        _ => None,
    };
    match (request.place, on_the_way) {
        (AttackPlace::OnSegment(_), Some((label, message))) => context.report_both(
            Code::ThreatPlace,
            (&request.at("at"), "frames do not pass here"),
            (&request.at("kind"), label),
            message,
            format!("{there}, or a gateway that the stream passes"),
        ),
        (AttackPlace::OnLink(_, node), _) if node != hop.from => context.report_both(
            Code::ThreatPlace,
            (&request.at("at"), "not the sender's link"),
            (&request.at("stream"), &format!("is sent by `{sender}`")),
            format!(
                "stream `{target}` does not enter `{}` by the link of `{}`",
                request.segment.name,
                request.nodes[node.index()].name
            ),
            format!("{there}, or `at = {{ segment = \"{}\" }}`", request.segment.name),
        ),
        _ => {}
    }
}

/// The attacker's name: attackers at one place are one node.
fn attacker(request: &ThreatRequest<'_>) -> String {
    let name = match request.place {
        AttackPlace::OnSegment(_) => "attacker".to_owned(),
        AttackPlace::OnLink(_, node) | AttackPlace::AtNode(node) => {
            format!("attacker-on-{}", request.nodes[node.index()].name)
        }
    };
    if request.segment.is_only_one { name } else { format!("{name}-in-{}", request.segment.name) }
}
