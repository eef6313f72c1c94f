//! The receiving sides: who knows whose certificate, and who has news of whom.

use std::collections::BTreeSet;

use chronoseal_core::{Duration, SimTime};

use super::config::FleetConfig;
use super::sender::Sender;
use crate::policy::Neighbourhood;
use crate::road::State;

/// What became of messages at vehicles.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Reception {
    /// Frames received whole.
    pub received: u64,
    /// Of them, accepted.
    pub accepted: u64,
    /// Of them, lost because the signer's certificate had not come yet. Nobody asks for it here, as peer-to-peer
    /// distribution would; it comes again within the certificate interval.
    pub unknown_signer: u64,
    /// Of them, refused for their content or signature.
    pub refused: u64,
    /// Frames that their own sender's queue did not take.
    pub refused_by_sender: u64,
}

/// What changes of pseudonyms cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Safety {
    /// Changes of all vehicles.
    pub changes: u64,
    /// Silence at them, all vehicles together.
    pub silence: Duration,
    /// CAMs that were due in silence.
    pub messages_withheld: u64,
    /// Looks at a pair of vehicles near each other.
    pub looks: u64,
    /// Of them, one had no fresh news of the other.
    pub looks_unaware: u64,
    /// Looks at a pair of which the vehicle looked for was changing: from the change to some time behind its silence.
    pub looks_around_change: u64,
    /// Of them, one had no fresh news of the other.
    pub looks_unaware_around_change: u64,
}

impl Safety {
    /// Share of looks without fresh news [10^-6].
    pub fn unaware_ppm(&self) -> u64 {
        (self.looks_unaware * 1_000_000).checked_div(self.looks).unwrap_or(0)
    }

    /// The same around changes [10^-6]; `None` if there was none.
    pub fn unaware_around_change_ppm(&self) -> Option<u64> {
        (self.looks_unaware_around_change * 1_000_000).checked_div(self.looks_around_change)
    }
}

/// Who counts as near, for policies [m].
pub(super) const NEAR_M: f64 = 100.0;
/// Who counts as driving alike: as far to the side [m], as much faster or slower [m/s], turned as much [degree].
const ALIKE_SIDE_M: f64 = 3.75;
const ALIKE_SPEED_M_S: f64 = 2.0;
const ALIKE_HEADING_DEG: f64 = 10.0;

/// The neighbours a vehicle has heard of.
pub(super) struct Known<'a> {
    pub(super) receivers: &'a Receivers,
    pub(super) now: SimTime,
    pub(super) of: usize,
    pub(super) state: &'a State,
    pub(super) vehicles: &'a [Sender],
}

impl Known<'_> {
    fn near(&self) -> impl Iterator<Item = usize> + '_ {
        self.receivers.known_within(self.now, self.of, self.state, self.vehicles, NEAR_M)
    }
}

impl Neighbourhood for Known<'_> {
    fn near(&self) -> u32 {
        Known::near(self).count() as u32
    }

    fn alike(&self) -> u32 {
        let (sin, cos) = libm::sincos(self.state.heading_deg.to_radians());
        let is_alike = |other: &usize| {
            self.vehicles[*other].state.is_some_and(|other| {
                let (east_m, north_m) = (other.x_m - self.state.x_m, other.y_m - self.state.y_m);
                let turn_deg = libm::fabs(other.heading_deg - self.state.heading_deg);
                libm::fabs(east_m * cos - north_m * sin) <= ALIKE_SIDE_M
                    && libm::fabs(other.speed_m_s - self.state.speed_m_s) <= ALIKE_SPEED_M_S
                    && turn_deg.min(360.0 - turn_deg) <= ALIKE_HEADING_DEG
            })
        };
        Known::near(self).filter(is_alike).count() as u32
    }
}

/// All receiving sides.
pub(super) struct Receivers {
    vehicles: usize,
    /// Of each vehicle, pseudonyms whose certificates it has.
    known: Vec<BTreeSet<u32>>,
    /// When row last heard of column; before all times if never.
    news: Vec<SimTime>,
}

const NEVER: SimTime = SimTime::from_ps(i64::MIN / 2);
/// How long a vehicle must have been there before others should know of it.
const SETTLING: Duration = Duration::from_s(2);
/// A neighbour is one heard of within this time.
const NEIGHBOUR: Duration = Duration::from_ms(1_100);

impl Receivers {
    pub(super) fn new(vehicles: usize) -> Self {
        Self { vehicles, known: vec![BTreeSet::new(); vehicles], news: vec![NEVER; vehicles * vehicles] }
    }

    pub(super) fn knows(&self, to: usize, pseudonym: u32) -> bool {
        self.known[to].contains(&pseudonym)
    }

    pub(super) fn learn(&mut self, to: usize, pseudonym: u32) {
        self.known[to].insert(pseudonym);
    }

    pub(super) fn hear(&mut self, now: SimTime, to: usize, of: usize) {
        self.news[to * self.vehicles + of] = now;
    }

    /// Others that a vehicle has heard of lately and that are near.
    pub(super) fn known_within<'a>(
        &'a self,
        now: SimTime,
        of: usize,
        state: &'a State,
        vehicles: &'a [Sender],
        radius_m: f64,
    ) -> impl Iterator<Item = usize> + 'a {
        let news = &self.news[of * self.vehicles..(of + 1) * self.vehicles];
        let is_near = move |other: usize| vehicles[other].state.is_some_and(|at| at.distance_m(state) <= radius_m);
        let heard = news.iter().enumerate().filter(move |(_, at)| now - **at <= NEIGHBOUR);
        heard.map(|(other, _)| other).filter(move |other| *other != of && is_near(*other))
    }

    pub(super) fn look(&self, now: SimTime, vehicles: &[Sender], config: &FleetConfig, safety: &mut Safety) {
        let is_settled = |vehicle: &Sender| now - vehicle.begins_at >= SETTLING;
        let there: Vec<(usize, &Sender, State)> = vehicles
            .iter()
            .enumerate()
            .filter(|(_, vehicle)| is_settled(vehicle))
            .filter_map(|(index, vehicle)| Some((index, vehicle, vehicle.state?)))
            .collect();
        for (of, vehicle, state) in &there {
            let is_changing =
                vehicle.changed_at.is_some_and(|at| now <= at.max(vehicle.silent_until) + config.around_change);
            for (to, _, other) in &there {
                if to == of || state.distance_m(other) > config.awareness_m {
                    continue;
                }
                let is_unaware = u64::from(now - self.news[to * self.vehicles + of] > config.news_age_max);
                safety.looks += 1;
                safety.looks_unaware += is_unaware;
                if is_changing {
                    safety.looks_around_change += 1;
                    safety.looks_unaware_around_change += is_unaware;
                }
            }
        }
    }
}
