//! What a station does when its pseudonyms end, all in the same second.

use chronoseal_v2x::types::Time64;
use chronoseal_v2x::vss::*;

use super::vss_station::{ALONE, Bench, NEVER_ASKS, START};

const HOUR_US: u64 = 3_600_000_000;
const WEEK_US: u64 = 168 * HOUR_US;
/// When tickets of a week end.
const END: Time64 = Time64(START.0 + WEEK_US);

fn weekly(config: PoolConfig, tickets: usize) -> Bench {
    Bench::with_hours(config, Preset::None, tickets, 168)
}

impl Bench {
    /// As its daemon does every 50 ms.
    fn tick(&mut self, at: Time64) {
        self.now = at;
        self.station.handle_timeout(at, &ALONE, &mut self.world.rng);
        self.serve();
    }
}

#[test]
fn no_message_is_refused_at_the_change_of_week() {
    for layers in [0, 2] {
        let mut bench = weekly(PoolConfig::default(), 20);
        for _ in 0..layers {
            bench.register();
        }
        for hour in 1..168 {
            bench.tick(START.plus_us(hour * HOUR_US));
            bench.sign(b"x").unwrap();
        }
        assert_eq!(bench.station.pool().unused().len(), 19 + 20, "those of the next week are there");
        let before = bench.station.certificate().unwrap().id();
        for step in 0..200_u64 {
            bench.tick(Time64(END.0 - 5_000_000).plus_us(step * 50_000));
            let signed = bench.sign(b"x");
            assert!(signed.is_ok(), "{layers} layers, step {step}: {signed:?}");
            let period = bench.station.certificate().unwrap().certificate().view().to_be_signed.validity_period;
            assert!(period.contains(bench.now), "step {step}");
        }
        assert_ne!(bench.station.certificate().unwrap().id(), before);
        assert_eq!(bench.changes(), 1);
        assert_eq!(bench.station.pool().unused().len(), 19, "those of the week before are gone");
        assert_eq!(bench.world.keys.keys.len(), 20, "and so are their keys");
    }
}

#[test]
fn an_expired_pseudonym_is_changed_with_the_next_message_whoever_is_not_registered() {
    let mut bench = weekly(NEVER_ASKS, 1);
    let (certificate, key) = bench.world.ticket(END.time32(), 168);
    bench.station.add_pseudonym(certificate, key, START).unwrap();
    bench.now = Time64(END.0 - 1);
    let before = bench.station.certificate().unwrap().id();
    bench.sign(b"x").unwrap();
    assert_eq!(bench.station.certificate().unwrap().id(), before);
    bench.now = END;
    bench.sign(b"x").unwrap();
    assert_ne!(bench.station.certificate().unwrap().id(), before);
}

#[test]
fn an_expired_pseudonym_is_changed_although_changes_are_blocked() {
    let mut bench = weekly(PoolConfig::default(), 20);
    bench.register();
    bench.tick(Time64(END.0 - HOUR_US));
    bench.station.block_pseudonym_change(Time64(END.0 - 1_000_000), 255);
    bench.tick(END);
    bench.sign(b"x").unwrap();
    assert_eq!(bench.changes(), 1);
    // The block holds for what is valid.
    let refused = bench.station.change_pseudonym(END, &mut bench.world.rng);
    assert!(matches!(refused, Err(ChangeRefusal::Blocked { .. })));
}

#[test]
fn a_layer_that_refuses_is_asked_once_a_second_and_nothing_is_signed_with_what_expired() {
    let mut bench = weekly(PoolConfig::default(), 20);
    bench.register();
    bench.tick(Time64(END.0 - HOUR_US));
    bench.refuses = true;
    bench.done.clear();
    for step in 0..100 {
        bench.tick(END.plus_us(step * 50_000));
        assert!(bench.sign(b"x").is_err(), "step {step}");
    }
    let asked = bench.done.iter().filter(|effect| matches!(effect, Effect::AskLayers { .. })).count();
    assert_eq!(asked, 5, "in 5 s");
    bench.refuses = false;
    bench.tick(END.plus_us(5_000_000));
    bench.sign(b"x").unwrap();
}

#[test]
fn a_station_that_gets_none_ahead_asks_for_some_as_soon_as_it_has_none() {
    let mut bench = weekly(PoolConfig { ahead_s: 0, ..PoolConfig::default() }, 20);
    bench.tick(Time64(END.0 - 1));
    assert_eq!(bench.station.pool().unused().len(), 19);
    bench.tick(END);
    let ordered = bench.done.iter().find_map(|effect| match effect {
        Effect::RequestPseudonyms(order) => Some(*order),
        _ => None,
    });
    assert_eq!(ordered, Some(PseudonymOrder { count: 20, period: None }));
}
