//! Every algorithm with every freshness, on a bus and on a time-triggered Ethernet: genuine frames are taken, others are not.

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

#[test]
fn genuine_frames_are_taken_and_forged_or_repeated_ones_are_not() {
    let freshness = [
        ("\"full\"", false),
        ("{ truncated = \"2B\" }", false),
        ("{ truncated = \"5bit\" }", false),
        ("{ rising = { sent = \"1B\" } }", false),
        ("{ rising = { counter = \"3B\", sent = \"4bit\" } }", false),
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
                let protection = format!("mac = {{ algorithm = \"{mac}\", tag = \"7B\", freshness = {freshness} }}");
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

#[test]
fn what_an_attacker_on_the_wire_withholds_is_missed() {
    let mac = "mac = { algorithm = \"cmac-aes-128\", tag = \"7B\", freshness = \"cycle-counter\" }";
    let (none, withheld) = (taken(STAR, "", mac, "tamper"), taken(STAR, "", mac, "withhold"));
    assert_eq!((withheld.attempts, withheld.attacks), (10, 0));
    // What is changed comes and is thrown away; what is withheld does not come.
    assert_eq!(withheld.genuine, none.genuine);
    assert_eq!(withheld.missing, none.missing + 10);
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
