//! What lies between a node and the medium: time, processors, frames on their way, and who watches.

use chronoseal_core::{
    DiscardReason, Duration, Event, EventKind, FramePart, Input, LocalTime, Node, Oscillator, Output, PortId, Priority,
    SimTime, Transmit, TxToken, Work,
};
use chronoseal_media::medium::{Attachment, FrameId, FrameLabel, FrameStore, Medium, MediumOutput};

use crate::observe::{FrameContext, Observer};
use crate::queue::{Happening, Queue};
use crate::station::{Arrived, Pending, Station};

/// A frame that goes to the medium, now or at its launch time.
pub(crate) struct Launch {
    from: Attachment,
    priority: Priority,
    frame: FrameId,
    token: Option<TxToken>,
}

/// Everything but the stations, so that one of them and all this are at hand at once.
pub(crate) struct World<M, O> {
    pub(crate) now: SimTime,
    pub(crate) queue: Queue,
    pub(crate) medium: M,
    pub(crate) frames: FrameStore,
    /// Where the next outgoing frame is written.
    scratch: FrameId,
    pub(crate) outputs: Vec<MediumOutput>,
    pub(crate) observer: O,
    serial: u64,
}

impl<M: Medium, O: Observer> World<M, O> {
    pub(crate) fn new(medium: M, observer: O) -> Self {
        let mut frames = FrameStore::new();
        if O::WATCHES_LINES {
            frames.watch();
        }
        let scratch = frames.reserve();
        Self {
            now: SimTime::ZERO,
            queue: Queue::default(),
            medium,
            frames,
            scratch,
            outputs: Vec::new(),
            observer,
            serial: 0,
        }
    }

    /// Nothing more is sent: the place for the next frame is given up.
    pub(crate) fn release_scratch(&mut self) {
        self.frames.release(self.scratch);
    }

    /// Passes on what lines have done with frames since this was called last.
    #[inline(always)]
    pub(crate) fn tell_passings(&mut self) {
        if O::WATCHES_LINES {
            self.frames.take_told(|passing| self.observer.passing(passing));
        }
    }

    /// Gives a node an input, now or when its processor is free.
    #[inline(always)]
    pub(crate) fn input(&mut self, station: &mut Station, input: Pending) {
        if station.busy {
            station.waiting.push_back(input);
            return;
        }
        let now = station.local(self.now);
        self.handle(station, now, input);
        self.drain(station, now);
    }

    /// A frame has come to a node: to its application, or first to its host interface.
    #[inline(always)]
    pub(crate) fn deliver(&mut self, station: &mut Station, port: PortId, arrived: Arrived) {
        if station.has_no_host() {
            return self.input(station, Pending::Frame(port, arrived));
        }
        self.deliver_by_host(station, port, arrived);
    }

    #[inline(never)]
    fn deliver_by_host(&mut self, station: &mut Station, port: PortId, arrived: Arrived) {
        let node = station.setup.id;
        let bytes = self.frames.bytes(arrived.frame);
        let class = station.host(port).and_then(|host| {
            let class = host.describe.host_class(bytes)?;
            Some((host, class))
        });
        let Some((host, class)) = class else { return self.input(station, Pending::Frame(port, arrived)) };
        let describe = host.describe;
        match host.interface.arrive(self.now, class, bytes.len(), (port, arrived)) {
            Ok(Some(done_at)) => self.queue.push(done_at, Happening::host(node, host.first)),
            Ok(None) => {}
            Err((_, arrived)) => {
                let full = EventKind::Discarded(DiscardReason::HostBufferFull);
                let event = Event::of(full, describe.stream_of(bytes), 0);
                let frame = context(&self.frames, arrived.frame, Some(arrived.departed_at), Some(arrived.received_at));
                self.observer.event(self.now, node, &event, Some(frame));
                self.frames.release(arrived.frame);
            }
        }
    }

    /// A host interface has copied a frame: its application gets it, and the next one is begun with.
    pub(crate) fn host_done(&mut self, station: &mut Station, port: PortId) {
        let Some(host) = station.host(port) else { return };
        let Some((port, arrived)) = host.interface.finish() else { return };
        if let Some(done_at) = host.interface.done_at() {
            let first = host.first;
            self.queue.push(done_at, Happening::host(station.setup.id, first));
        }
        let frame = context(&self.frames, arrived.frame, Some(arrived.departed_at), Some(arrived.received_at));
        self.observer.handed_over(self.now, station.setup.id, frame);
        self.input(station, Pending::Frame(port, arrived));
    }

    #[inline(always)]
    fn handle(&mut self, station: &mut Station, now: LocalTime, input: Pending) {
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
                if O::WATCHES_INPUTS {
                    let (departed_at, received_at) = (Some(arrived.departed_at), Some(arrived.received_at));
                    let seen = context(&self.frames, arrived.frame, departed_at, received_at);
                    self.observer.taken(self.now, station.setup.id, seen);
                }
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
    fn drain(&mut self, station: &mut Station, now: LocalTime) {
        loop {
            // Looked at where it lies: the node has just written it in pieces, and a copy of the whole waits for each.
            match &mut station.setup.node.poll_output(now, self.frames.buffer(self.scratch)) {
                Output::Work(work) => {
                    if self.begin_work(station, work) {
                        return self.tell_clock(station, now);
                    }
                }
                Output::Transmit(transmit) => self.take_scratch(station, transmit),
                Output::Event(event) => {
                    if let EventKind::Attacked(kind) = event.kind
                        && kind.makes_frame()
                    {
                        station.attack = Some(kind);
                    }
                    // Asked for each by itself, whether there is a frame need not be written down for observers to read.
                    match station.current {
                        Some(Arrived { frame, departed_at, received_at }) => {
                            let frame = context(&self.frames, frame, Some(departed_at), Some(received_at));
                            self.observer.event(self.now, station.setup.id, event, Some(frame));
                        }
                        None => self.observer.event(self.now, station.setup.id, event, None),
                    }
                }
                Output::Timeout(wake) => {
                    if let Some(arrived) = station.current.take() {
                        self.frames.release(arrived.frame);
                    }
                    if let Some(at) = station.ask_for_wake(self.now, *wake) {
                        self.queue.push(at, Happening::wake(station.setup.id));
                    }
                    return self.tell_clock(station, now);
                }
                // Outputs this engine does not know ask nothing of it.
                _ => {}
            }
        }
    }

    /// Tells the medium what the clock of a station shows, if it does something by it.
    #[inline(always)]
    fn tell_clock(&mut self, station: &Station, now: LocalTime) {
        if !station.clock_ports.is_empty() {
            self.tell_clock_of(station, now);
        }
    }

    #[inline(never)]
    fn tell_clock_of(&mut self, station: &Station, now: LocalTime) {
        for port in &station.clock_ports {
            let Some((shown, rate)) = station.setup.node.shown_time(*port, now) else { continue };
            let clock = Oscillator::through(self.now, shown, station.setup.oscillator.rate().together(rate));
            let from = Attachment { node: station.setup.id, port: *port };
            self.medium.clock_shown(self.now, from, clock, &mut self.outputs);
        }
    }

    /// Charges work to a node's processor. True if that takes time.
    fn begin_work(&mut self, station: &mut Station, work: &Work) -> bool {
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
    pub(crate) fn resume(&mut self, station: &mut Station) {
        station.busy = false;
        let now = station.local(self.now);
        self.drain(station, now);
        while !station.busy {
            let Some(input) = station.waiting.pop_front() else { return };
            self.handle(station, now, input);
            self.drain(station, now);
        }
    }

    /// Labels the frame just written, hands it over or holds it, and takes a new scratch for the next one.
    #[inline(always)]
    fn take_scratch(&mut self, station: &mut Station, transmit: &mut Transmit) {
        let from = Attachment { node: station.setup.id, port: transmit.port };
        let at = station.launch_time(self.now, transmit);
        self.serial += 1;
        let frame = self.scratch;
        let label = FrameLabel {
            sender: from.node,
            attack: station.attack.take(),
            sent_at: at,
            arrived_at: None,
            serial: Some(self.serial),
            segment: self.medium.segment_of(from).unwrap_or_default(),
        };
        self.frames.fill(frame, transmit.len, label);
        self.scratch = self.frames.reserve();
        if station.inputs.is_some() {
            self.tell_origins(station, frame);
        }
        let launch = Launch { from, priority: transmit.priority, frame, token: transmit.token.take() };
        if at == self.now && !station.held.is_due(at) {
            self.launch(station, launch);
        } else {
            station.held.hold(at, launch);
            self.queue.push(at, Happening::launch(station.setup.id));
        }
    }

    /// Tells what the frame just written came from, if it came from any.
    fn tell_origins(&mut self, station: &Station, frame: FrameId) {
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

    /// Puts a frame of a station on the medium.
    #[inline(always)]
    pub(crate) fn launch(&mut self, station: &mut Station, launch: Launch) {
        let Launch { from, priority, frame, token } = launch;
        self.observer.transmit(self.now, from.node, context(&self.frames, frame, None, None));
        let token = token.and_then(|token| self.keep_token(station, from, frame, token));
        self.medium.handle_frame(self.now, from, priority, frame, &mut self.frames, &mut self.outputs);
        if let Some(token) = token {
            // The node hears of it once it has said all it has to say.
            station.waiting.push_back(Pending::Transmitted(token, self.now));
            if !station.busy {
                station.busy = true;
                self.queue.push(self.now, Happening::processor_free(from.node));
            }
        }
    }

    /// Keeps a token until the medium says that its frame has left. Gives it back if the medium will not say so.
    fn keep_token(
        &mut self,
        station: &mut Station,
        from: Attachment,
        frame: FrameId,
        token: TxToken,
    ) -> Option<TxToken> {
        match self.frames.label(frame).serial {
            Some(serial) if self.medium.tells_transmitted(from) => {
                station.tokens.push((serial, token));
                None
            }
            _ => Some(token),
        }
    }
}

#[inline]
pub(crate) fn context(
    frames: &FrameStore,
    frame: FrameId,
    departed_at: Option<SimTime>,
    received_at: Option<SimTime>,
) -> FrameContext<'_> {
    let (bytes, label) = frames.bytes_and_label(frame);
    FrameContext { bytes, label, departed_at, received_at }
}
