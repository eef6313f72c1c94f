//! Frames that wait at a controller.

use crate::medium::FrameId;

use super::config::QueueOrder;

/// A frame that waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Queued {
    pub(super) frame: FrameId,
    /// By which it competes on the bus.
    pub(super) rank: u32,
    /// Attempts that ended in an error.
    pub(super) failures: u32,
    /// Counted at the controller: who came first.
    number: u64,
}

/// At most so many frames, in the order in which they compete.
#[derive(Debug)]
pub(super) struct Mailbox {
    order: QueueOrder,
    len_max: usize,
    /// The next one last.
    waiting: Vec<Queued>,
    numbers: u64,
}

impl Mailbox {
    pub(super) fn new(order: QueueOrder, len_max: usize) -> Self {
        Self { order, len_max, waiting: Vec::new(), numbers: 0 }
    }

    /// False if there is no room.
    #[must_use]
    pub(super) fn offer(&mut self, frame: FrameId, rank: u32) -> bool {
        if self.waiting.len() >= self.len_max {
            return false;
        }
        self.numbers += 1;
        self.insert(Queued { frame, rank, failures: 0, number: self.numbers });
        true
    }

    /// Puts back a frame that was taken, at its old place.
    pub(super) fn put_back(&mut self, queued: Queued) {
        self.insert(queued);
    }

    pub(super) fn next(&self) -> Option<&Queued> {
        self.waiting.last()
    }

    pub(super) fn take_next(&mut self) -> Option<Queued> {
        self.waiting.pop()
    }

    /// True if a frame of this rank waits.
    pub(super) fn holds(&self, rank: u32) -> bool {
        self.waiting.iter().any(|queued| queued.rank == rank)
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    fn insert(&mut self, queued: Queued) {
        let key = |queued: &Queued| match self.order {
            QueueOrder::ByIdentifier => (queued.rank, queued.number),
            QueueOrder::Fifo => (0, queued.number),
        };
        let own = key(&queued);
        let at = self.waiting.partition_point(|other| key(other) > own);
        self.waiting.insert(at, queued);
    }
}
