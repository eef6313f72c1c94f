//! What a station's sensors see of the road's vehicles, and what of it a CPM tells (ETSI TS 103 324 V2.1.1, clause 6.1).
//!
//! Sensors see each vehicle of the road within their range, whatever stands between; nobody who sends messages without being
//! part of the traffic is seen.

use std::collections::BTreeMap;
use std::sync::Arc;

use chronoseal_core::random::{self, ChaCha8Rng, Purpose};
use chronoseal_core::{Duration, LocalTime, SimTime};
use chronoseal_wire::its::{
    Cpm, CpmOrigin, Estimate, List, ObjectClass, Perceived, PerceivedObject, ReferencePosition, Sensor,
};

use super::sending::{Outgoing, Told};
use super::{ItsStation, MessageKind, Mobility};
use crate::accuracy::Accuracy;
use crate::chance::normal;
use crate::generation::has_moved;
use crate::road::{Dimensions, State, Trips};

/// What a station sees of the road's traffic.
#[derive(Clone, PartialEq, Debug)]
pub struct Sight {
    /// Who drives there.
    pub trips: Arc<Trips>,
    /// How far it sees `[mm]`, at most [`RANGE_MAX_MM`].
    pub range_mm: u64,
    /// Shortest time between two CPMs, T_GenCpm: 100 ms to 1 s.
    pub every: Duration,
}

/// The farthest that a CPM can say its sensors see `[mm]`.
pub const RANGE_MAX_MM: u64 = 409_500;

/// T_GenCpmMax and T_AddSensorInformation: what has not moved, and the sensors, are told so often.
const REPEATED_AFTER: Duration = Duration::from_ms(1_000);
/// An object that was out of sight for longer has another number when it comes back.
const FORGOTTEN_AFTER: Duration = Duration::from_ms(1_000);
/// SensorType of several sensors together.
const LOCAL_AGGREGATION: u8 = 12;
/// TrafficParticipantType of a passenger car and of a heavy truck, told apart by their length `[dm]`.
const CAR: u8 = 5;
const TRUCK: u8 = 8;
const TRUCK_LENGTH_DM: u16 = 70;
/// How well sensors know length and width `[dm]`.
const DIMENSION_CONFIDENCE_DM: u16 = 2;

/// What a station remembers of what it has seen and told.
#[derive(Debug, Default)]
pub(super) struct Perception {
    /// By their trips.
    followed: BTreeMap<usize, Followed>,
    /// The number of the next object.
    next_id: u16,
    sent_at: Option<LocalTime>,
    sensors_at: Option<LocalTime>,
}

#[derive(Debug)]
struct Followed {
    id: u16,
    since: LocalTime,
    seen_at: LocalTime,
    told: Option<(LocalTime, State)>,
}

/// Something in sight that others are to be told of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    id: u16,
    age: Duration,
    state: State,
    dimensions: Dimensions,
}

impl Perception {
    /// The objects of a CPM that is due, the nearest first, and whether it tells of the sensors; it counts as sent then.
    fn check(
        &mut self,
        (now, as_of): (LocalTime, LocalTime),
        sight: &Sight,
        own: Option<usize>,
        state: &State,
    ) -> Option<(Vec<Seen>, bool)> {
        let mut due = self.look(now, as_of, sight, own, state);
        if self.sent_at.is_some_and(|at| as_of - at < sight.every) {
            return None;
        }
        let with_sensors = self.sensors_at.is_none_or(|at| as_of - at >= REPEATED_AFTER);
        if due.is_empty() && !with_sensors {
            return None;
        }
        due.sort_by(|(_, one), (_, other)| one.state.distance_m(state).total_cmp(&other.state.distance_m(state)));
        due.truncate(Cpm::OBJECTS_MAX);
        for (trip, seen) in &due {
            if let Some(followed) = self.followed.get_mut(trip) {
                followed.told = Some((as_of, seen.state));
            }
        }
        self.sent_at = Some(as_of);
        if with_sensors {
            self.sensors_at = Some(as_of);
        }
        Some((due.into_iter().map(|(_, seen)| seen).collect(), with_sensors))
    }

    /// Follows what is in sight; the objects that others are to be told of: those that are new, that have moved, turned or
    /// changed their speed enough, or of which nothing was told for a second.
    fn look(
        &mut self,
        now: LocalTime,
        as_of: LocalTime,
        sight: &Sight,
        own: Option<usize>,
        state: &State,
    ) -> Vec<(usize, Seen)> {
        let mut due = Vec::new();
        let (time, range_m) = (SimTime::from_ps(now.as_ps()), sight.range_mm as f64 / 1_000.0);
        for (index, trip) in sight.trips.trips.iter().enumerate() {
            if trip.begins_at > time {
                // They are in the order of their beginnings.
                break;
            }
            let Some(other) = trip.state_at(time, sight.trips.step).filter(|_| Some(index) != own) else { continue };
            if other.distance_m(state) > range_m {
                continue;
            }
            let (id, next_id) = (self.next_id, &mut self.next_id);
            let followed = self.followed.entry(index).or_insert_with(|| {
                *next_id = next_id.wrapping_add(1);
                Followed { id, since: now, seen_at: now, told: None }
            });
            followed.seen_at = now;
            if followed.told.is_none_or(|(at, told)| has_moved(&told, &other) || as_of - at >= REPEATED_AFTER) {
                let age = now - followed.since;
                due.push((index, Seen { id: followed.id, age, state: other, dimensions: trip.dimensions }));
            }
        }
        self.followed.retain(|_, followed| now - followed.seen_at <= FORGOTTEN_AFTER);
        due
    }

    /// How many things are in sight.
    fn total(&self, now: LocalTime) -> u8 {
        self.followed.values().filter(|followed| followed.seen_at == now).count().min(255) as u8
    }
}

impl ItsStation {
    /// What a CPM that is due tells of, and whether it tells of the sensors; `None` if none is due.
    pub(super) fn perceive(&mut self, now: LocalTime, as_of: LocalTime, state: &State) -> Option<(Vec<Seen>, bool)> {
        let own = match &self.mobility {
            Mobility::Trip { index, .. } => Some(*index),
            Mobility::Straight(_) => None,
        };
        self.perception.check((now, as_of), self.config.sight.as_ref()?, own, state)
    }

    /// A CPM with these objects; `None` if it cannot be written, which only a place off the map can bring about.
    pub(super) fn cpm(&mut self, now: LocalTime, own: &State, seen: &[Seen], with_sensors: bool) -> Option<Outgoing> {
        let (accuracy, range_mm) = (self.config.accuracy, self.config.sight.as_ref().map_or(0, |sight| sight.range_mm));
        let said = erring(own, &accuracy, &mut self.sensors);
        let (at, position) = self.told(&said);
        let objects: Vec<PerceivedObject> =
            seen.iter().map(|seen| object(seen, own, &accuracy, &mut self.sensors)).collect();
        let sensor = Sensor {
            id: 1,
            kind: LOCAL_AGGREGATION,
            region: Some(((range_mm / 100) as u16, [0, 3_600])),
            confidence: None,
            is_shadowed: false,
        };
        let sensors = if with_sensors { List::new(&[sensor]) } else { List::default() };
        let is_vehicle = matches!(self.mobility, Mobility::Trip { .. }) || own.speed_m_s > 0.0;
        let origin = match is_vehicle {
            true => {
                CpmOrigin::Vehicle(Estimate { value: at.heading, confidence: accuracy.heading_confidence().into() })
            }
            false => CpmOrigin::Roadside,
        };
        let cpm = Cpm {
            station_id: self.identity().station_id,
            reference_time_ms: self.tai_us(now) / 1_000,
            position,
            origin,
            sensors,
            perceived: Some(Perceived { total: self.perception.total(now), objects: List::new(&objects) }),
        };
        self.outgoing(MessageKind::Cpm, now, at, |message| cpm.emit(message))
    }

    /// A state as messages have it, and its place.
    pub(super) fn told(&self, said: &State) -> (Told, ReferencePosition) {
        let (latitude, longitude) = self.config.origin.to_wgs84(said.x_m, said.y_m);
        let at = Told {
            latitude,
            longitude,
            speed_cm_s: libm::round(said.speed_m_s * 100.0).clamp(0.0, 16_382.0) as u16,
            heading: libm::round(said.heading_deg * 10.0) as u16 % 3_600,
        };
        let semi_axes_cm = [self.config.accuracy.position_confidence_cm(); 2];
        (at, ReferencePosition { semi_axes_cm, orientation: 0, ..ReferencePosition::at(latitude, longitude) })
    }
}

/// A state as a sensor sees it.
pub(super) fn erring(state: &State, accuracy: &Accuracy, errors: &mut ChaCha8Rng) -> State {
    let mut errs = |value: f64, deviation: f64| value + deviation * normal(errors);
    State {
        x_m: errs(state.x_m, accuracy.position_m),
        y_m: errs(state.y_m, accuracy.position_m),
        speed_m_s: errs(state.speed_m_s, accuracy.speed_m_s),
        heading_deg: libm::fmod(errs(state.heading_deg, accuracy.heading_deg) + 720.0, 360.0),
        ..*state
    }
}

/// An object as seen from where the station is: sensors know where it is from there as well as the station knows where it is
/// itself.
fn object(seen: &Seen, own: &State, accuracy: &Accuracy, errors: &mut ChaCha8Rng) -> PerceivedObject {
    let said = erring(&seen.state, accuracy, errors);
    let place = |to_m: f64, from_m: f64| Estimate {
        value: libm::round((to_m - from_m) * 100.0).clamp(-131_072.0, 131_071.0) as i32,
        confidence: accuracy.position_confidence_cm(),
    };
    let (sin, cos) = libm::sincos(said.heading_deg.to_radians());
    let velocity = |share: f64| Estimate {
        value: libm::round(said.speed_m_s * share * 100.0).clamp(-16_382.0, 16_382.0) as i16,
        confidence: accuracy.speed_confidence_cm_s().into(),
    };
    // From north and clockwise, to from east and counter-clockwise.
    let angle = libm::round(libm::fmod(450.0 - said.heading_deg, 360.0) * 10.0) as u16 % 3_600;
    let Dimensions { length_dm, width_dm } = seen.dimensions;
    let dimension = |dm: u16| Some(Estimate { value: dm.clamp(1, 255), confidence: DIMENSION_CONFIDENCE_DM });
    PerceivedObject {
        id: seen.id,
        measurement_delta_ms: 0,
        x_cm: place(said.x_m, own.x_m),
        y_cm: place(said.y_m, own.y_m),
        velocity_cm_s: Some([velocity(sin), velocity(cos)]),
        angle: Some(Estimate { value: angle, confidence: accuracy.heading_confidence().into() }),
        length_dm: dimension(length_dm),
        width_dm: dimension(width_dm.into()),
        age_ms: Some((seen.age.as_ns() / 1_000_000).clamp(0, 2_047) as u16),
        quality: None,
        class: Some((ObjectClass::Vehicle(if length_dm < TRUCK_LENGTH_DM { CAR } else { TRUCK }), 101)),
    }
}

/// The longest CPM that a station sends: every object that has room, and its sensors `[byte]`.
pub(super) fn cpm_len_max() -> usize {
    let seen = Seen {
        id: 0,
        age: Duration::ZERO,
        state: State::default(),
        dimensions: Dimensions { length_dm: 1, width_dm: 1 },
    };
    let accuracy = Accuracy { position_m: 0.0, speed_m_s: 0.0, heading_deg: 0.0 };
    let mut errors = random::stream(0, Purpose::Medium, 0);
    let objects = [object(&seen, &State::default(), &accuracy, &mut errors); Cpm::OBJECTS_MAX];
    let cpm = Cpm {
        origin: CpmOrigin::Vehicle(Estimate { value: 0, confidence: 1 }),
        sensors: List::new(&[Sensor { region: Some((0, [0, 0])), ..Sensor::default() }]),
        perceived: Some(Perceived { total: 0, objects: List::new(&objects) }),
        ..Cpm::default()
    };
    cpm.emit(&mut [0; Cpm::LEN_MAX]).unwrap_or(Cpm::LEN_MAX)
}
