//! The master of trip and reset counters.

use std::ops::RangeInclusive;

use chronoseal_core::{Duration, NodeId, StreamId};
use chronoseal_frameauth::secoc;
use chronoseal_plan::{
    ChangeKind, DeadlineKind, FreshnessPlan, GroupChange, GroupKeyPlan, HopPlan, NodePlan, PayloadPlan, ProtectionId,
    ProtectionPlan, SegmentId, StreamPlan,
};
use chronoseal_wire::can::CanId;

use super::streams::Streams;
use super::ways::{self, Step, WayError};
use crate::kinds::{Context, Segment, SynchronisationRequest};
use crate::problem::Code;
use crate::source::at;
use crate::spec::FreshnessMasterSpec;

const PERIOD_DEFAULT: Duration = Duration::from_ms(100);
const PERIOD_MIN: Duration = Duration::from_ms(1);
const PERIOD_MAX: Duration = Duration::from_s(10);

/// Authenticators of the synchronisation message `[bit]`.
const TAG_BITS: RangeInclusive<u32> = 1..=secoc::TAG_BITS_MAX as u32;
/// That of AUTOSAR's profile 3 `[bit]`.
const TAG_BITS_DEFAULT: u16 = 28;

/// What of its authenticator the synchronisation message carries, held between its limits `[bit]`.
fn announced_tag(spec: &FreshnessMasterSpec) -> u16 {
    let written = spec.authenticator.map(|bits| bits.0.0.clamp(*TAG_BITS.start(), *TAG_BITS.end()) as u16);
    written.unwrap_or(TAG_BITS_DEFAULT)
}

/// A hop of a stream whose protection there may need counters.
struct Counted<'a> {
    entry: usize,
    stream: &'a StreamPlan,
    hop: &'a HopPlan,
}

impl Counted<'_> {
    fn protection<'p>(&self, protections: &'p [ProtectionPlan]) -> &'p ProtectionPlan {
        &protections[usize::from(self.hop.protection.unwrap_or(self.stream.protection).0)]
    }

    /// Who seals or opens frames on the hop, and where. Gateways pass what is protected from end to end.
    fn ends(&self) -> impl Iterator<Item = (NodeId, SegmentId)> {
        let (stream, hop) = (self.stream, self.hop);
        let is_end =
            |node: &NodeId| hop.protection.is_some() || *node == stream.sender || stream.receivers.contains(node);
        hop.to.iter().chain([&hop.from]).copied().filter(move |node| is_end(node)).map(|node| (node, hop.segment))
    }
}

impl Context<'_> {
    /// The master and its slaves, and the message that goes between them, which is stream `number`; `None` if no stream needs one, or there is no node
    /// for it.
    #[allow(clippy::too_many_arguments, reason = "everything that counters depend on")]
    pub(super) fn freshness(
        &mut self,
        number: StreamId,
        nodes: &[NodePlan],
        segments: &[Segment<'_>],
        streams: &Streams,
        protections: &[ProtectionPlan],
        key: Option<&str>,
        group: Option<&GroupKeyPlan>,
        duration: Duration,
    ) -> Option<(FreshnessPlan, StreamPlan)> {
        let absent = FreshnessMasterSpec::default();
        let written = self.spec.freshness.as_ref();
        let spec = written.unwrap_or(&absent);
        let needing: Vec<Counted<'_>> = (streams.entries.iter().copied().zip(&streams.plans))
            .flat_map(|(entry, stream)| stream.hops.iter().map(move |hop| Counted { entry, stream, hop }))
            .filter(|counted| counted.protection(protections).needs_master())
            .collect();
        let first = needing.first()?.entry;
        // A protection that a segment cannot have is a problem of its own.
        let can_be = |segment: SegmentId| segments[segment.index()].kind.rules().announces_counters;
        if !needing.iter().flat_map(Counted::ends).all(|(_, segment)| can_be(segment)) {
            return None;
        }
        let master = match (&spec.master, group) {
            (Some(name), _) => self.node(name, nodes, at!["freshness", "master"]),
            (None, Some(group)) => group.orchestrator,
            (None, None) => {
                self.report(
                    Code::BadFreshness,
                    at!["streams", first, "protection"],
                    "profile 3 takes its freshness from trips and resets, and nobody counts them",
                    "has no master",
                    "add `[freshness]` with `master = \"...\"`, or write `profile = 1`",
                );
                return None;
            }
        };
        let mut slaves: Vec<NodeId> =
            needing.iter().flat_map(Counted::ends).map(|(node, _)| node).filter(|node| *node != master).collect();
        slaves.sort();
        slaves.dedup();

        let steps = self.announced(&needing, segments, master, &slaves, nodes)?;
        let (id, hops) = self.announcements(spec, &steps, streams, segments)?;
        let period = spec.period.map_or(PERIOD_DEFAULT, |period| period.0);
        let period = self.within(at!["freshness", "period"], "the period", period, PERIOD_MIN, PERIOD_MAX);
        self.resets_last(period, duration);
        let under_group_key = self.is_under(at!["freshness", "key"], spec.key.as_deref(), key);
        if let (true, Some(group)) = (under_group_key, group) {
            self.all_in_group(nodes, group, master, &slaves);
        }
        // It is sealed in a way of its own, which no protection of the scenario describes.
        let stream = StreamPlan {
            sent_by: None,
            name: "freshness".into(),
            sender: master,
            receivers: slaves.clone(),
            period,
            offset: None,
            has_offset: false,
            application: None,
            min_distance: None,
            trigger: None,
            deadline: Some(period),
            deadlines: Vec::new(),
            deadline_kind: DeadlineKind::default(),
            length: hops.first().map_or(0, |hop| hop.frame_len),
            payload: PayloadPlan::Synthetic,
            protection: ProtectionId(0),
            hops,
        };
        let (layout, tag_bits) = (self.counters(), self.announced_tag(spec));
        Some((FreshnessPlan { master, slaves, stream: number, id, layout, tag_bits, period, under_group_key }, stream))
    }

    /// The way of the synchronisation message from the master to all who need it.
    fn announced(
        &mut self,
        needing: &[Counted<'_>],
        segments: &[Segment<'_>],
        master: NodeId,
        slaves: &[NodeId],
        nodes: &[NodePlan],
    ) -> Option<Vec<Step>> {
        let name = |node: NodeId| nodes[node.index()].name.as_str();
        let on = |segment: SegmentId| segments.iter().find(|known| known.id == segment).map_or("", |known| known.name);
        let first = needing.first().map(|counted| on(counted.hop.segment)).unwrap_or_default();
        let steps = match ways::tree(nodes, master, slaves, None) {
            Ok(steps) => steps,
            Err(WayError::None { receiver, .. } | WayError::Several { receiver, .. }) => {
                self.report(
                    Code::BadFreshness,
                    at![self.freshness_table(), "master"],
                    format!(
                        "`{}` counts for streams of `{}`, and there is no single way for its messages to get there",
                        name(master),
                        name(receiver)
                    ),
                    "not within reach",
                    format!("name a node on `{first}`"),
                );
                return None;
            }
        };
        if steps.iter().filter(|step| step.previous.is_none()).count() > 1 {
            self.report(
                Code::NotYet,
                at![self.freshness_table(), "master"],
                format!("`{}` would announce counters on several segments at once", name(master)),
                "not there yet",
                format!("name a node on `{first}` alone: gateways take its messages to the others"),
            );
            return None;
        }
        let hears = |node: NodeId, segment: SegmentId| {
            let is_there = |step: &Step| {
                let begins = node == master && step.from == master && step.previous.is_none();
                step.segment == segment && (begins || step.to.contains(&node))
            };
            steps.iter().any(is_there)
        };
        let deaf = needing.iter().find_map(|counted| {
            let end = counted.ends().find(|(node, segment)| !hears(*node, *segment))?;
            Some((counted, end))
        });
        if let Some((counted, (node, segment))) = deaf {
            self.report(
                Code::NotYet,
                at!["streams", counted.entry, "protection"],
                format!(
                    "stream `{}` needs counters at `{}` on `{}`, which has them on another of its segments",
                    counted.stream.name,
                    name(node),
                    on(segment)
                ),
                "not there yet",
                "write `profile = 1` for this stream",
            );
        }
        Some(steps)
    }

    /// The synchronisation message on each segment of its way.
    fn announcements(
        &mut self,
        spec: &FreshnessMasterSpec,
        steps: &[Step],
        streams: &Streams,
        segments: &[Segment<'_>],
    ) -> Option<(CanId, Vec<HopPlan>)> {
        let mut announced = None;
        let mut hops = Vec::new();
        for step in steps {
            let segment = segments.iter().find(|segment| segment.id == step.segment)?;
            let on_it = (streams.entries.iter().copied().zip(&streams.plans))
                .flat_map(|(entry, stream)| stream.hops.iter().map(move |hop| (entry, hop)))
                .filter(|(_, hop)| hop.segment == segment.id)
                .collect();
            let layout = self.counters();
            let bits = u32::from(layout.trip_bits) + u32::from(layout.reset_bits) + u32::from(announced_tag(spec));
            let len = bits.div_ceil(8) as usize;
            let request = SynchronisationRequest { segment, id: spec.id.as_deref(), len, hops: on_it };
            let Some((id, parts)) = segment.kind.synchronisation(&request, self) else {
                if segment.parts.is_some() {
                    self.report(
                        Code::NotYet,
                        at![self.freshness_table(), "master"],
                        format!(
                            "the messages that announce counters would cross `{}`, and segments of kind `{}` carry none",
                            segment.name,
                            segment.kind.name()
                        ),
                        "not there yet",
                        "write `profile = 1` for streams behind it",
                    );
                }
                return None;
            };
            announced = Some(id);
            hops.push(HopPlan {
                segment: segment.id,
                from: step.from,
                to: step.to.clone(),
                frame_len: parts.frame_len,
                class: parts.class,
                facet: parts.facet,
                previous: step.previous,
                protection: None,
            });
        }
        announced.map(|id| (id, hops))
    }

    /// What of its authenticator the synchronisation message carries, held between its limits `[bit]`.
    fn announced_tag(&mut self, spec: &FreshnessMasterSpec) -> u16 {
        if let Some(bits) = spec.authenticator.map(|bits| bits.0).filter(|bits| !TAG_BITS.contains(&bits.0)) {
            self.report(
                Code::TagLength,
                at!["freshness", "authenticator"],
                format!("an authenticator of {bits} does not go into the synchronisation message"),
                "1bit to 8B",
                "write 1bit to 8B",
            );
        }
        announced_tag(spec)
    }

    /// The reset counter lasts for the run: a master cannot go on when it is at its end.
    fn resets_last(&mut self, period: Duration, duration: Duration) {
        let resets = (1i64 << self.counters().reset_bits) - 1;
        if duration / resets < period {
            return;
        }
        self.report(
            Code::OutOfRange,
            at![self.freshness_table(), "period"],
            format!("{resets} resets of {period} are over before the run is"),
            "too short",
            format!("write more than {}", duration / resets),
        );
    }

    /// Who is not in the group never has the key of the synchronisation message.
    fn all_in_group(&mut self, nodes: &[NodePlan], group: &GroupKeyPlan, master: NodeId, slaves: &[NodeId]) {
        let name = |node: NodeId| &nodes[node.index()].name;
        let is_outside = |node: &NodeId| *node != group.orchestrator && !group.members.contains(node);
        if let Some(outside) = [master].iter().chain(slaves).find(|node| is_outside(node)) {
            self.report(
                Code::BadFreshness,
                at![self.freshness_table(), "key"],
                format!(
                    "`{}` needs the synchronisation message and is not in the group whose key it has",
                    name(*outside)
                ),
                "not everybody's key",
                "make it a member, or write `key = \"pre-shared\"` under `[freshness]`",
            );
        }
        let is_its = |change: &&GroupChange| change.kind != ChangeKind::Add && change.members.contains(&master);
        if let Some(change) = group.changes.iter().find(is_its) {
            let (what, label) = match change.kind {
                ChangeKind::Merge => ("comes into the group only at", "nobody follows it until then"),
                _ => ("is thrown out of the group at", "nobody follows it then"),
            };
            self.report(
                Code::BadFreshness,
                at![self.freshness_table(), "master"],
                format!("`{}` counts for all, and {what} {}", name(master), change.at),
                label,
                "let the orchestrator count, or write `key = \"pre-shared\"` under `[freshness]`",
            );
        }
    }

    /// The table to point at: its keys have defaults.
    const fn freshness_table(&self) -> &'static str {
        if self.spec.freshness.is_some() { "freshness" } else { "keys" }
    }
}
