//! The same request once more: whoever recorded one on its way can post it as often as he likes.

use chronoseal_v2x::crypto::{Curve, SoftwareKey};
use chronoseal_v2x::message::SignerCertificate;
use chronoseal_v2x::pki::{Applicant, Pending, Permissions, PkiError, TicketWish, request_credential, request_ticket};
use chronoseal_v2x::types::Time64;
use chronoseal_v2x_service::pki::{Clock, HttpClient, TicketOptions, now};
use chronoseal_v2x_service::store::Store;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

use super::{Car, ID, Pki};

fn rng() -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(12)
}

fn ticket_request(pki: &Pki, car: &Car, at: Time64) -> Pending {
    let mut rng = rng();
    let (credential, mut key) = car.client.credential().unwrap();
    let mut ticket_key = SoftwareKey::generate(Curve::NistP256, &mut rng);
    let wish =
        TicketWish { permissions: Permissions::tickets(), validity_period: None, region: None, encryption_key: None };
    request_ticket(&wish, &mut ticket_key, (&credential, &mut key), (pki.aa(), pki.ea()), at, &mut rng).unwrap()
}

fn credential_request(pki: &Pki, car: &Car, at: Time64) -> Pending {
    let mut rng = rng();
    let mut canonical_key = car.client.canonical_key(Curve::NistP256).unwrap();
    let applicant = Applicant::New { canonical_id: ID, canonical_key: &mut canonical_key };
    let mut key = SoftwareKey::generate(Curve::NistP256, &mut rng);
    request_credential(applicant, &mut key, pki.ea(), at, &mut rng).unwrap()
}

fn post(pki: &Pki, path: &str, request: &Pending) -> Vec<u8> {
    HttpClient::default().post(&format!("{}{path}", pki.server.url()), request.message()).unwrap()
}

/// How many rows the table has, as another program sees it.
pub(super) fn count(pki: &Pki, table: &str) -> i64 {
    let connection = rusqlite::Connection::open(pki.folder.path().join("store.sqlite")).unwrap();
    connection.query_row(&format!("SELECT COUNT(*) FROM {table}"), [], |row| row.get(0)).unwrap()
}

fn restarted(pki: Pki) -> Pki {
    let Pki { server, folder } = pki;
    drop(server);
    let store = Store::sqlite(&folder.path().join("store.sqlite")).unwrap();
    Pki::start_in(folder, store, |_| ())
}

/// The same authorities, by a clock that stands.
fn restarted_at(pki: Pki, at: Time64) -> Pki {
    let Pki { server, folder } = pki;
    drop(server);
    let store = Store::sqlite(&folder.path().join("store.sqlite")).unwrap();
    Pki::start_in(folder, store, |options| options.clock = Clock::new(move || at))
}

#[test]
fn a_replayed_ticket_request_gets_the_same_answer_and_costs_no_quota() {
    let pki = Pki::start();
    let car = Car::enrolled_at(&pki);
    let request = ticket_request(&pki, &car, now());
    let first = post(&pki, "/aa", &request);
    request.ticket(&first, now()).unwrap();
    // As many as a station may have at once, and more.
    for _ in 0..105 {
        assert!(post(&pki, "/aa", &request) == first, "another answer to the same request");
    }
    assert_eq!(count(&pki, "confirmed"), 1, "tickets confirmed for one request");
    pki.authorize(&car, &TicketOptions::default()).unwrap();
    let pki = restarted(pki);
    assert!(post(&pki, "/aa", &request) == first, "another answer after a restart");
    assert_eq!(count(&pki, "confirmed"), 2);
}

#[test]
fn what_is_over_is_forgotten_and_a_replay_stays_refused_whatever_the_clock_says() {
    let pki = Pki::start();
    let car = Car::enrolled_at(&pki);
    let asked_at = now();
    let request = ticket_request(&pki, &car, asked_at);
    request.ticket(&post(&pki, "/aa", &request), now()).unwrap();
    let days = |days: u64| asked_at.plus_us(days * 86_400 * 1_000_000);
    let pki = restarted_at(pki, days(6));
    assert_eq!(count(&pki, "confirmed"), 1, "the ticket is valid");
    let pki = restarted_at(pki, days(8));
    assert_eq!((count(&pki, "confirmed"), count(&pki, "answers")), (0, 0), "the ticket is over");
    let refused = |pki: &Pki, at| request.ticket(&post(pki, "/aa", &request), at).unwrap_err().to_string();
    let late = refused(&pki, days(8));
    assert!(late.ends_with("its-aa-outofsyncrequest"), "{late}");
    // The clock was wrong, or is: it is the time of the request again.
    let pki = restarted_at(pki, asked_at);
    let replayed = refused(&pki, asked_at);
    assert!(replayed.ends_with("deniedpermissions"), "{replayed}");
    assert_eq!(count(&pki, "confirmed"), 0, "it was confirmed a second time");
    // A request of a later second is granted.
    let later = ticket_request(&pki, &car, asked_at.plus_us(1));
    later.ticket(&post(&pki, "/aa", &later), asked_at).unwrap();
    assert_eq!(count(&pki, "confirmed"), 1);
}

#[test]
fn a_replayed_enrolment_gets_the_same_answer_and_no_second_credential() {
    let pki = Pki::start();
    let car = Car::new();
    pki.register(&car, Permissions::tickets());
    let request = credential_request(&pki, &car, now());
    let first = post(&pki, "/ea", &request);
    request.credential(&first, now()).unwrap();
    assert!(post(&pki, "/ea", &request) == first, "another answer to the same request");
    let pki = restarted(pki);
    assert!(post(&pki, "/ea", &request) == first, "another answer after a restart");
    assert_eq!(count(&pki, "credentials"), 1, "credentials issued for one request");
}

#[test]
fn two_copies_at_once_get_one_ticket() {
    let pki = Pki::start();
    let car = Car::enrolled_at(&pki);
    let request = ticket_request(&pki, &car, now());
    let answers: Vec<Vec<u8>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| post(&pki, "/aa", &request))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(answers.iter().all(|answer| *answer == answers[0]), "two answers to the same request");
    assert_eq!(count(&pki, "confirmed"), 1, "tickets confirmed for one request");
}

#[test]
fn a_request_from_before_its_window_is_refused() {
    let pki = Pki::start();
    let car = Car::enrolled_at(&pki);
    let old = Time64(now().0 - 302 * 1_000_000);
    let request = ticket_request(&pki, &car, old);
    let error = request.ticket(&post(&pki, "/aa", &request), now()).unwrap_err();
    assert!(matches!(&error, PkiError::AuthorizationRefused(code) if code.to_string() == "its-aa-outofsyncrequest"));
    let request = credential_request(&pki, &car, old);
    let error = request.credential(&post(&pki, "/ea", &request), now()).unwrap_err();
    assert!(matches!(&error, PkiError::EnrolmentRefused(code) if code.to_string() == "deniedrequest"), "{error}");
    assert_eq!(count(&pki, "confirmed"), 0);
}

/// A refused copy of a request changes nothing for the station, whose own request is answered as ever.
#[test]
fn a_request_that_is_refused_may_be_granted_later() {
    let pki = Pki::start();
    let car = Car::new();
    let request = credential_request(&pki, &car, now());
    let refused = request.credential(&post(&pki, "/ea", &request), now()).unwrap_err();
    assert!(refused.to_string().ends_with("unknownits"), "{refused}");
    pki.register(&car, Permissions::tickets());
    let granted = request.credential(&post(&pki, "/ea", &request), now()).unwrap();
    SignerCertificate::new(granted).unwrap();
}
