//! Frames in which a gateway puts PDUs of several streams: how often they are sent, and how long a PDU waits in one.
//!
//! A frame is sent when the first PDU in it has waited for `W`, or when it is full: when no PDU finds room in it any more, or the
//! next one does not. Of PDUs that come with periods `T` and jitters `J` and take `s` bytes with their headers, the number of
//! frames handed to the driver in any window of length `t` is below both of
//!
//! ```text
//! sum over PDUs of ((t + V + J) / T + 1)                          each frame holds a PDU, which came within t + V
//! t' / W + 1 + sum over PDUs of ((t + V + J) / T + 1) s / F       by the clock, and full with F bytes or more
//! ```
//!
//! where `V` is `W` and what the processor takes to hand a frame over, `t'` is `t` and the latter, and `F` is what a frame that
//! was closed for want of room holds at least: its room without the longest PDU, and one byte. Either sum has the form
//! `A + t / P`, and so what it counts comes no oftener than with the period `P` and the jitter `(A - 1) P`. Of the two the one that
//! asks for less of a segment counts: the first counts PDUs, each as if it were alone in its frame, since a frame of several takes
//! no longer than a frame for each; the second counts frames, each with its longest length. What has begun when another frame
//! comes counts with its longest length in any case.
//!
//! A PDU waits for `W` at most, and until the processor has sealed and handed over the frame.

use chronoseal_core::{Duration, Ppm, StreamId};
use chronoseal_plan::{CollectPlan, HopPlan, Plan};

use super::compose::{Arrival, Arrivals};
use super::demand::true_period;
use super::{Span, Why};

/// Parts of a rate: `10^-18` each.
const WHOLE: i128 = 1_000_000_000_000_000_000;

/// How the frames of a container come to the driver of the gateway that makes them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Collected {
    pub(super) arrival: Arrival,
    /// True if that counts its PDUs, each as if it were alone; false if it counts frames.
    pub(super) counts_pdus: bool,
}

/// What a frame takes beside PDUs and headers, to weigh one way of counting against the other `[byte]`.
const FRAME_OVERHEAD: i128 = 40;

/// `A + t / P`: at most so many frames in a window of length `t`.
#[derive(Clone, Copy, Default)]
struct Count {
    /// A, in parts.
    at_once: i128,
    /// 1 / P, in parts for each picosecond.
    rate: i128,
}

impl Count {
    /// `factor` times what comes within a window that is longer by `more`, the first at once.
    fn of(period: Duration, more: Duration, factor: (i128, i128)) -> Self {
        let (period, more) = (i128::from(period.as_ps().max(1)), i128::from(more.as_ps()));
        let (over, under) = factor;
        let scaled = |parts: i128| up(parts.saturating_mul(over), under.max(1));
        let rate = up(WHOLE, period);
        Self { at_once: scaled(rate.saturating_mul(more).saturating_add(WHOLE)), rate: scaled(rate) }
    }

    fn and(self, other: Self) -> Self {
        Self { at_once: self.at_once.saturating_add(other.at_once), rate: self.rate.saturating_add(other.rate) }
    }

    /// Period and jitter of what comes at least as often.
    fn as_periodic(self) -> (Duration, Duration) {
        let period = (WHOLE / self.rate.max(1)).max(1);
        let jitter = up((self.at_once - WHOLE).max(0).saturating_mul(period), WHOLE);
        let ps = |value: i128| Duration::from_ps(i64::try_from(value).unwrap_or(i64::MAX / 4).min(i64::MAX / 4));
        (ps(period), ps(jitter))
    }
}

/// A quotient of what is not negative, rounded up.
fn up(value: i128, by: i128) -> i128 {
    value.div_euclid(by) + i128::from(value.rem_euclid(by) > 0)
}

/// How long a PDU waits for others at its gateway, at most.
///
/// # Errors
/// Why nothing bounds that.
pub(super) fn wait(plan: &Plan, collect: &CollectPlan, hop: &HopPlan, arrivals: &Arrivals) -> Result<Duration, Why> {
    let drift = plan.nodes[hop.from.index()].clock.drift_max;
    Ok(longest(collect.within, drift) + arrivals.busy(hop.from)?)
}

/// The most that an interval by a clock of this drift can be by true time.
fn longest(interval: Duration, drift: Ppm) -> Duration {
    const BILLION: i128 = 1_000_000_000;
    if drift == Ppm(0) {
        return interval;
    }
    let shown = (BILLION - i128::from(drift.0.abs())).max(1);
    let most = up(i128::from(interval.as_ps()) * BILLION, shown) + 1;
    Duration::from_ps(i64::try_from(most).unwrap_or(i64::MAX / 4))
}

/// How the frames of a container come to the driver of the gateway that makes them, by when its PDUs come to be collected, or to the
/// regulator with this gap that is in front of it.
pub(super) fn sent(
    plan: &Plan,
    id: StreamId,
    (hop, gap): (&HopPlan, Option<Duration>),
    arrivals: &Arrivals,
) -> Collected {
    let spoiled = |why| Collected {
        arrival: Arrival { at: Err(why), distance: plan.streams[id.index()].period, begins: false },
        counts_pdus: false,
    };
    let stream = &plan.streams[id.index()];
    let Some(collect) = stream.collected() else { return spoiled(Why::NotReached) };
    let (Ok(wait), Ok(busy)) = (wait(plan, collect, hop, arrivals), arrivals.busy(hop.from)) else {
        return spoiled(Why::ArrivalUnbounded);
    };
    let header = collect.header.wire_len() as u32;
    let longest = plan.contained_in(id).map(|(_, stream, hop)| header + plan.contained_len(stream, hop)).max();
    let longest = longest.unwrap_or_default();
    let full = i128::from(stream.length.saturating_sub(longest) + 1);
    let within = true_period(collect.within, plan.nodes[hop.from.index()].clock.drift_max);
    let (mut each, mut closed) = (Count::default(), Count::of(within, busy, (1, 1)));
    for (member, stream, hop) in plan.contained_in(id) {
        let arrival = arrivals.at(member, hop.segment);
        let Ok(at) = arrival.at else { return spoiled(Why::ArrivalUnbounded) };
        let more = wait + at.jitter();
        let bytes = i128::from(header + plan.contained_len(stream, hop));
        each = each.and(Count::of(arrival.distance, more, (1, 1)));
        closed = closed.and(Count::of(arrival.distance, more, (bytes, full)));
    }
    let asks_for = |count: Count, len: u32| count.rate.saturating_mul(FRAME_OVERHEAD + i128::from(len));
    let counts_pdus = gap.is_none() && asks_for(each, longest) <= asks_for(closed, stream.length);
    // A regulator lets frames go one by one, whatever is in them: either sum counts them, and what is in them comes together behind it.
    let is_rarer = |one: Count, other: Count| (one.rate, one.at_once) <= (other.rate, other.at_once);
    let counts_each = counts_pdus || gap.is_some() && is_rarer(each, closed);
    let (distance, jitter) = if counts_each { each } else { closed }.as_periodic();
    let at = Ok(Span { min: Duration::ZERO, max: jitter });
    Collected { arrival: Arrival { at, distance, begins: false }, counts_pdus }
}

/// How long a frame waits in a regulator at most that lets one go in each gap, if frames come there so. Of `A + t / P` frames the `n`th
/// comes at `(n - A) P` at the earliest and goes at `(n - 1) B` at the latest, both from when the regulator was idle. With `B <= P`, which
/// is asked of it, none waits longer than `(A - 1) B`.
pub(super) fn held(arrival: &Arrival, sent: Span, gap: Duration) -> Duration {
    let jitter = i128::from(sent.jitter().as_ps().max(0));
    let most = up(jitter.saturating_mul(i128::from(gap.as_ps())), i128::from(arrival.distance.as_ps().max(1)));
    Duration::from_ps(i64::try_from(most).unwrap_or(i64::MAX / 4).min(i64::MAX / 4))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// However PDUs come and find room, no window has more frames than their period and jitter allow.
        #[test]
        fn no_window_has_more_frames_than_they_are_said_to_come_with(
            pdus in prop::collection::vec((20i64..400, 0i64..300, 1i64..40, any::<u32>()), 2..5),
            within in 1i64..200,
            room_for in 1i64..5,
        ) {
            let longest = pdus.iter().map(|(_, _, bytes, _)| *bytes).max().unwrap();
            let shortest = pdus.iter().map(|(_, _, bytes, _)| *bytes).min().unwrap();
            let room = longest + shortest * room_for;
            let us = Duration::from_us;
            let (mut each, mut closed) = (Count::default(), Count::of(us(within), Duration::ZERO, (1, 1)));
            let mut comes: Vec<(i64, i64)> = Vec::new();
            for (period, jitter, bytes, chance) in &pdus {
                let more = us(within) + us(*jitter);
                each = each.and(Count::of(us(*period), more, (1, 1)));
                let full = i128::from(room - longest + 1);
                closed = closed.and(Count::of(us(*period), more, (i128::from(*bytes), full)));
                let late = |k: i64| i64::from(chance.rotate_left(k as u32 % 31) % (*jitter as u32 + 1));
                comes.extend((0..40).map(|k| (k * period + late(k), *bytes)));
            }
            comes.sort_unstable();
            // As the gateway does it: by the clock, for want of room, or full.
            let (mut sent, mut first, mut held) = (Vec::new(), None::<i64>, 0);
            for (at, bytes) in comes {
                if let Some(began) = first.filter(|began| began + within <= at) {
                    sent.push(began + within);
                    (first, held) = (None, 0);
                }
                if held + bytes > room {
                    sent.push(at);
                    (first, held) = (None, 0);
                }
                held += bytes;
                first.get_or_insert(at);
                if held + shortest > room {
                    sent.push(at);
                    (first, held) = (None, 0);
                }
            }
            for (period, jitter) in [each, closed].map(Count::as_periodic) {
                let frames = super::super::demand::Periodic { period, jitter, cost: Duration::ZERO };
                for (k, from) in sent.iter().enumerate() {
                    for (count, until) in (1i64..).zip(&sent[k..]) {
                        // The end of the window excluded.
                        let most = frames.count(us(until - from) + Duration::from_ps(1));
                        prop_assert!(count <= most, "{count} frames in {} us, at most {most}", until - from);
                    }
                }
            }
        }
    }

    #[test]
    fn a_clock_that_drifts_makes_a_wait_longer() {
        assert_eq!(longest(Duration::from_ms(2), Ppm(0)), Duration::from_ms(2));
        let most = longest(Duration::from_ms(1000), Ppm(1_000_000));
        assert!(most > Duration::from_us(1_001_000) && most < Duration::from_us(1_001_002), "{most}");
    }
}
