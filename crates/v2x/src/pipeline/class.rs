//! What a message is worth before it is verified.

use crate::vss::Relevance;

/// What a message is worth by what it says before anything of it is verified, the most first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Class {
    /// Never waits for another class, nor for a batch to fill.
    Emergency,
    /// Of a station near by.
    Near,
    /// Of one far away.
    Far,
}

impl Class {
    /// All of them, the most relevant first.
    pub const ALL: [Self; 3] = [Self::Emergency, Self::Near, Self::Far];

    /// As shown to people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Emergency => "emergency",
            Self::Near => "near",
            Self::Far => "far",
        }
    }

    /// An emergency if its verification is demanded, near if [`Relevance::is_near`] says so within these bounds `[m]`, `[ms]`.
    #[must_use]
    pub fn of(relevance: &Relevance, distance_m: u32, time_to_collision_ms: u32) -> Self {
        match relevance {
            _ if relevance.is_demanded => Self::Emergency,
            _ if relevance.is_near(distance_m, time_to_collision_ms) => Self::Near,
            _ => Self::Far,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_what_is_demanded_near_coming_or_unknown() {
        let class = |distance_m, time_to_collision_ms, is_demanded| {
            Class::of(&Relevance { distance_m, time_to_collision_ms, is_demanded }, 300, 5_000)
        };
        assert_eq!(class(Some(9_000), None, true), Class::Emergency);
        assert_eq!([class(Some(300), None, false), class(None, None, false)], [Class::Near; 2]);
        assert_eq!(class(Some(301), Some(5_000), false), Class::Near);
        assert_eq!([class(Some(301), Some(5_001), false), class(Some(301), None, false)], [Class::Far; 2]);
    }
}
