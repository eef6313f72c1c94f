//! `v2x lint` of captures: what each packet is, and what could not be looked into.

use std::time::Duration;

use pcap_file::DataLink;
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};

use chronoseal_v2x::crypto::Curve;
use chronoseal_v2x::pki::TicketPeriods;
use chronoseal_v2x::types::Time32;
use chronoseal_v2x_fleet::office::Office;

use crate::integration::support::Bench;

/// A signed message of a root authority of another vendor.
const MESSAGE: &[u8] = include_bytes!("../../../v2x/tests/data/bc/rca-crl.oer");

/// It as a secured GeoNetworking packet over Ethernet.
fn frame() -> Vec<u8> {
    [&[0xff; 12][..], &[0x89, 0x47, 0x12, 0, 0x1a, 1], MESSAGE].concat()
}

fn capture(link_type: u32, frames: &[&[u8]]) -> Vec<u8> {
    let header = PcapHeader { datalink: DataLink::from(link_type), ..PcapHeader::default() };
    let mut writer = PcapWriter::with_header(Vec::new(), header).unwrap();
    for frame in frames {
        writer.write_packet(&PcapPacket::new(Duration::ZERO, 1_000, frame)).unwrap();
    }
    writer.into_writer()
}

#[test]
fn packets_are_counted_as_others_count_them_and_a_check_sequence_is_a_note() {
    let bench = Bench::new();
    let checked = [&frame()[..], &[1, 2, 3, 4]].concat();
    bench.write("drive.pcap", capture(1, &[&[0xff; 60], &frame(), &checked]));
    let said = bench.say(&["v2x", "lint", "drive.pcap"]);
    said.assert_code(3).assert_says(&["2 secured packets, 1 of other protocols"]);
    assert!(said.out.contains("drive.pcap, packet 2: a trust list, not all of it checked"), "{}", said.out);
    assert!(said.out.contains("packet 3: a trust list, 0 violations, 1 notes"), "{}", said.out);
}

#[test]
fn cut_packets_and_torn_captures_are_named() {
    let bench = Bench::new();
    let whole = capture(1, &[&frame(), &frame()[..60]]);
    bench.write("cut.pcap", &whole);
    let said = bench.say(&["v2x", "lint", "cut.pcap"]);
    said.assert_code(1);
    assert!(said.out.contains("packet 2: only 60 of 1000 bytes were captured"), "{}", said.out);
    bench.write("torn.pcap", &whole[..whole.len() - 1]);
    let said = bench.say(&["v2x", "lint", "torn.pcap"]);
    said.assert_code(1);
    assert!(said.out.contains("torn.pcap: pcap, byte "), "{}", said.out);
    bench.write("head.pcap", &whole[..10]);
    bench.say(&["v2x", "lint", "head.pcap"]).assert_refused(&["head.pcap", "ends in the middle"]);
}

#[test]
fn links_that_are_not_looked_into_are_named() {
    let bench = Bench::new();
    bench.write("bus.pcap", capture(227, &[&frame()]));
    bench.say(&["v2x", "lint", "bus.pcap"]).assert_refused(&[
        "no secured packet",
        "1 of link type 227",
        "Ethernet (1)",
    ]);
}

/// Quality of service, outside a BSS, to all; then the EtherType, which stands alone at 5.9 GHz.
const WLAN: [u8; 28] = [
    0x88, 0, 0, 0, 255, 255, 255, 255, 255, 255, 2, 0, 0, 0, 0, 1, 255, 255, 255, 255, 255, 255, 0x10, 0, 0x23, 0,
    0x89, 0x47,
];

#[test]
fn frames_of_its_g5_are_looked_into_and_others_are_counted_by_what_they_are() {
    let bench = Bench::new();
    let secured = [&WLAN, &[0x12, 0, 0x1a, 1][..], MESSAGE].concat();
    let beacon = [&[0x80, 0][..], &WLAN[2..]].concat();
    let enciphered = [&[0x88, 0x40][..], &WLAN[2..]].concat();
    let unsecured = [&WLAN, &[0x11, 0, 0x1a, 1, 0, 0][..]].concat();
    let all = [secured, beacon, enciphered, unsecured];
    let fronts: [(u32, &[u8]); 3] =
        [(105, &[]), (127, &[0, 0, 10, 0, 6, 0, 0, 0, 0, 12]), (192, &[0, 0, 8, 0, 105, 0, 0, 0])];
    for (link_type, front) in fronts {
        let frames = all.each_ref().map(|frame| [front, frame].concat());
        bench.write("air.pcap", capture(link_type, &frames.each_ref().map(Vec::as_slice)));
        let said = bench.say(&["v2x", "lint", "air.pcap"]);
        said.assert_code(3).assert_says(&[
            "1 secured packets, 1 of GeoNetworking without security, 1 of IEEE 802.11 without data, such as beacons, 1 of IEEE 802.11 \
             that are enciphered",
        ]);
        assert!(said.out.contains("air.pcap, packet 1: a trust list"), "{link_type}: {}", said.out);
    }
}

#[test]
fn what_is_of_a_standard_before_ieee_1609_2_is_named() {
    let bench = Bench::new();
    let old = [2, 0x81, 0x10, 128, 2, 1, 0, 0, 0, 0];
    bench.write("old.bin", old);
    bench.write("old.pcap", capture(105, &[&[&WLAN, &[0x12, 0, 0x1a, 1][..], &old].concat()]));
    bench.write("ticket.bin", [2, 0, 1, 0, 0, 0]);
    let said = bench.say(&["v2x", "lint", "old.bin", "ticket.bin"]);
    for expected in
        ["old.bin: this is a message of TS 103 097 V1.2.1", "ticket.bin: this is a certificate of TS 103 097 V1.2.1"]
    {
        assert!(said.out.contains(expected), "{expected}: {}", said.out);
    }
    // The frames say that they were longer.
    let said = bench.say(&["v2x", "lint", "old.pcap"]);
    assert!(said.out.contains("packet 1: only 42 of 1000 bytes were captured"), "{}", said.out);
}

#[test]
fn one_bad_file_does_not_end_a_batch() {
    let bench = Bench::new();
    bench.write("first.oer", MESSAGE);
    bench.write("head.pcap", &capture(1, &[&frame()])[..10]);
    bench.write("rubbish.oer", b"rubbish");
    bench.write("last.oer", MESSAGE);
    let said = bench.say(&["v2x", "lint", "first.oer", "missing.oer", "head.pcap", "rubbish.oer", "last.oer"]);
    said.assert_code(2).assert_says(&["cannot read missing.oer", "head.pcap", "ends in the middle"]);
    for expected in ["first.oer: a trust list", "rubbish.oer: neither", "last.oer: a trust list", "2 of 3 without"] {
        assert!(said.out.contains(expected), "{expected}: {}", said.out);
    }
}

#[test]
fn an_issuer_on_the_line_verifies_what_it_issued() {
    let bench = Bench::new();
    let office = Office::new(Curve::NistP256, 722_000_000_000_000, 1).unwrap();
    let (ticket, _) = office.issue(0, Time32(721_900_123), Time32(722_000_000)).unwrap();
    let mut flipped = ticket.as_bytes().to_vec();
    *flipped.last_mut().unwrap() ^= 1;
    bench.write("at.oer", ticket.as_bytes());
    bench.write("bad.oer", flipped);
    bench.write("aa.oer", office.authority().as_bytes());
    bench.write("rca.oer", office.root().as_bytes());
    let said = bench.say(&["v2x", "lint", "at.oer", "aa.oer", "rca.oer", "--facts"]);
    said.assert_code(0);
    assert!(said.out.contains("at.oer: a certificate, nothing to say"), "{}", said.out);
    let said = bench.say(&["v2x", "lint", "bad.oer", "aa.oer", "rca.oer"]);
    said.assert_code(1);
    assert!(said.out.contains("signature: not by the key of its issuer"), "{}", said.out);
    for ticket in ["at.oer", "bad.oer"] {
        let said = bench.say(&["v2x", "lint", ticket, "rca.oer"]);
        said.assert_code(3);
        assert!(said.out.contains("signature: not checked, because"), "{}", said.out);
        bench.say(&["v2x", "lint", ticket, "rca.oer", "--allow-unchecked"]).assert_code(0);
    }
}

#[test]
fn a_batch_of_tickets_names_the_values_that_link_them() {
    let bench = Bench::new();
    // Three tickets of each of two vehicles that ask hours apart in one week.
    let write = |periods: TicketPeriods| {
        let office = Office::new(Curve::NistP256, 722_000_000_000_000, 1).unwrap().with_periods(periods);
        for (vehicle, asked_at) in [("mine", Time32(721_900_123)), ("theirs", Time32(721_990_456))] {
            for number in 0..3 {
                let key = number + if vehicle == "mine" { 0 } else { 10 };
                let (ticket, _) = office.issue(key, asked_at, Time32(722_000_000)).unwrap();
                bench.write(&format!("{vehicle}{number}.oer"), ticket.as_bytes());
            }
        }
    };
    const MINE: [&str; 3] = ["mine0.oer", "mine1.oer", "mine2.oer"];
    const BESIDE: [&str; 4] = ["--others", "theirs0.oer", "theirs1.oer", "theirs2.oer"];
    let lint =
        |others: &[&str], more: &[&str]| bench.say(&[&["v2x", "lint", "--batch"], &MINE[..], more, others].concat());

    write(TicketPeriods::Weeks);
    let said = lint(&BESIDE, &[]);
    said.assert_code(0);
    assert!(said.out.contains("no value links them"), "{}", said.out);
    let said = lint(&[], &[]);
    said.assert_code(3);
    assert!(said.out.contains("not checked, because only tickets of other vehicles say whether"), "{}", said.out);
    let said = lint(&BESIDE, &["--facts"]);
    let expected = "toBeSigned.region: absent in 3 of 3 tickets of this vehicle, in 3 of 3 of others";
    assert!(said.out.contains(expected), "{}", said.out);

    write(TicketPeriods::AsAsked);
    let said = lint(&[], &[]);
    said.assert_code(1);
    assert!(said.out.contains("3 tickets of one vehicle: one value links some of them"), "{}", said.out);
    assert!(said.out.contains("toBeSigned.validityPeriod.start: to the second, all within 0 s"), "{}", said.out);
    let said = lint(&BESIDE, &["--format", "json"]);
    said.assert_code(1);
    assert!(
        said.out.contains(r#""kind":"batch""#)
            && said.out.contains("in 3 of 3 tickets of this vehicle, in 0 of 3 of others")
            && said.out.contains("mine0.oer, mine1.oer, mine2.oer"),
        "{}",
        said.out
    );

    bench.write("rubbish.oer", b"rubbish");
    bench
        .say(&["v2x", "lint", "--batch", "mine0.oer", "rubbish.oer"])
        .assert_refused(&["rubbish.oer is no certificate", "authorization tickets"]);
    bench.say(&["v2x", "lint", "--batch", "mine0.oer"]).assert_refused(&["one ticket is no batch", "name two"]);
}
