//! The ways of streams over the switches of their segment.

use std::collections::BTreeSet;

use chronoseal_core::NodeId;

use super::{Ethernet, EthernetStream, FailingLink, NetworkName, RouteError, SwitchHop, Wiring};

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
        self.lines_to(stream, receiver).into_iter().map(|(link, _)| link).collect()
    }

    /// The same links, each with the switch to which it leads there; `None` for that to the receiver.
    pub fn lines_to(&self, stream: &EthernetStream<'_>, receiver: NodeId) -> Vec<(FailingLink, Option<u16>)> {
        let of_station = match self.network {
            NetworkName::A => FailingLink::Station,
            NetworkName::B => FailingLink::Second,
        };
        let first = self.hops.first().map(|hop| hop.switch);
        let mut found = vec![(of_station(stream.hop.from), first), (of_station(receiver), None)];
        let mut at = self.hops.iter().find(|hop| hop.to.contains(&receiver));
        while let Some((switch, trunk)) = at.and_then(|hop| Some((hop.switch, hop.trunk?))) {
            found.push((FailingLink::Trunk(trunk), Some(switch)));
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

    /// What the switches on its ways do with a stream, the sender's first: one entry for each line by which its frames come to a
    /// switch. A switch where copies become one sends each frame over all of its lines but that by which it came.
    ///
    /// # Errors
    /// As [`Self::ways`].
    pub fn hops(self, stream: &EthernetStream<'_>) -> Result<Vec<(NetworkName, SwitchHop)>, RouteError> {
        Ok(joined_hops(&self.ways(stream)?, &|switch| stream.copies.recovers(switch)))
    }

    /// How many copies of each frame of a stream come to a switch as long as nothing fails; `None` if that depends on which of them
    /// comes first to a switch before it.
    ///
    /// # Errors
    /// As [`Self::ways`].
    pub fn copies_at(self, stream: &EthernetStream<'_>, switch: u16) -> Result<Option<u16>, RouteError> {
        self.counted(stream, |count| count.at(switch))
    }

    /// [`Self::copies_at`] for a receiver.
    ///
    /// # Errors
    /// As [`Self::ways`].
    pub fn copies_to(self, stream: &EthernetStream<'_>, receiver: NodeId) -> Result<Option<u16>, RouteError> {
        self.counted(stream, |count| count.to(receiver))
    }

    fn counted(
        self,
        stream: &EthernetStream<'_>,
        count: impl FnOnce(CopyCount<'_>) -> Option<u16>,
    ) -> Result<Option<u16>, RouteError> {
        let recovers = |switch| stream.copies.recovers(switch);
        Ok(count(CopyCount { hops: &self.hops(stream)?, wiring: &self.segment.wiring, recovers: &recovers }))
    }

    /// True if a stream's way, or a branch of one of its ways, leads over a link.
    pub fn passes(self, stream: &EthernetStream<'_>, link: FailingLink) -> bool {
        let leads = |way: &StreamWay| stream.hop.to.iter().any(|node| way.links_to(stream, *node).contains(&link));
        self.ways(stream).is_ok_and(|ways| ways.iter().any(leads))
    }

    /// True if on every way of a stream's copies to one of its receivers a link is that the scenario lets fail.
    pub fn is_cut_off(self, stream: &EthernetStream<'_>) -> bool {
        self.is_lost_if(stream, &|link| self.segment.failures.iter().any(|failure| failure.link == link))
    }

    /// True if on every way of a stream's copies to one of its receivers a link is that fails or over which frames are lost.
    pub fn can_be_lost(self, stream: &EthernetStream<'_>) -> bool {
        self.is_lost_if(stream, &|link| {
            self.segment.failures.iter().any(|failure| failure.link == link)
                || self.segment.frame_losses.iter().any(|loss| loss.link == link)
        })
    }

    fn is_lost_if(self, stream: &EthernetStream<'_>, takes: &dyn Fn(FailingLink) -> bool) -> bool {
        let Ok(ways) = self.ways(stream) else { return true };
        let is_lost = |node: &NodeId| ways.iter().all(|way| way.links_to(stream, *node).into_iter().any(takes));
        stream.hop.to.iter().any(is_lost)
    }

    /// The share of a stream's frames of which no copy comes to a receiver, since all of them are lost by noise. Links that fail are
    /// not counted.
    pub fn lost_share(self, stream: &EthernetStream<'_>, receiver: NodeId) -> f64 {
        let Ok(ways) = self.ways(stream) else { return 1.0 };
        let lossy =
            |line: &(FailingLink, Option<u16>)| self.segment.frame_losses.iter().any(|loss| loss.link == line.0);
        let ways: Vec<Vec<_>> =
            ways.iter().map(|way| way.lines_to(stream, receiver).into_iter().filter(lossy).collect()).collect();
        let kept = |line: &(FailingLink, Option<u16>)| {
            let loss = self.segment.frame_losses.iter().find(|loss| loss.link == line.0);
            1.0 - loss.map_or(0.0, |loss| loss.ratio)
        };
        // A frame comes if a way is whole: one or another of them, by inclusion and exclusion. Ways share lines.
        let comes: f64 = (1..1u32 << ways.len().min(16))
            .map(|some| {
                let of_some = ways.iter().enumerate().filter(|(way, _)| some >> way & 1 == 1).flat_map(|(_, way)| way);
                let whole: f64 = of_some.collect::<BTreeSet<_>>().into_iter().map(kept).product();
                if some.count_ones() % 2 == 1 { whole } else { -whole }
            })
            .sum();
        (1.0 - comes).clamp(0.0, 1.0)
    }
}

/// How many copies of each frame come where, as long as nothing fails.
///
/// A switch that eliminates copies sends one over each of its lines, but none back to the switch from which the first one came: where
/// two such switches send copies to each other, how many come depends on which of them was first.
pub struct CopyCount<'a> {
    /// Those of [`joined_hops`], by which no copy comes twice to a switch that does not eliminate it.
    pub hops: &'a [(NetworkName, SwitchHop)],
    /// Of the segment.
    pub wiring: &'a Wiring,
    /// Which switches eliminate copies.
    pub recovers: &'a dyn Fn(u16) -> bool,
}

impl CopyCount<'_> {
    /// To a switch; `None` if it depends.
    pub fn at(&self, switch: u16) -> Option<u16> {
        self.entries(switch).map(|entry| self.by(entry)).sum()
    }

    /// To a station of a switch; `None` if it depends.
    pub fn to(&self, receiver: NodeId) -> Option<u16> {
        let switch = self.wiring.switch_of(receiver);
        if (self.recovers)(switch) {
            return Some(1);
        }
        self.entries(switch).filter(|entry| entry.to.contains(&receiver)).map(|entry| self.by(entry)).sum()
    }

    /// By the line of one entry.
    fn by(&self, entry: &SwitchHop) -> Option<u16> {
        let Some(line) = entry.trunk else { return Some(1) };
        let before = self.wiring.trunks[line].from(entry.switch);
        if (self.recovers)(before) {
            return (!self.entries(before).any(|entry| entry.trunk == Some(line))).then_some(1);
        }
        self.entries(before).filter(|entry| entry.onward.contains(&line)).map(|entry| self.by(entry)).sum()
    }

    fn entries(&self, switch: u16) -> impl Iterator<Item = &SwitchHop> {
        self.hops.iter().map(|(_, hop)| hop).filter(move |hop| hop.switch == switch)
    }
}

/// What the switches on several ways of one stream do together.
pub fn joined_hops(ways: &[StreamWay], recovers: &dyn Fn(u16) -> bool) -> Vec<(NetworkName, SwitchHop)> {
    let mut hops: Vec<(NetworkName, SwitchHop)> = Vec::new();
    for (network, hop) in ways.iter().flat_map(|way| way.hops.iter().map(|hop| (way.network, hop))) {
        // Where ways part, one switch sends what comes in once by several lines.
        let place = |(known_in, known): &(NetworkName, SwitchHop)| {
            *known_in == network && (known.switch, known.trunk) == (hop.switch, hop.trunk)
        };
        match hops.iter_mut().find(|known| place(known)) {
            None => hops.push((network, hop.clone())),
            Some((_, known)) => take_in(known, hop, None),
        }
    }
    let apart = hops.clone();
    for (network, hop) in hops.iter_mut().filter(|(_, hop)| recovers(hop.switch)) {
        let (switch, back) = (hop.switch, hop.trunk);
        for (_, other) in apart.iter().filter(|(in_network, other)| in_network == network && other.switch == switch) {
            take_in(hop, other, back);
        }
    }
    hops
}

/// Lets a switch do for a stream what another of its entries says as well, but send nothing `back`.
fn take_in(known: &mut SwitchHop, other: &SwitchHop, back: Option<usize>) {
    let to: Vec<NodeId> = other.to.iter().copied().filter(|node| !known.to.contains(node)).collect();
    let onward = other.onward.iter().copied().filter(|trunk| !known.onward.contains(trunk) && Some(*trunk) != back);
    let onward: Vec<usize> = onward.collect();
    known.to.extend(to);
    known.onward.extend(onward);
}
