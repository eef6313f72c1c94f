//! How long frames really take.

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_catalog::{Describe, Prepared, SegmentTime};
use chronoseal_core::{DiscardReason, Duration, Event, EventKind, NodeId, SimTime, StreamId};
use chronoseal_plan::{Ethernet, Plan};
use chronoseal_sim::{FrameContext, Observer};

/// The quickest and the slowest frame at one receiver.
#[derive(Clone, Copy)]
pub(crate) struct Latest {
    pub(crate) min: Duration,
    pub(crate) max: Duration,
    /// Of the slowest.
    pub(crate) sequence: u64,
}

/// Measures from the instant at which a frame is due to the instant at which its receiver has it, checked.
pub(crate) struct Watch {
    describers: Vec<Box<dyn Describe>>,
    times: Vec<SegmentTime>,
    /// Whose number is below is a node of the scenario.
    nodes: usize,
    /// Frames that did not come in their slots, and when that was told.
    absent: Vec<(SimTime, StreamId, EventKind)>,
    joined_at: SimTime,
    senders: Vec<NodeId>,
    clocks: Vec<Due>,
    /// Of streams that begin in slots, by sequence number.
    slots: BTreeMap<(StreamId, u64), SimTime>,
    seen: BTreeMap<(StreamId, NodeId), Latest>,
    /// Streams of which a switch's queue had no room for a frame, or a station's, or of which a switch policed one.
    lost: BTreeSet<(StreamId, DiscardReason)>,
    /// Who has joined a cluster, and who has left one.
    joined: BTreeSet<NodeId>,
    left: BTreeSet<NodeId>,
    /// What the clocks of clusters showed last, when, against the time of the run.
    shown: BTreeMap<NodeId, (SimTime, i64)>,
    /// How far two of them were apart that were read within this time.
    cycle: Duration,
    spread: Duration,
    /// The largest correction of one of them.
    corrected: Duration,
}

/// How the frames of a stream become due.
struct Due {
    oscillator: chronoseal_core::Oscillator,
    offset: Duration,
    period: Duration,
    is_in_slots: bool,
}

impl Watch {
    pub(crate) fn new(prepared: &Prepared<'_>) -> Self {
        let plan = prepared.plan();
        let clock = |(index, stream): (usize, &chronoseal_plan::StreamPlan)| Due {
            oscillator: prepared.oscillator(stream.sender),
            offset: stream.application.map_or(stream.offset.unwrap_or_default(), |application| application.phase),
            period: stream.application.map_or(stream.period, |application| application.step()),
            is_in_slots: begins_in_slots(plan, StreamId(index as u16)) && stream.application.is_none(),
        };
        Self {
            describers: prepared.describers(),
            times: prepared.times(),
            nodes: plan.node_ids().count(),
            absent: Vec::new(),
            joined_at: SimTime::ZERO,
            senders: plan.streams.iter().map(|stream| stream.sender).collect(),
            clocks: plan.streams.iter().enumerate().map(clock).collect(),
            slots: BTreeMap::new(),
            seen: BTreeMap::new(),
            lost: BTreeSet::new(),
            joined: BTreeSet::new(),
            left: BTreeSet::new(),
            shown: BTreeMap::new(),
            cycle: Ethernet::first(plan).map_or(Duration::ZERO, |view| view.segment.integration_cycle),
            spread: Duration::ZERO,
            corrected: Duration::ZERO,
        }
    }

    /// What was absent from slots so much later than the last clock had joined, if any did.
    pub(crate) fn absent(&self, after: Duration) -> impl Iterator<Item = (SimTime, StreamId, EventKind)> {
        let from = self.joined_at + after;
        self.absent.iter().copied().filter(move |(at, ..)| *at > from)
    }

    /// True if a station has joined a cluster and never left it.
    pub(crate) fn kept_time(&self, node: NodeId) -> bool {
        self.joined.contains(&node) && !self.left.contains(&node)
    }

    /// True if a clock has left a cluster, of a station or of a switch.
    pub(crate) fn has_left(&self, node: NodeId) -> bool {
        self.left.contains(&node)
    }

    /// How far two clocks of a cluster were apart.
    pub(crate) fn spread(&self) -> Duration {
        self.spread
    }

    /// By how much a clock of a cluster was corrected.
    pub(crate) fn corrected(&self) -> Duration {
        self.corrected
    }

    /// A clock of a cluster is about to be corrected.
    fn read(&mut self, at: SimTime, node: NodeId, shown: u64) {
        let ahead = shown as i64 - at.since_zero().as_ps();
        self.shown.insert(node, (at, ahead));
        let since = at - self.cycle / 2;
        let recent = self.shown.values().filter(|(read, _)| *read >= since);
        let apart = recent.map(|(_, other)| (ahead - other).abs()).max().unwrap_or_default();
        self.spread = self.spread.max(Duration::from_ps(apart));
    }

    /// At a receiver, or at a gateway on the way.
    pub(crate) fn seen(&self, stream: StreamId, receiver: NodeId) -> Option<Latest> {
        self.seen.get(&(stream, receiver)).copied()
    }

    /// Streams of which a frame found the queues in front of a link full, or was policed.
    pub(crate) fn lost(&self) -> impl Iterator<Item = (StreamId, DiscardReason)> {
        self.lost.iter().copied()
    }

    /// When a frame was due.
    fn due(&self, stream: StreamId, sequence: u64) -> Option<SimTime> {
        let clock = &self.clocks[stream.index()];
        if clock.is_in_slots {
            return self.slots.get(&(stream, sequence)).copied();
        }
        let start = clock.oscillator.local(SimTime::ZERO);
        Some(clock.oscillator.sim(start + clock.offset + clock.period * sequence as i64))
    }
}

fn begins_in_slots(plan: &Plan, stream: StreamId) -> bool {
    let first = &plan.streams[stream.index()].hops[0];
    let on = Ethernet::of(plan, first.segment).and_then(|view| view.stream(stream));
    on.is_some_and(|stream| stream.class.is_time_triggered())
}

impl Observer for Watch {
    fn event(&mut self, at: SimTime, node: NodeId, event: &Event, frame: Option<FrameContext<'_>>) {
        // What an attacker made up is due at no time, and nobody misses it.
        if frame.is_some_and(|frame| frame.label.attack.is_some()) {
            return;
        }
        if let EventKind::Discarded(
            reason @ (DiscardReason::QueueFull | DiscardReason::HostBufferFull | DiscardReason::Policed),
        ) = event.kind
        {
            // A station's own queue knows no stream.
            let named = frame.map(|frame| self.describers[usize::from(frame.label.segment)].describe(frame.bytes, at));
            self.lost.insert((named.map_or(event.stream, |described| described.stream), reason));
        }
        self.times.iter_mut().for_each(|time| time.tell(at, node, event));
        let is_absent = match event.kind {
            EventKind::Missing => node.index() < self.nodes,
            EventKind::Discarded(reason) => matches!(
                reason,
                DiscardReason::OutsideWindow | DiscardReason::DuplicateInWindow | DiscardReason::NotSynchronised
            ),
            _ => false,
        };
        if is_absent {
            self.absent.push((at, event.stream, event.kind));
        }
        match event.kind {
            EventKind::SyncAcquired => {
                self.joined.insert(node);
                self.joined_at = at;
            }
            EventKind::SyncLost => {
                self.left.insert(node);
                self.shown.remove(&node);
            }
            EventKind::ClockShown => {
                self.corrected = self.corrected.max(Duration::from_ps(event.value.abs()));
                self.read(at, node, event.sequence);
            }
            _ => {}
        }
        if !matches!(event.kind, EventKind::Delivered | EventKind::Relayed) {
            return;
        }
        let Some(due) = self.due(event.stream, event.sequence) else { return };
        let (latency, sequence) = (at - due, event.sequence);
        let new = Latest { min: latency, max: latency, sequence };
        let seen = self.seen.entry((event.stream, node)).or_insert(new);
        seen.min = seen.min.min(latency);
        if latency > seen.max {
            (seen.max, seen.sequence) = (latency, sequence);
        }
    }

    fn transmit(&mut self, at: SimTime, node: NodeId, frame: FrameContext<'_>) {
        let segment = usize::from(frame.label.segment);
        let described = self.times[segment].describe(&*self.describers[segment], frame.bytes, at);
        let stream = described.stream;
        let begins = self.senders.get(stream.index()) == Some(&node) && self.clocks[stream.index()].is_in_slots;
        if let (true, Some(slot), Some(sequence)) = (begins, described.slot_start, described.sequence) {
            self.slots.insert((stream, sequence), slot);
        }
    }
}
