use chronoseal_recordings::{Format, Place, Problem, Warning, is_can_capture, write_pcap};
use pcap_file::DataLink;
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};

use crate::integration::{good, lines, refused};

const LOG: &str = "\
(1700000000.000000) can0 123#01020304
(1700000000.000100) can0 18FEF100#0102030405060708
(1700000000.000200) can0 7FF#R5
(1700000000.000300) can0 100##5112233445566778899AABBCC
(1700000000.000400) can0 101##4
(1700000000.000500) can0 102##6AA
(1700000000.000600) can0 103#1122334455667788_B
(1700000000.000700) can0 20000080#0102030405060708
";

fn same(left: &chronoseal_recordings::Recording, right: &chronoseal_recordings::Recording) {
    assert_eq!(left.frames, right.frames);
    assert_eq!((&left.errors, left.start_ns), (&right.errors, right.start_ns));
}

#[test]
fn what_is_written_is_read_back() {
    let recording = good(LOG);
    let bytes = write_pcap(&recording);
    assert!(is_can_capture(&bytes));
    let again = good(&bytes);
    assert_eq!(again.format, Format::Pcap);
    same(&again, &recording);
}

/// The kernel's structure may be cut behind the data, and bytes come in either order.
#[test]
fn reads_captures_of_others() {
    let mut bytes = Vec::new();
    let header = PcapHeader {
        datalink: DataLink::from(227),
        endianness: pcap_file::Endianness::Big,
        ts_resolution: pcap_file::TsResolution::MicroSecond,
        ..PcapHeader::default()
    };
    let mut writer = PcapWriter::with_header(&mut bytes, header).unwrap();
    let mut packet = |us: u64, data: &[u8]| {
        let packet = PcapPacket::new(std::time::Duration::from_micros(us), data.len() as u32, data);
        writer.write_packet(&packet).unwrap();
    };
    packet(1_000_000, &[0, 0, 1, 0x23, 2, 0, 0, 0, 0xaa, 0xbb]);
    packet(1_000_010, &[0x80, 0, 1, 0x23, 1, 0x05, 0, 0, 0xaa]);
    packet(1_000_020, &[0x40, 0, 1, 0x23, 8, 0, 0, 0]);
    assert_eq!(lines(&good(&bytes)), ["0 0 123#AABB", "10000 0 00000123##5AA", "20000 0 123#R8"]);
}

#[test]
fn reads_the_can_interfaces_of_a_pcapng() {
    let mut bytes = Vec::new();
    let mut writer = PcapNgWriter::new(&mut bytes).unwrap();
    for (link, name) in [(1, "eth0"), (227, "can0"), (227, "can1")] {
        let options = vec![
            InterfaceDescriptionOption::IfName(name.into()),
            InterfaceDescriptionOption::IfTsResol(if name == "can1" { 9 } else { 6 }),
        ];
        let block = InterfaceDescriptionBlock { linktype: DataLink::from(link), snaplen: 0, options };
        writer.write_pcapng_block(block).unwrap();
    }
    for (interface_id, units) in [(0, 5), (1, 7), (2, 9_000)] {
        let data = [0, 0, 1, 0x23, 1, 0, 0, 0, interface_id as u8];
        let timestamp = std::time::Duration::from_nanos(units);
        let (data, options) = (data.as_slice().into(), vec![]);
        let packet = EnhancedPacketBlock { interface_id, timestamp, original_len: 9, data, options };
        writer.write_pcapng_block(packet).unwrap();
    }
    assert!(is_can_capture(&bytes));
    let recording = good(&bytes);
    assert_eq!(lines(&recording), ["0 can0 123#01", "2000 can1 123#02"]);
    assert_eq!(recording.warnings.len(), 1);
}

#[test]
fn other_captures_are_refused_with_what_to_do() {
    let mut bytes = Vec::new();
    PcapWriter::new(&mut bytes).unwrap();
    assert!(!is_can_capture(&bytes));
    let error = refused(&bytes);
    assert!(matches!(error.problem, Problem::Unsupported { place: Place::Byte(20), .. }), "{error}");
    let mut bytes = Vec::new();
    PcapNgWriter::new(&mut bytes).unwrap();
    assert!(refused(&bytes).to_string().contains("227"));
}

#[test]
fn a_broken_packet_costs_itself_and_is_named_with_its_byte() {
    let whole = good(LOG);
    let good_bytes = write_pcap(&whole);
    // File header 24, packet header 16, frame 16.
    for (change, value, expected) in [
        (24 + 32 + 16 + 4, 9, "8 of 9 bytes"),
        (24 + 32 + 16, 0x01, "has more than 11 bits"),
        (24 + 16 + 4, 9, "8 of 9 bytes"),
    ] {
        let mut bytes = good_bytes.clone();
        bytes[change] = value;
        let read = good(&bytes);
        let packet = (change - 24) / 32;
        let [Warning::Damaged { count: 1, first }] = &read.warnings[..] else { panic!("{:?}", read.warnings) };
        let said = first.to_string();
        assert!(said.contains(expected) && said.contains(&format!("byte {}", 24 + packet * 32)), "{said}");
        assert_eq!(read.frames.len(), whole.frames.len() - 1);
    }
    // More broken than sound ones are no recording.
    let mut bytes = good_bytes[..24 + 32].to_vec();
    bytes[24 + 16 + 4] = 9;
    assert!(refused(&bytes).to_string().contains("8 of 9 bytes"));
}

#[test]
fn a_capture_cut_in_the_middle_of_a_packet_keeps_the_others() {
    let bytes = write_pcap(&good(LOG));
    for cut in [24 + 1, 24 + 17, 24 + 31] {
        let error = refused(&bytes[..cut]);
        assert!(matches!(error.problem, Problem::Truncated { place: Place::Byte(24), .. }), "{error}");
    }
    let error = refused(&bytes[..bytes.len() - 1]);
    assert_eq!((error.read.frames.len(), error.read.errors.len()), (7, 0));
    assert_eq!(good(&bytes[..24]).frames, []);
}

/// As `tcpdump -i any` writes them: identifiers low byte first, which is how Wireshark 4.0.17 reads both headers.
#[test]
fn reads_can_frames_among_those_of_all_interfaces() {
    let classical = [0x23, 1, 0, 0, 2, 0, 0, 0, 0xaa, 0xbb];
    let fd = [[0x00, 0xf1, 0xfe, 0x98, 12, 5, 0, 0].as_slice(), &[7; 12]].concat();
    let sll =
        |protocol: u8, frame: &[u8]| [&[0, 1, 1, 0x18, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, protocol], frame].concat();
    let sll_2 = |protocol: u8, interface: u8, frame: &[u8]| {
        [&[0, protocol, 0, 0, 0, 0, 0, interface, 1, 0x18, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0], frame].concat()
    };
    for (link_type, packets, expected) in [
        (
            113,
            [sll(0x0c, &classical), sll(0x0d, &fd), sll(8, b"E")],
            ["0 0 123#AABB", "10000 0 18FEF100##5070707070707070707070707"],
        ),
        (
            276,
            [sll_2(0x0c, 4, &classical), sll_2(0x0d, 5, &fd), sll_2(8, 1, b"E")],
            ["0 if4 123#AABB", "10000 if5 18FEF100##5070707070707070707070707"],
        ),
    ] {
        let mut bytes = Vec::new();
        let header = PcapHeader { datalink: DataLink::from(link_type), ..PcapHeader::default() };
        let mut writer = PcapWriter::with_header(&mut bytes, header).unwrap();
        for (at, data) in packets.iter().enumerate() {
            let at = std::time::Duration::from_micros(1_000_000 + at as u64 * 10);
            writer.write_packet(&PcapPacket::new(at, data.len() as u32, data)).unwrap();
        }
        assert!(is_can_capture(&bytes));
        let recording = good(&bytes);
        assert_eq!(lines(&recording), expected);
        assert_eq!(recording.warnings.len(), 1, "what is no CAN is counted");
        // Without a CAN frame it is none.
        let mut other = bytes[..24].to_vec();
        other.extend(&bytes[bytes.len() - 16 - packets[2].len()..]);
        assert!(!is_can_capture(&other) && matches!(refused(&other).problem, Problem::Unsupported { .. }));
    }
}

/// CAN XL frames of SocketCAN: flags with the highest bit set where the others have their length.
#[test]
fn can_xl_frames_are_named_and_counted() {
    let mut bytes = write_pcap(&good(LOG));
    bytes[24 + 16 + 4] = 0x81;
    let recording = good(&bytes);
    assert_eq!(recording.frames.len(), 6);
    assert!(recording.warnings[0].to_string().contains("CAN XL"), "{:?}", recording.warnings);
    let log = good("(1.0) can0 123#01\n(1.1) can0 05123#81:00:12345678#112233\n(1.2) can0 123#02\n");
    assert_eq!((log.frames.len(), log.warnings.len()), (2, 1));
    assert!(log.warnings[0].to_string().contains("CAN XL"), "{:?}", log.warnings);
}
