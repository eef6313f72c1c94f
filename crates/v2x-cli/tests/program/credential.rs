//! A station's daemon and its authorities, as programs with the real clock: the enrolment credential is renewed, and the key store
//! answers meanwhile.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use super::tickets::{BINARY, run, start};

/// What a command prints, once it has succeeded.
fn said(folder: &Path, arguments: &str) -> String {
    let output = Command::new(BINARY).args(arguments.split_whitespace()).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[allow(clippy::disallowed_methods, reason = "the daemon is a process of its own, and takes its time")]
fn wait(what: &str, holds: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(90);
    while !holds() {
        assert!(Instant::now() < until, "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn the_daemon_renews_its_credential_and_the_key_store_answers_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let arguments = ["pki", "serve", "--dir", "pki", "--port", "0", "--credential-validity", "24s"];
    let mut authorities = start(folder, &arguments);
    let mut line = String::new();
    BufReader::new(authorities.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let url = line.trim().strip_prefix("listening ").unwrap_or_else(|| panic!("{line}"));
    run(folder, "pki keygen --dir car");
    run(folder, "pki register --dir pki --id c0ffee01 --key car/canonical.pub.pem");
    let configuration = format!(
        "folder = \"car\"\npin_file = \"car/pin\"\nhsm = {{ kind = \"software\", folder = \"car/keys\" }}\n\
         [trust]\nroots = [\"pki/rca.oer\"]\nauthorities = [\"pki/aa.oer\"]\n\
         [authority]\nurl = \"{url}/aa\"\naa = \"pki/aa.oer\"\nea = \"pki/ea.oer\"\nea_url = \"{url}/ea\"\n\
         [pseudonyms]\nlow_water = 3\npreload = 3\n[logging]\nfile = \"log\"\n"
    );
    std::fs::write(folder.join("vss.toml"), configuration).unwrap();
    let enrol = format!("pki enrol --dir car --id c0ffee01 --url {url}/ea --ea pki/ea.oer --rca pki/rca.oer");
    run(folder, &enrol);
    let _daemon = start(folder, &["vss", "serve", "vss.toml", "--socket", "vss.socket"]);
    let log = || std::fs::read_to_string(folder.join("log")).unwrap_or_default();
    let current = || std::fs::read_to_string(folder.join("car/ec/current")).unwrap();
    let first = current();
    wait("three tickets", || log().matches("ticket added").count() >= 3);

    // The key store answers: who owns which key, what there is, and a key of a command's own.
    let keys = said(folder, "vss keys vss.toml");
    // Two keys a ticket; the daemon may have fetched the next one meanwhile, or be about to.
    assert!(keys.matches("  ticket ").count() >= 6, "{keys}");
    assert!(keys.contains("canonical key") && keys.contains("  credential "), "{keys}");
    let shown = said(folder, "vss show vss.toml");
    assert!(shown.contains("served            by a daemon"), "{shown}");
    assert!(shown.contains("credential        ") && shown.contains(" UTC\n"), "{shown}");
    let aa = "--aa pki/aa.oer --ea pki/ea.oer --rca pki/rca.oer";
    let by_hand = said(folder, &format!("pki authorize --dir car --url {url}/aa {aa}"));
    assert!(by_hand.starts_with("at "), "{by_hand}");
    let second = Command::new(BINARY)
        .args(["vss", "serve", "vss.toml", "--socket", "other.socket"])
        .current_dir(folder)
        .output()
        .unwrap();
    let refused = String::from_utf8_lossy(&second.stderr);
    assert!(!second.status.success() && refused.contains("open in another process already"), "{refused}");

    wait("a renewal", || log().contains("enrolment credential renewed, valid until "));
    assert_ne!(current(), first);
    assert_eq!(said(folder, "vss keys vss.toml").matches("  credential ").count(), 1, "the old key has gone");
    // By hand beside the daemon: it goes on with what it finds.
    let renewed = said(folder, &format!("pki reenrol --dir car --url {url}/ea --ea pki/ea.oer --rca pki/rca.oer"));
    let by_hand = renewed.trim().strip_prefix("ec ").unwrap().to_owned();
    wait("a renewal of that", || current() != by_hand && log().matches("enrolment credential renewed").count() >= 2);
    assert!(!log().contains("is not renewed"), "{}", log());
}
