//! Nodes of the scenario on a radio segment, and when stations change their pseudonyms.

use std::collections::BTreeMap;

use chronoseal_core::{Angle, Duration, NodeId, Speed};
use chronoseal_media::radio::Position;
use chronoseal_v2x::vss::Spread;
use chronoseal_v2x_fleet::policy::Policy;
use chronoseal_v2x_fleet::road::State;
use chronoseal_v2x_fleet::simulation::{StationConfig, Trust};
use chronoseal_v2x_fleet::station::Mobility;

use super::spec::{PseudonymsSpec, RadioSegmentSpec, StationSpec, TrustSpec};
use crate::kinds::{Context, Place, SegmentRequest};
use crate::problem::Code;

/// Longest silence.
const SILENCE_MAX: Duration = Duration::from_s(3_600);
/// The policy that needs zones.
const MIX_ZONE: &str = "mix-zone";

/// The policies that stations of a segment can have.
pub(super) struct Policies {
    all: Vec<Policy>,
    has_zones: bool,
}

impl Policies {
    pub(super) fn of(request: &SegmentRequest<'_>, spec: &RadioSegmentSpec, context: &mut Context<'_>) -> Self {
        for (i, zone) in spec.mix_zones.iter().enumerate().filter(|(_, zone)| zone.radius.0.0 < 0) {
            context.report(
                Code::OutOfRange,
                &request.table.at("mix_zones").entry(i).key("radius"),
                format!("the radius is {}", zone.radius.0),
                "below zero",
                "write how far the zone reaches",
            );
        }
        let zones: Vec<[f64; 3]> =
            spec.mix_zones.iter().map(|zone| [zone.x.0.as_m(), zone.y.0.as_m(), zone.radius.0.as_m()]).collect();
        Self { has_zones: !zones.is_empty(), all: Policy::presets(&zones) }
    }

    /// The policy that is written at a place; none where it cannot be used.
    pub(super) fn policy(&self, at: Place<'_>, spec: &PseudonymsSpec, context: &mut Context<'_>) -> Policy {
        let names: Vec<&str> = self.all.iter().map(|policy| policy.name.as_str()).collect();
        let place = at.clone().key("policy");
        let found = context.find(&spec.policy, &names, &place, "policy", "policies").unwrap_or(0);
        let policy = self.all[found].clone();
        if spec.policy == MIX_ZONE && !self.has_zones {
            context.report(
                Code::MissingKey,
                &place,
                "stations with this policy say nothing in zones, and the segment has none",
                "needs a zone",
                "add `mix_zones = [{ x = \"1km\", y = \"0m\", radius = \"200m\" }]` to the segment",
            );
        }
        let Some(silence) = spec.silence else { return policy };
        let place = at.key("silence");
        let mut ms = |key, value: Duration| {
            let held = context.within(&place.clone().key(key), "the silence", value, Duration::ZERO, SILENCE_MAX);
            (held.as_ns() / 1_000_000).unsigned_abs()
        };
        let (min, max) = (ms("min", silence.min.0), ms("max", silence.max.0));
        if min > max {
            context.report(
                Code::OutOfRange,
                &place,
                format!("a silence of at least {} would be at most {}", silence.min.0, silence.max.0),
                "out of order",
                "write the shorter one as `min`",
            );
            return policy;
        }
        policy.with_silence(Spread::between(min, max))
    }
}

/// The stations of the scenario on a segment, by their nodes.
pub(super) fn resolve(
    request: &SegmentRequest<'_>,
    policies: &Policies,
    middle: Position,
    context: &mut Context<'_>,
) -> BTreeMap<NodeId, StationConfig> {
    let mut stations = BTreeMap::new();
    for (i, node) in request.nodes_on_it() {
        let Some(spec) = context.spec().nodes[i].station.clone() else {
            context.report(
                Code::MissingKey,
                &Place::new("nodes").entry(i),
                format!("node `{}` is on `{}`, a segment of kind `radio`, and is no station", node.name, request.name),
                "`station` is missing",
                "add `station = {}`",
            );
            continue;
        };
        let at = Place::new("nodes").entry(i).key("station");
        let config = StationConfig {
            number: i as u64,
            mobility: mobility(&at, &spec, middle, context),
            policy: policies.policy(at.clone().key("pseudonyms"), &spec.pseudonyms, context),
            trust: match spec.trust {
                TrustSpec::Default => Trust::Fleet,
                TrustSpec::Foreign => Trust::Foreign,
            },
            received_max: 0,
        };
        stations.insert(NodeId(i as u16), config);
    }
    stations
}

fn mobility(at: &Place<'_>, spec: &StationSpec, middle: Position, context: &mut Context<'_>) -> Mobility {
    let place = |key| at.clone().key(key);
    let speed =
        context.within(&place("speed"), "the station's speed", spec.speed.0, Speed(0), Speed(100 * 3_600_000)).as_m_s();
    let turn = Angle(360_000_000_000);
    let heading_deg =
        context.within(&place("heading"), "the station's direction", spec.heading.0, Angle(0), turn).as_deg();
    Mobility::Straight(State {
        x_m: spec.x.map_or(middle.x_mm as f64 / 1_000.0, |x| x.0.as_m()),
        y_m: spec.y.map_or(middle.y_mm as f64 / 1_000.0, |y| y.0.as_m()),
        speed_m_s: speed,
        heading_deg,
        ..State::default()
    })
}
