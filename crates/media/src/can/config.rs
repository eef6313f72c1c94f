//! What a CAN bus is built from.

use core::num::NonZeroU64;

use chronoseal_core::{Duration, SimTime};
use chronoseal_wire::can::{BitTiming, CanFrame, IdFilter};

use crate::medium::Attachment;

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

/// Why a configuration is no bus.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CanBusError {
    /// Two controllers are the same port of the same node.
    #[error("port {} of node {} is attached twice", .0.port.0, .0.node.0)]
    AttachedTwice(Attachment),
    /// A fault or a babbler belongs to no controller of the bus.
    #[error("port {} of node {} is not attached to the bus", .0.port.0, .0.node.0)]
    NotAttached(Attachment),
    /// A queue that holds nothing.
    #[error("the queue of port {} of node {} holds no frame", .0.port.0, .0.node.0)]
    NoQueue(Attachment),
    /// A window of no length.
    #[error("the bus records its load in windows of no length")]
    LoadWindow,
}
