//! When a station asks for a new enrolment credential.
//!
//! The request is signed with the credential in use, so it has to be granted before that one ends: afterwards only
//! whoever registered the station can help. Stations that were enrolled together would ask together: each draws its own moment.

use rand_core::Rng;

use super::backoff::Backoff;
use crate::types::{HashedId8, Time64, ValidityPeriod};

/// The credential in use, and from when on a new one is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldCredential {
    /// Its identifier.
    pub id: HashedId8,
    /// The first instant at which it is over.
    pub ends_at: Time64,
    /// From when on a new one is asked for.
    pub renewed_from: Time64,
}

/// Decides when the enrolment credential is renewed.
#[derive(Clone, Debug)]
pub struct Renewal {
    ahead_s: u32,
    held: Option<HeldCredential>,
    backoff: Backoff,
}

impl Renewal {
    /// Asks `ahead_s` before the end at the earliest, half of that at the latest `[s]`. For a credential that is not valid for twice as long,
    /// half of its validity takes the place of `ahead_s`.
    pub fn new(ahead_s: u32) -> Self {
        Self { ahead_s, held: None, backoff: Backoff::default() }
    }

    /// The credential in use is `id`; one that is known already changes nothing.
    pub fn hold(&mut self, id: HashedId8, period: ValidityPeriod, rng: &mut impl Rng) -> HeldCredential {
        if let Some(held) = self.held
            && held.id == id
        {
            return held;
        }
        let ahead_us = (u64::from(self.ahead_s) * 1_000_000).min(period.duration.us() / 2);
        let drawn_us = if ahead_us >= 2 { rng.next_u64() % (ahead_us / 2) } else { 0 };
        let ends_at = period.end();
        let renewed_from = Time64(ends_at.0.saturating_sub(ahead_us - drawn_us));
        self.backoff = Backoff::default();
        *self.held.insert(HeldCredential { id, ends_at, renewed_from })
    }

    /// There is no credential.
    pub fn lose(&mut self) {
        self.held = None;
    }

    /// Whether a new one is to be asked for now.
    pub fn is_due(&self, now: Time64) -> bool {
        self.held.is_some_and(|held| held.renewed_from <= now && now < held.ends_at) && self.backoff.is_over(now)
    }

    /// Whether it is too late: nothing that is signed with it is taken any more.
    pub fn has_ended(&self, now: Time64) -> bool {
        self.held.is_some_and(|held| held.ends_at <= now)
    }

    /// It was asked for in vain. It is asked for again after a while: some seconds at first, at most [`super::RETRY_MAX_S`].
    pub fn asked_in_vain(&mut self, now: Time64, rng: &mut impl Rng) {
        self.backoff.fail(now, rng);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Duration, Time32};
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    const DAY_S: u32 = 86_400;
    const START: Time32 = Time32(700_000_000);

    fn period(duration: Duration) -> ValidityPeriod {
        ValidityPeriod { start: START, duration }
    }

    #[test]
    fn each_station_asks_at_a_moment_of_its_own_between_half_of_the_lead_and_all_of_it() {
        let three_years = period(Duration::Years(3));
        let mut moments: Vec<u64> = (0..50)
            .map(|seed| {
                let mut renewal = Renewal::new(30 * DAY_S);
                let held = renewal.hold(HashedId8([1; 8]), three_years, &mut ChaCha8Rng::seed_from_u64(seed));
                assert_eq!(held.ends_at, three_years.end());
                let lead_s = (held.ends_at.0 - held.renewed_from.0) / 1_000_000;
                assert!((u64::from(15 * DAY_S)..=u64::from(30 * DAY_S)).contains(&lead_s), "{lead_s}");
                assert!(!renewal.is_due(Time64(held.renewed_from.0 - 1)) && renewal.is_due(held.renewed_from));
                held.renewed_from.0
            })
            .collect();
        moments.dedup();
        assert!(moments.len() > 40);
    }

    #[test]
    fn a_short_credential_is_renewed_in_its_second_half_and_the_new_one_not_at_once() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut renewal = Renewal::new(30 * DAY_S);
        let first = renewal.hold(HashedId8([1; 8]), period(Duration::Seconds(20)), &mut rng);
        let left_s = |held: HeldCredential| (held.ends_at.0 - held.renewed_from.0) as f64 / 1e6;
        assert!((5.0..=10.0).contains(&left_s(first)), "{}", left_s(first));
        assert_eq!(renewal.hold(HashedId8([1; 8]), period(Duration::Hours(9)), &mut rng), first, "known already");
        let now = first.renewed_from;
        let second = ValidityPeriod { start: now.time32(), duration: Duration::Seconds(20) };
        renewal.hold(HashedId8([2; 8]), second, &mut rng);
        assert!(!renewal.is_due(now));
    }

    #[test]
    fn what_failed_is_tried_again_until_the_end_and_not_after() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut renewal = Renewal::new(DAY_S);
        assert!(!renewal.is_due(START.time64()) && !renewal.has_ended(START.time64()), "there is none");
        let held = renewal.hold(HashedId8([1; 8]), period(Duration::Hours(48)), &mut rng);
        let (mut asked, mut at) = (0_u32, held.renewed_from);
        while at < held.ends_at {
            if renewal.is_due(at) {
                asked += 1;
                renewal.asked_in_vain(at, &mut rng);
            }
            at = at.plus_us(1_000_000);
        }
        // A quarter of an hour apart at most, twice as often at most, and a few times more at first.
        let hours = (held.ends_at.0 - held.renewed_from.0) / 3_600_000_000;
        assert!((hours * 4..=hours * 8 + 12).contains(&u64::from(asked)), "{asked} times in {hours} h");
        assert!(renewal.has_ended(held.ends_at) && !renewal.is_due(held.ends_at.plus_us(901_000_000)));
        // A new one that somebody put there starts anew.
        renewal.hold(
            HashedId8([2; 8]),
            ValidityPeriod { start: held.ends_at.time32(), duration: Duration::Hours(1) },
            &mut rng,
        );
        assert!(!renewal.has_ended(held.ends_at));
        renewal.lose();
        assert!(!renewal.is_due(held.ends_at.plus_us(3_599_000_000)));
    }
}
