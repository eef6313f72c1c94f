//! When the next message of a stream is due, and which it is.

use std::collections::VecDeque;
use std::sync::Arc;

use chronoseal_core::{Duration, LocalTime, StreamId};

use crate::RecordedMessages;
use crate::pace::{Pace, PaceConfig};

/// What makes a station send the messages of a stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Trigger {
    /// Time: one after another, from the phase of the stream on.
    Paced(PaceConfig),
    /// The times of a recording, over and over, from the phase of the stream on; its messages are what is sent.
    Recorded(Arc<RecordedMessages>),
    /// A message of this stream that the station has accepted: each is answered at once by one with its number.
    Answers(StreamId),
    /// A closed loop: the first at the phase of the stream, each further one when the one before is answered.
    ClosedLoop {
        /// The stream of the answers, each with the number of what it answers.
        answer: StreamId,
        /// From one message to the next at least.
        least: Duration,
        /// What is not answered after this is waited for no more.
        timeout: Duration,
    },
}

impl From<PaceConfig> for Trigger {
    fn from(pace: PaceConfig) -> Self {
        Self::Paced(pace)
    }
}

/// How far a stream has come.
pub(super) enum Turn {
    Paced { pace: Pace, due: LocalTime, next: u64 },
    Recorded { recorded: Arc<RecordedMessages>, first: LocalTime, next: u64 },
    Answers { asked: StreamId, waiting: VecDeque<(u64, LocalTime)> },
    ClosedLoop(Loop),
}

pub(super) struct Loop {
    answer: StreamId,
    least: Duration,
    timeout: Duration,
    due: LocalTime,
    /// The number of the next message.
    next: u64,
    /// When the next one may be sent at the earliest, while the one before is not answered.
    awaited: Option<LocalTime>,
}

impl Turn {
    pub(super) fn new(trigger: Trigger, stream: StreamId) -> Self {
        match trigger {
            Trigger::Paced(pace) => Self::Paced { pace: Pace::new(pace, stream.0), due: LocalTime::ZERO, next: 0 },
            Trigger::Recorded(recorded) => Self::Recorded { recorded, first: LocalTime::ZERO, next: 0 },
            Trigger::Answers(asked) => Self::Answers { asked, waiting: VecDeque::new() },
            Trigger::ClosedLoop { answer, least, timeout } => {
                Self::ClosedLoop(Loop { answer, least, timeout, due: LocalTime::ZERO, next: 0, awaited: None })
            }
        }
    }

    /// The station starts; the first message of what time alone begins is due at `first`.
    pub(super) fn start(&mut self, first: LocalTime) {
        match self {
            Self::Paced { due, .. } | Self::ClosedLoop(Loop { due, .. }) => *due = first,
            Self::Recorded { first: begins_at, .. } => *begins_at = first,
            Self::Answers { waiting, .. } => waiting.clear(),
        }
    }

    /// When the next message is due, if that is known.
    pub(super) fn due(&self) -> Option<LocalTime> {
        match self {
            Self::Paced { due, .. } | Self::ClosedLoop(Loop { due, .. }) => Some(*due),
            Self::Recorded { recorded, first, next } => {
                let (at, _) = recorded.message(*next)?;
                Some(*first + at)
            }
            Self::Answers { waiting, .. } => waiting.front().map(|(_, due)| *due),
        }
    }

    /// Goes on to the message behind the next one: when that was due and its number. `None` if none is known.
    pub(super) fn step(&mut self, now: LocalTime) -> Option<(LocalTime, u64)> {
        match self {
            Self::Paced { pace, due, next } => {
                let stepped = (*due, *next);
                (*due, *next) = (*due + pace.step(), *next + 1);
                Some(stepped)
            }
            Self::Recorded { .. } => {
                let due = self.due()?;
                let Self::Recorded { next, .. } = self else { return None };
                *next += 1;
                Some((due, *next - 1))
            }
            Self::Answers { waiting, .. } => waiting.pop_front().map(|(number, due)| (due, number)),
            Self::ClosedLoop(closed) => {
                let stepped = (closed.due, closed.next);
                closed.awaited = Some(closed.due.max(now) + closed.least);
                closed.due = closed.due.max(now) + closed.least.max(closed.timeout);
                closed.next += 1;
                Some(stepped)
            }
        }
    }

    /// What a message is, if a recording says so.
    pub(super) fn content(&self, number: u64) -> Option<&[u8]> {
        match self {
            Self::Recorded { recorded, .. } => recorded.message(number).map(|(_, content)| content),
            Self::Paced { .. } | Self::Answers { .. } | Self::ClosedLoop(_) => None,
        }
    }

    /// A message was accepted that may be what this stream answers, or the answer that it waits for.
    pub(super) fn accepted(&mut self, now: LocalTime, stream: StreamId, number: u64) {
        match self {
            Self::Answers { asked, waiting } if *asked == stream => waiting.push_back((number, now)),
            Self::ClosedLoop(closed) if closed.answer == stream && number + 1 == closed.next => {
                if let Some(earliest) = closed.awaited.take() {
                    closed.due = earliest.max(now);
                }
            }
            Self::Paced { .. } | Self::Recorded { .. } | Self::Answers { .. } | Self::ClosedLoop(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKED: StreamId = StreamId(0);
    const ANSWER: StreamId = StreamId(1);

    fn at(ms: i64) -> LocalTime {
        LocalTime::ZERO + Duration::from_ms(ms)
    }

    #[test]
    fn each_accepted_message_is_answered_once_with_its_number() {
        let mut turn = Turn::new(Trigger::Answers(ASKED), ANSWER);
        turn.start(at(5));
        assert_eq!((turn.due(), turn.step(at(5))), (None, None));
        turn.accepted(at(7), ASKED, 4);
        turn.accepted(at(8), StreamId(9), 5);
        turn.accepted(at(9), ASKED, 2);
        assert_eq!(turn.due(), Some(at(7)));
        assert_eq!([turn.step(at(9)), turn.step(at(9)), turn.step(at(9))], [Some((at(7), 4)), Some((at(9), 2)), None]);
    }

    #[test]
    fn a_recording_keeps_its_times_and_begins_again() {
        let ms = Duration::from_ms;
        let messages = vec![(ms(0), vec![1]), (ms(3), vec![2, 2])];
        let mut turn = Turn::new(Trigger::Recorded(Arc::new(RecordedMessages::new(messages, ms(10)))), ASKED);
        turn.start(at(5));
        let dues: Vec<_> = (0..4).map(|_| turn.step(at(0))).collect();
        assert_eq!(dues, [Some((at(5), 0)), Some((at(8), 1)), Some((at(15), 2)), Some((at(18), 3))]);
        assert_eq!([turn.content(2), turn.content(5)], [Some(&[1][..]), Some(&[2, 2][..])]);
    }

    #[test]
    fn a_closed_loop_goes_on_with_the_answer_or_after_the_timeout() {
        let ms = Duration::from_ms;
        let closed = Trigger::ClosedLoop { answer: ANSWER, least: ms(2), timeout: ms(50) };
        let mut turn = Turn::new(closed, ASKED);
        turn.start(at(10));
        assert_eq!(turn.step(at(10)), Some((at(10), 0)));
        assert_eq!(turn.due(), Some(at(60)), "the timeout");
        // An answer to something else, and a stream that is none, change nothing.
        turn.accepted(at(11), ANSWER, 7);
        turn.accepted(at(11), StreamId(9), 0);
        assert_eq!(turn.due(), Some(at(60)));
        // The answer comes before the next message may be sent.
        turn.accepted(at(11), ANSWER, 0);
        assert_eq!(turn.step(at(12)), Some((at(12), 1)));
        turn.accepted(at(20), ANSWER, 1);
        assert_eq!(turn.step(at(20)), Some((at(20), 2)));
        // No answer: the next one is sent all the same, and an answer that comes later is nobody's.
        assert_eq!(turn.step(at(70)), Some((at(70), 3)));
        turn.accepted(at(71), ANSWER, 2);
        assert_eq!(turn.due(), Some(at(120)));
    }
}
