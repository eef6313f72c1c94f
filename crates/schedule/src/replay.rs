//! A replay of gate lists and talkers, event by event, which shares nothing with the search but the description of the
//! network: bridges that store frames, ports with a first-in-first-out queue for each traffic class, each behind a gate, and processors.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::fmt;

use chronoseal_core::Duration;

use crate::gates::GateList;
use crate::network::{Network, Stream};
use crate::schedule::Schedule;

/// A stream with what its talker and its listeners were told.
#[derive(Clone, Debug)]
pub struct Told {
    /// The stream.
    pub stream: Stream,
    /// The links it takes, in any order.
    pub route: Vec<usize>,
    /// By link: the queue in which its frames wait there, if that is not the one of the class that is replayed.
    pub queues: BTreeMap<usize, u8>,
    /// When the talker sends which of its frames, the number of the period first.
    pub sends: Vec<(i64, Duration)>,
    /// When which listener checks which frame: the listener, the number of the period, the instant.
    pub checks: Vec<(usize, i64, Duration)>,
}

/// A port's gate lists and since when each is in effect, by that time.
pub type PortLists = BTreeMap<usize, Vec<(Duration, GateList)>>;

/// Something that must not happen.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Violation {
    /// A frame does not reach a listener.
    Lost {
        /// The stream.
        stream: String,
        /// Which of its frames.
        number: i64,
        /// The listener.
        listener: String,
    },
    /// A frame or its check is later than the deadline.
    Late {
        /// The stream.
        stream: String,
        /// Which of its frames.
        number: i64,
        /// From the beginning of sealing to the end of the check.
        latency: Duration,
    },
    /// Frames arrive less regularly than the stream allows.
    Jitter {
        /// The stream.
        stream: String,
        /// How far two of them are apart from their periods.
        jitter: Duration,
    },
    /// A frame was ready to be sent and its port was busy, its gate closed, or another frame before it.
    Waits {
        /// The stream.
        stream: String,
        /// Which of its frames.
        number: i64,
        /// Where it waits.
        link: String,
    },
    /// A frame starts on a link before the guard after the last one is over.
    NoGuard {
        /// The stream.
        stream: String,
        /// Where.
        link: String,
    },
    /// A processor has to do two things at one time, or one before the frame is there.
    Processor {
        /// Whose.
        node: String,
        /// One stream and another, or the same twice.
        streams: [String; 2],
    },
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost { stream, number, listener } => {
                write!(f, "frame {number} of stream {stream} does not reach {listener}")
            }
            Self::Late { stream, number, latency } => {
                write!(f, "frame {number} of stream {stream} takes {latency}, which is more than its deadline")
            }
            Self::Jitter { stream, jitter } => {
                write!(f, "the frames of stream {stream} arrive {jitter} apart from their period")
            }
            Self::Waits { stream, number, link } => {
                write!(f, "frame {number} of stream {stream} has to wait on the link {link}")
            }
            Self::NoGuard { stream, link } => {
                write!(f, "a frame of stream {stream} starts on the link {link} before the guard is over")
            }
            Self::Processor { node, streams: [one, other] } => {
                write!(f, "the processor of {node} has to work for the streams {one} and {other} at one time")
            }
        }
    }
}

impl Schedule {
    /// What talkers and listeners are told for `cycles` cycles, streams by name.
    #[expect(clippy::missing_panics_doc, reason = "every stream of a schedule is planned in it")]
    pub fn told(&self, cycles: i64) -> Vec<Told> {
        let told = self.streams().map(|stream| {
            let planned = self.planned(&stream.name).expect("it is in the schedule");
            let count = planned.starts.len() as i64;
            let repeat = move |times: &[Duration], cycle: Duration| -> Vec<(i64, Duration)> {
                let numbered: Vec<_> = times.iter().copied().enumerate().collect();
                (0..cycles)
                    .flat_map(|k| {
                        numbered.iter().map(move |(i, at)| (k * count + *i as i64, *at + cycle * k)).collect::<Vec<_>>()
                    })
                    .collect()
            };
            let checks = planned.checks.iter().flat_map(|(node, times)| {
                repeat(times, self.cycle()).into_iter().map(|(number, at)| (*node, number, at))
            });
            Told {
                stream: stream.clone(),
                route: planned.route.clone(),
                queues: BTreeMap::new(),
                sends: repeat(&planned.starts, self.cycle()),
                checks: checks.collect(),
            }
        });
        told.collect()
    }

    /// Everything that goes wrong in three cycles of this schedule with gate lists for `class`; nothing if it is right.
    pub fn replay(&self, class: u8) -> Vec<Violation> {
        let lists = self.gates(class).into_iter().map(|list| (list.link, vec![(Duration::ZERO, list)])).collect();
        replay(self.network(), &self.told(3), &lists, class)
    }
}

/// Everything that goes wrong when talkers send what they were told and ports follow their lists. Frames are of `class` where a stream
/// says nothing else.
pub fn replay(network: &Network, told: &[Told], lists: &PortLists, class: u8) -> Vec<Violation> {
    let mut run = Run {
        network,
        told,
        lists,
        class,
        ports: network.links().iter().map(|_| Port::default()).collect(),
        events: BinaryHeap::new(),
        sent: 0,
        arrived: BTreeMap::new(),
        found: Vec::new(),
    };
    let mut end = 0;
    for (stream, told) in told.iter().enumerate() {
        for (number, at) in &told.sends {
            run.leave(told.stream.from, stream, *number, at.as_ps());
            end = end.max(at.as_ps());
        }
    }
    // Whoever waits longer than three cycles after the last frame was sent waits for ever.
    let patience = lists.values().flatten().map(|(_, list)| list.cycle.as_ps()).max().unwrap_or(0);
    let longest = told.iter().map(|told| told.stream.deadline.as_ps()).max().unwrap_or(0);
    run.go(end + 3 * patience + longest);
    run.judge();
    run.processors();
    run.found
}

/// Traffic classes of a port.
const CLASSES: usize = 8;

#[derive(Default)]
struct Port {
    queues: [VecDeque<(usize, i64, i64)>; CLASSES],
    busy_until: i64,
    has_sent: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Idle { port: usize },
    Ready { port: usize, stream: usize, number: i64 },
}

struct Run<'a> {
    network: &'a Network,
    told: &'a [Told],
    lists: &'a PortLists,
    class: u8,
    ports: Vec<Port>,
    events: BinaryHeap<Reverse<(i64, Event, u64)>>,
    sent: u64,
    /// When the last bit of each frame is at each listener.
    arrived: BTreeMap<(usize, i64, usize), i64>,
    found: Vec<Violation>,
}

impl Run<'_> {
    fn at(&mut self, time: i64, event: Event) {
        self.sent += 1;
        self.events.push(Reverse((time, event, self.sent)));
    }

    /// A frame is ready at a node: it goes into the queue of each port on its route.
    fn leave(&mut self, node: usize, stream: usize, number: i64, time: i64) {
        let told = self.told;
        for &port in told[stream].route.iter().filter(|link| self.network.links()[**link].from == node) {
            self.at(time, Event::Ready { port, stream, number });
        }
    }

    fn go(&mut self, end: i64) {
        while let Some(Reverse((time, event, _))) = self.events.pop() {
            if time > end {
                return;
            }
            let port = match event {
                Event::Idle { port } => port,
                Event::Ready { port, stream, number } => {
                    let queue = self.told[stream].queues.get(&port).copied().unwrap_or(self.class);
                    self.ports[port].queues[usize::from(queue) % CLASSES].push_back((stream, number, time));
                    port
                }
            };
            self.serve(port, time);
        }
    }

    /// Sends the first frame of the highest class that may go now.
    fn serve(&mut self, port: usize, now: i64) {
        if self.ports[port].busy_until > now {
            return;
        }
        let mut again: Option<i64> = None;
        for class in (0..CLASSES).rev() {
            let Some(&(stream, ..)) = self.ports[port].queues[class].front() else { continue };
            let link = &self.network.links()[port];
            let security = &self.told[stream].stream.security;
            let own = u64::from(self.told[stream].stream.len) + u64::from(security.bytes);
            let bytes = own + u64::from(self.network.overhead) + u64::from(link.protection.bytes);
            let end = now + link.rate.time_of(bytes).as_ps();
            match self.opens(port, class, now, end) {
                Ok(()) => return self.send(port, class, now, end),
                Err(later) => again = Some(again.map_or(later, |again| again.min(later))),
            }
        }
        if let Some(again) = again {
            self.at(again, Event::Idle { port });
        }
    }

    /// Sends the first frame of a queue, which keeps the link from `now` to `end`.
    fn send(&mut self, port: usize, class: usize, now: i64, end: i64) {
        let Some((stream, number, since)) = self.ports[port].queues[class].pop_front() else { return };
        let link = &self.network.links()[port];
        let told = &self.told[stream];
        let last_bit = now + self.network.last_bit(port, told.stream.secured_len());
        if now > since {
            let (stream, link) = (told.stream.name.clone(), self.network.link_name(port));
            self.found.push(Violation::Waits { stream, number, link });
        }
        let state = &mut self.ports[port];
        if state.has_sent && now < state.busy_until + self.network.guard.as_ps() {
            let (stream, link) = (told.stream.name.clone(), self.network.link_name(port));
            self.found.push(Violation::NoGuard { stream, link });
        }
        (state.busy_until, state.has_sent) = (end, true);
        let there = last_bit + self.network.transit(port, told.stream.secured_len());
        if told.stream.to.contains(&link.to) {
            self.arrived.insert((stream, number, link.to), there);
        }
        let ready = there + (link.processing + told.stream.security.per_hop).as_ps();
        self.leave(link.to, stream, number, ready);
        self.at(end, Event::Idle { port });
    }

    /// If the gate of a class is open from `now` to `end`; otherwise when it may be worth asking again.
    fn opens(&self, port: usize, class: usize, now: i64, end: i64) -> Result<(), i64> {
        let Some(lists) = self.lists.get(&port) else { return Err(i64::MAX) };
        let mut at = now;
        while at < end {
            let current = lists.partition_point(|(from, _)| from.as_ps() <= at);
            let until = lists.get(current).map_or(i64::MAX, |(from, _)| from.as_ps());
            let Some((_, list)) = current.checked_sub(1).map(|current| &lists[current]) else { return Err(until) };
            let mut within = (at - list.base.as_ps()).rem_euclid(list.cycle.as_ps());
            let mut left = 0;
            let mut gates = 0;
            for entry in &list.entries {
                if within < entry.interval.as_ps() {
                    (left, gates) = (entry.interval.as_ps() - within, entry.gates);
                    break;
                }
                within -= entry.interval.as_ps();
            }
            let next = (at + left.max(1)).min(until);
            if gates >> class & 1 == 0 {
                return Err(next);
            }
            at = next;
        }
        Ok(())
    }

    fn judge(&mut self) {
        for (index, told) in self.told.iter().enumerate() {
            let (stream, seal, open) =
                (&told.stream, told.stream.security.seal.as_ps(), told.stream.security.open.as_ps());
            for &listener in &stream.to {
                let mut offsets = Vec::new();
                for (number, sent) in &told.sends {
                    let Some(&arrived) = self.arrived.get(&(index, *number, listener)) else {
                        let listener = self.network.nodes()[listener].name.clone();
                        self.found.push(Violation::Lost { stream: stream.name.clone(), number: *number, listener });
                        continue;
                    };
                    offsets.push(arrived - number * stream.period.as_ps());
                    let checked = told.checks.iter().find(|(node, check, _)| (*node, *check) == (listener, *number));
                    let done = checked.map_or(arrived, |(_, _, at)| at.as_ps()) + open;
                    let latency = Duration::from_ps(done - (sent.as_ps() - seal));
                    let is_unchecked = open > 0 && checked.is_none();
                    if latency > stream.deadline || is_unchecked {
                        self.found.push(Violation::Late { stream: stream.name.clone(), number: *number, latency });
                    }
                    if checked.is_some_and(|(_, _, at)| at.as_ps() < arrived) {
                        let (node, name) = (self.network.nodes()[listener].name.clone(), stream.name.clone());
                        self.found.push(Violation::Processor { node, streams: [name.clone(), name] });
                    }
                }
                let spread = offsets.iter().max().zip(offsets.iter().min()).map_or(0, |(last, first)| last - first);
                if spread > stream.jitter.as_ps() {
                    let jitter = Duration::from_ps(spread);
                    self.found.push(Violation::Jitter { stream: stream.name.clone(), jitter });
                }
            }
        }
    }

    fn processors(&mut self) {
        let mut busy: Vec<(usize, i64, i64, usize)> = Vec::new();
        for (index, told) in self.told.iter().enumerate() {
            let security = told.stream.security;
            let seals =
                told.sends.iter().map(|(_, at)| (told.stream.from, (*at - security.seal).as_ps(), at.as_ps(), index));
            let checks =
                told.checks.iter().map(|(node, _, at)| (*node, at.as_ps(), (*at + security.open).as_ps(), index));
            busy.extend(seals.chain(checks).filter(|(_, from, until, _)| from < until));
        }
        busy.sort_unstable();
        for pair in busy.windows(2) {
            if pair[0].0 == pair[1].0 && pair[1].1 < pair[0].2 {
                let streams = [pair[0].3, pair[1].3].map(|stream| self.told[stream].stream.name.clone());
                self.found.push(Violation::Processor { node: self.network.nodes()[pair[0].0].name.clone(), streams });
            }
        }
    }
}
