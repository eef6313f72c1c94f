use chronoseal_recordings::{
    CaptureItem, CaptureReader, CapturedPacket, Format, LINKTYPE_ETHERNET, Place, Problem, write_pcap,
};
use pcap_file::DataLink;
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionBlock;
use pcap_file::pcapng::blocks::section_header::SectionHeaderBlock;
use pcap_file::pcapng::blocks::simple_packet::SimplePacketBlock;

use crate::integration::good;

fn packets(bytes: &[u8]) -> Vec<CapturedPacket<'_>> {
    let of = |item| if let CaptureItem::Packet(packet) = item { Some(packet) } else { None };
    CaptureReader::new(bytes).unwrap().filter_map(|item| of(item.unwrap())).collect()
}

/// As `tcpdump -s 4` writes it: the library under the reader refuses packets longer than the snap length.
#[test]
fn a_packet_cut_by_the_snap_length_keeps_its_length_on_the_wire() {
    let mut bytes = Vec::new();
    // The upper half of the link type says that frames end with 4 bytes of check sequence.
    for word in [0xa1b2_c3d4, 4 << 16 | 2, 0, 0, 4, 0x4400_0000 | LINKTYPE_ETHERNET, 7, 8, 4, 1_500] {
        bytes.extend(u32::to_le_bytes(word));
    }
    bytes.extend([1, 2, 3, 4]);
    let [packet] = &packets(&bytes)[..] else { panic!("one packet") };
    assert_eq!((packet.at_ns, packet.original_len, &packet.data[..]), (Some(7_000_008_000), 1_500, &[1, 2, 3, 4][..]));
    assert_eq!((packet.interface, packet.link_type, packet.place), (0, LINKTYPE_ETHERNET, Place::Byte(24)));
}

fn pcapng(interface_id: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = PcapNgWriter::new(&mut bytes).unwrap();
    for link_type in [113, LINKTYPE_ETHERNET] {
        writer.write_pcapng_block(InterfaceDescriptionBlock::new(DataLink::from(link_type), 0)).unwrap();
    }
    writer.write_pcapng_block(SimplePacketBlock { original_len: 5, data: b"12345".into() }).unwrap();
    writer.write_pcapng_block(SectionHeaderBlock::default()).unwrap();
    writer.write_pcapng_block(InterfaceDescriptionBlock::new(DataLink::ETHERNET, 0)).unwrap();
    let timestamp = std::time::Duration::from_nanos(3);
    let packet =
        EnhancedPacketBlock { interface_id: 0, timestamp, original_len: 2, data: (&b"67"[..]).into(), options: vec![] };
    writer.write_pcapng_block(packet.clone()).unwrap();
    if interface_id > 0 {
        // The writer of the library refuses it, too: written as interface 0 and changed.
        writer.write_pcapng_block(packet).unwrap();
        let at = bytes.len() - 36 + 8;
        assert_eq!(bytes[at..at + 4], [0; 4]);
        bytes[at..at + 4].copy_from_slice(&interface_id.to_be_bytes());
    }
    bytes
}

#[test]
fn interfaces_are_counted_over_sections_and_simple_packets_have_no_time_and_no_padding() {
    let bytes = pcapng(0);
    let seen: Vec<_> =
        packets(&bytes).into_iter().map(|it| (it.interface, it.link_type, it.at_ns, it.data.into_owned())).collect();
    assert_eq!(seen, [(0, 113, None, b"12345".to_vec()), (2, LINKTYPE_ETHERNET, Some(3_000), b"67".to_vec())]);
}

#[test]
fn a_packet_of_no_interface_ends_it_with_its_byte() {
    let bytes = pcapng(1);
    let mut capture = CaptureReader::new(&bytes).unwrap();
    let error = capture.find_map(Result::err).unwrap();
    let place = Place::Byte(bytes.len() as u64 - 36);
    assert!(matches!(&error, Problem::Malformed { place: at, .. } if *at == place), "{error}");
    assert!(error.to_string().contains("interface 1 of 1"), "{error}");
    assert!(capture.next().is_none());
}

#[test]
fn what_is_no_capture_is_refused_and_a_torn_one_read_as_far_as_it_goes() {
    let error = CaptureReader::new(b"(0.000000) can0 123#01\n").map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("found `(0.000000) can0 `; give a file of tcpdump"), "{error}");
    let bytes = write_pcap(&good("(0.000000) can0 123#01\n(0.100000) can0 123#02\n"));
    for cut in 0..24 {
        assert!(CaptureReader::new(&bytes[..cut]).is_err(), "{cut}");
    }
    let mut torn = CaptureReader::new(&bytes[..bytes.len() - 1]).unwrap();
    assert_eq!(torn.format(), Format::Pcap);
    assert!(matches!(torn.next(), Some(Ok(CaptureItem::Interface(_)))));
    assert!(matches!(torn.next(), Some(Ok(CaptureItem::Packet(_)))));
    assert!(matches!(torn.next(), Some(Err(Problem::Truncated { place: Place::Byte(56), .. }))));
    assert!(torn.next().is_none());
}

/// A list of options may end with its block, as some devices write it.
#[test]
fn options_without_an_end_are_read() {
    for is_big in [true, false] {
        let word = |value: u32| if is_big { value.to_be_bytes() } else { value.to_le_bytes() };
        let half = |value: u16| if is_big { value.to_be_bytes() } else { value.to_le_bytes() };
        let block = |kind: u32, body: &[&[u8]]| {
            let body = body.concat();
            let len = word(body.len() as u32 + 12);
            [&word(kind)[..], &len, &body, &len].concat()
        };
        let option = |code: u16, value: &[u8]| [&half(code)[..], &half(value.len() as u16), value].concat();
        let section = block(0x0a0d_0d0a, &[&word(0x1a2b_3c4d), &half(1), &half(0), &[0xff; 8], &option(4, b"made")]);
        let interface = block(1, &[&half(1), &half(0), &word(0), &option(2, b"eth0")]);
        let packet = |time: u32, options: &[u8]| {
            block(6, &[&word(0), &word(0), &word(time), &word(4), &word(4), &[1, 2, 3, 4], options])
        };
        let outbound = option(2, &word(2));
        let packets_of = [packet(5, &outbound), packet(6, &[]), packet(7, &outbound)].concat();
        let bytes = [&section[..], &interface, &packets_of, &section, &interface, &packets_of].concat();
        let seen: Vec<_> = packets(&bytes).iter().map(|it| (it.interface, it.at_ns, it.is_outbound)).collect();
        let all = [0, 1].map(|interface| {
            [(5_000, true), (6_000, false), (7_000, true)].map(|(at, outbound)| (interface, Some(at), outbound))
        });
        assert_eq!(seen, all.concat());
        let names = CaptureReader::new(&bytes).unwrap().filter_map(|item| match item.unwrap() {
            CaptureItem::Interface(interface) => interface.name,
            CaptureItem::Packet(_) => None,
        });
        assert_eq!(names.collect::<Vec<_>>(), ["eth0", "eth0"]);
        // Wherever it is cut: an end or a problem, and no more packets.
        for cut in 0..bytes.len() {
            let reader = CaptureReader::new(&bytes[..cut]);
            assert!(
                reader.is_err()
                    || reader.unwrap().filter(|item| matches!(item, Ok(CaptureItem::Packet(_)))).count() <= 5
            );
        }
    }
}
