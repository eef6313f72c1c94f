//! Bounds of one flow from its start to one of its ends.
//!
//! - [`total_flow`] adds up what every server's queue delays at most: every burst is paid at every server.
//! - [`separate_flow`] puts what servers leave over for the flow in a row: its own burst is paid once.
//! - [`pay_multiplexing_once`] does it for all servers of the way together: bursts of others are paid once too.
//!
//! Frames that are handed on whole cost the second and third their time at every server but the last.
//!
//! Servers in a row count as one where frames of a flow stay in order between them and nothing holds them back. Behind what
//! varies ([`Server::varying`](super::Server)) and between regulators the second and third are the first.
//!
//! None is the best everywhere, and each is a bound, so [`super::best()`] takes the least. In a network that serves in the
//! order of arrival, what holds for any order holds too.

use super::arrival::ArrivalCurve;
use super::cross::{CrossTraffic, Piece, left_over, overload};
use super::network::{Flow, Server};
use super::operations::{backlog, delay};
use super::pmoo;
use super::rational::Rational;
use super::service::ServiceCurve;
use super::unbounded::Unbounded;

/// What is known of a flow on its way to one of its ends, or of a server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bound {
    /// How long any of its data takes at most.
    pub delay: Result<Rational, Unbounded>,
    /// How much of its data is on the way at most, between servers too; of [`total_flow`] and of a server: the most data in
    /// one queue. A frame that is handed on whole counts whole until its last bit has left.
    pub backlog: Result<Rational, Unbounded>,
}

impl Bound {
    pub(super) fn none(because: &Unbounded) -> Self {
        Self { delay: Err(because.clone()), backlog: Err(because.clone()) }
    }
}

/// Total flow analysis: the delays of all servers of the way.
pub fn total_flow<'a>(traffic: &mut (impl CrossTraffic<'a> + ?Sized), flow: usize, end: usize) -> Bound {
    let network = traffic.network();
    let mut bound = Bound { delay: Ok(Rational::zero()), backlog: Ok(Rational::zero()) };
    for one in network.path(flow, end) {
        let here = traffic.server(one);
        let Server { constant, varying, .. } = &network.servers()[one];
        bound.delay = bound.delay.and_then(|sum| Ok(sum + here.delay? + constant + varying));
        bound.backlog = bound.backlog.and_then(|most| Ok(most.max(here.backlog?)));
    }
    bound
}

/// Separate flow analysis: what servers leave to the flow, one after the other.
pub fn separate_flow<'a>(traffic: &mut (impl CrossTraffic<'a> + ?Sized), flow: usize, end: usize) -> Bound {
    if !is_in_a_row(traffic, flow, end) {
        return one_by_one(traffic, flow, end);
    }
    let crossing = match crossing(traffic, flow, end) {
        Ok(crossing) => crossing,
        Err(because) => return Bound::none(&because),
    };
    let by = |piece| match left_by_each(traffic, flow, end, &crossing, piece) {
        Ok(left) => through(traffic, flow, end, &left),
        Err(because) => Bound::none(&because),
    };
    let last = by(Piece::Last);
    if crossing.iter().all(|cross| cross.pieces().len() == 1) {
        return last;
    }
    let first = by(Piece::First);
    Bound { delay: least(last.delay, first.delay), backlog: least(last.backlog, first.backlog) }
}

/// Pay multiplexing only once: what the servers of the way leave to the flow together, in any order of service.
pub fn pay_multiplexing_once<'a>(traffic: &mut (impl CrossTraffic<'a> + ?Sized), flow: usize, end: usize) -> Bound {
    if !is_in_a_row(traffic, flow, end) {
        return one_by_one(traffic, flow, end);
    }
    let path = traffic.network().path(flow, end);
    match pmoo::left_over(traffic, &path, &[flow]) {
        Ok(left) => through(traffic, flow, end, &left),
        Err(because) => Bound::none(&because),
    }
}

/// True if the servers of a way count as one: nothing between them changes the order of frames or holds them back.
fn is_in_a_row<'a>(traffic: &(impl CrossTraffic<'a> + ?Sized), flow: usize, end: usize) -> bool {
    let network = traffic.network();
    !traffic.is_reshaped() && !network.varies(&network.path(flow, end))
}

/// The delays of all servers, and what may be sent while they pass.
fn one_by_one<'a>(traffic: &mut (impl CrossTraffic<'a> + ?Sized), flow: usize, end: usize) -> Bound {
    let delay = total_flow(traffic, flow, end).delay;
    let sent = |delay: &Rational| traffic.network().flows()[flow].arrival.at(delay);
    Bound { backlog: delay.as_ref().map(sent).map_err(Clone::clone), delay }
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
        // `LeftOver` says why only at every second one.
        let before = (index % 2 == 1).then(|| path[index - 1]);
        all.push(traffic.crossing(*server, flow, before)?);
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
    let Flow { arrival: own, longest_frame, .. } = &network.flows()[flow];
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
    // A frame is on the way until its last bit is over, and so is what is between servers.
    let over = left.framed(longest_frame).later(&constant);
    Bound {
        delay: delay(own, left).map(|delay| delay + constant).ok_or_else(too_much),
        backlog: backlog(own, &over).ok_or_else(too_much),
    }
}
