//! The group that comes to a key.

use chronoseal_core::{Duration, NodeId};
use chronoseal_crypto::suite::SuiteName;
use chronoseal_groupkey::{FailedRemoval, Installation, OrchestrationSigning, Profile, Scheme, Transport};
use chronoseal_plan::{
    ChangeKind, EXCHANGE_IDS, GatewayPlan, GroupKeyPlan, HopPlan, NodePlan, ProtectionPlan, SegmentId, StreamPlan,
    bridged_from,
};

use super::group_changes::{Group, newcomers};
use super::streams::Streams;
use crate::kinds::can::spec::CanFormatSpec;
use crate::kinds::{Context, Place, Segment};
use crate::limits::DURATION_MAX;
use crate::problem::Code;
use crate::source::{Step, at};
use crate::spec::{
    FailSpec, GroupKeyProfileSpec, GroupKeySpec, InstallationSpec, KeySpec, OrchestrationSpec, SchemeSpec, SuiteSpec,
};

/// Where a key of a group's table stands.
pub(super) fn group<'a>(name: &'a str, key: &'a str) -> Place<'a> {
    Place::new("keys").key(name).key("group").key(key)
}

impl<'s> Context<'s> {
    /// The name of the key that nodes have in common: there is one at most so far.
    pub(super) fn key_name(&mut self) -> Option<&'s str> {
        let spec = self.spec;
        let mut names: Vec<&str> = spec.keys.keys().map(String::as_str).collect();
        names.sort_by_key(|name| spec.source.key_start(&["keys", name]));
        for &name in &names {
            self.identifier(name, at!["keys", name], "the key's name");
        }
        for &name in names.iter().skip(1) {
            self.report_both(
                Code::NotYet,
                (at!["keys", name], "one too many"),
                (at!["keys", names[0]], "the first"),
                "a scenario has one common key so far",
                "leave the others out, or make one group of all members",
            );
        }
        names.first().copied()
    }

    /// How the nodes of a group come to the key called `name`.
    pub(super) fn group_key(
        &mut self,
        name: &str,
        nodes: &[NodePlan],
        segments: &[Segment<'_>],
        traffic: &[StreamPlan],
        duration: Duration,
    ) -> Option<GroupKeyPlan> {
        let KeySpec::Group(spec) = self.spec.keys.get(name)?;
        let orchestrator = self.node(&spec.orchestrator, nodes, &group(name, "orchestrator"));
        let exchange = self.exchange_segments(name, spec, orchestrator, nodes, segments);
        let scheme = match spec.scheme {
            SchemeSpec::FullTree => Scheme::FullTree,
            SchemeSpec::WithoutOrchestrator => Scheme::WithoutOrchestrator,
            SchemeSpec::Symmetric => Scheme::Symmetric,
        };
        let profile = match spec.profile {
            GroupKeyProfileSpec::Hardened => Profile::Hardened,
            GroupKeyProfileSpec::AsPublished => Profile::AsPublished,
        };
        let founders = self.members(name, spec, nodes, &exchange, traffic, orchestrator);
        let members_max = scheme.members_max();
        // Without a segment for the exchange nothing can be said of who is on it.
        if !exchange.is_empty() && !(2..=members_max).contains(&founders.len()) {
            self.report(
                Code::BadGroup,
                &group(name, "scheme"),
                format!(
                    "the group has {} members; scheme `{}` takes 2 to {members_max}",
                    founders.len(),
                    scheme.name(),
                ),
                "not this many",
                "one-byte addresses hold every unit, every logical unit and the orchestrator: split the group, or choose \
                 another scheme",
            );
        }
        let changes = self.changes(&Group { name, spec, scheme, orchestrator, founders: &founders }, nodes, duration);
        let newcomers =
            changes.iter().filter(|change| change.kind == ChangeKind::Merge).flat_map(|change| &change.members);
        let members = founders.iter().chain(newcomers).copied().collect();
        Some(GroupKeyPlan {
            orchestrator,
            members,
            segments: exchange.iter().map(|segment| segment.id).collect(),
            suite: match spec.suite {
                SuiteSpec::FourQ => SuiteName::FourQ,
                SuiteSpec::P256 => SuiteName::P256,
                SuiteSpec::X25519Ed25519 => SuiteName::X25519Ed25519,
            },
            scheme,
            profile,
            transport: self.transport(name, spec, &exchange),
            signing: match spec.orchestration {
                OrchestrationSpec::PerStep => OrchestrationSigning::PerStep,
                OrchestrationSpec::Ahead => OrchestrationSigning::Ahead,
                OrchestrationSpec::Once => OrchestrationSigning::Once,
            },
            installation: match spec.installation {
                InstallationSpec::Confirmed => Installation::Confirmed,
                InstallationSpec::Unconfirmed => Installation::Unconfirmed,
            },
            failed_removal: match spec.fail {
                FailSpec::Available => FailedRemoval::Available,
                FailSpec::Closed => FailedRemoval::Closed,
            },
            start: self.instant(&group(name, "start"), "the start", spec.start.0),
            changes,
        })
    }

    /// The segments that carry the exchange, that of the orchestrator first: gateways pass it on to the others.
    fn exchange_segments<'a>(
        &mut self,
        name: &str,
        spec: &GroupKeySpec,
        orchestrator: NodeId,
        nodes: &[NodePlan],
        segments: &'a [Segment<'_>],
    ) -> Vec<&'a Segment<'a>> {
        let carries = |segment: &Segment<'_>| {
            let facet = segment.parts.as_ref().map(|parts| &parts.facet);
            facet.is_some_and(|facet| segment.kind.key_exchange(facet).is_some())
        };
        let Some(own) = nodes.get(orchestrator.index()).map(|node| &node.interfaces) else { return Vec::new() };
        let by_id = |id: SegmentId| segments.iter().find(|segment| segment.id == id);
        let passes = |gateway: &GatewayPlan| gateway.bridges.iter().any(|filter| filter.covers(&EXCHANGE_IDS));
        let from =
            |segment: &Segment<'_>| bridged_from(nodes, segment.id, |other| by_id(other).is_some_and(carries), passes);
        // Who is named as a member, from the start or later, and where.
        let mut members: Vec<(&str, Place<'_>)> = Vec::new();
        for (k, member) in spec.members.iter().flatten().enumerate() {
            members.push((member, group(name, "members").entry(k)));
        }
        for (number, member, k) in newcomers(spec) {
            members.push((member, group(name, "changes").entry(number).key("merge").entry(k)));
        }
        let is_on = |member: &str, reached: &[SegmentId]| {
            let node = nodes.iter().find(|node| node.name == *member);
            node.is_none_or(|node| node.interfaces.iter().any(|on| reached.contains(on)))
        };
        let possible = segments.iter().filter(|segment| own.contains(&segment.id) && carries(segment)).map(from);
        let best = possible.max_by_key(|reached| members.iter().filter(|(name, _)| is_on(name, reached)).count());
        let Some(reached) = best else {
            self.report(
                Code::BadGroup,
                &group(name, "orchestrator"),
                format!("`{}` is on no segment that carries a key exchange", spec.orchestrator),
                "cannot orchestrate",
                "name a node on a CAN segment",
            );
            return Vec::new();
        };
        let exchange: Vec<&Segment<'_>> = reached.iter().filter_map(|id| by_id(*id)).collect();
        if let Some((member, place)) = members.iter().find(|(name, _)| !is_on(name, &reached)) {
            let on = nodes.iter().find(|node| node.name == *member).map_or(&[][..], |node| &node.interfaces);
            let joins = |node: &&NodePlan| {
                let leads = |to: &[SegmentId]| node.interfaces.iter().any(|id| to.contains(id));
                node.gateway.is_some()
                    && leads(&reached)
                    && leads(on)
                    && on.iter().any(|id| by_id(*id).is_some_and(carries))
            };
            self.report(
                Code::BadGroup,
                place,
                format!(
                    "`{member}` is not on `{}`, and no gateway passes the messages of the exchange on to it",
                    exchange.iter().map(|segment| segment.name).collect::<Vec<_>>().join("` or `")
                ),
                "out of reach",
                match nodes.iter().find(joins) {
                    Some(gateway) => {
                        format!("add `bridges = [{{ key = \"{name}\" }}]` to the gateway `{}`", gateway.name)
                    }
                    None => format!("name nodes on `{}` only", exchange[0].name),
                },
            );
        }
        exchange
    }

    /// Refuses streams over gateways whose ends never have the key that protects them.
    pub(super) fn have_key(
        &mut self,
        group: &GroupKeyPlan,
        streams: &Streams,
        protections: &[ProtectionPlan],
        nodes: &[NodePlan],
        segments: &[Segment<'_>],
    ) {
        let has_key = |node: &NodeId| *node == group.orchestrator || group.members.contains(node);
        let is_keyed = |stream: &StreamPlan| protections[usize::from(stream.protection.0)].needs_group_key();
        // An end where nobody can have the key is a problem of its own.
        let can_have = |stream: &StreamPlan| {
            let is_end =
                |hop: &&HopPlan| hop.previous.is_none() || hop.to.iter().any(|node| stream.receivers.contains(node));
            let of = |id: SegmentId| segments.iter().find(|segment| segment.id == id);
            let carries = |segment: &Segment<'_>| {
                segment.parts.as_ref().is_some_and(|parts| segment.kind.key_exchange(&parts.facet).is_some())
            };
            stream.hops.iter().filter(is_end).all(|hop| of(hop.segment).is_some_and(carries))
        };
        let mut known = None;
        for (entry, stream) in streams.entries.iter().copied().zip(&streams.plans) {
            if !stream.is_relayed() || !is_keyed(stream) || !can_have(stream) || known == Some(entry) {
                continue;
            }
            let Some(end) = [stream.sender].iter().chain(&stream.receivers).copied().find(|end| !has_key(end)) else {
                continue;
            };
            known = Some(entry);
            let name = &nodes[end.index()].name;
            self.report(
                Code::BadGroup,
                at!["streams", entry, "protection"],
                format!("stream `{}` is under the group key, and `{name}` is not in the group", stream.name),
                "not everybody's key",
                format!("make `{name}` a member, or write `key = \"pre-shared\"` for the protection"),
            );
        }
    }

    fn transport(&mut self, name: &str, spec: &GroupKeySpec, exchange: &[&Segment<'_>]) -> Transport {
        let of = |segment: &&Segment<'_>| segment.kind.key_exchange(&segment.parts.as_ref()?.facet);
        // Every segment has to carry it.
        let has_fd = exchange.iter().filter_map(of).all(|transport| transport == Transport::Fd);
        let best = if has_fd { Transport::Fd } else { Transport::Classical };
        match spec.format {
            Some(CanFormatSpec::Classical) => Transport::Classical,
            None => best,
            Some(_) => {
                if best == Transport::Classical {
                    self.report(
                        Code::BadBitTiming,
                        &group(name, "format"),
                        "a frame with bit-rate switch needs a second bit rate",
                        "nothing to switch to",
                        "add `data_bit_rate = \"2Mbit/s\"` to the segment, or write `format = \"classical\"`",
                    );
                }
                Transport::Fd
            }
        }
    }

    fn members(
        &mut self,
        name: &str,
        spec: &GroupKeySpec,
        nodes: &[NodePlan],
        exchange: &[&Segment<'_>],
        traffic: &[StreamPlan],
        orchestrator: NodeId,
    ) -> Vec<NodeId> {
        let Some(names) = &spec.members else {
            let plays = |node: NodeId| traffic.iter().any(|recording| recording.sender == node);
            let is_on =
                |node: NodeId| exchange.iter().any(|segment| nodes[node.index()].interfaces.contains(&segment.id));
            let all = (0..nodes.len() as u16).map(NodeId);
            let comes_later = |node: NodeId| {
                newcomers(spec).any(|(_, name, _)| nodes.get(node.index()).is_some_and(|it| it.name == name))
            };
            let is_member =
                |node: &NodeId| *node != orchestrator && !plays(*node) && is_on(*node) && !comes_later(*node);
            return all.filter(is_member).collect();
        };
        let mut members = Vec::new();
        for (k, member_name) in names.iter().enumerate() {
            let path = group(name, "members").entry(k);
            let member = self.node(member_name, nodes, &path);
            if member == orchestrator || members.contains(&member) {
                self.report(
                    Code::BadGroup,
                    &path,
                    format!("`{member_name}` is the orchestrator, or stands here twice"),
                    "not another member",
                    "name each other node once",
                );
                continue;
            }
            members.push(member);
        }
        members
    }

    /// A node by its name; the first one if there is none of that name, which is then a problem.
    pub(super) fn node(&mut self, name: &str, nodes: &[NodePlan], path: &[Step<'_>]) -> NodeId {
        let names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
        NodeId(self.find(name, &names, path, "node", "nodes").unwrap_or(0) as u16)
    }

    /// A time at which something happens in a run.
    pub(super) fn instant(&mut self, path: &[Step<'_>], what: &str, at: Duration) -> Duration {
        self.within(path, what, at, Duration::ZERO, DURATION_MAX)
    }
}
