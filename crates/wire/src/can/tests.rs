//! The fast counter against every bit, and every bit against a receiver.

use proptest::prelude::*;

use super::plain::{self, Stuffed, WireBit};
use super::testing::any_frame;
use super::{BusError, CanFrame, CanId, Dlc, FrameBits, FrameKind, Progress, Receiver};

/// What the plain encoder says.
fn count(bits: &[WireBit], brs: bool) -> FrameBits {
    let fast = bits.iter().filter(|bit| bit.ends_fast).count() as u32;
    // BRS ends fast and counts as nominal; the CRC delimiter the other way round. The two cancel out.
    let data = if brs { fast } else { 0 };
    let stuff = bits.iter().filter(|bit| bit.stuffed == Stuffed::Dynamic).count() as u32;
    FrameBits { nominal: bits.len() as u32 - data, data, stuff }
}

fn agrees(frame: &CanFrame) {
    let brs = matches!(frame.kind(), FrameKind::Fd { brs: true, .. });
    assert_eq!(FrameBits::of(frame), count(&plain::encode(frame), brs), "{frame:?}");
}

/// A sequence of 64-bit numbers: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// Any frame; a third of the bytes have long runs.
fn random_frame(state: &mut u64) -> CanFrame {
    let choice = split_mix(state);
    let id = if choice & 1 == 0 {
        CanId::standard(choice as u16 >> 5).unwrap()
    } else {
        CanId::extended((choice >> 32) as u32 & 0x1fff_ffff).unwrap()
    };
    let kind = match choice >> 1 & 7 {
        0 => FrameKind::Remote,
        1 | 2 => FrameKind::Classical,
        more => FrameKind::Fd { brs: more & 1 == 0, esi: choice >> 4 & 1 == 1 },
    };
    let mut data = [0; 64];
    for chunk in data.chunks_exact_mut(8) {
        chunk.copy_from_slice(&split_mix(state).to_le_bytes());
    }
    for byte in &mut data {
        *byte = match *byte % 6 {
            0 => 0,
            1 => 0xff,
            _ => *byte,
        };
    }
    CanFrame::new(id, kind, Dlc::new((choice >> 16 & 15) as u8).unwrap(), &data)
}

#[test]
fn the_fast_counter_agrees_with_every_bit_on_a_million_frames() {
    // Without optimisation the encoder is some twenty times slower.
    let frames = if cfg!(debug_assertions) { 200_000 } else { 1_000_000 };
    let mut state = 1;
    for _ in 0..frames {
        agrees(&random_frame(&mut state));
    }
}

#[test]
fn lengths_without_stuffing_are_the_standards() {
    let fixed = |frame: &CanFrame| {
        let bits = FrameBits::of(frame);
        bits.total() - bits.stuff + super::bits::INTERMISSION_BITS
    };
    let (base, extended) = (CanId::standard(0x2aa).unwrap(), CanId::extended(0x0aaa_aaaa).unwrap());
    for len in 0..=8 {
        let data = &[0x55; 64][..len];
        assert_eq!(fixed(&CanFrame::classical(base, data).unwrap()), 47 + 8 * len as u32);
        assert_eq!(fixed(&CanFrame::classical(extended, data).unwrap()), 67 + 8 * len as u32);
    }
    for code in 0..16 {
        let len = Dlc::new(code).unwrap().fd_len();
        let data = &[0x55; 64][..len];
        let more = if len > 16 { 5 } else { 0 };
        assert_eq!(fixed(&CanFrame::fd(base, data, true).unwrap()), 62 + more + 8 * len as u32);
        assert_eq!(fixed(&CanFrame::fd(extended, data, true).unwrap()), 81 + more + 8 * len as u32);
    }
}

/// Davis et al. 2007: 135 bits for 8 bytes with 11-bit identifiers, 160 with 29.
#[test]
fn worst_cases_are_the_published_ones() {
    let worst = |extended, kind, len| {
        let bits = FrameBits::worst_case(extended, kind, len);
        (bits.total() + super::bits::INTERMISSION_BITS, bits.stuff)
    };
    assert_eq!(worst(false, FrameKind::Classical, 8), (135, 24));
    assert_eq!(worst(true, FrameKind::Classical, 8), (160, 29));
    let fd = FrameKind::Fd { brs: true, esi: false };
    assert_eq!(worst(true, fd, 32).1, 73);
    assert_eq!(worst(true, fd, 64).1, 137);
}

#[test]
fn no_dynamic_stuff_bit_follows_the_last_data_bit() {
    let id = CanId::standard(0x2aa).unwrap();
    let frame = CanFrame::fd(id, &[0b1010_0000], false).unwrap();
    let bits = plain::encode(&frame);
    let end = bits.iter().rposition(|bit| bit.field == plain::Field::Data).unwrap();
    assert_eq!(bits[end].stuffed, Stuffed::No);
    assert_eq!(bits[end + 1].stuffed, Stuffed::Fixed);
    assert!(bits[end + 1].recessive);
    agrees(&frame);
    // In a classical frame the stuff bit is there.
    let bits = plain::encode(&CanFrame::classical(id, &[0b1010_0000]).unwrap());
    let end = bits.iter().rposition(|bit| bit.field == plain::Field::Data).unwrap();
    assert_eq!(bits[end].stuffed, Stuffed::Dynamic);
}

#[test]
fn the_stuff_count_is_gray_with_even_parity() {
    let codes: Vec<u32> = (0..8).map(plain::stuff_count_code).collect();
    assert_eq!(codes, [0b0000, 0b0011, 0b0110, 0b0101, 0b1100, 0b1111, 0b1010, 0b1001]);
    assert_eq!(plain::stuff_count_code(8), 0);
}

fn receive(bits: impl Iterator<Item = bool>) -> Result<CanFrame, (usize, BusError)> {
    let mut receiver = Receiver::new();
    let mut accepted = None;
    for (at, bit) in bits.enumerate() {
        match receiver.push(bit && !receiver.drives_dominant()) {
            Ok(Progress::Accepted) => accepted = Some(receiver.frame()),
            Ok(Progress::Complete) => return Ok(accepted.expect("accepted one bit before")),
            Ok(Progress::Receiving) => {}
            Ok(Progress::Overload) => return Err((at, BusError::Form)),
            Err(error) => return Err((at, error)),
        }
    }
    panic!("the frame has no end");
}

proptest! {
    #[test]
    fn a_receiver_reads_what_the_encoder_sends(frame in any_frame()) {
        agrees(&frame);
        prop_assert_eq!(receive(plain::encode(&frame).iter().map(|bit| bit.recessive)), Ok(frame));
    }

    #[test]
    fn no_frame_is_longer_than_the_worst_case(frame in any_frame()) {
        let bits = FrameBits::of(&frame);
        let worst = FrameBits::worst_case(frame.id().is_extended(), frame.kind(), frame.data().len());
        prop_assert!(bits.total() <= worst.total());
        prop_assert!(bits.nominal <= worst.nominal || !frame.kind().is_fd());
    }

    #[test]
    fn one_inverted_bit_is_never_taken_for_the_frame(frame in any_frame(), at: prop::sample::Index) {
        let bits = plain::encode(&frame);
        // The last bit of EOF is no error for receivers, and the ACK slot is theirs.
        let at = at.index(bits.len() - 1);
        prop_assume!(bits[at].field != plain::Field::AckSlot);
        let inverted = bits.iter().enumerate().map(|(index, bit)| bit.recessive != (index == at));
        // Recessive follows for ever, so that a frame taken for a longer one ends too.
        let received = receive(inverted.chain(core::iter::repeat_n(true, 800)));
        match received {
            // Reserved and substituted bits may have either level.
            Ok(other) => prop_assert!(
                matches!(bits[at].field, plain::Field::Reserved | plain::Field::Srr | plain::Field::Rtr)
                    && other == frame, "{:?} {:?}", bits[at], other
            ),
            Err((place, _)) => prop_assert!(place >= at),
        }
    }
}
