//! Frames between host and accelerator, as `rtl/README.md` has them.

use std::io::{self, Read, Write};

const START: u8 = 0xA5;
/// Longest payload, either way `[byte]`.
const PAYLOAD_LEN_MAX: usize = 512;
/// Bit that an answer's type has beyond its request's.
const ANSWER: u8 = 0x80;
/// Bytes between frames that are skipped before the other side is taken for something else.
const NOISE_LEN_MAX: usize = 4096;

/// What may be asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(super) enum Kind {
    Info = 0x01,
    Slots = 0x02,
    Reload = 0x03,
    Import = 0x10,
    Provision = 0x11,
    Erase = 0x12,
    Public = 0x13,
    Agree = 0x23,
    Sign = 0x24,
    Verify = 0x25,
}

/// An answer's payload, taken apart.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Answer {
    pub(super) status: u8,
    /// Cycles of the engine.
    pub(super) cycles: u64,
    /// Modelled time of both frames on the link `[ns]`.
    pub(super) link_ns: u64,
    pub(super) result: Vec<u8>,
}

/// A request as one piece of bytes.
pub(super) fn request(kind: Kind, sequence: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![START, kind as u8, sequence];
    // Payloads of requests are below 200 bytes.
    frame.extend((payload.len() as u16).to_be_bytes());
    frame.extend(payload);
    let crc = crc32(&frame[1..]);
    frame.extend(crc.to_be_bytes());
    frame
}

/// Sends a request and waits for its answer.
pub(super) fn exchange(mut link: impl Read + Write, kind: Kind, sequence: u8, payload: &[u8]) -> io::Result<Answer> {
    link.write_all(&zeroize::Zeroizing::new(request(kind, sequence, payload)))?;
    let payload = receive(link, kind as u8 | ANSWER, sequence)?;
    answer(&payload).ok_or_else(|| broken("an answer without status and times"))
}

/// Payload of the next frame, which has to be of this type and number.
fn receive(mut link: impl Read, kind: u8, sequence: u8) -> io::Result<Vec<u8>> {
    let mut start = [0];
    for _ in 0..NOISE_LEN_MAX {
        link.read_exact(&mut start)?;
        if start[0] == START {
            break;
        }
    }
    if start[0] != START {
        return Err(broken("no start of a frame"));
    }
    let mut body = vec![0; 4];
    link.read_exact(&mut body)?;
    let len = usize::from(u16::from_be_bytes([body[2], body[3]]));
    if len > PAYLOAD_LEN_MAX {
        return Err(broken("a frame longer than frames are"));
    }
    body.resize(4 + len + 4, 0);
    link.read_exact(&mut body[4..])?;
    let crc = body.split_off(4 + len);
    if crc32(&body).to_be_bytes() != crc[..] {
        return Err(broken("a frame with a wrong checksum"));
    }
    if body[0] != kind || body[1] != sequence {
        return Err(broken("the answer to another request"));
    }
    Ok(body.split_off(4))
}

fn answer(payload: &[u8]) -> Option<Answer> {
    let (status, rest) = payload.split_first()?;
    let (cycles, rest) = rest.split_first_chunk()?;
    let (link_ns, result) = rest.split_first_chunk()?;
    let (cycles, link_ns) = (u64::from_be_bytes(*cycles), u64::from_be_bytes(*link_ns));
    Some(Answer { status: *status, cycles, link_ns, result: result.to_vec() })
}

fn broken(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// CRC-32 of IEEE 802.3, bit by bit: frames are short and the engine behind them is slow.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| if crc & 1 == 0 { crc >> 1 } else { crc >> 1 ^ 0xEDB8_8320 };
    !bytes.iter().fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame as the accelerator would send it.
    fn framed(kind: u8, sequence: u8, payload: &[u8]) -> Vec<u8> {
        let mut frame = request(Kind::Info, sequence, payload);
        frame[1] = kind;
        let end = frame.len() - 4;
        let crc = crc32(&frame[1..end]);
        frame[end..].copy_from_slice(&crc.to_be_bytes());
        frame
    }

    #[test]
    fn checksum_of_the_well_known_text() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn finds_a_frame_behind_noise() {
        let mut bytes = vec![0, 1, 2];
        bytes.extend(framed(0x81, 7, b"payload"));
        assert_eq!(receive(&bytes[..], 0x81, 7).unwrap(), b"payload");
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let frame = framed(0x81, 7, &[9; 20]);
        for bit in 0..frame.len() * 8 {
            let mut changed = frame.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(receive(&changed[..], 0x81, 7).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn another_answer_is_no_answer() {
        assert!(receive(&framed(0x82, 7, b"")[..], 0x81, 7).is_err());
        assert!(receive(&framed(0x81, 8, b"")[..], 0x81, 7).is_err());
        assert!(receive(&[0; 5000][..], 0x81, 7).is_err(), "noise without end");
    }

    #[test]
    fn an_answer_has_status_and_both_times() {
        let payload = [&[4][..], &5u64.to_be_bytes(), &6u64.to_be_bytes(), b"r"].concat();
        assert_eq!(answer(&payload), Some(Answer { status: 4, cycles: 5, link_ns: 6, result: b"r".to_vec() }));
        for len in 0..17 {
            assert_eq!(answer(&payload[..len]), None);
        }
    }
}
