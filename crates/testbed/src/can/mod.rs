//! CAN buses live: our own bus driven by the wall clock, which python-can clients may join, or a CAN interface of the
//! kernel.
//!
//! On our bus a frame takes the time its bits take. Whoever sends hands a frame to its controller; the frame waits for
//! the bus, competes by its identifier, and reaches everybody else when its last bit is over: never earlier, and as
//! little later as the host allows. How much later is a row of [`chronoseal_results::RunRows::releases`] for each copy.
//!
//! Who can be on it:
//! - stations, each a process, by ports that are socket pairs ([`crate::PortLink::Pair`]);
//! - clients of python-can ([`GuestKind::Multicast`]). Datagrams of one multicast port reach all who listen there, with
//!   no bus between them, so each client has a port of its own. A client hears its own datagrams at once (that is
//!   multicast on one host) and once more when the bus has carried the frame; the second has [`BUS_CHANNEL`] for its
//!   channel and `is_rx` false. Loopback only;
//! - a CAN interface of the kernel ([`GuestKind::Interface`]): what is on it is offered to the bus, what is on the bus
//!   is put there. The kernel's virtual interfaces have no bit times; the bus has.
//!
//! A CAN interface of the kernel may also take the place of our bus: the stations' ports are
//! [`crate::PortLink::CanInterface`] then, nothing of ours is between them, and a guest that only listens
//! ([`GuestKind::Listener`]) writes down what is on the interface.
//!
//! [`crate::run`] runs stations and guests on either, [`serve_bus`] a bus for guests alone.
//!
//! What is left out: gateways beyond this host, error frames from and to guests, and receive times taken by the kernel.
//!
//! ```no_run
//! use std::sync::atomic::AtomicBool;
//! use chronoseal_core::{Duration, Rate};
//! use chronoseal_testbed::can::{CanServerConfig, GuestKind, MulticastGroup, enter_private_loopback, serve_bus};
//! use chronoseal_wire::can::{BitTiming, BitTimingConfig};
//!
//! let config = CanServerConfig {
//!     timing: BitTiming::new(&BitTimingConfig::new(Rate(500_000), Rate(2_000_000)))?,
//!     carries_fd: true,
//!     guests: vec![GuestKind::Multicast(MulticastGroup::of_client(0))],
//!     duration: Duration::from_s(10),
//!     capture: false,
//!     fifo: true,
//! };
//! enter_private_loopback()?;
//! // Clients started from here on find the bus.
//! let outcome = serve_bus(&config, &AtomicBool::new(false))?;
//! println!("{} copies of frames", outcome.rows.releases.len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub(crate) mod datagram;
pub(crate) mod interface;
pub(crate) mod multicast;

use std::sync::atomic::AtomicBool;

use chronoseal_core::{Duration, NodeId, PortId, Priority, SimTime};
use chronoseal_media::can::{CanBus, CanBusConfig, ControllerConfig};
use chronoseal_media::medium::Attachment;
use chronoseal_wire::can::BitTiming;

pub use self::datagram::BUS_CHANNEL;
pub use self::multicast::MulticastGroup;
use crate::end::End;
use crate::join::Carrier;
use crate::traffic::{FrameDescription, Traffic};
use crate::{LiveConfig, LiveError, LiveOutcome, run};

use self::interface::CanInterface;
use self::multicast::Multicast;

/// Frames the controller of a guest holds: a script may send bursts that no ECU would.
const GUEST_QUEUE_LEN: usize = 1024;

/// Somebody who takes part in a run without being an agent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Guest {
    /// Its controller on our bus, which the medium must know. For a listener the number under which strangers on its
    /// interface appear, and the segment its rows belong to.
    pub attachment: Attachment,
    /// How it is reached.
    pub kind: GuestKind,
}

/// How a guest is reached.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum GuestKind {
    /// By python-can's `udp_multicast`, on this host's loopback interface.
    Multicast(MulticastGroup),
    /// As whoever is on this CAN interface of the kernel: it is joined to our bus.
    Interface(String),
    /// Not at all: it listens, acknowledges, and its rows are the log of the bus.
    Recorder,
    /// It hears what is on this CAN interface of the kernel, which carries the frames of the agents' ports of that name
    /// ([`crate::PortLink::CanInterface`]). Nothing it hears goes to the medium, and it sends nothing.
    Listener(String),
}

impl Guest {
    /// The controller [`serve_bus`] gives it.
    pub fn controller(&self) -> ControllerConfig {
        ControllerConfig { queue_len_max: GUEST_QUEUE_LEN, ..ControllerConfig::new(self.attachment) }
    }

    /// Its end of the wire, and who carries the frames there.
    pub(crate) fn open(&self) -> Result<(End, Carrier), LiveError> {
        let end = match &self.kind {
            GuestKind::Multicast(group) => Multicast::join(group)
                .map(End::Multicast)
                .map_err(|error| LiveError::MulticastRefused { group: *group, reason: error.to_string() })?,
            GuestKind::Interface(interface) => End::Interface(open(interface)?),
            GuestKind::Recorder => End::Recorder,
            GuestKind::Listener(interface) => {
                return Ok((End::Listener(open(interface)?), Carrier::Kernel(interface.clone())));
            }
        };
        Ok((end, Carrier::Emulator))
    }
}

fn open(interface: &str) -> Result<CanInterface, LiveError> {
    let refused =
        |error: std::io::Error| LiveError::CanRefused { interface: interface.to_owned(), reason: error.to_string() };
    CanInterface::open(interface, false).map_err(refused)
}

/// A bus for guests alone.
#[derive(Clone, Debug)]
pub struct CanServerConfig {
    /// Bit rates and sample points.
    pub timing: BitTiming,
    /// FD frames are understood; else they are discarded at their sender.
    pub carries_fd: bool,
    /// Who may join. Their nodes are numbered from 1.
    pub guests: Vec<GuestKind>,
    /// How long the bus is there. What happens is kept in memory until then: some 500 bytes for each copy of a frame.
    pub duration: Duration,
    /// Keep every frame's bytes.
    pub capture: bool,
    /// Ask for `SCHED_FIFO`.
    pub fifo: bool,
}

/// The controller of [`serve_bus`] itself ([`GuestKind::Recorder`]): with it, one guest alone is acknowledged.
pub const LISTENER: NodeId = NodeId(0);

/// Runs a bus for guests until the duration is over or `stop` is set. No other process is started.
///
/// # Errors
/// [`LiveError`]; the refusals of the host say what to do about them.
pub fn serve_bus(config: &CanServerConfig, stop: &AtomicBool) -> Result<LiveOutcome, LiveError> {
    let kinds = std::iter::once(&GuestKind::Recorder).chain(&config.guests);
    let guests: Vec<Guest> = (LISTENER.0..)
        .zip(kinds)
        .map(|(number, kind)| Guest {
            attachment: Attachment { node: NodeId(number), port: PortId(0) },
            kind: kind.clone(),
        })
        .collect();
    let bus = CanBusConfig {
        timing: config.timing,
        carries_fd: config.carries_fd,
        controllers: guests.iter().map(Guest::controller).collect(),
        bits_between_errors: None,
        faults: Vec::new(),
        babblers: Vec::new(),
        load_window: None,
    };
    let mut network = CanBus::new(bus, 0)?;
    let mut live = LiveConfig::new(Vec::new(), Vec::new(), config.duration);
    live.capture = config.capture;
    live.fifo = config.fifo;
    live.guests = guests;
    run(&live, &mut network, &NoStreams, stop)
}

/// Moves this process and all it starts from now on into a network namespace with nothing but a loopback interface that
/// carries multicast: a bus and its clients need nothing of the host then, and nothing of theirs can leave it. To be
/// called while the process has one thread.
///
/// # Errors
/// [`LiveError::NamespaceRefused`].
pub fn enter_private_loopback() -> Result<(), LiveError> {
    crate::sys::enter_private_loopback().map_err(|error| LiveError::NamespaceRefused { reason: error.to_string() })
}

/// Frames that belong to no stream of a scenario.
#[derive(Clone, Copy, Debug)]
pub struct NoStreams;

impl Traffic for NoStreams {
    fn priority(&self, _from: Attachment, _bytes: &[u8]) -> Priority {
        // On a CAN bus the identifier is the priority.
        Priority(0)
    }

    fn describe(&self, _from: Attachment, _bytes: &[u8], _arrived_at: SimTime) -> FrameDescription {
        FrameDescription::UNKNOWN
    }
}
