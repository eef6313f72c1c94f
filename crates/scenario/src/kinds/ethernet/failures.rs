//! Links that fail in a run, and links over which frames are lost, checked.

use std::collections::BTreeMap;

use chronoseal_core::{Duration, NodeId};
use chronoseal_plan::{FailingLink, FrameLossPlan, LinkFailure, Wiring};

use super::spec::EthernetSegmentSpec;
use crate::kinds::{Context, Place, SegmentRequest};
use crate::limits::*;
use crate::problem::Code;
use crate::shape::shortened;

/// The failures of a segment, in the order of their links.
pub(super) fn resolve(
    request: &SegmentRequest<'_>,
    spec: &EthernetSegmentSpec,
    switches: &[String],
    wiring: &Wiring,
    context: &mut Context<'_>,
) -> Vec<LinkFailure> {
    let mut found: BTreeMap<FailingLink, (Duration, usize)> = BTreeMap::new();
    for (i, failure) in spec.failures.iter().enumerate() {
        let place = request.table.at("failures").entry(i);
        let at = place.clone().key("at");
        let at = context.within(&at, "the time of the failure", failure.at.0, Duration::ZERO, DURATION_MAX);
        let Some(link) = link(request, (&place, &failure.link), switches, wiring, context) else { continue };
        if let Some((_, earlier)) = found.get(&link) {
            let earlier = request.table.at("failures").entry(*earlier).key("link");
            context.report_both(
                Code::BadLink,
                (&place.key("link"), "again here"),
                (&earlier, "first here"),
                "a link that has failed fails again",
                "leave one of the two out: a link that fails stays so",
            );
            continue;
        }
        found.insert(link, (at, i));
    }
    found.into_iter().map(|(link, (at, _))| LinkFailure { link, at }).collect()
}

/// The losses of a segment, in the order of their links.
pub(super) fn frame_losses(
    request: &SegmentRequest<'_>,
    spec: &EthernetSegmentSpec,
    switches: &[String],
    wiring: &Wiring,
    context: &mut Context<'_>,
) -> Vec<FrameLossPlan> {
    let mut found: BTreeMap<FailingLink, (f64, usize)> = BTreeMap::new();
    for (i, loss) in spec.frame_losses.iter().enumerate() {
        let place = request.table.at("frame_losses").entry(i);
        if !(loss.ratio > 0.0 && loss.ratio <= 1.0) {
            context.report(
                Code::OutOfRange,
                &place.clone().key("ratio"),
                format!("the share of frames that are lost is {}", loss.ratio),
                "no such share",
                "write a number above 0 and at most 1: 0.2 for one frame in five",
            );
        }
        let Some(link) = link(request, (&place, &loss.link), switches, wiring, context) else { continue };
        if let Some((_, earlier)) = found.get(&link) {
            let earlier = request.table.at("frame_losses").entry(*earlier).key("link");
            context.report_both(
                Code::BadLink,
                (&place.key("link"), "again here"),
                (&earlier, "first here"),
                "two shares of lost frames are written for one link",
                "leave one of the two out: a share holds for both directions",
            );
            continue;
        }
        found.insert(link, (loss.ratio, i));
    }
    found.into_iter().map(|(link, (ratio, _))| FrameLossPlan { link, ratio }).collect()
}

/// The link between two ends.
fn link(
    request: &SegmentRequest<'_>,
    (place, written): (&Place<'_>, &[String]),
    switches: &[String],
    wiring: &Wiring,
    context: &mut Context<'_>,
) -> Option<FailingLink> {
    let at = |end: usize| place.clone().key("link").entry(end);
    let nodes: Vec<(usize, &str)> = request.nodes_on_it().map(|(number, node)| (number, node.name.as_str())).collect();
    let names: Vec<&str> = switches.iter().map(String::as_str).chain(nodes.iter().map(|(_, name)| *name)).collect();
    let mut end = |end: usize| {
        let name = written.get(end)?;
        context.find(name, &names, &at(end), "switch or node", "switches and nodes")
    };
    let (one, other) = (end(0), end(1));
    let (one, other) = (one?, other?);
    let node = |place: usize| place.checked_sub(switches.len()).map(|place| NodeId(nodes[place].0 as u16));
    let of_node = |node: NodeId, switch: usize| match wiring.switch_in_b(node) {
        Some(second) if usize::from(second) == switch => Some(FailingLink::Second(node)),
        _ => (usize::from(wiring.switch_of(node)) == switch).then_some(FailingLink::Station(node)),
    };
    let known = match (node(one), node(other)) {
        (None, None) => {
            let ends = [one.min(other) as u16, one.max(other) as u16];
            wiring.trunks.iter().position(|trunk| trunk.ends == ends).map(FailingLink::Trunk)
        }
        (Some(node), None) => of_node(node, other),
        (None, Some(node)) => of_node(node, one),
        (Some(_), Some(_)) => None,
    };
    if known.is_none() {
        context.report(
            Code::BadLink,
            &place.clone().key("link"),
            format!("no link joins `{}` and `{}`", shortened(&written[0]), shortened(&written[1])),
            "no such link",
            format!("name the two ends of one of the links of `{}`", request.name),
        );
    }
    known
}
