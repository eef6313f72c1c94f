//! Components after the extension marker of a `SEQUENCE`.

use super::{DecodeError, DecodeErrorKind, DeviationKind, Reader, Writer};

/// The additions of a `SEQUENCE` that this crate does not know, kept as they came, and the size of the bitmap they were
/// announced in: with both, what is read can be written again byte for byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtensionAdditions<'a> {
    /// Bits of the presence bitmap as received; 0 stands for as many as the type has additions.
    pub bit_count: u8,
    /// Position in the bitmap, counted from 0, and contents of the open type.
    pub unknown: Vec<(u8, &'a [u8])>,
}

impl<'a> ExtensionAdditions<'a> {
    /// Reads the presence bitmap and calls `read` for each addition among the first `known_count`, inside its open type.
    ///
    /// # Errors
    /// A bitmap of more than 64 bits, a faulty one, or those of `read`.
    pub fn decode(
        reader: &mut Reader<'a>,
        known_count: u8,
        mut read: impl FnMut(&mut Reader<'a>, u8) -> Result<(), DecodeError>,
    ) -> Result<Self, DecodeError> {
        let start = reader.position();
        let [unused, bitmap @ ..] = reader.octets()? else {
            return Err(reader.error(DecodeErrorKind::Constraint("extension bitmap without octets")));
        };
        if bitmap.is_empty() || bitmap.len() > 8 || *unused > 7 {
            return Err(reader.error(DecodeErrorKind::Constraint("extension bitmap is not of 1 to 64 bits")));
        }
        let bits = bitmap.iter().fold(0_u64, |bits, octet| bits << 8 | u64::from(*octet));
        let mut bits = bits << (64 - 8 * bitmap.len());
        let bit_count = 8 * bitmap.len().to_le_bytes()[0] - unused;
        if bits.checked_shl(bit_count.into()).unwrap_or(0) != 0 {
            reader.deviation_at(start, DeviationKind::UnusedBitsSet)?;
        }
        if bits == 0 {
            reader.deviation_at(start, DeviationKind::EmptyExtension)?;
        }
        let mut unknown = Vec::new();
        for index in 0..bit_count {
            if bits & (1 << 63) != 0 {
                if index < known_count {
                    reader.open_type(|reader| read(reader, index))?;
                } else {
                    unknown.push((index, reader.octets()?));
                }
            }
            bits <<= 1;
        }
        Ok(Self { bit_count: if bit_count == known_count { 0 } else { bit_count }, unknown })
    }

    /// Whether there is anything to write, given which of the known additions are there.
    pub fn is_extended(&self, known: &[bool]) -> bool {
        known.contains(&true) || !self.unknown.is_empty()
    }

    /// Writes the bitmap and each addition; `write` is called inside the open type of each known one.
    pub fn encode(&self, writer: &mut Writer, known: &[bool], mut write: impl FnMut(&mut Writer, u8)) {
        debug_assert!(known.len() <= 64);
        if !self.is_extended(known) {
            return;
        }
        let known_count = known.len().to_le_bytes()[0];
        let needed = known.iter().rposition(|bit| *bit).map_or(0, |last| last.to_le_bytes()[0] + 1);
        let needed = self.unknown.iter().map(|(index, _)| index.saturating_add(1)).fold(needed, u8::max).min(64);
        let bit_count = if self.bit_count == 0 { known_count } else { self.bit_count }.max(needed);
        let octet_count = bit_count.div_ceil(8);
        let is_there = |index: u8| {
            known.get(usize::from(index)) == Some(&true) || self.unknown.iter().any(|(unknown, _)| *unknown == index)
        };
        writer.length(usize::from(octet_count) + 1);
        writer.u8(octet_count * 8 - bit_count);
        for octet in 0..octet_count {
            let bits = (0..8).fold(0_u8, |bits, bit| bits << 1 | u8::from(is_there(octet * 8 + bit)));
            writer.u8(bits);
        }
        for index in 0..bit_count {
            if known.get(usize::from(index)) == Some(&true) {
                writer.open_type(|writer| write(writer, index));
            } else if let Some((_, bytes)) = self.unknown.iter().find(|(unknown, _)| *unknown == index) {
                writer.octets(bytes);
            }
        }
    }
}
