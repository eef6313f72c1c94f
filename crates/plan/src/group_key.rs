//! How stations come to a common key, and who counts freshness for them.

use chronoseal_core::{Duration, NodeId, StreamId};
use chronoseal_crypto::suite::SuiteName;
use chronoseal_frameauth::TripResetLayout;
use chronoseal_groupkey::{FailedRemoval, Installation, OrchestrationSigning, Profile, Scheme, Transport};
use chronoseal_wire::can::{CanId, ExtendedId, IdFilter};

use crate::SegmentId;

/// The identifiers of a key exchange: 29 bits, of which the first is 0.
pub const EXCHANGE_IDS: IdFilter = IdFilter { id: CanId::Extended(ExtendedId::ZERO), mask: 1 << 28 };

/// How the stations come to a common key.
#[derive(Clone, Debug)]
pub struct GroupKeyPlan {
    /// Who orchestrates.
    pub orchestrator: NodeId,
    /// The members, by their places in the tree: those of the start, then those that come in later.
    pub members: Vec<NodeId>,
    /// The segments that carry the exchange, the orchestrator's first.
    pub segments: Vec<SegmentId>,
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
    /// What becomes of the key in use when a removal fails.
    pub failed_removal: FailedRemoval,
    /// When it begins.
    pub start: Duration,
    /// Changes, in time.
    pub changes: Vec<GroupChange>,
}

impl GroupKeyPlan {
    /// The change with which a node comes into the group; `None` if it is in from the start, or never.
    pub fn merge_of(&self, node: NodeId) -> Option<&GroupChange> {
        self.changes.iter().find(|change| change.kind == ChangeKind::Merge && change.members.contains(&node))
    }

    /// From when a node is out of the group, and until when it is asked in; `None` where nobody asks it.
    pub fn absences(&self, node: NodeId) -> impl Iterator<Item = (Duration, Option<Duration>)> {
        let before = self.merge_of(node).map(|merge| (Duration::ZERO, Some(merge.at)));
        before.into_iter().chain(self.removals(node))
    }

    /// When a node is thrown out of the group, and until when; `None` where nobody asks it in again.
    pub fn removals(&self, node: NodeId) -> impl Iterator<Item = (Duration, Option<Duration>)> {
        let is_its = move |change: &&GroupChange| change.members.contains(&node);
        let removals = self.changes.iter().enumerate().filter(move |(_, change)| is_its(change) && !change.admits());
        removals.map(move |(index, change)| {
            let back = self.changes[index..].iter().filter(is_its).find(|later| later.admits());
            (change.at, back.map(|back| back.at))
        })
    }

    /// The members that are in the group from the start.
    pub fn founders(&self) -> impl Iterator<Item = NodeId> {
        self.members.iter().copied().filter(|member| self.merge_of(*member).is_none())
    }
}

/// Trip and reset counters: who counts, and who follows.
#[derive(Clone, Debug)]
pub struct FreshnessPlan {
    /// Who counts and sends the synchronisation message.
    pub master: NodeId,
    /// Who else sends or receives a message with these counters in its freshness value.
    pub slaves: Vec<NodeId>,
    /// The synchronisation message.
    pub stream: StreamId,
    /// Its identifier.
    pub id: CanId,
    /// Widths of the counters.
    pub layout: TripResetLayout,
    /// What of the authenticator it carries `[bit]`.
    pub tag_bits: u16,
    /// Distance of two synchronisation messages: the reset cycle.
    pub period: Duration,
    /// True if its key is the group key, false if it is drawn from the seed and everybody has it from the start.
    pub under_group_key: bool,
}

/// A change of the group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GroupChange {
    /// When.
    pub at: Duration,
    /// Who: one node, or those that are merged with the group.
    pub members: Vec<NodeId>,
    /// What.
    pub kind: ChangeKind,
}

impl GroupChange {
    /// True if somebody comes in, false if somebody is thrown out.
    pub const fn admits(&self) -> bool {
        matches!(self.kind, ChangeKind::Add | ChangeKind::Merge)
    }
}

/// What a change of the group does to a member.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChangeKind {
    /// Throws it out.
    Remove,
    /// Takes it back.
    Add,
    /// Throws it out for good: its credential is not accepted again.
    Revoke,
    /// Takes it in for the first time.
    Merge,
}

/// What an attacker does to the exchange of keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExchangeAttack {
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
