//! Every frame that was due has one end at each receiver, whatever happens to senders, queues and gateways.

use std::path::Path;

use serde_json::Value;

use super::support::Bench;

/// What a run of a scenario in `tests/accounts` says, and an end of one of its streams at one receiver: how many were due, and some of
/// what became of them.
struct Case {
    file: &'static str,
    word: &'static str,
    end: (&'static str, &'static str, u64, &'static [(&'static str, u64)]),
}

const fn case(
    file: &'static str,
    word: &'static str,
    end: (&'static str, &'static str, u64, &'static [(&'static str, u64)]),
) -> Case {
    Case { file, word, end }
}

const CASES: [Case; 43] = [
    // Senders whose processors never come to a frame.
    case("h1-starved.toml", "failed", ("slow", "r", 101, &[("not_sent", 99)])),
    case("h2-starved-can.toml", "failed", ("slow", "r", 101, &[("late", 65), ("not_sent", 33)])),
    case("h3-starved-gateway.toml", "failed", ("fast", "r", 500, &[("queue-full", 77)])),
    case("a3.json", "failed", ("s3", "can0-n0", 40, &[("not_sent", 39)])),
    // What its sender never comes to and its receiver misses is not sent, and not twice.
    case("starved-supervised.toml", "failed", ("s", "r", 40, &[("in_time", 1), ("not_sent", 38), ("in_flight", 1)])),
    // Without a deadline a sender may come to a frame after the next one is due, if its bound says so.
    case("sent-after-the-next-is-due.toml", "held", ("m2", "n0", 81, &[("in_time", 79), ("in_flight", 2)])),
    // What an attacker kept back and nobody waits for is missing.
    case("kept-back-and-not-missed.toml", "failed", ("y", "c", 200, &[("in_time", 190), ("missing", 10)])),
    // Without a deadline nothing is late, but of what is under way nothing is known.
    case("most-under-way.toml", "not-checked", ("y", "a", 500, &[("in_time", 2), ("in_flight", 498)])),
    // A message of which a host interface loses several frames is lost once.
    case("host-without-room.toml", "failed", ("s", "b", 3, &[("host-buffer-full", 3)])),
    // What is on its way at the end is judged by the deadline of its own receiver.
    case("b1-min.toml", "held", ("s", "r2", 11, &[("in_time", 10), ("in_flight", 1)])),
    case("b1.json", "held", ("s3", "gw1", 40, &[("in_time", 40)])),
    case("c1.json", "held", ("s2", "eth0-n1", 100, &[("in_time", 100)])),
    case("e1.json", "held", ("s5", "gw0", 40, &[("in_time", 40)])),
    case("held-then-failed-short-run.toml", "not-checked", ("image", "b", 1, &[("in_flight", 1)])),
    // A loss ends the copies of the branch where it happened.
    case("f1.toml", "failed", ("s", "g", 100, &[("in_time", 100)])),
    case("d1.json", "failed", ("s0", "eth1-n1", 400, &[("in_time", 399), ("in_flight", 1)])),
    case("account-gateway.toml", "failed", ("s9", "g0", 250, &[("in_time", 250)])),
    // A source that starts anew counts from the beginning again.
    case("a1-min.toml", "held", ("s", "a", 40, &[("in_time", 40)])),
    case("a1.json", "failed", ("s2", "eth0-n1", 80, &[("not_sent", 2)])),
    case("b4.json", "failed", ("s0", "can0-n1", 40, &[("in_time", 37), ("not_sent", 3)])),
    // What is due while its source starts anew is not sent.
    case("reboot-source.toml", "failed", ("to-ethernet", "n", 160, &[("in_time", 120), ("not_sent", 40)])),
    case("reboot-source.toml", "failed", ("to-bus", "m", 40, &[("in_time", 30), ("not_sent", 10)])),
    // What comes to a receiver while it starts anew is lost there.
    case("reboot-receiver.toml", "failed", ("passes", "g", 200, &[("in_time", 190), ("restarted", 10)])),
    case("reboot-receiver.toml", "failed", ("ends", "g", 200, &[("in_time", 190), ("restarted", 10)])),
    // Frames whose numbers had come with others before are no copies of these.
    case("restarted-source-of-copies.toml", "failed", ("m0", "n1", 27, &[("in_time", 17), ("out-of-sequence", 10)])),
    // A gateway waits for the rest of a message.
    case("message-half-at-a-gateway.toml", "failed", ("m2", "n6", 8, &[("late", 3), ("overdue", 1), ("in_flight", 1)])),
    // A message that cannot begin at a gateway ends there, also where the next one comes and its receiver tells of no gap.
    case("message-missed-at-a-gateway.toml", "failed", ("m1", "n1", 79, &[("in_time", 74), ("wrong-sequence", 3)])),
    // What waits for a bus that has no time for it.
    case("recording-that-waits.toml", "failed", ("car", "n3", 624, &[("in_time", 56), ("in_flight", 568)])),
    // A sender whose processor was busy tells of several frames at once; each of them waits, or is lost.
    case("told-at-once.toml", "failed", ("m4", "n5", 80, &[("overdue", 1), ("in_flight", 1)])),
    case("told-at-once-and-restarted.toml", "failed", ("m4", "n1", 51, &[("restarted", 6), ("in_flight", 4)])),
    // What a gateway has made and not let go is lost when it starts anew.
    case("restarted-before-it-left.toml", "failed", ("m3", "n0", 32, &[("in_time", 31), ("restarted", 1)])),
    // What is not sent for want of a key, or of counters, is missed too, and counts once, however late its sender came to it.
    case("outside-the-group.toml", "failed", ("m6", "n5", 20, &[("startup", 20)])),
    case("busy-without-counters.toml", "failed", ("m3", "n4", 80, &[("withheld", 34), ("not_sent", 35)])),
    // What its receiver refused after it was thrown out of the group was not meant for it, even if it was sent before.
    case("thrown-out-under-way.toml", "failed", ("m6", "n1", 145, &[("late", 66), ("tag-mismatch", 34)])),
    case("lost-while-out-of-the-group.toml", "held", ("cmd", "lamp", 52, &[("startup", 4)])),
    // Slots in which nothing was sent are missed by a receiver that counts anew; the number is not that of a frame.
    case(
        "missed-where-nothing-was-sent.toml",
        "failed",
        ("m2", "n8", 97, &[("restarted", 2), ("not-synchronised", 62)]),
    ),
    // An attack that never happened says nothing.
    case("never-attacked.toml", "not-checked", ("brk", "ecu", 100, &[("restarted", 1), ("missing", 89)])),
    // The first frame of a message that comes when none can begin is all there is of it.
    case(
        "first-frame-out-of-its-window.toml",
        "failed",
        ("m1", "n0", 80, &[("wrong-sequence", 15), ("superseded", 39)]),
    ),
    // What an attacker took out of a stream is one of those that were sent at once: the one of which no copy came.
    case("replayed-beside-another.toml", "failed", ("m0", "n0", 25, &[("in_time", 20), ("replaced", 1)])),
    // A frame that is refused unread does not end one that has come before.
    case("refused-unread.toml", "failed", ("m0", "n2", 159, &[("in_time", 2), ("outside-window", 156)])),
    case("overload-unaccounted.toml", "failed", ("s8", "b0n1", 100, &[("overdue", 99), ("in_flight", 1)])),
    case("held-recording.toml", "failed", ("s0", "b", 10, &[("in_time", 10)])),
    case("b2.json", "held", ("s1", "can0-n0", 10, &[("in_time", 10)])),
];

/// How many copies of an account came to an end, by its name.
fn count(account: &Value, name: &str) -> u64 {
    account[name].as_u64().or(account["discarded"][name].as_u64()).unwrap_or(0)
}

#[test]
fn every_frame_that_was_due_has_one_end_at_each_receiver() {
    for Case { file, word, end: (name, receiver, due, ends) } in CASES {
        let bench = Bench::new();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/accounts").join(file);
        bench.write(file, std::fs::read_to_string(source).unwrap());
        let run = bench.say(&["run", file, "--no-store", "--quiet", "--format", "json"]).json();
        assert_eq!(run["word"], word, "{file}: {}", run["verdict"]);
        let accounts = |stream: &Value| stream["receivers"].as_array().unwrap().clone();
        let streams = run["summary"]["streams"].as_array().unwrap();
        for account in streams.iter().flat_map(accounts) {
            const OWN: [&str; 8] =
                ["in_time", "late", "overdue", "missing", "replaced", "startup", "in_flight", "not_sent"];
            let discarded: u64 = account["discarded"].as_object().unwrap().values().filter_map(Value::as_u64).sum();
            let sum = discarded + OWN.iter().map(|name| count(&account, name)).sum::<u64>();
            assert_eq!(count(&account, "due"), sum, "{file}: {account}");
            assert_eq!(count(&account, "unaccounted"), 0, "{file}: {account}");
        }
        let stream = streams.iter().find(|stream| stream["name"] == name).unwrap();
        let account = accounts(stream).into_iter().find(|account| account["receiver"] == receiver).unwrap();
        assert_eq!(count(&account, "due"), due, "{file}: {account}");
        for (end, copies) in ends {
            assert_eq!(count(&account, end), *copies, "{file}: {account}");
        }
    }
}

/// What an attacker repeated waits for a processor that never has time for it: under way when the run ends, and nowhere else.
#[test]
fn what_an_attacker_sent_and_nobody_comes_to_is_under_way() {
    let bench = Bench::new();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/accounts/attack-nobody-comes-to.toml");
    bench.write("a.toml", std::fs::read_to_string(source).unwrap());
    let run = bench.say(&["run", "a.toml", "--no-store", "--quiet", "--format", "json"]).json();
    let attack = &run["summary"]["attacks"][0];
    assert_eq!((count(attack, "attempts"), count(attack, "in_flight")), (2, 2), "{attack}");
    let stopped =
        ["format", "schedule", "tag", "freshness", "capacity"].map(|by| count(attack, &format!("stopped_by_{by}")));
    assert_eq!((stopped, count(attack, "accepted")), ([0; 5], 0), "{attack}");
}

/// Who waits for the frames of a recording behind a gateway is not known, so nothing says whether somebody misses them.
#[test]
fn a_run_whose_gateway_has_no_room_for_a_recording_is_not_checked() {
    let file = "bridged-recording-without-room.toml";
    let text =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/accounts").join(file)).unwrap();
    let word = |text: &str, code| {
        let bench = Bench::new();
        bench.write(file, text);
        let run = bench.say(&["run", file, "--no-store", "--quiet", "--format", "json"]).assert_code(code).json();
        (run["word"].as_str().unwrap().to_owned(), run["verdict"].as_str().unwrap().to_owned())
    };
    let (without, verdict) = word(&text, 3);
    assert_eq!(without, "not-checked", "{verdict}");
    assert!(verdict.contains("were thrown away by gateways that had no room for them"), "{verdict}");
    let (with, verdict) = word(&text.replace("2 frames", "1000 frames"), 0);
    assert_eq!(with, "held", "{verdict}");
}

/// A frame every 10 ms over a gateway that starts anew 95 ms after the start, to a bus on which it takes some time.
const REBOOTS: &str = r#"schema_version = 2
name = "reboots"
duration = "DURATION"
[segments.e.ethernet]
rate = "100Mbit/s"
cluster_cycle = "10ms"
class = { best_effort = {} }
[segments.b.can]
bit_rate = "10kbit/s"
[[nodes]]
name = "a"
on = ["e"]
clock = "ideal"
[[nodes]]
name = "g"
on = ["e", "b"]
clock = "ideal"
gateway = { delay = "20us", reboot = { at = "95ms", takes = "30ms" } }
[[nodes]]
name = "r"
on = ["b"]
clock = "ideal"
[[streams]]
name = "s"
from = "a"
to = ["r"]
period = "10ms"
offset = "1ms"
length = "1B"
deadline = "30ms"
b = { id = "0x100" }
"#;

#[test]
fn what_a_gateway_held_or_missed_when_it_started_anew_has_that_reason_and_nothing_else_has() {
    let account = |duration: &str| {
        let bench = Bench::new();
        bench.write("reboots.toml", REBOOTS.replace("DURATION", duration));
        let run = bench.say(&["run", "reboots.toml", "--no-store", "--quiet", "--format", "json"]).json();
        run["summary"]["streams"][0]["receivers"][0].clone()
    };
    // The one due at 91 ms had left for the bus when the gateway started anew, and is there when the run ends.
    let on_the_bus = account("95.5ms");
    let ends = ["due", "in_time", "in_flight", "restarted"].map(|name| count(&on_the_bus, name));
    assert_eq!(ends, [10, 9, 1, 0], "{on_the_bus}");
    // Those due at 101, 111 and 121 ms come while it is away.
    let away = account("200ms");
    let ends = ["due", "in_time", "in_flight", "restarted"].map(|name| count(&away, name));
    assert_eq!(ends, [20, 17, 0, 3], "{away}");
}
