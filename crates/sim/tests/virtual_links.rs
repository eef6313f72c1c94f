//! Virtual links of ARINC 664 part 7: exact worst cases of published networks, and what policing keeps from others.

use std::collections::BTreeMap;

use chronoseal_analysis::segment::{BOUNDS, Bounds, Cause, bounds};
use chronoseal_catalog::Prepared;
use chronoseal_core::random::{self, Purpose, Rng};
use chronoseal_core::{DiscardReason, Duration, Event, EventKind, NodeId, SimTime, StreamId};
use chronoseal_plan::Plan;
use chronoseal_scenario::{NoFiles, load};
use chronoseal_sim::{FrameContext, Observer, Tally, run};

fn plan(text: &str) -> Plan {
    load("any.toml", text.as_bytes(), &[], &NoFiles).unwrap_or_else(|problems| panic!("{}\n{text}", problems.render()))
}

fn watched<O: Observer>(plan: &Plan, observer: O) -> O {
    let prepared = Prepared::new(plan).expect("virtual links need no schedule");
    run(&prepared, observer, &mut |_| true).expect("every part can be built").observer
}

fn bounded(plan: &Plan) -> Bounds {
    let prepared = Prepared::new(plan).expect("virtual links need no schedule");
    let tables: Vec<_> = plan.segment_ids().map(|id| prepared.schedule(id).cloned()).collect();
    bounds(plan, &tables, BOUNDS)
}

/// A network of virtual links with one priority, first in first out, without gaps: name of the link, its end system, frame
/// `[byte]` and worst latency from its release to the last bit `[us]`.
///
/// # Source
/// `afdx_y4` is the configuration of four virtual links and three switches whose exact worst case in papers on the trajectory
/// approach is 272 us; `afdx_m4` is its like with unequal frames. The worst cases are from an exhaustive search over offsets and
/// orders. The bandwidth allocation gap is 4 ms, the rate 100 Mbit/s.
struct Afdx {
    switches: &'static str,
    trunks: &'static [[&'static str; 2]],
    /// Each end system with its switch; frames of one instant go in this order.
    nodes: &'static [[&'static str; 2]],
    to: &'static str,
    switching_us: i64,
    links: &'static [(&'static str, u32, i64)],
    /// Bounds by network calculus with streams grouped by their links, as the file of the oracle has them `[us]`.
    grouped_us: [f64; 4],
}

const Y4: Afdx = Afdx {
    switches: "\"S1\", \"S2\", \"S3\"",
    trunks: &[["S1", "S3"], ["S2", "S3"]],
    nodes: &[["e1", "S1"], ["e2", "S1"], ["e3", "S2"], ["e4", "S2"], ["e6", "S3"]],
    to: "e6",
    switching_us: 16,
    links: &[("e1", 500, 272), ("e2", 500, 272), ("e3", 500, 272), ("e4", 500, 272)],
    grouped_us: [275.6776; 4],
};

const M4: Afdx = Afdx {
    switches: "\"S1\", \"S2\"",
    trunks: &[["S1", "S2"]],
    nodes: &[["e1", "S1"], ["e2", "S1"], ["e3", "S2"], ["e8", "S2"]],
    to: "e8",
    switching_us: 20,
    links: &[("e1", 250, 560), ("e1", 1500, 560), ("e2", 750, 480), ("e3", 1000, 300)],
    grouped_us: [564.8842, 564.8842, 484.8842, 303.5971],
};

impl Afdx {
    /// The streams in this order, for two gaps.
    fn plan(&self, order: &[usize]) -> Plan {
        let Self { switches, switching_us, to, .. } = self;
        let mut text = format!(
            "schema_version = 2\nname = \"afdx\"\nduration = \"8ms\"\nfidelity = \"timing\"\n[segments.network.ethernet]\n\
             rate = \"100Mbit/s\"\ncluster_cycle = \"4ms\"\nsync = \"ideal\"\naccounting = \"as-published\"\n\
             ct_marker = \"03:00:00:00\"\nforwarding_delay = \"{switching_us}us\"\n\
             class = {{ rate_constrained = {{ bag = \"4ms\" }} }}\nswitches = [{switches}]\nlinks = [\n"
        );
        for [one, other] in self.trunks.iter().chain(self.nodes) {
            text += &format!("  {{ between = [\"{one}\", \"{other}\"] }},\n");
        }
        text += "]\n";
        for [node, _] in self.nodes {
            text += &format!("[[nodes]]\nname = \"{node}\"\nclock = \"ideal\"\n");
        }
        for &link in order {
            let (from, bytes, _) = self.links[link];
            text += &format!(
                "[[streams]]\nname = \"v{link}\"\nfrom = \"{from}\"\nto = [\"{to}\"]\nperiod = \"4ms\"\nlength = \"{}B\"\n\
                 offset = \"0s\"\n",
                bytes - 15
            );
        }
        plan(&text)
    }

    /// The longest latency of each virtual link, released at these times `[ps]`.
    fn latencies(&self, plan: &mut Plan, order: &[usize], offsets_ps: &[i64]) -> Vec<Duration> {
        for (stream, &link) in plan.streams.iter_mut().zip(order) {
            stream.offset = Some(Duration::from_ps(offsets_ps[link]));
        }
        let tally = watched(plan, Tally::default());
        assert_eq!(tally.violations(), 0);
        let mut latencies = vec![Duration::ZERO; self.links.len()];
        for (row, &link) in tally.rows().iter().zip(order) {
            assert!(row.delivered > 0 && row.discarded == 0, "v{link} arrives");
            latencies[link] = row.latency_max;
        }
        latencies
    }
}

/// In microseconds, and a picosecond later where one has to come behind the other.
const US: i64 = 1_000_000;
const NATURAL: [usize; 4] = [0, 1, 2, 3];

#[test]
fn virtual_links_reach_their_exact_worst_case_at_the_witness() {
    let witnesses: [(&Afdx, usize, [usize; 4], [i64; 4]); 8] = [
        // All at once; the one in question is the last of all by a picosecond or two, or by its place.
        (&Y4, 0, NATURAL, [2, 1, 0, 0]),
        (&Y4, 1, NATURAL, [1, 2, 0, 0]),
        (&Y4, 2, NATURAL, [0, 0, 1, 0]),
        (&Y4, 3, NATURAL, [0, 0, 0, 0]),
        // Behind the long frame of its own end system; e2's comes between the two, e3's while all wait for the last link.
        (&M4, 0, [1, 0, 2, 3], [0, 0, 70 * US, 250 * US]),
        // Behind the short one, then behind e2's and e3's, which come a picosecond before it.
        (&M4, 1, NATURAL, [0, 0, 80 * US - 1, 260 * US - 2]),
        // A picosecond behind both of e1's at the first switch, and behind e3's at the second.
        (&M4, 2, [1, 0, 2, 3], [0, 0, 80 * US + 1, 250 * US]),
        // A picosecond behind the long one.
        (&M4, 3, NATURAL, [2_000 * US, 0, 2_000 * US, 180 * US + 1]),
    ];
    for (network, link, order, offsets) in witnesses {
        let worst = Duration::from_us(network.links[link].2);
        let seen = network.latencies(&mut network.plan(&order), &order, &offsets)[link];
        assert!(seen <= worst && worst - seen <= Duration::from_ps(2), "v{link} of {}: {seen} of {worst}", network.to);
    }
}

/// `AFDX_PHASINGS=1000000` tries more of them.
#[test]
fn no_virtual_link_is_later_than_its_exact_worst_case_whatever_the_offsets() {
    let count = std::env::var("AFDX_PHASINGS").ok().and_then(|count| count.parse().ok()).unwrap_or(10_000u64);
    for (number, network) in [Y4, M4].iter().enumerate() {
        let mut rng = random::stream(1, Purpose::Medium, number as u64);
        let worst: Vec<Duration> = network.links.iter().map(|(.., us)| Duration::from_us(*us)).collect();
        let mut plan = network.plan(&NATURAL);
        for _ in 0..count {
            // Near enough to meet, and now and then on a grid on which frames meet exactly.
            let step = if rng.next_u32().is_multiple_of(2) { 10 * US } else { 1 };
            let offsets: Vec<i64> = (0..4).map(|_| (rng.next_u64() % (500 * US as u64)) as i64 / step * step).collect();
            let seen = network.latencies(&mut plan, &NATURAL, &offsets);
            assert!(seen.iter().zip(&worst).all(|(seen, worst)| seen <= worst), "{offsets:?}: {seen:?}");
        }
    }
}

#[test]
fn the_bound_of_a_virtual_link_is_that_of_network_calculus_with_its_links_grouped() {
    for network in [Y4, M4] {
        let plan = network.plan(&NATURAL);
        let found = bounded(&plan);
        assert!(found.risks.is_empty(), "{:?}", found.risks);
        for (stream, (exact, grouped)) in found.streams.iter().zip(network.links.iter().zip(network.grouped_us)) {
            let bound = stream.ends[0].latency.expect("nothing is overloaded").max.as_us_f64();
            assert!(bound >= exact.2 as f64, "{bound} is below the exact worst case {}", exact.2);
            assert!(bound <= grouped + 0.001, "{bound} is above {grouped}");
        }
    }
}

/// Three end systems and two virtual links to a fourth one, all on one switch; an attacker on the wire of the first.
const BABBLING: &str = r#"
schema_version = 2
name = "babbling"
duration = "1s"
[segments.network.ethernet]
rate = "10Mbit/s"
cluster_cycle = "16ms"
forwarding_delay = "16us"
queue_len_max = "20kB"
class = { rate_constrained = { jitter = "3ms" } }
virtual_links = { standard = false }
[[protections]]
name = "tagged"
hmac = { hash = "sha-256", tag = "16B", freshness = "full" }
[[nodes]]
name = "victim"
[[nodes]]
name = "other"
[[nodes]]
name = "third"
[[nodes]]
name = "display"
[[streams]]
name = "attacked"
from = "victim"
to = ["display"]
period = "16ms"
length = "1000B"
protection = "tagged"
[[streams]]
name = "beside"
from = "other"
to = ["display"]
period = "8ms"
length = "1000B"
[[streams]]
name = "best effort"
from = "third"
to = ["display"]
period = "4ms"
length = "600B"
network = { class = { best_effort = {} } }
[[threats]]
name = "babble"
kind = "spoof"
stream = "attacked"
at = { link = "victim" }
start = "100ms"
every = "1ms"
count = 800
"#;

/// What became of frames: by stream, thrown away for what reason, and accepted after how long at most.
#[derive(Default)]
struct Fates {
    discarded: BTreeMap<(StreamId, DiscardReason), u64>,
    delivered: BTreeMap<StreamId, (u64, Duration)>,
}

impl Observer for Fates {
    fn event(&mut self, at: SimTime, _: NodeId, event: &Event, frame: Option<FrameContext<'_>>) {
        match event.kind {
            EventKind::Discarded(reason) => *self.discarded.entry((event.stream, reason)).or_default() += 1,
            EventKind::Delivered => {
                let latency = frame.map_or(Duration::ZERO, |frame| at - frame.label.sent_at);
                let (count, longest) = self.delivered.entry(event.stream).or_default();
                (*count, *longest) = (*count + 1, latency.max(*longest));
            }
            _ => {}
        }
    }
}

impl Fates {
    fn of(&self, stream: u16, reason: DiscardReason) -> u64 {
        self.discarded.get(&(StreamId(stream), reason)).copied().unwrap_or_default()
    }
}

#[test]
fn a_babbling_end_system_is_policed_and_other_streams_keep_their_bounds() {
    let plan = plan(BABBLING);
    let found = bounded(&plan);
    let fates = watched(&plan, Fates::default());
    // Sixteen times as many as its gap allows, which with the others is more than the last link carries: of these 800 and those
    // of its own, as many are too many.
    let policed = fates.of(0, DiscardReason::Policed);
    assert!((780..=820).contains(&policed), "{policed}");
    // What passes is not believed, and takes the turns of true frames: the stream that is attacked suffers.
    assert!(fates.of(0, DiscardReason::TagMismatch) > 20);
    assert!(fates.delivered[&StreamId(0)].0 < 63);
    for (stream, expected) in [(1, 124..=125), (2, 249..=250)] {
        let (count, longest) = fates.delivered[&StreamId(stream)];
        assert!(expected.contains(&count), "{count} of stream {stream}");
        let end = &found.streams[usize::from(stream)].ends[0];
        let bound = end.latency.expect("the link carries them").max;
        assert!(longest <= bound, "{longest} of {bound}");
        assert!(fates.discarded.keys().all(|(other, _)| *other != StreamId(stream)));
    }
}

#[test]
fn a_frame_can_be_policed_only_where_check_says_so() {
    // The frame of the attacked stream waits for one of best effort in front of its own link: 0.5 ms, which 500 us allow.
    let quiet = BABBLING.split("[[threats]]").next().expect("the part before").to_owned();
    let busy = quiet.replace("from = \"third\"", "from = \"other\"");
    for (text, jitter_us) in [(&quiet, 0), (&busy, 0), (&busy, 100), (&busy, 600)] {
        let plan = plan(&text.replace("jitter = \"3ms\"", &format!("jitter = \"{jitter_us}us\"")));
        let risks = bounded(&plan).risks;
        let is_told =
            risks.iter().any(|risk| risk.stream == Some(StreamId(1)) && matches!(risk.cause, Cause::Policed { .. }));
        let policed = watched(&plan, Fates::default()).of(1, DiscardReason::Policed);
        assert!(policed == 0 || is_told, "{jitter_us} us: {policed} of them, and nothing said so");
        assert_eq!(is_told, std::ptr::eq(text, &busy) && jitter_us < 600, "{jitter_us} us: {risks:?}");
    }
}
