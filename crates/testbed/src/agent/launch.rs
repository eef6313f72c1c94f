//! Frames waiting for their launch time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use chronoseal_core::{PortId, SimTime, TxToken};

use crate::log::Records;

/// What is known of a frame that is ready to leave, beside its bytes.
pub(super) struct Ready {
    pub(super) port: PortId,
    pub(super) token: Option<TxToken>,
    /// Code of the attack told right before it.
    pub(super) attack: Option<u16>,
    /// The inputs it came from.
    pub(super) origins: Records,
    /// What is in it, if that is PDUs of several streams.
    pub(super) parts: Records,
}

/// Waiting frames, the earliest first; frames of one instant in the order they were handed over.
#[derive(Default)]
pub(super) struct LaunchQueue {
    order: BinaryHeap<Reverse<(SimTime, u64, usize)>>,
    slots: Vec<Option<(Ready, Vec<u8>)>>,
    buffers: Vec<Vec<u8>>,
    serial: u64,
}

impl LaunchQueue {
    pub(super) fn push(&mut self, at: SimTime, ready: Ready, bytes: &[u8]) {
        let mut buffer = self.buffers.pop().unwrap_or_default();
        buffer.clear();
        buffer.extend_from_slice(bytes);
        let slot = self.slots.iter().position(Option::is_none).unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        self.slots[slot] = Some((ready, buffer));
        self.serial += 1;
        self.order.push(Reverse((at, self.serial, slot)));
    }

    /// When the next frame may leave.
    pub(super) fn next_at(&self) -> Option<SimTime> {
        self.order.peek().map(|Reverse((at, ..))| *at)
    }

    /// The next frame if its time has come.
    pub(super) fn pop_due(&mut self, now: SimTime) -> Option<(Ready, Vec<u8>)> {
        if self.next_at()? > now {
            return None;
        }
        let Reverse((_, _, slot)) = self.order.pop()?;
        self.slots[slot].take()
    }

    /// Gives a sent frame's buffer back.
    pub(super) fn recycle(&mut self, buffer: Vec<u8>) {
        self.buffers.push(buffer);
    }

    /// Forgets everything that waits.
    pub(super) fn clear(&mut self) {
        self.order.clear();
        self.slots.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoseal_core::Duration;

    #[test]
    fn frames_leave_by_time_then_by_order() {
        let at = |us| SimTime::ZERO + Duration::from_us(us);
        let mut queue = LaunchQueue::default();
        for (us, byte) in [(30, 0), (10, 1), (30, 2), (10, 3)] {
            let (origins, parts) = (Records::default(), Records::default());
            let ready = Ready { port: PortId(0), token: Some(TxToken::new(byte)), attack: None, origins, parts };
            queue.push(at(us), ready, &[byte as u8; 60]);
        }
        assert!(queue.pop_due(at(9)).is_none());
        let mut left = Vec::new();
        while let Some((ready, bytes)) = queue.pop_due(at(30)) {
            assert_eq!((bytes.len(), ready.token.map(|token| token.id())), (60, Some(bytes[0].into())));
            left.push(bytes[0]);
            queue.recycle(bytes);
        }
        assert_eq!(left, [1, 3, 0, 2]);
        assert_eq!(queue.next_at(), None);
    }
}
