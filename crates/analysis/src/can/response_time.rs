//! Worst-case response times: Davis, Burns, Bril, Lukkien, "Controller Area Network (CAN) schedulability analysis:
//! Refuted, revisited and improved", Real-Time Systems 35 (2007) 239-272, section 3.
//!
//! With C the time on the wire, T the period, J the jitter, hp(m) the messages that win against m, hep(m) those and m:
//!
//! ```text
//! B(m)    = longest C of those that lose against m
//! t       = B(m) + sum over hep(m) of ceil((t + J(k)) / T(k)) C(k)                 busy period
//! Q(m)    = ceil((t + J(m)) / T(m))                                                its instances of m
//! w(m, q) = B(m) + q C(m) + sum over hp(m) of ceil((w + J(k) + bit) / T(k)) C(k)   queueing of instance q
//! R(m)    = max over q of J(m) + w(m, q) - q T(m) + C(m)
//! ```
//!
//! Each is the least fixed point, reached from below in whole picoseconds, so that nothing is rounded.

use chronoseal_core::Duration;
use chronoseal_wire::can::CanId;

use super::burst::Burst;
use super::rivals::Rivals;
use crate::segment::demand::percent;

/// Of the interframe space (ISO 11898-1).
const INTERMISSION_BITS: i64 = 3;
/// Steps towards a fixed point before a set counts as too near to overload. A step is at least one frame.
const STEPS_MAX: u32 = 50_000;
/// Instances of a message in one busy period before a set counts as too near to overload.
const INSTANCES_MAX: i128 = 50_000;

/// What a message asks of the bus.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message {
    /// Its identifier: the lower it is in arbitration, the earlier it goes.
    pub id: CanId,
    /// C: its longest frame on the wire, stuff bits and the three bits of interframe space included.
    pub wire_time: Duration,
    /// T: least distance of two instances.
    pub period: Duration,
    /// J: how much later than its event a frame can be queued, at most.
    pub jitter: Duration,
    /// D: from the event to the last bit, at most.
    pub deadline: Duration,
}

/// The bus itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bus {
    /// A bit of arbitration: a frame that is queued so much after the bus falls idle still takes part.
    pub bit_time: Duration,
    /// The longest frame on the wire of traffic outside the set that loses against all of it; zero if there is none.
    pub other_frame: Duration,
}

/// What holds for one message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Response {
    /// Which.
    pub id: CanId,
    /// As in [`Message::deadline`].
    pub deadline: Duration,
    /// B: the longest it waits for a frame that is on the wire already.
    pub blocking: Duration,
    /// Its bound, or why there is none.
    pub outcome: Result<Bound, Unbounded>,
}

/// A bounded response.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bound {
    /// The longest time during which the bus carries only this message and more urgent ones, the blocking included.
    pub busy_period: Duration,
    /// R of every instance in the busy period, from event to last bit. There is at least one.
    pub instances: Vec<Duration>,
}

impl Bound {
    /// R: the largest of all instances.
    pub fn worst(&self) -> Duration {
        self.instances.iter().copied().max().unwrap_or(Duration::ZERO)
    }
}

/// Why a message has no bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unbounded {
    /// It and the more urgent ones need more than the bus has.
    #[error("it and what goes before it need {} of the bus", percent(*load_ppm))]
    Overload {
        /// Sum of C / T `[10^-6]`, rounded up.
        load_ppm: u64,
    },
    /// No fixed point within reach: the load is so near to all there is that a busy period takes tens of thousands of frames.
    #[error("it and what goes before it leave the bus so little that the busy period has no end in sight")]
    NoEndInSight,
}

/// A message that is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MessageError {
    /// Two messages with one identifier: arbitration cannot tell them apart.
    #[error("two messages have the identifier {0}; each needs its own")]
    SameId(CanId),
    /// A time that cannot be.
    #[error("message {id}: {what} is {value}; it has to be {wanted}")]
    OutOfRange {
        /// Of which.
        id: CanId,
        /// What.
        what: &'static str,
        /// How it was given.
        value: Duration,
        /// How it should be.
        wanted: &'static str,
    },
}

impl Bus {
    /// Between two frames.
    pub(super) fn intermission(&self) -> Duration {
        self.bit_time * INTERMISSION_BITS
    }
}

impl Response {
    /// True if every instance ends within the deadline.
    pub fn meets_deadline(&self) -> bool {
        self.outcome.as_ref().is_ok_and(|bound| bound.worst() <= self.deadline)
    }
}

/// The response of each message, in the order given.
///
/// # Errors
/// [`MessageError`] if an identifier occurs twice or a time cannot be.
pub fn response_times(bus: &Bus, messages: &[Message]) -> Result<Vec<Response>, MessageError> {
    let rivals = Rivals::new(*bus, messages, &[])?;
    Ok(messages.iter().map(|message| rivals.response(message)).collect())
}

pub(super) fn check(message: &Message) -> Result<(), MessageError> {
    let wrong = |what, value, wanted| Err(MessageError::OutOfRange { id: message.id, what, value, wanted });
    match message {
        _ if message.wire_time <= Duration::ZERO => wrong("its time on the wire", message.wire_time, "above zero"),
        _ if message.period <= Duration::ZERO => wrong("its period", message.period, "above zero"),
        _ if message.jitter.is_negative() => wrong("its jitter", message.jitter, "zero or more"),
        _ if message.deadline <= Duration::ZERO => wrong("its deadline", message.deadline, "above zero"),
        _ => Ok(()),
    }
}

pub(super) fn bound(bus: &Bus, message: &Message, higher: &[Burst], blocking: Duration) -> Result<Bound, Unbounded> {
    let own = Burst::of_one(message);
    overload(higher.iter().chain([&own]))?;
    let blocking = i128::from(blocking.as_ps());
    let (wire_time, period) = (i128::from(message.wire_time.as_ps()), i128::from(message.period.as_ps()));
    let jitter = i128::from(message.jitter.as_ps());
    let busy_period = fixed_point(blocking + wire_time, |t| {
        blocking + own.demand(t) + higher.iter().map(|other| other.demand(t)).sum::<i128>()
    })?;
    let count = ceil_div(busy_period + jitter, message.period.as_ps());
    if count > INSTANCES_MAX {
        return Err(Unbounded::NoEndInSight);
    }
    let bit_time = i128::from(bus.bit_time.as_ps());
    let mut instances = Vec::new();
    let mut queueing = blocking;
    for q in 0..count {
        let own = blocking + q * wire_time;
        // w(q) >= w(q - 1) + C: each step begins where the last ended.
        queueing = fixed_point(queueing.max(own), |w| {
            own + higher.iter().map(|other| other.demand(w + bit_time)).sum::<i128>()
        })?;
        instances.push(duration(jitter + queueing - q * period + wire_time)?);
        queueing += wire_time;
    }
    Ok(Bound { busy_period: duration(busy_period)?, instances })
}

/// The least fixed point of a growing `next` that is not below `start`.
pub(super) fn fixed_point(start: i128, next: impl Fn(i128) -> i128) -> Result<i128, Unbounded> {
    let mut value = start;
    for _ in 0..STEPS_MAX {
        let following = next(value);
        if following == value {
            return Ok(value);
        }
        if following > i128::from(i64::MAX) {
            break;
        }
        value = following;
    }
    Err(Unbounded::NoEndInSight)
}

pub(super) fn duration(ps: i128) -> Result<Duration, Unbounded> {
    i64::try_from(ps).map(Duration::from_ps).map_err(|_| Unbounded::NoEndInSight)
}

pub(super) fn ceil_div(value: i128, by: i64) -> i128 {
    // The same in half as many bits, where they are enough, is many times as fast.
    if let Some(sum) = i64::try_from(value).ok().and_then(|value| value.checked_add(by - 1)) {
        return i128::from(sum.div_euclid(by));
    }
    let by = i128::from(by);
    (value + by - 1).div_euclid(by)
}

/// Refuses messages that certainly need more than all of the bus.
pub(super) fn overload<'a>(messages: impl Iterator<Item = &'a Burst>) -> Result<(), Unbounded> {
    // C / T in parts of 10^-18, each rounded down: what is above all of them together is above in truth. A set that is
    // above by less than the rounding has no fixed point and is found so.
    const WHOLE: i128 = 1_000_000_000_000_000_000;
    const PPM: i128 = WHOLE / 1_000_000;
    let parts = messages
        .map(|message| i128::from(message.total.as_ps()) * WHOLE / i128::from(message.period.as_ps()))
        .fold(0, i128::saturating_add);
    if parts <= WHOLE {
        return Ok(());
    }
    Err(Unbounded::Overload { load_ppm: u64::try_from(parts / PPM + 1).unwrap_or(u64::MAX) })
}
