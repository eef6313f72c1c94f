//! Who is vulnerable on the road: VruProfileAndSubprofile of the common data dictionary (ETSI TS 102 894-2 V2.4.1).

use super::uper::{Coder, UperError};

/// A kind of vulnerable road user, each with its subprofile; 0 is unavailable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VruProfile {
    /// On foot; subprofile 1 is an ordinary pedestrian.
    Pedestrian(u8),
    /// On a bicycle or a light vehicle; subprofile 1 is a bicyclist.
    Bicyclist(u8),
    /// On a motorcycle; subprofile 2 is a motorcycle.
    Motorcyclist(u8),
    /// An animal.
    Animal(u8),
}

impl VruProfile {
    const fn parts(self) -> (u64, u8) {
        match self {
            Self::Pedestrian(sub) => (0, sub),
            Self::Bicyclist(sub) => (1, sub),
            Self::Motorcyclist(sub) => (2, sub),
            Self::Animal(sub) => (3, sub),
        }
    }

    /// The TrafficParticipantType that a station of this profile has.
    pub const fn station_type(self) -> u8 {
        match self {
            Self::Pedestrian(_) => 1,
            Self::Bicyclist(_) => 2,
            // A moped is one of its own.
            Self::Motorcyclist(1) => 3,
            Self::Motorcyclist(_) => 4,
            Self::Animal(_) => 13,
        }
    }

    pub(super) fn code(&mut self, coder: &mut impl Coder) -> Result<(), UperError> {
        let (mut kind, sub) = self.parts();
        coder.fixed("profileAndSubprofile", 0, 1)?;
        coder.bits("profileAndSubprofile", &mut kind, 2)?;
        let mut wide = i64::from(sub);
        coder.integer("subprofile", &mut wide, 0, 15)?;
        let sub = wide as u8;
        *self = match kind {
            0 => Self::Pedestrian(sub),
            1 => Self::Bicyclist(sub),
            2 => Self::Motorcyclist(sub),
            _ => Self::Animal(sub),
        };
        Ok(())
    }
}

impl Default for VruProfile {
    /// A pedestrian of whom nothing more is known.
    fn default() -> Self {
        Self::Pedestrian(0)
    }
}
