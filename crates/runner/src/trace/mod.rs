//! A simulated run as a trace for the viewer of the Perfetto project: who waited where for how long, frame by frame.

mod tracks;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use chronoseal_catalog::{BuildError, Describe, Prepared};
use chronoseal_core::{Duration, Event, EventKind, FramePart, NodeId, Priority, SimTime, StreamId, Work};
use chronoseal_media::watch::{Passed, Passing};
use chronoseal_nodes::end_system::TASK;
use chronoseal_nodes::gateway::RELAY;
use chronoseal_results::FrameRow;
use chronoseal_results::trace::{Category, Change, Frame, Mark, NameId, Slice, Trace, Ways};
use chronoseal_sim::{FrameContext, Observer};

use self::tracks::{Lane, Port, Tracks};
use crate::Run;
use crate::divide::Divider;
use crate::record::{Follow, Keep};
use crate::simulate::simulate_watched;

/// A trace holds at most so many slices, marks and steps of curves: about 100 MB, which a browser still opens at ease.
pub const TRACE_LEN_MAX: usize = 2_000_000;

/// The part of a run that a trace shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TraceWindow {
    /// From then on.
    pub from: SimTime,
    /// Until then.
    pub until: SimTime,
}

/// Why there is no trace.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The run cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// More happened than a viewer can show.
    #[error(
        "the trace would hold more than {TRACE_LEN_MAX} slices, marks and counts: so many there are from {from} to {reached}"
    )]
    TooLong {
        /// Where the window begins, from the start of the run.
        from: Duration,
        /// How far it came, from the start of the run.
        reached: Duration,
    },
}

/// [`simulate_followed`](crate::simulate_followed) that also draws what happens in a window of the run.
///
/// # Errors
/// [`TraceError`] if a node or a segment cannot be made as the plan has it, or if more happens in the window than a viewer
/// can show.
pub fn simulate_traced(
    prepared: &Prepared<'_>,
    capture: bool,
    window: TraceWindow,
    keep_going: &mut dyn FnMut(SimTime) -> bool,
) -> Result<(Run, Trace), TraceError> {
    let full: Rc<Cell<Option<SimTime>>> = Rc::default();
    let tracer = Tracer::new(prepared, window, Rc::clone(&full));
    let mut go_on = |at: SimTime| full.get().is_none() && keep_going(at);
    let watchers = (Divider::new(prepared), tracer);
    let (mut run, (divider, tracer)) = simulate_watched(prepared, (Keep::All, capture), watchers, &mut go_on)?;
    divider.finish(&mut run);
    let too_long =
        |reached: SimTime| TraceError::TooLong { from: window.from.since_zero(), reached: reached.since_zero() };
    let trace = tracer.finish();
    match full.get() {
        Some(reached) => Err(too_long(reached)),
        None => Ok((run, trace)),
    }
}

impl Follow for (Divider, Tracer) {
    fn ended(&mut self, frames: &[FrameRow], ready_ns: &[i64], forget: SimTime) {
        self.0.ended(frames, ready_ns, forget);
    }
}

/// A frame that a driver has handed over, by its number.
#[derive(Clone, Debug)]
struct Seen {
    stream: StreamId,
    sequence: u64,
    ways: Ways,
}

/// Draws what it sees.
struct Tracer {
    /// By segment.
    describers: Vec<Box<dyn Describe>>,
    window: TraceWindow,
    trace: Trace,
    tracks: Tracks,
    /// By stream.
    names: Vec<NameId>,
    none: NameId,
    /// By the driver's number, from 1.
    seen: Vec<Seen>,
    /// Frames of which a gateway makes the next one.
    origins: BTreeMap<u64, Vec<u64>>,
    /// When gateways got frames, and switches.
    came: BTreeMap<(u64, NodeId), SimTime>,
    /// What waits in front of a wire or a shared medium, and since when.
    queued: BTreeMap<(Port, u64), (SimTime, Priority)>,
    /// The frame that left a switch last, of which copies go to several ports at once.
    switched: Option<(u64, NodeId, SimTime)>,
    /// The first of the nodes that segments are made of.
    first_own: NodeId,
    /// When there were too many to draw.
    full: Rc<Cell<Option<SimTime>>>,
}

impl Tracer {
    fn new(prepared: &Prepared<'_>, window: TraceWindow, full: Rc<Cell<Option<SimTime>>>) -> Self {
        let mut trace = Trace::default();
        let mut tracks = Tracks::new(prepared, &mut trace);
        let end = SimTime::ZERO + prepared.plan().duration;
        // What begins at the last instant of a run belongs to it.
        let until = if window.until >= end { end + Duration::from_ns(1) } else { window.until };
        let window = TraceWindow { until, ..window };
        if let Err(reached) = tracks.draw_gates(&mut trace, [window.from, window.until.min(end)], TRACE_LEN_MAX) {
            full.set(Some(reached));
        }
        let names = prepared.plan().streams.iter().map(|stream| trace.name(&stream.name)).collect();
        Self {
            describers: prepared.describers(),
            window,
            none: trace.name("no stream"),
            names,
            trace,
            tracks,
            seen: Vec::new(),
            origins: BTreeMap::new(),
            came: BTreeMap::new(),
            queued: BTreeMap::new(),
            switched: None,
            first_own: NodeId(prepared.plan().node_ids().count() as u16),
            full,
        }
    }

    /// The trace, when the run is over.
    fn finish(mut self) -> Trace {
        for ((port, serial), (since, priority)) in std::mem::take(&mut self.queued) {
            self.draw_wait(port, priority, serial, [since, self.window.until]);
        }
        self.trace
    }

    fn name_of(&self, stream: StreamId) -> NameId {
        self.names.get(stream.index()).copied().unwrap_or(self.none)
    }

    fn seen(&self, serial: u64) -> Option<&Seen> {
        self.seen.get(usize::try_from(serial.checked_sub(1)?).ok()?)
    }

    /// A frame by its number: its name, and what says which one it is.
    fn frame(&self, serial: Option<u64>) -> (NameId, Option<Frame>) {
        match serial.and_then(|serial| self.seen(serial)) {
            Some(seen) => (self.name_of(seen.stream), Some(Frame { sequence: seen.sequence, ways: seen.ways.clone() })),
            None => (self.none, None),
        }
    }

    /// True if there is room for one more; remembers when there was none.
    fn has_room(&self, at: SimTime) -> bool {
        let has_room = self.trace.len() < TRACE_LEN_MAX;
        if !has_room && self.full.get().is_none() {
            self.full.set(Some(at));
        }
        has_room
    }

    fn shows(&self, [from, to]: [SimTime; 2]) -> bool {
        from < self.window.until && to >= self.window.from && self.has_room(from.max(self.window.from))
    }

    fn draw(&mut self, track: u32, span: [SimTime; 2], (name, frame): (NameId, Option<Frame>), category: Category) {
        if self.shows(span) {
            let [from, to] = span.map(|at| at.since_zero().as_ns());
            self.trace.slices.push(Slice { track, from, to, name, category, frame });
        }
    }

    fn mark(&mut self, node: NodeId, at: SimTime, name: NameId, category: Category, frame: Option<Frame>) {
        if self.shows([at, at]) {
            let track = self.tracks.lane(&mut self.trace, node, Lane::Frames);
            self.trace.marks.push(Mark { track, at: at.since_zero().as_ns(), name, category, frame });
        }
    }

    /// A frame that waited in front of a wire, and is one less there.
    fn draw_wait(&mut self, port: Port, priority: Priority, serial: u64, [since, until]: [SimTime; 2]) {
        if until <= since || !self.shows([since, until]) {
            return;
        }
        let (queue, waiting) =
            (self.tracks.queue(&mut self.trace, port, priority), self.tracks.waiting(&mut self.trace, port));
        self.draw(queue, [since, until], self.frame(Some(serial)), Category::Queue);
        for (at, by) in [(since, 1), (until, -1)] {
            self.trace.changes.push(Change { track: waiting, at: at.since_zero().as_ns(), by });
        }
    }

    /// A frame on a wire, and before that in front of it.
    fn draw_sent(&mut self, port: Port, serial: Option<u64>, sent: [SimTime; 2]) {
        if let Some(serial) = serial
            && let Some((since, priority)) = self.queued.remove(&(port, serial))
        {
            self.draw_wait(port, priority, serial, [since, sent[0]]);
        }
        if self.shows(sent) {
            let wire = self.tracks.wire(&mut self.trace, port);
            self.draw(wire, sent, self.frame(serial), Category::Transmission);
        }
    }

    /// Draws how long a node held a frame that goes on there now, if it got it.
    fn draw_stay(&mut self, node: NodeId, lane: Lane, serials: (u64, Option<u64>), at: SimTime, category: Category) {
        let (came_as, goes_as) = serials;
        if let Some(came) = self.came.get(&(came_as, node)).copied()
            && at > came
            && self.shows([came, at])
        {
            let track = self.tracks.lane(&mut self.trace, node, lane);
            self.draw(track, [came, at], self.frame(goes_as.or(Some(came_as))), category);
        }
    }
}

impl Observer for Tracer {
    const WATCHES_LINES: bool = true;

    fn event(&mut self, at: SimTime, node: NodeId, event: &Event, frame: Option<FrameContext<'_>>) {
        let serial = frame.and_then(|frame| frame.label.serial);
        let about = serial.and_then(|serial| self.frame(Some(serial)).1);
        match event.kind {
            EventKind::Delivered => self.mark(node, at, self.name_of(event.stream), Category::Accepted, about),
            EventKind::Relayed => {
                if let (Some(serial), Some(frame)) = (serial, frame) {
                    self.came.insert((serial, node), frame.received_at.unwrap_or(at));
                }
            }
            EventKind::Discarded(reason) => {
                let name = self.trace.name(reason.name());
                self.mark(node, at, name, Category::Discarded, about);
            }
            EventKind::Attacked(kind) => {
                let name = self.trace.name(kind.name());
                self.mark(node, at, name, Category::Attack, None);
            }
            _ => {}
        }
    }

    fn came_from(&mut self, serial: u64, origins: &[u64]) {
        self.origins.entry(serial).or_default().extend(origins);
    }

    fn contains(&mut self, serial: u64, parts: &[FramePart]) {
        self.origins.entry(serial).or_default().extend(parts.iter().filter_map(|part| part.origin));
    }

    fn transmit(&mut self, at: SimTime, node: NodeId, frame: FrameContext<'_>) {
        let Some(serial) = frame.label.serial else { return };
        let describer = &self.describers[usize::from(frame.label.segment)];
        let (described, priority) = (describer.describe(frame.bytes, at), describer.priority(frame.bytes));
        let is_shared = describer.is_shared();
        let origins = self.origins.remove(&serial).unwrap_or_default();
        let mut ways: Vec<u64> =
            origins.iter().filter_map(|origin| self.seen(*origin)).fold(Vec::new(), |mut all, seen| {
                all.extend(seen.ways.numbers());
                all
            });
        ways.sort_unstable();
        ways.dedup();
        let ways = match ways[..] {
            [] => Ways::One(serial),
            [way] => Ways::One(way),
            _ => Ways::Several(ways.into()),
        };
        let place = usize::try_from(serial - 1).unwrap_or(usize::MAX);
        let unknown = Seen { stream: StreamId::NONE, sequence: 0, ways: Ways::One(0) };
        self.seen.resize(self.seen.len().max(place + 1), unknown);
        let sequence = described.sequence.unwrap_or(serial);
        self.seen[place] = Seen { stream: described.stream, sequence, ways };
        for origin in origins {
            self.draw_stay(node, Lane::Gateway, (origin, Some(serial)), at, Category::Gateway);
        }
        if is_shared {
            self.queued.insert((Port::Shared(frame.label.segment, node), serial), (at, priority));
        }
    }

    fn carried(&mut self, at: SimTime, node: NodeId, frame: FrameContext<'_>) {
        let port = Port::Shared(frame.label.segment, node);
        self.draw_sent(port, frame.label.serial, [frame.departed_at.unwrap_or(at), at]);
    }

    fn passing(&mut self, passing: &Passing) {
        let port = Port::Line(passing.segment, passing.line);
        let wire = self.tracks.wire_of(passing.segment, passing.line).map(|wire| (wire.from, wire.to));
        match passing.what {
            Passed::Queued { priority } => {
                let Some(serial) = passing.frame else { return };
                self.queued.insert((port, serial), (passing.at, priority));
                if let Some((switch, _)) = wire
                    && self.switched.replace((serial, switch, passing.at)) != Some((serial, switch, passing.at))
                {
                    self.draw_stay(switch, Lane::Switching, (serial, None), passing.at, Category::Switching);
                }
            }
            Passed::Refused => {
                if let Some(serial) = passing.frame {
                    self.queued.remove(&(port, serial));
                }
            }
            Passed::Used { .. } => {}
            Passed::Sent { started_at, left_at, arrives_at, .. } => {
                self.draw_sent(port, passing.frame, [started_at, left_at]);
                if let (Some(serial), Some((_, to))) = (passing.frame, wire)
                    && to >= self.first_own
                {
                    self.came.insert((serial, to), arrives_at);
                }
            }
        }
    }

    fn handed_over(&mut self, at: SimTime, node: NodeId, frame: FrameContext<'_>) {
        let Some(received_at) = frame.received_at else { return };
        if self.shows([received_at, at]) {
            let track = self.tracks.lane(&mut self.trace, node, Lane::Host);
            self.draw(track, [received_at, at], self.frame(frame.label.serial), Category::HostInterface);
        }
    }

    fn work(&mut self, at: SimTime, node: NodeId, work: &Work, cost: Duration) {
        if cost <= Duration::ZERO || !self.shows([at, at + cost]) {
            return;
        }
        let category = match work.operation {
            operation if operation == TASK => Category::Task,
            operation if operation == RELAY => Category::Relay,
            _ => Category::Cryptography,
        };
        let (name, track) =
            (self.trace.name(work.operation.0), self.tracks.lane(&mut self.trace, node, Lane::Processor));
        self.draw(track, [at, at + cost], (name, None), category);
    }
}
