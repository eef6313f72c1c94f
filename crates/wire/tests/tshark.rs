//! What Wireshark makes of our frames. Needs tshark, so it runs on demand only:
//!
//! ```text
//! cargo test -p chronoseal-wire --test wire tshark -- --ignored --nocapture
//! ```
//! The same by hand, with the bytes of `every_field_is_at_its_offset` in `src/protocol_control_frame.rs`, and what
//! tshark 4.0.17 says to them:
//!
//! ```text
//! $ printf '030405060fcb 020000000001 891d 01020304 80000001 00000000 11 22 020000000000 0000000000010000 %036d' 0 |
//!       xxd -r -p | od -Ax -tx1 -v | text2pcap -q - pcf.pcap
//! $ tshark -r pcf.pcap -O tte_pcf
//! TTEthernet
//! TTEthernet Protocol Control Frame
//!     Integration Cycle: 0x01020304
//!     Membership New: 0x80000001
//!     Sync Priority: 0x11
//!     Sync Domain: 0x22
//!     .... 0010 = Type: integration frame (0x2)
//!     Transparent Clock: 0x0000000000010000
//! ```

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests are tests")]

use std::io::Write;
use std::process::{Command, Stdio};

use chronoseal_core::{Duration, NodeId};
use chronoseal_wire::ethernet::{self, Header, TypeOrLength};
use chronoseal_wire::its::geonetworking::{
    Area, BasicHeader, ExtendedHeader, GnAddress, LongPosition, NextHeader, Packet,
};
use chronoseal_wire::its::{self, Cam, Denm, LowFrequency, PathHistory, PathPoint, ReferencePosition, Situation};
use chronoseal_wire::protocol_control_frame::{self, PcfType, ProtocolControlFrame};
use chronoseal_wire::virtual_link::{self, DEFAULT_CT_MARKER};
use pcap_file::pcap::{PcapPacket, PcapWriter};

/// A capture of Ethernet frames, one a millisecond.
fn pcap(frames: &[&[u8]]) -> Vec<u8> {
    let mut writer = PcapWriter::new(Vec::new()).unwrap();
    for (index, frame) in frames.iter().enumerate() {
        let at = std::time::Duration::from_millis(index as u64);
        writer.write_packet(&PcapPacket::new(at, frame.len() as u32, frame)).unwrap();
    }
    writer.into_writer()
}

/// The fields tshark shows of each frame, or `None` without tshark.
fn tshark(frames: &[&[u8]], fields: &[&str]) -> Option<Vec<Vec<String>>> {
    let marker = u32::from_be_bytes(DEFAULT_CT_MARKER);
    let spawned = Command::new("tshark")
        .args(["-o", "tte.ct_mask_value:0xffffffff", "-o", &format!("tte.ct_marker_value:{marker:#010x}")])
        .args(["-r", "-", "-T", "fields", "-E", "occurrence=f"])
        .args(fields.iter().flat_map(|field| ["-e", field]))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) => {
            println!("skipped: tshark does not start: {error}");
            return None;
        }
    };
    child.stdin.take().unwrap().write_all(&pcap(frames)).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "tshark failed: {}", output.status);
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect())
}

#[test]
#[ignore = "needs tshark"]
fn tshark_dissects_protocol_control_frames() {
    let kinds = [(PcfType::Integration, "0x02"), (PcfType::ColdStart, "0x04"), (PcfType::ColdStartAck, "0x08")];
    let frames = kinds.map(|(kind, _)| {
        let mut buf = [0xaa; protocol_control_frame::FRAME_LEN];
        let pcf = ProtocolControlFrame {
            integration_cycle: 0x0102_0304,
            membership_new: 0x8000_0001,
            sync_priority: 0x11,
            sync_domain: 0x22,
            kind,
            transparent_clock: Duration::from_ns(1),
        };
        let destination = virtual_link::critical_traffic_address(DEFAULT_CT_MARKER, 4043);
        pcf.emit_frame(destination, virtual_link::station_address(NodeId(1)), &mut buf);
        buf
    });
    let fields = ["_ws.col.Protocol", "tte.cf", "tte.ctid", "tte_pcf.ic", "tte_pcf.mn", "tte_pcf.sp", "tte_pcf.sd"];
    let fields = [&fields[..], &["tte_pcf.type", "tte_pcf.tc"]].concat();
    let Some(rows) = tshark(&frames.each_ref().map(|frame| &frame[..]), &fields) else { return };
    assert_eq!(rows.len(), kinds.len());
    for (row, (_, shown)) in rows.iter().zip(kinds) {
        println!("{}", row.join(" "));
        let expected =
            ["0x03040506", "0x0fcb", "0x01020304", "0x80000001", "0x11", "0x22", shown, "0x0000000000010000"];
        assert_eq!(row[0].trim_end(), "TTE/PCF");
        assert_eq!(row[1..], expected);
    }
}

#[test]
#[ignore = "needs tshark"]
fn tshark_knows_critical_traffic_by_its_marker() {
    let frame = |destination| {
        let mut buf = [0; ethernet::FRAME_LEN_MIN];
        let source = virtual_link::station_address(NodeId(1));
        Header { destination, source, type_or_length: TypeOrLength::Length(46) }.emit(&mut buf);
        buf
    };
    let critical = frame(virtual_link::critical_traffic_address(DEFAULT_CT_MARKER, 0x0102));
    let station = frame(virtual_link::station_address(NodeId(2)));
    let Some(rows) = tshark(&[&critical, &station], &["_ws.col.Info", "tte.cf", "tte.ctid"]) else { return };
    println!("{rows:?}");
    assert!(rows[0][0].starts_with("TTEthernet Frame"));
    assert_eq!(rows[0][1..], ["0x03040506", "0x0102"]);
    assert_eq!(rows[1][1..], ["", ""]);
}

/// An Ethernet frame to everyone with a packet of GeoNetworking that is not secured.
fn geonetworking(packet: &Packet<'_>) -> Vec<u8> {
    let mut bytes = [0; 512];
    let source = ethernet::MacAddress([2, 0, 0, 0, 0, 7]);
    let destination = ethernet::MacAddress::BROADCAST;
    Header { destination, source, type_or_length: TypeOrLength::EtherType(its::ETHERTYPE_GEONETWORKING) }
        .emit(&mut bytes);
    let start = ethernet::HEADER_LEN + BasicHeader::LEN;
    BasicHeader::new(NextHeader::Common, packet.maximum_hop_limit).emit(&mut bytes[ethernet::HEADER_LEN..]);
    let len = packet.emit(&mut bytes[start..]).unwrap();
    bytes[..start + len].to_vec()
}

const LATITUDE: i32 = 487_758_459;
const LONGITUDE: i32 = -91_829_321;

fn source() -> LongPosition {
    LongPosition {
        address: GnAddress::passenger_car([2, 0, 0, 0, 0, 7]),
        timestamp_ms: 123_456,
        latitude: LATITUDE,
        longitude: LONGITUDE,
        is_accurate: true,
        speed_cm_s: 3210,
        heading: 1234,
    }
}

#[rustfmt::skip]
#[test]
#[ignore = "needs tshark"]
fn tshark_dissects_cams() {
    let point = PathPoint { delta_latitude: -850, delta_longitude: 1200, delta_altitude_cm: 10, delta_time: Some(20) };
    let low_frequency = LowFrequency { path_history: PathHistory::new(&[point; 3]), ..LowFrequency::default() };
    let cam = Cam {
        station_id: 4711,
        generation_delta_time_ms: 54_321,
        position: ReferencePosition::at(LATITUDE, LONGITUDE),
        heading: 1234,
        speed_cm_s: 3210,
        yaw_rate: -210,
        curvature: -17,
        acceleration: -12,
        width_dm: 18,
        low_frequency: Some(low_frequency),
        ..Cam::default()
    };
    let mut message = [0; Cam::LEN_MAX];
    let len = cam.emit(&mut message).unwrap();
    let frame = geonetworking(&Packet::single_hop(source(), its::BTP_PORT_CAM, &message[..len]));
    let fields = [
        "geonw.src_pos.lat", "geonw.src_pos.speed", "geonw.ch.tc.id", "btpb.dstport", "its.stationID",
        "cam.generationDeltaTime", "its.latitude", "its.longitude", "its.headingValue", "its.speedValue",
        "its.yawRateValue", "its.curvatureValue", "its.longitudinalAccelerationValue", "cam.vehicleWidth",
        "cam.pathHistory", "its.deltaLongitude", "_ws.malformed", "_ws.expert.severity",
    ];
    let Some(lines) = tshark(&[&frame], &fields) else { return };
    let expected = [
        "487758459", "3210", "2", "2001", "4711", "54321", "487758459", "-91829321", "1234", "3210", "-210", "-17",
        "-12", "18", "3", "1200", "", "",
    ];
    assert_eq!(lines, [expected]);
}

#[rustfmt::skip]
#[test]
#[ignore = "needs tshark"]
fn tshark_dissects_denms() {
    let denm = Denm {
        station_id: 4711,
        originating_station_id: 4711,
        sequence_number: 9,
        detection_time_ms: 723_000_000_123,
        reference_time_ms: 723_000_000_223,
        event_position: ReferencePosition::at(LATITUDE, LONGITUDE),
        relevance_distance: Some(4),
        relevance_traffic_direction: Some(1),
        validity_duration_s: 120,
        transmission_interval_ms: Some(500),
        situation: Some(Situation { information_quality: 5, cause_code: 94, sub_cause_code: 2 }),
        ..Denm::default()
    };
    let mut message = [0; Denm::LEN_MAX];
    let len = denm.emit(&mut message).unwrap();
    let area =
        Area { shape: 0, latitude: LATITUDE, longitude: LONGITUDE, distance_a_m: 500, distance_b_m: 0, angle_deg: 0 };
    let single = Packet::single_hop(source(), its::BTP_PORT_DENM, &message[..len]);
    let extended = ExtendedHeader::GeoBroadcast { sequence: 77, source: source(), area };
    let frame = geonetworking(&Packet { traffic_class: 1, maximum_hop_limit: 5, extended, ..single });
    let fields = [
        "geonw.seq_num", "geonw.gxc.latitude", "geonw.gxc.radius", "geonw.ch.mhl", "btpb.dstport",
        "its.originatingStationID", "its.sequenceNumber", "denm.detectionTime", "denm.relevanceDistance",
        "denm.validityDuration", "denm.transmissionInterval", "its.causeCode", "its.subCauseCode", "_ws.malformed",
    ];
    let Some(lines) = tshark(&[&frame], &fields) else { return };
    let expected = [
        "0x004d", "487758459", "500", "5", "2002", "4711", "9", "723000000123", "4", "120", "500", "94", "2", "",
    ];
    assert_eq!(lines, [expected]);
}
