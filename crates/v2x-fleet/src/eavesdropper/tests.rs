//! Trackers on traffic made by hand, where the truth is known.

use chronoseal_core::random::{self, Purpose};
use chronoseal_core::{Duration, SimTime};

use super::*;

fn at(ms: i64) -> SimTime {
    SimTime::ZERO + Duration::from_ms(ms)
}

/// Vehicles on a road to the east, `gap_m` apart on one lane, at 30 m/s, each with a new pseudonym after every
/// `change_ms`, all at once, followed by `silence_ms` without a message; 10 messages a second.
fn convoy(vehicles: usize, gap_m: f64, change_ms: i64, silence_ms: i64, duration_ms: i64) -> Vec<Heard> {
    let mut heard = Vec::new();
    for tick in 0..duration_ms / 100 {
        let ms = tick * 100;
        if ms >= change_ms && ms % change_ms < silence_ms {
            continue;
        }
        for vehicle in 0..vehicles {
            let x_m = vehicle as f64 * gap_m + 30.0 * ms as f64 / 1000.0;
            let state = State { x_m, speed_m_s: 30.0, heading_deg: 90.0, ..State::default() };
            let pseudonym = (vehicle as i64 + ms / change_ms * 1000) as u32;
            let observation = Observation { at: at(ms), pseudonym, state, dimensions: None, trace: None };
            heard.push(Heard { observation, vehicle });
        }
    }
    heard
}

fn score(heard: &[Heard], tracker: &Tracker) -> Score {
    tracker.score(heard)
}

#[test]
fn without_changes_every_trip_is_linked() {
    let score = score(&convoy(20, 25.0, 1_000_000, 0, 10_000), &Tracker::default());
    assert_eq!((score.trips, score.trips_linked, score.changes, score.links_wrong), (20, 20, 0, 0));
    assert_eq!(
        (score.trips_linked_ppm(), score.changes_linked_ppm(), score.followed_ppm),
        (1_000_000, None, 1_000_000)
    );
}

#[test]
fn a_change_without_silence_hides_nobody() {
    let score = score(&convoy(20, 25.0, 5_000, 0, 30_000), &Tracker::default());
    assert_eq!((score.changes, score.changes_linked, score.links_wrong), (100, 100, 0));
    assert_eq!(score.trips_linked, 20);
}

#[test]
fn places_dealt_out_at_random_leave_chance() {
    // All change at once, so each of 40 ends has 40 beginnings right behind it; nothing tells which.
    let vehicles = 40;
    let tracker = Tracker { gate: None, gap_max: Duration::from_ms(1_000), ..Tracker::default() };
    let (mut linked, mut changes, mut guessed, mut by_chance) = (0, 0, 0, 0.0);
    for seed in 0..8 {
        let mut heard = convoy(vehicles, 25.0, 2_000, 0, 42_000);
        reshuffle(&mut heard, seed);
        let score = score(&heard, &tracker);
        linked += score.changes_linked;
        changes += score.changes;
        by_chance += score.linked_by_chance;
        let guesses = Tracker { guesses: Some(seed), ..tracker };
        guessed += self::score(&heard, &guesses).changes_linked;
    }
    assert_eq!(changes, 8 * 20 * 40);
    // A random permutation keeps one on average, with variance one: 160 of 6400, give or take 4 deviations of 12.6.
    assert!((by_chance - 160.0).abs() < 1e-9, "by count of those that time allows: {by_chance}");
    assert!((110..=210).contains(&linked), "{linked} of {changes}");
    assert!((110..=210).contains(&guessed), "who looks at nothing finds as much: {guessed}");
}

#[test]
fn the_same_places_not_dealt_out_are_all_linked() {
    let tracker = Tracker { gate: None, gap_max: Duration::from_ms(1_000), ..Tracker::default() };
    let score = score(&convoy(40, 25.0, 2_000, 0, 42_000), &tracker);
    assert_eq!((score.changes_linked, score.changes), (800, 800));
}

#[test]
fn reshuffling_keeps_what_it_deals_out() {
    let before = convoy(5, 25.0, 2_000, 0, 4_000);
    let mut after = before.clone();
    reshuffle(&mut after, 1);
    assert_ne!(before, after);
    let places = |heard: &[Heard]| {
        let mut places: Vec<_> = heard.iter().map(|one| one.observation.state.x_m.to_bits()).collect();
        places.sort_unstable();
        places
    };
    assert_eq!(places(&before), places(&after));
    let rest = |heard: &[Heard]| heard.iter().map(|one| (one.observation.at, one.vehicle)).collect::<Vec<_>>();
    assert_eq!(rest(&before), rest(&after));
}

/// 60 vehicles that all change at 10 s, say nothing for so long and pass each other meanwhile.
pub(super) fn passing(silence_ms: i64) -> Vec<Heard> {
    let mut rng = random::stream(3, Purpose::Phase, 0);
    let speeds: Vec<f64> = (0..60).map(|_| 25.0 + random::uniform_i64(&mut rng, 0, 100) as f64 / 10.0).collect();
    let mut heard = convoy(60, 5.0, 10_000, silence_ms, 20_000);
    for one in &mut heard {
        // Everybody takes up a new speed, evenly within the 3 s after the change.
        let (s, gained_m_s) = (one.observation.at.since_zero().as_secs_f64(), speeds[one.vehicle] - 30.0);
        let since = (s - 10.0).max(0.0);
        let (rising, risen) = (since.min(3.0), (since - 3.0).max(0.0));
        let ahead_m = gained_m_s * (rising * rising / 6.0 + risen);
        one.observation.state.x_m = one.vehicle as f64 * 5.0 + 30.0 * s + ahead_m;
        one.observation.state.speed_m_s = 30.0 + gained_m_s * rising / 3.0;
    }
    heard
}

#[test]
fn silence_among_many_hides_some() {
    let linked = [0, 8_000].map(|silence_ms| score(&passing(silence_ms), &Tracker::default()).changes_linked);
    assert_eq!(linked[0], 60, "no silence, no doubt");
    assert!(linked[1] < 50, "{} of 60 after 8 s", linked[1]);
}

#[test]
fn a_size_tells_vehicles_apart() {
    // Two vehicles side by side exchange places while nobody speaks.
    let heard = |tells: bool| {
        let mut heard = convoy(2, 0.0, 5_000, 3_000, 10_000);
        for one in &mut heard {
            let before = one.observation.at < at(5_000);
            one.observation.state.y_m = if (one.vehicle == 0) == before { 0.0 } else { 2.0 };
            let dimensions = Dimensions { length_dm: 40 + one.vehicle as u16 * 80, width_dm: 20 };
            one.observation.dimensions = tells.then_some(dimensions);
        }
        heard
    };
    assert_eq!(score(&heard(false), &Tracker::default()).changes_linked, 0, "it believes they kept their lanes");
    assert_eq!(score(&heard(true), &Tracker::default()).changes_linked, 2);
}

#[test]
fn a_pseudonym_that_jumps_is_two_vehicles_where_pseudonyms_move() {
    // A swap without silence: two vehicles 200 m apart exchange their pseudonyms.
    let mut heard = convoy(2, 200.0, 1_000_000, 0, 10_000);
    for one in heard.iter_mut().filter(|one| one.observation.at >= at(5_000)) {
        one.observation.pseudonym = 1 - one.observation.pseudonym;
    }
    let knows = Tracker { pseudonyms_move: true, ..Tracker::default() };
    let found = score(&heard, &knows);
    assert_eq!((found.changes, found.changes_linked, found.links_wrong), (2, 2, 0));
    let fooled = score(&heard, &Tracker::default());
    assert_eq!((fooled.changes, fooled.changes_linked, fooled.trips_linked), (2, 0, 0), "the truth stays two changes");
}

#[test]
fn a_swap_in_silence_is_seen_through_by_who_looks_at_places() {
    // Two vehicles 100 m apart are silent for 2 s and come back with each other's pseudonyms.
    let mut heard = convoy(2, 100.0, 1_000_000, 0, 10_000);
    heard.retain(|one| !(at(5_000)..at(7_000)).contains(&one.observation.at));
    for one in heard.iter_mut().filter(|one| one.observation.at >= at(7_000)) {
        one.observation.pseudonym = 1 - one.observation.pseudonym;
    }
    let score = score(&heard, &Tracker { pseudonyms_move: true, ..Tracker::default() });
    assert_eq!((score.changes, score.changes_linked, score.links_wrong), (2, 2, 0));
}

#[test]
fn what_a_tracker_breaks_is_no_change() {
    // One vehicle, one pseudonym, but it leaps 500 m: the tracker may lose it, and the truth is still no change.
    let mut heard = convoy(1, 0.0, 1_000_000, 0, 10_000);
    for one in heard.iter_mut().filter(|one| one.observation.at >= at(5_000)) {
        one.observation.state.x_m += 500.0;
    }
    let score = score(&heard, &Tracker { pseudonyms_move: true, ..Tracker::default() });
    assert_eq!((score.changes, score.trips_changed, score.linked_by_chance), (0, 0, 0.0));
    assert_eq!(score.trips_linked, 1, "its own continuation passes the gate");
}

#[test]
fn few_vehicles_and_gaps_are_no_trouble() {
    // One vehicle heard once; one heard under two pseudonyms, once each; one beyond the longest gap.
    let heard = |ms: i64, vehicle: usize, pseudonym: u32| {
        let state = State { x_m: 30.0 * ms as f64 / 1e3, speed_m_s: 30.0, heading_deg: 90.0, ..State::default() };
        Heard { observation: Observation { at: at(ms), pseudonym, state, dimensions: None, trace: None }, vehicle }
    };
    let once = score(&[heard(0, 0, 1)], &Tracker::default());
    assert_eq!((once.trips, once.trips_linked, once.changes, once.followed_ppm), (1, 1, 0, 1_000_000));
    let twice = score(&[heard(0, 0, 1), heard(100, 0, 2)], &Tracker::default());
    assert_eq!((twice.changes, twice.changes_linked, twice.linked_by_chance), (1, 1, 1.0), "nobody else is there");
    let far = score(&[heard(0, 0, 1), heard(61_000, 0, 2)], &Tracker::default());
    assert_eq!((far.changes, far.changes_linked, far.linked_by_chance), (1, 0, 0.0));
}

#[test]
fn a_silence_known_to_last_rules_out_who_begins_too_early() {
    let known = Tracker { gap_min: Duration::from_s(3), gap_max: Duration::from_s(4), ..Tracker::default() };
    // Silent for 3 s, all at once: 100 ms more with the message before.
    let all = score(&convoy(10, 25.0, 5_000, 3_000, 30_000), &known);
    assert_eq!((all.changes, all.changes_linked), (50, 50));
    let none = score(&convoy(10, 25.0, 5_000, 2_000, 30_000), &known);
    assert_eq!((none.changes, none.changes_linked, none.linked_by_chance), (50, 0, 0.0));
}

#[test]
fn motion_is_learned_from_who_keeps_a_pseudonym() {
    // Accelerations drawn anew each second, as white as steps of a second are: q = a^2 * 1 s.
    let mut rng = random::stream(5, Purpose::Phase, 0);
    let mut heard = Vec::new();
    for vehicle in 0..40 {
        let (mut x_m, mut speed_m_s, mut acceleration_m_s2) = (1_000.0 * vehicle as f64, 25.0, 0.0);
        for tick in 0..300 {
            if tick % 10 == 0 {
                acceleration_m_s2 = if random::uniform_i64(&mut rng, 0, 1) == 0 { 0.8 } else { -0.8 };
            }
            x_m += speed_m_s * 0.1;
            speed_m_s += acceleration_m_s2 * 0.1;
            let state = State { x_m, speed_m_s, heading_deg: 90.0, ..State::default() };
            let observation =
                Observation { at: at(tick * 100), pseudonym: vehicle as u32, state, dimensions: None, trace: None };
            heard.push(observation);
        }
    }
    heard.sort_by_key(|one| one.at);
    let motion = Motion::learned(&heard, Duration::from_s(5));
    assert!((0.4..1.0).contains(&motion.along_m2_s3), "{motion:?} for 0.64");
    assert!(motion.across_m2_s3 < 0.02, "{motion:?} for 0");
    assert_eq!(Motion::learned(&heard[..100], Duration::from_s(5)), Motion::default(), "too little to learn from");
}

#[test]
fn nobody_heard_is_nobody_followed() {
    let score = score(&[], &Tracker::default());
    assert_eq!(score, Score::default());
    assert_eq!(score.trips_linked_ppm(), 0);
}
