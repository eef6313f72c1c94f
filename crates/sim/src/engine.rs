//! The engine: drains nodes, charges processors, moves frames between nodes and medium.

use chronoseal_core::{
    AttackKind, Command, Duration, EventKind, FramePart, Input, LocalTime, Output, Priority, SimTime, Transmit,
    TxToken, Work,
};
use chronoseal_media::medium::{Attachment, FrameId, FrameLabel, FrameStore, Medium, MediumOutput};

use crate::observe::{FrameContext, Observer};
use crate::queue::{Class, Happening, Queue};
use crate::station::{Arrived, NodeSetup, Pending, Station};

/// How often a run asks whether to go on `[events]`.
const ASK_EVERY: u32 = 4096;

/// A frame a driver holds until its launch time.
struct Launch {
    from: Attachment,
    priority: Priority,
    frame: FrameId,
    token: Option<TxToken>,
}

/// Nodes, a medium, and the time between them.
pub struct Simulation<M, O> {
    now: SimTime,
    queue: Queue,
    medium: M,
    frames: FrameStore,
    /// Where the next outgoing frame is written.
    scratch: FrameId,
    stations: Vec<Station>,
    launches: Vec<Option<Launch>>,
    free_launches: Vec<u32>,
    outputs: Vec<MediumOutput>,
    observer: O,
    seed: u64,
    serial: u64,
}

impl<M: Medium, O: Observer> Simulation<M, O> {
    /// An engine without nodes.
    pub fn new(medium: M, seed: u64, observer: O) -> Self {
        let mut frames = FrameStore::new();
        let scratch = frames.allocate(FrameLabel::default());
        Self {
            now: SimTime::ZERO,
            queue: Queue::default(),
            medium,
            frames,
            scratch,
            stations: Vec::new(),
            launches: Vec::new(),
            free_launches: Vec::new(),
            outputs: Vec::new(),
            observer,
            seed,
            serial: 0,
        }
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
        for station in 0..self.stations.len() {
            self.input(station, Pending::Command(Command::Start));
        }
        self.medium.start(self.now, &mut self.frames, &mut self.outputs);
        self.settle();
        let mut ask_in = ASK_EVERY;
        while let Some((at, what)) = self.queue.pop_until(until) {
            self.now = at;
            self.happen(what);
            ask_in -= 1;
            if ask_in == 0 {
                ask_in = ASK_EVERY;
                if !keep_going(at) {
                    return false;
                }
            }
        }
        self.now = until;
        true
    }

    /// Tells every node to stop, at the time the run has come to.
    ///
    /// A node whose processor is busy hears of it when that is free again, if the run goes on so long.
    pub fn stop(&mut self) {
        for station in 0..self.stations.len() {
            self.input(station, Pending::Command(Command::Stop));
        }
        self.settle();
    }

    /// Events handled so far: timers of the medium, launches, wake-ups, and processors that became free.
    pub fn events(&self) -> u64 {
        self.queue.popped()
    }

    /// The observer, when the run is over.
    pub fn into_observer(self) -> O {
        self.observer
    }

    /// The medium and who watched, when the run is over.
    pub fn into_parts(self) -> (M, O) {
        (self.medium, self.observer)
    }

    fn happen(&mut self, what: Happening) {
        match what.class() {
            Class::Medium => {
                self.medium.handle_timer(self.now, what.timer(), &mut self.frames, &mut self.outputs);
            }
            Class::ProcessorFree => self.resume(what.source() as usize),
            Class::Launch => {
                if let Some(launch) = self.launches[what.source() as usize].take() {
                    self.free_launches.push(what.source());
                    self.launch(launch);
                }
            }
            Class::Wake => {
                let station = &mut self.stations[what.source() as usize];
                // A node may have asked for another time since.
                if station.wake_at == Some(self.now) {
                    station.wake_at = None;
                    self.input(what.source() as usize, Pending::Timeout);
                }
            }
        }
        self.settle();
    }

    /// Carries out what the medium wants, and what follows from it.
    #[inline(always)]
    fn settle(&mut self) {
        let mut next = 0;
        while next < self.outputs.len() {
            let place = next;
            next += 1;
            match self.outputs[place] {
                MediumOutput::Timer { at, timer } => self.queue.push(at, Happening::medium(timer)),
                MediumOutput::Deliver { to, frame, departed_at } => {
                    let arrived = Arrived { frame, departed_at, received_at: self.now };
                    self.input(to.node.index(), Pending::Frame(to.port, arrived));
                }
                MediumOutput::Transmitted { from, frame, departed_at } => {
                    let context = context(&self.frames, frame, Some(departed_at), None);
                    self.observer.carried(self.now, from.node, context);
                    if let Some(token) = self.take_token(frame) {
                        self.input(from.node.index(), Pending::Transmitted(token, departed_at));
                    }
                    self.frames.release(frame);
                }
                MediumOutput::Discard { node, event, frame } => {
                    let from = self.frames.label(frame).sender;
                    let token = self.take_token(frame);
                    let context = context(&self.frames, frame, None, None);
                    self.observer.event(self.now, node, &event, Some(context));
                    self.frames.release(frame);
                    if let Some(token) = token {
                        self.input(from.index(), Pending::Dropped(token));
                    }
                }
                MediumOutput::Event { node, event, frame } => {
                    let context = frame.map(|frame| context(&self.frames, frame, None, None));
                    self.observer.event(self.now, node, &event, context);
                }
            }
        }
        self.outputs.clear();
    }

    /// The token a frame was sent with, if its sender still waits to hear of it.
    fn take_token(&mut self, frame: FrameId) -> Option<TxToken> {
        let FrameLabel { sender, serial, .. } = *self.frames.label(frame);
        let tokens = &mut self.stations.get_mut(sender.index())?.tokens;
        let place = tokens.iter().position(|(waiting, _)| Some(*waiting) == serial)?;
        Some(tokens.swap_remove(place).1)
    }

    /// Gives a node an input, now or when its processor is free.
    #[inline(always)]
    fn input(&mut self, station: usize, input: Pending) {
        if self.stations[station].busy {
            self.stations[station].waiting.push_back(input);
            return;
        }
        let now = self.stations[station].local(self.now);
        self.handle(station, now, input);
        self.drain(station, now);
    }

    #[inline(always)]
    fn handle(&mut self, index: usize, now: LocalTime, input: Pending) {
        let station = &mut self.stations[index];
        let oscillator = station.setup.oscillator;
        let node = &mut station.setup.node;
        let handled = match input {
            Pending::Command(command) => node.handle_input(now, Input::Command(command)),
            Pending::Timeout => node.handle_input(now, Input::Timeout),
            Pending::Dropped(token) => node.handle_input(now, Input::Dropped { token }),
            Pending::Transmitted(token, at) => {
                node.handle_input(now, Input::Transmitted { token, tx_at: oscillator.local(at) })
            }
            Pending::Frame(port, arrived) => {
                station.current = Some(arrived);
                if let Some(inputs) = &mut station.inputs {
                    inputs.add(self.frames.label(arrived.frame).serial);
                }
                // Most frames have not waited: their time is known already.
                let rx_at = if arrived.received_at == self.now { now } else { oscillator.local(arrived.received_at) };
                node.handle_input(now, Input::Frame { port, rx_at, bytes: self.frames.bytes(arrived.frame) })
            }
        };
        debug_assert_eq!(handled, Ok(()), "the engine keeps the contract of nodes");
    }

    /// Takes a node's outputs until it waits, or until its processor is busy.
    #[allow(clippy::collapsible_match, reason = "a guard of a match should not start work")]
    fn drain(&mut self, index: usize, now: LocalTime) {
        loop {
            let station = &mut self.stations[index];
            match station.setup.node.poll_output(now, self.frames.buffer(self.scratch)) {
                Output::Work(work) => {
                    if self.begin_work(index, &work) {
                        return;
                    }
                }
                Output::Transmit(transmit) => {
                    self.take_scratch(index, transmit);
                }
                Output::Event(event) => {
                    if let EventKind::Attacked(kind) = event.kind
                        && kind != AttackKind::Withhold
                    {
                        station.attack = Some(kind);
                    }
                    let context = station.current.map(|arrived| {
                        context(&self.frames, arrived.frame, Some(arrived.departed_at), Some(arrived.received_at))
                    });
                    self.observer.event(self.now, station.setup.id, &event, context);
                }
                Output::Timeout(wake) => {
                    if let Some(arrived) = station.current.take() {
                        self.frames.release(arrived.frame);
                    }
                    if let Some(at) = station.ask_for_wake(self.now, wake) {
                        self.queue.push(at, Happening::wake(station.setup.id));
                    }
                    return;
                }
                // Outputs this engine does not know ask nothing of it.
                _ => {}
            }
        }
    }

    /// Charges work to a node's processor. True if that takes time.
    fn begin_work(&mut self, index: usize, work: &Work) -> bool {
        let station = &mut self.stations[index];
        let cost = work.declared.unwrap_or_else(|| {
            let known = station.setup.costs.iter().find(|(operation, ..)| operation == work.operation.0);
            known.map_or(Duration::ZERO, |(_, base, per_byte)| *base + *per_byte * i64::from(work.len))
        });
        self.observer.work(self.now, station.setup.id, work, cost);
        if cost <= Duration::ZERO {
            return false;
        }
        station.busy = true;
        self.queue.push(self.now + cost, Happening::processor_free(station.setup.id));
        true
    }

    /// The processor has finished: the node goes on, then takes the inputs that waited.
    fn resume(&mut self, index: usize) {
        self.stations[index].busy = false;
        let now = self.stations[index].local(self.now);
        self.drain(index, now);
        while !self.stations[index].busy {
            let Some(input) = self.stations[index].waiting.pop_front() else { return };
            self.handle(index, now, input);
            self.drain(index, now);
        }
    }

    /// Labels the frame just written, hands it over or holds it, and takes a new scratch for the next one.
    #[inline(always)]
    fn take_scratch(&mut self, index: usize, transmit: Transmit) {
        let station = &mut self.stations[index];
        let from = Attachment { node: station.setup.id, port: transmit.port };
        let at = station.launch_time(self.now, transmit.launch_at);
        self.serial += 1;
        let frame = self.scratch;
        let label = self.frames.set_len(frame, transmit.len);
        label.sender = from.node;
        label.attack = station.attack.take();
        label.serial = Some(self.serial);
        self.scratch = self.frames.allocate(FrameLabel::default());
        if station.inputs.is_some() {
            self.tell_origins(index, frame);
        }
        let launch = Launch { from, priority: transmit.priority, frame, token: transmit.token };
        if at == self.now {
            self.launch(launch);
        } else {
            self.hold(at, launch);
        }
    }

    /// Tells what the frame just written came from, if it came from any.
    fn tell_origins(&mut self, index: usize, frame: FrameId) {
        let station = &self.stations[index];
        let Some(inputs) = &station.inputs else { return };
        let origins: Vec<u64> =
            station.setup.node.origins().iter().filter_map(|number| inputs.serial(*number)).collect();
        if !origins.is_empty() {
            self.observer.came_from(self.serial, &origins);
        }
        let part =
            |part: &FramePart| FramePart { origin: part.origin.and_then(|number| inputs.serial(number)), ..*part };
        let parts: Vec<FramePart> = station.setup.node.parts().iter().map(part).collect();
        if !parts.is_empty() {
            // An attack on one of them is none on the others.
            self.frames.label_mut(frame).attack = None;
            self.observer.contains(self.serial, &parts);
        }
    }

    fn hold(&mut self, at: SimTime, launch: Launch) {
        let slot = match self.free_launches.pop() {
            Some(slot) => {
                self.launches[slot as usize] = Some(launch);
                slot
            }
            None => {
                self.launches.push(Some(launch));
                (self.launches.len() - 1) as u32
            }
        };
        self.queue.push(at, Happening::launch(slot));
    }

    #[inline(always)]
    fn launch(&mut self, launch: Launch) {
        let Launch { from, priority, frame, token } = launch;
        let label = self.frames.label_mut(frame);
        label.sent_at = self.now;
        label.segment = self.medium.segment_of(from).unwrap_or_default();
        self.observer.transmit(self.now, from.node, context(&self.frames, frame, None, None));
        let token = token.and_then(|token| self.keep_token(from, frame, token));
        self.medium.handle_frame(self.now, from, priority, frame, &mut self.frames, &mut self.outputs);
        if let Some(token) = token {
            // The node hears of it once it has said all it has to say.
            let station = &mut self.stations[from.node.index()];
            station.waiting.push_back(Pending::Transmitted(token, self.now));
            if !station.busy {
                station.busy = true;
                self.queue.push(self.now, Happening::processor_free(from.node));
            }
        }
    }

    /// Keeps a token until the medium says that its frame has left. Gives it back if the medium will not say so.
    fn keep_token(&mut self, from: Attachment, frame: FrameId, token: TxToken) -> Option<TxToken> {
        match self.frames.label(frame).serial {
            Some(serial) if self.medium.tells_transmitted(from) => {
                self.stations[from.node.index()].tokens.push((serial, token));
                None
            }
            _ => Some(token),
        }
    }
}

#[inline]
fn context(
    frames: &FrameStore,
    frame: FrameId,
    departed_at: Option<SimTime>,
    received_at: Option<SimTime>,
) -> FrameContext<'_> {
    FrameContext { bytes: frames.bytes(frame), label: frames.label(frame), departed_at, received_at }
}
