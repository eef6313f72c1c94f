//! Stations and their processors.

use chronoseal_core::random::Jitter;
use chronoseal_core::{Duration, Ppm};
use chronoseal_media::host::HostConfig;

use crate::{GatewayPlan, SegmentId};

/// A station.
#[derive(Clone, Debug)]
pub struct NodePlan {
    /// As in the scenario.
    pub name: String,
    /// Its oscillator.
    pub clock: ClockPlan,
    /// Its processor.
    pub platform: PlatformId,
    /// Time its network driver takes between hand-over and first bit.
    pub driver: Jitter,
    /// What a frame that it receives passes before its application has it, at each port to a segment that knows of such.
    pub host_interface: Option<HostConfig>,
    /// Work it does beside its frames.
    pub tasks: Vec<TaskPlan>,
    /// In key exchanges.
    pub address: u8,
    /// The segments it is on: its port `k` is its interface to `interfaces[k]`.
    pub interfaces: Vec<SegmentId>,
    /// How it forwards between its segments, if it does.
    pub gateway: Option<GatewayPlan>,
    /// A program of somebody else that speaks on its segment, in live runs.
    pub program: Option<ProgramPlan>,
}

/// A program that a node runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProgramPlan {
    /// The program and its arguments, with the addresses of nodes in their places.
    pub command: Vec<String>,
    /// When it is started, from the start of the run.
    pub from: Duration,
}

/// An oscillator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClockPlan {
    /// What it shows when the run starts.
    pub offset: Duration,
    /// How much too fast it runs.
    pub drift: Ppm,
    /// The most it can run too fast or too slow, whatever the seed.
    pub drift_max: Ppm,
}

/// A periodic task on a node's processor.
#[derive(Clone, Debug)]
pub struct TaskPlan {
    /// As in the scenario.
    pub name: String,
    /// Distance of two runs; divides the cluster cycle.
    pub period: Duration,
    /// Processor time of one run at most.
    pub wcet: Duration,
}

/// Index into [`crate::Plan::platforms`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PlatformId(pub u16);

/// What operations cost on a processor.
#[derive(Clone, Debug)]
pub struct PlatformPlan {
    /// As in the scenario.
    pub name: String,
    /// Costs by operation name; an operation not listed costs nothing.
    pub costs: Vec<OperationCost>,
}

/// `base + per_byte * len`.
#[derive(Clone, Debug)]
pub struct OperationCost {
    /// Name of the operation, such as `hmac-sha-256`.
    pub operation: String,
    /// For any length.
    pub base: Duration,
    /// For each byte.
    pub per_byte: Duration,
}

impl PlatformPlan {
    /// The name of the one on which everything is free.
    pub const FREE: &str = "free";

    /// The one on which everything is free.
    pub fn free() -> Self {
        Self { name: Self::FREE.into(), costs: Vec::new() }
    }

    /// What `operation` over `len` bytes costs here.
    pub fn cost(&self, operation: &str, len: u32) -> Duration {
        self.costs
            .iter()
            .find(|cost| cost.operation == operation)
            .map_or(Duration::ZERO, |cost| cost.base + cost.per_byte * i64::from(len))
    }
}
