//! SAE AS6802: synchronisation masters, compression masters and synchronisation clients.
//!
//! ```text
//!                 integration frames            compressed frame
//! masters (end systems) ──────► compression masters (switches) ──────► masters and clients
//!        at their cycle start        a fault-tolerant average            correct their clocks
//! ```
//!
//! A [`SynchronisationMaster`] dispatches an integration frame when its clock begins an integration cycle. A
//! [`CompressionMaster`] makes the frames permanent, takes a fault-tolerant average of the permanence points and sends one
//! compressed frame at a constant distance from it. Masters and each [`SynchronisationClient`] know when that frame has to become
//! permanent, and correct their clocks by what is missing. A cluster starts from cold with coldstart frames, which ask to start one,
//! and coldstart acknowledge frames, which agree to it. Clique detection makes a device leave a cluster that has become too small, or
//! that is smaller than another one.
//!
//! # Sources
//! The standard itself was not at hand. States, parameters and their equations are as CoRE4INET (CoRE-RG/CoRE4INET,
//! `synchronisation/AS6802`) describes and quotes them with page numbers; nothing of its code is here. Where that model leaves
//! something open, deviates from what it quotes, or does not work, the choice made here is documented at its place.
//!
//! # What is absent
//! A device follows one synchronisation domain and one priority; it does not move to a cluster of a higher priority. No rate of an
//! oscillator is corrected: the protocol corrects the state of a clock only.

mod clock;
mod compression;
mod compression_master;
mod follower;
mod membership;
mod parameters;
mod permanence;
mod synchronisation_client;
mod synchronisation_master;

use chronoseal_core::{Duration, LocalTime};
use chronoseal_wire::protocol_control_frame::ProtocolControlFrame;

pub use self::compression::{
    CollectError, Collector, Compressed, MASTERS_MAX, compression_correction, permanence_point,
};
pub use self::compression_master::{CompressionMaster, CompressionMasterState};
pub use self::parameters::{Cluster, Integrity, ParameterError, Parameters, Thresholds};
pub use self::permanence::PENDING_MAX;
pub use self::synchronisation_client::{SynchronisationClient, SynchronisationClientState};
pub use self::synchronisation_master::{SynchronisationMaster, SynchronisationMasterState};

/// What a machine did, or wants done. Each is asked for with the machine's `poll` until there is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect<S> {
    /// Send this frame. Its transparent clock is zero: who sends it later than `due` adds the difference.
    Send {
        /// The frame.
        frame: ProtocolControlFrame,
        /// When it is dispatched.
        due: LocalTime,
    },
    /// The machine changed its state.
    Entered {
        /// From this one.
        from: S,
        /// To this one.
        to: S,
        /// When.
        at: LocalTime,
    },
    /// The clock was corrected; positive if it was ahead and has been set back.
    Corrected {
        /// By this much.
        by: Duration,
        /// When.
        at: LocalTime,
    },
}

/// Why a control frame was not used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// It is of another synchronisation domain or priority.
    #[error("the control frame is of another synchronisation domain or priority")]
    OtherCluster,
    /// It says that it is older than any frame of this network can be.
    #[error("the control frame is older than the largest transmission delay allows")]
    TooOld,
    /// It names an integration cycle that the cluster does not have.
    #[error("the control frame names an integration cycle beyond the cluster cycle")]
    NoSuchCycle,
    /// It names another master than those which send by the way it came, or none, or several.
    #[error("the control frame does not name one master that sends by this way")]
    Membership,
    /// Its master is in too many collections already.
    #[error("the master of this control frame sends more of them than the protocol has use for")]
    Babbling,
    /// It came from a compression master that is none of the cluster.
    #[error("the control frame comes from no compression master of the cluster")]
    UnknownSource,
    /// More frames than fit wait to become permanent.
    #[error("too many control frames wait to become permanent")]
    TooMany,
}
