//! What each field gives away, on a road where places alone do not tell who is who.

use chronoseal_core::random::{self, Purpose};

use crate::eavesdropper::tests::passing;
use crate::eavesdropper::{Field, Fields, Heard, TicketSeen, Trace, Tracker};

/// A trace in which everything is alike for all.
const ALIKE: Trace = Trace {
    link_address: [2, 0, 0, 0, 0, 1],
    frame_len: 200,
    generated_us: 0,
    packet_number: None,
    ticket: Some(TicketSeen { start_s: 721_526_400, others: 1 }),
    power_db: Some(0.0),
};

/// Gives each message a trace: `change` makes it of a number of the vehicle and of how many messages it has sent so far. If it
/// `keeps`, the number is the same behind the change, and messages are counted through.
fn traced(keeps: bool, change: impl Fn(&mut Trace, u64, u64)) -> Vec<Heard> {
    let mut heard = passing(8_000);
    let mut rng = random::stream(11, Purpose::Attack, 0);
    let mut draw = || (0..60).map(|_| random::uniform_i64(&mut rng, 0, 99_999) as u64).collect::<Vec<_>>();
    let numbers = [draw(), draw()];
    let mut sent = [[0; 60]; 2];
    for one in &mut heard {
        let epoch = usize::from(!keeps && one.observation.at.since_zero().as_secs_f64() >= 10.0);
        let count = &mut sent[epoch][one.vehicle];
        *count += 1;
        let mut trace = ALIKE;
        change(&mut trace, numbers[epoch][one.vehicle], *count);
        one.observation.trace = Some(trace);
    }
    heard
}

fn linked(heard: &[Heard], fields: Fields) -> u64 {
    let score = Tracker { fields, ..Tracker::default() }.score(heard);
    assert_eq!(score.changes, 60);
    score.changes_linked
}

/// Changes linked with a field that stays as it is through a change, and with one that does not; by places alone beside it.
fn kept_and_renewed(field: Field, change: impl Fn(&mut Trace, u64, u64)) -> [u64; 2] {
    [true, false].map(|keeps| {
        let heard = traced(keeps, &change);
        let found = linked(&heard, Fields::NONE.with(field));
        assert_eq!(linked(&heard, Fields::ALL), found, "the others say nothing");
        found
    })
}

#[test]
fn what_stays_the_same_links_and_what_is_renewed_does_not() {
    let by_places = linked(&passing(8_000), Fields::ALL);
    assert!(by_places < 50, "{by_places} of 60 by places");
    type Change = fn(&mut Trace, u64, u64);
    let cases: [(Field, Change); 5] = [
        (Field::LinkAddress, |trace, number, _| {
            trace.link_address[2..].copy_from_slice(&(number as u32).to_be_bytes())
        }),
        (Field::Beat, |trace, number, count| trace.generated_us = number + 100_000 * count),
        (Field::Ticket, |trace, number, _| {
            trace.ticket = Some(TicketSeen { start_s: 721_526_400 + number as u32, others: 1 });
        }),
        (Field::PacketNumber, |trace, number, count| trace.packet_number = Some((number + count) as u16)),
        (Field::FrameLength, |trace, number, _| trace.frame_len = 200 + (number % 60) as u16),
    ];
    for (field, change) in cases {
        let [kept, renewed] = kept_and_renewed(field, change);
        println!("{}: {by_places} of 60 by places, {kept} if it is kept, {renewed} if not", field.name());
        assert!(kept >= 58, "{}: {kept} of 60", field.name());
        assert!(renewed.abs_diff(by_places) <= 4, "{}: {renewed}, {by_places} by places", field.name());
    }
}

#[test]
fn a_power_of_ones_own_says_a_little_and_none_says_nothing() {
    let by_places = linked(&passing(8_000), Fields::ALL);
    // Offsets of 4 dB around the nominal power, measured exactly: 50 steps of agreement among 60 vehicles.
    let [kept, renewed] = kept_and_renewed(Field::Power, |trace, number, _| {
        trace.power_db = Some((number % 4_000) as f64 / 1_000.0 - 2.0);
    });
    assert!(kept > by_places && renewed.abs_diff(by_places) <= 4, "{kept} and {renewed}, {by_places} by places");
}

#[test]
fn a_packet_number_that_begins_anew_with_everybody_says_nothing() {
    let by_places = linked(&passing(8_000), Fields::ALL);
    // All are reset at the change: counted from one again, as everybody's.
    let heard = traced(false, |trace, _, count| trace.packet_number = Some(count as u16));
    assert_eq!(linked(&heard, Fields::ALL), by_places);
}

#[test]
fn nothing_is_learned_from_nobody() {
    assert_eq!(Tracker::default().score(&[]).changes, 0);
    let mut one = traced(true, |_, _, _| ());
    one.truncate(1);
    assert_eq!(Tracker::default().score(&one).trips, 1);
}
