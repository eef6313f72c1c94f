//! The part of a station that keeps its group key.

use chronoseal_core::random::{self, Purpose, Rng};
use chronoseal_core::{LocalTime, NodeId};
use chronoseal_crypto::suite::{SECRET_LEN, Suite, SuiteVisitor};
use chronoseal_groupkey::{
    Address, Member, Membership, MembershipChange, NodeConfig, Operation, Orchestrator, Roster, RosterError, Settings,
    SpareNode, Tree,
};
use chronoseal_nodes::KeyAgent;
use chronoseal_plan::{ChangeKind, GroupChange, GroupKeyPlan, Plan, SegmentId};

use crate::BuildError;

/// How many random streams of [`Purpose::Key`] come before those of nodes; the messages' keys use the first ones.
const SIGNING_KEYS: u64 = 1 << 32;
const PRIVATE_KEYS: u64 = 2 << 32;

/// The agent of one interface of a node with several: its first one on a segment with the exchange has it.
pub(super) fn agent_on(
    plan: &Plan,
    id: NodeId,
    segment: SegmentId,
) -> Result<Option<Box<dyn KeyAgent + Send>>, BuildError> {
    let Some(group) = &plan.group_key else { return Ok(None) };
    let first = plan.nodes[id.index()].interfaces.iter().find(|on| group.segments.contains(on));
    if first == Some(&segment) { agent(plan, id) } else { Ok(None) }
}

/// The agent of a node: the orchestrator, a member, or none.
pub(super) fn agent(plan: &Plan, id: NodeId) -> Result<Option<Box<dyn KeyAgent + Send>>, BuildError> {
    let Some(group) = &plan.group_key else { return Ok(None) };
    if id != group.orchestrator && !group.members.contains(&id) {
        return Ok(None);
    }
    group.suite.dispatch(Build { plan, group, id }).map(Some)
}

struct Build<'a> {
    plan: &'a Plan,
    group: &'a GroupKeyPlan,
    id: NodeId,
}

impl SuiteVisitor for Build<'_> {
    type Output = Agent;

    fn visit<S: Suite>(self) -> Self::Output {
        let Self { plan, group, id } = self;
        let (roster, tree) = network::<S>(plan, group)?;
        let settings = settings(group);
        let config = NodeConfig {
            settings,
            address: address(plan, id),
            signing_key: signing_key::<S>(plan, id),
            roster,
            tree,
            seed: seed(plan, PRIVATE_KEYS, id),
        };
        // Both are large, and each has a place on the stack of its own.
        match id == group.orchestrator {
            false => member(config),
            true => orchestrator(plan, group, config),
        }
    }
}

/// What a node hands on to its station.
type Agent = Result<Box<dyn KeyAgent + Send>, BuildError>;

fn member<S: Suite>(config: NodeConfig<S>) -> Agent {
    Ok(Box::new(Member::new(config)?))
}

fn orchestrator<S: Suite>(plan: &Plan, group: &GroupKeyPlan, config: NodeConfig<S>) -> Agent {
    // The orchestrator goes by its own clock, which showed this when the run began.
    let begin = LocalTime::ZERO + plan.nodes[group.orchestrator.index()].clock.offset;
    let mut orchestrator = Orchestrator::new(config)?.establishing_at(begin + group.start);
    for change in &group.changes {
        for operation in operations(plan, group, change) {
            orchestrator.schedule(begin + change.at, operation)?;
        }
    }
    Ok(Box::new(orchestrator))
}

/// What the orchestrator is asked to do for a change.
fn operations(plan: &Plan, group: &GroupKeyPlan, change: &GroupChange) -> Vec<Operation> {
    let of_each = |operation: fn(Address) -> Operation| {
        change.members.iter().map(|member| operation(address(plan, *member))).collect()
    };
    match change.kind {
        ChangeKind::Remove => of_each(Operation::Remove),
        ChangeKind::Add => of_each(Operation::Add),
        ChangeKind::Revoke => of_each(Operation::Revoke),
        ChangeKind::Merge => {
            let mut places = Membership::NONE;
            for (place, member) in group.members.iter().enumerate() {
                places.set(place, change.members.contains(member));
            }
            vec![Operation::Admit(places)]
        }
    }
}

/// What all nodes of a group agree on.
pub(super) fn settings(group: &GroupKeyPlan) -> Settings {
    let mut settings = Settings::new(group.profile, group.transport);
    settings.installation = group.installation;
    settings.failed_removal = group.failed_removal;
    settings.signing = group.signing;
    settings
}

/// Who belongs to a group, and their tree. The orchestrator stands in for those that come in later.
pub(super) fn network<S: Suite>(plan: &Plan, group: &GroupKeyPlan) -> Result<(Roster<S>, Tree), RosterError> {
    let entry =
        |node: NodeId| (address(plan, node), capability::<S>(plan, node), S::public_key(&signing_key::<S>(plan, node)));
    let (orchestrator, rank, key) = entry(group.orchestrator);
    let mut roster = Roster::<S>::new(orchestrator, rank, Some(key.as_bytes()))?;
    for member in &group.members {
        let (member, rank, key) = entry(*member);
        roster.add(member, rank, Some(key.as_bytes()))?;
    }
    let mut tree = Tree::new(&roster, group.scheme, SpareNode::JoinsHigherLevel)?;
    for member in group.members.iter().filter(|member| group.merge_of(**member).is_some()) {
        tree.apply(MembershipChange::Vacated(address(plan, *member)));
    }
    Ok((roster, tree))
}

fn address(plan: &Plan, node: NodeId) -> Address {
    Address(plan.nodes[node.index()].address)
}

fn signing_key<S: Suite>(plan: &Plan, node: NodeId) -> S::SigningKey {
    S::signing_key(&seed(plan, SIGNING_KEYS, node))
}

/// The faster a platform agrees on a secret, the more capable its node; equal ones are ranked by their place.
fn capability<S: Suite>(plan: &Plan, node: NodeId) -> u32 {
    let platform = &plan.platforms[usize::from(plan.nodes[node.index()].platform.0)];
    let cost_us = platform.cost(S::OPERATIONS.agree.0, 0).as_ns() / 1000;
    u32::MAX - u32::try_from(cost_us).unwrap_or(u32::MAX)
}

fn seed(plan: &Plan, first: u64, node: NodeId) -> [u8; SECRET_LEN] {
    let mut bytes = [0; SECRET_LEN];
    random::stream(plan.seed, Purpose::Key, first + u64::from(node.0)).fill_bytes(&mut bytes);
    bytes
}
