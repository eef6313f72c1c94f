//! Messages over a lossy link, through the sockets of the kernel: what was lost in the simulator is lost live, and nothing else.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use chronoseal_catalog::Prepared;
use chronoseal_core::{DiscardReason, Duration, EventKind, NodeId, StreamId};
use chronoseal_results::rows::{EventRow, FrameRow, Outcome, RunRows};
use chronoseal_runner::{LiveOptions, measure};
use chronoseal_scenario::NoFiles;
use chronoseal_testbed::ClockStep;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::engines::{self, Engine, load};

/// Small messages one way, and long ones, in seven packets each, the other.
const SCENARIO: &str = r#"
schema_version = 2
name = "wifi"
seed = 5
duration = "1s"
[segments.air.link]
LAWS
[[nodes]]
name = "robot"
clock = "ideal"
[[nodes]]
name = "station"
clock = "ideal"
[[streams]]
name = "laser"
from = "robot"
to = ["station"]
period = "20ms"
offset = "1ms"
length = "9kB"
[[streams]]
name = "command"
from = "station"
to = ["robot"]
period = "5ms"
offset = "1ms"
length = "64B"
"#;

pub(crate) fn run_all() {
    losses_are_those_of_the_simulator();
    what_is_due_at_the_very_end_is_sent_by_both();
    a_message_that_comes_twice_is_delivered_once();
    what_a_link_alters_is_found_by_the_checksum_of_each_message();
    a_message_in_many_datagrams_is_lost_where_the_simulator_loses_it();
    a_kernel_waits_for_what_is_late_beside_what_is_lost();
    shipped_scenarios_that_say_so_lose_the_same_messages_live_and_delay_them_as_long();
    where_a_rate_is_kept_decides_between_loss_and_lateness();
    nothing_is_lost_on_a_connection_over_a_link_that_loses();
    a_station_that_was_stopped_is_seen_to_have_been();
    what_a_killed_sender_sent_is_timed_by_what_its_messages_say();
    a_program_without_tls_refuses_a_stream_over_it();
    a_clock_that_jumps_changes_when_messages_are_sent_and_no_latency();
}

fn rows(engine: Engine, laws: &str) -> Option<RunRows> {
    Some(engines::run(engine, &load(&SCENARIO.replace("LAWS", laws), &NoFiles))?.rows)
}

/// What became of each message that was sent long before the end, by stream and number.
fn ends(rows: &RunRows) -> BTreeMap<(StreamId, u64), Outcome> {
    // By number: on a busy host a message may leave late.
    let is_early = |row: &&FrameRow| row.sequence < if row.stream == StreamId(1) { 140 } else { 35 };
    let is_end = |row: &&FrameRow| row.outcome != Outcome::Discarded(DiscardReason::CopyEliminated);
    rows.frames.iter().filter(is_early).filter(is_end).map(|row| ((row.stream, row.sequence), row.outcome)).collect()
}

fn losses_are_those_of_the_simulator() {
    let laws = "profile = \"wifi\"\nloss = { gilbert_elliott = { to_bad = \"2%\", to_good = \"30%\" } }";
    let simulated = rows(Engine::Sim, laws).expect("simulated");
    let Some(live) = rows(Engine::Live, laws) else { return };
    let (simulated, live) = (ends(&simulated), ends(&live));
    let lost = simulated.values().filter(|outcome| **outcome == Outcome::Discarded(DiscardReason::LostOnLink)).count();
    assert!(lost >= 5, "{lost}");
    assert_eq!(simulated, live);
}

fn what_is_due_at_the_very_end_is_sent_by_both() {
    let text = SCENARIO.replace("LAWS", "profile = \"localhost\"").replace("offset = \"1ms\"", "offset = \"0ms\"");
    for engine in [Engine::Sim, Engine::Live] {
        let Some(run) = engines::run(engine, &load(&text, &NoFiles)) else { return };
        let sent = |stream| {
            let of_stream = |row: &&EventRow| row.event.kind == EventKind::Sent && row.event.stream == StreamId(stream);
            run.rows.events.iter().filter(of_stream).count()
        };
        // Each 20 and 5 ms of a second, its end among them.
        assert_eq!([sent(0), sent(1)], [51, 201], "{engine:?}");
    }
}

fn a_message_that_comes_twice_is_delivered_once() {
    let laws = "duplicate = \"20%\"\ndelay = { constant = \"2ms\" }";
    let copies = |rows: &RunRows| {
        let is_copy = |row: &&FrameRow| row.outcome == Outcome::Discarded(DiscardReason::CopyEliminated);
        rows.frames.iter().filter(is_copy).filter(|row| row.stream == StreamId(1)).count()
    };
    let simulated = rows(Engine::Sim, laws).expect("simulated");
    let Some(live) = rows(Engine::Live, laws) else { return };
    assert!(copies(&simulated) > 20, "{}", copies(&simulated));
    assert_eq!(copies(&simulated), copies(&live));
    assert_eq!(ends(&simulated), ends(&live));
}

/// In packets, fragments and datagrams of a longer message.
fn what_a_link_alters_is_found_by_the_checksum_of_each_message() {
    const IMAGE: &str = "
[[streams]]
name = \"image\"
from = \"robot\"
to = [\"station\"]
period = \"20ms\"
offset = \"3ms\"
length = \"70kB\"
payload = \"random\"
";
    let text = SCENARIO.replace("LAWS", "corrupt = \"4%\"\ndelay = { constant = \"1ms\" }") + IMAGE;
    let rows = |engine| Some(engines::run(engine, &load(&text, &NoFiles))?.rows);
    let simulated = rows(Engine::Sim).expect("simulated");
    let Some(live) = rows(Engine::Live) else { return };
    let (simulated, live) = (ends(&simulated), ends(&live));
    assert_eq!(simulated, live);
    let altered = |stream: u16| {
        let of = simulated.iter().filter(move |((its, _), _)| *its == StreamId(stream));
        of.filter(|(_, outcome)| **outcome == Outcome::Discarded(DiscardReason::ChecksumMismatch)).count()
    };
    // 4 % of packets: of 35 messages in seven packets and in 48 of them a quarter and 86 % are altered, of 140 in one each 6.
    assert!(altered(0) >= 2 && altered(1) >= 1 && altered(2) >= 20, "{:?}", [0, 1, 2].map(altered));
}

/// Images of 200 kB in 137 datagrams each, sealed, over a link that loses, doubles and reorders packets.
fn a_message_in_many_datagrams_is_lost_where_the_simulator_loses_it() {
    const IMAGE: &str = "
[[protections]]
name = \"gmac\"
mac = { algorithm = \"gmac-aes-128\", tag = \"16B\", freshness = \"full\" }
[[streams]]
name = \"image\"
from = \"robot\"
to = [\"station\"]
period = \"20ms\"
offset = \"3ms\"
length = \"200kB\"
protection = \"gmac\"
air = { reassembly_timeout = \"60ms\" }
";
    const LAWS: &str =
        "loss = { independent = \"0.3%\" }\nduplicate = \"1%\"\ndelay = { uniform = { min = \"1ms\", max = \"3ms\" } }";
    let text = SCENARIO.replace("LAWS", LAWS) + IMAGE;
    let rows = |engine| Some(engines::run(engine, &load(&text, &NoFiles))?.rows);
    let simulated = rows(Engine::Sim).expect("simulated");
    let Some(live) = rows(Engine::Live) else { return };
    let (simulated, live) = (ends(&simulated), ends(&live));
    assert_eq!(simulated, live);
    let images = simulated.iter().filter(|((stream, _), _)| *stream == StreamId(2));
    let count = |wanted: Outcome| images.clone().filter(|(_, outcome)| **outcome == wanted).count();
    // Of 35 images 0.997^137 = 66 % come whole in the long run; of the others each is counted once.
    assert_eq!((count(Outcome::Delivered), count(Outcome::Discarded(DiscardReason::LostOnLink))), (23, 12));
}

/// Messages of 41 packets every 5 ms, of which a third are lost: what waits for lost packets, and what is overtaken by more than 64 others, would
/// make a kernel that nobody has told give up most of the rest.
fn a_kernel_waits_for_what_is_late_beside_what_is_lost() {
    let text = SCENARIO
        .replace(
            "LAWS",
            "delay = { normal = { mean = \"13ms\", deviation = \"22ms\" } }\nloss = { independent = \"1%\" }",
        )
        .replacen("period = \"20ms\"", "period = \"5ms\"", 1)
        .replace("9kB", "60kB");
    let rows = |engine| Some(engines::run(engine, &load(&text, &NoFiles))?.rows);
    let simulated = rows(Engine::Sim).expect("simulated");
    let Some(live) = rows(Engine::Live) else { return };
    let early = |rows: &RunRows| ends(rows).into_iter().filter(|((stream, _), _)| *stream == StreamId(0)).collect();
    let (simulated, live): (BTreeMap<_, _>, BTreeMap<_, _>) = (early(&simulated), early(&live));
    assert_eq!(simulated, live);
}

/// 37.7 Mbit/s of whole and of cut messages into 20: behind the sender's device half of them are lost, and on it they are late, in the simulator
/// and in the kernel. There the sender itself is held back: it hands its last messages over long after they were due.
fn where_a_rate_is_kept_decides_between_loss_and_lateness() {
    const LAWS: &str = "rate = \"20Mbit/s\"\ndelay = { constant = \"1ms\" }\n";
    for (length, period, timeout) in [("9kB", "2ms", ""), ("90kB", "20ms", "air = { reassembly_timeout = \"2s\" }")] {
        let text = SCENARIO.replacen("period = \"20ms\"", &format!("period = \"{period}\""), 1);
        let text = text.replacen("length = \"9kB\"", &format!("length = \"{length}\"\n{timeout}"), 1);
        let rows = |engine, keys: &str| {
            let laws = format!("{LAWS}{keys}");
            Some(engines::run(engine, &load(&text.replace("LAWS", &laws), &NoFiles))?.rows)
        };
        for engine in [Engine::Sim, Engine::Live] {
            let (Some(behind), Some(sender)) =
                (rows(engine, "queue = \"70 frames\""), rows(engine, "shaper = \"sender\""))
            else {
                return;
            };
            let of = |rows: &RunRows| -> Vec<FrameRow> {
                let of_laser = rows.frames.iter().filter(|row| row.stream == StreamId(0));
                of_laser.copied().collect()
            };
            let (behind, sender) = (of(&behind), of(&sender));
            let full = |rows: &[FrameRow]| {
                rows.iter().filter(|row| row.outcome == Outcome::Discarded(DiscardReason::QueueFull)).count()
            };
            let what = format!("{engine:?}, {length}");
            assert!(full(&behind) * 4 > behind.len(), "{what}: {} of {}", full(&behind), behind.len());
            assert_eq!(full(&sender), 0, "{what}");
            // All came but those behind the last that did.
            let mut came: Vec<u64> =
                sender.iter().filter(|row| row.outcome == Outcome::Delivered).map(|row| row.sequence).collect();
            came.sort_unstable();
            assert!(came.iter().copied().eq(0..came.len() as u64), "{what}: {came:?}");
            let longest = |rows: &[FrameRow]| {
                rows.iter().filter_map(FrameRow::latency).map(|latency| latency.as_ms_f64()).fold(0.0, f64::max)
            };
            let (soon, late) = (longest(&behind), longest(&sender));
            assert!(soon < 150.0 && late > 300.0, "{what}: {soon} ms behind the device, {late} ms on it");
            if engine == Engine::Live {
                let held = sender.iter().filter_map(|row| Some(row.sent_at? - row.due_at?));
                let held = held.map(|late| late.as_ms_f64()).fold(0.0, f64::max);
                assert!(held > 200.0, "{what}: its sender was {held} ms late at most");
            }
        }
    }
}

/// What a shipped scenario says at its beginning that this test holds it to.
const SAYS: &str = "# Simulated and live, the same messages are lost.";

/// Draws are the same, so each message has a partner. The host adds to what a link delays, and takes nothing off but the microseconds that a
/// message leaves early.
fn shipped_scenarios_that_say_so_lose_the_same_messages_live_and_delay_them_as_long() {
    const ADDED_MAX_MS: f64 = 5.0;
    let folder = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/link"));
    let texts =
        std::fs::read_dir(folder).unwrap().flatten().filter_map(|entry| std::fs::read_to_string(entry.path()).ok());
    let texts: Vec<String> = texts.filter(|text| text.contains(SAYS)).collect();
    assert!(texts.len() >= 2, "{} scenarios say so", texts.len());
    for text in texts {
        let scenario = load(&text, &NoFiles);
        let simulated = engines::run(Engine::Sim, &scenario).expect("simulated").rows;
        let Some(live) = engines::run(Engine::Live, &scenario) else { return };
        let is_end = |row: &&FrameRow| row.outcome != Outcome::Discarded(DiscardReason::CopyEliminated);
        let of = |rows: &RunRows| {
            let rows = rows.frames.iter().filter(is_end);
            rows.map(|row| ((row.stream, row.sequence), *row)).collect::<BTreeMap<_, _>>()
        };
        // What is due in the last 300 ms may be on its way when the run ends.
        let until = chronoseal_core::SimTime::ZERO + scenario.plan.duration - Duration::from_ms(300);
        let (simulated, live) = (of(&simulated), of(&live.rows));
        let mut added_ms = Vec::new();
        for (key, row) in simulated.iter().filter(|(_, row)| row.due_at.is_some_and(|due| due < until)) {
            let other = live.get(key).unwrap_or_else(|| panic!("{}: {key:?} was not sent", scenario.plan.name));
            assert_eq!(row.outcome, other.outcome, "{}: {key:?}", scenario.plan.name);
            let both = row.latency().zip(other.latency());
            added_ms.extend(both.map(|(simulated, live)| (live - simulated).as_ms_f64()));
        }
        added_ms.sort_by(f64::total_cmp);
        let median = added_ms[added_ms.len() / 2];
        assert!((-0.1..ADDED_MAX_MS).contains(&median), "{}: a median of {median} ms is added", scenario.plan.name);
    }
}

/// An image to two receivers, each over a connection, and datagrams of the same sender beside it.
fn nothing_is_lost_on_a_connection_over_a_link_that_loses() {
    const IMAGE: &str = "
[[nodes]]
name = \"logger\"
clock = \"ideal\"
[[streams]]
name = \"image\"
from = \"robot\"
to = [\"station\", \"logger\"]
period = \"100ms\"
length = \"300kB\"
air = { transport = \"tcp\" }
";
    const LAWS: &str =
        "rate = \"1Gbit/s\"\nqueue = \"5000 frames\"\nloss = { independent = \"1%\" }\norder = \"strict\"";
    let laws = format!("{LAWS}\ndelay = {{ uniform = {{ min = \"0us\", max = \"500us\" }} }}");
    let text = SCENARIO.replace("LAWS", &laws) + IMAGE;
    let Some(run) = engines::run(Engine::Live, &load(&text, &NoFiles)) else { return };
    let ends = |stream: u16, early: bool| {
        let is_early = move |row: &&FrameRow| row.sent_at.is_some_and(|at| at.since_zero().as_ms_f64() < 500.0);
        run.rows.frames.iter().filter(move |row| row.stream == StreamId(stream) && (!early || is_early(row)))
    };
    // Packets are lost, messages are not: each of the five that had time to be repeated came to both.
    let lost = ends(0, false).filter(|row| row.outcome == Outcome::Discarded(DiscardReason::LostOnLink)).count();
    assert!(lost > 0, "the link loses packets");
    let came: Vec<u64> =
        ends(2, true).filter(|row| row.outcome == Outcome::Delivered).map(|row| row.sequence).collect();
    assert_eq!(came, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4], "{came:?}");
    // What has not come yet is on its way, and nothing is without an end.
    let open = ends(2, false).filter(|row| row.outcome == Outcome::Unaccounted).count();
    assert_eq!(run.rows.on_way.iter().filter(|row| row.stream == StreamId(2)).count(), open);
    assert!(run.summary.streams.iter().all(|stream| stream.unaccounted == 0), "{:?}", run.summary.streams);
    let latency = ends(2, true).filter_map(FrameRow::latency).min().expect("some came");
    // 300 kB twice at 1 Gbit/s, the second waiting for nobody but its packets.
    assert!(latency > Duration::from_us(2_400), "{latency}");
}

/// The program of these tests has the kernel's transports.
fn a_program_without_tls_refuses_a_stream_over_it() {
    for over in ["tls", "quic"] {
        let text =
            SCENARIO.replace("LAWS", "").replace("\"9kB\"", &format!("\"9kB\"\nair = {{ transport = \"{over}\" }}"));
        let scenario = load(&text, &NoFiles);
        let prepared = Prepared::new(&scenario.plan).unwrap();
        let stop = AtomicBool::new(false);
        let error = measure(&prepared, scenario.texts(), &LiveOptions::default(), &stop).unwrap_err().to_string();
        assert!(error.contains("neither TLS nor QUIC") && error.contains("chronoseal-testbed"), "{error}");
    }
}

/// Stopped for 200 ms, as by a debugger: what waited for it shows that in its latency, since times are fixed in advance, and every such message
/// is marked.
#[expect(clippy::disallowed_methods, reason = "it stops a process for a while of the host's time")]
fn a_station_that_was_stopped_is_seen_to_have_been() {
    let text = SCENARIO.replace("LAWS", "delay = { constant = \"1ms\" }").replace("\"1s\"", "\"3s\"");
    let scenario = load(&text, &NoFiles);
    let stopper = std::thread::spawn(|| {
        // All of them are there by then, and the run goes on for long after.
        let start = std::time::Instant::now();
        let stations = loop {
            let found = children();
            if found.len() >= 2 || start.elapsed().as_secs() > 10 {
                break found;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        };
        std::thread::sleep(std::time::Duration::from_millis(2_200));
        let Some(&station) = stations.first() else { return };
        let _ = kill(station, Signal::SIGSTOP);
        std::thread::sleep(std::time::Duration::from_millis(200));
        let _ = kill(station, Signal::SIGCONT);
    });
    let run = engines::run(Engine::Live, &scenario);
    stopper.join().unwrap();
    let Some(run) = run else { return };
    let longest = run.rows.stalls.iter().map(|stall| stall.duration.as_ms_f64()).fold(0.0, f64::max);
    assert!((150.0..1_000.0).contains(&longest), "longest stall {longest} ms");
    let late: Vec<&FrameRow> =
        run.rows.frames.iter().filter(|row| row.latency().is_some_and(|latency| latency.as_ms_f64() > 50.0)).collect();
    assert!(late.len() >= 20, "{} messages waited", late.len());
    let unmarked = late.iter().filter(|row| !row.stalled).count();
    assert_eq!(unmarked, 0, "of {} late messages, so many are not marked", late.len());
}

/// What it wrote down is lost with it. Its messages say when they were due, and that is exact; when it was told to send is what the emulator saw.
#[expect(clippy::disallowed_methods, reason = "it lets a process run for a while of the host's time")]
fn what_a_killed_sender_sent_is_timed_by_what_its_messages_say() {
    let text = SCENARIO.replace("LAWS", "delay = { constant = \"1ms\" }").replace("\"1s\"", "\"60s\"");
    let scenario = load(&text, &NoFiles);
    let killer = std::thread::spawn(|| {
        let stations = loop {
            let found = children();
            if found.len() >= 2 {
                break found;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        };
        std::thread::sleep(std::time::Duration::from_millis(1_500));
        // The first is the robot's.
        kill(stations[0], Signal::SIGKILL).unwrap();
    });
    let run = engines::run(Engine::Live, &scenario);
    let Some(run) = run else { return };
    killer.join().unwrap();
    assert!(run.meta.lost.as_ref().is_some_and(|lost| lost.contains("robot")), "{:?}", run.meta.lost);
    let came: Vec<&FrameRow> =
        run.rows.frames.iter().filter(|row| row.stream == StreamId(0) && row.accepted_at.is_some()).collect();
    assert!(came.len() > 20, "{} came", came.len());
    // A millisecond after its sender began, and then every 20 ms.
    let due = |row: &FrameRow| row.due_at.expect("it says so") - Duration::from_ms(20) * row.sequence as i64;
    let first = due(came[0]);
    assert!(first.since_zero() >= Duration::from_ms(1), "{first:?}");
    for row in came {
        let off = due(row) - first;
        assert!(off.abs() < Duration::from_ns(2), "{off} of message {}", row.sequence);
        let latency = row.latency().expect("it came");
        assert!(latency > Duration::from_ms(1) && row.sent_at.is_some(), "{row:?}");
    }
}

/// Processes of stations: children of any thread of this one.
fn children() -> Vec<Pid> {
    let threads = std::fs::read_dir("/proc/self/task").unwrap();
    let lists = threads.flatten().filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().map(|pid| Pid::from_raw(pid.parse().unwrap())).collect::<Vec<_>>())
        .collect()
}

/// Robot's clock jumps ahead by 200 ms, the station's back by as much.
fn a_clock_that_jumps_changes_when_messages_are_sent_and_no_latency() {
    let scenario = load(&SCENARIO.replace("LAWS", "delay = { constant = \"1ms\" }"), &NoFiles);
    let step = |node, by_ms| {
        let (after, by) = (Duration::from_ms(500), Duration::from_ms(by_ms));
        (NodeId(node), ClockStep { after, by })
    };
    let steps = vec![step(0, 200), step(1, -200)];
    let Some(run) = engines::run_with(&scenario, |options| options.clock_steps = steps) else { return };
    let told = run.meta.warnings.iter().filter(|warning| warning.contains("jumps by")).count();
    assert_eq!(told, 2, "{:?}", run.meta.warnings);
    let sent = |stream: u16, from_ms: i64, until_ms: i64| {
        let is_sent = |row: &&FrameRow| {
            row.stream == StreamId(stream)
                && row.sent_at.is_some_and(|at| {
                    (from_ms..until_ms).contains(&(at.since_zero().as_ns() / 1_000_000)) && row.attack.is_none()
                })
        };
        run.rows.frames.iter().filter(is_sent).count()
    };
    // Of every 20 ms, ten were due in the time that was jumped over, and leave at once; of every 5 ms none is due while the clock stands still.
    assert!(sent(0, 499, 530) >= 10, "{}", sent(0, 499, 530));
    assert!(sent(1, 520, 695) <= 1 && sent(1, 300, 475) >= 20, "{} {}", sent(1, 520, 695), sent(1, 300, 475));
    for row in run.rows.frames.iter().filter(|row| !row.stalled) {
        let (Some(sent_at), Some(accepted_at)) = (row.sent_at, row.accepted_at) else { continue };
        let latency = accepted_at - sent_at;
        assert!((Duration::from_us(900)..Duration::from_ms(150)).contains(&latency), "{row:?}");
    }
    assert!(run.summary.streams.iter().flat_map(|stream| &stream.receivers).all(|account| account.balance() == 0));
}
