//! Whether the filters, gates and meters of switches can take a frame that is in order (IEEE 802.1Q-2018 §8.6.5.1).
//!
//! # Meters
//! Frames of `L` bytes that are due `T` apart and come with a jitter of `J` are at most `floor((t + J) / T) + 1` in any time `t`. A
//! meter lets all of several streams pass if its bucket holds the most by which what they bring in any time is above what its rate
//! brings in this time ([`burst_needed`]). What is above the committed profile can still pass as yellow if it keeps to the excess
//! profile alone: a frame is paid for by one bucket, so the two do not add up.
//!
//! # Gates
//! When a frame without a slot comes is not known, so a gate that is ever closed can take it. A frame in a slot comes within a window
//! around its turn, which can lie in a time in which the gate is open. In an interval of a gate no more octets can come than what
//! its streams bring in a time as long.
//!
//! # Sub-virtual links
//! A filter knows a virtual link by its address and judges its frames alike, whichever of the streams that share it they are of. So
//! a gate and a meter are brought what their common regulator lets go: a frame in each gap, none longer than the longest of them.
//! A frame that is too long is that of its own stream alone, but takes a number of their virtual link with it.
//!
//! Whether a gate, a filter or a meter that closes for good is closed by another stream counts for all its streams.

use std::collections::BTreeMap;

use chronoseal_core::{Duration, NodeId, Rate, StreamId};
use chronoseal_media::port::priority_of;
use chronoseal_media::psfp::{FlowMeterConfig, StreamGateConfig, StreamGateList};
use chronoseal_plan::{Dispatch, Ethernet, EthernetStream, FilterPlan, Neighbour, NetworkName, Plan, Sync};
use chronoseal_wire::ethernet::{FCS_LEN, HEADER_LEN};

use super::super::Span;
use super::super::losses::{Cause, Risk};
use super::control;
use super::metering::{MeteredFlow, burst_needed, rate_of};
use super::routed::Solved;
use super::wired::Wired;

/// What a stream filter, stream gate or flow meter can take frames for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FilterRisk {
    /// At which switch.
    pub switch: NodeId,
    /// The name of the filter, the gate or the meter.
    pub name: String,
    /// For what.
    pub reason: FilterReason,
}

/// Why.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum FilterReason {
    /// Every one of its frames is longer than the filter lets through.
    Sdu {
        /// Behind header and tag `[byte]`.
        sdu: u64,
        /// The maximum SDU size `[byte]`.
        max: u32,
    },
    /// Another stream's frames block the filter for good.
    Blocked,
    /// The filter throws frames of another stream away that has the numbers of the same virtual link.
    Numbers {
        /// The other stream.
        other: StreamId,
    },
    /// The gate has no entry in which it is open.
    NeverOpen,
    /// A frame can come while the gate is closed.
    Closed,
    /// More can come in an interval than the gate lets through.
    Octets {
        /// So much `[byte]`; `None` if nothing bounds it.
        octets: Option<u64>,
        /// So much passes `[byte]`.
        max: u64,
    },
    /// The streams of a meter bring more than its committed rate.
    Rate {
        /// So much, headers and checksums included.
        brought: Rate,
        /// Its committed rate.
        cir: Rate,
    },
    /// The streams of a meter bring more at once than its committed burst holds.
    Burst {
        /// So much `[byte]`; `None` if nothing bounds when they come.
        needed: Option<u64>,
        /// Its committed burst size `[byte]`.
        cbs: u64,
    },
}

impl FilterRisk {
    /// True if it is not known whether it happens.
    pub const fn is_unbounded(&self) -> bool {
        !matches!(self.reason, FilterReason::Sdu { .. } | FilterReason::Blocked | FilterReason::NeverOpen)
    }

    /// One sentence for a reader, with what helps.
    pub fn text(&self, plan: &Plan) -> String {
        let (name, switch) = (&self.name, plan.node_name(self.switch));
        match self.reason {
            FilterReason::Sdu { sdu, max } => format!(
                "its SDUs have {sdu} bytes, and stream filter `{name}` of `{switch}` lets {max} through (IEEE 802.1Q-2018 §8.6.5.1.1): \
                 write `max_sdu = \"{sdu}B\"`"
            ),
            FilterReason::Blocked => format!(
                "longer frames of another stream block stream filter `{name}` of `{switch}` for good (IEEE 802.1Q-2018 §8.6.5.1.1): \
                 leave `block_on_oversize` out, or give each stream a filter of its own"
            ),
            FilterReason::Numbers { other } => format!(
                "stream filter `{name}` of `{switch}` throws frames of `{0}` away, which are longer than it lets through, and with them \
                 go numbers of the virtual link that the two share: a receiver refuses a frame whose number is more than two on (ARINC \
                 664 part 7, integrity checking). Write a longer `max_sdu`, or give `{0}` a virtual link of its own",
                plan.streams[other.index()].name
            ),
            FilterReason::NeverOpen => format!(
                "stream gate `{name}` of `{switch}` is never open (IEEE 802.1Q-2018 §8.6.5.1.2): write `open = true` for one of its \
                 entries"
            ),
            FilterReason::Closed => format!(
                "a frame of it, or of another stream that closes it for good, can come while stream gate `{name}` of `{switch}` is \
                 closed (IEEE 802.1Q-2018 §8.6.5.1.2): open the gate around its slots, and only streams in slots are known to keep to \
                 a gate"
            ),
            FilterReason::Octets { octets: Some(octets), max } => format!(
                "up to {octets} bytes of SDUs can come in an interval of stream gate `{name}` of `{switch}`, which lets {max} through \
                 (IEEE 802.1Q-2018 §8.6.5.1.2): write `octets_max = \"{octets}B\"`"
            ),
            FilterReason::Octets { octets: None, max } => format!(
                "nothing bounds how much comes in an interval of stream gate `{name}` of `{switch}`, which lets {max} bytes through"
            ),
            FilterReason::Rate { brought, cir } => format!(
                "what comes to flow meter `{name}` of `{switch}` is {brought} in the long run, headers and checksums included, and its \
                 committed rate is {cir} (IEEE 802.1Q-2018 §8.6.5.1.3): write `cir = \"{}\"`",
                rate_to_write(brought)
            ),
            FilterReason::Burst { needed: Some(needed), cbs } => format!(
                "up to {needed} bytes can come to flow meter `{name}` of `{switch}` before its rate has paid for them, and its committed \
                 burst size is {cbs} (IEEE 802.1Q-2018 §8.6.5.1.3): write `cbs = \"{needed}B\"`"
            ),
            FilterReason::Burst { needed: None, cbs } => format!(
                "nothing bounds how near together frames come to flow meter `{name}` of `{switch}`, whose committed burst size is {cbs} \
                 bytes"
            ),
        }
    }
}

/// A rate as a scenario has it, no lower than this one.
fn rate_to_write(rate: Rate) -> String {
    format!("{}kbit/s", rate.0.div_ceil(1_000))
}

/// Frames of one stream where they come to a switch.
struct Passing {
    stream: StreamId,
    /// It, or all that share its virtual link, with their longest frames without header and tag `[byte]`.
    members: Vec<(StreamId, u64)>,
    /// With header and checksum `[byte]`.
    len: u64,
    /// The same of all frames that the distance counts `[byte]`.
    sdus: u64,
    distance: Duration,
    /// `None` if nothing bounds it.
    jitter: Option<Duration>,
    /// When they come in each cluster cycle, of a stream in slots.
    windows: Option<Vec<Span>>,
}

/// Everything that filters, gates and meters are known to take, or not known to leave.
pub(super) fn risks(wired: &Wired<'_>, solved: &Solved<'_>) -> Vec<Risk> {
    let view = wired.view;
    let tables = &view.segment.stream_filters;
    if tables.filters.is_empty() {
        return Vec::new();
    }
    let mut by_filter: BTreeMap<(u16, usize), Vec<Passing>> = BTreeMap::new();
    for (switch, from, passing) in passing(wired, solved) {
        let Some(stream) = view.stream(passing.stream) else { continue };
        let Some(filter) = view.filter_at(switch, from, &stream) else { continue };
        let place = tables.filters.iter().position(|other| std::ptr::eq(other, filter)).unwrap_or_default();
        by_filter.entry((switch, place)).or_default().push(passing);
    }
    let mut found = Found { view, risks: Vec::new() };
    let mut by_gate: BTreeMap<(u16, usize), Vec<&Passing>> = BTreeMap::new();
    let mut by_meter: BTreeMap<(u16, usize), Vec<&Passing>> = BTreeMap::new();
    for ((switch, place), group) in &by_filter {
        let filter = &tables.filters[*place];
        found.sdus(*switch, filter, group);
        if let Some(gate) = filter.gate {
            by_gate.entry((*switch, gate)).or_default().extend(group);
        }
        if let Some(meter) = filter.meter {
            by_meter.entry((*switch, meter)).or_default().extend(group);
        }
    }
    let cycle = wired.slots.table.cluster_cycle;
    for ((switch, gate), group) in by_gate {
        let (name, gate) = &tables.gates[gate];
        found.gate(switch, (name, gate), &group, cycle);
    }
    // What is marked on its way comes to the next switch drop-eligible.
    let marks = tables.meters.iter().any(|(_, meter)| meter.ebs > 0 && !meter.drops_yellow);
    for ((switch, meter), group) in by_meter {
        let (name, meter) = &tables.meters[meter];
        found.meter(switch, (name, meter), &group, marks);
    }
    found.risks
}

/// True if a gate puts a frame of a stream into another traffic class than its priority does.
pub(super) fn moves_classes(view: Ethernet<'_>, class_of: impl Fn(u8) -> u8) -> bool {
    let tables = &view.segment.stream_filters;
    let trunks = &view.segment.wiring.trunks;
    view.streams().any(|stream| {
        let Some(own) = stream.tag.map(|tag| priority_of(tag.pcp).0) else { return false };
        view.route(&stream).unwrap_or_default().iter().any(|hop| {
            let from = match hop.trunk {
                None => Neighbour::Station(stream.hop.from),
                Some(trunk) => Neighbour::Switch(trunks[trunk].from(hop.switch)),
            };
            let gate = view.filter_at(hop.switch, from, &stream).and_then(|filter| filter.gate);
            let entries = gate.map_or(&[][..], |gate| &tables.gates[gate].1.list.entries);
            entries.iter().filter_map(|entry| entry.ipv).any(|ipv| class_of(ipv.0) != class_of(own))
        })
    })
}

/// Every stream at every switch on its way, with the neighbour it comes from.
fn passing(wired: &Wired<'_>, solved: &Solved<'_>) -> Vec<(u16, Neighbour, Passing)> {
    let view = wired.view;
    let switches: Vec<NodeId> = view.switches().collect();
    let number = |node: NodeId| switches.iter().position(|switch| *switch == node).map(|switch| switch as u16);
    let mut found = Vec::new();
    for (index, sent) in wired.routed.streams.iter().enumerate() {
        let Some(stream) = sent.stream.and_then(|id| view.stream(id)) else { continue };
        let links = sent.hops.iter().map(|(link, _)| &wired.routed.links[*link]).filter(|link| link.enters_switch);
        for (link, entered) in links.zip(solved.entered(index)) {
            let Some(switch) = number(link.to) else { continue };
            let (sdu, fcs) = (sdu_of(&stream, sent.len_max), FCS_LEN as u64);
            // Each frame of a message that comes at once has a header and a checksum.
            let message = stream.datagram.filter(|_| sent.counted_len > sent.len_max);
            let frames = message.map_or(1, |datagram| u64::from(datagram.frames()));
            let sharers = view.sub_virtual_links(&stream);
            let mut members: Vec<(StreamId, u64)> =
                sharers.map(|own| (own.id, sdu_of(&own, u64::from(view.secured_len(&own))))).collect();
            if members.is_empty() {
                members.push((stream.id, sdu));
            }
            let passing = Passing {
                stream: stream.id,
                members,
                len: message.map_or(sent.counted_len, |datagram| datagram.total()) + frames * fcs,
                sdus: sdu * frames,
                distance: sent.distance,
                jitter: entered.ok().map(Span::jitter),
                windows: None,
            };
            found.push((switch, number(link.from).map_or(Neighbour::Station(link.from), Neighbour::Switch), passing));
        }
    }
    for stream in view.streams().filter(|stream| stream.class.is_time_triggered()) {
        for (hop, at) in view.route(&stream).unwrap_or_default().iter().enumerate() {
            let trunk = at.trunk.map(|trunk| &view.segment.wiring.trunks[trunk]);
            let from =
                trunk.map_or(Neighbour::Station(stream.hop.from), |trunk| Neighbour::Switch(trunk.from(at.switch)));
            found.push((at.switch, from, in_slots(wired, &stream, hop, at.trunk)));
        }
    }
    found
}

fn sdu_of(stream: &EthernetStream<'_>, len: u64) -> u64 {
    len - (HEADER_LEN as u64 + u64::from(stream.tag_len()))
}

/// Frames in slots where they come to a switch on their way: to the first from their sender, to the others as the table says.
fn in_slots(wired: &Wired<'_>, stream: &EthernetStream<'_>, hop: usize, trunk: Option<usize>) -> Passing {
    let (view, slots) = (wired.view, &wired.slots);
    let network = view.segment;
    let len = u64::from(view.secured_len(stream));
    let link = match trunk {
        None => network.link_of(stream.hop.from).parameters,
        Some(trunk) => network.wiring.trunks[trunk].parameters,
    };
    let (reception, wait) = (network.speed_over(link).reception(len), view.integration_wait(link));
    let window = |(index, turn): (usize, Duration)| {
        let is_last = stream.is_last_in(slots.table.slots[index].instance);
        let shortest = if is_last { u64::from(view.shortest_len(stream)) } else { len };
        let earliest = network.speed_over(link).reception(shortest);
        let latest =
            if hop == 0 { slots.first_bit(NetworkName::A, index).max(turn) } else { turn + network.precision + wait };
        Span { min: turn - network.precision + earliest, max: latest + reception }
    };
    let turns = slots.of(stream.id).filter_map(|(index, _)| Some((index, slots.table.turn(index, hop)?.start)));
    let mut windows: Vec<Span> = turns.map(window).collect();
    windows.sort_unstable_by_key(|window| window.min);
    let cycle = slots.table.cluster_cycle;
    let nexts = windows.iter().skip(1).map(|window| window.min).chain(windows.first().map(|first| first.min + cycle));
    let distance = windows.iter().zip(nexts).map(|(window, next)| next - window.min).min().unwrap_or(cycle);
    // What passes on at once keeps to no turn behind the first switch.
    let is_known = hop == 0 || network.dispatch == Dispatch::Scheduled;
    // Where clocks make their own time, how far those of a frame and of a gate are apart is not held against the gate's list.
    let is_by_run = matches!(network.sync, Sync::None | Sync::Beacon | Sync::Ideal);
    Passing {
        stream: stream.id,
        members: vec![(stream.id, sdu_of(stream, len))],
        len: len + FCS_LEN as u64,
        sdus: sdu_of(stream, len),
        distance: distance.max(Duration::from_ps(1)),
        jitter: windows.iter().map(|window| window.jitter()).max().filter(|_| is_known),
        windows: Some(windows).filter(|_| is_known && is_by_run),
    }
}

struct Found<'a> {
    view: Ethernet<'a>,
    risks: Vec<Risk>,
}

impl Found<'_> {
    fn add(&mut self, switch: u16, name: &str, stream: StreamId, reason: FilterReason) {
        let switch = self.view.plan.own_node(self.view.id, usize::from(switch));
        let cause = Cause::StreamFilter(FilterRisk { switch, name: name.to_owned(), reason });
        self.risks.push(Risk { segment: self.view.id, stream: Some(stream), cause });
    }

    /// For all streams of what passes.
    fn add_all(&mut self, switch: u16, name: &str, passing: &Passing, reason: FilterReason) {
        passing.members.iter().for_each(|(stream, _)| self.add(switch, name, *stream, reason));
    }

    fn sdus(&mut self, switch: u16, filter: &FilterPlan, group: &[Passing]) {
        let Some(max) = filter.max_sdu else { return };
        let is_longer = |sdu: u64| sdu > u64::from(max);
        let longer =
            |passing: &Passing| passing.members.iter().find(|(_, sdu)| is_longer(*sdu)).map(|(stream, _)| *stream);
        let blocks = filter.blocks_on_oversize && group.iter().any(|passing| longer(passing).is_some());
        for passing in group {
            let other = longer(passing);
            for &(stream, sdu) in &passing.members {
                let reason = match other {
                    _ if is_longer(sdu) => FilterReason::Sdu { sdu, max },
                    _ if blocks => FilterReason::Blocked,
                    Some(other) => FilterReason::Numbers { other },
                    None => continue,
                };
                self.add(switch, &filter.name, stream, reason);
            }
        }
    }

    fn gate(
        &mut self,
        switch: u16,
        (name, gate): (&str, &StreamGateConfig),
        group: &[&Passing],
        cluster_cycle: Duration,
    ) {
        let list = &gate.list;
        if list.entries.iter().all(|entry| !entry.is_open) {
            return group.iter().for_each(|passing| self.add_all(switch, name, passing, FilterReason::NeverOpen));
        }
        let keeps = |passing: &&&Passing| is_open_for(list, passing, cluster_cycle);
        let is_closed_for_good = gate.closes_on_invalid_rx && !group.iter().all(|passing| keeps(&passing));
        for passing in group.iter().filter(|passing| is_closed_for_good || !keeps(passing)) {
            self.add_all(switch, name, passing, FilterReason::Closed);
        }
        // At the interval where it is worst.
        let in_interval = |lasts: Duration| {
            let octets = |passing: &&Passing| {
                let frames = (lasts + passing.jitter?).div_floor(passing.distance) + 1;
                Some(passing.sdus.saturating_mul(u64::try_from(frames).ok()?))
            };
            group.iter().try_fold(0u64, |sum, passing| Some(sum.saturating_add(octets(passing)?)))
        };
        let before: Duration = list.entries.iter().rev().skip(1).map(|entry| entry.lasts).sum();
        let last = list.entries.len() - 1;
        let limited = list.entries.iter().enumerate().filter_map(|(index, entry)| {
            // The last one lasts until the end of the cycle.
            let lasts = if index == last { list.cycle - before } else { entry.lasts };
            Some((entry.octets_max?, in_interval(control::lasts_at_most(self.view, lasts))))
        });
        let over = limited.filter(|(max, octets)| octets.is_none_or(|octets| octets > *max));
        if let Some((max, octets)) = over.max_by_key(|(max, octets)| octets.map_or(u64::MAX, |octets| octets - max)) {
            for passing in group {
                self.add_all(switch, name, passing, FilterReason::Octets { octets, max });
            }
        }
    }

    fn meter(&mut self, switch: u16, (name, meter): (&str, &FlowMeterConfig), group: &[&Passing], marks: bool) {
        let flows: Option<Vec<MeteredFlow>> = group.iter().map(|passing| passing.metered()).collect();
        let fits = |rate: Rate, burst: u64| {
            let needed = flows.as_ref().and_then(|flows| burst_needed(flows, rate));
            needed.is_some_and(|needed| needed <= burst)
        };
        let is_green = fits(meter.cir, meter.cbs) && !(meter.is_colour_aware && marks);
        if is_green || !meter.drops_yellow && fits(meter.eir, meter.ebs) {
            return;
        }
        let needed = flows.as_ref().map(|flows| (rate_of(flows), burst_needed(flows, meter.cir)));
        let reason = match needed {
            Some((brought, None)) => FilterReason::Rate { brought, cir: meter.cir },
            Some((_, needed)) => FilterReason::Burst { needed, cbs: meter.cbs },
            None => FilterReason::Burst { needed: None, cbs: meter.cbs },
        };
        for passing in group {
            self.add_all(switch, name, passing, reason);
        }
    }
}

/// True if a gate is open whenever a frame comes.
fn is_open_for(list: &StreamGateList, passing: &Passing, cluster_cycle: Duration) -> bool {
    if list.entries.iter().all(|entry| entry.is_open) {
        return true;
    }
    let Some(windows) = &passing.windows else { return false };
    cluster_cycle.rem_floor(list.cycle) == Duration::ZERO && windows.iter().all(|window| is_open_within(list, *window))
}

/// True if a gate is open from one instant to another, both included.
fn is_open_within(list: &StreamGateList, window: Span) -> bool {
    if window.jitter() >= list.cycle {
        return false;
    }
    let (mut at, mut shut) = (Duration::ZERO, Vec::new());
    for (index, entry) in list.entries.iter().enumerate() {
        let is_last = index + 1 == list.entries.len();
        let end = if is_last { list.cycle } else { (at + entry.lasts).min(list.cycle) };
        shut.extend((!entry.is_open && end > at).then_some((at, end)));
        at = end;
    }
    let from = (window.min - list.base_time).rem_floor(list.cycle);
    let until = from + window.jitter();
    // A cycle begins within the window at most once.
    let meets = |(closes, opens): &(Duration, Duration), turn: i64| {
        let later = list.cycle * turn;
        *closes + later <= until && *opens + later > from
    };
    shut.iter().all(|shut| !meets(shut, 0) && !meets(shut, 1))
}

impl Passing {
    fn metered(&self) -> Option<MeteredFlow> {
        Some(MeteredFlow { len: self.len, distance: self.distance, jitter: self.jitter? })
    }
}

#[cfg(test)]
mod tests {
    use chronoseal_media::psfp::StreamGateEntry;

    use super::*;

    #[test]
    fn a_window_lies_in_an_open_time_or_does_not() {
        let us = Duration::from_us;
        let entry = |is_open, lasts| StreamGateEntry { is_open, ipv: None, lasts: us(lasts), octets_max: None };
        let entries = vec![entry(true, 200), entry(false, 300), entry(true, 1)];
        let list = StreamGateList { base_time: us(50), cycle: us(1_000), entries };
        // Open in [550, 1250) of each cycle.
        let within = |from, until| is_open_within(&list, Span { min: us(from), max: us(until) });
        assert!(within(550, 1_249) && within(1_550, 2_249) && within(100, 200) && within(-100, 200));
        assert!(!within(549, 600) && !within(600, 1_250) && !within(300, 400) && !within(200, 600));
        assert!(!within(560, 1_560), "as long as the cycle");
    }
}
