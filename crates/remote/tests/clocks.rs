//! Clocks that are apart, run at another rate, or jump: what is said of them covers the truth, which only these tests know.

use chronoseal_core::Duration;
use chronoseal_remote::{Options, Role, VirtualClock};
use chronoseal_report::{Word, run_report};
use chronoseal_results::rows::FrameRow;
use chronoseal_runner::Run;
use chronoseal_testbed::monotonic_ns;

use crate::bench::{Agent, Bench, SCENARIO, drive, options, two};

pub(crate) const TESTS: &[(&str, fn())] = &[
    ("an_offset_and_a_drift_are_found_within_what_is_stated", an_offset_and_a_drift_are_found_within_what_is_stated),
    ("a_clock_that_jumps_leaves_no_one_way_latency", a_clock_that_jumps_leaves_no_one_way_latency),
];

/// Latencies of a stream, in order.
fn latencies(run: &Run, stream: usize) -> Vec<Duration> {
    let rows = run.rows.frames.iter().filter(|row| row.stream.index() == stream);
    let mut latencies: Vec<Duration> = rows.filter_map(FrameRow::latency).collect();
    latencies.sort();
    latencies
}

fn run(bench: &Bench, agents: &[Agent; 2], text: &str, change: impl FnOnce(&mut Options)) -> Run {
    let [robot, station] = agents;
    let mut asked = options(&[("robot", robot), ("station", station)]);
    change(&mut asked);
    drive(text, &bench.identity("bench", Role::Controller), &asked).unwrap()
}

fn an_offset_and_a_drift_are_found_within_what_is_stated() {
    let bench = Bench::new();
    let text = SCENARIO.replace("\"1s\"", "\"3s\"");
    let plain = run(&bench, &two(&bench, [VirtualClock::default(); 2]), &text, |_| {});
    let ahead =
        VirtualClock { offset_ns: 5_000_000, drift_ppb: 50_000, began_ns: monotonic_ns(), ..VirtualClock::default() };
    let agents = two(&bench, [ahead, VirtualClock::default()]);
    let before = monotonic_ns();
    let shifted = run(&bench, &agents, &text, |_| {});
    let after = monotonic_ns();
    let clock = shifted.meta.hosts[0].clock.unwrap();
    // The run began between the two, and in between the truth has drifted by this much.
    let truth = |host_ns: i64| agents[0].clock.shown(host_ns) - host_ns;
    let (least, most) = (truth(before) - clock.uncertainty_ns, truth(after) + clock.uncertainty_ns);
    assert!((least..=most).contains(&clock.offset_ns), "{clock:?}, and {least} to {most} is true");
    // Readings are 4 s apart, each as uncertain as stated.
    let drift_error_ppb = 2 * clock.uncertainty_ns / 4;
    assert!((clock.drift_ppb - 50_000).abs() <= drift_error_ppb, "{clock:?}");
    assert!(clock.uncertainty_ns < 5_000_000, "{clock:?}");
    let other = shifted.meta.hosts[1].clock.unwrap();
    assert!(other.offset_ns.abs() <= other.uncertainty_ns, "{other:?}");
    // The fastest message of one direction would take 5 ms longer, of the other 5 ms less, if clocks were taken at their word.
    let allowed = Duration::from_ns(clock.uncertainty_ns + other.uncertainty_ns) + Duration::from_ms(1);
    for stream in [0, 1] {
        let (plain, shifted) = (latencies(&plain, stream), latencies(&shifted, stream));
        let (plain, shifted) = (plain[0], shifted[0]);
        assert!(
            (plain - shifted).abs() <= allowed,
            "stream {stream}: {shifted}, and {plain} without, {allowed} allowed"
        );
    }
}

fn a_clock_that_jumps_leaves_no_one_way_latency() {
    let bench = Bench::new();
    let text = SCENARIO.replace("\"1s\"", "\"2s\"");
    let jumps =
        VirtualClock { step: Some((2_000_000_000, 40_000_000)), began_ns: monotonic_ns(), ..VirtualClock::default() };
    let found = run(&bench, &two(&bench, [jumps, VirtualClock::default()]), &text, |_| {});
    let clock = found.meta.hosts[0].clock.unwrap();
    assert!(clock.uncertainty_ns > 10_000_000, "{clock:?}");
    let verdict = run_report(&found.meta, &found.summary, &found.rows).verdict;
    assert_eq!(verdict.word, Word::NotChecked, "{verdict:?}");
    assert!(verdict.text.contains("because the clocks of robot and station agree only within"), "{verdict:?}");
    let page = chronoseal_report::json(&run_report(&found.meta, &found.summary, &found.rows));
    assert!(page.contains("not checked, because the clocks of robot and station agree only within"), "{page}");
    assert_eq!(found.meta.unmeasured.len(), 2);
    assert!(latencies(&found, 0).is_empty() && latencies(&found, 1).is_empty());
    // Messages are counted all the same.
    assert_eq!(crate::runs::account(&found, "laser").in_time, 100);

    // The same of good clocks with a limit that no network keeps.
    let strict = |asked: &mut Options| asked.clock_uncertainty = Some(Duration::from_ns(1));
    let found = run(&bench, &two(&bench, [VirtualClock::default(); 2]), SCENARIO, strict);
    let verdict = run_report(&found.meta, &found.summary, &found.rows).verdict;
    assert_eq!(verdict.word, Word::NotChecked, "{verdict:?}");
    assert!(verdict.text.contains("--clock-uncertainty allows 1 ns"), "{verdict:?}");
}
