//! Which number a PDU has that is protected from end to end.

use super::*;
use crate::gateway::HandOver;
use crate::supervision::SupervisionConfig;

const PERIOD: Duration = Duration::from_ms(10);
const PDU: CarriedPdu = CarriedPdu { len: 8, is_sealed: true };

/// The first frame of a stream that gateways carry, with another number in its test-bed header.
fn frame_with_header_number(number: u32) -> Vec<u8> {
    let timing = TalkerTiming::Periodic { priority: 2, phase: PERIOD, pace: PERIOD.into() };
    let talker = TalkerConfig { timing, carried: Some(PDU), ..talker(hmac(Freshness::Full, 1)) };
    let mut sender = Bench::started(EndSystemConfig { talkers: vec![talker], ..config(0) });
    let mut frame = sender.wake(at(PERIOD)).sent.remove(0).2;
    TestBedHeader { stream: STREAM, sequence: number }.emit(&mut frame[HEADER_LEN..]);
    frame
}

fn supervising(hands_over: HandOver) -> Bench {
    let supervision = SupervisionConfig { within: PERIOD * 2, period: PERIOD };
    let listener = ListenerConfig {
        carried: Some(PDU),
        hands_over,
        supervision: Some(supervision),
        ..ListenerConfig::new(STREAM, None, Vec::new(), hmac(Freshness::Full, 1))
    };
    Bench::started(EndSystemConfig { listeners: vec![listener], ..config(1) })
}

#[test]
fn the_header_that_no_tag_covers_moves_no_number() {
    for number in [0, 1, 0x00ff_ff00, u32::MAX] {
        let mut receiver = supervising(HandOver::Sealed { len: 8 + 8 + 16 });
        let told = receiver.receive(at(PERIOD), &frame_with_header_number(number));
        assert_eq!(told.events, [(EventKind::Delivered, 0)], "header {number}");
        assert_eq!(crate::gateway::Stack::take(&mut receiver.0).map(|pdu| pdu.sequence), Some(0), "header {number}");
        // It waits for the second one, whatever the header of the first said.
        assert_eq!(receiver.wake(at(PERIOD * 3)).events, [(EventKind::Missing, 1)], "header {number}");
    }
}

#[test]
fn what_is_refused_keeps_nobody_waiting_longer() {
    let mut receiver = supervising(HandOver::Nothing);
    let mut forged = frame_with_header_number(7);
    *forged.last_mut().unwrap() ^= 1;
    let padded = HEADER_LEN + TestBedHeader::LEN + 8 + 8;
    forged[padded] ^= 1;
    assert_eq!(receiver.receive(at(PERIOD), &forged).reason(), DiscardReason::TagMismatch);
    assert_eq!(receiver.wake(at(PERIOD * 2)).events, [(EventKind::Missing, 0)]);
}
