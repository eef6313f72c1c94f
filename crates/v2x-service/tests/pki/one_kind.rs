//! Tickets do not tell who fetched them: those of the command line and those of the daemon are of one kind.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use chronoseal_v2x::certificate::legible_fields;
use chronoseal_v2x::lint::{BatchTicket, linking};
use chronoseal_v2x::message::SignerCertificate;
use chronoseal_v2x::pki::{Permissions, Role, Station, TicketPeriods};
use chronoseal_v2x::types::{Certificate, Time64};
use chronoseal_v2x_service::hsm::BackEnd;
use chronoseal_v2x_service::pki::{Clock, Endpoint, TicketOptions, now, read_certificate};
use chronoseal_v2x_service::vss::{
    Authority, Lists, Logging, Pseudonyms, Server, Socket, Trust, Verification, Vss, VssConfig, pseudonym_source,
};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng as _};

use super::{Car, Pki, station_of};

const VEHICLES: usize = 24;
/// How many tickets of each vehicle the command line fetches, and then the daemon.
const FETCHED: [usize; 2] = [3, 3];
const PAIRS: usize = 1_000;
/// All that is legible in a ticket but for its keys.
type Kind = Vec<(&'static str, Vec<u8>)>;
const WEEK_US: u64 = 7 * 86_400 * 1_000_000;

/// The middle of a week, so that all tickets are of one.
fn midweek() -> Clock {
    let at = Time64(now().0 / WEEK_US * WEEK_US + WEEK_US / 2);
    Clock::new(move || at)
}

/// The configuration of the guide to stations, with more tickets wanted than the car has.
fn configuration(car: &Path, pki: &Pki) -> VssConfig {
    let place = |name: &str| car.join(name);
    for (name, role) in [("rca.oer", Role::Root), ("aa.oer", Role::Authorization), ("ea.oer", Role::Enrolment)] {
        std::fs::write(place(name), pki.server.certificate(role).certificate().as_bytes()).unwrap();
    }
    // One ticket is in use, the others are unused.
    let wanted = FETCHED.iter().sum::<usize>() - 1;
    VssConfig {
        folder: car.to_owned(),
        hsm: BackEnd::Software { folder: place("keys"), predefined: None },
        pin_file: place("pin"),
        trust: Trust { roots: vec![place("rca.oer")], authorities: vec![place("aa.oer")], ..Trust::default() },
        pseudonyms: Pseudonyms { low_water: wanted, preload: wanted, policy: "none".into(), ..Pseudonyms::default() },
        authority: Some(Authority::new(format!("{}/aa", pki.server.url()), place("aa.oer"), place("ea.oer"))),
        lists: Lists::default(),
        socket: Socket::default(),
        misbehaviour: None,
        verification: Verification::default(),
        logging: Logging { file: Some(place("log")), ..Logging::default() },
    }
}

fn tickets_in(car: &Path) -> Vec<SignerCertificate> {
    let Ok(names) = std::fs::read_dir(car.join("at")) else { return Vec::new() };
    let mut paths: Vec<_> = names.map(|name| name.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|one| one == "oer"));
    paths.sort();
    paths.iter().map(|path| read_certificate(path).unwrap()).collect()
}

/// Serves until the tickets are there.
fn run_daemon(config: &VssConfig, clock: &Clock, tickets: usize) {
    let (vss, _) = Vss::open(config, clock.now()).unwrap();
    let authority = config.authority.as_ref().unwrap();
    let source = pseudonym_source(&config.folder, authority, vss.hsm().clone(), clock).unwrap();
    let daemon = Server::bind(&config.folder.join("socket"), vss).unwrap().with_clock(clock.clone());
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let served = scope.spawn(|| daemon.run(Some(source), &stop));
        let until = Instant::now() + Duration::from_secs(60);
        while tickets_in(&config.folder).len() < tickets && Instant::now() < until && !served.is_finished() {
            std::thread::sleep(Duration::from_millis(10));
        }
        stop.store(true, Ordering::Relaxed);
        served.join().unwrap().unwrap();
    });
    let log = std::fs::read_to_string(config.folder.join("log")).unwrap_or_default();
    assert_eq!(tickets_in(&config.folder).len(), tickets, "{log}");
}

/// The tickets of one vehicle: first as `chronoseal pki authorize` fetches them, then the daemon.
fn fetch(pki: &Pki, clock: &Clock, number: usize) -> [Vec<SignerCertificate>; 2] {
    let mut car = Car::new();
    car.client = car.client.clone().with_clock(clock.clone());
    let id = number.to_be_bytes().to_vec();
    let station = Station { canonical_id: id.clone(), permissions: Permissions::tickets(), ..station_of(&car) };
    pki.server.store().lock().unwrap().replace_station(&station).unwrap();
    let [ea_url, aa_url] = ["ea", "aa"].map(|name| format!("{}/{name}", pki.server.url()));
    let curve = TicketOptions::default().curve;
    car.client.enrol(&id, Endpoint { certificate: pki.ea(), url: &ea_url }, curve).unwrap();
    let aa = Endpoint { certificate: pki.aa(), url: &aa_url };
    for _ in 0..FETCHED[0] {
        car.client.authorize(aa, pki.ea(), &TicketOptions::default()).unwrap();
    }
    let by_command = tickets_in(car.folder.path());
    let Car { client, folder } = car;
    // One process at a time opens the keys.
    drop(client);
    run_daemon(&configuration(folder.path(), pki), clock, FETCHED.iter().sum());
    let mut by_daemon = tickets_in(folder.path());
    by_daemon.retain(|ticket| by_command.iter().all(|known| known.id() != ticket.id()));
    [by_command, by_daemon]
}

/// In how many fields two tickets differ: all that is legible, with keys and signatures by their kind.
fn distance(one: &SignerCertificate, other: &SignerCertificate) -> usize {
    let [one, other] = [one, other].map(|ticket| legible_fields(&ticket.certificate().view()));
    one.iter().zip(&other).filter(|(one, other)| !one.is_own && one.value != other.value).count()
}

/// Of so many triples, a ticket with one that is of the same vehicle and one of another, how often whoever compares all fields picks
/// the right one; a coin decides where they say nothing.
fn linked(fleet: &[Vec<SignerCertificate>]) -> usize {
    let mut numbers = ChaCha20Rng::seed_from_u64(42);
    let mut pick = |count: usize| (numbers.next_u64() % count as u64) as usize;
    (0..PAIRS)
        .filter(|_| {
            let vehicle = pick(fleet.len());
            let other = (vehicle + 1 + pick(fleet.len() - 1)) % fleet.len();
            let (own, stranger) = (&fleet[vehicle], &fleet[other][pick(fleet[other].len())]);
            let heard = pick(own.len());
            let same = (heard + 1 + pick(own.len() - 1)) % own.len();
            match distance(&own[heard], &own[same]).cmp(&distance(&own[heard], stranger)) {
                core::cmp::Ordering::Less => true,
                core::cmp::Ordering::Equal => pick(2) == 0,
                core::cmp::Ordering::Greater => false,
            }
        })
        .count()
}

/// Wilson's interval of a share that holds the true one in 99 % of cases (E. B. Wilson, JASA 22 (1927) 209-212).
fn interval_99(hits: usize, of: usize) -> [f64; 2] {
    const Z: f64 = 2.575_829;
    let (n, p) = (of as f64, hits as f64 / of as f64);
    let middle = (p + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
    let half = Z / (1.0 + Z * Z / n) * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    [middle - half, middle + half]
}

#[test]
fn tickets_of_command_line_and_daemon_are_of_one_kind_and_link_nobody() {
    let clock = midweek();
    let pki = Pki::start_with(|options| {
        options.clock = clock.clone();
        options.ticket_periods = TicketPeriods::Weeks;
    });
    let fleet: Vec<_> = (0..VEHICLES).map(|number| fetch(&pki, &clock, number)).collect();
    let mut kinds: [BTreeSet<Kind>; 2] = Default::default();
    for by in &fleet {
        for (kinds, tickets) in kinds.iter_mut().zip(by) {
            assert_eq!(tickets.len(), 3);
            kinds.extend(tickets.iter().map(|ticket| {
                let fields = legible_fields(&ticket.certificate().view()).into_iter();
                fields.filter(|field| !field.is_own).map(|field| (field.name, field.value)).collect()
            }));
        }
    }
    assert_eq!(kinds[0].len(), 1, "the command line alone: {:?}", kinds[0]);
    assert_eq!(kinds[0], kinds[1]);

    let mixed: Vec<Vec<SignerCertificate>> = fleet.iter().map(|by| by.concat()).collect();
    let daemons: Vec<_> = fleet.iter().map(|by| by[1].clone()).collect();
    // Half of the vehicles have no daemon: if their tickets were of another kind, the kind would link them.
    let either: Vec<_> = fleet
        .iter()
        .enumerate()
        .map(|(number, [by_command, _])| if number % 2 == 0 { by_command.clone() } else { mixed[number].clone() })
        .collect();
    for (whose, fleet) in [("daemon", &daemons), ("command line and daemon", &mixed), ("either", &either)] {
        let linked = linked(fleet);
        let [low, high] = interval_99(linked, PAIRS);
        println!(
            "{whose}: {linked} of {PAIRS} pairs linked, 99 % interval {:.1} to {:.1} %",
            100.0 * low,
            100.0 * high
        );
        assert!(low <= 0.5 && 0.5 <= high, "{whose}: {linked} of {PAIRS}");
    }

    let views = |tickets: &[SignerCertificate]| -> Vec<_> {
        tickets.iter().map(|ticket| ticket.certificate().clone()).collect()
    };
    let (own, others) = (views(&mixed[0]), views(&mixed[1..].concat()));
    let [own, others] = [&own, &others].map(|all| all.iter().map(|one| one.view()).collect::<Vec<Certificate<'_>>>());
    let own: Vec<_> = own.into_iter().map(|certificate| BatchTicket { name: "own", certificate }).collect();
    let report = linking(&own, &others);
    assert!(report.is_clean(), "{:?}", report.findings);
}
