//! Which slot a frame seen on a wire belongs to.

use chronoseal_core::{Duration, NodeId, SimTime, StreamId};
use chronoseal_media::schedule::{ScheduleTable, Slot};
use chronoseal_scenario::plan::{Plan, StreamClass};
use chronoseal_wire::ethernet::Frame;
use chronoseal_wire::test_bed_header::TestBedHeader;
use chronoseal_wire::virtual_link;

/// What a frame's bytes and time tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Description {
    /// The stream its destination names.
    pub stream: StreamId,
    /// The sequence number its sender wrote; 0 if there is none.
    pub sequence: u64,
    /// Start of the cluster cycle of its slot; of the cycle it was seen in, without a slot.
    pub cycle_start: SimTime,
    /// Start of its slot.
    pub slot_start: Option<SimTime>,
    /// The switch has to pass it on by then: the end of its slot, or of its period if that is earlier, and the
    /// precision of the cluster's clocks.
    pub leaves_by: Option<SimTime>,
}

/// Describes the frames of one plan.
#[derive(Clone, Debug)]
pub struct Describer {
    ct_marker: [u8; 4],
    cluster_cycle: Duration,
    precision: Duration,
    streams: Vec<Known>,
    /// `by_ct_id[id]` is the stream with that identifier.
    by_ct_id: Vec<Option<StreamId>>,
}

#[derive(Clone, Debug)]
struct Known {
    sender: NodeId,
    period: Duration,
    slots: Vec<Slot>,
}

impl Describer {
    /// For the frames of a plan.
    pub fn new(plan: &Plan, schedule: &ScheduleTable) -> Self {
        let mut streams: Vec<Known> = plan
            .streams
            .iter()
            .map(|stream| Known { sender: stream.sender, period: stream.period, slots: Vec::new() })
            .collect();
        for slot in &schedule.slots {
            streams[slot.stream.index()].slots.push(*slot);
        }
        let mut by_ct_id = Vec::new();
        for (index, stream) in plan.streams.iter().enumerate() {
            if let StreamClass::TimeTriggered { ct_id } = stream.class {
                by_ct_id.resize(by_ct_id.len().max(usize::from(ct_id) + 1), None);
                by_ct_id[usize::from(ct_id)] = Some(StreamId(index as u16));
            }
        }
        let cluster_cycle = plan.network.cluster_cycle;
        let precision = plan.network.precision;
        Self { ct_marker: plan.network.ct_marker, cluster_cycle, precision, streams, by_ct_id }
    }

    /// The stream a frame's destination names.
    pub fn stream_of(&self, bytes: &[u8]) -> Option<StreamId> {
        let destination = Frame::new_checked(bytes).ok()?.destination();
        match virtual_link::ct_id(destination, self.ct_marker) {
            Some(ct_id) => self.by_ct_id.get(usize::from(ct_id)).copied().flatten(),
            None => virtual_link::stream(destination).filter(|stream| stream.index() < self.streams.len()),
        }
    }

    /// Who sends a stream.
    pub fn sender_of(&self, stream: StreamId) -> Option<NodeId> {
        self.streams.get(stream.index()).map(|known| known.sender)
    }

    /// Describes a frame whose first bit left its sender at about `sent_at`.
    pub fn describe(&self, bytes: &[u8], sent_at: SimTime) -> Description {
        let Some(stream) = self.stream_of(bytes) else {
            return self.outside(StreamId::NONE, 0, sent_at);
        };
        let sequence = Frame::new_checked(bytes)
            .ok()
            .and_then(|frame| TestBedHeader::parse(frame.payload()).ok())
            .map_or(0, |header| u64::from(header.sequence));
        self.at_slot(stream, sequence, sent_at)
    }

    /// Describes what should have been seen in the slot nearest to a time.
    pub fn at_slot(&self, stream: StreamId, sequence: u64, at: SimTime) -> Description {
        let cycle_len = self.cluster_cycle;
        let Some(known) = self.streams.get(stream.index()) else { return self.outside(stream, sequence, at) };
        let nearest = known
            .slots
            .iter()
            .map(|slot| {
                // The repetition of the slot whose start lies nearest.
                let cycle = (at.since_zero() - slot.start + cycle_len / 2).div_floor(cycle_len);
                (slot, SimTime::ZERO + cycle_len * cycle)
            })
            .min_by_key(|(slot, cycle_start)| (at - (*cycle_start + slot.start)).abs());
        let Some((slot, cycle_start)) = nearest else { return self.outside(stream, sequence, at) };
        let period_end = known.period * (i64::from(slot.instance) + 1);
        Description {
            stream,
            sequence,
            cycle_start,
            slot_start: Some(cycle_start + slot.start),
            leaves_by: Some(cycle_start + slot.end.min(period_end) + self.precision),
        }
    }

    fn outside(&self, stream: StreamId, sequence: u64, at: SimTime) -> Description {
        let cycle_start = at - at.since_zero().rem_floor(self.cluster_cycle);
        Description { stream, sequence, cycle_start, slot_start: None, leaves_by: None }
    }
}
