//! What frames wait in the host interfaces of their receivers, between network interface and application.
//!
//! A host interface is a line of its own as far as waiting goes: it serves one frame at a time, interrupts none, and takes the
//! highest class first ([`chronoseal_media::host`]). So what [`super::line`] says of a line without slots bounds it: the longest
//! frame of a lower class, and all of its own class and those above that come meanwhile. Frames in slots are in a class above
//! best effort here; they come as their table has it, and no two slots of a stream nearer than the table puts them.
//!
//! No more frames of a class are in its buffer than can come in the time that one stays there.

use std::collections::BTreeMap;

use chronoseal_core::{Duration, NodeId, StreamId};
use chronoseal_media::host::HostConfig;
use chronoseal_media::schedule::{ScheduleTable, Slot};
use chronoseal_plan::{HopPlan, SegmentId};
use chronoseal_wire::ethernet::FRAME_LEN_MIN;

use super::compose::{Arrivals, Reached, from_the_air};
use super::demand::Periodic;
use super::line::{LineLoad, Queued};
use super::losses::{Cause, Risk};
use super::processor::Jobs;
use super::{MadeUp, Span, Why};

/// A frame of a hop as its receiver's host interface sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HostFrame {
    /// The higher goes first.
    pub class: u8,
    /// Its length at most `[byte]`.
    pub len: u64,
    /// So many frames, none longer, come one behind the other for each message.
    pub frames: u32,
    /// So many copies of it come, of which the receiver takes one behind the host interface.
    pub copies: usize,
}

/// The host interface behind a node's port to a segment, if it has one.
pub(super) fn interface(jobs: &Jobs<'_>, segment: SegmentId, node: NodeId) -> Option<HostConfig> {
    let config = jobs.plan.nodes.get(node.index())?.host_interface?;
    jobs.row(segment)?.has_host_interfaces().then_some(config)
}

/// Every host interface of a plan, with the streams whose frames pass it.
pub(super) struct Hosts {
    of: BTreeMap<(NodeId, SegmentId), Host>,
}

struct Host {
    config: HostConfig,
    streams: Vec<Passing>,
}

/// Frames of a stream at a host interface.
struct Passing {
    stream: StreamId,
    frame: HostFrame,
    /// The length of its shortest frame `[byte]`.
    len_min: u64,
    /// How far the slots of the stream are off from lying exactly a period apart.
    spread: Duration,
    /// How often they come if they are made up.
    made_up: Option<MadeUp>,
}

/// What a host interface does to the frames of a stream.
#[derive(Clone, Copy)]
struct Stay {
    stream: StreamId,
    /// From its last bit to its place with the application.
    stay: Result<Span, Why>,
    /// What frames of its class take of their buffer `[byte]`; `None` if nothing bounds it.
    bytes: Option<u64>,
}

impl Hosts {
    pub(super) fn new(jobs: &Jobs<'_>, tables: &[Option<ScheduleTable>]) -> Self {
        let mut of: BTreeMap<(NodeId, SegmentId), Host> = BTreeMap::new();
        for (index, stream) in jobs.plan.streams.iter().enumerate() {
            let id = StreamId(index as u16);
            for hop in &stream.hops {
                let Some(frame) = jobs.row(hop.segment).and_then(|row| row.host_frame(jobs.plan, id, hop)) else {
                    continue;
                };
                let table = tables.get(hop.segment.index()).and_then(Option::as_ref);
                let spread = spread(jobs, id, hop, table);
                let is_varying = stream.collected().is_some() || frame.frames > 1;
                let len_min = if is_varying { FRAME_LEN_MIN as u64 } else { frame.len };
                let made_up =
                    jobs.row(hop.segment).map_or_else(Vec::new, |row| row.made_up(jobs.plan, id, hop.segment));
                let kinds = || std::iter::once(None).chain(made_up.iter().copied().map(Some));
                for node in &hop.to {
                    let Some(config) = interface(jobs, hop.segment, *node) else { continue };
                    let host = of.entry((*node, hop.segment)).or_insert(Host { config, streams: Vec::new() });
                    host.streams.extend(kinds().map(|made_up| Passing { stream: id, frame, len_min, spread, made_up }));
                }
            }
        }
        Self { of }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// When a frame that has come to a node is with its application there; as it is where no host interface is.
    pub(super) fn passed(
        &self,
        (stream, segment, node): (StreamId, SegmentId, NodeId),
        received: Result<Span, Why>,
        at_ports: &Reached,
        arrivals: &Arrivals,
    ) -> Result<Span, Why> {
        let Some(host) = self.of.get(&(node, segment)) else { return received };
        let Some(passing) = host.streams.iter().find(|passing| passing.stream == stream) else { return received };
        let stay = host.stay(passing, (node, segment), at_ports, arrivals).stay?;
        received.map(|received| received.later(stay.min, stay.max))
    }

    /// Buffers that are not known to have room for every frame, one risk for each stream whose frames it can cost.
    pub(super) fn risks(&self, at_ports: &Reached, arrivals: &Arrivals) -> Vec<Risk> {
        let of_host = |(key, host): (&(NodeId, SegmentId), &Host)| {
            let own = host.streams.iter().filter(|passing| passing.made_up.is_none());
            let stays = own.map(|passing| host.stay(passing, *key, at_ports, arrivals));
            let full = stays.filter(|stay| stay.bytes.is_none_or(|bytes| bytes > host.config.buffer));
            let risk = |stay: Stay| {
                let cause = Cause::HostBufferFull { node: key.0, bytes: stay.bytes, room: host.config.buffer };
                Risk { segment: key.1, stream: Some(stay.stream), cause }
            };
            full.map(risk).collect::<Vec<_>>()
        };
        self.of.iter().flat_map(of_host).collect()
    }
}

impl Host {
    fn stay(
        &self,
        passing: &Passing,
        (node, segment): (NodeId, SegmentId),
        at_ports: &Reached,
        arrivals: &Arrivals,
    ) -> Stay {
        let class = passing.frame.class;
        let mut line = LineLoad { cycle: Duration::from_s(1), ..LineLoad::default() };
        let mut in_class: Vec<(Periodic, u64)> = Vec::new();
        let mut unknown = None;
        for other in &self.streams {
            let (distance, spread) = match other.made_up {
                Some(MadeUp::Limited { distance, spread }) => (distance, spread),
                _ => (arrivals.at(other.stream, segment).distance, other.spread),
            };
            let received = match other.made_up {
                Some(MadeUp::Unlimited) => Err(Why::MadeUpFrames),
                _ => from_the_air(at_ports.at(other.stream, segment, node)),
            };
            let longest = self.config.service(other.frame.len);
            let cost = longest * i64::from(other.frame.frames);
            let frames = match received {
                Ok(span) => Periodic { period: distance, jitter: span.jitter() + spread, cost },
                // Of a lower class one frame is in the way at most, however often they come.
                Err(_) => Periodic { period: Duration::from_s(1), jitter: Duration::ZERO, cost },
            };
            if let Err(why) = received
                && other.frame.class >= class
            {
                unknown = Some(if why == Why::MadeUpFrames { why } else { Why::ArrivalUnbounded });
            }
            for _ in 0..other.frame.copies {
                if other.frame.class == class {
                    in_class.push((frames, other.frame.len * u64::from(other.frame.frames)));
                }
                line.queued.push(Queued { class: other.frame.class, frames, longest });
            }
        }
        let longest = match unknown {
            Some(why) => Err(why),
            None => line.stay(class).map_err(Why::from),
        };
        let stay = longest.map(|max| Span { min: self.config.service(passing.len_min), max });
        let count = |(frames, len): &(Periodic, u64)| {
            let most = u64::try_from(frames.count(longest.ok()? + Duration::from_ps(1))).ok()?;
            Some(most.saturating_mul(*len))
        };
        let bytes = in_class.iter().map(count).try_fold(0u64, |sum, one| Some(sum.saturating_add(one?)));
        Stay { stream: passing.stream, stay, bytes }
    }
}

/// How far the slots of a stream are off from lying exactly a period apart, if it begins in them; and how long before the last frame of
/// a message in several slots its first one comes.
fn spread(jobs: &Jobs<'_>, id: StreamId, hop: &HopPlan, table: Option<&ScheduleTable>) -> Duration {
    let frames = jobs.row(hop.segment).map_or(1, |row| row.slots_of_message(hop));
    let begins = hop.previous.is_none();
    let period = jobs.plan.streams[id.index()].period;
    let slots: Vec<&Slot> = table.iter().flat_map(|table| table.of(id)).collect();
    let first = |slot: &Slot| slots.iter().find(|first| first.instance == slot.instance - slot.instance % frames);
    let off = |slot: &&Slot| match begins {
        true => slot.start - period * i64::from(slot.instance / frames),
        false => slot.start - first(slot).map_or(slot.start, |first| first.start),
    };
    let off: Vec<Duration> = slots.iter().map(off).collect();
    off.iter().max().zip(off.iter().min()).map_or(Duration::ZERO, |(latest, earliest)| *latest - *earliest)
}

/// How much a stream's frames can be nearer to each other behind a host interface than its period, beside their jitter: a
/// processor that gets them from there knows no table.
pub(super) fn spread_of(jobs: &Jobs<'_>, id: StreamId, hop: &HopPlan, tables: &[Option<ScheduleTable>]) -> Duration {
    let table = tables.get(hop.segment.index()).and_then(Option::as_ref);
    spread(jobs, id, hop, table)
}
