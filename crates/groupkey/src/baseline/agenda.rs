//! What a node of a baseline does next, and how its frames are addressed.

use std::collections::VecDeque;

use chronoseal_core::{AbortReason, Event, EventKind, LocalTime, Output, PortId, Priority, StreamId, Transmit, Work};
use chronoseal_wire::can::{CanFrame, CanFrameView, CanId, Dlc, FrameKind};

/// What a node does next, in this order: prices before what they buy.
pub(super) enum Action {
    /// Computes.
    Work(Work),
    /// Sends.
    Send(CanFrame),
    /// Has the key of this epoch.
    Installed(u64),
    /// Does not believe a message.
    Refused(AbortReason),
}

/// Actions of a node that wait to be polled.
#[derive(Default)]
pub(super) struct Agenda(VecDeque<Action>);

impl Agenda {
    pub(super) fn push(&mut self, action: Action) {
        self.0.push_back(action);
    }

    /// The next output, or `wakes_at`.
    pub(super) fn poll(&mut self, now: LocalTime, buffer: &mut [u8], wakes_at: Option<LocalTime>) -> Output {
        match self.0.pop_front() {
            None => Output::Timeout(wakes_at),
            Some(Action::Work(work)) => Output::Work(work),
            Some(Action::Installed(epoch)) => Output::Event(Event::of(EventKind::KeyInstalled, StreamId::NONE, epoch)),
            Some(Action::Refused(reason)) => Output::Event(Event::of(EventKind::KeyRefused(reason), StreamId::NONE, 0)),
            Some(Action::Send(frame)) => {
                let len = frame.emit(buffer);
                Output::Transmit(Transmit {
                    port: PortId(0),
                    priority: Priority::PROTOCOL_CONTROL,
                    launch_at: now,
                    len,
                    token: None,
                })
            }
        }
    }
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
