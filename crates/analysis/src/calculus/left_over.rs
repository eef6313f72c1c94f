//! What flows bring to a server, from what servers before it left over for them.
//!
//! Flows that come from one server go through it together: what they bring on is their output through what it left over
//! beside all others. With one server after the other this pays each burst of theirs once (PBOO); over all servers that the
//! group shares, it also pays the bursts of others once (PMOO, [`super::pmoo`]), which may be more or less. Both are
//! bounds, so their least is one.
//!
//! # The flow that is asked for
//! What crosses a flow at two servers in a row may be bounded at the second as if the flow had not been at the first. Such
//! a bound is none of the others' arrivals, but the curves of the two servers in a row still are one of the flow:
//!
//! - *Any order, strict curves.* Let the second server's busy period begin at `u`, that of the first around `u` at `w`. What
//!   the flow got through the first in `(w, u]` kept the others back by as much, and is itself through the second
//!   by `u`. So it cancels: others and flow together bring at most `a(t - w) - b(u - w)` plus the flow's own data since `w`.
//! - *In order of arrival, one bucket and one rate with a latency each.* Whoever is kept back behind the flow's data at the
//!   first stays behind it at the second. Write the delay of one bit as the first server's delay at `u`, plus the second's
//!   busy time since `u`, less what lies between; each bit of the flow weighs at most `max(1/R, (1 + r/R)/S)` in this sum, which
//!   is at most one over what the two servers leave to it.
//!
//! The proof is for two servers, so it is used for the second, fourth, … server of a flow, with true arrivals at the one
//! before. It is not used for frames that are handed on whole, nor in order of arrival where a curve has more pieces.

use std::collections::BTreeMap;

use super::arrival::ArrivalCurve;
use super::cross::{CrossTraffic, Piece, left_over, overload};
use super::network::{Multiplexing, Network};
use super::operations::output;
use super::pmoo;
use super::service::ServiceCurve;
use super::unbounded::Unbounded;

/// Which left-over curves to use for flows that cross.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Through {
    /// Server by server: bursts of the group are paid once.
    EachServer,
    /// All servers the group shares: bursts of the others are paid once too. Any order only.
    SharedServers,
    /// The least of both.
    Least,
}

/// Bounds what flows bring to servers by left-over curves, and remembers what it found. For networks without circles.
#[derive(Debug)]
pub struct LeftOver<'a> {
    network: &'a Network,
    multiplexing: Multiplexing,
    through: Through,
    found: BTreeMap<(usize, Vec<usize>), Result<ArrivalCurve, Unbounded>>,
}

impl<'a> LeftOver<'a> {
    /// For a network whose servers serve like this.
    ///
    /// # Errors
    /// If flows close a circle.
    pub fn new(network: &'a Network, multiplexing: Multiplexing, through: Through) -> Result<Self, Unbounded> {
        network.order().map_err(|servers| Unbounded::Cycle { servers })?;
        Ok(Self { network, multiplexing, through, found: BTreeMap::new() })
    }

    /// What a group that is at a server brings to the next.
    fn through(&mut self, group: &[usize], server: usize) -> Result<ArrivalCurve, Unbounded> {
        let uses_shared = self.through != Through::EachServer && self.multiplexing == Multiplexing::Arbitrary;
        let shared = if uses_shared { self.shared(group, server) } else { vec![server] };
        if shared.len() == 1 {
            return self.through_one(group, server, None);
        }
        let over_all = {
            let left = pmoo::left_over(self, &shared, group)?;
            let arrival = self.at(group, shared[0])?;
            self.output(&arrival, &left, group, server)
        };
        match self.through {
            Through::Least => {
                let one_by_one = self.through_one(group, server, None);
                least(over_all, one_by_one)
            }
            _ => over_all,
        }
    }

    fn through_one(&mut self, group: &[usize], server: usize, but: Option<usize>) -> Result<ArrivalCurve, Unbounded> {
        let arrival = self.at(group, server)?;
        let mut others = self.network.others(server, group);
        others.retain(|flow| Some(*flow) != but);
        let cross = self.at(&others, server)?;
        let out = |piece| {
            let left = left_over(self.network, self.multiplexing, server, &cross, arrival.rate(), piece)?;
            self.output(&arrival, &left, group, server)
        };
        match cross.pieces() {
            [_] => out(Piece::Last),
            _ => least(out(Piece::First), out(Piece::Last)),
        }
    }

    fn output(
        &self,
        arrival: &ArrivalCurve,
        left: &ServiceCurve,
        group: &[usize],
        server: usize,
    ) -> Result<ArrivalCurve, Unbounded> {
        let left = left.framed(&self.network.longest_frame(group.iter().copied()));
        let varying = &self.network.servers()[server].varying;
        output(arrival, &left).map(|left| left.delayed(varying)).ok_or_else(|| {
            let all: Vec<usize> = self.network.visits(server).iter().map(|visit| visit.flow).collect();
            overload(self.network, server, all.iter().map(|flow| self.network.flows()[*flow].arrival.rate()).sum())
        })
    }

    /// The servers in a row, up to this one, that all of a group come through.
    fn shared(&self, group: &[usize], server: usize) -> Vec<usize> {
        let mut shared = vec![server];
        loop {
            let first = shared[shared.len() - 1];
            let origins = self.network.by_origin(group, first);
            let mut origins = origins.keys();
            match (origins.next(), origins.next()) {
                (Some(Some(origin)), None) if !self.network.varies(&[*origin]) => shared.push(*origin),
                _ => break,
            }
        }
        shared.reverse();
        shared
    }

    /// True where one of the proofs of the module holds.
    fn is_proven(&mut self, server: usize) -> Result<bool, Unbounded> {
        let is_fluid = self.network.longest_frame_at(server).is_zero();
        Ok(is_fluid
            && !self.network.varies(&[server])
            && (self.multiplexing == Multiplexing::Arbitrary || self.is_simple(server)?))
    }

    /// True where there is one bucket, and one rate with a latency.
    fn is_simple(&mut self, server: usize) -> Result<bool, Unbounded> {
        let flows: Vec<usize> = self.network.visits(server).iter().map(|visit| visit.flow).collect();
        let arrival = self.at(&flows, server)?;
        Ok(arrival.pieces().len() == 1 && self.network.servers()[server].service.pieces().len() == 1)
    }
}

impl<'a> CrossTraffic<'a> for LeftOver<'a> {
    fn network(&self) -> &'a Network {
        self.network
    }

    fn multiplexing(&self) -> Multiplexing {
        self.multiplexing
    }

    fn at(&mut self, flows: &[usize], server: usize) -> Result<ArrivalCurve, Unbounded> {
        if flows.is_empty() {
            return Ok(ArrivalCurve::zero());
        }
        let key = (server, flows.to_vec());
        if let Some(found) = self.found.get(&key) {
            return found.clone();
        }
        let mut sum = Ok(ArrivalCurve::zero());
        for (origin, group) in self.network.by_origin(flows, server) {
            let brought = match origin {
                None => Ok(group
                    .iter()
                    .fold(ArrivalCurve::zero(), |sum, flow| sum.plus(&self.network.flows()[*flow].arrival))),
                Some(origin) => self.through(&group, origin),
            };
            sum = sum.and_then(|sum| Ok(sum.plus(&brought?)));
        }
        self.found.insert(key, sum.clone());
        sum
    }

    fn crossing(&mut self, server: usize, own: usize, before: Option<usize>) -> Result<ArrivalCurve, Unbounded> {
        let mut others = self.network.others(server, &[own]);
        let along = self.network.by_origin(&others, server).remove(&before).filter(|_| before.is_some());
        let (Some(before), Some(along)) = (before, along) else { return self.at(&others, server) };
        if !self.is_proven(before)? || !self.is_proven(server)? {
            return self.at(&others, server);
        }
        others.retain(|one| along.binary_search(one).is_err());
        Ok(self.through_one(&along, before, Some(own))?.plus(&self.at(&others, server)?))
    }
}

/// Both curves bound the same; either may have no bound where the other one has.
fn least(
    one: Result<ArrivalCurve, Unbounded>,
    other: Result<ArrivalCurve, Unbounded>,
) -> Result<ArrivalCurve, Unbounded> {
    match (one, other) {
        (Ok(one), Ok(other)) => Ok(one.least(&other)),
        (one, other) => one.or(other),
    }
}
