//! No frame beside the messages of IEEE 802.1AS is later than its bound, from cold on, and no port sends more of these messages in any
//! window than is counted: the networks of [`super::switched`] with clocks that follow a grandmaster.
//!
//! Who becomes it is drawn, and often known last to those that are far from it, so that every system changes its mind while it starts.

use std::collections::BTreeMap;

use chronoseal_analysis::segment::{BOUNDS, bounds, links, routed::RoutedStream};
use chronoseal_analysis::synthesize;
use chronoseal_catalog::Prepared;
use chronoseal_core::random::{self, Purpose};
use chronoseal_core::{Duration, Event, NodeId, Priority, SimTime, statistics};
use chronoseal_media::watch::{Passed, Passing};
use chronoseal_plan::{Ethernet, Plan};
use chronoseal_scenario::{NoFiles, load};
use chronoseal_sim::{FrameContext, Observer};

use super::switched::{below, network, one_of};
use super::{from_environment, outcome};

/// So many networks are tried.
const NETWORKS: u64 = 30;

/// A network of switches whose clocks follow a grandmaster.
fn time_aware(seed: u64) -> String {
    let rng = &mut random::stream(seed, Purpose::Medium, 4);
    let mut text = network(seed);
    let nodes = text.matches("[[nodes]]").count();
    let intervals = ["15625us", "31250us", "62500us", "125ms"];
    let (sync, announce) = (one_of(rng, &intervals), one_of(rng, &intervals));
    let mut keys = format!(
        "sync_interval = \"{sync}\", announce_interval = \"{announce}\", pdelay_interval = \"{}\"",
        one_of(rng, &intervals)
    );
    keys += one_of(
        rng,
        &[
            "",
            "",
            "",
            ", granularity = \"0s\"",
            ", granularity = \"40ns\"",
            ", granularity = \"100ns\"",
            ", granularity = \"1us\"",
        ],
    );
    keys += one_of(rng, &["", ", bridge_drift = \"0ppm\"", ", bridge_drift = \"100ppm\""]);
    keys += one_of(rng, &["", "", ", sync_receipt_timeout = 2", ", sync_receipt_timeout = 5"]);
    keys += one_of(rng, &["", "", ", announce_receipt_timeout = 2"]);
    keys += one_of(
        rng,
        &[
            "",
            ", mean_link_delay_thresh = \"3us\"",
            ", mean_link_delay_thresh = \"5us\"",
            ", mean_link_delay_thresh = \"20us\"",
        ],
    );
    // Some nodes are better than all switches, each better than those before or after it.
    let mut better = Vec::new();
    for node in 0..nodes {
        if below(rng, 3) == 0 {
            let priority = one_of(rng, &[100, 120, 140, 160, 180, 255]);
            better.push(format!("{{ names = [\"n{node}\"], priority1 = {priority} }}"));
        }
    }
    keys += &format!(", systems = [{}]", better.join(", "));
    for other in ["sync = \"beacon\"", "sync = \"ideal\""] {
        text = text.replace(other, &format!("sync = {{ gptp = {{ {keys} }} }}"));
    }
    text =
        text.lines().filter(|line| !line.starts_with("integration_cycle = ")).map(|line| format!("{line}\n")).collect();
    text = text.replace("class = \"time-triggered\"", "class = { best_effort = {} }");
    if below(rng, 4) > 0 {
        text = text.replace("rate = \"10Mbit/s\"", "rate = \"100Mbit/s\"");
    }
    text.replace("duration = \"80ms\"", &format!("duration = \"{}\"", one_of(rng, &["400ms", "700ms"])))
}

fn plan_of(text: &str) -> Plan {
    load("any.toml", text.as_bytes(), &[], &NoFiles).unwrap_or_else(|problems| panic!("{}\n{text}", problems.render()))
}

/// `TIME_AWARE_SEED=17` tries that network alone, `TIME_AWARE_NETWORKS=5000` more of them.
#[test]
fn no_frame_beside_messages_of_802_1as_is_later_than_its_bound() {
    let only = from_environment("TIME_AWARE_SEED");
    let wanted = from_environment("TIME_AWARE_NETWORKS").unwrap_or(NETWORKS);
    let (mut ratios, mut unbounded) = (Vec::new(), Vec::new());
    let (mut bounded, mut rings) = (0, 0);
    for seed in only.map_or(0..wanted, |seed| seed..seed + 1) {
        let text = time_aware(seed);
        let plan = plan_of(&text);
        let outcome = outcome(&plan).expect("nothing is in slots");
        assert!(outcome.wrong.is_empty(), "seed {seed}:\n{}\n{text}", outcome.wrong.join("\n"));
        // Where nothing is bounded nothing is said of queues either.
        assert!(
            outcome.lost.is_empty() || outcome.ratios.is_empty(),
            "seed {seed}: frames of {:?} are lost\n{text}",
            outcome.lost
        );
        bounded += u64::from(!outcome.ratios.is_empty());
        let wiring = Ethernet::first(&plan).map(|view| &view.segment.wiring);
        let is_ring = wiring.is_some_and(|wiring| wiring.trunks.len() >= usize::from(wiring.switches));
        rings += u64::from(is_ring && !outcome.ratios.is_empty());
        ratios.extend(outcome.ratios);
        unbounded.extend(outcome.unbounded.into_iter().map(|end| format!("seed {seed}: {end}")));
    }
    ratios.sort_by(f64::total_cmp);
    println!(
        "{} networks, {bounded} of them bounded and {rings} of these rings: {} ends, bound over simulated maximum: median {:.2}, worst {:.2}; \
         {} ends without a bound",
        only.map_or(wanted, |_| 1),
        ratios.len(),
        statistics::median(&ratios).unwrap_or_default(),
        ratios.last().copied().unwrap_or_default(),
        unbounded.len()
    );
    if only.is_none() {
        assert!(unbounded.len() <= ratios.len(), "{}", unbounded.join("\n"));
        assert!(rings > 0, "no ring has bounds");
    } else {
        unbounded.iter().for_each(|end| println!("{end}"));
    }
}

/// When control frames come to the queues of each line, and what each takes there.
#[derive(Default)]
struct Messages {
    queued: BTreeMap<u32, Vec<SimTime>>,
    refused: u64,
}

impl Observer for Messages {
    const WATCHES_LINES: bool = true;

    fn event(&mut self, _: SimTime, _: NodeId, _: &Event, _: Option<FrameContext<'_>>) {}

    fn passing(&mut self, passing: &Passing) {
        match passing.what {
            Passed::Queued { priority: Priority::PROTOCOL_CONTROL } => {
                self.queued.entry(passing.line).or_default().push(passing.at);
            }
            Passed::Refused => self.refused += 1,
            _ => {}
        }
    }
}

/// How many frames are counted of messages of a kind in a window, its ends included.
fn counted(sent: &RoutedStream, window: Duration) -> i64 {
    let frames = if sent.name.starts_with("Pdelay") {
        3
    } else if sent.name.starts_with("Sync") {
        2
    } else {
        1
    };
    let late = sent.at.map_or(Duration::ZERO, |at| at.jitter());
    frames * ((window + late).div_floor(sent.distance) + 1)
}

/// Over all windows of all ports, from the first instant of the run on.
#[test]
fn no_port_sends_more_messages_of_802_1as_in_any_window_than_are_counted() {
    let only = from_environment("TIME_AWARE_SEED");
    let wanted = from_environment("TIME_AWARE_NETWORKS").unwrap_or(NETWORKS);
    let (mut closest, mut ports, mut windows) = (0.0f64, 0, 0u64);
    for seed in only.map_or(0..wanted, |seed| seed..seed + 1) {
        let text = time_aware(seed);
        let plan = plan_of(&text);
        let prepared = Prepared::new(&plan).expect("nothing is in slots");
        let tables: Vec<_> = plan
            .segment_ids()
            .map(|segment| Ethernet::of(&plan, segment).map(|view| synthesize(view).expect("it was prepared")))
            .collect();
        let segment = plan.segment_ids().next().expect("there is one");
        let Ok(routed) = links(&plan, &tables, BOUNDS, segment) else { continue };
        let finished =
            chronoseal_sim::run(&prepared, Messages::default(), &mut |_| true).expect("every part can be built");
        let seen = finished.observer;
        for (line, queued) in &seen.queued {
            let own: Vec<&RoutedStream> = (routed.streams.iter())
                .filter(|sent| sent.stream.is_none() && sent.hops[0].0 == *line as usize)
                .collect();
            assert!(!own.is_empty(), "seed {seed}: line {line} has messages that nobody counts\n{text}");
            ports += 1;
            for (first, from) in queued.iter().enumerate() {
                for (last, until) in queued.iter().enumerate().skip(first) {
                    let (came, window) = ((last - first + 1) as i64, *until - *from);
                    let most: i64 = own.iter().map(|sent| counted(sent, window)).sum();
                    assert!(
                        came <= most || seen.refused > 0,
                        "seed {seed}: {came} messages in {window} from {from:?} on at line {line}, counted {most}\n{text}"
                    );
                    closest = closest.max(came as f64 / most as f64);
                    windows += 1;
                }
            }
        }
    }
    println!("{ports} ports, {windows} windows: {closest:.2} of what is counted at most");
    assert!(only.is_some() || closest > 0.5, "{closest:.2} of what is counted says nothing");
}

/// A ring of four switches with a node at each.
const RING: &str = r#"
schema_version = 2
name = "ring"
duration = "1s"
[segments.network.ethernet]
rate = "1Gbit/s"
cluster_cycle = "10ms"
propagation_delay = "100ns"
class = { best_effort = {} }
switches = ["A", "B", "C", "D"]
links = [
  { between = ["A", "B"] }, { between = ["B", "C"] }, { between = ["C", "D"] }, { between = ["D", "A"] },
  { between = ["a", "A"] }, { between = ["b", "B"] }, { between = ["c", "C"] }, { between = ["d", "D"] },
]
sync = { gptp = { systems = [{ names = ["c"], priority1 = 100 }] } }
[[nodes]]
name = "a"
[[nodes]]
name = "b"
[[nodes]]
name = "c"
[[nodes]]
name = "d"
[[streams]]
name = "camera"
from = "a"
to = ["b"]
period = "10ms"
length = "1400B"
"#;

/// Why a scenario has no bounds, if so.
fn why(text: &str) -> Option<String> {
    let plan = plan_of(text);
    let tables: Vec<_> = plan
        .segment_ids()
        .map(|segment| Ethernet::of(&plan, segment).map(|view| synthesize(view).expect("it fits")))
        .collect();
    let found = bounds(&plan, &tables, BOUNDS);
    let missing = found.streams.iter().flat_map(|stream| &stream.ends).find_map(|end| end.latency.as_ref().err());
    missing.map(|missing| missing.why.text(&plan))
}

#[test]
fn what_could_make_more_messages_than_are_counted_is_named() {
    assert_eq!(why(RING), None);
    let with = |key: &str| RING.replace("gptp = { ", &format!("gptp = {{ {key}, "));
    let table = |key: &str| RING.replace("[[nodes]]\nname = \"a\"\n", &format!("{key}\n[[nodes]]\nname = \"a\"\n"));
    let slow = |key: &str| with(&format!("mean_link_delay_thresh = \"20us\", {key}")).replace("1Gbit/s", "10Mbit/s");
    let end = |more: &str| RING.to_owned() + more;
    for (text, said) in [
        // Two ways of one length lead across: one Sync may be missed.
        (with("sync_receipt_timeout = 2"), "a larger `sync_receipt_timeout`"),
        (slow("sync_interval = \"7812500ns\""), "a larger `sync_receipt_timeout`, or a longer interval"),
        (slow("announce_interval = \"976562500ps\""), "a larger `announce_receipt_timeout`"),
        (slow("pdelay_interval = \"976562500ps\""), "a longer `pdelay_interval`"),
        (
            with("granularity = \"1us\", mean_link_delay_thresh = \"5us\", pdelay_interval = \"7812500ns\""),
            "a finer `granularity`",
        ),
        (with("granularity = \"800ns\""), "write a threshold of that or more"),
        (with("mean_link_delay_thresh = \"105ns\""), "write a threshold of that or more"),
        (end("network = { class = \"time-triggered\" }\n"), "slots or tasks go by clocks of IEEE 802.1AS"),
        (table("failures = [{ link = [\"A\", \"B\"], at = \"1ms\" }]"), "only without threats, links that fail"),
        (table("frame_losses = [{ link = [\"A\", \"B\"], ratio = 1e-6 }]"), "only without threats, links that fail"),
        (
            end(
                "[[threats]]\nname = \"rogue\"\nkind = { rogue_grandmaster = { offset = \"50us\" } }\nat = { node = \"d\" }\nstart = \"500ms\"\n",
            ),
            "only without threats, links that fail",
        ),
        (
            end(
                "[[threats]]\nname = \"forged\"\nkind = { forged_time = { offset = \"20us\" } }\nat = { link = \"d\" }\nstart = \"500ms\"\nevery = \"10ms\"\ncount = 3\n",
            ),
            "only without threats, links that fail",
        ),
    ] {
        let found = why(&text);
        assert!(found.as_ref().is_some_and(|found| found.contains(said)), "{found:?} instead of {said}\n{text}");
    }
}
