//! What a bus was used for.

use chronoseal_core::{Duration, SimTime};

/// Counted on one bus.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BusStatistics {
    /// Frames sent whole.
    pub frames: u64,
    /// Attempts in which an error ended the frame for its sender.
    pub failed_attempts: u64,
    /// Times a controller offered its frame and another had the lower identifier.
    pub lost_arbitrations: u64,
    /// SOF to the end of intermission of all attempts, error frames included.
    pub busy: Duration,
    /// Of it, failed attempts.
    pub failed: Duration,
    /// [`Self::busy`] within each window of [`load_window`](super::CanBusConfig::load_window), from the start of the
    /// run on; windows without traffic at the end are left out.
    pub busy_by_window: Vec<Duration>,
}

impl BusStatistics {
    /// Share of the time until `now` in which the bus was used `[10^-6]`.
    pub fn load_ppm(&self, now: SimTime) -> u64 {
        let elapsed = i128::from(now.as_ps()).max(1);
        (i128::from(self.busy.as_ps()) * 1_000_000 / elapsed) as u64
    }

    pub(super) fn count_busy(&mut self, from: SimTime, length: Duration, window: Option<Duration>) {
        self.busy += length;
        let Some(window) = window else { return };
        let (mut from, end) = (from, from + length);
        while from < end {
            let index = from.since_zero().div_floor(window);
            let window_end = SimTime::ZERO + window * (index + 1);
            if self.busy_by_window.len() <= index as usize {
                self.busy_by_window.resize(index as usize + 1, Duration::ZERO);
            }
            let part = window_end.min(end) - from;
            self.busy_by_window[index as usize] += part;
            from += part;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_across_windows_is_split_between_them() {
        let mut statistics = BusStatistics::default();
        let ms = Duration::from_ms;
        statistics.count_busy(SimTime::ZERO + ms(8), ms(15), Some(ms(10)));
        assert_eq!(statistics.busy_by_window, [ms(2), ms(10), ms(3)]);
        assert_eq!(statistics.busy, ms(15));
        assert_eq!(statistics.load_ppm(SimTime::ZERO + ms(30)), 500_000);
    }
}
