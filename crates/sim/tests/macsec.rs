//! MACsec on the links of a segment: what it costs in time, what it stops, and what it does not.

use std::collections::BTreeMap;

use chronoseal_analysis::segment::{BOUNDS, Cause, Harm, bounds};
use chronoseal_catalog::Prepared;
use chronoseal_core::{AttackKind, DiscardReason, Duration, Event, EventKind, NodeId, SimTime, StreamId};
use chronoseal_plan::Plan;
use chronoseal_scenario::{NoFiles, load};
use chronoseal_sim::{FrameContext, Observer, run};

/// Everything that happened to frames of streams.
#[derive(Default)]
struct Seen {
    /// When, where, what, and of which frame of which stream.
    events: Vec<(SimTime, NodeId, EventKind, StreamId, u64)>,
    /// Latencies of genuine frames at their receivers.
    latencies: BTreeMap<StreamId, Vec<Duration>>,
    /// What became of frames that an attacker had made or changed.
    attacks: BTreeMap<(AttackKind, String), u64>,
    attempts: u64,
}

impl Observer for Seen {
    fn event(&mut self, at: SimTime, node: NodeId, event: &Event, frame: Option<FrameContext<'_>>) {
        let attack = frame.as_ref().and_then(|frame| frame.label.attack);
        match (event.kind, attack) {
            (EventKind::Attacked(_), _) => self.attempts += 1,
            (EventKind::Delivered, None) => {
                let latency = frame.map_or(Duration::ZERO, |frame| at - frame.label.sent_at);
                self.latencies.entry(event.stream).or_default().push(latency);
            }
            (EventKind::Delivered, Some(attack)) => *self.attacks.entry((attack, "delivered".into())).or_default() += 1,
            (EventKind::Discarded(reason), Some(attack)) => {
                *self.attacks.entry((attack, reason.name().into())).or_default() += 1;
            }
            _ => {}
        }
        if !matches!(event.kind, EventKind::Attacked(_)) {
            self.events.push((at, node, event.kind, event.stream, event.sequence));
        }
    }
}

fn plan(text: &str) -> Plan {
    load("any.toml", text.as_bytes(), &[], &NoFiles).unwrap_or_else(|problems| panic!("{}\n{text}", problems.render()))
}

fn seen(text: &str) -> Seen {
    let plan = plan(text);
    let prepared = Prepared::new(&plan).expect("its frames fit its slots");
    run(&prepared, Seen::default(), &mut |_| true).expect("every part can be built").observer
}

/// A sensor and a brake at one switch. `macsec` is a line of the segment, `class` that of the stream.
fn star(macsec: &str, class: &str, more: &str) -> String {
    format!(
        "schema_version = 2\nname = \"star\"\nduration = \"400ms\"\n[segments.net.ethernet]\nrate = \"100Mbit/s\"\n\
         cluster_cycle = \"10ms\"\nguard_period = \"100us\"\npropagation_delay = \"500ns\"\nforwarding_delay = \"3us\"\n{macsec}\n\
         [[nodes]]\nname = \"sensor\"\n[[nodes]]\nname = \"brake\"\n\
         [[streams]]\nname = \"pedal\"\nfrom = \"sensor\"\nto = [\"brake\"]\nperiod = \"10ms\"\nlength = \"46B\"\n\
         net = {{ class = {class} }}\n{more}\n"
    )
}

const BEST_EFFORT: &str = "{ best_effort = {} }";
const SLOTS: &str = "\"time-triggered\"";

#[test]
fn each_link_takes_the_bytes_and_both_ends_their_time() {
    // 60 bytes, with preamble and checksum, twice over links and once through the switch.
    let once = |added: i64, delay: Duration| Duration::from_ns(80) * (60 + 12 + added) + Duration::from_ns(500) + delay;
    let forwarding = Duration::from_us(3);
    let (sci, without) = (32, 24);
    let time = "protect = { base = \"2us\", per_byte = \"1ns\" }, check = { base = \"700ns\", per_byte = \"2ns\" }";
    let delay = Duration::from_ns(2_700 + 3 * 60);
    for (macsec, expected) in [
        (String::new(), once(0, Duration::ZERO) * 2),
        ("macsec = {}".into(), once(sci, Duration::ZERO) * 2),
        ("macsec = { include_sci = false }".into(), once(without, Duration::ZERO) * 2),
        (format!("macsec = {{ {time} }}"), once(sci, delay) * 2),
        (
            format!("macsec = {{ {time} }}\nlinks = [{{ between = [\"brake\", \"switch\"], macsec = false }}]"),
            once(sci, delay) + once(0, Duration::ZERO),
        ),
    ] {
        let text = star(&macsec, BEST_EFFORT, "").replacen("cluster_cycle", "sync = \"ideal\"\ncluster_cycle", 1);
        let seen = seen(&text.replace("[[nodes]]\nname = ", "[[nodes]]\nclock = \"ideal\"\nname = "));
        let latencies = &seen.latencies[&StreamId(0)];
        assert!(latencies.len() > 30, "{macsec}");
        assert!(latencies.iter().all(|latency| *latency == expected + forwarding), "{macsec}: {latencies:?}");
    }
}

/// All parameters that change the bytes.
const PARAMETERS: [&str; 4] = [
    "macsec = {}",
    "macsec = { include_sci = false, confidentiality = \"offset-30\" }",
    "macsec = { cipher_suite = \"gcm-aes-256\", confidentiality = \"none\" }",
    "macsec = { cipher_suite = \"gcm-aes-256\", include_sci = false, confidentiality = \"offset-50\", protect = { base = \"1us\" } }",
];

/// A SecY is below the queues of its port, so what has a higher priority leaves first and has the lower packet number.
#[test]
fn who_sits_on_a_protected_link_does_not_change_the_order_of_priorities() {
    let more = "[[streams]]\nname = \"picture\"\nfrom = \"sensor\"\nto = [\"brake\"]\nperiod = \"20ms\"\nlength = \"9000B\"\n\
         offset = \"0us\"\nnet = { class = { best_effort = { priority = 0 } } }\n";
    let pedal = "{ best_effort = { priority = 4 } }";
    let withheld = "[[threats]]\nname = \"mallory\"\nkind = \"withhold\"\nstream = \"picture\"\nat = { link = \"sensor\" }\n\
         start = \"370ms\"\ncount = 1";
    for macsec in ["macsec = {}", ""] {
        let text = |more: &str| {
            let text = star(macsec, pedal, more);
            text.replacen("period = \"10ms\"", "period = \"10ms\"\noffset = \"150us\"", 1)
        };
        let alone = seen(&text(more));
        let beside = seen(&text(&format!("{more}{withheld}")));
        assert_eq!(beside.attempts, 1);
        // The last ones meet what was withheld.
        let pedal = |seen: &Seen| seen.latencies[&StreamId(0)][..35].to_vec();
        assert_eq!(pedal(&alone), pedal(&beside), "{macsec}");
    }
}

fn threat(kind: &str, at: &str) -> String {
    format!(
        "[[threats]]\nname = \"mallory\"\nkind = \"{kind}\"\nstream = \"pedal\"\nat = {{ {at} }}\nstart = \"100ms\"\n\
         every = \"20ms\"\ncount = 10"
    )
}

#[test]
fn whoever_is_on_the_wire_is_stopped_with_the_reason() {
    for macsec in PARAMETERS {
        for class in [SLOTS, BEST_EFFORT] {
            for (kind, attack, reason) in [
                ("tamper", AttackKind::Tamper, DiscardReason::TagMismatch),
                ("replay", AttackKind::Replay, DiscardReason::FreshnessTooOld),
                ("spoof", AttackKind::Spoof, DiscardReason::Untagged),
            ] {
                let text = star(macsec, class, &threat(kind, "link = \"sensor\""));
                let seen = seen(&text);
                let expected = BTreeMap::from([((attack, reason.name().to_owned()), 10)]);
                assert_eq!((seen.attempts, &seen.attacks), (10, &expected), "{text}");
                // What was not touched arrives: a forged frame in front of it is no reason to throw it away.
                let genuine = seen.latencies[&StreamId(0)].len();
                let lost = if kind == "spoof" { 0 } else { 10 };
                assert!((38 - lost..=40 - lost).contains(&genuine), "{genuine} genuine ones\n{text}");
            }
        }
    }
}

/// 14 of header, 4 of VLAN tag, 1500 of payload, 16 of SecTAG and 16 of check value.
#[test]
fn whoever_is_on_the_wire_holds_the_longest_frames_too() {
    for (kind, attack, reason) in [
        ("tamper", AttackKind::Tamper, DiscardReason::TagMismatch),
        ("replay", AttackKind::Replay, DiscardReason::FreshnessTooOld),
    ] {
        let text = star("macsec = {}", "{ vlan = { pcp = 3 } }", &threat(kind, "link = \"sensor\""));
        let seen = seen(&text.replace("length = \"46B\"", "length = \"1500B\""));
        assert_eq!(seen.attacks, BTreeMap::from([((attack, reason.name().to_owned()), 10)]));
        assert!((28..=30).contains(&seen.latencies[&StreamId(0)].len()));
    }
}

#[test]
fn whoever_brings_a_port_along_is_stopped_before_the_schedule_is_asked() {
    for (kind, attack) in [("spoof", AttackKind::Spoof), ("replay", AttackKind::Replay)] {
        let seen = seen(&star("macsec = {}", SLOTS, &threat(kind, "segment = \"net\"")));
        let expected = BTreeMap::from([((attack, DiscardReason::Untagged.name().to_owned()), 10)]);
        assert_eq!(seen.attacks, expected);
    }
    // Without MACsec on the port the schedule stops it, as before.
    let text = star("", SLOTS, &threat("spoof", "segment = \"net\""));
    assert_eq!(seen(&text).attacks, BTreeMap::from([((AttackKind::Spoof, "wrong-port".to_owned()), 10)]));
}

#[test]
fn a_link_without_macsec_protects_nothing() {
    let open = "macsec = {}\nlinks = [{ between = [\"sensor\", \"switch\"], macsec = false }]";
    for (kind, attack) in [("tamper", AttackKind::Tamper), ("replay", AttackKind::Replay), ("spoof", AttackKind::Spoof)]
    {
        let seen = seen(&star(open, BEST_EFFORT, &threat(kind, "link = \"sensor\"")));
        assert_eq!(seen.attacks, BTreeMap::from([((attack, "delivered".to_owned()), 10)]));
    }
}

/// MACsec authenticates the neighbour on a link, and not who made the frame.
#[test]
fn who_has_the_key_of_a_link_gets_through() {
    let babble = "[[threats]]\nname = \"broken\"\nkind = \"babble\"\nstream = \"pedal\"\nat = { link = \"sensor\" }\n\
                  start = \"100ms\"\nevery = \"20ms\"\ncount = 10";
    let babbling = seen(&star("macsec = {}", BEST_EFFORT, babble));
    assert_eq!(babbling.attacks, BTreeMap::from([((AttackKind::Babble, "delivered".to_owned()), 10)]));

    let relayed = "schema_version = 2\nname = \"relayed\"\nduration = \"400ms\"\n\
         [segments.one.ethernet]\nrate = \"100Mbit/s\"\ncluster_cycle = \"10ms\"\nmacsec = {}\nclass = { best_effort = {} }\n\
         [segments.two.ethernet]\nrate = \"100Mbit/s\"\ncluster_cycle = \"10ms\"\nmacsec = {}\nclass = { best_effort = {} }\n\
         [[nodes]]\nname = \"sensor\"\non = [\"one\"]\n[[nodes]]\nname = \"brake\"\non = [\"two\"]\n\
         [[nodes]]\nname = \"zone\"\non = [\"one\", \"two\"]\ngateway = {}\n\
         [[streams]]\nname = \"pedal\"\nfrom = \"sensor\"\nto = [\"brake\"]\nperiod = \"10ms\"\nlength = \"46B\"\n";
    let taken_over = seen(&format!("{relayed}{}", threat("tamper", "node = \"zone\"")));
    assert_eq!(taken_over.attacks, BTreeMap::from([((AttackKind::Tamper, "delivered".to_owned()), 10)]));
}

/// Where nobody attacks only bytes and time count, so that frames need not be encrypted there: it makes no difference.
#[test]
fn frames_that_are_really_protected_take_no_other_way_than_those_that_are_not() {
    for macsec in PARAMETERS {
        for class in [SLOTS, BEST_EFFORT] {
            let beside = "[[streams]]\nname = \"picture\"\nfrom = \"sensor\"\nto = [\"brake\"]\nperiod = \"2ms\"\nlength = \"1400B\"\n\
                          net = { class = { best_effort = {} } }\n";
            // The attacker is there and never tries.
            let waits = threat("tamper", "link = \"sensor\"").replace("\"100ms\"", "\"399999us\"");
            let waits = waits.replace("count = 10", "count = 1");
            let [without, with] =
                [String::new(), waits].map(|threat| seen(&star(macsec, class, &format!("{beside}{threat}"))));
            // Its only attempt comes with the last frames of the run, which are left out.
            let end = SimTime::ZERO + Duration::from_ms(399);
            // The switch is numbered behind the attacker, and its events count every frame that was put on a wire.
            let before = |seen: &Seen| -> Vec<_> {
                let early = seen.events.iter().filter(|(at, ..)| *at < end);
                early
                    .map(|&(at, node, kind, stream, number)| match node.0 {
                        0 | 1 => (at, node.0, kind, stream, number),
                        _ => (at, 2, kind, stream, 0),
                    })
                    .collect()
            };
            let (without, with) = (before(&without), before(&with));
            assert!(with.len() > 200, "{} events", with.len());
            assert_eq!(without, with, "{macsec} {class}");
        }
    }
}

#[test]
fn a_frame_that_was_delayed_comes_too_late_for_its_packet_number() {
    let beside = "[[streams]]\nname = \"picture\"\nfrom = \"sensor\"\nto = [\"brake\"]\nperiod = \"2ms\"\nlength = \"400B\"\n\
                  net = { class = { best_effort = {} } }\n";
    let delay = threat("tamper", "link = \"sensor\"").replace("\"tamper\"", "{ delay = { by = \"5ms\" } }");
    let text = star("macsec = {}", BEST_EFFORT, &format!("{beside}{delay}"));
    let lost = |text: &str| {
        let old = EventKind::Discarded(DiscardReason::FreshnessTooOld);
        seen(text).events.iter().filter(|(_, _, kind, ..)| *kind == old).count()
    };
    assert_eq!(lost(&text), 10);
    assert_eq!(lost(&text.replacen("macsec = {}", "macsec = { replay_window = 8 }", 1)), 0, "three others went before");

    let plan = plan(&text);
    let prepared = Prepared::new(&plan).expect("nothing has slots");
    let tables: Vec<_> = plan.segment_ids().map(|id| prepared.schedule(id).cloned()).collect();
    let is_told = bounds(&plan, &tables, BOUNDS).risks.iter().any(
        |risk| matches!(&risk.cause, Cause::Threat(threat) if matches!(threat.harm, Harm::OutOfOrder { node: NodeId(0) })),
    );
    assert!(is_told, "what is discarded holds on no paper");
}
