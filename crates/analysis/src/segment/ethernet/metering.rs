//! What flow meters are brought: the least burst with which a bucket pays for every frame.

use chronoseal_core::{Duration, Rate};

use crate::calculus::{Rational, ratio, whole};

/// Frames of one length that are due at least so far apart and come with such a jitter.
#[derive(Clone, Copy, Debug)]
pub(super) struct MeteredFlow {
    /// With header and checksum `[byte]`.
    pub(super) len: u64,
    pub(super) distance: Duration,
    pub(super) jitter: Duration,
}

/// What a bit a second earns in a picosecond is one; so much is a byte.
const BYTE: i64 = 8_000_000_000_000;
/// After so many frames a burst is bounded by a straight line.
const FRAMES_MAX: usize = 20_000;

/// What flows bring in the long run, in bits a second.
pub(super) fn rate_of(flows: &[MeteredFlow]) -> Rate {
    let rate: Rational = flows.iter().map(slope).sum();
    Rate(u64::try_from(rate.ceil()).unwrap_or(u64::MAX))
}

fn slope(flow: &MeteredFlow) -> Rational {
    whole(i64::try_from(flow.len).unwrap_or(i64::MAX)) * ratio(BYTE, flow.distance.as_ps().max(1))
}

/// The least burst with which a bucket of this rate pays for every frame of these flows `[byte]`; `None` if they bring more than
/// the rate in the long run.
pub(super) fn burst_needed(flows: &[MeteredFlow], rate: Rate) -> Option<u64> {
    let bytes = |tokens: i128| u64::try_from((tokens + i128::from(BYTE) - 1) / i128::from(BYTE)).ok();
    let slack = whole(i64::try_from(rate.0).ok()?) - flows.iter().map(slope).sum::<Rational>();
    if slack < whole(0) {
        return None;
    }
    let cost = |flow: &MeteredFlow| i128::from(flow.len) * i128::from(BYTE);
    // Nothing is above this line: all that can come at once, and then each at its rate.
    let line: Rational = flows
        .iter()
        .map(|flow| {
            let late = ratio(flow.jitter.as_ps(), flow.distance.as_ps().max(1));
            whole(i64::try_from(flow.len).unwrap_or(i64::MAX)) * whole(BYTE) * (whole(1) + late)
        })
        .sum();
    let on_line = i128::try_from(line.ceil()).ok()?;
    // How many of each have come by a time, and when the next does.
    let mut next: Vec<i128> = Vec::new();
    let mut brought = 0i128;
    for flow in flows {
        let (distance, jitter) = (i128::from(flow.distance.as_ps().max(1)), i128::from(flow.jitter.as_ps()));
        let at_once = jitter / distance + 1;
        brought += cost(flow) * at_once;
        next.push(at_once * distance - jitter);
    }
    let mut needed = brought;
    for _ in 0..FRAMES_MAX {
        let Some((first, at)) = next.iter().copied().enumerate().min_by_key(|(_, at)| *at) else {
            return bytes(needed);
        };
        // From here on the line is below what is needed already.
        let left = &slack * Rational::from(at);
        if Rational::from(on_line - needed) <= left {
            return bytes(needed);
        }
        brought += cost(&flows[first]);
        next[first] += i128::from(flows[first].distance.as_ps().max(1));
        needed = needed.max(brought - i128::from(rate.0) * at);
    }
    bytes(on_line)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn flow(len: u64, distance_us: i64, jitter_us: i64) -> MeteredFlow {
        MeteredFlow { len, distance: Duration::from_us(distance_us), jitter: Duration::from_us(jitter_us) }
    }

    #[test]
    fn a_bucket_has_to_hold_what_comes_before_its_rate_has_paid() {
        // 8 Mbit/s pays a byte in a microsecond.
        let rate = Rate(8_000_000);
        assert_eq!(burst_needed(&[flow(100, 100, 0)], rate), Some(100));
        assert_eq!(burst_needed(&[flow(100, 99, 0)], rate), None, "more than the rate in the long run");
        // The second frame comes 70 us after the first, which is 30 bytes too early.
        assert_eq!(burst_needed(&[flow(100, 100, 30)], rate), Some(130));
        // At half of the rate the third would be paid for when it comes.
        assert_eq!(burst_needed(&[flow(100, 200, 130)], rate), Some(130));
        assert_eq!(burst_needed(&[flow(100, 200, 90)], rate), Some(100));
        // Two streams at once, and more that come late: 100 + 60 at first, at 40 us 60 more, at 100 us 100 and 60 more.
        assert_eq!(burst_needed(&[flow(100, 400, 300), flow(60, 60, 20)], Rate(16_000_000)), Some(180));
        assert_eq!(burst_needed(&[], rate), Some(0));
    }

    proptest! {
        /// The burst that is needed pays for frames that come as late as they may and then as early as they can, and one byte
        /// less does not.
        #[test]
        fn the_burst_is_the_least(
            streams in prop::collection::vec((64u64..1_522, 50i64..2_000, 0i64..3_000), 1..4),
            more in 1u64..5_000_000,
        ) {
            let flows: Vec<_> = streams.into_iter().map(|(len, distance, jitter)| flow(len, distance, jitter)).collect();
            let rate = Rate(rate_of(&flows).0 + more);
            let needed = burst_needed(&flows, rate).unwrap();
            // All late ones at time zero, then the others a distance apart.
            let mut came: Vec<(i128, u64)> = Vec::new();
            for flow in &flows {
                let (distance, jitter) = (i128::from(flow.distance.as_ps()), i128::from(flow.jitter.as_ps()));
                came.extend((0..2_000i128).map(|frame| ((frame * distance - jitter).max(0), flow.len)));
            }
            came.sort_unstable();
            let pays = |burst: u64| {
                let full = i128::from(burst) * i128::from(BYTE);
                let (mut held, mut at) = (full, 0);
                came.iter().all(|(now, len)| {
                    held = full.min(held + i128::from(rate.0) * (now - at)) - i128::from(*len) * i128::from(BYTE);
                    at = *now;
                    held >= 0
                })
            };
            prop_assert!(pays(needed));
            prop_assert!(!pays(needed - 1));
        }
    }
}
