//! Radio: the channel, ITS stations, vehicles of the road and attackers.

mod attack;
mod describe;

use std::sync::Arc;

use chronoseal_analysis::Infeasible;
use chronoseal_core::{Node, NodeId};
use chronoseal_media::medium::{Attachment, Medium};
use chronoseal_media::radio::{Position, RadioChannel};
use chronoseal_nodes::gateway::Stack;
use chronoseal_plan::{AttackerPlace, Facet, HopPlan, Plan, RADIO, Radio, RadioSegment, SegmentId};
use chronoseal_v2x_fleet::policy::Policy;
use chronoseal_v2x_fleet::simulation::{Fleet, FleetConfig, FleetError, Place, Post, Rider, StationConfig};
use chronoseal_v2x_fleet::station::{CHANGE_ACCORD, HANDED_MAX, HandedOn, Maker, StationStack};

use crate::{BuildError, BuildOptions, Describe, Kind, LiveHome, LiveLink, OwnProtection, Prepared};

/// LINKTYPE_ETHERNET: what is captured are the frames that nodes hand over.
const LINK_TYPE: u16 = 1;
/// The protection that frames of a segment have by themselves.
const SIGNED: &str = "ieee-1609.2";

/// Most stations, attackers and receivers of a segment in a live run.
const LIVE_STATIONS_MAX: usize = 200;

/// The row of radio.
#[derive(Clone, Copy, Debug)]
pub struct RadioKind;

/// What stations of a segment share, or why they cannot be made.
#[derive(Clone, Debug)]
struct Shared(Result<Fleet, FleetError>);

/// A segment of this kind.
fn view_of<'p>(prepared: &Prepared<'p>, segment: SegmentId) -> Radio<'p> {
    Radio::of(prepared.plan(), segment).expect("a row is asked for segments of its own kind")
}

/// What makes the stations of a segment and their channel.
///
/// # Errors
/// [`BuildError`] if the segment contradicts itself, or there are no certificates.
///
/// # Panics
/// If the segment is not of this kind.
pub fn fleet<'a>(prepared: &'a Prepared<'_>, segment: SegmentId) -> Result<&'a Fleet, BuildError> {
    let shared: &Shared = prepared.facet(segment).expect("a row prepares segments of its own kind");
    shared.0.as_ref().map_err(|error| error.clone().into())
}

/// The channel of a segment. What no plan knows on it stands in the middle of the road.
///
/// # Errors
/// [`BuildError`] if the channel contradicts itself.
///
/// # Panics
/// If the segment is not of this kind.
pub fn channel(prepared: &Prepared<'_>, segment: SegmentId, guests: &[Attachment]) -> Result<RadioChannel, BuildError> {
    let view = view_of(prepared, segment);
    // Chances of the air go by the place in this list: vehicles and posts, nodes of the scenario, attackers, guests.
    let first = view.first_vehicle();
    let brought = view.plan.segments[segment.index()].brought.clone().map(NodeId);
    let written = (0..first.0).map(NodeId);
    let attackers = (0..view.plan.attackers.len() as u16).map(|number| view.plan.attacker_id(number));
    let mut places = Vec::new();
    for node in brought.chain(written).chain(attackers) {
        let Some(attachment) = prepared.attachment(node, segment) else { continue };
        let rider = view.rider(node).unwrap_or_else(|| Rider::Post(attacker_position(view, node)));
        places.push(Place { attachment, rider });
    }
    let guest = |attachment: &Attachment| Place { attachment: *attachment, rider: Rider::Post(view.segment.middle) };
    places.extend(guests.iter().map(guest));
    Ok(fleet(prepared, segment)?.channel(places)?)
}

/// Where an attacker stands.
fn attacker_position(view: Radio<'_>, node: NodeId) -> Position {
    let threat = view.plan.threats.iter().find(|threat| view.plan.attacker_id(threat.attacker) == node);
    let place = threat.and_then(|threat| threat.facet.as_ref()?.get::<AttackerPlace>());
    place.map_or(view.segment.middle, |place| place.0)
}

impl Kind for RadioKind {
    fn name(&self) -> &'static str {
        RADIO
    }

    fn prepare(&self, plan: &Plan, segment: SegmentId) -> Result<Facet, Box<Infeasible>> {
        // The channel needs no table. What its stations share is made once for all of them; that it cannot be made is told
        // when the segment is built.
        let view = Radio::of(plan, segment).expect("a row is asked for segments of its own kind");
        // Each segment has chances of its own; the first one's are those of a plan with one segment.
        let seed = plan.seed.wrapping_add(u64::from(segment.0) << 48);
        let fleet = &view.segment.fleet;
        // What is never sent is permitted to nobody, so that tickets are no longer than they have to be.
        let permits = view.permits();
        let fleet = match fleet.seed == seed && fleet.permits == permits {
            true => Arc::clone(fleet),
            false => Arc::new(FleetConfig { seed, permits, ..FleetConfig::clone(fleet) }),
        };
        Ok(Facet::new(Shared(Fleet::new(fleet))))
    }

    fn medium(
        &self,
        prepared: &Prepared<'_>,
        segment: SegmentId,
        guests: &[Attachment],
    ) -> Result<Box<dyn Medium + Send>, BuildError> {
        Ok(Box::new(channel(prepared, segment, guests)?))
    }

    fn station(
        &self,
        prepared: &Prepared<'_>,
        segment: SegmentId,
        node: NodeId,
        _: BuildOptions,
    ) -> Result<Box<dyn Node + Send>, BuildError> {
        let (view, fleet) = (view_of(prepared, segment), fleet(prepared, segment)?);
        let messages = view.messages(node);
        Ok(match (view.segment.stations.get(&node), view.rider(node)) {
            (Some(station), _) => Box::new(fleet.station(station, &messages)?),
            (None, Some(Rider::Vehicle(index))) => Box::new(fleet.vehicle(index, &messages)?),
            (None, Some(_)) => Box::new(Post::default()),
            (None, None) => return Err(BuildError::UnknownNode(node)),
        })
    }

    fn stack(
        &self,
        prepared: &Prepared<'_>,
        segment: SegmentId,
        node: NodeId,
        _: BuildOptions,
    ) -> Result<Box<dyn Stack + Send>, BuildError> {
        let (view, fleet) = (view_of(prepared, segment), fleet(prepared, segment)?.clone());
        let station = view.segment.stations.get(&node).ok_or(BuildError::UnknownNode(node))?;
        let hands_on = view.streams().filter(|(_, stream, hop, _)| stream.goes_on(hop, node));
        let hands_on = hands_on.map(|(stream, plan, _, _)| HandedOn {
            stream,
            len: plan.length as usize,
            delivers: plan.receivers.contains(&node),
        });
        let (hands_on, messages) = (hands_on.collect(), view.messages(node));
        let config = StationConfig { received_max: HANDED_MAX, ..station.clone() };
        // That it cannot be made is told here, once.
        fleet.station(&config, &messages)?;
        let maker: Maker = Box::new(move || fleet.station(&config, &messages).ok());
        Ok(Box::new(StationStack::new(maker, hands_on).ok_or(BuildError::UnknownNode(node))?))
    }

    fn attacker(
        &self,
        prepared: &Prepared<'_>,
        segment: SegmentId,
        node: NodeId,
    ) -> Result<Box<dyn Node + Send>, BuildError> {
        attack::attacker(view_of(prepared, segment), fleet(prepared, segment)?, node)
    }

    fn describer(&self, prepared: &Prepared<'_>, segment: SegmentId) -> Box<dyn Describe> {
        let table = fleet(prepared, segment).ok().map(|fleet| fleet.table().clone());
        Box::new(describe::Describer::new(view_of(prepared, segment), table))
    }

    fn own_protection(&self, plan: &Plan, hop: &HopPlan) -> Option<OwnProtection> {
        Radio::of(plan, hop.segment)?.segment.fleet.signs.map(|_| OwnProtection::Checked(SIGNED))
    }

    fn properties(&self, prepared: &Prepared<'_>, segment: SegmentId) -> Vec<(&'static str, String)> {
        let RadioSegment { fleet, stations, .. } = view_of(prepared, segment).segment;
        let security = fleet.signs.map_or("none", |_| SIGNED);
        let mut properties = vec![
            ("rate", fleet.rate.rate().to_string()),
            ("security", security.to_owned()),
            ("vehicles on the road", fleet.trips.trips.len().to_string()),
            ("pseudonyms of vehicles", fleet.policy.name.clone()),
        ];
        let policies = stations.values().map(|station| &station.policy).chain([&fleet.policy]);
        if policies.into_iter().any(Policy::agrees) {
            properties.push(("oracle", CHANGE_ACCORD.to_owned()));
        }
        properties
    }

    fn live_link(&self) -> LiveLink {
        LiveLink::Pair
    }

    fn live_refusal(&self, prepared: &Prepared<'_>, segment: SegmentId) -> Option<String> {
        let on_it = |id: &NodeId| prepared.attachment(*id, segment).is_some();
        let stations = prepared.plan().node_ids().filter(on_it).count();
        (stations > LIVE_STATIONS_MAX).then(|| {
            format!(
                "{stations} stations come by on the air, and a live run has room for {LIVE_STATIONS_MAX}, as every frame \
                 goes to each of them by itself; write a shorter road, less traffic or a shorter run"
            )
        })
    }

    /// Stations that the scenario writes verify for themselves. The road's vehicles share a process, and with it what is in
    /// a frame and the oracle by which they agree; a station that agrees with them is one of them.
    fn live_home(&self, prepared: &Prepared<'_>, segment: SegmentId, node: NodeId) -> LiveHome {
        let view = view_of(prepared, segment);
        match (view.segment.stations.get(&node), view.rider(node)) {
            (Some(station), _) if station.policy.agrees() => LiveHome::Shared,
            (None, Some(_)) => LiveHome::Shared,
            // A station or an attacker.
            _ => LiveHome::Aside,
        }
    }

    fn link_type(&self) -> u16 {
        LINK_TYPE
    }
}
