//! A cluster of AS6802 over the networks A and B, each with compression masters of its own: from cold on no frame is later than its bound,
//! no clock leaves the cluster, and no frame is lost from its slot in both networks, if nothing says so. The networks are those of
//! [`super::redundant`].

use chronoseal_core::random::{self, Purpose};
use chronoseal_core::{Duration, statistics};
use chronoseal_plan::{Ethernet, Plan};
use chronoseal_scenario::{NoFiles, load};

use super::redundant::slotted;
use super::switched::{below, one_of};
use super::{from_environment, outcome};

/// So many networks are tried.
const NETWORKS: u64 = 30;

fn cluster(seed: u64) -> String {
    let rng = &mut random::stream(seed, Purpose::Medium, 41);
    let mut text = slotted(seed);
    // Links that fail are not counted beside a cluster.
    if let Some(start) = text.find("failures = [\n") {
        let len = text[start..].find("]\n").expect("a list ends") + 2;
        // Entries have brackets of their own.
        let len = text[start..].find("\n]\n").map_or(len, |end| end + 3);
        text.replace_range(start..start + len, "");
    }
    let masters = 1 + below(rng, 4);
    let masters: Vec<String> = (0..masters).map(|node| format!("\"n{node}\"")).collect();
    let mut compressing = Vec::new();
    for letter in ["A", "B"] {
        let has_two = text.contains(&format!("\"{letter}1\""));
        match (has_two, below(rng, 3)) {
            (false, _) | (true, 0) => compressing.push(format!("\"{letter}0\"")),
            (true, 1) => compressing.push(format!("\"{letter}1\"")),
            (true, _) => compressing.extend([0, 1].map(|switch| format!("\"{letter}{switch}\""))),
        }
    }
    let delay = one_of(rng, &["", "max_transmission_delay = \"2500us\"\n", "max_transmission_delay = \"3500us\"\n"]);
    let sync = format!(
        "{delay}sync = {{ as6802 = {{ masters = [{}], compression_masters = [{}] }} }}",
        masters.join(", "),
        compressing.join(", ")
    );
    for other in ["sync = \"beacon\"", "sync = \"ideal\""] {
        text = text.replace(other, &sync);
    }
    text = text.replace(", rate = \"10Mbit/s\"", "");
    let drifts: &[i64] = one_of(rng, &[&[0][..], &[5, -5, 0], &[20, -20, 10, 0], &[100, -100, 50]]);
    for node in 0..4 {
        let clock = format!(
            "clock = {{ fixed = {{ offset = \"{}us\", drift = \"{}ppm\" }} }}\n",
            below(rng, 20_000),
            one_of(rng, drifts)
        );
        let name = format!("name = \"n{node}\"\n");
        text = text.replace(&format!("{name}clock = \"ideal\"\n"), &format!("{name}{clock}"));
    }
    text = text.replace("duration = \"300ms\"", "duration = \"500ms\"");
    text = text.replace("precision = \"2us\"", &format!("precision = \"{}\"", one_of(rng, &["5us", "12us", "30us"])));
    text.replace("guard_period = \"45us\"", "guard_period = \"90us\"")
}

/// `None` for a network so slow that no cycle holds a control frame's way there and back.
fn plan_of(text: &str) -> Option<Plan> {
    match load("any.toml", text.as_bytes(), &[], &NoFiles) {
        Ok(plan) => Some(plan),
        Err(problems) => {
            let shown = problems.render();
            assert!(shown.contains("there is no such cluster"), "{shown}\n{text}");
            None
        }
    }
}

/// `NETWORK_CLUSTERS_SEED=17` tries that network alone, `NETWORK_CLUSTERS=5000` more of them.
#[test]
fn over_two_networks_no_frame_is_later_than_its_bound_and_no_clock_leaves_a_cluster() {
    let only = from_environment("NETWORK_CLUSTERS_SEED");
    let wanted = from_environment("NETWORK_CLUSTERS").unwrap_or(NETWORKS);
    let (mut ratios, mut unbounded, mut impossible, mut at_risk) = (Vec::new(), Vec::new(), 0, 0);
    let (mut unscheduled, mut in_slots, mut closest) = (0, 0, 0.0f64);
    for seed in only.map_or(0..wanted, |seed| seed..seed + 1) {
        let text = cluster(seed);
        let Some(plan) = plan_of(&text) else {
            impossible += 1;
            continue;
        };
        let Some(outcome) = outcome(&plan) else {
            unscheduled += 1;
            continue;
        };
        assert!(outcome.wrong.is_empty(), "seed {seed}:\n{}\n{text}", outcome.wrong.join("\n"));
        assert!(outcome.lost.is_empty(), "seed {seed}: frames of {:?} are lost\n{text}", outcome.lost);
        let precision = Ethernet::first(&plan).map_or(Duration::ZERO, |view| view.segment.precision);
        if outcome.are_clocks_at_risk {
            at_risk += 1;
        } else {
            assert!(outcome.strayed.is_empty(), "seed {seed}: {:?} strayed\n{text}", outcome.strayed);
            assert!(outcome.spread <= precision, "seed {seed}: {} apart\n{text}", outcome.spread);
            assert!(outcome.absent.is_empty(), "seed {seed}:\n{}\n{text}", outcome.absent.join("\n"));
            in_slots += 1;
            closest = closest.max(outcome.spread.as_us_f64() / precision.as_us_f64());
        }
        ratios.extend(outcome.ratios);
        unbounded.extend(outcome.unbounded.into_iter().map(|end| format!("seed {seed}: {end}")));
    }
    ratios.sort_by(f64::total_cmp);
    println!(
        "{} clusters, {impossible} that cannot be, {unscheduled} whose slots do not fit, {in_slots} that hold, {at_risk} whose \
         clocks may stray, the others apart by {closest:.2} of their precision at most: {} ends, bound over simulated maximum: \
         median {:.2}, worst {:.2}; {} ends without a bound",
        only.map_or(wanted, |_| 1),
        ratios.len(),
        statistics::median(&ratios).unwrap_or_default(),
        ratios.last().copied().unwrap_or_default(),
        unbounded.len()
    );
    if only.is_none() {
        assert!(
            impossible * 2 <= wanted && at_risk * 3 <= wanted * 2 && in_slots * 5 >= wanted,
            "{impossible} and {at_risk} of {wanted}"
        );
        assert!(unbounded.len() * 4 <= ratios.len(), "{}", unbounded.join("\n"));
    }
}
