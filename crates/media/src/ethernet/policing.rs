//! Policing of virtual links where they enter a switch (ARINC 664 part 7).
//!
//! Each virtual link has an account at each switch, which holds up to `Lmax (1 + J / BAG)` bytes and earns `Lmax / BAG`. A
//! frame that the account cannot pay for is thrown away and costs nothing. To keep to whole numbers everything here is
//! multiplied by the BAG: bytes times picoseconds.

use chronoseal_core::{Duration, SimTime};

/// What a frame is charged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Charge {
    /// The longest frame of its virtual link, whatever its own length (frame-based policing).
    Longest,
    /// Its own length (byte-based policing).
    Own,
}

/// What one virtual link is allowed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Policing {
    /// The bandwidth allocation gap, shortened by what the clock of a sender may be fast.
    pub bag: Duration,
    /// How much later than its bandwidth allocation gap says a frame may have left for the switch.
    pub jitter: Duration,
    /// Longest frame, checksum included `[byte]`.
    pub lmax: u32,
    /// What a frame is charged.
    pub charge: Charge,
}

/// The account of one virtual link at one switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Account {
    policing: Policing,
    /// What it held at `at` `[byte x ps]`.
    held: i64,
    at: SimTime,
}

impl Account {
    /// A full one.
    pub(super) const fn new(policing: Policing) -> Self {
        let held = (policing.bag.as_ps() + policing.jitter.as_ps()) * policing.lmax as i64;
        Self { policing, held, at: SimTime::ZERO }
    }

    /// Whether it pays for a frame of this length with its checksum `[byte]`, which came in at `now`.
    pub(super) fn pays(&mut self, now: SimTime, len: u32) -> bool {
        let Policing { bag, jitter, lmax, charge } = self.policing;
        let whole = bag + jitter;
        let earned = (now - self.at).min(whole).as_ps() * i64::from(lmax);
        self.held = (self.held + earned).min(whole.as_ps() * i64::from(lmax));
        self.at = now;
        let cost = bag.as_ps()
            * i64::from(match charge {
                Charge::Longest => lmax,
                Charge::Own => len,
            });
        let pays = cost <= self.held;
        if pays {
            self.held -= cost;
        }
        pays
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Verdicts of `arinc664.json`, section `policing`: the rules of ARINC 664 part 7 on paper. Lmax 200 B, BAG 2 ms, jitter
    /// 500 us; time `[us]` and length `[byte]` of each frame.
    const ARRIVALS: [(i64, u32); 7] =
        [(0, 200), (1_500, 200), (3_400, 200), (3_500, 200), (5_500, 200), (7_000, 200), (7_001, 100)];

    fn verdicts(charge: Charge) -> [bool; 7] {
        let (bag, jitter) = (Duration::from_ms(2), Duration::from_us(500));
        let mut account = Account::new(Policing { bag, jitter, lmax: 200, charge });
        ARRIVALS.map(|(us, len)| account.pays(SimTime::ZERO + Duration::from_us(us), len))
    }

    #[test]
    fn a_frame_passes_if_the_account_pays_for_it() {
        assert_eq!(verdicts(Charge::Longest), [true, true, false, true, true, false, false]);
        assert_eq!(verdicts(Charge::Own), [true, true, false, true, true, false, true]);
    }

    #[test]
    fn frames_a_gap_apart_pass_for_ever_if_none_is_later_than_the_jitter() {
        let (bag, jitter) = (Duration::from_ms(1), Duration::from_us(300));
        let policing = Policing { bag, jitter, lmax: 1518, charge: Charge::Longest };
        let late = |number: i64| Duration::from_us(number * 7_919 % 301);
        let mut account = Account::new(policing);
        assert!((0..10_000).all(|number| account.pays(SimTime::ZERO + bag * number + late(number), 64)));
        // One that comes a picosecond nearer to one before it than the jitter allows is too much.
        let mut account = Account::new(policing);
        assert!(account.pays(SimTime::ZERO + jitter + Duration::from_ps(1), 64));
        assert!(!account.pays(SimTime::ZERO + bag, 64));
        assert!(account.pays(SimTime::ZERO + bag + Duration::from_ps(1), 64));
    }

    #[test]
    fn a_long_pause_earns_no_more_than_the_account_holds() {
        let (bag, jitter) = (Duration::from_ms(128), Duration::from_ms(10));
        let mut account = Account::new(Policing { bag, jitter, lmax: 1518, charge: Charge::Own });
        let day = SimTime::ZERO + Duration::from_s(86_400);
        assert!(account.pays(day, 1518));
        assert!(!account.pays(day, 1518));
    }
}
