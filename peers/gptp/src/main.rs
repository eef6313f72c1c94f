//! A system of IEEE 802.1AS behind standard input and output; `check.py` has the sockets and the kernel's time stamps.
//!
//! ```text
//! chronoseal-gptp-peer PRIORITY1 PORTS DRIFT_PPB SHIFT_NS
//! in    start NOW · rx NOW PORT STAMP HEX · tx NOW PORT KIND NUMBER STAMP · tick NOW
//! out   send PORT KIND NUMBER HEX · sync AT TIME RATE_PPB · role PORT ROLE · refused REASON · wake AT, which ends each answer
//! ```
//! All times are nanoseconds of the host's clock; TIME is the protocol's. The system's own oscillator begins at zero and drifts by
//! `DRIFT_PPB`; as a grandmaster its time is that of the host when it began, shifted by `SHIFT_NS`.

use std::io::{BufRead, Write};

use chronoseal_clocksync::gptp::{Effect, Parameters, PortParameters, Stamp, TimeAwareSystem};
use chronoseal_core::{Duration, LocalTime, Oscillator, Ppm, SimTime};
use chronoseal_wire::gptp::{ClockIdentity, PtpTime};

/// Software time stamps see the host's scheduler as part of the link.
const DELAY_THRESH: Duration = Duration::from_ms(20);

struct Peer {
    system: TimeAwareSystem,
    oscillator: Oscillator,
    /// When it began, by the host's clock `[ns]`.
    start_ns: i64,
}

impl Peer {
    fn new(arguments: &[i64], start_ns: i64) -> Self {
        let [priority1, ports, drift_ppb, shift_ns] = arguments else {
            panic!("expected PRIORITY1 PORTS DRIFT_PPB SHIFT_NS, got {} numbers", arguments.len())
        };
        let identity = ClockIdentity([0x02, 0, 0, 0xff, 0xfe, 0, 0xc5, 1]);
        let parameters = Parameters {
            epoch: PtpTime::from_ps(i128::from(start_ns + shift_ns) * 1_000),
            ..Parameters::new(identity, u8::try_from(*priority1).expect("PRIORITY1 is 0 to 255"))
        };
        let port = PortParameters { mean_link_delay_thresh: DELAY_THRESH, ..PortParameters::default() };
        let ports = vec![port; usize::try_from(*ports).expect("PORTS is positive")];
        let system = TimeAwareSystem::new(&parameters, &ports, LocalTime::ZERO).expect("PORTS is 1 to 64");
        Self { system, oscillator: Oscillator::new(Duration::ZERO, Ppm(*drift_ppb)), start_ns }
    }

    fn local(&self, host_ns: &str) -> LocalTime {
        let host_ns: i64 = host_ns.parse().expect("a time is a number of nanoseconds");
        self.oscillator.local(SimTime::ZERO + Duration::from_ns(host_ns - self.start_ns))
    }

    fn host_ns(&self, local: LocalTime) -> i64 {
        self.start_ns + self.oscillator.sim(local).since_zero().as_ns()
    }

    fn answer(&mut self, out: &mut impl Write) -> std::io::Result<()> {
        while let Some(effect) = self.system.poll() {
            match effect {
                Effect::Send { port, payload, stamp } => {
                    let (kind, number) = match stamp {
                        None => ("-", 0),
                        Some(Stamp::Sync(number)) => ("sync", number),
                        Some(Stamp::Request(number)) => ("request", number),
                        Some(Stamp::Response(number)) => ("response", number),
                    };
                    let hex: String = payload.iter().map(|byte| format!("{byte:02x}")).collect();
                    writeln!(out, "send {port} {kind} {number} {hex}")?;
                }
                Effect::Synchronised { time, at, rate, .. } => {
                    let rate_ppb = rate.gain(Duration::from_s(1)).as_ps() / 1_000;
                    writeln!(out, "sync {} {} {rate_ppb}", self.host_ns(at), time.as_ps() / 1_000)?;
                }
                Effect::Role { port, to, .. } => writeln!(out, "role {port} {to:?}")?,
                Effect::Grandmaster { clock, .. } => writeln!(out, "grandmaster {clock}")?,
            }
        }
        writeln!(out, "wake {}", self.host_ns(self.system.wake_at()))?;
        out.flush()
    }

    fn handle(&mut self, line: &str, out: &mut impl Write) -> std::io::Result<()> {
        let port = |text: &str| text.parse().expect("a port is a number");
        let outcome = match line.split_whitespace().collect::<Vec<_>>()[..] {
            ["tick", now] => {
                self.system.advance(self.local(now));
                Ok(())
            }
            ["rx", now, number, stamp, hex] => {
                let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal digits");
                let payload: Vec<u8> = (0..hex.len()).step_by(2).map(byte).collect();
                self.system.receive(self.local(now), port(number), self.local(stamp), &payload)
            }
            ["tx", now, number, kind, sequence, stamp] => {
                let sequence = sequence.parse().expect("a number of a message");
                let of = match kind {
                    "sync" => Stamp::Sync(sequence),
                    "request" => Stamp::Request(sequence),
                    _ => Stamp::Response(sequence),
                };
                self.system.transmitted(self.local(now), port(number), of, self.local(stamp))
            }
            _ => panic!("expected start, tick, rx or tx, got {line:?}"),
        };
        if let Err(refusal) = outcome {
            writeln!(out, "refused {refusal}")?;
        }
        self.answer(out)
    }
}

fn main() -> std::io::Result<()> {
    let arguments: Vec<i64> =
        std::env::args().skip(1).map(|text| text.parse().expect("every argument is a number")).collect();
    let mut lines = std::io::stdin().lock().lines();
    let mut out = std::io::stdout().lock();
    let first = lines.next().transpose()?.unwrap_or_default();
    let start = first.strip_prefix("start ").and_then(|text| text.parse().ok());
    let mut peer = Peer::new(&arguments, start.expect("the first line is start and a time"));
    peer.answer(&mut out)?;
    for line in lines {
        peer.handle(&line?, &mut out)?;
    }
    Ok(())
}
