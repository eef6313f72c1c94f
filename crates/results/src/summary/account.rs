//! The account of a stream's frames: what became of each of them at each receiver.
//!
//! Both sides are counted by themselves. What was sent comes from the senders' own events; how frames ended comes from rows.
//! The two are brought together frame by frame, so that a frame cannot end twice and none can vanish:
//!
//! 1. A row that the receiver wrote ends the frame it is about: by its number where the frame's bytes tell one, else the frame
//!    sent nearest to when the row says it was.
//! 2. What was thrown away before it was copied for its receivers ends for each of them, unless it came there another way.
//! 3. A frame that an attacker held in its hands and changed or put another in place of is replaced. One that it kept back is
//!    missed or lost like any other that does not come.
//! 4. A slot in which the receiver saw nothing ends the frame sent for that slot. If a frame of that slot has ended in another
//!    way, the receiver was only too busy to see it in time. If none was sent for it, the slot was not used.
//! 5. What is left was under way when the run ended, or is overdue if its deadline was over by then. What is nowhere is unaccounted for,
//!    which the program cannot explain.
//!
//! A frame that was due and that its sender did not hand over is in the account too: it was not sent, or is still to come.

mod not_sent;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_core::{DiscardReason, Duration, EventKind, NodeId, SimTime, StreamId};
use serde::{Deserialize, Serialize};

use self::not_sent::{NotSent, Unsent, not_sent};
use super::copies::Copies;
use super::displaced::Attacks;
use crate::{Absence, Distribution, EndMeta, FrameRow, OnWayRow, Outcome, RunMeta, RunRows, StreamMeta};

/// What became of a stream's frames at one receiver: `due` is the sum of all ends.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Account {
    /// Who was to receive them; of a stream that many nodes send to many, all of them together.
    pub receiver: String,
    /// Frames that were due for it, whether or not they were sent.
    #[serde(default)]
    pub due: u64,
    /// Frames that were sent to it, by what their senders told.
    pub sent: u64,
    /// Accepted in time.
    pub in_time: u64,
    /// Accepted after their slot, or after their deadline.
    pub late: u64,
    /// On their way when the run ended, with their deadline over.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub overdue: u64,
    /// Thrown away, by reason.
    pub discarded: BTreeMap<String, u64>,
    /// Sent for a slot in which the receiver saw nothing, or begun and never whole.
    pub missing: u64,
    /// Their place was taken by a frame of an attack, as the trace shows.
    pub replaced: u64,
    /// Nobody can say where they are.
    pub unaccounted: u64,
    /// Not in time in cycles that began before start-up was over, whatever became of them.
    pub startup: u64,
    /// On their way when the run ended, or about to be sent.
    pub in_flight: u64,
    /// Due after start-up, and its sender sent nothing; these are not among `sent`.
    pub not_sent: u64,
    /// From when a frame was due to when this receiver had accepted it, after start-up. `None` if the stream has one receiver only, of
    /// which its own figures are, or if it accepted none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_to_end: Option<Distribution>,
    /// What became of the copies of frames that are sent several times; these are not among `sent`.
    #[serde(default, skip_serializing_if = "Copies::is_none")]
    pub copies: Copies,
}

impl Account {
    /// Frames that were due less those of which it is known how they ended. It is zero, or a frame ended twice.
    pub fn balance(&self) -> i64 {
        let ended = self.in_time
            + self.late
            + self.overdue
            + self.discarded_total()
            + self.missing
            + self.replaced
            + self.not_sent;
        let open = self.unaccounted + self.startup + self.in_flight;
        self.due as i64 - (ended + open) as i64
    }

    /// Why frames were not in time after start-up, and how many.
    pub fn losses(&self) -> impl Iterator<Item = (&str, u64)> {
        let own = [
            ("late", self.late),
            ("overdue", self.overdue),
            ("missing", self.missing),
            ("not-sent", self.not_sent),
            ("replaced", self.replaced),
            ("unaccounted", self.unaccounted),
        ];
        let discarded = self.discarded.iter().map(|(reason, count)| (reason.as_str(), *count));
        own.into_iter().chain(discarded).filter(|(_, count)| *count > 0)
    }

    /// Thrown away after start-up.
    pub fn discarded_total(&self) -> u64 {
        self.discarded.values().sum()
    }

    /// Takes in another account of the same stream.
    pub(super) fn add(&mut self, other: &Self) {
        self.due += other.due;
        self.sent += other.sent;
        self.in_time += other.in_time;
        self.late += other.late;
        self.overdue += other.overdue;
        self.missing += other.missing;
        self.replaced += other.replaced;
        self.unaccounted += other.unaccounted;
        self.startup += other.startup;
        self.in_flight += other.in_flight;
        self.not_sent += other.not_sent;
        self.copies.add(other.copies);
        for (reason, count) in &other.discarded {
            *self.discarded.entry(reason.clone()).or_default() += count;
        }
    }
}

/// A frame as its sender told of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Sent {
    time: SimTime,
    sender: NodeId,
    number: u64,
    due: SimTime,
}

/// What all accounts of one stream need.
pub(super) struct Ledger<'r> {
    id: StreamId,
    stream: &'r StreamMeta,
    /// By time.
    sent: Vec<Sent>,
    /// Rows of each receiver.
    own: BTreeMap<NodeId, Vec<&'r FrameRow>>,
    /// Of frames that were thrown away before they were copied for their receivers.
    on_way: Vec<&'r FrameRow>,
    not_sent: NotSent,
    /// Frames that are known to have been somewhere when the run ended.
    somewhere: Vec<&'r OnWayRow>,
    attacks: Attacks<'r>,
    /// Length of the cycle that the stream's slots repeat in `[ns]`.
    cycle_ns: i64,
    ready_ns: i64,
    /// When the run was to end: senders stop there with what they have told and not yet handed over, while a live run goes on recording
    /// what is on the links. Of a run that was stopped, when the last thing happened.
    end: SimTime,
    absences: &'r [Absence],
}

/// Every stream's frames and rows, each gathered once.
pub(super) fn ledgers<'r>(meta: &'r RunMeta, rows: &'r RunRows, ready_ns: &[i64]) -> Vec<Ledger<'r>> {
    let mut sent: Vec<Vec<Sent>> = vec![Vec::new(); meta.streams.len()];
    let mut end = SimTime::ZERO;
    for row in &rows.events {
        end = end.max(row.time);
        let index = row.event.stream.index();
        let is_of_sender = |stream: &StreamMeta| stream.is_sent_by(row.node.0);
        if row.event.kind == EventKind::Sent && meta.streams.get(index).is_some_and(is_of_sender) {
            let due = row.time - Duration::from_ps(row.event.value.max(0));
            sent[index].push(Sent { time: row.time, sender: row.node, number: row.event.sequence, due });
        }
    }
    let mut of_stream: Vec<Vec<&FrameRow>> = vec![Vec::new(); meta.streams.len()];
    for row in &rows.frames {
        end = end.max(row.received_at.or(row.sent_at).unwrap_or(SimTime::ZERO));
        if let Some(rows) = of_stream.get_mut(row.stream.index()).filter(|_| row.attack.is_none()) {
            rows.push(row);
        }
    }
    if meta.duration_ns > 0 {
        let planned = SimTime::ZERO + Duration::from_ns(meta.duration_ns);
        end = if meta.interrupted || rows.interrupted { end.min(planned) } else { planned };
    }
    let mut attacks = Attacks::by_stream(meta, rows).into_iter();
    let mut not_sent = not_sent(meta, rows).into_iter();
    let mut somewhere: Vec<Vec<&OnWayRow>> = vec![Vec::new(); meta.streams.len()];
    for row in &rows.on_way {
        if let Some(rows) = somewhere.get_mut(row.stream.index()) {
            rows.push(row);
        }
    }
    let ledger = |(index, (mut sent, of_stream)): (usize, (Vec<Sent>, Vec<&'r FrameRow>))| {
        let stream = &meta.streams[index];
        add_untold(stream, &mut sent, &of_stream);
        sent.sort_unstable();
        let mut own: BTreeMap<NodeId, Vec<&FrameRow>> = BTreeMap::new();
        let mut on_way = Vec::new();
        for row in of_stream {
            match (stream.receivers.contains(&row.at.0) && row.lost_for.is_none(), row.outcome) {
                (true, _) => own.entry(row.at).or_default().push(row),
                (false, Outcome::Discarded(_)) => on_way.push(row),
                (false, _) => {}
            }
        }
        let segments = stream.segments.iter().filter_map(|segment| meta.segments.get(usize::from(*segment)));
        let cycle_ns = segments.filter_map(|segment| segment.schedule.as_ref()).map(|table| table.cycle_ns).next();
        Ledger {
            id: StreamId(index as u16),
            stream,
            sent,
            own,
            on_way,
            not_sent: not_sent.next().unwrap_or_default(),
            somewhere: std::mem::take(&mut somewhere[index]),
            attacks: attacks.next().unwrap_or_default(),
            cycle_ns: cycle_ns.unwrap_or(1).max(1),
            ready_ns: ready_ns[index],
            end,
            absences: &rows.absences,
        }
    };
    sent.into_iter().zip(of_stream).enumerate().map(ledger).collect()
}

/// Frames of which their sender told nothing: all, where it tells nothing at all, and those it had no room for.
fn add_untold(stream: &StreamMeta, sent: &mut Vec<Sent>, rows: &[&FrameRow]) {
    let of_row = |row: &&FrameRow| Sent {
        time: row.sent_at.unwrap_or(row.cycle_start),
        sender: NodeId(stream.sender),
        number: row.sequence,
        due: row.due_at.or(row.sent_at).unwrap_or(row.cycle_start),
    };
    if sent.is_empty() {
        let mut known = BTreeSet::new();
        let seen = rows.iter().filter(|row| row.sent_at.is_some() && known.insert(row.sequence));
        sent.extend(seen.map(of_row));
    }
    let told: BTreeSet<u64> = sent.iter().map(|sent| sent.number).collect();
    let is_refused = |row: &&&FrameRow| {
        stream.is_sent_by(row.at.0)
            && !stream.receivers.contains(&row.at.0)
            && matches!(row.outcome, Outcome::Discarded(_))
            && row.sent_at.is_none()
            && !told.contains(&row.sequence)
    };
    sent.extend(rows.iter().filter(is_refused).map(of_row));
}

/// How a frame ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End<'r> {
    Row(&'r FrameRow),
    Replaced,
}

impl<'r> Ledger<'r> {
    /// Frames that the senders told of.
    pub(super) fn sent(&self) -> u64 {
        self.sent.len() as u64
    }

    /// What was thrown away of a stream that has no receivers of its own, such as frames with PDUs of several streams. Of a frame of
    /// which several copies are sent that is a copy: whether all of them were lost shows in what becomes of the PDUs.
    pub(super) fn of_nobody(&self) -> Account {
        let mut account = Account::default();
        for row in &self.on_way {
            match row.outcome {
                Outcome::Discarded(DiscardReason::CopyEliminated) => account.copies.eliminated += 1,
                Outcome::Discarded(_) if self.stream.is_replicated => account.copies.lost += 1,
                _ => self.count(&mut account, row.cycle_start, End::Row(row)),
            }
        }
        account
    }

    /// One account for each receiver, or one for all where many nodes send to many.
    pub(super) fn accounts(&self, meta: &RunMeta) -> Vec<Account> {
        let receivers = &self.stream.receivers;
        match self.stream.senders {
            Some(_) if receivers.is_empty() => Vec::new(),
            Some(_) => vec![self.of_all()],
            None => {
                receivers.iter().map(|receiver| self.account(NodeId(*receiver), meta.node_name(*receiver))).collect()
            }
        }
    }

    /// Everybody sends to everybody else: frames are counted, and what nobody tells of was lost or out of reach.
    fn of_all(&self) -> Account {
        let receivers = &self.stream.receivers;
        let copies = |sent: &Sent| receivers.iter().filter(|receiver| **receiver != sent.sender.0).count() as u64;
        let receiver = format!("all {}", receivers.len());
        let sent = self.sent.iter().map(copies).sum();
        let mut account = Account { receiver, due: sent, sent, ..Account::default() };
        let told = self.own.values().flatten().filter(|row| row.outcome != Outcome::Unaccounted);
        told.for_each(|row| self.count(&mut account, row.cycle_start, End::Row(row)));
        account.unaccounted = u64::try_from(account.balance()).unwrap_or(0);
        account
    }

    fn account(&self, receiver: NodeId, name: String) -> Account {
        let deadline_ns = self.stream.deadline_of(receiver.0);
        let own = self.own.get(&receiver).map_or(&[][..], Vec::as_slice);
        let mut open = Open::new(self);
        let mut account = Account { receiver: name, due: self.sent(), sent: self.sent(), ..Account::default() };

        let is_end = |row: &&&FrameRow| !matches!(row.outcome, Outcome::Missing | Outcome::Unaccounted);
        if self.stream.is_replicated {
            self.end_copies(own, &mut open, &mut account.copies);
        } else {
            for row in own.iter().filter(is_end) {
                if !open.end(row) {
                    // A second end of one frame: the account does not balance, and the verdict says so.
                    self.count(&mut account, row.cycle_start, End::Row(row));
                }
            }
            for row in self.on_way.iter().filter(|row| row.lost_for.is_none_or(|lost_for| lost_for == receiver)) {
                open.end(row);
            }
        }
        for at in self.attacks.taken() {
            open.end_taken(at);
        }
        let used: BTreeSet<SimTime> = (own.iter().filter(is_end).chain(&self.on_way).filter_map(|row| row.slot_start))
            .chain(self.attacks.slots_used_at(receiver))
            .collect();
        let mut unsent = self.not_sent.times();
        for row in own.iter().filter(|row| row.outcome == Outcome::Missing) {
            let is_seen = row.slot_start.is_some_and(|slot| used.contains(&slot));
            // What leaves in the first slots of the first cycle would have had to be made before the run began.
            let is_judged = row.cycle_start > SimTime::ZERO && row.cycle_start.since_zero().as_ns() >= self.ready_ns;
            // What its sender says that it has not sent is counted by that, and not once more when it is missed.
            let is_of_sender = |unsent: &mut Unsent| unsent.take(row, self.stream.period_ns);
            if !is_seen && !open.end_missing(row) && is_judged && !is_of_sender(&mut unsent) {
                let is_lost = u64::from(!self.is_absent(receiver, row.cycle_start));
                (account.due, account.not_sent) = (account.due + is_lost, account.not_sent + is_lost);
            }
        }
        self.close(&open, (receiver, deadline_ns), &mut account);
        self.add_not_sent((receiver, deadline_ns), &mut account);
        account
    }

    /// Ends frames of which several copies are sent: by the one that was accepted, else by whatever became of one of them.
    fn end_copies(&self, own: &[&'r FrameRow], open: &mut Open<'r>, copies: &mut Copies) {
        let is_accepted = |row: &&&FrameRow| matches!(row.outcome, Outcome::Delivered | Outcome::Late);
        for row in own.iter().filter(is_accepted) {
            copies.repeated += u64::from(!open.end(row));
        }
        let mut lost = Vec::new();
        // Switches eliminate copies as receivers do.
        for row in self.on_way.iter().chain(own) {
            match row.outcome {
                Outcome::Discarded(DiscardReason::CopyEliminated) => copies.eliminated += 1,
                Outcome::Discarded(_) => lost.push(row),
                Outcome::Delivered | Outcome::Late | Outcome::Missing | Outcome::Unaccounted => {}
            }
        }
        for row in lost {
            if open.end(row) {
                open.by_copies.insert(row.sequence);
            } else {
                copies.lost += 1;
            }
        }
    }

    /// True if a node was out of the group that reads this stream.
    fn is_absent(&self, node: NodeId, at: SimTime) -> bool {
        self.absences.iter().any(|absence| absence.covers(node, self.id, at))
    }

    /// Counts a frame whose cycle began at a time.
    fn count(&self, account: &mut Account, cycle_start: SimTime, end: End<'_>) {
        let in_startup = cycle_start.since_zero().as_ns() < self.ready_ns;
        let place = match end {
            End::Row(row) if row.outcome == Outcome::Delivered => &mut account.in_time,
            _ if in_startup => &mut account.startup,
            End::Replaced => &mut account.replaced,
            End::Row(row) => match row.outcome {
                Outcome::Delivered => &mut account.in_time,
                Outcome::Late => &mut account.late,
                Outcome::Missing => &mut account.missing,
                Outcome::Unaccounted => &mut account.unaccounted,
                Outcome::Discarded(_) if self.attacks.displaced(row, &self.stream.receivers) => &mut account.replaced,
                Outcome::Discarded(reason) => account.discarded.entry(reason.name().into()).or_default(),
            },
        };
        *place += 1;
    }

    /// Counts what was due and not sent.
    fn add_not_sent(&self, (receiver, deadline_ns): (NodeId, Option<i64>), account: &mut Account) {
        let is_startup = |due: &SimTime| due.since_zero().as_ns() < self.ready_ns;
        for due in self.not_sent.owed.iter().filter(|due| !self.is_absent(receiver, **due)) {
            // Without a deadline it may come as late as its sender comes to it, as long as that is before the next one is due.
            let limit_ns = deadline_ns.unwrap_or(self.stream.period_ns);
            let place = match (self.end - *due).as_ns() {
                _ if is_startup(due) => &mut account.startup,
                waited if waited < limit_ns => &mut account.in_flight,
                _ => &mut account.not_sent,
            };
            (account.due, *place) = (account.due + 1, *place + 1);
        }
        for due in self.not_sent.withheld.iter().filter(|due| !self.is_absent(receiver, **due)) {
            let place = match is_startup(due) {
                true => &mut account.startup,
                false => account.discarded.entry(EventKind::Withheld.name().into()).or_default(),
            };
            (account.due, *place) = (account.due + 1, *place + 1);
        }
        account.due += self.not_sent.before_key;
        account.startup += self.not_sent.before_key;
    }

    /// Counts every frame, those without an end included.
    fn close(&self, open: &Open<'r>, (receiver, deadline_ns): (NodeId, Option<i64>), account: &mut Account) {
        let latency = |end: &Option<End<'r>>| match end {
            Some(End::Row(row)) => Some((row.received_at? - row.sent_at?).as_ns()),
            _ => None,
        };
        let longest = open.ends.iter().filter_map(latency).max().unwrap_or(0) + self.stream.period_ns;
        let whole = || self.stream.bound.as_ref().map(|bound| bound.total_ns);
        let bound = self.stream.end(receiver.0).map_or_else(whole, EndMeta::bound_ns).unwrap_or(0);
        // A frame whose deadline is not over is not late yet; without one it may take as long as frames do, or as it can.
        let under_way_ns = deadline_ns.unwrap_or(longest.max(bound));
        let somewhere: BTreeSet<usize> = self.somewhere.iter().filter_map(|row| open.place_of(row)).collect();
        // Where frames of a stream do not overtake each other, what one behind it has passed is not under way.
        let accepted: Vec<(usize, SimTime)> = open.accepted().collect();
        let is_in_order = accepted.is_sorted_by_key(|(_, at)| *at);
        let last = accepted.last().filter(|_| is_in_order).map(|(place, _)| *place);
        for (place, (sent, end)) in self.sent.iter().zip(&open.ends).enumerate() {
            let since_cycle = Duration::from_ps(sent.time.as_ps().rem_euclid(self.cycle_ns * 1_000));
            let cycle_start = sent.time - since_cycle;
            let may_be_under_way = last.is_none_or(|last| place > last) && (self.end - sent.due).as_ns() < under_way_ns;
            match end {
                // Who waits for the next frame of a stream can call it missing before it has taken as long as it may. Of a frame
                // that lost copies another can still come: each segment makes new ones, and each receiver has its own.
                Some(End::Row(row))
                    if may_be_under_way && (is_awaited(row) || open.by_copies.contains(&row.sequence)) =>
                {
                    account.in_flight += 1;
                }
                Some(end @ End::Row(row)) => self.count(account, row.cycle_start, *end),
                Some(end @ End::Replaced) => self.count(account, cycle_start, *end),
                None if self.is_absent(receiver, sent.time) => {
                    (account.due, account.sent) = (account.due - 1, account.sent - 1);
                }
                None if cycle_start.since_zero().as_ns() < self.ready_ns => account.startup += 1,
                None if may_be_under_way => account.in_flight += 1,
                None if somewhere.contains(&place) && deadline_ns.is_none() => account.in_flight += 1,
                None if somewhere.contains(&place) => account.overdue += 1,
                None => account.unaccounted += 1,
            }
        }
    }
}

/// True if a receiver has waited long for a frame that has no slot.
fn is_awaited(row: &FrameRow) -> bool {
    row.outcome == Outcome::Missing && row.slot_start.is_none()
}

/// Before every time of a run.
const FIRST: SimTime = SimTime::from_ps(i64::MIN);

/// Frames of a stream to one receiver, some of which have not ended.
struct Open<'r> {
    sent: &'r [Sent],
    ends: Vec<Option<End<'r>>>,
    is_numbered: bool,
    is_replicated: bool,
    period_ns: i64,
    /// Places by number: several, if its sender started anew and began to count again.
    by_number: BTreeMap<u64, Vec<usize>>,
    /// Numbers of those of which copies are known to be lost, and nothing else.
    by_copies: BTreeSet<u64>,
    /// Those without an end, by time.
    by_time: BTreeSet<(SimTime, usize)>,
}

impl<'r> Open<'r> {
    fn new(ledger: &'r Ledger<'r>) -> Self {
        let sent = &ledger.sent;
        let mut by_number: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (place, sent) in sent.iter().enumerate() {
            by_number.entry(sent.number).or_default().push(place);
        }
        Self {
            ends: vec![None; sent.len()],
            is_numbered: ledger.stream.is_numbered,
            is_replicated: ledger.stream.is_replicated,
            period_ns: ledger.stream.period_ns,
            by_number,
            by_copies: BTreeSet::new(),
            by_time: sent.iter().enumerate().map(|(place, sent)| (sent.time, place)).collect(),
            sent,
        }
    }

    /// Places of the frames that the receiver accepted, and when it had them.
    fn accepted(&self) -> impl Iterator<Item = (usize, SimTime)> {
        self.ends.iter().enumerate().filter_map(|(place, end)| match end {
            Some(End::Row(row)) if matches!(row.outcome, Outcome::Delivered | Outcome::Late) => {
                row.received_at.map(|at| (place, at))
            }
            _ => None,
        })
    }

    fn set(&mut self, place: usize, end: End<'r>) {
        self.by_time.remove(&(self.sent[place].time, place));
        self.ends[place] = Some(end);
    }

    /// The last frame without an end that was sent before a time or at it, and the first after it.
    fn around(&self, at: SimTime) -> [Option<usize>; 2] {
        let before = self.by_time.range((FIRST, 0)..=(at, usize::MAX)).next_back();
        let after = self.by_time.range((at, usize::MAX)..).next();
        [before, after].map(|found| found.map(|(_, place)| *place))
    }

    /// The frame with a number that was on its way at a time: of several the last one sent before.
    fn numbered(&self, number: u64, at: Option<SimTime>) -> Option<usize> {
        let places = self.by_number.get(&number)?;
        let is_before = |place: &&usize| at.is_none_or(|at| self.sent[**place].due <= at);
        places.iter().rfind(is_before).or(places.first()).copied()
    }

    /// Which of them a frame is that was somewhere when the run ended.
    fn place_of(&self, row: &OnWayRow) -> Option<usize> {
        match row.sequence.filter(|_| self.is_numbered) {
            Some(sequence) => self.numbered(sequence, None),
            None => self.around(row.sent_at)[0],
        }
    }

    /// The frame a row is about gets its end. False if it has one, or if there is none.
    fn end(&mut self, row: &'r FrameRow) -> bool {
        let place = match self.is_numbered {
            true => {
                let at = row.sent_at.or(row.received_at).unwrap_or(row.cycle_start);
                self.numbered(row.sequence, Some(at)).filter(|place| self.ends[*place].is_none())
            }
            false => self.around(row.sent_at.unwrap_or(row.cycle_start)).into_iter().flatten().next(),
        };
        place.map(|place| self.set(place, End::Row(row))).is_some()
    }

    /// A receiver saw nothing in a slot, or waited too long for a frame it knows by its number. False if none was sent.
    fn end_missing(&mut self, row: &'r FrameRow) -> bool {
        let place = match row.slot_start {
            // It was sent, whatever became of it.
            None => match self.numbered(row.sequence, Some(row.cycle_start)) {
                Some(place) if self.ends[place].is_some() => return true,
                place => place,
            },
            Some(slot) => {
                let distance = |place: &usize| (self.sent[*place].time - slot).as_ns().abs();
                let is_near = |place: &usize| distance(place) < self.period_ns;
                self.around(slot).into_iter().flatten().filter(is_near).min_by_key(distance)
            }
        };
        place.map(|place| self.set(place, End::Row(row))).is_some()
    }

    /// An attacker had a frame in its hands at a time, and it did not go on. Of one that is sent several times another copy may have
    /// come.
    fn end_taken(&mut self, at: SimTime) {
        let place = match self.is_replicated {
            true => self.sent.partition_point(|sent| sent.time <= at).checked_sub(1),
            false => self.around(at)[0],
        };
        if let Some(place) = place.filter(|place| self.ends[*place].is_none()) {
            self.set(place, End::Replaced);
        }
    }
}
