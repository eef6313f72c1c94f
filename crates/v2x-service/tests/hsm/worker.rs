//! The process around a back end, whatever the back end.

use std::time::{Duration, Instant};

use chronoseal_v2x_service::hsm::software::PinCost;
use chronoseal_v2x_service::hsm::worker::Remote;
use chronoseal_v2x_service::hsm::{BackEnd, Curve, Hsm, HsmError, Persistence, SoftwareHsm};
use tempfile::TempDir;

use crate::{WORKER, signal};

const PATIENT: Duration = Duration::from_secs(30);

/// A store whose PIN costs nothing to try, so that opening takes no time.
fn software(folder: &TempDir) -> BackEnd {
    let made = SoftwareHsm::create_with(folder.path().join("keys"), "1234", PinCost { memory_kib: 8, passes: 1 });
    assert!(matches!(made, Ok(_) | Err(HsmError::StoreExists(_))));
    BackEnd::Software { folder: folder.path().join("keys"), predefined: Some((1, 2)) }
}

fn start(folder: &TempDir, timeout: Duration) -> Remote {
    Remote::start_with(WORKER.into(), software(folder), String::from("1234").into(), timeout).unwrap()
}

#[test]
fn a_killed_worker_is_reported_with_the_fate_of_every_key() {
    let folder = tempfile::tempdir().unwrap();
    let mut hsm = start(&folder, PATIENT);
    let kept = hsm.create_pair(Curve::NistP256, Persistence::Persistent, "k").unwrap();
    let lost = hsm.create_pair(Curve::NistP256, Persistence::Volatile, "v").unwrap();
    let known: Vec<_> = hsm.list().unwrap().iter().map(|key| key.handle).filter(|key| *key != lost).collect();
    let public = hsm.export_public(kept).unwrap();
    signal(hsm.worker_id().unwrap(), "KILL");
    let told = HsmError::DeviceLost { persistent: known.clone(), volatile: vec![lost] };
    assert_eq!(hsm.sign_digest(kept, &[1; 32]).err(), Some(told.clone()));
    assert_eq!(hsm.sign_digest(kept, &[1; 32]).err(), Some(told), "until somebody recovers it");
    let recovery = hsm.recover().unwrap();
    assert_eq!((recovery.kept, recovery.lost), (known, vec![lost]));
    assert_eq!(hsm.export_public(kept).unwrap(), public);
    assert_eq!(hsm.export_public(lost).err(), Some(HsmError::NotFound(lost)));
}

#[test]
fn a_worker_that_hangs_is_taken_for_dead() {
    let folder = tempfile::tempdir().unwrap();
    let mut hsm = start(&folder, Duration::from_secs(3));
    signal(hsm.worker_id().unwrap(), "STOP");
    let since = Instant::now();
    assert!(matches!(hsm.list(), Err(HsmError::DeviceLost { .. })));
    assert!(since.elapsed() >= Duration::from_secs(2));
    // The halted worker is gone, and with it its lock on the store.
    assert!(hsm.recover().is_ok());
}

#[test]
fn programs_that_are_no_worker_are_no_device() {
    let folder = tempfile::tempdir().unwrap();
    let start = |program: &str| {
        let timeout = Duration::from_millis(300);
        Remote::start_with(program.into(), software(&folder), String::from("1234").into(), timeout).err()
    };
    // One that says nothing, one that ends at once, and none at all.
    assert!(matches!(start("/bin/cat"), Some(HsmError::NoDevice(_))));
    assert!(matches!(start("/bin/true"), Some(HsmError::NoDevice(_))));
    assert!(matches!(start("/nonexistent"), Some(HsmError::Io { .. })));
}

#[test]
fn errors_of_the_device_cross_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    drop(start(&folder, PATIENT));
    let refused = Remote::start(WORKER.into(), software(&folder), String::from("0000").into()).err();
    assert_eq!(refused, Some(HsmError::WrongPin));
}
