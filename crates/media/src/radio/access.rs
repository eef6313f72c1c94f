//! EDCA: who may send when, by access category.

use chronoseal_core::{Duration, Priority};

use super::timing::{CW_MAX, CW_MIN, SIFS, SLOT};

/// One of the four classes of IEEE 802.11, lowest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AccessCategory {
    /// AC_BK.
    Background,
    /// AC_BE: the class of CAMs by the profile of ITS-G5.
    BestEffort,
    /// AC_VI: the class of DENMs.
    Video,
    /// AC_VO: the class of DENMs of high priority.
    Voice,
}

impl AccessCategory {
    /// Every category, lowest first.
    pub const ALL: [Self; 4] = [Self::Background, Self::BestEffort, Self::Video, Self::Voice];

    /// The category of a user priority (IEEE 802.11-2020, table 10-1); whatever is above 7 is voice.
    pub const fn of_priority(priority: Priority) -> Self {
        match priority.0 {
            1 | 2 => Self::Background,
            0 | 3 => Self::BestEffort,
            4 | 5 => Self::Video,
            _ => Self::Voice,
        }
    }

    /// The user priority a node uses to send in this category.
    pub const fn priority(self) -> Priority {
        Priority(match self {
            Self::Background => 1,
            Self::BestEffort => 3,
            Self::Video => 5,
            Self::Voice => 7,
        })
    }
}

/// How a category gets its turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccessParameters {
    /// Slots behind a SIFS before the first in which a frame may start.
    pub aifsn: u32,
    /// A backoff is drawn from `0..=cw_min`.
    pub cw_min: u32,
    /// What the window may grow to by collisions within the station; nothing else makes a broadcast's window grow.
    pub cw_max: u32,
}

impl AccessParameters {
    /// What stations outside the context of a BSS use (IEEE 802.11-2020, table 9-156).
    pub const fn ocb(category: AccessCategory) -> Self {
        let (aifsn, cw_min, cw_max) = match category {
            AccessCategory::Background => (9, CW_MIN, CW_MAX),
            AccessCategory::BestEffort => (6, CW_MIN, CW_MAX),
            AccessCategory::Video => (3, CW_MIN.div_ceil(2) - 1, CW_MIN),
            AccessCategory::Voice => (2, CW_MIN.div_ceil(4) - 1, CW_MIN.div_ceil(2) - 1),
        };
        Self { aifsn, cw_min, cw_max }
    }

    /// From the end of what kept the channel busy to the first moment a frame may start.
    pub const fn aifs(&self) -> Duration {
        Duration::from_ps(SIFS.as_ps() + SLOT.as_ps() * self.aifsn as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_outside_a_bss_are_those_of_the_standard() {
        let found = AccessCategory::ALL.map(|category| {
            let parameters = AccessParameters::ocb(category);
            (parameters.aifsn, parameters.cw_min, parameters.cw_max, parameters.aifs())
        });
        let us = Duration::from_us;
        assert_eq!(found, [(9, 15, 1023, us(149)), (6, 15, 1023, us(110)), (3, 7, 15, us(71)), (2, 3, 7, us(58))]);
    }

    #[test]
    fn a_category_keeps_its_own_priority() {
        for category in AccessCategory::ALL {
            assert_eq!(AccessCategory::of_priority(category.priority()), category);
        }
        assert_eq!(AccessCategory::of_priority(Priority::TIME_TRIGGERED), AccessCategory::Voice);
        assert_eq!(AccessCategory::of_priority(Priority(0)), AccessCategory::BestEffort);
    }
}
