//! What is filled in and what is drawn.

use std::collections::BTreeSet;

use chronoseal_core::{Duration, NodeId};
use chronoseal_frameauth::SymmetricKey;
use chronoseal_plan::{Ethernet, Fidelity, KeySource, Plan, ProtectionKind, StreamClass};
use chronoseal_scenario::{FileError, Files, NoFiles, load};

use crate::WHOLE;
use crate::support::plan;

fn ethernet(plan: &Plan) -> Ethernet<'_> {
    Ethernet::first(plan).expect("it has such a segment")
}

fn ct_ids(plan: &Plan) -> Vec<u16> {
    let id = StreamClass::ct_id;
    ethernet(plan).streams().filter_map(|stream| id(&stream.class)).collect()
}

#[test]
fn identifiers_are_the_next_free_ones_and_never_the_beacons() {
    let text = WHOLE.replace("guard_period", "sync_id = 2\nguard_period");
    assert_eq!(ct_ids(&plan(&text)), [1, 3, 4]);
    let fixed = WHOLE.replace("count = 3\n", "count = 3\nnetwork = { ct_id = 17 }\n");
    assert_eq!(ct_ids(&plan(&fixed)), [17, 18, 19]);
}

#[test]
fn ten_thousand_streams_have_ten_thousand_identifiers() {
    let text = WHOLE.replace("count = 3", "count = 9999");
    let plan = plan(&text);
    let ids: BTreeSet<u16> = ct_ids(&plan).into_iter().collect();
    assert_eq!(ids.len(), 9_999);
    assert!(!ids.contains(&4043) && !ids.contains(&0));
    let names: BTreeSet<&str> = plan.streams.iter().map(|stream| stream.name.as_str()).collect();
    assert_eq!(names.len(), 10_000);
}

/// The key of the first protection that was written.
fn key_of(plan: &Plan) -> &SymmetricKey {
    match &plan.protections[1].kind {
        ProtectionKind::Secured { key: KeySource::Shared(key), .. } => key,
        other => panic!("a key for all streams, not {other:?}"),
    }
}

#[test]
fn chance_comes_from_the_seed_and_nothing_else() {
    let with_seed = |seed: u64| plan(&WHOLE.replace("duration", &format!("seed = {seed}\nduration")));
    let (first, again, other) = (with_seed(7), with_seed(7), with_seed(8));
    let drawn = |plan: &Plan| (plan.nodes[1].clock, plan.streams[3].offset, key_of(plan).expose().to_vec());
    assert_eq!(drawn(&first), drawn(&again));
    let (clock, offset, key) = drawn(&other);
    assert_ne!(clock, first.nodes[1].clock);
    assert_ne!(offset, first.streams[3].offset);
    assert_ne!(key, drawn(&first).2);
    assert_eq!(first.nodes[0].clock, other.nodes[0].clock, "a fixed clock is not drawn");
    assert!(first.nodes[1].clock.offset.abs() <= Duration::from_ms(1));
}

#[test]
fn keys_are_shown_by_no_formatter() {
    let key = "5a".repeat(64);
    let text = WHOLE.replace("replay_window = 8", &format!("key = \"{key}\""));
    let plan = plan(&text);
    assert_eq!(key_of(&plan).expose(), &[0x5a; 64]);
    assert!(!format!("{plan:?}").contains("5a5a") && !format!("{plan:?}").contains("90, 90"));
}

#[test]
fn defaults_are_filled() {
    let text = include_str!("../../../../scenarios/first.toml");
    let without_guard: String =
        text.lines().filter(|line| !line.starts_with("guard_period")).flat_map(|l| [l, "\n"]).collect();
    let plan = plan(&without_guard);
    let network = ethernet(&plan).segment;
    assert_eq!(network.integration_cycle, network.cluster_cycle);
    assert_eq!(network.sync_id, 4043);
    assert_eq!(network.guard_period, Duration::ZERO);
    // Two longest frames and two shortest at 100 Mbit/s, on the wire: 2 * (1538 + 84) * 80 ns.
    assert_eq!(network.max_transmission_delay, Duration::from_ns(259_520));
    assert_eq!(plan.protections.len(), 1);
    assert_eq!(plan.candidates.len(), 1);
    assert_eq!(plan.streams[0].sender, NodeId(0));
    assert_eq!(plan.seed, 1);
    assert!(plan.notes.is_empty());
}

#[test]
fn tags_at_timing_fidelity_are_noted() {
    let text = WHOLE.replace("duration", "fidelity = \"timing\"\nduration");
    let text = &text[..text.find("[[threats]]").expect("threats come last")];
    let plan = plan(text);
    assert_eq!(plan.fidelity, Fidelity::Timing);
    assert_eq!(plan.notes.len(), 1);
}

struct One(&'static str);

impl Files for One {
    fn read(&self, _path: &str) -> Result<Vec<u8>, FileError> {
        Ok(self.0.as_bytes().to_vec())
    }
}

fn with_recording(csv: &'static str, source: &str) -> Result<Plan, chronoseal_scenario::Problems> {
    let text = WHOLE.replace("frames = { builtin = \"car-frames\", can_id = \"0x116\" }", source);
    load("t.toml", text.as_bytes(), &[], &One(csv))
}

#[test]
fn a_recording_starts_at_its_first_sample_and_knows_its_origin() {
    let csv = "# source: my drive\n# unit: speed m/s\ntime_us,name,value\n100,other,9\n500,speed,1.5\n900,speed,-2\n";
    let plan = with_recording(csv, "signal = { file = \"drive.csv\", name = \"speed\" }").expect("right");
    let recording = &plan.recordings[0];
    assert_eq!(recording.unit, "m/s");
    assert!(recording.source.contains("drive.csv") && recording.source.contains("my drive"));
    let at: Vec<Duration> = recording.samples.iter().map(|sample| sample.at).collect();
    assert_eq!(at, [Duration::ZERO, Duration::from_us(400)]);
    assert_eq!(recording.samples[1].bytes, (-2.0f64).to_be_bytes());
    assert_eq!(recording.length, Duration::from_ms(1));
}

#[test]
fn raw_frames_carry_identifier_and_data() {
    let csv = "time_us,can_id,data\n0,0CF00400,00ff\n2000,7E8,\n";
    let plan = with_recording(csv, "frames = { file = \"f.csv\" }").expect("right");
    let samples = &plan.recordings[0].samples;
    assert_eq!(samples[0].bytes, [0x0c, 0xf0, 0x04, 0x00, 0x00, 0xff]);
    assert_eq!(samples[1].bytes, [0, 0, 0x07, 0xe8]);
    assert_eq!(samples[0].value, None);
}

#[test]
fn broken_recordings_are_refused_with_their_line() {
    for (csv, line) in [
        ("", "line 1"),
        ("time_us,value\n", "line 1"),
        ("time_us,name,value\n1,speed\n", "line 2"),
        ("time_us,name,value\n5,speed,1\n4,speed,1\n", "line 3"),
        ("time_us,name,value\n-5,speed,1\n", "line 2"),
        ("time_us,name,value\n5,speed,NaN\n", "line 2"),
        ("time_us,name,value\n0,speed,1\n18446744073709551615,speed,1\n", "line 3"),
        ("time_us,name,value\n0,sped,1\n", "no signal `speed`"),
    ] {
        let problems = with_recording(csv, "signal = { file = \"f.csv\", name = \"speed\" }").expect_err(csv);
        assert!(problems.list()[0].message.contains(line), "{csv}: {}", problems.render());
    }
}

#[test]
fn an_allowance_names_a_stream_a_reason_and_how_many() {
    let allowed = |stream: &str, reason: &str, frames: u32| {
        let allowance = format!("[[allowances]]\nstream = \"{stream}\"\nreason = \"{reason}\"\nframes = {frames}\n");
        let text = format!(
            "schema_version = 2\nname = \"pair\"\nduration = \"100ms\"\n[segments.network.ethernet]\nrate = \"100Mbit/s\"\n\
             cluster_cycle = \"10ms\"\n[[nodes]]\nname = \"a\"\n[[nodes]]\nname = \"b\"\n[[streams]]\nname = \"speed\"\n\
             from = \"a\"\nto = [\"b\"]\nperiod = \"10ms\"\nlength = \"46B\"\n{allowance}{allowance}"
        );
        let first = text.len() - allowance.len();
        (text[..first].to_owned(), text)
    };
    let (once, twice) = allowed("speed", "outside-window", 3);
    let plan = plan(&once);
    let [allowance] = &plan.allowances[..] else { panic!("{:?}", plan.allowances) };
    assert_eq!((allowance.stream.index(), allowance.reason.as_str(), allowance.frames), (0, "outside-window", 3));
    let refused = |text: &str| load("t.toml", text.as_bytes(), &[], &NoFiles).expect_err("it is wrong").render();
    assert!(refused(&twice).contains("two allowances for `outside-window`"), "{}", refused(&twice));
    assert!(refused(&allowed("sped", "late", 3).0).contains("did you mean `speed`?"));
    assert!(refused(&allowed("speed", "outside-windw", 3).0).contains("did you mean `outside-window`?"));
    assert!(refused(&allowed("speed", "late", 0).0).contains("`frames` is out of range"));
}
