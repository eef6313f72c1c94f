//! When tickets begin and end: what everybody who hears one can read in it.
//!
//! A ticket that begins in the second of its request says which others were requested with it. Tickets that all stations have
//! in common times say nothing.

use crate::types::{Duration, Time32, ValidityPeriod};

const HOUR_S: u32 = 3_600;
const WEEK_S: u32 = 7 * 24 * HOUR_S;

/// Which periods an enrolment authority confirms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TicketPeriods {
    /// As they are asked for, to the second. Whoever hears two tickets of one request links them.
    AsAsked,
    /// They begin on the hour, before the time asked for, and last as long as asked for. Tickets of one request are alike to those
    /// of others who asked in that hour, and for that long.
    Hours,
    /// They are the weeks since 2004-01-01, whatever is asked for: all tickets of a week have the same period, and nothing in it
    /// links any two.
    #[default]
    Weeks,
}

impl TicketPeriods {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::AsAsked, Self::Hours, Self::Weeks];

    /// As options name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::AsAsked => "as-asked",
            Self::Hours => "hours",
            Self::Weeks => "weeks",
        }
    }

    /// The period to confirm at `now` for one that was asked for. It holds the beginning of that one, or `now` if that is later.
    #[must_use]
    pub fn align(self, asked: ValidityPeriod, now: Time32) -> ValidityPeriod {
        match self {
            Self::AsAsked => asked,
            Self::Hours => ValidityPeriod { start: floor(asked.start, HOUR_S), ..asked },
            Self::Weeks => {
                ValidityPeriod { start: floor(asked.start.max(now), WEEK_S), duration: Duration::Hours(168) }
            }
        }
    }
}

/// The beginning of the week: authorities' certificates begin with one, so that no ticket begins before its issuer's.
pub(super) fn week(of: Time32) -> Time32 {
    floor(of, WEEK_S)
}

fn floor(time: Time32, step_s: u32) -> Time32 {
    Time32(time.0 - time.0 % step_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_holds_the_beginning_of_the_one_asked_for() {
        let asked = ValidityPeriod { start: Time32(722_000_123), duration: Duration::Hours(24) };
        let align = |periods: TicketPeriods| periods.align(asked, asked.start);
        assert_eq!(align(TicketPeriods::AsAsked), asked);
        let hours = align(TicketPeriods::Hours);
        assert_eq!((hours.start, hours.duration), (Time32(721_998_000), Duration::Hours(24)));
        let weeks = align(TicketPeriods::Weeks);
        assert_eq!((weeks.start, weeks.duration), (Time32(721_526_400), Duration::Hours(168)));
        for periods in TicketPeriods::ALL {
            assert!(align(periods).contains(asked.start.time64()), "{}", periods.name());
            assert_eq!(periods.align(align(periods), asked.start), align(periods), "{}", periods.name());
        }
        // The last second of a week, and the first of the next.
        let start = |second: u32| {
            let asked = ValidityPeriod { start: Time32(second), ..asked };
            TicketPeriods::Weeks.align(asked, Time32(0)).start.0
        };
        assert_eq!((start(WEEK_S - 1), start(WEEK_S)), (0, WEEK_S));
        // One that has begun and is not over: the week it is.
        let begun = ValidityPeriod { start: Time32(0), duration: Duration::Hours(999) };
        assert_eq!(TicketPeriods::Weeks.align(begun, Time32(WEEK_S + 5)).start, Time32(WEEK_S));
    }
}
