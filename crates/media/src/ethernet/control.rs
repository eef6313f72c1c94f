//! Control frames of SAE AS6802: from every synchronisation master to the compression masters, and from there to every station.
//!
//! ```text
//! master ──► switch ──► switch that compresses ──► switches ──► every station
//! ```
//! A frame takes the way with the fewest links, of several such ways that over the links with the lowest numbers. Which master or
//! compression master a frame is of, its source address says; a frame that comes in by another line than those of its source is
//! refused, and so is one that names another master's bit.
//!
//! Over the networks A and B each is a channel of AS6802 with compression masters of its own. A master sends over both, and every
//! compression master compresses what comes to it over its network and sends the result there. Stations use both, as they use the frames
//! of two compression masters in one network; a switch follows those of its own network, since no others come to it.

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_clocksync::as6802::{CompressionMaster, Effect, Parameters, Refusal, SynchronisationClient};
use chronoseal_core::oscillator::RateDeviation;
use chronoseal_core::{DiscardReason, Duration, Event, EventKind, LocalTime, NodeId, Priority, SimTime, StreamId};
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
    /// The synchronisation client that this switch is, if it follows them, and the compression master that sends them.
    follows: Option<(usize, usize)>,
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

/// A switch that does not compress and has slots to keep to: it follows those that do.
struct Following {
    switch: usize,
    machine: SynchronisationClient,
    wake_at: Option<SimTime>,
}

/// The control frames of a network.
pub(super) struct Control {
    clocks: ClusterClocks,
    compressing: Vec<Compressing>,
    following: Vec<Following>,
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
        let following = |switch| Following {
            switch,
            machine: SynchronisationClient::new(&clocks.parameters, clocks.compression_masters.len()),
            wake_at: None,
        };
        let follows = |switch: &usize| config.has_own_clocks() && !clocks.compression_masters.contains(switch);
        let following = (0..config.switches.len()).filter(follows).map(following).collect();
        let (clocks, numbers, ways) = (clocks.clone(), BTreeMap::new(), Vec::new());
        let mut control = Self { clocks, compressing, following, numbers, ways };
        let stations = config.station_links();
        for (index, master) in control.clocks.masters.clone().iter().enumerate() {
            let is_its = |link: &usize| matches!(config.links[*link].ends, Ends::Station { station, .. } if station.node == *master);
            for link in (0..stations).filter(is_its) {
                control.add_ways_of_master(config, *master, 1 << index, 2 * link);
            }
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
            let Some(lines) = path(config, first, &reached_by, self.compressing[compressing].switch) else { continue };
            for line in lines {
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
            let Some(lines) = path(config, from, &reached_by, switch) else { continue };
            let mut came_by = None;
            for line in lines.into_iter().chain([2 * link + 1]) {
                match came_by {
                    None => self.compressing[compressing].leaves_by.insert(line),
                    Some(came_by) => self.way(came_by, source).onward.insert(line),
                };
                came_by = Some(line);
            }
        }
        for following in 0..self.following.len() {
            let Some(lines) = path(config, from, &reached_by, self.following[following].switch) else { continue };
            let mut came_by = None;
            for line in lines {
                match came_by {
                    None => self.compressing[compressing].leaves_by.insert(line),
                    Some(came_by) => self.way(came_by, source).onward.insert(line),
                };
                came_by = Some(line);
            }
            if let Some(came_by) = came_by {
                self.way(came_by, source).follows = Some((following, compressing));
            }
        }
    }

    /// The clock of a switch: what it shows, if it can be relied on.
    fn shown(&self, switch: usize, now: SimTime) -> Option<Duration> {
        let compressing = self.compressing.iter().find(|one| one.switch == switch);
        let compressing = compressing.map(|one| one.machine.cluster_time(local(now)));
        let following = self.following.iter().find(|one| one.switch == switch);
        compressing.or_else(|| Some(following?.machine.cluster_time(local(now)))).flatten()
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

/// The lines from one switch to another, in order; `None` if none lead there, as from one network to another.
fn path(config: &NetworkConfig, from: usize, reached_by: &[Option<usize>], to: usize) -> Option<Vec<usize>> {
    let mut lines = Vec::new();
    let mut at = to;
    while at != from {
        let line = reached_by[at]?;
        lines.push(line);
        at = config.switch_before(line)?;
    }
    lines.reverse();
    Some(lines)
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
        let Way { master, compresses, follows, onward } = &control.ways[number];
        let goes_on = !onward.is_empty();
        if let Some((following, source)) = *follows {
            let taken = control.following[following].machine.receive(local(now), source, &said);
            if let Err(refusal) = taken {
                return self.discard(self.judges[line], frame, StreamId::NONE, reason(refusal), frames, out);
            }
            self.follow_cluster(now, following, frames, out);
            return self.pass_control(now, line, (frame, number, goes_on), frames, out);
        }
        if let Some(compressing) = *compresses {
            let taken = control.compressing[compressing].machine.receive(local(now), *master, &said);
            if let Err(refusal) = taken {
                return self.discard(self.judges[line], frame, StreamId::NONE, reason(refusal), frames, out);
            }
            self.compress(now, compressing, frames, out);
        }
        self.pass_control(now, line, (frame, number, goes_on), frames, out);
    }

    /// Passes a control frame on after the forwarding delay, if it goes on.
    fn pass_control(
        &mut self,
        now: SimTime,
        line: usize,
        (frame, number, goes_on): (FrameId, usize, bool),
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
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

    /// Lets a compression master, or a switch that follows some, do what it has to do now.
    pub(super) fn keep_cluster_time(
        &mut self,
        now: SimTime,
        number: usize,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        let compressing = self.control.as_ref().map_or(0, |control| control.compressing.len());
        match number.checked_sub(compressing) {
            None => self.compress(now, number, frames, out),
            Some(following) => self.follow_cluster(now, following, frames, out),
        }
    }

    /// Lets a switch that follows compression masters do what it has to do now.
    fn follow_cluster(&mut self, now: SimTime, following: usize, frames: &mut FrameStore, out: &mut Vec<MediumOutput>) {
        let Some(control) = &mut self.control else { return };
        let number = control.compressing.len() + following;
        let Some(one) = control.following.get_mut(following) else { return };
        let (index, switch) = (one.switch, self.config.switches[one.switch]);
        let was_synchronised = one.machine.is_synchronised();
        one.machine.advance(local(now));
        while let Some(effect) = one.machine.poll() {
            if let Effect::Corrected { by, at } = effect {
                out.extend(corrected(switch, one.machine.cluster_time(at), by));
            }
        }
        out.extend(changed(switch, was_synchronised, one.machine.cluster_time(local(now))));
        let wake_at = one.machine.wake_at().map(|at| (SimTime::ZERO + at.since_zero()).max(now));
        if wake_at != one.wake_at || wake_at == Some(now) {
            one.wake_at = wake_at;
            out.extend(wake_at.map(|at| MediumOutput::Timer { at, timer: Timer::Control(number).pack() }));
        }
        self.look_at_cluster_clock(now, index, frames, out);
    }

    /// The clock of a switch may show something else now.
    fn look_at_cluster_clock(
        &mut self,
        now: SimTime,
        switch: usize,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        let shown = self.control.as_ref().and_then(|control| control.shown(switch, now));
        self.clock_looked_at(now, switch, shown.map(|shown| (shown, RateDeviation::ZERO)), frames, out);
    }

    /// Lets a compression master do what it has to do now.
    fn compress(&mut self, now: SimTime, compressing: usize, frames: &mut FrameStore, out: &mut Vec<MediumOutput>) {
        let Some(control) = &mut self.control else { return };
        let sync_id = control.clocks.sync_id;
        let Some(one) = control.compressing.get_mut(compressing) else { return };
        let (index, switch) = (one.switch, self.config.switches[one.switch]);
        let was_synchronised = one.machine.is_synchronised();
        one.machine.advance(local(now));
        let mut sent = Vec::new();
        while let Some(effect) = one.machine.poll() {
            match effect {
                Effect::Send { frame, .. } => sent.push(frame),
                Effect::Entered { .. } => {}
                Effect::Corrected { by, at } => out.extend(corrected(switch, one.machine.cluster_time(at), by)),
            }
        }
        out.extend(changed(switch, was_synchronised, one.machine.cluster_time(local(now))));
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
        self.look_at_cluster_clock(now, index, frames, out);
    }
}

/// What a correction says of a clock that shows `shown` since.
fn corrected(switch: NodeId, shown: Option<Duration>, by: Duration) -> Option<MediumOutput> {
    let before = shown? + by;
    let event = Event { value: -by.as_ps(), ..shows(before) };
    Some(MediumOutput::Event { node: switch, event, frame: None })
}

/// What is told of a clock that shows `shown` now, nothing if it is in no cluster.
fn changed(switch: NodeId, was_synchronised: bool, shown: Option<Duration>) -> impl Iterator<Item = MediumOutput> {
    let told = match (was_synchronised, shown) {
        (false, Some(shown)) => [Some(Event::of(EventKind::SyncAcquired, StreamId::NONE, 0)), Some(shows(shown))],
        (true, None) => [Some(Event::of(EventKind::SyncLost, StreamId::NONE, 0)), None],
        _ => [None; 2],
    };
    told.into_iter().flatten().map(move |event| MediumOutput::Event { node: switch, event, frame: None })
}

fn shows(time: Duration) -> Event {
    Event::of(EventKind::ClockShown, StreamId::NONE, time.as_ps().max(0).unsigned_abs())
}
