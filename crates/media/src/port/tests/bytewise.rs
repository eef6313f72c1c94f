//! A port as the standards describe it, byte by byte: every byte's time all conditions are looked at anew. Slow, and without
//! any arithmetic of when something will be so.

use super::*;

/// Gate states, holds and lengths.
type Entries = Vec<(u8, bool, i64)>;

/// A port in the units of this model.
#[derive(Clone, Debug)]
struct Setup {
    /// By class: `Some(k)` has an idle slope of a `k`th of the line's rate.
    slopes: [Option<i64>; 8],
    /// By class: the idle slope is divided by so much when another list begins.
    divided: [i64; 8],
    /// By class.
    asynchronous: [bool; 8],
    preemptable: [bool; 8],
    /// Gate states, holds, and lengths `[byte]`.
    entries: Entries,
    hold_advance: i64,
    /// When another list is requested and begins, by how much a cycle may be extended before, and its entries.
    change: Option<(i64, i64, i64, Entries)>,
    /// By stream: a committed rate of a `k`th of the line's, a burst `[byte]` and a group.
    schedulers: Vec<(i64, i64, u16)>,
}

impl Setup {
    fn config(&self) -> PortConfig {
        let rate = |k: i64| Rate(1_000_000_000 / k as u64);
        let mut config = PortConfig::default();
        for class in 0..8 {
            config.classes[class].is_preemptable = self.preemptable[class];
            config.classes[class].selection = match self.slopes[class] {
                _ if self.asynchronous[class] => Selection::Asynchronous,
                Some(k) => Selection::CreditBased {
                    idle_slope: rate(k),
                    changed: self.change.as_ref().map(|_| rate(k * self.divided[class])),
                },
                None => Selection::Strict,
            };
        }
        let entry =
            |(open, hold, lasts): &(u8, bool, i64)| GateEntry { open: *open, hold: *hold, lasts: BYTE * *lasts };
        config.gates = (!self.entries.is_empty()).then(|| GateControlList {
            base_time: Duration::ZERO,
            cycle: BYTE * self.cycle(),
            entries: self.entries.iter().map(entry).collect(),
            hold_advance: BYTE * self.hold_advance,
            change: self.change.as_ref().map(|(requested, begins, extension, entries)| {
                let cycle = BYTE * entries.iter().map(|(.., lasts)| lasts).sum::<i64>();
                let [requested_at, base_time, extension] = [*requested, *begins, *extension].map(|bytes| BYTE * bytes);
                Box::new(ListChange {
                    requested_at,
                    extension,
                    base_time,
                    cycle,
                    entries: entries.iter().map(entry).collect(),
                })
            }),
        });
        let scheduler = |(stream, (k, burst, group)): (usize, &(i64, i64, u16))| SchedulerConfig {
            stream: StreamId(stream as u16),
            committed_rate: rate(*k),
            committed_burst: *burst as u64,
            max_residence: None,
            group: *group,
        };
        config.schedulers = self.schedulers.iter().enumerate().map(scheduler).collect();
        config
    }

    fn cycle(&self) -> i64 {
        self.entries.iter().map(|(.., lasts)| lasts).sum()
    }

    fn entry(&self, at: i64) -> (u8, bool) {
        let (mut list, mut phase) = (&self.entries, at.rem_euclid(self.cycle().max(1)));
        if let Some((requested, begins, extension, entries)) = &self.change {
            if at >= *begins {
                let cycle: i64 = entries.iter().map(|(.., lasts)| lasts).sum();
                (list, phase) = (entries, (at - begins).rem_euclid(cycle));
            } else {
                // Each cycle begins when the one before it has planned it.
                let (mut start, mut next) = (0, 0);
                while at >= next {
                    start = next;
                    let regular = start + self.cycle().max(1);
                    let is_last = *requested <= start && *begins <= regular + extension;
                    next = if is_last { *begins } else { regular };
                }
                phase = at - start;
            }
        }
        for (open, hold, lasts) in list {
            if phase < *lasts {
                return (*open, *hold);
            }
            phase -= lasts;
        }
        list.last().map_or((0xff, false), |(open, hold, _)| (*open, *hold))
    }

    /// What a class earns in a byte's time, and what it spends besides while it sends, in the parts in which its credit is counted.
    fn slope(&self, class: usize, k: i64, at: i64) -> (i64, i64) {
        let divided = self.divided[class];
        let is_changed = self.change.as_ref().is_some_and(|(_, begins, ..)| at >= *begins);
        (if is_changed { 1 } else { divided }, k * divided)
    }

    fn is_open(&self, class: usize, at: i64) -> bool {
        self.entry(at).0 >> class & 1 == 1
    }

    fn is_held(&self, at: i64) -> bool {
        (0..=self.hold_advance).any(|ahead| self.entry(at + ahead).1)
    }
}

/// What the wire is used for.
#[derive(Clone, Copy, Debug)]
struct Wire {
    frame: usize,
    class: usize,
    started: i64,
    /// Bytes of it that earlier parts brought.
    sent_before: i64,
    /// Bytes of this part on the wire so far, the preamble's 8 included.
    at: i64,
    /// The part is cut behind so many of these.
    cut_at: Option<i64>,
}

/// The rest of a frame: which, of which class, started when, so many bytes of it sent.
type Rest = (usize, usize, i64, i64);

struct Model<'a> {
    setup: &'a Setup,
    coming: &'a [Coming],
    /// By class: frames with their eligibility times, in order.
    queues: Vec<Vec<(usize, i64)>>,
    /// In parts of a byte, as many as the smallest idle slope of the class says.
    credits: [i64; 8],
    wire: Option<Wire>,
    rest: Option<Rest>,
    log: Vec<(usize, i64, i64)>,
}

impl Model<'_> {
    fn whole(&self, frame: usize) -> i64 {
        self.coming[frame].len as i64 + 4
    }

    /// The first frame of a class if the class is free to send it now.
    fn ready(&self, class: usize, now: i64) -> Option<usize> {
        let (frame, eligible) = *self.queues[class].first()?;
        let has_credit =
            self.setup.slopes[class].is_none() || self.setup.asynchronous[class] || self.credits[class] >= 0;
        let ends = now + 8 + self.whole(frame);
        let stays_open = self.setup.entries.is_empty() || (now..ends).all(|at| self.setup.is_open(class, at));
        (eligible <= now && has_credit && stays_open).then_some(frame)
    }

    fn of_kind(&self, preemptable: bool, now: i64) -> Option<(usize, usize)> {
        let mut classes = (0..8).rev().filter(|class| self.setup.preemptable[*class] == preemptable);
        classes.find_map(|class| Some((class, self.ready(class, now)?)))
    }

    fn decide(&mut self, now: i64) {
        let express = self.of_kind(false, now);
        let holds = self.setup.is_held(now);
        if let Some(wire) = &mut self.wire {
            let is_cuttable = self.setup.preemptable[wire.class] && wire.cut_at.is_none();
            if is_cuttable && (express.is_some() || holds) {
                let part = (wire.at - 8).max(60);
                let whole = self.coming[wire.frame].len as i64 + 4;
                if whole - wire.sent_before - part >= 64 {
                    wire.cut_at = Some(8 + part);
                }
            }
            return;
        }
        let next = match (express, self.rest) {
            (Some((class, frame)), _) => Some((frame, class, now, 0)),
            (None, _) if holds => None,
            (None, Some(rest)) => {
                self.rest = None;
                self.wire = Some(Wire {
                    frame: rest.0,
                    class: rest.1,
                    started: rest.2,
                    sent_before: rest.3,
                    at: 0,
                    cut_at: None,
                });
                return;
            }
            (None, None) => self.of_kind(true, now).map(|(class, frame)| (frame, class, now, 0)),
        };
        let Some((frame, class, started, sent_before)) = next else { return };
        self.queues[class].remove(0);
        self.wire = Some(Wire { frame, class, started, sent_before, at: 0, cut_at: None });
        if !self.setup.preemptable[class] {
            self.log.push((frame, now, now + 8 + self.whole(frame)));
        }
    }

    /// What has ended by now.
    fn end(&mut self, now: i64) {
        let Some(wire) = self.wire else { return };
        let rest = self.whole(wire.frame) - wire.sent_before;
        match wire.cut_at {
            Some(cut) if wire.at == cut + 4 + 12 => {
                self.rest = Some((wire.frame, wire.class, wire.started, wire.sent_before + cut - 8));
                self.wire = None;
            }
            Some(_) => {}
            None => {
                if wire.at == 8 + rest && self.setup.preemptable[wire.class] {
                    self.log.push((wire.frame, wire.started, now));
                }
                if wire.at == 8 + rest + 12 {
                    self.wire = None;
                }
            }
        }
    }

    /// A class that spends credit now: its own bytes are on the wire, with the preamble of a frame but not that of a part.
    fn spends(&self) -> Option<usize> {
        let wire = self.wire?;
        let is_own = wire.cut_at.is_none_or(|cut| wire.at < cut) && (wire.sent_before == 0 || wire.at >= 8);
        is_own.then_some(wire.class)
    }

    /// True if frames of a class wait, or the rest of one.
    fn waits(&self, class: usize) -> bool {
        let is_interrupted = self.wire.is_some_and(|wire| wire.class == class && self.spends() != Some(class));
        !self.queues[class].is_empty() || self.rest.is_some_and(|rest| rest.1 == class) || is_interrupted
    }

    /// A byte's time passes.
    fn pass(&mut self, now: i64) {
        let spends = self.spends();
        for class in 0..8 {
            let Some(k) = self.setup.slopes[class] else { continue };
            let (earned, spent) = self.setup.slope(class, k, now);
            let is_open = self.setup.entries.is_empty() || self.setup.is_open(class, now);
            if spends == Some(class) {
                self.credits[class] += earned - spent;
            } else if is_open && (self.waits(class) || self.credits[class] < 0) {
                self.credits[class] += earned;
            }
        }
        if let Some(wire) = &mut self.wire {
            wire.at += 1;
        }
    }

    /// Positive credit is lost where no frame waits and none is sent.
    fn forget(&mut self) {
        for class in 0..8 {
            if self.credits[class] > 0 && self.spends() != Some(class) && !self.waits(class) {
                self.credits[class] = 0;
            }
        }
    }
}

/// 8.6.11.3 as it stands, with times as fractions of a byte's: `(numerator, denominator)` are whole here, since a rate is
/// a `k`th of the line's.
#[derive(Clone, Copy)]
struct Bucket {
    empty_time: i64,
}

fn run(setup: &Setup, coming: &[Coming]) -> Vec<(usize, i64, i64)> {
    let mut model =
        Model { setup, coming, queues: vec![Vec::new(); 8], credits: [0; 8], wire: None, rest: None, log: Vec::new() };
    let mut buckets: Vec<Bucket> =
        setup.schedulers.iter().map(|(k, burst, _)| Bucket { empty_time: -burst * k }).collect();
    let mut groups = [0i64; 4];
    let mut next = 0;
    for now in 0..400_000 {
        model.end(now);
        model.forget();
        while let Some(frame) = coming.get(next).filter(|frame| (frame.at - SimTime::ZERO) == BYTE * now) {
            let class = usize::from(frame.priority);
            let mut eligible = now;
            if let Some((k, burst, group)) =
                setup.schedulers.get(usize::from(frame.stream)).filter(|_| setup.asynchronous[class])
            {
                let bucket = &mut buckets[usize::from(frame.stream)];
                let scheduler_eligibility = bucket.empty_time + (frame.len as i64 + 24) * k;
                let full = bucket.empty_time + burst * k;
                let group = &mut groups[usize::from(*group)];
                eligible = now.max(*group).max(scheduler_eligibility);
                *group = eligible;
                bucket.empty_time =
                    if eligible < full { scheduler_eligibility } else { scheduler_eligibility + eligible - full };
            }
            let queue = &mut model.queues[class];
            let place = queue.iter().position(|(_, other)| *other > eligible).unwrap_or(queue.len());
            queue.insert(place, (next, eligible));
            next += 1;
            model.decide(now);
        }
        model.decide(now);
        model.pass(now);
        if next == coming.len() && model.log.len() == coming.len() {
            break;
        }
    }
    model.log
}

fn setups() -> impl Strategy<Value = Setup> {
    let slope = proptest::option::of(prop_oneof![Just(2i64), Just(3), Just(4), Just(10)]);
    let entries = prop_oneof![
        Just(Vec::new()),
        proptest::collection::vec((any::<u8>(), prop_oneof![3 => Just(false), 1 => Just(true)], 100i64..4000), 1..5),
    ];
    // 10^9 has no third part: times of the model are whole bytes.
    let slope = slope.prop_map(|slope| slope.filter(|k| *k != 3));
    let changed =
        proptest::collection::vec((any::<u8>(), prop_oneof![3 => Just(false), 1 => Just(true)], 100i64..4000), 1..4);
    let change = proptest::option::of((0i64..6000, 1600i64..9000, 0i64..6000, changed));
    let schedulers =
        proptest::collection::vec((prop_oneof![Just(2i64), Just(5), Just(20)], 1600i64..4000, 0u16..4), 0..3);
    (
        proptest::array::uniform8(slope),
        proptest::array::uniform8(prop_oneof![Just(1i64), Just(2), Just(5)]),
        proptest::array::uniform8(prop_oneof![3 => Just(false), 1 => Just(true)]),
        proptest::array::uniform8(any::<bool>()),
        entries,
        0i64..200,
        schedulers,
        change,
    )
        .prop_map(|(slopes, divided, asynchronous, preemptable, mut entries, hold_advance, schedulers, change)| {
            // Each class has a window with room for a frame.
            if !entries.is_empty() {
                entries.push((0xff, false, 3200));
            }
            let change = change.filter(|_| !entries.is_empty()).map(|(requested, after, extension, mut changed)| {
                changed.push((0xff, false, 3200));
                (requested, requested + after, extension, changed)
            });
            Setup { slopes, divided, asynchronous, preemptable, entries, hold_advance, change, schedulers }
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 2000, ..ProptestConfig::default() })]
    #[test]
    fn a_port_does_what_the_standards_say_byte_by_byte(
        setup in setups(),
        frames in proptest::collection::vec((0i64..900, prop_oneof![60u64..200, 60u64..1515], 0u8..8, 0u16..4), 1..24),
    ) {
        let coming = coming(frames);
        let byte = |at: SimTime| (at - SimTime::ZERO).div_floor(BYTE);
        let fast: Vec<_> = play(&mut port(&setup.config()), &coming)
            .into_iter()
            .map(|(number, started, ended)| (number, byte(started), byte(ended)))
            .collect();
        prop_assert_eq!(fast, run(&setup, &coming));
    }
}
