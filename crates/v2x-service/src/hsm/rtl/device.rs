//! The accelerator's process, and its answers as errors.

use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::frame::{self, Answer, Kind};
use crate::hsm::{HsmError, KeyHandle, SimulatedCost};

/// A simulated multiplication takes a tenth of a second; this is for a host that is busy with other things.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
const VERSION: u16 = 1;

/// Modelled link between host and accelerator.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RtlLink {
    /// No time at all.
    None,
    /// USB, 12 Mbit/s.
    UsbFull,
    /// USB, 480 Mbit/s.
    #[default]
    UsbHigh,
}

impl RtlLink {
    /// As the simulator takes and people read it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::UsbFull => "usb-full",
            Self::UsbHigh => "usb-high",
        }
    }
}

/// Which simulator, and what it is to simulate.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RtlConfig {
    /// The program `p256_engine`, which `cargo xtask rtl build` makes.
    pub engine: PathBuf,
    /// Link.
    #[serde(default)]
    pub link: RtlLink,
    /// Declared clock `[Hz]`.
    #[serde(default = "default_clock_hz")]
    pub clock_hz: u32,
    /// File that plays the flash memory; without one there are no persistent keys.
    #[serde(default)]
    pub flash: Option<PathBuf>,
    /// First and last slot of predefined keys, made if they are missing; needs flash.
    #[serde(default)]
    pub predefined: Option<(u32, u32)>,
}

const fn default_clock_hz() -> u32 {
    100_000_000
}

/// A running simulator.
pub(super) struct Device {
    process: Process,
    socket: UnixStream,
    sequence: u8,
    pub(super) slots: u8,
    /// Slots below this one are predefined: they can be in flash.
    pub(super) predefined: u8,
    pub(super) has_flash: bool,
    clock_hz: u32,
    cost: SimulatedCost,
}

struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail only if it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Device {
    pub(super) fn start(config: &RtlConfig) -> Result<Self, HsmError> {
        let (mut process, socket) = spawn(config).map_err(|error| HsmError::file(&config.engine, &error))?;
        let info = frame::exchange(&socket, Kind::Info, 0, &[]);
        let info = match info {
            Ok(Answer { status: 0, result, .. }) => result,
            _ => return Err(refusal_to_start(config, &mut process)),
        };
        let &[v1, v0, c3, c2, c1, c0, _link, slots, predefined, flash] = &info[..] else {
            return Err(HsmError::Protocol(format!("an information of {} bytes", info.len())));
        };
        if u16::from_be_bytes([v1, v0]) != VERSION {
            return Err(HsmError::Protocol("a simulator of another version".into()));
        }
        let clock_hz = u32::from_be_bytes([c3, c2, c1, c0]);
        let cost = SimulatedCost { cycles: 0, clock_hz: clock_hz.into(), link_ns: 0 };
        Ok(Self { process, socket, sequence: 0, slots, predefined, has_flash: flash != 0, clock_hz, cost })
    }

    pub(super) fn process_id(&self) -> u32 {
        self.process.0.id()
    }

    /// Begins to count anew.
    pub(super) fn reset_cost(&mut self) {
        self.cost = SimulatedCost { cycles: 0, clock_hz: self.clock_hz.into(), link_ns: 0 };
    }

    /// What was asked since then.
    pub(super) const fn cost(&self) -> SimulatedCost {
        self.cost
    }

    /// One request, whatever its status. An error means that the simulator is gone or broken.
    pub(super) fn ask(&mut self, kind: Kind, payload: &[u8]) -> io::Result<Answer> {
        self.sequence = self.sequence.wrapping_add(1);
        let answer = frame::exchange(&self.socket, kind, self.sequence, payload)?;
        self.cost.cycles += answer.cycles;
        self.cost.link_ns += answer.link_ns;
        Ok(answer)
    }
}

fn spawn(config: &RtlConfig) -> io::Result<(Process, UnixStream)> {
    // One socket for both directions, because a pipe has no limit on the time of a read.
    let (socket, theirs) = UnixStream::pair()?;
    socket.set_read_timeout(Some(ANSWER_TIMEOUT))?;
    socket.set_write_timeout(Some(ANSWER_TIMEOUT))?;
    let (input, output) = (OwnedFd::from(theirs.try_clone()?), OwnedFd::from(theirs));
    let mut command = Command::new(&config.engine);
    command.args(["--link", config.link.name()]).arg("--clock-hz").arg(config.clock_hz.to_string());
    if let Some(flash) = &config.flash {
        command.arg("--flash").arg(flash);
    }
    let child = command.stdin(input).stdout(output).stderr(Stdio::piped()).spawn()?;
    Ok((Process(child), socket))
}

/// Why it ended before it said anything.
fn refusal_to_start(config: &RtlConfig, process: &mut Process) -> HsmError {
    let _ = process.0.kill();
    let mut said = String::new();
    if let Some(stderr) = process.0.stderr.take() {
        // What cannot be read was not said.
        let _ = stderr.take(1000).read_to_string(&mut said);
    }
    let said = said.trim().replace('\n', "; ");
    match (&config.flash, said.split_once("flash corrupt: ")) {
        (Some(flash), Some((_, reason))) => {
            HsmError::StoreCorrupt { path: flash.clone(), reason: reason.trim().to_owned() }
        }
        _ => HsmError::NoDevice(format!("{} ended: {said}", config.engine.display())),
    }
}

/// A status other than 0, as the caller gets it. `key` is the one that was named.
pub(super) fn refused(status: u8, operation: &str, key: Option<KeyHandle>, config: &RtlConfig) -> HsmError {
    match (status, key, &config.flash) {
        (5, ..) => HsmError::InvalidArgument("a scalar that is 0 or not below the order".into()),
        (1 | 2, ..) => HsmError::InvalidArgument("not a point of the curve".into()),
        (6, Some(key), _) => HsmError::NotFound(key),
        (11, _, Some(flash)) => {
            HsmError::Io { path: flash.clone(), reason: "the flash could not be written, nothing changed".into() }
        }
        _ => HsmError::Device { operation: operation.into(), reason: format!("status {status}") },
    }
}
