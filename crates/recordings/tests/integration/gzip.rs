//! Packed files, some made by `gzip` of Debian 12 and some by hand.

use chronoseal_recordings::{GzipError, Problem, is_gzip, read, unpacked, unpacked_within};

/// `printf '(0.000000) can0 123#0102\n(0.010000) can0 123#0304\n' | gzip -n`
const LOG: &[u8] = &[
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0xd3, 0x30, 0xd0, 0x33, 0x00, 0x03, 0x4d, 0x85, 0xe4,
    0xc4, 0x3c, 0x03, 0x05, 0x43, 0x23, 0x63, 0x65, 0x03, 0x43, 0x03, 0x23, 0x2e, 0x0d, 0xa0, 0x84, 0x21, 0xba, 0x84,
    0xb1, 0x81, 0x09, 0x17, 0x00, 0x3e, 0xb3, 0x1f, 0xc2, 0x32, 0x00, 0x00, 0x00,
];

/// A member with one stored block and every field that a header can have.
fn member(content: &[u8], crc: u32) -> Vec<u8> {
    let mut bytes = vec![0x1f, 0x8b, 8, 0b1_1110, 0, 0, 0, 0, 0, 3];
    bytes.extend([2, 0, b'x', b'y']);
    bytes.extend(b"name\0remark\0");
    bytes.extend([0, 0]);
    bytes.push(1);
    let len = content.len() as u16;
    bytes.extend(len.to_le_bytes());
    bytes.extend((!len).to_le_bytes());
    bytes.extend(content);
    bytes.extend(crc.to_le_bytes());
    bytes.extend(u32::from(len).to_le_bytes());
    bytes
}

/// CRC-32 of `123456789`, the check value of its catalogues.
const CHECK: u32 = 0xcbf4_3926;

#[test]
fn a_packed_log_is_read_as_the_log() {
    assert!(is_gzip(LOG));
    let recording = read(LOG).expect("a log");
    assert_eq!(recording.frames.len(), 2);
    assert_eq!(recording.frames[1].frame.data(), [3, 4]);
}

#[test]
fn members_are_put_together_and_zeros_behind_them_are_none() {
    let one = member(b"123456789", CHECK);
    assert_eq!(&*unpacked(&one).unwrap(), b"123456789");
    let two = [&one[..], &one, &[0; 300]].concat();
    assert_eq!(&*unpacked(&two).unwrap(), b"123456789123456789");
    assert_eq!(&*unpacked(b"plain").unwrap(), b"plain");
}

#[test]
fn what_unpacks_to_more_than_the_limit_is_refused() {
    let two = member(b"123456789", CHECK).repeat(2);
    assert_eq!(unpacked_within(&two, 18).unwrap().len(), 18);
    for limit in [17, 9, 8, 0] {
        assert_eq!(unpacked_within(&two, limit), Err(GzipError::TooLong { limit }), "{limit}");
    }
}

#[test]
fn a_damaged_file_says_so_at_the_member() {
    let one = member(b"123456789", CHECK);
    for len in 3..one.len() {
        assert_eq!(unpacked(&one[..len]), Err(GzipError::Truncated { at: 0 }), "{len} bytes");
    }
    let damaged = |at: usize| {
        let mut bytes = one.clone();
        bytes[at] ^= 0x40;
        matches!(unpacked(&bytes), Err(GzipError::Damaged { at: 0, .. }))
    };
    let data = one.len() - 8 - 9;
    for at in [3, data - 2, data, one.len() - 8, one.len() - 4] {
        assert!(damaged(at), "byte {at}");
    }
    let twice = [&one[..], b"and more"].concat();
    assert!(matches!(unpacked(&twice), Err(GzipError::Damaged { at, .. }) if at == one.len()));
    let error = read(&LOG[..LOG.len() - 1]).unwrap_err();
    assert_eq!(error.problem, Problem::Packed(GzipError::Truncated { at: 0 }));
}
