//! The clocks by which switches keep to the schedule table and open their gates.
//!
//! With a beacon, or with ideal clocks, that is the time in which the run is counted, for all switches. Where stations and switches make
//! the time themselves, each switch has its own: its windows, its dispatch times and the starts that its lines and those of its
//! stations are kept free for go by it. While it has none it takes no scheduled frame and keeps nothing free. What its gates go by
//! is in [`super::gate_clocks`].

use chronoseal_core::oscillator::RateDeviation;
use chronoseal_core::{DiscardReason, Duration, LocalTime, Oscillator, SimTime};

use super::config::NetworkConfig;
use super::gate_clocks::GateClocks;
use super::{Network, Timer};
use crate::medium::{FrameStore, MediumOutput};

/// What two ways to compute what a clock shows can differ by.
const ROUNDING: Duration = Duration::from_ps(2);

/// What the clocks show.
pub(super) struct SlotClocks {
    /// True if each switch has one of its own.
    are_own: bool,
    /// By clock; `None` while it cannot be relied on.
    shown: Vec<Option<Oscillator>>,
    /// By clock: when the timer of its next entry expires, if one was asked for.
    asked: Vec<Option<SimTime>>,
    /// By clock: the lines that are kept free by it.
    lines: Vec<Vec<usize>>,
    /// Of gates.
    pub(super) gates: GateClocks,
}

impl SlotClocks {
    /// How many clocks a network has, and that of each switch.
    pub(super) fn of(config: &NetworkConfig) -> (usize, impl Fn(usize) -> usize) {
        let are_own = config.has_own_clocks();
        (if are_own { config.switches.len() } else { 1 }, move |switch| if are_own { switch } else { 0 })
    }

    pub(super) fn new(config: &NetworkConfig) -> Self {
        let are_own = config.has_own_clocks();
        let (count, clock_of) = Self::of(config);
        let mut lines = vec![Vec::new(); count];
        for line in 0..2 * config.links.len() {
            // The interface of a station has its own clock, and that of its switch is no further from it than the precision.
            if let Some(switch) = config.switch_before(line).or(config.switch_behind(line)) {
                lines[clock_of(switch)].push(line);
            }
        }
        let shown = vec![(!are_own).then(Oscillator::default); count];
        let gates = GateClocks::new(config, shown.clone(), &clock_of);
        Self { are_own, shown, asked: vec![None; count], lines, gates }
    }

    pub(super) fn of_switch(&self, switch: usize) -> usize {
        if self.are_own { switch } else { 0 }
    }
}

/// True if a clock that was known to show one thing shows the same if it is looked at again.
pub(super) fn goes_on(now: SimTime, old: Oscillator, new: Oscillator) -> bool {
    old.rate() == new.rate() && (new.local(now) - old.local(now)).abs() <= ROUNDING
}

impl Network {
    /// What the clock of the switch at the end of a line shows; `None` while it cannot be relied on.
    pub(super) fn shown_behind(&self, now: SimTime, line: usize) -> Option<Duration> {
        let clock = self.slot_clocks.of_switch(self.config.switch_behind(line)?);
        Some(self.slot_clocks.shown[clock]?.local(now).since_zero())
    }

    /// The clock of a switch has been looked at: it shows so much and runs so fast, or cannot be relied on.
    pub(super) fn clock_looked_at(
        &mut self,
        now: SimTime,
        switch: usize,
        shows: Option<(Duration, RateDeviation)>,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        if !self.slot_clocks.are_own {
            return;
        }
        let clock = self.slot_clocks.of_switch(switch);
        let new = shows.map(|(shown, rate)| Oscillator::through(now, LocalTime::ZERO + shown, rate));
        let old = self.slot_clocks.shown[clock];
        if old.is_none() && new.is_none() || old.zip(new).is_some_and(|(old, new)| goes_on(now, old, new)) {
            return;
        }
        self.slot_clocks.shown[clock] = new;
        self.gates_of_switch_follow(now, clock, new, out);
        for line in self.slot_clocks.lines[clock].clone() {
            self.lines[line].follow(new);
            if let Some(port) = &mut self.ports[line] {
                port.follow(new);
            }
        }
        let tolerance = self.config.early_tolerance;
        let jumps = |(old, new): (Oscillator, Oscillator)| (new.local(now) - old.local(now)).abs() > tolerance;
        if old.zip(new).is_none_or(jumps) {
            // What waits for an entry would leave at a time that is no longer that of its slot.
            for (hop, frame) in self.executor.give_up(clock) {
                let stream = self.ways.hop(hop).stream;
                self.discard(self.config.switches[switch], frame, stream, DiscardReason::NotSynchronised, frames, out);
            }
            if let Some(new) = new {
                self.executor.seek(clock, new.local(now).since_zero());
            }
        }
        self.ask_for_entry(now, clock, out);
    }

    /// Asks for the time of the next entry that goes by a clock.
    pub(super) fn ask_for_entry(&mut self, now: SimTime, clock: usize, out: &mut Vec<MediumOutput>) {
        let next = self.slot_clocks.shown[clock].zip(self.executor.next_at(clock));
        let at = next.map(|(shown, next)| shown.sim(LocalTime::ZERO + next).max(now));
        if at != self.slot_clocks.asked[clock] {
            self.slot_clocks.asked[clock] = at;
            out.extend(at.map(|at| MediumOutput::Timer { at, timer: Timer::ScheduleEntry(clock).pack() }));
        }
    }

    /// Asks for the first entries.
    pub(super) fn start_entries(&mut self, now: SimTime, out: &mut Vec<MediumOutput>) {
        (0..self.slot_clocks.asked.len()).for_each(|clock| self.ask_for_entry(now, clock, out));
    }

    /// True if what was asked for last is due. The timer of a time that was asked for before a clock was set back comes too early, and a driver
    /// by the wall clock lets timers expire late.
    pub(super) fn is_entry_due(&mut self, now: SimTime, clock: usize) -> bool {
        self.slot_clocks.asked.get_mut(clock).is_some_and(|asked| asked.take_if(|at| *at <= now).is_some())
    }
}
