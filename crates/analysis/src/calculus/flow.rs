//! Bounds of one flow from its start to one of its ends.
//!
//! - [`total_flow`] adds up what every server's queue delays at most: every burst is paid at every server.
//! - [`separate_flow`] puts what servers leave over for the flow in a row: its own burst is paid once.
//! - [`pay_multiplexing_once`] does it for all servers of the way together: bursts of others are paid once too.
//!
//! Frames that are handed on whole cost the second and third their time at every server but the last.
//!
//! None is the best everywhere, and each is a bound, so [`super::best`] takes the least. In a network that serves in the
//! order of arrival, what holds for any order holds too.

use num_traits::Zero;

use super::arrival::ArrivalCurve;
use super::cross::{CrossTraffic, Piece, left_over, overload, upstream};
use super::network::{Flow, Multiplexing};
use super::operations::{backlog, busy_period, delay};
use super::pmoo;
use super::rational::Rational;
use super::service::ServiceCurve;
use super::unbounded::Unbounded;

/// What is known of a flow on its way to one of its ends, or of a server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bound {
    /// How long any of its data takes at most.
    pub delay: Result<Rational, Unbounded>,
    /// How much of its data is on the way at most; of [`total_flow`] and of a server: the most data in one queue.
    pub backlog: Result<Rational, Unbounded>,
}

impl Bound {
    fn none(because: &Unbounded) -> Self {
        Self { delay: Err(because.clone()), backlog: Err(because.clone()) }
    }
}

/// What waits at a server, and how long.
pub fn server<'a>(traffic: &mut (impl CrossTraffic<'a> + ?Sized), server: usize) -> Bound {
    let network = traffic.network();
    let flows: Vec<usize> = network.visits(server).iter().map(|visit| visit.flow).collect();
    let arrival = match traffic.at(&flows, server) {
        Ok(arrival) => arrival,
        Err(because) => return Bound::none(&upstream(network, server, &because)),
    };
    let service = &network.servers()[server].service;
    let too_much = || overload(network, server, arrival.rate().clone());
    Bound {
        delay: waits(traffic, server, flows.len(), &arrival),
        backlog: backlog(&arrival, service).ok_or_else(too_much),
    }
}

/// How long all that comes to a server waits.
pub(super) fn waits<'a>(
    traffic: &(impl CrossTraffic<'a> + ?Sized),
    server: usize,
    flows: usize,
    arrival: &ArrivalCurve,
) -> Result<Rational, Unbounded> {
    let network = traffic.network();
    let here = &network.servers()[server];
    let found = match traffic.multiplexing() {
        // One flow alone is served in its order.
        Multiplexing::Arbitrary if flows > 1 => {
            super::cross::strict(network, server)?;
            busy_period(arrival, &here.service)
        }
        _ => delay(arrival, &here.service),
    };
    found.ok_or_else(|| overload(network, server, arrival.rate().clone()))
}

/// Total flow analysis: the delays of all servers of the way.
pub fn total_flow<'a>(traffic: &mut (impl CrossTraffic<'a> + ?Sized), flow: usize, end: usize) -> Bound {
    let network = traffic.network();
    let mut bound = Bound { delay: Ok(Rational::zero()), backlog: Ok(Rational::zero()) };
    for one in network.path(flow, end) {
        let here = server(traffic, one);
        let constant = &network.servers()[one].constant;
        bound.delay = bound.delay.and_then(|sum| Ok(sum + here.delay? + constant));
        bound.backlog = bound.backlog.and_then(|most| Ok(most.max(here.backlog?)));
    }
    bound
}

/// Separate flow analysis: what servers leave to the flow, one after the other.
pub fn separate_flow<'a>(traffic: &mut (impl CrossTraffic<'a> + ?Sized), flow: usize, end: usize) -> Bound {
    let crossing = match crossing(traffic, flow, end) {
        Ok(crossing) => crossing,
        Err(because) => return Bound::none(&because),
    };
    let by = |piece| match left_by_each(traffic, flow, end, &crossing, piece) {
        Ok(left) => through(traffic, flow, end, &left),
        Err(because) => Bound::none(&because),
    };
    let [first, last] = Piece::ALL.map(by);
    Bound { delay: least(last.delay, first.delay), backlog: least(last.backlog, first.backlog) }
}

/// Pay multiplexing only once: what the servers of the way leave to the flow together, in any order of service.
pub fn pay_multiplexing_once<'a>(traffic: &mut (impl CrossTraffic<'a> + ?Sized), flow: usize, end: usize) -> Bound {
    let path = traffic.network().path(flow, end);
    match pmoo::left_over(traffic, &path, &[flow]) {
        Ok(left) => through(traffic, flow, end, &left),
        Err(because) => Bound::none(&because),
    }
}

/// What crosses a flow at each server of its way.
fn crossing<'a>(
    traffic: &mut (impl CrossTraffic<'a> + ?Sized),
    flow: usize,
    end: usize,
) -> Result<Vec<ArrivalCurve>, Unbounded> {
    let network = traffic.network();
    let path = network.path(flow, end);
    let mut all = Vec::with_capacity(path.len());
    for (index, server) in path.iter().enumerate() {
        let mut others = network.others(*server, &[flow]);
        let mut cross = ArrivalCurve::zero();
        if index % 2 == 1 {
            // What came along from the server before: `left_over` says why only at every second one.
            let before = path[index - 1];
            let along = network.by_origin(&others, *server).remove(&Some(before)).unwrap_or_default();
            others.retain(|one| along.binary_search(one).is_err());
            cross = traffic.beside(&along, before, *server, flow)?;
        }
        all.push(cross.plus(&traffic.at(&others, *server)?));
    }
    Ok(all)
}

fn left_by_each<'a>(
    traffic: &(impl CrossTraffic<'a> + ?Sized),
    flow: usize,
    end: usize,
    crossing: &[ArrivalCurve],
    piece: Piece,
) -> Result<ServiceCurve, Unbounded> {
    let (network, multiplexing) = (traffic.network(), traffic.multiplexing());
    let Flow { arrival, longest_frame, .. } = &network.flows()[flow];
    let path = network.path(flow, end);
    let mut all: Option<ServiceCurve> = None;
    for (index, (server, cross)) in path.iter().zip(crossing).enumerate() {
        let mut left = left_over(network, multiplexing, *server, cross, arrival.rate(), piece)?;
        if index + 1 < path.len() {
            left = left.framed(longest_frame);
        }
        all = Some(match all {
            None => left,
            Some(before) => before.then(&left),
        });
    }
    Ok(all.expect("a network's flow passes at least one server"))
}

/// The lesser of two bounds; the first reason if there is none.
fn least(one: Result<Rational, Unbounded>, other: Result<Rational, Unbounded>) -> Result<Rational, Unbounded> {
    match (one, other) {
        (Ok(one), Ok(other)) => Ok(one.min(other)),
        (one, other) => one.or_else(|because| other.map_err(|_| because)),
    }
}

fn through<'a>(traffic: &(impl CrossTraffic<'a> + ?Sized), flow: usize, end: usize, left: &ServiceCurve) -> Bound {
    let network = traffic.network();
    let own = &network.flows()[flow].arrival;
    let path = network.path(flow, end);
    let too_much = || {
        let asked = |server: usize| -> Rational {
            network.visits(server).iter().map(|visit| network.flows()[visit.flow].arrival.rate()).sum()
        };
        let room = |server: &usize| network.servers()[*server].service.rate() - asked(*server);
        let server = path.iter().copied().min_by_key(room).unwrap_or_default();
        overload(network, server, asked(server))
    };
    let constant: Rational = path.iter().map(|server| &network.servers()[*server].constant).sum();
    Bound {
        delay: delay(own, left).map(|delay| delay + constant).ok_or_else(too_much),
        backlog: backlog(own, left).ok_or_else(too_much),
    }
}
