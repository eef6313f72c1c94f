//! How many messages a second the daemon verifies over its socket, and how long one takes when it is not busy.
//!
//! The client is this process, the daemon another: give each a processor of its own.
//!
//! ```text
//! taskset -c 0 cargo bench -p chronoseal-v2x-service --bench daemon -- 1 target/dist/chronoseal-v2x
//! ```
//!
//! Arguments: the daemon's processor, then the programs to be compared, each served in turn.

#![allow(missing_docs, clippy::print_stdout, reason = "a bench tells, and is nobody's API")]

use std::error::Error;
use std::io::{BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use chronoseal_core::statistics::nearest_rank;
use chronoseal_v2x::crypto::Curve;
use chronoseal_v2x_load::Town;
use chronoseal_v2x_service::hsm::SoftwareHsm;
use chronoseal_v2x_service::hsm::software::PinCost;
use chronoseal_v2x_service::vss::now;

type Outcome<T> = Result<T, Box<dyn Error>>;

const STATIONS: usize = 64;
/// Messages of a round.
const COUNT: usize = 1_024;
/// Requests under way.
const WINDOW: usize = 128;
const ROUNDS: usize = 31;
/// Streams of a second each.
const STREAMS: usize = 5;
const RATES_PER_S: [usize; 2] = [1_000, 4_000];

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let usage = "usage: -- PROCESSOR PROGRAM...; processor of the daemon, then each `chronoseal` to be measured";
    let processor = arguments.next().ok_or(usage)?;
    println!(
        "| daemon | messages/s | slowest, fastest round | of its processor time | offered/s | n | p50 us | p99 us |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for program in arguments {
        for lanes in [None, Some(false)] {
            match measure(&program, &processor, lanes) {
                Ok(row) => println!("| {program}{} {row}", if lanes.is_some() { ", lanes = false" } else { "" }),
                Err(error) => println!("| {program}, lanes = {lanes:?}: {error}"),
            }
        }
    }
    Ok(())
}

fn measure(program: &str, processor: &str, lanes: Option<bool>) -> Outcome<String> {
    let mut town = Town::at(now(), Curve::NistP256, STATIONS, 1)?;
    let folder = std::env::temp_dir().join(format!("chronoseal-bench-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder)?;
    let daemon = Daemon::start(program, processor, &folder, &town, lanes)?;
    let mut client = daemon.connect()?;
    client.verify(&town.cams(STATIONS, true)?)?;
    let mut rates = Vec::new();
    let before_ticks = daemon.ticks()?;
    for _ in 0..ROUNDS {
        town.now = now();
        let messages = town.cams(COUNT, false)?;
        let start = Instant::now();
        client.verify(&messages)?;
        rates.push(COUNT as f64 / start.elapsed().as_secs_f64());
    }
    // A tick is 10 ms: USER_HZ is 100 on every Linux.
    let spent_s = (daemon.ticks()? - before_ticks) as f64 / 100.0;
    rates.sort_by(f64::total_cmp);
    let mut row = format!(
        "| {:.0} | {:.0}, {:.0} | {:.0} ",
        rates[ROUNDS / 2],
        rates[0],
        rates[ROUNDS - 1],
        (ROUNDS * COUNT) as f64 / spent_s,
    );
    for (at, rate_per_s) in RATES_PER_S.into_iter().enumerate() {
        let mut latencies_ns = Vec::new();
        for _ in 0..STREAMS {
            town.now = now();
            let messages = town.cams(rate_per_s, false)?;
            latencies_ns.extend(client.stream(&messages)?);
        }
        latencies_ns.sort_unstable();
        let us = |quantile| nearest_rank(&latencies_ns, quantile).unwrap_or(0) as f64 / 1e3;
        let lead = if at == 0 { "" } else { "\n| | | | " };
        row += &format!("{lead}| {rate_per_s} | {} | {:.0} | {:.0} |", latencies_ns.len(), us(0.5), us(0.99));
    }
    drop(daemon);
    std::fs::remove_dir_all(&folder)?;
    Ok(row)
}

struct Daemon {
    child: Child,
    socket: PathBuf,
}

impl Daemon {
    fn start(program: &str, processor: &str, folder: &Path, town: &Town, lanes: Option<bool>) -> Outcome<Self> {
        std::fs::write(folder.join("root.oer"), town.root.as_bytes())?;
        std::fs::write(folder.join("authority.oer"), town.authority.as_bytes())?;
        std::fs::write(folder.join("pin"), "4711\n")?;
        drop(SoftwareHsm::create_with(folder.join("keys"), "4711", PinCost { memory_kib: 8, passes: 1 })?);
        let verification = lanes.map_or_else(String::new, |lanes| format!("[verification]\nlanes = {lanes}\n"));
        let config = format!(
            "folder = \"car\"\npin_file = \"pin\"\nhsm = {{ kind = \"software\", folder = \"keys\" }}\n\
             [trust]\nroots = [\"root.oer\"]\nauthorities = [\"authority.oer\"]\n{verification}"
        );
        std::fs::write(folder.join("vss.toml"), config)?;
        let socket = folder.join("socket");
        let mut command = Command::new("taskset");
        command.args(["-c", processor, program, "vss", "serve"]).arg(folder.join("vss.toml"));
        let child = command.arg("--socket").arg(&socket).stderr(std::process::Stdio::null()).spawn()?;
        Ok(Self { child, socket })
    }

    fn connect(&self) -> Outcome<Client> {
        for _ in 0..500 {
            if let Ok(stream) = UnixStream::connect(&self.socket) {
                return Ok(Client { answers: BufReader::with_capacity(1 << 16, stream.try_clone()?), stream });
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Err("it does not listen; does it know this configuration?".into())
    }

    /// Processor time so far, of all its threads `[10 ms]`.
    fn ticks(&self) -> Outcome<u64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        let times = stat.rsplit(')').next().ok_or("stat")?.split_whitespace().skip(11).take(2);
        Ok(times.map(str::parse::<u64>).sum::<Result<_, _>>()?)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Client {
    stream: UnixStream,
    answers: BufReader<UnixStream>,
}

/// `verifySignature` as it travels.
fn request(number: usize, message: &[u8]) -> Vec<u8> {
    let mut request = Vec::with_capacity(message.len() + 19);
    request.extend((message.len() as u32 + 15).to_be_bytes());
    request.extend([1, 2]);
    request.extend((number as u32).to_be_bytes());
    request.push(0);
    request.extend([0xFF; 8]);
    request.extend(message);
    request
}

impl Client {
    fn frame(answers: &mut impl Read) -> Outcome<Vec<u8>> {
        let mut len = [0; 4];
        answers.read_exact(&mut len)?;
        let mut frame = vec![0; u32::from_be_bytes(len) as usize];
        answers.read_exact(&mut frame)?;
        Ok(frame)
    }

    /// One answer, which has to be that the message was accepted.
    fn answer(answers: &mut impl Read) -> Outcome<()> {
        let frame = Self::frame(answers)?;
        if frame[0] == 0 && frame[5] == 0 {
            return Ok(());
        }
        Err(format!("not accepted: {}", String::from_utf8_lossy(&frame[5..])).into())
    }

    /// Verifies all, half a window after the other.
    fn verify(&mut self, messages: &[Vec<u8>]) -> Outcome<()> {
        let mut owed = 0;
        for (number, some) in messages.chunks(WINDOW / 2).enumerate() {
            let requests: Vec<u8> = some.iter().flat_map(|message| request(number, message)).collect();
            self.stream.write_all(&requests)?;
            for _ in 0..owed {
                Self::answer(&mut self.answers)?;
            }
            owed = some.len();
        }
        (0..owed).try_for_each(|_| Self::answer(&mut self.answers))
    }

    /// Sends these messages over a second, whether or not answers come; from the instant each was due to its answer `[ns]`.
    fn stream(&mut self, messages: &[Vec<u8>]) -> Outcome<Vec<u64>> {
        let start = Instant::now();
        let due = |number: usize| Duration::from_secs_f64(number as f64 / messages.len() as f64);
        let Self { stream, answers } = self;
        std::thread::scope(|scope| {
            let sender = scope.spawn(move || {
                for (number, message) in messages.iter().enumerate() {
                    let request = request(number, message);
                    // A sleep is late by 50 us or so: the last of it is spent awake.
                    if let Some(left) =
                        (start + due(number)).checked_duration_since(Instant::now() + Duration::from_micros(100))
                    {
                        std::thread::sleep(left);
                    }
                    while start.elapsed() < due(number) {
                        std::hint::spin_loop();
                    }
                    stream.write_all(&request)?;
                }
                std::io::Result::Ok(())
            });
            let mut latencies_ns = Vec::with_capacity(messages.len());
            for number in 0..messages.len() {
                // Of whatever outcome: a daemon that is too slow refuses what grew too old.
                Self::frame(answers)?;
                latencies_ns.push((start.elapsed() - due(number)).as_nanos() as u64);
            }
            sender.join().map_err(|_| "the sender ended")??;
            Ok(latencies_ns)
        })
    }
}
