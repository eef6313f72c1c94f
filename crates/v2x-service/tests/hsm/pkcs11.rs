//! SoftHSM, through its module in a worker process.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use chronoseal_v2x::crypto::SigningKey as _;
use chronoseal_v2x_service::hsm::conformance::{self, Outcome};
use chronoseal_v2x_service::hsm::worker::Remote;
use chronoseal_v2x_service::hsm::{BackEnd, Curve, EcdsaSignature, Hsm, HsmError, Persistence, SharedHsm, local};
use tempfile::TempDir;

use crate::hsm::{WORKER, assert_back_within_a_second, signal, skip};

const PIN: &str = "4711";

/// A token of its own for each test.
struct Token {
    folder: TempDir,
    back_end: BackEnd,
}

impl Token {
    /// `None` without SoftHSM.
    fn new() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        match local::softhsm(folder.path(), PIN) {
            Ok(back_end) => Some(Self { folder, back_end }),
            Err(HsmError::NoDevice(reason)) => {
                skip(&reason);
                None
            }
            Err(error) => panic!("{error}"),
        }
    }

    fn configuration(&self) -> String {
        self.folder.path().join("softhsm2.conf").display().to_string()
    }

    fn module(&self) -> &Path {
        let BackEnd::Pkcs11 { module, .. } = &self.back_end else { unreachable!("made by `softhsm`") };
        module
    }

    fn back_end(&self, label: &str) -> BackEnd {
        let mut back_end = self.back_end.clone();
        let BackEnd::Pkcs11 { token, predefined, .. } = &mut back_end else { unreachable!("made by `softhsm`") };
        (*token, *predefined) = (label.into(), Some((0x40, 0x41)));
        back_end
    }

    fn open(&self) -> Remote {
        Remote::start(WORKER.into(), self.back_end("vehicle"), String::from(PIN).into()).unwrap()
    }

    fn refusal(&self, token: &str, pin: &str) -> Option<HsmError> {
        Remote::start(WORKER.into(), self.back_end(token), String::from(pin).into()).err()
    }

    /// OpenSC's tool on the same token: a reader that is not ours.
    fn opensc(&self, arguments: &[&str]) -> Option<String> {
        let run = Command::new("pkcs11-tool")
            .arg("--module")
            .arg(self.module())
            .args(["--token-label", "vehicle", "--login", "--pin", PIN])
            .args(arguments)
            .env("SOFTHSM2_CONF", self.configuration())
            .output();
        match run {
            Ok(output) => {
                assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
                Some(String::from_utf8_lossy(&output.stdout).into_owned())
            }
            Err(error) => {
                skip(&format!("no pkcs11-tool: {error}; apt-get install opensc"));
                None
            }
        }
    }
}

#[test]
fn holds_the_whole_list() {
    let Some(token) = Token::new() else { return };
    let mut hsm = token.open();
    let rows = conformance::run(&mut hsm);
    println!("{}\n{}", hsm.capabilities().device, conformance::table(&[("pkcs11", &rows)]));
    for row in &rows {
        assert!(
            !matches!(row.outcome, Outcome::Failed(_) | Outcome::Unsupported(_)),
            "{}: {:?}",
            row.operation,
            row.outcome
        );
    }
    assert_eq!(hsm.list().unwrap().len(), 2, "the predefined keys alone are left");
}

#[test]
fn wrong_pin_token_and_module_are_told_apart() {
    let Some(token) = Token::new() else { return };
    assert_eq!(token.refusal("vehicle", "0000"), Some(HsmError::WrongPin));
    let refused = token.refusal("tractor", PIN);
    assert!(matches!(&refused, Some(HsmError::NoDevice(what)) if what.contains("vehicle")), "{refused:?}");
    let no_module = BackEnd::Pkcs11 {
        module: "/nonexistent.so".into(),
        token: "vehicle".into(),
        predefined: None,
        environment: BTreeMap::new(),
        sessions_max: 1,
    };
    let refused = Remote::start(WORKER.into(), no_module, String::from(PIN).into()).err();
    assert!(matches!(refused, Some(HsmError::NoDevice(_))), "{refused:?}");
}

#[test]
fn killed_in_the_middle_of_a_batch_it_is_back_within_a_second() {
    let Some(token) = Token::new() else { return };
    let mut hsm = token.open();
    let worker = hsm.worker_id().unwrap();
    assert_back_within_a_second(&mut hsm, worker, 20);
}

#[test]
fn a_key_of_the_message_path_goes_on_when_the_worker_was_killed() {
    let Some(token) = Token::new() else { return };
    let remote = token.open();
    let worker = remote.worker_id().unwrap();
    let hsm = SharedHsm::new(Box::new(remote));
    let create = |persistence| hsm.lock().create_pair(Curve::NistP256, persistence, "k").unwrap();
    let (kept, lost) = (create(Persistence::Persistent), create(Persistence::Volatile));
    let (mut persistent, mut volatile) = (hsm.key(kept).unwrap(), hsm.key(lost).unwrap());
    signal(worker, "KILL");
    assert!(persistent.sign_digest(&[1; 32]).is_ok());
    let recoveries = hsm.take_recoveries();
    assert!(recoveries.len() == 1 && recoveries[0].kept.contains(&kept), "{recoveries:?}");
    assert_eq!(recoveries[0].lost, [lost]);
    assert!(volatile.sign_digest(&[1; 32]).is_err());
    assert_eq!(volatile.last_error(), Some(&HsmError::NotFound(lost)));
    assert!(hsm.take_recoveries().is_empty());
}

#[test]
fn what_the_module_reads_from_the_environment_is_not_left_out_in_silence() {
    let Some(token) = Token::new() else { return };
    let refused = token.back_end("vehicle").open(PIN).err();
    assert!(matches!(&refused, Some(HsmError::InvalidArgument(what)) if what.contains("SOFTHSM2_CONF")), "{refused:?}");
}

#[test]
fn another_program_finds_the_key_by_its_handle_and_cannot_read_it() {
    let Some(token) = Token::new() else { return };
    let mut hsm = token.open();
    let key = hsm.create_pair(Curve::NistP256, Persistence::Persistent, "enrolment").unwrap();
    let public = hsm.export_public(key).unwrap();
    let digest = [0x33; 32];
    let (input, output) = (token.folder.path().join("digest"), token.folder.path().join("signature"));
    fs::write(&input, digest).unwrap();
    let id = key.to_string();
    let path = |path: &Path| path.display().to_string();
    let files = [path(&input), path(&output)];
    let sign = ["--sign", "--mechanism", "ECDSA", "--id", &id, "--input-file", &files[0], "--output-file", &files[1]];
    if token.opensc(&sign).is_none() {
        return;
    }
    let bytes = fs::read(&output).unwrap();
    let signature = EcdsaSignature::from_octets(Curve::NistP256, &bytes).unwrap();
    assert!(hsm.verify(&public, &digest, &signature).unwrap());
    let listed = token.opensc(&["--list-objects", "--type", "privkey", "--id", &id]).unwrap();
    assert!(listed.contains("enrolment") && listed.contains("never extractable"), "{listed}");
}

#[test]
fn a_batch_over_several_sessions_comes_back_in_order() {
    let Some(token) = Token::new() else { return };
    let mut hsm = token.open();
    // A volatile key is of one session, and every other may use it.
    let key = hsm.create_pair(Curve::NistP256, Persistence::Volatile, "ephemeral").unwrap();
    let public = hsm.export_public(key).unwrap();
    for len in [0, 1, 3, 4, 5, 300] {
        let digests: Vec<[u8; 32]> = (0..len).map(|at: usize| [at.to_le_bytes()[0]; 32]).collect();
        let borrowed: Vec<&[u8]> = digests.iter().map(|digest| &digest[..]).collect();
        let signatures = hsm.sign_batch(key, &borrowed).unwrap();
        assert_eq!(signatures.len(), len);
        for (digest, signature) in digests.iter().zip(&signatures) {
            assert!(hsm.verify(&public, digest, signature).unwrap(), "{len}");
        }
    }
    let refused = hsm.sign_batch(key, &[&[1; 32], &[1; 31]]);
    assert!(matches!(refused, Err(HsmError::InvalidArgument(_))), "{refused:?}");
}

#[test]
fn persistent_keys_outlive_the_worker() {
    let Some(token) = Token::new() else { return };
    let mut hsm = token.open();
    let pair = hsm.create_pair(Curve::NistP384, Persistence::Persistent, "ticket 9").unwrap();
    let secret = hsm.create_symmetric(Persistence::Persistent, "response").unwrap();
    let public = hsm.export_public(pair).unwrap();
    let ciphertext = hsm.encrypt(secret, &[1; 12], b"hello").unwrap();
    drop(hsm);
    let mut hsm = token.open();
    assert_eq!(hsm.export_public(pair).unwrap(), public);
    assert_eq!(hsm.decrypt(secret, &[1; 12], &ciphertext).unwrap(), b"hello");
    assert!(hsm.list().unwrap().iter().any(|key| key.handle == pair && key.label == "ticket 9"));
}
