//! A test station: plays a behaviour, and watches what its driver does.

use core::fmt;
use std::collections::VecDeque;

use chronoseal_core::node::FRAME_LEN_MAX;
use chronoseal_core::{
    Command, DiscardReason, Event, EventKind, HandleError, Input, LocalTime, Node, Operation, Output, PortId, Priority,
    StreamId, Transmit, TxToken, Work,
};

/// A rule of the seam that only the driver can break. A station tells a breach as an event of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Rule {
    /// [`Command::Start`] is the first input and comes once.
    StartFirst,
    /// No input before the outputs of the last one were drained until [`Output::Timeout`].
    DrainUntilTimeout,
    /// `now` never runs backwards.
    TimeRunsForward,
    /// A transmit token comes back once.
    TokenOnce,
    /// A frame does not leave before its `launch_at`.
    NotBeforeLaunch,
    /// What is reported has happened: `rx_at` and `tx_at` are not after `now`.
    NoFuture,
    /// The buffer for an outgoing frame holds [`FRAME_LEN_MAX`] bytes.
    RoomForAFrame,
    /// [`Command::Stop`] comes once.
    StopOnce,
}

impl Rule {
    const ALL: [Self; 8] = [
        Self::StartFirst,
        Self::DrainUntilTimeout,
        Self::TimeRunsForward,
        Self::TokenOnce,
        Self::NotBeforeLaunch,
        Self::NoFuture,
        Self::RoomForAFrame,
        Self::StopOnce,
    ];

    /// No case tells such an event otherwise: a malformed frame of no stream.
    fn breach(self) -> Event {
        Event::of(EventKind::Discarded(DiscardReason::Malformed), StreamId::NONE, self as u64)
    }

    /// The rule whose breach `event` tells, if it does.
    pub fn of(event: &Event) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.breach() == *event)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::StartFirst => "Command::Start is the first input and comes once",
            Self::DrainUntilTimeout => "outputs are drained until Timeout before the next input",
            Self::TimeRunsForward => "now never runs backwards",
            Self::TokenOnce => "a transmit token comes back once",
            Self::NotBeforeLaunch => "no frame leaves before its launch_at",
            Self::NoFuture => "rx_at and tx_at are not after now",
            Self::RoomForAFrame => "the frame buffer holds FRAME_LEN_MAX bytes",
            Self::StopOnce => "Command::Stop comes once",
        })
    }
}

/// What a test station does with its inputs. Effects go to the outbox.
pub(super) trait Behaviour: Send {
    fn start(&mut self, _now: LocalTime, _out: &mut Outbox) {}
    fn frame(&mut self, _now: LocalTime, _port: PortId, _rx_at: LocalTime, _bytes: &[u8], _out: &mut Outbox) {}
    fn transmitted(&mut self, _token: u64, _out: &mut Outbox) {}
    fn timeout(&mut self, _now: LocalTime, _out: &mut Outbox) {}
    fn stop(&mut self, _out: &mut Outbox) {}
    fn wake_at(&self) -> Option<LocalTime> {
        None
    }
}

/// Effects waiting to be polled.
#[derive(Default)]
pub(super) struct Outbox(VecDeque<Effect>);

enum Effect {
    Work { iterations: u32 },
    Transmit { port: PortId, launch_at: LocalTime, token: Option<u64>, bytes: Vec<u8> },
    Event(Event),
}

impl Outbox {
    /// Real computation, so that it takes time under any driver: about a nanosecond an iteration, optimised.
    pub(super) fn work(&mut self, iterations: u32) {
        self.0.push_back(Effect::Work { iterations });
    }
    pub(super) fn transmit(&mut self, port: PortId, launch_at: LocalTime, token: Option<u64>, bytes: Vec<u8>) {
        self.0.push_back(Effect::Transmit { port, launch_at, token, bytes });
    }
    pub(super) fn event(&mut self, kind: EventKind, sequence: u64) {
        self.0.push_back(Effect::Event(Event::of(kind, StreamId(0), sequence)));
    }
}

/// A behaviour behind the seam.
pub(super) struct Station<B> {
    behaviour: B,
    out: Outbox,
    breaches: VecDeque<Rule>,
    open_tokens: Vec<(u64, LocalTime)>,
    last: Option<LocalTime>,
    stopped: bool,
    draining: bool,
    /// The computation told in the last poll, performed in the next.
    pending_work: u32,
}

impl<B: Behaviour> Station<B> {
    pub(super) fn new(behaviour: B) -> Self {
        Self {
            behaviour,
            out: Outbox::default(),
            breaches: VecDeque::new(),
            open_tokens: Vec::new(),
            last: None,
            stopped: false,
            draining: false,
            pending_work: 0,
        }
    }

    fn check(&mut self, holds: bool, rule: Rule) {
        if !holds {
            self.breaches.push_back(rule);
        }
    }
}

impl<B: Behaviour> Node for Station<B> {
    fn handle_input(&mut self, now: LocalTime, input: Input<'_>) -> Result<(), HandleError> {
        let is_start = matches!(input, Input::Command(Command::Start));
        self.check(is_start == self.last.is_none(), Rule::StartFirst);
        self.check(!self.draining, Rule::DrainUntilTimeout);
        self.check(self.last.is_none_or(|last| last <= now), Rule::TimeRunsForward);
        self.last = Some(now);
        self.draining = true;
        match input {
            Input::Command(Command::Start) => self.behaviour.start(now, &mut self.out),
            Input::Command(Command::Stop) => {
                self.check(!self.stopped, Rule::StopOnce);
                self.stopped = true;
                self.behaviour.stop(&mut self.out);
            }
            Input::Frame { port, rx_at, bytes } => {
                self.check(rx_at <= now, Rule::NoFuture);
                self.behaviour.frame(now, port, rx_at, bytes, &mut self.out);
            }
            Input::Transmitted { token, tx_at } => {
                let open = self.open_tokens.iter().position(|(id, _)| *id == token.id());
                self.check(open.is_some(), Rule::TokenOnce);
                if let Some(index) = open {
                    let (_, launch_at) = self.open_tokens.swap_remove(index);
                    self.check(launch_at <= tx_at, Rule::NotBeforeLaunch);
                    self.check(tx_at <= now, Rule::NoFuture);
                    self.behaviour.transmitted(token.id(), &mut self.out);
                }
            }
            Input::Dropped { token } => {
                let open = self.open_tokens.iter().position(|(id, _)| *id == token.id());
                self.check(open.is_some(), Rule::TokenOnce);
                open.map(|index| self.open_tokens.swap_remove(index));
            }
            Input::Timeout => self.behaviour.timeout(now, &mut self.out),
            _ => panic!("an input that this suite does not know"),
        }
        Ok(())
    }

    fn poll_output(&mut self, now: LocalTime, frame: &mut [u8]) -> Output {
        self.check(self.last.is_none_or(|last| last <= now), Rule::TimeRunsForward);
        self.last = self.last.max(Some(now));
        compute(core::mem::take(&mut self.pending_work));
        if let Some(rule) = self.breaches.pop_front() {
            return Output::Event(rule.breach());
        }
        match self.out.0.pop_front() {
            Some(Effect::Work { iterations }) => {
                self.pending_work = iterations;
                Output::Work(Work::of(Operation("conformance"), iterations))
            }
            Some(Effect::Transmit { port, launch_at, token, bytes }) => {
                self.check(frame.len() >= FRAME_LEN_MAX, Rule::RoomForAFrame);
                frame[..bytes.len()].copy_from_slice(&bytes);
                if let Some(id) = token {
                    self.open_tokens.push((id, launch_at));
                }
                let token = token.map(TxToken::new);
                Output::Transmit(Transmit { port, priority: Priority(0), launch_at, len: bytes.len(), token })
            }
            Some(Effect::Event(event)) => Output::Event(event),
            None => {
                self.draining = false;
                Output::Timeout(if self.stopped { None } else { self.behaviour.wake_at() })
            }
        }
    }
}

fn compute(iterations: u32) {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..iterations {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    core::hint::black_box(state);
}
