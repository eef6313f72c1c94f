//! When the next frame of each stream is due, for one stream as for thousands.

use chronoseal_core::{Duration, LocalTime};

/// So many times are looked through one after the other; of more, each group of so many has its earliest time in a list above.
const GROUP_LEN: usize = 16;

/// Times with a number each.
#[derive(Debug)]
pub(super) struct DueTimes {
    /// All of them if they are few, and else the earliest of each group of the first list below, with the number of the group.
    top: Vec<(LocalTime, usize)>,
    /// Lists of groups, each longer than the one before, and last all the times. Empty if they are few.
    below: Vec<Vec<(LocalTime, usize)>>,
    /// The earliest of `top`; the end of time if that is empty.
    earliest: LocalTime,
}

impl Default for DueTimes {
    /// None.
    fn default() -> Self {
        Self::from_iter([])
    }
}

impl FromIterator<(LocalTime, usize)> for DueTimes {
    fn from_iter<I: IntoIterator<Item = (LocalTime, usize)>>(times: I) -> Self {
        let mut lists = vec![times.into_iter().collect::<Vec<_>>()];
        while let Some(longest) = lists.first().filter(|list| list.len() > GROUP_LEN) {
            let groups = longest.chunks(GROUP_LEN).map(earliest).zip(0..).collect();
            lists.insert(0, groups);
        }
        let top = lists.remove(0);
        Self { earliest: earliest(&top), top, below: lists }
    }
}

impl DueTimes {
    /// The earliest of all.
    #[inline(always)]
    pub(super) fn earliest(&self) -> Option<LocalTime> {
        if self.top.is_empty() { None } else { Some(self.earliest) }
    }

    /// The first that is due, in the order in which they were given, with its number; it is due again so much later as `step` says of
    /// that number.
    #[inline(always)]
    pub(super) fn take_due(
        &mut self,
        now: LocalTime,
        step: impl FnOnce(usize) -> Duration,
    ) -> Option<(LocalTime, usize)> {
        if self.earliest > now {
            return None;
        }
        if !self.below.is_empty() {
            return self.take_due_of_many(now, step);
        }
        let place = self.top.iter().position(|(at, _)| *at <= now)?;
        let (at, number) = &mut self.top[place];
        let due = (*at, *number);
        *at += step(*number);
        self.earliest = earliest(&self.top);
        Some(due)
    }

    #[inline(never)]
    fn take_due_of_many(&mut self, now: LocalTime, step: impl FnOnce(usize) -> Duration) -> Option<(LocalTime, usize)> {
        let mut place = self.top.iter().position(|(at, _)| *at <= now)?;
        for list in &self.below {
            let from = place * GROUP_LEN;
            place = from + list[from..].iter().take(GROUP_LEN).position(|(at, _)| *at <= now)?;
        }
        let (at, number) = self.below.last_mut()?.get_mut(place)?;
        let due = (*at, *number);
        *at += step(*number);
        for level in (0..self.below.len()).rev() {
            place /= GROUP_LEN;
            let from = place * GROUP_LEN;
            let list = &self.below[level];
            let least = earliest(&list[from..list.len().min(from + GROUP_LEN)]);
            let above = level.checked_sub(1).map_or(&mut self.top, |above| &mut self.below[above]);
            above[place].0 = least;
        }
        self.earliest = earliest(&self.top);
        Some(due)
    }
}

/// Of one list or group; the end of time if there are none.
#[inline(always)]
fn earliest(group: &[(LocalTime, usize)]) -> LocalTime {
    group.iter().fold(LocalTime::from_ps(i64::MAX), |least, (at, _)| least.min(*at))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn answers_are_those_of_a_plain_list(
            start in proptest::collection::vec(0i64..100, 0..600),
            steps in proptest::collection::vec((1i64..50, 0i64..300), 0..200),
        ) {
            let mut plain: Vec<_> = start.iter().map(|at| LocalTime::from_ps(*at)).collect();
            let mut times: DueTimes = plain.iter().copied().zip(100..).collect();
            for (step, now) in steps {
                let (now, step) = (LocalTime::from_ps(now), Duration::from_ps(step));
                prop_assert_eq!(times.earliest(), plain.iter().copied().min());
                let due = plain.iter().position(|at| *at <= now).map(|place| (plain[place], 100 + place));
                prop_assert_eq!(times.take_due(now, |_| step), due);
                if let Some((_, number)) = due {
                    plain[number - 100] += step;
                }
            }
        }
    }
}
