//! How flows come to a server: the seam between the analyses of a flow and the ways to bound what crosses it.

use super::arrival::ArrivalCurve;
use super::flow::Bound;
use super::network::{Multiplexing, Network};
use super::operations::{backlog, busy_period, delay, left_over_arbitrary, left_over_fifo};
use super::rational::Rational;
use super::service::ServiceCurve;
use super::unbounded::Unbounded;

/// A way to bound what flows bring to servers.
pub trait CrossTraffic<'a> {
    /// The network it knows.
    fn network(&self) -> &'a Network;

    /// How servers serve.
    fn multiplexing(&self) -> Multiplexing;

    /// What these flows, by number and in order, bring to a server together.
    ///
    /// # Errors
    /// Why nothing bounds it.
    fn at(&mut self, flows: &[usize], server: usize) -> Result<ArrivalCurve, Unbounded>;

    /// What all flows but `own` bring to a server, as far as it matters to `own`. `before` is the server from which it
    /// comes, if what meets it at both may be counted as if it had not been at the first.
    ///
    /// # Errors
    /// Why nothing bounds it.
    fn crossing(&mut self, server: usize, own: usize, before: Option<usize>) -> Result<ArrivalCurve, Unbounded> {
        let _ = before;
        let others = self.network().others(server, &[own]);
        self.at(&others, server)
    }

    /// True if regulators between servers put flows into shape again. They hold frames back, so servers in a row are not one
    /// server there: only the delays of one after the other add up.
    fn is_reshaped(&self) -> bool {
        false
    }

    /// What waits at a server, and how long.
    fn server(&mut self, server: usize) -> Bound {
        let network = self.network();
        let flows: Vec<usize> = network.visits(server).iter().map(|visit| visit.flow).collect();
        match self.at(&flows, server) {
            Ok(arrival) => waiting(network, self.multiplexing(), server, &arrival),
            Err(because) => Bound::none(&upstream(network, server, &because)),
        }
    }
}

/// What waits at a server to which this comes, and how long.
pub(super) fn waiting(network: &Network, multiplexing: Multiplexing, server: usize, arrival: &ArrivalCurve) -> Bound {
    let here = &network.servers()[server];
    if let Some(because) = &here.refused {
        return Bound::none(because);
    }
    let too_much = || overload(network, server, arrival.rate().clone());
    let delay = match multiplexing {
        // One flow alone is served in its order.
        Multiplexing::Arbitrary if network.visits(server).len() > 1 => {
            strict(network, server).and_then(|()| busy_period(arrival, &here.service).ok_or_else(too_much))
        }
        _ => delay(arrival, &here.service).ok_or_else(too_much),
    };
    // A frame keeps its place until its last bit has left.
    let left = here.service.framed(&network.longest_frame_at(server));
    Bound { delay, backlog: backlog(arrival, &left).ok_or_else(too_much) }
}

/// Which bucket of flows that keep to several counts where a server serves in the order of arrival. What is left over
/// beside each is a service curve, what is left over beside all together is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Piece {
    /// That of the least burst.
    First,
    /// That of the least rate.
    Last,
}

/// What a server leaves to flows of rate `own` beside `cross`.
pub(super) fn left_over(
    network: &Network,
    multiplexing: Multiplexing,
    server: usize,
    cross: &ArrivalCurve,
    own: &Rational,
    piece: Piece,
) -> Result<ServiceCurve, Unbounded> {
    let here = &network.servers()[server];
    known(network, server)?;
    let left = if cross.is_zero() {
        (!here.service.rate().is_zero()).then(|| here.service.clone())
    } else if multiplexing == Multiplexing::Fifo {
        let others = match piece {
            Piece::First => cross.pieces().first(),
            Piece::Last => cross.pieces().last(),
        };
        others.and_then(|others| left_over_fifo(&here.service, others))
    } else {
        strict(network, server)?;
        left_over_arbitrary(&here.service, cross)
    };
    left.ok_or_else(|| overload(network, server, cross.rate() + own))
}

/// Refuses a server of which nothing is known.
pub(super) fn known(network: &Network, server: usize) -> Result<(), Unbounded> {
    network.servers()[server].refused.clone().map_or(Ok(()), Err)
}

/// Refuses a server whose service curve is not strict.
pub(super) fn strict(network: &Network, server: usize) -> Result<(), Unbounded> {
    let here = &network.servers()[server];
    if here.is_strict { Ok(()) } else { Err(Unbounded::NotStrict { server: here.name.clone() }) }
}

/// What is said of a server that is asked for too much.
pub(super) fn overload(network: &Network, server: usize, asked: Rational) -> Unbounded {
    let here = &network.servers()[server];
    let (asked, has) = (Box::new(asked), Box::new(here.service.rate().clone()));
    Unbounded::Overload { server: here.name.clone(), asked, has }
}

/// What is said of a server to which something comes that has no bound; the first reason is kept.
pub(super) fn upstream(network: &Network, server: usize, because: &Unbounded) -> Unbounded {
    match because {
        Unbounded::Upstream { .. } => because.clone(),
        _ => Unbounded::Upstream { server: network.servers()[server].name.clone(), because: Box::new(because.clone()) },
    }
}
