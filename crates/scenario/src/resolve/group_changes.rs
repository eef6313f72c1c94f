//! Who comes into a group and who leaves it, and when.

use chronoseal_core::{Duration, NodeId};
use chronoseal_groupkey::Scheme;
use chronoseal_plan::{ChangeKind, GroupChange, NodePlan};

use super::group_key::group;
use crate::kinds::{Context, Place};
use crate::problem::Code;
use crate::spec::{GroupChangeSpec, GroupKeySpec};

/// A group as it is at its start.
pub(super) struct Group<'a> {
    /// The name of its key.
    pub(super) name: &'a str,
    pub(super) spec: &'a GroupKeySpec,
    pub(super) scheme: Scheme,
    pub(super) orchestrator: NodeId,
    /// Who is in from the start.
    pub(super) founders: &'a [NodeId],
}

/// Nodes that are merged with a group: the number of the change, the node's name and its place in that change.
pub(super) fn newcomers(spec: &GroupKeySpec) -> impl Iterator<Item = (usize, &str, usize)> {
    let merges = spec.changes.iter().enumerate().filter_map(|(number, change)| Some((number, change.merge.as_ref()?)));
    merges.flat_map(|(number, names)| names.iter().enumerate().map(move |(k, name)| (number, name.as_str(), k)))
}

/// What a node is to a group at some time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    Orchestrator,
    /// It has never been in.
    Foreign,
    In,
    Removed,
    Revoked,
}

impl Group<'_> {
    /// What a node is after these changes.
    fn standing(&self, node: NodeId, changes: &[GroupChange]) -> Standing {
        let last = changes.iter().rev().find(|change| change.members.contains(&node));
        match last.map(|change| change.kind) {
            _ if node == self.orchestrator => Standing::Orchestrator,
            Some(ChangeKind::Add | ChangeKind::Merge) => Standing::In,
            Some(ChangeKind::Remove) => Standing::Removed,
            Some(ChangeKind::Revoke) => Standing::Revoked,
            None if self.founders.contains(&node) => Standing::In,
            None => Standing::Foreign,
        }
    }
}

impl Context<'_> {
    pub(super) fn changes(&mut self, group_of: &Group<'_>, nodes: &[NodePlan], duration: Duration) -> Vec<GroupChange> {
        let mut changes: Vec<GroupChange> = Vec::new();
        for (number, change) in group_of.spec.changes.iter().enumerate() {
            let path = group(group_of.name, "changes").entry(number);
            let Some((kind, what, names)) = kind_of(change) else {
                self.report(
                    Code::ChooseOne,
                    &path,
                    "a change of the group is exactly one of `remove`, `add`, `revoke`, `merge`",
                    "not exactly one",
                    "write `{ at = \"1s\", remove = \"ecu2\" }`",
                );
                continue;
            };
            let at = self.instant(&path.clone().key("at"), "the time of the change", change.at.0);
            self.comes_in_time(&path, at, group_of.spec.start.0, changes.last().map(|earlier| earlier.at), duration);
            let mut members = Vec::new();
            for (k, name) in names.iter().enumerate() {
                let place = path.clone().key(what);
                let place = if kind == ChangeKind::Merge { place.entry(k) } else { place };
                let member = self.node(name, nodes, &place);
                if !nodes.iter().any(|node| node.name == *name) {
                    continue;
                }
                if members.contains(&member) {
                    self.report(
                        Code::BadGroup,
                        &place,
                        format!("`{name}` stands here twice"),
                        "not another node",
                        "name each node once",
                    );
                    continue;
                }
                self.is_possible(kind, name, group_of.standing(member, &changes), &place);
                members.push(member);
            }
            changes.push(GroupChange { at, members, kind });
            self.finds_room(group_of, &changes, &path);
        }
        changes
    }

    /// Refuses a change outside the run, or not after the one before it.
    fn comes_in_time(
        &mut self,
        path: &Place<'_>,
        at: Duration,
        start: Duration,
        earlier: Option<Duration>,
        duration: Duration,
    ) {
        let (what, label) = if at <= start {
            (
                format!("the change at {at} does not come after the first key, which is asked for at {start}"),
                "too early",
            )
        } else if at >= duration {
            (format!("the change at {at} does not come before the end of the run at {duration}"), "too late")
        } else if let Some(earlier) = earlier.filter(|earlier| at <= *earlier) {
            (format!("the change at {at} does not come after the one written before it, at {earlier}"), "out of order")
        } else {
            return;
        };
        self.report(
            Code::BadGroup,
            &path.clone().key("at"),
            what,
            label,
            "write changes in time, each later than the one before it, after the start and before the end; the \
             orchestrator makes one after the other, and nodes that come in together stand in one `merge`",
        );
    }

    /// Refuses a change that a node's standing does not allow.
    fn is_possible(&mut self, kind: ChangeKind, name: &str, standing: Standing, place: &Place<'_>) {
        let is_right = match kind {
            ChangeKind::Remove | ChangeKind::Revoke => standing == Standing::In,
            ChangeKind::Add => standing == Standing::Removed,
            ChangeKind::Merge => standing == Standing::Foreign,
        };
        if is_right {
            return;
        }
        let why = match standing {
            Standing::Orchestrator => "is the orchestrator of the group",
            Standing::In => "is already in the group then",
            Standing::Removed if kind == ChangeKind::Merge => "was in the group before",
            Standing::Foreign | Standing::Removed => "is not in the group then",
            Standing::Revoked => "has lost its credential by then",
        };
        let hint = match (kind, standing) {
            (_, Standing::Orchestrator) => "name another node: the orchestrator is in as long as there is a group",
            (ChangeKind::Add | ChangeKind::Merge, Standing::Revoked) => {
                "write `remove` where it goes for a time; `revoke` is for good"
            }
            (ChangeKind::Merge, Standing::In) => "leave it out of `members` and of earlier changes if it comes in here",
            (ChangeKind::Merge, _) => "write `add` for a node that comes back",
            (ChangeKind::Add, Standing::Foreign) => {
                "write `merge = [\"…\"]` for a node that comes in for the first time"
            }
            _ => "remove or revoke a member that is in the group; add one that was removed before",
        };
        self.report(Code::BadGroup, place, format!("`{name}` {why}"), "not possible", hint);
    }

    /// Refuses the merge from which on there are more members than the tree has places.
    fn finds_room(&mut self, group_of: &Group<'_>, changes: &[GroupChange], path: &Place<'_>) {
        let (limit, founders) = (group_of.scheme.members_max(), group_of.founders.len());
        let merged = |changes: &[GroupChange]| -> usize {
            let merges = changes.iter().filter(|change| change.kind == ChangeKind::Merge);
            merges.map(|change| change.members.len()).sum()
        };
        let Some((last, before)) = changes.split_last() else { return };
        let places = founders + merged(changes);
        // Too many from the start is a problem of its own, and each group is told once.
        if last.kind != ChangeKind::Merge || places <= limit || founders + merged(before) > limit {
            return;
        }
        self.report(
            Code::BadGroup,
            &path.clone().key("merge"),
            format!(
                "the group needs {places} places with these nodes; scheme `{}` has {limit}",
                group_of.scheme.name()
            ),
            "no room in the tree",
            "a node that was removed keeps its place: let fewer come in, or choose another scheme",
        );
    }
}

/// What a change is, the key that says so, and whom it names.
type Said<'a> = (ChangeKind, &'static str, &'a [String]);

/// What a change says; `None` unless it is exactly one thing.
fn kind_of(change: &GroupChangeSpec) -> Option<Said<'_>> {
    fn one<'a>(kind: ChangeKind, what: &'static str, name: Option<&'a String>) -> Option<Said<'a>> {
        Some((kind, what, core::slice::from_ref(name?)))
    }
    let all = [
        one(ChangeKind::Remove, "remove", change.remove.as_ref()),
        one(ChangeKind::Add, "add", change.add.as_ref()),
        one(ChangeKind::Revoke, "revoke", change.revoke.as_ref()),
        change.merge.as_ref().map(|names| (ChangeKind::Merge, "merge", &names[..])),
    ];
    let mut said = all.into_iter().flatten();
    said.next().filter(|_| said.next().is_none())
}
