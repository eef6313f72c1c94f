//! A small exact simulation of frames in a network of queues, to hold bounds against.
//!
//! Times are whole ticks and lengths whole units of data, so nothing is rounded. It shares no code with the analysis: sources
//! keep to a token bucket that is counted here, servers finish one frame after the other, and a frame is at the next server
//! when its last bit is there.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A reproducible source of numbers (SplitMix64).
#[derive(Clone, Debug)]
pub(super) struct Chance(pub(super) u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from `from` up to and with `to`.
    pub(super) fn within(&mut self, from: i64, to: i64) -> i64 {
        from + (self.next() % (to - from + 1) as u64) as i64
    }

    /// True once in so many times.
    pub(super) fn once_in(&mut self, times: i64) -> bool {
        self.within(1, times) == 1
    }
}

/// One server of a case.
#[derive(Clone, Debug)]
pub(super) struct Station {
    /// Ticks for one unit of data.
    pub(super) unit: i64,
    /// How long it may let the first frame of a busy period wait.
    pub(super) latency: i64,
    /// What passes between the end of a frame and its arrival at the next server.
    pub(super) constant: i64,
    /// How much longer than `constant` that may take, from frame to frame anew.
    pub(super) varying: i64,
}

/// One flow of a case.
#[derive(Clone, Debug)]
pub(super) struct Source {
    /// Ticks until its bucket holds one unit more.
    pub(super) spaced: i64,
    /// Units that the bucket holds.
    pub(super) burst: i64,
    /// Its longest frame.
    pub(super) longest: i64,
    /// Ticks between two frames at least, for each unit of the longest; zero if they may come at once.
    pub(super) apart: i64,
    /// Its class; the lower number goes first where that counts.
    pub(super) class: usize,
    /// Servers, each with the hop it follows.
    pub(super) hops: Vec<(usize, Option<usize>)>,
}

impl Source {
    /// When it sends frames of which lengths, as its token bucket allows. The bucket is counted in ticks: one unit is `spaced`
    /// of them.
    pub(super) fn frames(&self, start: i64, count: i64, is_greedy: bool, chance: &mut Chance) -> Vec<(i64, i64)> {
        let full = self.burst * self.spaced;
        let (mut now, mut level, mut last) = (start, full, i64::MIN / 2);
        let mut frames = Vec::new();
        for _ in 0..count {
            let is_longest = is_greedy || chance.once_in(2);
            let length = if is_longest { self.longest } else { chance.within(1, self.longest) };
            let pause = if is_greedy || !chance.once_in(4) { 0 } else { chance.within(0, full) };
            let missing = (length * self.spaced - level).max(0);
            let next = (now + missing).max(last + self.apart * self.longest) + pause;
            level = (level + next - now).min(full) - length * self.spaced;
            (now, last) = (next, next);
            frames.push((now, length));
        }
        frames
    }
}

/// Which of the frames that wait goes next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Order {
    /// The one that came first; of those that came at once, any.
    Fifo,
    /// Any flow but this one, as long as another waits.
    Last(usize),
    /// Any flow.
    Any,
    /// The lowest class, and of that the one that came first.
    Classes,
}

/// How one run is to go.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) order: Order,
    /// When each flow begins to send.
    pub(super) starts: Vec<i64>,
    /// Frames that each flow sends.
    pub(super) frames: i64,
    /// True if flows send as early and as long frames as they may.
    pub(super) is_greedy: bool,
}

/// The greatest values that a run has seen.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// By flow and hop: from the sending of a frame to its arrival behind that hop.
    pub(super) delay: Vec<Vec<i64>>,
    /// By flow and hop: units sent that had not yet arrived behind that hop.
    pub(super) underway: Vec<Vec<i64>>,
    /// By server: from the arrival of a frame to its end.
    pub(super) stay: Vec<i64>,
    /// By server: units of frames that had arrived and not ended.
    pub(super) waiting: Vec<i64>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Frame {
    flow: usize,
    number: i64,
    hop: usize,
    length: i64,
    sent: i64,
    arrived: i64,
    /// Decides among those that came at once.
    tie: i64,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Event {
    Arrives(Frame),
    Ends(usize),
    Serves(usize),
    Behind(Frame),
}

#[derive(Clone, Debug, Default)]
struct Queue {
    waiting: Vec<Frame>,
    on_wire: Option<Frame>,
    is_busy: bool,
}

struct Simulation<'a> {
    stations: &'a [Station],
    sources: &'a [Source],
    run: &'a Run,
    chance: Chance,
    events: BinaryHeap<Reverse<(i64, u8, i64, Event)>>,
    queues: Vec<Queue>,
    /// By flow and hop.
    behind: Vec<Vec<i64>>,
    sent: Vec<i64>,
    seen: Seen,
    /// True if what ends counts as over before what comes at the same instant.
    ends_first: bool,
}

/// Lets all flows send through the network until every frame has arrived.
pub(super) fn simulate(stations: &[Station], sources: &[Source], run: &Run, chance: Chance) -> Seen {
    let by_hop: Vec<Vec<i64>> = sources.iter().map(|source| vec![0; source.hops.len()]).collect();
    let none = vec![0; stations.len()];
    let seen = Seen { delay: by_hop.clone(), underway: by_hop.clone(), stay: none.clone(), waiting: none };
    let (queues, sent) = (vec![Queue::default(); stations.len()], vec![0; sources.len()]);
    let mut simulation = Simulation {
        stations,
        sources,
        run,
        chance,
        events: BinaryHeap::new(),
        queues,
        behind: by_hop,
        sent,
        seen,
        ends_first: false,
    };
    simulation.ends_first = simulation.chance.once_in(2);
    (0..sources.len()).for_each(|flow| simulation.send(flow));
    while let Some(Reverse((now, _, _, event))) = simulation.events.pop() {
        simulation.happen(now, event);
    }
    simulation.seen
}

impl Simulation<'_> {
    fn at(&mut self, time: i64, event: Event) {
        let class = match event {
            Event::Behind(_) => 0,
            Event::Arrives(_) => {
                if self.ends_first {
                    2
                } else {
                    1
                }
            }
            Event::Ends(_) => {
                if self.ends_first {
                    1
                } else {
                    2
                }
            }
            Event::Serves(_) => 3,
        };
        let tie = self.chance.within(0, i64::MAX / 2);
        self.events.push(Reverse((time, class, tie, event)));
    }

    fn send(&mut self, flow: usize) {
        let source = &self.sources[flow];
        let frames = source.frames(self.run.starts[flow], self.run.frames, self.run.is_greedy, &mut self.chance);
        for (number, (now, length)) in (0..).zip(frames) {
            for hop in 0..source.hops.len() {
                if source.hops[hop].1.is_none() {
                    let frame = Frame { flow, number, hop, length, sent: now, arrived: now, tie: 0 };
                    self.at(now, Event::Arrives(frame));
                }
            }
        }
    }

    fn happen(&mut self, now: i64, event: Event) {
        match event {
            Event::Arrives(frame) => self.arrives(now, frame),
            Event::Ends(server) => self.ends(now, server),
            Event::Serves(server) => self.serves(now, server),
            Event::Behind(frame) => {
                self.behind[frame.flow][frame.hop] += frame.length;
                let most = &mut self.seen.delay[frame.flow][frame.hop];
                *most = (*most).max(now - frame.sent);
            }
        }
    }

    fn arrives(&mut self, now: i64, mut frame: Frame) {
        let (flow, server) = (frame.flow, self.sources[frame.flow].hops[frame.hop].0);
        if self.sources[flow].hops[frame.hop].1.is_none() {
            self.sent[flow] += frame.length;
            for (most, behind) in self.seen.underway[flow].iter_mut().zip(&self.behind[flow]) {
                *most = (*most).max(self.sent[flow] - behind);
            }
        }
        frame.arrived = now;
        frame.tie = self.chance.within(0, 1 << 30);
        let queue = &mut self.queues[server];
        queue.waiting.push(frame);
        let waits: i64 = queue.waiting.iter().chain(&queue.on_wire).map(|frame| frame.length).sum();
        self.seen.waiting[server] = self.seen.waiting[server].max(waits);
        if !queue.is_busy {
            queue.is_busy = true;
            let latency = self.stations[server].latency;
            let late = if self.run.is_greedy { latency } else { self.chance.within(0, latency) };
            self.at(now + late, Event::Serves(server));
        }
    }

    fn serves(&mut self, now: i64, server: usize) {
        let waiting = &self.queues[server].waiting;
        let first_of = |flow: usize| {
            let own = waiting.iter().enumerate().filter(|(_, frame)| frame.flow == flow);
            own.min_by_key(|(_, frame)| (frame.arrived, frame.number)).map(|(place, _)| place)
        };
        let next = match self.run.order {
            Order::Fifo => {
                let by_time = waiting.iter().enumerate().min_by_key(|(_, frame)| (frame.arrived, frame.tie));
                by_time.map(|(place, _)| place)
            }
            Order::Classes => {
                let class = |frame: &Frame| self.sources[frame.flow].class;
                let by_class =
                    waiting.iter().enumerate().min_by_key(|(_, frame)| (class(frame), frame.arrived, frame.tie));
                by_class.map(|(place, _)| place)
            }
            Order::Last(_) | Order::Any => {
                let mut flows: Vec<usize> = waiting.iter().map(|frame| frame.flow).collect();
                flows.sort_unstable();
                flows.dedup();
                if let Order::Last(last) = self.run.order
                    && flows.len() > 1
                {
                    flows.retain(|flow| *flow != last);
                }
                let chosen = self.chance.within(0, flows.len() as i64 - 1) as usize;
                first_of(flows[chosen])
            }
        };
        let frame = self.queues[server].waiting.remove(next.expect("a server serves only if a frame waits"));
        self.queues[server].on_wire = Some(frame);
        self.at(now + frame.length * self.stations[server].unit, Event::Ends(server));
    }

    fn ends(&mut self, now: i64, server: usize) {
        let Some(frame) = self.queues[server].on_wire.take() else { return };
        self.seen.stay[server] = self.seen.stay[server].max(now - frame.arrived);
        let Station { constant, varying, .. } = self.stations[server];
        let varies = if varying > 0 { self.chance.within(0, varying) } else { 0 };
        let there = now + constant + varies;
        self.at(there, Event::Behind(frame));
        let hops = &self.sources[frame.flow].hops;
        for hop in (0..hops.len()).filter(|hop| hops[*hop].1 == Some(frame.hop)) {
            self.at(there, Event::Arrives(Frame { hop, ..frame }));
        }
        if self.queues[server].waiting.is_empty() {
            self.queues[server].is_busy = false;
        } else {
            self.at(now, Event::Serves(server));
        }
    }
}
