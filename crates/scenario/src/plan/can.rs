//! What will be run on a CAN bus.

use chronoseal_core::{Duration, NodeId, StreamId};
use chronoseal_crypto::suite::SuiteName;
use chronoseal_frameauth::Profile as SecOcProfile;
use chronoseal_groupkey::{Installation, OrchestrationSigning, Profile, Scheme, Transport};
use chronoseal_wire::can::{BitTiming, BitTimingConfig, CanFrame, CanId, FrameKind};

use super::{ClockPlan, Jitter, PlatformId, PlatformPlan, ProtectionId};

/// A checked scenario on one CAN bus. Indices are identifiers: `nodes[i]` is `NodeId(i)`, `messages[i]` is
/// `StreamId(i)`; the replayed recordings follow the messages as streams of their own, and the synchronisation message them.
#[derive(Clone, Debug)]
pub struct CanPlan {
    /// Short name, used in file names.
    pub name: String,
    /// One or two sentences for a reader of the report.
    pub description: String,
    /// Seeds all chance of the run.
    pub seed: u64,
    /// How long the run lasts.
    pub duration: Duration,
    /// The bus.
    pub bus: CanBusPlan,
    /// Stations.
    pub nodes: Vec<CanNodePlan>,
    /// Periodic messages.
    pub messages: Vec<MessagePlan>,
    /// Replayed recordings.
    pub background: Vec<BackgroundPlan>,
    /// Ways to protect a message; `none` first.
    pub protections: Vec<CanProtectionPlan>,
    /// How the stations come to a common key.
    pub group_key: Option<GroupKeyPlan>,
    /// Who counts trips and resets, if a message needs them.
    pub freshness: Option<FreshnessPlan>,
    /// Attacks, each by a node of its own, numbered after the stations.
    pub attacks: Vec<CanAttackPlan>,
    /// What operations cost, by platform; the one on which everything is free first.
    pub platforms: Vec<PlatformPlan>,
    /// XXH3-128 of the scenario text and its overrides, hexadecimal.
    pub scenario_hash: String,
    /// What a reader of the results has to know, one sentence each.
    pub notes: Vec<String>,
}

/// A bus and how its bits are timed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CanBusPlan {
    /// Rates and sample points as asked for.
    pub bits: BitTimingConfig,
    /// What controllers make of them.
    pub timing: BitTiming,
    /// True if a controller sends its oldest frame first, false if the one with the lowest identifier.
    pub fifo_mailboxes: bool,
    /// How many buses alike there are; a gateway joins more than one.
    pub count: usize,
    /// From the end of a frame on one bus to its place in the gateway's queue for another.
    pub gateway_delay: Duration,
}

/// A station of a bus.
#[derive(Clone, Debug)]
pub struct CanNodePlan {
    /// As in the scenario.
    pub name: String,
    /// Its oscillator.
    pub clock: ClockPlan,
    /// Its processor.
    pub platform: PlatformId,
    /// Time its network driver takes between hand-over and first bit.
    pub driver: Jitter,
    /// In key exchanges.
    pub address: u8,
    /// Which of the buses it is on, from 0.
    pub bus: usize,
}

/// A periodic message.
#[derive(Clone, Debug)]
pub struct MessagePlan {
    /// As in the scenario.
    pub name: String,
    /// Who sends it.
    pub sender: NodeId,
    /// Who uses it.
    pub receivers: Vec<NodeId>,
    /// Its identifier.
    pub id: CanId,
    /// Its format.
    pub kind: FrameKind,
    /// Data before protection [byte].
    pub len: u8,
    /// Distance of two frames.
    pub period: Duration,
    /// Its first frame.
    pub offset: Duration,
    /// It has to be received so long after it became due.
    pub deadline: Duration,
    /// How it is protected.
    pub protection: ProtectionId,
}

/// A recording that is replayed over and over.
#[derive(Clone, Debug)]
pub struct BackgroundPlan {
    /// As in the scenario.
    pub name: String,
    /// Who plays it.
    pub node: NodeId,
    /// Where it comes from.
    pub source: String,
    /// Frames by time from its start.
    pub frames: Vec<(Duration, CanFrame)>,
    /// It starts again after this.
    pub length: Duration,
    /// When it begins.
    pub start: Duration,
}

/// A way to protect a message.
#[derive(Clone, Debug)]
pub struct CanProtectionPlan {
    /// As in the scenario.
    pub name: String,
    /// What it does.
    pub kind: CanProtectionKind,
}

/// What a protection does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CanProtectionKind {
    /// Nothing.
    None,
    /// A SecOC profile.
    SecOc {
        /// Which.
        profile: SecOcProfile,
        /// True if the key is the group key, false if it is drawn from the seed and everybody has it from the start.
        under_group_key: bool,
    },
}

/// How the stations come to a common key.
#[derive(Clone, Debug)]
pub struct GroupKeyPlan {
    /// Who orchestrates.
    pub orchestrator: NodeId,
    /// The members.
    pub members: Vec<NodeId>,
    /// Curve and signature.
    pub suite: SuiteName,
    /// The way.
    pub scheme: Scheme,
    /// As published, or hardened.
    pub profile: Profile,
    /// What carries the messages.
    pub transport: Transport,
    /// How the orchestration is signed.
    pub signing: OrchestrationSigning,
    /// When a node takes a new key into use.
    pub installation: Installation,
    /// When it begins.
    pub start: Duration,
    /// Changes, in time.
    pub changes: Vec<GroupChange>,
}

/// Trip and reset counters: who counts, and who follows.
#[derive(Clone, Debug)]
pub struct FreshnessPlan {
    /// Who counts and sends the synchronisation message.
    pub master: NodeId,
    /// Who else sends or receives a message with these counters in its freshness value.
    pub slaves: Vec<NodeId>,
    /// The identifier of the synchronisation message.
    pub id: CanId,
    /// Distance of two synchronisation messages: the reset cycle.
    pub period: Duration,
    /// True if its key is the group key, false if it is drawn from the seed and everybody has it from the start.
    pub under_group_key: bool,
}

/// An attack by a node of its own.
#[derive(Clone, Debug)]
pub struct CanAttackPlan {
    /// As in the scenario.
    pub name: String,
    /// What it is.
    pub kind: CanAttackKind,
    /// Its first attempt.
    pub start: Duration,
    /// Distance of two attempts.
    pub every: Duration,
    /// Attempts at most.
    pub count: u32,
}

/// What an attacker on a bus does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CanAttackKind {
    /// Makes up frames of a message.
    Spoof(StreamId),
    /// Repeats the first frame of a message it hears.
    Replay(StreamId),
    /// Sends a frame that wins every arbitration.
    Babble,
    /// Repeats the orchestrator's first request so much later.
    ReplayedOrchestration(Duration),
    /// Repeats requests with the parties exchanged.
    SwappedAddresses,
    /// Answers a party with its own share.
    ReflectedShare,
    /// Answers with a share of small order, or no point.
    SmallOrderShare,
    /// Answers with half a confirmation.
    TruncatedConfirmation,
    /// Answers with an invented confirmation.
    ForgedConfirmation,
    /// Requests an exchange in the orchestrator's name.
    ImpersonatedOrchestrator,
    /// Says in the orchestrator's name that all hold the key.
    ForgedCommit,
}

impl CanAttackKind {
    /// True if it needs a group key to attack.
    pub const fn is_on_exchange(self) -> bool {
        !matches!(self, Self::Spoof(_) | Self::Replay(_) | Self::Babble)
    }
}

/// A change of the group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GroupChange {
    /// When.
    pub at: Duration,
    /// Who.
    pub member: NodeId,
    /// True if it is taken back, false if it is thrown out.
    pub returns: bool,
}

impl CanPlan {
    /// The gateway's own number in events, if there is one: the first after stations and attackers.
    pub fn gateway(&self) -> Option<NodeId> {
        (self.bus.count > 1).then(|| NodeId((self.nodes.len() + self.attacks.len()) as u16))
    }

    /// The number of a replayed recording as a stream.
    pub fn background_stream(&self, index: usize) -> StreamId {
        StreamId((self.messages.len() + index) as u16)
    }

    /// The number of the synchronisation message as a stream: behind the recordings.
    pub fn freshness_stream(&self) -> StreamId {
        self.background_stream(self.background.len())
    }

    /// Data of a message with its protection [byte].
    pub fn secured_len(&self, message: &MessagePlan) -> usize {
        usize::from(message.len) + self.protection_of(message).kind.overhead()
    }

    /// How a message is protected.
    pub fn protection_of(&self, message: &MessagePlan) -> &CanProtectionPlan {
        &self.protections[usize::from(message.protection.0)]
    }
}

impl CanProtectionKind {
    /// Bytes it adds to the data.
    pub const fn overhead(&self) -> usize {
        match self {
            Self::None => 0,
            Self::SecOc { profile, .. } => profile.overhead(),
        }
    }

    /// True if its freshness value has trip and reset counters, which a master tells.
    pub const fn needs_master(&self) -> bool {
        matches!(self, Self::SecOc { profile, .. } if profile.freshness().needs_master())
    }

    /// True if a frame recorded earlier passes again.
    pub const fn is_replayable(&self) -> bool {
        match self {
            Self::None => true,
            Self::SecOc { profile, .. } => profile.is_replayable(),
        }
    }
}
