//! What one vehicle has alone is named, value by value, with its files; and what it has in common with others is not.
//!
//! `LINT_BATCHES=1000` tries so many clean batches and so many with something planted.

use chronoseal_v2x::certificate::{Issuer, issue};
use chronoseal_v2x::crypto::{Curve, SoftwareKey};
use chronoseal_v2x::lint::{BatchTicket, Report, Severity, linking};
use chronoseal_v2x::types::{
    Certificate, CertificateBuf, CertificateId, Duration, HashedId3, HashedId8, IssuerIdentifier, Psid, PsidSsp,
    ServiceSpecificPermissions, Time32, ToBeSignedCertificate, ValidityPeriod, VerificationKeyIndicator,
};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::Rng as _;

use crate::stations::rng;

fn batches() -> u64 {
    std::env::var("LINT_BATCHES").map_or(60, |text| text.parse().expect("LINT_BATCHES is a number"))
}

fn pick(numbers: &mut ChaCha20Rng, count: usize) -> usize {
    (numbers.next_u64() % count as u64) as usize
}

/// Tickets of one kind, with keys of their own.
fn tickets(count: usize) -> Vec<CertificateBuf> {
    let mut numbers = rng(300);
    let mut authority = SoftwareKey::generate(Curve::NistP256, &mut numbers);
    let period = ValidityPeriod { start: Time32(721_526_400), duration: Duration::Hours(168) };
    let key = |key: &SoftwareKey| VerificationKeyIndicator::VerificationKey(key.public_point().to_verification_key());
    let root = ToBeSignedCertificate::new(CertificateId::Name("root"), period, key(&authority));
    let root = issue(root, Issuer::SelfSigned, &mut authority).unwrap();
    let ticket = |_| {
        let own = SoftwareKey::generate(Curve::NistP256, &mut numbers);
        let encryption = SoftwareKey::generate(Curve::NistP256, &mut numbers);
        let mut tbs = ToBeSignedCertificate::new(CertificateId::None, period, key(&own));
        let permit = |psid, ssp| PsidSsp { psid, ssp: Some(ServiceSpecificPermissions::Bitmap(ssp)) };
        tbs.app_permissions =
            Some(vec![permit(Psid::CAM, &[1, 0xff, 0xff]), permit(Psid::DENM, &[1, 0xff, 0xff, 0xff])]);
        tbs.encryption_key = Some(encryption.public_point().to_encryption_key().unwrap());
        issue(tbs, Issuer::Certificate(&root.view()), &mut authority).unwrap()
    };
    (0..count).map(ticket).collect()
}

/// How tickets of a population differ, whosever they are.
#[derive(Clone, Copy, Debug)]
enum Population {
    /// In nothing but their keys.
    OneKind,
    /// A third have no encryption key, a third an assurance level, a quarter the permissions of another service; each by itself.
    Mixed,
    /// As `OneKind`, but one in a hundred has an assurance level.
    RareKind,
}

impl Population {
    const ALL: [Self; 3] = [Self::OneKind, Self::Mixed, Self::RareKind];

    fn deal(self, ticket: &mut Certificate<'_>, numbers: &mut ChaCha20Rng) {
        let tbs = &mut ticket.to_be_signed;
        match self {
            Self::OneKind => {}
            Self::Mixed => {
                if pick(numbers, 3) == 0 {
                    tbs.encryption_key = None;
                }
                if pick(numbers, 3) == 0 {
                    tbs.assurance_level = Some(0x40);
                }
                if pick(numbers, 4) == 0 {
                    tbs.app_permissions.as_mut().unwrap().push(PsidSsp { psid: Psid(639), ssp: None });
                }
            }
            Self::RareKind => {
                if pick(numbers, 100) == 0 {
                    tbs.assurance_level = Some(0x20);
                }
            }
        }
    }
}

/// What is planted in a ticket: something that no other vehicle has.
type Plant = fn(&mut Certificate<'_>);

const PLANTS: [(&str, Plant); 9] = [
    ("toBeSigned.assuranceLevel", |ticket| ticket.to_be_signed.assurance_level = Some(0x61)),
    ("toBeSigned.appPermissions", |ticket| ticket.to_be_signed.app_permissions.as_mut().unwrap().truncate(1)),
    ("toBeSigned.appPermissions", |ticket| {
        ticket.to_be_signed.app_permissions.as_mut().unwrap()[0].ssp =
            Some(ServiceSpecificPermissions::Bitmap(&[1, 0xff, 0xfc]));
    }),
    ("toBeSigned.id", |ticket| ticket.to_be_signed.id = CertificateId::Name("car 7")),
    ("toBeSigned.cracaId", |ticket| ticket.to_be_signed.craca_id = HashedId3([0, 0, 7])),
    ("toBeSigned.crlSeries", |ticket| ticket.to_be_signed.crl_series = 3),
    ("toBeSigned.validityPeriod.duration", |ticket| {
        ticket.to_be_signed.validity_period.duration = Duration::Hours(100);
    }),
    ("toBeSigned.validityPeriod.start", |ticket| ticket.to_be_signed.validity_period.start.0 += 7_200),
    ("issuer", |ticket| ticket.issuer = IssuerIdentifier::Sha256AndDigest(HashedId8([7; 8]))),
];

const NAMES: [&str; 20] = [
    "00.oer", "01.oer", "02.oer", "03.oer", "04.oer", "05.oer", "06.oer", "07.oer", "08.oer", "09.oer", "10.oer",
    "11.oer", "12.oer", "13.oer", "14.oer", "15.oer", "16.oer", "17.oer", "18.oer", "19.oer",
];

struct Case<'a> {
    batch: Vec<BatchTicket<'a>>,
    others: Vec<Certificate<'a>>,
}

/// A batch of four to twenty tickets beside ten to a hundred of others.
fn case<'a>(stock: &[Certificate<'a>], population: Population, numbers: &mut ChaCha20Rng) -> Case<'a> {
    let (own, strange) = (4 + pick(numbers, 17), 10 + pick(numbers, 91));
    let mut all: Vec<_> = stock[..own + strange].to_vec();
    all.iter_mut().for_each(|ticket| population.deal(ticket, numbers));
    let others = all.split_off(own);
    let batch = NAMES.into_iter().zip(all).map(|(name, certificate)| BatchTicket { name, certificate }).collect();
    Case { batch, others }
}

fn violations(report: &Report) -> Vec<(&str, &str)> {
    let violations = report.findings.iter().filter(|finding| finding.severity == Severity::Violation);
    violations.map(|finding| (finding.path.as_str(), finding.what.as_str())).collect()
}

#[test]
fn what_is_dealt_to_all_vehicles_alike_is_hardly_ever_named() {
    let tickets = tickets(NAMES.len() + 100);
    let stock: Vec<_> = tickets.iter().map(CertificateBuf::view).collect();
    for population in Population::ALL {
        let mut numbers = rng(301);
        let mut named = 0;
        for number in 0..batches() {
            let Case { batch, others } = case(&stock, population, &mut numbers);
            let report = linking(&batch, &others);
            if !violations(&report).is_empty() {
                println!("{population:?}, batch {number}: {:?}", violations(&report));
                named += 1;
            }
        }
        println!("{population:?}: {named} of {} clean batches named", batches());
        // One of a hundred may be; of fewer batches, one.
        assert!(named * 100 <= batches().max(100), "{population:?}: {named} of {}", batches());
    }
}

#[test]
fn whatever_one_vehicle_has_alone_is_named_with_its_files() {
    let tickets = tickets(NAMES.len() + 100);
    let stock: Vec<_> = tickets.iter().map(CertificateBuf::view).collect();
    for population in Population::ALL {
        let mut numbers = rng(302);
        for number in 0..batches() {
            let Case { mut batch, others } = case(&stock, population, &mut numbers);
            let (field, plant) = PLANTS[pick(&mut numbers, PLANTS.len())];
            let mut planted = Vec::new();
            let count = 1 + pick(&mut numbers, batch.len());
            while planted.len() < count {
                let ticket = pick(&mut numbers, batch.len());
                if !planted.contains(&ticket) {
                    planted.push(ticket);
                }
            }
            planted.sort_unstable();
            for ticket in &planted {
                // Of one kind before, so that the value is one.
                batch[*ticket].certificate = stock[*ticket].clone();
                plant(&mut batch[*ticket].certificate);
            }
            let report = linking(&batch, &others);
            let files = planted.iter().map(|ticket| NAMES[*ticket]).collect::<Vec<_>>().join(", ");
            let severity = if count == 1 { Severity::Note } else { Severity::Violation };
            let is_named = report.findings.iter().any(|finding| {
                finding.path == field && finding.severity == severity && finding.what.ends_with(&format!(": {files}"))
            });
            // One ticket links nobody, and is worth a note only where nobody else has a value of their own.
            let is_excused = count == 1
                && (field == "toBeSigned.validityPeriod.start" || !matches!(population, Population::OneKind));
            assert!(
                is_named || is_excused,
                "{population:?}, batch {number}: {field} in {files}: {:?}",
                report.findings
            );
        }
        println!("{population:?}: {0} of {0} planted values named", batches());
    }
}

/// A daemon has tickets of the next week ahead of time, and others need not.
#[test]
fn tickets_of_the_next_week_link_nobody() {
    const WEEK_S: u32 = 7 * 86_400;
    let tickets = tickets(24);
    let mut own: Vec<_> = tickets.iter().map(CertificateBuf::view).collect();
    let others = own.split_off(12);
    own[6..].iter_mut().for_each(|ticket| ticket.to_be_signed.validity_period.start.0 += WEEK_S);
    let named = |own: &[Certificate<'_>]| {
        let batch = NAMES.into_iter().zip(own).map(|(name, ticket)| BatchTicket { name, certificate: ticket.clone() });
        let report = linking(&batch.collect::<Vec<_>>(), &others);
        violations(&report).into_iter().map(|(field, _)| field.to_owned()).collect::<Vec<_>>()
    };
    assert!(named(&own).is_empty(), "{:?}", named(&own));
    own[6..].iter_mut().for_each(|ticket| ticket.to_be_signed.validity_period.start.0 += 3_600);
    assert_eq!(named(&own), ["toBeSigned.validityPeriod.start"]);
}
