//! What is written of a cluster that keeps its clocks together by itself, checked.

use chronoseal_clocksync::as6802::{Cluster, Integrity, ParameterError, Parameters};
use chronoseal_core::{Duration, NodeId};
use chronoseal_plan::{ClusterPlan, EthernetSegment, LinkParameters, NetworkName};

use super::segment::wire_time;
use super::spec::{As6802Spec, IntegritySpec};
use crate::kinds::{Context, SegmentRequest};
use crate::limits::*;
use crate::problem::Code;
use crate::shape::shortened;

/// A cluster with its parameters worked out. Sets the largest transmission delay of the segment unless it is given.
pub(super) fn resolve(
    request: &SegmentRequest<'_>,
    spec: &As6802Spec,
    switches: &[String],
    (segment, is_delay_given): (&mut EthernetSegment, bool),
    context: &mut Context<'_>,
) -> Option<ClusterPlan> {
    let masters = masters(request, spec, context)?;
    let compression_masters = compression_masters(request, spec, (switches, segment), context)?;
    let control_delay_max = control_delay(request, segment, masters.len(), &compression_masters);
    if !is_delay_given {
        segment.max_transmission_delay = control_delay_max;
    }
    let standard =
        Cluster::new(masters.len() as u8, segment.integration_cycle, segment.max_transmission_delay, segment.precision);
    let cluster = Cluster {
        faults_tolerated: spec.faults_tolerated.unwrap_or(standard.faults_tolerated),
        integrity: match spec.integrity {
            IntegritySpec::Standard => Integrity::Standard,
            IntegritySpec::High => Integrity::High,
        },
        ..standard
    };
    match Parameters::of(&cluster) {
        Ok(parameters) => Some(ClusterPlan { parameters, masters, compression_masters, control_delay_max }),
        Err(error) => {
            refuse(request, &error, context);
            None
        }
    }
}

fn masters(request: &SegmentRequest<'_>, spec: &As6802Spec, context: &mut Context<'_>) -> Option<Vec<NodeId>> {
    let at = request.table.at("sync").key("as6802").key("masters");
    let on_it: Vec<(usize, &str)> = request.nodes_on_it().map(|(number, node)| (number, node.name.as_str())).collect();
    let names: Vec<&str> = on_it.iter().map(|(_, name)| *name).collect();
    if spec.masters.is_empty() {
        let example = names.first().map_or_else(|| "a node".to_owned(), |name| format!("`masters = [\"{name}\"]`"));
        context.report(
            Code::BadClockTree,
            &at,
            format!("`{}` has no synchronisation master: nobody starts its cluster", request.name),
            "nobody",
            format!("write {example}, and better three or more, so that one of them may fail"),
        );
        return None;
    }
    let mut found = Vec::new();
    for (i, name) in spec.masters.iter().enumerate() {
        let place = at.clone().entry(i);
        let index = context.find(name, &names, &place, "node", "nodes on this segment")?;
        let node = NodeId(on_it[index].0 as u16);
        if found.contains(&node) {
            twice(name, "master", &place, context);
            return None;
        }
        found.push(node);
    }
    Some(found)
}

fn compression_masters(
    request: &SegmentRequest<'_>,
    spec: &As6802Spec,
    (switches, segment): (&[String], &EthernetSegment),
    context: &mut Context<'_>,
) -> Option<Vec<u16>> {
    let wiring = &segment.wiring;
    let first_of_b = (0..wiring.switches).find(|switch| wiring.is_of_b(*switch));
    let Some(named) = &spec.compression_masters else { return Some([0].into_iter().chain(first_of_b).collect()) };
    let at = request.table.at("sync").key("as6802").key("compression_masters");
    if named.is_empty() {
        context.report(
            Code::BadClockTree,
            &at,
            format!("`{}` has no compression master: nobody makes one time of those of its masters", request.name),
            "none",
            format!("write `compression_masters = [\"{}\"]`, or leave the key out", switches[0]),
        );
        return None;
    }
    let names: Vec<&str> = switches.iter().map(String::as_str).collect();
    let mut found = Vec::new();
    for (i, name) in named.iter().enumerate() {
        let place = at.clone().entry(i);
        let switch = context.find(name, &names, &place, "switch", "switches of this segment")? as u16;
        if found.contains(&switch) {
            twice(name, "compression master", &place, context);
            return None;
        }
        found.push(switch);
    }
    for network in wiring.networks() {
        let is_in_it = |switch: &u16| wiring.is_of_b(*switch) == (*network == NetworkName::B);
        let Some(first) = (0..wiring.switches).find(is_in_it).filter(|_| !found.iter().any(is_in_it)) else { continue };
        let name = if *network == NetworkName::B { "B" } else { "A" };
        context.report(
            Code::BadClockTree,
            &at,
            format!(
                "network {name} of `{}` has no compression master: its switches would never have a clock, and no station one when the \
                 other network fails",
                request.name
            ),
            "all in one network",
            format!("add `\"{}\"`, or leave the key out: the first switch of each network compresses then", switches[usize::from(first)]),
        );
        return None;
    }
    Some(found)
}

fn twice(name: &str, what: &str, place: &[crate::kinds::Step<'_>], context: &mut Context<'_>) {
    context.report(
        Code::DuplicateName,
        place,
        format!("`{}` is named twice as {what}", shortened(name)),
        "again",
        "leave one of them out",
    );
}

fn refuse(request: &SegmentRequest<'_>, error: &ParameterError, context: &mut Context<'_>) {
    let cluster = request.table.at("sync").key("as6802");
    let (at, label, help) = match error {
        ParameterError::Faults { masters, .. } => (
            cluster.key("faults_tolerated"),
            "too many",
            format!("name more masters, or write a smaller number: {masters} of them tolerate fewer"),
        ),
        ParameterError::CycleTooShort { needed, .. } => (
            request.table.at("integration_cycle"),
            "too short",
            format!(
                "write a cycle longer than {needed}, or a smaller `precision`, or a smaller `max_transmission_delay`: each \
                 cycle has to hold a control frame's way to the compression master and back, and the windows for it"
            ),
        ),
        ParameterError::NotPositive(_) => {
            (request.table.at("precision"), "nothing", "write a precision above zero, such as `\"10us\"`".to_owned())
        }
        _ => (cluster.key("masters"), "not possible", format!("write 1 to {MASTERS_MAX} masters")),
    };
    context.report(Code::BadClockTree, &at, format!("there is no such cluster: {error}"), label, help);
}

/// The longest that a control frame is under way between a station and a compression master. In front of each link it waits
/// for one longest frame and for a control frame of every other source, and takes its own time there. Over the networks A and B that
/// of the slower one counts, since one time makes frames of both permanent.
fn control_delay(
    request: &SegmentRequest<'_>,
    segment: &EthernetSegment,
    masters: usize,
    compression_masters: &[u16],
) -> Duration {
    let sources = (masters + compression_masters.len()) as i64;
    let over = |link: LinkParameters| {
        let wire_time = |len: u32| wire_time(link, len);
        wire_time(FRAME_LEN_MAX) + wire_time(FRAME_LEN_MIN) * sources + link.delay(FRAME_LEN_MIN)
    };
    let in_switch = segment.forwarding_delay + segment.forwarding_jitter.max;
    let wiring = &segment.wiring;
    let between = |one: u16, other: u16| -> Duration {
        let way = wiring.way_between(one, other);
        way.iter().map(|trunk| over(wiring.trunks[*trunk].parameters) + in_switch).sum()
    };
    let of_station = |(network, number): (NetworkName, usize)| {
        let link = segment.link_in(network, NodeId(number as u16));
        let is_in_it = |switch: &&u16| wiring.is_of_b(**switch) == (network == NetworkName::B);
        let ways = compression_masters.iter().filter(is_in_it).map(|switch| between(*switch, link.switch));
        ways.max().unwrap_or(Duration::ZERO) + over(link.parameters)
    };
    let stations =
        request.nodes_on_it().flat_map(|(number, _)| wiring.networks().iter().map(move |name| (*name, number)));
    stations.map(of_station).max().unwrap_or_else(|| over(segment.default_link()))
}
