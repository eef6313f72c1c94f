//! What a node of a baseline does next, and how its frames are addressed.

use std::collections::VecDeque;

use chronoseal_core::{AbortReason, Event, EventKind, NodeBase, PortId, Priority, Queued, StreamId};
use chronoseal_wire::can::{CanFrame, CanFrameView, CanId, Dlc, FrameKind};

/// What a node of a baseline is built on.
pub(super) type Base = NodeBase<VecDeque<Queued<CanFrame>>>;

/// Sends a frame.
pub(super) const fn send(frame: CanFrame) -> Queued<CanFrame> {
    Queued::Send { port: PortId(0), priority: Priority::PROTOCOL_CONTROL, frame }
}

/// It has the key of this epoch.
pub(super) const fn installed(epoch: u64) -> Queued<CanFrame> {
    Queued::Event(Event::of(EventKind::KeyInstalled, StreamId::NONE, epoch))
}

/// It does not believe a message.
pub(super) const fn refused(reason: AbortReason) -> Queued<CanFrame> {
    Queued::Event(Event::of(EventKind::KeyRefused(reason), StreamId::NONE, 0))
}

/// A frame of CAN FD with bit-rate switch: who sends it to whom (255: to all), and in which step of its protocol.
///
/// # Panics
/// If `data` is longer than a frame.
pub(super) fn frame(step: u8, from: u8, to: u8, data: &[u8]) -> CanFrame {
    let id = CanId::extended(u32::from(step) << 16 | u32::from(from) << 8 | u32::from(to)).expect("24 of 29 bits");
    let dlc = Dlc::holding(data.len()).expect("a message fits a frame");
    CanFrame::new(id, FrameKind::Fd { brs: true, esi: false }, dlc, data)
}

/// Step, sender and addressee of a frame.
pub(super) fn address(view: &CanFrameView<'_>) -> [u8; 3] {
    let [_, step, from, to] = view.id().raw().to_be_bytes();
    [step, from, to]
}
