//! Who attacks, from where, and how.

use chronoseal_core::{AttackKind, Duration, NodeId, Ppm, StreamId};

use crate::{ExchangeAttack, Facet, SegmentId};

/// An attack of the scenario.
#[derive(Clone, Debug)]
pub struct ThreatPlan {
    /// As in the scenario.
    pub name: String,
    /// What it does.
    pub kind: ThreatKind,
    /// Who does it: index into [`crate::Plan::attackers`].
    pub attacker: u16,
    /// Its first attempt.
    pub start: Duration,
    /// Distance of two attempts.
    pub every: Duration,
    /// How many attempts.
    pub count: u32,
    /// Where in the target's slot its frame is put, for streams with slots: 0 is the slot's start.
    pub at_slot_offset: Duration,
    /// What only the kind of its segment knows.
    pub facet: Option<Facet>,
}

/// What an attack does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ThreatKind {
    /// Makes up frames of a stream.
    Spoof(StreamId),
    /// Changes frames of a stream on their way.
    Tamper(StreamId),
    /// Repeats the first frame of a stream it hears.
    Replay(StreamId),
    /// Keeps frames of a stream back that it should forward.
    Withhold(StreamId),
    /// Sends a frame that wins every arbitration, or on Ethernet in a station's name at the rate of its link: frames of a stream, or
    /// of all that the station sends in turn.
    Babble(Option<StreamId>),
    /// Sends at a port of its own at the rate of its link: frames of a stream, or of all of the segment in turn.
    Flood(Option<StreamId>),
    /// Passes frames on so much later than they come: those of a stream, or all that a node sends.
    Delay(Option<StreamId>, Duration),
    /// Works on the clocks of a segment.
    OnClocks(ClockThreat),
    /// Works on the exchange of keys.
    OnExchange(ExchangeAttack),
}

impl ThreatKind {
    /// The stream it aims at.
    pub const fn target(self) -> Option<StreamId> {
        match self {
            Self::Spoof(stream) | Self::Tamper(stream) | Self::Replay(stream) | Self::Withhold(stream) => Some(stream),
            Self::Babble(stream) | Self::Flood(stream) | Self::Delay(stream, _) => stream,
            Self::OnExchange(_) | Self::OnClocks(_) => None,
        }
    }

    /// How much later it passes frames on; zero if it holds none.
    pub const fn delay(self) -> Duration {
        if let Self::Delay(_, by) = self { by } else { Duration::ZERO }
    }

    /// Its name in a scenario.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OnExchange(ExchangeAttack::ReplayedOrchestration(_)) => "replayed_orchestration",
            Self::OnExchange(ExchangeAttack::SwappedAddresses) => "swapped-addresses",
            Self::OnExchange(ExchangeAttack::ReflectedShare) => "reflected-share",
            Self::OnExchange(ExchangeAttack::SmallOrderShare) => "small-order-share",
            Self::OnExchange(ExchangeAttack::TruncatedConfirmation) => "truncated-confirmation",
            Self::OnExchange(ExchangeAttack::ForgedConfirmation) => "forged-confirmation",
            Self::OnExchange(ExchangeAttack::ImpersonatedOrchestrator) => "impersonated-orchestrator",
            Self::OnExchange(ExchangeAttack::ForgedCommit) => "forged-commit",
            _ => self.attack().name(),
        }
    }

    /// What its frames are called in events and rows.
    pub const fn attack(self) -> AttackKind {
        match self {
            Self::Spoof(_) => AttackKind::Spoof,
            Self::Babble(_) => AttackKind::Babble,
            Self::Flood(_) => AttackKind::Flood,
            Self::Delay(..) => AttackKind::Delay,
            Self::Tamper(_) => AttackKind::Tamper,
            Self::Withhold(_) => AttackKind::Withhold,
            Self::Replay(_) | Self::OnExchange(_) => AttackKind::Replay,
            Self::OnClocks(ClockThreat::RogueGrandmaster(_)) => AttackKind::RogueGrandmaster,
            Self::OnClocks(ClockThreat::ForgedTime { .. }) => AttackKind::ForgedTime,
            Self::OnClocks(ClockThreat::AlteredTime { .. }) => AttackKind::AlteredTime,
        }
    }
}

/// An attack on clocks that a protocol keeps together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClockThreat {
    /// A node claims to be a better grandmaster than it is.
    RogueGrandmaster(RogueGrandmaster),
    /// Makes up messages that tell a time off by `offset`.
    ForgedTime {
        /// How far ahead it is.
        offset: Duration,
        /// In whose name, if not in that of the node whose link the attacker sits on.
        of: Option<NodeId>,
    },
    /// Changes messages on their way, so that the time they tell is off by `offset`.
    AlteredTime {
        /// How far ahead it is.
        offset: Duration,
    },
}

/// What a node claims, and what it serves once it is the grandmaster (IEEE 802.1AS).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RogueGrandmaster {
    /// `priority1` that it announces.
    pub priority1: u8,
    /// `clockClass` that it announces.
    pub clock_class: u8,
    /// How far ahead of the time it served before.
    pub offset: Duration,
    /// How much faster its time runs from then on.
    pub drift: Ppm,
}

/// Who attacks: a node of its own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AttackerPlan {
    /// As shown.
    pub name: String,
    /// Where it sits.
    pub place: AttackPlace,
}

/// Where an attacker sits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AttackPlace {
    /// On a segment, as one more node.
    OnSegment(SegmentId),
    /// On the wire between a node and a segment.
    OnLink(SegmentId, NodeId),
    /// In a gateway: it has what passes there on all its segments.
    AtNode(NodeId),
}

impl AttackPlace {
    /// The one segment it can reach; `None` for an attacker in a gateway, which reaches all of the gateway's.
    pub const fn segment(self) -> Option<SegmentId> {
        match self {
            Self::OnSegment(segment) | Self::OnLink(segment, _) => Some(segment),
            Self::AtNode(_) => None,
        }
    }
}
