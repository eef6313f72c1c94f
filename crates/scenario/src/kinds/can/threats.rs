//! Attacks on a CAN segment.

use chronoseal_core::Duration;
use chronoseal_plan::{AttackPlace, ThreatKind};

use super::spec::CanThreatSpec;
use crate::kinds::{Context, ThreatParts, ThreatRequest};
use crate::problem::Code;
use crate::shape::shortened;

/// An attack, checked: each by a node of its own, which hears everything and can send anything.
pub(super) fn resolve(request: &ThreatRequest<'_>, context: &mut Context<'_>) -> Option<ThreatParts> {
    let CanThreatSpec {} = request.table.read(context)?;
    let name = shortened(request.name);
    let verb = match request.kind {
        ThreatKind::Tamper(_) => Some("change"),
        ThreatKind::Withhold(_) => Some("keep back"),
        _ => None,
    };
    if let Some(verb) = verb {
        context.report(
            Code::ThreatPlace,
            &request.at("kind"),
            format!("`{name}` would {verb} frames that all nodes of a bus receive at the same time"),
            "not possible on CAN",
            "write `kind = \"spoof\"` or `\"replay\"`, or attack in a gateway: `at = { node = \"…\" }`",
        );
    }
    let other = match request.kind {
        ThreatKind::Flood(_) | ThreatKind::Delay(..) | ThreatKind::OnClocks(_) => {
            Some(("kind", "does what only an Ethernet segment has links for"))
        }
        ThreatKind::Babble(Some(_)) => {
            Some(("stream", "babbles with a frame that wins every arbitration, of no stream"))
        }
        _ => None,
    };
    if let Some((key, what)) = other {
        context.report(
            Code::ThreatPlace,
            &request.at(key),
            format!("`{name}` {what}"),
            "not on CAN",
            "write `kind = \"babble\"` without a stream, or `\"spoof\"` or `\"replay\"` with one",
        );
    }
    if matches!(request.place, AttackPlace::OnLink(..)) {
        context.report(
            Code::ThreatPlace,
            &request.at("at"),
            format!("`{name}` sits on a link, and a bus has none"),
            "not possible on CAN",
            format!("write `at = {{ segment = \"{}\" }}`", request.segment.name),
        );
    }
    Some(ThreatParts { attacker: request.name.to_owned(), at_slot_offset: Duration::ZERO, every: None, facet: None })
}
