//! What a run is watched with.

use std::collections::BTreeMap;

use chronoseal_core::{Duration, Event, EventKind, FramePart, NodeId, SimTime, StreamId, Work};
use chronoseal_media::medium::{FRAME_CAPACITY, FrameLabel};
use chronoseal_media::watch::Passing;
use xxhash_rust::xxh3::Xxh3;

/// The frame an event is about.
#[derive(Clone, Copy, Debug)]
pub struct FrameContext<'a> {
    /// From header to the last byte before the checksum.
    pub bytes: &'a [u8],
    /// Where it comes from.
    pub label: &'a FrameLabel,
    /// First bit out at the switch.
    pub departed_at: Option<SimTime>,
    /// Last bit in at the node of the event.
    pub received_at: Option<SimTime>,
}

/// Sees everything that happens, in order.
pub trait Observer {
    /// True if it wants [`Self::passing`]; media keep nothing for it otherwise.
    const WATCHES_LINES: bool = false;

    /// True if it wants [`Self::taken`].
    const WATCHES_INPUTS: bool = Self::WATCHES_LINES;

    /// An event at a node, with the frame it is about if there is one.
    fn event(&mut self, at: SimTime, node: NodeId, event: &Event, frame: Option<FrameContext<'_>>);

    /// A frame was put on a wire.
    fn transmit(&mut self, at: SimTime, node: NodeId, frame: FrameContext<'_>) {
        let _ = (at, node, frame);
    }

    /// A whole frame has left its sender, and somebody has it. Only where the medium says so, as a CAN bus does.
    fn carried(&mut self, at: SimTime, node: NodeId, frame: FrameContext<'_>) {
        let _ = (at, node, frame);
    }

    /// The frame with this serial number, which is handed over next, came from frames with these.
    fn came_from(&mut self, serial: u64, origins: &[u64]) {
        let _ = (serial, origins);
    }

    /// The frame with this serial number, which is handed over next, holds PDUs of several streams. The origin of each is the
    /// serial number of a frame.
    fn contains(&mut self, serial: u64, parts: &[FramePart]) {
        let _ = (serial, parts);
    }

    /// A line did something with a frame. Of what happens at one instant a line tells in its order, before or after the events of
    /// nodes.
    fn passing(&mut self, passing: &Passing) {
        let _ = passing;
    }

    /// The host interface of a node has given a frame to its application.
    fn handed_over(&mut self, at: SimTime, node: NodeId, frame: FrameContext<'_>) {
        let _ = (at, node, frame);
    }

    /// A node's processor is free and takes a frame.
    #[inline(always)]
    fn taken(&mut self, at: SimTime, node: NodeId, frame: FrameContext<'_>) {
        let _ = (at, node, frame);
    }

    /// The run is over, and a node has not handed over a frame of its own that was due.
    fn owed(&mut self, node: NodeId, stream: StreamId, due_at: SimTime) {
        let _ = (node, stream, due_at);
    }

    /// The run is over, and a frame is on its way, or waits in a queue. Told once for each copy.
    fn on_way(&mut self, frame: FrameContext<'_>) {
        let _ = frame;
    }

    /// A node's processor is busy with `work` from `at` on, for `cost`.
    fn work(&mut self, at: SimTime, node: NodeId, work: &Work, cost: Duration) {
        let _ = (at, node, work, cost);
    }
}

/// A large observer stays in its place while the engine is set up.
impl<O: Observer> Observer for Box<O> {
    const WATCHES_LINES: bool = O::WATCHES_LINES;
    const WATCHES_INPUTS: bool = O::WATCHES_INPUTS;

    #[inline]
    fn event(&mut self, at: SimTime, node: NodeId, event: &Event, frame: Option<FrameContext<'_>>) {
        (**self).event(at, node, event, frame);
    }
    #[inline]
    fn transmit(&mut self, at: SimTime, node: NodeId, frame: FrameContext<'_>) {
        (**self).transmit(at, node, frame);
    }
    fn carried(&mut self, at: SimTime, node: NodeId, frame: FrameContext<'_>) {
        (**self).carried(at, node, frame);
    }
    fn came_from(&mut self, serial: u64, origins: &[u64]) {
        (**self).came_from(serial, origins);
    }
    fn contains(&mut self, serial: u64, parts: &[FramePart]) {
        (**self).contains(serial, parts);
    }
    fn passing(&mut self, passing: &Passing) {
        (**self).passing(passing);
    }
    fn handed_over(&mut self, at: SimTime, node: NodeId, frame: FrameContext<'_>) {
        (**self).handed_over(at, node, frame);
    }
    fn taken(&mut self, at: SimTime, node: NodeId, frame: FrameContext<'_>) {
        (**self).taken(at, node, frame);
    }
    fn owed(&mut self, node: NodeId, stream: StreamId, due_at: SimTime) {
        (**self).owed(node, stream, due_at);
    }
    fn on_way(&mut self, frame: FrameContext<'_>) {
        (**self).on_way(frame);
    }
    fn work(&mut self, at: SimTime, node: NodeId, work: &Work, cost: Duration) {
        (**self).work(at, node, work, cost);
    }
}

/// Two observers of one run.
impl<A: Observer, B: Observer> Observer for (A, B) {
    const WATCHES_LINES: bool = A::WATCHES_LINES || B::WATCHES_LINES;
    const WATCHES_INPUTS: bool = A::WATCHES_INPUTS || B::WATCHES_INPUTS;

    // Inlined, a context need not be written to memory for each observer to read it back.
    #[inline(always)]
    fn event(&mut self, at: SimTime, node: NodeId, event: &Event, frame: Option<FrameContext<'_>>) {
        self.0.event(at, node, event, frame);
        self.1.event(at, node, event, frame);
    }
    fn transmit(&mut self, at: SimTime, node: NodeId, frame: FrameContext<'_>) {
        self.0.transmit(at, node, frame);
        self.1.transmit(at, node, frame);
    }
    fn carried(&mut self, at: SimTime, node: NodeId, frame: FrameContext<'_>) {
        self.0.carried(at, node, frame);
        self.1.carried(at, node, frame);
    }
    fn came_from(&mut self, serial: u64, origins: &[u64]) {
        self.0.came_from(serial, origins);
        self.1.came_from(serial, origins);
    }
    fn contains(&mut self, serial: u64, parts: &[FramePart]) {
        self.0.contains(serial, parts);
        self.1.contains(serial, parts);
    }
    fn passing(&mut self, passing: &Passing) {
        self.0.passing(passing);
        self.1.passing(passing);
    }
    fn handed_over(&mut self, at: SimTime, node: NodeId, frame: FrameContext<'_>) {
        self.0.handed_over(at, node, frame);
        self.1.handed_over(at, node, frame);
    }
    #[inline(always)]
    fn taken(&mut self, at: SimTime, node: NodeId, frame: FrameContext<'_>) {
        self.0.taken(at, node, frame);
        self.1.taken(at, node, frame);
    }
    fn owed(&mut self, node: NodeId, stream: StreamId, due_at: SimTime) {
        self.0.owed(node, stream, due_at);
        self.1.owed(node, stream, due_at);
    }
    fn on_way(&mut self, frame: FrameContext<'_>) {
        self.0.on_way(frame);
        self.1.on_way(frame);
    }
    fn work(&mut self, at: SimTime, node: NodeId, work: &Work, cost: Duration) {
        self.0.work(at, node, work, cost);
        self.1.work(at, node, work, cost);
    }
}

/// Nobody watches.
impl Observer for () {
    fn event(&mut self, _: SimTime, _: NodeId, _: &Event, _: Option<FrameContext<'_>>) {}
}

/// Bytes gathered before they are hashed.
const PENDING_LEN: usize = 4096;

/// What is hashed of an event itself `[byte]`.
const RECORD_LEN: usize = 32;

/// Of frames that are only headers this much is hashed `[byte]`.
const HEADERS_LEN: usize = 22;

/// Room for what is gathered, and for one more event with the longest frame.
const ROOM: usize = PENDING_LEN + RECORD_LEN + FRAME_CAPACITY;

/// XXH3-128 over every event: time, node, kind, stream, sequence, figure, and the bytes of the frame it is about.
pub struct Fingerprint {
    hash: Xxh3,
    /// What is not hashed yet, `pending[..len]`: the hash takes a few large pieces faster than many small ones.
    pending: Box<[u8; ROOM]>,
    /// Below [`PENDING_LEN`] between two events.
    len: usize,
    /// True if of each frame at most [`HEADERS_LEN`] bytes are hashed.
    headers_only: bool,
}

impl Fingerprint {
    /// Over whole frames.
    pub fn of_bytes() -> Self {
        Self::over(false)
    }

    /// Over the headers only, for runs whose frames are no more than that.
    pub fn of_headers() -> Self {
        Self::over(true)
    }

    fn over(headers_only: bool) -> Self {
        Self { hash: Xxh3::new(), pending: Box::new([0; ROOM]), len: 0, headers_only }
    }

    #[cold]
    #[inline(never)]
    fn hash_pending(&mut self) {
        self.hash.update(&self.pending[..self.len]);
        self.len = 0;
    }

    /// Hexadecimal.
    pub fn finish(&self) -> String {
        let mut hash = self.hash.clone();
        hash.update(&self.pending[..self.len]);
        format!("{:032x}", hash.digest128())
    }
}

impl Observer for Fingerprint {
    // Inlined, a context need not be written to memory for each observer to read it back.
    #[inline(always)]
    fn event(&mut self, at: SimTime, node: NodeId, event: &Event, frame: Option<FrameContext<'_>>) {
        // Whole words, written where they are hashed: pieces that are copied as something wider wait for each other.
        let place = u64::from(node.0) | u64::from(event.kind.code()) << 16 | u64::from(event.stream.0) << 32;
        let (record, room) = self.pending[self.len..].split_at_mut(RECORD_LEN);
        record[..8].copy_from_slice(&at.as_ps().to_le_bytes());
        record[8..16].copy_from_slice(&place.to_le_bytes());
        record[16..24].copy_from_slice(&event.sequence.to_le_bytes());
        record[24..].copy_from_slice(&event.value.to_le_bytes());
        self.len += RECORD_LEN;
        match frame.map(|frame| (frame.bytes, frame.bytes.first_chunk::<HEADERS_LEN>())) {
            // What has a length that is known here is copied at once and without a call.
            Some((_, Some(headers))) if self.headers_only => {
                room[..HEADERS_LEN].copy_from_slice(headers);
                self.len += HEADERS_LEN;
            }
            Some((bytes, _)) => {
                room[..bytes.len()].copy_from_slice(bytes);
                self.len += bytes.len();
            }
            None => {}
        }
        if self.len >= PENDING_LEN {
            self.hash_pending();
        }
    }
}

/// Counts and latencies by stream, nothing kept of single frames.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    rows: Vec<TallyRow>,
    /// When the first frame of each message was sent that a node has half, where messages have several.
    began: BTreeMap<(StreamId, NodeId, u64), SimTime>,
}

/// What [`Tally`] knows of one stream. Latency is from the first bit at the sender to the last bit at the receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TallyRow {
    /// Frames accepted by a receiver.
    pub delivered: u64,
    /// Frames thrown away anywhere.
    pub discarded: u64,
    /// Slots without a frame, at switch and receivers.
    pub missing: u64,
    /// Scheduled frames the switch passed on after their dispatch time.
    pub late: u64,
    /// Sum of all latencies `[ps]`.
    pub latency_sum_ps: i128,
    /// The longest.
    pub latency_max: Duration,
}

impl TallyRow {
    /// Mean latency `[ns]`; 0 if nothing was delivered.
    pub fn latency_mean_ns(&self) -> f64 {
        if self.delivered == 0 { 0.0 } else { self.latency_sum_ps as f64 / self.delivered as f64 / 1000.0 }
    }
}

impl Tally {
    /// By stream.
    pub fn rows(&self) -> &[TallyRow] {
        &self.rows
    }

    /// Frames accepted, of all streams.
    pub fn delivered(&self) -> u64 {
        self.rows.iter().map(|row| row.delivered).sum()
    }

    /// Frames thrown away, missing or late, of all streams.
    pub fn violations(&self) -> u64 {
        self.rows.iter().map(|row| row.discarded + row.missing + row.late).sum()
    }

    /// When the first frame of the message was sent that an event is about, if it has several.
    #[inline(always)]
    fn message_began(&mut self, node: NodeId, event: &Event, frame: Option<&FrameContext<'_>>) -> Option<SimTime> {
        // In most networks none has.
        if self.began.is_empty() && !matches!(event.kind, EventKind::TransferBegan) {
            return None;
        }
        self.note_message(node, event, frame)
    }

    #[inline(never)]
    fn note_message(&mut self, node: NodeId, event: &Event, frame: Option<&FrameContext<'_>>) -> Option<SimTime> {
        match (event.kind, frame) {
            (EventKind::TransferBegan, Some(frame)) => {
                self.began.insert((event.stream, node, event.sequence), frame.label.sent_at);
                None
            }
            (EventKind::Delivered | EventKind::Discarded(_), _) => {
                // Where frames keep their order there is one at most, whatever number its end has.
                let of_stream = (event.stream, node, 0)..=(event.stream, node, u64::MAX);
                let own = (event.stream, node, event.sequence);
                let key = if self.began.contains_key(&own) { own } else { *self.began.range(of_stream).next()?.0 };
                self.began.remove(&key)
            }
            _ => None,
        }
    }

    #[inline]
    fn row(&mut self, stream: StreamId) -> Option<&mut TallyRow> {
        if stream == StreamId::NONE {
            return None;
        }
        if self.rows.len() <= stream.index() {
            self.add_rows(stream);
        }
        self.rows.get_mut(stream.index())
    }

    #[cold]
    #[inline(never)]
    fn add_rows(&mut self, stream: StreamId) {
        self.rows.resize(stream.index() + 1, TallyRow::default());
    }
}

impl Observer for Tally {
    // Inlined, a context need not be written to memory for each observer to read it back.
    #[inline(always)]
    fn event(&mut self, _: SimTime, node: NodeId, event: &Event, frame: Option<FrameContext<'_>>) {
        let began = self.message_began(node, event, frame.as_ref());
        let Some(row) = self.row(event.stream) else { return };
        match event.kind {
            EventKind::Delivered => {
                row.delivered += 1;
                if let Some(FrameContext { label, received_at: Some(received_at), .. }) = frame {
                    let latency = received_at - began.unwrap_or(label.sent_at);
                    row.latency_sum_ps += i128::from(latency.as_ps());
                    row.latency_max = row.latency_max.max(latency);
                }
            }
            EventKind::Discarded(_) => row.discarded += 1,
            EventKind::Missing => row.missing += 1,
            EventKind::Forwarded if event.value > 0 => row.late += 1,
            _ => {}
        }
    }
}
