//! A plain second opinion on schedule tables: every pair is looked at, nothing is shared with the search.

use std::collections::BTreeMap;
use std::fmt;

use chronoseal_core::{Duration, NodeId, StreamId};
use chronoseal_media::schedule::{Relay, ScheduleTable, Slot};
use chronoseal_plan::{Access, Copies, Dispatch, Ethernet, EthernetStream, LinkParameters, NetworkName, SwitchHop};

use super::{Resource, authentication_time};

/// A rule that a schedule table breaks.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Violation {
    /// A stream has not exactly one slot for each frame that it has in each of its periods.
    WrongInstances {
        /// Which stream.
        stream: StreamId,
        /// Slots it should have.
        expected: usize,
        /// Slots it has.
        found: usize,
    },
    /// A task has not exactly one slot for each of its periods.
    WrongTaskInstances {
        /// On whose processor.
        node: NodeId,
        /// Index into the node's list of tasks.
        task: u16,
    },
    /// A time of a slot is not what plan and start give.
    WrongTimes {
        /// Which stream.
        stream: StreamId,
        /// Which of its slots.
        instance: u32,
        /// Which time.
        which: &'static str,
    },
    /// A slot does not lie one period after the one before, or not at the offset the plan fixes.
    NotPeriodic {
        /// Which stream.
        stream: StreamId,
        /// Which of its slots.
        instance: u32,
    },
    /// When a frame comes in this slot, who waits for the frame before it may still do so, and takes the one for the other.
    WindowsMeet {
        /// Which stream.
        stream: StreamId,
        /// Which of its slots.
        instance: u32,
    },
    /// A slot or a run of a task is not within its period.
    OutsidePeriod {
        /// Stream, or task as `node/task`.
        name: String,
        /// Which instance.
        instance: u32,
    },
    /// Two spans of one resource overlap.
    Overlap {
        /// Which resource.
        resource: Resource,
        /// Whose spans: streams, or tasks as `node/task`.
        names: [String; 2],
    },
    /// A processor cannot check all frames in time, in whatever order it does.
    VerificationLate {
        /// On whose processor.
        node: NodeId,
        /// From this time on,
        from: Duration,
        /// and until this time it has more to do than time.
        until: Duration,
    },
    /// The table is for another cluster cycle.
    WrongCycle,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WrongInstances { stream, expected, found } => {
                write!(f, "stream {} has {found} slots in a cluster cycle instead of {expected}", stream.0)
            }
            Self::WrongTaskInstances { node, task } => {
                write!(f, "task {task} of node {} has not one slot in each of its periods", node.0)
            }
            Self::WrongTimes { stream, instance, which } => {
                write!(f, "slot {instance} of stream {} has a wrong {which}", stream.0)
            }
            Self::NotPeriodic { stream, instance } => {
                write!(f, "slot {instance} of stream {} is not where its offset and period put it", stream.0)
            }
            Self::WindowsMeet { stream, instance } => {
                write!(
                    f,
                    "slot {instance} of stream {} begins when the window of the slot before it is still open",
                    stream.0
                )
            }
            Self::OutsidePeriod { name, instance } => write!(f, "instance {instance} of {name} leaves its period"),
            Self::Overlap { resource, names: [one, other] } => write!(f, "{one} and {other} overlap on {resource:?}"),
            Self::VerificationLate { node, from, until } => {
                write!(f, "node {} has more frames to check from {from} to {until} than it can", node.0)
            }
            Self::WrongCycle => f.write_str("the table is for another cluster cycle"),
        }
    }
}

/// Everything that is wrong with `table` as a schedule of the segment; nothing if it is right.
///
/// Quadratic in the slots and more, on purpose: it is as plain as the rules.
pub fn verify(view: Ethernet<'_>, table: &ScheduleTable) -> Vec<Violation> {
    let mut found = Vec::new();
    if table.cluster_cycle != view.segment.cluster_cycle || table.cluster_cycle <= Duration::ZERO {
        return vec![Violation::WrongCycle];
    }
    times(view, table, &mut found);
    if !found.is_empty() {
        // Overlaps of slots with wrong times would only say the same again.
        return found;
    }
    windows(view, table, &mut found);
    overlaps(view, table, &mut found);
    verifications(view, table, &mut found);
    found
}

/// Of messages of several frames: whether each who waits for a frame has it, or has given it up, before the next one can come.
fn windows(view: Ethernet<'_>, table: &ScheduleTable, found: &mut Vec<Violation>) {
    let network = view.segment;
    for on_wire in view.streams().filter(|stream| stream.class.is_time_triggered() && stream.frames() > 1) {
        let Ok(route) = view.hops(&on_wire) else { continue };
        let mut positions: Vec<_> = (0..table.slots.len()).filter(|at| table.slots[*at].stream == on_wire.id).collect();
        positions.sort_by_key(|at| table.slots[*at].instance);
        let repeated = positions.first().map(|first| (*first, table.cluster_cycle)).into_iter();
        let nexts = positions.iter().skip(1).map(|next| (*next, Duration::ZERO)).chain(repeated);
        for (&before, (next, later)) in positions.iter().zip(nexts) {
            let mut meet = false;
            // By receiver: when it gives up the last copy of this frame, and when it may take the first of the next, over whichever network.
            let mut at_receivers: BTreeMap<NodeId, (Duration, Duration)> = BTreeMap::new();
            for (hop, (name, at)) in route.iter().enumerate() {
                let (Some(one), Some(other)) = (table.turn(before, hop), table.turn(next, hop)) else { continue };
                let link = match at.trunk {
                    None => network.link_in(*name, on_wire.hop.from).parameters,
                    Some(trunk) => network.wiring.trunks[trunk].parameters,
                };
                let closes = one.end.max(one.dispatch);
                meet |= other.start + later + shortest_on(view, &on_wire, link) - network.precision <= closes;
                for &node in &at.to {
                    let link = network.link_in(*name, node).parameters;
                    let shortest = shortest_on(view, &on_wire, link);
                    let opens = match network.dispatch {
                        Dispatch::Scheduled => other.dispatch + shortest,
                        Dispatch::Immediate => table.slots[next].start + shortest,
                    };
                    let longest = time_on(view, &on_wire, link) + view.integration_wait(link);
                    let (opens, closes) =
                        (opens + later - network.precision * 2, closes + longest + network.precision * 2);
                    let (last, first) = at_receivers.entry(node).or_insert((closes, opens));
                    (*last, *first) = ((*last).max(closes), (*first).min(opens));
                }
            }
            meet |= at_receivers.values().any(|(last, first)| first <= last);
            if meet {
                found.push(Violation::WindowsMeet { stream: on_wire.id, instance: table.slots[next].instance });
            }
        }
    }
}

/// How long the shortest frame of a message takes to come in by a link.
fn shortest_on(view: Ethernet<'_>, stream: &EthernetStream<'_>, link: LinkParameters) -> Duration {
    view.segment.speed_over(link).reception(u64::from(view.shortest_len(stream)))
}

fn times(view: Ethernet<'_>, table: &ScheduleTable, found: &mut Vec<Violation>) {
    let network = view.segment;
    let known = |id: &StreamId| view.stream(*id).is_none();
    let mut strangers: Vec<_> = table.slots.iter().map(|slot| slot.stream).filter(known).collect();
    strangers.dedup();
    for stream in strangers {
        let slots = table.of(stream).count();
        found.push(Violation::WrongInstances { stream, expected: 0, found: slots });
    }
    for on_wire in view.streams() {
        let (id, stream) = (on_wire.id, on_wire.stream);
        let slots: Vec<_> = table.of(id).collect();
        let scheduled = on_wire.class.is_time_triggered();
        let frames = on_wire.frames() as usize;
        let expected = if scheduled { table.cluster_cycle.div_floor(stream.period) as usize * frames } else { 0 };
        let exact = !scheduled || table.cluster_cycle.rem_floor(stream.period) == Duration::ZERO;
        let numbered = slots.iter().enumerate().all(|(k, slot)| slot.instance as usize == k);
        if slots.len() != expected || !exact || !numbered {
            found.push(Violation::WrongInstances { stream: id, expected, found: slots.len() });
            continue;
        }
        let shared = network.access == Access::SharedSlots;
        // When a switch passes on what comes to it by a link from `start` on, and when that turn is over.
        let turn = |start: Duration, link: LinkParameters| {
            let frame_time = time_on(view, &on_wire, link);
            let over = start + frame_time + view.integration_wait(link);
            let guarded = over + network.guard_period;
            let in_switch = over + link.delay(view.secured_len(&on_wire)) + network.forwarding_delay;
            let dispatch = match network.dispatch {
                Dispatch::Immediate => in_switch,
                Dispatch::Scheduled if shared => guarded,
                Dispatch::Scheduled => in_switch + network.precision * 2,
            };
            (dispatch, if shared { guarded } else { guarded.max(dispatch) })
        };
        // Whatever network a copy goes into, it starts with the slot; the slot's own turn is in the first of them.
        let from = |name: NetworkName| network.link_in(name, on_wire.hop.from).parameters;
        let first_network =
            if on_wire.copies == &Copies::One(NetworkName::B) { NetworkName::B } else { NetworkName::A };
        let frame_time = time_on(view, &on_wire, from(first_network));
        let Ok(route) = view.hops(&on_wire) else {
            found.push(Violation::WrongInstances { stream: id, expected: 0, found: slots.len() });
            continue;
        };
        let positions = table.slots.iter().enumerate().filter(|(_, slot)| slot.stream == id);
        for (position, slot) in positions {
            let (message, frame) = (slot.instance as usize / frames, slot.instance as usize % frames);
            let begin = stream.period * message as i64;
            let (dispatch, end) = turn(slot.start, from(first_network));
            let relays: Vec<_> = table.relays.iter().filter(|relay| relay.slot == position).collect();
            let mut rightly = relays.len() + 1 == route.len();
            for (hop, (name, at)) in route.iter().enumerate().skip(1) {
                let Some(relay) = relays.iter().find(|relay| usize::from(relay.hop) == hop) else { continue };
                let behind = |trunk: usize| {
                    let before = route.iter().position(|(_, before)| before.onward.contains(&trunk));
                    Some((dispatched(slot, &relays, before?), network.wiring.trunks[trunk].parameters))
                };
                let came = at.trunk.map_or_else(|| Some((slot.start, from(*name))), behind);
                let right = came.map(|(start, link)| (start, turn(start, link)));
                rightly &= right == Some((relay.start, (relay.dispatch, relay.end)));
            }
            let seal = authentication_time(view, &on_wire, on_wire.hop.from);
            let release = if frame == 0 { slot.start - seal } else { slot.start };
            for (which, right) in [
                ("frame time", slot.frame_time == frame_time),
                ("dispatch time", slot.dispatch == dispatch),
                ("end", slot.end == end),
                ("release", slot.release == release),
                ("turn at a switch behind the first", rightly),
            ] {
                if !right {
                    found.push(Violation::WrongTimes { stream: id, instance: slot.instance, which });
                }
            }
            let fixed = stream.offset.filter(|_| on_wire.hop.from == stream.sender);
            let first = if frame == 0 { fixed.unwrap_or(slots[0].start) } else { slots[frame].start };
            // The next frame of a message is behind the one before.
            let is_behind = frame == 0 || slots[frame].start > slots[frame - 1].start;
            if slot.start != first + begin || !is_behind {
                found.push(Violation::NotPeriodic { stream: id, instance: slot.instance });
            }
            let of_receiver = |node: &NodeId| arrival(view, table, position, *node).filter(|_| !shared);
            let received = on_wire.hop.to.iter().filter_map(of_receiver);
            let last = received.chain(relays.iter().map(|relay| relay.end)).fold(slot.end, Duration::max);
            if slot.start < begin || last > begin + stream.period {
                found.push(Violation::OutsidePeriod { name: stream.name.clone(), instance: slot.instance });
            }
        }
    }
    for node in view.task_stations() {
        let station = &view.plan.nodes[node.index()];
        for (number, task) in station.tasks.iter().enumerate() {
            let number = number as u16;
            let runs: Vec<_> = table.tasks.iter().filter(|run| (run.node, run.task) == (node, number)).collect();
            let expected = table.cluster_cycle.div_floor(task.period);
            let numbered =
                runs.iter().enumerate().all(|(k, run)| run.instance as usize == k && run.length == task.wcet);
            if runs.len() as i64 != expected || !numbered {
                found.push(Violation::WrongTaskInstances { node, task: number });
            }
            for run in runs {
                let begin = task.period * i64::from(run.instance);
                if run.start < begin || run.start + run.length > begin + task.period {
                    let name = format!("{}/{}", station.name, task.name);
                    found.push(Violation::OutsidePeriod { name, instance: run.instance });
                }
            }
        }
    }
}

/// How long a frame of a stream keeps a link.
fn time_on(view: Ethernet<'_>, stream: &EthernetStream<'_>, link: LinkParameters) -> Duration {
    view.segment.speed_over(link).occupancy(u64::from(view.secured_len(stream)))
}

/// When the frame of a slot is passed on by one of the switches on its way.
fn dispatched(slot: &Slot, relays: &[&Relay], hop: usize) -> Duration {
    let behind = relays.iter().find(|relay| usize::from(relay.hop) == hop);
    behind.map_or(slot.dispatch, |relay| relay.dispatch)
}

/// When the frame of a slot is at one of its receivers, or the later of its copies, since the earlier one can be lost.
fn arrival(view: Ethernet<'_>, table: &ScheduleTable, position: usize, node: NodeId) -> Option<Duration> {
    let slot = &table.slots[position];
    let stream = view.stream(slot.stream)?;
    let hops = view.hops(&stream).ok()?;
    let relays: Vec<_> = table.relays.iter().filter(|relay| relay.slot == position).collect();
    let last = hops.iter().enumerate().filter(|(_, (_, hop))| hop.to.contains(&node));
    let arrives = |(number, (name, _)): (usize, &(NetworkName, SwitchHop))| {
        let link = view.segment.link_in(*name, node).parameters;
        let over = time_on(view, &stream, link) + view.integration_wait(link);
        dispatched(slot, &relays, number) + over + link.delay(view.secured_len(&stream))
    };
    last.map(arrives).max()
}

struct Span {
    resource: Resource,
    start: Duration,
    length: Duration,
    name: String,
}

fn fixed_spans(view: Ethernet<'_>, table: &ScheduleTable) -> Vec<Span> {
    let network = view.segment;
    let mut spans = Vec::new();
    for (position, slot) in table.slots.iter().enumerate() {
        let Some(on_wire) = view.stream(slot.stream) else { continue };
        let Ok(route) = view.hops(&on_wire) else { continue };
        let (hop, name) = (on_wire.hop, &on_wire.stream.name);
        let mut add = |resource, start, length| spans.push(Span { resource, start, length, name: name.clone() });
        let egress = |link: LinkParameters| {
            let frame_time = time_on(view, &on_wire, link) + view.integration_wait(link);
            let guarded = frame_time + network.guard_period;
            match (network.access, network.dispatch) {
                (Access::SharedSlots, _) => frame_time,
                (Access::PerLink, Dispatch::Scheduled) => guarded,
                (Access::PerLink, Dispatch::Immediate) => guarded + network.forwarding_jitter.max + network.precision,
            }
        };
        let mut cluster = Duration::ZERO;
        for (in_network, _) in route.iter().filter(|(_, at)| at.trunk.is_none()) {
            let link = network.link_in(*in_network, hop.from).parameters;
            let guarded = time_on(view, &on_wire, link) + network.guard_period + view.integration_wait(link);
            match (network.access, in_network) {
                (Access::SharedSlots, _) => cluster = cluster.max(guarded),
                (Access::PerLink, NetworkName::A) => add(Resource::LinkToSwitch(hop.from), slot.start, guarded),
                (Access::PerLink, NetworkName::B) => add(Resource::SecondToSwitch(hop.from), slot.start, guarded),
            }
        }
        if network.access == Access::SharedSlots {
            add(Resource::Cluster, slot.start, cluster);
        }
        add(Resource::Processor(hop.from), slot.release, slot.start - slot.release);
        let relays: Vec<_> = table.relays.iter().filter(|relay| relay.slot == position).collect();
        for (number, (in_network, at)) in route.iter().enumerate() {
            let dispatch = dispatched(slot, &relays, number);
            for &node in &at.to {
                let resource = match in_network {
                    NetworkName::A => Resource::LinkFromSwitch(node),
                    NetworkName::B => Resource::SecondFromSwitch(node),
                };
                add(resource, dispatch, egress(network.link_in(*in_network, node).parameters));
            }
            for &link in &at.onward {
                let resource = Resource::LinkBetween { link, from: at.switch };
                add(resource, dispatch, egress(network.wiring.trunks[link].parameters));
            }
        }
    }
    for run in &table.tasks {
        let station = &view.plan.nodes[run.node.index()];
        let name = format!("{}/{}", station.name, station.tasks[usize::from(run.task)].name);
        spans.push(Span { resource: Resource::Processor(run.node), start: run.start, length: run.length, name });
    }
    spans
}

fn overlaps(view: Ethernet<'_>, table: &ScheduleTable, found: &mut Vec<Violation>) {
    let spans = fixed_spans(view, table);
    let cycle = table.cluster_cycle;
    for (index, one) in spans.iter().enumerate() {
        for other in &spans[index + 1..] {
            if one.resource != other.resource || one.length == Duration::ZERO || other.length == Duration::ZERO {
                continue;
            }
            // On a circle: each begins only after the other, seen from where that began, is over.
            let apart = (other.start - one.start).rem_floor(cycle);
            if apart < one.length || cycle - apart < other.length {
                let names = [one.name.clone(), other.name.clone()];
                found.push(Violation::Overlap { resource: one.resource, names });
            }
        }
    }
}

/// Enough time for the checks, whatever their order: between any arrival and any limit, the checks that have both in
/// between, and the fixed work there, must not take longer than the time between (processor demand).
fn verifications(view: Ethernet<'_>, table: &ScheduleTable, found: &mut Vec<Violation>) {
    let cycle = table.cluster_cycle;
    let fixed = fixed_spans(view, table);
    for node in view.stations() {
        let mut jobs = Vec::new();
        for (position, slot) in table.slots.iter().enumerate() {
            let Some(on_wire) = view.stream(slot.stream) else { continue };
            let cost = authentication_time(view, &on_wire, node);
            let Some(arrives) = arrival(view, table, position, node) else { continue };
            if on_wire.hop.to.contains(&node) && cost > Duration::ZERO && on_wire.is_last_in(slot.instance) {
                let periods = if view.segment.access == Access::SharedSlots { 2 } else { 1 };
                let message = slot.instance / on_wire.frames();
                let limit = on_wire.stream.period * (i64::from(message) + periods);
                for repeat in [-2, -1, 0, 1, 2] {
                    let shift = cycle * repeat;
                    jobs.push((arrives + shift, limit + shift, cost));
                }
            }
        }
        let limits: Vec<_> = jobs.iter().map(|job| job.1).collect();
        let busy = |from: Duration, until: Duration| -> Duration {
            let spans = fixed.iter().filter(|span| span.resource == Resource::Processor(node));
            spans
                .flat_map(|span| (-3..=4).map(move |k| (span.start + cycle * k, span.length)))
                .map(|(start, length)| ((start + length).min(until) - start.max(from)).max(Duration::ZERO))
                .sum()
        };
        let starts: Vec<_> =
            jobs.iter().map(|job| job.0).filter(|at| *at >= Duration::ZERO && *at < cycle * 2).collect();
        'node: for &from in &starts {
            for &until in limits.iter().filter(|until| **until > from) {
                let demand: Duration = jobs.iter().filter(|job| job.0 >= from && job.1 <= until).map(|job| job.2).sum();
                if demand > Duration::ZERO && demand + busy(from, until) > until - from {
                    found.push(Violation::VerificationLate { node, from, until });
                    break 'node;
                }
            }
        }
    }
}
