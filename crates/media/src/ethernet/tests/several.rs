//! Several switches in a row, and a ring of them.

use chronoseal_core::random::Jitter;
use chronoseal_core::{Event, EventKind};
use chronoseal_wire::protocol_control_frame::ProtocolControlFrame;

use super::bench::*;
use super::*;
use crate::schedule::{Relay, ScheduleTable};

const FAST: u64 = 1_000_000_000;

fn link(ends: Ends, rate: u64, propagation: Duration) -> Link {
    Link { ends, speed: LineSpeed::new(Rate(rate), 24, 12, propagation) }
}

fn station(node: u16, switch: usize, rate: u64) -> Link {
    let station = Attachment { node: NodeId(node), port: PortId(0) };
    link(Ends::Station { station, switch }, rate, Duration::ZERO)
}

fn trunk(one: usize, other: usize, rate: u64) -> Link {
    link(Ends::Switches([one, other]), rate, Duration::ZERO)
}

fn hop(ingress: usize, egress: &[usize]) -> RouteHop {
    RouteHop { ingress, egress: egress.to_vec() }
}

fn switch(number: u16) -> NodeId {
    NodeId(20 + number)
}

/// Best effort, over these switches.
fn route(hops: Vec<RouteHop>) -> Route {
    Route { class: RouteClass::BestEffort { priority: 0 }, hops, len_max: 1514, vid: None }
}

fn network(switches: u16, links: Vec<Link>, routes: Vec<Route>) -> NetworkConfig {
    let schedule = ScheduleTable { cluster_cycle: CYCLE, ..ScheduleTable::default() };
    NetworkConfig { switches: (0..switches).map(switch).collect(), links, routes, schedule, ..config() }
}

/// Stations 0, 1 and 2 in a row, each at a switch of its own: links 3 and 4 join the switches.
fn row(rate: u64, routes: Vec<Route>) -> NetworkConfig {
    let links =
        vec![station(0, 0, rate), station(1, 1, rate), station(2, 2, rate), trunk(0, 1, rate), trunk(1, 2, rate)];
    network(3, links, routes)
}

/// From station 0 to station 2 of a row.
fn along_the_row() -> Vec<RouteHop> {
    vec![hop(0, &[6]), hop(6, &[8]), hop(8, &[5])]
}

#[test]
fn two_switches_take_the_closed_form() {
    // SF2: 1518 bytes with the checksum over three links of 1 Gbit/s and 50 ns, 1.5 us in each switch.
    let propagation = Duration::from_ns(50);
    let ends = |node, switch| {
        let station = Attachment { node: NodeId(node), port: PortId(0) };
        link(Ends::Station { station, switch }, FAST, propagation)
    };
    let links = vec![ends(0, 0), ends(1, 1), link(Ends::Switches([0, 1]), FAST, propagation)];
    let config = network(2, links, vec![route(vec![hop(0, &[4]), hop(4, &[3])])]);
    let mut bench = Bench::new(NetworkConfig { forwarding_delay: Duration::from_ns(1_500), ..config });
    bench.send(Duration::ZERO, 0, plain_frame(StreamId(0), 1514));
    let bench = bench.run(Duration::from_ms(1));
    let arrived: Vec<_> = bench.deliveries.iter().map(|delivery| (delivery.to.node.0, delivery.at)).collect();
    assert_eq!(arrived, [(1, at(Duration::from_ns(39_774)))]);
    assert_eq!(bench.frames.in_flight(), 0);
}

#[test]
fn each_link_has_a_rate_of_its_own() {
    // 84 bytes with gap on each of 10 Mbit/s, 1 Gbit/s and 100 Mbit/s; the gap does not count on the last bit's way.
    let links = vec![station(0, 0, 10_000_000), station(1, 1, 100_000_000), trunk(0, 1, FAST)];
    let config = network(2, links, vec![route(vec![hop(0, &[4]), hop(4, &[3])])]);
    let mut bench = Bench::new(config);
    bench.send(Duration::ZERO, 0, plain_frame(StreamId(0), 60));
    let bench = bench.run(Duration::from_ms(1));
    let on_links = Duration::from_ns(57_600 + 576 + 5_760);
    assert_eq!(bench.deliveries[0].at, at(on_links + FORWARDING_DELAY * 2));
    // It left its last switch when it was through this one.
    assert_eq!(bench.deliveries[0].departed_at, at(on_links + FORWARDING_DELAY * 2 - Duration::from_ns(5_760)));
}

#[test]
fn a_tree_reaches_each_receiver_once() {
    let hops = vec![hop(0, &[6]), hop(6, &[3, 8]), hop(8, &[5])];
    let mut bench = Bench::new(row(100_000_000, vec![route(hops)]));
    (0..3).for_each(|frame| bench.send(Duration::from_us(100 * frame), 0, plain_frame(StreamId(0), 60)));
    let bench = bench.run(Duration::from_ms(1));
    let mut to: Vec<u16> = bench.deliveries.iter().map(|delivery| delivery.to.node.0).collect();
    to.sort_unstable();
    assert_eq!(to, [1, 1, 1, 2, 2, 2]);
    assert_eq!(bench.frames.in_flight(), 0);
    assert_eq!(bench.events, []);
}

#[test]
fn what_queues_on_a_link_between_switches_is_refused_in_the_name_of_the_switch_in_front_of_it() {
    // Two stations at 100 Mbit/s into a link of 10 Mbit/s.
    let links = vec![
        station(0, 0, 100_000_000),
        station(1, 0, 100_000_000),
        station(2, 1, 100_000_000),
        trunk(0, 1, 10_000_000),
    ];
    let routes = [0, 2].map(|ingress| route(vec![hop(ingress, &[6]), hop(6, &[5])]));
    let mut bench = Bench::new(NetworkConfig { queue_len_max: 1_600, ..network(2, links, routes.to_vec()) });
    for stream in [0, 1] {
        bench.send(Duration::ZERO, stream, plain_frame(StreamId(stream), 1000));
        bench.send(Duration::from_us(200), stream, plain_frame(StreamId(stream), 1000));
    }
    let bench = bench.run(Duration::from_ms(10));
    // The first frame is on the slow link, the second waits there, and the two that come then find no room.
    let full = DiscardReason::QueueFull;
    assert_eq!(bench.discarded(), [(full, StreamId(0)), (full, StreamId(1))]);
    assert_eq!(bench.deliveries.len(), 2);
    assert_eq!(bench.frames.in_flight(), 0);
    let series = bench.network.series();
    let total = |name: &str| series.iter().find(|series| series.name == name).map(|series| series.values.clone());
    assert_eq!(total("frames from stations"), Some(vec![4]));
    assert_eq!(total("frames between switches"), Some(vec![2]));
    assert_eq!(total("frames to stations"), Some(vec![2]));
}

#[test]
fn a_frame_that_comes_to_a_switch_by_another_line_than_its_streams_is_refused() {
    let mut bench = Bench::new(row(100_000_000, vec![route(along_the_row())]));
    // Station 2 sends what only station 0 may send; its switch knows the stream, from the other side.
    bench.send(Duration::ZERO, 2, plain_frame(StreamId(0), 60));
    let bench = bench.run(Duration::from_ms(1));
    assert_eq!(bench.discarded(), [(DiscardReason::WrongPort, StreamId(0))]);
    assert_eq!(bench.deliveries, []);
}

#[test]
fn best_effort_goes_by_priority_on_every_line() {
    // A low and a high stream meet on the second trunk, behind a long frame that station 1 has just sent there.
    let low = Route { class: RouteClass::BestEffort { priority: 1 }, ..route(along_the_row()) };
    let high = Route { class: RouteClass::BestEffort { priority: 6 }, ..route(along_the_row()) };
    let across = route(vec![hop(2, &[8]), hop(8, &[5])]);
    let mut bench = Bench::new(row(100_000_000, vec![low, high, across]));
    bench.send(Duration::ZERO, 1, plain_frame(StreamId(2), 1514));
    bench.send(Duration::from_us(110), 0, plain_frame(StreamId(0), 60));
    bench.send(Duration::from_us(111), 0, plain_frame(StreamId(1), 60));
    let bench = bench.run(Duration::from_ms(1));
    let order: Vec<_> = bench.deliveries.iter().map(|delivery| bench.network.stream_of(&delivery.bytes)).collect();
    assert_eq!(order, [2, 1, 0].map(|stream| Some(StreamId(stream))));
}

#[test]
fn the_beacon_reaches_every_station_of_a_ring_once_and_tells_how_old_it_is() {
    // Four switches in a ring, a station at each; the last link closes it.
    let links = (0..4).map(|node| station(node, usize::from(node), 100_000_000));
    let ring = [(0, 1), (1, 2), (2, 3), (0, 3)].map(|(one, other)| trunk(one, other, FAST));
    let beacon = Some(Beacon { sync_id: 4043, integration_cycle: CYCLE });
    let config = network(4, links.chain(ring).collect(), Vec::new());
    for jitter in [Jitter::default(), Jitter { min: Duration::ZERO, mean: PRECISION, max: PRECISION * 3 }] {
        let mut bench = Bench::new(NetworkConfig { beacon, forwarding_jitter: jitter, ..config.clone() });
        // A station that sends a beacon itself is not believed.
        bench.send(Duration::from_us(1), 3, forged_beacon());
        let bench = bench.run(Duration::from_ms(19));
        assert_eq!(bench.discarded(), [(DiscardReason::NotSyncMaster, StreamId::NONE)]);
        let mut to: Vec<u16> = bench.deliveries.iter().map(|delivery| delivery.to.node.0).collect();
        to.sort_unstable();
        assert_eq!(to, [0, 0, 1, 1, 2, 2, 3, 3]);
        for delivery in &bench.deliveries {
            let frame = chronoseal_wire::ethernet::Frame::new_checked(&delivery.bytes).unwrap();
            let control = ProtocolControlFrame::parse(frame.payload()).unwrap();
            let due = at(CYCLE * i64::from(control.integration_cycle));
            let unit = Duration::from_ps(16 * 3);
            let error = (delivery.at - due - control.transparent_clock).abs();
            assert!(error <= unit, "to station {}: off by {error}", delivery.to.node.0);
        }
        assert_eq!(bench.frames.in_flight(), 0);
    }
}

fn forged_beacon() -> Vec<u8> {
    let destination = virtual_link::critical_traffic_address(MARKER, 4043);
    frame_to(destination, TypeOrLength::EtherType(ETHERTYPE_PROTOCOL_CONTROL), 60)
}

/// Stream 0 in one slot along a row of three switches, with its turn at each of them.
fn scheduled_row(dispatches: [i64; 3]) -> NetworkConfig {
    let [first, second, third] = dispatches.map(Duration::from_us);
    let turn = |hop, start, dispatch| Relay { slot: 0, hop, start, dispatch, end: dispatch + Duration::from_us(50) };
    let slot = Slot { dispatch: first, ..config().schedule.slots[0] };
    let relays = vec![turn(1, first, second), turn(2, second, third)];
    let class = RouteClass::TimeTriggered { ct_id: CT_ID };
    let scheduled = Route { class, hops: along_the_row(), len_max: 60, vid: None };
    let across = route(vec![hop(2, &[8]), hop(8, &[5])]);
    let config = row(100_000_000, vec![scheduled, across]);
    NetworkConfig { schedule: ScheduleTable { slots: vec![slot], relays, ..config.schedule }, ..config }
}

const DISPATCHES: [i64; 3] = [1_100, 1_200, 1_300];

#[test]
fn a_scheduled_frame_leaves_each_switch_at_its_turn_whatever_others_send() {
    // A longest frame of best effort is ready for the second trunk at every microsecond around the turn there.
    for before in (-10..140).map(Duration::from_us) {
        let mut bench = Bench::new(scheduled_row(DISPATCHES));
        bench.send(SLOT_START, 0, scheduled_frame(CT_ID, 60));
        let ready = Duration::from_us(DISPATCHES[1]) - before;
        bench.send(ready - FORWARDING_DELAY - reception(1514), 1, plain_frame(StreamId(1), 1514));
        let bench = bench.run(Duration::from_ms(9));
        let forwarded: Vec<_> = (bench.events.iter())
            .filter(|(_, event)| event.kind == EventKind::Forwarded)
            .map(|(at, event)| (*at, event.value))
            .collect();
        assert_eq!(forwarded, DISPATCHES.map(|us| (at(Duration::from_us(us)), 0)), "ready {before} before");
        let scheduled = bench.deliveries.iter().find(|delivery| delivery.bytes.len() == 60).expect("it arrives");
        assert_eq!(scheduled.departed_at, at(Duration::from_us(DISPATCHES[2])));
        assert_eq!(bench.deliveries.len(), 2, "ready {before} before");
    }
}

#[test]
fn a_turn_that_cannot_be_kept_loses_the_frame_there_and_every_switch_behind_misses_it() {
    // The second switch would have to pass it on before it is there.
    let mut bench = Bench::new(scheduled_row([1_100, 1_105, 1_300]));
    bench.send(SLOT_START, 0, scheduled_frame(CT_ID, 60));
    let bench = bench.run(Duration::from_ms(9));
    assert_eq!(bench.discarded(), [(DiscardReason::OutsideWindow, StreamId(0))]);
    let missing = bench.events.iter().filter(|(_, event)| event.kind == EventKind::Missing).map(|(at, _)| *at);
    assert!(missing.eq([1_105, 1_300].map(|us| at(Duration::from_us(us)))));
    assert_eq!((bench.deliveries.len(), bench.frames.in_flight()), (0, 0));
}

#[test]
fn without_dispatch_times_a_scheduled_frame_goes_through_at_once() {
    let config = NetworkConfig { waits_for_dispatch: false, ..scheduled_row(DISPATCHES) };
    // The turns are where it is: each switch has it one reception and one forwarding delay after the one before.
    let step = reception(60) + FORWARDING_DELAY;
    let mut schedule = config.schedule.clone();
    schedule.slots[0].dispatch = SLOT_START + step;
    for (index, relay) in schedule.relays.iter_mut().enumerate() {
        relay.start = SLOT_START + step * (index as i64 + 1);
        relay.dispatch = relay.start + step;
        relay.end = relay.dispatch + Duration::from_us(50);
    }
    let mut bench = Bench::new(NetworkConfig { schedule, ..config });
    bench.send(SLOT_START, 0, scheduled_frame(CT_ID, 60));
    let bench = bench.run(Duration::from_ms(9));
    assert_eq!(bench.discarded(), []);
    assert_eq!(bench.deliveries[0].at, at(SLOT_START + step * 3 + reception(60)));
    let missing = |(_, event): &&(SimTime, Event)| event.kind == EventKind::Missing;
    assert_eq!(bench.events.iter().filter(missing).count(), 0);
}

#[test]
#[should_panic(expected = "the links of stations are the first ones")]
fn a_station_behind_a_link_of_switches_is_a_mistake_in_the_program() {
    Network::new(network(2, vec![trunk(0, 1, FAST), station(0, 0, FAST)], Vec::new()));
}
