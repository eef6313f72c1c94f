//! Asynchronous traffic shaping (IEEE 802.1Qcr): every flow keeps to its own bucket again at every hop.
//!
//! A regulator behind a FIFO queue adds nothing to the worst delay of the queue (Le Boudec, "A theory of traffic regulators
//! for deterministic networks with application to interleaved regulators", IEEE/ACM ToN 2018). So each server sees what
//! the sources send, no burst grows on the way, circles of flows do no harm, and the sum of the servers' delays holds.
//! This needs that a regulator's frames come in the order in which they were sent, and that it is no slower than the source;
//! where that is not so, delays have no bound, and [`Regulated::new`] says which condition is missing.

use super::super::arrival::ArrivalCurve;
use super::super::cross::CrossTraffic;
use super::super::network::{Multiplexing, Network};
use super::super::rational::Rational;
use super::super::unbounded::{Combination, Unbounded};

/// What has to be known of a network with regulators.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conditions {
    /// True if a regulator is behind replication or elimination of frames (802.1CB).
    pub is_behind_replication: bool,
    /// True if all frames of one regulator come from one queue that keeps their order.
    pub keeps_order: bool,
    /// How much faster than the slowest clock the fastest may run, as a part of one: 1/5000 for 100 ppm either way.
    pub clocks_apart: Rational,
    /// How much more than its source a regulator lets through, as a part of the source's rate and burst.
    pub margin: Rational,
}

impl Conditions {
    /// Of regulators whose frames come in order, without replication, and whose buckets are those of the network's flows with
    /// the clocks' differences in them.
    pub fn kept() -> Self {
        let none = super::super::whole(0);
        Self { is_behind_replication: false, keeps_order: true, clocks_apart: none.clone(), margin: none }
    }
}

/// Flows that keep to their own buckets at every server.
#[derive(Debug)]
pub struct Regulated<'a> {
    network: &'a Network,
    arrivals: Vec<ArrivalCurve>,
}

impl<'a> Regulated<'a> {
    /// A network with regulators in front of all queues but the first of each flow; servers serve in the order of arrival.
    ///
    /// # Errors
    /// If the delay of regulators has no bound.
    pub fn new(network: &'a Network, conditions: &Conditions) -> Result<Self, Unbounded> {
        let refuse = |why| Err(Unbounded::Combination(why));
        if conditions.is_behind_replication {
            return refuse(Combination::AsynchronousAfterReplication);
        }
        if !conditions.keeps_order {
            return refuse(Combination::AsynchronousWithoutOrder);
        }
        if conditions.margin < conditions.clocks_apart {
            return refuse(Combination::AsynchronousClocks);
        }
        let factor = super::super::whole(1) + &conditions.margin;
        let arrivals = network.flows().iter().map(|flow| flow.arrival.scaled(&factor)).collect();
        Ok(Self { network, arrivals })
    }
}

impl<'a> CrossTraffic<'a> for Regulated<'a> {
    fn network(&self) -> &'a Network {
        self.network
    }

    fn multiplexing(&self) -> Multiplexing {
        Multiplexing::Fifo
    }

    fn is_reshaped(&self) -> bool {
        true
    }

    fn at(&mut self, flows: &[usize], server: usize) -> Result<ArrivalCurve, Unbounded> {
        let here = flows.iter().filter(|flow| self.network.visit(**flow, server).is_some());
        Ok(here.fold(ArrivalCurve::zero(), |sum, flow| sum.plus(&self.arrivals[*flow])))
    }
}
