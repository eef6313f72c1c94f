//! Stations of a time-triggered Ethernet.

use chronoseal_clocksync::as6802::{Cluster, Parameters};
use chronoseal_core::{Duration, EventKind, Node, NodeId, PortId, StreamId};
use chronoseal_core_testing::{Contract, Script};
use chronoseal_frameauth::Freshness;
use chronoseal_nodes::end_system::{
    EndSystem, EndSystemConfig, ListenerConfig, ReceiveWindow, SendSlot, TalkerConfig, TalkerTiming, TaskRun,
};
use chronoseal_nodes::{ClusterConfig, Protection, SupervisionConfig, SyncConfig};
use chronoseal_wire::protocol_control_frame::{PcfType, ProtocolControlFrame};
use chronoseal_wire::virtual_link;

use super::{STREAM, at, count, hmac, ms, on_a_bus};

const MARKER: [u8; 4] = [3, 4, 5, 6];
const SYNC_ID: u16 = 4043;
const CYCLE: Duration = Duration::from_ms(10);
const CT_ID: u16 = 7;
const BEST_EFFORT: StreamId = StreamId(4);
const LEN: usize = 100;

pub(crate) fn config(node: u16, ideal_clock: bool) -> EndSystemConfig {
    let sync = SyncConfig {
        integration_cycle: CYCLE,
        precision: Duration::from_us(10),
        max_transmission_delay: Duration::from_us(100),
    };
    EndSystemConfig {
        node: NodeId(node),
        sync,
        cluster: None,
        time_aware: None,
        ideal_clock,
        sync_id: SYNC_ID,
        ct_marker: MARKER,
        cluster_cycle: CYCLE,
        lead: Duration::ZERO,
        hand_over_max: Duration::ZERO,
        has_second_port: false,
        real_bytes: true,
        talkers: Vec::new(),
        listeners: Vec::new(),
        containers: Vec::new(),
        tasks: Vec::new(),
    }
}

pub(crate) fn talker(stream: StreamId, timing: TalkerTiming, protection: Protection) -> TalkerConfig {
    TalkerConfig {
        stream,
        timing,
        frame_len: LEN,
        tag: None,
        has_r_tag: false,
        fill: vec![0x5a; LEN],
        signal: None,
        carried: None,
        datagram: None,
        virtual_link: None,
        protection,
    }
}

/// Sends in slots and beside them, and has a task.
fn sender(ideal_clock: bool) -> Box<EndSystem> {
    let slots = vec![SendSlot { release: Duration::from_us(900), start: Duration::from_ms(1) }];
    let scheduled = TalkerTiming::Slots { ct_id: CT_ID, slots, is_numbered: false, samples: false, application: None };
    let periodic =
        TalkerTiming::Periodic { priority: 3, phase: Duration::from_ms(2), pace: Duration::from_ms(7).into() };
    let talkers = vec![
        talker(STREAM, scheduled, hmac(Freshness::CycleCounter)),
        talker(BEST_EFFORT, periodic, hmac(Freshness::Full)),
    ];
    let tasks = vec![TaskRun { task: 1, start: Duration::from_us(3_500), length: Duration::from_us(200) }];
    Box::new(EndSystem::new(EndSystemConfig { talkers, tasks, ..config(0, ideal_clock) }).expect("it is able to"))
}

/// Hears both, in windows and beside them, and notices what is absent.
fn receiver() -> Box<EndSystem> {
    let [slot_start, opens, closes] = [1_000, 1_050, 1_150].map(Duration::from_us);
    let windows = vec![ReceiveWindow { slot_start, opens, closes }];
    let supervision = SupervisionConfig { within: Duration::from_ms(8), period: Duration::from_ms(8) };
    let best_effort = ListenerConfig::new(BEST_EFFORT, None, Vec::new(), hmac(Freshness::Full));
    let listeners = vec![
        ListenerConfig::new(STREAM, Some(CT_ID), windows, hmac(Freshness::CycleCounter)),
        ListenerConfig { supervision: Some(supervision), ..best_effort },
    ];
    Box::new(EndSystem::new(EndSystemConfig { listeners, ..config(1, true) }).expect("it is able to"))
}

fn beacon(cycle: u32) -> Vec<u8> {
    let control = ProtocolControlFrame {
        integration_cycle: cycle,
        membership_new: 1,
        sync_priority: 0,
        sync_domain: 0,
        kind: PcfType::Integration,
        transparent_clock: Duration::ZERO,
    };
    let mut bytes = vec![0; 60];
    let destination = virtual_link::critical_traffic_address(MARKER, SYNC_ID);
    control.emit_frame(destination, virtual_link::station_address(NodeId(9)), &mut bytes);
    bytes
}

#[test]
fn sender_and_receiver_keep_it() {
    let nodes: Vec<Box<dyn Node>> = vec![sender(true), receiver()];
    let recorded = on_a_bus(&mut { nodes }, ms(100));
    let sent = Contract::new(0..1, recorded[0].0.clone(), || sender(true)).check();
    assert_eq!(sent, recorded[0].1, "alone it does what it did with a receiver");
    assert_eq!(sent.frames().count(), 10 + 15, "a frame a cycle and one every 7 ms");
    assert_eq!(count(&sent, |kind| kind == EventKind::TaskDone), 10);

    // One frame of each stream is lost on its way, the scheduled one of the fifth cycle and what follows it.
    let mut script = Script::until(ms(100));
    let lost = at(CYCLE * 4)..at(CYCLE * 5);
    let is_heard = |launch_at| launch_at < ms(99) && !lost.contains(&launch_at);
    for (launch_at, _, bytes) in sent.frames().filter(|(launch_at, ..)| is_heard(*launch_at)) {
        let arrives = launch_at + Duration::from_us(100);
        script = script.hear(arrives, PortId(0), bytes);
    }
    let heard = Contract::new(0..1, script, receiver).check();
    assert!(count(&heard, |kind| kind == EventKind::Delivered) > 20);
    assert!(count(&heard, |kind| kind == EventKind::Missing) >= 2, "of a slot, and of a supervised stream");
    assert_eq!(heard.work().count(), count(&heard, |kind| kind == EventKind::Delivered));
}

#[test]
fn a_clock_that_joins_is_corrected_and_loses_its_beacon_keeps_it() {
    // The station's clock shows 3 ms more than the cluster's, and its beacons end after the sixth.
    let beacons = (0..6).fold(Script::until(ms(120)), |script, cycle| {
        let late = Duration::from_us(i64::from(cycle % 3) * 2);
        script.hear(at(Duration::from_ms(3) + CYCLE * i64::from(cycle) + late), PortId(0), &beacon(cycle))
    });
    let conduct = Contract::new(0..1, beacons, || sender(false)).check();
    for kind in [EventKind::SyncAcquired, EventKind::ClockCorrected, EventKind::SyncLost, EventKind::Sent] {
        assert!(count(&conduct, |other| other == kind) > 0, "{kind:?}");
    }
}

/// A station of a cluster of three masters over one switch, number 9.
pub(super) fn part_in_cluster(master: Option<u8>) -> ClusterConfig {
    let cluster = Cluster::new(3, CYCLE, Duration::from_us(100), Duration::from_us(10));
    let parameters = Parameters::of(&cluster).expect("there is such a cluster");
    ClusterConfig { parameters, master, compression_masters: vec![(NodeId(9), PortId(0))] }
}

fn in_cluster(master: Option<u8>) -> Box<EndSystem> {
    let cluster = part_in_cluster(master);
    let tasks = vec![TaskRun { task: 1, start: Duration::from_us(3_500), length: Duration::from_us(200) }];
    Box::new(
        EndSystem::new(EndSystemConfig { cluster: Some(cluster), tasks, ..config(0, false) }).expect("it is able to"),
    )
}

/// The compressed frames of eight cycles, each permanent where it belongs but for a few microseconds.
pub(super) fn compressed() -> Script {
    (0..8).fold(Script::until(ms(200)), |script, cycle| {
        let control = ProtocolControlFrame {
            integration_cycle: cycle,
            membership_new: 0b111,
            sync_priority: 0,
            sync_domain: 0,
            kind: PcfType::Integration,
            transparent_clock: Duration::from_us(40),
        };
        let mut bytes = vec![0; 60];
        let destination = virtual_link::critical_traffic_address(MARKER, SYNC_ID);
        control.emit_frame(destination, virtual_link::station_address(NodeId(9)), &mut bytes);
        let late = Duration::from_us(i64::from(cycle % 3) * 2);
        script.hear(at(Duration::from_ms(3) + CYCLE * i64::from(cycle) + late), PortId(0), &bytes)
    })
}

#[test]
fn clients_and_masters_of_a_cluster_keep_it() {
    let follows = Contract::new(0..1, compressed(), || in_cluster(None)).check();
    let kinds = [EventKind::SyncAcquired, EventKind::ClockShown, EventKind::ClockCorrected, EventKind::SyncLost];
    for kind in kinds.into_iter().chain([EventKind::TaskDone]) {
        assert!(count(&follows, |other| other == kind) > 0, "{kind:?}");
    }
    assert_eq!(follows.frames().count(), 0, "a client sends nothing");

    // What a control frame is late by is part of its age and so of its bytes: here all wake-ups are exact.
    let leads = Contract::new(0..1, compressed(), || in_cluster(Some(1))).late_by(Duration::ZERO).check();
    for kind in kinds {
        assert!(count(&leads, |other| other == kind) > 0, "{kind:?}");
    }
    let sent: Vec<PcfType> = leads
        .frames()
        .map(|(_, _, bytes)| ProtocolControlFrame::parse(&bytes[14..]).expect("a control frame").kind)
        .collect();
    assert!(sent.iter().filter(|kind| **kind == PcfType::Integration).count() >= 7, "{sent:?}");
    assert!(sent.contains(&PcfType::ColdStart), "when it has lost the cluster it tries to start one");
}

#[test]
fn stations_that_only_count_frames_keep_it() {
    let quick = |mut config: EndSystemConfig| {
        config.real_bytes = false;
        config
    };
    let timing = TalkerTiming::Periodic { priority: 0, phase: Duration::from_us(1), pace: Duration::from_ms(1).into() };
    let talkers = vec![talker(BEST_EFFORT, timing, Protection::NONE)];
    let make = || {
        let config = EndSystemConfig { talkers: talkers.clone(), ..config(0, true) };
        Box::new(EndSystem::new(quick(config)).expect("it is able to"))
    };
    let conduct = Contract::new(0..1, Script::until(ms(20)), make).check();
    assert_eq!((conduct.frames().count(), conduct.work().count()), (20, 0));
}
