//! What a user has becomes a scenario that resolves, and says what was assumed.

use std::borrow::Cow;
use std::time::Duration as StdDuration;

use crate::support::plan;
use chronoseal_core::Duration;
use chronoseal_plan::{Ethernet, ProtectionKind, StreamClass};
use chronoseal_scenario::import::{from_capture, from_csv};
use chronoseal_scenario::{Code, Problems};
use pcap_file::DataLink;
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
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
    assert_eq!(plan.streams.len(), 2);
    let streams: Vec<_> = Ethernet::first(&plan).expect("it is one").streams().collect();
    let even = &streams[0];
    assert!(matches!(even.class, StreamClass::TimeTriggered { .. }));
    assert_eq!((even.stream.period, even.hop.frame_len, even.stream.receivers.len()), (Duration::from_ms(10), 61, 2));
    let uneven = &streams[1];
    assert!(matches!(uneven.class, StreamClass::BestEffort { .. }));
    // The gaps are 3 ms + 11 us * (2 i + 1), i = 0..=48; the middle one has i = 24.
    assert_eq!(
        (uneven.stream.period, uneven.hop.frame_len, uneven.stream.receivers.len()),
        (Duration::from_us(3_539), 500, 1)
    );
    assert!(text.contains("50 frames of clock synchronisation were left out"));
    assert!(text.contains("1 of the flows were left out"));
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

#[test]
fn a_capture_that_was_cut_off_is_used_as_far_as_it_goes() {
    let bytes = pcap(DataLink::ETHERNET);
    let text = from_capture("bus.pcap", &bytes[..bytes.len() * 2 / 3])
        .unwrap_or_else(|problems| panic!("{}", problems.render()));
    assert!(text.contains("The capture is damaged behind these frames"), "{text}");
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
