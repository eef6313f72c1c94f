//! Virtual links on their way: what the regulator of the sender does to them, and whether policing can take a frame.
//!
//! # The regulator
//! Frames that are due at least a bandwidth allocation gap apart, each ready between `min` and `max` later, leave the regulator
//! within these times too: the one before left by its own latest instant, and a gap behind that is not later than the latest
//! instant of this one. So the regulator adds nothing to the bound. It takes from the jitter: frames are released a gap apart,
//! whatever brought them, and only what their sender's processor takes to make them comes on top.
//!
//! # Sub-virtual links
//! Several streams that share a virtual link have a queue each, and the regulator lets one frame of them go in each gap `B`, the
//! queues that hold one by turns. A frame that comes to an empty queue goes at the latest at the `n`th release after that, of `n`
//! queues, so within `n B`. If frames of a stream are due `n B` apart or more, this holds for each of them, counted from its latest
//! instant: the one before left by its own, and its next turn is `n B` behind that. What the other queues hold does not matter
//! then. A stream whose frames are nearer to each other waits until all queues are empty at the latest, which is a busy period of
//! the regulator (`demand`). The queues are served by the sender's processor, so that what it is busy with comes on top.
//!
//! A message of `k` frames puts all of them into its queue at once, and each goes at its own turn: the last at the latest at the `k n`th
//! release, and `k n B` takes the place of `n B`.
//!
//! Behind the regulator all of them are one flow with the gap of the virtual link and its longest frame.
//!
//! # Messages of several frames
//! The `n` frames of a message are handed to the regulator together, and it lets one go in each gap. So the last of them goes
//! `n - 1` gaps after the first, which waits for nothing if a message has a gap for each of its frames. When its frames are due is
//! counted from the instant at which the message is, from the first that can go to the last that has to, and behind the regulator
//! they are a gap apart.
//!
//! # Policing
//! An account of `Lmax (1 + J / BAG)` pays for every frame of a virtual link whose frames are due a gap apart and come to the
//! switch with a jitter of at most `J`. The gap counts as policing has it, shortened by what it tolerates of clocks. Both what the
//! frames are due by and what they leave the regulator by is that far apart, so the jitter counts from either of them.

use chronoseal_core::Duration;
use chronoseal_plan::{Ethernet, EthernetStream, VirtualLink};

use super::super::demand::{Load, Periodic, true_period};
use super::super::losses::{Cause, Risk};
use super::super::{Arrival, Arrivals, Span, Why};

/// When a frame is handed to its sender's driver; the same as it arrives for best effort.
pub(super) fn released(view: Ethernet<'_>, stream: &EthernetStream<'_>, arrivals: &Arrivals) -> Result<Span, Why> {
    let arrival = arrivals.at(stream.id, view.id);
    let at = arrival.at?;
    let Some(link) = stream.class.virtual_link() else { return Ok(at) };
    if link.sub_links > 1 {
        let wait = until_its_turn(view, (stream, link), arrivals)?;
        return Ok(at.later(Duration::ZERO, wait + arrivals.busy(stream.hop.from)?));
    }
    let last = i64::from(stream.frames() - 1);
    // Where a stream begins its period and the gap are of one clock.
    let is_behind = match arrival.begins {
        true => stream.stream.period < link.bag * (last + 1),
        false => arrival.distance < longest_gap(view, stream, link) * (last + 1),
    };
    if is_behind {
        Err(Why::GapAboveDistance)
    } else {
        Ok(at.later(Duration::ZERO, longest_gap(view, stream, link) * last))
    }
}

/// The least distance of two frames of a virtual link whose frames are not a message each, or are those of several streams; `None` for
/// any other stream.
pub(super) fn gap_of_frames(view: Ethernet<'_>, stream: &EthernetStream<'_>) -> Option<Duration> {
    let link = stream.class.virtual_link().filter(|link| stream.datagram.is_some() || link.sub_links > 1)?;
    Some(shortest_gap(view, stream, link))
}

/// True if streams of a segment share virtual links.
pub(super) fn are_shared(view: Ethernet<'_>) -> bool {
    view.streams().any(|stream| stream.class.virtual_link().is_some_and(|link| link.sub_links > 1))
}

/// How long a frame waits in the queue of its sub-virtual link at most.
fn until_its_turn(
    view: Ethernet<'_>,
    (stream, link): (&EthernetStream<'_>, &VirtualLink),
    arrivals: &Arrivals,
) -> Result<Duration, Why> {
    let (arrival, count) = (arrivals.at(stream.id, view.id), i64::from(link.sub_links) * i64::from(stream.frames()));
    let (busy, gap) = (arrivals.busy(stream.hop.from)?, longest_gap(view, stream, link));
    // Where a stream begins its period and the gap are of one clock.
    let is_in_time = match arrival.begins {
        true => stream.stream.period >= link.bag * count,
        false => arrival.distance >= gap * count,
    };
    let sharer = |sharer: EthernetStream<'_>| {
        let arrival = arrivals.at(sharer.id, view.id);
        // What comes while the processor is busy can have its turn before what waits, and so can what comes at that instant.
        let jitter = arrival.at?.jitter() + busy + Duration::from_ps(1);
        Ok(Periodic { period: arrival.distance, jitter, cost: gap * i64::from(sharer.frames()) })
    };
    let sharers: Result<Vec<Periodic>, Why> = view.sub_virtual_links(stream).map(sharer).collect();
    // The gap behind what went before them comes first, and that behind the last of them is nobody's wait.
    let until_empty = sharers.ok().and_then(|periodic| {
        let load = Load { once: gap, periodic, ..Load::default() };
        Some(load.busy_period().ok()? - gap)
    });
    let round = is_in_time.then_some(gap * count);
    round.into_iter().chain(until_empty).min().ok_or(Why::GapAboveDistance)
}

/// The gap by true time if the sender's clock is slow.
pub(super) fn longest_gap(view: Ethernet<'_>, stream: &EthernetStream<'_>, link: &VirtualLink) -> Duration {
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
    let is_shared = link.sub_links > 1;
    let needed = entered.ok().zip(arrival.at.ok()).and_then(|(entered, ready)| {
        if is_shared {
            // They are counted from the regulator that they share.
            return beyond(entered.jitter(), shortest_gap(view, stream, link), charged);
        }
        // What waits for the turn of its frame is not late by it.
        let waits = longest_gap(view, stream, link) * i64::from(stream.frames() - 1);
        let whole = beyond(entered.jitter(), arrival.distance, charged).filter(|_| stream.datagram.is_none());
        let behind_regulator = entered.jitter() - waits - ready.jitter() + busy.ok()?;
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
