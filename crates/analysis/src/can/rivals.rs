//! All that takes part in arbitration, in the order in which it wins.

use chronoseal_core::Duration;
use chronoseal_wire::can::CanId;

use super::burst::Burst;
use super::response_time::{
    Bus, Message, MessageError, Response, Unbounded, bound, check, duration, fixed_point, overload,
};

/// Messages and bursts of a bus, the most urgent first.
pub(super) struct Rivals {
    bus: Bus,
    all: Vec<Burst>,
}

/// Frames that a station sends one after the other, each queued when something that is not on this bus is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Series {
    /// Of all of them.
    pub(super) id: CanId,
    /// So many of them can find a frame on the wire that loses against them.
    pub(super) blocked: i64,
}

impl Rivals {
    /// # Errors
    /// [`MessageError`] if an identifier occurs twice or a time cannot be.
    pub(super) fn new(bus: Bus, messages: &[Message], bursts: &[Burst]) -> Result<Self, MessageError> {
        messages.iter().try_for_each(check)?;
        let mut all: Vec<Burst> = messages.iter().map(Burst::of_one).chain(bursts.iter().copied()).collect();
        all.sort_by_key(Burst::rank);
        match all.windows(2).find(|pair| pair[0].rank() == pair[1].rank()) {
            Some(pair) => Err(MessageError::SameId(pair[0].id)),
            None => Ok(Self { bus, all }),
        }
    }

    /// Those that win against an identifier, and the longest of the others that it can find on the wire.
    fn around(&self, id: CanId) -> (&[Burst], Duration) {
        let rank = id.arbitration_rank(false);
        let (higher, rest) = self.all.split_at(self.all.partition_point(|other| other.rank() < rank));
        let lower = rest.iter().filter(|other| other.rank() > rank).map(|other| other.wire_time);
        (higher, lower.max().unwrap_or(Duration::ZERO).max(self.bus.other_frame))
    }

    /// The response of one of the messages.
    pub(super) fn response(&self, message: &Message) -> Response {
        let (higher, blocking) = self.around(message.id);
        let outcome = bound(&self.bus, message, higher, blocking);
        Response { id: message.id, deadline: message.deadline, blocking, outcome }
    }

    /// The longest from the instant at which a frame of one of the bursts is queued to its first bit.
    ///
    /// The time in which the bus carries only what wins against the frame began with a frame that loses, or with the frame
    /// of the same burst before this one; nothing else of the burst is there. In the second case this one was queued when
    /// that was over, but for the interframe space.
    pub(super) fn wait(&self, burst: &Burst) -> Result<Duration, Unbounded> {
        let (higher, blocking) = self.around(burst.id);
        overload(higher.iter().chain([burst]))?;
        let bit_time = i128::from(self.bus.bit_time.as_ps());
        let from = |blocking: Duration| {
            let blocking = i128::from(blocking.as_ps());
            fixed_point(blocking, |w| blocking + higher.iter().map(|other| other.demand(w + bit_time)).sum::<i128>())
        };
        let after_another = duration(from(blocking)?)?;
        let after_own = duration(from(burst.wire_time)?)? - burst.wire_time + self.bus.intermission();
        Ok(after_another.max(after_own))
    }

    /// The longest time in which series of frames are over that take turns and need `alone` on a free bus, pauses included.
    ///
    /// While a frame waits, the bus carries one that loses against it, once, and else only what wins. All that wins against
    /// any of them in the whole time is counted: from the beginning of the time on in which the bus was never free before the
    /// first of them, which only makes it longer.
    pub(super) fn whole(&self, series: &[Series], alone: Duration) -> Result<Duration, Unbounded> {
        let own = |other: &&Burst| !series.iter().any(|one| one.id == other.id);
        let blocking: Duration = series
            .iter()
            .map(|one| {
                let rank = one.id.arbitration_rank(false);
                let lower = self.all.iter().filter(own).filter(|other| other.rank() > rank);
                lower.map(|other| other.wire_time).max().unwrap_or_default().max(self.bus.other_frame) * one.blocked
            })
            .sum();
        let rank = series.iter().map(|one| one.id.arbitration_rank(false)).max().unwrap_or(0);
        let higher: Vec<&Burst> = self.all.iter().filter(own).filter(|other| other.rank() < rank).collect();
        self.window(alone + blocking, &higher)
    }

    /// The same where controllers send their oldest frame first, so that anything may go before.
    pub(super) fn whole_in_order(&self, series: &[Series], alone: Duration) -> Result<Duration, Unbounded> {
        let others: Vec<&Burst> =
            self.all.iter().filter(|other| !series.iter().any(|one| one.id == other.id)).collect();
        let blocked: i64 = series.iter().map(|one| one.blocked).sum();
        self.window(alone + self.bus.other_frame * blocked, &others)
    }

    fn window(&self, base: Duration, others: &[&Burst]) -> Result<Duration, Unbounded> {
        overload(others.iter().copied())?;
        let bit_time = i128::from(self.bus.bit_time.as_ps());
        let base = i128::from(base.as_ps());
        duration(fixed_point(base, |w| base + others.iter().map(|other| other.demand(w + bit_time)).sum::<i128>())?)
    }
}
