//! Reasons for which no schedule exists, whatever finds it.
//!
//! Each holds for windows that repeat strictly, and each is monotone: longer frames, more processing or another stream
//! never undo it. So what is proven infeasible stays so.

use chronoseal_core::Duration;

use crate::network::{Network, Problem, Stream, gcd};
use crate::route::{Tree, link_time};
use crate::shape::Shape;

/// Why there is no schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Proof {
    /// No way leads from the talker to a listener.
    NoWay {
        /// Whose way.
        stream: usize,
        /// Which listener.
        listener: usize,
    },
    /// Even alone, on the fastest way, a frame is late.
    TooLate {
        /// Whose frame.
        stream: usize,
        /// What it needs at least.
        needed: Duration,
    },
    /// A frame takes longer on a link, or its checks on a processor, than its period lasts.
    LongerThanPeriod {
        /// Whose frame.
        stream: usize,
    },
    /// More is sent on a link than it carries, by streams that have no other way.
    LinkOverload {
        /// Which link.
        link: usize,
        /// Which streams.
        streams: Vec<usize>,
    },
    /// More is sealed and checked on a processor than it has time for.
    ProcessorOverload {
        /// Whose processor.
        node: usize,
        /// Which streams.
        streams: Vec<usize>,
    },
    /// Two streams without another way meet on a link wherever they begin: together their frames are longer than the
    /// greatest common divisor of their periods.
    NeverApart {
        /// Which link.
        link: usize,
        /// Which streams.
        streams: [usize; 2],
    },
}

impl Proof {
    /// The streams that are in it.
    pub fn streams(&self) -> Vec<usize> {
        match self {
            Self::NoWay { stream, .. } | Self::TooLate { stream, .. } | Self::LongerThanPeriod { stream } => {
                vec![*stream]
            }
            Self::LinkOverload { streams, .. } | Self::ProcessorOverload { streams, .. } => streams.clone(),
            Self::NeverApart { streams, .. } => streams.to_vec(),
        }
    }
}

/// A reason why no schedule exists, if one of those known here applies.
pub fn prove(problem: &Problem) -> Option<Proof> {
    let network = problem.network();
    let mut forced: Vec<Vec<(usize, i64)>> = Vec::with_capacity(problem.streams().len());
    for (number, stream) in problem.streams().iter().enumerate() {
        match alone(network, stream) {
            Ok(links) => forced.push(links),
            Err(Alone::NoWay(listener)) => return Some(Proof::NoWay { stream: number, listener }),
            Err(Alone::TooLate(needed)) => {
                return Some(Proof::TooLate { stream: number, needed: Duration::from_ps(needed) });
            }
            Err(Alone::LongerThanPeriod) => return Some(Proof::LongerThanPeriod { stream: number }),
        }
    }
    let mut on_link: Vec<Vec<(usize, i64)>> = vec![Vec::new(); network.links().len()];
    let mut on_node: Vec<Vec<(usize, i64)>> = vec![Vec::new(); network.nodes().len()];
    for (number, stream) in problem.streams().iter().enumerate() {
        forced[number].iter().for_each(|(link, len)| on_link[*link].push((number, *len)));
        on_node[stream.from].push((number, stream.security.seal.as_ps()));
        stream.to.iter().for_each(|node| on_node[*node].push((number, stream.security.open.as_ps())));
    }
    for (link, users) in on_link.iter().enumerate() {
        if let Some(pair) = never_apart(problem, users) {
            return Some(Proof::NeverApart { link, streams: pair });
        }
        if let Some(streams) = overload(problem, users) {
            return Some(Proof::LinkOverload { link, streams });
        }
    }
    let mut processors = on_node.iter().enumerate();
    processors.find_map(|(node, users)| Some(Proof::ProcessorOverload { node, streams: overload(problem, users)? }))
}

pub(crate) enum Alone {
    NoWay(usize),
    TooLate(i64),
    LongerThanPeriod,
}

/// The links that a stream takes on whatever way is in time, each with the time it takes there.
fn alone(network: &Network, stream: &Stream) -> Result<Vec<(usize, i64)>, Alone> {
    let (security, period) = (stream.security, stream.period.as_ps());
    let len = stream.secured_len();
    let taken = |link: usize| network.wire_time(link, len) + network.guard.as_ps();
    if security.seal.as_ps() > period || security.open.as_ps() > period {
        return Err(Alone::LongerThanPeriod);
    }
    if let Some(route) = &stream.route {
        let shape =
            Shape::of(network, stream, &crate::route::in_order(network, stream, route).expect("it was checked"));
        if shape.latency > stream.deadline.as_ps() {
            return Err(Alone::TooLate(shape.latency));
        }
        if route.iter().any(|link| taken(*link) > period) {
            return Err(Alone::LongerThanPeriod);
        }
        return Ok(route.iter().map(|link| (*link, taken(*link))).collect());
    }
    let per_hop = security.per_hop.as_ps();
    // What a tree says of the listener counts its processing as if it were a bridge; without it this is the least a
    // frame needs, whatever link it comes by.
    let least = |tree: &Tree, node: usize| -> Option<i64> {
        tree.path(network, node)?;
        let arriving = network.links().iter().filter(|link| link.to == node);
        let processing = arriving.map(|link| link.processing.as_ps()).max().unwrap_or_default();
        Some(tree.far[node] - processing - per_hop + (security.seal + security.open).as_ps())
    };
    let time = |link: usize| link_time(network, link, len) + per_hop;
    let tree = Tree::grow(network, &[(stream.from, 0)], &|link| Some(time(link)));
    let mut forced: Vec<usize> = Vec::new();
    for &node in &stream.to {
        let Some(needed) = least(&tree, node) else { return Err(Alone::NoWay(node)) };
        if needed > stream.deadline.as_ps() {
            return Err(Alone::TooLate(needed));
        }
        for link in tree.path(network, node).unwrap_or_default() {
            if forced.contains(&link) {
                continue;
            }
            let around = Tree::grow(network, &[(stream.from, 0)], &|other| (other != link).then(|| time(other)));
            let is_forced = least(&around, node).is_none_or(|needed| needed > stream.deadline.as_ps());
            if is_forced {
                forced.push(link);
            }
        }
    }
    if forced.iter().any(|link| taken(*link) > period) {
        return Err(Alone::LongerThanPeriod);
    }
    Ok(forced.into_iter().map(|link| (link, taken(link))).collect())
}

/// Two strictly periodic windows on one resource can be apart exactly if their lengths fit in the greatest common
/// divisor of their periods (Korst, Aarts, Lenstra, Wessels, "Periodic multiprocessor scheduling", PARLE 1991).
fn never_apart(problem: &Problem, users: &[(usize, i64)]) -> Option<[usize; 2]> {
    let streams = problem.streams();
    let strict: Vec<_> = users.iter().filter(|(stream, _)| streams[*stream].jitter == Duration::ZERO).collect();
    for (index, (one, len)) in strict.iter().enumerate() {
        for (other, more) in &strict[index + 1..] {
            let common = gcd(streams[*one].period.as_ps(), streams[*other].period.as_ps());
            if len + more > common {
                return Some([*one, *other]);
            }
        }
    }
    None
}

/// All users, if together they need more than all of the time.
fn overload(problem: &Problem, users: &[(usize, i64)]) -> Option<Vec<usize>> {
    let all = i128::from(problem.hyperperiod().as_ps());
    let needed: i128 = users
        .iter()
        .map(|(stream, len)| i128::from(*len) * (all / i128::from(problem.streams()[*stream].period.as_ps())))
        .sum();
    (needed > all).then(|| users.iter().filter(|(_, len)| *len > 0).map(|(stream, _)| *stream).collect())
}
