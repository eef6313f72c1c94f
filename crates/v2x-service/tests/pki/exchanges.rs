//! What stations get.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use chronoseal_v2x::crypto::{Curve, SigningKey};
use chronoseal_v2x::lint::lint;
use chronoseal_v2x::message::SignerCertificate;
use chronoseal_v2x::pki::{
    CtlCommand, CtlDelete, CtlEntry, ListKind, Permissions, PkiError, Role, TicketPeriods, check_issued_by,
    read_revocation_list, read_trust_list,
};
use chronoseal_v2x::types::{CertificateId, Duration, HashedId8, Time64, ValidityPeriod};
use chronoseal_v2x::verify::{Verifier, VerifierConfig};
use chronoseal_v2x_service::hsm::{BackEnd, SharedHsm};
use chronoseal_v2x_service::pki::{
    CRL_TYPE, CTL_TYPE, Clock, HttpClient, KeyDevice, Meta, Server, ServerOptions, ServiceError, TicketOptions, now,
};
use chronoseal_v2x_service::store::Store;

use super::{Car, Pki};

#[test]
fn a_station_enrols_renews_and_gets_tickets() {
    let pki = Pki::start_with(|options| options.root_curve = Curve::BrainpoolP384r1);
    let car = Car::new();
    pki.register(&car, Permissions::tickets());
    let first = pki.enrol(&car).unwrap();
    let second = pki.renew(&car).unwrap();
    assert_ne!(first, second);
    let (credential, key) = car.client.credential().unwrap();
    assert_eq!(credential.id(), second);
    // [TS 103 097 §7.2.2] By its name it is no ticket.
    let id = &credential.certificate().view().to_be_signed.id;
    assert!(matches!(id, CertificateId::Name(_)), "{id:?}");
    let report = lint(credential.certificate().as_bytes()).unwrap();
    assert!(report.is_clean(), "{:?}", report.findings);
    assert_eq!(SigningKey::curve(&key), Curve::BrainpoolP256r1);

    for _ in 0..3 {
        pki.authorize(&car, &TicketOptions::default()).unwrap();
    }
    let tickets = car.client.tickets().unwrap();
    assert_eq!(tickets.len(), 3);
    for (ticket, meta) in &tickets {
        check_issued_by(ticket, pki.aa(), now()).unwrap();
        assert!(ticket.certificate().view().to_be_signed.encryption_key.is_some());
        assert!(meta.decryption_key.is_some());
        let note = Meta::read(&car.folder.path().join("at").join(format!("{}.oer", ticket.id()))).unwrap();
        assert_eq!(note, *meta);
    }
}

#[test]
fn a_station_that_is_not_that_far_is_told_what_comes_first() {
    let pki = Pki::start();
    let car = Car::new();
    let error = pki.authorize(&car, &TicketOptions::default()).unwrap_err();
    assert!(matches!(&error, ServiceError::TooEarly { command: "enrol", .. }), "{error}");
    assert!(error.to_string().ends_with("no enrolment credential yet; next: chronoseal pki enrol --help"), "{error}");
    let error = pki.enrol(&car).unwrap_err();
    assert!(error.to_string().ends_with("no canonical key yet; next: chronoseal pki keygen --help"), "{error}");
}

#[test]
fn a_ticket_may_be_for_later() {
    let pki = Pki::start();
    let car = Car::enrolled_at(&pki);
    let start = now().plus_us(10 * 86_400 * 1_000_000).time32();
    let period = ValidityPeriod { start, duration: Duration::Hours(24) };
    pki.authorize(&car, &TicketOptions { validity_period: Some(period), ..TicketOptions::default() }).unwrap();
    let (ticket, _) = car.client.tickets().unwrap().remove(0);
    assert_eq!(ticket.certificate().view().to_be_signed.validity_period, period);
}

/// All tickets of a week have the same period, whatever is asked for; a receiver takes them from the first second on.
#[test]
fn tickets_of_the_week_say_nothing_of_their_request() {
    let pki = Pki::start_with(|options| options.ticket_periods = TicketPeriods::Weeks);
    let car = Car::enrolled_at(&pki);
    let asked = ValidityPeriod { start: now().time32(), duration: Duration::Minutes(90) };
    for validity_period in [None, Some(asked)] {
        pki.authorize(&car, &TicketOptions { validity_period, ..TicketOptions::default() }).unwrap();
    }
    let mut verifier = Verifier::new(VerifierConfig::default());
    verifier.trust_mut().insert_root(&pki.server.certificate(Role::Root).certificate().view()).unwrap();
    verifier.trust_mut().insert_authority(&pki.aa().certificate().view()).unwrap();
    let tickets = car.client.tickets().unwrap();
    let period = |ticket: &SignerCertificate| ticket.certificate().view().to_be_signed.validity_period;
    assert_eq!(period(&tickets[0].0), period(&tickets[1].0));
    assert_eq!(period(&tickets[0].0).start.0 % (7 * 86_400), 0);
    assert_eq!(period(&tickets[0].0).duration, Duration::Hours(168));
    for (ticket, _) in &tickets {
        verifier.trust_mut().insert_authority(&ticket.certificate().view()).unwrap();
    }
}

#[test]
fn a_credential_of_one_pki_gets_tickets_of_another() {
    let (ours, theirs) = (Pki::start(), Pki::start_with(|options| options.curve = Curve::BrainpoolP256r1));
    let car = Car::enrolled_at(&theirs);
    let ask = || ours.authorize_with(&car, theirs.ea(), &TicketOptions::default());
    let refused = |error: ServiceError| match error {
        ServiceError::Pki(PkiError::AuthorizationRefused(code)) => code.to_string(),
        other => panic!("{other}"),
    };

    assert_eq!(refused(ask().unwrap_err()), "its-aa-unknownea", "their root is not trusted yet");
    ours.server.trust().add(theirs.server.certificate(Role::Root), theirs.server.url()).unwrap();
    assert_eq!(refused(ask().unwrap_err()), "invalidaa", "our root is not trusted there yet");
    let ectl = format!("{}/getectl", ours.server.url());
    let listed = theirs.server.trust().add_listed(ours.server.certificate(Role::TrustListManager), &ectl).unwrap();
    assert_eq!(listed, [ours.server.certificate(Role::Root).id()]);
    ask().unwrap();

    theirs.server.revoke_authority(theirs.ea().id()).unwrap();
    assert_eq!(refused(ask().unwrap_err()), "its-aa-unknownea", "it is off the trust list, too");
}

#[test]
fn a_renewal_or_ticket_of_a_revoked_station_is_refused() {
    let pki = Pki::start();
    let car = Car::enrolled_at(&pki);
    assert!(pki.server.store().lock().unwrap().revoke_station(super::ID).unwrap());
    assert!(pki.renew(&car).unwrap_err().to_string().ends_with("baditsstatus"));
    assert!(pki.authorize(&car, &TicketOptions::default()).unwrap_err().to_string().ends_with("unknownits"));
    assert!(pki.enrol(&car).unwrap_err().to_string().ends_with("baditsstatus"));
}

#[test]
fn lists_say_who_is_there_and_deltas_what_changed() {
    let pki = Pki::start();
    let http = HttpClient::default();
    let root = pki.server.certificate(Role::Root).clone();
    let url = format!("{}/getctl/{}", pki.server.url(), root.id());
    let full = http.get(&url, CTL_TYPE).unwrap();
    let full = read_trust_list(&full, ListKind::Root, &root, now()).unwrap();
    assert!(full.is_full_ctl);
    assert_eq!(full.ctl_commands.len(), 3);

    pki.server.revoke_authority(pki.ea().id()).unwrap();
    let delta = http.get(&format!("{url}/{}", full.ctl_sequence), CTL_TYPE).unwrap();
    let delta = read_trust_list(&delta, ListKind::Root, &root, now()).unwrap();
    assert!(!delta.is_full_ctl);
    assert_eq!(delta.ctl_sequence, full.ctl_sequence + 1);
    let [CtlCommand::Delete(CtlDelete::Cert(id))] = delta.ctl_commands[..] else {
        panic!("{:?}", delta.ctl_commands);
    };
    assert_eq!(id, pki.ea().id());
    assert!(http.get(&format!("{url}/200"), CTL_TYPE).is_err(), "no such list was ever there");
}

#[test]
fn a_server_is_the_same_after_a_restart() {
    let pki = Pki::start();
    let car = Car::enrolled_at(&pki);
    let (ea, folder) = (pki.ea().id(), pki.folder);
    drop(pki.server);
    let store = Store::sqlite(&folder.path().join("store.sqlite")).unwrap();
    let pki = Pki::start_in(folder, store, |_| ());
    assert_eq!(pki.ea().id(), ea);
    pki.renew(&car).unwrap();
}

#[test]
fn a_credential_that_is_replaced_leaves_no_key_behind() {
    let pki = Pki::start();
    let folder = tempfile::tempdir().unwrap();
    let keys = folder.path().join("keys");
    let hsm = SharedHsm::new(BackEnd::Software { folder: keys, predefined: None }.open("4711").unwrap());
    let car = Car::with_device(KeyDevice::new(hsm.clone()));
    pki.register(&car, Permissions::tickets());
    pki.enrol(&car).unwrap();
    let held = |car: &Car| {
        let files = std::fs::read_dir(car.folder.path().join("ec")).unwrap().count();
        (hsm.lock().list().unwrap().len(), files)
    };
    let first = held(&car);
    assert_eq!(first, (2, 3), "the canonical key and the credential's; certificate, note and which is in use");
    for _ in 0..5 {
        pki.renew(&car).unwrap();
        assert_eq!(held(&car), first);
    }
    pki.enrol(&car).unwrap();
    assert_eq!(held(&car), first);
    pki.authorize(&car, &TicketOptions::default()).unwrap();
}

#[test]
fn lists_are_signed_when_something_changes_and_not_for_everyone_who_asks() {
    let hand = Arc::new(AtomicU64::new(now().0));
    let clock = {
        let hand = Arc::clone(&hand);
        Clock::new(move || Time64(hand.fetch_add(1, Ordering::SeqCst)))
    };
    let pki = Pki::start_with(|options| options.clock = clock);
    let http = HttpClient::default();
    let root = pki.server.certificate(Role::Root).clone();
    let get = |path: &str, content_type: &str| {
        let url = format!("{}/{path}", pki.server.url());
        let first = http.get(&url, content_type).unwrap();
        for _ in 0..20 {
            assert!(http.get(&url, content_type).unwrap() == first, "{path} was signed again");
        }
        first
    };
    let (crl, ctl) = (format!("getcrl/{}", root.id()), format!("getctl/{}", root.id()));
    let nobody = get(&crl, CRL_TYPE);
    let full = get(&ctl, CTL_TYPE);
    let sequence = read_trust_list(&full, ListKind::Root, &root, now()).unwrap().ctl_sequence;
    let nothing = get(&format!("{ctl}/{sequence}"), CTL_TYPE);
    let of_tlm = get("getectl", CTL_TYPE);

    // By another process, as the command line does it.
    pki.server.store().lock().unwrap().revoke_authority(pki.aa().id()).unwrap();
    let one = get(&crl, CRL_TYPE);
    assert_eq!(read_revocation_list(&one, &root, now()).unwrap().entries, [pki.aa().id()]);
    assert_eq!(read_revocation_list(&nobody, &root, now()).unwrap().entries, [] as [HashedId8; 0]);
    assert!(get(&ctl, CTL_TYPE) != full && get("getectl", CTL_TYPE) != of_tlm);
    let change = get(&format!("{ctl}/{sequence}"), CTL_TYPE);
    assert!(change != nothing, "the change is an old one");
    assert_eq!(read_trust_list(&change, ListKind::Root, &root, now()).unwrap().ctl_commands.len(), 1);
    // Halfway through its day it is signed anew, so that nobody gets one that is about to end.
    hand.fetch_add(12 * 3_600_000_000, Ordering::SeqCst);
    assert!(get(&crl, CRL_TYPE) != one);
}

#[test]
fn trust_lists_say_where_others_reach_the_authorities() {
    let pki = Pki::start_with(|options| options.public_url = Some("https://pki.example:8443/v2x".to_owned()));
    let http = HttpClient::default();
    let root = pki.server.certificate(Role::Root).clone();
    let message = http.get(&format!("{}/getctl/{}", pki.server.url(), root.id()), CTL_TYPE).unwrap();
    let list = read_trust_list(&message, ListKind::Root, &root, now()).unwrap();
    let mut urls = Vec::new();
    for command in &list.ctl_commands {
        match command {
            CtlCommand::Add(CtlEntry::Ea(ea)) => urls.extend([Some(ea.aa_access_point), ea.its_access_point]),
            CtlCommand::Add(CtlEntry::Aa(aa)) => urls.push(Some(aa.access_point)),
            CtlCommand::Add(CtlEntry::Dc(dc)) => urls.push(Some(dc.url)),
            other => panic!("{other:?}"),
        }
    }
    let [ea, aa, dc] =
        ["https://pki.example:8443/v2x/ea", "https://pki.example:8443/v2x/aa", "https://pki.example:8443/v2x"];
    assert_eq!(urls, [ea, ea, aa, dc].map(Some));
    // It listens where it did, and its own stations get tickets.
    assert!(pki.server.url().starts_with("http://127.0.0.1:"));
    let car = Car::enrolled_at(&pki);
    pki.authorize(&car, &TicketOptions::default()).unwrap();

    for bad in [
        "",
        "pki.example",
        "ftp://pki.example",
        "http://",
        "http://pki.example/",
        "http://a b",
        "http://:80",
        "http://a?x",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut options = ServerOptions::new(folder.path());
        options.public_url = Some(bad.to_owned());
        let store = Store::sqlite(&folder.path().join("store.sqlite")).unwrap();
        let refused = Server::start(&options, &KeyDevice::software(folder.path()).unwrap(), store).map(drop);
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains("http://HOST:PORT"), "{bad}: {refused}");
    }
}
