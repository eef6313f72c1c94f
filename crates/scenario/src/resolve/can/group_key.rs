//! The group that comes to a key.

use chronoseal_core::{Duration, NodeId};
use chronoseal_crypto::suite::SuiteName;
use chronoseal_groupkey::{Installation, OrchestrationSigning, Profile, Scheme, Transport};

use super::Resolver;
use crate::plan::{GroupChange, GroupKeyPlan, NodePlan, StreamPlan};
use crate::problem::Code;
use crate::source::at;
use crate::spec::{
    CanFormatSpec, GroupKeyProfileSpec, GroupKeySpec, InstallationSpec, NetworkSpec, OrchestrationSpec, SchemeSpec,
    SuiteSpec,
};

impl Resolver<'_> {
    pub(super) fn group_key(
        &mut self,
        nodes: &[NodePlan],
        background: &[StreamPlan],
        duration: Duration,
    ) -> Option<GroupKeyPlan> {
        let spec = self.spec.group_key.as_ref()?;
        let orchestrator = self.can_node(&spec.orchestrator, nodes, at!["group_key", "orchestrator"]);
        let scheme = match spec.scheme {
            SchemeSpec::FullTree => Scheme::FullTree,
            SchemeSpec::WithoutOrchestrator => Scheme::WithoutOrchestrator,
            SchemeSpec::Symmetric => Scheme::Symmetric,
        };
        let profile = match spec.profile {
            GroupKeyProfileSpec::Hardened => Profile::Hardened,
            GroupKeyProfileSpec::AsPublished => Profile::AsPublished,
        };
        let members = self.members(spec, nodes, background, orchestrator);
        if members.len() < 2 || members.len() > scheme.members_max() {
            self.report(
                Code::BadGroup,
                at!["group_key", "scheme"],
                format!("the group has {} members; scheme `{}` takes 2 to {}", members.len(), scheme.name(), scheme.members_max()),
                "not this many",
                "one-byte addresses hold every unit, every logical unit and the orchestrator: split the bus, or choose another scheme",
            );
        }
        let changes = self.changes(spec, nodes, &members, duration);
        Some(GroupKeyPlan {
            orchestrator,
            members,
            suite: match spec.suite {
                SuiteSpec::FourQ => SuiteName::FourQ,
                SuiteSpec::P256 => SuiteName::P256,
                SuiteSpec::X25519Ed25519 => SuiteName::X25519Ed25519,
            },
            scheme,
            profile,
            transport: self.transport(spec),
            signing: match spec.orchestration {
                OrchestrationSpec::PerStep => OrchestrationSigning::PerStep,
                OrchestrationSpec::Ahead => OrchestrationSigning::Ahead,
                OrchestrationSpec::Once => OrchestrationSigning::Once,
            },
            installation: match (spec.installation, profile) {
                (Some(InstallationSpec::Confirmed), _) | (None, Profile::Hardened) => Installation::Confirmed,
                (Some(InstallationSpec::Unconfirmed), _) | (None, Profile::AsPublished) => Installation::Unconfirmed,
            },
            start: self.instant(at!["group_key", "start"], "the start", spec.start.0),
            changes,
        })
    }

    fn transport(&mut self, spec: &GroupKeySpec) -> Transport {
        let switches = matches!(&self.spec.network, NetworkSpec::CanBus(bus) if bus.data_bit_rate.is_some());
        match spec.format {
            Some(CanFormatSpec::Classical) => Transport::Classical,
            None if !switches => Transport::Classical,
            None => Transport::Fd,
            Some(_) => {
                self.frame_kind(at!["group_key", "format"], CanFormatSpec::FdBrs);
                Transport::Fd
            }
        }
    }

    fn members(
        &mut self,
        spec: &GroupKeySpec,
        nodes: &[NodePlan],
        background: &[StreamPlan],
        orchestrator: NodeId,
    ) -> Vec<NodeId> {
        let Some(names) = &spec.members else {
            let plays = |node: NodeId| background.iter().any(|recording| recording.sender == node);
            return (0..nodes.len() as u16).map(NodeId).filter(|node| *node != orchestrator && !plays(*node)).collect();
        };
        let mut members = Vec::new();
        for (k, name) in names.iter().enumerate() {
            let path = at!["group_key", "members", k];
            let member = self.can_node(name, nodes, path);
            if member == orchestrator || members.contains(&member) {
                self.report(
                    Code::BadGroup,
                    path,
                    format!("`{name}` is the orchestrator, or stands here twice"),
                    "not another member",
                    "name each other node once",
                );
                continue;
            }
            members.push(member);
        }
        members
    }

    fn changes(
        &mut self,
        spec: &GroupKeySpec,
        nodes: &[NodePlan],
        members: &[NodeId],
        duration: Duration,
    ) -> Vec<GroupChange> {
        let mut changes: Vec<GroupChange> = Vec::new();
        for (k, change) in spec.changes.iter().enumerate() {
            let path = at!["group_key", "changes", k];
            let (name, key, returns) = match (&change.remove, &change.add) {
                (Some(name), None) => (name, "remove", false),
                (None, Some(name)) => (name, "add", true),
                _ => {
                    self.report(
                        Code::ChooseOne,
                        path,
                        "a change of the group is exactly one of `remove`, `add`",
                        "not exactly one",
                        "write `{ at = \"1s\", remove = \"ecu2\" }`",
                    );
                    continue;
                }
            };
            let member = self.can_node(name, nodes, at!["group_key", "changes", k, key]);
            let at = self.instant(at!["group_key", "changes", k, "at"], "the time of the change", change.at.0);
            let latest = changes.last().map_or(spec.start.0, |earlier| earlier.at);
            if at <= latest || at >= duration {
                self.report(
                    Code::BadGroup,
                    at!["group_key", "changes", k, "at"],
                    format!("the change at {at} does not lie between {latest} and the end of the run"),
                    "out of order",
                    "write changes in time, after the start and before the end",
                );
            }
            let was_thrown_out =
                changes.iter().rev().find(|earlier| earlier.member == member).is_some_and(|earlier| !earlier.returns);
            if !members.contains(&member) || was_thrown_out != returns {
                self.report(
                    Code::BadGroup,
                    at!["group_key", "changes", k, key],
                    format!("`{name}` is {} the group then", if returns { "already in" } else { "not in" }),
                    "not possible",
                    "remove a member that is in the group; add one that was removed before",
                );
            }
            changes.push(GroupChange { at, member, returns });
        }
        changes
    }
}
