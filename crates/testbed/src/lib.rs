//! Live runs: each end system is a process, or shares one with others ([`Home`]), real frames travel over its ports, and between them one thread drives a
//! [`chronoseal_media::medium::Medium`] by the wall clock. What a port is ([`PortLink`]) is chosen for each port: a TAP
//! interface in a network namespace of the agent's own, with frames or with the kernel's own UDP over it, a socket pair for CAN frames, or something that is there already.
//! So one run may have segments of different kinds, and an agent may be on several. Others may join a CAN bus ([`can`]).
//!
//! This crate knows no protocol and no scenario: a [`NodeFactory`] builds the nodes inside the agents' processes, a
//! [`Traffic`] reads frames. It touches no interface of the host but one it is given by name, needs no root where user
//! namespaces are allowed, and leaves nothing behind: interfaces and namespaces end with the processes that own them.
//!
//! The types that matter: [`LiveConfig`] for [`run`], [`LiveOutcome`] with the same rows a simulation fills, and
//! [`LiveError`], which says what a host refuses and what to do about it.
//!
//! Why it is built this way: TAP is the fastest way through a user-space switch that needs no root. The default places
//! emulator and agents on one processor, since waking another processor's thread costs more than everything else.
//! Threads sleep until 120 us before a deadline and look at the clock for the rest; they never spin longer, because the
//! kernel takes a real-time thread that does off its processor for 50 ms. A sentinel reports what the host took anyway.
//!
//! ```no_run
//! use std::sync::atomic::AtomicBool;
//! use chronoseal_core::{Duration, NodeId};
//! use chronoseal_media::medium::Medium;
//! use chronoseal_testbed::{AgentConfig, LiveConfig, LiveError, Traffic};
//!
//! fn two_stations(medium: &mut (dyn Medium + Send), traffic: &dyn Traffic) -> Result<usize, LiveError> {
//!     let agents = vec![AgentConfig::new(NodeId(0)), AgentConfig::new(NodeId(1))];
//!     let config = LiveConfig::new(agents, b"for the factory".to_vec(), Duration::from_s(1));
//!     let outcome = chronoseal_testbed::run(&config, medium, traffic, &AtomicBool::new(false))?;
//!     Ok(outcome.rows.frames.len())
//! }
//! ```

mod agent;
pub mod can;
mod clock;
pub mod clock_sources;
pub mod config;
mod connection;
pub mod cost;
mod emulator;
mod end;
pub mod error;
pub mod host;
mod host_link;
pub mod interrupt;
mod join;
pub mod live;
mod log;
mod message;
mod node_clock;
mod parts;
mod process;
pub mod program_record;
mod ptp;
mod remote;
mod sentinel;
mod socket;
mod sys;
pub mod traffic;

pub use agent::{
    FactoryError, NodeFactory, OwnCost, OwnStream, agent_main, agent_main_together, has_controller, own_cost,
};
pub use clock::realtime_ahead_ns;
pub use clock_sources::{ClockSource, Reading, Skew, clock_skew, clock_sources};
pub use config::{
    AgentCommand, AgentConfig, ExistingInterface, Home, LiveConfig, Placement, PortLink, Program, ProgramStream,
    cpus_of_programs,
};
pub use connection::channel::{
    Channel, ChannelState, Credentials, NoTransports, Transport, TransportError, Transports, Watch,
};
pub use connection::{ConnectionEnd, Layer, TcpChannel, WAITING_MAX, port_of};
pub use error::LiveError;
pub use host::{HostReport, HostState, Waits, probe};
pub use host_link::{DatagramEnd, HostLink};
pub use join::connections::ConnectionFact;
pub use live::{AgentCounts, LiveHost, LiveOutcome, ProgramEnd, run};
pub use log::{OfAnother, ProgramUsage};
pub use message::{AgentFacts, Wires};
pub use node_clock::ClockStep;
pub use parts::{PartedStream, Parts};
pub use ptp::{PTP_SOCKET, Ptp, PtpReading, PtpRefusal, PtpStatus};
pub use remote::{AgentRecord, Worker, WorkerLost, join_hosts, monotonic_ns};
pub use socket::SocketLink;
pub use traffic::{FrameDescription, Traffic};
