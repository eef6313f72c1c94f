//! Switches with stream filters, gates and meters.

use std::collections::BTreeMap;

use chronoseal_wire::ethernet::{Frame, Header, VlanTag};

use super::several::row;
use super::*;
use crate::psfp::{FlowMeterConfig, PsfpConfig, StreamFilterConfig, StreamGateConfig, StreamGateEntry, StreamGateList};

const TAG: VlanTag = VlanTag { pcp: 3, drop_eligible: false, vid: 9 };

/// A frame of a stream with a tag, in all so long without checksum.
fn tagged_frame(stream: StreamId, len: usize) -> Vec<u8> {
    let mut bytes = vec![0xa5; len];
    let type_or_length = TypeOrLength::EtherType(0x88b5);
    let source = virtual_link::station_address(NodeId(0));
    Header { destination: virtual_link::stream_address(stream), source, type_or_length }.emit_tagged(TAG, &mut bytes);
    bytes
}

/// Streams with a tag along a row of three switches, from station 0 to stations 1 and 2.
fn tagged_row(streams: usize, psfp: BTreeMap<usize, PsfpConfig>) -> NetworkConfig {
    let hop = |ingress, egress: &[usize]| RouteHop { ingress, egress: egress.to_vec() };
    let hops = vec![hop(0, &[6]), hop(6, &[3, 8]), hop(8, &[5])];
    let route = |_| Route {
        class: RouteClass::BestEffort { priority: TAG.pcp },
        hops: hops.clone(),
        len_max: 1518,
        vid: Some(TAG.vid),
    };
    NetworkConfig { psfp, ..row(100_000_000, (0..streams).map(route).collect()) }
}

fn meter(ebs: u64) -> FlowMeterConfig {
    FlowMeterConfig {
        cir: Rate(1_000),
        cbs: 104,
        eir: Rate(0),
        ebs,
        couples: false,
        is_colour_aware: false,
        drops_yellow: false,
        marks_all_red: false,
    }
}

/// One filter for everything, with one meter.
fn metered(meter: FlowMeterConfig) -> PsfpConfig {
    let filter = StreamFilterConfig { name: "all".into(), meter: Some(0), ..StreamFilterConfig::default() };
    PsfpConfig { filters: vec![filter], gates: Vec::new(), meters: vec![meter] }
}

#[test]
fn what_is_marked_yellow_goes_on_drop_eligible_where_it_was_marked_and_behind() {
    // The second switch marks what goes on from there to station 2; its own copy to station 1 comes from there as well.
    let mut bench = Bench::new(tagged_row(1, [(2, metered(meter(104)))].into()));
    (0..3).for_each(|frame| bench.send(Duration::from_us(100 * frame), 0, tagged_frame(StreamId(0), 100)));
    let bench = bench.run(Duration::from_ms(2));
    let tags = |node| -> Vec<bool> {
        let of = |delivery: &&Delivery| delivery.to.node == NodeId(node);
        let tag = |delivery: &Delivery| Frame::new_checked(&delivery.bytes).unwrap().tag().unwrap();
        bench.deliveries.iter().filter(of).map(|delivery| tag(delivery).drop_eligible).collect()
    };
    assert_eq!(tags(1), [false; 3], "copies that did not pass the meter stay as they were");
    assert_eq!(tags(2), [false, true], "green, yellow, and the third is red");
    assert_eq!(bench.discarded(), [(DiscardReason::MeteredRed, StreamId(0))]);
    assert_eq!(bench.frames.in_flight(), 0);
}

#[test]
fn counters_are_told_by_filter_under_their_names_in_the_standard() {
    let mut bench = Bench::new(tagged_row(1, [(0, metered(meter(0)))].into()));
    (0..3).for_each(|frame| bench.send(Duration::from_us(100 * frame), 0, tagged_frame(StreamId(0), 100)));
    let bench = bench.run(Duration::from_ms(2));
    let series = bench.network.series();
    let total = |name: &str| series.iter().find(|series| series.name == name).map(|series| series.values.clone());
    assert_eq!(total("all: MatchingFramesCount"), Some(vec![3]));
    assert_eq!(total("all: PassingSDUCount"), Some(vec![3]));
    assert_eq!(total("all: PassingFramesCount"), Some(vec![3]));
    assert_eq!(total("all: RedFramesCount"), Some(vec![2]));
    assert_eq!(total("frames dropped"), Some(vec![2]));
}

#[test]
fn an_internal_priority_decides_in_its_own_switch_alone() {
    // Stream 1 is raised above stream 0 in the first switch; behind it both have the priority of their tags again.
    let entry = StreamGateEntry { is_open: true, ipv: Some(Priority(6)), lasts: CYCLE, octets_max: None };
    let list = StreamGateList { base_time: Duration::ZERO, cycle: CYCLE, entries: vec![entry] };
    let gate = StreamGateConfig { list, closes_on_invalid_rx: false, closes_on_octets_exceeded: false };
    let filter = StreamFilterConfig {
        name: "raised".into(),
        streams: Some(vec![StreamId(1)]),
        gate: Some(0),
        ..StreamFilterConfig::default()
    };
    let raised = PsfpConfig { filters: vec![filter], gates: vec![gate], meters: Vec::new() };
    let order = |psfp| {
        let mut config = tagged_row(2, psfp);
        // The first trunk is slow, so that frames queue there.
        config.links[3].speed = LineSpeed::new(Rate(10_000_000), 24, 12, Duration::ZERO);
        let mut bench = Bench::new(config);
        for (us, stream) in [(0, 0), (10, 0), (20, 0), (30, 1)] {
            bench.send(Duration::from_us(us), 0, tagged_frame(StreamId(stream), 100));
        }
        let bench = bench.run(Duration::from_ms(2));
        let to_last = bench.deliveries.iter().filter(|delivery| delivery.to.node == NodeId(2));
        to_last.map(|delivery| bench.network.stream_of(&delivery.bytes).unwrap().0).collect::<Vec<_>>()
    };
    assert_eq!(order(BTreeMap::new()), [0, 0, 0, 1]);
    assert_eq!(order([(0, raised.clone())].into()), [0, 1, 0, 0]);
    assert_eq!(order([(1, raised)].into()), [0, 0, 0, 1], "nothing waits behind the second switch");
}

#[test]
fn filters_that_match_nothing_change_nothing() {
    let filter = StreamFilterConfig { priority: Some(7), max_sdu: Some(1), ..metered(meter(0)).filters[0].clone() };
    let idle = PsfpConfig { filters: vec![filter], ..metered(meter(0)) };
    let run = |psfp| {
        let mut bench = Bench::new(tagged_row(1, psfp));
        (0..20).for_each(|frame| bench.send(Duration::from_us(9 * frame), 0, tagged_frame(StreamId(0), 100)));
        let bench = bench.run(Duration::from_ms(2));
        (bench.deliveries, bench.events)
    };
    let plain = run(BTreeMap::new());
    assert_eq!(plain.0.len(), 40);
    assert_eq!(run((0..3).map(|switch| (switch, idle.clone())).collect()), plain);
}

#[test]
fn a_gate_that_is_closed_keeps_a_scheduled_frame_out_of_its_turn() {
    let entry = StreamGateEntry { is_open: false, ipv: None, lasts: CYCLE, octets_max: None };
    let list = StreamGateList { base_time: Duration::ZERO, cycle: CYCLE, entries: vec![entry] };
    let gate = StreamGateConfig { list, closes_on_invalid_rx: false, closes_on_octets_exceeded: false };
    let filter = StreamFilterConfig { name: "shut".into(), gate: Some(0), ..StreamFilterConfig::default() };
    let shut = PsfpConfig { filters: vec![filter], gates: vec![gate], meters: Vec::new() };
    let mut bench = Bench::new(NetworkConfig { psfp: [(0, shut)].into(), ..config() });
    bench.send(SLOT_START, 0, scheduled_frame(CT_ID, 60));
    let bench = bench.run(Duration::from_ms(5));
    assert_eq!(bench.discarded(), [(DiscardReason::StreamGateClosed, SCHEDULED)]);
    assert_eq!((bench.deliveries.len(), bench.frames.in_flight()), (0, 0));
}
