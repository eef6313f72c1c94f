//! Writing.

use super::{Encode, EncodeError};

/// Writes canonical COER.
///
/// A value outside its bounds does not stop the writing; [`Writer::finish`] tells of the first one.
#[derive(Clone, Debug, Default)]
pub struct Writer {
    bytes: Vec<u8>,
    error: Option<EncodeError>,
}

impl Writer {
    /// An empty writer.
    pub fn new() -> Self {
        Self::default()
    }

    /// A writer that appends to `bytes`.
    pub fn append_to(bytes: Vec<u8>) -> Self {
        Self { bytes, error: None }
    }

    /// What was written.
    ///
    /// # Errors
    /// The first value that was outside its bounds.
    pub fn finish(self) -> Result<Vec<u8>, EncodeError> {
        self.error.map_or(Ok(self.bytes), Err)
    }

    /// Bytes written so far.
    pub fn position(&self) -> usize {
        self.bytes.len()
    }

    /// Notes that a value cannot be encoded.
    pub fn refuse(&mut self, error: EncodeError) {
        self.error.get_or_insert(error);
    }

    /// Bytes as they are.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// `INTEGER (0..255)`.
    pub fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    /// `INTEGER (0..65535)`.
    pub fn u16(&mut self, value: u16) {
        self.raw(&value.to_be_bytes());
    }

    /// `INTEGER (0..4294967295)`.
    pub fn u32(&mut self, value: u32) {
        self.raw(&value.to_be_bytes());
    }

    /// `INTEGER (0..18446744073709551615)`.
    pub fn u64(&mut self, value: u64) {
        self.raw(&value.to_be_bytes());
    }

    /// A bounded `INTEGER` of four octets with a sign.
    pub fn i32_in(&mut self, what: &'static str, value: i32, min: i32, max: i32) {
        if !(min..=max).contains(&value) {
            self.refuse(EncodeError::Range { what, value: value.into(), min: min.into(), max: max.into() });
        }
        self.raw(&value.to_be_bytes());
    }

    /// A length determinant.
    pub fn length(&mut self, length: usize) {
        if length < 0x80 {
            self.u8(length.to_le_bytes()[0]);
        } else {
            self.counted(length as u64, 0x80);
        }
    }

    /// `INTEGER (0..MAX)`, and the count in front of a `SEQUENCE OF`.
    pub fn unsigned(&mut self, value: u64) {
        self.counted(value, 0);
    }

    fn counted(&mut self, value: u64, flag: u8) {
        let digits = value.to_be_bytes();
        let zeros = digits.iter().take(7).take_while(|digit| **digit == 0).count();
        let digits = &digits[zeros..];
        self.u8(flag | digits.len().to_le_bytes()[0]);
        self.raw(digits);
    }

    /// `INTEGER`.
    pub fn signed(&mut self, value: i64) {
        let digits = value.to_be_bytes();
        let is_padding =
            |pair: &&[u8]| matches!(pair, [0, next] if *next < 0x80) || matches!(pair, [0xff, next] if *next >= 0x80);
        let padding = digits.windows(2).take_while(is_padding).count();
        self.octets(&digits[padding..]);
    }

    /// An `OCTET STRING` that carries its length.
    pub fn octets(&mut self, octets: &[u8]) {
        self.length(octets.len());
        self.raw(octets);
    }

    /// An `OCTET STRING` or `UTF8String` of `min..=max` octets that carries its length.
    pub fn octets_in(&mut self, what: &'static str, octets: &[u8], min: usize, max: usize) {
        self.check_size(what, octets.len(), min, max);
        self.octets(octets);
    }

    /// Refuses a size outside its bounds.
    pub fn check_size(&mut self, what: &'static str, size: usize, min: usize, max: usize) {
        if !(min..=max).contains(&size) {
            self.refuse(EncodeError::Size { what, size, min, max });
        }
    }

    /// The tag of alternative `number` of a `CHOICE` under automatic tagging; at most 62.
    pub fn tag(&mut self, number: u8) {
        debug_assert!(number < 63);
        self.u8(0x80 | number);
    }

    /// The tag of an alternative and its value.
    pub fn alternative(&mut self, number: u8, value: &impl Encode) {
        self.tag(number);
        value.encode(self);
    }

    /// An alternative after the extension marker: tag, and the value as an open type.
    pub fn extension_alternative(&mut self, number: u8, value: &impl Encode) {
        self.tag(number);
        self.open_type(|writer| value.encode(writer));
    }

    /// The number of an `ENUMERATED` item.
    pub fn enumerated(&mut self, number: u8) {
        if number < 0x80 {
            self.u8(number);
        } else {
            self.raw(&[0x82, 0, number]);
        }
    }

    /// The presence bits in front of a `SEQUENCE`: the extension bit first if the type is extensible; at most 16.
    pub fn preamble(&mut self, bits: &[bool]) {
        let value = bits.iter().fold(0_u16, |value, bit| value << 1 | u16::from(*bit));
        let value = value << (16 - bits.len());
        match bits.len() {
            0 => {}
            1..=8 => self.u8(value.to_be_bytes()[0]),
            _ => self.u16(value),
        }
    }

    /// An open type: the length of what `write` writes, and that.
    pub fn open_type(&mut self, write: impl FnOnce(&mut Self)) {
        let start = self.bytes.len();
        write(self);
        let length = self.bytes.len() - start;
        let mut front = Self::new();
        front.length(length);
        self.bytes.splice(start..start, front.bytes);
    }

    /// A `SEQUENCE OF` with `min..` elements.
    pub fn list<T>(&mut self, what: &'static str, min: usize, elements: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.check_size(what, elements.len(), min, usize::MAX);
        self.unsigned(elements.len() as u64);
        for element in elements {
            write(self, element);
        }
    }

    /// A component, if it is there.
    pub fn optional(&mut self, value: &Option<impl Encode>) {
        if let Some(value) = value {
            value.encode(self);
        }
    }
}
