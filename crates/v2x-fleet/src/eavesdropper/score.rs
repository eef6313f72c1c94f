//! How much of what the eavesdropper believes is true.

use chronoseal_core::{Duration, SimTime};

use super::{Heard, Tracks};

/// What an eavesdropper put together. A change is a vehicle's, whatever the tracker made of it: two messages of a vehicle, one
/// after the other among those heard, under two pseudonyms.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Score {
    /// Vehicles it heard.
    pub trips: u64,
    /// Of them, those it followed from the first message to the last.
    pub trips_linked: u64,
    /// Of the vehicles, those that went on under another pseudonym at least once.
    pub trips_changed: u64,
    /// Of them, those it followed from the first message to the last.
    pub trips_changed_linked: u64,
    /// Times a vehicle went on under another pseudonym, and was heard under both.
    pub changes: u64,
    /// Of them, those it linked.
    pub changes_linked: u64,
    /// Pseudonyms, or parts of them, that it took for one vehicle.
    pub links: u64,
    /// Of them, those that are two vehicles.
    pub links_wrong: u64,
    /// Of the changes, how many would be linked on average by who picks at random, each for itself, among those that time
    /// allows: the sum of 1/k where k begin in time.
    pub linked_by_chance: f64,
    /// Sum over the changes of how many begin where and when the vehicle could go on, itself included if so.
    pub candidates: u64,
    /// Of the time a vehicle was heard, the longest part that was followed without a break, mean over the vehicles `[10^-6]`.
    pub followed_ppm: u64,
}

/// A vehicle as far as its messages were gone through.
#[derive(Clone, Copy)]
struct Trip {
    last: usize,
    first_at: SimTime,
    /// Since when it was followed without a break.
    followed_from: SimTime,
    longest: Duration,
    is_whole: bool,
    has_changed: bool,
}

impl Score {
    /// Holds tracks against the truth; `heard` are the messages the tracks were made of, in their order.
    ///
    /// # Panics
    /// If the tracks were made of another number of messages.
    pub fn new(heard: &[Heard], tracks: &Tracks) -> Self {
        assert_eq!(heard.len(), tracks.tracklet_of.len(), "tracks of other messages");
        let mut score = Self::default();
        let vehicles = heard.iter().map(|one| one.vehicle + 1).max().unwrap_or(0);
        let mut trips: Vec<Option<Trip>> = vec![None; vehicles];
        for (number, one) in heard.iter().enumerate() {
            let at = one.observation.at;
            let trip = &mut trips[one.vehicle];
            match trip {
                None => {
                    let longest = Duration::ZERO;
                    let (is_whole, has_changed) = (true, false);
                    *trip =
                        Some(Trip { last: number, first_at: at, followed_from: at, longest, is_whole, has_changed });
                }
                Some(trip) => score.go_on(trip, heard, number, tracks),
            }
        }
        let mut followed_ppm = 0;
        for trip in trips.into_iter().flatten() {
            score.trips += 1;
            score.trips_linked += u64::from(trip.is_whole);
            score.trips_changed += u64::from(trip.has_changed);
            score.trips_changed_linked += u64::from(trip.has_changed && trip.is_whole);
            let until = heard[trip.last].observation.at;
            let (longest, heard) = (trip.longest.max(until - trip.followed_from), until - trip.first_at);
            // Heard once is followed all the time.
            let share = i128::from(longest.as_ps()) * 1_000_000 / i128::from(heard.as_ps()).max(1);
            followed_ppm += if heard == Duration::ZERO { 1_000_000 } else { share as u64 };
        }
        score.followed_ppm = followed_ppm.checked_div(score.trips).unwrap_or(0);
        score.count_links(heard, tracks);
        score
    }

    /// The next message of a vehicle.
    fn go_on(&mut self, trip: &mut Trip, heard: &[Heard], number: usize, tracks: &Tracks) {
        let (last, now) = (&heard[trip.last].observation, &heard[number].observation);
        let [from, to] = [trip.last, number].map(|message| tracks.tracklet_of[message]);
        let is_followed = from == to || tracks.next[from] == Some(to);
        if last.pseudonym != now.pseudonym {
            self.changes += 1;
            self.changes_linked += u64::from(is_followed);
            let gap = now.at - last.at;
            if gap >= tracks.gap_min && gap <= tracks.gap_max {
                self.linked_by_chance += 1.0 / f64::from(tracks.allowed_by_time[from].max(1));
            }
            self.candidates += u64::from(tracks.allowed_by_place[from]);
            trip.has_changed = true;
        }
        if !is_followed {
            trip.is_whole = false;
            trip.longest = trip.longest.max(last.at - trip.followed_from);
            trip.followed_from = now.at;
        }
        trip.last = number;
    }

    /// A link is right if the same vehicle sent the last message before it and the first behind it.
    fn count_links(&mut self, heard: &[Heard], tracks: &Tracks) {
        let mut first = vec![None; tracks.next.len()];
        let mut last = first.clone();
        for (one, tracklet) in heard.iter().zip(&tracks.tracklet_of) {
            first[*tracklet].get_or_insert(one.vehicle);
            last[*tracklet] = Some(one.vehicle);
        }
        for (before, next) in last.iter().zip(&tracks.next) {
            let Some(next) = next else { continue };
            self.links += 1;
            self.links_wrong += u64::from(*before != first[*next]);
        }
    }

    /// Share of vehicles followed from first to last `[10^-6]`; 0 if none was heard.
    pub fn trips_linked_ppm(&self) -> u64 {
        (self.trips_linked * 1_000_000).checked_div(self.trips).unwrap_or(0)
    }

    /// Share of changes linked `[10^-6]`; `None` if there was none.
    pub fn changes_linked_ppm(&self) -> Option<u64> {
        (self.changes_linked * 1_000_000).checked_div(self.changes)
    }
}
