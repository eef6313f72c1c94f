//! What every synchronised device does in each integration cycle: it sorts frames into those in schedule and the others, looks
//! for cliques, and corrects its clock.

use chronoseal_core::{Duration, LocalTime};

use super::Parameters;
use super::clock::ClusterClock;
use super::membership::OutOfSchedule;

/// What happens next in a cycle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Phase {
    /// The next cycle begins; the asynchronous clique detection of masters and clients, and the dispatch of masters.
    CycleStart,
    /// The acceptance window has ended: the synchronous clique detection.
    Evaluate,
    /// The clock is corrected.
    Correct,
}

/// Where in a cycle frames belong, and when they are evaluated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Positions {
    /// In schedule is who becomes permanent, or is compressed, here.
    pub(super) scheduled: Duration,
    /// Or as far from it as this.
    pub(super) half_window: Duration,
    /// The correction follows the scheduled point by this much.
    pub(super) correct_after: Duration,
}

/// The best frame of one source in a cycle.
#[derive(Clone, Copy, Debug)]
struct InSchedule {
    bits: u32,
    at: LocalTime,
}

/// The synchronised operation of a device.
#[derive(Clone, Debug)]
pub(super) struct Follower {
    clock: ClusterClock,
    phase: Phase,
    positions: Positions,
    acceptance_range: u32,
    /// By source.
    best: Vec<Option<InSchedule>>,
    out_of_schedule: OutOfSchedule,
    /// How many bits `local_sync_membership` has.
    sync_membership: u32,
    /// `stable_cycle_counter`, or how many cycles had too few frames.
    pub(super) cycles_counted: u32,
}

impl Follower {
    /// A device that follows as many sources.
    pub(super) fn new(parameters: &Parameters, scheduled: Duration, sources: usize) -> Self {
        let cycle = parameters.cluster.integration_cycle;
        Self {
            clock: ClusterClock::new(cycle, parameters.max_integration_cycles),
            phase: Phase::CycleStart,
            positions: Positions {
                scheduled,
                half_window: parameters.acceptance_window / 2,
                correct_after: parameters.clock_corr_delay,
            },
            acceptance_range: parameters.membership_acceptance_range,
            best: vec![None; sources],
            out_of_schedule: OutOfSchedule::new(cycle + parameters.acceptance_window),
            sync_membership: 0,
            cycles_counted: 0,
        }
    }

    fn forget(&mut self) {
        self.best.fill(None);
        self.out_of_schedule.clear();
        self.cycles_counted = 0;
    }

    /// Begins cycle number `cycle` at a time, with nobody known but oneself.
    pub(super) fn begin_at(&mut self, at: LocalTime, cycle: u32) {
        self.forget();
        self.clock.begin_at(at, cycle);
        self.phase = Phase::CycleStart;
        self.sync_membership = 1;
    }

    /// Takes over the clock of the cluster from a frame with so many masters that belongs to the scheduled point of a cycle.
    pub(super) fn join(&mut self, at: LocalTime, source: usize, membership: u32, cycle: u32) {
        self.forget();
        self.clock.set(at, self.positions.scheduled, cycle);
        self.phase = Phase::Evaluate;
        self.sync_membership = membership.count_ones();
        self.best[source] = Some(InSchedule { bits: membership.count_ones(), at });
    }

    /// Sorts a frame. True if it is in schedule.
    pub(super) fn sort(&mut self, at: LocalTime, source: usize, membership: u32, cycle: u32) -> bool {
        let distance = (self.clock.local_clock(at) - self.positions.scheduled).abs();
        if cycle != self.clock.cycle() || distance > self.positions.half_window || self.phase != Phase::Evaluate {
            self.out_of_schedule.add(at, membership);
            return false;
        }
        let bits = membership.count_ones();
        let best = &mut self.best[source];
        if best.is_none_or(|best| (best.bits, best.at) <= (bits, at)) {
            *best = Some(InSchedule { bits, at });
        }
        true
    }

    /// Sorts a frame while the device waits through a whole cycle and nothing else happens: it is in schedule one cycle after
    /// the frame from which the clock was taken over.
    pub(super) fn sort_next(&mut self, at: LocalTime, source: usize, membership: u32, cycle: u32) -> bool {
        self.roll_over(at);
        self.sort(at, source, membership, cycle)
    }

    /// How many bits the best frame of the cycle has through which the device has waited.
    pub(super) fn end_of_wait(&mut self, at: LocalTime) -> u32 {
        self.roll_over(at);
        self.evaluate()
    }

    fn roll_over(&mut self, at: LocalTime) {
        if at >= self.clock.ends() {
            self.best.fill(None);
            self.begin_cycle();
        }
    }

    /// True if it follows a source of this number.
    pub(super) fn knows(&self, source: usize) -> bool {
        source < self.best.len()
    }

    /// What comes next, and when.
    pub(super) fn next(&self) -> (LocalTime, Phase) {
        let Positions { scheduled, half_window, correct_after } = self.positions;
        let at = match self.phase {
            Phase::CycleStart => self.clock.ends(),
            Phase::Evaluate => self.clock.shows(scheduled + half_window),
            Phase::Correct => self.clock.shows(scheduled + correct_after),
        };
        (at, self.phase)
    }

    /// The next cycle begins.
    pub(super) fn begin_cycle(&mut self) {
        self.clock.next_cycle();
        self.phase = Phase::Evaluate;
    }

    /// `local_sync_membership` of the acceptance window that has ended: the bits of the frame that has most.
    pub(super) fn evaluate(&mut self) -> u32 {
        self.phase = Phase::Correct;
        self.sync_membership = self.best.iter().flatten().map(|best| best.bits).max().unwrap_or(0);
        self.sync_membership
    }

    /// Corrects the clock by the mean of the sources whose best frame has nearly as many masters as the best of all. Positive
    /// if the clock was ahead.
    pub(super) fn correct(&mut self) -> Option<Duration> {
        self.phase = Phase::CycleStart;
        let enough = self.sync_membership.saturating_sub(self.acceptance_range);
        let used = self.best.iter().flatten().filter(|best| best.bits >= enough);
        let expected = self.clock.shows(self.positions.scheduled);
        let (count, sum) = used.fold((0, Duration::ZERO), |(count, sum), best| (count + 1, sum + (best.at - expected)));
        self.best.fill(None);
        let by = (count > 0).then(|| Duration::from_ps(sum.as_ps().div_euclid(count)))?;
        self.clock.set_back(by);
        Some(by)
    }

    /// Asynchronous and relative clique detection: as many masters as the threshold says, or as many as in the own clique, were
    /// heard out of schedule. A single silent cycle makes no other clique the larger one: nobody is in it either.
    pub(super) fn is_in_wrong_clique(&self, at: LocalTime, threshold: u32) -> bool {
        let others = self.out_of_schedule.count(at);
        others >= threshold || others > 0 && others >= self.sync_membership
    }

    /// The number of the current cycle.
    pub(super) fn cycle(&self) -> u32 {
        self.clock.cycle()
    }

    pub(super) fn cluster_time(&self, at: LocalTime) -> Duration {
        self.clock.cluster_time(at)
    }
}
