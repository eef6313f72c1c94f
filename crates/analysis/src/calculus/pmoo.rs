//! Pay multiplexing only once: what servers in a row leave to flows that share them all, in any order of service.
//!
//! Schmitt, Zdarsky, Martinovic, "Improving performance bounds in feed-forward networks by paying multiplexing only once"
//! (MMB 2008). With rates and latencies and leaky buckets:
//!
//! ```text
//! R = min over servers (R_i - rates of the flows that cross there)
//! T = sum of T_i + sum over flows that cross (burst + rate * sum of T_i where it is) / R
//! ```
//!
//! For curves of several pieces this holds for any choice of one piece each, and the most of what choices give holds too.

use std::collections::BTreeMap;

use super::arrival::{ArrivalCurve, Bucket};
use super::cross::{CrossTraffic, known, overload, strict};
use super::rational::Rational;
use super::service::{RateLatency, ServiceCurve};
use super::unbounded::Unbounded;

/// A group that crosses from one of the servers in a row to another.
struct Crossing {
    first: usize,
    last: usize,
    arrival: ArrivalCurve,
}

/// What the servers in a row leave to `own`, flows by number and in order.
///
/// # Errors
/// Why that is nothing.
pub(super) fn left_over<'a>(
    traffic: &mut (impl CrossTraffic<'a> + ?Sized),
    servers: &[usize],
    own: &[usize],
) -> Result<ServiceCurve, Unbounded> {
    let network = traffic.network();
    for server in servers {
        known(network, *server)?;
    }
    let crossings = crossings(traffic, servers, own)?;
    if !crossings.is_empty() {
        for server in servers {
            strict(network, *server)?;
        }
    }
    // All but the last hand frames on whole, one at a time.
    let framed = |(index, server): (usize, &usize)| {
        let service = &network.servers()[*server].service;
        if index + 1 < servers.len() { service.framed(&network.longest_frame_at(*server)) } else { service.clone() }
    };
    let services: Vec<ServiceCurve> = servers.iter().enumerate().map(framed).collect();
    let mut lines = Vec::new();
    for fast in [false, true] {
        for slow in [false, true] {
            let rates: Vec<&RateLatency> = services.iter().filter_map(|one| end(one.pieces(), fast)).collect();
            let buckets: Vec<&Bucket> = crossings.iter().filter_map(|one| end(one.arrival.pieces(), slow)).collect();
            lines.extend(choice(&rates, &crossings, &buckets));
        }
    }
    if lines.is_empty() {
        return Err(tightest(traffic, servers, own));
    }
    Ok(ServiceCurve::envelope(lines))
}

fn end<T>(pieces: &[T], last: bool) -> Option<&T> {
    if last { pieces.last() } else { pieces.first() }
}

/// The formula, for one piece each.
fn choice(servers: &[&RateLatency], crossings: &[Crossing], buckets: &[&Bucket]) -> Option<RateLatency> {
    let mut left: Vec<Rational> = servers.iter().map(|server| server.rate.clone()).collect();
    for (crossing, bucket) in crossings.iter().zip(buckets) {
        for here in &mut left[crossing.first..=crossing.last] {
            *here -= &bucket.rate;
        }
    }
    let rate = left.into_iter().min().filter(Rational::is_positive)?;
    let mut taken = Rational::zero();
    for (crossing, bucket) in crossings.iter().zip(buckets) {
        let latency: Rational = servers[crossing.first..=crossing.last].iter().map(|server| &server.latency).sum();
        taken += &bucket.burst + &bucket.rate * latency;
    }
    let latency: Rational = servers.iter().map(|server| &server.latency).sum();
    Some(RateLatency { latency: latency + taken / &rate, rate })
}

/// The flows that cross, each as often as it comes to the row anew.
fn crossings<'a>(
    traffic: &mut (impl CrossTraffic<'a> + ?Sized),
    servers: &[usize],
    own: &[usize],
) -> Result<Vec<Crossing>, Unbounded> {
    let network = traffic.network();
    let mut open: BTreeMap<usize, usize> = BTreeMap::new();
    let mut groups: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    for (index, server) in servers.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| servers[before]);
        let mut here: BTreeMap<usize, usize> = BTreeMap::new();
        for flow in network.others(*server, own) {
            let from = network.visit(flow, *server).and_then(|visit| visit.from);
            let goes_on = before.is_some() && from == before;
            let first = open.get(&flow).copied().filter(|_| goes_on).unwrap_or(index);
            here.insert(flow, first);
        }
        for (flow, first) in std::mem::take(&mut open) {
            if here.get(&flow) != Some(&first) {
                groups.entry((first, index - 1)).or_default().push(flow);
            }
        }
        open = here;
    }
    for (flow, first) in open {
        groups.entry((first, servers.len() - 1)).or_default().push(flow);
    }
    let arrival = |((first, last), flows): ((usize, usize), Vec<usize>)| {
        Ok(Crossing { first, last, arrival: traffic.at(&flows, servers[first])? })
    };
    groups.into_iter().map(arrival).collect()
}

/// The server of the row with the least left.
fn tightest<'a>(traffic: &(impl CrossTraffic<'a> + ?Sized), servers: &[usize], own: &[usize]) -> Unbounded {
    let network = traffic.network();
    let asked = |server: usize| -> Rational {
        network.others(server, own).iter().map(|flow| network.flows()[*flow].arrival.rate()).sum()
    };
    let left = |server: &usize| network.servers()[*server].service.rate() - asked(*server);
    let server = servers.iter().copied().min_by_key(left).unwrap_or_default();
    overload(network, server, asked(server))
}
