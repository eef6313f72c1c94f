//! The collections that are open at once, and the compressed points that are still to come.

use chronoseal_core::{Duration, LocalTime};
use chronoseal_wire::protocol_control_frame::PcfType;

use crate::as6802::permanence::Permanent;
use crate::as6802::{Collector, Parameters, Refusal};

/// A master is in at most so many collections at once; a correct one is in one. A master that sends many frames with other numbers
/// of cycles keeps a compression master busy no longer than that.
const COLLECTIONS_MAX: usize = 2;

/// A compressed point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) at: LocalTime,
    pub(super) kind: PcfType,
    pub(super) membership: u32,
    pub(super) integration_cycle: u32,
}

/// Frames of one kind and one integration cycle that are collected.
#[derive(Clone, Debug)]
struct Collection {
    kind: PcfType,
    integration_cycle: u32,
    collector: Collector,
}

#[derive(Clone, Debug)]
pub(super) struct Collections {
    observation_window: Duration,
    max_observation_window: u8,
    calculation_overhead: Duration,
    open: Vec<Collection>,
    /// The earliest first.
    points: Vec<Point>,
}

impl Collections {
    pub(super) fn new(parameters: &Parameters) -> Self {
        Self {
            observation_window: parameters.observation_window,
            max_observation_window: parameters.max_observation_window,
            calculation_overhead: parameters.cluster.calculation_overhead,
            open: Vec::new(),
            points: Vec::new(),
        }
    }

    /// Collects a frame that has just become permanent.
    pub(super) fn add(&mut self, frame: &Permanent<()>) -> Result<(), Refusal> {
        // Acknowledge frames belong to no cycle.
        let integration_cycle = if frame.kind == PcfType::Integration { frame.integration_cycle } else { 0 };
        let of_frame = |one: &&mut Collection| (one.kind, one.integration_cycle) == (frame.kind, integration_cycle);
        if let Some(collection) = self.open.iter_mut().find(of_frame) {
            return collection.collector.add(frame.at, frame.membership).map_err(|_| Refusal::Membership);
        }
        let with_this_master = |one: &&Collection| one.collector.membership() & frame.membership != 0;
        if self.open.iter().filter(with_this_master).count() >= COLLECTIONS_MAX {
            return Err(Refusal::Babbling);
        }
        let opened = Collector::open(self.observation_window, self.max_observation_window, frame.at, frame.membership);
        let collector = opened.map_err(|_| Refusal::Membership)?;
        self.open.push(Collection { kind: frame.kind, integration_cycle, collector });
        Ok(())
    }

    pub(super) fn window_ends_at(&self) -> Option<LocalTime> {
        self.open.iter().map(|one| one.collector.window_ends_at()).min()
    }

    /// Ends the window that ends first.
    pub(super) fn end_window(&mut self) {
        let Some(index) = (0..self.open.len()).min_by_key(|index| self.open[*index].collector.window_ends_at()) else {
            return;
        };
        let Some(compressed) = self.open[index].collector.end_window() else { return };
        let Collection { kind, integration_cycle, .. } = self.open.remove(index);
        let at = compressed.at + self.calculation_overhead;
        let place = self.points.partition_point(|point| point.at <= at);
        self.points.insert(place, Point { at, kind, membership: compressed.membership, integration_cycle });
    }

    pub(super) fn point_at(&self) -> Option<LocalTime> {
        self.points.first().map(|point| point.at)
    }

    pub(super) fn take_point(&mut self) -> Option<Point> {
        (!self.points.is_empty()).then(|| self.points.remove(0))
    }
}
