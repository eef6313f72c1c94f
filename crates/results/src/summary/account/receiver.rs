//! What became of a stream's frames at one receiver.

use std::collections::BTreeSet;

use chronoseal_core::{DiscardReason, EventKind, NodeId, SimTime};

use super::ledger::{Ledger, Part, Settled};
use super::not_sent::Unsent;
use super::open::{End, Frame, Open};
use super::{Account, Sent};
use crate::summary::BY_PROGRAMS;
use crate::{EndMeta, FrameRow, Outcome, RunMeta, StreamMeta};

/// A receiver's account, and the frames that are not in it for good.
pub(super) struct Receiver {
    node: NodeId,
    deadline_ns: Option<i64>,
    pub(super) account: Account,
    /// By time.
    open: Vec<Frame>,
    /// Slots in which something came, not long ago.
    used: BTreeSet<SimTime>,
    unsent: Unsent,
    /// How long the slowest frame took from its first bit to its last `[ns]`.
    longest_ns: i64,
    /// Of the accepted frames that are in the account for good: the one sent last, and when the last one came.
    accepted: Option<(Sent, SimTime)>,
    /// Frames came in the order in which they were sent.
    is_in_order: bool,
}

impl Receiver {
    pub(super) fn new(meta: &RunMeta, stream: &StreamMeta, receiver: u16) -> Self {
        Self {
            node: NodeId(receiver),
            deadline_ns: stream.deadline_of(receiver),
            account: Account { receiver: meta.node_name(receiver), ..Account::default() },
            open: Vec::new(),
            used: BTreeSet::new(),
            unsent: Unsent::default(),
            longest_ns: 0,
            accepted: None,
            is_in_order: true,
        }
    }

    /// Settles what has come since the last time.
    pub(super) fn settle(&mut self, ledger: &Ledger, settled: Settled<'_>, part: &Part) {
        let mut account = std::mem::take(&mut self.account);
        account.due += part.sent.len() as u64;
        account.sent += part.sent.len() as u64;
        let mut frames = std::mem::take(&mut self.open);
        frames.extend(part.sent.iter().map(|sent| (*sent, None)));
        frames.sort_by_key(|(sent, _)| *sent);
        let mut open = Open::new(&ledger.stream, frames);
        let (came, waited) = (part.came.at(self.node), part.waited.at(self.node));
        let is_of = |row: &&FrameRow| row.lost_for.is_none_or(|lost_for| lost_for == self.node);
        let on_way: Vec<FrameRow> = part.on_way.iter().filter(is_of).copied().collect();
        if ledger.stream.is_replicated {
            end_copies((came, &on_way, waited), &mut open, &mut account);
        } else {
            for row in came {
                match (open.end(row, End::Row), row.outcome) {
                    (true, _) => {}
                    // A link that doubles packets makes copies of any frame, and a station knows them. The application of a program had
                    // its message twice.
                    (false, Outcome::Discarded(DiscardReason::CopyEliminated))
                        if ledger.stream.class != BY_PROGRAMS =>
                    {
                        account.copies.eliminated += 1;
                    }
                    // A second end of one frame: the account does not balance, and the verdict says so.
                    (false, _) => ledger.count(&mut account, settled, row.cycle_start, &End::Row(*row)),
                }
            }
            for row in &on_way {
                open.end(row, End::Row);
            }
        }
        part.taken.iter().for_each(|at| open.end_taken(*at));
        self.used.extend(came.iter().chain(&part.on_way).filter_map(|row| row.slot_start));
        self.end_missing(ledger, settled, part, (&mut open, &mut account));
        self.note_order(&open);
        match settled.end {
            None => self.close(ledger, settled, part.keep_from, (open, &mut account)),
            Some((owed, on_way)) => {
                let somewhere = open.places_of(ledger.on_way(on_way));
                self.close_all(ledger, settled, &somewhere, (&open, &mut account));
                let is_new = |due: &SimTime| ledger.periodic.as_ref().is_none_or(|periodic| !periodic.is_owed(*due));
                self.add_owed(ledger, settled, ledger.owed(owed).filter(is_new), &mut account);
            }
        }
        self.add_owed(ledger, settled, part.owed.iter().copied(), &mut account);
        self.add_withheld(ledger, settled, part, &mut account);
        self.account = account;
    }

    /// Ends frames that were missed, and counts those that were missed and not sent.
    fn end_missing(
        &mut self,
        ledger: &Ledger,
        settled: Settled<'_>,
        part: &Part,
        (open, account): (&mut Open, &mut Account),
    ) {
        let owed = settled.end.into_iter().flat_map(|(owed, _)| ledger.owed(owed));
        let withheld = part.withheld.iter().chain(&part.before_key).copied();
        owed.chain(withheld).for_each(|due| self.unsent.insert(due));
        let attacked: BTreeSet<SimTime> = ledger.attacks.slots_used_at(self.node).collect();
        for row in part.waited.at(self.node).iter().filter(|row| row.outcome == Outcome::Missing) {
            let is_seen = row.slot_start.is_some_and(|slot| self.used.contains(&slot) || attacked.contains(&slot));
            // What leaves in the first slots of the first cycle would have had to be made before the run began.
            let is_judged = row.cycle_start > SimTime::ZERO && !ledger.is_startup(row.cycle_start);
            // What its sender says that it has not sent is counted by that, and not once more when it is missed.
            let is_of_sender = |unsent: &mut Unsent| unsent.take(row, ledger.stream.period_ns);
            let is_due = is_judged && ledger.is_due_where_missed(row.slot_start);
            if !is_seen && !open.end_missing(row) && is_due && !is_of_sender(&mut self.unsent) {
                let is_lost = u64::from(!ledger.is_absent(settled.absences, self.node, row.cycle_start));
                (account.due, account.not_sent) = (account.due + is_lost, account.not_sent + is_lost);
                let due = row.slot_start.unwrap_or(row.cycle_start);
                account.held_up += is_lost * u64::from(ledger.is_due_in_stall(settled, due));
            }
        }
        self.used = self.used.split_off(&part.keep_from);
        self.unsent.forget(part.keep_from);
    }

    /// Notes how long frames took, and whether they came in their order.
    fn note_order(&mut self, open: &Open) {
        let took = |(_, end): &Frame| {
            let row = end.as_ref()?.row()?;
            Some((row.received_at? - row.due_at.or(row.sent_at)?).as_ns())
        };
        self.longest_ns = self.longest_ns.max(open.frames.iter().filter_map(took).max().unwrap_or(0));
        let mut before = None;
        for (sent, at) in accepted(&open.frames) {
            self.is_in_order &= before.is_none_or(|before| before <= at);
            self.is_in_order &= match self.accepted {
                Some((last, came)) if sent > last => at >= came,
                Some((_, came)) => at <= came,
                None => true,
            };
            before = Some(at);
        }
    }

    /// How long a frame that has not come may still be under way `[ns]`. A frame whose deadline is not over is not late yet; without
    /// one it may take as long as frames do, or as it can.
    fn under_way_ns(&self, ledger: &Ledger) -> i64 {
        self.deadline_ns.unwrap_or_else(|| self.bound_ns(ledger).max(self.longest_ns + ledger.stream.period_ns))
    }

    /// What its frames take at most, if that is bounded `[ns]`.
    fn bound_ns(&self, ledger: &Ledger) -> i64 {
        let whole = || ledger.stream.bound.as_ref().map(|bound| bound.total_ns);
        ledger.stream.end(self.node.0).map_or_else(whole, EndMeta::bound_ns).unwrap_or(0)
    }

    /// Counts the frames that have ended and are older than those that stay open.
    fn close(
        &mut self,
        ledger: &Ledger,
        settled: Settled<'_>,
        keep_from: SimTime,
        (open, account): (Open, &mut Account),
    ) {
        // What was missed may come much later.
        let under_way_ns = self.under_way_ns(ledger).max((settled.now - keep_from).as_ns().saturating_mul(4));
        let mut frames = open.frames;
        frames.retain(|(sent, end)| {
            let is_young = (settled.now - sent.due).as_ns() < under_way_ns;
            match end {
                _ if sent.time >= keep_from => true,
                Some(end) if end.may_be_wrong() && is_young => true,
                Some(end) if ledger.is_not_meant(settled.absences, self.node, sent, end) => {
                    account.leave_out();
                    false
                }
                Some(end) => {
                    let last = end.accepted_at().map(|at| (*sent, at));
                    self.accepted = match (self.accepted, last) {
                        (Some(known), Some(new)) => Some((known.0.max(new.0), known.1.max(new.1))),
                        (known, new) => known.or(new),
                    };
                    ledger.count(account, settled, ledger.begins_at(sent, end), end);
                    false
                }
                None if ledger.is_absent(settled.absences, self.node, sent.time) => {
                    account.leave_out();
                    false
                }
                None => true,
            }
        });
        self.open = frames;
    }

    /// Counts every frame when the run is over, those without an end included.
    fn close_all(
        &self,
        ledger: &Ledger,
        settled: Settled<'_>,
        somewhere: &BTreeSet<usize>,
        (open, account): (&Open, &mut Account),
    ) {
        let under_way_ns = self.under_way_ns(ledger);
        // Where frames of a stream do not overtake each other, what one behind it has passed is not under way.
        let last = accepted(&open.frames).map(|(sent, _)| sent).chain(self.accepted.map(|(sent, _)| sent)).max();
        let is_passed = |sent: &Sent| self.is_in_order && last.is_some_and(|last| *sent <= last);
        for (place, (sent, end)) in open.frames.iter().enumerate() {
            let may_be_under_way = !is_passed(sent) && (settled.now - sent.due).as_ns() < under_way_ns;
            match end {
                // Who waits for the next frame of a stream can call it missing before it has taken as long as it may. Of a frame
                // that lost copies another can still come: each segment makes new ones, and each receiver has its own.
                Some(end) if end.may_be_wrong() && may_be_under_way => account.in_flight += 1,
                Some(end) if ledger.is_not_meant(settled.absences, self.node, sent, end) => account.leave_out(),
                Some(end) => ledger.count(account, settled, ledger.begins_at(sent, end), end),
                None if ledger.is_absent(settled.absences, self.node, sent.time) => account.leave_out(),
                None if ledger.is_startup(ledger.cycle_start(sent)) => account.startup += 1,
                None if may_be_under_way => account.in_flight += 1,
                None if somewhere.contains(&place) && self.deadline_ns.is_none() => account.in_flight += 1,
                None if somewhere.contains(&place) => {
                    account.overdue += 1;
                    account.held_up += u64::from(settled.held_up.overlap(sent.due, settled.now));
                }
                None if ledger.is_kept_back(sent) => account.missing += 1,
                None => account.unaccounted += 1,
            }
        }
    }

    /// Counts what was due and its sender had not come to.
    fn add_owed(
        &self,
        ledger: &Ledger,
        settled: Settled<'_>,
        owed: impl Iterator<Item = SimTime>,
        account: &mut Account,
    ) {
        for due in owed.filter(|due| !ledger.is_absent(settled.absences, self.node, *due)) {
            let before = account.not_sent;
            // Without a deadline its sender may come to it as late as before the next one is due, or as it can.
            let limit_ns = self.deadline_ns.unwrap_or_else(|| self.bound_ns(ledger).max(ledger.stream.period_ns));
            let place = match (settled.now - due).as_ns() {
                _ if ledger.is_startup(due) => &mut account.startup,
                waited if waited < limit_ns && settled.end.is_some() => &mut account.in_flight,
                _ => &mut account.not_sent,
            };
            (account.due, *place) = (account.due + 1, *place + 1);
            account.held_up += u64::from(account.not_sent > before && ledger.is_due_in_stall(settled, due));
        }
    }

    /// Counts what its sender could not protect.
    fn add_withheld(&self, ledger: &Ledger, settled: Settled<'_>, part: &Part, account: &mut Account) {
        let is_meant = |due: &&SimTime| !ledger.is_absent(settled.absences, self.node, **due);
        for due in part.withheld.iter().filter(is_meant) {
            let place = match ledger.is_startup(*due) {
                true => &mut account.startup,
                false => account.discarded.entry(EventKind::Withheld.name().into()).or_default(),
            };
            (account.due, *place) = (account.due + 1, *place + 1);
        }
        let before_key = part.before_key.len() as u64;
        account.due += before_key;
        account.startup += before_key;
    }
}

/// Frames that the receiver accepted, and when it had them.
fn accepted(frames: &[Frame]) -> impl Iterator<Item = (Sent, SimTime)> {
    frames.iter().filter_map(|(sent, end)| Some((*sent, end.as_ref()?.accepted_at()?)))
}

/// Ends frames of which several copies are sent: by the one that was accepted, else by whatever became of one of them.
fn end_copies((came, on_way, waited): (&[FrameRow], &[FrameRow], &[FrameRow]), open: &mut Open, account: &mut Account) {
    let copies = &mut account.copies;
    for row in came.iter().filter(|row| matches!(row.outcome, Outcome::Delivered | Outcome::Late)) {
        let (is_first, is_instead) = open.end_by_copy(row);
        copies.repeated += u64::from(!is_first);
        copies.lost += u64::from(is_instead);
    }
    // Switches eliminate copies as receivers do.
    for row in on_way.iter().chain(waited) {
        match row.outcome {
            Outcome::Discarded(DiscardReason::CopyEliminated) => copies.eliminated += 1,
            Outcome::Discarded(_) => copies.lost += u64::from(!open.end(row, End::LostCopy)),
            Outcome::Delivered | Outcome::Late | Outcome::Missing | Outcome::Unaccounted => {}
        }
    }
}
