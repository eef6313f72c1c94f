//! Streams on an Ethernet segment.

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_core::Duration;
use chronoseal_media::port::priority_of;
use chronoseal_nodes::Protection;
use chronoseal_plan::{Datagram, EthernetHop, EthernetSegment, Facet, StreamClass, VirtualLink, relayed_frame_len};
use chronoseal_wire::ethernet::VLAN_TAG_LEN;
use chronoseal_wire::r_tag::R_TAG_LEN;
use chronoseal_wire::virtual_link::SequenceNumber;

use super::datagrams::InFrame;
use super::segment::tag_of;
use super::spec::{ClassSpec, EthernetStreamSpec};
use super::{
    Memo, classes, datagrams, divisors_help, macsec, networks, ports, replication, routes, stream_filters,
    sub_virtual_links, virtual_links, windows,
};
use crate::kinds::{Context, HopParts, HopRequest, OnSegment, Place, Segment, Step};
use crate::limits::*;
use crate::problem::Code;
use crate::shape::shortened;

/// A stream's way over the segment; the identifier of a time-triggered one is still to be found if it is 0.
pub(super) fn hop(request: &HopRequest<'_>, context: &mut Context<'_>) -> Option<HopParts> {
    let spec: EthernetStreamSpec = request.table.read(context)?;
    let segment: &EthernetSegment = request.segment.facet()?;
    let memo: &Memo = request.segment.memo()?;
    let (written, class_at) = match &spec.sub_virtual_link_of {
        Some(named) => sub_virtual_links::class(request, (&spec, named), memo, context),
        None => classes::of(request, spec.class, memo, context),
    };
    let tag = tag_of(written);
    if let (ClassSpec::BestEffort(_) | ClassSpec::Vlan(_), Some(_)) = (written, spec.ct_id) {
        context.report(
            Code::BadCtId,
            &request.table.at("ct_id"),
            "best-effort traffic has no critical-traffic identifier",
            "not used",
            "leave `ct_id` out, or write `class = \"time-triggered\"`",
        );
    }
    let (payload, overhead) = (request.stream.payload_len, request.protection.overhead_bytes());
    let trailer = if networks::are_numbered(&spec, written, segment) { SequenceNumber::LEN as u32 } else { 0 };
    let (untagged_len, front_len) = match request.is_relayed {
        false => ((HEADER_LEN + payload + trailer).clamp(FRAME_LEN_MIN, FRAME_LEN_MAX), 0),
        true => (relayed_frame_len(payload + trailer, overhead), BENCH_HEADER_LEN),
    };
    // A tag comes on top, so that a switch that takes it off has nothing to fill up (IEEE 802.1Q-2022 annex G).
    let r_tag_len = if spec.replication.is_some() { R_TAG_LEN as u32 } else { 0 };
    let tags_len = if tag.is_some() { VLAN_TAG_LEN as u32 } else { 0 } + r_tag_len;
    let room = FRAME_LEN_MAX - HEADER_LEN - front_len - trailer;
    let in_frame = InFrame { room, front_len, trailer_len: trailer, tags_len };
    let (datagram, room) = datagrams::resolve(request, &spec, &in_frame, context);
    let frame_len = match &datagram {
        None => untagged_len + tags_len,
        // Its protection is in one of its frames, or in two: with it none is longer than this.
        Some(datagram) => datagram.longest() - overhead,
    };
    let frames = Datagram::frames_of(datagram.as_ref());
    let committed = spec.committed.map(|committed| ports::committed(&request.table, committed, context));
    let ct_id = spec.ct_id.unwrap_or(0);
    let class = match written {
        ClassSpec::TimeTriggered => StreamClass::TimeTriggered { ct_id },
        ClassSpec::BestEffort(best_effort) => StreamClass::BestEffort { priority: best_effort.priority },
        ClassSpec::Vlan(vlan) => StreamClass::BestEffort { priority: priority_of(vlan.pcp).0 },
        ClassSpec::RateConstrained(link) => {
            let shortest = datagram.map_or(frame_len + overhead, |datagram| datagram.last());
            let lens = virtual_links::FrameLens { frames, longest: frame_len + overhead, shortest };
            let link = virtual_links::resolve(request, (link, class_at.clone()), lens, context);
            StreamClass::RateConstrained(VirtualLink { ct_id, ..link })
        }
    };
    if class.is_time_triggered() {
        in_slots(request, context);
        routes::in_slots(request, segment, context);
        ports::in_slots(request, segment, context);
    }
    let copies = match &spec.replication {
        Some(replication) => {
            let why = format!("`recovery` tells copies of stream `{}` apart", shortened(&request.stream.spec.name));
            networks::skew_without_copies(request, &spec, &why, context);
            replication::copies(request, (&spec, written), replication, context)?
        }
        None => networks::copies(request, (&spec, class, written, &class_at), (segment, frames), context),
    };
    if datagram.is_some() {
        datagrams::check(request, &copies, context);
    }
    let over = routes::over(&request.table, spec.switches.as_deref(), memo, context);
    protection(request, class, context);
    let link = match &datagram {
        None => shortest_link(segment, frame_len + overhead) * 2,
        Some(datagram) => {
            let last = shortest_link(segment, datagram.last());
            shortest_link(segment, datagram.longest()) * i64::from(frames - 1) + last * 2
        }
    };
    Some(HopParts {
        frame_len,
        class: if tag.is_some() { "vlan" } else { class.name() },
        facet: Facet::new(EthernetHop { class, over, tag, committed, copies, datagram, entry: None }),
        has_slots: class.is_time_triggered(),
        room,
        wire_time: link + segment.forwarding_delay + segment.forwarding_jitter.min,
    })
}

/// What a frame takes on a link at least. How many links it crosses is not known yet: two, at its only switch, are the fewest.
fn shortest_link(segment: &EthernetSegment, len: u32) -> Duration {
    let wiring = &segment.wiring;
    let own = wiring.stations.iter().chain(&wiring.second).map(|link| link.parameters);
    let links = own.chain((wiring.switches == 1).then(|| segment.default_link()));
    // A frame is there with its last bit; the gap behind it is for the next one.
    links.map(|link| segment.speed_over(link).reception(u64::from(len))).min().unwrap_or_default()
}

/// What a stream with slots has to keep to.
fn in_slots(request: &HopRequest<'_>, context: &mut Context<'_>) {
    let stream = request.stream;
    let other_class = format!("{} = {{ class = {{ best_effort = {{}} }} }}", request.segment.name);
    if stream.spec.on_change.is_some() {
        context.report(
            Code::MissingKey,
            &stream.at("on_change"),
            format!(
                "stream `{}` is time-triggered: its slots are planned before and come with a period, whether or not a value has changed (SAE \
                 AS6802)",
                shortened(&stream.spec.name)
            ),
            "without a period",
            format!(
                "write `period = \"…\"` for its slots, and `application = {{ … }}` if its data are ready at other times, or `{other_class}`"
            ),
        );
        return;
    }
    if let (Some(offset), Some(count @ 2..), true) = (stream.spec.offset, stream.spec.count, request.is_first) {
        context.report(
            Code::OffsetOfMany,
            &stream.at("offset"),
            format!("all {count} streams would have their slot at {}", offset.0),
            "one slot for many",
            "leave `offset` out and let the scheduler find the slots, or write the streams one by one",
        );
    }
    let cycle = request.segment.parts.as_ref().and_then(|parts| parts.cycle).filter(|cycle| cycle.is_certain);
    if let Some(cycle) = cycle.filter(|cycle| cycle.length.rem_floor(stream.period) != Duration::ZERO) {
        context.report_both(
            Code::PeriodNotDividing,
            (&stream.at("period"), "does not divide it"),
            (&request.segment.table.at(cycle.key), "the cluster cycle"),
            format!(
                "the period {} of stream `{}` does not divide the cluster cycle {}",
                stream.period,
                shortened(&stream.spec.name),
                cycle.length
            ),
            divisors_help(stream.period, cycle.length),
        );
    }
}

/// Whether the protection can do without what this way does not have.
fn protection(request: &HopRequest<'_>, class: StreamClass, context: &mut Context<'_>) {
    request.judge_protection(Protection::check_on_ethernet, context);
    let needs_clock = request.protection.profile().is_some_and(|profile| profile.freshness().needs_clock());
    if needs_clock && request.is_sealed_here && !class.is_time_triggered() {
        context.report(
            Code::FreshnessWithoutSlot,
            &request.protection_at,
            format!(
                "`{}` takes freshness from the cycle counter, but {} frames come in no certain cycle",
                request.protection.name,
                class.name()
            ),
            "needs a slot",
            "name a protection with `freshness = \"full\"` or `{ truncated = \"2B\" }`",
        );
    }
}

/// Whether the stations of the segment can have the protection of a PDU that travels in frames with others'.
pub(super) fn judge_contained(request: &HopRequest<'_>, context: &mut Context<'_>) {
    protection(request, StreamClass::BestEffort { priority: 0 }, context);
}

/// Finds the identifiers, and refuses more than a schedule holds.
pub(super) fn check(segment: &Segment<'_>, streams: &mut [OnSegment<'_>], context: &mut Context<'_>) {
    let Some(network) = segment.facet::<EthernetSegment>() else { return };
    let replays = context.spec().recordings.iter().any(|recording| recording.traffic.is_some());
    if streams.is_empty() && context.spec().streams.is_empty() && !replays {
        context.report(
            Code::MissingKey,
            &[Step::Key("streams")],
            "the scenario has no `streams`",
            "`streams` is missing",
            "add a `[[streams]]`",
        );
    }
    if !network.ports.is_plain()
        && let Some(stream) = streams.iter().find(|stream| class(stream).virtual_link().is_some())
    {
        let at = Place::new("streams").entry(stream.entry).key(segment.name);
        virtual_link_behind_ports(segment, (stream.name, &at), context);
    }
    macsec::check(network, context);
    classes::check(segment, streams, context);
    for stream in streams.iter_mut() {
        if let Some(hop) = stream.hop.facet.get_mut::<EthernetHop>() {
            hop.entry = Some(stream.entry);
        }
    }
    let leaders = sub_virtual_links::leaders(segment, streams, context);
    ct_ids(segment, network.sync_id, (streams, &leaders), context);
    sub_virtual_links::join(segment, &leaders, streams, context);
    virtual_links::check(segment, network, streams, context);
    replication::check(segment, network, streams, context);
    routes::check(segment, streams, context);
    windows::check(segment, streams, context);
    stream_filters::check(segment, network, streams, context);
    let in_slots = |stream: &&OnSegment<'_>| class(stream).is_time_triggered();
    let slots: u64 = streams.iter().filter(in_slots).map(|stream| slots_of(stream, network)).sum();
    if slots > SLOTS_MAX {
        context.report(
            Code::TooManySlots,
            &segment.table.at("cluster_cycle"),
            format!("the streams need {slots} slots in one cluster cycle"),
            "too many slots",
            format!("a schedule holds at most {SLOTS_MAX}: write longer periods or a shorter cluster cycle"),
        );
    }
}

/// A switch of ARINC 664 part 7 has two priorities at an output port, which its configuration gives to virtual links, and no VLAN tags; a port of
/// IEEE 802.1Q takes the traffic class from the priority code point of a tag.
pub(super) fn virtual_link_behind_ports(
    segment: &Segment<'_>,
    (stream, at): (&str, &Place<'_>),
    context: &mut Context<'_>,
) {
    context.report(
        Code::BadPort,
        at,
        format!(
            "stream `{}` is a virtual link, and `{}` has ports of IEEE 802.1Q: frames of ARINC 664 part 7 have no VLAN tag, so no \
             priority code point puts them into a traffic class",
            shortened(stream),
            segment.name
        ),
        "is a virtual link",
        "leave `bridge_ports`, `station_ports` and the `ports` of links out, or write `class = { vlan = { pcp = 6 } }`",
    );
}

/// How many slots a stream has in a cluster cycle: one for each frame of its messages.
fn slots_of(stream: &OnSegment<'_>, network: &EthernetSegment) -> u64 {
    let own: Option<&EthernetHop> = stream.hop.facet.get();
    let frames = Datagram::frames_of(own.and_then(|hop| hop.datagram.as_ref()));
    network.cluster_cycle.div_floor(stream.period) as u64 * u64::from(frames)
}

fn class(stream: &OnSegment<'_>) -> StreamClass {
    let known = stream.hop.facet.get().map(|hop: &EthernetHop| hop.class);
    known.unwrap_or(StreamClass::TimeTriggered { ct_id: 0 })
}

fn set_ct_id(stream: &mut OnSegment<'_>, ct_id: u16) {
    if let Some(hop) = stream.hop.facet.get_mut::<EthernetHop>() {
        hop.class = hop.class.with_ct_id(ct_id);
    }
}

/// Gives each time-triggered stream and each virtual link its identifier: that written, then 1, 2, 3 and so on as they are free.
/// A sub-virtual link has that of the stream which leads it.
fn ct_ids(
    segment: &Segment<'_>,
    sync_id: u16,
    (streams, leaders): (&mut [OnSegment<'_>], &[Option<usize>]),
    context: &mut Context<'_>,
) {
    // Whose each identifier is: the beacon's, or that of an entry.
    let mut taken: BTreeMap<u32, Option<usize>> = BTreeMap::from([(u32::from(sync_id), None)]);
    let mut wrong: BTreeSet<usize> = BTreeSet::new();
    for stream in streams.iter_mut() {
        let Some(written @ 1..) = class(stream).ct_id() else { continue };
        let at = stream.at(segment, "ct_id");
        let id = u32::from(written) + stream.number;
        let mut refuse = |message: String, label: &str, help: String, other: Option<usize>| {
            // One such problem for each entry is enough.
            if !wrong.insert(stream.entry) {
                return;
            }
            let other = other.map(|entry| Place::new("streams").entry(entry).key(segment.name).key("ct_id"));
            match other {
                Some(other) => context.report_both(Code::BadCtId, (&at, label), (&other, "by this"), message, help),
                None => context.report(Code::BadCtId, &at, message, label, help),
            }
        };
        if id > u32::from(u16::MAX) {
            refuse(
                format!("{} identifiers from {written} on end above {}", stream.count, u16::MAX),
                "too large",
                format!("write at most {}", u32::from(u16::MAX) + 1 - stream.count),
                None,
            );
            continue;
        }
        match taken.insert(id, Some(stream.entry)) {
            None => {}
            Some(None) => refuse(
                format!("identifier {id} belongs to the sync beacon"),
                "taken",
                "write another, or another `sync_id`".into(),
                None,
            ),
            Some(earlier) => refuse(
                format!("identifier {id} is used twice"),
                "taken",
                "write another, or leave `ct_id` out".into(),
                earlier,
            ),
        }
        set_ct_id(stream, id as u16);
    }
    let mut free = (1..=u16::MAX).filter(|id| !taken.contains_key(&u32::from(*id)));
    for (stream, leader) in streams.iter_mut().zip(leaders) {
        if class(stream).ct_id() == Some(0) && leader.is_none() {
            let ct_id = free.next().unwrap_or(0);
            set_ct_id(stream, ct_id);
        }
    }
}
