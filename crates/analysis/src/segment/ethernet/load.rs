//! How busy the links of a segment are.

use std::collections::BTreeMap;

use chronoseal_core::{Duration, NodeId};
use chronoseal_plan::{Ethernet, EthernetStream, LinkParameters};

use super::super::load::{LinkLoad, Share};

/// Every direction of a link over which streams go, with what their frames need of it. Control frames are left out.
pub(super) fn of_links(view: Ethernet<'_>) -> Vec<LinkLoad> {
    let mut links: BTreeMap<[NodeId; 2], Share> = BTreeMap::new();
    let switch = |number: u16| view.plan.own_node(view.id, usize::from(number));
    for stream in view.streams() {
        let mut add = |ends: [NodeId; 2], link: LinkParameters| {
            let share = links.entry(ends).or_default();
            // How full the frames of a container are, how many vehicles send, and what filters take away is open.
            let is_open = stream.stream.collected().is_some() || stream.stream.sent_by.is_some();
            if is_open || !view.segment.stream_filters.filters.is_empty() {
                share.estimate();
            }
            share.add(time_in_period(view, &stream, link), stream.stream.period);
        };
        for (network, hop) in view.hops(&stream).unwrap_or_default() {
            let here = switch(hop.switch);
            let from = stream.hop.from;
            if hop.trunk.is_none() {
                add([from, here], view.segment.link_in(network, from).parameters);
            }
            for node in &hop.to {
                add([here, *node], view.segment.link_in(network, *node).parameters);
            }
            for trunk in hop.onward.iter().filter_map(|number| view.segment.wiring.trunks.get(*number)) {
                add([here, switch(trunk.from(hop.switch))], trunk.parameters);
            }
        }
    }
    links.into_iter().map(|(ends, share)| LinkLoad { ends: Some(ends), share }).collect()
}

/// What all frames of a message take on a link, or those of a recording, whose period is its length.
fn time_in_period(view: Ethernet<'_>, stream: &EthernetStream<'_>, link: LinkParameters) -> Duration {
    let time = |len: u32| view.segment.frame_time_over(link, len);
    let longest = view.secured_len(stream);
    match stream.stream.recorded() {
        Some(recorded) => {
            let around = longest - recorded.longest() as u32;
            recorded.messages().iter().map(|(_, message)| time(around + message.len() as u32)).sum()
        }
        None => time(longest) * i64::from(stream.frames() - 1) + time(view.shortest_len(stream)),
    }
}
