//! What nodes compute, and how long frames can be kept by it.
//!
//! A node's one processor seals and opens PDUs, forwards, and runs tasks. It is never idle while it has work, and never
//! interrupts what it has begun. The order is left open, so that any order is bounded: a PDU that comes is dealt with,
//! with all that follows from it on this node, when the longest busy period of the processor is over.
//!
//! | what | when | costs |
//! |---|---|---|
//! | sealing at the sender | when the frame is due, or before its slot | the MAC over the PDU |
//! | opening at a receiver | when the last bit is in | the MAC over the PDU |
//! | forwarding | when the last bit is in | [`GatewayPlan::delay`] for each further hop |
//! | opening and sealing again at a gateway | at the same time, or sealing before the slot | the MAC, twice |
//! | tasks | as the schedule table has them | their worst case |
//!
//! Nothing bounds the processor of a gateway that passes frames of a recording on whole, since nothing says when they come, nor that of a
//! node to which a station that babbles gets through without a limit. Where a meter or an account lets some of its frames pass, they count.
//! Messages of a key exchange are left out; `segment::exchange` says which streams have no bound for that.
//!
//! A gateway that puts several PDUs into one frame keeps the first of them for a time that it is given, which is no work. What seals
//! and opens that frame is work of the frame's own stream, which is sent as `segment::collected` has it.
//!
//! [`GatewayPlan::delay`]: chronoseal_plan::GatewayPlan::delay

use std::collections::BTreeMap;

use chronoseal_core::{Duration, NodeId, StreamId, Work};
use chronoseal_frameauth::DataId;
use chronoseal_media::schedule::{ScheduleTable, Slot};
use chronoseal_plan::{DataName, Fidelity, HopPlan, Plan, SegmentId, StreamPlan};

use super::backlog::Backlog;
use super::compose::{Arrivals, Reached, from_the_air};
use super::demand::{Cyclic, Entry, Load, Periodic, true_period};
use super::load::Share;
use super::{MadeUp, SegmentBounds, Why, host};

/// What the streams of a plan ask of processors.
#[derive(Clone, Copy)]
pub struct Jobs<'a> {
    /// Whose.
    pub plan: &'a Plan,
    /// The rows that know the plan's kinds of segments.
    rows: &'a [&'a dyn SegmentBounds],
}

/// Something a processor does in every cycle of a schedule table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScheduledJob {
    /// On whose processor.
    pub node: NodeId,
    /// When it comes at the earliest, from the start of the cycle.
    pub earliest: Duration,
    /// When it comes at the latest.
    pub latest: Duration,
    /// Processor time at most.
    pub cost: Duration,
    /// When it comes by the node's own clock, if that decides: a sealing or a task, not a frame that arrives. Such jobs keep
    /// their distances, and go before all that waits there.
    pub own_time: Option<Duration>,
}

impl<'a> Jobs<'a> {
    pub(crate) fn new(plan: &'a Plan, rows: &'a [&'a dyn SegmentBounds]) -> Self {
        Self { plan, rows }
    }

    pub(super) fn row(&self, segment: SegmentId) -> Option<&'a dyn SegmentBounds> {
        let kind = self.plan.segments.get(segment.index())?.kind;
        self.rows.iter().find(|row| row.kind() == kind).copied()
    }

    pub(super) fn is_in_slots(&self, hop: &HopPlan) -> bool {
        self.row(hop.segment).is_some_and(|row| row.is_in_slots(hop))
    }

    /// What sealing costs the node that sends a stream on this hop; zero if it only passes the PDU on.
    pub fn sealing(&self, id: StreamId, hop: &HopPlan) -> Duration {
        let is_sealed = hop.previous.is_none() || hop.protection.is_some();
        if is_sealed { self.authentication(id, hop, hop.from) } else { Duration::ZERO }
    }

    /// What opening a frame costs a node that it comes to on this hop; zero if it is only passed on there.
    pub fn opening(&self, id: StreamId, hop: &HopPlan, node: NodeId) -> Duration {
        let stream = &self.plan.streams[id.index()];
        let is_opened = stream.receivers.contains(&node) || hop.protection.is_some() || stream.collected().is_some();
        if is_opened { self.authentication(id, hop, node) } else { Duration::ZERO }
    }

    /// What a frame that comes to a node costs there, up to its place in the queues of further hops. What is sent on in
    /// slots is sealed for them and costs that again.
    pub fn on_arrival(&self, id: StreamId, hop: &HopPlan, node: NodeId) -> Duration {
        let stream = &self.plan.streams[id.index()];
        let sending_on = onward(stream, hop, node).map(|next| {
            let sealing = if self.is_in_slots(next) { Duration::ZERO } else { self.sealing(id, next) };
            self.forwarding(node) + sealing
        });
        self.opening(id, hop, node) + sending_on.sum()
    }

    /// What taking a frame on to one further hop costs.
    pub(super) fn forwarding(&self, node: NodeId) -> Duration {
        self.plan.nodes[node.index()].gateway.as_ref().map_or(Duration::ZERO, |gateway| gateway.delay)
    }

    /// Of what the processor does with a frame that ends, or begins, on this hop: what it certainly takes.
    pub(super) fn certain(&self, id: StreamId, hop: &HopPlan, node: NodeId) -> Duration {
        // Timing alone computes nothing.
        let computes = self.plan.fidelity == Fidelity::Bytes;
        if computes { self.authentication(id, hop, node) } else { Duration::ZERO }
    }

    /// The MAC over a PDU on a node's platform.
    fn authentication(&self, id: StreamId, hop: &HopPlan, node: NodeId) -> Duration {
        let cost = || {
            let work = match (hop.container(), hop.protection) {
                (None, _) => self.row(hop.segment)?.authentication(self.plan, id, hop)?,
                (Some(_), None) => mac_work(self.plan, id, hop, id.0, hop.frame_len)?,
                // It is under the tag of the frame that it is in.
                (Some(_), Some(_)) => return None,
            };
            Some(self.plan.platform_of(node)?.cost(work.operation.0, work.len))
        };
        cost().unwrap_or_default()
    }
}

/// The hops on which `node` sends on what `hop` brings it.
fn onward<'p>(stream: &'p StreamPlan, hop: &HopPlan, node: NodeId) -> impl Iterator<Item = &'p HopPlan> {
    let segment = hop.segment;
    let brings = move |index: u16| stream.hops.get(usize::from(index)).is_some_and(|hop| hop.segment == segment);
    stream.hops.iter().filter(move |next| next.from == node && next.previous.is_some_and(brings))
}

/// What a MAC over a PDU of a stream is charged as on one of its hops, where the segment calls the stream by `number` and
/// a frame of it covers `payload_len` bytes; `None` without a MAC.
pub(super) fn mac_work(plan: &Plan, id: StreamId, hop: &HopPlan, number: u16, payload_len: u32) -> Option<Work> {
    let stream = &plan.streams[id.index()];
    let profile = plan.protection_on(stream, hop).profile()?;
    let data_id = match plan.data_name(stream, hop) {
        DataName::Number => DataId::number(number),
        DataName::Name(name) => DataId::name(name.as_bytes()).ok()?,
    };
    // What gateways carry from end to end is the same PDU on every segment.
    let is_carried = stream.is_relayed() && hop.protection.is_none();
    let len = if is_carried { stream.length } else { payload_len };
    Some(profile.work(&data_id, len as usize))
}

/// What every processor of a plan does.
pub(super) struct Processors {
    of: Vec<Processor>,
}

#[derive(Default)]
struct Processor {
    /// What does not depend on when frames come.
    load: Load,
    /// Frames made of several PDUs, when they are ready: what sealing one costs.
    collected: Vec<(StreamId, SegmentId, Duration)>,
    arrivals: Vec<Arriving>,
    /// By table.
    scheduled: Vec<(SegmentId, ScheduledJob)>,
    /// Why nothing bounds when frames come: a gateway passes on those of a recording, or made-up ones come and cost it something.
    unbounded: Option<Why>,
}

/// Frames that come to a processor.
struct Arriving {
    stream: StreamId,
    segment: SegmentId,
    period: Duration,
    /// How much nearer to each other they can be than their jitter says.
    spread: Duration,
    cost: Duration,
}

impl Processors {
    pub(super) fn new(jobs: &Jobs<'_>, tables: &[Option<ScheduleTable>]) -> Self {
        let mut of: Vec<Processor> = jobs.plan.nodes.iter().map(|_| Processor::default()).collect();
        for (index, stream) in jobs.plan.streams.iter().enumerate() {
            let id = StreamId(index as u16);
            let period = distance(jobs, stream);
            for hop in &stream.hops {
                let is_in_slots = jobs.is_in_slots(hop);
                let cost = jobs.sealing(id, hop);
                if stream.collected().is_some() {
                    of[hop.from.index()].collected.push((id, hop.segment, cost));
                } else if hop.previous.is_none() && !is_in_slots && cost > Duration::ZERO {
                    let job = Periodic { period, jitter: Duration::ZERO, cost };
                    of[hop.from.index()].load.periodic.push(job);
                }
                for node in &hop.to {
                    // Behind a host interface nobody knows the table.
                    let has_host = host::interface(jobs, hop.segment, *node).is_some();
                    if is_in_slots && !has_host {
                        continue;
                    }
                    let spread = if is_in_slots { host::spread_of(jobs, id, hop, tables) } else { Duration::ZERO };
                    let cost = jobs.on_arrival(id, hop, *node);
                    let per_period = jobs.row(hop.segment).map_or(1, |row| row.openings_per_period(jobs.plan, id, hop));
                    let cost = cost * i64::try_from(per_period).unwrap_or(i64::MAX);
                    if cost > Duration::ZERO {
                        let processor = &mut of[node.index()];
                        let segment = hop.segment;
                        processor.arrivals.push(Arriving { stream: id, segment, period, spread, cost });
                        // Made-up frames are opened as well before they are thrown away.
                        for made_up in jobs.row(segment).map(|row| row.made_up(jobs.plan, id, segment)).iter().flatten()
                        {
                            match *made_up {
                                MadeUp::Limited { distance: period, spread } => {
                                    processor.arrivals.push(Arriving { stream: id, segment, period, spread, cost });
                                }
                                MadeUp::Unlimited => processor.unbounded = Some(Why::MadeUpFrames),
                            }
                        }
                    }
                }
            }
        }
        for segment in jobs.plan.segment_ids() {
            let Some(row) = jobs.row(segment) else { continue };
            for (node, processor) in
                jobs.plan.nodes.iter().zip(&mut of).filter(|(node, _)| node.interfaces.contains(&segment))
            {
                let bridges = |gateway| row.bridges_recordings(jobs.plan, segment, gateway);
                if node.gateway.as_ref().is_some_and(bridges) {
                    processor.unbounded = Some(Why::ArrivalUnbounded);
                }
            }
            let Some(table) = tables.get(segment.index()).and_then(Option::as_ref) else { continue };
            let scheduled = row.scheduled_jobs(jobs, segment, Some(table));
            for (node, processor) in of.iter_mut().enumerate() {
                // What comes through a host interface is among the arrivals.
                let has_host = host::interface(jobs, segment, NodeId(node as u16)).is_some();
                let own =
                    scheduled.iter().filter(|job| job.node.index() == node && (job.own_time.is_some() || !has_host));
                processor.scheduled.extend(own.clone().map(|job| (segment, *job)));
                let entries: Vec<Entry> =
                    own.map(|job| Entry { earliest: job.earliest, latest: job.latest, cost: job.cost }).collect();
                if !entries.is_empty() {
                    processor.load.cyclic.push(Cyclic::new(table.cluster_cycle, &entries));
                }
            }
        }
        Self { of }
    }

    /// The longest busy period of each node's processor, with frames coming as late and as early as `reached` has it.
    /// Frames made of several PDUs come as `sent` has it.
    pub(super) fn busy(&self, reached: &Reached, sent: &Arrivals) -> Vec<Result<Duration, Why>> {
        let busy =
            |(index, _): (usize, &Processor)| Ok(self.load(NodeId(index as u16), reached, sent)?.busy_period()?);
        self.of.iter().enumerate().map(busy).collect()
    }

    /// All that a node's processor is asked for.
    fn load(&self, node: NodeId, reached: &Reached, sent: &Arrivals) -> Result<Load, Why> {
        let processor = &self.of[node.index()];
        if let Some(why) = processor.unbounded {
            return Err(why);
        }
        let mut load = processor.load.clone();
        for one in &processor.arrivals {
            let received = reached.at(one.stream, one.segment, node);
            let jitter = from_the_air(received).map_err(|_| Why::ArrivalUnbounded)?.jitter() + one.spread;
            let period = sent.collected(one.stream, one.segment).map_or(one.period, |arrival| arrival.distance);
            load.periodic.push(Periodic { period, jitter, cost: one.cost });
        }
        for (stream, segment, cost) in &processor.collected {
            let Some(arrival) = sent.collected(*stream, *segment) else { continue };
            let jitter = arrival.at.map_err(|_| Why::ArrivalUnbounded)?.jitter();
            load.periodic.push(Periodic { period: arrival.distance, jitter, cost: *cost });
        }
        Ok(load)
    }

    /// How long what a station has to seal for each slot of a table waits for its processor at most, by slot.
    ///
    /// What is due by the station's own clock goes in its order and before whatever waits, so only what has come until then
    /// can be in its way: the longest backlog at that instant. A gateway keeps no such order; there all of a busy period can be
    /// in the way.
    pub(super) fn blocked(
        &self,
        jobs: &Jobs<'_>,
        segment: SegmentId,
        table: &ScheduleTable,
        reached: &Reached,
        sent: &Arrivals,
    ) -> Vec<Result<Duration, Why>> {
        let mut loads: BTreeMap<NodeId, Result<Backlog, Why>> = BTreeMap::new();
        let of_slot = |slot: &Slot| {
            let hop = jobs.plan.streams.get(slot.stream.index()).and_then(|stream| stream.on(segment));
            let hop = hop.ok_or(Why::NotReached)?;
            let node = hop.from;
            let backlog = loads.entry(node).or_insert_with(|| {
                let load = self.load(node, reached, sent)?;
                let busy = load.busy_period()?;
                let own = self.of[node.index()].scheduled.iter().filter(|(known, _)| *known == segment);
                let is_gateway = jobs.plan.nodes[node.index()].interfaces.len() > 1;
                Ok(Backlog {
                    cycle: table.cluster_cycle,
                    jobs: own.map(|(_, job)| *job).filter(|job| job.cost > Duration::ZERO).collect(),
                    periodic: load.periodic,
                    busy,
                    is_ordered: !is_gateway,
                })
            });
            // A message in several slots is sealed before the first of them.
            let slots = jobs.row(segment).map_or(1, |row| row.slots_of_message(hop));
            let seal =
                if slot.instance.is_multiple_of(slots) { jobs.sealing(slot.stream, hop) } else { Duration::ZERO };
            backlog.as_ref().map_err(|why| *why).map(|backlog| backlog.at(slot.release, seal))
        };
        table.slots.iter().map(of_slot).collect()
    }
}

/// What each node's processor is asked for by streams and tasks: sealing, opening, forwarding.
pub fn processor_shares(plan: &Plan, rows: &[&dyn SegmentBounds]) -> Vec<Share> {
    let jobs = Jobs::new(plan, rows);
    let mut shares = vec![Share::default(); plan.nodes.len()];
    for (index, stream) in plan.streams.iter().enumerate() {
        let id = StreamId(index as u16);
        for hop in &stream.hops {
            let mut add = |node: NodeId, cost: Duration| {
                let share = &mut shares[node.index()];
                // How often the frames of a container leave, and how many vehicles send, is open.
                if stream.collected().is_some() || stream.sent_by.is_some() {
                    share.estimate();
                }
                share.add(cost, stream.period);
            };
            // What a gateway seals for a hop is part of what a frame costs that comes to it, but for slots.
            if hop.previous.is_none() || jobs.is_in_slots(hop) {
                add(hop.from, jobs.sealing(id, hop));
            }
            hop.to.iter().for_each(|node| add(*node, jobs.on_arrival(id, hop, *node)));
        }
    }
    for (node, share) in plan.nodes.iter().zip(&mut shares) {
        node.tasks.iter().for_each(|task| share.add(task.wcet, task.period));
    }
    // Where only lengths and times count, nothing is computed.
    if plan.fidelity != Fidelity::Bytes {
        shares.iter_mut().for_each(Share::estimate);
    }
    shares
}

/// The least distance of two frames of a stream at its sender, by true time.
pub(super) fn distance(jobs: &Jobs<'_>, stream: &StreamPlan) -> Duration {
    let begins_in_slots = stream.hops.iter().any(|hop| hop.previous.is_none() && jobs.is_in_slots(hop));
    let clock = jobs.plan.nodes.get(stream.sender.index()).map(|node| node.clock.drift_max).unwrap_or_default();
    match stream.application {
        Some(application) => true_period(application.step(), clock),
        None if begins_in_slots => stream.period,
        None => true_period(stream.bounding().0, clock),
    }
}
