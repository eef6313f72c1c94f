//! What a receiver promises.

use chronoseal_core::Duration;
use chronoseal_wire::can::iso_tp::{FrameFormat, PduError, SeparationTime};

use super::super::{ReceiveAbort, ReceiveEvent, ReceiveIgnored, Receiver, ReceiverConfig, Reception};
use super::{drain_receiver, ms};

const CONTINUE: [u8; 8] = [0x30, 0, 0, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc];
/// The first frame of 20 bytes.
const FIRST: [u8; 8] = [0x10, 20, 1, 2, 3, 4, 5, 6];
const SECOND: [u8; 8] = [0x21, 7, 8, 9, 10, 11, 12, 13];
const THIRD: [u8; 8] = [0x22, 14, 15, 16, 17, 18, 19, 20];

fn config(reception: Reception) -> ReceiverConfig {
    ReceiverConfig::new(FrameFormat::classical(), reception)
}

fn flow_controlled() -> Receiver {
    Receiver::new(config(Reception::flow_controlled())).unwrap()
}

fn whole() -> ReceiveEvent {
    ReceiveEvent::Received((1..=20).collect())
}

fn ignored(reason: ReceiveIgnored) -> ReceiveEvent {
    ReceiveEvent::Ignored(reason)
}

fn aborted(reason: ReceiveAbort, received: usize) -> ReceiveEvent {
    ReceiveEvent::Aborted { reason, received }
}

/// The events of `frames`, which come at once.
fn events_of(receiver: &mut Receiver, frames: &[&[u8]]) -> Vec<ReceiveEvent> {
    let mut events = Vec::new();
    for frame in frames {
        receiver.handle_frame(ms(0), frame);
        events.extend(drain_receiver(receiver, ms(0)).1);
    }
    events
}

#[test]
fn answers_the_first_frame_and_puts_the_message_together() {
    let mut receiver = flow_controlled();
    receiver.handle_frame(ms(0), &FIRST);
    assert_eq!(drain_receiver(&mut receiver, ms(0)), (vec![CONTINUE.to_vec()], vec![], Some(ms(1_000))));
    receiver.handle_frame(ms(5), &SECOND);
    assert_eq!(drain_receiver(&mut receiver, ms(5)), (vec![], vec![], Some(ms(1_005))));
    receiver.handle_frame(ms(6), &THIRD);
    assert_eq!(drain_receiver(&mut receiver, ms(6)), (vec![], vec![whole()], None));
    assert!(receiver.is_idle());
}

#[test]
fn answers_after_each_block() {
    let reception = Reception::FlowControlled {
        block_size: 1,
        separation_time: SeparationTime::from_raw(0xf2),
        waits_max: 0,
        wait_interval: Duration::from_ms(1),
    };
    let mut receiver = Receiver::new(config(reception)).unwrap();
    for (frame, answers) in [(FIRST, 1), (SECOND, 1), (THIRD, 0)] {
        receiver.handle_frame(ms(0), &frame);
        let frames = drain_receiver(&mut receiver, ms(0)).0;
        assert_eq!(frames.len(), answers);
        assert!(frames.iter().all(|frame| frame.starts_with(&[0x30, 1, 0xf2])));
    }
}

#[test]
fn a_message_at_the_limit_is_taken_and_one_above_is_answered_with_overflow() {
    let limited = ReceiverConfig { message_len_max: 20, ..config(Reception::flow_controlled()) };
    assert_eq!(events_of(&mut Receiver::new(limited).unwrap(), &[&FIRST, &SECOND, &THIRD]), [whole()]);

    let limited = ReceiverConfig { message_len_max: 19, ..limited };
    let mut receiver = Receiver::new(limited).unwrap();
    receiver.handle_frame(ms(0), &FIRST);
    let (frames, events, wake) = drain_receiver(&mut receiver, ms(0));
    assert_eq!(frames, [[0x32, 0, 0, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc]]);
    assert_eq!(events, [ReceiveEvent::Refused { message_len: 20, message_len_max: 19 }]);
    assert_eq!(wake, None);

    // Nobody answers single frames and broadcasts.
    let short = ReceiverConfig { message_len_max: 2, ..limited };
    let mut receiver = Receiver::new(short).unwrap();
    assert_eq!(events_of(&mut receiver, &[&[2, 1, 1]]), [ReceiveEvent::Received(vec![1, 1])]);
    receiver.handle_frame(ms(0), &[3, 1, 1, 1]);
    let refused = ReceiveEvent::Refused { message_len: 3, message_len_max: 2 };
    assert_eq!(drain_receiver(&mut receiver, ms(0)), (vec![], vec![refused], None));
    let mut receiver = Receiver::new(ReceiverConfig { reception: Reception::PacedBroadcast, ..limited }).unwrap();
    receiver.handle_frame(ms(0), &FIRST);
    let refused = ReceiveEvent::Refused { message_len: 20, message_len_max: 19 };
    assert_eq!(drain_receiver(&mut receiver, ms(0)), (vec![], vec![refused], None));
}

#[test]
fn a_refusal_that_was_not_polled_is_dropped_for_the_next_message() {
    let mut receiver =
        Receiver::new(ReceiverConfig { message_len_max: 20, ..config(Reception::flow_controlled()) }).unwrap();
    receiver.handle_frame(ms(0), &[0x10, 21, 1, 2, 3, 4, 5, 6]);
    receiver.handle_frame(ms(0), &FIRST);
    assert_eq!(drain_receiver(&mut receiver, ms(0)).0, [CONTINUE]);
}

#[test]
fn a_lost_a_doubled_and_a_late_frame_are_wrong_sequence_numbers() {
    let wrong = |expected, found| ReceiveAbort::WrongSequenceNumber { expected, found };
    let unexpected = || ignored(ReceiveIgnored::UnexpectedConsecutiveFrame);
    let events = events_of(&mut flow_controlled(), &[&FIRST, &THIRD]);
    assert_eq!(events, [aborted(wrong(1, 2), 6)]);
    let events = events_of(&mut flow_controlled(), &[&FIRST, &SECOND, &SECOND, &THIRD]);
    assert_eq!(events, [aborted(wrong(2, 1), 13), unexpected()]);
}

#[test]
fn another_message_interrupts_the_one_before() {
    let events = events_of(&mut flow_controlled(), &[&FIRST, &SECOND, &FIRST, &SECOND, &THIRD]);
    assert_eq!(events, [aborted(ReceiveAbort::Interrupted, 13), whole()]);
    let events = events_of(&mut flow_controlled(), &[&FIRST, &[1, 0x55], &SECOND]);
    let expected = [
        aborted(ReceiveAbort::Interrupted, 6),
        ReceiveEvent::Received(vec![0x55]),
        ignored(ReceiveIgnored::UnexpectedConsecutiveFrame),
    ];
    assert_eq!(events, expected);
}

#[test]
fn gives_up_when_the_next_frame_does_not_come_within_n_cr() {
    let mut receiver = flow_controlled();
    receiver.handle_frame(ms(0), &FIRST);
    drain_receiver(&mut receiver, ms(0));
    receiver.handle_frame(ms(999), &SECOND);
    assert_eq!(drain_receiver(&mut receiver, ms(1_998)).1, []);
    assert_eq!(drain_receiver(&mut receiver, ms(1_999)).1, [aborted(ReceiveAbort::ConsecutiveFrameMissing, 13)]);
    receiver.handle_frame(ms(2_000), &THIRD);
    let late = ignored(ReceiveIgnored::UnexpectedConsecutiveFrame);
    assert_eq!(drain_receiver(&mut receiver, ms(2_000)).1, [late]);
}

#[test]
fn every_frame_but_the_last_is_as_long_as_the_first() {
    let wrong = |expected, found| ReceiveAbort::WrongFrameLength { expected, found };
    for (frames, event) in [
        (vec![&FIRST[..], &SECOND[..7]], aborted(wrong(8, 7), 6)),
        (vec![&FIRST, &[0x21; 12]], aborted(wrong(8, 12), 6)),
        (vec![&FIRST, &SECOND, &THIRD[..7]], aborted(wrong(8, 7), 13)),
        (vec![&FIRST, &SECOND, &[0x22; 12]], aborted(wrong(8, 12), 13)),
    ] {
        assert_eq!(events_of(&mut flow_controlled(), &frames), [event]);
    }
    // The last may be short or padded.
    let first = [0x10, 8, 1, 2, 3, 4, 5, 6];
    for last in [&[0x21, 7, 8][..], &[0x21, 7, 8, 0, 0, 0, 0, 0]] {
        let received = ReceiveEvent::Received((1..=8).collect());
        assert_eq!(events_of(&mut flow_controlled(), &[&first, last]), [received]);
    }
    let short = aborted(wrong(3, 2), 6);
    assert_eq!(events_of(&mut flow_controlled(), &[&first, &[0x21, 7]]), [short]);
}

#[test]
fn asks_to_wait_while_it_is_busy_and_gives_up_after_wft_max() {
    let reception = Reception::FlowControlled {
        block_size: 0,
        separation_time: SeparationTime::ZERO,
        waits_max: 2,
        wait_interval: Duration::from_ms(100),
    };
    let busy = || {
        let mut receiver = Receiver::new(config(reception)).unwrap();
        receiver.set_busy(true);
        receiver.handle_frame(ms(0), &FIRST);
        for now in [0, 100] {
            let (frames, events, wake) = drain_receiver(&mut receiver, ms(now));
            assert_eq!((frames.len(), frames[0][0], events.len()), (1, 0x31, 0));
            assert_eq!(wake, Some(ms(now + 100)));
            assert_eq!(drain_receiver(&mut receiver, ms(now + 99)).0.len(), 0);
        }
        receiver
    };
    let mut receiver = busy();
    assert_eq!(drain_receiver(&mut receiver, ms(200)), (vec![], vec![aborted(ReceiveAbort::TooManyWaits, 6)], None));

    let mut receiver = busy();
    // A frame it did not ask for.
    receiver.handle_frame(ms(150), &SECOND);
    let early = ignored(ReceiveIgnored::UnexpectedConsecutiveFrame);
    assert_eq!(drain_receiver(&mut receiver, ms(150)).1, [early]);
    receiver.set_busy(false);
    assert_eq!(drain_receiver(&mut receiver, ms(160)).0, [CONTINUE]);
    assert_eq!(events_of(&mut receiver, &[&SECOND, &THIRD]), [whole()]);
}

#[test]
fn takes_single_frames_only_where_that_is_agreed() {
    let mut receiver = Receiver::new(config(Reception::SingleFrame)).unwrap();
    receiver.handle_frame(ms(0), &FIRST);
    let segmented = ignored(ReceiveIgnored::SegmentedMessage);
    assert_eq!(drain_receiver(&mut receiver, ms(0)), (vec![], vec![segmented], None));
    assert_eq!(events_of(&mut receiver, &[&[1, 7]]), [ReceiveEvent::Received(vec![7])]);
}

#[test]
fn a_paced_broadcast_is_not_answered() {
    let mut receiver = Receiver::new(config(Reception::PacedBroadcast)).unwrap();
    for frame in [FIRST, SECOND] {
        receiver.handle_frame(ms(0), &frame);
        assert_eq!(drain_receiver(&mut receiver, ms(0)), (vec![], vec![], Some(ms(1_000))));
    }
    assert_eq!(events_of(&mut receiver, &[&THIRD]), [whole()]);
}

#[test]
fn what_is_malformed_is_an_event_and_flow_control_is_not_its_affair() {
    let mut receiver = flow_controlled();
    let events = events_of(&mut receiver, &[&[0x50], &[], &[0x30, 0, 0], &[0x3f, 0, 0]]);
    let malformed = |error| ignored(ReceiveIgnored::Malformed(error));
    let expected = [malformed(PduError::ReservedType(5)), malformed(PduError::Truncated { len: 0, needed: 1 })];
    assert_eq!(events, expected);
    // It does not end a message either.
    assert_eq!(events_of(&mut receiver, &[&FIRST, &[0x50], &SECOND, &THIRD]).len(), 2);
}

#[test]
fn a_driver_that_never_polls_fills_no_memory() {
    let mut receiver = flow_controlled();
    for _ in 0..100 {
        receiver.handle_frame(ms(0), &[1, 7]);
    }
    assert_eq!(drain_receiver(&mut receiver, ms(0)).1.len(), 16);
}
