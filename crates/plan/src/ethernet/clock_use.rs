//! What goes by the clock of a segment, and what does not.

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_core::{NodeId, StreamId};

use super::{Ethernet, EthernetStream, PortEnd, Sync};

/// The streams whose frames can be late or lost because a clock does not show the time of its segment.
///
/// Switches throw away what comes outside of its slot, so that the wrong clock of a station harms no others.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ClockUse {
    /// By station, what the clock of that station can harm: streams that leave or come there in slots; those that leave by its port
    /// if it sends others in slots, or if the gates of the port go by that clock; and those that leave, pass or end there if
    /// its processor runs tasks by that clock.
    by_station: BTreeMap<NodeId, BTreeSet<StreamId>>,
    /// What any clock can harm, those of switches among them: besides the streams above, those on whose way a port serves frames in
    /// slots or has gates, where switches make the time themselves.
    all: BTreeSet<StreamId>,
}

impl ClockUse {
    /// The streams that the clock of a station can harm, in their order.
    pub fn of_station(&self, node: NodeId) -> impl Iterator<Item = StreamId> + '_ {
        self.by_station.get(&node).into_iter().flatten().copied()
    }

    /// The streams that some clock of the segment can harm, in their order.
    pub fn all(&self) -> impl Iterator<Item = StreamId> + '_ {
        self.all.iter().copied()
    }
}

impl Ethernet<'_> {
    /// True if something on the segment goes by its clock: slots, tasks that are scheduled with it, or gates.
    pub fn uses_clock(self) -> bool {
        self.streams().any(|stream| stream.class.is_time_triggered())
            || self.has_gates()
            || self.runs_tasks().next().is_some()
    }

    /// True if a port by which streams leave, or a stream filter, follows a list by the time.
    pub fn has_gates(self) -> bool {
        let ports = &self.segment.ports;
        let is_gated = |end: &PortEnd| ports.of(*end).is_some_and(|port| port.gates.is_some());
        let are_gates = ports.all().any(|port| port.gates.is_some());
        let is_used = || self.streams().any(|stream| self.ports_passed(&stream).iter().any(is_gated));
        self.has_stream_gates() || are_gates && is_used()
    }

    /// Which streams the clocks of the segment can harm.
    pub fn clock_use(self) -> ClockUse {
        let mut found = ClockUse::default();
        let mut harms = |node: NodeId, stream: StreamId| {
            found.by_station.entry(node).or_default().insert(stream);
            found.all.insert(stream);
        };
        let runs_tasks: BTreeSet<NodeId> = self.runs_tasks().collect();
        for (stream, plan) in self.plan.stream_ids().zip(&self.plan.streams) {
            let ends = plan.hops.iter().flat_map(|hop| [hop.from].into_iter().chain(hop.to.iter().copied()));
            ends.filter(|node| runs_tasks.contains(node)).for_each(|node| harms(node, stream));
        }
        let in_slots = || self.streams().filter(|stream| stream.class.is_time_triggered());
        let send_in_slots: BTreeSet<NodeId> = in_slots().map(|stream| stream.hop.from).collect();
        // Else all gates go by the time of the run.
        let has_own_clocks = matches!(self.segment.sync, Sync::As6802 | Sync::Gptp);
        let is_gated =
            |end: PortEnd| has_own_clocks && self.segment.ports.of(end).is_some_and(|port| port.gates.is_some());
        for stream in self.streams() {
            let from = stream.hop.from;
            if send_in_slots.contains(&from) || is_gated(PortEnd::Station(from)) {
                harms(from, stream.id);
            }
            if stream.class.is_time_triggered() {
                stream.hop.to.iter().for_each(|node| harms(*node, stream.id));
            }
        }
        if has_own_clocks {
            let serves_slots: BTreeSet<PortEnd> = in_slots().flat_map(|stream| self.ports_passed(&stream)).collect();
            let is_by_clock = |end: &PortEnd| serves_slots.contains(end) || is_gated(*end);
            let is_filtered = self.has_stream_gates();
            let passes = |stream: &EthernetStream<'_>| is_filtered || self.ports_passed(stream).iter().any(is_by_clock);
            found.all.extend(self.streams().filter(passes).map(|stream| stream.id));
        }
        found
    }

    /// The ports by which frames of a stream leave on their ways, the sender's among them.
    pub fn ports_passed(self, stream: &EthernetStream<'_>) -> BTreeSet<PortEnd> {
        let mut found = BTreeSet::from([PortEnd::Station(stream.hop.from)]);
        for hop in self.ways(stream).unwrap_or_default().iter().flat_map(|way| &way.hops) {
            found.extend(hop.to.iter().map(|node| PortEnd::ToStation(*node)));
            let trunks = hop.onward.iter().map(|trunk| &self.segment.wiring.trunks[*trunk]);
            found.extend(trunks.map(|trunk| PortEnd::Between(hop.switch, trunk.from(hop.switch))));
        }
        found
    }

    fn has_stream_gates(self) -> bool {
        self.segment.stream_filters.gates.iter().any(|(_, gate)| gate.list.changes())
    }

    /// The stations that run tasks by the clock of the segment.
    fn runs_tasks(self) -> impl Iterator<Item = NodeId> {
        self.task_stations().filter(move |node| !self.plan.nodes[node.index()].tasks.is_empty())
    }
}
