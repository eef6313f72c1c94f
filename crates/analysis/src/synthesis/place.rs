//! Placing frames and tasks one after another at their earliest fit.

use chronoseal_core::{Duration, NodeId, StreamId};
use chronoseal_media::schedule::{ScheduleTable, TaskSlot};
use chronoseal_plan::{Access, Ethernet, EthernetStream, NetworkName, SwitchHop};
use chronoseal_schedule::board::{Blocked, Board, Float, Item as Periodic, Limit, Use};

use super::needs::{FrameNeeds, authentication_time, finish_slots, offset, scheduled};
use super::{Item, Reason, Resource, Synthesis, VerificationSlot};

/// What is placed first. The wires usually run out first, so frames begin; long tasks may need the other order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Order {
    FramesFirst,
    TasksFirst,
}

/// Everything to be placed, in the order in which it is: fixed streams, then frames and tasks (or tasks and frames).
/// Each kind goes by period, then by length times hops, then by name: in which order a scenario writes its entries changes
/// nothing.
pub(super) fn items(view: Ethernet<'_>, order: Order) -> Vec<Item> {
    let mut frames: Vec<_> = scheduled(view)
        .map(|stream| {
            let length = view.frame_time_of(&stream) * links(view, &stream) * i64::from(stream.frames());
            let name = by_number(&stream.stream.name);
            ((offset(&stream).is_none(), stream.stream.period, length, name), Item::Stream(stream.id))
        })
        .collect();
    frames.sort_unstable_by_key(|(key, _)| *key);
    let fixed = frames.partition_point(|((moves, ..), _)| !moves);

    let mut tasks: Vec<_> = view
        .task_stations()
        .flat_map(|node| {
            let station = &view.plan.nodes[node.index()];
            station.tasks.iter().enumerate().map(move |(index, task)| {
                let index = index as u16;
                let names = (by_number(&station.name), by_number(&task.name));
                // The longest first: it finds a place last.
                ((task.period, -task.wcet, names), Item::Task { node, index })
            })
        })
        .collect();
    tasks.sort_unstable_by_key(|(key, _)| *key);

    let (fixed, free) = frames.split_at(fixed);
    let free = free.iter().map(|(_, item)| *item);
    let tasks = tasks.iter().map(|(_, item)| *item);
    let mut all: Vec<_> = fixed.iter().map(|(_, item)| *item).collect();
    match order {
        Order::FramesFirst => all.extend(free.chain(tasks)),
        Order::TasksFirst => all.extend(tasks.chain(free)),
    }
    all
}

/// A name as a key by which `s.2` comes before `s.10`, as the streams of one entry are counted.
fn by_number(name: &str) -> (&str, u64, &str) {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    (stem, name[stem.len()..].parse().unwrap_or(0), name)
}

/// How many links a stream's frames take: to the first switch, between switches, and on to each receiver, in each of its networks.
fn links(view: Ethernet<'_>, stream: &EthernetStream<'_>) -> i64 {
    let behind = |(_, hop): &(NetworkName, SwitchHop)| hop.to.len() + hop.onward.len();
    let behind = view.hops(stream).map_or(0, |hops| hops.iter().map(behind).sum::<usize>());
    (stream.copies.networks().len() + behind) as i64
}

/// How many resources each node has.
const OF_NODE: usize = 5;

/// A schedule in the making. Each item is placed strictly periodically: instance `k` starts `k` periods after
/// instance 0, so no frame has release jitter.
pub(super) struct Placer<'a> {
    view: Ethernet<'a>,
    /// The cluster, then of each node [`OF_NODE`]: link to the switch, link from the switch, the same of network B, processor; then
    /// both directions of each link between switches.
    board: Board,
    table: ScheduleTable,
    verifications: Vec<VerificationSlot>,
}

impl<'a> Placer<'a> {
    pub(super) fn new(view: Ethernet<'a>) -> Self {
        let cycle = view.segment.cluster_cycle;
        let resources = 1 + OF_NODE * view.plan.nodes.len() + 2 * view.segment.wiring.trunks.len();
        Self {
            view,
            board: Board::new(resources, cycle.as_ps()),
            table: ScheduleTable { cluster_cycle: cycle, ..ScheduleTable::default() },
            verifications: Vec::new(),
        }
    }

    /// Places one item, or says what was in its way. Nothing is reserved in that case.
    pub(super) fn place(&mut self, item: Item) -> Result<(), Reason> {
        match item {
            Item::Stream(id) => self.place_stream(id),
            Item::Task { node, index } => self.place_task(node, index),
        }
    }

    pub(super) fn finish(mut self) -> Synthesis {
        finish_slots(self.view, &mut self.table);
        self.table.tasks.sort_unstable_by_key(|slot| (slot.start, slot.node, slot.task));
        self.verifications.sort_unstable_by_key(|slot| (slot.start, slot.node, slot.stream));
        Synthesis { table: self.table, verifications: self.verifications }
    }

    fn place_stream(&mut self, id: StreamId) -> Result<(), Reason> {
        let view = self.view;
        let stream = self.stream(id);
        let len = view.secured_len(&stream);
        if len > crate::tdma::FRAME_LEN_MAX {
            return Err(Reason::FrameTooLong { len });
        }
        let needs = FrameNeeds::of(view, &stream);
        let instances = self.instances(stream.stream.period)?;
        let to_use = |(resource, from, len): (Resource, Duration, Duration)| Use {
            resource: self.index_of(resource),
            from: from.as_ps(),
            len: len.as_ps(),
        };
        let uses = needs.all_uses().map(to_use).collect();
        let (period, shared) = (stream.stream.period.as_ps(), view.segment.access == Access::SharedSlots);

        // The links are left within the period. With shared slots the turns count alone, as in the source: the last switch
        // passes the frame on while the next slot runs, so the last frame arrives in the next period.
        let of_one = if shared { needs.turns_over() } else { needs.all_over() };
        // The next message is as far from the last frame of this one as its frames are from each other.
        let last_bit = needs.last_starts() + if needs.frames > 1 { of_one.max(needs.pitch) } else { of_one };
        let latest = period - last_bit.as_ps();
        let (first, last) = offset(&stream).map_or((0, latest), |offset| (offset.as_ps(), offset.as_ps()));
        if last > latest {
            return Err(Reason::PeriodTooShort { needed: last_bit });
        }
        // A later start leaves less room before the same limit, so the first one decides.
        let limit = Limit::FromPeriod(if shared { 2 * period } else { period });
        let floats = stream.hop.to.iter().map(|&node| Float {
            resource: self.index_of(Resource::Processor(node)),
            after: (needs.last_starts() + needs.arrival_at(node)).as_ps(),
            len: authentication_time(view, &stream, node).as_ps(),
            limit,
        });
        let floats = floats.filter(|float| float.len > 0).collect();
        let item = Periodic { period, first, last, jitter: 0, uses, floats };
        let placed = self.board.place(&item).map_err(|blocked| self.reason(blocked, needs.end(), last_bit))?;
        for (float, starts) in item.floats.iter().zip(placed.floats.chunks(placed.starts.len())) {
            let Resource::Processor(node) = self.resource_at(float.resource) else { continue };
            let slot = |(instance, start): (usize, &i64)| VerificationSlot {
                stream: id,
                instance: instance as u32,
                node,
                start: Duration::from_ps(*start),
                length: Duration::from_ps(float.len),
            };
            self.verifications.extend(starts.iter().enumerate().map(slot));
        }
        let slots = (0..instances).zip(&placed.starts);
        let of_message = slots.flat_map(|(k, start)| {
            let needs = &needs;
            let start = Duration::from_ps(*start);
            (0..needs.frames)
                .map(move |frame| needs.slot(id, k * needs.frames + frame, start + needs.pitch * i64::from(frame)))
        });
        self.table.slots.extend(of_message);
        Ok(())
    }

    fn place_task(&mut self, node: NodeId, index: u16) -> Result<(), Reason> {
        let task = &self.view.plan.nodes[node.index()].tasks[usize::from(index)];
        let instances = self.instances(task.period)?;
        let (period, length) = (task.period.as_ps(), task.wcet);
        let resource = self.index_of(Resource::Processor(node));
        let uses = vec![Use { resource, from: 0, len: length.as_ps() }];
        let item = Periodic { period, last: period - length.as_ps(), uses, ..Periodic::default() };
        let placed = self.board.place(&item).map_err(|blocked| self.reason(blocked, length, length))?;
        self.table.tasks.extend((0..instances).zip(&placed.starts).map(|(instance, start)| TaskSlot {
            node,
            task: index,
            instance,
            start: Duration::from_ps(*start),
            length,
        }));
        Ok(())
    }

    /// What was in the way of something that takes `length`, and of its period `needed`.
    fn reason(&self, blocked: Blocked, length: Duration, needed: Duration) -> Reason {
        match blocked {
            Blocked::TooLong => Reason::PeriodTooShort { needed },
            Blocked::Float { resource, len } => {
                Reason::NoGap { resource: self.resource_at(resource), length: Duration::from_ps(len) }
            }
            // No list of gates is limited here.
            Blocked::Use { resource } | Blocked::Entries { resource } => {
                Reason::NoGap { resource: self.resource_at(resource), length }
            }
        }
    }

    /// A stream that [`items`] found on this segment.
    fn stream(&self, id: StreamId) -> EthernetStream<'a> {
        self.view.stream(id).expect("items are of streams that travel on this segment")
    }

    /// How often `period` comes in the cluster cycle.
    fn instances(&self, period: Duration) -> Result<u32, Reason> {
        let cycle = self.table.cluster_cycle;
        if period <= Duration::ZERO || cycle.rem_floor(period) != Duration::ZERO {
            return Err(Reason::PeriodDoesNotDivideCycle { period, cycle });
        }
        u32::try_from(cycle.div_floor(period)).map_err(|_| Reason::PeriodDoesNotDivideCycle { period, cycle })
    }

    fn index_of(&self, resource: Resource) -> usize {
        match resource {
            Resource::Cluster => 0,
            Resource::LinkToSwitch(node) => 1 + OF_NODE * node.index(),
            Resource::LinkFromSwitch(node) => 2 + OF_NODE * node.index(),
            Resource::SecondToSwitch(node) => 3 + OF_NODE * node.index(),
            Resource::SecondFromSwitch(node) => 4 + OF_NODE * node.index(),
            Resource::Processor(node) => 5 + OF_NODE * node.index(),
            Resource::LinkBetween { link, from } => {
                let is_back = self.view.segment.wiring.trunks[link].ends[0] != from;
                1 + OF_NODE * self.view.plan.nodes.len() + 2 * link + usize::from(is_back)
            }
        }
    }

    fn resource_at(&self, index: usize) -> Resource {
        let Some(index) = index.checked_sub(1) else { return Resource::Cluster };
        let nodes = self.view.plan.nodes.len();
        if let Some(index) = index.checked_sub(OF_NODE * nodes) {
            let link = index / 2;
            return Resource::LinkBetween { link, from: self.view.segment.wiring.trunks[link].ends[index % 2] };
        }
        let node = NodeId((index / OF_NODE) as u16);
        match index % OF_NODE {
            0 => Resource::LinkToSwitch(node),
            1 => Resource::LinkFromSwitch(node),
            2 => Resource::SecondToSwitch(node),
            3 => Resource::SecondFromSwitch(node),
            _ => Resource::Processor(node),
        }
    }
}
