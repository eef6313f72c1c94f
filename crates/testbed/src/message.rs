//! What controller and agent say to each other over their Unix socket: a length, then JSON.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;

use chronoseal_core::{Duration, Ppm};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::config::{PortLink, Program};
use crate::connection::channel::Credentials;
use crate::log::AgentLog;
use crate::node_clock::{ClockStep, NodeClock};

/// Longest message `[byte]`; a log of an hour fits.
const LEN_MAX: u64 = 4 << 30;

/// To an agent.
#[derive(Serialize, Deserialize, Debug)]
pub(crate) enum ToAgent {
    /// Instead of a set-up: make the credentials of stations at these addresses, and exit.
    Enrol(Vec<[u8; 4]>),
    /// Make namespace, interfaces and node.
    Setup(Setup),
    /// Begin at `epoch_ns` of `CLOCK_MONOTONIC`, stop `duration_ps` later.
    Arm { epoch_ns: i64, duration_ps: i64 },
    /// Give the node its stop command now.
    Stop,
    /// Send the log and exit.
    Finish,
}

/// Everything an agent has to know.
#[derive(Serialize, Deserialize, Debug)]
pub(crate) struct Setup {
    /// Its nodes, at least one.
    pub(crate) members: Vec<MemberSetup>,
    pub(crate) cpu: Option<usize>,
    pub(crate) fifo: Option<i32>,
    /// As [`crate::LiveConfig::stall_threshold`].
    pub(crate) stall_threshold_ps: i64,
    /// Do without `/dev/net/tun` even where it can be opened.
    pub(crate) no_tun: bool,
    /// Only to see what the host grants: no node is built, and the agent ends when it is set up.
    pub(crate) is_trial: bool,
    /// For the node factory; opaque here.
    pub(crate) config: Vec<u8>,
    /// As [`crate::LiveConfig::scenario_hash`].
    pub(crate) scenario_hash: String,
}

/// One node of an agent.
#[derive(Serialize, Deserialize, Debug)]
pub(crate) struct MemberSetup {
    pub(crate) node: u16,
    /// From port 0 on.
    pub(crate) ports: Vec<PortSetup>,
    pub(crate) offset_ps: i64,
    pub(crate) drift_ppb: i64,
    /// Where its clock jumps, and by how much `[ps]`.
    pub(crate) step_ps: Option<(i64, i64)>,
    pub(crate) program: Option<Program>,
}

impl MemberSetup {
    /// Its clock.
    pub(crate) fn clock(&self) -> NodeClock {
        let ps = Duration::from_ps;
        let step = self.step_ps.map(|(after, by)| ClockStep { after: ps(after), by: ps(by) });
        NodeClock::new(ps(self.offset_ps), Ppm(self.drift_ppb), step)
    }
}

/// One port of a node. The other ends of TAP interfaces and socket pairs are for the emulator.
#[derive(Serialize, Deserialize, Debug)]
pub(crate) struct PortSetup {
    pub(crate) link: PortLink,
    /// For its connections, if some of them are secured.
    pub(crate) credentials: Option<Credentials>,
    /// What carries its frames says when they have left.
    pub(crate) is_told: bool,
}

/// From an agent.
#[derive(Serialize, Deserialize, Debug)]
pub(crate) enum FromAgent {
    /// After [`ToAgent::Enrol`], in the order of the addresses.
    Enrolled(Vec<Credentials>),
    /// Set up; the emulator's ends of its wires follow, in the order of its nodes and their ports.
    Ready(AgentFacts),
    /// Could not be set up, or the node's driver broke down.
    Failed { step: Step, reason: String },
    /// After [`ToAgent::Finish`], in the order of its nodes.
    Logs(Vec<AgentLog>),
}

/// What the host granted the process of an agent.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct AgentFacts {
    /// It runs as `SCHED_FIFO`.
    pub fifo: bool,
    /// It lives in a user namespace of its own, because the caller is not root.
    pub user_namespace: bool,
    /// The processor it is kept on, if any.
    pub cpu: Option<usize>,
    /// What carries frames between its interfaces and the emulator.
    pub wires: Wires,
}

/// What lies between the interfaces of an agent and the emulator.
#[derive(Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum Wires {
    /// TAP interfaces.
    #[default]
    Tap,
    /// Pairs of virtual Ethernet interfaces with a packet socket, since `/dev/net/tun` cannot be opened, or shall not be.
    Veth,
}

/// Where an agent failed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub(crate) enum Step {
    /// Making a network namespace (or a user namespace with one).
    Namespace,
    /// Opening `/dev/net/tun` or creating the TAP interface.
    Tap,
    /// Making a pair of interfaces in its place.
    Veth,
    /// Having it hold back who sends over it.
    Shaper,
    /// Bringing the interface up, or the packet socket on it.
    Interface,
    /// Opening the CAN interface of this name.
    CanInterface(String),
    /// Making what secures its connections.
    Transport,
    /// Opening sockets on this address of the host.
    Address([u8; 4]),
    /// Building the node from the scenario.
    Node,
    /// While running.
    Run,
}

pub(crate) fn send(mut socket: &UnixStream, message: &impl Serialize) -> io::Result<()> {
    // It may hold credentials.
    let body = Zeroizing::new(serde_json::to_vec(message)?);
    socket.write_all(&(body.len() as u64).to_le_bytes())?;
    socket.write_all(&body)
}

pub(crate) fn receive<T: DeserializeOwned>(mut socket: &UnixStream) -> io::Result<T> {
    let mut len = [0; 8];
    socket.read_exact(&mut len)?;
    let len = u64::from_le_bytes(len);
    if len > LEN_MAX {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("a message of {len} bytes is too long")));
    }
    let mut body = Zeroizing::new(Vec::new());
    socket.take(len).read_to_end(&mut body)?;
    if body.len() as u64 != len {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(serde_json::from_slice(&body)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_arrives_whole() {
        let (a, b) = UnixStream::pair().unwrap();
        send(&a, &ToAgent::Arm { epoch_ns: 5, duration_ps: -1 }).unwrap();
        assert!(matches!(receive(&b).unwrap(), ToAgent::Arm { epoch_ns: 5, duration_ps: -1 }));
    }

    #[test]
    fn refuses_a_torn_an_absurd_and_a_strange_message() {
        let (a, b) = UnixStream::pair().unwrap();
        (&a).write_all(&9u64.to_le_bytes()).unwrap();
        (&a).write_all(b"{").unwrap();
        drop(a);
        assert_eq!(receive::<ToAgent>(&b).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        let (a, b) = UnixStream::pair().unwrap();
        (&a).write_all(&u64::MAX.to_le_bytes()).unwrap();
        assert_eq!(receive::<ToAgent>(&b).unwrap_err().kind(), io::ErrorKind::InvalidData);
        send(&a, &"nonsense").unwrap();
        assert!(receive::<ToAgent>(&b).is_err());
    }
}
