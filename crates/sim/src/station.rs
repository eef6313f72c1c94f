//! A node in the engine: what surrounds it, what waits for it, and what it waits for.

use std::collections::{BTreeMap, VecDeque};

use chronoseal_catalog::Describe;
use chronoseal_core::random::{self, ChaCha8Rng, Jitter, Purpose};
use chronoseal_core::{
    AttackKind, Command, Duration, LocalTime, NodeId, Oscillator, PortId, Priority, SimTime, Transmit, TxToken,
};
use chronoseal_media::host::{HostConfig, HostInterface};
use chronoseal_media::medium::FrameId;
use chronoseal_nodes::AnyNode;

use crate::world::Launch;

/// A node and what surrounds it.
pub struct NodeSetup {
    /// Its number; nodes are added in order from 0.
    pub id: NodeId,
    /// The state machine.
    pub node: AnyNode,
    /// Its clock.
    pub oscillator: Oscillator,
    /// Time its network driver takes between hand-over and first bit.
    pub driver: Jitter,
    /// What its processor takes: operation, for any length, for each byte.
    pub costs: Vec<(String, Duration, Duration)>,
    /// Its host interfaces: the ports of which frames pass one, and what tells their classes. Those of a segment share it.
    pub hosts: Vec<(Vec<PortId>, HostConfig, Box<dyn Describe>)>,
    /// True if it passes on what it gets, and says what its frames came from.
    pub is_gateway: bool,
}

/// A host interface of a station.
pub(crate) struct Host<'s> {
    pub(crate) interface: &'s mut HostInterface<(PortId, Arrived)>,
    pub(crate) first: PortId,
    pub(crate) describe: &'s dyn Describe,
}

/// How many of the latest inputs of a gateway are remembered; a frame that comes from an older one has no origin in records.
const INPUTS_MAX: usize = 1 << 14;

/// The serial numbers of a gateway's latest inputs.
#[derive(Default)]
pub(crate) struct Inputs {
    serials: VecDeque<Option<u64>>,
    /// The number of the first of them.
    first: u64,
}

impl Inputs {
    pub(crate) fn add(&mut self, serial: Option<u64>) {
        if self.serials.len() == INPUTS_MAX {
            self.serials.pop_front();
            self.first += 1;
        }
        self.serials.push_back(serial);
    }

    pub(crate) fn serial(&self, number: u64) -> Option<u64> {
        let place = usize::try_from(number.checked_sub(self.first)?).ok()?;
        *self.serials.get(place)?
    }
}

/// The frames that a driver holds until their launch times, in the order in which they leave: by time, and those of one
/// instant in the order in which the node handed them over.
#[derive(Default)]
pub(crate) struct Held(VecDeque<(SimTime, Launch)>);

impl Held {
    /// Keeps a frame until `at`.
    #[inline]
    pub(crate) fn hold(&mut self, at: SimTime, launch: Launch) {
        if self.0.back().is_none_or(|(last, _)| *last <= at) {
            self.0.push_back((at, launch));
        } else {
            self.hold_before(at, launch);
        }
    }

    #[cold]
    fn hold_before(&mut self, at: SimTime, launch: Launch) {
        let later = self.0.iter().rev().take_while(|(other, _)| *other > at).count();
        self.0.insert(self.0.len() - later, (at, launch));
    }

    /// True if a frame leaves now or should have left.
    #[inline]
    pub(crate) fn is_due(&self, now: SimTime) -> bool {
        self.0.front().is_some_and(|(at, _)| *at <= now)
    }

    /// Takes the frame that leaves next.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<Launch> {
        Some(self.0.pop_front()?.1)
    }
}

/// A running node.
pub(crate) struct Station {
    pub(crate) setup: NodeSetup,
    /// The wake-up asked for last; earlier ones still in the queue are stale.
    pub(crate) wake_at: Option<SimTime>,
    pub(crate) busy: bool,
    /// Inputs that came while the processor was busy.
    pub(crate) waiting: VecDeque<Pending>,
    /// The frame the node is looking at.
    pub(crate) current: Option<Arrived>,
    /// The attack its next frame is part of.
    pub(crate) attack: Option<AttackKind>,
    /// Tokens of frames that have not left yet, by the number of the frame.
    pub(crate) tokens: Vec<(u64, TxToken)>,
    /// Frames that its driver holds until their launch times.
    pub(crate) held: Held,
    /// When the driver let go of the last frame of a priority that had no launch time.
    let_go: BTreeMap<(PortId, Priority), SimTime>,
    /// By entry of [`NodeSetup::hosts`].
    hosts: Vec<HostInterface<(PortId, Arrived)>>,
    /// Of a gateway.
    pub(crate) inputs: Option<Box<Inputs>>,
    /// The ports of which the medium wants to know what the clock shows.
    pub(crate) clock_ports: Vec<PortId>,
    rng: ChaCha8Rng,
}

impl Station {
    /// A node that nothing has happened to.
    pub(crate) fn new(setup: NodeSetup, seed: u64) -> Self {
        Self {
            inputs: setup.is_gateway.then(Box::default),
            clock_ports: Vec::new(),
            wake_at: None,
            busy: false,
            waiting: VecDeque::new(),
            current: None,
            attack: None,
            tokens: Vec::new(),
            held: Held::default(),
            let_go: BTreeMap::new(),
            hosts: setup.hosts.iter().map(|(_, config, _)| HostInterface::new(*config)).collect(),
            rng: random::stream(seed, Purpose::Medium, 1 << 32 | u64::from(setup.id.0)),
            setup,
        }
    }

    /// What its oscillator shows.
    #[inline(always)]
    pub(crate) fn local(&self, at: SimTime) -> LocalTime {
        self.setup.oscillator.local(at)
    }

    /// True if no frame passes a host interface here.
    #[inline(always)]
    pub(crate) fn has_no_host(&self) -> bool {
        self.hosts.is_empty()
    }

    /// The host interface of a port, what it is called by, which is the first of its ports, and what tells the classes of its frames.
    pub(crate) fn host(&mut self, port: PortId) -> Option<Host<'_>> {
        let place = self.setup.hosts.iter().position(|(ports, ..)| ports.contains(&port))?;
        let (ports, _, describe) = &self.setup.hosts[place];
        Some(Host { interface: &mut self.hosts[place], first: ports[0], describe: &**describe })
    }

    /// When the first bit of a frame leaves: not before its launch time, and after the time in the driver.
    #[inline(always)]
    pub(crate) fn launch_time(&mut self, now: SimTime, transmit: &Transmit) -> SimTime {
        let at = self.setup.oscillator.sim(transmit.launch_at).max(now);
        // Control frames of masters are made by the interface itself.
        let has_none = self.setup.driver.is_zero() || transmit.priority == Priority::PROTOCOL_CONTROL;
        if has_none { at } else { self.after_driver(now, at, transmit) }
    }

    /// A driver is a queue: frames of one priority that leave as soon as they can leave in the order in which they were handed
    /// over, however long it takes for each.
    fn after_driver(&mut self, now: SimTime, at: SimTime, transmit: &Transmit) -> SimTime {
        let leaves = at + self.setup.driver.sample(&mut self.rng);
        if at > now {
            return leaves;
        }
        let last = self.let_go.entry((transmit.port, transmit.priority)).or_insert(leaves);
        *last = leaves.max(*last);
        *last
    }

    /// Notes when its node wants to be woken. The time, if it is another one than before.
    #[inline(always)]
    pub(crate) fn ask_for_wake(&mut self, now: SimTime, wake: Option<LocalTime>) -> Option<SimTime> {
        let at = wake.map(|wake| self.setup.oscillator.sim(wake).max(now));
        if at == self.wake_at {
            return None;
        }
        self.wake_at = at;
        at
    }
}

/// An input on hold.
pub(crate) enum Pending {
    Frame(PortId, Arrived),
    Transmitted(TxToken, SimTime),
    Dropped(TxToken),
    Command(Command),
    Timeout,
}

/// A frame at its receiver.
#[derive(Clone, Copy)]
pub(crate) struct Arrived {
    pub(crate) frame: FrameId,
    pub(crate) departed_at: SimTime,
    pub(crate) received_at: SimTime,
}
