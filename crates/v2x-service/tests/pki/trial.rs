//! The trial's verdict, whatever the second.

use std::sync::atomic::{AtomicU64, Ordering};

use chronoseal_v2x::types::Time64;
use chronoseal_v2x_service::pki::{Clock, now};
use chronoseal_v2x_service::trial::{Outcome, SecondVendor, Trial, run, run_by};

fn no_case_failed(trial: &Trial) {
    let failed: Vec<_> = trial
        .cases
        .iter()
        .chain(&trial.services)
        .filter_map(|case| match &case.outcome {
            Outcome::Failed(why) => Some(format!("{}: {why}", case.name)),
            _ => None,
        })
        .collect();
    assert!(failed.is_empty(), "{failed:#?}");
    assert_eq!((trial.cases.len(), trial.services.len()), (15, 9));
}

/// As the study runs it: a station's time goes faster than the system's.
#[test]
fn no_case_of_the_trial_fails_by_the_systems_clock() {
    let folder = tempfile::tempdir().unwrap();
    let trial = run(folder.path(), &SecondVendor::Ours("a test".into()), &mut |_| ()).unwrap();
    no_case_failed(&trial);
}

/// Every reading is a second after the one before: the second ends between every two calls that look at the clock.
#[test]
fn the_verdict_stays_when_a_second_ends_between_every_two_calls() {
    let folder = tempfile::tempdir().unwrap();
    let (start, readings) = (now(), std::sync::Arc::new(AtomicU64::new(0)));
    let counted = std::sync::Arc::clone(&readings);
    let clock = Clock::new(move || Time64(start.0 + counted.fetch_add(1, Ordering::Relaxed) * 1_000_000));
    let trial = run_by(&clock, folder.path(), &SecondVendor::Ours("a test".into()), &mut |_| ()).unwrap();
    no_case_failed(&trial);
    println!("{} readings of the clock", readings.load(Ordering::Relaxed));
}
