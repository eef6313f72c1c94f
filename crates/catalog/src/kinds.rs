//! The tables of kinds of segments that belong together.

use std::fmt;

use chronoseal_analysis::Infeasible;
use chronoseal_analysis::segment::{BOUNDS, SegmentBounds};
use chronoseal_plan::{Plan, SegmentId};

use crate::{KINDS, Kind};

/// The kinds of segments that a program knows: two tables, in each of which every kind has a row.
///
/// A plan is prepared, bounded, simulated and run live with the same kinds. [`Kinds::BUILT_IN`] are those of this project;
/// [`Kinds::new`] takes tables of one's own. What a scenario may say of each kind is in a table of the parser,
/// `chronoseal_scenario::KINDS`: a kind without a row there is in no plan.
#[derive(Clone, Copy)]
pub struct Kinds {
    catalog: &'static [&'static dyn Kind],
    bounds: &'static [&'static dyn SegmentBounds],
}

/// One of the tables of [`Kinds`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KindTable {
    /// What a segment and its stations are made of: rows of [`Kind`].
    Catalog,
    /// What frames take on a segment at most: rows of [`SegmentBounds`].
    Bounds,
}

/// A kind without a row in one of the tables.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "segments of kind `{kind}` have no row in the table of {table}; add a row that implements `{}` to it",
    table.implements()
)]
pub struct MissingRow {
    /// The name of the kind.
    pub kind: String,
    /// The table without it.
    pub table: KindTable,
}

/// Why a plan cannot be prepared.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PrepareError {
    /// Something finds no place in a schedule.
    #[error("{0}")]
    Infeasible(#[from] Box<Infeasible>),
    /// The plan was made with other kinds than it is prepared with.
    #[error(transparent)]
    MissingRow(#[from] MissingRow),
}

impl Kinds {
    /// The kinds of this project.
    pub const BUILT_IN: Self = Self { catalog: KINDS, bounds: BOUNDS };

    /// Tables of one's own.
    ///
    /// # Errors
    /// [`MissingRow`] if a kind has a row in one of the tables and none in another.
    pub fn new(
        catalog: &'static [&'static dyn Kind],
        bounds: &'static [&'static dyn SegmentBounds],
    ) -> Result<Self, MissingRow> {
        let kinds = Self { catalog, bounds };
        kinds.check().map(|()| kinds)
    }

    /// What segments of each kind are made of.
    pub const fn catalog(&self) -> &'static [&'static dyn Kind] {
        self.catalog
    }

    /// What frames take on segments of each kind at most.
    pub const fn bounds(&self) -> &'static [&'static dyn SegmentBounds] {
        self.bounds
    }

    fn check(&self) -> Result<(), MissingRow> {
        let tables = [
            (KindTable::Catalog, self.catalog.iter().map(|row| row.name()).collect::<Vec<_>>()),
            (KindTable::Bounds, self.bounds.iter().map(|row| row.kind()).collect()),
        ];
        for kind in tables.iter().flat_map(|(_, names)| names) {
            if let Some((table, _)) = tables.iter().find(|(_, names)| !names.contains(kind)) {
                return Err(MissingRow { kind: (*kind).to_owned(), table: *table });
            }
        }
        Ok(())
    }

    /// The row of the catalog for a segment of a plan.
    pub(crate) fn row(&self, plan: &Plan, segment: SegmentId) -> Result<&'static dyn Kind, MissingRow> {
        let name = plan.segments[segment.index()].kind;
        let row = self.catalog.iter().copied().find(|row| row.name() == name);
        row.ok_or_else(|| MissingRow { kind: name.to_owned(), table: KindTable::Catalog })
    }
}

impl Default for Kinds {
    fn default() -> Self {
        Self::BUILT_IN
    }
}

impl fmt::Debug for Kinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.catalog.iter().map(|row| row.name())).finish()
    }
}

impl KindTable {
    /// The trait that its rows implement.
    const fn implements(self) -> &'static str {
        match self {
            Self::Catalog => "chronoseal_catalog::Kind",
            Self::Bounds => "chronoseal_analysis::segment::SegmentBounds",
        }
    }
}

impl fmt::Display for KindTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Catalog => "what segments are made of",
            Self::Bounds => "bounds",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_the_project_has_all_its_rows() {
        assert_eq!(Kinds::BUILT_IN.check(), Ok(()));
        let of_scenarios: Vec<&str> = chronoseal_scenario::KINDS.iter().map(|row| row.name()).collect();
        let of_plans: Vec<&str> = Kinds::BUILT_IN.catalog.iter().map(|row| row.name()).collect();
        assert_eq!(of_scenarios, of_plans, "a scenario can have the kinds that there are, and no others");
    }

    #[test]
    fn a_missing_row_is_reported_with_its_table() {
        static ONLY_CAN: [&dyn Kind; 1] = [&crate::can::CanKind];
        let missing = |catalog, bounds| Kinds::new(catalog, bounds).expect_err("a row is missing");
        let all = Kinds::BUILT_IN;
        let error = missing(&ONLY_CAN, all.bounds);
        assert_eq!((error.kind.as_str(), error.table), ("ethernet", KindTable::Catalog));
        let error = missing(all.catalog, &[]);
        assert_eq!((error.kind.as_str(), error.table), ("can", KindTable::Bounds));
        let text = error.to_string();
        assert!(text.contains("`can`") && text.contains("table of bounds") && text.contains("SegmentBounds"), "{text}");
    }
}
