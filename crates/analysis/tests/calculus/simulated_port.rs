//! One port with shapers, gates and priorities, tick by tick: nothing takes longer, and no more waits, than its curves say.
//!
//! The rules are those of IEEE 802.1Q, written down once more: a frame may start if its gate stays open until it is over and the
//! credit of its class is not negative; the highest class that may start goes first, and nothing is interrupted.

use chronoseal_analysis::calculus::ethernet::{Class, Frames, Gates, Port, Window};
use chronoseal_analysis::calculus::{operations, ratio, whole};

use super::bucket;
use super::simulation::{Chance, Source};

const CASES: u64 = 600;
/// Parts of a unit of data in which credit is counted.
const PARTS: i64 = 100;
const CYCLE: i64 = 60;

/// One class of a case. The link carries one unit a tick.
#[derive(Clone, Debug)]
struct Sent {
    source: Source,
    /// What its credit grows by in a tick, in parts.
    idle_slope: Option<i64>,
    /// From when to when its gate is open in each cycle.
    window: Option<(i64, i64)>,
}

impl Sent {
    /// True if a frame of this length may start at this tick.
    fn is_open(&self, now: i64, length: i64) -> bool {
        self.window.is_none_or(|(from, until)| {
            let into = (now - from).rem_euclid(CYCLE);
            into + length <= until - from
        })
    }
}

fn case(chance: &mut Chance) -> Vec<Sent> {
    let classes = chance.within(2, 4);
    let (is_shaped, is_gated) = (chance.once_in(2), chance.once_in(2));
    (0..classes)
        .map(|_| {
            let longest = chance.within(1, 6);
            let (spaced, burst) = (chance.within(4, 24), longest + chance.within(0, 8));
            let source = Source { spaced, burst, longest, apart: 0, class: 0, hops: Vec::new() };
            let shaped = is_shaped && !chance.once_in(3);
            // As much as it sends, or more.
            let idle_slope = shaped.then(|| PARTS / spaced + 1 + chance.within(0, 20));
            let gated = !is_shaped && is_gated && !chance.once_in(3);
            let from = chance.within(0, CYCLE - 1);
            let window = gated.then(|| (from, from + chance.within(8, CYCLE - 8)));
            Sent { source, idle_slope, window }
        })
        .collect()
}

fn port(case: &[Sent]) -> Port {
    let class = |(index, sent): (usize, &Sent)| Class {
        name: format!("c{index}"),
        arrival: bucket(ratio(1, sent.source.spaced), whole(sent.source.burst)),
        frames: Frames { longest: whole(sent.source.longest), shortest: whole(1) },
        idle_slope: sent.idle_slope.map(|slope| ratio(slope, PARTS)),
        gates: sent.window.map(|(from, until)| {
            Gates::new(whole(CYCLE), vec![Window { from: whole(from), length: whole(until - from) }]).unwrap()
        }),
        is_preemptable: false,
    };
    Port::new("p", whole(1), None, case.iter().enumerate().map(class).collect()).unwrap()
}

/// The longest stay and the most that waits, by class.
fn run(case: &[Sent], starts: &[i64], is_greedy: bool, chance: &mut Chance) -> Vec<(i64, i64)> {
    const FRAMES: i64 = 30;
    let mut coming: Vec<Vec<(i64, i64)>> = (case.iter().zip(starts))
        .map(|(sent, start)| sent.source.frames(*start, FRAMES, is_greedy, chance).into_iter().rev().collect())
        .collect();
    let mut waiting: Vec<Vec<(i64, i64)>> = vec![Vec::new(); case.len()];
    let mut credit = vec![0; case.len()];
    let mut seen = vec![(0, 0); case.len()];
    // Class, when it came, how long it is, and how much of it is left.
    let mut on_wire: Option<(usize, i64, i64, i64)> = None;
    for now in 0..20_000 {
        for class in 0..case.len() {
            while let Some((at, length)) = coming[class].pop_if(|(at, _)| *at <= now) {
                waiting[class].push((at, length));
            }
            let begun = on_wire.filter(|(of, ..)| *of == class).map_or(0, |(_, _, length, _)| length);
            let waits = begun + waiting[class].iter().map(|(_, length)| length).sum::<i64>();
            seen[class].1 = seen[class].1.max(waits);
        }
        if on_wire.is_none() {
            let may_start = |class: &usize| {
                let is_earned = case[*class].idle_slope.is_none() || credit[*class] >= 0;
                let first = waiting[*class].first();
                is_earned && first.is_some_and(|(_, length)| case[*class].is_open(now, *length))
            };
            if let Some(class) = (0..case.len()).find(may_start) {
                let (at, length) = waiting[class].remove(0);
                on_wire = Some((class, at, length, length));
            }
        }
        for (class, sent) in case.iter().enumerate() {
            let Some(slope) = sent.idle_slope else { continue };
            if on_wire.is_some_and(|(of, ..)| of == class) {
                credit[class] -= PARTS - slope;
            } else if !waiting[class].is_empty() {
                credit[class] += slope;
            } else {
                credit[class] = (credit[class] + slope).min(0);
            }
        }
        if let Some((class, at, length, left)) = on_wire.take() {
            if left > 1 {
                on_wire = Some((class, at, length, left - 1));
            } else {
                seen[class].0 = seen[class].0.max(now + 1 - at);
            }
        }
        if on_wire.is_none() && coming.iter().chain(&waiting).all(Vec::is_empty) {
            return seen;
        }
    }
    panic!("frames are left over after 20,000 ticks: {case:?}");
}

#[test]
fn no_frame_at_a_port_exceeds_the_curves_of_its_class() {
    let (mut bounded, mut near) = ([0; 3], [0; 3]);
    for seed in 0..CASES {
        let mut chance = Chance(seed);
        let case = case(&mut chance);
        let port = port(&case);
        let claims: Vec<Option<(i64, i64)>> = (0..case.len())
            .map(|class| {
                let source = &case[class].source;
                let service = port.service(class).ok()?;
                let arrival = bucket(ratio(1, source.spaced), whole(source.burst));
                let floor = |value: chronoseal_analysis::calculus::Rational| value.floor().try_into().ok();
                let stays = floor(operations::delay(&arrival, &service)?)?;
                Some((stays, floor(operations::backlog(&arrival, &service.framed(&whole(source.longest)))?)?))
            })
            .collect();
        if claims.iter().any(Option::is_none) {
            // Something may grow without end, and would keep the simulation from ending.
            continue;
        }
        let kind = match () {
            () if case.iter().any(|sent| sent.idle_slope.is_some()) => 0,
            () if case.iter().any(|sent| sent.window.is_some()) => 1,
            () => 2,
        };
        let mut nearest = 0;
        for turn in 0..6 {
            // All at once, or the lower just before the higher, or at random in the cycle.
            let start = |class: usize| match turn {
                0 => CYCLE,
                1 => CYCLE - class as i64,
                _ => CYCLE + chance.within(0, CYCLE),
            };
            let starts: Vec<i64> = (0..case.len()).map(start).collect();
            let seen = run(&case, &starts, turn != 5, &mut chance);
            for (class, ((stays, waits), claim)) in seen.into_iter().zip(&claims).enumerate() {
                let (stays_max, waits_max) = claim.unwrap();
                let what = || format!("seed {seed}, class {class}, starts {starts:?}\n{case:?}");
                assert!(stays <= stays_max, "a stay of {stays}, and at most {stays_max}: {}", what());
                assert!(waits <= waits_max, "{waits} wait, and at most {waits_max}: {}", what());
                nearest = nearest.max(100 * stays / stays_max);
            }
        }
        bounded[kind] += 1;
        near[kind] += i64::from(nearest >= 80);
    }
    // With shapers, with gates, with neither.
    assert!(bounded.iter().zip(near).all(|(all, near)| *all >= 20 && 5 * near >= *all), "{bounded:?} {near:?}");
}
