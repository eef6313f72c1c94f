//! IEEE 802.1AS-2020, the generalized precision time protocol (gPTP), on full-duplex point-to-point links.
//!
//! ```text
//!               Announce: who is the best clock?      Sync, Follow_Up: what time is it there?
//! grandmaster ──────────────────► bridge ──────────────────► bridge ──────────────────► end station
//!             ◄───── Pdelay ─────►       ◄───── Pdelay ─────►       ◄───── Pdelay ─────►
//!              each link's delay, and how fast the neighbour's clock runs
//! ```
//! A [`TimeAwareSystem`] is a relay, as a bridge is and a station with a port to each of two networks, or an end station if it has one
//! port. On every port it measures the delay of the link and the rate
//! of the neighbour's oscillator. The best master clock algorithm makes one system the grandmaster and the ports a tree. Each Sync goes
//! down that tree; every bridge adds the delay of the link by which it came and the time that it spent in the bridge, both in
//! units of the grandmaster's clock, because the rates of the neighbours add up on the way.
//!
//! What comes out is the grandmaster's time and rate at each Sync ([`Effect::Synchronised`]). How a station steers its clock
//! by them, at once or with a servo, is its own affair; [`TimeAwareSystem::time`] is the time without one.
//!
//! # No authentication
//! IEEE 802.1AS has none: a station that announces a better priority becomes the grandmaster, and a device that delays frames in one
//! direction shifts the time behind it by half the delay. The tests show both.
//!
//! # Sources
//! The standard itself was not at hand. Messages, state machines and default values are written down from memory of it, and compared
//! with what linuxptp does, over the wire (`peers/gptp`). Where the standard leaves a choice, it is documented at its place.
//!
//! # What is absent
//! One domain; a one-step Sync; links other than full-duplex Ethernet; Signaling messages, so intervals do not change at run time; the
//! external port configuration; hot standby. All ports have the same intervals, and a bridge forwards each Sync as soon as its
//! `Follow_Up` came, which the standard calls `syncLocked`.

mod clock;
mod parameters;
mod peer_delay;
mod port;
mod selection;
mod system;
mod time_base;
mod transmission;

use chronoseal_core::LocalTime;
use chronoseal_core::oscillator::RateDeviation;
use chronoseal_wire::gptp::{Body, ClockIdentity, GptpError, Header, Message, PtpTime};

pub use self::clock::{ClockEffect, DeviceClock};
pub use self::parameters::{PORTS_MAX, ParameterError, Parameters, PortParameters};
pub use self::peer_delay::{RATE_DEVIATION_MAX, WINDOW};
pub use self::selection::{PriorityVector, Selection, Unusable, select};
pub use self::system::TimeAwareSystem;

/// What a port is for: IEEE 802.1AS-2020 table 10-2.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PortRole {
    /// The link is down, or its neighbour does not take part.
    Disabled,
    /// Sends Announce and Sync.
    Master,
    /// The grandmaster's time comes from here.
    Slave,
    /// Another way to the grandmaster is better, and the neighbour has a better one too.
    Passive,
}

/// An event message whose departure has to be reported with [`TimeAwareSystem::transmitted`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stamp {
    /// A Sync of this number.
    Sync(u16),
    /// A `Pdelay_Req` of this number.
    Request(u16),
    /// The response to a `Pdelay_Req` of this number.
    Response(u16),
}

impl Stamp {
    /// That of an event message; `None` for another message.
    pub fn of(payload: &[u8]) -> Option<Self> {
        let Message { header: Header { sequence, .. }, body } = Message::parse(payload).ok()?;
        match body {
            Body::Sync => Some(Self::Sync(sequence)),
            Body::PdelayReq => Some(Self::Request(sequence)),
            Body::PdelayResp { .. } => Some(Self::Response(sequence)),
            _ => None,
        }
    }
}

/// What a system did, or wants done. Each is asked for with [`TimeAwareSystem::poll`] until there is none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Send this message now, to [`chronoseal_wire::gptp::PTP_ADDRESS`].
    Send {
        /// By this port.
        port: u16,
        /// The payload of the frame, without padding.
        payload: Vec<u8>,
        /// Its departure has to be reported with this.
        stamp: Option<Stamp>,
    },
    /// A port changed its role.
    Role {
        /// The port.
        port: u16,
        /// From this one.
        from: PortRole,
        /// To this one.
        to: PortRole,
        /// When.
        at: LocalTime,
    },
    /// Another clock is the grandmaster now.
    Grandmaster {
        /// This one.
        clock: ClockIdentity,
        /// When.
        at: LocalTime,
    },
    /// A Sync told the time of the grandmaster.
    Synchronised {
        /// The grandmaster's time when this clock showed `at`.
        time: PtpTime,
        /// The arrival of the Sync, by this clock.
        at: LocalTime,
        /// How much faster the grandmaster's clock runs than this one.
        rate: RateDeviation,
        /// What the time would have been by the Sync before: positive if this clock, so corrected, was behind.
        step: chronoseal_core::Duration,
    },
}

/// By what the time is off that a grandmaster serves which is not honest.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pretence {
    /// How far ahead it is when it becomes the grandmaster.
    pub offset: chronoseal_core::Duration,
    /// How much faster it runs from then on.
    pub drift: RateDeviation,
}

/// Why a message was not used. The system is then as it was before.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The system has no port of this number.
    #[error("there is no port {0}; ports are numbered from 1")]
    NoSuchPort(u16),
    /// The link of this port is down.
    #[error("the link of the port is down")]
    LinkDown,
    /// It is none of the protocol.
    #[error(transparent)]
    Malformed(#[from] GptpError),
    /// It is of another domain.
    #[error("the message is of domain {0}")]
    OtherDomain(u8),
    /// It came back, or somebody uses this clock's identity.
    #[error("the message has this clock for its source")]
    OwnMessage,
    /// The neighbour has not shown yet that it takes part.
    #[error("the neighbour's delay is not known or not in bounds, so only Pdelay messages are taken from it")]
    NotCapable,
    /// Its Announce went through this system.
    #[error("the path trace of the Announce holds this clock")]
    PathLoop,
    /// IEEE 802.1AS-2020 §10.3.11.2.1: 255 steps or more.
    #[error("the Announce is {0} steps from its grandmaster, of which at most 254 are taken")]
    TooManySteps(u16),
    /// A clock that is no better than the one that is known here.
    #[error("the Announce is of a clock that is worse than the one known at this port")]
    Inferior,
    /// A Sync where none is expected.
    #[error("no Sync is taken at a port in role {0:?}")]
    WrongRole(PortRole),
    /// It came from another port than the Announce that is followed.
    #[error("the message comes from another port than the one whose Announce is followed")]
    NotFromMaster,
    /// A `Follow_Up` that follows nothing.
    #[error("no Sync of this number waits for a Follow_Up, or it came too late")]
    NoSync,
    /// A correction or rate that no network of correct clocks has.
    #[error("the rate or the correction of the Follow_Up is beyond what a network of correct clocks can have")]
    Implausible,
    /// An answer to a request of somebody else, or to one that is over.
    #[error("the message answers no request that is under way at this port")]
    NotAsked,
    /// An answer while another neighbour's is there already.
    #[error("more than one neighbour answered a request: the link is not point to point")]
    SeveralNeighbours,
}
