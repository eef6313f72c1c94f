//! The suite finds what it looks for: a node for each way to break the contract.

use std::cell::Cell;
use std::collections::VecDeque;

use super::*;
use chronoseal_core::{
    DiscardReason, Event, EventKind, HandleError, Input, LocalTime, NodeBase, Output, PortId, Priority, StreamId,
    Transmit, Work,
};

/// What is wrong with a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Flaw {
    None,
    TakesAnyPort,
    TakesAnyTime,
    NotesRefusedTime,
    CountsRefusedFrames,
    ActsOnEarlyWake,
    ActsOnDoubledWake,
    ForgetsLateTick,
    ForgetsDuringWork,
    AnnouncesWorkForNothing,
    InventsOrigins,
    SendsAfterStop,
    AnswersAfterStop,
    StopsAtBadFrame,
    RefusesBadFrame,
    RefusesChangedFrame,
    WantsToBeWokenInVain,
    ChangesItsMind,
    NeverEnds,
    ActsByChance,
}

const TICK: Duration = Duration::from_ms(10);
const MARK: u8 = 0x5a;

/// Sends every 10 ms, and answers every frame that begins with [`MARK`].
struct Echo<'a> {
    flaw: Flaw,
    base: NodeBase<VecDeque<Event>>,
    frames: u64,
    /// Number and second byte of frames to answer.
    answers: VecDeque<(u64, u8)>,
    at_work: Option<(u64, u8, LocalTime)>,
    tick: Option<LocalTime>,
    ticks: u64,
    origin: Option<u64>,
    chance: &'a Cell<u64>,
}

impl<'a> Echo<'a> {
    fn new(flaw: Flaw, chance: &'a Cell<u64>) -> Self {
        chance.set(chance.get() + 1);
        Self {
            flaw,
            base: NodeBase::new(0..2),
            frames: 0,
            answers: VecDeque::new(),
            at_work: None,
            tick: None,
            ticks: 0,
            origin: None,
            chance,
        }
    }

    fn hear(&mut self, bytes: &[u8]) {
        let number = self.frames;
        self.frames += 1;
        let bad = Event::of(EventKind::Discarded(DiscardReason::Malformed), StreamId::NONE, 0);
        match bytes.first() {
            Some(&MARK) if self.tick.is_some() || self.flaw == Flaw::AnswersAfterStop => {
                self.answers.push_back((number, bytes.get(1).copied().unwrap_or_default()));
            }
            Some(&MARK) => {}
            _ if self.flaw == Flaw::StopsAtBadFrame => self.tick = None,
            _ => self.base.push(bad),
        }
    }

    fn transmit(&self, number: u64, now: LocalTime, frame: &mut [u8]) -> Output {
        let chance = if self.flaw == Flaw::ActsByChance { self.chance.get() } else { 0 };
        frame[..16].copy_from_slice(&[number.to_be_bytes(), chance.to_be_bytes()].concat());
        Output::Transmit(Transmit { port: PortId(0), priority: Priority(0), launch_at: now, len: 16, token: None })
    }
}

impl Node for Echo<'_> {
    fn handle_input(&mut self, now: LocalTime, input: Input<'_>) -> Result<(), HandleError> {
        match self.base.clone().admit(now, &input) {
            Err(HandleError::UnknownPort(_)) if self.flaw == Flaw::TakesAnyPort => return Ok(()),
            Err(HandleError::TimeRanBackwards { .. }) if self.flaw == Flaw::TakesAnyTime => return Ok(()),
            Err(HandleError::UnknownPort(_)) if self.flaw == Flaw::NotesRefusedTime => {
                self.base.admit(now, &Input::Timeout)?;
            }
            Err(HandleError::UnknownPort(_)) if self.flaw == Flaw::CountsRefusedFrames => self.frames += 1,
            _ => {}
        }
        self.base.admit(now, &input)?;
        match input {
            Input::Command(Command::Start) => self.tick = Some(now + TICK),
            Input::Command(_) if self.flaw == Flaw::SendsAfterStop => {}
            Input::Command(_) => self.tick = None,
            Input::Frame { port, bytes, .. } => {
                if self.flaw == Flaw::RefusesBadFrame && bytes.first() != Some(&MARK) {
                    return Err(HandleError::UnknownPort(port));
                }
                let is_changed = match bytes {
                    [first, _] => (first ^ MARK).is_power_of_two(),
                    _ => bytes.first() == Some(&MARK),
                };
                if self.flaw == Flaw::RefusesChangedFrame && is_changed {
                    return Err(HandleError::UnknownPort(port));
                }
                self.hear(bytes);
            }
            Input::Timeout if self.flaw == Flaw::ActsOnEarlyWake => {
                self.base.push(Event::of(EventKind::TaskDone, StreamId::NONE, 0));
            }
            Input::Timeout if self.flaw == Flaw::ActsOnDoubledWake && self.tick.is_some_and(|at| now + TICK == at) => {
                self.base.push(Event::of(EventKind::TaskDone, StreamId::NONE, 0));
            }
            _ => {}
        }
        Ok(())
    }

    fn poll_output(&mut self, now: LocalTime, frame: &mut [u8]) -> Output {
        if let Some(output) = self.base.next(now, frame) {
            return output;
        }
        if let Some((number, content, began)) = self.at_work.take() {
            self.answers.pop_front();
            let is_forgotten = self.flaw == Flaw::ForgetsDuringWork && began < now;
            if self.flaw != Flaw::AnnouncesWorkForNothing && !is_forgotten {
                self.origin = Some(if self.flaw == Flaw::InventsOrigins { number + 1 } else { number });
                return self.transmit(content.into(), now, frame);
            }
        }
        if let Some((number, content)) = self.answers.front() {
            self.at_work = Some((*number, *content, now));
            return Output::Work(Work::of(Operation("echo"), 1));
        }
        let due = self.tick.filter(|at| *at <= now);
        if let Some(at) = due {
            let is_lost = self.flaw == Flaw::ForgetsLateTick && at < now;
            if self.flaw == Flaw::WantsToBeWokenInVain {
                return Output::Timeout(Some(at));
            }
            if self.flaw != Flaw::NeverEnds {
                self.tick = Some(at + TICK);
            }
            self.ticks += 1;
            if !is_lost {
                self.origin = None;
                return self.transmit(self.ticks << 32, now, frame);
            }
        }
        if self.flaw == Flaw::ChangesItsMind {
            self.tick = self.tick.map(|at| at + Duration::from_ps(1));
        }
        Output::Timeout(self.tick)
    }

    fn origins(&self) -> &[u64] {
        self.origin.as_slice()
    }
}

fn ms(ms: i64) -> LocalTime {
    LocalTime::ZERO + Duration::from_ms(ms)
}

fn verify(flaw: Flaw) -> Result<Conduct, ContractFailure> {
    let script = (1..8).fold(Script::until(ms(100)), |script, number| {
        script.hear(ms(12 * number), PortId((number % 2) as u16), &[MARK, number as u8])
    });
    let chance = Cell::new(0);
    Contract::new(0..2, script, || Box::new(Echo::new(flaw, &chance))).verify()
}

#[test]
fn a_node_without_a_flaw_passes_and_has_done_its_work() {
    let conduct = verify(Flaw::None).expect("it keeps its contract");
    assert_eq!((conduct.frames().count(), conduct.work().count()), (17, 7), "ten ticks, seven answers");
}

#[test]
fn each_flaw_is_found_where_it_shows() {
    use Variation::{Again, EarlyAndDoubled, Exact, Late, Mutations, Noise, Refusals, Stopped, Working};
    let shows = [
        (Flaw::TakesAnyPort, Refusals),
        (Flaw::TakesAnyTime, Refusals),
        (Flaw::NotesRefusedTime, Refusals),
        (Flaw::CountsRefusedFrames, Refusals),
        (Flaw::ActsOnEarlyWake, EarlyAndDoubled),
        (Flaw::ActsOnDoubledWake, EarlyAndDoubled),
        (Flaw::ForgetsLateTick, Late),
        (Flaw::ForgetsDuringWork, Working),
        (Flaw::AnnouncesWorkForNothing, Exact),
        (Flaw::InventsOrigins, Exact),
        (Flaw::SendsAfterStop, Stopped),
        (Flaw::AnswersAfterStop, Stopped),
        (Flaw::StopsAtBadFrame, Noise),
        (Flaw::RefusesBadFrame, Noise),
        (Flaw::RefusesChangedFrame, Mutations),
        (Flaw::WantsToBeWokenInVain, Exact),
        (Flaw::ChangesItsMind, Exact),
        (Flaw::NeverEnds, Exact),
        (Flaw::ActsByChance, Again),
    ];
    for (flaw, variation) in shows {
        let failure = verify(flaw).expect_err("it breaks its contract");
        assert_eq!(failure.variation, variation, "{flaw:?}: {failure}");
    }
}

#[test]
fn a_failure_says_what_was_expected_and_what_came() {
    let texts = [Flaw::TakesAnyPort, Flaw::ForgetsLateTick, Flaw::AnnouncesWorkForNothing, Flaw::SendsAfterStop]
        .map(|flaw| verify(flaw).expect_err("it breaks its contract").to_string());
    let expected = [
        "with inputs that have to be refused: an input at 10ms has to be refused with UnknownPort(PortId(2)); the answer was \
         Ok(())",
        "with late wake-ups: after 0 deeds in common it was to do",
        "with exact wake-ups: at 12ms no effect followed the work `echo`",
        "stopped before the script ends: it sent a frame by itself at 10ms, after it was stopped",
    ];
    for (text, expected) in texts.iter().zip(expected) {
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn a_script_is_what_a_node_heard_of_the_others() {
    let chance = Cell::new(0);
    let [mut a, mut b] = [0, 1].map(|_| Echo::new(Flaw::None, &chance));
    let recorded = record(&mut [&mut a, &mut b], bus(2), ms(35));
    for (script, conduct) in &recorded {
        assert_eq!((script.len(), conduct.frames().count()), (3, 3), "ticks are no frames to be answered");
    }
    let discarded = |event: &Event| matches!(event.kind, EventKind::Discarded(_));
    assert!(recorded[0].1.events().all(discarded));
}
