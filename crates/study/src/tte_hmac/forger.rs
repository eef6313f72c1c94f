//! The forger: what the schedule stopped, what the tag stopped, what was accepted.

use std::sync::atomic::{AtomicBool, Ordering};

use chronoseal_catalog::Prepared;
use chronoseal_report::{Cell, Evidence, Mark, Table};
use chronoseal_results::RunSummary;
use chronoseal_results::summary::AttackSummary;
use chronoseal_runner::simulate;

use super::scenarios;
use crate::StudyError;

/// One run of the forger for each, names of `forger.toml`.
pub(super) const PROTECTIONS: [&str; 4] = ["none", "sha1-20", "sha256-16-full", "sha256-16-cycle"];

/// Protections that have to stop every attack.
const STOPS_ALL: [&str; 2] = ["sha256-16-full", "sha256-16-cycle"];

/// The attacked streams.
const STREAMS: [&str; 5] = ["port-spoof", "port-replay", "link-spoof", "link-tamper", "link-replay"];

/// Overrides that put `protection` on every stream.
pub(super) fn sets(protection: &'static str) -> Vec<(String, &'static str)> {
    STREAMS.iter().map(|stream| (format!("streams.{stream}.protection"), protection)).collect()
}

/// The forger in the simulator, by protection, until `stop` is set.
pub(super) fn simulated(seed: u64, stop: &AtomicBool) -> Result<Vec<(&'static str, RunSummary)>, StudyError> {
    let seed = seed.to_string();
    PROTECTIONS
        .into_iter()
        .take_while(|_| !stop.load(Ordering::Relaxed))
        .map(|protection| {
            let sets = sets(protection);
            let mut sets: Vec<(&str, &str)> = sets.iter().map(|(path, value)| (path.as_str(), *value)).collect();
            sets.push(("seed", &seed));
            let scenario = scenarios::load(scenarios::FORGER, &sets)?;
            Ok((protection, simulate(&Prepared::new(&scenario.plan)?, false, &mut |_| true)?.summary))
        })
        .collect()
}

/// True if every attack was tried and none accepted where freshness and tag are both there.
pub(super) fn stopped_where_it_must_be(runs: &[(&str, &RunSummary)]) -> bool {
    runs.iter()
        .filter(|(protection, _)| STOPS_ALL.contains(protection))
        .all(|(_, summary)| summary.attack_attempts() > 0 && summary.forged_accepted() == 0)
}

/// `none 300 of 500, …`: accepted of all attempts, by protection.
pub(super) fn accepted(runs: &[(&str, &RunSummary)]) -> String {
    let one = |(protection, summary): &(&str, &RunSummary)| {
        format!("{protection} {} of {}", summary.forged_accepted(), summary.attack_attempts())
    };
    runs.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// One row for each attack under each protection, both engines side by side.
pub(super) fn table(simulated: &[(&str, &RunSummary)], measured: &[(&str, &RunSummary)]) -> Table {
    let mut table = Table::new("What became of every attack: attempts, what stopped them, what a receiver took for real")
        .words("protection")
        .words("attack")
        .words("from")
        .words("engine")
        .numbers("attempts", "")
        .numbers("stopped by schedule", "")
        .numbers("stopped by tag", "")
        .numbers("stopped by freshness", "")
        .numbers("otherwise", "")
        .numbers("accepted", "")
        .footnote("none and sha1-20 are replayable: a frame recorded earlier passes again (the source has no freshness value).")
        .footnote("From the forger's own port the schedule stops everything: the switch knows at which port a stream may come in. To replay from there the forger is given a mirror port, so that it has heard the frame.")
        .footnote("With freshness from the cycle counter a replayed frame shows as a tag mismatch: the value is under the tag, not on the wire.");
    for (evidence, runs) in [(Evidence::Simulated, simulated), (Evidence::Measured, measured)] {
        for (protection, summary) in runs {
            for attack in &summary.attacks {
                table.push(row(protection, attack, evidence));
            }
        }
    }
    table
}

/// Frames thrown away in the forger's runs, by reason, whoever sent them.
pub(super) fn discards(simulated: &[(&str, &RunSummary)], measured: &[(&str, &RunSummary)]) -> Table {
    let mut table = Table::new("Genuine frames that did not arrive in the forger's runs, by reason: what an attack costs its victim")
        .words("protection")
        .words("engine")
        .words("stream")
        .words("reason")
        .numbers("frames", "")
        .footnote("Displaced by the attack: a frame of the attack had the slot of the genuine one, or the forger on its link changed it or put another in its place. Any other reason is the host's doing in a live run.")
        .footnote("A spoofed frame on the link takes its victim's slot: the genuine one behind it comes second and is thrown away. No tag prevents that.");
    for (evidence, runs) in [(Evidence::Simulated, simulated), (Evidence::Measured, measured)] {
        for (protection, summary) in runs {
            for stream in &summary.streams {
                let replaced = (stream.replaced > 0).then_some(("displaced by the attack", &stream.replaced));
                let reasons = stream.discarded.iter().map(|(reason, count)| (reason.as_str(), count));
                for (reason, count) in replaced.into_iter().chain(reasons) {
                    table.push(vec![
                        Cell::text(*protection),
                        Cell::text(evidence.name()),
                        Cell::text(stream.name.clone()),
                        Cell::text(reason),
                        Cell::count(*count).from(evidence),
                    ]);
                }
            }
        }
    }
    table
}

fn row(protection: &str, attack: &AttackSummary, evidence: Evidence) -> Vec<Cell> {
    let count = |count: u64| Cell::count(count).from(evidence);
    let must_stop = STOPS_ALL.contains(&protection);
    let accepted = count(attack.accepted).marked(match (attack.accepted, must_stop) {
        (0, _) => Mark::Good,
        (_, true) => Mark::Bad,
        (_, false) => Mark::Warn,
    });
    vec![
        Cell::text(protection),
        Cell::text(attack.attack.clone()),
        Cell::text(if attack.attacker == "attacker" { "own port" } else { "the sender's link" }),
        Cell::text(evidence.name()),
        count(attack.attempts),
        count(attack.stopped_by_schedule),
        count(attack.stopped_by_tag),
        count(attack.stopped_by_freshness),
        count(attack.stopped_by_format + attack.stopped_by_capacity + attack.in_flight),
        accepted,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attack<'a>(runs: &'a [(&str, RunSummary)], protection: &str, stream: &str) -> &'a AttackSummary {
        let (_, summary) = runs.iter().find(|(name, _)| *name == protection).unwrap();
        summary.attacks.iter().find(|attack| attack.stream == stream).unwrap()
    }

    #[test]
    fn each_mechanism_stops_what_it_is_there_for() {
        let runs = simulated(1, &AtomicBool::new(false)).unwrap();
        for protection in PROTECTIONS {
            for stream in ["port-spoof", "port-replay"] {
                let seen = attack(&runs, protection, stream);
                assert_eq!((seen.attempts, seen.stopped_by_schedule, seen.accepted), (100, 100, 0), "{seen:?}");
            }
        }
        for stream in ["link-spoof", "link-tamper", "link-replay"] {
            assert_eq!(attack(&runs, "none", stream).accepted, 100, "{stream} without a tag");
        }
        for stream in ["link-spoof", "link-tamper"] {
            assert_eq!(attack(&runs, "sha1-20", stream).stopped_by_tag, 100, "{stream} with a tag");
        }
        assert_eq!(attack(&runs, "sha1-20", "link-replay").accepted, 100, "replayable without freshness");
        assert_eq!(attack(&runs, "sha256-16-full", "link-replay").stopped_by_freshness, 100);
        assert_eq!(attack(&runs, "sha256-16-cycle", "link-replay").stopped_by_tag, 100);
        let views: Vec<_> = runs.iter().map(|(name, summary)| (*name, summary)).collect();
        assert!(stopped_where_it_must_be(&views));
    }
}
