//! What is observed of CAMs here: some of the standard's observations, under its numbers.

use core::fmt;

/// What is wrong with a CAM, or with one after another: the numbers are those of TS 103 759's observations of CAMs.
///
/// All of it is said of messages whose signature is genuine: whoever signed is the one who is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CamObservation {
    /// The position changes by more than anything that moves.
    PositionChange,
    /// Faster than anything of its kind.
    SpeedOfKind,
    /// Faster in reverse than anything.
    SpeedInReverse,
    /// The speed changes by more than tyres allow.
    SpeedChange,
    /// It accelerates by more than tyres allow.
    Acceleration,
}

impl CamObservation {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::PositionChange, Self::SpeedOfKind, Self::SpeedInReverse, Self::SpeedChange, Self::Acceleration];

    /// Number of the property it is about: 3 position, 4 speed, 5 longitudinal acceleration.
    pub fn target(self) -> u8 {
        match self {
            Self::PositionChange => 3,
            Self::SpeedOfKind | Self::SpeedInReverse | Self::SpeedChange => 4,
            Self::Acceleration => 5,
        }
    }

    /// Its number among those of that property.
    pub fn id(self) -> u8 {
        match self {
            Self::SpeedOfKind => 3,
            Self::PositionChange | Self::SpeedInReverse | Self::Acceleration => 4,
            Self::SpeedChange => 5,
        }
    }

    /// The one of these numbers.
    pub fn from_numbers(target: u8, id: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|one| (one.target(), one.id()) == (target, id))
    }

    /// As the standard's module calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::PositionChange => "Position-ChangeTooLarge",
            Self::SpeedOfKind => "Speed-ValueTooLarge-VehicleType",
            Self::SpeedInReverse => "Speed-ValueTooLarge-DriveDirectionReverse",
            Self::SpeedChange => "Speed-ChangeTooLarge",
            Self::Acceleration => "LongAcc-ValueTooLarge",
        }
    }

    /// Whether it takes the message before to see it.
    pub fn is_of_two(self) -> bool {
        matches!(self, Self::PositionChange | Self::SpeedChange)
    }
}

impl fmt::Display for CamObservation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
