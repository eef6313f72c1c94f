//! How flows come to a server: the seam between the analyses of a flow and the ways to bound what crosses it.

use super::arrival::ArrivalCurve;
use super::network::{Multiplexing, Network};
use super::operations::{left_over_arbitrary, left_over_fifo};
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

    /// What these flows bring to a server from the one before it, as far as it matters to flow `own`, which comes from
    /// there too and meets them at both.
    ///
    /// # Errors
    /// Why nothing bounds it.
    fn beside(&mut self, flows: &[usize], before: usize, server: usize, own: usize) -> Result<ArrivalCurve, Unbounded> {
        let _ = (before, own);
        self.at(flows, server)
    }
}

/// What a server leaves to `own` beside `cross`.
pub(super) fn left_over(
    network: &Network,
    multiplexing: Multiplexing,
    server: usize,
    cross: &ArrivalCurve,
    own: &ArrivalCurve,
) -> Result<ServiceCurve, Unbounded> {
    let here = &network.servers()[server];
    let left = match multiplexing {
        Multiplexing::Fifo => left_over_fifo(&here.service, cross, own),
        Multiplexing::Arbitrary if cross.is_zero() => left_over_fifo(&here.service, cross, own),
        Multiplexing::Arbitrary => {
            strict(network, server)?;
            left_over_arbitrary(&here.service, cross)
        }
    };
    left.ok_or_else(|| overload(network, server, cross.rate() + own.rate()))
}

/// Refuses a server whose service curve is not strict.
pub(super) fn strict(network: &Network, server: usize) -> Result<(), Unbounded> {
    let here = &network.servers()[server];
    if here.is_strict { Ok(()) } else { Err(Unbounded::NotStrict { server: here.name.clone() }) }
}

/// What is said of a server that is asked for too much.
pub(super) fn overload(network: &Network, server: usize, asked: Rational) -> Unbounded {
    let here = &network.servers()[server];
    Unbounded::Overload { server: here.name.clone(), asked, has: here.service.rate().clone() }
}

/// What is said of a server to which something comes that has no bound; the first reason is kept.
pub(super) fn upstream(network: &Network, server: usize, because: &Unbounded) -> Unbounded {
    match because {
        Unbounded::Upstream { .. } => because.clone(),
        _ => Unbounded::Upstream { server: network.servers()[server].name.clone(), because: Box::new(because.clone()) },
    }
}
