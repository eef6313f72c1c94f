//! The schedule table of a time-triggered cluster: who may use the wires when, and when the switch passes it on.

use chronoseal_core::{Duration, NodeId, StreamId};

/// Every slot of one cluster cycle, in order of start.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ScheduleTable {
    /// After this the table repeats.
    pub cluster_cycle: Duration,
    /// Slots of frames, by `start`.
    pub slots: Vec<Slot>,
    /// Slots of node tasks, by `start`.
    pub tasks: Vec<TaskSlot>,
}

/// One frame's turn. All times count from the start of the cluster cycle, in cluster time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot {
    /// Whose frame.
    pub stream: StreamId,
    /// Which of the stream's frames in this cluster cycle, from 0.
    pub instance: u32,
    /// The sender begins to compute the frame (sealing included) at this time; may be negative in the first slot.
    pub release: Duration,
    /// The first bit leaves the sender.
    pub start: Duration,
    /// Time on one wire in the plan's accounting (the source's *Frametime*).
    pub frame_time: Duration,
    /// The switch passes the frame on.
    pub dispatch: Duration,
    /// The slot is over: frame time and guard period have passed.
    pub end: Duration,
}

/// One run of a node's task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TaskSlot {
    /// On whose processor.
    pub node: NodeId,
    /// Index into the node's list of tasks.
    pub task: u16,
    /// Which run in this cluster cycle, from 0.
    pub instance: u32,
    /// From the start of the cluster cycle.
    pub start: Duration,
    /// Processor time reserved.
    pub length: Duration,
}

impl ScheduleTable {
    /// The slots of one stream, by instance.
    pub fn of(&self, stream: StreamId) -> impl Iterator<Item = &Slot> {
        self.slots.iter().filter(move |slot| slot.stream == stream)
    }
}
