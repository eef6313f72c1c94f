//! The tickets of the next week: asked for before this one ends, with an authority of our own that confirms weeks, by a clock that
//! the tests set.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use chronoseal_v2x::pki::{Permissions, Role, TicketPeriods};
use chronoseal_v2x::types::{Psid, Time64};
use chronoseal_v2x_service::hsm::BackEnd;
use chronoseal_v2x_service::pki::{Clock, now};
use chronoseal_v2x_service::vss::{
    Authority, Lists, Logging, Notice, Pseudonyms, Server, Socket, Trust, Verification, Vss, VssConfig,
    pseudonym_source,
};

use super::{Car, Pki};

const S: u64 = 1_000_000;
const DAY: u64 = 86_400 * S;

/// A clock that stands where it is set.
#[derive(Clone)]
pub(super) struct Hand(Arc<AtomicU64>);

impl Hand {
    pub(super) fn clock(&self) -> Clock {
        let hand = Arc::clone(&self.0);
        Clock::new(move || Time64(hand.load(Ordering::SeqCst)))
    }

    pub(super) fn set(&self, at: Time64) {
        self.0.store(at.0, Ordering::SeqCst);
    }
}

/// A week of TAI, the clock in its middle, an authority, and a station that is enrolled there and has no tickets.
pub(super) struct Rig {
    pub(super) hand: Hand,
    /// When the week is over.
    pub(super) end: Time64,
    pub(super) pki: Pki,
    pub(super) config: VssConfig,
    folder: tempfile::TempDir,
}

impl Rig {
    pub(super) fn new() -> Self {
        let end = Time64((now().0 / (7 * DAY) + 2) * 7 * DAY);
        let hand = Hand(Arc::new(AtomicU64::new(end.0 - 4 * DAY)));
        let pki = Pki::start_with(|options| {
            options.clock = hand.clock();
            options.ticket_periods = TicketPeriods::Weeks;
        });
        let mut car = Car::new();
        car.client = car.client.clone().with_clock(hand.clock());
        pki.register(&car, Permissions::tickets());
        pki.enrol(&car).unwrap();
        let Car { client, folder } = car;
        // One process at a time opens the keys.
        drop(client);
        let place = |name: &str| folder.path().join(name);
        for (name, role) in [("rca.oer", Role::Root), ("aa.oer", Role::Authorization), ("ea.oer", Role::Enrolment)] {
            std::fs::write(place(name), pki.server.certificate(role).certificate().as_bytes()).unwrap();
        }
        let config = VssConfig {
            folder: folder.path().to_owned(),
            hsm: BackEnd::Software { folder: place("keys"), predefined: None },
            pin_file: place("pin"),
            trust: Trust { roots: vec![place("rca.oer")], authorities: vec![place("aa.oer")], ..Trust::default() },
            pseudonyms: Pseudonyms { low_water: 2, preload: 3, policy: "none".into(), ..Pseudonyms::default() },
            authority: Some(Authority::new(format!("{}/aa", pki.server.url()), place("aa.oer"), place("ea.oer"))),
            lists: Lists::default(),
            socket: Socket::default(),
            misbehaviour: None,
            verification: Verification::default(),
            logging: Logging { file: Some(place("log")), ..Logging::default() },
        };
        Self { hand, end, pki, config, folder }
    }

    pub(super) fn open(&self) -> Vss {
        Vss::open(&self.config, self.hand.clock().now()).unwrap().0
    }

    pub(super) fn place(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn log(&self) -> String {
        std::fs::read_to_string(self.place("log")).unwrap()
    }

    pub(super) fn tickets(&self) -> usize {
        let Ok(names) = std::fs::read_dir(self.place("at")) else { return 0 };
        names
            .filter(|name| Path::new(&name.as_ref().unwrap().file_name()).extension().is_some_and(|one| one == "oer"))
            .count()
    }

    pub(super) fn wait_for(&self, tickets: usize) {
        let until = Instant::now() + Duration::from_secs(60);
        while self.tickets() < tickets {
            assert!(Instant::now() < until, "{} of {tickets} tickets:\n{}", self.tickets(), self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// A program that signs, and is a layer if it registered as one.
struct Program(UnixStream);

impl Program {
    fn connect(socket: &Path) -> Self {
        let stream = UnixStream::connect(socket).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        Self(stream)
    }

    fn send(&mut self, operation: u8, body: &[u8]) {
        let body = [&[1, operation, 0, 0, 0, 7][..], body].concat();
        self.0.write_all(&[&u32::try_from(body.len()).unwrap().to_be_bytes()[..], &body].concat()).unwrap();
    }

    /// The answer to what was sent; a question to the layer in between is answered, too.
    fn receive(&mut self) -> (u8, Vec<u8>) {
        let (mut answer, mut answered) = (None, 0);
        loop {
            if answered == 0
                && let Some(answer) = answer.take()
            {
                return answer;
            }
            let mut len = [0; 4];
            self.0.read_exact(&mut len).unwrap();
            let mut frame = vec![0; u32::from_be_bytes(len) as usize];
            self.0.read_exact(&mut frame).unwrap();
            match (frame[0], frame[5..].first()) {
                (0x80, Some(1)) => {
                    answered += 1;
                    self.send(9, &[&frame[6..8], &[1]].concat());
                }
                (0x80, _) => {}
                (0, Some(1)) if frame.len() == 6 => answered -= 1,
                _ => answer = Some((frame[0], frame[5..].to_vec())),
            }
        }
    }

    fn register(&mut self) {
        self.send(8, &[]);
        assert_eq!(self.receive().0, 0);
    }

    /// The signed message, or why there is none.
    fn sign(&mut self) -> Result<Vec<u8>, String> {
        self.send(1, &[&36_u32.to_be_bytes()[..], &[0], b"here"].concat());
        let (status, body) = self.receive();
        if status == 0 { Ok(body) } else { Err(String::from_utf8(body).unwrap()) }
    }
}

/// Ends the daemon, also when the test fails.
pub(super) struct Stop<'a>(pub(super) &'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Over the socket, ten messages a second from before the end of the week to after it. Gives back why any was refused.
fn signs_over_the_change_of_week(has_layer: bool) -> Vec<String> {
    let rig = Rig::new();
    let vss = rig.open();
    let authority = rig.config.authority.as_ref().unwrap();
    let source = pseudonym_source(&rig.config.folder, authority, vss.hsm().clone(), &rig.hand.clock()).unwrap();
    let socket = rig.place("socket");
    let daemon = Server::bind(&socket, vss).unwrap().with_clock(rig.hand.clock());
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| daemon.run(Some(source), &stop).unwrap());
        let _stop = Stop(&stop);
        let mut program = Program::connect(&socket);
        if has_layer {
            program.register();
        }
        // One in use and three unused.
        rig.wait_for(3);
        program.sign().unwrap();
        // A day before the end, those of the next week are there, too.
        rig.hand.set(Time64(rig.end.0 - DAY));
        rig.wait_for(6);
        // Nobody is asked for anything any more.
        drop(rig.pki);
        let mut refusals = Vec::new();
        for step in 0..40 {
            let at = Time64(rig.end.0 - 2 * S).plus_us(step * S / 10);
            rig.hand.set(at);
            std::thread::sleep(Duration::from_millis(60));
            if let Err(refusal) = program.sign() {
                refusals.push(format!("at {} s: {refusal}", (at.0 as f64 - rig.end.0 as f64) / S as f64));
            }
        }
        refusals
    })
}

#[test]
fn the_daemon_signs_over_the_change_of_week() {
    let refusals = signs_over_the_change_of_week(false);
    assert!(refusals.is_empty(), "{refusals:?}");
}

#[test]
fn the_daemon_with_a_layer_signs_over_the_change_of_week() {
    let refusals = signs_over_the_change_of_week(true);
    // Between the question to the layer and its answer nothing is signed: one message may come in between.
    assert!(refusals.len() <= 1, "{refusals:?}");
    assert!(refusals.iter().all(|refusal| refusal.contains("under way")), "{refusals:?}");
}

#[test]
fn an_authority_that_is_away_for_hours_is_asked_seldom_and_has_granted_all_before_the_week_ends() {
    let rig = Rig::new();
    let mut vss = rig.open();
    let authority = rig.config.authority.clone().unwrap();
    let source_at = |url: String| {
        let away = Authority { url, ..authority.clone() };
        pseudonym_source(&rig.config.folder, &away, vss.hsm().clone(), &rig.hand.clock()).unwrap()
    };
    // Nobody listens there.
    let (mut there, mut away) = (source_at(authority.url.clone()), source_at("http://127.0.0.1:1/aa".to_owned()));
    let back_at = rig.end.0 - DAY + 6 * 3600 * S;
    let (mut asked_away, mut asked_there) = (0, 0);
    let mut at = rig.end.0 - 4 * DAY;
    while at < rig.end.0 {
        rig.hand.set(Time64(at));
        vss.handle_timeout(Time64(at)).unwrap();
        while let Some(notice) = vss.poll_notice() {
            let Notice::RequestPseudonyms(order) = notice else { continue };
            // The source locks the station, as it does in the daemon.
            let station = Mutex::new(vss);
            let is_away = (rig.end.0 - 3 * DAY..back_at).contains(&at);
            let result = if is_away { away(&station, &order) } else { there(&station, &order) };
            vss = station.into_inner().unwrap();
            if is_away {
                asked_away += 1;
                vss.asked_in_vain(Time64(at), &result.unwrap_err().to_string());
            } else {
                asked_there += 1;
                result.unwrap();
            }
        }
        vss.create_signature(Time64(at), Psid::CAM, b"x", None).unwrap();
        at += 60 * S;
    }
    let log = rig.log();
    assert_eq!(asked_there, 2, "at first, and when it was back:\n{log}");
    // It was away for six to thirty hours of those in which it was wanted; each quarter of an hour at most twice, and a few at first.
    assert!((20..=30 * 8 + 10).contains(&asked_away), "{asked_away} times");
    assert_eq!(log.matches("no pseudonyms have come, they are requested again: ").count(), 1, "{log}");
    assert_eq!(rig.tickets(), 6);
    for step in 0..20 {
        vss.create_signature(rig.end.plus_us(step * S / 10), Psid::CAM, b"x", None).unwrap();
    }
}
