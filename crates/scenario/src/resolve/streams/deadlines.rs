//! Deadlines, for all receivers or each its own.

use chronoseal_core::{Duration, NodeId};

use super::{Hop, World};
use crate::kinds::{Context, Place, StreamRequest};
use crate::limits::PERIOD_MIN;
use crate::problem::Code;
use crate::shape::shortened;
use crate::spec::DeadlineSpec;

/// What is written of deadlines.
#[derive(Default)]
pub(super) struct Deadlines {
    /// For all receivers.
    pub(super) all: Option<Duration>,
    /// For single ones, in the order of the receivers.
    pub(super) each: Vec<(NodeId, Duration)>,
}

impl Context<'_> {
    pub(super) fn deadlines(
        &mut self,
        stream: &StreamRequest<'_>,
        receivers: &[NodeId],
        hops: &[Hop],
        max: Duration,
        world: &World<'_>,
    ) -> Deadlines {
        let at = stream.at("deadline");
        match &stream.spec.deadline {
            None => Deadlines::default(),
            Some(DeadlineSpec::All(deadline)) => {
                let all = self.within(&at, "the deadline", deadline.0, PERIOD_MIN, max);
                let slowest = receivers.iter().max_by_key(|receiver| wire_time(hops, **receiver, world));
                if let Some(receiver) = slowest {
                    self.possible(&at, stream, *receiver, all, hops, world);
                }
                Deadlines { all: Some(all), each: Vec::new() }
            }
            Some(DeadlineSpec::Each(written)) => {
                let names: Vec<&str> = receivers.iter().map(|node| world.nodes[node.index()].name.as_str()).collect();
                let mut each = Vec::new();
                for (name, deadline) in written {
                    let at = at.clone().key(name);
                    let Some(found) = self.find(name, &names, &at, "receiver", "receivers") else { continue };
                    let deadline = self.within(&at, "the deadline", deadline.0, PERIOD_MIN, max);
                    self.possible(&at, stream, receivers[found], deadline, hops, world);
                    each.push((found, receivers[found], deadline));
                }
                each.sort_by_key(|(found, ..)| *found);
                Deadlines { all: None, each: each.into_iter().map(|(_, node, deadline)| (node, deadline)).collect() }
            }
        }
    }

    /// Refuses a deadline that is over before the frame can be there.
    fn possible(
        &mut self,
        at: &Place<'_>,
        stream: &StreamRequest<'_>,
        receiver: NodeId,
        deadline: Duration,
        hops: &[Hop],
        world: &World<'_>,
    ) {
        let least = wire_time(hops, receiver, world);
        if deadline >= least || self.has_stand_ins {
            return;
        }
        self.report(
            Code::DeadlineTooShort,
            at,
            format!(
                "stream `{}` takes at least {least} to `{}`, and its deadline is {deadline}",
                shortened(&stream.spec.name),
                world.nodes[receiver.index()].name
            ),
            "over before",
            format!("{least} leaves no time to wait or compute: write a longer one, and `chronoseal check` says what it can take; or a shorter `length`, or a faster segment"),
        );
    }
}

/// The least a frame takes to a receiver: its time on every segment of its way, and in the gateways between.
fn wire_time(hops: &[Hop], receiver: NodeId, world: &World<'_>) -> Duration {
    let mut hop = hops.iter().find(|hop| hop.step.to.contains(&receiver));
    let mut time = Duration::ZERO;
    while let Some(on) = hop {
        time += on.parts.wire_time;
        hop = on.step.previous.and_then(|previous| hops.iter().find(|hop| hop.index == usize::from(previous)));
        if hop.is_some() {
            time += world.nodes[on.step.from.index()].gateway.as_ref().map_or(Duration::ZERO, |it| it.delay);
        }
    }
    time
}
