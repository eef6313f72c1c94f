//! A node with several interfaces, which passes streams on from one segment to another.
//!
//! Each interface is a [`Stack`]: a station of its segment's kind that hands over what goes on from here and sends what it
//! is given. The gateway routes between them. All share one processor, so work of one delays the others; passing a PDU on is
//! work of its own, of a length that the gateway is given.
//!
//! What protects a stream end to end passes as it is. What protects it on one hop is taken off by the stack it comes in at, and
//! put on by the stack it leaves at. A gateway can start anew in the middle of a run, and an attacker can sit in it.
//!
//! PDUs of several streams can leave in one frame, [`CollectConfig`]: each is passed on as any other, and then waits until the
//! frame is full or it has waited long enough. What a gateway that starts anew has collected is lost, like all it holds.
//!
//! Frames that belong to no stream, such as those of a key exchange or of a recording, pass whole where the gateway bridges
//! them: in routes they are [`StreamId::NONE`].

mod attack;
mod collect;
mod stack;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};

use chronoseal_core::oscillator::RateDeviation;
use chronoseal_core::{
    Command, DiscardReason, Duration, Event, EventKind, FramePart, HandleError, Input, LocalTime, Node, NodeBase,
    Operation, Output, PortId, StreamId, Transmit, TxToken, Work,
};

pub use self::attack::RelayAttack;
use self::attack::{Campaign, Passing};
pub use self::collect::CollectConfig;
use self::collect::{Collector, Part};
pub use self::stack::{Attempt, HandOver, Mark, Pdu, Stack, number_of};

/// What a platform's profile calls passing a PDU on. Its length is the gateway's own.
pub const RELAY: Operation = Operation("relay");

/// Bytes of the sequence number at the front of a PDU.
pub const SEQUENCE_LEN: usize = 4;

/// What a gateway is made from, beside its stacks.
#[derive(Clone, Debug, Default)]
pub struct GatewayConfig {
    /// Where streams go on.
    pub routes: Vec<Route>,
    /// Which of them leave in frames with others.
    pub collects: Vec<CollectConfig>,
    /// Processor time for passing a PDU on to one segment.
    pub delay: Duration,
    /// So many PDUs for one port may wait for the processor; 0 for any number.
    pub waiting_max: usize,
    /// When it starts anew, from the start of the run, and how long that takes.
    pub reboot: Option<(Duration, Duration)>,
    /// What an attacker in it does.
    pub attacks: Vec<RelayAttack>,
    /// Stacks that have a second port, in the order of these ports, which follow those of all stacks.
    pub second_ports: Vec<PortId>,
    /// Its own streams at further ports that they leave at: what becomes of a frame at its sender is told at the first.
    pub sent_also: Vec<(StreamId, PortId)>,
}

/// Where a stream goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Route {
    /// Which stream; [`StreamId::NONE`] for frames that belong to none.
    pub stream: StreamId,
    /// The port it comes in at.
    pub from: PortId,
    /// A port it leaves at; one route for each.
    pub to: PortId,
}

/// A node with several interfaces: port `k` is that of `stacks[k]`, and behind them come second ports.
pub struct Gateway {
    base: NodeBase<VecDeque<Event>>,
    config: GatewayConfig,
    stacks: Vec<Box<dyn Stack + Send>>,
    /// PDUs and the ports they leave at, in order.
    passing: VecDeque<(Pdu, usize)>,
    /// The one whose work has been charged.
    at_work: Option<(Pdu, usize)>,
    /// The stack whose work has been charged: the next poll is its own.
    working: Option<usize>,
    campaigns: Vec<Campaign>,
    collectors: Vec<Collector>,
    /// What is in containers that their stacks have not sent yet.
    leaving: BTreeMap<(StreamId, u64), Vec<Part>>,
    /// A frame that waits until the attacks in it have been told.
    held: Option<Held>,
    /// Of the frame given last.
    origins: Vec<u64>,
    /// What is in the frame given last, if it is a container.
    parts: Vec<FramePart>,
    /// What it was asked to tell a stack of: its own number, the stack, the stack's token.
    tokens: Vec<(u64, usize, TxToken)>,
    tokens_given: u64,
    /// Frames handed to this node so far.
    inputs: u64,
    life: Life,
    /// Frames of its own that are due while it starts anew, and those that it had not sent by then: which stream, when they are due.
    given_up: VecDeque<(StreamId, LocalTime)>,
}

/// A frame that waits, and what is told before it leaves.
struct Held {
    transmit: Transmit,
    bytes: Vec<u8>,
    events: VecDeque<Event>,
}

/// Whether it is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Life {
    /// Not started, or stopped.
    Off,
    /// It works, and starts anew at a time if it does.
    On { reboots_at: Option<LocalTime> },
    /// It starts anew, and is there again at a time.
    Away { until: LocalTime },
}

impl Gateway {
    /// A node made of `stacks`.
    pub fn new(config: GatewayConfig, stacks: Vec<Box<dyn Stack + Send>>) -> Self {
        let campaigns = config.attacks.iter().copied().map(Campaign::new).collect();
        let collectors = config.collects.iter().cloned().map(Collector::new).collect();
        Self {
            base: NodeBase::new(0..(stacks.len() + config.second_ports.len()) as u16).giving_tokens(),
            config,
            stacks,
            passing: VecDeque::new(),
            at_work: None,
            working: None,
            campaigns,
            collectors,
            leaving: BTreeMap::new(),
            held: None,
            origins: Vec::new(),
            parts: Vec::new(),
            tokens: Vec::new(),
            tokens_given: 0,
            inputs: 0,
            life: Life::Off,
            given_up: VecDeque::new(),
        }
    }

    fn command(&mut self, now: LocalTime, command: Command) -> Result<(), HandleError> {
        if command == Command::Start {
            self.life = Life::On { reboots_at: self.config.reboot.map(|(at, _)| now + at) };
            for campaign in &mut self.campaigns {
                campaign.start(now);
            }
        } else {
            self.life = Life::Off;
            self.campaigns.iter_mut().for_each(Campaign::stop);
            self.collectors.iter_mut().for_each(Collector::drop_all);
        }
        self.all_stacks(now, || Input::Command(command))
    }

    /// An input for every stack.
    fn all_stacks(&mut self, now: LocalTime, input: impl Fn() -> Input<'static>) -> Result<(), HandleError> {
        self.stacks.iter_mut().try_for_each(|stack| stack.handle_input(now, input()))
    }

    /// Goes away, or comes back, if it is time.
    fn live(&mut self, now: LocalTime) {
        match self.life {
            Life::On { reboots_at: Some(at) } if at <= now => {
                let takes = self.config.reboot.map_or(Duration::ZERO, |(_, takes)| takes);
                let until = at + takes;
                self.life = Life::Away { until };
                self.passing.clear();
                self.collectors.iter_mut().for_each(Collector::clear);
                self.leaving.clear();
                (self.at_work, self.working, self.held) = (None, None, None);
                self.base.clear();
                // A stack that is started again has frames due from then on.
                let last = until - Duration::from_ps(1);
                for stack in &mut self.stacks {
                    self.given_up.extend(std::iter::from_fn(|| stack.owed(last)));
                    stack.restart(now);
                }
                self.live(now);
            }
            Life::Away { until } if until <= now => {
                self.life = Life::On { reboots_at: None };
                let takes = self.config.reboot.map_or(Duration::ZERO, |(_, takes)| takes);
                let event = Event { value: takes.as_ps(), ..Event::of(EventKind::Rebooted, StreamId::NONE, 0) };
                self.base.push(event);
                // Stacks that wait for their start take it at any time.
                let started = self.all_stacks(now, || Input::Command(Command::Start));
                debug_assert_eq!(started, Ok(()), "time has not run backwards");
            }
            _ => {}
        }
    }

    /// The stack behind a port, and the port of that stack.
    fn inside(&self, port: PortId) -> (usize, PortId) {
        match port.index().checked_sub(self.stacks.len()) {
            None => (port.index(), PortId(0)),
            Some(second) => (self.config.second_ports[second].index(), PortId(1)),
        }
    }

    /// The port of the gateway behind which a port of a stack is.
    fn outside(&self, stack: usize, port: PortId) -> PortId {
        let is_second = |first: &PortId| port != PortId(0) && first.index() == stack;
        let place = self.config.second_ports.iter().position(is_second).map(|second| self.stacks.len() + second);
        PortId(place.unwrap_or(stack) as u16)
    }

    /// Takes what the stack of a port hands over, and what is made up of it.
    fn take_handed(&mut self, port: usize) {
        while let Some(mut pdu) = self.stacks[port].take() {
            pdu.mark.origin = self.inputs.checked_sub(1).filter(|_| !pdu.mark.is_own);
            self.route(pdu, Some(port));
        }
    }

    /// Queues a PDU for every port it leaves at. One that was made up here comes in nowhere, and goes wherever its stream goes.
    /// Nothing goes on from a gateway that was stopped.
    fn route(&mut self, pdu: Pdu, from: Option<usize>) {
        if self.life == Life::Off {
            return;
        }
        for route in &self.config.routes {
            if route.stream != pdu.stream || from.is_some_and(|from| from != usize::from(route.from.0)) {
                continue;
            }
            let to = usize::from(route.to.0);
            let waiting = || self.passing.iter().filter(|(_, port)| *port == to).count();
            if self.config.waiting_max > 0 && waiting() >= self.config.waiting_max {
                let full = Event::of(EventKind::Discarded(DiscardReason::QueueFull), pdu.stream, pdu.sequence);
                self.base.push(at_port(full, to));
            } else {
                self.passing.push_back((pdu.clone(), to));
            }
        }
    }

    fn make_up(&mut self, now: LocalTime) {
        let made_up: Vec<Pdu> = self.campaigns.iter_mut().filter_map(|campaign| campaign.make_up(now)).collect();
        for pdu in made_up {
            self.route(pdu, None);
        }
    }

    /// Gives a PDU to the stack it leaves at, or to the attacker first.
    fn pass_on(&mut self, now: LocalTime, pdu: Pdu, port: usize) {
        let stream = pdu.stream;
        let mut pdu = pdu;
        for campaign in self.campaigns.iter_mut().filter(|campaign| campaign.attack.stream == stream) {
            if pdu.mark.attack.is_some() {
                break;
            }
            match campaign.meet(now, pdu) {
                Passing::On(passed) => pdu = passed,
                Passing::Kept(attempt) => return self.base.push(attempt.event()),
            }
        }
        self.hand_to(now, port, pdu);
    }

    /// A stack's frame leaves; one with an attack in it when that has been told.
    fn transmit(&mut self, port: usize, mut transmit: Transmit, frame: &[u8]) -> Output {
        transmit.port = self.outside(port, transmit.port);
        transmit.token = transmit.token.map(|token| {
            self.tokens_given += 1;
            self.tokens.push((self.tokens_given, port, token));
            TxToken::new(self.tokens_given)
        });
        let mark = self.stacks[port].take_sent().unwrap_or_default();
        let parts = mark.container.and_then(|container| self.leaving.remove(&container)).unwrap_or_default();
        let part = |part: &Part| FramePart {
            stream: part.stream,
            origin: part.mark.origin,
            attack: part.mark.attack.map(|attempt| attempt.kind),
        };
        self.parts.clear();
        self.parts.extend(parts.iter().map(part));
        self.origins.clear();
        self.origins.extend(mark.origin.into_iter().chain(parts.iter().filter_map(|part| part.mark.origin)));
        let attempts = mark.attack.into_iter().chain(parts.iter().filter_map(|part| part.mark.attack));
        let mut events: VecDeque<Event> = attempts.map(|attempt| attempt.event()).collect();
        let Some(first) = events.pop_front() else { return Output::Transmit(transmit) };
        self.held = Some(Held { transmit, bytes: frame.to_vec(), events });
        Output::Event(first)
    }

    /// True of what another port tells of a frame of this node's own.
    fn is_told_at_another(&self, event: &Event, port: usize) -> bool {
        matches!(event.kind, EventKind::Sent | EventKind::Withheld)
            && self.config.sent_also.iter().any(|(stream, at)| *stream == event.stream && at.index() == port)
    }

    /// What a stack wants, or else when it wants to be woken.
    fn poll_stack(&mut self, port: usize, now: LocalTime, frame: &mut [u8]) -> Result<Output, Option<LocalTime>> {
        match self.stacks[port].poll_output(now, frame) {
            Output::Work(work) => {
                self.working = Some(port);
                Ok(Output::Work(work))
            }
            Output::Transmit(transmit) => {
                let len = transmit.len;
                Ok(self.transmit(port, transmit, &frame[..len]))
            }
            Output::Timeout(at) => {
                self.take_handed(port);
                Err(at)
            }
            Output::Event(event) if self.is_told_at_another(&event, port) => self.poll_stack(port, now, frame),
            Output::Event(event) => Ok(Output::Event(self.tell(event, port))),
            output => Ok(output),
        }
    }

    /// The next effect of any part, or when the first of them wants to be woken.
    fn poll_parts(&mut self, now: LocalTime, frame: &mut [u8]) -> Output {
        loop {
            let mut wake = None;
            for port in 0..self.stacks.len() {
                match self.poll_stack(port, now, frame) {
                    Ok(output) => return output,
                    Err(at) => wake = earlier(wake, at),
                }
            }
            if let Some(output) = self.base.next(now, frame) {
                return output;
            }
            self.make_up(now);
            if self.send_collected(now) {
                continue;
            }
            let Some((pdu, port)) = self.passing.pop_front() else {
                return Output::Timeout(earlier(wake, self.wakes_at()));
            };
            if self.config.delay > Duration::ZERO {
                self.at_work = Some((pdu, port));
                return Output::Work(Work::declared(RELAY, self.config.delay));
            }
            self.pass_on(now, pdu, port);
        }
    }

    /// When it wants to be woken beside its stacks.
    fn wakes_at(&self) -> Option<LocalTime> {
        let reboots_at = match self.life {
            Life::On { reboots_at } => reboots_at,
            Life::Off | Life::Away { .. } => None,
        };
        let collected = self.collectors.iter().filter_map(Collector::due);
        let wakes = self.campaigns.iter().filter_map(Campaign::wakes_at).chain(collected);
        wakes.fold(reboots_at, |wake, at| earlier(wake, Some(at)))
    }
}

/// An event of what was thrown away behind a port, which it names.
fn at_port(event: Event, port: usize) -> Event {
    match event.kind {
        EventKind::Discarded(_) | EventKind::Withheld if event.value == 0 => Event { value: port as i64 + 1, ..event },
        _ => event,
    }
}

fn earlier(a: Option<LocalTime>, b: Option<LocalTime>) -> Option<LocalTime> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

impl Node for Gateway {
    fn handle_input(&mut self, now: LocalTime, input: Input<'_>) -> Result<(), HandleError> {
        self.base.admit(now, &input)?;
        self.live(now);
        let is_away = matches!(self.life, Life::Away { .. });
        match input {
            Input::Frame { port, rx_at, bytes } => {
                self.inputs += 1;
                match is_away {
                    true => Ok(()),
                    false => {
                        let (stack, port) = self.inside(port);
                        self.stacks[stack].handle_input(now, Input::Frame { port, rx_at, bytes })
                    }
                }
            }
            Input::Transmitted { token, tx_at } => {
                let place = self.tokens.iter().position(|(known, ..)| *known == token.id());
                let (_, port, token) = self.tokens.swap_remove(place.ok_or(HandleError::UnknownToken(token.id()))?);
                self.stacks[port].handle_input(now, Input::Transmitted { token, tx_at })
            }
            Input::Dropped { token } => {
                let place = self.tokens.iter().position(|(known, ..)| *known == token.id());
                let (_, port, token) = self.tokens.swap_remove(place.ok_or(HandleError::UnknownToken(token.id()))?);
                self.stacks[port].handle_input(now, Input::Dropped { token })
            }
            Input::Command(command) => self.command(now, command),
            _ if is_away => Ok(()),
            _ => self.all_stacks(now, || Input::Timeout),
        }
    }

    fn poll_output(&mut self, now: LocalTime, frame: &mut [u8]) -> Output {
        self.live(now);
        if let Life::Away { until } = self.life {
            return Output::Timeout(Some(until));
        }
        if let Some(held) = &mut self.held
            && let Some(event) = held.events.pop_front()
        {
            return Output::Event(event);
        }
        if let Some(Held { transmit, bytes, .. }) = self.held.take() {
            frame[..bytes.len()].copy_from_slice(&bytes);
            return Output::Transmit(transmit);
        }
        if let Some(output) = self.base.next(now, frame) {
            return output;
        }
        if self.at_work.is_some() || self.working.is_some() {
            self.stacks.iter_mut().for_each(|stack| stack.has_waited(now));
        }
        if let Some((pdu, port)) = self.at_work.take() {
            self.pass_on(now, pdu, port);
        }
        if let Some(port) = self.working.take()
            && let Ok(output) = self.poll_stack(port, now, frame)
        {
            return output;
        }
        self.poll_parts(now, frame)
    }

    fn origins(&self) -> &[u64] {
        &self.origins
    }

    fn parts(&self) -> &[FramePart] {
        &self.parts
    }

    fn shown_time(&self, port: PortId, now: LocalTime) -> Option<(LocalTime, RateDeviation)> {
        if matches!(self.life, Life::Away { .. }) {
            return None;
        }
        let (stack, port) = self.inside(port);
        self.stacks[stack].shown_time(port, now)
    }

    fn owed(&mut self, now: LocalTime) -> Option<(StreamId, LocalTime)> {
        if let Some(place) = self.given_up.iter().position(|(_, due)| *due <= now) {
            return self.given_up.remove(place);
        }
        if matches!(self.life, Life::Away { .. }) {
            return None;
        }
        self.stacks.iter_mut().find_map(|stack| stack.owed(now))
    }
}
