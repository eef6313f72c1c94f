//! A clock that starts far off and drifts is back inside its window within a stated number of cycles.

use chronoseal_catalog::Prepared;
use chronoseal_runner::simulate;
use chronoseal_scenario::{NoFiles, Scenario};

const SCENARIO: &str = r#"
schema_version = 2
name = "far-off"
duration = "2s"
[segments.network.ethernet]
rate = "100Mbit/s"
cluster_cycle = "10ms"
guard_period = "200us"
precision = "10us"
[[nodes]]
name = "off"
clock = { fixed = { offset = "5ms", drift = "100ppm" } }
[[nodes]]
name = "other"
clock = { fixed = { offset = "-2ms", drift = "-100ppm" } }
[[streams]]
name = "there"
from = "off"
to = ["other"]
period = "10ms"
length = "46B"
[[streams]]
name = "back"
from = "other"
to = ["off"]
period = "10ms"
length = "46B"
"#;

/// From the second integration cycle on every frame keeps its slot.
const CYCLES: i64 = 2;

#[test]
fn clocks_5_ms_off_and_100_ppm_apart_keep_their_slots_from_the_second_cycle_on() {
    let scenario = Scenario::load("far-off.toml", SCENARIO.as_bytes(), &[], &NoFiles).unwrap();
    let run = simulate(&Prepared::new(&scenario.plan).unwrap(), false, &mut |_| true).unwrap();
    for clock in &run.summary.clocks {
        assert!(clock.acquired_cycles.unwrap() <= CYCLES, "{clock:?}");
        assert!(clock.first_correction_ns.unwrap().abs() > 1_900_000, "{clock:?}");
        assert!(clock.correction_max_ns.unwrap() < 10_000, "inside the window: {clock:?}");
        assert_eq!((clock.lost, clock.beacons_rejected), (0, 0));
    }
    for stream in &run.summary.streams {
        assert!(stream.held(), "{stream:?}");
        assert!(stream.startup < CYCLES as u64, "{stream:?}");
        // One whose slot is over before both ends have joined may never be due.
        let counted = stream.delivered + stream.startup + stream.in_flight;
        assert!((199..=200).contains(&counted), "{stream:?}");
    }
}
