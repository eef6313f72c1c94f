//! The master of trip and reset counters.

use chronoseal_core::{Duration, NodeId};
use chronoseal_frameauth::secoc;

use super::Resolver;
use crate::plan::{CanHop, FreshnessPlan, GroupKeyPlan, NodePlan, ProtectionPlan, StreamPlan};
use crate::problem::Code;
use crate::source::at;
use crate::spec::{FreshnessMasterSpec, SecOcKeySpec};

const PERIOD_DEFAULT: Duration = Duration::from_ms(100);
const PERIOD_MIN: Duration = Duration::from_ms(1);
const PERIOD_MAX: Duration = Duration::from_s(10);
/// Urgent, and out of the way of identifiers that a bus has for its most urgent messages.
const ID_DEFAULT: &str = "0x010";

impl Resolver<'_> {
    /// The master and its slaves; `None` if no message needs one, or there is no node for it.
    pub(super) fn freshness(
        &mut self,
        nodes: &[NodePlan],
        messages: &[StreamPlan],
        protections: &[ProtectionPlan],
        group: Option<&GroupKeyPlan>,
        duration: Duration,
    ) -> Option<FreshnessPlan> {
        let absent = FreshnessMasterSpec::default();
        let written = self.spec.freshness.as_ref();
        let spec = written.unwrap_or(&absent);
        let needing: Vec<(usize, &StreamPlan)> = messages
            .iter()
            .enumerate()
            .filter(|(_, message)| protections[usize::from(message.protection.0)].needs_master())
            .collect();
        let (first, _) = *needing.first()?;
        let master = match (&spec.master, group) {
            (Some(name), _) => self.can_node(name, nodes, at!["freshness", "master"]),
            (None, Some(group)) => group.orchestrator,
            (None, None) => {
                self.report(
                    Code::BadFreshness,
                    at!["messages", first, "protection"],
                    "profile 3 takes its freshness from trips and resets, and nobody counts them",
                    "has no master",
                    "add `[freshness]` with `master = \"...\"`, or write `profile = 1`",
                );
                return None;
            }
        };
        let mut slaves: Vec<NodeId> = needing
            .iter()
            .flat_map(|(_, message)| message.receivers.iter().chain([&message.sender]).copied())
            .filter(|node| *node != master)
            .collect();
        slaves.sort();
        slaves.dedup();

        let id = self.can_id(at!["freshness", "id"], spec.id.as_deref().unwrap_or(ID_DEFAULT), false);
        let has_id = |hop: &CanHop| matches!(hop, CanHop::Message { id: known, .. } if *known == id);
        let is_taken = |message: &StreamPlan| message.hops.iter().filter_map(|hop| hop.facet.get()).any(has_id);
        if let Some(taken) = messages.iter().position(is_taken) {
            self.report(
                Code::BadCanId,
                at!["messages", taken, "id"],
                "the synchronisation message of `[freshness]` has this identifier",
                "taken",
                "give one of them another: `id` of `[freshness]`, or of the message",
            );
        }
        let period = spec.period.map_or(PERIOD_DEFAULT, |period| period.0);
        let period = self.within(at!["freshness", "period"], "the period", period, PERIOD_MIN, PERIOD_MAX);
        self.resets_last(period, duration);
        let under_group_key = match (spec.key, group) {
            (Some(SecOcKeySpec::PreShared), _) | (None, None) => false,
            (_, Some(group)) => {
                self.all_in_group(nodes, group, master, &slaves);
                true
            }
            (Some(SecOcKeySpec::GroupKey), None) => {
                self.report(
                    Code::BadGroup,
                    at!["freshness", "key"],
                    "there is no group key in this scenario",
                    "no such key",
                    "add `[group_key]`, or write `key = \"pre-shared\"`",
                );
                false
            }
        };
        Some(FreshnessPlan { master, slaves, id, period, under_group_key })
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
        if self.spec.freshness.is_some() { "freshness" } else { "group_key" }
    }
}
