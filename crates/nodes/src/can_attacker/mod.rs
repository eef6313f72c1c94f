//! An attacker on a CAN bus: it hears everything and can say anything, but cannot take back what others said.

mod segmented;

use std::collections::VecDeque;

use chronoseal_core::{
    AttackKind, Command, Duration, Event, EventKind, HandleError, Input, LocalTime, Node, NodeBase, Output, PortId,
    Priority, Queued, StreamId,
};
use chronoseal_wire::can::{CanFrame, CanFrameView, CanId};

pub use self::segmented::{SegmentedAttacker, SegmentedAttackerConfig};

/// What an attacker is made from.
#[derive(Clone, Debug)]
pub struct CanAttackerConfig {
    /// What it does.
    pub kind: CanAttackerKind,
    /// The stream it attacks, or [`StreamId::NONE`].
    pub stream: StreamId,
    /// Its first attempt, from the start of the run.
    pub start: Duration,
    /// Distance of two attempts.
    pub every: Duration,
    /// Attempts at most.
    pub count: u32,
}

/// What an attacker does.
#[derive(Clone, Copy, Debug)]
pub enum CanAttackerKind {
    /// Sends this frame, its first four bytes counted up so that no two are alike.
    Spoof(CanFrame),
    /// Repeats the first frame with this identifier that it hears from its start on.
    Replay(CanId),
    /// Sends this frame as it is.
    Babble(CanFrame),
}

/// An attacker.
pub struct CanAttacker {
    config: CanAttackerConfig,
    recorded: Option<CanFrame>,
    attempts: u32,
    due: Option<LocalTime>,
    starts_at: LocalTime,
    base: NodeBase<VecDeque<Queued<CanFrame>>>,
}

impl CanAttacker {
    /// An attacker that waits for [`Command::Start`].
    pub fn new(config: CanAttackerConfig) -> Self {
        let base = NodeBase::new(0..1);
        Self { config, recorded: None, attempts: 0, due: None, starts_at: LocalTime::ZERO, base }
    }

    fn next_frame(&self) -> Option<(AttackKind, CanFrame)> {
        match self.config.kind {
            CanAttackerKind::Spoof(frame) => {
                let mut data = [0; 64];
                let len = frame.data().len();
                data[..len].copy_from_slice(frame.data());
                let counted = self.attempts.to_be_bytes();
                let counted_len = len.min(counted.len());
                data[..counted_len].copy_from_slice(&counted[counted.len() - counted_len..]);
                Some((AttackKind::Spoof, CanFrame::new(frame.id(), frame.kind(), frame.dlc(), &data)))
            }
            CanAttackerKind::Replay(_) => self.recorded.map(|frame| (AttackKind::Replay, frame)),
            CanAttackerKind::Babble(frame) => Some((AttackKind::Spoof, frame)),
        }
    }
}

impl Node for CanAttacker {
    fn handle_input(&mut self, now: LocalTime, input: Input<'_>) -> Result<(), HandleError> {
        self.base.admit(now, &input)?;
        match input {
            Input::Command(Command::Start) => {
                self.starts_at = now + self.config.start;
                self.due = Some(self.starts_at);
            }
            Input::Command(_) => self.due = None,
            Input::Frame { bytes, .. } if self.recorded.is_none() && now >= self.starts_at => {
                let CanAttackerKind::Replay(id) = self.config.kind else { return Ok(()) };
                self.recorded =
                    CanFrameView::new_checked(bytes).ok().filter(|view| view.id() == id).map(|view| view.to_frame());
            }
            _ => {}
        }
        Ok(())
    }

    fn poll_output(&mut self, now: LocalTime, buffer: &mut [u8]) -> Output {
        if let Some(output) = self.base.next(now, buffer) {
            return output;
        }
        let Some(due) = self.due.filter(|_| self.attempts < self.config.count) else { return Output::Timeout(None) };
        if due > now {
            return Output::Timeout(Some(due));
        }
        self.due = Some(due + self.config.every);
        let Some((kind, frame)) = self.next_frame() else { return Output::Timeout(self.due) };
        self.base.push(Queued::Send { port: PortId(0), priority: Priority(0), frame });
        let attempt = u64::from(self.attempts);
        self.attempts += 1;
        Output::Event(Event::of(EventKind::Attacked(kind), self.config.stream, attempt))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame() -> CanFrame {
        CanFrame::classical(CanId::standard(0x100).expect("11 bits"), &[9; 8]).expect("8 bytes fit")
    }

    fn attempts(kind: CanAttackerKind, heard: &[CanFrame]) -> Vec<CanFrame> {
        let config = CanAttackerConfig {
            kind,
            stream: StreamId(0),
            start: Duration::from_ms(1),
            every: Duration::from_ms(1),
            count: 2,
        };
        let mut attacker = CanAttacker::new(config);
        attacker.handle_input(LocalTime::ZERO, Input::Command(Command::Start)).expect("time runs forwards");
        let (mut sent, mut buffer) = (Vec::new(), [0; 1536]);
        for ms in 1..6 {
            let now = LocalTime::ZERO + Duration::from_ms(ms);
            for frame in heard {
                let mut bytes = [0; 72];
                let len = frame.emit(&mut bytes);
                let input = Input::Frame { port: PortId(0), rx_at: now, bytes: &bytes[..len] };
                attacker.handle_input(now, input).expect("port 0 is there");
            }
            loop {
                match attacker.poll_output(now, &mut buffer) {
                    Output::Transmit(transmit) => sent.extend(CanFrame::parse(&buffer[..transmit.len]).ok()),
                    Output::Timeout(_) => break,
                    _ => {}
                }
            }
        }
        sent
    }

    #[test]
    fn spoofed_frames_are_no_two_alike() {
        let sent = attempts(CanAttackerKind::Spoof(frame()), &[]);
        assert_eq!(sent.iter().map(|frame| frame.data()[3]).collect::<Vec<_>>(), [0, 1]);
    }

    #[test]
    fn replays_only_what_it_heard() {
        assert!(attempts(CanAttackerKind::Replay(frame().id()), &[]).is_empty());
        assert_eq!(attempts(CanAttackerKind::Replay(frame().id()), &[frame()]), [frame(), frame()]);
    }

    #[test]
    fn babbles_the_same_frame() {
        assert_eq!(attempts(CanAttackerKind::Babble(frame()), &[]), [frame(), frame()]);
    }
}
