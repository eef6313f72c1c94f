//! What a policy hides and what it costs, over several runs with different seeds.

pub use chronoseal_core::statistics::Interval;

use chronoseal_core::Duration;

use crate::eavesdropper::{Coverage, Fields, Score, Tracker, reshuffle};
use crate::simulation::{FleetConfig, FleetOutcome, Safety};

/// One run of one policy.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Trial {
    /// What the eavesdropper put together.
    pub score: Score,
    /// What the changes cost.
    pub safety: Safety,
    /// CAMs sent.
    pub messages: u64,
}

impl Trial {
    /// Scores a run for an eavesdropper that looks at all there is; with a coverage, for one that hears that much of the road.
    pub fn of(config: &FleetConfig, outcome: &FleetOutcome, coverage: Option<Coverage>) -> Self {
        let hears_everything = coverage.is_none() && config.posts.is_empty();
        let tracker = Tracker::against(&config.policy, hears_everything);
        let score = match coverage {
            Some(coverage) => tracker.score(&coverage.of_all(&outcome.heard)),
            None => tracker.score(&outcome.heard),
        };
        Self::with(score, outcome)
    }

    /// The same for one that looks at these fields beside places.
    pub fn by_fields(config: &FleetConfig, outcome: &FleetOutcome, fields: Fields) -> Self {
        let tracker = Tracker { fields, ..Tracker::against(&config.policy, config.posts.is_empty()) };
        Self::with(tracker.score(&outcome.heard), outcome)
    }

    fn with(score: Score, outcome: &FleetOutcome) -> Self {
        let messages = outcome.with_certificate.messages + outcome.with_digest.messages;
        Self { score, safety: outcome.safety, messages }
    }
}

/// Runs of one policy that differ in their seed only.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Evaluation {
    /// One a seed.
    pub trials: Vec<Trial>,
}

impl Evaluation {
    fn shares(&self, count: impl Fn(&Trial) -> (u64, u64)) -> Option<Interval> {
        Interval::of_shares(&self.trials.iter().map(count).collect::<Vec<_>>())
    }

    fn sum(&self, count: impl Fn(&Trial) -> u64) -> u64 {
        self.trials.iter().map(count).sum()
    }

    /// Changes of all runs that could be linked.
    pub fn changes(&self) -> u64 {
        self.sum(|trial| trial.score.changes)
    }

    /// Vehicles of all runs.
    pub fn trips(&self) -> u64 {
        self.sum(|trial| trial.score.trips)
    }

    /// Share of the changes that were linked.
    pub fn changes_linked(&self) -> Option<Interval> {
        self.shares(|trial| (trial.score.changes_linked, trial.score.changes))
    }

    /// Share of the changes that who picks at random among those that time allows would link.
    pub fn linked_by_chance(&self) -> Option<f64> {
        let by_chance: f64 = self.trials.iter().map(|trial| trial.score.linked_by_chance).sum();
        (self.changes() > 0).then(|| by_chance / self.changes() as f64)
    }

    /// On average over the changes, how many begin where and when the vehicle could go on.
    pub fn candidates(&self) -> Option<f64> {
        (self.changes() > 0).then(|| self.sum(|trial| trial.score.candidates) as f64 / self.changes() as f64)
    }

    /// Share of the vehicles that were followed from first to last.
    pub fn trips_linked(&self) -> Option<Interval> {
        self.shares(|trial| (trial.score.trips_linked, trial.score.trips))
    }

    /// The same of those that changed at all.
    pub fn trips_changed_linked(&self) -> Option<Interval> {
        self.shares(|trial| (trial.score.trips_changed_linked, trial.score.trips_changed))
    }

    /// Share of the links that are two vehicles.
    pub fn links_wrong(&self) -> Option<Interval> {
        self.shares(|trial| (trial.score.links_wrong, trial.score.links))
    }

    /// Share of pairs of vehicles near each other of which one had no fresh news of the other.
    pub fn unaware(&self) -> Option<Interval> {
        self.shares(|trial| (trial.safety.looks_unaware, trial.safety.looks))
    }

    /// The same around changes.
    pub fn unaware_around_change(&self) -> Option<Interval> {
        self.shares(|trial| (trial.safety.looks_unaware_around_change, trial.safety.looks_around_change))
    }

    /// Share of vehicles close ahead, in the same lane, of which no warning could come.
    pub fn behind_unaware(&self) -> Option<Interval> {
        self.shares(|trial| (trial.safety.looks_behind_unaware, trial.safety.looks_behind))
    }

    /// CAMs withheld for each change.
    pub fn withheld_per_change(&self) -> Option<f64> {
        let changes = self.sum(|trial| trial.safety.changes);
        (changes > 0).then(|| self.sum(|trial| trial.safety.messages_withheld) as f64 / changes as f64)
    }

    /// Mean of the times for which a neighbour had no fresh news; zero if it always had.
    pub fn gap_mean(&self) -> Duration {
        let gaps = self.sum(|trial| trial.safety.gaps);
        let time = self.trials.iter().fold(Duration::ZERO, |sum, trial| sum + trial.safety.gap_time);
        Duration::from_ps(time.as_ps().checked_div(gaps as i64).unwrap_or(0))
    }

    /// The longest of them.
    pub fn gap_max(&self) -> Duration {
        self.trials.iter().map(|trial| trial.safety.gap_max).max().unwrap_or(Duration::ZERO)
    }
}

/// The control: a run whose places were dealt out at random, and a tracker that looks at no place.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Control {
    /// What the eavesdropper finds when places tell nothing, one a seed.
    pub dealt: Vec<Score>,
    /// What one finds who pairs at random whom time allows, of the same messages.
    pub guessed: Vec<Score>,
}

impl Control {
    /// Adds a run. The tracker has no gate, so that it links whoever can be linked.
    pub fn add(&mut self, config: &FleetConfig, outcome: &FleetOutcome) {
        let mut dealt = outcome.heard.clone();
        reshuffle(&mut dealt, config.seed);
        let tracker = Tracker { gate: None, ..Tracker::against(&config.policy, config.posts.is_empty()) };
        self.dealt.push(tracker.score(&dealt));
        self.guessed.push(Tracker { guesses: Some(config.seed), ..tracker }.score(&outcome.heard));
    }

    /// Shares of changes linked: with dealt places, and by guessing.
    pub fn changes_linked(&self) -> [Option<Interval>; 2] {
        [&self.dealt, &self.guessed].map(|scores| {
            let counts: Vec<_> = scores.iter().map(|score| (score.changes_linked, score.changes)).collect();
            Interval::of_shares(&counts)
        })
    }

    /// True if dealt places give no more and no less than guesses: the difference of the hits is within four standard
    /// deviations of two counts of rare, nearly independent events.
    pub fn is_chance(&self) -> bool {
        let hits = |scores: &[Score]| scores.iter().map(|score| score.changes_linked).sum::<u64>() as f64;
        let (dealt, guessed) = (hits(&self.dealt), hits(&self.guessed));
        libm::fabs(dealt - guessed) <= 4.0 * libm::sqrt(dealt + guessed)
    }
}
