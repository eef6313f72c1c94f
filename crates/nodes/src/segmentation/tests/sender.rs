//! What a sender promises.

use chronoseal_core::{Duration, LocalTime};
use chronoseal_wire::can::iso_tp::FrameFormat;

use super::super::{
    ConfigError, SPAN_MAX, SendAbort, SendError, SendEvent, SendIgnored, Sender, SenderConfig, Transfer,
};
use super::{drain_sender, message, ms};

const CONTINUE: [u8; 3] = [0x30, 0, 0];

fn sender(transfer: Transfer) -> Sender {
    Sender::new(SenderConfig::new(FrameFormat::classical(), transfer)).unwrap()
}

fn flow_controlled() -> Sender {
    sender(Transfer::flow_controlled())
}

/// A sender of 20 bytes that awaits the answer to its first frame since 0 ms.
fn awaiting() -> Sender {
    let mut sender = flow_controlled();
    sender.send(ms(0), message(20)).unwrap();
    let (frames, events, wake) = drain_sender(&mut sender, ms(0));
    assert_eq!((frames.len(), events.len(), wake), (1, 0, Some(ms(1_000))));
    sender
}

#[test]
fn a_short_message_is_one_frame_and_asks_for_no_answer() {
    let mut sender = flow_controlled();
    sender.send(ms(0), vec![1, 2, 3]).unwrap();
    let (frames, events, wake) = drain_sender(&mut sender, ms(0));
    assert_eq!(frames, [[3, 1, 2, 3, 0xcc, 0xcc, 0xcc, 0xcc]]);
    assert_eq!(events, [SendEvent::Sent { message_len: 3, frames: 1 }]);
    assert_eq!(wake, None);
    assert!(sender.is_idle());
}

#[test]
fn blocks_and_separation_are_the_receivers() {
    let mut sender = flow_controlled();
    sender.send(ms(0), message(6 + 7 * 5)).unwrap();
    assert_eq!(drain_sender(&mut sender, ms(0)).0.len(), 1);
    // Two frames, 5 ms apart.
    sender.handle_frame(ms(10), &[0x30, 2, 5]);
    let (frames, _, wake) = drain_sender(&mut sender, ms(10));
    assert_eq!((frames.len(), frames[0][0], wake), (1, 0x21, Some(ms(15))));
    assert_eq!(drain_sender(&mut sender, ms(14)).0.len(), 0);
    let (frames, _, wake) = drain_sender(&mut sender, ms(15));
    assert_eq!((frames.len(), frames[0][0], wake), (1, 0x22, Some(ms(1_015))));
    // The rest as fast as it can.
    sender.handle_frame(ms(20), &CONTINUE);
    let (frames, events, _) = drain_sender(&mut sender, ms(20));
    assert_eq!(frames.iter().map(|frame| frame[0]).collect::<Vec<_>>(), [0x23, 0x24, 0x25]);
    assert_eq!(events, [SendEvent::Sent { message_len: 41, frames: 6 }]);
}

#[test]
fn sequence_numbers_wrap_from_15_to_0() {
    let mut sender = flow_controlled();
    sender.send(ms(0), message(6 + 7 * 17)).unwrap();
    drain_sender(&mut sender, ms(0));
    sender.handle_frame(ms(1), &CONTINUE);
    let numbers: Vec<_> = drain_sender(&mut sender, ms(1)).0.iter().map(|frame| frame[0] & 0x0f).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1]);
}

#[test]
fn gives_up_when_no_answer_comes_within_n_bs() {
    let mut sender = awaiting();
    assert_eq!(drain_sender(&mut sender, ms(999)).1, []);
    let (_, events, wake) = drain_sender(&mut sender, ms(1_000));
    assert_eq!(events, [SendEvent::Aborted(SendAbort::FlowControlMissing)]);
    assert_eq!(wake, None);
    // The answer comes too late; another message can be sent.
    sender.handle_frame(ms(1_001), &CONTINUE);
    assert_eq!(drain_sender(&mut sender, ms(1_001)).1, [SendEvent::Ignored(SendIgnored::UnexpectedFlowControl)]);
    assert_eq!(sender.send(ms(1_001), vec![1]), Ok(()));
}

#[test]
fn an_answer_at_the_deadline_is_too_late() {
    let mut sender = awaiting();
    sender.handle_frame(ms(1_000), &CONTINUE);
    let (frames, events, _) = drain_sender(&mut sender, ms(1_000));
    assert_eq!(frames.len(), 0);
    assert_eq!(events[0], SendEvent::Aborted(SendAbort::FlowControlMissing));
}

#[test]
fn overflow_and_a_reserved_status_end_the_message() {
    for (answer, reason) in [
        ([0x32, 0, 0], SendAbort::Overflow),
        ([0x33, 0, 0], SendAbort::InvalidFlowStatus(3)),
        ([0x3f, 0, 0], SendAbort::InvalidFlowStatus(15)),
    ] {
        let mut sender = awaiting();
        sender.handle_frame(ms(1), &answer);
        let (frames, events, _) = drain_sender(&mut sender, ms(1));
        assert_eq!((frames.len(), events), (0, vec![SendEvent::Aborted(reason)]));
    }
}

#[test]
fn waits_as_often_as_it_may_and_each_wait_starts_n_bs_anew() {
    let mut sender = sender(Transfer::FlowControlled { n_bs: Duration::from_ms(100), waits_max: 2 });
    sender.send(ms(0), message(6 + 7 * 2)).unwrap();
    drain_sender(&mut sender, ms(0));
    for now in [90, 180] {
        sender.handle_frame(ms(now), &[0x31, 0, 0]);
        assert_eq!(drain_sender(&mut sender, ms(now)).2, Some(ms(now + 100)));
    }
    // After leave to go on, waits are counted anew.
    sender.handle_frame(ms(200), &[0x30, 1, 0]);
    assert_eq!(drain_sender(&mut sender, ms(200)).0.len(), 1);
    for now in [210, 220] {
        sender.handle_frame(ms(now), &[0x31, 0, 0]);
        assert_eq!(drain_sender(&mut sender, ms(now)).1, []);
    }
    sender.handle_frame(ms(230), &[0x31, 0, 0]);
    assert_eq!(drain_sender(&mut sender, ms(230)).1, [SendEvent::Aborted(SendAbort::TooManyWaits)]);
}

#[test]
fn a_reserved_separation_time_means_127_ms() {
    let mut sender = awaiting();
    sender.handle_frame(ms(1), &[0x30, 0, 0x80]);
    assert_eq!(drain_sender(&mut sender, ms(1)).2, Some(ms(128)));
}

#[test]
fn other_frames_are_the_receivers_and_an_answer_nobody_awaits_is_ignored() {
    let mut sender = flow_controlled();
    for data in [&[2, 1, 1][..], &[0x10, 20, 1, 2, 3, 4, 5, 6], &[0x21, 1], &[0x40, 1], &[], &[0x30]] {
        sender.handle_frame(ms(0), data);
        assert_eq!(drain_sender(&mut sender, ms(0)), (vec![], vec![], None));
    }
    sender.handle_frame(ms(0), &CONTINUE);
    assert_eq!(drain_sender(&mut sender, ms(0)).1, [SendEvent::Ignored(SendIgnored::UnexpectedFlowControl)]);
    // In the middle of a block it changes nothing either.
    sender.send(ms(0), message(100)).unwrap();
    drain_sender(&mut sender, ms(0));
    sender.handle_frame(ms(0), &[0x30, 0, 9]);
    drain_sender(&mut sender, ms(0));
    sender.handle_frame(ms(1), &[0x32, 0, 0]);
    let (_, events, wake) = drain_sender(&mut sender, ms(1));
    assert_eq!(events, [SendEvent::Ignored(SendIgnored::UnexpectedFlowControl)]);
    assert_eq!(wake, Some(ms(9)));
}

#[test]
fn with_n_as_a_frame_waits_until_the_one_before_has_left() {
    let config = SenderConfig::new(FrameFormat::classical(), Transfer::flow_controlled());
    let mut sender = Sender::new(SenderConfig { n_as: Some(Duration::from_ms(50)), ..config }).unwrap();
    sender.send(ms(0), message(6 + 7 * 3)).unwrap();
    let (frames, _, wake) = drain_sender(&mut sender, ms(0));
    assert_eq!((frames.len(), wake), (1, Some(ms(50))));
    // The answer may come before the driver says that the first frame has left.
    sender.handle_frame(ms(2), &[0x30, 0, 4]);
    assert_eq!(drain_sender(&mut sender, ms(2)).0.len(), 0);
    sender.handle_transmitted(ms(3));
    assert_eq!(drain_sender(&mut sender, ms(3)).0.len(), 1);
    // STmin counts from when the frame has left.
    sender.handle_transmitted(ms(10));
    assert_eq!(drain_sender(&mut sender, ms(10)).2, Some(ms(14)));
    assert_eq!(drain_sender(&mut sender, ms(14)).0.len(), 1);
    assert_eq!(drain_sender(&mut sender, ms(63)).1, []);
    assert_eq!(drain_sender(&mut sender, ms(64)).1, [SendEvent::Aborted(SendAbort::NotTransmitted)]);
    // A transmission told too late changes nothing.
    sender.handle_transmitted(ms(65));
    assert!(sender.is_idle());
}

#[test]
fn many_receivers_get_single_frames_only() {
    let mut sender = sender(Transfer::SingleFrame);
    assert_eq!(sender.send(ms(0), message(8)), Err(SendError::TooLong { len: 8, len_max: 7 }));
    assert_eq!(sender.send(ms(0), message(7)), Ok(()));
    assert_eq!(drain_sender(&mut sender, ms(0)).1, [SendEvent::Sent { message_len: 7, frames: 1 }]);
}

#[test]
fn a_paced_broadcast_needs_no_answer_and_keeps_its_separation() {
    let mut sender = sender(Transfer::PacedBroadcast { separation: Duration::from_ms(2) });
    sender.send(ms(0), message(20)).unwrap();
    let mut at = Vec::new();
    let mut wake = Some(ms(0));
    while let Some(now) = wake {
        let (frames, events, next) = drain_sender(&mut sender, now);
        at.extend(frames.iter().map(|frame| (now, frame[0])));
        wake = next;
        // An answer nobody asked for does not hold it.
        sender.handle_frame(now, &[0x32, 0, 0]);
        assert!(events.iter().all(|event| !matches!(event, SendEvent::Aborted(_))));
    }
    assert_eq!(at, [(ms(0), 0x10), (ms(2), 0x21), (ms(4), 0x22)]);
    // A driver that is late delays what follows: no two frames come closer than the separation.
    drain_sender(&mut sender, ms(10));
    sender.send(ms(10), message(20)).unwrap();
    drain_sender(&mut sender, ms(10));
    let (frames, _, wake) = drain_sender(&mut sender, ms(19));
    assert_eq!((frames.len(), wake), (1, Some(ms(21))));
}

#[test]
fn refuses_an_empty_message_and_a_second_one() {
    let mut sender = flow_controlled();
    assert_eq!(sender.send(ms(0), vec![]), Err(SendError::Empty));
    sender.send(ms(0), message(20)).unwrap();
    assert_eq!(sender.send(ms(0), vec![1]), Err(SendError::Busy));
    sender.cancel();
    assert_eq!(sender.send(ms(0), vec![1]), Ok(()));
}

#[test]
fn refuses_spans_of_nothing_or_beyond_an_hour_and_one_sided_addresses() {
    let build = |n_bs| {
        let transfer = Transfer::FlowControlled { n_bs, waits_max: 0 };
        Sender::new(SenderConfig::new(FrameFormat::fd(), transfer)).map(|_| ())
    };
    assert_eq!(build(SPAN_MAX), Ok(()));
    for span in [Duration::ZERO, SPAN_MAX + Duration::from_ps(1)] {
        assert_eq!(build(span), Err(ConfigError::Span { name: "N_Bs", span }));
    }
    let config = SenderConfig::new(FrameFormat::fd(), Transfer::SingleFrame);
    let one_sided = SenderConfig { peer_address: Some(1), ..config };
    assert_eq!(Sender::new(one_sided).map(|_| ()), Err(ConfigError::AddressInOneDirection));
}

#[test]
fn frames_for_another_address_are_not_its_answer() {
    let format = FrameFormat { address: Some(0xf1), ..FrameFormat::classical() };
    let config = SenderConfig { peer_address: Some(0x10), ..SenderConfig::new(format, Transfer::flow_controlled()) };
    let mut sender = Sender::new(config).unwrap();
    sender.send(LocalTime::ZERO, message(7)).unwrap();
    assert_eq!(drain_sender(&mut sender, ms(0)).0, [[0xf1, 0x10, 7, 0, 37, 74, 111, 148]]);
    sender.handle_frame(ms(1), &[0xf1, 0x30, 0, 0]);
    assert_eq!(drain_sender(&mut sender, ms(1)).0.len(), 0);
    sender.handle_frame(ms(2), &[0x10, 0x30, 0, 0]);
    assert_eq!(drain_sender(&mut sender, ms(2)).0.len(), 1);
}
