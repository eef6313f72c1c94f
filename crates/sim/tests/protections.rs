//! Every algorithm with every freshness, on a bus, on a time-triggered Ethernet and over gateways: genuine frames are taken,
//! others are not.

use chronoseal_catalog::Prepared;
use chronoseal_core::{Event, EventKind, NodeId, SimTime};
use chronoseal_frameauth::MacAlgorithm;
use chronoseal_scenario::{NoFiles, load};
use chronoseal_sim::{FrameContext, Observer, run};

/// Frames that a receiver took, and attempts of the attacker.
#[derive(Default)]
struct Taken {
    genuine: usize,
    attacks: usize,
    attempts: usize,
    missing: usize,
}

impl Observer for Taken {
    fn event(&mut self, _: SimTime, node: NodeId, event: &Event, frame: Option<FrameContext<'_>>) {
        match (event.kind, frame.and_then(|frame| frame.label.attack)) {
            (EventKind::Delivered, None) => self.genuine += 1,
            (EventKind::Delivered, Some(_)) => self.attacks += 1,
            (EventKind::Attacked(_), _) => self.attempts += 1,
            // The switch says so, too.
            (EventKind::Missing, _) if node == NodeId(1) => self.missing += 1,
            _ => {}
        }
    }
}

const BUS: &str = "[segments.net.can]\nbit_rate = \"500kbit/s\"\ndata_bit_rate = \"2Mbit/s\"\n";
const STAR: &str =
    "[segments.net.ethernet]\nrate = \"100Mbit/s\"\ncluster_cycle = \"10ms\"\nguard_period = \"100us\"\n";

/// A hundred frames on one segment under this protection, and an attacker that tries ten times.
fn taken(segment: &str, stream: &str, protection: &str, attack: &str) -> Taken {
    // On Ethernet on the wire of the sender, where nothing but the protection is in the way.
    let at = if segment == STAR { "at = { link = \"a\" }" } else { "" };
    let text = format!(
        "schema_version = 2\nname = \"protected\"\nduration = \"1s\"\n{segment}\
         [[protections]]\nname = \"sealed\"\n{protection}\n\
         [[nodes]]\nname = \"a\"\n[[nodes]]\nname = \"b\"\n\
         [[streams]]\nname = \"speed\"\nfrom = \"a\"\nto = [\"b\"]\nperiod = \"10ms\"\nlength = \"20B\"\n\
         protection = \"sealed\"\n{stream}\n\
         [[threats]]\nname = \"mallory\"\nkind = \"{attack}\"\nstream = \"speed\"\nstart = \"300ms\"\n{at}\n\
         every = \"30ms\"\ncount = 10\n"
    );
    let plan = load("protected.toml", text.as_bytes(), &[], &NoFiles)
        .unwrap_or_else(|problems| panic!("{}", problems.render()));
    let prepared = Prepared::new(&plan).expect("one frame a cycle has a slot");
    run(&prepared, Taken::default(), &mut |_| true).expect("the plan's stations can be made").observer
}

/// A hundred PDUs over two gateways between segments of these kinds, and the second gateway taken over.
fn over_gateways(segments: [&str; 3], length: u32, mac: &str, protection: &str, attack: &str) -> Taken {
    let mut text = format!(
        "schema_version = 2\nname = \"ways\"\nduration = \"1s\"\n\
         [[protections]]\nname = \"sealed\"\n{mac}\n\
         [[nodes]]\nname = \"a\"\non = [\"s0\"]\n[[nodes]]\nname = \"b\"\non = [\"s2\"]\n\
         [[nodes]]\nname = \"front\"\non = [\"s0\", \"s1\"]\ngateway = {{}}\n\
         [[nodes]]\nname = \"rear\"\non = [\"s1\", \"s2\"]\ngateway = {{}}\n\
         [[threats]]\nname = \"mallory\"\nkind = \"{attack}\"\nstream = \"speed\"\nstart = \"300ms\"\n\
         at = {{ node = \"rear\" }}\nevery = \"30ms\"\ncount = 10\n"
    );
    let mut tables = String::new();
    for (i, segment) in segments.into_iter().enumerate() {
        text += &segment.replace("segments.net.", &format!("segments.s{i}."));
        let table = if segment == BUS { "id = \"0x100\", format = \"fd-brs\"" } else { "class = { best_effort = {} }" };
        tables += &format!("s{i} = {{ {table} }}\n");
    }
    text += &format!(
        "[[streams]]\nname = \"speed\"\nfrom = \"a\"\nto = [\"b\"]\nperiod = \"10ms\"\nlength = \"{length}B\"\n\
         protection = {protection}\n{tables}"
    );
    let plan =
        load("ways.toml", text.as_bytes(), &[], &NoFiles).unwrap_or_else(|problems| panic!("{}", problems.render()));
    let prepared = Prepared::new(&plan).expect("best effort needs no slot");
    run(&prepared, Taken::default(), &mut |_| true).expect("the plan's stations can be made").observer
}

/// A short tag that an algorithm gives.
fn tag(mac: MacAlgorithm) -> String {
    format!("{}bit", mac.tag_bits_min().max(56))
}

#[test]
fn genuine_frames_are_taken_and_forged_or_repeated_ones_are_not() {
    let freshness = [
        ("\"full\"", false),
        ("{ truncated = \"2B\" }", false),
        ("{ truncated = \"5bit\" }", false),
        ("{ rising = { sent = \"1B\" } }", false),
        ("{ rising = { counter = \"3B\", sent = \"4bit\" } }", false),
        ("{ rising = { counter = \"13bit\", sent = \"5bit\" } }", false),
        ("\"none\"", true),
        ("\"cycle-counter\"", false),
    ];
    let segments = [(BUS, "net = { id = \"0x100\", format = \"fd-brs\" }", false), (STAR, "", true)];
    for mac in MacAlgorithm::ALL {
        for (freshness, is_replayable) in freshness {
            for (segment, stream, has_slots) in segments {
                if freshness == "\"cycle-counter\"" && !has_slots {
                    continue;
                }
                if mac.needs_nonce() && ["\"none\"", "\"cycle-counter\""].contains(&freshness) {
                    continue;
                }
                let protection =
                    format!("mac = {{ algorithm = \"{mac}\", tag = \"{}\", freshness = {freshness} }}", tag(mac));
                let attacks = if has_slots { &["spoof", "tamper", "replay"][..] } else { &["spoof", "replay"] };
                for attack in attacks {
                    let taken = taken(segment, stream, &protection, attack);
                    let what = format!("{mac}, {freshness}, {attack}, {segment}");
                    assert_eq!(taken.attempts, 10, "{what}");
                    // A slot that an attacker was faster in is lost on Ethernet, and the last frame may be on its way.
                    assert!(taken.genuine >= 89, "{what}: {} taken", taken.genuine);
                    let may_pass = *attack == "replay" && is_replayable;
                    assert_eq!(taken.attacks > 0, may_pass, "{what}: {} attacks taken", taken.attacks);
                }
            }
        }
    }
}

/// A gateway that was taken over has the keys of its hops, and none of a stream that is sealed from end to end.
#[test]
fn a_gateway_gets_nothing_through_that_is_sealed_from_end_to_end() {
    let hop_by_hop = "{ s0 = \"sealed\", s1 = \"sealed\", s2 = \"sealed\" }";
    for mac in MacAlgorithm::ALL {
        for freshness in ["\"full\"", "{ truncated = \"12bit\" }", "{ rising = { sent = \"1B\" } }"] {
            let written = format!("mac = {{ algorithm = \"{mac}\", tag = \"{}\", freshness = {freshness} }}", tag(mac));
            for (protection, gets_through) in [("{ end_to_end = \"sealed\" }", false), (hop_by_hop, true)] {
                for attack in ["spoof", "tamper", "withhold"] {
                    let taken = over_gateways([BUS, STAR, BUS], 20, &written, protection, attack);
                    let what = format!("{written}, {protection}, {attack}");
                    assert_eq!(taken.attempts, 10, "{what}");
                    let expected = if gets_through && attack != "withhold" { 10 } else { 0 };
                    assert_eq!(taken.attacks, expected, "{what}");
                    // The last one may be on its way, and what is made up may take the count of a genuine one.
                    assert!(taken.genuine >= 79, "{what}: {} taken", taken.genuine);
                }
            }
        }
    }
}

#[test]
fn the_longest_pdu_with_its_tag_comes_through_whole() {
    let written = "mac = { algorithm = \"hmac-sha-256\", tag = \"16B\", freshness = \"full\" }";
    for protection in ["\"sealed\"", "{ s0 = \"sealed\", s1 = \"sealed\", s2 = \"sealed\" }"] {
        for (segments, length) in [([STAR; 3], 1468), ([BUS, STAR, STAR], 40), ([STAR, STAR, BUS], 40)] {
            let taken = over_gateways(segments, length, written, protection, "withhold");
            assert!((89..=90).contains(&taken.genuine), "{protection}, {length}: {} taken", taken.genuine);
        }
    }
}

#[test]
fn what_an_attacker_on_the_wire_withholds_is_missed() {
    let mac = "mac = { algorithm = \"cmac-aes-128\", tag = \"7B\", freshness = \"cycle-counter\" }";
    let (none, withheld) = (taken(STAR, "", mac, "tamper"), taken(STAR, "", mac, "withhold"));
    assert_eq!((withheld.attempts, withheld.attacks), (10, 0));
    // What is changed comes and is thrown away; what is withheld does not come.
    assert_eq!(withheld.genuine, none.genuine);
    assert_eq!(withheld.missing, none.missing + 10);
}

/// On the wire of its sender a stream needs no slot to be attacked.
#[test]
fn best_effort_is_attacked_on_the_wire_and_holds_with_a_tag() {
    let best_effort = "net = { class = { best_effort = {} } }";
    let mac = "mac = { algorithm = \"hmac-sha-256\", tag = \"16B\", freshness = \"full\" }";
    for (protection, gets_through) in [("none = {}", true), (mac, false)] {
        for (attack, sends) in [("spoof", true), ("tamper", true), ("replay", true), ("withhold", false)] {
            let taken = taken(STAR, best_effort, protection, attack);
            assert_eq!(taken.attempts, 10, "{protection}, {attack}");
            assert_eq!(taken.attacks, if gets_through && sends { 10 } else { 0 }, "{protection}, {attack}");
        }
    }
}

/// A preset is the profile that it stands for, and nobody mixes up who is meant.
#[test]
fn a_preset_and_its_profile_written_out_are_taken_alike() {
    let written = "mac = { algorithm = \"cmac-aes-128\", tag = \"24bit\", freshness = { rising = { sent = \"1B\" } }, \
                   replay_window = 1 }";
    for (segment, stream) in [(BUS, "net = { id = \"0x100\", format = \"fd-brs\" }"), (STAR, "")] {
        let preset = taken(segment, stream, "secoc = { profile = 1 }", "replay");
        let written = taken(segment, stream, written, "replay");
        assert_eq!((preset.genuine, preset.attacks), (written.genuine, written.attacks));
        assert!(preset.genuine >= 89 && preset.attacks == 0);
    }
}
