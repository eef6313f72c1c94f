//! Requests that arrive and answers that do not: what the authorities promise of them, through the client that ships.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chronoseal_v2x::crypto::Curve;
use chronoseal_v2x::pki::Permissions;
use chronoseal_v2x::types::{Duration as Validity, ValidityPeriod};
use chronoseal_v2x::vss::PseudonymOrder;
use chronoseal_v2x_service::pki::{
    Client, Clock, Endpoint, HttpClient, ServiceError, TicketOptions, now, read_certificate,
};
use chronoseal_v2x_service::vss::{Authority, pseudonym_source};

use super::bad_authorities::{read_body, response};
use super::replays::count;
use super::revocation::Rig;
use super::{Car, ID, Pki, key_files};

/// A relay on the way to the authority `path`. It passes requests on, and drops every answer while `drops` says so.
pub(super) fn relay(
    pki: &Pki,
    path: &str,
    drops: impl Fn(usize) -> bool + Send + 'static,
) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}{path}", listener.local_addr().unwrap());
    let target = format!("{}{path}", pki.server.url());
    let dropped = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&dropped);
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            let mut stream: TcpStream = stream.unwrap();
            let request = read_body(&mut stream);
            let Ok(answer) = HttpClient::default().post(&target, &request) else { return };
            if drops(number) {
                counter.fetch_add(1, Ordering::Relaxed);
            } else {
                let _ = stream.write_all(&response("200 OK", "application/x-its-response", &answer).unwrap());
            }
        }
    });
    (url, dropped)
}

fn requests(station: &Path) -> usize {
    std::fs::read_dir(station.join("requests")).map_or(0, Iterator::count)
}

/// What is left of a station when its process ends.
fn ended(car: Car) -> tempfile::TempDir {
    let Car { client, folder } = car;
    drop(client);
    folder
}

/// A station as a process that was just started has it.
fn restarted(folder: &tempfile::TempDir) -> Client {
    Client::new(folder.path(), key_files(folder.path()))
}

#[test]
fn lost_answers_cost_no_quota_over_restarts_either() {
    let pki = Pki::start();
    let car = ended(Car::enrolled_at(&pki));
    // Each client sends a request up to three times; nothing comes back to the first twelve.
    let (url, dropped) = relay(&pki, "/aa", |number| number < 12);
    let aa = Endpoint { certificate: pki.aa(), url: &url };
    let options = TicketOptions::default();
    for _ in 0..4 {
        let error = restarted(&car).authorize(aa, pki.ea(), &options).unwrap_err();
        assert!(matches!(error, ServiceError::Network { .. }), "{error}");
        assert_eq!(count(&pki, "confirmed"), 1, "it was asked for one ticket");
    }
    assert_eq!((dropped.load(Ordering::Relaxed), requests(car.path())), (12, 1));
    let id = restarted(&car).authorize(aa, pki.ea(), &options).unwrap();
    let tickets = restarted(&car).tickets().unwrap();
    assert_eq!((count(&pki, "confirmed"), tickets.len(), tickets[0].0.id()), (1, 1, id));
    assert_eq!(requests(car.path()), 0, "it has been answered");
    // The next one is another one.
    assert_ne!(restarted(&car).authorize(aa, pki.ea(), &options).unwrap(), id);
    assert_eq!(count(&pki, "confirmed"), 2);
}

/// So many as the variable of the environment says, or as many as always.
fn times(variable: &str, always: usize) -> usize {
    std::env::var(variable).map_or(always, |text| text.parse().unwrap_or_else(|_| panic!("{variable} is a number")))
}

/// `LOST_ANSWERS=1000` drops at least so many.
#[test]
fn of_tickets_and_answers_dropped_at_random_as_many_are_counted_as_there_are() {
    let pki = Pki::start();
    let car = ended(Car::enrolled_at(&pki));
    let (url, dropped) = relay(&pki, "/aa", |number| number % 7 < 5);
    let aa = Endpoint { certificate: pki.aa(), url: &url };
    let wanted = times("LOST_ANSWERS", 11);
    let (mut asked, mut unanswered) = (0, 0);
    while dropped.load(Ordering::Relaxed) < wanted {
        asked += 1;
        unanswered += usize::from(restarted(&car).authorize(aa, pki.ea(), &TicketOptions::default()).is_err());
    }
    println!("{unanswered} of {asked} without an answer, {} answers dropped", dropped.load(Ordering::Relaxed));
    let direct = format!("{}/aa", pki.server.url());
    let settled = restarted(&car).settle(Endpoint { certificate: pki.aa(), url: &direct }, None).unwrap();
    assert!(settled.len() <= 1, "one was under way");
    assert!(unanswered > 2);
    let (rows, tickets) = (count(&pki, "confirmed"), restarted(&car).tickets().unwrap().len());
    println!("{rows} counted, {tickets} tickets");
    assert_eq!(rows, i64::try_from(tickets).unwrap());
}

#[test]
fn a_lost_answer_to_an_enrolment_or_a_renewal_makes_no_second_credential() {
    let pki = Pki::start();
    let car = Car::new();
    pki.register(&car, Permissions::tickets());
    let car = ended(car);
    let (url, _) = relay(&pki, "/ea", |number| number < 3 || (4..7).contains(&number));
    let ea = Endpoint { certificate: pki.ea(), url: &url };
    restarted(&car).enrol(ID, ea, Curve::NistP256).unwrap_err();
    let first = restarted(&car).enrol(ID, ea, Curve::NistP256).unwrap();
    assert_eq!(count(&pki, "credentials"), 1);
    restarted(&car).renew(ea, Curve::NistP256).unwrap_err();
    let second = restarted(&car).renew(ea, Curve::NistP256).unwrap();
    assert_ne!(first, second);
    assert_eq!((count(&pki, "credentials"), requests(car.path())), (2, 0));
    assert_eq!(restarted(&car).credential().unwrap().0.id(), second);
}

#[test]
fn what_was_asked_for_otherwise_is_settled_and_not_taken_for_the_other() {
    let pki = Pki::start();
    let car = Car::enrolled_at(&pki);
    let (url, _) = relay(&pki, "/aa", |number| number < 3);
    let aa = Endpoint { certificate: pki.aa(), url: &url };
    let one = TicketOptions { permissions: "36:010000".parse().unwrap(), ..TicketOptions::default() };
    car.client.authorize(aa, pki.ea(), &one).unwrap_err();
    let other = car.client.authorize(aa, pki.ea(), &TicketOptions::default()).unwrap();
    assert_eq!((count(&pki, "confirmed"), requests(car.folder.path())), (2, 1));
    assert_eq!(car.client.settle(aa, Some((pki.ea(), &one))).unwrap(), []);
    let settled = car.client.settle(aa, None).unwrap();
    assert!(settled.len() == 1 && settled[0] != other);
    assert_eq!((count(&pki, "confirmed"), car.client.tickets().unwrap().len()), (2, 2));
    // A beginning that moves with the clock makes no other request; one of another day does.
    let at = |start_s: u64| {
        let start = now().plus_us(start_s * 1_000_000).time32();
        let validity_period = Some(ValidityPeriod { start, duration: Validity::Hours(1) });
        TicketOptions { validity_period, ..TicketOptions::default() }
    };
    let (url, _) = relay(&pki, "/aa", |number| number < 3);
    let aa = Endpoint { certificate: pki.aa(), url: &url };
    car.client.authorize(aa, pki.ea(), &at(3600)).unwrap_err();
    car.client.authorize(aa, pki.ea(), &at(86_400)).unwrap();
    assert_eq!(count(&pki, "confirmed"), 4);
    car.client.authorize(aa, pki.ea(), &at(3602)).unwrap();
    assert_eq!((count(&pki, "confirmed"), requests(car.folder.path())), (4, 0));
}

#[test]
fn a_request_that_no_authority_takes_any_more_goes_with_its_keys() {
    let pki = Pki::start();
    let car = ended(Car::enrolled_at(&pki));
    let keys = || std::fs::read_dir(car.path().join("keys")).unwrap().count();
    let before = keys();
    let (url, _) = relay(&pki, "/aa", |_| true);
    let aa = Endpoint { certificate: pki.aa(), url: &url };
    restarted(&car).authorize(aa, pki.ea(), &TicketOptions::default()).unwrap_err();
    assert!(keys() > before, "its key waits for the answer");
    // A file that is none, and one of a process that ended before it was whole.
    let folder = car.path().join("requests");
    std::fs::write(folder.join("x.json"), "{").unwrap();
    std::fs::write(folder.join("y.part"), "{").unwrap();
    let later = restarted(&car).with_clock(Clock::new(|| now().plus_us(300_000_000)));
    assert_eq!(later.settle(aa, None).unwrap(), []);
    assert_eq!((keys(), requests(car.path())), (before, 1));
    assert!(folder.join("x.damaged").exists());
}

#[test]
fn the_request_on_the_disk_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let pki = Pki::start();
    let car = Car::enrolled_at(&pki);
    let (url, _) = relay(&pki, "/aa", |_| true);
    let aa = Endpoint { certificate: pki.aa(), url: &url };
    car.client.authorize(aa, pki.ea(), &TicketOptions::default()).unwrap_err();
    let folder = car.folder.path().join("requests");
    let file = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    for path in [folder, file] {
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o077, 0, "{}", path.display());
    }
}

/// The daemon asks for four tickets and gets no answer, is ended, and asks again for others, of another period.
#[test]
fn the_daemon_takes_up_after_a_restart_what_it_asked_for_before() {
    let pki = Pki::start();
    let rig = Rig::new(&pki);
    let (url, dropped) = relay(&pki, "/aa", |number| number < 3);
    let place = |name: &str| pki.folder.path().join(name);
    let authority = Authority::new(url, place("aa.oer"), place("ea.oer"));
    let order = |period| PseudonymOrder { count: 4, period };
    let ask = |period| {
        let vss = rig.open();
        let source = pseudonym_source(&rig.config.folder, &authority, vss.hsm().clone(), &Clock::default());
        let station = Mutex::new(vss);
        let asked = source.unwrap()(&station, &order(period));
        (asked.map_err(|error| error.to_string()), station.into_inner().unwrap().unused())
    };
    let (asked, unused) = ask(None);
    assert!(asked.is_err(), "no answer came");
    assert_eq!((unused, dropped.load(Ordering::Relaxed), count(&pki, "confirmed")), (0, 3, 2));
    let start = now().plus_us(86_400_000_000).time32();
    let (asked, unused) = ask(Some(ValidityPeriod { start, duration: Validity::Hours(1) }));
    // One is that of before, three are new; another one is in use.
    assert_eq!((asked, unused, count(&pki, "confirmed")), (Ok(()), 4, 5));
}

/// Asks for tickets until it is killed; started by the next test.
#[test]
#[ignore = "started by another test, and killed"]
fn asks_until_it_is_killed() {
    let place = |name: &str| std::path::PathBuf::from(std::env::var_os(name).unwrap());
    let station = place("CHRONOSEAL_STATION");
    let client = Client::new(&station, key_files(&station));
    let authorities = place("CHRONOSEAL_AUTHORITIES");
    let [aa, ea] = ["aa.oer", "ea.oer"].map(|name| read_certificate(&authorities.join(name)).unwrap());
    let url = std::env::var("CHRONOSEAL_URL").unwrap();
    println!("asking");
    loop {
        client.authorize(Endpoint { certificate: &aa, url: &url }, &ea, &TicketOptions::default()).unwrap();
    }
}

/// `KILLS=100` kills it so many times.
#[test]
fn a_station_that_is_killed_at_any_moment_has_all_tickets_that_were_counted() {
    let pki = Pki::start();
    let car = ended(Car::enrolled_at(&pki));
    let url = format!("{}/aa", pki.server.url());
    for number in 0..times("KILLS", 12) as u64 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "pki::lost_answers::asks_until_it_is_killed", "--ignored", "--nocapture"])
            .env("CHRONOSEAL_STATION", car.path())
            .env("CHRONOSEAL_AUTHORITIES", pki.folder.path())
            .env("CHRONOSEAL_URL", &url)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = child.stdout.take().unwrap();
        let mut seen = Vec::new();
        while !String::from_utf8_lossy(&seen).contains("asking") {
            let mut byte = [0];
            assert_eq!(out.read(&mut byte).unwrap(), 1, "{}", String::from_utf8_lossy(&seen));
            seen.push(byte[0]);
        }
        std::thread::sleep(Duration::from_millis(number * 37 % 200));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    // What it had asked the authority may still be on its way through it.
    std::thread::sleep(Duration::from_millis(500));
    let settled = restarted(&car).settle(Endpoint { certificate: pki.aa(), url: &url }, None).unwrap();
    let (rows, tickets) = (count(&pki, "confirmed"), restarted(&car).tickets().unwrap().len());
    println!("{rows} counted, {tickets} tickets, {} of them settled at the end", settled.len());
    assert!(rows > 0);
    assert_eq!(rows, i64::try_from(tickets).unwrap());
}
