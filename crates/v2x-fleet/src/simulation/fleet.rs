//! What an engine drives: a station for each vehicle, further stations and attackers, and the radio channel they are on.

use std::collections::VecDeque;
use std::sync::Arc;

use chronoseal_core::random::{self, ChaCha8Rng, Purpose};
use chronoseal_core::{
    Duration, Event, EventKind, HandleError, Input, LocalTime, Node, NodeBase, NodeId, Output, SimTime, StreamId,
};
use chronoseal_media::radio::{Position, RadioChannel, RadioConfig, StationConfig as ChannelStation};
use chronoseal_v2x::crypto::Curve;

use super::config::{FleetConfig, FleetError, WatchConfig};
use super::motion::{FleetMotion, Place};
use super::watch::Watch;
use crate::generation::INTERVAL_MIN;
use crate::office::Office;
use crate::policy::Policy;
use crate::security::SecurityError;
use crate::station::{
    ChangeAccord, Credentials, FrameTable, Hazard, ItsStation, ItsStationConfig, MemberId, Mobility, RoadUser, Sight,
};

/// A fleet: makes its stations and their channel. Stations made by one fleet share what they hear, taken apart once, and
/// the oracle by which they agree; a station that is made again takes the place of the one before.
#[derive(Clone, Debug)]
pub struct Fleet {
    config: Arc<FleetConfig>,
    begins_at: Arc<[SimTime]>,
    office: Option<Arc<Office>>,
    table: FrameTable,
    accord: ChangeAccord,
}

/// What a station sends, and the streams that this is in events.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Messages {
    /// The stream of CAMs, whoever sends them.
    pub cam: Option<StreamId>,
    /// True if this station sends CAMs.
    pub sends_cam: bool,
    /// The stream of DENMs, whoever sends them.
    pub denm: Option<StreamId>,
    /// What this station sends DENMs of.
    pub hazard: Option<Hazard>,
    /// The stream of CPMs, whoever sends them.
    pub cpm: Option<StreamId>,
    /// How far this station sees for its CPMs, and the shortest time between two of them, if it sends some.
    pub perceives: Option<Perceives>,
    /// The stream of VAMs, whoever sends them.
    pub vam: Option<StreamId>,
    /// Which vulnerable road user this station is, if it sends VAMs.
    pub road_user: Option<RoadUser>,
}

/// What a station sends CPMs of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Perceives {
    /// How far its sensors see `[mm]`.
    pub range_mm: u64,
    /// Shortest time between two CPMs, T_GenCpm: 100 ms to 1 s.
    pub every: Duration,
}

/// A station that is no vehicle of the road's traffic.
#[derive(Clone, Debug)]
pub struct StationConfig {
    /// Tells its chances from those of others.
    pub number: u64,
    /// Where it is.
    pub mobility: Mobility,
    /// When it changes its pseudonym.
    pub policy: Policy,
    /// Whom it believes, and who certifies it.
    pub trust: Trust,
    /// Messages it accepts are kept for whoever stands above: the latest so many.
    pub received_max: usize,
}

/// Whom a station believes, and who certifies it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Trust {
    /// The authority of the fleet.
    #[default]
    Fleet,
    /// Another one, which nobody of the fleet knows.
    Foreign,
}

/// Streams of pseudonyms, beside those of the radio with the same purpose.
const PSEUDONYM_STREAMS: u64 = 1 << 33;
/// Stations that are no vehicles draw their chances behind those of all vehicles.
const STATION_STREAMS: u64 = 1 << 24;
/// What tells the keys of a foreign authority from those of the fleet's.
const FOREIGN_SEED: u64 = 0x6f72_6569_676e;

impl Fleet {
    /// Works out what all stations share.
    ///
    /// # Errors
    /// [`FleetError`] for a contradiction in the configuration, or if there are no certificates.
    pub fn new(config: impl Into<Arc<FleetConfig>>) -> Result<Self, FleetError> {
        let config = config.into();
        config.check()?;
        let office = match config.signs {
            Some(curve) => {
                let office = Office::with_permissions(curve, config.starts_at_us, config.seed, &config.permits)?;
                Some(Arc::new(office.with_periods(config.ticket_periods)))
            }
            None => None,
        };
        let verifier = office.as_ref().map(|office| office.verifier());
        let table = match config.shares_verification {
            true => FrameTable::new(verifier),
            false => FrameTable::forgetful(verifier),
        };
        let begins_at = (0..config.trips.trips.len()).map(|index| first_look(&config, index).0).collect();
        Ok(Self { config, begins_at, office, table, accord: ChangeAccord::default() })
    }

    /// What it is made of.
    pub fn config(&self) -> &FleetConfig {
        &self.config
    }

    /// What is in the frames on its channel.
    pub const fn table(&self) -> &FrameTable {
        &self.table
    }

    /// The station of a vehicle, by its trip.
    ///
    /// # Errors
    /// [`SecurityError`] if it has no certificate.
    pub fn vehicle(&self, index: usize, messages: &Messages) -> Result<ItsStation, SecurityError> {
        let (config, trip) = (&self.config, &self.config.trips.trips[index]);
        let (first, rng) = first_look(config, index);
        let station = ItsStationConfig {
            dimensions: config.tells_dimensions.then_some(trip.dimensions),
            policy: config.policy.clone(),
            keeps: config.keeps,
            // Who is there when the record begins was on its way before.
            is_under_way: trip.begins_at == SimTime::ZERO,
            ..self.station_config(first, index as u64, messages)
        };
        let credentials = self.credentials(self.office.clone(), rng, first)?;
        let mobility = Mobility::Trip { trips: Arc::clone(&config.trips), index };
        Ok(self.put_together(station, credentials, mobility))
    }

    /// A station that is no vehicle of the traffic.
    ///
    /// # Errors
    /// [`SecurityError`] if it has no certificate.
    pub fn station(&self, station: &StationConfig, messages: &Messages) -> Result<ItsStation, SecurityError> {
        let index = STATION_STREAMS + station.number;
        let (first, rng) = phase(&self.config, SimTime::ZERO, index);
        let office = match (station.trust, self.config.signs) {
            (Trust::Foreign, Some(curve)) => Some(Arc::new(self.foreign_office(curve)?)),
            _ => self.office.clone(),
        };
        let credentials = self.credentials(office, rng, first)?;
        let config = ItsStationConfig {
            policy: station.policy.clone(),
            is_under_way: true,
            received_max: station.received_max,
            ..self.station_config(first, index, messages)
        };
        Ok(self.put_together(config, credentials, station.mobility.clone()))
    }

    /// An authority that nobody of the fleet knows.
    ///
    /// # Errors
    /// [`SecurityError`] if a certificate cannot be issued.
    pub fn foreign_office(&self, curve: Curve) -> Result<Office, SecurityError> {
        let office = Office::with_permissions(
            curve,
            self.config.starts_at_us,
            self.config.seed ^ FOREIGN_SEED,
            &self.config.permits,
        )?;
        Ok(office.with_periods(self.config.ticket_periods))
    }

    fn station_config(&self, first: SimTime, index: u64, messages: &Messages) -> ItsStationConfig {
        let config = &self.config;
        ItsStationConfig {
            first_look_at: LocalTime::from_ps(first.as_ps()),
            cam_interval_min: config.cam_interval_min,
            sends_cams: messages.sends_cam,
            accuracy: config.accuracy,
            hazard: messages.hazard,
            wait_max: config.wait_max,
            sight: messages.perceives.map(|Perceives { range_mm, every }| Sight {
                trips: Arc::clone(&config.trips),
                range_mm,
                every,
            }),
            road_user: messages.road_user,
            streams: [messages.cam, messages.denm, messages.cpm, messages.vam]
                .map(|stream| stream.unwrap_or(StreamId::NONE)),
            seed: config.seed,
            index,
            ..ItsStationConfig::new(config.origin, config.starts_at_us)
        }
    }

    fn credentials(
        &self,
        office: Option<Arc<Office>>,
        rng: ChaCha8Rng,
        first: SimTime,
    ) -> Result<Credentials, SecurityError> {
        match office {
            Some(office) => {
                Credentials::signed(office, rng, self.config.tai_us(first), self.config.asks_for_certificates)
            }
            None => Ok(Credentials::unsigned(rng)),
        }
    }

    fn put_together(&self, config: ItsStationConfig, credentials: Credentials, mobility: Mobility) -> ItsStation {
        let accord = (self.accord.clone(), MemberId::of(config.index));
        ItsStation::new(config, credentials, mobility, self.table.clone(), Some(accord))
    }

    /// The channel that these ports are on. It moves them by itself.
    ///
    /// # Errors
    /// [`FleetError`] if they are too many, or one of them is there twice.
    pub fn channel(&self, places: Vec<Place>) -> Result<RadioChannel, FleetError> {
        let config = &self.config;
        let station = |place: &Place| ChannelStation { attachment: place.attachment, position: Position::default() };
        let mut radio = RadioConfig::new(places.iter().map(station).collect(), config.propagation);
        radio.rate = config.rate;
        radio.capture_db = config.capture_db;
        radio.queue_len_max = config.queue_len_max;
        radio.seed = config.seed;
        radio.kinds = Some(Arc::new(self.table.clone()));
        radio.motion = Some(Arc::new(FleetMotion {
            trips: Arc::clone(&config.trips),
            begins_at: Arc::clone(&self.begins_at),
            riders: places.into_iter().map(|place| place.rider).collect(),
        }));
        Ok(RadioChannel::new(radio)?)
    }

    /// What an observer of a run has to be shown. The vehicles, and then the posts, have the node numbers from `first` on.
    ///
    /// # Errors
    /// [`FleetError`] for a figure nobody can look with, or if a vehicle has no certificate.
    pub fn watch(&self, config: &WatchConfig, first: NodeId) -> Result<Watch, FleetError> {
        config.check()?;
        let ids = (0..self.begins_at.len()).map(|index| {
            let (first, rng) = first_look(&self.config, index);
            Ok(self.credentials(self.office.clone(), rng, first)?.identity().station_id)
        });
        let ids = ids.collect::<Result<Vec<u32>, SecurityError>>()?;
        Ok(Watch::new(&self.config, *config, self.table.clone(), first, &self.begins_at, &ids))
    }
}

/// When a vehicle looks around first, and where its chances stand then.
fn first_look(config: &FleetConfig, index: usize) -> (SimTime, ChaCha8Rng) {
    phase(config, config.trips.trips[index].begins_at, index as u64)
}

/// Stations do not look around together.
fn phase(config: &FleetConfig, begins_at: SimTime, index: u64) -> (SimTime, ChaCha8Rng) {
    let mut rng = random::stream(config.seed, Purpose::Medium, PSEUDONYM_STREAMS + index);
    let phase = random::uniform_i64(&mut rng, 0, INTERVAL_MIN.as_ps() - 1);
    (begins_at + Duration::from_ps(phase), rng)
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
