//! Schedule tables: who sends when, and which processor works when.
//!
//! # What is reserved
//! - [`Access::SharedSlots`]: the whole cluster for frame time and guard period, one slot after another, as in the
//!   source; and the receivers' links while the switch passes the frame on.
//! - [`Access::PerLink`]: the sender's link from the slot's start, every link behind a switch from the dispatch time there,
//!   each for frame time and guard period. The frame time is that of the link.
//! - With shuffling and preemption (SAE AS6802) each of these is longer by what the frame can wait for one of another class,
//!   and so is the time until the dispatch at the next switch ([`Ethernet::integration_wait`]).
//! - Over several switches, in both cases: the links between them, as those to receivers. Each switch has a dispatch time of
//!   its own ([`Relay`]), as long after the one before as the first is after the start of the slot.
//! - Over the networks A and B, in both cases: all that, in each network, from the same start of the slot on. Its receivers check
//!   the frame behind the later of its copies, since the earlier one can be lost.
//! - Processors: sealing directly before the slot, verification at the earliest free time after arrival, tasks for
//!   their worst-case execution time. The times are those of the node's platform profile.
//!
//! # Rules
//! - Every item is strictly periodic: its instance `k` lies `k` periods after its first one.
//! - A slot lies within its period, and with links of their own so do arrival and verification. With shared slots the
//!   slot counts alone, and the turns at the switches behind, which is the source's NFmax: the last switch passes the last frame
//!   on in the next period, and it is verified before the end of that.
//! - Sealing may begin before its period does, by its own length at most: the table repeats, so the processor time of
//!   the first slot is reserved at the end of the cycle ([`Slot::release`] is negative there).
//! - A fixed offset is kept.
//! - A message that is longer than a frame has a slot for each of its frames, one behind the other: as far apart as the longest of
//!   them keeps any link on its way. It is sealed before the first of these slots, and verified behind the last. All of them lie
//!   within the period.
//! - A node on several segments has its tasks in the table of the first Ethernet segment among its interfaces. Each
//!   table is made for itself: what another segment asks of the same processor is not seen.
//!
//! # Method
//! Earliest fit on a [`Board`] of links and processors: items are placed by period, then by length times hops, then by name
//! (numbers at its end count as numbers), and a search that meets a reserved span goes on at its end. If that fails with frames before tasks, it is tried with tasks before frames. An
//! earliest fit can fail where a schedule exists; what it finds is checked by [`verify()`].
//!
//! [`Board`]: chronoseal_schedule::board::Board
//! [`Access::SharedSlots`]: chronoseal_plan::Access::SharedSlots
//! [`Access::PerLink`]: chronoseal_plan::Access::PerLink
//! [`Slot::release`]: chronoseal_media::schedule::Slot::release
//! [`Relay`]: chronoseal_media::schedule::Relay

mod gated;
mod infeasible;
mod needs;
mod place;
mod verify;
mod written;

use chronoseal_core::{Duration, NodeId, StreamId};
use chronoseal_media::schedule::ScheduleTable;
use chronoseal_plan::{Ethernet, EthernetStream, NetworkName};

pub use gated::{GatedNetwork, GatedPort, GatedStream, Written, gated_network};
pub use infeasible::{Infeasible, Reason};
pub use needs::authentication_time;
pub use verify::{Violation, verify};
pub use written::{WrittenPort, written_gates};

use needs::{FrameNeeds, finish_slots, scheduled};
use place::{Order, Placer, items};

/// Something that gets a place in the table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Item {
    /// All frames of one cluster cycle of a stream.
    Stream(StreamId),
    /// All runs of one cluster cycle of a task.
    Task {
        /// On whose processor.
        node: NodeId,
        /// Index into the node's list of tasks.
        index: u16,
    },
}

/// What can be reserved.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Resource {
    /// The one slot of the whole cluster.
    Cluster,
    /// The wire from a node to the switch.
    LinkToSwitch(NodeId),
    /// The wire from the switch to a node.
    LinkFromSwitch(NodeId),
    /// The wire from a node to its switch in network B.
    SecondToSwitch(NodeId),
    /// The wire from its switch in network B to a node.
    SecondFromSwitch(NodeId),
    /// The wire from a switch to another one.
    LinkBetween {
        /// Which link between switches, as the segment counts them.
        link: usize,
        /// The switch that sends.
        from: u16,
    },
    /// The processor of a node.
    Processor(NodeId),
}

impl Resource {
    /// The wire from a node to its switch in a network.
    pub(crate) const fn to_switch(network: NetworkName, node: NodeId) -> Self {
        match network {
            NetworkName::A => Self::LinkToSwitch(node),
            NetworkName::B => Self::SecondToSwitch(node),
        }
    }

    /// The wire from its switch in a network to a node.
    pub(crate) const fn from_switch(network: NetworkName, node: NodeId) -> Self {
        match network {
            NetworkName::A => Self::LinkFromSwitch(node),
            NetworkName::B => Self::SecondFromSwitch(node),
        }
    }
}

/// Processor time reserved for the check of one frame at one receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VerificationSlot {
    /// Whose frame.
    pub stream: StreamId,
    /// Which of the stream's frames in this cluster cycle, from 0.
    pub instance: u32,
    /// On whose processor.
    pub node: NodeId,
    /// From the start of the cluster cycle; beyond its end if the frame arrives in the next one.
    pub start: Duration,
    /// Processor time reserved.
    pub length: Duration,
}

/// A schedule table with the processor time of the receivers, which the table does not hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Synthesis {
    /// What nodes and switch follow.
    pub table: ScheduleTable,
    /// When the receivers check, by start.
    pub verifications: Vec<VerificationSlot>,
}

/// The schedule table of a segment.
///
/// Only time-triggered streams that travel on it and tasks are in it; best effort has no slots. The module says what is reserved, by
/// which rules and how it is searched.
///
/// # Errors
/// [`Infeasible`] if something found no place: what, why, with what it collides, and how many streams fit.
pub fn synthesize(view: Ethernet<'_>) -> Result<ScheduleTable, Box<Infeasible>> {
    synthesize_all(view).map(|synthesis| synthesis.table)
}

/// [`synthesize`], with the processor time reserved at the receivers.
///
/// # Errors
/// As [`synthesize`].
pub fn synthesize_all(view: Ethernet<'_>) -> Result<Synthesis, Box<Infeasible>> {
    let frames_first = match attempt(view, &items(view, Order::FramesFirst)) {
        Ok(synthesis) => return Ok(synthesis),
        Err(failure) => failure,
    };
    if view.task_stations().all(|node| view.plan.nodes[node.index()].tasks.is_empty()) {
        return Err(Box::new(frames_first.explain(view, Order::FramesFirst)));
    }
    match attempt(view, &items(view, Order::TasksFirst)) {
        Ok(synthesis) => Ok(synthesis),
        Err(tasks_first) if tasks_first.fitted > frames_first.fitted => {
            Err(Box::new(tasks_first.explain(view, Order::TasksFirst)))
        }
        Err(_) => Err(Box::new(frames_first.explain(view, Order::FramesFirst))),
    }
}

/// The first item without a place, and how many streams found one when the search went on without it.
struct Failure {
    item: Item,
    reason: Reason,
    fitted: usize,
}

fn attempt(view: Ethernet<'_>, items: &[Item]) -> Result<Synthesis, Failure> {
    let mut placer = Placer::new(view);
    let (mut first, mut fitted) = (None, 0);
    for &item in items {
        match placer.place(item) {
            Ok(()) => fitted += usize::from(matches!(item, Item::Stream(_))),
            Err(reason) => first = first.or(Some((item, reason))),
        }
    }
    match first {
        None => Ok(placer.finish()),
        Some((item, reason)) => Err(Failure { item, reason, fitted }),
    }
}

/// A table in which the slot of the `k`-th time-triggered stream begins at `k * pitch` in each of its periods.
///
/// Nothing is checked: slots may overlap or leave their period. It serves to find out what a cluster carries by
/// adding frames until one is late, rather than by formula. [`slot_pitch`] is the source's pitch. Tasks are left out.
pub fn explicit(view: Ethernet<'_>, pitch: Duration) -> ScheduleTable {
    let cycle = view.segment.cluster_cycle;
    let mut slots = Vec::new();
    for (k, stream) in scheduled(view).enumerate() {
        let needs = FrameNeeds::of(view, &stream);
        let period = stream.stream.period.max(Duration::from_ps(1));
        let instances = cycle.div_floor(period).max(1);
        let frames = i64::from(needs.frames);
        slots.extend((0..instances * frames).map(|instance| {
            let (message, frame) = (instance / frames, instance % frames);
            let start = pitch.saturating_mul(k as i64) + period.saturating_mul(message) + needs.pitch * frame;
            needs.slot(stream.id, instance as u32, start)
        }));
    }
    let mut table = ScheduleTable { cluster_cycle: cycle, slots, ..ScheduleTable::default() };
    finish_slots(view, &mut table);
    table
}

/// Frame time and guard period of a stream, and what it can wait for others: the length of a slot.
pub fn slot_pitch(view: Ethernet<'_>, stream: &EthernetStream<'_>) -> Duration {
    let pitch = |network: &NetworkName| {
        let from = view.segment.link_in(*network, stream.hop.from).parameters;
        let frame_time = view.segment.frame_time_over(from, view.secured_len(stream));
        frame_time + view.segment.guard_period + view.integration_wait(from)
    };
    stream.copies.networks().iter().map(pitch).max().unwrap_or_default()
}

#[cfg(test)]
mod tests;
