//! All back ends this machine has: one table, and one message path that does not care which.

use chronoseal_v2x::crypto::{AgreementKey, SigningKey, SoftwareKey, VerifyingKey};
use chronoseal_v2x_service::hsm::conformance::{self, Outcome, Row};
use chronoseal_v2x_service::hsm::{
    BackEnd, Curve, Hsm, HsmError, Operation, Persistence, SharedHsm, SoftwareHsm, local, measure,
};
use tempfile::TempDir;

use crate::hsm::{WORKER, rtl, skip};

const PIN: &str = "4711";

/// Every back end, opened in `folder`; those that are not installed are skipped.
fn open_all(folder: &TempDir) -> Vec<(&'static str, Box<dyn Hsm>)> {
    let at = |name: &str| folder.path().join(name);
    let cheap = chronoseal_v2x_service::hsm::software::PinCost { memory_kib: 8, passes: 1 };
    let software = SoftwareHsm::create_with(at("software"), PIN, cheap).unwrap();
    let mut opened: Vec<(&str, Box<dyn Hsm>)> = vec![("software", Box::new(software))];
    let rtl = rtl::engine().map(|engine| BackEnd::Rtl(rtl::config(engine, Some(&at("flash")))));
    let rtl = rtl.ok_or_else(|| HsmError::NoDevice("no simulator".into()));
    let others =
        [("softhsm", local::softhsm(&at("softhsm"), PIN)), ("swtpm", local::swtpm(&at("swtpm"))), ("rtl", rtl)];
    for (name, back_end) in others {
        match back_end {
            Ok(back_end) => opened.push((name, back_end.open_apart(WORKER, PIN).unwrap())),
            Err(HsmError::NoDevice(reason)) => skip(&reason),
            Err(error) => panic!("{name}: {error}"),
        }
    }
    opened
}

#[test]
fn one_list_shows_what_each_can_and_why_not() {
    let folder = tempfile::tempdir().unwrap();
    let columns: Vec<(&str, Vec<Row>)> =
        open_all(&folder).into_iter().map(|(name, mut hsm)| (name, conformance::run(&mut *hsm))).collect();
    let borrowed: Vec<(&str, &[Row])> = columns.iter().map(|(name, rows)| (*name, &rows[..])).collect();
    println!("{}", conformance::table(&borrowed));
    for (name, rows) in &columns {
        let failed: Vec<_> = rows.iter().filter(|row| matches!(row.outcome, Outcome::Failed(_))).collect();
        assert!(failed.is_empty(), "{name}: {failed:?}");
        let signs = rows.iter().find(|row| row.operation == Operation::Sign(Curve::NistP256)).unwrap();
        assert!(!matches!(signs.outcome, Outcome::Unsupported(_)), "{name}");
    }
}

#[test]
fn a_key_anywhere_signs_and_agrees_for_the_message_path() {
    let folder = tempfile::tempdir().unwrap();
    for (name, hsm) in open_all(&folder) {
        let hsm = SharedHsm::new(hsm);
        let handle = hsm.lock().create_pair(Curve::NistP256, Persistence::Persistent, "ticket").unwrap();
        let mut key = hsm.key(handle).unwrap();
        let signature = key.sign_digest(&[3; 32]).unwrap();
        let public = SigningKey::public_point(&key);
        assert!(VerifyingKey::new(public).verify_digest(&[3; 32], &signature), "{name}");
        let mut peer = SoftwareKey::from_scalar(Curve::NistP256, &[0x31; 32]).unwrap();
        let here = key.agree(&peer.public_point()).unwrap();
        assert_eq!(here.as_bytes(), peer.agree(&public).unwrap().as_bytes(), "{name}");
        hsm.lock().delete(handle).unwrap();
        assert!(key.sign_digest(&[3; 32]).is_err(), "{name}");
        assert_eq!(key.last_error(), Some(&HsmError::NotFound(handle)), "{name}");
    }
}

#[test]
fn every_call_is_timed_and_what_is_unsupported_says_why() {
    let folder = tempfile::tempdir().unwrap();
    for (name, mut hsm) in open_all(&folder) {
        let samples = measure(&mut *hsm, 3).unwrap();
        assert_eq!(samples.is_simulated, name == "rtl");
        assert_eq!(samples.rows.len(), measure::USUAL.len());
        for row in &samples.rows {
            match &row.calls_ns {
                Ok(calls) => assert!(calls.len() == 3 && calls.iter().all(|ns| *ns > 0), "{name}: {row:?}"),
                Err(HsmError::Unsupported { reason, .. }) => {
                    assert!(!reason.is_empty() && !hsm.capabilities().can(row.operation), "{name}: {row:?}");
                }
                Err(other) => panic!("{name}: {other}"),
            }
        }
        assert!(hsm.list().unwrap().len() <= 2, "{name}: keys were left behind");
    }
}
