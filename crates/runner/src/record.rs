//! Turns what happens into the rows of a run, the same ones for both engines.

use chronoseal_catalog::Describer;
use chronoseal_core::{Duration, Event, EventKind, NodeId, Priority, SimTime, StreamId, Work};
use chronoseal_results::rows::{CaptureRow, Direction, EventRow, FrameRow, Outcome, RunRows, WorkRow};
use chronoseal_scenario::plan::{Plan, StreamClass};
use chronoseal_testbed::{FrameDescription, Traffic};

use chronoseal_sim::{FrameContext, Observer};

/// Keeps every row.
pub(crate) struct Recorder {
    describer: Describer,
    switch: NodeId,
    /// Whether frames are kept for a capture file.
    capture: bool,
    rows: RunRows,
    /// Serial number of the frame captured last on its way in, so that a multicast is captured there once.
    captured: Option<u64>,
}

impl Recorder {
    /// An empty record of a plan whose switch is `switch`.
    pub(crate) fn new(describer: Describer, switch: NodeId, capture: bool) -> Self {
        Self { describer, switch, capture, rows: RunRows::default(), captured: None }
    }

    /// The rows, when the run is over.
    pub(crate) fn into_rows(self) -> RunRows {
        self.rows
    }

    fn frame_row(&mut self, at: SimTime, node: NodeId, event: &Event, frame: FrameContext<'_>) {
        let described = self.describer.describe(frame.bytes, frame.label.sent_at);
        let outcome = match event.kind {
            EventKind::Discarded(reason) => Outcome::Discarded(reason),
            _ => match (frame.departed_at, described.leaves_by) {
                (Some(departed), Some(leaves_by)) if departed > leaves_by => Outcome::Late,
                _ => Outcome::Delivered,
            },
        };
        self.rows.frames.push(FrameRow {
            stream: described.stream,
            sequence: described.sequence,
            sender: self.sender(&frame, described.stream),
            at: node,
            attack: frame.label.attack,
            len: frame.bytes.len() as u32,
            cycle_start: described.cycle_start,
            slot_start: described.slot_start,
            sent_at: Some(frame.label.sent_at),
            arrived_at: frame.label.arrived_at,
            departed_at: frame.departed_at,
            received_at: frame.received_at.or((node != self.switch).then_some(at)),
            outcome,
            stalled: false,
        });
    }

    /// Who is named as sender: an attacker of its own frames only, not of those it let pass on a station's link.
    fn sender(&self, frame: &FrameContext<'_>, stream: StreamId) -> NodeId {
        match frame.label.attack {
            Some(_) => frame.label.sender,
            None => self.describer.sender_of(stream).unwrap_or(frame.label.sender),
        }
    }

    fn capture(&mut self, node: NodeId, event: &Event, frame: FrameContext<'_>) {
        let stream = self.describer.stream_of(frame.bytes).unwrap_or(StreamId::NONE);
        let comment = match (event.kind, frame.label.attack) {
            (EventKind::Discarded(reason), _) => format!("discarded: {}", reason.name()),
            (_, Some(attack)) => format!("{} by an attacker", attack.name()),
            _ => String::new(),
        };
        if let Some(arrived) = frame.label.arrived_at
            && self.captured != frame.label.serial
        {
            self.captured = frame.label.serial;
            self.rows.captures.push(CaptureRow {
                time: arrived,
                node: self.sender(&frame, stream),
                direction: Direction::Arrival,
                comment: comment.clone(),
                bytes: frame.bytes.to_vec(),
            });
        }
        if let Some(departed) = frame.departed_at {
            self.rows.captures.push(CaptureRow {
                time: departed,
                node,
                direction: Direction::Departure,
                comment,
                bytes: frame.bytes.to_vec(),
            });
        }
    }
}

impl Observer for Recorder {
    fn event(&mut self, at: SimTime, node: NodeId, event: &Event, frame: Option<FrameContext<'_>>) {
        self.rows.events.push(EventRow { time: at, node, event: *event });
        match (event.kind, frame) {
            (EventKind::Delivered | EventKind::Discarded(_), Some(frame)) => {
                self.frame_row(at, node, event, frame);
            }
            // The receivers' rows tell; the switch's own event is in the trace.
            (EventKind::Missing, _) if node != self.switch => {
                let row = EventRow { time: at, node, event: *event };
                self.rows.frames.push(missing_row(&self.describer, &row));
            }
            _ => {}
        }
        let ends_a_frame = matches!(
            event.kind,
            EventKind::Delivered
                | EventKind::Discarded(_)
                | EventKind::SyncAcquired
                | EventKind::SyncLost
                | EventKind::ClockCorrected
                | EventKind::BeaconRejected
        );
        if let Some(frame) = frame
            && self.capture
            && ends_a_frame
        {
            self.capture(node, event, frame);
        }
    }

    fn work(&mut self, at: SimTime, node: NodeId, work: &Work, cost: Duration) {
        let row = WorkRow { time: at, node, operation: work.operation.0, len: work.len, duration: cost };
        self.rows.work.push(row);
    }
}

/// The row of a frame that never came.
fn missing_row(describer: &Describer, row: &EventRow) -> FrameRow {
    let described = describer.at_slot(row.event.stream, row.event.sequence, row.time);
    FrameRow {
        stream: row.event.stream,
        sequence: row.event.sequence,
        sender: describer.sender_of(row.event.stream).unwrap_or(row.node),
        at: row.node,
        attack: None,
        len: 0,
        cycle_start: described.cycle_start,
        slot_start: described.slot_start,
        sent_at: None,
        arrived_at: None,
        departed_at: None,
        received_at: None,
        outcome: Outcome::Missing,
        stalled: false,
    }
}

/// Reads the frames of a plan for the test bed.
pub(crate) struct PlanTraffic {
    describer: Describer,
    switch: NodeId,
    /// By stream.
    priorities: Vec<Priority>,
    receptions: Vec<Duration>,
}

impl PlanTraffic {
    pub(crate) fn new(plan: &Plan, describer: Describer) -> Self {
        let priority = |class: StreamClass| match class {
            StreamClass::TimeTriggered { .. } => Priority::TIME_TRIGGERED,
            StreamClass::BestEffort { priority } => Priority(priority.min(7)),
        };
        Self {
            describer,
            switch: plan.switch_id(),
            priorities: plan.streams.iter().map(|stream| priority(stream.class)).collect(),
            receptions: plan.streams.iter().map(|stream| plan.frame_time(plan.secured_len(stream))).collect(),
        }
    }
}

impl Traffic for PlanTraffic {
    fn priority(&self, bytes: &[u8]) -> Priority {
        // What belongs to no stream waits behind everything that does.
        self.describer.stream_of(bytes).map_or(Priority(0), |stream| self.priorities[stream.index()])
    }

    fn describe(&self, bytes: &[u8], arrived_at: SimTime) -> FrameDescription {
        let reception =
            self.describer.stream_of(bytes).map_or(Duration::ZERO, |stream| self.receptions[stream.index()]);
        let described = self.describer.describe(bytes, arrived_at - reception);
        FrameDescription {
            stream: described.stream,
            sequence: (described.stream != StreamId::NONE).then_some(described.sequence),
            sender: self.describer.sender_of(described.stream),
            cycle_start: described.cycle_start,
            slot_start: described.slot_start,
            late_after: described.leaves_by,
        }
    }

    fn missing(&self, event: &EventRow) -> Option<FrameRow> {
        (event.node != self.switch).then(|| missing_row(&self.describer, event))
    }
}
