//! Ports of switches and stations.

use chronoseal_core::NodeId;
use chronoseal_media::port::PortConfig;

/// Most entries of a gate control list.
pub const GATE_ENTRIES_MAX: u32 = 1_024;

/// Which port: the end of a link by which frames leave.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum PortEnd {
    /// Of a station, to its switch.
    Station(NodeId),
    /// Of a switch, to a station.
    ToStation(NodeId),
    /// Of the first switch, to the second.
    Between(u16, u16),
}

/// The ports of a segment that do more than send by strict priority, each as [`PortConfig`] has it but for the schedulers of
/// streams.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ports {
    /// Of switches, where nothing else is said.
    pub bridges: Option<PortConfig>,
    /// Of stations, where nothing else is said.
    pub stations: Option<PortConfig>,
    /// Of single link ends.
    pub own: Vec<(PortEnd, PortConfig)>,
}

impl Ports {
    /// True if every port sends by strict priority, each priority by itself.
    pub fn is_plain(&self) -> bool {
        self.bridges.is_none() && self.stations.is_none() && self.own.is_empty()
    }

    /// Every port of which something is said.
    pub fn all(&self) -> impl Iterator<Item = &PortConfig> {
        self.bridges.iter().chain(&self.stations).chain(self.own.iter().map(|(_, port)| port))
    }

    /// A port; `None` if it sends by strict priority, each priority by itself.
    pub fn of(&self, end: PortEnd) -> Option<&PortConfig> {
        let own = self.own.iter().find(|(own, _)| *own == end).map(|(_, port)| port);
        own.or(match end {
            PortEnd::Station(_) => self.stations.as_ref(),
            PortEnd::ToStation(_) | PortEnd::Between(..) => self.bridges.as_ref(),
        })
    }
}
