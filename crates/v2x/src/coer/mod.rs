//! Canonical Octet Encoding Rules, ITU-T X.696 | ISO/IEC 8825-7: the part that IEEE 1609.2 and TS 102 941 use.
//!
//! [`Reader`] borrows, never copies, and says of every fault at which byte and in which field it lies. [`Writer`] has
//! only canonical forms to offer. A type joins with [`Decode`] and [`Encode`].
//!
//! Two kinds of trouble are kept apart. What cannot be understood is a [`DecodeError`] under every policy. What can be
//! understood but is not *the* encoding of its value (a length in too many octets, a default that is spelt out) is a
//! [`Deviation`]: an error under [`Canonical::Strict`], a note under [`Canonical::Lenient`].
//!
//! Nothing is allocated on the word of a length field: a list grows as its elements are found.

mod error;
mod extension;
mod reader;
mod writer;

pub use error::{DecodeError, DecodeErrorKind, Deviation, DeviationKind, EncodeError, FieldPath, Segment};
pub use extension::ExtensionAdditions;
pub use reader::{Canonical, Preamble, Reader, Rules};
pub use writer::Writer;

/// A type that can be read from its COER encoding.
pub trait Decode<'a>: Sized {
    /// Reads one value where `reader` stands.
    ///
    /// # Errors
    /// What the bytes have wrong, with offset and field.
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError>;

    /// Reads one value that is all of `bytes`, by the strict rules.
    ///
    /// # Errors
    /// As [`Decode::decode`], and [`DecodeErrorKind::TrailingBytes`].
    fn from_coer(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        Self::from_coer_with(bytes, Rules::default()).map(|(value, _)| value)
    }

    /// As [`Decode::from_coer`] by rules of the caller's choice; with the deviations that lenient rules let pass.
    ///
    /// # Errors
    /// As [`Decode::from_coer`].
    fn from_coer_with(bytes: &'a [u8], rules: Rules) -> Result<(Self, Vec<Deviation>), DecodeError> {
        let mut reader = Reader::new(bytes, rules);
        let value = Self::decode(&mut reader)?;
        reader.finish()?;
        Ok((value, reader.into_deviations()))
    }
}

/// A type that has a canonical COER encoding.
pub trait Encode {
    /// Appends the encoding of `self`.
    fn encode(&self, writer: &mut Writer);

    /// The encoding.
    ///
    /// # Errors
    /// [`EncodeError`] if a part of the value is outside its type's bounds.
    fn to_coer(&self) -> Result<Vec<u8>, EncodeError> {
        let mut writer = Writer::new();
        self.encode(&mut writer);
        writer.finish()
    }
}
