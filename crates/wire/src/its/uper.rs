//! The part of unaligned PER (ITU-T X.691) that these messages need: integers of known range and open types, one bit after
//! the other.
//!
//! A message is described once, by a function over [`Coder`]; [`Writer`] and [`Reader`] make writing and reading of it.

/// Why a message cannot be written or read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UperError {
    /// The bytes end within a field, or the buffer does.
    #[error("{field} lies beyond the end of {len} bytes")]
    TooShort {
        /// Which field.
        field: &'static str,
        /// What there is `[byte]`.
        len: usize,
    },
    /// A value outside its range.
    #[error("{field} is {value}; it must lie within {low} and {high}")]
    OutOfRange {
        /// Which field.
        field: &'static str,
        /// The value.
        value: i64,
        /// Least value.
        low: i64,
        /// Largest value.
        high: i64,
    },
    /// Legal, but an alternative or extension this reader does not know.
    #[error("{field}: an alternative or extension that is not known here")]
    Unknown {
        /// Where.
        field: &'static str,
    },
    /// Bytes behind the message.
    #[error("{0} bytes behind the message")]
    Trailing(usize),
}

impl From<UperError> for chronoseal_core::DiscardReason {
    fn from(error: UperError) -> Self {
        match error {
            UperError::TooShort { .. } => Self::TooShort,
            UperError::OutOfRange { .. } | UperError::Trailing(_) => Self::Malformed,
            UperError::Unknown { .. } => Self::UnsupportedFormat,
        }
    }
}

/// Either direction of a message.
pub(super) trait Coder {
    /// The next `width` bits, at most 56: written from `value`, or read into it.
    fn bits(&mut self, field: &'static str, value: &mut u64, width: u32) -> Result<(), UperError>;

    /// A constrained whole number (X.691 §11.5).
    fn integer(&mut self, field: &'static str, value: &mut i64, low: i64, high: i64) -> Result<(), UperError> {
        let width = u64::BITS - ((high - low) as u64).leading_zeros();
        // A value to be written may be anything; one to be read is not looked at.
        let mut raw = (*value).wrapping_sub(low) as u64;
        if self.writes() && !(low..=high).contains(value) {
            return Err(UperError::OutOfRange { field, value: *value, low, high });
        }
        self.bits(field, &mut raw, width)?;
        let read = low + raw as i64;
        if read > high {
            return Err(UperError::OutOfRange { field, value: read, low, high });
        }
        *value = read;
        Ok(())
    }

    /// An extension bit, or the index of a choice, with the only value known here.
    fn fixed(&mut self, field: &'static str, expected: u64, width: u32) -> Result<(), UperError> {
        let mut raw = expected;
        self.bits(field, &mut raw, width)?;
        if raw == expected { Ok(()) } else { Err(UperError::Unknown { field }) }
    }

    /// A flag.
    fn flag(&mut self, field: &'static str, value: &mut bool) -> Result<(), UperError> {
        let mut raw = u64::from(*value);
        self.bits(field, &mut raw, 1)?;
        *value = raw == 1;
        Ok(())
    }

    /// An open type (X.691 §11.2): the length of its content, and the content as an encoding of its own.
    fn open_type(&mut self, field: &'static str, content: &mut impl Content) -> Result<(), UperError>;

    /// True if values go out.
    fn writes(&self) -> bool;
}

/// What an open type holds.
pub(super) trait Content {
    fn code(&mut self, coder: &mut impl Coder) -> Result<(), UperError>;
}

/// The longest content of an open type that is written or read `[byte]`: more than a packet on the air holds.
pub(super) const OPEN_TYPE_LEN_MAX: usize = 1_400;

/// The length of an open type (X.691 §11.9): one octet up to 127, two up to 16383.
fn open_type_len(coder: &mut impl Coder, field: &'static str, len: usize) -> Result<usize, UperError> {
    let mut is_long = len > 127;
    coder.flag(field, &mut is_long)?;
    let mut raw = len as u64;
    if is_long {
        // The second bit stands for fragments of 16384 and more.
        coder.fixed(field, 0, 1)?;
    }
    coder.bits(field, &mut raw, if is_long { 14 } else { 7 })?;
    if raw as usize > OPEN_TYPE_LEN_MAX { Err(UperError::Unknown { field }) } else { Ok(raw as usize) }
}

/// [`Coder::integer`] for a field of any integer type.
macro_rules! integer {
    ($coder:expr, $field:literal, $value:expr, $low:expr, $high:expr) => {{
        let mut wide = i64::from($value);
        $coder.integer($field, &mut wide, $low, $high)?;
        // The range of the field lies within its type, for the reader has checked it.
        $value = wide as _;
    }};
}
pub(super) use integer;

/// A message, coded by one function in both directions.
pub(super) trait Message: Default {
    /// The whole message, header included; false if what follows was not read.
    fn code(&mut self, coder: &mut impl Coder) -> Result<bool, UperError>;
}

/// Writes `message` to the front of `buf`; returns its length `[byte]`.
pub(super) fn emit(mut message: impl Message, buf: &mut [u8]) -> Result<usize, UperError> {
    let mut writer = Writer::new(buf);
    message.code(&mut writer)?;
    Ok(writer.len())
}

/// Reads a message that fills `bytes`, as far as it is known to the end.
pub(super) fn parse<M: Message>(bytes: &[u8]) -> Result<M, UperError> {
    let mut message = M::default();
    let mut reader = Reader::new(bytes);
    if message.code(&mut reader)? {
        reader.finish()?;
    }
    Ok(message)
}

/// `ItsPduHeader` of ETSI TS 102 894-2, refused with another version or message.
pub(super) fn header(
    coder: &mut impl Coder,
    (protocol_version, message_id): (i64, i64),
    station_id: &mut u32,
) -> Result<(), UperError> {
    let (mut version, mut id) = (protocol_version, message_id);
    coder.integer("protocolVersion", &mut version, 0, 255)?;
    coder.integer("messageID", &mut id, 0, 255)?;
    if (version, id) != (protocol_version, message_id) {
        return Err(UperError::Unknown { field: "header" });
    }
    integer!(coder, "stationID", *station_id, 0, i64::from(u32::MAX));
    Ok(())
}

/// Writes bits into a buffer.
pub(super) struct Writer<'a> {
    buf: &'a mut [u8],
    bits: usize,
}

impl<'a> Writer<'a> {
    pub(super) fn new(buf: &'a mut [u8]) -> Self {
        Self { buf, bits: 0 }
    }

    /// Bytes begun; the bits behind the last field are zero.
    pub(super) fn len(&self) -> usize {
        self.bits.div_ceil(8)
    }
}

impl Coder for Writer<'_> {
    fn bits(&mut self, field: &'static str, value: &mut u64, width: u32) -> Result<(), UperError> {
        let end = self.bits + width as usize;
        if end > 8 * self.buf.len() {
            return Err(UperError::TooShort { field, len: self.buf.len() });
        }
        for bit in (0..width).rev() {
            let (byte, place) = (self.bits / 8, 7 - self.bits % 8);
            if place == 7 {
                self.buf[byte] = 0;
            }
            self.buf[byte] |= ((*value >> bit & 1) as u8) << place;
            self.bits += 1;
        }
        Ok(())
    }

    fn open_type(&mut self, field: &'static str, content: &mut impl Content) -> Result<(), UperError> {
        let mut octets = [0; OPEN_TYPE_LEN_MAX];
        let mut inner = Writer::new(&mut octets);
        content.code(&mut inner)?;
        // An empty encoding is one octet of zeros (X.691 §11.1).
        let len = open_type_len(self, field, inner.len().max(1))?;
        octets[..len].iter().try_for_each(|octet| self.bits(field, &mut u64::from(*octet), 8))
    }

    fn writes(&self) -> bool {
        true
    }
}

/// Reads bits.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    bits: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, bits: 0 }
    }

    /// Refuses bytes behind the last field; the bits behind it within its byte are not looked at.
    pub(super) fn finish(self) -> Result<(), UperError> {
        match self.bytes.len() - self.bits.div_ceil(8) {
            0 => Ok(()),
            trailing => Err(UperError::Trailing(trailing)),
        }
    }
}

impl Coder for Reader<'_> {
    fn bits(&mut self, field: &'static str, value: &mut u64, width: u32) -> Result<(), UperError> {
        let end = self.bits + width as usize;
        if end > 8 * self.bytes.len() {
            return Err(UperError::TooShort { field, len: self.bytes.len() });
        }
        let mut raw = 0;
        for at in self.bits..end {
            raw = raw << 1 | u64::from(self.bytes[at / 8] >> (7 - at % 8) & 1);
        }
        self.bits = end;
        *value = raw;
        Ok(())
    }

    fn open_type(&mut self, field: &'static str, content: &mut impl Content) -> Result<(), UperError> {
        let len = open_type_len(self, field, 0)?;
        let mut octets = [0; OPEN_TYPE_LEN_MAX];
        for octet in &mut octets[..len] {
            let mut raw = 0;
            self.bits(field, &mut raw, 8)?;
            *octet = raw as u8;
        }
        content.code(&mut Reader::new(&octets[..len]))
    }

    fn writes(&self) -> bool {
        false
    }
}
