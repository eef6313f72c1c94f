//! The ways of streams that gateways carry on, from their sender to their receivers, and deadlines over whole ways.
//!
//! Both engines tell of each hop by itself. Here the hops of a frame become one row at each receiver: sent when its sender
//! sent it, late when its deadline was over.

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_catalog::Prepared;
use chronoseal_core::{DiscardReason, Duration, Event, EventKind, NodeId, SimTime, StreamId};
use chronoseal_plan::{DeadlineKind, HopPlan, Plan, StreamPlan};
use chronoseal_results::Stays;
use chronoseal_results::rows::{FrameRow, Outcome, RunRows};

use crate::dues::Dues;
use crate::hops::Hops;

/// Which streams gateways carry on, and what of them has begun.
pub(crate) struct Ways {
    /// By stream.
    relayed: Vec<bool>,
    senders: Vec<NodeId>,
    /// By stream: what is in its frames, if that is PDUs of other streams.
    collected: Vec<Vec<StreamId>>,
    /// By stream: who looks for its frames in their slots, and counts these.
    in_slots: Vec<Vec<NodeId>>,
    /// By stream: its application has a timer of its own, so a slot does not say when a frame was due.
    has_application: Vec<bool>,
    gateways: BTreeSet<NodeId>,
    any: bool,
    /// Frames that their sender put on its segment: stream, sequence number if its bytes tell all of it, when.
    begun: Vec<(StreamId, Option<u64>, SimTime)>,
}

/// When senders say they sent which frame, by stream and in time.
struct Sent(BTreeMap<StreamId, Vec<(SimTime, u64)>>);

impl Sent {
    fn of(rows: &RunRows, is_relayed: impl Fn(StreamId) -> bool) -> Self {
        let mut sent: BTreeMap<StreamId, Vec<(SimTime, u64)>> = BTreeMap::new();
        for row in rows.events.iter().filter(|row| row.event.kind == EventKind::Sent && is_relayed(row.event.stream)) {
            sent.entry(row.event.stream).or_default().push((row.time, row.event.sequence));
        }
        sent.values_mut().for_each(|frames| frames.sort_unstable());
        Self(sent)
    }

    /// The number of the last frame sent before a time, if that is less than a period ago.
    fn just_before(&self, stream: StreamId, at: SimTime, period: Duration) -> Option<u64> {
        let frames = self.0.get(&stream)?;
        let (sent_at, number) = frames.get(frames.partition_point(|(time, _)| *time <= at).checked_sub(1)?)?;
        (at - *sent_at < period).then_some(*number)
    }

    /// The number of the frame sent nearest to a time.
    fn nearest(&self, stream: StreamId, at: SimTime) -> Option<u64> {
        let frames = self.0.get(&stream)?;
        let place = frames.partition_point(|(time, _)| *time <= at);
        let around = [place.checked_sub(1).and_then(|before| frames.get(before)), frames.get(place)];
        let distance = |(time, _): &&(SimTime, u64)| (*time - at).as_ps().unsigned_abs();
        around.into_iter().flatten().min_by_key(distance).map(|(_, number)| *number)
    }

    /// A number of which a PDU of `len` bytes has only the low bytes, completed to that nearest to what was sent at a time.
    fn complete(&self, stream: StreamId, len: u32, low: u64, at: SimTime) -> u64 {
        let bits = 8 * len;
        if bits >= 32 {
            return low;
        }
        let Some(near) = self.nearest(stream, at) else { return low };
        let span = 1u64 << bits;
        let below = near - (near.wrapping_sub(low) % span).min(near);
        if near - below > span / 2 { below + span } else { below }
    }
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
        let several = |(index, _): &(usize, _)| plan.nodes[*index].interfaces.len() > 1;
        let gateways = plan.nodes.iter().enumerate().filter(several).map(|(index, _)| NodeId(index as u16));
        let relayed: Vec<bool> = plan.streams.iter().map(StreamPlan::is_relayed).collect();
        Self {
            any: relayed.contains(&true),
            relayed,
            senders: plan.streams.iter().map(|stream| stream.sender).collect(),
            collected: plan.streams.iter().map(collected).collect(),
            in_slots: plan.streams.iter().enumerate().map(in_slots).collect(),
            has_application: plan.streams.iter().map(|stream| stream.application.is_some()).collect(),
            gateways: gateways.collect(),
            begun: Vec::new(),
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

    /// True if a sender has no room for a message of its own, since those before it are still being sent, or newer data have
    /// taken its place before its slot.
    pub(crate) fn is_refused_by_sender(&self, node: NodeId, event: &Event) -> bool {
        let is_full = event.kind == EventKind::Discarded(DiscardReason::QueueFull);
        let is_replaced = event.kind == EventKind::Discarded(DiscardReason::Superseded)
            && self.has_application.get(event.stream.index()) == Some(&true);
        (is_full || is_replaced) && event.stream != StreamId::NONE && self.begins_at(event.stream, node)
    }

    /// A sender has put a frame on its segment.
    pub(crate) fn begin(&mut self, stream: StreamId, sequence: Option<u64>, at: SimTime) {
        self.begun.push((stream, sequence, at));
    }

    /// Makes rows of whole ways out of rows of hops, tells when each frame was due, and judges deadlines. `dues` knows when
    /// frames left their senders, or nothing.
    pub(crate) fn settle(&self, plan: &Plan, mut dues: Dues, rows: &mut RunRows) {
        let refused =
            rows.events.iter().filter(|row| self.is_refused_by_sender(row.node, &row.event)).filter_map(|row| {
                let EventKind::Discarded(reason) = row.event.kind else { return None };
                let outcome = Outcome::Discarded(reason);
                Some(open_row(row.event.stream, row.event.sequence, row.node, row.node, row.time, outcome))
            });
        rows.frames.extend(refused);
        if self.any {
            self.join(plan, &dues, rows);
        }
        rows.events.iter().for_each(|row| dues.note(row.time, row.node, &row.event));
        self.tell_dues(&dues, rows);
        judge(plan, &mut rows.frames);
    }

    /// Notes when each frame was due, and whether the host was away between then and when the frame had been checked.
    fn tell_dues(&self, dues: &Dues, rows: &mut RunRows) {
        let stays = Stays::new(&rows.stalls);
        for row in rows.frames.iter_mut().filter(|row| row.attack.is_none() && row.stream != StreamId::NONE) {
            // A live sender may have lost count of a frame that was accepted all the same, and that is judged too. What was missed
            // in a slot for which nothing was sent was never due.
            let is_known = row.sent_at.is_some() || row.accepted_at.is_some();
            row.due_at = match row.slot_start {
                Some(slot_start) if !self.has_application[row.stream.index()] => is_known.then_some(slot_start),
                _ if self.is_relayed(row.stream) => {
                    is_known.then(|| row.sent_at.map_or(row.cycle_start, |at| at.min(row.cycle_start)))
                }
                _ => row.sent_at.map(|at| dues.due(row.stream, row.sender, at)),
            };
            let ended_at = row.accepted_at.or(row.received_at);
            row.stalled |= row.due_at.zip(ended_at).is_some_and(|(from, to)| stays.overlap(from, to));
        }
    }

    fn join(&self, plan: &Plan, clocks: &Dues, rows: &mut RunRows) {
        let (mut told, others): (Vec<FrameRow>, Vec<FrameRow>) =
            std::mem::take(&mut rows.frames).into_iter().partition(|row| self.is_relayed(row.stream));
        rows.frames = others;
        told.extend(rows.events.iter().filter_map(|row| self.lost_row(row.time, row.node, &row.event)));
        let dues: BTreeMap<(StreamId, u64), SimTime> = rows
            .events
            .iter()
            .filter(|row| row.event.kind == EventKind::Sent && self.is_relayed(row.event.stream))
            .map(|row| ((row.event.stream, row.event.sequence), clocks.told_by(row.time, row.node, &row.event)))
            .collect();
        let hops = Hops::new(&rows.hops, &told);
        let sent = Sent::of(rows, |stream| self.is_relayed(stream));

        let mut ended: BTreeSet<(StreamId, u64, NodeId)> = BTreeSet::new();
        // Bytes on a bus tell at most a part of the number, and what was withheld before has one too: the sender knows.
        let number = |stream: StreamId, at: SimTime| Some((stream, sent.nearest(stream, at)?));
        let first = |(stream, sequence, at): &(StreamId, Option<u64>, SimTime)| {
            Some((sequence.map(|sequence| (*stream, sequence)).or_else(|| number(*stream, *at))?, *at))
        };
        let mut begun: BTreeMap<(StreamId, u64), SimTime> = self.begun.iter().filter_map(first).collect();
        let mut missing = Vec::new();
        for (place, mut row) in told.into_iter().enumerate() {
            let stream = &plan.streams[row.stream.index()];
            let is_end = stream.receivers.contains(&row.at);
            if row.sender == stream.sender && row.at == stream.sender && row.sent_at.is_some() {
                // Seen on its first segment and nowhere else.
                begun.extend(row.sent_at.and_then(|at| Some((number(row.stream, at)?, at))));
                continue;
            }
            if row.outcome == Outcome::Missing {
                if self.in_slots[row.stream.index()].contains(&row.at) {
                    match sent.just_before(row.stream, row.cycle_start, stream.period) {
                        Some(number) => row.sequence = number,
                        // Nothing was sent for this slot.
                        None => row.slot_start = Some(row.cycle_start),
                    }
                } else {
                    row.sequence = sent.complete(row.stream, stream.length, row.sequence, row.cycle_start);
                }
                // It was noticed later than the frame was due, and an attack is known by when its frame was.
                if let Some(due) = dues.get(&(row.stream, row.sequence)) {
                    row.cycle_start = *due;
                }
                missing.push(row);
                continue;
            }
            if let Some(way) = hops.way(place) {
                row.sent_at = way.sent_at;
                if let (None, Some((attack, attacker))) = (row.attack, way.attack) {
                    (row.attack, row.sender) = (Some(attack), attacker);
                }
            }
            let told_at = row.sent_at.unwrap_or(row.cycle_start);
            row.sequence = sent.complete(row.stream, stream.length, row.sequence, told_at);
            if row.attack.is_none() {
                row.sender = stream.sender;
                if let Some(sent_at) = row.sent_at {
                    begun.entry((row.stream, row.sequence)).or_insert(sent_at);
                }
            }
            let due = dues.get(&(row.stream, row.sequence)).copied().or(row.sent_at);
            row.cycle_start = due.unwrap_or(row.cycle_start);
            (row.slot_start, row.arrived_at, row.departed_at) = (None, None, None);
            // A copy of a frame that has come another way is the end of nothing.
            let is_copy = row.outcome == Outcome::Discarded(DiscardReason::CopyEliminated);
            let is_lost = matches!(row.outcome, Outcome::Discarded(_)) && !is_copy;
            if row.attack.is_none() {
                let receivers = if is_end { vec![row.at] } else { stream.receivers.clone() };
                if is_end && !is_copy || is_lost {
                    ended.extend(receivers.into_iter().map(|receiver| (row.stream, row.sequence, receiver)));
                }
            }
            if is_end || is_lost {
                rows.frames.push(row);
            }
        }
        for row in missing {
            if ended.insert((row.stream, row.sequence, row.at)) {
                rows.frames.push(row);
            }
        }
        for ((id, sequence), sent_at) in begun {
            let stream = &plan.streams[id.index()];
            for receiver in &stream.receivers {
                if !ended.contains(&(id, sequence, *receiver)) {
                    let due = dues.get(&(id, sequence)).copied().unwrap_or(sent_at);
                    let row = open_row(id, sequence, stream.sender, *receiver, due, Outcome::Unaccounted);
                    rows.frames.push(FrameRow { sent_at: Some(sent_at), ..row });
                }
            }
        }
        rows.frames.sort_by_key(|row| (row.sent_at.or(row.arrived_at).unwrap_or(row.cycle_start), row.stream));
    }

    /// The row of a frame that a gateway threw away after it had it, or that a receiver has waited for too long.
    fn lost_row(&self, time: SimTime, node: NodeId, event: &Event) -> Option<FrameRow> {
        let sender = *self.senders.get(event.stream.index())?;
        let row = |outcome| open_row(event.stream, event.sequence, sender, node, time, outcome);
        match event.kind {
            EventKind::Discarded(reason) if self.is_loss_at_gateway(node, event) => {
                Some(row(Outcome::Discarded(reason)))
            }
            EventKind::Missing if self.is_relayed(event.stream) => Some(row(Outcome::Missing)),
            _ => None,
        }
    }
}

/// A row of which nothing is known but its frame and its end.
pub(crate) fn open_row(
    stream: StreamId,
    sequence: u64,
    sender: NodeId,
    at: NodeId,
    cycle_start: SimTime,
    outcome: Outcome,
) -> FrameRow {
    FrameRow {
        stream,
        sequence,
        sender,
        at,
        attack: None,
        len: 0,
        cycle_start,
        slot_start: None,
        sent_at: None,
        arrived_at: None,
        departed_at: None,
        received_at: None,
        due_at: None,
        accepted_at: None,
        outcome,
        stalled: false,
    }
}

/// What is in the frames of a stream, if that is PDUs of others.
fn collected(stream: &StreamPlan) -> Vec<StreamId> {
    stream.collected().map(|collect| collect.streams.clone()).unwrap_or_default()
}

/// Judges the deadlines of streams, from when a frame was due to when its receiver had accepted it.
fn judge(plan: &Plan, rows: &mut [FrameRow]) {
    let mut accepted: BTreeMap<(StreamId, NodeId), Vec<&mut FrameRow>> = BTreeMap::new();
    for row in rows {
        let stream = plan.streams.get(row.stream.index());
        let is_accepted = row.attack.is_none() && matches!(row.outcome, Outcome::Delivered | Outcome::Late);
        if is_accepted && stream.is_some_and(|stream| stream.deadline_of(row.at).is_some()) {
            accepted.entry((row.stream, row.at)).or_default().push(row);
        }
    }
    for ((id, receiver), mut rows) in accepted {
        let stream = &plan.streams[id.index()];
        let Some(deadline) = stream.deadline_of(receiver) else { continue };
        rows.sort_by_key(|row| row.accepted_at);
        let accepted: Vec<Option<SimTime>> = rows.iter().map(|row| row.accepted_at).collect();
        for (place, row) in rows.into_iter().enumerate() {
            let until = match stream.deadline_kind {
                DeadlineKind::Reaction => accepted[place],
                // The last one of a run is followed by none.
                DeadlineKind::Age => accepted.get(place + 1).copied().flatten(),
            };
            if row.due_at.zip(until).is_some_and(|(due, until)| until > due + deadline) {
                row.outcome = Outcome::Late;
            }
        }
    }
}
