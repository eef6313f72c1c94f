//! Why the queues of a link have no bound.

use chronoseal_core::NodeId;
use chronoseal_scenario::plan::Plan;

use crate::calculus::Combination;

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
        "is overloaded: this stream, those of its class and those above it need {load_ppm} ppm of its time; send some of them another way, less often, or shorter"
    )]
    Overload {
        /// What is asked for of what there is `[10^-6]`, rounded up.
        load_ppm: u64,
    },
    /// Streams close a circle on which delays grow without an end in sight.
    #[error(
        "is on or behind a circle of streams that make one another later, with no end in sight; send one of them another way, or less often"
    )]
    Circle,
    /// Its shapers are given more than it carries.
    #[error(
        "has idle slopes that leave no room for this class: those of the classes down to it and what goes before them need {load_ppm} ppm of its time; lower one of them"
    )]
    Overreserved {
        /// What is reserved of what there is `[10^-6]`, rounded up.
        load_ppm: u64,
    },
    /// Gates leave no room for a frame.
    #[error("has no window with room for a frame of this class; make one longer")]
    NoRoom,
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
