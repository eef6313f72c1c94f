//! What a user has becomes a scenario that resolves, and says what was assumed.

use std::borrow::Cow;
use std::time::Duration as StdDuration;

use crate::support::plan;
use chronoseal_core::Duration;
use chronoseal_plan::{Ethernet, ProtectionKind, StreamClass};
use chronoseal_scenario::import::{from_any, from_capture, from_csv, with_recordings};
use chronoseal_scenario::{Code, Problems, load};
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::{DataLink, TsResolution};
use proptest::prelude::*;

const GUIDE: &str = include_str!("../../../../docs/guide/scenario-file.md");

#[test]
fn the_table_of_the_guide_becomes_a_scenario() {
    let table = GUIDE.split("```csv\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a block marked csv");
    let text = from_csv("my streams.csv", table.as_bytes()).unwrap_or_else(|problems| panic!("{}", problems.render()));
    let plan = plan(&text);
    assert_eq!(plan.name, "my-streams");
    assert_eq!(plan.nodes.len(), 3);
    let network = Ethernet::first(&plan).expect("it is one");
    let streams: Vec<_> = network.streams().collect();
    assert_eq!(network.segment.cluster_cycle, Duration::from_ms(10));
    assert_eq!(plan.streams[0].receivers.len(), 2);
    assert!(matches!(streams[0].class, StreamClass::TimeTriggered { .. }));
    assert_eq!(network.secured_len(&streams[0]), 60 + 24);
    assert!(matches!(streams[1].class, StreamClass::BestEffort { priority: 0 }));
    assert!(matches!(plan.protection_of(&plan.streams[1]).kind, ProtectionKind::None));
    insta::assert_snapshot!("scenario_from_table", text);
}

#[test]
fn the_cycle_is_the_least_common_multiple_of_the_periods() {
    let table = "to,from,name,frame,period\nb,a,x,60B,4ms\nb,a,y,60B,6ms\n";
    let plan = plan(&from_csv("t.csv", table.as_bytes()).expect("columns in any order"));
    assert_eq!(Ethernet::first(&plan).expect("it is one").segment.cluster_cycle, Duration::from_ms(12));
    let uneven = "to,from,name,frame,period\nb,a,x,60B,9999991us\nb,a,y,60B,7ms\n";
    let problems = from_csv("t.csv", uneven.as_bytes()).expect_err("no common cycle");
    assert_eq!(problems.list()[0].code, Code::ImportCsv);
}

#[test]
fn every_wrong_line_of_a_table_is_shown() {
    let table = "name,from,to,period,frame,class\n\
                 speed,wheel,brake,10,60B,\n\
                 # a remark\n\
                 log,wheel,brake,10ms,60,best effort\n\
                 \"torque, left\",wheel,,10ms,60B,\n";
    let problems = from_csv("streams.csv", table.as_bytes()).expect_err("three wrong lines");
    assert_eq!(problems.count(), 4);
    insta::assert_snapshot!("table_wrong_lines", problems.render());
    let problems = from_csv("streams.csv", b"name,from,too,period,frame\n").expect_err("a wrong header");
    insta::assert_snapshot!("table_wrong_header", problems.render());
}

#[test]
fn what_is_wrong_with_the_scenario_itself_is_shown_in_it() {
    let table = b"name,from,to,period,frame\nspeed,a,a,10ms,60B\nspeed,a,b,10ms,90000B\n";
    let problems = from_csv("t.csv", table).expect_err("sent to itself, twice the name, too long");
    let codes: Vec<Code> = problems.list().iter().map(|problem| problem.code).collect();
    for code in [Code::SenderReceives, Code::DuplicateName, Code::FrameTooLong] {
        assert!(codes.contains(&code), "{}", problems.render());
    }
}

#[test]
fn no_table_is_refused() {
    for bytes in [&b""[..], b"\n\n", b"name,from,to,period,frame\n", b"\xff\xfe", b"{}"] {
        assert!(from_csv("t.csv", bytes).is_err());
    }
}

/// An even flow to a group address, an uneven one to a station, a single frame, a beacon.
fn frames() -> Vec<(u64, Vec<u8>)> {
    let frame = |destination: [u8; 6], source: u8, ethertype: u16, len: usize| {
        let mut bytes = destination.to_vec();
        bytes.extend([2, 0, 0, 0, 0, source]);
        bytes.extend(ethertype.to_be_bytes());
        bytes.resize(len, 0);
        bytes
    };
    let mut frames = Vec::new();
    for i in 0..50u64 {
        let jitter_us = i * 37 % 60;
        frames.push((10_000 * i + jitter_us, frame([3, 4, 5, 6, 0, 1], 1, 46 + (i % 2) as u16, 60 + (i % 2) as usize)));
        frames.push((3_000 * i + 11 * i * i, frame([2, 0, 0, 0, 0, 1], 2, 0x0800, 500)));
        frames.push((10_000 * i, frame([3, 4, 5, 6, 0x0f, 0xcb], 9, 0x891d, 60)));
    }
    frames.push((77, frame([2, 0, 0, 0, 0, 1], 3, 0x86dd, 100)));
    frames.sort_by_key(|(at, _)| *at);
    frames
}

fn pcap(datalink: DataLink) -> Vec<u8> {
    let header = PcapHeader { datalink, ..PcapHeader::default() };
    let mut writer = PcapWriter::with_header(Vec::new(), header).expect("memory");
    for (at_us, bytes) in frames() {
        let len = bytes.len() as u32;
        let packet = PcapPacket::new(StdDuration::from_micros(1_000_000 + at_us), len, &bytes);
        writer.write_packet(&packet).expect("memory");
    }
    writer.into_writer()
}

/// With times counted in `units` a microsecond, as the option `resolution` says.
fn pcapng(units: u64, resolution: Option<u8>) -> Vec<u8> {
    let mut writer = PcapNgWriter::new(Vec::new()).expect("memory");
    let mut interface = InterfaceDescriptionBlock::new(DataLink::ETHERNET, 0xffff);
    interface.options.extend(resolution.map(InterfaceDescriptionOption::IfTsResol));
    writer.write_pcapng_block(interface).expect("memory");
    for (at_us, bytes) in frames() {
        let block = EnhancedPacketBlock {
            interface_id: 0,
            // The library writes the nanoseconds as the bare count of units.
            timestamp: StdDuration::from_nanos((1_000_000 + at_us) * units),
            original_len: bytes.len() as u32,
            data: Cow::Owned(bytes),
            options: Vec::new(),
        };
        writer.write_pcapng_block(block).expect("memory");
    }
    writer.into_inner()
}

fn check(text: &str) {
    let plan = plan(text);
    // Whoever sends only beacons is no station.
    assert_eq!(plan.nodes.len(), 3, "{text}");
    let streams: Vec<_> = Ethernet::first(&plan).expect("it is one").streams().collect();
    let is_uneven = |class: &StreamClass| matches!(class, StreamClass::BestEffort { .. });
    let uneven: Vec<_> = streams.iter().filter(|one| is_uneven(&one.class)).collect();
    assert_eq!(uneven.len() + 1, streams.len(), "{text}");
    let even = streams.iter().find(|one| !is_uneven(&one.class)).expect("one");
    assert!(matches!(even.class, StreamClass::TimeTriggered { .. }));
    assert_eq!((even.stream.period, even.hop.frame_len, even.stream.receivers.len()), (Duration::from_ms(10), 61, 2));
    // The first 49 of 50 frames within 3 ms * 49 + 11 us * 49 * 49, in bursts since they come ever further apart.
    let frames_per_s: f64 = uneven.iter().map(|one| 1.0 / one.stream.period.as_secs_f64()).sum();
    assert!((frames_per_s / (49.0 / 0.173_411) - 1.0).abs() < 0.01, "{text}");
    assert!(uneven.len() > 1 && uneven.iter().all(|one| one.hop.frame_len == 500 && one.stream.receivers.len() == 1));
    assert!(text.contains("50 frames of clock synchronisation were left out"));
    assert!(text.contains("# Warning: 1 frame of 100B is not in the scenario: a single frame has no period."));
}

#[test]
fn captures_of_both_formats_and_all_clock_units_give_the_same_streams() {
    let text =
        from_capture("bus.pcap", &pcap(DataLink::ETHERNET)).unwrap_or_else(|problems| panic!("{}", problems.render()));
    check(&text);
    insta::assert_snapshot!("scenario_from_capture", text);
    for (units, resolution) in [(1, None), (1, Some(6)), (1000, Some(9)), (1_000_000, Some(12))] {
        let text = from_capture("bus.pcapng", &pcapng(units, resolution))
            .unwrap_or_else(|problems| panic!("{}", problems.render()));
        check(&text);
    }
}

/// A pcapng with these interfaces, `[link type, name]`, and packets `[interface, us, bytes]`.
fn with_interfaces(interfaces: &[(u32, &str)], packets: &[(u32, u64, Vec<u8>)]) -> Vec<u8> {
    let mut writer = PcapNgWriter::new(Vec::new()).expect("memory");
    for (link_type, name) in interfaces {
        let mut interface = InterfaceDescriptionBlock::new(DataLink::from(*link_type), 0xffff);
        interface.options.push(InterfaceDescriptionOption::IfName((*name).into()));
        writer.write_pcapng_block(interface).expect("memory");
    }
    for (interface_id, at_us, bytes) in packets {
        let block = EnhancedPacketBlock {
            interface_id: *interface_id,
            timestamp: StdDuration::from_nanos(1_000_000 + at_us),
            original_len: bytes.len() as u32,
            data: Cow::Borrowed(bytes),
            options: Vec::new(),
        };
        writer.write_pcapng_block(block).expect("memory");
    }
    writer.into_inner()
}

fn frame(destination: u8, source: u8, between: &[u8], len: usize) -> Vec<u8> {
    let mut bytes = [&[2, 0, 0, 0, 0, destination, 2, 0, 0, 0, 0, source][..], between].concat();
    bytes.resize(len, 0);
    bytes
}

#[test]
fn each_interface_becomes_a_segment_and_a_stream_seen_at_two_is_one() {
    let mut packets = Vec::new();
    for i in 0..20 {
        packets.push((0, i * 10_000, frame(2, 1, &[0x88, 0xb5], 100)));
        packets.push((1, i * 5_000, frame(4, 3, &[0x81, 0, 0xe0, 9, 0x88, 0xb5], 200)));
        // A bridge passed it on.
        packets.push((0, i * 20_000, frame(6, 5, &[0x88, 0xb6], 300)));
        packets.push((1, i * 20_000 + 30, frame(6, 5, &[0x88, 0xb6], 300)));
    }
    let text = from_capture("two.pcapng", &with_interfaces(&[(1, "eth0"), (1, "front.100")], &packets))
        .unwrap_or_else(|problems| panic!("{}", problems.render()));
    let plan = plan(&text);
    let segments: Vec<_> = plan.segments.iter().map(|segment| segment.name.as_str()).collect();
    assert_eq!(segments, ["eth0", "front-100"], "{text}");
    let streams: Vec<_> = plan
        .streams
        .iter()
        .map(|one| (one.hops[0].segment.index(), one.period.as_ns() / 1_000, one.hops[0].frame_len))
        .collect();
    assert_eq!(streams, [(0, 10_000, 100), (0, 20_000, 300), (1, 5_000, 200)], "{text}");
    assert!(text.contains("class = { vlan = { pcp = 7, vid = 9 } }"), "{text}");
    assert!(text.contains("20 frames were left out: they were seen at another interface"), "{text}");
}

/// Tags of two customers of one provider, who use the same VLAN.
#[test]
fn streams_are_told_apart_by_the_tags_within_that_of_a_provider() {
    let mut packets = Vec::new();
    for i in 0..20 {
        let tags = |customer: u8, pcp: u8| [0x88, 0xa8, 0x60, 100, 0x81, 0, pcp << 5, customer, 0x88, 0xb5];
        packets.push((0, i * 10_000, frame(2, 1, &tags(7, 5), 108)));
        packets.push((0, i * 10_000 + 10, frame(2, 1, &tags(7, 2), 208)));
        packets.push((0, i * 20_000 + 20, frame(2, 1, &tags(8, 5), 308)));
    }
    let text = from_capture("two.pcapng", &with_interfaces(&[(1, "eth0")], &packets))
        .unwrap_or_else(|problems| panic!("{}", problems.render()));
    let plan = plan(&text);
    let streams: Vec<_> =
        plan.streams.iter().map(|one| (&one.name[..], one.period.as_ns() / 1_000, one.hops[0].frame_len)).collect();
    // What the tags within take is a part of the frame.
    assert_eq!(
        streams,
        [
            ("station-1-88b5-pcp3-vlan7", 10_000, 208),
            ("station-1-88b5-pcp3-vlan7-1", 10_000, 108),
            ("station-1-88b5-pcp3-vlan8", 20_000, 308)
        ],
        "{text}"
    );
    assert!(text.contains("VLAN 100 priority 3, in it VLAN 7 priority 2, type 0x88b5"), "{text}");
    assert!(text.matches("assumed: switches go by the outer tag alone").count() == 3, "{text}");
    assert!(text.matches("class = { vlan = { pcp = 3, vid = 100 } }").count() == 3, "{text}");
}

/// Of IPv4 and UDP: none, or one that does not fit, where an interface fills it in behind the capture.
#[test]
fn checksums_that_were_not_filled_in_change_nothing() {
    let datagram = |checksums: [u8; 2]| {
        let [ip, udp] = checksums;
        let mut bytes = vec![0x08, 0, 0x45, 0, 0, 40, 0, 1, 0, 0, 64, 17, ip, ip, 10, 0, 0, 1, 10, 0, 0, 2];
        bytes.extend([0x30, 0x39, 0x30, 0x3a, 0, 20, udp, udp]);
        bytes
    };
    let of = |checksums| {
        let packets: Vec<_> = (0..20).map(|i| (0, i * 10_000, frame(2, 1, &datagram(checksums), 60))).collect();
        from_capture("offloaded.pcapng", &with_interfaces(&[(1, "eth0")], &packets))
            .unwrap_or_else(|problems| panic!("{}", problems.render()))
    };
    let text = of([0, 0]);
    assert!(text.contains("20 Ethernet frames were read") && text.contains("UDP ports 12345 to 12346"), "{text}");
    assert!(!text.contains("left out"), "{text}");
    assert_eq!((&text, &text), (&of([0xa5, 0]), &of([0, 0x5a])));
}

#[test]
fn frames_of_all_interfaces_at_once_are_streams_of_their_addresses() {
    // Twenty bytes of `LINKTYPE_LINUX_SLL2`: IPv4 in from a neighbour at interface 3, and out by interface 4.
    let packet = |interface: u8, packet_type: u8, from: u8, to: u8| {
        let mut bytes = vec![8, 0, 0, 0, 0, 0, 0, interface, 0, 1, packet_type, 6, 2, 0, 0, 0, 0, from, 0, 0];
        bytes.extend([0x45, 0, 0, 128, 0, 1, 0, 0, 64, 17, 0, 0, 10, 0, 0, from, 10, 0, 0, to]);
        bytes.extend([0x10, 0, 0x76, 0x5d, 0, 108, 0, 0]);
        // A notification of SOME/IP: service 0x1234, event 0x8001, 92 bytes behind its first eight.
        bytes.extend([0x12, 0x34, 0x80, 1, 0, 0, 0, 92, 0, 0, 0, 1, 1, 1, 2, 0]);
        bytes.resize(20 + 128, 0);
        bytes
    };
    let packets: Vec<_> =
        (0..20).flat_map(|i| [(0, i * 10_000, packet(3, 0, 1, 2)), (0, i * 10_000 + 7, packet(4, 4, 2, 9))]).collect();
    let text = from_capture("any.pcapng", &with_interfaces(&[(276, "any")], &packets))
        .unwrap_or_else(|problems| panic!("{}", problems.render()));
    let plan = plan(&text);
    let segments: Vec<_> = plan.segments.iter().map(|segment| segment.name.as_str()).collect();
    assert_eq!(segments, ["anyif3", "anyif4"], "{text}");
    assert!(plan.streams.iter().all(|one| one.hops[0].frame_len == 14 + 128), "{text}");
    assert!(text.contains("station-1: 10.0.0.1") && text.contains("someip-30301"), "{text}");
    assert!(text.contains("SOME/IP, service and method 0x1234.0x8001"), "{text}");
}

#[test]
fn what_no_burst_describes_is_left_out_with_a_warning() {
    // A second of an even stream, and a file of 2000 frames in 25 ms.
    let mut packets: Vec<_> = (0..100).map(|i| (0, i * 10_000, frame(2, 1, &[0x88, 0xb5], 100))).collect();
    packets.extend((0..2_000).map(|i| (0, 500_000 + i * 12, frame(1, 2, &[0x88, 0xb6], 1_514))));
    packets.extend((0..3).map(|i| (0, i * 450_000, frame(1, 2, &[0x88, 0xb6], 1_514))));
    let bytes = with_interfaces(&[(1, "eth0")], &packets);
    let text = from_capture("x.pcapng", &bytes).unwrap_or_else(|problems| panic!("{}", problems.render()));
    assert_eq!(plan(&text).streams.len(), 1, "{text}");
    let warnings: Vec<_> = chronoseal_scenario::import::warnings(&text).collect();
    assert!(warnings.len() == 1 && warnings[0].contains("type 0x88b6 is not in the scenario"), "{warnings:?}");
    let alone: Vec<_> = packets.into_iter().filter(|(_, _, bytes)| bytes[13] == 0xb6).collect();
    let problems = from_capture("x.pcapng", &with_interfaces(&[(1, "eth0")], &alone)).expect_err("nothing is left");
    assert!(problems.list()[0].message.contains("no period and burst describes"), "{}", problems.render());
    // With a folder for it, it is a recording, also if nothing else is there.
    let of = |bytes: &[u8]| {
        let imported = with_recordings("x.pcapng", bytes).unwrap_or_else(|problems| panic!("{}", problems.render()));
        let plan =
            load("x.toml", imported.text.as_bytes(), &[], &imported).unwrap_or_else(|p| panic!("{}", p.render()));
        (imported, plan)
    };
    let (imported, plan) = of(&bytes);
    assert_eq!(chronoseal_scenario::import::warnings(&imported.text).count(), 0, "{}", imported.text);
    assert_eq!(imported.recordings[0].0, "x-station-2-88b6.pcap");
    assert_eq!((plan.streams.len(), &plan.streams[1].name[..]), (2, "station-2-88b6"));
    let recorded = plan.streams[1].recorded().expect("it is replayed");
    assert_eq!((recorded.messages().len(), recorded.longest(), recorded.shortest()), (2_003, 1_500, 1_500));
    // As long as the capture, and the usual gap.
    assert!(recorded.length() > Duration::from_ms(990) && recorded.length() < Duration::from_ms(992), "{recorded:?}");
    assert!(imported.text.contains("# A recording, for its 2003 frames have a rate of"), "{}", imported.text);
    let (imported, plan) = of(&with_interfaces(&[(1, "eth0")], &alone));
    assert_eq!((imported.recordings.len(), plan.streams.len()), (1, 1));
}

#[test]
fn frames_that_were_put_together_are_cut_again() {
    // Of a tagged flow that is there for 2 ms of ten seconds, frames of 9000 bytes.
    let mut packets: Vec<_> = (0..1_000).map(|i| (0, i * 10_000, frame(2, 1, &[0x88, 0xb5], 100))).collect();
    packets.extend((0..20).map(|i| (0, 5_000_000 + i * 100, frame(1, 2, &[0x81, 0, 0x60, 9, 0x88, 0xb6], 9_000))));
    let imported = with_recordings("x.pcapng", &with_interfaces(&[(1, "eth0")], &packets)).expect("it is read");
    let plan = load("x.toml", imported.text.as_bytes(), &[], &imported).unwrap_or_else(|p| panic!("{}", p.render()));
    let (stream, recorded) = (&plan.streams[1], plan.streams[1].recorded().expect("it is replayed"));
    assert_eq!(stream.offset, Some(Duration::from_s(5)));
    assert_eq!((recorded.messages().len(), recorded.longest(), recorded.shortest()), (120, 1_482, 1_482));
    assert!(imported.text.contains("20 of them, each longer than 1514B, come as several"), "{}", imported.text);
}

#[test]
fn a_flow_that_was_there_for_a_short_time_is_no_stream() {
    // Ten seconds of an even stream.
    let even = || (0..1_000).map(|i| (0, i * 10_000, frame(2, 1, &[0x88, 0xb5], 100)));
    let with = |brief: &mut dyn Iterator<Item = (u32, u64, Vec<u8>)>| {
        let bytes = with_interfaces(&[(1, "eth0")], &even().chain(brief).collect::<Vec<_>>());
        let text = from_capture("x.pcapng", &bytes).unwrap_or_else(|problems| panic!("{}", problems.render()));
        let warnings: Vec<_> = chronoseal_scenario::import::warnings(&text).map(str::to_owned).collect();
        (plan(&text).streams.len(), text, warnings)
    };
    // A burst 20 us apart; 4 frames 1 ms apart; one that is there for just below a twentieth of 9.99 s.
    for (frames, distance, span) in [(120, 20, "2.38ms"), (4, 1_000, "3ms"), (49, 10_000, "480ms")] {
        let (streams, text, warnings) =
            with(&mut (0..frames).map(|i| (0, 5_000_000 + i * distance, frame(1, 2, &[0x88, 0xb6], 1_000))));
        assert_eq!((streams, warnings.len()), (1, 1), "{text}");
        let said = format!("it was seen for {span} of 9.99s only, from 5s on: {frames} frames, {frames}000B");
        assert!(warnings[0].contains("type 0x88b6 is not in the scenario") && warnings[0].contains(&said), "{text}");
    }
    // From a twentieth on it is a stream by an assumption, and from nine tenths on by what was seen.
    for (frames, is_assumed) in [(51, true), (890, true), (910, false)] {
        let (streams, text, warnings) =
            with(&mut (0..frames).map(|i| (0, 500_000 + i * 10_000, frame(1, 2, &[0x88, 0xb6], 1_000))));
        assert_eq!((streams, warnings.len()), (2, 0), "{text}");
        assert_eq!(text.contains("# assumed: it goes on all the time, though it was seen for"), is_assumed, "{text}");
        assert!(
            frames != 51
                || text.contains("500ms of 9.99s only, from 500ms on. Over the whole capture its rate is 5105.1 B/s.")
        );
    }
    // Few frames that do not come evenly are counted over the whole capture anyway.
    let (streams, text, warnings) =
        with(&mut [0, 1, 9].into_iter().map(|at| (0, at, frame(1, 2, &[0x88, 0xb6], 1_000))));
    assert_eq!((streams, warnings.len()), (4, 0), "{text}");
    // Many of them are counted together.
    let (streams, text, warnings) =
        with(&mut (0..300).map(|i| (0, 5_000 + i, frame(1, (i % 30) as u8 + 10, &[0x88, 0xb6], 1_000))));
    assert_eq!((streams, warnings.len()), (1, 21), "{text}");
    assert!(
        warnings[20].starts_with("10 more flows are not in the scenario")
            && warnings[20].contains("100 frames, 100000B")
    );
}

#[test]
fn requests_from_ever_new_ports_are_counted_together() {
    let request = |i: u64| {
        let mut bytes = frame(1, 2, &[8, 0, 0x45, 0, 0, 86, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 2, 10, 0, 0, 1], 100);
        bytes[34..36].copy_from_slice(&(40_000 + i as u16).to_be_bytes());
        bytes[37] = 53;
        (0, 5_000 + i * 50_000, bytes)
    };
    let even = (0..1_001).map(|i| (0, i * 10_000, frame(2, 1, &[0x88, 0xb5], 100)));
    let bytes = with_interfaces(&[(1, "eth0")], &even.chain((0..190).map(request)).collect::<Vec<_>>());
    let text = from_capture("x.pcapng", &bytes).unwrap_or_else(|problems| panic!("{}", problems.render()));
    let warnings: Vec<_> = chronoseal_scenario::import::warnings(&text).collect();
    assert_eq!((plan(&text).streams.len(), warnings.len()), (1, 1), "{text}");
    assert!(warnings[0].starts_with("190 frames are not in the scenario"), "{warnings:?}");
    assert!(warnings[0].contains("Together they are 19000B, 1900.0 B/s over the capture"), "{warnings:?}");
    // Alone they are no scenario, and a longer capture would not make them one.
    let alone = with_interfaces(&[(1, "eth0")], &(0..190).map(request).collect::<Vec<_>>());
    let problems = from_capture("x.pcapng", &alone).expect_err("nothing has a period");
    let problem = &problems.list()[0];
    assert!(problem.message.contains("190 frames are not in the scenario"), "{}", problems.render());
    assert!(problem.help.as_deref().is_some_and(|help| help.contains("together by hand")), "{}", problems.render());
    // Two frames of one flow at one time have no period either.
    let twice = (0..1_001).map(|i| (0, i * 10_000, frame(2, 1, &[0x88, 0xb5], 100))).chain([request(7), request(7)]);
    let text = from_capture("x.pcapng", &with_interfaces(&[(1, "eth0")], &twice.collect::<Vec<_>>()))
        .unwrap_or_else(|problems| panic!("{}", problems.render()));
    let warnings: Vec<_> = chronoseal_scenario::import::warnings(&text).collect();
    assert!(warnings.len() == 1 && warnings[0].starts_with("2 frames, 200B, are not in the scenario: all"), "{text}");
}

#[test]
fn ethernet_beside_can_frames_is_warned_of_and_alone_it_is_a_network() {
    let can = |i: u64| (0, i * 1_000, vec![0, 0, 1, 0x23, 2, 0, 0, 0, 7, i as u8]);
    let ethernet = |i: u64| (1, i * 1_000, frame(2, 1, &[0x88, 0xb5], 100));
    let interfaces = [(227, "can0"), (1, "eth0")];
    let both: Vec<_> = (0..20).map(can).chain((0..30).map(ethernet)).collect();
    let text = from_any("both.pcapng", &with_interfaces(&interfaces, &both))
        .unwrap_or_else(|problems| panic!("{}", problems.render()));
    let warnings: Vec<_> = chronoseal_scenario::import::warnings(&text).collect();
    assert!(warnings.len() == 1 && warnings[0].starts_with("30 packets that are no CAN frames"), "{text}");
    assert!(text.contains("[segments.bus.can]"), "{text}");
    plan(&text);
    // tshark keeps the interface of the frames that it took out.
    let alone: Vec<_> = (0..30).map(ethernet).collect();
    let text = from_any("alone.pcapng", &with_interfaces(&interfaces, &alone))
        .unwrap_or_else(|problems| panic!("{}", problems.render()));
    assert!(text.contains(".ethernet]") && chronoseal_scenario::import::warnings(&text).count() == 0, "{text}");
    plan(&text);
    let alone: Vec<_> = (0..20).map(can).collect();
    let text = from_any("alone.pcapng", &with_interfaces(&interfaces, &alone))
        .unwrap_or_else(|problems| panic!("{}", problems.render()));
    assert_eq!(chronoseal_scenario::import::warnings(&text).count(), 0, "{text}");
}

#[test]
fn what_no_scenario_can_say_costs_only_its_own_flow() {
    let even = || (0..1_000).map(|i| (0, i * 10_000, frame(2, 1, &[0x88, 0xb5], 100)));
    let link = |last: u8, i: u64| {
        let mut bytes = frame(1, 3, &[8, 0], 200);
        bytes[..6].copy_from_slice(&[3, 0, 0, 0, 0, last]);
        (0, i * 10_000, bytes)
    };
    let links: Vec<_> = even().chain((0..1_000).flat_map(|i| [link(0, i), link(7, i)])).collect();
    let text = from_capture("x.pcapng", &with_interfaces(&[(1, "eth0")], &links))
        .unwrap_or_else(|problems| panic!("{}", problems.render()));
    let warnings: Vec<_> = chronoseal_scenario::import::warnings(&text).collect();
    assert_eq!((plan(&text).streams.len(), warnings.len()), (2, 1), "{text}");
    assert!(warnings[0].contains("03:00:00:00:00:00") && warnings[0].contains("virtual links 1 to 65535"), "{text}");
    assert!(text.contains("ct_id = 7"), "{text}");
    // 150 ns apart.
    let header =
        PcapHeader { datalink: DataLink::ETHERNET, ts_resolution: TsResolution::NanoSecond, ..PcapHeader::default() };
    let mut writer = PcapWriter::with_header(Vec::new(), header).expect("memory");
    for i in 0..4_000 {
        let bytes = frame(1, 2, &[0x88, 0xb6], 60);
        writer.write_packet(&PcapPacket::new(StdDuration::from_nanos(150 * i), 60, &bytes)).expect("memory");
    }
    let problems = from_capture("x.pcap", &writer.into_writer()).expect_err("nothing is left");
    assert!(
        problems.list()[0].message.contains("4000 frames come every 150ns, and no period is below 1us"),
        "{}",
        problems.render()
    );
    let same: Vec<_> = (0..200).map(|i| (0, 5, frame(1, i, &[0x88, 0xb6], 60))).collect();
    let problems = from_capture("x.pcapng", &with_interfaces(&[(1, "eth0")], &same)).expect_err("one instant");
    assert!(problems.list()[0].message.starts_with("all 200 frames have the same time"), "{}", problems.render());
}

#[test]
fn clocks_are_streams_where_all_else_is_left_out() {
    let clock = |i: u64| (0, i * 125_000, frame(14, 3, &[0x88, 0xf7, 0x10, 2], 58));
    let brief = |i: u64| (0, 1_000_000 + i * 20, frame(1, 2, &[0x88, 0xb6], 1_000));
    let packets: Vec<_> = (0..80).map(clock).chain((0..20).map(brief)).collect();
    let text = from_capture("x.pcapng", &with_interfaces(&[(1, "eth0")], &packets))
        .unwrap_or_else(|problems| panic!("{}", problems.render()));
    assert_eq!(plan(&text).streams.len(), 1, "{text}");
    assert!(text.contains("the capture has nothing but clocks"), "{text}");
}

#[test]
fn a_capture_that_was_cut_off_is_used_as_far_as_it_goes() {
    let bytes = pcap(DataLink::ETHERNET);
    let text = from_capture("bus.pcap", &bytes[..bytes.len() * 2 / 3])
        .unwrap_or_else(|problems| panic!("{}", problems.render()));
    let warned = chronoseal_scenario::import::warnings(&text)
        .find(|warning| warning.contains("the capture is damaged behind these frames"));
    assert!(warned.is_some(), "it says so on the terminal too: {text}");
    plan(&text);
}

#[test]
fn what_is_no_capture_of_ethernet_is_refused() {
    let refused = |bytes: &[u8]| -> Problems { from_capture("x", bytes).expect_err("no capture") };
    for bytes in
        [&b""[..], b"hello, this is no capture at all", &pcap(DataLink::CAN_SOCKETCAN), &pcap(DataLink::ETHERNET)[..24]]
    {
        assert_eq!(refused(bytes).list()[0].code, Code::ImportCapture);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn damaged_captures_never_panic(
        ng in any::<bool>(),
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..8),
        end in any::<proptest::sample::Index>(),
    ) {
        let mut bytes = if ng { pcapng(1, None) } else { pcap(DataLink::ETHERNET) };
        // The heads of file and blocks are where a reader can stumble.
        for (at, byte) in changes {
            let at = at.index(400);
            bytes[at] = byte;
        }
        bytes.truncate(end.index(bytes.len()) + 1);
        let _ = from_capture("x", &bytes);
    }

    #[test]
    fn any_table_gives_problems_or_a_scenario_that_resolves(
        rows in proptest::collection::vec("[a-c]{0,2},[a-c]?,[a-c;]{0,3},[0-9]{1,6}(us|ms|s)?,[0-9]{1,4}B,(best-effort)?", 0..6),
    ) {
        let table = format!("name,from,to,period,frame,class\n{}\n", rows.join("\n"));
        if let Ok(text) = from_csv("t.csv", table.as_bytes()) {
            plan(&text);
        }
    }
}
