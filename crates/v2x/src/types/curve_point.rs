//! Points of curves, IEEE 1609.2 clauses 6.3.22 and 6.3.23.

use crate::coer::{Decode, DecodeError, DeviationKind, Encode, Reader, Writer};

/// A point of a curve whose coordinates have `N` octets, in one of the forms it may travel in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CurvePoint<const N: usize> {
    /// The x coordinate alone: the r of a signature.
    XOnly([u8; N]),
    /// Nothing; left for a later version of the standard.
    Fill,
    /// The x coordinate of a point whose y is even.
    CompressedY0([u8; N]),
    /// The x coordinate of a point whose y is odd.
    CompressedY1([u8; N]),
    /// Both coordinates.
    Uncompressed {
        /// The x coordinate.
        x: [u8; N],
        /// The y coordinate.
        y: [u8; N],
    },
}

/// A point of a curve of 256 bits.
pub type EccP256CurvePoint = CurvePoint<32>;
/// A point of a curve of 384 bits.
pub type EccP384CurvePoint = CurvePoint<48>;

impl<const N: usize> CurvePoint<N> {
    /// The x coordinate, big-endian; none of a `Fill`.
    pub fn x(&self) -> Option<&[u8; N]> {
        match self {
            Self::XOnly(x) | Self::CompressedY0(x) | Self::CompressedY1(x) | Self::Uncompressed { x, .. } => Some(x),
            Self::Fill => None,
        }
    }

    /// The canonical form of a public key: compressed. `XOnly` and `Fill` stay what they are.
    #[must_use]
    pub fn compressed(&self) -> Self {
        match *self {
            Self::Uncompressed { x, y } if y[N - 1] & 1 == 0 => Self::CompressedY0(x),
            Self::Uncompressed { x, .. } => Self::CompressedY1(x),
            other => other,
        }
    }

    /// The canonical form of a signature's r. `Fill` stays what it is.
    #[must_use]
    pub fn x_only(&self) -> Self {
        self.x().map_or(Self::Fill, |x| Self::XOnly(*x))
    }

    /// Reads a public key, which is to be compressed.
    ///
    /// # Errors
    /// Faults of the encoding, or [`DeviationKind::PointNotCompressed`] under strict rules.
    pub fn decode_public(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let start = reader.position();
        let point = Self::decode(reader)?;
        if !matches!(point, Self::CompressedY0(_) | Self::CompressedY1(_)) {
            reader.deviation_at(start, DeviationKind::PointNotCompressed)?;
        }
        Ok(point)
    }

    /// Reads the r of a signature, which is to be an x coordinate alone.
    ///
    /// # Errors
    /// Faults of the encoding, or [`DeviationKind::SignaturePointNotXOnly`] under strict rules.
    pub fn decode_r(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let start = reader.position();
        let point = Self::decode(reader)?;
        if !matches!(point, Self::XOnly(_)) {
            reader.deviation_at(start, DeviationKind::SignaturePointNotXOnly)?;
        }
        Ok(point)
    }
}

impl<'a, const N: usize> Decode<'a> for CurvePoint<N> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(match reader.tag()? {
            0 => Self::XOnly(reader.array()?),
            1 => Self::Fill,
            2 => Self::CompressedY0(reader.array()?),
            3 => Self::CompressedY1(reader.array()?),
            4 => Self::Uncompressed { x: reader.array()?, y: reader.array()? },
            number => return Err(reader.unknown_alternative(number)),
        })
    }
}

impl<const N: usize> Encode for CurvePoint<N> {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::XOnly(x) => {
                writer.tag(0);
                writer.raw(x);
            }
            Self::Fill => writer.tag(1),
            Self::CompressedY0(x) => {
                writer.tag(2);
                writer.raw(x);
            }
            Self::CompressedY1(x) => {
                writer.tag(3);
                writer.raw(x);
            }
            Self::Uncompressed { x, y } => {
                writer.tag(4);
                writer.raw(x);
                writer.raw(y);
            }
        }
    }
}
