//! Files packed with gzip (RFC 1952), unpacked before anybody looks at them.

use std::borrow::Cow;

use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress, inflate_flags};

use crate::bytes::{u8_at, u16_at, u32_at};

/// Bytes that a packed file may unpack to `[byte]`.
pub const UNPACKED_LEN_MAX: usize = 500_000_000;

/// Bits of a member's flags (RFC 1952, section 2.3.1).
const FLAG_HEADER_CRC: u8 = 1 << 1;
const FLAG_EXTRA: u8 = 1 << 2;
const FLAG_NAME: u8 = 1 << 3;
const FLAG_COMMENT: u8 = 1 << 4;
const FLAGS_RESERVED: u8 = 0xe0;
/// Room for what is unpacked, at first `[byte]`.
const ROOM_FIRST: usize = 64 * 1024;

/// Why a packed file cannot be unpacked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GzipError {
    /// More than anybody waits for.
    #[error("gzip: it unpacks to more than {limit} bytes, which is the most that is read; unpack and cut it by hand")]
    TooLong {
        /// The most `[byte]`.
        limit: usize,
    },
    /// The end of the bytes in the middle of a member.
    #[error("gzip: the file is cut off within the member that begins at byte {at}; copy it again")]
    Truncated {
        /// From 0.
        at: usize,
    },
    /// Not what RFC 1952 has.
    #[error("gzip: the member that begins at byte {at} is damaged: {what}; copy the file again")]
    Damaged {
        /// From 0.
        at: usize,
        /// What is wrong.
        what: &'static str,
    },
}

/// True if the bytes begin as a gzip file does whose data are deflated, which is the only method there is.
pub fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b, 8])
}

/// What is in the file: the bytes themselves, or what they unpack to if they are gzip, all members one behind the other.
///
/// # Errors
/// [`GzipError`], where something is damaged, cut off, or unpacks to more than [`UNPACKED_LEN_MAX`].
pub fn unpacked(bytes: &[u8]) -> Result<Cow<'_, [u8]>, GzipError> {
    unpacked_within(bytes, UNPACKED_LEN_MAX)
}

/// [`unpacked`] with another limit.
///
/// # Errors
/// As of [`unpacked`].
pub fn unpacked_within(bytes: &[u8], limit: usize) -> Result<Cow<'_, [u8]>, GzipError> {
    if !is_gzip(bytes) {
        return Ok(Cow::Borrowed(bytes));
    }
    let mut out = Vec::new();
    let mut at = 0;
    // Tapes and some file systems fill a file up with zeros.
    while bytes[at..].iter().any(|byte| *byte != 0) {
        at = member(bytes, at, &mut out, limit)?;
    }
    Ok(Cow::Owned(out))
}

/// Unpacks the member at byte `at` to the end of `out`. Where the next one begins.
fn member(bytes: &[u8], at: usize, out: &mut Vec<u8>, limit: usize) -> Result<usize, GzipError> {
    let damaged = |what| GzipError::Damaged { at, what };
    let cut = GzipError::Truncated { at };
    if !is_gzip(&bytes[at..]) {
        return Err(damaged("no member of deflated data begins there"));
    }
    let data = header_end(bytes, at)?.ok_or(cut)?;
    let begin = out.len();
    let end = data + inflated(&bytes[data..], out, limit, at)?;
    let (Some(crc), Some(len)) = (u32_at(bytes, end), u32_at(bytes, end + 4)) else { return Err(cut) };
    if len != (out.len() - begin) as u32 {
        return Err(damaged("its length is another"));
    }
    if crc != crc_32(&out[begin..]) {
        return Err(damaged("its checksum is another"));
    }
    Ok(end + 8)
}

/// Where the deflated data of the member at `at` begin; `None` if the header is cut off.
fn header_end(bytes: &[u8], at: usize) -> Result<Option<usize>, GzipError> {
    let Some(flags) = u8_at(bytes, at + 3) else { return Ok(None) };
    if flags & FLAGS_RESERVED != 0 {
        return Err(GzipError::Damaged { at, what: "its flags mean nothing" });
    }
    let after_text = |from: usize| Some(from + bytes.get(from..)?.iter().position(|byte| *byte == 0)? + 1);
    let end = || {
        let mut next = at + 10;
        if flags & FLAG_EXTRA != 0 {
            next += 2 + usize::from(u16_at(bytes, next)?);
        }
        for flag in [FLAG_NAME, FLAG_COMMENT] {
            if flags & flag != 0 {
                next = after_text(next)?;
            }
        }
        next += if flags & FLAG_HEADER_CRC != 0 { 2 } else { 0 };
        (next <= bytes.len()).then_some(next)
    };
    Ok(end())
}

/// Inflates the data behind what is in `out`. How many bytes they were.
fn inflated(data: &[u8], out: &mut Vec<u8>, limit: usize, at: usize) -> Result<usize, GzipError> {
    let mut inflater = Box::<DecompressorOxide>::default();
    // Each member is written to room of its own: a reference into the one before it would be no gzip.
    // The byte more shows that there is more.
    let most = limit - out.len() + 1;
    let mut room = vec![0; ROOM_FIRST.min(most)];
    let (mut read, mut written) = (0, 0);
    loop {
        let flags = inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
        let (status, consumed, made) = decompress(&mut inflater, &data[read..], &mut room, written, flags);
        read += consumed;
        written += made;
        match status {
            TINFLStatus::Done if written < most => {
                out.extend_from_slice(&room[..written]);
                return Ok(read);
            }
            TINFLStatus::HasMoreOutput if room.len() < most => room.resize((room.len() * 2).min(most), 0),
            TINFLStatus::Done | TINFLStatus::HasMoreOutput => return Err(GzipError::TooLong { limit }),
            TINFLStatus::FailedCannotMakeProgress | TINFLStatus::NeedsMoreInput => {
                return Err(GzipError::Truncated { at });
            }
            _ => return Err(GzipError::Damaged { at, what: "its data are not deflated" }),
        }
    }
}

/// CRC-32 as RFC 1952, section 8, has it.
fn crc_32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, byte| TABLE[usize::from(crc as u8 ^ byte)] ^ crc >> 8)
}

const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut at = 0;
    while at < table.len() {
        let mut crc = at as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { 0xedb8_8320 ^ crc >> 1 } else { crc >> 1 };
            bit += 1;
        }
        table[at] = crc;
        at += 1;
    }
    table
};
