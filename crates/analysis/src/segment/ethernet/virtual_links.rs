//! Virtual links on their way: what the regulator of the sender does to them, and whether policing can take a frame.
//!
//! # The regulator
//! Frames that are due at least a bandwidth allocation gap apart, each ready between `min` and `max` later, leave the regulator
//! within these times too: the one before left by its own latest instant, and a gap behind that is not later than the latest
//! instant of this one. So the regulator adds nothing to the bound. It takes from the jitter: frames are released a gap apart,
//! whatever brought them, and only what their sender's processor takes to make them comes on top.
//!
//! # Policing
//! An account of `Lmax (1 + J / BAG)` pays for every frame of a virtual link whose frames are due a gap apart and come to the
//! switch with a jitter of at most `J`. The gap counts as policing has it, shortened by what it tolerates of clocks. Both what the
//! frames are due by and what they leave the regulator by is that far apart, so the jitter counts from either of them.

use chronoseal_core::Duration;
use chronoseal_scenario::plan::{Ethernet, EthernetStream, VirtualLink};

use super::super::demand::true_period;
use super::super::losses::{Cause, Risk};
use super::super::{Arrival, Span, Why};

/// When a frame is handed to its sender's driver; the same as `arrival` for best effort.
pub(super) fn released(view: Ethernet<'_>, stream: &EthernetStream<'_>, arrival: Arrival) -> Result<Span, Why> {
    let at = arrival.at?;
    let Some(link) = stream.class.virtual_link() else { return Ok(at) };
    // Where a stream begins its period and the gap are of one clock.
    let is_behind = !arrival.begins && arrival.distance < longest_gap(view, stream, link);
    if is_behind { Err(Why::GapAboveDistance) } else { Ok(at) }
}

/// The gap by true time if the sender's clock is slow.
fn longest_gap(view: Ethernet<'_>, stream: &EthernetStream<'_>, link: &VirtualLink) -> Duration {
    let drift = view.plan.nodes[stream.hop.from.index()].clock.drift_max;
    // As much longer as it is shorter by a clock that is fast, and twice what is rounded.
    link.bag + (link.bag - true_period(link.bag, drift)) + Duration::from_ps(2) * i64::from(drift.0 > 0)
}

/// The gap by true time if the sender's clock is fast.
pub(super) fn shortest_gap(view: Ethernet<'_>, stream: &EthernetStream<'_>, link: &VirtualLink) -> Duration {
    link.bag_min(view.plan.nodes[stream.hop.from.index()].clock.drift_max)
}

/// Whether a switch that a virtual link enters can take one of its frames for one too many. `busy` is how long its sender's
/// processor can take to make one, and `entered` when it is at the switch.
pub(super) fn policed(
    view: Ethernet<'_>,
    stream: &EthernetStream<'_>,
    (arrival, busy): (Arrival, Result<Duration, Why>),
    entered: Result<Span, Why>,
) -> Option<Risk> {
    let link = stream.class.virtual_link()?;
    let charged = link.bag_min(view.segment.virtual_links.clock_tolerance);
    let needed = entered.ok().zip(arrival.at.ok()).and_then(|(entered, ready)| {
        let whole = beyond(entered.jitter(), arrival.distance, charged);
        let behind_regulator = entered.jitter() - ready.jitter() + busy.ok()?;
        let regulated = beyond(behind_regulator, shortest_gap(view, stream, link), charged);
        whole.into_iter().chain(regulated).min()
    });
    let cause = Cause::Policed { needed, allowed: link.jitter };
    let is_enough = needed.is_some_and(|needed| needed <= link.jitter);
    (!is_enough).then_some(Risk { segment: view.id, stream: Some(stream.id), cause })
}

/// The jitter that policing has to allow if frames come `distance` apart with this one; `None` if none is enough for ever.
fn beyond(jitter: Duration, distance: Duration, charged: Duration) -> Option<Duration> {
    (distance >= charged).then(|| (jitter - (distance - charged)).max(Duration::ZERO))
}
