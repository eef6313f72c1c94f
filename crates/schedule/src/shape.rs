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
            let before = hops.iter().find(|hop| links[hop.link].to == link.from);
            let after = before.map_or(0, |hop| {
                let last = &links[hop.link];
                hop.after + hop.len + (last.propagation + last.processing + security.per_hop).as_ps()
            });
            let len = network.wire_time(number, stream.secured_len());
            hops.push(Hop { link: number, after, len });
            if stream.to.contains(&link.to) {
                arrivals.push((link.to, after + len + link.propagation.as_ps()));
            }
        }
        let latest = arrivals.iter().map(|(_, at)| *at).max().unwrap_or_default();
        let mut uses: Vec<Use> = hops
            .iter()
            .map(|hop| Use { resource: hop.link, from: hop.after, len: hop.len + network.guard.as_ps() })
            .collect();
        if seal > 0 {
            uses.push(Use { resource: processor(stream.from), from: -seal, len: seal });
        }
        let limit = Limit::FromStart(stream.deadline.as_ps() - seal);
        let floats = arrivals.iter().filter(|_| open > 0);
        let floats =
            floats.map(|(node, at)| Float { resource: processor(*node), after: *at, len: open, limit }).collect();
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
