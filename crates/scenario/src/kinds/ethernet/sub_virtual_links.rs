//! Sub-virtual links: up to four streams share one virtual link, each with a queue of its own, and take turns in its gaps
//! (ARINC 664 part 7). The stream that the others name says what the virtual link is.

use chronoseal_core::Duration;

use super::Memo;
use super::networks::{Copies, skew_limit};
use super::plan::{EthernetHop, StreamClass, VirtualLink};
use super::spec::{ClassSpec, EthernetStreamSpec, RateConstrainedSpec};
use super::virtual_links::{BAG_MIN, bag_within};
use super::{classes, datagrams};
use crate::kinds::{Context, HopRequest, OnSegment, Place, Segment};
use crate::limits::*;
use crate::problem::Code;
use crate::shape::shortened;
use crate::spec::StreamSpec;

/// Most sub-virtual links of one virtual link (ARINC 664 part 7).
const SUB_LINKS_MAX: usize = 4;
/// A whole of which shares of a virtual link's gaps are parts.
const WHOLE: i128 = 1_000_000_000_000_000_000;
/// The key by which a stream names the one whose virtual link it shares.
pub(super) const KEY: &str = "sub_virtual_link_of";

/// The class of a sub-virtual link until that of its virtual link is known, and where it is named. What only a virtual link of its
/// own can have is refused.
pub(super) fn class<'a>(
    request: &HopRequest<'a>,
    (spec, named): (&EthernetStreamSpec, &str),
    memo: &Memo,
    context: &mut Context<'_>,
) -> (ClassSpec, Place<'a>) {
    let (name, named) = (shortened(&request.stream.spec.name), shortened(named));
    let own = [
        ("class", spec.class.is_some()),
        ("ct_id", spec.ct_id.is_some()),
        ("switches", spec.switches.is_some()),
        ("networks", spec.networks.is_some()),
        ("replication", spec.replication.is_some()),
        ("committed", spec.committed.is_some()),
    ];
    for (key, _) in own.into_iter().filter(|(_, is_written)| *is_written) {
        context.report(
            Code::BadVirtualLink,
            &request.table.at(key),
            format!("stream `{name}` is a sub-virtual link of `{named}`, which says what their virtual link is"),
            "said by another stream",
            format!("leave `{key}` out, or write it for `{named}`"),
        );
    }
    if let Some(at) = classes::named(request, memo) {
        context.report(
            Code::BadVirtualLink,
            &at,
            format!("stream `{name}` is a sub-virtual link of `{named}`, whose class it has"),
            "has a class",
            format!("leave `{name}` out of this list"),
        );
    }
    (ClassSpec::RateConstrained(RateConstrainedSpec::default()), request.table.at(KEY))
}

/// By stream: the one whose virtual link it shares, if it is a sub-virtual link of another stream.
pub(super) fn leaders(
    segment: &Segment<'_>,
    streams: &[OnSegment<'_>],
    context: &mut Context<'_>,
) -> Vec<Option<usize>> {
    let written = |stream: &OnSegment<'_>| named_by(segment, context.spec().streams.get(stream.entry)?);
    let named: Vec<Option<String>> = streams.iter().map(written).collect();
    let mut found = vec![None; streams.len()];
    let mut judged = None;
    for (place, name) in named.iter().enumerate() {
        let (Some(name), stream) = (name, &streams[place]) else { continue };
        let entry_of = |other: &OnSegment<'_>| context.spec().streams.get(other.entry);
        let leader = streams.iter().position(|other| entry_of(other).is_some_and(|entry| entry.name == *name));
        if judged.replace(stream.entry) == Some(stream.entry) {
            // One problem for several alike is enough.
            found[place] = leader.filter(|_| place > 0 && found[place - 1].is_some());
            continue;
        }
        let at = stream.at(segment, KEY);
        let Some(leader) = leader else {
            let names: Vec<String> = streams.iter().filter_map(|other| Some(entry_of(other)?.name.clone())).collect();
            let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
            names.dedup();
            let on = segment.name;
            context.find(name, &names, &at, &format!("stream on `{on}`"), &format!("streams on `{on}`"));
            continue;
        };
        let wrong = mismatch((stream, &streams[leader]), named[leader].as_deref(), context);
        if let Some((message, label, help)) = wrong {
            context.report(Code::BadVirtualLink, &at, message, label, help);
            continue;
        }
        found[place] = Some(leader);
    }
    found
}

/// Whose virtual link a stream shares, as it is written.
pub(super) fn named_by(segment: &Segment<'_>, stream: &StreamSpec) -> Option<String> {
    stream.segments.get(segment.name)?.get(KEY)?.as_str().map(str::to_owned)
}

/// Why two streams cannot share the virtual link of the second: what is wrong, what the place is, and what to write.
fn mismatch(
    (stream, leader): (&OnSegment<'_>, &OnSegment<'_>),
    its_leader: Option<&str>,
    context: &Context<'_>,
) -> Option<(String, &'static str, String)> {
    let name_of =
        |stream: &OnSegment<'_>| context.spec().streams.get(stream.entry).map_or("", |entry| &entry.name).to_owned();
    let (own, other) = (name_of(stream), name_of(leader));
    let (own, other) = (shortened(&own).to_string(), shortened(&other).to_string());
    let node = |stream: &OnSegment<'_>| {
        let node = context.spec().nodes.get(stream.hop.from.index());
        node.map_or("a node", |node| node.name.as_str()).to_owned()
    };
    let receivers = |stream: &OnSegment<'_>| {
        let mut nodes = stream.hop.to.clone();
        nodes.sort_unstable();
        nodes
    };
    if stream.entry == leader.entry {
        let help = format!("name another stream, or leave `{KEY}` out");
        return Some((format!("stream `{own}` names itself as the one whose virtual link it shares"), "itself", help));
    }
    if let Some(first) = its_leader {
        let message = format!("stream `{own}` shares the virtual link of `{other}`, which has none of its own");
        return Some((message, "a sub-virtual link", format!("write `{KEY} = \"{}\"`", shortened(first))));
    }
    if leader.count > 1 {
        let message = format!("`{other}` are {} streams, each with a virtual link of its own", leader.count);
        return Some((message, "several streams", format!("write the streams of `{other}` one by one")));
    }
    let is_virtual_link = |hop: &EthernetHop| hop.class.virtual_link().is_some();
    if !leader.hop.facet.get().is_some_and(is_virtual_link) {
        let message = format!("stream `{own}` shares the virtual link of `{other}`, which is not rate-constrained");
        return Some((
            message,
            "no virtual link",
            format!("write `class = {{ rate_constrained = {{}} }}` for `{other}`"),
        ));
    }
    if stream.hop.from != leader.hop.from {
        let message = format!(
            "`{own}` is sent by `{}` and `{other}` by `{}`, and a virtual link has one end system that sends it",
            node(stream),
            node(leader)
        );
        let help = format!("name a stream of `{}`, or leave `{KEY}` out", node(stream));
        return Some((message, "of another sender", help));
    }
    if receivers(stream) != receivers(leader) {
        let message = format!(
            "all frames of a virtual link go to all of its receivers, and `{own}` and `{other}` have not the same ones"
        );
        return Some((message, "to other receivers", format!("write the same `to` for both, or leave `{KEY}` out")));
    }
    None
}

/// Makes one virtual link of the streams that share it: it has the longest frame of all of them, and gaps in which all of their
/// frames have room.
pub(super) fn join(
    segment: &Segment<'_>,
    leaders: &[Option<usize>],
    streams: &mut [OnSegment<'_>],
    context: &mut Context<'_>,
) {
    for leader in 0..streams.len() {
        let members: Vec<usize> = (0..streams.len()).filter(|place| leaders[*place] == Some(leader)).collect();
        if members.is_empty() {
            continue;
        }
        let all: Vec<usize> = std::iter::once(leader).chain(members.iter().copied()).collect();
        if let (true, Some(last)) = (all.len() > SUB_LINKS_MAX, members.get(SUB_LINKS_MAX - 1)) {
            context.report(
                Code::BadVirtualLink,
                &streams[*last].at(segment, KEY),
                format!(
                    "the virtual link of `{}` would have {} sub-virtual links, and ARINC 664 part 7 allows {SUB_LINKS_MAX}",
                    shortened(streams[leader].name),
                    all.len()
                ),
                "one too many",
                format!("leave `{KEY}` out of all but {} of the streams that name it", SUB_LINKS_MAX - 1),
            );
            continue;
        }
        let link = |place: usize| {
            let hop: Option<&EthernetHop> = streams[place].hop.facet.get();
            hop.and_then(|hop| hop.class.virtual_link().copied())
        };
        let Some(own) = link(leader) else { continue };
        let links: Vec<VirtualLink> = all.iter().filter_map(|place| link(*place)).collect();
        let Some((longest, lmax)) =
            members.iter().filter_map(|place| Some((*place, link(*place)?.lmax))).max_by_key(|(_, lmax)| *lmax)
        else {
            continue;
        };
        let spec = written(segment, streams[leader].entry, context);
        if let Some(written) = spec.lmax.filter(|_| own.lmax < lmax) {
            context.report(
                Code::BadVirtualLink,
                &streams[longest].at(segment, KEY),
                format!(
                    "a frame of stream `{}` has {lmax}B with its protection and checksum, and `lmax` of its virtual link is {}",
                    shortened(streams[longest].name),
                    written.0
                ),
                "longer than its virtual link lets it be",
                format!("write `lmax = \"{lmax}B\"` for `{}`, or leave `lmax` out", shortened(streams[leader].name)),
            );
        }
        let bag = gap(segment, (&all, spec.bag.map(|bag| bag.0)), streams, context).unwrap_or(own.bag);
        let joint = VirtualLink {
            bag,
            lmin: links.iter().map(|link| link.lmin).min().unwrap_or(own.lmin),
            lmax: own.lmax.max(lmax),
            sub_links: all.len() as u8,
            ..own
        };
        let hop: Option<&EthernetHop> = streams[leader].hop.facet.get();
        let Some(EthernetHop { over, copies, .. }) = hop.cloned() else { continue };
        let copies = match copies {
            Copies::BothNetworks { .. } if spec.skew_max.is_none() => Copies::BothNetworks { skew_max: bag },
            Copies::BothNetworks { skew_max } if skew_max > skew_limit(bag, 1) => {
                context.report(
                    Code::OutOfRange,
                    &streams[leader].at(segment, "class"),
                    format!(
                        "sub-virtual links bring the virtual link of `{}` down to gaps of {bag}, and its `skew_max` is {skew_max}",
                        shortened(streams[leader].name)
                    ),
                    "so many numbers later",
                    format!("write at most `skew_max = \"{}\"`", skew_limit(bag, 1)),
                );
                copies
            }
            copies => copies,
        };
        for place in all {
            if let Some(hop) = streams[place].hop.facet.get_mut::<EthernetHop>() {
                hop.class = StreamClass::RateConstrained(joint);
                (hop.over, hop.copies) = (over.clone(), copies.clone());
            }
        }
    }
}

/// What a scenario says of the virtual link of a stream.
fn written(segment: &Segment<'_>, entry: usize, context: &Context<'_>) -> RateConstrainedSpec {
    let class = segment.memo::<Memo>().and_then(|memo| {
        let stream = context.spec().streams.get(entry)?;
        classes::written(&stream.name, stream.segments.get(segment.name), memo)
    });
    match class {
        Some(ClassSpec::RateConstrained(spec)) => spec,
        _ => RateConstrainedSpec::default(),
    }
}

/// The gap that streams share, the first of which says what their virtual link is: that written, or the longest in which each of
/// them has its turn before its next frame is due. `None` if there is none.
fn gap(
    segment: &Segment<'_>,
    (all, written): (&[usize], Option<Duration>),
    streams: &[OnSegment<'_>],
    context: &mut Context<'_>,
) -> Option<Duration> {
    let is_standard = segment.memo().is_none_or(|memo: &Memo| memo.is_standard);
    // What a gateway passes on comes by another clock than the regulator's: room for both.
    let distance = |place: &usize| {
        let stream = &streams[*place];
        let room = stream.period - if stream.hop.previous.is_some() { stream.period / 100 } else { Duration::ZERO };
        // Each frame of a message has a turn of its own.
        let own: Option<&EthernetHop> = stream.hop.facet.get();
        room / i64::from(datagrams::frames(own.and_then(|hop| hop.datagram.as_ref())))
    };
    let distances: Vec<Duration> = all.iter().map(distance).collect();
    let has_room = |bag: Duration| {
        let share = |distance: &Duration| i128::from(bag.as_ps()) * WHOLE / i128::from(distance.as_ps().max(1));
        distances.iter().map(share).sum::<i128>() <= WHOLE
    };
    let round = *distances.iter().min()? / all.len() as i64;
    let longest = match is_standard {
        false => Some(round.max(PERIOD_MIN).min(CLUSTER_CYCLE_MAX)).filter(|bag| has_room(*bag)),
        true if round >= BAG_MIN => Some(bag_within(round)),
        // Turns that are not always in time have to do.
        true => Some(BAG_MIN).filter(|bag| has_room(*bag)),
    };
    let leader = &streams[all[0]];
    let bag = written.or(longest);
    if bag.is_some_and(has_room) {
        return bag;
    }
    let fits =
        (0..8).rev().map(|power| BAG_MIN * (1 << power)).find(|bag| has_room(*bag)).filter(|_| is_standard).or(longest);
    let gap = written.map_or_else(
        || "the shortest bandwidth allocation gap, 1ms,".to_owned(),
        |bag| format!("a bandwidth allocation gap of {bag}"),
    );
    context.report(
        Code::BadVirtualLink,
        &leader.at(segment, "class"),
        format!(
            "the {} sub-virtual links of `{}` send more often than {gap} lets one of them, so ever more of their frames would wait",
            all.len(),
            shortened(leader.name)
        ),
        "too long a gap",
        match fits {
            Some(bag) => format!("write `bag = \"{bag}\"` for `{}`, or longer periods", shortened(leader.name)),
            None => "write longer periods, or give some of these streams virtual links of their own".to_owned(),
        },
    );
    None
}
