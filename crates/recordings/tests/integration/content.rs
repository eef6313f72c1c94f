//! What files of other tools are taken for.

use chronoseal_recordings::content::{ENTRIES, Purpose, expect, not_read, recognised};

use crate::integration::dbc::{ABS, VEHICLE};

const STREAMS: &str = "name,from,to,period,frame\nspeed,wheel,brake,10ms,60B\n";

/// The beginning of a file of each kind, and what it is called.
const SEEN: &[(&str, &[u8])] = &[
    ("a capture", &[0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0]),
    ("a recording of a CAN bus", b"(1398128223.803317) can0 166#D0320009\n"),
    ("a DBC database", b"CM_ \"steer_angle_rate is negative\";\n\nBO_ 342 S: 6 EPS\n"),
    ("gzip", &[0x1f, 0x8b, 8, 0]),
    ("an Excel workbook or another ZIP archive", b"PK\x03\x04\x14\0"),
    ("an Excel workbook", &[0xd0, 0xcf, 0x11, 0xe0, 0xa1]),
    ("a file packed with xz", b"\xfd7zXZ\0\0"),
    ("a file packed with bzip2", b"BZh91AY&SY\0\x01"),
    ("a file packed with Zstandard", &[0x28, 0xb5, 0x2f, 0xfd, 4]),
    ("a 7-Zip archive", b"7z\xbc\xaf\x27\x1c\0"),
    ("a recording of a CAN bus", b"SQLite format 3\0\x10\0"),
    ("a capture in another format than pcap", b"snoop\0\0\0\0\0\0\x02"),
    ("a ROS bag", b"#ROSBAG V2.0\n"),
    (
        "an AUTOSAR system description (ARXML)",
        b"\xef\xbb\xbf<?xml version=\"1.0\"?>\n<!-- <FIBEX> -->\n<AUTOSAR xmlns=\"http://autosar.org/schema/r4.0\">",
    ),
    ("a FIBEX description", b"<?xml version='1.0'?>\n<fx:FIBEX xmlns:fx=\"http://www.asam.net/xml/fbx\">"),
    ("a KCD database", b"<NetworkDefinition xmlns=\"http://kayak.2codeornot2code.org/1.0\">"),
    ("a trace of SUMO", b"<fcd-export>\n<timestep time=\"0.00\">"),
    ("a network or demand of SUMO", b"<routes><vehicle/></routes>"),
    (
        "instance data of IEEE 802.1Qcw",
        b"<interfaces xmlns=\"urn:ietf:params:xml:ns:yang:ietf-interfaces\"><interface><gate-parameter-table>",
    ),
    ("packets that Wireshark exported", b"<?xml version=\"1.0\"?><pdml version=\"0\">"),
    ("a scenario", b"# mine\nschema_version = 2\nname = \"x\"\n"),
    ("a scenario", b"{ \"schema_version\": 2 }"),
    (
        "instance data of IEEE 802.1Qcw",
        b"{\"ietf-interfaces:interfaces\":{\"interface\":[{\"ieee802-dot1q-bridge:bridge-port\":{\"gate-parameter-table\":1}}]}}",
    ),
    (
        "CORECONF data in YAML",
        b"- ? \"/ietf-interfaces:interfaces/interface[name='1']/ieee802-dot1q-bridge:bridge-port\"\n  : gate-enabled: true\n",
    ),
    ("a network description of OMNeT++ (NED)", b"//\n// licence\n//\npackage inet.showcases.tsn;\n\nnetwork A\n{\n}\n"),
    ("a configuration of OMNeT++", b"[General]\nnetwork = TsnNetwork\n"),
    ("a LIN description (LDF)", b"LIN_description_file;\nLIN_protocol_version = \"2.1\";\n"),
    ("a SYM database of PEAK", b"FormatVersion=6.0 // Do not edit this line!\n"),
    (
        "a log of Microchip's CAN BUS Analyzer",
        b"//---------------------------------\nMicrochip Technology Inc.\nCAN BUS Analyzer\n",
    ),
    ("a trace of CARBUS Analyzer", b"@ TEXT @ 2 @ 64 @ 0 @ 55 @ 10078 @\n"),
    ("a table of identifiers and bytes without times", b"ID,Data Bytes\n0x21A,FE 36\n"),
    ("a matrix of canmatrix as CSV", b"ID,Frame Name,Cycle Time [ms],Launch Type\n"),
    ("a table of streams", STREAMS.as_bytes()),
    ("a table of streams", b"# mine\nname;from;too;period;frame\n"),
    ("a table of routes", b"message,from,to,gateway\nA,front,rear,zone\n"),
    ("a network of tsnkit", b"link,q_num,rate,t_proc,t_prop\n\"(0, 1)\",8,1,2000,0\n"),
    ("streams of tsnkit", b"id,src,dst,size,period,deadline,jitter\n"),
    ("a recording of a CAN bus", b"Time Stamp,ID,Extended,Dir,Bus,LEN,D1,D2\n"),
    ("a recording of a CAN bus", b"timestamp,arbitration_id,extended,remote,error,dlc,data\n"),
    (
        "a packet list that Wireshark exported",
        b"\"No.\",\"Time\",\"Source\",\"Destination\",\"Protocol\",\"Length\",\"Info\"\n",
    ),
    ("certificates in PEM", b"-----BEGIN CERTIFICATE-----\nMIIB\n"),
];

#[test]
fn every_kind_of_the_table_is_recognised_by_its_beginning() {
    for (name, bytes) in SEEN {
        assert_eq!(recognised(bytes).map(|entry| entry.name), Some(*name), "{}", String::from_utf8_lossy(bytes));
    }
    for entry in ENTRIES {
        assert!(SEEN.iter().any(|(name, _)| *name == entry.name), "{} has no example", entry.name);
        assert_ne!(entry.purpose.is_some(), !entry.instead.is_empty(), "{}: read, or what instead", entry.name);
    }
    for bytes in [VEHICLE, ABS] {
        assert_eq!(recognised(bytes).map(|entry| entry.name), Some("a DBC database"));
    }
}

#[test]
fn what_is_in_no_table_is_not_guessed() {
    for bytes in [&b""[..], b"\0\x01\x02", b"hello", b"a,b,c\n1,2,3\n", b"<html>", b"{}", b"- a\n- b\n", b"\xff\xfe"] {
        assert!(recognised(bytes).is_none(), "{:?}", recognised(bytes));
    }
}

#[test]
fn a_refusal_says_what_it_seems_to_be_the_nearest_and_what_is_read() {
    let fibex = not_read(b"<FIBEX>", Purpose::Import);
    assert_eq!(fibex.message, "this seems to be a FIBEX description, which is not read");
    assert!(fibex.help.contains("canconvert") && fibex.help.contains("read here: CSV with"), "{fibex}");
    let arxml = expect(b"<AUTOSAR>", Purpose::Trace).unwrap_err();
    assert!(arxml.message.contains("(ARXML)") && arxml.help.contains("scenario from FILE"), "{arxml}");
    let trace = expect(b"<fcd-export>", Purpose::Network).unwrap_err();
    assert!(trace.message.contains("a trace of SUMO") && trace.help.contains("v2x fleet --fcd FILE"), "{trace}");
    let unknown = not_read(b"\0\x01", Purpose::Import);
    assert!(unknown.message.contains("00 01"), "{unknown}");
    assert!(not_read(b"a,b\n", Purpose::Import).help.contains("name,from,to,period,frame"));
    assert_eq!(expect(b"who knows", Purpose::Gates), Ok(()), "its reader says the line");
}
