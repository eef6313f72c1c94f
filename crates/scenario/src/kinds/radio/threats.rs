//! Attacks on a radio segment.

use chronoseal_core::Duration;
use chronoseal_media::radio::Position;
use chronoseal_plan::{AttackPlace, AttackerPlace, Facet, RadioSegment, ThreatKind};

use super::spec::RadioThreatSpec;
use crate::kinds::{Context, ThreatParts, ThreatRequest};
use crate::problem::Code;
use crate::shape::shortened;

/// An attack, checked: each by a node of its own, which hears what is in its reach.
pub(super) fn resolve(request: &ThreatRequest<'_>, context: &mut Context<'_>) -> Option<ThreatParts> {
    let spec: RadioThreatSpec = request.table.read(context)?;
    let radio: &RadioSegment = request.segment.facet()?;
    let name = shortened(request.name);
    if !matches!(request.kind, ThreatKind::Spoof(_) | ThreatKind::Replay(_)) {
        context.report(
            Code::ThreatPlace,
            &request.at("kind"),
            format!("`{name}` would need more of the air than to hear and to send"),
            "not possible on radio",
            "write `kind = \"spoof\"` or `\"replay\"`",
        );
    }
    if matches!(request.place, AttackPlace::OnLink(..)) {
        context.report(
            Code::ThreatPlace,
            &request.at("at"),
            format!("`{name}` sits on a link, and a radio channel has none"),
            "not possible on radio",
            format!("write `at = {{ segment = \"{}\" }}`", request.segment.name),
        );
    }
    let place = AttackerPlace(Position {
        x_mm: spec.x.map_or(radio.middle.x_mm, |x| x.0.0),
        y_mm: spec.y.map_or(radio.middle.y_mm, |y| y.0.0),
    });
    Some(ThreatParts {
        attacker: request.name.to_owned(),
        at_slot_offset: Duration::ZERO,
        every: None,
        facet: Some(Facet::new(place)),
    })
}
