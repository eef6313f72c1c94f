//! What one frame needs of links and processors, relative to the start of its slot.

use std::collections::BTreeMap;

use chronoseal_core::{Duration, NodeId, StreamId};
use chronoseal_media::schedule::{Delivery, Relay, ScheduleTable, Slot};
use chronoseal_plan::{Access, Dispatch, Ethernet, EthernetSegment, EthernetStream, LinkParameters, NetworkName};

use super::Resource;
use crate::segment::{BOUNDS, Jobs};

/// Processor time that sealing or verifying one frame of `stream` takes on `node`, from its platform's profile: for the same
/// bytes as the bounds and the node itself ([`Jobs`]), the stream's number or name and the freshness value under the tag counted.
///
/// A stream that is protected from end to end is sealed by its sender and verified by its receivers, and one that is
/// protected on this hop alone by those of the hop, gateways too. A node that only passes it on takes no time here.
pub fn authentication_time(view: Ethernet<'_>, stream: &EthernetStream<'_>, node: NodeId) -> Duration {
    let jobs = Jobs::new(view.plan, BOUNDS);
    if stream.hop.from == node {
        jobs.sealing(stream.id, stream.hop)
    } else if stream.hop.to.contains(&node) {
        jobs.opening(stream.id, stream.hop, node)
    } else {
        Duration::ZERO
    }
}

/// A frame's turn at one of the switches on its way, from the start of its slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    /// The first bit leaves the sender or the switch before.
    pub(super) start: Duration,
    /// This switch passes the frame on.
    pub(super) dispatch: Duration,
    /// The turn is over.
    pub(super) end: Duration,
}

/// How a frame comes to a receiver, from the start of its slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) node: NodeId,
    /// Of a stream over both networks, the copy over B.
    is_second: bool,
    /// The first bit leaves the receiver's switch.
    dispatch: Duration,
    frame_time: Duration,
    /// The last bit is there.
    pub(super) at: Duration,
}

/// The times of one time-triggered frame, counted from the start of its slot.
#[derive(Clone, Debug)]
pub(super) struct FrameNeeds {
    /// On the link of its sender.
    pub(super) frame_time: Duration,
    /// Processor time of the sender directly before the slot.
    pub(super) seal: Duration,
    /// How many frames a message has, each in a slot of its own.
    pub(super) frames: u32,
    /// From one of these slots to the next: no link on the way is kept longer by one of them, and no window of one is still open when
    /// the next one comes.
    pub(super) pitch: Duration,
    /// By switch on its way.
    pub(super) turns: Vec<Turn>,
    /// Who takes it, and when.
    pub(super) arrivals: Vec<Arrival>,
    /// What it uses from when on, and for how long.
    pub(super) uses: Vec<(Resource, Duration, Duration)>,
}

impl FrameNeeds {
    /// # Panics
    /// If the stream has not one way for each of its copies, which no plan has that was made from a scenario.
    pub(super) fn of(view: Ethernet<'_>, stream: &EthernetStream<'_>) -> Self {
        let network = view.segment;
        let wiring = &network.wiring;
        let len = view.secured_len(stream);
        let (shared, guard) = (network.access == Access::SharedSlots, network.guard_period);
        let time_on = |link: LinkParameters| network.frame_time_over(link, len);
        // How long the line behind a switch is taken, from the dispatch on.
        let egress = |link: LinkParameters| match (network.access, network.dispatch) {
            // The guard period is part of the slot.
            (Access::SharedSlots, _) => time_on(link) + view.integration_wait(link),
            (Access::PerLink, Dispatch::Scheduled) => time_on(link) + guard + view.integration_wait(link),
            (Access::PerLink, Dispatch::Immediate) => {
                time_on(link) + guard + network.forwarding_jitter.max + network.precision
            }
        };
        let from = |name: NetworkName| network.link_in(name, stream.hop.from).parameters;
        let seal = authentication_time(view, stream, stream.hop.from);
        // A frame that costs nothing to make has to be made all the same: no task may run at that instant. Nor may one when the next
        // frame of a message goes.
        let sealing = (Resource::Processor(stream.hop.from), -seal, seal.max(Duration::from_ps(1)));
        let first = |name: NetworkName| {
            let taken = time_on(from(name)) + guard + view.integration_wait(from(name));
            (Resource::to_switch(name, stream.hop.from), Duration::ZERO, taken)
        };
        let mut uses: Vec<_> = stream.copies.networks().iter().map(|name| first(*name)).collect();
        if shared {
            // The cluster, for as long as the slower of the copies takes.
            let taken = uses.iter().map(|(.., taken)| *taken).max().unwrap_or_default();
            uses = vec![(Resource::Cluster, Duration::ZERO, taken)];
        }
        uses.push(sealing);
        let first_network = stream.copies.first_network();
        let (turns, arrivals) = (Vec::new(), Vec::new());
        let (frames, pitch) = (stream.frames(), Duration::ZERO);
        let mut needs = Self { frame_time: time_on(from(first_network)), seal, frames, pitch, turns, arrivals, uses };
        // By link between switches: when the first bit goes over it.
        let mut over: BTreeMap<usize, Duration> = BTreeMap::new();
        for (name, hop) in view.hops(stream).expect("a scenario is refused unless each copy of a stream has one way") {
            let (start, link) = match hop.trunk {
                None => (Duration::ZERO, from(name)),
                Some(trunk) => (over[&trunk], wiring.trunks[trunk].parameters),
            };
            let wait = view.integration_wait(link);
            let slot = time_on(link) + guard + wait;
            let forwarded = time_on(link) + wait + link.delay(len) + network.forwarding_delay;
            let takes = match (network.access, network.dispatch) {
                (_, Dispatch::Immediate) => forwarded,
                (Access::SharedSlots, Dispatch::Scheduled) => slot,
                // The switch may be early and what comes before it late by the precision.
                (Access::PerLink, Dispatch::Scheduled) => forwarded + network.precision * 2,
            };
            let (dispatch, end) = (start + takes, start + if shared { slot } else { slot.max(takes) });
            needs.turns.push(Turn { start, dispatch, end });
            // Shared slots of unequal frames need this as well: a long frame is still on its way to the receiver when a
            // short one after it is due there.
            for &node in &hop.to {
                let link = network.link_in(name, node).parameters;
                let frame_time = time_on(link);
                let at = dispatch + view.integration_wait(link) + frame_time + link.delay(len);
                let is_second = name != first_network;
                needs.arrivals.push(Arrival { node, is_second, dispatch, frame_time, at });
                needs.uses.push((Resource::from_switch(name, node), dispatch, egress(link)));
            }
            for &trunk in &hop.onward {
                over.insert(trunk, dispatch);
                let resource = Resource::LinkBetween { link: trunk, from: hop.switch };
                needs.uses.push((resource, dispatch, egress(wiring.trunks[trunk].parameters)));
            }
        }
        needs.uses.retain(|(.., len)| *len > Duration::ZERO);
        let on_links = needs.uses.iter().filter(|(resource, ..)| !matches!(resource, Resource::Processor(_)));
        let on_links = on_links.map(|(.., len)| *len).max().unwrap_or_default();
        needs.pitch = on_links.max(needs.open_max(network));
        needs
    }

    /// The longest that a switch or a receiver waits for one frame, by clocks that may be off by the precision. A frame comes as early
    /// as if it took no time on the wire, which is later than any does.
    fn open_max(&self, network: &EthernetSegment) -> Duration {
        let over = |turn: &Turn| turn.end.max(turn.dispatch);
        let in_switches = self.turns.iter().map(|turn| over(turn) - turn.start + network.precision);
        let opens = |arrival: &Arrival| match network.dispatch {
            Dispatch::Scheduled => arrival.dispatch,
            Dispatch::Immediate => Duration::ZERO,
        };
        let at_receivers = self.arrivals.iter().map(|arrival| {
            let closes = self.turns.iter().filter(|turn| turn.dispatch == arrival.dispatch).map(over).max();
            // The copy over the other network can be there sooner. It must not be one of the next frame.
            let copies = self.arrivals.iter().filter(|copy| copy.node == arrival.node);
            let opens = copies.map(opens).min().unwrap_or_default();
            closes.unwrap_or_default() - opens + (arrival.at - arrival.dispatch) + network.precision * 4
        });
        in_switches.chain(at_receivers).max().unwrap_or_default() + Duration::from_ps(1)
    }

    /// From the slot of the first frame of a message to that of the last.
    pub(super) fn last_starts(&self) -> Duration {
        self.pitch * i64::from(self.frames - 1)
    }

    /// What all frames of a message use, from when on after the start of the first slot, and for how long.
    pub(super) fn all_uses(&self) -> impl Iterator<Item = (Resource, Duration, Duration)> + '_ {
        (0..i64::from(self.frames)).flat_map(move |place| {
            let uses = self.uses.iter().map(move |(resource, from, len)| match resource {
                // The message is sealed before its first frame.
                Resource::Processor(_) if place > 0 => (*resource, Duration::ZERO, Duration::from_ps(1)),
                _ => (*resource, *from, *len),
            });
            uses.map(move |(resource, from, len)| (resource, from + self.pitch * place, len))
        })
    }

    /// The end of a slot, counted from its start.
    pub(super) fn end(&self) -> Duration {
        self.turns.first().map_or(self.frame_time, |turn| turn.end)
    }

    /// When the last of its turns is over.
    pub(super) fn turns_over(&self) -> Duration {
        self.turns.iter().map(|turn| turn.end).max().unwrap_or(self.frame_time)
    }

    /// When all that it uses is over: the last turn, and the last bit at a receiver.
    pub(super) fn all_over(&self) -> Duration {
        self.arrivals.iter().map(|arrival| arrival.at).fold(self.turns_over(), Duration::max)
    }

    /// When its last bit is at a receiver, that of the later copy if there are two.
    pub(super) fn arrival_at(&self, node: NodeId) -> Duration {
        let own = self.arrivals.iter().filter(|arrival| arrival.node == node).map(|arrival| arrival.at);
        own.max().unwrap_or(self.frame_time)
    }

    pub(super) fn slot(&self, stream: StreamId, instance: u32, start: Duration) -> Slot {
        let dispatch = self.turns.first().map_or(self.frame_time, |turn| turn.dispatch);
        Slot {
            stream,
            instance,
            release: if instance.is_multiple_of(self.frames) { start - self.seal } else { start },
            start,
            frame_time: self.frame_time,
            dispatch: start + dispatch,
            end: start + self.end(),
        }
    }

    /// The turns behind the first switch of the frame in a slot, which the table has at this place.
    pub(super) fn relays(&self, slot: usize, start: Duration) -> impl Iterator<Item = Relay> {
        let behind = self.turns.iter().enumerate().skip(1);
        behind.map(move |(hop, turn)| Relay {
            slot,
            hop: hop as u16,
            start: start + turn.start,
            dispatch: start + turn.dispatch,
            end: start + turn.end,
        })
    }
}

/// Puts the slots of a table in their order, and gives each its turns behind the first switch and its deliveries.
pub(super) fn finish_slots(view: Ethernet<'_>, table: &mut ScheduleTable) {
    table.slots.sort_unstable_by_key(|slot| (slot.start, slot.stream));
    table.relays.clear();
    table.deliveries.clear();
    let mut known: BTreeMap<StreamId, FrameNeeds> = BTreeMap::new();
    for (index, slot) in table.slots.iter().enumerate() {
        let Some(stream) = view.stream(slot.stream) else { continue };
        let needs = known.entry(slot.stream).or_insert_with(|| FrameNeeds::of(view, &stream));
        table.relays.extend(needs.relays(index, slot.start));
        let delivery = |arrival: &Arrival| {
            let Arrival { node, is_second, dispatch, frame_time, .. } = *arrival;
            Delivery { slot: index, node, is_second, dispatch: slot.start + dispatch, frame_time }
        };
        let is_plain = |delivery: &Delivery| {
            !delivery.is_second && (delivery.dispatch, delivery.frame_time) == (slot.dispatch, slot.frame_time)
        };
        table.deliveries.extend(needs.arrivals.iter().map(delivery).filter(|delivery| !is_plain(delivery)));
    }
}

/// The time-triggered streams of a segment, the only ones with slots.
pub(super) fn scheduled(view: Ethernet<'_>) -> impl Iterator<Item = EthernetStream<'_>> {
    view.streams().filter(|stream| stream.class.is_time_triggered())
}

/// Where the scenario fixes the first slot of a stream. It does so on the segment on which the stream begins.
pub(super) fn offset(stream: &EthernetStream<'_>) -> Option<Duration> {
    stream.stream.offset.filter(|_| stream.hop.from == stream.stream.sender)
}
