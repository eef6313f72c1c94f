//! Real middleware over a lossy link: Cyclone DDS, plain and with DDS Security, by the adapter in `adapters/middleware/cyclonedds`. Where
//! Debian's packages for it are not installed it says so and passes.

use std::path::Path;
use std::process::Command;

use chronoseal_core::StreamId;
use chronoseal_results::rows::Outcome;
use chronoseal_runner::Run;
use chronoseal_scenario::NoFiles;

use crate::engines::{self, Engine, load};

const SCENARIO: &str = r#"
schema_version = 2
name = "dds"
duration = "4s"
[segments.air.link]
rate = "1Gbit/s"
delay = { uniform = { min = "100us", max = "500us" } }
loss = { independent = "LOSS" }
order = "strict"
[[nodes]]
name = "robot"
program = { run = ["ADAPTER", "{robot}", "reliable"ROBOT] }
[[nodes]]
name = "station"
program = { run = ["ADAPTER", "{station}", "reliable"STATION] }
[[streams]]
name = "laser"
from = "robot"
to = ["station"]
period = "20ms"
length = "9kB"
air = { transport = "program" }
"#;

pub(crate) fn run_all() {
    let adapter = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../adapters/middleware/cyclonedds");
    if Command::new("idlc").arg("-v").output().is_err() {
        println!("skipped: Cyclone DDS is not installed (apt-get install cyclonedds-dev cyclonedds-tools zlib1g-dev)");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    sh(&adapter.join("build.sh"), &[folder.to_str().unwrap()]);
    sh(&adapter.join("keys.sh"), &[folder.join("keys").to_str().unwrap(), "encrypt"]);
    a_reliable_stream_loses_nothing_on_a_link_that_loses(folder);
    what_is_encrypted_is_not_on_the_wire(folder);
    a_stranger_is_told_nothing(folder);
}

fn sh(script: &Path, words: &[&str]) {
    let output = Command::new(script).args(words).output().unwrap();
    assert!(output.status.success(), "{}: {}", script.display(), String::from_utf8_lossy(&output.stderr));
}

/// On a link that loses so many packets, with keys of these names, or none.
fn run(folder: &Path, loss: &str, [robot, station]: [&str; 2]) -> Option<Run> {
    let keys = |name: &str| match name {
        "" => String::new(),
        name => format!(", \"{}/keys/{name}\"", folder.display()),
    };
    let text = SCENARIO.replace("LOSS", loss).replace("ROBOT", &keys(robot)).replace("STATION", &keys(station));
    engines::run(Engine::Live, &load(&text.replace("ADAPTER", &format!("{}/adapter", folder.display())), &NoFiles))
}

/// Every message that had a second to come has come once.
fn assert_all_came(run: &Run) {
    let early = run.rows.frames.iter().filter(|row| row.stream == StreamId(0));
    let early = early.filter(|row| row.sent_at.is_some_and(|at| at.since_zero().as_ms_f64() < 3_000.0));
    let ends: Vec<Outcome> = early.map(|row| row.outcome).collect();
    assert!(ends.len() > 50, "{} of them; {:?}", ends.len(), run.meta.programs);
    assert!(ends.iter().all(|end| *end == Outcome::Delivered), "{ends:?}");
}

/// The bytes that every message carries, as the adapter makes them.
fn body() -> Vec<u8> {
    let mut seed: u32 = 1;
    let next = |_| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 24) as u8
    };
    (0..64).map(next).collect()
}

/// How many packets show the beginning of a message.
fn showing(run: &Run) -> usize {
    let body = body();
    run.rows.captures.iter().filter(|row| row.bytes.windows(body.len()).any(|part| part == body)).count()
}

fn a_reliable_stream_loses_nothing_on_a_link_that_loses(folder: &Path) {
    let Some(run) = run(folder, "2%", [""; 2]) else { return };
    assert_all_came(&run);
    assert!(showing(&run) > 50, "plain messages are there to be read");
    assert!(run.meta.programs.iter().all(|program| program.is_well), "{:?}", run.meta.programs);
}

fn what_is_encrypted_is_not_on_the_wire(folder: &Path) {
    let Some(run) = run(folder, "0%", ["robot", "station"]) else { return };
    assert_all_came(&run);
    assert_eq!(showing(&run), 0, "an encrypted message can be read");
    assert!(run.rows.captures.len() > 500, "{}", run.rows.captures.len());
}

fn a_stranger_is_told_nothing(folder: &Path) {
    let Some(run) = run(folder, "0%", ["robot", "stranger"]) else { return };
    assert!(run.rows.frames.iter().all(|row| row.outcome != Outcome::Delivered), "a stranger got a message");
    assert_eq!(showing(&run), 0);
    assert!(
        run.meta.programs.iter().all(|program| !program.printed.contains("matched by 1")),
        "{:?}",
        run.meta.programs
    );
}
