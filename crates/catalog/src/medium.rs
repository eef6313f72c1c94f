//! The medium of a plan.

use chronoseal_core::{NodeId, PortId};
use chronoseal_media::line::LineSpeed;
use chronoseal_media::medium::Attachment;
use chronoseal_media::schedule::ScheduleTable;
use chronoseal_media::star::{Beacon, Route, RouteClass, Splice, Star, StarConfig};
use chronoseal_scenario::plan::{Accounting, AttackPlace, Dispatch, Plan, StreamClass, Sync};
use chronoseal_wire::ethernet::INTER_FRAME_GAP_LEN;

use chronoseal_core::AttackKind;

/// How long frames take on a plan's links.
pub(crate) fn speed(plan: &Plan) -> LineSpeed {
    let accounting = plan.network.accounting;
    let gap_bytes = match accounting {
        Accounting::AsPublished => 0,
        Accounting::OnWire => INTER_FRAME_GAP_LEN as u64,
    };
    LineSpeed::new(plan.network.rate, accounting.overhead_bytes(), gap_bytes, plan.network.propagation_delay)
}

/// The switch and links of a plan.
pub fn star(plan: &Plan, schedule: &ScheduleTable) -> Star {
    let network = &plan.network;
    let attackers = plan.attackers();
    let attacker_id = |index: usize| NodeId((plan.nodes.len() + index) as u16);
    let port_0 = |node: NodeId| Attachment { node, port: PortId(0) };

    let mut stations: Vec<_> = (0..plan.nodes.len()).map(|node| port_0(NodeId(node as u16))).collect();
    let mut splices = Vec::new();
    let mut mirror = None;
    for (index, place) in attackers.iter().enumerate() {
        match place {
            AttackPlace::OwnPort => {
                mirror = Some(stations.len());
                stations.push(port_0(attacker_id(index)));
            }
            AttackPlace::OnLink(victim) => {
                splices.push(Splice { victim: victim.index(), attacker: attacker_id(index) });
            }
        }
    }
    let routes = plan
        .streams
        .iter()
        .enumerate()
        .map(|(index, stream)| {
            let mut egress: Vec<usize> = stream.receivers.iter().map(|node| node.index()).collect();
            // An attacker that replays from a port of its own has to have heard the frame: it gets a mirror port.
            let replayed = plan.threats.iter().any(|threat| {
                threat.target.index() == index
                    && threat.kind == AttackKind::Replay
                    && threat.place == AttackPlace::OwnPort
            });
            egress.extend(mirror.filter(|_| replayed));
            Route {
                class: match stream.class {
                    StreamClass::TimeTriggered { ct_id } => RouteClass::TimeTriggered { ct_id },
                    StreamClass::BestEffort { priority } => RouteClass::BestEffort { priority },
                },
                ingress: stream.sender.index(),
                egress,
                len_max: plan.secured_len(stream),
            }
        })
        .collect();
    Star::new(StarConfig {
        switch: plan.switch_id(),
        speed: speed(plan),
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
        seed: plan.seed,
    })
}
