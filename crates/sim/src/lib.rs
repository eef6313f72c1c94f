//! The virtual-time driver of nodes and media. Deterministic: the same plan and seed give the same events, to the bit.
//!
//! It reads no clock, starts no thread, opens no file. [`run`] simulates a plan; [`Simulation`] is the engine below it,
//! for nodes and media of one's own. An [`Observer`] sees every event; [`Fingerprint`] and [`Tally`] are the ones
//! that ship.
//!
//! ```
//! use chronoseal_scenario::{NoFiles, load};
//! use chronoseal_sim::{Fingerprint, Tally};
//!
//! let text = r#"
//! schema_version = 1
//! name = "pair"
//! duration = "100ms"
//! [network.time_triggered_ethernet]
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
//! frame = "60B"
//! "#;
//! let plan = load("pair.toml", text.as_bytes(), &[], &NoFiles)?;
//! let schedule = chronoseal_analysis::synthesize(&plan).expect("one frame fits");
//! let run = || chronoseal_sim::run(&plan, &schedule, (Fingerprint::of_bytes(), Tally::default()), &mut |_| true).0;
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

pub use engine::{NodeSetup, Simulation};
pub use observe::{Fingerprint, FrameContext, Observer, Tally, TallyRow};

use chronoseal_catalog::{BuildOptions, can};
use chronoseal_core::{Duration, SimTime};
use chronoseal_media::can::CanNetwork;
use chronoseal_media::medium::Medium;
use chronoseal_media::schedule::ScheduleTable;
use chronoseal_scenario::plan::{CanPlan, Plan, PlatformPlan};

/// Simulates a plan from its start to its end, or until `keep_going` says no (asked every few thousand events).
///
/// Returns false if it was stopped.
pub fn run<O: Observer>(
    plan: &Plan,
    schedule: &ScheduleTable,
    observer: O,
    keep_going: &mut dyn FnMut(SimTime) -> bool,
) -> (O, bool) {
    let mut simulation = Simulation::new(chronoseal_catalog::star(plan, schedule), plan.seed, observer);
    for id in chronoseal_catalog::node_ids(plan) {
        simulation.add(node_setup(plan, schedule, id));
    }
    let finished = simulation.run_until(SimTime::ZERO + plan.duration, keep_going);
    (simulation.into_observer(), finished)
}

/// Simulates a plan on a CAN bus, as [`run`] does one on Ethernet, and gives back the bus too.
///
/// # Errors
/// Why a station cannot be made.
pub fn run_can<O: Observer>(
    plan: &CanPlan,
    observer: O,
    keep_going: &mut dyn FnMut(SimTime) -> bool,
) -> Result<(CanNetwork, O, bool), String> {
    run_can_on(plan, can::bus(plan), observer, keep_going)
}

/// [`run_can`] on a bus of one's own making, such as one that does something to frames.
///
/// # Errors
/// Why a station cannot be made.
pub fn run_can_on<M: Medium, O: Observer>(
    plan: &CanPlan,
    bus: M,
    observer: O,
    keep_going: &mut dyn FnMut(SimTime) -> bool,
) -> Result<(M, O, bool), String> {
    let mut simulation = Simulation::new(bus, plan.seed, observer);
    for id in can::node_ids(plan) {
        // Attackers compute for nothing.
        let station = plan.nodes.get(id.index());
        simulation.add(NodeSetup {
            id,
            node: can::node(plan, id)?,
            oscillator: can::oscillator(plan, id),
            driver: station.map_or_else(Default::default, |station| station.driver),
            costs: station.map_or_else(Vec::new, |node| costs(&plan.platforms[usize::from(node.platform.0)])),
        });
    }
    let finished = simulation.run_until(SimTime::ZERO + plan.duration, keep_going);
    let (bus, observer) = simulation.into_parts();
    Ok((bus, observer, finished))
}

fn node_setup(plan: &Plan, schedule: &ScheduleTable, id: chronoseal_core::NodeId) -> NodeSetup {
    let station = plan.nodes.get(id.index());
    NodeSetup {
        id,
        node: chronoseal_catalog::node(plan, schedule, id, BuildOptions::default()),
        oscillator: chronoseal_catalog::oscillator(plan, id),
        driver: station.map_or_else(Default::default, |node| node.driver),
        costs: station.map_or_else(Vec::new, |node| costs(&plan.platforms[usize::from(node.platform.0)])),
    }
}

/// What a platform's processor takes: operation, for any length, for each byte.
fn costs(platform: &PlatformPlan) -> Vec<(String, Duration, Duration)> {
    platform.costs.iter().map(|cost| (cost.operation.clone(), cost.base, cost.per_byte)).collect()
}
