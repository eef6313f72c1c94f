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

/// A star on which many streams have slots, several of one sender, with a box on its link that delays one of them, or all, or a station
/// that babbles.
fn attacked(seed: u64) -> String {
    let rng = &mut random::stream(seed, Purpose::Medium, 5);
    let nodes = 2 + below(rng, 3);
    let macsec = one_of(rng, &["", "", "macsec = {}\n", "macsec = { replay_window = 50 }\n"]);
    let mut text = format!(
        "schema_version = 2\nname = \"attacked\"\nseed = {seed}\nduration = \"120ms\"\n[segments.network.ethernet]\n\
         rate = \"100Mbit/s\"\ncluster_cycle = \"10ms\"\nsync = \"{}\"\naccess = \"{}\"\nguard_period = \"{}us\"\nvirtual_links = {{ standard = false }}\n{macsec}{}\
         class = {{ best_effort = {{}} }}\nswitches = [\"S\"]\nlinks = [\n",
        one_of(rng, &["beacon", "ideal"]),
        one_of(rng, &["shared-slots", "per-link"]),
        one_of(rng, &[0, 20, 120]),
        one_of(rng, &["", "", "queue_len_max = \"20kB\"\n", "queue_len_max = \"40kB\"\n"]),
    );
    for node in 0..nodes {
        let rate = one_of(rng, &["", "", ", rate = \"50Mbit/s\""]);
        text += &format!("  {{ between = [\"n{node}\", \"S\"]{rate} }},\n");
    }
    text += "]\n";
    (0..nodes).for_each(|node| text += &format!("[[nodes]]\nname = \"n{node}\"\n"));
    let mut victims = Vec::new();
    for stream in 0..2 + below(rng, 5) {
        let other = below(rng, nodes);
        let from = one_of(rng, &[0, 0, other]);
        let (class, lens): (&str, &[u32]) = match below(rng, 6) {
            0..3 => ("\"time-triggered\"", &[46, 333, 800, 1400]),
            3 => ("{ best_effort = {} }", &[46, 333, 1400, 15_000]),
            4 => ("{ best_effort = { priority = 5 } }", &[46, 333, 1400, 6_000]),
            _ => ("{ rate_constrained = { bag = \"2ms\", jitter = \"9ms\" } }", &[46, 333, 1400]),
        };
        text += &format!(
            "[[streams]]\nname = \"s{stream}\"\nfrom = \"n{from}\"\nto = [\"n{}\"]\nperiod = \"{}ms\"\nlength = \"{}B\"\n\
             network = {{ class = {class} }}\n",
            (from + 1 + below(rng, nodes - 1)) % nodes,
            one_of(rng, &[2, 5, 10]),
            one_of(rng, lens),
        );
        victims.push((stream, from));
    }
    let (stream, from) = one_of(rng, &victims);
    let by = one_of(rng, &["5us", "20us", "100us", "150us", "900us", "3ms", "9ms"]);
    let of = if below(rng, 3) > 0 { format!("stream = \"s{stream}\"\n") } else { String::new() };
    let kind = match below(rng, 4) {
        0 => format!("kind = \"babble\"\n{of}count = {}\n", one_of(rng, &[40, 400])),
        _ => format!(
            "kind = {{ delay = {{ by = \"{by}\" }} }}\n{of}every = \"1ms\"\ncount = {}\n",
            one_of(rng, &[5, 40, 90])
        ),
    };
    text + &format!("[[threats]]\nname = \"attack\"\nat = {{ link = \"n{from}\" }}\nstart = \"10ms\"\n{kind}")
}

/// `ATTACKED_SEED=17` tries that network alone, `ATTACKED_NETWORKS=5000` more of them.
#[test]
fn no_frame_is_late_or_absent_from_its_slot_beside_an_attack_of_which_no_risk_tells() {
    let only = from_environment("ATTACKED_SEED");
    let wanted = from_environment("ATTACKED_NETWORKS").unwrap_or(4 * NETWORKS);
    let (mut unscheduled, mut at_risk) = (0, 0);
    for seed in only.map_or(0..wanted, |seed| seed..seed + 1) {
        let text = attacked(seed);
        let Some(outcome) = outcome(&plan_of(&text)) else {
            unscheduled += 1;
            continue;
        };
        assert!(outcome.wrong.is_empty(), "seed {seed}:\n{}\n{text}", outcome.wrong.join("\n"));
        assert!(outcome.lost.is_empty(), "seed {seed}: frames of {:?} are lost\n{text}", outcome.lost);
        assert!(
            outcome.absent.is_empty(),
            "seed {seed}: absent from slots, and nothing says that they can be:\n{}\n{text}",
            outcome.absent.join("\n")
        );
        at_risk += u64::from(outcome.has_risk);
    }
    println!("{wanted} attacked networks, {unscheduled} whose slots do not fit, {at_risk} with streams at risk");
    assert!(only.is_some() || unscheduled * 5 <= wanted && 0 < at_risk && at_risk < wanted - unscheduled);
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
