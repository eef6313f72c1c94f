//! What the kinds of segments tell of single hops: processor time, places in a table, frames that pass a gateway.

use chronoseal_wire::can::{CanFrame, IdFilter};

use super::*;
use crate::segment::processor::{Jobs, ScheduledJob, mac_work};

/// Three stations with 100 us for each tag. Node 0 sends one protected stream in slots to node 2.
fn sealed() -> Plan {
    let mut plan = cluster(3);
    let profile = Profile::new(HashAlgorithm::Sha256.mac(), 32, Freshness::None, 1).unwrap();
    let kind = ProtectionKind::Secured { profile, key: KeySource::OfStream, identity: Identity::Number };
    plan.protections.push(ProtectionPlan { name: "tag".into(), kind });
    let costs = vec![OperationCost { operation: "hmac-sha-256".into(), base: US(100), per_byte: Duration::ZERO }];
    plan.platforms.push(PlatformPlan { name: "slow".into(), costs });
    plan.nodes.iter_mut().for_each(|node| node.platform = PlatformId(1));
    add_stream(&mut plan, 0, &[2], 60).protection = ProtectionId(1);
    plan
}

fn task(us: i64) -> TaskPlan {
    TaskPlan { name: "control".into(), period: MS(10), wcet: US(us) }
}

#[test]
fn what_a_table_asks_of_processors_is_known_by_when_and_how_long() {
    let mut plan = sealed();
    plan.nodes[2].tasks.push(task(300));
    let table = synthesize(view(&plan)).unwrap();
    let (slot, task) = (table.slots[0], table.tasks[0]);
    let found = EthernetBounds.scheduled_jobs(&Jobs::new(&plan, BOUNDS), SegmentId(0), Some(&table));
    // Clocks are a microsecond apart at most.
    let by_clock = |node, at: Duration, cost| ScheduledJob {
        node: NodeId(node),
        earliest: at - US(1),
        latest: at + US(1),
        cost: US(cost),
        own_time: Some(at),
    };
    // The switch is early or late by a microsecond, and so is the receiver.
    let received = slot.dispatch + slot.frame_time;
    let arrival = ScheduledJob {
        node: NodeId(2),
        earliest: received - US(2),
        latest: received + US(2),
        cost: US(100),
        own_time: None,
    };
    assert_eq!(found, [by_clock(2, task.start, 300), by_clock(0, slot.release, 100), arrival]);
    assert_eq!(EthernetBounds.scheduled_jobs(&Jobs::new(&plan, BOUNDS), SegmentId(0), None), []);
}

#[test]
fn only_streams_of_the_table_are_in_slots() {
    let mut plan = sealed();
    best_effort(add_stream(&mut plan, 1, &[2], 60), 3);
    assert_eq!([0, 1].map(|stream: usize| EthernetBounds.is_in_slots(&plan.streams[stream].hops[0])), [true, false]);
}

#[test]
fn a_frame_is_received_with_its_last_bit_and_not_with_the_gap_behind_it() {
    let mut plan = equal_frames(2, 1, 60);
    network(&mut plan).accounting = Accounting::OnWire;
    network(&mut plan).propagation_delay = Duration::from_ns(500);
    let table = synthesize(view(&plan)).unwrap();
    let by_table = crate::bounds(view(&plan), &table)[0].latency_max.unwrap();
    let latency = end_to_end(&plan, &[Some(table)], BOUNDS)[0].ends[0].latency.unwrap();
    // Twelve bytes at 100 Mbit/s.
    let gap = Duration::from_ns(960);
    assert_eq!(latency.max, by_table - gap);
    // A switch that is early by the precision instead of late; and a frame is there without its gap on the first link, too.
    assert_eq!(latency.min, by_table - US(2) - gap * 2);
}

#[test]
fn a_task_of_the_table_keeps_no_slot_of_a_station_waiting_but_one_of_a_gateway() {
    let latency = |wcet: Option<i64>, is_gateway: bool| {
        let mut plan = sealed();
        network(&mut plan).dispatch = Dispatch::Immediate;
        plan.nodes[0].tasks.extend(wcet.map(task));
        if is_gateway {
            plan.segments.push(segments(3, 1).segments.remove(0));
            plan.nodes[0].interfaces.push(SegmentId(1));
        }
        let table = synthesize(view(&plan)).unwrap();
        end_to_end(&plan, &[Some(table)], BOUNDS)[0].ends[0].latency.unwrap().max
    };
    assert_eq!(latency(Some(300), false), latency(None, false));
    assert!(latency(Some(300), true) > latency(None, true) + US(100));
}

#[test]
fn a_container_is_sealed_as_long_as_it_is_sent() {
    let mut plan = segments(3, 1);
    let cmac = chronoseal_frameauth::secoc::profile_2();
    let kind = ProtectionKind::Secured { profile: cmac, key: KeySource::OfStream, identity: Identity::Number };
    plan.protections.push(ProtectionPlan { name: "secoc".into(), kind });
    for id in [1, 2] {
        add_message(&mut plan, id, 5, MS(10), &[(0, 0, 1)]);
    }
    collect(&mut plan, &[0, 1], 0, MS(2));
    plan.streams[2].protection = ProtectionId(1);
    let (id, hop) = (StreamId(2), &plan.streams[2].hops[0]);
    // Two headers of four bytes with five bytes each, three bytes of tag: 21 bytes, for which a frame has 24.
    assert_eq!(hop.frame_len, 18);
    let work = |len| mac_work(&plan, id, hop, id.0, len);
    assert!(work(21).is_some() && work(21) != work(18));
    assert_eq!(CanBounds.authentication(&plan, id, hop), work(21));
}

/// Message 9 from station 0 to 1, and a recording with the identifiers 3 and 9 on the same bus, the first of them.
fn recorded() -> Plan {
    let mut plan = segments(2, 2);
    add_message(&mut plan, 9, 8, MS(10), &[(0, 0, 1)]);
    let frame = |id| (MS(1), CanFrame::classical(CanId::standard(id).unwrap(), &[0; 8]).unwrap());
    let mut stream = plan.streams[0].clone();
    stream.hops[0].facet = Facet::new(CanHop::Recording(CanRecording {
        source: "test".into(),
        frames: vec![frame(3), frame(9)],
        length: MS(5),
        start: Duration::ZERO,
    }));
    plan.streams.push(stream);
    plan
}

#[test]
fn a_gateway_bridges_a_recording_if_a_frame_of_it_passes_and_is_of_no_stream() {
    let plan = recorded();
    let bridges = |ids: &[u16]| {
        let filters = ids.iter().map(|id| IdFilter::exactly(CanId::standard(*id).unwrap())).collect();
        let gateway = GatewayPlan { delay: US(50), queue_len_max: 64, reboot: None, bridges: filters };
        CanBounds.bridges_recordings(&plan, SegmentId(0), &gateway)
    };
    assert!(bridges(&[3]) && bridges(&[3, 9]));
    assert!(!bridges(&[9]), "it belongs to a stream");
    assert!(!bridges(&[4]), "the recording has none");
    assert!(!bridges(&[]));
}

#[test]
fn a_stream_whose_identifier_is_recorded_can_lose_frames_also_behind_a_bridge() {
    let mut plan = recorded();
    // Of another bus, to which the first one's frames are passed on.
    add_message(&mut plan, 3, 8, MS(10), &[(1, 1, 0)]);
    add_message(&mut plan, 4, 8, MS(10), &[(1, 1, 0)]);
    let concerned = |plan: &Plan| -> Vec<(Option<StreamId>, bool)> {
        let risks = bounds(plan, &[None, None], BOUNDS).risks;
        risks.iter().map(|risk| (risk.stream, matches!(risk.cause, Cause::Recorded { .. }))).collect()
    };
    assert_eq!(concerned(&plan), [(Some(StreamId(0)), true)]);
    plan.nodes[0].interfaces = vec![SegmentId(0), SegmentId(1)];
    let all = IdFilter::ALL.to_vec();
    plan.nodes[0].gateway = Some(GatewayPlan { delay: US(50), queue_len_max: 64, reboot: None, bridges: all });
    assert_eq!(concerned(&plan), [(Some(StreamId(0)), true), (Some(StreamId(2)), true)]);
}
