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
        for &number in route {
            let link = &links[number];
            // A bridge sends on what it has stored whole, and processed.
            let before = hops.iter().position(|hop| links[hop.link].to == link.from);
            let after = before.map(|at| &hops[at]).map_or(0, |hop| {
                let (last, last_bit) = (&links[hop.link], network.last_bit(hop.link, stream.secured_len()));
                let transit = network.transit(hop.link, stream.secured_len());
                hop.after + last_bit + transit + (last.processing + security.per_hop).as_ps()
            });
            let len = network.wire_time(number, stream.secured_len());
            hops.push(Hop { link: number, after, len });
            if stream.to.contains(&link.to) {
                let last_bit = network.last_bit(number, stream.secured_len());
                arrivals.push((link.to, after + last_bit + network.transit(number, stream.secured_len())));
            }
        }
        let latest = arrivals.iter().map(|(_, at)| *at).max().unwrap_or_default();
        let at_once = network.checks_at_once;
        let taken = |hop: &Hop| Use { resource: hop.link, from: hop.after, len: hop.len + network.guard.as_ps() };
        let mut uses: Vec<Use> = hops.iter().map(taken).collect();
        // What costs nothing has to be done all the same: a processor that is busy at that instant would delay it.
        let least = i64::from(at_once);
        if seal.max(least) > 0 {
            uses.push(Use { resource: processor(stream.from), from: -seal, len: seal.max(least) });
        }
        let in_time = stream.deadline.as_ps() - seal;
        let checks = arrivals.iter().filter(|_| open.max(least) > 0);
        let floats = checks.map(|&(node, at)| {
            let (resource, len) = (processor(node), open.max(least));
            // Nobody tells a listener to wait with a frame that is there.
            let limit = if at_once { in_time.min(at + len) } else { in_time };
            Float { resource, after: at, len, limit: Limit::FromStart(limit) }
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
