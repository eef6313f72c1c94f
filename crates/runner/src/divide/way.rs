//! The steps of one frame.

use chronoseal_core::{Duration, NodeId, Priority, SimTime, StreamId};
use chronoseal_results::PartKind;
use chronoseal_results::rows::FrameRow;

use super::lines::Pass;
use super::{Divider, Got, Place, Step};

/// More transmissions than any way has.
const TRANSMISSIONS_MAX: usize = 64;

/// The steps of one frame, and what they were found by, in buffers that the next frame uses again.
#[derive(Default)]
pub(super) struct Found {
    /// The transmissions that brought it, each with who got it.
    way: Vec<(u64, NodeId)>,
    /// The wires of one transmission, each with its name.
    passes: Vec<(Pass, Place)>,
    pub(super) steps: Vec<Step>,
}

/// Steps in time. What lies before the frame was due is no part of its latency and is cut off.
struct Steps<'f> {
    at: SimTime,
    found: &'f mut Vec<Step>,
}

impl Steps<'_> {
    /// The frame is there until then.
    fn until(&mut self, until: SimTime, kind: PartKind, place: Place) {
        if until > self.at {
            let time = until - self.at;
            self.at = until;
            match self.found.last_mut() {
                Some(last) if last.kind == kind && last.place == place => last.time += time,
                _ => self.found.push(Step { kind, place, time }),
            }
        }
    }

    /// The frame is there for so long, but not beyond a time.
    fn lasting(&mut self, time: Duration, limit: SimTime, kind: PartKind, place: Place) {
        self.until((self.at + time.max(Duration::ZERO)).min(limit), kind, place);
    }
}

impl Divider {
    /// Finds the steps of an accepted frame from when it was due; `None` if nobody knows when that was, or its way is not known.
    pub(super) fn steps(&self, row: &FrameRow, found: &mut Found) -> Option<()> {
        let (due_at, accepted_at, sent_at) = (row.due_at?, row.accepted_at?, row.sent_at?);
        let mut receivers = self.accepted.get(row.stream.index())?.iter();
        let (_, accepted) = receivers.find(|(receiver, _)| *receiver == row.at)?;
        let from = accepted.partition_point(|(at, _)| *at < accepted_at);
        let Found { way, passes, steps } = found;
        way.clear();
        steps.clear();
        let mut candidates = accepted.range(from..).take_while(|(at, _)| *at == accepted_at);
        candidates.find(|(_, frame)| self.way(*frame, row.at, (row.stream, sent_at), 0, way))?;

        let mut steps = Steps { at: due_at, found: steps };
        let before = if row.slot_start.is_some() { PartKind::Slot } else { PartKind::Sender };
        let sender = match self.sent_by_any.get(row.stream.index()) {
            Some(true) => Place::AnySender,
            _ => self.at(row.sender),
        };
        self.at_node(&mut steps, (row.sender, sender), sent_at, before);
        for (number, (frame, to)) in way.iter().enumerate() {
            let got = self.got(*frame, *to)?;
            let from = if number == 0 { sender } else { self.at(self.sent(*frame)?.from) };
            self.passes_to(*frame, *to, got.received_at, passes);
            self.on_segment(&mut steps, (*frame, from), *to, got, passes)?;
            let name = self.at(*to);
            if let Some(handed_at) = got.handed_at {
                steps.until(handed_at, PartKind::HostInterface, name);
            }
            steps.until(got.taken_at.min(accepted_at), PartKind::Processor, name);
            match way.get(number + 1) {
                Some((next, _)) => self.at_node(&mut steps, (*to, name), self.sent(*next)?.sent_at, PartKind::Gateway),
                None => self.at_node(&mut steps, (*to, name), accepted_at, PartKind::Processor),
            }
        }
        Some(())
    }

    /// The node, or the first one of its name.
    fn at(&self, node: NodeId) -> Place {
        Place::Node(self.named.get(node.index()).copied().unwrap_or(node))
    }

    fn between(&self, from: NodeId, to: NodeId) -> Place {
        let named = |node: NodeId| self.named.get(node.index()).copied().unwrap_or(node);
        Place::Wire(named(from), named(to))
    }

    /// Finds the transmissions from the one that left its sender at a time to this one, each with who got it. If they are not known it is
    /// false, and none is found.
    fn way(
        &self,
        frame: u64,
        to: NodeId,
        root: (StreamId, SimTime),
        depth: usize,
        found: &mut Vec<(u64, NodeId)>,
    ) -> bool {
        let Some(sent) = self.sent(frame) else { return false };
        let mut is_found = (sent.stream, sent.sent_at) == root;
        if !is_found && depth < TRANSMISSIONS_MAX {
            let origins = self.origins.get(&frame).map_or(&[][..], Vec::as_slice);
            let mut came = origins.iter().filter(|origin| self.got(**origin, sent.from).is_some());
            is_found = came.any(|origin| self.way(*origin, sent.from, root, depth + 1, found));
        }
        if is_found {
            found.push((frame, to));
        }
        is_found
    }

    /// The frame is at a node until then: what its processor computes, and the rest.
    fn at_node(&self, steps: &mut Steps, (node, name): (NodeId, Place), until: SimTime, rest: PartKind) {
        let work = self.work.get(node.index()).map_or(&[][..], Vec::as_slice);
        let first = work.partition_point(|(_, to, _)| *to <= steps.at);
        for (from, to, kind) in work[first..].iter().take_while(|(from, ..)| *from < until) {
            steps.until((*from).min(until), rest, name);
            steps.until((*to).min(until), *kind, name);
        }
        steps.until(until, rest, name);
    }

    /// The frame is on a segment until its receiver got it.
    fn on_segment(
        &self,
        steps: &mut Steps,
        (frame, from): (u64, Place),
        to: NodeId,
        got: &Got,
        passes: &[(Pass, Place)],
    ) -> Option<()> {
        let sent = self.sent(frame)?;
        let Some((first, _)) = passes.first() else {
            // A medium that all share: the frame waits for it, then it is on it.
            let waits = if sent.continues { PartKind::EarlierFrames } else { PartKind::Queueing };
            if let Some((began_at, left_at)) = got.sent {
                steps.until(began_at, waits, from);
                steps.until(left_at, PartKind::Transmission, from);
                steps.until(got.received_at, PartKind::Delay, self.between(sent.from, to));
                return Some(());
            }
            steps.until(got.departed_at.unwrap_or(sent.sent_at), waits, from);
            steps.until(got.received_at, PartKind::Transmission, from);
            return Some(());
        };
        // What is told of a frame's first wire begins when its driver handed it over.
        if !sent.continues && first.queued_at != sent.sent_at {
            return None;
        }
        for &(pass, place) in passes {
            let wire = self.wires.get(usize::from(pass.segment))?.get(pass.line as usize)?;
            let switch = self.at(wire.from);
            if pass.priority == Priority::TIME_TRIGGERED {
                steps.lasting(wire.forwarding_delay, pass.queued_at, PartKind::Switching, switch);
                steps.until(pass.queued_at, PartKind::Slot, switch);
            } else {
                steps.until(pass.queued_at, PartKind::Switching, switch);
            }
            steps.lasting(pass.blocked, pass.started_at, PartKind::Blocking, place);
            steps.lasting(pass.behind, pass.started_at, PartKind::Queueing, place);
            steps.until(pass.started_at, PartKind::Gate, place);
            steps.lasting(pass.interrupted, pass.arrives_at, PartKind::Queueing, place);
            steps.until(pass.arrives_at, PartKind::Transmission, place);
        }
        Some(())
    }

    /// Finds the wires that brought a frame to a receiver at a time, in the order of its way, each with its name.
    fn passes_to(&self, frame: u64, to: NodeId, received_at: SimTime, found: &mut Vec<(Pass, Place)>) {
        found.clear();
        let (mut end, mut by) = (to, received_at);
        while found.len() < TRANSMISSIONS_MAX {
            let brought = self.passes.of(frame).filter_map(|pass| {
                let wire = self.wires.get(usize::from(pass.segment))?.get(pass.line as usize)?;
                (wire.to == end && pass.arrives_at <= by).then_some((pass, wire))
            });
            // Where copies of a frame meet, the receiver's is the one that came when the frame did, and a switch passes on the first.
            let is_end = found.is_empty();
            let key = |pass: &Pass| if is_end { received_at - pass.arrives_at } else { pass.arrives_at.since_zero() };
            let Some((pass, wire)) = brought.min_by_key(|(pass, _)| key(pass)) else { break };
            found.push((*pass, self.between(wire.from, wire.to)));
            (end, by) = (wire.from, pass.queued_at);
            if wire.from < self.first_own {
                break;
            }
        }
        found.reverse();
    }
}
