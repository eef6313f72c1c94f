//! Streams whose frames are sent several times, over ways of their own: when the first copy comes at the latest, and how far copies
//! are apart.
//!
//! Any of the ways may fail, so a frame is known to be there only when its slowest copy is; it can be there as early as its
//! fastest. Copies start at one instant, so that how far apart they come is told by what their ways take alone.

use chronoseal_core::{Duration, NodeId, StreamId};
use chronoseal_plan::{Copies, Ethernet, EthernetStream, RecoveryAlgorithm, Replication};

use super::super::losses::{Cause, Risk, SkewRemedy};
use super::super::{Arrivals, HopBound, Span, Why};
use super::{slots, virtual_links};

/// By stream and receiver: what each copy of a frame takes, counted from an instant that is the same for all of them; `None` for one
/// that nothing bounds.
pub(super) type Transits<'a> = &'a dyn Fn(StreamId, NodeId) -> Vec<Option<Span>>;

/// When frames are at their receivers, whichever of their copies is lost: one bound for each receiver of a stream.
pub(super) fn joined(mut bounds: Vec<HopBound>) -> Vec<HopBound> {
    bounds.sort_by_key(|bound| bound.stream);
    let mut found: Vec<HopBound> = Vec::with_capacity(bounds.len());
    for bound in bounds {
        // The ways of one stream follow one another.
        let of_stream = found.iter_mut().rev().take_while(|other| other.stream == bound.stream);
        match of_stream.into_iter().find(|other| other.receiver == bound.receiver) {
            Some(known) => known.received = either(known.received, bound.received),
            None => found.push(bound),
        }
    }
    found
}

fn either(one: Result<Span, Why>, other: Result<Span, Why>) -> Result<Span, Why> {
    Ok(slots::either(one?, other?))
}

/// Copies that can come so late that their receiver takes them for new frames.
pub(super) fn too_late(view: Ethernet<'_>, arrivals: &Arrivals, transits: Transits<'_>) -> Vec<Risk> {
    let mut found = Vec::new();
    for stream in view.streams() {
        let Some((limit, remedy)) = limit(view, &stream, arrivals) else { continue };
        let receivers = stream.hop.to.iter().map(|node| (skew(view, transits(stream.id, *node), *node), *node));
        let worst = receivers.chain(skews_in_switches(view, transits, &stream));
        // Without a bound there is the most to fear.
        let worst = worst.max_by_key(|(skew, _)| skew.map_or(Duration::from_ps(i64::MAX), |skew| skew));
        let Some((skew, node)) = worst.filter(|(skew, _)| skew.is_none_or(|skew| skew > limit)) else { continue };
        found.push(Risk {
            segment: view.id,
            stream: Some(stream.id),
            cause: Cause::Skew { node, skew, limit, remedy },
        });
    }
    found
}

/// The same for switches that eliminate copies, which are no further apart there than the slowest of them takes to a receiver.
fn skews_in_switches(
    view: Ethernet<'_>,
    transits: Transits<'_>,
    stream: &EthernetStream<'_>,
) -> Vec<(Option<Duration>, NodeId)> {
    let Copies::Ways { recovering, .. } = stream.copies else { return Vec::new() };
    let ways = stream.hop.to.iter().flat_map(|node| transits(stream.id, *node));
    let slowest = ways.collect::<Option<Vec<Span>>>().and_then(|ways| ways.into_iter().map(|way| way.max).max());
    recovering.iter().map(|switch| (slowest, view.plan.own_node(view.id, usize::from(*switch)))).collect()
}

/// How far apart copies may come, and what to write if they come further; `None` for a stream without copies.
///
/// Match recovery compares with the last frame only, so that the next one must not come between two copies. Over two networks one
/// that comes in between takes the place of a copy which is still to come, so none may where single frames are lost, nor in slots.
/// The next frame is that of the same message, if a message has several, or of another that shares the virtual link: a gap of the virtual link later by its regulator, or sooner
/// by what comes on top of that.
fn limit(view: Ethernet<'_>, stream: &EthernetStream<'_>, arrivals: &Arrivals) -> Option<(Duration, SkewRemedy)> {
    let before_next = |most: Duration| {
        let arrival = arrivals.at(stream.id, stream.hop.segment);
        let (distance, jitter) = match virtual_links::gap_of_frames(view, stream) {
            None => (arrival.distance, arrival.at.map_or(arrival.distance, Span::jitter)),
            Some(gap) => {
                let driver = view.plan.nodes[stream.hop.from.index()].driver;
                let parts =
                    arrival.at.map(Span::jitter).and_then(|jitter| Ok(jitter + arrivals.busy(stream.hop.from)?));
                (gap, parts.map_or(gap, |parts| parts + (driver.max - driver.min)))
            }
        };
        ((distance - jitter).min(most) - Duration::from_ps(1)).max(Duration::ZERO)
    };
    match stream.copies.replication()? {
        Replication::Networks { skew_max } if stream.class.is_time_triggered() => {
            Some((skew_max.min(stream.stream.period - Duration::from_ps(1)), SkewRemedy::SkewMax))
        }
        Replication::Networks { skew_max } if !view.segment.frame_losses.is_empty() => {
            Some((before_next(skew_max), SkewRemedy::SkewMax))
        }
        Replication::Networks { skew_max } => Some((skew_max, SkewRemedy::SkewMax)),
        Replication::Tagged(recovery) => Some(match recovery.algorithm {
            RecoveryAlgorithm::Vector { .. } => (recovery.reset - Duration::from_ps(1), SkewRemedy::ResetTimeout),
            RecoveryAlgorithm::Match => (before_next(recovery.reset), SkewRemedy::Vector),
        }),
    }
}

/// How far apart the copies of a frame that take so long can come to a receiver, by its clock; `None` if nothing bounds it.
fn skew(view: Ethernet<'_>, ways: Vec<Option<Span>>, node: NodeId) -> Option<Duration> {
    let ways: Vec<Span> = ways.into_iter().collect::<Option<_>>()?;
    let others =
        |place: usize| ways.iter().enumerate().filter(move |(other, _)| *other != place).map(|(_, way)| way.min);
    let apart = ways.iter().enumerate().flat_map(|(place, way)| others(place).map(|min| way.max - min)).max()?;
    let drift = i128::from(view.plan.nodes[node.index()].clock.drift_max.0.abs());
    // Instants by a clock are rounded to picoseconds.
    let by_clock = i128::from(apart.as_ps()) * drift / 1_000_000_000 + 2 * i128::from(drift > 0);
    Some(apart + Duration::from_ps(i64::try_from(by_clock).ok()?))
}
