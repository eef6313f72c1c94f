//! What a group by MLS (RFC 9420) takes: one commit that adds everybody, joining, renewing the keys, removing a member.
//!
//! mls-rs with its RustCrypto provider, cipher suite 1 (X25519, AES-128-GCM, SHA-256, Ed25519), basic credentials. Times are
//! processor time of this thread, kept on one processor; each figure is the median of the runs.

use mls_rs::client_builder::MlsConfig;
use mls_rs::error::MlsError;
use mls_rs::identity::SigningIdentity;
use mls_rs::identity::basic::{BasicCredential, BasicIdentityProvider};
use mls_rs::mls_rules::{CommitOptions, DefaultMlsRules};
use mls_rs::{CipherSuite, CipherSuiteProvider, Client, CryptoProvider, ExtensionList};
use mls_rs_crypto_rustcrypto::RustCryptoProvider;

const SUITE: CipherSuite = CipherSuite::CURVE25519_AES128;
const SIZES: [usize; 6] = [2, 4, 8, 16, 32, 64];
const RUNS: usize = 7;

fn client(name: &str) -> Result<Client<impl MlsConfig + use<>>, MlsError> {
    let crypto = RustCryptoProvider::default();
    let suite = crypto.cipher_suite_provider(SUITE).expect("the provider has cipher suite 1");
    let (secret, public) = suite.signature_key_generate().expect("the provider makes signature keys");
    let identity = SigningIdentity::new(BasicCredential::new(name.as_bytes().to_vec()).into_credential(), public);
    // The tree travels in the Welcome: a bus has no server to fetch it from.
    let rules = DefaultMlsRules::new().with_commit_options(CommitOptions::new().with_ratchet_tree_extension(true));
    Ok(Client::builder()
        .identity_provider(BasicIdentityProvider)
        .crypto_provider(crypto)
        .mls_rules(rules)
        .signing_identity(identity, secret, SUITE)
        .build())
}

/// Processor time of this thread [us].
fn now_us() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec of ours.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 * 1e6 + time.tv_nsec as f64 / 1e3
}

fn timed<T>(what: impl FnOnce() -> Result<T, MlsError>) -> Result<(f64, T), MlsError> {
    let before = now_us();
    let result = what()?;
    Ok((now_us() - before, result))
}

/// Keeps this thread on the last processor it may use.
fn pin() {
    // SAFETY: both calls get a set of ours and its size.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set);
        let last = (0..libc::CPU_SETSIZE as usize).rev().find(|cpu| libc::CPU_ISSET(*cpu, &set)).unwrap_or(0);
        libc::CPU_ZERO(&mut set);
        libc::CPU_SET(last, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set);
    }
}

/// Columns of one run, in the order of the header.
fn run(n: usize) -> Result<[f64; 11], MlsError> {
    let creator = client("orchestrator")?;
    let members: Vec<_> = (1..n).map(|member| client(&format!("ecu{member}"))).collect::<Result<_, _>>()?;
    let mut packages = Vec::new();
    let mut package_us = Vec::new();
    for member in &members {
        let (us, package) =
            timed(|| member.generate_key_package_message(ExtensionList::new(), ExtensionList::new(), None))?;
        package_us.push(us);
        packages.push(package);
    }
    let package_len = packages[0].to_bytes()?.len() as f64;

    let mut group = creator.group_builder()?.build()?;
    let (create_us, welcome) = timed(|| {
        let mut builder = group.commit_builder();
        for package in packages {
            builder = builder.add_member(package)?;
        }
        let output = builder.build()?;
        group.apply_pending_commit()?;
        Ok(output.welcome_messages)
    })?;
    let welcome_len: usize = welcome.iter().map(|one| one.to_bytes().map_or(0, |bytes| bytes.len())).sum();

    let mut joined = Vec::new();
    let mut join_us = Vec::new();
    for member in &members {
        let (us, (group, _)) = timed(|| member.join_group(None, &welcome[0], None))?;
        join_us.push(us);
        joined.push(group);
    }

    let (renew_us, renewal) = timed(|| {
        let output = group.commit_builder().build()?;
        group.apply_pending_commit()?;
        Ok(output.commit_message)
    })?;
    let renew_len = renewal.to_bytes()?.len() as f64;
    let mut process_us = Vec::new();
    for member in &mut joined {
        process_us.push(timed(|| member.process_incoming_message(renewal.clone()))?.0);
    }

    let (mut remove_us, mut remove_len) = (f64::NAN, f64::NAN);
    if n > 2 {
        let (us, removal) = timed(|| {
            let output = group.commit_builder().remove_member(1)?.build()?;
            group.apply_pending_commit()?;
            Ok(output.commit_message)
        })?;
        (remove_us, remove_len) = (us, removal.to_bytes()?.len() as f64);
        for member in joined.iter_mut().skip(1) {
            member.process_incoming_message(removal.clone())?;
        }
        let mine = group.current_epoch();
        assert!(joined.iter().skip(1).all(|member| member.current_epoch() == mine), "everybody left is in step");
    }
    let median = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    Ok([
        n as f64,
        package_len,
        median(package_us),
        create_us,
        welcome_len as f64,
        median(join_us),
        renew_us,
        renew_len,
        median(process_us),
        remove_us,
        remove_len,
    ])
}

fn main() -> Result<(), MlsError> {
    pin();
    println!(
        "members,key_package_bytes,key_package_us,create_us,welcome_bytes,join_us,renew_us,renew_bytes,process_us,remove_us,remove_bytes"
    );
    for n in SIZES {
        let mut runs: Vec<[f64; 11]> = (0..RUNS).map(|_| run(n)).collect::<Result<_, _>>()?;
        let row: Vec<String> = (0..11)
            .map(|column| {
                runs.sort_by(|a, b| a[column].total_cmp(&b[column]));
                let value = runs[RUNS / 2][column];
                if value.is_nan() { String::new() } else { format!("{value:.0}") }
            })
            .collect();
        println!("{}", row.join(","));
    }
    Ok(())
}
