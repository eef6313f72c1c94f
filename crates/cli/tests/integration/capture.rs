//! Captures that others read: what `docs/guide/captures.md` promises.

use std::process::Command;

use crate::support::{Bench, SMALL};

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

#[test]
#[ignore = "needs tshark"]
fn tshark_reads_the_capture_of_a_run() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    bench.say(&["run", "small.toml", "--capture", "--out", "run", "--quiet"]).assert_code(0);

    let frames = tshark(&bench, "tte.ctid == 0x0001", &["frame.interface_name", "frame.len"]);
    let count = |interface: &str| frames.iter().filter(|row| row[0] == interface && row[1] == "80").count();
    assert_eq!((count("sensor arrival"), count("display departure")), (9, 9), "{frames:?}");

    // Ten integration cycles, each beacon away to two stations.
    let beacons = tshark(&bench, "tte_pcf", &["tte_pcf.type", "tte_pcf.ic"]);
    assert!(beacons.len() >= 20 && beacons.iter().all(|row| row[0] == "2" || row[0] == "0x02"), "{beacons:?}");
}
