//! A software TPM as a process of its own.

use std::fs;
use std::process::Command;

use chronoseal_v2x_service::hsm::conformance::{self, Outcome};
use chronoseal_v2x_service::hsm::{
    Curve, EcdsaSignature, Hsm, HsmError, Operation, Persistence, SoftwareHsm, TpmEndpoint, TpmHsm,
};
use tempfile::TempDir;

use crate::hsm::{assert_back_within_a_second, skip};

const PIN: &str = "4711";

fn open(folder: &TempDir) -> Option<TpmHsm> {
    open_with(folder, PIN, Some(0x20..=0x21))
}

/// `None` without swtpm.
fn open_with(folder: &TempDir, pin: &str, predefined: Option<std::ops::RangeInclusive<u32>>) -> Option<TpmHsm> {
    if Command::new("swtpm").arg("--version").output().is_err() {
        skip("no software TPM: apt-get install swtpm");
        return None;
    }
    let endpoint = TpmEndpoint::Swtpm(folder.path().to_owned());
    let mut hsm = TpmHsm::open(endpoint, pin, predefined).unwrap();
    hsm.provision(Curve::NistP256).unwrap();
    Some(hsm)
}

#[test]
fn holds_the_whole_list() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut hsm) = open(&folder) else { return };
    let rows = conformance::run(&mut hsm);
    println!("{}\n{}", hsm.capabilities().device, conformance::table(&[("tpm", &rows)]));
    for row in &rows {
        assert!(!matches!(row.outcome, Outcome::Failed(_)), "{}: {:?}", row.operation, row.outcome);
        let is_for_enrolment = row.operation.curve() == Some(Curve::NistP256);
        assert!(!is_for_enrolment || !matches!(row.outcome, Outcome::Unsupported(_)), "{}", row.operation);
    }
    let outcome = |operation| rows.iter().find(|row| row.operation == operation).unwrap().outcome.clone();
    assert!(matches!(outcome(Operation::Encrypt), Outcome::Unsupported(reason) if reason.contains("AES-CCM")));
    assert!(matches!(outcome(Operation::Sign(Curve::BrainpoolP256r1)), Outcome::Unsupported(_)));
}

#[test]
fn killed_in_the_middle_of_a_batch_it_is_back_within_a_second() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut hsm) = open(&folder) else { return };
    let process = hsm.process_id().unwrap();
    assert_back_within_a_second(&mut hsm, process, 5);
}

#[test]
fn wrong_pins_are_refused_and_then_lock_the_key() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut hsm) = open(&folder) else { return };
    hsm.create_pair(Curve::NistP256, Persistence::Persistent, "enrolment").unwrap();
    drop(hsm);
    let guess = || TpmHsm::open(TpmEndpoint::Swtpm(folder.path().to_owned()), "0000", None).err();
    assert_eq!(guess(), Some(HsmError::WrongPin));
    let later = (0..64).map(|_| guess()).find(|error| *error != Some(HsmError::WrongPin));
    assert_eq!(later, Some(Some(HsmError::PinLocked)));
}

/// Each operation by a program of its own, which ends as it should, or with its TPM at once.
#[test]
fn a_hundred_operations_with_the_right_pin_lock_nothing_kills_between_them_included() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut hsm) = open(&folder) else { return };
    let key = hsm.create_pair(Curve::NistP256, Persistence::Persistent, "enrolment").unwrap();
    drop(hsm);
    for number in 0..100 {
        let Some(mut hsm) = open_with(&folder, PIN, None) else { return };
        let signed = hsm.sign_digest(key, &[1; 32]);
        assert!(signed.is_ok(), "operation {number}: {signed:?}");
        if number % 2 == 1 {
            let process = i32::try_from(hsm.process_id().unwrap()).unwrap();
            nix::sys::signal::kill(nix::unistd::Pid::from_raw(process), nix::sys::signal::Signal::SIGKILL).unwrap();
        }
    }
}

#[test]
fn a_wrong_pin_makes_no_key_beside_others() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut hsm) = open_with(&folder, PIN, None) else { return };
    let key = hsm.create_pair(Curve::NistP256, Persistence::Persistent, "canonical").unwrap();
    drop(hsm);
    let made = TpmHsm::open(TpmEndpoint::Swtpm(folder.path().to_owned()), "0000", None)
        .and_then(|mut hsm| hsm.create_pair(Curve::NistP256, Persistence::Persistent, "canonical"));
    assert_eq!(made, Err(HsmError::WrongPin));
    let Some(mut hsm) = open_with(&folder, PIN, None) else { return };
    assert!(hsm.sign_digest(key, &[1; 32]).is_ok());
    assert_eq!(hsm.list().unwrap().len(), 1);
}

#[test]
fn a_full_tpm_is_named_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut hsm) = open(&folder) else { return };
    let mut made = Vec::new();
    let full = loop {
        match hsm.create_pair(Curve::NistP256, Persistence::Persistent, "k") {
            Ok(key) => made.push(key),
            Err(error) => break error,
        }
        assert!(made.len() < 2000, "it never filled");
    };
    println!("full after {} keys: {full}", made.len());
    assert!(matches!(full, HsmError::DeviceFull(_)), "{full}");
    assert_eq!(hsm.list().unwrap().len(), made.len() + 2);
    assert!(hsm.sign_digest(made[0], &[1; 32]).is_ok());
    hsm.delete(made[0]).unwrap();
    assert!(hsm.create_pair(Curve::NistP256, Persistence::Persistent, "k").is_ok());
}

#[test]
fn enrolment_key_in_the_tpm_and_ticket_keys_in_software_work_together() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut tpm) = open(&folder) else { return };
    let mut software = SoftwareHsm::create(folder.path().join("tickets"), PIN).unwrap();
    let enrolment = tpm.create_pair(Curve::NistP256, Persistence::Persistent, "enrolment").unwrap();
    let ticket = software.create_pair(Curve::NistP256, Persistence::Persistent, "ticket").unwrap();
    // What either makes the other accepts: the authority cannot tell where a key lies.
    let signature = tpm.sign_digest(enrolment, &[8; 32]).unwrap();
    assert!(software.verify(&tpm.export_public(enrolment).unwrap(), &[8; 32], &signature).unwrap());
    let (mine, theirs) = (tpm.export_public(enrolment).unwrap(), software.export_public(ticket).unwrap());
    assert_eq!(tpm.agree(enrolment, &theirs).unwrap().as_bytes(), software.agree(ticket, &mine).unwrap().as_bytes());
}

#[test]
fn the_tpm_of_another_program_sees_the_same_key() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut hsm) = open(&folder) else { return };
    let key = hsm.create_pair(Curve::NistP256, Persistence::Persistent, "enrolment").unwrap();
    let public = hsm.export_public(key).unwrap();
    // One connection at a time: ours ends, and the tools start the TPM on the same state.
    drop(hsm);
    let state = folder.path();
    let digest = state.join("digest");
    fs::write(&digest, [0x21; 32]).unwrap();
    let script = format!(
        "set -e; cd {0}; rm -f socket; export TPM2TOOLS_TCTI=\"swtpm:path={0}/socket\"; \
         swtpm socket --tpm2 --tpmstate dir={0} --server type=unixio,path={0}/socket --ctrl type=unixio,path={0}/socket.ctrl \
         --flags not-need-init,startup-clear --daemon --pid file={0}/pid; trap 'p=$(cat {0}/pid); kill $p; while kill -0 $p 2>/dev/null; do sleep 0.01; done' EXIT; \
         tpm2_sign -c 0x{1:08x} -p {PIN} -g sha256 -s ecdsa -f plain -d -o signature digest; \
         tpm2_readpublic -c 0x{1:08x}",
        state.display(),
        0x8100_0000 + key.0
    );
    if Command::new("tpm2_sign").arg("--version").output().is_err() {
        return skip("no tpm2_sign: apt-get install tpm2-tools");
    }
    let run = Command::new("bash").args(["-c", &script]).output().unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{said}{}", String::from_utf8_lossy(&run.stderr));
    let hex: String = public.x().iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(said.contains(&hex), "{said}");
    let (r, s) = halves(&fs::read(state.join("signature")).unwrap());
    let Some(mut hsm) = open(&folder) else { return };
    let signature = EcdsaSignature::from_octets(Curve::NistP256, &[r, s].concat()).unwrap();
    assert!(hsm.verify(&public, &[0x21; 32], &signature).unwrap());
}

/// r and s of a DER signature, filled up to 32 bytes.
fn halves(der: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let integer = |at: usize| {
        let len = usize::from(der[at + 1]);
        let bytes = &der[at + 2..at + 2 + len];
        let bytes = if bytes.len() > 32 { &bytes[bytes.len() - 32..] } else { bytes };
        ([vec![0; 32 - bytes.len()].as_slice(), bytes].concat(), at + 2 + len)
    };
    let (r, next) = integer(2);
    (r, integer(next).0)
}

#[test]
fn no_device_is_said_to_be_none() {
    let refused = TpmHsm::open(TpmEndpoint::Unix("/nonexistent/socket".into()), PIN, None).err();
    assert!(matches!(refused, Some(HsmError::NoDevice(_))), "{refused:?}");
    let refused = TpmHsm::open(TpmEndpoint::Device("/nonexistent/tpm".into()), PIN, None).err();
    assert!(matches!(refused, Some(HsmError::NoDevice(_))), "{refused:?}");
    let refused = TpmHsm::open(TpmEndpoint::Unix("/x".into()), &"x".repeat(33), None).err();
    assert!(matches!(refused, Some(HsmError::InvalidArgument(_))), "{refused:?}");
}
