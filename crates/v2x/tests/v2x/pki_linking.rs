//! What the fields of two tickets say about whether one vehicle has them.

use chronoseal_v2x::crypto::{Curve, SigningKey, SoftwareKey};
use chronoseal_v2x::message::SignerCertificate;
use chronoseal_v2x::pki::{NoAnswer, Step, TicketPeriods, TrustNobody, request_ticket};
use chronoseal_v2x::types::{CertificateBuf, Time64};
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
    let Step::Ask(question) = aa.handle(pending.message(), answers, &mut TrustNobody, at, rng).unwrap() else {
        panic!("it is asked for the first time")
    };
    let answer = ea.handle(question.message(), store, &mut TrustNobody, at, rng).unwrap().answer;
    let decision = aa.resume(&question, Ok::<_, NoAnswer>(&answer), answers, at, rng).unwrap();
    pending.ticket(&decision.answer, at).unwrap()
}

/// How far two tickets are from each other in all that is legible in them but keys and signatures: the more fields differ, the
/// farther; then by how much their times do.
fn distance(one: &CertificateBuf, other: &CertificateBuf) -> (usize, u64) {
    let (one, other) = (one.view(), other.view());
    let (a, b) = (&one.to_be_signed, &other.to_be_signed);
    let differs = [
        one.issuer != other.issuer,
        a.id != b.id,
        a.craca_id != b.craca_id || a.crl_series != b.crl_series,
        a.validity_period.duration != b.validity_period.duration,
        a.region != b.region,
        a.assurance_level != b.assurance_level,
        a.app_permissions != b.app_permissions,
        a.encryption_key.is_some() != b.encryption_key.is_some(),
        one.received.0.len() != other.received.0.len(),
    ];
    let apart_s = a.validity_period.start.0.abs_diff(b.validity_period.start.0);
    (differs.into_iter().filter(|differs| *differs).count(), apart_s.into())
}

/// Of so many pairs, each of a ticket and one that may be of the same vehicle, beside one that is of another: how many times the
/// eavesdropper picks the right one, by the fields alone and a coin where they say nothing.
fn linked(periods: TicketPeriods) -> usize {
    let mut world = World::new();
    world.ea.policy.ticket_periods = periods;
    world.ea.policy.tickets_at_once_max = u32::MAX;
    let mut numbers = rng(90);
    let mut fleet: Vec<Vec<CertificateBuf>> = Vec::new();
    for _ in 0..VEHICLES {
        let mut credential = world.enrol();
        // Some time in one week, as all tickets are that can be heard at one time; one ticket after the other, some milliseconds apart.
        let week = Time64(NOW.0 / WEEK_US * WEEK_US + WEEK_US);
        let begin = week.plus_us(numbers.next_u64() % (WEEK_US - 1_000_000));
        let at = |number: usize| begin.plus_us(number as u64 * 5_000);
        fleet.push((0..TICKETS).map(|number| ticket(&mut world, &mut credential, at(number))).collect());
    }
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

#[test]
fn tickets_of_the_week_are_linked_by_their_fields_no_more_than_by_a_coin() {
    // 99 % of as many throws of a coin are within 2.576 standard deviations.
    let half_width = 2.576 * (PAIRS as f64 / 4.0).sqrt();
    let chance = PAIRS as f64 / 2.0;
    for periods in TicketPeriods::ALL {
        let linked = linked(periods);
        let (low, high) = (chance - half_width, chance + half_width);
        println!("{}: {linked} of {PAIRS} pairs linked; by chance {low:.0} to {high:.0}", periods.name());
        match periods {
            TicketPeriods::AsAsked => assert!(linked * 100 >= PAIRS * 99, "{linked}"),
            TicketPeriods::Hours => assert!(linked as f64 > high, "who asks in another hour is told apart: {linked}"),
            TicketPeriods::Weeks => assert!((low..=high).contains(&(linked as f64)), "{linked}"),
        }
    }
}
