//! The wall clock's driver of the seam, for one node: frames in buffers that are used again.

use std::collections::VecDeque;

use chronoseal_core::{
    Command, Duration, EventKind, Input, LocalTime, Node, Output, PortId, SimTime, Transmit, TxToken, Work,
};

use chronoseal_wire::test_bed_header::TestBedHeader;

use super::Failure;
use super::launch::{LaunchQueue, Ready};
use super::port::{Incoming, Port};
use super::program::Running;
use crate::clock::{RunClock, Stamps};
use crate::connection::Connections;
use crate::end::{Fate, NoticeOf};
use crate::log::{AgentLog, ConnectedSent, ConnectionRecord, EventRecord, ReceivedRecord, SentRecord};
use crate::message::{MemberSetup, Step};
use crate::node_clock::NodeClock;

/// Frames taken from one port before the others and the timers get their turn.
const FRAMES_PER_TURN: usize = 32;

/// A node with its ports, its clock and its records.
pub(super) struct Member {
    clock: RunClock,
    stamps: Stamps,
    oscillator: NodeClock,
    node: Box<dyn Node + Send>,
    ports: Vec<Port>,
    launches: LaunchQueue,
    /// What the node has not been told yet of frames it sent: when they left, or that they were thrown away.
    fates: VecDeque<(TxToken, Option<SimTime>)>,
    /// By port: what carries the frames says what became of them.
    is_told: Vec<bool>,
    /// Frames on their way out, each with what word of it will look like.
    leaving: VecDeque<(NoticeOf, TxToken)>,
    /// When the node wants to be woken.
    wake_at: Option<LocalTime>,
    /// When it is told to stop; `None` once it was.
    stop_at: Option<SimTime>,
    /// When the run ends for it.
    end: SimTime,
    log: AgentLog,
    /// The program that it runs beside.
    program: Option<Running>,
    /// What it sends is written here, and what it gets is read into the other.
    buffer: Vec<u8>,
    incoming: Vec<u8>,
}

impl Member {
    /// A node that has not started, with room for so many records of each kind.
    pub(super) fn new(
        setup: &MemberSetup,
        ports: Vec<Port>,
        node: Box<dyn Node + Send>,
        clock: RunClock,
        duration: Duration,
        records: usize,
    ) -> Self {
        let frame_len_max = ports.iter().map(Port::frame_len_max).max().unwrap_or_default();
        Self {
            clock,
            stamps: Stamps::default(),
            oscillator: setup.clock(),
            node,
            ports,
            launches: LaunchQueue::default(),
            fates: VecDeque::new(),
            is_told: setup.ports.iter().map(|port| port.is_told).collect(),
            leaving: VecDeque::new(),
            wake_at: None,
            stop_at: Some(SimTime::ZERO + duration),
            end: SimTime::ZERO + duration,
            log: AgentLog::with_room(records),
            program: setup.program.clone().map(|program| Running::new(program, clock)),
            buffer: vec![0; frame_len_max],
            incoming: vec![0; frame_len_max],
        }
    }

    /// Starts its node at the beginning of the run, however late that is: what is due counts from there.
    pub(super) fn start(&mut self) -> Result<(), Failure> {
        let connections = self.ports.iter().filter_map(Port::connections);
        self.log.unconnected = connections.map(|connections| connections.missing().count() as u64).sum();
        self.handle_at(SimTime::ZERO, Input::Command(Command::Start)).map(|_| ())
    }

    /// Does what is due. True if something was.
    pub(super) fn turn(&mut self) -> Result<bool, Failure> {
        // Frames before timers: one that waits in the socket came before the wake-up that would miss it.
        let mut busy = self.send_due();
        let looked = self.receive_frames()?;
        let is_told = self.tell_fates()?;
        busy |= looked.is_some() | is_told;
        // Reading the clock is much of what a message costs here, so it is read once where nothing takes long in between.
        let now = looked.filter(|_| !is_told).unwrap_or_else(|| self.clock.now());
        busy |= self.wake(now)?;
        if let Some(program) = &mut self.program {
            program.turn(now);
        }
        if self.is_over(now) {
            self.stop()?;
            busy = true;
        }
        Ok(busy)
    }

    /// Lets its node do what is due. True if something was.
    fn wake(&mut self, now: SimTime) -> Result<bool, Failure> {
        let now = self.node_time(now);
        let is_due = self.wake_at.is_some_and(|at| at <= self.oscillator.local(now));
        if is_due {
            self.handle_at(now, Input::Timeout)?;
        }
        Ok(is_due)
    }

    /// True if the run is over and its node was not told so.
    fn is_over(&self, now: SimTime) -> bool {
        self.stop_at.is_some_and(|at| at <= now)
    }

    /// The time that its node is given. What is due at the very end is of the run, as in a simulation, and what is due later is not, however late
    /// the station comes to the end: until it is told to stop, its node has no time behind that.
    fn node_time(&self, now: SimTime) -> SimTime {
        self.stop_at.map_or(now, |end| now.min(end))
    }

    /// When something is due if nothing comes in before.
    pub(super) fn next_at(&self) -> Option<SimTime> {
        let wake_at = self.wake_at.map(|at| self.oscillator.sim(at));
        let program_at = self.program.as_ref().and_then(Running::next_at);
        [wake_at, self.launches.next_at(), self.stop_at, program_at].into_iter().flatten().min()
    }

    /// Begins to connect to those it sends to over connections.
    pub(super) fn dial(&mut self) -> Result<(), Failure> {
        let mut connections = self.ports.iter_mut().filter_map(Port::connections_mut);
        connections.try_for_each(Connections::dial).map_err(Failure::at(Step::Run))
    }

    /// Goes on connecting.
    pub(super) fn connect(&mut self) -> Result<(), Failure> {
        for connections in self.ports.iter_mut().filter_map(Port::connections_mut) {
            connections.turn().map_err(Failure::at(Step::Run))?;
        }
        Ok(())
    }

    pub(super) fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// What it wrote down, when the run is over.
    pub(super) fn into_log(mut self) -> AgentLog {
        self.log.dropped = self.ports.iter().map(Port::dropped).sum();
        self.log.strangers = self.ports.iter().map(Port::strangers).sum();
        let histories = self.ports.iter().filter_map(Port::connections).flat_map(Connections::histories);
        self.log.connections = histories.map(|history| ConnectionRecord::new(history, self.clock, self.end)).collect();
        self.log.program = self.program.take().map(|program| program.stop(self.end, &mut self.log));
        self.log
    }

    pub(super) fn stop(&mut self) -> Result<(), Failure> {
        if self.stop_at.take().is_none() {
            return Ok(());
        }
        self.launches.clear();
        self.end = self.end.min(self.clock.now());
        // It may hear of the end late, when it comes back from sending.
        let end = self.oscillator.local(self.end);
        while let Some((stream, due)) = self.node.owed(end) {
            self.log.owed.push((stream.0, self.oscillator.sim(due).as_ps()));
        }
        self.handle(Input::Command(Command::Stop))
    }

    /// Takes what has come: when the last of it had been looked at, or `None` if nothing has.
    fn receive_frames(&mut self) -> Result<Option<SimTime>, Failure> {
        let mut frame = std::mem::take(&mut self.incoming);
        let received = self.receive_into(&mut frame);
        self.incoming = frame;
        received
    }

    fn receive_into(&mut self, frame: &mut [u8]) -> Result<Option<SimTime>, Failure> {
        let mut looked = None;
        for index in 0..self.ports.len() {
            for _ in 0..FRAMES_PER_TURN {
                let incoming = self.ports[index]
                    .receive(frame, self.is_told.get(index).copied().unwrap_or(false))
                    .map_err(|error| Failure::Told(Step::Run, error.to_string()))?;
                let Some(incoming) = incoming else { break };
                let received = match incoming {
                    Incoming::Frame(received) => received,
                    Incoming::Notice(of, fate) => {
                        self.take_notice(of, fate)?;
                        looked = Some(self.clock.now());
                        continue;
                    }
                };
                let mut now = self.clock.now();
                let at = self.stamps.of_realtime(self.clock, now, received.realtime_ns);
                if self.is_over(at) {
                    self.wake(at)?;
                    self.stop()?;
                    now = self.clock.now();
                }
                let bytes = &frame[..received.len.min(frame.len())];
                let first_event = self.log.events.len();
                let (port, now) = (PortId(index as u16), self.node_time(now));
                looked = Some(self.handle_at(now, Input::Frame { port, rx_at: self.oscillator.local(at), bytes })?);
                let (verdict, told) = self.log.verdicts_from(first_event);
                // Of a message in several datagrams there is one record: where it ended.
                if !verdict.is_some_and(|verdict| verdict.is_verdict()) && self.ports[index].is_part(bytes) {
                    self.send_due();
                    continue;
                }
                let len = received.len as u32;
                if self.ports[index].own_message(bytes).is_some() {
                    self.log.connected_received.extend(verdict.map(|verdict| (verdict, len)));
                    continue;
                }
                let hash = self.ports[index].hash(bytes);
                // One record for each frame the node was given, in order: their numbers are those of its inputs.
                self.log.received.push(ReceivedRecord { at_ps: at.as_ps(), port: port.0, hash, len, verdict, told });
                self.send_due();
                // The time a request left comes before the answer to it.
                if self.tell_fates()? {
                    looked = Some(self.clock.now());
                }
            }
        }
        Ok(looked)
    }

    /// Something became of a frame that begins with `of`; of several it is the one handed over first, as no controller
    /// reorders frames of one identifier.
    fn take_notice(&mut self, of: NoticeOf, fate: Fate) -> Result<(), Failure> {
        let Some(place) = self.leaving.iter().position(|(waiting, _)| *waiting == of) else { return Ok(()) };
        if let Some((_, token)) = self.leaving.remove(place) {
            self.fates.push_back((token, (fate == Fate::Left).then(|| self.clock.now())));
        }
        self.tell_fates().map(|_| ())
    }

    /// Tells the node what became of its frames. True if there was one.
    fn tell_fates(&mut self) -> Result<bool, Failure> {
        let mut any = false;
        while let Some((token, left_at)) = self.fates.pop_front() {
            self.handle(match left_at.map(|at| self.oscillator.local(self.node_time(at))) {
                Some(tx_at) => Input::Transmitted { token, tx_at },
                None => Input::Dropped { token },
            })?;
            any = true;
        }
        Ok(any)
    }

    /// Gives the node one input and does all it wants done.
    fn handle(&mut self, input: Input<'_>) -> Result<(), Failure> {
        self.handle_at(self.node_time(self.clock.now()), input).map(|_| ())
    }

    /// The same, where the clock was read just before; what it showed when it was read last. Both are times that a node is given.
    fn handle_at(&mut self, now: SimTime, input: Input<'_>) -> Result<SimTime, Failure> {
        let is_frame = matches!(input, Input::Frame { .. });
        let handled = self.node.handle_input(self.oscillator.local(now), input);
        handled.map_err(|error| Failure::Told(Step::Run, error.to_string()))?;
        let mut computing: Option<(Work, SimTime)> = None;
        let mut attack = None;
        // A message was sent over an interface that may hold it back; word of it comes behind it, and is of the time before that.
        let mut was_held = false;
        // What was told of a frame was told when it had been looked at.
        let mut now = if is_frame { self.node_time(self.clock.now()) } else { now };
        loop {
            if let Some((Work { declared: Some(length), .. }, began)) = &computing {
                // Work without code of its own: this node's processor is busy, the host's need not be.
                self.pass_time(*began + *length);
                now = self.node_time(self.clock.now());
            }
            let output = self.node.poll_output(self.oscillator.local(now), &mut self.buffer);
            if let Some((work, began)) = computing.take() {
                let done = self.clock.now();
                self.log.add_work(began, &work, done - began);
                now = self.node_time(done);
            }
            match output {
                Output::Work(work) => {
                    let begins = self.clock.now();
                    now = self.node_time(begins);
                    computing = Some((work, begins));
                }
                Output::Event(event) => {
                    attack = match event.kind {
                        // What is withheld is no frame, and what is delayed the frame that came.
                        EventKind::Attacked(kind) if kind.makes_frame() => Some(event.kind.code()),
                        _ => None,
                    };
                    self.log.events.push(EventRecord::new(now, &event));
                    if was_held {
                        self.go_on_later();
                        return Ok(now);
                    }
                }
                Output::Transmit(transmit) => {
                    let launch_at = self.oscillator.sim(transmit.launch_at);
                    if transmit.len > self.buffer.len() {
                        let reason = format!("the node wants to send {} bytes from a smaller buffer", transmit.len);
                        return Err(Failure::Told(Step::Run, reason));
                    }
                    let parts = self.log.add_parts(self.node.parts());
                    if !parts.is_empty() {
                        // An attack on one of them is none on the others.
                        attack = None;
                    }
                    let origins = self.log.add_origins(self.node.origins());
                    let Transmit { port, token, len, .. } = transmit;
                    let ready = Ready { port, token, attack: attack.take(), origins, parts };
                    let left_at = self.launch(now, launch_at, ready, len);
                    if !self.ports.get(port.index()).is_some_and(Port::is_held) {
                        now = self.node_time(left_at.unwrap_or_else(|| self.clock.now()));
                    } else if std::mem::replace(&mut was_held, true) {
                        self.go_on_later();
                        return Ok(now);
                    }
                }
                Output::Timeout(at) => {
                    self.wake_at = at;
                    return Ok(now);
                }
                _ => return Err(Failure::Told(Step::Run, "the node wants something unknown to this driver".into())),
            }
        }
    }

    /// One that is held back may always have something due again when it comes back from sending. It goes on in the next turn, behind what came
    /// meanwhile, unless the run is over.
    fn go_on_later(&mut self) {
        self.wake_at = Some(self.oscillator.local(self.node_time(self.clock.now())));
    }

    /// Lets time pass until `until` with the node busy. Its network interface goes on launching frames.
    fn pass_time(&mut self, until: SimTime) {
        while let Some(at) = self.launches.next_at().filter(|at| *at < until) {
            self.clock.wait_until(at);
            self.send_due();
        }
        self.clock.wait_until(until);
    }

    /// Sends the frame of so many bytes in the buffer, at once if its time has come and none waits before it; when that was. Others wait.
    fn launch(&mut self, now: SimTime, at: SimTime, ready: Ready, len: usize) -> Option<SimTime> {
        if at > now || self.launches.next_at().is_some() {
            self.launches.push(at, ready, &self.buffer[..len]);
            self.send_due();
            return None;
        }
        let left_at = self.clock.now();
        let buffer = std::mem::take(&mut self.buffer);
        self.send(left_at, ready, &buffer[..len]);
        self.buffer = buffer;
        Some(left_at)
    }

    /// Sends every frame whose launch time has come. True if there was one.
    fn send_due(&mut self) -> bool {
        let mut any = false;
        while self.launches.next_at().is_some() {
            let at = self.clock.now();
            let Some((ready, bytes)) = self.launches.pop_due(at) else { break };
            any = true;
            self.send(at, ready, &bytes);
            self.launches.recycle(bytes);
        }
        any
    }

    /// Hands a frame to its port, at a time that was read just before.
    fn send(&mut self, at: SimTime, ready: Ready, bytes: &[u8]) {
        let Ready { port: id @ PortId(port), token, attack, origins, parts } = ready;
        let index = id.index();
        let to = self.ports.get_mut(index);
        let (sent, to) = to.map_or((false, None), |port| (port.send(bytes).is_ok(), Some(&*port)));
        if let Some(message) = to.and_then(|to| own_message(to, bytes)) {
            self.log.connected_sent.push(ConnectedSent { at_ps: at.as_ps(), is_refused: !sent, ..message });
        } else if let Some(to) = to.filter(|_| sent) {
            let (hash, len) = (to.hash(bytes), bytes.len() as u32);
            self.log.sent.push(SentRecord { at_ps: at.as_ps(), port, hash, len, attack, origins, parts });
        } else {
            self.log.refused += 1;
        }
        // The emulator takes it from here before this node goes on.
        self.clock.give_way();
        let Some(token) = token else { return };
        let is_told = self.is_told.get(index).copied().unwrap_or(false);
        match bytes.first_chunk().copied().filter(|_| is_told) {
            _ if !sent => self.fates.push_back((token, None)),
            Some(header) => self.leaving.push_back((header, token)),
            None => self.fates.push_back((token, Some(at))),
        }
    }
}

/// The record of a message that no frame stands for, if a frame is one.
fn own_message(port: &Port, frame: &[u8]) -> Option<ConnectedSent> {
    let TestBedHeader { stream, sequence } = TestBedHeader::parse(port.own_message(frame)?).ok()?;
    Some(ConnectedSent {
        at_ps: 0,
        stream: stream.0,
        sequence: sequence.into(),
        len: frame.len() as u32,
        is_refused: false,
    })
}

#[cfg(test)]
mod tests;
