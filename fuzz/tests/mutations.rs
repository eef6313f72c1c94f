//! Every target on its corpus and on seeded changes of it: what `cargo fuzz` does, without its guidance by coverage,
//! on stable Rust and always the same.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::path::{Path, PathBuf};

use chronoseal_core::random::{ChaCha8Rng, Purpose, Rng, stream, uniform_i64};
use chronoseal_fuzz::TARGETS;

/// Changed inputs for each target, seconds of them; `FUZZ_MUTATIONS` asks for more.
const MUTATIONS: u64 = 2_000;
const INPUT_LEN_MAX: usize = 4096;
/// What breaks readers of text: values at and beyond limits, structure, text that is not ASCII.
const TOKENS: &[&str] = &[
    "0",
    "-1",
    "1",
    "255",
    "65536",
    "18446744073709551615",
    "1e308",
    "nan",
    "true",
    "\"\"",
    "[]",
    "{}",
    "=",
    "\"",
    "\n",
    "#",
    ",",
    ".",
    "0s",
    "1ps",
    "-5ms",
    "9223372036854775807ps",
    "99999999s",
    "0B",
    "60B",
    "1514B",
    "1515B",
    "0bit/s",
    "\u{b5}s",
    "\u{fc}",
    "\u{feff}",
    "\u{1f697}",
    "\0",
    "\n[[nodes]]\n",
    "\n[[streams]]\n",
    "\n[x]\n",
    "count = 10001\n",
    "name = \"a\"\n",
    "time_us,name,value\n",
    "time_us,can_id,data\n",
    "18446744073709551615,heading,1\n",
];

/// A test for each target, so that they run side by side.
macro_rules! a_test_each {
    ($($name:ident)*) => {
        mod no_target_breaks_on_its_corpus_or_on_changes_of_it {
            $(#[test]
            fn $name() {
                super::holds(stringify!($name));
            })*
        }

        #[test]
        fn every_target_has_a_test() {
            let names: Vec<_> = TARGETS.iter().map(|(name, _)| *name).collect();
            assert_eq!(names, [$(stringify!($name)),*]);
        }
    };
}

a_test_each! {
    can_bits
    can_database
    can_frame
    container_pdu
    ethernet_frame
    foreign_file
    fourq_point
    fourq_signature
    gate_control_list
    gptp_message
    import_arxml
    import_capture
    import_table
    ip_fragments
    iso_tp
    its_packet
    measured_middleware
    other_bounds
    output_port_network
    program_records
    protocol_control_frame
    recording_asc
    recording_blf
    recording_busmaster
    recording_candump
    recording_csv
    recording_mf4
    recording_pcap
    recording_sqlite
    recording_trc
    replayed_datagrams
    scenario_text
    schedule_table
    secured_pdu_open
    stream_table
    sumo_trace
    v2x_certificate
    v2x_exchange
    v2x_lint
    v2x_message
    v2x_pki
    v2x_report
    v2x_trust_list
    v2x_verify
    vss_configuration
    vss_frame
}

fn holds(name: &str) {
    let mutations = std::env::var("FUZZ_MUTATIONS").map_or(MUTATIONS, |text| text.parse().expect("a number"));
    let (index, (_, target)) =
        TARGETS.iter().enumerate().find(|(_, of)| of.0 == name).expect("every target has a test");
    let (files, corpus) = corpus(name);
    assert!(!corpus.is_empty(), "corpus/{name} is empty");
    for (file, input) in files.iter().zip(&corpus) {
        let outcome = std::panic::catch_unwind(|| target(input));
        assert!(outcome.is_ok(), "{name} breaks on {}", file.display());
    }
    let mut rng = stream(0, Purpose::Payload, index as u64);
    for number in 0..mutations {
        let input = mutated(&corpus, &mut rng);
        let outcome = std::panic::catch_unwind(|| target(&input));
        assert!(outcome.is_ok(), "{name} breaks on input {number}, in hexadecimal {}", hex(&input));
    }
}

/// Seeds that are refused at the door would test little.
#[test]
fn the_seeds_of_texts_are_accepted() {
    let (files, texts) = corpus("scenario_text");
    for (file, text) in files.iter().zip(&texts) {
        if let Err(problems) = chronoseal_scenario::load("seed", text, &[], &chronoseal_scenario::NoFiles) {
            panic!("{}: {}", file.display(), problems.render());
        }
    }
    let (files, texts) = corpus("recording_csv");
    for (file, text) in files.iter().zip(&texts) {
        let outcomes = chronoseal_fuzz::load_with_recording(text);
        assert!(outcomes.iter().any(Result::is_ok), "{}: {outcomes:?}", file.display());
    }
}

#[test]
fn the_seeds_of_replayed_datagrams_are_replayed() {
    let (files, seeds) = corpus("replayed_datagrams");
    for (file, seed) in files.iter().zip(&seeds) {
        let plan = chronoseal_fuzz::load_replayed(seed);
        plan.unwrap_or_else(|problems| panic!("{}: {}", file.display(), problems.render()));
    }
}

#[test]
fn the_seeds_of_measured_middleware_are_charged() {
    let (files, seeds) = corpus("measured_middleware");
    let mut charged = 0;
    for (file, seed) in files.iter().zip(&seeds) {
        let plan = chronoseal_fuzz::load_measured(seed, 4_500);
        let plan = plan.unwrap_or_else(|problems| panic!("{}: {}", file.display(), problems.render()));
        charged += plan.notes.iter().filter(|note| note.contains("is charged what `raw-udp` took")).count();
    }
    assert_eq!(charged, 1);
}

#[test]
fn the_seeds_of_recordings_are_read() {
    for (name, _) in TARGETS.iter().filter(|(name, _)| name.starts_with("recording_") && *name != "recording_csv") {
        let (files, seeds) = corpus(name);
        for (file, seed) in files.iter().zip(&seeds) {
            let recording =
                chronoseal_recordings::read(seed).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            assert!(recording.frames.len() >= 2, "{}", file.display());
        }
    }
    let (_, databases) = corpus("can_database");
    assert!(databases.iter().all(|database| chronoseal_recordings::read_dbc(database).is_ok()));
}

#[test]
fn every_target_is_known_to_cargo_fuzz() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz_targets");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    files.sort();
    let names: Vec<_> = TARGETS.iter().map(|(name, _)| *name).collect();
    assert_eq!(files, names);
}

fn corpus(name: &str) -> (Vec<PathBuf>, Vec<Vec<u8>>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    // What `cargo fuzz` found lies there too, under a hash for a name; only what is kept makes runs comparable.
    paths.retain(|path| path.extension().is_some());
    paths.sort();
    let inputs = paths.iter().map(|path| std::fs::read(path).unwrap()).collect();
    (paths, inputs)
}

/// One input with one to eight changes: a bit, a byte, a length-like value, a piece removed, doubled, cut or spliced in.
fn mutated(corpus: &[Vec<u8>], rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut input = pick(corpus, rng).clone();
    for _ in 0..below(8, rng) + 1 {
        let at = below(input.len() + 1, rng);
        match below(9, rng) {
            0 if at < input.len() => input[at] ^= 1 << below(8, rng),
            1 if at < input.len() => input[at] = rng.next_u32() as u8,
            2 if at < input.len() => {
                let interesting = [0, 1, 8, 28, 46, 60, 1500, 1501, 1535, 1536, 0x88b5, 0x891d, 0x7fff, 0xffff];
                let [high, low] = pick::<u16>(&interesting, rng).to_be_bytes();
                input[at] = low;
                if at > 0 {
                    input[at - 1] = high;
                }
            }
            3 => {
                let end = (at + below(16, rng)).min(input.len());
                input.drain(at..end);
            }
            4 => {
                let end = (at + below(64, rng)).min(input.len());
                let piece = input[at..end].to_vec();
                input.splice(at..at, piece);
            }
            5 => input.truncate(at),
            6 => {
                let other = pick(corpus, rng);
                let from = below(other.len() + 1, rng);
                input.truncate(at);
                input.extend_from_slice(&other[from..]);
            }
            7 => {
                let end = (at + below(8, rng)).min(input.len());
                input.splice(at..end, pick(TOKENS, rng).bytes());
            }
            _ => input.extend((0..below(64, rng)).map(|i| (i as u8).wrapping_mul(37))),
        }
    }
    input.truncate(INPUT_LEN_MAX);
    input
}

fn pick<'a, T>(of: &'a [T], rng: &mut ChaCha8Rng) -> &'a T {
    &of[below(of.len(), rng)]
}

/// A number in `0..end`.
fn below(end: usize, rng: &mut ChaCha8Rng) -> usize {
    uniform_i64(rng, 0, end as i64 - 1) as usize
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
