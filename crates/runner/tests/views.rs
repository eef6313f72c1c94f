//! What a simulation shows of single frames: where their latencies go, and the trace of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use chronoseal_catalog::Prepared;
use chronoseal_core::{Duration, EventKind, SimTime};
use chronoseal_results::rows::Outcome;
use chronoseal_results::trace::{Category, Trace};
use chronoseal_results::{DividedLatency, FrameRow, PartKind};
use chronoseal_runner::{Run, TraceWindow, simulate, simulate_followed, simulate_traced};
use chronoseal_scenario::{FileError, Files, NoFiles, Scenario};

/// The folder of the shipped scenarios.
struct Shipped;

const SCENARIOS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");

impl Files for Shipped {
    fn read(&self, path: &str) -> Result<Vec<u8>, FileError> {
        let unreadable = |reason| FileError::Unreadable { place: path.to_owned(), reason };
        std::fs::read(Path::new(SCENARIOS).join(path)).map_err(unreadable)
    }
}

fn run(text: &str) -> (Scenario, Run) {
    let scenario = Scenario::load("test.toml", text.as_bytes(), &[], &NoFiles);
    let scenario = scenario.unwrap_or_else(|problems| panic!("{}", problems.render()));
    let run = simulate_followed(&Prepared::new(&scenario.plan).expect("its frames fit"), false, &mut |_| true)
        .expect("it can be built");
    (scenario, run)
}

/// Latencies of accepted frames after start-up, by stream and receiver `[ps]`.
fn latencies(run: &Run) -> BTreeMap<(u16, u16), Vec<i64>> {
    let mut found: BTreeMap<_, Vec<i64>> = BTreeMap::new();
    let is_counted = |row: &&FrameRow| {
        let ready_ns = run.summary.streams.get(row.stream.index()).map_or(i64::MAX, |stream| stream.ready_ns);
        let is_accepted = row.attack.is_none() && matches!(row.outcome, Outcome::Delivered | Outcome::Late);
        is_accepted && row.cycle_start.since_zero().as_ns() >= ready_ns
    };
    for row in run.rows.frames.iter().filter(is_counted) {
        found.entry((row.stream.0, row.at.0)).or_default().extend(row.latency().map(Duration::as_ps));
    }
    found.retain(|_, latencies| !latencies.is_empty());
    found
}

/// The parts of every stream add up to what its rows say, to the picosecond, and no frame is left out.
fn adds_up(name: &str, run: &Run) {
    let (meta, expected) = (&run.meta, latencies(run));
    let divided: BTreeMap<(u16, u16), &DividedLatency> =
        run.summary.divided.iter().map(|one| ((one.stream, one.receiver), one)).collect();
    for (key, latencies) in &expected {
        let who = format!("{name}: {} at {}", meta.stream_name(key.0), meta.node_name(key.1));
        let one = divided.get(key).unwrap_or_else(|| panic!("{who}: not divided"));
        assert_eq!(one.frames, latencies.len() as u64, "{who}: every frame");
        assert_eq!(Some(one.worst_ps), latencies.iter().copied().max(), "{who}: the longest");
        assert_eq!(one.sum_ps, latencies.iter().sum::<i64>(), "{who}: all together");
        assert_eq!(one.parts.iter().map(|part| part.worst_ps).sum::<i64>(), one.worst_ps, "{who}: {one:#?}");
        assert_eq!(one.parts.iter().map(|part| part.sum_ps).sum::<i64>(), one.sum_ps, "{who}: {one:#?}");
        assert!(one.parts.iter().all(|part| part.worst_ps >= 0 && part.sum_ps > 0), "{who}: {one:#?}");
        // Whatever else there is, bits take time.
        assert!(one.of_kind(PartKind::Transmission).0 > 0, "{who}: {one:#?}");
    }
    assert_eq!(divided.len(), expected.len(), "{name}: nothing but what was accepted");
}

fn shipped(name: &str) -> String {
    std::fs::read_to_string(Path::new(SCENARIOS).join(name)).expect("it can be read")
}

fn names_in(folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(Path::new(SCENARIOS).join(folder)).expect("scenarios are shipped");
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.expect("it can be read").file_name().into_string();
    let names = entries.map(|entry| name(entry).expect("names are UTF-8"));
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".toml")).collect();
    names.sort();
    names
}

#[test]
fn in_every_shipped_scenario_the_parts_add_up_to_the_latency_of_each_frame() {
    let set = |path: &str, value: String| (path.to_owned(), value);
    let vehicle = "zonal-vehicle.toml";
    // Long enough for what it shows.
    let short = || set("duration", "3s".into());
    let whole = names_in("").into_iter().map(|name| {
        let sets = if name == vehicle { vec![short()] } else { Vec::new() };
        (name, sets)
    });
    // The vehicle with each of its other backbones.
    let others = names_in("backbones").into_iter().map(|name| {
        let table = shipped(&format!("backbones/{name}")) + "\n";
        (vehicle.to_owned(), vec![short(), set("segments.backbone.ethernet", table)])
    });
    let cases: Vec<_> = whole.chain(others).collect();
    assert!(cases.len() >= 13, "{cases:?}");
    let mut kinds = BTreeSet::new();
    for (name, sets) in &cases {
        let scenario = Scenario::load(name, shipped(name).as_bytes(), sets, &Shipped);
        let scenario = scenario.unwrap_or_else(|problems| panic!("{}", problems.render()));
        let run = simulate_followed(&Prepared::new(&scenario.plan).expect("it fits"), false, &mut |_| true)
            .expect("it can be built");
        adds_up(name, &run);
        kinds.extend(run.summary.divided.iter().flat_map(|one| one.parts.iter().map(|part| part.kind)));
    }
    for kind in [PartKind::Cryptography, PartKind::Queueing, PartKind::Gateway, PartKind::EarlierFrames] {
        assert!(kinds.contains(&kind), "no shipped scenario shows {kind:?}: {kinds:?}");
    }
}

/// A long frame and, 200 us later, a short one, which meet in front of the wire to `c`.
fn meeting(of_long: &str, of_short: &str, more: &str) -> String {
    format!(
        r#"
schema_version = 2
name = "meeting"
duration = "20ms"
[segments.network.ethernet]
rate = "100Mbit/s"
cluster_cycle = "10ms"
sync = "ideal"
forwarding_delay = "3us"
propagation_delay = "0ns"
class = {{ best_effort = {{}} }}
{more}
[[platforms]]
name = "ecu"
costs = [{{ operation = "hmac-sha-256", base = "10us" }}]
[[protections]]
name = "tag"
mac = {{ algorithm = "hmac-sha-256", tag = "16B", freshness = {{ truncated = "2B" }} }}
[[nodes]]
name = "a"
clock = "ideal"
[[nodes]]
name = "b"
clock = "ideal"
platform = "ecu"
[[nodes]]
name = "c"
clock = "ideal"
platform = "ecu"
host_interface = {{ base = "20us", per_byte = "100ns", buffer = "80kB" }}
[[streams]]
name = "long"
from = "a"
to = ["c"]
period = "10ms"
length = "1500B"
{of_long}
[[streams]]
name = "short"
from = "b"
to = ["c"]
period = "10ms"
offset = "200us"
length = "46B"
{of_short}
"#
    )
}

/// What the longest frame of the stream `short` met, in order `[ns]`.
fn parts_of_short(text: &str) -> Vec<(PartKind, String, i64)> {
    let (_, run) = run(text);
    adds_up("meeting", &run);
    let one = run.summary.divided.iter().find(|one| one.stream == 1).expect("it was accepted");
    one.parts.iter().map(|part| (part.kind, part.place.clone(), part.worst_ps / 1000)).collect()
}

#[test]
fn each_part_is_what_the_wires_and_the_others_on_them_make_of_it() {
    // On 100 Mbit/s a byte takes 80 ns. The long frame is in the switch after 122.08 us, and has the second wire from 125.08 us to
    // 248.12 us, gap included. The short one comes there at 200 us + 5.76 us + 3 us.
    let place = |name: &str| name.to_owned();
    let way = |waits: PartKind| {
        vec![
            (PartKind::Transmission, place("b \u{2192} switch"), 5_760),
            (PartKind::Switching, place("switch"), 3_000),
            (waits, place("switch \u{2192} c"), 39_360),
            (PartKind::Transmission, place("switch \u{2192} c"), 5_760),
        ]
    };
    let host = |waits_ns: i64, len: i64| (PartKind::HostInterface, place("c"), waits_ns + 20_000 + 100 * len);
    let urgent = "network = { class = { best_effort = { priority = 7 } } }";
    // The host interface has the long frame when its last bit is in, 247.16 us, and copies it for 171.4 us.
    let waits_ns = 247_160 + 171_400 - 253_880;
    let expected = |waits| [way(waits), vec![host(waits_ns, 60)]].concat();
    let first = "offset = \"0us\"";
    assert_eq!(parts_of_short(&meeting(first, urgent, "")), expected(PartKind::Blocking));
    assert_eq!(parts_of_short(&meeting(first, "", "")), expected(PartKind::Queueing));

    // Frames of all classes but the highest may be interrupted: nothing of the wait but the end of a part of the long frame.
    let ports = "[segments.network.ethernet.bridge_ports]\nclasses = [{ class = 0, preemptable = true }]";
    let text = meeting(first, urgent, ports);
    let found = parts_of_short(&text);
    let blocked: i64 = found.iter().filter(|(kind, ..)| *kind == PartKind::Blocking).map(|(.., ns)| ns).sum();
    assert!(blocked > 0 && blocked < 80 * (24 + 64 + 60), "{found:#?}");
}

#[test]
fn computing_a_tag_and_waiting_for_a_gate_are_parts_of_their_own() {
    let found = parts_of_short(&meeting("", "protection = \"tag\"", ""));
    let tags = found.iter().filter(|(kind, ..)| *kind == PartKind::Cryptography);
    let tags: Vec<_> = tags.map(|(_, place, ns)| (place.as_str(), *ns)).collect();
    assert_eq!(tags, [("b", 10_000), ("c", 10_000)], "{found:#?}");

    // The gate of all classes opens 300 us after each millisecond, long after the long frame has gone.
    let ports = "[segments.network.ethernet.bridge_ports]\ngates = { cycle = \"1ms\", entries = [{ open = [7], lasts = \"300us\" }, \
                 { open = [0, 1, 2, 3, 4, 5, 6], lasts = \"700us\" }] }";
    let text = meeting("offset = \"5ms\"", "", ports)
        .replace("class = { best_effort = {} }", "class = { vlan = { pcp = 1 } }");
    let found = parts_of_short(&text);
    let gate: Vec<_> = found.iter().filter(|(kind, ..)| *kind == PartKind::Gate).collect();
    assert_eq!(gate.len(), 1, "{found:#?}");
    // With its tag for a VLAN it is four bytes longer.
    assert_eq!((gate[0].1.as_str(), gate[0].2), ("switch \u{2192} c", 300_000 - 200_000 - 5_760 - 320 - 3_000));
}

/// Two networks between two end systems, one of which breaks: the example of `docs/guide/redundancy.md`.
const COCKPIT: &str = r#"
schema_version = 2
name = "cockpit"
duration = "1s"
[segments.afdx.ethernet]
rate = "100Mbit/s"
cluster_cycle = "128ms"
ct_marker = "03:00:00:00"
forwarding_delay = "16us"
class = { rate_constrained = { skew_max = "2ms" } }
switches = ["a1", "a2", "b1"]
networks = { a = ["a1", "a2"], b = ["b1"] }
links = [
  { between = ["a1", "a2"] }, { between = ["air-data", "a1"] }, { between = ["display", "a2"] },
  { between = ["air-data", "b1"] }, { between = ["display", "b1"] },
]
failures = [{ link = ["a1", "a2"], at = "500ms" }, { link = ["air-data", "b1"], at = "800ms" }]
[[nodes]]
name = "air-data"
[[nodes]]
name = "display"
[[streams]]
name = "altitude"
from = "air-data"
to = ["display"]
period = "8ms"
length = "200B"
"#;

#[test]
fn of_a_frame_that_is_sent_twice_the_copy_that_was_accepted_is_divided() {
    let (_, run) = run(COCKPIT);
    adds_up("cockpit", &run);
    let one = &run.summary.divided[0];
    assert!(one.frames > 60, "{one:?}");
    let places: BTreeSet<&str> = one.parts.iter().map(|part| part.place.as_str()).collect();
    // Network B has one switch less, so its copy is the first as long as it is not broken.
    assert!(places.contains("b1 \u{2192} display") && !places.contains("a2 \u{2192} display"), "{places:?}");
    assert_eq!(run.meta.segments[0].links.len(), 5);
    assert_eq!(run.meta.segments[0].links.iter().filter(|link| link.fails_at_ns.is_some()).count(), 2);
}

/// Two buses and a backbone between them, on which other frames are too.
const VEHICLE: &str = r#"
schema_version = 2
name = "vehicle"
duration = "100ms"
[segments.front.can]
bit_rate = "500kbit/s"
[segments.backbone.ethernet]
rate = "100Mbit/s"
cluster_cycle = "10ms"
switches = ["left", "right"]
links = [
  { between = ["left", "right"] }, { between = ["left", "zone"] }, { between = ["left", "camera"] },
  { between = ["right", "brake"] },
]
class = { best_effort = { priority = 3 } }
[segments.backbone.ethernet.bridge_ports]
gates = { cycle = "5ms", entries = [{ open = [7], lasts = "1ms" }, { open = [0, 1, 2, 3, 4, 5, 6], lasts = "4ms" }] }
[[platforms]]
name = "ecu"
costs = [{ operation = "cmac-aes-128", base = "12us" }]
[[protections]]
name = "sealed"
mac = { algorithm = "cmac-aes-128", tag = "3B", freshness = { truncated = "1B" } }
[[nodes]]
name = "pedal"
on = ["front"]
platform = "ecu"
[[nodes]]
name = "zone"
on = ["front", "backbone"]
platform = "ecu"
gateway = { delay = "20us", queue = "64 frames" }
[[nodes]]
name = "camera"
on = ["backbone"]
[[nodes]]
name = "brake"
on = ["backbone"]
platform = "ecu"
host_interface = { base = "5us", per_byte = "10ns", buffer = "80kB" }
[[streams]]
name = "request"
from = "pedal"
to = ["brake"]
period = "10ms"
length = "2B"
deadline = "10ms"
protection = { end_to_end = "sealed" }
front = { id = "0x120" }
[[streams]]
name = "picture"
from = "camera"
to = ["brake"]
period = "2ms"
length = "1500B"
"#;

fn traced(text: &str, from_ms: i64, until_ms: i64) -> (Run, Trace) {
    let scenario = Scenario::load("test.toml", text.as_bytes(), &[], &NoFiles);
    let scenario = scenario.unwrap_or_else(|problems| panic!("{}", problems.render()));
    let at = |ms| SimTime::ZERO + Duration::from_ms(ms);
    let window = TraceWindow { from: at(from_ms), until: at(until_ms) };
    let prepared = Prepared::new(&scenario.plan).expect("its frames fit");
    simulate_traced(&prepared, false, window, &mut |_| true).expect("it can be drawn")
}

#[test]
fn a_trace_has_a_slice_for_each_row_and_changes_nothing() {
    let (scenario, followed) = run(VEHICLE);
    let plain =
        simulate(&Prepared::new(&scenario.plan).expect("it fits"), false, &mut |_| true).expect("it can be built");
    assert!(plain.summary.divided.is_empty() && plain.summary.links.is_empty(), "nobody followed its frames");
    let (run, trace) = traced(VEHICLE, 0, 100);
    assert_eq!(run.summary, followed.summary);
    // Three stations at two switches, and the link between these.
    assert_eq!(run.summary.links.len(), 4);
    assert!(run.summary.links.iter().any(|link| link.busy_ns.iter().all(|ns| *ns > 0)), "{:?}", run.summary.links);
    adds_up("vehicle", &run);
    assert_eq!(run.meta.fingerprint, plain.meta.fingerprint, "watching changes nothing");
    assert_eq!(run.rows.frames, plain.rows.frames);
    assert_eq!(trace.encode(), traced(VEHICLE, 0, 100).1.encode(), "the same run, the same bytes");

    let count = |category| trace.slices.iter().filter(|slice| slice.category == category).count();
    let worked = run.rows.work.iter().filter(|row| row.duration > Duration::ZERO);
    assert_eq!(
        worked.count(),
        count(Category::Cryptography) + count(Category::Task) + count(Category::Relay),
        "computations"
    );
    assert!(count(Category::Cryptography) > 0 && count(Category::Relay) > 0);
    let delivered = run.rows.events.iter().filter(|row| row.event.kind == EventKind::Delivered).count();
    let accepted = trace.marks.iter().filter(|mark| mark.category == Category::Accepted).count();
    assert_eq!(accepted, delivered);
    assert!(delivered > 50, "{delivered}");
    // Each frame of `picture` crosses three wires, passes two switches and one host interface; each of `request` one bus besides.
    let of =
        |stream: u16| run.rows.frames.iter().filter(|row| row.stream.0 == stream && row.accepted_at.is_some()).count();
    let (requests, pictures) = (of(0), of(1));
    assert_eq!(count(Category::HostInterface), requests + pictures);
    // Both are told of at each wire; what was on its way at the end is not in the rows, and control frames are of no stream.
    let sent = trace.slices.iter().filter(|slice| slice.category == Category::Transmission && slice.frame.is_some());
    let most = 4 * (requests + 1) + 3 * (pictures + 1);
    let least = 4 * requests + 3 * pictures;
    assert!((least..=most).contains(&sent.clone().count()), "{} of {least} to {most}", sent.clone().count());
    assert!(count(Category::Gateway) >= requests);
    assert_eq!(count(Category::Gate), 8 * 5 * 20, "eight gates at each of five ports of switches, twenty cycles");

    // The arrows of a request lead from the bus over the gateway and all wires to the brake, without a gap in its order.
    let way = sent.filter_map(|slice| slice.frame.as_ref()).next().expect("something was sent").ways.clone();
    let mut on_way: Vec<_> =
        trace.slices.iter().filter(|one| one.frame.as_ref().is_some_and(|frame| frame.ways == way)).collect();
    on_way.sort_by_key(|slice| (slice.from, slice.to));
    assert!(on_way.len() >= 4, "{on_way:?}");
    assert!(on_way.windows(2).all(|pair| pair[0].from <= pair[1].from && pair[0].to <= pair[1].to), "{on_way:?}");
}

#[test]
fn what_begins_at_the_last_instant_of_a_run_is_drawn_too() {
    let text = VEHICLE
        .replace("name = \"pedal\"\n", "name = \"pedal\"\nclock = \"ideal\"\n")
        .replace("period = \"10ms\"\nlength = \"2B\"", "period = \"10ms\"\noffset = \"0us\"\nlength = \"2B\"");
    let (run, trace) = traced(&text, 0, 100);
    let end = SimTime::ZERO + Duration::from_ms(100);
    let is_last = |row: &&chronoseal_results::WorkRow| row.time == end && row.duration > Duration::ZERO;
    assert_eq!(run.rows.work.iter().filter(is_last).count(), 1);
    let drawn =
        trace.slices.iter().filter(|slice| slice.from == 100_000_000 && slice.category == Category::Cryptography);
    assert_eq!(drawn.count(), 1);
}

#[test]
fn a_window_shows_what_lies_in_it_and_nothing_else() {
    let (_, whole) = traced(VEHICLE, 0, 100);
    let (_, part) = traced(VEHICLE, 30, 40);
    let in_window = |from: i64, to: i64| to >= 30_000_000 && from < 40_000_000;
    let slices = |trace: &Trace| {
        let is_frame = |category| !matches!(category, Category::Gate | Category::Queue);
        let inside = trace.slices.iter().filter(|slice| is_frame(slice.category) && in_window(slice.from, slice.to));
        inside.map(|slice| (slice.from, slice.to, slice.category)).collect::<Vec<_>>()
    };
    assert_eq!(slices(&part), slices(&whole));
    assert!(slices(&part).len() > 20);
    assert!(part.slices.iter().all(|slice| in_window(slice.from, slice.to)));
    assert!(part.slices.len() < whole.slices.len() / 4);
}

/// Two messages of two packets each leave a station at once, at 10 Mbit/s, over a link with a delay of 5 ms.
#[test]
fn what_a_link_delays_waits_in_no_queue() {
    let stream = |name: &str| {
        format!(
            "[[streams]]\nname = \"{name}\"\nfrom = \"robot\"\nto = [\"station\"]\nperiod = \"20ms\"\noffset = \"1ms\"\nlength = \"2kB\"\n"
        )
    };
    let text = format!(
        "schema_version = 2\nname = \"air\"\nduration = \"50ms\"\n[segments.air.link]\nrate = \"10Mbit/s\"\ndelay = {{ constant = \"5ms\" }}\n\
         [[nodes]]\nname = \"robot\"\n[[nodes]]\nname = \"station\"\n{}{}",
        stream("first"),
        stream("second")
    );
    let (_, run) = run(&text);
    adds_up("air", &run);
    let parts = |stream: u16| {
        let one = run.summary.divided.iter().find(|one| one.stream == stream).expect("it is divided");
        let ns = |kind| one.of_kind(kind).0 / 1_000;
        [PartKind::Queueing, PartKind::EarlierFrames, PartKind::Transmission, PartKind::Delay].map(ns)
    };
    // 1514 + 562 bytes of frames, with 24 bytes each of preamble, checksum and gap.
    let (full, rest) = (1_538 * 800, 586 * 800);
    assert_eq!(parts(0), [0, full, rest, 5_000_000]);
    // The second one waits for both packets of the first, and for its own.
    assert_eq!(parts(1), [0, full + rest + full, rest, 5_000_000]);
}
