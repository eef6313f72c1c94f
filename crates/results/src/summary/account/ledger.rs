//! What all accounts of one stream need.

use std::collections::BTreeSet;

use chronoseal_core::{AttackKind, DiscardReason, Duration, EventKind, NodeId, SimTime, StreamId};

use super::open::End;
use super::periodic::Periodic;
use super::receiver::Receiver;
use super::{Account, Keys, Sent};
use crate::summary::displaced::Attacks;
use crate::{Absence, EventRow, FrameRow, OnWayRow, Outcome, OwedRow, RunMeta, Stays, StreamMeta};

/// What is known when accounts are settled.
#[derive(Clone, Copy)]
pub(in crate::summary) struct Settled<'r> {
    /// The run has come so far. When it is over: when it was to end, since senders stop there with what they have told and not yet handed
    /// over, while a live run goes on recording what is on the links. Of a run that was stopped, when the last thing happened.
    pub(in crate::summary) now: SimTime,
    /// When start-up was over for the stream `[ns]`.
    pub(in crate::summary) ready_ns: i64,
    pub(in crate::summary) absences: &'r [Absence],
    /// The run is over: what nodes owe, and what is known to have been somewhere.
    pub(in crate::summary) end: Option<(&'r [OwedRow], &'r [OnWayRow])>,
    /// When the host did not let a live run go on.
    pub(in crate::summary) held_up: &'r Stays,
}

/// The frames and rows of one stream, each gathered once and forgotten when it is counted.
pub(in crate::summary) struct Ledger {
    id: StreamId,
    pub(super) stream: StreamMeta,
    /// Length of the cycle that the stream's slots repeat in `[ns]`.
    cycle_ns: i64,
    /// What senders told and is not settled.
    told: Vec<Sent>,
    /// Numbers of frames of which a sender told, or a row, not long ago.
    known: [BTreeSet<u64>; 3],
    /// A sender told of a frame.
    is_told: bool,
    /// Rows that are not settled, without those of attacks.
    rows: Vec<FrameRow>,
    /// Rows that wait until those of the frames that came are settled: of frames that did not come.
    waiting: Vec<FrameRow>,
    pub(super) attacks: Attacks,
    /// When frames were sent that attackers took out of the stream, waiting.
    taken: Vec<SimTime>,
    /// What its sender owes by its period, if a frame of it is due in each.
    pub(super) periodic: Option<Periodic>,
    /// When frames were due that their senders had lost the key to protect them with, or the freshness value.
    withheld: Vec<SimTime>,
    /// When attackers kept frames back, in order.
    kept_back: Vec<SimTime>,
    /// When frames were due whose senders had no key yet.
    before_key: Vec<SimTime>,
    /// When accounts were settled the last three times. Rows come a time later than what senders tell, and some wait for one more.
    settled: [SimTime; 3],
    ready_ns: i64,
    sent: u64,
    receivers: Vec<Receiver>,
    /// Of all receivers together where many nodes send to many, or of nobody.
    all: Account,
}

impl Ledger {
    pub(in crate::summary) fn new(meta: &RunMeta, index: usize) -> Self {
        let stream = meta.streams[index].clone();
        let segments = stream.segments.iter().filter_map(|segment| meta.segments.get(usize::from(*segment)));
        let cycle_ns = segments.filter_map(|segment| segment.schedule.as_ref()).map(|table| table.cycle_ns).next();
        let receivers = match stream.senders {
            Some(_) => Vec::new(),
            None => stream.receivers.iter().map(|receiver| Receiver::new(meta, &stream, *receiver)).collect(),
        };
        Self {
            id: StreamId(index as u16),
            cycle_ns: cycle_ns.unwrap_or(1).max(1),
            told: Vec::new(),
            known: Default::default(),
            is_told: false,
            rows: Vec::new(),
            waiting: Vec::new(),
            attacks: Attacks::new(meta, stream.sender),
            taken: Vec::new(),
            periodic: stream.is_due_each_period.then(|| Periodic::new(stream.period_ns)),
            withheld: Vec::new(),
            kept_back: Vec::new(),
            before_key: Vec::new(),
            settled: [SimTime::ZERO; 3],
            ready_ns: 0,
            sent: 0,
            receivers,
            all: Account::default(),
            stream,
        }
    }

    /// Takes in an event of the stream.
    pub(in crate::summary) fn event(&mut self, meta: &RunMeta, keys: &Keys, row: &EventRow) {
        self.attacks.event(meta, row);
        if row.event.kind == EventKind::Attacked(AttackKind::Withhold) {
            self.kept_back.push(row.time);
        }
        if !self.stream.is_sent_by(row.node.0) {
            return;
        }
        let due = row.time - Duration::from_ps(row.event.value.max(0));
        match row.event.kind {
            EventKind::Sent => {
                self.told.push(Sent { time: row.time, sender: row.node, number: row.event.sequence, due });
                self.is_told = true;
            }
            EventKind::Withheld if meta.group.is_some() && !keys.has(row.node) => self.before_key.push(due),
            EventKind::Withheld => self.withheld.push(due),
            _ => {}
        }
    }

    /// Takes in a row of the stream.
    pub(in crate::summary) fn frame(&mut self, row: &FrameRow) {
        match row.attack {
            Some(_) => self.attacks.frame(row),
            None => self.rows.push(*row),
        }
    }

    /// Rows that are not settled.
    pub(in crate::summary) fn unsettled(&self) -> &[FrameRow] {
        &self.rows
    }

    /// Frames that the senders told of.
    pub(in crate::summary) const fn sent(&self) -> u64 {
        self.sent
    }

    /// One account for each receiver, or one for all where many nodes send to many; none if nobody receives it.
    pub(in crate::summary) fn accounts(&self) -> Vec<Account> {
        match self.stream.senders {
            Some(_) if self.stream.receivers.is_empty() => Vec::new(),
            Some(_) => vec![self.all.clone()],
            None => self.receivers.iter().map(|receiver| receiver.account.clone()).collect(),
        }
    }

    /// What was thrown away of a stream that has no receivers of its own, such as frames with PDUs of several streams.
    pub(in crate::summary) fn of_nobody(&self) -> &Account {
        &self.all
    }

    /// Settles what has come since the last time.
    pub(in crate::summary) fn settle(&mut self, settled: Settled<'_>) {
        if settled.ready_ns > self.ready_ns {
            self.all.begin_again();
            self.receivers.iter_mut().for_each(|receiver| receiver.account.begin_again());
        }
        self.ready_ns = settled.ready_ns;
        // About as many come in each span.
        let (row_count, sent_count) = (self.rows.len(), self.told.len());
        let mut rows = std::mem::replace(&mut self.rows, Vec::with_capacity(row_count));
        let mut sent = std::mem::replace(&mut self.told, Vec::with_capacity(sent_count));
        self.add_untold(&mut sent, &rows);
        sent.sort_unstable();
        self.sent += sent.len() as u64;
        // Those that came, and those that wait.
        let is_own = |row: &FrameRow| self.stream.receivers.contains(&row.at.0) && row.lost_for.is_none();
        let comes = |row: &FrameRow| is_own(row) && !matches!(row.outcome, Outcome::Missing | Outcome::Unaccounted);
        let waits = |row: &&FrameRow| match (is_own(row), row.outcome) {
            (true, Outcome::Discarded(_)) => self.stream.is_replicated && self.stream.senders.is_none(),
            (true, outcome) => outcome == Outcome::Missing,
            (false, outcome) => matches!(outcome, Outcome::Discarded(_)),
        };
        let late: Vec<FrameRow> = rows.iter().filter(waits).copied().collect();
        rows.retain(comes);
        let came = rows;
        let mut waited = std::mem::replace(&mut self.waiting, late);
        let mut taken = std::mem::replace(&mut self.taken, self.attacks.take_taken());
        if settled.end.is_some() {
            waited.append(&mut self.waiting);
            taken.append(&mut self.taken);
        }
        taken.sort_unstable();
        let (waited, on_way): (Vec<FrameRow>, Vec<FrameRow>) = waited.into_iter().partition(is_own);
        if self.stream.senders.is_some() {
            self.settle_all(settled, &sent, came.iter().chain(&waited));
        } else if self.receivers.is_empty() {
            self.settle_nobody(settled, &on_way);
        } else {
            let mut receivers = std::mem::take(&mut self.receivers);
            let withheld = std::mem::take(&mut self.withheld);
            let owed = self.take_owed(settled, &sent, &withheld);
            let (came, waited) = (ByReceiver::new(came), ByReceiver::new(waited));
            // Whoever misses a frame may have waited for some more.
            let periods_ago = settled.now - Duration::from_ns(self.stream.period_ns.saturating_mul(4));
            let keep_from = if self.stream.is_numbered { self.settled[0].min(periods_ago) } else { self.settled[0] };
            let before_key = std::mem::take(&mut self.before_key);
            let part = Part { sent, came, on_way, waited, taken, owed, withheld, before_key, keep_from };
            receivers.iter_mut().for_each(|receiver| receiver.settle(self, settled, &part));
            self.receivers = receivers;
        }
        self.attacks.settle();
        self.known.rotate_left(1);
        self.known[2].clear();
        self.settled = [self.settled[1], self.settled[2], settled.now];
    }

    /// Frames of which their sender told nothing: all, where it tells nothing at all, and those it had no room for.
    fn add_untold(&mut self, sent: &mut Vec<Sent>, rows: &[FrameRow]) {
        let sender = NodeId(self.stream.sender);
        let of_row = |row: &FrameRow| Sent {
            time: row.sent_at.unwrap_or(row.cycle_start),
            sender,
            number: row.sequence,
            due: row.due_at.or(row.sent_at).unwrap_or(row.cycle_start),
        };
        let is_known = |known: &[BTreeSet<u64>; 3], number: u64| known.iter().any(|some| some.contains(&number));
        let is_refused = |row: &&FrameRow| {
            self.stream.is_sent_by(row.at.0)
                && !self.stream.receivers.contains(&row.at.0)
                && matches!(row.outcome, Outcome::Discarded(_))
                && row.sent_at.is_none()
        };
        let is_refused_once = rows.iter().any(|row| is_refused(&row));
        if is_refused_once || !self.is_told {
            self.known[2].extend(sent.iter().map(|sent| sent.number));
        }
        if !self.is_told {
            for row in rows.iter().filter(|row| row.sent_at.or(row.due_at).is_some()) {
                if !is_known(&self.known, row.sequence) {
                    self.known[2].insert(row.sequence);
                    sent.push(of_row(row));
                }
            }
        }
        if is_refused_once {
            let refused = rows.iter().filter(is_refused).filter(|row| !is_known(&self.known, row.sequence));
            sent.extend(refused.map(of_row));
        }
    }

    /// When frames were due by the period of the stream and their sender told nothing of them.
    fn take_owed(&mut self, settled: Settled<'_>, sent: &[Sent], withheld: &[SimTime]) -> Vec<SimTime> {
        let Some(periodic) = self.periodic.as_mut().filter(|_| self.is_told) else { return Vec::new() };
        let mut told: Vec<SimTime> = sent.iter().map(|sent| sent.due).chain(withheld.iter().copied()).collect();
        told.sort_unstable();
        let mut owed = periodic.take(told.into_iter());
        if settled.end.is_some() {
            owed.extend(periodic.finish(settled.now));
        }
        owed
    }

    /// Everybody sends to everybody else: frames are counted, and what nobody tells of was lost or out of reach.
    fn settle_all<'r>(&mut self, settled: Settled<'_>, sent: &[Sent], told: impl Iterator<Item = &'r FrameRow>) {
        let receivers = &self.stream.receivers;
        let copies = |sent: &Sent| receivers.iter().filter(|receiver| **receiver != sent.sender.0).count() as u64;
        let sent: u64 = sent.iter().map(copies).sum();
        let mut account = std::mem::take(&mut self.all);
        account.receiver = format!("all {}", receivers.len());
        (account.due, account.sent) = (account.due + sent, account.sent + sent);
        told.for_each(|row| self.count(&mut account, settled, row.cycle_start, &End::Row(*row)));
        if settled.end.is_some() {
            account.unaccounted = u64::try_from(account.balance()).unwrap_or(0);
        }
        self.all = account;
    }

    /// What was thrown away on its way to nobody. Of a frame of which several copies are sent that is a copy: whether all of them were
    /// lost shows in what becomes of the PDUs.
    fn settle_nobody(&mut self, settled: Settled<'_>, on_way: &[FrameRow]) {
        let mut account = std::mem::take(&mut self.all);
        for row in on_way {
            match row.outcome {
                Outcome::Discarded(DiscardReason::CopyEliminated) => account.copies.eliminated += 1,
                Outcome::Discarded(_) if self.stream.is_replicated => account.copies.lost += 1,
                _ => self.count(&mut account, settled, row.cycle_start, &End::Row(*row)),
            }
        }
        self.all = account;
    }

    /// True if a node was out of the group that reads this stream.
    pub(super) fn is_absent(&self, absences: &[Absence], node: NodeId, at: SimTime) -> bool {
        absences.iter().any(|absence| absence.covers(node, self.id, at))
    }

    /// True of the end of a frame that was not meant for its receiver, which is out of the group: it was sent meanwhile and not taken, or
    /// it was under way then and could not be read any more.
    pub(super) fn is_not_meant(&self, absences: &[Absence], node: NodeId, sent: &Sent, end: &End) -> bool {
        let is_unread = |row: &FrameRow| absences.iter().any(|absence| absence.explains(row));
        end.accepted_at().is_none() && self.is_absent(absences, node, sent.time) || end.row().is_some_and(is_unread)
    }

    /// True if a time is before start-up was over.
    pub(super) const fn is_startup(&self, at: SimTime) -> bool {
        at.since_zero().as_ns() < self.ready_ns
    }

    /// When the cycle began in which a frame was sent.
    pub(super) fn cycle_start(&self, sent: &Sent) -> SimTime {
        sent.time - Duration::from_ps(sent.time.as_ps().rem_euclid(self.cycle_ns * 1_000))
    }

    /// When the cycle of a frame that has ended began.
    pub(super) fn begins_at(&self, sent: &Sent, end: &End) -> SimTime {
        end.row().map_or_else(|| self.cycle_start(sent), |row| row.cycle_start)
    }

    /// When frames of this stream were due that their senders had not come to by the end of the run.
    pub(super) fn owed<'r>(&self, owed: &'r [OwedRow]) -> impl Iterator<Item = SimTime> + use<'r> {
        let id = self.id;
        owed.iter().filter(move |row| row.stream == id).map(|row| row.due_at)
    }

    /// True if a frame that a receiver misses and of which nothing is known was due, as far as anybody says: its sender tells of none.
    pub(super) fn is_due_where_missed(&self, slot: Option<SimTime>) -> bool {
        match (slot, &self.periodic) {
            (None, _) => !self.is_told,
            (Some(slot), Some(periodic)) => !periodic.has_begun(slot),
            (Some(_), None) => true,
        }
    }

    /// True of a frame without an end if an attacker kept one back before the next was sent.
    pub(super) fn is_kept_back(&self, sent: &Sent) -> bool {
        let first = self.kept_back.partition_point(|at| *at < sent.time);
        let until = sent.time + Duration::from_ns(self.stream.period_ns);
        self.kept_back.get(first).is_some_and(|at| *at <= until)
    }

    /// Frames of this stream that are known to have been somewhere when the run ended.
    pub(super) fn on_way<'r>(&self, on_way: &'r [OnWayRow]) -> impl Iterator<Item = &'r OnWayRow> + use<'r> {
        let id = self.id;
        on_way.iter().filter(move |row| row.stream == id)
    }

    /// Counts a frame whose cycle began at a time.
    pub(super) fn count(&self, account: &mut Account, settled: Settled<'_>, cycle_start: SimTime, end: &End) {
        let place = match end.row().map(|row| (row, row.outcome)) {
            Some((_, Outcome::Delivered)) => &mut account.in_time,
            _ if self.is_startup(cycle_start) => &mut account.startup,
            None => &mut account.replaced,
            Some((_, Outcome::Late)) => &mut account.late,
            Some((_, Outcome::Missing)) => &mut account.missing,
            Some((_, Outcome::Unaccounted)) => &mut account.unaccounted,
            Some((row, Outcome::Discarded(_))) if self.attacks.displaced(row, &self.stream.receivers) => {
                &mut account.replaced
            }
            Some((_, Outcome::Discarded(reason))) => account.discarded.entry(reason.name().into()).or_default(),
        };
        *place += 1;
        let is_judged = !self.is_startup(cycle_start);
        account.held_up += u64::from(is_judged && end.row().is_some_and(|row| self.is_held_up(settled, row)));
    }

    /// True of a frame that came too late or nowhere, if the host kept the run from going on while it was due or on its way. Other ends have
    /// nothing to do with time.
    fn is_held_up(&self, settled: Settled<'_>, row: &FrameRow) -> bool {
        use DiscardReason::{DuplicateInWindow, OutsideWindow};
        let mut due = row.due_at.or(row.sent_at).or(row.slot_start).unwrap_or(row.cycle_start);
        if matches!(row.outcome, Outcome::Discarded(DuplicateInWindow | OutsideWindow)) {
            // What was held up comes in the next frame's window, or just before it, and is taken for that frame.
            due = due - Duration::from_ns(self.stream.period_ns);
        }
        let on_its_way = || row.received_at.is_some_and(|received| settled.held_up.overlap(due, received));
        super::ends_by_time(row.outcome) && (row.stalled || self.is_due_in_stall(settled, due) || on_its_way())
    }

    /// True if the host kept the run from going on between when a frame was due and when the next one was, or its deadline over if that is
    /// sooner.
    pub(super) fn is_due_in_stall(&self, settled: Settled<'_>, due: SimTime) -> bool {
        let within_ns =
            self.stream.deadline_ns.map_or(self.stream.period_ns, |deadline_ns| deadline_ns.min(self.stream.period_ns));
        settled.held_up.overlap(due, due + Duration::from_ns(within_ns))
    }
}

/// What has come since accounts were settled last.
pub(super) struct Part {
    /// By time.
    pub(super) sent: Vec<Sent>,
    /// Of frames that came to a receiver.
    pub(super) came: ByReceiver,
    /// Of frames that were thrown away before they were copied for their receivers, in the time before.
    pub(super) on_way: Vec<FrameRow>,
    /// Of frames that receivers missed, in the time before; of several copies also those that they threw away.
    pub(super) waited: ByReceiver,
    /// When frames were sent that were taken out of the stream, in the time before.
    pub(super) taken: Vec<SimTime>,
    /// When frames were due of which their sender told nothing.
    pub(super) owed: Vec<SimTime>,
    /// When frames were due that were withheld.
    pub(super) withheld: Vec<SimTime>,
    /// When frames were due before there was a key.
    pub(super) before_key: Vec<SimTime>,
    /// What was sent from then on stays open.
    pub(super) keep_from: SimTime,
}

/// Rows by the receiver that wrote them.
pub(super) struct ByReceiver(Vec<FrameRow>);

impl ByReceiver {
    fn new(mut rows: Vec<FrameRow>) -> Self {
        // Rows are large: their keys are sorted, and each row is moved once.
        rows.sort_by_cached_key(|row| row.at);
        Self(rows)
    }

    /// Those of one, in the order in which they came.
    pub(super) fn at(&self, receiver: NodeId) -> &[FrameRow] {
        let first = self.0.partition_point(|row| row.at < receiver);
        let end = self.0.partition_point(|row| row.at <= receiver);
        &self.0[first..end]
    }
}
