//! How much of what the eavesdropper believes is true.

use chronoseal_core::Duration;

use super::{Heard, Tracks};

/// What an eavesdropper put together.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Score {
    /// Vehicles it heard.
    pub trips: u64,
    /// Of them, those it followed from the first message to the last.
    pub trips_linked: u64,
    /// Times a vehicle went on under another pseudonym, and was heard under both.
    pub changes: u64,
    /// Of them, those it linked.
    pub changes_linked: u64,
    /// Links between two vehicles.
    pub links_wrong: u64,
    /// Of the time a vehicle was heard, the longest part that was followed without a break, mean over the vehicles [10^-6].
    pub followed_ppm: u64,
}

impl Score {
    /// Holds tracks against the truth; `heard` are the messages the tracks were made of, in their order.
    ///
    /// # Panics
    /// If the tracks were made of another number of messages.
    pub fn new(heard: &[Heard], tracks: &Tracks) -> Self {
        assert_eq!(heard.len(), tracks.tracklet_of.len(), "tracks of other messages");
        let vehicles = heard.iter().map(|one| one.vehicle + 1).max().unwrap_or(0);
        // Of each vehicle, its tracklets in the order of their first messages. A tracklet that holds several vehicles'
        // messages, because a pseudonym moved on, is one of each.
        let mut parts: Vec<Vec<Part>> = vec![Vec::new(); vehicles];
        for (one, tracklet) in heard.iter().zip(&tracks.tracklet_of) {
            let parts = &mut parts[one.vehicle];
            let at = one.observation.at;
            match parts.iter_mut().rev().find(|part| part.tracklet == *tracklet) {
                Some(part) => part.until = at,
                None => parts.push(Part { tracklet: *tracklet, from: at, until: at }),
            }
        }
        let mut score = Self::default();
        let mut followed_ppm = 0;
        for parts in parts.iter().filter(|parts| !parts.is_empty()) {
            score.add_trip(parts, tracks, &mut followed_ppm);
        }
        score.followed_ppm = followed_ppm.checked_div(score.trips).unwrap_or(0);
        let links = tracks.next.iter().flatten().count() as u64;
        score.links_wrong = links - score.changes_linked;
        score
    }

    fn add_trip(&mut self, parts: &[Part], tracks: &Tracks, followed_ppm: &mut u64) {
        self.trips += 1;
        let mut is_whole = true;
        let (mut began, mut longest) = (parts[0].from, Duration::ZERO);
        for pair in parts.windows(2) {
            let [one, other] = [&pair[0], &pair[1]];
            self.changes += 1;
            if tracks.next[one.tracklet] == Some(other.tracklet) {
                self.changes_linked += 1;
            } else {
                is_whole = false;
                longest = longest.max(one.until - began);
                began = other.from;
            }
        }
        let until = parts[parts.len() - 1].until;
        longest = longest.max(until - began);
        let heard = until - parts[0].from;
        // Heard once is followed all the time.
        let share = i128::from(longest.as_ps()) * 1_000_000 / i128::from(heard.as_ps()).max(1);
        *followed_ppm += if heard == Duration::ZERO { 1_000_000 } else { share as u64 };
        self.trips_linked += u64::from(is_whole);
    }

    /// Share of vehicles followed from first to last [10^-6]; 0 if none was heard.
    pub fn trips_linked_ppm(&self) -> u64 {
        (self.trips_linked * 1_000_000).checked_div(self.trips).unwrap_or(0)
    }

    /// Share of changes linked [10^-6]; `None` if there was none.
    pub fn changes_linked_ppm(&self) -> Option<u64> {
        (self.changes_linked * 1_000_000).checked_div(self.changes)
    }
}

/// A tracklet, as far as it is one vehicle's.
#[derive(Clone, Copy, Debug)]
struct Part {
    tracklet: usize,
    from: chronoseal_core::SimTime,
    until: chronoseal_core::SimTime,
}
