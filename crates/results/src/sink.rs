//! Who takes the rows of a run while it goes on.

use crate::{EventRow, FrameRow, HopRow, RunRows, WorkRow};

/// Takes rows in a fixed order, the same whenever the run is the same: events and computations as they happen; frames and transmissions
/// span by span, when it is known how they ended, each span by the time of sending if gateways carry streams on.
pub trait Sink {
    /// A frame.
    fn frame(&mut self, row: &FrameRow);
    /// A transmission.
    fn hop(&mut self, row: &HopRow);
    /// An event.
    fn event(&mut self, row: &EventRow);
    /// A computation.
    fn work(&mut self, row: &WorkRow);
}

/// Nobody: rows are counted and forgotten.
impl Sink for () {
    fn frame(&mut self, _: &FrameRow) {}
    fn hop(&mut self, _: &HopRow) {}
    fn event(&mut self, _: &EventRow) {}
    fn work(&mut self, _: &WorkRow) {}
}

/// All are kept.
impl Sink for RunRows {
    fn frame(&mut self, row: &FrameRow) {
        self.frames.push(*row);
    }
    fn hop(&mut self, row: &HopRow) {
        self.hops.push(row.clone());
    }
    fn event(&mut self, row: &EventRow) {
        self.events.push(*row);
    }
    fn work(&mut self, row: &WorkRow) {
        self.work.push(*row);
    }
}
