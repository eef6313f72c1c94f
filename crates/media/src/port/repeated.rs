//! The windows of one gate as a list of gate operations repeats them, and what stands between two such lists, by what a clock shows.

use chronoseal_core::{Duration, SimTime};

use super::config::{GateControlList, GateEntry};
use super::gates::Gate;

/// Windows that repeat, or a gate that never changes.
#[derive(Clone, Debug)]
pub(super) struct Repeated {
    base_time: Duration,
    cycle: Duration,
    /// When it opens, in `0..cycle`, and when it closes, at most a cycle later; in order, none touches the next.
    pub(super) windows: Vec<(Duration, Duration)>,
    /// What it is if there are no windows.
    pub(super) is_always_open: bool,
}

impl Repeated {
    /// A gate that never closes, or never opens.
    pub(super) const fn fixed(is_always_open: bool) -> Self {
        Self { base_time: Duration::ZERO, cycle: Duration::ZERO, windows: Vec::new(), is_always_open }
    }

    /// The gate that is open in some entries of a list, and as much earlier.
    pub(super) fn of(list: &GateControlList, is_open: &dyn Fn(&GateEntry) -> bool, early: Duration) -> Self {
        let base_time = (list.base_time - early).rem_floor(list.cycle);
        let open = in_cycle(list, is_open).into_iter().map(|(opens, closes)| (opens, closes + early));
        Self::new(base_time, list.cycle, open)
    }

    /// Windows in a cycle, in their order, each of a length.
    fn new(base_time: Duration, cycle: Duration, windows: impl Iterator<Item = (Duration, Duration)>) -> Self {
        let mut merged = merged(windows);
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
            false => Self { base_time, cycle, windows: merged, is_always_open: false },
        }
    }

    /// The gate when its clock shows a time, and since when by the clock it certainly is so.
    pub(super) fn look_up(&self, now: SimTime) -> (SimTime, Gate) {
        if self.windows.is_empty() {
            return (now, if self.is_always_open { Gate::Open(None) } else { Gate::Closed(None) });
        }
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
            (start + (before.0 - turn), Gate::Open(Some(start + closes)))
        } else {
            let opens = self.windows.get(next).map_or(self.windows[0].0 + self.cycle, |(opens, _)| *opens);
            (start + closes, Gate::Closed(Some(start + opens)))
        }
    }

    /// How long it is open from one time of its clock to another.
    pub(super) fn open_between(&self, from: SimTime, until: SimTime) -> Duration {
        if until <= from {
            return Duration::ZERO;
        }
        if self.windows.is_empty() {
            return if self.is_always_open { until - from } else { Duration::ZERO };
        }
        let (whole, rest) = ((until - from).div_floor(self.cycle), (until - from).rem_floor(self.cycle));
        let mut open = self.open_in_cycle() * whole;
        let (mut at, end) = (from, from + rest);
        while at < end {
            at = match self.look_up(at).1 {
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

    /// When it has been open for a time, from another time of its clock on; `None` if it never is so long.
    pub(super) fn after_open(&self, from: SimTime, open: Duration) -> Option<SimTime> {
        if self.windows.is_empty() {
            return self.is_always_open.then(|| from + open);
        }
        let in_cycle = self.open_in_cycle();
        // A cycle less than there are, so that the end of the last one is found by walking.
        let whole = ((open - Duration::from_ps(1)).div_floor(in_cycle)).max(0);
        let (mut at, mut left) = (from + self.cycle * whole, open - in_cycle * whole);
        while left > Duration::ZERO {
            at = match self.look_up(at).1 {
                Gate::Open(closes) => {
                    let used = closes.map_or(left, |closes| left.min(closes - at));
                    left -= used;
                    at + used
                }
                Gate::Closed(opens) => opens?,
            };
        }
        Some(at)
    }

    fn open_in_cycle(&self) -> Duration {
        self.windows.iter().map(|(opens, closes)| *closes - *opens).sum()
    }
}

/// How many pieces a time has in which one list replaces another: that of the old one, what is between, that of the new one.
pub(super) const PIECES: usize = 3;

/// What follows the windows of a list that another one replaces.
#[derive(Clone, Debug)]
pub(super) struct Changed {
    /// The old windows repeat until then.
    from: SimTime,
    /// The new ones repeat from then on.
    at: SimTime,
    /// Those between, which do not repeat; in order, none touches the next.
    between: Vec<(SimTime, SimTime)>,
    pub(super) then: Repeated,
}

impl Changed {
    /// What follows the gate that is open in some entries of a list, and as much earlier; `None` if nothing replaces the list.
    pub(super) fn of(list: &GateControlList, is_open: &dyn Fn(&GateEntry) -> bool, early: Duration) -> Option<Self> {
        let (ends, begins) = list.ends()?;
        let (new, ends, begins) = (list.changed()?, SimTime::ZERO + ends, SimTime::ZERO + begins);
        let from = ends - early;
        // Windows of the old list that began before its end, its last operation if that lasts on, and windows of the new one that are
        // early.
        let old = spans(list, is_open, (from, ends)).into_iter().map(|(opens, closes)| (opens, closes.min(ends)));
        let last = list.entries.last().is_some_and(is_open).then_some((ends, begins));
        let new_ones = spans(&new, is_open, (begins, begins + early));
        let all = old.chain(last).chain(new_ones);
        let cut = |(opens, closes): (SimTime, SimTime)| ((opens - early).max(from), closes.min(begins));
        let mut between: Vec<_> = all.filter(|(opens, closes)| opens < closes).map(cut).collect();
        between.retain(|(opens, closes)| opens < closes);
        between.sort_unstable();
        Some(Self { from, at: begins, between: merged(between.into_iter()), then: Repeated::of(&new, is_open, early) })
    }

    /// In which piece a time of the clock is.
    pub(super) fn piece(&self, now: SimTime) -> usize {
        usize::from(now >= self.from) + usize::from(now >= self.at)
    }

    /// When a piece begins; `None` for the first, and if there is no such piece.
    pub(super) const fn begins(&self, piece: usize) -> Option<SimTime> {
        match piece {
            1 => Some(self.from),
            2 => Some(self.at),
            _ => None,
        }
    }

    /// The gate between the two lists, and since when it is so.
    pub(super) fn look_up(&self, now: SimTime) -> (SimTime, Gate) {
        let next = self.between.partition_point(|(opens, _)| *opens <= now);
        let before = next.checked_sub(1).map(|index| self.between[index]);
        match before {
            Some((opens, closes)) if now < closes => (opens, Gate::Open(Some(closes))),
            _ => {
                let opens = self.between.get(next).map_or(self.at, |(opens, _)| *opens);
                (before.map_or(self.from, |(_, closes)| closes), Gate::Closed(Some(opens)))
            }
        }
    }

    /// How long it is open between the two lists, from one time to another.
    pub(super) fn open_between(&self, from: SimTime, until: SimTime) -> Duration {
        let (from, until) = (from.max(self.from), until.min(self.at));
        self.between.iter().map(|(opens, closes)| common((*opens, *closes), (from, until))).sum()
    }

    /// When it has been open for a time, from another time on; `None` if it is not so long.
    pub(super) fn after_open(&self, from: SimTime, mut open: Duration) -> Option<SimTime> {
        for &(opens, closes) in &self.between {
            let here = common((opens, closes), (from, self.at));
            if here >= open {
                return Some(opens.max(from) + open);
            }
            open -= here;
        }
        None
    }
}

/// What two spans have in common.
fn common(one: (SimTime, SimTime), other: (SimTime, SimTime)) -> Duration {
    (one.1.min(other.1) - one.0.max(other.0)).max(Duration::ZERO)
}

/// Windows in the order in which they begin, those that touch as one.
fn merged<T: Ord + Copy>(windows: impl Iterator<Item = (T, T)>) -> Vec<(T, T)> {
    let mut merged: Vec<(T, T)> = Vec::new();
    for (opens, closes) in windows {
        match merged.last_mut() {
            Some(last) if last.1 >= opens => last.1 = last.1.max(closes),
            _ => merged.push((opens, closes)),
        }
    }
    merged
}

/// When the entries of a list are open in a cycle. The last operation lasts until the end of the cycle, and none beyond it.
fn in_cycle(list: &GateControlList, is_open: &dyn Fn(&GateEntry) -> bool) -> Vec<(Duration, Duration)> {
    let mut at = Duration::ZERO;
    let mut found = Vec::new();
    for (index, entry) in list.entries.iter().enumerate() {
        let is_last = index + 1 == list.entries.len();
        let end = if is_last { list.cycle } else { (at + entry.lasts).min(list.cycle) };
        if is_open(entry) && end > at {
            found.push((at, end));
        }
        at = end;
    }
    found
}

/// The spans of a list that begin before one time and end after another that comes before it.
fn spans(
    list: &GateControlList,
    is_open: &dyn Fn(&GateEntry) -> bool,
    (after, before): (SimTime, SimTime),
) -> Vec<(SimTime, SimTime)> {
    let windows = in_cycle(list, is_open);
    let mut start = after - (after.since_zero() - list.base_time).rem_floor(list.cycle);
    let mut found = Vec::new();
    while start < before {
        let all = windows.iter().map(|(opens, closes)| (start + *opens, start + *closes));
        found.extend(all.filter(|(opens, closes)| *closes > after && *opens < before));
        start += list.cycle;
    }
    found
}
