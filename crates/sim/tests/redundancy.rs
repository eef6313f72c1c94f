//! Networks A and B (ARINC 664 part 7): a link that fails with and without a second network, and copies at the edge of their skew; of
//! virtual links and of frames in slots.

use std::collections::BTreeMap;

use chronoseal_analysis::segment::{BOUNDS, Bounds, Cause, SkewRemedy, bounds};
use chronoseal_analysis::synthesis::{synthesize, verify};
use chronoseal_catalog::Prepared;
use chronoseal_core::{DiscardReason, Duration, Event, EventKind, NodeId, SimTime};
use chronoseal_plan::{Ethernet, Plan};
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
    /// Slots of which the receiver says that nothing came.
    missing: u64,
}

impl Observer for Told {
    fn event(&mut self, _: SimTime, node: NodeId, event: &Event, frame: Option<FrameContext<'_>>) {
        match event.kind {
            EventKind::Missing => self.missing += u64::from(node == NodeId(1)),
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

/// The same in slots. A slot begins 1 ms after the start of each period, and each switch passes its copy on after 80 us on the first
/// link and a guard period of 20 us.
fn slotted() -> String {
    TWO.replace("class = { rate_constrained = { bag = \"8ms\" } }", "guard_period = \"20us\"")
        .replace("offset = \"0s\"", "offset = \"1ms\"")
}

const NETWORKS: &str = "afdx = { networks = [\"a\"] }";

fn slotted_over(network: &str) -> String {
    slotted().replace("offset = \"1ms\"", &format!("offset = \"1ms\"\n{}", NETWORKS.replace("\"a\"", network)))
}

#[test]
fn a_frame_in_a_slot_goes_over_both_networks_in_one_table() {
    for access in ["shared-slots", "per-link"] {
        let text = slotted().replace("accounting =", &format!("access = \"{access}\"\naccounting ="));
        let plan = plan(&text);
        let view = Ethernet::first(&plan).expect("it is one");
        let table = synthesize(view).expect("there is room");
        assert_eq!(verify(view, &table), []);
        let us = Duration::from_us;
        let slots: Vec<_> = table.slots.iter().map(|slot| (slot.start, slot.frame_time, slot.dispatch)).collect();
        assert_eq!(slots, [(us(1_000), us(80), us(1_100)), (us(9_000), us(80), us(9_100))], "{access}");
        // The first switch of B has a turn of its own, which starts with the slot.
        let relays: Vec<_> =
            table.relays.iter().map(|relay| (relay.slot, relay.hop, relay.start, relay.dispatch)).collect();
        assert_eq!(relays, [(0, 1, us(1_000), us(1_100)), (1, 1, us(9_000), us(9_100))]);
        let deliveries: Vec<_> =
            table.deliveries.iter().map(|own| (own.slot, own.is_second, own.dispatch, own.frame_time)).collect();
        assert_eq!(deliveries, [(0, true, us(1_100), us(800)), (1, true, us(9_100), us(800))]);
        for text in [text.clone(), text.replace("duration = \"1s\"", "duration = \"1s\"\nfidelity = \"timing\"")] {
            let told = told(&text);
            assert_eq!(told.delivered, all());
            assert_eq!(told.discarded, BTreeMap::from([(DiscardReason::CopyEliminated, FRAMES)]));
            assert!(told.skews.iter().all(|skew| *skew == SKEW), "{:?}", told.skews);
            assert_eq!(told.latest, us(180));
        }
        let latency = bounded(&plan).streams[0].ends[0].latency.expect("it has slots");
        // Two clocks differ by up to 10 us.
        assert_eq!((latency.min, latency.max), (us(170), us(910)));
        assert_eq!(bounded(&plan).risks, []);
    }
}

#[test]
fn a_link_that_fails_takes_no_slot_from_who_has_two_networks() {
    for switch in ["left", "right"] {
        let text = with_failure(&slotted(), switch);
        let both = told(&text);
        assert_eq!(both.delivered, all(), "{switch} fails");
        assert_eq!(both.discarded[&DiscardReason::LinkDown], FRAMES - 63);
        assert_eq!(both.discarded[&DiscardReason::CopyEliminated], 63);
        assert_eq!(both.missing, 0, "its receiver misses nothing");
        assert_eq!(bounded(&plan(&text)).risks, [], "the other network is enough");
    }
    let gone = with_failure(&slotted(), "left").replace("at = \"504ms\"", "at = \"0s\"");
    assert_eq!(told(&gone).latest, Duration::from_us(900), "what B takes");
    let alone = with_failure(&slotted_over("\"a\""), "left");
    assert_eq!(told(&alone).delivered, (0..63).collect::<Vec<_>>());
    assert_eq!(told(&alone).missing, FRAMES - 63);
    assert!(bounded(&plan(&alone)).risks.iter().any(|risk| matches!(risk.cause, Cause::LinkFails { .. })));
    let other = with_failure(&slotted_over("\"b\""), "left");
    assert_eq!((told(&other).delivered, told(&other).discarded), (all(), BTreeMap::new()));
    assert_eq!(bounded(&plan(&other)).risks, []);
    let latency = bounded(&plan(&other)).streams[0].ends[0].latency.expect("it has slots");
    // Without a number a frame has 999 bytes: 79.92 us and 799.2 us.
    assert_eq!((latency.min, latency.max), (Duration::from_ns(889_120), Duration::from_ns(909_120)));
}

#[test]
fn with_a_beacon_a_failure_in_network_b_is_survived_and_one_in_a_is_told() {
    let beacon = |text: &str| text.replace("sync = \"ideal\"", "sync = \"beacon\"");
    let in_b = beacon(&with_failure(&slotted(), "right"));
    assert_eq!(bounded(&plan(&in_b)).risks, []);
    let told = told(&in_b);
    let first = told.delivered[0];
    assert!(told.delivered.iter().copied().eq(first..first + told.delivered.len() as u64), "{:?}", told.delivered);
    assert!(told.delivered.len() as u64 >= FRAMES - 4 && told.missing <= 2, "{}", told.missing);
    let in_a = bounded(&plan(&beacon(&with_failure(&slotted(), "left")))).risks;
    assert!(in_a.iter().any(|risk| matches!(risk.cause, Cause::BeaconFails { .. })), "{in_a:?}");
}

#[test]
fn copies_in_slots_are_no_replays_whatever_their_freshness() {
    let freshness = ["\"full\"", "\"cycle-counter\"", "{ truncated = \"2B\" }"];
    for freshness in freshness {
        let text = slotted()
            .replace("length = \"985B\"", "length = \"945B\"\nprotection = \"tagged\"")
            .replace("freshness = \"full\"", &format!("freshness = {freshness}"));
        for text in [text.clone(), with_failure(&text, "left"), with_failure(&text, "right")] {
            let told = told(&text);
            assert_eq!(told.delivered, all(), "{freshness}");
            let is_harmless =
                |reason: &DiscardReason| matches!(reason, DiscardReason::CopyEliminated | DiscardReason::LinkDown);
            assert!(told.discarded.keys().all(is_harmless), "{freshness}: {:?}", told.discarded);
        }
    }
}

#[test]
fn copies_in_slots_that_come_too_far_apart_are_told_and_never_delivered_twice() {
    let with_skew = |us: i64| {
        slotted().replace("offset = \"1ms\"", &format!("offset = \"1ms\"\nafdx = {{ skew_max = \"{us}us\" }}"))
    };
    // On paper two clocks differ by up to 10 us, one way with the one copy and the other way with the other.
    assert_eq!(bounded(&plan(&with_skew(740))).risks, []);
    let risks = bounded(&plan(&with_skew(739))).risks;
    let [risk] = &risks[..] else { panic!("{risks:?}") };
    let (skew, limit) = (Some(Duration::from_us(740)), Duration::from_us(739));
    assert_eq!(risk.cause, Cause::Skew { node: NodeId(1), skew, limit, remedy: SkewRemedy::SkewMax });
    let told = told(&with_skew(719));
    assert_eq!(told.delivered, all(), "its slot says whose copy it is");
    assert_eq!(told.discarded, BTreeMap::from([(DiscardReason::DuplicateInWindow, FRAMES)]));
}

#[test]
fn slots_virtual_links_and_best_effort_share_both_networks() {
    let more = |name: &str, table: &str| {
        format!(
            "[[streams]]\nname = \"{name}\"\nfrom = \"sensor\"\nto = [\"display\"]\nperiod = \"8ms\"\nlength = \"700B\"\nafdx = {table}\n"
        )
    };
    for policy in ["timely-block", "shuffling", "preemption"] {
        let text = slotted().replace(
            "accounting = \"as-published\"",
            &format!("accounting = \"on-wire\"\nintegration_policy = \"{policy}\""),
        ) + &more("link", "{ class = { rate_constrained = { bag = \"4ms\" } } }")
            + &more("one", "{ class = { best_effort = {} } }")
            + &more("other", "{ class = { best_effort = {} }, networks = [\"b\"] }");
        let plan = plan(&text);
        let view = Ethernet::first(&plan).expect("it is one");
        assert_eq!(verify(view, &synthesize(view).expect("there is room")), [], "{policy}");
        let bounded = bounded(&plan);
        assert_eq!(bounded.risks, [], "{policy}");
        assert!(bounded.streams.iter().all(|stream| stream.ends[0].latency.is_ok()), "{policy}");
        for text in [text.clone(), with_failure(&text, "left"), with_failure(&text, "right")] {
            let told = told(&text);
            let count = told.delivered.iter().filter(|number| **number == 100).count();
            assert!(told.missing == 0 && count >= 2, "{policy}: {} missing, {count}", told.missing);
        }
    }
}

#[test]
fn where_noise_takes_frames_a_receiver_has_time_to_open_both_copies() {
    let costly = TWO
        .replace("length = \"985B\"", "length = \"945B\"\nprotection = \"tagged\"")
        .replace("name = \"display\"\n", "name = \"display\"\nplatform = \"slow\"\n")
        + "[[platforms]]\nname = \"slow\"\ncosts = [{ operation = \"hmac-sha-256\", base = \"30us\", per_byte = \"0ns\" }]\n";
    let noisy = "]\nframe_losses = [{ link = [\"sensor\", \"left\"], ratio = 0.01 }]\n[[protections]]";
    let noisy = costly.replacen("]\n[[protections]]", noisy, 1);
    let processor = |text: &str| {
        let bounds = bounded(&plan(text));
        let end = &bounds.streams[0].ends[0];
        end.parts.last().expect("its receiver checks the tag").max
    };
    assert_eq!((processor(&costly), processor(&noisy)), (Duration::from_us(30), Duration::from_us(60)));
}

/// The same with messages of three frames, of which one goes in each gap.
fn long() -> String {
    TWO.replace("period = \"8ms\"\nlength = \"985B\"", "period = \"32ms\"\nlength = \"4000B\"")
        .replace("duration = \"1s\"", "duration = \"990ms\"")
}

#[test]
fn of_a_message_of_several_frames_each_comes_over_both_networks_and_is_taken_once() {
    for text in [long(), long().replace("name = \"two-networks\"", "name = \"two-networks\"\nfidelity = \"timing\"")] {
        let told = told(&text);
        assert_eq!(told.delivered, (0..31).collect::<Vec<_>>());
        assert_eq!(told.discarded, BTreeMap::from([(DiscardReason::CopyEliminated, 3 * 31)]));
        assert_eq!(bounded(&plan(&text)).risks, []);
    }
    let protected = told(&long().replace("length = \"4000B\"", "length = \"3900B\"\nprotection = \"tagged\""));
    assert_eq!(protected.delivered, (0..31).collect::<Vec<_>>());
}

#[test]
fn a_network_that_fails_amid_a_message_loses_none() {
    for switch in ["left", "right"] {
        // The second and the third frame of a message leave 8 and 16 ms behind its first.
        for at in ["481ms", "489ms", "497ms"] {
            let text = with_failure(&long(), switch).replace("504ms", at);
            assert_eq!(told(&text).delivered, (0..31).collect::<Vec<_>>(), "{switch} fails at {at}");
            assert_eq!(bounded(&plan(&text)).risks, [], "the other network is enough");
        }
    }
}

#[test]
fn noise_on_one_network_loses_no_message_as_long_as_copies_come_before_the_next_frame() {
    let noise = "frame_losses = [{ link = [\"sensor\", \"left\"], ratio = 0.3 }]\nswitches = [";
    let near = long().replace("switches = [", noise);
    assert_eq!(told(&near).delivered, (0..31).collect::<Vec<_>>());
    assert_eq!(bounded(&plan(&near)).risks, []);
    // On a slower network the copy comes behind the next frame: 8 ms are less than 12.
    let far = near
        .replace("rate = \"10Mbit/s\"", "rate = \"1Mbit/s\"")
        .replace("bag = \"8ms\"", "bag = \"8ms\", skew_max = \"20ms\"");
    assert!(told(&far).delivered.len() < 31);
    let risks = bounded(&plan(&far)).risks;
    assert!(risks.iter().any(|risk| matches!(risk.cause, Cause::Skew { .. } | Cause::LinkFull { .. })), "{risks:?}");
}
