//! Runs a plan on an engine and gathers what a run is: its description, its rows, its summary.
//!
//! This is the one place where a plan meets an engine; the command line and the studies both come here. It reads no
//! clock, opens no file itself and knows no text of a scenario: what live stations make their plan from is handed through.
//!
//! What matters: [`simulate()`] and [`measure()`], the two ways to run a plan; [`Run`], what both give.
//!
//! ```
//! use chronoseal_catalog::Prepared;
//! use chronoseal_runner::simulate;
//! use chronoseal_scenario::{NoFiles, load};
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
//! let run = simulate(&prepared, false, &mut |_| true).expect("every part can be built");
//! assert!(run.summary.deadlines_held());
//! assert_eq!(run.rows.frames.len(), 10, "nine delivered, one missing while the clocks joined");
//! # Ok::<(), chronoseal_scenario::Problems>(())
//! ```

mod apart;
mod cost;
mod divide;
mod dues;
mod facts;
mod fleet;
mod group;
mod hops;
mod latency;
mod measure;
mod messages;
mod meta;
mod offered;
mod precision;
mod record;
mod remote;
mod saturation;
mod simulate;
mod suite_cost;
mod trace;
mod traffic;
mod ways;
mod windows;

use chronoseal_results::rows::RunRows;
use chronoseal_results::{RunMeta, RunSummary, summarise};

pub use self::cost::{CostRow, CostTable, FRAME_LENGTHS, processor_cost};
pub use self::fleet::{drive_fleet, drive_plan};
pub use self::latency::simulated_latencies;
pub use self::measure::{
    CanPlaceName, LiveOptions, MeasureError, agent_main, agent_main_with, measure, secured_stream,
};
pub use self::meta::{commit, describe, versions};
pub use self::offered::{capacity, overloads};
pub use self::record::Span;
pub use self::remote::{HostRun, OverHosts, stations};
pub use self::saturation::{Bracket, Carried, saturate};
pub use self::simulate::{Simulated, fingerprint, simulate, simulate_folded, simulate_followed, tally};
pub use self::suite_cost::{SuiteCostRow, SuiteCostTable, suite_cost};
pub use self::trace::{TRACE_LEN_MAX, TraceError, TraceWindow, simulate_traced};
pub use self::windows::beyond_host;

/// A finished run.
#[derive(Clone, Debug)]
pub struct Run {
    /// What it was.
    pub meta: RunMeta,
    /// What it amounts to.
    pub summary: RunSummary,
    /// What it left behind.
    pub rows: RunRows,
}

impl Run {
    /// Sums up a run.
    pub fn new(mut meta: RunMeta, rows: RunRows) -> Self {
        meta.interrupted = rows.interrupted;
        let summary = summarise(&meta, &rows);
        Self { meta, summary, rows }
    }
}
