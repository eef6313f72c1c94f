//! What an arrival curve and a service curve say together: delay, backlog, output, and what is left over for others.
//!
//! Le Boudec, Thiran, "Network Calculus" (LNCS 2050, 2001) for the deviations, the output and FIFO; Bouillard, Boyer, Le
//! Corronc, "Deterministic Network Calculus" (2018) for arbitrary multiplexing. All results are exact: extremes of
//! piecewise linear curves lie at their corners.

use super::arrival::{ArrivalCurve, Bucket};
use super::rational::Rational;
use super::service::{RateLatency, ServiceCurve};

/// How long data waits at most if it is served in the order in which it comes: the horizontal deviation. `None` if nothing
/// bounds it.
pub fn delay(arrival: &ArrivalCurve, service: &ServiceCurve) -> Option<Rational> {
    if arrival.is_zero() {
        return Some(Rational::zero());
    }
    if arrival.rate() > service.rate() {
        return None;
    }
    let mut most = service.carries(arrival.burst())?;
    for time in arrival.corners() {
        most = most.max(service.carries(&arrival.at(&time))? - time);
    }
    for time in service.corners() {
        let carried = service.at(&time);
        if carried > *arrival.burst()
            && let Some(came) = arrival.reaches(&carried)
        {
            most = most.max(time - came);
        }
    }
    Some(most)
}

/// How much data waits at most: the vertical deviation. `None` if nothing bounds it.
pub fn backlog(arrival: &ArrivalCurve, service: &ServiceCurve) -> Option<Rational> {
    most_behind(arrival, service).map(|(_, backlog)| backlog)
}

/// How long a server can be busy without a pause, and so how long anything waits in whatever order it serves. `None` if
/// nothing bounds it. The service curve has to be strict: it holds for every interval in which something waits.
pub fn busy_period(arrival: &ArrivalCurve, service: &ServiceCurve) -> Option<Rational> {
    if arrival.is_zero() {
        return Some(Rational::zero());
    }
    left_over_arbitrary(service, arrival).map(|left| left.latency().clone())
}

/// What leaves a server: the (min,+) deconvolution. `None` if nothing bounds it.
pub fn output(arrival: &ArrivalCurve, service: &ServiceCurve) -> Option<ArrivalCurve> {
    let (behind, burst) = most_behind(arrival, service)?;
    if let [bucket] = arrival.pieces() {
        return Some(ArrivalCurve::envelope(vec![Bucket { rate: bucket.rate.clone(), burst }]));
    }
    // The longer the interval, the shorter the time it may lag behind: what came after that point, and what was served
    // before it, the steepest first.
    let mut segments: Vec<(Rational, Option<Rational>)> = Vec::new();
    let mut time = Rational::zero();
    for (slope, length) in service.segments() {
        let rest = &behind - &time;
        if !rest.is_positive() {
            break;
        }
        let length = length.map_or_else(|| rest.clone(), |length| length.min(rest.clone()));
        time += &length;
        segments.push((slope, Some(length)));
    }
    let mut from = Rational::zero();
    let mut ends = arrival.corners();
    for piece in arrival.pieces() {
        let end = ends.next();
        if end.as_ref().is_none_or(|end| *end > behind) {
            let length = end.as_ref().map(|end| end - (&from).max(&behind));
            segments.push((piece.rate.clone(), length));
        }
        from = end.unwrap_or_else(Rational::zero);
    }
    segments.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.is_some().cmp(&b.1.is_some())));
    Some(ArrivalCurve::from_segments(burst, &segments))
}

/// What a server leaves to others if it may serve this flow first: for arbitrary multiplexing, of a strict service
/// curve. `None` if that is nothing.
pub fn left_over_arbitrary(service: &ServiceCurve, first: &ArrivalCurve) -> Option<ServiceCurve> {
    let mut lines = Vec::new();
    for piece in service.pieces() {
        lines.extend(first.pieces().iter().filter_map(|bucket| {
            let taken = &bucket.burst + &piece.rate * &piece.latency;
            line(&piece.rate - &bucket.rate, taken)
        }));
    }
    (!lines.is_empty()).then(|| ServiceCurve::envelope(lines))
}

/// What a server leaves to a flow beside others that keep to a bucket, if it serves in the order of arrival. `None` if that
/// is nothing.
///
/// Any time after which the others count as served gives a service curve; here it is the time in which their burst is
/// carried, so the curve starts from zero.
pub fn left_over_fifo(service: &ServiceCurve, others: &Bucket) -> Option<ServiceCurve> {
    let after = service.carries(&others.burst)?;
    let lines = service.pieces().iter().filter_map(|piece| {
        let taken = &others.burst + &piece.rate * &piece.latency - &others.rate * &after;
        line(&piece.rate - &others.rate, taken)
    });
    let lines: Vec<RateLatency> = lines.collect();
    (!lines.is_empty()).then(|| ServiceCurve::envelope(lines))
}

/// `rate * t - taken`, as a rate with a latency.
fn line(rate: Rational, taken: Rational) -> Option<RateLatency> {
    rate.is_positive().then(|| RateLatency { latency: taken / &rate, rate })
}

/// The earliest time at which service is furthest behind arrivals, and how far.
fn most_behind(arrival: &ArrivalCurve, service: &ServiceCurve) -> Option<(Rational, Rational)> {
    if arrival.rate() > service.rate() {
        return None;
    }
    let mut times: Vec<Rational> = arrival.corners().chain(service.corners()).collect();
    times.push(service.latency().clone());
    times.push(Rational::zero());
    times.sort();
    let mut most: Option<(Rational, Rational)> = None;
    for time in times {
        let behind = arrival.at(&time) - service.at(&time);
        if most.as_ref().is_none_or(|(_, most)| behind > *most) {
            most = Some((time, behind));
        }
    }
    most
}
