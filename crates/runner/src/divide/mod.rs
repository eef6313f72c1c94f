//! Where the latency of each frame of a simulation goes: what it waited for, step by step, from when it was due to when its
//! receiver had accepted it.
//!
//! Every step ends where the next one begins, so that the parts of a frame add up to its latency to the picosecond. A frame is
//! followed back from its receiver: over the wires of a segment, and through gateways to the frame that they made it of.

mod lines;
mod way;

use std::collections::{BTreeMap, VecDeque};

use chronoseal_catalog::{Describe, Prepared, Wire};
use chronoseal_core::{Duration, Event, EventKind, FramePart, MessagePart, NodeId, SimTime, StreamId, Work};
use chronoseal_media::watch::Passing;
use chronoseal_nodes::end_system::TASK;
use chronoseal_nodes::gateway::RELAY;
use chronoseal_results::rows::{FrameRow, Outcome};
use chronoseal_results::{DividedLatency, DividedPart, LinkUse, PartKind};
use chronoseal_sim::{FrameContext, Observer};

use self::lines::Passes;
use self::way::Found;
use crate::Run;
use crate::record::Follow;

/// A frame as its driver handed it over.
#[derive(Clone, Copy, Debug)]
struct Sent {
    stream: StreamId,
    from: NodeId,
    /// Its first bit could leave; of a later frame of a message in several, that of the first one.
    sent_at: SimTime,
    /// It is a later frame of a message.
    continues: bool,
}

/// What is known of a frame.
#[derive(Clone, Debug, Default)]
struct Followed {
    sent: Option<Sent>,
    /// By whom it was taken first, and how.
    first: Option<(NodeId, Got)>,
    /// The same of all others.
    others: Vec<(NodeId, Got)>,
}

impl Followed {
    /// How a node took it.
    fn got(&self, node: NodeId) -> Option<&Got> {
        self.first.iter().chain(&self.others).find(|(by, _)| *by == node).map(|(_, got)| got)
    }

    /// Notes how a node took it, unless it had it already.
    fn take(&mut self, node: NodeId, got: Got) {
        match self.first {
            None => self.first = Some((node, got)),
            Some(_) if self.got(node).is_none() => self.others.push((node, got)),
            Some(_) => {}
        }
    }
}

/// When a receiver accepted which frames, in order.
type Accepted = VecDeque<(SimTime, u64)>;

/// A frame as its receiver got it.
#[derive(Clone, Copy, Debug)]
struct Got {
    /// First bit on the last wire or the shared medium.
    departed_at: Option<SimTime>,
    /// On a segment that delays frames: from when to when its sender's rate had it.
    sent: Option<(SimTime, SimTime)>,
    /// Last bit in.
    received_at: SimTime,
    /// Out of the host interface, if there is one.
    handed_at: Option<SimTime>,
    /// The processor took it.
    taken_at: SimTime,
}

/// Where a frame is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    Node(NodeId),
    /// With whoever of the many that send its stream.
    AnySender,
    Wire(NodeId, NodeId),
}

/// A step of a frame: how long it took, and where.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Step {
    kind: PartKind,
    place: Place,
    time: Duration,
}

/// The latencies of a stream at a receiver.
#[derive(Clone, Debug)]
struct Latency {
    frames: u64,
    worst_sequence: u64,
    worst_ps: i64,
    sum_ps: i64,
    parts: Vec<Part>,
}

/// A part of them.
#[derive(Clone, Copy, Debug)]
struct Part {
    kind: PartKind,
    place: Place,
    worst_ps: i64,
    sum_ps: i64,
}

/// Remembers what happens to each frame.
pub(crate) struct Divider {
    /// By segment.
    describers: Vec<Box<dyn Describe>>,
    wires: Vec<Vec<Wire>>,
    names: Vec<String>,
    /// By node: the first one of its name.
    named: Vec<NodeId>,
    /// By stream: who sends it is whoever has something to say.
    sent_by_any: Vec<bool>,
    /// The first of the nodes that segments are made of.
    first_own: NodeId,
    passes: Passes,
    /// By the driver's number, from that of the first frame that is not forgotten.
    frames: VecDeque<Followed>,
    first: u64,
    origins: BTreeMap<u64, Vec<u64>>,
    /// By stream, and there by receiver.
    accepted: Vec<Vec<(NodeId, Accepted)>>,
    /// When a host interface gave a frame to a node that has not taken it yet.
    handed: BTreeMap<(u64, NodeId), SimTime>,
    /// By node: the frame it took last, with when it was handed over, and taken.
    taken: Vec<(u64, Option<SimTime>, SimTime)>,
    /// By node, in time: from when to when its processor was busy, and with what.
    work: Vec<Vec<(SimTime, SimTime, PartKind)>>,
    /// When the first frame was sent of the message that a stream has on its way on a segment.
    messages: BTreeMap<(StreamId, u16, NodeId), SimTime>,
    /// By stream: when start-up was over, as far as is known `[ns]`.
    ready_ns: Vec<i64>,
    found: BTreeMap<(StreamId, NodeId), Latency>,
}

impl Divider {
    /// Nothing happened yet.
    pub(crate) fn new(prepared: &Prepared<'_>) -> Self {
        let plan = prepared.plan();
        let names: Vec<String> = plan.all_nodes().map(|(_, name)| name.to_owned()).collect();
        let first = |name: &String| NodeId(names.iter().position(|known| known == name).unwrap_or(0) as u16);
        Self {
            describers: prepared.describers(),
            wires: plan.segment_ids().map(|segment| prepared.wires(segment)).collect(),
            sent_by_any: plan.streams.iter().map(|stream| stream.sent_by.is_some()).collect(),
            first_own: NodeId(plan.node_ids().count() as u16),
            passes: Passes::default(),
            frames: VecDeque::new(),
            first: 0,
            origins: BTreeMap::new(),
            accepted: Vec::new(),
            handed: BTreeMap::new(),
            taken: vec![(0, None, SimTime::ZERO); names.len()],
            work: vec![Vec::new(); names.len()],
            messages: BTreeMap::new(),
            ready_ns: vec![0; plan.streams.len()],
            found: BTreeMap::new(),
            named: names.iter().map(first).collect(),
            names,
        }
    }

    /// Writes down what was seen, when the run is over.
    pub(crate) fn finish(mut self, run: &mut Run) {
        run.summary.links = self.links(SimTime::ZERO + Duration::from_ns(run.meta.duration_ns));
        let name = |node: NodeId| self.names.get(node.index()).map_or("", String::as_str);
        let place = |place| match place {
            Place::Node(node) => name(node).to_owned(),
            Place::AnySender => "its sender".to_owned(),
            Place::Wire(from, to) => format!("{} \u{2192} {}", name(from), name(to)),
        };
        let part = |part: &Part| {
            let Part { kind, worst_ps, sum_ps, .. } = *part;
            DividedPart { kind, place: place(part.place), worst_ps, sum_ps }
        };
        let latency = |((stream, receiver), latency): (&(StreamId, NodeId), &Latency)| DividedLatency {
            stream: stream.0,
            receiver: receiver.0,
            frames: latency.frames,
            worst_sequence: latency.worst_sequence,
            worst_ps: latency.worst_ps,
            sum_ps: latency.sum_ps,
            parts: latency.parts.iter().filter(|part| part.sum_ps > 0).map(part).collect(),
        };
        run.summary.divided = self.found.iter().map(latency).collect();
    }

    /// How long each link was used until the end of the run.
    fn links(&mut self, end: SimTime) -> Vec<LinkUse> {
        let mut found: BTreeMap<(u16, u16), LinkUse> = BTreeMap::new();
        for (segment, lines) in (0u16..).zip(&self.wires) {
            for link in 0..(lines.len() / 2) as u16 {
                found.insert((segment, link), LinkUse { segment, link, busy_ns: [0, 0] });
            }
        }
        for (segment, line, used) in self.passes.used(end) {
            if let Some(link) = found.get_mut(&(segment, (line / 2) as u16)) {
                link.busy_ns[line as usize % 2] = used.as_ns();
            }
        }
        found.into_values().collect()
    }

    fn sent(&self, frame: u64) -> Option<&Sent> {
        self.frames.get(self.place(frame)?)?.sent.as_ref()
    }

    /// How a node got a frame.
    fn got(&self, frame: u64, node: NodeId) -> Option<&Got> {
        self.frames.get(self.place(frame)?)?.got(node)
    }

    /// A frame that is not forgotten.
    fn followed(&mut self, frame: u64) -> Option<&mut Followed> {
        let place = self.place(frame)?;
        if self.frames.len() <= place {
            self.frames.resize_with(place + 1, Followed::default);
        }
        self.frames.get_mut(place)
    }

    /// Where a frame is kept, if it is not forgotten.
    fn place(&self, frame: u64) -> Option<usize> {
        usize::try_from(frame.checked_sub(self.first)?).ok()
    }

    /// Forgets what was told before a time.
    fn forget(&mut self, before: SimTime) {
        while self.frames.front().is_some_and(|frame| frame.sent.is_none_or(|sent| sent.sent_at < before)) {
            self.frames.pop_front();
            self.first += 1;
        }
        self.passes.forget(before, self.first);
        self.origins = self.origins.split_off(&self.first);
        self.handed = self.handed.split_off(&(self.first, NodeId(0)));
        for (_, accepted) in self.accepted.iter_mut().flatten() {
            accepted.drain(..accepted.partition_point(|(at, _)| *at < before));
        }
        for work in &mut self.work {
            work.drain(..work.partition_point(|(_, to, _)| *to < before));
        }
    }
}

impl Follow for Divider {
    /// Divides the latencies of frames: of those that the summary takes too.
    fn ended(&mut self, frames: &[FrameRow], ready_ns: &[i64], forget: SimTime) {
        for (stream, (known, ready)) in (0..).map(StreamId).zip(self.ready_ns.iter_mut().zip(ready_ns)) {
            if ready > known {
                self.found.retain(|(other, _), _| *other != stream);
            }
            *known = *ready;
        }
        let mut found = Found::default();
        for row in frames {
            let ready_ns = self.ready_ns.get(row.stream.index()).copied().unwrap_or(0);
            let is_accepted = row.attack.is_none() && matches!(row.outcome, Outcome::Delivered | Outcome::Late);
            if !is_accepted || row.cycle_start.since_zero().as_ns() < ready_ns {
                continue;
            }
            if self.steps(row, &mut found).is_some() {
                let latency = self.found.entry((row.stream, row.at)).or_insert_with(|| Latency {
                    frames: 0,
                    worst_sequence: row.sequence,
                    worst_ps: -1,
                    sum_ps: 0,
                    parts: Vec::new(),
                });
                add(latency, row, &found.steps);
            }
        }
        self.forget(forget);
    }
}

/// Adds the steps of one more frame.
fn add(latency: &mut Latency, row: &FrameRow, steps: &[Step]) {
    let whole = steps.iter().fold(Duration::ZERO, |sum, step| sum + step.time).as_ps();
    latency.frames += 1;
    latency.sum_ps += whole;
    let is_worst = whole > latency.worst_ps;
    if is_worst {
        (latency.worst_ps, latency.worst_sequence) = (whole, row.sequence);
        latency.parts.iter_mut().for_each(|part| part.worst_ps = 0);
    }
    // Frames of one stream take the same steps, or leave some out; what is new stands behind what was before it.
    let mut place = 0;
    for step in steps {
        let known = |part: &Part| part.kind == step.kind && part.place == step.place;
        let index = match latency.parts.iter().position(known) {
            Some(index) => index,
            None => {
                let part = Part { kind: step.kind, place: step.place, worst_ps: 0, sum_ps: 0 };
                latency.parts.insert(place, part);
                place
            }
        };
        place = index + 1;
        let part = &mut latency.parts[index];
        part.sum_ps += step.time.as_ps();
        if is_worst {
            part.worst_ps += step.time.as_ps();
        }
    }
}

impl Observer for Divider {
    const WATCHES_LINES: bool = true;

    fn event(&mut self, at: SimTime, node: NodeId, event: &Event, frame: Option<FrameContext<'_>>) {
        let (EventKind::Delivered | EventKind::Relayed, Some(frame)) = (event.kind, frame) else { return };
        let (Some(serial), Some(received_at)) = (frame.label.serial, frame.received_at) else { return };
        let (handed_at, taken_at) = match self.taken[node.index()] {
            (taken, handed_at, taken_at) if taken == serial => (handed_at, taken_at),
            _ => (None, received_at),
        };
        let describer = &self.describers[usize::from(frame.label.segment)];
        let sending = describer.sending_time_before_delay(frame.bytes.len() as u64);
        let sent = sending.zip(frame.label.arrived_at).map(|(sending, left_at)| (left_at - sending, left_at));
        let got = Got { departed_at: frame.departed_at, sent, received_at, handed_at, taken_at };
        if let Some(frame) = self.followed(serial) {
            frame.take(node, got);
        }
        if event.kind == EventKind::Delivered && event.stream != StreamId::NONE {
            let receivers = lines::at(&mut self.accepted, event.stream.index());
            let place = receivers.iter().position(|(receiver, _)| *receiver == node).unwrap_or_else(|| {
                receivers.push((node, Accepted::new()));
                receivers.len() - 1
            });
            let accepted = &mut receivers[place].1;
            let later = accepted.iter().rev().take_while(|known| **known > (at, serial)).count();
            accepted.insert(accepted.len() - later, (at, serial));
        }
    }

    fn transmit(&mut self, at: SimTime, node: NodeId, frame: FrameContext<'_>) {
        let Some(serial) = frame.label.serial else { return };
        let describer = &self.describers[usize::from(frame.label.segment)];
        let (stream, part) = (describer.stream_of(frame.bytes), describer.part(frame.bytes));
        let message = (stream, frame.label.segment, node);
        let sent_at = match part {
            MessagePart::Begins => *self.messages.entry(message).insert_entry(at).get(),
            MessagePart::Continues => self.messages.get(&message).copied().unwrap_or(at),
            MessagePart::Whole | MessagePart::Answers => at,
        };
        if let Some(frame) = self.followed(serial) {
            frame.sent = Some(Sent { stream, from: node, sent_at, continues: part == MessagePart::Continues });
        }
    }

    fn came_from(&mut self, serial: u64, origins: &[u64]) {
        self.origins.entry(serial).or_default().extend(origins);
    }

    fn contains(&mut self, serial: u64, parts: &[FramePart]) {
        self.origins.entry(serial).or_default().extend(parts.iter().filter_map(|part| part.origin));
    }

    fn passing(&mut self, passing: &Passing) {
        self.passes.note(passing);
    }

    fn handed_over(&mut self, at: SimTime, node: NodeId, frame: FrameContext<'_>) {
        if let Some(serial) = frame.label.serial {
            self.handed.insert((serial, node), at);
        }
    }

    fn taken(&mut self, at: SimTime, node: NodeId, frame: FrameContext<'_>) {
        let Some(serial) = frame.label.serial else { return };
        let handed_at = if self.handed.is_empty() { None } else { self.handed.remove(&(serial, node)) };
        self.taken[node.index()] = (serial, handed_at, at);
    }

    fn work(&mut self, at: SimTime, node: NodeId, work: &Work, cost: Duration) {
        if cost > Duration::ZERO {
            let kind = match work.operation {
                TASK => PartKind::Processor,
                RELAY => PartKind::Gateway,
                _ => PartKind::Cryptography,
            };
            self.work[node.index()].push((at, at + cost, kind));
        }
    }
}
