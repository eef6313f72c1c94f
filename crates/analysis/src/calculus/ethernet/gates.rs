//! Gates that open by a table (IEEE 802.1Qbv, and the gaps between AS6802 windows): what they let through, at least.
//!
//! A frame starts only if it ends before its gate closes. So a window is of full use up to one longest frame before its
//! end; and if frames wait when it opens, at least as many are sent as would fit if all were the longest. Both hold, and
//! the worst interval begins just when a window is of no use any more: one longest frame before its end.
//!
//! # Clocks that are corrected
//! All gates of a port go by one clock `c`. If it runs by no more than `a` too fast or too slow and is corrected by at most `p`, at most
//! once in `q` of true time, then `g(t) = c(t) - t` has `|g(t) - g(s)| <= r |t - s| + p` with `r = a + p / q`. Let `h(t)` be the least of
//! `g(s) + r |t - s|` over all `s`. It changes by no more than `r` in any unit of time, and `g - p <= h <= g`. So `R(t) = t + h(t) + p / 2`
//! is a time without steps that runs by no more than `r` too fast or too slow, and the clock is never further from it than `p / 2`.
//!
//! - By `R` a gate is certainly open from `p / 2` after the start of its window to `p / 2` before its end, whatever steps the clock
//!   makes between, and in all this time frames start as they would without steps: whether one may is asked of the clock as it is then,
//!   so that one of length `l` may if by `R` it ends `p / 2 + r l` before the window does.
//! - A frame that started in another window ends by `R` no later than `p / 2 + 2 r l` behind the end of that window. So it is over when a
//!   window is certainly open that did not begin within that one.
//! - By true time what lasts `d` by `R` lasts no less than `d / (1 + r)` and no more than `d / (1 - r)`. Shorter windows and longer times
//!   between them bring no more than there is: what is cut out of a window takes no more service than it takes time, and time that is put
//!   in brings none.
//!
//! With `shift = p / 2 + 2 r l` that is [`Gates::certain`]. Which windows lie within others is the same by any clock, since it is one
//! clock; how many whole frames a window takes is not, since those that are there when it opens may have begun before it is certainly
//! open. Before the clock shows anything all gates are open. That is more than any window gives, and no frame of a lower class begins
//! then while one of this class waits: one that is on the wire when the list begins was there before.

use super::super::arrival::ArrivalCurve;
use super::super::rational::Rational;
use super::super::service::{RateLatency, ServiceCurve};
use super::super::unbounded::Unbounded;

/// When a gate is open.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Window {
    /// From here on, counted from the start of the cycle.
    pub from: Rational,
    /// For so long.
    pub length: Rational,
}

/// What is wrong with a table of windows.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidGates {
    /// The cycle is not above zero.
    #[error("a cycle of {0} is none; it has to be above zero")]
    Cycle(Rational),
    /// There is no window.
    #[error("there is no window; a class that is never open needs no table")]
    Empty,
    /// A window has no length, or is not within the cycle.
    #[error(
        "window {index} lasts from {from} for {length}, in a cycle of {cycle}: it has to last, and to begin within the cycle and end at most one cycle later"
    )]
    Window {
        /// Its place in the list, from 0.
        index: usize,
        /// Where it begins.
        from: Box<Rational>,
        /// How long it lasts.
        length: Box<Rational>,
        /// The cycle.
        cycle: Box<Rational>,
    },
    /// Two windows overlap.
    #[error("the windows from {first} and from {second} overlap; make them one")]
    Overlap {
        /// Where the first begins.
        first: Box<Rational>,
        /// Where the second begins.
        second: Box<Rational>,
    },
}

/// The windows of one class, which repeat.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Gates {
    cycle: Rational,
    /// By `from`; none touches the next.
    windows: Vec<Window>,
    /// How far the clock by which they open may be from true time; `None`: it shows true time.
    wander: Option<Wander>,
}

/// How far a clock that is corrected may be from true time: see the top of this file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wander {
    /// How much earlier or later than by a time without steps gates may open and close, frames that have begun included.
    pub shift: Rational,
    /// How much faster or slower than true time that time may run, as a share.
    pub rate: Rational,
}

/// The frames of a class, in the unit of data, with all that keeps the wire.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frames {
    /// The longest.
    pub longest: Rational,
    /// The shortest.
    pub shortest: Rational,
}

/// Time that is certainly of use, counted from the start of the cycle.
#[derive(Clone, Debug)]
struct Use {
    /// Where the worst interval begins if it misses this use: it is of none to what comes later.
    missed: Rational,
    from: Rational,
    length: Rational,
}

impl Gates {
    /// Windows in a cycle. The last may go on into the next cycle.
    ///
    /// # Errors
    /// If the cycle or a window has no length, a window does not begin within the cycle, or two overlap.
    pub fn new(cycle: Rational, mut windows: Vec<Window>) -> Result<Self, InvalidGates> {
        if !cycle.is_positive() {
            return Err(InvalidGates::Cycle(cycle));
        }
        if windows.is_empty() {
            return Err(InvalidGates::Empty);
        }
        for (index, window) in windows.iter().enumerate() {
            let begins = !window.from.is_negative() && window.from < cycle;
            if !begins || !window.length.is_positive() || window.length > cycle {
                let [from, length, cycle] = [&window.from, &window.length, &cycle].map(|one| Box::new(one.clone()));
                return Err(InvalidGates::Window { index, from, length, cycle });
            }
        }
        windows.sort_by(|a, b| a.from.cmp(&b.from));
        let mut merged: Vec<Window> = Vec::with_capacity(windows.len());
        for window in windows {
            match merged.last_mut() {
                Some(last) if &last.from + &last.length == window.from => last.length += window.length,
                Some(last) if &last.from + &last.length > window.from => {
                    return Err(overlap(&last.from, &window.from));
                }
                _ => merged.push(window),
            }
        }
        let first = merged[0].from.clone();
        let last = merged.len() - 1;
        let end = &merged[last].from + &merged[last].length - &cycle;
        if last > 0 && end > first {
            return Err(overlap(&merged[last].from, &first));
        }
        if last > 0 && end == first {
            let first = merged.remove(0);
            merged[last - 1].length += first.length;
        } else if end > first {
            return Err(overlap(&first, &first));
        }
        Ok(Self { cycle, windows: merged, wander: None })
    }

    /// The same windows by a clock that may be so far from true time.
    #[must_use]
    pub fn by(self, wander: Option<Wander>) -> Self {
        Self { wander, ..self }
    }

    /// Windows that are open no more than these by true time, whatever their clock does; `None` if that may be never.
    pub(super) fn certain(&self) -> Option<Self> {
        let Some(Wander { shift, rate }) = &self.wander else { return Some(self.clone()) };
        let one = super::super::whole(1);
        if *rate >= one {
            return None;
        }
        let open = |window: &Window| Window { from: &window.from + shift, length: &window.length - shift - shift };
        let open: Vec<Window> = self.windows.iter().map(open).filter(|window| window.length.is_positive()).collect();
        let nexts = open.iter().skip(1).map(|next| next.from.clone());
        let nexts = nexts.chain(open.first().map(|first| &first.from + &self.cycle));
        let (mut at, mut windows) = (Rational::zero(), Vec::with_capacity(open.len()));
        for (window, next) in open.iter().zip(nexts) {
            let length = &window.length / (&one + rate);
            let closed = (next - &window.from - &window.length) / (&one - rate);
            windows.push(Window { from: at.clone(), length: length.clone() });
            at += length + closed;
        }
        (!windows.is_empty()).then_some(Self { cycle: at, windows, wander: None })
    }

    /// How much of all time they are open.
    pub fn open_share(&self) -> Rational {
        self.windows.iter().map(|window| &window.length).sum::<Rational>() / &self.cycle
    }

    /// The rest of the cycle: what windows of time-triggered frames leave to others (timely block). `None` if that is nothing.
    ///
    /// With shuffling, the others may start until the window begins, and it takes the line for its frame alone, up to one
    /// longest frame later: that is a class above them, and no gate.
    pub fn complement(&self) -> Option<Self> {
        let mut windows = Vec::with_capacity(self.windows.len());
        for (index, window) in self.windows.iter().enumerate() {
            let end = &window.from + &window.length;
            let next = match self.windows.get(index + 1) {
                Some(next) => next.from.clone(),
                None => &self.windows[0].from + &self.cycle,
            };
            let length = next - &end;
            if length.is_positive() {
                let from = if end < self.cycle { end } else { end - &self.cycle };
                windows.push(Window { from, length });
            }
        }
        windows.sort_by(|a, b| a.from.cmp(&b.from));
        (!windows.is_empty()).then(|| Self { cycle: self.cycle.clone(), windows, wander: self.wander.clone() })
    }

    /// True if the gate opens at an instant of the cycle at which `other` is open before and after: a frame of `other` may
    /// be on the wire then.
    pub fn opens_within(&self, other: &Self) -> bool {
        let repeated = |window: &Window| [window.from.clone(), &window.from + &self.cycle];
        self.windows.iter().any(|window| {
            // Cycles of two tables of one port are the same; if not, nothing is certain.
            self.cycle != other.cycle
                || repeated(window)
                    .iter()
                    .any(|at| other.windows.iter().any(|one| one.from < *at && *at < &one.from + &one.length))
        })
    }

    /// True if `other` is open whenever this is.
    pub fn is_within(&self, other: &Self) -> bool {
        let covers = |one: &Window, theirs: &Window| {
            [Rational::zero(), self.cycle.clone()].iter().any(|turn| {
                let from = &one.from + turn;
                theirs.from <= from && &from + &one.length <= &theirs.from + &theirs.length
            })
        };
        self.cycle == other.cycle
            && self.windows.iter().all(|one| {
                let is_always = other.windows.iter().any(|theirs| theirs.length >= other.cycle);
                is_always || other.windows.iter().any(|theirs| covers(one, theirs))
            })
    }

    /// What a link of this rate carries of the class through its windows, at least. It is strict. `late` is how long a frame
    /// of another class may still be on the wire when a window opens; `alone` says that no other class uses these windows.
    ///
    /// # Errors
    /// If no window has room for the longest frame.
    pub fn service(
        &self,
        class: &str,
        rate: &Rational,
        frames: &Frames,
        late: &Rational,
        alone: bool,
    ) -> Result<ServiceCurve, Unbounded> {
        let Some(certain) = self.certain() else { return Err(self.no_room(class, rate, frames, late)) };
        let mut pieces = certain.hull(&certain.full_use(rate, frames, late), rate);
        if alone && self.wander.is_none() {
            pieces.extend(certain.hull(&certain.whole_frames(rate, frames, late), rate));
        }
        if pieces.is_empty() {
            return Err(self.no_room(class, rate, frames, late));
        }
        Ok(ServiceCurve::envelope(pieces))
    }

    /// How long data of a class that keeps to `arrival` and has the windows to itself waits, exactly by the table: the
    /// service curve of [`Self::service`] is its convex hull and may say more. `None` if nothing bounds it.
    pub fn delay(&self, arrival: &ArrivalCurve, rate: &Rational, frames: &Frames) -> Option<Rational> {
        let certain = self.certain()?;
        let by = |uses: &[Use]| {
            (0..uses.len())
                .map(|start| certain.delay_from(start, uses, arrival, rate))
                .try_fold(Rational::zero(), |most, one| Some(most.max(one?)))
        };
        let zero = Rational::zero();
        let full = certain.full_use(rate, frames, &zero);
        let whole = match self.wander {
            None => certain.whole_frames(rate, frames, &zero),
            Some(_) => Vec::new(),
        };
        let found: Vec<Rational> =
            [full, whole].iter().filter(|uses| !uses.is_empty()).filter_map(|uses| by(uses)).collect();
        found.into_iter().min()
    }

    /// Up to one longest frame before its end, a window is of full use.
    fn full_use(&self, rate: &Rational, frames: &Frames, late: &Rational) -> Vec<Use> {
        let guard = &frames.longest / rate;
        let of = |window: &Window| {
            let (from, length) = (&window.from + late, &window.length - &guard - late);
            Use { missed: &from + &length, from, length }
        };
        self.windows.iter().map(of).filter(|one| one.length.is_positive()).collect()
    }

    /// The same, or where that is more: as many frames as always fit, since they are there when the window opens. The data of
    /// the shortest count then, at the end of the time of the longest.
    fn whole_frames(&self, rate: &Rational, frames: &Frames, late: &Rational) -> Vec<Use> {
        let guard = &frames.longest / rate;
        let of = |window: &Window| {
            let (opens, full) = (&window.from + late, &window.length - &guard - late);
            let fit = ((&window.length - late) / &guard).floor();
            let length = &fit * &frames.shortest / rate;
            // A frame may start up to one longest frame before the end.
            let missed = &opens + (&full).max(&Rational::zero());
            if full >= length {
                return Use { missed, from: opens, length: full };
            }
            Use { missed, from: opens + fit * (&frames.longest - &frames.shortest) / rate, length }
        };
        self.windows.iter().map(of).filter(|one| one.length.is_positive()).collect()
    }

    fn no_room(&self, class: &str, rate: &Rational, frames: &Frames, late: &Rational) -> Unbounded {
        let longest = self.windows.iter().map(|window| window.length.clone()).max().unwrap_or_else(Rational::zero);
        let moves = self.wander.as_ref().map_or_else(Rational::zero, |wander| &wander.shift + &wander.shift);
        let needed = Box::new(&frames.longest / rate + late + moves);
        let (class, frame, longest) = (class.to_owned(), Box::new(frames.longest.clone()), Box::new(longest));
        Unbounded::NoRoomInWindows { class, frame, needed, longest }
    }

    /// The uses that follow one that an interval misses, over one cycle: how long after its begin, and how long they last.
    fn after<'a>(&'a self, missed: usize, uses: &'a [Use]) -> impl Iterator<Item = (Rational, Rational)> + 'a {
        let begin = &uses[missed].missed;
        (1..=uses.len()).map(move |step| {
            let one = &uses[(missed + step) % uses.len()];
            let turn = if missed + step >= uses.len() { self.cycle.clone() } else { Rational::zero() };
            (&one.from + turn - begin, one.length.clone())
        })
    }

    /// The convex curve below all that can be carried from the end of any use on.
    fn hull(&self, uses: &[Use], rate: &Rational) -> Vec<RateLatency> {
        let total: Rational = uses.iter().map(|one| &one.length).sum();
        if !total.is_positive() {
            return Vec::new();
        }
        let in_the_long_run = total * rate / &self.cycle;
        let mut corners: Vec<(Rational, Rational)> = vec![];
        for start in 0..uses.len() {
            let mut carried = Rational::zero();
            for (at, length) in self.after(start, uses) {
                corners.push((at, carried.clone()));
                carried += length * rate;
            }
        }
        corners.sort();
        // From the last corner without anything carried on, the least slope to any corner that follows, up to the long run's.
        let Some(mut here) = corners.iter().filter(|(_, carried)| carried.is_zero()).max().cloned() else {
            return Vec::new();
        };
        let mut pieces = Vec::new();
        loop {
            let slope = |corner: &(Rational, Rational)| (&corner.1 - &here.1) / (&corner.0 - &here.0);
            let after = corners.iter().filter(|corner| corner.0 > here.0);
            let next = after.map(|corner| (slope(corner), corner)).min_by(|a, b| a.cmp(b));
            let (slope, corner) = match next {
                Some((slope, corner)) if slope < in_the_long_run => (slope, Some(corner.clone())),
                _ => (in_the_long_run.clone(), None),
            };
            if slope.is_positive() {
                pieces.push(RateLatency { latency: &here.0 - &here.1 / &slope, rate: slope });
            }
            match corner {
                Some(corner) => here = corner,
                None => return pieces,
            }
        }
    }

    /// The delay if the interval begins behind one use.
    fn delay_from(&self, start: usize, uses: &[Use], arrival: &ArrivalCurve, rate: &Rational) -> Option<Rational> {
        let total: Rational = uses.iter().map(|one| &one.length).sum();
        let a_cycle = total * rate;
        if arrival.rate() * &self.cycle > a_cycle {
            return None;
        }
        let last = arrival.corners().last().unwrap_or_else(Rational::zero);
        let until = arrival.at(&last) + &a_cycle;
        let (mut most, mut carried, mut turns) = (Rational::zero(), Rational::zero(), Rational::zero());
        while carried <= until {
            for (at, length) in self.after(start, uses) {
                let (from, amount) = (at + &turns, &length * rate);
                // What comes just after all before was carried waits until here.
                if let Some(came) = arrival.exceeds(&carried) {
                    most = most.max(&from - came);
                }
                for corner in arrival.corners().chain([Rational::zero()]) {
                    let brought = arrival.at(&corner);
                    if brought > carried && brought <= &carried + &amount {
                        most = most.max(&from + (&brought - &carried) / rate - corner);
                    }
                }
                carried += amount;
            }
            turns += &self.cycle;
        }
        Some(most)
    }
}

fn overlap(first: &Rational, second: &Rational) -> InvalidGates {
    InvalidGates::Overlap { first: Box::new(first.clone()), second: Box::new(second.clone()) }
}
