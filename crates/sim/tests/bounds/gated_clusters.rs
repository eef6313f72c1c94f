//! No frame is later than its bound behind gates that go by the clocks of a cluster of AS6802, from cold on: the networks of
//! [`super::ports`] whose ports have gates, with clocks that drift, masters and compression masters. Nor is a clock ever corrected by more
//! than the precision, if nothing says so: that is what the bounds are made of.

use std::fmt::Write as _;

use chronoseal_core::random::{self, Purpose};
use chronoseal_core::{Duration, statistics};
use chronoseal_plan::Ethernet;
use chronoseal_scenario::{NoFiles, load};

use super::ports::{self, GATED};
use super::switched::{below, one_of};
use super::{from_environment, outcome};

/// So many networks are tried.
const NETWORKS: u64 = 40;

/// A network whose gates go by the clocks of a cluster.
fn network(seed: u64) -> String {
    let rng = &mut random::stream(seed, Purpose::Medium, 4);
    let text = ports::network(seed, &GATED);
    let (nodes, switches) = (text.matches("[[nodes]]").count(), text.matches("\"S").count().min(3));
    let has = |switch: &usize| text.contains(&format!("\"S{switch}\""));
    let switches: Vec<usize> = (0..switches).filter(has).collect();
    let masters = 1 + below(rng, nodes);
    let first = below(rng, nodes - masters + 1);
    let masters: Vec<String> = (first..first + masters).map(|node| format!("\"n{node}\"")).collect();
    let compressing = below(rng, switches.len());
    let other = (compressing + 1) % switches.len();
    let mut compressing = vec![format!("\"S{compressing}\"")];
    if below(rng, 2) == 0 && other > 0 {
        compressing.insert(0, "\"S0\"".to_owned());
        compressing.dedup();
    }
    let sync = format!(
        "sync = {{ as6802 = {{ masters = [{}], compression_masters = [{}] }} }}",
        masters.join(", "),
        compressing.join(", ")
    );
    let mut written = String::new();
    for line in text.lines().filter(|line| *line != "clock = \"ideal\"") {
        let line = match line {
            "sync = \"beacon\"" | "sync = \"ideal\"" => sync.clone(),
            "integration_cycle = \"5ms\"" => {
                format!("integration_cycle = \"{}\"", one_of(rng, &["10ms", "20ms", "20ms"]))
            }
            "precision = \"30us\"" => format!("precision = \"{}\"", one_of(rng, &["8us", "10us", "20us", "45us"])),
            "duration = \"60ms\"" => format!("duration = \"{}\"", one_of(rng, &["250ms", "400ms"])),
            other => other.to_owned(),
        };
        let _ = writeln!(written, "{line}");
        if line.starts_with("name = \"n") {
            let (offset, drift) = (below(rng, 9_000), below(rng, 201) as i64 - 100);
            let drift = one_of(rng, &[drift, -100, 100, 0]);
            let _ = writeln!(written, "clock = {{ fixed = {{ offset = \"{offset}us\", drift = \"{drift}ppm\" }} }}");
        }
    }
    written
}

/// `GATED_CLUSTERS_SEED=17` tries that network alone, `GATED_CLUSTERS_NETWORKS=2000` more of them.
#[test]
fn no_frame_behind_gates_by_the_clocks_of_a_cluster_is_later_than_its_bound() {
    let only = from_environment("GATED_CLUSTERS_SEED");
    let wanted = from_environment("GATED_CLUSTERS_NETWORKS").unwrap_or(NETWORKS);
    let (mut ratios, mut unbounded, mut impossible, mut at_risk) = (Vec::new(), Vec::new(), 0, 0);
    let mut corrected = 0.0f64;
    for seed in only.map_or(0..wanted, |seed| seed..seed + 1) {
        let text = network(seed);
        let plan = match load("any.toml", text.as_bytes(), &[], &NoFiles) {
            Ok(plan) => plan,
            Err(problems) => {
                let shown = problems.render();
                assert!(shown.contains("there is no such cluster"), "{shown}\n{text}");
                impossible += 1;
                continue;
            }
        };
        let outcome = outcome(&plan).expect("streams without slots need no schedule");
        assert!(outcome.wrong.is_empty(), "seed {seed}:\n{}\n{text}", outcome.wrong.join("\n"));
        assert!(outcome.lost.is_empty(), "seed {seed}: frames of {:?} are lost\n{text}", outcome.lost);
        let precision = Ethernet::first(&plan).map_or(Duration::ZERO, |view| view.segment.precision);
        if outcome.are_clocks_at_risk {
            at_risk += 1;
        } else {
            assert!(outcome.strayed.is_empty(), "seed {seed}: {:?} strayed\n{text}", outcome.strayed);
            let most = outcome.corrected;
            assert!(most <= precision, "seed {seed}: a clock is corrected by {most}\n{text}");
            corrected = corrected.max(most.as_us_f64() / precision.as_us_f64());
        }
        ratios.extend(outcome.ratios);
        unbounded.extend(outcome.unbounded.into_iter().map(|end| format!("seed {seed}: {end}")));
    }
    ratios.sort_by(f64::total_cmp);
    println!(
        "{} clusters with gates, {impossible} that cannot be, {at_risk} whose clocks may stray, the others corrected by {corrected:.2} of their \
         precision at most: {} ends, bound over simulated maximum: median {:.2}, worst {:.2}; {} ends without a bound",
        only.map_or(wanted, |_| 1),
        ratios.len(),
        statistics::median(&ratios).unwrap_or_default(),
        ratios.last().copied().unwrap_or_default(),
        unbounded.len()
    );
    if only.is_none() {
        assert!(impossible * 2 <= wanted && at_risk * 2 <= wanted, "{impossible} and {at_risk} of {wanted}");
        assert!(unbounded.len() <= ratios.len(), "{}", unbounded.join("\n"));
    } else {
        unbounded.iter().for_each(|end| println!("{end}"));
    }
}
