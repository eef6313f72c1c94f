//! Sub-virtual links: up to four streams share one virtual link, each with a queue of its own, and take turns in its gaps
//! (ARINC 664 part 7). The stream that the others name says what the virtual link is.

use chronoseal_core::Duration;
use chronoseal_plan::{Copies, Datagram, EthernetHop, HopPlan, StreamClass, VirtualLink};

use super::Memo;
use super::classes;
use super::networks::skew_limit;
use super::spec::{ClassSpec, EthernetStreamSpec, RateConstrainedSpec};
use super::virtual_links::{BAG_MIN, bag_within};
use crate::kinds::{CollectRequest, Context, HopRequest, OnSegment, OtherFrame, Place, Segment};
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
            context.not_on(segment.name, name, &names, &at);
            continue;
        };
        let own = shortened(name_of(stream, context)).to_string();
        let wrong = if stream.entry == streams[leader].entry {
            let message = format!("stream `{own}` names itself as the one whose virtual link it shares");
            Some((message, "itself", format!("name another stream, or leave `{KEY}` out")))
        } else {
            let other = Leader {
                name,
                shares_with: named[leader].as_deref(),
                count: streams[leader].count as usize,
                hop: &*streams[leader].hop,
            };
            mismatch((&format!("stream `{own}`"), &*stream.hop), &other, context)
        };
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

fn name_of<'c>(stream: &OnSegment<'_>, context: &Context<'c>) -> &'c str {
    context.spec().streams.get(stream.entry).map_or("", |entry| &entry.name)
}

/// The stream whose virtual link others share, or want to.
struct Leader<'a> {
    name: &'a str,
    /// The one whose virtual link it shares itself.
    shares_with: Option<&'a str>,
    /// How many are alike.
    count: usize,
    hop: &'a HopPlan,
}

/// Why the first, named as it stands in a sentence, cannot share the virtual link of the second: what is wrong, what the place is, and
/// what to write.
fn mismatch(
    (own, hop): (&str, &HopPlan),
    leader: &Leader<'_>,
    context: &Context<'_>,
) -> Option<(String, &'static str, String)> {
    let other = shortened(leader.name).to_string();
    let node = |hop: &HopPlan| {
        let node = context.spec().nodes.get(hop.from.index());
        node.map_or("a node", |node| node.name.as_str()).to_owned()
    };
    let receivers = |hop: &HopPlan| {
        let mut nodes = hop.to.clone();
        nodes.sort_unstable();
        nodes
    };
    if let Some(first) = leader.shares_with {
        let message = format!("{own} shares the virtual link of `{other}`, which has none of its own");
        return Some((message, "a sub-virtual link", format!("write `{KEY} = \"{}\"`", shortened(first))));
    }
    if leader.count > 1 {
        let message = format!("`{other}` are {} streams, each with a virtual link of its own", leader.count);
        return Some((message, "several streams", format!("write the streams of `{other}` one by one")));
    }
    let is_virtual_link = |hop: &EthernetHop| hop.class.virtual_link().is_some();
    if !leader.hop.facet.get().is_some_and(is_virtual_link) {
        let message = format!("{own} shares the virtual link of `{other}`, which is not rate-constrained");
        return Some((
            message,
            "no virtual link",
            format!("write `class = {{ rate_constrained = {{}} }}` for `{other}`"),
        ));
    }
    if hop.from != leader.hop.from {
        let message = format!(
            "{own} is sent by `{}` and `{other}` by `{}`, and a virtual link has one end system that sends it",
            node(hop),
            node(leader.hop)
        );
        let help = format!("name a stream of `{}`, or leave `{KEY}` out", node(hop));
        return Some((message, "of another sender", help));
    }
    if receivers(hop) != receivers(leader.hop) {
        let message = format!(
            "all frames of a virtual link go to all of its receivers, and {own} and `{other}` have not the same ones"
        );
        return Some((message, "to other receivers", format!("write the same `to` for both, or leave `{KEY}` out")));
    }
    None
}

/// One of those that share a virtual link.
struct Sharer<'a> {
    /// The stream; `None` for a frame in which a gateway collects.
    name: Option<&'a str>,
    /// Where it says that it shares, or of the first of them the class that says what the virtual link is.
    at: Place<'a>,
    /// How far apart its frames are.
    distance: Duration,
    /// The virtual link that it has, or would have alone.
    link: VirtualLink,
}

/// How far apart frames of a stream are, each of which has a turn of its own.
fn distance(period: Duration, hop: &HopPlan, is_relayed: bool) -> Duration {
    // What a gateway passes on comes by another clock than the regulator's: room for both.
    let room = period - if is_relayed { period / 100 } else { Duration::ZERO };
    let own: Option<&EthernetHop> = hop.facet.get();
    room / i64::from(Datagram::frames_of(own.and_then(|hop| hop.datagram.as_ref())))
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
        let all: Vec<usize> = std::iter::once(leader).chain(members).collect();
        let sharer = |place: &usize| {
            let stream = &streams[*place];
            let hop: &EthernetHop = stream.hop.facet.get()?;
            Some(Sharer {
                name: Some(stream.name),
                at: stream.at(segment, if *place == leader { "class" } else { KEY }),
                distance: distance(stream.period, stream.hop, stream.hop.previous.is_some()),
                link: *hop.class.virtual_link()?,
            })
        };
        let Some(sharers) = all.iter().map(sharer).collect::<Option<Vec<Sharer<'_>>>>() else { continue };
        let Some(EthernetHop { over, copies, .. }) = streams[leader].hop.facet.get().cloned() else { continue };
        let spec = written(segment, streams[leader].entry, context);
        let Some((link, copies)) = joint(segment, (&spec, copies), &sharers, context) else { continue };
        for place in all {
            become_one(streams[place].hop, link, (&over, &copies));
        }
    }
}

/// [`join`] for a frame in which a gateway collects and the stream whose virtual link it shares; false if it cannot.
pub(super) fn join_collected(request: &mut CollectRequest<'_>, named: &str, context: &mut Context<'_>) -> bool {
    let (segment, at) = (request.segment, request.table.at(KEY));
    let streams = &context.spec().streams;
    let name = |entry: usize| streams.get(entry).map_or("", |stream| stream.name.as_str());
    let is_named = |other: &OtherFrame<'_>| other.entry.is_some_and(|entry| name(entry) == named);
    let Some(leader) = request.others.iter().position(is_named) else {
        let mut names: Vec<&str> = request.others.iter().filter_map(|other| Some(name(other.entry?))).collect();
        names.dedup();
        context.not_on(segment.name, named, &names, &at);
        return false;
    };
    let first = &request.others[leader];
    let entry = first.entry.unwrap_or_default();
    let shares_with = streams.get(entry).and_then(|stream| named_by(segment, stream));
    let other = Leader {
        name: named,
        shares_with: shares_with.as_deref(),
        count: request.others.iter().filter(|other| is_named(other)).count(),
        hop: &*first.hop,
    };
    if let Some((message, label, help)) = mismatch(("the frame collected there", &*request.hop), &other, context) {
        context.report(Code::BadVirtualLink, &at, message, label, help);
        return false;
    }
    let link_of = |hop: &HopPlan| hop.facet.get().and_then(|hop: &EthernetHop| hop.class.virtual_link().copied());
    let shared = link_of(first.hop).map(|link| link.ct_id);
    let members = (0..request.others.len()).filter(|place| *place != leader);
    let members = members
        .filter(|place| shared.is_some() && link_of(request.others[*place].hop).map(|link| link.ct_id) == shared);
    let all: Vec<usize> = std::iter::once(leader).chain(members).collect();
    let sharer = |place: &usize| {
        let other = &request.others[*place];
        Some(Sharer {
            name: other.entry.map(name),
            at: other.place.clone().key(if *place == leader { "class" } else { KEY }),
            distance: distance(other.period, other.hop, other.hop.previous.is_some() || other.entry.is_none()),
            link: link_of(other.hop)?,
        })
    };
    let own = link_of(request.hop).map(|link| Sharer {
        name: None,
        at,
        distance: distance(request.every, request.hop, true),
        link,
    });
    let sharers = all.iter().map(sharer).chain([own]).collect::<Option<Vec<Sharer<'_>>>>();
    let (Some(sharers), Some(EthernetHop { over, copies, .. })) = (sharers, first.hop.facet.get().cloned()) else {
        return false;
    };
    let spec = written(segment, entry, context);
    let Some((link, copies)) = joint(segment, (&spec, copies), &sharers, context) else { return false };
    for place in all {
        become_one(request.others[place].hop, link, (&over, &copies));
    }
    become_one(request.hop, link, (&over, &copies));
    true
}

/// Gives a frame the virtual link that it shares.
fn become_one(hop: &mut HopPlan, link: VirtualLink, (over, copies): (&Option<Vec<u16>>, &Copies)) {
    if let Some(hop) = hop.facet.get_mut::<EthernetHop>() {
        hop.class = StreamClass::RateConstrained(link);
        (hop.over, hop.copies) = (over.clone(), copies.clone());
    }
}

/// The virtual link that these share, of which the first says what it is, and the copies of its frames; `None` if there are too many of
/// them.
fn joint(
    segment: &Segment<'_>,
    (spec, copies): (&RateConstrainedSpec, Copies),
    sharers: &[Sharer<'_>],
    context: &mut Context<'_>,
) -> Option<(VirtualLink, Copies)> {
    let (leader, members) = sharers.split_first()?;
    let (name, own) = (shortened(leader.name.unwrap_or_default()).to_string(), leader.link);
    if let Some(last) = sharers.get(SUB_LINKS_MAX) {
        context.report(
            Code::BadVirtualLink,
            &last.at,
            format!(
                "the virtual link of `{name}` would have {} sub-virtual links, and ARINC 664 part 7 allows {SUB_LINKS_MAX}",
                sharers.len()
            ),
            "one too many",
            format!("leave `{KEY}` out of all but {} of the streams that name it", SUB_LINKS_MAX - 1),
        );
        return None;
    }
    let longest = members.iter().max_by_key(|member| member.link.lmax)?;
    let lmax = longest.link.lmax;
    if let Some(written) = spec.lmax.filter(|_| own.lmax < lmax) {
        let what = longest
            .name
            .map_or("the frame collected there".to_owned(), |name| format!("a frame of stream `{}`", shortened(name)));
        context.report(
            Code::BadVirtualLink,
            &longest.at,
            format!(
                "{what} has {lmax}B with its protection and checksum, and `lmax` of its virtual link is {}",
                written.0
            ),
            "longer than its virtual link lets it be",
            format!("write `lmax = \"{lmax}B\"` for `{name}`, or leave `lmax` out"),
        );
    }
    let bag = gap(segment, (sharers, spec.bag.map(|bag| bag.0)), context).unwrap_or(own.bag);
    let link = VirtualLink {
        bag,
        lmin: sharers.iter().map(|sharer| sharer.link.lmin).min().unwrap_or(own.lmin),
        lmax: own.lmax.max(lmax),
        sub_links: sharers.len() as u8,
        ..own
    };
    let copies = match copies {
        Copies::BothNetworks { .. } if spec.skew_max.is_none() => Copies::BothNetworks { skew_max: bag },
        Copies::BothNetworks { skew_max } if skew_max > skew_limit(bag, 1) => {
            context.report(
                Code::OutOfRange,
                &leader.at,
                format!(
                    "sub-virtual links bring the virtual link of `{name}` down to gaps of {bag}, and its `skew_max` is {skew_max}"
                ),
                "so many numbers later",
                format!("write at most `skew_max = \"{}\"`", skew_limit(bag, 1)),
            );
            copies
        }
        copies => copies,
    };
    Some((link, copies))
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
    (sharers, written): (&[Sharer<'_>], Option<Duration>),
    context: &mut Context<'_>,
) -> Option<Duration> {
    let is_standard = segment.memo().is_none_or(|memo: &Memo| memo.is_standard);
    let distances: Vec<Duration> = sharers.iter().map(|sharer| sharer.distance).collect();
    let has_room = |bag: Duration| {
        let share = |distance: &Duration| i128::from(bag.as_ps()) * WHOLE / i128::from(distance.as_ps().max(1));
        distances.iter().map(share).sum::<i128>() <= WHOLE
    };
    let round = *distances.iter().min()? / sharers.len() as i64;
    let longest = match is_standard {
        false => Some(round.max(PERIOD_MIN).min(CLUSTER_CYCLE_MAX)).filter(|bag| has_room(*bag)),
        true if round >= BAG_MIN => Some(bag_within(round)),
        // Turns that are not always in time have to do.
        true => Some(BAG_MIN).filter(|bag| has_room(*bag)),
    };
    let leader = &sharers[0];
    let name = shortened(leader.name.unwrap_or_default()).to_string();
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
        &leader.at,
        format!(
            "the {} sub-virtual links of `{name}` send more often than {gap} lets one of them, so ever more of their frames would wait",
            sharers.len()
        ),
        "too long a gap",
        match fits {
            Some(bag) => format!("write `bag = \"{bag}\"` for `{name}`, or longer periods"),
            None => "write longer periods, or give some of these streams virtual links of their own".to_owned(),
        },
    );
    None
}
