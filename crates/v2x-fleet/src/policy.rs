//! When a vehicle takes up a new pseudonym, with whom, and how long it says nothing then.
//!
//! When is [`chronoseal_v2x::vss::ChangePolicy`]'s business, as in a station on the road. What is added here is what vehicles
//! do together: zones in which all are silent, and exchange of pseudonyms.

use chronoseal_core::random::{self, ChaCha8Rng, Purpose};
use chronoseal_core::{Duration, LocalTime};
use chronoseal_v2x::vss::{ChangeClock, ChangePolicy, Condition, Place, Preset, Spread, Surroundings};

use crate::road::State;

/// What vehicles do together.
#[derive(Clone, PartialEq, Debug)]
pub enum Cooperation {
    /// Nothing.
    Alone,
    /// They say nothing within these zones: centre, east and north, and radius of each `[m]`.
    MixZones(Vec<[f64; 3]>),
    /// Instead of a new pseudonym a vehicle takes the nearest neighbour's, which takes its own, if a coin says so; both
    /// are silent.
    Swap,
    /// Who changes takes along all neighbours it has heard of: each takes a new pseudonym at the same moment.
    Together,
    /// All vehicles change when the common time is a multiple of the period, whatever else the policy counts.
    AtOnce {
        /// [`Duration`] between two such moments.
        period: Duration,
    },
}

/// A strategy.
#[derive(Clone, PartialEq, Debug)]
pub struct Policy {
    /// As shown to people.
    pub name: String,
    /// When.
    pub change: ChangePolicy,
    /// With whom.
    pub cooperation: Cooperation,
}

impl From<Preset> for Policy {
    fn from(preset: Preset) -> Self {
        Self { name: preset.name().into(), change: preset.policy(), cooperation: Cooperation::Alone }
    }
}

impl Policy {
    /// [`Preset::MixZone`] with silence in the zones.
    pub fn mix_zones(zones: Vec<[f64; 3]>) -> Self {
        Self { cooperation: Cooperation::MixZones(zones), ..Self::from(Preset::MixZone) }
    }

    /// Exchange between neighbours (ETSI TR 103 415 V2.1.1 gives no figures; these are ours): where a neighbour is near,
    /// a minute apart, silent for 1 s to 3 s.
    pub fn swap() -> Self {
        let change = ChangePolicy {
            later: vec![Condition { time_s: Some(Spread::exactly(60)), ..Condition::default() }],
            place: Place::Crowd { stations_min: 1 },
            silence_ms: Some(Spread::between(1_000, 3_000)),
            ..Preset::None.policy()
        };
        Self { name: "swap".into(), change, cooperation: Cooperation::Swap }
    }

    /// As [`Preset::Segments`], and all neighbours change at the same moment: a mix context, wherever somebody wants one.
    ///
    /// # Source
    /// Y. Pan, J. Li, Cooperative pseudonym change scheme based on the number of neighbors in VANETs, Journal of Network and
    /// Computer Applications 36 (2013) 1599-1609: who wants to change says so, and those around it change as well.
    pub fn together() -> Self {
        Self { name: "together".into(), cooperation: Cooperation::Together, ..Self::from(Preset::Segments) }
    }

    /// All at full minutes of the common time.
    ///
    /// # Source
    /// J. Liao, J. Li, Effectively changing pseudonyms for privacy protection in VANETs, ISPAN 2009: pseudonyms change
    /// synchronously. The period is ours.
    pub fn at_once() -> Self {
        let period = Duration::from_s(60);
        Self { name: "at-once".into(), cooperation: Cooperation::AtOnce { period }, ..Self::from(Preset::None) }
    }

    /// The same with silence of this length after each change, which its name says. Zero is none.
    #[must_use]
    pub fn with_silence(mut self, silence: Spread) -> Self {
        let seconds = |ms: u64| ms as f64 / 1000.0;
        self.name = match (silence.min, silence.max) {
            (_, 0) => format!("{}, no silence", self.name),
            (min, max) if min == max => format!("{}, {} s silent", self.name, seconds(max)),
            (min, max) => format!("{}, {} to {} s silent", self.name, seconds(min), seconds(max)),
        };
        self.change.silence_ms = (silence.max > 0).then_some(silence);
        self
    }

    /// Whether it takes notice of neighbours.
    pub fn asks_for_neighbours(&self) -> bool {
        matches!(self.change.place, Place::Crowd { .. } | Place::Alike { .. }) || self.agrees()
    }

    /// Whether stations agree with others on a change, off the air.
    pub const fn agrees(&self) -> bool {
        matches!(self.cooperation, Cooperation::Swap | Cooperation::Together)
    }

    /// Every preset, with mix zones at the places given, and what is added here.
    pub fn presets(zones: &[[f64; 3]]) -> Vec<Self> {
        let of = |preset| match preset {
            Preset::MixZone => Self::mix_zones(zones.to_vec()),
            _ => Self::from(preset),
        };
        Preset::ALL.into_iter().map(of).chain([Self::swap(), Self::together(), Self::at_once()]).collect()
    }
}

/// What a vehicle does about its pseudonym now.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Decision {
    /// Takes up another one.
    pub change: Option<Change>,
    /// Says nothing at this place.
    pub is_hushed: bool,
}

/// Another pseudonym.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Change {
    /// How long it says nothing.
    pub silence: Duration,
    /// Who takes part.
    pub with: Company,
}

/// Who takes part in a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Company {
    /// Nobody else.
    #[default]
    Nobody,
    /// The nearest neighbour, in an exchange.
    Nearest,
    /// All neighbours.
    Neighbours,
}

/// Neighbours, as far as a policy asks for them.
pub trait Neighbourhood {
    /// Others near.
    fn near(&self) -> u32;
    /// Others that drive alike: on the same course, about as fast.
    fn alike(&self) -> u32;
}

/// One vehicle's strategy, and where it stands in it.
#[derive(Debug)]
pub struct Changer {
    clock: ChangeClock,
    cooperation: Cooperation,
    rng: ChaCha8Rng,
    last: Option<State>,
    /// Number of the common period it was last seen in.
    period: i64,
}

impl Changer {
    /// A vehicle that appears at `now`; `index` tells its chances from others'.
    ///
    /// One that `is_under_way` has had its pseudonym for some time: for part of what its policy waits at least, at random.
    /// Else all that are on a road when a record begins would change in step.
    pub fn new(policy: &Policy, seed: u64, index: u64, now: LocalTime, is_under_way: bool) -> Self {
        let mut rng = random::stream(seed, Purpose::Phase, CHANGER_STREAMS + index);
        let conditions = if policy.change.first.is_empty() { &policy.change.later } else { &policy.change.first };
        let least = |value: fn(&Condition) -> Option<Spread>| {
            conditions.iter().filter_map(value).map(|spread| spread.min).min().filter(|_| is_under_way).unwrap_or(0)
        };
        let [time_s, distance_m, signatures] = [
            least(|condition| condition.time_s),
            least(|condition| condition.distance_m),
            least(|condition| condition.signatures),
        ];
        let mut part = |of: u64| random::uniform_i64(&mut rng, 0, i64::try_from(of).unwrap_or(i64::MAX)) as u64;
        let age_us = part(time_s.min(EPOCH_S) * 1_000_000);
        let (distance_mm, signatures) = (part(distance_m * 1_000), part(signatures));
        let mut clock = ChangeClock::new(policy.change.clone(), microseconds(now) - age_us, &mut rng);
        clock.count_distance(distance_mm);
        (0..signatures).for_each(|_| clock.count_signature());
        let mut changer = Self { clock, cooperation: policy.cooperation.clone(), rng, last: None, period: 0 };
        changer.period = changer.period_at(now);
        changer
    }

    fn period_at(&self, now: LocalTime) -> i64 {
        match self.cooperation {
            Cooperation::AtOnce { period } if period > Duration::ZERO => now.since_zero().div_floor(period),
            _ => 0,
        }
    }

    /// A message was signed.
    pub fn count_message(&mut self) {
        self.clock.count_signature();
    }

    /// What to do now. A change decided here counts as done.
    pub fn decide(&mut self, now: LocalTime, state: &State, neighbours: &dyn Neighbourhood) -> Decision {
        if let Some(last) = self.last.replace(*state) {
            self.clock.count_distance(libm::round(last.distance_m(state) * 1000.0) as u64);
        }
        let is_hushed = match &self.cooperation {
            Cooperation::MixZones(zones) => zones.iter().any(|zone| is_within(zone, state)),
            _ => false,
        };
        let period = self.period_at(now);
        let last_period = std::mem::replace(&mut self.period, period);
        // Who is around is counted only where it matters.
        let crowd = Surroundings { near: u32::MAX, alike: u32::MAX, in_mix_zone: is_hushed };
        let is_time = self.clock.wants_change(microseconds(now), &crowd);
        let is_place = match self.clock.policy().place {
            Place::Crowd { stations_min } => is_time && neighbours.near() >= stations_min,
            Place::Alike { stations_min } => is_time && neighbours.alike() >= stations_min,
            Place::Anywhere | Place::MixZone => is_time,
        };
        let wants_change = is_place || period > last_period;
        Decision { change: wants_change.then(|| self.change(now)), is_hushed }
    }

    /// Takes up another pseudonym, wanted by the policy or asked for by a neighbour.
    pub fn change(&mut self, now: LocalTime) -> Change {
        let now_us = microseconds(now);
        self.clock.changed(now_us, &mut self.rng);
        let silent_us = self.clock.silent_until_us().saturating_sub(now_us);
        let with = match self.cooperation {
            Cooperation::Swap => Company::Nearest,
            Cooperation::Together => Company::Neighbours,
            Cooperation::Alone | Cooperation::MixZones(_) | Cooperation::AtOnce { .. } => Company::Nobody,
        };
        Change { silence: Duration::from_us(silent_us as i64), with }
    }

    /// Tosses a coin.
    pub fn coin(&mut self) -> bool {
        random::uniform_i64(&mut self.rng, 0, 1) == 1
    }
}

/// Streams of the phase purpose below belong to the roads.
const CHANGER_STREAMS: u64 = 1 << 32;

/// A policy's clock starts so long before the record, so that a pseudonym may be older than it `[s]`.
const EPOCH_S: u64 = 1 << 20;

fn microseconds(now: LocalTime) -> u64 {
    EPOCH_S * 1_000_000 + (now.as_ps() / 1_000_000).unsigned_abs()
}

fn is_within([x_m, y_m, radius_m]: &[f64; 3], state: &State) -> bool {
    libm::hypot(state.x_m - x_m, state.y_m - y_m) <= *radius_m
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Few(u32);
    impl Neighbourhood for Few {
        fn near(&self) -> u32 {
            self.0
        }
        fn alike(&self) -> u32 {
            self.0
        }
    }

    /// Decisions other than to go on, with their times `[s]`, of a vehicle at 20 m/s that asks every 100 ms.
    fn decisions(policy: &Policy, seconds: i64, neighbours: u32) -> Vec<(f64, Decision)> {
        let mut changer = Changer::new(policy, 1, 0, LocalTime::ZERO, false);
        let mut decisions = Vec::new();
        for tick in 0..seconds * 10 {
            let s = tick as f64 / 10.0;
            let state = State { x_m: 20.0 * s, speed_m_s: 20.0, heading_deg: 90.0, ..State::default() };
            changer.count_message();
            let decision = changer.decide(LocalTime::ZERO + Duration::from_ms(tick * 100), &state, &Few(neighbours));
            if decision != Decision::default() {
                decisions.push((s, decision));
            }
        }
        decisions
    }

    #[test]
    fn counts_and_ways_are_the_vehicles() {
        let seen = decisions(&Preset::Source.into(), 20, 0);
        assert_eq!(seen.iter().map(|one| one.0).collect::<Vec<_>>(), [7.9, 15.9], "80 signatures");
        // 800 to 1500 m at 20 m/s are 40 to 75 s.
        let seen = decisions(&Preset::Silent.into(), 76, 0);
        assert!((40.0..=75.1).contains(&seen[0].0), "{seen:?}");
        let silence = seen[0].1.change.expect("a change").silence;
        assert!((Duration::from_s(3)..=Duration::from_s(13)).contains(&silence));
    }

    #[test]
    fn company_is_needed() {
        assert_eq!(decisions(&Preset::Density.into(), 130, 4), []);
        assert_eq!(decisions(&Preset::Density.into(), 130, 5).len(), 1);
        assert_eq!(decisions(&Preset::VehicleCentric.into(), 130, 0), []);
        assert_eq!(decisions(&Preset::VehicleCentric.into(), 130, 1).len(), 1);
        let seen = decisions(&Policy::swap(), 65, 1);
        assert_eq!(seen[0].1.change.expect("a change").with, Company::Nearest);
    }

    #[test]
    fn at_once_is_at_full_minutes() {
        let seen = decisions(&Policy::at_once().with_silence(Spread::exactly(5_000)), 130, 0);
        assert_eq!(seen.iter().map(|one| one.0).collect::<Vec<_>>(), [60.0, 120.0]);
        assert_eq!(seen[0].1.change, Some(Change { silence: Duration::from_s(5), with: Company::Nobody }));
    }

    #[test]
    fn who_is_under_way_does_not_change_in_step() {
        let first_at = |index| {
            let mut changer = Changer::new(&Preset::Density.into(), 1, index, LocalTime::ZERO, true);
            let state = State::default();
            (0..130).find(|s| changer.decide(LocalTime::ZERO + Duration::from_s(*s), &state, &Few(9)).change.is_some())
        };
        let mut times: Vec<i64> = (0..50).filter_map(first_at).collect();
        times.sort_unstable();
        assert_eq!(times.len(), 50, "within two minutes all have changed");
        assert!(times[5] < 40 && times[45] > 80, "spread over two minutes: {times:?}");
    }

    #[test]
    fn a_silence_is_in_the_name() {
        let policy = Policy::together().with_silence(Spread::between(3_000, 13_000));
        assert_eq!(policy.name, "together, 3 to 13 s silent");
        let none = policy.clone().with_silence(Spread::exactly(0));
        assert_eq!(none.change.silence_ms, None);
    }

    #[test]
    fn a_zone_hushes_and_lets_go_as_another() {
        // Reaches 1900 m at 95 s and 2100 m at 105 s.
        let seen = decisions(&Policy::mix_zones(vec![[2_000.0, 0.0, 100.0]]), 120, 0);
        assert!(seen.iter().all(|one| one.1.is_hushed));
        assert_eq!((seen[0].0, seen[seen.len() - 1].0), (95.0, 105.0));
        let changes: Vec<_> = seen.iter().filter(|one| one.1.change.is_some()).map(|one| one.0).collect();
        assert_eq!(changes, [95.0], "once, and out of everybody's hearing");
    }

    #[test]
    fn every_preset_is_there() {
        let names: Vec<_> = Policy::presets(&[]).into_iter().map(|policy| policy.name).collect();
        assert_eq!(names.len(), Preset::ALL.len() + 3);
        assert!(["swap", "together", "at-once", "segments"].iter().all(|name| names.iter().any(|one| one == name)));
    }
}
