//! A driver in virtual time that does to a node what it is told to.

use std::collections::VecDeque;
use std::ops::Range;

use super::failure::Breach;
use super::script::{Conduct, Deed, Heard, Script};
use chronoseal_core::node::FRAME_LEN_MAX;
use chronoseal_core::random::{self, ChaCha8Rng, Purpose, Rng};
use chronoseal_core::{
    Command, Duration, HandleError, Input, LocalTime, Node, Operation, Output, PortId, Transmit, TxToken, Work,
};

/// More outputs than this without a pause do not come to an end.
const OUTPUTS_MAX: usize = 100_000;
/// More wake-ups than this at one time, with nothing done, do not either.
const WAKES_MAX: usize = 8;
/// Seeds noise and early wake-ups.
const SEED: u64 = 1;
/// How far an input that has to be refused lies in the future.
const FAR: Duration = Duration::from_s(1);

/// What a driver does beside its duty.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Habits {
    /// Wakes at other times as well.
    pub(super) early: bool,
    /// Wakes twice after each input.
    pub(super) doubled: bool,
    /// Wakes so late.
    pub(super) late_by: Option<Duration>,
    /// Work takes so long.
    pub(super) work_takes: Option<Duration>,
    /// Before each input.
    pub(super) offers: Offers,
}

/// What is offered to a node beside the frames of its script.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Offers {
    #[default]
    Nothing,
    /// Inputs that have to be refused.
    Impossible,
    /// Random bytes.
    Noise,
    /// Frames of the script, changed.
    Mutations,
}

pub(super) struct Player<'a, N: Node + ?Sized> {
    node: &'a mut N,
    ports: Range<u16>,
    habits: Habits,
    rng: ChaCha8Rng,
    /// After these nothing has to follow; `None`: after no work.
    pub(super) silent: Option<&'static [Operation]>,
    pub(super) passes_on: bool,
    /// It must not send by itself any more.
    pub(super) stopped: bool,
    pub(super) now: LocalTime,
    /// Time of the last input.
    last: LocalTime,
    wake: Option<LocalTime>,
    next_frame: usize,
    /// Frames handed to the node.
    given: u64,
    wakes_in_vain: usize,
    tokens: VecDeque<TxToken>,
    buffer: Box<[u8]>,
    pub(super) conduct: Conduct,
}

impl<'a, N: Node + ?Sized> Player<'a, N> {
    pub(super) fn new(node: &'a mut N, ports: Range<u16>, habits: Habits) -> Self {
        Self {
            node,
            ports,
            habits,
            rng: random::stream(SEED, Purpose::Medium, 0),
            silent: None,
            passes_on: false,
            stopped: false,
            now: LocalTime::ZERO,
            last: LocalTime::ZERO,
            wake: None,
            next_frame: 0,
            given: 0,
            wakes_in_vain: 0,
            tokens: VecDeque::new(),
            buffer: vec![0; FRAME_LEN_MAX].into(),
            conduct: Conduct::default(),
        }
    }

    pub(super) fn into_conduct(self) -> Conduct {
        self.conduct
    }

    /// When the node wants to be woken, but not before now.
    pub(super) fn wakes_at(&self) -> Option<LocalTime> {
        self.wake.map(|at| at.max(self.now))
    }

    /// Starts the node and plays the script until `until`.
    pub(super) fn play(&mut self, script: &Script, until: LocalTime) -> Result<(), Breach> {
        self.command(LocalTime::ZERO, Command::Start)?;
        self.go_on(script, until)
    }

    /// Plays what is left of the script until `until`. A wake-up of the time of a frame comes before it.
    pub(super) fn go_on(&mut self, script: &Script, until: LocalTime) -> Result<(), Breach> {
        loop {
            let frame = script.frame(self.next_frame).filter(|frame| frame.at <= until);
            let limit = frame.map_or(until, |frame| frame.at).max(self.now);
            if let Some(at) = self.wakes_at().filter(|at| *at <= limit) {
                let late_by = self.habits.late_by.unwrap_or_default();
                self.wake_up((at + late_by).min(limit))?;
            } else if let Some(frame) = frame {
                self.next_frame += 1;
                self.offer(frame)?;
                self.frame(frame.at, frame.port, &frame.bytes)?;
            } else {
                return Ok(());
            }
        }
    }

    pub(super) fn command(&mut self, at: LocalTime, command: Command) -> Result<(), Breach> {
        self.give(at, || Input::Command(command))
    }

    fn wake_up(&mut self, at: LocalTime) -> Result<(), Breach> {
        if self.habits.offers == Offers::Impossible {
            self.offer_impossible(at)?;
        }
        let before = (self.conduct.deeds.len(), self.now);
        self.give(at, || Input::Timeout)?;
        let is_vain = before == (self.conduct.deeds.len(), self.now) && self.wakes_at() == Some(self.now);
        self.wakes_in_vain = if is_vain { self.wakes_in_vain + 1 } else { 0 };
        if self.wakes_in_vain > WAKES_MAX { Err(Breach::WokenInVain { at }) } else { Ok(()) }
    }

    /// Hands over a frame whose last bit came in at `at`, when the processor is free.
    pub(super) fn frame(&mut self, at: LocalTime, port: PortId, bytes: &[u8]) -> Result<(), Breach> {
        self.given += 1;
        self.give(at, || Input::Frame { port, rx_at: at, bytes })
    }

    /// Gives an input and carries out what comes of it.
    pub(super) fn give<'b>(&mut self, at: LocalTime, input: impl Fn() -> Input<'b>) -> Result<(), Breach> {
        let at = at.max(self.now);
        if self.habits.early && at > self.now {
            let span = (at - self.now).as_ps();
            let early = LocalTime::from_ps(self.now.as_ps() + random::uniform_i64(&mut self.rng, 0, span - 1));
            self.hand_over(early, Input::Timeout)?;
        }
        self.hand_over(at, input())?;
        while let Some(token) = self.tokens.pop_front() {
            self.hand_over(self.now, Input::Transmitted { token, tx_at: self.now })?;
        }
        if self.habits.doubled {
            self.hand_over(self.now, Input::Timeout)?;
            self.hand_over(self.now, Input::Timeout)?;
        }
        Ok(())
    }

    fn hand_over(&mut self, at: LocalTime, input: Input<'_>) -> Result<(), Breach> {
        let may_send = !self.stopped || self.passes_on && matches!(input, Input::Frame { .. });
        self.node.handle_input(at, input).map_err(|error| Breach::Refused { at, error })?;
        (self.now, self.last) = (at, at);
        self.drain(may_send)
    }

    /// Polls until the node waits, and once more.
    fn drain(&mut self, may_send: bool) -> Result<(), Breach> {
        let mut owed: Option<Work> = None;
        for _ in 0..OUTPUTS_MAX {
            let at = self.now;
            match self.node.poll_output(at, &mut self.buffer) {
                Output::Work(work) => {
                    owed = Some(work);
                    self.now = at + self.habits.work_takes.unwrap_or_default();
                    self.conduct.deeds.push((at, Deed::Work(work)));
                }
                Output::Event(event) => {
                    owed = None;
                    self.conduct.deeds.push((at, Deed::Event(event)));
                }
                Output::Transmit(transmit) => {
                    owed = None;
                    if !may_send {
                        return Err(Breach::SentAfterStop { at });
                    }
                    self.note(transmit)?;
                }
                Output::Timeout(wake) => {
                    self.wake = wake;
                    let is_silent = |work: &Work| self.silent.is_none_or(|silent| silent.contains(&work.operation));
                    return match owed.filter(|work| !is_silent(work)) {
                        Some(work) => Err(Breach::WorkWithoutEffect { at, operation: work.operation.0 }),
                        None => self.expect_no_change(),
                    };
                }
                _ => panic!("an output that this suite does not know"),
            }
        }
        Err(Breach::Endless { at: self.now })
    }

    fn note(&mut self, transmit: Transmit) -> Result<(), Breach> {
        let at = self.now;
        let Transmit { port, priority, launch_at, len, token } = transmit;
        let origins = self.node.origins().to_vec();
        if let Some(origin) = origins.iter().copied().find(|origin| *origin >= self.given) {
            return Err(Breach::UnknownOrigin { at, origin, given: self.given });
        }
        let bytes = self.buffer[..len].to_vec();
        let id = token.as_ref().map(TxToken::id);
        self.tokens.extend(token);
        self.conduct.deeds.push((at, Deed::Transmit { port, priority, launch_at, bytes, token: id, origins }));
        Ok(())
    }

    /// Another poll says the same.
    fn expect_no_change(&mut self) -> Result<(), Breach> {
        match self.node.poll_output(self.now, &mut self.buffer) {
            Output::Timeout(wake) if wake == self.wake => Ok(()),
            output => {
                let output = format!("{output:?}");
                Err(Breach::ChangedItsMind { at: self.now, wanted: self.wake, output })
            }
        }
    }

    /// Offers something before a frame of the script.
    fn offer(&mut self, frame: &Heard) -> Result<(), Breach> {
        match self.habits.offers {
            Offers::Nothing => Ok(()),
            Offers::Impossible => self.offer_impossible(frame.at),
            Offers::Noise => self.ports.clone().try_for_each(|port| {
                let len_max = if self.rng.next_u32().is_multiple_of(4) { FRAME_LEN_MAX } else { 96 };
                let mut bytes = vec![0; self.rng.next_u32() as usize % (len_max + 1)];
                self.rng.fill_bytes(&mut bytes);
                self.frame(frame.at, PortId(port), &bytes)
            }),
            Offers::Mutations => {
                let mut bytes = frame.bytes.clone();
                match self.rng.next_u32() % 4 {
                    0 => bytes.truncate(self.rng.next_u32() as usize % (bytes.len() + 1)),
                    1 => bytes.push(self.rng.next_u32() as u8),
                    _ if bytes.is_empty() => {}
                    _ => {
                        let place = self.rng.next_u32() as usize % bytes.len();
                        bytes[place] ^= 1 << (self.rng.next_u32() % 8);
                    }
                }
                self.frame(frame.at, frame.port, &bytes)
            }
        }
    }

    /// Inputs that the node has to refuse, before a legal one at `at`.
    fn offer_impossible(&mut self, at: LocalTime) -> Result<(), Breach> {
        let at = at.max(self.now);
        let unknown = [self.ports.start.checked_sub(1), Some(self.ports.end)].into_iter().flatten().map(PortId);
        for port in unknown {
            for now in [at, at + FAR] {
                let input = Input::Frame { port, rx_at: at, bytes: &[0x5a; 60] };
                self.expect_refusal(now, input, HandleError::UnknownPort(port))?;
            }
        }
        let now = self.last - Duration::from_ps(1);
        let backwards = HandleError::TimeRanBackwards { last: self.last, now };
        let port = PortId(self.ports.start);
        self.expect_refusal(now, Input::Timeout, backwards)?;
        self.expect_refusal(now, Input::Command(Command::Stop), backwards)?;
        self.expect_refusal(now, Input::Frame { port, rx_at: now, bytes: &[0x5a; 60] }, backwards)
    }

    fn expect_refusal(&mut self, now: LocalTime, input: Input<'_>, expected: HandleError) -> Result<(), Breach> {
        let answer = self.node.handle_input(now, input);
        if answer != Err(expected) {
            return Err(Breach::NotRefused { at: now, expected, answer });
        }
        self.expect_no_change()
    }
}
