//! No frame is later than its bound, or lost, beside a box on its sender's link that delays all frames of that sender, or those of one
//! stream: the networks of [`super::switched`] with such a box.

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
    let start = one_of(rng, &["0s", "20ms"]);
    let from_here: Vec<&str> = text
        .split("[[streams]]\nname = \"")
        .skip(1)
        .filter(|stream| stream.contains(&format!("from = \"n{node}\"")))
        .filter_map(|stream| stream.split('"').next())
        .collect();
    let one = (!from_here.is_empty() && below(rng, 2) == 0).then(|| one_of(rng, &from_here));
    let (by, which) = match one {
        Some(name) => {
            let count = one_of(rng, &[1, 2]);
            (
                one_of(rng, &["10us", by.replace("300ns", "150us").as_str()]).to_owned(),
                format!("stream = \"{name}\"\ncount = {count}\n"),
            )
        }
        None => (by.to_owned(), String::new()),
    };
    // An attack needs real bytes.
    let text = text.replace("fidelity = \"timing\"\n", "");
    format!(
        "{text}[[threats]]\nname = \"box\"\nkind = {{ delay = {{ by = \"{by}\" }} }}\nat = {{ link = \"n{node}\" }}\nstart = \"{start}\"\n{which}"
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
        assert!(
            outcome.absent.is_empty(),
            "seed {seed}: absent from slots, and nothing says that they can be:\n{}\n{text}",
            outcome.absent.join("\n")
        );
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
