//! Slices that overlap, laid beside each other.
//!
//! A viewer closes the slice that was opened last: on one line slices lie side by side or in each other. Two frames in a queue
//! do neither, so each gets a line of its own; lines with the same name and parent are shown as one track.

use super::Slice;

/// One line: its slices in the order in which they are opened, outer ones first.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Lane<'a> {
    pub(super) slices: Vec<&'a Slice>,
    /// The right ends of those that are open at the last one's left end, the innermost last.
    open: Vec<i64>,
}

impl<'a> Lane<'a> {
    /// Adds the slice if it lies beside or, where that may be, in those that are here.
    fn take(&mut self, slice: &'a Slice) -> bool {
        while self.open.last().is_some_and(|end| *end <= slice.from) {
            self.open.pop();
        }
        let fits = self.open.last().is_none_or(|end| slice.category.nests() && slice.to <= *end);
        if fits {
            self.open.push(slice.to);
            self.slices.push(slice);
        }
        fits
    }

    /// Opens and closes its slices in time: `true` and the slice, or `false` and when the innermost one ends.
    pub(super) fn walk(&self, mut step: impl FnMut(Step<'a>)) {
        let mut open: Vec<i64> = Vec::new();
        for slice in &self.slices {
            while let Some(end) = open.pop_if(|end| *end <= slice.from) {
                step(Step::Close(end));
            }
            step(Step::Open(slice));
            open.push(slice.to);
        }
        while let Some(end) = open.pop() {
            step(Step::Close(end));
        }
    }
}

/// What happens on a line next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step<'a> {
    /// A slice begins.
    Open(&'a Slice),
    /// The innermost slice ends, at a time.
    Close(i64),
}

/// The slices of one track on as few lines as it takes.
pub(super) fn lay_out<'a>(slices: impl Iterator<Item = &'a Slice>) -> Vec<Lane<'a>> {
    let mut slices: Vec<&Slice> = slices.collect();
    // Of those that begin together the longest is the outer one. The sort is stable: what was added first is first.
    slices.sort_by_key(|slice| (slice.from, std::cmp::Reverse(slice.to)));
    let mut lanes: Vec<Lane<'a>> = Vec::new();
    for slice in slices {
        if !lanes.iter_mut().any(|lane| lane.take(slice)) {
            let mut lane = Lane::default();
            lane.take(slice);
            lanes.push(lane);
        }
    }
    lanes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Category, NameId};
    use super::*;

    fn slice((from, len, nests): (i64, i64, bool)) -> Slice {
        let category = if nests { Category::Transmission } else { Category::Queue };
        Slice::new(0, from, from + len, NameId(0), category)
    }

    proptest! {
        /// Whatever overlaps: every slice is drawn once, and a reader that closes what was opened last finds its ends.
        #[test]
        fn a_reader_with_a_stack_finds_every_slice_as_it_was(
            slices in proptest::collection::vec((0i64..40, 0i64..12, any::<bool>()), 0..60),
        ) {
            let slices: Vec<Slice> = slices.into_iter().map(slice).collect();
            let mut found = Vec::new();
            for lane in lay_out(slices.iter()) {
                let (mut open, mut now) = (Vec::new(), i64::MIN);
                lane.walk(|step| match step {
                    Step::Open(slice) => {
                        assert!(slice.from >= now);
                        assert!(open.is_empty() || slice.category == Category::Transmission);
                        now = slice.from;
                        open.push(slice);
                    }
                    Step::Close(at) => {
                        assert!(at >= now);
                        now = at;
                        let closed = open.pop().expect("something is open");
                        assert_eq!(closed.to, at);
                        found.push(closed.clone());
                    }
                });
                prop_assert!(open.is_empty());
            }
            let key = |slice: &Slice| (slice.from, slice.to, slice.category);
            found.sort_by_key(key);
            let mut expected = slices;
            expected.sort_by_key(key);
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn slices_side_by_side_share_a_line_and_an_instant_is_no_overlap() {
        let slices = [(0, 10, false), (10, 0, false), (10, 5, false), (15, 5, false)].map(slice);
        assert_eq!(lay_out(slices.iter()).len(), 2, "one of no length begins where another does");
        let slices = [(0, 10, false), (10, 5, false), (15, 5, false)].map(slice);
        assert_eq!(lay_out(slices.iter()).len(), 1);
        let slices = [(0, 10, false), (9, 5, false)].map(slice);
        assert_eq!(lay_out(slices.iter()).len(), 2);
    }
}
