//! Stations that send and receive virtual links (ARINC 664 part 7).

use chronoseal_core::{DiscardReason, Duration, EventKind, LocalTime, PortId, Priority, StreamId};
use chronoseal_core_testing::{Contract, Script};
use chronoseal_frameauth::Freshness;
use chronoseal_nodes::end_system::{
    EndSystem, EndSystemConfig, ListenerConfig, ReceiveWindow, Replication, SendSlot, TalkerConfig, TalkerTiming,
    VirtualLinkConfig,
};
use chronoseal_wire::ethernet::{Frame, TypeOrLength};
use chronoseal_wire::test_bed_header::TestBedHeader;
use chronoseal_wire::virtual_link::{self, SequenceNumber};

use super::end_system::{config, talker};
use super::{STREAM, at, count, hmac, ms};

const CT_ID: u16 = 9;
const BAG: Duration = Duration::from_ms(4);

/// Has a frame ready every millisecond, of which one may go in each gap.
fn sender() -> Box<EndSystem> {
    let timing = TalkerTiming::Periodic { priority: 0, phase: Duration::ZERO, pace: Duration::from_ms(1).into() };
    let link =
        VirtualLinkConfig { ct_id: CT_ID, bag: BAG, priority: Priority::RATE_CONSTRAINED_HIGH, is_replicated: false };
    let talkers = vec![TalkerConfig { virtual_link: Some(link), ..talker(STREAM, timing, hmac(Freshness::Full)) }];
    Box::new(EndSystem::new(EndSystemConfig { talkers, ..config(0, true) }).expect("it is able to"))
}

fn receiver() -> Box<EndSystem> {
    let listener = ListenerConfig::new(STREAM, Some(CT_ID), Vec::new(), hmac(Freshness::Full));
    let listeners = vec![ListenerConfig { is_virtual_link: true, ..listener }];
    Box::new(EndSystem::new(EndSystemConfig { listeners, ..config(1, true) }).expect("it is able to"))
}

/// The frames of the sender, as many as it makes until 11 ms have passed.
fn frames() -> Vec<(LocalTime, Vec<u8>)> {
    let sent = Contract::new(0..1, Script::until(ms(11)), sender).check();
    sent.frames().map(|(launch_at, _, bytes)| (launch_at, bytes.to_vec())).collect()
}

#[test]
fn a_sender_lets_one_frame_go_in_each_gap_and_numbers_it() {
    let frames = frames();
    assert_eq!(frames.len(), 12);
    for (number, (launch_at, bytes)) in frames.iter().enumerate() {
        assert_eq!(*launch_at, at(BAG * number as i64));
        let frame = Frame::new_checked(bytes).expect("it is one");
        assert_eq!(virtual_link::ct_id(frame.destination(), [3, 4, 5, 6]), Some(CT_ID));
        assert_eq!(
            frame.type_or_length(),
            TypeOrLength::Length(bytes.len() as u16 - 14),
            "as scheduled frames have it"
        );
        let (_, last) = SequenceNumber::split(frame.payload()).expect("it has a last byte");
        assert_eq!(last, SequenceNumber(number as u8));
    }
}

#[test]
fn a_receiver_takes_one_frame_missing_and_not_two() {
    // Of twelve frames the third is lost, and the sixth and the seventh.
    let mut script = Script::until(ms(100));
    for (number, (launch_at, bytes)) in frames().into_iter().enumerate() {
        if ![2, 5, 6].contains(&number) {
            script = script.hear(launch_at + Duration::from_us(100), PortId(0), &bytes);
        }
    }
    let heard = Contract::new(0..1, script, receiver).check();
    // The eighth is too far on, and the ninth follows it.
    assert_eq!(count(&heard, |kind| kind == EventKind::Delivered), 8);
    assert_eq!(count(&heard, |kind| kind == EventKind::Discarded(DiscardReason::OutOfSequence)), 1);
}

#[test]
fn the_number_of_a_forged_frame_counts_for_nothing() {
    let mut script = Script::until(ms(100));
    for (launch_at, bytes) in frames() {
        let mut forged = bytes.clone();
        forged[50] ^= 1;
        *forged.last_mut().expect("it has a last byte") = 200;
        let arrives = launch_at + Duration::from_us(100);
        script = script.hear(arrives, PortId(0), &forged).hear(arrives + Duration::from_us(100), PortId(0), &bytes);
    }
    let heard = Contract::new(0..1, script, receiver).check();
    assert_eq!(count(&heard, |kind| kind == EventKind::Delivered), 12);
    assert_eq!(count(&heard, |kind| kind == EventKind::Discarded(DiscardReason::TagMismatch)), 12);
}

/// The receiver of [`receiver`], with a port to each of the networks A and B.
fn receiver_of_both() -> Box<EndSystem> {
    let listener = ListenerConfig::new(STREAM, Some(CT_ID), Vec::new(), hmac(Freshness::Full));
    let replication = Some(Replication::Networks { skew_max: Duration::from_ms(1) });
    let listeners = vec![ListenerConfig { is_virtual_link: true, replication, ..listener }];
    let config = EndSystemConfig { listeners, has_second_port: true, ..config(1, true) };
    Box::new(EndSystem::new(config).expect("it is able to"))
}

#[test]
fn a_receiver_of_two_networks_takes_the_first_copy_and_no_forged_one() {
    let mut script = Script::until(ms(100));
    for (number, (launch_at, bytes)) in frames().into_iter().enumerate() {
        let mut forged = bytes.clone();
        forged[50] ^= 1;
        let after = |us: i64| launch_at + Duration::from_us(us);
        // Somebody is faster than the true frame; A brings it but for the third and the last six.
        script = script.hear(after(100), PortId(1), &forged);
        if number != 2 && number < 6 {
            script = script.hear(after(200), PortId(0), &bytes);
        }
        script = script.hear(after(300), PortId(1), &bytes);
    }
    let heard = Contract::new(0..2, script, receiver_of_both).check();
    assert_eq!(count(&heard, |kind| kind == EventKind::Delivered), 12);
    assert_eq!(count(&heard, |kind| kind == EventKind::Discarded(DiscardReason::TagMismatch)), 12);
    assert_eq!(count(&heard, |kind| kind == EventKind::Discarded(DiscardReason::CopyEliminated)), 5);
}

const SLOT: Duration = Duration::from_ms(1);

/// Sends a numbered frame in a slot of each cycle.
fn sender_in_slots() -> Box<EndSystem> {
    let slots = vec![SendSlot { release: SLOT, start: SLOT }];
    let timing = TalkerTiming::Slots { ct_id: CT_ID, slots, is_numbered: true, samples: false, application: None };
    let talkers = vec![talker(STREAM, timing, hmac(Freshness::CycleCounter))];
    Box::new(EndSystem::new(EndSystemConfig { talkers, ..config(0, true) }).expect("it is able to"))
}

/// Hears them over A within 0.2 ms, and over B between 0.5 ms and 1 ms.
fn receiver_in_slots() -> Box<EndSystem> {
    let window = |opens: i64, closes: i64| ReceiveWindow {
        slot_start: SLOT,
        opens: SLOT + Duration::from_us(opens),
        closes: SLOT + Duration::from_us(closes),
    };
    let listener = ListenerConfig::new(STREAM, Some(CT_ID), vec![window(0, 200)], hmac(Freshness::CycleCounter));
    let replication = Some(Replication::Networks { skew_max: Duration::from_ms(10) });
    let listeners = vec![ListenerConfig { second_windows: vec![window(500, 1_000)], replication, ..listener }];
    let config = EndSystemConfig { listeners, has_second_port: true, ..config(1, true) };
    Box::new(EndSystem::new(config).expect("it is able to"))
}

#[test]
fn each_network_has_windows_of_its_own_and_a_forged_frame_takes_no_slot() {
    let sent = Contract::new(0..1, Script::until(ms(95)), sender_in_slots).check();
    let frames: Vec<_> = sent.frames().map(|(launch_at, _, bytes)| (launch_at, bytes.to_vec())).collect();
    assert_eq!(frames.len(), 10);
    let mut script = Script::until(ms(100));
    for (number, (launch_at, bytes)) in frames.iter().enumerate() {
        assert_eq!(SequenceNumber::split(&bytes[14..]).map(|(_, last)| last), Some(SequenceNumber(number as u8)));
        let after = |us: i64| *launch_at + Duration::from_us(us);
        let mut forged = bytes.clone();
        forged[50] ^= 1;
        // A true frame with another number is in a slot that is taken, or it is thrown away for its number.
        let mut renumbered = bytes.clone();
        *renumbered.last_mut().expect("it has a last byte") += 1;
        script = match number {
            // Both copies, the later one twice.
            0 => script.hear(after(100), PortId(0), bytes).hear(after(600), PortId(1), bytes).hear(
                after(700),
                PortId(1),
                bytes,
            ),
            // B alone; in the window of A it would be out of time.
            1 => script.hear(after(100), PortId(1), bytes).hear(after(600), PortId(1), bytes),
            // A alone; in the window of B it would be out of time.
            2 => script.hear(after(100), PortId(0), bytes).hear(after(600), PortId(0), bytes),
            3 => script.hear(after(50), PortId(0), &forged).hear(after(600), PortId(1), bytes),
            4 => script.hear(after(50), PortId(0), &forged).hear(after(100), PortId(0), bytes),
            5 => script.hear(after(100), PortId(0), bytes).hear(after(600), PortId(1), &renumbered),
            // Nothing of the seventh.
            6 => script,
            _ => script.hear(after(100), PortId(0), bytes).hear(after(600), PortId(1), bytes),
        };
    }
    let heard = Contract::new(0..2, script, receiver_in_slots).check();
    let discarded = |reason| count(&heard, |kind| kind == EventKind::Discarded(reason));
    assert_eq!(count(&heard, |kind| kind == EventKind::Delivered), 9);
    assert_eq!(discarded(DiscardReason::CopyEliminated), 5);
    assert_eq!(discarded(DiscardReason::OutsideWindow), 2);
    assert_eq!(discarded(DiscardReason::TagMismatch), 2);
    assert_eq!(discarded(DiscardReason::DuplicateInWindow), 1);
    assert_eq!(count(&heard, |kind| kind == EventKind::Missing), 1);
}

/// Two streams in one virtual link: the first has a frame ready every millisecond, the second every eight.
fn sender_of_two() -> Box<EndSystem> {
    let link =
        VirtualLinkConfig { ct_id: CT_ID, bag: BAG, priority: Priority::RATE_CONSTRAINED_HIGH, is_replicated: false };
    let every = |stream, period: i64| {
        let pace = Duration::from_ms(period).into();
        let timing = TalkerTiming::Periodic { priority: 0, phase: Duration::ZERO, pace };
        TalkerConfig { virtual_link: Some(link), ..talker(stream, timing, hmac(Freshness::Full)) }
    };
    let talkers = vec![every(STREAM, 1), every(SECOND, 8)];
    Box::new(EndSystem::new(EndSystemConfig { talkers, ..config(0, true) }).expect("it is able to"))
}

/// Another stream than that of all other tests.
const SECOND: StreamId = StreamId(STREAM.0 + 1);

fn receiver_of_two() -> Box<EndSystem> {
    let listener = |stream| ListenerConfig {
        is_virtual_link: true,
        ..ListenerConfig::new(stream, Some(CT_ID), Vec::new(), hmac(Freshness::Full))
    };
    let listeners = vec![listener(STREAM), listener(SECOND)];
    Box::new(EndSystem::new(EndSystemConfig { listeners, ..config(1, true) }).expect("it is able to"))
}

#[test]
fn streams_that_share_a_virtual_link_take_turns_in_its_gaps() {
    let sent = Contract::new(0..1, Script::until(ms(30)), sender_of_two).check();
    let frames: Vec<(LocalTime, Vec<u8>)> =
        sent.frames().map(|(launch_at, _, bytes)| (launch_at, bytes.to_vec())).collect();
    let stream_of = |bytes: &[u8]| {
        let frame = Frame::new_checked(bytes).expect("it is one");
        TestBedHeader::parse(frame.payload()).expect("it has a header").stream
    };
    // By turns as long as both have a frame; the second has one only every eight milliseconds, two gaps.
    let streams: Vec<StreamId> = frames.iter().map(|(_, bytes)| stream_of(bytes)).collect();
    assert_eq!(streams, [STREAM, SECOND, STREAM, SECOND, STREAM, SECOND, STREAM, SECOND]);
    for (number, (launch_at, bytes)) in frames.iter().enumerate() {
        assert_eq!(*launch_at, at(BAG * number as i64));
        assert_eq!(bytes.last(), Some(&(number as u8)), "they have one sequence of numbers");
    }
    let mut script = Script::until(ms(100));
    for (number, (launch_at, bytes)) in frames.iter().enumerate() {
        let arrives = *launch_at + Duration::from_us(100);
        // One that says to be of the other stream, with a number far ahead: no key opens it, and its number counts for nothing.
        let mut forged = bytes.clone();
        forged[15] ^= (STREAM.0 ^ SECOND.0) as u8;
        *forged.last_mut().expect("it has a last byte") = 200;
        script = script.hear(arrives, PortId(0), &forged);
        if number != 3 {
            script = script.hear(arrives + Duration::from_us(100), PortId(0), bytes);
        }
    }
    let heard = Contract::new(0..1, script, receiver_of_two).check();
    assert_eq!(count(&heard, |kind| kind == EventKind::Delivered), 7);
    assert_eq!(count(&heard, |kind| kind == EventKind::Discarded(DiscardReason::OutOfSequence)), 0);
}
