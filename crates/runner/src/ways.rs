//! The ways of streams that gateways carry on, from their sender to their receivers, and deadlines over whole ways.
//!
//! Both engines tell of each hop by itself. Here the hops of a frame become one row at each receiver: sent when its sender
//! sent it, late when its deadline was over.

mod judge;
mod open;
mod sent;
mod spans;

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_catalog::Prepared;
use chronoseal_core::{DiscardReason, Duration, Event, EventKind, NodeId, SimTime, StreamId};
use chronoseal_plan::{AttackPlace, HopPlan, Plan, StreamPlan};
use chronoseal_results::rows::{EventRow, FrameRow, Outcome};

pub(crate) use self::open::{OnSegment, Open};

/// Which streams gateways carry on.
pub(crate) struct Ways {
    /// By stream.
    relayed: Vec<bool>,
    senders: Vec<NodeId>,
    /// By stream: what is in its frames, if that is PDUs of other streams.
    collected: Vec<Vec<StreamId>>,
    /// By stream: who looks for its frames in their slots, and counts these.
    in_slots: Vec<Vec<NodeId>>,
    /// By stream: who gets its frames from segments that lose none without a word.
    over_sure_segments: Vec<Vec<NodeId>>,
    /// By stream: its application has a timer of its own, so a slot does not say when a frame was due.
    has_application: Vec<bool>,
    gateways: BTreeSet<NodeId>,
    any: bool,
    /// Streams of which somebody holds each frame on its way, and for how long.
    held: BTreeMap<StreamId, Duration>,
    /// Gateways that start anew, and from when to when they are away.
    away: BTreeMap<NodeId, (SimTime, SimTime)>,
}

/// How long frames of streams are held on their way, by all who do.
fn held(plan: &Plan) -> BTreeMap<StreamId, Duration> {
    let mut held = BTreeMap::<StreamId, Duration>::new();
    for threat in plan.threats.iter().filter(|threat| threat.kind.delay() > Duration::ZERO) {
        let place = plan.attackers.get(usize::from(threat.attacker)).map(|attacker| attacker.place);
        let passes = |stream: &StreamPlan| match place {
            Some(AttackPlace::OnLink(segment, node)) => {
                stream.hops.iter().any(|hop| hop.segment == segment && hop.from == node)
            }
            _ => true,
        };
        let is_held = |(id, stream): &(StreamId, &StreamPlan)| {
            threat.kind.target().map_or_else(|| passes(stream), |target| target == *id)
        };
        for (id, _) in (0..).map(StreamId).zip(&plan.streams).filter(is_held) {
            let known = held.entry(id).or_default();
            *known += threat.kind.delay();
        }
    }
    held
}

impl Ways {
    pub(crate) fn of(prepared: &Prepared<'_>) -> Self {
        let (plan, describers) = (prepared.plan(), prepared.describers());
        let in_slots = |(index, stream): (usize, &StreamPlan)| {
            let first = stream.hops.iter().find(|hop| hop.previous.is_none());
            let has_slots = |hop: &&HopPlan| {
                let described = describers[hop.segment.index()].missing(StreamId(index as u16), 0, SimTime::ZERO);
                described.is_some_and(|described| described.slot_start.is_some())
            };
            first.filter(has_slots).map(|hop| hop.to.clone()).unwrap_or_default()
        };
        let over_sure_segments = |stream: &StreamPlan| {
            let sure = stream.hops.iter().filter(|hop| !describers[hop.segment.index()].loses_frames());
            sure.flat_map(|hop| hop.to.clone()).collect()
        };
        let several = |(index, _): &(usize, _)| plan.nodes[*index].interfaces.len() > 1;
        let gateways = plan.nodes.iter().enumerate().filter(several).map(|(index, _)| NodeId(index as u16));
        let relayed: Vec<bool> = plan.streams.iter().map(StreamPlan::is_relayed).collect();
        Self {
            any: relayed.contains(&true),
            held: held(plan),
            relayed,
            senders: plan.streams.iter().map(|stream| stream.sender).collect(),
            collected: plan.streams.iter().map(collected).collect(),
            in_slots: plan.streams.iter().enumerate().map(in_slots).collect(),
            over_sure_segments: plan.streams.iter().map(over_sure_segments).collect(),
            has_application: plan.streams.iter().map(|stream| stream.application.is_some()).collect(),
            gateways: gateways.collect(),
            away: plan.node_ids().filter_map(|node| Some((node, away(prepared, node)?))).collect(),
        }
    }

    pub(crate) fn is_relayed(&self, stream: StreamId) -> bool {
        self.any && self.relayed.get(stream.index()).copied().unwrap_or(false)
    }

    pub(crate) fn begins_at(&self, stream: StreamId, node: NodeId) -> bool {
        self.senders.get(stream.index()) == Some(&node)
    }

    /// True if PDUs of `stream` travel in frames of `container`.
    pub(crate) fn is_in(&self, stream: StreamId, container: StreamId) -> bool {
        self.collected.get(container.index()).is_some_and(|streams| streams.contains(&stream))
    }

    /// True if a stream's frames hold PDUs of others.
    pub(crate) fn is_container(&self, stream: StreamId) -> bool {
        self.collected.get(stream.index()).is_some_and(|streams| !streams.is_empty())
    }

    /// How long frames are held on their way at most; zero if none are.
    fn held_for(&self) -> Duration {
        self.held.values().copied().max().unwrap_or_default()
    }

    /// Who sends a stream.
    pub(crate) fn sender(&self, stream: StreamId) -> Option<NodeId> {
        self.senders.get(stream.index()).copied()
    }

    /// True if an event is the end of a frame that a gateway held, and not of the one it looks at.
    pub(crate) fn is_loss_at_gateway(&self, node: NodeId, event: &Event) -> bool {
        let is_loss = matches!(
            event.kind,
            EventKind::Discarded(DiscardReason::Superseded | DiscardReason::QueueFull | DiscardReason::UnknownStream)
        );
        let is_held = self.is_relayed(event.stream) || event.stream == StreamId::NONE;
        is_loss && self.gateways.contains(&node) && is_held
    }

    /// True if a node may lose what it has or gets at this time since it starts anew: before it is there again.
    pub(crate) fn may_lose(&self, node: NodeId, at: SimTime) -> bool {
        !self.away.is_empty() && self.away.get(&node).is_some_and(|(_, until)| at < *until)
    }

    /// True if a gateway starts anew at this time and is not there yet.
    pub(crate) fn is_away(&self, node: NodeId, at: SimTime) -> bool {
        self.away.get(&node).is_some_and(|(from, until)| (*from..*until).contains(&at))
    }

    /// True if a gateway has started anew by this time.
    pub(crate) fn has_restarted(&self, node: NodeId, by: SimTime) -> bool {
        self.away.get(&node).is_some_and(|(from, _)| *from <= by)
    }

    /// True if a sender has no room for a message of its own, since those before it are still being sent, or newer data have
    /// taken its place before its slot.
    pub(crate) fn is_refused_by_sender(&self, node: NodeId, event: &Event) -> bool {
        let is_full = event.kind == EventKind::Discarded(DiscardReason::QueueFull);
        let is_replaced = event.kind == EventKind::Discarded(DiscardReason::Superseded)
            && self.has_application.get(event.stream.index()) == Some(&true);
        (is_full || is_replaced) && event.stream != StreamId::NONE && self.begins_at(event.stream, node)
    }

    /// Adds the rows of a frame that a gateway threw away after it had it, one for each receiver behind, or of one that a receiver has
    /// waited for too long.
    fn lost_rows(&self, plan: &Plan, row: &EventRow, rows: &mut Vec<FrameRow>) {
        let (event, node) = (&row.event, row.node);
        let Some(sender) = self.sender(event.stream) else { return };
        let lost = |outcome| FrameRow::open(event.stream, event.sequence, sender, node, row.time, outcome);
        let reason = match event.kind {
            EventKind::Discarded(reason) if self.is_loss_at_gateway(node, event) => Some(reason),
            // Without a key nothing goes on.
            EventKind::Withheld if self.is_relayed(event.stream) && sender != node => Some(DiscardReason::NoKey),
            _ => None,
        };
        match (event.kind, reason) {
            (_, Some(reason)) => {
                let lost = lost(Outcome::Discarded(reason));
                match behind(plan, &plan.streams[event.stream.index()], node, event.value) {
                    receivers if receivers.is_empty() => rows.push(lost),
                    receivers => {
                        let for_each = |receiver| FrameRow { lost_for: Some(receiver), ..lost };
                        rows.extend(receivers.into_iter().map(for_each));
                    }
                }
            }
            (EventKind::Missing, _) if self.is_relayed(event.stream) => rows.push(lost(Outcome::Missing)),
            _ => {}
        }
    }
}

/// From when to when a gateway is away, if it starts anew.
fn away(prepared: &Prepared<'_>, node: NodeId) -> Option<(SimTime, SimTime)> {
    let reboot = prepared.plan().nodes.get(node.index())?.gateway.as_ref()?.reboot?;
    let oscillator = prepared.oscillator(node);
    let from = oscillator.local(SimTime::ZERO) + reboot.at;
    Some((oscillator.sim(from), oscillator.sim(from + reboot.takes)))
}

/// The receivers that get a stream behind an interface of a gateway, which is 1 less than `port`; none if it does not leave there.
fn behind(plan: &Plan, stream: &StreamPlan, gateway: NodeId, port: i64) -> Vec<NodeId> {
    let interfaces = plan.nodes.get(gateway.index()).map_or(&[][..], |node| &node.interfaces);
    let segment = usize::try_from(port - 1).ok().and_then(|place| interfaces.get(place));
    let leaves = |hop: &HopPlan| hop.from == gateway && Some(&hop.segment) == segment && hop.previous.is_some();
    let is_behind = |receiver: &&NodeId| hops_to(stream, **receiver).any(leaves);
    stream.receivers.iter().filter(is_behind).copied().collect()
}

/// The gateways that a stream crosses on its way to a receiver, from there back to the sender.
fn gateways_before(stream: &StreamPlan, receiver: NodeId) -> Vec<NodeId> {
    hops_to(stream, receiver).filter(|hop| hop.previous.is_some()).map(|hop| hop.from).collect()
}

/// The hops on the way to a receiver, the last one first.
fn hops_to(stream: &StreamPlan, receiver: NodeId) -> impl Iterator<Item = &HopPlan> {
    let last = stream.hops.iter().find(|hop| hop.to.contains(&receiver));
    std::iter::successors(last, |hop| stream.hops.get(usize::from(hop.previous?)))
}

/// What is in the frames of a stream, if that is PDUs of others.
fn collected(stream: &StreamPlan) -> Vec<StreamId> {
    stream.collected().map(|collect| collect.streams.clone()).unwrap_or_default()
}
