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
//!    What an attacker kept back and nobody waits for is missing all the same.
//! 5. What is left was under way when the run ended, or is overdue if its deadline was over by then. What is nowhere is unaccounted for,
//!    which the program cannot explain.
//!
//! A frame that was due and that its sender did not hand over is in the account too: it was not sent, or is still to come. Of a stream that
//! leaves in a slot of each period that is known by its sender's gaps, of others by what senders tell and receivers miss.
//!
//! Accounts are settled now and then while a run goes on. A frame stays open until it has ended and what came with its end is settled
//! twice, so that whatever else is told of it finds it; then it is a count. Rows that a later one may take precedence of, those of
//! losses and of frames that were missed, wait once.

mod ledger;
mod not_sent;
mod open;
mod periodic;
mod receiver;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use chronoseal_core::{DiscardReason, NodeId, SimTime};
use serde::{Deserialize, Serialize};

pub(super) use self::ledger::{Ledger, Settled};
pub(super) use self::not_sent::Keys;
use super::copies::Copies;
use crate::{Distribution, Outcome};

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
    /// Of those that were not in time after start-up, the ones that were due or on their way while the host was stalled, or until a clock was back
    /// that was lost then. Live only.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub held_up: u64,
    /// Accepted after a later one of the stream had been (RFC 4737, Type-P-Reordered); these are among those that were accepted. Not known,
    /// and zero, of a stream that several send.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub reordered: u64,
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

    /// Start-up goes on: what was not in time until now was part of it.
    fn begin_again(&mut self) {
        self.startup += self.late + self.missing + self.replaced + self.discarded_total();
        (self.late, self.missing, self.replaced) = (0, 0, 0);
        self.discarded.clear();
        // What was missed before start-up is over need not have been sent.
        self.due -= self.not_sent;
        (self.not_sent, self.held_up) = (0, 0);
    }

    /// Leaves out a frame that was not meant for the receiver.
    fn leave_out(&mut self) {
        (self.due, self.sent) = (self.due - 1, self.sent - 1);
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
        self.held_up += other.held_up;
        self.reordered += other.reordered;
        self.copies.add(other.copies);
        for (reason, count) in &other.discarded {
            *self.discarded.entry(reason.clone()).or_default() += count;
        }
    }
}

/// Why frames are thrown away that come too late or too early, or find a place taken that would have been free in time.
const BY_TIME: [DiscardReason; 8] = {
    use DiscardReason::{
        DuplicateInWindow, FrameMissing, HostBufferFull, NotSynchronised, OutsideWindow, QueueFull, Superseded,
        WaitedTooLong,
    };
    [
        DuplicateInWindow,
        FrameMissing,
        HostBufferFull,
        NotSynchronised,
        OutsideWindow,
        QueueFull,
        Superseded,
        WaitedTooLong,
    ]
};

/// True of a frame that came too late, or nowhere for a reason that waiting can be to blame for.
fn ends_by_time(outcome: Outcome) -> bool {
    match outcome {
        Outcome::Late | Outcome::Missing => true,
        Outcome::Discarded(reason) => BY_TIME.contains(&reason),
        Outcome::Delivered | Outcome::Unaccounted => false,
    }
}

/// The same of a loss, by its name.
pub(super) fn is_by_time(loss: &str) -> bool {
    ["late", "overdue", "missing", "not-sent"].contains(&loss) || BY_TIME.iter().any(|reason| reason.name() == loss)
}

/// A frame as its sender told of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Sent {
    time: SimTime,
    sender: NodeId,
    number: u64,
    due: SimTime,
}
