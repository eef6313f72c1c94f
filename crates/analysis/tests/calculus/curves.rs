//! Operations on curves against their definitions, point by point.

use chronoseal_analysis::calculus::{
    ArrivalCurve, Bucket, RateLatency, Rational, ServiceCurve, operations, ratio, whole,
};
use proptest::prelude::*;

fn arrival() -> impl Strategy<Value = ArrivalCurve> {
    prop::collection::vec((0..8_i64, 0..30_i64), 1..4).prop_map(|pieces| {
        let bucket = |(rate, burst): (i64, i64)| Bucket { rate: whole(rate), burst: whole(burst) };
        ArrivalCurve::least_of(pieces.into_iter().map(bucket)).unwrap()
    })
}

fn service() -> impl Strategy<Value = ServiceCurve> {
    prop::collection::vec((1..10_i64, 0..12_i64), 1..4).prop_map(|pieces| {
        let piece = |(rate, latency): (i64, i64)| RateLatency { rate: whole(rate), latency: whole(latency) };
        ServiceCurve::most_of(pieces.into_iter().map(piece)).unwrap()
    })
}

/// Instants at which to look: every quarter up to far behind the last corner of any curve here.
fn instants() -> impl Iterator<Item = Rational> + Clone {
    (0..240_i64).map(|quarters| ratio(quarters, 4))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn pieces_are_all_of_a_curve(a in arrival(), b in service()) {
        for t in instants() {
            let least = a.pieces().iter().map(|piece| &piece.burst + &piece.rate * &t).min();
            prop_assert_eq!(Some(a.at(&t)), least);
            let most = b.pieces().iter().map(|piece| &piece.rate * (&t - &piece.latency)).max().unwrap();
            prop_assert_eq!(b.at(&t), most.max(whole(0)));
        }
        prop_assert!(a.corners().collect::<Vec<_>>().is_sorted());
        prop_assert!(b.corners().collect::<Vec<_>>().is_sorted());
        prop_assert_eq!(&ArrivalCurve::least_of(a.pieces().to_vec()).unwrap(), &a);
    }

    #[test]
    fn sums_and_least_are_taken_point_by_point(a in arrival(), b in arrival()) {
        let (sum, least) = (a.plus(&b), a.least(&b));
        for t in instants() {
            prop_assert_eq!(sum.at(&t), a.at(&t) + b.at(&t));
            prop_assert_eq!(least.at(&t), a.at(&t).min(b.at(&t)));
            prop_assert_eq!(a.delayed(&ratio(7, 4)).at(&t), a.at(&(t + ratio(7, 4))));
        }
    }

    #[test]
    fn one_server_after_the_other_is_the_least_of_all_divisions(a in service(), b in service()) {
        let both = a.then(&b);
        // Corners are where all extremes lie, and every corner of whole numbers here is a fraction of up to 9.
        let grid = |t: i64| ratio(t, 2520);
        for t in (0..40).map(|t| t * 1260) {
            let exact = both.at(&grid(t));
            let divided = (0..=t / 1260).map(|s| a.at(&grid(s * 1260)) + b.at(&grid(t - s * 1260))).min().unwrap();
            prop_assert!(exact <= divided);
            // At a corner of either: there the least is reached.
            let corners = a.corners().chain([a.latency().clone()]).chain(
                b.corners().chain([b.latency().clone()]).map(|corner| grid(t) - corner));
            let ends = corners.chain([whole(0), grid(t)]).filter(|s| *s >= whole(0) && *s <= grid(t));
            let least = ends.map(|s| a.at(&s) + b.at(&(grid(t) - &s))).min().unwrap();
            prop_assert_eq!(exact, least);
        }
        prop_assert_eq!(both, b.then(&a));
    }

    #[test]
    fn delay_and_backlog_are_the_greatest_distances(a in arrival(), b in service()) {
        let (delay, backlog) = (operations::delay(&a, &b), operations::backlog(&a, &b));
        prop_assert_eq!(delay.is_none(), a.rate() > b.rate());
        prop_assert_eq!(backlog.is_none(), a.rate() > b.rate());
        let (Some(delay), Some(backlog)) = (delay, backlog) else { return Ok(()) };
        for t in instants() {
            prop_assert!(a.at(&t) <= b.at(&(&t + &delay)));
            prop_assert!(a.at(&t) - b.at(&t) <= backlog);
        }
        // Neither could be less: right behind some corner it is reached.
        let epsilon = ratio(1, 1_000_000);
        let times = a.corners().chain([whole(0)]).chain(b.corners().filter_map(|corner| a.reaches(&b.at(&corner))));
        let times: Vec<Rational> = times.flat_map(|t| [t.clone(), t + &epsilon]).collect();
        if !a.is_zero() && delay > epsilon {
            let less = &delay - &epsilon * whole(20);
            prop_assert!(times.iter().any(|t| a.at(t) > b.at(&(t + &less))), "{delay}");
        }
        let looked = instants().chain(times).chain(b.corners()).chain(a.corners());
        prop_assert!(looked.map(|t| a.at(&t) - b.at(&t)).max().unwrap() == backlog);
    }

    #[test]
    fn output_is_the_most_that_arrivals_are_ahead(a in arrival(), b in service()) {
        let Some(out) = operations::output(&a, &b) else {
            prop_assert!(a.rate() > b.rate());
            return Ok(());
        };
        let corners: Vec<Rational> = b.corners().chain([b.latency().clone(), whole(0)]).collect();
        for t in instants().step_by(9) {
            let ahead = |s: &Rational| a.at(&(&t + s)) - b.at(s);
            prop_assert!(instants().step_by(9).all(|s| ahead(&s) <= out.at(&t)));
            let behind = a.corners().map(|corner| corner - &t).filter(|s| *s >= whole(0));
            let most = corners.iter().cloned().chain(behind).map(|s| ahead(&s)).max().unwrap();
            prop_assert_eq!(out.at(&t), most);
        }
    }

    #[test]
    fn what_is_left_over_is_never_more_than_what_was_there(a in arrival(), b in service()) {
        if let Some(left) = operations::left_over_arbitrary(&b, &a) {
            for t in instants() {
                // Once it starts, exactly the difference; before, nothing.
                let difference = (b.at(&t) - a.at(&t)).max(whole(0));
                prop_assert_eq!(left.at(&t), difference);
            }
            prop_assert_eq!(operations::busy_period(&a, &b).unwrap(), if a.is_zero() { whole(0) } else { left.latency().clone() });
        } else {
            prop_assert!(a.rate() >= b.rate());
        }
        for bucket in a.pieces() {
            let Some(left) = operations::left_over_fifo(&b, bucket) else {
                prop_assert!(bucket.rate >= *b.rate());
                continue;
            };
            let after = b.carries(&bucket.burst).unwrap();
            for t in instants() {
                let rest = b.at(&t) - &bucket.burst - &bucket.rate * (&t - &after);
                prop_assert_eq!(left.at(&t), if t > after { rest.max(whole(0)) } else { whole(0) });
            }
        }
    }
}
