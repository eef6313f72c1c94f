//! Reads the frames of a plan for the test bed.

use std::sync::Mutex;

use chronoseal_catalog::{Describe, Prepared};
use chronoseal_core::{NodeId, Priority, SimTime, StreamId};
use chronoseal_results::rows::{EventRow, FrameRow};
use chronoseal_testbed::{FrameDescription, Traffic};

use crate::facts::Strangers;
use crate::record::{Waits, missing_row};

/// The frames of a plan, told apart as in the simulator.
pub(crate) struct PlanTraffic {
    /// By segment.
    describers: Vec<Box<dyn Describe>>,
    waits: Waits,
    first_own: NodeId,
    /// Which nodes have something to say of each stream.
    receivers: Vec<Vec<NodeId>>,
    strangers: Mutex<Strangers>,
}

impl PlanTraffic {
    pub(crate) fn new(prepared: &Prepared<'_>) -> Self {
        let plan = prepared.plan();
        Self {
            describers: prepared.describers(),
            waits: Waits::of(plan),
            first_own: NodeId(plan.node_ids().count() as u16),
            receivers: plan.streams.iter().map(|stream| stream.receivers.clone()).collect(),
            strangers: Mutex::default(),
        }
    }

    /// Frames of no stream that were on a shared segment.
    pub(crate) fn strangers(&self) -> Strangers {
        *self.strangers.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn describer(&self) -> &dyn Describe {
        &*self.describers[0]
    }
}

impl Traffic for PlanTraffic {
    fn priority(&self, bytes: &[u8]) -> Priority {
        self.describer().priority(bytes)
    }

    fn concerns(&self, stream: StreamId, node: NodeId) -> bool {
        // On a shared segment everybody hears every frame, and most have nothing to say about it.
        !self.describer().is_shared() || self.receivers.get(stream.index()).is_some_and(|all| all.contains(&node))
    }

    fn describe(&self, bytes: &[u8], arrived_at: SimTime) -> FrameDescription {
        let describer = self.describer();
        let described = describer.describe(bytes, arrived_at - describer.reception(bytes));
        if described.stream == StreamId::NONE && describer.is_shared() {
            let mut strangers = self.strangers.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            strangers.frames += 1;
            strangers.bytes += describer.payload_len(bytes);
        }
        FrameDescription {
            stream: described.stream,
            sequence: described.sequence.filter(|_| described.stream != StreamId::NONE),
            sender: described.sender,
            cycle_start: described.cycle_start,
            slot_start: described.slot_start,
            late_after: described.leaves_by.or(described.received_by),
        }
    }

    fn missing(&self, event: &EventRow) -> Option<FrameRow> {
        (event.node < self.first_own).then(|| missing_row(&self.describers, &self.waits, event)).flatten()
    }
}
