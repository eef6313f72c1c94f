//! Radio segments of a plan, watched by whoever counts what changes of pseudonyms hide and cost.

use std::sync::Arc;

use chronoseal_catalog::{BuildError, Prepared, radio};
use chronoseal_core::{Duration, Event, NodeId, SimTime, Work};
use chronoseal_plan::{Plan, PlatformPlan, Radio};
use chronoseal_sim::{Finished, FrameContext, Observer};
use chronoseal_v2x_fleet::simulation::{FleetConfig, FleetOutcome, FrameSeen, Watch, WatchConfig};

/// Simulates a plan of one radio segment and watches the vehicles of its road.
///
/// # Errors
/// [`BuildError`] for a contradiction in the plan, or if there are no certificates.
///
/// # Panics
/// If the plan's first segment is no radio segment.
pub fn drive_plan<O: Observer>(
    plan: &Plan,
    config: &WatchConfig,
    observer: O,
) -> Result<(FleetOutcome, O), BuildError> {
    let view = Radio::first(plan).expect("whoever watches a road has one");
    let prepared = Prepared::new(plan).expect("a radio segment needs no schedule");
    let watch = radio::fleet(&prepared, view.id)?.watch(config, view.first_vehicle())?;
    let channel = radio::channel(&prepared, view.id, &[])?;
    let observer = (Shown(watch), observer);
    let Finished { medium, observer: (Shown(watch), observer), .. } =
        chronoseal_sim::run_on(&prepared, channel, observer, &mut |_| true)?;
    Ok((watch.finish(&medium), observer))
}

/// [`drive_plan`] of a road of its own whose vehicles all send CAMs, on processors that take no time.
///
/// # Errors
/// As [`drive_plan`].
pub fn drive_fleet(config: &FleetConfig) -> Result<FleetOutcome, BuildError> {
    let plan = Plan::of_fleet(Arc::new(config.clone()), PlatformPlan::free());
    drive_plan(&plan, &WatchConfig::default(), ()).map(|(outcome, ())| outcome)
}

/// Shows the engine's events to the fleet's own observer.
struct Shown(Watch);

impl Observer for Shown {
    #[inline(always)]
    fn event(&mut self, at: SimTime, node: NodeId, event: &Event, frame: Option<FrameContext<'_>>) {
        self.0.event(at, node, event, frame.map(seen));
    }
    fn transmit(&mut self, _at: SimTime, _node: NodeId, frame: FrameContext<'_>) {
        self.0.transmit(frame.bytes);
    }
    fn carried(&mut self, at: SimTime, node: NodeId, frame: FrameContext<'_>) {
        self.0.carried(at, node, frame.bytes);
    }
    fn work(&mut self, _at: SimTime, _node: NodeId, work: &Work, cost: Duration) {
        self.0.work(work, cost);
    }
}

fn seen(context: FrameContext<'_>) -> FrameSeen<'_> {
    FrameSeen { bytes: context.bytes, sender: context.label.sender, received_at: context.received_at }
}
