//! Switches whose ports shape, gate and interrupt, against what others measured and what can be worked out by hand.

use chronoseal_core::LocalTime;
use chronoseal_core::oscillator::RateDeviation;

use super::*;
use crate::port::{GateControlList, GateEntry, PortConfig, Selection};

/// Gigabit links from stations to one switch, which passes frames on after a microsecond.
fn gigabit(streams: &[(u16, u16, u8)]) -> NetworkConfig {
    let fast = LineSpeed::new(Rate(1_000_000_000), 24, 12, Duration::ZERO);
    let stations = streams.iter().map(|(from, to, _)| *from.max(to)).max().unwrap_or(0) + 1;
    let port_0 = |node| Attachment { node: NodeId(node), port: PortId(0) };
    NetworkConfig {
        links: (0..stations)
            .map(|node| Link { ends: Ends::Station { station: port_0(node), switch: 0 }, speed: fast })
            .collect(),
        routes: streams
            .iter()
            .map(|(from, to, priority)| {
                let class = RouteClass::BestEffort { priority: *priority };
                over_switch(class, usize::from(*from), &[usize::from(*to)], 1518)
            })
            .collect(),
        schedule: Default::default(),
        forwarding_delay: Duration::from_us(1),
        ..config()
    }
}

#[test]
fn a_scheduled_gate_opens_for_its_class() {
    // Closed form GATE1: class 7 is open in [250, 260) us of 500, everything else is closed.
    let mut config = gigabit(&[(0, 1, 7)]);
    let entry = |open, us| GateEntry { open, hold: false, lasts: Duration::from_us(us) };
    let list = GateControlList {
        base_time: Duration::ZERO,
        cycle: Duration::from_us(500),
        entries: vec![entry(0, 250), entry(0x80, 10), entry(0, 240)],
        hold_advance: Duration::ZERO,
        change: None,
    };
    config.ports.insert(3, PortConfig { gates: Some(list), ..PortConfig::default() });
    let mut bench = Bench::new(config);
    bench.send(Duration::from_us(100), 0, plain_frame(StreamId(0), 124));
    let bench = bench.run(Duration::from_ms(1));
    let [ref delivery] = bench.deliveries[..] else { panic!("{:?}", bench.deliveries) };
    assert_eq!(delivery.departed_at, at(Duration::from_ns(250_000)));
    assert_eq!(delivery.at, at(Duration::from_ns(251_088)));
}

/// Switches and stations whose clocks make the time themselves: those of gates at both ends of a frame's way are 50 us ahead.
#[test]
fn a_clock_that_is_50_us_ahead_opens_its_gate_50_us_earlier() {
    let entry = |open, us| GateEntry { open, hold: false, lasts: Duration::from_us(us) };
    let list = GateControlList {
        base_time: Duration::ZERO,
        cycle: Duration::from_us(500),
        entries: vec![entry(0, 250), entry(0x81, 10), entry(0, 240)],
        hold_advance: Duration::ZERO,
        change: None,
    };
    let port = PortConfig { gates: Some(list), ..PortConfig::default() };
    // The frame comes to its switch by the line of its station, 0, with the lowest priority, and leaves it by 3 with the highest.
    for line in [3, 0] {
        for is_own in [true, false] {
            let clocks = control::clocks(vec![0]);
            let mut config = gigabit(&[(0, 1, 7)]);
            config.clocks = is_own.then_some(clocks);
            config.ports.insert(line, port.clone());
            let mut bench = Bench::new(config);
            let station = Attachment { node: NodeId(0), port: PortId(0) };
            let followed: &[Attachment] = if is_own && line == 0 { &[station] } else { &[] };
            assert_eq!(bench.network.follows_clocks_of(), followed);
            let (now, ahead, mut out) = (SimTime::ZERO, Duration::from_us(50), Vec::new());
            bench.network.clock_looked_at(now, 0, Some((ahead, RateDeviation::ZERO)), &mut bench.frames, &mut out);
            let clock = Oscillator::through(now, LocalTime::ZERO + ahead, RateDeviation::ZERO);
            bench.network.clock_shown(now, station, clock, &mut out);
            bench.send(Duration::from_us(100), 0, plain_frame(StreamId(0), 124));
            let bench = bench.run(Duration::from_ms(1));
            let first = bench.deliveries.iter().find(|delivery| delivery.bytes.len() == 124).unwrap();
            let starts = at(Duration::from_ns(if is_own { 200_000 } else { 250_000 }));
            // Behind its own port it goes over the switch, which takes its time.
            let later = Duration::from_ns(if line == 0 { 1_088 + 1_000 } else { 0 });
            assert_eq!(first.departed_at, starts + later, "line {line}, own clocks: {is_own}");
        }
    }
}

#[test]
fn an_interrupted_frame_comes_whole_and_later_and_the_line_counts_what_it_was_used() {
    let mut config = gigabit(&[(0, 2, 0), (1, 2, 7)]);
    let mut port = PortConfig::default();
    port.classes[0].is_preemptable = true;
    config.ports.insert(5, port);
    let mut bench = Bench::new(config);
    bench.send(Duration::ZERO, 0, plain_frame(StreamId(0), 1514));
    // It is ready to leave the switch when the long one begins to.
    let speed = LineSpeed::new(Rate(1_000_000_000), 24, 12, Duration::ZERO);
    let late = speed.reception(1514) - speed.reception(60);
    bench.send(late, 1, plain_frame(StreamId(1), 60));
    let bench = bench.run(Duration::from_ms(1));
    let [ref express, ref long] = bench.deliveries[..] else { panic!("{:?}", bench.deliveries) };
    assert_eq!((express.bytes.len(), long.bytes.len()), (60, 1514));
    let starts = at(speed.reception(1514) + Duration::from_us(1));
    assert_eq!(long.departed_at, starts, "its first bit");
    // The first part is 8 + 60 + 4 bytes and a gap of 12, then the express frame, then the rest with a preamble.
    let byte = Duration::from_ns(8);
    assert_eq!(express.departed_at, starts + byte * (8 + 60 + 4 + 12));
    assert_eq!(long.at, starts + byte * (1526 + 24 + 84));
    let busiest = bench.network.series().into_iter().find(|series| series.name == "busiest link").unwrap();
    assert_eq!(busiest.values, [(byte * (1538 + 24 + 84)).as_ns()]);
}

/// The credit-based shaper of INET's validation test (inet-framework/inet, tests/validation/tsn/trafficshaping/
/// creditbasedshaper, with its expected values in python/inet/test/validation.py), which takes over the network of
/// CoRE4INET's examples/tsn/medium_network: four stations at a switch of 100 Mbit/s send to a fifth one. Latencies count
/// from the production to the last bit.
#[test]
fn credit_based_shaping_is_that_of_inet_and_core4inet() {
    // By stream: priority, frame without checksum, period, first one, idle slope; then the least and the greatest latency.
    let streams: [(u8, usize, i64, i64, Option<u64>); 4] = [
        (0, 1514, 125_000, 0, None),
        (5, 318, 250_000, 1, Some(10_976_000)),
        (6, 318, 125_000, 0, Some(21_952_000)),
        (7, 1518, 300_000, 0, None),
    ];
    let expected = [(1, 88_259, 535_939, 247.259), (2, 60_900, 307_260, 161.309), (3, 252_900, 375_780, 298.477)];
    let ways: Vec<(u16, u16, u8)> = (0u16..).zip(&streams).map(|(from, stream)| (from, 4, stream.0)).collect();
    let speed = LineSpeed::new(Rate(100_000_000), 24, 12, Duration::from_ns(50));
    let mut config = with_speed(speed, gigabit(&ways));
    // The longest frames have tags without a VLAN.
    config.routes[3].vid = Some(0);
    config.forwarding_delay = Duration::from_us(8);
    let mut port = PortConfig::default();
    for (priority, .., slope) in streams {
        let class = &mut port.classes[usize::from(priority)];
        let shaped = |slope| Selection::CreditBased { idle_slope: Rate(slope), changed: None };
        class.selection = slope.map_or(Selection::Strict, shaped);
        // Four frames, which only the unshaped flood fills.
        class.room = Some(4 * 1518);
    }
    config.ports.insert(9, port);
    let mut bench = Bench::new(config);
    let mut produced: Vec<Vec<SimTime>> = vec![Vec::new(); 4];
    let end = Duration::from_s(1);
    for (station, (priority, len, period, first, _)) in (0u16..).zip(streams) {
        let mut when = Duration::from_ns(first);
        while when < end {
            let mut bytes = plain_frame(StreamId(station), len.min(1514));
            if len > 1514 {
                let header = chronoseal_wire::ethernet::Header {
                    destination: virtual_link::stream_address(StreamId(station)),
                    source: virtual_link::station_address(NodeId(station)),
                    type_or_length: TypeOrLength::EtherType(0x88b5),
                };
                bytes.resize(len, 0);
                let tag = chronoseal_wire::ethernet::VlanTag { pcp: priority, drop_eligible: false, vid: 0 };
                header.emit_tagged(tag, &mut bytes);
            }
            bench.send(when, station, bytes);
            produced[usize::from(station)].push(at(when));
            when += Duration::from_ns(period);
        }
    }
    let bench = bench.run(end);
    let mut latencies: Vec<Vec<Duration>> = vec![Vec::new(); 4];
    for delivery in &bench.deliveries {
        let stream = bench.network.stream_of(&delivery.bytes).unwrap().index();
        let number = latencies[stream].len();
        latencies[stream].push(delivery.at - produced[stream][number]);
    }
    for (stream, min, max, mean) in expected {
        let seen = &latencies[stream];
        let range = (seen.iter().min().unwrap().as_ns(), seen.iter().max().unwrap().as_ns());
        assert_eq!(range, (min, max), "stream {stream}");
        let average = seen.iter().map(|one| one.as_us_f64()).sum::<f64>() / seen.len() as f64;
        assert!((average - mean).abs() <= mean / 1000.0, "stream {stream}: {average} us");
    }
}

#[test]
fn a_frame_has_the_tag_of_its_stream_and_the_priority_in_it() {
    use chronoseal_wire::ethernet::{Header, VlanTag};
    let tagged = |tag: Option<VlanTag>| {
        let mut bytes = vec![0; 100];
        let header = Header {
            destination: virtual_link::stream_address(StreamId(0)),
            source: virtual_link::station_address(NodeId(0)),
            type_or_length: TypeOrLength::EtherType(0x88b5),
        };
        match tag {
            Some(tag) => header.emit_tagged(tag, &mut bytes),
            None => header.emit(&mut bytes),
        }
        bytes
    };
    let tag = |pcp, vid| Some(VlanTag { pcp, drop_eligible: false, vid });
    for (vid, sent, is_taken) in [
        (Some(5), tag(0, 5), true),
        (Some(5), tag(0, 6), false),
        (Some(5), None, false),
        (None, None, true),
        (None, tag(0, 5), false),
    ] {
        let mut config = gigabit(&[(0, 1, 0)]);
        config.routes[0].vid = vid;
        let mut bench = Bench::new(config);
        bench.send(Duration::ZERO, 0, tagged(sent));
        let bench = bench.run(Duration::from_ms(1));
        assert_eq!(bench.deliveries.len(), usize::from(is_taken), "{vid:?} {sent:?}");
        let refused = [(DiscardReason::UnknownStream, StreamId(0))];
        assert_eq!(bench.discarded(), refused[usize::from(is_taken)..]);
    }
    // Class 0 never leaves, class 3 does: what the tag says counts, not what the stream is said to have.
    for pcp in [0, 3] {
        let mut config = gigabit(&[(0, 1, 0)]);
        config.routes[0].vid = Some(5);
        let entries = vec![GateEntry { open: 0b1000, hold: false, lasts: Duration::from_us(500) }];
        let (base_time, hold_advance) = (Duration::ZERO, Duration::ZERO);
        let list = GateControlList { base_time, cycle: Duration::from_us(500), entries, hold_advance, change: None };
        config.ports.insert(3, PortConfig { gates: Some(list), ..PortConfig::default() });
        let mut bench = Bench::new(config);
        bench.send(Duration::ZERO, 0, tagged(tag(pcp, 5)));
        assert_eq!(bench.run(Duration::from_ms(1)).deliveries.len(), usize::from(pcp == 3));
    }
}
