//! An attacker on the air: it hears what is in its reach and can say anything, but cannot take back what others said.

use std::collections::VecDeque;

use chronoseal_core::{
    AttackKind, Command, Duration, Event, EventKind, HandleError, Input, LocalTime, Node, NodeBase, Output, PortId,
    Queued, StreamId,
};

use crate::station::{FrameTable, ItsStation, MessageKind, priority_of};

/// What an attacker is made from.
pub struct AttackerConfig {
    /// What it does.
    pub kind: AttackerKind,
    /// The messages it is after.
    pub message: MessageKind,
    /// Their stream.
    pub stream: StreamId,
    /// Its first attempt, from the start of the run.
    pub start: Duration,
    /// Distance of two attempts.
    pub every: Duration,
    /// Attempts at most.
    pub count: u32,
}

/// What an attacker does.
pub enum AttackerKind {
    /// Repeats the first message that it hears from its start on; what is in frames comes from the table.
    Replay(FrameTable),
    /// Makes up messages as this station would, under its certificates.
    Spoof(Box<ItsStation>),
}

/// An attacker.
pub struct Attacker {
    config: AttackerConfig,
    base: NodeBase<VecDeque<Queued<Vec<u8>>>>,
    recorded: Option<Vec<u8>>,
    attempts: u32,
    starts_at: LocalTime,
    due: Option<LocalTime>,
}

impl Attacker {
    /// An attacker that waits for [`Command::Start`].
    pub fn new(config: AttackerConfig) -> Self {
        Self { config, base: NodeBase::new(0..1), recorded: None, attempts: 0, starts_at: LocalTime::ZERO, due: None }
    }

    /// Keeps the first message it is after.
    fn listen(&mut self, now: LocalTime, bytes: &[u8]) {
        let AttackerKind::Replay(table) = &self.config.kind else { return };
        if self.recorded.is_none() && self.due.is_some() && now >= self.starts_at {
            let is_it = table.frame(bytes).content().is_ok_and(|content| content.kind() == self.config.message);
            self.recorded = is_it.then(|| bytes.to_vec());
        }
    }

    fn next_frame(&mut self, now: LocalTime) -> Option<(AttackKind, Vec<u8>)> {
        match &mut self.config.kind {
            AttackerKind::Replay(_) => Some((AttackKind::Replay, self.recorded.clone()?)),
            AttackerKind::Spoof(impostor) => Some((AttackKind::Spoof, impostor.make(now, self.config.message)?)),
        }
    }
}

impl Node for Attacker {
    fn handle_input(&mut self, now: LocalTime, input: Input<'_>) -> Result<(), HandleError> {
        self.base.admit(now, &input)?;
        match input {
            Input::Command(Command::Start) => {
                self.starts_at = now + self.config.start;
                self.due = Some(self.starts_at);
            }
            Input::Command(_) => self.due = None,
            Input::Frame { bytes, .. } => self.listen(now, bytes),
            _ => {}
        }
        Ok(())
    }

    fn poll_output(&mut self, now: LocalTime, frame: &mut [u8]) -> Output {
        if let Some(output) = self.base.next(now, frame) {
            return output;
        }
        let Some(due) = self.due.filter(|_| self.attempts < self.config.count) else { return Output::Timeout(None) };
        if due > now {
            return Output::Timeout(Some(due));
        }
        self.due = Some(due + self.config.every);
        // An attempt is not made up for: there was nothing to repeat yet.
        let Some((kind, bytes)) = self.next_frame(now) else { return Output::Timeout(self.due) };
        let attempt = u64::from(self.attempts);
        self.attempts += 1;
        let priority = priority_of(self.config.message);
        self.base.push(Queued::Send { port: PortId(0), priority, frame: bytes });
        Output::Event(Event::of(EventKind::Attacked(kind), self.config.stream, attempt))
    }
}
