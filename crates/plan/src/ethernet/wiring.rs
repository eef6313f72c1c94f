//! How the switches and nodes of an Ethernet segment are joined, and the way of a stream's frames over them.

use chronoseal_core::{Duration, NodeId, Rate};

use super::Macsec;

/// The links of a segment. The default is one switch with a link to every node, each as the segment says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wiring {
    /// So many switches; the segment's own nodes in this order.
    pub switches: u16,
    /// Links of nodes that differ from that which the segment says, to the first switch, by node.
    pub stations: Vec<StationLink>,
    /// Links between switches, by their ends.
    pub trunks: Vec<Trunk>,
    /// By switch: true if it is one of network B; empty if the segment has no networks A and B.
    pub switches_of_b: Vec<bool>,
    /// Links of nodes to network B, by node.
    pub second: Vec<StationLink>,
}

impl Default for Wiring {
    fn default() -> Self {
        Self { switches: 1, stations: Vec::new(), trunks: Vec::new(), switches_of_b: Vec::new(), second: Vec::new() }
    }
}

/// What a link has of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkParameters {
    /// Of both directions.
    pub rate: Rate,
    /// From one end to the other.
    pub propagation_delay: Duration,
    /// What protects its frames in both directions.
    pub macsec: Option<Macsec>,
}

/// The link of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StationLink {
    /// Whose.
    pub node: NodeId,
    /// To which switch.
    pub switch: u16,
    /// Rate, delay and protection.
    pub parameters: LinkParameters,
}

/// A link between two switches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Trunk {
    /// The lower number first.
    pub ends: [u16; 2],
    /// Rate, delay and protection.
    pub parameters: LinkParameters,
}

impl Trunk {
    /// The other end.
    pub fn from(&self, switch: u16) -> u16 {
        if self.ends[0] == switch { self.ends[1] } else { self.ends[0] }
    }
}

/// What one switch does with a stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SwitchHop {
    /// Which switch.
    pub switch: u16,
    /// The link between switches by which it comes, as an index into [`Wiring::trunks`]; `None`: from its sender.
    pub trunk: Option<usize>,
    /// The nodes at this switch that take it.
    pub to: Vec<NodeId>,
    /// The links between switches by which it goes on.
    pub onward: Vec<usize>,
}

impl SwitchHop {
    fn new(switch: u16, trunk: Option<usize>) -> Self {
        Self { switch, trunk, to: Vec::new(), onward: Vec::new() }
    }
}

/// Why a stream does not reach a receiver in just one way.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RouteError {
    /// No links lead there over switches it may pass.
    #[error("no way leads to node {}", .receiver.0)]
    None {
        /// Whom it does not reach.
        receiver: NodeId,
    },
    /// Several ways have as many links.
    #[error("several ways of one length lead to node {}", .receiver.0)]
    Several {
        /// Who is reached in several ways.
        receiver: NodeId,
        /// Two of them, by their switches.
        ways: [Vec<u16>; 2],
    },
}

/// How far a switch is from the sender's `[link]`, and the links by which the shortest ways come to it.
struct Reached {
    distance: usize,
    by: Vec<usize>,
}

impl Wiring {
    /// True for one switch whose links are all as the segment says.
    pub fn is_plain(&self) -> bool {
        self.switches == 1 && self.stations.is_empty()
    }

    /// The switch of a node on the segment.
    pub fn switch_of(&self, node: NodeId) -> u16 {
        self.own_link(node).map_or(0, |link| link.switch)
    }

    /// The link of a node if it differs from that which the segment says.
    pub fn own_link(&self, node: NodeId) -> Option<&StationLink> {
        let place = self.stations.binary_search_by_key(&node, |link| link.node).ok()?;
        self.stations.get(place)
    }

    /// The shortest way from one node to others: the sender's switch first, every other one behind the switch it follows. With
    /// `over`, only these switches are passed, and those of other receivers only where there is no way without them.
    ///
    /// # Errors
    /// [`RouteError`] if a receiver is not reached, or in several ways that are equally short: nothing says which of them was
    /// meant, and the bounds of all streams there depend on it.
    pub fn route(&self, over: Option<&[u16]>, from: NodeId, to: &[NodeId]) -> Result<Vec<SwitchHop>, RouteError> {
        let first = self.switch_of(from);
        let is_named = |switch: u16| switch == first || over.is_none_or(|over| over.contains(&switch));
        let is_end = |switch: u16| to.iter().any(|receiver| self.switch_of(*receiver) == switch);
        let by_all = self.reach(first, &|switch| is_named(switch) || is_end(switch));
        if over.is_some() && to.len() > 1 {
            let way = |&receiver: &NodeId| {
                let last = self.switch_of(receiver);
                let by_named = self.reach(first, &|switch| is_named(switch) || switch == last);
                match self.way_to(&by_named, receiver) {
                    Err(RouteError::None { .. }) => self.way_to(&by_all, receiver),
                    way => way,
                }
            };
            let ways: Result<Vec<_>, RouteError> = to.iter().map(way).collect();
            // Ways that part and meet again would bring a frame twice.
            if let Some(hops) = self.tree(first, to, &ways?) {
                return Ok(hops);
            }
        }
        let ways: Result<Vec<_>, RouteError> = to.iter().map(|receiver| self.way_to(&by_all, *receiver)).collect();
        let ways = ways?;
        let none = || RouteError::None { receiver: to.first().copied().unwrap_or(from) };
        self.tree(first, to, &ways).ok_or_else(none)
    }

    /// The way from one node to others over these switches, one after the other, between that of the sender and that of the receivers.
    ///
    /// # Errors
    /// [`RouteError::None`] if two of them that follow one another are not joined, or a receiver is not at the last one.
    pub fn route_along(&self, over: &[u16], from: NodeId, to: &[NodeId]) -> Result<Vec<SwitchHop>, RouteError> {
        let none = || RouteError::None { receiver: to.first().copied().unwrap_or(from) };
        let last = to.first().map_or(0, |receiver| self.switch_of(*receiver));
        let mut hops = vec![SwitchHop::new(self.switch_of(from), None)];
        let others = over.iter().copied().chain([last]).filter(|_| !(over.is_empty() && last == hops[0].switch));
        for next in others.collect::<Vec<_>>() {
            let at = hops.len() - 1;
            let ends = [hops[at].switch.min(next), hops[at].switch.max(next)];
            let trunk = self.trunks.iter().position(|trunk| trunk.ends == ends).ok_or_else(none)?;
            hops[at].onward.push(trunk);
            hops.push(SwitchHop::new(next, Some(trunk)));
        }
        let end = hops.last_mut().ok_or_else(none)?;
        let elsewhere = to.iter().find(|receiver| self.switch_of(**receiver) != last);
        if let Some(receiver) = elsewhere {
            return Err(RouteError::None { receiver: *receiver });
        }
        end.to = to.to_vec();
        Ok(hops)
    }

    /// What each switch does for these ways from the first one, each to one receiver; `None` if they meet again after they parted.
    fn tree(&self, first: u16, to: &[NodeId], ways: &[Vec<usize>]) -> Option<Vec<SwitchHop>> {
        let mut hops = vec![SwitchHop::new(first, None)];
        for (&receiver, way) in to.iter().zip(ways) {
            let mut at = 0;
            for &trunk in way {
                let next = self.trunks[trunk].from(hops[at].switch);
                at = match hops.iter().position(|hop| hop.switch == next) {
                    Some(known) if hops[at].onward.contains(&trunk) => known,
                    Some(_) => return None,
                    None => {
                        hops[at].onward.push(trunk);
                        hops.push(SwitchHop::new(next, Some(trunk)));
                        hops.len() - 1
                    }
                };
            }
            hops[at].to.push(receiver);
        }
        Some(hops)
    }

    /// The switches that no links join with the first one, or with the first one of their network.
    pub fn apart(&self) -> Vec<u16> {
        let first_of_b = (0..self.switches).find(|switch| self.is_of_b(*switch)).unwrap_or_default();
        let [in_a, in_b] = [0, first_of_b].map(|first| self.reach(first, &|_| true));
        let is_apart = |switch: &u16| if self.is_of_b(*switch) { &in_b } else { &in_a }[usize::from(*switch)].is_none();
        (0..self.switches).filter(is_apart).collect()
    }

    /// The links between switches from one switch to another, one of the shortest ways.
    pub fn way_between(&self, from: u16, to: u16) -> Vec<usize> {
        let reached = self.reach(from, &|_| true);
        self.ways(&reached, to, 1).into_iter().next().unwrap_or_default()
    }

    fn reach(&self, first: u16, may_pass: &dyn Fn(u16) -> bool) -> Vec<Option<Reached>> {
        let mut reached: Vec<Option<Reached>> = (0..self.switches).map(|_| None).collect();
        if let Some(place) = reached.get_mut(usize::from(first)) {
            *place = Some(Reached { distance: 0, by: Vec::new() });
        }
        let mut edge = vec![first];
        for distance in 1.. {
            let mut next = Vec::new();
            for &switch in &edge {
                for (index, trunk) in self.trunks.iter().enumerate().filter(|(_, trunk)| trunk.ends.contains(&switch)) {
                    let other = trunk.from(switch);
                    if !may_pass(other) {
                        continue;
                    }
                    let entry = reached[usize::from(other)].get_or_insert_with(|| {
                        next.push(other);
                        Reached { distance, by: Vec::new() }
                    });
                    if entry.distance == distance {
                        entry.by.push(index);
                    }
                }
            }
            if next.is_empty() {
                break;
            }
            edge = next;
        }
        reached
    }

    /// The only shortest way to a node's switch, by its links.
    fn way_to(&self, reached: &[Option<Reached>], receiver: NodeId) -> Result<Vec<usize>, RouteError> {
        let ways = self.ways(reached, self.switch_of(receiver), 2);
        let mut ways = ways.into_iter();
        match (ways.next(), ways.next()) {
            (None, _) => Err(RouteError::None { receiver }),
            (Some(only), None) => Ok(only),
            (Some(one), Some(other)) => {
                let switches = |way: &[usize]| self.switches_of(way, self.switch_of(receiver));
                Err(RouteError::Several { receiver, ways: [switches(&one), switches(&other)] })
            }
        }
    }

    /// The switches that a way passes which ends at one.
    fn switches_of(&self, way: &[usize], last: u16) -> Vec<u16> {
        let mut switches = vec![last];
        for trunk in way.iter().rev() {
            let behind = switches.last().copied().unwrap_or(last);
            switches.push(self.trunks[*trunk].from(behind));
        }
        switches.reverse();
        switches
    }

    /// Up to `most` of the shortest ways to a switch, by their links.
    fn ways(&self, reached: &[Option<Reached>], switch: u16, most: usize) -> Vec<Vec<usize>> {
        let Some(Some(end)) = reached.get(usize::from(switch)) else { return Vec::new() };
        if end.distance == 0 {
            return vec![Vec::new()];
        }
        let mut ways = Vec::new();
        for &trunk in &end.by {
            for mut way in self.ways(reached, self.trunks[trunk].from(switch), most) {
                way.push(trunk);
                ways.push(way);
            }
            if ways.len() >= most {
                break;
            }
        }
        ways.truncate(most);
        ways
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wiring(switches: u16, joined: &[[u16; 2]], nodes: &[u16]) -> Wiring {
        let parameters = LinkParameters { rate: Rate(1_000_000_000), propagation_delay: Duration::ZERO, macsec: None };
        let station =
            |(node, switch): (usize, &u16)| StationLink { node: NodeId(node as u16), switch: *switch, parameters };
        Wiring {
            switches,
            stations: nodes.iter().enumerate().map(station).collect(),
            trunks: joined.iter().map(|ends| Trunk { ends: *ends, parameters }).collect(),
            ..Wiring::default()
        }
    }

    /// Switches 0 to 3 in a ring, node `n` at switch `n`.
    fn ring() -> Wiring {
        wiring(4, &[[0, 1], [0, 3], [1, 2], [2, 3]], &[0, 1, 2, 3])
    }

    fn nodes(nodes: &[u16]) -> Vec<NodeId> {
        nodes.iter().copied().map(NodeId).collect()
    }

    #[test]
    fn a_route_is_the_tree_of_the_shortest_ways() {
        // A row of four with a side branch at the second: 0 - 1 - 2 - 3, 1 - 4.
        let wiring = wiring(5, &[[0, 1], [1, 2], [1, 4], [2, 3]], &[0, 1, 2, 3, 4, 3]);
        let route = wiring.route(None, NodeId(0), &nodes(&[4, 3, 1, 5])).unwrap();
        let hops: Vec<_> =
            route.iter().map(|hop| (hop.switch, hop.trunk, hop.to.clone(), hop.onward.clone())).collect();
        assert_eq!(
            hops,
            [
                (0, None, vec![], vec![0]),
                (1, Some(0), nodes(&[1]), vec![2, 1]),
                (4, Some(2), nodes(&[4]), vec![]),
                (2, Some(1), vec![], vec![3]),
                (3, Some(3), nodes(&[3, 5]), vec![])
            ]
        );
    }

    #[test]
    fn two_ways_of_one_length_are_none_until_one_is_chosen() {
        let ring = ring();
        let across = |over: Option<&[u16]>| ring.route(over, NodeId(0), &nodes(&[2]));
        let ways = [vec![0, 1, 2], vec![0, 3, 2]];
        assert_eq!(across(None), Err(RouteError::Several { receiver: NodeId(2), ways }));
        for middle in [1, 3] {
            let route = across(Some(&[middle])).unwrap();
            assert_eq!(route.iter().map(|hop| hop.switch).collect::<Vec<_>>(), [0, middle, 2]);
        }
        assert_eq!(across(Some(&[])), Err(RouteError::None { receiver: NodeId(2) }), "no switch may be between");
        // A neighbour is nearer one way, and a switch that may not be passed still has its own nodes.
        assert_eq!(ring.route(None, NodeId(0), &nodes(&[1])).unwrap().len(), 2);
        assert_eq!(ring.route(Some(&[]), NodeId(0), &nodes(&[1])).unwrap().len(), 2);
    }

    #[test]
    fn a_receiver_beside_the_way_does_not_make_it_one_of_two() {
        // Node 3 is at the neighbour over which the other way to node 2 leads.
        let route = ring().route(Some(&[1]), NodeId(0), &nodes(&[2, 3])).unwrap();
        assert_eq!(route.iter().map(|hop| hop.switch).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert_eq!(route[3].to, nodes(&[3]));
        // Where there is no other way, the switch of another receiver is passed.
        let row = wiring(3, &[[0, 1], [1, 2]], &[0, 1, 2]);
        assert_eq!(row.route(Some(&[]), NodeId(0), &nodes(&[2, 1])).unwrap().len(), 3);
    }

    #[test]
    fn a_node_at_the_senders_switch_is_reached_over_it_alone() {
        let wiring = wiring(2, &[[0, 1]], &[1, 1, 0]);
        let route = wiring.route(None, NodeId(0), &nodes(&[1])).unwrap();
        assert_eq!(route, [SwitchHop { to: nodes(&[1]), ..SwitchHop::new(1, None) }]);
    }

    #[test]
    fn switches_without_a_link_are_apart() {
        assert_eq!(wiring(4, &[[0, 1], [2, 3]], &[]).apart(), [2, 3]);
        assert!(ring().apart().is_empty() && Wiring::default().apart().is_empty());
    }

    #[test]
    fn many_ways_are_not_all_looked_for() {
        // Ladder: twice as many shortest ways with every rung.
        let joined: Vec<[u16; 2]> = (0..20u16)
            .flat_map(|rung| {
                let [left, right, next] = [3 * rung + 1, 3 * rung + 2, 3 * rung + 3];
                [[3 * rung, left], [3 * rung, right], [left, next], [right, next]]
            })
            .collect();
        let ladder = wiring(61, &joined, &[0, 60]);
        assert!(matches!(ladder.route(None, NodeId(0), &nodes(&[1])), Err(RouteError::Several { .. })));
    }
}
