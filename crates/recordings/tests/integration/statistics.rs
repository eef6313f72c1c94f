use chronoseal_core::{Duration, Rate};
use chronoseal_recordings::{LoadError, bus_load, identifiers};
use chronoseal_wire::can::{BitTiming, BitTimingConfig, CanId, FrameKind};

use crate::integration::good;

const CAR: &[u8] = include_bytes!("../fixtures/savvycan_busmaster.log");

fn timing(rate: u64) -> BitTiming {
    BitTiming::new(&BitTimingConfig::new(Rate(rate), Rate(rate))).unwrap()
}

#[test]
fn identifiers_have_counts_lengths_and_median_periods() {
    let recording = good(
        "(0.000000) a 100#01\n(0.010000) a 100#0102\n(0.020000) b 100#\n(0.021000) a 100#01\n(0.031000) a 100#01\n\
         (0.040000) a 101#R4\n(0.050000) a 101##1112233445566778899AABBCC\n(0.060000) a 00000100#01\n",
    );
    let found = identifiers(&recording);
    let keys: Vec<_> = found.iter().map(|one| (one.channel, one.id.to_string(), one.count, one.period_ns)).collect();
    assert_eq!(
        keys,
        [
            (0, "100".into(), 4, Some(10_000_000)),
            (0, "101".into(), 2, Some(10_000_000)),
            (0, "00000100".into(), 1, None),
            (1, "100".into(), 1, None),
        ]
    );
    assert_eq!((found[0].len_min, found[0].len_max), (1, 2));
    assert_eq!((found[1].len_min, found[1].len_max, found[1].remote_count), (4, 12, 1));
    assert_eq!(found[1].kind, Some(FrameKind::Fd { brs: true, esi: false }));
}

/// Whole batches share a time: where the median distance is 0 the mean tells the period.
#[test]
fn a_coarse_clock_gives_the_mean_distance() {
    let recording = good("(0.00) a 100#\n(0.00) a 100#\n(0.00) a 100#\n(0.03) a 100#\n(0.03) a 101#\n(0.03) a 101#\n");
    let found = identifiers(&recording);
    assert_eq!(found[0].period_ns, Some(10_000_000));
    assert_eq!(found[1].period_ns, None);
}

/// 8 bytes of 0x55 with identifier 0x555 have no stuff bit before the checksum; 500 kbit/s.
#[test]
fn the_load_counts_exact_bits_in_windows() {
    let recording =
        good("(0.0) a 555#5555555555555555\n(0.001) a 555#5555555555555555\n(0.0015) a 555#\n(0.002) b 001#\n");
    let timing = timing(500_000);
    let samples = bus_load(&recording, 0, &timing, 1_000_000).unwrap();
    let one = timing.frame(&recording.frames[0].frame) + timing.intermission();
    let short = timing.frame(&recording.frames[2].frame) + timing.intermission();
    assert!(one >= Duration::from_us(111 * 2) && one <= Duration::from_us(115 * 2), "{one}");
    assert_eq!(samples.iter().map(|sample| sample.busy).collect::<Vec<_>>(), [one, one + short, Duration::ZERO]);
    assert_eq!((samples[1].start_ns, samples[1].length_ns, samples[2].length_ns), (1_000_000, 1_000_000, 0));
    assert_eq!(bus_load(&recording, 0, &timing, 0), Err(LoadError::NoWindow));
    assert!(matches!(bus_load(&recording, 0, &timing, 1), Err(LoadError::TooManyWindows { .. })));
}

/// 1,433,926 bits over 8.56 s, counted bit by bit with a few lines of Python over the same frames.
#[test]
fn the_load_of_a_car_is_a_third_of_500_kbit() {
    let recording = good(CAR);
    let whole = bus_load(&recording, 0, &timing(500_000), 60_000_000_000).unwrap();
    assert_eq!(whole.len(), 1);
    assert_eq!(whole[0].busy, Duration::from_us(2 * 1_433_926));
    assert!((whole[0].load() - 0.335).abs() < 0.0001, "{}", whole[0].load());
    // Windows only divide it.
    let fine = bus_load(&recording, 0, &timing(500_000), 100_000_000).unwrap();
    assert_eq!(fine.len(), 86);
    let sum = fine.iter().fold(Duration::ZERO, |sum, sample| sum + sample.busy);
    assert_eq!(sum, whole[0].busy);
}

/// Tally of median distances in milliseconds, counted with a few lines of Python over the same log. Frames of
/// 0x754 mostly share a time: 8.5 s over 528 distances are its mean, 16 ms.
#[test]
fn periods_of_a_car_are_those_counted_elsewhere() {
    let found = identifiers(&good(CAR));
    let mut tally = std::collections::BTreeMap::new();
    for one in &found {
        *tally.entry(one.period_ns.map(|period| period / 1_000_000)).or_insert(0) += 1;
    }
    let expected =
        [(None, 2), (Some(10), 7), (Some(16), 1), (Some(20), 5), (Some(100), 51), (Some(500), 1), (Some(1000), 106)];
    let expected = expected.into_iter().chain([(Some(1010), 1), (Some(2000), 4), (Some(5000), 1), (Some(7000), 1)]);
    assert_eq!(tally, expected.collect());
    let of = |raw: u16| found.iter().find(|one| one.id == CanId::standard(raw).unwrap()).unwrap();
    assert_eq!((of(0x21a).len_min, of(0x21a).len_max, of(0x21a).period_ns), (8, 8, Some(100_000_000)));
}

/// The recordings kept beside the project say what data/SOURCES.md says of them.
#[test]
fn kept_recordings_have_the_loads_their_sources_name() {
    let load = |log: &[u8], rate| bus_load(&good(log), 0, &timing(rate), 1_000_000_000_000).unwrap()[0].load();
    let car = include_bytes!("../../../../data/can/car_busmaster.log");
    assert_eq!(good(car).frames, good(CAR).frames);
    assert!((load(car, 500_000) - 0.335).abs() < 0.0005);
    let synthetic = include_bytes!("../../../../data/can/car_synthetic.log");
    assert!((load(synthetic, 500_000) - 0.418).abs() < 0.0005, "{}", load(synthetic, 500_000));
    let vessel = include_bytes!("../../../../data/can/vessel_bus.log");
    assert!((load(vessel, 250_000) - 0.089).abs() < 0.0005, "{}", load(vessel, 250_000));
}
