//! Frames over any number of switches: strict priority in front of every link, bounds by network calculus.
//!
//! A segment is described by its links, one for each direction, and by what is sent over which of them. [`Routed::bounds`]
//! puts that into [`Switches`] on a grid of one picosecond, takes every stream's delay from there, and adds what is the same for
//! all frames: propagation, and the least that a switch takes.
//!
//! # What a stream brings
//! Frames that come at least `T` apart, each up to `J` late, keep to a bucket of `L / T` and `L (1 + J / T)`. A frame keeps
//! a link with its overhead until the gap behind it is over, and is in the next switch when its last bit is. What a switch
//! takes may differ by its jitter from frame to frame. A virtual link keeps to a second bucket, that of its regulator.
//!
//! # Scheduled frames
//! A link is closed to all classes around each scheduled frame, from the instant at which that may begin until it is over, in
//! every cycle ([`Closed`]). A frame that would not end in time waits, and whatever is behind it and below it waits too, so before
//! each such time the link is of no use to a class from the longest frame of this class and those above it on.
//!
//! # Units
//! Times are in ps, data in bytes with what each frame costs beyond its own. A link's rate is that of the frames that pass it,
//! whose times are rounded to ps: the least of them where it serves, the greatest where it limits what comes over it.

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_core::{Duration, NodeId, Priority, StreamId};
use chronoseal_media::line::LineSpeed;

use super::super::{HopBound, Span, Why};
use crate::calculus::ethernet::{ClassPlan, Fragments, Gates, PortPlan, StreamPlan, SwitchBounds, Switches, Window};
use crate::calculus::{ArrivalCurve, Bound, Bucket, Flow, Grid, Hop, Network, Rational, ratio, whole};

pub use problem::{LinkProblem, LinkReason};

mod problem;

/// Of more different distances than this, rates are rounded up: an exact sum of them has the product of all their denominators.
const DISTANCES_EXACT: usize = 8;

/// Classes: frames of slots that come at other times, protocol control frames, virtual links of high and of low priority, then eight
/// priorities.
const CLASSES: usize = Priority::TIME_TRIGGERED.0 as usize + 1;

/// A segment as its links and what is sent over them.
#[derive(Clone, Debug)]
pub struct Routed {
    /// What each frame costs beyond its own `[byte]`.
    pub overhead: u64,
    /// What a switch takes from the last bit in to the queue in front of the next link.
    pub forwarding: Span,
    /// After this, times at which links are closed repeat.
    pub cycle: Duration,
    /// The links, one for each direction.
    pub links: Vec<RoutedLink>,
    /// What is sent.
    pub streams: Vec<RoutedStream>,
    /// Traffic classes that express frames interrupt, at the ports that do that.
    pub preemptable: BTreeSet<u8>,
    /// Traffic classes whose streams every port but their first shapes asynchronously.
    pub regulated: BTreeSet<u8>,
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct RoutedLink {
    /// The station or switch that sends.
    pub from: NodeId,
    /// The station or switch that receives.
    pub to: NodeId,
    /// How long frames take on it.
    pub speed: LineSpeed,
    /// True if a switch receives.
    pub enters_switch: bool,
    /// When scheduled frames have it for themselves, in any order.
    pub closed: Vec<Closed>,
    /// What its port does with the traffic classes 0 to 7 beyond strict priority.
    pub port: RoutedPort,
}

/// A time at which a scheduled frame has a link for itself, from the start of the cycle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Closed {
    /// The frame may begin.
    pub from: Duration,
    /// It is over.
    pub until: Duration,
}

/// What a port does beyond strict priority, in the units of this module.
#[derive(Clone, Debug, Default)]
pub struct RoutedPort {
    /// By traffic class: the idle slope of its shaper `[byte/ps]`.
    pub idle_slopes: BTreeMap<u8, Rational>,
    /// By traffic class: when its gate is open `[ps]`.
    pub gates: BTreeMap<u8, Gates>,
    /// It interrupts frames of preemptable classes.
    pub preempts: bool,
    /// It holds them back at times.
    pub holds: bool,
    /// Its gates follow another list from some time on.
    pub changes: bool,
    /// By traffic class: its own queue's room `[byte]`. The others share one.
    pub rooms: BTreeMap<u8, u64>,
}

/// What is sent from one station over links.
#[derive(Clone, Debug)]
pub struct RoutedStream {
    /// What messages call it.
    pub name: String,
    /// Which stream; `None` for what the segment sends for itself.
    pub stream: Option<StreamId>,
    /// Its traffic class 0 to 7, or above them the queue of its class: virtual links, protocol control frames, frames of slots.
    pub priority: u8,
    /// When a frame comes to the first link's queue, counted from the instant at which it is due.
    pub at: Result<Span, Why>,
    /// The least distance of two frames at their sender.
    pub distance: Duration,
    /// The bucket that asynchronous shapers hold it to, in bytes a ps and bytes; it has to hold all that comes.
    pub committed: Option<Bucket>,
    /// What a regulator at its sender does to it.
    pub regulated: Option<Regulated>,
    /// The streams whose frames these are, if several share a virtual link: each with when its frames come to the first link's
    /// queue, counted from the instant at which they are due.
    pub sharers: Vec<(StreamId, Result<Span, Why>)>,
    /// How much one of what the distance counts brings at most `[byte]`.
    pub counted_len: u64,
    /// The longest frame `[byte]`.
    pub len_max: u64,
    /// The shortest frame `[byte]`.
    pub len_min: u64,
    /// The links it passes, each with the hop it comes from; `None` for the first.
    pub hops: Vec<(usize, Option<usize>)>,
    /// Who takes it, and behind which hop.
    pub ends: Vec<(NodeId, usize)>,
}

/// Frames as they come from a regulator (ARINC 664 part 7).
#[derive(Clone, Copy, Debug)]
pub struct Regulated {
    /// They are released at least so far apart, by true time.
    pub gap: Duration,
    /// How much later than another one can come from there to the first link's queue.
    pub jitter: Duration,
}

/// The bounds of a segment's streams and queues.
#[derive(Clone, Debug)]
pub struct Solved<'a> {
    routed: &'a Routed,
    found: Option<SwitchBounds>,
}

impl Solved<'_> {
    /// When frames of a stream are at each of its ends, by its place in the list.
    ///
    /// # Panics
    /// If there is no such stream.
    pub fn received(&self, stream: usize) -> Vec<(NodeId, Result<Span, Why>)> {
        let sent = &self.routed.streams[stream];
        let at = |end: usize| match &self.found {
            Some(found) => match found.delay(stream, end) {
                Ok(delay) => self.routed.received(sent, end, &delay),
                Err(_) => Err(self.routed.reason(sent, end, found)),
            },
            None => Err(Why::NotReached),
        };
        sent.ends.iter().map(|(receiver, end)| (*receiver, at(*end))).collect()
    }

    /// What the ways of a stream's copies take to a receiver, from the queue of their first links, one after the other; `None` for
    /// one that nothing bounds.
    pub fn transits(&self, stream: StreamId, receiver: NodeId) -> Vec<Option<Span>> {
        let ways = (0..self.routed.streams.len())
            .filter(|index| self.routed.streams[*index].streams().any(|own| own == stream));
        let transit = |index: usize| {
            let (_, received) = self.received(index).into_iter().find(|(node, _)| *node == receiver)?;
            let (received, at) = (received.ok()?, self.routed.streams[index].at.ok()?);
            Some(Span { min: received.min - at.min, max: received.max - at.max })
        };
        ways.map(transit).collect()
    }

    /// When frames of a stream enter each switch on their way, whatever these take of them.
    pub fn entered(&self, stream: usize) -> Vec<Result<Span, Why>> {
        let sent = &self.routed.streams[stream];
        let entered = |hop: usize| {
            let found = self.found.as_ref().ok_or(Why::NotReached)?;
            let mut delay = whole(0);
            for link in self.routed.way(sent, hop) {
                let bound = found.at(link, sent.class()).ok_or(Why::NotReached)?;
                delay += bound.delay.clone().map_err(|_| self.routed.reason(sent, hop, found))?;
            }
            self.routed.received(sent, hop, &delay)
        };
        let enters = |hop: &usize| self.routed.links[sent.hops[*hop].0].enters_switch;
        (0..sent.hops.len()).filter(enters).map(entered).collect()
    }

    /// How much can wait in front of a link at most, in the queues of all classes together, with what each frame costs beyond
    /// its own `[byte]`; `None` if nothing bounds it.
    pub fn waiting(&self, link: usize) -> Option<u64> {
        self.waiting_of(link, &|_| true)
    }

    /// As [`Self::waiting`], for the classes for which `counts` holds, as [`RoutedStream::priority`] has them. What an asynchronous
    /// shaper keeps back is not bounded.
    pub fn waiting_of(&self, link: usize, counts: &dyn Fn(u8) -> bool) -> Option<u64> {
        let passes = |sent: &&RoutedStream| sent.hops.iter().any(|(hop, _)| *hop == link);
        let here = self.routed.streams.iter().filter(passes).filter(|sent| counts(sent.priority));
        let mut classes: Vec<usize> = here.map(RoutedStream::class).collect();
        classes.sort_unstable();
        classes.dedup();
        if classes.iter().any(|class| self.routed.is_regulated(*class)) {
            return None;
        }
        let of_class = |class: usize| {
            let backlog = self.found.as_ref()?.at(link, class)?.backlog.as_ref().ok()?;
            u64::try_from(backlog.ceil()).ok()
        };
        classes.into_iter().try_fold(0u64, |sum, class| sum.checked_add(of_class(class)?))
    }
}

impl RoutedStream {
    /// The streams of the plan whose frames these are.
    pub fn streams(&self) -> impl Iterator<Item = StreamId> + '_ {
        let alone = self.stream.filter(|_| self.sharers.is_empty());
        alone.into_iter().chain(self.sharers.iter().map(|(stream, _)| *stream))
    }

    /// True if its frames are not all of one length.
    pub(super) fn is_varying(&self) -> bool {
        self.len_min != self.len_max || self.counted_len != self.len_max
    }

    /// Its place among the classes.
    fn class(&self) -> usize {
        place(self.priority)
    }
}

impl Routed {
    /// When frames are at their receivers, for every stream and each of its ends.
    pub fn bounds(&self) -> Vec<HopBound> {
        let solved = self.solved();
        let mut hops = Vec::new();
        for (index, sent) in self.streams.iter().enumerate() {
            let Some(stream) = sent.stream else { continue };
            for (receiver, received) in solved.received(index) {
                if sent.sharers.is_empty() {
                    hops.push(HopBound { stream, receiver, received });
                }
                let own = |at: Result<Span, Why>| {
                    let (received, first, at) = (received?, sent.at?, at?);
                    Ok(at.later(received.min - first.min, received.max - first.max))
                };
                let shared = sent.sharers.iter();
                hops.extend(shared.map(|(stream, at)| HopBound { stream: *stream, receiver, received: own(*at) }));
            }
        }
        hops
    }

    /// Everything that is bounded.
    pub fn solved(&self) -> Solved<'_> {
        let found = self.switches().and_then(|switches| switches.bounds(&grid()?).ok());
        Solved { routed: self, found }
    }

    /// How long a control frame takes at any port at most; `None` if nothing bounds it.
    pub(super) fn control_delay(&self) -> Option<Duration> {
        let control = place(Priority::PROTOCOL_CONTROL.0);
        let found = self.switches()?.bounds_until(Some(control), &grid()?).ok()?;
        let at_ports = (0..self.links.len()).filter_map(|link| found.at(link, control));
        let ps = |bound: &Bound| i64::try_from(bound.delay.as_ref().ok()?.ceil()).ok();
        let longest: Option<Vec<i64>> = at_ports.map(ps).collect();
        longest?.into_iter().max().map(Duration::from_ps)
    }

    /// The network that the frames of one traffic class, or of virtual links, see: times in ps, data in bytes. `None` if a
    /// stream's way is none. Its servers are the links, in their order; of those without such frames nothing is said.
    pub(super) fn network_of(&self, priority: u8) -> Option<Network> {
        self.switches()?.network_of(place(priority), &grid()?).ok()
    }

    /// True if asynchronous shapers keep frames of a class back.
    pub(super) fn is_shaped(&self, priority: u8) -> bool {
        self.is_regulated(place(priority))
    }

    /// The classes of all links; `None` if a stream's way is none.
    fn switches(&self) -> Option<Switches> {
        let class = |class: usize| ClassPlan {
            name: class_name(class),
            is_preemptable: self.preemptable.contains(&number(class)),
            is_regulated: self.is_regulated(class),
        };
        let distances: BTreeSet<Duration> = self.streams.iter().map(|sent| sent.distance).collect();
        let are_many = distances.len() > DISTANCES_EXACT;
        let streams: Option<Vec<StreamPlan>> = self.streams.iter().map(|sent| self.stream(sent, are_many)).collect();
        Some(Switches {
            classes: (0..CLASSES).map(class).collect(),
            preemption: (!self.preemptable.is_empty()).then(|| Fragments::bytes(&whole(1))),
            ports: (0..self.links.len()).map(|link| self.port(link)).collect(),
            streams: streams?,
        })
    }

    fn is_regulated(&self, class: usize) -> bool {
        self.regulated.contains(&number(class))
    }

    /// What a stream brings.
    fn bucket(&self, sent: &RoutedStream) -> Bucket {
        self.bucket_of(sent, sent.distance, sent.at.map_or(Duration::ZERO, Span::jitter))
    }

    /// What a stream brings whose frames come so far apart, each up to so much late.
    fn bucket_of(&self, sent: &RoutedStream, distance: Duration, jitter: Duration) -> Bucket {
        let counted = whole(i64::try_from(sent.counted_len + self.overhead).unwrap_or(i64::MAX));
        let rate = &counted / whole(distance.as_ps().max(1));
        let burst = &counted + &rate * whole(jitter.as_ps());
        Bucket { rate, burst }
    }

    /// True if asynchronous shapers hold a stream to less than it brings.
    fn is_over_bucket(&self, sent: &RoutedStream) -> bool {
        let brought = self.bucket(sent);
        let is_more = |held: &Bucket| held.rate < brought.rate || held.burst < brought.burst;
        self.is_regulated(sent.class()) && sent.committed.as_ref().is_some_and(is_more)
    }

    fn stream(&self, sent: &RoutedStream, is_rounded: bool) -> Option<StreamPlan> {
        let of = |len: u64| whole(i64::try_from(len + self.overhead).unwrap_or(i64::MAX));
        let held = sent.committed.clone().filter(|_| self.is_regulated(sent.class()));
        let regulated = sent.regulated.map(|Regulated { gap, jitter }| self.bucket_of(sent, gap, jitter));
        let least = std::iter::once(held.unwrap_or_else(|| self.bucket(sent))).chain(regulated);
        let arrival = match is_rounded.then(rates_and_bursts).flatten() {
            Some((rates, bursts)) => ArrivalCurve::least_of(
                least.map(|bucket| Bucket { rate: rates.more(&bucket.rate), burst: bursts.more(&bucket.burst) }),
            ),
            None => ArrivalCurve::least_of(least),
        };
        let arrival = arrival.ok()?;
        let hop = |(link, after): &(usize, Option<usize>)| Hop { server: *link, after: *after };
        let is_end = |end: &usize| *end < sent.hops.len() && sent.hops.iter().all(|(_, after)| *after != Some(*end));
        if !sent.ends.iter().all(|(_, end)| is_end(end)) {
            return None;
        }
        Some(StreamPlan {
            flow: Flow {
                name: sent.name.clone(),
                arrival,
                longest_frame: of(sent.len_max),
                hops: sent.hops.iter().map(hop).collect(),
            },
            shortest: of(sent.len_min),
            class: sent.class(),
            is_unknown: sent.at.is_err() || self.is_over_bucket(sent),
        })
    }

    fn port(&self, link: usize) -> PortPlan {
        let RoutedLink { from, to, speed, enters_switch, ref port, .. } = self.links[link];
        let passing = self.streams.iter().filter(|sent| sent.hops.iter().any(|(hop, _)| *hop == link));
        let rate = |len: u64, rounding: i64| {
            let bytes = i64::try_from(len + self.overhead).unwrap_or(i64::MAX);
            ratio(bytes, (speed.occupancy(len).as_ps() + rounding).max(1))
        };
        let shortest = passing.clone().map(|sent| sent.len_min).min();
        let rates: Vec<Rational> = passing
            .flat_map(|sent| match sent.is_varying() {
                false => vec![rate(sent.len_max, 0)],
                // A length between may be rounded by more than these, and by a picosecond at most.
                true => [sent.len_min, sent.counted_len, sent.len_max]
                    .into_iter()
                    .flat_map(|len| [rate(len, -1), rate(len, 1)])
                    .collect(),
            })
            .collect();
        // Where a link adds less to a frame than is counted everywhere, it is taken for one that adds as much: shares of its time and
        // frames cut in pieces are in bytes of the wire, of which there are no more than are counted.
        let wire = |len: u64| {
            let bytes = len + self.overhead;
            ratio(i64::try_from(bytes).unwrap_or(i64::MAX), speed.time_of(bytes).as_ps() + 1)
        };
        let is_less = speed.occupancy(0) < speed.time_of(self.overhead);
        let on_wire = shortest.filter(|_| is_less).map(wire);
        let least = rates.iter().chain(&on_wire).min().cloned().unwrap_or_else(|| rate(0, 0));
        let own_gates = port.gates.iter().map(|(class, gates)| (place(*class), gates.clone()));
        PortPlan {
            rate_max: rates.into_iter().max().unwrap_or_else(|| least.clone()),
            preempts: port.preempts,
            holds: port.holds,
            changes: port.changes,
            idle_slopes: port.idle_slopes.iter().map(|(class, slope)| (place(*class), slope.clone())).collect(),
            varying: if enters_switch {
                whole((self.forwarding.jitter() + self.uneven(link)).as_ps())
            } else {
                whole(0)
            },
            gates: self.gates(link, &least).into_iter().chain(own_gates).collect(),
            ..PortPlan::plain(format!("the link from node {} to node {}", from.0, to.0), least)
        }
    }

    /// How much longer than the shortest frame on a link the longest one takes to be protected and checked.
    fn uneven(&self, link: usize) -> Duration {
        let passing = || self.streams.iter().filter(|sent| sent.hops.iter().any(|(hop, _)| *hop == link));
        let longest = passing().map(|sent| sent.len_max).max().unwrap_or_default();
        let shortest = passing().map(|sent| sent.len_min).min().unwrap_or_default();
        let protection = self.links[link].speed.protection();
        protection.delay(longest) - protection.delay(shortest)
    }

    /// What scheduled frames leave of a link to each class that comes there, if its rate is this.
    fn gates(&self, link: usize, rate: &Rational) -> BTreeMap<usize, Gates> {
        let closed = merged(&self.links[link].closed, self.cycle);
        if closed.is_empty() {
            return BTreeMap::new();
        }
        let longest_of = |class: usize| {
            let passes = |sent: &&RoutedStream| sent.class() == class && sent.hops.iter().any(|(hop, _)| *hop == link);
            self.streams.iter().filter(passes).map(|sent| sent.len_max + self.overhead).max()
        };
        // What has slots is never kept from a closed link.
        let waiting = (0..CLASSES).filter(|class| *class != place(Priority::TIME_TRIGGERED.0));
        let longest: Vec<(usize, u64)> = waiting.filter_map(|class| Some((class, longest_of(class)?))).collect();
        let gates_of = |(class, own): &(usize, u64)| {
            let above = longest.iter().take_while(|(other, _)| other <= class).map(|(_, len)| *len).max();
            // What is of no use to this class because a longer frame above it would not end in time.
            let waits = i64::try_from(above.unwrap_or(*own) - own).unwrap_or(i64::MAX);
            let waits = (whole(waits) / rate).ceil();
            let waits = Duration::from_ps(i64::try_from(waits).unwrap_or(i64::MAX));
            let (cycle, nexts) = (self.cycle, closed.iter().skip(1).map(|next| next.from));
            let nexts = nexts.chain([closed[0].from + cycle]);
            let open = closed.iter().zip(nexts).filter_map(|(before, next)| {
                let from = before.until;
                let length = next - waits - from;
                let window = Window { from: whole(from.rem_floor(cycle).as_ps()), length: whole(length.as_ps()) };
                (length > Duration::ZERO).then_some(window)
            });
            let gates = Gates::new(whole(cycle.as_ps()), open.collect());
            // Without a window there is no room; a window shorter than any frame says the same.
            let none = || Gates::new(whole(cycle.as_ps()), vec![Window { from: whole(0), length: ratio(1, 1_000) }]);
            Some((*class, gates.or_else(|_| none()).ok()?))
        };
        longest.iter().filter_map(gates_of).collect()
    }

    /// When a stream whose queues and links take this long is received.
    fn received(&self, sent: &RoutedStream, end: usize, delay: &Rational) -> Result<Span, Why> {
        let ps = i64::try_from(delay.ceil()).map_err(|_| Why::NoEndInSight)?;
        let (mut min, mut max) = (Duration::ZERO, Duration::from_ps(ps));
        for link in self.way(sent, end).into_iter().map(|link| &self.links[link]) {
            min += link.speed.reception(sent.len_min);
            // The last bit is there before the gap behind it is over, and later by the propagation.
            let behind = |len: u64| link.speed.reception(len) - link.speed.occupancy(len);
            max += behind(sent.len_min).max(behind(sent.len_max));
            max += Duration::from_ps(i64::from(sent.is_varying()));
            if link.enters_switch {
                // How much longer than this it may take is part of the delay.
                (min, max) = (min + self.forwarding.min, max + self.forwarding.min);
            }
        }
        Ok(sent.at?.later(min, max))
    }

    /// The links from a stream's sender to one of its ends.
    fn way(&self, sent: &RoutedStream, end: usize) -> Vec<usize> {
        let before = |hop: &usize| sent.hops[*hop].1;
        let mut way: Vec<usize> = std::iter::successors(Some(end), before).map(|hop| sent.hops[hop].0).collect();
        way.reverse();
        way
    }
}

/// Closed times in their order within one cycle, those that overlap as one. One that is as long as the cycle leaves nothing.
fn merged(closed: &[Closed], cycle: Duration) -> Vec<Closed> {
    let within = |one: &Closed| {
        let from = one.from.rem_floor(cycle);
        Closed { from, until: from + (one.until - one.from) }
    };
    let mut sorted: Vec<Closed> = closed.iter().map(within).collect();
    sorted.sort_unstable();
    let mut merged: Vec<Closed> = Vec::new();
    for one in sorted {
        match merged.last_mut() {
            Some(last) if last.until >= one.from => last.until = last.until.max(one.until),
            _ => merged.push(one),
        }
    }
    // The last may go on into the next cycle, over those at its beginning.
    while let (Some(first), Some(last)) = (merged.first().copied(), merged.last().copied()) {
        if merged.len() == 1 || last.until - cycle < first.from {
            break;
        }
        merged.remove(0);
        if let Some(last) = merged.last_mut() {
            last.until = last.until.max(first.until + cycle);
        }
    }
    merged
}

/// One picosecond, and a millionth of a byte.
fn grid() -> Option<Grid> {
    Grid::new(whole(1), ratio(1, 1_000_000))
}

/// Steps of rates, a byte in 1000 seconds, and of bursts.
fn rates_and_bursts() -> Option<(Grid, Grid)> {
    Some((Grid::new(whole(1), ratio(1, 1_000_000_000_000_000))?, grid()?))
}

/// The place of a traffic class among those of the calculus, which begins with the highest.
fn place(class: u8) -> usize {
    CLASSES - 1 - usize::from(class).min(CLASSES - 1)
}

/// The traffic class at a place.
fn number(place: usize) -> u8 {
    (CLASSES - 1 - place) as u8
}

fn class_name(class: usize) -> String {
    match Priority(number(class)) {
        Priority::TIME_TRIGGERED => "delayed frames of slots".to_owned(),
        Priority::PROTOCOL_CONTROL => "control".to_owned(),
        Priority::RATE_CONSTRAINED_HIGH => "virtual links of high priority".to_owned(),
        Priority::RATE_CONSTRAINED_LOW => "virtual links of low priority".to_owned(),
        Priority(class) => format!("traffic class {class}"),
    }
}

#[cfg(test)]
mod tests;
