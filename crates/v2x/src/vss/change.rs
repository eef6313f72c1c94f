//! When a station changes its pseudonym: policies, and the clock that applies one.
//!
//! A policy is data. [`ChangeClock`] counts signatures, time and distance since the last change and says when its
//! policy wants the next one; whether it may happen then is the business of [`super::Pool`] and
//! [`super::Layers`], whose locks hold it.

use rand_core::Rng;

/// A value drawn anew for each pseudonym, uniformly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// Least.
    pub min: u64,
    /// Greatest.
    pub max: u64,
}

impl Spread {
    /// Always the same value.
    pub const fn exactly(value: u64) -> Self {
        Self { min: value, max: value }
    }

    /// One of `min..=max`.
    pub const fn between(min: u64, max: u64) -> Self {
        Self { min, max }
    }

    fn draw(self, rng: &mut impl Rng) -> u64 {
        // The bias of a remainder is below 2^-32 for the spans that occur here, seconds and metres.
        self.min + rng.next_u64() % (self.max.saturating_sub(self.min).saturating_add(1)).max(1)
    }
}

/// What has to have happened since the last change: all parts that are there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    /// Signatures made.
    pub signatures: Option<Spread>,
    /// Time passed `[s]`.
    pub time_s: Option<Spread>,
    /// Way driven `[m]`.
    pub distance_m: Option<Spread>,
}

/// Where a change is worth something: somebody has to be there to be confused with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// Anywhere.
    #[default]
    Anywhere,
    /// Where this many other stations are near (density based).
    Crowd {
        /// Stations within the radius that the caller counts by.
        stations_min: u32,
    },
    /// Where somebody drives alike: within a lane's width of the own course and near the own speed (vehicle centric).
    Alike {
        /// Such stations.
        stations_min: u32,
    },
    /// Inside a zone where all change (mix zone).
    MixZone,
}

/// When to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangePolicy {
    /// For the first change after a start; any of these. Empty: as `later`.
    pub first: Vec<Condition>,
    /// For all others; any of these. Empty: never.
    pub later: Vec<Condition>,
    /// Whether the first signature after a long stop is made with a new pseudonym.
    pub on_start: bool,
    /// Where.
    pub place: Place,
    /// How long nothing is sent after a change `[ms]`; none: no silence.
    pub silence_ms: Option<Spread>,
}

/// A stop shorter than this is the same trip (TR 103 415 V2.1.1 clause 5) `[s]`.
pub const STOP_MIN_S: u64 = 600;

/// The policies that have a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Preset {
    /// Never.
    None,
    /// By count and time as the trials of the source: here after 80 signatures or 5 minutes.
    Source,
    /// SCOOP@F: after 40 000 signatures or an hour.
    Scoop,
    /// TR 103 415 older rule: at random between 10 and 30 minutes.
    RandomTime,
    /// TR 103 415 V2.1.1: at the start of a trip, after 800 to 1500 m, then each 2 to 6 minutes and 800 m.
    Segments,
    /// Segments, and silent for 3 to 13 s after each change.
    Silent,
    /// Where five others are near, at least 2 minutes apart.
    Density,
    /// Where somebody drives alike, at least 2 minutes apart.
    VehicleCentric,
    /// In mix zones only.
    MixZone,
}

impl Preset {
    /// All of them, the least private first.
    pub const ALL: [Self; 9] = [
        Self::None,
        Self::Scoop,
        Self::RandomTime,
        Self::Source,
        Self::Segments,
        Self::Density,
        Self::VehicleCentric,
        Self::MixZone,
        Self::Silent,
    ];

    /// Its name in configuration files.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Source => "source",
            Self::Scoop => "scoop",
            Self::RandomTime => "random-time",
            Self::Segments => "segments",
            Self::Silent => "silent",
            Self::Density => "density",
            Self::VehicleCentric => "vehicle-centric",
            Self::MixZone => "mix-zone",
        }
    }

    /// The preset called so.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|preset| preset.name() == name)
    }

    /// What it says.
    pub fn policy(self) -> ChangePolicy {
        let never = ChangePolicy {
            first: Vec::new(),
            later: Vec::new(),
            on_start: false,
            place: Place::Anywhere,
            silence_ms: None,
        };
        let count = |signatures| Condition { signatures: Some(Spread::exactly(signatures)), ..Condition::default() };
        let time = |time_s| Condition { time_s: Some(time_s), ..Condition::default() };
        let apart = vec![time(Spread::exactly(120))];
        match self {
            Self::None => never,
            Self::Source => ChangePolicy { later: vec![count(80), time(Spread::exactly(300))], ..never },
            Self::Scoop => ChangePolicy { later: vec![count(40_000), time(Spread::exactly(3600))], ..never },
            Self::RandomTime => ChangePolicy { later: vec![time(Spread::between(600, 1800))], ..never },
            Self::Segments | Self::Silent => ChangePolicy {
                first: vec![Condition { distance_m: Some(Spread::between(800, 1500)), ..Condition::default() }],
                later: vec![Condition {
                    time_s: Some(Spread::between(120, 360)),
                    distance_m: Some(Spread::exactly(800)),
                    ..Condition::default()
                }],
                on_start: true,
                silence_ms: (self == Self::Silent).then_some(Spread::between(3000, 13_000)),
                ..never
            },
            Self::Density => ChangePolicy { later: apart, place: Place::Crowd { stations_min: 5 }, ..never },
            Self::VehicleCentric => ChangePolicy { later: apart, place: Place::Alike { stations_min: 1 }, ..never },
            Self::MixZone => ChangePolicy { later: vec![time(Spread::exactly(60))], place: Place::MixZone, ..never },
        }
    }
}

/// Who is around, as far as [`Place`] asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// Stations near.
    pub near: u32,
    /// Stations that drive alike.
    pub alike: u32,
    /// Inside a mix zone.
    pub in_mix_zone: bool,
}

impl Place {
    fn is_here(self, around: &Surroundings) -> bool {
        match self {
            Self::Anywhere => true,
            Self::Crowd { stations_min } => around.near >= stations_min,
            Self::Alike { stations_min } => around.alike >= stations_min,
            Self::MixZone => around.in_mix_zone,
        }
    }
}

/// The values drawn for one condition.
#[derive(Clone, Copy, Debug)]
struct Drawn {
    signatures: Option<u64>,
    time_s: Option<u64>,
    distance_m: Option<u64>,
}

/// Counts what a policy counts, and says when it wants a change.
#[derive(Clone, Debug)]
pub struct ChangeClock {
    policy: ChangePolicy,
    drawn: Vec<Drawn>,
    since_us: u64,
    signatures: u64,
    distance_mm: u64,
    /// Until when nothing may be sent `[us]`.
    silent_until_us: u64,
}

impl ChangeClock {
    /// At the start of a trip.
    pub fn new(policy: ChangePolicy, now_us: u64, rng: &mut impl Rng) -> Self {
        let mut clock =
            Self { policy, drawn: Vec::new(), since_us: now_us, signatures: 0, distance_mm: 0, silent_until_us: 0 };
        let is_first = !clock.policy.first.is_empty();
        clock.draw(is_first, rng);
        clock
    }

    fn draw(&mut self, is_first: bool, rng: &mut impl Rng) {
        let conditions = if is_first { &self.policy.first } else { &self.policy.later };
        let mut draw = |spread: Option<Spread>| spread.map(|spread| spread.draw(rng));
        self.drawn = conditions
            .iter()
            .map(|condition| Drawn {
                signatures: draw(condition.signatures),
                time_s: draw(condition.time_s),
                distance_m: draw(condition.distance_m),
            })
            .collect();
    }

    /// The policy it applies.
    pub fn policy(&self) -> &ChangePolicy {
        &self.policy
    }

    /// A signature was made.
    pub fn count_signature(&mut self) {
        self.signatures += 1;
    }

    /// The station has moved on `[mm]`.
    pub fn count_distance(&mut self, distance_mm: u64) {
        self.distance_mm = self.distance_mm.saturating_add(distance_mm);
    }

    /// Signatures since the last change.
    pub fn signatures(&self) -> u64 {
        self.signatures
    }

    /// Whether the policy wants a change now.
    pub fn wants_change(&self, now_us: u64, around: &Surroundings) -> bool {
        let time_s = now_us.saturating_sub(self.since_us) / 1_000_000;
        let distance_m = self.distance_mm / 1000;
        let is_met = |drawn: &Drawn| {
            drawn.signatures.is_none_or(|least| self.signatures >= least)
                && drawn.time_s.is_none_or(|least| time_s >= least)
                && drawn.distance_m.is_none_or(|least| distance_m >= least)
        };
        self.policy.place.is_here(around) && self.drawn.iter().any(is_met)
    }

    /// A change took place, wanted by the policy or not.
    pub fn changed(&mut self, now_us: u64, rng: &mut impl Rng) {
        self.since_us = now_us;
        self.signatures = 0;
        self.distance_mm = 0;
        let silence_ms = self.policy.silence_ms.map_or(0, |silence| silence.draw(rng));
        self.silent_until_us = now_us.saturating_add(silence_ms * 1000);
        self.draw(false, rng);
    }

    /// Until when nothing may be sent `[us]`; in the past if there is no silence.
    pub fn silent_until_us(&self) -> u64 {
        self.silent_until_us
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    fn clock(preset: Preset) -> (ChangeClock, ChaCha8Rng) {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        (ChangeClock::new(preset.policy(), 0, &mut rng), rng)
    }

    const ALONE: Surroundings = Surroundings { near: 0, alike: 0, in_mix_zone: false };
    const S: u64 = 1_000_000;

    #[test]
    fn every_preset_is_found_by_its_name() {
        for preset in Preset::ALL {
            assert_eq!(Preset::from_name(preset.name()), Some(preset));
        }
        assert_eq!(Preset::from_name("nothing"), None);
    }

    #[test]
    fn a_policy_without_conditions_never_changes() {
        let (mut clock, _) = clock(Preset::None);
        for _ in 0..1_000_000 {
            clock.count_signature();
        }
        clock.count_distance(1 << 40);
        assert!(!clock.wants_change(1 << 50, &ALONE));
    }

    #[test]
    fn counts_signatures_or_time_whichever_comes_first() {
        let (mut clock, mut rng) = clock(Preset::Source);
        for _ in 0..79 {
            clock.count_signature();
        }
        assert!(!clock.wants_change(299 * S, &ALONE));
        clock.count_signature();
        assert!(clock.wants_change(0, &ALONE));
        clock.changed(10 * S, &mut rng);
        assert!(!clock.wants_change(309 * S, &ALONE));
        assert!(clock.wants_change(310 * S, &ALONE));
    }

    #[test]
    fn segments_are_800_to_1500_m_first_and_then_both_way_and_time() {
        for seed in 0..200 {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let mut clock = ChangeClock::new(Preset::Segments.policy(), 0, &mut rng);
            clock.count_distance(799_999);
            assert!(!clock.wants_change(10_000 * S, &ALONE));
            clock.count_distance(700_001);
            assert!(clock.wants_change(0, &ALONE));
            clock.changed(0, &mut rng);
            clock.count_distance(800_000);
            assert!(!clock.wants_change(119 * S, &ALONE));
            assert!(clock.wants_change(360 * S, &ALONE));
            clock.changed(360 * S, &mut rng);
            assert!(!clock.wants_change(10_000 * S, &ALONE), "no way was driven");
        }
    }

    #[test]
    fn a_place_holds_a_change_back_until_somebody_is_there() {
        let cases = [
            (Preset::Density, Surroundings { near: 5, ..ALONE }, Surroundings { near: 4, alike: 9, in_mix_zone: true }),
            (Preset::VehicleCentric, Surroundings { alike: 1, ..ALONE }, Surroundings { near: 9, ..ALONE }),
            (Preset::MixZone, Surroundings { in_mix_zone: true, ..ALONE }, Surroundings { near: 9, alike: 9, ..ALONE }),
        ];
        for (preset, here, elsewhere) in cases {
            let (clock, _) = clock(preset);
            assert!(clock.wants_change(1000 * S, &here), "{}", preset.name());
            assert!(!clock.wants_change(1000 * S, &elsewhere), "{}", preset.name());
            assert!(!clock.wants_change(59 * S, &here), "{}", preset.name());
        }
    }

    #[test]
    fn silence_follows_a_change_where_the_policy_has_it() {
        let (mut clock, mut rng) = clock(Preset::Silent);
        assert_eq!(clock.silent_until_us(), 0);
        clock.changed(100 * S, &mut rng);
        assert!((103 * S..=113 * S).contains(&clock.silent_until_us()));
        let (mut clock, mut rng) = self::clock(Preset::Segments);
        clock.changed(100 * S, &mut rng);
        assert!(clock.silent_until_us() <= 100 * S);
    }
}
