//! Whether a bus holds with what is assumed of it: its bit rate, periods, and deadlines that are those.
//!
//! The arithmetic is that of `check`: Davis, Burns, Bril, Lukkien, Real-Time Systems 35 (2007), section 3.

use chronoseal_core::{Duration, Rate};
use chronoseal_wire::can::{BitTiming, BitTimingConfig, FrameKind};

use super::FoundMessage;
use crate::import::rounded_up;

/// Bit rates of buses `[bit/s]`.
const BIT_RATES: [u64; 3] = [250_000, 500_000, 1_000_000];
/// Steps towards a response time, before a bus counts as too near to full.
const STEPS_MAX: usize = 2_000;

/// The first of the usual bit rates from `least` on at which every message has a response time `[bit/s]`; `None` if it has at none.
pub(super) fn bit_rate(messages: &[FoundMessage], least: u64, data_bit_rate: Option<u64>) -> Option<u64> {
    let faster = BIT_RATES.into_iter().filter(|rate| *rate > least);
    let mut rates = std::iter::once(least).chain(faster);
    rates.find(|rate| {
        responses(messages, *rate, data_bit_rate).is_some_and(|responses| responses.iter().all(Option::is_some))
    })
}

/// Gives messages that are later than their next one is due, at worst, a deadline that they keep. Says how many they are.
pub(super) fn relax(messages: &mut [FoundMessage], bit_rate: u64, data_bit_rate: Option<u64>) -> usize {
    let Some(responses) = responses(messages, bit_rate, data_bit_rate) else { return 0 };
    let mut late = 0;
    for (message, response) in messages.iter_mut().zip(responses) {
        message.deadline = response.filter(|response| *response > message.period).map(rounded_up);
        late += usize::from(message.deadline.is_some());
    }
    late
}

/// That so many have one, for a comment.
pub(super) fn shown(late: usize) -> String {
    format!(
        "Assumed: deadlines of {late} messages, which may be later than their next one is due. They keep what is written, for nothing says \
         what they must keep."
    )
}

/// The longest from when each message is due to its last bit. `None` where the bus is full with it and what goes before it, or too near
/// to that; for all of them if there is no such bit timing.
fn responses(messages: &[FoundMessage], bit_rate: u64, data_bit_rate: Option<u64>) -> Option<Vec<Option<Duration>>> {
    let data_rate = data_bit_rate.unwrap_or(bit_rate).max(bit_rate);
    let timing = BitTiming::new(&BitTimingConfig::new(Rate(bit_rate), Rate(data_rate))).ok()?;
    let bit = timing.nominal_bit().as_ps();
    // Who wins first: C and T.
    let mut order: Vec<usize> = (0..messages.len()).collect();
    order.sort_by_key(|i| messages[*i].id.arbitration_rank(false));
    let of = |i: &usize| {
        let FoundMessage { id, kind, len, period, .. } = &messages[*i];
        let kind = if kind.is_remote() { FrameKind::Classical } else { *kind };
        (timing.worst_case_occupancy(id.is_extended(), kind, *len).as_ps(), period.as_ps())
    };
    let asked: Vec<(i64, i64)> = order.iter().map(of).collect();
    let mut found = vec![None; messages.len()];
    for (rank, place) in order.iter().enumerate() {
        let blocking = asked[rank + 1..].iter().map(|(wire, _)| *wire).max().unwrap_or(0);
        found[*place] = response(&asked[..=rank], blocking, bit).map(Duration::from_ps);
    }
    Some(found)
}

/// The response time of the last of these messages, all of which win against the others `[ps]`.
fn response(asked: &[(i64, i64)], blocking: i64, bit: i64) -> Option<i64> {
    let (&(wire, period), before) = asked.split_last()?;
    let demand: f64 = asked.iter().map(|(wire, period)| *wire as f64 / *period as f64).sum();
    if demand >= 1.0 {
        return None;
    }
    let due = |asked: &[(i64, i64)], within: i64| -> i64 {
        asked
            .iter()
            .map(|(wire, period)| {
                within.div_euclid(*period).saturating_add(i64::from(within % period != 0)).saturating_mul(*wire)
            })
            .fold(0, i64::saturating_add)
    };
    let least = |from: i64, step: &dyn Fn(i64) -> i64| {
        let mut at = from;
        for _ in 0..STEPS_MAX {
            let next = step(at);
            if next == at {
                return Some(at);
            }
            at = next;
        }
        None
    };
    let busy = least(blocking + wire, &|busy| blocking.saturating_add(due(asked, busy)))?;
    let instances = busy.div_euclid(period) + i64::from(busy % period != 0);
    let (mut worst, mut queued) = (0, blocking);
    for instance in 0..instances {
        let begin = blocking.saturating_add(wire.saturating_mul(instance));
        // Queueing of an instance is no shorter than that of the one before it.
        queued = least(queued.max(begin), &|queued| begin.saturating_add(due(before, queued.saturating_add(bit))))?;
        worst = worst.max(queued - instance * period + wire);
    }
    Some(worst)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of section 3.3 of the paper, of which a second instance is later than the first `[ms]`.
    #[test]
    fn a_later_instance_can_be_the_latest() {
        let asked = [(1_000, 2_500), (1_000, 3_500), (1_000, 3_500)];
        let bit = 8;
        let responses = (0..3).map(|last| {
            let blocking = if last < 2 { 1_000 } else { 0 };
            response(&asked[..=last], blocking, bit)
        });
        assert_eq!(responses.collect::<Vec<_>>(), [Some(2_000), Some(3_000), Some(3_500)]);
        assert_eq!(response(&[(10, 20), (10, 20)], 0, 1), None, "the bus is full");
        assert_eq!(response(&[(9, 20)], 15, 1), Some(24), "late, and bounded");
    }
}
