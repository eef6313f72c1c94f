//! What a frame takes on its way, counted from when its talker sends it.

use std::sync::Arc;

use crate::board::{Float, Item, Limit, Use};
use crate::network::{Network, Stream};

/// A frame on one link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Hop {
    pub(crate) link: usize,
    /// When it starts there, after it was sent by the talker `[ps]`.
    pub(crate) after: i64,
    /// How long it takes on the wire `[ps]`.
    pub(crate) len: i64,
}

/// A stream on one route.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Shape {
    pub(crate) item: Item,
    /// In the order of the route: each link after the one it continues.
    pub(crate) hops: Arc<[Hop]>,
    /// When its last bit is at each listener, after it was sent `[ps]`.
    pub(crate) arrivals: Vec<(usize, i64)>,
    /// From the beginning of sealing until the last listener has checked it, if it waits nowhere `[ps]`.
    pub(crate) latency: i64,
}

impl Shape {
    /// `route` is in order.
    pub(crate) fn of(network: &Network, stream: &Stream, route: &[usize]) -> Self {
        let (links, security) = (network.links(), stream.security);
        let (seal, open) = (security.seal.as_ps(), security.open.as_ps());
        let processor = |node: usize| links.len() + node;
        let mut hops: Vec<Hop> = Vec::with_capacity(route.len());
        let mut arrivals = Vec::with_capacity(stream.to.len());
        // By hop and by arrival: where windows touch, a frame may go when the last one is over, before the gap that the schedule
        // counts with it, and so on from link to link.
        let (mut early, mut arrives_early): (Vec<i64>, Vec<i64>) = (Vec::new(), Vec::new());
        for &number in route {
            let link = &links[number];
            // A bridge sends on what it has stored whole, and processed.
            let before = hops.iter().position(|hop| links[hop.link].to == link.from);
            let gap = |at: usize| early[at] + network.gap_time(hops[at].link, stream.secured_len());
            let comes_early = before.map_or(0, gap);
            let after = before.map(|at| &hops[at]).map_or(0, |hop| {
                let last = &links[hop.link];
                let transit = network.transit(hop.link, stream.secured_len());
                hop.after + hop.len + transit + (last.processing + security.per_hop).as_ps()
            });
            let len = network.wire_time(number, stream.secured_len());
            hops.push(Hop { link: number, after, len });
            early.push(comes_early);
            if stream.to.contains(&link.to) {
                arrivals.push((link.to, after + len + network.transit(number, stream.secured_len())));
                arrives_early.push(comes_early + network.gap_time(number, stream.secured_len()));
            }
        }
        let latest = arrivals.iter().map(|(_, at)| *at).max().unwrap_or_default();
        let at_once = network.is_shared;
        // A frame of another class may end where its gate closes, and then keeps the wire for the gap behind it.
        let ahead = |link: usize| if at_once { network.gap_time(link, stream.secured_len()) } else { 0 };
        let taken = |hop: &Hop| {
            let ahead = ahead(hop.link);
            Use { resource: hop.link, from: hop.after - ahead, len: ahead + hop.len + network.guard.as_ps() }
        };
        let mut uses: Vec<Use> = hops.iter().map(taken).collect();
        // What costs nothing has to be done all the same: a processor that is busy at that instant would delay it.
        let least = i64::from(at_once);
        if seal.max(least) > 0 {
            uses.push(Use { resource: processor(stream.from), from: -seal, len: seal.max(least) });
        }
        let in_time = stream.deadline.as_ps() - seal;
        let checks = arrivals.iter().zip(&arrives_early).filter(|_| open.max(least) > 0);
        let floats = checks.map(|(&(node, at), &early)| {
            let (resource, len) = (processor(node), open.max(least));
            if !at_once {
                return Float { resource, after: at, len, limit: Limit::FromStart(in_time) };
            }
            // The check begins with the last bit, which may be there before the schedule says.
            let limit = Limit::FromStart(in_time.min(at + len));
            Float { resource, after: at - early, len: early + len, limit }
        });
        let floats = floats.collect();
        let period = stream.period.as_ps();
        let (first, last) = stream.offset.map_or((0, period - 1), |offset| (offset.as_ps(), offset.as_ps()));
        let item = Item { period, first, last, jitter: stream.jitter.as_ps(), uses, floats };
        Self { item, hops: hops.into(), arrivals, latency: seal + latest + open }
    }

    /// The links, each after the one it continues.
    pub(crate) fn route(&self) -> Vec<usize> {
        self.hops.iter().map(|hop| hop.link).collect()
    }
}
