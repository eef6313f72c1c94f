//! The master of trip and reset counters.

use chronoseal_core::{Duration, NodeId};
use chronoseal_frameauth::secoc;

use super::streams::Streams;
use crate::kinds::{Context, Segment, SynchronisationRequest};
use crate::plan::{
    DeadlineKind, FreshnessPlan, GroupKeyPlan, HopPlan, NodePlan, PayloadPlan, ProtectionId, ProtectionPlan, StreamPlan,
};
use crate::problem::Code;
use crate::source::at;
use crate::spec::FreshnessMasterSpec;

const PERIOD_DEFAULT: Duration = Duration::from_ms(100);
const PERIOD_MIN: Duration = Duration::from_ms(1);
const PERIOD_MAX: Duration = Duration::from_s(10);

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
}

impl Context<'_> {
    /// The master and its slaves, and the message that goes between them; `None` if no stream needs one, or there is no node
    /// for it.
    #[allow(clippy::too_many_arguments, reason = "everything that counters depend on")]
    pub(super) fn freshness(
        &mut self,
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
        let mut slaves: Vec<NodeId> = needing
            .iter()
            .flat_map(|counted| counted.hop.to.iter().chain([&counted.hop.from]).copied())
            .filter(|node| *node != master)
            .collect();
        slaves.sort();
        slaves.dedup();

        let segment = self.counted_segment(&needing, segments, master, nodes)?;
        let hops = (streams.entries.iter().copied().zip(&streams.plans))
            .flat_map(|(entry, stream)| stream.hops.iter().map(move |hop| (entry, hop)))
            .filter(|(_, hop)| hop.segment == segment.id)
            .collect();
        let request = SynchronisationRequest { segment, id: spec.id.as_deref(), hops };
        let (id, parts) = segment.kind.synchronisation(&request, self)?;
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
            min_distance: None,
            deadline: Some(period),
            deadlines: Vec::new(),
            deadline_kind: DeadlineKind::default(),
            length: parts.frame_len,
            payload: PayloadPlan::Synthetic,
            protection: ProtectionId(0),
            hops: vec![HopPlan {
                segment: segment.id,
                from: master,
                to: slaves.clone(),
                frame_len: parts.frame_len,
                class: parts.class,
                facet: parts.facet,
                previous: None,
                protection: None,
            }],
        };
        Some((FreshnessPlan { master, slaves, id, period, under_group_key }, stream))
    }

    /// The segment that all streams with counters travel on, and the master is on.
    fn counted_segment<'a>(
        &mut self,
        needing: &[Counted<'_>],
        segments: &'a [Segment<'_>],
        master: NodeId,
        nodes: &[NodePlan],
    ) -> Option<&'a Segment<'a>> {
        let on = needing.first()?.hop.segment;
        let segment = segments.iter().find(|segment| segment.id == on)?;
        // From end to end over several segments is a problem of its own.
        let elsewhere = |counted: &&Counted<'_>| {
            counted.hop.segment != on && (counted.hop.protection.is_some() || !counted.stream.is_relayed())
        };
        if let Some(counted) = needing.iter().find(elsewhere) {
            self.report(
                Code::NotYet,
                at!["streams", counted.entry, "protection"],
                format!(
                    "stream `{}` needs counters on another segment than `{}`, and they are announced on one so far",
                    counted.stream.name, segment.name
                ),
                "not there yet",
                "write `profile = 1` for this stream",
            );
        } else if !nodes[master.index()].interfaces.contains(&on) {
            self.report(
                Code::BadFreshness,
                at![self.freshness_table(), "master"],
                format!("`{}` counts for streams on `{}` and is not on it", nodes[master.index()].name, segment.name),
                "not on that segment",
                format!("name a node on `{}`", segment.name),
            );
        }
        Some(segment)
    }

    /// The reset counter lasts for the run: a master cannot go on when it is at its end.
    fn resets_last(&mut self, period: Duration, duration: Duration) {
        let resets = (1i64 << secoc::JASPAR.reset_bits) - 1;
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
        if let Some(change) = group.changes.iter().find(|change| !change.returns && change.member == master) {
            self.report(
                Code::BadFreshness,
                at![self.freshness_table(), "master"],
                format!("`{}` counts for all, and is thrown out of the group at {}", name(master), change.at),
                "nobody follows it then",
                "let the orchestrator count, or write `key = \"pre-shared\"` under `[freshness]`",
            );
        }
    }

    /// The table to point at: its keys have defaults.
    const fn freshness_table(&self) -> &'static str {
        if self.spec.freshness.is_some() { "freshness" } else { "keys" }
    }
}
