//! The ways of streams over the switches of their segment.

use chronoseal_core::NodeId;

use super::networks::NetworkName;
use super::plan::{Ethernet, EthernetStream, FailingLink};
use super::wiring::{RouteError, SwitchHop};

/// One of the ways of a stream's copies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StreamWay {
    /// Over which network.
    pub network: NetworkName,
    /// What its switches do, the sender's first.
    pub hops: Vec<SwitchHop>,
}

impl StreamWay {
    /// The links over which it leads from its sender to one receiver.
    pub fn links_to(&self, stream: &EthernetStream<'_>, receiver: NodeId) -> Vec<FailingLink> {
        let of_station = match self.network {
            NetworkName::A => FailingLink::Station,
            NetworkName::B => FailingLink::Second,
        };
        let mut found = vec![of_station(stream.hop.from), of_station(receiver)];
        let mut at = self.hops.iter().find(|hop| hop.to.contains(&receiver));
        while let Some(trunk) = at.and_then(|hop| hop.trunk) {
            found.push(FailingLink::Trunk(trunk));
            at = self.hops.iter().find(|hop| hop.onward.contains(&trunk));
        }
        found
    }
}

impl Ethernet<'_> {
    /// The way of a stream over its switches, or that of its first copies if it has several.
    ///
    /// # Errors
    /// [`RouteError`] if there is not just one, which no plan has that was made from a scenario.
    pub fn route(self, stream: &EthernetStream<'_>) -> Result<Vec<SwitchHop>, RouteError> {
        self.ways(stream).map(|ways| ways.into_iter().next().map(|way| way.hops).unwrap_or_default())
    }

    /// The ways of the copies of a stream's frames.
    ///
    /// # Errors
    /// [`RouteError`] if there is not just one for each copy.
    pub fn ways(self, stream: &EthernetStream<'_>) -> Result<Vec<StreamWay>, RouteError> {
        stream.copies.routes(&self.segment.wiring, stream.over, stream.hop.from, &stream.hop.to)
    }

    /// True if a stream's way, or a branch of one of its ways, leads over a link.
    pub fn passes(self, stream: &EthernetStream<'_>, link: FailingLink) -> bool {
        let leads = |way: &StreamWay| stream.hop.to.iter().any(|node| way.links_to(stream, *node).contains(&link));
        self.ways(stream).is_ok_and(|ways| ways.iter().any(leads))
    }

    /// True if on every way of a stream's copies to one of its receivers a link is that the scenario lets fail.
    pub fn is_cut_off(self, stream: &EthernetStream<'_>) -> bool {
        let Ok(ways) = self.ways(stream) else { return true };
        let fails = |link: &FailingLink| self.segment.failures.iter().any(|failure| failure.link == *link);
        let is_lost = |node: &NodeId| ways.iter().all(|way| way.links_to(stream, *node).iter().any(fails));
        stream.hop.to.iter().any(is_lost)
    }
}
