//! What is certain to go wrong, or can be shown to: BROKEN needs such a witness, and a sufficient bound that is exceeded is none.

use chronoseal_analysis::can::{NoBound, Unbounded};
use chronoseal_analysis::segment::routed::LinkReason;
use chronoseal_analysis::segment::{
    Cause, LinkLoad, Missing, Overload, Place, Risk, SegmentBounds, Share, StreamBounds, Why, processor_shares,
};
use chronoseal_core::{Duration, NodeId, Ppm};
use chronoseal_plan::{Can, CanHop, Ethernet, Plan, SegmentId, StreamPlan};

/// How busy everything of a plan is.
pub(crate) struct Loads {
    /// By segment.
    pub(crate) links: Vec<Vec<LinkLoad>>,
    /// By node.
    processors: Vec<Share>,
}

impl Loads {
    pub(crate) fn of(plan: &Plan, rows: &[&dyn SegmentBounds]) -> Self {
        let links = |segment: SegmentId| {
            let kind = plan.segments[segment.index()].kind;
            let row = rows.iter().find(|row| row.kind() == kind);
            row.map(|row| row.loads(plan, segment)).unwrap_or_default()
        };
        Self { links: plan.segment_ids().map(links).collect(), processors: processor_shares(plan, rows) }
    }

    /// The link of a segment that is the busiest, or its bus.
    pub(crate) fn busiest(&self, segment: SegmentId) -> Option<&LinkLoad> {
        self.links.get(segment.index())?.iter().max_by_key(|link| link.share.ppm())
    }

    /// The number of the node whose processor is the busiest.
    pub(crate) fn busiest_processor(&self) -> Option<(usize, &Share)> {
        self.processors.iter().enumerate().rev().max_by_key(|(_, share)| share.ppm())
    }

    /// True if a bus is certainly asked for more than it has.
    pub(crate) fn is_bus_over(&self, segment: SegmentId) -> bool {
        self.links.get(segment.index()).is_some_and(|links| links.iter().any(|link| link.share.is_over()))
    }

    /// How much a node's processor is asked for, if that is certainly more than it has.
    pub(crate) fn overload(&self, node: NodeId) -> Option<Overload> {
        let share = self.processors.get(node.index()).filter(|share| share.is_over())?;
        Some(Overload::Load { load_ppm: share.ppm() })
    }

    /// True if a place without a bound is certainly asked for more than it has.
    pub(crate) fn are_over(&self, missing: Missing) -> bool {
        match (missing.why, missing.place) {
            (Why::Arbitration(why), Place::Segment(segment)) => {
                let is_overload = matches!(
                    why,
                    NoBound::Unbounded(Unbounded::Overload { .. }) | NoBound::Overload(Overload::Load { .. })
                );
                is_overload && self.is_bus_over(segment)
            }
            (Why::Link(link), Place::Segment(segment)) => {
                let is_it = |load: &&LinkLoad| load.ends == Some([link.from, link.to]);
                let load = self.links.get(segment.index()).and_then(|links| links.iter().find(is_it));
                matches!(link.reason, LinkReason::Overload { .. } | LinkReason::IdleSlope { .. })
                    && load.is_some_and(|load| load.share.is_over())
            }
            // One of its senders has more to send than fits, and this is a stream of that sender.
            (Why::Overload(Overload::Load { .. }), Place::Segment(segment)) => self.is_bus_over(segment),
            (
                Why::Overload(Overload::Load { .. }),
                Place::Sender(node) | Place::Gateway(node) | Place::Receiver(node),
            ) => self.overload(node).is_some(),
            _ => false,
        }
    }
}

/// True of a risk that is certain to lose frames or make them late in some run that the scenario allows. All others are
/// sufficient conditions that do not hold.
pub(crate) fn is_certain(plan: &Plan, risk: &Risk) -> bool {
    let segment = Ethernet::of(plan, risk.segment).map(|view| view.segment);
    let drift = |node: NodeId| plan.nodes.get(node.index()).map_or(Ppm(0), |node| node.clock.drift_max);
    // What only shares a port with slots, or a processor with tasks, may be in time without the clock.
    let goes_in_slots = || {
        let stream = Ethernet::of(plan, risk.segment).zip(risk.stream).and_then(|(view, id)| view.stream(id));
        stream.is_some_and(|stream| stream.class.is_time_triggered())
    };
    match &risk.cause {
        Cause::Clock { .. } | Cause::NoBeacon { .. } | Cause::BeaconFails { .. } if !goes_in_slots() => false,
        // By the next beacon it has drifted further than the precision.
        Cause::Clock { node, precision, .. } => {
            segment.is_some_and(|segment| drifted(drift(*node), segment.integration_cycle) > *precision)
        }
        // Nothing holds it, and by the end of the run it is further off.
        Cause::NoBeacon { node } => segment.is_some_and(|segment| {
            let offset = plan.nodes.get(node.index()).map_or(Duration::ZERO, |node| node.clock.offset);
            drifted(drift(*node), plan.duration) + offset.max(Duration::ZERO - offset) > segment.precision
        }),
        // More data than slots, not only now and then.
        Cause::Superseded { gap, .. } => stream_of(plan, risk).is_some_and(|stream| stream.period < *gap),
        Cause::Outrun { gap, .. } => stream_of(plan, risk)
            .and_then(|stream| stream.application)
            .is_some_and(|application| application.period < *gap),
        // No way is left for its frames, whatever becomes of clocks.
        Cause::LinkFails { at, .. } => *at < plan.duration && is_cut_off(plan, risk, *at),
        Cause::BeaconFails { at, .. } => *at < plan.duration,
        // A frame comes while it is away.
        Cause::Reboots { node, at } => {
            let takes = plan.nodes.get(node.index()).and_then(|node| node.gateway.as_ref()?.reboot);
            let takes = takes.map_or(Duration::ZERO, |reboot| reboot.takes);
            *at < plan.duration && stream_of(plan, risk).is_some_and(|stream| stream.period <= takes)
        }
        Cause::FramesLost { .. } | Cause::Recorded { .. } | Cause::ThrownOut { .. } | Cause::NotInGroup { .. } => true,
        Cause::StreamFilter(risk) => !risk.is_unbounded(),
        Cause::OnLink(risk) => risk.is_certain(),
        _ => false,
    }
}

fn stream_of<'p>(plan: &'p Plan, risk: &Risk) -> Option<&'p StreamPlan> {
    plan.streams.get(risk.stream?.index())
}

/// True if the stream of a risk goes over a link that fails at this time, and over no other instead.
fn is_cut_off(plan: &Plan, risk: &Risk, at: Duration) -> bool {
    let Some(view) = Ethernet::of(plan, risk.segment) else { return false };
    let Some(stream) = risk.stream.and_then(|id| view.stream(id)) else { return false };
    let fails = view.segment.failures.iter().any(|failure| failure.at == at && view.passes(&stream, failure.link));
    fails && view.is_cut_off(&stream)
}

/// How far a clock of this drift is off after a time.
fn drifted(drift: Ppm, after: Duration) -> Duration {
    let ps = i128::from(after.as_ps()) * i128::from(drift.0.abs()) / 1_000_000_000;
    Duration::from_ps(i64::try_from(ps).unwrap_or(i64::MAX))
}

/// True if the bound of a message on a bus is a case that can come about: any message may be due at any time, and nothing else is
/// on the bus or keeps its stations busy.
pub(crate) fn is_exact(plan: &Plan, stream: &StreamPlan, bounds: &[StreamBounds]) -> bool {
    let [hop] = &stream.hops[..] else { return false };
    let Some(view) = Can::of(plan, hop.segment) else { return false };
    let is_plain = |stream: &StreamPlan, facet: &CanHop| {
        let is_frame = !matches!(facet, CanHop::Recording(_) | CanHop::Message { segmented: Some(_), .. });
        is_frame && stream.hops.len() == 1 && !stream.has_offset && stream.collected().is_none()
    };
    let is_on_bus = |bound: &&StreamBounds| plan.streams[bound.stream.index()].on(hop.segment).is_some();
    let mut parts = bounds.iter().filter(is_on_bus).flat_map(|bound| &bound.ends).flat_map(|end| &end.parts);
    !view.segment.fifo_mailboxes
        && plan.group_key.is_none()
        && view.bridged().is_empty()
        && view.streams().all(|(_, stream, _, facet)| is_plain(stream, facet))
        && parts.all(|part| matches!(part.place, Place::Segment(_)) || part.max == Duration::ZERO)
}
