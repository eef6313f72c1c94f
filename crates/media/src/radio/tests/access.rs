//! Whose turn it is.

use super::*;
use AccessCategory::{BestEffort, Video, Voice};

#[test]
fn on_an_idle_channel_a_frame_starts_at_once() {
    let mut clockwork = Clockwork::new(road(&[0, 300, 301]));
    clockwork.send_at(us(1000), 0, BestEffort);
    clockwork.run_until(us(2000));
    let delivery = Delivery { at: us(1000 + SHORT_US), to: 1, from: 0, departed_at: us(1000) };
    assert_eq!(clockwork.deliveries, [delivery], "up to 300 m and no further");
    assert_eq!(clockwork.statistics(1).busy, Duration::from_us(SHORT_US));
    assert_eq!(clockwork.statistics(2).busy, Duration::ZERO);
}

#[test]
fn a_station_counts_the_time_of_its_frames_on_the_air() {
    let mut clockwork = Clockwork::new(road(&[0, 100]));
    clockwork.send_at(us(1000), 0, BestEffort);
    clockwork.send_at(us(3000), 0, BestEffort);
    clockwork.run_until(us(5000));
    let air = [0, 1].map(|node| clockwork.statistics(node).sent_airtime);
    assert_eq!(air, [Duration::from_us(2 * SHORT_US), Duration::ZERO]);
}

#[test]
fn two_frames_at_one_instant_collide() {
    let mut clockwork = Clockwork::new(road(&[0, 100, 200]));
    clockwork.send_at(us(1000), 0, BestEffort);
    clockwork.send(1, SHORT_LEN, BestEffort);
    clockwork.run_until(us(2000));
    assert_eq!(clockwork.delivered(), []);
    assert_eq!(clockwork.statistics(2).lost_to_overlap, 2);
    assert_eq!(clockwork.statistics(0).lost_to_own_transmission, 1);
}

#[test]
fn a_frame_offered_while_the_channel_is_busy_waits_and_draws() {
    // Over many seeds, the wait behind the other frame is AIFS and 0 to 15 slots, each of them.
    let mut seen = [false; 16];
    for seed in 0..200 {
        let mut config = road(&[0, 100]);
        config.seed = seed;
        let mut clockwork = Clockwork::new(config);
        clockwork.send_at(us(1000), 0, BestEffort);
        clockwork.send_at(us(1100), 1, BestEffort);
        clockwork.run_until(us(3000));
        let second = clockwork.deliveries[1];
        let wait_us = (second.departed_at - us(1000 + SHORT_US)).as_ns() / 1000;
        assert_eq!((wait_us - 110) % 13, 0, "AIFS of best effort, then slots");
        seen[((wait_us - 110) / 13) as usize] = true;
    }
    assert_eq!(seen, [true; 16]);
}

#[test]
fn a_station_backs_off_behind_its_own_frame_even_with_nothing_to_send() {
    let mut later = 0;
    for seed in 0..50 {
        let mut config = road(&[0, 100]);
        config.seed = seed;
        let mut clockwork = Clockwork::new(config);
        clockwork.send_at(us(1000), 0, BestEffort);
        // The channel is idle for AIFS and half a slot when the next one comes.
        let next = us(1000 + SHORT_US + 110 + 6);
        clockwork.send_at(next, 0, BestEffort);
        clockwork.run_until(us(3000));
        let second = clockwork.deliveries[1].departed_at;
        assert!(second >= next);
        later += u32::from(second > next);
        // Behind the longest backoff nothing is left of it.
        clockwork.send_at(us(5000), 0, BestEffort);
        clockwork.run_until(us(6000));
        assert_eq!(clockwork.deliveries[2].departed_at, us(5000));
    }
    assert!((40..50).contains(&later), "15 of 16 draws are not zero: {later} of 50");
}

#[test]
fn the_higher_category_of_a_station_goes_first() {
    let mut clockwork = Clockwork::new(road(&[0, 100]));
    clockwork.send_at(us(1000), 0, BestEffort);
    clockwork.send(0, SHORT_LEN, Voice);
    clockwork.run_until(us(1000 + SHORT_US));
    assert_eq!(clockwork.statistics(0).internal_collisions, 1);
    assert_eq!(clockwork.deliveries.len(), 1);
    clockwork.run_until(us(5000));
    assert_eq!(clockwork.deliveries.len(), 2, "the other one follows");
}

#[test]
fn a_frame_of_voice_overtakes_one_of_best_effort() {
    // Behind the same frame: voice at 58 us and up to 3 slots, best effort at 110 us and up to 15.
    for seed in 0..20 {
        let mut config = road(&[0, 100, 200]);
        config.seed = seed;
        let mut clockwork = Clockwork::new(config);
        clockwork.send_at(us(1000), 0, Video);
        clockwork.send_at(us(1010), 1, BestEffort);
        clockwork.send_at(us(1020), 2, Voice);
        clockwork.run_until(us(3000));
        let senders: Vec<_> = clockwork.deliveries.iter().map(|delivery| delivery.from).collect();
        assert_eq!(senders, [0, 0, 2, 2, 1, 1]);
    }
}

#[test]
fn a_frozen_backoff_goes_on_where_it_stopped() {
    // Station 2 waits behind station 0. Whenever station 1 comes in between with voice, 2 loses no turn it had waited for.
    for seed in 0..40 {
        let undisturbed = second_start(seed, None);
        let turns = ((undisturbed - us(1000 + SHORT_US + 110)).as_ns() / 1000) / 13;
        let interrupted_at = us(1000 + SHORT_US + 110 + 13 * 3);
        let interrupted = second_start(seed, Some(interrupted_at));
        let left = turns - 4; // turns 0, 1, 2 and the one at which the other starts
        if left < 0 {
            assert_eq!(interrupted, undisturbed, "it came first, or at the same turn");
        } else {
            assert_eq!(interrupted, interrupted_at + Duration::from_us(SHORT_US + 110 + 13 * left), "seed {seed}");
        }
    }
}

/// When station 2's frame starts, offered while station 0 sends; station 1 may start another one at a time given.
fn second_start(seed: u64, interruption: Option<SimTime>) -> SimTime {
    let mut config = road(&[0, 100, 200]);
    config.seed = seed;
    let mut clockwork = Clockwork::new(config);
    clockwork.send_at(us(1000), 0, BestEffort);
    clockwork.send_at(us(1100), 2, BestEffort);
    if let Some(at) = interruption {
        clockwork.run_until(at - Duration::from_ps(1));
        if clockwork.channel.queue_len(port(2)) == Some(0) {
            // It has started already.
            clockwork.run_until(us(9000));
        } else {
            clockwork.send_at(at, 1, Voice);
        }
    }
    clockwork.run_until(us(9000));
    clockwork.transmitted.iter().find(|(from, _)| *from == 2).expect("it was sent").1
}

#[test]
fn a_start_within_the_detection_time_is_not_seen() {
    // 0 is heard by 1 alone and 3 by 2 alone, so 1 and 2, who hear each other, may come to slots that are not aligned.
    for (behind_us, collides) in [(0, true), (7, true), (8, false), (12, false)] {
        let mut config = road(&[0, 250, 500, 750]);
        config.access = config.access.map(|access| AccessParameters { cw_min: 0, ..access });
        let mut clockwork = Clockwork::new(config);
        clockwork.send_at(us(1000), 0, BestEffort);
        clockwork.send_at(us(1000 + behind_us), 3, BestEffort);
        clockwork.send_at(us(1100), 1, Voice);
        clockwork.send(2, SHORT_LEN, Voice);
        clockwork.run_until(us(3000));
        let lost = [1, 2].map(|node| clockwork.statistics(node).lost_to_own_transmission);
        assert_eq!(lost, [u64::from(collides); 2], "{behind_us} us behind");
        assert_eq!(clockwork.delivered().contains(&(1, 2)), !collides);
    }
}

#[test]
fn same_seed_same_run_and_another_seed_another_one() {
    let run = |seed| {
        let mut config = road(&[0, 100, 200, 400]);
        config.seed = seed;
        let mut clockwork = Clockwork::new(config);
        clockwork.saturated = Some((4, SHORT_LEN, BestEffort));
        clockwork.fill();
        clockwork.run_until(us(50_000));
        clockwork.deliveries
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn a_station_more_moves_no_chance_of_another() {
    // The one more is out of everybody's reach and silent.
    let run = |places: &[i64]| {
        let mut clockwork = Clockwork::new(road(places));
        clockwork.saturated = Some((3, SHORT_LEN, BestEffort));
        clockwork.fill();
        clockwork.run_until(us(50_000));
        clockwork.deliveries
    };
    assert_eq!(run(&[0, 100, 200]), run(&[0, 100, 200, 5000]));
}
