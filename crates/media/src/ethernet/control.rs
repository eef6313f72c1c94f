//! Control frames of SAE AS6802: from every synchronisation master to the compression masters, and from there to every station.
//!
//! ```text
//! master ──► switch ──► switch that compresses ──► switches ──► every station
//! ```
//! A frame takes the way with the fewest links, of several such ways that over the links with the lowest numbers. Which master or
//! compression master a frame is of, its source address says; a frame that comes in by another line than those of its source is
//! refused, and so is one that names another master's bit.

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_clocksync::as6802::{CompressionMaster, CompressionMasterState, Effect, Parameters, Refusal};
use chronoseal_core::{DiscardReason, Event, EventKind, LocalTime, NodeId, Priority, SimTime, StreamId};
use chronoseal_wire::ethernet::{Frame, TypeOrLength};
use chronoseal_wire::protocol_control_frame::{ETHERTYPE_PROTOCOL_CONTROL, ProtocolControlFrame};
use chronoseal_wire::virtual_link;

use super::config::{Ends, NetworkConfig};
use super::forwarding::Forwarded;
use super::ways::HopId;
use super::{Network, Timer};
use crate::line;
use crate::medium::{FrameId, FrameLabel, FrameStore, MediumOutput};

/// A cluster whose clocks are kept together by its own masters.
#[derive(Clone, Debug)]
pub struct ClusterClocks {
    /// Identifier of the control frames' virtual link.
    pub sync_id: u16,
    /// What every device is configured with.
    pub parameters: Parameters,
    /// The synchronisation masters; the first has bit 0 of memberships.
    pub masters: Vec<NodeId>,
    /// The compression masters, as indices into [`NetworkConfig::switches`].
    pub compression_masters: Vec<usize>,
}

/// What a switch does with control frames of one source that come in by one line.
#[derive(Clone, Debug, Default)]
struct Way {
    /// The bit of the master that sends them; none if a compression master does.
    master: u32,
    /// The compression master that this switch is, if it compresses them.
    compresses: Option<usize>,
    /// The lines by which they go on.
    onward: BTreeSet<usize>,
}

/// A switch that compresses.
struct Compressing {
    switch: usize,
    machine: CompressionMaster,
    /// The lines by which it sends.
    leaves_by: BTreeSet<usize>,
    /// When its timer expires.
    wake_at: Option<SimTime>,
}

/// The control frames of a network.
pub(super) struct Control {
    clocks: ClusterClocks,
    compressing: Vec<Compressing>,
    /// By line and source: which of the ways.
    numbers: BTreeMap<(usize, NodeId), usize>,
    ways: Vec<Way>,
}

impl Control {
    pub(super) fn new(config: &NetworkConfig, clocks: &ClusterClocks) -> Self {
        let compressing = |switch: &usize| Compressing {
            switch: *switch,
            machine: CompressionMaster::new(&clocks.parameters, LocalTime::ZERO),
            leaves_by: BTreeSet::new(),
            wake_at: None,
        };
        let compressing = clocks.compression_masters.iter().map(compressing).collect();
        let mut control = Self { clocks: clocks.clone(), compressing, numbers: BTreeMap::new(), ways: Vec::new() };
        let stations = config.station_links();
        for (index, master) in clocks.masters.iter().enumerate() {
            let is_its = |link: &usize| matches!(config.links[*link].ends, Ends::Station { station, .. } if station.node == *master);
            let Some(link) = (0..stations).find(is_its) else { continue };
            control.add_ways_of_master(config, *master, 1 << index, 2 * link);
        }
        for compressing in 0..control.compressing.len() {
            control.add_ways_of_compression_master(config, compressing, stations);
        }
        control
    }

    fn way(&mut self, line: usize, source: NodeId) -> &mut Way {
        let next = self.ways.len();
        let number = *self.numbers.entry((line, source)).or_insert(next);
        if number == next {
            self.ways.push(Way::default());
        }
        &mut self.ways[number]
    }

    fn add_ways_of_master(&mut self, config: &NetworkConfig, master: NodeId, bit: u32, uplink: usize) {
        let Some(first) = config.switch_behind(uplink) else { return };
        let reached_by = reached_by(config, first);
        for compressing in 0..self.compressing.len() {
            let mut came_by = uplink;
            for line in path(config, &reached_by, self.compressing[compressing].switch) {
                let way = self.way(came_by, master);
                way.master = bit;
                way.onward.insert(line);
                came_by = line;
            }
            let way = self.way(came_by, master);
            way.master = bit;
            way.compresses = Some(compressing);
        }
    }

    fn add_ways_of_compression_master(&mut self, config: &NetworkConfig, compressing: usize, stations: usize) {
        let from = self.compressing[compressing].switch;
        let source = config.switches[from];
        let reached_by = reached_by(config, from);
        for link in 0..stations {
            let Ends::Station { switch, .. } = config.links[link].ends else { continue };
            let mut came_by = None;
            for line in path(config, &reached_by, switch).into_iter().chain([2 * link + 1]) {
                match came_by {
                    None => self.compressing[compressing].leaves_by.insert(line),
                    Some(came_by) => self.way(came_by, source).onward.insert(line),
                };
                came_by = Some(line);
            }
        }
    }

    /// What becomes of a control frame that came in by a line, and what it says.
    fn judge(
        &self,
        config: &NetworkConfig,
        line: usize,
        bytes: &[u8],
    ) -> Result<(usize, ProtocolControlFrame), DiscardReason> {
        let frame = Frame::new_checked(bytes)?;
        if virtual_link::ct_id(frame.destination(), config.ct_marker) != Some(self.clocks.sync_id) {
            return Err(DiscardReason::UnknownStream);
        }
        let control = ProtocolControlFrame::parse(frame.payload())?;
        let source = virtual_link::station(frame.source()).ok_or(DiscardReason::NotSyncMaster)?;
        let number = *self.numbers.get(&(line, source)).ok_or(DiscardReason::NotSyncMaster)?;
        let master = self.ways[number].master;
        if master != 0 && control.membership_new != master {
            return Err(DiscardReason::NotSyncMaster);
        }
        Ok((number, control))
    }
}

/// By switch: the line by which it is reached from one of them with the fewest links.
fn reached_by(config: &NetworkConfig, from: usize) -> Vec<Option<usize>> {
    let mut reached = vec![None; config.switches.len()];
    let mut switches = vec![from];
    let mut next = 0;
    while let Some(switch) = switches.get(next).copied() {
        next += 1;
        for line in (0..2 * config.links.len()).filter(|line| config.switch_before(*line) == Some(switch)) {
            if let Some(other) = config.switch_behind(line)
                && other != from
                && reached[other].is_none()
            {
                reached[other] = Some(line);
                switches.push(other);
            }
        }
    }
    reached
}

/// The lines to a switch, in order.
fn path(config: &NetworkConfig, reached_by: &[Option<usize>], to: usize) -> Vec<usize> {
    let mut lines = Vec::new();
    let mut at = to;
    while let Some(line) = reached_by[at] {
        lines.push(line);
        at = config.switch_before(line).unwrap_or(to);
    }
    lines.reverse();
    lines
}

/// What a switch's oscillator shows: switches have the time in which the run is counted.
fn local(now: SimTime) -> LocalTime {
    LocalTime::ZERO + now.since_zero()
}

const fn reason(refusal: Refusal) -> DiscardReason {
    match refusal {
        Refusal::TooOld => DiscardReason::TransmissionDelayExceeded,
        Refusal::TooMany => DiscardReason::QueueFull,
        Refusal::OtherCluster | Refusal::NoSuchCycle => DiscardReason::Malformed,
        _ => DiscardReason::NotSyncMaster,
    }
}

/// True for a control frame.
pub(super) fn is_control(bytes: &[u8]) -> bool {
    let ether_type = Frame::new_checked(bytes).map(|frame| frame.type_or_length());
    ether_type == Ok(TypeOrLength::EtherType(ETHERTYPE_PROTOCOL_CONTROL))
}

impl Network {
    /// Starts the compression masters.
    pub(super) fn start_control(&mut self, now: SimTime, frames: &mut FrameStore, out: &mut Vec<MediumOutput>) {
        let count = self.control.as_ref().map_or(0, |control| control.compressing.len());
        for compressing in 0..count {
            self.compress(now, compressing, frames, out);
        }
    }

    /// The last bit of a control frame came in at a switch.
    pub(super) fn arrive_control(
        &mut self,
        now: SimTime,
        line: usize,
        frame: FrameId,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        let Some(control) = &mut self.control else { return };
        let judged = control.judge(&self.config, line, frames.bytes(frame));
        let (number, said) = match judged {
            Ok(judged) => judged,
            Err(reason) => return self.discard(self.judges[line], frame, StreamId::NONE, reason, frames, out),
        };
        let Way { master, compresses, onward } = &control.ways[number];
        let goes_on = !onward.is_empty();
        if let Some(compressing) = *compresses {
            let taken = control.compressing[compressing].machine.receive(local(now), *master, &said);
            if let Err(refusal) = taken {
                return self.discard(self.judges[line], frame, StreamId::NONE, reason(refusal), frames, out);
            }
            self.compress(now, compressing, frames, out);
        }
        if !goes_on {
            return match frames.label(frame).attack {
                Some(_) => out.push(self.believed(line, frame, frames)),
                None => frames.release(frame),
            };
        }
        let due = self.due(now, line);
        // [SAE AS6802] the time in the switch is part of the delay that a relay causes.
        line::stamp_transparent_clock(frame, due - now, frames);
        let (hop, priority) = (HopId::of_control(number), Priority::PROTOCOL_CONTROL);
        self.forward_at(line, Forwarded { frame, hop, priority, due }, out);
    }

    /// Passes a control frame on. Each line gets a frame of its own, since each delays it differently.
    pub(super) fn relay_control(
        &mut self,
        now: SimTime,
        passed: Forwarded,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        let way = self.control.as_ref().and_then(|control| control.ways.get(passed.hop.control()?));
        for line in way.map(|way| way.onward.clone()).unwrap_or_default() {
            let copy = (frames.duplicate(passed.frame), StreamId::NONE);
            self.send(now, line, Priority::PROTOCOL_CONTROL, Some(passed.due), copy, frames, out);
        }
        frames.release(passed.frame);
    }

    /// Lets a compression master do what it has to do now.
    pub(super) fn compress(
        &mut self,
        now: SimTime,
        compressing: usize,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        let Some(control) = &mut self.control else { return };
        let sync_id = control.clocks.sync_id;
        let Some(one) = control.compressing.get_mut(compressing) else { return };
        let switch = self.config.switches[one.switch];
        one.machine.advance(local(now));
        let mut sent = Vec::new();
        while let Some(effect) = one.machine.poll() {
            match effect {
                Effect::Send { frame, .. } => sent.push(frame),
                Effect::Entered { from, to, .. } => out.extend(entered(switch, from, to)),
                Effect::Corrected { by, at } => {
                    let shown = one.machine.cluster_time(at).map(|time| time + by);
                    let shows = |time: chronoseal_core::Duration| Event {
                        value: -by.as_ps(),
                        ..Event::of(EventKind::ClockShown, StreamId::NONE, time.as_ps().max(0).unsigned_abs())
                    };
                    out.extend(shown.map(|time| MediumOutput::Event { node: switch, event: shows(time), frame: None }));
                }
            }
        }
        while one.machine.poll_refused().is_some() {
            let event = Event::of(EventKind::Discarded(DiscardReason::NotSyncMaster), StreamId::NONE, 0);
            out.push(MediumOutput::Event { node: switch, event, frame: None });
        }
        let wake_at = one.machine.wake_at().map(|at| (SimTime::ZERO + at.since_zero()).max(now));
        if wake_at != one.wake_at || wake_at == Some(now) {
            one.wake_at = wake_at;
            out.extend(wake_at.map(|at| MediumOutput::Timer { at, timer: Timer::Control(compressing).pack() }));
        }
        let leaves_by = one.leaves_by.clone();
        let destination = virtual_link::critical_traffic_address(self.config.ct_marker, sync_id);
        let source = virtual_link::station_address(switch);
        for frame in sent {
            for line in &leaves_by {
                let label = FrameLabel { sender: switch, sent_at: now, ..FrameLabel::default() };
                let copy = frames.allocate(label);
                let len = frame.emit_frame(destination, source, frames.buffer(copy));
                frames.set_len(copy, len);
                self.send(now, *line, Priority::PROTOCOL_CONTROL, Some(now), (copy, StreamId::NONE), frames, out);
            }
        }
    }
}

/// What a change of state says of the clock, if anything.
fn entered(switch: NodeId, from: CompressionMasterState, to: CompressionMasterState) -> Option<MediumOutput> {
    let follows = |state| matches!(state, CompressionMasterState::Sync | CompressionMasterState::Stable);
    let kind = match (follows(from), follows(to)) {
        (false, true) => EventKind::SyncAcquired,
        (true, false) => EventKind::SyncLost,
        _ => return None,
    };
    Some(MediumOutput::Event { node: switch, event: Event::of(kind, StreamId::NONE, 0), frame: None })
}
