//! Stream filters, stream gates and flow meters: what was written of them, checked (IEEE 802.1Q-2018 §8.6.5.1).

use std::fmt::Display;

use chronoseal_core::{Bytes, Duration, NodeId, Rate};
use chronoseal_media::port::priority_of;
use chronoseal_media::psfp::{FlowMeterConfig, StreamGateConfig, StreamGateEntry, StreamGateList};
use chronoseal_plan::{EthernetHop, EthernetSegment, FilterPlan, Neighbour, StreamClass, StreamFilters};

use super::filter_spec::{FlowMeterSpec, StreamFilterSpec, StreamGateSpec};
use super::spec::EthernetSegmentSpec;
use super::sub_virtual_links;
use crate::kinds::{Context, OnSegment, Place, Segment, SegmentRequest};
use crate::limits::*;
use crate::problem::Code;
use crate::shape::shortened;

/// The tables of a segment with these switches.
pub(super) fn resolve(
    request: &SegmentRequest<'_>,
    spec: &EthernetSegmentSpec,
    switches: &[String],
    context: &mut Context<'_>,
) -> StreamFilters {
    names(request, "stream_filters", spec.stream_filters.iter().map(|filter| &filter.name), context);
    names(request, "stream_gates", spec.stream_gates.iter().map(|gate| &gate.name), context);
    names(request, "flow_meters", spec.flow_meters.iter().map(|meter| &meter.name), context);
    let gate = |(i, spec): (usize, &StreamGateSpec)| {
        (spec.name.clone(), gate(&request.table.at("stream_gates").entry(i), spec, context))
    };
    let gates = spec.stream_gates.iter().enumerate().map(gate).collect();
    let meter = |(i, spec): (usize, &FlowMeterSpec)| {
        (spec.name.clone(), meter(&request.table.at("flow_meters").entry(i), spec, context))
    };
    let meters = spec.flow_meters.iter().enumerate().map(meter).collect();
    let mut filters: Vec<FilterPlan> = Vec::new();
    for (i, written) in spec.stream_filters.iter().enumerate() {
        let at = request.table.at("stream_filters").entry(i);
        let known = filter(&at, written, (request, spec, switches), context);
        if let Some(earlier) = filters.iter().position(|earlier| earlier.covers(&known)) {
            let other = request.table.at("stream_filters").entry(earlier).key("name");
            context.report_both(
                Code::BadStreamFilter,
                (&at.key("name"), "judges nothing"),
                (&other, "the first that matches"),
                format!(
                    "stream filter `{}` matches nothing that `{}` has not matched before (IEEE 802.1Q-2018 §8.6.5.1.1)",
                    shortened(&written.name),
                    shortened(&filters[earlier].name)
                ),
                "write it before the other one, or leave it out",
            );
        }
        filters.push(known);
    }
    StreamFilters { filters, gates, meters }
}

fn names<'n>(
    request: &SegmentRequest<'_>,
    list: &'static str,
    names: impl Iterator<Item = &'n String>,
    context: &mut Context<'_>,
) {
    let mut known: Vec<&String> = Vec::new();
    for (i, name) in names.enumerate() {
        let at = |i: usize| request.table.at(list).entry(i).key("name");
        context.title(name, &at(i), "the name");
        if let Some(earlier) = known.iter().position(|other| *other == name) {
            context.report_both(
                Code::DuplicateName,
                (&at(i), "again here"),
                (&at(earlier), "first here"),
                format!("two of `{list}` are named `{}`", shortened(name)),
                "give one of them another name",
            );
        }
        known.push(name);
    }
}

fn filter(
    at: &Place<'_>,
    spec: &StreamFilterSpec,
    (request, segment, switches): (&SegmentRequest<'_>, &EthernetSegmentSpec, &[String]),
    context: &mut Context<'_>,
) -> FilterPlan {
    let all: Vec<&str> = context.spec().streams.iter().map(|stream| stream.name.as_str()).collect();
    let entry = spec.stream.as_ref().and_then(|name| {
        let at = at.clone().key("stream");
        context.find(name, &all, &at, "stream", "streams")
    });
    let of_switches: Vec<&str> = switches.iter().map(String::as_str).collect();
    let own = spec.switches.as_ref().map(|names| {
        let find = |(i, name): (usize, &String)| {
            let at = at.clone().key("switches").entry(i);
            context.find(name, &of_switches, &at, "switch", "switches").map(|switch| switch as u16)
        };
        names.iter().enumerate().filter_map(find).collect()
    });
    let nodes: Vec<(usize, &str)> = request.nodes_on_it().map(|(number, node)| (number, node.name.as_str())).collect();
    let neighbours: Vec<&str> = of_switches.iter().copied().chain(nodes.iter().map(|(_, name)| *name)).collect();
    let from = spec.from.as_ref().map(|names| {
        let find = |(i, name): (usize, &String)| {
            let at = at.clone().key("from").entry(i);
            let found = context.find(name, &neighbours, &at, "switch or node", "switches and nodes")?;
            Some(match found.checked_sub(switches.len()) {
                None => Neighbour::Switch(found as u16),
                Some(node) => Neighbour::Station(NodeId(nodes[node].0 as u16)),
            })
        };
        names.iter().enumerate().filter_map(find).collect()
    });
    let mut named = |key: &'static str, name: &Option<String>, list: &str, names: Vec<&str>| {
        let at = at.clone().key(key);
        name.as_ref().and_then(|name| context.find(name, &names, &at, "entry", list))
    };
    let gates = segment.stream_gates.iter().map(|gate| gate.name.as_str()).collect();
    let gate = named("gate", &spec.gate, "stream_gates", gates);
    let meters = segment.flow_meters.iter().map(|meter| meter.name.as_str()).collect();
    let meter = named("meter", &spec.meter, "flow_meters", meters);
    let longest = Bytes(u64::from(FRAME_LEN_MAX - HEADER_LEN));
    let max_sdu = spec.max_sdu.map(|len| {
        let at = at.clone().key("max_sdu");
        context.within(&at, "the maximum SDU size", len.0, Bytes(1), longest).0 as u32
    });
    if spec.block_on_oversize && max_sdu.is_none() {
        context.report(
            Code::BadStreamFilter,
            &at.clone().key("block_on_oversize"),
            format!("stream filter `{}` has no `max_sdu`, so no frame is too long for it", shortened(&spec.name)),
            "never happens",
            "write a `max_sdu`, or leave `block_on_oversize` out",
        );
    }
    FilterPlan {
        name: spec.name.clone(),
        entry,
        priority: spec.priority,
        switches: own,
        from,
        max_sdu,
        blocks_on_oversize: spec.block_on_oversize,
        gate,
        meter,
    }
}

fn gate(place: &Place<'_>, spec: &StreamGateSpec, context: &mut Context<'_>) -> StreamGateConfig {
    let at_cycle = place.clone().key("cycle");
    let cycle = context.within(&at_cycle, "the cycle of the gate", spec.cycle.0, PERIOD_MIN, CLUSTER_CYCLE_MAX);
    let at_base = place.clone().key("base_time");
    let base_time = context.within(&at_base, "the base time", spec.base_time.0, Duration::ZERO, CLUSTER_CYCLE_MAX);
    let (mut total, mut entries) = (Duration::ZERO, Vec::new());
    for (i, entry) in spec.entries.iter().enumerate() {
        let at = place.clone().key("entries").entry(i);
        let at_lasts = at.clone().key("lasts");
        let lasts = context.within(&at_lasts, "the entry", entry.lasts.0, Duration::from_ps(1), CLUSTER_CYCLE_MAX);
        if total <= cycle && total + lasts > cycle {
            context.report_both(
                Code::BadStreamFilter,
                (&at_lasts, "ends after the cycle"),
                (&at_cycle, "the cycle"),
                format!(
                    "the entries of stream gate `{}` up to this one last {}, and the cycle is {cycle} (IEEE 802.1Q-2018 \
                     §8.6.10)",
                    shortened(&spec.name),
                    total + lasts
                ),
                format!("shorten the entries by {}, or write a longer cycle", total + lasts - cycle),
            );
        }
        total += lasts;
        let octets_max = entry.octets_max.map(|octets| {
            let at = at.clone().key("octets_max");
            context.within(&at, "what passes in an interval", octets.0, Bytes(1), Bytes(QUEUE_LEN_MAX)).0
        });
        for (key, is_written) in [("ipv", entry.ipv.is_some()), ("octets_max", entry.octets_max.is_some())] {
            if is_written && !entry.open {
                context.report(
                    Code::BadStreamFilter,
                    &at.clone().key(key),
                    format!("nothing passes stream gate `{}` in this entry", shortened(&spec.name)),
                    "for nothing",
                    format!("leave `{key}` out, or write `open = true`"),
                );
            }
        }
        entries.push(StreamGateEntry { is_open: entry.open, ipv: entry.ipv.map(priority_of), lasts, octets_max });
    }
    StreamGateConfig {
        list: StreamGateList { base_time, cycle, entries },
        closes_on_invalid_rx: spec.close_on_invalid_rx,
        closes_on_octets_exceeded: spec.close_on_octets_exceeded,
    }
}

fn meter(place: &Place<'_>, spec: &FlowMeterSpec, context: &mut Context<'_>) -> FlowMeterConfig {
    let name = shortened(&spec.name);
    let (least, most) = (Bytes(u64::from(FRAME_LEN_MIN) + 4), Bytes(QUEUE_LEN_MAX));
    let mut rate = |key: &'static str, what: &str, rate: Rate| {
        context.within(&place.clone().key(key), what, rate, RATE_MIN, RATE_MAX)
    };
    let cir = rate("cir", "the committed information rate", spec.cir.0);
    let eir = spec.eir.map_or(Rate(0), |eir| rate("eir", "the excess information rate", eir.0));
    let mut burst = |key: &'static str, what: &str, burst: Bytes| {
        context.within(&place.clone().key(key), what, burst, least, most).0
    };
    let cbs = burst("cbs", "the committed burst size", spec.cbs.0);
    let ebs = spec.ebs.map_or(0, |ebs| burst("ebs", "the excess burst size", ebs.0));
    let mut without_burst = |key: &'static str, is_written: bool, why: &str| {
        if is_written && ebs == 0 {
            context.report(
                Code::BadStreamFilter,
                &place.clone().key(key),
                format!("flow meter `{name}` has no excess burst size, so {why} (MEF 10.3 §12.1)"),
                "of no use",
                format!("write an `ebs`, such as `\"1522B\"`, or leave `{key}` out"),
            );
        }
    };
    without_burst("eir", spec.eir.is_some(), "no frame is yellow whatever the excess rate");
    without_burst("coupling", spec.coupling, "what overflows goes nowhere");
    without_burst("drop_on_yellow", spec.drop_on_yellow, "no frame is yellow");
    FlowMeterConfig {
        cir,
        cbs,
        eir,
        ebs,
        couples: spec.coupling,
        is_colour_aware: spec.color_aware,
        drops_yellow: spec.drop_on_yellow,
        marks_all_red: spec.mark_all_frames_red,
    }
}

/// Whether the streams of a segment can have what its filters do.
pub(super) fn check(
    segment: &Segment<'_>,
    network: &EthernetSegment,
    streams: &[OnSegment<'_>],
    context: &mut Context<'_>,
) {
    let StreamFilters { filters, gates, .. } = &network.stream_filters;
    for (i, filter) in filters.iter().enumerate() {
        let at = |key: &'static str| segment.table.at("stream_filters").entry(i).key(key);
        let name = shortened(&filter.name);
        if let Some(entry) = filter.entry
            && streams.iter().all(|stream| stream.entry != entry)
        {
            let stream = context.spec().streams.get(entry).map_or("", |stream| stream.name.as_str());
            context.report(
                Code::BadStreamFilter,
                &at("stream"),
                format!("stream `{}` does not come by `{}`", shortened(stream), segment.name),
                "is elsewhere",
                format!("name a stream of `{}`, or leave stream filter `{name}` out", segment.name),
            );
        }
        shares_link(segment, filter, (&at("stream"), &name), context);
        let has_ipv = |gate: usize| gates[gate].1.list.entries.iter().any(|entry| entry.ipv.is_some());
        if !filter.gate.is_some_and(has_ipv) {
            continue;
        }
        // Only a priority that a frame brings can be replaced.
        let without_tag = streams.iter().find(|stream| {
            let Some(EthernetHop { class, tag, .. }) = stream.hop.facet.get() else { return false };
            let priority = match class {
                StreamClass::BestEffort { priority } => Some(*priority),
                StreamClass::TimeTriggered { .. } | StreamClass::RateConstrained(_) => None,
            };
            tag.is_none()
                && filter.entry.is_none_or(|entry| entry == stream.entry)
                && filter.priority.is_none_or(|own| priority == Some(own))
        });
        if let Some(stream) = without_tag {
            context.report_both(
                Code::BadStreamFilter,
                (&at("gate"), "gives an internal priority"),
                (&Place::new("streams").entry(stream.entry).key("name"), "has no VLAN tag"),
                format!(
                    "the gate of stream filter `{name}` gives frames of stream `{}` another priority, and they have none in a VLAN \
                     tag (IEEE 802.1Q-2018 §8.6.5.1.2)",
                    shortened(stream.name)
                ),
                "write `class = { vlan = { pcp = 0 } }` for the stream, leave `ipv` out, or name the streams that the filter is for",
            );
        }
    }
}

/// A filter that names a sub-virtual link is meant for less than it can select.
fn shares_link(
    segment: &Segment<'_>,
    filter: &FilterPlan,
    (at, name): (&Place<'_>, &impl Display),
    context: &mut Context<'_>,
) {
    let Some(stream) = filter.entry.and_then(|entry| context.spec().streams.get(entry)) else { return };
    let Some(shared) = sub_virtual_links::named_by(segment, stream) else { return };
    context.report(
        Code::BadStreamFilter,
        at,
        format!(
            "stream filter `{name}` names stream `{}`, a sub-virtual link: all frames of a virtual link have one destination address \
             and VLAN, by which a switch identifies a stream (IEEE 802.1CB-2017 §6.4), so none of its sub-virtual links can be \
             filtered alone",
            shortened(&stream.name)
        ),
        "shares a virtual link",
        format!(
            "write `stream = \"{}\"`, which selects their virtual link as a whole, or leave `{}` out of `{}`",
            shortened(&shared),
            sub_virtual_links::KEY,
            shortened(&stream.name)
        ),
    );
}
