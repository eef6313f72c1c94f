//! The ways of streams that gateways carry on, from their sender to their receivers, and deadlines over whole ways.
//!
//! Both engines tell of each hop by itself. Here the hops of a frame become one row at each receiver: sent when its sender
//! sent it, late when its deadline was over.

mod sent;

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_catalog::Prepared;
use chronoseal_core::{AttackKind, DiscardReason, Event, EventKind, NodeId, SimTime, StreamId};
use chronoseal_plan::{DeadlineKind, HopPlan, Plan, StreamPlan};
use chronoseal_results::Stays;
use chronoseal_results::rows::{EventRow, FrameRow, HopRow, OnWayRow, Outcome, RunRows};

use self::sent::{Sent, as_sent};
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
    /// Gateways that start anew, and from when to when they are away.
    away: BTreeMap<NodeId, (SimTime, SimTime)>,
    /// Frames that a gateway lost when it started anew: stream, number as far as its bytes tell it, when its hop began, which gateway.
    in_vain: Vec<(StreamId, u64, SimTime, NodeId)>,
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
            away: plan.node_ids().filter_map(|node| Some((node, away(prepared, node)?))).collect(),
            in_vain: Vec::new(),
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

    /// True if a node may lose what it has or gets at this time since it starts anew: before it is there again.
    pub(crate) fn may_lose(&self, node: NodeId, at: SimTime) -> bool {
        !self.away.is_empty() && self.away.get(&node).is_some_and(|(_, until)| at < *until)
    }

    /// True if a gateway has started anew by this time.
    pub(crate) fn has_restarted(&self, node: NodeId, by: SimTime) -> bool {
        self.away.get(&node).is_some_and(|(from, _)| *from <= by)
    }

    /// A gateway that started anew has lost a frame.
    pub(crate) fn take_in_vain(&mut self, stream: StreamId, sequence: Option<u64>, sent_at: SimTime, node: NodeId) {
        if self.is_relayed(stream) {
            self.in_vain.push((stream, sequence.unwrap_or_default(), sent_at, node));
        }
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
        let lost = rows.events.iter().flat_map(|row| self.lost_rows(plan, row.time, row.node, &row.event));
        told.extend(lost);
        let hops = Hops::new(&rows.hops, &told);
        let sent = Sent::of(rows, |stream| self.is_relayed(stream));
        let dues: BTreeMap<(StreamId, u64), SimTime> = rows
            .events
            .iter()
            .filter(|row| row.event.kind == EventKind::Sent && self.is_relayed(row.event.stream))
            .filter_map(|row| {
                let number = sent.nearest(row.event.stream, row.time)?;
                let life = number - as_sent(number);
                let due = clocks.told_by(row.time, row.node, &row.event);
                Some(((row.event.stream, life | row.event.sequence), due))
            })
            .collect();

        let mut ended: BTreeSet<(StreamId, u64, NodeId)> = BTreeSet::new();
        // Bytes on a bus tell at most a part of the number, and what was withheld before has one too: the sender knows.
        let number = |stream: StreamId, at: SimTime| Some((stream, sent.nearest(stream, at)?));
        let first = |(stream, sequence, at): &(StreamId, Option<u64>, SimTime)| {
            let of_bytes = |sequence: &u64| (*stream, sent.complete(*stream, 4, *sequence, *at));
            Some((sequence.as_ref().map(of_bytes).or_else(|| number(*stream, *at))?, *at))
        };
        let mut begun: BTreeMap<(StreamId, u64), SimTime> = self.begun.iter().filter_map(first).collect();
        let mut missing = Vec::new();
        for (place, mut row) in told.into_iter().enumerate() {
            let stream = &plan.streams[row.stream.index()];
            let is_end = stream.receivers.contains(&row.at) && row.lost_for.is_none();
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
                let receivers = match row.lost_for {
                    Some(receiver) => vec![receiver],
                    None if is_end => vec![row.at],
                    None => stream.receivers.clone(),
                };
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
        let held = self.held_by_gateways(plan, rows, &sent);
        let kept_back = |row: &&EventRow| row.event.kind == EventKind::Attacked(AttackKind::Withhold);
        let keepers: BTreeSet<(StreamId, NodeId)> =
            rows.events.iter().filter(kept_back).map(|row| (row.event.stream, row.node)).collect();
        for on_way in &mut rows.on_way {
            if let Some(low) = on_way.sequence.filter(|_| self.is_relayed(on_way.stream)) {
                let length = plan.streams[on_way.stream.index()].length;
                on_way.sequence = Some(as_sent(sent.complete(on_way.stream, length, low, on_way.sent_at)));
            }
        }
        let on_way: BTreeSet<(StreamId, u64)> =
            rows.on_way.iter().filter_map(|row| Some((row.stream, row.sequence?))).collect();
        let last = rows.events.iter().map(|row| row.time).max().unwrap_or(SimTime::ZERO);
        for ((id, sequence), sent_at) in begun {
            let stream = &plan.streams[id.index()];
            for receiver in &stream.receivers {
                if ended.contains(&(id, sequence, *receiver)) {
                    continue;
                }
                let due = dues.get(&(id, sequence)).copied().unwrap_or(sent_at);
                let in_it = |gateway: &&NodeId| held.contains(&(id, sequence, **gateway));
                let before = gateways_before(stream, *receiver);
                let is_on_way = on_way.contains(&(id, as_sent(sequence)));
                let places = std::iter::once(receiver).chain(&before);
                let lost_at = places.filter(in_it).find(|gateway| self.has_restarted(**gateway, last));
                if let Some(gateway) = lost_at.filter(|_| !is_on_way) {
                    let outcome = Outcome::Discarded(DiscardReason::Restarted);
                    let row = open_row(id, sequence, stream.sender, *gateway, due, outcome);
                    let lost_for = Some(*receiver).filter(|receiver| receiver != gateway);
                    rows.frames.push(FrameRow { sent_at: Some(sent_at), lost_for, ..row });
                    continue;
                }
                // Who kept it back does not say which it was.
                if !is_on_way && before.iter().any(|gateway| keepers.contains(&(id, *gateway))) {
                    let row = open_row(id, sequence, stream.sender, *receiver, due, Outcome::Missing);
                    rows.frames.push(FrameRow { sent_at: Some(sent_at), ..row });
                    continue;
                }
                if !is_on_way && before.iter().any(|gateway| in_it(&gateway)) {
                    rows.on_way.push(OnWayRow { stream: id, sequence: Some(as_sent(sequence)), sent_at });
                }
                let row = open_row(id, sequence, stream.sender, *receiver, due, Outcome::Unaccounted);
                rows.frames.push(FrameRow { sent_at: Some(sent_at), ..row });
            }
        }
        for row in &mut rows.frames {
            row.sequence = as_sent(row.sequence);
        }
        rows.frames.sort_by_key(|row| (row.sent_at.or(row.arrived_at).unwrap_or(row.cycle_start), row.stream));
    }

    /// Frames that came to a gateway on their way and were not lost there by any word of it: stream, number, gateway.
    ///
    /// Of one that starts anew: that came before it was there again. What is sent on by then ends elsewhere.
    fn held_by_gateways(&self, plan: &Plan, rows: &RunRows, sent: &Sent) -> BTreeSet<(StreamId, u64, NodeId)> {
        let number = |stream: StreamId, low: u64, at: SimTime| {
            sent.complete(stream, plan.streams.get(stream.index()).map_or(0, |stream| stream.length), low, at)
        };
        let came = rows.hops.iter().filter(|hop| self.gateways.contains(&hop.to) && self.is_relayed(hop.stream));
        let before = |hop: &&HopRow| {
            self.away.get(&hop.to).is_none_or(|(_, until)| hop.received_at.is_none_or(|at| at < *until))
        };
        let came = came.filter(before).filter_map(|hop| {
            let sent_at = hop.sent_at?;
            Some((hop.stream, number(hop.stream, hop.sequence, sent_at), hop.to))
        });
        let in_vain = self.in_vain.iter().map(|(stream, low, at, node)| (*stream, number(*stream, *low, *at), *node));
        came.chain(in_vain).collect()
    }

    /// The rows of a frame that a gateway threw away after it had it, one for each receiver behind, or of one that a receiver has
    /// waited for too long.
    fn lost_rows(&self, plan: &Plan, time: SimTime, node: NodeId, event: &Event) -> Vec<FrameRow> {
        let Some(sender) = self.sender(event.stream) else { return Vec::new() };
        let row = |outcome| open_row(event.stream, event.sequence, sender, node, time, outcome);
        let reason = match event.kind {
            EventKind::Discarded(reason) if self.is_loss_at_gateway(node, event) => Some(reason),
            // Without a key nothing goes on.
            EventKind::Withheld if self.is_relayed(event.stream) && sender != node => Some(DiscardReason::NoKey),
            _ => None,
        };
        match (event.kind, reason) {
            (_, Some(reason)) => {
                let row = row(Outcome::Discarded(reason));
                let stream = &plan.streams[event.stream.index()];
                match behind(plan, stream, node, event.value) {
                    receivers if receivers.is_empty() => vec![row],
                    receivers => {
                        receivers.into_iter().map(|receiver| FrameRow { lost_for: Some(receiver), ..row }).collect()
                    }
                }
            }
            (EventKind::Missing, _) if self.is_relayed(event.stream) => vec![row(Outcome::Missing)],
            _ => Vec::new(),
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
        lost_for: None,
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
