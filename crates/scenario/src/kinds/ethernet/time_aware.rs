//! Clocks that follow a grandmaster (IEEE 802.1AS): what is written of them, checked.

use chronoseal_clocksync::gptp::{Parameters, PortParameters};
use chronoseal_core::random::{self, Purpose, uniform_i64};
use chronoseal_core::{Duration, NodeId, Ppm};
use chronoseal_plan::{EthernetSegment, GrandmasterQuality, LinkParameters, TimeAwarePlan};
use chronoseal_wire::gptp::ClockIdentity;

use super::spec::EthernetSegmentSpec;
use super::time_aware_spec::{GptpSpec, TimeAwareSystemSpec};
use crate::kinds::{Context, SegmentRequest};
use crate::limits::*;
use crate::problem::Code;
use crate::shape::shortened;

/// Of a switch that says nothing else, and of a node: network infrastructure, and other systems (IEEE 802.1AS-2020 §8.6.2.1).
const PRIORITY1_OF_SWITCH: u8 = 246;
const PRIORITY1_OF_NODE: u8 = 248;
/// Coarsest time stamp.
const GRANULARITY_MAX: Duration = Duration::from_us(1);

/// The clocks that a scenario writes.
pub(super) fn resolve(
    request: &SegmentRequest<'_>,
    (spec, clocks): (&EthernetSegmentSpec, &GptpSpec),
    switches: &[String],
    segment: &EthernetSegment,
    context: &mut Context<'_>,
) -> TimeAwarePlan {
    let at = |key: &'static str| request.table.at("sync").key("gptp").key(key);
    no_beacon(request, spec, context);
    let mut parameters = Parameters::new(ClockIdentity::default(), PRIORITY1_OF_NODE);
    for (key, written, log) in [
        ("sync_interval", clocks.sync_interval.0, &mut parameters.log_sync_interval),
        ("announce_interval", clocks.announce_interval.0, &mut parameters.log_announce_interval),
        ("pdelay_interval", clocks.pdelay_interval.0, &mut parameters.log_pdelay_req_interval),
    ] {
        match (-10..=10).find(|log| TimeAwarePlan::interval(*log) == written) {
            Some(found) => *log = found,
            None => context.report(
                Code::OutOfRange,
                &at(key),
                format!("messages of IEEE 802.1AS have intervals of 2^-10 s to 2^10 s, and {written} is no power of two of a second"),
                "no power of two",
                nearest(written),
            ),
        }
    }
    for (key, written, count) in [
        ("sync_receipt_timeout", clocks.sync_receipt_timeout, &mut parameters.sync_receipt_timeout),
        ("announce_receipt_timeout", clocks.announce_receipt_timeout, &mut parameters.announce_receipt_timeout),
    ] {
        *count = context.within(&at(key), "the timeout", written, 2, u8::MAX);
    }
    let thresh = at("mean_link_delay_thresh");
    let thresh =
        context.within(&thresh, "the threshold", clocks.mean_link_delay_thresh.0, Duration::from_ps(1), DELAY_MAX);
    let granularity = at("granularity");
    let granularity =
        context.within(&granularity, "the granularity", clocks.granularity.0, Duration::ZERO, GRANULARITY_MAX);
    let drift_max = context.within(&at("bridge_drift"), "the largest drift", clocks.bridge_drift.0, Ppm(0), DRIFT_MAX);
    long_links(request, segment, thresh, context);
    let drift = |switch: usize| {
        let number = 1 << 48 | u64::from(request.id.0) << 16 | switch as u64;
        let mut rng = random::stream(context.seed(), Purpose::Clock, number);
        Ppm(uniform_i64(&mut rng, -drift_max.0, drift_max.0))
    };
    let drifts: Vec<Ppm> = (0..switches.len()).map(drift).collect();
    let of = |priority1| GrandmasterQuality { priority1, clock_class: 248, priority2: 248 };
    let stations = request.nodes_on_it().map(|(number, _)| (NodeId(number as u16), of(PRIORITY1_OF_NODE))).collect();
    let bridges = drifts.into_iter().map(|drift| (of(PRIORITY1_OF_SWITCH), drift)).collect();
    let port = PortParameters { mean_link_delay_thresh: thresh, ..PortParameters::default() };
    let mut plan = TimeAwarePlan { parameters, port, granularity, stations, bridges };
    qualities(request, &clocks.systems, switches, &mut plan, context);
    let all = plan.stations.values().chain(plan.bridges.iter().map(|(quality, _)| quality));
    if all.clone().all(|quality| quality.priority1 == 255) {
        context.report(
            Code::BadClockTree,
            &at("systems"),
            format!(
                "`{}` has no switch or node that may be the grandmaster: nobody says what time it is",
                request.name
            ),
            "every `priority1` is 255",
            "write a lower `priority1` for one of them",
        );
    }
    plan
}

/// What the beacon of a switch has, and these clocks do not.
fn no_beacon(request: &SegmentRequest<'_>, spec: &EthernetSegmentSpec, context: &mut Context<'_>) {
    let written = [
        ("integration_cycle", spec.integration_cycle.is_some()),
        ("max_transmission_delay", spec.max_transmission_delay.is_some()),
    ];
    for (key, _) in written.into_iter().filter(|(_, is_written)| *is_written) {
        context.report(
            Code::BadClockTree,
            &request.table.at(key),
            format!(
                "`{key}` is of control frames of SAE AS6802, and the clocks of `{}` follow IEEE 802.1AS",
                request.name
            ),
            "has no meaning here",
            "leave it out; the intervals of messages stand in `sync = { gptp = { … } }`",
        );
    }
}

/// Links that are longer than what counts as a link.
fn long_links(request: &SegmentRequest<'_>, segment: &EthernetSegment, thresh: Duration, context: &mut Context<'_>) {
    let trunks = segment.wiring.trunks.iter().map(|trunk| trunk.parameters);
    let stations = request.nodes_on_it().map(|(number, _)| segment.link_of(NodeId(number as u16)).parameters);
    let second = segment.wiring.second.iter().map(|link| link.parameters);
    let longest =
        trunks.chain(stations).chain(second).map(|LinkParameters { propagation_delay, .. }| propagation_delay).max();
    if let Some(longest) = longest.filter(|delay| *delay > thresh) {
        context.report(
            Code::BadClockTree,
            &request.table.at("sync").key("gptp").key("mean_link_delay_thresh"),
            format!(
                "a link of `{}` delays frames by {longest}, and over one of more than {thresh} no time is taken (`asCapable`, IEEE \
                 802.1AS-2020 §11.2.2)",
                request.name
            ),
            "shorter than a link",
            format!("write `mean_link_delay_thresh = \"{longest}\"` or more, or a shorter `propagation_delay`"),
        );
    }
}

/// Switches and nodes with priorities of their own.
fn qualities(
    request: &SegmentRequest<'_>,
    systems: &[TimeAwareSystemSpec],
    switches: &[String],
    plan: &mut TimeAwarePlan,
    context: &mut Context<'_>,
) {
    let nodes: Vec<(usize, &str)> = request.nodes_on_it().map(|(number, node)| (number, node.name.as_str())).collect();
    let names: Vec<&str> = switches.iter().map(String::as_str).chain(nodes.iter().map(|(_, name)| *name)).collect();
    let mut known = Vec::new();
    for (i, system) in systems.iter().enumerate() {
        for (k, name) in system.names.iter().enumerate() {
            let place = request.table.at("sync").key("gptp").key("systems").entry(i).key("names").entry(k);
            let Some(index) = context.find(name, &names, &place, "switch or node", "switches and nodes") else {
                continue;
            };
            if known.contains(&index) {
                context.report(
                    Code::DuplicateName,
                    &place,
                    format!("`{}` has two priorities", shortened(name)),
                    "again",
                    "leave one of them out",
                );
                continue;
            }
            known.push(index);
            let quality = match index.checked_sub(switches.len()) {
                None => &mut plan.bridges[index].0,
                Some(place) => match plan.stations.get_mut(&NodeId(nodes[place].0 as u16)) {
                    Some(quality) => quality,
                    None => continue,
                },
            };
            let TimeAwareSystemSpec { priority1, priority2, clock_class, .. } = system;
            let priority1 = priority1.unwrap_or(quality.priority1);
            *quality = GrandmasterQuality { priority1, clock_class: *clock_class, priority2: *priority2 };
        }
    }
}

/// The two powers of two of a second around an interval.
fn nearest(written: Duration) -> String {
    let below = (-10..=10).rev().map(TimeAwarePlan::interval).find(|known| *known < written);
    let above = (-10..=10).map(TimeAwarePlan::interval).find(|known| *known > written);
    let named: Vec<String> = below.into_iter().chain(above).map(|known| known.to_string()).collect();
    format!("write one such as {}", named.join(" or "))
}
