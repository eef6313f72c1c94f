//! Runs a plan on an engine and gathers what a run is: its description, its rows, its summary.
//!
//! This is the one place where a plan meets an engine; the command line and the studies both come here. It reads no
//! clock and opens no file itself.

mod cost;
mod measure;
mod meta;
mod record;
mod scenario;
mod simulate;

use chronoseal_results::rows::RunRows;
use chronoseal_results::{RunMeta, RunSummary, summarise};

pub use self::cost::{CostRow, CostTable, FRAME_LENGTHS, processor_cost};
pub use self::measure::{LiveOptions, MeasureError, agent_main, measure};
pub use self::meta::{describe, versions};
pub use self::scenario::Scenario;
pub use self::simulate::{Simulated, fingerprint, simulate, tally};

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
