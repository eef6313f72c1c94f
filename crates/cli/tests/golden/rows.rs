//! The tables and the capture of a stored run as text, and digests of that text.
//!
//! Columns are listed one by one, so a column added to a table changes nothing here until somebody adds it. Nodes and
//! streams appear by name: their numbers are pinned by the fingerprint of the run.

use std::fs::{self, File};
use std::path::Path;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use pcap_file::pcapng::{Block, PcapNgReader};
use serde_json::{Value, json};

const FRAMES: [&str; 17] = [
    "stream",
    "sequence",
    "sender",
    "at",
    "attack",
    "len_bytes",
    "due_at_ns",
    "slot_after_ns",
    "sent_after_ns",
    "arrived_after_ns",
    "departed_after_ns",
    "received_after_ns",
    "accepted_after_ns",
    "cycle_after_ns",
    "outcome",
    "reason",
    "stalled",
];
const EVENTS: [&str; 7] = ["time_ns", "node", "kind", "detail", "stream", "sequence", "value_ps"];
const WORK: [&str; 5] = ["time_ns", "node", "operation", "len_bytes", "duration_ns"];

/// Digests of the frames, the events, the computations and the captured packets in the folder of a run. If `GOLDEN_ROWS`
/// names a folder, the text behind each is written there too, so that two builds can be compared line by line.
pub(crate) fn digests(folder: &Path, name: &str) -> Value {
    let mut value = json!({});
    let mut add = |what: &str, lines: Vec<String>| {
        keep(&format!("{name}.{what}.txt"), &lines);
        value[what] = digest(&lines);
    };
    add("frames", table(&folder.join("frames.parquet"), &FRAMES));
    add("events", table(&folder.join("events.parquet"), &EVENTS));
    add("work", table(&folder.join("work.parquet"), &WORK));
    let capture = folder.join("capture.pcapng");
    if capture.exists() {
        add("capture", packets(&capture));
    }
    value
}

/// Each row of a table as one line. The tables are read as the files they are: what a run left behind is pinned, and not
/// what this build's reader makes of it.
fn table(path: &Path, columns: &[&str]) -> Vec<String> {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let names: Vec<_> =
        reader.metadata().file_metadata().schema().get_fields().iter().map(|f| f.name().to_owned()).collect();
    let position = |column: &&str| {
        names.iter().position(|name| name == column).unwrap_or_else(|| panic!("{}: no `{column}`", path.display()))
    };
    let positions: Vec<usize> = columns.iter().map(position).collect();
    let rows = reader.get_row_iter(None).unwrap();
    rows.map(|row| {
        let row = row.unwrap();
        let fields: Vec<_> = row.get_column_iter().map(|(_, field)| field).collect();
        positions.iter().map(|position| field_text(fields[*position])).collect::<Vec<_>>().join("|")
    })
    .collect()
}

/// A field as text, whatever the width of its column.
fn field_text(field: &Field) -> String {
    match field {
        Field::Null => "-".into(),
        Field::Bool(value) => value.to_string(),
        Field::Int(value) => value.to_string(),
        Field::Long(value) => value.to_string(),
        Field::UShort(value) => value.to_string(),
        Field::UInt(value) => value.to_string(),
        Field::ULong(value) => value.to_string(),
        Field::Str(value) => value.clone(),
        other => panic!("a field of another type: {other}"),
    }
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Time and bytes of each captured packet; comments are prose and may change.
fn packets(path: &Path) -> Vec<String> {
    let mut reader = PcapNgReader::new(File::open(path).unwrap()).unwrap();
    let mut lines = Vec::new();
    while let Some(block) = reader.next_block() {
        if let Block::EnhancedPacket(packet) = block.unwrap() {
            let mut line = format!("{}|", packet.timestamp.as_nanos()).into_bytes();
            // Millions of octets, by code that is not optimised.
            for byte in packet.data.iter() {
                line.push(DIGITS[usize::from(byte >> 4)]);
                line.push(DIGITS[usize::from(byte & 15)]);
            }
            lines.push(String::from_utf8(line).unwrap());
        }
    }
    lines
}

/// How many lines, a digest of them in order, and one that does not see their order: if only the first of the two
/// changes, the rows are the same in another order.
fn digest(lines: &[String]) -> Value {
    let whole = lines.iter().fold(FNV_START, |hash, line| fnv(fnv(hash, line.as_bytes()), b"\n"));
    let unordered = lines.iter().fold(0u64, |sum, line| sum.wrapping_add(fnv(FNV_START, line.as_bytes())));
    json!({ "rows": lines.len(), "digest": format!("{whole:016x}"), "unordered": format!("{unordered:016x}") })
}

const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a of 64 bits.
fn fnv(hash: u64, bytes: &[u8]) -> u64 {
    let mut hash = hash;
    for byte in bytes {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash
}

fn keep(name: &str, lines: &[String]) {
    let Some(folder) = std::env::var_os("GOLDEN_ROWS") else { return };
    fs::create_dir_all(&folder).unwrap();
    fs::write(Path::new(&folder).join(name), lines.join("\n") + "\n").unwrap();
}
