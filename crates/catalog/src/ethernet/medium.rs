//! The switch and links of a segment.

use chronoseal_media::line::LineSpeed;
use chronoseal_media::schedule::ScheduleTable;
use chronoseal_media::star::{Beacon, Route, RouteClass, Splice, Star, StarConfig};
use chronoseal_scenario::plan::{
    Accounting, AttackPlace, Dispatch, Ethernet, EthernetSegment, StreamClass, Sync, ThreatKind,
};
use chronoseal_wire::ethernet::INTER_FRAME_GAP_LEN;

use crate::Prepared;

/// How long frames take on a segment's links.
pub(super) fn speed(network: &EthernetSegment) -> LineSpeed {
    let accounting = network.accounting;
    let gap_bytes = match accounting {
        Accounting::AsPublished => 0,
        Accounting::OnWire => INTER_FRAME_GAP_LEN as u64,
    };
    LineSpeed::new(network.rate, accounting.overhead_bytes(), gap_bytes, network.propagation_delay)
}

/// The star.
///
/// # Panics
/// If a stream of the plan has an end that is not on this segment.
pub(super) fn star(prepared: &Prepared<'_>, view: Ethernet<'_>, schedule: &ScheduleTable) -> Star {
    let (plan, network) = (view.plan, view.segment);
    let port = |node| prepared.attachment(node, view.id).expect("who is on a segment has a port to it");
    let mut stations: Vec<_> = view.stations().map(port).collect();
    let place_of = |stations: &[_], node| {
        stations.iter().position(|station| *station == port(node)).expect("hops end at nodes of their segment")
    };
    let mut splices = Vec::new();
    let mut mirror = None;
    for (attacker, place) in view.attackers() {
        match place {
            AttackPlace::OnSegment(_) => {
                mirror = Some((attacker, stations.len()));
                stations.push(port(attacker));
            }
            AttackPlace::OnLink(_, victim) => splices.push(Splice { victim: place_of(&stations, victim), attacker }),
            // It has no port of its own.
            AttackPlace::AtNode(_) => {}
        }
    }
    // By stream of the plan; those that do not come by here have no address on this segment.
    let mut routes = vec![Route::ELSEWHERE; plan.streams.len()];
    for stream in view.streams() {
        let mut egress: Vec<usize> = stream.hop.to.iter().map(|node| place_of(&stations, *node)).collect();
        // An attacker that replays from a port of its own has to have heard the frame: it gets a mirror port.
        let is_replayed =
            |attacker| view.threats_of(attacker).any(|threat| threat.kind == ThreatKind::Replay(stream.id));
        egress.extend(mirror.filter(|(attacker, _)| is_replayed(*attacker)).map(|(_, place)| place));
        routes[stream.id.index()] = Route {
            class: match stream.class {
                StreamClass::TimeTriggered { ct_id } => RouteClass::TimeTriggered { ct_id },
                StreamClass::BestEffort { priority } => RouteClass::BestEffort { priority },
            },
            ingress: place_of(&stations, stream.hop.from),
            egress,
            len_max: view.secured_len(&stream),
        };
    }
    Star::new(StarConfig {
        switch: view.switch(),
        speed: speed(network),
        queue_len_max: network.queue_len_max,
        stations,
        splices,
        routes,
        ct_marker: network.ct_marker,
        beacon: (network.sync == Sync::Beacon)
            .then_some(Beacon { sync_id: network.sync_id, integration_cycle: network.integration_cycle }),
        schedule: schedule.clone(),
        waits_for_dispatch: network.dispatch == Dispatch::Scheduled,
        forwarding_delay: network.forwarding_delay,
        forwarding_jitter: network.forwarding_jitter,
        early_tolerance: network.precision,
        sniffing_switch: network.sniffing_switch,
        load_window: Some(crate::load_window(plan)),
        seed: plan.seed,
    })
}
