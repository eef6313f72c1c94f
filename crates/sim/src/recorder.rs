//! Turns what happens into the rows of a run.

use chronoseal_catalog::Describer;
use chronoseal_core::{Duration, Event, EventKind, NodeId, SimTime, Work};
use chronoseal_results::rows::{CaptureRow, Direction, EventRow, FrameRow, Outcome, RunRows, WorkRow};

use crate::observe::{FrameContext, Observer};

/// Keeps every row.
pub struct Recorder {
    describer: Describer,
    switch: NodeId,
    /// Whether frames are kept for a capture file.
    capture: bool,
    rows: RunRows,
    /// Serial number of the frame captured last on its way in, so that a multicast is captured there once.
    captured: u64,
}

impl Recorder {
    /// An empty record of a plan whose switch is `switch`.
    pub fn new(describer: Describer, switch: NodeId, capture: bool) -> Self {
        Self { describer, switch, capture, rows: RunRows::default(), captured: 0 }
    }

    /// The rows, when the run is over.
    pub fn into_rows(self) -> RunRows {
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
            sender: frame.label.sender,
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

    fn missing_row(&mut self, at: SimTime, node: NodeId, event: &Event) {
        let described = self.describer.at_slot(event.stream, event.sequence, at);
        self.rows.frames.push(FrameRow {
            stream: event.stream,
            sequence: event.sequence,
            sender: node,
            at: node,
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
        });
    }

    fn capture(&mut self, node: NodeId, event: &Event, frame: FrameContext<'_>) {
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
                node: frame.label.sender,
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
            (EventKind::Missing, _) if node != self.switch => self.missing_row(at, node, event),
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
