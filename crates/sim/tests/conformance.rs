//! The simulator as a driver of nodes: it passes the suite that every driver has to pass.

use chronoseal_core::random::Jitter;
use chronoseal_core::{Duration, Event, NodeId, Oscillator, PortId, Priority, SimTime};
use chronoseal_core_testing::{self as testing, Driver, NotRun, TestNetwork};
use chronoseal_media::medium::{Attachment, FrameId, FrameStore, Medium, MediumOutput, MediumTimer};
use chronoseal_sim::{FrameContext, NodeSetup, Observer, Simulation};

/// Point-to-point links that take the same time for every frame, zero included.
struct Links {
    ends: Vec<[Attachment; 2]>,
    delay: Duration,
    under_way: Vec<(Attachment, FrameId, SimTime)>,
}

impl Medium for Links {
    fn start(&mut self, _: SimTime, _: &mut FrameStore, _: &mut Vec<MediumOutput>) {}

    fn handle_frame(
        &mut self,
        now: SimTime,
        from: Attachment,
        _: Priority,
        frame: FrameId,
        _: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        let other_end = |[a, b]: &[Attachment; 2]| {
            if *a == from { Some(*b) } else { (*b == from).then_some(*a) }
        };
        let to = self.ends.iter().find_map(other_end).expect("every port of these networks is linked");
        self.under_way.push((to, frame, now));
        let timer = MediumTimer::new(self.under_way.len() as u32 - 1);
        out.push(MediumOutput::Timer { at: now + self.delay, timer });
    }

    fn handle_timer(&mut self, _: SimTime, timer: MediumTimer, _: &mut FrameStore, out: &mut Vec<MediumOutput>) {
        let (to, frame, departed_at) = self.under_way[timer.number as usize];
        out.push(MediumOutput::Deliver { to, frame, departed_at });
    }
}

#[derive(Default)]
struct Told(Vec<(NodeId, Event)>);

impl Observer for Told {
    fn event(&mut self, _: SimTime, node: NodeId, event: &Event, _: Option<FrameContext<'_>>) {
        self.0.push((node, *event));
    }
}

/// The engine with links of one delay and processors of one speed.
struct Virtual {
    delay: Duration,
    /// What an iteration of the suite's computation costs.
    per_iteration: Duration,
}

impl Driver for Virtual {
    fn name(&self) -> &str {
        "sim"
    }

    fn run(&mut self, network: TestNetwork, until: Duration) -> Result<Vec<(NodeId, Event)>, NotRun> {
        let attach = |(node, port): (NodeId, PortId)| Attachment { node, port };
        let ends = network.links.iter().map(|ends| ends.map(attach)).collect();
        let links = Links { ends, delay: self.delay, under_way: Vec::new() };
        let mut simulation = Simulation::new(links, 1, Told::default());
        for (id, node) in network.nodes {
            simulation.add(NodeSetup {
                id,
                node: node.into(),
                oscillator: Oscillator::default(),
                driver: Jitter::default(),
                costs: vec![("conformance".into(), Duration::ZERO, self.per_iteration)],
                hosts: Vec::new(),
                is_gateway: false,
            });
        }
        let until = SimTime::ZERO + until;
        if !simulation.run_until(until, &mut |_| true) {
            return Err("stopped though nobody asked it to".into());
        }
        simulation.stop();
        Ok(simulation.into_observer().0)
    }
}

#[test]
fn passes_the_conformance_suite_on_links_and_processors_of_any_speed() {
    for delay in [Duration::ZERO, Duration::from_us(10), Duration::from_ms(4)] {
        // The suite's longest computation, 50 000 iterations, may take 1 ms.
        for per_iteration in [Duration::ZERO, Duration::from_ns(1), Duration::from_ns(20)] {
            let report = testing::run_all(&mut Virtual { delay, per_iteration });
            assert_eq!(report.cases.len(), testing::cases().len(), "{report}");
        }
    }
}
