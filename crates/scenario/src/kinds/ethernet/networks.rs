//! The networks A and B of a segment (ARINC 664 part 7), and which of them a stream goes over.
//!
//! # How late a copy of a frame in a slot may come
//! Both copies of a frame in a slot start with the slot, and are at their receivers before the period of the slot is over, or soon
//! after it with slots that all stations share. So the period is what `skew_max` is unless something else is written. A longer time
//! would do no harm either: the frame of the next slot has another number, so that nobody takes it for a copy. The same number
//! comes again only after 255 frames, and no skew may be so long that a receiver would take that frame for a copy
//! ([`GAPS_MAX`]).

use chronoseal_core::Duration;
use chronoseal_plan::{Copies, EthernetSegment, NetworkName, StreamClass};

use super::spec::{ClassSpec, EthernetSegmentSpec, EthernetStreamSpec, NetworkNameSpec};
use crate::kinds::{Context, HopRequest, Place, SegmentRequest};
use crate::limits::*;
use crate::problem::Code;
use crate::shape::shortened;

/// How many gaps between frames a largest skew may be long: half as many as there are numbers, which begin anew after 255 frames.
const GAPS_MAX: i64 = 127;

/// By switch: true if it is one of network B; empty if the segment has no such networks.
pub(super) fn of_switches(
    request: &SegmentRequest<'_>,
    spec: &EthernetSegmentSpec,
    switches: &[String],
    context: &mut Context<'_>,
) -> Vec<bool> {
    let Some(networks) = &spec.networks else { return Vec::new() };
    let place = request.table.at("networks");
    let mut found: Vec<Option<bool>> = vec![None; switches.len()];
    for (is_b, key, names) in [(false, "a", &networks.a), (true, "b", &networks.b)] {
        for (i, name) in names.iter().enumerate() {
            let at = place.clone().key(key).entry(i);
            let known: Vec<&str> = switches.iter().map(String::as_str).collect();
            let Some(switch) = context.find(name, &known, &at, "switch", "switches") else { continue };
            if found[switch].replace(is_b).is_some() {
                context.report(
                    Code::BadNetworks,
                    &at,
                    format!("switch `{}` is named twice in the networks of `{}`", shortened(name), request.name),
                    "again here",
                    "a switch is in one network: leave it out of the other one",
                );
            }
        }
    }
    for (switch, name) in switches.iter().enumerate().filter(|(switch, _)| found[*switch].is_none()) {
        context.report(
            Code::BadNetworks,
            &request.table.at("switches").entry(switch),
            format!("switch `{}` is in none of the networks of `{}`", shortened(name), request.name),
            "in no network",
            "add it to `a` or to `b` of `networks`",
        );
    }
    if found.first() == Some(&Some(true)) {
        context.report(
            Code::BadNetworks,
            &place,
            format!("the first switch, `{}`, sends the sync beacon, and is in network B", shortened(&switches[0])),
            "begins with B",
            "write the switches of network A first, or exchange `a` and `b`",
        );
    }
    if !found.contains(&Some(true)) && found.iter().all(Option::is_some) {
        context.report(
            Code::BadNetworks,
            &place.clone().key("b"),
            format!("network B of `{}` has no switch", request.name),
            "empty",
            "name its switches, or leave `networks` out",
        );
    }
    found.into_iter().map(|network| network.unwrap_or(false)).collect()
}

/// Whether the ports of a segment with networks A and B are such as these can have.
pub(super) fn check(request: &SegmentRequest<'_>, segment: &EthernetSegment, context: &mut Context<'_>) {
    if !segment.wiring.has_networks() {
        return;
    }
    if !segment.ports.is_plain() {
        context.report(
            Code::BadNetworks,
            &request.table.at("networks"),
            format!(
                "`{}` has networks A and B, which are those of ARINC 664 part 7, and ports of IEEE 802.1Q: its virtual links have no \
                 VLAN tag, so no priority code point puts them into a traffic class",
                request.name
            ),
            "with ports",
            "leave `bridge_ports`, `station_ports` and the `ports` of links out, or leave `networks` out",
        );
    }
}

/// True if frames of a stream end with a sequence number: those of virtual links do, and those in slots that go over both networks.
pub(super) fn are_numbered(spec: &EthernetStreamSpec, written: ClassSpec, segment: &EthernetSegment) -> bool {
    match written {
        ClassSpec::RateConstrained(_) => true,
        ClassSpec::TimeTriggered => {
            segment.wiring.has_networks() && spec.networks.as_ref().is_none_or(|chosen| chosen.len() == 2)
        }
        ClassSpec::BestEffort(_) | ClassSpec::Vlan(_) => false,
    }
}

/// Which networks a stream goes over whose messages have so many frames.
pub(super) fn copies(
    request: &HopRequest<'_>,
    (spec, class, written, class_at): (&EthernetStreamSpec, StreamClass, ClassSpec, &Place<'_>),
    (segment, frames): (&EthernetSegment, u32),
    context: &mut Context<'_>,
) -> Copies {
    let name = shortened(&request.stream.spec.name);
    let on = request.segment.name;
    if !segment.wiring.has_networks() {
        if spec.networks.is_some() {
            context.report(
                Code::BadNetworks,
                &request.table.at("networks"),
                format!("`{on}` does not say which of its switches are network A and which are network B"),
                "no such networks",
                "leave `networks` out, or write `networks = { a = […], b = […] }` for the segment",
            );
        }
        skew_without_copies(request, spec, &format!("frames of stream `{name}` are sent once"), context);
        return Copies::One(NetworkName::A);
    }
    // The virtual link's key, or that of the stream; how far apart its frames are, or messages of several in slots; and how many come then.
    let (written, at, gap, in_gap) = match (written, class.virtual_link()) {
        (ClassSpec::RateConstrained(written), Some(link)) => {
            let why = format!("stream `{name}` is a virtual link, which has this key in its class");
            skew_without_copies(request, spec, &why, context);
            (written.skew_max, Some(class_at.clone().key("rate_constrained").key("skew_max")), link.bag, 1)
        }
        _ => {
            let at = class.is_time_triggered().then(|| request.table.at("skew_max"));
            (spec.skew_max, at, request.stream.period, frames)
        }
    };
    let both: &[NetworkName] = &[NetworkName::A, NetworkName::B];
    let written_names = spec.networks.as_ref().map(|names| names.iter().copied().map(named).collect::<Vec<_>>());
    let chosen = written_names.as_deref().unwrap_or(if at.is_some() { both } else { &both[..1] });
    let (Some(at), [_, _]) = (at, chosen) else {
        if chosen.len() != 1 {
            let (message, label) = match chosen.len() {
                0 => (format!("stream `{name}` goes over none of the networks of `{on}`"), "empty"),
                _ => (
                    format!(
                        "frames of stream `{name}` have no sequence numbers, by which a receiver could tell that two of them are \
                         copies"
                    ),
                    "both",
                ),
            };
            context.report(
                Code::BadNetworks,
                &request.table.at("networks"),
                message,
                label,
                "write `networks = [\"a\"]`, or `class = { rate_constrained = {} }`",
            );
        }
        if class.virtual_link().is_none() {
            skew_without_copies(request, spec, &format!("stream `{name}` goes over one network"), context);
        }
        return Copies::One(chosen.first().copied().unwrap_or(NetworkName::A));
    };
    if chosen[0] == chosen[1] {
        context.report(
            Code::BadNetworks,
            &request.table.at("networks").entry(1),
            format!("stream `{name}` names one network twice"),
            "again here",
            "write `networks = [\"a\", \"b\"]`, or one of them",
        );
    }
    let limit = skew_limit(gap, in_gap);
    let skew_max = written.map_or(gap, |skew| context.within(&at, "the largest skew", skew.0, Duration::ZERO, limit));
    Copies::BothNetworks { skew_max }
}

/// The network that is meant.
const fn named(written: NetworkNameSpec) -> NetworkName {
    match written {
        NetworkNameSpec::A => NetworkName::A,
        NetworkNameSpec::B => NetworkName::B,
    }
}

/// The longest that a largest skew may be, if so many frames come in each gap.
pub(super) fn skew_limit(gap: Duration, frames: u32) -> Duration {
    DELAY_MAX.min(gap.saturating_mul((GAPS_MAX / i64::from(frames)).max(1)))
}

/// Refuses a largest skew of the stream itself where it says nothing.
pub(super) fn skew_without_copies(
    request: &HopRequest<'_>,
    spec: &EthernetStreamSpec,
    why: &str,
    context: &mut Context<'_>,
) {
    if spec.skew_max.is_some() {
        context.report(
            Code::BadNetworks,
            &request.table.at("skew_max"),
            format!("{why}, and `skew_max` is for streams in slots that go over both networks"),
            "not used",
            "leave it out; that of a virtual link is written in `rate_constrained`",
        );
    }
}
