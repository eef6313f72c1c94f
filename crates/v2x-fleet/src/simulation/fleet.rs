//! A fleet as what an engine drives: a station for each vehicle, the radio channel they move on, and who watches.

use std::collections::VecDeque;
use std::sync::Arc;

use chronoseal_core::random::{self, Purpose};
use chronoseal_core::{
    Duration, Event, EventKind, HandleError, Input, LocalTime, Node, NodeBase, NodeId, Output, PortId, SimTime,
    StreamId,
};
use chronoseal_media::medium::Attachment;
use chronoseal_media::radio::{Motion, Position, RadioChannel, RadioConfig, StationConfig, Step};

use super::config::{FleetConfig, FleetError};
use super::watch::Watch;
use crate::generation::INTERVAL_MIN;
use crate::office::Office;
use crate::road::{State, Trips};
use crate::station::{ChangeAccord, Credentials, FrameTable, ItsStation, ItsStationConfig, Mobility};

/// A fleet, ready to drive. Nodes are numbered as the trips, then posts; each has one port, to the channel.
pub struct Fleet {
    /// A station for each trip.
    pub stations: Vec<ItsStation>,
    /// A receiver for each post of the configuration.
    pub posts: Vec<Post>,
    /// What they are on. It moves the vehicles by itself.
    pub channel: RadioChannel,
    /// What an observer of the run has to be shown.
    pub watch: Watch,
    /// When nothing happens any more.
    pub ends_at: SimTime,
}

/// Streams of pseudonyms, beside those of the radio with the same purpose.
const PSEUDONYM_STREAMS: u64 = 1 << 33;
/// Until all that was sent is off the air.
const LINGERING: Duration = Duration::from_s(2);

impl Fleet {
    /// Builds stations and channel.
    ///
    /// # Errors
    /// [`FleetError`] for a contradiction in the configuration, or if there are no certificates.
    pub fn new(config: &FleetConfig) -> Result<Self, FleetError> {
        config.check()?;
        let office = match config.signs {
            Some(curve) => Some(Arc::new(Office::new(curve, config.starts_at_us, config.seed)?)),
            None => None,
        };
        let verifier = office.as_ref().map(|office| office.verifier());
        let table = match config.shares_verification {
            true => FrameTable::new(verifier),
            false => FrameTable::forgetful(verifier),
        };
        let accord = ChangeAccord::default();
        let mut stations = Vec::with_capacity(config.trips.trips.len());
        let mut begins_at = Vec::with_capacity(config.trips.trips.len());
        for (index, trip) in config.trips.trips.iter().enumerate() {
            let mut rng = random::stream(config.seed, Purpose::Medium, PSEUDONYM_STREAMS + index as u64);
            // Vehicles do not look around together.
            let phase = random::uniform_i64(&mut rng, 0, INTERVAL_MIN.as_ps() - 1);
            let first = trip.begins_at + Duration::from_ps(phase);
            let station = ItsStationConfig {
                first_look_at: LocalTime::from_ps(first.as_ps()),
                cam_interval_min: config.cam_interval_min,
                accuracy: config.accuracy,
                dimensions: config.tells_dimensions.then_some(trip.dimensions),
                policy: config.policy.clone(),
                // Who is there when the record begins was on its way before.
                is_under_way: trip.begins_at == SimTime::ZERO,
                wait_max: config.wait_max,
                seed: config.seed,
                index: index as u64,
                ..ItsStationConfig::new(config.origin, config.starts_at_us)
            };
            let credentials = match &office {
                Some(office) => {
                    let now_us = config.tai_us(first);
                    Credentials::signed(Arc::clone(office), rng, now_us, config.asks_for_certificates)?
                }
                None => Credentials::unsigned(rng),
            };
            let mobility = Mobility::Trip { trips: Arc::clone(&config.trips), index };
            stations.push(ItsStation::new(station, credentials, mobility, table.clone(), Some(accord.clone())));
            begins_at.push(first);
        }
        let ids: Vec<u32> = stations.iter().map(|station| station.identity().station_id).collect();
        let watch = Watch::new(config, table, &begins_at, &ids);
        let posts = config.posts.iter().map(|_| Post::default()).collect();
        let motion = FleetMotion { trips: Arc::clone(&config.trips), begins_at, posts: config.posts.clone() };
        let place = |index: usize| StationConfig { attachment: port(index), position: Position::default() };
        let places = (0..config.trips.trips.len() + config.posts.len()).map(place);
        let mut radio = RadioConfig::new(places.collect(), config.propagation);
        radio.rate = config.rate;
        radio.capture_db = config.capture_db;
        radio.seed = config.seed;
        radio.motion = Some(Arc::new(motion));
        let ends_at = config.trips.ends_at + LINGERING;
        Ok(Self { stations, posts, channel: RadioChannel::new(radio)?, watch, ends_at })
    }
}

/// Moves each vehicle when its station looks around. One that is not there is out of everybody's reach.
#[derive(Debug)]
struct FleetMotion {
    trips: Arc<Trips>,
    begins_at: Vec<SimTime>,
    posts: Vec<Position>,
}

impl Motion for FleetMotion {
    fn step(&self, station: usize, now: SimTime) -> Step {
        let Some(begins_at) = self.begins_at.get(station) else {
            let position = self.posts.get(station - self.begins_at.len()).copied().unwrap_or_default();
            return Step { position, next: None };
        };
        if now < *begins_at {
            return Step { position: nowhere(station), next: Some(*begins_at) };
        }
        match self.trips.trips[station].state_at(now, self.trips.step) {
            Some(state) => Step { position: position(&state), next: Some(now + INTERVAL_MIN) },
            None => Step { position: nowhere(station), next: None },
        }
    }
}

/// Out of everybody's reach, of others that are not there too.
fn nowhere(index: usize) -> Position {
    let far_mm = 1 << 40;
    Position { x_mm: far_mm * (1 + index as i64), y_mm: far_mm }
}

fn position(state: &State) -> Position {
    Position { x_mm: libm::round(state.x_m * 1000.0) as i64, y_mm: libm::round(state.y_m * 1000.0) as i64 }
}

/// The attachment of a node of the fleet.
pub(super) fn port(index: usize) -> Attachment {
    // The configuration's check holds stations below 2^16.
    Attachment { node: NodeId(index as u16), port: PortId(0) }
}

/// A receiver at the roadside that says what it hears and sends nothing.
#[derive(Debug)]
pub struct Post {
    base: NodeBase<VecDeque<Event>>,
    count: u64,
}

impl Default for Post {
    fn default() -> Self {
        Self { base: NodeBase::new(0..1), count: 0 }
    }
}

impl Node for Post {
    fn handle_input(&mut self, now: LocalTime, input: Input<'_>) -> Result<(), HandleError> {
        self.base.admit(now, &input)?;
        if let Input::Frame { .. } = input {
            self.base.push(Event::of(EventKind::Delivered, StreamId::NONE, self.count));
            self.count += 1;
        }
        Ok(())
    }

    fn poll_output(&mut self, now: LocalTime, frame: &mut [u8]) -> Output {
        self.base.next(now, frame).unwrap_or(Output::Timeout(None))
    }
}
