//! The engine: lets time pass from one event to the next, and takes what the medium gives to the nodes.

use chronoseal_core::{Command, Node, SimTime, TxToken};
use chronoseal_media::medium::{Attachment, FrameId, FrameLabel, Medium, MediumOutput};

use crate::observe::{FrameContext, Observer};
use crate::queue::{Class, Happening};
use crate::station::{Arrived, NodeSetup, Pending, Station};
use crate::world::{World, context};

/// How often a run asks whether to go on `[events]`.
const ASK_EVERY: u64 = 4096;

/// Nodes, a medium, and the time between them.
pub struct Simulation<M, O> {
    stations: Vec<Station>,
    world: World<M, O>,
    seed: u64,
    /// Events handled so far.
    events: u64,
}

impl<M: Medium, O: Observer> Simulation<M, O> {
    /// An engine without nodes.
    pub fn new(medium: M, seed: u64, observer: O) -> Self {
        Self { stations: Vec::new(), world: World::new(medium, observer), seed, events: 0 }
    }

    /// Adds a node.
    ///
    /// # Panics
    /// If nodes are not added in the order of their numbers.
    pub fn add(&mut self, setup: NodeSetup) {
        assert_eq!(setup.id.index(), self.stations.len(), "nodes are added in the order of their numbers");
        self.stations.push(Station::new(setup, self.seed));
    }

    /// Starts the medium and every node, and lets time pass until `until`. False if `keep_going` stopped it.
    pub fn run_until(&mut self, until: SimTime, keep_going: &mut dyn FnMut(SimTime) -> bool) -> bool {
        for Attachment { node, port } in self.world.medium.follows_clocks_of() {
            if let Some(station) = self.stations.get_mut(node.index()) {
                station.clock_ports.push(port);
            }
        }
        self.command(Command::Start);
        let world = &mut self.world;
        world.medium.start(world.now, &mut world.frames, &mut world.outputs);
        self.settle();
        while let Some((at, what)) = self.world.queue.pop_until(until) {
            self.world.now = at;
            self.happen(what);
            self.events += 1;
            if self.events.is_multiple_of(ASK_EVERY) && !keep_going(at) {
                return false;
            }
        }
        self.world.now = until;
        true
    }

    /// Tells the observer what is left when the run is over: what nodes should have sent, and every frame that is on its way.
    pub fn close(&mut self) {
        let Self { stations, world, .. } = self;
        for station in stations {
            let now = station.local(world.now);
            while let Some((stream, due)) = station.setup.node.owed(now) {
                let due_at = station.setup.oscillator.sim(due);
                world.observer.owed(station.setup.id, stream, due_at);
            }
        }
        world.release_scratch();
        let alive = world.frames.alive();
        alive.for_each(|(bytes, label)| {
            world.observer.on_way(FrameContext { bytes, label, departed_at: None, received_at: None });
        });
    }

    /// Tells every node to stop, at the time the run has come to.
    ///
    /// A node whose processor is busy hears of it when that is free again, if the run goes on so long.
    pub fn stop(&mut self) {
        self.command(Command::Stop);
        self.settle();
    }

    /// Events handled so far: timers of the medium, launches, wake-ups, and processors that became free.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// The observer, when the run is over.
    pub fn into_observer(self) -> O {
        self.world.observer
    }

    /// The medium and who watched, when the run is over.
    pub fn into_parts(self) -> (M, O) {
        (self.world.medium, self.world.observer)
    }

    fn command(&mut self, command: Command) {
        for station in &mut self.stations {
            self.world.input(station, Pending::Command(command));
        }
    }

    fn happen(&mut self, what: Happening) {
        let Self { stations, world, .. } = self;
        match what.class() {
            Class::Medium => {
                world.medium.handle_timer(world.now, what.timer(), &mut world.frames, &mut world.outputs);
            }
            Class::Host => world.host_done(&mut stations[what.source() as usize], what.port()),
            Class::ProcessorFree => world.resume(&mut stations[what.source() as usize]),
            Class::Launch => {
                let station = &mut stations[what.source() as usize];
                if let Some(launch) = station.held.take() {
                    world.launch(station, launch);
                }
            }
            Class::Wake => {
                let station = &mut stations[what.source() as usize];
                // A node may have asked for another time since.
                if station.wake_at == Some(world.now) {
                    station.wake_at = None;
                    world.input(station, Pending::Timeout);
                }
            }
        }
        self.settle();
    }

    /// Carries out what the medium wants, and what follows from it.
    #[inline(always)]
    fn settle(&mut self) {
        let mut next = 0;
        while next < self.world.outputs.len() {
            let place = next;
            next += 1;
            let Self { stations, world, .. } = self;
            // Most outputs are timers.
            if let MediumOutput::Timer { at, timer } = world.outputs[place] {
                world.queue.push(at, Happening::medium(timer));
                continue;
            }
            // Matched where it lies: the medium has just written it in pieces, and a copy of the whole waits for each.
            match world.outputs[place] {
                MediumOutput::Timer { .. } => {}
                MediumOutput::Deliver { to, frame, departed_at } => {
                    let arrived = Arrived { frame, departed_at, received_at: world.now };
                    world.deliver(&mut stations[to.node.index()], to.port, arrived);
                }
                MediumOutput::Transmitted { from, frame, departed_at } => {
                    let context = context(&world.frames, frame, Some(departed_at), None);
                    world.observer.carried(world.now, from.node, context);
                    if let Some(token) = self.take_token(frame) {
                        let station = &mut self.stations[from.node.index()];
                        self.world.input(station, Pending::Transmitted(token, departed_at));
                    }
                    self.world.frames.release(frame);
                }
                MediumOutput::Discard { node, event, frame } => {
                    let context = context(&world.frames, frame, None, None);
                    world.observer.event(world.now, node, &event, Some(context));
                    let from = world.frames.label(frame).sender;
                    let token = self.take_token(frame);
                    self.world.frames.release(frame);
                    if let Some(token) = token {
                        self.world.input(&mut self.stations[from.index()], Pending::Dropped(token));
                    }
                }
                MediumOutput::Event { node, event, frame } => {
                    let context = frame.map(|frame| context(&world.frames, frame, None, None));
                    world.observer.event(world.now, node, &event, context);
                }
            }
        }
        self.world.outputs.clear();
        self.world.tell_passings();
    }

    /// The token a frame was sent with, if its sender still waits to hear of it.
    fn take_token(&mut self, frame: FrameId) -> Option<TxToken> {
        let FrameLabel { sender, serial, .. } = *self.world.frames.label(frame);
        let tokens = &mut self.stations.get_mut(sender.index())?.tokens;
        let place = tokens.iter().position(|(waiting, _)| Some(*waiting) == serial)?;
        Some(tokens.swap_remove(place).1)
    }
}

#[cfg(test)]
mod tests {
    use chronoseal_core::random::Jitter;
    use chronoseal_core::{
        Duration, Event, HandleError, Input, LocalTime, Node, NodeId, Oscillator, Output, PortId, Priority, Transmit,
    };
    use chronoseal_media::medium::{FrameStore, MediumTimer};
    use chronoseal_nodes::AnyNode;

    use super::*;
    use crate::station::NodeSetup;

    /// Hands over one frame at each of these times, to leave at another `[us]`.
    struct Sender {
        agenda: Vec<(i64, i64, u8)>,
        next: usize,
    }

    impl Node for Sender {
        fn handle_input(&mut self, _: LocalTime, _: Input<'_>) -> Result<(), HandleError> {
            Ok(())
        }

        fn poll_output(&mut self, now: LocalTime, frame: &mut [u8]) -> Output {
            let local = |us| LocalTime::ZERO + Duration::from_us(us);
            let Some(&(at, leaves, mark)) = self.agenda.get(self.next) else { return Output::Timeout(None) };
            if local(at) > now {
                return Output::Timeout(Some(local(at)));
            }
            self.next += 1;
            frame[0] = mark;
            Output::Transmit(Transmit {
                port: PortId(0),
                priority: Priority(0),
                launch_at: local(leaves),
                len: 1,
                token: None,
            })
        }
    }

    /// Swallows every frame.
    struct Sink;

    impl Medium for Sink {
        fn start(&mut self, _: SimTime, _: &mut FrameStore, _: &mut Vec<MediumOutput>) {}
        fn handle_frame(
            &mut self,
            _: SimTime,
            _: Attachment,
            _: Priority,
            frame: FrameId,
            frames: &mut FrameStore,
            _: &mut Vec<MediumOutput>,
        ) {
            frames.release(frame);
        }
        fn handle_timer(&mut self, _: SimTime, _: MediumTimer, _: &mut FrameStore, _: &mut Vec<MediumOutput>) {}
    }

    /// What left, and when.
    #[derive(Default)]
    struct Left(Vec<(i64, u16, u8)>);

    impl Observer for Left {
        fn event(&mut self, _: SimTime, _: NodeId, _: &Event, _: Option<FrameContext<'_>>) {}
        fn transmit(&mut self, at: SimTime, node: NodeId, frame: FrameContext<'_>) {
            self.0.push((at.since_zero().as_ns() / 1000, node.0, frame.bytes[0]));
        }
    }

    #[test]
    fn a_driver_keeps_the_order_of_what_leaves_as_soon_as_it_can() {
        // Handed over 1 us after each other, and each takes up to 300 us.
        let us = |us| Duration::from_us(us);
        let driver = Jitter { min: us(0), mean: us(150), max: us(300) };
        for seed in 0..20 {
            let mut simulation = Simulation::new(Sink, seed, Left::default());
            let agenda = (0..50).map(|mark| (i64::from(mark), i64::from(mark), mark)).collect();
            simulation.add(NodeSetup {
                id: NodeId(0),
                node: AnyNode::Other(Box::new(Sender { agenda, next: 0 })),
                oscillator: Oscillator::default(),
                driver,
                costs: Vec::new(),
                hosts: Vec::new(),
                is_gateway: false,
            });
            assert!(simulation.run_until(SimTime::ZERO + Duration::from_ms(1), &mut |_| true));
            let left = simulation.into_observer().0;
            assert!(left.iter().map(|(.., mark)| *mark).eq(0..50), "seed {seed}: {left:?}");
            assert!(
                left.iter().all(|(at, _, mark)| (0..=300).contains(&(at - i64::from(*mark)))),
                "seed {seed}: {left:?}"
            );
        }
    }

    #[test]
    fn frames_held_until_one_instant_leave_by_station_and_then_as_they_were_handed_over() {
        let mut simulation = Simulation::new(Sink, 1, Left::default());
        // The first frames of each station come and go, and leave their places in another order than the stations'. Those
        // that all leave at 100 us are handed over by the second station first.
        let agendas = [
            vec![(0, 1, 1), (0, 3, 2), (5, 100, 3), (6, 100, 4)],
            vec![(0, 2, 5), (4, 100, 6), (4, 100, 7), (7, 9, 8)],
        ];
        for (id, agenda) in agendas.into_iter().enumerate() {
            simulation.add(NodeSetup {
                id: NodeId(id as u16),
                node: AnyNode::Other(Box::new(Sender { agenda, next: 0 })),
                oscillator: Oscillator::default(),
                driver: Jitter::default(),
                costs: Vec::new(),
                hosts: Vec::new(),
                is_gateway: false,
            });
        }
        assert!(simulation.run_until(SimTime::ZERO + Duration::from_ms(1), &mut |_| true));
        let left = simulation.into_observer().0;
        let early = [(1, 0, 1), (2, 1, 5), (3, 0, 2), (9, 1, 8)];
        let together = [(100, 0, 3), (100, 0, 4), (100, 1, 6), (100, 1, 7)];
        assert_eq!(left, [&early[..], &together[..]].concat());
    }
}
