//! Plans for tests and benches, built by hand: the source's cluster with as many streams as wanted.
#![allow(unreachable_pub, dead_code, reason = "a bench includes this file as well, and uses a part of it")]

use chronoseal_core::{Duration, NodeId, Ppm, Rate};
use chronoseal_media::ethernet::Integration;
use chronoseal_plan::*;

/// `nodes` stations, no streams, BP 10 ms, GP 0.2 ms, 100 Mbit/s, as published.
pub fn cluster(nodes: u16) -> Plan {
    let base_period = Duration::from_ms(10);
    Plan {
        name: "test".into(),
        description: String::new(),
        seed: 1,
        duration: Duration::from_s(1),
        fidelity: Fidelity::Timing,
        segments: vec![SegmentPlan {
            name: "network".into(),
            kind: ETHERNET,
            facet: Facet::new(segment(base_period)),
            own_nodes: vec!["switch".into()],
            brought: 0..0,
        }],
        nodes: (0..nodes)
            .map(|n| NodePlan {
                name: format!("ecu{n}"),
                clock: ClockPlan { offset: Duration::ZERO, drift: Ppm(0), drift_max: Ppm(0) },
                platform: PlatformId(0),
                driver: Jitter::default(),
                host_interface: None,
                tasks: Vec::new(),
                address: 0,
                interfaces: vec![SegmentId(0)],
                gateway: None,
                program: None,
            })
            .collect(),
        attackers: Vec::new(),
        streams: Vec::new(),
        protections: vec![ProtectionPlan { name: "none".into(), kind: ProtectionKind::None }],
        candidates: Vec::new(),
        threats: Vec::new(),
        platforms: vec![PlatformPlan { name: "free".into(), costs: Vec::new() }],
        recordings: Vec::new(),
        allowances: Vec::new(),
        group_key: None,
        freshness: None,
        inputs: Inputs::default(),
        scenario_hash: String::new(),
        notes: Vec::new(),
    }
}

/// BP, GP and rate as published.
fn segment(base_period: Duration) -> EthernetSegment {
    EthernetSegment {
        rate: Rate(100_000_000),
        cluster_cycle: base_period,
        sync: Sync::Beacon,
        shares_queues: false,
        cluster: None,
        time_aware: None,
        integration_cycle: base_period,
        guard_period: Duration::from_us(200),
        accounting: Accounting::AsPublished,
        access: Access::SharedSlots,
        precision: Duration::from_us(1),
        max_transmission_delay: Duration::from_us(100),
        sync_id: 4043,
        ct_marker: [3, 0, 0, 0],
        propagation_delay: Duration::ZERO,
        macsec: None,
        dispatch: Dispatch::Scheduled,
        integration: Integration::TimelyBlock,
        forwarding_delay: Duration::ZERO,
        forwarding_jitter: Jitter::default(),
        queue_len_max: 1 << 20,
        sniffing_switch: false,
        wiring: Wiring::default(),
        ports: Ports::default(),
        stream_filters: StreamFilters::default(),
        virtual_links: VirtualLinkRules { charges_longest: false, clock_tolerance: Ppm(100_000) },
        failures: Vec::new(),
        frame_losses: Vec::new(),
    }
}

/// The only segment, to be changed.
pub fn network(plan: &mut Plan) -> &mut EthernetSegment {
    plan.segments[0].facet.get_mut().expect("a cluster has one Ethernet segment")
}

/// The only segment, to be looked at.
pub fn view(plan: &Plan) -> Ethernet<'_> {
    Ethernet::first(plan).expect("a cluster has one Ethernet segment")
}

/// One more time-triggered stream, unprotected, with the cluster cycle as its period.
pub fn add_stream<'a>(plan: &'a mut Plan, sender: u16, receivers: &[u16], frame_len: u32) -> &'a mut StreamPlan {
    let index = plan.streams.len();
    let class = StreamClass::TimeTriggered { ct_id: index as u16 };
    let receivers: Vec<_> = receivers.iter().map(|node| NodeId(*node)).collect();
    plan.streams.push(StreamPlan {
        sent_by: None,
        name: format!("s.{index}"),
        sender: NodeId(sender),
        receivers: receivers.clone(),
        period: view(plan).segment.cluster_cycle,
        offset: None,
        has_offset: false,
        application: None,
        min_distance: None,
        trigger: None,
        deadline: None,
        deadlines: Vec::new(),
        deadline_kind: DeadlineKind::Reaction,
        length: frame_len - 14,
        payload: PayloadPlan::Synthetic,
        protection: ProtectionId(0),
        hops: vec![HopPlan {
            previous: None,
            protection: None,
            segment: SegmentId(0),
            from: NodeId(sender),
            to: receivers,
            frame_len,
            class: class.name(),
            facet: Facet::new(EthernetHop::from(class)),
        }],
    });
    &mut plan.streams[index]
}

/// Lets a stream of one hop go from one node to one other.
pub fn send(stream: &mut StreamPlan, from: NodeId, to: NodeId) {
    (stream.sender, stream.receivers) = (from, vec![to]);
    (stream.hops[0].from, stream.hops[0].to) = (from, vec![to]);
}

/// Takes a stream of one hop out of the schedule.
pub fn best_effort(stream: &mut StreamPlan, priority: u8) {
    let class = StreamClass::BestEffort { priority };
    (stream.hops[0].class, stream.hops[0].facet) = (class.name(), Facet::new(EthernetHop::from(class)));
}

/// `frames` streams of `frame_len` bytes, the senders in turn, each to the node after it.
pub fn equal_frames(nodes: u16, frames: u64, frame_len: u32) -> Plan {
    let mut plan = cluster(nodes);
    for k in 0..frames {
        let sender = (k % u64::from(nodes)) as u16;
        add_stream(&mut plan, sender, &[(sender + 1) % nodes], frame_len);
    }
    plan
}
