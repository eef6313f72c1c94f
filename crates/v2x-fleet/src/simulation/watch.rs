//! What a run of a fleet comes to: what an eavesdropper hears, what vehicles know of each other, what it all took.
//!
//! It sees what an observer of the engine sees, and knows from the configuration where vehicles really are.

use std::collections::BTreeSet;
use std::sync::Arc;

use chronoseal_core::{DiscardReason, Duration, Event, EventKind, NodeId, PortId, SimTime, Work};
use chronoseal_media::medium::Attachment;
use chronoseal_media::radio::{RadioChannel, psdu_len};
use chronoseal_wire::its::Cam;

use super::config::{FleetConfig, WatchConfig};
use super::receivers::{Present, Receivers};
use super::{FleetOutcome, UNKNOWN_LENGTH, add};
use crate::eavesdropper::{Heard, Observation, PowerMeter, Trace};
use crate::generation::INTERVAL_MIN;
use crate::road::{Dimensions, State};
use crate::station::{Content, FrameTable};

/// The frame an event is about.
#[derive(Clone, Copy, Debug)]
pub struct FrameSeen<'a> {
    /// Header to last byte before the checksum.
    pub bytes: &'a [u8],
    /// Who put it on the air.
    pub sender: NodeId,
    /// When its last bit was in at the node of the event; `None` if it was not received.
    pub received_at: Option<SimTime>,
}

/// What signing and verifying took, all vehicles together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Processing {
    /// Operations on processors: signatures made and verified.
    pub operations: u64,
    /// Time spent.
    pub busy: Duration,
    /// Messages dropped, because they waited too long.
    pub dropped: u64,
    /// Longest time from the last bit of a message to its acceptance.
    pub delay_max: Duration,
}

/// One vehicle, as it is seen.
#[derive(Clone, Copy, Debug)]
struct Seen {
    begins_at: SimTime,
    silent_until: SimTime,
    /// When it last took up an identity or fell silent.
    changed_at: Option<SimTime>,
}

/// Watches a run.
pub struct Watch {
    fleet: Arc<FleetConfig>,
    config: WatchConfig,
    table: FrameTable,
    /// The node of the first vehicle.
    first: NodeId,
    receivers: Receivers,
    meter: PowerMeter,
    vehicles: Vec<Seen>,
    /// Who appears and who leaves, in the order of time, and how many of them have.
    comings: Vec<(SimTime, bool, usize)>,
    came: usize,
    next_look_at: Option<SimTime>,
    /// Identifiers that were taken up.
    ids: BTreeSet<u32>,
    outcome: FleetOutcome,
}

impl Watch {
    /// For vehicles that look around for the first time at these times, under these identifiers.
    pub(super) fn new(
        fleet: &Arc<FleetConfig>,
        config: WatchConfig,
        table: FrameTable,
        first: NodeId,
        begins_at: &[SimTime],
        ids: &[u32],
    ) -> Self {
        let mut comings = Vec::with_capacity(2 * begins_at.len());
        for (index, (trip, begins_at)) in fleet.trips.trips.iter().zip(begins_at).enumerate() {
            let ends_at = trip.ends_at(fleet.trips.step);
            if *begins_at <= ends_at {
                let looks = (ends_at - *begins_at).div_floor(INTERVAL_MIN) + 1;
                comings.push((*begins_at, true, index));
                comings.push((*begins_at + INTERVAL_MIN * looks, false, index));
            }
        }
        comings.sort_unstable();
        let seen = |begins_at: &SimTime| Seen { begins_at: *begins_at, silent_until: SimTime::ZERO, changed_at: None };
        let outcome = FleetOutcome { pseudonyms: ids.len() as u64, ..FleetOutcome::default() };
        Self {
            receivers: Receivers::new(&fleet.trips),
            meter: PowerMeter::new(fleet.propagation, fleet.seed),
            vehicles: begins_at.iter().map(seen).collect(),
            comings,
            came: 0,
            next_look_at: Some(SimTime::ZERO),
            ids: ids.iter().copied().collect(),
            fleet: Arc::clone(fleet),
            config,
            table,
            first,
            outcome,
        }
    }

    /// An event at a node, with the frame it is about.
    pub fn event(&mut self, at: SimTime, node: NodeId, event: &Event, frame: Option<FrameSeen<'_>>) {
        self.advance(at);
        // Nodes before the vehicles are none of the traffic.
        let Some(index) = self.index(node) else { return };
        let received = frame.filter(|frame| frame.received_at.is_some());
        if index >= self.vehicles.len() {
            if let (EventKind::Delivered, Some(frame)) = (event.kind, received) {
                let post = self.fleet.posts.get(index - self.vehicles.len());
                let metres = |mm: i64| mm as f64 / 1000.0;
                self.eavesdrop(at, frame, post.map(|post| [metres(post.x_mm), metres(post.y_mm)]));
            }
            return;
        }
        match (event.kind, received) {
            (EventKind::Delivered, Some(frame)) => self.accept(at, index, frame),
            (EventKind::Discarded(reason), Some(_)) => {
                let reception = &mut self.outcome.reception;
                reception.received += 1;
                match reason {
                    DiscardReason::UnknownSigner => reception.unknown_signer += 1,
                    DiscardReason::WaitedTooLong => self.outcome.processing.dropped += 1,
                    _ => reception.refused += 1,
                }
            }
            (EventKind::Discarded(_), None) => self.outcome.reception.refused_by_sender += 1,
            (EventKind::PseudonymChanged, _) => {
                let silence = Duration::from_ps(event.value);
                self.outcome.safety.changes += 1;
                self.outcome.safety.silence += silence;
                self.outcome.pseudonyms += u64::from(self.ids.insert(event.sequence as u32));
                let seen = &mut self.vehicles[index];
                (seen.changed_at, seen.silent_until) = (Some(at), at + silence);
            }
            (EventKind::KeptSilent, _) => self.outcome.safety.messages_withheld += 1,
            (EventKind::Hushed, _) => {
                self.outcome.safety.silence += Duration::from_ps(event.value);
                self.vehicles[index].changed_at = Some(at);
            }
            _ => {}
        }
    }

    /// A station hands a frame to its radio.
    pub fn transmit(&mut self, bytes: &[u8]) {
        let kind = match self.fleet.signs.is_some() && self.table.frame(bytes).has_certificate() {
            true => &mut self.outcome.with_certificate,
            false => &mut self.outcome.with_digest,
        };
        kind.add(psdu_len(bytes.len() as u64));
    }

    /// The last bit of a frame has left its sender. Who hears everything hears it now.
    pub fn carried(&mut self, at: SimTime, node: NodeId, bytes: &[u8]) {
        self.advance(at);
        if self.fleet.posts.is_empty() {
            self.eavesdrop(at, FrameSeen { bytes, sender: node, received_at: None }, None);
        }
    }

    /// A processor is busy.
    pub fn work(&mut self, _work: &Work, cost: Duration) {
        self.outcome.processing.operations += 1;
        self.outcome.processing.busy += cost;
    }

    /// What it came to.
    pub fn finish(mut self, channel: &RadioChannel) -> FleetOutcome {
        while let Some(at) = self.next_look_at {
            self.advance(at + Duration::from_ps(1));
        }
        for index in 0..self.vehicles.len() {
            let node = NodeId(self.first.0 + index as u16);
            if let Some(statistics) = channel.statistics(Attachment { node, port: PortId(0) }) {
                add(&mut self.outcome.radio, statistics);
            }
        }
        self.outcome.checks = if self.fleet.signs.is_some() { self.table.made() } else { 0 };
        self.outcome
    }

    fn accept(&mut self, at: SimTime, to: usize, frame: FrameSeen<'_>) {
        let of = self.index(frame.sender);
        let reception = &mut self.outcome.reception;
        reception.received += 1;
        reception.accepted += 1;
        if let Some(received_at) = frame.received_at {
            let delay_max = &mut self.outcome.processing.delay_max;
            *delay_max = (*delay_max).max(at - received_at);
        }
        let Some(of) = of.filter(|of| *of < self.vehicles.len()) else { return };
        let gap = self.receivers.hear(at, to, of).filter(|age| *age > self.config.news_age_max);
        let Some(gap) = gap else { return };
        let [Some(here), Some(there)] = [to, of].map(|index| self.state(index, at)) else { return };
        if here.distance_m(&there) <= self.config.awareness_m {
            self.outcome.safety.count_gap(gap);
        }
    }

    /// Which vehicle, or behind them which post, a node is.
    fn index(&self, node: NodeId) -> Option<usize> {
        node.index().checked_sub(self.first.index())
    }

    /// Takes down what a frame says and shows, once.
    fn eavesdrop(&mut self, at: SimTime, frame: FrameSeen<'_>, receiver: Option<[f64; 2]>) {
        let Some(vehicle) = self.index(frame.sender).filter(|index| *index < self.vehicles.len()) else { return };
        // Several posts hear one frame at the same instant.
        let mut latest = self.outcome.heard.iter().rev().take_while(|one| one.observation.at == at);
        if latest.any(|one| one.vehicle == vehicle) {
            return;
        }
        let Some(mut observation) = self.observation(at, frame.bytes) else { return };
        let trip = &self.fleet.trips.trips[vehicle];
        let real = trip.state_at(at, self.fleet.trips.step).unwrap_or(observation.state);
        let power_db = self.meter.measure(vehicle, &real, &observation.state, receiver);
        if let Some(trace) = &mut observation.trace {
            trace.power_db = power_db;
        }
        self.outcome.heard.push(Heard { observation, vehicle });
    }

    /// What a frame says, and what it shows.
    fn observation(&self, at: SimTime, bytes: &[u8]) -> Option<Observation> {
        let taken_apart = self.table.frame(bytes);
        let content = taken_apart.content().ok()?;
        let (source, trace) = Trace::of_frame(bytes, self.fleet.tai_us(at))?;
        let said = |latitude, longitude, speed_cm_s: f64, heading: u16, acceleration: i16| {
            let (x_m, y_m) = self.fleet.origin.to_plane(latitude, longitude);
            State {
                x_m,
                y_m,
                speed_m_s: speed_cm_s / 100.0,
                heading_deg: f64::from(heading) / 10.0,
                acceleration_m_s2: f64::from(acceleration) / 10.0,
            }
        };
        let (pseudonym, state, dimensions) = match content {
            Content::Cam(cam) => {
                let Cam { speed_cm_s, heading, acceleration, .. } = **cam;
                let (latitude, longitude) = (cam.position.latitude, cam.position.longitude);
                let state = said(latitude, longitude, speed_cm_s.into(), heading, acceleration);
                let dimensions = Dimensions { length_dm: cam.length_dm, width_dm: cam.width_dm };
                (cam.station_id, state, Some(dimensions).filter(|one| one.length_dm < UNKNOWN_LENGTH))
            }
            // Its own place is that of the event; where its sender is stands around it.
            Content::Denm(denm) => {
                let speed_cm_s = f64::from(source.speed_cm_s);
                let state = said(source.latitude, source.longitude, speed_cm_s, source.heading, 0);
                (denm.station_id, state, None)
            }
            Content::Cpm(cpm) => {
                let speed_cm_s = f64::from(source.speed_cm_s);
                let state = said(source.latitude, source.longitude, speed_cm_s, source.heading, 0);
                (cpm.station_id, state, None)
            }
            Content::Vam(vam) => {
                let (latitude, longitude) = (vam.position.latitude, vam.position.longitude);
                (vam.station_id, said(latitude, longitude, vam.speed_cm_s.into(), vam.heading, vam.acceleration), None)
            }
        };
        Some(Observation { at, pseudonym, state, dimensions, trace: Some(trace) })
    }

    /// Where a vehicle was at the last of its steps, which begin with its first look.
    fn state(&self, index: usize, now: SimTime) -> Option<State> {
        let begins_at = self.vehicles[index].begins_at;
        if now < begins_at {
            return None;
        }
        let looked_at = begins_at + INTERVAL_MIN * (now - begins_at).div_floor(INTERVAL_MIN);
        self.fleet.trips.trips[index].state_at(looked_at, self.fleet.trips.step)
    }

    /// Does what is due before `at`: vehicles come and go, and it is looked who knows of whom.
    fn advance(&mut self, at: SimTime) {
        loop {
            let coming = self.comings.get(self.came).filter(|coming| coming.0 < at).copied();
            let look_at = self.next_look_at.filter(|look_at| *look_at < at);
            match (coming, look_at) {
                (Some((time, appears, index)), look_at) if look_at.is_none_or(|look_at| time <= look_at) => {
                    self.came += 1;
                    if appears { self.receivers.appear(index) } else { self.receivers.disappear(index) }
                }
                (_, Some(look_at)) => {
                    self.look(look_at);
                    let is_over = look_at >= self.fleet.trips.ends_at;
                    self.next_look_at = (!is_over).then(|| look_at + self.config.look_interval);
                }
                _ => return,
            }
        }
    }

    /// Who knows of whom, now.
    fn look(&mut self, now: SimTime) {
        let present = |index: usize| {
            let seen = self.vehicles[index];
            let is_changing =
                seen.changed_at.is_some_and(|at| now <= at.max(seen.silent_until) + self.config.around_change);
            let length_m = f64::from(self.fleet.trips.trips[index].dimensions.length_dm) / 10.0;
            Some(Present { since: seen.begins_at, state: self.state(index, now)?, is_changing, length_m })
        };
        let mut safety = self.outcome.safety;
        self.receivers.look(now, present, &self.config, &mut safety);
        self.outcome.safety = safety;
    }
}
