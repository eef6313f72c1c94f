//! The walk of the guides to authorities and stations: tickets from the command line, then more from the daemon.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use chronoseal_v2x::certificate::legible_fields;
use chronoseal_v2x::types::{CertificateBuf, Psid};

pub(super) const BINARY: &str = env!("CARGO_BIN_EXE_chronoseal-v2x");

/// A program that runs until the test is over.
pub(super) struct Running(pub(super) Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(super) fn start(folder: &Path, arguments: &[&str]) -> Running {
    let command = Command::new(BINARY).args(arguments).current_dir(folder).stdout(Stdio::piped()).spawn();
    Running(command.unwrap())
}

pub(super) fn run(folder: &Path, arguments: &str) {
    let output = Command::new(BINARY).args(arguments.split_whitespace()).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
}

fn tickets(folder: &Path) -> Vec<PathBuf> {
    let names = std::fs::read_dir(folder.join("car/at")).unwrap().map(|name| name.unwrap().path());
    names.filter(|path| path.extension().is_some_and(|one| one == "oer")).collect()
}

#[test]
#[allow(clippy::disallowed_methods, reason = "the daemon is a process of its own, and takes its time")]
fn tickets_of_the_daemon_look_like_those_of_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut authorities = start(folder, &["pki", "serve", "--dir", "pki", "--port", "0"]);
    let mut line = String::new();
    BufReader::new(authorities.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let url = line.trim().strip_prefix("listening ").unwrap_or_else(|| panic!("{line}"));
    run(folder, "pki keygen --dir car");
    run(
        folder,
        "pki register --dir pki --id c0ffee01 --key car/canonical.pub.pem --permission 36:01ffff --permission 37:01ffffff",
    );
    run(folder, &format!("pki enrol --dir car --id c0ffee01 --url {url}/ea --ea pki/ea.oer --rca pki/rca.oer"));
    run(
        folder,
        &format!("pki authorize --dir car --url {url}/aa --aa pki/aa.oer --ea pki/ea.oer --rca pki/rca.oer --count 2"),
    );
    let by_command = tickets(folder);
    assert_eq!(by_command.len(), 2);

    let configuration = format!(
        "folder = \"car\"\npin_file = \"car/pin\"\nhsm = {{ kind = \"software\", folder = \"car/keys\" }}\n\
         [trust]\nroots = [\"pki/rca.oer\"]\nauthorities = [\"pki/aa.oer\"]\n\
         [authority]\nurl = \"{url}/aa\"\naa = \"pki/aa.oer\"\nea = \"pki/ea.oer\"\n\
         [pseudonyms]\nlow_water = 3\npreload = 3\n"
    );
    std::fs::write(folder.join("vss.toml"), configuration).unwrap();
    let _daemon = start(folder, &["vss", "serve", "vss.toml", "--socket", "vss.socket"]);
    let until = Instant::now() + Duration::from_secs(60);
    while tickets(folder).len() < 4 {
        assert!(Instant::now() < until, "the daemon has fetched no tickets");
        std::thread::sleep(Duration::from_millis(20));
    }

    let kind = |path: &PathBuf| {
        let ticket = CertificateBuf::new(std::fs::read(path).unwrap()).unwrap();
        let fields = legible_fields(&ticket.view()).into_iter().filter(|field| !field.is_own);
        // At the change of a week the last ones may be of the next one.
        let fields = fields.filter(|field| field.name != "toBeSigned.validityPeriod.start");
        fields.map(|field| (field.name, field.value)).collect::<Vec<_>>()
    };
    let expected = kind(&by_command[0]);
    for ticket in tickets(folder) {
        assert_eq!(kind(&ticket), expected, "{}", ticket.display());
    }
}

#[test]
fn a_ticket_may_be_for_collective_perception_and_for_vulnerable_road_users() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut authorities = start(folder, &["pki", "serve", "--dir", "pki", "--port", "0"]);
    let mut line = String::new();
    BufReader::new(authorities.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let url = line.trim().strip_prefix("listening ").unwrap_or_else(|| panic!("{line}"));
    run(folder, "pki keygen --dir car");
    run(folder, "pki register --dir pki --id c0ffee03 --key car/canonical.pub.pem");
    run(folder, &format!("pki enrol --dir car --id c0ffee03 --url {url}/ea --ea pki/ea.oer --rca pki/rca.oer"));
    let services = "--permission 638:01ff --permission 639:01ff";
    let authorities = "--aa pki/aa.oer --ea pki/ea.oer --rca pki/rca.oer";
    run(folder, &format!("pki authorize --dir car --url {url}/aa {authorities} {services}"));
    let ticket = CertificateBuf::new(std::fs::read(&tickets(folder)[0]).unwrap()).unwrap();
    let permissions = ticket.view().to_be_signed.app_permissions.unwrap();
    let allowed: Vec<Psid> = permissions.iter().map(|one| one.psid).collect();
    assert_eq!(allowed, [Psid::VAM, Psid::CPM]);
}
