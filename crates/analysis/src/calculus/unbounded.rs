//! Why there is no bound, and what is wrong with a curve or a network.

use super::rational::Rational;

/// Why nothing bounds a delay or a backlog.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unbounded {
    /// More comes in the long run than is carried, or as much where more would be needed.
    #[error(
        "server `{server}` is asked for {asked} for each unit of time in the long run and has {has}; take flows off it, lower their rates or make it faster"
    )]
    Overload {
        /// Which server.
        server: String,
        /// Rates of the flows that count.
        asked: Box<Rational>,
        /// Its rate in the long run.
        has: Box<Rational>,
    },
    /// Flows close a circle, so that no server can be computed first.
    #[error("the flows close a circle over {}; send one of them another way", quoted(.servers))]
    Cycle {
        /// The servers of the circle, in order.
        servers: Vec<String>,
    },
    /// Servers in a circle of flows make one another later without end.
    #[error("the servers {} make one another later, with no end in sight; lower a rate on that circle or send a flow another way", quoted(.servers))]
    Diverges {
        /// The servers of the circle, in order.
        servers: Vec<String>,
    },
    /// Serving in any order can only be bounded where the service curve is strict.
    #[error(
        "what server `{server}` carries holds for whole busy periods only (a shaper's curve): there is a bound for serving in order of arrival, none for any order"
    )]
    NotStrict {
        /// Which server.
        server: String,
    },
    /// A flow on the way there has no bound further up.
    #[error("what comes to server `{server}` has no bound: {because}")]
    Upstream {
        /// Which server.
        server: String,
        /// Why not.
        because: Box<Unbounded>,
    },
    /// Nobody knows what a flow sends.
    #[error("nothing bounds what `{flow}` sends")]
    Unknown {
        /// Which flow.
        flow: String,
    },
    /// A gate never opens long enough for a frame.
    #[error(
        "the windows of `{class}` have no room for one frame of {frame} at this rate: the longest would have to last {needed}, and lasts {longest}"
    )]
    NoRoomInWindows {
        /// Of which class.
        class: String,
        /// Its longest frame.
        frame: Box<Rational>,
        /// How long a window would have to be.
        needed: Box<Rational>,
        /// How long the longest is.
        longest: Box<Rational>,
    },
    /// Shapers are given more than the link, or than the classes above leave.
    #[error(
        "the classes down to `{class}` reserve {reserved} of a link of {link}; their idle slopes must add up to less"
    )]
    Overreserved {
        /// The first class for which it is too much.
        class: String,
        /// Idle slopes of this class and those above.
        reserved: Box<Rational>,
        /// Rate of the link.
        link: Box<Rational>,
    },
    /// This combination is known to have no bound, or none is known.
    #[error("{0}")]
    Combination(Combination),
}

/// Combinations of mechanisms without a bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Combination {
    /// Replication may change the order of frames, and a regulator behind it may then delay them without end.
    #[error(
        "asynchronous shaping (802.1Qcr) behind frame replication (802.1CB): copies arrive out of order, and a regulator may then delay frames without end (Thomas, Mifdaoui, Le Boudec, \"Worst-case delay bounds in time-sensitive networks with packet replication and elimination\", 2022; arXiv 2504.01946); shape before the replication or put the frames back in order"
    )]
    AsynchronousAfterReplication,
    /// Frames of the queue before the regulator do not leave in order.
    #[error(
        "asynchronous shaping (802.1Qcr) behind a hop that does not keep the order of frames: its delay comes for free only behind a FIFO queue (Le Boudec, \"A theory of traffic regulators for deterministic networks\", 2018); let the frames of one regulator come from one queue"
    )]
    AsynchronousWithoutOrder,
    /// A regulator's clock may be slower than that of the source, and nothing is left for the difference.
    #[error(
        "asynchronous shaping (802.1Qcr) by clocks that run apart: a regulator that is slower than its source delays frames without end (Thomas, Le Boudec, \"On time synchronization issues in time-sensitive networks with regulators and nonideal clocks\", 2020); raise its committed rate by the greatest difference of the clocks"
    )]
    AsynchronousClocks,
    /// What a shaper earns while a gate is about to close is not covered by a proof.
    #[error(
        "credit-based shaping (802.1Qav) under gates (802.1Qbv): credit grows while a gate that is about to close keeps frames back, and no bound of it is known to hold here; give the class its windows without a shaper, or a shaper without windows"
    )]
    CreditUnderGates,
    /// What a preemptable class loses to holds is not known.
    #[error(
        "a preemptable class at a port that holds it by a table (*Set-And-Hold-MAC*, 802.1Qbu): how often its frames are cut then is not counted here; make the class express, or close its gate instead of holding it"
    )]
    Held,
    /// A frame that was interrupted may not end before its gate closes.
    #[error(
        "a preemptable class (802.1Qbu) under gates of its own (802.1Qbv): a frame that is interrupted may not end before its gate closes; make the class express, or leave its gate open"
    )]
    InterruptedUnderGates,
    /// Windows and idle slopes are those of one list, and then those of another: what waits at the change, and what credit a class has by
    /// then, no curve of either list covers. So every class at the port is without a bound, shaped or not.
    #[error(
        "gates whose list is replaced during the run (802.1Qbv, List Config): what waits when one list ends and the other begins is not bounded here by service curves; frames are followed through both lists where the segment says `sync = \"ideal\"`, and streams have an `offset`, a sender with `clock = \"ideal\"` in its entry of `nodes`, and gates that are open for them under either list"
    )]
    ListChanges,
}

/// What is wrong with a curve.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidCurve {
    /// It has no piece.
    #[error("a curve needs at least one piece")]
    Empty,
    /// A rate, burst or latency is below zero.
    #[error("a curve has no negative rate, burst or latency")]
    Negative,
}

/// What is wrong with a network.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidNetwork {
    /// A flow passes no server.
    #[error("flow `{flow}` passes no server; give it at least one")]
    NoHops {
        /// Which flow.
        flow: String,
    },
    /// A hop is at a server that does not exist.
    #[error("flow `{flow}`, hop {hop}: there is no server {server}, there are {servers}, counted from 0")]
    UnknownServer {
        /// Which flow.
        flow: String,
        /// Which of its hops, from 0.
        hop: usize,
        /// The number it gives.
        server: usize,
        /// How many there are.
        servers: usize,
    },
    /// A hop follows one that does not come before it.
    #[error("flow `{flow}`, hop {hop}: it follows hop {after}, which has to come before it in the list")]
    HopOrder {
        /// Which flow.
        flow: String,
        /// Which of its hops, from 0.
        hop: usize,
        /// The hop it claims to follow.
        after: usize,
    },
    /// A flow comes to a server twice.
    #[error("flow `{flow}` passes server `{server}` twice; a flow that returns is two flows here")]
    Twice {
        /// Which flow.
        flow: String,
        /// Which server.
        server: String,
    },
}

fn quoted(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}
