//! Servers, the flows that pass them, and in which order servers can be computed.

use std::collections::BTreeMap;

use super::arrival::ArrivalCurve;
use super::rational::Rational;
use super::service::ServiceCurve;
use super::unbounded::{InvalidNetwork, Unbounded};

/// In which order a server serves what waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Multiplexing {
    /// In the order of arrival.
    Fifo,
    /// In any order; of each flow by itself first what comes first.
    Arbitrary,
}

/// One queue with what serves it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Server {
    /// What messages call it.
    pub name: String,
    /// What it carries.
    pub service: ServiceCurve,
    /// True if the service curve holds for every interval in which something waits, as that of a link does. False if it
    /// only holds from the start of a busy period, as that of a shaper does.
    pub is_strict: bool,
    /// Rate of the link behind it: what leaves it comes no faster. `None` if that is not known or not to be used.
    pub link_rate: Option<Rational>,
    /// A constant time after it, which adds to delays and changes no order: propagation, or a switch's own time.
    pub constant: Rational,
    /// How much longer than `constant` that may take, from frame to frame anew: one frame may overtake another there.
    pub varying: Rational,
    /// Why nothing is known of what it carries; `service` counts for nothing then.
    pub refused: Option<Unbounded>,
}

impl Server {
    /// A server with a strict service curve and nothing else.
    pub fn new(name: impl Into<String>, service: ServiceCurve) -> Self {
        let zero = super::whole(0);
        let (constant, varying) = (zero.clone(), zero);
        Self { name: name.into(), service, is_strict: true, link_rate: None, constant, varying, refused: None }
    }

    /// A server of which nothing is known, and why. What passes it has no bound, for this reason.
    pub fn refused(name: impl Into<String>, why: Unbounded) -> Self {
        Self { refused: Some(why), ..Self::new(name, ServiceCurve::envelope(Vec::new())) }
    }
}

/// A server on a flow's way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hop {
    /// Which server, by its place in the list.
    pub server: usize,
    /// The hop from which the flow comes; `None` where it begins.
    pub after: Option<usize>,
}

/// A flow on its way, which branches where it is multicast.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Flow {
    /// What messages call it.
    pub name: String,
    /// What it sends.
    pub arrival: ArrivalCurve,
    /// Its longest frame, which every server hands over whole to the next; zero if data flows bit by bit.
    pub longest_frame: Rational,
    /// Its hops, each after the one it follows.
    pub hops: Vec<Hop>,
}

impl Flow {
    /// A flow that passes these servers, one after the other.
    pub fn along(name: impl Into<String>, arrival: ArrivalCurve, servers: &[usize]) -> Self {
        let hop = |(index, server): (usize, &usize)| Hop { server: *server, after: index.checked_sub(1) };
        let hops = servers.iter().enumerate().map(hop).collect();
        Self { name: name.into(), arrival, longest_frame: super::whole(0), hops }
    }

    /// Hops that no other follows: where it ends.
    pub fn ends(&self) -> impl Iterator<Item = usize> + '_ {
        let is_last = |hop: &usize| self.hops.iter().all(|other| other.after != Some(*hop));
        (0..self.hops.len()).filter(is_last)
    }
}

/// A flow at a server.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Visit {
    pub(super) flow: usize,
    pub(super) hop: usize,
    /// The server it comes from.
    pub(super) from: Option<usize>,
}

/// Servers and flows that fit together.
#[derive(Clone, Debug)]
pub struct Network {
    servers: Vec<Server>,
    flows: Vec<Flow>,
    visits: Vec<Vec<Visit>>,
    /// Servers that depend on no circle of flows, each after those it gets flows from.
    order: Vec<usize>,
    /// A circle, if there is one.
    circle: Vec<usize>,
}

impl Network {
    /// Checks the flows against the servers.
    ///
    /// # Errors
    /// If a flow passes no server, one that does not exist, or one twice, or its hops are not in order.
    pub fn new(servers: Vec<Server>, flows: Vec<Flow>) -> Result<Self, InvalidNetwork> {
        let mut visits: Vec<Vec<Visit>> = vec![Vec::new(); servers.len()];
        for (index, flow) in flows.iter().enumerate() {
            let name = || flow.name.clone();
            if flow.hops.is_empty() {
                return Err(InvalidNetwork::NoHops { flow: name() });
            }
            for (number, hop) in flow.hops.iter().enumerate() {
                if let Some(after) = hop.after.filter(|after| *after >= number) {
                    return Err(InvalidNetwork::HopOrder { flow: name(), hop: number, after });
                }
                let count = servers.len();
                let Some(here) = visits.get_mut(hop.server) else {
                    return Err(InvalidNetwork::UnknownServer {
                        flow: name(),
                        hop: number,
                        server: hop.server,
                        servers: count,
                    });
                };
                if here.last().is_some_and(|visit| visit.flow == index) {
                    return Err(InvalidNetwork::Twice { flow: name(), server: servers[hop.server].name.clone() });
                }
                let from = hop.after.map(|after| flow.hops[after].server);
                here.push(Visit { flow: index, hop: number, from });
            }
        }
        let (order, circle) = in_order(servers.len(), &visits);
        Ok(Self { servers, flows, visits, order, circle })
    }

    /// The servers, in the order in which they were given.
    pub fn servers(&self) -> &[Server] {
        &self.servers
    }

    /// The flows, in the order in which they were given.
    pub fn flows(&self) -> &[Flow] {
        &self.flows
    }

    /// Servers of a flow from its start to one of its hops.
    pub fn path(&self, flow: usize, end: usize) -> Vec<usize> {
        let hops = &self.flows[flow].hops;
        let mut path: Vec<usize> =
            std::iter::successors(Some(end), |hop| hops[*hop].after).map(|hop| hops[hop].server).collect();
        path.reverse();
        path
    }

    pub(super) fn visits(&self, server: usize) -> &[Visit] {
        &self.visits[server]
    }

    /// The servers, each after those it gets flows from; or those of a circle.
    pub(super) fn order(&self) -> Result<&[usize], Vec<String>> {
        if self.circle.is_empty() {
            return Ok(&self.order);
        }
        Err(self.circle.iter().map(|one| self.servers[*one].name.clone()).collect())
    }

    /// Servers to which flows come neither from a circle nor from behind one.
    pub(super) fn before_circles(&self) -> &[usize] {
        &self.order
    }

    /// True if frames of one flow may overtake one another on these servers' way.
    pub(super) fn varies(&self, path: &[usize]) -> bool {
        path.iter().any(|server| !self.servers[*server].varying.is_zero())
    }

    /// Where a flow comes from to a server; `None` if it does not pass it.
    pub(super) fn visit(&self, flow: usize, server: usize) -> Option<Visit> {
        let visits = &self.visits[server];
        visits.binary_search_by_key(&flow, |visit| visit.flow).ok().map(|found| visits[found])
    }

    /// Flows at a server, by where they come from.
    pub(super) fn by_origin(&self, flows: &[usize], server: usize) -> BTreeMap<Option<usize>, Vec<usize>> {
        let mut groups: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
        for visit in flows.iter().filter_map(|flow| self.visit(*flow, server)) {
            groups.entry(visit.from).or_default().push(visit.flow);
        }
        groups
    }

    /// The longest frame of some flows; zero if all flow bit by bit.
    pub(super) fn longest_frame(&self, flows: impl IntoIterator<Item = usize>) -> Rational {
        let frames = flows.into_iter().map(|flow| &self.flows[flow].longest_frame);
        frames.max().cloned().unwrap_or_else(|| super::whole(0))
    }

    /// The longest frame of all flows at a server.
    pub(super) fn longest_frame_at(&self, server: usize) -> Rational {
        self.longest_frame(self.visits[server].iter().map(|visit| visit.flow))
    }

    /// All flows at a server but these, which are in order.
    pub(super) fn others(&self, server: usize, but: &[usize]) -> Vec<usize> {
        self.visits[server].iter().map(|visit| visit.flow).filter(|flow| but.binary_search(flow).is_err()).collect()
    }
}

fn in_order(servers: usize, visits: &[Vec<Visit>]) -> (Vec<usize>, Vec<usize>) {
    let mut before: Vec<Vec<usize>> = Vec::with_capacity(servers);
    for here in visits {
        let mut from: Vec<usize> = here.iter().filter_map(|visit| visit.from).collect();
        from.sort_unstable();
        from.dedup();
        before.push(from);
    }
    let mut after = vec![Vec::new(); servers];
    for (server, from) in before.iter().enumerate() {
        for origin in from {
            after[*origin].push(server);
        }
    }
    let mut missing: Vec<usize> = before.iter().map(Vec::len).collect();
    let mut order: Vec<usize> = (0..servers).filter(|server| missing[*server] == 0).collect();
    let mut next = 0;
    while let Some(server) = order.get(next).copied() {
        next += 1;
        for follower in &after[server] {
            missing[*follower] -= 1;
            if missing[*follower] == 0 {
                order.push(*follower);
            }
        }
    }
    if order.len() == servers {
        return (order, Vec::new());
    }
    // Whatever is left waits for something that is left: going back from any of it leads into a circle.
    let left = |server: &usize| missing[*server] > 0;
    let mut way: Vec<usize> = (0..servers).find(left).into_iter().collect();
    while let Some(origin) = way.last().and_then(|last| before[*last].iter().copied().find(left)) {
        if let Some(start) = way.iter().position(|one| *one == origin) {
            let mut circle = way.split_off(start);
            circle.reverse();
            return (order, circle);
        }
        way.push(origin);
    }
    (order, way)
}
