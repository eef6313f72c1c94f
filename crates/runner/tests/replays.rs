//! Recorded datagrams over a lossy link: as many messages and bytes in each second as were recorded, and what cannot be replayed.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::collections::BTreeMap;

use chronoseal_catalog::Prepared;
use chronoseal_results::capture::write_capture;
use chronoseal_results::rows::{Direction, Outcome};
use chronoseal_runner::{Run, simulate};
use chronoseal_scenario::load;

use crate::recorded::{One, REPLAY, capture, uneven};

/// What stands before the data of a message in its frame: Ethernet, IPv4, UDP.
const HEADERS: u32 = 14 + 20 + 8;

fn simulated(text: &str, file: Vec<u8>) -> Run {
    let plan = load("replay.toml", text.as_bytes(), &[], &One(file))
        .unwrap_or_else(|problems| panic!("{}", problems.render()));
    simulate(&Prepared::new(&plan).unwrap(), true, &mut |_| true).unwrap()
}

fn refused(text: &str, file: Vec<u8>) -> String {
    let refused = load("replay.toml", text.as_bytes(), &[], &One(file));
    refused.map(|plan| plan.streams.len()).expect_err("it cannot be replayed").render()
}

/// Messages and bytes in each second.
type PerSecond = BTreeMap<i64, (u64, u64)>;

fn count(messages: impl Iterator<Item = (i64, u64)>) -> PerSecond {
    let mut counted = PerSecond::new();
    for (at_ns, len) in messages {
        let entry = counted.entry(at_ns / 1_000_000_000).or_default();
        *entry = (entry.0 + 1, entry.1 + len);
    }
    counted
}

/// The recording as often as it fits into the run, each round behind the usual gap of the one before.
fn expected(datagrams: &[(u64, u8, Vec<u8>)], duration_ns: u64) -> PerSecond {
    let first = datagrams[0].0;
    let last = datagrams.last().unwrap().0 - first;
    let length = last + last / (datagrams.len() as u64 - 1);
    let rounds = (0..).map(|round| round * length).take_while(|from| *from < duration_ns);
    let all = rounds.flat_map(|from| datagrams.iter().map(move |(at, _, data)| (from + at - first, data.len() as u64)));
    count(all.filter(|(at, _)| *at < duration_ns).map(|(at, len)| (at as i64, len)))
}

#[test]
fn messages_and_bytes_per_second_are_those_of_the_recording() {
    let recorded = uneven();
    // Without a delay none is under way when the run ends.
    let run = simulated(&REPLAY.replace("delay = { constant = \"2ms\" }", ""), capture(&recorded));
    let sent =
        run.rows.frames.iter().map(|row| (row.due_at.unwrap().since_zero().as_ns(), u64::from(row.len - HEADERS)));
    let sent = count(sent);
    assert_eq!(sent, expected(&recorded, 3_000_000_000));
    assert!(sent.len() == 3 && sent[&0].0 > 100, "{sent:?}");
    assert!(run.rows.frames.iter().filter(|row| row.outcome == Outcome::Delivered).count() > 400);
    let account = &run.summary.streams[0].receivers[0];
    assert_eq!((account.balance(), account.due, account.unaccounted), (0, run.summary.streams[0].sent, 0));
}

#[test]
fn what_is_sent_are_the_recorded_bytes_behind_what_the_bench_writes() {
    let recorded = uneven();
    let run = simulated(REPLAY, capture(&recorded));
    let arrivals = run.rows.captures.iter().filter(|row| row.direction == Direction::Arrival);
    for (row, (_, _, data)) in arrivals.zip(&recorded) {
        // A short message has no time and no checksum.
        let own = if data.len() < 20 { 8 } else { 20 };
        assert_eq!(row.bytes[HEADERS as usize + own..][..data.len() - own], data[own..]);
    }
}

#[test]
fn a_capture_of_a_run_can_be_replayed() {
    let recorded = uneven();
    let run = simulated(REPLAY, capture(&recorded));
    let mut file = Vec::new();
    write_capture(&mut file, &run.meta, &run.rows.captures).unwrap();
    // It has each packet twice, on its way in and out.
    let again = simulated(&REPLAY.replace("delay = { constant = \"2ms\" }", ""), file);
    let lens = |run: &Run| run.rows.frames.iter().map(|row| row.len).take(300).collect::<Vec<_>>();
    assert_eq!(lens(&run), lens(&again));
    let dues = |run: &Run| run.rows.frames.iter().map(|row| row.due_at.unwrap()).take(300).collect::<Vec<_>>();
    // A capture has whole nanoseconds.
    let apart = dues(&run).into_iter().zip(dues(&again)).map(|(due, again)| (due - again).abs());
    assert!(apart.max() <= Some(chronoseal_core::Duration::from_ns(1)));
}

#[test]
fn one_of_several_flows_is_chosen_by_name() {
    let mut recorded = uneven();
    let others = recorded.iter().step_by(10).map(|(at, _, _)| (at + 1, 3, vec![7; 100])).collect::<Vec<_>>();
    let own = recorded.len();
    recorded.extend(others);
    recorded.sort_by_key(|(at, ..)| *at);
    let file = capture(&recorded);
    let problem = refused(REPLAY, file.clone());
    assert!(
        problem.contains("2 flows") && problem.contains("flow = \"10.0.0.1:49152 to 10.0.0.3:49152\""),
        "{problem}"
    );
    let chosen = |to: u8| {
        let flow = format!("file = \"lidar.pcap\", flow = \"10.0.0.1:49152 to 10.0.0.{to}:49152\"");
        REPLAY.replace("file = \"lidar.pcap\"", &flow).replace("duration = \"3s\"", "duration = \"500ms\"")
    };
    assert_eq!(simulated(&chosen(3), file.clone()).rows.frames.iter().map(|row| row.len).max(), Some(HEADERS + 100));
    assert!(simulated(&chosen(2), file.clone()).summary.streams[0].sent < own as u64);
    assert!(refused(&chosen(4), file).contains("it has no flow `10.0.0.1:49152 to 10.0.0.4:49152`"));
}

/// A bit of a byte of the first packet's header of IPv4 is another one.
fn with(mut file: Vec<u8>, at: usize, flip: u8) -> Vec<u8> {
    file[24 + 16 + 14 + at] ^= flip;
    file
}

#[test]
fn checksums_that_an_interface_fills_in_behind_the_capture_change_nothing() {
    let recorded = uneven();
    let whole = capture(&recorded);
    let mut without = whole.clone();
    let mut at = 24;
    while at < without.len() {
        let len = u32::from_le_bytes(*without[at + 8..].first_chunk().unwrap()) as usize;
        let ip = at + 16 + 14;
        // None in the header of IPv4, and one of UDP that does not fit, as a host leaves it to its interface.
        without[ip + 10..ip + 12].fill(0);
        without[ip + 26..ip + 28].copy_from_slice(&[0x12, 0x34]);
        at += 16 + len;
    }
    assert_ne!(whole, without);
    let [with, without] = [whole, without].map(|file| simulated(REPLAY, file).summary.streams[0].sent);
    assert_eq!((with, with > 400), (without, true));
}

#[test]
fn what_is_no_whole_recording_of_datagrams_is_refused_with_its_place() {
    let file = capture(&uneven());
    let one = |len: usize| capture(&[(0, 2, vec![1; len])]);
    let mut snapped = file.clone();
    // The second packet was longer on the wire.
    let second = 24 + 16 + u32::from_le_bytes(*snapped[32..].first_chunk().unwrap()) as usize;
    snapped[second + 12..second + 16].copy_from_slice(&9_000u32.to_le_bytes());
    let mut fragment = one(100);
    // More fragments, with the checksum that the header has then.
    let ip = 24 + 16 + 14;
    fragment[ip + 6] |= 0x20;
    fragment[ip + 10..ip + 12].fill(0);
    let sum = chronoseal_wire::ipv4::checksum(&[&fragment[ip..ip + 20]]).to_be_bytes();
    fragment[ip + 10..ip + 12].copy_from_slice(&sum);
    // Data of a fragment that others follow are a multiple of eight.
    fragment[ip + 2..ip + 4].copy_from_slice(&(20u16 + 104).to_be_bytes());
    fragment[ip + 10..ip + 12].fill(0);
    let sum = chronoseal_wire::ipv4::checksum(&[&fragment[ip..ip + 20]]).to_be_bytes();
    fragment[ip + 10..ip + 12].copy_from_slice(&sum);
    let cases = [
        (file[..file.len() - 5].to_vec(), "ends in the middle of a packet"),
        (file[..24].to_vec(), "none of its 0 packets is a datagram"),
        (b"time,value\n".to_vec(), "the beginning of a pcap"),
        (one(7), "has 7 bytes"),
        (one(1_473), "has room for 1472"),
        (snapped, "was cut:"),
        (fragment, "is in fragments"),
        (with(one(100), 10, 1), "the header's checksum does not fit"),
        (with(one(100), 0, 3), "IPv4 without options"),
        (with(one(100), 2, 9), "shorter than its header, or than its total length says"),
    ];
    for (file, message) in cases {
        let problem = refused(REPLAY, file);
        assert!(problem.contains(message) && problem.contains("help"), "{message}:\n{problem}");
    }
    let to = |instead: &str| refused(&REPLAY.replace("to = [\"station\"]", instead), file.clone());
    assert!(to("").contains("nobody receives what `lidar` replays"));
    assert!(to("to = [\"robot\"]").contains("cannot go to `robot`"));
}

#[test]
fn a_recording_that_says_nothing_of_how_often_its_datagrams_come_is_refused() {
    let at = |times_ns: &[u64]| capture(&times_ns.iter().map(|at| (*at, 2, vec![1; 100])).collect::<Vec<_>>());
    for (times_ns, message) in [
        (&[5][..], "there is one datagram of"),
        (&[5; 4][..], "the 4 datagrams of"),
        (&[0, 499_999][..], "within less than 1ms"),
    ] {
        let problem = refused(REPLAY, at(times_ns));
        let says = |what| problem.contains(what);
        assert!(says(message) && says("nothing says how often") && says("`period`"), "{times_ns:?}:\n{problem}");
    }
    // Two in each millisecond, and perhaps one as the run ends.
    let sent = simulated(REPLAY, at(&[0, 500_000])).summary.streams[0].sent;
    assert!((6_000..=6_001).contains(&sent), "{sent}");
}

#[test]
fn a_stream_and_a_recording_have_names_of_their_own() {
    let stream =
        "[[streams]]\nname = \"lidar\"\nfrom = \"robot\"\nto = [\"station\"]\nperiod = \"10ms\"\nlength = \"64B\"\n";
    let file = capture(&uneven());
    let problem = refused(&format!("{REPLAY}{stream}"), file.clone());
    assert!(problem.contains("a stream and the replayed traffic are both named `lidar`"), "{problem}");
    let counted = stream.replace("name = \"lidar\"", "name = \"lidar\"\ncount = 2");
    let text = format!("{REPLAY}{counted}").replacen("name = \"lidar\"", "name = \"lidar.1\"", 1);
    assert!(refused(&text, file.clone()).contains("both named `lidar.1`"));
    assert_eq!(simulated(&format!("{REPLAY}{counted}"), file).summary.streams.len(), 3);
}
