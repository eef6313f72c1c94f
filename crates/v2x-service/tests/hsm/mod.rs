//! Back ends of the HSM seam against one list, and against what can happen to them.
//!
//! A test whose device is not installed says so and passes; `CHRONOSEAL_REQUIRE_LIVE=1` makes that a failure.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests are not marked as tests")]

mod pkcs11;
mod rtl;
mod side_by_side;
mod software;
mod tpm;
mod worker;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use chronoseal_v2x_service::hsm::{Curve, Hsm, HsmError, KeyHandle, Persistence};

/// Says why a test did nothing, or fails where that is not allowed.
fn skip(reason: &str) {
    println!("skipped: {reason}");
    assert_ne!(std::env::var("CHRONOSEAL_REQUIRE_LIVE").as_deref(), Ok("1"), "skipped: {reason}");
}

/// The worker program of this build.
const WORKER: &str = env!("CARGO_BIN_EXE_chronoseal-hsm-worker");

/// Ends or halts a process by its number, as an operator would.
fn signal(process: u32, name: &str) {
    let status = std::process::Command::new("sh").args(["-c", &format!("kill -{name} {process}")]).status().unwrap();
    assert!(status.success(), "kill -{name} {process}");
}

/// Kills `process`, without which the keys cannot be used, behind the first `signatures` of a batch. Within a second a key
/// meant to last signs again, and a volatile one is told lost. Returns what the device said it keeps.
fn assert_back_within_a_second(hsm: &mut impl Hsm, process: u32, signatures: usize) -> Vec<KeyHandle> {
    let kept = hsm.create_pair(Curve::NistP256, Persistence::Persistent, "enrolment").unwrap();
    let lost = hsm.create_pair(Curve::NistP256, Persistence::Volatile, "ephemeral").unwrap();
    let public = hsm.export_public(kept).unwrap();
    assert!(hsm.sign_digest(lost, &[5; 32]).is_ok());
    let signed = AtomicUsize::new(0);
    let told = thread::scope(|scope| {
        scope.spawn(|| {
            while signed.load(Ordering::SeqCst) < signatures {
                thread::sleep(Duration::from_millis(1));
            }
            signal(process, "KILL");
        });
        sign_until_lost(hsm, kept, &signed)
    });
    let HsmError::DeviceLost { persistent, volatile } = told else { panic!("{told:?}") };
    assert_eq!(volatile, [lost]);
    assert!(persistent.contains(&kept));
    assert!(matches!(hsm.sign_digest(kept, &[5; 32]), Err(HsmError::DeviceLost { .. })), "until somebody recovers it");
    let since = Instant::now();
    let recovery = hsm.recover().unwrap();
    let signature = hsm.sign_digest(kept, &[5; 32]).unwrap();
    let took = since.elapsed();
    println!("{signed:?} signatures before the kill, recovered in {took:?} of this host");
    assert!(took < Duration::from_secs(1), "recovered in {took:?}");
    assert_eq!(recovery.lost, [lost]);
    assert!(recovery.kept.contains(&kept));
    assert_eq!(hsm.export_public(kept).unwrap(), public);
    assert!(hsm.verify(&public, &[5; 32], &signature).unwrap());
    assert_eq!(hsm.sign_digest(lost, &[5; 32]).err(), Some(HsmError::NotFound(lost)));
    persistent
}

fn sign_until_lost(hsm: &mut impl Hsm, key: KeyHandle, signed: &AtomicUsize) -> HsmError {
    while signed.load(Ordering::SeqCst) < 1_000_000 {
        if let Err(error) = hsm.sign_digest(key, &[5; 32]) {
            return error;
        }
        signed.fetch_add(1, Ordering::SeqCst);
    }
    panic!("nobody killed it")
}
