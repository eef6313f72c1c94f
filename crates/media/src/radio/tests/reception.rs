//! Who gets a frame.

use super::*;
use AccessCategory::BestEffort;

#[test]
fn hidden_terminals_do_not_hear_each_other_and_collide_in_between() {
    let mut clockwork = Clockwork::new(road(&[0, 250, 500]));
    clockwork.send_at(us(1000), 0, BestEffort);
    clockwork.send_at(us(1100), 2, BestEffort);
    clockwork.run_until(us(2000));
    assert_eq!(clockwork.delivered(), [], "the one in the middle gets neither");
    let middle = clockwork.statistics(1);
    assert_eq!((middle.lost_to_overlap, middle.received), (2, 0));
    assert_eq!(middle.busy, Duration::from_us(100 + SHORT_US));
    assert_eq!(clockwork.statistics(2).access_delay, Duration::ZERO, "it found the channel idle");
}

#[test]
fn a_frame_that_ends_when_another_starts_is_not_disturbed() {
    let mut clockwork = Clockwork::new(road(&[0, 250, 500]));
    clockwork.send_at(us(1000), 0, BestEffort);
    clockwork.send_at(us(1000 + SHORT_US), 2, BestEffort);
    clockwork.run_until(us(2000));
    assert_eq!(clockwork.delivered(), [(0, 1), (2, 1)]);
}

#[test]
fn a_station_that_sends_hears_nothing() {
    // 0 and 2 hear each other only after 2 has moved into reach in mid-frame, which changes nothing for the frame.
    let mut clockwork = Clockwork::new(road(&[0, 1000, 2000]));
    clockwork.send_at(us(1000), 0, BestEffort);
    clockwork.run_until(us(1050));
    assert!(clockwork.channel.move_to(port(2), Position::from_m(100, 0)));
    clockwork.send_at(us(1060), 2, BestEffort);
    clockwork.run_until(us(2000));
    assert_eq!(clockwork.delivered(), [], "0 was sending when the frame of 2 began");
    assert_eq!(clockwork.statistics(0).lost_to_own_transmission, 1);
    assert_eq!(clockwork.statistics(2).lost_to_own_transmission, 0, "it heard no first bit");
    clockwork.send_at(us(3000), 2, BestEffort);
    clockwork.run_until(us(4000));
    assert_eq!(clockwork.delivered(), [(2, 0)]);
}

fn with_power(places_m: &[i64], capture_db: Option<f64>) -> RadioConfig {
    let mut config = road(places_m);
    config.propagation = Propagation::LogDistance(LogDistance::new(2.0, OfdmRate::Mbps6));
    config.capture_db = capture_db;
    config
}

#[test]
fn capture_saves_the_stronger_frame_only_if_allowed() {
    // At 1: from 0 at 100 m, from 2 at 900 m, 19.1 dB weaker. 0 and 2 do not hear each other: 1,000 m lies within
    // carrier sense (1,016 m), so 2 stands at 1,100 m.
    for (capture_db, expected) in [(None, vec![]), (Some(10.0), vec![(0, 1)]), (Some(25.0), vec![])] {
        let mut clockwork = Clockwork::new(with_power(&[0, 100, 1100], capture_db));
        clockwork.send_at(us(1000), 2, BestEffort);
        clockwork.send_at(us(1050), 0, BestEffort);
        clockwork.run_until(us(2000));
        assert_eq!(clockwork.delivered(), expected, "{capture_db:?}");
    }
}

#[test]
fn a_frame_that_is_stronger_by_exactly_the_capture_ratio_survives() {
    // 0 and 2 stand 1,200 m from each other and do not hear each other; both are 600 m from 1, which is 0 dB.
    for (capture_db, expected) in [(0.0, vec![(0, 1), (2, 1)]), (0.001, vec![])] {
        let mut clockwork = Clockwork::new(with_power(&[0, 600, 1200], Some(capture_db)));
        clockwork.send_at(us(1000), 0, BestEffort);
        clockwork.send_at(us(1050), 2, BestEffort);
        clockwork.run_until(us(2000));
        assert_eq!(clockwork.delivered(), expected, "{capture_db} dB");
    }
}

#[test]
fn a_weak_frame_keeps_the_channel_busy_and_is_not_decoded() {
    // Decoded up to 719 m, heard up to 1,016 m.
    let mut clockwork = Clockwork::new(with_power(&[0, 700, 900, 1100], None));
    clockwork.send_at(us(1000), 0, BestEffort);
    clockwork.run_until(us(2000));
    assert_eq!(clockwork.delivered(), [(0, 1)]);
    assert_eq!((clockwork.statistics(2).too_weak, clockwork.statistics(3).too_weak), (1, 0));
    assert_eq!(clockwork.statistics(2).busy, Duration::from_us(SHORT_US));
    assert_eq!(clockwork.statistics(3).busy, Duration::ZERO);
}

#[test]
fn every_frame_is_accounted_for_at_every_station() {
    // Stations in a row of 120 m steps, all with more to send than they can, with fading and capture.
    let places: Vec<i64> = (0..12).map(|index| index * 120).collect();
    let mut config = with_power(&places, Some(10.0));
    let fading = LogDistance { nakagami_m: Some(3), ..LogDistance::new(2.2, OfdmRate::Mbps6) };
    config.propagation = Propagation::LogDistance(fading);
    let mut clockwork = Clockwork::new(config);
    clockwork.saturated = Some((12, SHORT_LEN, BestEffort));
    clockwork.fill();
    clockwork.run_until(us(200_000));
    clockwork.saturated = None;
    clockwork.run_until(us(400_000));
    assert_eq!(clockwork.frames.in_flight(), 0);
    let all: Vec<_> = (0..12).map(|node| clockwork.statistics(node)).collect();
    let received: u64 = all.iter().map(|station| station.received).sum();
    assert_eq!(received, clockwork.deliveries.len() as u64);
    let sent: u64 = all.iter().map(|station| station.sent).sum();
    for station in &all {
        let met = station.received + station.lost_to_overlap + station.lost_to_own_transmission + station.too_weak;
        assert!(met <= sent - station.sent, "no frame meets a station twice");
        assert!(station.received > 0 && station.lost_to_overlap > 0 && station.too_weak > 0, "{station:?}");
        assert!(station.busy <= Duration::from_us(400_000) && station.busy >= station.sent_airtime);
    }
}

#[derive(Debug)]
struct ByLength;

impl Kinds for ByLength {
    fn kind_of(&self, frame: &[u8]) -> Option<&'static str> {
        (frame.len() > SHORT_LEN).then_some("long")
    }
}

#[test]
fn kinds_of_message_share_the_time_on_the_air() {
    let mut clockwork = Clockwork::new(RadioConfig { kinds: Some(std::sync::Arc::new(ByLength)), ..road(&[0, 250]) });
    for at_us in [1_000, 2_000, 3_000] {
        clockwork.send_at(us(at_us), 0, BestEffort);
    }
    clockwork.send(1, SHORT_LEN + 6, BestEffort);
    clockwork.run_until(us(5_000));
    let of = |name: &str| clockwork.channel.series().iter().find(|series| series.name == name).map(|one| one.values[0]);
    // Six bytes, or 48 bits, are a symbol of 8 us.
    let expected = [3 * SHORT_US, SHORT_US + 8].map(|us| Some(us * 1_000));
    assert_eq!([of("on the air: none of these"), of("on the air: long")], expected);
    assert_eq!(of("on the air"), expected[0].zip(expected[1]).map(|(short, long)| short + long));
    let alike = Clockwork::new(road(&[0])).channel.series();
    assert!(!alike.iter().any(|series| series.name.starts_with("on the air:")));
}
