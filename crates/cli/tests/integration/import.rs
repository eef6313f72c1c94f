//! `scenario from`: a table of streams or a capture becomes a scenario to begin with.

use crate::integration::support::{Bench, SMALL};

const TABLE: &str = "\
name,from,to,period,frame,class,protection
wheel-speed,wheel,brake;logger,10ms,60B,time-triggered,sha256-16
diagnosis,logger,brake,100ms,500B,best-effort,
";

#[test]
fn a_table_becomes_a_scenario_that_is_accepted_and_runs() {
    let bench = Bench::new();
    bench.write("streams.csv", TABLE);
    let said = bench.say(&["scenario", "from", "streams.csv", "--out", "mine.toml"]);
    said.assert_code(0).assert_says(&["next: chronoseal check mine.toml"]);
    bench.say(&["check", "mine.toml"]).assert_code(0);
    let run = bench.say(&["run", "mine.toml", "--no-store", "--format", "json"]).assert_code(0).json();
    let names: Vec<_> = run["summary"]["streams"].as_array().unwrap().iter().map(|s| s["name"].clone()).collect();
    assert_eq!(names, ["wheel-speed", "diagnosis"]);

    let text = bench.say(&["scenario", "from", "streams.csv"]).assert_code(0).out.clone();
    assert_eq!(text.trim_end(), std::fs::read_to_string(bench.path("mine.toml")).unwrap().trim_end());
    let dashed = bench.say(&["scenario", "from", "streams.csv", "--out", "-"]);
    assert_eq!((&dashed.assert_code(0).out, dashed.err.contains("scenario: -")), (&text, false));
    assert!(!bench.path("-").exists(), "`-` is standard output, no file");
}

#[test]
fn a_capture_of_a_run_becomes_a_scenario_that_is_accepted() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    bench.say(&["run", "small.toml", "--capture", "--out", "run", "--quiet"]).assert_code(0);
    let said = bench.say(&["scenario", "from", "run/capture.pcapng", "--out", "seen.toml"]);
    said.assert_code(0);
    let text = std::fs::read_to_string(bench.path("seen.toml")).unwrap();
    assert!(text.contains("period = \"10ms\"") && text.contains("length = \"66B\""), "{text}");
    // The switch is no station, and each frame counts once although it was seen on its way in and out.
    assert!(text.contains("seen at another interface") && !text.contains("best_effort"), "{text}");
    bench.say(&["check", "seen.toml"]).assert_code(0);
}

#[test]
fn databases_and_routes_become_a_network_that_is_accepted_and_runs() {
    let bench = Bench::new();
    let front =
        "VERSION \"\"\nBU_: Pedal Zone\nBO_ 160 BrakeRequest: 8 Pedal\n SG_ Force : 0|16@1+ (1,0) [0|0] \"N\" Zone\n";
    bench.write("front.dbc", front);
    bench.write("rear.dbc", "VERSION \"\"\nBU_: Zone Brake\nBO_ 5 Wear: 2 Brake\n");
    bench.write("routes.csv", "message,from,to,gateway\nBrakeRequest,front,rear,Zone\n");
    let from = ["scenario", "from", "front.dbc", "rear.dbc"];
    let with_routes = [&from[..], &["--routes", "routes.csv", "--out", "mine.toml"]].concat();
    bench.say(&with_routes).assert_code(0).assert_says(&["next: chronoseal check mine.toml"]);
    bench.say(&["check", "mine.toml"]).assert_code(0);
    bench.say(&["run", "mine.toml", "--no-store", "--set", "duration=1s"]).assert_code(0);
    bench.say(&from).assert_refused(&["2 files", "--routes routes.csv"]);
    bench.write("routes.csv", "message,from,to,gateway\nBrakeRequest,front,raer,Zone\n");
    bench.say(&with_routes).assert_refused(&["import::csv", "routes.csv:2:", "did you mean `rear`?"]);
}

/// An even stream of a hundred frames a second, and beside it 400 frames of all lengths, most of them within some milliseconds.
fn uneven() -> (Vec<u8>, Vec<(u64, u32)>) {
    let ms = 1_000_000;
    let [even, uneven] =
        [[2u8, 1], [1, 2]].map(|[to, from]| [2, 0, 0, 0, 0, to, 2, 0, 0, 0, 0, from, 0x88, 0xb4 + from]);
    let mut odd: Vec<(u64, u32)> =
        (0..397).map(|i| (500 * ms + i * i * 131 % (25 * ms), 60 + (i * 37 % 1_455) as u32)).collect();
    odd.extend([(20 * ms, 1_514), (960 * ms, 60), (981 * ms, 777)]);
    odd.sort_unstable();
    let mut packets: Vec<(u64, u32, &[u8])> = (0..100).map(|i| (i * 10 * ms, 100, &even[..])).collect();
    packets.extend(odd.iter().map(|(at, len)| (*at, *len, &uneven[..])));
    packets.sort_unstable();
    (chronoseal_recordings::write_capture(1, packets), odd)
}

#[test]
fn what_no_burst_describes_is_sent_again_frame_for_frame() {
    let bench = Bench::new();
    let (capture, odd) = uneven();
    bench.write("seen.pcap", capture);
    let said = bench.say(&["scenario", "from", "seen.pcap", "--out", "mine.toml"]);
    said.assert_code(0).assert_says(&["recording: seen-station-2-88b6.pcap"]);
    let text = std::fs::read_to_string(bench.path("mine.toml")).unwrap();
    // Nothing is written beside standard output, and then a warning says what is left out.
    let printed = bench.say(&["scenario", "from", "seen.pcap"]).assert_code(0).out.clone();
    assert!(!printed.contains("[[recordings]]") && printed.contains("# Warning: "), "{printed}");

    let check = bench.say(&["check", "mine.toml", "--format", "json"]);
    let check = check.assert_code(3).json();
    let ends = check["judged"].as_array().unwrap();
    let of = |kind: &str| ends.iter().find(|end| end["kind"] == kind).unwrap_or_else(|| panic!("{check:#}"));
    assert!(of("recording")["word"] == "not-checked" && of("recording")["bound_ns"].is_null(), "{check:#}");
    let bound = of("stream")["bound_ns"].as_f64().unwrap();
    assert_eq!(of("stream")["word"], "held");

    let exact = text.replace("name = \"station-2\"", "name = \"station-2\"\nclock = \"ideal\"");
    bench.write("exact.toml", exact);
    let run = ["run", "exact.toml", "--capture", "--out", "run", "--set", "duration=990ms", "--format", "json"];
    let run = bench.say(&run).assert_code(0).json();
    let streams = run["summary"]["streams"].as_array().unwrap();
    let sent = |name: &str| streams.iter().find(|stream| stream["name"] == name).unwrap();
    assert_eq!((&sent("station-2-88b6")["sent"], &sent("station-2-88b6")["delivered"]), (&400.into(), &400.into()));
    let worst = sent("station-1-88b5")["end_to_end"]["all"]["max_ns"].as_f64().unwrap();
    assert!(worst <= bound, "{worst} ns simulated, bounded by {bound}");
    // From the wire of the sender: as long as they were seen, and not sooner.
    let capture = std::fs::read(bench.path("run/capture.pcapng")).unwrap();
    let mut lens = Vec::new();
    for item in chronoseal_recordings::CaptureReader::new(&capture).unwrap().map(Result::unwrap) {
        let chronoseal_recordings::CaptureItem::Packet(packet) = item else { continue };
        if !packet.is_outbound && packet.data[14..16] == [0, 1] {
            lens.push(packet.original_len);
        }
    }
    assert_eq!(lens, odd.iter().map(|(_, len)| *len).collect::<Vec<_>>());
}

#[test]
fn damaged_tables_and_captures_are_refused() {
    let bench = Bench::new();
    bench.write("streams.csv", TABLE.replace("10ms", "10"));
    bench.say(&["scenario", "from", "streams.csv"]).assert_refused(&[
        "import::csv",
        "streams.csv:2:",
        "no scenario was made",
    ]);
    bench.write("streams.csv", "");
    bench.say(&["scenario", "from", "streams.csv"]).assert_refused(&["import::format", "the file is empty"]);
    bench.write("capture.pcapng", b"\x0a\x0d\x0d\x0a\xff\xff\xff\xff\x00");
    bench.say(&["scenario", "from", "capture.pcapng"]).assert_refused(&["import::capture"]);
    bench.say(&["scenario", "from", "nowhere.csv"]).assert_refused(&["nowhere.csv", "help:"]);
}

#[test]
fn what_is_nothing_that_is_read_is_named_by_every_command() {
    let bench = Bench::new();
    bench.write("system.xml", "<?xml version=\"1.0\"?>\n<FIBEX xmlns=\"http://www.asam.net/xml/fbx\"/>\n");
    bench.write("town.xml", "<fcd-export>\n</fcd-export>\n");
    bench.write("gates.yaml", "- ? \"/ietf-interfaces:interfaces/interface[name='1']\"\n  : gate-enabled: true\n");
    bench.write("topo.csv", "link,q_num,rate,t_proc,t_prop\n\"(0, 1)\",8,1,2000,0\n");
    let fibex = ["a FIBEX description, which is not read", "canconvert", "read here:"];
    bench.say(&["scenario", "from", "system.xml"]).assert_refused(&fibex);
    bench.say(&["v2x", "fleet", "--fcd", "system.xml"]).assert_refused(&fibex[..2]);
    bench.say(&["v2x", "lint", "system.xml"]).assert_refused(&fibex[..2]);
    bench
        .say(&["schedule", "replay", "--network", "system.xml", "--streams", "x", "--from", "."])
        .assert_refused(&fibex[..2]);
    bench.say(&["scenario", "from", "town.xml"]).assert_refused(&["a trace of SUMO", "v2x fleet --fcd FILE"]);
    bench
        .say(&["schedule", "replay", "--network", "topo.csv", "--streams", "gates.yaml", "--from", "."])
        .assert_refused(&["CORECONF data in YAML", "RFC 7951"]);
    bench.write("cut.gz", [0x1f, 0x8b, 8, 0, 0]);
    bench.say(&["scenario", "from", "cut.gz"]).assert_refused(&["cut off", "gzip -t"]);
}

const SYSTEM: &[u8] = include_bytes!("../../../recordings/tests/fixtures/cantools_system-4.2.arxml");

#[test]
fn an_autosar_system_is_bounded_and_runs_with_its_secured_pdu() {
    let bench = Bench::new();
    bench.write("system.arxml", SYSTEM);
    let made = bench.say(&["scenario", "from", "system.arxml", "--out", "mine.toml"]);
    made.assert_code(0);
    let text = std::fs::read_to_string(bench.path("mine.toml")).unwrap();
    assert!(text.contains("authenticator = \"10bit\""), "as the system has it:\n{text}");
    let check = bench.json(&["check", "mine.toml"]);
    let judged = check["judged"].as_array().unwrap();
    assert!(!judged.is_empty() && judged.iter().all(|end| end["bound_ns"].as_f64().is_some()), "{check}");
    let run = bench.json(&["run", "mine.toml", "--no-store", "--set", "duration=1s"]);
    assert_eq!(run["word"], "held", "{}", run["verdict"]);
    // Without what secures it, the frame of 6 bytes has 4, and a shorter bound.
    let without: Vec<&str> = text.lines().filter(|line| !line.starts_with("protection =")).collect();
    bench.write("without.toml", without.join("\n"));
    let bound = |check: &serde_json::Value| {
        let judged = check["judged"].as_array().unwrap();
        judged.iter().find(|end| end["stream"] == "Message3").unwrap()["bound_ns"].as_f64().unwrap()
    };
    let [with, without] = [bound(&check), bound(&bench.json(&["check", "without.toml"]))];
    assert!(with > without, "{with} with the tag, {without} without");

    for (cut, said) in [
        (&SYSTEM[..SYSTEM.len() - 11], "the file ends within an element"),
        (b"<AUTOSAR xmlns=\"http://autosar.org/3.2.3\"></AUTOSAR>", "no CAN or Ethernet cluster"),
        (b"<AUTOSAR xmlns=\"http://autosar.org/schema/r4.0\"/>", "no CAN or Ethernet cluster"),
    ] {
        bench.write("bad.arxml", cut);
        bench.say(&["scenario", "from", "bad.arxml"]).assert_refused(&[said, "help:", "no scenario was made"]);
    }
}

#[test]
fn what_is_read_is_not_written_over() {
    let bench = Bench::new();
    bench.write("streams.csv", TABLE);
    bench.say(&["scenario", "from", "streams.csv", "--out", "streams.csv"]).assert_refused(&["it would be lost"]);
    bench.write("small.toml", SMALL);
    for words in [
        &["run", "small.toml", "--no-store", "--trace", "./small.toml"][..],
        &["saturate", "small.toml", "--stream", "speed", "--out", "small.toml"],
    ] {
        bench.say(words).assert_refused(&["small.toml is what was read, and it would be lost"]);
    }
    assert_eq!(std::fs::read_to_string(bench.path("streams.csv")).unwrap(), TABLE);
    assert_eq!(std::fs::read_to_string(bench.path("small.toml")).unwrap(), SMALL);
    bench.say(&["run", "small.toml", "--out", "one", "--quiet"]).assert_code(0);
    let repeated = bench.say(&["run", "small.toml", "--out", "one", "--repeat", "2"]);
    repeated.assert_refused(&["one holds one run", "choose another folder"]);
}
