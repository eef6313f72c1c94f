//! A bus in memory: ordered, lossless unless told otherwise, with processors that take time if told so.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use chronoseal_core::{Command, Duration, Event, EventKind, Input, LocalTime, Node, Output, PortId, TxToken};
use chronoseal_crypto::suite::{SECRET_LEN, Suite};
use chronoseal_groupkey::{
    Address, Identifier, Member, NodeConfig, Orchestrator, Roster, Scheme, Settings, SpareNode, Step, Tree,
};
use chronoseal_wire::can::{CanFrame, CanId};

/// One frame's time on the bus.
const FRAME_TIME: Duration = Duration::from_us(100);
/// The orchestrator's address in these tests; members have 1, 2, and so on.
pub const LEAD: Address = Address(250);

pub enum Station<S: Suite> {
    Orchestrator(Box<Orchestrator<S>>),
    Member(Box<Member<S>>),
    Other(Box<dyn Node>),
}

impl<S: Suite> Station<S> {
    fn node(&mut self) -> &mut dyn Node {
        match self {
            Self::Orchestrator(node) => &mut **node,
            Self::Member(node) => &mut **node,
            Self::Other(node) => &mut **node,
        }
    }

    pub fn key(&self) -> Option<[u8; 16]> {
        let key = match self {
            Self::Orchestrator(node) => node.group_key(),
            Self::Member(node) => node.group_key(),
            Self::Other(_) => None,
        };
        key.map(|key| *key.key.expose())
    }
}

enum Pending {
    Frame(LocalTime, Vec<u8>),
    Transmitted(TxToken),
    Timeout,
}

struct Slot<S: Suite> {
    station: Station<S>,
    /// What an operation takes here.
    cost: fn(&str) -> Duration,
    busy_until: Option<LocalTime>,
    waiting: VecDeque<Pending>,
    wake_at: Option<LocalTime>,
}

/// A frame as it was on the bus.
#[derive(Clone, Debug)]
pub struct Heard {
    pub from: usize,
    pub frame: CanFrame,
}

impl Heard {
    pub fn identifier(&self) -> Option<Identifier> {
        match self.frame.id() {
            CanId::Extended(id) => Identifier::from_can_id(id),
            CanId::Standard(_) => None,
        }
    }
}

/// What becomes of a frame for one receiver; `None` loses it.
pub type Fault = Box<dyn FnMut(&Heard, usize) -> Option<CanFrame>>;

/// Somebody between the bus and its stations who can do more to a frame than lose it.
pub trait Interference {
    /// What a station gets in place of a frame.
    fn deliver(&mut self, heard: &Heard, to: usize, is_busy: bool) -> Vec<CanFrame>;
    /// What is on the bus next, now that this was.
    fn answer(&mut self, heard: &Heard, is_busy: bool) -> Vec<CanFrame>;
}

/// A key that a station took into use.
#[derive(Clone, Copy, Debug)]
pub struct Installed {
    pub station: usize,
    pub epoch: u32,
    pub key: [u8; 16],
}

pub struct Bus<S: Suite> {
    slots: Vec<Slot<S>>,
    queue: VecDeque<(usize, Vec<u8>, Option<TxToken>)>,
    frame_until: Option<LocalTime>,
    pub now: LocalTime,
    pub heard: Vec<Heard>,
    pub events: Vec<(usize, Event)>,
    /// How often each operation was charged, by station.
    pub works: BTreeMap<(usize, &'static str), usize>,
    pub fault: Option<Fault>,
    pub interference: Option<std::rc::Rc<std::cell::RefCell<dyn Interference>>>,
    pub installed: Vec<Installed>,
    /// Stations look at frames while they compute; otherwise frames wait until that is done.
    pub looks_at_once: bool,
    /// The tree before anything happened.
    pub first_tree: Tree,
}

pub fn free(_: &str) -> Duration {
    Duration::ZERO
}

impl<S: Suite> Bus<S> {
    pub fn new(stations: Vec<Station<S>>) -> Self {
        let slot = |station| Slot { station, cost: free, busy_until: None, waiting: VecDeque::new(), wake_at: None };
        let Some(Station::Orchestrator(first)) = stations.first() else { panic!("station 0 is the orchestrator") };
        let first_tree = first.tree().clone();
        Self {
            first_tree,
            slots: stations.into_iter().map(slot).collect(),
            queue: VecDeque::new(),
            frame_until: None,
            now: LocalTime::ZERO,
            heard: Vec::new(),
            events: Vec::new(),
            works: BTreeMap::new(),
            fault: None,
            interference: None,
            installed: Vec::new(),
            looks_at_once: false,
        }
    }

    pub fn station(&self, index: usize) -> &Station<S> {
        &self.slots[index].station
    }

    pub fn len(&self) -> usize {
        self.slots.len()
    }

    pub fn set_cost(&mut self, index: usize, cost: fn(&str) -> Duration) {
        self.slots[index].cost = cost;
    }

    pub fn orchestrator(&self) -> &Orchestrator<S> {
        match &self.slots[0].station {
            Station::Orchestrator(node) => node,
            _ => panic!("station 0 is the orchestrator"),
        }
    }

    pub fn orchestrator_mut(&mut self) -> &mut Orchestrator<S> {
        match &mut self.slots[0].station {
            Station::Orchestrator(node) => node,
            _ => panic!("station 0 is the orchestrator"),
        }
    }

    pub fn member(&self, index: usize) -> &Member<S> {
        match &self.slots[index].station {
            Station::Member(node) => node,
            _ => panic!("station {index} is no member"),
        }
    }

    pub fn member_mut(&mut self, index: usize) -> &mut Member<S> {
        match &mut self.slots[index].station {
            Station::Member(node) => node,
            _ => panic!("station {index} is no member"),
        }
    }

    pub fn push(&mut self, station: Station<S>) -> usize {
        self.slots.push(Slot { station, cost: free, busy_until: None, waiting: VecDeque::new(), wake_at: None });
        self.slots.len() - 1
    }

    /// Puts another station in the place of one, whose power is gone and whose memory with it.
    pub fn replace(&mut self, index: usize, station: Station<S>) {
        let cost = self.slots[index].cost;
        self.slots[index] = Slot { station, cost, busy_until: None, waiting: VecDeque::new(), wake_at: None };
        self.start_one(index);
    }

    pub fn start(&mut self) {
        for index in 0..self.slots.len() {
            self.start_one(index);
        }
    }

    pub fn start_one(&mut self, index: usize) {
        let now = self.now;
        self.slots[index].station.node().handle_input(now, Input::Command(Command::Start)).unwrap();
        self.drain(index);
    }

    /// Tells a station that time has passed.
    pub fn wake(&mut self, index: usize) {
        self.give(index, Pending::Timeout);
    }

    pub fn into_stations(self) -> impl Iterator<Item = Station<S>> {
        self.slots.into_iter().map(|slot| slot.station)
    }

    /// Puts a frame on the bus that no station sent.
    pub fn inject(&mut self, frame: &CanFrame) {
        let mut bytes = [0; 72];
        let len = frame.emit(&mut bytes);
        self.queue.push_back((usize::MAX, bytes[..len].to_vec(), None));
    }

    fn give(&mut self, index: usize, input: Pending) {
        if self.slots[index].busy_until.is_some() && self.looks_at_once {
            self.handle(index, input);
        } else if self.slots[index].busy_until.is_some() {
            self.slots[index].waiting.push_back(input);
        } else {
            self.handle(index, input);
            self.drain(index);
        }
    }

    fn handle(&mut self, index: usize, input: Pending) {
        let now = self.now;
        let node = self.slots[index].station.node();
        let input = match &input {
            Pending::Frame(rx_at, bytes) => Input::Frame { port: PortId(0), rx_at: *rx_at, bytes },
            Pending::Transmitted(token) => Input::Transmitted { token: TxToken::new(token.id()), tx_at: now },
            Pending::Timeout => Input::Timeout,
        };
        node.handle_input(now, input).unwrap();
    }

    fn drain(&mut self, index: usize) {
        let mut frame = [0; 1536];
        loop {
            let now = self.now;
            match self.slots[index].station.node().poll_output(now, &mut frame) {
                Output::Work(work) => {
                    *self.works.entry((index, work.operation.0)).or_default() += 1;
                    let cost = (self.slots[index].cost)(work.operation.0);
                    if cost > Duration::ZERO {
                        self.slots[index].busy_until = Some(now + cost);
                        return;
                    }
                }
                Output::Transmit(transmit) => {
                    self.queue.push_back((index, frame[..transmit.len].to_vec(), transmit.token));
                }
                Output::Event(event) => {
                    self.events.push((index, event));
                    if event.kind == EventKind::KeyInstalled
                        && let Some(key) = self.slots[index].station.key()
                    {
                        self.installed.push(Installed { station: index, epoch: event.sequence as u32, key });
                    }
                }
                Output::Timeout(wake) => {
                    self.slots[index].wake_at = wake.map(|at| at.max(now));
                    return;
                }
                other => panic!("{other:?}"),
            }
        }
    }

    /// Runs until nothing happens before `until`.
    pub fn run(&mut self, until: Duration) {
        let until = LocalTime::ZERO + until;
        let mut same_instant = 0;
        loop {
            if self.frame_until.is_none() && !self.queue.is_empty() {
                self.frame_until = Some(self.now + FRAME_TIME);
            }
            let busy = self.slots.iter().filter_map(|slot| slot.busy_until);
            let wakes = self.slots.iter().filter(|slot| slot.busy_until.is_none()).filter_map(|slot| slot.wake_at);
            let Some(next) = busy.chain(wakes).chain(self.frame_until).min().filter(|next| *next <= until) else {
                self.now = self.now.max(until);
                return;
            };
            same_instant = if next == self.now { same_instant + 1 } else { 0 };
            assert!(same_instant < 10_000, "a node asks for the same wake-up again and again at {next}");
            self.now = next;
            if self.frame_until == Some(next) {
                self.frame_until = None;
                self.deliver();
                continue;
            }
            if let Some(index) = self.slots.iter().position(|slot| slot.busy_until == Some(next)) {
                self.slots[index].busy_until = None;
                self.drain(index);
                while self.slots[index].busy_until.is_none() {
                    let Some(input) = self.slots[index].waiting.pop_front() else { break };
                    self.handle(index, input);
                    self.drain(index);
                }
                continue;
            }
            let due = |slot: &Slot<S>| slot.busy_until.is_none() && slot.wake_at == Some(next);
            if let Some(index) = self.slots.iter().position(due) {
                self.slots[index].wake_at = None;
                self.give(index, Pending::Timeout);
            }
        }
    }

    fn deliver(&mut self) {
        let Some((from, bytes, token)) = self.queue.pop_front() else { return };
        let heard = Heard { from, frame: CanFrame::parse(&bytes).unwrap() };
        if let Some(token) = token {
            self.give(from, Pending::Transmitted(token));
        }
        let interference = self.interference.clone();
        let is_busy = self.orchestrator().is_busy();
        if let Some(interference) = &interference {
            for index in (0..self.slots.len()).filter(|index| *index != from) {
                let frames = interference.borrow_mut().deliver(&heard, index, is_busy);
                frames.iter().for_each(|frame| self.hand_over(index, frame));
            }
            for frame in interference.borrow_mut().answer(&heard, is_busy).iter().rev() {
                let mut bytes = [0; 72];
                let len = frame.emit(&mut bytes);
                self.queue.push_front((usize::MAX, bytes[..len].to_vec(), None));
            }
            self.heard.push(heard);
            return;
        }
        let mut fault = self.fault.take();
        for index in (0..self.slots.len()).filter(|index| *index != from) {
            let frame = match &mut fault {
                Some(fault) => fault(&heard, index),
                None => Some(heard.frame),
            };
            if let Some(frame) = frame {
                self.hand_over(index, &frame);
            }
        }
        self.fault = fault;
        self.heard.push(heard);
    }

    fn hand_over(&mut self, index: usize, frame: &CanFrame) {
        let mut bytes = [0; 72];
        let len = frame.emit(&mut bytes);
        self.give(index, Pending::Frame(self.now, bytes[..len].to_vec()));
    }

    // ---- what came of it

    /// Frames by step.
    pub fn frames(&self) -> BTreeMap<Step, u32> {
        let mut frames = BTreeMap::new();
        for heard in &self.heard {
            *frames.entry(heard.identifier().unwrap().step).or_default() += 1;
        }
        frames
    }

    pub fn keys(&self) -> BTreeSet<Option<[u8; 16]>> {
        self.slots.iter().map(|slot| slot.station.key()).collect()
    }

    /// The one key that all hold.
    #[track_caller]
    pub fn common_key(&self) -> [u8; 16] {
        let keys = self.keys();
        assert_eq!(keys.len(), 1, "{:?}\n{}", keys, self.story());
        keys.into_iter().next().unwrap().unwrap_or_else(|| panic!("nobody has a key\n{}", self.story()))
    }

    pub fn count(&self, kind: EventKind) -> usize {
        self.events.iter().filter(|(_, event)| event.kind == kind).count()
    }

    pub fn aborts(&self) -> Vec<(usize, Event)> {
        let is_abort = |event: &Event| matches!(event.kind, EventKind::ExchangeAborted(_) | EventKind::KeyRefused(_));
        self.events.iter().filter(|(_, event)| is_abort(event)).copied().collect()
    }

    fn story(&self) -> String {
        let lines: Vec<_> = self.aborts().iter().map(|(index, event)| format!("{index}: {event:x?}")).collect();
        format!("{} frames\n{}\n{:?}", self.heard.len(), lines.join("\n"), self.orchestrator().last_failure())
    }
}

// ---- networks

pub fn seed(purpose: u8, number: u8) -> [u8; SECRET_LEN] {
    let mut seed = [purpose; SECRET_LEN];
    seed[1] = number;
    seed
}

pub fn signing_key<S: Suite>(address: Address) -> S::SigningKey {
    S::signing_key(&seed(1, address.0))
}

/// The roster of `n` members with addresses from `first` on. Every third is more capable than the others.
pub fn roster<S: Suite>(lead: Address, first: u8, n: usize) -> Roster<S> {
    let public = |address| S::public_key(&signing_key::<S>(address));
    let mut roster = Roster::new(lead, 300, Some(public(lead).as_bytes())).unwrap();
    for number in 0..n {
        let address = Address(first + number as u8);
        let capability = if number % 3 == 1 { 300 } else { 133 };
        roster.add(address, capability, Some(public(address).as_bytes())).unwrap();
    }
    roster
}

pub fn config<S: Suite>(settings: Settings, roster: &Roster<S>, tree: &Tree, address: Address) -> NodeConfig<S> {
    NodeConfig {
        settings,
        address,
        signing_key: signing_key::<S>(address),
        roster: roster.clone(),
        tree: tree.clone(),
        seed: seed(2, address.0),
    }
}

/// A network of the orchestrator (station 0) and members with addresses 1 to n (stations 1 to n).
pub fn network<S: Suite>(settings: Settings, scheme: Scheme, n: usize) -> Bus<S> {
    network_of(settings, scheme, SpareNode::JoinsHigherLevel, n)
}

pub fn network_of<S: Suite>(settings: Settings, scheme: Scheme, spare: SpareNode, n: usize) -> Bus<S> {
    let roster = roster::<S>(LEAD, 1, n);
    let tree = Tree::new(&roster, scheme, spare).unwrap();
    Bus::new(stations(settings, &roster, &tree))
}

pub fn stations<S: Suite>(settings: Settings, roster: &Roster<S>, tree: &Tree) -> Vec<Station<S>> {
    let lead = roster.orchestrator().address;
    let orchestrator = Orchestrator::new(config(settings, roster, tree, lead)).unwrap();
    let mut stations = vec![Station::Orchestrator(Box::new(orchestrator))];
    for member in roster.members() {
        let member = Member::new(config(settings, roster, tree, member.address)).unwrap();
        stations.push(Station::Member(Box::new(member)));
    }
    stations
}
