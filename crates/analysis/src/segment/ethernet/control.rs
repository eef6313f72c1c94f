//! What keeps the clocks of a segment together, as traffic: the beacon of a switch, or the control frames of a cluster of SAE AS6802. The
//! messages of IEEE 802.1AS are in [`super::time_aware`].
//!
//! Copies of the beacon are streams of their own from where they leave the first switch, and so are the frames of a compression master.
//! All of them take the ways of the medium: by as few links as possible to each switch, and of those by the first.
//!
//! # How often a synchronisation master sends
//! Whatever it hears, by its own clock two frames of a master are apart by the least of three times. An acknowledge frame comes a
//! coldstart offset after the coldstart frame that it answers, and each further coldstart frame begins that time anew. The first
//! integration frame comes an acknowledge offset after the last acknowledge frame that was heard; or it begins the next cycle after an
//! integration frame was heard, which becomes permanent at the scheduled receive point of a cycle; and later ones are a cycle apart, but
//! for what corrections move, half of an acceptance window at most. Coldstart frames come after a coldstart time-out, which is longer
//! than all of these. This holds while a cluster starts and when it has fallen apart, and so it is more than a running cluster sends,
//! which is one frame of each master in a cycle.
//!
//! # How often a compression master sends
//! Each of its frames goes back to a frame of a master that goes back to nothing else: the one that it relays, or the first of those
//! that it has compressed. It leaves when that frame is permanent, the same time after it was due at its master for all of them, or
//! later by what collecting, averaging and dispatching can take.
//!
//! # The networks A and B
//! Each is a channel with compression masters of its own. A synchronisation master puts the same frames on both of its links, so each of
//! the two carries what is said above of one. To clocks that is a cluster of as many compression masters in one network: every compression
//! master hears all masters and no other one, and every station hears all of them. Only a switch that does not compress hears those of its own network
//! alone, and what it shows is what these show.
//!
//! # Slots by the clocks of a cluster
//! Of two clocks that differ by no more than `p` each is corrected by no more than `p` once in an integration cycle. Over a span in which
//! one of them is corrected `k` times, what the two show for its two ends differs by `p + k p`, and from true time by what the cluster
//! as a whole drifts besides. If that is no more than the precision of the segment, everything that is counted with the precision
//! holds for switches and stations with clocks of their own: windows, dispatch times and the starts that lines are kept free for.
//! To frames of other classes slots come that much earlier or stay that much longer, and a cycle is as short as the fastest oscillator has
//! it.
//!
//! # Gates by the clocks of a cluster
//! The clocks of switches and stations are corrected by no more than the precision of the segment, if nothing says that they can leave the
//! cluster, and once in a cycle: so much later as the next scheduled receive point is, but for what an acceptance window allows. What
//! that does to gates is [`Wander`], with the argument in its file. Two gates never have to agree, since no stream is bounded by when it
//! comes where clocks are those of a cluster, and the cycle of a list need not fit into the cluster cycle: cluster time goes on without
//! end. What comes before a clock has joined finds its gates open.

use std::collections::BTreeMap;

use chronoseal_clocksync::as6802::{Integrity, Parameters};
use chronoseal_core::{Duration, NodeId, Priority, StreamId};
use chronoseal_media::line::LineSpeed;
use chronoseal_media::medium::FRAME_CAPACITY;
use chronoseal_media::schedule::{ScheduleTable, Slot, Turn};
use chronoseal_plan::{ClusterPlan, Ethernet, EthernetStream, NetworkName, PortEnd, Sync};
use chronoseal_wire::ethernet::FRAME_LEN_MIN;

use super::super::demand::Periodic;
use super::super::line::{CONTROL, Queued};
use super::super::losses::{Cause, Risk};
use super::super::{Arrivals, Span, Why};
use super::losses;
use super::routed::RoutedStream;
use super::wired::Wired;
use crate::calculus::ethernet::Wander;
use crate::calculus::{ratio, whole};

/// Rounding of times by oscillators and in control frames.
const ROUNDING: Duration = Duration::from_ns(2);

/// Why nothing is bounded where clocks are those of a cluster, if so: its control frames may be others than those that are counted, or
/// it may lose its clocks in a way that no risk tells.
pub(super) fn unbounded(view: Ethernet<'_>, has_tasks: bool, arrivals: &Arrivals) -> Option<Why> {
    let network = view.segment;
    let Some(cluster) = &network.cluster else { return Some(Why::ClusterClocks) };
    let is_busy = |node| arrivals.busy(node) != Ok(Duration::ZERO);
    // A node has one clock, and cannot follow the time of two segments with it.
    let has_other_time = |node: NodeId| {
        let others = view.plan.nodes[node.index()].interfaces.iter().filter(|id| **id != view.id);
        let mut others = others.filter_map(|id| Ethernet::of(view.plan, *id));
        others.any(|other| !matches!(other.segment.sync, Sync::None | Sync::Ideal))
    };
    let is_other = cluster.parameters.cluster.integrity != Integrity::Standard
        || has_tasks
        || is_disturbed(view)
        || view.streams().any(|stream| stream.class.is_time_triggered() && stream.stream.hops.len() > 1)
        || view.stations().any(|node| is_busy(node) || has_other_time(node));
    is_other.then_some(Why::ClusterClocks)
}

/// True if something can take or add messages that keep clocks together, or begin with a clock anew.
pub(super) fn is_disturbed(view: Ethernet<'_>) -> bool {
    let network = view.segment;
    let reboots = |node: NodeId| view.plan.nodes[node.index()].gateway.as_ref().is_some_and(|own| own.reboot.is_some());
    !network.failures.is_empty()
        || !network.frame_losses.is_empty()
        || view.attackers().next().is_some()
        || view.stations().any(reboots)
}

/// By how much slots can come earlier or stay longer than the table says, to what is none of them: a clock of a cluster is corrected.
pub(super) fn slots_move(view: Ethernet<'_>) -> Duration {
    if view.segment.sync == Sync::As6802 { view.segment.precision } else { Duration::ZERO }
}

/// The shortest time in which a table repeats.
pub(super) fn cycle_min(view: Ethernet<'_>, table: &ScheduleTable) -> Duration {
    match view.segment.sync {
        Sync::As6802 => at_least(table.cluster_cycle, drift_max(view)),
        Sync::None | Sync::Beacon | Sync::Ideal | Sync::Gptp => table.cluster_cycle,
    }
}

/// The fastest or slowest oscillator of a station, in parts per billion.
fn drift_max(view: Ethernet<'_>) -> i64 {
    view.stations().map(|node| view.plan.nodes[node.index()].clock.drift_max.0.abs()).max().unwrap_or_default()
}

/// What the clock that the gates of a port go by may do to them, on a line of this speed; `None` where it shows the time of the run.
pub(super) fn wander(view: Ethernet<'_>, end: PortEnd, speed: &LineSpeed) -> Option<Wander> {
    let parameters = &view.segment.cluster.as_ref()?.parameters;
    let drift = match end {
        PortEnd::Station(node) => view.plan.nodes[node.index()].clock.drift_max.0,
        // A switch that follows takes over how the others drift, and runs by its own oscillator meanwhile.
        PortEnd::ToStation(_) | PortEnd::Between(..) => 0,
    };
    let precision = view.segment.precision + ROUNDING;
    let between = corrected_after(parameters, drift_max(view));
    let rate = ratio(drift.abs(), 1_000_000_000) + ratio(precision.as_ps(), between.as_ps());
    // Rounded up, so that what is computed with it stays short.
    let rate = (rate * whole(1_000_000)).ceil() / whole(1_000_000);
    let longest = whole(speed.occupancy(FRAME_CAPACITY as u64).as_ps());
    let shift = (whole(precision.as_ps()) / whole(2) + &rate * longest * whole(2) + whole(ROUNDING.as_ps())).ceil();
    Some(Wander { shift, rate })
}

/// After how long a clock of a cluster is corrected again, at least, by true time.
fn corrected_after(parameters: &Parameters, drift_ppb: i64) -> Duration {
    let cycle = parameters.cluster.integration_cycle - parameters.acceptance_window;
    at_least(cycle, drift_ppb).max(Duration::from_ps(1))
}

/// How long something takes at most by true time that takes so long by the clock of a switch: each correction that comes meanwhile can
/// set the clock back, and there is one more of them than have room.
pub(super) fn lasts_at_most(view: Ethernet<'_>, by_clock: Duration) -> Duration {
    let Some(cluster) = &view.segment.cluster else { return by_clock };
    let precision = view.segment.precision + ROUNDING;
    let between = i128::from(corrected_after(&cluster.parameters, drift_max(view)).as_ps());
    let left = between - i128::from(precision.as_ps());
    let lasts = i128::from((by_clock + precision).as_ps()) * between / left.max(1) + 1;
    Duration::from_ps(i64::try_from(lasts).unwrap_or(i64::MAX / 4))
}

/// True if gates go by clocks of which nothing says on paper how far they are from each other.
pub(super) fn gates_are_anywhere(view: Ethernet<'_>) -> bool {
    view.segment.sync == Sync::Gptp && view.has_gates()
}

/// Clocks of a cluster that can differ by more than its precision from the start of a slot to its end.
pub(super) fn in_slots(view: Ethernet<'_>, table: &ScheduleTable) -> Option<Risk> {
    let cluster = view.segment.cluster.as_ref()?;
    let lasts = lasts_max(view, table)?;
    let parameters = &cluster.parameters;
    let drift = drift_max(view);
    let apart = parameters.precision_needed(drift, cluster.compression_masters.len()) + ROUNDING;
    let between = parameters.cluster.integration_cycle - parameters.acceptance_window;
    let corrections = lasts.div_floor(between.max(Duration::from_ps(1))) + 1;
    let needed = apart * (1 + corrections) + (lasts - at_least(lasts, drift));
    let (precision, cycle) = (view.segment.precision, parameters.cluster.integration_cycle);
    let cause = Cause::ClusterSlots { needed, precision, cycle };
    (needed > precision).then_some(Risk { segment: view.id, stream: None, cause })
}

/// The longest time from the start of a slot to the last bit at a receiver, of a message from the slot of its first frame; `None` if
/// there are no slots.
fn lasts_max(view: Ethernet<'_>, table: &ScheduleTable) -> Option<Duration> {
    let frame_in = |slot: &Slot| view.stream(slot.stream).map_or(0, |stream| stream.frame_in(slot.instance));
    let begins: BTreeMap<(StreamId, u32), Duration> =
        table.slots.iter().map(|slot| ((slot.stream, slot.instance), slot.start)).collect();
    let over = |turn: Turn| {
        let slot = &table.slots[turn.slot];
        let first = begins.get(&(slot.stream, slot.instance - frame_in(slot))).copied().unwrap_or(slot.start);
        turn.end.max(turn.dispatch) - first
    };
    let over = table.turns().map(over).max()?;
    let last_link = |stream: EthernetStream<'_>| {
        let len = view.secured_len(&stream);
        let over = |(name, node): (NetworkName, &NodeId)| {
            let link = view.segment.link_in(name, *node).parameters;
            view.integration_wait(link) + view.segment.frame_time_over(link, len) + link.delay(len)
        };
        let to = |name: &NetworkName| stream.hop.to.iter().map(|node| over((*name, node))).max();
        stream.copies.networks().iter().filter_map(to).max()
    };
    let scheduled = || view.streams().filter(|stream| stream.class.is_time_triggered());
    let lasts = over + scheduled().filter_map(last_link).max().unwrap_or_default();
    // What an application has ready can wait for the next cycle.
    let waits = scheduled().any(|stream| stream.stream.application.is_some());
    Some(if waits { lasts.max(table.cluster_cycle) } else { lasts })
}

/// What can spoil the clocks of a cluster, but for queues that overflow; of clocks of IEEE 802.1AS, that the run ends before they join.
pub(super) fn risks(view: Ethernet<'_>) -> Vec<Risk> {
    let mut found = losses::cluster(view);
    let of_cluster = view.segment.cluster.as_ref().map(|cluster| cluster.parameters.startup_bound());
    let needed = of_cluster.or(view.segment.time_aware.as_ref().map(|clocks| clocks.startup_bound()));
    if let Some(needed) = needed.filter(|needed| *needed > view.plan.duration) {
        let cause = Cause::ClusterStart { needed, duration: view.plan.duration };
        found.push(Risk { segment: view.id, stream: None, cause });
    }
    found
}

/// The least distance of two frames of a synchronisation master, by its own clock.
fn least_distance(parameters: &Parameters) -> Duration {
    let to_next_cycle =
        parameters.cluster.integration_cycle - parameters.smc_scheduled_receive_pit - parameters.acceptance_window;
    parameters.cs_offset.min(parameters.ca_offset).min(to_next_cycle)
}

/// At least so far apart are the frames of a synchronisation master.
fn distance_of(view: Ethernet<'_>, cluster: &ClusterPlan, master: NodeId) -> Duration {
    at_least(least_distance(&cluster.parameters), view.plan.nodes[master.index()].clock.drift_max.0)
}

/// What a node sends into a network as a synchronisation master, if it is one.
pub(super) fn of_master(view: Ethernet<'_>, node: NodeId, speed: LineSpeed) -> Option<Queued> {
    let cluster = view.segment.cluster.as_ref().filter(|cluster| cluster.masters.contains(&node))?;
    let period = distance_of(view, cluster, node).max(Duration::from_ps(1));
    let cost = speed.occupancy(FRAME_LEN_MIN as u64);
    Some(Queued { class: CONTROL, frames: Periodic { period, jitter: Duration::ZERO, cost }, longest: cost })
}

/// How much longer than another one a frame can stay in a compression master once it is permanent: all observation windows, the average
/// of what came in them, and the delay of the dispatch.
fn varying_stay(parameters: &Parameters) -> Duration {
    let windows = parameters.observation_window * i64::from(parameters.max_observation_window);
    windows + windows + parameters.cluster.calculation_overhead + parameters.dispatch_delay
}

/// A time by a clock of this drift, by true time at least.
pub(super) fn at_least(time: Duration, drift_ppb: i64) -> Duration {
    let gained = i128::from(time.as_ps()) * i128::from(drift_ppb.abs()) / 1_000_000_000;
    time - Duration::from_ps(i64::try_from(gained).unwrap_or(i64::MAX / 4)) - ROUNDING
}

/// Control frames that come at least so far apart, each up to so much late.
pub(super) fn frames(name: String, distance: Duration, late: Duration) -> RoutedStream {
    let len = FRAME_LEN_MIN as u64;
    RoutedStream {
        name,
        stream: None,
        priority: Priority::PROTOCOL_CONTROL.0,
        at: Ok(Span { min: Duration::ZERO, max: late }),
        distance: distance.max(Duration::from_ps(1)),
        committed: None,
        regulated: None,
        sharers: Vec::new(),
        counted_len: len,
        len_max: len,
        len_min: len,
        hops: Vec::new(),
        ends: Vec::new(),
    }
}

impl Wired<'_> {
    /// The beacon, from the first switch to all stations.
    pub(super) fn beacon(&mut self) {
        let frames = frames("the beacon".to_owned(), self.view.segment.integration_cycle, Duration::ZERO);
        self.spread(0, &frames);
    }

    /// The control frames of a cluster, in each network: from each master to the compression masters, and from these to all stations.
    pub(super) fn cluster(&mut self) {
        let Some(cluster) = &self.view.segment.cluster else { return };
        let ClusterPlan { parameters, masters, compression_masters, .. } = cluster;
        for master in masters {
            let plan = self.view.plan;
            let distance = distance_of(self.view, cluster, *master);
            let name = format!("control frames of `{}`", plan.node_name(*master));
            for network in self.view.segment.wiring.networks() {
                self.send_to((*network, *master), compression_masters, frames(name.clone(), distance, Duration::ZERO));
            }
            for switch in compression_masters {
                let compressing = plan.own_node(self.view.id, usize::from(*switch));
                let name = format!("compressed control frames of `{}`", plan.node_name(compressing));
                self.spread(*switch, &frames(name, distance, varying_stay(parameters) + ROUNDING));
            }
        }
    }

    /// By switch: the one before it on the way from one of them, and the link between switches by which it is reached.
    fn reached_from(&self, from: u16) -> Vec<(u16, Option<(u16, usize)>)> {
        let wiring = &self.view.segment.wiring;
        let mut is_reached = vec![false; usize::from(wiring.switches)];
        is_reached[usize::from(from)] = true;
        // In the order in which they are reached.
        let mut reached = vec![(from, None)];
        let mut next = 0;
        while let Some(&(switch, _)) = reached.get(next) {
            next += 1;
            for (trunk, other) in wiring.trunks.iter().enumerate().filter(|(_, trunk)| trunk.ends.contains(&switch)) {
                let behind = other.from(switch);
                if !std::mem::replace(&mut is_reached[usize::from(behind)], true) {
                    reached.push((behind, Some((switch, trunk))));
                }
            }
        }
        reached
    }

    /// The network of a switch.
    fn network_of(&self, switch: u16) -> NetworkName {
        if self.view.segment.wiring.is_of_b(switch) { NetworkName::B } else { NetworkName::A }
    }

    /// Sends frames from a switch to all stations in its network: every copy that leaves the switch is a stream of its own.
    fn spread(&mut self, from: u16, frames: &RoutedStream) {
        let wiring = &self.view.segment.wiring;
        let network = self.network_of(from);
        let mut copies: Vec<RoutedStream> = Vec::new();
        // By switch: the copy that comes to it and the hop by which it does.
        let mut came: Vec<Option<(usize, usize)>> = vec![None; usize::from(wiring.switches)];
        let mut leaves = |came_by: Option<(usize, usize)>, link: usize, to: Option<NodeId>| {
            let (copy, after) = match came_by {
                Some((copy, hop)) => (copy, Some(hop)),
                None => {
                    copies.push(frames.clone());
                    (copies.len() - 1, None)
                }
            };
            let hop = copies[copy].hops.len();
            copies[copy].hops.push((link, after));
            copies[copy].ends.extend(to.map(|node| (node, hop)));
            (copy, hop)
        };
        for (switch, before) in self.reached_from(from) {
            if let Some((before, trunk)) = before {
                let at = leaves(came[usize::from(before)], self.onward(trunk, before), None);
                came[usize::from(switch)] = Some(at);
            }
            let is_there = |node: NodeId| self.view.segment.link_in(network, node).switch == switch;
            for (node, link) in self.stations_in(network).iter().filter(|(node, _)| is_there(**node)) {
                leaves(came[usize::from(switch)], link + 1, Some(*node));
            }
        }
        self.routed.streams.extend(copies);
    }

    /// Sends frames from a station to those of some switches that are in a network.
    fn send_to(&mut self, (network, from): (NetworkName, NodeId), switches: &[u16], mut frames: RoutedStream) {
        let Some(uplink) = self.stations_in(network).get(&from) else { return };
        let reached = self.reached_from(self.view.segment.link_in(network, from).switch);
        let before = |switch: u16| reached.iter().find(|(other, _)| *other == switch).and_then(|(_, before)| *before);
        frames.hops.push((*uplink, None));
        for switch in switches.iter().filter(|switch| self.network_of(**switch) == network) {
            let way: Vec<(u16, usize)> = std::iter::successors(before(*switch), |(at, _)| before(*at)).collect();
            let mut came_by = 0;
            for (at, trunk) in way.into_iter().rev() {
                let link = self.onward(trunk, at);
                let known = frames.hops.iter().position(|(other, _)| *other == link);
                came_by = known.unwrap_or_else(|| {
                    frames.hops.push((link, Some(came_by)));
                    frames.hops.len() - 1
                });
            }
        }
        self.routed.streams.push(frames);
    }
}
