//! Stream filters, stream gates and flow meters (IEEE 802.1Q-2018 §8.6.5.1).

use chronoseal_core::NodeId;
use chronoseal_media::psfp::{FlowMeterConfig, StreamGateConfig};

/// The tables of a segment, which every switch has for itself.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StreamFilters {
    /// Filters in their order.
    pub filters: Vec<FilterPlan>,
    /// Gates with their names.
    pub gates: Vec<(String, StreamGateConfig)>,
    /// Meters with their names.
    pub meters: Vec<(String, FlowMeterConfig)>,
}

impl StreamFilters {
    /// The filter that judges a frame of a priority that comes to a switch from a neighbour. `is_of` tells whether it is of the
    /// stream of an entry of the scenario.
    pub fn of(&self, switch: u16, from: Neighbour, is_of: impl Fn(usize) -> bool, priority: u8) -> Option<&FilterPlan> {
        self.filters.iter().find(|filter| {
            filter.is_at(switch)
                && filter.from.as_ref().is_none_or(|all| all.contains(&from))
                && filter.entry.is_none_or(&is_of)
                && filter.priority.is_none_or(|own| own == priority)
        })
    }
}

/// A stream filter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FilterPlan {
    /// As its counters are called.
    pub name: String,
    /// The scenario's entry whose streams it matches; `None`: any.
    pub entry: Option<usize>,
    /// The priority that it matches; `None`: any.
    pub priority: Option<u8>,
    /// The switches that have it; `None`: all.
    pub switches: Option<Vec<u16>>,
    /// Whose links it looks at; `None`: all.
    pub from: Option<Vec<Neighbour>>,
    /// Maximum SDU size `[byte]`.
    pub max_sdu: Option<u32>,
    /// One frame that is too long blocks it for good.
    pub blocks_on_oversize: bool,
    /// Its gate, as an index into [`StreamFilters::gates`].
    pub gate: Option<usize>,
    /// Its meter, as an index into [`StreamFilters::meters`].
    pub meter: Option<usize>,
}

impl FilterPlan {
    /// True if a switch has it.
    pub fn is_at(&self, switch: u16) -> bool {
        self.switches.as_ref().is_none_or(|switches| switches.contains(&switch))
    }

    /// True if it matches all that another one does.
    pub fn covers(&self, other: &Self) -> bool {
        fn has<T: PartialEq>(one: Option<&Vec<T>>, other: Option<&Vec<T>>) -> bool {
            one.is_none_or(|one| other.is_some_and(|other| other.iter().all(|value| one.contains(value))))
        }
        has(self.switches.as_ref(), other.switches.as_ref())
            && has(self.from.as_ref(), other.from.as_ref())
            && (self.entry.is_none() || self.entry == other.entry)
            && (self.priority.is_none() || self.priority == other.priority)
    }
}

/// Who is at the other end of a switch's link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Neighbour {
    /// A node.
    Station(NodeId),
    /// Another switch.
    Switch(u16),
}
