//! The host's clock as a run sees it, and waiting for a time of it.

use std::os::fd::BorrowedFd;

use chronoseal_core::{Duration, SimTime};
use nix::poll::{PollFd, PollFlags};
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};

/// The last stretch before a deadline is spent looking at the clock: a sleeping thread wakes up 15..75 us late, and
/// later on an idle virtual processor. Never longer: the kernel punishes real-time threads that do not sleep.
pub(crate) const SPIN: Duration = Duration::from_us(120);

/// Two clocks read within this time count as read at once `[ns]`.
const PAIRING_NS: i64 = 500;
const PAIRING_TRIES: u32 = 4;
/// What was found of two clocks holds so long `[ns]`: the kernel lets one go by at most 500 ppm faster than the other, 200 ns in this time, which
/// is less than two readings leave open.
const COMPARED_FOR_NS: i64 = 400_000;

fn read_ns(clock: ClockId) -> i64 {
    let now = clock_gettime(clock).expect("every Linux has this clock");
    now.tv_sec() * 1_000_000_000 + now.tv_nsec()
}

/// `CLOCK_MONOTONIC` `[ns]`.
pub(crate) fn monotonic_ns() -> i64 {
    read_ns(ClockId::CLOCK_MONOTONIC)
}

/// `CLOCK_REALTIME` `[ns]`.
pub(crate) fn realtime_ns() -> i64 {
    read_ns(ClockId::CLOCK_REALTIME)
}

/// How much `CLOCK_REALTIME` is ahead of `CLOCK_MONOTONIC` now, to within half a microsecond where nothing comes between `[ns]`.
pub fn realtime_ahead_ns() -> i64 {
    compare(monotonic_ns()).0
}

/// Time of a run: `CLOCK_MONOTONIC` since the run's start. All processes of a host agree on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunClock {
    /// The start of the run by `CLOCK_MONOTONIC` `[ns]`.
    pub(crate) epoch_ns: i64,
    /// The thread that holds this shares its processor and priority with others that wait as precisely as it does.
    pub(crate) shares_processor: bool,
}

impl RunClock {
    pub(crate) fn now(self) -> SimTime {
        SimTime::ZERO + Duration::from_ns(monotonic_ns() - self.epoch_ns)
    }

    /// Looks at the clock until `at`.
    pub(crate) fn spin_until(self, at: SimTime) {
        while self.now() < at {
            self.give_way();
            std::hint::spin_loop();
        }
    }

    /// Lets the others of this processor and priority run first, if there are any. Real-time threads only: among
    /// others it would give a whole time slice away.
    pub(crate) fn give_way(self) {
        if self.shares_processor {
            // It cannot fail on Linux: sched_yield(2).
            let _ = nix::sched::sched_yield();
        }
    }

    /// Waits until `at`: asleep first, then looking at the clock.
    pub(crate) fn wait_until(self, at: SimTime) {
        self.poll_until(&mut [], Some(at));
        self.spin_until(at);
    }

    /// Sleeps until one of `descriptors` is ready or [`SPIN`] is left before `at`. True if one is ready.
    pub(crate) fn poll_until(self, descriptors: &mut [PollFd<'_>], at: Option<SimTime>) -> bool {
        let timeout = at.map(|at| {
            let left_ns = (at - SPIN - self.now()).as_ns().max(0);
            TimeSpec::new(left_ns / 1_000_000_000, left_ns % 1_000_000_000)
        });
        // An interrupted wait is a wait that ended early, which every caller can take.
        nix::poll::ppoll(descriptors, timeout, None).is_ok_and(|ready| ready > 0)
    }
}

/// Turns the kernel's stamps into times of a run.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Stamps {
    /// How much `CLOCK_REALTIME` was ahead of `CLOCK_MONOTONIC`, and when that was found out by the latter `[ns]`.
    compared: Option<(i64, i64)>,
}

impl Stamps {
    /// The run's time of a stamp taken by `CLOCK_REALTIME`, never later than `now`, which was read just before. One clock is read between two readings of the other, again
    /// if the thread was interrupted meanwhile, and what that gave holds for [`COMPARED_FOR_NS`]. What remains uncertain is half of
    /// [`PAIRING_NS`], and a step of the wall clock between stamp and call or in that time.
    pub(crate) fn of_realtime(&mut self, clock: RunClock, now: SimTime, stamp_ns: Option<i64>) -> SimTime {
        let Some(stamp_ns) = stamp_ns else { return now };
        let now_ns = clock.epoch_ns + now.since_zero().as_ns();
        let known = self.compared.filter(|(_, at_ns)| now_ns - at_ns < COMPARED_FOR_NS);
        let (ahead_ns, _) = known.unwrap_or_else(|| *self.compared.insert(compare(now_ns)));
        SimTime::ZERO + Duration::from_ns((stamp_ns - ahead_ns).min(now_ns) - clock.epoch_ns)
    }
}

/// How much `CLOCK_REALTIME` is ahead of `CLOCK_MONOTONIC`, and when that was so.
fn compare(mut before: i64) -> (i64, i64) {
    let mut best = (i64::MAX, 0, 0);
    for _ in 0..PAIRING_TRIES {
        let realtime = realtime_ns();
        let after = monotonic_ns();
        let gap = after - before;
        best = best.min((gap, realtime - before - gap / 2, after));
        if gap <= PAIRING_NS {
            break;
        }
        before = after;
    }
    (best.1, best.2)
}

/// Interest in what can be read from `descriptor`.
pub(crate) fn readable(descriptor: BorrowedFd<'_>) -> PollFd<'_> {
    PollFd::new(descriptor, PollFlags::POLLIN)
}

/// True if there is something to read, or the other end is gone.
pub(crate) fn is_ready(descriptor: &PollFd<'_>) -> bool {
    descriptor.any().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_until_a_time_and_not_less() {
        let clock = RunClock { epoch_ns: monotonic_ns(), shares_processor: false };
        for us in [10, 300, 2_000] {
            let at = clock.now() + Duration::from_us(us);
            clock.wait_until(at);
            assert!(clock.now() >= at);
        }
    }

    #[test]
    fn a_kernel_stamp_is_never_in_the_future() {
        let clock = RunClock { epoch_ns: monotonic_ns(), shares_processor: false };
        let ahead = read_ns(ClockId::CLOCK_REALTIME) + 1_000_000_000;
        let mut stamps = Stamps::default();
        let now = clock.now();
        assert!(stamps.of_realtime(clock, now, Some(ahead)) <= now);
        let before = read_ns(ClockId::CLOCK_REALTIME) - 5_000_000;
        let now = clock.now();
        let age = now - stamps.of_realtime(clock, now, Some(before));
        assert!(age >= Duration::from_ms(4) && age < Duration::from_ms(1_000), "{age}");
    }
}
