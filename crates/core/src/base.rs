//! What every node has beside its protocol: the checks of its driver's contract, and a queue of effects.

use core::ops::Range;

use crate::{Event, HandleError, Input, LocalTime, Output, PortId, Priority, Queue, Transmit, Work};

/// The part that all nodes have in common.
///
/// A node calls [`Self::admit`] at the beginning of [`Node::handle_input`](crate::Node::handle_input), queues what it wants
/// to give, and asks [`Self::next`] first in [`Node::poll_output`](crate::Node::poll_output).
///
/// ```
/// use std::collections::VecDeque;
/// use chronoseal_core::{Event, EventKind, HandleError, Input, LocalTime, Node, NodeBase, Output, PortId, StreamId};
///
/// /// Reports every frame it hears.
/// struct Listener(NodeBase<VecDeque<Event>>);
///
/// impl Node for Listener {
///     fn handle_input(&mut self, now: LocalTime, input: Input<'_>) -> Result<(), HandleError> {
///         self.0.admit(now, &input)?;
///         if let Input::Frame { .. } = input {
///             self.0.push(Event::of(EventKind::Delivered, StreamId::NONE, 0));
///         }
///         Ok(())
///     }
///     fn poll_output(&mut self, now: LocalTime, frame: &mut [u8]) -> Output {
///         self.0.next(now, frame).unwrap_or(Output::Timeout(None))
///     }
/// }
///
/// let mut listener = Listener(NodeBase::new(0..1));
/// let unknown = Input::Frame { port: PortId(1), rx_at: LocalTime::ZERO, bytes: &[] };
/// assert_eq!(listener.handle_input(LocalTime::ZERO, unknown), Err(HandleError::UnknownPort(PortId(1))));
/// ```
#[derive(Clone, Debug)]
pub struct NodeBase<Q> {
    /// Time of the last input that was admitted.
    last: LocalTime,
    first_port: u16,
    ports: u16,
    gives_tokens: bool,
    waiting: Q,
}

impl<Q: Queue> NodeBase<Q> {
    /// The base of a node that takes frames at these ports and sends none with a token.
    pub fn new(ports: Range<u16>) -> Self
    where
        Q: Default,
    {
        Self::with_queue(ports, Q::default())
    }

    /// The same with a queue that was made elsewhere.
    pub const fn with_queue(ports: Range<u16>, waiting: Q) -> Self {
        let last = LocalTime::from_ps(i64::MIN);
        let (first_port, ports) = (ports.start, ports.end.saturating_sub(ports.start));
        Self { last, first_port, ports, gives_tokens: false, waiting }
    }

    /// For a node that sends frames with tokens. It looks by itself whether a token that comes back is one of them.
    #[must_use]
    pub fn giving_tokens(mut self) -> Self {
        self.gives_tokens = true;
        self
    }

    /// Checks an input and notes its time. A refused input leaves the base as it was, its time included, and must leave
    /// the node so too.
    ///
    /// # Errors
    /// [`HandleError`] if `now` lies before the time of an earlier input, if there is no such port, or for a token when
    /// this node gives none.
    #[inline]
    pub fn admit(&mut self, now: LocalTime, input: &Input<'_>) -> Result<(), HandleError> {
        if now < self.last {
            return Err(HandleError::TimeRanBackwards { last: self.last, now });
        }
        match input {
            Input::Frame { port, .. } if port.0.wrapping_sub(self.first_port) >= self.ports => {
                return Err(HandleError::UnknownPort(*port));
            }
            Input::Transmitted { token, .. } | Input::Dropped { token } if !self.gives_tokens => {
                return Err(HandleError::UnknownToken(token.id()));
            }
            _ => {}
        }
        self.last = now;
        Ok(())
    }

    /// Queues an effect.
    #[inline]
    pub fn push(&mut self, effect: Q::Item) {
        self.waiting.push(effect);
    }

    /// Carries out the effect that has waited longest.
    #[inline]
    pub fn next(&mut self, now: LocalTime, frame: &mut [u8]) -> Option<Output>
    where
        Q::Item: Effect,
    {
        Some(self.waiting.pop()?.carry_out(now, frame))
    }

    /// Drops the effects that wait. The time of the last input stays.
    pub fn clear(&mut self) {
        self.waiting.clear();
    }
}

/// Something a node gives its driver.
pub trait Effect {
    /// The output it becomes at `now`; a frame is written to the front of `frame`.
    fn carry_out(self, now: LocalTime, frame: &mut [u8]) -> Output;
}

impl Effect for Event {
    #[inline]
    fn carry_out(self, _: LocalTime, _: &mut [u8]) -> Output {
        Output::Event(self)
    }
}

/// Effects of a node that queues its frames whole. Work is queued before the effect that it delays.
#[derive(Clone, Debug)]
pub enum Queued<F> {
    /// Work to announce.
    Work(Work),
    /// An event to report.
    Event(Event),
    /// A frame to send at once.
    Send {
        /// Where it leaves.
        port: PortId,
        /// Its egress queue.
        priority: Priority,
        /// What is sent.
        frame: F,
    },
}

/// A frame that can be written into a driver's buffer.
pub trait WriteFrame {
    /// Writes it to the front of `buffer` and returns its length `[byte]`.
    fn write(&self, buffer: &mut [u8]) -> usize;
}

#[cfg(not(any(target_os = "none", without_std)))]
impl WriteFrame for Vec<u8> {
    /// What the buffer has no room for is cut off.
    fn write(&self, buffer: &mut [u8]) -> usize {
        let len = self.len().min(buffer.len());
        buffer[..len].copy_from_slice(&self[..len]);
        len
    }
}

impl<F: WriteFrame> Effect for Queued<F> {
    fn carry_out(self, now: LocalTime, frame: &mut [u8]) -> Output {
        match self {
            Self::Work(work) => Output::Work(work),
            Self::Event(event) => Output::Event(event),
            Self::Send { port, priority, frame: queued } => {
                let len = queued.write(frame);
                Output::Transmit(Transmit { port, priority, launch_at: now, len, token: None })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use crate::{Command, Duration, TxToken};

    type Base = NodeBase<VecDeque<Queued<Vec<u8>>>>;

    fn at(us: i64) -> LocalTime {
        LocalTime::ZERO + Duration::from_us(us)
    }

    fn frame(port: u16) -> Input<'static> {
        Input::Frame { port: PortId(port), rx_at: LocalTime::ZERO, bytes: &[] }
    }

    #[test]
    fn ports_are_checked_on_both_sides() {
        let mut base = Base::new(3..5);
        for (port, is_there) in [(0, false), (2, false), (3, true), (4, true), (5, false), (u16::MAX, false)] {
            let refused = Err(HandleError::UnknownPort(PortId(port)));
            assert_eq!(base.admit(at(0), &frame(port)), if is_there { Ok(()) } else { refused }, "port {port}");
        }
    }

    #[test]
    fn a_refused_input_does_not_move_the_time() {
        let mut base = Base::new(0..1);
        assert_eq!(base.admit(at(5), &Input::Command(Command::Start)), Ok(()));
        assert!(base.admit(at(9), &frame(1)).is_err());
        assert!(base.admit(at(9), &Input::Dropped { token: TxToken::new(1) }).is_err());
        assert_eq!(base.admit(at(5), &Input::Timeout), Ok(()));
        let backwards = HandleError::TimeRanBackwards { last: at(5), now: at(4) };
        assert_eq!(base.admit(at(4), &frame(1)), Err(backwards), "before the port is looked at");
    }

    #[test]
    fn tokens_are_for_those_who_give_them() {
        let input = Input::Transmitted { token: TxToken::new(7), tx_at: at(0) };
        assert_eq!(Base::new(0..1).admit(at(0), &input), Err(HandleError::UnknownToken(7)));
        assert_eq!(Base::new(0..1).giving_tokens().admit(at(0), &input), Ok(()));
    }

    #[test]
    fn effects_come_out_as_they_went_in() {
        let mut base = Base::new(0..1);
        base.push(Queued::Work(Work::of(crate::Operation("mac"), 3)));
        base.push(Queued::Send { port: PortId(1), priority: Priority(2), frame: vec![1, 2, 3] });
        let mut buffer = [0; 8];
        assert!(matches!(base.next(at(1), &mut buffer), Some(Output::Work(Work { len: 3, .. }))));
        let Some(Output::Transmit(transmit)) = base.next(at(2), &mut buffer) else { panic!("a frame was queued") };
        assert_eq!((transmit.port, transmit.priority, transmit.launch_at), (PortId(1), Priority(2), at(2)));
        assert_eq!(buffer[..transmit.len], [1, 2, 3]);
        assert!(base.next(at(3), &mut buffer).is_none());
    }
}
