//! Attacks on an Ethernet segment.

use chronoseal_core::Duration;
use chronoseal_plan::{AttackPlace, EthernetHop, EthernetSegment, Sync, ThreatKind};

use super::spec::EthernetThreatSpec;
use super::{clock_threats, datagrams};
use crate::kinds::{Context, Place, ThreatParts, ThreatRequest};
use crate::limits::FRAME_LEN_MIN;
use crate::problem::Code;
use crate::shape::shortened;
use crate::spec::{PlaceSpec, ThreatKindSpec, ThreatSpec};

/// An attack, checked.
pub(super) fn resolve(request: &ThreatRequest<'_>, context: &mut Context<'_>) -> Option<ThreatParts> {
    let spec: EthernetThreatSpec = request.table.read(context)?;
    let segment: &EthernetSegment = request.segment.facet()?;
    let is_babbling = matches!(request.kind, ThreatKind::Babble(_) | ThreatKind::Flood(_));
    let is_of_all = is_babbling || matches!(request.kind, ThreatKind::Delay(..) | ThreatKind::OnClocks(_));
    if request.kind.target().is_none() && !is_of_all {
        context.report(
            Code::ThreatPlace,
            &request.at("kind"),
            format!("`{}` is no attack on an Ethernet segment", shortened(request.name)),
            "not possible there",
            "write `kind = \"spoof\"`, `\"tamper\"`, `\"replay\"`, `\"withhold\"`, `\"babble\"` or `\"flood\"`, or attack a segment of \
             another kind",
        );
        return None;
    }
    if let ThreatKind::OnClocks(threat) = request.kind {
        let every = clock_threats::resolve(request, segment, threat, context);
        return Some(ThreatParts { attacker: attacker(request), at_slot_offset: Duration::ZERO, every, facet: None });
    }
    if matches!(request.kind, ThreatKind::Tamper(_) | ThreatKind::Replay(_)) {
        datagrams::attacked(request, segment, context);
    }
    babbling(request, context);
    place(request, context);
    delay_box(request, context);
    babbling_on_stamped_link(request, segment, context);
    in_slot_by_clocks(request, segment, context);
    let cycle = segment.cluster_cycle;
    let at = request.table.at("at_slot_offset");
    let at_slot_offset = context.within(&at, "the offset in the slot", spec.at_slot_offset.0, -cycle, cycle);
    // A box in the way delays every frame that comes by.
    let is_box = matches!(request.kind, ThreatKind::Delay(None, _));
    let every = (is_babbling || is_box).then(|| line_rate(request, segment));
    Some(ThreatParts { attacker: attacker(request), at_slot_offset, every, facet: None })
}

/// Where messages of IEEE 802.1AS are stamped a node babbles in front of its stamps, and who sits on its wire does so behind them.
fn babbling_on_stamped_link(request: &ThreatRequest<'_>, segment: &EthernetSegment, context: &mut Context<'_>) {
    let AttackPlace::OnLink(_, node) = request.place else { return };
    if segment.sync != Sync::Gptp || !matches!(request.kind, ThreatKind::Babble(_)) {
        return;
    }
    let node = &request.nodes[node.index()].name;
    let sits_there = |threat: &ThreatSpec| {
        matches!(&threat.at, Some(PlaceSpec::Link(link)) if link == node)
            && !matches!(threat.kind, ThreatKindSpec::Babble)
    };
    if let Some(other) = context.spec().threats.iter().position(sits_there) {
        context.report_both(
            Code::NotYet,
            (&request.at("at"), "before the stamps"),
            (&Place::new("threats").entry(other).key("at"), "behind them"),
            format!(
                "what `{}` babbles leaves by its own port, where messages of IEEE 802.1AS are stamped, and an attacker on its wire sits \
                 behind that; both at once are not there yet",
                shortened(node)
            ),
            "write a scenario for each of the two",
        );
    }
}

/// From a port of its own an attack is placed in the slot of its stream. Where stations and switches make the time of slots themselves,
/// the attacker follows their clocks by what comes to its port.
fn in_slot_by_clocks(request: &ThreatRequest<'_>, segment: &EthernetSegment, context: &mut Context<'_>) {
    let Some(hop) = request.hop().and_then(|hop| hop.facet.get::<EthernetHop>()) else { return };
    let needs_slot = !matches!(request.kind, ThreatKind::Babble(_) | ThreatKind::Flood(_));
    let follows = matches!(segment.sync, Sync::As6802 | Sync::Gptp);
    let is_at_port = matches!(request.place, AttackPlace::OnSegment(_));
    if !(is_at_port && needs_slot && hop.class.is_time_triggered() && follows) {
        return;
    }
    let name = shortened(request.name);
    if segment.default_link().macsec.is_some() {
        context.report(
            Code::NotYet,
            &request.at("at"),
            format!(
                "`{name}` is placed in the slot of its stream, which is by the clocks of `{}`, and what keeps these together goes to its \
                 port with MACsec, which has no real bytes there yet",
                request.segment.name
            ),
            "hears no clock",
            "attack on the link of the sender, `at = { link = \"…\" }`, or leave `macsec` out",
        );
    }
    let forges = |threat: &ThreatSpec| {
        let is_here =
            threat.at.as_ref().is_none_or(|at| matches!(at, PlaceSpec::Segment(on) if on == request.segment.name));
        is_here && matches!(threat.kind, ThreatKindSpec::ForgedTime(_))
    };
    let forger = context.spec().threats.iter().position(forges);
    if let Some(forger) = forger.filter(|_| segment.sync == Sync::Gptp) {
        context.report_both(
            Code::NotYet,
            (&request.at("at"), "follows the grandmaster"),
            (&Place::new("threats").entry(forger).key("kind"), "claims to be one"),
            format!(
                "`{name}` follows the clocks of `{}` at its port, whose delay its bridge has measured then, so that what is forged there \
                 would be believed: one attacker that does both is not there yet",
                request.segment.name
            ),
            "write a scenario for each of the two",
        );
    }
}

/// A box that delays all frames is in the way of a node.
fn delay_box(request: &ThreatRequest<'_>, context: &mut Context<'_>) {
    if matches!(request.kind, ThreatKind::Delay(None, _)) && !matches!(request.place, AttackPlace::OnLink(..)) {
        context.report(
            Code::ThreatPlace,
            &request.at("kind"),
            format!("`{}` delays all frames of a node, and no node's frames pass there", shortened(request.name)),
            "delays frames on their way",
            "write `at = { link = \"…\" }` with the node whose frames are to come later",
        );
    }
}

/// The distance in which frames of the stream, or else the shortest ones, fill the attacker's link.
pub(super) fn line_rate(request: &ThreatRequest<'_>, segment: &EthernetSegment) -> Duration {
    let len = request.hop().map_or(FRAME_LEN_MIN, |hop| hop.frame_len + request.overhead());
    let time = match request.place {
        AttackPlace::OnLink(_, node) => segment.frame_time_on(node, len),
        AttackPlace::OnSegment(_) | AttackPlace::AtNode(_) => segment.frame_time(len),
    };
    time.max(Duration::from_ps(1))
}

/// Who sends at the rate of a link is a station of the segment, or comes with a port of its own.
fn babbling(request: &ThreatRequest<'_>, context: &mut Context<'_>) {
    let name = shortened(request.name);
    match (request.kind, request.place) {
        (ThreatKind::Babble(_), AttackPlace::OnSegment(_)) => context.report(
            Code::ThreatPlace,
            &request.at("kind"),
            format!("`{name}` babbles, which is what a node of the segment does at its own port"),
            "at no node",
            "write `at = { link = \"…\" }` with the node that babbles, or `kind = \"flood\"` for an attacker with a port of its own",
        ),
        (ThreatKind::Babble(None), AttackPlace::OnLink(_, node)) => {
            let node = &request.nodes[node.index()].name;
            if context.spec().streams.iter().all(|stream| stream.from != *node) {
                context.report(
                    Code::ThreatPlace,
                    &request.at("at"),
                    format!("node `{}` sends no stream, so no switch lets in what `{name}` babbles there", shortened(node)),
                    "sends nothing",
                    "name a node that sends a stream",
                );
            }
        }
        (ThreatKind::Flood(_), AttackPlace::OnLink(..)) => context.report(
            Code::ThreatPlace,
            &request.at("kind"),
            format!("`{name}` floods from a port of its own, and sits on a link"),
            "on a link",
            format!("write `at = {{ segment = \"{}\" }}`, or `kind = \"babble\"`", request.segment.name),
        ),
        _ => {}
    }
}

/// Whether an attacker can do there what it does.
fn place(request: &ThreatRequest<'_>, context: &mut Context<'_>) {
    let (Some(stream), Some(hop)) = (request.stream, request.hop()) else { return };
    let target = shortened(&stream.name);
    let sender = &request.nodes[hop.from.index()].name;
    let there = format!("write `at = {{ link = \"{sender}\" }}`");
    let is_best_effort = hop.facet.get().is_none_or(|hop: &EthernetHop| hop.class.ct_id().is_none());
    // What is flooded needs no slot.
    let needs_slot = !matches!(request.kind, ThreatKind::Babble(_) | ThreatKind::Flood(_));
    if matches!(request.place, AttackPlace::OnSegment(_)) && is_best_effort && needs_slot {
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
        ThreatKind::Delay(..) => {
            Some(("delays frames on their way", "a port of its own lets an attacker send, not delay what others send"))
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
        AttackPlace::OnLink(_, node) => format!("attacker-on-{}", request.nodes[node.index()].name),
        AttackPlace::AtNode(node) => format!("attacker-in-{}", request.nodes[node.index()].name),
    };
    if request.segment.is_only_one { name } else { format!("{name}-in-{}", request.segment.name) }
}
