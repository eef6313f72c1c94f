//! Programs of others on the nodes of a lossy link: they speak over it as if it were there, and nothing of them is left.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stderr,
    reason = "most of this is a program of somebody else"
)]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use chronoseal_core::{DiscardReason, StreamId};
use chronoseal_results::ProgramMeta;
use chronoseal_results::rows::Outcome;
use chronoseal_runner::Run;
use chronoseal_scenario::NoFiles;

use crate::engines::{self, Engine, load};

/// The first argument with which this executable is such a program.
pub(crate) const PROGRAM: &str = "program";

/// In the command of what a program starts itself, so that it can be found.
const TOKEN: &str = "3141592";

const SCENARIO: &str = r#"
schema_version = 2
name = "programs"
duration = "1500ms"
[segments.air.link]
delay = { constant = "5ms" }
[[nodes]]
name = "client"
program = { run = ["ME", "program", CLIENT], from = "100ms" }
[[nodes]]
name = "server"
program = { run = SERVER }
[[streams]]
name = "probe"
from = "client"
to = ["server"]
period = "20ms"
length = "64B"
"#;

pub(crate) fn run_all() {
    a_program_speaks_over_the_link_and_takes_its_time();
    what_fails_is_told_and_what_it_printed_is_kept();
    messages_that_programs_carry_have_rows_as_all_others();
    what_goes_through_a_node_comes_as_its_program_passes_it_on();
}

/// What this executable does as a program.
pub(crate) fn main(arguments: &[String]) -> ExitCode {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["serve", address] => {
            // It would go on long after the run.
            let _ = Command::new("sleep").arg(TOKEN).spawn();
            let listener = TcpListener::bind((address, 5_000)).unwrap();
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut byte = [0];
                while let Ok(1) = stream.read(&mut byte) {
                    stream.write_all(&byte).unwrap();
                }
            }
            ExitCode::SUCCESS
        }
        ["ask", address] => {
            let mut stream = TcpStream::connect((address, 5_000)).unwrap();
            stream.set_nodelay(true).unwrap();
            let began = Instant::now();
            for number in 0..10 {
                stream.write_all(&[number]).unwrap();
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                assert_eq!(byte, [number]);
            }
            println!("{} us a round", began.elapsed().as_micros() / 10);
            ExitCode::SUCCESS
        }
        ["publish"] => publish(MESSAGES),
        ["stop"] => publish(MESSAGES / 2),
        ["subscribe"] => {
            assert_eq!(the_stream()["sends"], false);
            subscribe()
        }
        // Nobody sends it anything on purpose.
        ["overhear"] => subscribe(),
        ["fail"] => {
            println!("on one output");
            eprintln!("and on the other");
            ExitCode::from(3)
        }
        _ => ExitCode::from(2),
    }
}

fn run(client: &str, server: &str) -> Option<Run> {
    let me = std::env::current_exe().unwrap().display().to_string();
    let text = SCENARIO.replace("CLIENT", client).replace("SERVER", server).replace("ME", &me);
    engines::run(Engine::Live, &load(&text, &NoFiles))
}

fn is_left() -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let mut commands = processes.filter_map(|entry| std::fs::read_to_string(entry.path().join("cmdline")).ok());
    commands.any(|command| command.contains(TOKEN))
}

fn a_program_speaks_over_the_link_and_takes_its_time() {
    let Some(run) = run(r#""ask", "{server}""#, r#"["ME", "program", "serve", "{server}"]"#) else { return };
    let [client, server]: [&ProgramMeta; 2] = run.meta.programs.iter().collect::<Vec<_>>().try_into().unwrap();
    assert!(client.is_well && client.how == "exit status 0", "{client:?}");
    assert!(server.is_well && server.ended_ns.is_none(), "it serves until the end: {server:?}");
    assert!(client.processor_ns.is_some_and(|ns| ns > 0) && client.memory.is_none(), "{client:?}");
    assert!(
        server.processor_ns.is_some_and(|ns| ns > 0) && server.memory.is_some_and(|bytes| bytes > 100_000),
        "{server:?}"
    );
    // Twice 5 ms, and what the host adds.
    let round: u64 = client.printed.split(' ').next().unwrap().parse().unwrap();
    assert!((10_000..100_000).contains(&round), "{client:?}");
    let until = Instant::now() + Duration::from_secs(2);
    while is_left() && Instant::now() < until {}
    assert!(!is_left(), "what a program started is left");
    let probe = &run.summary.streams[0];
    assert!(probe.delivered > 50, "{probe:?}");
}

fn what_fails_is_told_and_what_it_printed_is_kept() {
    let Some(run) = run(r#""fail""#, r#"["/nowhere/such-a-program"]"#) else { return };
    let [client, server]: [&ProgramMeta; 2] = run.meta.programs.iter().collect::<Vec<_>>().try_into().unwrap();
    assert_eq!((client.is_well, client.how.as_str()), (false, "exit status 3"));
    assert!(client.ended_ns.is_some_and(|ns| ns > 100_000_000), "{client:?}");
    assert!(client.printed.contains("on one output") && client.printed.contains("and on the other"), "{client:?}");
    assert!(!server.is_well && server.how.starts_with("it could not be started"), "{server:?}");
}

/// Messages of the program that publishes, every 10 ms.
const MESSAGES: u64 = 100;
/// One that it sends twice, one that it alters on the way, one that it does not send, one that goes to somebody else, and one that it sends
/// again behind others.
const DOUBLED: u64 = 10;
const ALTERED: u64 = 20;
const WITHHELD: u64 = 30;
const MISROUTED: u64 = 40;
const REPLAYED: u64 = 50;

fn now_ns() -> i64 {
    let now = nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC).unwrap();
    now.tv_sec() * 1_000_000_000 + now.tv_nsec()
}

/// Appends a record as it is documented.
fn record(kind: u8, flags: u8, sequence: u64, due_ns: i64) {
    let stream: u16 = 1;
    let mut bytes = vec![kind, flags];
    bytes.extend(stream.to_le_bytes());
    bytes.extend(64u32.to_le_bytes());
    bytes.extend(sequence.to_le_bytes());
    bytes.extend(due_ns.to_le_bytes());
    bytes.extend(now_ns().to_le_bytes());
    let file = std::env::var("CHRONOSEAL_RECORDS").unwrap();
    std::fs::OpenOptions::new().append(true).open(file).unwrap().write_all(&bytes).unwrap();
}

fn the_stream() -> serde_json::Value {
    let streams: serde_json::Value = serde_json::from_str(&std::env::var("CHRONOSEAL_STREAMS").unwrap()).unwrap();
    assert_eq!((&streams[0]["number"], &streams[0]["name"]), (&1.into(), &"sample".into()));
    streams[0].clone()
}

fn publish(messages: u64) -> ExitCode {
    let stream = the_stream();
    assert_eq!(stream["sends"], true);
    let peer = stream["peers"][0].as_str().unwrap().to_owned();
    let epoch_ns: i64 = std::env::var("CHRONOSEAL_EPOCH_NS").unwrap().parse().unwrap();
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    let first_ns = epoch_ns + 200_000_000;
    for sequence in 0..messages {
        let due_ns = first_ns + sequence as i64 * stream["period_ns"].as_i64().unwrap();
        while now_ns() < due_ns {
            std::thread::sleep(Duration::from_micros(200));
        }
        let mut bytes = [sequence.to_le_bytes(), (!sequence).to_le_bytes()].concat();
        if sequence == ALTERED {
            bytes[8] ^= 1;
        }
        record(1, 0, sequence, due_ns);
        let times = if sequence == WITHHELD { 0 } else { 1 + u64::from(sequence == DOUBLED) };
        let place = if sequence == MISROUTED { "10.0.0.3" } else { peer.as_str() };
        for _ in 0..times {
            socket.send_to(&bytes, (place, 6_000)).unwrap();
        }
        if sequence == REPLAYED + 10 {
            let bytes = [REPLAYED.to_le_bytes(), (!REPLAYED).to_le_bytes()].concat();
            socket.send_to(&bytes, (place, 6_000)).unwrap();
        }
    }
    ExitCode::SUCCESS
}

fn subscribe() -> ExitCode {
    let socket = UdpSocket::bind("0.0.0.0:6000").unwrap();
    let mut bytes = [0; 16];
    while let Ok(16) = socket.recv(&mut bytes) {
        let words: [u64; 2] = [0, 8].map(|at| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()));
        record(2, u8::from(words[1] != !words[0]), words[0], 0);
    }
    ExitCode::SUCCESS
}

fn messages_that_programs_carry_have_rows_as_all_others() {
    const CARRIED: &str = "
[[streams]]
name = \"sample\"
from = \"client\"
to = [\"server\"]
period = \"10ms\"
length = \"64B\"
deadline = \"50ms\"
air = { transport = \"program\" }
[[nodes]]
name = \"other\"
program = { run = [\"ME\", \"program\", \"overhear\"] }
[[streams]]
name = \"spare\"
from = \"client\"
to = [\"other\"]
period = \"1s\"
length = \"64B\"
air = { transport = \"program\" }
";
    let me = std::env::current_exe().unwrap().display().to_string();
    let text = |client: &str| {
        let text = SCENARIO.replace("CLIENT", client).replace("SERVER", "[\"ME\", \"program\", \"subscribe\"]");
        // As long as there is something to send: from 200 ms on.
        (text + CARRIED).replace("ME", &me).replace("1500ms", "1200ms")
    };
    // One that stops in the middle, as if all were well, owes the rest.
    let Some(run) = engines::run(Engine::Live, &load(&text("\"stop\""), &NoFiles)) else { return };
    let summary = &run.summary.streams[1];
    assert_eq!((summary.due, summary.sent), (MESSAGES, MESSAGES / 2), "{summary:?}");
    // Some of them could still have come within their deadline.
    assert_eq!(summary.not_sent + summary.in_flight, MESSAGES / 2, "{summary:?}");
    assert!(summary.not_sent > 40, "{summary:?}");
    assert!(!summary.held() && run.meta.programs.iter().all(|program| program.is_well));

    let text = text("\"publish\"");
    let Some(run) = engines::run(Engine::Live, &load(&text, &NoFiles)) else { return };
    let ends = |outcome| {
        let rows = run.rows.frames.iter().filter(|row| row.stream == StreamId(1) && row.outcome == outcome);
        rows.map(|row| row.sequence).collect::<Vec<_>>()
    };
    let late = ends(Outcome::Late).len();
    assert_eq!(ends(Outcome::Delivered).len() + late, MESSAGES as usize - 3, "{:?}", run.meta.programs);
    assert_eq!(ends(Outcome::Missing), [WITHHELD, MISROUTED]);
    assert_eq!(ends(Outcome::Discarded(DiscardReason::Malformed)), [ALTERED]);
    assert_eq!(ends(Outcome::Discarded(DiscardReason::CopyEliminated)), [DOUBLED, REPLAYED]);
    assert_eq!(ends(Outcome::Discarded(DiscardReason::UnknownStream)), [MISROUTED]);
    assert!(run.rows.frames.iter().all(|row| row.attack.is_none()) && run.meta.warnings.is_empty(), "{:?}", run.meta);
    let summary = &run.summary.streams[1];
    assert_eq!((summary.due, summary.unaccounted), (MESSAGES, 0), "{summary:?}");
    // The one that went elsewhere ended there.
    let ends = [("copy-eliminated", 2), ("malformed", 1), ("unknown-stream", 1)];
    assert_eq!(summary.discarded, ends.map(|(reason, count)| (reason.to_owned(), count)).into());
    assert!(summary.missing == 1 && summary.receivers[0].reordered == 0 && !summary.held(), "{summary:?}");
    let delivered = run.rows.frames.iter().filter(|row| row.stream == StreamId(1));
    let least = delivered.filter_map(|row| row.latency()).min().unwrap();
    assert!(least >= chronoseal_core::Duration::from_ms(5), "the link takes 5 ms: {least}");
}

const THROUGH: &str = r#"
schema_version = 2
name = "through"
duration = "4s"
[segments.air.link]
through = "middle"
[[nodes]]
name = "robot"
program = { run = ["python3", "EXAMPLE"], from = "500ms" }
[[nodes]]
name = "station"
program = { run = ["python3", "EXAMPLE"] }
[[nodes]]
name = "middle"
program = { run = MIDDLE }
[[streams]]
name = "probe"
from = "robot"
to = ["station"]
period = "50ms"
length = "64B"
air = { transport = "program" }
"#;

fn what_goes_through_a_node_comes_as_its_program_passes_it_on() {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("skipped: there is no python3");
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let run = |middle: &str| {
        let text = THROUGH
            .replace("MIDDLE", middle)
            .replace("EXAMPLE", &root.join("examples/link/udp.py").display().to_string());
        engines::run(Engine::Live, &load(&text, &NoFiles))
    };
    let Some(kept) = run(r#"["sleep", "20"]"#) else { return };
    assert!(kept.summary.streams[0].sent > 20 && kept.summary.streams[0].delivered == 0, "{:?}", kept.summary.streams);
    let relay = root.join("adapters/middleware/attacks/through.py").display().to_string();
    let Some(held) = run(&format!("[\"python3\", \"{relay}\", \"delay\", \"{{robot}}\"]")) else { return };
    // At first it passes all on at once, then half a second later.
    let latencies: Vec<_> = held.rows.frames.iter().filter_map(|row| Some(row.accepted_at? - row.sent_at?)).collect();
    let half = chronoseal_core::Duration::from_ms(500);
    let is_held = latencies.iter().filter(|latency| **latency >= half).count();
    assert!(is_held > 5 && latencies.len() - is_held > 5, "{latencies:?} {:?}", held.meta.programs);
}
