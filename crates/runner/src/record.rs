//! Turns what happens in the simulator into the rows of a run, whatever its segments are.

mod ends;
mod handed;

use std::collections::{BTreeMap, VecDeque};

use chronoseal_catalog::{Describe, Description, Prepared, SegmentTime};
use chronoseal_core::{
    AttackKind, DiscardReason, Duration, Event, EventKind, FramePart, MessagePart, NodeId, SimTime, StreamId, Work,
};
use chronoseal_media::medium::FrameLabel;
use chronoseal_media::topology::Topology;
use chronoseal_media::watch::Passing;
use chronoseal_plan::{Plan, StreamPlan};
use chronoseal_results::rows::{
    CaptureRow, Direction, EventRow, FrameRow, HopRow, OnWayRow, Outcome, OwedRow, RunRows, WorkRow,
};
use chronoseal_results::{Fold, RunMeta, RunSummary, Sink};
use chronoseal_sim::{FrameContext, Observer};

use self::handed::Handed;
use crate::facts::{self, Strangers};
use crate::messages::{About, Begun, Messages};
use crate::precision::Precision;
use crate::ways::{OnSegment, Open};

/// What becomes of the rows of a run.
pub(crate) enum Keep<'s> {
    /// All of them are kept.
    All,
    /// Each is counted, handed over and forgotten when its frame has ended.
    Settled(Span, &'s mut (dyn Sink + Send)),
}

/// How much happens before rows are settled that are not kept.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// At least so many rows.
    pub rows: usize,
    /// For at least so long. All that becomes of a frame is told within two spans, or it is known to be open.
    pub time: Duration,
}

impl Span {
    /// Long enough for a plan.
    pub fn of(plan: &Plan) -> Self {
        let own =
            |stream: &StreamPlan| stream.deadlines.iter().map(|(_, deadline)| *deadline).chain(stream.deadline).max();
        let deadline = plan.streams.iter().filter_map(own).max().unwrap_or(Duration::ZERO);
        Self { rows: 1 << 13, time: Duration::from_s(1).max(deadline * 2) }
    }
}

/// Who watches a run beside the recorder, and is told which frames have ended.
pub(crate) trait Follow: Observer {
    /// Frames have ended; `ready_ns` says when start-up was over for each stream, as far as is known. What was told before `forget` is
    /// asked for no more.
    fn ended(&mut self, frames: &[FrameRow], ready_ns: &[i64], forget: SimTime) {
        let _ = (frames, ready_ns, forget);
    }
}

impl Follow for () {}

/// Spans for which frames are followed by their serial numbers, however long they are under way.
const SERIAL_SPANS: usize = 16;

/// Makes rows of what happens and folds them into the summary; keeps them if they are stored.
pub(crate) struct Recorder<'p, 's, W = ()> {
    watcher: W,
    /// By segment.
    describers: Vec<Box<dyn Describe>>,
    /// By segment.
    times: Vec<SegmentTime>,
    waits: Waits,
    /// The first of the nodes that segments are made of.
    first_own: NodeId,
    keep: Keep<'s>,
    /// Whether frames are kept for a capture file.
    capture: bool,
    /// What is kept.
    rows: RunRows,
    fold: Box<Fold>,
    open: Box<Open<'p>>,
    /// Serial number of the frame captured last on its way in, so that a multicast is captured there once.
    captured: Option<u64>,
    handed: Handed,
    /// By segment.
    strangers: Vec<Strangers>,
    precision: Precision,
    messages: Messages,
    /// Messages of which a segment threw a later frame away, why, and when.
    cut_short: BTreeMap<(StreamId, u64), (DiscardReason, SimTime)>,
    /// Inputs of gateways that a frame came from, by serial number.
    origins: BTreeMap<u64, Vec<u64>>,
    /// What is in frames with PDUs of several streams, by serial number.
    parts: BTreeMap<u64, Vec<FramePart>>,
    /// Frames that a node took before it started anew or meanwhile, and of which it has told nothing, by serial number.
    untold: BTreeMap<(NodeId, u64), Untold>,
    /// How many PDUs of a stream in a frame a node has told of.
    parts_told: BTreeMap<(u64, NodeId, StreamId), usize>,
    /// When the last spans were over, and the last serial number then.
    over: VecDeque<(SimTime, u64)>,
    /// The last serial number.
    serial: u64,
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

impl<'p, 's, W: Follow> Recorder<'p, 's, W> {
    /// An empty record of a run that is described by `meta`. With `capture` every frame is kept.
    pub(crate) fn new(prepared: &Prepared<'p>, meta: &RunMeta, keep: Keep<'s>, capture: bool, watcher: W) -> Self {
        let plan = prepared.plan();
        Self {
            watcher,
            describers: prepared.describers(),
            times: prepared.times(),
            waits: Waits::of(plan),
            first_own: NodeId(plan.node_ids().count() as u16),
            keep,
            capture,
            rows: RunRows::default(),
            fold: Box::new(Fold::new(meta)),
            open: Box::new(Open::new(prepared)),
            captured: None,
            handed: Handed::default(),
            strangers: vec![Strangers::default(); plan.segments.len()],
            precision: Precision::new(prepared),
            messages: Messages::default(),
            cut_short: BTreeMap::new(),
            origins: BTreeMap::new(),
            parts: BTreeMap::new(),
            untold: BTreeMap::new(),
            parts_told: BTreeMap::new(),
            over: VecDeque::new(),
            serial: 0,
        }
    }

    /// What the run came to, the rows that are kept, and who watched, when the run is over.
    pub(crate) fn finish(mut self, plan: &Plan, topology: &Topology, is_whole: bool) -> (RunSummary, RunRows, W) {
        self.half_received();
        self.lost_in_restarts(plan);
        self.unaccounted(plan);
        self.open.wait_at_senders();
        let last = self.open.last();
        let frames = self.settle_open(last, last, true);
        for (id, strangers) in plan.segment_ids().zip(self.strangers) {
            let mut counted = topology.series_of(id.0);
            counted.extend(self.precision.series(id.index()));
            self.rows.segments.extend(facts::series(id, counted, strangers));
        }
        self.rows.absences = self.open.absences();
        self.rows.owed = std::mem::take(&mut self.open.owed);
        self.rows.on_way = std::mem::take(&mut self.open.on_way);
        self.rows.interrupted = !is_whole;
        let (summary, figures) = self.fold.finish(!is_whole, &self.rows);
        let ready_ns: Vec<i64> = summary.streams.iter().map(|stream| stream.ready_ns).collect();
        self.watcher.ended(&frames, &ready_ns, SimTime::MAX);
        match self.keep {
            Keep::All => (self.rows.frames, self.rows.hops) = (frames, self.open.hops.rows),
            Keep::Settled(..) => self.rows.figures = Some(Box::new(figures)),
        }
        (summary, self.rows, self.watcher)
    }

    /// Settles what has ended if enough has been told since this was done last.
    fn settle(&mut self, now: SimTime) {
        let Keep::Settled(span, _) = self.keep else { return };
        let (since, _) = self.over.back().copied().unwrap_or((SimTime::ZERO, 0));
        if self.open.fresh() < span.rows || now - since < span.time {
            return;
        }
        let before =
            |spans: usize| self.over.len().checked_sub(spans).map_or(SimTime::ZERO, |place| self.over[place].0);
        let (forgotten, [old, older]) = (before(SERIAL_SPANS), [2, 3].map(before));
        let frames = self.settle_open(now, self.handed.oldest().unwrap_or(now).max(forgotten), false);
        self.fold.set_absences(&self.open.absences());
        self.fold.settle(now);
        // Where frames are under way that are older, what was told of them is asked for later.
        let oldest = self.open.oldest().into_iter().chain(self.handed.oldest()).min().unwrap_or(now);
        self.watcher.ended(&frames, self.fold.ready_ns(), older.min(oldest).max(forgotten));
        self.cut_short.retain(|_, (_, at)| *at >= old);
        self.handed.forget_ended(self.open.plan());
        if self.over.len() == SERIAL_SPANS
            && let Some((_, old)) = self.over.pop_front()
        {
            self.origins = self.origins.split_off(&old);
            self.parts = self.parts.split_off(&old);
            self.parts_told = self.parts_told.split_off(&(old, NodeId(0), StreamId(0)));
        }
        self.over.push_back((now, self.serial));
    }

    /// A span is over, or the run: counts transmissions and frames of the span before, and hands them over. Frames that left their senders
    /// from `oldest` on may be under way.
    fn settle_open(&mut self, now: SimTime, oldest: SimTime, is_over: bool) -> Vec<FrameRow> {
        for hop in self.open.settling_hops(is_over) {
            self.fold.hop(hop);
            if let Keep::Settled(_, sink) = &mut self.keep {
                sink.hop(hop);
            }
        }
        let frames = self.open.settle(now, oldest, is_over);
        for row in &frames {
            self.fold.frame(row);
            if let Keep::Settled(_, sink) = &mut self.keep {
                sink.frame(row);
            }
        }
        frames
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

    fn frame_row(&mut self, at: SimTime, node: NodeId, event: &Event, frame: FrameContext<'_>) {
        let described = self.described(&frame, frame.label.sent_at);
        let describer = self.describer(frame.label.segment);
        let is_shared = describer.is_shared();
        if !describer.is_for(described.stream, node) {
            return;
        }
        if self.open.ways.is_in(event.stream, described.stream) {
            return self.part_row(at, node, event, frame);
        }
        let thrown_away = thrown_away(at, event, &frame);
        let is_copy = thrown_away == Some(Outcome::Discarded(DiscardReason::CopyEliminated));
        if frame.label.attack.is_none() && !is_copy {
            self.handed.end(described.stream, node);
        }
        let is_after =
            |at: Option<SimTime>, limit: Option<SimTime>| at.zip(limit).is_some_and(|(at, limit)| at > limit);
        let mut sequence = described.sequence.unwrap_or_else(|| {
            // Whoever cannot read a frame either says nothing of its number.
            let sender = described.sender.filter(|_| event.stream == StreamId::NONE);
            let known = sender.and_then(|sender| self.open.number_of(described.stream, sender, frame.label.sent_at));
            known.unwrap_or(event.sequence)
        });
        if self.open.ways.is_relayed(described.stream) {
            if matches!(event.kind, EventKind::Delivered | EventKind::Relayed) {
                // What the receiver found under the tag, whatever stands in a header that no tag covers.
                sequence = event.sequence;
            }
            let origins = frame.label.serial.and_then(|serial| self.origins.get(&serial)).cloned().unwrap_or_default();
            self.hop_row(at, node, (described.stream, sequence), origins, frame);
        }
        let cut_short = self.cut_short.get(&(event.stream, event.sequence)).map(|(reason, _)| *reason);
        let outcome = match thrown_away {
            // Its receiver waited in vain for what a segment had thrown away.
            Some(Outcome::Discarded(DiscardReason::FrameMissing)) if cut_short.is_some() => {
                Outcome::Discarded(cut_short.unwrap_or(DiscardReason::FrameMissing))
            }
            Some(outcome) => outcome,
            _ if is_after(frame.departed_at, described.leaves_by) => Outcome::Late,
            _ if is_after(Some(at), described.received_by) => Outcome::Late,
            _ => Outcome::Delivered,
        };
        let received_at = match described.is_received_when_checked {
            true => Some(at),
            false => frame.received_at.or((node < self.first_own).then_some(at)),
        };
        self.open.frame(FrameRow {
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
        let sender =
            if attack.is_some() { frame.label.sender } else { self.open.ways.sender(event.stream).unwrap_or(node) };
        let described = self.described(&frame, frame.label.sent_at);
        let is_shared = self.describer(frame.label.segment).is_shared();
        let outcome = thrown_away(at, event, &frame).unwrap_or(Outcome::Delivered);
        self.open.frame(FrameRow {
            attack,
            len: frame.bytes.len() as u32,
            sent_at: Some(frame.label.sent_at),
            arrived_at: frame.label.arrived_at.filter(|_| !is_shared),
            departed_at: frame.departed_at,
            received_at: if described.is_received_when_checked { Some(at) } else { frame.received_at.or(Some(at)) },
            accepted_at: accepted_at(at, event),
            ..FrameRow::open(event.stream, event.sequence, sender, node, described.cycle_start, outcome)
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
        self.open.hops.push(HopRow {
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

    /// What a frame is, for whoever reads a capture.
    fn remark(&self, stream: StreamId, number: Option<u64>, attack: Option<AttackKind>) -> String {
        let name = self.open.plan().streams.get(stream.index()).map(|stream| &stream.name);
        let remark = match (name, number) {
            (None, _) => String::new(),
            (Some(name), None) => format!("stream {name}"),
            (Some(name), Some(number)) => format!("stream {name} sequence {number}"),
        };
        match attack {
            Some(attack) => format!("{}: {remark}", attack.name()),
            None => remark,
        }
    }

    /// Keeps a frame as it was seen at a switch, coming in and going out.
    fn capture(&mut self, node: NodeId, event: Option<&Event>, frame: FrameContext<'_>) {
        let described = self.described(&frame, frame.label.sent_at);
        let told = event.filter(|event| matches!(event.kind, EventKind::Delivered | EventKind::Relayed));
        let number = described.sequence.or(told.map(|event| event.sequence));
        let what = self.remark(described.stream, number, frame.label.attack);
        let verdict = match event.map(|event| event.kind) {
            Some(EventKind::Discarded(reason)) => format!("discarded: {}", reason.name()),
            Some(kind @ (EventKind::Delivered | EventKind::Relayed)) => kind.name().to_owned(),
            _ => String::new(),
        };
        // Of a frame that goes on each of its receivers says what became of it, where it left for them.
        let is_end = frame.departed_at.is_none();
        let comment = |with_verdict: bool| {
            let verdict = Some(&verdict).filter(|verdict| with_verdict && !verdict.is_empty());
            let parts: Vec<&str> = [Some(&what), verdict].into_iter().flatten().map(String::as_str).collect();
            parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
        };
        if let Some(arrived) = frame.label.arrived_at
            && self.captured != frame.label.serial
        {
            self.captured = frame.label.serial;
            self.rows.captures.push(CaptureRow {
                time: arrived,
                segment: frame.label.segment,
                node: sender(&frame, described.sender),
                direction: Direction::Arrival,
                comment: comment(is_end),
                bytes: frame.bytes.to_vec(),
            });
        }
        if let Some(departed) = frame.departed_at {
            self.rows.captures.push(CaptureRow {
                time: departed,
                segment: frame.label.segment,
                node,
                direction: Direction::Departure,
                comment: comment(true),
                bytes: frame.bytes.to_vec(),
            });
        }
    }
}

/// When a receiver has accepted a frame, if it has.
fn accepted_at(at: SimTime, event: &Event) -> Option<SimTime> {
    matches!(event.kind, EventKind::Delivered | EventKind::Relayed).then_some(at)
}

/// An event, which of an attack says how long ago the frame was sent that the attacker has in its hands.
fn with_age_in_hands(at: SimTime, event: &Event, frame: Option<&FrameContext<'_>>) -> Event {
    match (event.kind, frame) {
        (EventKind::Attacked(_), Some(frame)) => Event { value: (at - frame.label.sent_at).as_ps(), ..*event },
        _ => *event,
    }
}

/// What became of a frame that an event says was thrown away; `None` if it was not.
fn thrown_away(at: SimTime, event: &Event, frame: &FrameContext<'_>) -> Option<Outcome> {
    Outcome::thrown_away(event, Some(frame.label.sent_at), frame.received_at.unwrap_or(at))
}

/// Who is named as sender: an attacker of its own frames only, not of those it let pass on a station's link.
fn sender(frame: &FrameContext<'_>, of_stream: Option<NodeId>) -> NodeId {
    match frame.label.attack {
        Some(_) => frame.label.sender,
        None => of_stream.unwrap_or(frame.label.sender),
    }
}

impl<W: Follow> Observer for Recorder<'_, '_, W> {
    const WATCHES_LINES: bool = W::WATCHES_LINES;
    const WATCHES_INPUTS: bool = true;

    fn event(&mut self, at: SimTime, node: NodeId, event: &Event, frame: Option<FrameContext<'_>>) {
        self.watcher.event(at, node, event, frame);
        let row = EventRow { time: at, node, event: with_age_in_hands(at, event, frame.as_ref()) };
        self.fold.event(&row);
        self.open.event(&row);
        match &mut self.keep {
            Keep::All => self.rows.events.push(row),
            Keep::Settled(_, sink) => sink.event(&row),
        }
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
            self.cut_short.entry((event.stream, event.sequence)).or_insert((reason, at));
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
            (EventKind::Rebooted, _) => self.lost_in_restart(node),
            // One of no stream has no way that could be told later.
            (EventKind::Discarded(reason), _)
                if event.stream == StreamId::NONE && self.open.ways.is_loss_at_gateway(node, event) =>
            {
                let outcome = Outcome::Discarded(reason);
                self.open.frame(FrameRow::open(event.stream, event.sequence, node, node, at, outcome));
            }
            // These are told of frames of streams that gateways carry on when all is known of them.
            (EventKind::Discarded(_), _) if self.open.ways.is_loss_at_gateway(node, event) => {}
            (EventKind::Missing, _) if self.open.ways.is_relayed(event.stream) => {}
            (EventKind::Discarded(_), _) if self.open.ways.is_refused_by_sender(node, event) => {}
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
                told.into_iter().for_each(|row| self.open.frame(row));
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
        self.settle(at);
    }

    fn owed(&mut self, node: NodeId, stream: StreamId, due_at: SimTime) {
        self.watcher.owed(node, stream, due_at);
        self.open.owed.push(OwedRow { node, stream, due_at });
    }

    fn on_way(&mut self, frame: FrameContext<'_>) {
        self.watcher.on_way(frame);
        let described = self.describer(frame.label.segment).stream_of(frame.bytes);
        if let Some(parts) = frame.label.serial.and_then(|serial| self.parts_on_way(serial)) {
            self.open.on_way.extend(parts);
        } else if described == StreamId::NONE || !self.part(&frame).is_first() {
            // Its message is told of by its first frame.
        } else if frame.label.attack.is_some() {
            self.attack_on_way(frame, described);
        } else {
            let sent_at = frame.label.sent_at;
            let described = self.described(&frame, sent_at);
            let (stream, sequence) = (described.stream, described.sequence);
            self.open.on_way.push(OnWayRow { stream, sequence, sent_at });
        }
    }

    fn taken(&mut self, at: SimTime, node: NodeId, frame: FrameContext<'_>) {
        self.watcher.taken(at, node, frame);
        if self.open.ways.may_lose(node, at) {
            self.take_before_restart(at, node, frame);
        }
        let is_shared = || self.describer(frame.label.segment).is_shared();
        if self.capture && !is_shared() && self.part(&frame) != MessagePart::Whole {
            self.capture(node, None, frame);
        }
    }

    fn came_from(&mut self, serial: u64, origins: &[u64]) {
        self.watcher.came_from(serial, origins);
        self.origins.insert(serial, origins.to_vec());
    }

    fn contains(&mut self, serial: u64, parts: &[FramePart]) {
        self.watcher.contains(serial, parts);
        self.parts.insert(serial, parts.to_vec());
    }

    fn transmit(&mut self, at: SimTime, node: NodeId, frame: FrameContext<'_>) {
        self.watcher.transmit(at, node, frame);
        self.serial = self.serial.max(frame.label.serial.unwrap_or(0));
        let segment = frame.label.segment;
        let describer = self.describer(segment);
        let stream = describer.stream_of(frame.bytes);
        if !describer.part(frame.bytes).is_first() {
            return;
        }
        if self.open.ways.is_relayed(stream) {
            if frame.label.attack.is_none() && self.open.ways.begins_at(stream, node) {
                let described = self.described(&frame, at);
                let (sequence, serial) = (described.sequence, frame.label.serial);
                self.open.begin(OnSegment { stream, sequence, sent_at: at, serial });
            }
            return;
        }
        if frame.label.attack.is_some() {
            return;
        }
        self.open.dues.leave(at, node, stream);
        if stream == StreamId::NONE {
            let bytes = self.describer(segment).payload_len(frame.bytes);
            let strangers = &mut self.strangers[usize::from(segment)];
            strangers.frames += 1;
            strangers.bytes += bytes;
        } else if self.describer(segment).is_accounted(stream) {
            self.handed.hand_over(stream, at);
        }
    }

    fn carried(&mut self, at: SimTime, node: NodeId, frame: FrameContext<'_>) {
        self.watcher.carried(at, node, frame);
        if !self.capture {
            return;
        }
        let described = self.described(&frame, frame.label.sent_at);
        let comment = self.remark(described.stream, described.sequence, frame.label.attack);
        let segment = frame.label.segment;
        let (direction, bytes) = (Direction::Carried, frame.bytes.to_vec());
        self.rows.captures.push(CaptureRow { time: at, segment, node, direction, comment, bytes });
    }

    fn work(&mut self, at: SimTime, node: NodeId, work: &Work, cost: Duration) {
        self.watcher.work(at, node, work, cost);
        let row = WorkRow { time: at, node, operation: work.operation.0, len: work.len, duration: cost };
        self.fold.work(&row);
        match &mut self.keep {
            Keep::All => self.rows.work.push(row),
            Keep::Settled(_, sink) => sink.work(&row),
        }
    }

    fn passing(&mut self, passing: &Passing) {
        self.watcher.passing(passing);
    }

    fn handed_over(&mut self, at: SimTime, node: NodeId, frame: FrameContext<'_>) {
        self.watcher.handed_over(at, node, frame);
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
    let (event, sender) = (&row.event, described.sender.unwrap_or(row.node));
    let (stream, sequence, begins_at) = (event.stream, event.sequence, described.cycle_start);
    let missing = FrameRow::open(stream, sequence, sender, row.node, begins_at, Outcome::Missing);
    Some(FrameRow { slot_start: described.slot_start, ..missing })
}

#[cfg(test)]
mod tests;
