use std::process::Command;

use chronoseal_core::NodeId;
use chronoseal_results::capture::write_capture;
use chronoseal_results::{CaptureRow, Direction, SegmentMeta};

use crate::sample::{backbone, control_frame, critical_frame, meta, us};

fn captures() -> Vec<CaptureRow> {
    let row = |at_us, node, direction, comment: &str, bytes| CaptureRow {
        time: us(at_us),
        segment: 0,
        node: NodeId(node),
        direction,
        comment: comment.into(),
        bytes,
    };
    vec![
        row(1_010, 1, Direction::Departure, "sequence 5", critical_frame()),
        row(1_007, 0, Direction::Arrival, "", critical_frame()),
        row(3, 0, Direction::Departure, "beacon", control_frame()),
    ]
}

#[test]
fn each_segment_is_an_interface_with_its_link_type_and_packets_are_in_order() {
    use pcap_file::pcapng::{Block, PcapNgReader};
    let mut meta = meta();
    meta.segments.push(SegmentMeta { name: "body".into(), link_type: 227, ..backbone() });
    let mut rows = captures();
    rows.push(CaptureRow { segment: 1, direction: Direction::Carried, ..rows[1].clone() });
    let mut bytes = Vec::new();
    write_capture(&mut bytes, &meta, &rows).unwrap();
    let mut reader = PcapNgReader::new(bytes.as_slice()).unwrap();
    let (mut interfaces, mut packets) = (Vec::new(), Vec::new());
    while let Some(block) = reader.next_block() {
        match block.unwrap() {
            Block::InterfaceDescription(interface) => {
                interfaces.push((u32::from(interface.linktype), format!("{:?}", interface.options[0])));
            }
            Block::EnhancedPacket(packet) => {
                packets.push((packet.timestamp.as_nanos(), packet.interface_id, format!("{:?}", packet.options)));
            }
            _ => {}
        }
    }
    let is = |number: usize, link_type: u32, name: &str| {
        interfaces[number].0 == link_type && interfaces[number].1.contains(name)
    };
    assert!(interfaces.len() == 2 && is(0, 1, "backbone") && is(1, 227, "body"), "{interfaces:?}");
    let places: Vec<_> = packets.iter().map(|(at, interface, _)| (*at, *interface)).collect();
    assert_eq!(places, [(3_000, 0), (1_007_000, 0), (1_007_000, 1), (1_010_000, 0)]);
    // The direction is 1 for inbound and 2 for outbound.
    let expected = [
        ("ecu1 departure; beacon", "Flags(2)"),
        ("ecu1 arrival", "Flags(1)"),
        ("ecu1 carried", "Flags(0)"),
        ("ecu2 departure; sequence 5", "Flags(2)"),
    ];
    for ((_, _, said), (comment, flags)) in packets.iter().zip(expected) {
        assert!(said.contains(comment) && said.contains(flags), "{said}");
    }

    rows[0].segment = 2;
    let error = write_capture(std::io::sink(), &meta, &rows).unwrap_err().to_string();
    assert!(error.contains("does not describe"), "{error}");
}

/// The command of `docs/guide/captures.md`, run on a capture of hand-made frames. Needs tshark; says so if absent.
#[test]
fn tshark_dissects_control_and_critical_frames() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("capture.pcapng");
    write_capture(std::fs::File::create(&path).unwrap(), &meta(), &captures()).unwrap();
    let output = Command::new("tshark")
        .args(["-o", "tte.ct_mask_value:0xffffffff", "-o", "tte.ct_marker_value:0x03040506"])
        .args(["-T", "fields", "-E", "separator=;"])
        .args(["-e", "frame.interface_name", "-e", "frame.time_epoch", "-e", "frame.comment", "-e", "frame.protocols"])
        .args(["-e", "tte.cf", "-e", "tte.ctid", "-e", "tte_pcf.ic", "-e", "tte_pcf.mn", "-e", "tte_pcf.type"])
        .arg("-r")
        .arg(&path)
        .output();
    let Ok(output) = output else {
        println!("skipped: tshark is not installed (Debian package tshark)");
        return;
    };
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(lines.len(), 3, "{text}");
    assert_eq!(
        lines[0],
        "backbone;0.000003000;ecu1 departure; beacon;eth:tte:ethertype:tte_pcf;0x03040506;0x0fcb;0x00000009;0x00000001;0x02"
    );
    assert!(lines[1].starts_with("backbone;0.001007000;ecu1 arrival;eth:tte:ethertype:"), "{text}");
    assert!(lines[1].contains(";0x03040506;0x0064;"), "{text}");
    assert!(lines[2].starts_with("backbone;0.001010000;ecu2 departure; sequence 5;eth:tte:ethertype:"), "{text}");
}
