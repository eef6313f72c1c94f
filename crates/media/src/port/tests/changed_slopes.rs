//! Credit across the change of a gate control list: vectors worked out by hand, and a count picosecond by picosecond.
//!
//! A frame of 1000 bytes keeps the line for 8.192 us, in which 8192 bits are sent.

use super::*;

/// When frames start that come in class 0 at one time, in nanoseconds.
fn starts(config: &PortConfig, at_us: i64, count: usize) -> Vec<i64> {
    let frames = vec![one(at_ns(at_us * 1000), 1000, 0); count];
    let log = play(&mut port(config), &frames);
    log.into_iter().map(|(_, started, _)| (started - SimTime::ZERO).as_ns()).collect()
}

#[test]
fn credit_is_earned_by_the_old_slope_until_the_new_list_begins_and_by_the_new_one_from_then_on() {
    let config = |slopes: (u64, u64), begins_us| {
        let mut config = gated(&[(1, 500)], 500);
        config.gates.as_mut().unwrap().change = change(&[(1, 400)], begins_us, 0);
        config.classes[0].selection = shaped(slopes.0, slopes.1);
        config
    };
    // 4096 bits are owed at 8.192 us. Until 10 us 904 are earned; 3192 more take 12.768 us.
    assert_eq!(starts(&config((500_000_000, 250_000_000), 10), 0, 2), [0, 22_768]);
    // 6144 bits are owed at 8.192 us. Until 10 us 452 are earned; 5692 more take 11.384 us.
    assert_eq!(starts(&config((250_000_000, 500_000_000), 10), 0, 2), [0, 21_384]);
    // In the middle of a frame: 2000 bits by 4 us, 3144 more by 8.192 us, which take 20.576 us.
    assert_eq!(starts(&config((500_000_000, 250_000_000), 4), 0, 2), [0, 28_768]);
    // Just when the credit is zero again, and long after.
    assert_eq!(starts(&config((500_000_000, 250_000_000), 1_000), 0, 3), [0, 16_384, 32_768]);
    let times = starts(&config((500_000_000, 250_000_000), 1_000), 2_000, 3);
    assert_eq!(times, [2_000_000, 2_032_768, 2_065_536]);
    // 904 of 4096 bits are earned until 20 us and 3192 more in 12.768 us. What the next frame spends, 6144 bits, takes 24.576 us.
    assert_eq!(starts(&config((500_000_000, 250_000_000), 20), 10, 3), [10_000, 32_768, 65_536]);
}

#[test]
fn a_last_cycle_that_is_cut_short_belongs_to_the_old_slope_until_then() {
    // 200 Mbit/s, of which 20 us of 40 us make 400 Mbit/s and 20 us of 80 us make 800 Mbit/s.
    let mut config = gated(&[(1, 20), (0, 20)], 40);
    config.gates.as_mut().unwrap().change = change(&[(1, 20), (0, 60)], 50, 0);
    config.classes[0].selection = shaped(400_000_000, 800_000_000);
    // 4915.2 bits are owed at 8.192 us, 4723.2 earned when the gate closes, and the other 192 take 0.48 us of the next cycle. The same is
    // owed at 48.672 us: 531.2 are earned until 50 us, and 4384 more take 5.48 us. 1638.4 bits are owed at 63.672 us. These are earned at
    // 65.72 us, and the next frame does not fit before 70 us.
    assert_eq!(starts(&config, 0, 4), [0, 40_480, 55_480, 130_000]);
}

#[test]
fn a_last_cycle_that_is_extended_belongs_to_the_old_slope_to_its_end() {
    // 200 Mbit/s, of which 20 us of 40 us make 400 Mbit/s. The cycle that begins at 40 us ends at 90 us.
    let mut config = gated(&[(0, 20), (1, 20)], 40);
    config.gates.as_mut().unwrap().change = change(&[(1, 80)], 90, 15);
    config.classes[0].selection = shaped(400_000_000, 200_000_000);
    // 4915.2 bits are owed at 68.192 us, which take 12.288 us at the old slope. The same is owed at 88.672 us, and 531.2 earned until 90 us:
    // 4384 more take 21.92 us.
    assert_eq!(starts(&config, 60, 3), [60_000, 80_480, 111_920]);
}

#[test]
fn what_is_above_zero_when_the_list_changes_stays() {
    // A higher class has the line from 1 us to 9.192 us, and the list changes at 5 us: 4 us at 500 Mbit/s and 4.192 us at 250 Mbit/s earn 3048
    // bits. A frame spends 6144 bits at the new slope, and 3096 of these take 12.384 us.
    let mut config = gated(&[(0xff, 500)], 500);
    config.gates.as_mut().unwrap().change = change(&[(0xff, 400)], 5, 0);
    config.classes[0].selection = shaped(500_000_000, 250_000_000);
    let frame = |priority| one(at_ns(1_000), 1000, priority);
    let log = play(&mut port(&config), &[frame(1), frame(0), frame(0)]);
    let times: Vec<_> = log.iter().map(|(number, started, _)| (*number, (*started - SimTime::ZERO).as_ns())).collect();
    assert_eq!(times, [(0, 1_000), (1, 9_192), (2, 29_768)]);
}

/// What a class does for some time.
#[derive(Clone, Copy, Debug)]
enum Does {
    Rests,
    Waits,
    Sends,
}

proptest! {
    /// Credit against a count of every picosecond, under lists of which one replaces the other.
    #[test]
    fn credit_is_what_is_counted_picosecond_by_picosecond(
        old in proptest::collection::vec((any::<bool>(), 1i64..9), 1..6),
        new in proptest::collection::vec((any::<bool>(), 1i64..9), 1..6), base in 0i64..70, requested in 0i64..30, extension in 0i64..30,
        slopes in (1u64..40, 1u64..40), rate in 10u64..40,
        steps in proptest::collection::vec((prop_oneof![Just(Does::Rests), Just(Does::Waits), Just(Does::Sends)], 1i64..25), 1..10),
    ) {
        let ps = Duration::from_ps;
        let entries = |all: &[(bool, i64)]| -> Vec<GateEntry> {
            all.iter().map(|(open, lasts)| GateEntry { open: u8::from(*open), hold: false, lasts: ps(*lasts) }).collect()
        };
        let cycle = |all: &[(bool, i64)]| ps(all.iter().map(|(_, lasts)| lasts).sum());
        let list = GateControlList {
            base_time: Duration::ZERO,
            cycle: cycle(&old),
            entries: entries(&old),
            hold_advance: Duration::ZERO,
            change: Some(Box::new(ListChange {
                requested_at: ps(requested),
                extension: ps(extension),
                base_time: ps(base),
                cycle: cycle(&new),
                entries: entries(&new),
            })),
        };
        let begins = list.ends().unwrap().1.as_ps();
        let gates = Gates::new(Some(&list));
        let gate = gates.of(0);
        let slope = |at: i64| i128::from(if at < begins { slopes.0 } else { slopes.1 });
        let is_open = |at: i64| matches!(gate.at(SimTime::from_ps(at)), Gate::Open(_));
        let mut credit = Credit::new([Rate(slopes.0), Rate(slopes.1)], Rate(rate));
        let (mut now, mut counted) = (0i64, 0i128);
        for (does, lasts) in steps {
            if matches!(does, Does::Sends) {
                credit.send(SimTime::from_ps(now), SimTime::from_ps(now + lasts));
            }
            for at in now..now + lasts {
                counted += match does {
                    Does::Sends => slope(at) - i128::from(rate),
                    _ if is_open(at) => slope(at),
                    _ => 0,
                };
                if matches!(does, Does::Rests) {
                    counted = counted.min(0);
                }
            }
            now += lasts;
            credit.advance(SimTime::from_ps(now), !matches!(does, Does::Rests), gate);
            // From here on it waits: a look ahead finds when it may send first.
            let (mut ahead, mut clear) = (counted, now);
            while ahead < 0 && clear < now + 2_000 {
                ahead += if is_open(clear) { slope(clear) } else { 0 };
                clear += 1;
            }
            let found = credit.clear_at(SimTime::from_ps(now), gate);
            if ahead < 0 {
                prop_assert!(found.as_ps() > now + 2_000 || found == SimTime::MAX);
            } else {
                prop_assert_eq!(found.as_ps(), clear);
            }
        }
    }
}
