//! Keys in files.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use chronoseal_v2x_service::hsm::conformance::{self, Outcome, Row};
use chronoseal_v2x_service::hsm::software::PinCost;
use chronoseal_v2x_service::hsm::{Curve, Hsm, HsmError, KeyHandle, Persistence, SoftwareHsm};
use tempfile::TempDir;

/// Trying a PIN costs nothing here.
const CHEAP: PinCost = PinCost { memory_kib: 8, passes: 1 };

fn store() -> (TempDir, SoftwareHsm) {
    let folder = tempfile::tempdir().unwrap();
    let hsm = SoftwareHsm::create_with(folder.path().join("keys"), "1234", CHEAP).unwrap();
    (folder, hsm)
}

fn reopen(folder: &TempDir) -> Result<SoftwareHsm, HsmError> {
    SoftwareHsm::open(folder.path().join("keys"), "1234")
}

#[test]
fn holds_the_whole_list() {
    let (_folder, mut hsm) = store();
    hsm.provision(Curve::NistP256, 0x100..=0x103).unwrap();
    let rows = conformance::run(&mut hsm);
    println!("{}", conformance::table(&[("software", &rows)]));
    let failed: Vec<&Row> = rows.iter().filter(|row| row.outcome != Outcome::Held).collect();
    assert!(failed.is_empty(), "{failed:?}");
    assert_eq!(hsm.list().unwrap().len(), 4, "the list cleans up after itself");
}

#[test]
fn persistent_keys_come_back_and_volatile_ones_do_not() {
    let (folder, mut hsm) = store();
    let kept = hsm.create_pair(Curve::BrainpoolP256r1, Persistence::Persistent, "enrolment").unwrap();
    let secret = hsm.create_symmetric(Persistence::Persistent, "response").unwrap();
    let ended = hsm.create_pair(Curve::NistP256, Persistence::Volatile, "ephemeral").unwrap();
    let public = hsm.export_public(kept).unwrap();
    let ciphertext = hsm.encrypt(secret, &[1; 12], b"hello").unwrap();
    drop(hsm);
    let mut hsm = reopen(&folder).unwrap();
    assert_eq!(hsm.export_public(kept).unwrap(), public);
    assert_eq!(hsm.decrypt(secret, &[1; 12], &ciphertext).unwrap(), b"hello");
    assert_eq!(hsm.export_public(ended), Err(HsmError::NotFound(ended)));
    let labels: Vec<_> = hsm.list().unwrap().into_iter().map(|key| key.label).collect();
    assert!(labels.len() == 2 && labels.contains(&"enrolment".into()), "{labels:?}");
}

#[test]
fn refuses_a_wrong_pin_and_says_so() {
    let (folder, mut hsm) = store();
    let key = hsm.create_pair(Curve::NistP256, Persistence::Persistent, "k").unwrap();
    hsm.change_pin("98765", CHEAP).unwrap();
    drop(hsm);
    assert_eq!(reopen(&folder).err(), Some(HsmError::WrongPin));
    let mut hsm = SoftwareHsm::open(folder.path().join("keys"), "98765").unwrap();
    assert!(hsm.export_public(key).is_ok());
}

#[test]
fn two_processes_share_a_store_and_see_what_the_other_does() {
    let (folder, mut one) = store();
    let mut other = reopen(&folder).unwrap();
    let key = other.create_pair(Curve::NistP256, Persistence::Persistent, "from elsewhere").unwrap();
    // Known as soon as it is asked for, and as soon as all are.
    let public = other.export_public(key).unwrap();
    assert_eq!(one.export_public(key).unwrap(), public);
    let own = one.create_pair(Curve::NistP256, Persistence::Persistent, "own").unwrap();
    assert_eq!(other.list().unwrap(), one.list().unwrap());
    assert_eq!(other.list().unwrap().len(), 2);
    // What is volatile stays where it was made.
    let volatile = one.create_pair(Curve::NistP256, Persistence::Volatile, "v").unwrap();
    assert_eq!(other.export_public(volatile), Err(HsmError::NotFound(volatile)));
    other.delete(own).unwrap();
    one.delete(own).unwrap();
    let handles: Vec<KeyHandle> = one.list().unwrap().into_iter().map(|key| key.handle).collect();
    assert_eq!(handles, [key, volatile]);
    assert_eq!(one.export_public(own), Err(HsmError::NotFound(own)));
    // A PIN that one changes leaves the other at work.
    one.change_pin("98765", CHEAP).unwrap();
    let later = other.create_pair(Curve::NistP256, Persistence::Persistent, "later").unwrap();
    drop((one, other));
    assert_eq!(reopen(&folder).err(), Some(HsmError::WrongPin));
    let mut hsm = SoftwareHsm::open(folder.path().join("keys"), "98765").unwrap();
    assert!(hsm.sign_digest(later, &[1; 32]).is_ok());
    let again = SoftwareHsm::create_with(folder.path().join("keys"), "1234", CHEAP);
    assert_eq!(again.err(), Some(HsmError::StoreExists(folder.path().join("keys"))));
    let nowhere = folder.path().join("elsewhere");
    assert_eq!(SoftwareHsm::open(&nowhere, "1234").err(), Some(HsmError::NoStore(nowhere)));
}

#[test]
fn eight_processes_at_once_lose_no_key_of_each_other() {
    let (folder, hsm) = store();
    drop(hsm);
    let made: Vec<KeyHandle> = std::thread::scope(|scope| {
        let works = [(); 8].map(|()| {
            scope.spawn(|| {
                let mut hsm = reopen(&folder).unwrap();
                let make =
                    |hsm: &mut SoftwareHsm| hsm.create_pair(Curve::NistP256, Persistence::Persistent, "k").unwrap();
                let made: Vec<KeyHandle> = (0..12).map(|_| make(&mut hsm)).collect();
                made[..6].iter().for_each(|key| hsm.delete(*key).unwrap());
                made[6..].to_vec()
            })
        });
        works.into_iter().flat_map(|work| work.join().unwrap()).collect()
    });
    let mut hsm = reopen(&folder).unwrap();
    let mut expected = made.clone();
    expected.sort_unstable();
    let listed: Vec<KeyHandle> = hsm.list().unwrap().into_iter().map(|key| key.handle).collect();
    assert_eq!(listed, expected);
    for key in made {
        hsm.sign_digest(key, &[1; 32]).unwrap();
    }
}

#[test]
fn a_store_that_is_being_changed_is_read_meanwhile_and_changed_after() {
    let (folder, mut hsm) = store();
    let key = hsm.create_pair(Curve::NistP256, Persistence::Persistent, "k").unwrap();
    let lock = fs::File::open(folder.path().join("keys/lock")).unwrap();
    lock.lock().unwrap();
    // Whoever has the store open reads and signs.
    assert!(hsm.sign_digest(key, &[1; 32]).is_ok() && hsm.list().is_ok());
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| hsm.create_pair(Curve::NistP256, Persistence::Persistent, "waits"));
        std::thread::sleep(std::time::Duration::from_millis(100));
        lock.unlock().unwrap();
        assert!(waits.join().unwrap().is_ok());
    });
}

#[test]
fn a_damaged_key_file_ends_that_key_alone() {
    let (folder, mut hsm) = store();
    let whole = hsm.create_pair(Curve::NistP256, Persistence::Persistent, "a").unwrap();
    let broken = hsm.create_pair(Curve::NistP256, Persistence::Persistent, "b").unwrap();
    drop(hsm);
    let path = folder.path().join("keys").join(format!("{broken}.key"));
    let mut bytes = fs::read(&path).unwrap();
    bytes.truncate(40);
    fs::write(&path, &bytes).unwrap();
    let mut hsm = reopen(&folder).unwrap();
    assert!(hsm.sign_digest(whole, &[1; 32]).is_ok());
    let told = hsm.sign_digest(broken, &[1; 32]);
    assert!(matches!(&told, Err(HsmError::StoreCorrupt { path: told, .. }) if *told == path), "{told:?}");
    assert_eq!(hsm.damaged().count(), 1);
    assert_eq!(fs::read(&path).unwrap(), bytes, "a damaged file is evidence: nobody touches it unasked");
    hsm.delete(broken).unwrap();
    assert!(!path.exists());
}

#[test]
fn a_damaged_store_file_is_named() {
    let (folder, hsm) = store();
    drop(hsm);
    let path = folder.path().join("keys/store.hsm");
    fs::write(&path, vec![0; 100_000]).unwrap();
    assert!(matches!(reopen(&folder).err(), Some(HsmError::StoreCorrupt { path: told, .. }) if told == path));
}

#[test]
fn a_file_half_written_before_a_crash_is_no_key_and_goes_away() {
    let (folder, mut hsm) = store();
    let key = hsm.create_pair(Curve::NistP256, Persistence::Persistent, "a").unwrap();
    drop(hsm);
    let unfinished = folder.path().join("keys/00000001.key.new");
    fs::write(&unfinished, b"CSHK").unwrap();
    let mut hsm = reopen(&folder).unwrap();
    assert_eq!(hsm.list().unwrap().iter().map(|key| key.handle).collect::<Vec<_>>(), [key]);
    assert!(!unfinished.exists());
}

#[test]
fn files_are_for_their_owner_alone_and_hold_no_key_in_the_clear() {
    let (folder, mut hsm) = store();
    let key = chronoseal_v2x_service::hsm::ImportedKey::Pair(Curve::NistP256, vec![0x5C; 32].into());
    let handle = hsm.import(&key, Persistence::Persistent, "a label").unwrap();
    let path = folder.path().join("keys").join(format!("{handle}.key"));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(folder.path().join("keys")).unwrap().permissions().mode() & 0o777, 0o700);
    let bytes = fs::read(&path).unwrap();
    assert!(!bytes.windows(8).any(|window| window == [0x5C; 8]));
    assert!(!bytes.windows(7).any(|window| window == b"a label"));
}

#[test]
fn predefined_keys_survive_a_reload_and_cannot_be_deleted() {
    let (folder, mut hsm) = store();
    hsm.provision(Curve::NistP256, 0x10..=0x12).unwrap();
    assert_eq!(hsm.predefined_key_range(), Some(0x10..=0x12));
    let public = hsm.export_public(KeyHandle(0x11)).unwrap();
    let volatile = hsm.create_pair(Curve::NistP256, Persistence::Volatile, "v").unwrap();
    assert_eq!(hsm.reload_predefined().unwrap(), [0x10, 0x11, 0x12].map(KeyHandle));
    assert_eq!(hsm.export_public(volatile), Err(HsmError::NotFound(volatile)));
    assert_eq!(hsm.delete(KeyHandle(0x11)), Err(HsmError::Predefined(KeyHandle(0x11))));
    drop(hsm);
    let mut hsm = reopen(&folder).unwrap();
    hsm.provision(Curve::NistP256, 0x10..=0x12).unwrap();
    assert_eq!(hsm.export_public(KeyHandle(0x11)).unwrap(), public);
}

#[test]
fn a_full_disk_is_named_and_loses_nothing() {
    const INNER: &str = "CHRONOSEAL_TEST_SMALL_DISK";
    if let Ok(folder) = std::env::var(INNER) {
        fills_the_disk(&std::path::PathBuf::from(folder));
        return;
    }
    // A disk of 64 KiB in a mount namespace of its own, which ends with the process.
    let folder = tempfile::tempdir().unwrap();
    let test = std::env::current_exe().unwrap();
    let script = format!(
        "mount -t tmpfs -o size=64k none '{0}' && {INNER}='{0}' exec '{1}' --exact --nocapture \
         hsm::software::a_full_disk_is_named_and_loses_nothing",
        folder.path().display(),
        test.display()
    );
    let run = Command::new("unshare").args(["--map-root-user", "--mount", "sh", "-c", &script]).output();
    match run {
        Ok(output) if output.status.success() => {
            assert!(String::from_utf8_lossy(&output.stdout).contains("disk was full after"), "the inner test ran");
        }
        Ok(output) if String::from_utf8_lossy(&output.stderr).contains("unshare failed") => {
            crate::hsm::skip("this host gives no mount namespace");
        }
        Ok(output) => panic!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)),
        Err(error) => crate::hsm::skip(&format!("no unshare: {error}")),
    }
}

fn fills_the_disk(folder: &std::path::Path) {
    let keys = folder.join("keys");
    let mut hsm = SoftwareHsm::create_with(&keys, "1234", CHEAP).unwrap();
    let mut made = Vec::new();
    let full = loop {
        match hsm.create_pair(Curve::NistP256, Persistence::Persistent, "k") {
            Ok(key) => made.push((key, hsm.export_public(key).unwrap())),
            Err(error) => break error,
        }
        assert!(made.len() < 1000, "the disk never filled");
    };
    assert!(matches!(full, HsmError::DiskFull(_)), "{full}");
    println!("disk was full after {} keys: {full}", made.len());
    assert_eq!(hsm.list().unwrap().len(), made.len());
    // A new PIN does not fit either, and the old one stays good.
    assert!(matches!(hsm.change_pin("new", CHEAP), Err(HsmError::DiskFull(_))));
    drop(hsm);
    let mut hsm = SoftwareHsm::open(&keys, "1234").unwrap();
    for (key, public) in &made {
        assert_eq!(hsm.export_public(*key).unwrap(), *public);
    }
    // Room made is room used.
    hsm.delete(made[0].0).unwrap();
    hsm.create_pair(Curve::NistP256, Persistence::Persistent, "k").unwrap();
}
