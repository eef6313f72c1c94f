//! Trust lists and revocation lists on their way to a station, from a distribution centre of our own.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use chronoseal_v2x::pki::Role;
use chronoseal_v2x::types::{Psid, Time64};
use chronoseal_v2x::verify::{CheckKind, Context, Outcome, ResultCode, SkipReason};
use chronoseal_v2x::vss::Relevance;
use chronoseal_v2x_service::hsm::BackEnd;
use chronoseal_v2x_service::pki::{CRL_TYPE, CTL_TYPE, HttpClient, TicketOptions, now};
use chronoseal_v2x_service::vss::{
    ListSource, Lists, Logging, Offered, Pseudonyms, Server, Socket, Trust, Verification, Vss, VssConfig, VssError,
};

use super::{Car, Pki};

/// A station with a ticket of `pki`, and its configuration: it trusts the root and the authority, and asks nobody for lists.
pub(super) struct Rig {
    pub(super) config: VssConfig,
    folder: tempfile::TempDir,
}

impl Rig {
    pub(super) fn new(pki: &Pki) -> Self {
        let car = Car::enrolled_at(pki);
        pki.authorize(&car, &TicketOptions::default()).unwrap();
        let Car { client, folder } = car;
        // One process at a time opens the keys.
        drop(client);
        let place = |name: &str| folder.path().join(name);
        for (name, role) in
            [("rca.oer", Role::Root), ("aa.oer", Role::Authorization), ("tlm.oer", Role::TrustListManager)]
        {
            std::fs::write(place(name), pki.server.certificate(role).certificate().as_bytes()).unwrap();
        }
        let config = VssConfig {
            folder: folder.path().to_owned(),
            hsm: BackEnd::Software { folder: place("keys"), predefined: None },
            pin_file: place("pin"),
            trust: Trust { roots: vec![place("rca.oer")], authorities: vec![place("aa.oer")], ..Trust::default() },
            pseudonyms: Pseudonyms { ask: false, ..Pseudonyms::default() },
            authority: None,
            lists: Lists::default(),
            socket: Socket::default(),
            misbehaviour: None,
            verification: Verification::default(),
            logging: Logging { file: Some(place("log")), ..Logging::default() },
        };
        Self { config, folder }
    }

    pub(super) fn open(&self) -> Vss {
        Vss::open(&self.config, now()).unwrap().0
    }

    pub(super) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap()
    }

    pub(super) fn place(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

pub(super) fn sign(vss: &mut Vss, at: Time64, payload: &[u8]) -> Vec<u8> {
    vss.create_signature(at, Psid::CAM, payload, None).unwrap()
}

fn refused(vss: &mut Vss) -> VssError {
    let signed = vss.create_signature(now(), Psid::CAM, b"x", None);
    signed.map(drop).expect_err("it signs although its authority is revoked")
}

/// What a receiver makes of it, and what the row on revocation says.
fn judged(vss: &mut Vss, at: Time64, message: &[u8]) -> (ResultCode, Outcome) {
    let verified = vss.verify_signature(message, &Relevance::default(), &Context::at(at));
    (verified.verdict.result(), verified.verdict.check(CheckKind::Revocation).outcome)
}

const NO_LIST: (ResultCode, Outcome) = (ResultCode::Success, Outcome::Skipped(SkipReason::NoList));
const GOOD: (ResultCode, Outcome) = (ResultCode::Success, Outcome::Passed);
const REVOKED: (ResultCode, Outcome) = (
    ResultCode::SpduCertificateChainCertificateRevoked,
    Outcome::Failed(ResultCode::SpduCertificateChainCertificateRevoked),
);

/// One of the lists of `pki`, as it is now.
pub(super) fn fetched(pki: &Pki, what: &str) -> Vec<u8> {
    let content_type = if what == "getcrl" { CRL_TYPE } else { CTL_TYPE };
    let url = format!("{}/{what}/{}", pki.server.url(), pki.server.certificate(Role::Root).id());
    HttpClient::default().get(&url, content_type).unwrap()
}

fn offered(from: &str, list: Vec<u8>) -> Vec<Offered> {
    vec![Offered::new(from, Ok(list))]
}

#[test]
fn a_revoked_authority_is_refused_within_one_refresh_over_the_socket() {
    let pki = Pki::start();
    let (sender, mut receiver) = (Rig::new(&pki), Rig::new(&pki));
    receiver.config.lists = Lists { centres: vec![pki.server.url().to_owned()], refresh_s: 1, ..Lists::default() };
    let mut sender = sender.open();
    let socket = receiver.place("socket");
    let source = ListSource::new(&receiver.config.lists);
    let daemon = Server::bind(&socket, receiver.open()).unwrap().with_lists(source);
    let stop = AtomicBool::new(false);
    let (before, after) = std::thread::scope(|scope| {
        scope.spawn(|| daemon.run(None, &stop).unwrap());
        let mut stream = UnixStream::connect(&socket).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let mut ask = || {
            let message = sign(&mut sender, now(), &now().0.to_be_bytes());
            let body = [&[1, 2, 0, 0, 0, 1, 0][..], &[0xff; 8], &message].concat();
            stream.write_all(&[&u32::try_from(body.len()).unwrap().to_be_bytes()[..], &body].concat()).unwrap();
            let mut len = [0; 4];
            stream.read_exact(&mut len).unwrap();
            let mut answer = vec![0; u32::from_be_bytes(len) as usize];
            stream.read_exact(&mut answer).unwrap();
            (answer[5], String::from_utf8_lossy(&answer).into_owned())
        };
        // The lists are fetched as soon as it serves.
        let until = Instant::now() + Duration::from_secs(5);
        let before = loop {
            let (outcome, text) = ask();
            if !text.contains("no list") || Instant::now() > until {
                break (outcome, text);
            }
            std::thread::sleep(Duration::from_millis(50));
        };
        pki.server.revoke_authority(pki.aa().id()).unwrap();
        std::thread::sleep(Duration::from_millis(2500));
        let after = ask();
        stop.store(true, Ordering::Relaxed);
        (before, after)
    });
    assert_eq!(before.0, 0, "accepted: {}", before.1);
    assert!(!before.1.contains("no list"), "without a list: {}", before.1);
    assert_eq!(after.0, 1, "refused: {}", after.1);
    assert!(after.1.contains("refused by revocation: spduCertificateChainCertificateRevoked"), "{}", after.1);
}

#[test]
fn without_a_list_the_row_says_so_and_with_one_the_own_authority_counts_too() {
    let pki = Pki::start();
    let rig = Rig::new(&pki);
    let mut vss = rig.open();
    let message = sign(&mut vss, now(), b"1");
    assert_eq!(judged(&mut vss, now(), &message), NO_LIST);
    vss.take_lists(offered("crl", fetched(&pki, "getcrl")), now()).unwrap();
    let message = sign(&mut vss, now(), b"2");
    assert_eq!(judged(&mut vss, now(), &message), GOOD);
    let last = sign(&mut vss, now(), b"3");
    // The next list is of a later second.
    std::thread::sleep(Duration::from_millis(1100));
    pki.server.revoke_authority(pki.aa().id()).unwrap();
    vss.take_lists(offered("crl", fetched(&pki, "getcrl")), now()).unwrap();
    let refused = refused(&mut vss);
    assert!(matches!(refused, VssError::OwnAuthorityRevoked(id) if id == pki.aa().id()), "{refused}");
    assert_eq!(vss.statistics().counted("signatures", "refused-revoked"), 1);
    assert_eq!(judged(&mut vss, now(), &last), REVOKED);
}

#[test]
fn nothing_older_is_taken_after_a_restart_either() {
    let pki = Pki::start();
    let rig = Rig::new(&pki);
    let (old_ctl, old_crl) = (fetched(&pki, "getctl"), fetched(&pki, "getcrl"));
    std::thread::sleep(Duration::from_millis(1100));
    pki.server.revoke_authority(pki.aa().id()).unwrap();
    let mut vss = rig.open();
    for what in ["getctl", "getcrl"] {
        vss.take_lists(offered(what, fetched(&pki, what)), now()).unwrap();
    }
    drop((vss, pki));
    let mut vss = rig.open();
    vss.take_lists(offered("old ctl", old_ctl), now()).unwrap();
    vss.take_lists(offered("old crl", old_crl), now()).unwrap();
    let refused = refused(&mut vss);
    assert!(matches!(refused, VssError::OwnAuthorityRevoked(_)), "{refused}");
    let log = rig.log();
    assert!(log.contains("no list from old ctl, the one that is held stays: it is older than"), "{log}");
    assert!(log.contains("no list from old crl, the one that is held stays: it is older than"), "{log}");
}

#[test]
fn what_is_no_good_leaves_the_last_good_list_and_is_said_once() {
    let (pki, foreign) = (Pki::start(), Pki::start());
    let rig = Rig::new(&pki);
    let mut vss = rig.open();
    vss.take_lists(offered("crl", fetched(&pki, "getcrl")), now()).unwrap();
    let mut broken = fetched(&pki, "getcrl");
    *broken.last_mut().unwrap() ^= 1;
    foreign.server.revoke_authority(pki.aa().id()).unwrap();
    let of_foreign = fetched(&foreign, "getcrl");
    // Takes connections and says nothing; and one that has another root's list under our root's name.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = format!("http://{}", silent.local_addr().unwrap());
    let source = |centre: &str| {
        ListSource::new(&Lists { centres: vec![centre.to_owned()], ..Lists::default() })
            .with_time_max(Duration::from_millis(300))
    };
    for _ in 0..3 {
        vss.take_lists(offered("broken", broken.clone()), now()).unwrap();
        vss.take_lists(offered("foreign", of_foreign.clone()), now()).unwrap();
        vss.take_lists(offered("rubbish", b"rubbish".to_vec()), now()).unwrap();
        let wanted = vss.wanted_lists();
        vss.take_lists(source(&silent).fetch_lists(&wanted), now()).unwrap();
        vss.take_lists(source(foreign.server.url()).fetch_lists(&wanted), now()).unwrap();
    }
    let message = sign(&mut vss, now(), b"x");
    assert_eq!(judged(&mut vss, now(), &message), GOOD);
    let log = rig.log();
    for from in ["broken", "foreign", "rubbish", silent.as_str(), foreign.server.url()] {
        let said = log.lines().filter(|line| line.contains(&format!("no list from {from}"))).count();
        let expected = if from.starts_with("http") { 2 } else { 1 };
        assert_eq!(said, expected, "{from}:\n{log}");
    }
    assert!(log.contains("neither a trusted root nor the trust list manager"), "{log}");
    assert!(log.contains("the signature does not verify"), "{log}");
}

#[test]
fn a_list_that_is_too_old_is_policy() {
    let pki = Pki::start();
    let mut rig = Rig::new(&pki);
    // Lists from files; a revocation list is good for a day.
    std::fs::write(rig.place("crl"), fetched(&pki, "getcrl")).unwrap();
    rig.config.lists.files = vec![rig.place("crl")];
    let tomorrow = now().plus_us(2 * 86_400 * 1_000_000);
    let mut vss = rig.open();
    let message = sign(&mut vss, tomorrow, b"1");
    assert_eq!(judged(&mut vss, tomorrow, &message), GOOD);
    for _ in 0..2 {
        vss.take_lists(Vec::new(), tomorrow).unwrap();
    }
    assert_eq!(rig.log().matches("should have been replaced by now").count(), 1, "{}", rig.log());
    drop(vss);
    rig.config.lists.overdue = "refuse".into();
    let mut vss = rig.open();
    let message = sign(&mut vss, tomorrow, b"2");
    assert_eq!(judged(&mut vss, tomorrow, &message).0, ResultCode::SpduCertificateChainOverdueCrl);
    let today = sign(&mut vss, now(), b"3");
    assert_eq!(judged(&mut vss, now(), &today), GOOD);
}

#[test]
fn the_trust_list_manager_names_the_root_and_the_root_its_authority() {
    let pki = Pki::start();
    let sender = Rig::new(&pki);
    let mut receiver = Rig::new(&pki);
    receiver.config.trust = Trust { tlm: Some(receiver.place("tlm.oer")), ..Trust::default() };
    receiver.config.lists.ectl = Some(format!("{}/getectl", pki.server.url()));
    let source = ListSource::new(&receiver.config.lists);
    let (mut sender, mut vss) = (sender.open(), receiver.open());
    let message = sign(&mut sender, now(), b"1");
    let (unknown, _) = judged(&mut vss, now(), &message);
    assert_ne!(unknown, ResultCode::Success, "nobody is trusted yet");
    vss.take_lists(source.fetch_ectl(&vss.wanted_lists()), now()).unwrap();
    // The distribution centre is the one that the list names.
    let wanted = vss.wanted_lists();
    vss.take_lists(source.fetch_lists(&wanted), now()).unwrap();
    assert_eq!(judged(&mut vss, now(), &message), GOOD, "{}", receiver.log());
    drop(vss);
    let mut vss = receiver.open();
    let message = sign(&mut sender, now(), b"2");
    std::thread::sleep(Duration::from_millis(1100));
    let message = [message, sign(&mut sender, now(), b"3")];
    let codes = message.map(|message| judged(&mut vss, now(), &message).0);
    assert!(codes.contains(&ResultCode::Success), "it knows them without a network: {codes:?}");
}
