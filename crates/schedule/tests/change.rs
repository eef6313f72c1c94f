//! A change at run time loses no frame, and what stays does not notice it.

use crate::testing::{Draw, grid, network, problem, ring, streams, unicast};
use chronoseal_core::Duration;
use chronoseal_schedule::change::{ChangeError, plan};
use chronoseal_schedule::gates::SCHEDULED_CLASS;
use chronoseal_schedule::replay::replay;
use chronoseal_schedule::{Options, Schedule, Security, Stream, synthesize};
use proptest::prelude::*;

const US: fn(i64) -> Duration = Duration::from_us;
const OPTIONS: Options = Options { routes: 3, steps: 300_000, seed: 1 };

fn made(network: &chronoseal_schedule::Network, streams: &[Stream]) -> Option<Schedule> {
    synthesize(&problem(network.clone(), streams.to_vec()), OPTIONS).ok()
}

#[test]
fn a_stream_that_is_added_begins_when_those_that_are_removed_are_through() {
    let network = network(2, &[(0, 1)]);
    let frame = |name: &str| unicast(&network, name.into(), 0, &[1], 976, US(32));
    let old = made(&network, &["a", "b", "c", "d"].map(frame)).unwrap();
    let mut new = made(&network, &["a", "b", "c", "d"].map(frame)).unwrap();
    assert!(new.remove("b"));
    new.add(frame("e")).unwrap();
    let change = plan(&old, &new, US(100), SCHEDULED_CLASS).unwrap();
    // `e` takes the place of `b`, whose last frame is on the second and third link in the next cycles.
    assert_eq!((change.at, change.begin), (US(128), US(128)));
    assert_eq!(replay(&network, &change.told, &change.lists, SCHEDULED_CLASS), []);
    assert!(change.gaps.is_empty());
}

#[test]
fn streams_that_move_pause_and_lose_nothing() {
    let network = network(2, &[(0, 1)]);
    let at = |name: &str, offset: i64| Stream {
        offset: Some(US(offset)),
        ..unicast(&network, name.into(), 0, &[1], 976, US(32))
    };
    let old = made(&network, &[at("a", 0), at("b", 24)]).unwrap();
    let new = made(&network, &[at("a", 24), at("b", 0)]).unwrap();
    let change = plan(&old, &new, US(0), SCHEDULED_CLASS).unwrap();
    assert_eq!(replay(&network, &change.told, &change.lists, SCHEDULED_CLASS), []);
    assert_eq!(change.at, US(64));
    assert_eq!(change.gaps["a"], US(32) + US(24) + (change.begin - change.at));
    assert_eq!(change.gaps["b"], US(8) + (change.begin - change.at));
}

#[test]
fn schedules_that_have_nothing_to_do_with_each_other_are_refused() {
    let [one, other] = [ring(3), ring(4)].map(|network| Schedule::empty(network, OPTIONS));
    assert_eq!(plan(&one, &other, US(0), 7).unwrap_err(), ChangeError::OtherNetwork);
    let network = ring(3);
    let every = |period: Duration| made(&network, &[unicast(&network, "a".into(), 0, &[1], 100, period)]).unwrap();
    let refused =
        plan(&every(Duration::from_ps(999_999_999_989)), &every(Duration::from_ps(999_999_999_961)), US(0), 7);
    assert!(matches!(refused, Err(ChangeError::CyclesApart { .. })));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 24 } else { 1_000 }))]

    #[test]
    fn no_change_loses_a_frame(seed in any::<u64>(), count in 2usize..20, anew in any::<bool>()) {
        let mut draw = Draw::new(seed);
        let network = if draw.below(2) == 0 { ring(4) } else { grid(2) };
        let periods = [US(100), US(200), US(400)];
        let mut all = streams(&network, count + 3, &[100, 500, 1_500], &periods, seed);
        for stream in &mut all {
            let times = [0, 2_000].map(Duration::from_ns);
            stream.security = Security { bytes: 16, seal: draw.of(&times), open: draw.of(&times), per_hop: Duration::ZERO };
        }
        let Some(old) = made(&network, &all[..count]) else { return Ok(()) };
        let mut new = match made(&network, &all[draw.below(2)..count]) {
            Some(new) => new,
            None => return Ok(()),
        };
        if anew {
            // Another order of names is another schedule.
            let renamed: Vec<_> = all[1..].iter().map(|stream| Stream { len: stream.len + 1, ..stream.clone() }).collect();
            let Some(other) = made(&network, &renamed) else { return Ok(()) };
            new = other;
        } else {
            new.remove(&all[draw.below(count)].name);
            for stream in &all[count..] {
                let _ = new.add(stream.clone());
            }
        }
        let change = plan(&old, &new, US(draw.below(3_000) as i64), SCHEDULED_CLASS).unwrap();
        prop_assert_eq!(replay(&network, &change.told, &change.lists, SCHEDULED_CLASS), []);
    }
}
