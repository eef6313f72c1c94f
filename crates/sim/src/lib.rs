//! The virtual-time driver of nodes and media. Deterministic: the same plan and seed give the same events, to the bit.
//!
//! It reads no clock, starts no thread, opens no file. [`run`] simulates a plan; [`Simulation`] is the engine below it,
//! for nodes and media of one's own. An [`Observer`] sees every event; [`Fingerprint`] and [`Tally`] are the ones
//! that ship.
//!
//! ```
//! use chronoseal_catalog::Prepared;
//! use chronoseal_scenario::{NoFiles, load};
//! use chronoseal_sim::{Fingerprint, Tally};
//!
//! let text = r#"
//! schema_version = 2
//! name = "pair"
//! duration = "100ms"
//! [segments.network.ethernet]
//! rate = "100Mbit/s"
//! cluster_cycle = "10ms"
//! guard_period = "200us"
//! [[nodes]]
//! name = "a"
//! [[nodes]]
//! name = "b"
//! [[streams]]
//! name = "speed"
//! from = "a"
//! to = ["b"]
//! period = "10ms"
//! length = "46B"
//! "#;
//! let plan = load("pair.toml", text.as_bytes(), &[], &NoFiles)?;
//! let prepared = Prepared::new(&plan).expect("one frame fits");
//! let run = || {
//!     let observer = (Fingerprint::of_bytes(), Tally::default());
//!     chronoseal_sim::run(&prepared, observer, &mut |_| true).expect("every part can be built").observer
//! };
//!
//! let (fingerprint, tally) = run();
//! // In the first of ten cycles the sender's clock has not joined the cluster yet.
//! assert_eq!(tally.delivered(), 9);
//! assert_eq!(fingerprint.finish(), run().0.finish());
//! # Ok::<(), chronoseal_scenario::Problems>(())
//! ```

mod engine;
mod observe;
mod queue;
mod station;
mod world;

pub use engine::Simulation;
pub use observe::{Fingerprint, FrameContext, Observer, Tally, TallyRow};
pub use station::NodeSetup;

use chronoseal_catalog::{BuildError, BuildOptions, Prepared};
use chronoseal_core::{Duration, NodeId, SimTime};
use chronoseal_media::medium::Medium;
use chronoseal_media::topology::Topology;
use chronoseal_plan::PlatformPlan;

/// A simulation that is over.
pub struct Finished<M, O> {
    /// The segments, with what they counted.
    pub medium: M,
    /// Who watched.
    pub observer: O,
    /// False if it was stopped before its time.
    pub is_whole: bool,
    /// Events that were handled, as a measure of the engine's work.
    pub events: u64,
}

/// Simulates a plan from its start to its end, or until `keep_going` says no (asked every few thousand events).
///
/// # Errors
/// [`BuildError`] if a node or a segment cannot be made as the plan has it.
pub fn run<O: Observer>(
    prepared: &Prepared<'_>,
    observer: O,
    keep_going: &mut dyn FnMut(SimTime) -> bool,
) -> Result<Finished<Topology, O>, BuildError> {
    run_on(prepared, prepared.topology()?, observer, keep_going)
}

/// [`run`] on a medium of one's own making, such as one that does something to frames.
///
/// # Errors
/// [`BuildError`] if a node cannot be made as the plan has it.
pub fn run_on<M: Medium, O: Observer>(
    prepared: &Prepared<'_>,
    medium: M,
    observer: O,
    keep_going: &mut dyn FnMut(SimTime) -> bool,
) -> Result<Finished<M, O>, BuildError> {
    let plan = prepared.plan();
    let mut simulation = Simulation::new(medium, plan.seed, observer);
    for id in plan.node_ids() {
        simulation.add(node_setup(prepared, id)?);
    }
    let is_whole = simulation.run_until(SimTime::ZERO + plan.duration, keep_going);
    simulation.close();
    let events = simulation.events();
    let (medium, observer) = simulation.into_parts();
    Ok(Finished { medium, observer, is_whole, events })
}

fn node_setup(prepared: &Prepared<'_>, id: NodeId) -> Result<NodeSetup, BuildError> {
    // Attackers compute for nothing, and no driver holds their frames.
    let plan = prepared.plan();
    Ok(NodeSetup {
        id,
        node: prepared.any_node(id, BuildOptions::default())?,
        oscillator: prepared.oscillator(id),
        driver: plan.nodes.get(id.index()).map_or_else(Default::default, |node| node.driver),
        hosts: prepared.host_ports(id),
        is_gateway: plan.nodes.get(id.index()).is_some_and(|node| node.interfaces.len() > 1),
        costs: plan.platform_of(id).map_or_else(Vec::new, costs),
    })
}

/// What a platform's processor takes: operation, for any length, for each byte.
fn costs(platform: &PlatformPlan) -> Vec<(String, Duration, Duration)> {
    platform.costs.iter().map(|cost| (cost.operation.clone(), cost.base, cost.per_byte)).collect()
}
