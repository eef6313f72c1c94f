//! What changed in trust lists, from files and from distribution centres, good ones and others.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chronoseal_v2x::certificate::hashed_id8;
use chronoseal_v2x::crypto::{Curve, SoftwareKey};
use chronoseal_v2x::message::SignerCertificate;
use chronoseal_v2x::pki::{
    AaEntry, Authority, CtlCommand, CtlDelete, CtlEntry, ListKind, Role, RootCaEntry, issue_authority, sign_trust_list,
};
use chronoseal_v2x::types::{CertificateBuf, HashedId8};
use chronoseal_v2x_service::hsm::BackEnd;
use chronoseal_v2x_service::pki::{CRL_TYPE, CTL_TYPE, Clock, HttpClient, now};
use chronoseal_v2x_service::vss::{
    ListSource, Lists, Logging, Offered, Pseudonyms, Socket, Trust, Verification, Vss, VssConfig,
};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

use super::Pki;
use super::revocation::{Rig, fetched};

/// A distribution centre that answers as it is told, and remembers what it was asked.
struct Centre {
    url: String,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// What is at which path; nothing: it takes the request and says no more.
    lists: BTreeMap<String, Option<Vec<u8>>>,
    asked: Vec<String>,
}

impl Centre {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        // Ends with the process of the tests.
        std::thread::spawn(move || {
            let mut silent = Vec::new();
            for stream in listener.incoming() {
                let mut stream = BufReader::new(stream.unwrap());
                let mut first = String::new();
                stream.read_line(&mut first).unwrap();
                let mut line = String::new();
                while stream.read_line(&mut line).unwrap() > 2 {
                    line.clear();
                }
                let path = first.split(' ').nth(1).unwrap().to_owned();
                let mut state = shared.lock().unwrap();
                state.asked.push(path.clone());
                let content_type = if path.starts_with("/getcrl") { CRL_TYPE } else { CTL_TYPE };
                let (status, body) = match state.lists.get(&path) {
                    Some(Some(list)) => ("200 OK", list.as_slice()),
                    Some(None) => {
                        silent.push(stream);
                        continue;
                    }
                    None => ("404 Not Found", &[][..]),
                };
                let len = body.len();
                let head = format!(
                    "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {len}\r\nConnection: close\r\n\r\n"
                );
                let answered = stream.get_mut().write_all(&[head.as_bytes(), body].concat());
                drop((answered, state));
            }
        });
        Self { url, state }
    }

    fn has(&self, path: impl Into<String>, list: Option<Vec<u8>>) {
        self.state.lock().unwrap().lists.insert(path.into(), list);
    }

    /// What it was asked since the last time.
    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.state.lock().unwrap().asked)
    }
}

/// A root, or a trust list manager, with its lists.
struct Signer {
    authority: Authority,
    kind: ListKind,
    /// Whom its list names.
    named: CertificateBuf,
}

impl Signer {
    fn new(role: Role, rng: &mut ChaCha20Rng) -> Self {
        let mut key = SoftwareKey::generate(Curve::NistP256, rng);
        let public = key.public_point();
        let certificate = issue_authority(role, "lists", &public, None, None, &mut key, now().time32()).unwrap();
        let mut of_authority = SoftwareKey::generate(Curve::NistP256, rng);
        let encryption = SoftwareKey::generate(Curve::NistP256, rng).public_point();
        let (kind, named) = if role == Role::Root {
            let (public, issuer) = (of_authority.public_point(), Some(&certificate));
            let role = Role::Authorization;
            let named = issue_authority(role, "aa", &public, Some(&encryption), issuer, &mut key, now().time32());
            (ListKind::Root, named.unwrap())
        } else {
            let public = of_authority.public_point();
            let named = issue_authority(Role::Root, "rca", &public, None, None, &mut of_authority, now().time32());
            (ListKind::TrustListManager, named.unwrap())
        };
        let certificate = SignerCertificate::new(certificate).unwrap();
        Self { authority: Authority { certificate, signing_key: Box::new(key), decryption_key: None }, kind, named }
    }

    fn id(&self) -> HashedId8 {
        self.authority.certificate.id()
    }

    /// The authority, or root, that its list names.
    fn named_id(&self) -> HashedId8 {
        hashed_id8(&self.named.view()).unwrap()
    }

    fn sign(&mut self, number: u8, is_full: bool, commands: Vec<CtlCommand<'_>>) -> Vec<u8> {
        sign_trust_list(&mut self.authority, self.kind, (is_full, number), commands, now(), 3600).unwrap()
    }

    /// The whole list of this number, which names somebody or nobody any more.
    fn whole(&mut self, number: u8, has_any: bool) -> Vec<u8> {
        let named = self.named.clone();
        let certificate = named.view();
        let entry = match self.kind {
            ListKind::Root => CtlEntry::Aa(AaEntry { aa_certificate: certificate, access_point: "http://127.0.0.1:1" }),
            ListKind::TrustListManager => {
                CtlEntry::Rca(RootCaEntry { self_signed_root_ca: certificate, successor_to: None })
            }
        };
        let commands = if has_any { vec![CtlCommand::Add(entry)] } else { Vec::new() };
        self.sign(number, true, commands)
    }

    /// What changed from the list before this number.
    fn change(&mut self, number: u8, deletes: bool) -> Vec<u8> {
        let id = self.named_id();
        let commands = if deletes { vec![CtlCommand::Delete(CtlDelete::Cert(id))] } else { Vec::new() };
        self.sign(number, false, commands)
    }
}

/// A station that takes its lists from a centre, which has number 1 of its root's.
struct Bench {
    root: Signer,
    config: VssConfig,
    centre: Centre,
    source: ListSource,
    vss: Mutex<Vss>,
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        Self::with(Role::Root)
    }

    fn with(role: Role) -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(8);
        let mut root = Signer::new(role, &mut rng);
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        std::fs::write(place("signer.oer"), root.authority.certificate.certificate().as_bytes()).unwrap();
        std::fs::write(place("pin"), "4711\n").unwrap();
        std::fs::set_permissions(place("pin"), std::fs::Permissions::from_mode(0o600)).unwrap();
        let centre = Centre::start();
        let (trust, lists) = if role == Role::Root {
            let centres = vec![centre.url.clone()];
            (Trust { roots: vec![place("signer.oer")], ..Trust::default() }, Lists { centres, ..Lists::default() })
        } else {
            let ectl = Some(format!("{}/getectl", centre.url));
            (Trust { tlm: Some(place("signer.oer")), ..Trust::default() }, Lists { ectl, ..Lists::default() })
        };
        let config = VssConfig {
            folder: folder.path().to_owned(),
            hsm: BackEnd::Software { folder: place("keys"), predefined: None },
            pin_file: place("pin"),
            trust,
            pseudonyms: Pseudonyms { ask: false, ..Pseudonyms::default() },
            authority: None,
            lists,
            socket: Socket::default(),
            misbehaviour: None,
            verification: Verification::default(),
            logging: Logging { file: Some(place("log")), ..Logging::default() },
        };
        let source = ListSource::new(&config.lists).with_time_max(Duration::from_millis(300));
        let vss = Mutex::new(Vss::open(&config, now()).unwrap().0);
        let whole = root.whole(1, true);
        let bench = Self { root, config, centre, source, vss, folder };
        bench.centre.has(bench.path(None), Some(whole));
        bench
    }

    /// Where the trust list is, or what changed since the number `since`.
    fn path(&self, since: Option<u8>) -> String {
        let whole = match self.root.kind {
            ListKind::Root => format!("/getctl/{}", self.root.id()),
            ListKind::TrustListManager => "/getectl".to_owned(),
        };
        since.map_or(whole.clone(), |since| format!("{whole}/{since}"))
    }

    /// What trust lists the centre is asked for by one refresh.
    fn refresh(&self) -> Vec<String> {
        self.centre.asked();
        self.source.refresh(&self.vss, &Clock::default());
        self.centre.asked().into_iter().filter(|path| !path.starts_with("/getcrl")).collect()
    }

    fn number(&self) -> Option<u8> {
        let wanted = self.vss.lock().unwrap().wanted_lists();
        wanted.numbers.get(&self.root.id()).copied().or(wanted.ectl.map(|(_, number)| number))
    }

    /// Whether the authority on the list, or the root, is trusted.
    fn is_trusted(&self) -> bool {
        let mut vss = self.vss.lock().unwrap();
        let id = self.root.named_id();
        let is_listed = vss.wanted_lists().roots.contains(&id);
        is_listed || vss.verifier_mut().trust().authority(id).is_some()
    }

    /// What the log says of lists, but of revocation lists, of which the centre has none.
    fn log(&self) -> String {
        let log = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        log.lines().filter(|line| !line.contains("/getcrl/")).fold(String::new(), |log, line| log + line + "\n")
    }
}

#[test]
fn a_centre_is_asked_what_changed_since_the_list_that_is_held() {
    for role in [Role::Root, Role::TrustListManager] {
        let mut bench = Bench::with(role);
        assert_eq!(bench.refresh(), [bench.path(None)], "{role}");
        assert!(bench.is_trusted(), "{role}: {}", bench.log());
        let (nothing, deleted) = (bench.root.change(2, false), bench.root.change(3, true));
        bench.centre.has(bench.path(Some(1)), Some(nothing));
        assert_eq!(bench.refresh(), [bench.path(Some(1))], "{role}");
        assert_eq!((bench.number(), bench.is_trusted()), (Some(2), true), "{role}: {}", bench.log());
        bench.centre.has(bench.path(Some(2)), Some(deleted));
        assert_eq!(bench.refresh(), [bench.path(Some(2))], "{role}");
        assert_eq!((bench.number(), bench.is_trusted()), (Some(3), false), "{role}: {}", bench.log());
        let log = bench.log();
        let taken = format!("taken from {}{}, number 3", bench.centre.url, bench.path(Some(2)));
        assert!(log.contains(&taken) && !log.contains("no list from"), "{log}");
        // After a restart it is held as it was put together.
        let Bench { vss, config, folder, .. } = bench;
        drop(vss);
        let (vss, warnings) = Vss::open(&config, now()).unwrap();
        assert!(warnings.0.is_empty(), "{warnings:?}");
        let wanted = vss.wanted_lists();
        let held = wanted.numbers.into_values().chain(wanted.ectl.map(|(_, number)| number));
        assert_eq!(held.collect::<Vec<_>>(), [3], "{role}");
        drop(folder);
    }
}

#[test]
fn a_station_that_missed_a_list_or_asks_a_centre_without_changes_takes_the_whole_one_at_once() {
    let mut bench = Bench::new();
    bench.refresh();
    // What changed since number 1 leads to number 3, and is signed as what changed since number 2.
    let (change, whole) = (bench.root.change(3, false), bench.root.whole(3, true));
    bench.centre.has(bench.path(Some(1)), Some(change));
    bench.centre.has(bench.path(None), Some(whole));
    assert_eq!(bench.refresh(), [bench.path(Some(1)), bench.path(None)]);
    assert_eq!(bench.number(), Some(3));
    // The centre does not say what changed since 3.
    let whole = bench.root.whole(4, true);
    bench.centre.has(bench.path(None), Some(whole));
    assert_eq!(bench.refresh(), [bench.path(Some(3)), bench.path(None)]);
    assert_eq!((bench.number(), bench.is_trusted()), (Some(4), true));
    assert!(!bench.log().contains("no list from"), "nothing is wrong with that: {}", bench.log());
}

#[test]
fn a_list_of_many_changes_is_fetched_whole_again() {
    let mut bench = Bench::new();
    bench.refresh();
    let mut whole = Vec::new();
    for number in 2..40 {
        let (change, list) = (bench.root.change(number, false), bench.root.whole(number, true));
        bench.centre.has(bench.path(Some(number - 1)), Some(change));
        bench.centre.has(bench.path(None), Some(list));
        if bench.refresh().contains(&bench.path(None)) {
            whole.push(number);
        }
        assert!(bench.log().trim_end().ends_with(&format!(", number {number}")), "{}", bench.log());
    }
    assert_eq!(whole, [18, 35], "after sixteen changes");
}

#[test]
fn changes_that_are_no_good_leave_the_last_good_list_and_are_said_once() {
    for (what, reason) in [
        ("slow", "timeout"),
        ("of another root", "neither a trusted root nor the trust list manager"),
        ("older", "it is older than the one that is held: number 1 after number 2"),
        ("broken", "the signature does not verify"),
    ] {
        let mut bench = Bench::new();
        bench.refresh();
        let change = bench.root.change(2, false);
        bench.centre.has(bench.path(Some(1)), Some(change));
        bench.refresh();
        assert_eq!(bench.number(), Some(2), "{what}");
        let list = match what {
            "slow" => None,
            "of another root" => Some(Signer::new(Role::Root, &mut ChaCha20Rng::seed_from_u64(9)).whole(3, false)),
            "older" => Some(bench.root.whole(1, false)),
            _ => {
                let mut broken = bench.root.whole(3, false);
                *broken.last_mut().unwrap() ^= 1;
                Some(broken)
            }
        };
        for path in [bench.path(Some(2)), bench.path(None)] {
            bench.centre.has(path, list.clone());
        }
        for _ in 0..3 {
            bench.refresh();
            assert!(bench.is_trusted(), "{what}: the last good list has its authority");
        }
        let log = bench.log();
        for path in [bench.path(Some(2)), bench.path(None)] {
            let line = format!("no list from {}{path}, the one that is held stays: ", bench.centre.url);
            let said: Vec<&str> = log.lines().filter(|text| text.contains(&line)).collect();
            assert!(said.len() == 1 && said[0].contains(reason), "{what}, {path}:\n{log}");
        }
        // And a good one is taken: until there is one, the whole list is asked for.
        let good = bench.root.whole(3, false);
        bench.centre.has(bench.path(None), Some(good));
        bench.refresh();
        assert_eq!((bench.number(), bench.is_trusted()), (Some(3), false), "{what}: {}", bench.log());
    }
}

fn offered(from: &str, list: Vec<u8>) -> Vec<Offered> {
    vec![Offered::new(from, Ok(list))]
}

#[test]
fn changes_follow_the_full_list_they_belong_to() {
    let pki = Pki::start();
    let rig = Rig::new(&pki);
    let url = format!("{}/getctl/{}", pki.server.url(), pki.server.certificate(Role::Root).id());
    let (full, first) = (fetched(&pki, "getctl"), 1);
    pki.server.revoke_authority(pki.ea().id()).unwrap();
    let delta = HttpClient::default().get(&format!("{url}/{first}"), CTL_TYPE).unwrap();
    let mut vss = rig.open();
    vss.take_lists(offered("early", delta.clone()), now()).unwrap();
    assert!(rig.log().contains("it says what changed up to number 2, and number none is held"), "{}", rig.log());
    vss.take_lists(offered("full", full), now()).unwrap();
    vss.take_lists(offered("delta", delta), now()).unwrap();
    let log = rig.log();
    assert!(log.contains("taken from full, number 1") && log.contains("taken from delta, number 2"), "{log}");
    drop(vss);
    let (_, warnings) = Vss::open(&rig.config, now()).unwrap();
    assert!(warnings.0.is_empty(), "{warnings:?}");
}
