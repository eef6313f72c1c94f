//! What is recognised, the first that fits being it.

use super::start::{Start, is_stream_table};
use super::{Entry, Purpose};
use crate::format::Format;
use crate::is_database;

const UNPACK: &str = "unpack it, and give the file that is in it";
const TO_DBC: &str = "export each CAN bus in it as DBC, as `canconvert FILE bus.dbc` of canmatrix does";

const fn read(name: &'static str, purpose: Purpose, is: fn(&Start<'_>) -> bool) -> Entry {
    Entry { name, purpose: Some(purpose), instead: "", is }
}

const fn named(name: &'static str, instead: &'static str, is: fn(&Start<'_>) -> bool) -> Entry {
    Entry { name, purpose: None, instead, is }
}

/// Every kind of content that is known.
pub const ENTRIES: &[Entry] = &[
    read("a capture", Purpose::Import, |it| matches!(Format::detect(it.bytes), Some(Format::Pcap | Format::Pcapng))),
    read("a recording of a CAN bus", Purpose::Import, |it| Format::detect(it.bytes).is_some()),
    read("a DBC database", Purpose::Import, |it| is_database(it.bytes)),
    // Packed, and binary.
    named("gzip", UNPACK, |it| crate::gzip::is_gzip(it.bytes)),
    named("an Excel workbook or another ZIP archive", "export what is in it as DBC or CSV, or unpack it", |it| {
        it.bytes.starts_with(b"PK\x03\x04")
    }),
    named("an Excel workbook", TO_DBC, |it| it.bytes.starts_with(&[0xd0, 0xcf, 0x11, 0xe0])),
    named("a file packed with xz", UNPACK, |it| it.bytes.starts_with(b"\xfd7zXZ\0")),
    named("a file packed with bzip2", UNPACK, |it| it.bytes.starts_with(b"BZh") && it.text().is_empty()),
    named("a file packed with Zstandard", UNPACK, |it| it.bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd])),
    named("a 7-Zip archive", UNPACK, |it| it.bytes.starts_with(b"7z\xbc\xaf\x27\x1c")),
    named("a capture in another format than pcap", "convert it: `editcap -F pcapng FILE out.pcapng`", |it| {
        [&b"snoop\0\0\0"[..], b"TRSNIFF data", b"GMBU", b"RTSS", &[0xa1, 0xb2, 0xcd, 0x34], &[0x34, 0xcd, 0xb2, 0xa1]]
            .iter()
            .any(|magic| it.bytes.starts_with(magic))
    }),
    named("a ROS bag", "export its CAN frames as a candump log", |it| {
        it.bytes.starts_with(b"#ROSBAG V") || it.bytes.starts_with(b"\x89MCAP0")
    }),
    // XML, by its first element.
    read("an AUTOSAR system description (ARXML)", Purpose::Import, |it| it.has_root("AUTOSAR")),
    named("a FIBEX description", TO_DBC, |it| it.has_root("FIBEX")),
    named("a KCD database", TO_DBC, |it| it.has_root("NetworkDefinition")),
    read("a trace of SUMO", Purpose::Trace, |it| it.has_root("fcd-export")),
    named("a network or demand of SUMO", "let SUMO drive it: `sumo -c town.sumocfg --fcd-output town.xml`", |it| {
        it.is_xml() && ["net", "routes", "configuration", "additional"].iter().any(|root| it.has_root(root))
    }),
    read("instance data of IEEE 802.1Qcw", Purpose::Gates, |it| {
        it.is_xml() && it.text().contains("ietf-interfaces") && it.text().contains("gate-parameter-table")
    }),
    named("packets that Wireshark exported", "save the capture itself as pcapng", |it| {
        ["pdml", "psml"].iter().any(|root| it.has_root(root))
    }),
    // Text.
    read("a scenario", Purpose::Scenario, |it| {
        let key = |line: &str| line.trim_start_matches(['{', '"']).starts_with("schema_version");
        !it.is_xml() && it.lines().any(|line| key(line) || line.starts_with('{') && line.contains("\"schema_version\""))
    }),
    read("instance data of IEEE 802.1Qcw", Purpose::Gates, |it| {
        it.text().trim_start().starts_with('{')
            && it.text().contains("interfaces")
            && it.text().contains("gate-parameter-table")
    }),
    named(
        "CORECONF data in YAML",
        "write the same data as JSON (RFC 7951) or XML, which `schedule replay --gates` reads",
        |it| {
            let is_data =
                |line: &str| line.starts_with("- ? \"/") || line.starts_with("- \"/ietf-") || line.starts_with("? \"/");
            it.lines().filter(|line| !line.starts_with('#')).take(3).any(is_data)
                || it.text().contains("ieee802-dot1q-sched") && it.lines().any(|line| line.starts_with("- index:"))
        },
    ),
    named("a network description of OMNeT++ (NED)", "write its streams as CSV, or the scenario by hand", |it| {
        let begins = |line: &str| {
            let mut words = line.split_whitespace();
            match (words.next(), words.next()) {
                (Some("package" | "import"), Some(name)) => name.ends_with(';'),
                (Some("network" | "simple" | "module"), Some(name)) => {
                    name.starts_with(|c: char| c.is_ascii_alphabetic())
                }
                _ => false,
            }
        };
        let mut lines = it.lines().filter(|line| !line.starts_with("//"));
        lines.next().is_some_and(begins) && it.text().contains(['{', ';'])
    }),
    named("a configuration of OMNeT++", "write its streams as CSV, or the scenario by hand", |it| {
        it.lines().any(|line| line == "[General]") && it.lines().any(|line| line.starts_with("network"))
    }),
    named("a LIN description (LDF)", "only CAN databases are read; write the scenario by hand", |it| {
        it.lines().any(|line| line.starts_with("LIN_description_file"))
    }),
    named("a SYM database of PEAK", TO_DBC, |it| {
        it.lines().next().is_some_and(|line| line.starts_with("FormatVersion="))
    }),
    named(
        "a log of Microchip's CAN BUS Analyzer",
        "export it as CSV of SavvyCAN (GVRET) or as candump log with SavvyCAN",
        |it| it.text().contains("Microchip Technology") && it.text().contains("CAN BUS Analyzer"),
    ),
    named("a trace of CARBUS Analyzer", "open it in SavvyCAN and save it as GVRET CSV or candump log", |it| {
        it.lines().next().is_some_and(|line| line.starts_with("@ TEXT @"))
    }),
    named("a table of identifiers and bytes without times", "record with times: `candump -L can0`", |it| {
        it.columns(&["ID", "Data Bytes"]) == 2
    }),
    named("a matrix of canmatrix as CSV", TO_DBC, |it| it.columns(&["ID", "Frame Name", "Cycle Time [ms]"]) == 3),
    read("a table of streams", Purpose::Import, is_stream_table),
    read("a table of routes", Purpose::Routes, |it| it.columns(&["message", "from", "to", "gateway"]) == 4),
    read("a network of tsnkit", Purpose::Network, |it| it.columns(&["link", "q_num", "rate"]) == 3),
    read("streams of tsnkit", Purpose::Streams, |it| it.columns(&["src", "dst", "size", "period"]) == 4),
    named("a packet list that Wireshark exported", "save the capture itself as pcapng", |it| {
        it.columns(&["No.", "Time", "Source", "Destination", "Protocol"]) == 5
    }),
    named("certificates in PEM", "give the file in DER or COER", |it| {
        it.lines().next().is_some_and(|line| line.starts_with("-----BEGIN "))
    }),
];
