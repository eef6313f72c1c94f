//! What of one resource is taken: sorted disjoint spans on a circle.

/// Reserved spans `[ps]` of one cycle, which repeats. Spans that touch are one span.
#[derive(Clone, Debug)]
pub struct Timeline {
    cycle: i64,
    /// Start and end, `0 <= start < end <= cycle`, by start, never touching.
    taken: Vec<(i64, i64)>,
}

/// Later than any time that is asked for, with room to add to it `[ps]`.
pub const NEVER: i64 = i64::MAX / 4;

impl Timeline {
    /// Nothing is reserved of a cycle of this length `[ps]`.
    pub fn new(cycle: i64) -> Self {
        Self { cycle, taken: Vec::new() }
    }

    /// The same spans in a cycle that is `times` as long.
    pub fn unfold(&mut self, times: i64) {
        let (cycle, once) = (self.cycle, std::mem::take(&mut self.taken));
        self.cycle *= times;
        if once.is_empty() {
            return;
        }
        self.taken.reserve(once.len() * times as usize);
        for k in 0..times {
            for &(start, end) in &once {
                let (start, end) = (start + k * cycle, end + k * cycle);
                match self.taken.last_mut() {
                    Some(last) if last.1 == start => last.1 = end,
                    _ => self.taken.push((start, end)),
                }
            }
        }
    }

    /// Reserves `len` from `from`, any instant of any cycle. The span must be free and no longer than a cycle.
    pub fn reserve(&mut self, from: i64, len: i64) {
        for (start, end) in self.pieces(from, len) {
            let at = self.taken.partition_point(|span| span.0 < start);
            let joins_left = at > 0 && self.taken[at - 1].1 == start;
            let joins_right = self.taken.get(at).is_some_and(|span| span.0 == end);
            match (joins_left, joins_right) {
                (true, true) => {
                    self.taken[at - 1].1 = self.taken[at].1;
                    self.taken.remove(at);
                }
                (true, false) => self.taken[at - 1].1 = end,
                (false, true) => self.taken[at].0 = start,
                (false, false) => self.taken.insert(at, (start, end)),
            }
        }
    }

    /// Gives back a span reserved before.
    pub fn release(&mut self, from: i64, len: i64) {
        for (start, end) in self.pieces(from, len) {
            let at = self.taken.partition_point(|span| span.1 <= start);
            let span = self.taken.remove(at);
            if end < span.1 {
                self.taken.insert(at, (end, span.1));
            }
            if span.0 < start {
                self.taken.insert(at, (span.0, start));
            }
        }
    }

    /// If `[from, from + len)` is not free: the end of the last span in its way. No later start before that end is
    /// free either, so a search may go on there; [`NEVER`] if it is longer than a cycle of which something is reserved.
    pub fn blocked_until(&self, from: i64, len: i64) -> Option<i64> {
        if len > self.cycle {
            return self.taken.first().map(|_| NEVER);
        }
        let at = from.rem_euclid(self.cycle);
        self.blocked_within(at, len).map(|end| from - at + end)
    }

    /// The same for a start within the cycle and a length of at most a cycle; the end is counted from the beginning of
    /// that cycle. It divides nothing, which is most of what the search would do otherwise.
    fn blocked_within(&self, at: i64, len: i64) -> Option<i64> {
        debug_assert!((0..self.cycle).contains(&at) && len <= self.cycle, "it begins within the cycle and fits in it");
        let end = at + len;
        self.last_overlap((0, end - self.cycle))
            .map(|end| self.cycle + end)
            .or_else(|| self.last_overlap((at, end.min(self.cycle))))
    }

    /// The longest of what blocks `len` at `count` instants, the first at `from` and each a `period` after the last one;
    /// 0 if it is free at all of them, [`NEVER`] if it is longer than a cycle of which something is reserved. Whoever
    /// wants all of them free may begin so much later: at no time before that is the one that is blocked longest free.
    pub(crate) fn longest_block(&self, from: i64, len: i64, period: i64, count: i64) -> i64 {
        if self.taken.is_empty() {
            return 0;
        }
        if len > self.cycle {
            return NEVER;
        }
        let (mut at, step, mut longest) = (from.rem_euclid(self.cycle), period % self.cycle, 0);
        for _ in 0..count {
            longest = self.blocked_within(at, len).map_or(longest, |end| longest.max(end - at));
            at += step;
            if at >= self.cycle {
                at -= self.cycle;
            }
        }
        longest
    }

    /// The earliest start from `from` on at which `len` is free, ending no later than `limit`.
    pub fn earliest_gap(&self, from: i64, len: i64, limit: i64) -> Option<i64> {
        let mut start = from;
        while start + len <= limit {
            match self.blocked_until(start, len) {
                Some(end) => start = end,
                None => return Some(start),
            }
        }
        None
    }

    /// Start and end, `0 <= start < end <= cycle`, by start, never touching.
    pub fn spans(&self) -> &[(i64, i64)] {
        &self.taken
    }

    /// After this it repeats `[ps]`.
    pub fn cycle(&self) -> i64 {
        self.cycle
    }

    /// How long after `at` the next span ends, at least 1 and at most a cycle; nothing if no span is reserved.
    pub fn next_end(&self, at: i64) -> Option<i64> {
        self.next(at, |span| span.1)
    }

    /// How long after `at` the next span starts, at least 1 and at most a cycle; nothing if no span is reserved.
    pub fn next_start(&self, at: i64) -> Option<i64> {
        self.next(at, |span| span.0)
    }

    fn next(&self, at: i64, of: impl Fn(&(i64, i64)) -> i64) -> Option<i64> {
        let at = at.rem_euclid(self.cycle);
        let next = self.taken.partition_point(|span| of(span) <= at);
        match self.taken.get(next) {
            Some(span) => Some(of(span) - at),
            None => self.taken.first().map(|span| of(span) + self.cycle - at),
        }
    }

    fn last_overlap(&self, (start, end): (i64, i64)) -> Option<i64> {
        if start >= end {
            return None;
        }
        let before = self.taken.partition_point(|span| span.0 < end);
        let span = self.taken[..before].last()?;
        (span.1 > start).then_some(span.1)
    }

    /// The span on the circle: up to the end of the cycle, and what is left from its beginning.
    fn split(&self, from: i64, len: i64) -> [(i64, i64); 2] {
        debug_assert!(len <= self.cycle, "nothing is reserved for longer than a cycle");
        let start = from.rem_euclid(self.cycle);
        let end = start + len;
        [(start, end.min(self.cycle)), (0, end - self.cycle)]
    }

    /// The span `[from, from + len)` on the circle, in one piece or two.
    pub(crate) fn pieces(&self, from: i64, len: i64) -> impl Iterator<Item = (i64, i64)> + use<> {
        self.split(from, len).into_iter().filter(|(start, end)| start < end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_span_over_the_end_of_the_cycle_takes_both_ends() {
        let mut line = Timeline::new(100);
        line.reserve(-10, 20);
        assert_eq!(line.taken, [(0, 10), (90, 100)]);
        assert_eq!(line.blocked_until(5, 1), Some(10));
        assert_eq!(line.blocked_until(85, 10), Some(100));
        assert_eq!(line.blocked_until(185, 20), Some(210));
        assert_eq!(line.earliest_gap(85, 10, 1000), Some(110));
        assert_eq!(line.earliest_gap(85, 81, 1000), None);
        line.release(-10, 20);
        assert!(line.taken.is_empty());
    }

    #[test]
    fn a_span_that_fills_a_gap_makes_one_span_of_three() {
        let mut line = Timeline::new(100);
        line.reserve(10, 10);
        line.reserve(30, 10);
        line.reserve(50, 10);
        line.reserve(40, 10);
        assert_eq!(line.taken, [(10, 20), (30, 60)]);
        line.reserve(20, 10);
        assert_eq!(line.taken, [(10, 60)]);
        line.release(30, 10);
        assert_eq!(line.taken, [(10, 30), (40, 60)]);
    }

    #[test]
    fn what_is_longer_than_a_cycle_fits_only_where_nothing_is_reserved() {
        let mut line = Timeline::new(100);
        assert_eq!(line.blocked_until(5, 150), None);
        line.reserve(20, 1);
        assert_eq!(line.blocked_until(5, 150), Some(NEVER));
        assert_eq!(line.earliest_gap(5, 150, 10_000), None);
    }

    #[test]
    fn an_unfolded_line_has_each_span_in_each_part() {
        let mut line = Timeline::new(100);
        line.reserve(-10, 20);
        line.reserve(40, 5);
        line.unfold(2);
        assert_eq!((line.cycle(), line.spans()), (200, &[(0, 10), (40, 45), (90, 110), (140, 145), (190, 200)][..]));
    }

    #[test]
    fn a_gap_may_end_at_its_limit_and_no_later() {
        let mut line = Timeline::new(100);
        line.reserve(20, 30);
        for (from, len, limit, found) in [
            (0, 20, 20, Some(0)),
            (0, 20, 19, None),
            (1, 20, 70, Some(50)),
            (1, 20, 69, None),
            (50, 70, 120, Some(50)),
            (50, 71, 1000, None),
        ] {
            assert_eq!(line.earliest_gap(from, len, limit), found, "{len} from {from} to {limit}");
        }
    }

    proptest! {
        /// Against every start, one after the other.
        #[test]
        fn the_earliest_gap_is_the_first_of_all_free_starts(
            spans in prop::collection::vec((-50i64..150, 1i64..20), 0..8),
            (from, len, room) in (0i64..200, 1i64..60, 0i64..250),
        ) {
            let mut line = Timeline::new(100);
            for (start, length) in spans {
                if line.blocked_until(start, length).is_none() {
                    line.reserve(start, length);
                }
            }
            let limit = from + room;
            let plain = (from..=limit - len).find(|start| line.blocked_until(*start, len).is_none());
            prop_assert_eq!(line.earliest_gap(from, len, limit), plain);
        }

        /// Against each instant for itself.
        #[test]
        fn the_longest_block_of_several_instants_is_the_most_of_what_blocks_one(
            spans in prop::collection::vec((-50i64..150, 1i64..20), 0..8),
            (from, len, period, count) in (-200i64..200, 1i64..130, 1i64..300, 1i64..9),
        ) {
            let mut line = Timeline::new(100);
            for (start, length) in spans {
                if line.blocked_until(start, length).is_none() {
                    line.reserve(start, length);
                }
            }
            let each = (0..count).map(|k| from + k * period);
            let block = |at: i64| line.blocked_until(at, len).map_or(0, |end| if end == NEVER { end } else { end - at });
            prop_assert_eq!(line.longest_block(from, len, period, count), each.map(block).max().unwrap());
        }

        /// Against one flag for each picosecond.
        #[test]
        fn agrees_with_a_plain_array(wanted in prop::collection::vec((-50i64..150, 0i64..30, any::<bool>()), 0..40)) {
            let mut line = Timeline::new(100);
            let mut plain = [false; 100];
            let mut reserved = Vec::new();
            for (from, len, give_back) in wanted {
                let free = (from..from + len).all(|t| !plain[t.rem_euclid(100) as usize]);
                prop_assert_eq!(line.blocked_until(from, len).is_none(), free);
                if let Some(end) = line.blocked_until(from, len) {
                    prop_assert!(end > from);
                    for start in from..end {
                        prop_assert!((start..start + len).any(|t| plain[t.rem_euclid(100) as usize]));
                    }
                } else {
                    line.reserve(from, len);
                    (from..from + len).for_each(|t| plain[t.rem_euclid(100) as usize] = true);
                    reserved.push((from, len));
                }
                if give_back && let Some((from, len)) = reserved.pop() {
                    line.release(from, len);
                    (from..from + len).for_each(|t| plain[t.rem_euclid(100) as usize] = false);
                }
                prop_assert!(line.taken.windows(2).all(|pair| pair[0].1 < pair[1].0));
            }
        }
    }
}
