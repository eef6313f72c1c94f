//! A daemon reports what it finds to a misbehaviour authority, over sockets and HTTP.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use chronoseal_v2x::message::{SignerCertificate, SignerForm, sign};
use chronoseal_v2x::pki::{Permissions, Role};
use chronoseal_v2x::types::{HeaderInfo, Psid, SignedDataPayload, Time64, ToBeSignedData};
use chronoseal_v2x_service::hsm::HsmKey;
use chronoseal_v2x_service::pki::{HttpClient, ServiceError, TicketOptions};
use chronoseal_v2x_service::vss::{
    CredentialKeeper, Misbehaviour, Overview, Reporter, Server, pseudonym_source_beside,
};
use chronoseal_wire::its::{Cam, ReferencePosition};

use super::ahead::{Rig, Stop};
use super::{Car, Pki, key_files};

const S: u64 = 1_000_000;

/// A station that reports, and one that lies.
struct Bench {
    rig: Rig,
    liar: (SignerCertificate, HsmKey),
    _liars_folder: tempfile::TempDir,
}

impl Bench {
    fn new(permissions: &[&str]) -> Self {
        let mut rig = Rig::new();
        let liar = Car::new();
        let client = liar.client.clone().with_clock(rig.hand.clock());
        let liar = Car { client, folder: liar.folder };
        rig.pki.register(&liar, Permissions::tickets());
        rig.pki.enrol(&liar).unwrap();
        rig.pki.authorize(&liar, &TicketOptions::default()).unwrap();
        let (ticket, meta) = liar.client.tickets().unwrap().remove(0);
        let key = key_files(liar.folder.path()).key(meta.signing_key).unwrap();
        rig.config.authority.as_mut().unwrap().permissions = permissions.iter().map(ToString::to_string).collect();
        let ma = rig.place("ma.oer");
        std::fs::write(&ma, rig.pki.server.certificate(Role::Misbehaviour).certificate().as_bytes()).unwrap();
        let url = format!("{}/uploadMR-v1", rig.pki.server.url());
        rig.config.misbehaviour = Some(Misbehaviour { url, ma });
        Self { rig, liar: (ticket, key), _liars_folder: liar.folder }
    }

    fn reporting() -> Self {
        Self::new(&["36:01ffff", "37:01ffffff", "38"])
    }

    /// A CAM of the liar.
    fn cam(&mut self, at: Time64, speed_cm_s: u16, latitude: i32) -> Vec<u8> {
        let position = ReferencePosition::at(latitude, 91_829_321);
        let cam = Cam { station_type: 5, speed_cm_s, position, ..Cam::default() };
        let mut payload = [0; Cam::LEN_MAX];
        let len = cam.emit(&mut payload).unwrap();
        let mut header_info = HeaderInfo::new(Psid::CAM);
        header_info.generation_time = Some(at);
        let payload = SignedDataPayload::unsecured(&payload[..len]);
        let tbs = ToBeSignedData { payload, header_info, received: Default::default() };
        sign(&tbs, SignerForm::Certificate(&self.liar.0), &mut self.liar.1).unwrap()
    }

    /// Runs the daemon, hands it messages to verify, and does something meanwhile.
    fn serve(&self, messages: &[Vec<u8>], meanwhile: impl FnOnce(&Self)) {
        let vss = self.rig.open();
        let (folder, clock) = (&self.rig.config.folder, self.rig.hand.clock());
        let authority = self.rig.config.authority.as_ref().unwrap();
        let keeper = CredentialKeeper::new(folder, authority, vss.hsm().clone(), &clock).unwrap();
        let source = pseudonym_source_beside(&keeper, folder, authority, &clock).unwrap();
        let reporter = Reporter::new(folder, self.rig.config.misbehaviour.as_ref().unwrap()).unwrap();
        let socket = self.rig.place("socket");
        let daemon = Server::bind(&socket, vss).unwrap().with_clock(clock).with_reporter(Some(reporter));
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| daemon.run(Some(source), &stop).unwrap());
            let _stop = Stop(&stop);
            self.rig.wait_for(3);
            let mut program = UnixStream::connect(&socket).unwrap();
            for message in messages {
                let body = [&[1, 2, 0, 0, 0, 7, 1][..], &[0xff; 8], message].concat();
                program.write_all(&[&u32::try_from(body.len()).unwrap().to_be_bytes()[..], &body].concat()).unwrap();
                let mut len = [0; 4];
                program.read_exact(&mut len).unwrap();
                let mut answer = vec![0; u32::from_be_bytes(len) as usize];
                program.read_exact(&mut answer).unwrap();
                assert_eq!((answer[0], answer[5]), (0, 0), "accepted: {}", String::from_utf8_lossy(&answer));
            }
            meanwhile(self);
        });
        self.wait("the daemon's end", || !Overview::read(&self.rig.config, self.rig.end).unwrap().is_served);
    }

    fn wait(&self, what: &str, holds: impl Fn() -> bool) {
        let until = Instant::now() + Duration::from_secs(60);
        while !holds() {
            assert!(Instant::now() < until, "{what}: {}", self.rig.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn wait_for_log(&self, text: &str) {
        self.wait(text, || self.rig.log().contains(text));
    }

    fn waiting(&self) -> Vec<Vec<u8>> {
        let names = std::fs::read_dir(self.rig.place("reports")).unwrap().map(|entry| entry.unwrap().path());
        names.map(|path| std::fs::read(path).unwrap()).collect()
    }

    fn reports(&self) -> Vec<chronoseal_v2x_service::store::Report> {
        self.rig.pki.server.store().lock().unwrap().reports().unwrap()
    }
}

/// Two CAMs, a second and two kilometres apart.
fn lies(bench: &mut Bench) -> Vec<Vec<u8>> {
    let now = bench.rig.hand.clock().now();
    let before = Time64(now.0 - S);
    vec![bench.cam(before, 3_000, 487_758_459), bench.cam(now, 3_000, 487_938_459)]
}

#[test]
fn what_a_daemon_finds_is_kept_by_the_authority_with_who_did_it() {
    let mut bench = Bench::reporting();
    let messages = lies(&mut bench);
    bench.serve(&messages, |bench| bench.wait("a report", || bench.reports().len() == 1));
    let report = &bench.reports()[0];
    assert_eq!(
        (report.subject, report.observations.as_slice()),
        (bench.liar.0.id(), &["Position-ChangeTooLarge".to_owned()][..])
    );
    assert_ne!(report.reporter, report.subject);
    assert_eq!(bench.waiting(), Vec::<Vec<u8>>::new(), "it has been taken");
    bench.wait_for_log(&format!("misbehaviour of {}: Position-ChangeTooLarge; report made", bench.liar.0.id()));
}

#[test]
fn a_report_waits_for_an_authority_that_is_away_over_a_restart() {
    let mut bench = Bench::reporting();
    let messages = lies(&mut bench);
    let to = bench.rig.config.misbehaviour.clone().unwrap();
    bench.rig.config.misbehaviour.as_mut().unwrap().url = "http://127.0.0.1:1/uploadMR-v1".to_owned();
    bench
        .serve(&messages, |bench| bench.wait_for_log("reports of misbehaviour wait: http://127.0.0.1:1/uploadMR-v1: "));
    let waiting = bench.waiting();
    assert_eq!((waiting.len(), bench.reports().len()), (1, 0));
    bench.rig.config.misbehaviour = Some(to.clone());
    bench.serve(&[], |bench| bench.wait("it is taken", || bench.waiting().is_empty()));
    assert_eq!(bench.reports().len(), 1);
    // Whoever posts it again gets the same answer, and it is kept once.
    let http = HttpClient::default();
    let answer = http.post(&to.url, &waiting[0]).unwrap();
    assert_eq!((answer.as_slice(), bench.reports().len()), (bench.reports()[0].id.as_slice(), 1));
}

#[test]
fn a_ticket_without_the_permission_reports_nothing_and_says_what_to_do() {
    let mut bench = Bench::new(&[]);
    let messages = lies(&mut bench);
    bench.serve(&messages, |bench| bench.wait_for_log("request tickets with the permission 38"));
    assert_eq!((bench.waiting().len(), bench.reports().len()), (0, 0));
}

#[test]
fn an_authority_of_another_root_refuses_and_the_report_does_not_come_again() {
    let mut bench = Bench::reporting();
    let messages = lies(&mut bench);
    let other = Pki::start_with(|options| options.clock = bench.rig.hand.clock());
    let ma = bench.rig.place("other.oer");
    std::fs::write(&ma, other.server.certificate(Role::Misbehaviour).certificate().as_bytes()).unwrap();
    bench.rig.config.misbehaviour = Some(Misbehaviour { url: format!("{}/uploadMR-v1", other.server.url()), ma });
    bench.serve(&messages, |bench| {
        bench.wait_for_log("a report of misbehaviour is refused: ");
        bench.wait("it is gone", || bench.waiting().is_empty());
    });
    let log = bench.rig.log();
    assert!(log.contains("status 400 (the reporter's ticket "), "{log}");
    assert_eq!(other.server.store().lock().unwrap().reports().unwrap().len(), 0);
}

#[test]
fn what_is_no_report_is_refused_with_a_reason_and_the_next_one_is_taken() {
    let mut bench = Bench::reporting();
    let url = format!("{}/uploadMR-v1", bench.rig.pki.server.url());
    let http = HttpClient::default();
    let ticket = bench.liar.0.certificate().as_bytes();
    for (bytes, reason) in [
        (&b"no report"[..], "version"),
        (&[3, 0x82][..], "content.sTE"),
        (ticket, "version"),
        (&[0xff; 60_000], "version"),
    ] {
        match http.post(&url, bytes) {
            Err(ServiceError::Http { status: Some(400), found, .. }) => assert!(found.contains(reason), "{found}"),
            other => panic!("{other:?}"),
        }
    }
    assert!(matches!(http.post(&url, &[0; 70_000]), Err(ServiceError::Http { status: Some(413), .. })));
    // Of another content type.
    let address = bench.rig.pki.server.url().trim_start_matches("http://").to_owned();
    let mut stream = TcpStream::connect(&address).unwrap();
    stream
        .write_all(b"POST /uploadMR-v1 HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx")
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 415 "), "{answer}");
    let messages = lies(&mut bench);
    bench.serve(&messages, |bench| bench.wait("a report", || bench.reports().len() == 1));
}
