//! The process around a back end, whatever the back end.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use chronoseal_v2x_service::hsm::software::PinCost;
use chronoseal_v2x_service::hsm::worker::Remote;
use chronoseal_v2x_service::hsm::{BackEnd, Curve, Hsm, HsmError, Persistence, SoftwareHsm};
use tempfile::TempDir;

use crate::hsm::{WORKER, signal};

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
fn killed_while_it_writes_keys_it_loses_none_it_has_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut hsm = start(&folder, PATIENT);
    let mut named = Vec::new();
    for round in 0..5 {
        let worker = hsm.worker_id().unwrap();
        let count = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                while count.load(Ordering::SeqCst) < 3 {
                    thread::yield_now();
                }
                // Somewhere in the next key, each round elsewhere.
                thread::sleep(Duration::from_micros(700 * round));
                signal(worker, "KILL");
            });
            while let Ok(key) = hsm.create_pair(Curve::NistP256, Persistence::Persistent, "k") {
                named.push(key);
                count.fetch_add(1, Ordering::SeqCst);
            }
        });
        let recovery = hsm.recover().unwrap();
        assert_eq!(recovery.lost, [], "round {round}");
    }
    println!("{} keys named in five rounds", named.len());
    let listed: Vec<_> = hsm.list().unwrap().iter().map(|key| key.handle).collect();
    assert!(named.iter().all(|key| listed.contains(key)));
    // At most one a round was written and not named any more.
    assert!(listed.len() <= named.len() + 2 + 5, "{} of {}", listed.len(), named.len());
    assert!(hsm.sign_digest(*named.last().unwrap(), &[1; 32]).is_ok());
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
