//! A network of systems and links.

use std::collections::BTreeMap;

use chronoseal_clocksync::gptp::{Effect, Parameters, PortParameters, PortRole, Refusal, Stamp, TimeAwareSystem};
use chronoseal_core::random::{self, ChaCha8Rng, Purpose};
use chronoseal_core::{Duration, LocalTime, Oscillator, Ppm, SimTime};
use chronoseal_wire::gptp::{Announce, Body, ClockIdentity, Message, PtpTime};

/// Of every oscillator `[ppb]`: what the standard allows, clause B.1.1.
pub(crate) const DRIFT_PPB: i64 = 100_000;
/// Of every time stamp: a counter of 125 MHz.
pub(crate) const GRANULARITY: Duration = Duration::from_ns(8);
/// A frame waits for at most this before it leaves: one other frame of full length, at 100 Mbit/s.
const WAIT_MAX: Duration = Duration::from_us(123);
/// Links delay frames by 50 to 500 ns.
const DELAY_NS: (i64, i64) = (50, 500);
/// How often the clocks are compared.
const LOOK_EVERY: Duration = Duration::from_ms(31);

/// The number of a system. Its clock identity is that number.
pub(crate) type Node = usize;

pub(crate) fn identity(node: Node) -> ClockIdentity {
    ClockIdentity([0, 0, 0, 0xff, 0xfe, 0, 1, node as u8])
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    /// Node and port of both ends.
    pub(crate) ends: [(Node, u16); 2],
    /// From the first end, and from the second.
    pub(crate) delay: [Duration; 2],
    pub(crate) is_up: bool,
}

struct Station {
    system: TimeAwareSystem,
    oscillator: Oscillator,
    is_on: bool,
}

#[derive(Clone, Debug)]
enum Event {
    Leave { node: Node, port: u16, payload: Vec<u8>, stamp: Option<Stamp> },
    Arrive { node: Node, port: u16, payload: Vec<u8> },
}

pub(crate) struct Network {
    stations: Vec<Station>,
    pub(crate) links: Vec<Link>,
    events: BTreeMap<(SimTime, u64), Event>,
    next: u64,
    /// When each system is woken next.
    wakes: Vec<SimTime>,
    next_look: SimTime,
    now: SimTime,
    rng: ChaCha8Rng,
    /// The largest distance of each synchronised system's clock from that of its grandmaster since it was last taken.
    errors: Vec<Duration>,
    /// When each system began to follow a grandmaster.
    pub(crate) grandmasters: Vec<(SimTime, Node, ClockIdentity)>,
    /// Messages of each type that arrived.
    pub(crate) arrived: BTreeMap<&'static str, u64>,
    pub(crate) refused: Vec<(Node, Refusal)>,
    /// Every message that a system sent by a port, and when it came to that port's queue.
    pub(crate) sent: Vec<(SimTime, Node, u16, &'static str)>,
    /// True if no message of a port overtakes another, so that they wait for each other.
    pub(crate) is_in_order: bool,
    /// When the last message of each port leaves.
    leaves: BTreeMap<(Node, u16), SimTime>,
    /// The last Announce that reached the last node: that node, flags, UTC offset and source of the time, path trace.
    pub(crate) last_announce: Option<(Node, u8, i16, u8, Vec<ClockIdentity>)>,
}

impl Network {
    /// Systems with these priorities, and links between them.
    pub(crate) fn new(priorities: &[u8], links: &[(Node, Node)], seed: u64) -> Self {
        Self::with(priorities, links, seed, |_, _| {})
    }

    /// The same, with other parameters for some.
    pub(crate) fn with(
        priorities: &[u8],
        links: &[(Node, Node)],
        seed: u64,
        change: impl Fn(Node, &mut (Parameters, Vec<PortParameters>)),
    ) -> Self {
        let mut rng = random::stream(seed, Purpose::Clock, 0);
        let mut ports = vec![0; priorities.len()];
        let mut end = |node: Node| {
            ports[node] += 1;
            (node, ports[node])
        };
        let ends: Vec<_> = links.iter().map(|(a, b)| [end(*a), end(*b)]).collect();
        let links = ends.into_iter().map(|ends| {
            let delay = Duration::from_ns(random::uniform_i64(&mut rng, DELAY_NS.0, DELAY_NS.1));
            Link { ends, delay: [delay; 2], is_up: true }
        });
        let links = links.collect();
        let station = |(node, priority1): (Node, &u8)| {
            let offset = Duration::from_ps(random::uniform_i64(&mut rng, 0, 5_000_000_000_000));
            let drift = Ppm(random::uniform_i64(&mut rng, -DRIFT_PPB, DRIFT_PPB));
            let oscillator = Oscillator::new(offset, drift);
            let start = oscillator.local(SimTime::ZERO);
            let mut parameters = (Parameters::new(identity(node), *priority1), Vec::new());
            parameters.1.resize(usize::from(ports[node]), PortParameters::default());
            change(node, &mut parameters);
            let system = TimeAwareSystem::new(&parameters.0, &parameters.1, start).unwrap();
            Station { system, oscillator, is_on: true }
        };
        let stations: Vec<_> = priorities.iter().enumerate().map(station).collect();
        Self {
            wakes: vec![SimTime::ZERO; stations.len()],
            errors: vec![Duration::ZERO; stations.len()],
            stations,
            links,
            events: BTreeMap::new(),
            next: 0,
            next_look: SimTime::ZERO,
            now: SimTime::ZERO,
            rng: random::stream(seed, Purpose::Medium, 0),
            grandmasters: Vec::new(),
            arrived: BTreeMap::new(),
            refused: Vec::new(),
            sent: Vec::new(),
            is_in_order: false,
            leaves: BTreeMap::new(),
            last_announce: None,
        }
    }

    /// A chain from node 0 over bridges; node 0 is the best clock.
    pub(crate) fn chain(bridges: usize, seed: u64) -> Self {
        let mut priorities = vec![246; bridges + 2];
        priorities[0] = 100;
        let links: Vec<_> = (0..=bridges).map(|node| (node, node + 1)).collect();
        Self::new(&priorities, &links, seed)
    }

    pub(crate) fn system(&self, node: Node) -> &TimeAwareSystem {
        &self.stations[node].system
    }

    pub(crate) fn len(&self) -> usize {
        self.stations.len()
    }

    pub(crate) fn now(&self) -> SimTime {
        self.now
    }

    /// What the oscillator of a system shows now.
    pub(crate) fn local(&self, node: Node) -> LocalTime {
        self.stations[node].oscillator.local(self.now)
    }

    /// The protocol's time as a system has it now.
    pub(crate) fn time(&self, node: Node) -> PtpTime {
        self.system(node).time(self.local(node))
    }

    fn push(&mut self, at: SimTime, event: Event) {
        self.events.insert((at.max(self.now), self.next), event);
        self.next += 1;
    }

    /// A system falls silent; its links stay up.
    pub(crate) fn power_off(&mut self, node: Node) {
        self.stations[node].is_on = false;
        self.wakes[node] = SimTime::MAX;
    }

    /// Both ends of a link see it go down or up.
    pub(crate) fn set_link(&mut self, link: usize, is_up: bool) {
        self.links[link].is_up = is_up;
        for (node, port) in self.links[link].ends {
            let local = self.local(node);
            self.stations[node].system.set_link(local, port, is_up);
            self.settle(node);
        }
    }

    /// Puts a message before a system, and says what it did with it.
    pub(crate) fn inject(&mut self, node: Node, port: u16, payload: &[u8]) -> Result<(), Refusal> {
        let local = self.local(node);
        let outcome = self.stations[node].system.receive(local, port, local, payload);
        self.settle(node);
        outcome
    }

    /// Lets time pass.
    pub(crate) fn run_for(&mut self, span: Duration) {
        let end = self.now + span;
        loop {
            let event = self.events.first_key_value().map_or(SimTime::MAX, |((at, _), _)| *at);
            let (wake, node) = self.wakes.iter().zip(0..).min().map(|(at, node)| (*at, node)).unwrap();
            self.now = event.min(wake).min(self.next_look);
            if self.now > end {
                break;
            } else if self.next_look == self.now {
                self.next_look += LOOK_EVERY;
                self.look();
            } else if wake == self.now {
                self.wake(node);
            } else {
                let (_, event) = self.events.pop_first().unwrap();
                self.happen(event);
            }
        }
        self.now = end;
    }

    /// The largest error of each system since the last call.
    pub(crate) fn take_errors(&mut self) -> Vec<Duration> {
        let zero = vec![Duration::ZERO; self.len()];
        std::mem::replace(&mut self.errors, zero)
    }

    fn look(&mut self) {
        for node in 0..self.len() {
            let grandmaster = usize::from(self.system(node).grandmaster().0[7]);
            if self.stations[node].is_on && self.system(node).is_synchronised() {
                let error = (self.time(node) - self.time(grandmaster)).abs();
                self.errors[node] = self.errors[node].max(error);
            }
        }
    }

    fn stamp(&self, node: Node) -> LocalTime {
        let local = self.local(node);
        local - local.since_zero().rem_floor(GRANULARITY)
    }

    fn wake(&mut self, node: Node) {
        let local = self.local(node);
        self.stations[node].system.advance(local);
        self.settle(node);
    }

    fn happen(&mut self, event: Event) {
        let (Event::Leave { node, .. } | Event::Arrive { node, .. }) = event;
        if !self.stations[node].is_on {
            return;
        }
        let (local, stamped) = (self.local(node), self.stamp(node));
        match event {
            Event::Arrive { port, payload, .. } => {
                *self.arrived.entry(kind(&payload)).or_default() += 1;
                if let (Body::Announce(announce), true) =
                    (Message::parse(&payload).unwrap().body, node + 1 == self.len())
                {
                    let Announce { time_flags, current_utc_offset, time_source, path_trace, .. } = announce;
                    let path = path_trace.clocks().collect();
                    self.last_announce = Some((node, time_flags, current_utc_offset, time_source, path));
                }
                if let Err(refusal) = self.stations[node].system.receive(local, port, stamped, &payload) {
                    self.refused.push((node, refusal));
                }
            }
            Event::Leave { port, payload, stamp, .. } => {
                if let Some(stamp) = stamp {
                    self.stations[node].system.transmitted(local, port, stamp, stamped).unwrap();
                }
                let found = self.links.iter().find_map(|link| {
                    let end = link.ends.iter().position(|end| *end == (node, port))?;
                    link.is_up.then_some((link.ends[1 - end], link.delay[end]))
                });
                if let Some(((to, to_port), delay)) = found {
                    self.push(self.now + delay, Event::Arrive { node: to, port: to_port, payload });
                }
            }
        }
        self.settle(node);
    }

    /// Does what a system wants done.
    fn settle(&mut self, node: Node) {
        while let Some(effect) = self.stations[node].system.poll() {
            match effect {
                Effect::Send { port, payload, stamp } => {
                    let wait = Duration::from_ps(random::uniform_i64(&mut self.rng, 0, WAIT_MAX.as_ps()));
                    let mut leaves = self.now + wait;
                    if self.is_in_order {
                        self.sent.push((self.now, node, port, kind(&payload)));
                        let last = self.leaves.entry((node, port)).or_insert(leaves);
                        *last = leaves.max(*last);
                        leaves = *last;
                    }
                    self.push(leaves, Event::Leave { node, port, payload, stamp });
                }
                Effect::Grandmaster { clock, .. } => self.grandmasters.push((self.now, node, clock)),
                Effect::Role { .. } | Effect::Synchronised { .. } => {}
            }
        }
        let Station { system, oscillator, is_on } = &self.stations[node];
        self.wakes[node] = if *is_on { oscillator.sim(system.wake_at()) } else { SimTime::MAX };
    }

    /// How many ports have a role.
    pub(crate) fn count(&self, role: PortRole) -> usize {
        let roles = |node| (1u16..).map_while(move |port| self.system(node).role(port));
        (0..self.len()).flat_map(roles).filter(|found| *found == role).count()
    }
}

fn kind(payload: &[u8]) -> &'static str {
    match Message::parse(payload).unwrap().body {
        Body::Sync => "Sync",
        Body::FollowUp(_) => "Follow_Up",
        Body::Announce(_) => "Announce",
        _ => "Pdelay",
    }
}
