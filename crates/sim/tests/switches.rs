//! Ethernet segments of several switches: closed forms, and what changes nothing.

use chronoseal_analysis::segment::{BOUNDS, Cause, Risk, Why, bounds};
use chronoseal_catalog::Prepared;
use chronoseal_core::Duration;
use chronoseal_plan::{Ethernet, Plan};
use chronoseal_scenario::{NoFiles, load};
use chronoseal_sim::{Fingerprint, Tally, run};
use proptest::prelude::*;

fn plan(text: &str) -> Plan {
    load("any.toml", text.as_bytes(), &[], &NoFiles).unwrap_or_else(|problems| panic!("{}\n{text}", problems.render()))
}

fn simulated(plan: &Plan) -> (Fingerprint, Tally) {
    let prepared = Prepared::new(plan).expect("best effort needs no schedule");
    let finished = run(&prepared, (Fingerprint::of_bytes(), Tally::default()), &mut |_| true);
    finished.expect("every part can be built").observer
}

/// Switches joined as a tree, each with the one before it that its number says, its link's rate and its nodes' rates.
fn tree() -> impl Strategy<Value = (Vec<(usize, u32)>, Vec<u32>, usize, usize)> {
    let rates = || prop_oneof![Just(10u32), Just(100), Just(1_000), Just(2_500)];
    (2usize..9).prop_flat_map(move |switches| {
        let joined = proptest::collection::vec((0usize..8, rates()), switches - 1);
        (joined, proptest::collection::vec(rates(), switches), 0..switches, 1..switches)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    /// Store and forward over each link of the only way there is, the processing time of each switch, and nothing else.
    #[test]
    fn a_frame_that_meets_no_other_takes_the_closed_form(
        (joined, rates, from, away) in tree(), bytes in 60u32..1514, delay_ns in 0i64..3_000, propagation_ns in 0i64..300,
    ) {
        let switches = rates.len();
        let to = (from + away) % switches;
        let names: Vec<String> = (0..switches).map(|switch| format!("\"s{switch}\"")).collect();
        let mut links = String::new();
        // Of each switch but the first: the one before it and the rate between them.
        let before: Vec<(usize, u32)> =
            joined.iter().enumerate().map(|(number, (before, rate))| (before % (number + 1), *rate)).collect();
        for (number, (before, rate)) in before.iter().enumerate() {
            links += &format!("  {{ between = [\"s{}\", \"s{before}\"], rate = \"{rate}Mbit/s\" }},\n", number + 1);
        }
        let mut nodes = String::new();
        for (node, rate) in rates.iter().enumerate() {
            links += &format!("  {{ between = [\"n{node}\", \"s{node}\"], rate = \"{rate}Mbit/s\" }},\n");
            nodes += &format!("[[nodes]]\nname = \"n{node}\"\nclock = \"ideal\"\n");
        }
        let text = format!(
            "schema_version = 2\nname = \"tree\"\nduration = \"100ms\"\n[segments.network.ethernet]\nrate = \"1Gbit/s\"\n\
             cluster_cycle = \"50ms\"\nsync = \"ideal\"\nforwarding_delay = \"{delay_ns}ns\"\n\
             propagation_delay = \"{propagation_ns}ns\"\nclass = {{ best_effort = {{}} }}\nswitches = [{}]\nlinks = [\n{links}]\n\
             {nodes}[[streams]]\nname = \"s\"\nfrom = \"n{from}\"\nto = [\"n{to}\"]\nperiod = \"50ms\"\nlength = \"{}B\"\n",
            names.join(", "),
            bytes - 14
        );
        // Up to the first switch from both ends; what both have in common is not on the way.
        let up = |mut switch: usize| {
            let mut way = Vec::new();
            while switch > 0 {
                way.push(switch - 1);
                switch = before[switch - 1].0;
            }
            way
        };
        let (mut one, mut other) = (up(from), up(to));
        while let (Some(last), true) = (one.last().copied(), one.last() == other.last()) {
            one.retain(|link| *link != last);
            other.retain(|link| *link != last);
        }
        let trunks: Vec<u32> = one.iter().chain(&other).map(|link| before[*link].1).collect();
        // 20 bytes with preamble and checksum beyond the frame, its gap left out: whole picoseconds at each of these rates.
        let on_wire = |rate: u32| Duration::from_ps(i64::from(bytes + 12) * 8_000_000 / i64::from(rate));
        let links = trunks.len() as i64 + 2;
        let expected = on_wire(rates[from])
            + on_wire(rates[to])
            + trunks.iter().map(|rate| on_wire(*rate)).sum::<Duration>()
            + Duration::from_ns(propagation_ns) * links
            + Duration::from_ns(delay_ns) * (links - 1);
        let (_, tally) = simulated(&plan(&text));
        let [row] = tally.rows() else { panic!("one stream") };
        prop_assert_eq!((row.delivered, row.latency_max), (2, expected));
        prop_assert_eq!(row.latency_sum_ps, i128::from(expected.as_ps()) * 2);
    }
}

/// Two frames of 80 us on the line meet in a class that is to have 20 of 100 Mbit/s. Under the first list its gate is open for 500 us of each
/// millisecond, so that it earns 40 Mbit/s then, and under the second for 400 us, which makes 50 Mbit/s.
#[test]
fn a_shaper_under_a_list_that_is_replaced_takes_the_closed_form() {
    let ends = |begins: &str| {
        let text = format!(
            "schema_version = 2\nname = \"replaced\"\nduration = \"40ms\"\n[segments.network.ethernet]\nrate = \"100Mbit/s\"\n\
             cluster_cycle = \"20ms\"\nsync = \"ideal\"\nforwarding_delay = \"0s\"\nclass = {{ best_effort = {{ priority = 5 }} }}\n\
             [segments.network.ethernet.bridge_ports]\nclasses = [{{ class = 5, shaper = {{ credit_based = {{ idle_slope = \"20Mbit/s\" }} }} }}]\n\
             [segments.network.ethernet.bridge_ports.gates]\ncycle = \"1ms\"\nentries = [{{ open = [5], lasts = \"500us\" }}, \
             {{ open = [0], lasts = \"500us\" }}]\nadmin = {{ base_time = \"{begins}\", cycle_time = \"1ms\", entries = [{{ open = [5], \
             lasts = \"400us\" }}, {{ open = [0], lasts = \"600us\" }}] }}\n\
             [[nodes]]\nname = \"a\"\nclock = \"ideal\"\n[[nodes]]\nname = \"b\"\nclock = \"ideal\"\n[[nodes]]\nname = \"c\"\nclock = \"ideal\"\n\
             [[streams]]\nname = \"one\"\nfrom = \"a\"\nto = [\"c\"]\nperiod = \"20ms\"\noffset = \"0s\"\nlength = \"962B\"\n\
             [[streams]]\nname = \"two\"\nfrom = \"b\"\nto = [\"c\"]\nperiod = \"20ms\"\noffset = \"0s\"\nlength = \"962B\"\n"
        );
        let (_, tally) = simulated(&plan(&text));
        let of_both = tally.rows().iter().map(|row| {
            assert_eq!(row.delivered, 2);
            (row.latency_max, Duration::from_ps(row.latency_sum_ps as i64) - row.latency_max)
        });
        of_both.collect::<Vec<_>>()
    };
    let ns = Duration::from_ns;
    // Both are at the switch at 79.04 us. Under the old list 4800 bits are owed at 159.04 us, which take 120 us; under the new one 4000, which
    // take 80 us. Then the second frame takes 79.04 us once more.
    assert_eq!(ends("10ms"), [(ns(158_080), ns(158_080)), (ns(358_080), ns(318_080))]);
    // The new list begins while the second frame waits: 1638.4 bits are earned until 200 us, and 3161.6 more take 63.232 us. The frames of
    // the next cycle find the gate closed until 200 us.
    assert_eq!(ends("200us"), [(ns(279_040), ns(158_080)), (ns(439_040), ns(342_272))]);
}

/// Streams in slots and a flood below them, over three switches whose links differ.
fn in_slots(access: &str, guard_us: u32) -> String {
    format!(
        r#"
schema_version = 2
name = "in-slots"
duration = "200ms"
[segments.network.ethernet]
rate = "100Mbit/s"
cluster_cycle = "10ms"
guard_period = "{guard_us}us"
access = "{access}"
forwarding_delay = "2us"
switches = ["front", "middle", "rear"]
links = [
  {{ between = ["front", "middle"], rate = "1Gbit/s" }},
  {{ between = ["middle", "rear"], rate = "10Mbit/s", propagation_delay = "500ns" }},
  {{ between = ["camera", "front"] }},
  {{ between = ["radar", "front"], rate = "10Mbit/s" }},
  {{ between = ["brain", "middle"], rate = "1Gbit/s" }},
  {{ between = ["lamp", "rear"] }},
]
[[nodes]]
name = "camera"
[[nodes]]
name = "radar"
[[nodes]]
name = "brain"
[[nodes]]
name = "lamp"
[[protections]]
name = "tagged"
hmac = {{ hash = "sha-256", tag = "16B", freshness = "full" }}
[[streams]]
name = "request"
from = "camera"
to = ["brain", "lamp"]
count = 3
period = "5ms"
length = "100B"
protection = "tagged"
[[streams]]
name = "echo"
from = "radar"
to = ["lamp", "camera"]
period = "10ms"
length = "300B"
[[streams]]
name = "answer"
from = "lamp"
to = ["radar"]
period = "10ms"
length = "46B"
[[streams]]
name = "flood"
from = "camera"
to = ["lamp"]
count = 4
period = "10ms"
length = "1400B"
network = {{ class = {{ best_effort = {{}} }} }}
"#
    )
}

#[test]
fn frames_in_slots_go_through_several_switches_beside_a_flood() {
    for (access, guard_us) in [("per-link", 0), ("per-link", 50), ("shared-slots", 50)] {
        let plan = plan(&in_slots(access, guard_us));
        let view = Ethernet::first(&plan).unwrap();
        let table = chronoseal_analysis::synthesize(view).expect("it fits");
        assert_eq!(chronoseal_analysis::verify(view, &table), []);
        assert_eq!(table.relays.len(), 3 * 2 * 2 + 2 + 2, "a turn at each switch behind the first, in every slot");
        let found = bounds(&plan, &[Some(table.clone())], BOUNDS);
        assert!(found.risks.is_empty(), "{:?}", found.risks);
        let (_, tally) = simulated(&plan);
        for (index, row) in tally.rows().iter().enumerate() {
            let stream = &plan.streams[index];
            let frames = plan.duration.div_floor(stream.period) as u64 * stream.receivers.len() as u64;
            assert_eq!((row.discarded, row.late), (0, 0), "{access}: {}", stream.name);
            // A clock has to be right before its frames are taken: three switches and two receivers miss one. The last may still
            // be on their way.
            assert!(row.missing <= 5, "{access}: {} misses {}", stream.name, row.missing);
            assert!(
                row.delivered > 0 && row.delivered + 10 >= frames,
                "{}: {} of {frames}",
                stream.name,
                row.delivered
            );
            let ends = &found.streams[index].ends;
            let bound = ends.iter().map(|end| end.latency.as_ref().expect("all is bounded").max).max().unwrap();
            assert!(row.latency_max <= bound, "{}: {} above {bound}", stream.name, row.latency_max);
        }
    }
}

#[test]
fn a_frame_in_its_slot_leaves_each_switch_at_its_dispatch() {
    let plan = plan(&in_slots("per-link", 0));
    let view = Ethernet::first(&plan).unwrap();
    let table = chronoseal_analysis::synthesize(view).expect("it fits");
    let echo = view.streams().find(|stream| stream.stream.name == "echo").unwrap();
    let (number, slot) = table.slots.iter().enumerate().find(|(_, slot)| slot.stream == echo.id).unwrap();
    // 338 bytes with checksum, preamble and gap. In each switch 2 us, and twice the precision of 10 us.
    let on = |rate: i64| Duration::from_ps(338 * 8 * 1_000_000 / rate);
    let wait = Duration::from_us(2 + 20);
    let turns: Vec<_> = (0..3).map(|hop| table.turn(number, hop).unwrap().dispatch - slot.start).collect();
    let first = on(10) + wait;
    let second = first + on(1_000) + wait;
    assert_eq!(turns, [first, second, second + on(10) + Duration::from_ns(500) + wait]);
    let of_echo: Vec<_> = table.deliveries.iter().filter(|delivery| delivery.slot == number).collect();
    let seen: Vec<_> = of_echo.iter().map(|one| (one.node.0, one.dispatch - slot.start, one.frame_time)).collect();
    assert_eq!(seen, [(0, turns[0], on(100)), (3, turns[2], on(100))]);
    // The receiver that is furthest away sets the latency: from the last dispatch on, without the gap.
    let (_, tally) = simulated(&plan);
    let last = Duration::from_ps(326 * 8 * 1_000_000 / 100);
    let off = tally.rows()[echo.id.index()].latency_max - turns[2] - last;
    assert!(off.abs() <= view.segment.precision, "{off}");
}

/// A gateway to a bus, a ring with all the chance there is, and queues that overflow.
const RING: &str = r#"
schema_version = 2
name = "ring"
duration = "400ms"
seed = 5

[segments.body.can]
bit_rate = "500kbit/s"

[segments.network.ethernet]
rate = "100Mbit/s"
cluster_cycle = "10ms"
forwarding_delay = "3us"
forwarding_jitter = { min = "0s", mean = "2us", max = "20us" }
queue_len_max = "4kB"
class = { best_effort = { priority = 3 } }
switches = ["front", "left", "rear", "right"]
links = [
  { between = ["front", "left"], rate = "10Mbit/s" },
  { between = ["left", "rear"] },
  { between = ["rear", "right"], propagation_delay = "100ns" },
  { between = ["right", "front"] },
  { between = ["camera", "front"] },
  { between = ["radar", "front"] },
  { between = ["brain", "rear"] },
  { between = ["zone", "left"] },
  { between = ["logger", "right"] },
]

[[protections]]
name = "tagged"
hmac = { hash = "sha-256", tag = "16B", freshness = "full" }

[[nodes]]
name = "camera"
on = ["network"]
clock = "ideal"
driver = { min = "1us", mean = "5us", max = "50us" }
[[nodes]]
name = "radar"
on = ["network"]
clock = "ideal"
[[nodes]]
name = "brain"
on = ["network"]
[[nodes]]
name = "zone"
on = ["network", "body"]
gateway = {}
[[nodes]]
name = "logger"
on = ["network"]
[[nodes]]
name = "lamp"
on = ["body"]

[[streams]]
name = "dim"
from = "brain"
to = ["lamp", "logger"]
period = "10ms"
length = "8B"
body = { id = "0x100" }

[[streams]]
name = "picture"
from = "camera"
to = ["brain", "logger"]
count = 12
period = "5ms"
length = "1200B"
protection = "tagged"
network = { switches = ["right"] }

[[streams]]
name = "burst-of-the-camera"
from = "camera"
to = ["zone"]
count = 3
period = "5ms"
offset = "0s"
length = "1200B"
network = { class = { best_effort = { priority = 1 } } }

[[streams]]
name = "burst-of-the-radar"
from = "radar"
to = ["zone"]
count = 3
period = "5ms"
offset = "0s"
length = "1200B"
network = { class = { best_effort = { priority = 1 } } }
"#;

#[test]
fn a_ring_of_switches_gives_the_same_twice_and_accounts_for_every_frame() {
    let plan = plan(RING);
    let (fingerprint, tally) = simulated(&plan);
    assert_eq!(fingerprint.finish(), simulated(&plan).0.finish());
    let of = |name: &str| {
        let number =
            plan.streams.iter().position(|stream| stream.name.starts_with(name)).expect("it is one of the streams");
        tally.rows()[number]
    };
    assert_eq!((of("dim").delivered, of("dim").discarded), (80, 0), "over the gateway too");
    assert_eq!(of("picture").discarded, 0);
    // Six at once for the slow link; one is on it, and the queue in front of it holds no more than three.
    let burst: Vec<_> = plan
        .streams
        .iter()
        .zip(tally.rows())
        .filter(|(stream, _)| stream.name.starts_with("burst"))
        .map(|(_, row)| *row)
        .collect();
    let (delivered, discarded) =
        burst.iter().fold((0, 0), |(delivered, discarded), row| (delivered + row.delivered, discarded + row.discarded));
    assert!(discarded > 0 && delivered > 0, "{burst:?}");
    assert_eq!(delivered + discarded, 6 * 80, "{burst:?}");
}

#[test]
fn the_order_of_the_links_changes_nothing() {
    let mut lines: Vec<&str> = RING.lines().collect();
    let first = lines.iter().position(|line| line.contains("between")).expect("there are links");
    let count = lines.iter().filter(|line| line.contains("between")).count();
    lines[first..first + count].reverse();
    let reversed = lines.join("\n");
    assert_ne!(reversed, RING);
    assert_eq!(simulated(&plan(&reversed)).0.finish(), simulated(&plan(RING)).0.finish());
}

#[test]
fn one_switch_with_its_links_written_out_is_the_same_as_one_without() {
    let shipped = include_str!("../../../scenarios/first.toml");
    let links = "switches = [\"switch\"]\nlinks = [{ between = [\"switch\", \"sensor\"] }, \
                 { between = [\"controller\", \"switch\"], rate = \"100Mbit/s\" }]\nprecision";
    let written = shipped.replacen("precision", links, 1);
    assert_ne!(written, shipped);
    assert_eq!(simulated(&plan(&written)).0.finish(), simulated(&plan(shipped)).0.finish());
}

#[test]
fn best_effort_over_several_switches_is_bounded_but_over_a_link_that_has_too_much() {
    let plan = plan(RING);
    let prepared = Prepared::new(&plan).expect("best effort needs no schedule");
    let tables: Vec<_> =
        plan.segment_ids().map(|id| Ethernet::of(&plan, id).and(prepared.schedule(id)).cloned()).collect();
    let found = bounds(&plan, &tables, BOUNDS);
    for (stream, bound) in plan.streams.iter().zip(&found.streams) {
        // The bursts ask for more than the slow link has, and frames of them are lost in the run.
        let is_burst = stream.name.starts_with("burst");
        let is_full = |risk: &Risk| matches!(risk.cause, Cause::LinkFull { bytes: None, .. });
        let is_at_risk = found.risks.iter().any(|risk| risk.stream == Some(bound.stream) && is_full(risk));
        assert!(is_at_risk || !is_burst, "{}", stream.name);
        for end in &bound.ends {
            let is_overload = end.latency.is_err_and(|missing| matches!(missing.why, Why::Link(_)));
            assert_eq!((end.latency.is_err(), is_overload), (is_burst, is_burst), "{}: {end:?}", stream.name);
        }
    }
}

#[test]
fn a_link_that_fails_loses_what_is_not_over_it_and_check_says_whose_that_is() {
    let failing =
        RING.replacen("switches = [", "failures = [{ link = [\"rear\", \"right\"], at = \"200ms\" }]\nswitches = [", 1);
    let plan = plan(&failing);
    let of = |tally: &Tally, name: &str| {
        let rows = plan.streams.iter().zip(tally.rows()).filter(|(stream, _)| stream.name.starts_with(name));
        rows.fold((0, 0), |(delivered, discarded), (_, row)| (delivered + row.delivered, discarded + row.discarded))
    };
    let (_, tally) = simulated(&plan);
    // Twelve pictures every 5 ms for two receivers, one of which is before the link; a frame every 10 ms, one of whose two
    // receivers is behind it.
    for (name, sent, lost) in [("picture", 12 * 80 * 2, 12 * 40), ("dim", 80, 20)] {
        let (delivered, discarded) = of(&tally, name);
        assert_eq!(delivered + discarded, sent, "{name}");
        assert!((lost - 12..=lost + 12).contains(&discarded), "{discarded} of {name}");
    }
    let (_, whole) = simulated(&self::plan(RING));
    assert_eq!(of(&tally, "burst"), of(&whole, "burst"), "they go another way");
    let prepared = Prepared::new(&plan).expect("best effort needs no schedule");
    let tables: Vec<_> =
        plan.segment_ids().map(|id| Ethernet::of(&plan, id).and(prepared.schedule(id)).cloned()).collect();
    let risks = bounds(&plan, &tables, BOUNDS).risks;
    for (number, stream) in plan.streams.iter().enumerate() {
        let is_told = risks.iter().any(|risk| {
            risk.stream.is_some_and(|id| id.index() == number) && matches!(risk.cause, Cause::LinkFails { .. })
        });
        assert_eq!(is_told, !stream.name.starts_with("burst"), "{}", stream.name);
    }
}
