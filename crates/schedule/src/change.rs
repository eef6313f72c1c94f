//! From one schedule to another while frames are on their way, so that none is lost.
//!
//! Streams that have the same place in both go on as if nothing happened. The others of the old schedule send for the last
//! time before the change, and the others of the new one for the first time after it, as late as what is left of the old
//! needs. Each port follows its old gate control list until the last old frame has passed it.

use std::collections::BTreeMap;

use chronoseal_core::Duration;

use crate::gates::GateList;
use crate::network::gcd;
use crate::replay::{PortLists, Told};
use crate::schedule::{Planned, Schedule};

/// Cycles of either schedule that [`Change::told`] covers.
const CYCLES: i64 = 2;

/// How to change.
#[derive(Clone, Debug)]
pub struct Change {
    /// What is told begins here, two cycles of the old schedule before the change.
    pub from: Duration,
    /// No stream that goes or moves sends as in the old schedule from here on.
    pub at: Duration,
    /// When the first cycle begins of what comes or moves.
    pub begin: Duration,
    /// Which gate control list each port follows from when on.
    pub lists: PortLists,
    /// Streams that have another place afterwards, each with the time from its last frame before to its first after it.
    pub gaps: BTreeMap<String, Duration>,
    /// What talkers and listeners do around the change; streams that move are there twice.
    pub told: Vec<Told>,
}

/// Why there is no change from one schedule to another.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChangeError {
    /// They are for different networks.
    #[error("the two schedules are for different networks; make both for one")]
    OtherNetwork,
    /// Their cycles meet too seldom.
    #[error("cycles of {old} and {new} begin together less than once an hour; choose periods that divide one another")]
    CyclesApart {
        /// The cycle so far.
        old: Duration,
        /// The cycle afterwards.
        new: Duration,
    },
}

/// Something that takes a link or a processor: which, from when to when, relative to a frame's start `[ps]`.
type Span = (usize, i64, i64);

/// A stream's place, with how many of its frames a cycle holds.
struct Part {
    planned: Planned,
    name: String,
}

/// Plans the change from `old` to `new` at the first instant from `earliest` on at which cycles of both begin, with gate
/// lists for `class`.
///
/// # Errors
/// [`ChangeError`] if the two have nothing to do with each other.
#[expect(clippy::missing_panics_doc, reason = "a schedule has every one of its own streams")]
pub fn plan(old: &Schedule, new: &Schedule, earliest: Duration, class: u8) -> Result<Change, ChangeError> {
    if old.network() != new.network() {
        return Err(ChangeError::OtherNetwork);
    }
    let (cycles, hour) = ([old.cycle().as_ps(), new.cycle().as_ps()], Duration::from_s(3600).as_ps());
    let together = i128::from(cycles[0]) / i128::from(gcd(cycles[0], cycles[1])) * i128::from(cycles[1]);
    let together = i64::try_from(together).ok().filter(|together| *together <= hour);
    let together = together.ok_or(ChangeError::CyclesApart { old: old.cycle(), new: new.cycle() })?;
    // Two cycles of the old one come before it.
    let earliest = earliest.as_ps().max(CYCLES * cycles[0]);
    let at = earliest + (-earliest).rem_euclid(together);

    let stays = |name: &str| is_same(old, new, name, together);
    let parts = |schedule: &Schedule| -> Vec<Part> {
        let names = schedule.streams().map(|stream| stream.name.clone()).filter(|name| !stays(name));
        names.map(|name| Part { planned: schedule.planned(&name).expect("it is in the schedule"), name }).collect()
    };
    let (goes, comes) = (parts(old), parts(new));
    let someone_stays = goes.len() < old.streams().count();

    // Until when the old takes each resource, and from when the new does, from the change on.
    let mut until: BTreeMap<usize, i64> = BTreeMap::new();
    for part in &goes {
        for start in &part.planned.starts {
            for (resource, _, end) in spans(old, part, *start) {
                let left = end - cycles[0];
                let latest = until.entry(resource).or_insert(left);
                *latest = left.max(*latest);
            }
        }
    }
    let mut delay = 0;
    for part in &comes {
        for start in &part.planned.starts {
            for (resource, from, _) in spans(new, part, *start) {
                delay = delay.max(until.get(&resource).map_or(0, |until| until - from));
            }
        }
    }
    // Where streams stay, the others have to keep their distance from them.
    let step = if someone_stays { cycles[1] } else { new.network().granularity.as_ps().max(1) };
    let delay = delay + (-delay).rem_euclid(step);
    let begin = Duration::from_ps(at + delay);

    let mut lists = PortLists::new();
    for list in old.gates(class) {
        lists.insert(list.link, vec![(Duration::ZERO, list)]);
    }
    let new_lists: BTreeMap<usize, GateList> = new.gates(class).into_iter().map(|list| (list.link, list)).collect();
    for link in 0..new.network().links().len() {
        let list = new_lists.get(&link).cloned();
        let list = list.unwrap_or_else(|| GateList::of_windows(link, new.cycle(), &[], class));
        if lists.contains_key(&link) || new_lists.contains_key(&link) {
            let from = Duration::from_ps(at + until.get(&link).copied().unwrap_or(0).max(0));
            let base = Duration::from_ps(begin.as_ps().rem_euclid(cycles[1]));
            lists.entry(link).or_default().push((from, GateList { base, ..list }));
        }
    }
    Ok(told(
        old,
        new,
        Change {
            from: Duration::from_ps(at - CYCLES * cycles[0]),
            at: Duration::from_ps(at),
            begin,
            lists,
            gaps: BTreeMap::new(),
            told: Vec::new(),
        },
        stays,
    ))
}

/// True if a stream is in both and has the same place in every cycle.
fn is_same(old: &Schedule, new: &Schedule, name: &str, together: i64) -> bool {
    let stream = |schedule: &Schedule| schedule.streams().find(|stream| stream.name == name).cloned();
    let (Some(before), Some(after)) = (old.planned(name), new.planned(name)) else { return false };
    let all = |schedule: &Schedule, times: &[Duration]| -> Vec<Duration> {
        let cycle = schedule.cycle();
        (0..together / cycle.as_ps()).flat_map(|k| times.iter().map(move |time| *time + cycle * k)).collect()
    };
    let checks = |schedule: &Schedule, planned: &Planned| -> Vec<(usize, Vec<Duration>)> {
        planned.checks.iter().map(|(node, times)| (*node, all(schedule, times))).collect()
    };
    stream(old) == stream(new)
        && before.route == after.route
        && all(old, &before.starts) == all(new, &after.starts)
        && checks(old, &before) == checks(new, &after)
}

/// What one frame takes: links with the guard, then processors after them by number, from its cycle's beginning.
fn spans(schedule: &Schedule, part: &Part, start: Duration) -> Vec<Span> {
    let network = schedule.network();
    let stream = schedule.streams().find(|stream| stream.name == part.name).expect("it is in the schedule");
    let processor = |node: usize| network.links().len() + node;
    let security = stream.security;
    let hops = part.planned.route.iter().zip(&part.planned.hops).map(|(link, after)| {
        let from = (start + *after).as_ps();
        (*link, from, from + network.wire_time(*link, stream.secured_len()) + network.guard.as_ps())
    });
    let mut spans: Vec<Span> = hops.collect();
    spans.push((processor(stream.from), (start - security.seal).as_ps(), start.as_ps()));
    let instance = part.planned.starts.iter().position(|other| *other == start).unwrap_or(0);
    spans.extend(part.planned.checks.iter().map(|(node, times)| {
        let from = times[instance];
        (processor(*node), from.as_ps(), (from + security.open).as_ps())
    }));
    spans
}

/// Adds what talkers and listeners do, and how long streams that move pause.
fn told(old: &Schedule, new: &Schedule, mut change: Change, stays: impl Fn(&str) -> bool) -> Change {
    let shifted = |schedule: &Schedule, from: Duration, stays_only: bool, cycles: i64| -> Vec<Told> {
        let told = schedule.told(cycles).into_iter().filter(|told| stays(&told.stream.name) == stays_only);
        told.map(|mut told| {
            told.sends.iter_mut().for_each(|(_, at)| *at += from);
            told.checks.iter_mut().for_each(|(.., at)| *at += from);
            told
        })
        .collect()
    };
    let before = change.from;
    let going = shifted(old, before, false, CYCLES);
    let coming = shifted(new, change.begin, false, CYCLES);
    for after in &coming {
        let name = &after.stream.name;
        let last = going.iter().find(|told| told.stream.name == *name).and_then(|told| told.sends.last());
        if let Some(((_, last), (_, first))) = last.zip(after.sends.first()) {
            change.gaps.insert(name.clone(), *first - *last);
        }
    }
    // Streams that stay are told once for the whole time.
    let whole = change.begin + new.cycle() * CYCLES - before;
    let count = whole.as_ps() / old.cycle().as_ps();
    change.told = shifted(old, before, true, count);
    change.told.extend(going);
    change.told.extend(coming);
    change
}
