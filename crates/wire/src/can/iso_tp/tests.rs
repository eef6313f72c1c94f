//! Frames from public sources, limits on both sides, and properties.

use chronoseal_core::{DiscardReason, Duration};
use proptest::prelude::*;

use super::*;

fn format(tx_data_len: usize, address: Option<u8>) -> FrameFormat {
    FrameFormat { address, ..FrameFormat::new(TxDataLength::new(tx_data_len).unwrap()) }
}

fn emitted(pdu: &Pdu<'_>, format: &FrameFormat) -> Vec<u8> {
    let mut out = [0xee; 64];
    let len = pdu.emit(format, &mut out);
    out[..len].to_vec()
}

/// A request and an answer as printed at blog.csdn.net/Touxon/article/details/116644169, which reproduces the frames of
/// ISO 15765-2; read there on 2026-11-22. The padding is 0x55.
#[test]
fn single_frames_and_the_first_frame_of_a_public_text_are_read_and_written() {
    let padding = Padding { byte: 0x55, up_to_eight: true };
    let classical = FrameFormat { padding, ..FrameFormat::classical() };
    for (bytes, pdu) in [
        ([0x03, 0x01, 0x31, 0x51, 0x55, 0x55, 0x55, 0x55], Pdu::Single { data: &[0x01, 0x31, 0x51] }),
        ([0x06, 0x41, 0x31, 0x1d, 0xe6, 0x51, 0x01, 0x55], Pdu::Single { data: &[0x41, 0x31, 0x1d, 0xe6, 0x51, 0x01] }),
        (
            [0x10, 0x0f, 0x41, 0x0b, 0x21, 0x0c, 0x0c, 0x38],
            Pdu::First { message_len: 15, data: &[0x41, 0x0b, 0x21, 0x0c, 0x0c, 0x38] },
        ),
    ] {
        assert_eq!(Pdu::parse(&bytes, None), Ok(pdu));
        assert_eq!(emitted(&pdu, &classical), bytes);
    }
}

/// The beginning of a vehicle identification number as received from a car: stackoverflow.com/questions/76082339.
#[test]
fn the_first_frame_of_a_real_answer_is_read() {
    let bytes = [0x10, 0x14, 0x49, 0x02, 0x01, 0x57, 0x42, 0x41];
    assert_eq!(Pdu::parse(&bytes, None), Ok(Pdu::First { message_len: 20, data: b"\x49\x02\x01WBA" }));
}

/// The frames that the tests of the Python package can-isotp decode: github.com/pylessard/python-can-isotp,
/// test/test_helper_classes.py at 0d7df36.
#[test]
fn the_escape_form_of_a_first_frame_is_that_of_can_isotp() {
    let bytes = [0x10, 0x00, 0xaa, 0xbb, 0xcc, 0xdd, 0x11, 0x22];
    let pdu = Pdu::First { message_len: 0xaabb_ccdd, data: &[0x11, 0x22] };
    assert_eq!(Pdu::parse(&bytes, None), Ok(pdu));
    assert_eq!(emitted(&pdu, &FrameFormat::classical()), bytes);
}

#[test]
fn a_single_frame_takes_the_escape_form_where_eight_bytes_do_not_hold_it() {
    let data: Vec<u8> = (1..=62).collect();
    // Lengths of the message and the frame, with and without an address byte.
    for (address, message_len, frame_len) in [
        (None, 7, 8),
        (None, 8, 12),
        (None, 10, 12),
        (None, 11, 16),
        (None, 62, 64),
        (Some(0xf1), 6, 8),
        (Some(0xf1), 7, 12),
        (Some(0xf1), 9, 12),
        (Some(0xf1), 61, 64),
    ] {
        let bytes = emitted(&Pdu::Single { data: &data[..message_len] }, &format(64, address));
        assert_eq!(bytes.len(), frame_len, "{message_len} bytes, address {address:?}");
        let at = usize::from(address.is_some());
        let control: &[u8] = if frame_len > 8 { &[0, message_len as u8] } else { &[message_len as u8] };
        assert!(bytes[at..].starts_with(control));
        assert!(bytes[at + control.len() + message_len..].iter().all(|byte| *byte == 0xcc));
    }
}

#[test]
fn without_padding_a_short_frame_ends_with_its_data() {
    let shortest = Padding { byte: 0xaa, up_to_eight: false };
    let format = FrameFormat { padding: shortest, ..FrameFormat::fd() };
    assert_eq!(emitted(&Pdu::Single { data: &[1, 2] }, &format), [0x02, 1, 2]);
    let flow = FlowControl { status: FlowStatus::Wait, block_size: 9, separation_time: SeparationTime::from_raw(0xf3) };
    assert_eq!(emitted(&Pdu::FlowControl(flow), &format), [0x31, 9, 0xf3]);
    assert_eq!(emitted(&Pdu::Consecutive { sequence_number: 17, data: &[3] }, &format), [0x21, 3]);
    // FD frames have no 9 bytes.
    let nine = emitted(&Pdu::Consecutive { sequence_number: 2, data: &[4; 8] }, &format);
    assert_eq!(nine, [0x22, 4, 4, 4, 4, 4, 4, 4, 4, 0xaa, 0xaa, 0xaa]);
}

#[test]
fn refuses_what_is_no_frame_of_the_protocol_and_says_why() {
    let refused = |bytes: &[u8], address| Pdu::parse(bytes, address).unwrap_err();
    assert_eq!(refused(&[0; 65], None), PduError::TooLong(65));
    assert_eq!(refused(&[], None), PduError::Truncated { len: 0, needed: 1 });
    assert_eq!(refused(&[], Some(1)), PduError::Truncated { len: 0, needed: 2 });
    assert_eq!(refused(&[1], Some(1)), PduError::Truncated { len: 1, needed: 2 });
    assert_eq!(refused(&[2, 1, 9], Some(1)), PduError::OtherAddress { expected: 1, found: 2 });
    assert_eq!(refused(&[0x40, 0], None), PduError::ReservedType(4));
    assert_eq!(refused(&[0xf0, 0], None), PduError::ReservedType(15));
    assert_eq!(refused(&[0x00, 1, 2], None), PduError::SingleLength { len: 0, capacity: 2 });
    assert_eq!(refused(&[0x03, 1, 2], None), PduError::SingleLength { len: 3, capacity: 2 });
    assert_eq!(refused(&[0x08, 1, 2, 3, 4, 5, 6, 7], None), PduError::SingleLength { len: 8, capacity: 7 });
    assert_eq!(refused(&[0; 12], None), PduError::SingleLength { len: 0, capacity: 10 });
    let mut escaped = [0; 12];
    escaped[1] = 11;
    assert_eq!(refused(&escaped, None), PduError::SingleLength { len: 11, capacity: 10 });
    escaped[0] = 5;
    assert_eq!(refused(&escaped, None), PduError::SingleNotEscaped(12));
    assert_eq!(refused(&[0x10, 20, 1, 2, 3, 4, 5], None), PduError::FirstFrameLength(7));
    assert_eq!(refused(&[0x20], None), PduError::Truncated { len: 1, needed: 2 });
    assert_eq!(refused(&[0x30, 0], None), PduError::Truncated { len: 2, needed: 3 });
    assert_eq!(refused(&[0x33, 0, 0], None), PduError::ReservedFlowStatus(3));

    assert_eq!(DiscardReason::from(PduError::TooLong(65)), DiscardReason::TooLong);
    assert_eq!(DiscardReason::from(PduError::Truncated { len: 0, needed: 1 }), DiscardReason::TooShort);
    assert_eq!(DiscardReason::from(PduError::ReservedType(4)), DiscardReason::Malformed);
    let other = PduError::OtherAddress { expected: 1, found: 2 };
    assert_eq!(DiscardReason::from(other), DiscardReason::UnknownStream);
}

#[test]
fn a_first_frame_announces_more_than_a_single_frame_holds() {
    for tx in TxDataLength::ALL {
        for address in [None, Some(7)] {
            let least = format(tx.get(), address).single_len_max() as u32 + 1;
            let mut bytes = vec![7; tx.get()];
            let at = usize::from(address.is_some());
            bytes[at..at + 2].copy_from_slice(&[0x10, least as u8]);
            assert!(matches!(Pdu::parse(&bytes, address), Ok(Pdu::First { message_len, .. }) if message_len == least));
            bytes[at + 1] -= 1;
            let refused = PduError::FirstLengthTooSmall { message_len: least - 1, least };
            assert_eq!(Pdu::parse(&bytes, address), Err(refused));
        }
    }
    let escaped = |len: u32| [&[0x10, 0][..], &len.to_be_bytes(), &[1, 2]].concat();
    assert_eq!(Pdu::parse(&escaped(4096), None), Ok(Pdu::First { message_len: 4096, data: &[1, 2] }));
    let refused = PduError::FirstLengthTooSmall { message_len: 4095, least: 4096 };
    assert_eq!(Pdu::parse(&escaped(4095), None), Err(refused));
}

#[test]
fn separation_times_are_those_of_the_standard() {
    for (raw, us) in [(0, 0), (1, 1_000), (0x7f, 127_000), (0xf1, 100), (0xf5, 500), (0xf9, 900)] {
        let time = SeparationTime::from_raw(raw);
        assert_eq!((time.duration(), time.is_reserved()), (Duration::from_us(us), false));
        assert_eq!(SeparationTime::at_least(Duration::from_us(us)), Some(time));
    }
    for raw in (0x80..=0xf0).chain(0xfa..=0xff) {
        let time = SeparationTime::from_raw(raw);
        assert_eq!((time.duration(), time.is_reserved()), (Duration::from_ms(127), true));
    }
    for (ps, raw) in [(-1, Some(0)), (1, Some(0xf1)), (100_000_001, Some(0xf2)), (900_000_001, Some(1))] {
        assert_eq!(SeparationTime::at_least(Duration::from_ps(ps)).map(SeparationTime::raw), raw);
    }
    assert_eq!(SeparationTime::at_least(Duration::from_ms(127)), Some(SeparationTime::MAX));
    assert_eq!(SeparationTime::at_least(Duration::from_ms(127) + Duration::from_ps(1)), None);
}

#[test]
fn only_the_eight_lengths_are_frames_of_a_segmented_message() {
    let accepted: Vec<_> = (0..=65).filter(|len| TxDataLength::new(*len).is_ok()).collect();
    assert_eq!(accepted, [8, 12, 16, 20, 24, 32, 48, 64]);
    assert_eq!(TxDataLength::new(9), Err(TxDataLengthError(9)));
}

#[test]
fn segments_of_a_message_at_the_limits() {
    let classical = FrameFormat::classical();
    assert_eq!(Segments::of(0, &classical), None);
    // Message, format, frames, data of the last frame.
    for (message_len, format, frames, last_len) in [
        (7, classical, 1, 8),
        (8, classical, 2, 8),
        (20, classical, 3, 8),
        (4095, classical, 586, 8),
        // Two bytes in the first frame, 585 times 7 in the others: 4097.
        (4096, classical, 586, 8),
        (4097, classical, 586, 8),
        (4098, classical, 587, 8),
        (62, FrameFormat::fd(), 1, 64),
        (63, FrameFormat::fd(), 2, 8),
        (125, FrameFormat::fd(), 2, 64),
        (126, FrameFormat::fd(), 3, 8),
        (4096, FrameFormat::fd(), 66, 8),
    ] {
        let segments = Segments::of(message_len, &format).unwrap();
        assert_eq!((segments.frames(), segments.last_len()), (frames, last_len), "{message_len} bytes");
    }
    let longest = Segments::of(u32::MAX, &classical).unwrap();
    assert_eq!(longest.frames(), 1 + (u64::from(u32::MAX) - 2).div_ceil(7));
}

#[test]
fn separations_lie_within_blocks() {
    // Ten consecutive frames.
    let segments = Segments::of(6 + 70, &FrameFormat::classical()).unwrap();
    let ms = SeparationTime::from_raw(5);
    for (block_size, flow_controls, separations) in [(0, 1, 9), (1, 10, 0), (3, 4, 6), (10, 1, 9), (255, 1, 9)] {
        assert_eq!(segments.flow_controls(block_size), flow_controls, "blocks of {block_size}");
        assert_eq!(segments.separations(block_size), separations, "blocks of {block_size}");
        assert_eq!(segments.separation_min(block_size, ms), Duration::from_ms(5 * i64::from(separations)));
    }
    let us = Duration::from_us;
    let wire = WireTimes { full: us(200), last: us(150), flow_control: us(100) };
    let expected = us(10 * 200 + 150 + 4 * 100) + Duration::from_ms(30);
    assert_eq!(segments.duration_min(3, ms, &wire), expected);
    assert_eq!(segments.paced_min(us(300)), us(3_000));

    let single = Segments::of(3, &FrameFormat::classical()).unwrap();
    assert_eq!((single.flow_controls(0), single.separations(1)), (0, 0));
    assert_eq!(single.duration_min(0, ms, &wire), us(150));

    // Beyond what a span holds the figure stays at the longest.
    let longest = Segments::of(u32::MAX, &FrameFormat::classical()).unwrap();
    assert_eq!(longest.duration_min(0, SeparationTime::MAX, &wire), Duration::MAX);
}

fn any_format() -> impl Strategy<Value = FrameFormat> {
    (0usize..8, any::<Option<u8>>(), any::<u8>(), any::<bool>()).prop_map(|(tx, address, byte, up_to_eight)| {
        FrameFormat { tx_data_len: TxDataLength::ALL[tx], address, padding: Padding { byte, up_to_eight } }
    })
}

proptest! {
    #[test]
    fn what_is_emitted_is_read_back(
        format in any_format(), kind in 0..4, message_len in 1u32..10_000, fill in any::<u8>(), low in 0u8..16,
    ) {
        let data = [fill; 64];
        let pdu = match kind {
            0 => Pdu::Single { data: &data[..(message_len as usize - 1) % format.single_len_max() + 1] },
            1 => {
                let message_len = message_len + format.single_len_max() as u32;
                Pdu::First { message_len, data: &data[..format.first_len(message_len)] }
            }
            2 => {
                // Data that fill the frame: of padding a reader cannot know.
                Pdu::Consecutive { sequence_number: low, data: &data[..format.consecutive_len()] }
            }
            _ => Pdu::FlowControl(FlowControl {
                status: [FlowStatus::ContinueToSend, FlowStatus::Wait, FlowStatus::Overflow][usize::from(low % 3)],
                block_size: fill,
                separation_time: SeparationTime::from_raw(fill),
            }),
        };
        let bytes = emitted(&pdu, &format);
        prop_assert!(crate::can::Dlc::of_len(bytes.len()).is_some());
        prop_assert_eq!(Pdu::parse(&bytes, format.address), Ok(pdu));
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..70), address in any::<Option<u8>>()) {
        match Pdu::parse(&bytes, address) {
            Ok(Pdu::Single { data } | Pdu::Consecutive { data, .. }) => prop_assert!(!data.is_empty() && data.len() < 64),
            Ok(Pdu::First { message_len, data }) => prop_assert!(message_len as usize > data.len()),
            Ok(Pdu::FlowControl(_)) | Err(_) => {}
        }
    }

    #[test]
    fn segments_count_what_cutting_one_by_one_makes(format in any_format(), message_len in 1u32..6_000) {
        let segments = Segments::of(message_len, &format).unwrap();
        let message = vec![0x5a; message_len as usize];
        let mut lens = Vec::new();
        if message.len() <= format.single_len_max() {
            lens.push(emitted(&Pdu::Single { data: &message }, &format).len());
        } else {
            let (first, rest) = message.split_at(format.first_len(message_len));
            lens.push(emitted(&Pdu::First { message_len, data: first }, &format).len());
            for data in rest.chunks(format.consecutive_len()) {
                lens.push(emitted(&Pdu::Consecutive { sequence_number: 1, data }, &format).len());
            }
        }
        prop_assert_eq!(segments.frames(), lens.len() as u64);
        prop_assert_eq!(segments.data_len(), lens.iter().sum::<usize>() as u64);
        prop_assert_eq!(Some(segments.last_len()), lens.last().copied());
        prop_assert!(lens[..lens.len() - 1].iter().all(|len| *len == segments.full_len()));
    }
}
