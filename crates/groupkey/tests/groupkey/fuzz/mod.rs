//! The adversary fuzzer: groups under somebody who loses, repeats, reorders, cuts, changes and invents their messages, and
//! has their removed members on its side.
//!
//! A *step* is a hostile action that changes what a station receives. Five things have to hold:
//! 1. no present member takes a key into use, for an epoch after a removal, that the removed member can derive; with confirmed
//!    installation none takes a key that is older than the orchestrator's;
//! 2. nobody takes a key into use without the words of all that confirmed installation promises;
//! 3. members that have a key of one epoch have the same;
//! 4. once the enemy is silent, the next change succeeds within [`CHANGE_TIME`];
//! 5. whoever comes in, back or for the first time, cannot derive the keys that were in use while it was out.
//!
//! Changes are removals, for a time or for good, the return of one node, the merge of several, and a key for everybody. One
//! group in three begins without some of its nodes, which wait on the bus and are the enemy's until they come in.
//!
//! In some groups the enemy also follows a plan (`plan.rs`).
//!
//! Hardened none may fail. As published each failure is counted under its name. `GROUPKEY_FUZZ_STEPS` says how many steps,
//! `GROUPKEY_FUZZ_SEED` with which seed the first group begins:
//!
//! ```sh
//! GROUPKEY_FUZZ_STEPS=1000000 cargo test --release -p chronoseal-groupkey --test groupkey fuzz -- --nocapture
//! ```

mod changes;
mod coverage;
mod enemy;
mod episode;
mod plan;

use std::collections::BTreeMap;

use chronoseal_groupkey::{Profile, Step};

use self::coverage::{Action, Coverage};

/// Steps of a run that everybody makes.
const STEPS: u64 = 20_000;
/// Steps from which every cell of the table has to be full.
const STEPS_OF_A_FULL_TABLE: u64 = 500_000;

fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number of steps, or a seed"))
}

/// Says which group was under way when something stopped the test.
struct Named(u64);

impl Drop for Named {
    #[allow(clippy::print_stdout, reason = "the test has failed, and this says how to see it again")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("with GROUPKEY_FUZZ_SEED={}", self.0);
        }
    }
}

#[test]
fn what_is_promised_holds_under_an_enemy() {
    let (steps, first) = (from_environment("GROUPKEY_FUZZ_STEPS", STEPS), from_environment("GROUPKEY_FUZZ_SEED", 1));
    let mut coverage = Coverage::default();
    let mut failures: BTreeMap<(Profile, String), Vec<u64>> = BTreeMap::new();
    let (mut seed, mut groups, mut keys) = (first, 0u64, 0u64);
    while coverage.steps() < steps {
        let _seed = Named(seed);
        let outcome = episode::run(seed);
        coverage.add(&outcome.coverage);
        keys += outcome.keys;
        for failure in outcome.failures {
            failures.entry((outcome.profile, failure)).or_default().push(seed);
        }
        (seed, groups) = (seed + 1, groups + 1);
    }
    println!("{coverage}\n{groups} groups, {keys} keys taken into use");
    let mut hardened = String::new();
    for ((profile, failure), seeds) in &failures {
        let mut distinct = seeds.clone();
        distinct.dedup();
        let line = format!(
            "{}: {} times: {failure}; seeds {:?}",
            profile.name(),
            seeds.len(),
            &distinct[..distinct.len().min(8)]
        );
        println!("{line}");
        if *profile == Profile::Hardened {
            hardened += &format!("{line}\n");
        }
    }
    assert!(hardened.is_empty(), "{hardened}");
    assert!(coverage.busy_share() >= 0.3, "{coverage}");
    assert!(keys > groups, "hardly any group came to a key, so nothing was tried");
    if steps >= STEPS_OF_A_FULL_TABLE {
        for step in Step::ALL {
            for action in Action::ALL {
                for is_busy in [false, true] {
                    let count = coverage.cell(step, action, is_busy);
                    assert!(count >= 100, "{step:?} {action:?}, in a run: {is_busy}: {count}\n{coverage}");
                }
            }
        }
    }
}
