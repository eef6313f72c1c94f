//! What frames travel on.

use std::ops::Range;

use crate::Facet;

/// Index into [`crate::Plan::segments`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SegmentId(pub u16);

impl SegmentId {
    /// This number as an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A segment: what frames travel on between nodes that have an interface to it.
#[derive(Clone, Debug)]
pub struct SegmentPlan {
    /// As in the scenario.
    pub name: String,
    /// The name of its kind, which is its row in the table of kinds.
    pub kind: &'static str,
    /// What only its kind knows.
    pub facet: Facet,
    /// Nodes that are part of the segment itself, such as its switch, by name.
    pub own_nodes: Vec<String>,
    /// Nodes that came with the segment, such as vehicles, by number: they are among the plan's nodes.
    pub brought: Range<u16>,
}
