//! The time by which a segment keeps to its slots, against the time of the run.
//!
//! A schedule table counts from where the first cycle of its segment began. With a beacon, or with ideal clocks, that is where the run
//! began, and its cycles are as long as those of the run. Where nodes and switches make the time themselves, nobody knows before a run
//! when they begin or how fast they are: here that follows from what the switches say that their clocks show.

use std::collections::BTreeMap;

use chronoseal_core::oscillator::RateDeviation;
use chronoseal_core::{Duration, Event, EventKind, LocalTime, NodeId, Oscillator, SimTime, StreamId};
use chronoseal_plan::SegmentId;

use crate::{Describe, Description, Prepared};

/// Times of so many slots are remembered: who says that a frame is missing does so soon after its slot.
const REMEMBERED_MAX: usize = 1 << 12;

/// The time of one segment.
#[derive(Clone, Debug)]
pub struct SegmentTime {
    /// Of its switches, if they make the time; none if it is the time of the run.
    clocks: BTreeMap<NodeId, Clock>,
    /// A clock that jumps by more shows another time than before.
    precision: Duration,
    /// What the clock in the middle shows.
    shown: Option<Oscillator>,
    /// When it showed what somebody asked for, so that everybody gets the same answer.
    known: BTreeMap<LocalTime, SimTime>,
}

/// The clock of a switch.
#[derive(Clone, Copy, Debug)]
struct Clock {
    oscillator: Oscillator,
    /// How much faster it runs than its oscillator.
    rate: RateDeviation,
    shown: Option<Oscillator>,
}

impl SegmentTime {
    /// That of a segment when nothing has been told of it yet.
    pub fn new(prepared: &Prepared<'_>, id: SegmentId) -> Self {
        let (plan, kind) = (prepared.plan(), prepared.kind(id));
        let precision = kind.precision(prepared, id).filter(|_| prepared.has_slots(id));
        let clock = |index: usize| {
            let oscillator = kind.own_oscillator(prepared, id, index);
            (plan.own_node(id, index), Clock { oscillator, rate: RateDeviation::ZERO, shown: None })
        };
        let own = plan.segments[id.index()].own_nodes.len();
        let clocks = (0..own).filter(|_| precision.is_some()).map(clock).collect();
        Self { clocks, precision: precision.unwrap_or_default(), shown: None, known: BTreeMap::new() }
    }

    /// Takes in what a node told, in the order of events.
    pub fn tell(&mut self, at: SimTime, node: NodeId, event: &Event) {
        let Some(clock) = self.clocks.get_mut(&node) else { return };
        match event.kind {
            EventKind::ClockRate => clock.rate = RateDeviation::from_fixed(event.value),
            EventKind::ClockShown => {
                let shown = LocalTime::from_ps((event.sequence as i64).saturating_add(event.value));
                let rate = clock.oscillator.rate().together(clock.rate);
                clock.shown = Some(Oscillator::through(at, shown, rate));
            }
            EventKind::SyncLost => clock.shown = None,
            _ => return,
        }
        let mut all: Vec<Oscillator> = self.clocks.values().filter_map(|clock| clock.shown).collect();
        all.sort_by_key(|clock| clock.local(at));
        // When all are lost the last one goes on.
        let Some(middle) = all.get(all.len().saturating_sub(1) / 2).copied() else { return };
        let has_jumped = |old: Oscillator| (old.local(at) - middle.local(at)).abs() > self.precision;
        if self.shown.is_none_or(has_jumped) {
            self.known.clear();
        }
        self.shown = Some(middle);
    }

    /// Describes a frame whose first bit left its sender at about a time of the run, in times of the run.
    pub fn describe(&mut self, describer: &dyn Describe, bytes: &[u8], sent_at: SimTime) -> Description {
        let described = describer.describe(bytes, self.of_segment(sent_at));
        self.in_run(described, sent_at)
    }

    /// The same for a frame that should have been seen.
    pub fn missing(
        &mut self,
        describer: &dyn Describe,
        (stream, sequence): (StreamId, u64),
        at: SimTime,
    ) -> Option<Description> {
        let described = describer.missing(stream, sequence, self.of_segment(at))?;
        Some(self.in_run(described, at))
    }

    /// A time of the run as the segment counts.
    fn of_segment(&self, at: SimTime) -> SimTime {
        self.shown.map_or(at, |shown| SimTime::ZERO + shown.local(at).since_zero())
    }

    fn in_run(&mut self, described: Description, at: SimTime) -> Description {
        let Some(shown) = self.shown else {
            return match self.clocks.is_empty() {
                true => described,
                // Stations may have joined before switches have.
                false => Description {
                    cycle_start: at,
                    slot_start: described.slot_start.map(|_| at),
                    leaves_by: None,
                    ..described
                },
            };
        };
        let Description { cycle_start, slot_start, leaves_by, .. } = described;
        let local = |time: SimTime| LocalTime::ZERO + time.since_zero();
        let mut known = |time: SimTime| *self.known.entry(local(time)).or_insert_with(|| shown.sim(local(time)));
        let (cycle_start, slot_start) = (known(cycle_start), slot_start.map(&mut known));
        while self.known.len() > REMEMBERED_MAX {
            self.known.pop_first();
        }
        Description { cycle_start, slot_start, leaves_by: leaves_by.map(|at| shown.sim(local(at))), ..described }
    }
}

#[cfg(test)]
mod tests {
    use chronoseal_core::Ppm;

    use super::*;

    const SWITCHES: [NodeId; 3] = [NodeId(5), NodeId(6), NodeId(7)];

    fn time() -> SegmentTime {
        let clock = Clock { oscillator: Oscillator::default(), rate: RateDeviation::ZERO, shown: None };
        SegmentTime {
            clocks: SWITCHES.into_iter().map(|node| (node, clock)).collect(),
            precision: Duration::from_us(10),
            shown: None,
            known: BTreeMap::new(),
        }
    }

    fn at(us: i64) -> SimTime {
        SimTime::ZERO + Duration::from_us(us)
    }

    fn shows(us: i64, by_us: i64) -> Event {
        let sequence = Duration::from_us(us).as_ps() as u64;
        Event { value: Duration::from_us(by_us).as_ps(), ..Event::of(EventKind::ClockShown, StreamId::NONE, sequence) }
    }

    fn slot(us: i64) -> Description {
        Description {
            stream: StreamId(0),
            sequence: None,
            sender: None,
            cycle_start: at(us),
            slot_start: Some(at(us)),
            leaves_by: None,
            received_by: None,
            is_received_when_checked: false,
        }
    }

    #[test]
    fn the_clock_in_the_middle_says_what_time_it_is_and_an_answer_stays() {
        let mut time = time();
        let unknown = time.in_run(slot(300), at(7));
        assert_eq!((unknown.cycle_start, unknown.slot_start), (at(7), Some(at(7))), "nothing was told yet");
        time.tell(at(1_000), SWITCHES[0], &shows(200, 0));
        time.tell(at(1_000), SWITCHES[1], &shows(203, -1));
        time.tell(at(1_000), SWITCHES[2], &shows(209, 0));
        time.tell(at(1_000), NodeId(1), &shows(0, 0));
        assert_eq!(time.of_segment(at(1_010)), at(212));
        assert_eq!(time.in_run(slot(300), at(0)).slot_start, Some(at(1_098)));
        time.tell(at(1_050), SWITCHES[1], &shows(252, 4));
        assert_eq!(time.of_segment(at(1_060)), at(266));
        assert_eq!(time.in_run(slot(300), at(0)).slot_start, Some(at(1_098)), "who asks again gets the same answer");
        assert_eq!(time.in_run(slot(310), at(0)).slot_start, Some(at(1_104)));
    }

    #[test]
    fn a_time_that_jumps_is_another_one_and_without_clocks_the_last_one_goes_on() {
        let mut time = time();
        time.tell(at(1_000), SWITCHES[0], &shows(200, 0));
        assert_eq!(time.in_run(slot(300), at(0)).cycle_start, at(1_100));
        time.tell(at(1_010), SWITCHES[0], &Event::of(EventKind::SyncLost, StreamId::NONE, 0));
        assert_eq!(time.of_segment(at(1_020)), at(220));
        time.tell(at(1_050), SWITCHES[0], &shows(0, 0));
        assert_eq!(time.in_run(slot(300), at(0)).cycle_start, at(1_350));
    }

    #[test]
    fn a_clock_runs_as_its_oscillator_and_its_rate_let_it() {
        let mut time = time();
        let fast = Oscillator::new(Duration::from_us(5), Ppm(1_000_000));
        time.clocks.insert(SWITCHES[0], Clock { oscillator: fast, rate: RateDeviation::ZERO, shown: None });
        let value = RateDeviation::from_ppm(Ppm(1_000_000)).as_fixed();
        time.tell(at(0), SWITCHES[0], &Event { value, ..Event::of(EventKind::ClockRate, StreamId::NONE, 0) });
        time.tell(at(0), SWITCHES[0], &shows(0, 0));
        let elapsed = time.of_segment(at(1_000)) - SimTime::ZERO;
        assert!((elapsed - Duration::from_ns(1_002_001)).abs() <= Duration::from_ps(10), "{elapsed}");
    }
}
