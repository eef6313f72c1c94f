//! When the gates of a port are open: IEEE 802.1Q-2022 §8.6.8.4.
//!
//! Cycles are counted by a clock. Without one no list is followed yet, and the gates are as *AdminGateStates* leaves them: all open
//! (§8.6.9.4). What the clock shows decides at every instant which entry holds, so that a clock that is set forth over the start of an entry
//! is in that entry at once, and one that is set back over it is in the entry before until it comes to the start again: no entry is
//! skipped that lasts longer than the step, and none begins a cycle of its own.

use std::cell::Cell;

use chronoseal_core::{Duration, LocalTime, Oscillator, Ppm, Priority, SimTime};

use super::config::{GateControlList, TRAFFIC_CLASSES};

/// The windows of one gate, which repeat; or a gate that never changes.
#[derive(Clone, Debug)]
pub(super) struct Windows {
    base_time: Duration,
    cycle: Duration,
    /// When it opens, in `0..cycle`, and when it closes, at most a cycle later; in order, none touches the next.
    windows: Vec<(Duration, Duration)>,
    /// What it is if there are no windows.
    is_always_open: bool,
    /// What it is while no list is followed.
    is_open_at_first: bool,
    /// By what the cycles are counted, once there is something.
    clock: Option<Oscillator>,
    /// What was asked for last, and from when until when that holds: time goes on, and most looks are at the same window.
    last: Cell<(SimTime, SimTime, Gate)>,
}

/// A gate at some time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Gate {
    /// It closes then, if ever.
    Open(Option<SimTime>),
    /// It opens then, if ever.
    Closed(Option<SimTime>),
}

/// No time at all.
const NEVER: (SimTime, SimTime, Gate) = (SimTime::MAX, SimTime::MAX, Gate::Closed(None));

impl Windows {
    /// A gate that never closes, or never opens.
    const fn fixed(is_always_open: bool) -> Self {
        Self {
            base_time: Duration::ZERO,
            cycle: Duration::ZERO,
            windows: Vec::new(),
            is_always_open,
            is_open_at_first: is_always_open,
            clock: Some(Oscillator::new(Duration::ZERO, Ppm(0))),
            last: Cell::new(NEVER),
        }
    }

    /// Windows in a cycle, in their order, each of a length.
    fn new(base_time: Duration, cycle: Duration, windows: impl Iterator<Item = (Duration, Duration)>) -> Self {
        let mut merged: Vec<(Duration, Duration)> = Vec::new();
        for (opens, closes) in windows {
            match merged.last_mut() {
                Some(last) if last.1 >= opens => last.1 = last.1.max(closes),
                _ => merged.push((opens, closes)),
            }
        }
        // What is open at the end of a cycle and at the start of the next is one window.
        while let (Some(first), Some(last)) = (merged.first().copied(), merged.last_mut())
            && last.1 - cycle >= first.0
        {
            if last.0 == first.0 {
                return Self::fixed(true);
            }
            last.1 = last.1.max(first.1 + cycle);
            merged.remove(0);
        }
        match merged.is_empty() {
            true => Self::fixed(false),
            false => Self { base_time, cycle, windows: merged, ..Self::fixed(false) },
        }
    }

    /// The same gate, which is open or closed while no list is followed.
    const fn at_first(mut self, is_open: bool) -> Self {
        self.is_open_at_first = is_open;
        self
    }

    /// Counts cycles by what a clock shows from now on; without one no list is followed.
    fn follow(&mut self, clock: Option<Oscillator>) {
        self.clock = clock;
        self.last.set(NEVER);
    }

    /// What the gate is all the time until its clock is another one, if it has no windows to follow.
    #[inline]
    fn constant(&self) -> Option<bool> {
        match self.clock {
            Some(_) if self.windows.is_empty() => Some(self.is_always_open),
            Some(_) => None,
            None => Some(self.is_open_at_first),
        }
    }

    /// What its clock shows.
    #[inline]
    fn shown(&self, at: SimTime) -> SimTime {
        self.clock.map_or(at, |clock| SimTime::ZERO + clock.local(at).since_zero())
    }

    /// When its clock shows a time.
    #[inline]
    fn when(&self, shown: SimTime) -> SimTime {
        self.clock.map_or(shown, |clock| clock.sim(LocalTime::ZERO + shown.since_zero()))
    }

    /// The gate at a time.
    #[inline(always)]
    pub(super) fn at(&self, now: SimTime) -> Gate {
        let (from, until, gate) = self.last.get();
        if from <= now && now < until { gate } else { self.look(now) }
    }

    /// [`Self::at`] for a time at which nothing is known yet.
    #[inline(never)]
    fn look(&self, now: SimTime) -> Gate {
        if let Some(is_open) = self.constant() {
            let gate = if is_open { Gate::Open(None) } else { Gate::Closed(None) };
            self.last.set((SimTime::from_ps(i64::MIN), SimTime::MAX, gate));
            return gate;
        }
        let (from, until, gate) = self.look_up(self.shown(now));
        let found = (self.when(from), self.when(until));
        let gate = match gate {
            Gate::Open(_) => Gate::Open(Some(found.1)),
            Gate::Closed(_) => Gate::Closed(Some(found.1)),
        };
        self.last.set((found.0, found.1, gate));
        gate
    }

    /// The gate when its clock shows a time, and from when until when by the clock it is so.
    fn look_up(&self, now: SimTime) -> (SimTime, SimTime, Gate) {
        let phase = (now.since_zero() - self.base_time).rem_floor(self.cycle);
        let start = now - phase;
        let next = self.windows.partition_point(|(opens, _)| *opens <= phase);
        // The last window of the cycle before may go on into this one.
        let (before, turn) = match next.checked_sub(1) {
            Some(index) => (self.windows[index], Duration::ZERO),
            None => (self.windows[self.windows.len() - 1], self.cycle),
        };
        let closes = before.1 - turn;
        if phase < closes {
            let until = start + closes;
            (start + (before.0 - turn), until, Gate::Open(Some(until)))
        } else {
            let opens = self.windows.get(next).map_or(self.windows[0].0 + self.cycle, |(opens, _)| *opens);
            let until = start + opens;
            (start + closes, until, Gate::Closed(Some(until)))
        }
    }

    /// The next time it opens after it closes at a time; that time itself if it never does.
    ///
    /// It is open now, and what is known of that is kept for the looks to come.
    pub(super) fn opens_after(&self, closes: SimTime) -> SimTime {
        if self.constant().is_some() {
            return closes;
        }
        match self.look_up(self.shown(closes)).2 {
            Gate::Closed(Some(opens)) => self.when(opens),
            Gate::Open(_) | Gate::Closed(None) => closes,
        }
    }

    /// How long it is open from one time to another, by its clock.
    pub(super) fn open_between(&self, from: SimTime, until: SimTime) -> Duration {
        if until <= from {
            return Duration::ZERO;
        }
        if let Some(is_open) = self.constant() {
            return if is_open { until - from } else { Duration::ZERO };
        }
        // At the very instant of a change a fast clock may show a picosecond more than the list says.
        match self.at(from) {
            Gate::Closed(Some(opens)) if until < opens => return Duration::ZERO,
            Gate::Open(Some(closes)) if until < closes => return self.shown(until) - self.shown(from),
            Gate::Open(_) | Gate::Closed(_) => {}
        }
        let (from, until) = (self.shown(from), self.shown(until));
        let (whole, rest) = ((until - from).div_floor(self.cycle), (until - from).rem_floor(self.cycle));
        let mut open = self.open_in_cycle() * whole;
        let (mut at, end) = (from, from + rest);
        while at < end {
            at = match self.look_up(at).2 {
                Gate::Open(closes) => {
                    let closes = closes.unwrap_or(end).min(end);
                    open += closes - at;
                    closes
                }
                Gate::Closed(opens) => opens.unwrap_or(end),
            };
        }
        open
    }

    /// When it has been open for a time by its clock, from another time on.
    pub(super) fn after_open(&self, from: SimTime, open: Duration) -> SimTime {
        if let Some(is_open) = self.constant() {
            return if is_open { from + open } else { SimTime::MAX };
        }
        let in_cycle = self.open_in_cycle();
        // A cycle less than there are, so that the end of the last one is found by walking.
        let whole = ((open - Duration::from_ps(1)).div_floor(in_cycle)).max(0);
        let (mut at, mut left) = (self.shown(from) + self.cycle * whole, open - in_cycle * whole);
        while left > Duration::ZERO {
            at = match self.look_up(at).2 {
                Gate::Open(closes) => {
                    let used = closes.map_or(left, |closes| left.min(closes - at));
                    left -= used;
                    at + used
                }
                Gate::Closed(Some(opens)) => opens,
                Gate::Closed(None) => return SimTime::MAX,
            };
        }
        self.when(at)
    }

    fn open_in_cycle(&self) -> Duration {
        self.windows.iter().map(|(opens, closes)| *closes - *opens).sum()
    }
}

/// All gates of a port, and when it holds preemptable frames.
#[derive(Clone, Debug)]
pub(super) struct Gates {
    /// Those above the traffic classes are always open.
    classes: [Windows; Priority::COUNT],
    held: Windows,
}

impl Gates {
    pub(super) fn new(list: Option<&GateControlList>) -> Self {
        let Some(list) = list else {
            return Self { classes: std::array::from_fn(|_| Windows::fixed(true)), held: Windows::fixed(false) };
        };
        let windows = |is_open: &dyn Fn(usize) -> bool, early: Duration| {
            let mut at = Duration::ZERO;
            let mut found = Vec::new();
            for (index, entry) in list.entries.iter().enumerate() {
                // The last operation lasts until the end of the cycle, and none beyond it.
                let is_last = index + 1 == list.entries.len();
                let end = if is_last { list.cycle } else { (at + entry.lasts).min(list.cycle) };
                if is_open(index) && end > at {
                    found.push((at, end + early));
                }
                at = end;
            }
            Windows::new((list.base_time - early).rem_floor(list.cycle), list.cycle, found.into_iter())
        };
        let class = |class: usize| match class < TRAFFIC_CLASSES {
            true => windows(&|entry| list.entries[entry].open >> class & 1 == 1, Duration::ZERO).at_first(true),
            false => Windows::fixed(true),
        };
        Self {
            classes: std::array::from_fn(class),
            held: windows(&|entry| list.entries[entry].hold, list.hold_advance).at_first(false),
        }
    }

    /// Counts cycles by what a clock shows from now on; without one no list is followed.
    pub(super) fn follow(&mut self, clock: Option<Oscillator>) {
        self.classes.iter_mut().chain([&mut self.held]).for_each(|gate| gate.follow(clock));
    }

    /// By what cycles are counted.
    pub(super) fn clock(&self) -> Option<Oscillator> {
        self.held.clock
    }

    /// The gate of a class.
    pub(super) fn of(&self, class: usize) -> &Windows {
        &self.classes[class]
    }

    /// When preemptable frames are held.
    pub(super) fn held(&self) -> &Windows {
        &self.held
    }
}

impl GateControlList {
    /// From when to when the gate of a class is open between two times; the first and the last window are cut off there.
    pub fn open_windows(
        &self,
        class: usize,
        from: SimTime,
        until: SimTime,
    ) -> impl Iterator<Item = (SimTime, SimTime)> {
        let gates = Gates::new(Some(self));
        let mut at = from;
        std::iter::from_fn(move || {
            if let Gate::Closed(opens) = gates.of(class).at(at) {
                at = opens.unwrap_or(until);
            }
            if at >= until {
                return None;
            }
            let Gate::Open(closes) = gates.of(class).at(at) else { return None };
            let window = (at, closes.map_or(until, |closes| closes.min(until)));
            at = window.1;
            Some(window)
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::config::GateEntry;
    use super::*;

    #[test]
    fn a_clock_that_skips_the_instant_at_which_a_gate_opens_finds_it_open_since() {
        let ps = Duration::from_ps;
        let entry = |open, lasts| GateEntry { open, hold: false, lasts: ps(lasts) };
        let entries = vec![entry(0, 4), entry(1 << 3, 3)];
        let list = GateControlList { base_time: ps(20), cycle: ps(7), entries, hold_advance: ps(0) };
        let mut gates = Gates::new(Some(&list));
        // It shows 16 ps at 17 ps and 18 ps at 18 ps, and the gate opens at 17 ps.
        gates.follow(Some(Oscillator::new(ps(-3), Ppm(170_000_000))));
        let open = |from, until| gates.of(3).open_between(SimTime::from_ps(from), SimTime::from_ps(until));
        assert_eq!((open(14, 17), open(14, 18)), (ps(0), ps(1)));
    }

    proptest! {
        /// A gate that goes by a clock against one that goes by the time of the run, asked for the time that the clock shows.
        #[test]
        fn a_gate_is_what_its_list_says_when_its_clock_shows_it(
            entries in proptest::collection::vec((any::<bool>(), 1i64..9), 1..6), base in -30i64..30,
            offset in -50i64..50, percent in -20i64..20, from in 0i64..60, length in 0i64..90, open in 1i64..40,
        ) {
            let ps = Duration::from_ps;
            let list = GateControlList {
                base_time: ps(base),
                cycle: ps(entries.iter().map(|(_, lasts)| lasts).sum()),
                entries: entries.iter()
                    .map(|(open, lasts)| GateEntry { open: u8::from(*open) << 3, hold: false, lasts: ps(*lasts) })
                    .collect(),
                hold_advance: ps(0),
            };
            let clock = Oscillator::new(ps(offset), Ppm(percent * 10_000_000));
            let shown = |at: SimTime| SimTime::ZERO + clock.local(at).since_zero();
            let (plain, mut gates) = (Gates::new(Some(&list)), Gates::new(Some(&list)));
            gates.follow(Some(clock));
            let (plain, gate, now) = (plain.of(3), gates.of(3), SimTime::from_ps(from));
            let first = |shown: SimTime| clock.sim(LocalTime::ZERO + shown.since_zero());
            let expected = match plain.at(shown(now)) {
                Gate::Open(until) => Gate::Open(until.map(first)),
                Gate::Closed(until) => Gate::Closed(until.map(first)),
            };
            prop_assert_eq!(gate.at(now), expected);
            let later = now + ps(length);
            // A gate that is always open goes by no clock.
            if gate.constant().is_none() {
                prop_assert_eq!(gate.open_between(now, later), plain.open_between(shown(now), shown(later)));
                prop_assert_eq!(gate.after_open(now, ps(open)), first(plain.after_open(shown(now), ps(open))));
            }
            gates.follow(None);
            prop_assert_eq!(gates.of(3).at(now), Gate::Open(None), "no list has begun");
            prop_assert_eq!(gates.held().at(now), Gate::Closed(None));
        }

        /// A gate against the list itself, read picosecond by picosecond.
        #[test]
        fn a_gate_is_what_its_list_says(
            entries in proptest::collection::vec((any::<bool>(), 1i64..9), 1..6), rest in 0i64..4, base in -30i64..30,
            from in 0i64..60, length in 0i64..90, early in 0i64..4,
        ) {
            let ps = Duration::from_ps;
            let total: i64 = entries.iter().map(|(_, lasts)| lasts).sum();
            let list = GateControlList {
                base_time: ps(base),
                cycle: ps(total + rest),
                entries: entries.iter()
                    .map(|(open, lasts)| GateEntry { open: u8::from(*open) << 3, hold: *open, lasts: ps(*lasts) })
                    .collect(),
                hold_advance: ps(early),
            };
            let plain = |at: i64| {
                let mut phase = (at - base).rem_euclid(total + rest);
                for (open, lasts) in &entries {
                    if phase < *lasts {
                        return *open;
                    }
                    phase -= lasts;
                }
                entries[entries.len() - 1].0
            };
            let gates = Gates::new(Some(&list));
            let gate = gates.of(3);
            let at = SimTime::from_ps;
            match gate.at(at(from)) {
                Gate::Open(closes) => {
                    prop_assert!(plain(from));
                    let end = closes.map_or(from + 200, |closes| closes.as_ps());
                    prop_assert!((from..end).all(plain));
                    prop_assert!(closes.is_none() || !plain(end));
                }
                Gate::Closed(opens) => {
                    prop_assert!(!plain(from));
                    let end = opens.map_or(from + 200, |opens| opens.as_ps());
                    prop_assert!(!(from..end).any(plain));
                    prop_assert!(opens.is_none() || plain(end));
                }
            }
            let open = (from..from + length).filter(|at| plain(*at)).count() as i64;
            prop_assert_eq!(gate.open_between(at(from), at(from + length)), ps(open));
            if open > 0 {
                let until = gate.after_open(at(from), ps(open)).as_ps();
                prop_assert_eq!((from..until).filter(|at| plain(*at)).count() as i64, open);
                prop_assert!(plain(until - 1), "no longer than needed");
            }
            let shown = list.open_windows(3, at(from), at(from + length));
            let shown: Vec<i64> = shown.flat_map(|(opens, closes)| opens.as_ps()..closes.as_ps()).collect();
            prop_assert_eq!(shown, (from..from + length).filter(|at| plain(*at)).collect::<Vec<_>>());
            let is_held = matches!(gates.held().at(at(from)), Gate::Open(_));
            prop_assert_eq!(is_held, (from..=from + early).any(plain), "held from a little before");
        }
    }
}
