//! Identifiers: 11 bits in a base frame, 29 in an extended one.

use core::fmt;

/// Largest identifier of a base frame.
pub const STANDARD_ID_MAX: u16 = 0x7ff;
/// Largest identifier of an extended frame.
pub const EXTENDED_ID_MAX: u32 = 0x1fff_ffff;

/// What a frame is about, and its rank: on the bus the lower one wins.
///
/// The order of this type is that of raw numbers within a format, with base before extended formats. It is *not* the
/// order of arbitration, in which the first 11 bits of both formats are compared first: see [`CanId::arbitration_rank`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum CanId {
    /// 11 bits.
    Standard(StandardId),
    /// 29 bits.
    Extended(ExtendedId),
}

/// An identifier of 11 bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct StandardId(u16);

/// An identifier of 29 bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct ExtendedId(u32);

/// A number that is no identifier.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IdError {
    /// More than 11 bits.
    #[error("{0:#x} does not fit the 11 bits of a base frame's identifier (at most 0x7ff)")]
    Standard(u32),
    /// More than 29 bits.
    #[error("{0:#x} does not fit the 29 bits of an extended frame's identifier (at most 0x1fffffff)")]
    Extended(u32),
}

impl StandardId {
    /// Wins against every other identifier.
    pub const ZERO: Self = Self(0);

    /// The identifier `raw`.
    ///
    /// # Errors
    /// [`IdError::Standard`] above [`STANDARD_ID_MAX`].
    pub const fn new(raw: u16) -> Result<Self, IdError> {
        if raw <= STANDARD_ID_MAX { Ok(Self(raw)) } else { Err(IdError::Standard(raw as u32)) }
    }

    /// The number.
    pub const fn raw(self) -> u16 {
        self.0
    }
}

impl ExtendedId {
    /// The lowest one.
    pub const ZERO: Self = Self(0);

    /// The identifier `raw`.
    ///
    /// # Errors
    /// [`IdError::Extended`] above [`EXTENDED_ID_MAX`].
    pub const fn new(raw: u32) -> Result<Self, IdError> {
        if raw <= EXTENDED_ID_MAX { Ok(Self(raw)) } else { Err(IdError::Extended(raw)) }
    }

    /// The number.
    pub const fn raw(self) -> u32 {
        self.0
    }

    /// Its first 11 bits on the wire, which compete with those of base frames.
    pub const fn base(self) -> u16 {
        (self.0 >> 18) as u16
    }

    /// Its last 18 bits.
    pub const fn extension(self) -> u32 {
        self.0 & 0x3_ffff
    }
}

impl CanId {
    /// An identifier of 11 bits.
    ///
    /// # Errors
    /// [`IdError::Standard`] above [`STANDARD_ID_MAX`].
    pub const fn standard(raw: u16) -> Result<Self, IdError> {
        match StandardId::new(raw) {
            Ok(id) => Ok(Self::Standard(id)),
            Err(error) => Err(error),
        }
    }

    /// An identifier of 29 bits.
    ///
    /// # Errors
    /// [`IdError::Extended`] above [`EXTENDED_ID_MAX`].
    pub const fn extended(raw: u32) -> Result<Self, IdError> {
        match ExtendedId::new(raw) {
            Ok(id) => Ok(Self::Extended(id)),
            Err(error) => Err(error),
        }
    }

    /// The number, whose format it does not tell.
    pub const fn raw(self) -> u32 {
        match self {
            Self::Standard(id) => id.0 as u32,
            Self::Extended(id) => id.0,
        }
    }

    /// True for 29 bits.
    pub const fn is_extended(self) -> bool {
        matches!(self, Self::Extended(_))
    }

    /// The bits that decide arbitration, first bit on the wire highest, without SOF: 11 of the base identifier, then
    /// RTR or SRR, then IDE, then for extended frames 18 bits of the rest and RTR. The lower rank wins.
    ///
    /// `remote` is the RTR bit. No two frames with different identifiers, formats or RTR bits have the same rank.
    #[inline]
    pub const fn arbitration_rank(self, remote: bool) -> u32 {
        let remote = remote as u32;
        match self {
            // 11 + RTR + IDE (dominant) + 19 bits that play no part any more.
            Self::Standard(id) => (id.0 as u32) << 21 | remote << 20,
            // SRR and IDE are recessive.
            Self::Extended(id) => (id.base() as u32) << 21 | 0b11 << 19 | id.extension() << 1 | remote,
        }
    }
}

impl From<StandardId> for CanId {
    fn from(id: StandardId) -> Self {
        Self::Standard(id)
    }
}
impl From<ExtendedId> for CanId {
    fn from(id: ExtendedId) -> Self {
        Self::Extended(id)
    }
}

impl fmt::Display for CanId {
    /// As candump shows it: 3 or 8 hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Standard(id) => write!(f, "{:03X}", id.0),
            Self::Extended(id) => write!(f, "{:08X}", id.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_one_bit_too_many() {
        assert_eq!(CanId::standard(0x7ff).unwrap().raw(), 0x7ff);
        assert_eq!(CanId::standard(0x800), Err(IdError::Standard(0x800)));
        assert_eq!(CanId::extended(0x1fff_ffff).unwrap().raw(), 0x1fff_ffff);
        assert_eq!(CanId::extended(0x2000_0000), Err(IdError::Extended(0x2000_0000)));
    }

    #[test]
    fn a_base_frame_beats_the_extended_frame_that_begins_alike() {
        let base = CanId::standard(0x123).unwrap();
        let extended = CanId::extended(0x123 << 18).unwrap();
        // Data before remote, base before extended, whatever the RTR bit of the extended frame.
        assert!(base.arbitration_rank(false) < base.arbitration_rank(true));
        assert!(base.arbitration_rank(true) < extended.arbitration_rank(false));
        assert!(extended.arbitration_rank(false) < extended.arbitration_rank(true));
        assert!(extended.arbitration_rank(true) < CanId::standard(0x124).unwrap().arbitration_rank(false));
    }
}
