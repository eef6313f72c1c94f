//! The smallest part of what does not fit that does not fit either.

/// A part of `kept` that does not fit although it does whenever any one is left out, by a deletion filter: whatever can
/// be left out while the rest still fails is left out, large parts first, at last one by one until none can be. From the
/// back, so that what was placed first, and stands in the way, is what stays.
///
/// `kept` does not fit. `fits` says whether a part does, or nothing if that is more effort than is wanted; then what
/// is left so far is returned with false, since it may not be the smallest part.
///
/// Source of the filter: Chinneck, Dravnieks, "Locating minimal infeasible constraint sets in linear programs",
/// ORSA Journal on Computing 3 (1991) 157-168.
pub fn irreducible<T: Copy>(mut kept: Vec<T>, mut fits: impl FnMut(&[T]) -> Option<bool>) -> (Vec<T>, bool) {
    let mut chunk = kept.len().div_ceil(2);
    loop {
        let before = kept.len();
        let mut end = kept.len();
        while end > 0 {
            let start = end.saturating_sub(chunk);
            let rest: Vec<_> = kept[..start].iter().chain(&kept[end..]).copied().collect();
            if !rest.is_empty() {
                match fits(&rest) {
                    None => return (kept, false),
                    Some(true) => {}
                    Some(false) => kept = rest,
                }
            }
            end = start;
        }
        // A heuristic is not monotone, so one round of single removals may open the way for another.
        if chunk <= 1 && kept.len() == before {
            return (kept, true);
        }
        chunk = chunk.div_ceil(2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_together_is_found_among_what_does() {
        for size in 3..40 {
            let fits = |part: &[usize]| Some(!(part.contains(&1) && part.contains(&(size - 1))));
            assert_eq!(irreducible((0..size).collect(), fits), (vec![1, size - 1], true));
        }
    }

    #[test]
    fn an_answer_that_is_too_much_effort_ends_the_search_and_says_so() {
        let mut asked = 0;
        let kept = irreducible(vec![1, 2, 3, 4], |_| {
            asked += 1;
            (asked < 2).then_some(false)
        });
        assert_eq!(kept, (vec![1, 2], false));
        assert_eq!(irreducible(vec![1, 2, 3], |_| Some(false)), (vec![1], true));
    }
}
