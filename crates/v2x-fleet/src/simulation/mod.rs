//! A fleet on the air: vehicles drive, send CAMs by the rules, change their pseudonyms, and hear each other over a radio
//! channel, in virtual time.
//!
//! Every message is a real one: a CAM in a GeoNetworking packet, signed and checked by the [`Security`] handed in. It is
//! checked once, when its last bit is off the air; all receivers take the verdict over and are charged for the check on
//! each [`Platform`].

mod config;
mod fleet;
mod processors;
mod receivers;
mod sender;
#[cfg(test)]
mod tests;
mod watch;

pub use config::{FleetConfig, FleetError, Platform};
pub use fleet::{Fleet as StationFleet, Post};
pub use processors::ProcessorLoad;
pub use receivers::{HEADWAY_S, Reception, Safety};
pub use watch::{FrameSeen, Processing, Watch};

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use chronoseal_core::{Duration, NodeId, PortId, SimTime};
use chronoseal_media::medium::{Attachment, FrameId, FrameLabel, FrameStore, Medium, MediumOutput, MediumTimer};
use chronoseal_media::radio::{
    AccessCategory, Position, RadioChannel, RadioConfig, StationConfig, StationStatistics, psdu_len,
};
use chronoseal_wire::its::{BTP_PORT_CAM, Cam};

use crate::eavesdropper::{Heard, Observation, Score, Tracker};
use crate::envelope::{Opened, open};
use crate::generation;
use crate::policy::{Change, Company, Decision};
use crate::road::{Dimensions, State};
use crate::security::Security;
use processors::Processors;
use receivers::{Known, NEAR_M, Present, Receivers};
use sender::{Sender, local};

/// What happened.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FleetOutcome {
    /// What the eavesdropper heard, in the order of time.
    pub heard: Vec<Heard>,
    /// Messages by what they carried.
    pub with_certificate: MessageCount,
    /// Messages signed under a digest, or not at all.
    pub with_digest: MessageCount,
    /// What was received and what it was worth.
    pub reception: Reception,
    /// What the changes cost.
    pub safety: Safety,
    /// What signing and verifying took.
    pub processing: Processing,
    /// Of each platform of the configuration, what it would have had to do.
    pub processors: Vec<ProcessorLoad>,
    /// Sum over all vehicles.
    pub radio: StationStatistics,
    /// Checks of a signature that were really done.
    pub checks: u64,
    /// Pseudonyms taken up, the first ones included.
    pub pseudonyms: u64,
}

/// Messages of one kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MessageCount {
    /// How many.
    pub messages: u64,
    /// PSDUs of them [byte].
    pub psdu_bytes: u64,
    /// The longest of them [byte].
    pub psdu_len_max: u64,
}

impl FleetOutcome {
    /// What a tracker makes of what was heard, held against the truth.
    pub fn score(&self, tracker: &Tracker) -> Score {
        tracker.score(&self.heard)
    }
}

/// Looks on, for captures.
pub trait Observer {
    /// A frame has been on the air, from its first bit on at `at`: an Ethernet frame without checksum.
    fn on_air(&mut self, at: SimTime, frame: &[u8]);
}

/// Nobody looks on.
impl Observer for () {
    fn on_air(&mut self, _at: SimTime, _frame: &[u8]) {}
}

/// Lets the fleet drive.
///
/// Without `security` packets go out unsecured.
///
/// # Errors
/// [`FleetError`] for a contradiction in the configuration, or if a message cannot be made or secured.
pub fn run<'a>(
    config: &'a FleetConfig,
    security: Option<&'a mut (dyn Security + 'a)>,
    observer: &'a mut (dyn Observer + 'a),
) -> Result<FleetOutcome, FleetError> {
    let mut fleet = Fleet::new(config, security, observer)?;
    fleet.run()?;
    Ok(fleet.finish())
}

/// What the driver does next. Of one instant, ends and starts on the air come first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Wake {
    Medium(MediumTimer),
    Vehicle(usize),
    Look,
}

/// A message on the air.
struct Sent {
    vehicle: usize,
    pseudonym: u32,
    with_certificate: bool,
    /// What it says, if it was checked and found good.
    says: Option<Cam>,
}

struct Fleet<'a> {
    config: &'a FleetConfig,
    security: Option<&'a mut (dyn Security + 'a)>,
    observer: &'a mut (dyn Observer + 'a),
    channel: RadioChannel,
    frames: FrameStore,
    queue: BinaryHeap<Reverse<(SimTime, Wake, u64)>>,
    asked: u64,
    outputs: Vec<MediumOutput>,
    vehicles: Vec<Sender>,
    /// Messages on the air by the serial number of their frame.
    sent: BTreeMap<u64, Sent>,
    serial: u64,
    receivers: Receivers,
    processors: Processors,
    outcome: FleetOutcome,
}

impl<'a> Fleet<'a> {
    fn new(
        config: &'a FleetConfig,
        security: Option<&'a mut (dyn Security + 'a)>,
        observer: &'a mut (dyn Observer + 'a),
    ) -> Result<Self, FleetError> {
        config.check()?;
        let vehicles = config.trips.trips.len();
        let posts = config.posts.iter().copied();
        let places = (0..vehicles).map(nowhere).chain(posts);
        let stations = places.enumerate().map(|(index, position)| StationConfig { attachment: port(index), position });
        let mut radio = RadioConfig::new(stations.collect(), config.propagation);
        radio.rate = config.rate;
        radio.capture_db = config.capture_db;
        radio.seed = config.seed;
        let mut fleet = Self {
            config,
            security,
            observer,
            channel: RadioChannel::new(radio)?,
            frames: FrameStore::new(),
            queue: BinaryHeap::new(),
            asked: 0,
            outputs: Vec::new(),
            vehicles: (0..vehicles).map(|index| Sender::new(config, index)).collect(),
            sent: BTreeMap::new(),
            serial: 0,
            receivers: Receivers::new(&config.trips),
            processors: Processors::new(&config.platforms, vehicles),
            outcome: FleetOutcome::default(),
        };
        fleet.outcome.pseudonyms = vehicles as u64;
        for (index, vehicle) in fleet.vehicles.iter().enumerate() {
            let wake = Reverse((vehicle.begins_at, Wake::Vehicle(index), index as u64));
            fleet.queue.push(wake);
        }
        fleet.asked = vehicles as u64;
        fleet.wake(SimTime::ZERO, Wake::Look);
        Ok(fleet)
    }

    fn wake(&mut self, at: SimTime, wake: Wake) {
        self.asked += 1;
        self.queue.push(Reverse((at, wake, self.asked)));
    }

    fn run(&mut self) -> Result<(), FleetError> {
        self.channel.start(SimTime::ZERO, &mut self.frames, &mut self.outputs);
        self.perform(SimTime::ZERO);
        while let Some(Reverse((now, wake, _))) = self.queue.pop() {
            match wake {
                Wake::Medium(timer) => {
                    self.channel.handle_timer(now, timer, &mut self.frames, &mut self.outputs);
                    self.perform(now);
                }
                Wake::Vehicle(index) => self.tick(now, index)?,
                Wake::Look => self.look(now),
            }
        }
        Ok(())
    }

    fn finish(mut self) -> FleetOutcome {
        for index in 0..self.vehicles.len() {
            let Some(statistics) = self.channel.statistics(port(index)) else { continue };
            add(&mut self.outcome.radio, statistics);
        }
        self.outcome.processors = self.processors.finish();
        self.outcome
    }

    /// A vehicle looks where it is, thinks about its pseudonym, and sends if a CAM is due.
    fn tick(&mut self, now: SimTime, index: usize) -> Result<(), FleetError> {
        let trips = &self.config.trips;
        let Some(state) = trips.trips[index].state_at(now, trips.step) else {
            self.vehicles[index].state = None;
            self.receivers.disappear(index);
            self.channel.move_to(port(index), nowhere(index));
            return Ok(());
        };
        if self.vehicles[index].state.replace(state).is_none() {
            self.receivers.appear(index);
        }
        self.channel.move_to(port(index), position(&state));
        self.wake(now + generation::INTERVAL_MIN, Wake::Vehicle(index));
        let is_hushed = self.think(now, index, &state);
        let vehicle = &mut self.vehicles[index];
        let Some(due) = vehicle.generation.check(local(now), &state) else { return Ok(()) };
        if is_hushed || now < vehicle.silent_until {
            self.outcome.safety.messages_withheld += 1;
            return Ok(());
        }
        self.send(now, index, &state, due)
    }

    /// Lets the policy decide; true if the vehicle says nothing at this place.
    fn think(&mut self, now: SimTime, index: usize, state: &State) -> bool {
        if now < self.vehicles[index].silent_until {
            return false;
        }
        // The changer looks at the others, so it is taken out while it decides.
        let mut changer = self.vehicles[index].changer.take();
        let known = Known { receivers: &self.receivers, now, of: index, state, vehicles: &self.vehicles };
        let decision = changer.as_mut().map(|changer| changer.decide(local(now), state, &known)).unwrap_or_default();
        self.vehicles[index].changer = changer;
        let Decision { change, is_hushed } = decision;
        match change {
            Some(Change { silence, with: Company::Nearest }) => self.swap(now, index, state, silence),
            Some(Change { silence, with }) => {
                self.change(now, index, silence, None);
                if with == Company::Neighbours {
                    self.take_along(now, index, state);
                }
            }
            None => {}
        }
        if is_hushed {
            self.outcome.safety.silence += generation::INTERVAL_MIN;
            self.vehicles[index].changed_at = Some(now);
        }
        is_hushed
    }

    /// A vehicle takes up an identity, a new one if none is given.
    fn change(&mut self, now: SimTime, index: usize, silence: Duration, identity: Option<u32>) {
        let is_new = identity.is_none();
        self.vehicles[index].change(now, silence, identity);
        self.outcome.safety.changes += 1;
        self.outcome.safety.silence += silence;
        self.outcome.pseudonyms += u64::from(is_new);
    }

    /// Two neighbours fall silent together and come back, with each other's identities if the coin says so.
    fn swap(&mut self, now: SimTime, index: usize, state: &State, silence: Duration) {
        let nearest = self
            .receivers
            .known_within(now, index, state, &self.vehicles, NEAR_M)
            .filter(|other| now >= self.vehicles[*other].silent_until)
            .min_by(|one, other| {
                let distance_m = |other: usize| self.vehicles[other].state.map_or(f64::MAX, |at| at.distance_m(state));
                distance_m(*one).total_cmp(&distance_m(*other))
            });
        let Some(other) = nearest else { return };
        let is_heads = self.vehicles[index].changer.as_mut().is_some_and(|changer| changer.coin());
        let (mine, its) = (self.vehicles[index].pseudonym, self.vehicles[other].pseudonym);
        let (mine, its) = if is_heads { (its, mine) } else { (mine, its) };
        if let Some(changer) = &mut self.vehicles[other].changer {
            changer.change(local(now));
        }
        self.change(now, index, silence, Some(mine));
        self.change(now, other, silence, Some(its));
    }

    /// All neighbours take up new identities, too, each with a silence of its own.
    fn take_along(&mut self, now: SimTime, index: usize, state: &State) {
        let neighbours: Vec<usize> = self
            .receivers
            .known_within(now, index, state, &self.vehicles, NEAR_M)
            .filter(|other| now >= self.vehicles[*other].silent_until)
            .collect();
        for other in neighbours {
            let change = self.vehicles[other].changer.as_mut().map(|changer| changer.change(local(now)));
            if let Some(change) = change {
                self.change(now, other, change.silence, None);
            }
        }
    }

    fn send(&mut self, now: SimTime, index: usize, state: &State, due: generation::Due) -> Result<(), FleetError> {
        let vehicle = &mut self.vehicles[index];
        let message = vehicle.compose(self.config, now, state, due, self.security.as_deref_mut())?;
        self.serial += 1;
        let serial = Some(self.serial);
        let label = FrameLabel { sender: NodeId(index as u16), sent_at: now, serial, ..FrameLabel::default() };
        let frame = self.frames.allocate(label);
        let buffer = self.frames.buffer(frame);
        let Some(room) = buffer.get_mut(..message.bytes.len()) else {
            self.frames.release(frame);
            return Err(FleetError::TooLong(message.bytes.len()));
        };
        room.copy_from_slice(&message.bytes);
        self.frames.set_len(frame, message.bytes.len());
        let kind = match message.with_certificate {
            true => &mut self.outcome.with_certificate,
            false => &mut self.outcome.with_digest,
        };
        kind.add(psdu_len(message.bytes.len() as u64));
        let sent = Sent {
            vehicle: index,
            pseudonym: message.pseudonym,
            with_certificate: message.with_certificate,
            says: None,
        };
        self.sent.insert(self.serial, sent);
        self.processors.sign(now, index);
        let priority = AccessCategory::BestEffort.priority();
        self.channel.handle_frame(now, port(index), priority, frame, &mut self.frames, &mut self.outputs);
        self.perform(now);
        Ok(())
    }

    fn perform(&mut self, now: SimTime) {
        let mut outputs = std::mem::take(&mut self.outputs);
        for output in outputs.drain(..) {
            match output {
                MediumOutput::Timer { at, timer } => self.wake(at, Wake::Medium(timer)),
                MediumOutput::Deliver { to, frame, .. } => {
                    self.receive(now, to.node.index(), frame);
                    self.frames.release(frame);
                }
                MediumOutput::Transmitted { frame, departed_at, .. } => {
                    self.observer.on_air(departed_at, self.frames.bytes(frame));
                    self.check(now, frame);
                    if self.config.posts.is_empty() {
                        self.eavesdrop(now, frame);
                    }
                    self.frames.release(frame);
                }
                MediumOutput::Discard { frame, .. } => {
                    self.outcome.reception.refused_by_sender += 1;
                    self.frames.release(frame);
                }
                MediumOutput::Event { .. } => {}
            }
        }
        self.outputs = outputs;
        // What has long been off the air is forgotten, so that memory does not grow with the run.
        if self.sent.len() > SENT_MAX {
            self.sent.pop_first();
        }
    }

    fn receive(&mut self, now: SimTime, to: usize, frame: FrameId) {
        if to >= self.vehicles.len() {
            return self.eavesdrop(now, frame);
        }
        let Some(serial) = self.frames.label(frame).serial else { return };
        let Some(sent) = self.sent.get(&serial) else { return };
        self.outcome.reception.received += 1;
        if sent.says.is_none() {
            self.outcome.reception.refused += 1;
            return;
        }
        let is_new_signer = sent.with_certificate && !self.receivers.knows(to, sent.pseudonym);
        self.processors.verify(now, to, 1 + u32::from(is_new_signer));
        if sent.with_certificate {
            self.receivers.learn(to, sent.pseudonym);
        } else if self.security.is_some() && !self.receivers.knows(to, sent.pseudonym) {
            self.outcome.reception.unknown_signer += 1;
            return;
        }
        self.outcome.reception.accepted += 1;
        let sender = sent.vehicle;
        let news_age = self.receivers.hear(now, to, sender);
        self.count_gap(to, sender, news_age);
    }

    /// Counts the time between two messages from one vehicle to another near it, if it was long.
    fn count_gap(&mut self, to: usize, of: usize, news_age: Option<Duration>) {
        let Some(age) = news_age.filter(|age| *age > self.config.news_age_max) else { return };
        let [Some(here), Some(there)] = [to, of].map(|index| self.vehicles[index].state) else { return };
        if here.distance_m(&there) > self.config.awareness_m {
            return;
        }
        self.outcome.safety.count_gap(age);
    }

    /// Checks a frame when its last bit is over, before anybody gets it; all receivers take the verdict over.
    fn check(&mut self, now: SimTime, frame: FrameId) {
        let sent = self.frames.label(frame).serial.and_then(|serial| self.sent.get_mut(&serial));
        let Some(sent) = sent else { return };
        self.outcome.checks += u64::from(self.security.is_some());
        sent.says = cam_in(self.frames.bytes(frame), self.config.tai_us(now), self.security.as_deref_mut());
    }

    /// The eavesdropper takes down what a frame says, once.
    fn eavesdrop(&mut self, now: SimTime, frame: FrameId) {
        let sent = self.frames.label(frame).serial.and_then(|serial| self.sent.get(&serial));
        let Some(cam) = sent.and_then(|sent| sent.says) else { return };
        let vehicle = self.frames.label(frame).sender.index();
        let (x_m, y_m) = self.config.origin.to_plane(cam.position.latitude, cam.position.longitude);
        let state = State {
            x_m,
            y_m,
            speed_m_s: f64::from(cam.speed_cm_s) / 100.0,
            heading_deg: f64::from(cam.heading) / 10.0,
            acceleration_m_s2: f64::from(cam.acceleration) / 10.0,
        };
        let dimensions = Dimensions { length_dm: cam.length_dm, width_dm: cam.width_dm };
        let dimensions = Some(dimensions).filter(|one| one.length_dm < UNKNOWN_LENGTH);
        let observation = Observation { at: now, pseudonym: cam.station_id, state, dimensions };
        // Several posts hear one frame at the same instant.
        let heard = Heard { observation, vehicle };
        if self.outcome.heard.iter().rev().take_while(|one| one.observation.at == now).all(|one| *one != heard) {
            self.outcome.heard.push(heard);
        }
    }

    /// Who knows of whom, now.
    fn look(&mut self, now: SimTime) {
        let present = |index: usize| {
            let vehicle: &Sender = &self.vehicles[index];
            Some(Present {
                since: vehicle.begins_at,
                state: vehicle.state?,
                is_changing: vehicle.is_changing(now, self.config.around_change),
                length_m: f64::from(vehicle.dimensions.length_dm) / 10.0,
            })
        };
        self.receivers.look(now, present, self.config, &mut self.outcome.safety);
        if now < self.config.trips.ends_at {
            self.wake(now + self.config.look_interval, Wake::Look);
        }
    }
}

/// The CAM within a frame, if it is good.
fn cam_in(frame: &[u8], now_us: u64, security: Option<&mut (dyn Security + '_)>) -> Option<Cam> {
    match open(frame, now_us, security) {
        Opened::Message(BTP_PORT_CAM, message) => Cam::parse(message).ok(),
        _ => None,
    }
}

/// Messages remembered: more than can be on the air or wait in queues.
const SENT_MAX: usize = 100_000;
/// vehicleLengthValue: 1022 is out of range, 1023 unavailable.
const UNKNOWN_LENGTH: u16 = 1022;
/// Where a vehicle is that is not there: out of everybody's reach, of others that are not there too.
fn nowhere(index: usize) -> Position {
    let far_mm = 1 << 40;
    Position { x_mm: far_mm * (1 + index as i64), y_mm: far_mm }
}

fn port(index: usize) -> Attachment {
    // The configuration's check holds stations below 2^16.
    Attachment { node: NodeId(index as u16), port: PortId(0) }
}

fn position(state: &State) -> Position {
    Position { x_mm: libm::round(state.x_m * 1000.0) as i64, y_mm: libm::round(state.y_m * 1000.0) as i64 }
}

impl MessageCount {
    fn add(&mut self, psdu_len: u64) {
        self.messages += 1;
        self.psdu_bytes += psdu_len;
        self.psdu_len_max = self.psdu_len_max.max(psdu_len);
    }
}

fn add(sum: &mut StationStatistics, one: &StationStatistics) {
    sum.sent += one.sent;
    sum.sent_bytes += one.sent_bytes;
    sum.sent_airtime += one.sent_airtime;
    sum.access_delay += one.access_delay;
    sum.access_delay_max = sum.access_delay_max.max(one.access_delay_max);
    sum.refused += one.refused;
    sum.received += one.received;
    sum.lost_to_overlap += one.lost_to_overlap;
    sum.lost_to_own_transmission += one.lost_to_own_transmission;
    sum.too_weak += one.too_weak;
    sum.internal_collisions += one.internal_collisions;
    sum.busy += one.busy;
}
