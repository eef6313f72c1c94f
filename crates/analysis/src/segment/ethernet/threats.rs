//! What threats leave of the bounds of a segment: stations that babble, and boxes on a link that delay frames.
//!
//! # A station that babbles
//! Its link is full of frames made up in the name of a stream, so nothing is said of what else leaves by it, but that a queue holds
//! it for no longer than its room lasts. A switch lets the made-up frames in as it does the stream's own. If it polices them, as a
//! virtual link or by a flow meter, what passes is a stream like any other, with the bucket of the account or of the meter, and
//! everybody else has bounds with it. If nothing limits them, what shares a link with them has none, nor has what shares a link with
//! that, and so on. Who shares a meter or an account with made-up frames can lose its own to them.
//!
//! A virtual link that is spoofed on its sender's link is the same thing.
//!
//! # A box that delays
//! Frames of its stream, or of all streams of its node, come that much later at most, and with that much more jitter, to the first
//! switch. Where that is as much as the distance of two frames, one that is let pass overtakes one that is held back. A frame of a
//! slot goes by when another has its slot, or when nothing scheduled was to be in the way of others: before all that its sender's port
//! holds.
//!
//! At the end of a wire, what a box held goes on whatever comes by then, which waits for it there, in the order of time alone, and finds
//! no more room there than in a queue.
//!
//! An attacker that floods a port of its own is at the first switch, which knows no stream by that port: nothing it sends passes.

use std::collections::BTreeSet;

use chronoseal_core::{Duration, NodeId, Priority, StreamId};
use chronoseal_plan::{
    AttackPlace, Copies, Ethernet, EthernetStream, FilterPlan, Neighbour, Plan, PortEnd, SegmentId, Sync, ThreatKind,
    VirtualLink,
};
use chronoseal_wire::ethernet::{FCS_LEN, FRAME_LEN_MIN};

use super::super::losses::{Cause, Risk};
use super::super::{MadeUp, Span, Why};
use super::ports;
use super::routed::RoutedStream;
use super::wired::Wired;
use crate::calculus::{Rational, ratio, whole};

/// What a threat of the scenario can keep from arriving in time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThreatRisk {
    /// The threat.
    pub name: String,
    /// How.
    pub harm: Harm,
}

/// How a threat harms a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Harm {
    /// It fills the link of the stream's sender.
    OwnLink {
        /// Whose.
        node: NodeId,
    },
    /// Nothing limits what it sends by links on the stream's way, or by links of streams that it meets.
    Unlimited {
        /// From which node it comes.
        node: NodeId,
        /// The first switch on its way.
        switch: NodeId,
    },
    /// What it sends is measured with the stream by a gate or meter.
    Shared {
        /// Of this switch.
        switch: NodeId,
    },
    /// What it sends in the name of a stream goes on by a gateway to where the stream is.
    Relayed {
        /// From this segment.
        segment: SegmentId,
    },
    /// A frame that is delayed comes behind others of its link, whose packet numbers MACsec has seen by then.
    OutOfOrder {
        /// Whose link.
        node: NodeId,
    },
    /// What a box at the end of a wire lets go is in the way of what passes there.
    InTheWay {
        /// Whose link.
        node: NodeId,
    },
    /// A frame that is delayed comes behind a later one of its stream, which is not.
    Overtaken {
        /// So much later.
        by: Duration,
    },
    /// A frame comes after its slot has closed.
    Delayed {
        /// So much later.
        by: Duration,
    },
    /// A frame of a slot comes by its sender's link at another time, where it is in the way.
    OutOfItsSlot {
        /// Whose link.
        node: NodeId,
    },
}

impl ThreatRisk {
    /// One sentence for a reader, with what helps.
    pub fn text(&self, plan: &Plan) -> String {
        let name = &self.name;
        match self.harm {
            Harm::OwnLink { node } => format!(
                "threat `{name}` fills the link of `{}`, by which it leaves, so nothing bounds how late it is or whether it is lost \
                 there: send it from another node",
                plan.node_name(node)
            ),
            Harm::Unlimited { node, switch } => format!(
                "threat `{name}` sends at the rate of the link of `{}`, and nothing at `{}` limits what passes: write a stream filter \
                 with a flow meter there, or `class = {{ rate_constrained = {{}} }}` for the streams of `{}`",
                plan.node_name(node),
                plan.node_name(switch),
                plan.node_name(node)
            ),
            Harm::Shared { switch } => format!(
                "what threat `{name}` sends uses up the same gate or meter of `{}`: give the stream a filter, a gate and a meter of \
                 its own",
                plan.node_name(switch)
            ),
            Harm::Relayed { segment } => format!(
                "a gateway can pass on what threat `{name}` sends on `{}` in the name of a stream: name a protection for the stream \
                 that the gateway opens",
                plan.segments[segment.index()].name
            ),
            Harm::OutOfOrder { node } => format!(
                "threat `{name}` delays its frames on the link of `{}`, and MACsec throws a frame away whose packet number is behind that \
                 of another by more than the replay window",
                plan.node_name(node)
            ),
            Harm::InTheWay { node } => format!(
                "threat `{name}` sits at the end of the wire of `{0}`, and what it held back is in the way there of all that `{0}` sends, \
                 whatever its priority: send it from another node",
                plan.node_name(node)
            ),
            Harm::Overtaken { by } => format!(
                "threat `{name}` delays its frames by {by}, so that one that it lets pass can come before one that it held back, which is \
                 thrown away as a repeated one then"
            ),
            Harm::Delayed { by } => format!(
                "threat `{name}` delays its frames by {by}, and the switch throws a frame away that comes after its slot has closed"
            ),
            Harm::OutOfItsSlot { node } => format!(
                "threat `{name}` lets frames of slots go outside of them on the link of `{}`, where they take the slots of others and the \
                 time between them: send it from another node",
                plan.node_name(node)
            ),
        }
    }
}

/// A threat at work on the link of a node.
struct Active<'p> {
    name: &'p str,
    kind: ThreatKind,
    node: NodeId,
}

impl Active<'_> {
    /// True if it is a box that delays frames which have come over the wire.
    fn holds_at_the_end(&self, view: Ethernet<'_>) -> bool {
        matches!(self.kind, ThreatKind::Delay(..)) && view.has_come_over_wire(self.node)
    }

    /// By how much it delays frames of a stream, if it does.
    fn delays(&self, stream: &EthernetStream<'_>) -> Option<Duration> {
        match self.kind {
            ThreatKind::Delay(Some(target), by) if target == stream.id => Some(by),
            ThreatKind::Delay(None, by) if self.node == stream.hop.from => Some(by),
            _ => None,
        }
    }
}

fn active(view: Ethernet<'_>) -> Vec<Active<'_>> {
    let mut found = Vec::new();
    for (attacker, place) in view.attackers() {
        let AttackPlace::OnLink(_, node) = place else { continue };
        for threat in view.threats_of(attacker) {
            let is_virtual_link =
                |stream| view.stream(stream).is_some_and(|stream| stream.class.virtual_link().is_some());
            let kind = match threat.kind {
                ThreatKind::Babble(_) | ThreatKind::Delay(..) => threat.kind,
                // A virtual link is spoofed as often as the scenario says, whether frames of its own come by or not.
                ThreatKind::Spoof(stream) if is_virtual_link(stream) => ThreatKind::Babble(Some(stream)),
                _ => continue,
            };
            found.push(Active { name: &threat.name, kind, node });
        }
    }
    found
}

/// Frames of a stream that stations which babble make up, where they have passed the first switch. Those of a stream in slots are no more than
/// its slots.
pub(super) fn made_up(view: Ethernet<'_>, stream: StreamId) -> Vec<MadeUp> {
    let of_threat = |threat: &Active<'_>| {
        let target = targets(view, threat).into_iter().find(|target| target.id == stream)?;
        match passes(view, &target, threat.node) {
            Passes::InSlots => None,
            Passes::Limited(at_once, distance) => Some(MadeUp::Limited { distance, spread: spread(at_once, distance) }),
            Passes::All => Some(MadeUp::Unlimited),
        }
    };
    active(view).iter().filter_map(of_threat).collect()
}

/// True if the bounds of a segment have threats to count with.
pub(super) fn are_there(view: Ethernet<'_>) -> bool {
    !active(view).is_empty()
}

/// By how much later than it leaves a frame of a stream can come to its sender's link.
pub(super) fn later(view: Ethernet<'_>, stream: &EthernetStream<'_>) -> Duration {
    let harms = active(view);
    let delayed = harms.iter().filter_map(|threat| threat.delays(stream));
    let is_babbling =
        |threat: &Active<'_>| matches!(threat.kind, ThreatKind::Babble(_)) && threat.node == stream.hop.from;
    let is_in_the_way = |threat: &Active<'_>| threat.holds_at_the_end(view) && threat.node == stream.hop.from;
    let queued = match harms.iter().any(|threat| is_babbling(threat) || is_in_the_way(threat)) {
        true => full_queue(view, stream.hop.from),
        false => Duration::ZERO,
    };
    delayed.max().unwrap_or_default() + queued
}

/// True if frames of a stream in slots can come by their sender's link after their slot, of which a later one may let them in.
pub(super) fn can_miss_slots(view: Ethernet<'_>, stream: &EthernetStream<'_>) -> bool {
    let in_slots =
        || view.streams().filter(|other| other.hop.from == stream.hop.from && other.class.is_time_triggered());
    active(view).iter().filter(|threat| threat.node == stream.hop.from).any(|threat| match threat.kind {
        ThreatKind::Delay(..) => {
            threat.holds_at_the_end(view) || in_slots().any(|other| threat.delays(&other).is_some())
        }
        _ => true,
    })
}

/// How long full queues of a station keep its link: with the shortest frames, which cost most beyond their own.
fn full_queue(view: Ethernet<'_>, node: NodeId) -> Duration {
    let network = view.segment;
    let sent = view.streams().filter(|stream| stream.hop.from == node);
    let classes: BTreeSet<u8> = sent.map(|stream| stream.class.priority().0).collect();
    let queues = if network.shares_queues { 1 } else { classes.len() as u64 };
    let own_room = network.ports.of(PortEnd::Station(node)).into_iter().flat_map(|port| &port.classes);
    let room = own_room.filter_map(|class| class.room).max().unwrap_or(0).max(network.queue_len_max);
    let frames = room.div_ceil(FRAME_LEN_MIN as u64).saturating_mul(queues) + 2;
    network.frame_time_on(node, FRAME_LEN_MIN as u32) * i64::try_from(frames).unwrap_or(i64::MAX / 1_000_000)
}

/// The targets of a station that babbles.
fn targets<'p>(view: Ethernet<'p>, threat: &Active<'_>) -> Vec<EthernetStream<'p>> {
    match threat.kind {
        ThreatKind::Babble(Some(stream)) => view.stream(stream).into_iter().collect(),
        ThreatKind::Babble(None) => view.streams().filter(|stream| stream.hop.from == threat.node).collect(),
        _ => Vec::new(),
    }
}

/// What made-up frames of a stream can be where they have passed the first switch.
enum Passes {
    /// No more of them than the stream has slots.
    InSlots,
    /// So many at once, and then one in each time so long.
    Limited(Rational, Duration),
    /// As many as come.
    All,
}

fn passes(view: Ethernet<'_>, target: &EthernetStream<'_>, node: NodeId) -> Passes {
    let len = u64::from(view.secured_len(target)) + FCS_LEN as u64;
    if target.class.is_time_triggered() {
        return Passes::InSlots;
    }
    if let Some(link) = target.class.virtual_link() {
        return account(view, link, len);
    }
    let is_regulated = ports::classes(view).is_some_and(|classes| {
        classes.regulated.contains(&classes.of_priority[usize::from(target.class.priority().0.min(7))])
    });
    let meter = filter_at_first(view, target, node).and_then(|filter| filter.meter);
    let Some(meter) = meter.filter(|_| !is_regulated) else { return Passes::All };
    let meter = view.segment.stream_filters.meters[meter].1;
    let (ebs, eir) = if meter.drops_yellow { (0, 0) } else { (meter.ebs, meter.eir.0) };
    let at_once = ratio(i64::try_from(meter.cbs + ebs).unwrap_or(i64::MAX), i64::try_from(len).unwrap_or(1));
    Passes::Limited(at_once, every(len * 8, meter.cir.0.saturating_add(eir)))
}

/// How much nearer to each other frames can be than they are in the long run, if so many can come at once.
fn spread(at_once: Rational, distance: Duration) -> Duration {
    let beyond = (at_once - whole(1)).max(whole(0)) * whole(distance.as_ps());
    Duration::from_ps(i64::try_from(beyond.ceil()).unwrap_or(i64::MAX / 4))
}

/// The time in which a rate pays for so many bits, at least.
fn every(bits: u64, rate: u64) -> Duration {
    let ps = u128::from(bits) * 1_000_000_000_000 / u128::from(rate.max(1));
    Duration::from_ps(i64::try_from(ps).unwrap_or(i64::MAX / 4).max(1))
}

/// What the account of a virtual link pays for (ARINC 664 part 7).
fn account(view: Ethernet<'_>, link: &VirtualLink, len: u64) -> Passes {
    let rules = view.segment.virtual_links;
    let bag = link.bag_min(rules.clock_tolerance);
    let cost = if rules.charges_longest { u64::from(link.lmax) } else { len };
    let whole_of = |value: u64| whole(i64::try_from(value).unwrap_or(i64::MAX));
    let late = ratio(link.jitter.as_ps(), bag.as_ps().max(1));
    let at_once = whole_of(u64::from(link.lmax)) / whole_of(cost.max(1)) * (whole(1) + late);
    let each = i128::from(bag.as_ps()) * i128::from(cost) / i128::from(link.lmax.max(1));
    Passes::Limited(at_once, Duration::from_ps(i64::try_from(each).unwrap_or(i64::MAX / 4).max(1)))
}

fn filter_at_first<'p>(view: Ethernet<'p>, target: &EthernetStream<'_>, node: NodeId) -> Option<&'p FilterPlan> {
    let switch = view.segment.wiring.switch_of(node);
    view.filter_at(switch, Neighbour::Station(node), target)
}

fn sent<'w>(wired: &'w Wired<'_>, stream: StreamId) -> Option<&'w RoutedStream> {
    wired.routed.streams.iter().find(|sent| sent.stream == Some(stream))
}

/// Frames like those of a stream that a threat puts on links: their class, when they come to the first link, and how far apart.
fn of_nobody(
    wired: &Wired<'_>,
    threat: &Active<'_>,
    like: &EthernetStream<'_>,
    (priority, at, distance): (u8, Result<Span, Why>, Duration),
    hops: Vec<(usize, Option<usize>)>,
) -> RoutedStream {
    let len = u64::from(wired.view.secured_len(like));
    RoutedStream {
        name: threat.name.to_owned(),
        stream: None,
        priority,
        at,
        distance,
        committed: None,
        regulated: None,
        sharers: Vec::new(),
        counted_len: len,
        len_max: len,
        len_min: len,
        hops,
        ends: Vec::new(),
    }
}

/// What goes by out of its slot on the link of its sender, as streams of nobody.
fn out_of_slots(wired: &Wired<'_>) -> Vec<RoutedStream> {
    let view = wired.view;
    let harms = active(view);
    let boxes = harms.iter().filter(|threat| !threat.holds_at_the_end(view));
    let delayed = boxes
        .flat_map(|threat| view.streams().filter_map(move |stream| Some((threat, stream, threat.delays(&stream)?))));
    let in_slots = delayed.filter(|(_, stream, _)| stream.class.is_time_triggered());
    in_slots
        .filter_map(|(threat, stream, by)| {
            let hops = vec![(*wired.stations.get(&stream.hop.from)?, None)];
            let at = Ok(Span { min: Duration::ZERO, max: by + view.segment.precision * 2 });
            let distance = wired.arrivals.at(stream.id, view.id).distance;
            Some(of_nobody(wired, threat, &stream, (Priority::TIME_TRIGGERED.0, at, distance), hops))
        })
        .collect()
}

/// What threats add to streams, as streams of nobody: what stations that babble send behind the first switch, and what boxes let go by
/// out of its slot.
pub(super) fn intruders(wired: &Wired<'_>) -> Vec<RoutedStream> {
    let view = wired.view;
    let mut found = out_of_slots(wired);
    for threat in active(view) {
        for target in targets(view, &threat) {
            let Some(sent) = sent(wired, target.id) else { continue };
            let (at, distance) = match passes(view, &target, threat.node) {
                Passes::InSlots => continue,
                Passes::All => (Err(Why::ArrivalUnbounded), sent.distance),
                Passes::Limited(at_once, distance) => {
                    // What is beyond the first at once comes from being late.
                    (Ok(Span { min: Duration::ZERO, max: spread(at_once, distance) }), distance)
                }
            };
            let hop = |(link, after): &(usize, Option<usize>)| (*link, after.and_then(|after| after.checked_sub(1)));
            let hops: Vec<(usize, Option<usize>)> = sent.hops.iter().skip(1).map(hop).collect();
            found.push(of_nobody(wired, &threat, &target, (sent.priority, at, distance), hops));
        }
    }
    found
}

/// Everything that threats can keep from arriving in time.
pub(super) fn risks(wired: &Wired<'_>) -> Vec<Risk> {
    let view = wired.view;
    let mut found = Vec::new();
    for threat in active(view) {
        let mut add = |segment, stream, harm| {
            let cause = Cause::Threat(ThreatRisk { name: threat.name.to_owned(), harm });
            found.push(Risk { segment, stream, cause });
        };
        if let ThreatKind::Delay(_, by) = threat.kind {
            let is_hit = |stream: &EthernetStream<'_>| threat.delays(stream).is_some();
            let is_secured = view.segment.link_of(threat.node).parameters.macsec.is_some();
            let own = || view.streams().filter(|stream| stream.hop.from == threat.node);
            if threat.holds_at_the_end(view) {
                own().for_each(|stream| add(view.id, Some(stream.id), Harm::InTheWay { node: threat.node }));
            }
            if own().any(|stream| is_hit(&stream) && stream.class.is_time_triggered()) {
                let others = own().filter(|stream| !is_hit(stream) || !stream.class.is_time_triggered());
                let harm = Harm::OutOfItsSlot { node: threat.node };
                others.for_each(|stream| add(view.id, Some(stream.id), harm));
            }
            for stream in view.streams().filter(is_hit) {
                if stream.class.is_time_triggered() {
                    add(view.id, Some(stream.id), Harm::Delayed { by });
                } else if is_secured {
                    add(view.id, Some(stream.id), Harm::OutOfOrder { node: threat.node });
                } else if is_overtaken(wired, &stream) {
                    add(view.id, Some(stream.id), Harm::Overtaken { by });
                }
            }
            continue;
        }
        let own: Vec<EthernetStream<'_>> = view.streams().filter(|stream| stream.hop.from == threat.node).collect();
        own.iter().for_each(|stream| add(view.id, Some(stream.id), Harm::OwnLink { node: threat.node }));
        let switch = view.plan.own_node(view.id, usize::from(view.segment.wiring.switch_of(threat.node)));
        let mut hit: BTreeSet<StreamId> = own.iter().map(|stream| stream.id).collect();
        for target in targets(view, &threat) {
            for (switch, stream) in sharing(view, &target).into_iter().filter(|(_, stream)| hit.insert(*stream)) {
                add(view.id, Some(stream), Harm::Shared { switch });
            }
            if let Passes::All = passes(view, &target, threat.node) {
                let met = met_by(wired, target.id);
                for stream in met.into_iter().filter(|stream| hit.insert(*stream)) {
                    add(view.id, Some(stream), Harm::Unlimited { node: threat.node, switch });
                }
            }
            let onward = target.stream.hops.iter().map(|hop| hop.segment).filter(|segment| *segment != view.id);
            for segment in onward.collect::<BTreeSet<_>>() {
                add(segment, None, Harm::Relayed { segment: view.id });
            }
        }
    }
    found
}

/// True if a frame of a stream can come to its first switch after the one that was made next, and somebody sees that.
fn is_overtaken(wired: &Wired<'_>, stream: &EthernetStream<'_>) -> bool {
    let is_numbered = stream.class.virtual_link().is_some()
        || stream.stream.is_relayed()
        || !matches!(stream.copies, Copies::One(_))
        || !wired.view.protection_of(stream).is_replayable();
    if stream.datagram.is_some() {
        // Its fragments leave back to back.
        return true;
    }
    if !is_numbered {
        return false;
    }
    sent(wired, wired.view.known_as(stream))
        .is_none_or(|sent| sent.at.as_ref().is_ok_and(|at| at.max - at.min >= sent.distance))
}

/// Streams that a gate or a meter on the way of a target measures together with it, with the switch that does.
fn sharing(view: Ethernet<'_>, target: &EthernetStream<'_>) -> Vec<(NodeId, StreamId)> {
    let own = measured(view, target);
    let mut found = Vec::new();
    for stream in view.streams().filter(|stream| stream.id != target.id) {
        let shared = measured(view, &stream).into_iter().find(|place| own.contains(place));
        found.extend(shared.map(|(switch, ..)| (view.plan.own_node(view.id, usize::from(switch)), stream.id)));
    }
    found
}

/// The gates and meters on a stream's way, by switch. A gate that nothing can use up or close is none.
fn measured(view: Ethernet<'_>, stream: &EthernetStream<'_>) -> Vec<(u16, bool, usize)> {
    let tables = &view.segment.stream_filters;
    let mut found = Vec::new();
    for hop in view.route(stream).unwrap_or_default() {
        let from = match hop.trunk {
            None => Neighbour::Station(stream.hop.from),
            Some(trunk) => Neighbour::Switch(view.segment.wiring.trunks[trunk].from(hop.switch)),
        };
        let Some(filter) = view.filter_at(hop.switch, from, stream) else { continue };
        let is_used_up = |gate: &usize| {
            let gate = &tables.gates[*gate].1;
            gate.closes_on_invalid_rx || gate.list.entries.iter().any(|entry| entry.octets_max.is_some())
        };
        found.extend(filter.gate.filter(is_used_up).map(|gate| (hop.switch, false, gate)));
        found.extend(filter.meter.map(|meter| (hop.switch, true, meter)));
    }
    found
}

/// The streams that meet made-up frames of a stream behind its sender's link, or meet one that does.
fn met_by(wired: &Wired<'_>, target: StreamId) -> BTreeSet<StreamId> {
    let view = wired.view;
    let mut links: BTreeSet<usize> =
        sent(wired, target).map(|sent| sent.hops.iter().skip(1).map(|(link, _)| *link).collect()).unwrap_or_default();
    let mut met = BTreeSet::new();
    loop {
        let before = met.len();
        for sent in &wired.routed.streams {
            let Some(stream) = sent.stream else { continue };
            if sent.hops.iter().any(|(link, _)| links.contains(link)) && met.insert(stream) {
                links.extend(sent.hops.iter().map(|(link, _)| *link));
            }
        }
        for (link, in_slots) in wired.in_slots.iter().enumerate() {
            if links.contains(&link) {
                met.extend(in_slots.streams.iter().copied());
            }
        }
        if met.len() == before {
            break;
        }
    }
    // The beacon goes by every link, and without it clocks leave their cluster.
    if view.segment.sync == Sync::Beacon {
        met.extend(view.streams().filter(|stream| stream.class.is_time_triggered()).map(|stream| stream.id));
    }
    met
}
