//! What authorities remember: the same list on SQLite and on PostgreSQL.

use chronoseal_v2x::crypto::{Curve, SoftwareKey};
use chronoseal_v2x::misbehaviour::{CamObservation, Examined};
use chronoseal_v2x::pki::{
    AnswerStore, DatedRequest, ListKind, PkiError, RequestIdentity, Role, Station, StationStore,
};
use chronoseal_v2x::types::{Duration, HashedId8, Time32, Time64, ValidityPeriod};
use chronoseal_v2x_service::pki::TicketOptions;
use chronoseal_v2x_service::store::{Filed, Store, StoreError};

use super::postgres_server::PostgresServer;
use super::{Car, Pki};

fn station(id: u8, curve: Curve) -> Station {
    let key = SoftwareKey::from_scalar(curve, &vec![id; curve.coordinate_len()]).unwrap();
    Station {
        canonical_id: vec![id; 4],
        canonical_key: key.public_point(),
        permissions: "36:01ffff 37:01ffffff".parse().unwrap(),
        is_revoked: false,
    }
}

fn hours(start: u32, count: u16) -> ValidityPeriod {
    ValidityPeriod { start: Time32(start), duration: Duration::Hours(count) }
}

/// A request that is taken until this second.
fn dated(request: u8, until: u32) -> DatedRequest {
    DatedRequest { identity: RequestIdentity([request; 32]), until: Time32(until).time64() }
}

/// The list. `reopen` opens the same store once more.
fn remembers(reopen: &dyn Fn() -> Store) {
    let mut store = reopen();
    let stations: Vec<Station> = Curve::ALL.into_iter().zip(1..).map(|(curve, id)| station(id, curve)).collect();
    for station in &stations {
        store.register(station).unwrap();
    }
    // What a second connection sees is what was committed.
    let mut other = reopen();
    for station in &stations {
        assert_eq!(other.station(&station.canonical_id).unwrap().as_ref(), Some(station));
    }
    assert_eq!(other.station(b"nobody").unwrap(), None);
    assert_eq!(other.station(b"").unwrap(), None);

    let changed = Station { permissions: "36:010000".parse().unwrap(), ..stations[0].clone() };
    store.register(&changed).unwrap();
    assert_eq!(other.station(&changed.canonical_id).unwrap(), Some(changed.clone()));
    let other_key = Station { canonical_key: stations[1].canonical_key, ..changed.clone() };
    let refused = store.register(&other_key).unwrap_err().to_string();
    assert_eq!(
        refused,
        "station 01010101 is registered with another canonical key; to replace that key, register with --replace"
    );
    assert_eq!(other.station(&changed.canonical_id).unwrap(), Some(changed.clone()));
    store.replace_station(&other_key).unwrap();
    assert_eq!(other.station(&changed.canonical_id).unwrap(), Some(other_key));
    store.replace_station(&changed).unwrap();
    assert!(store.revoke_station(&changed.canonical_id).unwrap());
    assert!(matches!(store.register(&changed), Err(StoreError::Revoked { .. })), "it stays revoked");
    assert!(!store.revoke_station(b"nobody").unwrap());
    assert!(other.station(&changed.canonical_id).unwrap().unwrap().is_revoked);

    at_most_two_tickets_at_once(&mut store, &stations[1]);
    tickets_that_are_over_are_forgotten_and_their_requests_stay_refused(&mut store, &stations[2]);
    lists_are_kept_in_order(&mut store, &mut other);
    reports_are_kept_once(&mut store, &mut other);
    answers_are_kept_for_their_time(&mut store, &mut other);

    let id = HashedId8([7; 8]);
    store.revoke_authority(id).unwrap();
    store.revoke_authority(id).unwrap();
    assert_eq!(other.revoked_authorities().unwrap(), [id]);
}

fn at_most_two_tickets_at_once(store: &mut Store, station: &Station) {
    let mut add = |request: u8, period| {
        let counted = store.add_confirmed(station, dated(request, 0), period, 2).unwrap();
        counted.map(|counted| counted == period)
    };
    assert_eq!(add(1, hours(1_000_000, 10)), Some(true));
    assert_eq!(add(2, hours(1_000_000, 10)), Some(true));
    assert_eq!(add(3, hours(1_003_600, 1)), None, "a third at the same time");
    assert_eq!(add(4, hours(1_036_000, 10)), Some(true), "after the first two");
    assert_eq!(add(5, hours(964_000, 10)), Some(true), "before them");
    assert_eq!(add(1, hours(1_000_000, 10)), Some(true), "the first one once more");
    assert_eq!(add(1, hours(1_000_001, 10)), Some(false), "it keeps its period");
    let stranger = Station { canonical_id: vec![9; 4], ..station.clone() };
    let of_nobody = store.add_confirmed(&stranger, dated(9, 0), hours(1_000_000, 1), 2);
    assert_eq!(of_nobody.unwrap(), None, "of nobody");
}

fn tickets_that_are_over_are_forgotten_and_their_requests_stay_refused(store: &mut Store, station: &Station) {
    const WEEK: u32 = 168 * 3600;
    let at = |second: u32| Time32(second).time64();
    let asked = 2_000 * WEEK;
    let add = |store: &mut Store, request: u8, until: u32, start: u32| {
        store.add_confirmed(station, dated(request, until), hours(start, 168), 1)
    };
    assert_eq!(add(store, 21, asked + 301, asked).unwrap(), Some(hours(asked, 168)));
    assert_eq!(add(store, 22, asked + 302, asked + WEEK).unwrap(), Some(hours(asked + WEEK, 168)));
    // One is over, the other is not; and an hour later, when no statement is left that did not see it.
    for now in [asked + WEEK - 1, asked + WEEK, asked + WEEK + 3599] {
        store.forget_confirmed(at(now)).unwrap();
        assert!(add(store, 21, asked + 301, asked).unwrap().is_some(), "it is known");
        assert_eq!(add(store, 23, asked + 400, asked).unwrap(), None, "it counts");
    }
    store.forget_confirmed(at(asked + WEEK + 3600)).unwrap();
    // Also if the clock is set back to when it was asked for, it is not confirmed a second time.
    assert_eq!(add(store, 21, asked + 301, asked), Err(PkiError::Forgotten));
    store.forget_confirmed(at(asked)).unwrap();
    assert_eq!(add(store, 21, asked + 301, asked), Err(PkiError::Forgotten));
    assert_eq!(
        add(store, 22, asked + 302, asked + WEEK).unwrap(),
        Some(hours(asked + WEEK, 168)),
        "the other is known"
    );
    // What was asked for later is confirmed.
    assert_eq!(add(store, 23, asked + 302, asked).unwrap(), Some(hours(asked, 168)));
}

fn reports_are_kept_once(store: &mut Store, other: &mut Store) {
    let report = |id: u8, subject: u8, observations: &[CamObservation]| Examined {
        id: [id; 32],
        reporter: HashedId8([1; 8]),
        made_at: Time32(700_000_000).time64(),
        subject: HashedId8([subject; 8]),
        observations: observations.to_vec(),
        signed: vec![id; 300],
    };
    let taken_at = Time32(700_000_060).time64();
    let (jump, both) =
        (&[CamObservation::PositionChange][..], &[CamObservation::PositionChange, CamObservation::SpeedChange]);
    assert_eq!(store.file_report(&report(1, 9, jump), taken_at).unwrap(), Filed::New);
    assert_eq!(store.file_report(&report(2, 5, both), taken_at).unwrap(), Filed::New);
    assert_eq!(other.file_report(&report(1, 9, jump), taken_at).unwrap(), Filed::Known, "the same");
    assert_eq!(
        other.file_report(&report(3, 9, jump), taken_at).unwrap(),
        Filed::Known,
        "the same of the same by the same"
    );
    assert_eq!(other.file_report(&report(4, 9, both), taken_at).unwrap(), Filed::New, "more of the same");
    let kept = other.reports().unwrap();
    assert_eq!(kept.iter().map(|one| one.id[0]).collect::<Vec<_>>(), [2, 1, 4], "by subject");
    assert_eq!(kept[0].observations, ["Position-ChangeTooLarge", "Speed-ChangeTooLarge"]);
    assert_eq!((kept[1].made_at, kept[1].taken_at), (Time32(700_000_000).time64(), taken_at));
    assert_eq!((kept[1].subject, kept[1].signed.as_slice()), (HashedId8([9; 8]), &[1; 300][..]));
}

fn answers_are_kept_for_their_time(store: &mut Store, other: &mut Store) {
    let (first, second) = (RequestIdentity([1; 32]), RequestIdentity([2; 32]));
    assert_eq!(store.answer(first, Time64(0)).unwrap(), None);
    assert_eq!(store.keep_answer(first, b"a".to_vec(), Time64(10)).unwrap(), b"a");
    assert_eq!(other.keep_answer(first, b"b".to_vec(), Time64(10)).unwrap(), b"a", "the first one stays");
    assert_eq!(other.keep_answer(second, b"c".to_vec(), Time64(20)).unwrap(), b"c");
    assert_eq!(other.answer(first, Time64(9)).unwrap().as_deref(), Some(&b"a"[..]));
    assert_eq!(other.answer(first, Time64(10)).unwrap(), None, "its time is over");
    store.forget_answers(Time64(10)).unwrap();
    assert_eq!(other.answer(first, Time64(0)).unwrap(), None, "it is not there any more");
    assert_eq!(other.answer(second, Time64(0)).unwrap().as_deref(), Some(&b"c"[..]));
}

fn lists_are_kept_in_order(store: &mut Store, other: &mut Store) {
    for number in 0..5 {
        store.add_list(ListKind::Root, &[number]).unwrap();
    }
    store.add_list(ListKind::TrustListManager, b"x").unwrap();
    assert_eq!(other.lists(ListKind::Root).unwrap(), [[4], [3], [2], [1], [0]]);
    assert_eq!(other.lists(ListKind::TrustListManager).unwrap(), [b"x"]);
}

/// A PKI on the store, as far as stations see it.
fn serves(store: Store, other: &mut Store) {
    let pki = Pki::start_in(tempfile::tempdir().unwrap(), store, |_| ());
    let car = Car::enrolled_at(&pki);
    pki.renew(&car).unwrap();
    pki.authorize(&car, &TicketOptions::default()).unwrap();
    let credential = car.client.credential().unwrap().0;
    let kept = other.credential(credential.id()).unwrap().unwrap();
    assert_eq!(kept.certificate.certificate(), credential.certificate());
    assert_eq!(kept.station.canonical_id, super::ID);
    let root = pki.server.certificate(Role::Root);
    pki.server.trust().add(root, "http://127.0.0.1:9/").unwrap();
    let roots = other.trusted_roots().unwrap();
    assert_eq!(roots.len(), 1);
    assert_eq!((roots[0].0.id(), roots[0].1.as_str()), (root.id(), "http://127.0.0.1:9"));
}

#[test]
fn sqlite_remembers_and_serves() {
    let folder = tempfile::tempdir().unwrap();
    remembers(&|| Store::open(folder.path().join("a.sqlite").to_str().unwrap()).unwrap());
    let path = folder.path().join("b.sqlite");
    let store = Store::sqlite(&path).unwrap();
    serves(store, &mut Store::open(&format!("sqlite:{}", path.display())).unwrap());
}

#[test]
fn postgresql_remembers_and_serves() {
    let Some(server) = PostgresServer::start() else { return };
    remembers(&|| Store::open(&server.url()).unwrap());
    let Some(server) = PostgresServer::start() else { return };
    serves(Store::open(&server.url()).unwrap(), &mut Store::open(&server.url()).unwrap());
}

/// Sixteen servers on one store confirm tickets of one station at once, each as fast as it can.
fn counts_one_at_a_time(open: &(dyn Fn() -> Store + Sync)) {
    let station = station(1, Curve::NistP256);
    open().register(&station).unwrap();
    let granted: usize = std::thread::scope(|scope| {
        let servers: Vec<_> = (0..16_u8)
            .map(|server| {
                let station = &station;
                scope.spawn(move || {
                    let mut store = open();
                    let ask = |number: u8| {
                        let identity = RequestIdentity(std::array::from_fn(|index| [server, number][index % 2]));
                        let request = DatedRequest { identity, until: Time32(0).time64() };
                        store.add_confirmed(station, request, hours(1_000_000, 10), 100).unwrap()
                    };
                    (0..20).map(ask).filter(Option::is_some).count()
                })
            })
            .collect();
        servers.into_iter().map(|server| server.join().unwrap()).sum()
    });
    assert_eq!(granted, 100, "the quota is a hundred");
}

#[test]
fn several_servers_on_one_store_keep_the_quota() {
    let folder = tempfile::tempdir().unwrap();
    counts_one_at_a_time(&|| Store::sqlite(&folder.path().join("store.sqlite")).unwrap());
    let Some(server) = PostgresServer::start() else { return };
    counts_one_at_a_time(&|| Store::open(&server.url()).unwrap());
}

#[test]
fn a_store_from_before_requests_were_remembered_is_taken_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.sqlite");
    let connection = rusqlite::Connection::open(&path).unwrap();
    let old = "CREATE TABLE stations (canonical_id BYTEA PRIMARY KEY, canonical_key BYTEA NOT NULL, \
               permissions TEXT NOT NULL, revoked BIGINT NOT NULL); \
               CREATE TABLE confirmed (canonical_id BYTEA NOT NULL REFERENCES stations, starts BIGINT NOT NULL, \
               ends BIGINT NOT NULL);";
    connection.execute_batch(old).unwrap();
    drop(connection);
    for _ in 0..2 {
        let mut store = Store::sqlite(&path).unwrap();
        let station = station(1, Curve::NistP256);
        store.register(&station).unwrap();
        let counted = store.add_confirmed(&station, dated(1, 1_036_000), hours(1_000_000, 10), 1).unwrap();
        assert_eq!(counted, Some(hours(1_000_000, 10)));
    }
}

#[test]
fn a_damaged_or_missing_store_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    std::fs::write(&path, vec![0x5a; 8192]).unwrap();
    assert!(matches!(Store::sqlite(&path), Err(StoreError::Sqlite(_))));
    assert!(matches!(Store::open("mysql://host/x"), Err(StoreError::Url(_))));
    assert!(matches!(Store::open("postgresql://chronoseal@127.0.0.1:1/x"), Err(StoreError::Postgres(_))));

    // A record that somebody else changed.
    let path = folder.path().join("changed.sqlite");
    let mut store = Store::sqlite(&path).unwrap();
    store.register(&station(1, Curve::NistP256)).unwrap();
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute("UPDATE stations SET canonical_key = x'00'", []).unwrap();
    assert!(matches!(store.station(&[1; 4]), Err(PkiError::Store(_))));
}

/// Registers stations until there is no room, in the file `CHRONOSEAL_FULL_STORE`; started by the next test.
#[test]
#[ignore = "started by another test, with a limit on the length of files"]
fn fills_its_disk() {
    let mut store = Store::sqlite(std::env::var_os("CHRONOSEAL_FULL_STORE").unwrap().as_ref()).unwrap();
    let mut station = station(1, Curve::NistP256);
    for number in 0..100_000_u32 {
        station.canonical_id = number.to_be_bytes().to_vec();
        match store.register(&station) {
            Ok(()) => assert_eq!(store.station(&station.canonical_id).unwrap().as_ref(), Some(&station)),
            Err(error) => {
                assert!(matches!(error, StoreError::Sqlite(_)), "{error}");
                println!("{number} stations");
                return;
            }
        }
    }
    panic!("no limit");
}

#[test]
fn a_full_disk_is_an_error_and_what_was_there_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    // Files of two megabytes fail to grow, as all would on a full disk.
    let script = "trap '' XFSZ; ulimit -f 4000; exec \"$0\" --exact pki::stores::fills_its_disk --ignored --nocapture";
    let output = std::process::Command::new("sh")
        .args(["-c", script, std::env::current_exe().unwrap().to_str().unwrap()])
        .env("CHRONOSEAL_FULL_STORE", &path)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let count: u32 = text.lines().find_map(|line| line.strip_suffix(" stations")?.parse().ok()).expect(&text);
    assert!(count > 10, "{count}");
    let mut store = Store::sqlite(&path).unwrap();
    for number in 0..count {
        assert!(store.station(&number.to_be_bytes()).unwrap().is_some(), "{number}");
    }
}
