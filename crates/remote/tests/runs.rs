//! What becomes of messages between agents, to the last one; and of agents that are busy, and controllers that are gone.

use std::sync::atomic::{AtomicBool, Ordering};

use chronoseal_remote::{Role, VirtualClock};
use chronoseal_report::{Word, run_report};
use chronoseal_results::Account;
use chronoseal_runner::Run;

use crate::bench::{Bench, IMAGE, SCENARIO, drive, drive_until, options, two, workers};

pub(crate) const TESTS: &[(&str, fn())] = &[
    ("every_message_between_two_agents_is_accounted_for", every_message_between_two_agents_is_accounted_for),
    ("an_agent_takes_part_in_one_run_at_a_time", an_agent_takes_part_in_one_run_at_a_time),
    ("a_run_that_is_stopped_keeps_what_there_is", a_run_that_is_stopped_keeps_what_there_is),
];

pub(crate) fn account<'r>(run: &'r Run, stream: &str) -> &'r Account {
    let summary = run.summary.streams.iter().find(|summary| summary.name == stream).unwrap();
    &summary.receivers[0]
}

fn every_message_between_two_agents_is_accounted_for() {
    let bench = Bench::new();
    let [robot, station] = &two(&bench, [VirtualClock::default(); 2]);
    let asked = options(&[("robot", robot), ("station", station)]);
    let run = drive(&(SCENARIO.to_owned() + IMAGE), &bench.identity("bench", Role::Controller), &asked).unwrap();
    for (stream, sent) in [("laser", 50), ("command", 200), ("image", 10)] {
        let account = account(&run, stream);
        assert_eq!((account.sent, account.in_time), (sent, sent), "{stream}: {account:?}");
        assert_eq!(account.balance(), 0);
    }
    let document = run_report(&run.meta, &run.summary, &run.rows);
    assert_eq!(document.verdict.word, Word::Held, "{:?}", document.verdict);
    let said = &run.meta.segments[0].properties;
    assert!(said.iter().any(|(_, value)| value.contains("were not emulated")), "{said:?}");
    assert!(run.meta.streams.iter().all(|stream| stream.bound.is_none()));
    assert_eq!(run.meta.hosts.len(), 2);
    assert_eq!(workers(), 0);
}

fn an_agent_takes_part_in_one_run_at_a_time() {
    let bench = Bench::new();
    let [robot, station] = &two(&bench, [VirtualClock::default(); 2]);
    let asked = options(&[("robot", robot), ("station", station)]);
    std::thread::scope(|scope| {
        let first = bench.identity("first", Role::Controller);
        let running = scope.spawn(move || drive(SCENARIO, &first, &options(&[("robot", robot), ("station", station)])));
        robot.said("node robot of `two`");
        let error =
            drive(SCENARIO, &bench.identity("second", Role::Controller), &asked).map(drop).unwrap_err().to_string();
        assert!(error.contains("it is busy: controller `first` at 127.0.0.1:"), "{error}");
        assert!(error.contains("runs `two`, for "), "{error}");
        assert!(running.join().unwrap().unwrap().meta.lost.is_none());
    });
    assert_eq!(workers(), 0);
}

fn a_run_that_is_stopped_keeps_what_there_is() {
    let bench = Bench::new();
    let [robot, station] = &two(&bench, [VirtualClock::default(); 2]);
    let asked = options(&[("robot", robot), ("station", station)]);
    let text = SCENARIO.replace("\"1s\"", "\"30s\"");
    let stop = AtomicBool::new(false);
    let run = std::thread::scope(|scope| {
        scope.spawn(|| {
            robot.said("node robot of `two`");
            std::thread::sleep(std::time::Duration::from_millis(1_500));
            stop.store(true, Ordering::Relaxed);
        });
        drive_until(&text, &bench.identity("bench", Role::Controller), &asked, &stop).unwrap()
    });
    assert!(run.meta.interrupted);
    assert!(account(&run, "command").in_time > 20, "{:?}", account(&run, "command"));
    assert_eq!(run_report(&run.meta, &run.summary, &run.rows).verdict.word, Word::NotChecked);
    assert_eq!(workers(), 0);
}
