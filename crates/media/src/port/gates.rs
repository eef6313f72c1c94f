//! When the gates of a port are open: IEEE 802.1Q-2022 §8.6.8.4.
//!
//! Cycles are counted by a clock. Without one no list is followed yet, and the gates are as *AdminGateStates* leaves them: all open
//! (§8.6.9.4). What the clock shows decides at every instant which entry holds, so that a clock that is set forth over the start of an entry
//! is in that entry at once, and one that is set back over it is in the entry before until it comes to the start again: no entry is
//! skipped that lasts longer than the step, and none begins a cycle of its own.
//!
//! A list that replaces another one (§8.6.9.3) begins when the clock shows *ConfigChangeTime*. The last cycle of the old list is cut short
//! there, or its last operation lasts on until then. A clock that is set back over that time is in the old list until it comes there again.

use std::cell::Cell;

use chronoseal_core::{Duration, LocalTime, Oscillator, Ppm, Priority, SimTime};

use super::config::{GateControlList, GateEntry, TRAFFIC_CLASSES};
use super::repeated::{Changed, PIECES, Repeated};

/// The windows of one gate, which repeat; or a gate that never changes. Where another list replaces that of the port, they repeat up to
/// then only.
#[derive(Clone, Debug)]
pub(super) struct Windows {
    /// What it is if there is no change, or until then.
    first: Repeated,
    change: Option<Box<Changed>>,
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
        Self::of(Repeated::fixed(is_always_open), None)
    }

    const fn of(first: Repeated, change: Option<Box<Changed>>) -> Self {
        let is_open_at_first = first.is_always_open;
        Self {
            first,
            change,
            is_open_at_first,
            clock: Some(Oscillator::new(Duration::ZERO, Ppm(0))),
            last: Cell::new(NEVER),
        }
    }

    /// The same gate, which is open or closed while no list is followed.
    fn at_first(mut self, is_open: bool) -> Self {
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
            Some(_) if self.first.windows.is_empty() && self.change.is_none() => Some(self.first.is_always_open),
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
        let (from, gate) = self.look_up(self.shown(now));
        let gate = match gate {
            Gate::Open(until) => Gate::Open(until.map(|until| self.when(until))),
            Gate::Closed(until) => Gate::Closed(until.map(|until| self.when(until))),
        };
        let (Gate::Open(until) | Gate::Closed(until)) = gate;
        self.last.set((self.when(from), until.unwrap_or(SimTime::MAX), gate));
        gate
    }

    /// The gate when its clock shows a time, and since when by the clock it certainly is so.
    fn look_up(&self, now: SimTime) -> (SimTime, Gate) {
        let Some(change) = &self.change else { return self.first.look_up(now) };
        let piece = change.piece(now);
        let (since, mut gate) = self.look_up_in(piece, now);
        let since = since.max(change.begins(piece).unwrap_or(since));
        // What is so at the end of a piece may be so in the next one as well.
        for next in piece + 1..PIECES {
            let Some(begins) = change.begins(next) else { break };
            if change.begins(next + 1) == Some(begins) {
                continue;
            }
            let (Gate::Open(until) | Gate::Closed(until)) = gate;
            if until.is_some_and(|until| until < begins) {
                break;
            }
            gate = match (gate, self.look_up_in(next, begins).1) {
                (Gate::Open(_), Gate::Open(until)) => Gate::Open(until),
                (Gate::Closed(_), Gate::Closed(until)) => Gate::Closed(until),
                (Gate::Open(_), Gate::Closed(_)) => return (since, Gate::Open(Some(begins))),
                (Gate::Closed(_), Gate::Open(_)) => return (since, Gate::Closed(Some(begins))),
            };
        }
        (since, gate)
    }

    /// The same in one piece, as if there were no other.
    fn look_up_in(&self, piece: usize, now: SimTime) -> (SimTime, Gate) {
        match (&self.change, piece) {
            (Some(change), 1) => change.look_up(now),
            (Some(change), 2) => change.then.look_up(now),
            _ => self.first.look_up(now),
        }
    }

    /// The next time it opens after it closes at a time; that time itself if it never does.
    ///
    /// It is open now, and what is known of that is kept for the looks to come.
    pub(super) fn opens_after(&self, closes: SimTime) -> SimTime {
        if self.constant().is_some() {
            return closes;
        }
        match self.look_up(self.shown(closes)).1 {
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
        self.open_while_shown(self.shown(from), self.shown(until))
    }

    /// The same by list: how long the one that runs first lets it be open, and how long the one that replaces that.
    #[inline]
    pub(super) fn open_by_list(&self, from: SimTime, until: SimTime) -> [Duration; 2] {
        let Some(begins) = self.begins() else { return [self.open_between(from, until), Duration::ZERO] };
        let (shown_from, shown_until) = (self.shown(from), self.shown(until));
        if shown_until <= begins {
            [self.open_between(from, until), Duration::ZERO]
        } else if shown_from >= begins {
            [Duration::ZERO, self.open_between(from, until)]
        } else {
            [self.open_while_shown(shown_from, begins), self.open_while_shown(begins, shown_until)]
        }
    }

    /// How long it is open by its clock from a time on until another list replaces that of the port; `None` if none does.
    pub(super) fn open_until_change(&self, from: SimTime) -> Option<Duration> {
        let begins = self.begins()?;
        let shown = self.shown(from);
        Some(if shown < begins { self.open_while_shown(shown, begins) } else { Duration::ZERO })
    }

    /// How much of a time goes by under the list that runs first, and how much under the one that replaces that, be it open or not.
    #[inline]
    pub(super) fn time_by_list(&self, from: SimTime, until: SimTime) -> [Duration; 2] {
        let changes = self.begins().map_or(until, |begins| self.when(begins).clamp(from, until));
        [changes - from, until - changes]
    }

    /// What its clock shows when another list replaces that of the port, if a list is followed and one does.
    #[inline]
    fn begins(&self) -> Option<SimTime> {
        self.clock.and(self.change.as_ref()?.begins(PIECES - 1))
    }

    /// How long it is open while its clock shows what is between two times.
    fn open_while_shown(&self, from: SimTime, until: SimTime) -> Duration {
        match self.change.as_deref() {
            None => self.first.open_between(from, until),
            Some(change) => {
                let [ends, begins] = [1, 2].map(|piece| change.begins(piece).unwrap_or(until));
                self.first.open_between(from, until.min(ends))
                    + change.open_between(from, until)
                    + change.then.open_between(from.max(begins), until)
            }
        }
    }

    /// When it has been open for a time by its clock, from another time on.
    pub(super) fn after_open(&self, from: SimTime, open: Duration) -> SimTime {
        if let Some(is_open) = self.constant() {
            return if is_open { from + open } else { SimTime::MAX };
        }
        let (mut at, mut left) = (self.shown(from), open);
        let found = match self.change.as_deref() {
            None => self.first.after_open(at, left),
            Some(_) if left <= Duration::ZERO => Some(at),
            Some(change) => (change.piece(at)..PIECES).find_map(|piece| {
                if let Some(ends) = change.begins(piece + 1) {
                    let here = self.open_while_shown(at, ends);
                    if here < left {
                        (at, left) = (at.max(ends), left - here);
                        return None;
                    }
                }
                match piece {
                    0 => self.first.after_open(at, left),
                    1 => change.after_open(at, left),
                    _ => change.then.after_open(at, left),
                }
            }),
        };
        found.map_or(SimTime::MAX, |shown| self.when(shown))
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
        let of = |is_open: &dyn Fn(&GateEntry) -> bool, early: Duration| {
            let change = Changed::of(list, is_open, early).map(Box::new);
            Windows::of(Repeated::of(list, is_open, early), change)
        };
        let class = |class: usize| match class < TRAFFIC_CLASSES {
            true => of(&|entry| entry.open >> class & 1 == 1, Duration::ZERO).at_first(true),
            false => Windows::fixed(true),
        };
        Self { classes: std::array::from_fn(class), held: of(&|entry| entry.hold, list.hold_advance).at_first(false) }
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

    use super::super::config::ListChange;
    use super::*;

    #[test]
    fn a_clock_that_skips_the_instant_at_which_a_gate_opens_finds_it_open_since() {
        let ps = Duration::from_ps;
        let entry = |open, lasts| GateEntry { open, hold: false, lasts: ps(lasts) };
        let entries = vec![entry(0, 4), entry(1 << 3, 3)];
        let list = GateControlList { base_time: ps(20), cycle: ps(7), entries, hold_advance: ps(0), change: None };
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
                change: None,
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
                change: None,
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

        /// A port whose list is replaced against the state machines of IEEE 802.1Q-2022 §8.6.9, picosecond by picosecond.
        #[test]
        fn a_list_is_replaced_as_the_state_machines_say(
            old in proptest::collection::vec((any::<bool>(), 1i64..9), 1..6), rest in 0i64..4, base in -30i64..30,
            new in proptest::collection::vec((any::<bool>(), 1i64..9), 1..6), new_base in 0i64..70, requested in 0i64..50,
            extension in 0i64..40, early in 0i64..12, from in 0i64..120, length in 0i64..120, open in 1i64..60,
            offset in -30i64..30, percent in -20i64..20,
        ) {
            let ps = Duration::from_ps;
            let entries = |all: &[(bool, i64)]| -> Vec<GateEntry> {
                let entry = |(open, lasts): &(bool, i64)| GateEntry { open: u8::from(*open) << 3, hold: *open, lasts: ps(*lasts) };
                all.iter().map(entry).collect()
            };
            let lasts = |all: &[(bool, i64)]| all.iter().map(|(_, lasts)| lasts).sum::<i64>();
            let (cycle, new_cycle) = (lasts(&old) + rest, lasts(&new));
            let list = GateControlList {
                base_time: ps(base),
                cycle: ps(cycle),
                entries: entries(&old),
                hold_advance: ps(early),
                change: Some(Box::new(ListChange {
                    requested_at: ps(requested),
                    extension: ps(extension),
                    base_time: ps(new_base),
                    cycle: ps(new_cycle),
                    entries: entries(&new),
                })),
            };
            let model = StateMachines { old: (&old, base, cycle), new: (&new, new_base, new_cycle), requested, extension };
            let states = model.states(400);
            let plain = |at: i64| states[at as usize];
            let gates = Gates::new(Some(&list));
            let (gate, at) = (gates.of(3), SimTime::from_ps);
            let expected = |now: i64, is: &dyn Fn(i64) -> bool, gate: Gate| match gate {
                Gate::Open(until) => {
                    let end = until.map_or(300, |until| until.as_ps().min(300));
                    is(now) && (now..end).all(is) && (until.is_none() || end == 300 || !is(end))
                }
                Gate::Closed(until) => {
                    let end = until.map_or(300, |until| until.as_ps().min(300));
                    !is(now) && !(now..end).any(is) && (until.is_none() || end == 300 || is(end))
                }
            };
            prop_assert!(expected(from, &plain, gate.at(at(from))), "{:?} at {from}: {states:?}", gate.at(at(from)));
            let held = |now: i64| (now..=now + early).any(plain);
            prop_assert!(expected(from, &held, gates.held().at(at(from))), "{:?} at {from}", gates.held().at(at(from)));
            let count = |from: i64, until: i64| (from..until).filter(|at| plain(*at)).count() as i64;
            prop_assert_eq!(gate.open_between(at(from), at(from + length)), ps(count(from, from + length)));
            if count(from, 400) >= open {
                let until = gate.after_open(at(from), ps(open)).as_ps();
                prop_assert_eq!(count(from, until), open);
                prop_assert!(plain(until - 1), "no longer than needed");
            }
            let shown = list.open_windows(3, at(from), at(from + length));
            let shown: Vec<i64> = shown.flat_map(|(opens, closes)| opens.as_ps()..closes.as_ps()).collect();
            prop_assert_eq!(shown, (from..from + length).filter(|at| plain(*at)).collect::<Vec<_>>());
            // By a clock the gate is what it is without one when the clock shows that time.
            let clock = Oscillator::new(ps(offset), Ppm(percent * 10_000_000));
            let shown = SimTime::ZERO + clock.local(at(from)).since_zero();
            let mut by_clock = Gates::new(Some(&list));
            by_clock.follow(Some(clock));
            let first = |shown: SimTime| clock.sim(LocalTime::ZERO + shown.since_zero());
            let expected = match gate.at(shown) {
                Gate::Open(until) => Gate::Open(until.map(first)),
                Gate::Closed(until) => Gate::Closed(until.map(first)),
            };
            prop_assert_eq!(by_clock.of(3).at(at(from)), expected);
        }
    }

    /// The state machines Cycle Timer, List Execute and List Config, one step a picosecond.
    struct StateMachines<'a> {
        /// A list, its base time and its cycle time.
        old: (&'a [(bool, i64)], i64, i64),
        new: (&'a [(bool, i64)], i64, i64),
        requested: i64,
        extension: i64,
    }

    impl StateMachines<'_> {
        /// Whether the gate is open, from 0 to `until`.
        fn states(&self, until: i64) -> Vec<bool> {
            let (_, admin_base, admin_cycle) = self.new;
            let (mut oper, mut pending, mut change_at) = (self.old, false, i64::MAX);
            // The list runs since long ago.
            let mut now = -1000;
            let mut cycle_start = oper.1 + (now - oper.1).div_euclid(oper.2) * oper.2;
            let (mut entry, mut next_entry) = (0, cycle_start);
            let mut states = Vec::new();
            let mut extension = self.extension;
            while now < until {
                // List Config.
                if now == self.requested {
                    change_at = admin_base;
                    while change_at < now {
                        change_at += admin_cycle;
                    }
                    pending = true;
                }
                if pending && change_at <= now {
                    oper = (self.new.0, change_at, admin_cycle);
                    (pending, extension, cycle_start) = (false, 0, now);
                }
                // Cycle Timer: it knows the next start since this cycle began.
                if cycle_start <= now {
                    (entry, next_entry) = (0, cycle_start);
                    let regular = cycle_start + oper.2;
                    cycle_start = if pending && change_at <= now + oper.2 + extension { change_at } else { regular };
                }
                // List Execute: the last entry lasts until the next cycle.
                while entry < oper.0.len() && next_entry <= now {
                    next_entry += oper.0[entry].1;
                    entry += 1;
                }
                if now >= 0 {
                    states.push(oper.0[entry - 1].0);
                }
                now += 1;
            }
            states
        }
    }
}
