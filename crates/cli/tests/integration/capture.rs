//! Captures that others read: what `docs/guide/captures.md` promises.

use std::process::Command;

use crate::integration::support::{Bench, SIDE_BY_SIDE, SMALL};

/// Rows of `fields` for the packets that `filter` takes.
fn tshark(bench: &Bench, filter: &str, fields: &[&str]) -> Vec<Vec<String>> {
    let mut command = Command::new("tshark");
    command.args(["-o", "tte.ct_mask_value:0xffffffff", "-o", "tte.ct_marker_value:0x03040506", "-r"]);
    command.arg(bench.path("run/capture.pcapng")).args(["-Y", filter, "-T", "fields"]);
    for field in fields {
        command.args(["-e", field]);
    }
    let output = command.output().expect("tshark starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

/// What the first segment of a run counted.
fn total(run: &serde_json::Value, name: &str) -> usize {
    let series = run["summary"]["segments"][0]["series"].as_array().unwrap();
    let found = series.iter().find(|series| series["name"] == name).unwrap();
    found["total"].as_u64().unwrap() as usize
}

/// A bus of two, small enough for a moment.
const BUS: &str = r#"schema_version = 2
name = "bus"
duration = "500ms"
[segments.bus.can]
bit_rate = "500kbit/s"
data_bit_rate = "2Mbit/s"
[[nodes]]
name = "sensor"
[[nodes]]
name = "display"
[[streams]]
name = "speed"
from = "sensor"
bus = { id = "0x123" }
length = "8B"
period = "10ms"
offset = "1ms"
[[streams]]
name = "picture"
from = "display"
bus = { id = "0x18DAF110", extended = true, format = "fd-brs" }
length = "48B"
period = "20ms"
offset = "2ms"
"#;

#[test]
#[ignore = "needs tshark"]
fn tshark_reads_the_capture_of_a_bus_simulated_and_live() {
    for engine in ["sim", "live"] {
        let bench = Bench::new();
        bench.write("bus.toml", BUS);
        let arguments = ["run", "bus.toml", "--engine", engine, "--capture", "--out", "run", "--format", "json"];
        let run = bench.say(&arguments).json();
        let fields = ["frame.comment", "can.id", "can.flags.xtd", "can.len", "frame.protocols"];
        let frames = tshark(&bench, "can || canfd", &fields);
        // What the bus counted; a run may end within a frame.
        let carried = total(&run, "frames");
        assert!(carried >= 70 && frames.len() == carried, "{engine}: {} packets of {carried} frames", frames.len());
        let is = |row: &[String], said: &str, id: u32, extended: bool, len: &str| {
            let value = row[1].parse().or_else(|_| u32::from_str_radix(row[1].trim_start_matches("0x"), 16));
            let flag = matches!(&*row[2], "1" | "True");
            row[0].starts_with(said) && value == Ok(id) && flag == extended && row[3] == len
        };
        let speed = frames.iter().filter(|row| is(row, "sensor carried", 0x123, false, "8")).count();
        let picture = frames.iter().filter(|row| is(row, "display carried", 0x18da_f110, true, "48")).count();
        assert!(speed >= 46 && picture >= 22 && speed + picture == carried, "{engine}: {frames:?}");
    }
    let bench = Bench::new();
    bench.write("bus.toml", BUS);
    bench.say(&["run", "bus.toml", "--out", "run", "--quiet"]).assert_code(0);
    assert!(!bench.path("run/capture.pcapng").exists(), "an empty capture");
}

#[test]
#[ignore = "needs tshark"]
fn tshark_reads_the_capture_of_a_run() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    bench.say(&["run", "small.toml", "--capture", "--out", "run", "--quiet"]).assert_code(0);

    let frames = tshark(&bench, "tte.ctid == 0x0001", &["frame.comment", "frame.len", "frame.interface_name"]);
    let is = |row: &[String], said: &str| row[0].starts_with(said) && row[1] == "80" && row[2] == "network";
    let count = |said: &str| frames.iter().filter(|row| is(row, said)).count();
    assert_eq!((count("sensor arrival"), count("display departure")), (9, 9), "{frames:?}");

    // Ten integration cycles, each beacon away to two stations.
    let beacons = tshark(&bench, "tte_pcf", &["tte_pcf.type", "tte_pcf.ic"]);
    assert!(beacons.len() >= 20 && beacons.iter().all(|row| row[0] == "2" || row[0] == "0x02"), "{beacons:?}");
}

#[test]
#[ignore = "needs tshark"]
fn tshark_reads_the_capture_of_two_segments_simulated_and_live() {
    for engine in ["sim", "live"] {
        let bench = Bench::new();
        bench.write("two.toml", SIDE_BY_SIDE);
        bench.json(&["run", "two.toml", "--engine", engine, "--capture", "--out", "run"]);
        let fields = ["frame.interface_name", "eth.src", "can.id", "frame.comment"];
        let packets = tshark(&bench, "frame", &fields);
        let on = |segment: &str| packets.iter().filter(|row| row[0] == segment).collect::<Vec<_>>();
        let (backbone, body) = (on("backbone"), on("body"));
        assert_eq!(backbone.len() + body.len(), packets.len(), "{engine}");
        // 291 is 0x123.
        let is_light = |row: &&Vec<String>| row[1].is_empty() && row[2] == "291" && row[3].starts_with("panel carried");
        assert!(body.len() >= 190 && body.iter().all(is_light), "{engine}: {body:?}");
        assert!(backbone.iter().all(|row| row[1].starts_with("02:") && row[2].is_empty()), "{engine}: {backbone:?}");
        let count = |said: &str| backbone.iter().filter(|row| row[3].starts_with(said)).count();
        assert!(count("camera arrival") >= 90 && count("computer departure") >= 90, "{engine}: {backbone:?}");
    }
}

/// Four switches in a ring, and a stream that goes round it both ways.
const RING: &str = r#"schema_version = 2
name = "ring"
duration = "100ms"
[segments.ring.ethernet]
rate = "100Mbit/s"
cluster_cycle = "10ms"
sync = "ideal"
class = { vlan = { pcp = 6, vid = 100 } }
switches = ["front", "rear", "side", "other"]
links = [
  { between = ["front", "other"] },
  { between = ["other", "rear"] },
  { between = ["front", "side"] },
  { between = ["side", "rear"] },
  { between = ["pedal", "front"] },
  { between = ["wheel", "rear"] },
]
[[nodes]]
name = "pedal"
[[nodes]]
name = "wheel"
[[streams]]
name = "brake"
from = "pedal"
to = ["wheel"]
period = "10ms"
length = "100B"
offset = "1ms"
ring = { replication = { ways = [["other"], ["side"]] } }
"#;

#[test]
#[ignore = "needs tshark"]
fn tshark_reads_the_redundancy_tags_of_all_copies() {
    let bench = Bench::new();
    bench.write("ring.toml", RING);
    bench.json(&["run", "ring.toml", "--capture", "--out", "run"]);
    let packets = tshark(&bench, "ieee8021cb", &["ieee8021cb.seq", "vlan.id", "frame.len", "frame.comment"]);
    for number in 0..10u32 {
        let hex = format!("0x{number:04x}");
        let own: Vec<_> = packets.iter().filter(|row| row[0] == hex || row[0] == number.to_string()).collect();
        // Once towards the first switch, and away from the last one once for each way.
        let words: Vec<&str> = own.iter().filter_map(|row| row[3].split(' ').nth(1)).collect();
        assert_eq!(words.iter().filter(|word| word.starts_with("departure")).count(), 2, "{own:?}");
        assert_eq!(words.iter().filter(|word| word.starts_with("arrival")).count(), 1, "{own:?}");
        assert!(own.iter().all(|row| row[1] == "100" && row[2] == "124"), "{own:?}");
        assert!(own.iter().any(|row| row[3].contains("copy-eliminated")), "{own:?}");
    }
}

/// Images of 10 kB past a short stream.
const IMAGES: &str = r#"schema_version = 2
name = "images"
duration = "200ms"
[segments.backbone.ethernet]
rate = "100Mbit/s"
cluster_cycle = "10ms"
class = { best_effort = { priority = 2 } }
[[nodes]]
name = "camera"
[[nodes]]
name = "fusion"
[[streams]]
name = "image"
from = "camera"
to = ["fusion"]
period = "20ms"
length = "10kB"
[[streams]]
name = "speed"
from = "camera"
to = ["fusion"]
period = "10ms"
length = "100B"
"#;

#[test]
#[ignore = "needs tshark"]
fn tshark_puts_messages_longer_than_a_frame_together_simulated_and_live() {
    for engine in ["sim", "live"] {
        let bench = Bench::new();
        bench.write("images.toml", IMAGES);
        bench.json(&["run", "images.toml", "--engine", engine, "--capture", "--out", "run"]);
        // Each frame is there on its way to the switch and on its way from it: of one direction fragments come once.
        let mut command = Command::new("tshark");
        command.arg("-r").arg(bench.path("run/capture.pcapng"));
        command.args(["-Y", "frame.comment contains \"camera arrival\"", "-w"]).arg(bench.path("arrivals.pcapng"));
        assert!(command.output().expect("tshark starts").status.success());
        std::fs::copy(bench.path("arrivals.pcapng"), bench.path("run/capture.pcapng")).expect("it was written");
        let fields = ["ip.fragment.count", "ip.reassembled.length", "udp.length", "udp.dstport", "ip.dst"];
        let whole = tshark(&bench, "udp", &fields);
        let expected = ["7", "10008", "10008", "49152", "239.192.0.0"];
        assert!(whole.len() >= 8 && whole.iter().all(|row| *row == expected), "{engine}: {whole:?}");
        let checked =
            "ip.checksum.status == \"Bad\" || udp.checksum.status == \"Bad\" || ip.fragment.error || _ws.malformed";
        let mut command = Command::new("tshark");
        command.args(["-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE", "-r"]);
        let output = command.arg(bench.path("arrivals.pcapng")).args(["-Y", checked]).output().expect("it starts");
        assert!(output.status.success() && output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    }
}
