//! The simulated accelerator, as its process. All times here are simulated.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use chronoseal_v2x_service::hsm::conformance::{self, Outcome};
use chronoseal_v2x_service::hsm::{
    Curve, Hsm, HsmError, ImportedKey, KeyHandle, Operation, Persistence, RtlConfig, RtlHsm, RtlLink,
};

use crate::hsm::{WORKER, assert_back_within_a_second, skip};

/// The simulator: named by `CHRONOSEAL_RTL`, built already, or built now where Verilator is.
pub(crate) fn engine() -> Option<&'static Path> {
    static ENGINE: OnceLock<Option<PathBuf>> = OnceLock::new();
    ENGINE.get_or_init(find_or_build).as_deref()
}

fn find_or_build() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("CHRONOSEAL_RTL") {
        return Some(named.into());
    }
    let target = Path::new(WORKER).ancestors().nth(2).unwrap();
    let built = target.join("rtl/p256_engine");
    if built.exists() {
        return Some(built);
    }
    if Command::new("verilator").arg("--version").output().is_err() {
        skip("no simulator: apt-get install verilator g++ make");
        return None;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let run = Command::new(env!("CARGO")).args(["xtask", "rtl", "build"]).current_dir(root).output().unwrap();
    if !run.status.success() {
        skip(&format!("no simulator: {}", String::from_utf8_lossy(&run.stderr)));
        return None;
    }
    Some(String::from_utf8(run.stdout).unwrap().trim().into())
}

pub(crate) fn config(engine: &Path, flash: Option<&Path>) -> RtlConfig {
    RtlConfig {
        engine: engine.into(),
        link: RtlLink::UsbFull,
        clock_hz: 100_000_000,
        flash: flash.map(Into::into),
        predefined: flash.map(|_| (0, 1)),
    }
}

fn open(engine: &Path, flash: &Path) -> RtlHsm {
    let mut hsm = RtlHsm::open(config(engine, Some(flash))).unwrap();
    hsm.provision().unwrap();
    hsm
}

#[test]
fn holds_the_whole_list() {
    let Some(engine) = engine() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut hsm = open(engine, &folder.path().join("flash"));
    let rows = conformance::run(&mut hsm);
    println!("{}\n{}", hsm.capabilities().device, conformance::table(&[("rtl", &rows)]));
    for row in &rows {
        assert!(!matches!(row.outcome, Outcome::Failed(_)), "{}: {:?}", row.operation, row.outcome);
        let is_on_its_curve = row.operation.curve() == Some(Curve::NistP256);
        assert_eq!(
            is_on_its_curve,
            !is_unsupported(&row.outcome) && !is_of_no_curve(row.operation),
            "{}",
            row.operation
        );
    }
    assert!(hsm.capabilities().is_simulated);
}

fn is_unsupported(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Unsupported(_))
}

fn is_of_no_curve(operation: Operation) -> bool {
    matches!(operation, Operation::List | Operation::Delete | Operation::ReloadPredefined)
}

#[test]
fn costs_are_those_of_one_call_and_the_same_each_time() {
    let Some(engine) = engine() else { return };
    let mut hsm = RtlHsm::open(config(engine, None)).unwrap();
    let key = hsm.create_pair(Curve::NistP256, Persistence::Volatile, "k").unwrap();
    let mut costs = Vec::new();
    for digest in [[0; 32], [0xFF; 32], [7; 32]] {
        hsm.sign_digest(key, &digest).unwrap();
        costs.push(hsm.simulated_cost().unwrap());
    }
    assert!(costs.windows(2).all(|pair| pair[0] == pair[1]), "{costs:?}");
    let cost = costs[0];
    assert_eq!(cost.clock_hz, 100_000_000);
    assert!(cost.cycles > 10_000, "{cost:?}");
    // A frame of USB full speed has 1 ms, and each direction waits for one.
    assert!(cost.link_ns >= 2_000_000, "{cost:?}");
    assert_eq!(cost.total_ns(), cost.cycles * 10 + cost.link_ns);
}

#[test]
fn killed_in_the_middle_of_a_batch_it_is_back_within_a_second() {
    let Some(engine) = engine() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut hsm = open(engine, &folder.path().join("flash"));
    let process = hsm.process_id().unwrap();
    let persistent = assert_back_within_a_second(&mut hsm, process, 2);
    assert!(persistent.starts_with(&[KeyHandle(0), KeyHandle(1)]) && persistent.len() == 3, "{persistent:?}");
}

#[test]
fn a_corrupt_flash_and_full_slots_are_named() {
    let Some(engine) = engine() else { return };
    let folder = tempfile::tempdir().unwrap();
    let flash = folder.path().join("flash");
    let mut hsm = open(engine, &flash);
    let key = ImportedKey::Pair(Curve::NistP256, vec![1; 32].into());
    let full = (0..9).find_map(|_| hsm.import(&key, Persistence::Persistent, "k").err());
    assert!(matches!(full, Some(HsmError::DeviceFull(_))), "{full:?}");
    assert_eq!(hsm.list().unwrap().len(), 8);
    drop(hsm);
    let mut bytes = fs::read(&flash).unwrap();
    bytes[20] ^= 1;
    fs::write(&flash, bytes).unwrap();
    let refused = RtlHsm::open(config(engine, Some(&flash))).err();
    assert!(matches!(&refused, Some(HsmError::StoreCorrupt { path, .. }) if *path == flash), "{refused:?}");
}

#[test]
fn programs_that_are_no_simulator_are_no_device() {
    let open = |program: &str| RtlHsm::open(config(Path::new(program), None)).err();
    assert!(matches!(open("/bin/true"), Some(HsmError::NoDevice(_))));
    assert!(matches!(open("/nonexistent"), Some(HsmError::Io { .. })));
}
