//! Whether the frames of each stream can leave by the ports on their way.

use std::collections::BTreeSet;

use chronoseal_core::Duration;
use chronoseal_media::port::{ClassConfig, Selection};
use chronoseal_plan::{
    EthernetHop, EthernetSegment, HopPlan, LinkParameters, PortEnd, StreamClass, StreamWay, SwitchHop,
};

use super::Memo;
use super::gate_lists::longest_window;
use crate::kinds::{CollectRequest, Context, OnSegment, Place, Segment};
use crate::problem::Code;
use crate::shape::shortened;

/// A port on the way of a stream.
struct Passed {
    end: PortEnd,
    link: LinkParameters,
    /// What messages call it.
    name: String,
}

/// Frames that have to leave by ports.
struct Frames<'a> {
    /// Their way.
    hop: &'a HopPlan,
    /// What messages call them.
    name: String,
    /// Without checksum `[byte]`.
    len: u64,
    /// Where they are written.
    at: Place<'a>,
    /// Where the size of their bucket is.
    burst_at: Place<'a>,
}

/// Refuses streams that never leave by one of their ports, one for each entry of the scenario.
pub(super) fn check(segment: &Segment<'_>, streams: &[OnSegment<'_>], context: &mut Context<'_>) {
    let Some(network) = segment.facet::<EthernetSegment>() else { return };
    if network.ports.is_plain() {
        return;
    }
    let mut judged = BTreeSet::new();
    for stream in streams {
        let is_best_effort = stream.hop.facet.get::<EthernetHop>().is_some_and(|hop| best_effort(hop).is_some());
        if !is_best_effort || !judged.insert(stream.entry) {
            continue;
        }
        let frames = Frames {
            hop: stream.hop,
            name: shortened(stream.name).to_string(),
            len: u64::from(stream.hop.frame_len + stream.protection.overhead_bytes()),
            at: Place::new("streams").entry(stream.entry).key("name"),
            burst_at: stream.at(segment, "committed").key("burst"),
        };
        judge(segment, network, &frames, context);
    }
}

/// The same of a frame that a gateway collects.
pub(super) fn check_collected(request: &CollectRequest<'_>, name: &str, context: &mut Context<'_>) {
    let Some(network) = request.segment.facet::<EthernetSegment>().filter(|network| !network.ports.is_plain()) else {
        return;
    };
    let frames = Frames {
        hop: request.hop,
        name: name.to_owned(),
        len: u64::from(request.hop.frame_len),
        at: request.table.at("class"),
        burst_at: request.table.at("committed").key("burst"),
    };
    judge(request.segment, network, &frames, context);
}

/// The priority of frames without a slot or a virtual link.
const fn best_effort(hop: &EthernetHop) -> Option<u8> {
    match hop.class {
        StreamClass::BestEffort { priority } => Some(priority),
        _ => None,
    }
}

/// Reports the first port on their way by which frames never leave.
fn judge(segment: &Segment<'_>, network: &EthernetSegment, frames: &Frames<'_>, context: &mut Context<'_>) {
    let Some(EthernetHop { class: StreamClass::BestEffort { priority }, over, copies, .. }) = frames.hop.facet.get()
    else {
        return;
    };
    // A way that is none is a problem of its own.
    let ways = copies.routes(&network.wiring, over.as_deref(), frames.hop.from, &frames.hop.to);
    let Ok(ways) = ways else { return };
    let of_way = |way: &StreamWay| passed(segment, network, frames.hop, &way.hops, context);
    let ports: Vec<Passed> = ways.iter().flat_map(of_way).collect();
    for passed in ports {
        if leaves(segment, network, frames, *priority, &passed, context).is_none() {
            break;
        }
    }
}

/// The ports on the way of a stream.
fn passed(
    segment: &Segment<'_>,
    network: &EthernetSegment,
    hop: &HopPlan,
    route: &[SwitchHop],
    context: &Context<'_>,
) -> Vec<Passed> {
    let nodes = &context.spec().nodes;
    let node = |id: chronoseal_core::NodeId| nodes.get(id.index()).map_or("a node", |node| node.name.as_str());
    let memo = segment.memo::<Memo>();
    let switch = |number: u16| memo.and_then(|memo| memo.switches.get(usize::from(number))).map_or("", String::as_str);
    let named = |from: &str, to: &str| format!("the port of `{from}` to `{to}`");
    let first = route.first().map_or(0, |first| first.switch);
    let mut found = vec![Passed {
        end: PortEnd::Station(hop.from),
        link: network.link_of(hop.from).parameters,
        name: named(node(hop.from), switch(first)),
    }];
    for at in route {
        found.extend(at.to.iter().map(|to| Passed {
            end: PortEnd::ToStation(*to),
            link: network.link_of(*to).parameters,
            name: named(switch(at.switch), node(*to)),
        }));
        found.extend(at.onward.iter().map(|trunk| {
            let trunk = &network.wiring.trunks[*trunk];
            let to = trunk.from(at.switch);
            let name = named(switch(at.switch), switch(to));
            Passed { end: PortEnd::Between(at.switch, to), link: trunk.parameters, name }
        }));
    }
    found
}

/// `None` if a stream never leaves by a port, which is reported then.
fn leaves(
    segment: &Segment<'_>,
    network: &EthernetSegment,
    frames: &Frames<'_>,
    priority: u8,
    passed: &Passed,
    context: &mut Context<'_>,
) -> Option<()> {
    let Some(port) = network.ports.of(passed.end) else { return Some(()) };
    let class = port.class_of[usize::from(priority.min(7))];
    let Frames { hop, name, len, at, burst_at } = frames;
    let len = *len;
    let speed = network.speed_over(passed.link);
    let (on_wire, needed) = (speed.counted(len), speed.transmission(len));
    let window = longest_window(port, class);
    if window == Some(Duration::ZERO) {
        context.report(
            Code::BadPort,
            at,
            format!(
                "`{name}` is of traffic class {class} on `{}`, whose gate at {} never opens",
                segment.name, passed.name
            ),
            "never leaves",
            format!("write {class} into `open` of an entry that lasts {needed} or longer, or give it another priority"),
        );
        return None;
    }
    if let Some(window) = window.filter(|window| *window < needed) {
        context.report(
            Code::BadPort,
            at,
            format!(
                "a frame of `{name}` takes {needed}, and the longest window of its class {class} at {} is {window} \
                 (IEEE 802.1Q-2022 §8.6.8.4)",
                passed.name
            ),
            "fits no window",
            format!("make a window longer by {}, or the frame shorter", needed - window),
        );
        return None;
    }
    let ClassConfig { selection, room, .. } = port.classes[usize::from(class)];
    if room.is_some_and(|room| room < len) {
        context.report(
            Code::BadPort,
            at,
            format!("a frame of `{name}` has {len}B, and the queue of its class {class} at {} holds less", passed.name),
            "fits no queue",
            format!("write at least {len}B for `queue_len_max` of the class"),
        );
        return None;
    }
    let committed = hop.facet.get::<EthernetHop>().and_then(|hop| hop.committed);
    if let (Selection::Asynchronous, Some(committed)) = (selection, committed)
        && committed.burst < on_wire
    {
        context.report(
            Code::BadPort,
            burst_at,
            format!(
                "a frame of `{name}` counts {on_wire}B on the wire, and its bucket holds {}B (IEEE 802.1Q-2022 §8.6.11.3)",
                committed.burst
            ),
            "never holds a frame",
            format!("write at least {on_wire}B"),
        );
        return None;
    }
    Some(())
}
