//! When the host took the processor away.
//!
//! The receiver's loop notes what it does and how long that took. A step that took longer than its like usually does, by
//! more than [`STALL_NS`], was interrupted: by the hypervisor, an interrupt, or another process. Steps are alike if they
//! verify as many eights of messages; doing nothing usually takes no time.

use chronoseal_core::statistics::median;

/// What is more than a step usually takes, and called a stall from there on `[ns]`.
pub const STALL_NS: u64 = 200_000;

/// One round of a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Step {
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    /// Verified in it.
    pub(crate) messages: usize,
}

impl Step {
    /// Nothing was to be done in between; none if that took no time to speak of.
    pub(crate) fn idle(start_ns: u64, end_ns: u64) -> Option<Self> {
        (end_ns.saturating_sub(start_ns) > STALL_NS).then_some(Self { start_ns, end_ns, messages: 0 })
    }

    /// One message alone may be verified by other code than eight.
    fn kind(&self) -> usize {
        if self.messages <= 1 { self.messages } else { 1 + self.messages.div_ceil(8) }
    }

    fn took_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.start_ns)
    }
}

/// The stalls of a run, in order.
pub(crate) struct Stalls(Vec<Step>);

impl Stalls {
    /// `steps` lie in order.
    pub(crate) fn of(steps: &[Step]) -> Self {
        let kinds = steps.iter().map(Step::kind).max().map_or(0, |kind| kind + 1);
        let usual_ns: Vec<u64> = (0..kinds)
            .map(|kind| {
                let mut took: Vec<u64> = steps.iter().filter(|step| step.kind() == kind).map(Step::took_ns).collect();
                took.sort_unstable();
                if kind == 0 { 0 } else { median(&took).unwrap_or(0) }
            })
            .collect();
        let is_stall = |step: &&Step| step.took_ns() > usual_ns[step.kind()] + STALL_NS;
        Self(steps.iter().filter(is_stall).copied().collect())
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn total_ns(&self) -> u64 {
        self.0.iter().map(Step::took_ns).sum()
    }

    /// Whether one of them lies in this span, or a part of it does.
    pub(crate) fn overlap(&self, start_ns: u64, end_ns: u64) -> bool {
        let first = self.0.partition_point(|stall| stall.end_ns < start_ns);
        self.0.get(first).is_some_and(|stall| stall.start_ns < end_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(start_us: u64, took_us: u64, messages: usize) -> Step {
        Step { start_ns: start_us * 1_000, end_ns: (start_us + took_us) * 1_000, messages }
    }

    #[test]
    fn a_step_is_a_stall_if_it_takes_200_us_more_than_its_like() {
        let mut steps: Vec<Step> = (0..9).map(|at| step(at * 1_000, 100, 8)).collect();
        steps.extend([step(10_000, 300, 5), step(11_000, 301, 5), step(12_000, 900, 32)]);
        let stalls = Stalls::of(&steps);
        assert_eq!((stalls.count(), stalls.total_ns()), (1, 301_000));
    }

    #[test]
    fn to_do_nothing_for_long_is_a_stall() {
        assert_eq!(Step::idle(1_000, 201_000), None);
        let idle = Step::idle(1_000, 201_001).unwrap();
        assert_eq!(Stalls::of(&[idle]).count(), 1);
    }

    #[test]
    fn a_span_is_stalled_if_any_part_of_it_is() {
        let stalls = Stalls(vec![step(100, 50, 0), step(300, 50, 0)]);
        let overlap = |start_us: u64, end_us: u64| stalls.overlap(start_us * 1_000, end_us * 1_000);
        assert!(overlap(90, 110) && overlap(120, 130) && overlap(140, 160) && overlap(160, 400));
        assert!(!overlap(10, 100) && !overlap(160, 300) && !overlap(351, 400));
    }
}
