//! Misbehaviour, seen by a station's daemon and taken by the authorities, as programs with the real clock.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use chronoseal_wire::its::{Cam, ReferencePosition};

use super::tickets::{BINARY, run, start};

#[allow(clippy::disallowed_methods, reason = "the daemons are processes of their own, and take their time")]
fn wait(what: &str, holds: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(90);
    while !holds() {
        assert!(Instant::now() < until, "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Asks a daemon over its socket; its answer has to be that it is done.
fn ask(socket: &Path, operation: u8, body: &[u8]) -> Vec<u8> {
    let mut stream = UnixStream::connect(socket).unwrap();
    let body = [&[1, operation, 0, 0, 0, 7][..], body].concat();
    stream.write_all(&[&u32::try_from(body.len()).unwrap().to_be_bytes()[..], &body].concat()).unwrap();
    let mut len = [0; 4];
    stream.read_exact(&mut len).unwrap();
    let mut answer = vec![0; u32::from_be_bytes(len) as usize];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(answer[0], 0, "{}", String::from_utf8_lossy(&answer[5..]));
    answer[5..].to_vec()
}

fn said(folder: &Path, arguments: &str) -> String {
    let output = Command::new(BINARY).args(arguments.split_whitespace()).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
#[allow(clippy::disallowed_methods, reason = "a CAM a second")]
fn a_car_that_jumps_is_reported_by_the_one_that_hears_it() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut authorities = start(folder, &["pki", "serve", "--dir", "pki", "--port", "0"]);
    let mut line = String::new();
    BufReader::new(authorities.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let url = line.trim().strip_prefix("listening ").unwrap_or_else(|| panic!("{line}"));
    let mut daemons = Vec::new();
    let report_to = format!("[misbehaviour]\nurl = \"{url}/uploadMR-v1\"\nma = \"pki/ma.oer\"\n");
    for (id, car, permissions, more) in [
        ("c0ffee01", "car", r#"["36:01ffff", "37:01ffffff", "38"]"#, report_to.as_str()),
        ("c0ffee02", "liar", "[]", ""),
    ] {
        run(folder, &format!("pki keygen --dir {car}"));
        run(folder, &format!("pki register --dir pki --id {id} --key {car}/canonical.pub.pem"));
        run(folder, &format!("pki enrol --dir {car} --id {id} --url {url}/ea --ea pki/ea.oer --rca pki/rca.oer"));
        let configuration = format!(
            "folder = \"{car}\"\npin_file = \"{car}/pin\"\nhsm = {{ kind = \"software\", folder = \"{car}/keys\" }}\n\
             [trust]\nroots = [\"pki/rca.oer\"]\nauthorities = [\"pki/aa.oer\"]\n\
             [authority]\nurl = \"{url}/aa\"\naa = \"pki/aa.oer\"\nea = \"pki/ea.oer\"\npermissions = {permissions}\n\
             [pseudonyms]\nlow_water = 2\npreload = 2\n[logging]\nfile = \"{car}.log\"\n{more}"
        );
        std::fs::write(folder.join(format!("{car}.toml")), configuration).unwrap();
        let (configuration, socket) = (format!("{car}.toml"), format!("{car}.socket"));
        daemons.push(start(folder, &["vss", "serve", &configuration, "--socket", &socket]));
        let log = || std::fs::read_to_string(folder.join(format!("{car}.log"))).unwrap_or_default();
        wait("tickets", || log().matches("ticket added").count() >= 2);
    }
    let in_use = said(folder, "vss show liar.toml");
    let liar = in_use.lines().next().unwrap().split_whitespace().last().unwrap().to_owned();
    // Where a car is, and two kilometres further north a second later.
    for latitude in [487_758_459, 487_938_459] {
        let position = ReferencePosition::at(latitude, 91_829_321);
        let cam = Cam { station_type: 5, speed_cm_s: 3_000, position, ..Cam::default() };
        let mut payload = [0; Cam::LEN_MAX];
        let len = cam.emit(&mut payload).unwrap();
        let signed = ask(&folder.join("liar.socket"), 1, &[&36_u32.to_be_bytes()[..], &[0], &payload[..len]].concat());
        let verdict = ask(&folder.join("car.socket"), 2, &[&[1][..], &[0xff; 8], &signed].concat());
        assert_eq!(verdict[0], 0, "accepted: it is genuine");
        std::thread::sleep(Duration::from_millis(1100));
    }
    let reports = || said(folder, "pki reports --dir pki");
    wait("a report", || !reports().is_empty());
    let (text, lines) = (reports(), reports().lines().count());
    assert_eq!(lines, 1, "{text}");
    assert!(text.starts_with(&format!("{liar}  Position-ChangeTooLarge  made ")), "{text}, {liar}");
    wait("it is no longer kept", || std::fs::read_dir(folder.join("car/reports")).unwrap().count() == 0);
}
