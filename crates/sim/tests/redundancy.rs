//! Networks A and B (ARINC 664 part 7): a link that fails with and without a second network, and copies at the edge of their skew.

use std::collections::BTreeMap;

use chronoseal_analysis::segment::{BOUNDS, Bounds, Cause, SkewRemedy, bounds};
use chronoseal_catalog::Prepared;
use chronoseal_core::{DiscardReason, Duration, Event, EventKind, NodeId, SimTime};
use chronoseal_scenario::plan::Plan;
use chronoseal_scenario::{NoFiles, load};
use chronoseal_sim::{FrameContext, Observer, run};

/// Two end systems with a link to each of two switches, of which that of B is slower.
const TWO: &str = r#"
schema_version = 2
name = "two-networks"
duration = "1s"
[segments.afdx.ethernet]
rate = "100Mbit/s"
cluster_cycle = "16ms"
sync = "ideal"
accounting = "as-published"
ct_marker = "03:00:00:00"
class = { rate_constrained = { bag = "8ms" } }
switches = ["left", "right"]
networks = { a = ["left"], b = ["right"] }
links = [
  { between = ["sensor", "left"] },
  { between = ["display", "left"] },
  { between = ["sensor", "right"] },
  { between = ["display", "right"], rate = "10Mbit/s" },
]
[[protections]]
name = "tagged"
hmac = { hash = "sha-256", tag = "16B", freshness = "full" }
[[nodes]]
name = "sensor"
clock = "ideal"
[[nodes]]
name = "display"
clock = "ideal"
[[streams]]
name = "speed"
from = "sensor"
to = ["display"]
period = "8ms"
length = "985B"
offset = "0s"
"#;

/// 1000 bytes take 80 us on each link of 100 Mbit/s, and 800 us on that of 10 Mbit/s.
const SKEW: Duration = Duration::from_us(720);
const FRAMES: u64 = 125;

fn plan(text: &str) -> Plan {
    load("any.toml", text.as_bytes(), &[], &NoFiles).unwrap_or_else(|problems| panic!("{}\n{text}", problems.render()))
}

fn bounded(plan: &Plan) -> Bounds {
    let prepared = Prepared::new(plan).expect("virtual links need no schedule");
    let tables: Vec<_> = plan.segment_ids().map(|id| prepared.schedule(id).cloned()).collect();
    bounds(plan, &tables, BOUNDS)
}

/// What the receiver told, and how far apart copies were.
#[derive(Default)]
struct Told {
    delivered: Vec<u64>,
    discarded: BTreeMap<DiscardReason, u64>,
    skews: Vec<Duration>,
    latest: Duration,
}

impl Observer for Told {
    fn event(&mut self, _: SimTime, _: NodeId, event: &Event, frame: Option<FrameContext<'_>>) {
        match event.kind {
            EventKind::Delivered => {
                self.delivered.push(event.sequence);
                let latency = frame.and_then(|frame| Some(frame.received_at? - frame.label.sent_at));
                self.latest = self.latest.max(latency.unwrap_or_default());
            }
            EventKind::Discarded(reason) => {
                *self.discarded.entry(reason).or_default() += 1;
                if reason == DiscardReason::CopyEliminated {
                    self.skews.push(Duration::from_ps(event.value));
                }
            }
            _ => {}
        }
    }
}

fn told(text: &str) -> Told {
    let plan = plan(text);
    let prepared = Prepared::new(&plan).expect("virtual links need no schedule");
    run(&prepared, Told::default(), &mut |_| true).expect("every part can be built").observer
}

fn with_failure(text: &str, switch: &str) -> String {
    let failures = format!("failures = [{{ link = [\"sensor\", \"{switch}\"], at = \"504ms\" }}]\nswitches = [");
    text.replacen("switches = [", &failures, 1)
}

fn all() -> Vec<u64> {
    (0..FRAMES).collect()
}

#[test]
fn each_frame_is_delivered_once_and_its_copy_eliminated() {
    for text in [TWO.to_owned(), TWO.replace("duration = \"1s\"", "duration = \"1s\"\nfidelity = \"timing\"")] {
        let told = told(&text);
        assert_eq!(told.delivered, all());
        assert_eq!(told.discarded, BTreeMap::from([(DiscardReason::CopyEliminated, FRAMES)]));
        assert!(told.skews.iter().all(|skew| *skew == SKEW), "{:?}", told.skews);
        assert_eq!(told.latest, Duration::from_us(160));
    }
}

#[test]
fn copies_of_protected_frames_are_eliminated_before_they_are_taken_for_replays() {
    let told = told(&TWO.replace("length = \"985B\"", "length = \"945B\"\nprotection = \"tagged\""));
    assert_eq!(told.delivered, all());
    assert_eq!(told.discarded, BTreeMap::from([(DiscardReason::CopyEliminated, FRAMES)]));
}

#[test]
fn a_link_that_fails_loses_nothing_with_two_networks_and_its_frames_with_one() {
    for switch in ["left", "right"] {
        let text = with_failure(TWO, switch);
        let both = told(&text);
        assert_eq!(both.delivered, all(), "{switch} fails");
        // 63 left before the failure; of all others one copy is lost.
        assert_eq!(both.discarded[&DiscardReason::LinkDown], FRAMES - 63);
        assert_eq!(both.discarded[&DiscardReason::CopyEliminated], 63);
        assert_eq!(bounded(&plan(&text)).risks, [], "the other network is enough");
    }
    let alone = with_failure(&TWO.replace("offset = \"0s\"", "offset = \"0s\"\nafdx = { networks = [\"a\"] }"), "left");
    let alone_told = told(&alone);
    assert_eq!(alone_told.delivered, (0..63).collect::<Vec<_>>());
    assert_eq!(alone_told.discarded, BTreeMap::from([(DiscardReason::LinkDown, FRAMES - 63)]));
    assert!(bounded(&plan(&alone)).risks.iter().any(|risk| matches!(risk.cause, Cause::LinkFails { .. })));
    // What goes over the other network alone meets no link that fails.
    let other = with_failure(&TWO.replace("offset = \"0s\"", "offset = \"0s\"\nafdx = { networks = [\"b\"] }"), "left");
    assert_eq!(told(&other).delivered, all());
    assert_eq!(told(&other).discarded, BTreeMap::new());
}

#[test]
fn the_bound_is_that_of_the_slower_network() {
    let both = bounded(&plan(TWO)).streams[0].ends[0].latency.expect("nothing is overloaded");
    assert_eq!((both.min, both.max), (Duration::from_us(160), Duration::from_us(880)));
    // With A gone, that is what frames take.
    let text = with_failure(TWO, "left").replace("at = \"504ms\"", "at = \"0s\"");
    assert_eq!(told(&text).latest, both.max);
}

#[test]
fn a_copy_later_than_its_skew_is_a_new_frame_and_check_says_so() {
    let with_skew = |ns: i64| TWO.replace("bag = \"8ms\" }", &format!("bag = \"8ms\", skew_max = \"{ns}ns\" }}"));
    let (enough, short) = (with_skew(SKEW.as_ns()), with_skew(SKEW.as_ns() - 1));
    assert_eq!(told(&enough).delivered, all());
    assert_eq!(bounded(&plan(&enough)).risks, []);
    let told = told(&short);
    let twice: Vec<u64> = (0..FRAMES).flat_map(|number| [number, number]).collect();
    assert_eq!(told.delivered, twice, "each copy comes as a frame of its own");
    let risks = bounded(&plan(&short)).risks;
    let [risk] = &risks[..] else { panic!("{risks:?}") };
    assert_eq!(
        risk.cause,
        Cause::Skew {
            node: NodeId(1),
            skew: Some(SKEW),
            limit: SKEW - Duration::from_ns(1),
            remedy: SkewRemedy::SkewMax
        }
    );
}

#[test]
fn a_gateway_takes_what_comes_over_both_networks_once() {
    let text = TWO
        .replacen("[segments.afdx", "[segments.cabin.ethernet]\nrate = \"100Mbit/s\"\ncluster_cycle = \"16ms\"\nsync = \"ideal\"\nclass = { best_effort = {} }\n[segments.afdx", 1)
        .replace("name = \"sensor\"", "name = \"sensor\"\non = [\"afdx\"]")
        .replace("name = \"display\"\nclock = \"ideal\"", "name = \"display\"\nclock = \"ideal\"\non = [\"cabin\", \"afdx\"]\ngateway = {}\n[[nodes]]\nname = \"seat\"\non = [\"cabin\"]")
        .replace("to = [\"display\"]", "to = [\"seat\"]")
        .replace("length = \"985B\"", "length = \"900B\"");
    for text in [text.clone(), with_failure(&text, "left")] {
        let told = told(&text);
        assert_eq!(told.delivered, all());
        assert!(
            told.discarded
                .keys()
                .all(|reason| matches!(reason, DiscardReason::CopyEliminated | DiscardReason::LinkDown))
        );
    }
}
