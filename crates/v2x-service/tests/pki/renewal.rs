//! The daemon renews the station's enrolment credential by itself, by a clock that the tests set.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use chronoseal_v2x::pki::EnrolmentResponseCode;
use chronoseal_v2x::types::{HashedId8, Time64};
use chronoseal_v2x_service::hsm::{BackEnd, KeyHandle};
use chronoseal_v2x_service::pki::{Faults, Meta, certificate_in_use, key_uses};
use chronoseal_v2x_service::vss::{Authority, CredentialKeeper, Overview, Server, pseudonym_source_beside};

use super::Pki;
use super::ahead::{Rig, Stop};
use super::lost_answers::relay;
use super::replays::count;

const S: u64 = 1_000_000;
const DAY: u64 = 86_400 * S;

/// A station whose credential ends in three years, and its daemon.
struct Bench {
    rig: Rig,
    /// The credential it was enrolled with, and when that ends.
    first: HashedId8,
    end: Time64,
}

impl Bench {
    fn new() -> Self {
        let mut rig = Rig::new();
        let url = format!("{}/ea", rig.pki.server.url());
        rig.config.authority.as_mut().unwrap().ea_url = Some(url);
        let certificate = certificate_in_use(&rig.config.folder).unwrap().unwrap();
        let end = certificate.certificate().view().to_be_signed.validity_period.end();
        Self { first: certificate.id(), end, rig }
    }

    fn authority(&mut self) -> &mut Authority {
        self.rig.config.authority.as_mut().unwrap()
    }

    fn current(&self) -> HashedId8 {
        certificate_in_use(&self.rig.config.folder).unwrap().unwrap().id()
    }

    /// Runs the daemon, and does something meanwhile.
    fn serve(&self, meanwhile: impl FnOnce(&Self)) {
        let vss = self.rig.open();
        let (folder, clock) = (&self.rig.config.folder, self.rig.hand.clock());
        let authority = self.rig.config.authority.as_ref().unwrap();
        let keeper = CredentialKeeper::new(folder, authority, vss.hsm().clone(), &clock).unwrap();
        let source = pseudonym_source_beside(&keeper, folder, authority, &clock).unwrap();
        let daemon = Server::bind(&self.rig.place("socket"), vss).unwrap();
        let daemon = daemon.with_clock(clock).with_credential(Some(keeper));
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| daemon.run(Some(source), &stop).unwrap());
            let _stop = Stop(&stop);
            meanwhile(self);
        });
        // The threads that fetch end after the daemon, and keep the station open for that long.
        self.wait(|| !Overview::read(&self.rig.config, self.end).unwrap().is_served);
    }

    fn wait(&self, holds: impl Fn() -> bool) {
        let until = Instant::now() + Duration::from_secs(60);
        while !holds() {
            assert!(Instant::now() < until, "{}", self.rig.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn wait_for_log(&self, text: &str) {
        self.wait(|| self.rig.log().contains(text));
    }

    fn keys(&self) -> usize {
        Overview::read(&self.rig.config, self.end).unwrap().keys.unwrap().len()
    }
}

#[test]
fn the_daemon_renews_its_credential_in_the_last_month_and_its_tickets_are_granted_to_the_new_one() {
    let bench = Bench::new();
    bench.serve(|bench| {
        bench.rig.wait_for(3);
        assert_eq!(bench.current(), bench.first);
        bench.rig.hand.set(Time64(bench.end.0 - 31 * DAY));
        // Tickets of years ago are over; others come with the credential that is still good.
        bench.wait(|| bench.rig.tickets() >= 3 && bench.rig.log().contains("3 pseudonyms to be requested"));
        assert_eq!(bench.current(), bench.first, "it is a month yet");
        bench.rig.hand.set(Time64(bench.end.0 - 15 * DAY));
        bench.wait_for_log("enrolment credential renewed, valid until ");
        assert_ne!(bench.current(), bench.first);
        assert_eq!(count(&bench.rig.pki, "credentials"), 2);
        // The old one is over, and tickets come.
        bench.rig.hand.set(bench.end.plus_us(DAY));
        let before = count(&bench.rig.pki, "confirmed");
        bench.wait(|| count(&bench.rig.pki, "confirmed") > before);
    });
    let log = bench.rig.log();
    assert_eq!(log.matches("credential").count(), 1, "{log}");
    let uses = key_uses(&bench.rig.config.folder).unwrap();
    let of_credentials = uses.values().filter(|of| of.to_string().starts_with("credential")).count();
    assert_eq!(of_credentials, 1, "the key of the old one has gone with it");
}

#[test]
fn an_authority_that_refuses_is_asked_again_and_tickets_are_granted_meanwhile() {
    let bench = Bench::new();
    let refuse = |code| bench.rig.pki.server.set_faults(Faults { enrolment: code, ..Faults::default() });
    refuse(Some(EnrolmentResponseCode::DeniedRequest));
    bench.rig.hand.set(Time64(bench.end.0 - 15 * DAY));
    let keys = bench.keys();
    bench.serve(|bench| {
        bench.wait_for_log("is not renewed: it is asked for again: the enrolment authority refuses: deniedrequest");
        bench.rig.wait_for(3);
        assert_eq!(bench.current(), bench.first);
        for minute in 1..=3 {
            bench.rig.hand.set(Time64(bench.end.0 - 15 * DAY).plus_us(minute * 900 * S));
            std::thread::sleep(Duration::from_millis(700));
        }
        assert_eq!(bench.rig.log().matches("is not renewed").count(), 1, "{}", bench.rig.log());
        refuse(None);
        bench.rig.hand.set(Time64(bench.end.0 - 14 * DAY));
        bench.wait_for_log("enrolment credential renewed");
    });
    assert_ne!(bench.current(), bench.first);
    // Those of the tickets; what was refused left none.
    assert_eq!(bench.keys(), keys + 2 * bench.rig.tickets());
}

#[test]
fn a_credential_that_has_ended_is_said_to_have_and_nothing_is_asked() {
    let bench = Bench::new();
    bench.rig.hand.set(bench.end);
    bench.serve(|bench| {
        bench.wait_for_log("cannot be renewed any more; enrol anew: chronoseal pki enrol");
        std::thread::sleep(Duration::from_millis(1200));
    });
    let log = bench.rig.log();
    assert_eq!((log.matches("enrolment credential").count(), count(&bench.rig.pki, "credentials")), (1, 1), "{log}");
}

#[test]
fn the_wrong_authority_and_none_are_named_as_what_they_are() {
    let mut bench = Bench::new();
    bench.rig.hand.set(Time64(bench.end.0 - 15 * DAY));
    let other = Pki::start();
    let ea = bench.authority().ea.clone();
    std::fs::write(bench.rig.place("other.oer"), other.ea().certificate().as_bytes()).unwrap();
    bench.authority().ea = bench.rig.place("other.oer");
    let named = format!("authority.ea is {}, which has not issued it", other.ea().id());
    bench.serve(|bench| bench.wait_for_log(&named));
    bench.authority().ea = ea;
    bench.authority().ea_url = None;
    bench.serve(|bench| bench.wait_for_log("authority.ea_url does not say where its authority is"));
    // Nobody listens there.
    bench.authority().ea_url = Some("http://127.0.0.1:1/ea".to_owned());
    bench.serve(|bench| bench.wait_for_log("it is asked for again: http://127.0.0.1:1/ea: "));
    assert_eq!((bench.current(), count(&bench.rig.pki, "credentials")), (bench.first, 1));
}

#[test]
fn a_renewal_whose_answer_was_lost_is_asked_for_again_by_the_next_daemon_with_the_same_octets() {
    let mut bench = Bench::new();
    bench.rig.hand.set(Time64(bench.end.0 - 15 * DAY));
    let (url, _) = relay(&bench.rig.pki, "/ea", |number| number < 3);
    bench.authority().ea_url = Some(url);
    bench.serve(|bench| bench.wait_for_log("is not renewed: it is asked for again"));
    assert_eq!((bench.current(), count(&bench.rig.pki, "credentials")), (bench.first, 2), "granted, and lost");
    bench.serve(|bench| bench.wait_for_log("enrolment credential renewed"));
    assert_ne!(bench.current(), bench.first);
    assert_eq!(count(&bench.rig.pki, "credentials"), 2, "the same one");
}

/// The process ends when the new credential is written down, and its request is not yet removed.
#[test]
fn a_request_that_was_left_behind_takes_no_key_of_what_was_granted_to_it() {
    let mut bench = Bench::new();
    bench.rig.hand.set(Time64(bench.end.0 - 15 * DAY));
    let (url, _) = relay(&bench.rig.pki, "/ea", |number| number < 3);
    bench.authority().ea_url = Some(url);
    bench.serve(|bench| bench.wait_for_log("is not renewed"));
    let requests = bench.rig.place("requests");
    let left = std::fs::read_dir(&requests).unwrap().map(|entry| entry.unwrap().path());
    let left: Vec<_> = left.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect();
    bench.serve(|bench| bench.wait_for_log("enrolment credential renewed"));
    for (path, content) in left {
        std::fs::write(path, content).unwrap();
    }
    bench.rig.hand.set(Time64(bench.end.0 - 15 * DAY).plus_us(400 * S));
    let before = count(&bench.rig.pki, "confirmed");
    let handle = key_of(&bench);
    // It is ended with the next request, a ticket's, which the new credential signs.
    bench.rig.hand.set(Time64(bench.end.0 - DAY));
    bench.serve(|bench| bench.wait(|| count(&bench.rig.pki, "confirmed") > before));
    assert_eq!(std::fs::read_dir(&requests).unwrap().count(), 0);
    let keys = Overview::read(&bench.rig.config, bench.end).unwrap().keys.unwrap();
    assert!(keys.iter().any(|row| row.key.handle == handle), "{handle} is that of the credential in use");
}

fn key_of(bench: &Bench) -> KeyHandle {
    let certificate = bench.rig.config.folder.join("ec").join(format!("{}.oer", bench.current()));
    Meta::read(&certificate).unwrap().signing_key
}

#[test]
fn only_one_daemon_at_a_time_serves_a_station_and_whoever_looks_changes_nothing() {
    let bench = Bench::new();
    bench.serve(|bench| {
        bench.rig.wait_for(3);
        let second = chronoseal_v2x_service::vss::Vss::open(&bench.rig.config, bench.rig.hand.clock().now());
        let refused = second.map(drop).unwrap_err().to_string();
        assert!(refused.contains("is open in another process already"), "{refused}");
        let overview = Overview::read(&bench.rig.config, bench.rig.hand.clock().now()).unwrap();
        assert!(overview.is_served && overview.in_use.is_some(), "{overview:?}");
        assert_eq!(
            overview.enrolment.map(|enrolment| (enrolment.id, enrolment.ends_at)),
            Some((bench.first, bench.end))
        );
        let keys = overview.keys.unwrap();
        assert!(keys.iter().all(|row| row.of.is_some()), "{keys:?}");
        assert!(keys.len() >= 2 + 2 * 3, "canonical, credential, and two of each ticket: {keys:?}");
        // A device that only one process can use is left to the daemon.
        let flash = bench.rig.place("flash");
        let mut config = bench.rig.config.clone();
        config.hsm = serde_json::from_value::<BackEnd>(serde_json::json!({
            "kind": "rtl", "engine": "engine", "link": "usb-high", "clock_hz": 1, "flash": flash
        }))
        .unwrap();
        assert!(Overview::read(&config, bench.end).unwrap().keys.is_none());
    });
}
