//! The medium between the agents, driven by the wall clock: frames are read from and written to the ends of their wires,
//! of whatever kind these are.
//!
//! The medium's arithmetic sees planned times: a timer is handled with the time it was asked for, however late the
//! thread woke up, and a frame with the time it was read. What the host adds shows up in one place only, the release
//! error of each write.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicBool, Ordering};

use chronoseal_core::{Duration, Event, EventKind, MessagePart, NodeId, SimTime, StreamId};
use chronoseal_media::medium::{
    Attachment, FRAME_CAPACITY, FrameId, FrameLabel, FrameStore, Medium, MediumOutput, MediumTimer,
};
use chronoseal_results::{Direction, EventRow, ReleaseRow, StallRow};
use chronoseal_wire::protocol_control_frame::add_transparent_clock;

use crate::clock::{RunClock, SPIN, is_ready, readable};
use crate::end::{End, Fate, Read};
use crate::join::Line;
use crate::log::hash_of;
use crate::socket::{Cut, Piece, cut_of, piece};
use crate::traffic::{FrameDescription, Traffic};

/// The thread looks at its stop flag at least this often.
const LOOK_EVERY: Duration = Duration::from_ms(20);

/// A real-time thread that never sleeps has its processor taken away for 50 ms in each second. So after so long without sleep…
const AWAKE_MAX: Duration = Duration::from_ms(1);
/// … it sleeps so long, which is enough for others.
const REST: Duration = Duration::from_us(60);

/// Frames read from one wire before others are looked at anew, which costs a system call.
const FRAMES_PER_TURN: usize = 8;

/// Frames read at the end from an interface of the kernel, which may never be empty.
const CARRIED_AT_END: usize = 4096;

/// Room for any frame of any wire `[byte]`.
const READ_LEN: usize = u16::MAX as usize;

/// Records of each kind there is room for before memory has to grow.
const LOG_ROOM: usize = 1 << 17;

/// One end of the medium.
pub(crate) struct Wire {
    pub(crate) line: Line,
    pub(crate) end: End,
}

/// A frame read from a wire.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    /// Index of its wire.
    pub(crate) wire: usize,
    pub(crate) read_at: SimTime,
    /// When the medium had the whole of it, as the medium has it; known when the frame leaves the medium.
    pub(crate) arrived_at: Option<SimTime>,
    /// The medium said that it has left its sender, whoever heard it.
    pub(crate) has_left: bool,
    /// It was written to a wire.
    pub(crate) is_out: bool,
    /// Of a later packet of a datagram that a kernel cut: the arrival of the first one.
    pub(crate) first: Option<usize>,
    pub(crate) len: u32,
    pub(crate) hash: u64,
    pub(crate) description: FrameDescription,
}

/// A frame written to a wire.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Departure {
    /// Index of its arrival; `None` if the medium made the frame itself (a beacon).
    pub(crate) serial: Option<usize>,
    /// Index of its wire.
    pub(crate) wire: usize,
    /// When its first bit left the medium: as planned, plus what the write was late.
    pub(crate) departed_at: SimTime,
    pub(crate) written_at: SimTime,
    pub(crate) hash: u64,
    /// False for the first frame of a message that goes on in others.
    pub(crate) is_whole: bool,
    /// The kernel took it.
    pub(crate) accepted: bool,
}

/// A frame thrown away in the medium.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MediumDiscard {
    /// Index of its arrival; `None` if the medium made the frame itself.
    pub(crate) serial: Option<usize>,
    pub(crate) at: SimTime,
    pub(crate) node: NodeId,
    pub(crate) event: Event,
}

/// A frame seen on a wire; its bytes are `start..end` of [`EmulatorLog::captured`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Capture {
    pub(crate) serial: Option<usize>,
    pub(crate) time: SimTime,
    pub(crate) wire: usize,
    pub(crate) direction: Direction,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// All the emulator knows after a run.
#[derive(Default)]
pub(crate) struct EmulatorLog {
    pub(crate) arrivals: Vec<Arrival>,
    pub(crate) departures: Vec<Departure>,
    pub(crate) discards: Vec<MediumDiscard>,
    pub(crate) events: Vec<EventRow>,
    pub(crate) releases: Vec<ReleaseRow>,
    pub(crate) stalls: Vec<StallRow>,
    pub(crate) captures: Vec<Capture>,
    pub(crate) captured: Vec<u8>,
    /// When it stopped.
    pub(crate) ended_at: SimTime,
}

/// What the emulator is told.
pub(crate) struct EmulatorConfig<'a> {
    pub(crate) clock: RunClock,
    pub(crate) traffic: &'a dyn Traffic,
    pub(crate) until: SimTime,
    pub(crate) stall_threshold: Duration,
    pub(crate) capture: bool,
}

/// Runs the medium until `until` or until `stop` is set.
pub(crate) fn run(
    config: &EmulatorConfig<'_>,
    wires: &[Wire],
    medium: &mut (dyn Medium + Send),
    stop: &AtomicBool,
) -> EmulatorLog {
    let mut emulator = Emulator {
        config,
        wires,
        medium,
        frames: FrameStore::new(),
        incoming: vec![0; READ_LEN],
        outgoing: Vec::with_capacity(READ_LEN),
        timers: BinaryHeap::new(),
        cut: vec![None; wires.len()],
        out: Vec::new(),
        log: EmulatorLog {
            arrivals: Vec::with_capacity(LOG_ROOM),
            departures: Vec::with_capacity(LOG_ROOM),
            releases: Vec::with_capacity(LOG_ROOM),
            ..EmulatorLog::default()
        },
    };
    emulator.turns(stop);
    emulator.log.ended_at = config.clock.now();
    emulator.log
}

struct Emulator<'w> {
    config: &'w EmulatorConfig<'w>,
    wires: &'w [Wire],
    medium: &'w mut (dyn Medium + Send),
    frames: FrameStore,
    /// The frame that was read last.
    incoming: Vec<u8>,
    /// The frame that is being written.
    outgoing: Vec<u8>,
    timers: BinaryHeap<Reverse<(SimTime, MediumTimer)>>,
    /// By wire: the datagram that its kernel cut last, and the arrival of its first packet. It hands over all of them in one go.
    cut: Vec<Option<(Cut, usize)>>,
    out: Vec<MediumOutput>,
    log: EmulatorLog,
}

impl<'w> Emulator<'w> {
    fn turns(&mut self, stop: &AtomicBool) {
        let clock = self.config.clock;
        self.medium.start(SimTime::ZERO, &mut self.frames, &mut self.out);
        self.perform(SimTime::ZERO);
        let wires = self.wires;
        let watched = |(index, wire): (usize, &'w Wire)| Some((index, readable(wire.end.descriptor()?)));
        let (indices, mut descriptors): (Vec<usize>, Vec<_>) = wires.iter().enumerate().filter_map(watched).unzip();
        // There may be hundreds of wires: only those that have something are read.
        let mut awake_since = clock.now();
        while clock.now() < self.config.until && !stop.load(Ordering::Relaxed) {
            self.expire_timers();
            let now = clock.now();
            if clock.shares_processor && now - awake_since > AWAKE_MAX {
                clock.poll_until(&mut [], Some(now + SPIN + REST));
                awake_since = clock.now();
                continue;
            }
            let timer_at = self.timers.peek().map(|Reverse((at, _))| *at);
            let next = timer_at.map_or(now + LOOK_EVERY, |at| at.min(now + LOOK_EVERY));
            let ready = clock.poll_until(&mut descriptors, Some(next));
            let woken_at = clock.now();
            if woken_at - now >= REST {
                awake_since = woken_at;
            }
            let has_some = indices.iter().zip(&descriptors).filter(|(_, descriptor)| is_ready(descriptor));
            if ready && self.read_wires(has_some.map(|(index, _)| *index).collect()) {
                // Who was given a frame takes it before this thread looks for others.
                clock.give_way();
            } else if timer_at.is_some_and(|at| at - clock.now() <= SPIN) {
                clock.spin_until(next);
            }
        }
        self.read_carried();
    }

    /// What the kernel had carried before the end and nobody has read yet.
    fn read_carried(&mut self) {
        let carried: Vec<usize> = (0..self.wires.len()).filter(|wire| self.wires[*wire].end.is_carried()).collect();
        for wire in carried {
            let mut left = CARRIED_AT_END;
            while left > 0 && self.read_wire(wire) {
                left -= 1;
            }
        }
    }

    /// Handles every timer that is due, each with the time it was asked for.
    fn expire_timers(&mut self) {
        while let Some(Reverse((at, timer))) = self.timers.peek().copied() {
            let now = self.config.clock.now();
            if at > now {
                return;
            }
            self.timers.pop();
            if now - at > self.config.stall_threshold {
                self.log.stalls.push(StallRow { time: at, duration: now - at });
            }
            self.medium.handle_timer(at, timer, &mut self.frames, &mut self.out);
            self.perform(at);
        }
    }

    /// A few frames from each of these wires, in turn, so that none of them waits for another. False if there was none.
    fn read_wires(&mut self, mut wires: Vec<usize>) -> bool {
        let mut any = false;
        for _ in 0..FRAMES_PER_TURN {
            wires.retain(|index| self.read_wire(*index));
            if wires.is_empty() {
                break;
            }
            any = true;
        }
        any
    }

    /// One frame from a wire. False if there was none.
    fn read_wire(&mut self, index: usize) -> bool {
        let end = &self.wires[index].end;
        // Only a lossy link has packets that are longer than an Ethernet frame.
        let room = if end.has_messages() { READ_LEN } else { FRAME_CAPACITY };
        let read = end.read(&mut self.incoming[..room]);
        if read == Read::Nothing {
            return false;
        }
        let now = self.config.clock.now();
        if let Read::Frame(len) = read {
            self.expire_timers_before(now);
            let incoming = std::mem::take(&mut self.incoming);
            self.arrive(now, index, &incoming[..len.min(room)]);
            self.incoming = incoming;
            return true;
        }
        if let Read::Bad(reason) = read {
            let event = Event::of(EventKind::Discarded(reason), StreamId::NONE, 0);
            self.log.events.push(EventRow { time: now, node: self.wires[index].line.attachment.node, event });
        }
        true
    }

    /// The medium's time never runs backwards: what was due before a frame was read comes before the frame.
    fn expire_timers_before(&mut self, now: SimTime) {
        while let Some(Reverse((at, timer))) = self.timers.peek().copied().filter(|Reverse((at, _))| *at <= now) {
            self.timers.pop();
            self.medium.handle_timer(at, timer, &mut self.frames, &mut self.out);
            self.perform(at);
        }
    }

    fn arrive(&mut self, now: SimTime, wire: usize, bytes: &[u8]) {
        let Line { attachment: from, segment, .. } = self.wires[wire].line;
        let serial = self.log.arrivals.len();
        let label = FrameLabel {
            sender: from.node,
            sent_at: now,
            serial: Some(serial as u64),
            segment,
            ..FrameLabel::default()
        };
        let description = FrameDescription::UNKNOWN;
        let (hash, len) = (0, bytes.len() as u32);
        self.log.arrivals.push(Arrival {
            wire,
            read_at: now,
            arrived_at: None,
            has_left: false,
            is_out: false,
            first: None,
            len,
            hash,
            description,
        });
        if !self.wires[wire].end.is_carried() {
            let frame = self.frames.hold(bytes, label);
            let priority = self.config.traffic.priority(from, bytes);
            self.medium.handle_frame(now, from, priority, frame, &mut self.frames, &mut self.out);
            self.perform(now);
        }
        self.capture(Some(serial), now, wire, Direction::Arrival, bytes);
        let arrival = &mut self.log.arrivals[serial];
        arrival.description = self.config.traffic.describe(from, bytes, arrival.arrived_at.unwrap_or(now));
        let has_messages = self.wires[wire].end.has_messages();
        let piece = if has_messages { piece(bytes) } else { Piece::Other };
        let cut = if has_messages { cut_of(bytes) } else { None };
        arrival.hash = match piece {
            Piece::First { identity, .. } => {
                // A message is one row, and this frame stands for it.
                arrival.description.part = MessagePart::Whole;
                self.cut[wire] = cut.map(|cut| (cut, serial));
                identity
            }
            Piece::Rest => {
                arrival.first = self.cut[wire].filter(|(last, _)| Some(*last) == cut).map(|(_, first)| first);
                hash_of(bytes)
            }
            Piece::Other => hash_of(bytes),
        };
    }

    /// Does what the medium wants done at `planned`.
    fn perform(&mut self, planned: SimTime) {
        let mut out = std::mem::take(&mut self.out);
        for output in out.drain(..) {
            match output {
                MediumOutput::Deliver { to, frame, departed_at } => {
                    self.deliver(planned, to, frame, departed_at);
                    self.frames.release(frame);
                }
                MediumOutput::Transmitted { from, frame, .. } => {
                    let label = *self.frames.label(frame);
                    if let Some(arrival) = serial_of(&label).and_then(|serial| self.log.arrivals.get_mut(serial)) {
                        arrival.has_left = true;
                    }
                    self.tell(planned, from, frame, Fate::Left);
                    self.capture_carried(planned, from, frame);
                    self.frames.release(frame);
                }
                MediumOutput::Discard { node, event, frame } => {
                    let label = *self.frames.label(frame);
                    self.note_arrival(&label);
                    self.log.discards.push(MediumDiscard { serial: serial_of(&label), at: planned, node, event });
                    self.log.events.push(EventRow { time: planned, node, event });
                    if let Some(arrival) = serial_of(&label).and_then(|serial| self.log.arrivals.get(serial)) {
                        let from = self.wires[arrival.wire].line.attachment;
                        self.tell(planned, from, frame, Fate::Dropped);
                    }
                    self.frames.release(frame);
                }
                MediumOutput::Event { node, event, .. } => {
                    self.log.events.push(EventRow { time: planned, node, event });
                }
                MediumOutput::Timer { at, timer } => self.timers.push(Reverse((at, timer))),
            }
        }
        self.out = out;
    }

    fn note_arrival(&mut self, label: &FrameLabel) {
        if let Some(arrival) = serial_of(label).and_then(|serial| self.log.arrivals.get_mut(serial)) {
            arrival.arrived_at = arrival.arrived_at.or(label.arrived_at);
        }
    }

    fn deliver(&mut self, planned: SimTime, to: Attachment, frame: FrameId, departed_at: SimTime) {
        let label = *self.frames.label(frame);
        self.note_arrival(&label);
        let Some(wire) = self.wires.iter().position(|wire| wire.line.attachment == to) else { return };
        let mut outgoing = std::mem::take(&mut self.outgoing);
        outgoing.clear();
        outgoing.extend_from_slice(self.frames.bytes(frame));
        let bytes = outgoing.as_mut_slice();
        // When the frame is handed to the kernel, as for the agents' own frames.
        let written_at = self.config.clock.now();
        let error = written_at - planned;
        // A control frame carries the time it spent on its way; what this write is late belongs to it.
        if self.wires[wire].end.is_ethernet() {
            add_transparent_clock(bytes, error.max(Duration::ZERO));
        }
        let accepted = self.wires[wire].end.write(bytes);
        if let Some(arrival) = serial_of(&label).and_then(|serial| self.log.arrivals.get_mut(serial)) {
            arrival.is_out = true;
        }
        if self.wires[wire].end.leads_out() {
            self.log.releases.push(ReleaseRow { planned, error });
        }
        let piece = if self.wires[wire].end.has_messages() { piece(bytes) } else { Piece::Other };
        let hash = match piece {
            Piece::First { identity, .. } => Some(identity),
            Piece::Rest => None,
            Piece::Other => Some(hash_of(bytes)),
        };
        self.log.departures.extend(hash.map(|hash| Departure {
            serial: serial_of(&label),
            wire,
            departed_at: departed_at + error.max(Duration::ZERO),
            written_at,
            hash,
            is_whole: !matches!(piece, Piece::First { is_whole: false, .. }),
            accepted,
        }));
        self.capture(serial_of(&label), written_at, wire, Direction::Departure, bytes);
        self.outgoing = outgoing;
    }

    /// Tells the sender of a frame what became of it, if its end wants to be told.
    fn tell(&mut self, planned: SimTime, from: Attachment, frame: FrameId, fate: Fate) {
        let Some(wire) = self.wires.iter().find(|wire| wire.line.attachment == from) else { return };
        let error = self.config.clock.now() - planned;
        if wire.end.tell(self.frames.bytes(frame), fate) {
            self.log.releases.push(ReleaseRow { planned, error });
        }
    }

    /// Keeps a frame that is through. What a gateway repeats is known from its sender's bus.
    fn capture_carried(&mut self, planned: SimTime, from: Attachment, frame: FrameId) {
        let Some(wire) = self.wires.iter().position(|wire| wire.line.attachment == from) else { return };
        if self.config.capture {
            let bytes = self.frames.bytes(frame).to_vec();
            self.capture(serial_of(self.frames.label(frame)), planned, wire, Direction::Carried, &bytes);
        }
    }

    fn capture(&mut self, serial: Option<usize>, time: SimTime, wire: usize, direction: Direction, bytes: &[u8]) {
        if self.config.capture {
            let start = self.log.captured.len();
            self.log.captured.extend_from_slice(bytes);
            let end = self.log.captured.len();
            self.log.captures.push(Capture { serial, time, wire, direction, start, end });
        }
    }
}

/// Index of the arrival a frame came in with.
fn serial_of(label: &FrameLabel) -> Option<usize> {
    label.serial.map(|serial| serial as usize)
}
