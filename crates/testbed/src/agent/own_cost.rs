//! What an agent does for a message beside the system calls of its socket, measured over the loopback interface.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};

use chronoseal_core::statistics::median;
use chronoseal_core::{Duration, Node, NodeId};
use socket2::{Domain, Protocol, Socket, Type};

use super::Failure;
use super::member::Member;
use super::port::Port;
use crate::clock::{RunClock, monotonic_ns};
use crate::config::PortLink;
use crate::cost::{overhead_ns, time};
use crate::host_link::{DatagramEnd, HostLink, HostPort};
use crate::message::{MemberSetup, PortSetup};
use crate::socket::{self, Control};

/// The addresses of the loopback interface that sender and receiver have, and those of the bare sockets beside them.
const ADDRESSES: [[u8; 4]; 4] = [[127, 0, 0, 71], [127, 0, 0, 72], [127, 0, 0, 73], [127, 0, 0, 74]];
/// The whole of it takes no longer.
const LONGEST: Duration = Duration::from_s(600);
/// Between two bare messages `[ns]`: of 50 us from one message of the stream to the next there is as much for each.
const WAIT_NS: i64 = 10_000;
/// The first messages warm caches up.
const WARM_UP: usize = 1_000;

/// Medians of one message `[ns]`; the reading of the clock around each is taken off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OwnCost {
    /// All that a sending agent does when a message is due; its system calls alone, one that says that nothing has come, one that hands
    /// over as many bytes; these and what no agent can do without.
    pub sender: [i64; 3],
    /// All that a receiving agent does when one has come; its system calls alone, one with the message, one that says there is no other; these
    /// and what no agent can do without.
    pub receiver: [i64; 3],
}

impl OwnCost {
    /// What is left without the system calls, of sender and receiver.
    pub const fn own(&self) -> [i64; 2] {
        [self.sender[0] - self.sender[1], self.receiver[0] - self.receiver[1]]
    }

    /// What of it no agent can do without, of sender and receiver.
    pub const fn needed(&self) -> [i64; 2] {
        [self.sender[2] - self.sender[1], self.receiver[2] - self.receiver[1]]
    }
}

/// A stream between two agents on this host.
#[derive(Clone, Copy, Debug)]
pub struct OwnStream {
    /// Its number.
    pub number: u16,
    /// Its group, as its nodes know it.
    pub group: [u8; 4],
    /// Its sender, as its nodes know it.
    pub station: [u8; 4],
    /// The UDP port of all sockets.
    pub port: u16,
    /// What it sends at once `[byte]`.
    pub len: usize,
}

/// The cost of so many messages of a stream from one node to another, each in an agent of this thread. No agent can do without two readings of
/// the clock, a record, and what `needed` does with a message; that shows what they take where the kernel has just been.
///
/// # Errors
/// If the host refuses sockets on its loopback interface, or a node breaks down.
pub fn own_cost(
    stream: OwnStream,
    nodes: [Box<dyn Node + Send>; 2],
    messages: usize,
    needed: &mut dyn FnMut(&[u8]),
) -> io::Result<OwnCost> {
    let clock = RunClock { epoch_ns: monotonic_ns(), shares_processor: false };
    let mut agents = Vec::new();
    for (place, node) in nodes.into_iter().enumerate() {
        let mut agent = agent(stream, place, node, clock, messages)?;
        agent.start().map_err(told)?;
        agents.push(agent);
    }
    let [sender, receiver] = &mut agents[..] else { return Err(io::ErrorKind::InvalidInput.into()) };
    let [bare_sender, bare_receiver] = [bare(ADDRESSES[2], stream.port)?, bare(ADDRESSES[3], stream.port)?];
    let to = SocketAddrV4::new(Ipv4Addr::from(ADDRESSES[3]), stream.port);
    let (data, mut buffer) = (vec![7; stream.len], vec![0; socket::MESSAGE_LEN_MAX]);
    let mut control = Control::default();
    let mut records = Vec::with_capacity(2 * (messages + WARM_UP));
    let mut with_needed = |message: &[u8]| {
        let begun_ns = monotonic_ns();
        needed(message);
        records.push((message.len(), begun_ns, monotonic_ns()));
    };
    let mut samples: [Vec<i64>; 6] = std::array::from_fn(|_| Vec::with_capacity(messages + WARM_UP));
    while samples[0].len() < messages + WARM_UP {
        let (sending_ns, sent) = time(|| sender.turn());
        if !sent.map_err(told)? {
            continue;
        }
        let (receiving_ns, received) = time(|| receiver.turn());
        received.map_err(told)?;
        let mut taken = [sending_ns, 0, 0, receiving_ns, 0, 0];
        for (place, is_needed) in [(1, false), (2, true)] {
            // The agent has looked for messages until its own was due, and the kernel has forgotten how to send meanwhile; so it has here.
            let due_ns = monotonic_ns() + WAIT_NS;
            while monotonic_ns() < due_ns {
                socket::receive_datagram(&bare_sender, &mut buffer, &mut control)?;
            }
            let (ns, sent) = time(|| {
                let heard = socket::receive_datagram(&bare_sender, &mut buffer, &mut control)?;
                if is_needed {
                    with_needed(&data);
                }
                Ok::<_, io::Error>((heard, bare_sender.send_to(&data, &to.into())?))
            });
            sent?;
            taken[place] = ns;
            let (ns, heard) = time(|| {
                let first = socket::receive_datagram(&bare_receiver, &mut buffer, &mut control)?;
                if is_needed {
                    with_needed(&buffer[socket::HEADERS_LEN..][..stream.len]);
                }
                Ok::<_, io::Error>((first, socket::receive_datagram(&bare_receiver, &mut buffer, &mut control)?))
            });
            heard?;
            taken[3 + place] = ns;
        }
        samples.iter_mut().zip(taken).for_each(|(samples, ns)| samples.push(ns));
    }
    let overhead_ns = overhead_ns();
    let [s0, s1, s2, r0, r1, r2] = samples.map(|mut samples| {
        samples.drain(..WARM_UP);
        samples.sort_unstable();
        median(&samples).unwrap_or(0) - overhead_ns
    });
    Ok(OwnCost { sender: [s0, s1, s2], receiver: [r0, r1, r2] })
}

fn told(failure: Failure) -> io::Error {
    match failure {
        Failure::Told(_, reason) => io::Error::other(reason),
        Failure::ControllerGone => io::Error::other("nobody is there"),
    }
}

/// The agent of one end.
fn agent(
    stream: OwnStream,
    place: usize,
    node: Box<dyn Node + Send>,
    clock: RunClock,
    messages: usize,
) -> io::Result<Member> {
    let (sends, peers) = (place == 0, vec![ADDRESSES[1 - place]]);
    let OwnStream { number, group, station, port, .. } = stream;
    let end = DatagramEnd { stream: number, sends, group, station, peers, parts: None };
    let link = HostLink { address: ADDRESSES[place], port, datagrams: vec![end], connections: Vec::new() };
    let opened = HostPort::open(&link, Vec::new())?;
    let ports = vec![PortSetup { link: PortLink::Host(link), credentials: None, is_told: false }];
    let node_id = NodeId(place as u16);
    let setup = MemberSetup { node: node_id.0, ports, offset_ps: 0, drift_ppb: 0, step_ps: None, program: None };
    Ok(Member::new(&setup, vec![Port::Host(opened)], node, clock, LONGEST, 2 * (messages + WARM_UP)))
}

/// A socket as those of agents are.
fn bare(address: [u8; 4], port: u16) -> io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_nonblocking(true)?;
    socket.bind(&SocketAddrV4::new(Ipv4Addr::from(address), port).into())?;
    socket::prepare(&socket, 0)?;
    Ok(socket)
}
