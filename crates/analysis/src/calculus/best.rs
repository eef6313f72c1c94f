//! The least bound of every flow, and which analysis found it.

use super::cross::CrossTraffic;
use super::delayed::{Delayed, Settings};
use super::flow::{self, Bound};
use super::left_over::{LeftOver, Through};
use super::network::{Multiplexing, Network};
use super::rational::Rational;
use super::unbounded::Unbounded;

/// An analysis of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Analysis {
    /// [`flow::total_flow`].
    TotalFlow,
    /// [`flow::separate_flow`].
    SeparateFlow,
    /// [`flow::pay_multiplexing_once`].
    PayMultiplexingOnce,
}

impl Analysis {
    /// All of them, the cheapest first.
    pub const ALL: [Self; 3] = [Self::TotalFlow, Self::SeparateFlow, Self::PayMultiplexingOnce];

    /// The bound of a flow to one of its ends, by this analysis.
    pub fn bound<'a>(self, traffic: &mut (impl CrossTraffic<'a> + ?Sized), flow: usize, end: usize) -> Bound {
        match self {
            Self::TotalFlow => flow::total_flow(traffic, flow, end),
            Self::SeparateFlow => flow::separate_flow(traffic, flow, end),
            Self::PayMultiplexingOnce => flow::pay_multiplexing_once(traffic, flow, end),
        }
    }
}

/// The least bound of a flow to one of its ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Best {
    /// Which flow.
    pub flow: usize,
    /// Which of its hops is the last.
    pub end: usize,
    /// How long any of its data takes at most, and which analysis says so; why nothing bounds it, by the first.
    pub delay: Result<(Rational, Analysis), Unbounded>,
}

/// The least of all analyses, for every flow to each of its ends, in their order.
///
/// Left-over arrivals, and paying multiplexing only once, take long where many flows cross many others, so they are used for
/// at most `small` flows; total and separate flow analysis over arrivals by delays are used always.
///
/// # Errors
/// If flows close a circle and [`Settings`] have no grid.
pub fn best(
    network: &Network,
    multiplexing: Multiplexing,
    settings: Settings,
    small: usize,
) -> Result<Vec<Best>, Unbounded> {
    let mut by_delay = Delayed::new(network, multiplexing, settings)?;
    let is_small = network.flows().len() <= small;
    let left_over = is_small.then(|| LeftOver::new(network, multiplexing, Through::Least));
    let mut left_over = left_over.and_then(Result::ok);
    let mut found = Vec::new();
    for (index, flow) in network.flows().iter().enumerate() {
        for end in flow.ends() {
            let used = if is_small { &Analysis::ALL[..] } else { &[Analysis::TotalFlow, Analysis::SeparateFlow] };
            let mut bounds: Vec<(Result<Rational, Unbounded>, Analysis)> =
                used.iter().map(|one| (one.bound(&mut by_delay, index, end).delay, *one)).collect();
            if let Some(traffic) = &mut left_over {
                bounds.extend(Analysis::ALL.iter().map(|one| (one.bound(traffic, index, end).delay, *one)));
            }
            let mut delay: Option<Result<(Rational, Analysis), Unbounded>> = None;
            for (bound, analysis) in bounds {
                let is_better = match (&delay, &bound) {
                    (None, _) | (Some(Err(_)), Ok(_)) => true,
                    (Some(Ok((least, _))), Ok(bound)) => bound < least,
                    (Some(_), Err(_)) => false,
                };
                if is_better {
                    delay = Some(bound.map(|bound| (bound, analysis)));
                }
            }
            found.extend(delay.map(|delay| Best { flow: index, end, delay }));
        }
    }
    Ok(found)
}
