//! When a station sends a CAM (ETSI EN 302 637-2 V1.4.1, clause 6.1.3).

use chronoseal_core::{Duration, LocalTime};

use crate::road::State;

/// How often a station asks whether a CAM is due, T_CheckCamGen, and the shortest time between two, T_GenCamMin.
pub const INTERVAL_MIN: Duration = Duration::from_ms(100);
/// Longest time between two, T_GenCamMax.
pub const INTERVAL_MAX: Duration = Duration::from_ms(1_000);
/// Shortest time between two low-frequency containers.
const LOW_FREQUENCY_INTERVAL: Duration = Duration::from_ms(500);
/// N_GenCam: so many CAMs keep the interval that a movement has set.
const REPETITIONS: u32 = 3;
const HEADING_DEG: f64 = 4.0;
const DISTANCE_M: f64 = 4.0;
const SPEED_M_S: f64 = 0.5;

/// A CAM is due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Due {
    /// True if it carries the low-frequency container.
    pub with_low_frequency: bool,
}

/// What a station remembers of its CAMs, and how seldom the channel lets it send.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Generation {
    interval_min: Duration,
    last: Option<(LocalTime, State)>,
    interval: Duration,
    repetitions: u32,
    low_frequency_at: Option<LocalTime>,
}

impl Default for Generation {
    /// Nothing sent yet, and a free channel.
    fn default() -> Self {
        Self::with_interval_min(INTERVAL_MIN)
    }
}

impl Generation {
    /// Nothing sent yet. `interval_min` is T_GenCam_DCC, the shortest time between two CAMs as congestion control has it.
    pub fn with_interval_min(interval_min: Duration) -> Self {
        Self { interval_min, last: None, interval: INTERVAL_MAX, repetitions: 0, low_frequency_at: None }
    }

    /// Whether a CAM is due now; if so, it counts as sent.
    pub fn check(&mut self, now: LocalTime, state: &State) -> Option<Due> {
        let is_due = match self.last {
            None => true,
            Some((last_at, last)) => self.is_due(now - last_at, &last, state),
        };
        if !is_due {
            return None;
        }
        self.last = Some((now, *state));
        let with_low_frequency = self.low_frequency_at.is_none_or(|at| now - at >= LOW_FREQUENCY_INTERVAL);
        if with_low_frequency {
            self.low_frequency_at = Some(now);
        }
        Some(Due { with_low_frequency })
    }

    fn is_due(&mut self, elapsed: Duration, last: &State, state: &State) -> bool {
        if elapsed < self.interval_min {
            return false;
        }
        if has_moved(last, state) {
            self.interval = elapsed.min(INTERVAL_MAX);
            self.repetitions = 0;
            return true;
        }
        if elapsed < self.interval {
            return false;
        }
        self.repetitions += 1;
        if self.repetitions >= REPETITIONS {
            self.interval = INTERVAL_MAX;
        }
        true
    }
}

/// The first condition: direction, place or speed has changed enough. It is the same for what others are told of a perceived
/// object (TS 103 324) and of a vulnerable road user (TS 103 300-3).
pub(crate) fn has_moved(last: &State, state: &State) -> bool {
    let turn = libm::fabs(state.heading_deg - last.heading_deg);
    turn.min(360.0 - turn) > HEADING_DEG
        || last.distance_m(state) > DISTANCE_M
        || libm::fabs(state.speed_m_s - last.speed_m_s) > SPEED_M_S
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times `[ms]` of the CAMs of a vehicle that asks every 100 ms.
    fn sent(duration_ms: i64, state: impl Fn(f64) -> State) -> Vec<i64> {
        let mut generation = Generation::default();
        let ticks = (0..=duration_ms / 100).map(|tick| tick * 100);
        ticks
            .filter(|ms| generation.check(LocalTime::ZERO + Duration::from_ms(*ms), &state(*ms as f64 / 1e3)).is_some())
            .collect()
    }

    fn drives(speed_m_s: f64) -> impl Fn(f64) -> State {
        move |s| State { x_m: speed_m_s * s, speed_m_s, heading_deg: 90.0, ..State::default() }
    }

    #[test]
    fn who_stands_sends_once_a_second() {
        assert_eq!(sent(3_000, drives(0.0)), [0, 1_000, 2_000, 3_000]);
    }

    #[test]
    fn more_than_four_metres_make_a_message() {
        assert_eq!(sent(1_000, drives(50.0)), [0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1_000]);
        // 33 m/s: 3.3 m after 100 ms, 6.6 m after 200 ms.
        assert_eq!(sent(1_000, drives(33.0)), [0, 200, 400, 600, 800, 1_000]);
        // 40 m/s are just 4.0 m after 100 ms, which is not more.
        assert_eq!(sent(400, drives(40.0)), [0, 200, 400]);
    }

    #[test]
    fn congestion_control_holds_messages_back() {
        let mut generation = Generation::with_interval_min(Duration::from_ms(500));
        let sent = (0..=10).filter(|tick| {
            let now = LocalTime::ZERO + Duration::from_ms(tick * 100);
            generation.check(now, &drives(50.0)(*tick as f64 / 10.0)).is_some()
        });
        assert_eq!(sent.collect::<Vec<_>>(), [0, 5, 10]);
    }

    #[test]
    fn a_turn_makes_a_message_the_short_way_round() {
        let turns = |s: f64| State { heading_deg: if s < 0.25 { 358.0 } else { 1.0 }, ..State::default() };
        assert_eq!(sent(900, turns), [0], "3 degrees");
        let turns = |s: f64| State { heading_deg: if s < 0.25 { 357.0 } else { 1.5 }, ..State::default() };
        assert_eq!(sent(500, turns)[..2], [0, 300]);
    }

    #[test]
    fn an_interval_is_kept_three_times_and_then_forgotten() {
        // Brakes once from 10 to 9 m/s at 0.3 s and stands from then on, as far as its place tells.
        let brakes = |s: f64| State { speed_m_s: if s < 0.25 { 10.0 } else { 9.0 }, ..State::default() };
        assert_eq!(sent(3_000, brakes), [0, 300, 600, 900, 1_200, 2_200]);
    }

    #[test]
    fn the_low_frequency_container_comes_every_half_second() {
        let mut generation = Generation::default();
        let with: Vec<_> = (0..=10)
            .filter(|tick| {
                let state = drives(50.0)(f64::from(*tick) / 10.0);
                let due = generation.check(LocalTime::ZERO + Duration::from_ms(i64::from(*tick) * 100), &state);
                due.is_some_and(|due| due.with_low_frequency)
            })
            .collect();
        assert_eq!(with, [0, 5, 10]);
    }
}
