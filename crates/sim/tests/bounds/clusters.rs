//! No frame beside the control frames of a cluster of AS6802 is later than its bound, from cold on, and no clock leaves a cluster of which
//! nothing says that it can: the networks of [`super::switched`] with masters and compression masters of their own. Nor is a frame
//! lost from its slot that switches and stations find by such clocks, if nothing says so.

use chronoseal_core::random::{self, Purpose, Rng};
use chronoseal_core::{Duration, statistics};
use chronoseal_plan::{Ethernet, Plan};
use chronoseal_scenario::{NoFiles, load};

use super::switched::{below, network, one_of};
use super::{from_environment, outcome};

/// So many networks are tried.
const NETWORKS: u64 = 60;

/// A network of switches as a cluster.
fn cluster(seed: u64) -> String {
    let rng = &mut random::stream(seed, Purpose::Medium, 3);
    let mut text = network(seed);
    let (nodes, switches) =
        (text.matches("[[nodes]]").count(), 2 + below(&mut random::stream(seed, Purpose::Medium, 1), 4));
    let masters = 1 + below(rng, nodes);
    let first = below(rng, nodes - masters + 1);
    let masters: Vec<String> = (first..first + masters).map(|node| format!("\"n{node}\"")).collect();
    let compressing = below(rng, switches);
    let other = (compressing + 1) % switches;
    let compressing = match rng.next_u64() % 2 {
        0 => format!("\"S{compressing}\""),
        _ => format!("\"S{compressing}\", \"S{other}\""),
    };
    let sync = format!(
        "sync = {{ as6802 = {{ masters = [{}], compression_masters = [{compressing}] }} }}",
        masters.join(", ")
    );
    for other in ["sync = \"beacon\"", "sync = \"ideal\""] {
        text = text.replace(other, &sync);
    }
    for short in ["1ms", "5ms"] {
        text = text.replace(&format!("integration_cycle = \"{short}\""), "integration_cycle = \"20ms\"");
    }
    if seed % 4 < 2 {
        text = text.replace("class = \"time-triggered\"", "class = { best_effort = {} }");
    } else {
        let delay = one_of(rng, &["2500us", "3500us"]);
        text = text.replace(
            "[segments.network.ethernet]\n",
            &format!("[segments.network.ethernet]\nmax_transmission_delay = \"{delay}\"\n"),
        );
    }
    text = text.replace("duration = \"80ms\"", &format!("duration = \"{}\"", one_of(rng, &["250ms", "400ms"])));
    text.replace("precision = \"30us\"", &format!("precision = \"{}\"", one_of(rng, &["10us", "20us", "50us", "60us"])))
}

/// `None` for links so slow that no cycle holds a control frame's way there and back.
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

/// `CLUSTERS_SEED=17` tries that network alone, `CLUSTERS_NETWORKS=5000` more of them.
#[test]
fn no_frame_beside_a_cluster_is_later_than_its_bound_and_no_clock_leaves_it() {
    let only = from_environment("CLUSTERS_SEED");
    let wanted = from_environment("CLUSTERS_NETWORKS").unwrap_or(NETWORKS);
    let (mut ratios, mut unbounded, mut impossible, mut at_risk) = (Vec::new(), Vec::new(), 0, 0);
    let (mut unscheduled, mut in_slots) = (0, 0);
    let mut closest = 0.0f64;
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
            in_slots += u64::from(text.contains("\"time-triggered\""));
            closest = closest.max(outcome.spread.as_us_f64() / precision.as_us_f64());
        }
        ratios.extend(outcome.ratios);
        unbounded.extend(outcome.unbounded.into_iter().map(|end| format!("seed {seed}: {end}")));
    }
    ratios.sort_by(f64::total_cmp);
    println!(
        "{} clusters, {impossible} that cannot be, {unscheduled} whose slots do not fit, {in_slots} with slots that hold, {at_risk} whose clocks may stray, the others apart by {closest:.2} of their precision at \
         most: {} ends, bound over simulated maximum: median {:.2}, worst {:.2}; {} ends without a bound",
        only.map_or(wanted, |_| 1),
        ratios.len(),
        statistics::median(&ratios).unwrap_or_default(),
        ratios.last().copied().unwrap_or_default(),
        unbounded.len()
    );
    if only.is_none() {
        assert!(impossible * 2 <= wanted && at_risk * 2 <= wanted, "{impossible} and {at_risk} of {wanted}");
        assert!(unbounded.len() * 2 <= ratios.len(), "{}", unbounded.join("\n"));
    }
}
