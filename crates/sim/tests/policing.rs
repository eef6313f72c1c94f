//! Flow meters, virtual links and threats on the links of a switched Ethernet: what `check` says is bounded arrives in time, whatever
//! a neighbour sends.

use std::collections::BTreeMap;

use chronoseal_analysis::segment::{
    BOUNDS, Bounds, Cause, FilterReason, FilterRisk, Harm, Risk, StreamBounds, ThreatRisk, bounds,
};
use chronoseal_catalog::Prepared;
use chronoseal_core::random::{self, ChaCha8Rng, Purpose, Rng};
use chronoseal_core::{DiscardReason, Duration, Event, EventKind, NodeId, SimTime, StreamId};
use chronoseal_plan::Plan;
use chronoseal_scenario::{NoFiles, load};
use chronoseal_sim::{FrameContext, Observer, run};

fn plan(text: &str) -> Plan {
    load("any.toml", text.as_bytes(), &[], &NoFiles).unwrap_or_else(|problems| panic!("{}\n{text}", problems.render()))
}

fn bounded(plan: &Plan) -> Bounds {
    let prepared = Prepared::new(plan).expect("it has a schedule");
    let tables: Vec<_> = plan.segment_ids().map(|id| prepared.schedule(id).cloned()).collect();
    bounds(plan, &tables, BOUNDS)
}

/// What became of genuine frames and of others: by stream, thrown away for what reason, and accepted after how long at most.
#[derive(Default)]
struct Fates {
    genuine: BTreeMap<(StreamId, DiscardReason), u64>,
    made_up: BTreeMap<DiscardReason, u64>,
    delivered: BTreeMap<StreamId, (u64, Duration)>,
}

impl Observer for Fates {
    fn event(&mut self, at: SimTime, _: NodeId, event: &Event, frame: Option<FrameContext<'_>>) {
        let is_made_up = frame.as_ref().is_some_and(|frame| frame.label.attack.is_some());
        match event.kind {
            EventKind::Discarded(reason) if is_made_up => *self.made_up.entry(reason).or_default() += 1,
            EventKind::Discarded(reason) => *self.genuine.entry((event.stream, reason)).or_default() += 1,
            EventKind::Delivered if !is_made_up => {
                let latency = frame.map_or(Duration::ZERO, |frame| at - frame.label.sent_at);
                let (count, longest) = self.delivered.entry(event.stream).or_default();
                (*count, *longest) = (*count + 1, latency.max(*longest));
            }
            _ => {}
        }
    }
}

fn simulated(plan: &Plan) -> Fates {
    let prepared = Prepared::new(plan).expect("it has a schedule");
    run(&prepared, Fates::default(), &mut |_| true).expect("every part can be built").observer
}

fn of_stream(risks: &[Risk], stream: u16) -> Vec<&Cause> {
    risks.iter().filter(|risk| risk.stream.is_none_or(|id| id == StreamId(stream))).map(|risk| &risk.cause).collect()
}

fn worst(streams: &[StreamBounds], stream: u16) -> Option<Duration> {
    streams[usize::from(stream)].ends[0].latency.ok().map(|latency| latency.max)
}

/// A babbling node, a sensor and a camera at one switch, which all send to a brain behind another. `segment` and `noise` say more of
/// the segment, and of the class of what the babbling node sends.
fn row(segment: &str, noise: &str, threat: &str) -> String {
    format!(
        r#"
schema_version = 2
name = "row"
duration = "200ms"
[segments.net.ethernet]
rate = "100Mbit/s"
cluster_cycle = "10ms"
forwarding_delay = "2us"
class = {{ vlan = {{ pcp = 1 }} }}
switches = ["front", "rear"]
links = [
  {{ between = ["front", "rear"] }}, {{ between = ["babbler", "front"] }}, {{ between = ["sensor", "front"] }},
  {{ between = ["camera", "front"] }}, {{ between = ["brain", "rear"] }},
]
{segment}
[[nodes]]
name = "babbler"
[[nodes]]
name = "sensor"
[[nodes]]
name = "camera"
[[nodes]]
name = "brain"
[[streams]]
name = "noise"
from = "babbler"
to = ["brain"]
period = "10ms"
length = "200B"
net = {{ class = {noise} }}
[[streams]]
name = "brake"
from = "sensor"
to = ["brain"]
period = "2ms"
length = "64B"
net = {{ class = {{ vlan = {{ pcp = 5 }} }} }}
[[streams]]
name = "picture"
from = "camera"
to = ["brain"]
period = "5ms"
length = "1200B"
{threat}
"#
    )
}

const NOISE: &str = "{ vlan = { pcp = 3 } }";
const BABBLE: &str =
    "[[threats]]\nname = \"babble\"\nkind = \"babble\"\nat = { link = \"babbler\" }\nstart = \"20ms\"\n";
const METERED: &str = "stream_filters = [{ name = \"noise\", from = [\"babbler\"], switches = [\"front\"], meter = \"little\" }]\n\
                       flow_meters = [{ name = \"little\", cir = \"400kbit/s\", cbs = \"600B\" }]\n";

fn is_threat(cause: &Cause, expected: fn(&Harm) -> bool) -> bool {
    matches!(cause, Cause::Threat(ThreatRisk { harm, .. }) if expected(harm))
}

#[test]
fn nothing_is_held_beside_a_station_that_babbles_and_nobody_polices() {
    let plan = plan(&row("", NOISE, BABBLE));
    let Bounds { risks, .. } = bounded(&plan);
    assert!(of_stream(&risks, 0).iter().any(|cause| is_threat(cause, |harm| matches!(harm, Harm::OwnLink { .. }))));
    for stream in [1, 2] {
        let found = of_stream(&risks, stream);
        assert!(found.iter().any(|cause| is_threat(cause, |harm| matches!(harm, Harm::Unlimited { .. }))), "{found:?}");
    }
    let fates = simulated(&plan);
    // The babble fills the link between the switches, and what is below it finds no time there: of forty pictures few arrive.
    assert!(fates.delivered[&StreamId(2)].0 < 20, "{:?}", fates.delivered);
    // A station's own queue knows no streams.
    let at_its_port = (StreamId::NONE, DiscardReason::QueueFull);
    assert!(fates.genuine.contains_key(&at_its_port), "it loses its own frames at its port: {:?}", fates.genuine);
}

#[test]
fn a_flow_meter_or_a_virtual_link_keeps_the_bounds_of_everybody_else() {
    // Ports of IEEE 802.1Q have no place for virtual links; without any, all of these have strict priority.
    let virtual_link = "{ rate_constrained = { bag = \"8ms\" } }";
    for (segment, noise, reason) in
        [(METERED, NOISE, DiscardReason::MeteredRed), ("", virtual_link, DiscardReason::Policed)]
    {
        let plan = plan(&row(segment, noise, BABBLE));
        let Bounds { risks, streams } = bounded(&plan);
        let fates = simulated(&plan);
        assert!(fates.made_up[&reason] > 5_000, "{:?}", fates.made_up);
        for stream in [1, 2] {
            assert_eq!(of_stream(&risks, stream), [] as [&Cause; 0], "nothing can keep stream {stream}");
            let (count, longest) = fates.delivered[&StreamId(stream)];
            let bound = worst(&streams, stream).expect("the meter limits what it meets");
            assert!(longest <= bound && count >= 39, "{longest} of {bound}, {count} frames");
            assert!(fates.genuine.keys().all(|(other, _)| *other != StreamId(stream)));
        }
        // Without the threat the bound is lower: what the meter lets through is counted.
        let quiet = bounded(&self::plan(&row(segment, noise, "")));
        assert!(worst(&quiet.streams, 2) < worst(&streams, 2));
    }
}

#[test]
fn who_shares_a_meter_with_a_station_that_babbles_is_not_held() {
    // One meter for all that comes to the first switch.
    let shared = METERED.replace("from = [\"babbler\"], ", "").replace("400kbit/s", "4Mbit/s").replace("600B", "4kB");
    let plan = plan(&row(&shared, NOISE, BABBLE));
    let risks = bounded(&plan).risks;
    for stream in [1, 2] {
        let found = of_stream(&risks, stream);
        assert!(found.iter().any(|cause| is_threat(cause, |harm| matches!(harm, Harm::Shared { .. }))), "{found:?}");
    }
    let fates = simulated(&plan);
    assert!(fates.genuine.get(&(StreamId(1), DiscardReason::MeteredRed)).is_some_and(|lost| *lost > 10));
}

#[test]
fn what_floods_a_port_of_its_own_gets_nothing_through_and_costs_nobody_a_frame() {
    let flood = BABBLE.replace("\"babble\"", "\"flood\"").replace("{ link = \"babbler\" }", "{ segment = \"net\" }");
    let plan = plan(&row("", NOISE, &flood));
    let Bounds { risks, streams } = bounded(&plan);
    assert_eq!(risks, []);
    let fates = simulated(&plan);
    // What is more than its link carries is lost in front of that.
    assert_eq!(fates.made_up.keys().collect::<Vec<_>>(), [&DiscardReason::WrongPort, &DiscardReason::QueueFull]);
    assert!(fates.made_up[&DiscardReason::WrongPort] > 10_000 && fates.genuine.is_empty());
    for stream in 0..3 {
        assert!(fates.delivered[&StreamId(stream)].1 <= worst(&streams, stream).expect("it is bounded"));
    }
}

#[test]
fn a_box_that_delays_makes_the_bound_longer_by_what_it_delays() {
    let delay = "[[threats]]\nname = \"box\"\nkind = { delay = { by = \"3ms\" } }\nstream = \"brake\"\nat = { link = \"sensor\" }\n\
                 every = \"4ms\"\ncount = 40\n";
    let [quiet, delayed] = ["", delay].map(|threat| plan(&row("", NOISE, threat)));
    let [without, with] = [&quiet, &delayed].map(bounded);
    assert_eq!(with.risks, []);
    let [without, with] = [without, with].map(|found| worst(&found.streams, 1).expect("it is bounded"));
    let by = Duration::from_ms(3);
    // Two frames can come at once now.
    assert!(with >= without + by && with <= without + by + Duration::from_us(50), "{without}, then {with}");
    let watched = simulated(&delayed);
    let ways: Vec<u64> = (0..3).map(|stream| watched.delivered[&StreamId(stream)].0).collect();
    assert!(ways[1] >= 98, "every frame arrives: {ways:?}");
}

/// A number in a range.
fn draw(rng: &mut ChaCha8Rng, from: u64, to: u64) -> u64 {
    from + rng.next_u64() % (to - from)
}

/// Some streams at one switch with priorities, periods and lengths from a seed, each with a filter; those of `meters` follow.
fn drawn(rng: &mut ChaCha8Rng, threat: &str, cbs: &dyn Fn(usize) -> String, cir: &[u64]) -> String {
    let mut text = String::from(
        "schema_version = 2\nname = \"drawn\"\nduration = \"80ms\"\n[segments.net.ethernet]\nrate = \"100Mbit/s\"\n\
         cluster_cycle = \"10ms\"\nforwarding_delay = \"3us\"\nclass = { vlan = { pcp = 0 } }\nqueue_len_max = \"1MB\"\nstream_filters = [\n",
    );
    for stream in 0..cir.len() {
        text += &format!("  {{ name = \"f{stream}\", stream = \"s{stream}\", meter = \"m{stream}\" }},\n");
    }
    text += "]\nflow_meters = [\n";
    for (stream, cir) in cir.iter().enumerate() {
        text += &format!("  {{ name = \"m{stream}\", cir = \"{cir}kbit/s\", cbs = \"{}\" }},\n", cbs(stream));
    }
    text += "]\n[[nodes]]\nname = \"sink\"\n";
    for node in 0..3 {
        text += &format!(
            "[[nodes]]\nname = \"n{node}\"\ndriver = {{ min = \"1us\", mean = \"20us\", max = \"{}us\" }}\n",
            draw(rng, 30, 900)
        );
    }
    for stream in 0..cir.len() {
        let (period, length) = ([500, 1_000, 2_000, 5_000][draw(rng, 0, 4) as usize], draw(rng, 46, 400));
        text += &format!(
            "[[streams]]\nname = \"s{stream}\"\nfrom = \"n{}\"\nto = [\"sink\"]\nperiod = \"{period}us\"\nlength = \"{length}B\"\n\
             net = {{ class = {{ vlan = {{ pcp = {} }} }} }}\n",
            stream % 3,
            draw(rng, 0, 8),
        );
    }
    text + threat
}

#[test]
fn a_stream_that_keeps_to_what_check_asks_of_its_meter_loses_nothing() {
    let (mut asked, mut smaller) = (0, 0);
    for seed in 0..8 {
        let rng = || random::stream(seed, Purpose::Payload, 77);
        let cir: Vec<u64> = {
            let mut rng = random::stream(seed, Purpose::Payload, 78);
            (0..6).map(|_| draw(&mut rng, 7_000, 9_000)).collect()
        };
        let small = plan(&drawn(&mut rng(), "", &|_| "64B".into(), &cir));
        let mut needed = vec![64; cir.len()];
        for risk in bounded(&small).risks {
            let Cause::StreamFilter(FilterRisk { reason: FilterReason::Burst { needed: Some(bytes), .. }, .. }) =
                risk.cause
            else {
                panic!("{risk:?}")
            };
            needed[risk.stream.expect("it is of a stream").index()] = bytes;
            asked += 1;
        }
        let enough = plan(&drawn(&mut rng(), "", &|stream| format!("{}B", needed[stream]), &cir));
        assert_eq!(bounded(&enough).risks, [], "seed {seed}");
        assert!(simulated(&enough).genuine.is_empty(), "seed {seed}");
        smaller += simulated(&small).genuine.len();
    }
    assert!(asked >= 40 && smaller >= 10, "of {asked} meters {smaller} took a frame");
}

#[test]
fn behind_a_meter_no_frame_is_later_than_its_bound_whatever_its_neighbour_babbles() {
    let mut held = 0;
    for seed in 0..8 {
        let mut rng = random::stream(seed, Purpose::Payload, 79);
        let babble = "[[threats]]\nname = \"babble\"\nkind = \"babble\"\nat = { link = \"n0\" }\n";
        let cir: Vec<u64> = (0..5).map(|_| draw(&mut rng, 7_000, 9_000)).collect();
        let plan = plan(&drawn(&mut rng, babble, &|_| "4kB".into(), &cir));
        let Bounds { streams, risks } = bounded(&plan);
        let fates = simulated(&plan);
        assert!(fates.made_up.contains_key(&DiscardReason::MeteredRed), "seed {seed}: {:?}", fates.made_up);
        for stream in (0..cir.len() as u16).filter(|stream| stream % 3 != 0) {
            let Some(bound) = worst(&streams, stream).filter(|_| of_stream(&risks, stream).is_empty()) else {
                continue;
            };
            held += 1;
            let (_, longest) = fates.delivered[&StreamId(stream)];
            assert!(longest <= bound, "seed {seed}, stream {stream}: {longest} of {bound}");
            assert!(fates.genuine.keys().all(|(other, _)| *other != StreamId(stream)), "seed {seed}, stream {stream}");
        }
    }
    assert!(held >= 16, "{held} streams are held");
}

/// Two streams of a sensor share a virtual link, and a filter lets the short ones through.
fn sharing(filter: &str) -> String {
    format!(
        r#"
schema_version = 2
name = "sharing"
duration = "200ms"
[segments.net.ethernet]
rate = "100Mbit/s"
cluster_cycle = "10ms"
class = {{ rate_constrained = {{ jitter = "500us" }} }}
stream_filters = [{{ name = "link", stream = "short", {filter} }}]
flow_meters = [
  {{ name = "both", cir = "20Mbit/s", cbs = "3000B" }}, {{ name = "half", cir = "100kbit/s", cbs = "1000B" }},
]
[[nodes]]
name = "sensor"
[[nodes]]
name = "brain"
[[streams]]
name = "long"
from = "sensor"
to = ["brain"]
period = "4ms"
length = "800B"
net = {{ sub_virtual_link_of = "short" }}
[[streams]]
name = "short"
from = "sensor"
to = ["brain"]
period = "16ms"
length = "100B"
"#
    )
}

#[test]
fn a_filter_knows_streams_that_share_a_virtual_link_as_one() {
    let reasons = |text: &str, stream: u16| -> Vec<FilterReason> {
        let Bounds { risks, .. } = bounded(&plan(text));
        let of = |cause: &&Cause| match cause {
            Cause::StreamFilter(risk) => Some(risk.reason),
            _ => None,
        };
        of_stream(&risks, stream).iter().filter_map(of).collect()
    };
    // The sub-virtual link comes first in the file, and the filter names the other one.
    let wide = sharing("max_sdu = \"1000B\", meter = \"both\"");
    assert_eq!([reasons(&wide, 0), reasons(&wide, 1)], [vec![], vec![]]);
    let fates = simulated(&plan(&wide));
    assert!(fates.genuine.is_empty() && fates.delivered.len() == 2, "{:?}", fates.genuine);
    // What the meter counts is the virtual link, whose frames are all as long as the longest for it.
    let little = sharing("meter = \"half\"");
    for stream in [0, 1] {
        assert!(matches!(reasons(&little, stream)[..], [FilterReason::Rate { .. }]), "{:?}", reasons(&little, stream));
    }
    let fates = simulated(&plan(&little));
    assert!(fates.genuine.keys().any(|(_, reason)| *reason == DiscardReason::MeteredRed), "{:?}", fates.genuine);
    // Three of four frames are too long, and the fourth is more than two numbers behind the one before.
    let narrow = sharing("max_sdu = \"500B\"");
    assert!(matches!(reasons(&narrow, 0)[..], [FilterReason::Sdu { .. }]), "{:?}", reasons(&narrow, 0));
    assert_eq!(reasons(&narrow, 1), [FilterReason::Numbers { other: StreamId(0) }]);
    let fates = simulated(&plan(&narrow));
    assert!(fates.genuine.contains_key(&(StreamId(1), DiscardReason::OutOfSequence)), "{:?}", fates.genuine);
    let blocking = sharing("max_sdu = \"500B\", block_on_oversize = true");
    assert_eq!(reasons(&blocking, 1), [FilterReason::Blocked]);
}
