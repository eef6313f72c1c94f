//! The clock of a node: one that runs evenly, and may jump once.

use std::fmt;
use std::str::FromStr;

use chronoseal_core::{Duration, LocalTime, Oscillator, Ppm, SimTime};
/// A clock jumps so long after the beginning, by so much.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClockStep {
    /// After so long.
    pub after: Duration,
    /// Ahead, or back if negative.
    pub by: Duration,
}

impl FromStr for ClockStep {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (after, by) = text.split_once('+').ok_or("write AFTER+BY, for example 20s+3ms or 20s+-3ms")?;
        let time = |text: &str| text.trim().parse::<Duration>().map_err(|error| format!("`{text}`: {error}"));
        Ok(Self { after: time(after)?, by: time(by)? })
    }
}

impl fmt::Display for ClockStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}", self.after, self.by)
    }
}

/// A clock against the time of the run. One that is set back stands still until it has caught up, as a clock does that never shows the same
/// time twice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NodeClock {
    oscillator: Oscillator,
    /// When it jumps, and by how much.
    step: Option<(SimTime, Duration)>,
}

impl NodeClock {
    pub(crate) fn new(offset: Duration, drift: Ppm, step: Option<ClockStep>) -> Self {
        let step = step.map(|step| (SimTime::ZERO + step.after, step.by));
        Self { oscillator: Oscillator::new(offset, drift), step }
    }

    /// What it shows at a time of the run; never less than before.
    #[inline]
    pub(crate) fn local(&self, at: SimTime) -> LocalTime {
        let even = self.oscillator.local(at);
        match self.step {
            Some((from, by)) if at >= from => (even + by).max(self.oscillator.local(from)),
            _ => even,
        }
    }

    /// The first time of the run at which it shows at least `local`.
    #[inline]
    pub(crate) fn sim(&self, local: LocalTime) -> SimTime {
        let even = self.oscillator.sim(local);
        match self.step {
            Some((from, by)) if even > from => self.oscillator.sim(local - by).max(from),
            _ => even,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_step_is_read_as_it_is_written() {
        let step: ClockStep = "20s+-3ms".parse().expect("it is one");
        assert_eq!(step, ClockStep { after: Duration::from_s(20), by: Duration::from_ms(-3) });
        assert_eq!(step.to_string().parse(), Ok(step));
        assert!("20s".parse::<ClockStep>().is_err_and(|error| error.contains("AFTER+BY")));
    }

    proptest! {
        #[test]
        fn a_clock_never_runs_backwards_and_its_inverse_is_the_first_time(
            after in 0i64..1_000, by in -300i64..300, drift in -1_000_000i64..1_000_000, at in 0i64..2_000, later in 0i64..500,
        ) {
            let step = ClockStep { after: Duration::from_us(after), by: Duration::from_us(by) };
            let clock = NodeClock::new(Duration::from_us(7), Ppm(drift), Some(step));
            let (one, two) = (SimTime::ZERO + Duration::from_us(at), SimTime::ZERO + Duration::from_us(at + later));
            prop_assert!(clock.local(one) <= clock.local(two));
            let first = clock.sim(clock.local(two));
            prop_assert!(first <= two && clock.local(first) >= clock.local(two));
            prop_assert!(clock.local(first - Duration::from_ps(1)) < clock.local(two));
        }
    }
}
