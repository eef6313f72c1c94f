//! The wires of a segment, for whoever draws them or says what became of a frame on them.

use chronoseal_core::{Duration, NodeId, Rate, SimTime};
use chronoseal_media::port::GateControlList;

/// One direction of a link.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wire {
    /// Who sends on it; its queues are there.
    pub from: NodeId,
    /// Who receives on it.
    pub to: NodeId,
    /// What it carries.
    pub rate: Rate,
    /// How long a frame is in the switch that sends on it, if nothing is added to that; of a station nothing.
    pub forwarding_delay: Duration,
    /// From then on it is down.
    pub fails_at: Option<SimTime>,
    /// The gates in front of it, if it has some that follow the time of the run.
    pub gates: Option<Gates>,
}

/// The gates of a port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Gates {
    /// When they are open.
    pub list: GateControlList,
    /// By priority: its traffic class.
    pub class_of: [u8; 8],
}
