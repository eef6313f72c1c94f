//! What the fields of two tickets say about whether one vehicle has them.

use chronoseal_v2x::certificate::legible_fields;
use chronoseal_v2x::crypto::{Curve, SigningKey, SoftwareKey};
use chronoseal_v2x::lint::{BatchTicket, Kind, Severity, linking};
use chronoseal_v2x::message::SignerCertificate;
use chronoseal_v2x::pki::{NoAnswer, Step, TicketPeriods, request_ticket};
use chronoseal_v2x::types::{Certificate, CertificateBuf, CertificateId, Time64};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::Rng;

use crate::pki_exchanges::{NOW, World, cam};
use crate::stations::rng;

const VEHICLES: usize = 50;
const TICKETS: usize = 4;
const PAIRS: usize = 1_000;
const WEEK_US: u64 = 7 * 86_400 * 1_000_000;

fn ticket(world: &mut World, credential: &mut (SignerCertificate, SoftwareKey), at: Time64) -> CertificateBuf {
    let mut key = SoftwareKey::generate(Curve::NistP256, &mut world.rng);
    let authorities = (&world.aa.authority.certificate, &world.ea.authority.certificate);
    let signer = (&credential.0, &mut credential.1 as &mut dyn SigningKey);
    let pending = request_ticket(&cam(), &mut key, signer, authorities, at, &mut world.rng).unwrap();
    let World { aa, ea, store, answers, rng, .. } = world;
    let Step::Ask(question) = aa.handle(pending.message(), answers, at, rng).unwrap() else {
        panic!("it is asked for the first time")
    };
    let answer = ea.handle(question.message(), store, at, rng).unwrap().done().unwrap().answer;
    let decision = aa.resume(&question, Ok::<_, NoAnswer>(&answer), answers, at, rng).unwrap();
    pending.ticket(&decision.answer, at).unwrap()
}

const START: &str = "toBeSigned.validityPeriod.start";

/// How far two tickets are from each other in all that is legible in them: the more fields differ, the farther; then by how much
/// the times differ at which they begin.
fn distance(one: &CertificateBuf, other: &CertificateBuf) -> (usize, u32) {
    let [one, other] = [one.view(), other.view()];
    let fields = legible_fields(&one).into_iter().zip(legible_fields(&other));
    let differ = fields.filter(|(a, b)| a.name != START && a.value != b.value).count();
    let start = |ticket: &Certificate<'_>| ticket.to_be_signed.validity_period.start.0;
    (differ, start(&one).abs_diff(start(&other)))
}

/// A fleet whose vehicles each ask for some tickets, one after the other, some milliseconds apart, at some time in one week: as all
/// tickets are that can be heard at one time.
fn fleet(periods: TicketPeriods, vehicles: usize) -> (Vec<Vec<CertificateBuf>>, ChaCha20Rng) {
    let mut world = World::new();
    world.ea.policy.ticket_periods = periods;
    world.ea.policy.tickets_at_once_max = u32::MAX;
    let mut numbers = rng(90);
    let mut fleet: Vec<Vec<CertificateBuf>> = Vec::new();
    for _ in 0..vehicles {
        let mut credential = world.enrol();
        let week = Time64(NOW.0 / WEEK_US * WEEK_US + WEEK_US);
        let begin = week.plus_us(numbers.next_u64() % (WEEK_US - 1_000_000));
        let at = |number: usize| begin.plus_us(number as u64 * 5_000);
        fleet.push((0..TICKETS).map(|number| ticket(&mut world, &mut credential, at(number))).collect());
    }
    (fleet, numbers)
}

/// Of so many pairs, each of a ticket and one that may be of the same vehicle, beside one that is of another: how many times the
/// eavesdropper picks the right one, by the fields alone and a coin where they say nothing.
fn linked(periods: TicketPeriods) -> usize {
    let (fleet, mut numbers) = fleet(periods, VEHICLES);
    let mut pick = |count: usize| (numbers.next_u64() % count as u64) as usize;
    (0..PAIRS)
        .filter(|_| {
            let vehicle = pick(VEHICLES);
            let other = (vehicle + 1 + pick(VEHICLES - 1)) % VEHICLES;
            let heard = pick(TICKETS);
            let same = (heard + 1 + pick(TICKETS - 1)) % TICKETS;
            let stranger = &fleet[other][pick(TICKETS)];
            let ticket = &fleet[vehicle][heard];
            match distance(ticket, &fleet[vehicle][same]).cmp(&distance(ticket, stranger)) {
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
fn tickets_of_the_week_are_linked_by_their_fields_no_more_than_by_a_coin() {
    for periods in TicketPeriods::ALL {
        let linked = linked(periods);
        let [low, high] = interval_99(linked, PAIRS);
        println!(
            "{}: {:.1} % of {PAIRS} pairs linked by all fields of the certificate, 99 % interval {:.1} to {:.1} %; a coin links 50 %",
            periods.name(),
            100.0 * linked as f64 / PAIRS as f64,
            100.0 * low,
            100.0 * high
        );
        match periods {
            // As they were before there was a policy.
            TicketPeriods::AsAsked => assert!(linked * 100 >= PAIRS * 99, "{linked}"),
            TicketPeriods::Hours => assert!(low > 0.5, "who asks in another hour is told apart: {linked}"),
            TicketPeriods::Weeks => assert!(low <= 0.5 && 0.5 <= high, "{linked}"),
        }
    }
}

/// Tickets with names, as files have them.
fn batch_of<'a>(tickets: &[Certificate<'a>]) -> Vec<BatchTicket<'a>> {
    const NAMES: [&str; 24] = [
        "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t", "u", "v",
        "w", "x",
    ];
    NAMES
        .into_iter()
        .zip(tickets)
        .map(|(name, certificate)| BatchTicket { name, certificate: certificate.clone() })
        .collect()
}

#[test]
fn lint_names_the_field_that_links_the_tickets_of_a_batch() {
    for periods in TicketPeriods::ALL {
        let (fleet, _) = fleet(periods, 12);
        let batch: Vec<_> = fleet[0].iter().map(CertificateBuf::view).collect();
        let others: Vec<_> = fleet[1..].iter().flatten().map(CertificateBuf::view).collect();
        let links = |report: &chronoseal_v2x::lint::Report| -> Vec<String> {
            assert_eq!(report.kind, Kind::Batch);
            let violations = report.findings.iter().filter(|finding| finding.severity == Severity::Violation);
            violations.map(|finding| finding.path.clone()).collect()
        };
        let batch = batch_of(&batch);
        let (alone, beside) = (linking(&batch, &[]), linking(&batch, &others));
        assert!(!alone.is_checked() && beside.is_checked());
        let expected = if periods == TicketPeriods::Weeks { vec![] } else { vec![START.to_owned()] };
        assert_eq!(links(&alone), expected, "{}: {:?}", periods.name(), alone.findings);
        assert_eq!(links(&beside), expected, "{}: {:?}", periods.name(), beside.findings);
        let fields = legible_fields(&batch[0].certificate);
        for field in &fields {
            let is_named = alone.facts.iter().any(|(name, _)| name == field.name)
                || alone.findings.iter().any(|finding| finding.path == field.name);
            assert!(is_named, "{}", field.name);
        }
    }
    assert!(!linking(&[], &[]).is_clean(), "no ticket is no batch");
}

#[test]
fn lint_sees_whatever_else_vehicles_do_not_have_in_common() {
    let (fleet, _) = fleet(TicketPeriods::Weeks, 3);
    let all: Vec<Vec<Certificate<'_>>> =
        fleet.iter().map(|tickets| tickets.iter().map(CertificateBuf::view).collect()).collect();
    let others = [&all[1][..], &all[2][..]].concat();
    type Change = fn(&mut Certificate<'_>);
    let cases: [(&str, Change); 4] = [
        ("toBeSigned.assuranceLevel", |ticket| ticket.to_be_signed.assurance_level = Some(0x40)),
        ("toBeSigned.appPermissions", |ticket| {
            let list = ticket.to_be_signed.app_permissions.as_mut().expect("permissions");
            list[0].ssp = None;
        }),
        ("toBeSigned.id", |ticket| ticket.to_be_signed.id = CertificateId::Name("car 7")),
        ("toBeSigned.flags", |ticket| ticket.to_be_signed.flags = Some(0x80)),
    ];
    for (field, change) in cases {
        let mut batch = all[0].clone();
        batch.iter_mut().for_each(change);
        let report = linking(&batch_of(&batch), &others);
        let named: Vec<_> = report.findings.iter().map(|finding| finding.path.as_str()).collect();
        assert_eq!(named, [field], "{:?}", report.findings);
        let what = &report.findings[0].what;
        assert!(
            what.contains("in 4 of 4 tickets of this vehicle, in 0 of 8 of others") && what.ends_with(": a, b, c, d"),
            "{what}"
        );
    }
    // One key in two tickets.
    let mut batch = all[0].clone();
    batch[1].to_be_signed.verify_key_indicator = batch[0].to_be_signed.verify_key_indicator.clone();
    let report = linking(&batch_of(&batch), &others);
    assert_eq!(report.findings.len(), 1, "{:?}", report.findings);
    assert_eq!(report.findings[0].path, "toBeSigned.verifyKeyIndicator");
    assert!(report.findings[0].what.ends_with(": a, b"), "{:?}", report.findings);
}
