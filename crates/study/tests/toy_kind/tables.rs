//! The toy beside the kinds of the project: one row in each table.

use std::sync::LazyLock;

use chronoseal_analysis::segment::SegmentBounds;
use chronoseal_catalog::{Kind, Kinds};
use chronoseal_check::Page;
use chronoseal_scenario::{KINDS, SegmentKind};

use crate::bounds::ToyBounds;
use crate::kind::ToyKind;
use crate::page;
use crate::spec::ToyScenario;

/// The name of the kind: in scenarios, as in `[segments.NAME.toy]`, and in every table.
pub(crate) const TOY: &str = "toy";

/// Every kind there is, for whoever reads a scenario.
pub(crate) static SCENARIO: LazyLock<Vec<&dyn SegmentKind>> = LazyLock::new(|| beside(KINDS, &ToyScenario));
static CATALOG: LazyLock<Vec<&dyn Kind>> = LazyLock::new(|| beside(Kinds::BUILT_IN.catalog(), &ToyKind));
static BOUNDS: LazyLock<Vec<&dyn SegmentBounds>> = LazyLock::new(|| beside(Kinds::BUILT_IN.bounds(), &ToyBounds));

/// The rows of the project, and one more.
fn beside<T: Copy>(built_in: &[T], own: T) -> Vec<T> {
    built_in.iter().copied().chain([own]).collect()
}

/// The pages of `check`.
pub(crate) const PAGES: [(&str, Page); 1] = [(TOY, page::page)];

/// Every kind there is, for all that is done with a plan.
pub(crate) fn kinds() -> Kinds {
    Kinds::new(&CATALOG, &BOUNDS).expect("each kind has a row in each table")
}
