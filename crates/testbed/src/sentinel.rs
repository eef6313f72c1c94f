//! A thread that does nothing but notice when it was not allowed to.

use std::sync::atomic::{AtomicBool, Ordering};

use chronoseal_core::{Duration, SimTime};
use chronoseal_results::StallRow;

use crate::clock::{RunClock, SPIN};

const PERIOD: Duration = Duration::from_ms(1);

/// Away from whole milliseconds, where cycles and slots tend to begin: its wake-up would be in their way.
const PHASE: Duration = Duration::from_us(531);

/// Wakes up every millisecond until `stop` is set, and reports every wake-up later than `threshold`.
pub(crate) fn run(clock: RunClock, threshold: Duration, stop: &AtomicBool) -> Vec<StallRow> {
    let mut stalls = Vec::with_capacity(1024);
    let mut at = clock.now().max(SimTime::ZERO) + PHASE;
    while !stop.load(Ordering::Relaxed) {
        at += PERIOD;
        // It measures hosts, not itself: sleeping is exact enough, so it never spins.
        clock.poll_until(&mut [], Some(at + SPIN));
        let late = clock.now() - at;
        if late > threshold {
            stalls.push(StallRow { time: at, duration: late });
            at += PERIOD * late.div_floor(PERIOD);
        }
    }
    stalls
}
