//! The receiving sides: who knows whose certificate, and who has news of whom.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use chronoseal_core::{Duration, SimTime};

use super::config::WatchConfig;
use crate::road::{State, Trips};

/// What became of messages at vehicles.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Reception {
    /// Frames received whole.
    pub received: u64,
    /// Of them, accepted.
    pub accepted: u64,
    /// Of them, lost because the signer's certificate had not come yet. It comes again within a second, or when it is asked
    /// for.
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
    /// Looks at a vehicle and another ahead of it in its lane, less than [`HEADWAY_S`] away: if that one braked hard now,
    /// a warning would have to come at once.
    pub looks_behind: u64,
    /// Of them, the one behind had no fresh news of the one ahead: no warning could come.
    pub looks_behind_unaware: u64,
    /// Times between two messages from a vehicle to another near it that were longer than news stays fresh.
    pub gaps: u64,
    /// Their sum.
    pub gap_time: Duration,
    /// The longest.
    pub gap_max: Duration,
}

/// The time to the vehicle ahead that drivers are taught to keep `[s]`.
pub const HEADWAY_S: f64 = 2.0;
/// Half a lane's width `[m]`.
const LANE_HALF_M: f64 = 1.75;

impl Safety {
    /// Share of looks without fresh news `[10^-6]`.
    pub fn unaware_ppm(&self) -> u64 {
        (self.looks_unaware * 1_000_000).checked_div(self.looks).unwrap_or(0)
    }

    /// Share of vehicles ahead, close and in the same lane, that were unknown to who drove behind `[10^-6]`; `None` if there
    /// was none.
    pub fn behind_unaware_ppm(&self) -> Option<u64> {
        (self.looks_behind_unaware * 1_000_000).checked_div(self.looks_behind)
    }

    /// Mean of the times without a message that were too long; zero if there was none.
    pub fn gap_mean(&self) -> Duration {
        Duration::from_ps(self.gap_time.as_ps().checked_div(self.gaps as i64).unwrap_or(0))
    }

    pub(super) fn count_gap(&mut self, gap: Duration) {
        self.gaps += 1;
        self.gap_time += gap;
        self.gap_max = self.gap_max.max(gap);
    }

    /// The same as [`Self::unaware_ppm`] around changes `[10^-6]`; `None` if there was none.
    pub fn unaware_around_change_ppm(&self) -> Option<u64> {
        (self.looks_unaware_around_change * 1_000_000).checked_div(self.looks_around_change)
    }
}

/// Whose direction differs by no more drives the same way `[degree]`.
const SAME_WAY_DEG: f64 = 10.0;

/// All receiving sides. A vehicle has a place in the tables only while it is there, so that they grow with the traffic and
/// not with the length of the record.
pub(super) struct Receivers {
    /// Of each vehicle, its place; those that are there at one time differ.
    place_of: Vec<usize>,
    /// Of each place, who has it now.
    vehicle_at: Vec<Option<usize>>,
    /// When row last heard of column; before all times if never.
    news: Vec<SimTime>,
}

const NEVER: SimTime = SimTime::from_ps(i64::MIN / 2);
/// How long a vehicle must have been there before others should know of it.
const SETTLING: Duration = Duration::from_s(2);
/// A place stays empty so long, until all a vehicle has sent is off the air.
const LINGERING: Duration = Duration::from_s(2);

impl Receivers {
    pub(super) fn new(trips: &Trips) -> Self {
        let place_of = places(trips);
        let places = place_of.iter().map(|place| place + 1).max().unwrap_or(0);
        Self { place_of, vehicle_at: vec![None; places], news: vec![NEVER; places * places] }
    }

    /// A vehicle is there from now on, knows nobody and is known to nobody.
    pub(super) fn appear(&mut self, vehicle: usize) {
        let (place, places) = (self.place_of[vehicle], self.vehicle_at.len());
        self.vehicle_at[place] = Some(vehicle);
        self.news[place * places..(place + 1) * places].fill(NEVER);
        self.news.iter_mut().skip(place).step_by(places).for_each(|news| *news = NEVER);
    }

    /// A vehicle has left.
    pub(super) fn disappear(&mut self, vehicle: usize) {
        let place = self.place_of[vehicle];
        if self.vehicle_at[place] == Some(vehicle) {
            self.vehicle_at[place] = None;
        }
    }

    /// Takes down that there is news; returns how old the last was, if there was any.
    pub(super) fn hear(&mut self, now: SimTime, to: usize, of: usize) -> Option<Duration> {
        let news = &mut self.news[self.place_of[to] * self.vehicle_at.len() + self.place_of[of]];
        let last = std::mem::replace(news, now);
        (last != NEVER).then(|| now - last)
    }

    fn news(&self, to: usize, of: usize) -> SimTime {
        self.news[self.place_of[to] * self.vehicle_at.len() + self.place_of[of]]
    }

    /// Holds who is there, as `present` tells, against what each has heard.
    pub(super) fn look(
        &self,
        now: SimTime,
        present: impl Fn(usize) -> Option<Present>,
        config: &WatchConfig,
        safety: &mut Safety,
    ) {
        let is_settled = |(_, present): &(usize, Present)| now - present.since >= SETTLING;
        let there = self.vehicle_at.iter().filter_map(|vehicle| *vehicle);
        let there: Vec<(usize, Present)> =
            there.filter_map(|index| Some((index, present(index)?))).filter(is_settled).collect();
        for (of, Present { state, is_changing, length_m, .. }) in &there {
            let (is_changing, length_m) = (*is_changing, *length_m);
            for (to, Present { state: other, .. }) in &there {
                if to == of || state.distance_m(other) > config.awareness_m {
                    continue;
                }
                let is_unaware = u64::from(now - self.news(*to, *of) > config.news_age_max);
                safety.looks += 1;
                safety.looks_unaware += is_unaware;
                if is_changing {
                    safety.looks_around_change += 1;
                    safety.looks_unaware_around_change += is_unaware;
                }
                if is_right_behind(other, state, length_m) {
                    safety.looks_behind += 1;
                    safety.looks_behind_unaware += is_unaware;
                }
            }
        }
    }
}

/// A vehicle that is there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Present {
    /// When it appeared.
    pub(super) since: SimTime,
    pub(super) state: State,
    /// From a change of its pseudonym to some time behind the silence after it.
    pub(super) is_changing: bool,
    pub(super) length_m: f64,
}

/// True if `own` drives in the lane of `ahead`, a vehicle of this length, and is less than [`HEADWAY_S`] behind it.
fn is_right_behind(own: &State, ahead: &State, length_m: f64) -> bool {
    let (sin, cos) = libm::sincos(own.heading_deg.to_radians());
    let (east_m, north_m) = (ahead.x_m - own.x_m, ahead.y_m - own.y_m);
    let turn_deg = libm::fabs(ahead.heading_deg - own.heading_deg);
    let gap_m = east_m * sin + north_m * cos - length_m;
    gap_m > -length_m
        && gap_m <= HEADWAY_S * own.speed_m_s
        && libm::fabs(east_m * cos - north_m * sin) <= LANE_HALF_M
        && turn_deg.min(360.0 - turn_deg) <= SAME_WAY_DEG
}

/// A place for each trip, so that those which overlap in time have different ones: the lowest that is free.
fn places(trips: &Trips) -> Vec<usize> {
    let mut by_begin: Vec<usize> = (0..trips.trips.len()).collect();
    by_begin.sort_by_key(|index| (trips.trips[*index].begins_at, *index));
    let mut place_of = vec![0; trips.trips.len()];
    let (mut taken, mut free, mut places) = (BinaryHeap::new(), BinaryHeap::new(), 0);
    for index in by_begin {
        let trip = &trips.trips[index];
        while let Some(Reverse((until, place))) = taken.peek().copied()
            && until < trip.begins_at
        {
            taken.pop();
            free.push(Reverse(place));
        }
        let place = free.pop().map_or(places, |Reverse(place)| place);
        places = places.max(place + 1);
        place_of[index] = place;
        taken.push(Reverse((trip.ends_at(trips.step) + LINGERING, place)));
    }
    place_of
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::road::highway::Highway;

    #[test]
    fn places_are_as_many_as_vehicles_at_one_time() {
        let road = Highway {
            length_m: 500.0,
            duration: Duration::from_s(120),
            warm_up: Duration::from_s(30),
            ..Highway::default()
        };
        let trips = road.drive().expect("a road");
        let place_of = places(&trips);
        let most = place_of.iter().max().expect("vehicles") + 1;
        assert!(most < trips.trips.len() / 3, "{most} places for {} trips", trips.trips.len());
        for (index, one) in trips.trips.iter().enumerate() {
            for (other_index, other) in trips.trips.iter().enumerate().take(index) {
                let overlap = one.begins_at <= other.ends_at(trips.step) + LINGERING
                    && other.begins_at <= one.ends_at(trips.step) + LINGERING;
                assert!(!overlap || place_of[index] != place_of[other_index]);
            }
        }
    }

    #[test]
    fn right_behind_is_in_the_same_lane_and_close() {
        let own = State { speed_m_s: 30.0, heading_deg: 90.0, ..State::default() };
        let behind = |x_m: f64, y_m: f64| {
            let ahead = State { x_m, y_m, heading_deg: 90.0, ..State::default() };
            is_right_behind(&own, &ahead, 5.0)
        };
        assert!(behind(64.9, 0.0) && !behind(65.1, 0.0), "60 m and its length");
        assert!(behind(30.0, 1.7) && !behind(30.0, 3.5), "another lane");
        assert!(!behind(-30.0, 0.0), "behind, not ahead");
        let oncoming = State { x_m: 30.0, heading_deg: 270.0, ..State::default() };
        assert!(!is_right_behind(&own, &oncoming, 5.0));
    }
}
