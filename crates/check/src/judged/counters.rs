//! Trip and reset counters: a stream that is checked by them holds only where the message that tells them does.

use std::collections::BTreeSet;
use std::iter;

use chronoseal_core::NodeId;
use chronoseal_plan::{HopPlan, Plan, StreamPlan};
use chronoseal_report::Word;

use super::Judged;

/// Lets every stream under trip and reset counters share what is said of the message that tells them. `ends` are those of every stream
/// of the plan, each for one of its receivers.
pub(super) fn shared(plan: &Plan, ends: &mut [Vec<Judged>]) {
    let Some(freshness) = &plan.freshness else { return };
    let told = freshness.stream.index();
    let lacking: BTreeSet<NodeId> = (plan.streams[told].receivers.iter().zip(&ends[told]))
        .filter(|(_, end)| end.word != Word::Held)
        .map(|(node, _)| *node)
        .collect();
    for (stream, ends) in plan.streams.iter().zip(ends) {
        for (receiver, end) in stream.receivers.iter().zip(ends) {
            if let Some(node) = counting(plan, stream, *receiver).find(|node| lacking.contains(node)) {
                end.may_lack_counters(&plan.node_name(node));
            }
        }
    }
}

/// Who seals or opens frames of a stream with these counters on their way to a receiver, the last first.
fn counting<'p>(plan: &'p Plan, stream: &'p StreamPlan, receiver: NodeId) -> impl Iterator<Item = NodeId> + 'p {
    let last = stream.hops.iter().find(move |hop| hop.to.contains(&receiver));
    let before = |hop: &&'p HopPlan| hop.previous.and_then(|previous| stream.hops.get(usize::from(previous)));
    let mut taken_by = receiver;
    let on_hop = move |hop: &'p HopPlan| {
        let at = std::mem::replace(&mut taken_by, hop.from);
        let ends = if hop.protection.is_some() { [at, hop.from] } else { [receiver, stream.sender] };
        ends.into_iter().filter(move |_| plan.protection_on(stream, hop).needs_master())
    };
    iter::successors(last, before).flat_map(on_hop)
}

impl Judged {
    /// Without counters a node withholds frames or throws good ones away. Whether it comes to that is not known: a node that is one reset
    /// behind still tells by a frame's flag which one it is of.
    fn may_lack_counters(&mut self, node: &str) {
        if self.word >= Word::NotProven {
            return;
        }
        let why = format!(
            "its tag is over trip and reset counters, and the message that tells them does not hold at `{node}`, which may have to throw \
             frames away for want of them: mend that message, or write `profile = 1` for the stream"
        );
        (self.word, self.why) = (Word::NotProven, Some(why));
    }
}
