//! Who is around, as far as a station has heard.

use std::collections::BTreeMap;

use chronoseal_core::{Duration, LocalTime};
use chronoseal_wire::its::Cam;

use crate::policy::Neighbourhood;
use crate::road::{Origin, State};

/// Who counts as near, for policies `[m]`.
const NEAR_M: f64 = 100.0;
/// Who counts as driving alike: as far to the side `[m]`, as much faster or slower `[m/s]`, turned as much `[degree]`.
const ALIKE_SIDE_M: f64 = 3.75;
const ALIKE_SPEED_M_S: f64 = 2.0;
const ALIKE_HEADING_DEG: f64 = 10.0;
/// A neighbour is one heard of within this time.
const NEIGHBOUR: Duration = Duration::from_ms(1_100);

/// Neighbours by the identifiers they were heard under, with what they said last.
///
/// A neighbour that has changed its pseudonym counts twice until the old one was silent for long enough: who can be told
/// from a new neighbour would not be hidden.
#[derive(Debug, Default)]
pub(super) struct Heard(BTreeMap<u32, (LocalTime, Said)>);

/// What a CAM says of its sender's movement.
#[derive(Clone, Copy, Debug)]
struct Said {
    latitude: i32,
    longitude: i32,
    speed_cm_s: u16,
    heading: u16,
}

/// So many are remembered before those of long ago are forgotten.
const REMEMBERED: usize = 256;

impl Heard {
    pub(super) fn note(&mut self, now: LocalTime, cam: &Cam) {
        let said = Said {
            latitude: cam.position.latitude,
            longitude: cam.position.longitude,
            speed_cm_s: cam.speed_cm_s,
            heading: cam.heading,
        };
        if self.0.len() >= REMEMBERED {
            // No more can be heard of within the time than the channel carries.
            self.0.retain(|_, (at, _)| now - *at <= NEIGHBOUR);
        }
        self.0.insert(cam.station_id, (now, said));
    }
}

/// Those near a station, as they said, worked out when it is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Around<'a> {
    /// `None`: nobody.
    pub(super) heard: Option<&'a Heard>,
    pub(super) now: LocalTime,
    pub(super) origin: &'a Origin,
    pub(super) state: &'a State,
}

impl Around<'_> {
    /// By identifier.
    fn those_near(&self) -> impl Iterator<Item = (u32, State)> + '_ {
        let heard = self.heard.into_iter().flat_map(|heard| &heard.0);
        let lately = heard.filter(|(_, (at, _))| self.now - *at <= NEIGHBOUR);
        let placed = lately.map(|(station_id, (_, said))| {
            let (x_m, y_m) = self.origin.to_plane(said.latitude, said.longitude);
            let speed_m_s = f64::from(said.speed_cm_s) / 100.0;
            let heading_deg = f64::from(said.heading) / 10.0;
            (*station_id, State { x_m, y_m, speed_m_s, heading_deg, acceleration_m_s2: 0.0 })
        });
        placed.filter(|(_, other)| other.distance_m(self.state) <= NEAR_M)
    }

    /// Their identifiers, in order.
    pub(super) fn ids(&self) -> impl Iterator<Item = u32> + '_ {
        self.those_near().map(|(station_id, _)| station_id)
    }

    /// Their identifiers, the nearest first.
    pub(super) fn nearest_first(&self) -> impl Iterator<Item = u32> + use<> {
        let mut by_distance: Vec<(f64, u32)> =
            self.those_near().map(|(station_id, other)| (other.distance_m(self.state), station_id)).collect();
        by_distance.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        by_distance.into_iter().map(|(_, station_id)| station_id)
    }
}

impl Neighbourhood for Around<'_> {
    fn near(&self) -> u32 {
        self.those_near().count() as u32
    }

    fn alike(&self) -> u32 {
        let own = self.state;
        let (sin, cos) = libm::sincos(own.heading_deg.to_radians());
        let is_alike = |(_, other): &(u32, State)| {
            let (east_m, north_m) = (other.x_m - own.x_m, other.y_m - own.y_m);
            let turn_deg = libm::fabs(other.heading_deg - own.heading_deg);
            libm::fabs(east_m * cos - north_m * sin) <= ALIKE_SIDE_M
                && libm::fabs(other.speed_m_s - own.speed_m_s) <= ALIKE_SPEED_M_S
                && turn_deg.min(360.0 - turn_deg) <= ALIKE_HEADING_DEG
        };
        self.those_near().filter(is_alike).count() as u32
    }
}
