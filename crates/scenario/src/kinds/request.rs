//! What a kind of segment is asked.

use std::ops::Range;

use chronoseal_core::{Duration, NodeId, StreamId};
use chronoseal_frameauth::DataId;
use chronoseal_nodes::{Protection, ProtectionError};
use chronoseal_plan::{
    AttackPlace, HopPlan, NodePlan, ProtectionKind, ProtectionPlan, SegmentId, StreamPlan, ThreatKind,
};

use super::{Context, Place, SegmentKind, SegmentParts, Table};
use crate::load::Files;
use crate::problem::Code;
use crate::spec::StreamSpec;

/// A segment to be resolved.
pub struct SegmentRequest<'a> {
    /// Its number.
    pub id: SegmentId,
    /// Its name.
    pub name: &'a str,
    /// What the scenario says of it.
    pub table: Table<'a>,
    /// Every node of the scenario, tasks still left out; those on the segment have it among their interfaces.
    pub nodes: &'a [NodePlan],
    /// True if there is no other segment of this kind.
    pub is_only_one: bool,
    /// What the scenario refers to by path.
    pub files: &'a dyn Files,
}

impl<'a> SegmentRequest<'a> {
    /// The nodes on the segment with their numbers.
    pub fn nodes_on_it(&self) -> impl Iterator<Item = (usize, &'a NodePlan)> {
        let id = self.id;
        self.nodes.iter().enumerate().filter(move |(_, node)| node.interfaces.contains(&id))
    }
}

/// A segment that is resolved.
pub struct Segment<'a> {
    /// Its number.
    pub id: SegmentId,
    /// Its name.
    pub name: &'a str,
    /// Its kind.
    pub kind: &'a dyn SegmentKind,
    /// What the scenario says of it.
    pub table: Table<'a>,
    /// What its kind made of it; `None` if that was not possible.
    pub parts: Option<SegmentParts>,
    /// True if there is no other segment of this kind.
    pub is_only_one: bool,
    /// The numbers of the nodes that came with it.
    pub(crate) brought: Range<u16>,
    /// True if a stream needs a table for it.
    pub(crate) needs_table: bool,
}

impl Segment<'_> {
    /// What its kind knows, if it is of this type.
    pub fn facet<T: 'static>(&self) -> Option<&T> {
        self.parts.as_ref()?.facet.get()
    }

    /// What its kind remembers, if it is of this type.
    pub fn memo<T: 'static>(&self) -> Option<&T> {
        self.parts.as_ref()?.memo.as_ref()?.get()
    }
}

/// A stream's way over a segment, to be resolved.
pub struct HopRequest<'a> {
    /// The segment.
    pub segment: &'a Segment<'a>,
    /// The stream's table for it.
    pub table: Table<'a>,
    /// The stream.
    pub stream: &'a StreamRequest<'a>,
    /// True if the stream begins there.
    pub is_first: bool,
    /// True if gateways carry the stream over several segments: its payload is a PDU, whole in a frame of this one.
    pub is_relayed: bool,
    /// If its frames are those in which a gateway collects PDUs of several streams, as many as one has room for: how far apart they
    /// are on average, at least.
    pub collected_every: Option<Duration>,
    /// The protection whose bytes the stream's frames have there.
    pub protection: &'a ProtectionPlan,
    /// Where the scenario names it.
    pub protection_at: Place<'a>,
    /// True if who sends and receives it there seals and opens it; false if frames only pass with what was sealed before.
    pub is_sealed_here: bool,
}

impl HopRequest<'_> {
    /// Refuses a protection that the stations of such a segment cannot have, by their own `check`.
    pub fn judge_protection(
        &self,
        check: impl FnOnce(&Protection) -> Result<(), ProtectionError>,
        context: &mut Context<'_>,
    ) {
        let ProtectionKind::Secured { profile, key, .. } = &self.protection.kind else { return };
        let key = key.of_stream(context.seed(), StreamId::NONE);
        let protection = Protection::Secured { profile: *profile, key, data_id: DataId::number(0) };
        let Some(error) = check(&protection).err().filter(|_| self.is_sealed_here) else { return };
        let (code, label, help) = match error {
            ProtectionError::CycleCounterOnCan | ProtectionError::CycleCounterOnLink => (
                Code::FreshnessWithoutSlot,
                "needs slots",
                "name a protection with `freshness = { rising = { sent = \"1B\" } }`, `\"full\"` or `{ truncated = \"2B\" }`",
            ),
            ProtectionError::TripResetOnEthernet | ProtectionError::TripResetOnLink => (
                Code::BadFreshness,
                "no master is heard",
                "name a protection with `freshness = { rising = { sent = \"1B\" } }`, `\"full\"` or `{ truncated = \"2B\" }`",
            ),
            ProtectionError::GroupKeyOnEthernet | ProtectionError::GroupKeyOnLink => {
                (Code::WrongNetwork, "under the group key", "write `key = \"pre-shared\"` for the protection")
            }
            _ => (Code::BadKey, "cannot be keyed", "name a protection with another algorithm or key"),
        };
        let on = self.segment.name;
        let message = format!("`{}` cannot be used on `{on}`: {error}", self.protection.name);
        context.report(code, &self.protection_at, message, label, help);
    }
}

/// A stream, or several alike, while it is resolved.
#[derive(Clone, Debug)]
pub struct StreamRequest<'a> {
    /// Which of the scenario's entries.
    pub entry: usize,
    /// What was written.
    pub spec: &'a StreamSpec,
    /// Distance of two frames.
    pub period: Duration,
    /// Payload before protection `[byte]`.
    pub payload_len: u32,
    /// How it is protected from its sender to its receivers; how on one of its hops is in [`HopRequest`].
    pub protection: &'a ProtectionPlan,
}

impl StreamRequest<'_> {
    /// Where one of its keys stands.
    pub fn at<'k>(&self, key: &'k str) -> Place<'k> {
        Place::new("streams").entry(self.entry).key(key)
    }
}

/// A stream on a segment, when all streams are known.
#[derive(Debug)]
pub struct OnSegment<'a> {
    /// Which of the scenario's entries it comes from.
    pub entry: usize,
    /// Which of those alike it is, from 0.
    pub number: u32,
    /// How many are alike.
    pub count: u32,
    /// Its name.
    pub name: &'a str,
    /// Distance of two frames.
    pub period: Duration,
    /// How it is protected there.
    pub protection: &'a ProtectionPlan,
    /// Its way over the segment.
    pub hop: &'a mut HopPlan,
}

impl OnSegment<'_> {
    /// Where a key of its table for the segment stands.
    pub fn at<'k>(&self, segment: &Segment<'k>, key: &'k str) -> Place<'k> {
        Place::new("streams").entry(self.entry).key(segment.name).key(key)
    }
}

/// A frame in which PDUs of several streams leave a gateway.
pub struct CollectRequest<'a> {
    /// The segment it leaves on.
    pub segment: &'a Segment<'a>,
    /// The table of the entry for the segment.
    pub table: Table<'a>,
    /// The frame's way over the segment.
    pub hop: &'a mut HopPlan,
    /// How far apart such frames are on average, at least.
    pub every: Duration,
    /// All other frames there.
    pub others: Vec<OtherFrame<'a>>,
}

/// A frame that is on a segment beside one in which a gateway collects.
pub struct OtherFrame<'a> {
    /// Where it is addressed.
    pub place: Place<'a>,
    /// Which of the scenario's streams it is of; `None` for one that has no entry there.
    pub entry: Option<usize>,
    /// Distance of two of them.
    pub period: Duration,
    /// Its way over the segment.
    pub hop: &'a mut HopPlan,
}

/// An attack, to be resolved.
pub struct ThreatRequest<'a> {
    /// Which of the scenario's entries.
    pub entry: usize,
    /// Its name.
    pub name: &'a str,
    /// What it does.
    pub kind: ThreatKind,
    /// Where the attacker sits.
    pub place: AttackPlace,
    /// The segment of this place.
    pub segment: &'a Segment<'a>,
    /// The attack's table for it.
    pub table: Table<'a>,
    /// The stream it aims at.
    pub stream: Option<&'a StreamPlan>,
    /// Every protection of the plan.
    pub protections: &'a [ProtectionPlan],
    /// The nodes.
    pub nodes: &'a [NodePlan],
}

impl ThreatRequest<'_> {
    /// Where one of its keys stands.
    pub fn at<'k>(&self, key: &'k str) -> Place<'k> {
        Place::new("threats").entry(self.entry).key(key)
    }

    /// What the stream's protection adds to a frame on the segment `[byte]`.
    pub fn overhead(&self) -> u32 {
        let own = self.hop().and_then(|hop| hop.protection);
        let number = own.or(self.stream.map(|stream| stream.protection));
        number.map_or(0, |number| self.protections[usize::from(number.0)].overhead_bytes())
    }

    /// The way of its stream over the segment.
    pub fn hop(&self) -> Option<&HopPlan> {
        self.stream?.hops.iter().find(|hop| hop.segment == self.segment.id)
    }
}

/// Recorded traffic, to be replayed.
pub struct TrafficRequest<'a> {
    /// Which of the scenario's recordings.
    pub entry: usize,
    /// The segment it is replayed on.
    pub segment: &'a Segment<'a>,
    /// Where its bytes come from, for people.
    pub source: &'a str,
    /// The key that names them.
    pub at: Place<'a>,
    /// The bytes.
    pub bytes: &'a [u8],
    /// Which of its flows, as the scenario names it.
    pub flow: Option<&'a str>,
    /// Where the scenario does.
    pub flow_at: Place<'a>,
    /// When it begins.
    pub start: Duration,
    /// It starts again after this; `None`: as long as it is, and the usual gap.
    pub every: Option<Duration>,
    /// Who plays it.
    pub sender: NodeId,
    /// Who receives it, or takes note of it.
    pub receivers: &'a [NodeId],
}

/// The message that announces trip and reset counters.
pub struct SynchronisationRequest<'a> {
    /// The segment.
    pub segment: &'a Segment<'a>,
    /// The identifier that was written.
    pub id: Option<&'a str>,
    /// Its counters and its tag, in whole bytes `[byte]`.
    pub len: usize,
    /// The entries of all streams on the segment, with their way over it.
    pub hops: Vec<(usize, &'a HopPlan)>,
}
