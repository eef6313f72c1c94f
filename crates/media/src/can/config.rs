//! What CAN buses and the gateways between them are built from.

use core::num::NonZeroU64;

use chronoseal_core::{Duration, NodeId, PortId, SimTime};
use chronoseal_wire::can::{BitTiming, CanFrame, CanId};

use crate::medium::Attachment;

/// Most buses of one network.
pub const BUSES_MAX: usize = 255;

/// Buses and the gateways that join them.
#[derive(Clone, Debug)]
pub struct CanNetworkConfig {
    /// The buses; others refer to them by index.
    pub buses: Vec<CanBusConfig>,
    /// Store-and-forward gateways.
    pub gateways: Vec<GatewayConfig>,
    /// Seeds the bit errors.
    pub seed: u64,
}

/// One bus and the controllers on it.
#[derive(Clone, Debug)]
pub struct CanBusConfig {
    /// Bit rates and sample points.
    pub timing: BitTiming,
    /// True if all controllers understand FD frames; else FD frames are discarded at their sender.
    pub carries_fd: bool,
    /// Controllers of the stations.
    pub controllers: Vec<ControllerConfig>,
    /// Bits on the wire between two that all nodes see inverted, on average; `None` for an undisturbed bus.
    pub bits_between_errors: Option<NonZeroU64>,
    /// Disturbances at given places.
    pub faults: Vec<Fault>,
    /// Nodes that send without end.
    pub babblers: Vec<Babbler>,
    /// Length of the windows for which the load is recorded; `None` for the whole run only.
    pub load_window: Option<Duration>,
}

/// A CAN controller: the part of a station that is part of the bus.
#[derive(Clone, Debug)]
pub struct ControllerConfig {
    /// Whose it is.
    pub attachment: Attachment,
    /// Which of its frames competes for the bus first.
    pub queue_order: QueueOrder,
    /// Frames it holds, the one being sent included; more are discarded.
    pub queue_len_max: usize,
    /// Frames it hands to its station; all if empty. Every frame is received and acknowledged, wanted or not.
    pub acceptance: Vec<IdFilter>,
    /// Comes back after 128 sequences of 11 recessive bits. If false, bus-off is for ever and its frames are discarded.
    pub recovers_from_bus_off: bool,
    /// Attempts to send one frame before it is discarded, lost arbitrations not counted; `None` for no limit, as the
    /// standard has it.
    pub attempts_max: Option<u32>,
}

impl ControllerConfig {
    /// Queue ordered by identifier, 64 frames, everything accepted, recovering, retransmitting without limit.
    pub const fn new(attachment: Attachment) -> Self {
        Self {
            attachment,
            queue_order: QueueOrder::ByIdentifier,
            queue_len_max: 64,
            acceptance: Vec::new(),
            recovers_from_bus_off: true,
            attempts_max: None,
        }
    }
}

/// In which order a controller offers its frames to the bus.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QueueOrder {
    /// The frame that would win against its others; among equal ones the oldest.
    ByIdentifier,
    /// The oldest frame, whatever waits behind it (and suffers from it: priority inversion).
    Fifo,
}

/// Identifiers that agree with `id` in the bits of `mask`, in the same format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IdFilter {
    /// The pattern.
    pub id: CanId,
    /// The bits that have to agree.
    pub mask: u32,
}

impl IdFilter {
    /// This identifier alone.
    pub const fn exactly(id: CanId) -> Self {
        Self { id, mask: u32::MAX }
    }

    /// True if `id` passes.
    pub const fn passes(&self, id: CanId) -> bool {
        self.id.is_extended() == id.is_extended() && (self.id.raw() ^ id.raw()) & self.mask == 0
    }
}

/// One bit of one frame seen inverted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Which attempt to send on this bus, counted from 0.
    pub attempt: u64,
    /// Which bit from SOF, which is 0, on; stuff bits, error flags and delimiters count.
    pub bit: u32,
    /// Who sees it inverted: one controller, or all if `None`.
    pub seen_by: Option<Attachment>,
}

/// A node that sends a frame again and again, each as soon as the bus lets it.
#[derive(Clone, Copy, Debug)]
pub struct Babbler {
    /// Whose controller.
    pub attachment: Attachment,
    /// What it sends.
    pub frame: CanFrame,
    /// From when on.
    pub from: SimTime,
    /// Until when.
    pub until: SimTime,
}

/// A node on several buses that receives a frame on one and sends it on others.
#[derive(Clone, Debug)]
pub struct GatewayConfig {
    /// The node.
    pub node: NodeId,
    /// The buses it is on.
    pub buses: Vec<usize>,
    /// From the end of a frame on one bus to its place in the queue of another.
    pub delay: Duration,
    /// Frames each of its controllers holds.
    pub queue_len_max: usize,
    /// What it forwards. A frame takes every route it fits.
    pub routes: Vec<GatewayRoute>,
}

impl GatewayConfig {
    /// Where the gateway is attached to bus `bus`: its port has the number of the bus.
    pub const fn attachment(&self, bus: usize) -> Attachment {
        Attachment { node: self.node, port: PortId(bus as u16) }
    }
}

/// Frames of one bus that go on to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GatewayRoute {
    /// Where they come from.
    pub from: usize,
    /// Which.
    pub filter: IdFilter,
    /// Where they go.
    pub to: usize,
}

/// Why a configuration is no network.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CanNetworkError {
    /// More than [`BUSES_MAX`].
    #[error("{0} buses; one network holds at most 255")]
    TooManyBuses(usize),
    /// A gateway, or a route of one, names a bus that is not there, or that the gateway is not on.
    #[error("gateway {} refers to bus {bus}, which it is not on", node.0)]
    UnknownBus {
        /// The gateway.
        node: NodeId,
        /// As written.
        bus: usize,
    },
    /// A gateway forwards a bus to itself.
    #[error("gateway {} forwards bus {bus} to itself", node.0)]
    RouteToItself {
        /// The gateway.
        node: NodeId,
        /// As written.
        bus: usize,
    },
    /// Two controllers, or a station's and a gateway's, are the same port of the same node.
    #[error("port {} of node {} is attached twice", .0.port.0, .0.node.0)]
    AttachedTwice(Attachment),
    /// A fault or a babbler belongs to no controller of its bus.
    #[error("port {} of node {} is not attached to bus {bus}", attachment.port.0, attachment.node.0)]
    NotAttached {
        /// As written.
        attachment: Attachment,
        /// The bus it should be on.
        bus: usize,
    },
    /// A queue that holds nothing.
    #[error("the queue of port {} of node {} holds no frame", .0.port.0, .0.node.0)]
    NoQueue(Attachment),
    /// A window of no length.
    #[error("bus {0} records its load in windows of no length")]
    LoadWindow(usize),
}
