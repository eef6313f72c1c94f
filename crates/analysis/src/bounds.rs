//! Worst-case latency of each stream under a schedule table.
//!
//! With F the frame time, `d` the propagation delay of a link, `w` the forwarding delay and `J` the greatest random
//! part of it, counted from the first bit at the sender to the last bit at the receiver:
//!
//! ```text
//! ready     = F + d + w + J                          the switch could pass it on
//! departure = max(dispatch - start + precision, ready)     Dispatch::Scheduled
//! departure = ready + queueing                              Dispatch::Immediate
//! latency   = departure + F + d
//! ```
//!
//! - `precision` enters once: sender and switch are two correct clocks, and it bounds their difference (SAE AS6802).
//! - A scheduled frame meets no queue: the table keeps the receiver's link free at its dispatch time, and lower classes
//!   start only if they end before it (timely block).
//! - A frame passed on at once can meet other frames on the receiver's link. `queueing` is what the others, each as late
//!   or early as it can be, can keep it waiting in a first-in-first-out queue (largest backlog of a busy period, Le
//!   Boudec and Thiran, "Network Calculus", Springer 2001, chapter 1), plus one frame of a lower class in progress.
//!
//! A best-effort stream has no bound here: nothing limits what the others of its class send at once.

use chronoseal_core::{Duration, NodeId, StreamId};
use chronoseal_media::schedule::{ScheduleTable, Slot};
use chronoseal_scenario::plan::{Dispatch, Plan, StreamClass, Sync};

/// Length of a protocol control frame without checksum [byte].
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

/// The bound of each stream of the plan, in its order, under a `table` that [`crate::synthesis::verify`] finds right.
///
/// A frame that comes to the switch too late for its dispatch time is thrown away there, so it has no latency.
pub fn bounds(plan: &Plan, table: &ScheduleTable) -> Vec<StreamBound> {
    let queues: Vec<_> = (0..plan.nodes.len()).map(|node| Queue::of(plan, table, NodeId(node as u16))).collect();
    let mut slots_of: Vec<Vec<&Slot>> = vec![Vec::new(); plan.streams.len()];
    for slot in &table.slots {
        slots_of[slot.stream.index()].push(slot);
    }
    (plan.streams.iter().enumerate())
        .map(|(index, stream)| {
            let bound = |latency_max: Option<Duration>, why| StreamBound {
                stream: StreamId(index as u16),
                latency_max,
                unbounded: latency_max.is_none().then_some(why),
            };
            if matches!(stream.class, StreamClass::BestEffort { .. }) {
                return bound(None, "best effort: nothing limits what it meets in a queue");
            }
            let ways = slots_of[index].iter().flat_map(|slot| stream.receivers.iter().map(move |node| (slot, node)));
            let worst = ways.map(|(slot, node)| latency_max(plan, slot, &queues[node.index()])).max();
            bound(worst, "it has no slot in the table, or no receiver")
        })
        .collect()
}

/// From one sender to one receiver, in one slot.
fn latency_max(plan: &Plan, slot: &Slot, queue: &Queue) -> Duration {
    let network = &plan.network;
    let received = slot.frame_time + network.propagation_delay;
    let ready = received + network.forwarding_delay;
    let departure = match network.dispatch {
        Dispatch::Scheduled => (slot.dispatch - slot.start + network.precision).max(ready),
        Dispatch::Immediate => ready + network.forwarding_jitter.max + queue.wait_max(window(plan, slot)),
    };
    departure + received
}

/// What can stand in the egress queue of one receiver's link.
struct Queue {
    /// Of the cycle, the one before and the one after; by `latest`.
    frames: Vec<Window>,
    /// Longest frame of a lower class.
    lower: Duration,
}

impl Queue {
    fn of(plan: &Plan, table: &ScheduleTable, node: NodeId) -> Self {
        let mut lower: Duration = plan
            .streams
            .iter()
            .filter(|stream| matches!(stream.class, StreamClass::BestEffort { .. }) && stream.receivers.contains(&node))
            .map(|stream| plan.frame_time(plan.secured_len(stream)))
            .max()
            .unwrap_or_default();
        if plan.network.sync == Sync::Beacon {
            lower = lower.max(plan.frame_time(CONTROL_FRAME_LEN));
        }
        let mut frames = Vec::new();
        if plan.network.dispatch == Dispatch::Immediate {
            let to_node = |slot: &&Slot| plan.streams[slot.stream.index()].receivers.contains(&node);
            for slot in table.slots.iter().filter(to_node) {
                let Window { earliest, latest, frame_time } = window(plan, slot);
                frames.extend([-1, 0, 1].map(|cycle| {
                    let shift = table.cluster_cycle * cycle;
                    Window { earliest: earliest + shift, latest: latest + shift, frame_time }
                }));
            }
            frames.sort_unstable_by_key(|frame| frame.latest);
        }
        // Without random delays and drivers the windows are points, and the timely block keeps lower classes away.
        let exact = plan.network.forwarding_jitter.max == Duration::ZERO
            && plan.network.precision == Duration::ZERO
            && plan.nodes.iter().all(|station| station.driver.max == Duration::ZERO);
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

fn window(plan: &Plan, slot: &Slot) -> Window {
    let network = &plan.network;
    let late = plan.nodes[plan.streams[slot.stream.index()].sender.index()].driver.max;
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
    use crate::testing::equal_frames;

    fn latency(plan: &Plan, stream: usize) -> Option<Duration> {
        bounds(plan, &synthesize(plan).unwrap())[stream].latency_max
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
        plan.network.dispatch = Dispatch::Immediate;
        plan.network.forwarding_delay = Duration::from_us(10);
        plan.network.precision = Duration::ZERO;
        assert_eq!(latency(&plan, 0), Some(Duration::from_ns(2 * 121_120 + 10_000)));
        // A clock that is not exact lets the beacon get in between.
        plan.network.precision = Duration::from_us(1);
        assert_eq!(latency(&plan, 0), Some(Duration::from_ns(2 * 121_120 + 10_000 + 4_800)));
    }

    #[test]
    fn jitter_lets_frames_of_other_slots_stand_in_the_way() {
        let mut plan = equal_frames(2, 20, 60);
        plan.streams.iter_mut().for_each(|stream| (stream.sender, stream.receivers) = (NodeId(0), vec![NodeId(1)]));
        plan.network.dispatch = Dispatch::Immediate;
        plan.network.precision = Duration::ZERO;
        plan.network.sync = Sync::Ideal;
        plan.network.forwarding_jitter.max = Duration::from_us(410);
        // Two slots of 204.8 us pass within 410 us: two frames before, or two after, that overtake.
        let latency = latency(&plan, 10).unwrap();
        assert!(latency > Duration::from_ns(9_600 + 410_000 + 2 * 4_800));
        assert!(latency <= Duration::from_ns(9_600 + 410_000 + 4 * 4_800));
    }

    #[test]
    fn best_effort_has_no_bound_and_says_why() {
        let mut plan = equal_frames(2, 2, 60);
        plan.streams[1].class = StreamClass::BestEffort { priority: 0 };
        let bounds = bounds(&plan, &synthesize(&plan).unwrap());
        assert_eq!((bounds[0].unbounded, bounds[1].latency_max), (None, None));
        assert!(bounds[1].unbounded.unwrap().starts_with("best effort"));
    }
}
