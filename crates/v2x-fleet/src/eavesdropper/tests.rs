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
            let observation = Observation { at: at(ms), pseudonym, state, dimensions: None };
            heard.push(Heard { observation, vehicle });
        }
    }
    heard
}

fn score(heard: &[Heard], tracker: &Tracker) -> Score {
    let observations: Vec<_> = heard.iter().map(|one| one.observation).collect();
    Score::new(heard, &tracker.follow(&observations))
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
    let tracker = Tracker { gate: None, silence_max: Duration::from_ms(1_000), ..Tracker::default() };
    let (mut linked, mut changes, mut guessed) = (0, 0, 0);
    for seed in 0..8 {
        let mut heard = convoy(vehicles, 25.0, 2_000, 0, 42_000);
        reshuffle(&mut heard, seed);
        let score = score(&heard, &tracker);
        linked += score.changes_linked;
        changes += score.changes;
        let guesses = Tracker { guesses: Some(seed), ..tracker };
        guessed += self::score(&heard, &guesses).changes_linked;
    }
    assert_eq!(changes, 8 * 20 * 40);
    // A random permutation keeps one on average, with variance one: 160 of 6400, give or take 4 deviations of 12.6.
    assert!((110..=210).contains(&linked), "{linked} of {changes}");
    assert!((110..=210).contains(&guessed), "who looks at nothing finds as much: {guessed}");
}

#[test]
fn the_same_places_not_dealt_out_are_all_linked() {
    let tracker = Tracker { gate: None, silence_max: Duration::from_ms(1_000), ..Tracker::default() };
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

#[test]
fn silence_among_many_hides_some() {
    // Random speeds, so that neighbours pass each other while nobody speaks.
    let mut rng = random::stream(3, Purpose::Phase, 0);
    let speeds: Vec<f64> = (0..60).map(|_| 25.0 + random::uniform_i64(&mut rng, 0, 100) as f64 / 10.0).collect();
    let heard = |silence_ms: i64| {
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
    };
    let linked = [0, 8_000].map(|silence_ms| score(&heard(silence_ms), &Tracker::default()).changes_linked);
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
fn a_pseudonym_that_jumps_is_two_vehicles() {
    // A swap without silence: two vehicles 200 m apart exchange their pseudonyms.
    let mut heard = convoy(2, 200.0, 1_000_000, 0, 10_000);
    for one in heard.iter_mut().filter(|one| one.observation.at >= at(5_000)) {
        one.observation.pseudonym = 1 - one.observation.pseudonym;
    }
    let score = score(&heard, &Tracker::default());
    assert_eq!((score.changes, score.changes_linked, score.links_wrong), (2, 2, 0));
}

#[test]
fn nobody_heard_is_nobody_followed() {
    let score = score(&[], &Tracker::default());
    assert_eq!(score, Score::default());
    assert_eq!(score.trips_linked_ppm(), 0);
}
