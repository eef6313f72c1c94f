//! Scheduled frames of IEEE 802.1Q: streams whose frames are due at known instants and find their gates open, the wire free and no
//! other frame of their class in front of them (clause 8.6.8.4).
//!
//! Network calculus does not know which frame comes when, so it finds no room in windows that are as long as their frames. Here every
//! frame is followed over its way from the instant at which it is due, which the scenario writes (`offset`) and a clock without
//! drift keeps. At each port it can come between an earliest and a latest instant, and goes as soon as its gate is open for all of
//! it. That holds if nothing else is in its way:
//!
//! - The gates of all other classes that are sent there are closed from one gap before it can start until it is over, gap
//!   included: what went before has left the wire then, and for all other classes the gates alone say what is left to them.
//! - No other frame of its class can come or be there between the earliest instant at which it comes and the end of the gap
//!   behind it. Frames of different streams meet by what divides both of their periods ([`Recurring`]).
//!
//! Where another list replaces that of a port during the run, all of this has to be so under the one, under the other, and of each frame
//! that is there while the one ends and the other begins: of those the instants of the run count, since both lists are known.
//!
//! A stream of which any of that is not so counts as one that can be anywhere at any time, and so does then every stream of its
//! class that shares a link with it. What is left never waits for another frame: assume that one does, and take the first that does so
//! in time; until then all have kept to their instants, so it does not.

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_core::{Duration, SimTime};
use chronoseal_media::port::{GateControlList, PortConfig, Selection};
use chronoseal_plan::{Copies, PortEnd, Sync};
use chronoseal_schedule::network::gcd;

use super::super::alone;
use super::super::recurring::{Recurring, meeting};
use super::super::{HopBound, Span};
use super::routed::RoutedStream;
use super::wired::Wired;

/// Frames of one stream that are looked at on one link: more than any schedule has that a port has room for.
const FRAMES_MAX: i64 = 1 << 16;
/// Traffic classes that have gates.
const CLASSES: u8 = 8;

/// A stream whose frames go in windows.
struct InWindows {
    /// Its place among those of the segment.
    sent: usize,
    /// When its frames are at their receivers.
    ends: Vec<HopBound>,
}

impl Wired<'_> {
    /// Takes out the streams whose frames go in windows and never wait for another, and gives when these are received. To all others
    /// they are what their own gates leave, and a frame of each class in the queues of each link.
    pub(super) fn take_windows(&mut self) -> Vec<HopBound> {
        let found = found(self);
        let mut longest: BTreeMap<(usize, u8), u64> = BTreeMap::new();
        for InWindows { sent, .. } in &found {
            let stream = &self.routed.streams[*sent];
            for (link, _) in &stream.hops {
                self.in_slots[*link].streams.extend(stream.stream);
                let bytes = self.routed.links[*link].speed.counted(stream.len_max);
                let longest = longest.entry((*link, stream.priority)).or_default();
                *longest = bytes.max(*longest);
            }
        }
        longest.into_iter().for_each(|((link, _), bytes)| self.in_slots[link].waiting += bytes);
        let taken: BTreeSet<usize> = found.iter().map(|one| one.sent).collect();
        let mut number = 0..;
        self.routed.streams.retain(|_| number.next().is_some_and(|sent| !taken.contains(&sent)));
        found.into_iter().flat_map(|one| one.ends).collect()
    }
}

/// The streams of a segment whose frames never wait for another one.
fn found(wired: &Wired<'_>) -> Vec<InWindows> {
    let view = wired.view;
    let network = view.segment;
    let is_other = network.sync != Sync::Ideal || network.wiring.has_networks();
    if is_other || !network.stream_filters.filters.is_empty() || !view.plan.threats.is_empty() {
        return Vec::new();
    }
    let mut ports = Ports { wired, gates: BTreeMap::new() };
    let mut found = Vec::new();
    for class in 0..CLASSES {
        let is_gated = |end: &PortEnd| network.ports.of(*end).is_some_and(|port| port.gates.is_some());
        if !wired.ends.iter().any(is_gated) || wired.routed.regulated.contains(&class) {
            continue;
        }
        let of_class = (0..wired.routed.streams.len()).filter(|sent| wired.routed.streams[*sent].priority == class);
        let walked = of_class.map(|sent| (sent, ports.walked(sent))).collect();
        found.extend(undisturbed(wired, walked));
    }
    found
}

/// A stream's frames on one link, counted from the instant at which one is due.
#[derive(Clone, Copy)]
struct Stay {
    /// When it can come to the port.
    comes: Duration,
    /// When it starts there.
    starts: Span,
    /// The gap behind it is over.
    over: Duration,
}

/// Of the streams of one class, those that no other one can meet, nor one that meets another.
fn undisturbed(wired: &Wired<'_>, walked: BTreeMap<usize, Option<Vec<Stay>>>) -> Vec<InWindows> {
    let streams = &wired.routed.streams;
    let mut on_link: BTreeMap<usize, Vec<(usize, Recurring)>> = BTreeMap::new();
    let mut disturbed: BTreeSet<usize> = BTreeSet::new();
    for (&sent, stays) in &walked {
        let Some((stays, (due, period))) = stays.as_ref().zip(due(wired, &streams[sent])) else {
            disturbed.insert(sent);
            continue;
        };
        for (stay, (link, _)) in stays.iter().zip(&streams[sent].hops) {
            let taken = Recurring { from: due + stay.comes, len: stay.over - stay.comes, period };
            on_link.entry(*link).or_default().push((sent, taken));
        }
    }
    disturbed.extend(on_link.values().flat_map(|spans| meeting(spans)));
    // Nobody knows when a stream is where that is disturbed somewhere.
    loop {
        let links = |sent: &usize| streams[*sent].hops.iter().map(|(link, _)| *link);
        let taken: BTreeSet<usize> = disturbed.iter().flat_map(links).collect();
        let meets = |sent: &&usize| !disturbed.contains(*sent) && links(sent).any(|link| taken.contains(&link));
        let more: Vec<usize> = walked.keys().filter(meets).copied().collect();
        if more.is_empty() {
            break;
        }
        disturbed.extend(more);
    }
    let mut found = Vec::new();
    for (sent, stays) in walked.into_iter().filter(|(sent, _)| !disturbed.contains(sent)) {
        let (stream, stays) = (&streams[sent], stays.unwrap_or_default());
        let Some(id) = stream.stream else { continue };
        let end = |(receiver, hop): &(_, usize)| {
            let received = wired.routed.links[stream.hops[*hop].0].speed.reception(stream.len_max);
            let starts = stays[*hop].starts;
            HopBound { stream: id, receiver: *receiver, received: Ok(starts.later(received, received)) }
        };
        found.push(InWindows { sent, ends: stream.ends.iter().map(end).collect() });
    }
    found
}

/// When the first frame of a stream is due, and how far apart they are; `None` if a clock or chance has a part in it.
fn due(wired: &Wired<'_>, sent: &RoutedStream) -> Option<(Duration, Duration)> {
    let (plan, id) = (wired.view.plan, sent.stream?);
    let stream = wired.view.stream(id)?;
    let is_plain = sent.sharers.is_empty() && sent.regulated.is_none() && !sent.is_varying();
    if !is_plain || !matches!(stream.copies, Copies::One(_)) {
        return None;
    }
    alone::due(plan, stream.stream)
}

/// The ports of a segment.
struct Ports<'a> {
    wired: &'a Wired<'a>,
    /// By link, class and list; `None` for a gate that is always open.
    gates: BTreeMap<(usize, u8, Kind), Option<Gate>>,
}

impl Ports<'_> {
    /// A stream's frames over its way; `None` if something may be in it.
    fn walked(&mut self, sent: usize) -> Option<Vec<Stay>> {
        let wired = self.wired;
        let stream = &wired.routed.streams[sent];
        let due = due(wired, stream)?;
        let mut stays: Vec<Stay> = Vec::with_capacity(stream.hops.len());
        for &(link, after) in &stream.hops {
            let at = match after {
                None => stream.at.ok()?,
                Some(hop) => {
                    let before = wired.routed.links[stream.hops[hop].0].speed.reception(stream.len_max);
                    let forwarding = wired.routed.forwarding;
                    stays.get(hop)?.starts.later(before + forwarding.min, before + forwarding.max)
                }
            };
            stays.push(self.passed(stream, link, due, at)?);
        }
        Some(stays)
    }

    /// A stream's frames in front of a link that they come to at these times; `None` if something may be in their way.
    fn passed(
        &mut self,
        stream: &RoutedStream,
        link: usize,
        (due, period): (Duration, Duration),
        at: Span,
    ) -> Option<Stay> {
        let wired = self.wired;
        let (routed, class) = (&wired.routed, stream.priority);
        let line = &routed.links[link];
        let plain = PortConfig::default();
        let port = wired.view.segment.ports.of(*wired.ends.get(link)?).unwrap_or(&plain);
        let own = &port.classes[usize::from(class)];
        let is_full = own.room.is_some_and(|room| room < line.speed.counted(stream.len_max));
        let is_plain = own.selection == Selection::Strict && !line.port.preempts && !line.port.holds;
        if !is_plain || is_full || !wired.in_slots[link].streams.is_empty() {
            return None;
        }
        let mut others: BTreeSet<u8> = BTreeSet::new();
        for other in routed.streams.iter().filter(|other| other.hops.iter().any(|(hop, _)| *hop == link)) {
            others.insert(other.priority);
        }
        others.remove(&class);
        // What is no traffic class has no gate.
        if others.iter().any(|other| *other >= CLASSES) {
            return None;
        }
        let (transmission, occupancy) = (line.speed.transmission(stream.len_max), line.speed.occupancy(stream.len_max));
        // When a frame starts behind the gates of a list, from when it is due; `None` if something may be in its way.
        let mut starts = |gates: Lists<'_>, due: Duration| -> Option<Span> {
            for class in others.iter().chain([&class]) {
                self.gates.entry((link, *class, gates.kind())).or_insert_with(|| gates.gate(*class));
            }
            let gate = |class: u8| self.gates.get(&(link, class, gates.kind())).and_then(Option::as_ref);
            let comes = Span { min: due + at.min, max: due + at.max };
            let own = match gate(class) {
                Some(gate) => gate.starts(comes, transmission)?,
                None => comes,
            };
            let taken = (own.min - line.speed.gap(), own.max + occupancy);
            if others.iter().any(|other| gate(*other).is_none_or(|gate| !gate.is_closed(taken))) {
                return None;
            }
            gates.knows(taken).then(|| Span { min: own.min - due, max: own.max - due })
        };
        let mut all: Option<Span> = None;
        let mut add = |one: Span| {
            all = Some(all.map_or(one, |all| Span { min: all.min.min(one.min), max: all.max.max(one.max) }));
        };
        let mut repeated = |gates: Lists<'_>, cycle: Duration| {
            let frames = cycle.as_ps() / gcd(cycle.as_ps(), period.as_ps()).max(1);
            if frames > FRAMES_MAX {
                return None;
            }
            (0..frames).try_for_each(|number| starts(gates, due + period * number).map(&mut add))
        };
        let list = port.gates.as_ref();
        match list.and_then(|list| Some((list, list.ends()?, list.changed()?))) {
            None => repeated(list.map_or(Lists::None, Lists::One), list.map_or(period, |list| list.cycle))?,
            Some((list, (ends, begins), changed)) => {
                repeated(Lists::One(&GateControlList { change: None, ..list.clone() }), list.cycle)?;
                repeated(Lists::New(&changed), changed.cycle)?;
                // Those that are over when the old list ends, and those that come when the new one has begun, have been looked at.
                let first = (ends - all?.max - occupancy - due).div_floor(period).max(0);
                let last = (begins + line.speed.gap() - at.min - due).div_floor(period);
                if last - first > FRAMES_MAX {
                    return None;
                }
                let from = due + period * first + at.min - line.speed.gap();
                let until = due + period * last + at.max + list.cycle.max(changed.cycle) * 2;
                for number in first..=last {
                    let one = starts(Lists::Both { list, from, until }, due + period * number)?;
                    all = all.map(|all| Span { min: all.min.min(one.min), max: all.max.max(one.max) });
                }
            }
        }
        let starts = all?;
        Some(Stay { comes: at.min, starts, over: starts.max + occupancy })
    }
}

/// Which of the lists of one port, and of both the time that is looked at.
type Kind = (u8, Duration, Duration);

/// Lists of a port that frames are followed through.
#[derive(Clone, Copy)]
enum Lists<'a> {
    /// It has none.
    None,
    /// The only one, or the one that another replaces.
    One(&'a GateControlList),
    /// The one that replaces it.
    New(&'a GateControlList),
    /// The one, then the other, in a time that has the change in it.
    Both { list: &'a GateControlList, from: Duration, until: Duration },
}

impl Lists<'_> {
    /// Which of those of one port. The times around a change are those of one stream.
    fn kind(self) -> Kind {
        match self {
            Self::None => (0, Duration::ZERO, Duration::ZERO),
            Self::One(_) => (1, Duration::ZERO, Duration::ZERO),
            Self::New(_) => (2, Duration::ZERO, Duration::ZERO),
            Self::Both { from, until, .. } => (3, from, until),
        }
    }

    /// The gate of a class; `None` if it is always open.
    fn gate(self, class: u8) -> Option<Gate> {
        match self {
            Self::None => None,
            Self::One(list) | Self::New(list) => Gate::new(list, class),
            Self::Both { list, from, until } => Gate::once(list, class, (from, until)),
        }
    }

    /// True if all is known of what a frame takes.
    fn knows(self, (from, until): (Duration, Duration)) -> bool {
        match self {
            Self::Both { from: first, until: last, .. } => first <= from && until <= last,
            Self::None | Self::One(_) | Self::New(_) => true,
        }
    }
}

/// When the gate of a class is open: its windows in four cycles, so that what comes in the second finds its window among them; or all windows
/// in a time that does not repeat.
struct Gate {
    base: Duration,
    cycle: Duration,
    windows: Vec<(Duration, Duration)>,
    repeats: bool,
}

impl Gate {
    /// `None` if it is always open.
    fn new(list: &GateControlList, class: u8) -> Option<Self> {
        let (base, cycle) = (list.base_time.rem_floor(list.cycle), list.cycle);
        Self::of(list, class, (base, cycle, 4))
    }

    /// The same from one time to another, which is longer than any stay of a frame.
    fn once(list: &GateControlList, class: u8, (from, until): (Duration, Duration)) -> Option<Self> {
        let gate = Self::of(list, class, (from, until - from, 1))?;
        Some(Self { repeats: false, ..gate })
    }

    fn of(list: &GateControlList, class: u8, (base, cycle, cycles): (Duration, Duration, i64)) -> Option<Self> {
        let from = SimTime::ZERO + base;
        let windows = list.open_windows(usize::from(class), from, from + cycle * cycles);
        let windows: Vec<_> = windows.map(|(opens, closes)| (opens - from, closes - from)).collect();
        let is_always_open = windows == [(Duration::ZERO, cycle * cycles)];
        (!is_always_open).then_some(Self { base, cycle, windows, repeats: true })
    }

    /// A time in the second of the four cycles; or in the time that does not repeat.
    fn phase(&self, at: Duration) -> Duration {
        if self.repeats { (at - self.base).rem_floor(self.cycle) + self.cycle } else { at - self.base }
    }

    /// When a frame that takes so long starts that comes at these times; `None` if there may be no room for it in the first window
    /// that has room for the earliest.
    fn starts(&self, comes: Span, transmission: Duration) -> Option<Span> {
        let (first, last) = (self.phase(comes.min), self.phase(comes.min) + comes.jitter());
        let first_window = self.windows.partition_point(|(_, closes)| *closes < first + transmission);
        let has_room = |(opens, closes): &&(Duration, Duration)| first.max(*opens) + transmission <= *closes;
        let (opens, closes) = self.windows[first_window..].iter().find(has_room)?;
        let latest = last.max(*opens);
        (latest + transmission <= *closes)
            .then(|| Span { min: comes.min + (first.max(*opens) - first), max: comes.min + (latest - first) })
    }

    /// True if it is closed all the time from one instant to another.
    fn is_closed(&self, (from, until): (Duration, Duration)) -> bool {
        let first = self.phase(from);
        let last = first + (until - from);
        let is_outside = |(opens, closes): &(Duration, Duration)| *closes <= first || *opens >= last;
        until - from <= self.cycle && self.windows.iter().all(is_outside)
    }
}
