//! Fleets of vehicles on the engine.

use chronoseal_core::{Duration, Event, NodeId, Oscillator, SimTime, Work};
use chronoseal_sim::{FrameContext, NodeSetup, Observer, Simulation};
use chronoseal_v2x_fleet::simulation::{Fleet, FleetConfig, FleetError, FleetOutcome, FrameSeen, Watch};

/// Lets a fleet drive, in virtual time.
///
/// # Errors
/// [`FleetError`] for a contradiction in the configuration, or if there are no certificates.
pub fn drive_fleet(config: &FleetConfig) -> Result<FleetOutcome, FleetError> {
    drive_fleet_watched(config, ()).map(|(outcome, ())| outcome)
}

/// As [`drive_fleet`], with somebody who looks on: for fingerprints and captures.
///
/// # Errors
/// As [`drive_fleet`].
pub fn drive_fleet_watched<O: Observer>(config: &FleetConfig, observer: O) -> Result<(FleetOutcome, O), FleetError> {
    let fleet = Fleet::new(config)?;
    let mut simulation = Simulation::new(fleet.channel, config.seed, (Shown(fleet.watch), observer));
    let mut add = |index: usize, node, costs| {
        // The channel takes no more stations than a number of 16 bits names.
        let id = NodeId(index as u16);
        // Satellites keep the clocks of vehicles.
        let oscillator = Oscillator::default();
        simulation.add(NodeSetup { id, node, oscillator, driver: Default::default(), costs, is_gateway: false });
    };
    let vehicles = fleet.stations.len();
    for (index, station) in fleet.stations.into_iter().enumerate() {
        add(index, Box::new(station), config.costs.clone());
    }
    for (index, post) in fleet.posts.into_iter().enumerate() {
        add(vehicles + index, Box::new(post), Vec::new());
    }
    simulation.run_until(fleet.ends_at, &mut |_| true);
    let (channel, (Shown(watch), observer)) = simulation.into_parts();
    Ok((watch.finish(&channel), observer))
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
