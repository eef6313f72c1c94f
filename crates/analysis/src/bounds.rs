//! Worst-case latency of each stream under a schedule table.
//!
//! With F the frame time, `d` the propagation delay of a link, `w` the forwarding delay and `J` the greatest random
//! part of it, counted from the first bit at the sender to the last bit at the receiver:
//!
//! ```text
//! ready     = F + d + w + J                          the switch could pass it on
//! departure = max(dispatch - start + precision, ready)     Dispatch::Scheduled
//!             + wait for one frame of another class      shuffling or preemption (SAE AS6802)
//! departure = ready + queueing                              Dispatch::Immediate
//! latency   = departure + F + d
//! ```
//!
//! - `precision` enters once: sender and switch are two correct clocks, and it bounds their difference (SAE AS6802).
//! - Over several switches the departure is that from the last one, by the dispatch there; F and `d` are those of each link.
//! - Over the networks A and B each copy has its own. Either can be lost, so the worst of both bounds the frame.
//! - A scheduled frame meets no queue: the table keeps the receiver's link free at its dispatch time, and lower classes
//!   start only if they end before it (timely block).
//! - A frame passed on at once can meet other frames on the receiver's link. `queueing` is what the others, each as late
//!   or early as it can be, can keep it waiting in a first-in-first-out queue (largest backlog of a busy period, Le
//!   Boudec and Thiran, "Network Calculus", Springer 2001, chapter 1), plus one frame of a lower class in progress.
//!
//! A best-effort stream has no bound here: nothing limits what the others of its class send at once.

use chronoseal_core::{Duration, NodeId, StreamId};
use chronoseal_media::schedule::{ScheduleTable, Slot, Turn};
use chronoseal_plan::{
    Dispatch, Ethernet, EthernetStream, LinkParameters, NetworkName, NodePlan, StreamClass, SwitchHop, Sync,
};

/// Length of a protocol control frame without checksum `[byte]`.
const CONTROL_FRAME_LEN: u32 = 60;

/// The worst case of one stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamBound {
    /// Which stream.
    pub stream: StreamId,
    /// From the first bit at the sender to the last bit at the receiver, at most.
    pub latency_max: Option<Duration>,
    /// Why there is no bound.
    pub unbounded: Option<&'static str>,
}

/// The bound of each stream of the segment, in their order, under a `table` that [`crate::synthesis::verify`] finds right.
///
/// A frame that comes to the switch too late for its dispatch time is thrown away there, so it has no latency.
pub fn bounds(view: Ethernet<'_>, table: &ScheduleTable) -> Vec<StreamBound> {
    let drivers = |_: usize, slot: &Slot| sender_of(view, slot).map_or(Duration::ZERO, |node| node.driver.max);
    let on_segment = ways(view, table, &drivers);
    (view.streams().zip(on_segment))
        .map(|(stream, ways)| {
            let latency_max = ways.iter().filter_map(|way| way.latency.map(|latency| latency.max)).max();
            let unbounded = latency_max.is_none().then_some(why_unbounded(&stream));
            StreamBound { stream: stream.id, latency_max, unbounded }
        })
        .collect()
}

/// True if a segment has a schedule in which no frame comes after its deadline, or after its period if it has none.
pub fn slots_hold(view: Ethernet<'_>) -> bool {
    let Ok(table) = crate::synthesis::synthesize(view) else { return false };
    let is_in_time = |(stream, bound): (EthernetStream<'_>, StreamBound)| {
        let deadline = stream.stream.deadline.unwrap_or(stream.stream.period);
        bound.latency_max.is_none_or(|latency| latency <= deadline)
    };
    view.streams().zip(bounds(view, &table)).all(is_in_time)
}

/// Why a stream that has no bound has none.
pub(crate) fn why_unbounded(stream: &EthernetStream<'_>) -> &'static str {
    match stream.class {
        StreamClass::TimeTriggered { .. } => "it has no slot in the table, or no receiver",
        StreamClass::RateConstrained(_) => "rate-constrained: its bound is that from end to end",
        StreamClass::BestEffort { .. } => "best effort: nothing limits what it meets in a queue",
    }
}

/// What a stream's frames take to one of its receivers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Way {
    pub(crate) receiver: NodeId,
    /// Of whichever copy comes; `None` if the stream has no slot.
    pub(crate) latency: Option<Latency>,
    /// By network that the stream goes over; none if it has no slot.
    pub(crate) copies: Vec<(NetworkName, Latency)>,
}

/// From the first bit at the sender to the last bit at the receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Latency {
    pub(crate) min: Duration,
    pub(crate) max: Duration,
}

/// How much later than its sender's clock says the first bit in a slot can leave, by the slot and its place in the table.
pub(crate) type Late<'a> = &'a dyn Fn(usize, &Slot) -> Duration;

fn sender_of<'p>(view: Ethernet<'p>, slot: &Slot) -> Option<&'p NodePlan> {
    view.stream(slot.stream).map(|stream| &view.plan.nodes[stream.hop.from.index()])
}

/// The ways of each stream of the segment, in the order of its streams and of their receivers.
pub(crate) fn ways(view: Ethernet<'_>, table: &ScheduleTable, late: Late<'_>) -> Vec<Vec<Way>> {
    let late: Vec<Duration> = table.slots.iter().enumerate().map(|(index, slot)| late(index, slot)).collect();
    let mut queues: Vec<Option<Queue>> = (0..view.plan.nodes.len()).map(|_| None).collect();
    for node in view.stations() {
        queues[node.index()] = Some(Queue::of(view, table, node, &late));
    }
    let mut slots_of: Vec<Vec<usize>> = vec![Vec::new(); view.plan.streams.len()];
    for (index, slot) in table.slots.iter().enumerate() {
        slots_of[slot.stream.index()].push(index);
    }
    slots_of.iter_mut().for_each(|slots| slots.sort_unstable_by_key(|index| table.slots[*index].instance));
    let worst = |a: Latency, b: Latency| Latency { min: a.min.min(b.min), max: a.max.max(b.max) };
    let copy = |stream: &EthernetStream<'_>, hops: &[(NetworkName, SwitchHop)], network, receiver: NodeId| {
        let messages = slots_of[stream.id.index()].chunks_exact(stream.frames() as usize);
        let latencies = messages.filter(|_| stream.class.is_time_triggered()).filter_map(|of_message| {
            let (first, index) = (table.slots[*of_message.first()?].start, *of_message.last()?);
            let queue = queues[receiver.index()].as_ref()?;
            let hop = hops.iter().position(|(name, hop)| *name == network && hop.to.contains(&receiver))?;
            let last = Last { turn: table.turn(index, hop)?, network, trunk: hops[hop].1.trunk, receiver };
            // A message counts from the slot of its first frame, and is there with its last.
            let before = table.slots[index].start - first;
            let Latency { min, max } = latency(view, stream, &table.slots[index], last, late[index], queue);
            Some(Latency { min: before + min, max: before + max })
        });
        Some((network, latencies.reduce(worst)?))
    };
    let ways = |stream: EthernetStream<'_>| {
        let hops = view.hops(&stream).unwrap_or_default();
        let way = |receiver: &NodeId| {
            let networks = stream.copies.networks().iter();
            let copies: Vec<_> = networks.filter_map(|network| copy(&stream, &hops, *network, *receiver)).collect();
            let latency = copies.iter().map(|(_, latency)| *latency).reduce(worst);
            Way { receiver: *receiver, latency, copies }
        };
        stream.hop.to.iter().map(way).collect()
    };
    view.streams().map(ways).collect()
}

/// The last switch on a frame's way to a receiver.
struct Last {
    turn: Turn,
    network: NetworkName,
    /// The link between switches by which the frame comes there; `None`: from its sender.
    trunk: Option<usize>,
    receiver: NodeId,
}

/// To one receiver, in one slot whose sender can be so `late`.
fn latency(
    view: Ethernet<'_>,
    stream: &EthernetStream<'_>,
    slot: &Slot,
    last: Last,
    late: Duration,
    queue: &Queue,
) -> Latency {
    let network = view.segment;
    // The last frame of a message may be shorter than its slot, and is never longer.
    let over_with = |link: LinkParameters, len| network.frame_time_over(link, len) + link.delay(len);
    let over = |link: LinkParameters| over_with(link, view.secured_len(stream));
    let shortest = |link: LinkParameters| over_with(link, view.shortest_len(stream));
    let link_of = |node| network.link_in(last.network, node).parameters;
    let before = last.trunk.map_or_else(|| link_of(stream.hop.from), |trunk| network.wiring.trunks[trunk].parameters);
    let received = over(link_of(last.receiver));
    let ready = last.turn.start - slot.start + over(before) + network.forwarding_delay;
    let earliest_ready = last.turn.start - slot.start + shortest(before) + network.forwarding_delay;
    let (earliest, latest) = match network.dispatch {
        Dispatch::Scheduled => {
            let dispatch = last.turn.dispatch - slot.start;
            // A sender that begins early has its frame in the switch before `ready`.
            let wait = view.integration_wait(link_of(last.receiver));
            (dispatch - network.precision, (dispatch + network.precision).max(ready) + wait)
        }
        Dispatch::Immediate => {
            (earliest_ready, ready + network.forwarding_jitter.max + queue.wait_max(window(view, slot, late)))
        }
    };
    Latency { min: earliest + shortest(link_of(last.receiver)), max: latest + received }
}

/// What can stand in the egress queue of one receiver's link.
struct Queue {
    /// Of the cycle, the one before and the one after; by `latest`.
    frames: Vec<Window>,
    /// Longest frame of a lower class.
    lower: Duration,
}

impl Queue {
    fn of(view: Ethernet<'_>, table: &ScheduleTable, node: NodeId, late: &[Duration]) -> Self {
        let mut lower: Duration = view
            .streams()
            .filter(|stream| !stream.class.is_time_triggered() && stream.hop.to.contains(&node))
            .map(|stream| view.frame_time_of(&stream))
            .max()
            .unwrap_or_default();
        if view.segment.sync == Sync::Beacon {
            lower = lower.max(view.frame_time(CONTROL_FRAME_LEN));
        }
        let mut frames = Vec::new();
        if view.segment.dispatch == Dispatch::Immediate {
            for (slot, late) in table.slots.iter().zip(late) {
                if !view.stream(slot.stream).is_some_and(|stream| stream.hop.to.contains(&node)) {
                    continue;
                }
                let Window { earliest, latest, frame_time } = window(view, slot, *late);
                frames.extend([-1, 0, 1].map(|cycle| {
                    let shift = table.cluster_cycle * cycle;
                    Window { earliest: earliest + shift, latest: latest + shift, frame_time }
                }));
            }
            frames.sort_unstable_by_key(|frame| frame.latest);
        }
        // Without random delays and drivers the windows are points, and the timely block keeps lower classes away.
        let exact = view.segment.forwarding_jitter.max == Duration::ZERO
            && view.segment.precision == Duration::ZERO
            && late.iter().all(|late| *late == Duration::ZERO);
        Self { frames, lower: if exact { Duration::ZERO } else { lower } }
    }

    /// Longest wait of the frame with this window.
    fn wait_max(&self, own: Window) -> Duration {
        let (mut ahead, mut worst, mut own_skipped) = (Duration::ZERO, Duration::ZERO, false);
        // Of all begins of a busy period the worst: the work that can have come since, less the time since.
        for frame in self.frames.iter().rev().filter(|frame| frame.earliest <= own.latest) {
            if !own_skipped && *frame == own {
                own_skipped = true;
                continue;
            }
            ahead += frame.frame_time;
            worst = worst.max(ahead - (own.earliest - frame.latest).max(Duration::ZERO));
        }
        worst + self.lower
    }
}

/// When a frame can be ready at the switch, both clocks and the driver at their worst, and how long it then takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Window {
    earliest: Duration,
    latest: Duration,
    frame_time: Duration,
}

fn window(view: Ethernet<'_>, slot: &Slot, late: Duration) -> Window {
    let network = view.segment;
    Window {
        earliest: slot.dispatch - network.precision,
        latest: slot.dispatch + network.precision + late + network.forwarding_jitter.max,
        frame_time: slot.frame_time,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthesis::synthesize;
    use crate::testing::{best_effort, equal_frames, network, send, view};
    use chronoseal_plan::Plan;

    fn latency(plan: &Plan, stream: usize) -> Option<Duration> {
        let view = view(plan);
        bounds(view, &synthesize(view).unwrap())[stream].latency_max
    }

    #[test]
    fn a_scheduled_frame_takes_its_slot_the_precision_and_one_frame_time() {
        let plan = equal_frames(4, 40, 60);
        for stream in 0..40 {
            assert_eq!(latency(&plan, stream), Some(Duration::from_ns(204_800 + 1_000 + 4_800)));
        }
    }

    #[test]
    fn a_frame_passed_on_at_once_takes_two_frame_times_and_the_switch() {
        let mut plan = equal_frames(2, 1, 1514);
        network(&mut plan).dispatch = Dispatch::Immediate;
        network(&mut plan).forwarding_delay = Duration::from_us(10);
        network(&mut plan).precision = Duration::ZERO;
        assert_eq!(latency(&plan, 0), Some(Duration::from_ns(2 * 121_120 + 10_000)));
        // A clock that is not exact lets the beacon get in between.
        network(&mut plan).precision = Duration::from_us(1);
        assert_eq!(latency(&plan, 0), Some(Duration::from_ns(2 * 121_120 + 10_000 + 4_800)));
    }

    #[test]
    fn jitter_lets_frames_of_other_slots_stand_in_the_way() {
        let mut plan = equal_frames(2, 20, 60);
        plan.streams.iter_mut().for_each(|stream| send(stream, NodeId(0), NodeId(1)));
        network(&mut plan).dispatch = Dispatch::Immediate;
        network(&mut plan).precision = Duration::ZERO;
        network(&mut plan).sync = Sync::Ideal;
        network(&mut plan).forwarding_jitter.max = Duration::from_us(410);
        // Two slots of 204.8 us pass within 410 us: two frames before, or two after, that overtake.
        let latency = latency(&plan, 10).unwrap();
        assert!(latency > Duration::from_ns(9_600 + 410_000 + 2 * 4_800));
        assert!(latency <= Duration::from_ns(9_600 + 410_000 + 4 * 4_800));
    }

    #[test]
    fn a_late_driver_lets_frames_of_other_slots_stand_in_the_way() {
        let mut plan = equal_frames(2, 20, 60);
        plan.streams.iter_mut().for_each(|stream| send(stream, NodeId(0), NodeId(1)));
        network(&mut plan).dispatch = Dispatch::Immediate;
        network(&mut plan).precision = Duration::ZERO;
        network(&mut plan).sync = Sync::Ideal;
        assert_eq!(latency(&plan, 10), Some(Duration::from_ns(9_600)));
        // Two slots of 204.8 us pass within 410 us: two frames before it are as late as it, and two after it overtake.
        plan.nodes[0].driver.max = Duration::from_us(410);
        assert_eq!(latency(&plan, 10), Some(Duration::from_ns(9_600 + 4 * 4_800)));
    }

    #[test]
    fn best_effort_has_no_bound_and_says_why() {
        let mut plan = equal_frames(2, 2, 60);
        best_effort(&mut plan.streams[1], 0);
        let view = view(&plan);
        let bounds = bounds(view, &synthesize(view).unwrap());
        assert_eq!((bounds[0].unbounded, bounds[1].latency_max), (None, None));
        assert!(bounds[1].unbounded.unwrap().starts_with("best effort"));
    }
}
