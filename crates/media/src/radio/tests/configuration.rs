//! What a channel cannot be built from, and what it refuses.

use chronoseal_core::DiscardReason;

use super::*;

fn refusal(change: impl FnOnce(&mut RadioConfig)) -> Option<RadioError> {
    let mut config = road(&[0, 100]);
    change(&mut config);
    RadioChannel::new(config).err()
}

fn log_distance() -> LogDistance {
    LogDistance::new(2.5, OfdmRate::Mbps6)
}

#[test]
fn refuses_contradictions() {
    assert_eq!(refusal(|_| ()), None);
    assert_eq!(refusal(|config| config.stations[1].attachment = port(0)), Some(RadioError::AttachedTwice(port(0))));
    assert_eq!(refusal(|config| config.queue_len_max = 0), Some(RadioError::NoQueue));
    assert_eq!(refusal(|config| config.capture_db = Some(10.0)), Some(RadioError::CaptureWithoutPower));
    for (aifsn, cw_min, cw_max) in [(2, 8, 7), (2, 15, 1024), (16, 15, 15)] {
        let access = AccessParameters { aifsn, cw_min, cw_max };
        assert_eq!(refusal(|config| config.access[2] = access), Some(RadioError::Access(AccessCategory::Video)));
    }
    let one = road(&[0]).stations[0];
    let many = |count| move |config: &mut RadioConfig| config.stations = vec![one; count];
    assert_eq!(refusal(many(STATIONS_MAX + 1)), Some(RadioError::TooManyStations(STATIONS_MAX + 1)));
    assert_eq!(refusal(many(STATIONS_MAX)), Some(RadioError::AttachedTwice(port(0))), "the count is not the reason");
}

#[test]
fn refuses_path_losses_that_cannot_be_computed() {
    let refused = |model| refusal(|config| config.propagation = Propagation::LogDistance(model));
    assert_eq!(refused(log_distance()), None);
    for model in [
        LogDistance { exponent: 0.0, ..log_distance() },
        LogDistance { exponent: f64::NAN, ..log_distance() },
        LogDistance { tx_power_dbm: f64::INFINITY, ..log_distance() },
        LogDistance { carrier_sense_dbm: -80.0, ..log_distance() },
        LogDistance { nakagami_m: Some(0), ..log_distance() },
        LogDistance { nakagami_m: Some(17), ..log_distance() },
    ] {
        assert_eq!(refused(model), Some(RadioError::Propagation), "{model:?}");
    }
    let negative = refusal(|config| {
        config.propagation = Propagation::LogDistance(log_distance());
        config.capture_db = Some(-1.0);
    });
    assert_eq!(negative, Some(RadioError::Capture(-1.0)));
}

#[test]
fn discards_what_it_cannot_carry() {
    let mut config = road(&[0, 100]);
    config.queue_len_max = 2;
    let mut clockwork = Clockwork::new(config);
    clockwork.send(9, SHORT_LEN, AccessCategory::BestEffort);
    assert_eq!(clockwork.discards, [(9, EventKind::Discarded(DiscardReason::WrongPort))]);
    for _ in 0..3 {
        clockwork.send(0, SHORT_LEN, AccessCategory::BestEffort);
    }
    clockwork.send(0, SHORT_LEN, AccessCategory::Voice);
    let full = EventKind::Discarded(DiscardReason::QueueFull);
    assert_eq!(clockwork.discards[1..], [(0, full)], "each category has room of its own");
    assert_eq!(clockwork.statistics(0).refused, 1);
    clockwork.run_until(us(10_000));
    assert_eq!(clockwork.frames.in_flight(), 0, "every reference was given back");
}

#[test]
fn a_station_that_is_not_there_has_no_place() {
    let mut channel = RadioChannel::new(road(&[0])).unwrap();
    assert!(channel.move_to(port(0), Position::from_m(5, 6)));
    assert_eq!(channel.position(port(0)), Some(Position::from_m(5, 6)));
    assert!(!channel.move_to(port(1), Position::default()));
    assert_eq!(channel.statistics(port(1)), None);
}

/// Station 1 drives away by 100 m a millisecond, for 5 ms; the others stay.
#[derive(Debug)]
struct Away;

impl Motion for Away {
    fn step(&self, station: usize, now: SimTime) -> Step {
        let ms = now.since_zero().as_ns() / 1_000_000;
        let next = (station == 1 && ms < 5).then(|| now + Duration::from_ms(1));
        Step { position: Position::from_m(if station == 1 { 100 * (ms + 1) } else { 0 }, 0), next }
    }
}

#[test]
fn stations_go_where_their_motion_says_and_are_heard_where_they_were_at_the_first_bit() {
    let config = RadioConfig { motion: Some(std::sync::Arc::new(Away)), ..road(&[0, 900]) };
    let mut clockwork = Clockwork::new(config);
    assert_eq!(clockwork.channel.position(port(1)), Some(Position::from_m(100, 0)), "from the start");
    // The last one starts at the instant of the step that leads out of reach, and the step comes after.
    for ms in [0, 1, 2, 3, 4] {
        clockwork.send_at(us(1_000 * ms), 0, AccessCategory::Voice);
    }
    clockwork.run_until(us(10_000));
    assert_eq!(clockwork.delivered().len(), 4, "100, 200, 300 m, and 300 m at the instant it leaves");
    assert_eq!(clockwork.channel.position(port(1)), Some(Position::from_m(600, 0)));
}
