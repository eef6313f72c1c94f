//! What a stream takes to its receivers, whole and in parts.

use chronoseal_core::{Duration, NodeId, StreamId};
use chronoseal_plan::{Plan, SegmentId};

use super::compose::from_the_air;
use super::{Span, Why};

/// What a stream takes to each of its receivers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StreamBounds {
    /// Which stream.
    pub stream: StreamId,
    /// One for each receiver, in the order of the plan.
    pub ends: Vec<EndBound>,
}

/// What a stream takes to one of its receivers, over all hops.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EndBound {
    /// Which receiver.
    pub receiver: NodeId,
    /// From the instant at which the frame is due, or its slot's start, to the instant at which the receiver's application
    /// has it, checked.
    pub latency: Result<Span, Missing>,
    /// What each place on the way adds, from the sender on; up to the first without a bound. Behind a radio, which is no part,
    /// it goes on with what each place adds from the instant at which the radio received the frame.
    pub parts: Vec<Part>,
}

/// What one place on the way adds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// Which.
    pub place: Place,
    /// To the latest instant. The parts of a way add up to its bound.
    pub max: Duration,
    /// To the earliest instant.
    pub min: Duration,
}

/// A place on the way of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// The processor of who sends it.
    Sender(NodeId),
    /// A segment, with the driver of the node that sends the frame there and the wait for its slot.
    Segment(SegmentId),
    /// The host interface of a node that it comes to.
    Host(NodeId),
    /// The processor of a node that takes it from one segment to another.
    Gateway(NodeId),
    /// The processor of who receives it.
    Receiver(NodeId),
}

/// A place on the way that nothing bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Missing {
    /// Which.
    pub place: Place,
    /// Why.
    pub why: Why,
}

impl Place {
    /// As in the scenario.
    pub fn name(self, plan: &Plan) -> &str {
        match self {
            Self::Sender(node) | Self::Host(node) | Self::Gateway(node) | Self::Receiver(node) => {
                plan.nodes.get(node.index()).map_or("", |node| &node.name)
            }
            Self::Segment(segment) => plan.segments.get(segment.index()).map_or("", |segment| &segment.name),
        }
    }

    /// What it does for the stream, in one word.
    pub const fn role(self) -> &'static str {
        match self {
            Self::Sender(_) => "sender",
            Self::Segment(_) => "segment",
            Self::Host(_) => "host interface",
            Self::Gateway(_) => "gateway",
            Self::Receiver(_) => "receiver",
        }
    }
}

/// A way as it is walked.
#[derive(Clone, Debug)]
pub(super) struct Walked {
    /// When the frame can be at the end of the last part.
    pub(super) at: Result<Span, Missing>,
    /// The same from the instant at which a radio received it, if one did and all behind that is bounded.
    since_air: Option<Span>,
    pub(super) parts: Vec<Part>,
}

impl Walked {
    pub(super) const fn start() -> Self {
        Self { at: Ok(Span::DUE), since_air: None, parts: Vec::new() }
    }

    pub(super) const fn missing(place: Place, why: Why) -> Self {
        Self { at: Err(Missing { place, why }), since_air: None, parts: Vec::new() }
    }

    /// One place further, where the frame can be `at` these times.
    #[must_use]
    pub(super) fn then(&self, place: Place, at: Result<Span, Why>) -> Self {
        let mut further = self.clone();
        let part = |before: Span, after: Span| Part { place, max: after.max - before.max, min: after.min - before.min };
        match (self.at, self.since_air, at) {
            (Ok(before), _, Ok(after)) => {
                further.parts.push(part(before, after));
                further.at = Ok(after);
            }
            (Ok(_), _, Err(why)) => {
                further.at = Err(Missing { place, why });
                further.since_air = from_the_air(Err(why)).ok();
            }
            (Err(_), Some(before), Ok(after)) => {
                further.parts.push(part(before, after));
                further.since_air = Some(after);
            }
            (Err(_), Some(_), Err(_)) => further.since_air = None,
            (Err(_), None, _) => {}
        }
        further
    }

    /// When the frame can be there, from the instant at which it was due, or at which a radio received it.
    pub(super) fn span(&self) -> Result<Span, Why> {
        self.since_air.map_or_else(|| self.at.map_err(|missing| missing.why), Ok)
    }
}
