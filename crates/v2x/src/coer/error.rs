//! What can be wrong with an encoding, and where.

use core::fmt;

/// One step on the way from the outermost type to a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment {
    /// A component, by its name in the ASN.1 module.
    Field(&'static str),
    /// An element of a `SEQUENCE OF`, counted from 0.
    Index(u32),
}

/// The way from the outermost type to a field, as in `content.signedData.tbsData.headerInfo.psid`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldPath(pub(super) Box<[Segment]>);

impl FieldPath {
    /// The steps, outermost first.
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("(whole)");
        }
        for (i, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Field(name) if i == 0 => f.write_str(name)?,
                Segment::Field(name) => write!(f, ".{name}")?,
                Segment::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// Why bytes are no value of the type that was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {offset}, {path}: {kind}")]
pub struct DecodeError {
    /// Where, from the first byte handed in.
    pub offset: usize,
    /// In which field.
    pub path: FieldPath,
    /// What.
    pub kind: DecodeErrorKind,
}

/// The kinds of [`DecodeError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// The bytes end inside a field.
    #[error("needs {needed} bytes, {left} are left")]
    Truncated {
        /// Bytes the field needs.
        needed: usize,
        /// Bytes there are.
        left: usize,
    },
    /// Bytes follow after the value.
    #[error("{count} bytes after the end of the value")]
    TrailingBytes {
        /// How many.
        count: usize,
    },
    /// A length, count or integer too large to be meant: more than 2^32 - 1 for lengths, 2^64 - 1 for integers.
    #[error("number too large")]
    NumberTooLarge,
    /// No alternative of the choice has this tag, and the choice cannot be extended.
    #[error("no alternative has tag {tag:#04x}")]
    UnknownTag {
        /// The tag's first octet.
        tag: u8,
    },
    /// No item of the enumeration has this number, and it cannot be extended.
    #[error("no item has number {value}")]
    UnknownItem {
        /// The number.
        value: u8,
    },
    /// A value outside the bounds of its type.
    #[error("{value} is outside {min}..={max}")]
    OutOfRange {
        /// The value found.
        value: i64,
        /// Least value allowed.
        min: i64,
        /// Greatest value allowed.
        max: i64,
    },
    /// Text that is not UTF-8.
    #[error("text is not UTF-8")]
    NotUtf8,
    /// Nested deeper than the rules allow.
    #[error("nested deeper than {depth_max} levels")]
    TooDeep {
        /// The rules' limit.
        depth_max: u8,
    },
    /// More elements than the rules allow in one list.
    #[error("more than {elements_max} elements in one list")]
    TooManyElements {
        /// The rules' limit.
        elements_max: usize,
    },
    /// A combination of components the type rules out.
    #[error("{0}")]
    Constraint(&'static str),
    /// Understood, but not canonical, under rules that ask for it.
    #[error("not canonical: {0}")]
    NotCanonical(DeviationKind),
}

/// Something understood that is not canonical.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {offset}, {path}: {kind}")]
pub struct Deviation {
    /// Where, from the first byte handed in.
    pub offset: usize,
    /// In which field.
    pub path: FieldPath,
    /// What.
    pub kind: DeviationKind,
}

/// The kinds of [`Deviation`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[non_exhaustive]
pub enum DeviationKind {
    /// A length in more octets than it needs, X.696 clause 8.6.
    #[error("length in more octets than it needs (X.696 8.6.5)")]
    LengthNotMinimal,
    /// An integer in more octets than it needs, X.696 clause 10.
    #[error("integer in more octets than it needs (X.696 10.4)")]
    IntegerNotMinimal,
    /// A component that has its default value and is encoded nevertheless, X.696 clause 16.
    #[error("default value spelt out (X.696 16.2.3)")]
    DefaultEncoded,
    /// Bits that stand for nothing are not zero.
    #[error("unused bits are not zero (X.696 13.3)")]
    UnusedBitsSet,
    /// The extension bit is set and no addition is there, X.696 clause 16.
    #[error("extension bit without an extension (X.696 16.2.2)")]
    EmptyExtension,
    /// An enumeration item in the long form that fits the short one, X.696 clause 11.
    #[error("enumeration item in the long form (X.696 11.3)")]
    EnumeratedLongForm,
    /// A public key point that is not compressed, IEEE 1609.2 clause 6.3.22 and 6.4.3.
    #[error("public key point not compressed (IEEE 1609.2 6.4.3)")]
    PointNotCompressed,
    /// The r of a signature as a whole point, IEEE 1609.2 clause 6.3.30.
    #[error("signature's r not x-only (IEEE 1609.2 6.3.30)")]
    SignaturePointNotXOnly,
    /// Bytes after the value inside an open type.
    #[error("bytes after the value of an open type")]
    OpenTypeNotFilled,
}

/// Why a value cannot be encoded: a part is outside its type's bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// A string or list whose size is outside its bounds.
    #[error("{what}: size {size} is outside {min}..={max}")]
    Size {
        /// The component.
        what: &'static str,
        /// Size it has.
        size: usize,
        /// Least size.
        min: usize,
        /// Greatest size.
        max: usize,
    },
    /// A number outside its bounds.
    #[error("{what}: {value} is outside {min}..={max}")]
    Range {
        /// The component.
        what: &'static str,
        /// The value it has.
        value: i64,
        /// Least value.
        min: i64,
        /// Greatest value.
        max: i64,
    },
    /// A combination of components the type rules out.
    #[error("{0}")]
    Constraint(&'static str),
}
