//! Operations that a platform has to do and has no price for: they would cost nothing, and nobody would know.

use std::collections::BTreeMap;

use chronoseal_core::{NodeId, Operation};
use chronoseal_crypto::MacAlgorithm;
use chronoseal_crypto::suite::{Suite, SuiteVisitor};
use chronoseal_crypto::symmetric::Aes128Ctr;
use chronoseal_groupkey::Profile;
use chronoseal_plan::{GroupKeyPlan, HopPlan, Plan, PlatformPlan, StreamPlan};

use crate::kinds::{Context, named};
use crate::problem::Code;
use crate::shape::shortened;
use crate::source::at;

/// Prices of a platform that a message names.
const NEAREST_MAX: usize = 2;

/// What a node has to compute, by its operation, each with what it is for.
type Needs = BTreeMap<NodeId, BTreeMap<&'static str, String>>;

impl Context<'_> {
    /// Refuses platforms that scenarios name and that have no price for what their nodes compute, each once for an operation.
    pub(super) fn prices(&mut self, plan: &Plan) {
        // What could not be resolved has no prices, either.
        if !self.problems.is_empty() {
            return;
        }
        let mut needs = of_streams(plan);
        for (id, segment) in plan.segment_ids().zip(&plan.segments) {
            let kind = named(self.kinds, segment.kind);
            for (node, operation) in kind.map(|kind| kind.operations(plan, id)).unwrap_or_default() {
                let what = format!("messages on `{}`", segment.name);
                needs.entry(node).or_default().entry(operation.0).or_insert(what);
            }
        }
        if let Some(group) = &plan.group_key {
            of_exchange(group, &mut needs);
        }
        let mut told: Vec<(u16, &str)> = Vec::new();
        for (node, operations) in &needs {
            let Some(platform) = plan.nodes.get(node.index()).map(|node| node.platform) else { continue };
            let costs = &plan.platforms[usize::from(platform.0)];
            for (operation, what) in operations {
                let is_priced = costs.costs.iter().any(|cost| cost.operation == *operation);
                if platform.0 == 0 || is_priced || told.contains(&(platform.0, *operation)) {
                    continue;
                }
                told.push((platform.0, operation));
                self.no_price(plan, *node, costs, (operation, what));
            }
        }
    }

    fn no_price(&mut self, plan: &Plan, node: NodeId, platform: &PlatformPlan, (operation, what): (&str, &str)) {
        let entry = self.spec.platforms.iter().position(|spec| spec.name == platform.name).unwrap_or_default();
        let node_name = &plan.nodes[node.index()].name;
        let message = format!(
            "platform `{}` has no price for `{operation}`, which `{}` computes for {what}",
            shortened(&platform.name),
            shortened(node_name)
        );
        let help = format!(
            "{}. Measure it where the code runs, with `chronoseal bench --platform`, or assume a price in this entry of `platforms`: `costs = \
             [{{ operation = \"{operation}\", base = \"10us\", per_byte = \"100ns\" }}]` (`base = \"0s\"` if it is to cost nothing)",
            nearest(platform, operation)
        );
        let at_platform = at!["platforms", entry, "name"];
        match self.spec.nodes.iter().position(|spec| spec.name == *node_name && spec.platform.is_some()) {
            Some(written) => self.report_both(
                Code::BadPlatform,
                (at!["nodes", written, "platform"], "computes there"),
                (at_platform, "no price"),
                message,
                help,
            ),
            None => self.report(Code::BadPlatform, at_platform, message, "no price", help),
        }
    }
}

/// The prices of a platform that come nearest to an operation: of those named most alike.
fn nearest(platform: &PlatformPlan, operation: &str) -> String {
    if platform.costs.is_empty() {
        return "it has no prices at all".to_owned();
    }
    let words = |name: &str| name.split('-').map(str::to_owned).collect::<Vec<_>>();
    let wanted = words(operation);
    let alike = |name: &str| words(name).iter().filter(|word| wanted.contains(word)).count();
    let mut costs: Vec<_> = platform.costs.iter().collect();
    costs.sort_by_key(|cost| std::cmp::Reverse(alike(&cost.operation)));
    let shown = costs.iter().take(NEAREST_MAX).map(|cost| match cost.per_byte.as_ps() {
        0 => format!("`{}` at {}", cost.operation, cost.base),
        _ => format!("`{}` at {} and {} a byte", cost.operation, cost.base, cost.per_byte),
    });
    format!("the nearest that it has are {}", shown.collect::<Vec<_>>().join(" and "))
}

/// The tags of streams, at who makes and who checks them.
fn of_streams(plan: &Plan) -> Needs {
    let mut needs = Needs::new();
    for stream in &plan.streams {
        for hop in &stream.hops {
            // Under the tag of the frame that it travels in, a PDU has none of its own.
            if hop.container().is_some() && hop.protection.is_some() {
                continue;
            }
            let Some(profile) = plan.protection_on(stream, hop).profile() else { continue };
            for node in computing(stream, hop) {
                let what = || format!("the tag of stream `{}`", shortened(&stream.name));
                needs.entry(node).or_default().entry(profile.mac().operation().0).or_insert_with(what);
            }
        }
    }
    needs
}

/// Who makes or checks the tag of a stream on one of its hops.
fn computing<'p>(stream: &'p StreamPlan, hop: &'p HopPlan) -> impl Iterator<Item = NodeId> + 'p {
    let seals = (hop.previous.is_none() || hop.protection.is_some()).then_some(hop.from);
    let opens =
        |node: &&NodeId| stream.receivers.contains(node) || hop.protection.is_some() || stream.collected().is_some();
    seals.into_iter().chain(hop.to.iter().filter(opens).copied())
}

/// What an exchange of keys takes of its members, and of who orchestrates.
fn of_exchange(group: &GroupKeyPlan, needs: &mut Needs) {
    let [share, agree, sign, verify] = group.suite.dispatch(OfSuite);
    let tag = (group.profile == Profile::Hardened).then(|| MacAlgorithm::CmacAes128.operation());
    let mut add = |node: NodeId, operation: Operation| {
        let what = || "the exchange of keys".to_owned();
        needs.entry(node).or_default().entry(operation.0).or_insert_with(what);
    };
    for member in &group.members {
        let all = [share, agree, sign, verify, Aes128Ctr::OPERATION].into_iter().chain(tag);
        all.for_each(|operation| add(*member, operation));
    }
    add(group.orchestrator, sign);
}

struct OfSuite;
impl SuiteVisitor for OfSuite {
    type Output = [Operation; 4];
    fn visit<S: Suite>(self) -> Self::Output {
        let own = S::OPERATIONS;
        [own.share, own.agree, own.sign, own.verify]
    }
}
