//! What flows bring to a server, from how long the queues before it delay them at most.
//!
//! A flow that some queue delays by at most `D` brings `a(t + D)` to the next; frames count when their last bit is there. What comes over one link comes no faster than
//! the link carries it, so flows that come from one server together bring at most `C t` and one frame: without it the
//! analysis is the classic total flow analysis, with it that of grouped flows (ARINC 664 tools; Grieu 2004; "TFA with
//! line shaping": Mifdaoui, Leydier 2017; Thomas, Le Boudec, Mifdaoui 2019).
//!
//! Each server is computed once, so thousands of flows take no time worth mentioning; exact numbers grow along the way,
//! and a [`Grid`] keeps them short. It also makes circles of flows possible: delays that do not change any more when every
//! server is computed again from them are bounds (Thomas, Le Boudec, Mifdaoui, "On cyclic dependencies and regulators in
//! time-sensitive networks", RTSS 2019), and on a grid they are found in finitely many steps or not at all.

use super::arrival::{ArrivalCurve, Bucket};
use super::cross::{CrossTraffic, upstream};
use super::flow::waits;
use super::network::{Multiplexing, Network, Visit};
use super::rational::{Grid, Rational};
use super::unbounded::Unbounded;

/// Times every server of a circle of flows is computed again before their delays count as growing without end.
const ROUNDS_MAX: u32 = 1_000;

/// How far to go.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Settings {
    /// True to use that a link's rate limits what comes over it, where it is known.
    pub uses_links: bool,
    /// Rounds up between servers; needed for circles of flows. `None` is exact.
    pub grid: Option<Grid>,
}

/// Bounds what flows bring to servers by how long they were delayed.
#[derive(Debug)]
pub struct Delayed<'a> {
    network: &'a Network,
    multiplexing: Multiplexing,
    settings: Settings,
    /// By flow and hop.
    arrivals: Vec<Vec<Result<ArrivalCurve, Unbounded>>>,
}

impl<'a> Delayed<'a> {
    /// Computes every server of a network.
    ///
    /// # Errors
    /// If flows close a circle and there is no grid, or their delays grow without end. What has no bound elsewhere is said of
    /// the servers and flows it concerns.
    pub fn new(network: &'a Network, multiplexing: Multiplexing, settings: Settings) -> Result<Self, Unbounded> {
        let at_first = network.flows().iter().map(|flow| vec![Ok(flow.arrival.clone()); flow.hops.len()]).collect();
        let mut found = Self { network, multiplexing, settings, arrivals: at_first };
        match network.order() {
            Ok(order) => {
                for server in order {
                    let delay = found.delay(*server);
                    found.hand_on(*server, &delay);
                }
                Ok(found)
            }
            Err(servers) if found.settings.grid.is_none() => Err(Unbounded::Cycle { servers }),
            Err(servers) => found.settled(servers),
        }
    }

    /// Computes all servers from one another until nothing changes.
    fn settled(mut self, circle: Vec<String>) -> Result<Self, Unbounded> {
        let servers = 0..self.network.servers().len();
        let mut before: Vec<Result<Rational, Unbounded>> = Vec::new();
        for _ in 0..ROUNDS_MAX {
            let delays: Vec<_> = servers.clone().map(|server| self.delay(server)).collect();
            if delays == before {
                return Ok(self);
            }
            for (server, delay) in servers.clone().zip(&delays) {
                self.hand_on(server, delay);
            }
            before = delays;
        }
        Err(Unbounded::Diverges { servers: circle })
    }

    fn delay(&mut self, server: usize) -> Result<Rational, Unbounded> {
        let flows: Vec<usize> = self.network.visits(server).iter().map(|visit| visit.flow).collect();
        let arrival = self.at(&flows, server)?;
        let delay = waits(self, server, flows.len(), &arrival)?;
        Ok(match &self.settings.grid {
            Some(grid) => grid.later(&delay),
            None => delay,
        })
    }

    /// What all flows at a server bring to their next ones.
    fn hand_on(&mut self, server: usize, delay: &Result<Rational, Unbounded>) {
        for visit in self.network.visits(server) {
            let hops = &self.network.flows()[visit.flow].hops;
            for (next, _) in hops.iter().enumerate().filter(|(_, hop)| hop.after == Some(visit.hop)) {
                let brought = match (&self.arrivals[visit.flow][visit.hop], delay) {
                    (Ok(arrival), Ok(delay)) => {
                        let later = arrival.delayed(delay);
                        Ok(self.settings.grid.as_ref().map_or_else(|| later.clone(), |grid| later.rounded_up(grid)))
                    }
                    (Err(because), _) | (_, Err(because)) => Err(upstream(self.network, hops[next].server, because)),
                };
                self.arrivals[visit.flow][next] = brought;
            }
        }
    }

    /// What a group of flows brings over one link, or what begins here.
    fn group(&self, visits: &[Visit]) -> Result<ArrivalCurve, Unbounded> {
        let mut sum = ArrivalCurve::zero();
        for visit in visits {
            sum = sum.plus(self.arrivals[visit.flow][visit.hop].as_ref().map_err(Clone::clone)?);
        }
        let link = visits.first().and_then(|visit| visit.from).filter(|_| self.settings.uses_links);
        let rate = link.and_then(|before| self.network.servers()[before].link_rate.clone());
        let Some(rate) = rate else { return Ok(sum) };
        let burst = self.network.longest_frame(visits.iter().map(|visit| visit.flow));
        Ok(sum.least(&ArrivalCurve::envelope(vec![Bucket { rate, burst }])))
    }
}

impl<'a> CrossTraffic<'a> for Delayed<'a> {
    fn network(&self) -> &'a Network {
        self.network
    }

    fn multiplexing(&self) -> Multiplexing {
        self.multiplexing
    }

    fn at(&mut self, flows: &[usize], server: usize) -> Result<ArrivalCurve, Unbounded> {
        let mut visits: Vec<Visit> = flows.iter().filter_map(|flow| self.network.visit(*flow, server)).collect();
        visits.sort_by_key(|visit| (visit.from, visit.flow));
        let mut sum = ArrivalCurve::zero();
        for group in visits.chunk_by(|a, b| a.from == b.from) {
            sum = sum.plus(&self.group(group)?);
        }
        Ok(sum)
    }
}
