//! The highest rate of a stream that is carried, found by trials: the throughput of RFC 2544, section 26.1.

/// What came of one trial.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Carried {
    /// All that was asked for.
    Yes,
    /// Something was lost, or queues grew until the trial was over.
    No,
    /// The sender did not offer the rate, so the trial says nothing of the network.
    NotOffered,
    /// Something was lost and the host was stalled, so the trial says nothing of the network.
    Stalled,
}

/// Between which rates the highest one is `[messages/s]`.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Bracket {
    /// The highest rate that was carried.
    pub carried: Option<f64>,
    /// The lowest rate above it that was not, and why.
    pub above: Option<(f64, Carried)>,
}

/// Halves the range in which the rate is, by ratio, until its ends are no further apart than the share `within`, which is above zero.
/// `trial` says what came of a rate, or `None` to end early.
///
/// # Errors
/// Those of `trial`.
pub fn saturate<E>(
    [low, high]: [f64; 2],
    within: f64,
    mut trial: impl FnMut(f64) -> Result<Option<Carried>, E>,
) -> Result<Bracket, E> {
    let mut bracket = Bracket::default();
    let mut next = high;
    loop {
        let Some(came) = trial(next)? else { return Ok(bracket) };
        match came {
            Carried::Yes => bracket.carried = Some(next),
            Carried::No | Carried::NotOffered | Carried::Stalled => bracket.above = Some((next, came)),
        }
        next = match (bracket.carried, bracket.above) {
            (Some(carried), Some((above, _))) if above / carried > 1.0 + within => (carried * above).sqrt(),
            // Not even the lowest rate.
            (None, Some((above, _))) if above > low => low,
            _ => return Ok(bracket),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(range: [f64; 2], limit: f64) -> (Bracket, usize) {
        let mut trials = 0;
        let trial = |rate: f64| {
            trials += 1;
            Ok::<_, ()>(Some(if rate <= limit { Carried::Yes } else { Carried::No }))
        };
        (saturate(range, 0.01, trial).expect("no trial fails"), trials)
    }

    #[test]
    fn the_limit_is_in_the_bracket_whatever_it_is() {
        for limit in [100.0, 101.0, 999.0, 16_254.0, 79_999.0] {
            let (bracket, trials) = found([100.0, 80_000.0], limit);
            let (carried, (above, why)) = (bracket.carried.expect("found"), bracket.above.expect("found"));
            assert!(carried <= limit && limit < above && above / carried <= 1.01, "{limit}: {bracket:?}");
            assert_eq!(why, Carried::No);
            assert!(trials <= 13, "{trials} trials for {limit}");
        }
    }

    #[test]
    fn a_limit_outside_the_range_is_said_to_be_there() {
        assert_eq!(found([100.0, 1000.0], 5000.0), (Bracket { carried: Some(1000.0), above: None }, 1));
        let below = Bracket { carried: None, above: Some((100.0, Carried::No)) };
        assert_eq!(found([100.0, 1000.0], 50.0), (below, 2));
    }

    #[test]
    fn a_sender_at_its_limit_is_no_limit_of_the_network() {
        let trial = |rate: f64| Ok::<_, ()>(Some(if rate < 400.0 { Carried::Yes } else { Carried::NotOffered }));
        let bracket = saturate([100.0, 1000.0], 0.02, trial).expect("no trial fails");
        assert_eq!(bracket.above.expect("found").1, Carried::NotOffered);
    }

    #[test]
    fn who_stops_gets_what_is_known() {
        let mut left = 3;
        let trial = |rate: f64| {
            left -= 1;
            Ok::<_, ()>((left > 0).then_some(if rate < 300.0 { Carried::Yes } else { Carried::No }))
        };
        let bracket = saturate([100.0, 1000.0], 0.01, trial).expect("no trial fails");
        assert_eq!(bracket, Bracket { carried: Some(100.0), above: Some((1000.0, Carried::No)) });
    }
}
