//! The schedule table of a time-triggered cluster: who may use the wires when, and when each switch passes it on.

use chronoseal_core::{Duration, NodeId, StreamId};

/// Every slot of one cluster cycle, in order of start.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ScheduleTable {
    /// After this the table repeats.
    pub cluster_cycle: Duration,
    /// Slots of frames, by `start`.
    pub slots: Vec<Slot>,
    /// What the switches behind the first do with the frames in these slots, by slot and then by hop; none if there is one
    /// switch alone.
    pub relays: Vec<Relay>,
    /// Where a slot's frame leaves for a receiver at another time than its [`Slot::dispatch`], or keeps the last link for another
    /// one than its [`Slot::frame_time`], by slot; and every copy of it over a second network.
    pub deliveries: Vec<Delivery>,
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
    /// The first switch on its way passes the frame on.
    pub dispatch: Duration,
    /// The slot is over: frame time and guard period have passed.
    pub end: Duration,
}

/// The turn of a slot's frame at a switch behind the first one on its way. All times count as those of a [`Slot`].
///
/// Of a stream that goes over the networks A and B, the slot itself has the turn at the first switch of A. The turns behind it follow,
/// and then those in B; the turn at the first switch of B starts with the slot, since both copies leave the sender at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Relay {
    /// Whose slot, as an index into [`ScheduleTable::slots`].
    pub slot: usize,
    /// Which switch on the stream's ways, from 1: the first one's turn is in the slot itself.
    pub hop: u16,
    /// The first bit leaves the switch before.
    pub start: Duration,
    /// This switch passes the frame on.
    pub dispatch: Duration,
    /// The turn is over.
    pub end: Duration,
}

/// How a slot's frame, or one of its two copies, leaves its last switch for a receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delivery {
    /// Whose slot, as an index into [`ScheduleTable::slots`].
    pub slot: usize,
    /// The receiver.
    pub node: NodeId,
    /// True for the copy over network B, of a stream that goes over both networks.
    pub is_second: bool,
    /// The first bit leaves its switch.
    pub dispatch: Duration,
    /// Time on its link.
    pub frame_time: Duration,
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

    /// The turn of a slot's frame at one of the switches on its way, from 0; `None` if it does not come there.
    pub fn turn(&self, slot: usize, hop: usize) -> Option<Turn> {
        let in_slot = self.slots.get(slot)?;
        if hop == 0 {
            return Some(Turn::of_slot(slot, in_slot));
        }
        let by = |relay: &Relay| (relay.slot, usize::from(relay.hop)).cmp(&(slot, hop));
        let place = self.relays.binary_search_by(by).ok()?;
        Some(Turn::of_relay(&self.relays[place], in_slot.stream))
    }

    /// Every turn of a frame at a switch: those of the slots in their order, then those of the switches behind.
    ///
    /// # Panics
    /// If a relay names a slot that the table does not have.
    pub fn turns(&self) -> impl Iterator<Item = Turn> {
        let of_slot = |(index, slot): (usize, &Slot)| Turn::of_slot(index, slot);
        let of_relay = |relay: &Relay| Turn::of_relay(relay, self.slots[relay.slot].stream);
        self.slots.iter().enumerate().map(of_slot).chain(self.relays.iter().map(of_relay))
    }
}

/// The turn of a slot's frame at one of the switches on its way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Turn {
    /// Whose slot, as an index into [`ScheduleTable::slots`].
    pub slot: usize,
    /// Whose frame.
    pub stream: StreamId,
    /// Which switch on the stream's way, from 0.
    pub hop: u16,
    /// The first bit leaves the station or the switch before.
    pub start: Duration,
    /// This switch passes the frame on.
    pub dispatch: Duration,
    /// The turn is over.
    pub end: Duration,
}

impl Turn {
    fn of_slot(index: usize, slot: &Slot) -> Self {
        let Slot { stream, start, dispatch, end, .. } = *slot;
        Self { slot: index, stream, hop: 0, start, dispatch, end }
    }

    fn of_relay(relay: &Relay, stream: StreamId) -> Self {
        let Relay { slot, hop, start, dispatch, end } = *relay;
        Self { slot, stream, hop, start, dispatch, end }
    }
}
