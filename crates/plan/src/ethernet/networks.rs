//! The networks A and B of a segment (ARINC 664 part 7), and which of them a stream goes over.

use std::collections::BTreeSet;

use chronoseal_core::{Duration, NodeId};
use chronoseal_media::recovery::RecoveryConfig;
use chronoseal_nodes::end_system::Replication;

use super::{EthernetSegment, RouteError, StationLink, StreamWay, SwitchHop, Wiring};

/// One of two networks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum NetworkName {
    /// The first.
    A,
    /// The second.
    B,
}

/// How many copies of each frame of a stream are sent, and over what.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Copies {
    /// One, over this network; a segment that names none has only A.
    One(NetworkName),
    /// One over each of the networks A and B.
    BothNetworks {
        /// So much later than the first a copy may come to its receiver; what comes later is a new frame.
        skew_max: Duration,
    },
    /// One over each of these ways of one network, with a redundancy tag (IEEE 802.1CB).
    Ways {
        /// By copy: the switches that it may pass, those of its ends besides; where some recover, those that it passes, in their order.
        ways: Vec<Vec<u16>>,
        /// Switches that pass one copy of each frame on.
        recovering: BTreeSet<u16>,
        /// How receivers tell copies apart.
        recovery: RecoveryConfig,
    },
}

impl Copies {
    /// True if there are several.
    pub const fn are_several(&self) -> bool {
        !matches!(self, Self::One(_))
    }

    /// How many there are.
    pub const fn count(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::BothNetworks { .. } => 2,
            Self::Ways { ways, .. } => ways.len(),
        }
    }

    /// The networks that they go over, in the order of their ways; a segment that names none has only A.
    pub const fn networks(&self) -> &'static [NetworkName] {
        match self {
            Self::One(NetworkName::B) => &[NetworkName::B],
            Self::One(NetworkName::A) | Self::Ways { .. } => &[NetworkName::A],
            Self::BothNetworks { .. } => &[NetworkName::A, NetworkName::B],
        }
    }

    /// The first of them.
    pub const fn first_network(&self) -> NetworkName {
        match self {
            Self::One(network) => *network,
            Self::BothNetworks { .. } | Self::Ways { .. } => NetworkName::A,
        }
    }

    /// True for a switch that passes one copy of each frame on.
    pub fn recovers(&self, switch: u16) -> bool {
        matches!(self, Self::Ways { recovering, .. } if recovering.contains(&switch))
    }

    /// True if frames have a redundancy tag.
    pub const fn have_r_tag(&self) -> bool {
        matches!(self, Self::Ways { .. })
    }

    /// How a receiver tells them apart, if there are several.
    pub const fn replication(&self) -> Option<Replication> {
        match self {
            Self::One(_) => None,
            Self::BothNetworks { skew_max } => Some(Replication::Networks { skew_max: *skew_max }),
            Self::Ways { recovery, .. } => Some(Replication::Tagged(*recovery)),
        }
    }

    /// The way of each copy between two nodes; `over` are the switches that a stream may pass which says nothing of its copies.
    ///
    /// # Errors
    /// [`RouteError`] if there is not just one way for each copy.
    pub fn routes(
        &self,
        wiring: &Wiring,
        over: Option<&[u16]>,
        from: NodeId,
        to: &[NodeId],
    ) -> Result<Vec<StreamWay>, RouteError> {
        let way = |network: NetworkName, over: Option<&[u16]>| {
            Ok(StreamWay { network, hops: wiring.route_over(network, over, from, to)? })
        };
        match self {
            Self::One(network) => Ok(vec![way(*network, over)?]),
            Self::BothNetworks { .. } => {
                [NetworkName::A, NetworkName::B].map(|network| way(network, over)).into_iter().collect()
            }
            Self::Ways { ways, recovering, .. } if recovering.is_empty() => {
                ways.iter().map(|over| way(NetworkName::A, Some(over))).collect()
            }
            Self::Ways { ways, .. } => {
                let along = |over: &Vec<u16>| {
                    Ok(StreamWay { network: NetworkName::A, hops: wiring.route_along(over, from, to)? })
                };
                ways.iter().map(along).collect()
            }
        }
    }
}

impl EthernetSegment {
    /// The link of a node to one of the networks; a segment that names none has only A.
    pub fn link_in(&self, network: NetworkName, node: NodeId) -> StationLink {
        let in_b = || self.wiring.second.iter().find(|link| link.node == node).copied();
        match network {
            NetworkName::A => self.link_of(node),
            NetworkName::B => in_b().unwrap_or_else(|| self.link_of(node)),
        }
    }
}

impl Wiring {
    /// True if its switches are of two networks, A and B, to each of which every node has a link.
    pub fn has_networks(&self) -> bool {
        !self.switches_of_b.is_empty()
    }

    /// Its networks: A, and B if there are two.
    pub fn networks(&self) -> &'static [NetworkName] {
        if self.has_networks() { &[NetworkName::A, NetworkName::B] } else { &[NetworkName::A] }
    }

    /// True for a switch of network B.
    pub fn is_of_b(&self, switch: u16) -> bool {
        self.switches_of_b.get(usize::from(switch)).copied().unwrap_or(false)
    }

    /// The wiring as frames in one network meet it: with the links of nodes to that network.
    pub fn of_network(&self, network: NetworkName) -> Self {
        let stations = match network {
            NetworkName::A => self.stations.clone(),
            NetworkName::B => self.second.clone(),
        };
        Self { stations, second: Vec::new(), ..self.clone() }
    }

    /// [`Self::route`] in one network; of the switches in `over` those count that are in it, if any is.
    ///
    /// # Errors
    /// As [`Self::route`].
    pub fn route_over(
        &self,
        network: NetworkName,
        over: Option<&[u16]>,
        from: NodeId,
        to: &[NodeId],
    ) -> Result<Vec<SwitchHop>, RouteError> {
        if !self.has_networks() {
            return self.route(over, from, to);
        }
        let is_here = |switch: &u16| self.is_of_b(*switch) == (network == NetworkName::B);
        let over: Option<Vec<u16>> = over.map(|over| over.iter().copied().filter(is_here).collect());
        self.of_network(network).route(over.filter(|over| !over.is_empty()).as_deref(), from, to)
    }

    /// The switch of a node in network B, if it has one.
    pub fn switch_in_b(&self, node: NodeId) -> Option<u16> {
        self.second.iter().find(|link| link.node == node).map(|link| link.switch)
    }
}
