//! An authority is revoked while two stations receive: this project's daemon, and Bouncy Castle's receiver.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use chronoseal_v2x::pki::Role;
use chronoseal_v2x_service::pki::now;
use chronoseal_v2x_service::vss::{ListSource, Lists, Server};

use super::Pki;
use super::interop::Bc;
use super::revocation::{Rig, sign};

/// How often both fetch lists.
const REFRESH: Duration = Duration::from_secs(1);

/// Bouncy Castle's receiver, a process of its own.
struct Receiver {
    process: Child,
    messages: ChildStdin,
    verdicts: BufReader<ChildStdout>,
}

impl Receiver {
    fn start(bc: &Bc, pki: &Pki) -> Self {
        let root = bc.path("rca.oer");
        std::fs::write(&root, pki.server.certificate(Role::Root).certificate().as_bytes()).unwrap();
        let refresh = REFRESH.as_millis().to_string();
        let mut process = bc
            .command(&["client", "receive", "--rca", &root, "--dc", pki.server.url(), "--refresh-ms", &refresh])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (messages, verdicts) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        Self { process, messages, verdicts: BufReader::new(verdicts) }
    }

    fn judge(&mut self, message: &[u8]) -> String {
        let hex: String = message.iter().map(|octet| format!("{octet:02x}")).collect();
        writeln!(self.messages, "{hex}").unwrap();
        let mut verdict = String::new();
        self.verdicts.read_line(&mut verdict).unwrap();
        verdict.trim_end().to_owned()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Our daemon, over its socket.
fn ask(stream: &mut UnixStream, message: &[u8]) -> String {
    let body = [&[1, 2, 0, 0, 0, 1, 0][..], &[0xff; 8], message].concat();
    stream.write_all(&[&u32::try_from(body.len()).unwrap().to_be_bytes()[..], &body].concat()).unwrap();
    let mut len = [0; 4];
    stream.read_exact(&mut len).unwrap();
    let mut answer = vec![0; u32::from_be_bytes(len) as usize];
    stream.read_exact(&mut answer).unwrap();
    // Outcome, signer, time, then the checks; the summary and the payload are the last.
    let text = String::from_utf8_lossy(&answer[5..]).into_owned();
    let reason = text.find("refused by").map(|at| text[at..].trim_end_matches(|c: char| c.is_control()).to_owned());
    match answer[5] {
        0 => "accepted".to_owned(),
        1 => reason.unwrap_or_else(|| "refused".to_owned()),
        other => format!("outcome {other}"),
    }
}

/// Ends the daemon, also when the test fails.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_revoked_authority_is_refused_by_our_daemon_and_by_bouncy_castle_within_one_refresh() {
    let Some(bc) = Bc::new() else { return };
    let pki = Pki::start();
    let (sender, mut receiver) = (Rig::new(&pki), Rig::new(&pki));
    receiver.config.lists =
        Lists { centres: vec![pki.server.url().to_owned()], refresh_s: REFRESH.as_secs(), ..Lists::default() };
    let mut sender = sender.open();
    let socket = receiver.place("socket");
    let daemon = Server::bind(&socket, receiver.open()).unwrap().with_lists(ListSource::new(&receiver.config.lists));
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| daemon.run(None, &stop).unwrap());
        let _stop = Stop(&stop);
        let mut stream = UnixStream::connect(&socket).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let mut theirs = Receiver::start(&bc, &pki);
        // One message to both. It takes some until each has fetched its lists and seen the ticket, which comes once a second.
        let mut both = |when: &str| {
            let message = sign(&mut sender, now(), b"here");
            let verdicts = (ask(&mut stream, &message), theirs.judge(&message));
            println!("{when}: daemon: {}; Bouncy Castle: {}", verdicts.0, verdicts.1);
            verdicts
        };
        let until = Instant::now() + Duration::from_secs(30);
        loop {
            let (ours, theirs) = both("before");
            if ours == "accepted" && theirs.starts_with("accepted") {
                break;
            }
            assert!(Instant::now() < until, "accepted by one at most: {ours}; {theirs}");
            std::thread::sleep(Duration::from_millis(300));
        }
        pki.server.revoke_authority(pki.aa().id()).unwrap();
        let revoked = Instant::now();
        let is_refused =
            |(ours, theirs): &(String, String)| ours.starts_with("refused") && theirs.starts_with("refused");
        let mut verdicts = both("revoked");
        while !is_refused(&verdicts) {
            // One refresh, and what it takes to fetch and to write the lists on a busy machine.
            assert!(revoked.elapsed() < 3 * REFRESH, "still accepted: {verdicts:?}");
            std::thread::sleep(Duration::from_millis(100));
            verdicts = both(&format!("{} ms after", revoked.elapsed().as_millis()));
        }
        let (ours, theirs) = verdicts;
        assert!(ours.contains("refused by revocation: spduCertificateChainCertificateRevoked"), "{ours}");
        assert!(theirs.contains(&format!("its authority {} is on the revocation list", pki.aa().id())), "{theirs}");
        for _ in 0..3 {
            assert!(is_refused(&both("later")), "accepted again");
        }
    });
}
