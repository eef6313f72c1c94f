//! When a live run of a test counts, and how often it is tried.
//!
//! A live run depends on the machine. So a test says what it needs of it, and these rules hold for all alike:
//!
//! 1. The first try may run beside others of the same test. Every further one runs alone, after a pause that grows.
//! 2. A try that comes out as wanted ends it.
//! 3. What no machine excuses, such as a forged frame that was believed, fails at once: the test asserts it while it judges.
//! 4. A try that does not come out counts only if the machine gave what is needed. One such try may have hit what the needs do not
//!    see, so it takes two of them to fail.
//! 5. Where no two tries counted, nothing was found out. That is said, and it passes, unless `CHRONOSEAL_REQUIRE_LIVE=1` asks for
//!    an answer.
#![allow(clippy::disallowed_methods, reason = "a further try waits for a quieter machine")]

use std::sync::{PoisonError, RwLock};
use std::thread;
use std::time::Duration;

use chronoseal_runner::Run;
use chronoseal_scenario::Scenario;

use crate::engines::{self, Engine};

/// Tries at most.
const TRIES: u32 = 8;
/// Tries that count and did not come out, until the test fails.
const FAILURES: u32 = 2;

/// What a test needs of the machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Needs {
    /// It keeps no process from its processor for longer, as the sentinel of the run sees it.
    pub(crate) stall_max: Duration,
    /// Why.
    pub(crate) because: &'static str,
}

impl Needs {
    fn are_met(&self, run: &Run) -> bool {
        i128::from(run.summary.stalls.max_ns) <= self.stall_max.as_nanos() as i128
    }
}

/// Held for reading by those that may run beside others, for writing by those that run alone.
static MACHINE: RwLock<()> = RwLock::new(());

/// Runs live until `judge` is content, by the rules above. `None` where nothing was found out.
pub(crate) fn until<T>(
    what: &str,
    scenario: &Scenario,
    needs: Needs,
    judge: impl Fn(&Run) -> Result<T, String>,
) -> Option<T> {
    let (mut failures, mut last) = (0, String::new());
    for attempt in 0..TRIES {
        thread::sleep(Duration::from_millis(300) * attempt);
        let run = match attempt {
            0 => {
                let _beside = MACHINE.read().unwrap_or_else(PoisonError::into_inner);
                engines::run(Engine::Live, scenario)?
            }
            _ => {
                let _alone = MACHINE.write().unwrap_or_else(PoisonError::into_inner);
                engines::run(Engine::Live, scenario)?
            }
        };
        match judge(&run) {
            Ok(found) => return Some(found),
            Err(found) => last = found,
        }
        let counts = attempt > 0 && needs.are_met(&run);
        failures += u32::from(counts);
        let longest_ms = run.summary.stalls.max_ns as f64 / 1e6;
        let weight = if counts { "counts" } else { "does not count" };
        println!("try {} of {what} {weight}; the machine's longest stall {longest_ms:.1} ms: {last}", attempt + 1);
        assert!(failures < FAILURES, "{what}: live, {failures} times on a machine that gave what is needed: {last}");
    }
    let Needs { stall_max, because } = needs;
    let missing =
        format!("{what}: in {TRIES} tries no machine without stalls above {stall_max:?}, needed because {because}");
    assert_ne!(std::env::var("CHRONOSEAL_REQUIRE_LIVE").as_deref(), Ok("1"), "{missing}: {last}");
    println!("not judged: {missing}");
    None
}
