//! Writes the seeds of the binary corpora: `cargo run --example seeds` in this folder.

use std::path::Path;

use chronoseal_clocksync::gptp::{Effect, Parameters, PortParameters, TimeAwareSystem};
use chronoseal_core::{Duration, LocalTime, NodeId, StreamId};
use chronoseal_fourq::{ecdh, schnorrq};
use chronoseal_frameauth::{KeyBytes, Sealer};
use chronoseal_nodes::segmentation::{Output, Sender, SenderConfig, Transfer};
use chronoseal_wire::can::iso_tp::{FrameFormat, TxDataLength};
use chronoseal_wire::can::{CanFrame, CanId, Dlc, plain};
use chronoseal_wire::container::{ContainedPdu, HeaderType};
use chronoseal_wire::ethernet::{self, Header, MacAddress, TypeOrLength};
use chronoseal_wire::protocol_control_frame::{PcfType, ProtocolControlFrame};
use chronoseal_wire::test_bed_header::{ETHERTYPE_BEST_EFFORT, TestBedHeader};
use chronoseal_wire::virtual_link::{self, DEFAULT_CT_MARKER};

fn write(target: &str, name: &str, bytes: &[u8]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    std::fs::create_dir_all(&folder).expect("the corpus folder can be made");
    std::fs::write(folder.join(format!("{name}.bin")), bytes).expect("the seed can be written");
}

fn frame(destination: MacAddress, type_or_length: TypeOrLength, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    Header { destination, source: virtual_link::station_address(NodeId(1)), type_or_length }.emit(&mut bytes);
    TestBedHeader { stream: StreamId(7), sequence: 1 }.emit(&mut bytes[ethernet::HEADER_LEN..]);
    bytes
}

/// Frames of every kind, as bytes and as levels, and the pieces of a message.
fn can() {
    let (base, extended) = (CanId::standard(0x123).expect("11 bits"), CanId::extended(0x0301_0281).expect("29 bits"));
    let data: [u8; 64] = std::array::from_fn(|i| (i * 37) as u8);
    let frames = [
        ("classical", CanFrame::classical(base, &data[..8])),
        ("classical_extended", CanFrame::classical(extended, &[0; 5])),
        ("remote", Ok(CanFrame::remote(base, Dlc::holding(4).expect("at most 64")))),
        ("fd_16", CanFrame::fd(base, &data[..16], false)),
        ("fd_64", CanFrame::fd(extended, &data, true)),
    ];
    for (name, frame) in frames {
        let frame = frame.expect("a length that frames have");
        let mut bytes = [0; 72];
        let len = frame.emit(&mut bytes);
        write("can_frame", name, &bytes[..len]);
        let acknowledged = |bit: &plain::WireBit| bit.recessive && bit.field != plain::Field::AckSlot;
        let mut levels: Vec<bool> = plain::encode(&frame).iter().map(acknowledged).collect();
        levels.resize(levels.len().next_multiple_of(8) + 8, true);
        let packed = levels.chunks(8).map(|byte| byte.iter().fold(0, |byte, bit| byte << 1 | u8::from(*bit)));
        write("can_bits", name, &packed.collect::<Vec<u8>>());
    }
}

/// What programs write down: sent, received, altered, in part, and nothing of the kind.
fn program_records() {
    let at = chronoseal_fuzz::PROGRAM_EPOCH_NS + 1_000_000_000;
    let record = |kind, flags, sequence: u64, due: i64| chronoseal_fuzz::program_record(kind, flags, sequence, due, at);
    write("program_records", "sent", &[record(1, 0, 0, 0), record(1, 0, 1, at - 5_000)].concat());
    write("program_records", "received", &[record(2, 0, 0, 0), record(2, 1, 1, 0)].concat());
    write("program_records", "cut", &record(1, 0, 0, 0)[..20]);
    write("program_records", "serialized", &record(3, 0, 1_500, 0));
    write("program_records", "unknown", &record(3, 9, u64::MAX, i64::MAX));
}

/// Containers with either header: whole, filled up, with a length that lies, with trailing bytes, and none at all.
fn container_pdu() {
    for (name, choice, header) in [("short", 0, HeaderType::Short), ("long", 1, HeaderType::Long)] {
        let mut bytes = [0; 65];
        bytes[0] = choice;
        let mut len = 1;
        for (id, pdu) in [(5, &[1; 12][..]), (6, &[2; 20]), (9, &[])] {
            len += header.emit(ContainedPdu { id, bytes: pdu }, &mut bytes[len..]).expect("there is room");
        }
        write("container_pdu", name, &bytes[..len]);
        write("container_pdu", &format!("{name}_filled_up"), &bytes);
        write("container_pdu", &format!("{name}_lies"), &bytes[..header.wire_len() + 6]);
        *bytes.last_mut().expect("it has bytes") = 1;
        write("container_pdu", &format!("{name}_trailing"), &bytes);
    }
    write("container_pdu", "empty", &[0]);
}

/// Messages in fragments: whole, with one lost, doubled, out of order, changed, overlapping, tiny, and from another message.
fn ip_fragments() {
    let of = |packets: &[&Vec<u8>]| -> Vec<u8> {
        packets.iter().flat_map(|packet| chronoseal_fuzz::ip_record(1, packet)).collect()
    };
    let [a, b, c] = &chronoseal_fuzz::ip_message(7)[..] else { panic!("it has three fragments") };
    let other = &chronoseal_fuzz::ip_message(8)[1];
    write("ip_fragments", "whole", &of(&[a, b, c]));
    write("ip_fragments", "lost", &of(&[a, c]));
    write("ip_fragments", "doubled", &of(&[a, b, b, c]));
    write("ip_fragments", "out_of_order", &of(&[c, b, a]));
    write("ip_fragments", "interrupted", &of(&[a, b, a, b, c]));
    write("ip_fragments", "of_another", &of(&[a, other, b, c]));
    let mut changed = c.clone();
    changed[22] ^= 1;
    write("ip_fragments", "changed", &of(&[a, b, &changed]));
    let with_flags = |packet: &[u8], flags: u16| {
        let mut packet = packet.to_vec();
        packet[6..8].copy_from_slice(&flags.to_be_bytes());
        packet[10..12].fill(0);
        let sum = chronoseal_wire::ipv4::checksum(&[&packet[..20]]);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
        packet
    };
    write("ip_fragments", "overlapping", &of(&[a, &with_flags(b, 0x2004), b, c]));
    write("ip_fragments", "beyond_the_end", &of(&[a, &with_flags(b, 0x1ffc)]));
    write("ip_fragments", "longest", &of(&[&with_flags(c, 0x1fff)]));
    write("ip_fragments", "late", &[of(&[a]), chronoseal_fuzz::ip_record(60, b)].concat());
}

/// What a peer says: a whole message in each form, and an answer to our own.
fn iso_tp() {
    let message: Vec<u8> = (0..150).collect();
    for (name, setting, tx_data_len, len) in [
        ("single", [0, 0, 0, 0], 8, 7),
        ("classical", [0, 0, 0, 0], 8, 20),
        ("classical_blocks", [0, 0, 2, 1], 8, 60),
        ("fd_single", [7, 0, 0, 0], 64, 62),
        ("fd", [7, 0, 0, 0xf1], 64, 150),
        ("paced", [0x27, 0, 0, 0], 64, 150),
        ("single_only", [0x40, 0, 0, 0], 8, 5),
    ] {
        let format = FrameFormat::new(TxDataLength::new(tx_data_len).expect("one of the eight"));
        let transfer = Transfer::PacedBroadcast { separation: Duration::ZERO };
        let mut sender = Sender::new(SenderConfig::new(format, transfer)).expect("nothing wrong with it");
        sender.send(LocalTime::ZERO, message[..len].to_vec()).expect("it is idle");
        let (mut input, mut data) = (setting.to_vec(), [0; 64]);
        loop {
            match sender.poll(LocalTime::ZERO, &mut data) {
                Output::Frame(len) => input.extend(chronoseal_fuzz::iso_tp_record(1, &data[..len])),
                Output::Event(_) => {}
                Output::Timeout(_) => break,
            }
        }
        write("iso_tp", name, &input);
    }
    let of = |setting: [u8; 4], frames: &[&[u8]]| {
        let records = frames.iter().flat_map(|frame| chronoseal_fuzz::iso_tp_record(2, frame));
        setting.into_iter().chain(records).collect::<Vec<u8>>()
    };
    let go_on: &[u8] = &[0x30, 2, 0xf1];
    write("iso_tp", "answers", &of([0; 4], &[go_on, &[0x31, 0, 0], go_on, &[0x32, 0, 0], &[0x33, 0, 0]]));
    write("iso_tp", "too_long", &of([0; 4], &[&[0x10, 0, 0xaa, 0xbb, 0xcc, 0xdd, 1, 2], &[0x21, 1, 2, 3, 4, 5, 6, 7]]));
    write("iso_tp", "addressed", &of([0x08, 0xf1, 0, 0], &[&[0xf1, 0x10, 8, 1, 2, 3, 4, 5], &[0xf1, 0x21, 6, 7, 8]]));
}

/// What a bridge sends in its first second, by itself and when its neighbour asks.
fn gptp() {
    let clock = |number| chronoseal_wire::gptp::ClockIdentity([number; 8]);
    let system = |number| {
        let parameters = Parameters::new(clock(number), number);
        TimeAwareSystem::new(&parameters, &[PortParameters::default()], LocalTime::ZERO).expect("in bounds")
    };
    let mut pair = [system(1), system(2)];
    let mut written = std::collections::BTreeSet::new();
    for ms in 0..2_000 {
        let now = LocalTime::ZERO + Duration::from_ms(ms);
        for from in 0..2 {
            pair[from].advance(now);
            while let Some(effect) = pair[from].poll() {
                let Effect::Send { port, payload, stamp } = effect else { continue };
                if written.insert(payload[0]) {
                    write("gptp_message", &format!("type_{:x}", payload[0] & 0xf), &payload);
                }
                if let Some(stamp) = stamp {
                    pair[from].transmitted(now, port, stamp, now).expect("the port is there");
                }
                // What is refused while the two find each other is refused for good reasons.
                let _ = pair[1 - from].receive(now, port, now, &payload);
            }
        }
    }
}

fn main() {
    can();
    container_pdu();
    iso_tp();
    ip_fragments();
    program_records();
    let critical = virtual_link::critical_traffic_address(DEFAULT_CT_MARKER, 4043);
    let stream = virtual_link::stream_address(StreamId(7));
    write("ethernet_frame", "critical_shortest", &frame(critical, TypeOrLength::Length(46), 60));
    write("ethernet_frame", "critical_padded", &frame(critical, TypeOrLength::Length(8), 60));
    write("ethernet_frame", "critical_longest", &frame(critical, TypeOrLength::Length(1500), 1514));
    write("ethernet_frame", "best_effort", &frame(stream, TypeOrLength::EtherType(ETHERTYPE_BEST_EFFORT), 200));
    write("ethernet_frame", "length_beyond_frame", &frame(critical, TypeOrLength::Length(47), 60));
    write("ethernet_frame", "undefined_type", &frame(critical, TypeOrLength::EtherType(1501), 1514));
    write("ethernet_frame", "too_short", &frame(critical, TypeOrLength::Length(8), 59));
    write("ethernet_frame", "too_long", &frame(critical, TypeOrLength::Length(1500), 1515));

    for (name, kind) in [
        ("integration", PcfType::Integration),
        ("cold_start", PcfType::ColdStart),
        ("cold_start_ack", PcfType::ColdStartAck),
    ] {
        let pcf = ProtocolControlFrame {
            integration_cycle: 7,
            membership_new: 1,
            sync_priority: 1,
            sync_domain: 1,
            kind,
            transparent_clock: Duration::from_us(3),
        };
        let mut buf = [0; ethernet::FRAME_LEN_MIN];
        pcf.emit_frame(critical, virtual_link::station_address(NodeId(1)), &mut buf);
        write("ethernet_frame", name, &buf);
        write("protocol_control_frame", name, &buf[ethernet::HEADER_LEN..]);
        buf[34..42].fill(0xff);
        write("protocol_control_frame", &format!("{name}_oldest"), &buf[ethernet::HEADER_LEN..][..28]);
    }

    gptp();

    // One byte for the profile, one for the changed bit, one for the expected cycle; then the PDU.
    let key = KeyBytes::from_array(std::array::from_fn(|i| i as u8));
    for (choice, profile) in chronoseal_fuzz::profiles().into_iter().enumerate() {
        let mut pdu = vec![0x42; 8 + profile.overhead()];
        let sealed = Sealer::new(profile, &key, 100)
            .expect("HMAC takes any key")
            .seal(&mut pdu, 8, 5)
            .expect("the buffer has room");
        let input = [&[choice as u8, 3, 5], &pdu[..sealed]].concat();
        write("secured_pdu_open", &format!("profile_{choice:02}"), &input);
    }
    write("secured_pdu_open", "empty", &[0, 0, 0]);

    // A public key and a secret; a public key, a signature and its message.
    let point = |name: &str, key: &[u8; 32]| write("fourq_point", name, &[&key[..], &[7; 32]].concat());
    let agreement = ecdh::SecretKey::from_bytes([1; 32]);
    point("key", &agreement.public());
    let small = |first, rest, last| {
        std::array::from_fn(|i| {
            if i == 0 {
                first
            } else if i == 31 {
                last
            } else {
                rest
            }
        })
    };
    point("identity", &small(1, 0, 0));
    point("identity_signed", &small(1, 0, 0x80));
    point("order_4", &small(0, 0, 0));
    point("not_canonical", &small(0xff, 0xff, 0x7f));
    write("fourq_point", "secret_zero", &[agreement.public(), [0; 32]].concat());
    let key = schnorrq::SigningKey::from_seed([2; 32]);
    for (name, message) in [("empty", &b""[..]), ("message", b"share of node 7")] {
        let signed = [&key.public()[..], &key.sign(message).to_bytes(), message].concat();
        write("fourq_signature", name, &signed);
    }
}
