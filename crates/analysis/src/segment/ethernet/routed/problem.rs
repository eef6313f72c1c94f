//! Why the queues of a link have no bound.

use chronoseal_core::NodeId;
use chronoseal_plan::Plan;

use super::super::super::Why;
use super::super::super::demand::percent;
use super::{Routed, RoutedStream, number};
use crate::calculus::ethernet::SwitchBounds;
use crate::calculus::{Combination, Rational, Unbounded, whole};

/// A link whose queues have no bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the link from node {} to node {} {reason}", .from.0, .to.0)]
pub struct LinkProblem {
    /// Who sends on it.
    pub from: NodeId,
    /// Who receives.
    pub to: NodeId,
    /// What it is.
    pub reason: LinkReason,
}

/// Why the queues of a link have no bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinkReason {
    /// More comes than it carries.
    #[error(
        "is overloaded: this stream, those of its class and those above it need {} of its time, {} too much; send some of them another way, less often, or shorter",
        percent(*load_ppm),
        percent(load_ppm.saturating_sub(1_000_000))
    )]
    Overload {
        /// What is asked for of what there is `[10^-6]`, rounded up.
        load_ppm: u64,
    },
    /// More comes of a class than its shaper lets pass.
    #[error(
        "has an idle slope that is too low for this class: its streams need {} of it, {} too much; write a higher `idle_slope`, or send some of them another way, less often, or shorter",
        percent(*load_ppm),
        percent(load_ppm.saturating_sub(1_000_000))
    )]
    IdleSlope {
        /// What the class asks for of its idle slope `[10^-6]`, rounded up.
        load_ppm: u64,
    },
    /// Streams close a circle on which delays grow without an end in sight.
    #[error(
        "is on or behind a circle of streams that make one another later, with no end in sight; send one of them another way, or less often"
    )]
    Circle,
    /// Its shapers are given more than it carries.
    #[error(
        "has idle slopes that leave no room for this class: those of the classes down to it and what goes before them need {} of its time; lower one of them",
        percent(*load_ppm)
    )]
    Overreserved {
        /// What is reserved of what there is `[10^-6]`, rounded up.
        load_ppm: u64,
    },
    /// Gates leave no room for a frame.
    #[error("has no window with room for a frame of this class; make one longer")]
    NoRoom,
    /// Gates or slots leave room enough in the long run, and yet the analysis cannot tell that all frames fit.
    #[error(
        "has windows in which the analysis finds no room for all that comes, although they are long enough together: it takes each as too short by a longest frame, since it cannot tell which frame comes when; write an `offset` for each stream of the class and ideal clocks, make them longer, or simulate it"
    )]
    Windows,
    /// This combination has no bound.
    #[error("has none: {0}")]
    Combination(Combination),
    /// The analysis has no answer.
    #[error("has queues for which the analysis finds no bound")]
    NotKnown,
}

impl LinkProblem {
    /// In one sentence, with names.
    pub fn text(&self, plan: &Plan) -> String {
        let Self { from, to, reason } = self;
        format!("the link from `{}` to `{}` {reason}", plan.node_name(*from), plan.node_name(*to))
    }
}

impl Routed {
    /// Why a stream has no bound to one of its ends: the first link on its way that has none of its own.
    pub(super) fn reason(&self, sent: &RoutedStream, end: usize, found: &SwitchBounds) -> Why {
        if let Err(why) = sent.at {
            return why;
        }
        if self.is_over_bucket(sent) {
            return Why::OverBucket;
        }
        let class = sent.class();
        for link in self.way(sent, end) {
            let because = found.at(link, class).and_then(|bound| bound.delay.as_ref().err());
            let reason = match because {
                None => continue,
                Some(Unbounded::Upstream { .. } | Unbounded::Unknown { .. }) => return Why::ArrivalUnbounded,
                Some(Unbounded::Overload { .. }) if self.may_fit(link, class) => LinkReason::Windows,
                Some(Unbounded::Overload { asked, has, .. }) => {
                    let load_ppm = ppm(asked, has);
                    match self.links[link].port.idle_slopes.contains_key(&number(class)) {
                        true => LinkReason::IdleSlope { load_ppm },
                        false => LinkReason::Overload { load_ppm },
                    }
                }
                Some(Unbounded::Cycle { .. } | Unbounded::Diverges { .. }) => LinkReason::Circle,
                Some(Unbounded::Overreserved { reserved, link, .. }) => {
                    LinkReason::Overreserved { load_ppm: ppm(reserved, link) }
                }
                Some(Unbounded::NoRoomInWindows { .. }) => LinkReason::NoRoom,
                Some(Unbounded::Combination(combination)) => LinkReason::Combination(*combination),
                Some(_) => LinkReason::NotKnown,
            };
            let (from, to) = (self.links[link].from, self.links[link].to);
            return Why::Link(LinkProblem { from, to, reason });
        }
        Why::ArrivalUnbounded
    }

    /// True if gates or slots keep a class back on a link, and frames would fit nevertheless if each came at the right time: its
    /// own into what is open to it, and all into what the link carries.
    fn may_fit(&self, link: usize, class: usize) -> bool {
        let closed: Rational = self.links[link].closed.iter().map(|one| whole((one.until - one.from).as_ps())).sum();
        let beside = whole(1) - closed / whole(self.cycle.as_ps().max(1));
        let own = self.links[link].port.gates.get(&number(class)).map(|gates| gates.open_share());
        if own.is_none() && beside == whole(1) {
            return false;
        }
        let open = own.unwrap_or_else(|| whole(1)).min(beside);
        let passing: Vec<&RoutedStream> =
            self.streams.iter().filter(|sent| sent.hops.iter().any(|(hop, _)| *hop == link)).collect();
        let asked = |counts: &dyn Fn(usize) -> bool| -> Rational {
            passing.iter().filter(|sent| counts(sent.class())).map(|sent| self.bucket(sent).rate).sum()
        };
        let rate = self.port(link).rate;
        asked(&|other| other == class) <= &rate * open && asked(&|_| true) <= rate
    }
}

fn ppm(asked: &Rational, has: &Rational) -> u64 {
    if *has <= whole(0) {
        return u64::MAX;
    }
    (asked * whole(1_000_000) / has).ceil().try_into().unwrap_or(u64::MAX)
}
