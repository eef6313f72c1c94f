//! Why a part of a network cannot be made.

use chronoseal_core::NodeId;
use chronoseal_groupkey::{OperationError, RosterError};
use chronoseal_media::can::CanBusError;
use chronoseal_media::topology::TopologyError;
use chronoseal_nodes::ProtectionError;
use chronoseal_v2x_fleet::security::SecurityError;
use chronoseal_v2x_fleet::simulation::FleetError;

/// Why a node or a segment cannot be made.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A stream whose transport is only live.
    #[error("stream `{stream}` goes over {over}, which is not simulated: run it with --engine live")]
    OnlyLive {
        /// Its name.
        stream: String,
        /// The name of the transport.
        over: String,
    },
    /// A stream whose middleware cannot be charged for.
    #[error("stream `{stream}` goes over `{configuration}`, {problem}; or run it with --engine live", problem = problem.text(configuration))]
    Middleware {
        /// Its name.
        stream: String,
        /// The name of the middleware's configuration.
        configuration: String,
        /// Why not.
        problem: NotSimulated,
    },
    /// A stream whose packets are longer than the simulator's frames.
    #[error(
        "stream `{0}` goes in packets longer than 1500 B, which are not simulated: run it with --engine live, or write an `mtu` of 1500B at most"
    )]
    LongPackets(String),
    /// A node whose program is somebody else's.
    #[error("node `{0}` runs a program, which is not simulated: run it with --engine live --programs")]
    Program(String),
    /// A number that no node has.
    #[error("there is no node {}", .0.0)]
    UnknownNode(NodeId),
    /// An attack that this kind of segment does not know.
    #[error("node {} cannot attack so on this kind of segment", .0.0)]
    Attack(NodeId),
    /// The group of a key exchange is none.
    #[error(transparent)]
    Roster(#[from] RosterError),
    /// A change of the group that cannot be carried out.
    #[error(transparent)]
    Operation(#[from] OperationError),
    /// An attack on a key exchange where there is none.
    #[error("there is no key exchange to attack")]
    NoExchange,
    /// A protection that this kind of segment cannot have.
    #[error(transparent)]
    Protection(#[from] ProtectionError),
    /// A CAN bus that contradicts itself.
    #[error(transparent)]
    Can(#[from] CanBusError),
    /// A road, or a channel beside it, that contradicts itself.
    #[error(transparent)]
    Fleet(#[from] FleetError),
    /// A station that cannot sign.
    #[error("a station cannot sign: {0}")]
    Security(#[from] SecurityError),
    /// Ports that contradict each other.
    #[error(transparent)]
    Topology(#[from] TopologyError),
}

/// Why a stream that a middleware carries is not simulated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NotSimulated {
    /// Nobody has said what it takes.
    Unmeasured,
    /// The link loses messages, and what sends them again is the middleware's.
    Losses,
}

impl NotSimulated {
    /// What follows the name of the configuration, with what to do.
    fn text(self, configuration: &str) -> String {
        match self {
            Self::Unmeasured => format!(
                "and a simulation does not know what that takes: measure it (`chronoseal middleware profile {configuration} --out FILE`) and write \
                 `measured = \"FILE\"` for the segment"
            ),
            Self::Losses => {
                "which sends again what its link loses in a way that is not simulated: give the link no losses".into()
            }
        }
    }
}
