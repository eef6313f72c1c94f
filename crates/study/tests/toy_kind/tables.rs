//! The toy beside the kinds of the project: one row in each table.

use chronoseal_analysis::segment::{CanBounds, EthernetBounds, SegmentBounds};
use chronoseal_catalog::{Kind, Kinds};
use chronoseal_scenario::SegmentKind;
use chronoseal_study::Page;

use crate::bounds::ToyBounds;
use crate::kind::ToyKind;
use crate::page;
use crate::spec::ToyScenario;

/// The name of the kind: in scenarios, as in `[segments.NAME.toy]`, and in every table.
pub(crate) const TOY: &str = "toy";

static SCENARIO: [&dyn SegmentKind; 3] =
    [&chronoseal_scenario::kinds::can::CanKind, &chronoseal_scenario::kinds::ethernet::EthernetKind, &ToyScenario];
static CATALOG: [&dyn Kind; 3] =
    [&chronoseal_catalog::can::CanKind, &chronoseal_catalog::ethernet::EthernetKind, &ToyKind];
static BOUNDS: [&dyn SegmentBounds; 3] = [&CanBounds, &EthernetBounds, &ToyBounds];

/// The pages of `check`.
pub(crate) const PAGES: [(&str, Page); 1] = [(TOY, page::page)];

/// Every kind there is.
pub(crate) fn kinds() -> Kinds {
    Kinds::new(&SCENARIO, &CATALOG, &BOUNDS).expect("each kind has a row in each table")
}
