//! One switch with its stations, and several of them.

mod bench;
mod control;
mod second;
mod several;
mod shaped;
mod splices;
mod stream_filters;

use chronoseal_core::{Event, EventKind, NodeId, PortId, Rate};
use chronoseal_wire::ethernet::TypeOrLength;
use chronoseal_wire::protocol_control_frame::{ETHERTYPE_PROTOCOL_CONTROL, ProtocolControlFrame};
use chronoseal_wire::virtual_link;

use self::bench::*;
use super::forwarding::Forwarded;
use super::ways::HopId;
use super::*;
use crate::line::LineSpeed;
use crate::medium::FrameLabel;
use crate::schedule::Slot;

#[test]
fn a_frame_in_its_window_is_passed_on_at_its_dispatch_time() {
    let bench = after(SLOT_START, 0, scheduled_frame(CT_ID, 60));
    let expected = Delivery {
        at: at(DISPATCH + reception(60)),
        to: Attachment { node: NodeId(1), port: PortId(0) },
        departed_at: at(DISPATCH),
        sent_at: at(SLOT_START),
        bytes: scheduled_frame(CT_ID, 60),
    };
    assert_eq!(bench.deliveries, [expected]);
    let [(forwarded_at, event)] = bench.events[..] else { panic!("{:?}", bench.events) };
    assert_eq!((forwarded_at, event.kind, event.stream), (at(DISPATCH), EventKind::Forwarded, SCHEDULED));
    assert_eq!(event.value, 0, "exactly at its dispatch time");
    assert_eq!(bench.frames.in_flight(), 0);
}

#[test]
fn a_switch_that_does_not_wait_passes_it_on_after_the_forwarding_delay() {
    let mut bench = Bench::new(NetworkConfig { waits_for_dispatch: false, ..config() });
    bench.send(SLOT_START, 0, scheduled_frame(CT_ID, 60));
    let bench = bench.run(Duration::from_ms(9));
    assert_eq!(bench.deliveries[0].departed_at, at(SLOT_START + reception(60) + FORWARDING_DELAY));
    assert_eq!(bench.kinds(), [EventKind::Forwarded]);
}

#[test]
fn a_window_lasts_from_the_earliest_last_bit_to_the_last_chance_to_leave_in_time() {
    let ps = Duration::from_ps(1);
    let opens = SLOT_START + reception(60) - PRECISION;
    let closes = DISPATCH - FORWARDING_DELAY;
    for (last_bit, admitted) in [(opens - ps, false), (opens, true), (closes, true), (closes + ps, false)] {
        let bench = after(last_bit - reception(60), 0, scheduled_frame(CT_ID, 60));
        assert_eq!(bench.deliveries.len(), usize::from(admitted), "last bit at {last_bit}");
        let refused = vec![(DiscardReason::OutsideWindow, SCHEDULED)];
        assert_eq!(bench.discarded(), if admitted { vec![] } else { refused });
    }
}

#[test]
fn discards_with_the_reason() {
    let control = frame_to(
        virtual_link::critical_traffic_address(MARKER, 4043),
        TypeOrLength::EtherType(ETHERTYPE_PROTOCOL_CONTROL),
        60,
    );
    let unknown = (DiscardReason::UnknownStream, StreamId::NONE);
    for (station, bytes, expected) in [
        (2, scheduled_frame(CT_ID, 60), (DiscardReason::WrongPort, SCHEDULED)),
        (0, plain_frame(PLAIN, 60), (DiscardReason::WrongPort, PLAIN)),
        (0, scheduled_frame(CT_ID, 61), (DiscardReason::TooLong, SCHEDULED)),
        (0, scheduled_frame(CT_ID, 59), (DiscardReason::TooShort, StreamId::NONE)),
        (0, control, (DiscardReason::NotSyncMaster, StreamId::NONE)),
        (0, scheduled_frame(CT_ID + 1, 60), unknown),
        (2, plain_frame(StreamId(77), 60), unknown),
        // A scheduled stream has its virtual link and no other address.
        (0, plain_frame(SCHEDULED, 60), unknown),
        (0, frame_to(virtual_link::station_address(NodeId(1)), TypeOrLength::EtherType(0x0800), 60), unknown),
    ] {
        let bench = after(SLOT_START, station, bytes);
        assert_eq!(bench.discarded(), [expected]);
        assert_eq!((bench.deliveries.len(), bench.frames.in_flight()), (0, 0), "{expected:?}");
        assert!(bench.kinds().contains(&EventKind::Missing), "the slot stays empty: {expected:?}");
    }
}

#[test]
fn a_second_frame_in_a_window_is_refused_and_the_next_cycle_is_open_again() {
    let mut bench = Bench::new(config());
    for when in [SLOT_START, SLOT_START + Duration::from_us(20), CYCLE + SLOT_START] {
        bench.send(when, 0, scheduled_frame(CT_ID, 60));
    }
    let bench = bench.run(Duration::from_ms(19));
    assert_eq!(bench.discarded(), [(DiscardReason::DuplicateInWindow, SCHEDULED)]);
    let departures: Vec<_> = bench.deliveries.iter().map(|delivery| delivery.departed_at).collect();
    assert_eq!(departures, [at(DISPATCH), at(CYCLE + DISPATCH)]);
}

#[test]
fn slots_of_one_dispatch_time_act_in_the_order_of_the_table() {
    // A second scheduled stream, from station 2, on another link at the same time; both end at station 1.
    let second = StreamId(2);
    let mut config = config();
    config.routes.push(over_switch(RouteClass::TimeTriggered { ct_id: CT_ID + 1 }, 2, &[1], 60));
    let slot = config.schedule.slots[0];
    config.schedule.slots.push(Slot { stream: second, ..slot });
    for order in [[0, 1], [1, 0]] {
        let mut config = config.clone();
        config.schedule.slots = order.map(|index| config.schedule.slots[index]).to_vec();
        let expected: Vec<_> = config.schedule.slots.iter().map(|slot| slot.stream).collect();
        let mut bench = Bench::new(config);
        bench.send(SLOT_START, 0, scheduled_frame(CT_ID, 60));
        bench.send(SLOT_START, 2, scheduled_frame(CT_ID + 1, 60));
        let bench = bench.run(Duration::from_ms(19));
        let streams = |kind| -> Vec<_> {
            bench.events.iter().filter(|(_, event)| event.kind == kind).map(|(_, event)| event.stream).collect()
        };
        // The second waits on the line behind the first; of the next cycle nothing came.
        assert_eq!(streams(EventKind::Forwarded), expected);
        assert_eq!(streams(EventKind::Missing), expected);
    }
}

#[test]
fn an_empty_slot_is_missing_in_each_cycle() {
    let mut bench = Bench::new(config());
    bench.send(CYCLE + SLOT_START, 0, scheduled_frame(CT_ID, 60));
    let bench = bench.run(Duration::from_ms(29));
    let missing: Vec<_> = bench.events.iter().filter(|(_, event)| event.kind == EventKind::Missing).collect();
    let expected = |cycle: i64| (at(CYCLE * cycle + DISPATCH), Event::of(EventKind::Missing, SCHEDULED, cycle as u64));
    assert_eq!(missing, [&expected(0), &expected(2)], "cycle 1 had its frame");
}

#[test]
fn best_effort_waits_for_a_reserved_start_and_never_delays_it() {
    // Every microsecond of the time in which a longest frame could be in the way: 123.04 us before the dispatch.
    for before in (0..200).map(Duration::from_us) {
        let mut bench = Bench::new(config());
        let ready = DISPATCH - before;
        bench.send(SLOT_START, 0, scheduled_frame(CT_ID, 60));
        bench.send(ready - FORWARDING_DELAY - reception(1514), 2, plain_frame(PLAIN, 1514));
        let bench = bench.run(Duration::from_ms(9));
        let to_1 = |len| {
            let mine = |delivery: &&Delivery| delivery.to.node == NodeId(1) && delivery.bytes.len() == len;
            bench.deliveries.iter().find(mine).expect("both frames arrive").departed_at
        };
        assert_eq!(to_1(60), at(DISPATCH), "ready {before} before the dispatch");
        let speed = speed();
        let fits = ready + speed.occupancy(1514) <= DISPATCH;
        let expected = if fits { ready } else { DISPATCH + speed.occupancy(60) };
        assert_eq!(to_1(1514), at(expected), "ready {before} before the dispatch");
    }
}

#[test]
fn store_and_forward_latency_is_the_closed_form() {
    // SF1 and SF2, checksum included: (64 + 8) bytes twice at 100 Mbit/s, (1518 + 8) twice at 1 Gbit/s.
    for (rate, len, expected_ns) in [(100_000_000, 60, 11_520), (1_000_000_000, 1514, 24_416)] {
        let speed = LineSpeed::new(Rate(rate), 24, 12, Duration::ZERO);
        let mut bench = Bench::new(with_speed(speed, NetworkConfig { forwarding_delay: Duration::ZERO, ..config() }));
        bench.send(Duration::ZERO, 2, plain_frame(PLAIN, len));
        let bench = bench.run(Duration::from_us(500));
        let arrivals: Vec<_> = bench.deliveries.iter().map(|delivery| (delivery.to.node.0, delivery.at)).collect();
        let expected = at(Duration::from_ns(expected_ns));
        assert_eq!(arrivals, [(0, expected), (1, expected)], "a copy to each receiver at once");
    }
}

#[test]
fn propagation_and_forwarding_delays_add_up() {
    let delay = Duration::from_ns(500);
    let speed = LineSpeed::new(Rate(100_000_000), 24, 12, delay);
    let mut bench = Bench::new(with_speed(speed, config()));
    bench.send(Duration::ZERO, 2, plain_frame(PLAIN, 60));
    let bench = bench.run(Duration::from_us(500));
    assert_eq!(bench.deliveries[0].at, at(Duration::from_ns(11_520) + delay * 2 + FORWARDING_DELAY));
}

#[test]
fn the_beacon_tells_how_old_it_is() {
    let beacon = Some(Beacon { sync_id: 4043, integration_cycle: CYCLE });
    let mut bench = Bench::new(NetworkConfig { beacon, ..config() });
    // A longest frame is on its way to stations 0 and 1 when the second beacon is due.
    let ready = CYCLE - Duration::from_us(50);
    bench.send(ready - FORWARDING_DELAY - reception(1514), 2, plain_frame(PLAIN, 1514));
    let bench = bench.run(Duration::from_ms(19));
    let mut seen = 0;
    for delivery in bench.deliveries.iter().filter(|delivery| delivery.bytes.len() == 60) {
        let frame = chronoseal_wire::ethernet::Frame::new_checked(&delivery.bytes).unwrap();
        assert_eq!(frame.destination(), virtual_link::critical_traffic_address(MARKER, 4043));
        let control = ProtocolControlFrame::parse(frame.payload()).unwrap();
        let due = at(CYCLE * i64::from(control.integration_cycle));
        assert_eq!(control.transparent_clock, delivery.at - due, "to station {}", delivery.to.node.0);
        let waited = delivery.departed_at - due;
        let blocked = control.integration_cycle == 1 && delivery.to.node != NodeId(2);
        let rest = speed().occupancy(1514) - Duration::from_us(50);
        assert_eq!(waited, if blocked { rest } else { Duration::ZERO });
        seen += 1;
    }
    assert_eq!(seen, 6, "two beacons to each of three stations");
}

#[test]
fn what_a_scheduled_frame_waits_for_depends_on_the_integration_policy() {
    let ready = DISPATCH - Duration::from_us(50);
    let gap = Duration::from_ns(960);
    let rest = speed().occupancy(1514) - Duration::from_us(50);
    let after_it = speed().occupancy(60) + reception(1514);
    for (integration, waits, plain_at) in [
        (Integration::TimelyBlock, Duration::ZERO, DISPATCH + after_it),
        (Integration::Shuffling, rest, ready + reception(1514)),
        (Integration::Preemption, gap, DISPATCH + gap + after_it),
    ] {
        let mut bench = Bench::new(NetworkConfig { integration, ..config() });
        bench.send(ready - FORWARDING_DELAY - reception(1514), 2, plain_frame(PLAIN, 1514));
        bench.send(SLOT_START, 0, scheduled_frame(CT_ID, 60));
        let bench = bench.run(Duration::from_ms(9));
        let forwarded = bench.events.iter().find(|(_, event)| event.kind == EventKind::Forwarded);
        assert_eq!(forwarded.map(|(_, event)| event.value), Some(waits.as_ps()), "{integration:?}");
        let to_receiver = bench.deliveries.iter().filter(|delivery| delivery.to.node == NodeId(1));
        let plain = to_receiver.filter(|delivery| delivery.bytes.len() == 1514).map(|delivery| delivery.at);
        assert_eq!(plain.collect::<Vec<_>>(), [at(plain_at)], "{integration:?}");
        assert_eq!((bench.discarded(), bench.frames.in_flight()), (vec![], 0), "{integration:?}");
    }
}

#[test]
fn frames_of_one_instant_are_passed_on_by_port_and_then_in_their_order() {
    // A second plain stream, from station 0; both end at station 1.
    let second = StreamId(2);
    let mut config = config();
    config.routes[1].hops[0].egress = vec![3];
    config.routes.push(over_switch(RouteClass::BestEffort { priority: 0 }, 0, &[1], 1514));
    let mut bench = Bench::new(config);
    // What went through the switch before must not matter: station 2 has had two frames there and station 0 none.
    bench.send(Duration::ZERO, 2, plain_frame(PLAIN, 60));
    bench.send(Duration::from_us(1), 2, plain_frame(PLAIN, 60));
    for round in 1..5 {
        let when = Duration::from_us(100 * round);
        // Whichever station hands over first.
        let stations = if round % 2 == 0 { [(0, second), (2, PLAIN)] } else { [(2, PLAIN), (0, second)] };
        for (station, stream) in stations {
            bench.send(when, station, plain_frame(stream, 60));
            bench.send(when, station, plain_frame(stream, 61));
        }
    }
    let bench = bench.run(Duration::from_us(900));
    let order: Vec<_> = bench.deliveries[2..]
        .iter()
        .map(|delivery| (bench.network.stream_of(&delivery.bytes).expect("a stream of ours"), delivery.bytes.len()))
        .collect();
    // The two of 60 bytes are in the switch at one instant, the two of 61 bytes at a later one.
    let round = [(second, 60), (PLAIN, 60), (second, 61), (PLAIN, 61)];
    assert_eq!(order, round.repeat(4));
}

#[test]
fn frames_of_one_port_keep_their_order_however_long_each_of_them_takes() {
    let mut forwarding = Forwarding::new(2);
    let mut frames = FrameStore::new();
    let mut keep = |port, due| {
        let frame = frames.allocate(FrameLabel::default());
        let due = forwarding.in_order(port, at(Duration::from_us(due)));
        forwarding.keep(port, Forwarded { frame, hop: HopId(0), priority: Priority(0), due });
        frame
    };
    // The last one alone would be through before the two that came in before it.
    let [first, second, third, last] = [keep(1, 2), keep(1, 5), keep(1, 5), keep(1, 3)];
    let other = keep(0, 1);
    let mut take = |port, now| forwarding.take(port, at(Duration::from_us(now))).map(|done| done.frame);
    assert_eq!([take(1, 1), take(0, 1)], [None, Some(other)]);
    assert_eq!([take(1, 4), take(1, 4)], [Some(first), None]);
    assert_eq!([take(1, 5), take(1, 5), take(1, 5), take(1, 5)], [Some(second), Some(third), Some(last), None]);
}

#[test]
fn a_full_queue_refuses_and_keeps_what_it_has() {
    let mut bench = Bench::new(NetworkConfig { queue_len_max: 1600, ..config() });
    for _ in 0..3 {
        bench.send(Duration::ZERO, 2, plain_frame(PLAIN, 1000));
    }
    let bench = bench.run(Duration::from_ms(1));
    // The first is on the wire, the second waits, the third finds no room on the link to the switch.
    assert_eq!(bench.discarded(), [(DiscardReason::QueueFull, StreamId::NONE)]);
    assert_eq!(bench.deliveries.len(), 4);
    assert_eq!(bench.frames.in_flight(), 0);
}

#[test]
fn an_attacker_on_a_link_holds_each_frame_before_the_switch_does() {
    let spliced = || NetworkConfig {
        splices: vec![Splice { victim: 0, attacker: NodeId(5), seat: Seat::BeforeWire, keeps_priorities: false }],
        ..config()
    };
    let port = |port| Attachment { node: NodeId(5), port: PortId(port) };
    let mut bench = Bench::new(spliced());
    bench.send(SLOT_START, 0, scheduled_frame(CT_ID, 60));
    let bench = bench.run(Duration::from_ms(9));
    let [ref delivery] = bench.deliveries[..] else { panic!("{:?}", bench.deliveries) };
    assert_eq!((delivery.to, delivery.at), (port(0), at(SLOT_START)), "at once, and to nobody else");

    // What it sends goes on as if the victim had sent it, time on the wire included.
    let mut bench = Bench::new(spliced());
    bench.send_from(SLOT_START, port(1), scheduled_frame(CT_ID, 60));
    let bench = bench.run(Duration::from_ms(9));
    assert_eq!(bench.deliveries[0].departed_at, at(DISPATCH));

    // The other stations' links are not in its hands.
    let mut bench = Bench::new(spliced());
    bench.send(Duration::ZERO, 2, plain_frame(PLAIN, 60));
    assert_eq!(bench.run(Duration::from_us(900)).deliveries.len(), 2);
}

#[test]
fn a_frame_from_nowhere_is_refused() {
    let mut bench = Bench::new(config());
    bench.send(Duration::ZERO, 4, plain_frame(PLAIN, 60));
    let bench = bench.run(Duration::from_us(900));
    assert_eq!(bench.discarded(), [(DiscardReason::WrongPort, StreamId::NONE)]);
    assert_eq!(bench.frames.in_flight(), 0);
}

#[test]
fn a_sniffing_switch_shifts_stamps_by_what_a_frame_takes_beyond_the_beacon() {
    let network = Network::new(NetworkConfig { sniffing_switch: true, ..config() });
    let mut frames = FrameStore::new();
    let frame = frames.allocate(FrameLabel::default());
    frames.set_len(frame, 60);
    assert_eq!(network.stamp(SimTime::ZERO, 0, frame, &frames), SimTime::ZERO);
    frames.set_len(frame, 1514);
    assert_eq!(network.stamp(SimTime::ZERO, 0, frame, &frames), at(reception(1514) - reception(60)));
}

#[test]
fn a_stations_own_best_effort_never_delays_its_scheduled_frame() {
    let routes = |config: &mut NetworkConfig| config.routes[1].hops[0].ingress = 0;
    // Its clock may be off by the precision, and its best-effort frame may be handed over at any time.
    for error in [-PRECISION, Duration::ZERO, PRECISION] {
        for before in (-15..150).map(Duration::from_us) {
            let mut config = config();
            routes(&mut config);
            let mut bench = Bench::new(config);
            bench.send(SLOT_START - before, 0, plain_frame(PLAIN, 1514));
            bench.send(SLOT_START + error, 0, scheduled_frame(CT_ID, 60));
            let bench = bench.run(Duration::from_ms(9));
            assert_eq!(bench.discarded(), [], "clock {error} off, {before} before its slot");
            assert_eq!(bench.deliveries.len(), 3, "clock {error} off, {before} before its slot");
        }
    }
}

#[test]
fn frames_and_the_busiest_link_are_counted_by_window() {
    // 1514 bytes and 24 more at 100 Mbit/s.
    const LONG: Duration = Duration::from_ns(123_040);
    let window = Duration::from_ms(1);
    let mut bench = Bench::new(NetworkConfig { load_window: Some(window), queue_len_max: 1600, ..config() });
    // Begins 23.04 us before the first window ends; two copies leave in the second.
    bench.send(window - Duration::from_us(100), 2, plain_frame(PLAIN, 1514));
    // In the fourth: the second waits for the first, and a third finds no room.
    (0..3).for_each(|_| bench.send(Duration::from_us(3_200), 2, plain_frame(PLAIN, 1514)));
    let bench = bench.run(Duration::from_ms(6));
    let series = bench.network.series();
    let values = |name: &str, window: Option<Duration>| -> Vec<i64> {
        let found = series.iter().find(|series| series.name == name && series.window == window);
        found.unwrap_or_else(|| panic!("{name} in {series:?}")).values.clone()
    };
    let by_window = |name: &str| values(name, Some(window));
    let mut from_stations = by_window("frames from stations");
    // The window that has begun is there as far as it goes.
    assert_eq!(from_stations.len(), by_window("busiest link").len());
    from_stations.truncate(4);
    assert_eq!(from_stations, [1, 0, 0, 2]);
    assert_eq!(by_window("frames to stations")[..4], [0, 2, 0, 4]);
    assert_eq!(by_window("frames dropped")[..4], [0, 0, 0, 1]);
    let used = [Duration::from_us(100), LONG, Duration::ZERO, LONG * 2].map(Duration::as_ns);
    assert_eq!(by_window("busiest link")[..4], used);
    assert_eq!(values("frames to stations", None), [6]);
    assert_eq!(values("busiest link", None), [3 * LONG.as_ns()], "its use across all windows");

    let totals = Bench::new(config()).run(Duration::from_ms(6)).network.series();
    assert!(totals.iter().all(|series| series.window.is_none() && series.values == [0]), "{totals:?}");
}
