//! CAN frames: bytes from a station, bits from a wire.

use chronoseal_wire::can::layout::FRAME_LEN_MAX;
use chronoseal_wire::can::plain::{self, Stuffed};
use chronoseal_wire::can::{CanFrame, FrameBits, Progress, Receiver};

/// Bytes from a station: what is accepted is written with the same meaning, takes as many bits as the plain encoder
/// makes, at most those of the worst case, and a receiver reads it from them.
pub fn can_frame(data: &[u8]) {
    let Ok(frame) = CanFrame::parse(data) else { return };
    assert!(data[8..].starts_with(frame.data()));
    let mut bytes = [0xee; FRAME_LEN_MAX];
    let len = frame.emit(&mut bytes);
    assert_eq!(len, data.len());
    assert_eq!(CanFrame::parse(&bytes[..len]), Ok(frame));

    let (fast, bits) = (FrameBits::of(&frame), plain::encode(&frame));
    let stuff = bits.iter().filter(|bit| bit.stuffed == Stuffed::Dynamic).count();
    assert_eq!((fast.total() as usize, fast.stuff as usize), (bits.len(), stuff));
    let worst = FrameBits::worst_case(frame.id().is_extended(), frame.kind(), frame.data().len());
    assert!(fast.total() <= worst.total() && fast.stuff <= worst.stuff);

    let mut receiver = Receiver::new();
    for bit in bits.iter() {
        let acknowledged = bit.recessive && !receiver.drives_dominant();
        if receiver.push(acknowledged) == Ok(Progress::Accepted) {
            assert_eq!(receiver.frame(), frame);
            return;
        }
    }
    panic!("a receiver did not accept what the encoder sent");
}

/// Bits from a wire, highest of each byte first: a frame that is accepted has the bits that came, but for those that
/// receivers take either way.
pub fn can_bits(data: &[u8]) {
    let mut receiver = Receiver::new();
    let mut seen = Vec::new();
    let bits = data.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1 == 1));
    // Idle is recessive; a frame begins with the first dominant bit.
    for bit in bits.skip_while(|bit| *bit) {
        seen.push(bit);
        match receiver.push(bit) {
            Ok(Progress::Receiving) => {}
            Ok(Progress::Accepted) => break,
            Ok(_) => panic!("a frame cannot end before it is accepted"),
            Err(_) => return,
        }
    }
    if seen.len() < 7 || !seen[seen.len() - 6..].iter().all(|bit| *bit) || receiver.push(true) != Ok(Progress::Complete)
    {
        return;
    }
    let sent = plain::encode(&receiver.frame());
    let is_free = |field| matches!(field, plain::Field::Srr | plain::Field::Rtr | plain::Field::Reserved);
    let differs = |(bit, seen): (&plain::WireBit, &bool)| bit.recessive != *seen && bit.field != plain::Field::AckSlot;
    // A free bit with the other level changes stuffing and checksum behind it.
    let first = sent.iter().zip(&seen).find(|pair| differs(*pair));
    assert!(first.is_none_or(|(bit, _)| is_free(bit.field)), "{:?}", receiver.frame());
}
