//! What flows bring to a server, from how long the queues before it delay them at most.
//!
//! A flow that some queue delays by at most `D` brings `a(t + D)` to the next; frames count when their last bit is there. What
//! comes over one link comes no faster than the link carries it, so flows that come from one server together bring at most
//! `C t` and one frame, and what passes meanwhile if what follows takes a time that varies: without it the
//! analysis is the classic total flow analysis, with it that of grouped flows (ARINC 664 tools; Grieu 2004; "TFA with
//! line shaping": Mifdaoui, Leydier 2017; Thomas, Le Boudec, Mifdaoui 2019).
//!
//! Each server is computed once, so thousands of flows take no time worth mentioning; exact numbers grow along the way,
//! and a [`Grid`] keeps them short. It also makes circles of flows possible: delays that do not change any more when every
//! server is computed again from them are bounds (Thomas, Le Boudec, Mifdaoui, "On cyclic dependencies and regulators in
//! time-sensitive networks", RTSS 2019), and on a grid they are found in finitely many steps or not at all.

use super::arrival::{ArrivalCurve, Bucket};
use super::cross::{CrossTraffic, upstream, waiting};
use super::flow::Bound;
use super::network::{Multiplexing, Network, Visit};
use super::rational::{Grid, Rational};
use super::unbounded::Unbounded;

/// Times every server of a circle of flows is computed again before their delays count as growing without end.
const ROUNDS_MAX: u32 = 300;
/// Circles that settle within fewer rounds are not guessed at.
const GUESSES_FROM: u32 = 32;

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
    /// By server.
    groups: Vec<Result<Vec<Group>, Unbounded>>,
    /// By server.
    bounds: Vec<Bound>,
}

/// What comes to a server over one link, or begins there.
#[derive(Clone, Debug)]
struct Group {
    from: Option<usize>,
    /// All flows of it, as if no link were there.
    sum: ArrivalCurve,
    /// The longest frame, and the longest of all flows but its own.
    longest: [(Rational, Option<usize>); 2],
    /// What all other groups bring, each over its link.
    others: ArrivalCurve,
}

impl<'a> Delayed<'a> {
    /// Computes every server of a network.
    ///
    /// # Errors
    /// If flows close a circle and there is no grid. What else has no bound is said of the servers and flows it concerns: on a
    /// circle whose delays grow without end, all that is on it or behind it.
    pub fn new(network: &'a Network, multiplexing: Multiplexing, settings: Settings) -> Result<Self, Unbounded> {
        let servers = network.servers().len();
        let arrivals = network.flows().iter().map(|flow| vec![Ok(flow.arrival.clone()); flow.hops.len()]).collect();
        let nothing = Bound { delay: Ok(Rational::zero()), backlog: Ok(Rational::zero()) };
        let (groups, bounds) = (vec![Ok(Vec::new()); servers], vec![nothing; servers]);
        let mut found = Self { network, multiplexing, settings, arrivals, groups, bounds };
        match network.order() {
            Ok(order) => {
                for server in order {
                    found.compute(*server);
                    found.hand_on(*server);
                }
                Ok(found)
            }
            Err(servers) if found.settings.grid.is_none() => Err(Unbounded::Cycle { servers }),
            Err(servers) => Ok(found.settled(servers)),
        }
    }

    /// Computes all servers from one another until nothing changes, or until they stay below a guess of where that leads:
    /// delays from which no greater ones are computed are bounds too, since those that do not change any more are not above them.
    fn settled(mut self, circle: Vec<String>) -> Self {
        let servers = 0..self.network.servers().len();
        let mut grown = Rational::zero();
        for round in 1..=ROUNDS_MAX {
            let before: Vec<_> = self.bounds.iter().map(|bound| bound.delay.clone()).collect();
            servers.clone().for_each(|server| self.compute(server));
            if self.bounds.iter().map(|bound| &bound.delay).eq(&before) {
                return self;
            }
            let steps = self.steps(&before);
            let step: Rational = steps.iter().sum();
            if round >= GUESSES_FROM && round.is_power_of_two() && step < grown {
                let bounds = self.bounds.clone();
                // Steps that go on shrinking as the last one did add up to this, and as much again for those that shrink less.
                let rest = &step / (&grown - &step) * super::whole(2);
                if self.stays_below(&steps, &rest) {
                    return self;
                }
                self.bounds = bounds;
            }
            grown = step;
            self.hand_all_on();
        }
        let because = Unbounded::Diverges { servers: circle };
        for server in servers.clone().filter(|server| !self.network.before_circles().contains(server)) {
            self.bounds[server] = Bound::none(&because);
            self.groups[server] = Err(because.clone());
        }
        self.hand_all_on();
        self
    }

    /// By how much each server's delay has grown.
    fn steps(&self, before: &[Result<Rational, Unbounded>]) -> Vec<Rational> {
        let step = |(bound, before): (&Bound, &Result<Rational, Unbounded>)| match (&bound.delay, before) {
            (Ok(now), Ok(before)) => now - before,
            _ => Rational::zero(),
        };
        self.bounds.iter().zip(before).map(step).collect()
    }

    /// Lets each delay grow by `rest` times its last step, and tells whether what is computed from that is no more.
    fn stays_below(&mut self, steps: &[Rational], rest: &Rational) -> bool {
        for (bound, step) in self.bounds.iter_mut().zip(steps) {
            let more = match &self.settings.grid {
                Some(grid) => grid.later(&(step * rest)),
                None => step * rest,
            };
            bound.delay = bound.delay.clone().map(|delay| delay + more);
        }
        let guessed: Vec<_> = self.bounds.iter().map(|bound| bound.delay.clone()).collect();
        self.hand_all_on();
        (0..guessed.len()).for_each(|server| self.compute(server));
        self.bounds.iter().zip(&guessed).all(|(bound, guessed)| match (&bound.delay, guessed) {
            (Ok(now), Ok(guessed)) => now <= guessed,
            (now, guessed) => now == guessed,
        })
    }

    /// What comes to a server, and how long it waits.
    fn compute(&mut self, server: usize) {
        let mut visits = self.network.visits(server).to_vec();
        visits.sort_by_key(|visit| (visit.from, visit.flow));
        let groups: Result<Vec<Group>, Unbounded> =
            visits.chunk_by(|a, b| a.from == b.from).map(|group| self.group(group)).collect();
        let mut groups = match groups {
            Ok(groups) => groups,
            Err(because) => {
                self.bounds[server] = Bound::none(&upstream(self.network, server, &because));
                self.groups[server] = Err(because);
                return;
            }
        };
        let brought: Vec<ArrivalCurve> =
            groups.iter().map(|group| self.over_link(group.from, &group.sum, &group.longest[0].0)).collect();
        // What the groups before one bring, and those behind it: all others of each are added up in two steps, however many there are.
        let mut behind = vec![ArrivalCurve::zero()];
        for one in brought.iter().skip(1).rev() {
            behind.push(behind[behind.len() - 1].plus(one));
        }
        let mut sum = ArrivalCurve::zero();
        for ((group, one), behind) in groups.iter_mut().zip(&brought).zip(behind.iter().rev()) {
            group.others = sum.plus(behind);
            sum = sum.plus(one);
        }
        let mut bound = waiting(self.network, self.multiplexing, server, &sum);
        if let Some(grid) = &self.settings.grid {
            bound.delay = bound.delay.map(|delay| grid.later(&delay));
        }
        self.bounds[server] = bound;
        self.groups[server] = Ok(groups);
    }

    /// What all flows at a server bring to their next ones.
    fn hand_on(&mut self, server: usize) {
        for visit in self.network.visits(server) {
            let hops = &self.network.flows()[visit.flow].hops;
            for (next, _) in hops.iter().enumerate().filter(|(_, hop)| hop.after == Some(visit.hop)) {
                self.arrivals[visit.flow][next] = self.handed_on(visit.flow, visit.hop, next);
            }
        }
    }

    /// What all flows bring to all their servers. Each goes along its own way, so that nothing depends on the order of servers.
    fn hand_all_on(&mut self) {
        for (index, flow) in self.network.flows().iter().enumerate() {
            for (next, hop) in flow.hops.iter().enumerate() {
                if let Some(before) = hop.after {
                    self.arrivals[index][next] = self.handed_on(index, before, next);
                }
            }
        }
    }

    /// What a flow brings from one of its hops to the next.
    fn handed_on(&self, flow: usize, hop: usize, next: usize) -> Result<ArrivalCurve, Unbounded> {
        let hops = &self.network.flows()[flow].hops;
        let server = hops[hop].server;
        match (&self.arrivals[flow][hop], &self.bounds[server].delay) {
            (Ok(arrival), Ok(delay)) => {
                let later = arrival.delayed(&(delay + &self.network.servers()[server].varying));
                Ok(match &self.settings.grid {
                    Some(grid) => later.rounded_up(grid),
                    None => later,
                })
            }
            (Err(because), _) | (_, Err(because)) => Err(upstream(self.network, hops[next].server, because)),
        }
    }

    fn group(&self, visits: &[Visit]) -> Result<Group, Unbounded> {
        let mut sum = ArrivalCurve::zero();
        let mut longest = [(Rational::zero(), None), (Rational::zero(), None)];
        for visit in visits {
            sum = sum.plus(self.arrivals[visit.flow][visit.hop].as_ref().map_err(Clone::clone)?);
            let frame = &self.network.flows()[visit.flow].longest_frame;
            if *frame > longest[0].0 {
                longest.swap(0, 1);
                longest[0] = (frame.clone(), Some(visit.flow));
            } else if *frame > longest[1].0 {
                longest[1] = (frame.clone(), Some(visit.flow));
            }
        }
        let from = visits.first().and_then(|visit| visit.from);
        Ok(Group { from, sum, longest, others: ArrivalCurve::zero() })
    }

    /// No more than the link carries, if it is known and used.
    fn over_link(&self, from: Option<usize>, sum: &ArrivalCurve, longest: &Rational) -> ArrivalCurve {
        let link = from.filter(|_| self.settings.uses_links);
        let before = link.map(|before| &self.network.servers()[before]);
        match before.and_then(|before| Some((before.link_rate.clone()?, &before.varying))) {
            Some((rate, varying)) => {
                let burst = longest + &rate * varying;
                sum.least(&ArrivalCurve::envelope(vec![Bucket { rate, burst }]))
            }
            None => sum.clone(),
        }
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
        for visits in visits.chunk_by(|a, b| a.from == b.from) {
            let group = self.group(visits)?;
            sum = sum.plus(&self.over_link(group.from, &group.sum, &group.longest[0].0));
        }
        Ok(sum)
    }

    fn crossing(&mut self, server: usize, own: usize, before: Option<usize>) -> Result<ArrivalCurve, Unbounded> {
        let _ = before;
        let Some(visit) = self.network.visit(own, server) else { return Ok(ArrivalCurve::zero()) };
        let groups = self.groups[server].as_ref().map_err(Clone::clone)?;
        let arrival = self.arrivals[own][visit.hop].as_ref().map_err(Clone::clone)?;
        let Some(group) = groups.iter().find(|group| group.from == visit.from) else { return Ok(ArrivalCurve::zero()) };
        let Some(rest) = group.sum.minus_bucket(arrival) else {
            // Curves of several pieces are added up anew.
            let others = self.network.others(server, &[own]);
            return self.at(&others, server);
        };
        let longest = &group.longest[usize::from(group.longest[0].1 == Some(own))].0;
        Ok(group.others.plus(&self.over_link(group.from, &rest, longest)))
    }

    fn server(&mut self, server: usize) -> Bound {
        self.bounds[server].clone()
    }
}
