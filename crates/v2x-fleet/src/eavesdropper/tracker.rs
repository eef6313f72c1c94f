//! From messages to tracks.

use std::collections::BTreeMap;

use chronoseal_core::random::{self, Purpose, Rng};
use chronoseal_core::{Duration, SimTime};

use super::assignment::{Pair, assign};
use super::evidence::Evidence;
use super::field::Traits;
use super::kalman::{Estimate, Motion, Vector};
use super::{Field, Fields, Heard, Observation, Score};
use crate::generation;
use crate::policy::{Cooperation, Policy};
use crate::road::State;

/// How the eavesdropper tracks. It knows the policy (A. Kerckhoffs, 1883), so it knows how long a silence can be and
/// whether pseudonyms may pass from one vehicle to another.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tracker {
    /// What it believes of motion and messages. `None`: it learns the motion from what it hears.
    pub motion: Option<Motion>,
    /// Largest squared distance of two estimates of one vehicle. `None`: whatever time allows is possible, and
    /// whoever can be linked is. 23.5 holds all but 10^-4 of the true pairs, if the motion is as believed.
    pub gate: Option<f64>,
    /// Shortest time between the last message under one pseudonym and the first under the next.
    pub gap_min: Duration,
    /// Longest time it looks across.
    pub gap_max: Duration,
    /// What it looks at beside places.
    pub fields: Fields,
    /// True if a vehicle may take up another's pseudonym.
    pub pseudonyms_move: bool,
    /// `Some` seed for one that looks at no place: it links at random whom time allows. What it finds is chance.
    pub guesses: Option<u64>,
}

impl Default for Tracker {
    /// Learns the motion, looks at all fields, has a gate of 23.5, looks across up to 60 s, and takes each pseudonym for one vehicle's.
    fn default() -> Self {
        Self {
            motion: None,
            gate: Some(23.5),
            gap_min: Duration::ZERO,
            gap_max: Duration::from_s(60),
            fields: Fields::ALL,
            pseudonyms_move: false,
            guesses: None,
        }
    }
}

/// What the eavesdropper makes of the messages.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tracks {
    /// Of each message, the tracklet it belongs to: messages surely of one vehicle.
    pub tracklet_of: Vec<usize>,
    /// Of each tracklet, the one it believes to be the same vehicle's next.
    pub next: Vec<Option<usize>>,
    /// Of each tracklet, how many others begin when its next could.
    pub allowed_by_time: Vec<u32>,
    /// Of each tracklet, how many of these begin where its next could, too.
    pub allowed_by_place: Vec<u32>,
    /// Least and greatest time between a tracklet and its next, as the tracker had them.
    pub gap_min: Duration,
    /// See `gap_min`.
    pub gap_max: Duration,
}

/// Messages of one pseudonym without a jump between them, as numbers of messages.
struct Tracklet {
    messages: Vec<usize>,
}

/// A tracklet's two ends: what is known of the vehicle at its first and at its last message.
struct Ends {
    begins_at: SimTime,
    ends_at: SimTime,
    begin: Estimate,
    end: Estimate,
}

/// A pair lies this far below its silence at most: the last message waited for the channel.
const ACCESS_MAX: Duration = Duration::from_ms(50);
/// How long behind a silence the first message comes at the latest: a CAM a second, and its wait.
const FIRST_MESSAGE: Duration = Duration::from_ms(1_200);

impl Tracker {
    /// One that knows the policy. One that `hears_everything` also knows that who is not heard is silent.
    pub fn against(policy: &Policy, hears_everything: bool) -> Self {
        let silence = policy.change.silence_ms;
        let ms = |value: u64| Duration::from_ms(value.min(1 << 40) as i64);
        let pseudonyms_move = policy.cooperation == Cooperation::Swap;
        // In a zone all are silent for as long as it takes them to pass.
        let is_bounded = hears_everything && !matches!(policy.cooperation, Cooperation::MixZones(_));
        let by_default = Self::default();
        let gap_min = silence.map_or(Duration::ZERO, |silence| ms(silence.min));
        Self {
            gap_min: (gap_min - ACCESS_MAX).max(Duration::ZERO),
            gap_max: match is_bounded {
                true => silence.map_or(Duration::ZERO, |silence| ms(silence.max)) + FIRST_MESSAGE,
                false => by_default.gap_max,
            },
            // What moves along with a pseudonym does not say whose it is.
            fields: match pseudonyms_move {
                true => Fields::ALL.without(Field::LinkAddress).without(Field::Ticket),
                false => Fields::ALL,
            },
            pseudonyms_move,
            ..by_default
        }
    }

    /// Follows the messages, which stand in the order of their times.
    pub fn follow(&self, observations: &[Observation]) -> Tracks {
        let (tracklets, tracklet_of) = self.gather(observations);
        let motion = self.motion.unwrap_or_else(|| learn(observations, &tracklets, self.horizon()));
        // A filter that believes in even driving would lag behind who begins to accelerate just then.
        let by_default = Motion::default();
        let lively = Motion {
            along_m2_s3: motion.along_m2_s3.max(by_default.along_m2_s3),
            across_m2_s3: motion.across_m2_s3.max(by_default.across_m2_s3),
            ..motion
        };
        let ends: Vec<Ends> = tracklets.iter().map(|tracklet| Ends::new(tracklet, observations, &lively)).collect();
        self.link(observations, &tracklets, &ends, tracklet_of, &motion)
    }

    /// What it makes of what was heard, held against the truth.
    pub fn score(&self, heard: &[Heard]) -> Score {
        let observations: Vec<Observation> = heard.iter().map(|one| one.observation).collect();
        Score::new(heard, &self.follow(&observations))
    }

    /// Across how much time the motion is learned: as much as it has to be predicted, for drivers are no white noise and wander
    /// further in 20 s than 2 s would tell.
    fn horizon(&self) -> Duration {
        (self.gap_max - FIRST_MESSAGE).clamp(HORIZON_MIN, HORIZON_MAX)
    }

    /// Puts together what has one pseudonym. Where pseudonyms move, one that was silent long enough or jumps begins a
    /// tracklet more.
    fn gather(&self, observations: &[Observation]) -> (Vec<Tracklet>, Vec<usize>) {
        let looks_for_jumps = self.gate.is_some() && self.guesses.is_none();
        let motion = self.motion.unwrap_or_default();
        let silence = if self.gap_min > Duration::ZERO { self.gap_min } else { generation::INTERVAL_MAX + ACCESS_MAX };
        let is_cut = |last: &Observation, now: &Observation| {
            let gap = now.at - last.at;
            let jumps = || {
                let predicted = Estimate::first(vector(last), &motion).predict(gap.as_secs_f64(), &motion);
                predicted.fit(vector(now), &motion).is_none_or(|fit| fit.distance_squared > JUMP)
            };
            self.pseudonyms_move && (gap >= silence || looks_for_jumps && jumps())
        };
        let mut tracklets: Vec<Tracklet> = Vec::new();
        let mut open: BTreeMap<u32, usize> = BTreeMap::new();
        let mut tracklet_of = Vec::with_capacity(observations.len());
        for (number, observation) in observations.iter().enumerate() {
            let index = *open
                .entry(observation.pseudonym)
                .and_modify(|index| {
                    let last = tracklets[*index].messages.last().map(|last| &observations[*last]);
                    if last.is_some_and(|last| is_cut(last, observation)) {
                        *index = tracklets.len();
                    }
                })
                .or_insert(tracklets.len());
            if index == tracklets.len() {
                tracklets.push(Tracklet { messages: Vec::new() });
            }
            tracklets[index].messages.push(number);
            tracklet_of.push(index);
        }
        (tracklets, tracklet_of)
    }

    /// Links ends with beginnings.
    fn link(
        &self,
        observations: &[Observation],
        tracklets: &[Tracklet],
        ends: &[Ends],
        tracklet_of: Vec<usize>,
        motion: &Motion,
    ) -> Tracks {
        let mut guesses = self.guesses.map(|seed| random::stream(seed, Purpose::Attack, 1));
        // Beginnings in the order of their times.
        let mut begins: Vec<usize> = (0..ends.len()).collect();
        begins.sort_by_key(|index| (ends[*index].begins_at, *index));
        let mut allowed_by_time = Vec::with_capacity(ends.len());
        let mut rows: Vec<Vec<Pair>> = Vec::with_capacity(ends.len());
        for (index, end) in ends.iter().enumerate() {
            let first = |at: SimTime| begins.partition_point(|other| ends[*other].begins_at < at);
            // A tracklet that was cut at a jump goes on without a silence.
            let gap_min = if self.pseudonyms_move { Duration::ZERO } else { self.gap_min };
            let from = first(end.ends_at + gap_min.max(Duration::from_ps(1)));
            let until = first(end.ends_at + self.gap_max + Duration::from_ps(1)).max(from);
            allowed_by_time.push((until - from) as u32);
            let last = &observations[tracklets[index].messages[tracklets[index].messages.len() - 1]];
            let pair = |column: usize| {
                let begin = &ends[begins[column]];
                let cost = match &mut guesses {
                    Some(rng) => f64::from(rng.next_u32()),
                    None => {
                        let first = &observations[tracklets[begins[column]].messages[0]];
                        self.cost(end, last, begin, first, motion)?
                    }
                };
                Some(Pair { column, cost })
            };
            rows.push((from..until).filter_map(pair).collect());
        }
        let next = self.pair(observations, tracklets, &rows, &begins);
        Tracks {
            tracklet_of,
            next,
            allowed_by_time,
            allowed_by_place: rows.iter().map(|row| row.len() as u32).collect(),
            gap_min: if self.pseudonyms_move { Duration::ZERO } else { self.gap_min },
            gap_max: self.gap_max,
        }
    }

    /// Pairs by places, learns from that what else agrees across a change, and pairs again by all of it.
    fn pair(
        &self,
        observations: &[Observation],
        tracklets: &[Tracklet],
        rows: &[Vec<Pair>],
        begins: &[usize],
    ) -> Vec<Option<usize>> {
        let assigned = |rows: &[Vec<Pair>]| -> Vec<Option<usize>> {
            let chosen = assign(rows, begins.len(), ALONE).into_iter();
            chosen.map(|column| column.map(|column| begins[column])).collect()
        };
        let mut next = assigned(rows);
        if self.guesses.is_some() || self.fields == Fields::NONE {
            return next;
        }
        let messages = |tracklet: &Tracklet| Traits::of(tracklet.messages.iter().map(|number| &observations[*number]));
        let traits: Vec<Traits> = tracklets.iter().map(messages).collect();
        for _ in 0..PASSES {
            let Some(evidence) = Evidence::learned(self.fields, &traits, &next) else { break };
            let weighed = |(index, row): (usize, &Vec<Pair>)| -> Vec<Pair> {
                let cost = |pair: &Pair| pair.cost + evidence.cost(&traits[index], &traits[begins[pair.column]]);
                row.iter().map(|pair| Pair { cost: cost(pair), ..*pair }).collect()
            };
            next = assigned(&rows.iter().enumerate().map(weighed).collect::<Vec<_>>());
        }
        next
    }

    /// Minus twice the log-likelihood that a vehicle goes on so, but for a constant; `None` if it does not.
    fn cost(&self, end: &Ends, last: &Observation, begin: &Ends, first: &Observation, motion: &Motion) -> Option<f64> {
        if self.fields.has(Field::Dimensions)
            && let (Some(one), Some(other)) = (last.dimensions, first.dimensions)
            && one != other
        {
            return None;
        }
        // A pseudonym that was cut by mistake is its own continuation in any case.
        let gate = self.gate.filter(|_| last.pseudonym != first.pseudonym);
        let predicted = end.end.predict((begin.begins_at - end.ends_at).as_secs_f64(), motion);
        if gate.is_some_and(|gate| predicted.distance_squared_least(&begin.begin) > gate) {
            return None;
        }
        let fit = predicted.against(&begin.begin)?;
        gate.is_none_or(|gate| fit.distance_squared <= gate).then_some(fit.distance_squared + fit.log_determinant)
    }
}

/// Squared distance from one message to the next that driving explains once in 10^4 times. What is cut for nothing is its own
/// continuation, and nearly always linked again.
const JUMP: f64 = 23.5;
/// How many times it learns from its links and links again: the first time by places alone it may be right in half of them,
/// and what it learned then makes the next better.
const PASSES: usize = 3;
/// More than any pair costs: as many pairs as possible, of these the best.
const ALONE: f64 = 1e12;
/// What is further from an end of a tracklet says nothing of it `[s]`: drivers have long accelerated since.
const MEMORY: Duration = Duration::from_s(3);

impl Ends {
    fn new(tracklet: &Tracklet, observations: &[Observation], motion: &Motion) -> Self {
        let message = |number: usize| &observations[number];
        let messages = &tracklet.messages;
        let (begins_at, ends_at) = (message(messages[0]).at, message(messages[messages.len() - 1]).at);
        let head = messages.iter().map(|number| message(*number)).take_while(|one| one.at <= begins_at + MEMORY);
        let tail = messages.iter().rev().map(|number| message(*number)).take_while(|one| one.at >= ends_at - MEMORY);
        Self { begins_at, ends_at, begin: estimate_at_first(head, motion), end: estimate_at_first(tail, motion) }
    }
}

/// What several messages say of the vehicle at the time of the first of them, which is an end: they stand in the order of
/// their times or against it, and are taken in from the other end on.
fn estimate_at_first<'a>(messages: impl Iterator<Item = &'a Observation>, motion: &Motion) -> Estimate {
    let messages: Vec<&Observation> = messages.collect();
    let mut estimate = Estimate::first(vector(messages[messages.len() - 1]), motion);
    for pair in messages.windows(2).rev() {
        let [to, from] = [pair[0], pair[1]];
        let predicted = estimate.predict((to.at - from.at).as_secs_f64(), motion);
        estimate = predicted.update(vector(to), motion).unwrap_or_else(|| Estimate::first(vector(to), motion));
    }
    estimate
}

/// Across so much time the motion is learned, at least and at most, and from so many samples.
const HORIZON_MIN: Duration = Duration::from_s(3);
const HORIZON_MAX: Duration = Duration::from_s(20);
const SAMPLES_MIN: usize = 30;
const SAMPLES_MAX: usize = 500;
/// Nobody drives more evenly than this `[m^2/s^3]`.
const DENSITY_MIN: f64 = 0.01;

impl Motion {
    /// What can be learned from messages that stand in the order of their times, if each pseudonym is one vehicle's, to
    /// predict `horizon` ahead.
    pub fn learned(observations: &[Observation], horizon: Duration) -> Self {
        let tracker = Tracker::default();
        learn(observations, &tracker.gather(observations).0, horizon)
    }
}

/// Learns how much vehicles accelerate from stretches within one pseudonym: how far a place is from where it was
/// predicted `horizon` before, beyond what the errors of both estimates explain, is q h^3 / 3. With too few stretches
/// it is the default.
fn learn(observations: &[Observation], tracklets: &[Tracklet], horizon: Duration) -> Motion {
    let by_default = Motion::default();
    let even = Motion { along_m2_s3: 0.0, across_m2_s3: 0.0, ..by_default };
    let (mut along, mut across, mut samples) = (0.0, 0.0, 0);
    for tracklet in tracklets {
        let mut from = 0;
        let messages = &tracklet.messages;
        while samples < SAMPLES_MAX {
            let Some(begins_at) = messages.get(from).map(|number| observations[*number].at) else { break };
            let at = |span: Duration| messages.partition_point(|number| observations[*number].at < begins_at + span);
            // Memory, horizon, memory.
            let (middle, end) = (at(MEMORY), at(MEMORY + horizon));
            let last = at(MEMORY + horizon + MEMORY);
            let (Some(middle_number), Some(end_number)) = (messages.get(middle), messages.get(end)) else { break };
            let span_s = (observations[*end_number].at - observations[*middle_number].at).as_secs_f64();
            let before = messages[from..=middle].iter().rev().map(|number| &observations[*number]);
            let after = messages[end..last.max(end + 1)].iter().map(|number| &observations[*number]);
            let predicted = estimate_at_first(before, &by_default).predict(span_s, &even);
            let excess = predicted.excess(&estimate_at_first(after, &by_default));
            let scale = 3.0 / (span_s * span_s * span_s);
            along += excess[0] * scale;
            across += excess[1] * scale;
            samples += 1;
            from = end;
        }
    }
    if samples < SAMPLES_MIN {
        return by_default;
    }
    let mean = |sum: f64| (sum / samples as f64).max(DENSITY_MIN);
    Motion { along_m2_s3: mean(along), across_m2_s3: mean(across), ..by_default }
}

fn vector(observation: &Observation) -> Vector {
    let State { x_m, y_m, speed_m_s, heading_deg, .. } = observation.state;
    let (sin, cos) = libm::sincos(heading_deg.to_radians());
    [x_m, y_m, speed_m_s * sin, speed_m_s * cos]
}
