//! Reads the frames of a plan for the test bed.

use std::collections::BTreeMap;
use std::sync::Mutex;

use chronoseal_catalog::{Describe, Prepared};
use chronoseal_core::{NodeId, Priority, SimTime, StreamId};
use chronoseal_media::medium::Attachment;
use chronoseal_plan::SegmentId;
use chronoseal_results::rows::{EventRow, FrameRow};
use chronoseal_testbed::{FrameDescription, Traffic};

use crate::facts::Strangers;
use crate::record::{Waits, missing_row};
use crate::ways::Ways;

/// The frames of a plan, told apart as in the simulator.
pub(crate) struct PlanTraffic {
    /// By segment.
    describers: Vec<Box<dyn Describe>>,
    /// Which segment each port leads to, guests' included.
    ports: BTreeMap<Attachment, SegmentId>,
    waits: Waits,
    ways: Ways,
    first_own: NodeId,
    /// By stream.
    names: Vec<String>,
    /// By segment.
    strangers: Mutex<Vec<Strangers>>,
}

impl PlanTraffic {
    /// For the frames of a plan, and those of further stations on its segments.
    pub(crate) fn new(prepared: &Prepared<'_>, guests: &[(Attachment, SegmentId)]) -> Self {
        let plan = prepared.plan();
        let own = plan.node_ids().flat_map(|id| prepared.attachments(id));
        Self {
            describers: prepared.describers(),
            ports: own.chain(guests.iter().copied()).collect(),
            waits: Waits::of(plan),
            ways: Ways::of(prepared),
            first_own: NodeId(plan.node_ids().count() as u16),
            names: plan.streams.iter().map(|stream| stream.name.clone()).collect(),
            strangers: Mutex::new(vec![Strangers::default(); plan.segments.len()]),
        }
    }

    /// Frames of no stream that were on a segment.
    pub(crate) fn strangers(&self, segment: SegmentId) -> Strangers {
        let counts = self.strangers.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        counts.get(segment.index()).copied().unwrap_or_default()
    }

    /// Whoever knows the frames of the segment that a port leads to.
    fn describer(&self, from: Attachment) -> Option<(SegmentId, &dyn Describe)> {
        let segment = *self.ports.get(&from)?;
        self.describers.get(segment.index()).map(|describer| (segment, &**describer))
    }
}

impl Traffic for PlanTraffic {
    fn priority(&self, from: Attachment, bytes: &[u8]) -> Priority {
        self.describer(from).map_or(Priority(0), |(_, describer)| describer.priority(bytes))
    }

    fn concerns(&self, stream: StreamId, node: NodeId) -> bool {
        // On a shared segment everybody hears every frame, and most have nothing to say about it.
        !self.describers.iter().any(|describer| describer.is_shared()) || self.waits.segment(stream, node).is_some()
    }

    fn is_for(&self, from: Attachment, stream: StreamId, node: NodeId) -> bool {
        self.describer(from).is_none_or(|(_, describer)| describer.is_for(stream, node))
    }

    fn describe(&self, from: Attachment, bytes: &[u8], arrived_at: SimTime) -> FrameDescription {
        let Some((segment, describer)) = self.describer(from) else { return FrameDescription::UNKNOWN };
        let described = describer.describe(bytes, arrived_at - describer.reception(bytes));
        if described.stream == StreamId::NONE {
            let mut counts = self.strangers.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            counts[segment.index()].frames += 1;
            counts[segment.index()].bytes += describer.payload_len(bytes);
        }
        FrameDescription {
            stream: described.stream,
            sequence: described.sequence.filter(|_| described.stream != StreamId::NONE),
            sender: described.sender,
            cycle_start: described.cycle_start,
            slot_start: described.slot_start,
            leaves_by: described.leaves_by,
            received_by: described.received_by,
            part: describer.part(bytes),
            is_numbered_by_receiver: self.ways.is_relayed(described.stream),
            is_container: self.ways.is_container(described.stream),
            has_when_checked: described.is_received_when_checked,
        }
    }

    fn stream_name(&self, stream: StreamId) -> String {
        match self.names.get(stream.index()) {
            Some(name) => format!("stream {name}"),
            None => format!("stream {}", stream.0),
        }
    }

    fn missing(&self, event: &EventRow) -> Option<FrameRow> {
        // Of streams that gateways carry on it is told when all is known of them.
        let is_told = event.node < self.first_own && !self.ways.is_relayed(event.event.stream);
        let told = event.event;
        let describe = |segment: usize| self.describers[segment].missing(told.stream, told.sequence, event.time);
        is_told.then(|| missing_row(&self.waits, event, describe)).flatten()
    }
}
