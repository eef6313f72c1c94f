//! Segments of different kinds in one run: each has its own clocks, figures and interface of the capture.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use chronoseal_catalog::Prepared;
use chronoseal_results::store;
use chronoseal_runner::{Run, simulate};
use chronoseal_scenario::{NoFiles, load};

/// A bus beside a network that nothing connects it to; `CYCLE` is the distance of two sync beacons.
const SCENARIO: &str = r#"
schema_version = 2
name = "side-by-side"
duration = "2s"
[segments.backbone.ethernet]
rate = "100Mbit/s"
cluster_cycle = "CYCLE"
guard_period = "200us"
precision = "10us"
sync = "beacon"
[segments.body.can]
bit_rate = "500kbit/s"
[[nodes]]
name = "camera"
on = ["backbone"]
clock = { fixed = { offset = "1ms", drift = "100ppm" } }
[[nodes]]
name = "computer"
on = ["backbone"]
clock = { fixed = { offset = "0s", drift = "0ppm" } }
[[nodes]]
name = "switch-panel"
on = ["body"]
[[nodes]]
name = "lamp"
on = ["body"]
[[streams]]
name = "picture"
from = "camera"
to = ["computer"]
period = "20ms"
length = "400B"
backbone = { class = { best_effort = { priority = 0 } } }
[[streams]]
name = "light"
from = "switch-panel"
to = ["lamp"]
period = "10ms"
offset = "1ms"
length = "8B"
body = { id = "0x123" }
"#;

const BODY: u16 = 1;

fn run(cycle: &str) -> Run {
    run_text(&SCENARIO.replace("CYCLE", cycle))
}

fn run_text(text: &str) -> Run {
    let plan = load("side-by-side.toml", text.as_bytes(), &[], &NoFiles).unwrap_or_else(|p| panic!("{}", p.render()));
    let prepared = Prepared::new(&plan).unwrap();
    simulate(&prepared, true, &mut |_| true).unwrap()
}

#[test]
fn a_lost_clock_beside_a_healthy_bus_fails_the_run() {
    let in_slots = |cycle: &str| {
        let class = "class = { best_effort = { priority = 0 } }";
        assert!(SCENARIO.contains(class));
        run_text(&SCENARIO.replace(class, "class = \"time-triggered\"").replace("CYCLE", cycle))
    };
    let healthy = in_slots("20ms");
    assert!(healthy.summary.deadlines_held(), "{:?}", healthy.summary.clocks);
    let clocks = |run: &Run| -> Vec<_> {
        run.summary.clocks.iter().map(|clock| (clock.segment.clone(), clock.node.clone(), clock.held())).collect()
    };
    let on_backbone = |node: &str, held| ("backbone".to_owned(), node.to_owned(), held);
    assert_eq!(clocks(&healthy), [on_backbone("camera", true), on_backbone("computer", true)]);

    // 100 ppm are 20 us from one beacon to the next: outside the window of 10 us.
    let lost = in_slots("200ms");
    assert_eq!(clocks(&lost), [on_backbone("camera", false), on_backbone("computer", true)]);
    assert!(lost.summary.clocks[0].lost > 0, "{:?}", lost.summary.clocks);
    let bus = &lost.summary.streams[1];
    assert!(bus.is_judged && bus.held() && bus.startup == 0 && bus.ready_ns == 0, "{bus:?}");
    assert!(!lost.summary.deadlines_held());

    // Where no frame goes by it, nothing fails for it.
    let unused = run("200ms");
    assert!(unused.summary.clocks[0].lost > 0 && unused.summary.clocks[0].is_unused && unused.summary.deadlines_held());
}

#[test]
fn each_segment_counts_for_itself_and_what_it_counted_is_stored() {
    let run = run("10ms");
    let total = |segment: &str, name: &str| run.summary.segment(segment).unwrap().series(name).unwrap().total;
    assert_eq!(total("body", "frames"), 200);
    // A hundred pictures, and a beacon to two stations from 0 s to 2 s each 10 ms.
    assert_eq!((total("backbone", "frames from stations"), total("backbone", "frames to stations")), (100, 502));
    assert_eq!((total("backbone", "frames of no stream"), total("body", "frames of no stream")), (0, 0));
    let busy = run.summary.segment("body").unwrap().load().unwrap();
    assert!(busy.share.unwrap() > 0.015 && busy.share.unwrap() < 0.03, "{busy:?}");

    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("run");
    store::write(&folder, &run.meta, &run.summary, &run.rows).unwrap();
    assert_eq!(store::read_rows(&folder).unwrap().segments, run.rows.segments);
}

#[test]
fn a_capture_has_an_interface_for_each_segment() {
    let run = run("10ms");
    let mut bytes = Vec::new();
    chronoseal_results::capture::write_capture(&mut bytes, &run.meta, &run.rows.captures).unwrap();
    // The project's own reader of CAN recordings takes the bus and leaves the other packets out.
    let recording = chronoseal_recordings::read(&bytes).unwrap();
    assert_eq!(recording.channels, ["body"]);
    assert_eq!(recording.frames.len(), 200);
    let carried: Vec<_> = run.rows.captures.iter().filter(|row| row.segment == BODY).collect();
    for (frame, row) in recording.frames.iter().zip(&carried) {
        assert_eq!(frame.at_ns as i64 + recording.start_ns as i64, row.time.since_zero().as_ns());
        let mut room = [0; chronoseal_wire::can::layout::FD_LEN];
        let len = frame.frame.emit(&mut room);
        assert_eq!(room[..len], row.bytes);
    }
    // The reader of Ethernet captures takes the rest, each frame once although it was seen on its way in and out.
    let text =
        chronoseal_scenario::import::from_capture("run.pcapng", &bytes).unwrap_or_else(|p| panic!("{}", p.render()));
    assert!(text.contains("100 frames, 02:") && text.contains("period = \"20ms\""), "{text}");
}

/// What tshark makes of the same capture. Says so if there is no tshark.
#[test]
fn tshark_reads_each_segment_with_its_own_link_type() {
    let run = run("10ms");
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("run");
    store::write(&folder, &run.meta, &run.summary, &run.rows).unwrap();
    let path = folder.join("capture.pcapng");
    let mut command = std::process::Command::new("tshark");
    command.arg("-r").arg(&path).args(["-T", "fields", "-e", "frame.interface_name", "-e", "frame.encap_type"]);
    let Ok(output) = command.args(["-e", "eth.src", "-e", "can.id", "-e", "frame.comment"]).output() else {
        println!("skipped: tshark is not installed (Debian package tshark)");
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
    let on = |segment: &str| rows.iter().filter(|row| row[0] == segment).collect::<Vec<_>>();
    let (backbone, body) = (on("backbone"), on("body"));
    assert_eq!((body.len(), backbone.len() + body.len()), (200, run.rows.captures.len()));
    assert!(
        body.iter().all(|row| row[2].is_empty() && row[3] == "291" && row[4].starts_with("switch-panel carried")),
        "{body:?}"
    );
    assert!(backbone.iter().all(|row| row[2].starts_with("02:") && row[3].is_empty()), "{backbone:?}");
    let count = |said: &str| backbone.iter().filter(|row| row[4].starts_with(said)).count();
    assert_eq!((count("camera arrival"), count("computer departure")), (100, 300), "{backbone:?}");
}
