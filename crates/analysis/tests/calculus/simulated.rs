//! Random small networks, really sent through: nothing takes longer, and nowhere waits more, than any analysis says.
//!
//! This reads the proofs of the analyses a second time. Every case is simulated in the order of arrival and in any order,
//! with frames that come as the bucket allows, aligned so that bursts meet, and held against every analysis that
//! claims to bound it.

use std::collections::BTreeMap;

use chronoseal_analysis::calculus::{
    Analysis, ArrivalCurve, Bound, Bucket, CrossTraffic, Delayed, Flow, Grid, Hop, LeftOver, Multiplexing, Network,
    Rational, Server, Settings, Through, Unbounded, ratio, whole,
};

use super::server;
use super::simulation::{Chance, Order, Run, Seen, Source, Station, simulate};

/// Random networks of frames, and as many of single bits.
const CASES: u64 = 1_000;
/// Random networks whose flows close circles.
const RINGS: u64 = 100;

/// What is sent, over what.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) stations: Vec<Station>,
    pub(super) sources: Vec<Source>,
}

/// What a case may have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    pub(super) longest: i64,
    pub(super) is_constant: bool,
    pub(super) is_varying: bool,
    pub(super) is_ring: bool,
    pub(super) classes: i64,
}

/// A case whose fullest server is asked for between 40 and 95 % of what it has.
pub(super) fn case(chance: &mut Chance, kind: Kind) -> Case {
    let servers = chance.within(if kind.is_ring { 3 } else { 1 }, 4) as usize;
    let stations: Vec<Station> = (0..servers)
        .map(|_| Station {
            unit: chance.within(1, 6),
            latency: if kind.classes > 1 || chance.once_in(2) { 0 } else { chance.within(1, 30) },
            constant: if kind.is_constant { chance.within(0, 20) } else { 0 },
            varying: if kind.is_varying && chance.once_in(2) { chance.within(1, 40) } else { 0 },
        })
        .collect();
    let flows = chance.within(2, 5) as usize;
    let mut sources: Vec<Source> = (0..flows)
        .map(|_| {
            let longest = chance.within(1, kind.longest);
            let apart = if chance.once_in(3) { chance.within(1, 4) } else { 0 };
            let hops = if kind.is_ring { around(chance, servers) } else { way(chance, servers) };
            let class = chance.within(0, kind.classes - 1) as usize;
            Source {
                class,
                spaced: chance.within(20, 120),
                burst: longest + chance.within(0, 15),
                longest,
                apart,
                hops,
            }
        })
        .collect();
    let target = chance.within(40, 95);
    // In parts of 10^6.
    let load = |sources: &[Source], server: usize| -> i64 {
        let here = sources.iter().filter(|source| source.hops.iter().any(|hop| hop.0 == server));
        here.map(|source| stations[server].unit * 1_000_000 / source.spaced + 1).sum()
    };
    let most = (0..servers).map(|server| load(&sources, server)).max().unwrap();
    for source in &mut sources {
        source.spaced = (source.spaced * most).div_euclid(target * 10_000) + 1;
    }
    Case { stations, sources }
}

/// A way through some servers, in order; one in four branches.
fn way(chance: &mut Chance, servers: usize) -> Vec<(usize, Option<usize>)> {
    let mut passed: Vec<usize> = (0..servers).filter(|_| !chance.once_in(3)).collect();
    if passed.is_empty() {
        passed.push(chance.within(0, servers as i64 - 1) as usize);
    }
    let mut hops: Vec<(usize, Option<usize>)> =
        passed.iter().enumerate().map(|(at, server)| (*server, at.checked_sub(1))).collect();
    if hops.len() > 2 && chance.once_in(4) {
        let last = hops.len() - 1;
        hops[last].1 = Some(chance.within(0, last as i64 - 2) as usize);
    }
    hops
}

/// A way around a ring, not quite to where it began.
fn around(chance: &mut Chance, servers: usize) -> Vec<(usize, Option<usize>)> {
    let (from, length) = (chance.within(0, servers as i64 - 1) as usize, chance.within(1, servers as i64 - 1) as usize);
    (0..=length.min(servers - 1)).map(|at| ((from + at) % servers, at.checked_sub(1))).collect()
}

impl Case {
    /// As a network. A flow of frames of one unit may also be one of single bits: then a server that finishes units is one
    /// that is later by a unit, and its link is none that carries bit by bit.
    pub(super) fn network(&self, is_fluid: bool) -> Network {
        let make = |(index, station): (usize, &Station)| {
            let (rate, latency) = (ratio(1, station.unit), station.latency + if is_fluid { station.unit } else { 0 });
            let service = server(&[(rate.clone(), whole(latency))]);
            let constant = whole(station.constant);
            let varying = whole(station.varying);
            Server {
                link_rate: (!is_fluid).then_some(rate),
                constant,
                varying,
                ..Server::new(format!("s{index}"), service)
            }
        };
        let flow = |(index, source): (usize, &Source)| {
            let mut buckets = vec![Bucket { rate: ratio(1, source.spaced), burst: whole(source.burst) }];
            if source.apart > 0 {
                buckets.push(Bucket { rate: ratio(1, source.apart), burst: whole(source.longest) });
            }
            let hops = source.hops.iter().map(|(server, after)| Hop { server: *server, after: *after }).collect();
            Flow {
                name: format!("f{index}"),
                arrival: ArrivalCurve::least_of(buckets).unwrap(),
                longest_frame: whole(if is_fluid { 0 } else { source.longest }),
                hops,
            }
        };
        let servers = self.stations.iter().enumerate().map(make).collect();
        Network::new(servers, self.sources.iter().enumerate().map(flow).collect()).unwrap()
    }

    /// Runs in which bursts meet `victim` where ways meet, or somewhere.
    pub(super) fn runs(&self, chance: &mut Chance, order: Order, victim: usize) -> Vec<Run> {
        let travel = |flow: usize, until: usize| -> i64 {
            let (hops, longest) = (&self.sources[flow].hops, self.sources[flow].longest);
            let before = hops.iter().take_while(|hop| hop.0 != until);
            before.map(|(server, _)| self.stations[*server].latency + self.stations[*server].unit * longest).sum()
        };
        let meets = |flow: usize| -> i64 {
            let shared =
                self.sources[flow].hops.iter().find(|hop| self.sources[victim].hops.iter().any(|own| own.0 == hop.0));
            shared.map_or(0, |(server, _)| travel(victim, *server) - travel(flow, *server))
        };
        (0..3)
            .map(|turn| {
                let start = |flow: usize| match turn {
                    0 => 1_000 + if flow == victim { 1 } else { meets(flow) },
                    1 => 1_000 + meets(flow) + chance.within(-20, 20),
                    _ => 1_000 + chance.within(0, 400),
                };
                let starts = (0..self.sources.len()).map(start).collect();
                Run { order, starts, frames: 24, is_greedy: turn != 2 }
            })
            .collect()
    }
}

/// The least that any analysis claims, in whole ticks and units, and which one it was.
#[derive(Clone, Debug, Default)]
struct Claims(BTreeMap<Claim, (i64, String)>);

/// What is bounded: something of a flow up to one of its ends, or of a server.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Claim {
    Delay(usize, usize),
    Underway(usize, usize),
    Stay(usize),
    Waiting(usize),
}

impl Claims {
    /// What is found in whole numbers is within a bound if it is within the whole number below.
    fn add(&mut self, claim: Claim, bound: Result<Rational, Unbounded>, name: impl Fn() -> String) {
        let Ok(bound) = bound else { return };
        let bound: i64 = bound.floor().try_into().unwrap();
        if self.0.get(&claim).is_none_or(|(least, _)| bound < *least) {
            self.0.insert(claim, (bound, name()));
        }
    }

    fn of<'a>(&mut self, name: &str, traffic: &mut impl CrossTraffic<'a>) {
        let network = traffic.network();
        for (index, flow) in network.flows().iter().enumerate() {
            for end in flow.ends() {
                for analysis in Analysis::ALL {
                    let Bound { delay, backlog } = analysis.bound(traffic, index, end);
                    let name = || format!("{analysis:?}, {name}");
                    self.add(Claim::Delay(index, end), delay, name);
                    if analysis != Analysis::TotalFlow {
                        self.add(Claim::Underway(index, end), backlog, name);
                    }
                }
            }
        }
        for index in 0..network.servers().len() {
            let Bound { delay, backlog } = traffic.server(index);
            self.add(Claim::Stay(index), delay, || name.to_owned());
            self.add(Claim::Waiting(index), backlog, || name.to_owned());
        }
    }

    /// Holds what a run has seen against all of them, and tells how near it came: the most `[%]`.
    fn hold(&self, seen: &Seen, what: &dyn Fn() -> String) -> i64 {
        let mut nearest = 0;
        for (claim, (bound, name)) in &self.0 {
            let found = match *claim {
                Claim::Delay(flow, end) => seen.delay[flow][end],
                Claim::Underway(flow, end) => seen.underway[flow][end],
                Claim::Stay(server) => seen.stay[server],
                Claim::Waiting(server) => seen.waiting[server],
            };
            assert!(found <= *bound, "{claim:?}: {found}, and at most {bound} by {name}\n{}", what());
            nearest = nearest.max(100 * found / bound.max(&1));
        }
        nearest
    }
}

/// Sends through random networks of frames, or of single units, and holds all that happens against all analyses.
fn send_through(is_fluid: bool) {
    let mut reached = [0; 2];
    for seed in 0..CASES {
        let mut chance = Chance(2 * seed + u64::from(is_fluid));
        let kind = Kind {
            longest: if is_fluid { 1 } else { 4 },
            is_constant: seed % 3 == 0,
            is_varying: seed % 4 == 0,
            is_ring: false,
            classes: 1,
        };
        let case = case(&mut chance, kind);
        let network = case.network(is_fluid);
        let claims = [Multiplexing::Fifo, Multiplexing::Arbitrary].map(|order| {
            let links = Settings { uses_links: true, grid: None };
            let mut claims = Claims::default();
            claims.of("delayed", &mut Delayed::new(&network, order, links).unwrap());
            claims.of("left over", &mut LeftOver::new(&network, order, Through::Least).unwrap());
            claims
        });
        let victim = chance.within(0, case.sources.len() as i64 - 1) as usize;
        let any_order = if chance.once_in(3) { Order::Any } else { Order::Last(victim) };
        let mut nearest = [0; 2];
        for order in [Order::Fifo, any_order] {
            for run in case.runs(&mut chance, order, victim) {
                let seen = simulate(&case.stations, &case.sources, &run, chance.clone());
                let what = || format!("seed {seed}, {run:?}\n{case:?}");
                // What bounds any order bounds the order of arrival too.
                nearest[1] = claims[1].hold(&seen, &what).max(nearest[1]);
                if order == Order::Fifo {
                    nearest[0] = claims[0].hold(&seen, &what).max(nearest[0]);
                }
            }
        }
        for (reached, nearest) in reached.iter_mut().zip(nearest) {
            *reached += u64::from(nearest >= 90);
        }
    }
    // A simulation that comes nowhere near would prove nothing.
    let most = |cases: &u64| *cases >= CASES / 2;
    assert!(reached.iter().all(most), "within 10 % of some bound, in order and in any: {reached:?} of {CASES}");
}

#[test]
fn no_frame_exceeds_a_bound() {
    send_through(false);
}

/// Single units are single bits too, and there what is proven for these alone is used.
#[test]
fn no_bit_exceeds_a_bound() {
    send_through(true);
}

#[test]
fn no_frame_on_a_circle_exceeds_a_bound() {
    let (mut settled, mut near) = (0, 0);
    for seed in 0..RINGS {
        let mut chance = Chance(seed);
        let case = case(
            &mut chance,
            Kind { longest: 4, is_constant: false, is_varying: seed % 4 == 0, is_ring: true, classes: 1 },
        );
        let network = case.network(false);
        let victim = chance.within(0, case.sources.len() as i64 - 1) as usize;
        for (order, served) in [(Multiplexing::Fifo, Order::Fifo), (Multiplexing::Arbitrary, Order::Last(victim))] {
            let settings = Settings { uses_links: true, grid: Grid::new(ratio(1, 10), ratio(1, 10)) };
            let mut traffic = Delayed::new(&network, order, settings).unwrap();
            settled += u64::from((0..network.servers().len()).all(|server| traffic.server(server).delay.is_ok()));
            let mut claims = Claims::default();
            claims.of("delayed", &mut traffic);
            for run in case.runs(&mut chance, served, victim) {
                let seen = simulate(&case.stations, &case.sources, &run, chance.clone());
                let nearest = claims.hold(&seen, &|| format!("seed {seed}, {run:?}\n{case:?}"));
                near += u64::from(nearest >= 60);
            }
        }
    }
    assert!((RINGS / 2..2 * RINGS).contains(&settled) && near >= RINGS, "{settled} settled, {near} runs near a bound");
}
