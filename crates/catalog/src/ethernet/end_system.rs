//! A station of a plan.

use chronoseal_core::{Duration, NodeId, PortId};
use chronoseal_media::schedule::{ScheduleTable, Slot};
use chronoseal_nodes::attacker::{FollowedConfig, FollowedPart};
use chronoseal_nodes::end_system::{
    Application, CarriedPdu, DatagramConfig, EndSystemConfig, ListenerConfig, ReceiveWindow, Replication, SendSlot,
    TalkerConfig, TalkerTiming, TaskRun, VirtualLinkConfig,
};
use chronoseal_nodes::reassembly::ReassemblyConfig;
use chronoseal_nodes::{ClusterConfig, Protection, SyncConfig, TimeAwareConfig};
use chronoseal_plan::{
    Dispatch, Ethernet, EthernetStream, Fidelity, GrandmasterQuality, NetworkName, RecoveryConfig, StreamClass,
    SwitchHop, Sync, TimeAwarePlan, VirtualLink,
};
use chronoseal_wire::ethernet::{FRAME_LEN_MAX, HEADER_LEN};
use chronoseal_wire::{udp, virtual_link};

use crate::{BuildOptions, fill, gateway, pace, protection, signal};

pub(super) fn config(
    view: Ethernet<'_>,
    schedule: &ScheduleTable,
    id: NodeId,
    options: BuildOptions,
) -> EndSystemConfig {
    let network = view.segment;
    let tasks = schedule
        .tasks
        .iter()
        .filter(|task| task.node == id)
        .map(|task| TaskRun { task: task.task, start: task.start, length: task.length })
        .collect();
    EndSystemConfig {
        node: id,
        sync: SyncConfig {
            integration_cycle: network.integration_cycle,
            precision: network.precision,
            max_transmission_delay: network.max_transmission_delay + options.medium_late_max,
        },
        cluster: cluster(view, id),
        time_aware: time_aware(view, id, None),
        ideal_clock: matches!(network.sync, Sync::None | Sync::Ideal),
        sync_id: network.sync_id,
        ct_marker: network.ct_marker,
        cluster_cycle: network.cluster_cycle,
        lead: options.lead,
        hand_over_max: options.hand_over_max + host_stay_max(view, schedule, id),
        has_second_port: network.wiring.has_networks(),
        real_bytes: view.plan.fidelity == Fidelity::Bytes,
        talkers: view
            .streams()
            .filter(|stream| stream.hop.from == id)
            .map(|stream| talker(view, schedule, &stream))
            .collect(),
        listeners: view
            .streams()
            .filter(|stream| stream.hop.to.contains(&id))
            .filter(|stream| stream.stream.collected().is_none() || are_numbered(stream))
            .map(|stream| listener(view, schedule, &stream, id))
            .collect(),
        containers: view
            .streams()
            .filter(|stream| stream.hop.to.contains(&id))
            .filter_map(|stream| gateway::container(view.plan, stream.id, id, protection(view, &stream)))
            .collect(),
        tasks,
    }
}

/// True if frames of a stream without slots have numbers, by which a receiver may refuse them whatever is in them.
fn are_numbered(stream: &EthernetStream<'_>) -> bool {
    stream.class.virtual_link().is_some() || stream.copies.are_several()
}

/// A station's clock if it is one of a cluster.
fn cluster(view: Ethernet<'_>, id: NodeId) -> Option<ClusterConfig> {
    let cluster = view.segment.cluster.as_ref()?;
    let compression_master = |switch: &u16| {
        let port = PortId(view.segment.wiring.is_of_b(*switch).into());
        (view.plan.own_node(view.id, usize::from(*switch)), port)
    };
    Some(ClusterConfig {
        parameters: cluster.parameters.clone(),
        master: cluster.masters.iter().position(|master| *master == id).map(|index| index as u8),
        compression_masters: cluster.compression_masters.iter().map(compression_master).collect(),
    })
}

/// The clocks that a station at a port of its own follows, which is no node of the scenario: it is a client of a cluster, which has one
/// port for one network, or an end station that is never the grandmaster (IEEE 802.1AS-2020 §8.6.2.1: a `priority1` of 255).
pub(super) fn followed(view: Ethernet<'_>, id: NodeId) -> Option<FollowedConfig> {
    let client = || {
        let mut client = cluster(view, id)?;
        client.compression_masters.retain(|(_, port)| *port == PortId(0));
        Some(FollowedPart::Client(Box::new(client)))
    };
    let never = GrandmasterQuality { priority1: 255, clock_class: 255, priority2: 255 };
    let part = client().or_else(|| time_aware(view, id, Some(never)).map(FollowedPart::EndStation))?;
    Some(FollowedConfig { part, precision: view.segment.precision })
}

/// A station's clock if it follows a grandmaster; `quality` is what it is as one.
fn time_aware(view: Ethernet<'_>, id: NodeId, quality: Option<GrandmasterQuality>) -> Option<TimeAwareConfig> {
    let clocks = view.segment.time_aware.as_ref()?;
    let is_brought = !clocks.stations.contains_key(&id);
    let quality = quality.or_else(|| clocks.stations.get(&id).copied())?;
    Some(TimeAwareConfig {
        parameters: clocks.parameters_of(TimeAwarePlan::clock_of(id), quality),
        port: clocks.port,
        granularity: clocks.granularity,
        rogue: super::clock_attacks::rogue(view, id),
        // Who brings a port along has one, to the first network.
        speeds: (view.segment.wiring.networks().iter().take(if is_brought { 1 } else { usize::MAX }))
            .map(|network| view.segment.speed_over(view.segment.link_in(*network, id).parameters))
            .collect(),
    })
}

/// How long a frame of a slot stays in its receiver's host interface at most: nothing goes before it but what is being copied and
/// the frames of other slots with their copies, and there are no more of these than a cycle has.
fn host_stay_max(view: Ethernet<'_>, schedule: &ScheduleTable, id: NodeId) -> Duration {
    let Some(host) = view.plan.nodes[id.index()].host_interface else { return Duration::ZERO };
    let scheduled = schedule.slots.iter().filter_map(|slot| view.stream(slot.stream));
    let own = scheduled.filter(|stream| stream.hop.to.contains(&id));
    let service = |stream: EthernetStream<'_>| {
        host.service(u64::from(view.secured_len(&stream))) * i64::try_from(stream.copies.count()).unwrap_or(1)
    };
    let copied: Duration = own.map(service).sum();
    copied + host.service(FRAME_LEN_MAX as u64)
}

fn talker(view: Ethernet<'_>, schedule: &ScheduleTable, target: &EthernetStream<'_>) -> TalkerConfig {
    let (plan, id, stream) = (view.plan, target.id, target.stream);
    let timing = match target.class {
        StreamClass::TimeTriggered { ct_id } => TalkerTiming::Slots {
            ct_id,
            is_numbered: target.trailer_len() > 0,
            slots: schedule.of(id).map(|slot| SendSlot { release: slot.release, start: slot.start }).collect(),
            samples: target.hop.previous.is_some(),
            application: application(target),
        },
        StreamClass::RateConstrained(link) if stream.collected().is_some() => {
            TalkerTiming::Collected { priority: link.priority().0 }
        }
        StreamClass::RateConstrained(link) if target.hop.previous.is_some() => {
            TalkerTiming::Relayed { priority: link.priority().0 }
        }
        StreamClass::RateConstrained(link) => {
            let (priority, phase) = (link.priority().0, stream.offset.unwrap_or_default());
            TalkerTiming::Periodic { priority, phase, pace: pace(plan, stream) }
        }
        StreamClass::BestEffort { priority } if stream.collected().is_some() => TalkerTiming::Collected { priority },
        StreamClass::BestEffort { priority } if target.hop.previous.is_some() => TalkerTiming::Relayed { priority },
        StreamClass::BestEffort { priority } if let Some(recorded) = stream.recorded() => {
            TalkerTiming::Recorded { priority, phase: stream.offset.unwrap_or_default(), recorded: recorded.clone() }
        }
        StreamClass::BestEffort { priority } => {
            TalkerTiming::Periodic { priority, phase: stream.offset.unwrap_or_default(), pace: pace(plan, stream) }
        }
    };
    // What comes from another segment is sealed already, unless this hop has a protection of its own.
    let passes = target.hop.previous.is_some() && target.hop.protection.is_none();
    let regulated = |link: &VirtualLink| VirtualLinkConfig {
        ct_id: link.ct_id,
        bag: link.bag,
        priority: link.priority(),
        is_replicated: target.copies.are_several(),
    };
    // Of a message in several frames: a frame with room for it.
    let frame_len = match &target.datagram {
        None => target.hop.frame_len - target.trailer_len(),
        Some(datagram) => {
            let overhead = view.protection_of(target).overhead_bytes();
            HEADER_LEN as u32 + target.tag_len() + datagram.data_len - overhead
        }
    };
    TalkerConfig {
        stream: id,
        timing,
        frame_len: frame_len as usize,
        tag: target.tag,
        has_r_tag: target.copies.have_r_tag(),
        fill: fill(plan, id, stream.length.max(target.hop.frame_len * u32::from(!stream.is_relayed())) as usize),
        signal: signal(plan, stream),
        carried: carried(target),
        datagram: datagram(view, target),
        virtual_link: target.class.virtual_link().map(regulated),
        protection: if passes { unsealed(view, target) } else { protection(view, target) },
    }
}

/// The timer of the application of a stream that begins in slots here, if it has one of its own.
fn application(target: &EthernetStream<'_>) -> Option<Application> {
    let own = target.stream.application.filter(|_| target.hop.previous.is_none())?;
    Some(Application { phase: own.phase, step: own.step() })
}

/// How the messages of a stream are sent that are longer than a frame.
pub(super) fn datagram(view: Ethernet<'_>, target: &EthernetStream<'_>) -> Option<DatagramConfig> {
    let datagram = target.datagram?;
    let destination = match target.class.ct_id() {
        Some(ct_id) => virtual_link::critical_traffic_ip(ct_id),
        None => virtual_link::stream_ip(target.id),
    };
    Some(DatagramConfig {
        ends: udp::Ends { source: virtual_link::station_ip(target.hop.from), destination },
        reassembly: ReassemblyConfig { cut: datagram.cut(), timeout: datagram.timeout },
        sub_link: view.sub_link(target),
    })
}

/// The PDU in the frames of a stream that gateways carry on.
fn carried(target: &EthernetStream<'_>) -> Option<CarriedPdu> {
    let pdu = CarriedPdu { len: target.stream.length as usize, is_sealed: target.hop.protection.is_none() };
    target.stream.is_relayed().then_some(pdu)
}

/// Room for the protection of a PDU that passes as it is.
fn unsealed(view: Ethernet<'_>, target: &EthernetStream<'_>) -> Protection {
    Protection::None { padding: view.protection_of(target).overhead_bytes() as usize }
}

/// The receive windows follow from the schedule: the frame leaves the receiver's switch between its dispatch (or, if the
/// switch does not wait, its earliest arrival) and the end of its turn, and takes one more reception time to the receiver.
/// The clocks of both ends may each be off by the precision. Over two networks each copy has its own.
fn windows(
    view: Ethernet<'_>,
    schedule: &ScheduleTable,
    target: &EthernetStream<'_>,
    (name, node): (NetworkName, NodeId),
) -> Vec<ReceiveWindow> {
    let network = view.segment;
    let reception = |station: NodeId, len: u32| {
        let speed = network.speed_over(network.link_in(name, station).parameters);
        speed.reception(u64::from(len))
    };
    let longest = view.secured_len(target);
    let hops = view.hops(target).expect("a scenario is refused unless each copy of a stream has one way");
    let is_last = |(in_network, hop): &(NetworkName, SwitchHop)| *in_network == name && hop.to.contains(&node);
    let last = hops.iter().position(is_last).unwrap_or_default();
    let tolerance = network.precision * 2;
    let wait = view.integration_wait(network.link_in(name, node).parameters);
    let slots = schedule.slots.iter().enumerate().filter(|(_, slot)| slot.stream == target.id);
    let window = |(index, slot): (usize, &Slot)| {
        let turn = schedule.turn(index, last)?;
        // The last frame of a message can be shorter than the others.
        let len = if target.is_last_in(slot.instance) { view.shortest_len(target) } else { longest };
        let leaves_first = match network.dispatch {
            Dispatch::Scheduled => turn.dispatch,
            Dispatch::Immediate => slot.start + reception(target.hop.from, len) + network.forwarding_delay,
        };
        Some(ReceiveWindow {
            slot_start: slot.start,
            opens: leaves_first + reception(node, len) - tolerance,
            closes: turn.end.max(turn.dispatch) + wait + reception(node, longest) + tolerance,
        })
    };
    slots.filter_map(window).collect()
}

fn listener(view: Ethernet<'_>, schedule: &ScheduleTable, target: &EthernetStream<'_>, node: NodeId) -> ListenerConfig {
    let id = target.id;
    let mut by_network = target.copies.networks().iter().map(|name| windows(view, schedule, target, (*name, node)));
    let (windows, second_windows) = (by_network.next().unwrap_or_default(), by_network.next().unwrap_or_default());
    let ct_id = target.class.ct_id();
    let delivers = target.stream.receivers.contains(&node);
    // What only passes by is opened at the end of its way.
    let passes = target.hop.protection.is_none() && !delivers;
    ListenerConfig {
        is_virtual_link: target.class.virtual_link().is_some(),
        replication: replication(view, target, node),
        second_windows,
        fills_slots: target.hop.previous.is_none() && target.stream.application.is_none(),
        carried: carried(target),
        datagram: datagram(view, target),
        delivers,
        hands_over: gateway::hand_over(view.plan, target.stream, target.hop, node),
        supervision: gateway::supervision(target.stream, node),
        ..ListenerConfig::new(id, ct_id, windows, if passes { Protection::NONE } else { protection(view, target) })
    }
}

/// How a receiver tells copies apart. Switches that eliminate some leave fewer of them for it to count.
fn replication(view: Ethernet<'_>, target: &EthernetStream<'_>, node: NodeId) -> Option<Replication> {
    match target.copies.replication()? {
        Replication::Tagged(recovery) => {
            let ways = view.copies_to(target, node).ok().flatten().unwrap_or(recovery.ways);
            Some(Replication::Tagged(RecoveryConfig { ways, ..recovery }))
        }
        of_networks @ Replication::Networks { .. } => Some(of_networks),
    }
}

fn protection(view: Ethernet<'_>, target: &EthernetStream<'_>) -> Protection {
    let number = target.class.ct_id().unwrap_or(target.id.0);
    protection::on_hop(view.plan, target.id, target.hop, number)
}
