//! The checks on motion.
//!
//! The limits on speed by kind, speed in reverse and acceleration are the standard's, with a friction of 0.9. For how far a position and how
//! much a speed may change its text was not at hand: here they follow from the same acceleration, with an allowance for what sensors add.
//! A speed that falls is not held against anybody, since vehicles crash.

use super::CamObservation;
use crate::region::distance_m;
use crate::types::{Time64, TwoDLocation};

/// Longest acceleration along the way `[0.1 m/s^2]`.
const ACCELERATION_MAX: i16 = 90;
/// The same `[m/s^2]`.
const ACCELERATION_MAX_M_S2: f64 = 9.0;
/// Fastest in reverse `[cm/s]`.
const REVERSE_MAX: u16 = 3_000;
/// Fastest anything, where a speed is not said `[m/s]`.
const SPEED_MAX_M_S: f64 = 140.0;
/// What two positions may be apart besides: errors of satellite navigation on both ends `[m]`.
const POSITION_ALLOWANCE_M: f64 = 20.0;
/// What two speeds may differ by besides `[m/s]`.
const SPEED_ALLOWANCE_M_S: f64 = 2.0;

/// What a CAM says of its sender's motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Motion {
    /// When the message was signed, by its header.
    pub time: Time64,
    /// The kind of station: 5 is a passenger car (`StationType`).
    pub station_type: u8,
    /// Where it is; none if it does not say.
    pub position: Option<TwoDLocation>,
    /// How fast; none if it does not say `[cm/s]`.
    pub speed_cm_s: Option<u16>,
    /// Whether it drives backwards.
    pub is_reverse: bool,
    /// Acceleration along its way; none if it does not say `[0.1 m/s^2]`.
    pub acceleration_dm_s2: Option<i16>,
}

/// Fastest station of a kind `[cm/s]`; none for one the standard does not name.
fn speed_max(station_type: u8) -> Option<u16> {
    match station_type {
        5 => Some(14_000),
        4 | 6..=9 => Some(8_500),
        0..=3 | 10 | 11 => Some(3_000),
        15 => Some(0),
        _ => None,
    }
}

/// What is wrong with `now`, alone or after `before`, which is earlier and of the same sender.
pub fn judge(before: Option<&Motion>, now: &Motion) -> Vec<CamObservation> {
    let mut found = Vec::new();
    if let Some(speed) = now.speed_cm_s {
        if speed_max(now.station_type).is_some_and(|max| speed > max) {
            found.push(CamObservation::SpeedOfKind);
        }
        if now.is_reverse && speed > REVERSE_MAX {
            found.push(CamObservation::SpeedInReverse);
        }
    }
    if now.acceleration_dm_s2.is_some_and(|acceleration| acceleration > ACCELERATION_MAX) {
        found.push(CamObservation::Acceleration);
    }
    let Some(before) = before.filter(|before| before.time < now.time) else { return found };
    #[allow(clippy::cast_precision_loss, reason = "a difference of times that matters has few digits")]
    let passed_s = (now.time.0 - before.time.0) as f64 / 1e6;
    let speed = |motion: &Motion| motion.speed_cm_s.map(|speed| f64::from(speed) / 100.0);
    if let (Some(from), Some(to)) = (before.position, now.position) {
        let fastest = match (speed(before), speed(now)) {
            (Some(before), Some(now)) => before.max(now) + ACCELERATION_MAX_M_S2 * passed_s,
            _ => SPEED_MAX_M_S,
        };
        if distance_m(from, to) > fastest.min(SPEED_MAX_M_S) * passed_s + POSITION_ALLOWANCE_M {
            found.push(CamObservation::PositionChange);
        }
    }
    if let (Some(before), Some(now)) = (speed(before), speed(now))
        && now - before > ACCELERATION_MAX_M_S2 * passed_s + SPEED_ALLOWANCE_M_S
    {
        found.push(CamObservation::SpeedChange);
    }
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use CamObservation::*;

    const CAR: Motion = Motion {
        time: Time64(1_000_000_000),
        station_type: 5,
        position: Some(TwoDLocation { latitude: 487_758_459, longitude: 91_829_321 }),
        speed_cm_s: Some(3_000),
        is_reverse: false,
        acceleration_dm_s2: Some(0),
    };

    #[test]
    fn each_limit_is_held_on_both_sides() {
        let alone = |motion: Motion| judge(None, &motion);
        for (kind, max) in
            [(5, 14_000), (6, 8_500), (4, 8_500), (9, 8_500), (0, 3_000), (3, 3_000), (11, 3_000), (15, 0)]
        {
            let at = |speed| alone(Motion { station_type: kind, speed_cm_s: Some(speed), ..CAR });
            assert_eq!((at(max), at(max + 1)), (vec![], vec![SpeedOfKind]), "kind {kind}");
        }
        assert_eq!(
            alone(Motion { station_type: 12, speed_cm_s: Some(16_000), ..CAR }),
            [],
            "the standard names no limit"
        );
        let reverse = |speed| alone(Motion { is_reverse: true, speed_cm_s: Some(speed), ..CAR });
        assert_eq!((reverse(3_000), reverse(3_001)), (vec![], vec![SpeedInReverse]));
        let accelerates = |value| alone(Motion { acceleration_dm_s2: Some(value), ..CAR });
        assert_eq!((accelerates(90), accelerates(91), accelerates(-160)), (vec![], vec![Acceleration], vec![]));
        let unsaid = Motion { position: None, speed_cm_s: None, acceleration_dm_s2: None, ..CAR };
        assert_eq!(judge(Some(&CAR), &Motion { time: Time64(CAR.time.0 + 1), ..unsaid }), []);
    }

    #[test]
    fn a_jump_is_more_than_could_have_been_driven() {
        // 0.1 microdegrees of latitude are 1.11 cm: so many are 100 m.
        let north = |m: i32| TwoDLocation { latitude: 487_758_459 + m * 90, longitude: 91_829_321 };
        let after = |ms: u64, m: i32| Motion { time: CAR.time.plus_us(ms * 1_000), position: Some(north(m)), ..CAR };
        let judged = |ms, m| judge(Some(&CAR), &after(ms, m));
        // 30 m/s and 9 m/s^2 for a second: 39 m, and 20 m of errors.
        assert_eq!((judged(1_000, 30), judged(1_000, 57), judged(1_000, 62)), (vec![], vec![], vec![PositionChange]));
        assert_eq!((judged(100, 22), judged(100, 26)), (vec![], vec![PositionChange]));
        // A car that was not heard for a minute may be anywhere on its way.
        assert_eq!((judged(60_000, 8_000), judged(60_000, 9_000)), (vec![], vec![PositionChange]));
        // What comes in another order, or twice at once, says nothing.
        let early = Motion { time: Time64(CAR.time.0 - 100_000), position: Some(north(500)), ..CAR };
        assert_eq!(
            (judge(Some(&CAR), &early), judge(Some(&CAR), &Motion { time: CAR.time, ..early })),
            (vec![], vec![])
        );
    }

    #[test]
    fn a_speed_may_fall_at_once_and_rise_as_tyres_allow() {
        let after = |ms: u64, speed| Motion { time: CAR.time.plus_us(ms * 1_000), speed_cm_s: Some(speed), ..CAR };
        let judged = |ms, speed| judge(Some(&CAR), &after(ms, speed));
        assert_eq!((judged(100, 3_280), judged(100, 3_300)), (vec![], vec![SpeedChange]));
        assert_eq!((judged(1_000, 4_090), judged(1_000, 4_110)), (vec![], vec![SpeedChange]));
        assert_eq!(judged(100, 0), []);
    }
}
