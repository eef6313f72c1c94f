//! Frames waiting for their launch time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use chronoseal_core::{PortId, SimTime, TxToken};

use crate::log::Records;

/// A frame that is ready to leave.
pub(super) struct Launch {
    pub(super) port: PortId,
    pub(super) token: Option<TxToken>,
    /// Code of the attack told right before it.
    pub(super) attack: Option<u16>,
    /// The inputs it came from.
    pub(super) origins: Records,
    /// What is in it, if that is PDUs of several streams.
    pub(super) parts: Records,
    buffer: Vec<u8>,
}

impl Launch {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.buffer
    }
}

/// Waiting frames, the earliest first; frames of one instant in the order they were handed over.
#[derive(Default)]
pub(super) struct LaunchQueue {
    order: BinaryHeap<Reverse<(SimTime, u64, usize)>>,
    slots: Vec<Option<Launch>>,
    buffers: Vec<Vec<u8>>,
    serial: u64,
}

impl LaunchQueue {
    pub(super) fn push(
        &mut self,
        at: SimTime,
        port: PortId,
        token: Option<TxToken>,
        attack: Option<u16>,
        [origins, parts]: [Records; 2],
        bytes: &[u8],
    ) {
        let mut buffer = self.buffers.pop().unwrap_or_default();
        buffer.clear();
        buffer.extend_from_slice(bytes);
        let launch = Some(Launch { port, token, attack, origins, parts, buffer });
        let slot = self.slots.iter().position(Option::is_none).unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        self.slots[slot] = launch;
        self.serial += 1;
        self.order.push(Reverse((at, self.serial, slot)));
    }

    /// When the next frame may leave.
    pub(super) fn next_at(&self) -> Option<SimTime> {
        self.order.peek().map(|Reverse((at, ..))| *at)
    }

    /// The next frame if its time has come.
    pub(super) fn pop_due(&mut self, now: SimTime) -> Option<Launch> {
        if self.next_at()? > now {
            return None;
        }
        let Reverse((_, _, slot)) = self.order.pop()?;
        self.slots[slot].take()
    }

    /// Gives a sent frame's buffer back.
    pub(super) fn recycle(&mut self, launch: Launch) -> Option<TxToken> {
        self.buffers.push(launch.buffer);
        launch.token
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
            queue.push(at(us), PortId(0), Some(TxToken::new(byte)), None, [Records::default(); 2], &[byte as u8; 60]);
        }
        assert!(queue.pop_due(at(9)).is_none());
        let mut left = Vec::new();
        while let Some(launch) = queue.pop_due(at(30)) {
            assert_eq!(launch.bytes().len(), 60);
            left.push(launch.bytes()[0]);
            queue.recycle(launch);
        }
        assert_eq!(left, [1, 3, 0, 2]);
        assert_eq!(queue.next_at(), None);
    }
}
