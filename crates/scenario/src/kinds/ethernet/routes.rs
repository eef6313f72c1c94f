//! Whether each stream has one way over the switches of its segment.

use std::collections::BTreeSet;

use chronoseal_core::NodeId;
use chronoseal_plan::{Copies, Dispatch, ETHERNET, EthernetHop, EthernetSegment, HopPlan, NetworkName, RouteError};

use super::Memo;
use crate::kinds::{CollectRequest, Context, HopRequest, OnSegment, Place, Segment, Table};
use crate::problem::Code;
use crate::shape::shortened;

/// The numbers of the switches that a stream names as those it may pass.
pub(super) fn over(
    table: &Table<'_>,
    names: Option<&[String]>,
    memo: &Memo,
    context: &mut Context<'_>,
) -> Option<Vec<u16>> {
    names.map(|names| named(&table.at("switches"), names, memo, context))
}

/// The numbers of the switches that are named at a place.
pub(super) fn named(at: &Place<'_>, names: &[String], memo: &Memo, context: &mut Context<'_>) -> Vec<u16> {
    let known: Vec<&str> = memo.switches.iter().map(String::as_str).collect();
    let find = |(i, name): (usize, &String)| {
        let found = context.find(name, &known, &at.clone().entry(i), "switch", "switches");
        found.map(|switch| switch as u16)
    };
    names.iter().enumerate().filter_map(find).collect()
}

/// Whether a schedule table can be made for a stream in slots.
pub(super) fn in_slots(request: &HopRequest<'_>, segment: &EthernetSegment, context: &mut Context<'_>) {
    if segment.wiring.is_plain() || segment.dispatch == Dispatch::Scheduled {
        return;
    }
    let (name, on) = (shortened(&request.stream.spec.name), request.segment.name);
    let why = match segment.wiring.switches {
        1 => "links have rates or delays of their own".to_owned(),
        switches => format!("there are {switches} switches"),
    };
    context.report_both(
        Code::BadIntegration,
        (&request.stream.at(on), "needs slots"),
        (&Place::new("segments").key(on).key(ETHERNET).key("dispatch"), "passes frames on at once"),
        format!(
            "stream `{name}` is time-triggered, and where {why}, each switch has a time of its own at which it passes a frame on (SAE \
             AS6802), which one that passes frames on at once does not keep"
        ),
        "write `dispatch = \"scheduled\"`, which is the default".to_owned(),
    );
}

/// Refuses streams that do not reach their receivers in just one way, one for each entry of the scenario.
pub(super) fn check(segment: &Segment<'_>, streams: &[OnSegment<'_>], context: &mut Context<'_>) {
    let mut judged = BTreeSet::new();
    for stream in streams {
        if judged.insert(stream.entry) {
            let at = Place::new("streams").entry(stream.entry).key("to");
            judge(segment, stream.name, stream.hop, &at, context);
        }
    }
}

/// As [`check`], for a frame in which a gateway collects.
pub(super) fn check_collected(request: &CollectRequest<'_>, context: &mut Context<'_>) {
    judge(request.segment, "the frame collected there", request.hop, &request.table.at("switches"), context);
}

fn judge(segment: &Segment<'_>, name: &str, hop: &HopPlan, at: &Place<'_>, context: &mut Context<'_>) {
    let Some(network) = segment.facet::<EthernetSegment>() else { return };
    let Some(memo) = segment.memo::<Memo>() else { return };
    let wiring = &network.wiring;
    // Switches that stand apart are a problem of their own.
    if wiring.switches == 1 || !wiring.apart().is_empty() {
        return;
    }
    // So are nodes without a link to one of two networks.
    let is_linked = |node: &NodeId| wiring.own_link(*node).is_some() && wiring.switch_in_b(*node).is_some();
    if wiring.has_networks() && !(is_linked(&hop.from) && hop.to.iter().all(is_linked)) {
        return;
    }
    let Some(ethernet) = hop.facet.get::<EthernetHop>() else { return };
    let route = ethernet.copies.routes(wiring, ethernet.over.as_deref(), hop.from, &hop.to);
    let Err(error) = route else { return };
    // Of two networks that without a way is the one that is meant.
    let fails_in_a = |receiver: NodeId| wiring.route_over(NetworkName::A, None, hop.from, &[receiver]).is_err();
    let receiver = match &error {
        RouteError::None { receiver } | RouteError::Several { receiver, .. } => *receiver,
    };
    let network = match ethernet.copies {
        Copies::One(network) => network,
        Copies::BothNetworks { .. } if !fails_in_a(receiver) => NetworkName::B,
        Copies::BothNetworks { .. } | Copies::Ways { .. } => NetworkName::A,
    };
    let wiring = wiring.of_network(network);
    let switch = |number: u16| memo.switches.get(usize::from(number)).map_or("", String::as_str);
    let node = |id: NodeId| context.spec().nodes.get(id.index()).map_or("a node", |node| node.name.as_str());
    let (name, on) = (shortened(name), segment.name);
    match error {
        RouteError::None { receiver } => {
            let ends = [hop.from, receiver].map(|node| switch(wiring.switch_of(node)));
            let between: Vec<String> = (wiring.way_between(wiring.switch_of(hop.from), wiring.switch_of(receiver)))
                .iter()
                .flat_map(|trunk| wiring.trunks[*trunk].ends)
                .map(|number| switch(number).to_owned())
                .filter(|name| !ends.contains(&name.as_str()))
                .collect::<BTreeSet<_>>()
                .into_iter()
                .map(|name| format!("\"{name}\""))
                .collect();
            let message =
                format!("`{name}` does not reach `{}` over the switches it may pass on `{on}`", node(receiver));
            let help = match &ethernet.copies {
                Copies::Ways { recovering, .. } if !recovering.is_empty() => format!(
                    "name all the switches of each of `ways` in their order, such as `[{}]`, and stay with receivers at one switch",
                    between.join(", ")
                ),
                Copies::Ways { .. } => {
                    format!("name the switches of each of `ways`, such as `[{}]`", between.join(", "))
                }
                _ => format!("write `switches = [{}]`, or leave it out", between.join(", ")),
            };
            context.report(Code::NoWay, at, message, "not reached", help);
        }
        RouteError::Several { receiver, ways } => {
            let [one, other] = ways.map(|way| way.into_iter().map(switch).collect::<Vec<_>>());
            let middle: Vec<String> =
                one.iter().skip(1).rev().skip(1).rev().map(|name| format!("\"{name}\"")).collect();
            let message = format!(
                "`{name}` has several ways of one length to `{}` on `{on}`: over {}, or over {}",
                node(receiver),
                one.join(", "),
                other.join(", ")
            );
            let middle = middle.join(", ");
            let choose = "choose one by the switches between its ends";
            let help = match &ethernet.copies {
                Copies::Ways { .. } => format!("{choose}: `[{middle}]` in `ways`"),
                _ => format!("{choose}: `{on} = {{ switches = [{middle}] }}`"),
            };
            context.report(Code::SeveralWays, at, message, "which way is not said", help);
        }
    }
}
