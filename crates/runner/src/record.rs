//! Turns what happens in the simulator into the rows of a run, whatever its segments are.

use std::collections::BTreeMap;

use chronoseal_catalog::{Describe, Description, Prepared, SegmentTime};
use chronoseal_core::{
    DiscardReason, Duration, Event, EventKind, FramePart, MessagePart, NodeId, SimTime, StreamId, Work,
};
use chronoseal_media::medium::FrameLabel;
use chronoseal_media::topology::Topology;
use chronoseal_plan::Plan;
use chronoseal_results::rows::{
    CaptureRow, Direction, EventRow, FrameRow, HopRow, OnWayRow, Outcome, OwedRow, RunRows, WorkRow,
};
use chronoseal_sim::{FrameContext, Observer};

use crate::dues::Dues;
use crate::facts::{self, Strangers};
use crate::group::leave_out_removed;
use crate::messages::{About, Begun, Messages};
use crate::precision::Precision;
use crate::ways::{Ways, open_row};

/// Keeps every row.
pub(crate) struct Recorder {
    /// By segment.
    describers: Vec<Box<dyn Describe>>,
    /// By segment.
    times: Vec<SegmentTime>,
    waits: Waits,
    /// The first of the nodes that segments are made of.
    first_own: NodeId,
    /// Whether frames are kept for a capture file.
    capture: bool,
    rows: RunRows,
    /// Serial number of the frame captured last on its way in, so that a multicast is captured there once.
    captured: Option<u64>,
    /// When each frame of a stream that is to be accounted for was handed to its segment, in order.
    sent: BTreeMap<StreamId, Vec<SimTime>>,
    /// How many of a stream's frames became of something at a node.
    ended: BTreeMap<(StreamId, NodeId), usize>,
    /// By segment.
    strangers: Vec<Strangers>,
    precision: Precision,
    ways: Ways,
    dues: Dues,
    messages: Messages,
    /// Messages of which a segment threw a later frame away, and why.
    cut_short: BTreeMap<(StreamId, u64), DiscardReason>,
    /// Inputs of gateways that a frame came from, by serial number, until somebody has it.
    origins: BTreeMap<u64, Vec<u64>>,
    /// What is in frames with PDUs of several streams, by serial number.
    parts: BTreeMap<u64, Vec<FramePart>>,
    /// Frames that a node took before it started anew or meanwhile, and of which it has told nothing, by serial number.
    untold: BTreeMap<(NodeId, u64), Untold>,
    /// How many PDUs of a stream in a frame a node has told of.
    parts_told: BTreeMap<(u64, NodeId, StreamId), usize>,
}

/// A frame that a node took.
struct Untold {
    at: SimTime,
    label: FrameLabel,
    bytes: Vec<u8>,
    departed_at: Option<SimTime>,
    received_at: Option<SimTime>,
}

/// On which segment each receiver waits for a stream.
pub(crate) struct Waits(Vec<Vec<(u16, Vec<NodeId>)>>);

impl Waits {
    pub(crate) fn of(plan: &Plan) -> Self {
        let of_stream =
            |hops: &[chronoseal_plan::HopPlan]| hops.iter().map(|hop| (hop.segment.0, hop.to.clone())).collect();
        Self(plan.streams.iter().map(|stream| of_stream(&stream.hops)).collect())
    }

    /// The segment on which `node` gets `stream`.
    pub(crate) fn segment(&self, stream: StreamId, node: NodeId) -> Option<u16> {
        self.0.get(stream.index())?.iter().find(|(_, nodes)| nodes.contains(&node)).map(|(segment, _)| *segment)
    }
}

impl Recorder {
    /// An empty record.
    pub(crate) fn new(prepared: &Prepared<'_>, capture: bool) -> Self {
        let plan = prepared.plan();
        Self {
            describers: prepared.describers(),
            times: prepared.times(),
            waits: Waits::of(plan),
            first_own: NodeId(plan.node_ids().count() as u16),
            capture,
            rows: RunRows::default(),
            captured: None,
            sent: BTreeMap::new(),
            ended: BTreeMap::new(),
            strangers: vec![Strangers::default(); plan.segments.len()],
            precision: Precision::new(prepared),
            ways: Ways::of(prepared),
            dues: Dues::new(prepared),
            messages: Messages::default(),
            cut_short: BTreeMap::new(),
            origins: BTreeMap::new(),
            parts: BTreeMap::new(),
            untold: BTreeMap::new(),
            parts_told: BTreeMap::new(),
        }
    }

    /// The rows, when the run is over.
    pub(crate) fn into_rows(mut self, plan: &Plan, topology: &Topology) -> RunRows {
        self.half_received();
        self.lost_in_restarts(plan);
        self.unaccounted(plan);
        self.ways.settle(plan, self.dues, &mut self.rows);
        leave_out_removed(plan, &mut self.rows);
        for (id, strangers) in plan.segment_ids().zip(self.strangers) {
            let mut counted = topology.series_of(id.0);
            counted.extend(self.precision.series(id.index()));
            self.rows.segments.extend(facts::series(id, counted, strangers));
        }
        self.rows
    }

    fn describer(&self, segment: u16) -> &dyn Describe {
        &*self.describers[usize::from(segment)]
    }

    fn part(&self, frame: &FrameContext<'_>) -> MessagePart {
        self.describer(frame.label.segment).part(frame.bytes)
    }

    /// What a frame is whose first bit left its sender at a time.
    fn described(&mut self, frame: &FrameContext<'_>, sent_at: SimTime) -> Description {
        let segment = usize::from(frame.label.segment);
        self.times[segment].describe(&*self.describers[segment], frame.bytes, sent_at)
    }

    /// A row for each message of which a receiver still waits for the rest.
    fn half_received(&mut self) {
        for ((stream, node), Begun { label, bytes, sequence }) in std::mem::take(&mut self.messages).into_open() {
            if self.ways.is_relayed(stream) {
                continue;
            }
            let frame = FrameContext { bytes: &bytes, label: &label, departed_at: None, received_at: None };
            let described = self.described(&frame, label.sent_at);
            if label.attack.is_none() {
                *self.ended.entry((stream, node)).or_default() += 1;
            }
            let (sender, sequence) = (sender(&frame, described.sender), described.sequence.unwrap_or(sequence));
            let outcome = self.cut_short.get(&(stream, sequence)).copied().map_or(Outcome::Missing, Outcome::Discarded);
            self.rows.frames.push(FrameRow {
                attack: label.attack,
                len: bytes.len() as u32,
                sent_at: Some(label.sent_at),
                ..open_row(stream, sequence, sender, node, described.cycle_start, outcome)
            });
        }
    }

    /// What nodes had taken and lost when they started anew: a row for each frame of a stream that no gateway carries on.
    fn lost_in_restarts(&mut self, plan: &Plan) {
        let last = self.rows.events.last().map_or(SimTime::ZERO, |row| row.time);
        for ((node, serial), Untold { at, label, bytes, departed_at, received_at }) in std::mem::take(&mut self.untold)
        {
            if !self.ways.has_restarted(node, last.max(at)) {
                continue;
            }
            for row in self.parts_on_way(serial).into_iter().flatten() {
                self.ways.take_in_vain(row.stream, row.sequence, row.sent_at, node);
            }
            let frame = FrameContext { bytes: &bytes, label: &label, departed_at, received_at };
            let described = self.described(&frame, label.sent_at);
            if self.ways.is_relayed(described.stream) {
                self.ways.take_in_vain(described.stream, described.sequence, label.sent_at, node);
            } else if plan.streams[described.stream.index()].receivers.contains(&node) && self.part(&frame).is_first() {
                *self.ended.entry((described.stream, node)).or_default() += 1;
                let (sender, sequence) = (sender(&frame, described.sender), described.sequence.unwrap_or_default());
                let outcome = Outcome::Discarded(DiscardReason::Restarted);
                self.rows.frames.push(FrameRow {
                    len: bytes.len() as u32,
                    slot_start: described.slot_start,
                    sent_at: Some(label.sent_at),
                    departed_at,
                    received_at: received_at.or(Some(at)),
                    ..open_row(described.stream, sequence, sender, node, described.cycle_start, outcome)
                });
            }
        }
    }

    /// Keeps a frame that its node may lose, until the node tells of it.
    fn take_before_restart(&mut self, at: SimTime, node: NodeId, frame: FrameContext<'_>) {
        let FrameContext { bytes, label, departed_at, received_at } = frame;
        let stream = self.describer(label.segment).stream_of(bytes);
        let is_its = self.waits.segment(stream, node).is_some();
        if let Some(serial) = label.serial.filter(|_| is_its && label.attack.is_none()) {
            let untold = Untold { at, label: *label, bytes: bytes.to_vec(), departed_at, received_at };
            self.untold.insert((node, serial), untold);
        }
    }

    /// The PDUs in a frame, if it holds those of several streams.
    fn parts_on_way(&self, serial: u64) -> Option<Vec<OnWayRow>> {
        let on_way = |part: &FramePart| {
            let mut hops =
                self.rows.hops.iter().filter(|hop| Some(hop.frame) == part.origin && hop.stream == part.stream);
            let hop = hops.next_back()?;
            Some(OnWayRow { stream: hop.stream, sequence: Some(hop.sequence), sent_at: hop.sent_at? })
        };
        Some(self.parts.get(&serial)?.iter().filter_map(on_way).collect())
    }

    /// A row for each frame that was handed to a segment and never seen again. A sender's frames of one stream reach each
    /// receiver in their order, so they are the last ones.
    fn unaccounted(&mut self, plan: &Plan) {
        for (stream, sent) in &self.sent {
            let known = &plan.streams[stream.index()];
            for receiver in &known.receivers {
                let ended = self.ended.get(&(*stream, *receiver)).copied().unwrap_or(0).min(sent.len());
                for (sequence, sent_at) in sent.iter().enumerate().skip(ended) {
                    self.rows.frames.push(FrameRow {
                        stream: *stream,
                        sequence: sequence as u64,
                        sender: known.sender,
                        at: *receiver,
                        attack: None,
                        len: known.hops.first().map_or(0, |hop| plan.secured_len(known, hop)),
                        cycle_start: *sent_at,
                        slot_start: None,
                        sent_at: Some(*sent_at),
                        arrived_at: None,
                        departed_at: None,
                        received_at: None,
                        due_at: None,
                        accepted_at: None,
                        outcome: Outcome::Unaccounted,
                        stalled: false,
                        lost_for: None,
                    });
                }
            }
        }
    }

    fn frame_row(&mut self, at: SimTime, node: NodeId, event: &Event, frame: FrameContext<'_>) {
        let described = self.described(&frame, frame.label.sent_at);
        let describer = self.describer(frame.label.segment);
        let is_shared = describer.is_shared();
        if !describer.is_for(described.stream, node) {
            return;
        }
        if self.ways.is_in(event.stream, described.stream) {
            return self.part_row(at, node, event, frame);
        }
        let is_copy = event.kind == EventKind::Discarded(DiscardReason::CopyEliminated);
        if frame.label.attack.is_none() && !is_copy && self.sent.contains_key(&described.stream) {
            *self.ended.entry((described.stream, node)).or_default() += 1;
        }
        let is_after =
            |at: Option<SimTime>, limit: Option<SimTime>| at.zip(limit).is_some_and(|(at, limit)| at > limit);
        let mut sequence = described.sequence.unwrap_or(event.sequence);
        if self.ways.is_relayed(described.stream) {
            if matches!(event.kind, EventKind::Delivered | EventKind::Relayed) {
                // What the receiver found under the tag, whatever stands in a header that no tag covers.
                sequence = event.sequence;
            }
            let origins = frame.label.serial.and_then(|serial| self.origins.get(&serial)).cloned().unwrap_or_default();
            self.hop_row(at, node, (described.stream, sequence), origins, frame);
        }
        let cut_short = self.cut_short.get(&(event.stream, event.sequence)).copied();
        let outcome = match event.kind {
            // Its receiver waited in vain for what a segment had thrown away.
            EventKind::Discarded(DiscardReason::FrameMissing) if cut_short.is_some() => {
                Outcome::Discarded(cut_short.unwrap_or(DiscardReason::FrameMissing))
            }
            EventKind::Discarded(reason) => Outcome::Discarded(reason),
            _ if is_after(frame.departed_at, described.leaves_by) => Outcome::Late,
            _ if is_after(Some(at), described.received_by) => Outcome::Late,
            _ => Outcome::Delivered,
        };
        let received_at = match described.is_received_when_checked {
            true => Some(at),
            false => frame.received_at.or((node < self.first_own).then_some(at)),
        };
        self.rows.frames.push(FrameRow {
            stream: described.stream,
            sequence,
            sender: sender(&frame, described.sender),
            at: node,
            attack: frame.label.attack,
            len: frame.bytes.len() as u32,
            cycle_start: described.cycle_start,
            slot_start: described.slot_start,
            sent_at: Some(frame.label.sent_at),
            arrived_at: frame.label.arrived_at.filter(|_| !is_shared),
            departed_at: frame.departed_at,
            received_at,
            due_at: None,
            accepted_at: accepted_at(at, event),
            outcome,
            stalled: false,
            lost_for: None,
        });
    }

    /// A PDU that came in a frame with others. Of one stream a node tells of them in their order.
    fn part_row(&mut self, at: SimTime, node: NodeId, event: &Event, frame: FrameContext<'_>) {
        let serial = frame.label.serial.unwrap_or_default();
        let told = self.parts_told.entry((serial, node, event.stream)).or_default();
        let of_stream = |part: &&FramePart| part.stream == event.stream;
        let part = self.parts.get(&serial).and_then(|parts| parts.iter().filter(of_stream).nth(*told)).copied();
        *told += 1;
        let origins = part.and_then(|part| part.origin).into_iter().collect();
        self.hop_row(at, node, (event.stream, event.sequence), origins, frame);
        let attack = part.and_then(|part| part.attack).or(frame.label.attack);
        let sender = if attack.is_some() { frame.label.sender } else { self.ways.sender(event.stream).unwrap_or(node) };
        let described = self.described(&frame, frame.label.sent_at);
        let is_shared = self.describer(frame.label.segment).is_shared();
        self.rows.frames.push(FrameRow {
            attack,
            len: frame.bytes.len() as u32,
            sent_at: Some(frame.label.sent_at),
            arrived_at: frame.label.arrived_at.filter(|_| !is_shared),
            departed_at: frame.departed_at,
            received_at: if described.is_received_when_checked { Some(at) } else { frame.received_at.or(Some(at)) },
            accepted_at: accepted_at(at, event),
            ..open_row(event.stream, event.sequence, sender, node, described.cycle_start, outcome_of(event))
        });
    }

    /// One hop of a stream that gateways carry on.
    fn hop_row(
        &mut self,
        at: SimTime,
        node: NodeId,
        (stream, sequence): (StreamId, u64),
        origins: Vec<u64>,
        frame: FrameContext<'_>,
    ) {
        let Some(serial) = frame.label.serial else { return };
        self.rows.hops.push(HopRow {
            stream,
            sequence,
            segment: frame.label.segment,
            from: frame.label.sender,
            to: node,
            sent_at: Some(frame.label.sent_at),
            arrived_at: frame.label.arrived_at,
            departed_at: frame.departed_at,
            received_at: frame.received_at.or(Some(at)),
            frame: serial,
            origins,
        });
    }

    /// Keeps a frame as it was seen at a switch, coming in and going out.
    fn capture(&mut self, node: NodeId, event: Option<&Event>, frame: FrameContext<'_>) {
        let comment = match (event.map(|event| event.kind), frame.label.attack) {
            (Some(EventKind::Discarded(reason)), _) => format!("discarded: {}", reason.name()),
            (_, Some(attack)) => format!("{} by an attacker", attack.name()),
            _ => String::new(),
        };
        if let Some(arrived) = frame.label.arrived_at
            && self.captured != frame.label.serial
        {
            let described = self.described(&frame, frame.label.sent_at);
            self.captured = frame.label.serial;
            self.rows.captures.push(CaptureRow {
                time: arrived,
                segment: frame.label.segment,
                node: sender(&frame, described.sender),
                direction: Direction::Arrival,
                comment: comment.clone(),
                bytes: frame.bytes.to_vec(),
            });
        }
        if let Some(departed) = frame.departed_at {
            self.rows.captures.push(CaptureRow {
                time: departed,
                segment: frame.label.segment,
                node,
                direction: Direction::Departure,
                comment,
                bytes: frame.bytes.to_vec(),
            });
        }
    }
}

/// When a receiver has accepted a frame, if it has.
fn accepted_at(at: SimTime, event: &Event) -> Option<SimTime> {
    matches!(event.kind, EventKind::Delivered | EventKind::Relayed).then_some(at)
}

/// What an event is the end of.
fn outcome_of(event: &Event) -> Outcome {
    match event.kind {
        EventKind::Discarded(reason) => Outcome::Discarded(reason),
        _ => Outcome::Delivered,
    }
}

/// Who is named as sender: an attacker of its own frames only, not of those it let pass on a station's link.
fn sender(frame: &FrameContext<'_>, of_stream: Option<NodeId>) -> NodeId {
    match frame.label.attack {
        Some(_) => frame.label.sender,
        None => of_stream.unwrap_or(frame.label.sender),
    }
}

impl Observer for Recorder {
    const WATCHES_INPUTS: bool = true;

    fn event(&mut self, at: SimTime, node: NodeId, event: &Event, frame: Option<FrameContext<'_>>) {
        self.rows.events.push(EventRow { time: at, node, event: *event });
        self.precision.tell(at, node, event);
        self.times.iter_mut().for_each(|time| time.tell(at, node, event));
        if let Some(serial) = frame.as_ref().and_then(|frame| frame.label.serial).filter(|_| !self.untold.is_empty()) {
            self.untold.remove(&(node, serial));
        }
        if let (EventKind::Discarded(reason), Some(frame)) = (event.kind, &frame)
            && node >= self.first_own
            && self.describer(frame.label.segment).overtakes()
            && !self.part(frame).is_first()
        {
            self.cut_short.entry((event.stream, event.sequence)).or_insert(reason);
        }
        let about = self.messages.about(&self.describers, node, event, frame.as_ref());
        let event = &match &about {
            About::Message(_, sequence) => Event { sequence: *sequence, ..*event },
            _ => *event,
        };
        let told = match &about {
            About::Frame => frame,
            About::Piece => None,
            About::Message(label, _) => frame.map(|frame| FrameContext { label, ..frame }),
            About::Ended(Begun { label, bytes, .. }) => {
                Some(FrameContext { bytes, label, departed_at: None, received_at: None })
            }
        };
        match (event.kind, told) {
            // One of no stream has no way that could be told later.
            (EventKind::Discarded(reason), _)
                if event.stream == StreamId::NONE && self.ways.is_loss_at_gateway(node, event) =>
            {
                let outcome = Outcome::Discarded(reason);
                self.rows.frames.push(open_row(event.stream, event.sequence, node, node, at, outcome));
            }
            // These are told of frames of streams that gateways carry on when all is known of them.
            (EventKind::Discarded(_), _) if self.ways.is_loss_at_gateway(node, event) => {}
            (EventKind::Missing, _) if self.ways.is_relayed(event.stream) => {}
            (EventKind::Discarded(_), _) if self.ways.is_refused_by_sender(node, event) => {}
            (EventKind::Delivered | EventKind::Relayed | EventKind::Discarded(_), Some(frame)) => {
                self.frame_row(at, node, event, frame);
            }
            (EventKind::TransferFault(_), Some(frame)) => {
                let kind = EventKind::Discarded(DiscardReason::WrongSequence);
                self.frame_row(at, node, &Event { kind, ..*event }, frame);
            }
            // The receivers' rows tell: the switch, whose own event is in the trace, is none.
            (EventKind::Missing, _) => {
                let row = EventRow { time: at, node, event: *event };
                let (describers, times) = (&self.describers, &mut self.times);
                let told = missing_row(&self.waits, &row, |segment| {
                    times[segment].missing(&*describers[segment], (event.stream, event.sequence), at)
                });
                self.rows.frames.extend(told);
            }
            _ => {}
        }
        let ends_a_frame = matches!(
            event.kind,
            EventKind::Delivered
                | EventKind::Discarded(_)
                | EventKind::Relayed
                | EventKind::SyncAcquired
                | EventKind::SyncLost
                | EventKind::ClockCorrected
                | EventKind::BeaconRejected
        );
        // A station tells of messages, and what it takes of one in several frames is kept when it comes.
        let is_told = |frame: &FrameContext<'_>| node >= self.first_own || self.part(frame) == MessagePart::Whole;
        if let Some(frame) = frame
            && self.capture
            && ends_a_frame
            && !self.describer(frame.label.segment).is_shared()
            && is_told(&frame)
        {
            self.capture(node, Some(event), frame);
        }
    }

    fn owed(&mut self, node: NodeId, stream: StreamId, due_at: SimTime) {
        self.rows.owed.push(OwedRow { node, stream, due_at });
    }

    fn on_way(&mut self, frame: FrameContext<'_>) {
        let described = self.describer(frame.label.segment).stream_of(frame.bytes);
        if let Some(parts) = frame.label.serial.and_then(|serial| self.parts_on_way(serial)) {
            self.rows.on_way.extend(parts);
        } else if described != StreamId::NONE && frame.label.attack.is_none() && self.part(&frame).is_first() {
            let sent_at = frame.label.sent_at;
            let described = self.described(&frame, sent_at);
            let (stream, sequence) = (described.stream, described.sequence);
            self.rows.on_way.push(OnWayRow { stream, sequence, sent_at });
        }
    }

    fn taken(&mut self, at: SimTime, node: NodeId, frame: FrameContext<'_>) {
        if self.ways.may_lose(node, at) {
            self.take_before_restart(at, node, frame);
        }
        let is_shared = || self.describer(frame.label.segment).is_shared();
        if self.capture && !is_shared() && self.part(&frame) != MessagePart::Whole {
            self.capture(node, None, frame);
        }
    }

    fn came_from(&mut self, serial: u64, origins: &[u64]) {
        self.origins.insert(serial, origins.to_vec());
    }

    fn contains(&mut self, serial: u64, parts: &[FramePart]) {
        self.parts.insert(serial, parts.to_vec());
    }

    fn transmit(&mut self, at: SimTime, node: NodeId, frame: FrameContext<'_>) {
        let segment = frame.label.segment;
        let describer = self.describer(segment);
        let stream = describer.stream_of(frame.bytes);
        if !describer.part(frame.bytes).is_first() {
            return;
        }
        let (bytes, is_accounted) = (describer.payload_len(frame.bytes), describer.is_accounted(stream));
        if self.ways.is_relayed(stream) {
            if frame.label.attack.is_none() && self.ways.begins_at(stream, node) {
                let described = self.described(&frame, at);
                self.ways.begin(stream, described.sequence, at);
            }
            return;
        }
        if frame.label.attack.is_some() {
            return;
        }
        self.dues.leave(at, node, stream);
        if stream == StreamId::NONE {
            let strangers = &mut self.strangers[usize::from(segment)];
            strangers.frames += 1;
            strangers.bytes += bytes;
        } else if is_accounted {
            self.sent.entry(stream).or_default().push(at);
        }
    }

    fn carried(&mut self, at: SimTime, node: NodeId, frame: FrameContext<'_>) {
        if !self.capture {
            return;
        }
        let mut comment = match self.describer(frame.label.segment).stream_of(frame.bytes) {
            StreamId::NONE => String::new(),
            stream => format!("stream {}", stream.0),
        };
        if let Some(attack) = frame.label.attack {
            comment = format!("{}: {comment}", attack.name());
        }
        let segment = frame.label.segment;
        let (direction, bytes) = (Direction::Carried, frame.bytes.to_vec());
        self.rows.captures.push(CaptureRow { time: at, segment, node, direction, comment, bytes });
    }

    fn work(&mut self, at: SimTime, node: NodeId, work: &Work, cost: Duration) {
        let row = WorkRow { time: at, node, operation: work.operation.0, len: work.len, duration: cost };
        self.rows.work.push(row);
    }
}

/// The row of a frame that never came, which `describe` describes on its segment; `None` if nobody waits for frames of its stream
/// there.
pub(crate) fn missing_row(
    waits: &Waits,
    row: &EventRow,
    describe: impl FnOnce(usize) -> Option<Description>,
) -> Option<FrameRow> {
    let described = describe(usize::from(waits.segment(row.event.stream, row.node)?))?;
    Some(FrameRow {
        stream: row.event.stream,
        sequence: row.event.sequence,
        sender: described.sender.unwrap_or(row.node),
        at: row.node,
        attack: None,
        len: 0,
        cycle_start: described.cycle_start,
        slot_start: described.slot_start,
        sent_at: None,
        arrived_at: None,
        departed_at: None,
        received_at: None,
        due_at: None,
        accepted_at: None,
        outcome: Outcome::Missing,
        stalled: false,
        lost_for: None,
    })
}

#[cfg(test)]
mod tests;
