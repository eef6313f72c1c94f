//! Changes of pseudonym: when, with whom, and what goes with the old one.

use chronoseal_core::random;
use chronoseal_core::{Duration, Event, EventKind, LocalTime, StreamId};

use super::ItsStation;
use super::accord::{Order, Pseudonym, What};
use super::perception::Perception;
use super::surroundings::Around;
use super::vulnerable::Awareness;
use crate::generation::{Generation, INTERVAL_MIN};
use crate::policy::{Change, Company};
use crate::road::State;

/// What a station does not change when its pseudonym changes. Each of these shows that it is the station it was; they are
/// here to be measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Kept {
    /// The address of its link layer, and with it the one of GeoNetworking.
    pub link_address: bool,
    /// The sequence number of its GeoBroadcasts goes on (EN 302 636-4-1, clause 8.3).
    pub packet_number: bool,
    /// It goes on looking whether a CAM is due at the same place in each 100 ms.
    pub beat: bool,
}

impl Kept {
    /// Everything changes.
    pub const NOTHING: Self = Self { link_address: false, packet_number: false, beat: false };
}

impl ItsStation {
    /// Does what others have said through the accord, as of the time they said it.
    pub(super) fn follow_orders(&mut self, now: LocalTime) {
        let Some((accord, me)) = &self.accord else { return };
        for Order { at, what } in accord.take_orders(*me) {
            match what {
                What::Take { pseudonym, silence } => {
                    self.changer.change(at);
                    self.begin_with(now, at, silence, Some(pseudonym));
                }
                What::Change if at < self.silent_until => {}
                What::Change => {
                    let change = self.changer.change(at);
                    self.begin_with(now, at, change.silence, None);
                    self.tell_accord();
                }
            }
        }
    }

    /// Lets the policy decide; true if the station says nothing at this place.
    pub(super) fn think(&mut self, now: LocalTime, state: &State) -> bool {
        if now < self.silent_until {
            return false;
        }
        let around = Around { heard: self.heard.as_ref(), now, origin: &self.config.origin, state };
        let decision = self.changer.decide(now, state, &around);
        match decision.change {
            Some(Change { silence, with: Company::Nearest }) => {
                let Some((accord, me)) = &self.accord else { return decision.is_hushed };
                let coin = || self.changer.coin();
                if let Some(mine) = accord.swap(now, *me, around.nearest_first(), silence, coin) {
                    self.begin_with(now, now, silence, Some(mine));
                }
            }
            Some(Change { silence, with }) => {
                if let (Company::Neighbours, Some((accord, me))) = (with, &self.accord) {
                    accord.take_along(now, *me, around.ids());
                }
                self.begin_with(now, now, silence, None);
                self.tell_accord();
            }
            None => {}
        }
        if decision.is_hushed {
            let value = INTERVAL_MIN.as_ps();
            self.base.push(Event { kind: EventKind::Hushed, stream: self.config.streams[0], sequence: 0, value });
        }
        decision.is_hushed
    }

    /// Takes up an identity, a new one if none is given, and forgets whatever would show that it is the station it was: all that
    /// identifies it changes at one moment. The change counts from `at`, when it was agreed on.
    fn begin_with(&mut self, now: LocalTime, at: LocalTime, silence: Duration, given: Option<Pseudonym>) {
        let now_us = self.tai_us(now);
        let taken = match given {
            Some(pseudonym) => self.credentials.take_up(pseudonym, now_us),
            None => self.credentials.renew(now_us),
        };
        if taken.is_err() {
            // It goes on under the identity it has.
            return;
        }
        self.silent_until = at + silence;
        self.composer.forget();
        // Numbers of objects, and for how long they are known, would show that it is the station it was.
        self.perception = Perception::default();
        self.awareness = Awareness::default();
        if !self.config.keeps.packet_number {
            self.packet_number = 0;
        }
        if !self.config.keeps.beat {
            self.generation = Generation::with_interval_min(self.config.cam_interval_min);
            let wait_ps = random::uniform_i64(&mut self.beats, 1, INTERVAL_MIN.as_ps());
            self.next_look_at = Some(now + Duration::from_ps(wait_ps));
        }
        let sequence = u64::from(self.identity().station_id);
        let value = silence.as_ps();
        self.base.push(Event { kind: EventKind::PseudonymChanged, stream: StreamId::NONE, sequence, value });
    }

    /// A ticket that has run out signs nothing: the station takes up one of the next period, and with it another identity.
    pub(super) fn replace_ticket_that_is_over(&mut self, now: LocalTime) {
        if self.credentials.has_run_out(self.tai_us(now)) {
            self.begin_with(now, now, Duration::ZERO, None);
            self.tell_accord();
        }
    }

    pub(super) fn tell_accord(&self) {
        if let Some((accord, me)) = &self.accord {
            accord.goes_by(*me, self.credentials.pseudonym(), self.silent_until);
        }
    }
}
