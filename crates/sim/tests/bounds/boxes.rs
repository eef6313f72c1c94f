//! No frame that a box on its sender's link delays with all others of that sender is later than its bound: the networks of
//! [`super::switched`] with such a box.

use chronoseal_core::random::{self, Purpose};
use chronoseal_core::statistics;

use super::switched::{below, network, one_of, plan_of};
use super::{from_environment, outcome};

/// So many networks are tried.
const NETWORKS: u64 = 40;

/// A network of switches with a box on the link of a node.
fn boxed(seed: u64) -> String {
    let rng = &mut random::stream(seed, Purpose::Medium, 4);
    let text = network(seed);
    let node = below(rng, text.matches("[[nodes]]").count());
    let by = one_of(rng, &["300ns", "40us", "900us", "3ms"]);
    let start = one_of(rng, &["0s", "30ms"]);
    // An attack needs real bytes.
    let text = text.replace("fidelity = \"timing\"\n", "");
    // Frames of any length, of which an attacker could not hold the longest with MACsec.
    let text: String =
        text.lines().filter(|line| !line.starts_with("macsec = ")).map(|line| format!("{line}\n")).collect();
    format!(
        "{text}[[threats]]\nname = \"box\"\nkind = {{ delay = {{ by = \"{by}\" }} }}\nat = {{ link = \"n{node}\" }}\nstart = \"{start}\"\n"
    )
}

/// `BOXES_SEED=17` tries that network alone, `BOXES_NETWORKS=5000` more of them.
#[test]
fn no_frame_behind_a_box_that_delays_is_later_than_its_bound() {
    let only = from_environment("BOXES_SEED");
    let wanted = from_environment("BOXES_NETWORKS").unwrap_or(NETWORKS);
    let (mut ratios, mut unbounded) = (Vec::new(), 0);
    for seed in only.map_or(0..wanted, |seed| seed..seed + 1) {
        let text = boxed(seed);
        let Some(outcome) = outcome(&plan_of(&text)) else { continue };
        assert!(outcome.wrong.is_empty(), "seed {seed}:\n{}\n{text}", outcome.wrong.join("\n"));
        assert!(outcome.lost.is_empty(), "seed {seed}: frames of {:?} are lost\n{text}", outcome.lost);
        ratios.extend(outcome.ratios);
        unbounded += outcome.unbounded.len();
    }
    ratios.sort_by(f64::total_cmp);
    println!(
        "{} networks with a box: {} ends, bound over simulated maximum: median {:.2}, worst {:.2}; {unbounded} ends without a bound",
        only.map_or(wanted, |_| 1),
        ratios.len(),
        statistics::median(&ratios).unwrap_or_default(),
        ratios.last().copied().unwrap_or_default(),
    );
    assert!(only.is_some() || unbounded < ratios.len(), "{unbounded} of {} have no bound", ratios.len() + unbounded);
}
