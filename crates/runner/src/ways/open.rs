//! Rows whose frames may still come to something, until all is known of them.
//!
//! What happens is told in spans of time. When one is over, the rows of the span before are settled: all that belongs to one frame is told
//! within two of them, but for what waits longer and is known to be open.

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_catalog::Prepared;
use chronoseal_core::{AttackKind, DiscardReason, EventKind, NodeId, SimTime, StreamId};
use chronoseal_plan::Plan;
use chronoseal_results::Stays;
use chronoseal_results::rows::{Absence, EventRow, FrameRow, HopRow, OnWayRow, Outcome, OwedRow, RunRows};

use super::judge::{judge, take_unjudged};
use super::sent::{Sent, as_sent};
use super::spans::{Spans, TwoSpans};
use super::{Ways, gateways_before};
use crate::dues::Dues;
use crate::group::Removed;
use crate::hops::Hops;

/// A frame on a segment.
#[derive(Clone, Copy)]
pub(crate) struct OnSegment {
    pub(crate) stream: StreamId,
    /// Its number if its bytes tell all of it.
    pub(crate) sequence: Option<u64>,
    pub(crate) sent_at: SimTime,
    pub(crate) serial: Option<u64>,
}

/// A number of a stream, with the life of its sender.
type Number = (StreamId, u64);

/// When a frame came to a gateway that starts anew. What came before it was there again and is not sent on by then is lost.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Came {
    Before,
    After,
}

/// Rows that are not settled, and what later ones need of those that are.
pub(crate) struct Open<'p> {
    plan: &'p Plan,
    pub(crate) ways: Ways,
    pub(crate) dues: Dues,
    sent: Sent,
    removed: Removed,
    stays: Stays,
    /// Frames of streams that cross one segment, or of none.
    single: TwoSpans<FrameRow>,
    /// Frames of streams that gateways carry on, as nodes told of them.
    told: Spans<FrameRow>,
    /// Of frames that their senders or gateways threw away, which stand behind all that was told in a span.
    refused: Vec<FrameRow>,
    lost: Vec<FrameRow>,
    /// Transmissions of frames that gateways carry on.
    pub(crate) hops: Spans<HopRow>,
    /// Frames that their senders put on their segments.
    begun: TwoSpans<OnSegment>,
    /// Which frames these are, by serial number, as long as they are open.
    serials: BTreeMap<u64, Number>,
    /// The last frame of each stream that its sender put on its segment.
    last_begun: BTreeMap<StreamId, u64>,
    /// When frames began of which it is not known what became of them everywhere, or was not long ago.
    open: BTreeMap<Number, SimTime>,
    ended: BTreeSet<(StreamId, u64, NodeId)>,
    /// Frames that somebody on their way waited for in vain: what a gateway missed it has not sent on.
    missed: BTreeSet<(StreamId, u64, NodeId)>,
    /// Frames that their receivers missed, which may have ended otherwise.
    missing: Vec<FrameRow>,
    /// Accepted frames whose deadline is about when the next one is accepted.
    unjudged: Vec<FrameRow>,
    /// Frames that a gateway lost when it started anew, and which gateway.
    in_vain: Vec<(OnSegment, NodeId)>,
    /// Who kept back frames of a stream.
    keepers: BTreeSet<(StreamId, NodeId)>,
    pub(crate) owed: Vec<OwedRow>,
    pub(crate) on_way: Vec<OnWayRow>,
    /// When the last event happened.
    last: SimTime,
    /// When the last spans but one, and the last one, were over.
    over: [SimTime; 2],
}

impl<'p> Open<'p> {
    pub(crate) fn new(prepared: &Prepared<'p>) -> Self {
        Self {
            plan: prepared.plan(),
            ways: Ways::of(prepared),
            dues: Dues::new(prepared),
            sent: Sent::default(),
            removed: Removed::new(prepared.plan()),
            stays: Stays::default(),
            single: TwoSpans::default(),
            told: Spans::default(),
            refused: Vec::new(),
            lost: Vec::new(),
            hops: Spans::default(),
            begun: TwoSpans::default(),
            serials: BTreeMap::new(),
            last_begun: BTreeMap::new(),
            open: BTreeMap::new(),
            ended: BTreeSet::new(),
            missed: BTreeSet::new(),
            missing: Vec::new(),
            unjudged: Vec::new(),
            in_vain: Vec::new(),
            keepers: BTreeSet::new(),
            owed: Vec::new(),
            on_way: Vec::new(),
            last: SimTime::ZERO,
            over: [SimTime::from_ps(i64::MIN / 2); 2],
        }
    }

    /// Takes in an event, in the order of events.
    pub(crate) fn event(&mut self, row: &EventRow) {
        let (event, stream) = (&row.event, row.event.stream);
        self.last = self.last.max(row.time);
        match event.kind {
            EventKind::Sent if self.ways.is_relayed(stream) => {
                let due = self.dues.told_by(row.time, row.node, event);
                self.sent.note(stream, row.time, event.sequence, due);
            }
            EventKind::Sent => self.dues.note(row.time, row.node, event),
            EventKind::KeyInstalled => self.removed.key_installed(row.time, row.node),
            EventKind::Attacked(AttackKind::Withhold) => drop(self.keepers.insert((stream, row.node))),
            EventKind::Discarded(reason) => {
                if self.ways.is_refused_by_sender(row.node, event) {
                    let outcome = Outcome::Discarded(reason);
                    self.refused.push(FrameRow::open(stream, event.sequence, row.node, row.node, row.time, outcome));
                }
                self.lose(row);
            }
            EventKind::Withheld | EventKind::Missing => self.lose(row),
            _ => {}
        }
    }

    fn lose(&mut self, row: &EventRow) {
        if self.ways.any {
            self.ways.lost_rows(self.plan, row, &mut self.lost);
        }
    }

    /// Takes in a frame that a node told of.
    pub(crate) fn frame(&mut self, row: FrameRow) {
        match self.ways.is_relayed(row.stream) {
            true => self.told.push(row),
            false => self.single.now.push(row),
        }
    }

    /// A sender has put a frame on its segment.
    pub(crate) fn begin(&mut self, frame: OnSegment) {
        self.begun.now.push(frame);
    }

    /// The run is over, and in it every frame was seen to leave: those that have not are with their senders.
    pub(crate) fn wait_at_senders(&mut self) {
        let row = |(stream, number, sent_at)| OnWayRow { stream, sequence: Some(number), sent_at };
        self.on_way.extend(self.dues.waiting().map(row));
    }

    /// The run is over: somebody on their way has those frames that he would have let go on later.
    fn wait_where_held(&mut self) {
        for (stream, held_for) in &self.ways.held {
            let since = self.last - *held_for;
            let row = |(number, sent_at)| OnWayRow { stream: *stream, sequence: Some(as_sent(number)), sent_at };
            match self.ways.is_relayed(*stream) {
                true => self.on_way.extend(self.sent.since(*stream, since).map(row)),
                false => self.on_way.extend(self.dues.left_since(*stream, since).map(row)),
            }
        }
    }

    /// A gateway that started anew has lost a frame.
    pub(crate) fn take_in_vain(&mut self, frame: OnSegment, node: NodeId) {
        if self.ways.is_relayed(frame.stream) {
            self.in_vain.push((frame, node));
        }
    }

    /// Which frame of a stream its sender sent at a time, where its bytes cannot be read.
    pub(crate) fn number_of(&self, stream: StreamId, sender: NodeId, sent_at: SimTime) -> Option<u64> {
        match self.ways.is_relayed(stream) {
            true => self.sent.nearest_told(stream, sent_at),
            false => self.dues.number(stream, sender, sent_at),
        }
    }

    /// When the last event happened.
    pub(crate) const fn last(&self) -> SimTime {
        self.last
    }

    /// Who is known to be out of the group that reads a stream.
    pub(crate) fn absences(&self) -> Vec<Absence> {
        self.removed.absences()
    }

    pub(crate) const fn plan(&self) -> &'p Plan {
        self.plan
    }

    /// Transmissions that are settled next.
    pub(crate) fn settling_hops(&self, is_over: bool) -> &[HopRow] {
        &self.hops.rows[self.hops.settling(is_over)]
    }

    /// When the oldest frame began of which it is not known what became of it everywhere, or was not long ago.
    pub(crate) fn oldest(&self) -> Option<SimTime> {
        self.open.values().min().copied()
    }

    /// Rows that came since a span was over.
    pub(crate) fn fresh(&self) -> usize {
        self.single.now.len() + self.told.fresh() + self.hops.fresh()
    }

    #[cfg(test)]
    pub(crate) fn frames(&self) -> Vec<FrameRow> {
        let TwoSpans { before, now } = &self.single;
        before.iter().chain(now).chain(&self.told.rows).copied().collect()
    }

    /// A span is over: the frames of the span before that have ended, with when each was due and whether it was late. When the run is
    /// over all. Frames that left their senders from `oldest` on may be under way.
    pub(crate) fn settle(&mut self, now: SimTime, oldest: SimTime, is_over: bool) -> Vec<FrameRow> {
        for row in std::mem::take(&mut self.refused) {
            self.frame(row);
        }
        for row in std::mem::take(&mut self.lost) {
            self.told.push(row);
        }
        let mut rows = self.single.take_settled(is_over);
        if is_over {
            self.sent.sort_in();
            self.wait_where_held();
        }
        if self.ways.any {
            self.join(is_over, &mut rows);
        }
        self.tell_dues(&mut rows);
        rows.splice(..0, std::mem::take(&mut self.unjudged));
        judge(self.plan, &mut rows);
        if !is_over {
            self.unjudged = take_unjudged(self.plan, &mut rows);
        }
        self.removed.leave_out(&mut rows);
        let [keep_from, _] = self.over;
        self.dues.forget(keep_from.min(oldest) - self.ways.held_for());
        self.over = [self.over[1], now];
        rows
    }

    /// Settles the rows of a run that is over.
    pub(crate) fn settle_all(mut self, rows: &mut RunRows) {
        self.stays = Stays::new(&rows.stalls);
        rows.events.iter().for_each(|row| self.event(row));
        std::mem::take(&mut rows.frames).into_iter().for_each(|row| self.frame(row));
        self.hops.rows = std::mem::take(&mut rows.hops);
        self.on_way = std::mem::take(&mut rows.on_way);
        rows.frames = self.settle(self.last, self.last, true);
        rows.absences = self.absences();
        // Of a stream that crosses one segment the row of its frame says all.
        let Self { ways, hops, on_way, .. } = self;
        (rows.hops, rows.on_way) = (hops.rows, on_way);
        rows.hops.retain(|hop| ways.is_relayed(hop.stream));
    }

    /// Notes when each frame was due, and whether the host was away between then and when the frame had been checked.
    fn tell_dues(&self, rows: &mut [FrameRow]) {
        for row in rows.iter_mut().filter(|row| row.attack.is_none() && row.stream != StreamId::NONE) {
            let is_relayed = self.ways.is_relayed(row.stream);
            let is_held = !is_relayed && self.ways.held.contains_key(&row.stream);
            let due_where_held = is_held.then(|| self.begin_where_held(row)).flatten();
            // A live sender may have lost count of a frame that was accepted all the same, and that is judged too. What was missed
            // in a slot for which nothing was sent was never due.
            let is_known = row.sent_at.is_some() || row.accepted_at.is_some();
            row.due_at = match row.slot_start {
                Some(slot_start) if !self.ways.has_application[row.stream.index()] => is_known.then_some(slot_start),
                _ if is_relayed => is_known.then(|| row.sent_at.map_or(row.cycle_start, |at| at.min(row.cycle_start))),
                _ => {
                    let by_sender = || row.sent_at.map(|at| self.dues.due(row.stream, row.sender, at));
                    // Of a message whose sender was lost it is known where the message said so.
                    due_where_held.or(row.due_at).or_else(by_sender)
                }
            };
            let ended_at = row.accepted_at.or(row.received_at);
            row.stalled |= row.due_at.zip(ended_at).is_some_and(|(from, to)| self.stays.overlap(from, to));
        }
    }

    /// Where somebody holds frames on their way, a row tells when the frame went on: here it learns when the frame left its sender, which
    /// its number says, and in which slot that was. When it was due.
    fn begin_where_held(&self, row: &mut FrameRow) -> Option<SimTime> {
        let went_on_at = row.sent_at?;
        let (left_at, due_at) = self.dues.of_number(row.stream, row.sender, row.sequence, went_on_at)?;
        row.sent_at = Some(left_at);
        // A clock may be a little before the slot.
        let period = self.plan.streams[row.stream.index()].period;
        let slots_late = |slot_start: SimTime| (slot_start - left_at + period / 2).div_floor(period);
        if let Some(slot_start) = row.slot_start.as_mut().filter(|slot_start| slots_late(**slot_start) > 0) {
            let late_by = period * slots_late(*slot_start);
            *slot_start = *slot_start - late_by;
            row.cycle_start = row.cycle_start - late_by;
            if row.outcome == Outcome::Delivered {
                row.outcome = Outcome::Late;
            }
        }
        Some(due_at)
    }

    /// Joins the hops of frames that gateways carried on.
    fn join(&mut self, is_over: bool, rows: &mut Vec<FrameRow>) {
        let (plan, [keep_from, _]) = (self.plan, self.over);
        self.sent.sort_in();
        // Bytes on a bus tell at most a part of the number, and what was withheld before has one too: the sender knows.
        for OnSegment { stream, sequence, sent_at, serial } in self.begun.take_settled(is_over) {
            let last = self.last_begun.get(&stream).copied();
            let number = match sequence {
                Some(sequence) => Some(self.sent.complete(stream, 4, sequence, sent_at)),
                None => self.sent.begun(stream, sent_at, last),
            };
            if let Some(number) = number {
                self.open.insert((stream, number), sent_at);
                self.serials.extend(serial.map(|serial| (serial, (stream, number))));
                self.last_begun.insert(stream, last.map_or(number, |last| last.max(number)));
            }
        }
        let sent = &self.sent;
        let number = |stream: StreamId, at: SimTime| Some((stream, sent.nearest(stream, at)?));
        let hops = Hops::new(&self.hops.rows, &self.told.rows);
        let mut missing = Vec::new();
        rows.reserve(self.told.settling(is_over).len());
        for place in self.told.settling(is_over) {
            let mut row = self.told.rows[place];
            let stream = &plan.streams[row.stream.index()];
            let is_end = stream.receivers.contains(&row.at) && row.lost_for.is_none();
            if row.sender == stream.sender && row.at == stream.sender && row.sent_at.is_some() {
                // Seen on its first segment and nowhere else.
                let seen = row.sent_at.filter(|at| *at >= keep_from);
                self.open.extend(seen.and_then(|at| Some((number(row.stream, at)?, at))));
                continue;
            }
            if row.outcome == Outcome::Missing && row.attack.is_some() {
                // What an attacker put there and nobody has come to is the end of no frame of the sender's.
                rows.push(row);
                continue;
            }
            if row.outcome == Outcome::Missing {
                let is_held = !is_end && self.ways.over_sure_segments[row.stream.index()].contains(&row.at);
                if let Some(sent_at) = row.sent_at.filter(|_| is_held) {
                    // A gateway still waits for the rest of a message.
                    self.on_way.push(OnWayRow { stream: row.stream, sequence: Some(row.sequence), sent_at });
                    continue;
                }
                if self.ways.in_slots[row.stream.index()].contains(&row.at) {
                    match sent.just_before(row.stream, row.cycle_start, stream.period) {
                        Some(number) => row.sequence = number,
                        // Nothing was sent for this slot, which began in the period before. The number is how many its receiver has missed.
                        None => {
                            let (noticed, begins) = (row.cycle_start, row.cycle_start - stream.period);
                            rows.push(FrameRow { slot_start: Some(noticed), cycle_start: begins, ..row });
                            continue;
                        }
                    }
                } else {
                    row.sequence = sent.complete(row.stream, stream.length, row.sequence, row.cycle_start);
                }
                // It was noticed later than the frame was due, and an attack is known by when its frame was.
                if let Some(due) = sent.due(row.stream, row.sequence) {
                    row.cycle_start = due;
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
                // One of before has ended, or it would be open.
                if let Some(sent_at) = row.sent_at.filter(|at| *at >= keep_from) {
                    self.open.entry((row.stream, row.sequence)).or_insert(sent_at);
                }
            }
            let due = sent.due(row.stream, row.sequence).or(row.sent_at);
            row.cycle_start = due.unwrap_or(row.cycle_start);
            (row.slot_start, row.arrived_at, row.departed_at) = (None, None, None);
            // A copy of a frame that has come another way is the end of nothing.
            let is_copy = row.outcome == Outcome::Discarded(DiscardReason::CopyEliminated);
            let is_lost = matches!(row.outcome, Outcome::Discarded(_)) && !is_copy;
            if row.attack.is_none() && (is_end && !is_copy || is_lost) {
                let own = [row.lost_for.unwrap_or(row.at)];
                let receivers = if is_end || row.lost_for.is_some() { &own } else { &stream.receivers[..] };
                self.ended.extend(receivers.iter().map(|receiver| (row.stream, row.sequence, *receiver)));
            }
            if is_end || is_lost {
                rows.push(row);
            }
        }
        std::mem::swap(&mut self.missing, &mut missing);
        if is_over {
            missing.append(&mut self.missing);
        }
        for row in missing {
            let number = (row.stream, row.sequence, row.at);
            if self.ended.insert(number) {
                self.missed.insert(number);
                rows.push(row);
            }
        }
        if is_over {
            self.end_all(rows);
        } else {
            self.forget_ended();
        }
        for row in rows.iter_mut() {
            row.sequence = as_sent(row.sequence);
        }
        rows.sort_by_cached_key(|row| (row.sent_at.or(row.arrived_at).unwrap_or(row.cycle_start), row.stream));
    }

    /// A row for each frame that is open when the run is over, at each receiver where it has not ended.
    fn end_all(&mut self, rows: &mut Vec<FrameRow>) {
        let (plan, sent) = (self.plan, &self.sent);
        let held = self.held_by_gateways();
        for on_way in &mut self.on_way {
            if let Some(low) = on_way.sequence.filter(|_| self.ways.is_relayed(on_way.stream)) {
                let length = plan.streams[on_way.stream.index()].length;
                on_way.sequence = Some(as_sent(sent.complete(on_way.stream, length, low, on_way.sent_at)));
            }
        }
        for (stream, last) in &self.last_begun {
            let row = |(number, sent_at)| OnWayRow { stream: *stream, sequence: Some(as_sent(number)), sent_at };
            self.on_way.extend(sent.behind(*stream, *last).map(row));
        }
        let on_way: BTreeSet<Number> = self.on_way.iter().filter_map(|row| Some((row.stream, row.sequence?))).collect();
        for ((id, sequence), sent_at) in std::mem::take(&mut self.open) {
            let stream = &plan.streams[id.index()];
            for receiver in &stream.receivers {
                if self.ended.contains(&(id, sequence, *receiver)) {
                    continue;
                }
                let due = sent.due(id, sequence).unwrap_or(sent_at);
                let in_it = |gateway: &NodeId| held.get(&(id, sequence, *gateway)).copied();
                let before = gateways_before(stream, *receiver);
                let is_on_way = on_way.contains(&(id, as_sent(sequence)));
                let places = std::iter::once(receiver).chain(&before);
                let lost_at = places
                    .filter(|gateway| in_it(gateway) == Some(Came::Before))
                    .find(|gateway| self.ways.has_restarted(**gateway, self.last));
                if let Some(gateway) = lost_at.filter(|_| !is_on_way) {
                    let outcome = Outcome::Discarded(DiscardReason::Restarted);
                    let row = FrameRow::open(id, sequence, stream.sender, *gateway, due, outcome);
                    let lost_for = Some(*receiver).filter(|receiver| receiver != gateway);
                    rows.push(FrameRow { sent_at: Some(sent_at), lost_for, ..row });
                    continue;
                }
                // Who kept it back does not say which it was. Its receiver tells of no gap behind which the next has come.
                let never_came = |gateway: &NodeId| {
                    self.keepers.contains(&(id, *gateway)) || self.missed.contains(&(id, sequence, *gateway))
                };
                if !is_on_way && before.iter().any(never_came) {
                    let row = FrameRow::open(id, sequence, stream.sender, *receiver, due, Outcome::Missing);
                    rows.push(FrameRow { sent_at: Some(sent_at), ..row });
                    continue;
                }
                if !is_on_way && before.iter().any(|gateway| in_it(gateway).is_some()) {
                    self.on_way.push(OnWayRow { stream: id, sequence: Some(as_sent(sequence)), sent_at });
                }
                let row = FrameRow::open(id, sequence, stream.sender, *receiver, due, Outcome::Unaccounted);
                rows.push(FrameRow { sent_at: Some(sent_at), ..row });
            }
        }
    }

    /// The number that a PDU on its way has at its sender.
    fn number(&self, stream: StreamId, low: u64, at: SimTime) -> Number {
        let length = self.plan.streams.get(stream.index()).map_or(0, |stream| stream.length);
        (stream, self.sent.complete(stream, length, low, at))
    }

    /// Frames that came to a gateway on their way and were not lost there by any word of it: stream, number, gateway.
    fn held_by_gateways(&self) -> BTreeMap<(StreamId, u64, NodeId), Came> {
        let at_gateway = |hop: &&HopRow| self.ways.gateways.contains(&hop.to) && self.ways.is_relayed(hop.stream);
        let came = |hop: &HopRow| match self.ways.away.get(&hop.to) {
            Some((_, until)) if hop.received_at.is_some_and(|at| at >= *until) => Came::After,
            _ => Came::Before,
        };
        let of_hop = |hop: &HopRow| Some((self.number(hop.stream, hop.sequence, hop.sent_at?), hop.to, came(hop)));
        let hops = self.hops.rows.iter().filter(at_gateway).filter_map(of_hop);
        let number = |OnSegment { stream, sequence, sent_at, serial }: &OnSegment| match sequence {
            Some(low) => Some(self.number(*stream, *low, *sent_at)),
            None => {
                let known = serial.and_then(|serial| self.serials.get(&serial)).copied();
                known.or_else(|| Some((*stream, self.sent.nearest(*stream, *sent_at)?)))
            }
        };
        let of_lost = |(frame, node): &(OnSegment, NodeId)| Some((number(frame)?, *node, Came::Before));
        let in_vain = self.in_vain.iter().filter_map(of_lost);
        let mut held = BTreeMap::new();
        for ((stream, number), node, came) in hops.chain(in_vain) {
            let known = held.entry((stream, number, node)).or_insert(came);
            *known = came.min(*known);
        }
        held
    }

    /// Forgets frames that have ended everywhere a while ago, with their transmissions.
    fn forget_ended(&mut self) {
        let [keep_from, _] = self.over;
        let mut first: BTreeMap<StreamId, SimTime> = BTreeMap::new();
        self.open.retain(|(id, number), at| {
            let receivers = &self.plan.streams[id.index()].receivers;
            let has_ended = receivers.iter().all(|receiver| self.ended.contains(&(*id, *number, *receiver)));
            if !has_ended {
                let first = first.entry(*id).or_insert(*at);
                *first = (*first).min(*at);
            }
            !has_ended || *at >= keep_from
        });
        let open = &self.open;
        self.serials.retain(|_, number| open.contains_key(number));
        let mut numbers: BTreeMap<StreamId, u64> = BTreeMap::new();
        for (stream, id) in
            self.plan.streams.iter().zip((0..).map(StreamId)).filter(|(_, id)| self.ways.is_relayed(*id))
        {
            let from = first.get(&id).map_or(keep_from, |first| keep_from.min(*first));
            // Whoever misses a frame may wait for some more.
            numbers.insert(id, self.sent.forget(id, from.min(self.last - stream.period * 4)));
        }
        let is_young = |stream: &StreamId, number: u64| numbers.get(stream).is_none_or(|first| number >= *first);
        let open = &self.open;
        for known in [&mut self.ended, &mut self.missed] {
            known.retain(|(stream, number, _)| open.contains_key(&(*stream, *number)) || is_young(stream, *number));
        }
        self.told.forget_settled(|_| false);
        let mut hops = std::mem::take(&mut self.hops);
        hops.forget_settled(|hop| {
            let number = hop.sent_at.map(|at| self.number(hop.stream, hop.sequence, at));
            number.is_some_and(|number| self.open.contains_key(&number))
        });
        self.hops = hops;
    }
}
