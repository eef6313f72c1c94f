//! Messages and headers as bytes.

use proptest::prelude::*;

use super::geonetworking::{
    Area, BasicHeader, ExtendedHeader, GnAddress, LongPosition, NextHeader, Packet, PacketError,
};
use super::*;

pub(super) fn cam() -> Cam {
    let mut position = ReferencePosition::at(487_758_459, 91_829_321);
    position.semi_axes_cm = [150, 80];
    position.orientation = 900;
    position.altitude_cm = 24_500;
    position.altitude_confidence = 7;
    Cam {
        station_id: 0x1234_5678,
        generation_delta_time_ms: 54_321,
        position,
        heading: 1234,
        heading_confidence: 10,
        speed_cm_s: 3_210,
        speed_confidence: 50,
        drive_direction: 0,
        length_dm: 45,
        width_dm: 18,
        acceleration: -12,
        curvature: 3,
        yaw_rate: -210,
        ..Cam::default()
    }
}

fn with_path() -> Cam {
    let point =
        |delta_time| PathPoint { delta_latitude: -850, delta_longitude: 1200, delta_altitude_cm: 0, delta_time };
    let path_history = PathHistory::new(&[point(Some(20)), point(None)]);
    Cam { low_frequency: Some(LowFrequency { vehicle_role: 0, exterior_lights: 0x80, path_history }), ..cam() }
}

fn denm() -> Denm {
    Denm {
        station_id: 77,
        originating_station_id: 77,
        sequence_number: 3,
        detection_time_ms: 723_000_000_123,
        reference_time_ms: 723_000_000_223,
        event_position: cam().position,
        relevance_distance: Some(4),
        relevance_traffic_direction: Some(1),
        validity_duration_s: 120,
        transmission_interval_ms: Some(500),
        situation: Some(Situation { information_quality: 5, cause_code: 94, sub_cause_code: 2 }),
        ..Denm::default()
    }
}

pub(super) fn emitted(cam: &Cam) -> Vec<u8> {
    let mut buf = [0xaa; Cam::LEN_MAX];
    let len = cam.emit(&mut buf).unwrap();
    buf[..len].to_vec()
}

#[test]
fn a_message_reads_back() {
    for cam in [Cam::default(), cam(), with_path()] {
        assert_eq!(Cam::parse(&emitted(&cam)), Ok(cam));
    }
    let mut buf = [0xaa; Denm::LEN_MAX];
    for denm in [Denm::default(), denm(), Denm { termination: Some(true), situation: None, ..denm() }] {
        let len = denm.emit(&mut buf).unwrap();
        assert_eq!(Denm::parse(&buf[..len]), Ok(denm));
    }
}

#[test]
fn bits_stand_where_the_standard_puts_them() {
    let bytes = emitted(&cam());
    // protocolVersion, messageID, stationID, generationDeltaTime
    assert_eq!(bytes[..8], [2, 2, 0x12, 0x34, 0x56, 0x78, 0xd4, 0x31]);
    // Extension, two optional containers, extension; then stationType 5: 0000 0000 0101.
    assert_eq!((bytes[8], bytes[9] >> 4), (0, 5));
    // latitude + 900,000,000 in 31 bits from bit 76 on
    let latitude = u64::from_be_bytes(*bytes[9..].first_chunk().unwrap()) << 4 >> 33;
    assert_eq!(latitude, 487_758_459 + 900_000_000);
    // 64 + 12 + 123 of the position + 2 + 7 + 12 + 7 + 14 + 7 + 2 + 10 + 3 + 6 + 9 + 7 + 11 + 3 + 3 + 16 + 4 = 322 bits
    assert_eq!(bytes.len(), 41);
    // 1 + 4 + 8 + 6 more, a point of 52 with its time of 17, one without
    assert_eq!(emitted(&with_path()).len(), (322_usize + 19 + 69 + 52).div_ceil(8));
}

#[test]
fn the_longest_message_fits() {
    let point = PathPoint { delta_time: Some(1), ..PathPoint::default() };
    let path_history = PathHistory::new(&[point; 50]);
    assert_eq!(path_history.points().len(), 40);
    let low_frequency = Some(LowFrequency { path_history, ..LowFrequency::default() });
    let bytes = emitted(&Cam { low_frequency, ..cam() });
    assert_eq!(bytes.len(), (322_usize + 19 + 40 * 69).div_ceil(8));
    assert!(Cam::parse(&bytes).is_ok());
}

#[test]
fn refuses_values_out_of_range() {
    let refused = |cam: Cam| match cam.emit(&mut [0; Cam::LEN_MAX]) {
        Err(UperError::OutOfRange { field, .. }) => field,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(Cam { heading: 3602, ..cam() }), "headingValue");
    assert_eq!(refused(Cam { heading_confidence: 0, ..cam() }), "headingConfidence");
    assert_eq!(refused(Cam { acceleration: -161, ..cam() }), "longitudinalAccelerationValue");
    assert_eq!(refused(Cam { position: ReferencePosition::at(900_000_002, 0), ..cam() }), "latitude");
    let denm = Denm { detection_time_ms: u64::MAX, ..denm() };
    assert!(matches!(denm.emit(&mut [0; 64]), Err(UperError::OutOfRange { field: "detectionTime", .. })));
    // 3602 in the twelve bits of headingValue, which begin at bit 208.
    let mut bytes = emitted(&cam());
    bytes[26] = (3602_u16 >> 4) as u8;
    bytes[27] = bytes[27] & 0x0f | (3602_u16 << 4) as u8;
    assert_eq!(
        Cam::parse(&bytes),
        Err(UperError::OutOfRange { field: "headingValue", value: 3602, low: 0, high: 3601 })
    );
}

#[test]
fn refuses_cut_off_and_foreign_messages() {
    let bytes = emitted(&with_path());
    for len in 0..bytes.len() {
        assert!(matches!(Cam::parse(&bytes[..len]), Err(UperError::TooShort { .. })), "{len} bytes");
        assert!(matches!(with_path().emit(&mut vec![0; len]), Err(UperError::TooShort { .. })), "{len} bytes");
    }
    assert_eq!(Cam::parse(&[&bytes[..], &[0]].concat()), Err(UperError::Trailing(1)));
    for (byte, value, field) in [(0, 1, "header"), (1, 1, "header"), (8, 0x80, "camParameters")] {
        let mut bytes = bytes.clone();
        bytes[byte] = value;
        assert_eq!(Cam::parse(&bytes), Err(UperError::Unknown { field }));
    }
    assert!(matches!(Denm::parse(&bytes), Err(UperError::Unknown { field: "header" })));
}

/// Two packets recorded on public roads, from the common header on: examples of the crate `geonetworking` 0.4.0 (MIT).
#[rustfmt::skip]
const RECORDED: [&str; 2] = [
    concat!(
        "20500280003b010014001e0ddf3f5b7da0cdf2541c8128af07c5dda5800409f60000000007d100000202df3f5b7df254405a",
        "44c235ee61f5f4a20620600047be50489f7fa0021cbfe9ea8333ff01fffa00283300001bfbc2ff9436607fff00",
    ),
    concat!(
        "20500280009901001400cab0a5283d0a2cd554cf1c7f37a307c6b64482cc0bbf0000000007d100000202a5283d0a54cf405a",
        "4484146e62110880b80b800047a7ce48bbf101540882988a8f341262010a0028730000cbff7d005431920009dfbfd826758f",
        "10077f001d40104c698095f7f5c6065c6414062bbf80704b3b1ec0081dfbf6827098f10031efe01c136cc78801677efd609e",
        "863b000b3bf8cb047eb1c4004fdfc5a823dd8e20027efe2c411cec670013f7efa609ce636000b3",
    ),
];

#[test]
fn reads_packets_recorded_on_public_roads() {
    let seen = RECORDED.map(|hex| {
        let digits = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        let bytes: Vec<u8> = (0..hex.len()).step_by(2).map(digits).collect();
        let packet = Packet::parse(&bytes).unwrap();
        let mut again = vec![0; bytes.len()];
        packet.emit(&mut again).unwrap();
        assert_eq!(again, bytes, "the headers are written as they were");
        assert_eq!(packet.destination_port, BTP_PORT_CAM);
        let cam = Cam::parse(packet.message).unwrap();
        // Where the headers say the car is, the message says it is.
        let source = packet.source();
        assert_eq!((cam.position.latitude, cam.position.longitude), (source.latitude, source.longitude));
        assert_eq!(cam.generation_delta_time_ms, source.timestamp_ms as u16);
        assert_eq!(cam.station_id.to_be_bytes(), source.address.0[4..]);
        let points = cam.low_frequency.map(|low| low.path_history.points().len());
        (cam.station_type, cam.heading, cam.speed_cm_s, cam.length_dm, cam.width_dm, points)
    });
    // As tshark 4.0.17 shows them.
    assert_eq!(seen, [(5, 2551, 4, 1023, 62, Some(1)), (5, 3007, 680, 42, 18, Some(12))]);
}

fn source() -> LongPosition {
    LongPosition {
        address: GnAddress::passenger_car([2, 3, 4, 5, 6, 7]),
        timestamp_ms: 0x0102_0304,
        latitude: 487_758_459,
        longitude: -91_829_321,
        is_accurate: true,
        speed_cm_s: -321,
        heading: 1234,
    }
}

#[test]
fn a_single_hop_packet_has_the_bytes_of_the_standard() {
    let packet = Packet::single_hop(source(), BTP_PORT_CAM, &[0xca, 0x11]);
    let mut buf = [0xaa; 64];
    BasicHeader::new(NextHeader::Common, 1).emit(&mut buf);
    let len = packet.emit(&mut buf[4..]).unwrap();
    #[rustfmt::skip]
    let expected = [
        0x11, 0, 0x05, 1,
        0x20, 0x50, 2, 0x80, 0, 6, 1, 0,
        0x14, 0, 2, 3, 4, 5, 6, 7,  1, 2, 3, 4,  0x1d, 0x12, 0x9a, 0x7b,  0xfa, 0x86, 0xcb, 0xb7,  0xfe, 0xbf,  0x04, 0xd2,
        0, 0, 0, 0,
        0x07, 0xd1, 0, 0,
        0xca, 0x11,
    ];
    assert_eq!(buf[..4 + len], expected);
    assert_eq!(BasicHeader::parse(&buf), Ok(BasicHeader::new(NextHeader::Common, 1)));
    assert_eq!(Packet::parse(&buf[4..4 + len]), Ok(packet));
}

#[test]
fn refuses_packets_of_other_kinds() {
    let packet = Packet::single_hop(source(), BTP_PORT_CAM, &[1, 2, 3]);
    let mut bytes = [0; 64];
    let len = packet.emit(&mut bytes).unwrap();
    let with = |byte: usize, value: u8| {
        let mut changed = bytes;
        changed[byte] = value;
        Packet::parse(&changed[..len]).err()
    };
    assert_eq!(with(0, 0x10), Some(PacketError::Unknown { field: "next header", value: 1 }));
    assert_eq!(with(1, 0x10), Some(PacketError::Unknown { field: "header type", value: 1 }));
    assert_eq!(with(1, 0x51), Some(PacketError::Unknown { field: "header subtype", value: 1 }));
    assert_eq!(with(5, 8), Some(PacketError::PayloadLen { said: 8, found: 7 }));
    for short in 0..len {
        assert!(Packet::parse(&bytes[..short]).is_err());
        assert!(packet.emit(&mut { bytes }[..short]).is_err());
    }
    assert_eq!(BasicHeader::parse(&[0x21, 0, 5, 1]), Err(PacketError::Version(2)));
    assert_eq!(BasicHeader::parse(&[0x10, 0, 5, 1]), Err(PacketError::Unknown { field: "next header", value: 0 }));
    assert_eq!(BasicHeader::parse(&[0x11, 0, 5]), Err(PacketError::TooShort { field: "the basic header", len: 3 }));
}

proptest! {
    #[test]
    fn whatever_the_bytes_reading_them_ends(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = (Cam::parse(&bytes), Denm::parse(&bytes), Packet::parse(&bytes), BasicHeader::parse(&bytes));
        // Behind the right first bytes the reader comes further.
        let mut cam = emitted(&with_path());
        let at = cam.len().min(bytes.len());
        cam[8..at.max(8)].copy_from_slice(&bytes[8.min(at)..at]);
        let _ = Cam::parse(&cam);
    }

    #[test]
    fn a_packet_reads_back(
        sequence: u16, shape in 0u8..3, distances: [u16; 3], latitude: i32, longitude: i32, speed_cm_s in -16384i16..16384,
        traffic_class: u8, is_mobile: bool, message in proptest::collection::vec(any::<u8>(), 0..100),
    ) {
        let [distance_a_m, distance_b_m, angle_deg] = distances;
        let area = Area { shape, latitude, longitude, distance_a_m, distance_b_m, angle_deg };
        let source = LongPosition { speed_cm_s, latitude: longitude, ..source() };
        let extended = ExtendedHeader::GeoBroadcast { sequence, source, area };
        let single = Packet::single_hop(source, BTP_PORT_DENM, &message);
        let packet = Packet { traffic_class, is_mobile, extended, ..single };
        let mut buf = [0xaa; 200];
        for packet in [packet, single] {
            let len = packet.emit(&mut buf).unwrap();
            prop_assert_eq!(len, packet.len());
            prop_assert_eq!(Packet::parse(&buf[..len]), Ok(packet));
        }
    }

    #[test]
    fn every_value_of_a_message_reads_back(
        station_id: u32, time: u16, latitude in -900_000_000i32..=900_000_001, longitude in -1_800_000_000i32..=1_800_000_001,
        heading in 0u16..=3601, speed_cm_s in 0u16..=16_383, acceleration in -160i16..=161, curvature in -1023i16..=1023,
        yaw_rate in -32_766i16..=32_767, width_dm in 1u8..=62, points in 0usize..=40,
    ) {
        let position = ReferencePosition::at(latitude, longitude);
        let path_history = PathHistory::new(&[PathPoint { delta_time: Some(9), ..PathPoint::default() }; 40][..points]);
        let low_frequency = (points > 0).then_some(LowFrequency { path_history, ..LowFrequency::default() });
        let cam = Cam {
            station_id, generation_delta_time_ms: time, position, heading, speed_cm_s, acceleration, curvature, yaw_rate,
            width_dm, low_frequency, ..Cam::default()
        };
        prop_assert_eq!(Cam::parse(&emitted(&cam)), Ok(cam));
    }
}
