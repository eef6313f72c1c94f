//! Added latency of the emulated switch path: the same ping-pong of 64-byte frames between the same two agents, through
//! the emulator and over a direct veth pair, rounds interleaved in one run. Needs root and `ip`.
//!
//! `cargo bench -p chronoseal-testbed --bench relay`
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a bench with a main of its own")]

use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use chronoseal_core::statistics::nearest_rank;
use chronoseal_core::{
    Command, Duration, Event, EventKind, HandleError, Input, LocalTime, Node, NodeId, Output, PortId, Priority,
    SimTime, StreamId, Transmit, TxToken,
};
use chronoseal_media::medium::{Attachment, FrameId, FrameStore, Medium, MediumOutput, MediumTimer};
use chronoseal_testbed::{
    AgentConfig, ExistingInterface, FrameDescription, LiveConfig, Placement, PortLink, Traffic, agent_main, run,
};

const ROUNDS: usize = 8;
const ROUND: Duration = Duration::from_ms(500);
/// The first round trips of a round warm caches up.
const WARM_UP: usize = 200;
const LEN: usize = 64;

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some("agent") {
        return agent_main(|_, node| Ok(Box::new(Player { serves: node.0 == 0, sent_at: None, pending: Vec::new() })));
    }
    // `cargo test --benches` only wants to know that it starts.
    if !std::env::args().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    let _cable = match Cable::plug() {
        Ok(cable) => cable,
        Err(reason) => {
            println!("no direct veth pair to compare with: {reason}");
            return ExitCode::from(2);
        }
    };
    for placement in [Placement::OneProcessor, Placement::Apart] {
        let (mut direct, mut emulated) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            // ABBA, so that a drift of the host falls on both alike.
            for is_direct in if round % 2 == 0 { [true, false] } else { [false, true] } {
                match round_trips(is_direct, placement) {
                    Ok(trips) if is_direct => direct.extend(trips),
                    Ok(trips) => emulated.extend(trips),
                    Err(reason) => {
                        println!("{reason}");
                        return ExitCode::FAILURE;
                    }
                }
            }
        }
        println!("{placement:?}, {ROUNDS} interleaved rounds of {ROUND} each, {LEN}-byte frames, round trip [us]:");
        let direct = line("direct veth", &mut direct);
        let emulated = line("emulator", &mut emulated);
        println!(
            "  added for each way: p50 {:.1}, p99 {:.1}",
            (emulated.0 - direct.0) / 2.0,
            (emulated.1 - direct.1) / 2.0
        );
    }
    ExitCode::SUCCESS
}

/// Prints a row and returns its median and 99th percentile `[us]`.
fn line(name: &str, trips: &mut [Duration]) -> (f64, f64) {
    trips.sort_unstable();
    let at = |quantile: f64| nearest_rank(trips, quantile).unwrap_or_default().as_us_f64();
    let (p50, p99) = (at(0.5), at(0.99));
    println!(
        "  {name:12} n {:7}  p50 {p50:7.1}  p99 {p99:7.1}  p99.9 {:7.1}  max {:8.1}",
        trips.len(),
        at(0.999),
        at(1.0)
    );
    (p50, p99)
}

fn round_trips(is_direct: bool, placement: Placement) -> Result<Vec<Duration>, String> {
    let agent = |node: u16| {
        let interface = ExistingInterface { namespace: namespace(node), interface: "cable".into() };
        let link = if is_direct { PortLink::Existing(interface) } else { PortLink::Tap };
        AgentConfig { ports: vec![link], ..AgentConfig::new(NodeId(node)) }
    };
    let config = LiveConfig { placement, ..LiveConfig::new(vec![agent(0), agent(1)], vec![], ROUND) };
    let outcome = run(&config, &mut Wire, &Unread, &AtomicBool::new(false)).map_err(|error| error.to_string())?;
    let told = outcome.rows.events.iter().filter(|row| row.event.kind == EventKind::Delivered);
    let trips: Vec<Duration> = told.map(|row| Duration::from_ps(row.event.value)).skip(WARM_UP).collect();
    if trips.is_empty() { Err("no frame came back".into()) } else { Ok(trips) }
}

fn namespace(node: u16) -> String {
    format!("cs-relay-{}-{node}", std::process::id())
}

/// Two namespaces with a veth pair between them; gone when dropped.
struct Cable;

impl Cable {
    fn plug() -> Result<Self, String> {
        let cable = Self;
        for node in 0..2 {
            ip(&["netns", "add", &namespace(node)])?;
        }
        let (a, b) = (namespace(0), namespace(1));
        ip(&["link", "add", "cable", "netns", &a, "type", "veth", "peer", "name", "cable", "netns", &b])?;
        for node in 0..2 {
            ip(&["-n", &namespace(node), "link", "set", "cable", "up", "arp", "off", "multicast", "off"])?;
        }
        Ok(cable)
    }
}

impl Drop for Cable {
    fn drop(&mut self) {
        for node in 0..2 {
            let _ = ip(&["netns", "delete", &namespace(node)]);
        }
    }
}

fn ip(arguments: &[&str]) -> Result<(), String> {
    let output = std::process::Command::new("ip").args(arguments).output().map_err(|error| format!("ip: {error}"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(()) } else { Err(format!("ip {}: {}", arguments.join(" "), text.trim())) }
}

/// Returns every frame at once. The one that serves tells each round trip: hand-over to kernel stamp.
struct Player {
    serves: bool,
    sent_at: Option<LocalTime>,
    pending: Vec<Output>,
}

impl Player {
    fn play(&mut self, now: LocalTime) {
        let token = self.serves.then(|| TxToken::new(0));
        let ball = Transmit { port: PortId(0), priority: Priority(0), launch_at: now, len: LEN, token };
        self.pending.push(Output::Transmit(ball));
    }
}

impl Node for Player {
    fn handle_input(&mut self, now: LocalTime, input: Input<'_>) -> Result<(), HandleError> {
        match input {
            Input::Command(Command::Start) if self.serves => self.play(now),
            Input::Transmitted { tx_at, .. } => self.sent_at = Some(tx_at),
            Input::Frame { rx_at, .. } => {
                self.play(now);
                if let Some(sent_at) = self.sent_at.take() {
                    let trip = (rx_at - sent_at).as_ps();
                    let event = Event { value: trip, ..Event::of(EventKind::Delivered, StreamId::NONE, 0) };
                    self.pending.push(Output::Event(event));
                }
            }
            _ => {}
        }
        Ok(())
    }
    fn poll_output(&mut self, _: LocalTime, frame: &mut [u8]) -> Output {
        match self.pending.pop() {
            Some(Output::Transmit(transmit)) => {
                frame[..LEN].fill(0x55);
                frame[..14].copy_from_slice(&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0x88, 0xb5]);
                Output::Transmit(transmit)
            }
            Some(output) => output,
            None => Output::Timeout(None),
        }
    }
}

/// A wire that takes no time, so that all that is left is the emulator's own.
struct Wire;

impl Medium for Wire {
    fn start(&mut self, _: SimTime, _: &mut FrameStore, _: &mut Vec<MediumOutput>) {}
    fn handle_frame(
        &mut self,
        now: SimTime,
        from: Attachment,
        _: Priority,
        frame: FrameId,
        _: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        let to = Attachment { node: NodeId(1 - from.node.0), port: from.port };
        out.push(MediumOutput::Deliver { to, frame, departed_at: now });
    }
    fn handle_timer(&mut self, _: SimTime, _: MediumTimer, _: &mut FrameStore, _: &mut Vec<MediumOutput>) {}
}

struct Unread;

impl Traffic for Unread {
    fn priority(&self, _: Attachment, _: &[u8]) -> Priority {
        Priority(0)
    }
    fn describe(&self, _: Attachment, _: &[u8], _: SimTime) -> FrameDescription {
        FrameDescription::UNKNOWN
    }
}
