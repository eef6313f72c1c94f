//! Attackers of a plan on a radio channel.

use chronoseal_core::{Node, NodeId};
use chronoseal_plan::{Radio, RadioHop, ThreatKind};
use chronoseal_v2x::vss::Preset;
use chronoseal_v2x_fleet::attacker::{Attacker, AttackerConfig, AttackerKind};
use chronoseal_v2x_fleet::road::State;
use chronoseal_v2x_fleet::simulation::{Fleet, Messages, StationConfig, Trust};
use chronoseal_v2x_fleet::station::Mobility;

use crate::BuildError;

/// Attackers draw their chances behind all stations that a plan can have.
const ATTACKER_STREAMS: u64 = 1 << 20;

/// The node of an attacker.
pub(super) fn attacker(view: Radio<'_>, fleet: &Fleet, id: NodeId) -> Result<Box<dyn Node + Send>, BuildError> {
    let plan = view.plan;
    // Each attack on the air has an attacker of its own.
    let (number, threat) = (plan.threats.iter().enumerate())
        .find(|(_, threat)| plan.attacker_id(threat.attacker) == id)
        .ok_or(BuildError::UnknownNode(id))?;
    let (ThreatKind::Spoof(stream) | ThreatKind::Replay(stream)) = threat.kind else {
        return Err(BuildError::Attack(id));
    };
    let facet = view.streams().find(|(known, ..)| *known == stream).ok_or(BuildError::Attack(id))?.3;
    let message = facet.message;
    let kind = match threat.kind {
        ThreatKind::Replay(_) => AttackerKind::Replay(fleet.table().clone()),
        _ => {
            let place = super::attacker_position(view, id);
            let state = State {
                x_m: place.x_mm as f64 / 1_000.0,
                y_m: place.y_mm as f64 / 1_000.0,
                heading_deg: 90.0,
                ..State::default()
            };
            let impostor = StationConfig {
                number: ATTACKER_STREAMS + number as u64,
                mobility: Mobility::Straight(state),
                policy: Preset::None.into(),
                // It has certificates, and of nobody whom the stations trust.
                trust: Trust::Foreign,
                received_max: 0,
            };
            let RadioHop { perceives, road_user, .. } = *facet;
            let says = Messages { perceives, road_user, ..Messages::default() };
            AttackerKind::Spoof(Box::new(fleet.station(&impostor, &says)?))
        }
    };
    let (start, every, count) = (threat.start, threat.every, threat.count);
    Ok(Box::new(Attacker::new(AttackerConfig { kind, message, stream, start, every, count })))
}
