//! Messages of IEEE 802.1AS, as a parser and as a system sees them.

use chronoseal_clocksync::gptp::{Effect, Parameters, PortParameters, Refusal, TimeAwareSystem};
use chronoseal_core::{Duration, LocalTime};
use chronoseal_wire::gptp::{ClockIdentity, MESSAGE_LEN_MAX, Message};

/// A message that is accepted is emitted with the same meaning. A bridge that is given it never panics, asks to be woken, sends only
/// messages that are accepted, and is as it was if it refuses it.
pub fn gptp_message(data: &[u8]) {
    let accepted = Message::parse(data);
    if let Ok(message) = &accepted {
        let mut buf = [0xaa; MESSAGE_LEN_MAX];
        let len = message.emit(&mut buf);
        let again = Message::parse(&buf[..len]);
        // A path trace that fits no frame is left out.
        if data.len() <= MESSAGE_LEN_MAX {
            assert_eq!(again, accepted);
        } else {
            assert!(again.is_ok());
        }
    }
    let parameters = Parameters::new(ClockIdentity([9; 8]), 246);
    let (start, later) = (LocalTime::ZERO, LocalTime::ZERO + Duration::from_ms(1));
    let mut bridge = TimeAwareSystem::new(&parameters, &[PortParameters::default(); 2], start)
        .expect("the parameters are in bounds");
    bridge.advance(start);
    let before = bridge.clone();
    match bridge.receive(later, 1, later, data) {
        Err(Refusal::SeveralNeighbours) => {}
        Err(_) => assert_eq!(bridge, before),
        Ok(()) => assert!(accepted.is_ok()),
    }
    bridge.advance(later);
    assert!(bridge.wake_at() > later);
    while let Some(effect) = bridge.poll() {
        if let Effect::Send { payload, .. } = effect {
            Message::parse(&payload).expect("a system sends what it accepts");
        }
    }
}
